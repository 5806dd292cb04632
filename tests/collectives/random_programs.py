"""Random programs of remote copies and semaphores: native code on CPU devices against the simulated machine.

    python -m tests.collectives.random_programs --count 10000 --seed 0                each one compiled
    python -m tests.collectives.random_programs --count 10000 --seed 0 --as-data     one kernel reads the steps from a table

A program is a list of steps that every device takes. What a step may touch is chosen so that the result does not depend on timing: buffers
are written by one device at a time, and whoever reads waits for it.

    send      each device copies a slot to a slot of a device, a permutation away, and waits for what comes to it
    add       the same, adding to what is there
    scatter   one device copies a slot to every other
    signal    devices signal amounts to others and wait for what they get
    poll      the same; they read the semaphore in a loop first
    meet      a barrier of all, by the barrier semaphore
    compute   a slot becomes a function of two others
    remote    a slot becomes what a slot of another device is, by `remote_ref`, between two barriers
"""

from __future__ import annotations

import os

if __name__ == "__main__":
  os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import argparse
import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu

SLOTS, ROWS, COLUMNS = 4, 2, 16
DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
KINDS = ("send", "send", "add", "scatter", "signal", "poll", "meet", "compute", "remote", "loop")
NAMINGS = ("tuple", "logical", "dict")
MOST_STEPS = 8


Axes = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Step:
  kind: str
  source: int = 0
  target: int = 0
  shift: int = 1
  amount: int = 1
  naming: str = "tuple"
  rows: int = ROWS
  times: int = 1


@dataclasses.dataclass(frozen=True)
class Program:
  axes: Axes
  steps: tuple[Step, ...]

  @property
  def devices(self) -> int:
    return int(np.prod([size for _, size in self.axes]))


MESHES: tuple[Axes, ...] = ((("x", 2),), (("x", 3),), (("x", 4),), (("a", 2), ("b", 2)))


def generate(rng: np.random.Generator, axes: Axes | None = None) -> Program:
  axes = axes or MESHES[rng.integers(len(MESHES))]
  n = int(np.prod([size for _, size in axes]))
  pick = lambda count: int(rng.integers(count))

  def step() -> Step:
    source = pick(SLOTS)
    target = (source + 1 + pick(SLOTS - 1)) % SLOTS
    naming = NAMINGS[pick(3)]
    return Step(KINDS[pick(len(KINDS))], source, target, pick(n), 1 + pick(5), naming, 1 + pick(ROWS), 1 + pick(3))

  return Program(axes, tuple(step() for _ in range(2 + pick(6))))


class Body:
  """The kernel of a program."""

  def __init__(self, program: Program):
    self.program, self.n = program, program.devices

  def __call__(self, x_ref: Any, o_ref: Any, slots: Any, send: Any, receive: Any, counter: Any) -> None:
    self.slots, self.sent, self.received, self.counter = slots, send, receive, counter
    self.me = jnp.int32(0)
    for axis, size in self.program.axes:
      self.me = self.me * size + lax.axis_index(axis)
    for i in range(SLOTS):
      slots[i] = x_ref[...] + i
    self.meet()
    self.steps()
    o_ref[...] = slots[...]

  def steps(self) -> None:
    for number, step in enumerate(self.program.steps):
      getattr(self, step.kind)(step)
      self.after(number)

  def after(self, number: Any) -> None:
    self.slots[lax.rem(jnp.int32(number), jnp.int32(SLOTS)), 0] += 1.0
    self.meet()

  def device(self, number: Any, naming: str) -> dict[str, Any]:
    if naming == "logical":
      return dict(device_id=number, device_id_type=pl.DeviceIdType.LOGICAL)
    coordinates, left = [], number
    for _, size in reversed(self.program.axes):
      coordinates.insert(0, lax.rem(left, size))
      left = lax.div(left, size)
    if naming == "dict":
      return dict(device_id={axis: c for (axis, _), c in zip(self.program.axes, coordinates)})
    return dict(device_id=tuple(coordinates))

  def away(self, shift: Any) -> Any:
    return lax.rem(self.me + shift, jnp.int32(self.n))

  def copy(self, step: Step, other: Any) -> Any:
    part = pl.ds(0, step.rows)
    return pltpu.make_async_remote_copy(
      self.slots.at[step.source, part],
      self.slots.at[step.target, part],
      self.sent,
      self.received,
      **self.device(other, step.naming),
    )

  def meet(self, step: Step | None = None) -> None:
    barrier = pltpu.get_barrier_semaphore()
    for other in range(self.n):
      pl.semaphore_signal(barrier, 1, device_id=jnp.int32(other), device_id_type=pl.DeviceIdType.LOGICAL)
    pl.semaphore_wait(barrier, self.n)

  def send(self, step: Step, *, add: bool = False) -> None:
    copy = self.copy(step, self.away(step.shift))
    copy.start(add=add)
    copy.wait()

  def add(self, step: Step) -> None:
    self.send(step, add=True)

  def scatter(self, step: Step) -> None:
    root = jnp.int32(step.shift)

    @pl.when(self.me == root)
    def _() -> None:
      for other in range(self.n):

        @pl.when(other != root)
        def _() -> None:
          copy = self.copy(step, jnp.int32(other))
          copy.start()
          copy.wait_send()

    @pl.when(self.me != root)
    def _() -> None:
      self.copy(step, root).wait_recv()

  def signal(self, step: Step, *, poll: bool = False) -> None:
    pl.semaphore_signal(self.counter, step.amount + self.me, **self.device(self.away(step.shift), step.naming))
    sender = self.away(self.n - step.shift)
    if poll:
      is_waiting = lambda _: pl.semaphore_read(self.counter) < step.amount + sender
      lax.while_loop(is_waiting, lambda n: n + 1, jnp.int32(0))
    pl.semaphore_wait(self.counter, step.amount + sender)
    self.slots[step.target, 0] += sender.astype(jnp.float32)

  def poll(self, step: Step) -> None:
    self.signal(step, poll=True)

  def compute(self, step: Step) -> None:
    self.slots[step.target] = self.slots[step.source] * 0.5 + self.slots[step.target] - step.amount

  def remote(self, step: Step) -> None:
    device = self.device(self.away(step.shift), "logical")
    value = plgpu.remote_ref(self.slots.at[step.source], *device.values())[...]
    self.meet()
    self.slots[step.target] = value

  def loop(self, step: Step) -> None:
    @pl.loop(0, step.times)
    def _(i: Any) -> None:
      self.send(step)
      self.slots[step.source, 1] += i.astype(jnp.float32)
      self.meet()


# A step of a table is a row: which of these it is, and the other fields of its `Step`.
VARIANTS = tuple(
  (kind, naming, rows) for kind in dict.fromkeys(KINDS) for naming in NAMINGS for rows in range(1, 1 + ROWS)
)
FIELDS = ("source", "target", "shift", "amount", "times")


class BodyOfTable(Body):
  """The kernel of any program of a mesh, whose steps are data."""

  def __call__(self, table_ref: Any, x_ref: Any, *refs: Any) -> None:
    self.table = table_ref
    super().__call__(x_ref, *refs)

  def steps(self) -> None:
    @pl.loop(0, self.table[0, 0])
    def _(number: Any) -> None:
      row = number + 1
      fields = {field: self.table[row, 1 + i] for i, field in enumerate(FIELDS)}

      def variant(kind: str, naming: str, rows: int) -> Any:
        return lambda: getattr(self, kind)(Step(kind, naming=naming, rows=rows, **fields))

      lax.switch(self.table[row, 0], [variant(*v) for v in VARIANTS])
      self.after(number)


def table_of(program: Program) -> np.ndarray:
  table = np.zeros((1 + MOST_STEPS, 1 + len(FIELDS)), np.int32)
  table[0, 0] = len(program.steps)
  for i, step in enumerate(program.steps):
    variant = VARIANTS.index((step.kind, step.naming, step.rows))
    table[i + 1] = variant, *(getattr(step, field) for field in FIELDS)
  return table


def compiled(axes: Axes, body: Body, interpret: Any, operands: int) -> Any:
  """A function of the whole array, behind `operands` that all devices have."""
  n = int(np.prod([size for _, size in axes]))
  mesh = Mesh(np.array(jax.devices("cpu")[:n]).reshape([size for _, size in axes]), tuple(axis for axis, _ in axes))
  spec = PartitionSpec(mesh.axis_names)

  def call(*xs: jax.Array) -> jax.Array:
    return pl.pallas_call(
      body,
      jax.ShapeDtypeStruct((SLOTS, ROWS, COLUMNS), jnp.float32),
      in_specs=[*[pl.BlockSpec(memory_space=pltpu.SMEM)] * operands, pl.BlockSpec((ROWS, COLUMNS), lambda: (0, 0))],
      scratch_shapes=[pltpu.VMEM((SLOTS, ROWS, COLUMNS), jnp.float32), DMA(()), DMA(()), REGULAR],
      compiler_params=pltpu.CompilerParams(collective_id=1),
      interpret=interpret,
    )(*xs)

  specs = (*[PartitionSpec()] * operands, spec)
  return jax.jit(jax.shard_map(call, mesh=mesh, in_specs=specs, out_specs=spec, check_vma=False))


@functools.cache
def of_tables(axes: Axes, simulated: bool) -> Any:
  return compiled(axes, BodyOfTable(Program(axes, ())), pltpu.InterpretParams() if simulated else False, 1)


def run(program: Program, *, simulated: bool, as_data: bool = False) -> np.ndarray:
  x = np.arange(program.devices * ROWS * COLUMNS, dtype=np.float32).reshape(-1, COLUMNS) % 31
  if as_data:
    return np.asarray(of_tables(program.axes, simulated)(table_of(program), x))
  return np.asarray(compiled(program.axes, Body(program), pltpu.InterpretParams() if simulated else False, 0)(x))


def check(count: int, seed: int, *, as_data: bool = False, axes: Axes | None = None, verbose: bool = False) -> int:
  """Draw programs and compare; gives how many were wrong."""
  wrong = 0
  for number in range(count):
    program = generate(np.random.default_rng([seed, number]), axes)
    found, expected = (run(program, simulated=simulated, as_data=as_data) for simulated in (False, True))
    if not np.array_equal(found, expected):
      wrong += 1
      print(f"seed {seed}, program {number} differs: {program}", flush=True)
    if number % 200 == 199 and not as_data:
      jax.clear_caches()
    if number % 50 == 49 and verbose:
      print(f"{number + 1} programs, {wrong} wrong", flush=True)
  return wrong


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--count", type=int, default=100)
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--as-data", action="store_true", help="steps as a table that one kernel reads, instead of code")
  options = parser.parse_args()
  wrong = check(options.count, options.seed, as_data=options.as_data, verbose=True)
  print(f"{options.count} random programs, {wrong} differ from the simulator")
  raise SystemExit(bool(wrong))


if __name__ == "__main__":
  main()
