"""Rules of operations with a subject of their own: linear algebra, normalisation, transforms, rounding, random states, dynamic sizes."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape
from tilewright.hlo.verify_operands import Rule, same_kind

Problems = Iterator[str]


def _square(instruction: Instruction) -> Problems:
  x = instruction.operands[0].shape
  if x.kind not in ("float", "complex"):
    yield f"{instruction.opcode} works on float or complex elements, not on {x}"
  if x.rank < 2 or x.dimensions[-1] != x.dimensions[-2]:
    yield f"{x} holds no square matrices"


def _triangular_solve(instruction: Instruction) -> Problems:
  yield from _square(instruction)
  a, b = (o.shape for o in instruction.operands)
  if a.element_type != b.element_type:
    yield f"{a} and {b} have different types"
  if a.rank < 2 or a.rank != b.rank:
    yield f"{a} and {b} are not matrices, or batches of them, of the same rank"
    return
  shared = -2 if instruction.attrs.get("left_side") else -1
  if a.dimensions[-1] != b.dimensions[shared]:
    yield f"{b} does not have {a.dimensions[-1]} elements along dimension {b.rank + shared}, as {a} needs it"
  if a.dimensions[:-2] != b.dimensions[:-2]:
    yield f"{a} and {b} have different batch dimensions"


def _fft(instruction: Instruction) -> Problems:
  x, kind, lengths = instruction.operands[0].shape, instruction.attrs.get("fft_type"), instruction.attrs["fft_length"]
  if not 1 <= len(lengths) <= 3 or len(lengths) > x.rank:
    yield f"fft_length={lengths} of {x}"
    return
  if (x.kind != "float") if kind == "RFFT" else (x.kind != "complex"):
    yield f"{kind} does not work on {x}"
  wanted = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0) if kind == "IRFFT" else tuple(lengths)
  if x.dimensions[-len(lengths) :] != wanted:
    yield f"{kind} of fft_length={lengths} takes {list(wanted)} elements, not those of {x}"


def _batch_norm(instruction: Instruction) -> Problems:
  x, *rest = (o.shape for o in instruction.operands)
  axis, grad = instruction.attrs.get("feature_index", 0), instruction.opcode == "batch-norm-grad"
  if not 0 <= axis < x.rank:
    yield f"{x} has no dimension {axis} (feature_index)"
    return
  if x.kind != "float":
    yield f"{instruction.opcode} works on float elements, not on {x}"
  features = (x.dimensions[axis],)
  for shape in rest[:-1] if grad else rest:
    if shape.dimensions != features or not same_kind(shape, x):
      yield f"{shape} does not have one number for each of the {features[0]} features of {x}"
  if grad and rest[-1].dimensions != x.dimensions:
    yield f"the gradient {rest[-1]} does not have the dimensions of {x}"
  parts = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  wanted = (x.dimensions,) if instruction.opcode == "batch-norm-inference" else (x.dimensions, features, features)
  if tuple(p.dimensions for p in parts) != wanted:
    yield f"a {instruction.opcode} of {x} gives arrays of {', '.join(str(list(w)) for w in wanted)}, not {instruction.shape}"


def _precision(instruction: Instruction) -> Problems:
  exponent, mantissa = (instruction.attrs.get(f"{part}_bits", -1) for part in ("exponent", "mantissa"))
  if exponent < 1 or mantissa < 0:
    yield f"reduce-precision to {exponent} bits of exponent and {mantissa} of mantissa"


def _stochastic(instruction: Instruction) -> Problems:
  x, noise = (o.shape for o in instruction.operands)
  if x.kind != "float" or instruction.shape.kind not in ("float", "signed", "unsigned"):
    yield f"stochastic-convert of {x} to {instruction.shape}"
  elif noise.kind != "unsigned" or PRIMITIVE_TYPES[noise.element_type].bits != PRIMITIVE_TYPES[x.element_type].bits:
    yield f"the random bits of {x} are {noise}: unsigned integers of its width are needed"
  if not noise.dimensions == x.dimensions == instruction.shape.dimensions:
    yield f"{x}, {noise} and {instruction.shape} have different dimensions"


def _generator(instruction: Instruction) -> Problems:
  if instruction.shape != Shape.array("u64", (2,)) and not instruction.shape.compatible(Shape.array("u64", (2,))):
    yield f"rng-get-and-update-state gives u64[2], not {instruction.shape}"


def _scalar_size(instruction: Instruction) -> Problems:
  if instruction.opcode == "get-dimension-size":
    size = instruction.shape
  else:
    size = instruction.operands[1].shape
  if size.element_type != "s32" or size.rank:
    yield f"sizes are s32[], not {size}"


def _dynamic_reshape(instruction: Instruction) -> Problems:
  (x, *sizes), result = (o.shape for o in instruction.operands), instruction.shape
  if len(sizes) != result.rank:
    yield f"{len(sizes)} sizes for {result}"
  if x.element_type != result.element_type or x.num_elements != result.num_elements:
    yield f"{x} cannot become {result}"


def _ragged_dot(instruction: Instruction) -> Problems:
  attrs, (x, y, sizes) = instruction.attrs, (o.shape for o in instruction.operands)
  groups, ragged = attrs.get("rhs_group_dims", ()), attrs.get("lhs_ragged_dims", ())
  if len(ragged) != 1 or not 0 <= ragged[0] < x.rank:
    yield f"lhs_ragged_dims={ragged} of {x}"
    return
  if sizes.kind not in ("signed", "unsigned"):
    yield f"sizes of groups are integers, not {sizes}"
  for group in groups:
    if not 0 <= group < y.rank:
      yield f"{y} has no dimension {group} (rhs_group_dims)"
    elif not sizes.rank or sizes.dimensions[-1] != y.dimensions[group]:
      yield f"{sizes} does not hold one size for each of the {y.dimensions[group]} groups of {y}"


def _ragged_result(instruction: Instruction) -> Problems:
  """Groups along a contracted dimension give a product each; otherwise the rows of each group meet its own matrix."""
  attrs, (x, y, sizes) = instruction.attrs, (o.shape for o in instruction.operands)
  names = ("lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims", "rhs_group_dims")
  batch, contracted, other_batch, other_contracted, groups = (attrs.get(name, ()) for name in names)
  gone = {*other_batch, *other_contracted, *groups}
  wanted = [x.dimensions[d] for d in batch]
  wanted += [size for d, size in enumerate(x.dimensions) if d not in (*batch, *contracted)]
  wanted += [size for d, size in enumerate(y.dimensions) if d not in gone]
  if attrs.get("lhs_ragged_dims", (None,))[0] in contracted:
    wanted = [sizes.dimensions[-1], *wanted]
  if wanted != list(instruction.shape.dimensions):
    yield f"the result has the dimensions {wanted}, not {list(instruction.shape.dimensions)}"


LINALG_RULES: dict[str, tuple[Rule, ...]] = {
  "cholesky": (_square,),
  "triangular-solve": (_triangular_solve,),
  "fft": (_fft,),
  **dict.fromkeys(("batch-norm-training", "batch-norm-inference", "batch-norm-grad"), (_batch_norm,)),
  "reduce-precision": (_precision,),
  "stochastic-convert": (_stochastic,),
  "rng-get-and-update-state": (_generator,),
  **dict.fromkeys(("get-dimension-size", "set-dimension-size"), (_scalar_size,)),
  "dynamic-reshape": (_dynamic_reshape,),
  "ragged-dot": (_ragged_dot, _ragged_result),
}
