"""Compile a function of `target.llvm.math` into a loop over arrays, and measure its errors in units in the last place."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from tilewright.runtime import jit, linking
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
  engine = linking.link(jit.object_code(str(module)))
  address = engine.address("loop")
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


FORMATS = {"f32": (23, -126, 127), "f64": (52, -1022, 1023)}  # stored bits, smallest and largest exponent


def errors(got: np.ndarray, exact: np.ndarray, kind: str) -> np.ndarray:
  """|got - exact| in units in the last place of the exact result; `exact` is of a wider type.

  An infinite result counts as the power of two after the largest number. NaN for a number, or the reverse, is infinitely wrong.
  """
  mantissa, smallest, largest = FORMATS[kind]
  exact = exact.astype(np.longdouble)
  beyond = np.ldexp(np.longdouble(1), largest + 1)
  clamped = np.clip(exact, -beyond, beyond)  # NaN stays NaN
  with np.errstate(all="ignore"):
    value = np.clip(got.astype(np.longdouble), -beyond, beyond)
    _, exponent = np.frexp(np.where(np.isfinite(clamped), clamped, 1))
    ulp = np.ldexp(np.longdouble(1), np.clip(exponent - 1, smallest, largest) - mantissa)
    distance = np.abs(value - clamped) / ulp
  result = np.where(np.isnan(got) & np.isnan(exact), 0, np.where(np.isnan(distance), np.inf, distance))
  # From halfway on, the exact result itself rounds to infinity.
  overflow = np.isinf(got) & (np.abs(exact) >= beyond - ulp / 2) & (np.sign(got) == np.sign(exact))
  return np.where(overflow, 0, result).astype(np.float64)
