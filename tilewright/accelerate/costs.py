"""Cost model of XLA's instructions, and of one kernel for a region: memory traffic, arithmetic, and launch overhead.

Seconds are estimates for decisions, and are meant to be right in their proportions. A value between two of XLA's fusions is written
and read again, from the cache if it is small; a kernel keeps it in a tile. Elements cost what their op costs one thread; reductions over
slow dimensions cost XLA more than rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from tilewright.accelerate.attention import Match
from tilewright.accelerate.axes import Axes
from tilewright.accelerate.graph import Graph, Node, Refused, build, physical_order
from tilewright.accelerate.tiles import Machine, Tiling
from tilewright.hlo import Instruction, Shape
from tilewright.hlo.cost import device

# Nanoseconds per element of one thread with 16 lanes of float32.
_OPS = {
  "exponential": 0.45,
  "exponential-minus-one": 0.8,
  "log": 0.6,
  "log-plus-one": 1.2,
  "tanh": 0.9,
  "logistic": 0.7,
  "erf": 1.2,
  "power": 3.0,
  "sine": 2.5,
  "cosine": 2.5,
  "tan": 4.0,
  "atan2": 4.0,
  "divide": 0.25,
  "rsqrt": 0.25,
  "sqrt": 0.25,
  "cbrt": 2.0,
  "remainder": 1.0,
}
_PLAIN, _ROW_REDUCTION, _COLUMN_REDUCTION = 0.05, 0.08, 0.8
_MOVED, _MOVED_BY_US, _MOVED_RUNS = 0.4, 0.8, 0.15  # runs of elements stay together
_FREE = frozenset({"leaf", "constant", "reshape", "broadcast", "iota"})
_TRANSCENDENTAL = 2.0  # XLA's vectors of these functions, relative to ours
_LINE, _FEW = 64, 4096  # bytes of a cache line; elements of an array that hardly counts
_AGAIN = 0.15  # of a region's traffic, for each level of reductions on a GPU
_REDUCING = 1.5  # XLA's loops with a reduction, relative to those without
_CACHE = 4.0  # bandwidth of the caches, relative to memory's
_LAUNCH_XLA, _LAUNCH = 1.0e-6, 15.0e-6  # with the time until other threads have begun


@dataclasses.dataclass(frozen=True)
class Rates:
  """What a machine does in a second."""

  bandwidth: float
  threads: float  # times the speed of the thread that `_OPS` is of
  cache: int  # bytes: what is smaller stays there between two instructions
  launch_xla: float
  launch: float


def rates(machine: Machine) -> Rates:
  if machine.is_gpu:
    return Rates(device("h200").memory_bandwidth * 0.85, 132 * 16.0, 30 << 20, 3.0e-6, 3.0e-6)
  return Rates(
    10e9 * max(1.0, machine.threads * 0.7), machine.threads, machine.l2 * machine.threads, _LAUNCH_XLA, _LAUNCH
  )


def _traffic(size: int, r: Rates) -> float:
  return size / (r.bandwidth * (_CACHE if size <= r.cache else 1.0))


def _reduction(node: Node) -> float:
  """Per element of the operand: rows are added along the vectors, columns across them."""
  rank = len(node.operands[0].dims)
  return _ROW_REDUCTION if rank - 1 in node.attrs["dimensions"] else _COLUMN_REDUCTION


def _keeps_runs(node: Node) -> bool:
  """Whether data is moved in runs of a vector or more."""
  if node.opcode == "transpose":
    return node.attrs["permutation"][-1] == len(node.dims) - 1 and node.dims[-1] >= 16
  return node.opcode != "reverse" and bool(node.dims) and node.dims[-1] >= 16


def _element_cost(node: Node, ours: bool) -> float:
  if node.opcode in _FREE:
    return 0.0
  if node.opcode == "reduce":
    return (_ROW_REDUCTION if ours else _reduction(node)) * node.operands[0].size
  if node.opcode in ("transpose", "concatenate", "reverse", "slice", "pad"):
    return (_MOVED_RUNS if ours and _keeps_runs(node) else _MOVED_BY_US if ours else _MOVED) * node.size
  if node.opcode == "dot":
    left = node.operands[0]
    depth = math.prod(left.dims[i] for i in node.attrs["contract"][0])
    return node.size * depth * 0.015
  cost = _OPS.get(node.opcode)
  if cost is None:
    return _PLAIN * node.size
  return cost * node.size * (1.0 if ours else _TRANSCENDENTAL)


def _arithmetic(nodes: Iterable[Node], r: Rates, ours: bool) -> float:
  return sum(_element_cost(n, ours) for n in nodes) * 1e-9 / r.threads


def xla_time(instructions: Iterable[Instruction], machine: Machine, known: dict[Instruction, float]) -> float:
  """What XLA needs for instructions of its module, one after another."""
  r = rates(machine)
  if machine.is_gpu:
    return _gpu_time(list(instructions), r)
  total = 0.0
  for instruction in instructions:
    if instruction not in known:
      known[instruction] = _instruction_time(instruction, r)
    total += known[instruction]
  return total


def _gpu_time(members: Sequence[Instruction], r: Rates) -> float:
  """XLA fuses what the pass sees as single instructions: about one kernel more, which reads some of it again, per level of reductions."""
  try:
    graph = build(members)
  except Refused:
    return 0.0
  moved = sum(_traffic(n.size * n.dtype.itemsize, r) for n in graph.leaves)
  moved += sum(_traffic(o.shape.byte_size, r) for o in graph.outputs)
  depth: dict[Node, int] = {}
  for node in graph.nodes:
    depth[node] = max((depth[o] for o in node.operands), default=0) + (node.opcode == "reduce")
  levels = max((depth[n] for n in graph.nodes if n.opcode != "reduce"), default=0)
  return r.launch_xla * (1 + levels) + moved * (1 + _AGAIN * levels)


def _instruction_time(instruction: Instruction, r: Rates) -> float:
  if instruction.opcode in ("bitcast", "get-tuple-element", "tuple", "constant", "parameter"):
    return 0.0
  try:
    graph = build([instruction])
  except Refused:  # of a gather, XLA reads what it needs
    return r.launch_xla + 2 * _traffic(instruction.shape.byte_size, r)
  moved = sum(_traffic(n.size * n.dtype.itemsize, r) for n in graph.leaves)
  moved += sum(_traffic(o.shape.byte_size, r) for o in graph.outputs)
  if any(n.opcode == "reduce" for n in graph.nodes):
    moved *= _REDUCING
  if instruction.opcode in ("transpose", "reduce", "convert"):  # a loop of one thread
    r = dataclasses.replace(r, threads=1.0)
  return r.launch_xla + max(moved, 0.3 * moved + _arithmetic(graph.nodes, r, ours=False))


def kernel_time(graph: Graph, axes: Axes, tiling: Tiling, machine: Machine) -> float:
  """What one kernel needs for a region."""
  r = rates(machine)
  arrays = [(n, n.source.shape) for n in graph.leaves if n.source is not None] + [
    (o.node, o.shape) for o in graph.outputs
  ]
  moved, worst = 0.0, 1.0
  for node, shape in arrays:
    apart = _apart(node, shape, axes, tiling)
    moved += _traffic(node.size * node.dtype.itemsize, r) * apart
    if node.size > _FEW:
      worst = max(worst, apart)
  busy = min(1.0, tiling.instances / max(1, machine.threads))
  return r.launch + max(moved, 0.3 * moved + worst * _arithmetic(graph.nodes, r, ours=True)) / max(busy, 1e-3)


def _apart(node: Node, shape: Shape, axes: Axes, tiling: Tiling) -> float:
  """How much more of memory is touched than is used, as tiles are cut across cache lines."""
  run, wanted = 1, max(1, _LINE // node.dtype.itemsize)
  for dim in reversed(physical_order(shape)):
    for atom in reversed(axes.dim(node, dim)):
      run *= tiling.size(atom)
      if tiling.size(atom) < atom.size:
        return max(1.0, wanted / run)
  return 1.0


_MULTIPLICATION, _PAIRS_XLA, _PAIRS = (
  0.012,
  1.2,
  0.7,
)  # nanoseconds of a thread, per multiplication and per pair of query and key
_ARRAYS = 8  # of all pairs, that XLA reads and writes


def attention_times(match: Match, machine: Machine) -> tuple[float, float]:
  """What XLA and the library's kernels need for an attention: products, exponentials, and XLA's arrays of all pairs."""
  r = rates(machine)
  q = match.scores.operands[0]
  depth = q.dims[match.scores.attrs["contract"][0][0]]
  products = 5 if match.has_slopes else 2
  ours = 9 if match.has_slopes else 2  # the backward kernels compute the scores again
  seen = 0.55 if match.band.right is not None else 1.0
  work = match.pairs * depth * _MULTIPLICATION * 1e-9 / r.threads
  passes = 2.5 if match.has_slopes else 1.0
  moved = passes * _ARRAYS * _traffic(match.pairs * match.scores.dtype.itemsize, r)
  theirs = work * products + moved + passes * match.pairs * _PAIRS_XLA * 1e-9 / r.threads
  own = seen * (work * ours + passes * match.pairs * _PAIRS * 1e-9 / r.threads)
  return theirs, r.launch + own


_TAP_XLA, _TAP = 2.0, 0.05  # nanoseconds of a thread, per channel and tap of a depthwise convolution


def depthwise_times(multiplications: int, moved: int, machine: Machine) -> tuple[float, float]:
  """What XLA and the library's kernel need for a depthwise convolution that reads and writes so many bytes."""
  r = rates(machine)
  return multiplications * _TAP_XLA * 1e-9, r.launch + _traffic(moved, r) + multiplications * _TAP * 1e-9 / r.threads
