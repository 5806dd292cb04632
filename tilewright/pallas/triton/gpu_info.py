"""GPU information: the current GPU, and the product names of GPUs."""

from __future__ import annotations

import dataclasses
import enum

import jax

from tilewright import errors
from tilewright.runtime.pretend import pretended


class GpuVersion(enum.Enum):
  """GPUs by product, with the name the driver gives them."""

  T4 = "Tesla T4"
  A10 = "NVIDIA A10"
  A30 = "NVIDIA A30"
  A100 = "NVIDIA A100"
  L4 = "NVIDIA L4"
  L40 = "NVIDIA L40"
  RTX_4090 = "NVIDIA GeForce RTX 4090"
  H100 = "NVIDIA H100"
  H200 = "NVIDIA H200"
  GH200 = "NVIDIA GH200"
  B200 = "NVIDIA B200"
  GB200 = "NVIDIA GB200"
  B300 = "NVIDIA B300"
  GB300 = "NVIDIA GB300"
  THOR = "NVIDIA Thor"
  RTX_PRO_4500 = "NVIDIA RTX PRO 4500"
  RTX_PRO_5000 = "NVIDIA RTX PRO 5000"
  RTX_PRO_6000 = "NVIDIA RTX PRO 6000"
  GB10 = "NVIDIA GB10"

  def __str__(self) -> str:
    return self.value


# Compute capability (major * 10 + minor), from NVIDIA's table of CUDA GPUs.
_CAPABILITY: dict[GpuVersion, int] = {
  GpuVersion.T4: 75,
  GpuVersion.A10: 86,
  GpuVersion.A30: 80,
  GpuVersion.A100: 80,
  GpuVersion.L4: 89,
  GpuVersion.L40: 89,
  GpuVersion.RTX_4090: 89,
  GpuVersion.H100: 90,
  GpuVersion.H200: 90,
  GpuVersion.GH200: 90,
  GpuVersion.B200: 100,
  GpuVersion.GB200: 100,
  GpuVersion.B300: 103,
  GpuVersion.GB300: 103,
  GpuVersion.THOR: 110,
  GpuVersion.RTX_PRO_4500: 120,
  GpuVersion.RTX_PRO_5000: 120,
  GpuVersion.RTX_PRO_6000: 120,
  GpuVersion.GB10: 121,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class GpuInfo:
  """What is known of a GPU."""

  gpu_version: GpuVersion | None
  arch_name: str
  compute_capability: int


def is_gpu_device() -> bool:
  """Whether JAX's default device is a GPU, or is pretended to be one."""
  if (as_if := pretended()) is not None:
    return as_if.platform == "gpu"
  return jax.devices()[0].platform in ("gpu", "cuda", "rocm")


def get_gpu_info_from_version(gpu_version: GpuVersion) -> GpuInfo:
  """The facts about a GPU by its product name."""
  return _info(gpu_version, _CAPABILITY[gpu_version])


def _info(gpu_version: GpuVersion | None, capability: int) -> GpuInfo:
  return GpuInfo(
    gpu_version=gpu_version, arch_name=f"{capability // 10}.{capability % 10}", compute_capability=capability
  )


def get_gpu_info() -> GpuInfo:
  """The facts about JAX's default device, which must be a GPU."""
  device = jax.devices()[0]
  if not is_gpu_device():
    raise errors.DeviceKindError(
      f"get_gpu_info: Unsupported GPU device kind: {device.device_kind}. tilewright.pretend('h100') describes a GPU that is not installed."
    )
  # The driver adds details to the name ("NVIDIA H100 80GB HBM3"), so the longest match is meant.
  found = [v for v in GpuVersion if v.value in device.device_kind]
  if found:
    return get_gpu_info_from_version(max(found, key=lambda v: len(v.value)))
  major, minor = (int(part) for part in str(device.compute_capability).split("."))
  return _info(None, major * 10 + minor)
