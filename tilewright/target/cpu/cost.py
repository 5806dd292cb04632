"""Cost model: roughly how long one thread takes for a kernel, and how many threads are worth waking for it.

    nanoseconds(kernel, lanes)      about; infinite where the grid or a loop has no known length
    threads(36_000.0)               6

The calling thread wakes the others one after another, and has less to do itself with each. With n threads that is about

    wake * n + time / n             least for n = sqrt(time / wake)

A thread that sleeps takes longer to come than it costs to wake it, so short kernels are left to the calling thread alone.
"""

from __future__ import annotations

import math

from tilewright.target.llvm import arithmetic, operand_indices
from tilewright.tile.ir import Block, Op
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType, TileType

# Nanoseconds, as measured on Zen and close to that on others: the estimate need not be better than by a factor of two.
_VECTOR = 0.2  # an arithmetic operation, a load or a store of a vector
_MULTIPLY_ADD = 0.13  # of vectors, in a contraction
_RUNNING = 1.2  # of running sums
_ELEMENT = 1.0  # of ops that go element by element
_INSTANCE = 3.0  # to find the blocks of an instance
_WAKE = 1000.0  # that the calling thread loses for each thread it wakes
_SHORT = 8000.0  # from which on others come in time to help
ANY = 1 << 30  # threads

_MEMORY = frozenset({"store", "load", "copy", "window_load", "window_store", "poison"})
_VIEWS = frozenset({"subview", "reshape_ref", "transpose_ref", "bitcast_ref", "alloc"})
_SWEEPS = frozenset({"reduce", "arg_reduce", "concatenate", "pad", "dynamic_update_slice", "recast"})


def nanoseconds(kernel: NativeKernel, lanes: int) -> float:
  """About how long one thread with vectors of so many elements takes for all instances."""
  instances = 1.0
  for size in kernel.mapping.grid:
    instances *= math.inf if size is None else size
  if not instances:
    return 0.0
  return instances * (_INSTANCE + _block(kernel.body.body, lanes))


def threads(time: float) -> int:
  """How many threads are worth working on what takes one of them so many nanoseconds."""
  if time < _SHORT:
    return 1
  return max(2, min(ANY, round(math.sqrt(time / _WAKE))))


def _block(block: Block, lanes: int) -> float:
  return sum(_op(op, lanes) for op in block.ops)


def _op(op: Op, lanes: int) -> float:
  if op.name == "for":
    once = _block(op.blocks[0], lanes)
    return _trips(op) * once if once else 0.0
  if op.name == "while":
    return math.inf
  if op.blocks and op.name == "switch":
    return max(_block(inner, lanes) for inner in op.blocks)
  if op.name in _VIEWS:
    return 0.0
  elements = _elements(op)
  vectors = math.ceil(elements / lanes)
  if op.name == "dot":
    return _MULTIPLY_ADD * _products(op) / lanes
  if op.name in arithmetic.ELEMENTWISE:
    return _VECTOR * vectors * arithmetic.cost(op.name)
  if op.name in _MEMORY or op.name in _SWEEPS:
    return _VECTOR * vectors
  if op.name == "cumulative":
    return _RUNNING * vectors
  if op.name in operand_indices.MOVES or op.name in operand_indices.SOURCES or elements == 1:
    return 0.0
  return _ELEMENT * elements


def _elements(op: Op) -> int:
  """Of the largest tile that an op takes or gives. A copy between refs has none, and moves as much as the smaller one holds."""
  values = (*op.operands, *op.results)
  tiles = [math.prod(v.type.shape) for v in values if isinstance(v.type, TileType)]
  if tiles and max(tiles) > 1:
    return max(tiles)
  return min((math.prod(v.type.shape) for v in values if isinstance(v.type, RefType)), default=1)


def _products(op: Op) -> int:
  left, right = (math.prod(v.tile.shape) for v in op.operands[:2])
  # The product of both operands has the contracted and the batch dimensions twice.
  contracted = math.prod(op.operands[0].tile.shape[a] for a in op.attrs["contract"][0])
  batch = math.prod(op.operands[0].tile.shape[a] for a in op.attrs["batch"][0])
  return left * right // max(1, contracted * batch)


def _trips(op: Op) -> float:
  """How often a loop runs, if its bounds are constants."""
  bounds = [v.owner for v in op.operands[:2]]
  if not all(isinstance(bound, Op) and bound.name == "constant" for bound in bounds):
    return math.inf
  lower, upper = (int(bound.attrs["value"]) for bound in bounds if isinstance(bound, Op))
  return max(0, upper - lower)
