"""Running kernels on the simulated machine instead of hardware: `interpret=pltpu.InterpretParams(...)`.

with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams(detect_races=True)):
  y = my_kernel(x)
for race in pltpu.interpret_races():
  print(race)
"""

from __future__ import annotations

import dataclasses

from tilewright.pallas import targets
from tilewright.target import simulator
from tilewright.target.simulator import Race


@dataclasses.dataclass(frozen=True, kw_only=True)
class InterpretParams(simulator.Options):
  """What the simulated machine is like, and what it should look for.

  Attributes:
    detect_races: find memory accesses without a happens-before order; see `interpret_races`.
    out_of_bounds_reads: whether a read outside of a buffer raises, or gives what uninitialised memory holds. A write outside of
      a buffer always raises.
    skip_floating_point_ops: leave out operations whose results are all floats (they become infinite), to look only at how a
      kernel moves data and synchronises.
    uninitialized_memory: what memory holds before it is written: "nan" (the smallest value for integers) or "zero".
    num_cores_or_threads: the cores of each device. Grid dimensions called parallel are divided among them.
    vector_clock_size: entries in the clocks that find races: one for each core of all devices, the rest for copies in flight.
      More of them find more races among many copies; None means twice the number of cores.
    logging_mode: accepted for programs that set it; the machine writes to the logger "tilewright.simulator".
    dma_execution_mode: "eager" copies when a copy starts; "on_wait" only when someone waits on a semaphore that the copy signals,
      which shows where a wait is missing.
    random_seed: for the order of the points along parallel grid dimensions.
    grid_point_recorder: called as f(point, core) for each grid point, in the order they are visited.
    allow_hbm_allocation_in_run_scoped: let `run_scoped` allocate HBM, shared by the cores of the device.
    buffer_bounds: "padded" lets accesses go up to the shape that the buffer has on a TPU, rounded up to tiles; such reads are
      uninitialised, such writes dropped.
  """


class force_tpu_interpret_mode(targets.ForcedInterpretation):
  """A context manager: kernels traced inside of it run with `interpret=params` (None changes nothing)."""

  def __init__(self, params: InterpretParams | None = InterpretParams()):
    super().__init__(params)


def set_tpu_interpret_mode(params: InterpretParams | None = InterpretParams()) -> None:
  """Let every kernel traced from now on run with `interpret=params`; None ends that."""
  targets.forced_interpret.set_global(params)


def reset_tpu_interpret_mode_state() -> None:
  """Forget what the simulated machine keeps between kernels: barrier semaphores, races found, failures."""
  simulator.reset()


def interpret_races() -> tuple[Race, ...]:
  """The races found since the last reset: each with the buffer and both accesses, with their source lines."""
  return tuple(simulator.races)


def interpret_error() -> BaseException | None:
  """What last stopped a kernel since the last reset, as it was raised: JAX reports it in an exception of its own."""
  return simulator.errors_raised[-1] if simulator.errors_raised else None
