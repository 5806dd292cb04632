"""Code for processors other than this one: it assembles, with the instructions each processor has for contractions."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import llvmlite.binding as llvm
import pytest
from jax import lax

from tests.support.native_kernels import native_kernel
from tilewright.runtime import jit
from tilewright.target import cpu
from tilewright.target.cpu import hosts

AVX2 = ("avx", "avx2", "fma")
AVX512 = (*AVX2, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
LLVM_CPU = {X86: "x86-64", ARM: "generic"}


def product(dtype, result, rows=32):
  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = lax.dot(a_ref[...], b_ref[...], preferred_element_type=result)

  a, b = jnp.zeros((rows, 24), dtype), jnp.zeros((24, 96), dtype)
  return native_kernel(kernel, jax.ShapeDtypeStruct((rows, 96), result), a, b)


def assembly(kernel, triple: str, features: tuple[str, ...]) -> str:
  """Machine code for a processor, from the same text that is compiled for this one."""
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  machine = llvm.Target.from_triple(triple).create_target_machine(
    cpu=LLVM_CPU[triple], features=",".join(f"+{f}" for f in features), opt=3, reloc="pic"
  )
  module = llvm.parse_assembly(cpu.to_llvm(kernel, hosts.of(features)))
  module.triple, module.data_layout = triple, str(machine.target_data)
  module.verify()
  machine.set_asm_verbosity(True)
  jit.optimise(module, machine)
  return machine.emit_assembly(module)


@pytest.mark.parametrize(
  "triple, features, dtype, result, instruction",
  [
    (X86, AVX2, jnp.float32, jnp.float32, r"vfmadd\d+ps.*%ymm"),
    (X86, AVX512, jnp.float32, jnp.float32, r"vfmadd\d+ps.*%zmm"),
    (X86, (*AVX512, "avx512bf16"), jnp.bfloat16, jnp.float32, r"vdpbf16ps.*%zmm"),
    (X86, (*AVX512, "avx512vnni"), jnp.int8, jnp.int32, r"vpdpbusd.*%zmm"),
    (X86, (*AVX512, "amx-tile", "amx-bf16"), jnp.bfloat16, jnp.float32, r"tdpbf16ps\s+%tmm\d, %tmm\d, %tmm\d"),
    (X86, (*AVX512, "amx-tile", "amx-int8"), jnp.int8, jnp.int32, r"tdpbssd\s+%tmm\d, %tmm\d, %tmm\d"),
    (X86, (*AVX2, "avxvnni"), jnp.int8, jnp.int32, r"vpdpbusd.*%ymm"),
    (X86, AVX512, jnp.bfloat16, jnp.float32, r"vfmadd\d+ps.*%zmm"),
    (X86, ("sse2",), jnp.float32, jnp.float32, r"mulps|fmaf?"),
    (ARM, ("neon",), jnp.float32, jnp.float32, r"fmla\s+v\d+\.4s"),
    (ARM, ("neon", "fullfp16"), jnp.float16, jnp.float32, r"fmla\s+v\d+\.4s"),
    (ARM, ("neon", "bf16"), jnp.bfloat16, jnp.float32, r"bfmmla\s+v\d+\.4s"),
    (ARM, ("neon", "dotprod"), jnp.int8, jnp.int32, r"sdot\s+v\d+\.4s"),
  ],
)
def test_contractions_use_what_the_processor_has(triple, features, dtype, result, instruction):
  text = assembly(product(dtype, result), triple, features)
  assert re.search(instruction, text), f"no {instruction} in the code for {features}"


@pytest.mark.parametrize("triple, features", [(X86, AVX2), (X86, AVX512), (ARM, ("neon",))])
def test_sums_stay_in_registers(triple, features):
  """The micro-kernel's sizes fit the processor: no vector is spilled beside the multiplications of a whole tile."""
  host = hosts.of(features)
  whole_strips = 3 * host.panel_rows(host.panel_vectors)
  text = assembly(product(jnp.float32, jnp.float32, whole_strips), triple, features)
  multiply = "fmla" if triple == ARM else "vfmadd"
  sums = host.panel_rows(host.panel_vectors) * host.panel_vectors
  loops = [part for part in re.split(r"\n\.?L\w+:", text) if part.count(multiply) >= sums]
  assert loops
  assert not [part for part in loops if re.search(r"(16|32|64)-byte \w*\s*Spill", part)]


def test_transcendental_functions_need_no_library():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.tanh(x_ref[...]) + jnp.exp(x_ref[...])

  native = native_kernel(kernel, jax.ShapeDtypeStruct((5, 40), jnp.float32), jnp.zeros((5, 40)))
  for triple, features in ((X86, AVX2), (X86, AVX512), (ARM, ("neon",))):
    called = set(re.findall(r"\b(?:callq?|bl)\s+([A-Za-z_]\w*)", assembly(native, triple, features)))
    assert not called
