"""How a body accesses its blocks: what that allows to do with them.

only loaded       an input that can be brought elsewhere ahead of time
without edges     a block at an edge of its array needs a copy, if the body reshapes it, indexes it with arrays, or reads back what it wrote
kept              such a copy outlives the step, as a block of VMEM does
only read, or only copied to      arrays that TMA may access beside the threads
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.target.llvm.arithmetic import ELEMENTWISE
from tilewright.target.llvm.operand_indices import MOVES, SOURCES
from tilewright.target.nvgpu.ir.ops import STORE_ASYNC
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import surely_written

_COMPLEX = frozenset({"real", "imag", "complex", "conj"})
# Ops whose elements are computed one by one where they are needed, besides loads; all others are carried out in order.
BY_ELEMENT = frozenset({*ELEMENTWISE, *_COMPLEX, *MOVES, *SOURCES, "recast"}) - {"gather", "gather_load"}
_LOADS = frozenset({"load", "window_load", "gather_load"})
_LOSES_EDGES = frozenset({"reshape_ref", "gather_load", "scatter_store"})


def is_only_loaded(kernel: NativeKernel, ref: Value) -> bool:
  """Whether a body loads from a ref, perhaps through views, and does nothing else with it."""
  used = users(kernel.body.body)

  def loads_only(v: Value) -> bool:
    return all(
      op.name == "load" or (op.name in VIEWS and op.name != "bitcast_ref" and loads_only(op.result))
      for op in used.get(v, [])
    )

  return ref in used and loads_only(ref)


def only_read(kernel: NativeKernel) -> Iterator[int]:
  """The numbers of the arrays that the kernel reads and that are not written while it runs."""
  aliased = {into for into, _ in kernel.input_output_aliases}
  return (number for number, others in _uses(kernel) if number not in aliased and not others)


def only_copied(kernel: NativeKernel) -> Iterator[int]:
  """The numbers of the arrays that the kernel writes only by copies from shared memory."""
  return (number for number, others in _uses(kernel) if all(op.name == STORE_ASYNC for op in others))


def _uses(kernel: NativeKernel) -> Iterator[tuple[int, list[Op]]]:
  """The arrays by number, and the ops that do something else than read them."""
  mapping, used = kernel.mapping, users(kernel.body.body)
  for number in range(mapping.num_prefetch, mapping.num_prefetch + len(mapping.block_mappings)):
    seen = [kernel.body.params[number]]
    for ref in seen:
      seen += [r for op in used.get(ref, ()) if op.name in VIEWS for r in op.results]
    yield number, [op for ref in seen for op in used.get(ref, ()) if op.name not in (*VIEWS, *_LOADS)]


def accessed_without_edges(body: Block) -> set[Value]:
  """The refs that a body accesses, directly or through a view, in a way that edges cannot follow."""
  changed, used = written(body), users(body)
  found: set[Value] = set()
  for op in walk(body):
    if op.name in _LOSES_EDGES:
      found.add(base_of(op.operands[0]))
    elif op.name in (*_LOADS, "copy") and (ref := base_of(op.operands[0])) in changed and not _only_updates(op, used):
      found.add(ref)
  return found


def written(body: Block) -> set[Value]:
  """The refs that a body writes to, directly or through a view."""
  return {base_of(ref) for op in walk(body) for ref in surely_written(op)}


def _only_updates(load: Op, used: Mapping[Value, Sequence[Op]]) -> bool:
  """Whether each loaded element decides only what is stored in its own place, as in `o_ref[...] += x`."""
  if load.name == "copy":
    return False
  waiting = list(load.results)
  seen = set(waiting)
  while waiting:
    v = waiting.pop()
    for user in used.get(v, ()):
      if user.name == "store" and user.operands[0] is load.operands[0]:
        continue
      if user.name not in ELEMENTWISE:
        return False
      waiting += [r for r in user.results if r not in seen]
      seen.update(user.results)
  return True


def kept_between_steps(kernel: NativeKernel, parallel: Sequence[int]) -> set[int]:
  """The positions of the blocks that are copied, written, and may hold something beyond the array for the steps that follow."""
  mapping, body = kernel.mapping, kernel.body.body
  if len(parallel) == len(mapping.grid) or kernel.warpgroups > 1:
    return set()
  without_edges, changed = accessed_without_edges(body), written(body)
  refs = kernel.body.params[mapping.num_prefetch :]
  return {
    position
    for position, (m, ref) in enumerate(zip(mapping.block_mappings, refs))
    if m.keeps_overhang and ref in changed and (ref in without_edges or given_layout(ref.ref) is not None)
  }
