"""Layouts as text and pictures: every element is there, with its owner, and equal owners have equal colours."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest

from tilewright import errors, layout
from tilewright.layout import fragments
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


FAMILIES = {
  "strided": layout.strided((4, 64), 1, 8),
  "blocked, padded": layout.blocked_for((6, 10), 2, 2),
  "splat": layout.splat((2, 3), 2),
  "mma operand": fragments.MMA[16, 16].a,
  "mma of 4 bits": fragments.MMA[4, 64].b,
  "wgmma accumulator": wgmma_accumulator(8),
  "wgmma operand": fragments.wgmma_lhs(8),
  "rows of an accumulator": layout.projected(wgmma_accumulator(8), (1,)),
  "tensor memory": fragments.tensor_memory(64, 8),
  "packed tensor memory": fragments.tensor_memory(128, 4, bits=16),
  "read from tensor memory": fragments.read_from_tensor_memory(
    fragments.tensor_memory(128, 8), fragments.tcgen05_access("16x256b", 1)
  ),
  "swizzled shared memory": layout.shared_tiled((8, 64), None, 16, 128),
  "tiled shared memory": layout.shared_for_matrix((16, 128), 8, 64),
  "one dimension": layout.strided((256,), 2, 2),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_any_layout_has_a_text_and_pictures_by_everything_that_holds_it(name):
  """A cell for each element with its place, a colour for each value of what it is coloured by."""
  of = FAMILIES[name]
  text = layout.layout_text(of, 256, 256)
  for by in picture.ways(of):
    cells = ET.fromstring(picture.svg(of, by)).findall(f"{SVG}g")
    assert len(cells) == math.prod(of.shape)
    assert all(cell.find(f"{SVG}text").text in text for cell in cells)
    colours = {cell.find(f"{SVG}rect").get("fill") for cell in cells}
    if not isinstance(of, layout.SharedLayout):
      count = len({_number(cell.find(f"{SVG}title").text, by) for cell in cells})
      assert len(colours) == count
  page = picture.html(of, name)
  assert page.count("<svg") == 2 and name in page


def _number(title, by):
  """What an element is coloured by, read off the first of its holders: `(3, 1): T5:1, …` or `(3, 1): 3,16.1`."""
  first = title.split(": ", 1)[1].split(", ")[0]
  if first.startswith("T"):
    thread, register = map(int, first[1:].split(":"))
    return {"thread": thread, "register": register, "lane": thread % 32, "warp": thread // 32}[by]
  row, column, cell = (int(x) for x in re.fullmatch(r"(\d+),(\d+)(?:\.(\d+))?", first).groups(default="0"))
  return {"row": row, "column": column, "cell": cell}[by]


def test_what_is_too_large_is_drawn_in_part_and_says_so():
  of = layout.blocked_for((512, 512), 4, 8)
  root = ET.fromstring(picture.svg(of, max_rows=4, max_columns=8))
  assert len(root.findall(f"{SVG}g")) == 32
  assert root.findall(f"{SVG}text")[-1].text == "the first 32 of 262144 elements"
  assert layout.layout_text(layout.splat((100, 2, 2), 1)).count("[") == 8


def test_one_dimension_is_written_in_lines():
  lines = layout.layout_text(layout.strided((64,), 1, 2), max_columns=16).splitlines()
  assert [line.split()[0] for line in lines[2:]] == ["0", "16", "32", "48"]
  assert lines[3].split()[1] == "T8:0"


def test_cells_are_as_wide_as_their_labels():
  """Of which a character takes six pixels: T0:1023* is wider than the cells of a small layout are."""
  widths = []
  for of in (layout.blocked_for((8, 8), 1), layout.splat((8, 128), 32)):
    root = ET.fromstring(picture.svg(of))
    wide = {float(rect.get("width")) for rect in root.iter(f"{SVG}rect")}
    longest = max(len(text.text) for text in root.iter(f"{SVG}text"))
    assert len(wide) == 1 and min(wide) >= 6 * longest
    widths += wide
    columns = sorted({float(rect.get("x")) for rect in root.iter(f"{SVG}rect")})
    assert all(b - a == min(wide) for a, b in itertools.pairwise(columns))
  assert widths[0] < widths[1]
