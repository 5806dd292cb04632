"""Static estimates of a candidate before it runs: the resources of its kernels, and its time.

`prune` reads the compiler's own report (`nvgpu.report`): registers, spills and shared memory of each kernel, on any machine. `predict=True`
orders candidates by a roofline of their kernels:

    seconds = max(operations / rate, bytes / bandwidth) · (waves as they are / waves without a remainder) + instances · overhead

A block's bytes count each time the grid moves a kernel to another block, so that small blocks are charged for their extra traffic.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from tilewright.pallas.cost import estimate_cost
from tilewright.pallas.nvgpu.inspection import Report, report
from tilewright.target.xla.evaluate import subjaxprs
from tilewright.tile.grid import BlockMapping, Kernel


def exceeds_resources(found: Report) -> str | None:
  """Why a kernel is not worth running; None if it may be."""
  from tilewright.target.nvgpu.arch import named

  shared_limit = named(found.arch).shared_bytes
  if found.shared_bytes > shared_limit:
    return f"{found.kernel} asks for {found.shared_bytes} bytes of shared memory, and there are {shared_limit}"
  if found.resources is not None and found.resources.spilled_bytes > 0:
    return f"{found.kernel} spills {found.resources.spilled_bytes} bytes of registers"
  return None


def pruned(
  function: Callable[..., Any], types: Sequence[Any], arch: str, rule: Callable[[Report], Any] | None
) -> str | None:
  """Why a candidate is thrown out without running, by a rule about its kernels; None if it is not."""
  for found in report(function, *types, archs=arch):
    verdict = (rule or exceeds_resources)(found)
    if verdict:
      return (
        verdict if isinstance(verdict, str) else f"{found.kernel} is pruned by {getattr(rule, '__name__', 'a rule')}"
      )
  return None


# --- time --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Machine:
  """What the estimate knows of a device; only ratios matter for an order."""

  units: int  # that run instances side by side
  flops: float
  bandwidth: float  # of the cache that blocks come from
  overhead: float  # of an instance, on one unit


def machine(platform: str) -> Machine:
  if platform == "gpu":
    return Machine(132, 6e14, 5.5e12, 1e-6)
  threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
  return Machine(threads, 6e10 * threads, 2e10 * threads, 3e-7)


def predicted_seconds(function: Callable[..., Any], types: Sequence[Any], platform: str) -> float:
  """An estimate for a function of arrays; it is traced, and not run."""
  device = jax.default_device("gpu") if platform == "gpu" else jax.default_device(None)
  with device:
    traced = jax.make_jaxpr(function)(*types)
    flops = estimate_cost(function, *types).flops
  kernels = list(_kernels(traced.jaxpr))
  own = machine(platform)
  if not kernels:
    return flops / own.flops
  return sum(_seconds(kernel, flops / len(kernels), own) for kernel in kernels)


def _kernels(jaxpr: Any) -> Iterator[Kernel]:
  for eqn in jaxpr.eqns:
    if eqn.primitive.name == "pallas_call":
      yield Kernel(**eqn.params)
    else:
      for inner in subjaxprs(eqn):
        yield from _kernels(inner)


def _seconds(kernel: Kernel, flops: float, own: Machine) -> float:
  grid = [d or 1 for d in kernel.grid_mapping.grid]
  instances = math.prod(grid)
  moved = sum(_bytes(mapping, grid) for mapping in kernel.grid_mapping.block_mappings)
  outputs = kernel.grid_mapping.output_mappings
  parallel = max((math.prod(grid[: _reach(m, len(grid))]) for m in outputs if not m.is_whole_array), default=instances)
  waves = max(1, parallel) / own.units
  return max(flops / own.flops, moved / own.bandwidth) * math.ceil(waves) / waves + instances * own.overhead / own.units


def _reach(mapping: BlockMapping, rank: int) -> int:
  """How many of the first grid dimensions a block depends on: the last of them changes it, those behind do not."""
  jaxpr = mapping.index_map
  jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
  used = {id(v) for eqn in jaxpr.eqns for v in eqn.invars} | {id(v) for v in jaxpr.outvars}
  return max((n + 1 for n, v in enumerate(jaxpr.invars[:rank]) if id(v) in used), default=0)


def _bytes(mapping: BlockMapping, grid: list[int]) -> int:
  """Bytes of a block, as often as instances in a row see another one."""
  aval = mapping.array_aval
  if mapping.is_whole_array:
    return math.prod(aval.shape) * np.dtype(aval.dtype).itemsize
  block = math.prod(getattr(d, "block_size", 1) for d in mapping.block_shape)
  return block * np.dtype(aval.dtype).itemsize * math.prod(grid[: _reach(mapping, len(grid))])
