"""Contractions along a sequential grid dimension, with copies and products at the same time.

A kernel whose body adds `dot(a, b)` to an accumulator, while the last dimension of the grid moves the blocks of both operands along the
contraction, keeps the accumulator in registers from the first step to the last, and brings the blocks into shared memory a few stages
ahead. How depends on the hardware:

    sm_90a    one warpgroup asks the copy engine for blocks; the others wait for a stage, multiply it with `wgmma`, and give it back
    others    all threads start copies (`cp.async`), wait for a stage together, and multiply it warp by warp with `mma.sync`

An operand need not be a block as it is. Where it is computed from blocks element by element (a conversion, a product with scales), on
sm_90a, warps that do nothing else fetch those blocks, compute the operand and write it where `wgmma` reads it. Where both are, the left
one is computed by the warps that multiply, in registers: see `decoding`.

Everything else in the body runs as it does elsewhere, in the warps that hold the sums.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright.layout.shared import SharedLayout, shared_for_matrix
from tilewright.target.nvgpu import mma, staging
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.cluster import ALONE, Cluster
from tilewright.target.nvgpu.mma import MmaDistribution
from tilewright.target.nvgpu.staging import PIECE, BoxedBlock, PaddedBlock, SharedBlock
from tilewright.target.nvgpu.statements import STATEMENTS
from tilewright.target.nvgpu.tma import TensorMap
from tilewright.target.nvgpu.wgmma import GROUP, ROWS, WgmmaDistribution
from tilewright.tile.grid import Blocked, BlockMapping, BoundedSlice, Squeezed
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

_KINDS = {np.dtype(jnp.bfloat16): "bf16", np.dtype(np.float16): "f16"}
_MOST_STAGES = {"wgmma": 6, "computed": 4, "mma": 5}
_DEPTH = 64  # of the contraction: a row of 128 bytes
_MOST_SUMS = 128 * 256  # of two warpgroups: 128 in each thread
_RESERVED = 2048  # bytes of shared memory for barriers and alignment
Inside = Callable[[BlockMapping, Any], list[bool]]


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand of the contraction: the whole block of an input as it is stored, or computed from blocks."""

  value: Value
  shape: tuple[int, int]
  k_is_last: bool
  position: int | None = None  # among the inputs, where it is a block
  inputs: tuple[int, ...] = ()  # what it is computed from, else
  ops: tuple[Op, ...] = ()  # which compute it, and nothing else


@dataclasses.dataclass(frozen=True)
class Contraction:
  """What is contracted, and where the sums are kept."""

  dot: Op
  accumulator: Value  # the ref the products are added to
  sides: tuple[Operand, Operand]
  block: tuple[int, int, int]  # m, n, k
  kind: str
  num_steps: int
  is_quiet: bool  # between the first step and the last, nothing but products is added to the accumulator
  output: Value | None = None  # where the accumulator is an output: a ref of the same type, for the memory itself


@dataclasses.dataclass(frozen=True)
class WarpgroupPlan:
  """Products by warpgroups, of operands that the copy engine brings or other warps compute.

  A stage has `depth` of the contraction. What operands are computed from is staged too, for a whole step.
  """

  contraction: Contraction
  maps: tuple[TensorMap | None, TensorMap | None]  # left, right: how they are copied, unless they are computed
  stages: int
  depth: int
  blocks: tuple[PaddedBlock, ...] = ()
  block_stages: int = 0
  cluster: Cluster = ALONE
  stores: tuple[TensorMap, ...] = ()  # of outputs that the copy engine writes

  @property
  def groups(self) -> int:
    """Warpgroups that multiply."""
    return self.contraction.block[0] // ROWS

  @property
  def producers(self) -> int:
    """Threads that fetch and compute operands. No thread of a block has more registers than all would have alike, so that where sums
    take 128 there is room for three warpgroups."""
    return 2 * GROUP if None in self.maps and self.contraction.block[1] <= 128 else GROUP

  @property
  def num_threads(self) -> int:
    return self.producers + self.groups * GROUP

  @property
  def registers(self) -> tuple[int, int]:
    """Of a thread that fetches, and of one that multiplies: so many that all threads of a block together have 64 Ki."""
    if None not in self.maps:
      return 40, 232
    return (104, 200) if self.producers == GROUP else (104, 152)

  @property
  def distribution(self) -> WgmmaDistribution:
    return WgmmaDistribution(self.contraction.block[:2], self.groups)

  @property
  def slices(self) -> int:
    """Stages that a step takes."""
    return self.contraction.block[2] // self.depth

  @property
  def side_bytes(self) -> tuple[int, int]:
    m, n, _ = self.contraction.block
    return m * self.depth * 2, n * self.depth * 2

  @property
  def stage_bytes(self) -> int:
    return sum(self.side_bytes)

  @property
  def copied_bytes(self) -> int:
    """What the copy engine brings of a stage."""
    return sum(size for size, m in zip(self.side_bytes, self.maps) if m is not None)

  @property
  def tensor_maps(self) -> tuple[TensorMap, ...]:
    return tuple(m for m in self.maps if m is not None)

  @property
  def swizzled_bytes(self) -> int:
    """What lies in rows of 128 bytes."""
    return self.stages * self.stage_bytes

  @property
  def shared_bytes(self) -> int:
    """Stages, a pair of barriers for each, then the stages of what operands are computed from."""
    return self.swizzled_bytes + 16 * self.stages + self.block_stages * self.block_bytes

  @property
  def block_bytes(self) -> int:
    return sum(block.nbytes for block in self.blocks)


@dataclasses.dataclass(frozen=True)
class Sources:
  """What an operand is computed from, in shared memory: blocks that the copy engine brings, and others that threads copy."""

  swizzled: tuple[BoxedBlock, ...]
  padded: tuple[PaddedBlock, ...]
  stages: int  # of a step each
  ahead: int  # steps before which they are asked for

  @property
  def swizzled_bytes(self) -> int:
    """Of a stage."""
    return sum(block.nbytes for block in self.swizzled)

  @property
  def padded_bytes(self) -> int:
    return sum(block.nbytes for block in self.padded)


@dataclasses.dataclass(frozen=True)
class RegisterPlan(WarpgroupPlan):
  """Products of computed operands, of which the left one is in registers: stages have the right one alone.

  The left operand is computed later than the right one, by those who multiply, and what it is computed from is free when a stage of the
  right one is that was multiplied after it.
  """

  sources: tuple[Sources, ...] = ()

  @property
  def tensor_maps(self) -> tuple[TensorMap, ...]:
    return tuple(block.tensor_map for own in self.sources for block in own.swizzled)

  @property
  def side_bytes(self) -> tuple[int, int]:
    return 0, super().side_bytes[1]

  @property
  def groups(self) -> int:
    return 2

  @property
  def parts(self) -> int:
    """Products, one below the other, of a warpgroup."""
    return self.contraction.block[0] // (self.groups * ROWS)

  @property
  def producers(self) -> int:
    return GROUP

  @property
  def swizzled_bytes(self) -> int:
    return super().swizzled_bytes + sum(own.stages * own.swizzled_bytes for own in self.sources)

  @property
  def shared_bytes(self) -> int:
    return self.swizzled_bytes + 16 * self.stages + sum(own.stages * (own.padded_bytes + 16) for own in self.sources)


@dataclasses.dataclass(frozen=True)
class WarpPlan:
  """Products by warps, of blocks that all threads copy."""

  contraction: Contraction
  distribution: MmaDistribution
  blocks: tuple[SharedBlock, SharedBlock]
  stages: int
  tensor_maps: tuple[TensorMap, ...] = ()

  @property
  def num_threads(self) -> int:
    return self.distribution.threads

  @property
  def stage_bytes(self) -> int:
    return sum(block.nbytes for block in self.blocks)


Plan = WarpgroupPlan | WarpPlan


def stage_layouts(plan: Plan) -> dict[int, SharedLayout | None]:
  """How the blocks of the operands lie in a stage, by position; None where no transforms would say that."""
  found: dict[int, SharedLayout | None] = {}
  for number, side in enumerate(plan.contraction.sides):
    if side.position is None:
      continue
    if isinstance(plan, WarpPlan):
      found[side.position] = plan.blocks[number].layout(side.shape[1])
    else:
      found[side.position] = shared_for_matrix(side.shape, 16, 128) if plan.slices == 1 else None
  return found


def find(
  kernel: NativeKernel, arch: Arch, inside: Inside, num_warps: int | None, cluster: Cluster = ALONE
) -> Plan | None:
  """The pipeline of a kernel, if its body has the form for it. `inside(mapping, index_map)` says where blocks never hang over."""
  contraction = _contraction(kernel, inside)
  if contraction is None:
    return None
  return (
    (None if cluster.size > 1 else _register_plan(kernel, contraction, arch))
    or _warpgroup_plan(kernel, contraction, arch, cluster)
    or _warp_plan(kernel, contraction, arch, num_warps)
  )


def _register_plan(kernel: NativeKernel, c: Contraction, arch: Arch) -> RegisterPlan | None:
  """Two operands with k last, computed from blocks of which no one is both's, and of which the copy engine brings some of each."""
  (left, right), (m, n, k) = c.sides, c.block
  if not arch.has_wgmma or m not in (128, 256) or n % 32 or m * n > _MOST_SUMS or k % _DEPTH:
    return None
  if any(s.position is not None or not s.k_is_last for s in c.sides) or {*left.inputs} & {*right.inputs}:
    return None
  staged = [[staging.boxed(kernel, i) or staging.padded(kernel, i) for i in side.inputs] for side in c.sides]
  found: list[RegisterPlan] = []
  for stages, *ahead in itertools.product((4, 3, 2), (2, 1), (2, 1)):
    # Where the first slice of a step finds a free stage, so many steps before it are multiplied; each takes all that was fetched.
    behind = 1 + -(-(stages - 1) // (k // _DEPTH))
    sources = tuple(
      Sources(
        tuple(b for b in blocks if isinstance(b, BoxedBlock)),
        tuple(b for b in blocks if isinstance(b, PaddedBlock)),
        early + late,
        early,
      )
      for blocks, early, late in zip(staged, ahead, (behind, 1))
    )
    plan = RegisterPlan(c, (None, None), stages, _DEPTH, sources=sources)
    if ahead[0] <= ahead[1] and plan.shared_bytes <= arch.shared_bytes - _RESERVED:
      found.append(plan)
  if not all(any(isinstance(b, BoxedBlock) for b in blocks) for blocks in staged):
    return None
  # The right operand is needed first, so that what it is computed from is asked for early.
  return max(found, key=lambda p: (min(p.stages, 3), *(own.ahead for own in p.sources[::-1]), p.stages), default=None)


def _warpgroup_plan(kernel: NativeKernel, c: Contraction, arch: Arch, cluster: Cluster) -> WarpgroupPlan | None:
  right, (m, n, k) = c.sides[1], c.block
  if not arch.has_wgmma or k % _DEPTH or m not in (64, 128) or n % (8 if right.k_is_last else 64) or n > 256:
    return None
  computed = any(side.position is None for side in c.sides)
  if computed and any(size % 32 for size in (m, n)):
    return None
  depth = _DEPTH if computed else k
  if cluster.size > 1 and (computed or not _is_shared(kernel, c, depth, cluster)):
    cluster = ALONE
  maps = tuple(
    None if s.position is None else _tensor_map(kernel, s, c.kind, depth, sharers)
    for s, sharers in zip(c.sides, cluster.sharers)
  )
  if any(t is not None and len(t.shape) > 5 for t in maps):
    return None
  found = (staging.padded(kernel, i) for i in dict.fromkeys(i for side in c.sides for i in side.inputs))
  plan = WarpgroupPlan(c, maps, 1, depth, tuple(b for b in found if b is not None), int(computed), cluster)  # type: ignore[arg-type]
  # More stages as long as they fit: of operands and of what those are computed from in turn.
  while True:
    deeper = dataclasses.replace(plan, stages=plan.stages + 1)
    if plan.blocks and plan.block_stages <= plan.stages:
      deeper = dataclasses.replace(plan, block_stages=plan.block_stages + 1)
    most = _MOST_STAGES["computed" if computed else "wgmma"]
    if deeper.shared_bytes > arch.shared_bytes - _RESERVED or deeper.stages > most:
      break
    plan = deeper
  room = plan.stages * plan.stage_bytes
  plan = dataclasses.replace(plan, stores=tuple(_store_maps(kernel, c)) if 2 * m * n <= room else ())
  return plan if plan.stages >= 2 and (plan.block_stages >= 2 or not plan.blocks) else None


def _store_maps(kernel: NativeKernel, c: Contraction) -> Iterator[TensorMap]:
  """The outputs that are only written as a whole, after the last product: then stages are free, and a box can be put together there."""
  mapping, used, tests = kernel.mapping, users(kernel.body.body), step_tests(kernel)
  ops = kernel.body.body.ops
  (add,) = used[c.dot.result]
  (added,) = used[add.result]
  last = [op for op in ops[ops.index(added) :] if _runs_at(op, tests) == c.num_steps - 1]
  inside = {op for own in last for block in own.blocks for op in walk(block)}
  params = kernel.body.params[mapping.num_prefetch + mapping.num_inputs :]
  for number, (m, ref) in enumerate(zip(mapping.output_mappings, params)):
    kind, position = _KINDS.get(np.dtype(m.array_aval.dtype)), mapping.num_inputs + number
    if kind is None or kernel.index_maps[position] is None or not _is_plain(m) or len(m.block_shape) > 5:
      continue
    if any(out == number for _, out in kernel.input_output_aliases) or ref.ref.shape != c.block[:2]:
      continue
    if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
      continue  # of a bounded slice not all rows are written
    if c.block[1] % _DEPTH or any(op.name != "store" or op not in inside for op in used.get(ref, [])):
      continue
    row = max(d for d, dim in enumerate(m.block_shape[:-1]) if isinstance(dim, Blocked))
    box = tuple(ROWS if d == row else 1 for d in range(len(m.block_shape) - 1))
    yield TensorMap(mapping.num_prefetch + position, kind, tuple(m.array_aval.shape), box, row)


def _is_shared(kernel: NativeKernel, c: Contraction, depth: int, cluster: Cluster) -> bool:
  """Whether the blocks of a cluster need the same rows of the left operand across, and of the right one down, in parts of eight."""
  *_, rows, columns = parallel_dims(kernel)
  grid = kernel.mapping.grid
  if int(grid[rows]) % cluster.down or int(grid[columns]) % cluster.across:
    return False
  for side, sharers, other in zip(c.sides, cluster.sharers, (columns, rows)):
    index_map = kernel.index_maps[side.position] if side.position is not None else None
    if sharers == 1:
      continue
    if index_map is None or index_map.params[other] in {*users(index_map.body), *index_map.body.yielded}:
      return False
    if (side.shape[0] if side.k_is_last else depth) % (8 * sharers):
      return False
  return True


def _tensor_map(kernel: NativeKernel, side: Operand, kind: str, depth: int, sharers: int = 1) -> TensorMap:
  assert side.position is not None
  mapping = kernel.mapping.block_mappings[side.position]
  box = [d.block_size for d in mapping.block_shape[:-1]]
  row = max(d for d, dim in enumerate(mapping.block_shape[:-1]) if not isinstance(dim, Squeezed))
  if not side.k_is_last:
    box[row] = depth
  box[row] //= sharers
  array, shape = kernel.mapping.num_prefetch + side.position, tuple(mapping.array_aval.shape)
  return TensorMap(array, kind, shape, tuple(box), row)


def _warp_plan(kernel: NativeKernel, c: Contraction, arch: Arch, num_warps: int | None) -> WarpPlan | None:
  m, n, k = c.block
  distribution = mma.choose(m, n, num_warps)
  if distribution is None or k % mma.DEPTH or any(side.position is None for side in c.sides):
    return None
  blocks = tuple(SharedBlock(side.shape[0], side.shape[1] * 2 // PIECE) for side in c.sides)
  stages = min(_MOST_STAGES["mma"], (arch.shared_bytes - _RESERVED) // sum(block.nbytes for block in blocks))
  return WarpPlan(c, distribution, blocks, stages) if stages >= 2 else None  # type: ignore[arg-type]


# --- recognising -------------------------------------------------------------------------------------------------


def _contraction(kernel: NativeKernel, inside: Inside) -> Contraction | None:
  grid = kernel.mapping.grid
  last, parallel = len(grid) - 1, parallel_dims(kernel)
  if last < 0 or last in parallel or len(parallel) != last or None in grid:
    return None
  dots = [op for op in walk(kernel.body.body) if op.name == "dot"]
  if len(dots) != 1 or dots[0] not in kernel.body.body.ops:
    return None
  (dot,) = dots
  kinds = [_KINDS.get(v.tile.dtype) for v in dot.operands]
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


def _free_first(shape: tuple[int, ...], contracted: int) -> tuple[int, int]:
  return shape[1 - contracted], shape[contracted]


def _operand(
  kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]], inside: Inside
) -> Operand | None:
  return _block_operand(kernel, v, contracted, used, inside) or _computed_operand(kernel, v, contracted, used)


def _block_operand(
  kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]], inside: Inside
) -> Operand | None:
  """The input of which a value is the whole block, perhaps transposed, if nothing else uses either."""
  op, value = v.owner, v
  while isinstance(op, Op) and op.name == "transpose" and len(used[op.result]) == 1:
    contracted = op.attrs["permutation"][contracted]
    op = op.operands[0].owner
  if not isinstance(op, Op) or op.name != "load" or len(used[op.result]) != 1:
    return None
  ref, inputs = op.operands[0], _inputs(kernel)
  if ref not in inputs or len(used[ref]) != 1:
    return None
  position = inputs.index(ref)
  mapping, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
  if index_map is None or not _is_plain(mapping):
    return None
  safe = inside(mapping, index_map)
  kept = [d for d, dim in enumerate(mapping.block_shape) if not isinstance(dim, Squeezed)]
  if not all(ok for d, ok in enumerate(safe) if d == kept[contracted] or d not in kept):
    return None  # what lies outside along the contraction is not zero
  return Operand(value, op.result.tile.shape, contracted == 1, position)  # type: ignore[arg-type]


def _inputs(kernel: NativeKernel) -> list[Value]:
  return kernel.body.params[kernel.mapping.num_prefetch :][: kernel.mapping.num_inputs]


def _computed_operand(kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]]) -> Operand | None:
  """An operand of which each element is computed from elements of inputs that nobody writes."""
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
    elif op.blocks or op.name in STATEMENTS or op.name == "window_load":
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


def _is_plain(m: BlockMapping) -> bool:
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
  if any(op.blocks or (op.name in STATEMENTS and op is not dot) for op in between):
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
    if touches and op not in own and _runs_at(op, tests) != (0 if position < ops.index(store) else last):
      return False
  return True


def body_at(kernel: NativeKernel, c: Contraction, step: int | None) -> Block:
  """The kernel's body at a step, or between the first and the last: without the branches that are not taken then.

  The product stands where it is added; nothing that it needs changes before. An accumulator that is an output is written at the end.
  """
  body, tests, last = kernel.body.body, step_tests(kernel), int(kernel.mapping.grid[-1]) - 1
  ops: list[Op] = []
  for op in body.ops:
    when = _runs_at(op, tests)
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


def _runs_at(op: Op, tests: dict[Value, int]) -> int | None:
  """The only step at which a branch does something, if there is one: `pl.when(program_id(last) == constant)`."""
  if op.name != "switch" or op.results or len(op.blocks) != 2 or len(op.blocks[0].ops) > 1:
    return None
  test = op.operands[0]
  while isinstance(test.owner, Op) and test.owner.name == "convert":
    test = test.owner.operands[0]
  return tests.get(test)
