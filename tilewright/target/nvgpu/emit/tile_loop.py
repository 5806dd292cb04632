"""Passes over a tile: each thread iterates over its own vectors, step by step, as a distribution assigns them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index, for_range, if_then, stack_slot
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.cta_memory import BlockMemory
from tilewright.target.nvgpu.emit.distribution import Distribution, Held


class Passes(BlockMemory):
  """Code of one CTA, with the ways to go over tiles."""

  def __init__(self, *args: Any):
    super().__init__(*args)
    self._indices: dict[Any, list[Index]] = {}
    self._starts: dict[Any, tuple[Any, ...]] = {}

  def each_step(self, d: Distribution, body: Callable[[list[Index], int, Any], None], everywhere: bool = False) -> None:
    """Call `body(index, lanes, step)` for each step of a distribution in which this thread has a vector.

    Of threads that have the same elements only the first works, unless `everywhere`.
    """
    owns = None if everywhere else d.owns(self.b, self.thread)
    with contextlib.nullcontext() if owns is None else if_then(self.b, owns):
      if d.unrolled is not None and d.steps > d.unrolled:
        with for_range(self.b, 0, d.steps) as i, self.scope():
          self._one_step(d, self.b.trunc(i, I32), body)
        return
      for step in range(d.steps):
        self._one_step(d, step, body)

  def _one_step(self, d: Distribution, step: Any, body: Callable[[list[Index], int, Any], None]) -> None:
    self.in_step(d, step, lambda index: body(index, d.lanes, step))

  def in_step(self, d: Distribution, step: Any, body: Callable[[list[Index]], Any]) -> None:
    """Call `body(index)` for one step, where the thread has a vector."""
    index = self.index_of(d, step)
    has_vector = d.has_vector(self.b, index, self.thread, step)
    with contextlib.nullcontext() if has_vector is None else if_then(self.b, has_vector), self.scope():
      body(index)

  def each_vector(self, held: Held, make: Callable[[list[Index]], ir.Value], otherwise: ir.Value) -> list[ir.Value]:
    """What `make(index)` gives for each step; `otherwise` where the thread has no vector."""
    found = []
    for step in range(held.steps):
      index = self.index_of(held, step)
      has_vector = held.has_vector(self.b, index, self.thread, step)
      with self.scope():
        if has_vector is None:
          found.append(make(index))
          continue
        slot = stack_slot(self.b, otherwise.type, otherwise)
        with if_then(self.b, has_vector):
          self.b.store(make(index), slot)
        found.append(self.b.load(slot, typ=otherwise.type))
    return found

  def index_of(self, d: Distribution, step: Any) -> list[Index]:
    """The thread's elements in a step: computed once for each distribution, at the start of the kernel."""
    if not isinstance(step, int):
      return d.index(self.b, self.thread, step)
    if (d, step) not in self._indices:
      with self.b.goto_entry_block():
        if not isinstance(d, Held):
          found = d.index(self.b, self.thread, step)
        else:
          if d not in self._starts:
            self._starts[d] = d.start(self.b, self.thread)
          found = d.index(self.b, self.thread, step, self._starts[d])
        self._indices[d, step] = found
    return self._indices[d, step]
