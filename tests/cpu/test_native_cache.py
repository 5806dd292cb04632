"""Machine code on disk: what it is kept under, and that a second process makes none."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from tests.support.golden_kernels import KERNELS, find, lowered
from tilewright import pallas as pl
from tilewright.pallas import cpu as params
from tilewright.pallas.lowering import lower_kernel
from tilewright.target.llvm.identity import identity
from tilewright.tile.grid import Blocked, Kernel


def scaled(factor=2.0, grid=2):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * factor

  block = pl.BlockSpec((32 // grid, 8), lambda i: (i, 0))
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((32, 8), jnp.float32),
    grid=(grid,),
    in_specs=[block],
    out_specs=block,
    compiler_params=params.CompilerParams(),
  )


def native(call):
  return lower_kernel(Kernel(**find(jax.make_jaxpr(call)(jnp.zeros((32, 8))).jaxpr).params))


FIRST_PROCESS = """
import jax.numpy as jnp
from tilewright import ops

print(ops.softmax(jnp.arange(24.0).reshape(3, 8), native=True).tolist())
"""

SECOND_PROCESS = """
import jax.numpy as jnp
from tilewright import ops
from tilewright.runtime import linking
from tilewright.target import cpu

def refuse(*_):
  raise AssertionError("the kernel was compiled again")

cpu.to_llvm = refuse
print(ops.softmax(jnp.arange(24.0).reshape(3, 8), native=True).tolist())
import sys
assert not linking.has_linker() or not [name for name in sys.modules if name.startswith("llvmlite")], "LLVM was loaded"
"""


def test_a_second_process_generates_no_code_and_needs_no_llvm(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
  expected = output_of(FIRST_PROCESS)
  before = {p: p.stat().st_ino for p in (tmp_path / "cpu").iterdir()}
  assert before
  assert output_of(SECOND_PROCESS) == expected
  assert before == {p: p.stat().st_ino for p in (tmp_path / "cpu").iterdir()}, "something was written again"


def output_of(program: str) -> str:
  child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
  assert child.returncode == 0, child.stderr
  return child.stdout


@pytest.mark.parametrize("name", KERNELS)
def test_lowering_twice_gives_one_identity(name):
  assert identity(lowered(name)) == identity(lowered(name))


def test_where_a_kernel_is_written_does_not_matter():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0

  block = pl.BlockSpec((16, 8), lambda i: (i, 0))
  elsewhere = pl.pallas_call(
    kernel, jax.ShapeDtypeStruct((32, 8), jnp.float32), grid=(2,), in_specs=[block], out_specs=block
  )
  assert identity(native(elsewhere)) == identity(native(scaled()))


def test_whatever_changes_the_code_changes_the_identity():
  base = native(scaled())
  mapping = base.mapping
  first = mapping.block_mappings[0]
  changed = [
    native(scaled(3.0)),
    native(scaled(grid=4)),
    dataclasses.replace(base, dimension_semantics=("arbitrary",)),
    dataclasses.replace(base, input_output_aliases=((0, 0),)),
    dataclasses.replace(base, in_order=True),
    dataclasses.replace(base, mapping=dataclasses.replace(mapping, grid=(1,))),
    *(
      dataclasses.replace(
        base, mapping=dataclasses.replace(mapping, block_mappings=(other, *mapping.block_mappings[1:]))
      )
      for other in (
        dataclasses.replace(first, in_place=True),
        dataclasses.replace(first, block_shape=(Blocked(8), Blocked(8))),
        dataclasses.replace(first, array_aval=jax.ShapeDtypeStruct((64, 8), jnp.float32)),
      )
    ),
  ]
  identities = [identity(kernel) for kernel in (base, *changed)]
  assert len(set(identities)) == len(identities)


def test_a_kernel_that_prints_is_not_kept_without_its_printer():
  def kernel(x_ref, o_ref):
    pl.debug_print("x = {}", x_ref[0, 0])
    o_ref[...] = x_ref[...]

  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((32, 8), jnp.float32), compiler_params=params.CompilerParams())
  assert identity(native(call)) is None
