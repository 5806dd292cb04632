"""Layouts of tiles by name, and casts to them.

A name selects a layout of the four warps of a warpgroup; which one it is depends on the shape of the tile:

    plgpu.layout_cast(x, plgpu.Layout.WGMMA)                   x (64 m, 8 n), the accumulator layout of wgmma
    plgpu.layout_cast(row, plgpu.Layout.WGMMA.reduce(1))       a value for each row of such a tile
    plgpu.layout_cast(x, plgpu.Layout.WG_STRIDED((64, 64), vec_size=4))

Any `tilewright.layout.Layout` may be given instead.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.layout.algebra import projected
from tilewright.layout.build import blocked_for, splat, strided
from tilewright.layout.layout import LANES
from tilewright.layout.layout import Layout as Value
from tilewright.pallas import nvgpu, primitives
from tilewright.pallas.arity import describe_value
from tilewright.pallas.mosaic_gpu.tiling import WARPS, Replicated, Shape, Tiling, tiled


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
  _WGMMA_ACC_32BIT = enum.auto()
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


# Names that earlier versions had for what is left of a tile by a reduction.
for _name in ("WGMMA", "TCGEN05"):
  for _left, _axis in (("ROW", 1), ("COL", 0)):
    setattr(Layout, f"{_name}_{_left}", Layout[_name].reduce(_axis))

SomeLayout = Layout | ParameterizedLayout | ReducedLayout | Value


def layout_of(given: SomeLayout, shape: Shape, bits: int) -> Value:
  """The layout that a name selects, for a tile of a shape with elements of some bits."""
  match given:
    case Value():
      return given
    case ReducedLayout(layout, axes):
      whole = _before_reduction(layout, shape, axes, bits)
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


def _before_reduction(layout: Layout | ParameterizedLayout, shape: Shape, axes: Sequence[int], bits: int) -> Shape:
  """The shape of a tile of which a reduction leaves `shape`: what the layout says, or the smallest that it fits."""
  name, args, kwargs = (
    (layout, (), ()) if isinstance(layout, Layout) else (layout.layout_cls, layout.args, layout.kwargs)
  )
  given = args[0] if args else dict(kwargs).get("shape")
  if isinstance(given, Sequence):
    return tuple(given)
  least = _TILED[name](bits, *args, **dict(kwargs)).tiles[0] if name in _TILED else (1, 1)
  whole = list(shape)
  for axis in sorted(a % (len(shape) + len(axes)) for a in axes):
    from_last = axis - len(shape) - len(axes)
    whole.insert(axis, least[from_last] if -from_last <= len(least) else 1)
  return tuple(whole)


def _named(name: Layout, shape: Shape, bits: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
  _check_arguments(name, args, kwargs)
  if name in _TILED:
    own = _TILED[name](bits, *args, **kwargs)
    found = tiled(shape, Tiling(own.tiles), own.warp_dims, own.lane_dims, own.vector_dim)
    fits = f"expected {' x '.join(map(str, own.tiles[0]))} or multiples"
  else:
    found, fits = _OTHERS[name](shape, bits, *args, **kwargs), "its own shape is another"
  if found is None:
    raise errors.LayoutError(
      f"plgpu.Layout.{name.name} does not fit a tile of shape {shape} with elements of {bits} bits: {fits}."
    )
  return found


def _check_arguments(name: Layout, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
  rule, given = (
    (_TILED[name], 1) if name in _TILED else (_OTHERS[name], 2)
  )  # the bits of an element; a shape before them
  signature = inspect.signature(rule)
  try:
    signature.bind(*[None] * given, *args, **kwargs)
  except TypeError:
    wanted = ", ".join(list(signature.parameters)[given:])
    raise errors.LayoutError(
      f"plgpu.Layout.{name.name}: expected the arguments ({wanted}), as in plgpu.Layout.{name.name}({wanted}), got {args}, {kwargs}."
    ) from None


class _Tiled(NamedTuple):
  """A layout by tiles: see `tiled`."""

  tiles: tuple[Shape, ...]
  warp_dims: tuple[int | Replicated, ...]
  lane_dims: tuple[int | Replicated, ...]
  vector_dim: int


def _always(*args: Any) -> Callable[..., _Tiled]:
  return lambda bits: _Tiled(*args)


def _any_arguments(*args: Any) -> Callable[..., _Tiled]:
  return lambda bits, *_, **__: _Tiled(*args)


def _tile_of(bits: int, tiling: Any, warp_dims: Sequence[Any], lane_dims: Sequence[Any], vector_dim: int) -> _Tiled:
  if not isinstance(tiling, Tiling):
    raise errors.LayoutError(f"plgpu.Layout.TILED: tiling: expected a plgpu.Tiling, got {tiling!r}.")
  return _Tiled(tiling.tiles, tuple(warp_dims), tuple(lane_dims), vector_dim)


def _of_two_blocks(bits: int, columns: int, native: bool) -> _Tiled:
  """The part of a two-CTA tcgen05 accumulator that one CTA reads: the upper warps hold the second half of the columns."""
  if columns % 16:
    raise errors.LayoutError(f"plgpu.Layout.TCGEN05_M64_COLLECTIVE: columns: expected a multiple of 16, got {columns}.")
  halves = (64, columns), (32, columns // 2)
  if native:
    return _Tiled((*halves, (1,)), (-4, -5), (-3,), -1)
  return _Tiled((*halves, (8, 8), (2,)), (-6, -7), (-3, -2), -1)


def _in_a_register(bits: int, dtype: Any) -> int:
  """How many elements of a dtype a register of 32 bits has; of `bits` if none is given."""
  found = 32 // (bits if dtype is None else _bits_of(dtype))
  if not found:
    raise errors.LayoutError(f"plgpu.Layout: dtype: mma.sync takes elements of at most 32 bits, got {dtype}.")
  return found


def _bits_of(dtype: Any) -> int:
  dtype = jnp.dtype(dtype)
  if dtype.kind in "bc":
    return 8 * dtype.itemsize
  return int(jnp.iinfo(dtype).bits if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo(dtype).bits)


def _mma_lhs(bits: int, dtype: Any = None) -> _Tiled:
  n = _in_a_register(bits, dtype)
  return _Tiled(((64, 8 * n), (16, 4 * n), (8, 4 * n), (n,)), (-7,), (-3, -2), -1)


def _mma_rhs(bits: int, dtype: Any = None) -> _Tiled:
  n = _in_a_register(bits, dtype)
  return _Tiled(((8 * n, 8), (4 * n, 8), (n, 1)), (Replicated(WARPS),), (-3, -4), -2)


_ACCUMULATOR = ((64, 8), (16, 8), (8, 8), (2,)), (-7,), (-3, -2), -1
_EVERY_LANE = (Replicated(LANES),)
_TILED: dict[Layout, Callable[..., _Tiled]] = {
  Layout.TILED: _tile_of,
  Layout.WGMMA: _always(*_ACCUMULATOR),
  Layout._WGMMA_ACC_32BIT: _always(*_ACCUMULATOR),  # the peer moves its elements one by one
  Layout.WGMMA_8BIT: _always(((64, 16), (16, 16), (8, 16), (4,)), (-7,), (-3, -2), -1),
  Layout.WGMMA_UPCAST_2X: _always(((64, 16), (16, 16), (8, 16), (8,), (4,)), (-8,), (-4, -2, -3), -1),
  Layout.WGMMA_UPCAST_4X: _always(((64, 32), (16, 32), (8, 32), (8,)), (-7,), (-3, -2), -1),
  Layout.WGMMA_TRANSPOSED: _always(((64, 8), (16, 8), (8, 8), (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2),
  Layout.TCGEN05: _always(((128, 8), (32, 8), (8, 8), (2,)), (-7,), (-3, -2), -1),
  Layout.TCGEN05_TRANSPOSED: _always(((128, 8), (32, 8), (8, 8), (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2),
  Layout.TCGEN05_TMEM_NATIVE: lambda bits, n=2: _Tiled(((128, n), (32, n)), (-4,), (-2,), -1),
  Layout.TCGEN05_M64_COLLECTIVE: lambda bits, columns: _of_two_blocks(bits, columns, native=False),
  Layout.TCGEN05_M64_COLLECTIVE_NATIVE: lambda bits, columns: _of_two_blocks(bits, columns, native=True),
  Layout.TMA_INDICES: _any_arguments(((16,), (4,)), (-2,), _EVERY_LANE, -1),
  Layout.TMA_INDICES_4: _any_arguments(((4,),), (Replicated(WARPS),), _EVERY_LANE, -1),
  Layout.MMA_LHS: _mma_lhs,
  Layout.MMA_RHS: _mma_rhs,
  Layout.MMA_ACC: lambda bits, dtype=None: _Tiled(*_ACCUMULATOR),
}


def _splat(tile: Shape, bits: int, shape: Sequence[int] | None = None) -> Value | None:
  return splat(tile, WARPS) if shape is None or tuple(shape) in ((), tile) else None


def _strided(tile: Shape, bits: int, shape: Sequence[int] | None = None, vec_size: int | None = None) -> Value | None:
  if shape is not None and tuple(shape) != tile:
    return None
  return strided(tile, WARPS, 1 if vec_size is None else vec_size)


def _copied(
  tile: Shape, bits: int, shape: Sequence[int] | None = None, dtype: Any = None, swizzle: int = 128
) -> Value | None:
  """Coalesced: 16 bytes of a row for each thread, or as many as there are for it."""
  if shape is not None and tuple(shape) != tile:
    return None
  return blocked_for(tile, WARPS, max(128 // bits, 1))


_HELD = 128  # elements of a tile that a thread may hold in registers

_OTHERS: dict[Layout, Callable[..., Value | None]] = {
  Layout.WG_SPLAT: _splat,
  Layout.WG_STRIDED: _strided,
  Layout.SMEM_GMEM_COPY: _copied,
}


def layout_cast(x: Any, new_layout: SomeLayout) -> jax.Array:
  """The tile `x`, held as a layout says from here on: see `nvgpu.layout_cast`."""
  x = jnp.asarray(x)
  name = getattr(new_layout, "layout_cls", new_layout)
  if name is Layout.WG_SPLAT and x.size > _HELD:
    return x  # one value, which every thread has anyway
  return nvgpu.layout_cast(x, layout_of(new_layout, tuple(x.shape), _bits_of(x.dtype)))


def print_layout(fmt: str, x: Any) -> None:
  """Print, when the kernel is compiled, how a tile is held, or how a ref lies in memory: `print_layout("x: {}", x)`."""
  if primitives.is_ref(x):
    ref = x.ref if isinstance(x, primitives.TransformedRef) else x
    print(fmt.format(getattr(jax.typeof(ref), "memory_space", None) or "row by row"))
  else:
    nvgpu.print_layout(fmt, x)


def load(src: Any, idx: Any = ..., *, layout: SomeLayout | None = None, optimized: bool = True) -> jax.Array:
  """Read a ref, or the part `idx` of one, into a tile with a layout. `optimized` has no effect: all loads are as wide as they can be."""
  if not primitives.is_ref(src):
    raise errors.RefTypeError(f"plgpu.load: Can only call `load` on a `Ref`, got {describe_value(src)}.")
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
      f"find_swizzle: No valid out swizzle{f' for {what}' if what else ''}: minor dimension has {minor_dim_bits} bits, which is not a "
      "multiple of 128 (16 bytes)."
    )
  return found
