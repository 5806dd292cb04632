"""Kernels that accumulate a product along the last dimension of the grid: what is multiplied, and where the accumulator is.

    @pl.when(pl.program_id(2) == 0)
    def _():
      acc_ref[...] = jnp.zeros_like(acc_ref)
    acc_ref[...] += a_ref[...] @ b_ref[...]

`find` recognises such a body, in the form that `matmul_plans` needs: one product for tensor cores, of which each side is a whole block or
computed from blocks element by element, added to a ref that is scratch memory or an output that stays where it is. `body_at` is that
body at a step, without the branches for other steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.target.nvgpu.arch.tensor_cores import KINDS, NAMED, is_rounded
from tilewright.target.nvgpu.passes import zero_fill
from tilewright.target.nvgpu.passes.block_accesses import BY_ELEMENT
from tilewright.target.nvgpu.passes.staged_blocks import PIECE
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Squeezed
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

Inside = Callable[[BlockMapping, Any], list[bool]]


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand of the contraction: the whole block of an input as it is stored, or computed from blocks."""

  value: Value
  shape: tuple[int, int]
  k_is_last: bool
  position: int | None = None  # among the inputs, where it is a block
  inputs: tuple[int, ...] = ()  # what it is computed from, else
  ops: tuple[
    Op, ...
  ] = ()  # which compute it, and nothing else; of a block, those that put zeros past the end of its array


@dataclasses.dataclass(frozen=True)
class Contraction:
  """What is contracted, and where the accumulator is."""

  dot: Op
  accumulator: Value  # the ref the products are added to
  sides: tuple[Operand, Operand]
  block: tuple[int, int, int]  # m, n, k
  kind: str
  num_steps: int
  is_quiet: bool  # between the first step and the last, nothing but products is added to the accumulator
  output: Value | None = None  # where the accumulator is an output: a ref of the same type, for the memory itself

  @property
  def itemsize(self) -> int:
    """Of an element of the operands."""
    return NAMED[self.kind].itemsize


def find(kernel: NativeKernel, inside: Inside) -> Contraction | None:
  """The contraction of a kernel. `inside(mapping, index_map)` says along which dimensions blocks never hang over."""
  grid = kernel.mapping.grid
  last, parallel = len(grid) - 1, parallel_dims(kernel)
  if last < 0 or last in parallel or len(parallel) != last or None in grid:
    return None
  dots = [op for op in walk(kernel.body.body) if op.name == "dot"]
  if len(dots) != 1 or dots[0] not in kernel.body.body.ops:
    return None
  (dot,) = dots
  kinds = [_kind_of(dot, v) for v in dot.operands]
  (lc, rc), (lb, _) = dot.attrs["contract"], dot.attrs["batch"]
  if kinds[0] is None or kinds[0] != kinds[1] or lb or len(lc) != 1 or any(v.tile.rank != 2 for v in dot.operands):
    return None
  used = users(kernel.body.body)
  accumulator = _accumulator(kernel, dot, used)
  sides = [_operand(kernel, v, axes[0], used, inside) for v, axes in zip(dot.operands, (lc, rc))]
  if accumulator is None or None in sides:
    return None
  (m, k), n = _free_first(dot.operands[0].tile.shape, lc[0]), dot.operands[1].tile.shape[1 - rc[0]]
  quiet = _is_quiet(kernel, accumulator, dot, used)
  scratch = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  output = None if accumulator in scratch else Value(accumulator.type)
  return Contraction(dot, accumulator, tuple(sides), (m, n, k), kinds[0], int(grid[last]), quiet, output)  # type: ignore[arg-type]


def _kind_of(dot: Op, v: Value) -> str | None:
  kind = KINDS.get(v.tile.dtype)
  if kind is None or kind.accumulator != "f32" or (is_rounded(v.tile.dtype) and not dot.attrs.get("tf32")):
    return None
  return kind.name


def _free_first(shape: tuple[int, ...], contracted: int) -> tuple[int, int]:
  return shape[1 - contracted], shape[contracted]


def _operand(
  kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]], inside: Inside
) -> Operand | None:
  return _block_operand(kernel, v, contracted, used, inside) or computed_operand(kernel, v, contracted, used)


def _block_operand(
  kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]], inside: Inside
) -> Operand | None:
  """The input of which a value is the whole block, perhaps transposed or with zeros past the end, if nothing else uses either."""
  op, value = v.owner, v
  own: list[Op] = []
  while isinstance(op, Op) and op.name == "transpose" and len(used[op.result]) == 1:
    contracted = op.attrs["permutation"][contracted]
    op = op.operands[0].owner
  filled = None
  if isinstance(op, Op) and op.name == "select" and len(used[op.result]) == 1:
    filled = zero_fill.find(kernel, op)
    if filled is None:
      return None
    own, op = [filled.load, op], filled.load
  if not isinstance(op, Op) or op.name != "load" or len(used[op.result]) != 1:
    return None
  ref, inputs = op.operands[0], _inputs(kernel)
  if ref not in inputs or len(used[ref]) != 1:
    return None
  position = inputs.index(ref)
  mapping, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
  if index_map is None or not is_plain(mapping):
    return None
  safe = inside(mapping, index_map)
  kept = [d for d, dim in enumerate(mapping.block_shape) if not isinstance(dim, Squeezed)]
  zero = kept[filled.axis] if filled is not None else None
  if not all(ok or d == zero for d, ok in enumerate(safe) if d == kept[contracted] or d not in kept):
    return None  # what lies outside along the contraction is not zero
  return Operand(value, op.result.tile.shape, contracted == 1, position, ops=tuple(own))  # type: ignore[arg-type]


def _inputs(kernel: NativeKernel) -> list[Value]:
  return kernel.body.params[kernel.mapping.num_prefetch :][: kernel.mapping.num_inputs]


def computed_operand(kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]]) -> Operand | None:
  """An operand of which each element is computed from elements of unwritten inputs."""
  inputs, ops, positions = _inputs(kernel), set(), dict[int, None]()
  written = {into - kernel.mapping.num_prefetch for into, _ in kernel.input_output_aliases}
  pending = [v]
  while pending:
    op = pending.pop().owner
    if not isinstance(op, Op) or op in ops:
      if not isinstance(op, Op):
        return None
      continue
    ops.add(op)
    if op.name == "load":
      if op.operands[0] not in inputs or inputs.index(op.operands[0]) in written:
        return None
      positions[inputs.index(op.operands[0])] = None
    elif op.blocks or op.name not in BY_ELEMENT:
      return None
    else:
      pending += op.operands
  if any(d % 64 for d in (v.tile.shape[1],)) or v.tile.shape[0] % 32:
    return None
  # Those that others use too stay where they are, and are computed there once more.
  own: set[Op] = set()
  for op in reversed([op for op in kernel.body.body.ops if op in ops]):
    if all(user in own or user.name == "dot" for result in op.results for user in used[result]):
      own.add(op)
  order = tuple(op for op in kernel.body.body.ops if op in own)
  return Operand(v, v.tile.shape, contracted == 1, inputs=tuple(positions), ops=order)  # type: ignore[arg-type]


def is_plain(m: BlockMapping) -> bool:
  """Whether a block is a matrix of rows in whole sixteen-byte pieces, as its array is. Rows may begin anywhere."""
  kept = [d for d in m.block_shape if not isinstance(d, Squeezed)]
  if len(kept) != 2 or not isinstance(kept[0], Blocked | BoundedSlice) or not isinstance(kept[1], Blocked):
    return False
  width = PIECE // np.dtype(m.array_aval.dtype).itemsize
  return m.block_shape[-1] is kept[-1] and kept[-1].block_size % width == 0 and m.array_aval.shape[-1] % width == 0


def _accumulator(kernel: NativeKernel, dot: Op, used: dict[Value, list[Op]]) -> Value | None:
  """The ref to which the product is added, if it is only ever read and written as a whole: scratch memory, or an output."""
  adds = used.get(dot.results[0], [])
  if len(adds) != 1 or adds[0].name != "add":
    return None
  stores = used.get(adds[0].results[0], [])
  ops = kernel.body.body.ops
  if len(stores) != 1 or stores[0].name != "store" or stores[0] not in ops:
    return None
  (add,), (store,) = adds, stores
  ref = store.operands[0]
  if ref.ref.dtype != np.float32 or ref.ref.shape != dot.results[0].tile.shape:
    return None
  if any(op.name not in ("load", "store") for op in used[ref]):
    return None
  loads = [v.owner for v in add.operands if v is not dot.result]
  if len(loads) != 1 or not isinstance(loads[0], Op) or loads[0].name != "load" or loads[0].operands[0] is not ref:
    return None
  if loads[0] not in ops or len(used[loads[0].result]) != 1:
    return None
  between = ops[ops.index(loads[0]) + 1 : ops.index(store)]
  if any(op.blocks or (op.name not in (*BY_ELEMENT, "load", "window_load") and op is not dot) for op in between):
    return None
  scratch = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  return ref if ref in scratch or _is_kept_output(kernel, ref) else None


def _is_kept_output(kernel: NativeKernel, ref: Value) -> bool:
  """Whether a ref is the block of an output that stays the same along the last dimension of the grid."""
  mapping = kernel.mapping
  outputs = kernel.body.params[mapping.num_prefetch + mapping.num_inputs :][: mapping.num_outputs]
  if ref not in outputs:
    return False
  number = outputs.index(ref)
  index_map = kernel.index_maps[mapping.num_inputs + number]
  if index_map is None or any(out == number for _, out in kernel.input_output_aliases):
    return False
  if not all(isinstance(d, Blocked | Squeezed) for d in mapping.output_mappings[number].block_shape):
    return False
  step = index_map.params[len(mapping.grid) - 1]
  return step not in index_map.body.yielded and step not in users(index_map.body)


# --- what is known of a step -------------------------------------------------------------------------------------


def step_tests(kernel: NativeKernel) -> dict[Value, int]:
  """The values `program_id(last) == constant` of the body, with their constants."""
  axis = len(kernel.mapping.grid) - 1 - kernel.mapping.num_vmapped
  found = {}
  for op in kernel.body.body.ops:
    if op.name == "eq" and op.result.tile.is_scalar:
      sides = {v.owner.name: v.owner.attrs for v in op.operands if isinstance(v.owner, Op)}
      if set(sides) == {"program_id", "constant"} and sides["program_id"]["axis"] == axis:
        found[op.result] = int(sides["constant"]["value"])
  return found


def _is_quiet(kernel: NativeKernel, ref: Value, dot: Op, used: dict[Value, list[Op]]) -> bool:
  """Whether the accumulator is set before the first product and read after the last, and only added to between."""
  tests, last = step_tests(kernel), int(kernel.mapping.grid[-1]) - 1
  ops = kernel.body.body.ops
  (add,) = used[dot.result]
  (store,) = used[add.result]
  own = {store, *(v.owner for v in add.operands)}
  for position, op in enumerate(ops):
    touches = ref in op.operands or any(ref in o.operands for inner in op.blocks for o in walk(inner))
    if touches and op not in own and runs_at(op, tests) != (0 if position < ops.index(store) else last):
      return False
  return True


def body_at(kernel: NativeKernel, c: Contraction, step: int | None) -> Block:
  """The kernel's body at a step, or between the first and the last: without the branches that are not taken then.

  The product is computed where it is added; nothing that it needs changes before. An accumulator that is an output is written at the end.
  """
  body, tests, last = kernel.body.body, step_tests(kernel), int(kernel.mapping.grid[-1]) - 1
  ops: list[Op] = []
  for op in body.ops:
    when = runs_at(op, tests)
    if op is c.dot:
      continue
    if c.dot.result in op.operands:
      ops.append(c.dot)
    if when is None or (step is None and when not in (0, last)):
      ops.append(op)
    elif when == step:
      ops += op.blocks[1].ops[:-1]
  if c.output is not None and step == last:
    load = Op("load", [c.accumulator], {}, [], [])
    load.results = [Value(c.dot.result.tile, load)]
    ops += [load, Op("store", [c.output, load.result], {}, [], [])]
  return Block(body.params, ops)


def runs_at(op: Op, tests: dict[Value, int]) -> int | None:
  """The only step at which a branch does something, if there is one: `pl.when(program_id(last) == constant)`."""
  if op.name != "switch" or op.results or len(op.blocks) != 2 or len(op.blocks[0].ops) > 1:
    return None
  test = op.operands[0]
  while isinstance(test.owner, Op) and test.owner.name == "convert":
    test = test.owner.operands[0]
  return tests.get(test)
