"""Matrix products by name: `wgmma` and `mma`.

    plgpu.wgmma(acc, a_smem, b_smem)        acc[...] += a_smem[...] @ b_smem[...]
    plgpu.wgmma_wait(0)

They are lowered to wgmma where the GPU has it and the shapes allow it, else to mma.sync. In a kernel with barriers or several warpgroups,
wgmma is asynchronous: a product is in flight until `wgmma_wait(n)` (all but the newest n are done then) or until its accumulator is read or
written; its operands must not be written until then. Otherwise a product is done when the call returns.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import effects, primitives
from tilewright.pallas.arity import describe_value
from tilewright.pallas.mosaic_gpu.copies import space_of
from tilewright.target import xla
from tilewright.tile.types import ACCUMULATOR


def _tile(x: Any) -> jax.Array:
  """The values of an operand: a ref, a view of one, or a tile in registers."""
  return primitives.load(x) if primitives.is_ref(x) else jnp.asarray(x)


_EIGHT_BITS = (jnp.dtype(jnp.float8_e4m3fn), jnp.dtype(jnp.float8_e5m2))  # kinds that one wgmma may mix


def product(what: str, acc: Any, a: Any, b: Any) -> jax.Array:
  """`a @ b`, of refs or tiles, in the dtype of what it is added to."""
  a, b = _tile(a), _tile(b)
  shapes = f"acc {list(acc.shape)}, a {list(a.shape)}, b {list(b.shape)}"
  if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or tuple(acc.shape) != (a.shape[0], b.shape[1]):
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: Incompatible shapes for matrix multiplication: expected acc (m, n), a (m, k) and b (k, n), got {shapes}."
    )
  if a.dtype != b.dtype and all(x.dtype in _EIGHT_BITS for x in (a, b)):
    a, b = a.astype(jnp.float16), b.astype(jnp.float16)  # which holds the numbers of both exactly
  if a.dtype != b.dtype:
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: Mixed input dtypes for matrix multiplication unsupported: a has {a.dtype}, b has {b.dtype}."
    )
  return jnp.dot(a, b, preferred_element_type=acc.dtype)


def wgmma(acc: Any, a: Any, b: Any) -> None:
  """Add the product of `a` (m, k), a ref or a tile, and `b` (k, n), a ref, to an accumulator, `plgpu.ACC((m, n))`."""
  if not primitives.is_ref(acc) or space_of(acc) != ACCUMULATOR:
    raise errors.RefTypeError(
      f"plgpu.wgmma: acc must be an accumulator, got {describe_value(acc)}. Allocate one with plgpu.ACC((m, n), jnp.float32)."
    )
  if not primitives.is_ref(b):
    raise errors.RefTypeError(
      f"plgpu.wgmma: b must be a ref, got {describe_value(b)}. Write it to SMEM first, or multiply with plgpu.mma."
    )
  acc[...] = acc[...] + product("wgmma", acc, a, b)


await_products_p = primitives.Primitive("await_products")
await_products_p.multiple_results = True
await_products_p.def_effectful_abstract_eval(lambda **params: ([], {effects.semaphore_effect}))
xla.register(await_products_p)(lambda ctx, **params: [])


def wgmma_wait(n: int) -> None:
  """Wait until at most `n` products of this warpgroup are in flight."""
  if not isinstance(n, int) or n < 0:
    raise errors.GridError(f"plgpu.wgmma_wait: n must be a non-negative integer, got {n!r}.")
  await_products_p.bind(pending=n)


def wgmma_accumulator_load(acc: Any, *, wait_n: int | None = 0) -> jax.Array:
  """What an accumulator holds."""
  return acc[...]


def mma(acc: jax.Array, a: jax.Array, b: jax.Array, /) -> jax.Array:
  """`acc + a @ b`, of tiles in registers."""
  return acc + product("mma", acc, a, b)
