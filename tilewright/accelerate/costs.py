"""Cost model of XLA's instructions, and of one kernel for a region: memory traffic, arithmetic, and launch overhead.

Seconds are estimates for decisions, and are meant to be right in their proportions. A value between two of XLA's fusions is written
and read again, from the cache if it is small; a kernel keeps it in a tile. Elements cost what their op costs one thread; reductions over
slow dimensions cost XLA more than rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import jax

from tilewright.accelerate.attention import Match
from tilewright.accelerate.axes import Axes
from tilewright.accelerate.graph import Graph, Node, Refused, build, is_float, physical_order
from tilewright.accelerate.tiles import Machine, Tiling
from tilewright.hlo import Instruction, Shape
from tilewright.hlo.cost import device

# Nanoseconds per element of one thread with 16 lanes of float32: in XLA's loops, and in a kernel.
_OPS = {
  "exponential": (0.32, 0.11),
  "exponential-minus-one": (0.7, 0.14),
  "log": (0.6, 0.21),
  "log-plus-one": (1.2, 0.21),
  "tanh": (0.33, 0.19),
  "logistic": (0.6, 0.15),
  "erf": (0.33, 0.24),
  "power": (3.1, 0.9),
  "sine": (1.1, 0.15),
  "cosine": (1.1, 0.15),
  "tan": (2.0, 0.5),
  "atan2": (2.0, 0.8),
  "divide": (0.2, 0.08),
  "rsqrt": (0.3, 0.12),
  "sqrt": (0.2, 0.1),
  "cbrt": (1.0, 0.5),
  "remainder": (0.5, 0.4),
}
_PLAIN, _ROW_REDUCTION, _COLUMN_REDUCTION = 0.03, 0.05, 0.1
_STACKED_COLUMNS = 8.0
_MOVED, _MOVED_RUNS = 0.15, 0.07  # slices, pads and the like in XLA's loops; in runs, elements stay together
_MOVED_BY_US, _MOVED_RUNS_BY_US = 0.3, 0.08
_TURNED = 0.3  # transpositions, reversals and pads in XLA's loops
_CUT = frozenset({"slice", "pad", "concatenate"})
_FREE = frozenset({"leaf", "constant", "reshape", "broadcast", "iota"})
_LINE, _FEW = 64, 4096  # bytes of a cache line; elements of an array that hardly counts
_RUN, _SHORT = (
  32,
  64,
)  # elements in a row that a kernel moves at the price of each; a shorter row costs as much as so many
_ROUNDED_GPU = 0.09  # of an element that is rounded to 16 bits after each operation, beside the operation
_AGAIN = 0.15  # of a region's traffic, for each level of reductions on a GPU
_REDUCING = 1.5  # XLA's loops with a reduction, relative to those without
_BANDWIDTH, _CACHE = 50e9, 2.5  # of one thread in bytes per second; of the caches, relative to memory's
_LAUNCH_XLA, _LAUNCH = 1.0e-6, 5.0e-6  # with the time until other threads have begun
_SHARE = 10.0e-6  # seconds of one thread that XLA gives another thread a part of a loop for


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
    return Rates(device("h200").memory_bandwidth * 0.85, 132 * 4.0, 30 << 20, 3.0e-6, 3.0e-6)
  bandwidth = _BANDWIDTH * max(1.0, machine.threads * 0.7)
  return Rates(bandwidth, machine.threads, machine.l2 * machine.threads, _LAUNCH_XLA, _LAUNCH)


def _traffic(size: int, r: Rates) -> float:
  return size / (r.bandwidth * (_CACHE if size <= r.cache else 1.0))


def _reduction(node: Node) -> float:
  """XLA's, per element of the operand: rows are added along the vectors, columns across them.

  Columns of each matrix of a stack, even of a stack of one, take long if the matrix is computed in the same loop.
  """
  (x,) = node.operands
  over = node.attrs["dimensions"]
  if len(x.dims) - 1 in over:
    return _ROW_REDUCTION
  is_stacked = any(d not in over for d in range(max(over)))
  return _STACKED_COLUMNS if is_stacked and x.opcode != "leaf" else _COLUMN_REDUCTION


def _keeps_runs(node: Node) -> bool:
  """Whether data is moved in runs of a vector or more."""
  if node.opcode == "transpose":
    return node.attrs["permutation"][-1] == len(node.dims) - 1 and node.dims[-1] >= 16
  return node.opcode != "reverse" and bool(node.dims) and node.dims[-1] >= 16


def _moved(node: Node, ours: bool) -> float:
  """Nanoseconds per element that is moved."""
  if ours:
    return _MOVED_RUNS_BY_US if _keeps_runs(node) else _MOVED_BY_US
  if node.opcode in ("transpose", "reverse", "pad"):  # whose place a loop must compute, or ask for
    return _TURNED
  if not node.dims or node.dims[-1] < 16 or node.dims[-1] != node.operands[0].dims[-1]:
    return _MOVED
  return _MOVED_RUNS


def _element_cost(node: Node, ours: bool) -> float:
  if node.opcode in _FREE:
    return 0.0
  if node.opcode == "reduce":
    return (_ROW_REDUCTION if ours else _reduction(node)) * node.operands[0].size
  if node.opcode in ("transpose", "concatenate", "reverse", "slice", "pad"):
    return _moved(node, ours) * node.size
  if node.opcode == "dot":
    left = node.operands[0]
    depth = math.prod(left.dims[i] for i in node.attrs["contract"][0])
    return node.size * depth * 0.015
  cost = _OPS.get(node.opcode)
  if cost is None:
    return _PLAIN * node.size
  return cost[ours] * node.size


def _arithmetic(nodes: Iterable[Node], r: Rates, ours: bool) -> float:
  return sum(_element_cost(n, ours) for n in nodes) * 1e-9 / r.threads


_MOVING = frozenset({"slice", "pad", "concatenate", "reverse", "transpose"})


def _times_computed(graph: Graph) -> dict[Node, float]:
  """How often XLA's loop computes each value of a fusion: again for each place at which it is read.

  An elementwise op reads its operands where its own value is; a slice or a pad reads them elsewhere. In `x[1:] + x[:-1]`, x is computed
  twice, and what x is computed of, too. A kernel computes a tile of each value once.
  """
  times = dict.fromkeys(graph.nodes, 0.0)
  here = {o.node: 1.0 for o in graph.outputs}  # the most of the users at the same place
  for node in reversed(graph.nodes):
    times[node] += here.get(node, 0.0)
    for x in dict.fromkeys(node.operands):
      if node.opcode not in _MOVING:
        here[x] = max(here.get(x, 0.0), times[node])
      elif node.opcode == "slice":
        times[x] += times[node] * min(1.0, node.size / max(1, x.size))
      else:
        times[x] += times[node] * node.operands.count(x)
  return times


@dataclasses.dataclass(frozen=True)
class Alone:
  """What XLA needs for an instruction if nothing else runs, and how many threads it uses for it."""

  seconds: float
  threads: float


@dataclasses.dataclass
class XlaTimes:
  """XLA's times for the instructions of a computation, of which those that do not wait for each other run at the same time.

  `overlap` is the work of the computation relative to its longest path: about how many instructions run side by side. One that uses a
  single thread costs the program a part of its time, then; one that uses all threads costs all of it.
  """

  machine: Machine
  overlap: float = 1.0
  known: dict[Instruction, Alone] = dataclasses.field(default_factory=dict)

  @classmethod
  def of(cls, order: Sequence[Instruction], machine: Machine) -> XlaTimes:
    """For the instructions of a computation, in topological order."""
    times = cls(machine)
    if machine.is_gpu:
      return times
    ends: dict[Instruction, float] = {}
    for i in order:
      ends[i] = times.alone(i).seconds + max((ends[o] for o in i.operands), default=0.0)
    longest = max(ends.values(), default=0.0)
    total = sum(times.alone(i).seconds for i in order)
    times.overlap = min(float(machine.threads), total / longest) if longest else 1.0
    return times

  def alone(self, instruction: Instruction) -> Alone:
    if instruction not in self.known:
      self.known[instruction] = _alone(instruction, rates(self.machine))
    return self.known[instruction]

  def total(self, instructions: Iterable[Instruction]) -> float:
    """The seconds by which instructions make their program longer."""
    if self.machine.is_gpu:
      return _gpu_time(list(instructions), rates(self.machine))
    return sum(self._part(self.alone(i)) for i in instructions)

  def _part(self, alone: Alone) -> float:
    return alone.seconds * min(1.0, max(1.0 / self.overlap, alone.threads / self.machine.threads))


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


_CALLS = frozenset({"while", "call", "conditional"})  # their bodies are computations of their own
_ONE_THREAD = frozenset({"transpose", "reduce", "convert"})


def _alone(instruction: Instruction, r: Rates) -> Alone:
  if instruction.opcode in ("bitcast", "get-tuple-element", "tuple", "constant", "parameter"):
    return Alone(0.0, 1.0)
  if instruction.opcode in _CALLS:
    return Alone(r.launch_xla, 1.0)
  try:
    graph = build([instruction])
  except Refused:  # of a gather, XLA reads what it needs
    return Alone(r.launch_xla + 2 * _traffic(instruction.shape.byte_size, r), 1.0)
  moved = sum(_traffic(n.size * n.dtype.itemsize, r) for n in graph.leaves)
  moved += sum(_traffic(o.shape.byte_size, r) for o in graph.outputs)
  if any(n.opcode == "reduce" for n in graph.nodes):
    moved *= _REDUCING
  times = _times_computed(graph)
  work = sum(_element_cost(n, False) * times[n] for n in graph.nodes) * 1e-9
  threads = 1.0 if instruction.opcode in _ONE_THREAD else max(1.0, min(r.threads, work / _SHARE))
  return Alone(r.launch_xla + max(moved, 0.3 * moved + work / threads), threads)


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
  work = worst * _arithmetic(graph.nodes, r, ours=True)
  if not machine.is_gpu:
    work += sum(_short_runs(n, axes, tiling) for n in graph.nodes if n.opcode in _CUT) * 1e-9 / r.threads
  else:
    work += sum(n.size for n in graph.nodes if _is_narrow(n)) * _ROUNDED_GPU * 1e-9 / r.threads
  return r.launch + max(moved, 0.3 * moved + work) / max(busy, 1e-3)


def _short_runs(node: Node, axes: Axes, tiling: Tiling) -> float:
  """What is added to the cost of a slice or a pad, in a tile of a few columns."""
  if not _keeps_runs(node):
    return 0.0
  run = math.prod(tiling.size(a) for a in axes.dim(node, len(node.dims) - 1))
  return 0.0 if run >= _RUN else _MOVED_RUNS_BY_US * (_SHORT / max(1, run) - 1.0) * node.size


def _is_narrow(node: Node) -> bool:
  """Whether a value is rounded to 16 bits after it is computed in 32."""
  return is_float(node.dtype) and node.dtype.itemsize == 2 and node.opcode not in (*_FREE, "convert", "reduce")


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


# Nanoseconds of a thread, per multiplication: XLA's, and ours. Its library has fast kernels for bfloat16 that is not converted before;
# those for int8 came with jaxlib 0.11.
_PRODUCT = {"bf16": (0.0102, 0.0095), "s8": (0.013 if jax.__version_info__ < (0, 11) else 0.0058, 0.0051)}
_PRODUCT_WIDENED = 0.020


def product_times(multiplications: int, element_type: str, is_widened: bool, machine: Machine) -> tuple[float, float]:
  """What XLA and the library's kernel need for a product of narrow numbers, which XLA may convert to wider ones first."""
  r, (theirs, ours) = rates(machine), _PRODUCT[element_type]
  theirs = _PRODUCT_WIDENED if is_widened else theirs
  return multiplications * theirs * 1e-9 / r.threads, r.launch + multiplications * ours * 1e-9 / r.threads
