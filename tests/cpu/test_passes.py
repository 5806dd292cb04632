"""Which tiles get a buffer on the CPU: long elementwise bodies are one pass, and sharing what they compute never changes numbers."""

from __future__ import annotations

import random
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.cpu import processors
from tests.cpu.native import agrees
from tests.support.native_kernels import native_kernel
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import jit, progress
from tilewright.target import cpu

S = jax.ShapeDtypeStruct
U32 = jnp.uint32


def mix(x, rounds):
  a, b = x, x ^ 7
  for i in range(rounds):
    a, b = (a * 3 + b) ^ (b >> 5), (b * 5 - a) ^ (a << 3) + i
  return a, b


def loops_of(kernel, outs, *args):
  return cpu.to_llvm(native_kernel(kernel, outs, *args), cpu.host()).count("\nbody")


def test_a_body_with_values_used_again_and_again_is_one_pass():
  def one(x_ref, o_ref):
    o_ref[...] = mix(x_ref[...], 20)[0]

  def two(x_ref, o_ref, p_ref):
    o_ref[...], p_ref[...] = mix(x_ref[...], 20)

  x = jnp.arange(8 * 128, dtype=U32).reshape(8, 128)
  once = loops_of(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] + 1), S(x.shape, U32), x)
  assert loops_of(one, S(x.shape, U32), x) == once
  # Both results need nearly everything: one pass keeps what they share, then each is stored.
  assert loops_of(two, [S(x.shape, U32)] * 2, x) <= 3 * once
  agrees(one, S(x.shape, U32), x)
  agrees(two, [S(x.shape, U32)] * 2, x)


def test_a_chain_of_thousands_of_ops_compiles_without_deep_recursion():
  def kernel(x_ref, o_ref):
    x = x_ref[...]
    for i in range(700):
      x = (x ^ i) + x
    o_ref[...] = x

  agrees(kernel, S((4, 16), U32), jnp.arange(64, dtype=U32).reshape(4, 16))


def program(seed):
  """A body of random elementwise ops, broadcasts, reductions and stores over integers, in which values are used again and again."""

  def kernel(x_ref, y_ref, o_ref, p_ref, q_ref):
    draw = random.Random(seed)
    values = [x_ref[...], y_ref[...]]
    for _ in range(draw.randint(5, 60)):
      a, b = draw.choices(values[-6:], k=2)
      match draw.randrange(12):
        case 0:
          new = a + jnp.sum(b, axis=0, keepdims=True)
        case 1:
          new = a ^ jnp.max(b, axis=1, keepdims=True)
        case 2:
          new = a + b[:1] * 3
        case 3:
          new = b - jnp.roll(a, 1, axis=1)
        case 4:
          ref = draw.choice([o_ref, p_ref])
          ref[...] = a
          new = ref[...] + b
        case 5:
          p_ref[:, :8] = a[:, :8] + b[:, 8:16]
          new = a
        case 6:
          new = jnp.where(a > b, a, b + 1)
        case _:
          new = draw.choice([a + b, a * b, a ^ b, a - b, (a >> 3) | b])
      values.append(new)
    o_ref[...] = draw.choice(values[-4:]) + o_ref[...] * 0
    p_ref[...] = draw.choice(values[-4:]) * 2
    q_ref[...] = draw.choice(values[-8:]) + x_ref[...]

  return kernel


@pytest.mark.parametrize("seed", range(6))
def test_programs_in_which_values_are_shared_give_the_same_numbers(seed):
  x = np.random.default_rng(seed).integers(0, 1000, (2, 6, 20)).astype(np.int32)
  aliases = {0: 1} if seed % 2 else {}
  agrees(program(seed), [S((6, 20), jnp.int32)] * 3, x[0], x[1], input_output_aliases=aliases)


def test_long_functions_are_compiled_without_passes_of_quadratic_time(monkeypatch):
  ran = []
  monkeypatch.setattr(jit, "optimise", lambda *args: ran.append(args))
  monkeypatch.setattr(jit, "LONG", 100)
  text = cpu.to_llvm(
    native_kernel(program(3), [S((6, 20), jnp.int32)] * 3, *[np.zeros((6, 20), np.int32)] * 2), cpu.host()
  )
  assert jit.object_code(text) and not ran


def test_work_that_takes_long_says_so(monkeypatch, capsys):
  monkeypatch.setattr(progress, "PATIENCE", 0.01)
  with progress.announced("compiling the kernel 'f' for the CPU"):
    time.sleep(0.1)
  said = capsys.readouterr().err.splitlines()
  assert said and all(line.startswith("tilewright: compiling the kernel 'f' for the CPU (") for line in said)
  with progress.announced("something short"):
    pass
  assert capsys.readouterr().err == ""


def test_a_kernel_is_named_while_it_compiles(monkeypatch, capsys, tmp_path, request):
  if request.config.getoption("--platform") in processors.ARM:
    pytest.skip("compiled for qemu by the tests, which announce nothing")
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))  # nothing is on disk
  monkeypatch.setattr(progress, "PATIENCE", 1e-4)

  def slow_to_compile(x_ref, o_ref):
    o_ref[...] = mix(x_ref[...], 31)[1]

  pl.pallas_call(slow_to_compile, S((4, 8), U32))(jnp.zeros((4, 8), U32))
  assert "compiling the kernel 'slow_to_compile'" in capsys.readouterr().err


def test_dense_tiles_are_copied_as_a_whole():
  """A tile of 2 KiB and more that is loaded and stored as it lies is one copy; smaller ones, parts of rows and sums are not."""

  def copies(kernel, shape=(8, 128)):
    return cpu.to_llvm(native_kernel(kernel, S(shape, jnp.float32), jnp.zeros(shape, jnp.float32)), cpu.host()).count(
      'call void @"llvm.memmove'
    )

  def whole(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  def columns(x_ref, o_ref):
    o_ref[:, :64] = x_ref[:, :64]
    o_ref[:, 64:] = x_ref[:, 64:]

  def plus_one(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1

  assert copies(whole) == 1
  assert copies(whole, (2, 64)) == copies(columns) == copies(plus_one) == 0


def test_a_copied_tile_is_the_one_that_was_loaded():
  """What is loaded before its memory is overwritten is kept, not copied from there later."""

  def kernel(x_ref, o_ref, s_ref):
    s_ref[...] = x_ref[...]
    old = s_ref[...]
    s_ref[...] = old * 2
    o_ref[0] = old
    o_ref[1] = s_ref[...]

  x = jnp.arange(1024, dtype=jnp.float32).reshape(8, 128)
  out = pl.pallas_call(kernel, S((2, 8, 128), jnp.float32), scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)])(x)
  np.testing.assert_array_equal(out, np.stack([x, x * 2]))
