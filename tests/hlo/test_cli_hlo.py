"""`tilewright hlo`: passes, values, files and the page."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
import re

import pytest

from tilewright import hlo
from tilewright.cli import main
from tilewright.cli.hlo import split_passes
from tilewright.hlo.passes import PASSES
from tilewright.viz.hlo_graph import layered, render

TEXT = """HloModule m
f { p = f32[4] parameter(0)\n ROOT n = f32[4] sine(p) }
ENTRY e { x = f32[4] parameter(0)
  k = f32[] constant(2)
  b = f32[4] broadcast(k), dimensions={}
  c = f32[4] call(x), to_apply=f
  d = f32[4] call(x), to_apply=f
  s = f32[4] add(c, d)
  ROOT y = f32[4] multiply(s, b) }"""


@pytest.fixture
def file(tmp_path):
  path = tmp_path / "module.hlo"
  path.write_text(TEXT)
  return path


def test_passes_are_run_compared_and_written(file, tmp_path, capsys):
  out, page = tmp_path / "out.hlo", tmp_path / "out.html"
  code = main(
    [
      "hlo",
      str(file),
      "--passes",
      "call_inliner,cse,dce",
      "--evaluate",
      "--diff",
      "--out",
      str(out),
      "--html",
      str(page),
    ]
  )
  printed = capsys.readouterr().out
  assert code == 0 and "values: equal" in printed and "-  %d = f32[4]{0} call(%x), to_apply=%f" in printed
  assert [i.opcode for i in hlo.parse(out.read_text()).entry.instructions].count("sine") == 1
  assert page.read_text().startswith("<!doctype html>")


def test_protos_are_read_and_written(file, tmp_path, capsys):
  proto = tmp_path / "m.pb"
  assert main(["hlo", str(file), "--out", str(proto)]) == 0
  assert main(["hlo", str(proto), "--evaluate"]) == 0
  assert "float32[4]" in capsys.readouterr().out


def test_a_pass_from_a_file_that_changes_values_is_noticed(file, tmp_path, capsys):
  mine = tmp_path / "mine.py"
  mine.write_text("def wrong(module):\n  module.entry.find('s').opcode = 'subtract'\n  return True\n")
  assert main(["hlo", str(file), "--passes", f"{mine}:wrong", "--evaluate"]) == 1
  assert "largest relative difference" in capsys.readouterr().out


def test_a_pass_that_fails_is_reported(file, tmp_path, capsys):
  mine = tmp_path / "mine.py"
  mine.write_text("def wrong(module):\n  raise KeyError('oh')\n")
  assert main(["hlo", str(file), "--passes", f"{mine}:wrong"]) == 1
  assert "pass wrong failed on module m" in capsys.readouterr().err


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    (["nowhere.hlo"], "nowhere.hlo"),
    ([], "which FILE"),
    (["FILE", "--passes", "dance"], "no pass called dance"),
    (["FILE", "--passes", "nowhere.py:f"], "there is no such file"),
  ],
)
def test_mistakes_are_explained(arguments, message, file, capsys):
  assert main(["hlo", *[str(file) if a == "FILE" else a for a in arguments]]) == 2
  assert message in capsys.readouterr().err


def test_a_broken_pass_file_and_an_output_that_cannot_be_written_are_explained(file, tmp_path, capsys):
  (tmp_path / "broken.py").write_text("def f(:")
  assert main(["hlo", str(file), "--passes", f"{tmp_path / 'broken.py'}:f"]) == 2
  assert "broken.py cannot be imported: SyntaxError" in capsys.readouterr().err
  assert main(["hlo", str(file), "--out", str(tmp_path / "nowhere" / "out.hlo")]) == 2
  assert "No such file" in capsys.readouterr().err


def test_text_that_is_not_hlo_points_at_the_place(tmp_path, capsys):
  path = tmp_path / "bad.hlo"
  path.write_text("HloModule m\nENTRY e { ROOT x = f32[4 parameter(0) }")
  assert main(["hlo", str(path)]) == 2
  assert "^" in capsys.readouterr().err


def test_the_list_has_every_pass(capsys):
  assert main(["hlo", "--list"]) == 0
  printed = capsys.readouterr().out
  assert all(re.search(rf"^{name} +\S", printed, re.MULTILINE) for name in PASSES)
  for name, factory in PASSES.items():  # each with its options
    rest = re.split(rf"^{name} +\S.*$", printed, maxsplit=1, flags=re.MULTILINE)[1]
    options = re.match(r"\n((?:    .*\n)*)", rest)
    assert options and all(f"{field.name}=" in options[1] for field in dataclasses.fields(factory))


def test_the_document_names_every_pass():
  document = (pathlib.Path(__file__).parents[2] / "docs" / "hlo.md").read_text()
  assert [name for name in sorted(PASSES) if not re.search(rf"`{name}[`{{]", document)] == []


def test_commas_in_options_do_not_separate():
  assert split_passes("a, b{x=1,y=2},c{}") == ["a", "b{x=1,y=2}", "c{}"]


# The page.


def page_data(module: hlo.Module) -> dict:
  found = re.search(r'<script id="data" type="application/json">(.*?)</script>', render(module), re.DOTALL)
  assert found is not None
  return json.loads(found[1])


def test_the_page_holds_every_computation_and_needs_nothing_else():
  module = hlo.parse(TEXT)
  data = page_data(module)
  assert [c["n"] for c in data["computations"]] == ["f", "e"] and data["entry"] == 1
  drawn = {v["n"]: v for v in data["computations"][1]["v"]}
  assert set(drawn) == {"x", "b", "c", "d", "s", "y"}  # the scalar constant is written into its user
  assert drawn["c"]["c"] == [0] and drawn["y"]["r"] == 1
  page = render(module)
  assert not re.search(r"(src|href)\s*=|url\(|@import|fetch\(", page)
  assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_text_from_the_module_cannot_become_markup():
  text = TEXT.replace("f32[4] add(c, d)", 'f32[4] add(c, d), metadata={op_name="</script><img src=x>"}')
  module = hlo.parse(text)
  module.name = "<b>m</b>"
  page = render(module)
  assert "</script><img" not in page and "<b>m" not in page
  assert any("</script><img" in v["m"] for c in page_data(module)["computations"] for v in c["v"])


def test_nothing_overlaps_and_operands_stand_above_their_users():
  lines = "\n".join(f"a{i} = f32[4] negate({'x' if i < 3 else f'a{i - 3}'})" for i in range(40))
  module = hlo.parse(f"ENTRY e {{ x = f32[4] parameter(0)\n {lines}\n ROOT t = (f32[4], f32[4]) tuple(a39, a38) }}")
  x, layer, width, bends = layered(module.entry.instructions)
  edges = [(o, instruction) for instruction in module.entry.instructions for o in instruction.operands]
  assert len(edges) == 42 and all(layer[operand] < layer[user] for operand, user in edges)
  rows: dict[int, list] = {}
  for instruction in module.entry.instructions:
    rows.setdefault(layer[instruction], []).append((x[instruction], x[instruction] + width[instruction]))
    for number, place in enumerate(bends.get(instruction, []), start=layer[instruction] + 1):
      rows.setdefault(number, []).append((place, place))
  assert max(len(row) for row in rows.values()) > 1
  for row in rows.values():
    row.sort()
    assert all(right <= left for (_, right), (left, _) in itertools.pairwise(row))


def test_an_edge_over_several_layers_has_a_place_in_each_and_boxes_say_their_names():
  module = hlo.parse("""ENTRY e { x = f32[4] parameter(0)
    a = f32[4] sine(x)
    b = f32[4] cosine(a)
    c = f32[4] negate(b)
    ROOT r = f32[4] add(c, x) }""")
  (page,) = page_data(module)["computations"]
  names = [v["n"] for v in page["v"]]
  longest = [edge for edge in page["e"] if (names[edge[0]], names[edge[1]]) == ("x", "r")]
  assert len(longest) == 1 and len(longest[0][2]) == 3
  assert all(len(edge) == 2 for edge in page["e"] if edge is not longest[0])


def test_stablehlo_is_converted_and_other_mlir_is_explained(tmp_path):
  import io

  import jax
  import jax.numpy as jnp

  from tilewright.cli.hlo import read_module
  from tilewright.hlo.errors import HloError

  lowered = jax.jit(jnp.sin).lower(jnp.ones(4))
  bytecode = io.BytesIO()
  lowered.compiler_ir().operation.write_bytecode(bytecode)
  for name, data in (("a.mlir", lowered.as_text().encode()), ("a.mlirbc", bytecode.getvalue())):
    (tmp_path / name).write_bytes(data)
    assert "sine" in {i.opcode for i in read_module(str(tmp_path / name)).instructions()}
  (tmp_path / "b.mlir").write_text("module {\n  nothing\n}\n")
  with pytest.raises(HloError, match="expected StableHLO"):
    read_module(str(tmp_path / "b.mlir"))


ROWS = """HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[64,48] parameter(0)
  z = f32[] constant(0)
  s = f32[64] reduce(x, z), dimensions={1}, to_apply=sum
  b = f32[64,48] broadcast(s), dimensions={0}
  ROOT y = f32[64,48] divide(x, b) }"""


def test_tiling_prints_maps_and_tiles_and_draws_them(tmp_path, capsys):
  path, page = tmp_path / "rows.hlo", tmp_path / "tiles.html"
  path.write_text(ROWS)
  assert main(["hlo", str(path), "--tiling", "--tile", "16,48", "--html", str(page)]) == 0
  printed = capsys.readouterr().out
  assert "map  (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 63], d1 in [0, 47], s0 in [0, 47]" in printed
  assert "grid 4x1, tile 16x48" in printed and "[o0 : 16] [0 : 48]" in printed
  text = page.read_text()
  assert text.startswith("<!doctype html>") and "%x = f32[64,48] parameter" in text and "http" not in text


def test_tiling_says_what_is_wrong(tmp_path, capsys):
  path = tmp_path / "rows.hlo"
  path.write_text(ROWS)
  assert main(["hlo", str(path), "--tiling", "--tile", "16"]) == 1
  assert "cannot tile because the output has 2 dimensions and the tile 1" in capsys.readouterr().out
  assert main(["hlo", str(path), "--tiling", "--tile", "16,x"]) == 1
  assert "'x' is none" in capsys.readouterr().err
  assert main(["hlo", str(path), "--tiling", "--device", "abacus"]) == 1
  assert "there is no device called 'abacus'" in capsys.readouterr().err
  path.write_text(
    'ENTRY e { x = f32[64] parameter(0)\n ROOT y = (f32[64], s32[64]) custom-call(x), custom_call_target="t" }'
  )
  assert main(["hlo", str(path), "--tiling"]) == 0
  assert "cannot tile because" in capsys.readouterr().out
