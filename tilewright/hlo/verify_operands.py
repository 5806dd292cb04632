"""Operand rules: kinds of elements, scalars, indices, tokens, and the computations an operation applies.

A row of `OPERAND_RULES` is one opcode with its rules, each of which yields what is broken. As in XLA's verifier, floats of different
precision may meet, and layouts are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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


def _same_kind(a: Shape, b: Shape) -> bool:
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
  if not _same_kind(x, update):
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
  if value.rank or not _same_kind(x, value):
    yield f"the padding value is {value}, not a scalar of the type of {x}"


def _branch_index(instruction: Instruction) -> Problems:
  index = instruction.operands[0].shape
  if index.rank or index.element_type not in ("pred", "s32"):
    yield f"the branch index is {index}, not pred[] or s32[]"


def _rng(instruction: Instruction) -> Problems:
  if len(instruction.operands) != 2:
    yield f"rng takes 2 operands, not {len(instruction.operands)}"
  kind = instruction.shape.kind
  if any(o.shape.rank or not _same_kind(o.shape, instruction.shape) for o in instruction.operands):
    yield f"the parameters of {instruction.shape} are scalars of its type"
  if kind == "complex" or (instruction.attrs.get("distribution") == "rng_normal" and kind != "float"):
    yield f"{instruction.attrs.get('distribution')} does not give {instruction.shape.element_type}"


def _comparison_type(instruction: Instruction) -> Problems:
  given, kind = instruction.attrs.get("type"), instruction.operands[0].shape.kind
  fitting = {"signed": ("SIGNED",), "unsigned": ("UNSIGNED",), "pred": ("UNSIGNED",)}.get(kind, ("FLOAT", "TOTALORDER"))
  if given is not None and given not in fitting:
    yield f"type={given} does not fit {instruction.operands[0].shape}"


def _start_values(instruction: Instruction) -> Problems:
  """Reductions start from scalars, and their computation takes what they give it."""
  count = len(instruction.operands) // 2
  for start in instruction.operands[count:]:
    if start.shape.is_array and start.shape.rank:
      yield f"a reduction starts from scalars, not from {start.shape}"
  yield from _takes(instruction, [o.shape for o in instruction.operands])


def _takes(instruction: Instruction, given: list[Shape]) -> Problems:
  computation = instruction.attrs.get("to_apply")
  if computation is not None and len(computation.parameters) == len(given):
    for parameter, shape in zip(computation.parameters, given):
      if parameter.shape.is_array and shape.is_array and not _same_kind(parameter.shape, shape):
        yield f"%{computation.name} takes {parameter.shape}, but gets elements of {shape}"


def _mapped(instruction: Instruction) -> Problems:
  computation = instruction.attrs["to_apply"]
  if len(computation.parameters) != len(instruction.operands):
    yield f"%{computation.name} takes {len(computation.parameters)} parameter(s), not {len(instruction.operands)}"
  elif any(p.shape.rank for p in computation.parameters):
    yield f"%{computation.name} must work on scalars"
  yield from _takes(instruction, [o.shape for o in instruction.operands])


def _sorted(instruction: Instruction) -> Problems:
  computation = instruction.attrs["to_apply"]
  result = computation.root.shape
  if result.element_type != "pred" or result.rank:
    yield f"the comparison %{computation.name} returns {result}, not pred[]"
  yield from _takes(instruction, [o.shape for o in instruction.operands for _ in range(2)])
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


def _one_consumer(instruction: Instruction) -> Problems:
  """A start has exactly one done."""
  users = instruction.users
  if len(users) != 1:
    yield f"the {instruction.opcode} needs one consumer, its done, and has {len(users)}"


def _copy_start(instruction: Instruction) -> Problems:
  parts, (x,) = instruction.shape.tuple_shapes, instruction.operands
  if len(parts) >= 2 and not (parts[0].compatible(x.shape) and parts[1].compatible(x.shape)):
    yield f"a copy-start of {x.shape} gives ({x.shape}, {x.shape}, u32[]), not {instruction.shape}"


def _async_start(instruction: Instruction) -> Problems:
  called, shape = instruction.called_computations, instruction.shape
  if len(called) != 1 or not shape.is_tuple or len(shape.tuple_shapes) < 2:
    return
  given, result = [o.shape for o in instruction.operands], shape.tuple_shapes[1]
  wanted = [p.shape for p in called[0].parameters]
  if len(given) != len(wanted) or not all(a.compatible(b) for a, b in zip(given, wanted)):
    yield f"%{called[0].name} takes {', '.join(map(str, wanted))}, not {', '.join(map(str, given))}"
  if not called[0].root.shape.compatible(result):
    yield f"%{called[0].name} returns {called[0].root.shape}, not {result}"


def _tokens(*which: int) -> Rule:
  def rule(instruction: Instruction) -> Problems:
    for number in which:
      if -len(instruction.operands) <= number < len(instruction.operands):
        shape = instruction.operands[number].shape
        if not shape.is_token:
          yield f"{instruction.opcode} waits for a token, not for {shape}"

  return rule


def _done_of(wrong: str) -> Rule:
  def rule(instruction: Instruction) -> Problems:
    if instruction.operands and instruction.operands[0].opcode == wrong:
      yield f"its operand is a {wrong}"

  return rule


def _scattered(instruction: Instruction) -> Problems:
  count = len(instruction.operands) // 2
  indices, updates = instruction.operands[count].shape, instruction.operands[count + 1].shape
  window, vector = instruction.attrs.get("update_window_dims", ()), instruction.attrs.get("index_vector_dim", 0)
  along = [size for d, size in enumerate(indices.dimensions) if d != vector]
  if indices.kind not in _INTEGERS:
    yield f"indices are integers, not {indices}"
  if updates.rank != len(window) + len(along):
    yield f"updates of {indices} have rank {len(window) + len(along)}, not {updates.rank}"
  elif [size for d, size in enumerate(updates.dimensions) if d not in window] != along:
    yield f"the updates {updates} do not have the dimensions of the indices {indices}"


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
  if made % groups or made % batches or x.dimensions[labels.input_batch] % batches:
    yield f"{kernel} or {x} cannot be divided into {groups} feature and {batches} batch groups"


def _square(instruction: Instruction) -> Problems:
  dims = instruction.operands[0].shape.dimensions
  if len(dims) < 2 or dims[-1] != dims[-2]:
    yield f"{instruction.operands[0].shape} holds no square matrices"


def _as_operand(instruction: Instruction) -> Problems:
  shapes = [o.shape for o in instruction.operands]
  wanted = shapes[0] if len(shapes) == 1 else Shape.tuple_of(*shapes)
  if not wanted.compatible(instruction.shape):
    yield f"{instruction.opcode} of {wanted} is {wanted}, not {instruction.shape}"


def _top(instruction: Instruction) -> Problems:
  x, k = instruction.operands[0].shape, instruction.attrs.get("k", -1)
  dims = (*x.dimensions[:-1], k)
  parts = instruction.shape.tuple_shapes
  if len(parts) != 2 or any(p.dimensions != dims for p in parts):
    yield f"a topk with k={k} of {x} gives two arrays of dimensions {list(dims)}, not {instruction.shape}"


_FLOATING = _kinds("float", "complex")
_REAL = _kinds("float")
_NUMBERS = _kinds("signed", "unsigned", "float", "complex")
_INTEGRAL = _kinds("signed", "unsigned")
_LOGICAL = _kinds("signed", "unsigned", "pred")


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
  "negate": (_NUMBERS,),
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
  "complex": (_REAL,),
  "iota": (lambda i: iter(["iota gives numbers, not pred"] if i.shape.kind == "pred" else []),),
  "dynamic-slice": (_indices(1),),
  "dynamic-update-slice": (_indices(2), _update_type),
  "select": (_scalar_or_equal(0),),
  "clamp": (_scalar_or_equal(0, 2),),
  "pad": (_pad_value,),
  "conditional": (_branch_index,),
  "rng": (_rng, _word("distribution", "rng_uniform", "rng_normal")),
  "rng-bit-generator": (_word("algorithm", "rng_default", "rng_three_fry", "rng_philox"),),
  "fft": (_word("fft_type", "FFT", "IFFT", "RFFT", "IRFFT"),),
  "fusion": (_word("kind", "kLoop", "kInput", "kOutput", "kCustom"),),
  "triangular-solve": (_word("transpose_a", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),),
  "compare": (_comparison_type,),
  "reduce": (_start_values,),
  "reduce-window": (_start_values,),
  "map": (_mapped,),
  "sort": (_sorted,),
  "bitcast": (_bitcast,),
  "bitcast-convert": (_bitcast_convert,),
  "reverse": (_once("dimensions"),),
  "collective-permute": (_permuted,),
  **dict.fromkeys(("all-reduce-start", "all-gather-start", "collective-permute-start"), (_one_consumer,)),
  "copy-start": (_copy_start, _one_consumer),
  "async-start": (_async_start, _one_consumer),
  "infeed": (_tokens(0), _fed),
  "outfeed": (_tokens(-1),),
  "send": (_tokens(1),),
  "recv": (_tokens(0),),
  "recv-done": (_done_of("send"),),
  "send-done": (_done_of("recv"),),
  "scatter": (_scattered,),
  "convolution": (_features,),
  "cholesky": (_square,),
  "opt-barrier": (_as_operand,),
  "topk": (_top,),
}
