"""The values attributes take: windows, slices, dimension labels, metadata, aliases and the like. All frozen.

`unknown` holds proto fields this version of Tilewright has no name for, byte for byte, so that nothing is lost on the
way back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.hlo.shape import ShapeIndex


@dataclass(frozen=True, slots=True)
class WindowDim:
  """One dimension of a window, as in `size=3 stride=2 pad=1_1 lhs_dilate=1 rhs_dilate=1 rhs_reversal=0`."""

  size: int
  stride: int = 1
  padding_low: int = 0
  padding_high: int = 0
  window_dilation: int = 1  # rhs_dilate
  base_dilation: int = 1  # lhs_dilate
  reversal: bool = False
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Window:
  dimensions: tuple[WindowDim, ...]
  unknown: bytes = b""

  def __iter__(self) -> Iterator[WindowDim]:
    return iter(self.dimensions)

  def __len__(self) -> int:
    return len(self.dimensions)


@dataclass(frozen=True, slots=True)
class ConvDims:
  """`dim_labels=b01f_01io->b01f`: which dimension of input, kernel and output plays which part."""

  input_batch: int
  input_feature: int
  input_spatial: tuple[int, ...]
  kernel_input_feature: int
  kernel_output_feature: int
  kernel_spatial: tuple[int, ...]
  output_batch: int
  output_feature: int
  output_spatial: tuple[int, ...]
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class TensorSparsity:
  """`{sparsity=2x4 dimension=1 stride=1 idx=2}`: 2 of 4 elements are there; operand 2 says which."""

  non_zero: int = 0
  block_size: int = 0
  dimension: int = 0
  stride: int = 0
  index: int = 0
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Sparsity:
  """`sparsity_config={lhs={…} rhs={…}}` of a convolution."""

  lhs: TensorSparsity | None = None
  rhs: TensorSparsity | None = None
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class TensorScale:
  """`{scale_idx=2}`: which operand holds the scales."""

  index: int = 0
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class BlockScaling:
  """`block_scaling_config={lhs={scale_idx=2} rhs={scale_idx=3}}` of a convolution."""

  lhs: TensorScale | None = None
  rhs: TensorScale | None = None
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class PaddingDim:
  """`low_high` or `low_high_interior`."""

  low: int
  high: int
  interior: int = 0
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class SliceDim:
  """`[start:limit:stride]`."""

  start: int
  limit: int
  stride: int = 1
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class OpMetadata:
  """Where an instruction comes from. Integers are 0 and strings empty where nothing is known."""

  op_type: str = ""
  op_name: str = ""
  source_file: str = ""
  source_line: int = 0
  source_end_line: int = 0
  source_column: int = 0
  source_end_column: int = 0
  profile_type: tuple[int, ...] = ()
  size_of_generated_code_in_bytes: int = 0
  size_of_memory_working_set_in_bytes: int = 0
  deduplicated_name: str = ""
  stack_frame_id: int = 0
  scheduling_name: str = ""
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class OutputAlias:
  """`{output_index}: (operand, {operand_index})` of `output_to_operand_aliasing`: these two share one buffer."""

  output_index: ShapeIndex
  operand: int
  operand_index: ShapeIndex
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class InputOutputAlias:
  """`{output_index}: (parameter, {parameter_index}, may-alias)` of a module's `input_output_alias`."""

  output_index: ShapeIndex
  parameter: int
  parameter_index: ShapeIndex = ()
  kind: str = "may-alias"  # or must-alias
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class BufferDonor:
  """`(parameter, {parameter_index})` of a module's `buffer_donor`."""

  parameter: int
  parameter_index: ShapeIndex = ()
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class OriginalArray:
  """The value of the program before optimisation to which a value corresponds: `"name" {index}`."""

  instruction_name: str
  shape_index: ShapeIndex = ()
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Original:
  """`origin={…}`: for each leaf of the shape the original array, or None where it is lost."""

  elements: tuple[tuple[ShapeIndex, OriginalArray | None], ...] = ()
  is_synthetic_call: bool = False  # `origin={[synthetic_call]}`
  call_hierarchy: str | None = None  # jax 0.11 on
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class Statistics:
  """`statistics={visualizing_index=0,stat-1=33.4,…}`."""

  visualizing_index: int
  values: tuple[tuple[str, float], ...] = ()
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class ResultAccuracy:
  """`result_accuracy={mode=highest}` or `{tolerance={atol=…,rtol=…,ulps=…}}`."""

  mode: str = "default"
  tolerance: tuple[float, float, int] | None = None  # atol, rtol, ulps
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class FileLocation:
  """Ids are positions in the tables, counted from 1."""

  file_name_id: int
  function_name_id: int
  line: int
  end_line: int = 0
  column: int = 0
  end_column: int = 0
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class StackFrame:
  """`parent_frame_id` is 0 for an outermost frame. (The text prints the stored id plus 1.)"""

  file_location_id: int
  parent_frame_id: int = 0
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class StackFrameIndex:
  """The FileNames, FunctionNames, FileLocations and StackFrames tables. `OpMetadata.stack_frame_id` points into it,
  from 1.
  """

  file_names: tuple[str, ...] = ()
  function_names: tuple[str, ...] = ()
  file_locations: tuple[FileLocation, ...] = ()
  stack_frames: tuple[StackFrame, ...] = ()
  unknown: bytes = b""

  def __bool__(self) -> bool:
    return bool(self.file_names or self.function_names or self.file_locations or self.stack_frames)


@dataclass(frozen=True, slots=True)
class DebugAttributes:
  """One logging request for an original array (jax 0.11 on)."""

  log_mode: str = "NONE"
  callback_id: int = 0
  op_id: int = 0
  partitioned: bool = False
  operands_sharding: str = ""
  x64_config: bytes = b""  # X64ConfigProto, as found
  unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class DebugEntry:
  """`debug_attributes`: what to log for one original array."""

  array: OriginalArray | None
  attributes: tuple[DebugAttributes, ...] = ()
  unknown: bytes = b""
