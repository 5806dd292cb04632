"""Operand rules: kinds of elements, scalars, indices, tokens, and the computations an operation applies.

A row of `OPERAND_RULES` is one opcode with its rules, each of which yields what is broken. As in XLA's verifier, floats of different
precision may meet, and layouts are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape

Problems = Iterator[str]
Rule = Callable[[Instruction], Problems]

_INTEGERS = frozenset({"signed", "unsigned"})


def _kinds(*kinds: str) -> Rule:
  """The operands are arrays of these kinds."""

  def rule(instruction: Instruction) -> Problems:
    for operand in instruction.operands:
      if operand.shape.is_array and operand.shape.kind not in kinds:
        yield f"{instruction.opcode} works on {' or '.join(kinds)} elements, not on {operand.shape}"

  return rule


def same_kind(a: Shape, b: Shape) -> bool:
  return a.element_type == b.element_type or a.kind == b.kind == "float"


def _indices(first: int) -> Rule:
  """From `first` on, operands are start indices: integer scalars of one type, one per dimension, or one vector of them."""

  def rule(instruction: Instruction) -> Problems:
    rank, starts = instruction.operands[0].shape.rank, [o.shape for o in instruction.operands[first:]]
    if len(starts) == 1 and starts[0].rank == 1 and starts[0].dimensions == (rank,):
      pass
    elif len(starts) != rank or any(s.rank for s in starts):
      yield f"{instruction.operands[0].shape} needs {rank} scalar start indices, not {', '.join(map(str, starts)) or 'none'}"
    if any(s.kind not in _INTEGERS for s in starts):
      yield f"start indices are integers, not {', '.join(map(str, starts))}"
    elif len({s.element_type for s in starts}) > 1:
      yield f"start indices have one type, not {', '.join(map(str, starts))}"

  return rule


def _update_type(instruction: Instruction) -> Problems:
  x, update = (o.shape for o in instruction.operands[:2])
  if not same_kind(x, update):
    yield f"the update is {update}, the array {x}: the types differ"


def _scalar_or_equal(*which: int) -> Rule:
  """These operands are scalars or have the dimensions of the result."""

  def rule(instruction: Instruction) -> Problems:
    for number in which:
      shape = instruction.operands[number].shape
      if shape.is_array and shape.rank and shape.dimensions != instruction.shape.dimensions:
        yield f"operand {number} is {shape}, neither a scalar nor of the dimensions of {instruction.shape}"

  return rule


def _pad_value(instruction: Instruction) -> Problems:
  x, value = (o.shape for o in instruction.operands[:2])
  if value.rank or not same_kind(x, value):
    yield f"the padding value is {value}, not a scalar of the type of {x}"


def _branch_index(instruction: Instruction) -> Problems:
  index = instruction.operands[0].shape
  if index.rank or index.element_type not in ("pred", "s32"):
    yield f"the branch index is {index}, not pred[] or s32[]"


def _rng(instruction: Instruction) -> Problems:
  if len(instruction.operands) != 2:
    yield f"rng takes 2 operands, not {len(instruction.operands)}"
  kind = instruction.shape.kind
  if any(o.shape.rank or not same_kind(o.shape, instruction.shape) for o in instruction.operands):
    yield f"the parameters of {instruction.shape} are scalars of its type"
  if kind == "complex" or (instruction.attrs.get("distribution") == "rng_normal" and kind != "float"):
    yield f"{instruction.attrs.get('distribution')} does not give {instruction.shape.element_type}"


def _comparison_type(instruction: Instruction) -> Problems:
  given, kind = instruction.attrs.get("type"), instruction.operands[0].shape.kind
  fitting = {"signed": ("SIGNED",), "unsigned": ("UNSIGNED",), "pred": ("UNSIGNED",)}.get(kind, ("FLOAT", "TOTALORDER"))
  if given is not None and given not in fitting:
    yield f"type={given} does not fit {instruction.operands[0].shape}"


def _start_values(instruction: Instruction) -> Problems:
  """Reductions start from scalars, and their computation takes what they give it and returns the same."""
  count = len(instruction.operands) // 2
  inputs = [o.shape for o in instruction.operands[:count]]
  if any(s.dimensions != inputs[0].dimensions for s in inputs):
    yield f"a reduction of arrays of different dimensions: {', '.join(map(str, inputs))}"
  computation = instruction.attrs.get("to_apply")
  if computation is not None:
    made = computation.root.shape
    parts = made.tuple_shapes if made.is_tuple else (made,)
    sums = [p.shape for p in computation.parameters[:count]]
    if len(parts) != len(sums) or any(not same_kind(a, b) or a.rank for a, b in zip(parts, sums)):
      yield f"%{computation.name} returns {made}, and takes {', '.join(map(str, sums))}"
  for start in instruction.operands[count:]:
    if start.shape.is_array and start.shape.rank:
      yield f"a reduction starts from scalars, not from {start.shape}"
  yield from takes(instruction, "to_apply", [o.shape for o in instruction.operands])


def takes(instruction: Instruction, attribute: str, given: Sequence[Shape]) -> Problems:
  """The computation in an attribute takes scalars of the types of what it is given."""
  computation = instruction.attrs.get(attribute)
  if computation is not None and len(computation.parameters) == len(given):
    for parameter, shape in zip(computation.parameters, given):
      if parameter.shape.is_array and shape.is_array and not same_kind(parameter.shape, shape):
        yield f"%{computation.name} takes {parameter.shape}, but gets elements of {shape}"


def _mapped(instruction: Instruction) -> Problems:
  computation = instruction.attrs["to_apply"]
  if len(computation.parameters) != len(instruction.operands):
    yield f"%{computation.name} takes {len(computation.parameters)} parameter(s), not {len(instruction.operands)}"
  elif any(p.shape.rank for p in computation.parameters):
    yield f"%{computation.name} must work on scalars"
  yield from takes(instruction, "to_apply", [o.shape for o in instruction.operands])


def _sorted(instruction: Instruction) -> Problems:
  computation = instruction.attrs["to_apply"]
  result = computation.root.shape
  if result.element_type != "pred" or result.rank:
    yield f"the comparison %{computation.name} returns {result}, not pred[]"
  yield from takes(instruction, "to_apply", [o.shape for o in instruction.operands for _ in range(2)])
  first = instruction.operands[0].shape
  if any(o.shape.dimensions != first.dimensions for o in instruction.operands):
    yield "the operands of a sort have equal dimensions"
  if any(not 0 <= d < first.rank for d in instruction.attrs.get("dimensions", ())):
    yield f"{first} has no dimension {instruction.attrs['dimensions']}"


def _bits(shape: Shape) -> int:
  return PRIMITIVE_TYPES[shape.element_type].bits


def _bitcast(instruction: Instruction) -> Problems:
  before, after = instruction.operands[0].shape, instruction.shape
  tiled = any(s.layout is not None and s.layout.tiles for s in (before, after))
  static = before.is_array and after.is_array and not before.is_dynamic and not after.is_dynamic
  if static and not tiled and before.num_elements * _bits(before) != after.num_elements * _bits(after):
    yield f"{before} cannot become {after}: the sizes differ"


def _bitcast_convert(instruction: Instruction) -> Problems:
  before, after = instruction.operands[0].shape, instruction.shape
  dims, old, new = before.dimensions, _bits(before), _bits(after)
  if (before.kind == "complex") != (after.kind == "complex"):
    yield f"{before} cannot become {after}: only one is complex"
  elif old > new:
    dims = (*dims, old // new)
  elif old < new:
    if not dims or dims[-1] != new // old:
      yield f"{before} cannot become {after}: its last dimension is not {new // old}"
    dims = dims[:-1]
  if dims != after.dimensions:
    yield f"{before} becomes {after.element_type}[{','.join(map(str, dims))}], not {after}"


def _once(attribute: str) -> Rule:
  def rule(instruction: Instruction) -> Problems:
    value = instruction.attrs.get(attribute, ())
    if len(set(value)) != len(value):
      yield f"{attribute}={value} names a dimension twice"

  return rule


def _permuted(instruction: Instruction) -> Problems:
  if is_in_place_permute(instruction) or "slice_sizes" in instruction.attrs or not instruction.operands:
    return
  given = [o.shape for o in instruction.operands]
  wanted = given[0] if len(given) == 1 else Shape.tuple_of(*given)
  if not wanted.compatible(instruction.shape):
    yield f"a permute of {', '.join(map(str, given))} gives {wanted}, not {instruction.shape}"


def _features(instruction: Instruction) -> Problems:
  labels = instruction.attrs.get("dim_labels")
  if labels is None:
    return
  x, kernel = (o.shape for o in instruction.operands)
  groups, batches = instruction.attrs.get("feature_group_count", 1), instruction.attrs.get("batch_group_count", 1)
  features = x.dimensions[labels.input_feature]
  taken, made = kernel.dimensions[labels.kernel_input_feature], kernel.dimensions[labels.kernel_output_feature]
  if features != taken * groups:
    yield f"{x} has {features} features, but {kernel} takes {taken} in each of {groups} group(s)"
  if groups > 1 and batches > 1:
    yield f"there are {groups} feature groups and {batches} batch groups, but only one of the two may be above 1"
  elif made % groups or made % batches or x.dimensions[labels.input_batch] % batches:
    yield f"{kernel} or {x} cannot be divided into {groups} feature and {batches} batch groups"


def _as_operand(instruction: Instruction) -> Problems:
  shapes = [o.shape for o in instruction.operands]
  wanted = shapes[0] if len(shapes) == 1 else Shape.tuple_of(*shapes)
  if not wanted.compatible(instruction.shape):
    yield f"{instruction.opcode} of {wanted} is {wanted}, not {instruction.shape}"


def _clamped(instruction: Instruction) -> Problems:
  low, x, high = (o.shape for o in instruction.operands)
  if not (same_kind(low, x) and same_kind(high, x)):
    yield f"clamp of {x} between {low} and {high}: the types differ"


def _compared(instruction: Instruction) -> Problems:
  a, b = (o.shape for o in instruction.operands)
  if not same_kind(a, b):
    yield f"compare of {a} and {b}: the types differ"


def _aliased(instruction: Instruction) -> Problems:
  """Outputs that share buffers with operands."""
  for alias in instruction.attrs.get("output_to_operand_aliasing", ()):
    try:
      output, operand = instruction.shape.at(alias.output_index), instruction.operands[alias.operand]
      shape = operand.shape.at(alias.operand_index)
    except IndexError:
      yield f"output_to_operand_aliasing names output {alias.output_index} or operand {alias.operand}, which do not exist"
      continue
    if not output.same_logical(shape):
      yield f"output_to_operand_aliasing pairs {output} with {shape}"


def _ragged(instruction: Instruction) -> Problems:
  """ragged-all-to-all: (data, output, offsets and sizes of both sides)."""
  shapes = [o.shape for o in instruction.operands]
  if len(shapes) != 6:
    yield f"ragged-all-to-all takes 6 operands, not {len(shapes)}"
    return
  if not shapes[1].compatible(instruction.shape):
    yield f"a ragged-all-to-all into {shapes[1]} gives {shapes[1]}, not {instruction.shape}"
  if any(s.dimensions != shapes[2].dimensions for s in shapes[3:]):
    yield f"offsets and sizes have one shape, not {', '.join(map(str, shapes[2:]))}"


def _top(instruction: Instruction) -> Problems:
  x, k = instruction.operands[0].shape, instruction.attrs.get("k", -1)
  if not 0 <= k <= (x.dimensions[-1] if x.rank else -1):
    yield f"the {k} largest of {x}"
  dims = (*x.dimensions[:-1], k)
  parts = instruction.shape.tuple_shapes
  if len(parts) != 2 or any(p.dimensions != dims for p in parts) or parts[1].element_type != "s32":
    yield f"a topk with k={k} of {x} gives two arrays of dimensions {list(dims)}, not {instruction.shape}"


_FLOATING = _kinds("float", "complex")
_REAL = _kinds("float")
_NUMBERS = _kinds("signed", "unsigned", "float", "complex")
_SIGNED = _kinds("signed", "float", "complex")
_INTEGRAL = _kinds("signed", "unsigned")
_LOGICAL = _kinds("signed", "unsigned", "pred")


def _parts_of_complex(instruction: Instruction) -> Problems:
  shapes = [o.shape for o in instruction.operands]
  if any(s.element_type not in ("f32", "f64") or s.element_type != shapes[0].element_type for s in shapes):
    yield f"complex of {', '.join(map(str, shapes))}: both are f32 or both f64"


def _word(attribute: str, *known: str) -> Rule:
  """An attribute that is one of a few words, where it is given."""

  def rule(instruction: Instruction) -> Problems:
    value = instruction.attrs.get(attribute)
    if value is not None and str(value) not in known:
      yield f"{attribute}={value} is none of {', '.join(known)}"

  return rule


def _fed(instruction: Instruction) -> Problems:
  shape = instruction.shape
  if not shape.is_tuple or len(shape.tuple_shapes) != 2 or not shape.tuple_shapes[1].is_token:
    yield f"infeed gives (data, token), not {shape}"


OPERAND_RULES: dict[str, tuple[Rule, ...]] = {
  **dict.fromkeys(("negate", "subtract", "divide", "remainder", "power"), (_NUMBERS,)),
  **dict.fromkeys(("abs", "sign"), (_SIGNED,)),
  **dict.fromkeys(
    ("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sine", "cosine", "tan", "tanh"),
    (_FLOATING,),
  ),
  **dict.fromkeys(("sqrt", "rsqrt", "cbrt", "atan2"), (_FLOATING,)),
  **dict.fromkeys(
    ("floor", "ceil", "round-nearest-afz", "round-nearest-even", "is-finite", "erf", "reduce-precision"), (_REAL,)
  ),
  **dict.fromkeys(("not", "and", "or", "xor"), (_LOGICAL,)),
  **dict.fromkeys(
    ("popcnt", "count-leading-zeros", "shift-left", "shift-right-logical", "shift-right-arithmetic"), (_INTEGRAL,)
  ),
  "complex": (_parts_of_complex,),
  "iota": (lambda i: iter(["iota gives numbers, not pred"] if i.shape.kind == "pred" else []),),
  "dynamic-slice": (_indices(1),),
  "dynamic-update-slice": (_indices(2), _update_type),
  "select": (_scalar_or_equal(0),),
  "clamp": (_scalar_or_equal(0, 2), _clamped),
  "pad": (_pad_value,),
  "conditional": (_branch_index,),
  "rng": (_rng, _word("distribution", "rng_uniform", "rng_normal")),
  "rng-bit-generator": (_word("algorithm", "rng_default", "rng_three_fry", "rng_philox"),),
  "fft": (_word("fft_type", "FFT", "IFFT", "RFFT", "IRFFT"),),
  "fusion": (_word("kind", "kLoop", "kInput", "kOutput", "kCustom"), _aliased),
  "custom-call": (_aliased,),
  "ragged-all-to-all": (_ragged,),
  "triangular-solve": (_word("transpose_a", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),),
  "compare": (_comparison_type, _compared),
  "reduce": (_start_values,),
  "reduce-window": (_start_values,),
  "map": (_mapped,),
  "sort": (_sorted,),
  "bitcast": (_bitcast,),
  "bitcast-convert": (_bitcast_convert,),
  "reverse": (_once("dimensions"),),
  "collective-permute": (_permuted,),
  "infeed": (_fed,),
  "convolution": (_features,),
  "opt-barrier": (_as_operand,),
  "topk": (_top,),
}
