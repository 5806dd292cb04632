"""Loops in LLVM IR, and indices whose lanes lie a fixed step apart."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.types import I1, I64


@dataclasses.dataclass(frozen=True)
class Index:
  """A position along a dimension: lane l is at `base + l * step`, and `base` is a multiple of `align`.

  `base` is `offset` further than what `origin` stands for, where that is known: indices with the same origin can be compared.
  """

  base: Any  # an int or an i64
  step: int = 0
  align: int = 1
  origin: Any = None
  offset: int = 0

  @property
  def key(self) -> Any:
    return (self.base if isinstance(self.base, int) else id(self.base), self.step)

  @property
  def is_static(self) -> bool:
    return isinstance(self.base, int)

  @property
  def place(self) -> tuple[Any, int]:
    """What the first lane is measured from, and how far it is from there; () is zero, None is unknown."""
    return ((), self.base) if isinstance(self.base, int) else (self.origin, self.offset)


ZERO = Index(0)


def i64(value: Any) -> ir.Value:
  return ir.Constant(I64, value) if isinstance(value, int) else value


def add(b: ir.IRBuilder, x: Any, y: Any) -> Any:
  """Sum of ints or i64s, folded where both are known."""
  if isinstance(x, int) and isinstance(y, int):
    return x + y
  if isinstance(x, int) and x == 0:
    return y
  if isinstance(y, int) and y == 0:
    return x
  return b.add(i64(x), i64(y))


def sub(b: ir.IRBuilder, x: Any, y: Any) -> Any:
  if isinstance(x, int) and isinstance(y, int):
    return x - y
  if isinstance(y, int) and y == 0:
    return x
  return 0 if x is y else b.sub(i64(x), i64(y))


def mul(b: ir.IRBuilder, x: Any, y: Any) -> Any:
  if isinstance(x, int) and isinstance(y, int):
    return x * y
  for one, other in ((x, y), (y, x)):
    if isinstance(one, int) and one == 1:
      return other
    if isinstance(one, int) and one == 0:
      return 0
  return b.mul(i64(x), i64(y))


def div_rem(b: ir.IRBuilder, x: Any, n: int) -> tuple[Any, Any]:
  if isinstance(x, int):
    return x // n, x % n
  if n == 1:
    return x, 0
  return b.udiv(x, i64(n)), b.urem(x, i64(n))


def stack_slot(b: ir.IRBuilder, kind: ir.Type, first: ir.Value | None = None) -> ir.Value:
  """A slot in the function's entry, which LLVM turns into a register; it holds `first` from here on."""
  with b.goto_entry_block():
    slot = b.alloca(kind)
  if first is not None:
    b.store(first, slot)
  return slot


def shifted(b: ir.IRBuilder, index: Index, offset: Any) -> Index:
  if not isinstance(offset, int):
    return Index(add(b, index.base, offset), index.step)
  if not offset:
    return index
  align = max(1, math.gcd(index.align, offset))
  return Index(add(b, index.base, offset), index.step, align, index.origin, index.offset + offset)


def scaled(b: ir.IRBuilder, index: Index, factor: int) -> Index:
  if factor == 1:
    return index
  return Index(mul(b, index.base, factor), index.step * factor, index.align * abs(factor))


def lane(b: ir.IRBuilder, index: Index, number: int) -> Index:
  """One lane of an index."""
  further = index.step * number
  return Index(add(b, index.base, further), origin=index.origin, offset=index.offset + further)


@contextlib.contextmanager
def for_range(b: ir.IRBuilder, start: Any, stop: Any, step: Any = 1) -> Iterator[ir.Value]:
  """`for i in range(start, stop, step)`; the with-body is emitted inside the loop."""
  before = b.block
  head = b.append_basic_block("loop")
  body = b.append_basic_block("body")
  done = b.append_basic_block("done")
  b.branch(head)
  b.position_at_end(head)
  i = b.phi(I64, "i")
  i.add_incoming(i64(start), before)
  b.cbranch(b.icmp_signed("<", i, i64(stop)), body, done)
  b.position_at_end(body)
  yield i
  i.add_incoming(b.add(i, i64(step)), b.block)
  b.branch(head)
  b.position_at_end(done)


def over(code: Any, sizes: Sequence[int], visit: Callable[[list[Index]], None], index: Sequence[Index] = ()) -> None:
  """Call `visit` with the index of each point in loops over sizes, one inside the other. What is computed inside is forgotten outside."""
  if not sizes:
    with code.scope():
      visit(list(index))
    return
  with for_range(code.b, 0, sizes[0]) as i, code.scope():
    over(code, sizes[1:], visit, (*index, Index(i)))


@contextlib.contextmanager
def if_then(b: ir.IRBuilder, condition: Any, *, ends: bool = False) -> Iterator[None]:
  """The with-body is emitted where the condition holds; with `ends` it does not come back."""
  then = b.append_basic_block("then")
  end = b.append_basic_block("end")
  b.cbranch(condition if condition.type == I1 else b.trunc(condition, I1), then, end)
  b.position_at_end(then)
  yield
  if not ends:
    b.branch(end)
  b.position_at_end(end)
