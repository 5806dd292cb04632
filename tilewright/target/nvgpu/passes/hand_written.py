"""Lowering of kernels with explicit copies, waits and products to the GPU level (`nvgpu.ir`).

In the tile IR a product is synchronous; on a GPU it is started, runs concurrently with other code, and is waited for:

    tile IR                                GPU level
    ───────                                ─────────
    %s = load %acc                         %p = dot %a, %b
    %p = dot %a, %b                        mma %acc, %p                 started: the accumulator is in flight
    %t = add %s, %p                        …
    store %acc, %t                         mma_wait %acc {pending=0}    done
    %v = load %acc                         %v = load %acc

The passes, in order: `async_copies` (copies become `copy_async` and `store_async`), `operand_swizzles` (layouts of operands in shared
memory; floats of eight bits are operands as they are), `async_products` (products become `mma`, and waits are inserted before the uses of
their results), `copy_waits` (a pipeline's waits are sunk to the first use of the copied memory), `warpgroup_roles` (a choice by the number
of the warpgroup becomes `warps`). They are part of `lowering`, which looks for races afterwards (`ir.verify`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tilewright.target.nvgpu.arch import WGMMA, Arch
from tilewright.target.nvgpu.passes import async_copies, async_products, copy_waits, operand_swizzles, warpgroup_roles
from tilewright.tile.ir import Block, walk
from tilewright.tile.native import NativeKernel

_BARRIERS = ("arrive", "await")


def is_by_hand(kernel: NativeKernel, arch: Arch) -> bool:
  """Whether a kernel says itself who copies and waits: one of several warpgroups, one whose CTAs wait for each other, or one of a
  warpgroup that waits for its copies at barriers, where the hardware has copies to wait for. (A block of one warpgroup that prints has its
  copies carried out in program order.)"""
  if kernel.warpgroups > 1 or kernel.cluster or kernel.grid_semaphores:
    return True
  names = {op.name for op in walk(kernel.body.body)}
  return arch.has_tma and bool(names.intersection(_BARRIERS)) and "print" not in names


def without_barriers(block: Block) -> None:
  """Remove the barriers from a body of one warpgroup, whose copies are synchronous. In place."""
  for inner in [block, *(own for op in walk(block) for own in op.blocks)]:
    inner.ops = [op for op in inner.ops if op.name not in _BARRIERS]


def _start_copies(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  async_copies.start(kernel.body.body)
  return kernel


def _choose_swizzles(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  if WGMMA not in arch.rates:
    return kernel
  async_products.multiply_bytes(kernel.body, arch)
  return operand_swizzles.choose(kernel)


def _start_products(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  if WGMMA in arch.rates:
    async_products.start(kernel.body, arch)
  return kernel


def _wait_late(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  copy_waits.wait_late(kernel.body.body)
  return kernel


def _name_roles(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  warpgroup_roles.name(kernel)
  return kernel


Pass: TypeAlias = Callable[[NativeKernel, Arch], NativeKernel]  # may change the body in place
PASSES: dict[str, Pass] = {
  "async_copies": _start_copies,
  "operand_swizzles": _choose_swizzles,
  "async_products": _start_products,
  "copy_waits": _wait_late,
  "warpgroup_roles": _name_roles,
}
