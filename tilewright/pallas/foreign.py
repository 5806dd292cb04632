"""Conversion of `jax.experimental.pallas` specs to ours: they are read through their public attributes; the module is never imported.

A program that replaces only one of two imports mixes both modules. A `BlockSpec`, a `GridSpec`, a memory space, a semaphore or
`InterpretParams` of JAX's module has a direct equivalent here and is converted; any other object of that module is left unchanged for the
checks that follow. JAX's Pallas functions, called in a body, trace to primitives without a meaning here: they are rejected.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import primitives

from tilewright import errors
from tilewright.pallas import jaxprs
from tilewright.pallas.specs import BlockSpec, GridSpec, PrefetchScalarGridSpec, no_block_spec
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BoundedSlice, Buffered, Element, Indirect, RevisitMode, Squeezed, source_line
from tilewright.tile.memory import MemorySpace, SemaphoreType, TpuMemorySpace, memory_ref

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
  """Our equivalent of a memory space of JAX's TPU modules, or of Pallas's generic memory space."""
  if not _is_foreign(space, "MemorySpace") or isinstance(space, jax.memory.Space):
    return space
  name = getattr(space, "name", None)
  return next((s for kind in (MemorySpace, TpuMemorySpace) for s in kind if s.name == name), space)


# By the names of JAX's dtypes for them.
_SEMAPHORES = {"semaphore": "REGULAR", "dma_sem": "DMA", "barrier_semaphore": "BARRIER"}


def own_scratch(ty: Any) -> Any:
  """Our form of a semaphore or of TPU memory of JAX."""
  if _is_foreign(ty, "SemaphoreType") and ty.name in SemaphoreType.__members__:
    return SemaphoreType[ty.name]
  if not _is_foreign(ty, "MemoryRef"):
    return ty
  if (kind := _SEMAPHORES.get(str(ty.dtype))) is not None:
    return SemaphoreType[kind](ty.shape)
  space = own_memory_space(ty.memory_space)
  return ty if space is ty.memory_space else memory_ref(tuple(ty.shape), ty.dtype, space)


def own_interpret(interpret: Any) -> Any:
  """Our simulated machine for the parameters of JAX's interpret mode."""
  if not _is_foreign(interpret, "InterpretParams", "InterpretGPUParams"):
    return interpret
  from tilewright.target import simulator

  known = {f.name for f in dataclasses.fields(simulator.Options)}
  known_fields = {f.name: getattr(interpret, f.name) for f in dataclasses.fields(interpret) if f.name in known}
  return simulator.Options(**known_fields)


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


def check_primitives(jaxpr: Any) -> None:
  """Reject equations of functions of JAX's Pallas: some of their primitives share a name with one of ours but differ in meaning."""
  foreign = {
    id(value)
    for name, module in list(sys.modules.items())
    if name.startswith("jax._src.pallas.") and module is not None
    for value in vars(module).values()
    if isinstance(value, _jax.core.Primitive)
  }
  foreign -= {id(value) for value in vars(primitives).values()}  # modules of Pallas import some of JAX's own, as `ge`
  if foreign:
    _refuse(jaxpr, foreign)


def _refuse(jaxpr: Any, foreign: set[int]) -> None:
  for eqn in jaxpr.eqns:
    if id(eqn.primitive) in foreign:
      raise errors.ForeignNameError(
        f"A function of jax.experimental.pallas ('{eqn.primitive}') is called in this kernel, at {source_line(eqn)}. Import it from "
        "tilewright.pallas instead, or run the whole program unchanged with `tilewright run`."
      )
    for inner in jaxprs.inner_jaxprs(eqn):
      _refuse(_jax.open_jaxpr(inner.jaxpr)[0], foreign)
