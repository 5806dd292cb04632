"""Products along many k, of operands that are blocks in global memory: a loop that multiplies a piece of them at a time.

    o_ref[...] = x_ref[...] @ y_ref[...]                  blocks of 128 x 4096 and 4096 x 128 are more than shared memory holds

    for i in range(64):                                   the result of this pass
      total += x_ref[:, 64 * i : …] @ y_ref[64 * i : …, :]

As in a loop that the user writes, the pieces of the next rounds are prefetched while one is multiplied (`wgmma_operands`), and accumulators
stay in registers. They are f32 until the end, as for one product.
"""

from __future__ import annotations

import copy
import dataclasses

import numpy as np

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.passes.layouts import dot_kinds
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.tile.dead_code import accesses, base_of, eliminate_dead_code
from tilewright.tile.ir import Block, Builder, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import TileType

_DEPTH = 256  # k of a long product, at least
_LONG = 0.5  # of shared memory, that both operands take: with less, there is room for another CTA
_LONGER = (
  4 << 20
)  # bytes of operands that tensor cores do not multiply: a copy in global memory is faster, as long as it is small
_MAX_ACCUMULATORS = 32768  # elements of the result: more would not stay in registers, round by round
_ROUND = 48 << 10  # bytes of both operands that a round multiplies, at most
_PIECES = (128, 64, 32, 16)  # k of a round
_ROUNDS = 4  # at least, so that copies run ahead
_FEW = 32  # rows: products of so many have code of their own, where k is last on both sides (`skinny_dot`)


def split(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  """The kernel with loops for its long products; the same one if there are none."""
  if not any(_piece(kernel, op, arch) for op in walk(kernel.body.body)):
    return kernel
  kernel = dataclasses.replace(kernel, body=copy.deepcopy(kernel.body))
  replaced: dict[Value, Value] = {}
  for block in [kernel.body.body, *(inner for op in list(walk(kernel.body.body)) for inner in op.blocks)]:
    _split_all(kernel, block, replaced, arch)
  for op in walk(kernel.body.body):
    op.operands = [replaced.get(v, v) for v in op.operands]
  eliminate_dead_code(kernel.body)
  return kernel


def _split_all(kernel: NativeKernel, block: Block, replaced: dict[Value, Value], arch: Arch) -> None:
  """Write the long products of a block anew, and note what stands for their results."""
  ops, block.ops = block.ops, []
  b = Builder(block)
  for op in ops:
    size = _piece(kernel, op, arch)
    if size is None:
      block.ops.append(op)
      continue
    with b.at(op.loc):
      replaced[op.result] = _loop(b, op, size)


def _loop(b: Builder, op: Op, size: int) -> Value:
  """The product, added up piece by piece."""
  rounds, left = divmod(_depth(op), size)
  accumulators = TileType(op.result.tile.shape, _accumulator_dtype(op))
  zero = b.emit("constant", value=np.zeros((), accumulators.dtype), dtype=accumulators.dtype)
  body = Block.of([TileType((), np.dtype(np.int32)), accumulators])
  with b.into(body):
    number, old = body.params
    product = _product(b, op, b.emit("mul", [number, _index(b, size)]), size)
    b.emit_all("yield", [b.emit("add", [old, product])])
  start = b.emit("broadcast", [zero], shape=accumulators.shape, dims=())
  (total,) = b.emit_all("for", [_index(b, 0), _index(b, rounds), start], [body])
  if left:
    total = b.emit("add", [total, _product(b, op, _index(b, rounds * size), left)])
  dtype = op.result.tile.dtype
  return total if dtype == accumulators.dtype else b.emit("convert", [total], dtype=dtype)


def _product(b: Builder, op: Op, start: Value, size: int) -> Value:
  """The product of what lies from `start` on along k."""
  parts = []
  for value, (contracted,) in zip(op.operands, op.attrs["contract"]):
    loaded, permutation = behind_transposes(value)
    assert isinstance(loaded.owner, Op)
    axis = permutation[contracted]
    starts = [start if d == axis else _index(b, 0) for d in range(2)]
    sizes = tuple(size if d == axis else n for d, n in enumerate(loaded.tile.shape))
    view = b.emit("subview", [loaded.owner.operands[0], *starts], sizes=sizes, steps=(1, 1), dropped=())
    part = b.emit("load", [view])
    parts.append(part if permutation == (0, 1) else b.emit("transpose", [part], permutation=permutation))
  return b.emit("dot", parts, **{**op.attrs, "dtype": _accumulator_dtype(op)})


def _index(b: Builder, number: int) -> Value:
  return b.emit("constant", value=np.int32(number), dtype=np.dtype(np.int32))


def _accumulator_dtype(op: Op) -> np.dtype:
  dtype = np.dtype(op.attrs["dtype"])
  return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def _depth(op: Op) -> int:
  return op.operands[0].tile.shape[op.attrs["contract"][0][0]]


def _piece(kernel: NativeKernel, op: Op, arch: Arch) -> int | None:
  """How much of k a round of a product takes; None if it is not to be a loop."""
  if op.name != "dot" or not _is_of_matrices(op) or not all(_is_block(kernel, v) for v in op.operands):
    return None
  k, sizes = _depth(op), [v.tile.size * v.tile.dtype.itemsize for v in op.operands]
  result, most = op.result.tile, _LONG * arch.shared_bytes if dot_kinds.has_tensor_cores(arch, op) else _LONGER
  if k < _DEPTH or result.size > _MAX_ACCUMULATORS or sum(sizes) <= most:
    return None
  if min(result.shape) <= _FEW and all(dims[0] == 1 for dims in op.attrs["contract"]):
    return None
  fitting = (piece for piece in _PIECES if sum(sizes) // k * piece <= _ROUND and k >= _ROUNDS * piece)
  return next(fitting, None)


def _is_of_matrices(op: Op) -> bool:
  (left, right), (batch, _) = op.attrs["contract"], op.attrs["batch"]
  return len(left) == len(right) == 1 and not batch and all(v.tile.rank == 2 for v in op.operands)


def _is_block(kernel: NativeKernel, value: Value) -> bool:
  """Whether an operand is loaded from an input, perhaps transposed, that nothing writes to: then it can be loaded later."""
  loaded, _ = behind_transposes(value)
  if not isinstance(loaded.owner, Op) or loaded.owner.name != "load":
    return False
  base, first = base_of(loaded.owner.operands[0]), kernel.mapping.num_prefetch
  inputs = kernel.body.params[first : first + kernel.mapping.num_inputs]
  if base not in inputs or first + inputs.index(base) in {into for into, _ in kernel.input_output_aliases}:
    return False
  return not any(base in accesses(op)[1] for op in walk(kernel.body.body))
