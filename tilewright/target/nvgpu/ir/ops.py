"""The ops of the GPU level that the tile IR does not have: products, copies and stores that run concurrently with the code behind them.

copy_async %a_smem, %tile, %full, %slot        the tile, a load of global memory, comes to shared memory; arrives at full[slot]
await %full, %slot                             it is there
mma %acc, %dot                                 a product is started
mma_wait %acc {pending=0}                      it is done
store_async %out, %tile                        the tile, a load of shared memory, goes to global memory
copy_commit                                    the stores since the last one are a group
copy_wait {pending=1, read_only=true}          of the groups at most the newest goes on
warps %n {groups=[[0, 1], [2]]} () { … } () { … }      code for each role: the first block is that of warpgroups 0 and 1
"""

from __future__ import annotations

from tilewright.tile.control import switch_types
from tilewright.tile.ir import Op, Value
from tilewright.tile.ops import CONTROL, READ, SYNC, WRITE, define, expect, ref_of, tile_of
from tilewright.tile.types import SemaphoreArrayType, TileType, Type

MMA, MMA_WAIT = "mma", "mma_wait"
WARPS = "warps"
COPY_ASYNC, STORE_ASYNC, COPY_COMMIT, COPY_WAIT = "copy_async", "store_async", "copy_commit", "copy_wait"


def barrier_of(copy: Op) -> list[Value]:
  """The barrier at which a `copy_async` arrives, and its index."""
  return copy.operands[2:]


def _mma(op: Op) -> list[Type]:
  acc, product = ref_of(op), tile_of(op, 1)
  expect(acc.is_accumulator, f"operand 0 must be an accumulator, got {acc}")
  expect(acc.tile == product, f"cannot add {product} to {acc}")
  return []


def _mma_wait(op: Op) -> list[Type]:
  for i in range(len(op.operands)):
    expect(ref_of(op, i).is_accumulator, f"operand {i} must be an accumulator, got {op.operands[i].type}")
  return []


def _copy_async(op: Op) -> list[Type]:
  target, source = ref_of(op), tile_of(op, 1)
  expect(target.tile == source, f"cannot copy {source} to {target}")
  expect(len(op.operands) > 2, "takes a barrier")
  barrier, *index = barrier_of(op)
  kind = barrier.type
  expect(isinstance(kind, SemaphoreArrayType) and kind.arrivals > 0, f"operand 2 must be a barrier, got {kind}")
  expect(
    isinstance(kind, SemaphoreArrayType) and len(index) == len(kind.shape), f"one index for each dimension of {kind}"
  )
  return []


def _store_async(op: Op) -> list[Type]:
  """All of a view; or a window of it, which begins at the operands behind the tile."""
  target, source = ref_of(op), tile_of(op, 1)
  if len(op.operands) == 2:
    expect(target.tile == source, f"cannot store {source} to {target}")
    return []
  sizes, dropped = tuple(op.attrs["sizes"]), tuple(op.attrs["dropped"])
  expect(len(op.operands) == 2 + target.rank == 2 + len(sizes), "one start and size for each dimension")
  window = TileType(tuple(size for axis, size in enumerate(sizes) if axis not in dropped), target.dtype)
  expect(window == source, f"cannot store {source} to a window of {window}")
  return []


def _warps(op: Op) -> list[Type]:
  groups = op.attrs["groups"]
  expect(len(groups) == len(op.blocks), "takes the warpgroups of each block")
  every = [wg for own in groups for wg in own]
  expect(len(set(every)) == len(every), f"a warpgroup runs one block, got {groups}")
  return switch_types(op)


define(
  WARPS,
  _warps,
  CONTROL,
  doc="`warps(number)`: a `switch` by the number of the warpgroup alone; `groups` are the warpgroups that run each block",
  is_choice=True,
)
define(
  MMA,
  _mma,
  READ,
  WRITE,
  SYNC,
  doc="`mma(acc, dot)`: start to add a product, which nothing else uses, to an accumulator; `overwrites`: to zeros, whatever it holds",
)
define(
  MMA_WAIT,
  _mma_wait,
  READ,
  WRITE,
  SYNC,
  doc="`mma_wait(acc…)`: until at most the newest `pending` products of this warpgroup run; the accumulators are all that may be in flight",
)
define(
  COPY_ASYNC,
  _copy_async,
  READ,
  WRITE,
  SYNC,
  doc="`copy_async(ref, tile, barrier, index…)`: start to copy a tile, which is loaded, to a ref; arrives at the barrier when it is there; "
  "`along`: all CTAs of a cluster along these dimensions of the grid do so",
  reads=(),
  writes=(0,),
  fills=True,
)
define(
  STORE_ASYNC,
  _store_async,
  READ,
  WRITE,
  SYNC,
  doc="`store_async(ref, tile, start…)`: start to copy a tile, which is loaded, to a ref or a window of it; it belongs to the next group",
  reads=(),
  writes=(0,),
)
define(COPY_COMMIT, lambda op: [], SYNC, doc="the `store_async` of this warpgroup since the last one are a group")
define(
  COPY_WAIT,
  lambda op: [],
  SYNC,
  doc="until at most the newest `pending` groups run; `read_only`: until what they copy has been read",
)
