"""Rules for ops that are emitted in program order: memory, control flow, and values that need a buffer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.cpu import contraction, effects, polling, reductions, top_k
from tilewright.target.llvm import arithmetic, control, gather_scatter, operand_indices, sorting
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.dots import DeferredContraction, accumulator_of
from tilewright.target.llvm.loops import Index, add, i64, mul, shifted
from tilewright.target.llvm.masking import store_where, written_where
from tilewright.target.llvm.memory import Memory
from tilewright.tile.formats import poison_value
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.ops import OPS
from tilewright.tile.types import RefType, TileType, dense_strides
from tilewright.tile.uninitialized import must_poison

# --- views -------------------------------------------------------------------------------------------------------


def _subview(code: Code, op: Op) -> None:
  ref, *starts = op.operands
  memory = code.memory_of(ref)
  offset: Any = 0
  for start, stride in zip(starts, memory.strides):
    offset = add(code.b, offset, mul(code.b, code.scalar_index(start), stride))
  pointer = code.b.gep(memory.pointer, [i64(offset)], source_etype=ty.memory_type(memory.dtype))
  kept = [i for i in range(len(memory.strides)) if i not in op.attrs["dropped"]]
  strides = tuple(mul(code.b, memory.strides[i], op.attrs["steps"][i]) for i in kept)
  code.env[op.results[0]] = Memory(pointer, strides, memory.dtype, memory.base)


def _view(strides: Callable[[Memory, Op], tuple[Any, ...]]) -> Callable[[Code, Op], None]:
  def rule(code: Code, op: Op) -> None:
    memory = code.memory_of(op.operands[0])
    result = op.results[0].type
    assert isinstance(result, RefType)
    code.env[op.results[0]] = Memory(memory.pointer, strides(memory, op), result.dtype, memory.base)

  return rule


# --- memory ------------------------------------------------------------------------------------------------------


def _store(code: Code, op: Op) -> None:
  ref, value = op.operands
  memory = code.memory_of(ref)
  if op in code.epilogues:
    mask, stored = written_where(code, op, memory) or (None, value)
    contraction.dot(code, code.epilogues[op], epilogue=contraction.Epilogue(memory, stored, mask))
    return
  if _accumulates(code, ref, value, memory):
    return
  if (found := written_where(code, op, memory)) is not None:
    store_where(code, memory, *found, lambda index, new, chosen: code.store_masked(memory, index, chosen, new))
    return
  if memory.base in code.bases_read(value) and not _reads_in_place(code, value, ref):
    code.materialise(value)
  elif _copy_block(code, memory, value):
    return
  code.fill(memory, value)


_BLOCK_BYTES = 1 << 11  # from which the C library's copy, which knows the processor, is worth a call


def _copy_block(code: Code, memory: Memory, value: Value) -> bool:
  """Copy a tile that is loaded from one stretch of memory and stored to another, as a whole; False if it is not such a tile."""
  load = value.owner
  if not isinstance(load, Op) or load.name != "load" or value in code.env:
    return False
  source, shape = code.memory_of(load.operands[0]), value.tile.shape
  nbytes = math.prod(shape) * max(1, memory.dtype.itemsize)
  dense = dense_strides(shape)
  is_dense = all(n == 1 or m.strides[d] == dense[d] for m in (source, memory) for d, n in enumerate(shape))
  if nbytes < _BLOCK_BYTES or source.dtype != memory.dtype or not is_dense or not (source.is_plain and memory.is_plain):
    return False
  arguments = [memory.pointer, source.pointer, i64(nbytes), ir.Constant(ty.I1, 0)]
  ty.intrinsic(code.b, "memmove", arguments, ty.VOID, [ty.PTR, ty.PTR, ty.I64])
  return True


def _window_store(code: Code, op: Op) -> None:
  ref, value, *starts = op.operands
  memory = code.memory_of(ref)
  assert isinstance(value.type, TileType)
  places = [code.scalar_index(s) for s in starts]

  def write(index: list[Index], new: Any, chosen: Any) -> None:
    where = operand_indices.window_index(code, op, index, places)
    inside = code.lanes_inside(where, ref.ref.shape, ty.lanes_of(new))
    code.store_masked(memory, where, chosen if inside is None else code.b.and_(chosen, inside), new)

  if (found := written_where(code, op, memory)) is not None:
    store_where(code, memory, *found, write)
    return
  if memory.base in code.bases_read(value):
    code.materialise(value)

  def each(index: list[Index], lanes: int) -> None:
    where = operand_indices.window_index(code, op, index, places)
    code.store_window(memory, where, ref.type.shape, code.value_at(value, index, lanes))

  code.nest(value.type.shape, each, reads=[value])


def _accumulates(code: Code, ref: Value, value: Value, memory: Memory) -> bool:
  """`ref += dot(…)`: the accumulators start from the contents of the ref instead of from zero."""
  add_op = value.owner
  if not isinstance(add_op, Op) or add_op.name != "add" or value in code.env:
    return False
  for operand in add_op.operands:
    if isinstance(code.env.get(operand), DeferredContraction):
      assert isinstance(operand.owner, Op)
      contraction.dot(code, operand.owner, into=memory)
      return True
  return False


def _epilogue(code: Code, dot: Op, block: Block) -> tuple[Op, set[Value]] | None:
  """The store that alone uses a contraction, through elementwise ops, and the values on the way to it.

  The contraction can wait for the store if nothing changes memory before that, and if no operand reads what is stored to.
  """
  result, here = dot.results[0], set(block.ops)
  small = ty.is_float(result.tile.dtype) and result.tile.dtype.itemsize < 4  # rounded once more than its accumulators
  if result.tile.rank != 2 or dot.attrs["batch"] != ((), ()) or small:
    return None
  store: Op | None = None
  way: set[Value] = set()
  left = [result]
  while left:
    v = left.pop()
    for user in code.users.get(v, []):
      if user not in here:
        return None
      if user.name == "store" and user.operands[1] is v and store in (None, user):
        store = user
      elif user.name in arithmetic.ELEMENTWISE:
        left += [r for r in user.results if r not in way]
        way.update(user.results)
      else:
        return None
  if store is None or store in code.epilogues or store.operands[0] not in code.env:
    return None
  between = block.ops[block.ops.index(dot) + 1 : block.ops.index(store)]
  if any(op.blocks or not (OPS[op.name].is_pure or op.name in ("load", "window_load")) for op in between):
    return None
  reads = code.bases_read(dot.operands[0]) | code.bases_read(dot.operands[1])
  if code.memory_of(store.operands[0]).base in reads or not _reads_in_place(code, store.operands[1], store.operands[0]):
    return None
  return store, way


def _reads_in_place(code: Code, value: Value, ref: Value) -> bool:
  """Whether every read of the destination's memory is of the very element that is written."""
  base = code.memory_of(ref).base
  left, seen = [value], {value}
  while left:
    v = left.pop()
    known, op = code.env.get(v), v.owner
    if isinstance(known, Memory) and known.base is base:
      return False
    if known is not None or not isinstance(op, Op) or (op.name == "load" and op.operands[0] is ref):
      continue
    if op.name not in arithmetic.ELEMENTWISE:
      if base in code.bases_read(v):
        return False
      continue
    left += [o for o in op.operands if o not in seen]
    seen.update(op.operands)
  return True


def _copy(code: Code, op: Op) -> None:
  source, target = (code.memory_of(v) for v in op.operands)
  shape = op.operands[0].type.shape
  code.nest(shape, lambda index, lanes: code.store(target, index, code.load(source, index, lanes)))


def _alloc(code: Code, op: Op) -> None:
  code.env[op.results[0]] = code.allocate(op.attrs["shape"], op.attrs["dtype"])
  if must_poison(op, code.current):
    poison(code, code.env[op.results[0]], op.attrs["shape"])


def poison(code: Code, memory: Memory, shape: Any) -> None:
  """Fill fresh memory with poison, which must not be read."""
  value = poison_value(memory.dtype)
  code.nest(shape, lambda index, lanes: code.store(memory, index, ty.element(memory.dtype, value, lanes)))


# --- values that need a buffer -----------------------------------------------------------------------------------


def _dot(code: Code, op: Op) -> None:
  result = op.results[0]
  if accumulator_of(code, op, code.current) is not None:
    code.env[result] = DeferredContraction()
    return
  found = _epilogue(code, op, code.current)
  if found is not None:
    store, way = found
    code.epilogues[store] = op
    code.deferred |= way
    code.env[result] = DeferredContraction()
    return
  contraction.dot(code, op)


def _concatenate(code: Code, op: Op) -> None:
  result = op.results[0].type
  assert isinstance(result, TileType)
  memory = code.allocate(result.shape, result.dtype)
  axis, at = op.attrs["axis"], 0
  for part in op.operands:
    _fill_part(code, memory, part, [at if a == axis else 0 for a in range(result.rank)])
    at += part.tile.shape[axis]
  code.env[op.results[0]] = memory


def _fill_part(code: Code, memory: Memory, part: Value, starts: list[Any], steps: list[int] | None = None) -> None:
  """Write a tile into a larger buffer from given starts on."""
  assert isinstance(part.type, TileType)
  steps = steps or [1] * len(starts)

  def each(index: list[Index], lanes: int) -> None:
    place = []
    for i, start, step in zip(index, starts, steps):
      moved = Index(mul(code.b, i.base, step), i.step * step)
      place.append(shifted(code.b, moved, start))
    code.store(memory, place, code.value_at(part, index, lanes))

  code.nest(part.type.shape, each, reads=[part])


def _pad(code: Code, op: Op) -> None:
  x, fill = op.operands
  result = op.results[0].type
  assert isinstance(result, TileType) and isinstance(x.type, TileType)
  memory = code.allocate(result.shape, result.dtype)
  value = code.scalar(fill)
  code.nest(result.shape, lambda index, lanes: code.store(memory, index, ty.splat(code.b, value, lanes)))
  low, high, inside = op.attrs["low"], op.attrs["high"], op.attrs["interior"]
  # Negative padding cuts: only the part of x that stays is written.
  starts, stops = [], []
  for d, lo, hi, step in zip(x.type.shape, low, high, inside):
    first = max(0, -(-max(0, -lo) // (step + 1)))
    last = d - max(0, -(-max(0, -hi) // (step + 1)))
    starts.append(first)
    stops.append(max(first, last))
  shape = [e - s for s, e in zip(starts, stops)]

  def each(index: list[Index], lanes: int) -> None:
    own = [shifted(code.b, i, s) for i, s in zip(index, starts)]
    place = [
      shifted(code.b, Index(mul(code.b, i.base, step + 1), i.step * (step + 1)), lo)
      for i, step, lo in zip(own, inside, low)
    ]
    code.store(memory, place, code.value_at(x, own, lanes))

  code.nest(shape, each)
  code.env[op.results[0]] = memory


def _recast(code: Code, op: Op) -> None:
  """Seen as another dtype, the same dense memory."""
  (x,) = op.operands
  result = op.results[0].tile
  memory = code.allocate(x.tile.shape, x.tile.dtype)
  code.fill(memory, x)
  other = Memory(memory.pointer, dense_strides(result.shape), result.dtype, memory.base)
  code.env[op.results[0]] = other if result.shape else code.load(other, [], 1)


def _dynamic_update_slice(code: Code, op: Op) -> None:
  x, update, *starts = op.operands
  assert isinstance(x.type, TileType) and isinstance(update.type, TileType)
  memory = code.allocate(x.type.shape, x.type.dtype)
  code.fill(memory, x)
  places = operand_indices.clamped_starts(code, starts, x.type.shape, update.type.shape)
  _fill_part(code, memory, update, places)
  code.env[op.results[0]] = memory


def _read_semaphore(code: Code, op: Op) -> None:
  polling.read(code, op)
  effects.STATEMENTS["read_semaphore"](code, op)


STATEMENTS: dict[str, Callable[[Code, Op], None]] = {
  "subview": _subview,
  "reshape_ref": _view(lambda memory, op: op.results[0].ref.strides),
  "transpose_ref": _view(lambda memory, op: tuple(memory.strides[p] for p in op.attrs["permutation"])),
  "bitcast_ref": _view(lambda memory, op: memory.strides),
  "store": _store,
  "window_store": _window_store,
  "copy": _copy,
  "alloc": _alloc,
  "reduce": reductions.reduce,
  "arg_reduce": reductions.arg_reduce,
  "cumulative": reductions.cumulative,
  "dot": _dot,
  "concatenate": _concatenate,
  "pad": _pad,
  "recast": _recast,
  "dynamic_update_slice": _dynamic_update_slice,
  "gather": gather_scatter.prepare,
  "gather_load": gather_scatter.prepare,
  "scatter": gather_scatter.scatter,
  "scatter_store": gather_scatter.scatter_store,
  "sort": sorting.sort,
  "top_k": top_k.top_k,
  **control.STATEMENTS,
  **effects.STATEMENTS,
  "while": polling.loop,
  "read_semaphore": _read_semaphore,
}
