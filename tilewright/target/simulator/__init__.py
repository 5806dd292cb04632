"""The simulated machine: devices with several cores, shared memory, DMA engines and semaphores, on the host.

It runs a kernel as written, each core in a thread of its own, so that kernels that communicate work, and detects deadlocks,
out-of-bounds accesses and races. `run(kernel, *operands)` is the lowering, `register` gives a
primitive its rule.

| module     | holds                                                                   |
|------------|-------------------------------------------------------------------------|
| `options`  | what the machine is like and what it looks for                          |
| `indexing` | reading and writing through ref transforms on NumPy arrays              |
| `memory`   | buffers and semaphores, by name                                         |
| `clocks`   | vector clocks and races                                                 |
| `machine`  | the cores of one call: memory access, waits, deadlock, copies           |
| `evaluate` | running a jaxpr on a core; the table of rules                           |
| `control`  | the rules of JAX's own primitives                                       |
| `grid`     | the points of the grid and their blocks                                 |
| `launch`   | what XLA calls on each device, and how the devices meet                 |
| `handoff`  | how XLA calls it without a thread of its own waiting                    |
"""

from tilewright.target.simulator import control as _control  # registers the rules of refs and control flow
from tilewright.target.simulator.clocks import Race, Site
from tilewright.target.simulator.evaluate import Context, Instance, register
from tilewright.target.simulator.launch import errors_raised, own_errors, races, reset, run, run_side_by_side
from tilewright.target.simulator.machine import Core, persistent
from tilewright.target.simulator.memory import (
  Buffer,
  Semaphores,
  num_bytes,
  resolve,
  size_in_bytes,
  uninitialized_value,
)
from tilewright.target.simulator.options import Options

__all__ = [
  "Buffer",
  "Context",
  "Core",
  "Instance",
  "Options",
  "Race",
  "Semaphores",
  "Site",
  "errors_raised",
  "num_bytes",
  "own_errors",
  "persistent",
  "races",
  "register",
  "reset",
  "resolve",
  "run",
  "run_side_by_side",
  "size_in_bytes",
  "uninitialized_value",
]

del _control
