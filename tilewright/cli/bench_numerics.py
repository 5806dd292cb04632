"""Rows of `tilewright bench cpu` about small numbers: quantised weights, block-scaled products, quantising.

The peers are XLA's f32 product of the same shape, and what XLA makes of dequantising before it. A row for quantising is compared with a
copy: it is to have half of the copy's bandwidth, counting what each reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import numerics
from tilewright.cli.bench import OURS, Call, Case

F32, DEQUANTISED, COPY = "XLA f32", "XLA dequantise", "XLA copy"
_COPIED, _QUANTISED = 4 + 4, 4 + 1 + 1 / 32  # bytes of an element that a copy and MXFP8 read and write


def normal(*shape: int, seed: int = 0) -> jax.Array:
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def running(f: Callable[..., Any], *args: Any) -> Call:
  compiled = jax.jit(f)
  jax.block_until_ready(compiled(*args))
  return lambda: compiled(*args)


def weights(name: str, rows: int, size: int, **options: Any) -> Case:
  """A few rows times a matrix whose weights are quantised: a decoding step."""

  def quantised() -> Any:
    return jax.jit(lambda w: numerics.quantize(w, name, axis=0, **options))(normal(size, size))

  def x() -> jax.Array:
    return normal(rows, size, seed=1)

  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: running(numerics.scaled_dot, x(), quantised()),
    DEQUANTISED: lambda: running(lambda x, q: x @ numerics.dequantize(q), x(), quantised()),
    F32: lambda: running(jnp.dot, x(), numerics.dequantize(quantised())),
  }
  return Case(f"numerics.{name} weights, {rows} x {size} x {size}", contenders, goals={DEQUANTISED: 3.0, F32: 1.0})


def both_sides(name: str, size: int) -> Case:
  """A product of two quantised matrices, k last in both."""

  def operands() -> list[Any]:
    return [numerics.quantize(normal(size, size, seed=s), name) for s in (0, 1)]

  numbers = (((1,), (1,)), ((), ()))
  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: running(lambda a, b: numerics.scaled_dot(a, b, numbers), *operands()),
    DEQUANTISED: lambda: running(lambda a, b: a.dequantize() @ b.dequantize().T, *operands()),
    F32: lambda: running(lambda a, b: a @ b.T, *(numerics.dequantize(q) for q in operands())),
  }
  return Case(f"numerics.{name} both sides {size}x{size}x{size}", contenders, goals={F32: 1.0})


def quantising(name: str, size: int) -> Case:
  """One pass over an array; results are not comparable with a copy's, so each comes with a mark that is no array."""

  def marked(call: Call) -> Call:
    return lambda: (call(), 0)

  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: marked(running(lambda x: numerics.quantize(x, name), normal(size, size))),
    COPY: lambda: marked(running(jnp.copy, normal(size, size))),
  }
  return Case(
    f"numerics.quantize to {name} {size}x{size}", contenders, goals={COPY: round(0.5 * _COPIED / _QUANTISED, 2)}
  )


CASES: tuple[Case, ...] = (
  weights("nvfp4", 1, 4096),
  weights("nvfp4", 8, 4096),
  weights("int4", 1, 4096, block=64),
  weights("int4", 8, 4096, block=64),
  both_sides("mxfp8", 1024),
  quantising("mxfp8", 4096),
)
