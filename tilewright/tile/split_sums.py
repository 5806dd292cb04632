"""Sums along a sequential grid dimension, in parts that run at the same time.

    @pl.when(i == 0)                                 parts    grid (p, n / p): part k adds up its own n / p steps, into partial[k]
    def _(): acc[...] = zeros                        XLA      total = sum(partial), in the same order in each run
    acc[...] += f(x[...])                    →       finish   acc = total, then what the last step does: out[...] = acc[...] / n
    @pl.when(i == n - 1)
    def _(): out[...] = acc[...] / n

What is carried along the dimension, the last of the grid, must be accumulators only: refs (scratch memory, or outputs whose block stays the
same) that the first step sets to the identity, that each step adds to once (or takes the maximum or minimum with), and that nothing reads
before the last step. Addition of floats is associative but for rounding: a sum in parts is as near to the exact one, not the same bits.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.runtime import _jax
from tilewright.tile.formats import width
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.ir import Block, Builder, Function, Op, Value, copied, users, walk
from tilewright.tile.native import NativeKernel, copied_kernel, moving_dims
from tilewright.tile.ops import OPS
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.standard_passes import clean
from tilewright.tile.types import RefType, TileType, dense_strides

_KINDS = {"add": "sum", "max": "max", "min": "min"}
_LEAST_STEPS = 8
_LEAST_PARTS = 4
_LEAST_BYTES = 4 << 20  # of all blocks: less is added up before further kernels have been launched
_SHARE = 4  # of these bytes, partial results take at most one in so many
_INDEX = TileType((), np.dtype(np.int32))


@dataclasses.dataclass(frozen=True)
class SplitSums:
  """`parts` gives an array of partial results for each accumulator, whose dimension `axis` counts the parts and is reduced by `kinds`.
  `finish` takes the operands of the kernel, then the totals."""

  parts: NativeKernel
  finish: NativeKernel
  axis: int
  kinds: tuple[str, ...]

  def totals(self, partial: Sequence[Any]) -> list[jax.Array]:
    """What the parts give, reduced by XLA."""
    combine: dict[str, Any] = {"sum": jnp.sum, "max": jnp.max, "min": jnp.min}
    return [combine[kind](x, axis=self.axis).astype(x.dtype) for kind, x in zip(self.kinds, partial, strict=True)]


@dataclasses.dataclass(frozen=True)
class _Accumulator:
  ref: Value
  kind: str
  load: Op
  store: Op

  def type_in(self, kernel: NativeKernel) -> RefType:
    """The type of a ref to the accumulator in an array of its own, which outputs and inputs are."""
    shape, outputs = self.ref.ref.shape, kernel.body.params[kernel.mapping.num_prefetch + kernel.mapping.num_inputs :]
    return dataclasses.replace(self.ref.ref, space=outputs[0].ref.space, strides=dense_strides(shape))


@dataclasses.dataclass(frozen=True)
class _Carried:
  """What a body carries from step to step, and the ops of its first and last step."""

  accumulators: tuple[_Accumulator, ...]
  first: tuple[Op, ...]
  last: tuple[Op, ...]


def split(kernel: NativeKernel, instances: int) -> SplitSums | None:
  """The kernel in parts, so that about so many instances run at the same time; None where it is not such a sum, or too short."""
  mapping, grid = kernel.mapping, kernel.mapping.grid
  if not grid or None in grid or not _may_be_split(kernel):
    return None
  steps, others, nbytes = int(grid[-1]), math.prod(int(n) for n in grid[:-1]), _nbytes(kernel)
  most = -(-instances // max(1, others))
  if steps < _LEAST_STEPS or nbytes < _LEAST_BYTES or most < _LEAST_PARTS:
    return None
  kernel = clean(copied_kernel(kernel))
  last = len(grid) - 1
  if [d for d in range(len(grid)) if d not in parallel_dims(kernel)] != [last]:
    return None
  carried = _find(kernel, last - mapping.num_vmapped, steps)
  if carried is None or any(last in moving_dims(kernel, mapping.num_inputs + k) for k in range(mapping.num_outputs)):
    return None
  partial = others * sum(a.ref.ref.size * width(a.ref.ref.dtype) // 8 for a in carried.accumulators)
  most = min(most, nbytes // (_SHARE * partial), steps)
  parts = max((n for n in range(1, most + 1) if steps % n == 0), default=1)
  if parts < _LEAST_PARTS:
    return None
  kinds = tuple(a.kind for a in carried.accumulators)
  return SplitSums(clean(_parts(kernel, carried, parts)), clean(_finish(kernel, carried)), last, kinds)


def _may_be_split(kernel: NativeKernel) -> bool:
  is_plain = kernel.warpgroups == 1 and not (
    kernel.are_cores or kernel.mesh or kernel.in_order or kernel.has_side_effects
  )
  arrays = [m.array_aval.dtype for m in kernel.mapping.block_mappings]
  memory = [kind.dtype if isinstance(kind, RefType) else None for kind in kernel.scratch]
  return (
    is_plain
    and not kernel.input_output_aliases
    and not any(op.name == "dot" for op in walk(kernel.body.body))  # products along a grid have pipelines of their own
    and not any(value is not None for value in kernel.scratch_values)
    and all(m is not None for m in kernel.index_maps[kernel.mapping.num_inputs :])
    and all(dtype is not None and np.dtype(dtype).kind != "c" and width(dtype) >= 8 for dtype in (*arrays, *memory))
  )


def _nbytes(kernel: NativeKernel) -> int:
  """Of the blocks that all instances read."""
  each = sum(
    math.prod(m.block_sizes) * width(m.array_aval.dtype) // 8
    for m, index_map in zip(kernel.mapping.input_mappings, kernel.index_maps)
    if index_map is not None
  )
  return each * math.prod(int(n) for n in kernel.mapping.grid)


# --- recognition -------------------------------------------------------------------------------------------------


def _find(kernel: NativeKernel, axis: int, steps: int) -> _Carried | None:
  body, mapping = kernel.body.body, kernel.mapping
  memory = body.params[mapping.num_prefetch + mapping.num_inputs :]
  first = tuple(op for op in body.ops if _is_at(op, axis, 0))
  last = tuple(op for op in body.ops if _is_at(op, axis, steps - 1))
  used = users(Block(body.params, [op for op in body.ops if op not in first and op not in last]))
  found: list[_Accumulator] = []
  for ref in memory:
    own = used.get(ref, [])
    if not own:
      continue
    accumulator = _accumulator(ref, own, used)
    if accumulator is None or accumulator.load not in body.ops or accumulator.store not in body.ops:
      return None
    found.append(accumulator)
  stores = {a.store for a in found}
  at = {op: n for n, op in enumerate(body.ops)}
  between = [op for op in body.ops if op not in first and op not in last]
  if not found or any(not _is_harmless(op) for op in _inside(between) if op not in stores):
    return None
  if any(at[op] > at[a.load] for op in first for a in found) or any(at[op] < at[a.store] for op in last for a in found):
    return None
  identities = _identities(first, {a.ref: a.kind for a in found})
  read = {v for op in _inside(last) for v in op.operands}
  scratch = set(memory[mapping.num_outputs :]) - {a.ref for a in found}
  if identities is None or identities != {a.ref for a in found} or read & scratch:
    return None
  return _Carried(tuple(found), first, last)


def _inside(ops: Sequence[Op]) -> list[Op]:
  return [op for top in ops for op in (top, *(inner for block in top.blocks for inner in walk(block)))]


def _is_harmless(op: Op) -> bool:
  return OPS[op.name].is_pure or op.name in ("load", "window_load", "gather_load", "yield") or bool(op.blocks)


def _is_at(op: Op, axis: int, step: int) -> bool:
  """Whether an op is `pl.when(pl.program_id(axis) == step)`."""
  if op.name != "switch" or len(op.blocks) != 2 or len(op.operands) != 1 or op.results:
    return False
  if any(inner.name != "yield" for inner in op.blocks[0].ops):
    return False
  convert = op.operands[0].owner
  compared = convert.operands[0].owner if isinstance(convert, Op) and convert.name == "convert" else None
  if not isinstance(compared, Op) or compared.name != "eq":
    return False
  one, other = (v.owner for v in compared.operands)
  return any(_is_index(a, axis) and _number(b) == step for a, b in ((one, other), (other, one)))


def _is_index(op: Any, axis: int) -> bool:
  return isinstance(op, Op) and op.name == "program_id" and op.attrs["axis"] == axis


def _number(op: Any) -> Any:
  """The number that every element of a constant is, else None."""
  while isinstance(op, Op) and op.name in ("broadcast", "reshape"):
    op = op.operands[0].owner
  if not isinstance(op, Op) or op.name != "constant":
    return None
  values = np.unique(np.asarray(op.attrs["value"]))
  return values[0] if values.size == 1 else None


def _accumulator(ref: Value, own: Sequence[Op], used: dict[Value, list[Op]]) -> _Accumulator | None:
  """`ref[...] = ref[...] + x`, if that is all that is done with a ref."""
  if [op.name for op in own] != ["load", "store"] or own[1].operands != [ref, own[1].operands[1]]:
    return None
  load, store = own
  combined = store.operands[1].owner
  if len(load.operands) != 1 or not isinstance(combined, Op) or combined.name not in _KINDS or ref.ref.is_accumulator:
    return None
  is_alone = used[load.result] == [combined] and used[combined.result] == [store]
  return _Accumulator(ref, _KINDS[combined.name], load, store) if is_alone else None


def _identities(first: Sequence[Op], kinds: dict[Value, str]) -> set[Value] | None:
  """The accumulators that the first step sets; None if it does anything else, or sets a sum to another number than zero."""
  found: set[Value] = set()
  for op in first:
    for inner in walk(op.blocks[1]):
      if inner.name == "store" and len(inner.operands) == 2 and inner.operands[0] in kinds:
        number = _number(inner.operands[1].owner)
        if number is None or (kinds[inner.operands[0]] == "sum" and number != 0):
          return None
        found.add(inner.operands[0])
      elif not OPS[inner.name].is_pure and inner.name != "yield":
        return None
  return found


# --- the two kernels ---------------------------------------------------------------------------------------------


def _parts(kernel: NativeKernel, carried: _Carried, parts: int) -> NativeKernel:
  mapping, grid = kernel.mapping, tuple(kernel.mapping.grid)
  last, each = len(grid) - 1, int(grid[-1]) // parts
  axis = last - mapping.num_vmapped
  body, now = _copied(kernel.body)
  gone = {now[op] for op in carried.last}
  block = body.body
  prologue = Block([], [])
  b = Builder(prologue)
  step = b.emit("program_id", axis=axis + 1)
  number = b.emit("add", [b.emit("mul", [b.emit("program_id", axis=axis), _constant(b, each)]), step])
  is_first = b.emit("convert", [b.emit("eq", [step, _constant(b, 0)])], dtype=np.dtype(np.int32))
  for op in carried.first:
    now[op].operands = [is_first]
  block.ops = [op for op in block.ops if op not in gone]
  for op in walk(block):
    indices = [v for v in op.operands if _is_index(v.owner, axis)]
    if indices:
      op.operands = [number if v in indices else v for v in op.operands]
  block.ops = [*prologue.ops, *block.ops]
  refs = [now[a.ref] for a in carried.accumulators]
  for ref, a in zip(refs, carried.accumulators):
    ref.type = a.type_in(kernel)
  inputs = mapping.num_prefetch + mapping.num_inputs
  block.params = [*block.params[:inputs], *refs]
  maps = [_renumbered(f, len(grid), last, each) for f in kernel.index_maps[: mapping.num_inputs]]
  sizes = (*(int(n) for n in grid[:-1]), parts)
  partial, own = _of_accumulators(kernel, carried, sizes, len(grid) + 1)
  semantics = ["parallel" if d in parallel_dims(kernel) else "arbitrary" for d in range(last)]
  return dataclasses.replace(
    kernel,
    name=f"{kernel.name}_parts",
    body=body,
    index_maps=(*maps, *own),
    mapping=dataclasses.replace(
      mapping,
      grid=(*grid[:-1], parts, each),
      grid_names=None,
      block_mappings=(*mapping.input_mappings, *partial),
      num_outputs=len(partial),
      num_scratch=0,
    ),
    scratch=(),
    scratch_values=(),
    dimension_semantics=(*semantics, "parallel", "arbitrary"),
  )


def _finish(kernel: NativeKernel, carried: _Carried) -> NativeKernel:
  mapping, grid = kernel.mapping, tuple(kernel.mapping.grid)
  last, steps = len(grid) - 1, int(grid[-1])
  axis = last - mapping.num_vmapped
  body, now = _copied(kernel.body)
  block = body.body
  totals = [Value(a.type_in(kernel), block) for a in carried.accumulators]
  gone = {now[op] for op in carried.first} | {now[a.store] for a in carried.accumulators}
  start = Block([], [])
  b = Builder(start)
  number = _constant(b, steps - 1)
  for a, total in zip(carried.accumulators, totals):
    b.emit_all("store", [now[a.ref], b.emit("load", [total])])
  block.ops = [*start.ops, *(op for op in block.ops if op not in gone)]
  for op in walk(block):
    op.operands = [number if _is_index(v.owner, axis) else v for v in op.operands]
  inputs = mapping.num_prefetch + mapping.num_inputs
  block.params = [*block.params[:inputs], *totals, *block.params[inputs:]]
  maps = [_at_step(f, last, steps - 1) for f in kernel.index_maps[: mapping.num_inputs]]
  sizes = tuple(int(n) for n in grid[:-1])
  given, own = _of_accumulators(kernel, carried, sizes, len(grid))
  return dataclasses.replace(
    kernel,
    name=f"{kernel.name}_finish",
    body=body,
    index_maps=(*maps, *own, *kernel.index_maps[mapping.num_inputs :]),
    mapping=dataclasses.replace(
      mapping,
      grid=(*grid[:-1], 1),
      block_mappings=(*mapping.input_mappings, *given, *mapping.output_mappings),
      num_inputs=mapping.num_inputs + len(given),
    ),
  )


def _copied(function: Function) -> tuple[Function, dict[Any, Any]]:
  """A copy of a function, and what each of its own ops and parameters has become."""
  made = copied(function)
  now: dict[Any, Any] = dict(zip(function.params, made.params))
  now.update(zip(function.body.ops, made.body.ops))
  return made, now


def _constant(b: Builder, number: int) -> Value:
  return b.emit("constant", value=number, dtype=np.dtype(np.int32))


def _of_accumulators(
  kernel: NativeKernel, carried: _Carried, sizes: tuple[int, ...], rank: int
) -> tuple[list[BlockMapping], list[Function]]:
  """An array for each accumulator, and the index maps of a grid of so many dimensions, of which the first ones are `sizes`."""
  arrays = [_of_accumulator(kernel, a, sizes) for a in carried.accumulators]
  return arrays, [_own_block(kernel, rank, len(sizes), a) for a in carried.accumulators]


def _of_accumulator(kernel: NativeKernel, a: _Accumulator, sizes: tuple[int, ...]) -> BlockMapping:
  """An array that has an accumulator for each index along some grid dimensions; an instance sees its own."""
  ref, template = a.ref.ref, kernel.mapping.output_mappings[0]
  return dataclasses.replace(
    template,
    block_shape=(*(Squeezed() for _ in sizes), *(Blocked(n) for n in ref.shape)),
    array_aval=_jax.core.ShapedArray((*sizes, *ref.shape), ref.dtype),
    origin="partial sums",
    pipeline_mode=None,
    in_place=False,
  )


def _index_map(kernel: NativeKernel, rank: int) -> tuple[Function, Builder]:
  """An index map without ops, of a grid of so many dimensions."""
  prefetched = [p.type for p in kernel.body.params[: kernel.mapping.num_prefetch]]
  made = Function("index_map", Block.of([*[_INDEX] * rank, *prefetched]))
  return made, Builder(made.body)


def _own_block(kernel: NativeKernel, rank: int, count: int, a: _Accumulator) -> Function:
  made, b = _index_map(kernel, rank)
  zero = _constant(b, 0)
  b.emit_all("yield", [*made.params[:count], *[zero] * len(a.ref.ref.shape)])
  return made


def _renumbered(index_map: Function | None, rank: int, last: int, each: int) -> Function | None:
  """An index map of a grid whose last dimension has become two: the part, and the step in it."""
  if index_map is None:
    return None
  made, _ = _copied(index_map)
  old = made.params[last]
  part, step = Value(old.type, made.body), Value(old.type, made.body)
  made.body.params = [*made.params[:last], part, step, *made.params[rank:]]
  start = Block([], [])
  b = Builder(start)
  _replace(made.body, old, b.emit("add", [b.emit("mul", [part, _constant(b, each)]), step]))
  made.body.ops = [*start.ops, *made.body.ops]
  return made


def _at_step(index_map: Function | None, last: int, step: int) -> Function | None:
  """An index map at one index along the last dimension."""
  if index_map is None:
    return None
  made, _ = _copied(index_map)
  start = Block([], [])
  _replace(made.body, made.params[last], _constant(Builder(start), step))
  made.body.ops = [*start.ops, *made.body.ops]
  return made


def _replace(block: Block, old: Value, new: Value) -> None:
  for op in walk(block):
    op.operands = [new if v is old else v for v in op.operands]
