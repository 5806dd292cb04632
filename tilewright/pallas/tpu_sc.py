"""Kernels for the SparseCores of a TPU, on any device: a drop-in replacement for `jax.experimental.pallas.tpu_sc`.

    mesh = plsc.VectorSubcoreMesh(core_axis_name="core", subcore_axis_name="subcore", num_cores=2, num_subcores=16)
    pl.kernel(body, out_type=…, mesh=mesh)(x)      one instance for each vector subcore

A subcore is a core of a mesh: it has private memory, and a `subcore_barrier` makes the subcores of one core run concurrently. Vectors may
have any length.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import control, effects, primitives, scoped, semaphores
from tilewright.pallas.gather import Indices as Indices
from tilewright.pallas.primitives import Primitive, ReadEffect, WriteEffect
from tilewright.pallas.tpu.info import SparseCoreInfo, get_tpu_info, is_tpu_device
from tilewright.pallas.tpu.memory import CommonMemorySpace, MemorySpace
from tilewright.pallas.tpu.mesh import CoreType, core_barrier
from tilewright.pallas.tpu.params import GridDimensionSemantics
from tilewright.pallas.trace_context import core_axes
from tilewright.runtime import _jax
from tilewright.tile.memory import TpuMemorySpace

# --- meshes ------------------------------------------------------------------------------------------------------

_SUBCORES = 16  # of a SparseCore, on every chip so far


def get_sparse_core_info() -> SparseCoreInfo:
  """The SparseCores of the current device; a RuntimeError if it has none."""
  info = get_tpu_info()
  if info.sparse_core is None:
    raise RuntimeError(f"The TPU {info.chip_version} has no SparseCores.")
  return info.sparse_core


def _num_cores() -> int:
  return get_sparse_core_info().num_cores if is_tpu_device() else 1


def _num_subcores() -> int:
  return get_sparse_core_info().num_subcores if is_tpu_device() else _SUBCORES


class _SubcoreMesh:
  """The common part of both kinds of subcore meshes."""

  core_type: CoreType
  shape: collections.OrderedDict[str, int]

  @property
  def axis_names(self) -> tuple[str, ...]:
    return tuple(self.shape)

  @property
  def size(self) -> int:
    """How many subcores there are."""
    return math.prod(self.shape.values())

  @property
  def default_memory_space(self) -> Any:
    return CommonMemorySpace.ANY

  @property
  def dimension_semantics(self) -> list[GridDimensionSemantics]:
    kinds = (GridDimensionSemantics.CORE_PARALLEL, GridDimensionSemantics.SUBCORE_PARALLEL)
    return list(kinds[: len(self.shape)])

  @property
  def supported_memory_spaces(self) -> list[MemorySpace]:
    return [MemorySpace.VMEM, MemorySpace.VMEM_SHARED, MemorySpace.SMEM, MemorySpace.SEMAPHORE]

  def check_is_compatible_with(self, other_mesh: Any) -> None:
    """Raise unless kernels on the two meshes can run in one launch: meshes of subcores with the same number of cores can."""
    if not isinstance(other_mesh, _SubcoreMesh) or next(iter(other_mesh.shape.values())) != next(
      iter(self.shape.values())
    ):
      raise errors.GridError(f"The meshes {self} and {other_mesh} cannot be used in one kernel.")

  def discharges_effect(self, effect: Any) -> Literal[False]:
    del effect
    return False

  def tracing_context(self) -> contextlib.AbstractContextManager[None]:
    """What a body for this mesh is traced in, besides the axes of the kernel: nothing."""
    return contextlib.nullcontext()


def _check_counts(mesh: Any, **counts: int) -> None:
  for name, count in counts.items():
    if count < 1:
      raise errors.GridError(f"{type(mesh).__name__}: {name} must be at least 1, got {count}.")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScalarSubcoreMesh(_SubcoreMesh):
  """The scalar subcore of each SparseCore, along one axis. On other devices than TPUs `num_cores` defaults to one."""

  axis_name: str
  num_cores: int = dataclasses.field(default_factory=_num_cores)

  def __post_init__(self) -> None:
    _check_counts(self, num_cores=self.num_cores)

  @property
  def shape(self) -> collections.OrderedDict[str, int]:  # type: ignore[override]
    return collections.OrderedDict({self.axis_name: self.num_cores})

  @property
  def core_type(self) -> CoreType:  # type: ignore[override]
    return CoreType.SC_SCALAR_SUBCORE


@dataclasses.dataclass(frozen=True, kw_only=True)
class VectorSubcoreMesh(_SubcoreMesh):
  """The vector subcores of the SparseCores, along an axis of cores and one of subcores. On other devices than TPUs the
  default is one core with sixteen subcores."""

  core_axis_name: str
  subcore_axis_name: str
  num_cores: int = dataclasses.field(default_factory=_num_cores)
  num_subcores: int = dataclasses.field(default_factory=_num_subcores)

  def __post_init__(self) -> None:
    _check_counts(self, num_cores=self.num_cores, num_subcores=self.num_subcores)

  @property
  def shape(self) -> collections.OrderedDict[str, int]:  # type: ignore[override]
    return collections.OrderedDict({self.core_axis_name: self.num_cores, self.subcore_axis_name: self.num_subcores})

  @property
  def core_type(self) -> CoreType:  # type: ignore[override]
    return CoreType.SC_VECTOR_SUBCORE


def _subcore_axis(what: str) -> tuple[Any, int]:
  axes = core_axes()
  if len(axes) != 2:
    raise errors.GridError(
      f"plsc.{what}: expected a kernel on a VectorSubcoreMesh, got one with the axes {list(axes)}."
    )
  return list(axes.items())[1]


def subcore_barrier() -> None:
  """Wait until all vector subcores of this core have arrived here."""
  axis, size = _subcore_axis("subcore_barrier")
  if size > 1:
    core_barrier(scoped.core_semaphore(), core_axis_name=axis)


fetch_and_add_p = Primitive("fetch_and_add")


@fetch_and_add_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any) -> Any:
  view, _, _ = _jax.unflatten(tree, flat)
  return view.type.inner_aval, {ReadEffect(0), WriteEffect(0), effects.semaphore_effect}


def fetch_and_add(x_ref: Any, value: Any, *, subcore_id: Any) -> jax.Array:
  """Atomically add to another vector subcore's instance of `x_ref`, a scalar in SMEM, on this core; returns the old value."""
  axis, _ = _subcore_axis("fetch_and_add")
  view = primitives.flatten_ref(x_ref, None, "plsc.fetch_and_add")
  if view.shape != () or view.type.memory_space is not TpuMemorySpace.SMEM:
    raise errors.RefTypeError(f"plsc.fetch_and_add: x_ref: expected a scalar in SMEM, got {view.type}. Use ref.at[i].")
  core = semaphores.target_of({axis: subcore_id}, "plsc.fetch_and_add").core
  flat, tree = _jax.flatten((view, jnp.asarray(value, view.dtype), core))
  return fetch_and_add_p.bind(*flat, tree=tree)


# --- memory ------------------------------------------------------------------------------------------------------


def addupdate(ref: Any, x: jax.Array) -> None:
  """Atomically add an array to a ref of its shape."""
  _check_values("addupdate", ref, x, ref.shape)
  primitives.atomic_add(ref, (), x)


def _check_mask(what: str, mask: Any, shape: tuple[int, ...]) -> None:
  if mask is None:
    return
  if mask.dtype != jnp.bool_:
    raise errors.KernelTypeError(
      f"plsc.{what}: mask.dtype={mask.dtype} is not a boolean dtype. Compare first, as in x < n."
    )
  if tuple(mask.shape) != tuple(shape):
    raise errors.ShapeMismatchError(
      f"plsc.{what}: mask.shape={tuple(mask.shape)} does not match the expected shape {tuple(shape)}."
    )


def _check_elements(what: str, ref: Any, indices: Sequence[Any], mask: Any, x: Any = None) -> tuple[Any, ...]:
  """Indices for elements of a ref, an integer array for each dimension, and a mask and values of the shape of what they select."""
  found = tuple(indices)
  if len(found) != ref.ndim:
    raise errors.ShapeMismatchError(
      f"plsc.{what}: The number of indices does not match ref.ndim={ref.ndim}: expected one for each dimension, got {len(found)}."
    )
  for index in found:
    if not jnp.issubdtype(jnp.result_type(index), jnp.integer):
      raise errors.KernelTypeError(f"plsc.{what}: indices must be integers, got {jnp.result_type(index)}.")
  shape = jnp.broadcast_shapes(*(jnp.shape(index) for index in found))
  _check_mask(what, mask, shape)
  if x is not None:
    _check_values(what, ref, x, shape)
  return found


def _check_values(what: str, ref: Any, x: Any, shape: tuple[int, ...]) -> None:
  if x.dtype != ref.dtype:
    raise errors.KernelTypeError(f"plsc.{what}: val.dtype={x.dtype} != ref.dtype={ref.dtype}; convert it with astype.")
  if tuple(x.shape) != tuple(shape):
    raise errors.ShapeMismatchError(
      f"plsc.{what}: x.shape={tuple(x.shape)} does not match expected shape {tuple(shape)}."
    )


def _positions(mask: jax.Array) -> tuple[Any, ...]:
  """For each true element the number of true elements before it."""
  return (lax.cumsum(mask.astype(jnp.int32)) - 1,)


def load_expanded(ref: Any, *, mask: jax.Array) -> jax.Array:
  """The n-th true element of `mask` gets `ref[n]`; the others get zero, which callers should not rely on."""
  _check_mask("load_expanded", mask, mask.shape)
  return primitives.load(ref, _positions(mask), mask=mask, other=jnp.zeros(mask.shape, ref.dtype))


def store_compressed(ref: Any, x: jax.Array, *, mask: jax.Array) -> None:
  """Write the elements of `x` where `mask` is true to `ref[0]`, `ref[1]` and so on."""
  _check_mask("store_compressed", mask, x.shape)
  _check_values("store_compressed", ref, x, mask.shape)
  primitives.store(ref, _positions(mask), x, mask=mask)


def addupdate_compressed(ref: Any, x: jax.Array, *, mask: jax.Array) -> None:
  """Atomically add the elements of `x` where `mask` is true to `ref[0]`, `ref[1]` and so on."""
  _check_mask("addupdate_compressed", mask, x.shape)
  _check_values("addupdate_compressed", ref, x, mask.shape)
  primitives.atomic_add(ref, _positions(mask), x, mask=mask)


def load_gather(ref: Any, indices: Sequence[jax.Array], *, mask: jax.Array | None = None) -> jax.Array:
  """The elements of a ref at indices, an array for each of its dimensions; where a `mask` is false, zero."""
  at = _check_elements("load_gather", ref, indices, mask)
  if mask is None:
    return primitives.load(ref, at)
  return primitives.load(ref, at, mask=mask, other=jnp.zeros(mask.shape, ref.dtype))


def store_scatter(ref: Any, indices: Sequence[jax.Array], x: jax.Array, *, mask: jax.Array | None = None) -> None:
  """Write an array to a ref at indices, an array for each dimension of the ref; only where a `mask` is true."""
  primitives.store(ref, _check_elements("store_scatter", ref, indices, mask, x), x, mask=mask)


def addupdate_scatter(ref: Any, indices: Sequence[jax.Array], x: jax.Array, *, mask: jax.Array | None = None) -> None:
  """Atomically add an array to a ref at indices, where repeated indices accumulate; only where a `mask` is true."""
  primitives.atomic_add(ref, _check_elements("addupdate_scatter", ref, indices, mask, x), x, mask=mask)


# --- values ------------------------------------------------------------------------------------------------------


def _spread(value: jax.Array, x: jax.Array, reduce: int) -> jax.Array:
  if x.dtype != jnp.bool_:
    raise errors.KernelTypeError(
      f"Mask all-reduce only supports bool arrays, got {x.dtype}. Compare first, as in x > 0."
    )
  if x.ndim != 1 or x.size % reduce:
    raise errors.ShapeMismatchError(
      f"expected booleans of one dimension that reduce={reduce} divides, got {x.dtype}{list(x.shape)}."
    )
  return jnp.full((x.size // reduce,), value, jnp.int32)


def all_reduce_ffs(x: jax.Array, *, reduce: int = 1) -> jax.Array:
  """In every element, the index of the first true element of `x`, or its size if there is none."""
  numbers = jnp.where(x, lax.iota(jnp.int32, x.size), x.size)
  return _spread(jnp.min(numbers), x, reduce)


def all_reduce_population_count(x: jax.Array, *, reduce: int = 1) -> jax.Array:
  """In every element, how many elements of `x` are true."""
  return _spread(jnp.sum(x.astype(jnp.int32)), x, reduce)


def bitcast(x: jax.Array, dtype: Any) -> jax.Array:
  """The bits of an array as another dtype; the last dimension becomes longer or shorter by the ratio of their widths."""
  dtype = jnp.dtype(dtype)
  if x.dtype == jnp.bool_:
    x = x.astype(jnp.uint8)  # a byte that is 0 or 1
  old, new = (8 * d.itemsize for d in (x.dtype, dtype))
  if old != new and x.ndim == 0:
    raise errors.ShapeMismatchError(
      f"plsc.bitcast: Cannot bitcast a ()-shaped array to a dtype with a different bitwidth: {old} bits of {x.dtype}, {new} of {dtype}."
    )
  if new > old:
    if x.shape[-1] * old % new:
      raise errors.ShapeMismatchError(
        f"plsc.bitcast: the last dimension of {x.dtype}{list(x.shape)} does not divide into {dtype}."
      )
    x = x.reshape(*x.shape[:-1], -1, new // old)
  out = lax.bitcast_convert_type(x, dtype)
  return out.reshape(*x.shape[:-1], -1) if new < old else out


def cumsum(x: jax.Array, *, mask: jax.Array | None = None) -> jax.Array:
  """Running sums along the last axis, of the elements for which a `mask` is true."""
  _check_mask("cumsum", mask, x.shape)
  return lax.cumsum(x if mask is None else jnp.where(mask, x, jnp.zeros((), x.dtype)), axis=x.ndim - 1)


def cummax(x: jax.Array, *, mask: jax.Array | None = None) -> jax.Array:
  """Running maxima along the last axis, of the elements for which a `mask` is true; before the first of them, `x` itself."""
  _check_mask("cummax", mask, x.shape)
  axis = x.ndim - 1
  if mask is None:
    return lax.cummax(x, axis=axis)
  lowest = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
  found = lax.cummax(jnp.where(mask, x, jnp.asarray(lowest, x.dtype)), axis=axis)
  return jnp.where(lax.cummax(mask.astype(jnp.int32), axis=axis) > 0, found, x)


def scan_count(x: jax.Array, mask: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
  """How often each element has occurred so far, from one on, and whether it is its last occurrence.

  Elements for which a `mask` is false do not count: their number is one, and they are not a last occurrence.
  """
  _check_mask("scan_count", mask, x.shape)
  if x.ndim != 1:
    raise errors.ShapeMismatchError(
      f"plsc.scan_count: expected an array of one dimension, got {x.dtype}{list(x.shape)}."
    )
  size = x.size
  counted = jnp.ones(x.shape, jnp.bool_) if mask is None else mask
  same = (x[:, None] == x[None, :]) & counted[:, None] & counted[None, :]
  at, other = lax.broadcasted_iota(jnp.int32, (size, size), 0), lax.broadcasted_iota(jnp.int32, (size, size), 1)
  so_far = jnp.sum((same & (other <= at)).astype(jnp.int32), axis=1)
  later = jnp.sum((same & (other > at)).astype(jnp.int32), axis=1)
  return jnp.where(counted, so_far, 1), counted & (later == 0)


def sort_key_val(
  keys: jax.Array, values: jax.Array, *, mask: jax.Array | None = None, descending: bool = False
) -> tuple[jax.Array, ...]:
  """Keys and values in the order of the keys, equal ones as they were; those for which a `mask` is false come last.

  With a mask, gives the mask of the results too.
  """
  if keys.ndim != 1:
    raise errors.ShapeMismatchError(
      f"plsc.sort_key_val: keys must have one dimension, got {keys.dtype}{list(keys.shape)}."
    )
  if jnp.shape(values) != keys.shape:
    raise errors.ShapeMismatchError(f"plsc.sort_key_val: values shape {jnp.shape(values)} must be {keys.shape}.")
  _check_mask("sort_key_val", mask, keys.shape)
  flip = (lambda v: lax.rev(v, (0,))) if descending else (lambda v: v)
  if mask is None:
    return tuple(flip(v) for v in lax.sort((flip(keys), flip(values)), num_keys=1))
  first = (mask if descending else ~mask).astype(jnp.int32)
  _, *found = lax.sort(tuple(map(flip, (first, keys, values, mask.astype(jnp.int32)))), num_keys=2)
  keys, values, valid = (flip(v) for v in found)
  return keys, values, valid != 0


class PackFormat(enum.Enum):
  """How two vectors are packed into one of half as wide elements: concatenated, or interleaved."""

  COMPRESSED = "compressed"
  INTERLEAVED = "interleaved"


_NARROW = {
  "float32": "bfloat16",
  "int32": "int16",
  "uint32": "uint16",
  "bfloat16": "float8_e5m2",
  "int16": "int8",
  "uint16": "uint8",
}


def _other_width(dtype: Any, preferred: Any, table: dict[str, str], what: str, ratio: float) -> Any:
  name = jnp.dtype(dtype).name
  if preferred is None and name not in table:
    raise errors.ShapeMismatchError(f"plsc.{what}: there is no default for {name}; give a preferred_element_type.")
  found = jnp.dtype(table[name] if preferred is None else preferred)
  if found.itemsize != jnp.dtype(dtype).itemsize * ratio:
    raise errors.ShapeMismatchError(
      f"plsc.{what}: preferred_element_type {found} must be {ratio:g} times as wide as {name}."
    )
  return found


def pack(a: jax.Array, b: jax.Array, /, *, format: PackFormat, preferred_element_type: Any = None) -> jax.Array:
  """Two vectors as one of twice as many elements, of half the width."""
  if a.dtype != b.dtype:
    raise errors.KernelTypeError(f"plsc.pack: Packed arrays must have the same dtype, got {a.dtype} and {b.dtype}.")
  if a.shape != b.shape:
    raise errors.ShapeMismatchError(f"plsc.pack: Packed arrays must have the same shape, got {a.shape} and {b.shape}.")
  dtype = _other_width(a.dtype, preferred_element_type, _NARROW, "pack", 0.5)
  axis = a.ndim if format is PackFormat.INTERLEAVED else a.ndim - 1
  parts = [v.astype(dtype) for v in (a, b)]
  if format is PackFormat.COMPRESSED:
    return jnp.concatenate(parts, axis=axis)
  return jnp.stack(parts, axis=axis).reshape(*a.shape[:-1], 2 * a.shape[-1])


def unpack(ab: jax.Array, /, *, format: PackFormat, preferred_element_type: Any = None) -> tuple[jax.Array, jax.Array]:
  """The inverse of `pack`: two vectors with elements of twice the width."""
  wide = {narrow: name for name, narrow in _NARROW.items()}
  dtype = _other_width(ab.dtype, preferred_element_type, wide, "unpack", 2)
  half = ab.shape[-1] // 2
  if format is PackFormat.COMPRESSED:
    return ab[..., :half].astype(dtype), ab[..., half:].astype(dtype)
  pairs = ab.reshape(*ab.shape[:-1], half, 2)
  return pairs[..., 0].astype(dtype), pairs[..., 1].astype(dtype)


def parallel_loop(
  lower: Any, upper: Any, step: Any = 1, *, unroll: int = 1, carry: Any = None
) -> Callable[[Callable[..., Any]], Any]:
  """A decorator that calls a function for each index, in any order as far as refs are concerned; see `pl.loop`.

  With a `carry`, the function gets it after the index and returns the next one, and the decorated name is bound to the final carry.
  """
  return control.loop(lower, upper, step=step, unroll=None if unroll == 1 else unroll, init_carry=carry)
