"""Kernels run as code for processors that are not this one: older x86, and AArch64 under qemu. Each is checked against float64 or NumPy.

A program of a kernel takes about a second to compile and run, so each kernel computes several results.
"""

from __future__ import annotations

import re
import struct

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu import aarch64_machine, processors
from tests.support.native_kernels import native_kernel
from tilewright import pallas as pl
from tilewright.pallas import cpu as cpu_names
from tilewright.runtime import code_memory, elf, jit
from tilewright.target import cpu
from tilewright.target.cpu import hosts

S = jax.ShapeDtypeStruct


@pytest.fixture(params=[name for name in processors.NAMES if name != "avx512"])
def processor(request):
  with processors.pretend(request.param):
    yield request.param


@pytest.fixture(params=["sse", "avx2", "neon", "sve256", "sve512"])
def vectors(request):
  """One processor of each length of vectors: what others have besides is for products."""
  with processors.pretend(request.param):
    yield request.param


def native(kernel, out, *args, **options):
  call = pl.pallas_call(kernel, out, compiler_params=cpu_names.CompilerParams(), **options)
  return [np.asarray(x, np.float64) if x.dtype != bool else np.asarray(x) for x in jax.tree.leaves(call(*args))]


def normal(shape, seed=0, scale=1.0):
  return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def integers(shape, dtype, seed=0):
  """Values whose products and sums are exact in any order."""
  return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


EPS = float(np.finfo(np.float32).eps)


@pytest.mark.parametrize("m, n, k", [(5, 7, 3), (33, 50, 70)])
def test_products(processor, m, n, k):
  """Every dtype, with the right operand transposed or not, and an epilogue."""
  kinds = ((np.float32, np.float32), (jnp.bfloat16, np.float32), (np.int8, np.int32), (np.float16, np.float32))
  args = [integers(shape, d, i) for i, (d, _) in enumerate(kinds) for shape in ((m, k), (k, n), (n, k))]

  def kernel(*refs):
    ins, outs = refs[: len(args)], refs[len(args) :]
    for i, (_, acc) in enumerate(kinds):
      a, b, c = (r[...] for r in ins[3 * i : 3 * i + 3])
      outs[2 * i][...] = lax.dot(a, b, preferred_element_type=acc)
      outs[2 * i + 1][...] = lax.dot(a, c.T, preferred_element_type=acc) * 2 + 1

  out = [S((m, n), acc) for _, acc in kinds for _ in range(2)]
  found = native(kernel, out, *args)
  for i in range(len(kinds)):
    a, b, c = (np.asarray(x, np.float64) for x in args[3 * i : 3 * i + 3])
    np.testing.assert_array_equal(found[2 * i], a @ b)
    np.testing.assert_array_equal(found[2 * i + 1], a @ c.T * 2 + 1)


def test_sums_of_real_numbers(processor):
  """What rounding there is stays within the bound of a sum of K products."""
  m, n, k = 19, 37, 131
  a, b = normal((m, k)), normal((k, n), 1)

  def kernel(a_ref, b_ref, o_ref, p_ref):
    o_ref[...] = a_ref[...] @ b_ref[...]
    half = (a_ref[...].astype(jnp.bfloat16), b_ref[...].astype(jnp.bfloat16))
    p_ref[...] = lax.dot(*half, preferred_element_type=jnp.float32)

  found, halves = native(kernel, [S((m, n), np.float32)] * 2, a, b)
  bound = k * EPS * (np.abs(a).astype(np.float64) @ np.abs(b))
  assert (np.abs(found - a.astype(np.float64) @ b) <= bound).all()
  low = [np.asarray(jnp.asarray(x, jnp.bfloat16), np.float64) for x in (a, b)]
  # bfdot and bfmmla round to odd within a step: one more unit for each.
  assert (np.abs(halves - low[0] @ low[1]) <= 2 * bound).all()


def test_rows(vectors):
  """Softmax, layer norm, sums, extremes, where they stand, and running sums, over rows of odd length."""
  rows, columns = 7, 45
  x = normal((rows, columns), scale=3.0)

  def kernel(x_ref, soft_ref, norm_ref, sum_ref, max_ref, arg_ref, running_ref):
    x = x_ref[...]
    e = jnp.exp(x - x.max(axis=1, keepdims=True))
    soft_ref[...] = e / e.sum(axis=1, keepdims=True)
    mean = x.mean(axis=1, keepdims=True)
    norm_ref[...] = (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + 1e-5)
    sum_ref[...] = x.sum(axis=0)
    max_ref[...] = x.max(axis=1)
    arg_ref[...] = jnp.argmin(x, axis=1)
    running_ref[...] = jnp.cumsum(x, axis=1)

  full, row = S(x.shape, np.float32), S((rows,), np.float32)
  out = [full, full, S((columns,), np.float32), row, S((rows,), np.int32), full]
  soft, norm, total, most, least, running = native(kernel, out, x)
  exact = x.astype(np.float64)
  e = np.exp(exact - exact.max(1, keepdims=True))
  np.testing.assert_allclose(soft, e / e.sum(1, keepdims=True), rtol=(columns + 8) * EPS)
  centred = exact - exact.mean(1, keepdims=True)
  expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
  np.testing.assert_allclose(norm, expected, rtol=columns * EPS, atol=columns * EPS)
  np.testing.assert_allclose(total, exact.sum(0), atol=rows * EPS * np.abs(exact).sum(0).max())
  np.testing.assert_array_equal(most, x.max(1))
  np.testing.assert_array_equal(least, x.argmin(1))
  np.testing.assert_allclose(running, exact.cumsum(1), atol=columns * EPS * np.abs(exact).sum(1).max())


def test_functions(vectors):
  """Transcendental functions, within a few units in the last place; and special values."""
  x = np.concatenate([normal(61, scale=4.0), np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 88.8, -103.0])])
  functions = (
    *((jnp.exp, np.exp), (jnp.sin, np.sin), (jnp.cos, np.cos), (jnp.tanh, np.tanh), (jnp.log1p, np.log1p)),
    *((jnp.expm1, np.expm1), (lambda v: jnp.log(jnp.abs(v)), lambda v: np.log(np.abs(v))), (jnp.arctan, np.arctan)),
    *((jnp.floor, np.floor), (lambda v: jnp.sqrt(jnp.abs(v)), lambda v: np.sqrt(np.abs(v))), (jnp.sinh, np.sinh)),
  )

  def kernel(x_ref, *outs):
    for (f, _), ref in zip(functions, outs, strict=True):
      ref[...] = f(x_ref[...])

  found = native(kernel, [S(x.shape, np.float32)] * len(functions), x)
  normal_numbers = x.copy()
  normal_numbers[np.abs(x) < np.finfo(np.float32).tiny] = 0.0  # XLA takes subnormal numbers for zero, and we may
  with np.errstate(all="ignore"):
    for (_, exact), ours in zip(functions, found, strict=True):
      expected, flushed = exact(x.astype(np.float64)), exact(normal_numbers.astype(np.float64))
      same = np.isclose(ours, expected, rtol=4 * EPS, atol=2e-38, equal_nan=True)
      same |= np.isclose(ours, flushed, rtol=4 * EPS, atol=2e-38, equal_nan=True)
      same |= (
        (np.abs(expected) > np.finfo(np.float32).max) & (np.abs(ours) > 3.4e38) & (np.sign(ours) == np.sign(expected))
      )
      assert same.all(), (x[~same], ours[~same], expected[~same])


def test_gathers_sorts_and_masks(vectors):
  x, at = normal((37, 19)), np.random.default_rng(1).integers(0, 37, 23).astype(np.int32)

  def kernel(x_ref, at_ref, taken_ref, sorted_ref, chosen_ref, top_ref, mask_ref):
    x = x_ref[...]
    taken_ref[...] = jnp.take(x, at_ref[...], axis=0)
    sorted_ref[...] = jnp.sort(x, axis=0)
    chosen_ref[...] = jnp.where(x > 0.25, x, -x)
    top_ref[...] = lax.top_k(x.T, 3)[0]
    mask_ref[...] = (x > 0.25) & (x < 1.0)

  f32 = np.float32
  out = [S((23, 19), f32), S(x.shape, f32), S(x.shape, f32), S((19, 3), f32), S(x.shape, bool)]
  taken, ordered, chosen, top, mask = native(kernel, out, x, at)
  np.testing.assert_array_equal(taken, x[at])
  np.testing.assert_array_equal(ordered, np.sort(x, axis=0))
  np.testing.assert_array_equal(chosen, np.where(x > 0.25, x, -x))
  np.testing.assert_array_equal(top, np.sort(x.T, axis=1)[:, :-4:-1])
  np.testing.assert_array_equal(mask, (x > 0.25) & (x < 1.0))


def test_conversions(vectors):
  """Every pair of a float and a smaller one, to nearest even; integers of all widths."""
  x = np.concatenate([normal(53, scale=100.0), np.float32([0.5, 1.5, 2.5, -0.5, 65504.0, 65519.0, 6e-8, 3.3895e38])])
  dtypes = (jnp.float16, jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.int8, jnp.int16, jnp.uint8)
  small = np.clip(np.rint(x), 0, 100).astype(np.float32)

  def kernel(x_ref, s_ref, *outs):
    for dtype, ref in zip(dtypes, outs, strict=True):
      source = x_ref if jnp.issubdtype(dtype, jnp.floating) else s_ref
      ref[...] = source[...].astype(dtype).astype(jnp.float32)

  found = native(kernel, [S(x.shape, np.float32)] * len(dtypes), x, small)
  for dtype, ours in zip(dtypes, found, strict=True):
    source = x if jnp.issubdtype(dtype, jnp.floating) else small
    with np.errstate(all="ignore"):
      np.testing.assert_array_equal(ours, source.astype(dtype).astype(np.float64), err_msg=str(dtype))


def test_blocks_over_edges_of_arrays(vectors):
  """A parallel grid spread over three threads, whose last blocks hang over both edges; arrays end where pages do."""
  x = normal((300, 133))

  def kernel(x_ref, o_ref, s_ref):
    o_ref[...] = x_ref[...] * 2
    s_ref[...] = x_ref[...].astype(jnp.bfloat16)

  block = pl.BlockSpec((64, 50), lambda i, j: (i, j))
  doubled, half = native(
    kernel, [S(x.shape, np.float32), S(x.shape, jnp.bfloat16)], x, grid=(5, 3), in_specs=[block], out_specs=[block] * 2
  )
  np.testing.assert_array_equal(doubled, 2 * x.astype(np.float64))
  np.testing.assert_array_equal(half, x.astype(jnp.bfloat16).astype(np.float64))


@pytest.mark.skipif(aarch64_machine.QEMU is None, reason=aarch64_machine.WHY_NOT)
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_any_number_of_threads_does_all_of_the_work(threads):
  """Uneven last chunks, fewer threads than would be useful, and more than there are processors."""
  x = normal((37 * 64, 129))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + jnp.exp(-(x_ref[...] ** 2))

  block = pl.BlockSpec((64, 129), lambda i: (i, 0))
  grid = {"grid": (37,), "in_specs": [block], "out_specs": block}
  (found,) = aarch64_machine.run(
    native_kernel(kernel, S(x.shape, np.float32), x, **grid),
    [x],
    [np.zeros_like(x)],
    aarch64_machine.NEON,
    threads=threads,
  )
  exact = x.astype(np.float64)
  np.testing.assert_allclose(found, exact + np.exp(-(exact**2)), rtol=0, atol=8 * EPS * np.abs(x).max())


# --- instructions ------------------------------------------------------------------------------------------------


def _assembly(dtype, result, processor, rows=32):
  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = lax.dot(a_ref[...], b_ref[...], preferred_element_type=result)

  a, b = jnp.zeros((rows, 24), dtype), jnp.zeros((24, 96), dtype)
  text = cpu.to_llvm(native_kernel(kernel, S((rows, 96), result), a, b), processor.host)
  machine = aarch64_machine.machine(processor, 3)
  with jit.lock:
    return machine.emit_assembly(jit._optimised(text, machine))


@pytest.mark.parametrize(
  "processor, dtype, result, instruction",
  [
    (aarch64_machine.NEON, jnp.float32, jnp.float32, r"fmla\s+v\d+\.4s"),
    (aarch64_machine.DOT, jnp.int8, jnp.int32, r"sdot\s+v\d+\.4s"),
    (aarch64_machine.MATRIX, jnp.bfloat16, jnp.float32, r"bfmmla\s+v\d+\.4s"),
    (aarch64_machine.MATRIX, jnp.int8, jnp.int32, r"smmla\s+v\d+\.4s"),
    (aarch64_machine.SVE256, jnp.float32, jnp.float32, r"fm(la|ad)\s+z\d+\.s, p\d/m"),
    (aarch64_machine.SVE256, jnp.int8, jnp.int32, r"sdot\s+z\d+\.s"),
    (aarch64_machine.SVE2_512, jnp.bfloat16, jnp.float32, r"bfmmla\s+z\d+\.s"),
    (aarch64_machine.SVE2_512, jnp.int8, jnp.int32, r"smmla\s+z\d+\.s"),
  ],
)
def test_products_use_what_an_arm_processor_has_and_stay_in_registers(processor, dtype, result, instruction):
  text = _assembly(dtype, result, processor)
  loops = [part for part in re.split(r"\n\.?L\w+:", text) if len(re.findall(instruction, part)) >= 8]
  assert loops, f"no {instruction} in the code for {processor.name}"
  assert not [part for part in loops if re.search(r"Folded (Spill|Reload)", part)]


@pytest.mark.parametrize(
  "processor, instruction",
  [(aarch64_machine.MATRIX, r"bfdot\s+v\d+\.4s"), (aarch64_machine.SVE2_512, r"bfdot\s+z\d+\.s")],
)
def test_two_rows_are_no_work_for_matrix_instructions(processor, instruction):
  text = _assembly(jnp.bfloat16, jnp.float32, processor, rows=2)
  assert re.search(instruction, text) and "bfmmla" not in text


def test_linux_words_of_an_arm_processor_become_features():
  """A Neoverse V1, as /proc/cpuinfo has it; the length of its vectors decides whether SVE's are used."""
  words = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm sve asimddp i8mm bf16 dgh rng"
  found = jit._arm_features(words.split())
  assert {"neon", "dotprod", "i8mm", "bf16", "sve", "fullfp16"} <= set(found)
  assert hosts.of([*found, "sve-bits-256"]).vector_bytes == 32
  assert hosts.of([*found, "sve-bits-128"]).vscale == 0


@pytest.mark.skipif(aarch64_machine.QEMU is None, reason=aarch64_machine.WHY_NOT)
def test_caches_are_made_to_agree_about_instructions():
  """The hand-encoded function runs over a range of odd length, and comes back."""
  text = """
    declare void @clear(ptr, ptr)
    declare i64 @system_call(i64, i64, i64, i64, i64, i64, i64)
    @bytes = global [1000 x i8] zeroinitializer
    @said = global [2 x i8] c"ok"
    define void @start() {
      call void @clear(ptr @bytes, ptr getelementptr (i8, ptr @bytes, i64 777))
      %at = ptrtoint ptr @said to i64
      %n = call i64 @system_call(i64 64, i64 1, i64 %at, i64 2, i64 0, i64 0, i64 0)
      %m = call i64 @system_call(i64 94, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0)
      ret void
    }
  """
  program, machine = aarch64_machine.Program(), aarch64_machine.NEON
  for name, words in (("clear", code_memory._CLEAR), *aarch64_machine._INSTRUCTIONS.items()):
    program.define(name, struct.pack(f"<{len(words)}I", *words), is_code=True)
  program.names["missing"] = 0
  link = program.add_object(aarch64_machine.compiled(text, machine, is_launcher=True))
  link()
  assert aarch64_machine.execute(program.contents(program.names["start"]), machine) == b"ok"


def test_arm_calls_reach_any_address():
  raw = aarch64_machine.compiled(
    "define void @f() { call void @g() ret void } define void @g() { ret void }", aarch64_machine.NEON
  )
  image = elf.Image(raw)
  assert image.machine == elf.AARCH64 and {"f", "g"} <= set(image.names_at(0, 0))
  far = aarch64_machine.compiled("declare void @g() define void @f() { call void @g() ret void }", aarch64_machine.NEON)
  code, _ = elf.Image(far).bytes_at(1 << 40, 0, lambda _: 0x123456789ABCDEF0)
  assert struct.pack("<Q", 0x123456789ABCDEF0) in code  # a stub has the whole address
