"""Search spaces of several hundred candidates, and the command that enumerates them in full on the machine it runs on:

    python tests/tune/record_spaces.py matmul_cpu tests/tune/recorded/matmul_cpu.json

`test_tune_search.py` searches in the times of these files with a tenth of the trials.
"""

from __future__ import annotations

import json
import sys

import jax
import jax.numpy as jnp

import tilewright as tw
from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.tune import keys

BF16, F32 = jnp.bfloat16, jnp.float32
S = jax.ShapeDtypeStruct


def tiled_matmul(x, y, block_m, block_n, block_k, order, params):
  (m, k), n = x.shape, y.shape[1]
  grid = {"i": m // block_m, "j": n // block_n, "l": k // block_k}
  place = lambda *names: lambda *at: tuple(dict(zip(order, at))[name] for name in names)

  def kernel(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=F32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
      o_ref[...] = acc_ref[...].astype(o_ref.dtype)

  return pl.pallas_call(
    kernel,
    out_shape=S((m, n), x.dtype),
    grid=tuple(grid[name] for name in order),
    in_specs=[pl.BlockSpec((block_m, block_k), place("i", "l")), pl.BlockSpec((block_k, block_n), place("l", "j"))],
    out_specs=pl.BlockSpec((block_m, block_n), place("i", "j")),
    scratch_shapes=[S((block_m, block_n), F32)],
    compiler_params=params,
  )(x, y)


@tw.tune(
  block_m=tw.power_of_two(4, 256),
  block_n=tw.power_of_two(8, 256),
  block_k=tw.power_of_two(8, 256),
  order=tw.choice("ijl", "jil"),
  heuristic={"block_m": 64, "block_n": 64, "block_k": 64, "order": "ijl"},
)
def matmul_cpu(x, y, *, block_m, block_n, block_k, order):
  return tiled_matmul(x, y, block_m, block_n, block_k, order, None)


@tw.tune(
  block_m=tw.choice(64, 128, 256),
  block_n=tw.choice(32, 64, 128, 256),
  block_k=tw.choice(32, 64, 128),
  order=tw.choice("ijl", "jil"),
  params=tw.build(
    nvgpu.CompilerParams,
    num_warps=tw.choice(None, 4, 8),
    cluster=tw.choice(None, (2, 1, 1), (1, 2, 1)),
    dimension_semantics=tw.choice(("parallel", "parallel", "arbitrary")),
  ),
  heuristic=lambda: {"block_m": 128, "block_n": 128, "block_k": 64, "order": "ijl"} | PLAIN,
)
def matmul_gpu(x, y, *, block_m, block_n, block_k, order, params):
  return tiled_matmul(x, y, block_m, block_n, block_k, order, params)


PLAIN = {
  "params.num_warps": None,
  "params.cluster": None,
  "params.dimension_semantics": ("parallel", "parallel", "arbitrary"),
}


@tw.tune(
  rows=tw.choice(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
  columns=tw.choice(16, 32, 64, 128, 256, 512, 1024),
  passes=tw.choice("separate", "joint", "centred"),
  width=tw.choice("whole", "halves"),
  heuristic={"rows": 16, "columns": 1024, "passes": "joint", "width": "whole"},
)
def norm_cpu(x, *, rows, columns, passes, width):
  """Rows normalised by their mean square, in blocks of columns: once to add up, once to scale."""
  count, length = x.shape
  parts = 1 if width == "whole" else 2

  def moments(x_ref, s_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      s_ref[...] = jnp.zeros_like(s_ref)

    for part in jnp.split(x_ref[...], parts, axis=1):
      own = part - 0.0 if passes == "centred" else part
      s_ref[...] += jnp.sum(own * own, axis=1, keepdims=True)

  def scale(x_ref, s_ref, o_ref):
    factor = jax.lax.rsqrt(s_ref[...] / length + 1e-6)
    o_ref[...] = x_ref[...] * (factor if passes != "separate" else jnp.broadcast_to(factor, x_ref.shape))

  grid = (pl.cdiv(count, rows), length // columns)
  of_x = pl.BlockSpec((rows, columns), lambda i, j: (i, j))
  of_s = pl.BlockSpec((rows, 1), lambda i, j: (i, 0))
  s = pl.pallas_call(moments, S((count, 1), F32), grid=grid, in_specs=[of_x], out_specs=of_s)(x)
  return pl.pallas_call(scale, S(x.shape, x.dtype), grid=grid, in_specs=[of_x, of_s], out_specs=of_x)(x, s)


@tw.tune(
  block_q=tw.power_of_two(8, 256),
  block_k=tw.power_of_two(8, 256),
  heads=tw.choice(1, 2),
  transposed=tw.choice(False, True),
  base=tw.choice("e", "2"),
  scaled=tw.choice("queries", "scores"),
  heuristic={"block_q": 64, "block_k": 64, "heads": 1, "transposed": False, "base": "e", "scaled": "scores"},
)
def attention_cpu(q, k, v, *, block_q, block_k, heads, transposed, base, scaled):
  count, length, depth = q.shape
  factor = depth**-0.5 * (1.4426950408889634 if base == "2" else 1.0)
  power = jnp.exp2 if base == "2" else jnp.exp

  def kernel(q_ref, k_ref, v_ref, o_ref, m_ref, l_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      m_ref[...] = jnp.full(m_ref.shape, -1e30, F32)
      l_ref[...] = jnp.zeros(l_ref.shape, F32)
      acc_ref[...] = jnp.zeros(acc_ref.shape, F32)

    for h in range(heads):
      own = q_ref[h] * factor if scaled == "queries" else q_ref[h]
      scores = (k_ref[h] @ own.T).T if transposed else own @ k_ref[h].T
      scores = scores if scaled == "queries" else scores * factor
      m = jnp.maximum(m_ref[h], jnp.max(scores, axis=1, keepdims=True))
      weights, shrink = power(scores - m), power(m_ref[h] - m)
      m_ref[h] = m
      l_ref[h] = l_ref[h] * shrink + jnp.sum(weights, axis=1, keepdims=True)
      acc_ref[h] = acc_ref[h] * shrink + weights @ v_ref[h]

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
      o_ref[...] = acc_ref[...] / l_ref[...]

  of_q = pl.BlockSpec((heads, block_q, depth), lambda h, i, j: (h, i, 0))
  of_k = pl.BlockSpec((heads, block_k, depth), lambda h, i, j: (h, j, 0))
  column = S((heads, block_q, 1), F32)
  return pl.pallas_call(
    kernel,
    S(q.shape, q.dtype),
    grid=(count // heads, length // block_q, length // block_k),
    in_specs=[of_q, of_k, of_k],
    out_specs=of_q,
    scratch_shapes=[column, column, S((heads, block_q, depth), F32)],
  )(q, k, v)


SPACES = {
  "matmul_cpu": (matmul_cpu, (S((256, 256), F32), S((256, 256), F32))),
  "attention_cpu": (attention_cpu, (S((4, 256, 32), F32),) * 3),
  "norm_cpu": (norm_cpu, (S((192, 1024), F32),)),
  "matmul_gpu": (matmul_gpu, (S((2048, 2048), BF16), S((2048, 2048), BF16))),
}


def main(name: str, file: str) -> None:
  tuned, args = SPACES[name]
  count = len(tuned.bound(args, {}).space.enumerated({}))
  print(f"{name}: {count} candidates", flush=True)
  result = tuned.search(*args, budget=f"{count} trials", save=False, log=file + ".log")
  times = [[list(t.config.values()), t.seconds and float(f"{t.seconds:.4g}")] for t in result.trials]
  said = {"device": keys.device_name(keys.platform()), "names": list(result.trials[0].config), "trials": times}
  with open(file, "w") as out:
    out.write(json.dumps(said).replace(" ", "").replace("],[[", "],\n[[") + "\n")
  print(result, flush=True)


if __name__ == "__main__":
  main(*sys.argv[1:])
