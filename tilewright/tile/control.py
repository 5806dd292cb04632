"""Ops that are not about elements: position in the grid, control flow, semaphores, prints and checks.

An op with blocks carries values through them. The sum of the numbers from %0 up to %1, beginning with %2:

    %3 = for %0, %1, %2 : s32 (%4: s32, %5: s32) {
      %6 = add %5, %4 : s32
      yield %6
    }

A block takes its parameters, may use everything defined around it, and ends with `yield`.
"""

from __future__ import annotations

import numpy as np

from tilewright.tile.ir import Op
from tilewright.tile.ops import ALLOC, CONTROL, SYNC, WORLD, define, expect
from tilewright.tile.types import INDEX, SemaphoreArrayType, TileType, Type

define("program_id", lambda op: [INDEX], doc="the index along a grid dimension")
define("num_programs", lambda op: [INDEX], doc="the size of a grid dimension")
define("yield", lambda op: [], CONTROL, doc="what a block gives to the op around it")


def _for(op: Op) -> list[Type]:
  """`for(lower, upper, *carried)`: the block takes the index and the carried values, and yields the next ones."""
  (body,) = op.blocks
  carried = [v.type for v in op.operands[2:]]
  expect([p.type for p in body.params[1:]] == carried, "the block must take the carried values")
  expect([v.type for v in body.yielded] == carried, "the block must yield the carried values")
  return carried


define("for", _for, CONTROL, doc="a counted loop")


def _while(op: Op) -> list[Type]:
  """Blocks: the condition, which yields a bool, and the body, which yields the next carried values."""
  condition, body = op.blocks
  carried = [v.type for v in op.operands]
  expect([v.type for v in condition.yielded] == [TileType((), np.dtype(np.bool_))], "the condition must yield a bool")
  expect([v.type for v in body.yielded] == carried, "the body must yield the carried values")
  return carried


define("while", _while, CONTROL, doc="a loop while a condition holds")


def switch_types(op: Op) -> list[Type]:
  """`switch(index)`: one block per case; an out-of-range index is clamped."""
  types = [[v.type for v in block.yielded] for block in op.blocks]
  expect(all(t == types[0] for t in types), "the cases yield different types")
  return types[0]


define("switch", switch_types, CONTROL, doc="one of several blocks", is_choice=True)

define(
  "alloc_semaphores",
  lambda op: [
    SemaphoreArrayType(tuple(op.attrs["shape"]), op.attrs["kind"], op.attrs.get("arrivals", 0), op.attrs.get("ctas", 1))
  ],
  ALLOC,
  doc="counters, at zero; with `arrivals`, barriers",
)
define("signal", lambda op: [], SYNC, doc="`signal(semaphore, increment, index…)`")
define(
  "wait",
  lambda op: [],
  SYNC,
  doc="`wait(semaphore, value, index…)`, taking the value off if `decrement`; fails with `message` if that can never happen",
)
define(
  "remote",
  lambda op: [op.operands[0].type],
  SYNC,
  doc="`remote(ref, device)`: the memory or the semaphores that this is on another device of the mesh; `where` is the user's line",
)
define(
  "cluster_ref",
  lambda op: [op.operands[0].type],
  doc="`cluster_ref(ref, rank)`: the memory or the barriers that this is in another CTA of the cluster; `where` is the user's line",
)
define(
  "lock_device", lambda op: [], SYNC, doc="`lock_device(device)`: alone among those who add to memory of that device"
)
define("unlock_device", lambda op: [], SYNC, doc="the end of what `lock_device` begins")
define("read_semaphore", lambda op: [INDEX], SYNC, doc="`read_semaphore(semaphore, index…)`")
define(
  "arrive",
  lambda op: [],
  SYNC,
  doc="`arrive(barrier, index…)`: what comes before it is done; `of_copy`, when the store just before it is, which may take a while; "
  "`along`: in all CTAs of a cluster along these dimensions of the grid, which with `of_copy` all make the same copy",
)
define(
  "await",
  lambda op: [],
  SYNC,
  doc="`await(barrier, index…)`: the phase after the last one that this warpgroup waited for; `message` says where, if that never ends",
)
define(
  "meet",
  lambda op: [],
  SYNC,
  doc="`meet(barrier…)`: wait until all warpgroups of the block are here; the barriers begin anew",
)
define(
  "commit_copies",
  lambda op: [],
  SYNC,
  doc="the store just before it is a copy, which may take a while; `group`: the copies of this warpgroup since the last one are a group",
)
define(
  "await_copies",
  lambda op: [],
  SYNC,
  doc="until at most `pending` groups of copies of this warpgroup are under way; `read_only`: what the others copy has been read",
)
define(
  "await_products",
  lambda op: [],
  SYNC,
  doc="of the products of this warpgroup, up to `pending` may be under way here, if they are added to what nothing else reads",
)
define(
  "set_registers",
  lambda op: [],
  SYNC,
  doc="the threads of this warpgroup have `count` registers from here on, which is more or less than before (`increase`)",
)
define("barrier", lambda op: [], SYNC, doc="wait until every thread of the instance is here")
NO_LAYOUT = "no layout: this target holds tiles as arrays, row by row"
define("print", lambda op: [], WORLD, doc="the operands in a Python format, and a new line")
define("print_layout", lambda op: [], WORLD, doc="say in a Python format, when code is made, how a target holds a tile")
define(
  "check",
  lambda op: [],
  WORLD,
  doc="`check(condition, number)`: fail with a `message` unless it holds, for the number's element of a `shape` if that is given",
)
define("delay", lambda op: [], WORLD, doc="sleep for some nanoseconds")
