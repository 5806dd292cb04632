"""What NVIDIA's architectures are like, as data.

PTX versions are the first that know the architecture; a driver reads every PTX up to its own version. Shared memory per block is what a
kernel may ask for at most (CUDA C programming guide, table of compute capabilities).
"""

from __future__ import annotations

import dataclasses

from tilewright import errors


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


def for_capability(major: int, minor: int) -> Arch:
  """The architecture of a device: the one with its capability, else the newest with the same major that is not newer."""
  fitting = [a for a in ARCHS.values() if a.capability[0] == major and a.capability[1] <= minor]
  if not fitting:
    raise errors.NativeCodeError(
      f"There is no code generation for GPUs of compute capability {major}.{minor}; there is for {', '.join(ARCHS)}. "
      "Use interpret=True."
    )
  return max(fitting, key=lambda a: a.capability)
