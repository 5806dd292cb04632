"""The predicted cost of a tiled region, before anything is compiled: traffic, operations, working set.

Each input is read once from memory; what grid points along other axes read again comes from a cache. An instruction
is computed once per tile: where tiles overlap, or do not depend on a grid axis, that is recomputation. The working
set is what one grid point must hold at once: the operands of reductions and products, their results, and values that
are used more than once. Elementwise values on the way are not held.

    time = launch + max(bytes / bandwidth + again / cache bandwidth, operations / rates) / share of the device that the grid keeps busy

"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.hlo.cost.model import CostModel
from tilewright.hlo.cost.work import FREE, work
from tilewright.hlo.ir import Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.tiling.region import Region, TiledInstruction, TiledRegion

PANEL = 32 << 10  # bytes of a product's operand that are held at once, where it is read from memory
CACHE_SPEED = 6.0  # of L2 against memory: about 5 on an H200, 4 to 10 on CPUs
_MOVES = frozenset({"broadcast", "bitcast", "reshape", "slice", "transpose", "reverse", "pad", "concatenate", "iota"})
_HOLDS = frozenset({"reduce", "dot", "convolution", "reduce-window", "gather"})  # their operands and results are held


@dataclass(frozen=True)
class Budget:
  """What one kernel may use. `tile_bytes`: the working set of one grid point, a share of L2 or shared memory and registers."""

  tile_bytes: int
  units: int  # cores or SMs: grid points that run at the same time
  recomputation: float = 2.0  # operations against those of the program as it is
  min_saving: float = 0.05  # of the predicted time, to be worth a kernel
  seconds: float = 10.0  # for searching, in one module


BUDGETS: Mapping[str, Budget] = {
  "cpu": Budget(tile_bytes=1 << 20, units=2),  # half of an L2 of 2 MiB
  "gpu": Budget(tile_bytes=192 << 10, units=132),  # of 227 KiB of shared memory
}


def budget_for(model: CostModel) -> Budget:
  return BUDGETS["cpu" if model.device.name == "cpu" else "gpu"]


@dataclass(frozen=True)
class Prediction:
  seconds: float
  bound: str  # memory, compute or launch
  input_bytes: float  # each input once
  output_bytes: float
  again_bytes: float  # read once more, by other grid points
  working_set: int  # bytes per grid point
  recomputation: float  # operations, against each instruction once
  grid: int

  def __str__(self) -> str:
    moved = (self.input_bytes + self.output_bytes) / 1e6
    again = f" and {self.again_bytes / 1e6:.3g} MB again" if self.again_bytes else ""
    return (
      f"{self.seconds * 1e6:.3g} µs ({self.bound}): {moved:.3g} MB{again}, working set {self.working_set / 1024:.3g} KiB, "
      f"recomputation {self.recomputation:.2f}, {self.grid} grid points"
    )


def runs(tiled: TiledInstruction, region: TiledRegion) -> int:
  """How many tiles of this instruction are computed: one per grid point, and per step of the loops it depends on."""
  count = math.prod(region.grid)
  for loop in {v.index for e in tiled.offsets for v in e.variables() if v.kind in "od"}:
    if region.axes[loop].kind == "loop":
      count *= region.axes[loop].steps
  return count


def elements(tiled: TiledInstruction, region: TiledRegion) -> int:
  """Of one tile, with all points of a pointwise one."""
  points = math.prod(min(region.axes[a].tile, region.axes[a].size) for a in tiled.pointwise)
  return math.prod(tiled.sizes) * points


def predict(region: TiledRegion, model: CostModel, budget: Budget) -> Prediction:
  machine = model.device
  once: dict[Instruction, float] = {}
  vector = matrix = matrix_seconds = 0.0
  reads: dict[Instruction, float] = {}
  inputs = again = 0.0
  for tiled in region.instructions:
    i = tiled.instruction
    if not i.shape.is_array:
      continue
    tiles, size = runs(tiled, region), elements(tiled, region)
    total = i.shape.num_elements
    share = tiles * size / max(total, 1)
    if i.opcode == "parameter":
      reads[i] = reads.get(i, 0.0) + share * i.shape.byte_size
      continue
    if i.opcode in FREE or i.opcode in _MOVES:
      continue
    amount = work(i)
    once[i] = amount.flops
    vector += (amount.flops - amount.matrix_flops) * share
    matrix += amount.matrix_flops * share
    if amount.matrix_flops:
      matrix_seconds += amount.matrix_flops * share / (machine.matmul_rate(amount.element_type) * product_rate(tiled))
  for parameter, moved in reads.items():
    first = min(moved, float(parameter.shape.byte_size))
    inputs += first
    again += moved - first
  outputs = float(sum(o.shape.byte_size for o in region.region.outputs))
  bandwidth = machine.memory_bandwidth * machine.memory_efficiency
  memory = (inputs + outputs) / bandwidth + again / (bandwidth * CACHE_SPEED)
  compute = matrix_seconds + vector / machine.vector_flops
  grid = math.prod(region.grid)
  rounds = -(-grid // budget.units)
  busy = grid / (rounds * budget.units)
  # One core or SM reaches a good part of the bandwidth alone: memory suffers less than arithmetic.
  seconds = max(memory / min(1.0, 2 * busy), compute / busy)
  bound = "memory" if memory / min(1.0, 2 * busy) >= compute / busy else "compute"
  if seconds < machine.launch:
    bound = "launch"
  return Prediction(
    max(seconds, machine.launch),
    bound,
    inputs,
    outputs,
    again,
    working_set(region),
    (vector + matrix) / sum(once.values()) if any(once.values()) else 1.0,
    grid,
  )


def fused_seconds(region: Region, model: CostModel) -> float:
  """What XLA's own fusions of a region would take: a kernel for each product, reduction and output, which computes elementwise
  values and movements itself.
  """
  machine = model.device
  bandwidth = machine.memory_bandwidth * machine.memory_efficiency
  body = region.body
  kept = set(region.roots) | {i for i in body.instructions if i.opcode in _HOLDS}
  kept |= {o for i in body.instructions if i.opcode in ("dot", "convolution") for o in i.operands}
  total = 0.0
  for root in body.instructions:
    if (
      root not in kept
      or root.opcode in ("parameter", "constant")
      or not any(s.is_array for _, s in root.shape.leaves())
    ):
      continue
    moved, flops, seen = float(root.shape.byte_size), 0.0, set[Instruction]()
    seconds = 0.0
    stack = [root]
    while stack:
      top = stack.pop()
      if top in seen:
        continue
      seen.add(top)
      if top is not root and (top in kept or top.opcode == "parameter"):
        moved += top.shape.byte_size
        continue
      if top.opcode not in FREE and top.opcode not in _MOVES:
        amount = work(top)
        flops += amount.flops - amount.matrix_flops
        seconds += amount.matrix_flops / machine.matmul_rate(amount.element_type)
      stack += top.operands
    seconds += flops / machine.vector_flops
    total += max(seconds, moved / bandwidth, machine.launch)
  return total


def product_rate(tiled: TiledInstruction) -> float:
  """How much of the peak a product of this tile's size reaches: small ones load more than they compute."""
  sizes = [n for n in tiled.sizes if n > 1] or [1]
  rows, columns = (sizes[-2], sizes[-1]) if len(sizes) > 1 else (1, sizes[-1])
  return min(1.0, rows / 16) * min(1.0, columns / 16) if rows > 1 else 1 / 16


def working_set(region: TiledRegion) -> int:
  """Peak bytes that one grid point holds, in the order of the instructions."""
  last: dict[int, int] = {}
  uses: dict[int, int] = {}
  held_for: set[int] = set()
  streamed = {k for k, tiled in enumerate(region.instructions) if tiled.instruction.opcode == "parameter"}
  for k, tiled in enumerate(region.instructions):
    for operand in tiled.operands:
      last[operand] = k
      uses[operand] = uses.get(operand, 0) + 1
      if tiled.instruction.opcode in _HOLDS:
        held_for.add(operand)
      if tiled.instruction.opcode not in ("dot", "convolution"):
        streamed.discard(operand)
  for k in region.roots:
    last[k] = len(region.instructions)
  live, most = 0, 0
  ends: dict[int, int] = {}
  for k, tiled in enumerate(region.instructions):
    i = tiled.instruction
    live -= ends.pop(k, 0)
    on_the_way = i.opcode in ELEMENTWISE or i.opcode in _MOVES
    if not i.shape.is_array or i.opcode == "constant" or (on_the_way and uses.get(k, 0) < 2 and k not in held_for):
      continue
    size = -(-elements(tiled, region) * i.shape.byte_size // max(i.shape.num_elements, 1))
    size = min(size, PANEL) if k in streamed else size
    live += size
    most = max(most, live)
    after = last.get(k, k) + 1
    ends[after] = ends.get(after, 0) + size
  return most
