"""Reading the values of attributes: metadata, windows, dimension labels, padding, slices, aliases, origins."""

from __future__ import annotations

import re

from tilewright.hlo.cursor import STRING, Cursor, unescape
from tilewright.hlo.shape import ShapeIndex
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
  TensorScale,
  TensorSparsity,
  Window,
  WindowDim,
)

METADATA_FIELD = re.compile(r"\s*+([a-z_]++)=(?:(\d++)(?![\w.])|\{|(?=[\"']))", re.ASCII)
METADATA_STRINGS = frozenset({"op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name"})
METADATA_INTS = frozenset(
  {
    "source_line",
    "source_end_line",
    "source_column",
    "source_end_column",
    "size_of_generated_code_in_bytes",
    "size_of_memory_working_set_in_bytes",
    "stack_frame_id",
  }
)
WINDOW_FIELD = re.compile(r"([a-z_]++)=([-0-9_x]++)", re.ASCII)
WINDOW_KEYS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")
LABELS = re.compile(r"([0-9bf?]++)_([0-9io?]++)->([0-9bf?]++)", re.ASCII)
FRONTEND_KEY = re.compile(r'([^\s=,{}"]++)\s*+=', re.ASCII)
PADDING = re.compile(r"-?\d++_-?\d++(?:_-?\d++)?+(?:x-?\d++_-?\d++(?:_-?\d++)?+)*+", re.ASCII)
SLICE = re.compile(r"\[\s*+(\d++)\s*+:\s*+(\d++)\s*+(?::\s*+(\d++)\s*+)?+\]", re.ASCII)


def read_metadata(cursor: Cursor) -> OpMetadata:
  """`{op_name="…" source_line=3 …}`."""
  cursor.expect("{", "before metadata")
  text = cursor.text
  fields: dict[str, str | int | tuple[int, ...]] = {}
  while True:
    cursor.skip()
    match = METADATA_FIELD.match(text, cursor.pos)
    if not match:
      cursor.accept(",")
      if cursor.accept("}"):
        break
      if METADATA_FIELD.match(text, cursor.pos):
        continue
      cursor.error(f"expected a field of metadata or `}}`, found {cursor.found()}")
    key = match[1]
    cursor.pos = match.end()
    if key in METADATA_STRINGS:
      quoted = STRING.match(text, cursor.pos)
      if not quoted:
        cursor.error(f"{key} takes a string", match.start(1))
      fields[key] = unescape(quoted[0][1:-1])
      cursor.pos = quoted.end()
    elif key in METADATA_INTS:
      if match[2] is None:
        cursor.error(f"{key} takes an integer", match.start(1))
      fields[key] = cursor.to_int(match[2], match.start(2))
    elif key == "profile_type":
      cursor.pos -= 1
      fields[key] = cursor.ints()
    elif key in ("preserve_layout", "trace_back_to"):
      cursor.error(f"`{key}` is not a field of metadata any more", match.start(1))
    else:
      cursor.error(f"`{key}` is not a field of metadata", match.start(1))
  return OpMetadata(**fields)  # type: ignore[arg-type]


def read_window(cursor: Cursor) -> Window:
  """`{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=… rhs_dilate=… rhs_reversal=…}`."""
  start = cursor.pos
  cursor.expect("{", "before a window")
  fields: dict[str, list[str]] = {}
  while not cursor.accept("}"):
    match = cursor.match(WINDOW_FIELD)
    if not match or match[1] not in WINDOW_KEYS:
      cursor.error(f"expected one of {', '.join(WINDOW_KEYS)} in a window, found {cursor.found()}")
    if match[1] in fields:
      cursor.error(f"{match[1]} appears twice in a window", match.start())
    fields[match[1]] = match[2].split("x")
  rank = len(fields.get("size", ()))
  if not fields:
    return Window(())
  for key, values in fields.items():
    if len(values) != rank:
      cursor.error(f"{key} has {len(values)} dimensions where size has {rank}", start)

  def column(key: str, default: int) -> list[int]:
    return [_small(cursor, value, start) for value in fields[key]] if key in fields else [default] * rank

  pads: list[tuple[int, int]] = []
  for value in fields.get("pad", ["0_0"] * rank):
    low, separator, high = value.partition("_")
    if not separator:
      cursor.error(f"pad={value} is not low_high", start)
    pads.append((_small(cursor, low, start), _small(cursor, high, start)))
  rows = zip(
    column("size", 1),
    column("stride", 1),
    pads,
    column("rhs_dilate", 1),
    column("lhs_dilate", 1),
    column("rhs_reversal", 0),
  )
  return Window(tuple(WindowDim(s, t, p[0], p[1], w, b, bool(r)) for s, t, p, w, b, r in rows))


def _sides(cursor: Cursor, what: str, keys: tuple[str, ...]) -> dict[str, dict[str, str]]:
  """`{lhs={key=1 other=2x4} rhs={…}}`, either side optional."""
  cursor.expect("{", f"before {what}")
  sides: dict[str, dict[str, str]] = {}
  while not cursor.accept("}"):
    start = cursor.pos
    side = cursor.word("lhs or rhs")
    if side not in ("lhs", "rhs") or side in sides:
      cursor.error(f"{what} has one lhs and one rhs", start)
    cursor.expect("=")
    cursor.expect("{")
    fields = sides[side] = {}
    while not cursor.accept("}"):
      match = cursor.match(WINDOW_FIELD)
      if not match or match[1] not in keys or match[1] in fields:
        cursor.error(f"expected one of {', '.join(keys)} in {what}, each once, found {cursor.found()}")
      fields[match[1]] = match[2]
  return sides


def read_sparsity(cursor: Cursor) -> Sparsity:
  """`{lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}`."""

  def tensor(fields: dict[str, str]) -> TensorSparsity:
    non_zero, separator, size = fields.get("sparsity", "0x0").partition("x")
    if not separator:
      cursor.error("sparsity is the number of elements that are there, an x, and of how many", start)
    numbers = [fields.get(key, "0") for key in ("dimension", "stride", "idx")]
    count, block, dimension, stride, index = (_small(cursor, n, start) for n in (non_zero, size, *numbers))
    return TensorSparsity(count, block, dimension, stride, index)

  start = cursor.pos
  sides = _sides(cursor, "a sparsity config", ("sparsity", "dimension", "stride", "idx"))
  found = {side: tensor(fields) for side, fields in sides.items()}
  return Sparsity(found.get("lhs"), found.get("rhs"))


def read_block_scaling(cursor: Cursor) -> BlockScaling:
  """`{lhs={scale_idx=2} rhs={scale_idx=3}}`."""
  start = cursor.pos
  sides = _sides(cursor, "a block scaling config", ("scale_idx",))
  found = {side: TensorScale(_small(cursor, f.get("scale_idx", "0"), start)) for side, f in sides.items()}
  return BlockScaling(found.get("lhs"), found.get("rhs"))


def _small(cursor: Cursor, digits: str, pos: int) -> int:
  if not re.fullmatch(r"-?\d{1,19}", digits, re.ASCII):
    cursor.error(f"`{digits[:40]}` is not an integer", pos)
  return int(digits)


def read_dim_labels(cursor: Cursor) -> ConvDims:
  """`b01f_01io->b01f`."""
  match = cursor.match(LABELS)
  if not match:
    cursor.error(f"expected dimension labels such as b01f_01io->b01f, found {cursor.found()}")

  def places(labels: str, first: str, second: str) -> tuple[int, int, tuple[int, ...]]:
    spatial = [label for label in labels if label not in first + second + "?"]
    if labels.count(first) != 1 or labels.count(second) != 1:
      cursor.error(f"{labels} must hold {first} and {second} once each", match.start())
    if sorted(spatial) != [str(i) for i in range(len(spatial))] or len(spatial) > 10:
      cursor.error(f"the spatial dimensions of {labels} must be 0, 1, … in some order", match.start())
    return labels.index(first), labels.index(second), tuple(labels.index(str(i)) for i in range(len(spatial)))

  input_batch, input_feature, input_spatial = places(match[1], "b", "f")
  kernel_in, kernel_out, kernel_spatial = places(match[2], "i", "o")
  output_batch, output_feature, output_spatial = places(match[3], "b", "f")
  if not len(input_spatial) == len(kernel_spatial) == len(output_spatial):
    cursor.error("input, kernel and output must have the same number of spatial dimensions", match.start())
  return ConvDims(
    input_batch,
    input_feature,
    input_spatial,
    kernel_in,
    kernel_out,
    kernel_spatial,
    output_batch,
    output_feature,
    output_spatial,
  )


def read_padding(cursor: Cursor) -> tuple[PaddingDim, ...]:
  """`0_1x2_3_1`; nothing at all for a scalar."""
  match = cursor.match(PADDING)
  if not match:
    # `padding=` of a scalar is followed by the next attribute or the end of the line.
    return ()
  dims: list[PaddingDim] = []
  for part in match[0].split("x"):
    numbers = [_small(cursor, number, match.start()) for number in part.split("_")]
    dims.append(PaddingDim(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 0))
  return tuple(dims)


def read_slices(cursor: Cursor) -> tuple[SliceDim, ...]:
  """`{[0:4:2], [1:3]}`."""
  cursor.expect("{", "before slices")
  dims: list[SliceDim] = []
  while not cursor.accept("}"):
    if dims:
      cursor.expect(",")
    match = cursor.match(SLICE)
    if not match:
      cursor.error(f"expected a slice such as [0:4:2], found {cursor.found()}")
    start, limit = (cursor.to_int(match[i], match.start(i)) for i in (1, 2))
    dims.append(SliceDim(start, limit, cursor.to_int(match[3], match.start(3)) if match[3] else 1))
  return tuple(dims)


def read_pairs(cursor: Cursor) -> tuple[tuple[int, int], ...]:
  """`{{0,1},{1,0}}`."""
  cursor.expect("{", "before pairs")
  pairs: list[tuple[int, int]] = []
  while not cursor.accept("}"):
    if pairs:
      cursor.expect(",")
    start = cursor.pos
    pair = cursor.ints()
    if len(pair) != 2:
      cursor.error("expected a pair {source,target}", start)
    pairs.append((pair[0], pair[1]))
  return tuple(pairs)


def read_int_lists(cursor: Cursor) -> tuple[tuple[int, ...], ...]:
  """`{{1,2},{3,4}}`."""
  cursor.expect("{")
  lists: list[tuple[int, ...]] = []
  while not cursor.accept("}"):
    if lists:
      cursor.expect(",")
    lists.append(cursor.ints())
  return tuple(lists)


def read_output_aliases(cursor: Cursor) -> tuple[OutputAlias, ...]:
  """`{{0}: (1, {}), {1}: (2, {0})}`."""
  cursor.expect("{", "before aliases")
  aliases: list[OutputAlias] = []
  while not cursor.accept("}"):
    if aliases:
      cursor.expect(",")
    output = cursor.ints()
    cursor.expect(":")
    cursor.expect("(")
    operand = cursor.integer()
    cursor.expect(",")
    index = cursor.ints()
    cursor.expect(")")
    aliases.append(OutputAlias(output, operand, index))
  return tuple(aliases)


def read_input_output_alias(cursor: Cursor) -> tuple[InputOutputAlias, ...]:
  """`{ {0}: (1, {}, may-alias) }`."""
  cursor.expect("{", "before aliases")
  aliases: list[InputOutputAlias] = []
  while not cursor.accept("}"):
    if aliases:
      cursor.expect(",")
    output = cursor.ints()
    cursor.expect(":")
    if not cursor.accept("("):
      aliases.append(InputOutputAlias(output, cursor.integer("a parameter number")))
      continue
    parameter = cursor.integer("a parameter number")
    index: ShapeIndex = ()
    kind = "may-alias"
    if cursor.accept(","):
      index = cursor.ints()
      if cursor.accept(","):
        kind = cursor.word("may-alias or must-alias")
        if kind not in ("may-alias", "must-alias"):
          cursor.error(f"expected may-alias or must-alias, found `{kind}`", cursor.pos - len(kind))
    cursor.expect(")")
    aliases.append(InputOutputAlias(output, parameter, index, kind))
  return tuple(aliases)


def read_buffer_donor(cursor: Cursor) -> tuple[BufferDonor, ...]:
  """`{ (0, {}), (1, {0}) }`."""
  cursor.expect("{", "before buffer donors")
  donors: list[BufferDonor] = []
  while not cursor.accept("}"):
    if donors:
      cursor.expect(",")
    cursor.expect("(")
    parameter = cursor.integer("a parameter number")
    cursor.expect(",")
    index = cursor.ints()
    cursor.expect(")")
    donors.append(BufferDonor(parameter, index))
  return tuple(donors)


def read_original_array(cursor: Cursor) -> OriginalArray | None:
  """`{"name" {0}}`, or `{}` where the original is lost."""
  cursor.expect("{", "before an original array")
  if cursor.accept("}"):
    return None
  name = cursor.string()
  index = cursor.ints() if cursor.at("{") else ()
  cursor.expect("}", "after an original array")
  return OriginalArray(name, index)


def read_origin(cursor: Cursor) -> Original:
  """`{{"a"}}`, `{({"a" {0}}, {})}`, `{[synthetic_call]}`, `{(),["call"]}`."""
  cursor.expect("{", "before an origin")
  elements: list[tuple[ShapeIndex, OriginalArray | None]] = []
  synthetic = False
  hierarchy: str | None = None

  def tree(index: ShapeIndex) -> None:
    if cursor.accept("("):
      child = 0
      while not cursor.accept(")"):
        if child:
          cursor.expect(",")
        tree((*index, child))
        child += 1
    else:
      elements.append((index, read_original_array(cursor)))

  if not cursor.at("[") and not cursor.at("}"):
    tree(())
  cursor.accept(",")
  if cursor.accept("["):
    if cursor.accept_word("synthetic_call"):
      synthetic = True
    else:
      hierarchy = cursor.string()
    cursor.expect("]")
  cursor.expect("}", "after an origin")
  return Original(tuple(elements), synthetic, hierarchy)


def read_statistics(cursor: Cursor) -> Statistics:
  """`{visualizing_index=1,stat-1=33.4}`."""
  cursor.expect("{", "before statistics")
  index = 0
  values: list[tuple[str, float]] = []
  first = True
  while not cursor.accept("}"):
    if not first:
      cursor.expect(",")
    first = False
    key = cursor.word("the name of a statistic")
    cursor.expect("=")
    if key == "visualizing_index":
      index = cursor.integer()
    else:
      values.append((key, cursor.number()))
  return Statistics(index, tuple(values))


def read_accuracy(cursor: Cursor) -> ResultAccuracy:
  """`{mode=highest}` or `{tolerance={atol=0.1,rtol=0.1,ulps=2}}`."""
  cursor.expect("{", "before result_accuracy")
  key = cursor.word("mode or tolerance")
  cursor.expect("=")
  if key == "mode":
    mode = cursor.word("default or highest")
    if mode not in ("default", "highest"):
      cursor.error(f"the mode of result_accuracy is default or highest, not `{mode}`", cursor.pos - len(mode))
    result = ResultAccuracy(mode)
  elif key == "tolerance":
    cursor.expect("{")
    values: dict[str, float] = {"atol": 0.0, "rtol": 0.0, "ulps": 0}
    first = True
    while not cursor.accept("}"):
      if not first:
        cursor.accept(",")
      first = False
      name = cursor.word("atol, rtol or ulps")
      if name not in values:
        cursor.error(f"expected atol, rtol or ulps, found `{name}`", cursor.pos - len(name))
      cursor.expect("=")
      values[name] = cursor.integer() if name == "ulps" else cursor.number()
    result = ResultAccuracy("default", (values["atol"], values["rtol"], int(values["ulps"])))
  else:
    cursor.error(f"expected mode or tolerance, found `{key}`", cursor.pos - len(key))
  cursor.expect("}", "after result_accuracy")
  return result


def read_bools(cursor: Cursor) -> tuple[bool, ...]:
  """`{true,false}`."""
  cursor.expect("{", "before a list of true and false")
  values: list[bool] = []
  while not cursor.accept("}"):
    if values:
      cursor.expect(",")
    values.append(cursor.boolean())
  return tuple(values)


def read_frontend_attributes(cursor: Cursor) -> dict[str, str]:
  """`{key="value",other={raw text in balanced braces}}`."""
  cursor.expect("{", "before frontend attributes")
  found: dict[str, str] = {}
  while not cursor.accept("}"):
    if found:
      cursor.expect(",", "between frontend attributes")
    match = cursor.match(FRONTEND_KEY)
    if not match:
      cursor.error(f"expected the name of a frontend attribute, found {cursor.found()}")
    found[match[1]] = cursor.braces("a frontend attribute") if cursor.at("{") else cursor.string()
  return found
