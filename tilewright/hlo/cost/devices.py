"""Devices and links as data: what the cost model knows about hardware.

    DEVICES["h100"].link("network").bandwidth      # bytes per second, one device, one direction
    device("h200").replace(memory=100e9)           # a device of your own

Peaks and bandwidths are those of the vendors' data sheets (dense, no sparsity), per device and direction. `matmul_efficiency` and
`memory_efficiency` say how much of a peak a good kernel reaches: on an H200, XLA's bf16 products reach 800 of 989 TFLOP/s and a copy
4.1 of 4.8 TB/s. Latencies are of one step of a collective, or of starting one copy. They are estimates where nothing was measured:
`calibrate` measures the present machine, `Measured` takes times from a profile.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright.hlo.errors import HloError


class HloDeviceError(HloError, ValueError):
  """A device or a link that is not in the tables, or a file that does not describe one."""


@dataclass(frozen=True, slots=True)
class Link:
  """A way between memories. A message of `b` bytes takes `latency + b / bandwidth`."""

  name: str
  bandwidth: float  # bytes per second, per device and direction
  latency: float  # seconds per step


LINKS: Mapping[str, Link] = {
  link.name: link
  for link in (
    Link("nvlink3", 250e9, 2.0e-6),  # 12 links of 25 GB/s; NCCL reaches about 5/6 of it
    Link("nvlink4", 375e9, 1.8e-6),  # 18 links of 25 GB/s
    Link("nvlink5", 750e9, 1.8e-6),  # 18 links of 50 GB/s
    Link("pcie4", 25e9, 10e-6),
    Link("pcie6", 108e9, 8e-6),
    Link("pcie5", 54e9, 8e-6),  # pinned memory of an H200's host: 53 to 55 GB/s
    Link("pcie5 peer", 50e9, 5e-6),  # from device to device, without the host
    Link("c2c", 200e9, 5e-6),  # NVLink-C2C, shared by the two GPUs of a superchip
    Link("ib200", 23e9, 8e-6),  # one 200 Gb/s adapter per device
    Link("ib400", 46e9, 7e-6),
    Link("ib800", 92e9, 7e-6),
    Link("shared memory", 8e9, 20e-6),  # devices of one process on a host
    Link("ethernet", 3e9, 40e-6),
  )
}


@dataclass(frozen=True, slots=True)
class Device:
  """One device and its place among others.

  `flops` has a row per element type that the matrix units support; other types run at `vector_flops`. `node` devices share
  `scale_up` links; groups that reach further use `network`. `host` is the link to host memory.
  """

  name: str
  flops: Mapping[str, float]  # of matrix products, by element type of the operands
  vector_flops: float
  memory_bandwidth: float
  memory: float  # bytes
  scale_up: Link
  network: Link
  host: Link
  node: int
  launch: float = 2e-6  # seconds from one kernel to the next
  matmul_efficiency: float = 0.8
  memory_efficiency: float = 0.85
  host_memory_space: int = 5  # the S(…) of layouts that live on the host
  # Fraction of an asynchronous computation that the main stream loses: all, if both need the same units.
  shared_compute: float = 1.0
  # The part of the device that a collective in flight takes from the main stream: SMs that copy and reduce. NCCL's rings take 16 to 24 SMs
  # of an H100's 132, in-switch reductions a few, copy engines none; 0 leaves it out.
  collective_share: float = 0.0
  # Switches between the devices of a node that reduce and multicast, and a library set up to use them (NVLS): opt in with
  # `device("h100").replace(multicast=True)`.
  multicast: bool = False
  # The host's cores, for computations on its thread.
  host_flops: float = 1e12
  host_memory_bandwidth: float = 2e11
  notes: Mapping[str, Any] = field(default_factory=dict)

  def link(self, name: str) -> Link:
    """`scale_up`, `network` or `host`."""
    found = {"scale_up": self.scale_up, "network": self.network, "host": self.host}
    if name not in found:
      raise HloDeviceError(f"a device has the links {', '.join(found)}; there is none called {name!r}")
    return found[name]

  def matmul_rate(self, element_type: str) -> float:
    return self.flops.get(element_type, self.vector_flops) * self.matmul_efficiency

  def replace(self, **changes: Any) -> Device:
    return dataclasses.replace(self, **changes)

  def to_json(self) -> str:
    return json.dumps(dataclasses.asdict(self), indent=2)

  @staticmethod
  def from_json(text: str) -> Device:
    try:
      fields = json.loads(text)
      links = {key: Link(**fields[key]) for key in ("scale_up", "network", "host")}
      return Device(**{**fields, **links})
    except (TypeError, KeyError, ValueError) as error:
      raise HloDeviceError(f"this does not describe a device: {type(error).__name__}: {error}") from error


def _tensor(tf32: float, bf16: float, fp8: float = 0.0, fp4: float = 0.0, f64: float = 0.0) -> dict[str, float]:
  """Peaks in TFLOP/s; XLA multiplies f32 as tf32 unless told otherwise."""
  rows = {"f32": tf32, "bf16": bf16, "f16": bf16, "s8": fp8 or 2 * bf16, "f64": f64, "f4e2m1fn": fp4}
  rows |= dict.fromkeys(("f8e4m3fn", "f8e5m2", "f8e4m3", "f8e3m4"), fp8)
  return {name: value * 1e12 for name, value in rows.items() if value}


def _link(name: str) -> Link:
  return LINKS[name]


DEVICES: Mapping[str, Device] = {
  row.name: row
  for row in (
    Device(
      "a100",
      _tensor(156, 312, f64=19.5),
      19.5e12,
      2.04e12,
      80e9,
      _link("nvlink3"),
      _link("ib200"),
      _link("pcie4"),
      8,
    ),
    Device("h100", _tensor(494, 989, 1979, f64=67), 67e12, 3.35e12, 80e9, _link("nvlink4"), _link("ib400"), _link("pcie5"), 8),
    Device("h200", _tensor(494, 989, 1979, f64=67), 67e12, 4.8e12, 141e9, _link("nvlink4"), _link("ib400"), _link("pcie5"), 8),
    Device("b200", _tensor(1100, 2250, 4500, 9000, 40), 75e12, 8e12, 180e9, _link("nvlink5"), _link("ib400"), _link("pcie5"), 8),
    Device("gb200", _tensor(1250, 2500, 5000, 10000, 45), 80e12, 8e12, 186e9, _link("nvlink5"), _link("ib400"), _link("c2c"), 72),
    Device("b300", _tensor(1100, 2500, 5000, 15000, 1.3), 77e12, 8e12, 288e9, _link("nvlink5"), _link("ib800"), _link("pcie6"), 8),
    Device("gb300", _tensor(1250, 2500, 5000, 15000, 1.3), 80e12, 8e12, 288e9, _link("nvlink5"), _link("ib800"), _link("c2c"), 72),
    Device(  # without NVLink: devices of a node communicate over PCIe
      "rtx-pro-6000",
      _tensor(252, 504, 1008, 2015, 1.97),
      126e12,
      1.79e12,
      96e9,
      _link("pcie5 peer"),
      _link("ib200"),
      _link("pcie5"),
      8,
    ),
    Device(  # two cores with AVX-512; `tilewright schedule --calibrate` measures the machine at hand
      "cpu",
      {"f32": 2.7e11, "bf16": 2.6e11, "f64": 1.3e11},
      4e10,
      2e10,
      16e9,
      _link("shared memory"),
      _link("ethernet"),
      _link("shared memory"),
      1024,
      launch=2e-6,
      memory_efficiency=1.0,
    ),
  )
}  # fmt: skip


def device(name: str | Device) -> Device:
  """A device by its name in the table, or from a JSON file that `calibrate` wrote."""
  if isinstance(name, Device):
    return name
  known = DEVICES.get(name.lower())
  if known is not None:
    return known
  path = pathlib.Path(name)
  if path.suffix == ".json" and path.is_file():
    return Device.from_json(path.read_text(encoding="utf-8"))
  raise HloDeviceError(
    f"there is no device called {name!r}; there are {', '.join(DEVICES)}, and JSON files that --calibrate writes"
  )


def steps_of_tree(devices: int) -> int:
  return math.ceil(math.log2(devices)) if devices > 1 else 0
