"""What a kernel takes is known on any machine, and what it cannot have is named."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.cli import main
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.nvgpu.inspection import tensor_columns
from tilewright.runtime import ptxas
from tilewright.target.nvgpu.arch import ARCHS

F32 = jnp.float32
S = jax.ShapeDtypeStruct
needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")


def softmax(x):
  return ops.softmax(x, native=True)


def test_each_kernel_is_reported_once_for_each_architecture():
  twice = nvgpu.report(lambda x: (softmax(x), softmax(x), ops.gelu(x, native=True)), S((64, 1024), F32))
  assert [(r.kernel, r.arch) for r in twice] == [(k, a) for k in ("softmax", "gelu") for a in ARCHS]
  assert all(r.num_threads >= 32 and f".target {r.arch}" in r.ptx and "define" in r.llvm for r in twice)


def test_the_kernel_is_the_one_that_a_gpu_would_run():
  """A row is one CTA there, whatever the caches of this processor are like."""
  (found,) = nvgpu.report(softmax, S((64, 8192), F32), archs=["sm_90a"])
  assert found.num_blocks == 64


@needs_ptxas
def test_registers_and_spills_are_those_of_ptxas():
  (found,) = nvgpu.report(softmax, S((64, 8192), F32), archs=["sm_90a"])
  assert found.resources is not None and 16 < found.resources.registers <= 255
  assert found.resources.spilled_bytes == found.resources.stack_bytes == 0


def test_columns_of_tensor_memory_are_counted():
  (found,) = nvgpu.report(softmax, S((64, 1024), F32), archs=["sm_100a"], assemble=False)
  assert found.tensor_columns == 0
  allocate = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], {};"
  assert tensor_columns("\n".join(allocate.format(n) for n in (32, 256))) == 288


def test_what_ptxas_says_is_read():
  said = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'kernel' for 'sm_80'
ptxas info    : Function properties for kernel
    7480 bytes stack frame, 10792 bytes spill stores, 11876 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 7480 bytes cumulative stack size, 1024 bytes smem, 392 bytes cmem[0]"""
  assert ptxas.parse(said) == ptxas.Resources(255, 1024, 10792, 7480)
  assert ptxas.parse("ptxas info    : Used 8 registers") == ptxas.Resources(8, 0, 0, 0)
  with pytest.raises(errors.NativeCodeError, match="has no register counts"):
    ptxas.parse("")


@needs_ptxas
def test_ptx_that_does_not_assemble_is_an_error_with_the_reason():
  with pytest.raises(errors.NativeCodeError, match=r"does not assemble the kernel for sm_90a: .*error"):
    ptxas.resources(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel() { bogus; }\n", "sm_90a")


def test_a_function_without_kernels_and_an_unknown_architecture_are_named():
  with pytest.raises(errors.KernelTypeError, match="calls none"):
    nvgpu.report(jnp.sin, S((3,), F32))
  with pytest.raises(errors.NativeCodeError, match=r"expected one of sm_80, .* got 'sm_75'"):
    nvgpu.report(softmax, S((64, 8192), F32), archs=["sm_75"])


def test_a_grid_of_more_points_than_a_gpu_has_blocks_is_an_error():
  part = pl.BlockSpec((1, 1), lambda i, j: (i, j))
  x = S((1 << 16, 1 << 16), jnp.int8)
  copy = pl.pallas_call(
    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]), x, grid=x.shape, in_specs=[part], out_specs=part
  )
  with pytest.raises(errors.ResourceExhaustedError, match=r"4294967296 instances.*at most 2147483647"):
    nvgpu.report(copy, x, archs="sm_90a")


def test_what_lies_in_global_memory_is_reported():
  """A block's buffers that do not fit shared memory, whether its grid is static or dynamic."""

  def call(n, x):
    def kernel(x_ref, o_ref, mine):
      mine[...] = x_ref[...]
      o_ref[...] = jnp.sort(mine[...] * 2.0)

    block = pl.BlockSpec((64, 1024), lambda i: (i, 0))
    return pl.pallas_call(
      kernel,
      S(x.shape, F32),
      grid=(n,),
      in_specs=[block],
      out_specs=block,
      scratch_shapes=[pltpu.VMEM((64, 1024), F32)],
      compiler_params=nvgpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)

  x = S((256, 1024), F32)
  (static,) = nvgpu.report(lambda x: call(4, x), x, archs=["sm_86"])
  (dynamic,) = nvgpu.report(call, S((), jnp.int32), x, archs=["sm_86"])
  assert static.scratch_bytes == dynamic.scratch_bytes >= 64 * 1024 * 4


# --- the command ---------------------------------------------------------------------------------------------------


def test_the_command_prints_a_table(capsys):
  assert main(["ptx", "tilewright.ops:softmax", "f32[256,1024]", "--arch", "sm_80,sm_90a"]) == 0
  printed = capsys.readouterr().out
  assert "registers" in printed and "spilled" in printed and printed.count("softmax") == 2


@pytest.mark.parametrize("stage, words", [("ptx", ".target sm_90a"), ("llvm", "define ptx_kernel"), ("tile", "func")])
def test_the_command_shows_code(capsys, stage, words):
  asked = ["tilewright.ops:attention", *["bf16[2,128,64]"] * 3, "--set", "causal=True", "--arch", "sm_90a"]
  assert main(["ptx", *asked, "--show", stage]) == 0
  assert words in capsys.readouterr().out


@pytest.mark.parametrize(
  "kind, held", [("f64", "f64"), ("s64", "s64"), ("u64", "u64"), ("c128", "f64"), ("c64", "f32")]
)
def test_the_command_takes_wide_types_as_they_are(capsys, kind, held):
  """JAX would make them narrower."""
  assert main(["ptx", "tests.nvgpu.test_report:doubled", f"{kind}[64]", "--arch", "sm_90a", "--show", "tile"]) == 0
  assert f"x{held}, any>" in capsys.readouterr().out


def doubled(x):
  return pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] + x_ref[...]), S(x.shape, x.dtype))(x)


@pytest.mark.parametrize(
  "asked, words, code",
  [
    (["tilewright.ops:softmax", "f32[4,"], "expected a type as", 2),
    (["tilewright.ops:softmax", "float[4]"], "expected a type as", 2),
    (["tilewright.ops"], "package.module:function", 2),
    (["tilewright.ops:nothing"], "nothing", 2),
    (["tilewright.ops:softmax", "f32[4,8]", "--set", "axis"], "expected name=value", 2),
    (["tilewright.ops:softmax", "f32[4,8]", "--arch", "sm_75"], "sm_75", 1),
    (["tilewright.ops:softmax", "f32[4,8]", "--set", "axis=7"], "axis must be between", 1),
    (["tilewright.ops:softmax"], "TYPE for each array", 2),
    (["jax.numpy:sin", "f32[4]"], "'sin' calls none", 1),
  ],
)
def test_the_command_names_mistakes(capsys, asked, words, code):
  assert main(["ptx", *asked]) == code
  assert words in capsys.readouterr().err
