"""The tile IR of some kernels, as lowered and as simplified, and their LLVM IR, against files that show what a change changes.

    python -m tests.tile.test_tile_golden     writes the files anew

LLVM IR is that of one grid point, for a named processor: the files are the same on every machine and with every version of JAX. The
kernels that are written here also run in the evaluator, before and after simplification, against NumPy.
"""

from __future__ import annotations

import itertools
import pathlib
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from llvmlite import ir

from tests.tile.evaluate import evaluate, poison
from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas.lowering import lower_kernel
from tilewright.target.cpu import hosts
from tilewright.target.cpu.launch import emit_point
from tilewright.tile.cleaning import clean
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.parser import parse
from tilewright.tile.printer import to_text
from tilewright.tile.rewrite import simplify
from tilewright.tile.verify import verify

GOLDEN = pathlib.Path(__file__).parent / "golden"
REGENERATE = "If the change is meant: python -m tests.tile.test_tile_golden"
F32 = jnp.float32


def softmax():
  def kernel(x_ref, o_ref):
    x = x_ref[...]
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)

  def exact(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

  rows = pl.BlockSpec((4, 16), lambda i: (i, 0))
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 16), F32), grid=(2,), in_specs=[rows], out_specs=rows)
  return call, exact, [(8, 16)]


def matmul():
  def kernel(x_ref, y_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] @ y_ref[...]

  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((8, 12), F32),
    grid=(2, 2, 2),
    in_specs=[pl.BlockSpec((4, 8), lambda i, j, k: (i, k)), pl.BlockSpec((8, 6), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((4, 6), lambda i, j, k: (i, j)),
  )
  return call, np.matmul, [(8, 16), (16, 12)]


def running_sum():
  def kernel(x_ref, o_ref):
    def step(i, total):
      total = total + x_ref[i]
      o_ref[i] = total
      return total

    jax.lax.fori_loop(0, 6, step, jnp.zeros(4))

  return pl.pallas_call(kernel, jax.ShapeDtypeStruct((6, 4), F32)), lambda x: np.cumsum(x, 0), [(6, 4)]


def scaled_by_size():
  """A loop whose body has much that does not change, and a scale that is one."""

  def kernel(x_ref, o_ref):
    def step(i, total):
      scale = jnp.sqrt(jnp.float32(4.0)) * jnp.ones(8) / 2.0
      return total + x_ref[i, :] * scale

    o_ref[...] = jax.lax.fori_loop(0, pl.num_programs(0) * 3, step, jnp.zeros(8))

  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), F32), grid=(1,))
  return call, lambda x: x.sum(0), [(3, 8)]


def vector_add():
  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]

  block = pl.BlockSpec((20,), lambda i: (i,))
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((40,), F32), grid=(2,), in_specs=[block, block], out_specs=block)
  return call, np.add, [(40,), (40,)]


WRITTEN = {f.__name__: f for f in (vector_add, softmax, matmul, running_sum, scaled_by_size)}

# Library kernels, as a call and the types of its operands.
I32 = jnp.int32
LIBRARY = {
  "matmul_bias_gelu": (lambda *a: ops.matmul(*a, activation="gelu", native=True), [(4, 8), (8, 16), (16,)]),
  "matmul_bf16": (lambda *a: ops.matmul(*a, native=True), [((4, 6), jnp.bfloat16), ((6, 16), jnp.bfloat16)]),
  "layer_norm": (lambda *a: ops.layer_norm(*a, native=True), [(4, 32), (32,), (32,)]),
  "rms_norm": (lambda *a: ops.rms_norm(*a, native=True), [(4, 32), (32,)]),
  "cross_entropy": (lambda *a: ops.cross_entropy(*a, native=True), [(4, 32), ((4,), I32)]),
  "attention": (
    lambda *a: ops.attention(*a, causal=True, blocks=(4, 8), native=True),
    [(1, 8, 4), (1, 16, 4), (1, 16, 4)],
  ),
  "cumsum": (lambda *a: ops.cumsum(*a, native=True), [(4, 32)]),
  "embedding": (lambda *a: ops.embedding(*a, native=True), [(10, 16), ((6,), I32)]),
}
KERNELS = [*WRITTEN, *LIBRARY]

X86_64_V4 = ("avx", "avx2", "fma", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
# What LLVM IR is recorded of, and for which processors; on AVX-512 each is recorded.
PROCESSORS = {
  "x86-64-v4": X86_64_V4,
  "zen4": (*X86_64_V4, "avx512bf16", "avx512vnni"),
  "neon": ("neon", "dotprod"),
  "neon-bf16": ("neon", "dotprod", "bf16", "i8mm"),
  "sve256": ("neon", "dotprod", "bf16", "i8mm", "sve", "sve-bits-256"),
}
RECORDED = [(name, "zen4" if name == "matmul_bf16" else "x86-64-v4") for name in KERNELS] + [
  *((name, "neon") for name in ("softmax", "matmul")),
  *(("matmul_bf16", processor) for processor in ("neon-bf16", "sve256")),
]


# --- lowering and running ----------------------------------------------------------------------------------------


def lowered(name: str) -> NativeKernel:
  if name in WRITTEN:
    call, _, operands = WRITTEN[name]()
  else:
    call, operands = LIBRARY[name]
  typed = [o if isinstance(o[0], tuple) else (o, F32) for o in operands]
  jaxpr = jax.make_jaxpr(call)(*(jnp.zeros(*o) for o in typed)).jaxpr
  return lower_kernel(Kernel(**find(jaxpr).params))


def find(jaxpr: Any) -> Any:
  """The kernel call, which may stand inside of jit's."""
  for eqn in jaxpr.eqns:
    if eqn.primitive.name == "pallas_call":
      return eqn
    for inner in jax.tree.leaves(
      list(eqn.params.values()), is_leaf=lambda x: hasattr(x, "eqns") or hasattr(x, "jaxpr")
    ):
      if hasattr(inner, "jaxpr") and (found := find(inner.jaxpr)) is not None:
        return found
  return None


def text_of(name: str) -> str:
  """The kernel as lowered, then as simplified; of a location only the function is kept, which no edit of this file moves."""
  kernel = lowered(name)
  parts = [to_text(kernel.body), *(to_text(m) for m in kernel.index_maps if m is not None)]
  parts.append("// simplified\n" + to_text(simplify(kernel.body, kernel.mapping.grid)))
  return re.sub(r"// \S+\.py:[\d:]+ \((\S+)\)", r"// \1", "\n".join(parts))


def llvm_of(name: str, processor: str) -> str:
  """The function of one grid point, as it is before LLVM optimises it. Mathematical functions have tests of their own."""
  kernel = clean(lowered(name))
  module = ir.Module(name)
  emit_point(module, kernel, hosts.of(PROCESSORS[processor]), parallel_dims(kernel))
  (point,) = (f for f in module.functions if f.name == "point")
  return f"; {processor}\n{point}"


def run(kernel: NativeKernel, arrays: list[np.ndarray]) -> np.ndarray:
  """The one output of a kernel over its grid, block by block."""
  mappings, grid = kernel.mapping.block_mappings, kernel.mapping.grid
  memory = [*arrays, poison(mappings[-1].array_aval.shape, np.dtype(np.float32))]
  for position in itertools.product(*(range(n) for n in grid)):
    views = []
    for array, mapping, index_map in zip(memory, mappings, kernel.index_maps):
      blocks = (
        [0] * array.ndim if index_map is None else evaluate(index_map, [np.asarray(p, np.int32) for p in position])
      )
      sizes = array.shape if index_map is None else mapping.block_sizes
      views.append(array[tuple(slice(int(b) * n, (int(b) + 1) * n) for b, n in zip(blocks, sizes))])
    evaluate(kernel.body, views, position, grid)
  return memory[-1]


# --- the tests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_is_the_recorded_one(name):
  assert (GOLDEN / f"{name}.tile").read_text() == text_of(name), REGENERATE


@pytest.mark.parametrize("name", KERNELS)
def test_every_stage_verifies_and_reads_back(name):
  kernel = lowered(name)
  for function in (kernel.body, *(m for m in kernel.index_maps if m is not None)):
    verify(function, "lowered")
    assert to_text(parse(to_text(function))) == to_text(function)
    simplify(function, kernel.mapping.grid)
    verify(function, "native")
    assert to_text(parse(to_text(function))) == to_text(function)


@pytest.mark.parametrize("name, processor", RECORDED)
def test_the_llvm_ir_is_the_recorded_one(name, processor):
  assert (GOLDEN / f"{name}.{processor}.ll").read_text() == llvm_of(name, processor), REGENERATE


@pytest.mark.parametrize("name", WRITTEN)
def test_it_computes_what_it_should(name):
  _, exact, shapes = WRITTEN[name]()
  arrays = [np.random.default_rng(n).integers(-4, 5, s).astype(np.float32) for n, s in enumerate(shapes)]
  kernel = lowered(name)
  before = run(kernel, arrays)
  simplify(kernel.body, kernel.mapping.grid)
  after = run(kernel, arrays)
  assert before.tobytes() == after.tobytes()
  # Small integers: sums and products are exact. A softmax of 16 has an exponential, a sum and a quotient: a few ulps each.
  expected = exact(*(a.astype(np.float64) for a in arrays))
  np.testing.assert_allclose(before, expected, rtol=32 * np.finfo(np.float32).eps if name == "softmax" else 0)


if __name__ == "__main__":
  GOLDEN.mkdir(exist_ok=True)
  for each in KERNELS:
    (GOLDEN / f"{each}.tile").write_text(text_of(each))
  for each, processor in RECORDED:
    (GOLDEN / f"{each}.{processor}.ll").write_text(llvm_of(each, processor))
