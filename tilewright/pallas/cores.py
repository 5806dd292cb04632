"""Communication between the cores of a mesh: decides which kernels need their cores to run concurrently.

Most kernels over a mesh do not: their cores are independent and may run sequentially. Cores that signal each other, copy to each other, or
share scoped memory wait for progress of another core. Such cores run as coroutines in native code, and as threads of the simulated machine
otherwise.
"""

from __future__ import annotations

import math
from typing import Any

from tilewright.pallas import dma, jaxprs, semaphores
from tilewright.pallas.scoped import run_scoped_p
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel


def run_together(kernel: Kernel) -> bool:
  """Whether the cores of a kernel's mesh wait for each other. (CTAs and their warpgroups do not count.)"""
  of_threads = any(hasattr(mesh, "num_threads") for mesh in kernel.mesh or ())
  if kernel.mesh is None or of_threads or any(not isinstance(d, int) for d in kernel.grid_mapping.grid):
    return False
  return math.prod(kernel.grid_mapping.grid) > 1 and communicates(kernel.jaxpr)


def allocate_together(kernel: Kernel) -> bool:
  """Whether several CTAs, such as those of a cluster, share scoped memory or access each other's memory."""
  sizes = dict(zip(kernel.grid_mapping.grid_names or (), kernel.grid_mapping.grid))

  def found(jaxpr: Any) -> bool:
    return any(
      eqn.primitive.name == "cluster_ref"
      or (eqn.primitive is run_scoped_p and any(sizes.get(axis, 1) != 1 for axis in eqn.params["collective_axes"]))
      or any(found(_jax.open_jaxpr(inner.jaxpr)[0]) for inner in jaxprs.inner_jaxprs(eqn))
      for eqn in jaxpr.eqns
    )

  return kernel.mesh is not None and found(kernel.jaxpr)


def has_warps_side_by_side(kernel: Kernel) -> bool:
  """Whether warps of a warpgroup wait, possibly for each other."""

  def found(jaxpr: Any) -> bool:
    return any(
      eqn.primitive.name == "side_by_side"
      or any(found(_jax.open_jaxpr(inner.jaxpr)[0]) for inner in jaxprs.inner_jaxprs(eqn))
      for eqn in jaxpr.eqns
    )

  return found(kernel.jaxpr)


def communicates(jaxpr: Any) -> bool:
  """Whether an equation, or one nested in it, involves several cores."""
  return any(
    _involves_other_cores(eqn)
    or any(communicates(_jax.open_jaxpr(inner.jaxpr)[0]) for inner in jaxprs.inner_jaxprs(eqn))
    for eqn in jaxpr.eqns
  )


def _involves_other_cores(eqn: Any) -> bool:
  if eqn.primitive in (semaphores.semaphore_signal_p, dma.dma_start_p):
    *_, core = dma.operands(eqn.params["tree"], eqn.invars)
    return core is not None
  if eqn.primitive is run_scoped_p:
    return bool(eqn.params["collective_axes"])
  return eqn.primitive.name in ("concurrent_cores", "fetch_and_add")
