"""The rule of gather: `x[indices]`, `jnp.take(x, indices, axis)`, `jnp.take_along_axis`.

The indices of a block are known only when it is computed, so an indexed dimension is read whole; all others are
split like the result. JAX's `GatherDimensionNumbers` map the dimensions:

    take(x: (V, D), i: (N,), axis=0)      result (N, D): x is read as (V, bd), i as (bn,)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.table import Blocks, Site, define, first_used
from tilewright.pallas.fuser.views import View, covers
from tilewright.tile.grid import Blocked


def _places(site: Site) -> tuple[dict[int, int], dict[int, int]]:
  """Which dimension of the result each dimension of the operand, and each of the indices, becomes."""
  numbers, sizes = site.params["dimension_numbers"], site.params["slice_sizes"]
  operand, indices = site.in_avals
  out_rank = site.out_avals[0].ndim
  batch_out = [d for d in range(out_rank) if d not in numbers.offset_dims]
  index_batch = list(range(indices.ndim - 1))
  of_indices = dict(zip(index_batch, batch_out))
  gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
  offset = [d for d in range(operand.ndim) if d not in gone]
  of_operand = {d: o for d, o in zip(offset, numbers.offset_dims) if sizes[d] == operand.shape[d]}
  for d, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims):
    of_operand[d] = of_indices[i]
  return of_operand, of_indices


def _pull(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  view: View = first_used(out_views)
  operand, indices = site.in_avals
  numbers, sizes = site.params["dimension_numbers"], site.params["slice_sizes"]
  if view.block_shape is None:
    return [views.whole(operand, view), views.whole(indices, view)]
  of_operand, of_indices = _places(site)
  out_shape = site.out_avals[0].shape
  cut = {d for d, (dim, n) in enumerate(zip(view.block_shape, out_shape)) if not covers(dim, n)}
  loose = [o for o in numbers.offset_dims if o in cut and o not in of_operand.values()]
  if loose:
    raise site.refuse(
      view,
      f"dimension {loose[0]} of its result is a window of {sizes} whose position depends on the indices",
      f"Make the block size of that dimension {out_shape[loose[0]]}, the whole window.",
    )

  def part(place: dict[int, int], aval: Any) -> View:
    shape = [view.block_shape[place[d]] if d in place else Blocked(n) for d, n in enumerate(aval.shape)]  # type: ignore[index]
    return view.then(shape, lambda i: tuple(i[place[d]] if d in place else 0 for d in range(aval.ndim)))

  return [part(of_operand, operand), part(of_indices, indices)]


def _evaluate(blocks: Blocks, x: Any, indices: Any) -> list[Any]:
  params = blocks.params
  of_operand, _ = _places(blocks.site)
  numbers = params["dimension_numbers"]
  sizes = [
    1 if d in numbers.operand_batching_dims else x.shape[d] if d in of_operand else n
    for d, n in enumerate(params["slice_sizes"])
  ]
  out = lax.gather(
    x,
    indices,
    numbers,
    tuple(sizes),
    indices_are_sorted=params["indices_are_sorted"],
    unique_indices=params["unique_indices"],
    mode=params["mode"],
    fill_value=params["fill_value"],
  )
  return [out]


define("gather", pull=_pull, evaluate=_evaluate)
