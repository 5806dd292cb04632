"""Running a kernel natively and through the portable lowering, which is the oracle."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import cpu, nvgpu

# The tests of native kernels are about what they compute, so they run on a GPU too where there is one.
NATIVE: Any = cpu.CompilerParams() if jax.default_backend() == "cpu" else nvgpu.CompilerParams()


def both(kernel: Any, out_shape: Any, *args: Any, **options: Any) -> tuple[list[Any], list[Any]]:
  """The outputs of the native kernel and of the portable lowering."""
  params = options.pop("params", NATIVE)
  native = pl.pallas_call(kernel, out_shape, compiler_params=params, **options)(*args)
  portable = pl.pallas_call(kernel, out_shape, interpret=True, **options)(*args)
  return jax.tree.leaves(native), jax.tree.leaves(portable)


def agrees(kernel: Any, out_shape: Any, *args: Any, ulps: float = 0, **options: Any) -> None:
  """Check that both give the same, up to `ulps` units in the last place of the largest value of each output."""
  for native, portable in zip(*both(kernel, out_shape, *args, **options), strict=True):
    assert native.dtype == portable.dtype and native.shape == portable.shape
    ours, theirs = (np.asarray(x, np.float64 if x.dtype.kind != "c" else None) for x in (native, portable))
    if not ulps:
      np.testing.assert_array_equal(ours, theirs)
      continue
    finite = np.abs(theirs[np.isfinite(theirs)])
    scale = finite.max() if finite.size else 1.0
    eps = float(jax.numpy.finfo(portable.dtype).eps)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=ulps * eps * max(scale, 1.0))


def computes_the_same(f: Any, *args: Any, ulps: float = 0) -> None:
  """Check that a kernel whose body is `f`, a function of arrays, gives the same natively and portably."""
  outs = jax.tree.leaves(jax.eval_shape(f, *args))

  def kernel(*refs: Any) -> None:
    values = jax.tree.leaves(f(*(r[...] for r in refs[: len(args)])))
    for ref, value in zip(refs[len(args) :], values, strict=True):
      ref[...] = value

  agrees(kernel, [jax.ShapeDtypeStruct(o.shape, o.dtype) for o in outs], *args, ulps=ulps)


def on_arrays(f: Any, *args: Any) -> Any:
  """`f` on whole arrays, as a native kernel of one instance; the results as NumPy arrays."""
  out = jax.eval_shape(f, *args)

  def kernel(*refs: Any) -> None:
    results = jax.tree.leaves(f(*(r[...] for r in refs[: len(args)])))
    for ref, result in zip(refs[len(args) :], results, strict=True):
      ref[...] = result

  return jax.tree.map(np.asarray, pl.pallas_call(kernel, out, compiler_params=cpu.CompilerParams())(*args))
