"""Which field of HloInstructionProto holds which attribute, and what a missing field means.

proto3 does not write zeros, so whether `index=0` is there depends on the opcode: `REQUIRED` lists the attributes each
opcode always has. Reading and writing share these tables.
"""

from __future__ import annotations

from typing import Any

from tilewright.hlo.values import BlockScaling, ConvDims, Sparsity, Window

INT_ATTRS: dict[int, str] = {
  18: "exponent_bits",
  19: "mantissa_bits",
  25: "feature_index",
  26: "channel_id",
  66: "delta",
  81: "k",
  95: "num_carries",
  13: "index",
  50: "feature_group_count",
  58: "batch_group_count",
}
BOOL_ATTRS: dict[int, str] = {
  47: "is_host_transfer",
  60: "is_stable",
  65: "custom_call_has_side_effect",
  67: "indices_are_sorted",
  69: "unique_indices",
  71: "use_global_device_ids",
  85: "largest",
  89: "is_composite",
  94: "is_reverse",
}
STRING_ATTRS: dict[int, str] = {
  11: "kind",
  22: "outfeed_config",
  27: "infeed_config",
  28: "custom_call_target",
  63: "direction",
  79: "async_execution_thread",
}
LIST_ATTRS: dict[int, str] = {32: "fft_length", 34: "slice_sizes"}
ENUM_ATTRS: dict[int, tuple[str, tuple[str, ...]]] = {
  23: ("distribution", ("rng_invalid", "rng_uniform", "rng_normal")),
  31: ("fft_type", ("FFT", "IFFT", "RFFT", "IRFFT")),
  70: ("algorithm", ("rng_default", "rng_three_fry", "rng_philox")),
  75: ("padding_type", ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")),
  76: ("schedule", ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")),
  77: (
    "api_version",
    (
      "API_VERSION_UNSPECIFIED",
      "API_VERSION_ORIGINAL",
      "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED",
      "API_VERSION_TYPED_FFI",
    ),
  ),
  97: ("convolution_kind", ("unset", "fprop", "dgrad", "wgrad")),
}
MESSAGE_ATTRS: dict[int, tuple[str, Any]] = {15: ("window", Window), 16: ("dim_labels", ConvDims)}
# Written, empty, with every convolution: only what says something is an attribute.
CONFIG_ATTRS: dict[int, tuple[str, Any]] = {
  98: ("sparsity_config", Sparsity),
  101: ("block_scaling_config", BlockScaling),
}

# Messages that only group lists and numbers: field number → attribute, per message.
DOT_DIMS: dict[int, str] = {
  1: "lhs_contracting_dims",
  2: "rhs_contracting_dims",
  3: "lhs_batch_dims",
  4: "rhs_batch_dims",
}
GATHER_DIMS: dict[int, str] = {
  1: "offset_dims",
  2: "collapsed_slice_dims",
  3: "start_index_map",
  5: "operand_batching_dims",
  6: "start_indices_batching_dims",
}
SCATTER_DIMS: dict[int, str] = {
  1: "update_window_dims",
  2: "inserted_window_dims",
  3: "scatter_dims_to_operand_dims",
  5: "input_batching_dims",
  6: "scatter_indices_batching_dims",
}
# Batching dimensions are left out of attrs where there are none, as in the text.
OPTIONAL_DIMS = frozenset(
  {
    "operand_batching_dims",
    "start_indices_batching_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "lhs_batch_dims",
    "rhs_batch_dims",
    "lhs_contracting_dims",
    "rhs_contracting_dims",
  }
)
TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
PRECISIONS = ("default", "high", "highest")
ALGORITHMS = (
  "",
  "dot_any_f8_any_f8_f32",
  "dot_any_f8_any_f8_f32_fast_accum",
  "dot_f16_f16_f16",
  "dot_f16_f16_f32",
  "dot_bf16_bf16_bf16",
  "dot_bf16_bf16_f32",
  "dot_bf16_bf16_f32_x3",
  "dot_bf16_bf16_f32_x6",
  "dot_tf32_tf32_f32",
  "dot_tf32_tf32_f32_x3",
  "dot_f32_f32_f32",
  "dot_f64_f64_f64",
  "dot_bf16_bf16_f32_x9",
)
ALIAS_KINDS = ("undefined-alias", "may-alias", "must-alias")

HAS_DIMENSIONS = frozenset(
  [
    "all-gather",
    "all-gather-start",
    "broadcast",
    "concatenate",
    "get-dimension-size",
    "map",
    "reduce",
    "reduce-scatter",
    "reverse",
    "scan",
    "set-dimension-size",
    "sort",
    "transpose",
  ]
)
REQUIRED: dict[str, dict[str, Any]] = {
  **{opcode: {"dimensions": ()} for opcode in HAS_DIMENSIONS},
  "get-tuple-element": {"index": 0},
  "reduce-precision": {"exponent_bits": 0, "mantissa_bits": 0},
  "batch-norm-training": {"epsilon": 0.0, "feature_index": 0},
  "batch-norm-inference": {"epsilon": 0.0, "feature_index": 0},
  "batch-norm-grad": {"epsilon": 0.0, "feature_index": 0},
  "rng-get-and-update-state": {"delta": 0},
  "rng-bit-generator": {"algorithm": "rng_default"},
  "topk": {"k": 0, "largest": False},
  "fft": {"fft_type": "FFT", "fft_length": ()},
  "slice": {"slice": ()},
  "dynamic-slice": {"dynamic_slice_sizes": ()},
  "pad": {"padding": ()},
  "gather": {"slice_sizes": ()},
  "custom-call": {"custom_call_target": ""},
  "parameter": {"parameter_number": 0},
  "collective-permute": {"source_target_pairs": ()},
  "collective-permute-start": {"source_target_pairs": ()},
  "scan": {"dimensions": (), "num_carries": 0},
}
# One attribute for the whole list of called computations, by opcode; the others are in `called_attrs`.
TO_APPLY = frozenset(
  [
    "all-reduce",
    "all-reduce-start",
    "call",
    "collective-reduce",
    "map",
    "reduce",
    "reduce-scatter",
    "reduce-window",
    "scan",
    "scatter",
    "sort",
  ]
)
HAS_GROUP_COUNTS = frozenset({"convolution", "custom-call"})
HAS_PRECISION = frozenset({"convolution", "custom-call", "dot", "ragged-dot", "scaled-dot"})


def default_comparison(element_type_kind: str) -> str:
  """The `type` a compare has when the text does not say."""
  if element_type_kind in ("float", "complex"):
    return "FLOAT"
  return "SIGNED" if element_type_kind == "signed" else "UNSIGNED"
