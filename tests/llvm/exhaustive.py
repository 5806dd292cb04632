"""Every float there is: `python tests/llvm/exhaustive.py [names]` gives the largest error of the f32 functions over all 2^32 inputs.

The oracle is our own f64 function, itself held against mpmath by test_math_f64.py: its error is 2^-27 of what is measured here.
The comparison runs in the same compiled loop, so a function takes half a minute (sin, cos and tan five).
"""

from __future__ import annotations

import argparse
import ctypes
import time

import math_report
import numpy as np
from llvmlite import ir

from tilewright.runtime import jit, linking
from tilewright.target.llvm import math, types
from tilewright.target.llvm.math.lanes import INF, Lanes, where

LANES = 16
# Not those that compute in f64 and round once, and not the exact ones.
NAMES = [n for n, f in math.FUNCTIONS.items() if f.arity == 1 and n not in ("lgamma", "digamma")]


def _error(result: Lanes, exact: Lanes) -> Lanes:
  """As `ulp.errors`: f32 results against f64, lane by lane."""
  beyond = 2.0**128
  value = result.to_f64().at_most(beyond).at_least(-beyond)
  exact = exact.at_most(beyond).at_least(-beyond)
  exponent = abs(exact).bits() >> 52
  low, high = exponent.const(1023 - 126), exponent.const(1023 + 127)
  exponent = where(exponent < low, low, where(exponent > high, high, exponent))
  inverse_ulp = ((exponent.const(2 * 1023 + 23) - exponent) << 52).floats("f64")
  error = abs(value - exact) * inverse_ulp
  return where(value.is_nan() & exact.is_nan(), 0.0, where(error.is_nan(), INF, error))


def worst(name: str, start: int = 0, stop: int = 2**32) -> tuple[float, float]:
  """The largest error over the floats with bits in [start, stop), and where it is."""
  module = ir.Module(name)
  function = ir.Function(module, ir.FunctionType(types.VOID, [types.I64, types.I64, types.PTR, types.PTR]), "sweep")
  first, last, errors_at, places_at = function.args
  entry, loop, done = (function.append_basic_block(n) for n in ("entry", "loop", "done"))
  b = ir.IRBuilder(entry)
  b.branch(loop)
  b.position_at_end(loop)
  bits_type, error_type = ir.VectorType(types.I32, LANES), ir.VectorType(types.F64, LANES)
  i, most, place = b.phi(types.I64), b.phi(error_type), b.phi(bits_type)
  lane = ir.Constant(bits_type, list(range(LANES)))
  bits = b.add(types.splat(b, b.trunc(i, types.I32), LANES), lane)
  x = Lanes(b, bits).floats("f32")
  result = Lanes(b, math.emit(name, b, x.value))
  exact = Lanes(b, math.emit(name, b, x.to_f64().value))
  error = _error(result, exact)
  larger = error > Lanes(b, most)
  next_most, next_place = where(larger, error, Lanes(b, most)), where(larger, Lanes(b, bits), Lanes(b, place))
  following = b.add(i, types.I64(LANES))
  for phi, initial, value in (
    (i, first, following),
    (most, types.constant(error_type, -1), next_most.value),
    (place, types.constant(bits_type, 0), next_place.value),
  ):
    phi.add_incoming(initial, entry)
    phi.add_incoming(value, b.block)
  b.cbranch(b.icmp_unsigned("<", following, last), loop, done)
  b.position_at_end(done)
  b.store(next_most.value, errors_at, align=8)
  b.store(next_place.value, places_at, align=4)
  b.ret_void()
  engine = linking.link(jit.object_code(str(module)))
  call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
    engine.address("sweep")
  )
  errors, places = np.zeros(LANES), np.zeros(LANES, np.uint32)
  call(start, stop, errors.ctypes.data, places.ctypes.data)
  at = int(np.argmax(errors))
  return float(errors[at]), float(places.view(np.float32)[at])


if __name__ == "__main__":
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("names", nargs="*", default=NAMES)
  for name in parser.parse_args().names or NAMES:
    began = time.perf_counter()
    error, at = worst(name)
    math_report.record("f32", name, {"error": round(error, 3), "at": [at], "all": True})
    print(f"{name:10} {error:.4f} ulp at {at!r}   ({time.perf_counter() - began:.0f} s)", flush=True)
