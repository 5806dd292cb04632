"""Kernels of the library become PTX for every architecture, and what watches over other tests is right.

The language's own tests and the examples are watched where they stand: see `every_kernel` and the conftest.py beside them.
"""

from __future__ import annotations

from unittest import mock

import jax
import jax.numpy as jnp
import pytest

from tests.nvgpu import every_kernel, ops_programs
from tests.nvgpu.gpu_programs import PROGRAMS, natives
from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel

F32 = jnp.float32
S = jax.ShapeDtypeStruct


def test_every_op_of_the_library_is_called():
  assert {name.split()[0] for name in ops_programs.CALLS} == set(ops.__all__)


@pytest.mark.parametrize("name", ops_programs.CALLS)
def test_library_kernels_and_their_derivatives_become_ptx(name):
  kernels = ops_programs.kernels_of(name)
  assert kernels
  for kernel in kernels:
    assert not every_kernel.check(kernel)


# --- what watches -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "matmul", "sort"])
def test_architectures_share_llvm_ir_only_where_it_is_the_same(name):
  f, args = PROGRAMS[name]
  ((_, kernel),) = natives(f, *args)
  assert every_kernel.llvm_of(kernel) == {arch.name: emit_kernel(kernel, arch)[0] for arch in ARCHS.values()}


def test_a_kernel_that_does_not_become_ptx_is_noticed():
  def run():
    return pl.pallas_call(lambda o_ref: o_ref.__setitem__(..., jnp.full((3,), 7.25)), S((3,), F32))()

  wrong = mock.patch.object(every_kernel, "emit_kernel", side_effect=errors.NativeCodeError("there is no such thing"))
  with wrong, every_kernel.watched() as failures:
    run()
  assert len(failures) == 1 and failures[0].endswith("NativeCodeError: there is no such thing")
