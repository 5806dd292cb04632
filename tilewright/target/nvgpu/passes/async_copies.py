"""Asynchronous copies: explicit copies of the user.

`plgpu.copy_gmem_to_smem(src, dst, barrier)` is a load, a store and an arrival in the tile IR, where it is synchronous; and
`plgpu.copy_smem_to_gmem(src, dst)` a load, a store, and a mark behind it. Each becomes one op:

    %t = load %src                               %t = load %src
    store %dst, %t                               copy_async %dst, %t, %full, %slot
    arrive %full, %slot {of_copy=true}

    %t = load %smem                              %t = load %smem
    store %out, %t                               store_async %out, %t
    commit_copies {group=true}                   copy_commit
    await_copies {pending=1, read_only=true}     copy_wait {pending=1, read_only=true}

Only index arithmetic and views may stand between a store and its mark. A copy that cannot be in flight (to a window of shared memory that
may extend past its edges) stays a store and an arrival.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, COPY_COMMIT, COPY_WAIT, STORE_ASYNC
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, walk
from tilewright.tile.ops import OPS


def start(body: Block) -> None:
  """Turn stores and marks into copies that are started. In place."""
  for block in [body, *(inner for op in walk(body) for inner in op.blocks)]:
    block.ops = list(_started(block))


def _started(block: Block) -> Iterator[Op]:
  pairs = dict(_pairs(block))
  stores = set(pairs.values())
  for op in block.ops:
    if op in stores:
      continue
    store = pairs.get(op)
    if op.name == "arrive":
      if store is None:  # an arrival that is left is that of the threads, at the barrier of their own CTA
        yield _own(op)
      else:
        along = {"along": op.attrs["along"]} if "along" in op.attrs else {}
        yield Op(COPY_ASYNC, [*store.operands, *op.operands], along, [], [], store.loc)
    elif op.name == "commit_copies":
      if store is not None:
        yield Op(STORE_ASYNC, store.operands, store.attrs, [], [], store.loc)
      if op.attrs["group"]:
        yield Op(COPY_COMMIT, [], {}, [], [], op.loc)
    elif op.name == "await_copies":
      yield Op(COPY_WAIT, [], op.attrs, [], [], op.loc)
    else:
      yield op


def _own(arrival: Op) -> Op:
  if arrival.attrs["of_copy"]:  # each CTA has copied for itself
    arrival.attrs = {"of_copy": False}
  return arrival


def _pairs(block: Block) -> Iterator[tuple[Op, Op]]:
  """The marks of a block, each with the store that it belongs to."""
  store: Op | None = None
  for op in block.ops:
    if store is not None and op.name == "arrive" and op.attrs["of_copy"]:
      if store.name == "store" and is_in_shared(base_of(store.operands[0]).ref):
        yield op, store
    elif store is not None and op.name == "commit_copies":
      yield op, store
    if op.name in ("store", "window_store"):
      store = op
    elif not OPS[op.name].is_pure and op.name not in VIEWS:
      store = None
