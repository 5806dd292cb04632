"""Block specs with transforms, and the parameters of kernels that are written for Mosaic GPU."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tilewright import errors
from tilewright.layout.transforms import Transform
from tilewright.pallas import nvgpu, specs
from tilewright.pallas.mosaic_gpu.memory import MemorySpace, SharedMemory
from tilewright.tile.grid import BlockDim, Buffered


class OOBFillMode(enum.IntEnum):
  """What a copy finds beyond the end of an array."""

  UNDEFINED = 0
  PROMISE_IN_BOUNDS = 1
  ZEROS = 2


@dataclasses.dataclass(unsafe_hash=True)
class BlockSpec(specs.BlockSpec):
  """As `pl.BlockSpec`, of a block that is copied to shared memory in the layout of `transforms`.

  In pipelines inside a kernel, a block is replaced `delay_release` steps later than it could be, and `oob_fill_mode` says what lies
  beyond the end of its array. The CTAs of a cluster along `collective_axes` take the same block in each step, and bring it to each other.
  Elsewhere these mean nothing.
  """

  block_shape: Sequence[BlockDim | int | None] | None = None
  index_map: Callable[..., Any] | None = None
  memory_space: Any = dataclasses.field(kw_only=True, default=None)
  pipeline_mode: Buffered | None = None
  transforms: Sequence[Transform] = ()
  delay_release: int = 0
  collective_axes: tuple[Hashable, ...] | None = None
  oob_fill_mode: OOBFillMode = OOBFillMode.ZEROS

  def __post_init__(self) -> None:
    super().__post_init__()
    self.transforms = tuple(self.transforms)
    if not self.transforms:
      return
    if self.memory_space not in (None, MemorySpace.SMEM, SharedMemory(tuple(self.transforms))):
      raise errors.MemorySpaceError(
        f"BlockSpec: transforms are for blocks in SMEM, got memory_space={self.memory_space}."
      )
    self.memory_space = SharedMemory(self.transforms)


class LoweringSemantics(enum.Enum):
  """What a kernel's instructions are for: here, always a whole CTA."""

  Lane = enum.auto()
  Warpgroup = enum.auto()


class TraceScope(enum.Enum):
  """What a profile of Mosaic GPU tells apart."""

  WARP = "warp"
  WARPGROUP = "warpgroup"


_SEMANTICS = {"sequential": "arbitrary"}


@dataclasses.dataclass(frozen=True)
class CompilerParams(nvgpu.CompilerParams):
  """Parameters of a kernel for NVIDIA GPUs, with the names that Mosaic GPU has for them. `dimension_semantics` are "parallel" or
  "sequential". With `profile_space` and `profile_dir`, each call on a GPU writes a trace of what its warpgroups did into the folder, of at
  most so many begins and ends of spans each (see `nvgpu.profile`). The others allow what this compiler decides by itself, and mean nothing.
  """

  approx_math: bool = False
  max_concurrent_steps: int = 1
  unsafe_no_auto_barriers: bool = False
  reduction_scratch_bytes: int = 2048
  profile_space: int = 0
  profile_dir: str = ""
  profile_trace_scope: TraceScope = TraceScope.WARPGROUP
  profile_bounds_check: bool = False
  lowering_semantics: LoweringSemantics = LoweringSemantics.Warpgroup
  skip_device_barrier: bool = False

  def __post_init__(self) -> None:
    if self.dimension_semantics is not None:
      named = tuple(_SEMANTICS.get(s, s) for s in self.dimension_semantics)
      object.__setattr__(self, "dimension_semantics", named)
    if bool(self.profile_space) != bool(self.profile_dir):
      raise errors.GridError(
        "CompilerParams: Either both profile_space and profile_dir must be set, or neither. "
        f"Got {self.profile_space} and {self.profile_dir!r}."
      )
    super().__post_init__()

  def replace(self, **changes: Any) -> CompilerParams:
    """The same with some parameters changed."""
    return dataclasses.replace(self, **changes)
