"""Recognition of block-scaled dots written without custom calls: dots whose operands are elements times scales, in any spelling.

    dot(convert(w) * reshape(broadcast(convert(s))), x)        jnp.repeat(s, 32, axis=-1)
    dot(reshape(reshape(convert(w)) * broadcast(s)), x)        w.reshape(n, -1, 32) * s[..., None]

*How.* An operand is traced down to its sources. On the way, each dimension of a value is kept as a list of `Atom`s: digits of
an index of the operand. A reshape splits digits, a transpose permutes them, a broadcast drops some:

    k of w[n, k]          ->  (k // 32), (k % 32)   after a reshape to [n, K / 32, 32]
    s[n, K / 32]          ->  sees n and k // 32: a scale for each 32 elements along k

The dependence of a scale can be read off in any spelling: the leading digits of the contracting index, and whole other
dimensions. Everything else, such as scales that follow k % 32, is not a block-scaled dot and is left unchanged.

Roundings of the dequantised values (to bfloat16, say) are dropped: the result is the more precise one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.block_scaling_expand import builder_at
from tilewright.hlo.shape import Shape

_FLOATS = frozenset({"bf16", "f16", "f32"})  # in which a program may dequantise and multiply
_SMALL_BITS = 8
_MAX_FACTORS, _MAX_STEPS = 8, 64  # of an operand that is followed
_MAX_COPIES = 32  # instructions that are copied out of a fusion for one value
_CHEAP = frozenset(
  {"dynamic-slice", "slice", "convert", "bitcast", "reshape", "broadcast", "transpose", "copy", "constant", "parameter"}
)


class Atom(NamedTuple):
  """A digit of an index of the dot's operand: `index[dimension] // stride % size`."""

  dimension: int
  stride: int
  size: int


# Of each dimension of a value, the digits that make it up, the most significant first.
Dims = tuple[tuple[Atom, ...], ...]


@dataclass(frozen=True)
class View:
  """A source of an operand, and which of its elements is at each position. It may be located within fusions."""

  source: Instruction
  dims: Dims
  inside: tuple[Instruction, ...] = ()

  @property
  def atoms(self) -> tuple[Atom, ...]:
    return tuple(a for dim in self.dims for a in dim)


@dataclass(frozen=True)
class Scaled:
  """An operand as elements times scales (of `block` elements along the contracted index), times scalars."""

  elements: View
  scales: View
  block: int
  scalars: tuple[View, ...]


@dataclass(frozen=True)
class Order:
  """The dimensions of a dot's operand: batch, free and contracted ones."""

  batch: tuple[int, ...]
  free: tuple[int, ...]
  contracted: tuple[int, ...]
  sizes: tuple[int, ...]

  def size(self, dimensions: tuple[int, ...]) -> int:
    return math.prod(self.sizes[d] for d in dimensions)

  @property
  def whole(self) -> Dims:
    """All of each dimension."""
    return tuple(_whole(d, size) for d, size in enumerate(self.sizes))


# --- what an operand is made of ----------------------------------------------------------------------------------


def _whole(dimension: int, size: int) -> tuple[Atom, ...]:
  return (Atom(dimension, 1, size),) if size != 1 else ()


def _follow(x: Instruction, dims: Dims, inside: tuple[Instruction, ...], steps: int = _MAX_STEPS) -> list[View]:
  """The factors of a product, traced through everything that moves elements. `inside` are the fusions that contain x."""
  further = _factors(x, dims, inside, steps - 1) if steps else []
  if 0 < len(further) <= _MAX_FACTORS:
    return further
  return [View(x, dims, inside)]


def _factors(x: Instruction, dims: Dims, inside: tuple[Instruction, ...], steps: int) -> list[View]:
  """Empty if x is where a factor comes from."""
  if x.opcode == "parameter" and inside:
    return _follow(inside[-1].operands[x.attrs["parameter_number"]], dims, inside[:-1], steps)
  if x.opcode == "fusion" and x.shape.is_array:
    return _follow(x.attrs["calls"].root, dims, (*inside, x), steps)
  if x.opcode == "multiply" and x.shape.element_type in _FLOATS:
    left = _follow(x.operands[0], dims, inside, steps)
    # Of a product that is too long nothing more is asked.
    return [] if len(left) >= _MAX_FACTORS else left + _follow(x.operands[1], dims, inside, steps)
  if x.opcode == "custom-call" and x.attrs["custom_call_target"] == "__op$dequantize":
    return _dequantized(x, dims, inside)
  through = _through(x, dims)
  if through is not None:
    return _follow(x.operands[0], through, inside, steps)
  if x.opcode == "convert" and (x.operands[0].shape.element_type, x.shape.element_type) == ("f32", "bf16"):
    # Rounding what was dequantised, as said above; not a scale itself.
    product = _follow(x.operands[0], dims, inside, steps)
    return product if len(product) > 1 else []
  return []


def _through(x: Instruction, dims: Dims) -> Dims | None:
  """The dimensions of x's operand, if x only moves its elements; None if x is a source."""
  sizes = x.operands[0].shape.dimensions if x.operands else ()
  match x.opcode:
    case "copy":
      return dims
    case "convert":
      return dims if _keeps_values(x.operands[0].shape.element_type, x.shape.element_type) else None
    case "transpose":
      order = x.attrs["dimensions"]
      return tuple(dims[order.index(d)] for d in range(len(dims)))
    case "broadcast":
      return tuple(dims[d] for d in x.attrs["dimensions"])
    case "reshape":
      return _regrouped(dims, sizes)
    case "bitcast" if x.shape.element_type == x.operands[0].shape.element_type:
      return _reinterpreted(x, dims)
    case "slice":
      return _sliced(x, dims)
  return None


def _keeps_values(source: str, target: str) -> bool:
  """Whether every number of one type is one of the other."""
  if target not in _FLOATS:
    return False
  bits = PRIMITIVE_TYPES[source].bits
  if bits <= _SMALL_BITS:
    return PRIMITIVE_TYPES[source].kind in ("float", "signed", "unsigned") and (source, target) != ("f8e8m0fnu", "f16")
  return (source, target) in {("bf16", "f32"), ("f16", "f32"), ("bf16", "bf16"), ("f16", "f16"), ("f32", "f32")}


def _regrouped(dims: Dims, sizes: tuple[int, ...]) -> Dims | None:
  """The same digits in row-major order, for dimensions of other sizes."""
  rest = [a for dim in dims for a in dim][::-1]
  found = []
  for size in sizes:
    group: list[Atom] = []
    missing = size
    while missing > 1:
      if not rest:
        return None
      atom = rest.pop()
      if atom.size > missing:
        if atom.size % missing:
          return None
        inner = atom.size // missing
        rest.append(Atom(atom.dimension, atom.stride, inner))
        atom = Atom(atom.dimension, atom.stride * inner, missing)
      elif missing % atom.size:
        return None
      group.append(atom)
      missing //= atom.size
    found.append(tuple(group))
  return None if rest else tuple(found)


def _reinterpreted(x: Instruction, dims: Dims) -> Dims | None:
  """Through a bitcast, which is a reshape of what lies in memory."""
  operand = x.operands[0]
  layouts = [i.shape.layout for i in (x, operand)]
  if any(layout is None for layout in layouts):
    return _regrouped(dims, operand.shape.dimensions)
  outer, inner = (layout.minor_to_major[::-1] for layout in layouts if layout is not None)
  found = _regrouped(tuple(dims[d] for d in outer), tuple(operand.shape.dimensions[d] for d in inner))
  return None if found is None else tuple(found[inner.index(d)] for d in range(len(inner)))


def _sliced(x: Instruction, dims: Dims) -> Dims | None:
  """Through a slice that begins where its operand does: an index stays what it is, and has further to go."""
  found = []
  for dim, part, size, whole in zip(dims, x.attrs["slice"], x.shape.dimensions, x.operands[0].shape.dimensions):
    if size == whole:
      found.append(dim)
      continue
    if part.start or part.stride != 1 or len(dim) != 1 or dim[0].stride != 1:
      return None
    found.append((dim[0]._replace(size=whole),))
  return tuple(found)


def _dequantized(x: Instruction, dims: Dims, inside: tuple[Instruction, ...]) -> list[View]:
  """The elements and scales of the custom call; a scale serves a block along each dimension."""
  data, scales = x.operands
  found: list[tuple[Atom, ...]] = []
  for dim, size, count in zip(dims, x.shape.dimensions, scales.shape.dimensions, strict=True):
    block = -(-size // count)
    split = _regrouped((dim,), (count, block)) if size % count == 0 else None
    if split is not None:
      found.append(split[0])
    elif size % count and len(dim) == 1 and dim[0].stride == 1:
      found.append((Atom(dim[0].dimension, block, count),))
    else:
      return []
  return [View(data, dims, inside), View(scales, tuple(found), inside)]


# --- whether that is a block-scaled operand ----------------------------------------------------------------------


def _side(x: Instruction, inside: tuple[Instruction, ...], order: Order) -> Scaled | View | None:
  """An operand as what it is made of: elements and scales, or an array as it is."""
  if x.shape.element_type not in _FLOATS:
    return None
  found = _scaled(_follow(x, order.whole, inside), order)
  if found is not None:
    return found
  while inside and x.opcode == "parameter":
    x, inside = inside[-1].operands[x.attrs["parameter_number"]], inside[:-1]
  return View(x, order.whole, inside)


def _scaled(views: list[View], order: Order) -> Scaled | None:
  scalars = tuple(v for v in views if v.source.shape.num_elements == 1)
  rest = [v for v in views if v.source.shape.num_elements != 1]
  if len(rest) != 2:
    return None
  for elements, scales in (rest, rest[::-1]):
    shape = elements.source.shape
    if PRIMITIVE_TYPES[shape.element_type].bits > _SMALL_BITS or shape.kind not in ("float", "signed", "unsigned"):
      continue
    block = _block(scales, order)
    if block is not None and block > 1 and _covers(elements, order):
      return Scaled(elements, scales, block, scalars)
  return None


def _digits(view: View, dimension: int) -> list[Atom]:
  """What a view sees of a dimension, the most significant first."""
  return sorted((a for a in view.atoms if a.dimension == dimension), key=lambda a: -a.stride)


def _seen(view: View, dimension: int, size: int) -> int | None:
  """The stride from which on a view sees all of an index: 1 for all, `size` for nothing; None if there are gaps."""
  above = 0
  for atom in _digits(view, dimension):
    if above == 0 and atom.stride * atom.size < size:
      return None
    if above and atom.stride * atom.size != above:
      return None
    above = atom.stride
  return above or size


def _covers(view: View, order: Order) -> bool:
  return all(_seen(view, d, size) == 1 for d, size in enumerate(order.sizes) if size != 1)


def _block(scales: View, order: Order) -> int | None:
  """How many neighbours along the contracted index share a scale; None if those that do are no such blocks."""
  block, inner, k = 1, 1, order.size(order.contracted)
  for d in reversed(order.contracted):
    size = order.sizes[d]
    seen = _seen(scales, d, size)
    if seen is None or (block != inner and seen != 1):  # digits that are not the leading ones
      return None
    covered = math.prod(a.size for a in _digits(scales, d)) * seen
    if covered != size and inner * size != k:  # the last block is cut short, and something comes after it
      return None
    block *= seen
    inner *= size
  exact = all(_exactly(scales, d, order.sizes[d]) for d in (*order.batch, *order.free))
  return block if exact else None


def _exactly(view: View, dimension: int, size: int) -> bool:
  """Whether a view sees the leading part of an index, or nothing, and no more than there is."""
  seen = _seen(view, dimension, size)
  return seen is not None and size % seen == 0 and math.prod(a.size for a in _digits(view, dimension)) == size // seen


# --- the call ----------------------------------------------------------------------------------------------------


def written_dot(x: Instruction) -> Instruction | None:
  """The dot that an instruction is: itself, or all that a fusion computes."""
  if x.opcode == "fusion" and x.attrs["calls"].root.opcode == "dot":
    return x.attrs["calls"].root
  return x if x.opcode == "dot" else None


def block_scaled_dot(at: Instruction, target: str) -> tuple[Instruction, Instruction] | None:
  """A dot, or a fusion of one, as a block-scaled one: the custom call, and the replacement of the dot; both are inserted before it.

  The call is `(lhs, rhs, lhs scales, rhs scales, global scale)`, the last two if both operands are scaled; batch dimensions first,
  the contracted one last. The scaled operand is the first if it is the only one.
  """
  dot = written_dot(at)
  if (
    dot is None
    or len(dot.operands) != 2
    or dot.shape.element_type not in _FLOATS
    or dot.shape.is_dynamic
    or 0 in dot.shape.dimensions
  ):
    return None
  orders = [_order(dot, side) for side in ("lhs", "rhs")]
  if any(not o.contracted or o.size(o.contracted) < 2 for o in orders):
    return None
  inside = () if at is dot else (at,)
  sides = [_side(x, inside, order) for x, order in zip(dot.operands, orders)]
  swapped = not isinstance(sides[0], Scaled)
  if swapped:
    sides, orders = sides[::-1], orders[::-1]
  if not isinstance(sides[0], Scaled) or sides[1] is None:
    return None
  values = [v for s in sides for v in ((s.elements, s.scales, *s.scalars) if isinstance(s, Scaled) else [s]) if v]
  if not all(_is_cheap(v.source, v.inside) for v in values):
    return None
  b = builder_at(at)
  k = orders[0].size(orders[0].contracted)
  unit = math.lcm(*(s.block for s in sides if isinstance(s, Scaled)))
  padded = -(-k // unit) * unit
  data = [
    _elements(b, s.elements if isinstance(s, Scaled) else s, order, padded) for s, order in zip(sides, orders) if s
  ]
  scales = [_scales(b, s, order, padded) for s, order in zip(sides, orders) if isinstance(s, Scaled)]
  scalars = [_scalar(b, x) for s in sides if isinstance(s, Scaled) for x in s.scalars]
  whole = scalars[0] if scalars else None
  for x in scalars[1:]:
    whole = b.multiply(whole, x) if whole is not None else x
  whole_inside = [whole] if whole is not None and len(scales) == 2 else []
  afterwards = whole is not None and not whole_inside
  batch = tuple(orders[0].sizes[d] for d in orders[0].batch)
  rows = [order.size(order.free) for order in orders]
  dtype = dot.shape.element_type
  shape = Shape.array("f32" if afterwards else dtype, (*batch, *rows))
  call = b.op("custom-call", (*data, *scales, *whole_inside), shape, custom_call_target=target)
  found = call
  if afterwards and whole is not None:
    found = b.multiply(found, b.broadcast(whole, found.shape.dimensions))
    found = found if dtype == "f32" else b.convert(found, dtype)
  if swapped:
    rank = len(batch) + 2
    found = b.transpose(found, (*range(rank - 2), rank - 1, rank - 2))
  if found.shape.dimensions != dot.shape.dimensions:
    found = b.reshape(found, dot.shape.dimensions)
  return call, found


def _order(dot: Instruction, side: str) -> Order:
  x = dot.operands[0 if side == "lhs" else 1]
  contracted, batch = (tuple(dot.attrs.get(f"{side}_{kind}_dims", ())) for kind in ("contracting", "batch"))
  free = tuple(d for d in range(x.shape.rank) if d not in (*contracted, *batch))
  return Order(batch, free, contracted, x.shape.dimensions)


def _outside(
  b: Builder, x: Instruction, inside: tuple[Instruction, ...], made: dict[Instruction, Instruction]
) -> Instruction:
  """A value as it is outside of all fusions: what computes it within them is copied."""
  if not inside:
    return x
  if x.opcode == "parameter":
    return _outside(b, inside[-1].operands[x.attrs["parameter_number"]], inside[:-1], {})
  if x not in made:
    operands = [_outside(b, operand, inside, made) for operand in x.operands]
    made[x] = b.computation.insert(clone_instruction(x, operands), before=b.before)
  return made[x]


def _is_cheap(x: Instruction, inside: tuple[Instruction, ...]) -> bool:
  """Whether a value within a fusion may be computed a second time: a part of an array, such as a layer of stacked weights."""
  waiting, count = ([x] if inside else []), 0
  while waiting:
    x = waiting.pop()
    count += 1
    if count > _MAX_COPIES or (x.opcode not in _CHEAP and x.shape.num_elements > 1):
      return False
    waiting += [o for o in x.operands if o.opcode != "parameter"]
  return True


def _scalar(b: Builder, view: View) -> Instruction:
  x = _outside(b, view.source, view.inside, {})
  x = x if x.shape.is_scalar else b.reshape(x, ())
  return x if x.shape.element_type == "f32" else b.convert(x, "f32")


def _elements(b: Builder, view: View, order: Order, k: int) -> Instruction:
  """Elements as (batch…, rows, k), padded with zeros along k."""
  found = _in_order(b, view, order, order.whole)
  batch = tuple(order.sizes[d] for d in order.batch)
  found = _reshaped(b, found, (*batch, order.size(order.free), order.size(order.contracted)))
  return _padded(b, found, k, 0)


def _scales(b: Builder, side: Scaled, order: Order, k: int) -> Instruction:
  """Scales as (batch…, rows, k / block), repeated where one serves several rows, padded with ones."""
  digits = [tuple(_digits(side.scales, d)) for d in range(len(order.sizes))]
  found = _in_order(b, side.scales, order, tuple(digits))
  batch = tuple(order.sizes[d] for d in order.batch)
  columns = math.prod(a.size for d in order.contracted for a in digits[d])
  # One dimension for each digit that is there, and one for what is missing of a dimension.
  wide: list[int] = []
  at: list[int] = []
  for d in (*order.batch, *order.free):
    for atom in digits[d]:
      at.append(len(wide))
      wide.append(atom.size)
    missing = digits[d][-1].stride if digits[d] else order.sizes[d]
    if missing > 1:
      wide.append(missing)
  for d in order.contracted:
    for atom in digits[d]:
      at.append(len(wide))
      wide.append(atom.size)
  if tuple(wide) != found.shape.dimensions:
    found = b.broadcast(found, tuple(wide), at)
  found = _reshaped(b, found, (*batch, order.size(order.free), columns))
  needed = -(-order.size(order.contracted) // side.block)
  if columns > needed:
    found = b.slice(found, *((0, size) for size in found.shape.dimensions[:-1]), (0, needed))
  return _padded(b, found, k // side.block, 1)


def _in_order(b: Builder, view: View, order: Order, wanted: Dims) -> Instruction:
  """A view's source with one dimension for each digit: batch, free, contracted; what lies beyond the operand's sizes is cut off."""
  target = [a for d in (*order.batch, *order.free, *order.contracted) for a in wanted[d]]
  atoms: list[Atom] = []
  for atom in view.atoms:
    last = atoms[-1] if atoms else None
    if last is not None and last.dimension == atom.dimension and last.stride == atom.stride * atom.size:
      atoms[-1] = Atom(atom.dimension, atom.stride, last.size * atom.size)  # neighbours that stay together
    else:
      atoms.append(atom)
  placed = sorted(atoms, key=lambda a: (_position(a, order), -a.stride))
  found = _reshaped(b, _outside(b, view.source, view.inside, {}), tuple(a.size for a in atoms))
  permutation = tuple(atoms.index(a) for a in placed)
  if permutation != tuple(range(len(permutation))):
    found = b.transpose(found, permutation)
  sizes = []
  for d in (*order.batch, *order.free, *order.contracted):
    own = [a.size for a in placed if a.dimension == d]
    sizes.append((d, math.prod(own)))
  if any(size != math.prod(a.size for a in wanted[d]) for d, size in sizes):
    found = _reshaped(b, found, tuple(size for _, size in sizes))
    found = b.slice(found, *((0, math.prod(a.size for a in wanted[d])) for d, _ in sizes))
  return _reshaped(b, found, tuple(a.size for a in target))


def _position(atom: Atom, order: Order) -> int:
  return (*order.batch, *order.free, *order.contracted).index(atom.dimension)


def _reshaped(b: Builder, x: Instruction, dimensions: tuple[int, ...]) -> Instruction:
  return x if x.shape.dimensions == dimensions else b.reshape(x, dimensions)


def _padded(b: Builder, x: Instruction, columns: int, value: float) -> Instruction:
  more = columns - x.shape.dimensions[-1]
  if more == 0:
    return x
  fill = b.constant(np.asarray(value, np.float32).astype(x.shape.dtype))
  return b.pad(x, fill, *((0, 0),) * (x.shape.rank - 1), (0, more))
