"""Random programs in plain JAX, with and without kernels, against the same program in float64.

    python -m tests.accelerate.random_plain_programs --count 500 --seed 0

A program is a random sequence of what people write with `jnp` and `lax` on arrays of odd sizes and several types, taken as it is or
differentiated, under a random transformation. Every region that can be a kernel is one, whether it is worth it or not. A result may be as
far from float64 as XLA's own is, times a factor, plus roundings of the coarsest type in the program. With `exact=True` the bits are XLA's.
"""

from __future__ import annotations

import argparse
import collections
import functools
import math
import traceback
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import tilewright
from tilewright.accelerate import program, regions

SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33)
EPS = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10}
FACTOR, ROUNDINGS = 8.0, 64.0


class Numbers:
  """The float types of a program: as it says, or all float64."""

  def __init__(self, exact: bool):
    self.exact = exact

  def cast(self, x: Any, dtype: str) -> Any:
    return x if self.exact else x.astype(dtype)


Step = Callable[[Numbers, list[Any]], Any]


class Maker:
  """Makes steps; of each value so far it knows the shape and the kind: "float", "int", or "bool"."""

  def __init__(self, rng: np.random.Generator):
    self.rng = rng
    self.kinds: list[str] = []
    self.types: list[str] = []
    self.shapes: list[tuple[int, ...]] = []
    self.steps: list[Step] = []
    self.names: list[str] = []
    self.coarsest = "float32"

  def pick(self, items):
    return items[int(self.rng.integers(len(items)))]

  def value(self, wanted=lambda i: True) -> int | None:
    found = [i for i in range(len(self.shapes)) if wanted(i)][-8:]
    return self.pick(found) if found else None

  def float(self, rank: int = 0) -> int | None:
    return self.value(lambda i: self.kinds[i] == "float" and len(self.shapes[i]) >= rank)

  def add(self, name: str, step: Step) -> None:
    """Append a step; what it gives is found out by running it on shapes."""
    given = [jax.ShapeDtypeStruct(s, t) for s, t in zip(self.shapes, self.types)]
    made = jax.eval_shape(functools.partial(step, Numbers(False)), given)
    if math.prod(made.shape) > 1 << 14 or math.prod(made.shape) == 0:
      return
    dtype = np.dtype(made.dtype)
    kind = "bool" if dtype == np.bool_ else "int" if dtype.kind in "iu" else "float"
    if kind == "float" and EPS[dtype.name] > EPS[self.coarsest]:
      self.coarsest = dtype.name
    self.shapes.append(made.shape)
    self.types.append(dtype.name)
    self.kinds.append(kind)
    self.steps.append(step)
    self.names.append(name)

  def axis(self, i: int) -> int:
    return int(self.rng.integers(len(self.shapes[i])))


def unary(m: Maker) -> None:
  x = m.float()
  name, f = m.pick(UNARY)
  if x is not None:
    m.add(name, lambda n, v: f(v[x]))


UNARY: list[tuple[str, Callable[[Any], Any]]] = [
  ("tanh", jnp.tanh),
  ("sin", jnp.sin),
  ("cos", jnp.cos),
  ("exp", lambda x: jnp.exp(jnp.tanh(x))),
  ("sigmoid", jax.nn.sigmoid),
  ("abs", jnp.abs),
  ("neg", jnp.negative),
  ("sqrt", lambda x: jnp.sqrt(jnp.abs(x) + 1)),
  ("rsqrt", lambda x: lax.rsqrt(x * x + 1)),
  ("log", lambda x: jnp.log(jnp.abs(x) + 1)),
  ("log1p", lambda x: jnp.log1p(jnp.abs(x))),
  ("expm1", lambda x: jnp.expm1(jnp.tanh(x))),
  ("gelu", jax.nn.gelu),
  ("gelu exact", lambda x: jax.nn.gelu(x, approximate=False)),
  ("silu", jax.nn.silu),
  ("softplus", jax.nn.softplus),
  ("relu", jax.nn.relu),
  ("square", jnp.square),
  ("cbrt", lambda x: jnp.cbrt(jnp.abs(x) + 1)),
  ("atan2", lambda x: jnp.arctan2(x, 1 + jnp.abs(x))),
  ("pow", lambda x: (jnp.abs(x) + 1) ** 1.5),
  ("cube", lambda x: jnp.tanh(x) ** 3),
]


def binary(m: Maker) -> None:
  x = m.float()
  if x is None:
    return
  y = m.value(lambda i: m.kinds[i] == "float" and _broadcasts(m.shapes[x], m.shapes[i]))
  ops: list[tuple[str, Any]] = [
    ("add", jnp.add),
    ("sub", jnp.subtract),
    ("mul", lambda a, b: jnp.tanh(a) * b),
    ("max", jnp.maximum),
    ("min", jnp.minimum),
    ("div", lambda a, b: a / (1 + jnp.abs(b))),
  ]
  name, f = m.pick(ops)
  if y is not None:
    m.add(name, lambda n, v: f(v[x], v[y]))


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
  return all(p == q or 1 in (p, q) for p, q in zip(reversed(a), reversed(b)))


def norm(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return
  axis = m.axis(x)

  def layer(a):
    mean = a.mean(axis, keepdims=True)
    return (a - mean) * lax.rsqrt(((a - mean) ** 2).mean(axis, keepdims=True) + 0.1)

  def standard(a):
    return (a - a.mean(axis, keepdims=True)) / (a.std(axis, keepdims=True) + 0.5)

  name, f = m.pick(
    [
      ("softmax", lambda a: jax.nn.softmax(a, axis)),
      ("log_softmax", lambda a: jax.nn.log_softmax(a, axis)),
      ("layer_norm", layer),
      ("rms_norm", lambda a: a * lax.rsqrt((a * a).mean(axis, keepdims=True) + 0.1)),
      ("standardize", standard),
      ("softmax, where", lambda a: jax.nn.softmax(a, axis, where=lax.broadcasted_iota(jnp.int32, a.shape, axis) < 3)),
    ]
  )
  m.add(name, lambda n, v: f(v[x]))


def reduction(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return
  rank = len(m.shapes[x])
  axes = tuple(sorted(int(i) for i in m.rng.choice(rank, int(m.rng.integers(1, rank + 1)), replace=False)))
  keep = bool(m.rng.random() < 0.6)
  name, f = m.pick(
    [
      ("sum", jnp.sum),
      ("mean", jnp.mean),
      ("max", jnp.max),
      ("min", jnp.min),
      ("var", jnp.var),
      ("prod", lambda a, **k: jnp.prod(1 + 0.1 * jnp.tanh(a), **k)),
      ("logsumexp", jax.nn.logsumexp),
      ("norm", lambda a, **k: jnp.sqrt((a * a).sum(**k) + 0.1)),
    ]
  )
  m.add(name, lambda n, v: f(v[x], axis=axes, keepdims=keep))


def moved(m: Maker) -> None:
  x = m.value(lambda i: len(m.shapes[i]) >= 1)
  if x is None:
    return
  shape, axis = m.shapes[x], m.axis(x)
  permutation = [int(i) for i in m.rng.permutation(len(shape))]
  start, step = int(m.rng.integers(0, shape[axis])), m.pick((1, 1, 2, 3))
  cut = tuple(slice(start, None, step) if i == axis else slice(None) for i in range(len(shape)))
  edges = [(int(m.rng.integers(0, 3)), int(m.rng.integers(0, 2))) for _ in shape]
  inner = [(low, high, m.pick((0, 0, 1))) for low, high in edges]
  size = math.prod(shape)
  factor = m.pick([d for d in range(1, size + 1) if size % d == 0])
  shift = int(m.rng.integers(0, shape[axis] + 1))
  name, f = m.pick(
    [
      ("transpose", lambda a: a.transpose(permutation)),
      ("reshape", lambda a: a.reshape(factor, size // factor)),
      ("ravel", lambda a: a.ravel()),
      ("slice", lambda a: a[cut]),
      ("flip", lambda a: jnp.flip(a, axis)),
      ("pad", lambda a: jnp.pad(a, edges)),
      ("lax.pad", lambda a: lax.pad(a, jnp.zeros((), a.dtype), inner)),
      ("pad, edge", lambda a: jnp.pad(a, edges, mode="edge")),
      ("roll", lambda a: jnp.roll(a, shift, axis)),
      ("repeat", lambda a: jnp.repeat(a, 2, axis)),
      ("tile", lambda a: jnp.tile(a, (2,) + (1,) * (a.ndim - 1))),
      ("expand", lambda a: jnp.broadcast_to(jnp.expand_dims(a, axis), (*a.shape[:axis], 3, *a.shape[axis:]))),
      ("concatenate", lambda a: jnp.concatenate([a, jnp.flip(a, axis)], axis)),
      ("stack", lambda a: jnp.stack([a, a[..., ::-1]], axis)),
      ("rotate half", lambda a: jnp.concatenate([a[cut], a], axis)),
      ("triangle", lambda a: jnp.tril(a) if a.ndim > 1 else a),
    ]
  )
  if m.kinds[x] != "bool" or name in ("transpose", "reshape", "slice", "flip"):
    m.add(name, lambda n, v: f(v[x]))


def select(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return
  axis, limit = m.axis(x), int(m.rng.integers(0, 6))
  flag = m.value(lambda i: m.kinds[i] == "bool" and _broadcasts(m.shapes[i], m.shapes[x]))

  def f(n, v):
    a = v[x]
    mask = lax.broadcasted_iota(jnp.int32, a.shape, axis) < limit if flag is None else v[flag]
    return jnp.where(mask, a, -jnp.tanh(a))

  m.add("where", f)


def whole_numbers(m: Maker) -> None:
  x = m.value(lambda i: m.kinds[i] == "int" and np.dtype(m.types[i]) == np.int32)
  if x is None:
    return
  ops: list[tuple[str, Any]] = [
    ("add", lambda a: a + 3),
    ("mul", lambda a: a * 7),
    ("xor", lambda a: a ^ (a >> 2)),
    ("shift", lambda a: (a << 3) - lax.shift_right_logical(a, jnp.asarray(5, a.dtype))),
    ("popcount", lax.population_count),
    ("clz", lax.clz),
    ("div", lambda a: a // 3),
    ("rem", lambda a: a % 5),
    ("sum", lambda a: a.sum(keepdims=True)),
    ("max", lambda a: a.max(keepdims=True)),
    ("compare", lambda a: a > 1),
    ("clip", lambda a: jnp.clip(a, -3, 4)),
    ("cumsum", lambda a: jnp.cumsum(a, 0) if a.ndim else a),
    ("sort", lambda a: jnp.sort(a, -1) if a.ndim else a),
    ("uint8", lambda a: a.astype(jnp.uint8).astype(jnp.int32)),
    ("int8", lambda a: a.astype(jnp.int8).astype(jnp.int32)),
    ("sign", jnp.sign),
  ]
  name, f = m.pick(ops)
  m.add(f"int {name}", lambda n, v: f(v[x]))


def mixed(m: Maker) -> None:
  x = m.value(lambda i: m.kinds[i] in ("int", "bool"))
  if x is not None:
    m.add("to float", lambda n, v: jnp.tanh(v[x].astype(jnp.float64 if n.exact else jnp.float32)))


def cast(m: Maker) -> None:
  x = m.float()
  dtype = m.pick(("bfloat16", "float32", "float32", "float16"))
  if x is not None:
    m.add(dtype, lambda n, v: n.cast(v[x], dtype))


def cumulative(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return
  axis, back = m.axis(x), bool(m.rng.random() < 0.3)
  name, f = m.pick(
    [
      ("cumsum", lambda a: lax.cumsum(a, axis, back)),
      ("cummax", lambda a: lax.cummax(a, axis, back)),
      ("cumprod", lambda a: lax.cumprod(1 + 0.1 * jnp.tanh(a), axis, back)),
      ("cumlogsumexp", lambda a: lax.cumlogsumexp(a, axis, back)),
      ("associative scan", lambda a: lax.associative_scan(jnp.add, a, axis=axis, reverse=back)),
    ]
  )
  m.add(name, lambda n, v: f(v[x]))


def looked_up(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return
  shape = m.shapes[x]
  rows = m.rng.integers(0, shape[0], int(m.rng.integers(1, 9))).astype(np.int32)
  last = m.rng.integers(0, shape[-1], (*shape[:-1], 1)).astype(np.int32)
  at, size = int(m.rng.integers(0, shape[0])), int(m.rng.integers(1, shape[0] + 1))

  def scatter(a):
    return jnp.zeros_like(a).at[rows].add(jnp.take(a, rows, 0))

  name, f = m.pick(
    [
      ("take", lambda a: jnp.take(a, rows, 0)),
      ("take_along_axis", lambda a: jnp.take_along_axis(a, jnp.asarray(last), -1)),
      ("scatter add", scatter),
      ("scatter set", lambda a: a.at[at].set(0.5)),
      ("segment_sum", lambda a: jax.ops.segment_sum(a, jnp.arange(a.shape[0]) % 3, 3)),
      ("dynamic_slice", lambda a: lax.dynamic_slice_in_dim(a, jnp.asarray(at), size, 0)),
      ("dynamic_update", lambda a: lax.dynamic_update_slice_in_dim(a, a[:1] * 2, jnp.asarray(at), 0)),
      ("one_hot", lambda a: a * jax.nn.one_hot(jnp.asarray(last[..., 0]), a.shape[-1], dtype=a.dtype)),
    ]
  )
  m.add(name, lambda n, v: f(v[x]))


def product(m: Maker) -> None:
  x = m.float(2)
  if x is None:
    return
  shape, width = m.shapes[x], m.pick(SIZES)
  w = (m.rng.normal(size=(shape[-1], width)) / math.sqrt(shape[-1])).astype(np.float32)
  kernel = (m.rng.normal(size=(3, shape[-1], 4)) / math.sqrt(3 * shape[-1])).astype(np.float32)

  def convolution(a, n):
    b = a.reshape(1, -1, a.shape[-1])
    return lax.conv_general_dilated(
      b, n.cast(k64(kernel, n), a.dtype), (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
    )

  k64 = lambda a, n: jnp.asarray(a, jnp.float64 if n.exact else jnp.float32)
  bias = m.rng.normal(size=(width,)).astype(np.float32)
  dense = lambda a, n: a @ n.cast(k64(w, n), a.dtype)
  name, f = m.pick(
    [
      ("dot", dense),
      ("dense gelu", lambda a, n: jax.nn.gelu(dense(a, n) + n.cast(k64(bias, n), a.dtype))),
      ("dense of norm", lambda a, n: dense(a * lax.rsqrt((a * a).mean(-1, keepdims=True) + 0.1), n)),
      ("gram", lambda a, n: jnp.einsum("...ij,...kj->...ik", a, a) / a.shape[-1]),
      ("convolution", convolution),
      ("pool", lambda a, n: lax.reduce_window(a, 0.0, lax.add, (1,) * (a.ndim - 1) + (2,), (1,) * a.ndim, "SAME")),
    ]
  )
  m.add(name, lambda n, v: f(v[x], n))


def attended(m: Maker) -> None:
  x = m.float(2)
  if x is None or m.shapes[x][-2] < 4:
    return
  mask = m.pick(("none", "tril", "iota", "window"))
  scale = m.pick((1.0, 0.5, 0.25))

  def f(n, v):
    a = v[x]
    q, k, w = jnp.tanh(a), jnp.sin(a), a
    s = jnp.einsum("...qd,...kd->...qk", q, k) * scale
    length = s.shape[-1]
    rows, columns = (lax.broadcasted_iota(jnp.int32, (length, length), d) for d in (0, 1))
    if mask == "tril":
      s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), s, -jnp.inf)
    elif mask == "iota":
      s = jnp.where(rows >= columns, s, jnp.asarray(-1e4, s.dtype))
    elif mask == "window":
      s = jnp.where((rows >= columns) & (rows - columns < 3), s, jnp.asarray(-1e4, s.dtype))
    return jnp.einsum("...qk,...kd->...qd", jax.nn.softmax(s), w)

  m.add(f"attention, {mask}", f)


def looped(m: Maker) -> None:
  x = m.float(1)
  if x is None:
    return

  def scan(a):
    def body(c, i):
      c = jnp.tanh(c) * 0.9 + 0.1 * i.astype(c.dtype)
      return jax.nn.softmax(c, -1), c.sum(-1)

    return lax.scan(body, a, jnp.arange(3))[0]

  def remembered(a):
    def body(i, c):
      return lax.dynamic_update_slice_in_dim(c, jnp.tanh(c[:1]) + 0.1, i % c.shape[0], 0) * 0.9

    return lax.fori_loop(0, 3, body, a)

  name, f = m.pick(
    [
      ("scan", scan),
      ("fori with update", remembered),
      ("checkpoint", jax.checkpoint(lambda a: jnp.sin(jax.nn.softmax(jnp.tanh(a), -1)))),
      ("cond", lambda a: lax.cond(a.shape[0] > jnp.arange(3).sum(), lambda b: jax.nn.softmax(b, -1), jnp.tanh, a)),
      ("map", lambda a: lax.map(lambda r: r - r.mean(), a)),
      ("vmap", lambda a: jax.vmap(lambda r: jnp.exp(jnp.tanh(r)) / (1 + jnp.abs(r).sum()))(a)),
      ("stacked scan", lambda a: lax.scan(lambda c, r: ((c + r) * 0.5, jnp.tanh(c).sum()), a[0] * 0, a)[1]),
    ]
  )
  m.add(name, lambda n, v: f(v[x]))


KINDS = [
  *(unary, unary, unary, binary, binary, binary, norm, norm, reduction, reduction, moved, moved, moved),
  *(select, whole_numbers, whole_numbers, mixed, cast, cumulative, looked_up, product, product, attended, looped),
]


class Program:
  """A random program: `f(numbers, *arguments)`, its arguments, and what it is made of."""

  def __init__(self, seed: int):
    rng = np.random.default_rng(seed)
    m = Maker(rng)
    self.args: list[np.ndarray] = []
    for k in range(int(rng.integers(1, 4))):
      shape = tuple(m.pick(SIZES) for _ in range(int(rng.integers(1, 4))))
      whole = k > 0 and rng.random() < 0.5
      x = rng.integers(-9, 10, shape).astype(np.int32) if whole else rng.normal(size=shape).astype(np.float32)
      self.args.append(x)
      m.shapes.append(shape)
      m.kinds.append("int" if whole else "float")
      m.types.append(x.dtype.name)
    given = len(self.args)
    for _ in range(int(rng.integers(3, 12))):
      m.pick(KINDS)(m)
    self.names, self.coarsest = m.names, m.coarsest
    self.differentiated = bool(rng.random() < 0.5)
    count = len(m.steps)
    wanted = sorted({given + count - 1, *(given + int(i) for i in rng.integers(0, count, 2))}) if count else [0]

    def forward(n: Numbers, *args: Any) -> list[Any]:
      values = list(args)
      for step in m.steps:
        values.append(step(n, values))
      return [values[i] for i in wanted]

    weights = [rng.normal(size=m.shapes[i]).astype(np.float32) for i in wanted]

    def loss(n: Numbers, *args: Any) -> Any:
      found = forward(n, *args)
      wide = jnp.float64 if n.exact else jnp.float32
      return sum(
        (x.astype(wide) * w.astype(wide)).sum() for x, w in zip(found, weights) if jnp.issubdtype(x.dtype, jnp.floating)
      )

    floats = tuple(i for i, x in enumerate(self.args) if x.dtype == np.float32)
    has_floats = any(m.kinds[i] == "float" for i in wanted)

    def gradient(n: Numbers, *args: Any) -> Any:
      return jax.value_and_grad(lambda *a: loss(n, *a), floats)(*args)

    self.f = gradient if self.differentiated and has_floats else forward

  def text(self) -> str:
    shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.args)
    return f"{'derivative of ' if self.differentiated else ''}({shapes}): {' | '.join(self.names)}"


def compiled(f: Callable[..., Any], args: list[Any], **options: Any) -> tuple[Any, Any]:
  """The results of a program with kernels, and the acceleration that made them."""
  with tilewright.accelerate(**options) as acceleration:
    found = jax.jit(lambda *a: f(*a))(*args)
    jax.block_until_ready(found)
  return found, acceleration


def exact_values(p: Program) -> list[np.ndarray]:
  with jax.enable_x64(True):
    args = [x.astype(np.float64) if x.dtype == np.float32 else x for x in p.args]
    found = jax.jit(functools.partial(p.f, Numbers(True)))(*args)
    return [np.asarray(x) for x in jax.tree.leaves(found)]


class Checker:
  def __init__(self) -> None:
    self.counts: collections.Counter[str] = collections.Counter()

  def check(self, seed: int) -> None:
    p = Program(seed)
    f = functools.partial(p.f, Numbers(False))
    plain = jax.tree.leaves(jax.jit(lambda *a: f(*a))(*p.args))
    ours, acceleration = compiled(f, p.args)
    taken = sum(len(r.taken) for r in acceleration.reports)
    self.counts["programs"] += 1
    self.counts["with kernels"] += taken > 0
    self.counts["kernels"] += taken
    exact = exact_values(p)
    for k, (a, b, c) in enumerate(zip(jax.tree.leaves(ours), plain, exact, strict=True)):
      self._compare(p, k, np.asarray(a), np.asarray(b), c)
    same, exactly = compiled(f, p.args, exact=True)
    self.counts["exact kernels"] += sum(len(r.taken) for r in exactly.reports)
    for k, (a, b) in enumerate(zip(jax.tree.leaves(same), plain)):
      assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), (
        f"exact=True: result {k} has other bits\n{exactly.explain()}"
      )

  def _compare(self, p: Program, k: int, ours: np.ndarray, theirs: np.ndarray, exact: np.ndarray) -> None:
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if ours.dtype.kind in "iub":
      np.testing.assert_array_equal(ours, theirs, err_msg=f"result {k}")
      return
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    bad = np.isfinite(theirs) & ~np.isfinite(ours)
    assert not bad.any(), f"result {k} is not finite at {np.argwhere(bad)[:3].tolist()}"
    fine = np.isfinite(theirs) & np.isfinite(exact)
    if not fine.any():
      return
    off, own = np.abs(ours - exact)[fine], np.abs(theirs - exact)[fine]
    size = np.abs(exact[fine]).max()
    allowed = FACTOR * own.max() + ROUNDINGS * EPS[p.coarsest] * size
    assert off.max() <= allowed, (
      f"result {k}: off by {off.max():.3g} of {size:.3g}, XLA by {own.max():.3g}; {allowed:.3g} are allowed"
    )


def take_everything(put: Callable[[Any, str, Any], None] = setattr) -> None:
  """Every region becomes a kernel, whether it is worth it or not."""
  of_regions = ("_MIN_SECONDS", "_MARGIN", "_LEAST_GPU", "_MARGIN_GPU")
  for module, names in ((regions, of_regions), (program, ("_MIN_CALL_SECONDS", "_MARGIN"))):
    for name in names:
      put(module, name, 0.0)


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--count", type=int, default=500)
  parser.add_argument("--seed", type=int, default=0)
  options = parser.parse_args()
  take_everything()
  checker, failed = Checker(), 0
  for i in range(options.count):
    seed = options.seed + i
    try:
      checker.check(seed)
    except Exception as e:
      failed += 1
      print(f"seed {seed}: {Program(seed).text()}\n{type(e).__name__}: {str(e)[:1500]}", flush=True)
      if not isinstance(e, AssertionError):
        traceback.print_exc()
    if i % 20 == 19:
      print(f"{i + 1} programs, {failed} wrong: {dict(checker.counts)}", flush=True)
      jax.clear_caches()


if __name__ == "__main__":
  main()
