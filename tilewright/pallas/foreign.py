"""Specs of `jax.experimental.pallas` where ours are expected: read by their public attributes, and never imported.

A program that changes one import of two mixes both. What a `BlockSpec`, a `GridSpec` or a memory space of the other module says is said in
the same words here, so it is taken over; any other object of that module is left as it is, for the checks that follow.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax

from tilewright.pallas.specs import BlockSpec, GridSpec, PrefetchScalarGridSpec, no_block_spec
from tilewright.tile.grid import Blocked, BoundedSlice, Buffered, Element, Indirect, RevisitMode, Squeezed
from tilewright.tile.memory import MemorySpace, TpuMemorySpace

_DIMS: dict[str, Callable[[Any], Any]] = {
  "Squeezed": lambda d: Squeezed(),
  "Blocked": lambda d: Blocked(d.block_size),
  "Element": lambda d: Element(d.block_size, tuple(d.padding)),
  "BoundedSlice": lambda d: BoundedSlice(d.block_size),
  "Indirect": lambda d: Indirect(d.block_size),
}


def _is_foreign(x: Any, *names: str) -> bool:
  kind = type(x)
  return kind.__module__.startswith("jax.") and kind.__name__ in names


def own_memory_space(space: Any) -> Any:
  """Our name of a memory space of JAX's modules for TPUs, or of none in particular."""
  if not _is_foreign(space, "MemorySpace") or isinstance(space, jax.memory.Space):
    return space
  name = getattr(space, "name", None)
  return next((s for kind in (MemorySpace, TpuMemorySpace) for s in kind if s.name == name), space)


def own_specs(specs: Any) -> Any:
  """A tree of specs in which those of JAX are ours."""
  return jax.tree.map(_own_spec, specs, is_leaf=lambda x: x is None)


def _own_spec(spec: Any) -> Any:
  if _is_foreign(spec, "NoBlockSpec"):
    return no_block_spec
  if not _is_foreign(spec, "BlockSpec"):
    return spec
  shape = spec.block_shape
  return BlockSpec(
    None if shape is None else [_DIMS.get(type(d).__name__, lambda d: d)(d) for d in shape],
    spec.index_map,
    _own_mode(getattr(spec, "pipeline_mode", None)),
    memory_space=own_memory_space(getattr(spec, "memory_space", None)),
  )


def _own_mode(mode: Any) -> Any:
  if not _is_foreign(mode, "Buffered"):
    return mode
  revisit = getattr(mode, "revisit", None)
  return Buffered(
    mode.buffer_count,
    getattr(mode, "use_lookahead", False),
    None if revisit is None else RevisitMode[revisit.name],
    getattr(mode, "prefetched_count", 0),
  )


def own_grid_spec(spec: Any) -> Any:
  """Our form of a grid spec of JAX, or of ours with specs of JAX in it."""
  if isinstance(spec, GridSpec):
    spec = copy.copy(spec)
    spec.in_specs, spec.out_specs = own_specs(spec.in_specs), own_specs(spec.out_specs)
    return spec
  if not _is_foreign(spec, "GridSpec", "PrefetchScalarGridSpec"):
    return spec
  names = getattr(spec, "grid_names", None)
  grid = tuple(zip(names, spec.grid)) if names else spec.grid
  parts = grid, own_specs(spec.in_specs), own_specs(spec.out_specs), spec.scratch_shapes
  count = getattr(spec, "num_scalar_prefetch", 0)
  return PrefetchScalarGridSpec(count, *parts) if count else GridSpec(*parts)
