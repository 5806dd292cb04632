"""Attention in many spellings, with its derivative, with and without acceleration, against float64: where no unit test can run.

    python -m tests.accelerate.attention_programs --platform gpu --dtypes bfloat16,float16,float32 --jobs 6 --out rows.txt

Each program runs five times, each time after memory was filled with NaNs and given back. A result may be as far from float64 as roundings
of its type are, in numbers that are as large as the largest one. A line for each program says what became a kernel.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

B, S, K, H, D = 2, 200, 264, 4, 64
ROUNDINGS = 8.0  # in the largest numbers
EPS = {"float32": 2.0**-20, "bfloat16": 2.0**-8, "float16": 2.0**-11}
Q, KV, FEW, ONE = (B, S, H, D), (B, K, H, D), (B, S, 2, D), (B, S, D)
SCALE = D**-0.5


def causal(s: Any) -> Any:
  return jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, jnp.finfo(s.dtype).min)


def scores(q: Any, k: Any) -> Any:
  return jnp.einsum("bqhd,bkhd->bhqk", q, k)


def values(w: Any, v: Any) -> Any:
  return jnp.einsum("bhqk,bkhd->bqhd", w, v)


def plain(q: Any, k: Any, v: Any) -> Any:
  return values(jax.nn.softmax(scores(q, k) * SCALE), v)


def causal_heads_inside(q: Any, k: Any, v: Any) -> Any:
  return values(jax.nn.softmax(causal(scores(q, k) * SCALE)), v)


def softmax_in_float32(q: Any, k: Any, v: Any) -> Any:
  s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, jnp.float32)) * SCALE
  return values(jax.nn.softmax(s).astype(q.dtype), v)


def mask_added(q: Any, k: Any, v: Any) -> Any:
  hidden = 1 - jnp.tril(jnp.ones((S, S), q.dtype))
  return values(jax.nn.softmax(scores(q, k) * SCALE - 1e4 * hidden), v)


def grouped(q: Any, k: Any, v: Any) -> Any:
  q = q.reshape(B, S, 2, 2, D)
  s = causal(jnp.einsum("bqhgd,bkhd->bhgqk", q, k) * SCALE)
  return jnp.einsum("bhgqk,bkhd->bqhgd", jax.nn.softmax(s), v)


def one_head_of_keys(q: Any, k: Any, v: Any) -> Any:
  return jnp.einsum("bhqk,bkd->bqhd", jax.nn.softmax(causal(jnp.einsum("bqhd,bkd->bhqk", q, k) * SCALE)), v)


def keys_first(q: Any, k: Any, v: Any) -> Any:
  return jnp.einsum("kq,kd->qd", jax.nn.softmax(jnp.einsum("kd,qd->kq", k, q) * SCALE, 0), v)


def matrices(q: Any, k: Any, v: Any) -> Any:
  return jax.nn.softmax((q * SCALE) @ k.T) @ v


def later_queries(q: Any, k: Any, v: Any) -> Any:
  sees = jnp.arange(S)[:, None] + (K - S) >= jnp.arange(K)[None]
  return values(jax.nn.softmax(jnp.where(sees, scores(q, k) * SCALE, -jnp.inf)), v)


def window(q: Any, k: Any, v: Any) -> Any:
  i, j = jnp.arange(S)[:, None], jnp.arange(S)[None]
  return values(jax.nn.softmax(jnp.where((i >= j) & (i - j < 70), scores(q, k) * SCALE, -jnp.inf)), v)


def heads_first(q: Any, k: Any, v: Any) -> Any:
  q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
  return (jax.nn.softmax(causal(q @ k.swapaxes(-1, -2) * SCALE)) @ v).swapaxes(1, 2)


def by_hand(q: Any, k: Any, v: Any) -> Any:
  s = causal(scores(q, k).astype(jnp.promote_types(q.dtype, jnp.float32)) * SCALE)
  e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
  return values((e / e.sum(-1, keepdims=True)).astype(q.dtype), v)


def log_sum_exp(q: Any, k: Any, v: Any) -> Any:
  s = scores(q, k) * SCALE
  return values(jnp.exp(s - jax.nn.logsumexp(s, -1, keepdims=True)), v)


def divided_later(q: Any, k: Any, v: Any) -> Any:
  s = scores(q, k) * SCALE
  e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
  return values(e, v) / e.sum(-1).swapaxes(1, 2)[..., None]


def of_products(x: Any, w: Any, o: Any) -> Any:
  q, k, v = ((x @ w[i]).reshape(B, S, H, D) for i in range(3))
  return causal_heads_inside(q, k, v).reshape(B, S, H * D) @ o


def packed(x: Any, w: Any, o: Any) -> Any:
  q, k, v = jnp.split((x @ w).reshape(B, S, H, 3 * D), 3, -1)
  return causal_heads_inside(q, k, v).reshape(B, S, H * D) @ o


def rotated(q: Any, k: Any, v: Any) -> Any:
  def rotary(x: Any) -> Any:
    angle = jnp.arange(S)[:, None] * 1e4 ** (-jnp.arange(D // 2) / (D // 2))
    c, s = (f(angle)[:, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)

  return causal_heads_inside(rotary(q), rotary(k), v)


def layers(x: Any, w: Any) -> Any:
  def block(x: Any, w: Any) -> Any:
    q, k, v = ((x @ w[i]).reshape(B, S, H, D) for i in range(3))
    h = x + causal_heads_inside(q, k, v).reshape(x.shape) @ w[3]
    return h * jax.lax.rsqrt((h * h).mean(-1, keepdims=True) + jnp.asarray(1e-3, h.dtype))

  return jax.lax.scan(lambda c, w: (jax.checkpoint(block)(c, w), None), x, w)[0]


def mapped(q: Any, k: Any, v: Any) -> Any:
  one = lambda q, k, v: jax.nn.softmax(causal(q @ k.T * SCALE)) @ v
  return jax.vmap(jax.vmap(one, 1, 1))(q, k, v)


def as_flax_does(q: Any, k: Any, v: Any) -> Any:
  mask = jnp.tril(jnp.ones((B, 1, S, S), bool))
  s = scores(q / jnp.sqrt(D).astype(q.dtype), k)
  s = jnp.where(mask, s, jnp.finfo(s.dtype).min)
  return values(jax.nn.softmax(s).astype(q.dtype), v)


def of_itself(q: Any, k: Any) -> Any:
  return causal_heads_inside(q, k, k)


def twice(q: Any, k: Any, v: Any) -> Any:
  return causal_heads_inside(plain(q, k, v), k, v)


WIDE, MATRIX = (B, S, H * D), (H * D, H * D)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
  "all keys": (plain, (Q, KV, KV)),
  "causal": (causal_heads_inside, (Q, Q, Q)),
  "softmax in float32": (softmax_in_float32, (Q, KV, KV)),
  "mask added": (mask_added, (Q, Q, Q)),
  "grouped": (grouped, (Q, FEW, FEW)),
  "one head of keys": (one_head_of_keys, (Q, ONE, ONE)),
  "keys first": (keys_first, ((S, D), (K, D), (K, D))),
  "matrices": (matrices, ((S, D), (K, D), (K, D))),
  "later queries": (later_queries, (Q, KV, KV)),
  "window": (window, (Q, Q, Q)),
  "heads first": (heads_first, (Q, Q, Q)),
  "by hand": (by_hand, (Q, Q, Q)),
  "log of a sum": (log_sum_exp, (Q, KV, KV)),
  "divided later": (divided_later, (Q, KV, KV)),
  "of products": (of_products, (WIDE, (3, *MATRIX), MATRIX)),
  "packed": (packed, (WIDE, (H * D, 3 * H * D), MATRIX)),
  "rotated": (rotated, (Q, Q, Q)),
  "layers": (layers, (WIDE, (2, 4, *MATRIX))),
  "mapped": (mapped, (Q, Q, Q)),
  "as Flax does": (as_flax_does, (Q, Q, Q)),
  "JAX's own": (jax.nn.dot_product_attention, (Q, FEW, FEW)),
  "JAX's own, causal": (functools.partial(jax.nn.dot_product_attention, is_causal=True), (Q, Q, Q)),
  "of itself": (of_itself, (Q, Q)),
  "twice": (twice, (Q, Q, Q)),
}


def with_derivative(f: Callable[..., Any]) -> Callable[..., Any]:
  def step(*args: Any) -> Any:
    *own, weights = args

    def loss(*own: Any) -> Any:
      out = f(*own)
      return (out.astype(jnp.promote_types(out.dtype, jnp.float32)) * weights).sum(), out

    (_, out), slopes = jax.value_and_grad(loss, tuple(range(len(own))), has_aux=True)(*own)
    return out, *slopes

  return step


def arrays(name: str, dtype: str) -> list[Any]:
  f, shapes = PROGRAMS[name]
  rng = np.random.default_rng(0)
  scale = lambda s: s[-1] ** -0.5 if s[-2:] == MATRIX or s[0] == H * D else 1.0
  args = [np.asarray(rng.normal(size=s) * scale(s), jnp.dtype(dtype)) for s in shapes]
  return [*args, np.asarray(rng.normal(size=jax.eval_shape(f, *args).shape), jnp.dtype(dtype))]


def _poison() -> None:
  jax.block_until_ready([jnp.full((n << 20,), jnp.nan, jnp.float32) for n in (1, 1, 2, 4, 8)])


def check(name: str, dtype: str, runs: int) -> str:
  """A line: what was taken, how far results are from float64 in units of what is allowed, and whether that is fine."""
  import tilewright

  f = with_derivative(PROGRAMS[name][0])
  args = arrays(name, dtype)
  with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
    exact = [np.asarray(x) for x in jax.jit(lambda *a: f(*a))(*(a.astype(np.float64) for a in args))]

  def off(found: Any) -> float:
    found = [np.asarray(x, np.float64) for x in found]
    if not all(np.isfinite(x).all() for x in found):
      return np.inf
    return max(np.abs(a - c).max() / (EPS[dtype] * np.abs(c).max()) for a, c in zip(found, exact)) / ROUNDINGS

  begun = time.perf_counter()
  with tilewright.accelerate(platforms=("cpu", "cuda")) as acceleration:
    compiled = jax.jit(lambda *a: f(*a)).lower(*args).compile()
  seconds = time.perf_counter() - begun
  worst, first, same = 0.0, None, True
  for _ in range(runs):
    _poison()
    found = [np.asarray(x) for x in compiled(*args)]
    worst = max(worst, off(found))
    bits = [x.tobytes() for x in found]
    first, same = first or bits, same and (first is None or bits == first)
  taken = [d for r in acceleration.reports for d in r.taken]
  left = [d.why_not for r in acceleration.reports for d in r.decisions if d.kind == "attention" and d.why_not]
  kinds = f"{sum(d.kind == 'attention' for d in taken)} attention, {sum(d.kind == 'tiles' for d in taken)} tiles"
  verdict = "ok" if worst <= 1 else "WRONG"
  bits_text = "same bits" if same else "bits differ between runs"
  return (
    f"{verdict} {dtype} {name}: {kinds}; {worst:.3f} of the bound; {bits_text}; compiled in {seconds:.1f} s; {left}"
  )


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--platform", default="cpu")
  parser.add_argument("--dtypes", default="bfloat16,float16,float32")
  parser.add_argument("--only", default="")
  parser.add_argument("--runs", type=int, default=5)
  parser.add_argument("--jobs", type=int, default=1)
  parser.add_argument("--part", type=int, default=-1, help="which of the jobs this process does")
  parser.add_argument("--everything", action="store_true", help="take all kernels, whether they are worth it or not")
  parser.add_argument("--out", default="")
  o = parser.parse_args()
  if o.part < 0 and o.jobs > 1:
    own = [
      [sys.executable, "-m", "tests.accelerate.attention_programs", *sys.argv[1:], f"--part={n}"] for n in range(o.jobs)
    ]
    return max([p.wait() for p in [subprocess.Popen(command) for command in own]])
  jax.config.update("jax_default_matmul_precision", "highest")  # of float32, as bounds are for it
  if o.everything:
    from tests.accelerate.random_plain_programs import take_everything

    take_everything()
  todo = [
    (name, dtype) for dtype in o.dtypes.split(",") for name in PROGRAMS if not o.only or name in o.only.split("|")
  ]
  failed = 0
  for name, dtype in todo[max(0, o.part) :: o.jobs]:
    try:
      line = check(name, dtype, o.runs)
    except Exception as e:
      line = f"WRONG {dtype} {name}: {type(e).__name__}: {str(e)[:600]}"
    failed += line.startswith("WRONG")
    print(line, flush=True)
    if o.out:
      with open(o.out, "a") as file:
        file.write(line + "\n")
  return failed


if __name__ == "__main__":
  sys.exit(main())
