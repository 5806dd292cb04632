"""The attributes of instructions: name in the text, and the Python type of the value in `Instruction.attrs`.

One row per attribute. The kind decides how the text is read and printed and what the value is:

    int         int                                float       float
    bool        bool                               string      str, quoted in the text
    ints        tuple[int, ...], `{0,1}`           bools       tuple[bool, ...], `{true,false}`
    word        str, a bare word (`LT`, `kLoop`)   words       tuple[str, ...], `{highest,default}`
    computation Computation                        computations tuple[Computation, ...]
    shape       Shape                              shapes      tuple[Shape, ...], `{f32[2]{0}, f32[]}`
    window      values.Window                      dim_labels  values.ConvDims
    sparsity    values.Sparsity                    block_scaling  values.BlockScaling
    padding     tuple[values.PaddingDim, ...]      slices      tuple[values.SliceDim, ...]
    groups      groups.ReplicaGroups               pairs       tuple[tuple[int, int], ...], `{{0,1},{1,0}}`
    aliases     tuple[values.OutputAlias, ...]     literal     literal.Literal
    accuracy    values.ResultAccuracy              domain      sharding.Domain
    int_lists   tuple[tuple[int, ...], ...]

Attributes that every opcode may carry are fields of `Instruction` and have no row: metadata, sharding, frontend_attributes,
backend_config, origin, statistics, control-predecessors. `parameter_number` (int) and, for
constants, `literal` are written inside the parentheses of the text.
"""

from __future__ import annotations

ATTRIBUTE_KINDS: dict[str, str] = {
  # Called computations.
  "calls": "computation",
  "to_apply": "computation",
  "condition": "computation",
  "body": "computation",
  "select": "computation",
  "scatter": "computation",
  "true_computation": "computation",
  "false_computation": "computation",
  "branch_computations": "computations",
  "called_computations": "computations",
  # Dimensions and positions.
  "dimensions": "ints",
  "iota_dimension": "int",
  "index": "int",
  "inferred_dimension": "int",
  "slice": "slices",
  "dynamic_slice_sizes": "ints",
  "padding": "padding",
  "window": "window",
  "dim_labels": "dim_labels",
  "feature_group_count": "int",
  "batch_group_count": "int",
  "sparsity_config": "sparsity",
  "block_scaling_config": "block_scaling",
  "convolution_kind": "word",  # fprop, dgrad, wgrad
  # dot and its relatives.
  "lhs_batch_dims": "ints",
  "lhs_contracting_dims": "ints",
  "rhs_batch_dims": "ints",
  "rhs_contracting_dims": "ints",
  "lhs_ragged_dims": "ints",
  "rhs_group_dims": "ints",
  "operand_precision": "words",  # default, high, highest
  "algorithm": "word",  # of dot: dot_bf16_bf16_f32…; of rng-bit-generator: rng_default, rng_three_fry, rng_philox
  # gather and scatter.
  "offset_dims": "ints",
  "collapsed_slice_dims": "ints",
  "start_index_map": "ints",
  "operand_batching_dims": "ints",
  "start_indices_batching_dims": "ints",
  "index_vector_dim": "int",
  "slice_sizes": "ints",  # of collective-permute: int_lists
  "update_window_dims": "ints",
  "inserted_window_dims": "ints",
  "scatter_dims_to_operand_dims": "ints",
  "input_batching_dims": "ints",
  "scatter_indices_batching_dims": "ints",
  "indices_are_sorted": "bool",
  "unique_indices": "bool",
  # Collectives.
  "replica_groups": "groups",
  "source_target_pairs": "pairs",
  "channel_id": "int",
  "use_global_device_ids": "bool",
  "mode": "word",  # flattened_id, …: XLA reads it and drops it
  "constrain_layout": "bool",
  "is_host_transfer": "bool",
  "async_execution_thread": "string",
  "cross_program_prefetch_index": "int",
  # Choices.
  "kind": "word",  # of fusion: kLoop, kInput, kOutput, kCustom
  "direction": "word",  # of compare: EQ, NE, GE, GT, LE, LT
  "type": "word",  # of compare: FLOAT, TOTALORDER, SIGNED, UNSIGNED
  "order": "word",  # of compare, jax 0.11 on: TOTAL, PARTIAL
  "fft_type": "word",  # FFT, IFFT, RFFT, IRFFT
  "fft_length": "ints",
  "distribution": "word",  # rng_uniform, rng_normal
  "is_stable": "bool",
  "k": "int",
  "largest": "bool",
  "left_side": "bool",
  "lower": "bool",
  "unit_diagonal": "bool",
  "transpose_a": "word",  # NO_TRANSPOSE, TRANSPOSE, ADJOINT
  "epsilon": "float",
  "feature_index": "int",
  "exponent_bits": "int",
  "mantissa_bits": "int",
  "delta": "int",
  "is_composite": "bool",
  "is_reverse": "bool",
  "num_carries": "int",
  "is_associative": "bool",
  "has_dynamic_root": "bool",
  "result_accuracy": "accuracy",
  "parameter_replication": "bools",
  "domain": "domain",
  # infeed, outfeed and custom calls.
  "infeed_config": "string",
  "outfeed_config": "string",
  "outfeed_shape": "shape",
  "custom_call_target": "string",
  "custom_call_has_side_effect": "bool",
  "api_version": "word",  # API_VERSION_TYPED_FFI, …
  "schedule": "word",  # SCHEDULE_LATEST, SCHEDULE_EARLIEST
  "operand_layout_constraints": "shapes",
  "output_to_operand_aliasing": "aliases",
  "padding_type": "word",  # PADDING_VALID, PADDING_SAME
  "literal": "literal",
}
