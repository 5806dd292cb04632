"""Reading is linear in the text. `tilewright bench cpu --filter hlo` shows how fast it is."""

from __future__ import annotations

import sys

import pytest

from tilewright import hlo


def big_module(count: int) -> str:
  """`count` instructions of the kinds and lengths that real modules have."""
  lines = ["HloModule big\n\nENTRY %main (p0: f32[128,256], p1: f32[128,256]) -> f32[128,256] {"]
  lines += [f"  %p{i} = f32[128,256]{{1,0}} parameter({i})" for i in range(2)]
  a, b = "p0", "p1"
  for i in range(count):
    scope = f'op_name="jit(f)/jit(main)/layer_{i // 50}'
    match i % 4:
      case 0:
        lines.append(
          f"  %add.{i} = f32[128,256]{{1,0}} add(%{a}, %{b}), "
          f'metadata={{{scope}/add" source_file="/x/y.py" source_line={i % 700}}}'
        )
        a, b = f"add.{i}", a
      case 1:
        lines.append(
          f"  %dot.{i} = f32[128,128]{{1,0}} dot(%{a}, %{b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, "
          f'metadata={{{scope}/dot_general" stack_frame_id={i % 900}}}'
        )
      case 2:
        lines.append(
          f"  %slice.{i} = f32[64,256]{{1,0}} slice(%{a}), slice={{[0:64], [0:256]}}, sharding={{replicated}}"
        )
      case 3:
        lines.append(f"  %constant.{i} = f32[] constant({i}.5)")
  lines.append(f"  ROOT %r = f32[128,256]{{1,0}} negate(%{a})\n}}\n")
  return "\n".join(lines)


@pytest.mark.slow
def test_forty_thousand_instructions_there_and_back() -> None:
  text = big_module(40_000)
  module = hlo.parse(text)
  assert sum(len(c.instructions) for c in module.computations) == 40_003
  assert hlo.parse(module.to_text()).to_text() == module.to_text()


def _calls(count: int) -> int:
  """How many Python functions run while a module is read: work, without the machine's noise."""
  text = big_module(count)
  calls = 0

  def count_calls(_frame: object, event: str, _arg: object) -> None:
    nonlocal calls
    calls += event in ("call", "c_call")

  sys.setprofile(count_calls)
  try:
    hlo.parse(text)
  finally:
    sys.setprofile(None)
  return calls


def test_reading_is_linear() -> None:
  """Eight times the text is about eight times the work."""
  assert _calls(4000) < 8 * _calls(500) * 1.25
