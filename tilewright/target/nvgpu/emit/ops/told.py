"""A number that one thread finds, told to the other threads, so that all take the same control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from tilewright.target.llvm.loops import Index, if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.units import threads

if TYPE_CHECKING:
  from tilewright.target.nvgpu.emit.code import BlockCode


def told_by_first(code: BlockCode, find: Callable[[], ir.Value]) -> ir.Value:
  """What `find` emits code for, which the first thread runs between two barriers; an i32, in all threads."""
  b = code.b
  place = code.allocate((1,), np.int32)
  code.barrier()  # what it told before has been read, and what threads did before is done
  with if_then(b, threads.is_first(b, code.thread)):
    b.store(find(), place.pointer, align=4)
  code.barrier()
  return code.load(place, [Index(I32(0))], 1)
