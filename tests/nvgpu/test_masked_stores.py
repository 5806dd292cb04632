"""A masked store leaves alone what the mask does not choose, on every target: elements named twice, and those of other instances."""

from __future__ import annotations

import functools

import emulated
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_programs import natives
from triton_programs import F32, I32, S

from tilewright import pallas as pl
from tilewright.pallas import targets
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plt
from tilewright.target import cpu, nvgpu
from tilewright.target.llvm.prepared import prepared

EVERYWHERE = {"cpu": False, "portable": True, "simulator": pltpu.InterpretParams(), "gpu": False}


@pytest.fixture(params=EVERYWHERE)
def call(request, monkeypatch):
  """`pl.pallas_call` on a target."""
  if request.param == "gpu":
    monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)
  return functools.partial(pl.pallas_call, interpret=EVERYWHERE[request.param])


def test_an_element_that_is_named_twice_has_what_the_mask_chose(call):
  """As where indices are cut off at the end of an array; with a slice beside them, and with one between them."""

  def kernel(x_ref, line_ref, rows_ref, columns_ref):
    i = jnp.arange(8)
    last, chosen = jnp.minimum(i, 5), i < 6
    rows_ref[...], columns_ref[...] = jnp.zeros((6, 9), F32), jnp.zeros((3, 4, 6), F32)
    plt.store(line_ref.at[last], x_ref[:, 0], mask=chosen)
    some = lambda n: chosen[:, None] & (jnp.arange(n) < 3)[None]
    plt.store(rows_ref.at[last, pl.ds(2, 6)], x_ref[:, :6], mask=some(6))
    plt.store(columns_ref.at[i % 3, :, last], x_ref[:, :4], mask=some(4))

  x = np.arange(64, dtype=np.float32).reshape(8, 8)
  line, rows, columns = call(kernel, [S((6,), F32), S((6, 9), F32), S((3, 4, 6), F32)])(x)
  np.testing.assert_array_equal(line, x[:6, 0])
  wanted_rows, wanted_columns = np.zeros((6, 9)), np.zeros((3, 4, 6))
  wanted_rows[:, 2:5] = x[:6, :3]
  for i in range(6):
    wanted_columns[i % 3, :3, i] = x[i, :3]
  np.testing.assert_array_equal(rows, wanted_rows)
  np.testing.assert_array_equal(columns, wanted_columns)


@pytest.mark.parametrize("size", [60, 92], ids=["over the end", "inside"])
def test_blocks_that_overlap_write_what_is_their_own(call, size):
  def kernel(x_ref, o_ref):
    value = x_ref[...] + pl.program_id(0)
    plt.store(o_ref.at[pl.ds(20 * pl.program_id(0), 52)], value, mask=jnp.arange(52) < 20)

  x = np.zeros(52, np.int32)
  got = call(kernel, S((size,), I32), grid=(3,), compiler_params=plt.CompilerParams())(x)
  np.testing.assert_array_equal(got[:60], np.arange(3).repeat(20))


@pytest.mark.parametrize("shape", [(256,), (8, 32)], ids=["as it is", "reshaped"])
def test_what_the_mask_leaves_out_is_not_read_on_a_gpu(shape):
  def kernel(x_ref, o_ref):
    x = x_ref[...].reshape(shape)
    plt.store(o_ref if shape == (256,) else o_ref.reshape(shape), x, mask=x > 0)

  ((_, native),) = natives(pl.pallas_call(kernel, S((256,), F32), compiler_params=plt.CompilerParams()), S((256,), F32))
  text = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert text.count("ld.global") == 1 and "st.global" in text


def product_of_some(x_ref, _, o_ref):
  product = jnp.dot(x_ref[...], x_ref[...])
  plt.store(o_ref, 2 * product, mask=jax.lax.broadcasted_iota(I32, (16, 16), 1) % 3 == 1)


def test_a_product_is_stored_where_the_mask_holds(call):
  x, old = np.arange(256, dtype=np.float32).reshape(16, 16) % 5, np.full((16, 16), 7, np.float32)
  got = call(product_of_some, S((16, 16), F32), input_output_aliases={1: 0})(x, old)
  np.testing.assert_array_equal(got, np.where(np.arange(16) % 3 == 1, 2 * (x @ x), old))


def test_what_the_mask_leaves_out_of_a_product_is_not_written_back_on_the_cpu():
  program = pl.pallas_call(product_of_some, S((16, 16), F32), input_output_aliases={1: 0})
  ((_, native),) = natives(program, S((16, 16), F32), S((16, 16), F32))
  assert "masked.store" in cpu.to_llvm(prepared(native), cpu.host())


def test_a_condition_may_ask_for_a_lock(call):
  """A condition that writes is found once ahead of each step."""

  def kernel(_, o_ref, asked_ref):
    asked_ref[0] = 0

    def is_taken(_):
      asked_ref[0] += 1
      return plt.atomic_cas(o_ref.at[0], 0, 1) == 1

    def release_stage(n):
      plt.atomic_xchg(o_ref, (0,), jnp.where(n < 2, 1, 0))
      return n + 1

    o_ref[1] = jax.lax.while_loop(is_taken, release_stage, 0)

  got, asked = call(kernel, [S((2,), I32), S((1,), I32)], input_output_aliases={0: 0})(jnp.array([1, 0], I32))
  np.testing.assert_array_equal(got, [1, 3])
  assert asked[0] == 4
