"""A verifier for kernels of several warpgroups: accesses that are certainly too early. Each finding names the two lines that race.

- A warpgroup arrives at a barrier behind which others copy into a buffer, while a product of its own still reads that part of it:

      plgpu.wgmma(acc, a_smem.at[slot], …)
      plgpu.barrier_arrive(consumed.at[slot])        wgmma_wait(0) must come first

- A warpgroup reads a buffer into which copies arrive at a barrier, and waits at no barrier before it.

These two look at ops, so they hold for kernels whose loops depend on data. Only what is wrong in every run is reported: the same slot by
the same value, in the same round of a loop. That a barrier guards a buffer is seen from the copies: those that follow a wait fill what the
wait was for. Everything else is found by `protocol`, which simulates the warpgroups' synchronisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright import errors
from tilewright.target.nvgpu.ir import in_flight, protocol
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC
from tilewright.target.nvgpu.passes.copy_waits import guarded
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.native import NativeKernel


def verify(kernel: NativeKernel) -> None:
  """Raise an error for the first thing that is done too early."""
  body = kernel.body.body
  copies = [op for op in walk(body) if op.name == COPY_ASYNC]
  _released_too_early(kernel.name, body, guarded(body))
  if not any(op.name == "meet" for op in body.ops[1:]):  # behind which everything may be there
    _read_too_early(kernel, copies)
  protocol.check(kernel)


# --- releases ----------------------------------------------------------------------------------------------------


def _released_too_early(name: str, body: Block, guarded: Mapping[Value, set[Value]]) -> None:
  def visit(block: Block, number: int, state: in_flight.State) -> None:
    arrival = block.ops[number]
    if arrival.name != "arrive":
      return
    barrier, *index = arrival.operands
    started = [op for op in block.ops[:number] if op in state]  # in the same round
    for product in started:
      for view in in_flight.operands(product):
        if base_of(view) in guarded.get(base_of(barrier), ()) and index and _slot(view) == index:
          raise errors.RaceError(
            f"The kernel '{name}': the wgmma at {product.loc or '?'} may still read its operand where the barrier_arrive at "
            f"{arrival.loc or '?'} lets others overwrite it. Call plgpu.wgmma_wait first, or arrive later (delay_release)."
          )

  in_flight.follow(body, visit)


def _slot(view: Value) -> Sequence[Value]:
  """The position of a view along the leading dimensions that it drops: the slot of a ring."""
  op = view.owner
  while isinstance(op, Op) and op.name in VIEWS:
    if op.name == "subview" and op.attrs["dropped"]:
      return [op.operands[1 + axis] for axis in op.attrs["dropped"]]
    op = op.operands[0].owner
  return []


# --- reads -------------------------------------------------------------------------------------------------------


def _read_too_early(kernel: NativeKernel, copies: Sequence[Op]) -> None:
  filled = {base_of(copy.operands[0]): copy for copy in copies}
  roles = Roles(kernel)

  def visit(block: Block, wg: int, has_waited: bool) -> bool:
    """The ops that a warpgroup comes to, in order; of a loop the first round, as later ones have waited where this one does."""
    for op in block.ops:
      if wg not in roles.comes_to(op):
        continue
      has_waited |= op.name in ("await", "read_semaphore") or any([visit(inner, wg, has_waited) for inner in op.blocks])
      copy = filled.get(base_of(op.operands[0])) if op.name == "load" else None
      if copy is not None and not has_waited and op.result is not copy.operands[1]:
        raise errors.RaceError(
          f"The kernel '{kernel.name}': what the copy_gmem_to_smem at {copy.loc or '?'} brings is read at {op.loc or '?'} without a "
          "barrier_wait before it. Wait at the copy's barrier first."
        )
    return has_waited

  for wg in range(kernel.warpgroups):
    visit(kernel.body.body, wg, False)
