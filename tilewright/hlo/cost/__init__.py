"""The cost model: how long instructions take on a device."""

from __future__ import annotations

from tilewright.hlo.cost.collectives import ALGORITHMS, Algorithm, collective_time
from tilewright.hlo.cost.devices import DEVICES, LINKS, Device, HloDeviceError, Link, device
from tilewright.hlo.cost.model import Cost, CostModel, Measured, Roofline
from tilewright.hlo.cost.profile import HloProfileError, Overlap, Profile, read_profile
from tilewright.hlo.cost.work import Work, work

__all__ = [
  "ALGORITHMS",
  "DEVICES",
  "LINKS",
  "Algorithm",
  "Cost",
  "CostModel",
  "Device",
  "HloDeviceError",
  "HloProfileError",
  "Link",
  "Measured",
  "Overlap",
  "Profile",
  "Roofline",
  "Work",
  "collective_time",
  "device",
  "read_profile",
  "work",
]
