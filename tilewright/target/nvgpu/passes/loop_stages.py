"""Loops whose warpgroups' products read operands from stages: what is copied ahead, and in how many stages.

    for i in range(n):                                 stages  0  1  2      round 0 computes from stage 0, while 1 and 2 arrive
      k = k_ref[pl.ds(i * 64, 64), :]                          3  1  2      round 1 computes from stage 1, and issues round 3
      s = dot(q, k.T)

What a round reads depends on its number alone, and nothing in the kernel writes it. Where blocks of a sequential grid are staged, loops
are not, nor are those inside of a loop that is. `emit.dot.wgmma_operands` writes the code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.passes.layouts.inference import Inferred
from tilewright.target.nvgpu.passes.memory import Arena
from tilewright.target.nvgpu.passes.warpgroup_operands import (
  Source,
  fits,
  room_of_others,
  shared_layout_for_products,
)
from tilewright.tile.dead_code import VIEWS
from tilewright.tile.ir import Block, Op, Value, users
from tilewright.tile.ops import OPS

_MAX_STAGES = 3
# Stages take at most this part of shared memory, so that several CTAs fit; two stages may take more.
_SHARE = 3


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand of some products of a loop, which stages hold."""

  source: Source
  ops: tuple[Op, ...]  # of the body: what gives the view that is loaded

  @property
  def span(self) -> int:
    """Bytes after which the swizzle repeats."""
    return self.source.shared.swizzle.span


@dataclasses.dataclass(frozen=True)
class StagedLoop:
  """What is copied ahead for the rounds of a loop."""

  operands: tuple[Operand, ...]  # those whose swizzle repeats after most bytes come first
  stages: int = 0

  @property
  def align(self) -> int:
    return self.operands[0].span

  @property
  def stage_bytes(self) -> int:
    nbytes = sum(o.source.shared.nbytes for o in self.operands)
    return -(-nbytes // self.align) * self.align

  @property
  def nbytes(self) -> int:
    return self.stages * self.stage_bytes


@dataclasses.dataclass(frozen=True)
class _Search:
  """What loops are looked for in."""

  arch: Arch
  inferred: Inferred
  used: Mapping[Value, list[Op]]
  direct: Collection[Op]
  arena: Arena
  taken: int

  def loops(self, block: Block) -> dict[Op, StagedLoop]:
    """The loops of a block and of what is nested in it, whose stages find room one behind the other."""
    found = dict[Op, StagedLoop]()
    for op in block.ops:
      own = self._staged(op) if op.name == "for" else None
      if own is not None:
        self.arena.promise(own.nbytes + own.align)
        found[op] = own
      else:
        for inner in op.blocks:
          found |= self.loops(inner)
    return found

  def _staged(self, op: Op) -> StagedLoop | None:
    (body,) = op.blocks
    found = [self._operand(load, body) for load in body.ops if load in self.direct]
    operands = sorted((own for own in found if own is not None), key=lambda own: -own.span)
    if not operands:
      return None
    loop = StagedLoop(tuple(operands))
    stages = max(2, min(_MAX_STAGES, self.arch.shared_bytes // _SHARE // loop.stage_bytes))
    loop = dataclasses.replace(loop, stages=stages)
    loads = {own.source.load.result for own in operands}
    others = room_of_others(self.inferred, loads)
    if others is None:
      return None
    nbytes = self.taken + self.arena.promised + self.arena.room_for(loop.nbytes + loop.align + others)
    return loop if fits(self.arch, nbytes) else None

  def _operand(self, load: Op, body: Block) -> Operand | None:
    """An operand of the products of a loop's body, if it can be copied ahead."""
    if not self._is_for_dots(load.result, body):
      return None
    shared, ops = shared_layout_for_products(self.inferred, self.used, load.result), _of_round(load, body)
    return None if shared is None or ops is None else Operand(Source(load, shared), ops)

  def _is_for_dots(self, value: Value, body: Block) -> bool:
    """Whether products of the body are all that uses a value."""
    own = self.used.get(value, [])
    return bool(own) and all(
      user in body.ops and (user.name == "dot" or (user.name == "transpose" and self._is_for_dots(user.result, body)))
      for user in own
    )


def find(
  body: Block, arch: Arch, inferred: Inferred, direct: Collection[Op], arena: Arena, taken: int
) -> Mapping[Op, StagedLoop]:
  """The loops of a body for which operands are copied ahead, of loads that can be copied as they are (`direct`). The arena keeps room for
  their stages, beside so many bytes that others take."""
  return _Search(arch, inferred, users(body), direct, arena, taken).loops(body)


def _of_round(load: Op, body: Block) -> tuple[Op, ...] | None:
  """The ops of a loop's body that give the view that is loaded, if they depend on the number of the round alone."""
  needed: set[Op] = set()
  pending = [load.operands[0]]
  while pending:
    value = pending.pop()
    if value in body.params[1:]:
      return None
    owner = value.owner
    if not isinstance(owner, Op) or owner not in body.ops or owner in needed:
      continue
    if not (owner.name in VIEWS or (OPS[owner.name].is_pure and owner.result.tile.is_scalar)):
      return None
    needed.add(owner)
    pending += owner.operands
  return tuple(op for op in body.ops if op in needed)
