"""The scaled dot on an NVIDIA GPU: what tensor cores multiply are bfloat16s, decoded in registers on their way from memory.

Two kernels, both over operands with k last:

- *few rows* times many: the many are read once, so that the product is bound by memory bandwidth. Each instance takes some rows of
  the wide operand and all of k; where there are too few of them for the GPU, k is split.
- *blocks*: both operands in blocks of 128 rows, accumulated along the last dimension of the grid.

An operand that is not quantised is split into bfloat16s that add up to it: one for bfloat16, two for float16, three for float32.
Their products are exact, and added in float32.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.numerics import words
from tilewright.numerics.formats import Format
from tilewright.numerics.launch import Execution
from tilewright.numerics.operands import Operand, exact_in_bfloat16, pad_k

FEW = 32  # rows, with the parts of each
_DEPTH = 128  # of a step along k
_ROW_BITS = 1024
_NUM_SMS = 132  # SMs that should have work; more or fewer change only the speed
_PARTS = {np.dtype(jnp.bfloat16): 1, np.dtype(np.float16): 2, np.dtype(np.float32): 3}


@dataclasses.dataclass(frozen=True)
class Order:
  """In what order and in which groups the elements of k are multiplied: those of the packed operand."""

  format: Format
  block: int


def applies(left: Operand, right: Operand) -> bool:
  """Whether the kernels here compute this product: elements times scales must be bfloat16s."""
  return order_of(left, right) is not None


def order_of(left: Operand, right: Operand) -> Order | None:
  quantised = [o for o in (left, right) if o.side.format is not None]
  if not all(_is_exact(o) for o in quantised):
    return None
  if any(o.side.format is None and o.arrays[0].dtype not in _PARTS for o in (left, right)):
    return None
  orders = {Order(o.side.format, o.side.block or 0) for o in quantised if o.side.format is not None}
  blocks = {o.block for o in orders}
  by_words = {words.has_words(o.format) for o in orders}
  if len(blocks) != 1 or len(by_words) != 1 or 0 in blocks or any(b % 16 for b in blocks):
    return None
  return next(iter(orders))


def _is_exact(operand: Operand) -> bool:
  side = operand.side
  if side.format is None or not exact_in_bfloat16(side, operand.arrays[1]):
    return False
  return side.format.width == 8 or words.has_words(side.format)


def contract(left: Operand, right: Operand, scales: list[Any], out_dtype: Any, execution: Execution) -> jax.Array:
  """(batch, m, n) from two operands; the result is multiplied by `scales`, each (batch or 1, m or 1, n or 1)."""
  if _is_few(right) and not _is_few(left):
    return jnp.swapaxes(contract(right, left, [jnp.swapaxes(s, 1, 2) for s in scales], out_dtype, execution), 1, 2)
  order = order_of(left, right)
  assert order is not None
  unit = math.lcm(_DEPTH, order.block)
  k = -(-max(left.k, right.k) // unit) * unit
  left, right = (pad_k(o, k) for o in (left, right))
  factor = math.prod(
    words.epilogue_factor(o.side.format, o.arrays[1].dtype) for o in (left, right) if o.side.format is not None
  )
  parts = 1 if left.side.format is not None else _PARTS[np.dtype(left.arrays[0].dtype)]
  if left.side.format is None and left.side.rows * parts <= FEW and right.side.format is not None:
    return _few_rows(left, right, order, scales, factor, out_dtype, execution)
  return _blocks(k_last(left), k_last(right), order, scales, factor, out_dtype, execution)


def _is_few(operand: Operand) -> bool:
  return operand.side.format is None and operand.side.rows * _PARTS[np.dtype(operand.arrays[0].dtype)] <= FEW


def k_last(operand: Operand) -> Operand:
  """With rows of k, by transposing what is packed."""
  if operand.side.k_last:
    return operand
  side = dataclasses.replace(operand.side, k_last=True)
  return Operand(side, tuple(jnp.swapaxes(a, 1, 2) for a in operand.arrays), operand.k)


def parts_of(x: jax.Array) -> list[jax.Array]:
  """Bfloat16s that add up to x, each cut off from what is left: rounded, the largest would be infinite. An infinity is one alone."""
  if x.dtype == jnp.bfloat16:
    return [x]
  rest, found = x.astype(jnp.float32), []
  for _ in range(_PARTS[np.dtype(x.dtype)]):
    upper = jax.lax.bitcast_convert_type(rest, jnp.uint32) & np.uint32(0xFFFF0000)
    part = jnp.where(rest == rest, jax.lax.bitcast_convert_type(upper, jnp.float32), rest)
    found.append(part.astype(jnp.bfloat16))
    rest = jnp.where(jnp.abs(part) == jnp.inf, jnp.float32(0), rest - part)
  return found


def scale_block(arrays: tuple[Any, ...], rows: int, k: int, block: int) -> tuple[int, int]:
  """The rows and columns of scales that go with a block of data; 1 where all share one."""
  _, own_rows, own_columns = arrays[1].shape
  return (rows if own_rows > 1 else 1), (k // block if own_columns > 1 else 1)


def data_width(f: Format, k: int) -> int:
  return k * f.width // 8


# --- few rows ----------------------------------------------------------------------------------------------------


def few_blocks(rows: int, n: int, k: int, batch: int, width: int, k_last: bool) -> tuple[int, int]:
  """Rows of the wide operand, of elements of so many bits, that an instance takes, and in how many parts k is summed.

  The other operand is read once by each instance, so an instance takes more rows the more of those there are. Where rows of the wide
  operand lie side by side, a warp takes 64 of them, eight for each lane.
  """
  few = 16 if width == 4 else 7
  most = 64 if rows > few or not k_last else 32
  fewest = 64 if not k_last else 16
  bn = next(b for b in (most, 32, 16) if b == fewest or batch * -(-n // b) >= _NUM_SMS * 32 // b)
  splits = 1
  while batch * -(-n // bn) * splits < _NUM_SMS // 2 and k % (2 * splits * _DEPTH * 8) == 0:
    splits *= 2
  return bn, splits


def few_warps(bn: int, k_last: bool) -> int:
  """Warps of an instance: two instances of 32 rows share an SM; where rows are contiguous, one of 64 has registers for sixteen warps."""
  return 16 if bn == 64 and not k_last else 8


def _few_rows(
  left: Operand, right: Operand, order: Order, scales: list[Any], factor: float, out_dtype: Any, execution: Execution
) -> Any:
  parts = parts_of(left.arrays[0])
  m, n, k = left.side.rows, right.side.rows, right.k
  batch = max(left.side.batch, right.side.batch)
  x = parts[0] if len(parts) == 1 else jnp.concatenate(parts, axis=1)
  rows = x.shape[1]
  f, block = right.side.format, order.block
  assert f is not None
  bn, splits = few_blocks(rows, n, k, batch, f.width, right.side.k_last)
  ordered = (lambda *pair: pair) if right.side.k_last else (lambda *pair: pair[::-1])
  depth = k // splits
  dtype = np.dtype(jnp.float32) if splits > 1 else np.dtype(out_dtype)
  applied = scales if splits == 1 else []

  def kernel(x_ref: Any, w_ref: Any, s_ref: Any, *rest: Any) -> None:
    *scale_refs, o_ref = rest
    p = words.arranged(x_ref[...], f, block)
    data, own_scales = (ref[...] if right.side.k_last else ref[...].T for ref in (w_ref, s_ref))
    q = words.decoded(data, own_scales, f, block, scaling=jnp.bfloat16)
    axes = tuple(range(1, p.ndim))
    total = jax.lax.dot_general(p, q, ((axes, axes), ((), ())), preferred_element_type=jnp.float32)
    if len(parts) > 1:
      total = jnp.sum(total.reshape(len(parts), m, bn), axis=0)
    whole = functools.reduce(lambda product, ref: product * _factor(ref), scale_refs, np.float32(factor))
    o_ref[...] = (total * whole).astype(o_ref.dtype)

  stack = _Stack(batch)
  count, scale_rows, scale_columns = right.arrays[1].shape[:1] + ordered(*right.arrays[1].shape[1:])
  own = (bn if scale_rows > 1 else 1), (depth // block if scale_columns > 1 else 1)
  of_scales = lambda s, j: ordered((j if scale_rows > 1 else 0), (s if scale_columns > 1 else 0))
  out = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((*stack.grid, splits, m, n), dtype),
    grid=(*stack.grid, splits, pl.cdiv(n, bn)),
    in_specs=[
      stack.spec((rows, depth), left.side.batch, lambda s, j: (0, s)),
      stack.spec(ordered(bn, data_width(f, depth)), right.side.batch, lambda s, j: ordered(j, s)),
      stack.spec(ordered(*own), count, of_scales),
      *[stack.scale_spec(scale, m, bn, lambda s, j: (0, j)) for scale in applied],
    ],
    out_specs=stack.spec((None, m, bn), batch, lambda s, j: (s, 0, j)),
    name="scaled_dot",
    **execution.options(*("parallel",) * (len(stack.grid) + 2), num_warps=few_warps(bn, right.side.k_last)),
  )(stack.flat(x), *(stack.flat(a) for a in (*right.arrays, *applied)))
  out = out.reshape(batch, splits, m, n)
  if splits == 1:
    return out[:, 0]
  return functools.reduce(jnp.multiply, scales, jnp.sum(out, axis=1)).astype(out_dtype)


# --- blocks ------------------------------------------------------------------------------------------------------


def _rounded_up(size: int, most: int) -> int:
  """A block for a dimension: a power of two of at least 16, at most `most`."""
  return min(most, max(16, 1 << (size - 1).bit_length()))


def _depth_and_rows(left: Operand, right: Operand, order: Order, k: int) -> tuple[int, tuple[int, int]]:
  """Of a step along k, and at most of blocks.

  Where both operands are packed in rows of 128 bytes, TMA loads them, and the left one is decoded into registers, which costs
  less than the right one's way through shared memory: so the block has more rows of the left one.
  """
  unit = math.lcm(_DEPTH, order.block)
  widths = {o.side.format.width if o.side.format is not None else 0 for o in (left, right)}
  deep = _ROW_BITS // max(widths)
  if len(widths) == 1 and 0 not in widths and deep % unit == 0 and k % deep == 0:
    return deep, (256, 128)
  return unit, (128, 256)


def _blocks(
  left: Operand, right: Operand, order: Order, scales: list[Any], factor: float, out_dtype: Any, execution: Execution
) -> Any:
  m, n, k = left.side.rows, right.side.rows, right.k
  batch = max(left.side.batch, right.side.batch)
  bk, most = _depth_and_rows(left, right, order, k)
  # An operand is decoded once for each block of the other: fewer and larger ones, as long as there are some for all SMs.
  is_large = batch * -(-m // most[0]) * -(-n // most[1]) >= _NUM_SMS
  bm, bn = (_rounded_up(size, most if is_large else 128) for size, most in zip((m, n), most))
  steps = k // bk
  stack = _Stack(batch)
  x, y = _Blocked(left, order, stack, bm, bk), _Blocked(right, order, stack, bn, bk)

  def kernel(*refs: Any) -> None:
    *inputs, o_ref, acc_ref = refs
    first, both = len(x.arrays), len(x.arrays) + len(y.arrays)
    x_refs, y_refs, scale_refs = inputs[:first], inputs[first:both], inputs[both:]
    step = pl.program_id(len(stack.grid) + 2)

    @pl.when(step == 0)
    def _() -> None:
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    for p in x.values(x_refs):
      for q in y.values(y_refs):
        acc_ref[...] += jax.lax.dot_general(p, q, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)

    @pl.when(step == steps - 1)
    def _() -> None:
      total = acc_ref[...]
      if factor != 1:
        total = total * np.float32(factor)
      for ref in scale_refs:
        total = total * _factor(ref)
      o_ref[...] = total.astype(o_ref.dtype)

  out = pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((*stack.grid, m, n), out_dtype),
    grid=(*stack.grid, pl.cdiv(m, bm), pl.cdiv(n, bn), steps),
    in_specs=[
      *x.specs(lambda i, j, l: (i, l)),
      *y.specs(lambda i, j, l: (j, l)),
      *[stack.scale_spec(scale, bm, bn, lambda i, j, l: (i, j)) for scale in scales],
    ],
    out_specs=stack.spec((bm, bn), batch, lambda i, j, l: (i, j)),
    scratch_shapes=[jax.ShapeDtypeStruct((bm, bn), jnp.float32)],
    name="scaled_dot",
    **execution.options(*("parallel",) * len(stack.grid), "parallel", "parallel", "arbitrary"),
  )(*x.arrays, *y.arrays, *(stack.flat(scale) for scale in scales))
  return out.reshape(batch, m, n)


def _factor(ref: Any) -> Any:
  """What a block of the result is multiplied by: a number, or one for each of its rows or columns."""
  return ref[0, 0] if ref.shape == (1, 1) else ref[...]


@dataclasses.dataclass(frozen=True)
class _Stack:
  """The batch as a dimension of grid, arrays and blocks; where it is one, matrices are just matrices."""

  batch: int

  @property
  def grid(self) -> tuple[int, ...]:
    return (self.batch,) if self.batch > 1 else ()

  def flat(self, x: jax.Array) -> jax.Array:
    return x if self.grid else x.reshape(x.shape[1:])

  def spec(self, shape: tuple[int | None, ...], count: int, place: Any) -> Any:
    """`count`: how many of the array there are; one is shared by the batch."""
    if not self.grid:
      return pl.BlockSpec(shape, place)
    return pl.BlockSpec((None, *shape), lambda b, *grid: (b if count > 1 else 0, *place(*grid)))

  def scale_spec(self, scale: jax.Array, rows: int, columns: int, place: Any) -> Any:
    """Of a scale (batch or 1, m or 1, n or 1) for blocks of the result, which are at `place`."""
    count, *sizes = scale.shape
    at = lambda *grid: tuple(i if n > 1 else 0 for i, n in zip(place(*grid), sizes))
    return self.spec((rows if sizes[0] > 1 else 1, columns if sizes[1] > 1 else 1), count, at)


class _Blocked:
  """One operand in blocks of `rows` and `k`: its arrays, where their blocks are, and what a block stands for."""

  def __init__(self, operand: Operand, order: Order, stack: _Stack, rows: int, k: int):
    self.operand, self.order, self.stack, self.rows, self.k = operand, order, stack, rows, k
    if operand.side.format is None:
      (x,) = operand.arrays
      in_order = lambda p: words.arranged(p.reshape(-1, operand.k), order.format, order.block).reshape(p.shape)
      self.arrays = [stack.flat(in_order(p)) for p in parts_of(x)]
    else:
      self.arrays = [stack.flat(a) for a in operand.arrays]

  def specs(self, place: Any) -> list[Any]:
    f, arrays = self.operand.side.format, self.operand.arrays
    batch = self.operand.side.batch
    if f is None:
      return [self.stack.spec((self.rows, self.k), batch, place)] * len(self.arrays)
    count, rows, columns = arrays[1].shape

    def of_scales(*grid: Any) -> Any:
      i, l = place(*grid)
      return (i if rows > 1 else 0), (l if columns > 1 else 0)

    own = scale_block(arrays, self.rows, self.k, self.order.block)
    data = (self.rows, data_width(f, self.k))
    return [self.stack.spec(data, batch, place), self.stack.spec(own, count, of_scales)]

  def values(self, refs: Any) -> list[Any]:
    """Bfloat16s whose sum is the block, each (rows, k)."""
    f = self.operand.side.format
    if f is None:
      return [ref[...] for ref in refs]
    data_ref, scale_ref = refs
    return [words.decoded(data_ref[...], scale_ref[...], f, self.order.block).reshape(self.rows, self.k)]
