"""The rows of `tilewright bench cpu`, as data.

Each kernel is written once, as a function of the language it is written in: ours, or jax.experimental.pallas in
interpret mode as the peer. The other peer is XLA: `jax.jit` of the program a JAX user would write without kernels.

Rows that begin with `ops.` are library kernels, compiled to native code; so are those that say "native".
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops, pallas
from tilewright.cli import (
  bench_accelerate,
  bench_collectives,
  bench_data_parallel,
  bench_fused,
  bench_models,
  bench_numerics,
  bench_processes,
  bench_tuned,
)
from tilewright.cli.bench import OURS, Call, Case
from tilewright.pallas import cpu, tpu
from tilewright.runtime import _jax

XLA, PALLAS, NUMPY, PORTABLE = "XLA", "Pallas interpret", "NumPy", "portable lowering"
JAX_NN = "XLA, jax.nn"  # a function of JAX's own library


@dataclasses.dataclass(frozen=True)
class Language:
  """A kernel language: its modules, and the options its `pallas_call` needs here."""

  pl: Any
  pltpu: Any
  options: Mapping[str, Any]


def ours() -> Language:
  return Language(pallas, tpu, {})


def native() -> Language:
  return Language(pallas, tpu, {"compiler_params": cpu.CompilerParams()})


def peer() -> Language:
  from jax.experimental import pallas as pl
  from jax.experimental.pallas import tpu as pltpu

  return Language(pl, pltpu, {"interpret": True})


# --- kernels -----------------------------------------------------------------------------------------------------


def by_rows(body: Callable[..., Any], block: int, lang: Language, x: jax.Array, *parameters: jax.Array) -> jax.Array:
  """Apply `body` to blocks of rows of `x`; the parameters are the same for all."""

  def kernel(*refs: Any) -> None:
    *inputs, o_ref = refs
    o_ref[...] = body(*(ref[...] for ref in inputs))

  pl = lang.pl
  rows = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(x.shape[0] // block,),
    in_specs=[rows, *(pl.BlockSpec(p.shape, lambda i: (0,)) for p in parameters)],
    out_specs=rows,
    **lang.options,
  )(x, *parameters)


def softmax(x: jax.Array) -> jax.Array:
  e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
  return e / jnp.sum(e, axis=-1, keepdims=True)


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
  centred = x - jnp.mean(x, axis=-1, keepdims=True)
  return centred * jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + shift


def matmul(blocks: tuple[int, int, int], lang: Language, x: jax.Array, y: jax.Array) -> jax.Array:
  bm, bn, bk = blocks
  pl = lang.pl

  def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

  (m, k), (_, n) = x.shape, y.shape
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
    grid=(m // bm, n // bn, k // bk),
    in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
    **lang.options,
  )(x, y)


def attention(block: int, lang: Language, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  heads, length, depth = q.shape
  pl = lang.pl

  def kernel(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, m_ref: Any, l_ref: Any, acc_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      m_ref[...] = jnp.full(m_ref.shape, -1e30, m_ref.dtype)
      l_ref[...] = jnp.zeros(l_ref.shape, l_ref.dtype)
      acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    scores = jnp.dot(q_ref[...], k_ref[...].T) * depth**-0.5
    m = jnp.maximum(m_ref[...], jnp.max(scores, axis=-1, keepdims=True))
    weights, shrink = jnp.exp(scores - m), jnp.exp(m_ref[...] - m)
    m_ref[...] = m
    l_ref[...] = l_ref[...] * shrink + jnp.sum(weights, axis=-1, keepdims=True)
    acc_ref[...] = acc_ref[...] * shrink + jnp.dot(weights, v_ref[...])

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _() -> None:
      o_ref[...] = acc_ref[...] / l_ref[...]

  of_queries = pl.BlockSpec((None, block, depth), lambda h, i, j: (h, i, 0))
  of_keys = pl.BlockSpec((None, block, depth), lambda h, i, j: (h, j, 0))
  column, rows = lang.pltpu.VMEM((block, 1), jnp.float32), lang.pltpu.VMEM((block, depth), jnp.float32)
  return pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
    grid=(heads, length // block, length // block),
    in_specs=[of_queries, of_keys, of_keys],
    out_specs=of_queries,
    scratch_shapes=[column, column, rows],
    **lang.options,
  )(q, k, v)


def attention_without_kernel(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  return softmax(jnp.einsum("hqd,hkd->hqk", q, k) * q.shape[-1] ** -0.5) @ v


def double(lang: Language, x: jax.Array) -> jax.Array:
  def kernel(x_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...] * 2

  return lang.pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **lang.options)(x)


# --- what is timed -----------------------------------------------------------------------------------------------


def arrays(*shapes: tuple[int, ...], dtype: Any = jnp.float32) -> list[jax.Array]:
  rng = np.random.default_rng(0)
  return [jnp.asarray(rng.standard_normal(shape), dtype) for shape in shapes]


def running(f: Callable[..., Any], args: list[jax.Array]) -> Call:
  """A call of the compiled program."""
  compiled = jax.jit(f)
  jax.block_until_ready(compiled(*args))
  return lambda: compiled(*args)


def compiling(f: Callable[..., Any], args: list[jax.Array]) -> Call:
  """Tracing, lowering and compiling, from the start: a function JAX has not seen before, each time."""
  return lambda: jax.jit(lambda *xs: f(*xs)).lower(*args).compile() and None


def tracing(f: Callable[..., Any], args: list[jax.Array]) -> Call:
  """Tracing a program that holds a kernel seen before."""
  return lambda: jax.make_jaxpr(lambda *xs: f(*xs))(*args) and None


def hlo_text(count: int) -> str:
  """A module of about `count` instructions, of the kinds and lengths that real ones have."""
  lines = ["HloModule big\n\nENTRY %main (p0: f32[128,256], p1: f32[128,256]) -> f32[128,256] {"]
  lines += [f"  %p{i} = f32[128,256]{{1,0}} parameter({i})" for i in range(2)]
  last = "p0"
  for i in range(0, count, 4):
    scope = f'op_name="jit(f)/jit(main)/layer_{i // 50}'
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    lines += [
      f'  %add.{i} = f32[128,256]{{1,0}} add(%{last}, %p1), metadata={{{scope}/add" source_line={i % 700}}}',
      f'  %dot.{i} = f32[128,128]{{1,0}} dot(%add.{i}, %p1), {dims}, metadata={{{scope}/dot_general"}}',
      f"  %slice.{i} = f32[64,256]{{1,0}} slice(%add.{i}), slice={{[0:64], [0:256]}}, sharding={{replicated}}",
      f"  %constant.{i} = f32[] constant({i}.5)",
    ]
    last = f"add.{i}"
  return "\n".join([*lines, f"  ROOT %r = f32[128,256]{{1,0}} negate(%{last})\n}}\n"])


def reading_hlo(text: str) -> Call:
  from tilewright import hlo

  return lambda: hlo.parse(text) and None


def reading_hlo_in_xla(text: str) -> Call:
  _hlo = _jax.xla_hlo()

  return lambda: _hlo.hlo_module_from_text(text) and None


def rewriting_hlo(text: str) -> Call:
  from tilewright import hlo

  return lambda: hlo.parse(text).to_text() and None


def rewriting_hlo_in_xla(text: str) -> Call:
  _hlo = _jax.xla_hlo()

  return lambda: _hlo.hlo_module_from_text(text).to_string() and None


def case(
  name: str,
  kernel: Callable[..., Any],
  program: Callable[..., Any] | None,
  *shapes: tuple[int, ...],
  dtype: Any = jnp.float32,
  timed: Callable[[Callable[..., Any], list[jax.Array]], Call] = running,
) -> Case:
  """A row for each peer: XLA if there is a program without kernels, and the interpreter."""
  contenders = {OURS: lambda: timed(functools.partial(kernel, ours()), arrays(*shapes, dtype=dtype))}
  if program is not None:
    contenders[XLA] = lambda: timed(program, arrays(*shapes, dtype=dtype))
  contenders[PALLAS] = lambda: timed(functools.partial(kernel, peer()), arrays(*shapes, dtype=dtype))
  return Case(name, contenders)


# --- library kernels ---------------------------------------------------------------------------------------------


def op(
  name: str,
  kernel: Callable[..., Any],
  program: Callable[..., Any],
  *shapes: tuple[int, ...],
  dtype: Any = jnp.float32,
  portable: bool = False,
  pallas_kernel: Callable[..., Any] | None = None,
  numpy: Callable[..., Any] | None = None,
  labels: tuple[int, int] | None = None,
  goals: Mapping[str, float] | None = None,
) -> Case:
  """A row of a library kernel against XLA, and one for each other peer: its own portable lowering, a kernel of the same blocks in the
  peer's interpreter, and NumPy.

  `labels` says how many integers follow the arrays as the last operand, and what they are below. `goals` has the ratios to reach.
  """

  def inputs() -> list[jax.Array]:
    floats = arrays(*shapes, dtype=dtype)
    if labels is None:
      return floats
    count, below = labels
    return [*floats, jnp.asarray(np.random.default_rng(1).integers(0, below, count), jnp.int32)]

  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: running(functools.partial(kernel, native=True), inputs()),
    XLA: lambda: running(program, inputs()),
  }
  if portable:
    contenders[PORTABLE] = lambda: running(functools.partial(kernel, interpret=True), inputs())
  if pallas_kernel is not None:
    contenders[PALLAS] = lambda: running(functools.partial(pallas_kernel, peer()), inputs())
  if numpy is not None:
    contenders[NUMPY] = lambda: functools.partial(numpy, *(np.asarray(x) for x in inputs()))
  return Case(f"ops.{name}", contenders, disturbs=True, goals=goals or {})


def attention_row(name: str, causal: bool, goal: float) -> Case:
  """Attention against the program one writes oneself, and against the function of JAX's library."""
  program = causal_attention if causal else attention_without_kernel
  row = op(name, functools.partial(ops.attention, causal=causal), program, *HEADS, goals={JAX_NN: goal})
  return dataclasses.replace(row, contenders={**row.contenders, JAX_NN: lambda: library_attention(causal)})


def in_processes(name: str, what: str, kernel: str, unit: str = "seconds") -> Case:
  """A row measured in processes of their own."""
  return Case(name, {w: functools.partial(bench_processes.contender, what, kernel, w) for w in (OURS, XLA)}, unit=unit)


def compiled_cold(name: str, kernel: Callable[..., Any], program: Callable[..., Any], *shapes: tuple[int, ...]) -> Case:
  """Compiling code that no cache has: the last dimension of the last operand grows from call to call."""

  def build(f: Callable[..., Any]) -> Call:
    sizes = itertools.count(16, 16)

    def call() -> None:
      extra = next(sizes)
      grown = [jax.ShapeDtypeStruct((*s[:-1], s[-1] + extra), jnp.float32) for s in shapes[-1:]]
      args = [*(jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes[:-1]), *grown]
      before = os.environ.get("TILEWRIGHT_CACHE_DIR")
      with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEWRIGHT_CACHE_DIR"] = folder
        try:
          jax.jit(lambda *xs: f(*xs)).lower(*args).compile()
        finally:
          if before is None:
            del os.environ["TILEWRIGHT_CACHE_DIR"]
          else:
            os.environ["TILEWRIGHT_CACHE_DIR"] = before

    return call

  return Case(name, {OURS: lambda: build(functools.partial(kernel, native=True)), XLA: lambda: build(program)})


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
  return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
  return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)[:, 0]


def causal_attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  scores = jnp.einsum("hqd,hkd->hqk", q, k) * q.shape[-1] ** -0.5
  return softmax(jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, -jnp.inf)) @ v


def library_attention(causal: bool) -> Call:
  """JAX's own function. It has heads after positions: its operands are moved there beforehand."""
  attend = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=causal)[0].transpose(1, 0, 2)
  return running(attend, [x.transpose(1, 0, 2)[None] for x in arrays(*HEADS)])


def gradients(f: Callable[..., Any]) -> Callable[..., Any]:
  """The derivatives of a function's sum towards its three operands."""

  def grad(*args: Any, **options: Any) -> Any:
    return jax.grad(lambda *xs: jnp.sum(f(*xs, **options)), (0, 1, 2))(*args)

  return grad


def integer_product(x: jax.Array, y: jax.Array) -> jax.Array:
  return jnp.dot(x, y, preferred_element_type=jnp.int32)


def mlp(x: jax.Array, w_gate: jax.Array, w_up: jax.Array, w_down: jax.Array) -> jax.Array:
  return (jax.nn.silu(x @ w_gate) * (x @ w_up)) @ w_down


softmax_kernel = functools.partial(by_rows, softmax, 64)
layer_norm_kernel = functools.partial(by_rows, layer_norm, 64)
gelu_kernel = functools.partial(by_rows, jax.nn.gelu, 64)
matmul_kernel = functools.partial(matmul, (256, 256, 128))
attention_kernel = functools.partial(attention, 128)
SQUARE = (1024, 1024)
LARGE = (4096, 4096)
HEADS = ((8, 2048, 64),) * 3
MATMUL = {XLA: 0.95, NUMPY: 1.05}  # goals
ROWS = {XLA: 1.15}
matmul_gelu = functools.partial(ops.matmul, activation="gelu")

IN_PROCESSES = (
  in_processes("warm start of native softmax", "warm", "softmax"),
  in_processes("warm start of native matmul", "warm", "matmul"),
  in_processes("first native kernel of a process, from disk", "first", "softmax"),
  in_processes("first native kernel of a process, nothing on disk", "cold", "softmax"),
  in_processes("peak memory of native attention, 4 heads 8192x64", "memory", "attention", "bytes"),
)

CASES: tuple[Case, ...] = (
  case("matmul f32 512x512x512", matmul_kernel, jnp.dot, (512, 512), (512, 512)),
  case("matmul f32 1024x1024x1024", matmul_kernel, jnp.dot, SQUARE, SQUARE),
  case(
    "matmul bf16 512x512x512",
    matmul_kernel,
    functools.partial(jnp.dot, preferred_element_type=jnp.float32),
    *((512, 512), (512, 512)),
    dtype=jnp.bfloat16,
  ),
  case("softmax f32 1024x1024", softmax_kernel, softmax, SQUARE),
  case("layer_norm f32 1024x1024", layer_norm_kernel, layer_norm, SQUARE, (1024,), (1024,)),
  case("gelu f32 1024x1024", gelu_kernel, jax.nn.gelu, SQUARE),
  case("attention f32 4 heads 512x64", attention_kernel, attention_without_kernel, *((4, 512, 64),) * 3),
  case("one call on 1024 elements", double, lambda x: x * 2, (1024,)),
  op("matmul f32 1024x1024x1024", ops.matmul, jnp.dot, SQUARE, SQUARE, numpy=np.dot, goals=MATMUL),
  op("matmul f32 2048x2048x2048", ops.matmul, jnp.dot, (2048, 2048), (2048, 2048), numpy=np.dot, goals=MATMUL),
  op("matmul f32 1000x1030x1100", ops.matmul, jnp.dot, (1000, 1030), (1030, 1100), numpy=np.dot, goals=MATMUL),
  op("matmul f32 1x4096x4096", ops.matmul, jnp.dot, (1, 4096), (4096, 4096)),
  op("matmul f32 8x4096x4096", ops.matmul, jnp.dot, (8, 4096), (4096, 4096)),
  op(
    "matmul f32 1024x1024x1024, bias and gelu",
    matmul_gelu,
    lambda x, y, b: jax.nn.gelu(x @ y + b),
    SQUARE,
    SQUARE,
    (1024,),
    goals={XLA: 1.0},
  ),
  op("matmul bf16 1024x1024x1024", ops.matmul, jnp.dot, SQUARE, SQUARE, dtype=jnp.bfloat16, goals={XLA: 1.0}),
  op("matmul int8 1024x1024x1024", ops.matmul, integer_product, SQUARE, SQUARE, dtype=jnp.int8),
  op(
    "softmax f32 4096x4096",
    ops.softmax,
    jax.nn.softmax,
    LARGE,
    portable=True,
    pallas_kernel=softmax_kernel,
    goals={XLA: 1.4, PORTABLE: 15},
  ),
  op("layer_norm f32 4096x4096", ops.layer_norm, layer_norm, LARGE, (4096,), (4096,), goals=ROWS),
  op("rms_norm f32 4096x4096", ops.rms_norm, rms_norm, LARGE, (4096,), goals=ROWS),
  op("gelu f32 4096x4096", ops.gelu, jax.nn.gelu, LARGE, goals=ROWS),
  op("cross_entropy f32 4096x4096", ops.cross_entropy, cross_entropy, LARGE, labels=(4096, 4096), goals=ROWS),
  attention_row("attention f32 8 heads 2048x64", False, goal=3),
  attention_row("attention f32 8 heads 2048x64, causal", True, goal=5),
  op(
    "attention f32 8 heads 2048x64, derivatives", gradients(ops.attention), gradients(attention_without_kernel), *HEADS
  ),
  op("swiglu_mlp f32 512x1024x2816", ops.swiglu_mlp, mlp, (512, 1024), (1024, 2816), (1024, 2816), (2816, 1024)),
  op("embedding f32 4096 of 32000x512", ops.embedding, lambda t, i: t[i], (32000, 512), labels=(4096, 32000)),
  op("cumsum f32 1024x4096", ops.cumsum, lambda x: jnp.cumsum(x, -1), (1024, 4096)),
  op("top_k f32 1024x4096, k 8", lambda x, **o: ops.top_k(x, 8, **o), lambda x: jax.lax.top_k(x, 8), (1024, 4096)),
  Case(
    "one native call on 1024 elements",
    {
      OURS: lambda: running(functools.partial(double, native()), arrays((1024,))),
      XLA: lambda: running(lambda x: x * 2, arrays((1024,))),
    },
    goals={XLA: 0.77},  # within 1.3 times
  ),
  *bench_fused.CASES,
  *bench_accelerate.CASES,
  *IN_PROCESSES,
  compiled_cold("compile softmax natively", ops.softmax, jax.nn.softmax, LARGE),
  compiled_cold("compile matmul natively", ops.matmul, jnp.dot, SQUARE, SQUARE),
  case("compile softmax", softmax_kernel, softmax, SQUARE, timed=compiling),
  case("compile matmul", matmul_kernel, jnp.dot, (512, 512), (512, 512), timed=compiling),
  case("trace softmax again", softmax_kernel, softmax, SQUARE, timed=tracing),
  case("trace attention again", attention_kernel, None, *((4, 512, 64),) * 3, timed=tracing),
  Case(
    "data-parallel step, 16 microbatches, 4 devices",
    {OURS: lambda: bench_data_parallel.start("all_reduce_code_motion"), XLA: bench_data_parallel.start},
  ),
  *(Case(name, {OURS: our_step, XLA: xla_step}) for name, (our_step, xla_step) in bench_models.rows().items()),
  *bench_collectives.CASES,
  Case(
    "hlo: read 1 MB of text",
    {OURS: lambda: reading_hlo(hlo_text(10_200)), XLA: lambda: reading_hlo_in_xla(hlo_text(10_200))},
  ),
  Case(
    "hlo: 40,000 instructions from text to text",
    {OURS: lambda: rewriting_hlo(hlo_text(40_000)), XLA: lambda: rewriting_hlo_in_xla(hlo_text(40_000))},
  ),
  *bench_numerics.CASES,
  *bench_tuned.CPU_CASES,
)
