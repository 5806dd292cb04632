"""Loads of the next round of a loop, asked for before the current one is computed.

Threads that all wait for memory and then all compute leave each idle half of the time. So a round's code is emitted twice: once for its
loads alone, one round early, and once for what is made of them. What the first time computes besides loads is not used, and LLVM
removes it.

    ahead = Ahead(b)
    ahead.fetch(lambda: emit(first))             every load is emitted, and kept
    in the loop:
      loads = ahead.taken()
      ahead.fetch(lambda: emit(following))
      with loads.in_place(): emit(current)       the first load that is asked for is the first that was kept, and so on
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.types import F32, I8, I16, I32, I64
from tilewright.target.nvgpu.instructions import pure


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


class Loads:
  """Values in place of the loads that gave them, in the same order."""

  def __init__(self, b: ir.IRBuilder, values: Sequence[ir.Value]):
    self.b, self.left = b, iter(values)

  @contextlib.contextmanager
  def in_place(self) -> Iterator[None]:
    with _loads_through(self.b, lambda *args, **kwargs: next(self.left)):
      yield


class Ahead:
  """What the loads of one round gave, in stack slots that LLVM turns into registers."""

  def __init__(self, b: ir.IRBuilder):
    self.b = b
    self.slots: list[tuple[ir.Value, ir.Type, ir.Type]] = []  # of what type it is kept, and was loaded

  def fetch(self, emit: Callable[[], None]) -> None:
    """Emit the loads of a round, and keep what they give."""
    b, plain, found = self.b, self.b.load, list[ir.Value]()

    def load(*args: Any, **kwargs: Any) -> ir.Value:
      found.append(plain(*args, **kwargs))
      return found[-1]

    with _loads_through(b, load):
      emit()
    kept = [_kept(b, value) for value in found]
    if not self.slots:
      with b.goto_entry_block():
        self.slots = [(b.alloca(word.type), word.type, value.type) for word, value in zip(kept, found)]
    for word, (slot, _, _) in zip(kept, self.slots, strict=True):
      b.store(word, slot)

  def taken(self) -> Loads:
    """What was fetched last."""
    b = self.b
    return Loads(b, [_as(b, b.load(slot, typ=word), kind) for slot, word, kind in self.slots])


_MOVES = {I16: ("mov.b16", "h"), I32: ("mov.b32", "r"), I64: ("mov.b64", "l"), F32: ("mov.b32", "f")}


def _kept(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
  """A value that LLVM cannot tell from another: it would put a load of this round in the place of one for the next."""
  word = value
  if value.type == I8:
    word = b.zext(value, I16)
  elif isinstance(value.type, ir.VectorType) and isinstance(value.type.element, ir.IntType):
    bits = value.type.count * value.type.element.width
    word = b.bitcast(value, ir.IntType(bits)) if bits in (16, 32, 64) else value
  if word.type not in _MOVES:
    return word
  instruction, register = _MOVES[word.type]
  return pure(b, word.type, f"{instruction} $0, $1;", f"={register},{register}", [word])


def _as(b: ir.IRBuilder, word: ir.Value, kind: ir.Type) -> ir.Value:
  return word if word.type == kind else b.trunc(word, kind) if kind == I8 else b.bitcast(word, kind)
