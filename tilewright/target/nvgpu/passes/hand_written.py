"""Kernels that say themselves who copies, waits and multiplies, brought to the GPU level (`nvgpu.ir`).

In the tile IR a product is finished where it stands; on a GPU it is started, runs beside other code, and is waited for:

    tile IR                                GPU level
    ───────                                ─────────
    %s = load %acc                         %p = dot %a, %b
    %p = dot %a, %b                        mma %acc, %p                 started: the accumulator is in flight
    %t = add %s, %p                        …
    store %acc, %t                         mma_wait %acc {pending=0}    done
    %v = load %acc                         %v = load %acc

The passes, in order: `operand_swizzles` (how operands lie in shared memory), `async_products` (products become `mma`, and waits go before
whatever needs their results), `copy_waits` (a pipeline's waits stand where what they are for is first looked at). Then `ir.verify`.
"""

from __future__ import annotations

from tilewright.target.nvgpu.arch import WGMMA, Arch
from tilewright.target.nvgpu.ir import verify
from tilewright.target.nvgpu.passes import async_products, copy_waits, operand_swizzles
from tilewright.tile.ir import Block, walk
from tilewright.tile.native import NativeKernel

_BARRIERS = ("arrive", "await")


def is_by_hand(kernel: NativeKernel, arch: Arch) -> bool:
  """Whether a kernel says itself who copies and waits: one of several warpgroups, or of one that waits for its copies at barriers, where
  the hardware has copies to wait for. (A block of one warpgroup that prints has its copies done where they stand.)"""
  if kernel.warpgroups > 1:
    return True
  names = {op.name for op in walk(kernel.body.body)}
  return arch.has_tma and bool(names.intersection(_BARRIERS)) and "print" not in names


def without_barriers(block: Block) -> None:
  """Take barriers out of a body of one warpgroup, whose copies are done where they stand. In place."""
  for inner in [block, *(own for op in walk(block) for own in op.blocks)]:
    inner.ops = [op for op in inner.ops if op.name not in _BARRIERS]


def lower(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  """A kernel of several warpgroups at the GPU level. Its body is changed in place."""
  if WGMMA in arch.rates:
    kernel = operand_swizzles.choose(kernel)
    async_products.start(kernel.body, arch)
  copy_waits.wait_late(kernel.body.body)
  verify.verify(kernel)
  return kernel
