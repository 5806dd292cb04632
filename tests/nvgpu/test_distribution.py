"""Every element of a tile belongs to exactly one thread, lane and step."""

from __future__ import annotations

import ctypes
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import ir

from tilewright.runtime import jit
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.target.nvgpu.distribution import distribute


def places(d):
  """The index of each (thread, step), by running the code that computes it."""
  module = ir.Module()
  function = ir.Function(module, ir.FunctionType(VOID, [I32, PTR]), "indices")
  thread, out = function.args
  b = ir.IRBuilder(function.append_basic_block())
  at = 0
  for step in range(d.steps):
    for i in d.index(b, thread, step):
      base = I64(i.base) if isinstance(i.base, int) else i.base
      b.store(base, b.gep(out, [I64(at)], source_etype=I64))
      at += 1
  b.ret_void()
  call = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_void_p)(
    jit.link(jit.object_code(str(module))).get_function_address("indices")
  )
  found = np.zeros((d.threads, d.steps, len(d.shape)), np.int64)
  for t in range(d.threads):
    row = np.zeros(max(1, at), np.int64)
    call(t, row.ctypes.data)
    found[t] = row[:at].reshape(d.steps, len(d.shape))
  return found


@given(
  st.lists(st.sampled_from([1, 2, 3, 4, 6, 8, 16, 24, 33]), min_size=1, max_size=3),
  st.sampled_from([4, 8]),
  st.sampled_from([4, 32]),
)
@settings(max_examples=25, deadline=None)
def test_a_tile_is_covered_exactly_once(shape, lanes, threads):
  d = distribute(tuple(shape), lanes, threads)
  seen = np.zeros(shape, int)
  found = places(d)
  for step in range(d.steps):
    for t in range(threads):
      if t + threads * step >= d.vectors:
        continue  # the code of a pass masks these threads
      index = list(found[t, step])
      for lane in range(d.lanes):
        own = list(index)
        if d.axis is not None:
          own[d.axis] += lane
        seen[tuple(own)] += 1
  assert (seen == 1).all() and math.prod(shape) == seen.sum()
