"""`warp_map` and `WarpMesh`: a function for each of the four warps of a warpgroup.

    @plgpu.warp_map
    def _(warp):
      o_ref[warp] = x_ref[warp] * 2

    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
      warp = jax.lax.axis_index("warp")
      o_ref[warp] = x_ref[warp] * 2

The warpgroup runs it for one warp after another, with all its threads. Warps that wait, possibly for each other, as in a Blackwell matmul
(one issues copies, one multiplies the data that has arrived), are one equation with a jaxpr for each warp: on the simulated machine,
where `interpret=` sends such kernels, they are concurrent threads. Native code rejects them.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import high_types, jaxprs, primitives
from tilewright.pallas.arity import describe_value
from tilewright.pallas.mosaic_gpu.tiling import WARPS
from tilewright.pallas.primitives import Primitive
from tilewright.runtime import _jax
from tilewright.target.xla.evaluate import subjaxprs

_WAITING = frozenset({"barrier_wait", "barrier_test", "semaphore_wait", "dma_wait"})

side_by_side_p = Primitive("side_by_side")
side_by_side_p.multiple_results = True
primitives.not_differentiable(side_by_side_p)


@side_by_side_p.def_effectful_abstract_eval
def _(*avals: Any, bodies: Any) -> Any:
  return [], {effect for body in bodies for effect in _jax.core.positional_effects(body)}


def _to_lojax(*args: Any, bodies: Any) -> list[Any]:
  lowered = tuple(high_types.lowered(body, "a function of warps") for body in bodies)
  return side_by_side_p.bind(*high_types.lower_values(args), bodies=lowered)


side_by_side_p.to_lojax = _to_lojax


def warp_map(f: Callable[[jax.Array], object], /) -> None:
  """Run `f(warp)` for each of the four warps of this warpgroup."""

  axis = object()  # a unique name

  def of_warp() -> None:
    if (given := f(jax.lax.axis_index(axis))) is not None:
      raise errors.KernelReturnError(
        f"plgpu.warp_map: the function should return None, it returns {describe_value(given)}. Write results to refs."
      )

  jaxpr, consts = _traced(of_warp, axis, "warp_map")
  if _waits(jaxpr):
    _bind_side_by_side(jaxpr, consts, axis)
    return
  for warp in range(WARPS):
    f(jnp.int32(warp))


@dataclasses.dataclass(frozen=True, kw_only=True)
class WarpMesh:
  """The four warps of a warpgroup, for `pl.core_map` inside a kernel: `lax.axis_index(axis_name)` is the number of the warp."""

  axis_name: Any

  @property
  def shape(self) -> collections.OrderedDict[Any, int]:
    return collections.OrderedDict({self.axis_name: WARPS})

  def map_inside(self, f: Callable[[], None]) -> None:
    """Run `f` for each warp: what `core_map` does with a mesh that is part of a core."""
    jaxpr, consts = _traced(f, self.axis_name, "core_map")
    if _waits(jaxpr):
      _bind_side_by_side(jaxpr, consts, self.axis_name)
      return
    for warp in range(WARPS):
      _jax.core.eval_jaxpr(jaxprs.with_axis_index(jaxpr, self.axis_name, warp), (), *consts)


def _traced(f: Callable[[], None], axis: Any, what: str) -> tuple[Any, Sequence[Any]]:
  """The jaxpr of what each warp does, whose number is the index of an axis, and the refs and values it closes over."""

  def flat() -> list[Any]:
    f()
    return []

  with _jax.core.extend_axis_env_nd([(axis, WARPS)]):
    jaxpr, consts = _jax.detach(_jax.trace(flat, [], what=what))
  return jaxpr, consts


def _bind_side_by_side(jaxpr: Any, consts: Sequence[Any], axis: Any) -> None:
  side_by_side_p.bind(*consts, bodies=tuple(jaxprs.with_axis_index(jaxpr, axis, warp) for warp in range(WARPS)))


def _waits(jaxpr: Any) -> bool:
  return not _WAITING.isdisjoint(_names(jaxpr))


def _names(jaxpr: Any) -> Iterator[str]:
  for eqn in jaxpr.eqns:
    yield eqn.primitive.name
    for inner in subjaxprs(eqn):
      yield from _names(inner)
