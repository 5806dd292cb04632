"""Contractions in AMX tile registers. Functions in LLVM IR replace the instructions, so any processor runs the code around them."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import cpu as cpu_names
from tilewright.pallas import triton
from tilewright.runtime import jit
from tilewright.target import cpu
from tilewright.target.cpu import hosts

S = jax.ShapeDtypeStruct
FEATURES = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "amx-tile", "amx-bf16", "amx-int8")

# Eight tiles of 16 x 16 words. Each instruction is a loop; `product` is what one word of A and one of B add to an accumulator.
REGISTERS = "@tiles = internal global [2048 x i32] zeroinitializer, align 64\n"
ADDRESS = """
define internal ptr @word(i8 %t, i64 %r, i64 %c) {
  %tile = zext i8 %t to i64
  %a = shl i64 %tile, 8
  %b = shl i64 %r, 4
  %ab = add i64 %a, %b
  %abc = add i64 %ab, %c
  %p = getelementptr i32, ptr @tiles, i64 %abc
  ret ptr %p
}
"""


def _loop(name: str, parameters: str, body: str, depth: int) -> str:
  """A function that runs `body` for all %i, %j (and %k) below 16."""
  indices = "ijk"[:depth]
  text = f"define internal void @emulated.{name}({parameters}) {{\nentry:\n  br label %head.i\n"
  for place, x in enumerate(indices):
    before = "entry" if place == 0 else f"head.{indices[place - 1]}"
    inner = f"%head.{indices[place + 1]}" if place + 1 < depth else "%body"
    leave = "%out" if place == 0 else f"%latch.{indices[place - 1]}"
    text += f"""head.{x}:
  %{x} = phi i64 [ 0, %{before} ], [ %{x}.next, %latch.{x} ]
  %{x}.in = icmp ult i64 %{x}, 16
  br i1 %{x}.in, label {inner}, label {leave}
"""
  text += f"body:\n{body}\n  br label %latch.{indices[-1]}\n"
  for x in indices:
    text += f"latch.{x}:\n  %{x}.next = add i64 %{x}, 1\n  br label %head.{x}\n"
  return text + "out:\n  ret void\n}\n"


def _moving(statement: str) -> str:
  return f"""
  %down = mul i64 %i, %stride
  %across = shl i64 %j, 2
  %offset = add i64 %down, %across
  %m = getelementptr i8, ptr %memory, i64 %offset
  %p = call ptr @word(i8 %t, i64 %i, i64 %j)
  {statement}"""


def _product(elements: int, kind: str) -> str:
  """Accumulator (i, j) plus the elements of word k of row i of A times those of column j of B."""
  text = """
  %pa = call ptr @word(i8 %a, i64 %i, i64 %k)
  %pb = call ptr @word(i8 %b, i64 %k, i64 %j)
  %pc = call ptr @word(i8 %c, i64 %i, i64 %j)
  %wa = load i32, ptr %pa
  %wb = load i32, ptr %pb
  %s0 = load KIND, ptr %pc
"""
  for e in range(elements):
    for side in "ab":
      if kind == "float":  # bf16 is the upper half of a float
        shift = f"shl i32 %w{side}, 16" if e == 0 else f"and i32 %w{side}, -65536"
        text += f"  %h{side}{e} = {shift}\n  %x{side}{e} = bitcast i32 %h{side}{e} to float\n"
      else:
        text += f"  %h{side}{e} = shl i32 %w{side}, {24 - 8 * e}\n  %x{side}{e} = ashr i32 %h{side}{e}, 24\n"
    multiply, add = ("fmul", "fadd") if kind == "float" else ("mul", "add")
    text += f"  %p{e} = {multiply} KIND %xa{e}, %xb{e}\n  %s{e + 1} = {add} KIND %s{e}, %p{e}\n"
  return (text + f"  store KIND %s{elements}, ptr %pc").replace("KIND", kind)


EMULATION = (
  REGISTERS
  + ADDRESS
  + "define internal void @emulated.ldtilecfg(ptr %c) {\n  ret void\n}\n"
  + "define internal void @emulated.tilerelease() {\n  ret void\n}\n"
  + _loop("tilezero", "i8 %t", "  %p = call ptr @word(i8 %t, i64 %i, i64 %j)\n  store i32 0, ptr %p", 2)
  + _loop("tileloadd64", "i8 %t, ptr %memory, i64 %stride", _moving("%v = load i32, ptr %m\n  store i32 %v, ptr %p"), 2)
  + _loop(
    "tilestored64", "i8 %t, ptr %memory, i64 %stride", _moving("%v = load i32, ptr %p\n  store i32 %v, ptr %m"), 2
  )
  + _loop("tdpbf16ps", "i8 %c, i8 %a, i8 %b", _product(2, "float"), 3)
  + _loop("tdpbssd", "i8 %c, i8 %a, i8 %b", _product(4, "i32"), 3)
)


@pytest.fixture
def emulated(monkeypatch, tmp_path):
  """Kernels are compiled for a processor with AMX, and their code for this one; gives the texts."""
  if "avx512f" not in jit.host_features():
    pytest.skip("the code around the tiles needs AVX-512")
  compiled, texts = jit.object_code, []

  def object_code(text: str, **how: Any) -> bytes:
    if "llvm.x86.t" not in text:
      return compiled(text, **how)
    texts.append(text)
    text = re.sub(r'^declare .*"?llvm\.x86\.(t|ld).*$', "", text, flags=re.MULTILINE)
    return compiled(re.sub(r'@"?llvm\.x86\.(\w+)"?', r"@emulated.\1", text) + EMULATION)

  monkeypatch.setattr(jit, "object_code", object_code)
  monkeypatch.setattr(cpu, "host", lambda: hosts.of(FEATURES))
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  return texts


def _native(kernel, out, *args):
  return pl.pallas_call(kernel, out, compiler_params=cpu_names.CompilerParams())(*(jnp.asarray(a) for a in args))


def _integers(shape, dtype, seed):
  """Values whose products and sums are exact, so that any order of adding gives the same."""
  return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype, accumulator", [(jnp.bfloat16, jnp.float32), (jnp.int8, jnp.int32)])
@pytest.mark.parametrize("m, n, k", [(33, 47, 65), (8, 16, 1), (70, 18, 131)])
@pytest.mark.parametrize("trans_a, trans_b", [(False, False), (True, False), (False, True)])
def test_any_size_and_transposition(emulated, m, n, k, trans_a, trans_b, dtype, accumulator):
  a = _integers((k, m) if trans_a else (m, k), dtype, 0)
  b = _integers((n, k) if trans_b else (k, n), dtype, 1)

  def kernel(a_ref, b_ref, o_ref):
    x = a_ref[...].T if trans_a else a_ref[...]
    y = b_ref[...].T if trans_b else b_ref[...]
    o_ref[...] = lax.dot(x, y, preferred_element_type=accumulator)

  out = _native(kernel, S((m, n), accumulator), a, b)
  assert emulated
  x, y = (np.asarray(z, np.float64) for z in (a.T if trans_a else a, b.T if trans_b else b))
  np.testing.assert_array_equal(np.asarray(out, np.float64), x @ y)


def test_what_follows_a_product_is_computed_panel_by_panel(emulated):
  """Two parts of K, an accumulator in memory, and an epilogue that converts."""
  a, b = _integers((40, 96), jnp.bfloat16, 0), _integers((96, 50), jnp.bfloat16, 1)

  def kernel(a_ref, b_ref, o_ref, total_ref):
    total_ref[...] = jnp.ones(total_ref.shape, jnp.float32)
    total_ref[...] += triton.dot(a_ref[...], b_ref[...])
    o_ref[...] = jnp.maximum(lax.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32), 0).astype(
      jnp.bfloat16
    )

  out, total = _native(kernel, (S((40, 50), jnp.bfloat16), S((40, 50), jnp.float32)), a, b)
  exact = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
  np.testing.assert_array_equal(np.asarray(total, np.float64), exact + 1)
  np.testing.assert_array_equal(np.asarray(out), np.maximum(exact, 0).astype(np.float32).astype(jnp.bfloat16))


def test_rows_beyond_the_result_may_be_anything(emulated):
  """NaN in the memory of an earlier, larger product does not reach the sums of a smaller one."""
  shape = (64, 64)
  poison, a = np.full(shape, np.nan, jnp.bfloat16), _integers((9, 30), jnp.bfloat16, 0)
  b = _integers((30, 20), jnp.bfloat16, 1)

  def kernel(p_ref, a_ref, b_ref, lost_ref, o_ref):
    lost_ref[...] = lax.dot(p_ref[...], p_ref[...], preferred_element_type=jnp.float32)
    o_ref[...] = lax.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)

  out = (S(shape, jnp.float32), S((9, 20), jnp.float32))
  _, found = _native(kernel, out, poison, a, b)
  np.testing.assert_array_equal(np.asarray(found, np.float64), np.asarray(a, np.float64) @ np.asarray(b, np.float64))


def test_few_rows_are_multiplied_by_vectors(emulated):
  a, b = _integers((2, 64), jnp.bfloat16, 0), _integers((64, 64), jnp.bfloat16, 1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = lax.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)

  _native(kernel, S((2, 64), jnp.float32), a, b)
  assert not emulated
