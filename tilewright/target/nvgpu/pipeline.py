"""Contractions along a sequential grid dimension, with copies and products at the same time.

A kernel whose body adds `dot(a, b)` to an accumulator, while the last dimension of the grid moves the blocks of both operands along the
contraction, keeps the accumulator in registers from the first step to the last, and brings the blocks into shared memory a few stages
ahead. How depends on the hardware:

    sm_90a    one warpgroup asks the copy engine for blocks; the others wait for a stage, multiply it with `wgmma`, and give it back
    others    all threads start copies (`cp.async`), wait for a stage together, and multiply it warp by warp with `mma.sync`

Everything else in the body runs as it does elsewhere, in the warps that hold the sums.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright.target.nvgpu import mma
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.mma import MmaDistribution
from tilewright.target.nvgpu.staging import PIECE, SharedBlock
from tilewright.target.nvgpu.tma import TensorMap
from tilewright.target.nvgpu.wgmma import GROUP, ROWS, WgmmaDistribution
from tilewright.tile.grid import Blocked, BlockMapping, Squeezed
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

_KINDS = {np.dtype(jnp.bfloat16): "bf16", np.dtype(np.float16): "f16"}
_MOST_STAGES = {"wgmma": 6, "mma": 5}
_RESERVED = 2048  # bytes of shared memory for barriers and alignment
Inside = Callable[[BlockMapping, Any], list[bool]]


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand of the contraction: the whole block of an input, as it is stored."""

  position: int  # among the inputs
  shape: tuple[int, int]
  k_is_last: bool


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


@dataclasses.dataclass(frozen=True)
class WarpgroupPlan:
  """Products by warpgroups, of blocks that the copy engine brings."""

  contraction: Contraction
  maps: tuple[TensorMap, TensorMap]  # left, right
  stages: int

  @property
  def groups(self) -> int:
    return self.contraction.block[0] // ROWS

  @property
  def num_threads(self) -> int:
    """Those of the consumers, and a group that fetches."""
    return (self.groups + 1) * GROUP

  @property
  def distribution(self) -> WgmmaDistribution:
    return WgmmaDistribution(self.contraction.block[:2], self.groups)

  @property
  def left_bytes(self) -> int:
    return self.contraction.block[0] * self.contraction.block[2] * 2

  @property
  def stage_bytes(self) -> int:
    return self.left_bytes + self.contraction.block[1] * self.contraction.block[2] * 2

  @property
  def shared_bytes(self) -> int:
    """Stages, then a pair of barriers for each."""
    return self.stages * (self.stage_bytes + 16)


@dataclasses.dataclass(frozen=True)
class WarpPlan:
  """Products by warps, of blocks that all threads copy."""

  contraction: Contraction
  distribution: MmaDistribution
  blocks: tuple[SharedBlock, SharedBlock]
  stages: int
  maps: tuple[TensorMap, ...] = ()

  @property
  def num_threads(self) -> int:
    return self.distribution.threads

  @property
  def stage_bytes(self) -> int:
    return sum(block.nbytes for block in self.blocks)


Plan = WarpgroupPlan | WarpPlan


def find(kernel: NativeKernel, arch: Arch, inside: Inside, num_warps: int | None) -> Plan | None:
  """The pipeline of a kernel, if its body has the form for it. `inside(mapping, index_map)` says where blocks never hang over."""
  contraction = _contraction(kernel, inside)
  if contraction is None:
    return None
  return _warpgroup_plan(kernel, contraction, arch) or _warp_plan(kernel, contraction, arch, num_warps)


def _warpgroup_plan(kernel: NativeKernel, c: Contraction, arch: Arch) -> WarpgroupPlan | None:
  right, (m, n, k) = c.sides[1], c.block
  if not arch.has_wgmma or k % 64:
    return None
  if m not in (64, 128) or n % (8 if right.k_is_last else 64) or n > 256:
    return None
  maps = tuple(_tensor_map(kernel, side, c.kind) for side in c.sides)
  stage = (m + n) * k * 2
  stages = min(_MOST_STAGES["wgmma"], (arch.shared_bytes - _RESERVED) // (stage + 16))
  if stages < 2 or any(len(t.shape) > 5 for t in maps):
    return None
  return WarpgroupPlan(c, maps, stages)  # type: ignore[arg-type]


def _tensor_map(kernel: NativeKernel, side: Operand, kind: str) -> TensorMap:
  mapping = kernel.mapping.block_mappings[side.position]
  box = [d.block_size for d in mapping.block_shape[:-1]]
  return TensorMap(kernel.mapping.num_prefetch + side.position, kind, tuple(mapping.array_aval.shape), tuple(box))


def _warp_plan(kernel: NativeKernel, c: Contraction, arch: Arch, num_warps: int | None) -> WarpPlan | None:
  m, n, k = c.block
  distribution = mma.choose(m, n, num_warps)
  if distribution is None or k % mma.DEPTH:
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
  return Contraction(dot, accumulator, tuple(sides), (m, n, k), kinds[0], int(grid[last]), quiet)  # type: ignore[arg-type]


def _free_first(shape: tuple[int, ...], contracted: int) -> tuple[int, int]:
  return shape[1 - contracted], shape[contracted]


def _operand(
  kernel: NativeKernel, v: Value, contracted: int, used: dict[Value, list[Op]], inside: Inside
) -> Operand | None:
  """The input of which a value is the whole block, perhaps transposed, if nothing else uses either."""
  op = v.owner
  while isinstance(op, Op) and op.name == "transpose" and len(used[op.result]) == 1:
    contracted = op.attrs["permutation"][contracted]
    op = op.operands[0].owner
  if not isinstance(op, Op) or op.name != "load" or len(used[op.result]) != 1:
    return None
  ref = op.operands[0]
  inputs = kernel.body.params[kernel.mapping.num_prefetch :][: kernel.mapping.num_inputs]
  if ref not in inputs or len(used[ref]) != 1:
    return None
  position = inputs.index(ref)
  mapping, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
  if index_map is None or not _is_plain(mapping):
    return None
  safe = inside(mapping, index_map)
  kept = [d for d, dim in enumerate(mapping.block_shape) if isinstance(dim, Blocked)]
  if not all(ok for d, ok in enumerate(safe) if d == kept[contracted] or d not in kept):
    return None  # what lies outside along the contraction is not zero
  return Operand(position, op.result.tile.shape, contracted == 1)  # type: ignore[arg-type]


def _is_plain(m: BlockMapping) -> bool:
  """Whether a block is a matrix of rows in whole sixteen-byte pieces, as its array is."""
  kept = [d for d in m.block_shape if isinstance(d, Blocked)]
  if len(kept) != 2 or not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
    return False
  width = PIECE // np.dtype(m.array_aval.dtype).itemsize
  return m.block_shape[-1] is kept[-1] and kept[-1].block_size % width == 0 and m.array_aval.shape[-1] % width == 0


def _accumulator(kernel: NativeKernel, dot: Op, used: dict[Value, list[Op]]) -> Value | None:
  """The scratch ref to which the product is added, if it is only ever read and written as a whole."""
  adds = used.get(dot.results[0], [])
  if len(adds) != 1 or adds[0].name != "add":
    return None
  stores = used.get(adds[0].results[0], [])
  if len(stores) != 1 or stores[0].name != "store" or stores[0] not in kernel.body.body.ops:
    return None
  ref = stores[0].operands[0]
  scratch = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  if ref not in scratch or ref.ref.dtype != np.float32 or ref.ref.shape != dot.results[0].tile.shape:
    return None
  return ref if all(op.name in ("load", "store") for op in used[ref]) else None


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


def body_at(kernel: NativeKernel, step: int | None) -> Block:
  """The kernel's body at a step, or between the first and the last: without the branches that are not taken then."""
  body, tests, last = kernel.body.body, step_tests(kernel), int(kernel.mapping.grid[-1]) - 1
  ops: list[Op] = []
  for op in body.ops:
    when = _runs_at(op, tests)
    if when is None or (step is None and when not in (0, last)):
      ops.append(op)
    elif when == step:
      ops += op.blocks[1].ops[:-1]
  return Block(body.params, ops)


def _runs_at(op: Op, tests: dict[Value, int]) -> int | None:
  """The only step at which a branch does something, if there is one: `pl.when(program_id(last) == constant)`."""
  if op.name != "switch" or op.results or len(op.blocks) != 2 or len(op.blocks[0].ops) > 1:
    return None
  test = op.operands[0]
  while isinstance(test.owner, Op) and test.owner.name == "convert":
    test = test.owner.operands[0]
  return tests.get(test)
