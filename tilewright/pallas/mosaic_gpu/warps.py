"""`warp_map`: a function for each of the four warps of a warpgroup.

    @plgpu.warp_map
    def _(warp):
      o_ref[warp] = x_ref[warp] * 2

The warpgroup runs it for one warp after another, with all its threads. So warps that wait for each other cannot be: that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
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
  waiting = _WAITING.intersection(_names(jaxpr))
  if waiting:
    raise errors.UnsupportedFeatureError(
      f"plgpu.warp_map: the warps would wait for each other ({', '.join(sorted(waiting))}), but run one after another here. Use "
      "warpgroups, which run side by side: plgpu.kernel(num_threads=…), or plgpu.emit_pipeline_warp_specialized."
    )
  for warp in range(WARPS):
    f(jnp.int32(warp))


def _names(jaxpr: Any) -> Iterator[str]:
  for eqn in jaxpr.eqns:
    yield eqn.primitive.name
    for inner in subjaxprs(eqn):
      yield from _names(inner)
