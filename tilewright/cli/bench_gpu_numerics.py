"""GPU rows about small numbers: a few rows times packed weights beside bf16 weights, block-scaled products beside `jax.nn.scaled_matmul`.

A decoding step reads its weights once, layer after layer. So a program multiplies rows with one matrix after another, each product with the
result of the previous one: no matrix is in a cache, nothing can be merged, and few arrays are passed, so that the host is
done before the device. The program's time is divided by the number of products. Calls are queued as in the other GPU rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import numerics
from tilewright.cli.bench import OURS, Call, Case
from tilewright.cli.bench_gpu_kernels import queued

SIZE = 8192
MATRICES = 16  # of any format more than ten times the capacity of L2
PASSES = 4  # of a call, 60 to 100 us are spent outside its kernels, on either side
BF16 = jnp.bfloat16
_ROWS = (((1,), (1,)), ((), ()))


def _normal(shape: tuple[int, ...], seed: int) -> jax.Array:
  return jax.random.normal(jax.random.key(seed), shape, jnp.float32)


def weights(recipe: str, rows: int) -> Case:
  """x @ w.T with packed w, (n, k), and x @ w with w of bf16."""
  quantise = jax.jit(lambda x: numerics.quantize(x, recipe))
  matrices = lambda: (_normal((SIZE, SIZE), seed) / SIZE**0.5 for seed in range(MATRICES))  # results as large as x

  def timed(dot: Callable[[Any, Any], Any], ws: list[Any]) -> Call:
    def program(x: Any, ws: list[Any]) -> Any:
      for w in ws * PASSES:
        x = dot(x, w)
      return x

    return queued(program, (_normal((rows, SIZE), 100).astype(BF16), ws), 1 / (MATRICES * PASSES))

  def ours() -> Call:
    dot = lambda x, w: numerics.scaled_dot(x, w, _ROWS, preferred_element_type=BF16)
    return timed(dot, [quantise(w) for w in matrices()])

  def plain() -> Call:
    return timed(jnp.dot, [w.astype(BF16) for w in matrices()])

  name = f"gpu {recipe} weights, {rows} x {SIZE} x {SIZE}"
  return Case(name, {OURS: ours, "XLA bf16": plain}, goals={"XLA bf16": 2.5} if recipe == "nvfp4" else {})


def both_sides(recipe: str, size: int) -> Case:
  quantise = jax.jit(lambda x: numerics.quantize(x, recipe, global_scale=None))
  operands = lambda: tuple(quantise(_normal((size, size), seed)) for seed in range(2))

  def ours() -> Call:
    return queued(lambda a, b: numerics.scaled_dot(a, b, _ROWS, preferred_element_type=BF16), operands())

  def library() -> Call:
    def elements(q: Any) -> Any:
      data = q.data if q.format.width == 8 else jax.lax.bitcast_convert_type(q.data, jnp.float4_e2m1fn)
      return data.reshape(1, size, size), q.scales[None]

    (a, sa), (b, sb) = (jax.jit(elements)(q) for q in operands())
    product = lambda a, b, sa, sb: jax.nn.scaled_matmul(a, b, sa, sb, preferred_element_type=BF16)
    return queued(product, (a, b, sa, sb))

  def plain() -> Call:
    dense = tuple(_normal((size, size), seed).astype(BF16) for seed in range(2))
    return queued(lambda a, b: a @ b.T, dense)

  contenders = {OURS: ours, "jax.nn.scaled_matmul": library, "XLA bf16": plain}
  return Case(f"gpu {recipe} both sides {size}^3", contenders, goals={"jax.nn.scaled_matmul": 1.0})


CASES: tuple[Case, ...] = (
  *(weights("nvfp4", rows) for rows in (1, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
  weights("mxfp8", 1),
  both_sides("mxfp8", 4096),
  both_sides("nvfp4", 4096),
)
