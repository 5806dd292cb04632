"""Effect analysis: each warpgroup's reads and writes of shared memory, as far as they are known before code is emitted.

Whether a warpgroup comes to an op, and which part of a buffer it reads or writes there, often depends on its number alone:

    if wg == 2:  store(buffer.at[slot], …)                     by 2, anywhere in the buffer
    else:        dot(load(buffer.at[slot, 64 * wg …]), …)      by 0 and 1, half of the rows each

What follows from that:

- The threads of a warpgroup need no barrier after their reads of memory that they never write: an arrival of each warp releases it to the
  writer (`reads_only`).
- Writes of threads are visible to tensor cores and TMA only after a proxy fence. It is emitted where a warpgroup signals its writes, and
  takes hundreds of cycles; so it is omitted where no other warpgroup has tensor cores or TMA read them (`tells_engines`), and before a
  product of memory that only TMA wrote (`is_written_by_threads`).
"""

from __future__ import annotations

from collections.abc import Iterator, Set

import numpy as np

from tilewright.target.nvgpu.ir.ops import WARPS
from tilewright.target.nvgpu.passes import unions
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.boxes import Box
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.folding import ON_NUMBERS, fold
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS, refs_read, refs_written
from tilewright.tile.types import TileType

_DEPTH = 24  # ops to look through; what depends on the number of a warpgroup is short


class Roles:
  """The accesses to shared memory in a kernel of several warpgroups, and the warpgroups that make them."""

  def __init__(self, kernel: NativeKernel):
    self._count, grid = kernel.warpgroups, kernel.mapping.grid
    self._axis = len(grid) - 1 - kernel.mapping.num_vmapped if self._count > 1 else None
    self._params = set(kernel.body.params)
    self._who: dict[Op, frozenset[int]] = {}
    self._numbers: dict[tuple[Value, int], np.ndarray | None] = {}
    self._visit(kernel.body.body, frozenset(range(self._count)))
    self._unions = unions.find(kernel.body.params)
    self._reads: dict[
      Value, list[tuple[Op, Value]]
    ] = {}  # by buffer or union: ops, and the views through which they read
    self._writes: dict[Value, list[tuple[Op, Value]]] = {}
    for op in walk(kernel.body.body):
      for found, ref in _accesses(op):
        (self._writes if found else self._reads).setdefault(self._home(base_of(ref)), []).append((op, ref))

  def _home(self, buffer: Value) -> Value:
    """A buffer, or the first one of its union."""
    return self._unions[buffer][0] if buffer in self._unions else buffer

  def comes_to(self, op: Op) -> frozenset[int]:
    """The warpgroups that may come to an op."""
    return self._who[op]

  def runs(self, op: Op) -> tuple[frozenset[int], ...]:
    """The warpgroups that may run each block of an op that chooses one."""
    who, last = self._who[op], len(op.blocks) - 1
    if op.name == WARPS:
      return tuple(who.intersection(groups) for groups in op.attrs["groups"])
    chosen = {wg: self._number(op.operands[0], wg) for wg in who}  # an index outside is clamped
    return tuple(
      frozenset(wg for wg, n in chosen.items() if n is None or min(max(n, 0), last) == number)
      for number in range(len(op.blocks))
    )

  def is_by_role(self, op: Op) -> bool:
    """Whether an op chooses a block by the number of the warpgroup alone."""
    return OPS[op.name].is_choice and all(self._number(op.operands[0], wg) is not None for wg in self._who[op])

  def reads_only(self, buffer: Value) -> bool:
    """Whether no warpgroup reads a part of a buffer, or of its union, that it also writes."""
    buffer = self._home(buffer)
    return not any(
      self._overlap(read, written, wg, wg)
      for written in self._writes.get(buffer, ())
      for read in self._reads.get(buffer, ())
      for wg in self._who[written[0]] & self._who[read[0]]
    )

  def is_filled_by_threads(self, buffer: Value, engine: Set[Op]) -> bool:
    """Whether anything but the copies that the copy `engine` makes writes to a buffer."""
    return any(written[0] not in engine for written in self._writes.get(self._home(buffer), ()))

  def is_written_by_threads(self, load: Op, engine: Set[Op]) -> bool:
    """Whether threads write to what is loaded: anyone, by anything but the copies that the copy `engine` makes."""
    read, buffer = (load, load.operands[0]), self._home(base_of(load.operands[0]))
    return any(
      self._overlap(read, written, reader, writer)
      for written in self._writes.get(buffer, ())
      if written[0] not in engine
      for writer in self._who[written[0]]
      for reader in self._who[load]
    )

  def tells_engines(self, arrival: Op, engine: Set[Op]) -> bool:
    """Whether threads that come to an arrival may have written what the tensor cores or TMA then access for others."""
    return any(self._is_told(arrival, buffer, engine) for buffer in self._writes if buffer in self._params)

  def _is_told(self, arrival: Op, buffer: Value, engine: Set[Op]) -> bool:
    copied = [own for own in self._writes[buffer] if own[0] in engine]
    return any(
      self._overlap(written, used, writer, user)
      for written in self._writes[buffer]
      if written[0] not in engine
      for writer in self._who[written[0]] & self._who[arrival]
      for used in (*self._reads.get(buffer, ()), *copied)
      for user in self._who[used[0]] - {writer}
    )

  # --- who ---------------------------------------------------------------------------------------------------------

  def _visit(self, block: Block, who: frozenset[int]) -> None:
    for op in block.ops:
      self._who[op] = who
      every = self.runs(op) if OPS[op.name].is_choice else (who,) * len(op.blocks)
      for inner, own in zip(op.blocks, every):
        self._visit(inner, own)

  def _number(self, v: Value, wg: int) -> int | None:
    found = self._known(v, wg, _DEPTH)
    return None if found is None else int(found)

  def _known(self, v: Value, wg: int, depth: int) -> np.ndarray | None:
    """What an integer or a condition is in a warpgroup, if that is all it depends on."""
    if (v, wg) not in self._numbers:
      self._numbers[v, wg] = self._computed(v, wg, depth)
    return self._numbers[v, wg]

  def _computed(self, v: Value, wg: int, depth: int) -> np.ndarray | None:
    op = v.owner
    if not isinstance(op, Op) or not isinstance(v.type, TileType) or not v.type.is_scalar or not depth:
      return None
    if op.name == "constant":
      return np.asarray(op.attrs["value"]).reshape(()).astype(v.tile.dtype)
    if op.name == "program_id":
      return np.asarray(wg, v.tile.dtype) if op.attrs["axis"] == self._axis else None
    if op.name not in ON_NUMBERS:
      return None
    args = [self._known(o, wg, depth - 1) for o in op.operands]
    if op.name in ("and", "or") and v.tile.dtype == np.bool_:
      decides = op.name == "or"
      if any(a is not None and bool(a) == decides for a in args):
        return np.asarray(decides)
    return None if any(a is None for a in args) else fold(op.name, [a for a in args if a is not None], op.attrs)

  # --- where -------------------------------------------------------------------------------------------------------

  def _overlap(self, one: tuple[Op, Value], other: tuple[Op, Value], wg: int, other_wg: int) -> bool:
    """Whether what one warpgroup accesses may be what another does. Buffers that are allocated inside each has for itself."""
    if wg != other_wg and base_of(one[1]) not in self._params:
      return False
    if base_of(one[1]) is not base_of(other[1]):  # of one union
      return True
    a, b = self._box(one[1], wg)[0], self._box(other[1], other_wg)[0]
    return all(start < high and low < stop for (start, stop), (low, high) in zip(a, b, strict=True))

  def _box(self, view: Value, wg: int) -> tuple[Box, list[int]]:
    """A part of a buffer that a view lies in, and along which dimension of the buffer each dimension of the view lies where it begins at
    the part's beginning; -1 where that is not known."""
    op = view.owner
    if not isinstance(op, Op) or op.name not in VIEWS:
      return tuple((0, size) for size in view.ref.shape), list(range(view.ref.rank))
    box, dims = self._box(op.operands[0], wg)
    if op.name in ("bitcast_ref", "cluster_ref"):
      return box, dims
    if op.name != "subview":
      return box, [-1] * view.ref.rank
    found, left = list(box), []
    for axis, (dim, v, size, step) in enumerate(
      zip(dims, op.operands[1:], op.attrs["sizes"], op.attrs["steps"], strict=True)
    ):
      start = self._number(v, wg) if dim >= 0 and step == 1 else None
      if start is None:
        dim = -1
      else:
        low = found[dim][0] + start
        found[dim] = (low, low + size)
      if axis not in op.attrs["dropped"]:
        left.append(dim)
    return tuple(found), left


def _accesses(op: Op) -> Iterator[tuple[bool, Value]]:
  """The views of shared memory through which an op reads and writes (True)."""
  if OPS[op.name].is_pure or op.blocks or op.name in VIEWS:
    return
  for is_write, refs in ((False, refs_read(op)), (True, refs_written(op))):
    for ref in refs:
      if is_in_shared(base_of(ref).ref):
        yield is_write, ref
