"""Block specs become block mappings: index maps are traced and validated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.pallas.arity import name_of
from tilewright.pallas.foreign import own_memory_space
from tilewright.pallas.primitives import AbstractRef, ShapedArray, int32_scalar
from tilewright.pallas.specs import BlockSpec, NoBlockSpec, canonical_block_dim
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Element, Indirect, Squeezed
from tilewright.tile.memory import MemorySpace, TpuMemorySpace

Slice = _jax.indexing.Slice

# Memory spaces in which an operand is not copied: its ref is the array's own memory. (So it is in spaces with `holds_arrays`.)
_WHOLE_ARRAY_SPACES = (
  MemorySpace.ANY,
  MemorySpace.HOST,
  TpuMemorySpace.HBM,
  TpuMemorySpace.HOST,
  TpuMemorySpace.SEMAPHORE,
)


def check_memory_space(space: Any, origin: str) -> Any:
  space = own_memory_space(space)
  if (
    space is None
    or isinstance(space, MemorySpace | TpuMemorySpace)
    or getattr(space, "is_tilewright_memory_space", False)
  ):
    return space
  if isinstance(space, _jax.core.MemorySpace):
    return space
  raise errors.MemorySpaceError(
    f"The memory space {space!r} of {origin} is unknown; expected one of pl.ANY, pl.HOST, pltpu.VMEM, pltpu.SMEM, pltpu.HBM."
  )


def make_block_mapping(
  spec: Any,
  aval: Any,
  origin: str,
  *,
  num_grid_dims: int,
  prefetch_avals: Sequence[Any],
  prefetch_tree: Any,
) -> BlockMapping:
  """The block mapping that `spec` gives an array of type `aval`, called `origin` in messages."""
  if spec is None or isinstance(spec, NoBlockSpec):
    spec = BlockSpec()
  if not isinstance(spec, BlockSpec):
    raise errors.BlockSpecError(f"The spec for {origin} must be a pl.BlockSpec, got {spec!r}.")
  space = check_memory_space(spec.memory_space, origin)
  if spec.block_shape is None and spec.index_map is None:
    shape = tuple(Blocked(d) for d in aval.shape)
    if hasattr(space, "check_ref"):
      space.check_ref(aval.shape, aval.dtype, origin)
    block = AbstractRef(ShapedArray(aval.shape, aval.dtype), space)
    in_place = space in _WHOLE_ARRAY_SPACES or getattr(space, "holds_arrays", False)
    return BlockMapping(shape, None, None, aval, block, origin, spec.pipeline_mode, in_place)

  if spec.block_shape is None:
    dims: tuple[Any, ...] = tuple(Blocked(d) for d in aval.shape)
  else:
    dims = tuple(canonical_block_dim(d, origin) for d in spec.block_shape)
  _check_block_shape(dims, aval, origin)
  index_map, index_tree = _trace_index_map(
    spec.index_map, dims, aval.shape, origin, num_grid_dims, prefetch_avals, prefetch_tree
  )
  seen = tuple(d.block_size for d in dims if not isinstance(d, Squeezed))
  if hasattr(space, "check_ref"):
    space.check_ref(seen, aval.dtype, origin)
  block = AbstractRef(ShapedArray(seen, aval.dtype), space)
  return BlockMapping(dims, index_map, index_tree, aval, block, origin, spec.pipeline_mode)


def _check_block_shape(dims: Sequence[Any], aval: Any, origin: str) -> None:
  sizes = tuple(None if isinstance(d, Squeezed) else d.block_size for d in dims)
  if len(dims) != len(aval.shape):
    raise errors.BlockRankError(
      f"Block shape for {origin} (= {sizes}) must have the same number of dimensions as the array shape {aval.shape}. "
      "Use None for a dimension of which the kernel sees one element."
    )
  for axis, dim in enumerate(dims):
    if isinstance(dim.block_size, int) and dim.block_size < 1:
      raise errors.BlockSpecError(
        f"Block shape for {origin} (= {sizes}) has size {dim.block_size} in dimension {axis}; sizes must be positive."
      )
    if isinstance(dim, Element) and (len(dim.padding) != 2 or any(p < 0 for p in dim.padding)):
      raise errors.BlockSpecError(f"Block shape for {origin}: padding must be two ints >= 0, got {dim.padding}.")
  if sum(isinstance(d, Indirect) for d in dims) > 1:
    raise errors.BlockSpecError(f"Block shape for {origin} (= {sizes}): at most one dimension may be pl.Indirect.")


def _name_index_map(error: Exception, index_map: Callable[..., Any], origin: str) -> None:
  """Add to an error that is not one of ours the index map it was raised in."""
  if not isinstance(error, errors.TilewrightError) and len(error.args) == 1:
    error.args = (
      f"{str(error).rstrip('. ')}. This is in the index map {name_of(index_map)} for {origin}: its arguments are traced int32 scalars, and "
      "what it returns is computed from them with jnp and lax.",
    )


def _trace_index_map(
  index_map: Callable[..., Any] | None,
  dims: Sequence[Any],
  shape: Sequence[Any],
  origin: str,
  num_grid_dims: int,
  prefetch_avals: Sequence[Any],
  prefetch_tree: Any,
) -> tuple[Any, Any]:
  user_map = index_map if index_map is not None else (lambda *_: (0,) * len(dims))
  trees: list[Any] = []

  def flat_map(*args: Any) -> list[Any]:
    prefetched = jax.tree.unflatten(prefetch_tree, args[num_grid_dims:])
    result = user_map(*args[:num_grid_dims], *prefetched)
    entries = tuple(map(_fitting, result)) if isinstance(result, tuple | list) else (_fitting(result),)
    _check_index_entries(entries, dims, origin, user_map)
    leaves, tree = jax.tree.flatten(tuple(_canonical_entry(e, d, n) for e, d, n in zip(entries, dims, shape)))
    trees.append(tree)
    return leaves

  avals = [*(int32_scalar() for _ in range(num_grid_dims)), *prefetch_avals]
  info = _jax.api_util.debug_info("pallas_call index_map", user_map, (), {})
  try:
    closed = _jax.trace(flat_map, avals, info.with_unknown_names())
  except TypeError as e:
    if "positional argument" in str(e):
      raise errors.IndexMapArityError(
        f"Index map function {name_of(user_map)} for {origin} was called with {len(avals)} arguments (grid indices, then "
        f"prefetched scalars): {e}. Give it one parameter for each of them."
      ) from e
    _name_index_map(e, user_map, origin)
    raise
  except (IndexError, ValueError, AttributeError) as e:
    _name_index_map(e, user_map, origin)
    raise
  if closed.consts:
    raise errors.CapturedConstantError(
      f"Index map function {name_of(user_map)} for {origin} must not capture constants: "
      f"{[_jax.core.typeof(c) for c in closed.consts]}. Pass them as scalar prefetch arguments."
    )
  return closed, trees[-1]


def _is_wide(dtype: Any) -> bool:
  return bool(np.iinfo(dtype).max > np.iinfo(np.int32).max)


def _canonical_entry(entry: Any, dim: Any, extent: Any) -> Any:
  """An index map's result for a dimension: an int32, unless element offsets may exceed int32 and the given dtype can hold them."""
  if isinstance(entry, Slice):
    return entry
  if isinstance(entry, slice):
    start = entry.start or 0
    return Slice(start, dim.block_size if entry.stop is None else entry.stop - start)
  if isinstance(dim, Indirect):
    view = entry
    if hasattr(view, "transforms") or isinstance(_jax.core.typeof(view), AbstractRef):
      entry = _jax.state_primitives.ref_get(view, ())
    return jnp.asarray(entry, jnp.int32)
  if isinstance(extent, int) and extent > np.iinfo(np.int32).max and _is_wide(_jax.core.typeof(entry).dtype):
    return jnp.asarray(entry)
  return jnp.asarray(entry, jnp.int32)


def _fitting(entry: Any) -> Any:
  """An int that does not fit int32, as a uint32."""
  is_large = isinstance(entry, int) and np.iinfo(np.int32).max < entry <= np.iinfo(np.uint32).max
  return np.uint32(entry) if is_large else entry


def _check_index_entries(
  entries: Sequence[Any], dims: Sequence[Any], origin: str, index_map: Callable[..., Any]
) -> None:
  shown = tuple(None if isinstance(d, Squeezed) else d.block_size for d in dims)
  where = f"Index map function {name_of(index_map)} for {origin}"
  if len(entries) != len(dims):
    raise errors.IndexMapError(
      f"{where} must return {len(dims)} values to match block_shape={shown}. Currently returning {len(entries)} values:"
      f" {entries}. Return one block index for each dimension of the block."
    )
  for i, (entry, dim) in enumerate(zip(entries, dims)):
    if isinstance(dim, BoundedSlice):
      if not isinstance(entry, Slice | slice):
        raise errors.IndexMapError(
          f"{where} must return pl.ds(start, size) for the BoundedSlice dimension {i}, got {entry}."
        )
      continue
    if isinstance(entry, Slice | slice):
      raise errors.IndexMapError(
        f"{where} returns a slice for dimension {i}, whose block dimension is {dim}. Use pl.BoundedSlice({dim.block_size})."
      )
    if hasattr(entry, "transforms"):
      shape, dtype = tuple(entry.shape), entry.dtype
    else:
      try:
        aval = _jax.core.typeof(entry)
      except OverflowError:
        raise errors.IndexMapError(f"{where} gives {entry} for dimension {i}, which does not fit 32 bits.") from None
      except TypeError:
        raise errors.IndexMapError(
          f"{where} must return a block index for dimension {i}, got {entry!r}. Return an integer computed from the grid indices."
        ) from None
      shape, dtype = tuple(aval.shape), aval.dtype
    expected = (dim.block_size,) if isinstance(dim, Indirect) else ()
    if shape != expected or not jnp.issubdtype(dtype, jnp.integer):
      advice = (
        "Divide with // to get a block index" if jnp.issubdtype(dtype, jnp.floating) else "Return one number for it"
      )
      raise errors.IndexMapError(
        f"{where} must return integer {'arrays of shape ' + str(expected) if expected else 'scalars'}. Output[{i}] has type "
        f"{jnp.dtype(dtype).name}{list(shape)}.{'' if expected else f' {advice}.'}"
      )


def flatten_specs(specs: Any, tree: Any, name: str, values_name: str, *, num_prefetch: int = 0) -> list[Any]:
  """One spec per leaf of `tree`. The structures must be equal; None means the whole array. Prefetched scalars have none."""
  if isinstance(specs, NoBlockSpec):
    return [specs] * tree.num_leaves
  flat: list[Any] = []
  dummy = jax.tree.unflatten(tree, [0] * tree.num_leaves)
  mismatches = _match_specs(specs, dummy, "", flat)
  if mismatches:
    shown = "".join(f"\n    * {m.format(name=name, values=values_name)}" for m in mismatches[:3])
    without = f", without the first {num_prefetch} of the call, which num_scalar_prefetch says are prefetched scalars"
    raise errors.TreeMismatchError(
      f"Pytree for `{name}` and `{values_name}` do not match. There are {len(mismatches)} mismatches, including:{shown}."
      f" Give `{name}` the structure of `{values_name}`, with a pl.BlockSpec, or None for the whole array, for each leaf"
      f"{without if num_prefetch else ''}."
    )
  return flat


def _match_specs(specs: Any, values: Any, path: str, flat: list[Any]) -> list[str]:
  """Append a spec for each leaf of `values` to `flat`; returns the mismatches."""
  at = f"at {path}, " if path else ""
  spec_is_leaf = specs is None or isinstance(specs, BlockSpec | NoBlockSpec)
  if isinstance(values, int):  # a leaf
    if spec_is_leaf:
      flat.append(specs)
      return []
    return [f"{at}`{{name}}` is a {type(specs)} but `{{values}}` is a pytree leaf, so their Python types differ"]
  if values is None and specs is None:
    return []
  children, own = jax.tree_util.default_registry.flatten_one_level(values) or ((), None)
  if spec_is_leaf:
    return [f"{at}`{{name}}` is a pytree leaf but `{{values}}` is a {type(values)}, so their Python types differ"]
  if type(specs) is not type(values) and not (isinstance(specs, list | tuple) and isinstance(values, list | tuple)):
    return [f"{at}`{{name}}` is a {type(specs)} but `{{values}}` is a {type(values)}, so their Python types differ"]
  spec_children, spec_own = jax.tree_util.default_registry.flatten_one_level(specs) or ((), None)
  spec_children, children = list(spec_children), list(children)
  if len(spec_children) != len(children):
    return [
      f"{at}`{{name}}` is a {type(specs).__name__} of length {len(spec_children)} but `{{values}}` is a "
      f"{type(values).__name__} of length {len(children)}, so the lengths do not match"
    ]
  if spec_own != own:
    return [f"{at}`{{name}}` has the keys {spec_own} but `{{values}}` has {own}"]
  keys = own if isinstance(values, dict) and own is not None else range(len(children))
  found: list[str] = []
  for key, spec, value in zip(keys, spec_children, children):
    found += _match_specs(spec, value, f"{path}[{key!r}]", flat)
  return found
