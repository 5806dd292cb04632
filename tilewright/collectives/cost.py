"""Which algorithm an all-reduce takes, and what others would cost: by size and topology.

On the CPU devices share one memory, and what counts is how often it is read and written:

    one_shot   g reads and 1 write of the array for each device
    two_shot   1 read and 1 write, and at least one chunk of work for each member
    ring       2 (g - 1) / g of both, and 2 (g - 1) hand-overs between threads

Between GPUs a step has the latency of its link (`hlo.cost.devices`), a kernel has its launch, and NCCL a protocol of its own before it:

    one_shot   every device reads all others: 1 step to say that inputs are there, 1 that they were read; g - 1 messages
    two_shot   2 steps more, 2 (g - 1) / g messages
    multimem   the switch adds: 2 steps, 2 messages whatever g is
    ring       2 (g - 1) steps, 2 (g - 1) / g messages
    nccl       the best of ring and tree, with the start of its protocol
"""

from __future__ import annotations

import dataclasses

from tilewright import errors
from tilewright.hlo.cost.collectives import collective_time
from tilewright.hlo.cost.devices import DEVICES, Device

_HOST_BANDWIDTH = 8e9  # bytes per second that one thread copies
_HANDOVER = 12e-6  # seconds until a thread that sleeps runs
_BODY = 2e-6  # seconds for each body of a gang
_NCCL_START = 8e-6  # seconds of a NCCL call before its first step
_SWITCHED = ("h100", "h200", "b200", "gb200")  # devices whose NVLink switches reduce


@dataclasses.dataclass(frozen=True)
class Topology:
  """Devices of one kind. `hardware` is "cpu" or a name of `tilewright.hlo.cost.DEVICES`."""

  hardware: str
  devices: int

  @property
  def device(self) -> Device | None:
    if self.hardware == "cpu":
      return None
    if self.hardware not in DEVICES:
      raise errors.CollectiveError(
        f"Topology: hardware: expected 'cpu' or one of {sorted(DEVICES)}, got {self.hardware!r}."
      )
    return DEVICES[self.hardware]


def _on_cpu(nbytes: float, g: int) -> dict[str, float]:
  pass_ = nbytes / _HOST_BANDWIDTH
  return {
    "one_shot": g * (g + 1) * pass_ + g * _BODY,
    "two_shot": 2 * g * pass_ + g * _BODY,
    "ring": 4 * (g - 1) * pass_ + 2 * (g - 1) * _HANDOVER,
  }


def _on_gpus(nbytes: float, topology: Topology, device: Device) -> dict[str, float]:
  g, link = topology.devices, device.scale_up
  groups = (tuple(range(g)),)
  found = {"nccl": _NCCL_START + collective_time("all-reduce", nbytes, groups, _without_one_shot(device)).seconds}
  if g > device.node:
    return found  # memory of other nodes is not mapped
  bandwidth, step = link.bandwidth, link.latency
  local = 2 * nbytes / (device.memory_bandwidth * device.memory_efficiency)
  found["one_shot"] = device.launch + 2 * step + (g - 1) * nbytes / bandwidth + local
  found["two_shot"] = device.launch + 4 * step + 2 * (g - 1) / g * nbytes / bandwidth + local
  found["ring"] = device.launch + 2 * (g - 1) * step + 2 * (g - 1) / g * nbytes / bandwidth
  if device.name in _SWITCHED:
    found["multimem"] = device.launch + 3 * step + nbytes / bandwidth
  return found


def _without_one_shot(device: Device) -> Device:
  """NCCL's ring and tree take more than one step inside a node: a node of one device leaves out what works only inside."""
  return device if device.node == 1 else device.replace(node=1, network=device.scale_up)


def predict(nbytes: float, topology: Topology) -> dict[str, float]:
  """Seconds that an all-reduce of so many bytes takes, by algorithm, the fastest first."""
  if topology.devices <= 1:
    return {"one_shot": 0.0}
  device = topology.device
  found = _on_cpu(nbytes, topology.devices) if device is None else _on_gpus(nbytes, topology, device)
  return dict(sorted(found.items(), key=lambda item: item[1]))


def choose(nbytes: float, devices: int) -> str:
  """The algorithm between CPU devices."""
  return next(iter(predict(nbytes, Topology("cpu", devices))))


def explain(nbytes: float, devices: int, hardware: str = "cpu") -> str:
  """What an all-reduce would take, and why: one line for each algorithm, the one that is taken first."""
  topology = Topology(hardware, devices)
  times = predict(nbytes, topology)
  best = next(iter(times))
  head = f"all_reduce of {nbytes:,.0f} bytes over {devices} {hardware} devices: {best}"
  rows = [f"  {name:9} {seconds * 1e6:12.1f} µs   {_REASONS[name]}" for name, seconds in times.items()]
  device = topology.device
  if device is not None and devices > device.node:
    rows.append(f"  (one_shot, two_shot and multimem map the memory of peers, which reaches {device.node} devices)")
  elif device is not None and device.name not in _SWITCHED:
    rows.append("  (multimem needs NVLink switches that reduce)")
  return "\n".join([head, *rows])


_REASONS = {
  "one_shot": "fewest steps; everyone reads everything",
  "two_shot": "everyone reduces a share and sends it to all",
  "ring": "least traffic per link; a step for every neighbour, twice",
  "multimem": "the switch reduces; not run here",
  "nccl": "through XLA; its own protocol starts first",
}
