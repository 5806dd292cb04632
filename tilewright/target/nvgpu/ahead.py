"""What a loop loads from global memory, on its way several rounds before it is computed with.

Threads that all wait for memory and then all compute leave each idle half of the time. So a round's code is emitted more than once: for
its addresses alone, some rounds early, and for what is made of the loads. What else the first emission computes is not used, and LLVM
removes it.

Loads that lie side by side are joined to pieces. Pieces of four bytes and more are copied (`cp.async`) to a place in shared memory that
belongs to the thread, so that no one waits for anyone else; smaller ones stay in registers, from one round to the next.

    ahead = Ahead(code, stages=4)
    ahead.start(emit, [first rounds])
    in the loop:
      loads = ahead.take(stage)
      ahead.fetch(emit, ...)
      with loads.in_place(): emit(current)       the first load that is asked for is the first of the round, and so on
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import F32, I8, I16, I32, I64
from tilewright.target.nvgpu import cp_async
from tilewright.target.nvgpu.instructions import pure

_SHARED = ir.PointerType(addrspace=3)
_WORD = 4  # bytes


@dataclasses.dataclass(frozen=True)
class Load:
  """A load that was asked for."""

  pointer: ir.Value
  kind: ir.Type
  align: int

  @property
  def size(self) -> int:
    return _bits(self.kind) // 8


@dataclasses.dataclass(frozen=True)
class Piece:
  """Neighbouring bytes: `size` of them, `delta` from where a load is."""

  load: int
  delta: int
  size: int


def _bits(kind: ir.Type) -> int:
  if isinstance(kind, ir.VectorType):
    return kind.count * _bits(kind.element)
  return kind.width if isinstance(kind, ir.IntType) else {"half": 16, "float": 32, "double": 64}[str(kind)]


@contextlib.contextmanager
def _loads_through(b: ir.IRBuilder, load: Callable[..., ir.Value]) -> Iterator[None]:
  """Loads that the builder is asked for go through a function, but for those of stack slots."""
  plain = b.load

  def chosen(pointer: ir.Value, *args: Any, **kwargs: Any) -> ir.Value:
    return (plain if getattr(pointer, "opname", "") == "alloca" else load)(pointer, *args, **kwargs)

  b.load = chosen
  try:
    yield
  finally:
    del b.load  # the class's own is found again


def recorded(b: ir.IRBuilder, emit: Callable[[], None]) -> list[Load]:
  """The loads that some code asks for."""
  plain, found = b.load, list[Load]()

  def load(pointer: ir.Value, name: str = "", align: int | None = None, typ: ir.Type | None = None) -> ir.Value:
    value = plain(pointer, name, align, typ)
    found.append(Load(pointer, value.type, align or 1))
    return value

  with _loads_through(b, load):
    emit()
  return found


class Loads:
  """Values in place of the loads that gave them, in the same order."""

  def __init__(self, b: ir.IRBuilder, values: Sequence[ir.Value]):
    self.b, self.left = b, iter(values)

  @contextlib.contextmanager
  def in_place(self) -> Iterator[None]:
    with _loads_through(self.b, lambda *args, **kwargs: next(self.left)):
      yield


# --- pieces ------------------------------------------------------------------------------------------------------


def _linear(value: Any) -> tuple[dict[int, int], int]:
  """An integer as a sum of multiples of values that are not looked into, by their ids, and a constant."""
  if isinstance(value, ir.Constant):
    return {}, int(value.constant)
  name = getattr(value, "opname", "")
  if name == "add":
    (terms, constant), (others, more) = (_linear(v) for v in value.operands)
    return {k: terms.get(k, 0) + others.get(k, 0) for k in {*terms, *others}}, constant + more
  if name == "mul" and isinstance(value.operands[1], ir.Constant):
    factor = int(value.operands[1].constant)
    terms, constant = _linear(value.operands[0])
    return {k: c * factor for k, c in terms.items()}, constant * factor
  return {id(value): 1}, 0


def _place(load: Load) -> tuple[Any, int]:
  """What a load's address is a constant away from, and that constant."""
  pointer = load.pointer
  if getattr(pointer, "opname", "") != "getelementptr" or len(pointer.operands) != 2:
    return id(pointer), 0
  size = _bits(pointer.source_etype) // 8
  terms, constant = _linear(pointer.operands[1])
  return (id(pointer.operands[0]), tuple(sorted((k, c * size) for k, c in terms.items() if c))), constant * size


def is_global(pointer: ir.Value) -> bool:
  """Whether a pointer is surely one to a kernel's arrays."""
  name = getattr(pointer, "opname", "")
  if name == "getelementptr":
    return is_global(pointer.operands[0])
  if name == "select":
    return all(is_global(p) for p in pointer.operands[1:])
  return name == "addrspacecast" and isinstance(pointer.operands[0], ir.Argument)


def joined(loads: Sequence[Load]) -> tuple[list[Piece], list[tuple[int, int]]]:
  """Pieces of at most sixteen bytes, each as large as its alignment allows, and for each load its piece and its place there."""
  groups: dict[Any, list[tuple[int, int]]] = {}
  for number, load in enumerate(loads):
    key, constant = _place(load)
    groups.setdefault(key, []).append((constant, number))
  pieces: list[Piece] = []
  places: list[tuple[int, int]] = [(0, 0)] * len(loads)
  for members in groups.values():
    touched = {at + i for at, n in members for i in range(loads[n].size)}
    anchor, first = max(members, key=lambda m: loads[m[1]].align)
    size = min(16, loads[first].align)
    own: dict[int, int] = {}  # the piece of each byte
    for at in sorted(touched):
      if at in own:
        continue
      width = size
      start = anchor + (at - anchor) // width * width
      while width > 1 and not all(start + i in touched and start + i not in own for i in range(width)):
        width //= 2
        start = anchor + (at - anchor) // width * width
      own |= {start + i: len(pieces) for i in range(width)}
      pieces.append(Piece(first, start - anchor, width))
    starts = {p: min(at for at, q in own.items() if q == p) for p in own.values()}
    for at, n in members:
      if own[at] != own[at + loads[n].size - 1]:
        return [Piece(n, 0, load.size) for n, load in enumerate(loads)], [(n, 0) for n in range(len(loads))]
      places[n] = own[at], at - starts[own[at]]
  return pieces, places


def _cut(b: ir.IRBuilder, words: list[ir.Value], at: int, kind: ir.Type) -> ir.Value:
  """A value that starts so many bytes into some words, or into a single narrower integer."""
  bits = _bits(kind)
  word, inside = divmod(at, _WORD) if len(words) > 1 or words[0].type == I32 else (0, at)
  if bits > 32:
    count = bits // 32
    vector = ir.Constant(ir.VectorType(I32, count), ir.Undefined)
    for n in range(count):
      vector = b.insert_element(vector, words[word + n], I32(n))
    return b.bitcast(vector, kind)
  part = words[word]
  if inside:
    part = b.lshr(part, ir.Constant(part.type, 8 * inside))
  if part.type.width > bits:
    part = b.trunc(part, ir.IntType(bits))
  return part if part.type == kind else b.bitcast(part, kind)


# --- ahead -------------------------------------------------------------------------------------------------------


class Ahead:
  """The pieces of some rounds, in shared memory and in registers."""

  def __init__(self, code: Any, loads: Sequence[Load], stages: int):
    """With no stages, all pieces stay in registers."""
    self.code, self.b, self.stages = code, code.b, stages
    self.pieces, self.places = joined(loads)
    self.kinds = [load.kind for load in loads]
    self.far = [n for n, p in enumerate(self.pieces) if p.size >= _WORD and stages]
    self.near = [n for n in range(len(self.pieces)) if n not in self.far]
    stage_bytes = sum(self.pieces[n].size for n in self.far) * code.num_threads
    self.stage_bytes = stage_bytes
    if stages:
      self.memory = code.allocate((stages * stage_bytes // _WORD,), "int32")
    with self.b.goto_entry_block():
      self.slots = {n: [self.b.alloca(kind) for kind in self._words(n)] for n in self.near}

  def _words(self, piece: int) -> list[ir.Type]:
    """What a piece is in registers."""
    size = self.pieces[piece].size
    return [I32] * (size // _WORD) if size >= _WORD else [ir.IntType(8 * size)]

  def _address(self, stage: ir.Value, piece: int) -> ir.Value:
    """Where a piece of this thread lies: neighbouring threads side by side."""
    b, size = self.b, self.pieces[piece].size
    before = sum(self.pieces[n].size for n in self.far if n < piece) * self.code.num_threads
    offset = b.add(b.mul(stage, I32(self.stage_bytes)), b.add(b.mul(self.code.thread, I32(size)), I32(before)))
    return b.gep(self.memory.pointer, [b.zext(offset, I64)], source_etype=I8)

  def _source(self, loads: Sequence[Load], piece: int) -> ir.Value:
    p = self.pieces[piece]
    return self.b.gep(loads[p.load].pointer, [i64(p.delta)], source_etype=I8)

  def fetch_far(self, emit: Callable[[], None], stage: ir.Value, inside: ir.Value) -> None:
    """Start the copies of a round, if there is one."""
    b, loads = self.b, recorded(self.b, emit)
    for n in self.far:
      to = b.ptrtoint(b.addrspacecast(self._address(stage, n), _SHARED), I32)
      cp_async.copy(b, to, self._source(loads, n), self.pieces[n].size, inside)
    cp_async.commit(b)

  def fetch_near(self, emit: Callable[[], None]) -> None:
    """Load the small pieces of a round into registers."""
    if not self.near:
      return
    b, loads = self.b, recorded(self.b, emit)
    for n in self.near:
      for word, slot in zip(self._read(n, self._source(loads, n)), self.slots[n]):
        b.store(_kept(b, word), slot)

  def _read(self, piece: int, pointer: ir.Value) -> list[ir.Value]:
    """The words of a piece, by one load."""
    b, kinds = self.b, self._words(piece)
    kind = kinds[0] if len(kinds) == 1 else ir.VectorType(I32, len(kinds))
    whole = b.load(pointer, typ=kind, align=self.pieces[piece].size)
    return [whole] if len(kinds) == 1 else [b.extract_element(whole, I32(i)) for i in range(len(kinds))]

  def take(self, stage: Any = None) -> Loads:
    """Wait for the copies of a round, and read them."""
    b = self.b
    if self.far:
      cp_async.wait(b, self.stages - 2)
    words = {n: self._read(n, self._address(stage, n)) for n in self.far}
    for n in self.near:
      words[n] = [b.load(slot, typ=kind) for slot, kind in zip(self.slots[n], self._words(n))]
    return Loads(b, [_cut(b, words[p], at, kind) for (p, at), kind in zip(self.places, self.kinds)])


_MOVES = {I16: ("mov.b16", "h"), I32: ("mov.b32", "r"), I64: ("mov.b64", "l"), F32: ("mov.b32", "f")}


def _kept(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
  """A value that LLVM cannot tell from another: it would put a load of this round in the place of one for the next."""
  if value.type not in _MOVES:
    return value
  instruction, register = _MOVES[value.type]
  return pure(b, value.type, f"{instruction} $0, $1;", f"={register},{register}", [value])


def fits(loads: Sequence[Load], num_threads: int, stages: int, room: int) -> bool:
  """Whether all loads are of arrays, and their pieces fit shared memory."""
  pieces, _ = joined(loads)
  return (
    all(is_global(load.pointer) for load in loads)
    and stages * math.fsum(p.size for p in pieces if p.size >= _WORD) * num_threads <= room
  )
