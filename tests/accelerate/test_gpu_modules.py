"""Programs as XLA:GPU has them when acceleration sees them: what becomes of them there, run as GPU code on the CPU, against float64.

XLA may or may not have chosen layouts by then, and products may be instructions, fusions, or calls of cuBLAS (`gpu_model`).
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.accelerate.gpu_model import GpuModel
from tests.support import accelerated_programs, attention_spellings, ptxas_marks
from tilewright.accelerate import graph, program, regions, tiles
from tilewright.hlo import parse
from tilewright.runtime import ptxas
from tilewright.target import nvgpu

pytestmark = pytest.mark.usefixtures("all_regions_are_worth_it")
RNG = np.random.default_rng(0)
EPS = {"float32": 2.0**-23, "bfloat16": 2.0**-8, "float16": 2.0**-11}


@pytest.fixture
def gpu(monkeypatch):
  if jax.default_backend() != "cpu":
    pytest.skip("there is a GPU, which needs no model")
  for kind in ("attention", "scaled dot"):
    monkeypatch.setitem(program.PLATFORMS, kind, ("cpu", "cuda"))
  return GpuModel(monkeypatch)


@dataclasses.dataclass(frozen=True)
class State:
  """What XLA has done before the pass: chosen layouts, by a seed; made bitcasts, and products of libraries. `told`: what the pass knows."""

  seed: int | None
  bitcasts: bool = True
  told: bool = True


BEFORE = State(None)
CHOSEN = State(1)
UNKNOWN = State(3, bitcasts=False, told=False)  # layouts are final, and nothing in the module says so
STATES = {"before layouts": BEFORE, "after layouts": CHOSEN, "layouts that nothing shows": UNKNOWN}


def normal(*shape, dtype="float32", scale=1.0):
  return np.asarray(RNG.normal(size=shape) * scale, jnp.dtype(dtype))


def both(gpu, monkeypatch, f, args, state):
  """The results of the module as XLA has it, and of the one with kernels; what was decided; and the second module."""
  layouts = None if state.seed is None else np.random.default_rng(state.seed)
  before = gpu.module(f, *args, layouts=layouts, bitcasts=state.bitcasts)
  if not state.told:
    monkeypatch.setattr(program, "_has_final_layouts", lambda module: False)
  assert state.seed is not None or not program._has_final_layouts(before)
  reports = []
  after = gpu.accelerated(before, reports)
  taken = [d for r in reports for d in r.taken]
  plain, ours = (gpu.run(module, *args, settled=state.seed is not None) for module in (before, after))
  return plain, ours, taken, after


def check(plain, ours, f, args, eps):
  """Results may be as far from float64 as those without kernels, times a factor, plus some roundings."""
  with jax.enable_x64(True):
    wide = [np.asarray(a, np.float64) if jnp.issubdtype(a.dtype, jnp.floating) else a for a in args]
    exact = jax.tree.leaves(jax.jit(lambda *a: f(*a))(*wide))
  for a, b, c in zip(ours, plain, exact, strict=True):
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    assert np.abs(a - c).max() <= 2 * np.abs(b - c).max() + 8 * eps * np.abs(c).max()


def with_derivative(f):
  def step(*args):
    *own, weights = args

    def loss(*own):
      out = f(*own)
      return (out.astype(jnp.promote_types(out.dtype, jnp.float32)) * weights).sum(), out

    (_, out), slopes = jax.value_and_grad(loss, tuple(range(len(own))), has_aux=True)(*own)
    return out, *slopes

  return step


def projected(x, w, o):
  """Attention of operands that products make: their layouts are XLA's choice."""
  q, k, v = ((x @ w[i]).reshape(*x.shape[:-1], 2, 16) for i in range(3))
  s = attention_spellings.causal(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v).reshape(x.shape) @ o


SPELLINGS = attention_spellings.CASES
PROJECTED = (projected, ((2, 24, 32), (3, 32, 32), (32, 32)))
ATTENTIONS = {
  "of products, before layouts": (*PROJECTED, "bfloat16", BEFORE),
  "of products, after layouts": (*PROJECTED, "bfloat16", CHOSEN),
  "of products, layouts that nothing shows": (*PROJECTED, "bfloat16", UNKNOWN),
  "grouped queries": (*SPELLINGS["groups of heads share keys"][:2], "float16", CHOSEN),
  "JAX's own, operands of two types": (*SPELLINGS["JAX's own"][:2], "bfloat16", UNKNOWN),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_and_its_derivative(name, gpu, monkeypatch):
  f, shapes, dtype, state = ATTENTIONS[name]
  args = [normal(*s, dtype=dtype, scale=0.4) for s in shapes]
  args.append(normal(*jax.eval_shape(f, *args).shape, dtype=dtype))
  step = with_derivative(f)
  plain, ours, taken, _ = both(gpu, monkeypatch, step, args, state)
  assert [d for d in taken if d.kind == "attention" and "derivatives" in d.tile]
  assert any("attention_dkv" in name for name in gpu.calls)
  check(plain, ours, step, args, EPS[dtype])


@pytest.mark.parametrize("precision", ["default", "highest"])
def test_float32_is_multiplied_as_the_program_says(precision, gpu, monkeypatch):
  """XLA's tensor cores round float32 by default, and are fast; where all bits are wanted, the library's kernels have them too."""
  f = attention_spellings.scaled_queries
  args = [normal(24, 16), normal(40, 16), normal(40, 16)]
  with jax.default_matmul_precision(precision):
    plain, ours, taken, _ = both(gpu, monkeypatch, f, args, CHOSEN)
  assert any(d.kind == "attention" for d in taken) == (precision == "highest")
  check(plain, ours, f, args, EPS["float32"])


def layers(x, w):
  """Layers in a loop, computed again for the derivative."""

  def block(x, w):
    q, k, v = ((x @ w[i]).reshape(1, 16, 2, 16) for i in range(3))
    s = attention_spellings.causal(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
    h = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v).reshape(x.shape)
    return h * jax.lax.rsqrt((h * h).mean(-1, keepdims=True) + jnp.asarray(1e-3, h.dtype))

  return jax.lax.scan(lambda c, w: (jax.checkpoint(block)(c, w), c.max(-1)), x, w)[0]


@pytest.mark.parametrize("state", ["after layouts", "layouts that nothing shows"])
def test_layers_in_a_loop_with_checkpoints(state, gpu, monkeypatch):
  args = [normal(1, 16, 32, dtype="bfloat16", scale=0.5), normal(2, 3, 32, 32, dtype="bfloat16", scale=0.2)]
  args.append(normal(1, 16, 32, dtype="bfloat16"))
  step = with_derivative(layers)
  plain, ours, taken, after = both(gpu, monkeypatch, step, args, STATES[state])
  assert sum(d.kind == "attention" for d in taken) == 2  # of the loop forward, and of the one back
  check(plain, ours, step, args, 4 * EPS["bfloat16"])
  for call in after.instructions():
    if call.opcode == "custom-call" and call.attrs["custom_call_target"] in gpu.kernels:
      assert not _loses_its_aliases(call), call


def _loses_its_aliases(call):
  """XLA:GPU fuses a call with the slices around it, and forgets that results begin as operands; a barrier keeps them apart."""
  aliases = call.attrs.get("output_to_operand_aliasing", ())
  through = ("bitcast", "reshape", "get-tuple-element")

  def ends(i, side):
    for other in side(i):
      if other.opcode in through:
        yield from ends(other, side)
      else:
        yield other

  sliced = any(u.opcode == "dynamic-update-slice" for u in ends(call, lambda i: i.users))
  cut = any(o.opcode in ("slice", "dynamic-slice") for o in ends(call, lambda i: i.operands))
  return bool(aliases) and (sliced or cut)


ROWS = {
  **{
    name: accelerated_programs.PROGRAMS[name]
    for name in ("softmax, derivative", "layer norm", "layer norm, derivative", "transposed")
  },
  "cross entropy, derivative": accelerated_programs.PROGRAMS["cross entropy, derivative"],
  "cross entropy of sequences": accelerated_programs.PROGRAMS["cross entropy of sequences, derivative"],
  "rows that are added up": (
    lambda x, g: (jnp.sum(x * g * jnp.tanh(x), 0), jax.nn.softmax(x * g)),
    (accelerated_programs.normal(64, 24), accelerated_programs.normal(24)),
  ),
  "several results": (
    lambda x: (jax.nn.softmax(x), x.max(-1), jax.nn.logsumexp(x, -1)),
    (accelerated_programs.X,),
  ),
  "rows of a loop": (
    lambda xs: jax.lax.map(lambda x: jax.nn.softmax(x * 2), xs),
    (accelerated_programs.X.reshape(4, 6, 40),),
  ),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", ROWS)
def test_rows(name, state, gpu, monkeypatch):
  monkeypatch.setattr(tiles, "_GPU_TILE", 64)
  monkeypatch.setattr(tiles, "_GPU_GROUPS", 4)  # so that an instance adds up several tiles
  f, args = ROWS[name]
  args = [np.asarray(a) for a in args]
  plain, ours, taken, after = both(gpu, monkeypatch, f, args, STATES[state])
  assert taken
  if "rows that are added up" in name:
    assert any(kernel.mapping.grid[-1] > 1 and len(kernel.mapping.grid) > 1 for kernel, _ in gpu.sources.values())
  assert not any(
    i.opcode in ("gather", "scatter") for i in after.instructions()
  )  # one element of each row is a comparison
  check(plain, ours, f, args, EPS["float32"])


@pytest.mark.parametrize(
  "op, is_approximate", [(jnp.divide, True), (lambda x, y: jnp.sqrt(x * x), True), (jnp.maximum, False)]
)
def test_exact_leaves_what_xla_approximates_on_gpus(op, is_approximate, gpu, monkeypatch):
  monkeypatch.setattr(regions, "_LEAST_GPU", 0.0)
  monkeypatch.setattr(regions, "_MARGIN_GPU", 0.0)
  reports = []
  module = gpu.module(lambda x, y: jnp.max(op(x, y), axis=1), normal(64, 256), normal(64, 256))
  gpu.accelerated(module, reports, exact=True)
  (report,) = reports
  assert bool(report.taken) != is_approximate
  assert any("is approximated" in d.why_not for d in report.decisions) == is_approximate


@pytest.mark.parametrize("seed", [None, 0, 1])  # an instruction, a call of cuBLAS, a fusion
def test_products_with_quantised_weights(seed, gpu, monkeypatch):
  w, scales, x = RNG.integers(-127, 128, (64, 256)).astype(np.int8), np.abs(normal(256)), normal(1, 64)
  f = lambda x, w, s: x @ (w.astype(jnp.float32) * s)
  _, (ours,), taken, _ = both(gpu, monkeypatch, f, [x, w, scales], State(seed))
  assert [d for d in taken if d.kind == "scaled dot"]
  exact = np.asarray(x, np.float64) @ (np.asarray(w, np.float64) * scales)
  bound = 64 * EPS["float32"] * (np.abs(x) @ np.abs(np.asarray(w, np.float64) * scales))
  assert (np.abs(ours - exact) <= bound).all()


@ptxas_marks.needs_ptxas
def test_kernels_are_assembled_for_hopper(gpu, monkeypatch):
  gpu.arch = nvgpu.architectures.named("sm_90a")
  f, shapes, *_ = ATTENTIONS["of products, after layouts"]
  args = [normal(*s, dtype="bfloat16", scale=0.4) for s in shapes]
  both(gpu, monkeypatch, f, args, CHOSEN)
  assert gpu.sources
  for kernel, wishes in gpu.sources.values():
    assert ptxas.resources(nvgpu.compile_ptx(kernel, "sm_90a", *wishes)[0], "sm_90a").registers > 0


def _gemm(gemm):
  config = f'{{"gemm_backend_config":{gemm}}}'
  text = f"""HloModule m
ENTRY e {{
  x = bf16[4,8]{{1,0}} parameter(0)
  y = bf16[16,8]{{1,0}} parameter(1)
  c = (bf16[4,16]{{1,0}}, s8[64]{{0}}) custom-call(x, y), custom_call_target="__cublas$gemm", backend_config={config}
  ROOT r = bf16[4,16]{{1,0}} get-tuple-element(c), index=0
}}"""
  return [n.opcode for n in graph.view(parse(text).entry).nodes]


NUMBERS = '"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"]}'


def test_calls_of_cublas_are_products_if_they_are_nothing_else():
  assert "dot" in _gemm(f'{{"alpha_real":1,"beta":0,"epilogue":"DEFAULT",{NUMBERS}}}')
  assert {"dot", "multiply"} <= set(_gemm(f'{{"alpha_real":0.5,"beta":0,{NUMBERS}}}'))
  for more in ('"beta":1', '"epilogue":"BIAS"', '"alpha_imag":1', '"scale_mode":1'):
    assert "dot" not in _gemm(f'{{"alpha_real":1,{more},{NUMBERS}}}')
