"""Layouts of tiles by name, and casts to them.

A name stands for a layout of the four warps of a warpgroup; which one it is depends on the shape of the tile:

    plgpu.layout_cast(x, plgpu.Layout.WGMMA)                   x (64 m, 8 n), as wgmma adds up products
    plgpu.layout_cast(row, plgpu.Layout.WGMMA.reduce(1))       a value for each row of such a tile
    plgpu.layout_cast(x, plgpu.Layout.WG_STRIDED((64, 64), vec_size=4))

Any `tilewright.layout.Layout` may be given instead.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from tilewright import errors
from tilewright.layout import fragments
from tilewright.layout.algebra import projected
from tilewright.layout.build import blocked_for, repeated, splat, strided
from tilewright.layout.options import mma_options, wgmma_accumulators, wgmma_left_registers
from tilewright.layout.value import Layout as Value
from tilewright.layout.value import register_layout
from tilewright.pallas import nvgpu

_WARPS = 4  # of a warpgroup
Shape = tuple[int, ...]


class Layout(enum.Enum):
  """The layouts that have a name."""

  WGMMA = enum.auto()
  WGMMA_8BIT = enum.auto()
  WGMMA_UPCAST_2X = enum.auto()
  WGMMA_UPCAST_4X = enum.auto()
  WGMMA_TRANSPOSED = enum.auto()
  WG_SPLAT = enum.auto()
  WG_STRIDED = enum.auto()
  TILED = enum.auto()
  TCGEN05 = enum.auto()
  TCGEN05_TRANSPOSED = enum.auto()
  TCGEN05_M64_COLLECTIVE = enum.auto()
  TCGEN05_TMEM_NATIVE = enum.auto()
  TCGEN05_M64_COLLECTIVE_NATIVE = enum.auto()
  SMEM_GMEM_COPY = enum.auto()
  TMA_INDICES = enum.auto()
  TMA_INDICES_4 = enum.auto()
  MMA_LHS = enum.auto()
  MMA_RHS = enum.auto()
  MMA_ACC = enum.auto()

  def __call__(self, *args: Any, **kwargs: Any) -> ParameterizedLayout:
    return ParameterizedLayout(self, args, tuple(sorted(kwargs.items())))

  def reduce(self, axes: int | Sequence[int]) -> ReducedLayout:
    """The layout without some dimensions: what a reduction over them gives."""
    return ReducedLayout(self, (axes,) if isinstance(axes, int) else tuple(axes))


@dataclasses.dataclass(frozen=True)
class ParameterizedLayout:
  """A named layout with arguments."""

  layout_cls: Layout
  args: tuple[Any, ...]
  kwargs: tuple[tuple[str, Any], ...] = ()

  def reduce(self, axes: int | Sequence[int]) -> ReducedLayout:
    return ReducedLayout(self, (axes,) if isinstance(axes, int) else tuple(axes))


@dataclasses.dataclass(frozen=True)
class ReducedLayout:
  """A layout without some dimensions."""

  layout: Layout | ParameterizedLayout
  axes: tuple[int, ...]


SomeLayout = Layout | ParameterizedLayout | ReducedLayout | Value


def layout_of(given: SomeLayout, shape: Shape, bits: int) -> Value:
  """The layout that a name stands for, of a tile of a shape with elements of some bits."""
  match given:
    case Value():
      return given
    case ReducedLayout(layout, axes):
      whole = _before_reduction(layout, shape, axes)
      found = projected(layout_of(layout, whole, bits), [a % len(whole) for a in axes])
      if found.shape != shape:
        raise errors.LayoutError(
          f"{given} is a layout of a tile of shape {found.shape}, but this one has shape {shape}."
        )
      return found
    case ParameterizedLayout(name, args, kwargs):
      return _named(name, shape, bits, args, dict(kwargs))
    case Layout():
      return _named(given, shape, bits, (), {})
  raise errors.LayoutError(f"layout: expected a plgpu.Layout or a tilewright.layout.Layout, got {given!r}.")


def _before_reduction(layout: Layout | ParameterizedLayout, shape: Shape, axes: Sequence[int]) -> Shape:
  """The shape of a tile of which a reduction leaves `shape`: what the layout says, or the smallest that it fits."""
  name, args = (layout, ()) if isinstance(layout, Layout) else (layout.layout_cls, layout.args)
  if args and isinstance(args[0], Sequence):
    return tuple(args[0])
  least = (64, args[0]) if args else _LEAST.get(name, (1, 1))  # the argument is the number of columns
  whole = list(shape)
  for axis in sorted(a % (len(shape) + len(axes)) for a in axes):
    whole.insert(axis, least[axis])
  return tuple(whole)


def _named(name: Layout, shape: Shape, bits: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
  if name not in _LAYOUTS:
    raise errors.UnsupportedFeatureError(
      f"plgpu.Layout.{name.name} has no meaning in this compiler: give a layout of tilewright.layout that says what is meant."
    )
  found = _LAYOUTS[name](shape, bits, *args, **kwargs)
  if found is None:
    raise errors.LayoutError(
      f"plgpu.Layout.{name.name} does not fit a tile of shape {shape} with elements of {bits} bits: {_FITS.get(name, 'see its shape')}."
    )
  return found


def _wgmma(shape: Shape, bits: int) -> Value | None:
  return next(iter(wgmma_accumulators(shape, _WARPS)), None)


def _wgmma_8bit(shape: Shape, bits: int) -> Value | None:
  return next(iter(wgmma_left_registers(shape, 8, _WARPS)), None)


def _splat(shape: Shape, bits: int, given: Sequence[int] | None = None) -> Value | None:
  return splat(shape, _WARPS) if given is None or tuple(given) == shape else None


def _strided(shape: Shape, bits: int, given: Sequence[int] | None = None, vec_size: int | None = None) -> Value | None:
  if given is not None and tuple(given) != shape:
    return None
  return strided(shape, _WARPS, 1 if vec_size is None else vec_size)


def _copied(shape: Shape, bits: int, given: Sequence[int] | None = None, *_: Any) -> Value | None:
  """Coalesced: 16 bytes of a row for each thread, or as many as there are for it."""
  if given is not None and tuple(given) != shape:
    return None
  return blocked_for(shape, _WARPS, max(128 // bits, 1))


def _rows_of_8(rows: int, columns: int, transposed: bool = False) -> Callable[[Shape, int], Value | None]:
  """Parts of 8 rows, in which lane l has row l / 4 and, beginning at l % 4 times as many, neighbours along the row: an accumulator of
  wgmma (64 rows) or tcgen05 (128) for parts of 8 columns. `transposed`, each part of 8 x 8 is, as ldmatrix.trans reads it.
  """
  held = columns // 4
  neighbours, lanes = (held, (0, 1)), [(4, (0, held)), (8, (1, 0))]
  if transposed:
    neighbours, lanes = (held, (1, 0)), [(4, (held, 0)), (8, (0, 1))]
  of_warp = rows // _WARPS
  fragment = register_layout((rows, columns), [neighbours, (of_warp // 8, (8, 0))], lanes, [(_WARPS, (of_warp, 0))])

  def find(shape: Shape, bits: int) -> Value | None:
    if len(shape) != 2 or shape[0] % rows or shape[1] % columns:
      return None
    return repeated(fragment, shape, (1, 1))

  return find


def _tmem_native(shape: Shape, bits: int) -> Value | None:
  """What tcgen05.ld of 32 x 32 bits gives: a row for each thread."""
  if len(shape) != 2 or shape[0] % 128:
    return None
  fragment = register_layout((128, shape[1]), [(shape[1], (0, 1))], [(32, (1, 0))], [(_WARPS, (32, 0))])
  return repeated(fragment, shape, (1, 1))


def _of_two_blocks(access: str, width: int) -> Callable[..., Value | None]:
  """What a block of threads reads of an accumulator that tcgen05 makes for two: 64 rows, columns beyond the half with the upper warps."""

  def find(shape: Shape, bits: int, columns: int | None = None) -> Value | None:
    if len(shape) != 2 or shape[0] != 64 or shape[1] % (2 * width) or columns not in (None, shape[1]):
      return None
    memory = fragments.tensor_memory(128, shape[1], two_blocks=True)
    cells = fragments.tcgen05_access(access, shape[1] // (2 * width))
    return fragments.read_from_tensor_memory(memory, cells)

  return find


def _mma(operand: int) -> Callable[[Shape, int], Value | None]:
  """An operand of mma.sync, the warps side by side along m."""

  def find(shape: Shape, bits: int) -> Value | None:
    if len(shape) != 2:
      return None
    k = 256 // bits if bits in (8, 16, 32) else 16
    m, n = (shape[0] if operand != 1 else 16 * _WARPS), (shape[1] if operand != 0 else 8)
    depth = {0: shape[1], 1: shape[0], 2: 16}[operand]
    options = mma_options((m, depth), (depth, n), bits if operand < 2 else 16, _WARPS)
    whole = lambda option: option[2] == repeated(fragments.MMA[16, 16].c, (m, n), (_WARPS, 1))
    return (
      next((option[operand] for option in options if whole(option)), None) if depth % k == 0 or operand == 2 else None
    )

  return find


_LAYOUTS: dict[Layout, Callable[..., Value | None]] = {
  Layout.WGMMA: _wgmma,
  Layout.WGMMA_8BIT: _wgmma_8bit,
  Layout.WGMMA_UPCAST_2X: _rows_of_8(64, 16),
  Layout.WGMMA_UPCAST_4X: _rows_of_8(64, 32),
  Layout.WGMMA_TRANSPOSED: _rows_of_8(64, 8, transposed=True),
  Layout.WG_SPLAT: _splat,
  Layout.WG_STRIDED: _strided,
  Layout.TCGEN05: _rows_of_8(128, 8),
  Layout.TCGEN05_TRANSPOSED: _rows_of_8(128, 8, transposed=True),
  Layout.TCGEN05_TMEM_NATIVE: _tmem_native,
  Layout.TCGEN05_M64_COLLECTIVE: _of_two_blocks("16x256b", 8),
  Layout.TCGEN05_M64_COLLECTIVE_NATIVE: _of_two_blocks("32x32b", 1),
  Layout.SMEM_GMEM_COPY: _copied,
  Layout.MMA_LHS: _mma(0),
  Layout.MMA_RHS: _mma(1),
  Layout.MMA_ACC: _mma(2),
}
_FITS = {
  Layout.WGMMA: "expected (m, n) with m a multiple of 64 and n of 8",
  Layout.WGMMA_8BIT: "expected (m, k) with m a multiple of 64 and k of 32",
  Layout.WGMMA_UPCAST_2X: "expected (m, k) with m a multiple of 64 and k of 16",
  Layout.WGMMA_UPCAST_4X: "expected (m, k) with m a multiple of 64 and k of 32",
  Layout.WGMMA_TRANSPOSED: "expected (m, n) with m a multiple of 64 and n of 8",
  Layout.WG_SPLAT: "its own shape is another",
  Layout.WG_STRIDED: "its own shape is another",
  Layout.TCGEN05: "expected (m, n) with m a multiple of 128 and n of 8",
  Layout.TCGEN05_TRANSPOSED: "expected (m, n) with m a multiple of 128 and n of 8",
  Layout.TCGEN05_TMEM_NATIVE: "expected (m, n) with m a multiple of 128",
  Layout.TCGEN05_M64_COLLECTIVE: "expected (64, n) with n a multiple of 16, and n as its argument",
  Layout.TCGEN05_M64_COLLECTIVE_NATIVE: "expected (64, n) with n even, and n as its argument",
  Layout.SMEM_GMEM_COPY: "its own shape is another",
  Layout.MMA_LHS: "expected (m, k) with m a multiple of 64 and k of 32 bytes",
  Layout.MMA_RHS: "expected (k, n) with k a multiple of 32 bytes and n of 8",
  Layout.MMA_ACC: "expected (m, n) with m a multiple of 64 and n of 8",
}
# The smallest size of each dimension, for what a reduction leaves.
_LEAST = {
  Layout.WGMMA: (64, 8),
  Layout.WGMMA_8BIT: (64, 32),
  Layout.MMA_LHS: (64, 32),
  Layout.MMA_RHS: (32, 8),
  Layout.MMA_ACC: (64, 8),
  Layout.WGMMA_UPCAST_2X: (64, 16),
  Layout.WGMMA_UPCAST_4X: (64, 32),
  Layout.WGMMA_TRANSPOSED: (64, 8),
  Layout.TCGEN05: (128, 8),
  Layout.TCGEN05_TRANSPOSED: (128, 8),
  Layout.TCGEN05_TMEM_NATIVE: (128, 1),
}


def layout_cast(x: Any, new_layout: SomeLayout) -> jax.Array:
  """The tile `x`, held as a layout says from here on: see `nvgpu.layout_cast`."""
  x = jax.numpy.asarray(x)
  return nvgpu.layout_cast(x, layout_of(new_layout, tuple(x.shape), 8 * x.dtype.itemsize))


def load(src: Any, idx: Any = ..., *, layout: SomeLayout | None = None, optimized: bool = True) -> jax.Array:
  """Read a ref, or the part `idx` of one, into a tile with a layout. `optimized` means nothing: all loads are as wide as they can be."""
  value = src[idx]
  return value if layout is None else layout_cast(value, layout)


def broadcasted_iota(
  dtype: Any, shape: Sequence[int], dimension: int, *, layout: SomeLayout | None = None
) -> jax.Array:
  """The numbers 0, 1, … along a dimension, held as a layout says."""
  value = lax.broadcasted_iota(dtype, tuple(shape), dimension)
  return value if layout is None else layout_cast(value, layout)


def find_swizzle(minor_dim_bits: int, what: str = "") -> int:
  """The largest swizzle, in bytes, for rows of so many bits: 128, 64, 32, or 16, which is none.

  swizzle = plgpu.find_swizzle(n * 16)
  transforms = [plgpu.TilingTransform((8, 8 * swizzle // 16)), plgpu.SwizzleTransform(swizzle)]
  """
  found = next((s for s in (128, 64, 32, 16) if minor_dim_bits % (8 * s) == 0), None)
  if found is None:
    raise errors.LayoutError(
      f"find_swizzle: {what + ': ' if what else ''}rows of {minor_dim_bits} bits are no multiple of 16 bytes, so that no swizzle fits."
    )
  return found
