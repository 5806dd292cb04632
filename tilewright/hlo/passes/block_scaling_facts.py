"""Target facts for the pass `block_scaling`, as data: versions of the library, and limits of on-chip memory."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from tilewright import errors
from tilewright.hlo.passes.base import HloPassError

# What the library can do, from which version on.
LIBRARY_SINCE: dict[str, tuple[int, int]] = {
  "block-scaled dot": (9, 10),
  "global scale inside": (9, 13),  # before that it is multiplied afterwards
}


@dataclass(frozen=True)
class Limits:
  """Tensor memory in columns of 128 lanes x 32 bits, shared memory in bytes per CTA."""

  tensor_columns: int
  shared_bytes: int


# By the major part of the compute capability. Tensor memory: 512 columns per SM of the 10.x family; 12.x has none.
LIMITS: dict[int, Limits] = {9: Limits(0, 227 << 10), 10: Limits(512, 227 << 10), 12: Limits(0, 99 << 10)}


@dataclass(frozen=True)
class Facts:
  """The target of one run of the pass."""

  platform: str
  compute_capability: float
  cudnn: str
  tile_n: int = 128
  stages: int = 4

  def __str__(self) -> str:
    return f"{self.platform} {self.compute_capability}" if self.platform == "cuda" else self.platform

  @property
  def cudnn_version(self) -> tuple[int, int]:
    """Of "9.13.0", or of the one number that the library itself gives: 91300, and 8907 before version 9."""
    numbers = [int(part) if part.isdecimal() else -1 for part in self.cudnn.split(".")] if self.cudnn else [0]
    if min(numbers) < 0:
      raise HloPassError(f"block_scaling: cudnn must be a version such as 9.13.0, got {self.cudnn!r}")
    if len(numbers) == 1 and numbers[0] >= 1000:
      of_major = 10000 if numbers[0] >= 90000 else 1000
      numbers = [numbers[0] // of_major, numbers[0] % of_major // 100]
    major, minor = [*numbers, 0][:2]
    return major, minor

  def library_has(self, what: str) -> bool:
    return self.cudnn_version >= LIBRARY_SINCE[what]

  @property
  def limits(self) -> Limits:
    return LIMITS.get(int(self.compute_capability), Limits(0, 48 << 10))


@dataclass(frozen=True)
class Tile:
  """The tile of a native kernel: 128 rows by n columns, 128 bytes of each operand along k at a time, in several stages."""

  n: int
  stages: int
  k_bytes: int = 128
  scale_columns: int = 4  # of tensor memory, for each 32 rows of 128 bytes of elements

  @property
  def tensor_columns(self) -> int:
    """Two accumulators of n columns, so that one is stored while the other is computed, and the scales of both operands."""
    return 2 * self.n + self.scale_columns * (128 + self.n) // 128

  @property
  def shared_bytes(self) -> int:
    return self.stages * (128 + self.n) * (self.k_bytes + self.k_bytes // 16)


def check_resources(facts: Facts, tile: Tile) -> None:
  """Refuses a tile that does not fit, with the sizes and what to lower."""
  limits = facts.limits
  fits = [n for n in range(tile.n, 0, -8) if dataclasses.replace(tile, n=n).tensor_columns <= limits.tensor_columns]
  if tile.tensor_columns > limits.tensor_columns:
    raise errors.ResourceExhaustedError(
      f"Resource exhausted: a tile of 128 x {tile.n} needs {tile.tensor_columns} columns of tensor memory, and {facts} has "
      f"{limits.tensor_columns}. Lower tile_n to {fits[0] if fits else 'less'}."
    )
  if tile.shared_bytes > limits.shared_bytes:
    stages = limits.shared_bytes * tile.stages // tile.shared_bytes
    raise errors.ResourceExhaustedError(
      f"Resource exhausted: {tile.stages} stages of a 128 x {tile.n} tile need {tile.shared_bytes:,} bytes of shared memory, and {facts} "
      f"has {limits.shared_bytes:,}. Lower stages to {stages}, or tile_n."
    )
