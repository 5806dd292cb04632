"""Arrays of user-defined element types in fusions: the names, and the rules of packing and unpacking.

A fusion may give a kernel one packed array that is stored as several (a low-precision number and its scale, the two halves of a sum). The
type says how: `pull_block_spec_one_step` carries a view of the packed array to what is packed, `unpack_pull_block_spec` and
`unpack_push_block_spec` carry views and specs over `unpack`, and `pack_eval_rule` and `unpack_eval_rule` compute blocks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.dtypes import physicalize
from tilewright.pallas.fuser.table import Blocks, Site, define, first_used
from tilewright.pallas.fuser.views import UNUSED
from tilewright.pallas.fusion_types import (
  FusibleElementDType,
  FusibleTyRules,
  FusionDType,
  is_packed,
  pack,
  pack_dtype_p,
  unpack,
  unpack_dtype_p,
)
from tilewright.pallas.specs import BlockSpec, no_block_spec

__all__ = [
  "BlockEvalContext",
  "FusibleElementDType",
  "FusibleTyRules",
  "FusionDType",
  "pack",
  "pack_dtype_p",
  "physicalize",
  "unpack",
  "unpack_dtype_p",
]


@dataclasses.dataclass(frozen=True)
class BlockEvalContext:
  """What the evaluation rules of a type are told: the point of the grid, the scalars, whole types and the specs of blocks."""

  scalar_prefetch: Any
  program_ids: tuple[Any, ...]
  avals_in: tuple[Any, ...]
  avals_out: tuple[Any, ...]
  in_block_specs: tuple[Any, ...]
  out_block_specs: tuple[Any, ...]
  grid_len: int
  scalar_prefetch_handler: Any


def _specs(found: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
  return tuple(
    no_block_spec
    if v is UNUSED
    else BlockSpec(v.block_shape, lambda *_, i=i: i, v.pipeline_mode, memory_space=v.memory_space)
    for v, i in zip(found, indices)
  )


def _context(blocks: Blocks) -> BlockEvalContext:
  prefetched = blocks.program_indices[0].prefetched
  return BlockEvalContext(
    prefetched.scalars,
    prefetched.grid,
    tuple(blocks.site.in_avals),
    tuple(blocks.site.out_avals),
    _specs(blocks.in_views, blocks.in_indices),
    _specs(blocks.out_views, blocks.out_indices),
    len(prefetched.grid),
    prefetched.handler,
  )


def _as_views(site: Site, found: Any, rule: str) -> list[Any]:
  given = list(found) if isinstance(found, tuple | list) else [found]
  if len(given) != len(site.in_avals):
    raise site.refuse(
      None,
      f"{rule} of its type gave {len(given)} views for {len(site.in_avals)} operands",
      "Return one fuser.BlockIndexTransform for each.",
    )
  return [views.whole(a) if v is None or v is no_block_spec else v for v, a in zip(given, site.in_avals)]


def _pull_pack(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  dtype, aval = site.params["dtype"], site.out_avals[0]
  return _as_views(site, dtype.pull_block_spec_one_step(aval, first_used(out_views)), "pull_block_spec_one_step")


def _evaluate_pack(blocks: Blocks, *args: Any) -> list[Any]:
  """Rules of users see blocks as kernels do: without squeezed dimensions."""
  given = [
    x if is_packed(a) else jnp.reshape(x, views.kept_sizes(v, a.shape))
    for x, v, a in zip(args, blocks.in_views, blocks.site.in_avals)
  ]
  return [blocks.params["dtype"].pack_eval_rule(_context(blocks), *given)]


def _pull_unpack(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  (aval,) = site.in_avals
  return _as_views(site, aval.dtype.unpack_pull_block_spec(aval, *out_views), "unpack_pull_block_spec")


def _evaluate_unpack(blocks: Blocks, x: Any) -> list[Any]:
  outs = blocks.site.in_avals[0].dtype.unpack_eval_rule(_context(blocks), x)
  return [
    None if v is UNUSED else out if is_packed(a) else jnp.reshape(out, blocks.out_sizes(i))
    for i, (out, v, a) in enumerate(zip(outs, blocks.out_views, blocks.site.out_avals, strict=True))
  ]


def _push_unpack(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  (aval,) = site.in_avals
  return list(aval.dtype.unpack_push_block_spec(aval, specs[0]))


define(pack_dtype_p.name, pull=_pull_pack, evaluate=_evaluate_pack)
define(unpack_dtype_p.name, pull=_pull_unpack, evaluate=_evaluate_unpack, push=_push_unpack)
