"""Compile a function of `target.llvm.math` into a loop over arrays, and measure its error in ulp."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from tilewright.runtime import jit
from tilewright.target.llvm import math, types

ELEMENTS = {"f32": types.F32, "f64": types.F64}
DTYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


@functools.cache
def compiled(name: str, kind: str, lanes: int) -> Callable[..., np.ndarray]:
  """The function over arrays whose length is a multiple of the number of lanes."""
  element, dtype = ELEMENTS[kind], DTYPES[kind]
  vector = ir.VectorType(element, lanes) if lanes > 1 else element
  arity = math.FUNCTIONS[name].arity
  module = ir.Module(name)
  function = ir.Function(module, ir.FunctionType(types.VOID, [types.PTR] * (arity + 1) + [types.I64]), "loop")
  *sources, target, count = function.args
  entry, loop, done = (function.append_basic_block(n) for n in ("entry", "loop", "done"))
  b = ir.IRBuilder(entry)
  b.branch(loop)
  b.position_at_end(loop)
  i = b.phi(types.I64)
  at = lambda pointer: b.gep(pointer, [i], source_etype=element)
  args = [b.load(at(p), typ=vector, align=dtype.itemsize) for p in sources]
  b.store(math.emit(name, b, *args), at(target), align=dtype.itemsize)
  following = b.add(i, types.I64(lanes))
  i.add_incoming(types.I64(0), entry)
  i.add_incoming(following, b.block)
  b.cbranch(b.icmp_unsigned("<", following, count), loop, done)
  b.position_at_end(done)
  b.ret_void()
  engine = jit.compile_host(str(module))
  address = engine.get_function_address("loop")
  call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64)(address)

  def run(*arrays: np.ndarray) -> np.ndarray:
    n = arrays[0].size
    padded = -(-n // lanes) * lanes
    inputs = [np.zeros(padded, dtype) for _ in arrays]
    for held, array in zip(inputs, arrays):
      held[:n] = array
    output = np.empty(padded, dtype)
    call(*(a.ctypes.data for a in inputs), output.ctypes.data, padded)
    return output[:n]

  run.raw = call  # type: ignore[attr-defined]  # for timing without the copies
  return run
