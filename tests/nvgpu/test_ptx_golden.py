"""The PTX of some kernels against files that show what a change changes.

    python -m tests.nvgpu.test_ptx_golden     writes the files anew

Blocks are small, so that the files can be read. They are those of one version of LLVM, whose name is beside them: with another one the
comparison is skipped.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import llvmlite.binding as llvm
import pytest

from tests.nvgpu import cluster_programs
from tests.nvgpu import gpu_programs as programs
from tilewright import ops
from tilewright.pallas import nvgpu

GOLDEN = pathlib.Path(__file__).parent / "golden"
VERSION = GOLDEN / "llvm_version.txt"
REGENERATE = "If the change is meant: python -m tests.nvgpu.test_ptx_golden"
S = jax.ShapeDtypeStruct
BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32

_x, _w, _square, _head = S((16, 1024), BF16), S((1024,), BF16), S((128, 128), BF16), S((1, 32, 16), BF16)


def _native(op: Callable[..., Any], **options: Any) -> Callable[..., Any]:
  return functools.partial(op, native=True, **options)


# The file, the architecture, the function and the types of its arguments.
KERNELS: dict[str, tuple[str, Callable[..., Any], tuple[Any, ...]]] = {
  "softmax": ("sm_90a", programs.by_rows(programs.softmax), (_x,)),
  "rms_norm": ("sm_90a", programs.by_rows(programs.rms_norm), (_x, _w)),
  "layer_norm": ("sm_90a", programs.by_rows(programs.layer_norm), (_x, _w, _w)),
  "gelu_gate": ("sm_90a", programs.by_rows(programs.gelu_gate), (_x, _x)),
  "cross_entropy": ("sm_90a", programs.cross_entropy, (_x, S((16,), I32))),
  "transpose": ("sm_90a", functools.partial(programs.transpose, block=32), (_square,)),
  "cast": ("sm_100a", programs.in_one_block(lambda x: x.astype(F32), S((16, 128), F32)), (S((16, 128), BF16),)),
  "rotary": ("sm_90a", _native(ops.rotary), (S((16, 8, 128), BF16), S((16, 64), F32), S((16, 64), F32))),
  "matmul_wgmma": ("sm_90a", functools.partial(programs.matmul, blocks=(64, 64, 64)), (_square, _square)),
  "matmul_mma": ("sm_80", functools.partial(programs.matmul, blocks=(32, 32, 32)), (_square, _square)),
  "matmul_tma": ("sm_100a", functools.partial(programs.matmul, blocks=(32, 32, 32)), (_square, _square)),
  "cluster": ("sm_90a", functools.partial(cluster_programs.summed_together, size=2), (S((32, 64), F32),)),
  "attention": ("sm_90a", _native(ops.attention, causal=True, blocks=(16, 16)), (_head, _head, _head)),
}


def ptx_of(name: str) -> str:
  arch, function, types = KERNELS[name]
  (found,) = nvgpu.report(function, *types, archs=[arch], assemble=False)
  return found.ptx


def llvm_version() -> str:
  return ".".join(map(str, llvm.llvm_version_info))


@pytest.mark.parametrize("name", KERNELS)
def test_the_ptx_is_the_recorded_one(name):
  if VERSION.read_text().strip() != llvm_version():
    pytest.skip(f"the files are those of LLVM {VERSION.read_text().strip()}, and this is {llvm_version()}")
  assert (GOLDEN / f"{name}.ptx").read_text() == ptx_of(name), REGENERATE


def test_the_matrix_units_are_used():
  assert "wgmma.mma_async" in ptx_of("matmul_wgmma") and "mma.sync" in ptx_of("matmul_mma")


@pytest.mark.parametrize("name", ["matmul_wgmma", "matmul_tma"])
def test_the_copy_engine_is_used_where_there_is_one(name):
  assert "cp.async.bulk.tensor.2d" in ptx_of(name) and "cp.async.c" not in ptx_of(name)


if __name__ == "__main__":
  GOLDEN.mkdir(exist_ok=True)
  for each in KERNELS:
    (GOLDEN / f"{each}.ptx").write_text(ptx_of(each))
  VERSION.write_text(llvm_version() + "\n")
