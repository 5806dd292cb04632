"""What the cost model knows of XLA's loops: values that are read at several places are computed for each of them."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import tilewright
from tilewright import hlo
from tilewright.accelerate import axes, costs, graph, regions, tiles

BODIES = {
  "two neighbours": (
    """y = f32[64,32] tanh(p)
  a = f32[63,32] slice(y), slice={[1:64], [0:32]}
  b = f32[63,32] slice(y), slice={[0:63], [0:32]}
  ROOT r = f32[63,32] add(a, b)""",
    2 * 63 / 64,
  ),
  "neighbours of neighbours": (
    """y = f32[64,32] tanh(p)
  a = f32[63,32] slice(y), slice={[1:64], [0:32]}
  b = f32[63,32] slice(y), slice={[0:63], [0:32]}
  s = f32[63,32] add(a, b)
  c = f32[62,32] slice(s), slice={[1:63], [0:32]}
  d = f32[62,32] slice(s), slice={[0:62], [0:32]}
  ROOT r = f32[62,32] multiply(c, d)""",
    4 * 62 / 64,
  ),
  "the same place": ("y = f32[64,32] tanh(p)\n  z = f32[64,32] multiply(y, y)\n  ROOT r = f32[64,32] add(z, y)", 1.0),
  "every second row": ("y = f32[64,32] tanh(p)\n  ROOT r = f32[32,32] slice(y), slice={[0:64:2], [0:32]}", 0.5),
  "itself and joined": (
    "y = f32[64,32] tanh(p)\n  j = f32[128,32] concatenate(y, y), dimensions={0}\n  ROOT r = f32[128,32] negate(j)",
    2.0,
  ),
}


@pytest.mark.parametrize("name", BODIES)
def test_xla_computes_a_value_again_for_each_place_at_which_it_is_read(name):
  body, expected = BODIES[name]
  fused = f"f {{\n  p = f32[64,32] parameter(0)\n  {body}\n}}"
  result = body.split("ROOT r = ")[1].split(" ")[0]
  module = hlo.parse(
    f"HloModule m\n{fused}\nENTRY e {{ x = f32[64,32] parameter(0)\n  ROOT y = {result} fusion(x), kind=kLoop, calls=f }}"
  )
  built = graph.build([module.entry.root])
  times = costs._times_computed(built)
  (tanh,) = [n for n in built.nodes if n.opcode == "tanh"]
  assert times[tanh] == pytest.approx(expected)


def _on_a_gpu(dtype: str) -> float:
  """The estimate for a chain of operations on 16-bit floats, which are computed as they are or between two conversions."""
  lines, value = ["x = bf16[4096,4096] parameter(0)"], "x"
  if dtype != "bf16":
    lines.append(f"w = {dtype}[4096,4096] convert(x)")
    value = "w"
  for k in range(6):
    lines.append(f"a{k} = {dtype}[4096,4096] multiply({value}, {value})")
    value = f"a{k}"
  lines.append(f"ROOT r = bf16[4096,4096] {'negate' if dtype == 'bf16' else 'convert'}({value})")
  module = hlo.parse("HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}")
  built = graph.build([i for i in module.entry.instructions if i.opcode != "parameter"])
  found, machine = axes.analyse(built), tiles.gpu(132)
  return costs.kernel_time(built, found, tiles.choose(built, found, machine), machine)


def test_rounding_to_16_bits_after_each_operation_takes_a_gpu_longer():
  assert _on_a_gpu("bf16") > 1.2 * _on_a_gpu("f32")


def test_estimates_that_promise_little_are_tried_where_they_are_measured(monkeypatch):
  x = np.ones((512, 512), np.float32)
  monkeypatch.setattr(regions, "_MIN_SECONDS", 0.0)
  decisions = lambda acceleration: [
    d for r in acceleration.reports for d in r.decisions if d.predicted and len(d.ops) > 3
  ]

  def found(k: float, **options: bool):
    with tilewright.accelerate(**options) as acceleration:
      jax.jit(lambda x: jax.nn.softmax(x * k)).lower(x).compile()
    return decisions(acceleration)

  (taken,) = found(2.0)
  monkeypatch.setattr(regions, "_MARGIN", taken.speedup * 1.3)
  (left,) = found(3.0)
  assert not left.taken and "estimated" in left.why_not
  (tried,) = found(4.0, measure=True)
  assert tried.measured is not None
