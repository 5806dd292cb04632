"""Functions on trees of block specs."""

from __future__ import annotations

from typing import Any

import jax

from tilewright.pallas.specs import BlockSpec, no_block_spec


def _is_spec(s: Any) -> bool:
  return s is no_block_spec or isinstance(s, BlockSpec)


def filter_no_block_specs(values: Any, block_specs: Any) -> tuple[Any, Any]:
  """Both trees with None in place of values whose spec is `pl.no_block_spec`, and of those specs."""
  specs, tree = jax.tree.flatten(block_specs, is_leaf=_is_spec)
  found = tree.flatten_up_to(values)
  kept = [s is not no_block_spec for s in specs]
  pick = lambda items: jax.tree.unflatten(tree, [x if k else None for x, k in zip(items, kept)])
  return pick(found), pick(specs)


def block_spec_with_prefetch(block_specs: Any, scalar_prefetch_smem_refs: Any) -> Any:
  """Specs whose index maps get these refs of prefetched scalars after the grid indices."""

  def with_refs(spec: Any) -> Any:
    if spec is no_block_spec or spec.index_map is None:
      return spec
    return spec.replace(index_map=lambda *grid: spec.index_map(*grid, *scalar_prefetch_smem_refs))

  return jax.tree.map(with_refs, block_specs, is_leaf=_is_spec)
