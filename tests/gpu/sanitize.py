"""compute-sanitizer over a representative set of native kernels, with exact answers: `python tests/gpu/sanitize.py`.

Needs an NVIDIA GPU and CUDA's `compute-sanitizer`. Each tool looks at every case, in several processes at a time; the table at the end
gives, for each tool and case, how many errors were found in it. Arguments choose: `python tests/gpu/sanitize.py memcheck racecheck`, and
`--only matmul` the cases whose names have that in them. `python tests/gpu/sanitize.py run softmax matmul` runs cases without any tool, on
whatever device there is.

Every buffer is an allocation of its own (XLA's "platform" allocator), so that what lies beside it is out of bounds. Only our kernels are
looked at, but for `initcheck`, which has to see who writes what they read. What the copy engine writes it does not see: that the host reads
results that came by TMA stores (`matmul_in_bf16`) is a "Host API memory access error" for it, and is not counted.

`racecheck` relates two threads that write a place only directly. In `mxfp8_by_mxfp8` two warpgroups write the three stages of an operand in
turn: the second one waits for those who read what the first one wrote, and they have waited for the first. Of such a chain of barriers the
tool knows nothing, and reports the writes of both to one stage (`STS.128`), sometimes so late that they are counted with the case after it.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

import contractions
import stepwise
import triton_programs
import warpgroup_programs
from gpu_programs import S, double_buffered, in_one_block

from tilewright import numerics, ops
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu import streams, symbols

BF16, F32, I32 = ml_dtypes.bfloat16, np.float32, np.int32
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
Answer = tuple[Any, Any, float]  # what was computed, what is right, and how far apart they may be
CASES: dict[str, Callable[[], Answer]] = {}


def case(f: Callable[[], Answer]) -> Callable[[], Answer]:
  CASES[f.__name__] = f
  return f


def numbers(*shape: int, dtype: Any = BF16, seed: int = 0) -> np.ndarray:
  """Integers from -4 to 4."""
  return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def normal(*shape: int, dtype: Any = BF16, seed: int = 0) -> np.ndarray:
  return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def exact(x: Any) -> np.ndarray:
  return np.asarray(x).astype(np.float64)


def softmax_of(x: np.ndarray) -> np.ndarray:
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)


# --- rows ----------------------------------------------------------------------------------------------------------


@case
def softmax() -> Answer:
  x = normal(96, 320)
  return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-8


@case
def softmax_over_an_edge() -> Answer:
  x = normal(33, 1001, dtype=F32)
  return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-20


@case
def layer_norm_and_its_derivative() -> Answer:
  x, w, b = normal(64, 1024, dtype=F32), normal(1024, dtype=F32, seed=1), normal(1024, dtype=F32, seed=2)
  got, back = jax.jit(lambda *a: jax.vjp(ops.layer_norm, *a))(x, w, b)
  y, z = exact(x), exact(x)
  z = (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-6)
  dx, dw, db = jax.jit(back)(np.ones_like(x))
  assert np.isfinite(exact(dx)).all() and y.shape == dx.shape
  np.testing.assert_allclose(dw, z.sum(0), atol=1e-3)
  np.testing.assert_allclose(db, 64.0)
  return got, z * exact(w) + exact(b), 1e-3


@case
def rows_that_pass_by() -> Answer:
  """As of arrays larger than the cache: blocks are asked for ahead of time, and lines are given back."""
  x = normal(512, 2048)
  with mock.patch.multiple(streams, _LARGE=1 << 20, _LAST=1 << 19, _AHEAD=1 << 30):
    return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-8


@case
def cross_entropy_and_its_derivative() -> Answer:
  x, labels = normal(40, 3000, dtype=F32), np.random.default_rng(0).integers(0, 3000, 40).astype(I32)
  got, slope = jax.jit(
    lambda x: (ops.cross_entropy(x, labels), jax.grad(lambda x: ops.cross_entropy(x, labels).sum())(x))
  )(x)
  wanted = softmax_of(exact(x)) - np.eye(3000)[labels]
  np.testing.assert_allclose(slope, wanted, atol=1e-5)
  return got, -np.log(softmax_of(exact(x))[np.arange(40), labels]), 1e-4


@case
def scans_and_selections() -> Answer:
  x = numbers(64, 300, dtype=F32)
  np.testing.assert_array_equal(jax.jit(lambda x: ops.top_k(x, 4)[0])(x), -np.sort(-x, 1)[:, :4])
  return jax.jit(ops.cumsum)(x), np.cumsum(x, 1), 0


@case
def rows_of_a_table() -> Answer:
  table, ids = normal(100, 264), np.random.default_rng(0).integers(0, 100, 40).astype(I32)
  return jax.jit(ops.embedding)(table, ids), exact(table)[ids], 0


@case
def turned_blocks() -> Answer:
  x = numbers(96, 200)

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...].T

  specs = pl.BlockSpec((32, 64), lambda i, j: (i, j)), pl.BlockSpec((64, 32), lambda i, j: (j, i))
  call = pl.pallas_call(kernel, S((200, 96), BF16), grid=(3, 4), in_specs=[specs[0]], out_specs=specs[1])
  return jax.jit(call)(x), exact(x).T, 0


# --- products ------------------------------------------------------------------------------------------------------


def product(orientation: str, shape: tuple[int, int, int], blocks: tuple[int, int, int], **options: Any) -> Answer:
  m, n, k = shape
  a, b = numbers(m, k), numbers(k, n, seed=1)
  given = [np.ascontiguousarray(x.T) if c == "t" else x for x, c in zip((a, b), orientation)]
  got = jax.jit(contractions.contraction(orientation, blocks, dtype=F32, **options))(*given)
  return got, exact(a) @ exact(b), 0


@case
def matmul_along_the_grid() -> Answer:
  return product("nn", (256, 256, 448), (128, 128, 64))


@case
def matmul_over_edges() -> Answer:
  return product("nt", (200, 136, 256), (128, 128, 64))


@case
def matmul_in_bf16() -> Answer:
  a, b = normal(256, 256), normal(256, 256, seed=1)
  return jax.jit(ops.matmul)(a, b), exact(a) @ exact(b), 0.5


@case
def matmul_in_f32() -> Answer:
  a, b = numbers(70, 100, dtype=F32), numbers(100, 90, dtype=F32, seed=1)
  return jax.jit(ops.matmul)(a, b), exact(a) @ exact(b), 0


@case
def matmul_by_warps() -> Answer:
  """The code for sm_80: `mma.sync` on operands that `cp.async` brings."""
  with mock.patch.object(architectures, "for_devices", lambda *_: (0, architectures.named("sm_80"))):
    return product("nn", (128, 128, 320), (64, 64, 32))


@case
def matmul_in_clusters() -> Answer:
  params = nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), cluster=(2, 2, 1))
  return product("nn", (256, 256, 448), (128, 128, 64), params=params)


@case
def matmul_of_converted_operands() -> Answer:
  """The left operand of the warpgroups' products comes from registers."""
  a, b = numbers(128, 256, dtype=F32), numbers(256, 128, seed=1)
  call = contractions.contraction("nn", (128, 128, 64), dtype=F32, prologues=(lambda x: x.astype(jnp.bfloat16), None))
  return jax.jit(call)(a, b), exact(a) @ exact(b), 0


@case
def product_of_registers() -> Answer:
  a, b = numbers(64, 96), numbers(96, 64, seed=1)
  call = in_one_block(lambda a, b: [warpgroup_programs.dot(a * 2, b)], S((64, 64), F32))
  return jax.jit(call)(a, b)[0], 2 * exact(a) @ exact(b), 0


@case
def products_of_a_loop() -> Answer:
  a, b = numbers(64, 80), numbers(64, 80, seed=1)
  got = jax.jit(lambda a, b: warpgroup_programs.summed(a, b, lambda i: 4 * i + 1))(a, b)
  return got, np.stack([exact(a)[:, :n] @ exact(b)[:, :n].T for n in (16, 80)]), 0


@case
def groups_of_rows() -> Answer:
  sizes = np.asarray([100, 0, 37, 55], I32)
  x, w = numbers(192, 128), numbers(4, 128, 136, seed=1)
  group = np.repeat(np.arange(4), sizes)
  got, slope = jax.jit(
    lambda x, w: (
      ops.grouped_matmul(x, w, sizes),
      jax.grad(lambda w: ops.grouped_matmul(x, w, sizes).astype(F32).sum())(w),
    )
  )(x, w)
  assert np.isfinite(exact(slope)).all()
  return got, np.einsum("rk,rkn->rn", exact(x), exact(w)[group]), 2.0


# --- attention -----------------------------------------------------------------------------------------------------


@case
def attention_and_its_derivative() -> Answer:
  q, k, v = (normal(2, 160, 64, seed=i) for i in range(3))

  def f(q, k, v):
    return ops.attention(q, k, v, causal=True)

  got, slopes = jax.jit(lambda *a: (f(*a), jax.grad(lambda *a: f(*a).astype(F32).sum(), (0, 1, 2))(*a)))(q, k, v)
  s = np.where(np.tri(160, dtype=bool), np.einsum("hqd,hkd->hqk", exact(q), exact(k)) / 8, -np.inf)
  p = softmax_of(s)
  np.testing.assert_allclose(exact(slopes[2]), p.sum(1)[..., None] + np.zeros(64), atol=0.25)
  assert all(np.isfinite(exact(x)).all() for x in slopes)
  return got, p @ exact(v), 0.05


@case
def attention_along_the_grid() -> Answer:
  q, k, v = (normal(rows, 64, seed=i) for i, rows in enumerate((64, 256, 256)))
  p = softmax_of(exact(q) @ exact(k).T / 8)
  return jax.jit(warpgroup_programs.stepwise_attention)(q, k, v), p @ exact(v), 0.05


# --- scaled products -----------------------------------------------------------------------------------------------


def scaled(recipe: str, rows: int, both: bool) -> Answer:
  a, b = normal(rows, 256), normal(256, 256, seed=1)
  quantise = jax.jit(lambda x: numerics.quantize(x, recipe))
  left, right = quantise(a) if both else a, quantise(b)
  got = jax.jit(lambda a, b: numerics.scaled_dot(a, b, (((1,), (1,)), ((), ()))))(left, right)
  x, y = (exact(jax.jit(numerics.dequantize)(z)) if isinstance(z, numerics.QArray) else exact(z) for z in (left, right))
  return got, x @ y.T, 1e-2


for _recipe in ("mxfp8", "nvfp4"):
  CASES[f"{_recipe}_by_{_recipe}"] = lambda r=_recipe: scaled(r, 128, both=True)
  CASES[f"{_recipe}_weights"] = lambda r=_recipe: scaled(r, 8, both=False)
  CASES[f"{_recipe}_weights_of_many_rows"] = lambda r=_recipe: scaled(r, 128, both=False)


# --- one step after the other, and at the same time -----------------------------------------------------------------


@case
def steps_that_add_up() -> Answer:
  x = numbers(96, 200, dtype=F32)
  return jax.jit(stepwise.column_sums)(x), exact(x).sum(0, keepdims=True), 0


@case
def steps_that_carry() -> Answer:
  x = normal(13, 1000, dtype=F32)
  return jax.jit(stepwise.log_sum_exp)(x), np.log(np.exp(exact(x)).sum(1, keepdims=True)), 1e-4


@case
def counts_together() -> Answer:
  x = np.random.default_rng(0).integers(0, 10, 4096).astype(I32)
  return jax.jit(lambda x: triton_programs.histogram(x, 10, 256))(x), np.bincount(x, minlength=10), 0


@case
def atomic_operations() -> Answer:
  for dtype in (I32, np.int8, F32, BF16):
    old, values = (np.random.default_rng(i).integers(0, 100, 300).astype(dtype) for i in range(2))
    for name, (operation, wanted) in triton_programs.OPERATIONS.items():
      if np.dtype(dtype).kind == "i" or name in triton_programs.OF_FLOATS:
        got = jax.jit(lambda a, b, f=operation: triton_programs.changed(f, a, b))(old, values)[0]
        np.testing.assert_array_equal(exact(got), exact(wanted(old, values)))
  return 0, 0, 0


@case
def one_at_a_time() -> Answer:
  return jax.jit(lambda: triton_programs.counted_under_a_lock(40))(), 40, 0


@case
def a_vector_across_warps() -> Answer:
  """Reductions along each dimension, sums of scans, and an argmax, each of which needs all threads."""
  x = numbers(48, 256, dtype=F32)

  def kernel(x_ref, r_ref, c_ref, s_ref):
    x = x_ref[...]
    r_ref[...], c_ref[...] = x.sum(0), x.max(1) + jnp.argmax(x, 1)
    s_ref[...] = jnp.cumsum(x, 1) + x.sum()

  shapes = (S((256,), F32), S((48,), F32), S((48, 256), F32))
  rows, columns, sums = jax.jit(pl.pallas_call(kernel, shapes))(x)
  np.testing.assert_array_equal(rows, x.sum(0))
  np.testing.assert_array_equal(columns, x.max(1) + x.argmax(1))
  return sums, np.cumsum(x, 1) + x.sum(), 0


@case
def sorted_and_scattered() -> Answer:
  x, ids = numbers(8, 300, dtype=F32), np.random.default_rng(0).integers(0, 50, 200).astype(I32)
  rows = numbers(200, 64, dtype=F32)
  wanted = np.zeros((50, 64))
  np.add.at(wanted, ids, rows)

  def body(x, ids, rows):
    return jnp.sort(x, axis=-1), jnp.zeros((50, 64), F32).at[ids].add(rows)

  first, second = jax.jit(in_one_block(body, S(x.shape, F32), S((50, 64), F32)))(x, ids, rows)
  np.testing.assert_array_equal(first, np.sort(x, -1))
  return second, wanted, 0


@case
def copies_and_semaphores() -> Answer:
  x = numbers(4, 8, 128, dtype=F32)

  def kernel(x_ref, o_ref, buffer, arrived, ready):
    double_buffered(x_ref, o_ref, buffer, arrived)
    for i in range(4):
      pl.semaphore_signal(ready, i + 1)
      pl.semaphore_wait(ready, i + 1)

  call = pl.pallas_call(
    kernel,
    S(x.shape, F32),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    scratch_shapes=[pltpu.VMEM((2, 8, 128), F32), pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.REGULAR],
  )
  return jax.jit(call)(x), 2 * x, 0


@case
def random_numbers() -> Answer:
  key = np.asarray([1, 2], np.uint32)
  call = in_one_block(lambda k: [jax.random.bits(jax.random.wrap_key_data(k), (8, 128))], S((8, 128), np.uint32))
  return jax.jit(call)(key)[0], jax.jit(lambda k: jax.random.bits(jax.random.wrap_key_data(k), (8, 128)))(key), 0


# --- hints ---------------------------------------------------------------------------------------------------------


@case
def transforms_of_shared_memory() -> Answer:
  x = numbers(64, 64)

  def kernel(x_ref, o_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...].T + scratch[8:24, 0:32].sum()

  own = plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)
  call = pl.pallas_call(kernel, S((64, 64), BF16), scratch_shapes=[plgpu.SMEM((64, 64), BF16, transforms=own)])
  return jax.jit(call)(x), exact(x).T + exact(x)[8:24, :32].sum(), 1.0


@case
def layouts_by_name() -> Answer:
  x = numbers(128, 64, dtype=F32)

  def kernel(x_ref, o_ref):
    x = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)
    y = plgpu.layout_cast(x + 1, plgpu.Layout.TCGEN05_TMEM_NATIVE)
    z = plgpu.layout_cast(y * 2, plgpu.Layout.MMA_ACC)
    o_ref[...] = plgpu.layout_cast(z, plgpu.Layout.WG_STRIDED((128, 64), vec_size=4))

  return jax.jit(pl.pallas_call(kernel, S(x.shape, F32)))(x), 2 * x + 2, 0


@case
def an_accumulator() -> Answer:
  a, b = numbers(64, 128), numbers(128, 64, seed=1)

  def kernel(a_ref, b_ref, o_ref, total):
    total[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)
    total[...] = jnp.maximum(total[...], 0)
    o_ref[...] = total[...]

  call = pl.pallas_call(kernel, S((64, 64), F32), scratch_shapes=[plgpu.ACC((64, 64), F32)])
  return jax.jit(call)(a, b), np.maximum(exact(a) @ exact(b), 0), 0


# --- running them --------------------------------------------------------------------------------------------------

_BEGIN = "--- case "
_LAG = 1.0  # seconds after which the tool, which is another process, has said what it found


def run(names: list[str]) -> None:
  wrong = False
  for name in names:
    print(f"{_BEGIN}{name}", flush=True)
    try:
      got, wanted, tolerance = CASES[name]()
      np.testing.assert_allclose(exact(got), exact(wanted), rtol=0, atol=tolerance)
      said = "right"
    except Exception as e:
      wrong, said = True, f"WRONG {type(e).__name__}: {e}"
    time.sleep(_LAG)
    print(said, flush=True)
  sys.exit(wrong)


# The first line of a report, by what each tool finds; others say more about it.
_REPORT = re.compile(
  r"^========= (?:Error: |Warning: )?((?:Invalid|Misaligned|Out-of|Race|Potential|Barrier|Divergent|Uninitialized|Program hit).*)",
  re.MULTILINE,
)
_SUMMARY = re.compile(r"^========= (?:ERROR|RACECHECK) SUMMARY", re.MULTILINE)


def told(output: str) -> Iterator[tuple[str, int, str]]:
  """Each case with the number of errors that a tool saw while it ran, and the first of them or what went wrong."""
  for part in output.split(_BEGIN)[1:]:
    name, _, text = part.partition("\n")
    text = _SUMMARY.split(text)[0]
    seen = _REPORT.findall(text)
    wrong = re.findall(r"^WRONG .*", text, re.MULTILINE) or seen
    yield name, len(seen), wrong[0] if wrong else "" if re.search(r"^right$", text, re.MULTILINE) else "ended early"


def sanitise(tool: str, names: list[str], log: pathlib.Path, timeout: float) -> list[tuple[str, str, int, str]]:
  options = ["--kernel-name", f"kne={symbols.KERNEL}"] if tool != "initcheck" else []
  options += ["--target-processes", "application-only", "--report-api-errors", "no", "--print-limit", "1000"]
  command = ["compute-sanitizer", "--tool", tool, *options, sys.executable, __file__, "run", *names]
  with log.open("w") as file:
    try:
      subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
      file.write("ran out of time\n")
  found = {name: (count, said) for name, count, said in told(log.read_text())}
  return [(tool, name, *found.get(name, (0, "did not begin"))) for name in names]


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("words", nargs="*", help="tools, or `run` and cases")
  parser.add_argument("--only", default="", help="of the cases, those that have this in their names")
  parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
  parser.add_argument("--timeout", type=float, default=300.0, help="of each process, in seconds")
  parser.add_argument("--logs", type=pathlib.Path, default=None)
  options = parser.parse_args()
  if options.words[:1] == ["run"]:
    run(options.words[1:] or list(CASES))
  tools = options.words or list(TOOLS)
  names = [name for name in CASES if options.only in name]
  logs = options.logs or pathlib.Path(tempfile.mkdtemp())
  logs.mkdir(parents=True, exist_ok=True)
  os.environ.update(
    XLA_PYTHON_CLIENT_ALLOCATOR="platform",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    XLA_FLAGS="--xla_gpu_autotune_level=0",  # which compares buffers that nothing was written to
    TILEWRIGHT_CACHE_DIR=str(logs / "cache"),
  )
  parts = max(1, options.jobs // len(tools))
  began = time.monotonic()
  with ThreadPoolExecutor(options.jobs) as pool:
    work = [
      pool.submit(sanitise, tool, names[n::parts], logs / f"{tool}-{n}.txt", options.timeout)
      for tool in tools
      for n in range(parts)
      if names[n::parts]
    ]
    rows = sorted((row for w in work for row in w.result()), key=lambda r: (tools.index(r[0]), names.index(r[1])))
  bad = [r for r in rows if r[2] or r[3]]
  for tool in tools:
    own = [r for r in rows if r[0] == tool]
    print(f"{tool}: {len(own)} cases, {sum(r[2] for r in own)} errors, {sum(bool(r[3]) for r in own)} not right")
  for tool, name, count, said in bad:
    print(f"{tool:10} {name:36} {count:5}  {said[:150]}")
  print(f"{time.monotonic() - began:.0f} s; what the tools said is in {logs}")
  sys.exit(bool(bad))


if __name__ == "__main__":
  main()
