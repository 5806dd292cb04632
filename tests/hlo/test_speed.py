"""Reading stays linear, and fast enough for real modules."""

from __future__ import annotations

import time

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
  """In seconds of this process: the machine may be busy with other things."""
  text = big_module(40_000)
  rates: list[float] = []
  totals: list[float] = []
  for _ in range(3):
    start = time.process_time()
    module = hlo.parse(text)
    parsed = time.process_time()
    module.to_text()
    totals.append(time.process_time() - start)
    rates.append(len(text) / 1e6 / (parsed - start))
  print(f"\n{len(text) / 1e6:.1f} MB: parsed at {max(rates):.1f} MB/s, {min(totals):.2f} s there and back")
  assert min(totals) < 6
  assert max(rates) > 3


def test_reading_is_linear() -> None:
  def seconds(count: int) -> float:
    text = big_module(count)
    start = time.process_time()
    hlo.parse(text)
    return time.process_time() - start

  small = min(seconds(1000) for _ in range(3))
  assert min(seconds(8000) for _ in range(2)) < 8 * small * 3
