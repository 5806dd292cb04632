"""Identities of data movement, as rows of (pattern, rewrite): joined parts are not split again, and nothing is moved twice.

`RULES` are exact: elements keep their bits and only change places. A reduction may be regrouped where its operation is insensitive
to it (integers, minimum and maximum); HLO leaves the order of additions in one reduction open, so its operand may be
transposed. Collectives of one device return their operands. `INEXACT` regroups float reductions and replaces dots without a
reduction by products, as XLA does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import copies_are_values
from tilewright.hlo.passes.collective_keys import group_size, reducer
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.patterns import HOLDS, Match, Rule, is_plain, splat
from tilewright.hlo.passes.tuple_simplifier import has_control_edges
from tilewright.hlo.shape import Shape
from tilewright.hlo.values import PaddingDim, SliceDim

Rewrite = Callable[[Match], Instruction | None]


def _plain(rewrite: Rewrite) -> Rewrite:
  """The row applies to row-major arrays only, operands included."""
  return lambda m: rewrite(m) if is_plain(m.root, *m.root.operands) else None


def _shape(m: Match, dimensions: tuple[int, ...]) -> Shape:
  return Shape.array(m.root.shape.element_type, dimensions, layout=m.root.shape.layout is not None)


# Broadcasts.


def _reshape_of_broadcast(m: Match) -> Instruction | None:
  """A reshape that keeps every dimension of more than one element which the broadcast took from its operand."""
  inner, x = m.root.operands[0], m["x"]
  if not is_plain(x) or not m.root.shape.num_elements:
    return None
  place = _kept_dimensions(inner.shape.dimensions, m.root.shape.dimensions)
  taken = [(d, size) for d, size in zip(inner.attrs.get("dimensions", ()), x.shape.dimensions) if size != 1]
  if any(d not in place for d, _ in taken):
    return None
  if len(taken) < x.shape.rank:
    x = m.new("reshape", (x,), _shape(m, tuple(size for _, size in taken)))
  return m.new("broadcast", (x,), dimensions=tuple(place[d] for d, _ in taken))


def _kept_dimensions(before: tuple[int, ...], after: tuple[int, ...]) -> dict[int, int]:
  """The dimensions that a row-major reshape leaves as they are, with their new numbers: as large, and with as much before them."""
  found: dict[tuple[int, int], int] = {}
  for d, size in enumerate(after):
    found[math.prod(after[:d]), size] = d
  return {
    d: found[key] for d, size in enumerate(before) if size != 1 and (key := (math.prod(before[:d]), size)) in found
  }


def _broadcast_of_iota(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  return m.new("iota", (), iota_dimension=m.root.attrs["dimensions"][inner.attrs["iota_dimension"]])


def _broadcast_of_reshape(m: Match) -> Instruction | None:
  """A reshape that only adds dimensions of size 1."""
  x, inner = m["x"], m.root.operands[0]
  dims = [d for d, size in zip(m.root.attrs.get("dimensions", ()), inner.shape.dimensions) if size != 1]
  same = x.shape.dimensions == tuple(size for size in inner.shape.dimensions if size != 1)
  return m.new("broadcast", (x,), dimensions=tuple(dims)) if same and is_plain(x) else None


def _equal_everywhere(m: Match) -> Instruction | None:
  """All members contribute the same constant: zeros to a sum, or anything to a minimum, a maximum, an `and` or an `or`."""
  x, operation = m["x"], reducer(m.root)
  value = splat(x)
  if value is None or x.shape != m.root.shape or x.shape.is_dynamic:
    return None
  return x if operation in ("minimum", "maximum", "and", "or") or (operation == "add" and value == 0) else None


def _copy(m: Match) -> Instruction | None:
  module = m.root.parent.parent if m.root.parent is not None else None
  x = m["x"]
  same = x.shape == m.root.shape and not x.shape.is_dynamic
  return x if same and module is not None and copies_are_values(module) else None


def _transpose_of_broadcast(m: Match) -> Instruction | None:
  order, dims = m.root.attrs["dimensions"], m.root.operands[0].attrs.get("dimensions", ())
  return m.new("broadcast", (m["x"],), dimensions=tuple(order.index(d) for d in dims)) if is_plain(m["x"]) else None


def _cut_of_broadcast(m: Match) -> Instruction | None:
  """A slice that cuts only what the broadcast repeated."""
  inner = m.root.operands[0]
  if inner.opcode != "broadcast":
    return None
  (x,), dims = inner.operands, inner.attrs.get("dimensions", ())
  whole = all(inner.shape.dimensions[d] == m.root.shape.dimensions[d] for d in dims)
  return m.new("broadcast", (x,), dimensions=dims) if whole and is_plain(x, inner, m.root) else None


def _broadcast_of_ones(m: Match) -> Instruction | None:
  """A broadcast that adds dimensions of size 1."""
  dims = m.root.attrs.get("dimensions", ())
  same = m["x"].shape.num_elements == m.root.shape.num_elements
  return m.new("reshape", (m["x"],)) if same and list(dims) == sorted(dims) else None


def _transpose_of_ones(m: Match) -> Instruction | None:
  """A transpose that moves dimensions of size 1 only."""
  x, order = m["x"], m.root.attrs["dimensions"]
  long = [d for d in order if x.shape.dimensions[d] != 1]
  return m.new("reshape", (x,)) if long == sorted(long) and order != tuple(sorted(order)) else None


# Parts of joined arrays.


def _slice_of_concatenate(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  if inner.opcode != "concatenate" or not is_plain(*inner.operands, m.root):
    return None
  (axis,) = inner.attrs["dimensions"]
  wanted, start = m.root.attrs["slice"][axis], 0
  for part in inner.operands:
    end = start + part.shape.dimensions[axis]
    if start <= wanted.start and wanted.limit <= end and wanted.start < wanted.limit:
      cut = tuple(
        SliceDim(w.start - start, w.limit - start, w.stride) if d == axis else w
        for d, w in enumerate(m.root.attrs["slice"])
      )
      return part if part.shape == m.root.shape else m.new("slice", (part,), slice=cut)
    start = end
  return None


def _slice_of_pad(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  x, padding = m["x"], inner.attrs["padding"]
  if not is_plain(x) or any(p.interior for p in padding):
    return None
  cut = []
  for w, p, size in zip(m.root.attrs["slice"], padding, x.shape.dimensions):
    if not p.low <= w.start < w.limit <= p.low + size:
      return None
    cut.append(SliceDim(w.start - p.low, w.limit - p.low, w.stride))
  return x if x.shape == m.root.shape else m.new("slice", (x,), slice=tuple(cut))


def _concatenate_of_slices(m: Match) -> Instruction | None:
  """Slices that lie side by side in one array, all operands."""
  (axis,) = m.root.attrs["dimensions"]
  parts = m.root.operands
  if len(parts) < 2 or any(p.opcode != "slice" or p.operands[0] is not parts[0].operands[0] for p in parts):
    return None
  x, cuts = parts[0].operands[0], [p.attrs["slice"] for p in parts]
  for before, after in itertools.pairwise(cuts):
    others = all(a == b for d, (a, b) in enumerate(zip(before, after)) if d != axis)
    if not others or before[axis].limit != after[axis].start or before[axis].stride != 1 or after[axis].stride != 1:
      return None
  if not is_plain(x):
    return None
  if x.shape == m.root.shape:
    return x
  joined = tuple(SliceDim(c.start, cuts[-1][axis].limit) if d == axis else c for d, c in enumerate(cuts[0]))
  return m.new("slice", (x,), slice=joined)


def _concatenate_with_constant(m: Match) -> Instruction | None:
  """An array beside a repeated scalar is a padded array."""
  (axis,), parts = m.root.attrs["dimensions"], m.root.operands
  if len(parts) != 2:
    return None
  fills = [p.opcode == "broadcast" and p.operands[0].shape.is_scalar for p in parts]
  if fills[0] == fills[1]:
    return None
  fill, x = (parts[0], parts[1]) if fills[0] else (parts[1], parts[0])
  size = fill.shape.dimensions[axis]
  low, high = (size, 0) if fills[0] else (0, size)
  padding = tuple(PaddingDim(low, high) if d == axis else PaddingDim(0, 0) for d in range(m.root.shape.rank))
  return m.new("pad", (x, fill.operands[0]), padding=padding)


def _pad_of_pad(m: Match) -> Instruction | None:
  inner, value = m.root.operands
  same = inner.operands[1] is value or (splat(value) is not None and _same_bits(splat(value), splat(inner.operands[1])))
  both = list(zip(inner.attrs["padding"], m.root.attrs["padding"]))
  if (
    not same or any(p.interior or min(p.low, p.high) < 0 for pair in both for p in pair) or not is_plain(inner, m["x"])
  ):
    return None
  padding = tuple(PaddingDim(a.low + b.low, a.high + b.high) for a, b in both)
  return m.new("pad", (m["x"], value), padding=padding)


def _same_bits(a: object, b: object) -> bool:
  return b is not None and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def _negative_pad(m: Match) -> Instruction | None:
  x, padding = m["x"], m.root.attrs["padding"]
  if any(p.interior or max(p.low, p.high) > 0 for p in padding) or not any(p.low or p.high for p in padding):
    return None
  return m.new(
    "slice", (x,), slice=tuple(SliceDim(-p.low, size + p.high) for p, size in zip(padding, x.shape.dimensions))
  )


def _reverse_of_reverse(m: Match) -> Instruction | None:
  """Dimensions that are reversed twice stay as they are."""
  x, inner = m["x"], m.root.operands[0]
  left = set(m.root.attrs["dimensions"]) ^ set(inner.attrs["dimensions"])
  if x.shape != m.root.shape or inner.shape != m.root.shape:
    return None
  return m.new("reverse", (x,), dimensions=tuple(sorted(left))) if left else x


def _reshaped_iota(m: Match) -> Instruction | None:
  iota = m.root.operands[0]
  axis = iota.attrs["iota_dimension"]
  if m.root.shape.rank != 1 or iota.shape.dimensions[axis] != iota.shape.num_elements:
    return None
  return m.new("iota", (), iota_dimension=0)


def _nothing_updated(m: Match) -> Instruction | None:
  x, update = m.root.operands[0], m.root.operands[1]
  return x if not update.shape.num_elements and x.shape == m.root.shape else None


def _nothing_scattered(m: Match) -> Instruction | None:
  if len(m.root.operands) != 3:
    return None
  x, _, update = m.root.operands
  return x if not update.shape.num_elements and x.shape == m.root.shape else None


def _element_of_tuple(m: Match) -> Instruction | None:
  element = m.root.operands[0].operands[m.root.attrs["index"]]
  return element if element.shape == m.root.shape else None


# Computations.


def _operation(root: Instruction) -> str | None:
  """The one opcode of the computation an instruction applies."""
  return reducer(root) if len(root.operands) == 2 else None


def _reduce_of_one(m: Match) -> Instruction | None:
  """A reduction over dimensions of size 1, or over none, is one application."""
  operation = _operation(m.root)
  if operation is None or not m.root.shape.is_array or not is_plain(m.root, *m.root.operands):
    return None
  x, start = m.root.operands
  if any(x.shape.dimensions[d] != 1 for d in m.root.attrs["dimensions"]):
    return None
  first = m.new("broadcast", (start,), dimensions=()) if m.root.shape.rank else start
  second = x if x.shape == m.root.shape else m.new("reshape", (x,))
  return m.new(operation, (first, second))


_NEUTRAL = {"add": 0, "multiply": 1, "or": 0, "xor": 0}


def _is_neutral(start: Instruction, operation: str) -> bool:
  value, kind = splat(start), start.shape.kind
  if value is None:
    return False
  if operation in _NEUTRAL:
    return float(value) == _NEUTRAL[operation]
  if operation not in ("maximum", "minimum", "and"):
    return False
  if operation == "and":
    return bool(~np.asarray(value) == 0) if kind != "pred" else bool(value)
  bound = np.iinfo(start.shape.dtype) if kind in ("signed", "unsigned") else None
  if bound is None:
    return kind == "float" and float(value) == (-np.inf if operation == "maximum" else np.inf)
  return int(value) == (bound.min if operation == "maximum" else bound.max)


def _reduce_of_reduce(floats: bool) -> Rewrite:
  def rewrite(m: Match) -> Instruction | None:
    outer, inner = m.root, m.root.operands[0]
    operation = _operation(outer)
    if operation is None or _operation(inner) != operation or inner.user_count != 1 or not inner.shape.is_array:
      return None
    rounds = outer.shape.kind in ("float", "complex") and operation in ("add", "multiply")
    if rounds != floats or not _is_neutral(inner.operands[1], operation):
      return None
    kept = [d for d in range(inner.operands[0].shape.rank) if d not in inner.attrs["dimensions"]]
    dims = tuple(sorted((*inner.attrs["dimensions"], *(kept[d] for d in outer.attrs["dimensions"]))))
    return m.new("reduce", (inner.operands[0], outer.operands[1]), dimensions=dims, to_apply=outer.attrs["to_apply"])

  return rewrite


def _reduce_of_transpose(m: Match) -> Instruction | None:
  transpose, start = m.root.operands
  order, dims = transpose.attrs["dimensions"], m.root.attrs["dimensions"]
  kept = [order[d] for d in range(len(order)) if d not in dims]
  if _operation(m.root) is None or kept != sorted(kept) or not is_plain(m["x"], m.root):
    return None
  reduced = tuple(sorted(order[d] for d in dims))
  return m.new("reduce", (m["x"], start), dimensions=reduced, to_apply=m.root.attrs["to_apply"])


def _empty_dot(m: Match) -> Instruction | None:
  a = m.root.operands[0]
  empty = any(not a.shape.dimensions[d] for d in m.root.attrs.get("lhs_contracting_dims", ()))
  return m.constant(0) if empty and m.root.shape.kind != "complex" else None


def _dot_of_transpose(m: Match) -> Instruction | None:
  """The dot names the dimensions of what is transposed, where the order of those of the result stays."""
  attrs, operands = dict(m.root.attrs), list(m.root.operands)
  changed = False
  for i, side in enumerate(("lhs", "rhs")):
    transpose = operands[i]
    if transpose.opcode != "transpose" or not is_plain(transpose, transpose.operands[0]):
      continue
    order = transpose.attrs["dimensions"]
    contracted, batch = (tuple(attrs.get(f"{side}_{kind}_dims", ())) for kind in ("contracting", "batch"))
    free = [order[d] for d in range(len(order)) if d not in contracted and d not in batch]
    if free != sorted(free):
      continue
    for kind, dims in (("contracting", contracted), ("batch", batch)):
      if dims:
        attrs[f"{side}_{kind}_dims"] = tuple(order[d] for d in dims)
    operands[i], changed = transpose.operands[0], True
  return m.new("dot", operands, **attrs) if changed else None


def _dot_without_sum(m: Match) -> Instruction | None:
  """A dot whose contracted dimensions have size 1, without batches, is a product of broadcasts."""
  attrs, operands = m.root.attrs, m.root.operands
  if attrs.get("lhs_batch_dims") or m.root.shape.element_type not in {o.shape.element_type for o in operands}:
    return None
  if operands[0].shape.element_type != operands[1].shape.element_type:
    return None
  parts, place = [], 0
  for x, side in zip(operands, ("lhs", "rhs")):
    contracted = attrs.get(f"{side}_contracting_dims", ())
    if any(x.shape.dimensions[d] != 1 for d in contracted):
      return None
    sizes = tuple(size for d, size in enumerate(x.shape.dimensions) if d not in contracted)
    flat = x if not contracted else m.new("reshape", (x,), _shape(m, sizes))
    dims = tuple(range(place, place + len(sizes)))
    parts.append(flat if len(sizes) == m.root.shape.rank else m.new("broadcast", (flat,), dimensions=dims))
    place += len(sizes)
  return m.new("multiply", parts)


def _sort_of_one(m: Match) -> Instruction | None:
  (axis,) = m.root.attrs["dimensions"]
  first = m.root.operands[0]
  if first.shape.dimensions[axis] > 1:
    return None
  if len(m.root.operands) > 1:
    return m.new("tuple", m.root.operands)
  return first if first.shape == m.root.shape else None


def _mapped(m: Match) -> Instruction | None:
  """A map of one elementwise operation is that operation."""
  root = m.root.attrs["to_apply"].root
  parameters = m.root.attrs["to_apply"].parameters
  if len(parameters) != 2 or tuple(root.operands) != tuple(parameters) or root.opcode not in _BINARY:
    return None
  return m.new(root.opcode, m.root.operands)


_BINARY = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "and", "or", "xor", "power"})


def _lone_collective(m: Match) -> Instruction | None:
  root = m.root
  assert root.parent is not None
  module = root.parent.parent
  if module is None or len(root.operands) != 1 or root.operands[0].shape != root.shape:
    return None
  if root.attrs.get("constrain_layout") or group_size(root, module) != 1:
    return None
  return root.operands[0]


def _twice_widened(m: Match) -> Instruction | None:
  inner = m.root.operands[0].shape.element_type
  holds = m["x"].shape.element_type in HOLDS.get(inner, ())
  return m.new("convert", (m["x"],)) if holds and m["x"].shape != m.root.shape and is_plain(m.root, m["x"]) else None


RULES: list[Rule] = [
  Rule("reshape of broadcast", ("reshape", ("broadcast", "x")), _plain(_reshape_of_broadcast)),
  Rule("broadcast of iota", ("broadcast", ("iota",)), _plain(_broadcast_of_iota)),
  Rule("broadcast of reshape", ("broadcast", ("reshape", "x")), _plain(_broadcast_of_reshape)),
  Rule("copy in one layout", ("copy", "x"), _copy),
  Rule("all-reduce of equal constants", ("all-reduce", "x"), _equal_everywhere),
  Rule("transpose of broadcast", ("transpose", ("broadcast", "x")), _plain(_transpose_of_broadcast)),
  Rule("slice of broadcast", ("slice", ("broadcast", "x")), _plain(_cut_of_broadcast)),
  Rule("dynamic-slice of broadcast", ("dynamic-slice", ...), _cut_of_broadcast),
  Rule("broadcast by ones", ("broadcast", "x"), _plain(_broadcast_of_ones)),
  Rule("transpose of ones", ("transpose", "x"), _plain(_transpose_of_ones)),
  Rule("slice of concatenate", ("slice", "x"), _plain(_slice_of_concatenate)),
  Rule("slice of pad", ("slice", ("pad", "x", "value")), _plain(_slice_of_pad)),
  Rule("neighbouring slices", ("concatenate", ...), _plain(_concatenate_of_slices)),
  Rule("join with a constant", ("concatenate", ...), _plain(_concatenate_with_constant)),
  Rule("pad of pad", ("pad", ("pad", "x", "inner"), "outer"), _plain(_pad_of_pad)),
  Rule("pad by less than nothing", ("pad", "x", "value"), _plain(_negative_pad)),
  Rule("reverse of reverse", ("reverse", ("reverse", "x")), _reverse_of_reverse),
  Rule("reshape of iota", ("reshape", ("iota",)), _plain(_reshaped_iota)),
  Rule("update of nothing", ("dynamic-update-slice", ...), _nothing_updated),
  Rule("scatter of nothing", ("scatter", ...), _nothing_scattered),
  Rule("element of tuple", ("get-tuple-element", ("tuple", ...)), _element_of_tuple),
  Rule("reduce of one element", ("reduce", ...), _reduce_of_one),
  Rule("reduce of reduce", ("reduce", ("reduce", ...), "start"), _plain(_reduce_of_reduce(floats=False))),
  Rule("reduce of transpose", ("reduce", ("transpose", "x"), "start"), _reduce_of_transpose),
  Rule("dot over nothing", ("dot", ...), _plain(_empty_dot)),
  Rule("dot of transpose", ("dot", ...), _plain(_dot_of_transpose)),
  Rule("sort of one element", ("sort", ...), _sort_of_one),
  Rule("map of one operation", ("map", ...), _plain(_mapped)),
  *(
    Rule(f"{opcode} of one device", (opcode, "x"), _lone_collective)
    for opcode in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast")
  ),
  Rule("convert of a widening convert", ("convert", ("convert", "x")), _twice_widened),
]

INEXACT: list[Rule] = [
  Rule(
    "reduce of reduce, sums of floats", ("reduce", ("reduce", ...), "start"), _plain(_reduce_of_reduce(floats=True))
  ),
  Rule("dot without a sum", ("dot", ...), _plain(_dot_without_sum)),
]


# Rules that need more than one instruction.


def fill_empty(module: Module) -> bool:
  """Arrays without elements need no computation."""
  effects, changed = Effects(), False
  for computation in module.computations:
    for instruction in [] if computation.is_fusion else list(computation.instructions):
      shape = instruction.shape
      if not shape.is_array or shape.num_elements or instruction.opcode in ("parameter", "constant", "broadcast"):
        continue
      kept = has_control_edges(instruction) or instruction.sharding is not None or not is_plain(instruction)
      if kept or shape.kind not in ("signed", "unsigned", "float", "pred") or not effects.is_value(instruction):
        continue
      computation.replace(instruction, Match(instruction).constant(0))
      changed = True
  return changed


def narrow_barriers(module: Module) -> bool:
  """Unused elements of a barrier are removed from it."""
  changed = False
  for computation in module.computations:
    for barrier in [i for i in computation.instructions if i.opcode == "opt-barrier"]:
      (source,) = barrier.operands
      takers = barrier.users
      if source.opcode != "tuple" or barrier.is_root or has_control_edges(barrier) or barrier.sharding is not None:
        continue
      if not takers or any(u.opcode != "get-tuple-element" for u in takers):
        continue
      taken = sorted({u.attrs["index"] for u in takers})
      if len(taken) == len(source.operands):
        continue
      m = Match(barrier)
      parts = [source.operands[i] for i in taken]
      shape = Shape.tuple_of(*(p.shape for p in parts))
      less = m.new("opt-barrier", (m.new("tuple", parts, shape),), shape)
      for taker in takers:
        taker.set_operands((less,))
        taker.attrs["index"] = taken.index(taker.attrs["index"])
      computation.remove(barrier)
      changed = True
  return changed
