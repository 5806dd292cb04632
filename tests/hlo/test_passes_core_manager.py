"""Running passes: order, fixed points, failures that leave no trace, dumps and differences."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from tilewright import hlo
from tilewright.hlo import passes as passes_folder
from tilewright.hlo.errors import HloError
from tilewright.hlo.passes import PASSES, HloPassError, Pass, as_pass, make_pass, register_pass, run_passes
from tilewright.hlo.passes.manager import PassFailed
from tilewright.hlo.passes.snapshot import Snapshot

TEXT = """HloModule m
f { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }
ENTRY e { x = f32[4] parameter(0)
  c = f32[4] call(x), to_apply=f
  d = f32[4] call(x), to_apply=f
  ROOT y = f32[4] add(c, d) }"""


def vandal(module: hlo.Module) -> bool:
  """Breaks everything it can reach, then gives up."""
  module.name = "broken"
  root = module.entry.root
  root.attrs["index"] = 3
  root.set_operands(())
  module.entry.instructions.clear()
  module.computations.pop(0)
  raise ValueError("enough")


def test_a_pass_that_raises_leaves_the_very_same_module():
  module = hlo.parse(TEXT)
  text, instructions = module.to_text(), list(module.instructions())
  with pytest.raises(PassFailed, match=r"vandal failed on module m.*enough") as error:
    run_passes(module, [vandal])
  assert isinstance(error.value.__cause__, ValueError)
  assert module.to_text() == text
  assert list(module.instructions()) == instructions  # the same objects
  hlo.verify(module)


def test_the_others_still_run_if_asked():
  module = hlo.parse(TEXT)
  report = run_passes(module, ["call_inliner", vandal, "cse"], on_error="skip")
  assert [run.changed for run in report.runs] == [True, False, True]
  assert [str(run.error) for run in report.failures] == ["enough"]
  assert module.instruction_count == 3


def test_an_illegal_module_counts_as_failure():
  def illegal(module: hlo.Module) -> bool:
    module.entry.root.shape = hlo.Shape.array("f32", (5,))
    return True

  module = hlo.parse(TEXT)
  text = module.to_text()
  with pytest.raises(PassFailed, match=r"illegal"):
    run_passes(module, [illegal], verify=True)
  assert module.to_text() == text


def test_a_pass_that_hides_a_change_is_found_out():
  def liar(module: hlo.Module) -> bool:
    module.entry.root.opcode = "subtract"
    return False

  with pytest.raises(PassFailed, match="the module has changed"):
    run_passes(hlo.parse(TEXT), [liar], strict=True)


def test_a_fixed_point_ends_with_a_round_that_changes_nothing():
  module = hlo.parse(TEXT)
  report = run_passes(module, ["cse", "call_inliner"], fixed_point=True)
  assert [run.changed for run in report.runs] == [True, True, False, False]
  assert "call_inliner" in str(report) and report.seconds > 0


def test_passes_that_undo_each_other_are_an_error():
  def flip(module: hlo.Module) -> bool:
    root = module.entry.root
    root.opcode = "add" if root.opcode == "subtract" else "subtract"
    return True

  with pytest.raises(HloError, match=r"no fixed point.*flip"):
    run_passes(hlo.parse(TEXT), [flip], fixed_point=True)


def test_a_function_may_return_another_module():
  module = hlo.parse(TEXT)
  other = hlo.parse(TEXT.replace("negate", "abs"))
  assert run_passes(module, [lambda m: other], verify=True).changed
  assert "abs" in module.to_text() and all(c.parent is module for c in module.computations)


def test_what_a_function_returns_is_checked():
  with pytest.raises(PassFailed, match="must return"):
    run_passes(hlo.parse(TEXT), [lambda m: 1.5])
  with pytest.raises(HloPassError, match="not int"):
    as_pass(3)  # type: ignore[arg-type]


def test_names_and_options():
  assert make_pass("constant_folding{max_bytes=12,loops=true}") == PASSES["constant_folding"](max_bytes=12, loops=True)
  assert make_pass("call-inliner").name == "call_inliner"
  with pytest.raises(HloPassError, match=r"no pass called dance.*dce"):
    make_pass("dance")
  with pytest.raises(HloPassError, match="has no option"):
    make_pass("dce{speed=1}")
  with pytest.raises(HloPassError, match="braces"):
    make_pass("dce{narrow=true")
  with pytest.raises(HloPassError, match="already"):
    register_pass("dce")(Pass)


def test_every_pass_says_what_it_does():
  for name, factory in PASSES.items():
    made = factory()
    assert made.name == name and made.summary.endswith(".")
    assert len(sys.modules[type(made).__module__].__doc__ or "") > 200, f"{name}: precondition and proof?"


def test_differences_and_dumps(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path))
  report = run_passes(hlo.parse(TEXT), ["cse", "dce", "call_inliner"])
  assert "-  %d = f32[4]{0} call(%x), to_apply=%f" in report.diff()
  (folder,) = (tmp_path / "hlo").iterdir()
  names = sorted(path.name for path in folder.iterdir())
  assert names == [
    "00.input.hlo",
    "01.cse.diff",
    "01.cse.hlo",
    "02.call_inliner.diff",
    "02.call_inliner.hlo",
    "report.txt",
  ]
  assert hlo.parse((folder / "02.call_inliner.hlo").read_text()).instruction_count == 3


def test_a_snapshot_can_be_restored_twice():
  module = hlo.parse(TEXT)
  text, snapshot = module.to_text(), Snapshot(module)
  for _ in range(2):
    run_passes(module, ["call_inliner", "cse"])
    assert module.to_text() != text
    snapshot.restore()
    assert module.to_text() == text


def test_a_pass_class_with_options():
  @dataclass(frozen=True)
  class Rename(Pass):
    """Renames the module."""

    to: str = "new"

    def run(self, module: hlo.Module) -> bool:
      module.name = self.to
      return True

  module = hlo.parse(TEXT)
  assert run_passes(module, [Rename("other")]).changed and module.name == "other"


def test_a_broken_file_costs_its_own_passes_only(tmp_path, monkeypatch):
  (tmp_path / "broken_folder").mkdir()
  (tmp_path / "broken_folder" / "__init__.py").touch()
  (tmp_path / "broken_folder" / "half_written.py").write_text("def run(:")
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.setattr(passes_folder, "BROKEN", {})
  monkeypatch.setattr("tilewright.hlo.passes.base.BROKEN", passes_folder.BROKEN)
  with pytest.warns(hlo.HloPassWarning, match="half_written cannot be imported"):
    passes_folder.load(["half_written"], "broken_folder")
  with pytest.raises(hlo.HloError, match=r"half_written\.py cannot be imported"):
    hlo.make_pass("half_written")
  assert hlo.make_pass("dce").name == "dce"


def test_a_pass_that_does_not_exist_is_answered_with_names_that_come_near():
  with pytest.raises(HloPassError, match=r"no pass called ced. Did you mean .*cse.*tilewright hlo --list"):
    hlo.run_passes(hlo.parse(TEXT), ["ced"])


def test_an_option_of_another_type_is_refused_with_what_it_must_be():
  with pytest.raises(HloPassError, match="constant_folding: max_bytes must be an integer, got 'abc'"):
    hlo.run_passes(hlo.parse(TEXT), ["constant_folding{max_bytes=abc}"])
