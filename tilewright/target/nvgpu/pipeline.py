"""Contractions along a sequential grid dimension, with copies and products at the same time (sm_90a).

A kernel whose body adds `dot(a_ref[...], b_ref[...])` to an accumulator, while the last dimension of the grid moves both blocks along the
contraction, is run by two kinds of warpgroups. One asks the copy engine for the blocks of the next steps, a few stages ahead; the others
wait for a stage, multiply it with `wgmma`, and give it back. They also run everything else in the body, with the accumulator in their
registers from the first step to the last.

    stage s:  full[s]   counts the bytes that arrive     (the producer expects them)
              empty[s]  counts the warpgroups that are done with it
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import mbarrier, tma, wgmma
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.tma import TensorMap
from tilewright.target.nvgpu.wgmma import GROUP, ROWS, WgmmaDistribution
from tilewright.tile.grid import Blocked, BlockMapping
from tilewright.tile.ir import Op, Value, walk
from tilewright.tile.native import NativeKernel

_KINDS = {np.dtype(jnp.bfloat16): "bf16", np.dtype(np.float16): "f16"}
_MOST_STAGES = 6
_RESERVED = 2048  # bytes of shared memory for barriers and alignment


@dataclasses.dataclass(frozen=True)
class Pipeline:
  """How a kernel's contraction is carried out."""

  dot: Op
  accumulator: Value  # the ref the products are added to
  maps: tuple[TensorMap, TensorMap]  # left, right
  block: tuple[int, int, int]  # m, n, k
  right_is_transposed: bool  # k runs down the rows of the right operand
  kind: str
  stages: int
  num_steps: int

  @property
  def groups(self) -> int:
    return self.block[0] // ROWS

  @property
  def left_bytes(self) -> int:
    return self.block[0] * self.block[2] * 2

  @property
  def stage_bytes(self) -> int:
    return self.left_bytes + self.block[1] * self.block[2] * 2

  @property
  def shared_bytes(self) -> int:
    """Stages, then a pair of barriers for each."""
    return self.stages * (self.stage_bytes + 16)


def find(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], inside: Any) -> Pipeline | None:
  """The pipeline of a kernel, if its body has the form for it. `inside(mapping, index_map)` says where blocks never hang over."""
  grid = kernel.mapping.grid
  last = len(grid) - 1
  if not arch.has_wgmma or last < 0 or last in parallel or len(parallel) != last or None in grid:
    return None
  dots = [op for op in walk(kernel.body.body) if op.name == "dot"]
  if len(dots) != 1 or dots[0] not in kernel.body.body.ops:
    return None
  (dot,) = dots
  users = _users(kernel)
  sides = [_whole_input(kernel, v, users) for v in dot.operands]
  accumulator = _accumulator(kernel, dot, users)
  kind = _KINDS.get(dot.operands[0].tile.dtype)
  if None in sides or accumulator is None or kind is None or dot.operands[1].tile.dtype != dot.operands[0].tile.dtype:
    return None
  (lc, rc), (lb, _) = dot.attrs["contract"], dot.attrs["batch"]
  if lb or tuple(lc) != (1,) or len(rc) != 1 or dot.operands[1].tile.rank != 2:
    return None
  down = rc[0] == 0
  (m, k), n = dot.operands[0].tile.shape, dot.operands[1].tile.shape[1 - rc[0]]
  if m not in (64, 128) or n % (64 if down else 8) or n > 256 or k % 64:
    return None
  mappings = []
  for position in sides:
    assert position is not None
    mapping, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
    if index_map is None or not _is_plain(mapping) or not all(inside(mapping, index_map)):
      return None
    mappings.append((position, mapping))
  maps = tuple(
    TensorMap(
      kernel.mapping.num_prefetch + position,
      kind,
      tuple(mapping.array_aval.shape),
      box_rows=rows,
    )
    for (position, mapping), rows in zip(mappings, (m, k if down else n))
  )
  if any(shape[1] * 2 % 16 for shape in (t.shape for t in maps)):
    return None  # rows of a tensor map are a multiple of sixteen bytes apart
  stage = (m + n) * k * 2
  stages = min(_MOST_STAGES, (arch.shared_bytes - _RESERVED) // (stage + 16))
  if stages < 2:
    return None
  return Pipeline(dot, accumulator, maps, (m, n, k), down, kind, stages, int(grid[last]))  # type: ignore[arg-type]


def _users(kernel: NativeKernel) -> dict[Value, list[Op]]:
  found: dict[Value, list[Op]] = {}
  for op in walk(kernel.body.body):
    for operand in op.operands:
      found.setdefault(operand, []).append(op)
  return found


def _whole_input(kernel: NativeKernel, v: Value, users: dict[Value, list[Op]]) -> int | None:
  """The number of the input of which a value is the whole block, if nothing else uses either."""
  op = v.owner
  if not isinstance(op, Op) or op.name != "load" or len(users[v]) != 1:
    return None
  ref = op.operands[0]
  inputs = kernel.body.params[kernel.mapping.num_prefetch :][: kernel.mapping.num_inputs]
  if ref not in inputs or len(users[ref]) != 1:
    return None
  return inputs.index(ref)


def _accumulator(kernel: NativeKernel, dot: Op, users: dict[Value, list[Op]]) -> Value | None:
  """The scratch ref to which the product is added, if it is only ever read and written as a whole."""
  adds = users.get(dot.results[0], [])
  if len(adds) != 1 or adds[0].name != "add":
    return None
  stores = users.get(adds[0].results[0], [])
  if len(stores) != 1 or stores[0].name != "store" or stores[0] not in kernel.body.body.ops:
    return None
  ref = stores[0].operands[0]
  scratch = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  if ref not in scratch or ref.ref.dtype != np.float32 or ref.ref.shape != dot.results[0].tile.shape:
    return None
  return ref if all(op.name in ("load", "store") for op in users[ref]) else None


def _is_plain(m: BlockMapping) -> bool:
  return len(m.block_shape) == 2 and all(isinstance(d, Blocked) for d in m.block_shape)


# --- emitting ----------------------------------------------------------------------------------------------------


class Stages:
  """The stages in shared memory, and the barriers of each. Addresses are i32."""

  def __init__(self, b: ir.IRBuilder, plan: Pipeline, shared: ir.Value):
    self.b, self.plan = b, plan
    self.start = b.and_(b.add(b.ptrtoint(shared, I32), I32(1023)), I32(-1024))  # a swizzle repeats every 1024 bytes
    self.barriers = b.add(self.start, I32(plan.stages * plan.stage_bytes))

  def full(self, stage: ir.Value | int) -> ir.Value:
    number = I32(stage) if isinstance(stage, int) else stage
    return self.b.add(self.barriers, self.b.mul(number, I32(8)))

  def empty(self, stage: ir.Value | int) -> ir.Value:
    return self.b.add(self.full(stage), I32(8 * self.plan.stages))

  def left(self, stage: ir.Value) -> ir.Value:
    return self.b.add(self.start, self.b.mul(stage, I32(self.plan.stage_bytes)))

  def right(self, stage: ir.Value) -> ir.Value:
    return self.b.add(self.left(stage), I32(self.plan.left_bytes))

  def init(self, is_first: ir.Value) -> None:
    with if_then(self.b, is_first):
      for s in range(self.plan.stages):
        mbarrier.init(self.b, self.full(s), 1)
        mbarrier.init(self.b, self.empty(s), self.plan.groups)
      mbarrier.fence_init(self.b)


def produce(b: ir.IRBuilder, stages: Stages, maps: list[ir.Value], step: ir.Value, starts: list[list[Any]]) -> None:
  """Ask for the blocks of a step: `starts` are the first row and column of each."""
  plan = stages.plan
  stage, parity = mbarrier.phase(b, step, plan.stages)
  mbarrier.wait(b, stages.empty(stage), b.xor(parity, I32(1)))
  mbarrier.expect(b, stages.full(stage), plan.stage_bytes)
  widths = (plan.block[2], plan.block[1] if plan.right_is_transposed else plan.block[2])
  for tensor_map, pointer, width, place, (row, column) in zip(
    plan.maps, maps, widths, (stages.left(stage), stages.right(stage)), starts
  ):
    row, column = (b.trunc(i64(v), I32) for v in (row, column))
    for part in range(width // tensor_map.box_columns):
      to = b.add(place, I32(part * tensor_map.box_bytes))
      along = b.add(column, I32(part * tensor_map.box_columns))
      tma.copy(b, pointer, to, along, row, stages.full(stage))


def consume(code: Any, stages: Stages, step: ir.Value, sums: Any) -> None:
  """Wait for a step's blocks and add their product to the sums, which lie in registers."""
  b, plan = code.b, stages.plan
  stage, parity = mbarrier.phase(b, step, plan.stages)
  mbarrier.wait(b, stages.full(stage), parity)
  group = b.udiv(code.thread, I32(GROUP))
  left = b.add(stages.left(stage), b.mul(group, I32(ROWS * tma.SWIZZLE_BYTES)))
  right = stages.right(stage)
  m, n, k = plan.block
  pair = ir.VectorType(ty.F32, 2)
  pairs = [b.load(slot, typ=pair) for slot in sums.slots]
  values = [b.extract_element(p, I32(i)) for p in pairs for i in range(2)]
  wgmma.fence(b)
  for at in range(0, k, wgmma.DEPTH):
    box, inner = divmod(at, 64)
    a = b.add(left, I32(box * m * tma.SWIZZLE_BYTES + inner * 2))
    if plan.right_is_transposed:
      c, leading = b.add(right, I32(at * tma.SWIZZLE_BYTES)), k * tma.SWIZZLE_BYTES
    else:
      c, leading = b.add(right, I32(box * n * tma.SWIZZLE_BYTES + inner * 2)), 16
    values = wgmma.multiply(
      b, plan.kind, n, values, wgmma.descriptor(b, a, 16), wgmma.descriptor(b, c, leading), plan.right_is_transposed
    )
  wgmma.commit(b)
  values = wgmma.wait(b, values)
  for i, slot in enumerate(sums.slots):
    both = b.insert_element(ir.Constant(pair, ir.Undefined), values[2 * i], I32(0))
    b.store(b.insert_element(both, values[2 * i + 1], I32(1)), slot)
  with if_then(b, b.icmp_unsigned("==", b.urem(code.thread, I32(GROUP)), I32(0))):
    mbarrier.arrive(b, stages.empty(stage))


def distribution(plan: Pipeline) -> WgmmaDistribution:
  return WgmmaDistribution(plan.block[:2], plan.groups)
