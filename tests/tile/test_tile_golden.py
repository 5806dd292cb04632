"""The tile IR of some kernels, as lowered and as simplified, and their LLVM IR, against files that show what a change changes.

    python -m tests.tile.test_tile_golden     writes the files anew

LLVM IR is that of one grid point, for a named processor: the files are the same on every machine and with every version of JAX. The
kernels that are written here also run in the evaluator, before and after simplification, against NumPy.
"""

from __future__ import annotations

import itertools
import pathlib
import re

import numpy as np
import pytest
from llvmlite import ir

from tests.support.golden_kernels import (
  KERNELS,
  WRITTEN,
  lowered,
)
from tests.tile.evaluate import evaluate, poison
from tilewright.target.cpu import hosts
from tilewright.target.cpu.launch import emit_point
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.parser import parse
from tilewright.tile.printer import to_text
from tilewright.tile.rewrite import simplify
from tilewright.tile.standard_passes import clean
from tilewright.tile.verify import verify

GOLDEN = pathlib.Path(__file__).parent / "golden"
REGENERATE = "If the change is meant: python -m tests.tile.test_tile_golden"


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
