"""The TPU compiler parameters of a kernel. On other devices most of them have no effect, and none is an error."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from tilewright import errors
from tilewright.runtime.user_line import names_line


class GridDimensionSemantics(enum.Enum):
  """In which order the steps of a grid dimension may run, and whether cores may share them."""

  PARALLEL = "parallel"
  CORE_PARALLEL = "core_parallel"
  SUBCORE_PARALLEL = "subcore_parallel"
  ARBITRARY = "arbitrary"


PARALLEL = GridDimensionSemantics.PARALLEL
CORE_PARALLEL = GridDimensionSemantics.CORE_PARALLEL
SUBCORE_PARALLEL = GridDimensionSemantics.SUBCORE_PARALLEL
ARBITRARY = GridDimensionSemantics.ARBITRARY

DimensionSemantics: TypeAlias = (
  Literal["parallel", "core_parallel", "subcore_parallel", "arbitrary"] | GridDimensionSemantics
)


def canonical_semantics(semantics: Sequence[Any], argument: str) -> tuple[GridDimensionSemantics, ...]:
  """The enum members that a user's strings or members stand for."""
  try:
    return tuple(s if isinstance(s, GridDimensionSemantics) else GridDimensionSemantics(s) for s in semantics)
  except ValueError:
    known = [s.value for s in GridDimensionSemantics]
    raise errors.GridError(
      f"{argument}: expected one of {known} for each grid dimension, got {tuple(semantics)}."
    ) from None


class SideEffectType(enum.Enum):
  """Whether a call may be merged with an equal one, and removed if its outputs are unused: both, only removed, or neither."""

  PURE = "pure"
  DATAFLOW_SIDE_EFFECTING = "dataflow_side_effecting"
  SIDE_EFFECTING = "side_effecting"

  def __bool__(self) -> bool:
    return self is not SideEffectType.PURE  # so that `has_side_effects` reads the same as a bool and as a member


class Tiling(enum.Enum):
  """How arrays are tiled in HBM: for the vector unit of a TensorCore, or for a SparseCore."""

  COMPACT = 1
  SPARSE_CORE = 2

  @property
  def shape(self) -> tuple[int, ...]:
    return (8, 128) if self is Tiling.COMPACT else (8,)


class OptLevel(enum.Enum):
  """How hard the SparseCore compiler tries."""

  O0 = 0
  O1 = 1
  O2 = 2
  O3 = 3


@dataclasses.dataclass(frozen=True)
class CompilerParams:
  """Parameters of the TPU compiler.

  Attributes:
    dimension_semantics: for each grid dimension, whether its steps may run in any order ("parallel") or not ("arbitrary"). A first
      dimension that is parallel and of size 2, before arbitrary ones, stands for the two cores of a megacore: scalars that are prefetched
      and that the kernel writes begin anew with its second step, since each core has its own.
    allow_input_fusion: for each argument, whether the computation of it may be fused into the kernel.
    vmem_limit_bytes: how much VMEM the kernel may use.
    collective_id: names the barrier semaphore of a kernel that communicates with other devices; see `get_barrier_semaphore`.
    has_side_effects: a bool or a `SideEffectType`; True keeps the call even if its outputs are unused.
    flags: compiler flags.
    internal_scratch_in_bytes: memory set aside for the compiler's own use.
    serialization_format: the version of the serialised kernel.
    disable_bounds_checks: leave out bounds checks.
    disable_semaphore_checks: leave out the check that semaphores end at zero.
    skip_device_barrier: leave out the barrier between devices before the kernel.
    allow_collective_id_without_custom_barrier: accept a `collective_id` in a kernel that has no barrier.
    shape_invariant_numerics: results do not depend on how arrays are cut.
    use_tc_tiling_on_sc: use the TensorCore's tiling in SparseCore kernels.
    needs_layout_passes: infer vector layouts.
    fuse_transposed_lhs_in_matmul: hint to transpose the left operand inside the matrix unit.
    opt_level: how hard the SparseCore compiler tries.
  """

  dimension_semantics: Sequence[DimensionSemantics] | None = None
  allow_input_fusion: Sequence[bool] | None = None
  vmem_limit_bytes: int | None = None
  collective_id: int | None = None
  has_side_effects: bool | SideEffectType = False
  flags: Mapping[str, Any] | None = None
  internal_scratch_in_bytes: int | None = None
  serialization_format: int = 1
  disable_bounds_checks: bool = False
  disable_semaphore_checks: bool = False
  skip_device_barrier: bool = False
  allow_collective_id_without_custom_barrier: bool = False
  shape_invariant_numerics: bool = True
  use_tc_tiling_on_sc: bool | None = None
  needs_layout_passes: bool = True
  fuse_transposed_lhs_in_matmul: bool = False
  opt_level: OptLevel | None = None

  BACKEND = "mosaic_tpu"

  @names_line
  def __post_init__(self) -> None:
    # The parameters are part of the call's static arguments, so everything in them must be hashable.
    if self.dimension_semantics is not None:
      semantics = tuple(self.dimension_semantics)
      canonical_semantics(semantics, "CompilerParams: dimension_semantics")
      object.__setattr__(self, "dimension_semantics", semantics)
    if self.allow_input_fusion is not None:
      object.__setattr__(self, "allow_input_fusion", tuple(self.allow_input_fusion))
    if self.flags is not None:
      object.__setattr__(self, "flags", _Flags(self.flags))

  def replace(self, **changes: Any) -> CompilerParams:
    return dataclasses.replace(self, **changes)


class _Flags(dict[str, Any]):
  """A dict that is not to be changed, and so can be hashed."""

  def __hash__(self) -> int:  # type: ignore[override]
    return hash(tuple(sorted((k, str(v)) for k, v in self.items())))
