"""The kernels below `jax.experimental.pallas.ops` as cases: small operands, and which of them have derivatives.

A case is run with the module it names, which is JAX's own or the same file bound to our names (`replace_pallas`). What
JAX's interpret mode gives is recorded in original_results.json, which `python tests/public/public_kernels.py record`
writes anew; `python tests/public/public_kernels.py` runs all of them on both sides, compares and times them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import json
import math
import pathlib
import re
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import tilewright
import tilewright.errors
from tilewright.pallas import targets

OPS = "jax.experimental.pallas.ops"


@dataclasses.dataclass(frozen=True)
class Case:
  """`make(module)` gives a function of the operands; `operands(random)` those. `differentiable` counts operands from the left."""

  name: str
  module: str
  make: Callable[[types.ModuleType], Callable[..., Any]]
  operands: Callable[[np.random.Generator], tuple[Any, ...]]
  differentiable: int = 0
  tolerance: float = 2e-5
  variant: bool = False  # of another case: in the tests it is run natively alone
  fails_on_gpu: str = ""  # why it does not give what the original gives
  native: bool = True  # whether it compiles to native code
  reference: Callable[..., Any] | None = None  # in float64, where JAX's own interpret mode cannot run it

  def __str__(self) -> str:
    return self.name


CASES: list[Case] = []


def case(name: str, module: str, operands: Callable[[np.random.Generator], tuple[Any, ...]], **kwargs: Any) -> Any:
  def add(make: Callable[[types.ModuleType], Callable[..., Any]]) -> Any:
    CASES.append(Case(name, f"{OPS}.{module}", make, operands, **kwargs))
    return make

  return add


def normal(*shape: int, dtype: Any = jnp.float32) -> Callable[[np.random.Generator], Any]:
  return lambda random: jnp.asarray(random.standard_normal(shape), dtype)


def each(*makers: Any) -> Callable[[np.random.Generator], tuple[Any, ...]]:
  """Operands made one after another; what is not a function is a constant."""
  return lambda random: tuple(m(random) if callable(m) else m for m in makers)


# --- TPU -------------------------------------------------------------------------------------------------------------


@case("double", "tpu.example_kernel", each(normal(8, 128)))
def _(m):
  return m.double


@case("matmul", "tpu.matmul", each(normal(16, 64), normal(64, 128)))
def _(m):
  return functools.partial(m.matmul, block_shape=(8, 128), block_k=32)


@case(
  "matmul_int8",
  "tpu.matmul",
  lambda r: tuple(jnp.asarray(r.integers(-100, 100, s), jnp.int8) for s in ((16, 64), (64, 128))),
  variant=True,
)
def _(m):
  return functools.partial(m.matmul, block_shape=(8, 128), block_k=32, out_dtype=jnp.int32)


@case("flash_attention", "tpu.flash_attention", each(*[normal(1, 2, 256, 64)] * 3), differentiable=3)
def _(m):
  return functools.partial(m.flash_attention, causal=True, sm_scale=0.125)


@case(
  "flash_attention_bias_segments",
  "tpu.flash_attention",
  each(*[normal(1, 1, 128, 64)] * 3, normal(1, 1, 128, 128), jnp.arange(128)[None] // 50),
  differentiable=4,
  variant=True,
)
def _(m):
  sizes = m.BlockSizes(64, 128, 128, 1, 64, 128, 128, 64, 128, 128, 64)
  return lambda q, k, v, ab, ids: m.flash_attention(
    q, k, v, ab, m.SegmentIds(ids, ids), sm_scale=0.2, block_sizes=sizes
  )


def splash(m: types.ModuleType, mask: Any, **kwargs: Any) -> Callable[..., Any]:
  fused = kwargs.pop("fused", False)
  sizes = m.BlockSizes(
    block_q=128,
    block_kv=128,
    block_q_dkv=128,
    block_kv_dkv=128,
    block_q_dq=None if fused else 128,
    block_kv_dq=None if fused else 128,
    use_fused_bwd_kernel=fused,
  )
  make = m.make_splash_mqa_single_device if kwargs.pop("mqa", False) else m.make_splash_mha_single_device
  return make(mask, block_sizes=sizes, **kwargs)


@case("splash_mha", "tpu.splash_attention", each(*[normal(2, 256, 128)] * 3), differentiable=3)
def _(m):
  return splash(m, m.MultiHeadMask([m.CausalMask((256, 256)), m.LocalMask((256, 256), (64, 0), 0)]))


@case(
  "splash_mha_fused_backward", "tpu.splash_attention", each(*[normal(2, 256, 128)] * 3), differentiable=3, variant=True
)
def _(m):
  return splash(m, m.MultiHeadMask([m.CausalMask((256, 256))] * 2), fused=True)


@case(
  "splash_mqa",
  "tpu.splash_attention",
  each(normal(2, 256, 128), *[normal(256, 128)] * 2, jnp.arange(256) // 100),
  differentiable=3,
  variant=True,
)
def _(m):
  mask = m.MultiHeadMask([m.FullMask((256, 256))] * 2)
  kernel = splash(m, mask, mqa=True, attn_logits_soft_cap=20.0)
  return lambda q, k, v, ids: kernel(q, k, v, segment_ids=m.SegmentIds(ids, ids))


def paged(random: np.random.Generator, *, heads: int = 8, dim: int = 128, kv_heads: int = 2) -> tuple[Any, ...]:
  pages = random.permutation(8).reshape(2, 4)
  return (
    jnp.asarray(random.standard_normal((2, heads, dim)), jnp.float32),
    *(jnp.asarray(random.standard_normal((kv_heads, 8, 16, dim)), jnp.float32) for _ in range(2)),
    jnp.asarray([37, 64], jnp.int32),
    jnp.asarray(pages, jnp.int32),
  )


@case("paged_attention", "tpu.paged_attention", paged)
def _(m):
  return functools.partial(m.paged_attention, pages_per_compute_block=2)


@case("paged_attention_soft_cap", "tpu.paged_attention", functools.partial(paged, heads=16), variant=True)
def _(m):
  return functools.partial(m.paged_attention, pages_per_compute_block=2, attn_logits_soft_cap=10.0)


@case(
  "paged_attention_outer_loop",
  "tpu.paged_attention",
  functools.partial(paged, heads=16),
  variant=True,
)
def _(m):
  return functools.partial(m.paged_attention, pages_per_compute_block=2, inline_seq_dim=False)


@case(
  "paged_attention_int8",
  "tpu.paged_attention.paged_attention_kernel",
  functools.partial(paged, heads=16),
  variant=True,
  fails_on_gpu="XLA quantises some elements of the keys and values to the next integer there",
)
def _(m):
  def call(q, k, v, lengths, pages):
    k, v = (m.quantization_utils.quantize_to_int8(x) for x in (k, v))
    return m.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=2)

  return call


def ragged(random: np.random.Generator, dtype: Any = jnp.float32) -> tuple[Any, ...]:
  return (
    jnp.asarray(random.standard_normal((24, 4, 128)), dtype),
    jnp.asarray(random.standard_normal((12, 8, 4, 128)), dtype),
    jnp.asarray([20, 9, 31, 0], jnp.int32),
    jnp.asarray(random.permutation(16).reshape(4, 4) % 12, jnp.int32),
    jnp.asarray([0, 5, 6, 20, 20], jnp.int32),
    jnp.asarray([3], jnp.int32),
  )


def ragged_reference(q, pages, lengths, table, starts, count, *, window=None, cap=None):
  q, pages = (np.asarray(x, np.float64) for x in (q, pages))
  out = np.zeros((20, *q.shape[1:]))
  for s in range(int(count[0])):
    begin, end, length = int(starts[s]), int(starts[s + 1]), int(lengths[s])
    kv = pages[np.asarray(table[s])].reshape(-1, *pages.shape[2:])[:length]
    rows = length - (end - begin) + np.arange(end - begin)[:, None]
    columns = np.arange(length)[None]
    seen = (columns <= rows) & (columns > rows - window if window else True)
    for h in range(q.shape[1]):
      logits = 0.1 * q[begin:end, h] @ kv[:, h // 2 * 2].T
      logits = np.where(seen, cap * np.tanh(logits / cap) if cap else logits, -np.inf)
      p = np.exp(logits - logits.max(1, keepdims=True))
      out[begin:end, h] = p / p.sum(1, keepdims=True) @ kv[:, h // 2 * 2 + 1]
  return out


def ragged_call(m: types.ModuleType, **kwargs: Any) -> Callable[..., Any]:
  call = functools.partial(
    m.ragged_paged_attention, num_kv_pages_per_block=2, num_queries_per_block=8, sm_scale=0.1, **kwargs
  )
  return lambda *operands: call(*operands)[:20]  # the rest belongs to no sequence


@case("ragged_paged_attention", "tpu.ragged_paged_attention", ragged, reference=ragged_reference)
def _(m):
  return ragged_call(m)


@case(
  "ragged_paged_attention_bf16",
  "tpu.ragged_paged_attention",
  functools.partial(ragged, dtype=jnp.bfloat16),
  tolerance=2e-2,
  reference=functools.partial(ragged_reference, window=9, cap=20.0),
  variant=True,
)
def _(m):
  return ragged_call(m, sliding_window=9, soft_cap=20.0)


SIZES = jnp.asarray([20, 0, 31, 13], jnp.int32)


def grouped(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    jnp.asarray(random.standard_normal((64, 32)), jnp.float32),
    jnp.asarray(random.standard_normal((4, 32, 48)), jnp.float32),
    SIZES,
  )


@case("megablox_gmm", "tpu.megablox", grouped, differentiable=2)
def _(m):
  return lambda lhs, rhs, sizes: m.gmm(lhs, rhs, sizes, jnp.float32, (16, 32, 16))


@case(
  "megablox_existing_out",
  "tpu.megablox.gmm",
  each(normal(64, 32), normal(2, 48, 32), SIZES, normal(64, 48)),
  variant=True,
)
def _(m):
  def call(lhs, rhs, sizes, out):
    offset = jnp.asarray(1, jnp.int32)
    return m.gmm(lhs, rhs, sizes, jnp.float32, (16, 32, 16), offset, out, transpose_rhs=True)

  return call


@case("megablox_tgmm", "tpu.megablox.gmm", each(normal(32, 64), normal(64, 48), SIZES), variant=True)
def _(m):
  return lambda lhs, rhs, sizes: m.tgmm(lhs, rhs, sizes, jnp.float32, (16, 16, 16))


@case("all_gather", "tpu.all_gather", each(normal(32, 128)), native=False, reference=lambda x: x)
def _(m):
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
  return lambda x: m.all_gather(x, mesh=mesh, axis_name="x")


@case("threefry", "tpu.random.threefry", each(jnp.asarray([7, 9], jnp.uint32)))
def _(m):
  return lambda key: m.plthreefry_random_bits(key, 32, (3, 20))


@case("philox", "tpu.random.philox", each(jnp.asarray([7, 9], jnp.uint32)))
def _(m):
  return lambda key: (
    m.philox_random_bits(key, 32, (3, 20)),
    m.philox_split(key, (2,)),
    m.philox_fold_in(key, jnp.uint32(5)),
  )


# --- GPU, for Triton -------------------------------------------------------------------------------------------------


@case("gpu_softmax", "gpu.softmax", each(normal(3, 100)))
def _(m):
  return functools.partial(m.softmax, num_warps=1)


@case("gpu_layer_norm", "gpu.layer_norm", each(normal(2, 5, 200), normal(200), normal(200)), differentiable=3)
def _(m):
  return m.layer_norm


@case("gpu_rms_norm", "gpu.rms_norm", each(normal(2, 5, 200), normal(200), normal(200)), differentiable=3)
def _(m):
  return m.rms_norm


@case("gpu_mha", "gpu.attention", each(*[normal(1, 64, 2, 32)] * 3, jnp.arange(64)[None] // 40), differentiable=3)
def _(m):
  sizes = m.BlockSizes(32, 32, 32, 32, 32, 32)
  return lambda q, k, v, ids: m.mha(q, k, v, ids, sm_scale=0.2, causal=True, block_sizes=sizes)


@case("gpu_mha_odd_head", "gpu.attention", each(*[normal(1, 64, 1, 24)] * 3), differentiable=3, variant=True)
def _(m):
  sizes = m.BlockSizes(32, 32, 32, 32, 32, 32)
  return lambda q, k, v: m.mha(q, k, v, None, sm_scale=0.2, block_sizes=sizes)


@case(
  "gpu_decode_mqa",
  "gpu.decode_attention",
  each(normal(2, 16, 32), *[normal(2, 64, 32)] * 2, *map(jnp.asarray, ([0, 11], [64, 40]))),
)
def _(m):
  return functools.partial(m.mqa, block_k=16, k_splits=2)


@case("gpu_decode_gqa", "gpu.decode_attention", each(normal(2, 12, 32), *[normal(2, 64, 2, 32)] * 2), variant=True)
def _(m):
  return functools.partial(m.gqa, block_k=16, k_splits=2, return_residuals=True)


@case("gpu_paged_attention", "gpu.paged_attention", functools.partial(paged, heads=12, dim=32))
def _(m):
  return lambda q, k, v, n, pages: m.paged_attention(q, k, v, pages, n, pages_per_compute_block=2, k_splits=2)


@case("gpu_paged_attention_scales", "gpu.paged_attention", functools.partial(paged, heads=12, dim=32), variant=True)
def _(m):
  def call(q, k, v, lengths, pages):
    scales = jnp.linspace(0.5, 1.5, 2 * 8 * 16).reshape(2, 8, 16)
    return m.paged_attention(q, k, v, pages, lengths, scales, scales + 0.1, pages_per_compute_block=2, k_splits=2)

  return call


# --- running -----------------------------------------------------------------------------------------------------------


@functools.cache
def our_module(name: str) -> types.ModuleType:
  """A module of JAX's, loaded with our names in place of `jax.experimental.pallas`."""
  with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of the module as a whole
    warnings.simplefilter("ignore", tilewright.errors.ReplacementWarning)  # other tests import JAX's
    with tilewright.replace_pallas():
      return importlib.import_module(name)


@functools.cache
def original_module(name: str) -> types.ModuleType:
  with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    return importlib.import_module(name)


@contextlib.contextmanager
def original_interpreted() -> Iterator[None]:
  """JAX's own kernels run in interpret mode."""
  from jax.experimental import pallas

  call = pallas.pallas_call
  with mock.patch.object(pallas, "pallas_call", lambda *args, **kwargs: call(*args, **{**kwargs, "interpret": True})):
    yield


def prepared(case: Case, module: types.ModuleType, operands: tuple[Any, ...]) -> Callable[[], list[Any]]:
  """A function that gives the results, and the derivatives of the sum of all results times fixed weights."""
  function = case.make(module)

  def everything(*operands: Any) -> list[Any]:
    if not case.differentiable:
      return jax.tree.leaves(function(*operands))
    rest = operands[case.differentiable :]
    out, pull = jax.vjp(lambda *xs: function(*xs, *rest), *operands[: case.differentiable])
    weights = jax.tree.map(
      lambda x: jnp.cos(jnp.arange(x.size, dtype=jnp.float32)).reshape(x.shape).astype(x.dtype), out
    )
    return [*jax.tree.leaves(out), *pull(weights)]

  return functools.partial(jax.jit(everything), *operands)


def run(case: Case, module: types.ModuleType) -> list[Any]:
  return prepared(case, module, case.operands(np.random.default_rng(0)))()


# --- what the original gives -------------------------------------------------------------------------------------------

RECORD = pathlib.Path(__file__).with_name("original_results.json")
SAMPLES, SUMS = 16, 4


def digest(x: Any) -> dict[str, Any]:
  """An array in a few numbers: some elements, and sums of all with random signs, in which every element counts."""
  flat = np.asarray(x).astype(np.float64).reshape(-1)
  signs = np.random.default_rng(flat.size).choice([-1.0, 1.0], (SUMS, flat.size))
  at = np.linspace(0, flat.size - 1, min(SAMPLES, flat.size)).astype(int)
  return {
    "type": f"{x.dtype}{list(x.shape)}",
    "largest": float(np.abs(flat).max()),
    "samples": flat[at].tolist(),
    "sums": (signs @ flat).tolist(),
  }


def check(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
  """Elements differ by at most `tolerance` of the largest one; of n of them with random signs, by as much times 4 sqrt(n)."""
  assert found["type"] == expected["type"]
  is_exact = not found["type"].startswith(("float", "bfloat"))
  allowed = 0 if is_exact else tolerance * expected["largest"]
  np.testing.assert_allclose(found["samples"], expected["samples"], rtol=0, atol=allowed)
  count = math.prod(int(n) for n in re.findall(r"\d+", found["type"].partition("[")[2]))
  np.testing.assert_allclose(found["sums"], expected["sums"], rtol=0, atol=4 * math.sqrt(count) * allowed)


def original_results(case: Case) -> list[dict[str, Any]]:
  """What JAX's own interpret mode gives, as digests."""
  with original_interpreted():
    return [digest(x) for x in run(case, original_module(case.module))]


def record() -> None:
  found = {case.name: original_results(case) for case in CASES if case.reference is None}
  lines = [f"{json.dumps(name)}: {json.dumps(results)}" for name, results in found.items()]
  RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def timed(function: Callable[[], Any], rounds: int = 5) -> tuple[Any, float, float]:
  """What a function gives, and the seconds of its first call and of the fastest later one."""
  seconds = []
  for _ in range(rounds + 1):
    start = time.perf_counter()
    out = jax.block_until_ready(function())
    seconds.append(time.perf_counter() - start)
  return out, seconds[0], min(seconds[1:])


def compare(names: list[str]) -> None:
  """Print how each case differs from the original here and now, and how long each takes, first and later."""
  for case in CASES:
    if names and not any(name in case.name for name in names):
      continue
    operands, line, expected = case.operands(np.random.default_rng(0)), f"{case.name:32}", None
    for target in ("original", "native", "portable"):
      if (target == "original" and case.reference) or (target == "native" and not case.native):
        continue
      module = original_module(case.module) if target == "original" else our_module(case.module)
      context = original_interpreted() if target == "original" else targets.forced_interpret(target == "portable")
      with context:
        found, first, later = timed(prepared(case, module, operands))
      line += f"  {target} {first:6.2f} s {1e3 * later:8.2f} ms"
      if expected is None:
        expected = found
      else:
        wide = [(np.asarray(f, np.float64), np.asarray(e, np.float64)) for f, e in zip(found, expected)]
        line += f" {max(np.abs(f - e).max() / (np.abs(e).max() or 1) for f, e in wide):.0e}"
    print(line, flush=True)


if __name__ == "__main__":
  record() if sys.argv[1:] == ["record"] else compare(sys.argv[1:])
