"""Descriptions of NVIDIA's architectures, as data.

An architecture's PTX version is the first that supports it, which every driver for such a device accepts: code compiled without a device
uses that one. For a device it is the newest that both LLVM emits and the driver accepts (`ptx_version`). Shared memory per block is the
maximum that a kernel may request (CUDA C programming guide, table of compute capabilities). `tensor_cores` has what they multiply.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright import errors

WGMMA, MMA, FMA = "wgmma", "mma", "fma"  # ways to multiply matrices
# Multiply-adds of 16-bit numbers that an SM does in a cycle, from the data sheets; 8-bit ones go twice as fast.
_RATES: dict[str, dict[str, int]] = {
  "sm_80": {MMA: 1024},
  "sm_86": {MMA: 512},
  "sm_89": {MMA: 512},
  "sm_90a": {MMA: 1024, WGMMA: 2048},
  "sm_100a": {MMA: 1024},
  "sm_103a": {MMA: 1024},
  "sm_120a": {MMA: 512},
  "sm_121a": {MMA: 512},
}


@dataclasses.dataclass(frozen=True)
class Arch:
  """An architecture as a code generator sees it."""

  name: str
  ptx: int  # 86 is PTX ISA 8.6
  shared_bytes: int  # a block's most
  has_wgmma: bool = False
  has_tma: bool = False
  has_tensor_memory: bool = False

  @property
  def has_stmatrix(self) -> bool:
    return self.capability >= (9, 0)

  @property
  def has_clusters(self) -> bool:
    """Whether the CTAs of a cluster access each other's shared memory, and TMA brings them what they share (multicast)."""
    return self.has_tma and not self.name.startswith("sm_12")

  @property
  def has_own_copies(self) -> bool:
    """Whether what TMA is asked for can be said to be for the block's own shared memory (PTX 8.6). On sm_120 that matters: for
    memory of a cluster, ptxas writes a test whose it is, and a call, around each copy."""
    return self.capability >= (10, 0)

  @property
  def has_register_exchange(self) -> bool:
    """Whether warpgroups can give registers to each other (setmaxnreg)."""
    return self.has_tma and self.name.endswith("a")

  @property
  def rates(self) -> dict[str, int]:
    """How fast tensor cores multiply, by way."""
    return _RATES[self.name]

  @property
  def capability(self) -> tuple[int, int]:
    digits = self.name.removeprefix("sm_").rstrip("af")
    return int(digits[:-1]), int(digits[-1])


_KIB = 1024
ARCHS: dict[str, Arch] = {
  a.name: a
  for a in (
    Arch("sm_80", 70, 163 * _KIB),
    Arch("sm_86", 71, 99 * _KIB),
    Arch("sm_89", 78, 99 * _KIB),
    Arch("sm_90a", 80, 227 * _KIB, has_wgmma=True, has_tma=True),
    Arch("sm_100a", 86, 227 * _KIB, has_tma=True, has_tensor_memory=True),
    Arch("sm_103a", 88, 227 * _KIB, has_tma=True, has_tensor_memory=True),
    Arch("sm_120a", 87, 99 * _KIB, has_tma=True),
    Arch("sm_121a", 88, 99 * _KIB, has_tma=True),
  )
}


def named(name: str) -> Arch:
  if name not in ARCHS:
    raise errors.NativeCodeError(f"arch: expected one of {', '.join(ARCHS)}, got {name!r}.")
  return ARCHS[name]


# The newest PTX a driver reads, by the version of CUDA it is of (PTX ISA, release notes). Between two entries the lower one holds.
_DRIVER_PTX: dict[int, int] = {
  11000: 70, 11010: 71, 11020: 72, 11030: 73, 11040: 74, 11050: 75, 11060: 76, 11070: 77, 11080: 78,
  12000: 80, 12010: 81, 12020: 82, 12030: 83, 12040: 84, 12050: 85, 12070: 86, 12080: 87, 12090: 88,
  13000: 90, 13010: 91,
}  # fmt: skip

# The newest PTX that LLVM's NVPTX back end writes, by LLVM's major version, as found by asking it for each.
_LLVM_PTX: dict[int, int] = {20: 87, 22: 90}


def _at_most(table: dict[int, int], version: int) -> int:
  """The entry of the newest version that is not newer; of the oldest if all are."""
  return table[max((known for known in table if known <= version), default=min(table))]


def ptx_version(arch: Arch, driver: int, llvm: int) -> int:
  """The PTX for a device whose driver is of a version of CUDA (13000 is 13.0), by a major version of LLVM."""
  readable, writable = _at_most(_DRIVER_PTX, driver), _at_most(_LLVM_PTX, llvm)
  for limit, whose in (
    (readable, f"the driver (CUDA {driver // 1000}.{driver % 1000 // 10})"),
    (writable, f"LLVM {llvm}"),
  ):
    if limit < arch.ptx:
      raise errors.NativeCodeError(
        f"{arch.name} needs PTX {arch.ptx // 10}.{arch.ptx % 10}, but {whose} only knows up to {limit // 10}.{limit % 10}. "
        "Install a newer one, or use interpret=True."
      )
  return min(readable, writable)


def for_capability(major: int, minor: int) -> Arch:
  """The architecture of a device: the one with its capability, else the newest before it with the same major, whose code it runs too.

  Code for names that end in "a" runs on that very architecture only.
  """
  own = (major, minor)
  fitting = [
    a
    for a in ARCHS.values()
    if a.capability == own or (a.capability[0] == major and a.capability < own and not a.name.endswith("a"))
  ]
  if not fitting:
    raise errors.NativeCodeError(
      f"There is no code generation for GPUs of compute capability {major}.{minor}; there is for {', '.join(ARCHS)}. "
      "Use interpret=True."
    )
  return max(fitting, key=lambda a: a.capability)


@dataclasses.dataclass(frozen=True)
class Family:
  """Devices of a process that run the same code, by their numbers, and the architecture of that code."""

  devices: tuple[int, ...]
  arch: Arch

  @property
  def assembling(self) -> int:
    """The device to assemble code for."""
    return self.devices[0]


def families(
  capabilities: Sequence[tuple[int, int]], driver: int, llvm: int
) -> tuple[tuple[Family, ...], dict[int, str]]:
  """The devices of a process by the code they run; and, of the others, why there is none for them.

  Code of an earlier minor version runs on later ones, unless it uses what only that very architecture has (names that end in "a").
  """
  if not capabilities:
    raise errors.NativeCodeError("The CUDA driver sees no device. Use interpret=True.")
  alike: dict[tuple[int, ...], list[int]] = {}
  without: dict[int, str] = {}
  for device, capability in enumerate(capabilities):
    try:
      arch = for_capability(*capability)
      ptx_version(arch, driver, llvm)
    except errors.NativeCodeError as e:
      without[device] = str(e)
    else:
      alike.setdefault(capability if arch.name.endswith("a") else capability[:1], []).append(device)
  found = []
  for numbers in alike.values():
    numbers.sort(key=lambda device: (capabilities[device], device))
    arch = for_capability(*capabilities[numbers[0]])
    shared_bytes = min(for_capability(*capabilities[device]).shared_bytes for device in numbers)
    ptx = ptx_version(arch, driver, llvm)
    found.append(Family(tuple(numbers), dataclasses.replace(arch, ptx=ptx, shared_bytes=shared_bytes)))
  if not found:
    raise errors.NativeCodeError(without[0])
  return tuple(found), without
