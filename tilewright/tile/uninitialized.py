"""Which memory must be filled with poison before its first use.

Unwritten elements are poison (NaN, or the smallest integer), so that a kernel that forgets a part of its output does not look right by
chance. Filling costs a pass over memory, so it is skipped where every element is proven to be written, and none is read before that. For
an output:

- its blocks cover the array: each entry of the index map is a different grid index, of a dimension with as many instances as there are
  blocks, or there is only one block;
- each instance stores to all of its block, perhaps part by part, before it reads any of it; or the instances that see the block first do
  (`@pl.when(k == 0)`, where the block does not depend on k); or those that see it at another fixed k do, if nothing else reads it.

For an output that instances see as a whole and write at computed offsets (`outputs_at_computed_places`), nothing can be proven: for
example, a hand-written matmul whose CTAs are scheduled in a custom order. A target may skip the fill there.

Scratch memory is like an output that the instances of one thread see as a whole. Scoped memory is checked against the ops that follow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.tile.boxes import Box, box_of, cover, number, unconverted
from tilewright.tile.dead_code import VIEWS, accesses, base_of
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.ir import Block, Function, Op, Value, walk
from tilewright.tile.native import NativeKernel, index_entries
from tilewright.tile.ops import OPS

Guard = list[tuple[int, int]]  # (grid dimension, index along it): where a case of a switch runs


def outputs_to_poison(kernel: NativeKernel) -> list[int]:
  """The numbers of the outputs with an element that may never be written, or may be read before it is written."""
  if kernel.writes_all:
    return []
  mapping = kernel.mapping
  aliased = {out for _, out in kernel.input_output_aliases}
  first = mapping.num_prefetch + mapping.num_inputs
  found = []
  for i, m in enumerate(mapping.output_mappings):
    index_map = kernel.index_maps[mapping.num_inputs + i]
    covered = _covers(m, index_map, mapping.grid)
    if i not in aliased and not (covered and _Writes(kernel, _same_block(kernel, index_map)).all_of(first + i)):
      found.append(i)
  return found


def outputs_at_computed_places(kernel: NativeKernel) -> set[int]:
  """The numbers of the outputs that instances see as a whole and write in part, at computed offsets."""
  mapping = kernel.mapping
  first = mapping.num_prefetch + mapping.num_inputs
  whole = {
    kernel.body.params[first + i]: i
    for i in range(len(mapping.output_mappings))
    if kernel.index_maps[mapping.num_inputs + i] is None
  }
  stores = (op for op in walk(kernel.body.body) if op.name in ("store", "window_store"))
  return {
    whole[base]
    for op in stores
    if (base := base_of(op.operands[0])) in whole and next(_computed_starts(op), None) is not None
  }


def _computed_starts(store: Op) -> Iterator[Value]:
  """The start offsets of the written part that are not constants."""
  starts, ref = list(store.operands[2:]), store.operands[0]
  while isinstance(op := ref.owner, Op) and op.name in VIEWS:
    starts += op.operands[1:]
    ref = op.operands[0]
  return (v for v in starts if number(v) is None)


def outputs_written_first(kernel: NativeKernel) -> set[int]:
  """The numbers of the outputs whose previous contents are never read."""
  aliased = {out for _, out in kernel.input_output_aliases}
  return set(range(len(kernel.mapping.output_mappings))) - aliased - set(outputs_to_poison(kernel))


def scratch_to_poison(kernel: NativeKernel, parallel: Sequence[int]) -> list[int]:
  """The numbers of the scratch buffers with an element that may be read before it is written."""
  first = len(kernel.body.params) - len(kernel.scratch)
  writes = _Writes(kernel, {d for d in range(len(kernel.mapping.grid)) if d not in parallel})
  return [i for i in range(len(kernel.scratch)) if not writes.all_of(first + i)]


def must_poison(alloc: Op, block: Block) -> bool:
  """Whether memory that a block allocates may be read before it is written."""
  return not _Writes(None, set()).first(block.ops[block.ops.index(alloc) + 1 :], alloc.result)


def _same_block(kernel: NativeKernel, index_map: Function | None) -> set[int]:
  """The dimensions of the grid along which all instances see the same block."""
  dims = range(len(kernel.mapping.grid))
  if index_map is None:
    return set(dims)
  used = {v for op in walk(index_map.body) for v in op.operands}
  return {d for d in dims if index_map.params[d] not in used}


# --- blocks ------------------------------------------------------------------------------------------------------


def _covers(m: BlockMapping, index_map: Function | None, grid: tuple[int | None, ...]) -> bool:
  """Whether every element of the array is in some instance's block."""
  if any(not size for size in grid):  # zero or unknown: there may be no instance at all
    return False
  if index_map is None:
    return True
  used: set[int] = set()
  for dim, size, (entry, *_) in zip(m.block_shape, m.array_aval.shape, index_entries(m, index_map), strict=True):
    if not isinstance(dim, Blocked | Squeezed):
      return False
    blocks = -(-size // dim.block_size)
    axis = _grid_index(entry, index_map)
    if axis is not None and axis not in used and (grid[axis] or 0) >= blocks:
      used.add(axis)
    elif blocks > 1 or number(entry) != 0:
      return False
  return True


def _grid_index(v: Value, index_map: Function) -> int | None:
  """The dimension of the grid whose index a value is, up to conversions between integers."""
  v = unconverted(v)
  return index_map.params.index(v) if v in index_map.params else None


# --- what a body writes ------------------------------------------------------------------------------------------


class _Writes:
  """Whether a body writes all of a ref before it reads any of it. Along the dimensions in `same`, instances see the same memory."""

  def __init__(self, kernel: NativeKernel | None, same: set[int]):
    self.kernel, self.same = kernel, same

  def all_of(self, number: int) -> bool:
    """Whether the body writes all of a parameter first."""
    assert self.kernel is not None
    return self.first(self.kernel.body.body.ops, self.kernel.body.params[number])

  def first(self, ops: Sequence[Op], ref: Value) -> bool:
    boxes: list[Box] = []
    for op in ops:
      if OPS[op.name].fills and _is_all_of(op.operands[0], ref):
        return True
      box = box_of(op.operands[0], ref) if OPS[op.name].fills else None
      if box is not None:
        boxes.append(box)
        if cover(boxes, ref.ref.shape):
          return True
      if OPS[op.name].is_choice and self._initialized_in_branch(op, ref):
        return True
      if _reads(op, ref):
        return False
    return False

  def _initialized_in_branch(self, op: Op, ref: Value) -> bool:
    if all(self.first(case.ops, ref) for case in op.blocks):
      return True
    guard = self._under_condition(op.operands[0])
    if self.kernel is None or guard is None or len(op.blocks) != 2 or not self.first(op.blocks[1].ops, ref):
      return False
    if all(index == 0 for _, index in guard):  # then this comes first
      return True
    inside = set(walk(op.blocks[1]))
    return not any(_touches(o, ref) for o in walk(self.kernel.body.body) if o not in inside)

  def _under_condition(self, condition: Value) -> Guard | None:
    """A part of the grid in which a condition is known to hold, along dimensions in `same`."""
    op = unconverted(condition).owner
    if not isinstance(op, Op) or self.kernel is None:
      return None
    if op.name == "and":
      a, b = (self._under_condition(v) for v in op.operands)
      return None if a is None or b is None else a + b
    if op.name == "or" or (op.name == "select" and number(op.operands[1])):  # `where(k == 0, True, …)`
      guards = [self._under_condition(v) for v in (op.operands if op.name == "or" else op.operands[:1])]
      return min((g for g in guards if g is not None), key=lambda g: max(index for _, index in g), default=None)
    if op.name != "eq":
      return None
    position, index = unconverted(op.operands[0]).owner, number(op.operands[1])
    if not isinstance(position, Op) or position.name != "program_id" or index is None:
      return None
    mapping = self.kernel.mapping
    dim = position.attrs["axis"] + mapping.num_vmapped
    inside = dim in self.same and 0 <= index < (mapping.grid[dim] or 0)
    return [(dim, index)] if inside else None


def _is_all_of(view: Value, ref: Value) -> bool:
  """Whether a view is of a whole ref."""
  while view is not ref:
    op = view.owner
    if not isinstance(op, Op) or op.name not in VIEWS:
      return False
    if op.name == "subview":
      source = op.operands[0].ref
      if tuple(op.attrs["sizes"]) != source.shape or any(step != 1 for step in op.attrs["steps"]):
        return False
    view = op.operands[0]
  return True


def _touches(op: Op, ref: Value) -> bool:
  return any(ref in bases for bases in accesses(op))


def _reads(op: Op, ref: Value) -> bool:
  """Whether an op, or one nested in it, reads a ref."""
  return any(ref in accesses(o)[0] for o in [op, *(o for inner in op.blocks for o in walk(inner))])
