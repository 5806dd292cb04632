"""`warp_map` and `WarpMesh`: a function for each of the four warps of a warpgroup.

    @plgpu.warp_map
    def _(warp):
      o_ref[warp] = x_ref[warp] * 2

    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
      warp = jax.lax.axis_index("warp")
      o_ref[warp] = x_ref[warp] * 2

The warpgroup runs it for one warp after another, with all its threads. So warps that wait for each other cannot be: that is an error.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import jaxprs
from tilewright.pallas.mosaic_gpu.tiling import WARPS
from tilewright.pallas.primitives import ShapedArray
from tilewright.runtime import _jax
from tilewright.target.xla.evaluate import subjaxprs

_WAITING = frozenset({"barrier_wait", "semaphore_wait"})


def warp_map(f: Callable[[jax.Array], None], /) -> None:
  """Run `f(warp)` for each of the four warps of this warpgroup."""

  def flat(warp: Any) -> list[Any]:
    f(warp)
    return []

  jaxpr, _ = _jax.detach(_jax.trace(flat, [ShapedArray((), jnp.dtype(jnp.int32))], what="warp_map"))
  _check_none_waits(jaxpr, "plgpu.warp_map")
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

    def flat() -> list[Any]:
      f()
      return []

    with _jax.core.extend_axis_env_nd([(self.axis_name, WARPS)]):
      jaxpr, consts = _jax.detach(_jax.trace(flat, [], what="core_map"))
    _check_none_waits(jaxpr, "pl.core_map over a plgpu.WarpMesh")
    for warp in range(WARPS):
      _jax.core.eval_jaxpr(jaxprs.with_axis_index(jaxpr, self.axis_name, warp), (), *consts)


def _check_none_waits(jaxpr: Any, what: str) -> None:
  waiting = _WAITING.intersection(_names(jaxpr))
  if waiting:
    raise errors.UnsupportedFeatureError(
      f"{what}: the warps would wait for each other ({', '.join(sorted(waiting))}), but run one after another here. Use "
      "warpgroups, which run side by side: plgpu.kernel(num_threads=…), or plgpu.emit_pipeline_warp_specialized."
    )


def _names(jaxpr: Any) -> Iterator[str]:
  for eqn in jaxpr.eqns:
    yield eqn.primitive.name
    for inner in subjaxprs(eqn):
      yield from _names(inner)
