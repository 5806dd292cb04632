"""Runs a JAX function and our evaluator on its HLO, before and after XLA's optimisations, and compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend.backend
import ml_dtypes
import numpy as np
from jax._src import compiler
from jaxlib import _jax
from jaxlib._hlo import HloPrintOptions, hlo_module_from_text

from tilewright import hlo


def full_text(module: Any) -> str:
  """The text of XLA's own module object, constants included."""
  options = HloPrintOptions()
  options.print_large_constants = True
  return module.to_string(options)


def result_and_texts(function: Callable, *args: Any) -> tuple[Any, dict[str, str]]:
  """What JAX computes, and the module as JAX writes it and as XLA leaves it, of one compilation."""
  lowered = jax.jit(function, keep_unused=True).lower(*args)
  before = lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True)
  compiled = lowered.compile()
  (after,) = compiled.runtime_executable().hlo_modules()
  return compiled(*args), {"before": before, "after": full_text(after)}


def run_on_xla(text: str, *args: np.ndarray) -> list[np.ndarray]:
  """Compiles HLO text with XLA and runs it on one CPU device; the leaves of the result."""
  stable = _jax.mlir.hlo_to_stablehlo(hlo_module_from_text(text).as_serialized_hlo_module_proto())
  device = jax.devices("cpu")[0]
  devices = _jax.DeviceList((device,))
  options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
  loaded = jax.extend.backend.get_backend("cpu").compile_and_load(stable, devices, options)
  results = loaded.execute_sharded([jax.device_put(a, device) for a in args]).disassemble_into_single_device_arrays()
  return [np.asarray(result[0]) for result in results]


def check_text(text: str, *args: np.ndarray, ulps: float = 4, scale: float = 0.0) -> None:
  """Our result on this HLO is XLA's."""
  got = jax.tree.leaves(hlo.evaluate(hlo.parse(text), *args))
  want = run_on_xla(text, *args)
  assert len(got) == len(want)
  for i, (g, w) in enumerate(zip(got, want)):
    assert_close(g, w, ulps, scale, f"result {i}")


def assert_close(got: np.ndarray, want: np.ndarray, ulps: float, scale: float = 0.0, what: str = "") -> None:
  """Equal bits for integers; for floats, within `ulps` units in the last place of the wanted value or of `scale`.

  XLA's CPU code flushes subnormal numbers to zero; results below the smallest normal number count as zero.
  """
  want = np.asarray(want)
  assert got.shape == want.shape and got.dtype == want.dtype, f"{what}: {got.dtype}{got.shape} {want.dtype}{want.shape}"
  if hlo.PRIMITIVE_TYPES[hlo.element_type_of(got.dtype)].kind not in ("float", "complex"):
    np.testing.assert_array_equal(got, want, err_msg=what)
    return
  info = ml_dtypes.finfo(got.real.dtype if got.dtype.kind == "c" else got.dtype)
  wide = np.complex128 if got.dtype.kind == "c" else np.float64
  a, b = got.astype(wide), want.astype(wide)
  with np.errstate(all="ignore"):
    reach = ulps * float(info.eps) * np.maximum(np.abs(b), scale) + 2 * float(info.smallest_normal)
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= reach)
  assert same.all(), f"{what}: {a[~same][:5]} instead of {b[~same][:5]}"


def check(function: Callable, *args: Any, ulps: float = 4, scale: float = 0.0, stages: Sequence[str] = ()) -> None:
  """Our result, on the module before and after optimisation, is JAX's."""
  result, texts = result_and_texts(function, *args)
  want, leaves = jax.tree.leaves(result), jax.tree.leaves(args)
  assert want and not set(stages) - set(texts)
  for stage, text in texts.items():
    if stages and stage not in stages:
      continue
    result = hlo.evaluate(hlo.parse(text), *leaves)
    got = jax.tree.leaves(result)
    assert len(got) == len(want)
    for i, (g, w) in enumerate(zip(got, want)):
      assert_close(g, np.asarray(w), ulps, scale, f"{stage} optimisation, result {i}")
