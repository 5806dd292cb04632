"""Every element of a tile belongs to exactly one thread, lane and step."""

from __future__ import annotations

import ctypes
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import ir

from tests.layout.layouts import register_layouts
from tilewright.runtime import jit, linking
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.target.nvgpu.emit.distribution import Held, distribute, ordinary
from tilewright.target.nvgpu.emit.units.threads import WARP

# Every step of a pass is written out here: what comes after a few hundred vectors is more of the same.
sizes = st.sampled_from([1, 2, 3, 4, 6, 8, 16, 24, 33])
shapes = st.lists(sizes, min_size=1, max_size=3).filter(lambda shape: math.prod(shape) <= 1200)


def places(d, threads):
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
    linking.link(jit.object_code(str(module))).address("indices")
  )
  found = np.zeros((threads, d.steps, len(d.shape)), np.int64)
  for t in range(threads):
    row = np.zeros(max(1, at), np.int64)
    call(t, row.ctypes.data)
    found[t] = row[:at].reshape(d.steps, len(d.shape))
  return found


@given(shapes, st.sampled_from([4, 8]), st.sampled_from([4, 32]))
@settings(max_examples=25, deadline=None)
def test_a_tile_that_is_dealt_out_is_covered_exactly_once(shape, lanes, threads):
  d = distribute(tuple(shape), lanes, threads)
  seen = np.zeros(shape, int)
  found = places(d, threads)
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


def _has_vector(d, index, thread):
  """What `has_vector` tells: whether the first lane of a step lies inside."""
  return all(i < size for i, size in zip(index, d.shape))


def _owns(d, thread):
  place = {"lane": thread % WARP, "warp": thread // WARP}
  return all(place[t.input] // t.place % t.size == 0 for t in d.layout.owner_terms)


def check_held(layout):
  """Owners have every element exactly once; all threads have what the layout says, and find it by its index."""
  d = Held(layout)
  threads = WARP * layout.num_warps
  seen = np.zeros(layout.shape, int)
  found = places(d, threads)
  for step, group in enumerate(d.groups):
    for t in range(threads):
      index = tuple(found[t, step])
      assert index == d.layout.coordinates(register=group[0], lane=t % WARP, warp=t // WARP)
      if _has_vector(d, index, t) and _owns(d, t):
        for n in range(d.lanes):
          seen[tuple(x + n * (a == d.axis) for a, x in enumerate(index))] += 1
  assert (seen == 1).all()
  b = ir.IRBuilder(ir.Function(ir.Module(), ir.FunctionType(VOID, [I32]), "f").append_basic_block())
  for step in range(d.steps):
    index = d.index(b, b.function.args[0], step)
    assert d.find(index, d.lanes) == [(step, n) for n in range(d.lanes)]


@given(register_layouts())
@settings(max_examples=30, deadline=None)
def test_owners_hold_a_tile_exactly_once(layout):
  check_held(layout)


@given(shapes, st.sampled_from([4, 8]), st.sampled_from([1, 4]))
@settings(max_examples=30, deadline=None)
def test_an_ordinary_layout_holds_any_shape(shape, lanes, num_warps):
  layout = ordinary(tuple(shape), lanes, num_warps)
  assert layout.num_warps == num_warps
  check_held(layout)
