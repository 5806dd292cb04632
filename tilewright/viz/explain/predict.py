"""Predicted step times of an instance: the device's rates (`hlo.cost.devices`) and the work counted in the kernel's body.

An instance loads its blocks from memory, computes, and stores. Memory and arithmetic overlap as far as there is room for prefetched
blocks: with `ahead` steps in shared memory the blocks of step k may be loaded once step k - ahead is done.

    memory    | 0 | 1 | 2 |   3   | 4
    compute       | 0   | 1   | 2   | 3          ahead = 3: block 3 waits for step 0

Concurrent instances share the device evenly. Blocks that several instances read hit in a cache after the first load: the traffic
takes as long as each array once from memory, or all of it from the cache, whichever is longer. Latencies and the other work of
a step are ignored. The result is a bound with reasons, not a measurement.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from tilewright.hlo.cost.devices import Device
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.pallas.cost import Work
from tilewright.tile.native import NativeKernel, moving_dims

# What a transcendental function costs in operations of the vector units: on a GPU, an SM has 16 lanes for them and 128 that multiply and
# add (CUDA C programming guide, throughput of arithmetic instructions); on a CPU it is a polynomial of about ten multiply-adds.
_TRANSCENDENTAL = {"gpu": 16, "cpu": 20}
_CACHE = 4.0  # the bandwidth of the shared cache, relative to memory's, as `accelerate.costs` has it
_SIMULATED = 4096  # steps; further ones take as long as the last


@dataclasses.dataclass(frozen=True)
class Span:
  """An interval, in seconds from the start of the instance."""

  what: str  # load, compute, store
  step: int
  begin: float
  end: float


@dataclasses.dataclass(frozen=True)
class Timeline:
  """One instance: its first steps as spans, and how long it and the kernel take."""

  spans: tuple[Span, ...]
  num_steps: int
  ahead: int
  instance_seconds: float
  seconds: float
  instances: int
  at_a_time: int


@dataclasses.dataclass(frozen=True)
class Roofline:
  """Operations and bytes of a whole kernel, and what bounds them."""

  device: str
  flops: float
  nbytes: float  # each array once
  traffic: float  # blocks, as often as instances load them
  peak: float  # operations per second, of the units that do most of the work
  peak_name: str
  bandwidth: float

  @property
  def bound(self) -> float:
    """Seconds that the kernel takes at least."""
    return max(self.flops / self.peak, self.nbytes / self.bandwidth)


@dataclasses.dataclass(frozen=True)
class Model:
  """A kernel on a device: the work of one instance, and what moves in each step and once."""

  device: Device
  kind: str  # cpu or gpu
  units: int  # SMs or cores
  resident: int  # instances that a unit has at a time
  rounds_to_tf32: bool
  work: Work
  num_points: int  # parallel ones
  num_steps: int
  in_once: int
  in_each: int
  out_once: int
  out_each: int
  nbytes: int  # of all arrays

  @property
  def traffic(self) -> int:
    """Bytes of blocks, as often as instances load them."""
    return self.num_points * (self.in_once + self.out_once + self.num_steps * (self.in_each + self.out_each))

  @property
  def at_a_time(self) -> int:
    return min(self.num_points, self.units * self.resident)

  @property
  def bandwidth(self) -> float:
    return self.device.memory_bandwidth * self.device.memory_efficiency

  @property
  def block_rate(self) -> float:
    """Bytes of blocks per second, of one instance."""
    from_memory = min(1.0, self.nbytes / max(1, self.traffic))
    return self.bandwidth / max(from_memory, 1 / _CACHE) / max(1, self.at_a_time)

  def product_rate(self, dtype: Any) -> float:
    if self.kind == "gpu" and dtype == np.float32 and not self.rounds_to_tf32:
      return self.device.vector_flops
    return self.device.matmul_rate(_element_type(dtype))

  @property
  def step_flops(self) -> float:
    """Operations of one step, as the literature counts them: a transcendental function is one."""
    return sum(n for _, n in self.work.products) + self.work.flops + self.work.transcendentals

  @property
  def step_seconds(self) -> float:
    """How long an instance computes in a step, with its share of the device."""
    share = max(self.units, self.at_a_time)
    vector = self.work.flops + _TRANSCENDENTAL[self.kind] * self.work.transcendentals
    whole = sum(n / self.product_rate(d) for d, n in self.work.products) + vector / self.device.vector_flops
    return whole * share


def model(
  native: NativeKernel,
  work: Work,
  parallel: tuple[int, ...],
  device: Device,
  kind: str,
  units: int,
  resident: int = 1,
  rounds_to_tf32: bool = False,
) -> Model | None:
  """None where the grid is dynamic: nothing can be counted then."""
  grid = native.mapping.grid
  if None in grid:
    return None
  sequential = [d for d in range(len(grid)) if d not in parallel]
  nbytes = 0
  moved = {(is_output, each): 0 for is_output in (False, True) for each in (False, True)}
  for k, (m, index_map) in enumerate(zip(native.mapping.block_mappings, native.index_maps)):
    changes = False
    shape = m.array_aval.shape
    if index_map is not None:
      changes = not moving_dims(native, k).isdisjoint(sequential)
      shape = m.block_sizes
    itemsize = np.dtype(m.array_aval.dtype).itemsize
    nbytes += math.prod(m.array_aval.shape) * itemsize
    moved[k >= native.mapping.num_inputs, changes] += math.prod(shape) * itemsize
  steps = math.prod(int(grid[d]) for d in sequential)
  points = math.prod(int(grid[d]) for d in parallel)
  order = (moved[False, False], moved[False, True], moved[True, False], moved[True, True])
  return Model(device, kind, units, resident, rounds_to_tf32, work, points, steps, *order, nbytes)


def timeline(m: Model, ahead: int, shown: int = 12) -> Timeline:
  """The steps of an instance, with room for the blocks of `ahead` steps."""
  rate = m.block_rate
  spans: list[Span] = []
  free = m.in_once / rate  # when memory is done with what was requested so far
  if free:
    spans.append(Span("load", -1, 0.0, free))
  computed: list[float] = []
  for k in range(min(m.num_steps, _SIMULATED)):
    begin = max(free, computed[k - ahead] if k >= ahead else 0.0)
    free = begin + m.in_each / rate
    start = max(free, computed[-1] if computed else 0.0)
    computed.append(start + m.step_seconds)
    if k < shown:
      spans += [Span("load", k, begin, free)] if m.in_each else []
      spans.append(Span("compute", k, start, computed[-1]))
    if m.out_each:
      begin = max(free, computed[-1])
      free = begin + m.out_each / rate
      spans += [Span("store", k, begin, free)] if k < shown else []
  end = max(free, computed[-1] if computed else 0.0)
  if len(computed) > 1:
    end += (m.num_steps - len(computed)) * (computed[-1] - computed[-2])
  whole = end + m.out_once / rate
  if m.out_once and m.num_steps <= shown:
    spans.append(Span("store", m.num_steps, end, whole))
  waves = math.ceil(m.num_points / max(1, m.at_a_time))
  return Timeline(tuple(spans), m.num_steps, ahead, whole, whole * waves, m.num_points, m.at_a_time)


def roofline(m: Model) -> Roofline:
  """Of the whole kernel."""
  instances = m.num_points * m.num_steps
  products = max(m.work.products, key=lambda p: p[1], default=None)
  if products is not None and products[1] >= m.work.flops:
    peak, name = m.product_rate(products[0]), f"products of {np.dtype(products[0]).name}"
  else:
    peak, name = m.device.vector_flops, "vector units"
  return Roofline(m.device.name, m.step_flops * instances, m.nbytes, m.traffic, peak, name, m.bandwidth)


def _element_type(dtype: Any) -> str:
  return next((name for name, row in PRIMITIVE_TYPES.items() if row.dtype == np.dtype(dtype)), "f32")
