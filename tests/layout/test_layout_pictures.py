"""Layouts as text and pictures: every element is there, with its owner, and equal owners have equal colours."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tilewright import errors, layout
from tilewright.layout.fragments import wgmma_accumulator
from tilewright.viz import layout as picture

SVG = "{http://www.w3.org/2000/svg}"


def test_text_names_the_thread_and_register_of_each_element():
  lines = layout.layout_text(wgmma_accumulator(8), max_rows=64).splitlines()
  assert lines[2].split() == ["0", "T0:0", "T0:1", "T1:0", "T1:1", "T2:0", "T2:1", "T3:0", "T3:1"]
  assert lines[2 + 8].split()[1:3] == ["T0:2", "T0:3"]
  assert lines[2 + 17].split()[1] == "T36:0"


def test_copies_have_a_star_and_shared_memory_its_addresses():
  assert "T0:1*" in layout.layout_text(layout.splat((2,), 1))
  assert layout.layout_text(layout.shared_tiled((2, 4), None, 32)).splitlines()[-1].split() == [
    "1",
    "16",
    "20",
    "24",
    "28",
  ]


def test_long_tables_are_cut(capsys):
  layout.print_layout(layout.strided((4096,), 4), max_columns=4)
  assert "… of 4096 elements" in capsys.readouterr().out


@pytest.mark.parametrize("shape", [(), (8,), (4, 8), (2, 4, 8)])
def test_a_picture_has_one_cell_for_each_element(shape):
  root = ET.fromstring(picture.svg(layout.blocked_for(shape, 1)))
  assert len(root.findall(f"{SVG}g/{SVG}rect")) == max(1, layout.splat(shape, 1).num_registers)


@pytest.mark.parametrize("by", ["thread", "register"])
def test_equal_owners_have_equal_colours_and_others_do_not(by):
  of = layout.blocked_for((8, 16), 1, 4)
  root = ET.fromstring(picture.svg(of, by))
  colours: dict[str, set[str]] = {}
  for cell in root.findall(f"{SVG}g"):
    label, fill = cell.find(f"{SVG}text").text, cell.find(f"{SVG}rect").get("fill")
    thread, register = re.fullmatch(r"T(\d+):(\d+)", label).groups()
    colours.setdefault(thread if by == "thread" else register, set()).add(fill)
  assert all(len(own) == 1 for own in colours.values())
  assert len({min(own) for own in colours.values()}) == len(colours)


def test_a_page_shows_both_ways_of_colouring():
  page = picture.html(wgmma_accumulator(8), "D <of> wgmma")
  assert (
    page.count("<svg") == 2 and "D &lt;of&gt; wgmma" in page and "http" not in page.replace("http://www.w3.org", "")
  )


def test_shared_memory_is_coloured_by_bank():
  of = layout.shared_tiled((8, 64), None, 16, 128)
  root = ET.fromstring(picture.svg(of))
  assert len({cell.find(f"{SVG}rect").get("fill") for cell in root.findall(f"{SVG}g")}) == 32
  with pytest.raises(errors.LayoutError, match="coloured"):
    picture.svg(of, "thread")
