"""Random kernels that move tiles between layouts compute exactly what NumPy does: all numbers are small integers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from block_on_cpu import run
from gpu_programs import BF16, F32, S, in_one_block, natives
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.layouts import examples

SHAPES = [(32, 64), (64, 32), (32, 32), (48, 20)]


def _dot(a: Any, b: Any) -> Any:
  """Operands are small enough for bf16, sums for f32."""
  if isinstance(a, np.ndarray):
    return np.clip(a, -4, 4) @ np.clip(b, -4, 4)
  a, b = (jnp.clip(x, -4, 4).astype(BF16) for x in (a, b))
  return jax.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=F32)


def _loop(a: Any, b: Any) -> Any:
  """Two tiles that change places in a loop."""
  step = lambda i, pair: (pair[1] + 1, (pair[0].T - pair[1]).clip(-8, 8))
  if not isinstance(a, np.ndarray):
    return jax.lax.fori_loop(0, 3, step, (a, b))[0]
  pair = (a, b)
  for i in range(3):
    pair = step(i, pair)
  return pair[0]


def _swapped(a: Any) -> Any:
  xp, half = np if isinstance(a, np.ndarray) else jnp, a.shape[1] // 2
  return xp.concatenate([a[:, half:], a[:, :half]], axis=1)


# Whether two operands of given shapes will do, and what is computed of them.
OPS: dict[str, tuple[Any, Any]] = {
  "add": (lambda s, t: s == t, lambda a, b: a + b),
  "transpose": (lambda s, t: s == t, lambda a, b: a.T),
  "add a transpose": (lambda s, t: s == t[::-1], lambda a, b: a - b.T),
  "rows": (lambda s, t: s[0] == t[0], lambda a, b: a - b.sum(1, keepdims=True)),
  "columns": (lambda s, t: s[1] == t[1], lambda a, b: a + b.max(0, keepdims=True)),
  "columns by rows": (lambda s, t: s[0] == t[1], lambda a, b: a + b.sum(0)[:, None]),
  "swap halves": (lambda s, t: s == t, lambda a, b: _swapped(a)),
  "dot": (lambda s, t: s[1] == t[0] and s[1] % 16 == 0, _dot),
  "loop": (lambda s, t: s == t and s[0] == s[1], _loop),
}


def evaluate(steps: list[tuple[str, int, int]], *tiles: Any) -> Any:
  """Each step adds a tile to those there are; the results are the last ones."""
  known = list(tiles)
  for name, i, j in steps:
    known.append(OPS[name][1](known[i], known[j]).clip(-8, 8))
  return known[-2:]


@st.composite
def programs(draw: Any) -> tuple[list[tuple[str, int, int]], list[tuple[int, int]]]:
  shapes = list(SHAPES)
  steps = []
  for _ in range(draw(st.integers(2, 7))):
    i = draw(st.integers(0, len(shapes) - 1))
    fitting = [(name, j) for name, (fits, _) in OPS.items() for j, t in enumerate(shapes) if fits(shapes[i], t)]
    name, j = draw(st.sampled_from(fitting))
    steps.append((name, i, j))
    out = jax.eval_shape(OPS[name][1], *(S(shapes[n], F32) for n in (i, j)))
    shapes.append(out.shape)
  return steps, shapes[-2:]


@given(programs(), st.sampled_from([1, 4]), st.sampled_from(["sm_80", "sm_90a"]))
@examples(16)
def test_random_kernels_compute_what_numpy_does(program, num_warps, arch):
  steps, shapes = program
  rng = np.random.default_rng(0)
  args = [rng.integers(-3, 4, s).astype(np.float32) for s in SHAPES]
  call = in_one_block(lambda *tiles: evaluate(steps, *tiles), *(S(s, F32) for s in shapes))
  ((_, native),) = natives(call, *args)
  for got, wanted in zip(run(native, *args, arch=arch, num_warps=num_warps), evaluate(steps, *args), strict=True):
    np.testing.assert_array_equal(got, wanted)
