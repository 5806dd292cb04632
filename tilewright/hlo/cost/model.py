"""Cost models: how long an instruction takes, and why.

    model = Roofline("h100", devices=1024)
    model.cost(dot)        Cost(seconds=1.4e-4, bound="compute", why="137 GFLOP at 791 TFLOP/s (bf16)")
    Measured({"dot.3": 1.5e-4}, otherwise=model)

A kernel takes the longest of: its operations at the device's rate, its bytes at the memory bandwidth, and the launch time.
An asynchronous operation is charged at its start; its done costs nothing. `Measured` answers with times from a profile or a table of
your own, by instruction name, and delegates other instructions to another model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tilewright.hlo.cost.collectives import carried, collective_time, message_bytes, participants, plain_opcode
from tilewright.hlo.cost.devices import Device, device
from tilewright.hlo.cost.work import FREE, Work, computation_flops, computation_traffic, work
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.opcodes import COLLECTIVES

HOST_THREAD = "host"
_CALLERS = frozenset({"while", "call", "conditional"})  # the scheduler adds up what they call


@dataclass(frozen=True, slots=True)
class Cost:
  """Seconds, what bounds them (`compute`, `memory`, `launch`, `link`, `measured` or `free`), and the arithmetic behind them."""

  seconds: float
  bound: str = "free"
  why: str = ""


class CostModel(Protocol):
  """The interface the scheduler uses to get times."""

  @property
  def device(self) -> Device: ...

  @property
  def devices(self) -> int | None: ...

  def cost(self, instruction: Instruction) -> Cost: ...


@dataclass(frozen=True)
class Roofline:
  """The analytic model of a named device. `devices` is how many run the program, if more than it targets."""

  of: str | Device = "h100"
  devices: int | None = None

  @property
  def device(self) -> Device:
    return device(self.of)

  def cost(self, instruction: Instruction) -> Cost:
    opcode = instruction.opcode
    if opcode in FREE or opcode in _CALLERS or opcode.endswith("-done"):
      return Cost(0.0)
    if opcode == "copy-start" or (opcode == "copy" and crosses_memories(instruction)):
      return self._between_memories(instruction)
    inner = carried(instruction)
    if inner.opcode in COLLECTIVES or inner.opcode in ("send", "recv"):
      return self._communication(instruction)
    if opcode == "async-start":
      return self._asynchronous(inner)
    return self._kernel(work(instruction))

  def _kernel(self, amount: Work) -> Cost:
    machine = self.device
    rate = machine.matmul_rate(amount.element_type)
    vector = (amount.flops - amount.matrix_flops) / machine.vector_flops
    compute = amount.matrix_flops / rate + vector
    bandwidth = machine.memory_bandwidth * machine.memory_efficiency
    memory = amount.bytes / bandwidth
    if max(compute, memory) < machine.launch:
      return Cost(machine.launch, "launch", f"less than one launch, {machine.launch * 1e6:.1f} µs")
    if compute >= memory:
      kind = f" ({amount.element_type})" if amount.matrix_flops else ""
      return Cost(
        compute, "compute", f"{amount.flops / 1e9:.4g} GFLOP at {amount.flops / compute / 1e12:.4g} TFLOP/s{kind}"
      )
    return Cost(memory, "memory", f"{amount.bytes / 1e6:.4g} MB at {bandwidth / 1e9:.4g} GB/s")

  def _between_memories(self, copy: Instruction) -> Cost:
    size, link = copy.operands[0].shape.byte_size, self.device.host
    if not crosses_memories(copy):
      return self._kernel(Work(bytes=2.0 * size))
    return Cost(link.latency + size / link.bandwidth, "link", f"{size / 1e6:.4g} MB on {link.name}")

  def _communication(self, instruction: Instruction) -> Cost:
    module = instruction.module or Module("")
    size = message_bytes(instruction)
    groups = participants(instruction, module, self.devices)
    taken = collective_time(plain_opcode(instruction), size, groups, self.device)
    if taken.seconds == 0.0:  # a group of one: a copy at most
      return self._kernel(Work(bytes=2 * size))
    return Cost(taken.seconds + self.device.launch, "link", f"{size / 1e6:.4g} MB, {taken.how}")

  def _asynchronous(self, inner: Instruction) -> Cost:
    computation = inner.parent
    if inner.opcode == "copy" and crosses_memories(inner):
      return self._between_memories(inner)
    if computation is not None and computation.execution_thread == HOST_THREAD:
      return self._on_host(computation)
    if computation is None:
      return self._kernel(work(inner))
    flops = computation_flops(computation)
    return self._kernel(dataclasses.replace(flops, bytes=computation_traffic(computation)))

  def _on_host(self, computation: Computation) -> Cost:
    """Computed by the host's cores: operations at their rate, bytes at the bandwidth of their memory."""
    machine = self.device
    called = [c for i in computation.instructions if i.opcode in _CALLERS for c in i.called_computations]
    flops = sum(computation_flops(c).flops for c in (computation, *called))
    size = sum(computation_traffic(c) for c in (computation, *called))
    seconds = max(flops / machine.host_flops, size / machine.host_memory_bandwidth, machine.host.latency)
    return Cost(seconds, "host", f"{flops / 1e9:.4g} GFLOP and {size / 1e6:.4g} MB on the host")


@dataclass(frozen=True)
class Measured:
  """Seconds by instruction name, from a profile (`read_profile`) or any other source; `otherwise` handles other instructions."""

  seconds: Mapping[str, float]
  otherwise: CostModel

  @property
  def device(self) -> Device:
    return self.otherwise.device

  @property
  def devices(self) -> int | None:
    return self.otherwise.devices

  def cost(self, instruction: Instruction) -> Cost:
    found = self.seconds.get(instruction.name)
    if found is None:
      return self.otherwise.cost(instruction)
    return Cost(found, "measured", "taken from a profile")


def crosses_memories(copy: Instruction) -> bool:
  """Whether a copy leads from one memory space to another."""
  before = copy.operands[0].shape
  after = copy.shape.tuple_shapes[0] if copy.opcode == "copy-start" else copy.shape
  if before.layout is None or after.layout is None:
    return False
  return before.layout.memory_space != after.layout.memory_space
