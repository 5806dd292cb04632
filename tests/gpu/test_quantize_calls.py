"""Inside of XLA on a GPU, calls that quantise have the bits of their definition, by the kernel and expanded."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tilewright import hlo, numerics  # noqa: F401  numerics offers its kernels
from tilewright.hlo.passes.block_scaling import BlockScaling

pytestmark = pytest.mark.gpu
BLOCK = 32


def numbers(rows=64, columns=512):
  """All bit patterns, and blocks of every magnitude with numbers of few bits, so that there are ties."""
  rng = np.random.default_rng(0)
  power = rng.integers(-149, 120, (rows, columns // BLOCK)).repeat(BLOCK, 1)
  few = np.ldexp(rng.integers(-64, 65, (rows, columns)), power).astype(np.float32)
  return np.concatenate([rng.integers(0, 1 << 32, (rows, columns), dtype=np.uint32).view(np.float32), few])


@pytest.mark.parametrize("only", ["kernel", "expansion"])
@pytest.mark.parametrize(
  "element, scale",
  [("f8e4m3fn", "f8e8m0fnu"), ("f4e2m1fn", "f8e8m0fnu"), ("f4e2m1fn", "f8e4m3fn"), ("f8e5m2", "f16")],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantized_bits_are_those_of_the_definition(element, scale, only):
  x = numbers()
  rows, columns = x.shape
  result = f"({element}[{rows},{columns}], {scale}[{rows},{columns // BLOCK}])"
  text = f'ENTRY e {{ x = f32[{rows},{columns}] parameter(0)\n ROOT q = {result} custom-call(x), custom_call_target="__op$quantize" }}'
  want = hlo.evaluate(hlo.parse(text), x)
  shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in want]
  with hlo.install(BlockScaling(only=only)) as hook:
    got = jax.jit(lambda x: jax.ffi.ffi_call("__op$quantize", shapes)(x))(x)
  assert hook.changed  # XLA has an expansion of its own on GPUs
  for a, b in zip(map(np.asarray, got), want):
    both = np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    bits = f"u{b.dtype.itemsize}"
    np.testing.assert_array_equal(np.where(both, 0, a.view(bits)), np.where(both, 0, b.view(bits)))
