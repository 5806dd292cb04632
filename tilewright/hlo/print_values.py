"""Writing the values of attributes."""

from __future__ import annotations

from tilewright.hlo.values import (
  BlockScaling,
  BufferDonor,
  ConvDims,
  InputOutputAlias,
  OpMetadata,
  Original,
  OriginalArray,
  OutputAlias,
  PaddingDim,
  ResultAccuracy,
  SliceDim,
  Sparsity,
  Statistics,
  TensorSparsity,
  Window,
)

# C escapes of bytes, as XLA prints strings: what is not printable ASCII becomes three octal digits.
_ESCAPES: list[str] = [chr(b) if 32 <= b < 127 else f"\\{b:03o}" for b in range(256)]
for _char, _text in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ('"', '\\"'), ("\\", "\\\\")):
  _ESCAPES[ord(_char)] = _text


def escape(value: str) -> str:
  if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
    return value
  return "".join(map(_ESCAPES.__getitem__, value.encode("utf-8", "surrogateescape")))


def quoted(value: str) -> str:
  return f'"{escape(value)}"'


def ints_text(values: tuple[int, ...]) -> str:
  return "{" + ",".join(map(str, values)) + "}"


def float_text(value: float) -> str:
  text = repr(value)
  return text[:-2] if text.endswith(".0") else text


def metadata_text(metadata: OpMetadata) -> str:
  parts: list[str] = []
  if metadata.op_type:
    parts.append(f'op_type="{escape(metadata.op_type)}"')
  if metadata.op_name:
    parts.append(f'op_name="{escape(metadata.op_name)}"')
  if metadata.source_file:
    parts.append(f'source_file="{escape(metadata.source_file)}"')
  if metadata.source_line:
    parts.append(f"source_line={metadata.source_line}")
  if metadata.source_end_line:
    parts.append(f"source_end_line={metadata.source_end_line}")
  if metadata.source_column:
    parts.append(f"source_column={metadata.source_column}")
  if metadata.source_end_column:
    parts.append(f"source_end_column={metadata.source_end_column}")
  if metadata.profile_type:
    parts.append(f"profile_type={ints_text(metadata.profile_type)}")
  if metadata.size_of_generated_code_in_bytes:
    parts.append(f"size_of_generated_code_in_bytes={metadata.size_of_generated_code_in_bytes}")
  if metadata.size_of_memory_working_set_in_bytes:
    parts.append(f"size_of_memory_working_set_in_bytes={metadata.size_of_memory_working_set_in_bytes}")
  if metadata.deduplicated_name:
    parts.append(f'deduplicated_name="{escape(metadata.deduplicated_name)}"')
  if metadata.scheduling_name:
    parts.append(f'scheduling_name="{escape(metadata.scheduling_name)}"')
  if metadata.stack_frame_id:
    parts.append(f"stack_frame_id={metadata.stack_frame_id}")
  return "{" + " ".join(parts) + "}"


def window_text(window: Window) -> str:
  dims = window.dimensions
  if not dims:
    return "{}"
  parts = [f"size={'x'.join(str(d.size) for d in dims)}"]
  if any(d.stride != 1 for d in dims):
    parts.append(f"stride={'x'.join(str(d.stride) for d in dims)}")
  if any(d.padding_low or d.padding_high for d in dims):
    parts.append(f"pad={'x'.join(f'{d.padding_low}_{d.padding_high}' for d in dims)}")
  if any(d.base_dilation != 1 for d in dims):
    parts.append(f"lhs_dilate={'x'.join(str(d.base_dilation) for d in dims)}")
  if any(d.window_dilation != 1 for d in dims):
    parts.append(f"rhs_dilate={'x'.join(str(d.window_dilation) for d in dims)}")
  if any(d.reversal for d in dims):
    parts.append(f"rhs_reversal={'x'.join(str(int(d.reversal)) for d in dims)}")
  return "{" + " ".join(parts) + "}"


def sparsity_text(config: Sparsity) -> str:
  def side(name: str, one: TensorSparsity) -> str:
    amount = f"sparsity={one.non_zero}x{one.block_size}"
    index = f" idx={one.index}" if one.index else ""  # the reader of jax 0.10 does not know it
    return f"{name}={{{amount} dimension={one.dimension} stride={one.stride}{index}}}"

  sides = (("lhs", config.lhs), ("rhs", config.rhs))
  return "{" + " ".join(side(name, one) for name, one in sides if one is not None) + "}"


def block_scaling_text(config: BlockScaling) -> str:
  sides = (("lhs", config.lhs), ("rhs", config.rhs))
  return "{" + " ".join(f"{name}={{scale_idx={one.index}}}" for name, one in sides if one is not None) + "}"


def dim_labels_text(dims: ConvDims) -> str:
  def labels(places: dict[int, str]) -> str:
    return "".join(places.get(i, "?") for i in range(max(places) + 1))

  def row(first: tuple[str, int], second: tuple[str, int], spatial: tuple[int, ...]) -> str:
    return labels({first[1]: first[0], second[1]: second[0], **{place: str(i) for i, place in enumerate(spatial)}})

  lhs = row(("b", dims.input_batch), ("f", dims.input_feature), dims.input_spatial)
  rhs = row(("i", dims.kernel_input_feature), ("o", dims.kernel_output_feature), dims.kernel_spatial)
  out = row(("b", dims.output_batch), ("f", dims.output_feature), dims.output_spatial)
  return f"{lhs}_{rhs}->{out}"


def padding_text(padding: tuple[PaddingDim, ...]) -> str:
  interior = any(d.interior for d in padding)
  return "x".join(f"{d.low}_{d.high}" + (f"_{d.interior}" if interior else "") for d in padding)


def slices_text(slices: tuple[SliceDim, ...]) -> str:
  strided = any(d.stride != 1 for d in slices)
  return "{" + ", ".join(f"[{d.start}:{d.limit}{f':{d.stride}' if strided else ''}]" for d in slices) + "}"


def pairs_text(pairs: tuple[tuple[int, ...], ...]) -> str:
  return "{" + ",".join(map(ints_text, pairs)) + "}"


def output_aliases_text(aliases: tuple[OutputAlias, ...]) -> str:
  parts = [f"{ints_text(a.output_index)}: ({a.operand}, {ints_text(a.operand_index)})" for a in aliases]
  return "{" + ", ".join(parts) + "}"


def input_output_alias_text(aliases: tuple[InputOutputAlias, ...]) -> str:
  parts = [f"{ints_text(a.output_index)}: ({a.parameter}, {ints_text(a.parameter_index)}, {a.kind})" for a in aliases]
  return "{ " + ", ".join(parts) + " }"


def buffer_donor_text(donors: tuple[BufferDonor, ...]) -> str:
  return "{ " + ", ".join(f"({d.parameter}, {ints_text(d.parameter_index)})" for d in donors) + " }"


def original_array_text(array: OriginalArray | None) -> str:
  if array is None:
    return "{}"
  index = " " + ints_text(array.shape_index) if array.shape_index else ""
  return "{" + quoted(array.instruction_name) + index + "}"


def origin_text(origin: Original) -> str:
  if origin.is_synthetic_call:
    return "{[synthetic_call]}"
  leaves = dict(origin.elements)
  prefixes = {index[:depth] for index in leaves for depth in range(len(index))}

  def tree(index: tuple[int, ...]) -> str:
    if index in leaves and index not in prefixes:
      return original_array_text(leaves[index])
    children = sorted({key[len(index)] for key in leaves if len(key) > len(index) and key[: len(index)] == index})
    # Places between children that have no entry of their own are lost originals.
    return "(" + ", ".join(tree((*index, i)) if i in children else "{}" for i in range(_count(children))) + ")"

  call = f",[{quoted(origin.call_hierarchy)}]" if origin.call_hierarchy is not None else ""
  return "{" + tree(()) + call + "}"


def _count(children: list[int]) -> int:
  return children[-1] + 1 if children else 0


def statistics_text(statistics: Statistics) -> str:
  values = "".join(f",{name}={float_text(value)}" for name, value in statistics.values)
  return f"{{visualizing_index={statistics.visualizing_index}{values}}}"


def accuracy_text(accuracy: ResultAccuracy) -> str:
  if accuracy.tolerance is None:
    return f"{{mode={accuracy.mode}}}"
  atol, rtol, ulps = accuracy.tolerance
  return f"{{tolerance={{atol={float_text(atol)},rtol={float_text(rtol)},ulps={ulps}}}}}"
