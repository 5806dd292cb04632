"""Cores of one mesh that run concurrently in native code.

The body of such a kernel is lowered once, for a one-dimensional grid of all cores whose instances are coroutines (`target.cpu.warpgroups`).
Scratch memory and semaphores that are private to each core are one array of the kernel, with a leading dimension of cores:

    VMEM((8, 128), f32) on 4 cores      ref<4x8x128xf32>, of which core i sees the i-th part
    a copy to core j                    a store to the j-th part

Memory that the subcores of one SparseCore share (VMEM_SHARED) has a part for each SparseCore.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.pallas.lowering.memory import memory_type
from tilewright.pallas.lowering.table import Context, Emitter
from tilewright.tile.grid import Kernel
from tilewright.tile.ir import Block, Value
from tilewright.tile.memory import SHARED_SPACES, TpuMemorySpace
from tilewright.tile.types import RefType, SemaphoreArrayType, dense_strides


@dataclasses.dataclass(eq=False)
class Cores:
  """The number of cores, the index of the current core, and the per-core memory: a map from a core's view of it to the array of all cores.
  A core sees the semaphores of all cores, and selects its own by the first index."""

  count: int
  own: Value
  wholes: dict[Value, Value] = dataclasses.field(default_factory=dict)
  sharers: dict[Value, int] = dataclasses.field(default_factory=dict)  # how many neighbours share a part, if several
  first: int = 0  # of the cores that run the present body

  def number(self, ctx: Context, core: Value) -> Value:
    """The index among all cores of a core of the current body's mesh. An index out of range fails the call."""
    zero, count = ctx.constant(0, np.int32), ctx.constant(self.count, np.int32)
    number = ctx.emit("add", core, ctx.constant(self.first, np.int32)) if self.first else core
    for holds in (ctx.emit("ge", number, zero), ctx.emit("lt", number, count)):
      ctx.check(
        holds, f"GridError: There is no core of the number used at {ctx.where}; the kernel runs on {self.count}."
      )
    return number

  def part(self, ctx: Context, ref: Value, core: Value) -> Value:
    """What another core sees where this one sees `ref`."""
    whole = self.wholes.get(ref)
    if whole is None:
      if isinstance(ref.owner, Block):
        return ref  # an operand, which all cores share
      raise errors.NativeCodeError(
        f"The copy at {ctx.builder.loc} writes to memory of another core whose address is not known. Copy to scratch memory of "
        "the kernel, or of "
        "the pl.run_scoped around the copy."
      )
    return _part(ctx, whole, _divided(ctx, self.number(ctx, core), self.sharers.get(ref, 1)))

  def see(self, ctx: Context, param: Value, sharers: int = 1) -> Value:
    """What this core sees of a parameter that holds the memory of all."""
    if isinstance(param.type, SemaphoreArrayType):
      seen = param
    else:
      seen = _part(ctx, param, _divided(ctx, self.own, sharers))
      self.sharers[seen] = sharers
    self.wholes[seen] = param
    return seen


def _divided(ctx: Context, core: Value, sharers: int) -> Value:
  return core if sharers == 1 else ctx.emit("div", core, ctx.constant(sharers, np.int32))


def _part(ctx: Context, whole: Value, core: Value) -> Value:
  shape = whole.ref.shape
  zeros = [ctx.constant(0, np.int32)] * (len(shape) - 1)
  return ctx.emit("subview", whole, core, *zeros, sizes=(1, *shape[1:]), steps=(1,) * len(shape), dropped=(0,))


def sharers(kernel: Kernel, aval: Any) -> int | None:
  """How many neighbouring cores share what a scratch type allocates; None for all of them."""
  space = getattr(aval, "memory_space", None)
  if space is not TpuMemorySpace.VMEM_SHARED:
    return None if space in SHARED_SPACES else 1
  of_cores = [m for m in kernel.mesh or () if getattr(m, "num_subcores", None)]
  if not any(m.num_cores > 1 for m in of_cores):
    return None
  if len(kernel.mesh or ()) > 1:
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}': memory that the subcores of each of several SparseCores share (VMEM_SHARED) cannot be compiled to "
      "native code yet for several meshes. Pass interpret=True."
    )
  return int(of_cores[0].num_subcores)


def of_all(ty: RefType | SemaphoreArrayType, count: int) -> RefType | SemaphoreArrayType:
  """The type of the array that holds one such memory for each of `count` cores."""
  shape = (count, *ty.shape)
  if isinstance(ty, SemaphoreArrayType):
    return dataclasses.replace(ty, shape=shape)
  return dataclasses.replace(ty, shape=shape, strides=dense_strides(shape))


def begin(emitter: Emitter, kernel: Kernel, scratch: Sequence[Value], avals: Sequence[Any]) -> list[Value]:
  """Where a body starts: what a core sees of the scratch memory, and where in its mesh it is."""
  grid = kernel.grid_mapping.grid
  ctx = Context(emitter, None)
  emitter.cores = Cores(math.prod(int(d or 1) for d in grid), ctx.emit("program_id", axis=0))
  position: list[tuple[Value, int]] = []
  left = emitter.cores.own
  for size in reversed(grid):
    divisor = ctx.constant(size, np.int32)
    position.insert(0, (ctx.emit("rem", left, divisor), int(size or 1)))
    left = ctx.emit("div", left, divisor)
  emitter.position = tuple(position)
  counts = [sharers(kernel, aval) for aval in avals]
  return [v if n is None else emitter.cores.see(ctx, v, n) for v, n in zip(scratch, counts, strict=True)]


def allocate(ctx: Context, avals: Sequence[Any]) -> list[Value]:
  """Scoped memory that other cores access: it is hoisted to the kernel, and semaphores are reset to zero at the end of the scope."""
  cores, body = ctx.builder.cores, ctx.builder.body
  assert cores is not None and body is not None
  params = [Value(of_all(memory_type(aval), cores.count), body) for aval in avals]
  body.params.extend(params)
  return [cores.see(ctx, v) for v in params]
