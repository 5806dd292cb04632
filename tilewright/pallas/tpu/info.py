"""What is known about each TPU generation, as data: one row per chip.

Capacities and rates are per TensorCore; `num_cores` says how many of them one JAX device has. A chip with two cores that
supports Megacore can be one device of two cores or two devices of one (a *split* chip).
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors

_KB, _MB = 1024, 1024 * 1024


class ChipVersion(enum.Enum):
  """A TPU chip.

  | chip           | TensorCores | lite | Megacore |
  |----------------|-------------|------|----------|
  | v2, v3         | 2           | no   | no       |
  | v4i, v5e, v6e  | 1           | yes  | no       |
  | v4, v5p        | 2           | no   | yes      |
  | 7, 7x, 8i      | 2           | no   | no       |
  | 8t             | 1           | no   | no       |
  """

  TPU_V2 = "v2"
  TPU_V3 = "v3"
  TPU_V4I = "v4i"
  TPU_V4 = "v4"
  TPU_V5E = "v5e"
  TPU_V5P = "v5p"
  TPU_V6E = "v6e"
  TPU_7 = "7"
  TPU_7X = "7x"
  TPU_8I = "8i"
  TPU_8T = "8t"

  def __str__(self) -> str:
    return self.value

  @property
  def is_lite(self) -> bool:
    return self in (ChipVersion.TPU_V4I, ChipVersion.TPU_V5E, ChipVersion.TPU_V6E)

  @property
  def num_physical_tensor_cores_per_chip(self) -> int:
    return 1 if self.is_lite or self is ChipVersion.TPU_8T else 2

  @property
  def supports_megacore(self) -> bool:
    return self in (ChipVersion.TPU_V4, ChipVersion.TPU_V5P)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SparseCoreInfo:
  """The SparseCores of a chip: cores, subcores of each, lanes of each subcore, and their memory."""

  num_cores: int
  num_subcores: int
  num_lanes: int
  vmem_capacity_bytes: int
  dma_granule_size_bytes: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class TpuInfo:
  """Facts about one TensorCore of a chip; multiply by `num_cores` for the device. Rates of 0 mean: not in hardware."""

  chip_version: ChipVersion
  generation: int
  num_cores: int
  num_lanes: int
  num_sublanes: int
  mxu_column_size: int
  num_mxus: int
  num_accumulators: int
  vmem_capacity_bytes: int
  cmem_capacity_bytes: int
  smem_capacity_bytes: int
  hbm_capacity_bytes: int
  mem_bw_bytes_per_second: int
  bf16_ops_per_second: int
  int8_ops_per_second: int
  fp8_ops_per_second: int
  int4_ops_per_second: int
  sparse_core: SparseCoreInfo | None = None

  @property
  def is_lite(self) -> bool:
    return self.chip_version.is_lite

  @property
  def is_megacore(self) -> bool:
    """Whether two physical TensorCores are one device."""
    return self.num_cores > 1

  @property
  def is_split_chip(self) -> bool:
    """Whether the chip has more TensorCores than this device."""
    return self.num_cores == 1 and self.chip_version.num_physical_tensor_cores_per_chip > 1

  def get_sublane_tiling(self, dtype: Any) -> int:
    """How many rows a tile of this dtype has in HBM. What XLA really does depends on its flags."""
    bits = _bitwidth(dtype)
    if bits == 16 and self.generation < 7:
      return self.num_sublanes  # older generations keep 16-bit arrays in tiles of 8 rows
    return self.num_sublanes * 32 // bits

  def is_matmul_supported(self, lhs_dtype: Any, rhs_dtype: Any) -> bool:
    """Whether the matrix unit takes these dtypes as they are."""
    lhs, rhs = jnp.dtype(lhs_dtype).name, jnp.dtype(rhs_dtype).name
    return any(lhs in left and rhs in right for left, right in _MATMUL_DTYPES[_matmul_family(self.chip_version)])


def _bitwidth(dtype: Any) -> int:
  dtype = jnp.dtype(dtype)
  if dtype == jnp.bool_:
    return 32  # a mask occupies a whole lane
  info = jnp.iinfo(dtype) if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo(dtype)
  return int(info.bits)


_WIDE = frozenset({"float32", "bfloat16"})
_V5_FLOAT = _WIDE | {"float8_e5m2", "float8_e4m3b11fnuz"}
_INT8 = frozenset({"int8", "uint8"})
_INT4 = frozenset({"int4", "uint4"})
_FP8 = frozenset({"float8_e4m3fn", "float8_e5m2"})

# For each family of matrix units: which left operands go with which right operands.
_MATMUL_DTYPES: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {
  "v2": ((frozenset({"float32"}), frozenset({"float32"})),),
  "v4": ((_WIDE, _WIDE | {"int8"}),),
  "v5": ((_V5_FLOAT, _V5_FLOAT), (_INT8, _INT8), (_INT4, _INT4)),
  "7": ((_WIDE, _WIDE | _FP8), (_FP8, _FP8)),
  "8i": ((_WIDE, _WIDE | _FP8 | _INT4), (_FP8, _FP8 | _INT4)),
  "8t": ((_WIDE, _WIDE | _FP8 | {"int4"}), (_FP8, _FP8 | {"int4"})),
}


def _matmul_family(chip: ChipVersion) -> str:
  match chip:
    case ChipVersion.TPU_V2 | ChipVersion.TPU_V3:
      return "v2"
    case ChipVersion.TPU_V4 | ChipVersion.TPU_V4I:
      return "v4"
    case ChipVersion.TPU_V5E | ChipVersion.TPU_V5P | ChipVersion.TPU_V6E:
      return "v5"
    case ChipVersion.TPU_7 | ChipVersion.TPU_7X:
      return "7"
  return chip.value


def _chip(
  chip: ChipVersion,
  generation: int,
  *,
  mxu: tuple[int, int],
  accumulators: int = 0,
  vmem: int,
  cmem: int = 0,
  smem: int = _MB,
  hbm: float,
  bandwidth: float,
  bf16: float,
  int8: float = 0,
  fp8: float = 0,
  int4: float = 0,
  sublanes: int = 8,
  sparse: tuple[int, int, int, int, int] | None = None,
) -> TpuInfo:
  """One row: HBM in GB, bandwidth in GB/s, rates in units of 10^12 operations per second."""
  return TpuInfo(
    chip_version=chip,
    generation=generation,
    num_cores=1,
    num_lanes=128,
    num_sublanes=sublanes,
    mxu_column_size=mxu[0],
    num_mxus=mxu[1],
    num_accumulators=accumulators,
    vmem_capacity_bytes=vmem,
    cmem_capacity_bytes=cmem,
    smem_capacity_bytes=smem,
    hbm_capacity_bytes=round(hbm * 10**9),
    mem_bw_bytes_per_second=round(bandwidth * 10**9),
    bf16_ops_per_second=round(bf16 * 10**12),
    int8_ops_per_second=round(int8 * 10**12),
    fp8_ops_per_second=round(fp8 * 10**12),
    int4_ops_per_second=round(int4 * 10**12),
    sparse_core=None
    if sparse is None
    else SparseCoreInfo(
      num_cores=sparse[0],
      num_subcores=sparse[1],
      num_lanes=sparse[2],
      vmem_capacity_bytes=sparse[3],
      dma_granule_size_bytes=sparse[4],
    ),
  )


# The numbers are what `get_tpu_info_for_chip` of jax 0.11.2 reports for each chip.
_V = ChipVersion
_CHIPS: dict[ChipVersion, TpuInfo] = {
  row.chip_version: row
  for row in (
    _chip(_V.TPU_V2, 2, mxu=(128, 1), vmem=16 * _MB, smem=16 * _KB, hbm=8, bandwidth=358, bf16=23),
    _chip(_V.TPU_V3, 3, mxu=(128, 2), vmem=16 * _MB, smem=16 * _KB, hbm=17.2, bandwidth=412.5, bf16=70),
    _chip(_V.TPU_V4I, 4, mxu=(128, 4), vmem=16 * _MB, cmem=134_000_000, hbm=8.59, bandwidth=614, bf16=137),
    _chip(_V.TPU_V4, 4, mxu=(128, 4), vmem=16 * _MB, cmem=67_000_000, hbm=17.2, bandwidth=615, bf16=137.5),
    _chip(_V.TPU_V5E, 5, mxu=(128, 4), vmem=128 * _MB, hbm=17.2, bandwidth=820, bf16=197, int8=394, int4=788),
    _chip(
      _V.TPU_V5P, 5, mxu=(128, 4), vmem=64 * _MB, hbm=51.5, bandwidth=1230, bf16=229.5, int8=459, int4=920,
      sparse=(4, 16, 8, 512 * _KB, 32),
    ),
    _chip(
      _V.TPU_V6E, 6, mxu=(256, 2), vmem=128 * _MB, hbm=34.4, bandwidth=1640, bf16=920, int8=1840, fp8=920, int4=3680,
      sparse=(2, 16, 8, 256 * _KB, 32),
    ),
    *(
      _chip(
        chip, 7, mxu=(256, 2), accumulators=128, vmem=64 * _MB, hbm=103, bandwidth=3700, bf16=1155, fp8=2300,
        sparse=(2, 16, 16, 512 * _KB, 32),
      )
      for chip in (_V.TPU_7, _V.TPU_7X)
    ),
    _chip(
      _V.TPU_8I, 8, mxu=(256, 2), accumulators=256, vmem=192 * _MB, hbm=154.5, bandwidth=4300, bf16=550.5, fp8=4404,
      sparse=(1, 4, 16, 512 * _KB, 64),
    ),
    _chip(
      _V.TPU_8T, 8, mxu=(256, 2), accumulators=256, vmem=128 * _MB, hbm=231, bandwidth=6400, bf16=996.1, int8=996.1,
      fp8=5976.9, int4=11953.8, sublanes=16, sparse=(2, 16, 16, 256 * _KB, 64),
    ),
  )
}  # fmt: skip

# How JAX names the devices.
_DEVICE_KINDS: dict[str, ChipVersion] = {
  "TPU v2": _V.TPU_V2,
  "TPU v3": _V.TPU_V3,
  "TPU v4 lite": _V.TPU_V4I,
  "TPU v4": _V.TPU_V4,
  "TPU v5 lite": _V.TPU_V5E,
  "TPU v5e": _V.TPU_V5E,
  "TPU v5": _V.TPU_V5P,
  "TPU v5p": _V.TPU_V5P,
  "TPU v6 lite": _V.TPU_V6E,
  "TPU v6e": _V.TPU_V6E,
  "TPU7": _V.TPU_7,
  "TPU7x": _V.TPU_7X,
  "TPU8i": _V.TPU_8I,
  "TPU8t": _V.TPU_8T,
}


def get_tpu_info_for_chip(chip_version: ChipVersion, num_tensor_cores_per_logical_device: int) -> TpuInfo:
  """The facts about a chip of which one JAX device has this many TensorCores."""
  chip = ChipVersion(chip_version)
  if num_tensor_cores_per_logical_device != 1 and not chip.supports_megacore:
    raise errors.DeviceKindError(
      f"get_tpu_info_for_chip: num_tensor_cores_per_logical_device must be 1 for {chip.name}, which has no Megacore mode, got "
      f"{num_tensor_cores_per_logical_device}."
    )
  return dataclasses.replace(_CHIPS[chip], num_cores=num_tensor_cores_per_logical_device)


def _device() -> tuple[str, int | None]:
  """Kind and number of cores of the device the code is for: that of the abstract mesh in force, else the first real one."""
  mesh = jax.sharding.get_abstract_mesh()
  abstract = None if mesh.empty else getattr(mesh, "abstract_device", None)
  if abstract is not None:
    return abstract.device_kind, abstract.num_cores
  device = jax.devices()[0]
  return device.device_kind, getattr(device, "num_cores", None)


def get_tpu_info() -> TpuInfo:
  """The facts about the TPU that this process, or the abstract mesh in force, uses."""
  kind, cores = _device()
  if kind not in _DEVICE_KINDS:
    raise errors.DeviceKindError(
      f"get_tpu_info: the device is {kind!r}, not a TPU. Name one: get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5E, 1); or pretend "
      "to have one, with tilewright.pretend('v5e') or TILEWRIGHT_PRETEND=v5e; or trace under jax.sharding.use_abstract_mesh with a mesh of "
      "abstract TPU devices."
    )
  return dataclasses.replace(_CHIPS[_DEVICE_KINDS[kind]], num_cores=cores or 1)


def is_tpu_device() -> bool:
  """Whether the device, or the abstract mesh in force, is a TPU."""
  return _device()[0] in _DEVICE_KINDS
