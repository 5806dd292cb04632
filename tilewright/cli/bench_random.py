"""`tilewright bench cpu|gpu --random N --seed S`: the ops at randomly drawn sizes, beside XLA, and cuDNN for attention on GPUs.

A case is an op, a dtype, a rank and sizes. Sizes are drawn log-uniformly over the op's range; a third of the cases has odd ones, a third
multiples of 8, a third multiples of 128. Case number i of a seed is the same for every N, and its name lists everything drawn.

Before it is timed, a result is compared with the peer's program in float32, with products that are exact in it, by the norm of the
difference. At the end there is, for each op, the geometric mean of the ratios and the worst one: the loss of a kernel at sizes that
suit it badly.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops
from tilewright.cli import bench_events
from tilewright.cli.bench import OURS, Call, Case, Measured, Row
from tilewright.cli.bench_queue import time_of_one

XLA, CUDNN = "XLA", "cuDNN, jax.nn"
GOAL = 0.7  # of each case; the geometric mean's is 1
_KINDS = ("odd", "of 8", "of 128")
_CACHED = 1 << 28  # bytes of all sets of arrays: several times the L2
_MAX_SETS = 16
_SHORT = 8e-6  # seconds: programs that take less are timed by the device's own clock
_FLOATS = ("bfloat16", "float16", "float32")
# Norm of the difference over that of the result: a few roundings to the dtype of operands or result. float32 products may be tf32's.
_ERRORS = {"bfloat16": 1.5e-2, "float16": 2e-3, "float32": 1e-3, "float8_e4m3fn": 1e-1}

Arrays = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Limits:
  """How large a case may be, and how large a size that is drawn for itself."""

  num_bytes: int  # of one array
  work: int  # multiplications
  size: int  # of a dimension; a GPU's other ranges are in proportion

  def most(self, size: int) -> int:
    return max(64, size * self.size // 16384)


GPU = Limits(1 << 29, 1 << 40, 16384)
CPU = Limits(1 << 26, 1 << 33, 4096)


@dataclasses.dataclass(frozen=True)
class RandomCase:
  """A case: the function called, its shapes, and its peers. `peers` take arrays made by `for_peer`."""

  op: str
  name: str
  ours: Callable[..., Any]
  plain: Callable[..., Any]  # for XLA, of the same arrays
  shapes: tuple[tuple[int, ...], ...]
  dtype: str
  integers: tuple[tuple[int, tuple[int, ...]], ...] = ()  # further arrays: numbers below the first, in that shape
  peers: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
  for_peer: Callable[..., Arrays] = lambda *arrays: arrays

  def arrays(self) -> Arrays:
    keys = jax.random.split(jax.random.key(len(self.name)), len(self.shapes) + len(self.integers))
    floats = [_normal(key, shape, self.dtype, i > 0) for i, (key, shape) in enumerate(zip(keys, self.shapes))]
    whole = [jax.random.randint(key, shape, 0, most) for key, (most, shape) in zip(keys[::-1], self.integers)]
    return (*floats, *whole)


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _normal(key: jax.Array, shape: tuple[int, ...], dtype: str, is_weight: bool) -> jax.Array:
  """Normal numbers; those of matrices that others are multiplied by keep the size of what they are multiplied with."""
  scale = shape[-2] ** -0.5 if is_weight and len(shape) > 1 else 1.0
  return (scale * jax.random.normal(key, shape, jnp.float32)).astype(dtype)


class Sizes:
  """Draws sizes of one kind."""

  def __init__(self, chance: random.Random, kind: str, limits: Limits):
    self.chance, self.kind, self.limits = chance, kind, limits

  def size(self, least: int, most: int) -> int:
    """Log-uniform between two sizes, then the nearest of the kind that is not above the greater one."""
    drawn = math.exp(self.chance.uniform(math.log(least), math.log(most)))
    if self.kind == "odd":
      return int(drawn) | 1
    step = 8 if self.kind == "of 8" else 128
    return max(step, min(most // step, round(drawn / step)) * step)

  def within(self, least: int, most: int, total: float) -> int:
    return self.size(least, max(least, int(min(most, total))))

  def leading(self, rank: int, most: int) -> tuple[int, ...]:
    """Dimensions in front of rows, of any size, so that there are at most so many instances."""
    found = []
    for _ in range(rank):
      found.append(int(math.exp(self.chance.uniform(0, math.log(max(1, most))))))
      most //= found[-1]
    return tuple(found)


# --- the ops -----------------------------------------------------------------------------------------------------


def _text(*shapes: Sequence[int]) -> str:
  return " ".join("x".join(map(str, shape)) for shape in shapes)


def _matmul(s: Sizes, rank: int, dtype: str) -> RandomCase:
  m, k = s.size(1, s.limits.most(16384)), s.size(16, s.limits.most(16384))
  n = s.within(16, s.limits.most(131072), min(s.limits.work / (m * k), s.limits.num_bytes / 4 / max(m, k)))
  batch = s.leading(rank - 2, int(min(64, max(1, s.limits.work // (m * n * k)))))
  right = batch if rank == 4 else ()
  shapes = ((*batch, m, k), (*right, k, n))
  return RandomCase("matmul", _text(*shapes), ops.matmul, jnp.matmul, shapes, dtype)


def _rows(op: str, ours: Callable[..., Any], plain: Callable[..., Any], vectors: int = 0) -> Callable[..., RandomCase]:
  """An op over the last dimension of an array, with vectors as long as that."""

  def random_case(s: Sizes, rank: int, dtype: str) -> RandomCase:
    width = s.size(16, s.limits.most(262144))
    leading = s.leading(rank - 2, 64)
    rows = s.within(1, s.limits.most(65536), s.limits.num_bytes / 4 / width / math.prod(leading))
    shape = (*leading, rows, width)
    return RandomCase(op, _text(shape), ours, in_float32(plain), (shape, *[(width,)] * vectors), dtype)

  return random_case


def in_float32(f: Callable[..., Any]) -> Callable[..., Any]:
  return lambda x, *others: f(x.astype(jnp.float32), *(o.astype(jnp.float32) for o in others)).astype(x.dtype)


def _rms_norm(x: Any, scale: Any) -> Any:
  return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def _layer_norm(x: Any, scale: Any, shift: Any) -> Any:
  d = x - jnp.mean(x, -1, keepdims=True)
  return d * jax.lax.rsqrt(jnp.mean(d * d, -1, keepdims=True) + 1e-5) * scale + shift


def _cross_entropy(s: Sizes, rank: int, dtype: str) -> RandomCase:
  drawn = _rows("cross_entropy", ops.cross_entropy, lambda x: x)(s, rank, dtype)
  (*leading, classes) = drawn.shapes[0]

  def plain(x: Any, labels: Any) -> Any:
    logits = x.astype(jnp.float32)
    return jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]

  return dataclasses.replace(drawn, plain=plain, integers=((classes, tuple(leading)),))


def _attention(s: Sizes, rank: int, dtype: str) -> RandomCase:
  depth = s.chance.choice((64, 128)) if s.kind == "of 128" else s.size(16, 256)
  group, causal = s.chance.choice((1, 1, 2, 4, 8)), s.chance.random() < 0.5
  queries = s.size(64, s.limits.most(16384))
  keys = queries if causal else s.size(64, s.limits.most(16384))
  heads = group * max(1, min(32 // group, s.limits.work // (2 * queries * keys * depth * group)))
  batch = s.leading(1, int(min(16, max(1, s.limits.work // (2 * heads * queries * keys * depth)))))
  shapes = ((*batch, heads, queries, depth), *[(*batch, heads // group, keys, depth)] * 2)
  peer = lambda kind: functools.partial(jax.nn.dot_product_attention, is_causal=causal, implementation=kind)
  in_rows = jax.jit(lambda *arrays: tuple(jnp.swapaxes(x, 1, 2) for x in arrays))
  first = lambda f: lambda q, k, v: jnp.swapaxes(f(*(jnp.swapaxes(x, 1, 2) for x in (q, k, v))), 1, 2)
  return RandomCase(
    "attention",
    _text(*shapes[:2]) + ", causal" * causal,
    functools.partial(ops.attention, causal=causal),
    first(peer("xla")),
    shapes,
    dtype,
    peers={CUDNN: peer("cudnn"), XLA: peer("xla")},
    for_peer=in_rows,
  )


def _swiglu_mlp(s: Sizes, rank: int, dtype: str) -> RandomCase:
  rows, width, hidden = (
    s.size(1, s.limits.most(8192)),
    s.size(64, s.limits.most(8192)),
    s.size(64, s.limits.most(16384)),
  )
  shapes = ((rows, width), (width, hidden), (width, hidden), (hidden, width))
  plain = lambda x, gate, up, down: (jax.nn.silu(x @ gate) * (x @ up)) @ down
  return RandomCase("swiglu_mlp", _text((rows, width, hidden)), ops.swiglu_mlp, plain, shapes, dtype)


def _grouped_matmul(s: Sizes, rank: int, dtype: str) -> RandomCase:
  groups, rows, width, columns = (
    s.chance.choice((2, 4, 8, 16, 64)),
    s.size(16, s.limits.most(8192)),
    s.size(64, s.limits.most(4096)),
    s.size(64, s.limits.most(4096)),
  )
  cuts = sorted(s.chance.randint(0, rows) for _ in range(groups - 1))
  sizes = np.diff([0, *cuts, rows]).astype(np.int32)
  ours = lambda x, w: ops.grouped_matmul(x, w, jnp.asarray(sizes))
  plain = lambda x, w: jax.lax.ragged_dot(x, w, jnp.asarray(sizes))
  shapes = ((rows, width), (groups, width, columns))
  return RandomCase("grouped_matmul", _text(*shapes), ours, plain, shapes, dtype)


def _rotary(s: Sizes, rank: int, dtype: str) -> RandomCase:
  heads, depth = s.size(1, 64), 2 * s.size(8, 256)
  tokens = s.within(1, s.limits.most(65536), s.limits.num_bytes / 4 / heads / depth)

  def plain(x: Any, cos: Any, sin: Any) -> Any:
    (a, b), cos, sin = jnp.split(x.astype(jnp.float32), 2, -1), cos[:, None], sin[:, None]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)

  shapes = ((tokens, heads, depth), *[(tokens, depth // 2)] * 2)
  return RandomCase("rotary", _text(shapes[0]), ops.rotary, plain, shapes, dtype)


def _embedding(s: Sizes, rank: int, dtype: str) -> RandomCase:
  width = s.size(16, s.limits.most(16384))
  entries = s.within(16, s.limits.most(262144), s.limits.num_bytes / 4 / width)
  places = (*s.leading(rank - 2, 8), s.within(1, s.limits.most(65536), s.limits.num_bytes / 32 / width))
  plain = lambda table, where: jnp.take(table, where, axis=0)
  name = f"{_text(places)} of {_text((entries, width))}"
  return RandomCase("embedding", name, ops.embedding, plain, ((entries, width),), dtype, integers=((entries, places),))


def _top_k(s: Sizes, rank: int, dtype: str) -> RandomCase:
  k = s.chance.choice((1, 2, 8, 32))
  width = s.size(k + 16, s.limits.most(65536))
  shape = (s.within(1, s.limits.most(8192), s.limits.num_bytes / 16 / width), width)
  ours, plain = (lambda f: lambda x: f(x, k)[0])(ops.top_k), (lambda x: jax.lax.top_k(x, k)[0])
  return RandomCase("top_k", f"{_text(shape)}, k {k}", ours, plain, (shape,), dtype)


def _cumsum(s: Sizes, rank: int, dtype: str) -> RandomCase:
  drawn = _rows("cumsum", ops.cumsum, functools.partial(jnp.cumsum, axis=-1))(s, rank, "float32")
  return dataclasses.replace(drawn, dtype="float32")


DRAWS: dict[str, Callable[[Sizes, int, str], RandomCase]] = {
  "matmul": _matmul,
  "softmax": _rows("softmax", ops.softmax, jax.nn.softmax),
  "attention": _attention,
  "cross_entropy": _cross_entropy,
  "rms_norm": _rows("rms_norm", ops.rms_norm, _rms_norm, 1),
  "layer_norm": _rows("layer_norm", ops.layer_norm, _layer_norm, 2),
  "log_softmax": _rows("log_softmax", ops.log_softmax, jax.nn.log_softmax),
  "gelu": _rows("gelu", ops.gelu, jax.nn.gelu),
  "swiglu_mlp": _swiglu_mlp,
  "grouped_matmul": _grouped_matmul,
  "rotary": _rotary,
  "embedding": _embedding,
  "top_k": _top_k,
  "cumsum": _cumsum,
}


def random_case(op: str, seed: int, number: int, limits: Limits = GPU) -> RandomCase:
  """The n-th case of an op; all its sizes are of one kind."""
  chance = random.Random(f"{op} {seed} {number}")
  return DRAWS[op](Sizes(chance, _KINDS[number % 3], limits), chance.choice((2, 3, 4)), chance.choice(_FLOATS))


# --- measuring ---------------------------------------------------------------------------------------------------


def check(drawn: RandomCase, ours: Any, arrays: Arrays) -> None:
  """Compare a result with the plain program's in float32."""
  wide = tuple(x.astype(jnp.float32) if jnp.issubdtype(x.dtype, jnp.floating) else x for x in arrays)
  with jax.default_matmul_precision("highest"):
    expected = jax.jit(drawn.plain)(*wide)
  check_agreement(f"{drawn.op} {drawn.name}", ours, expected, _ERRORS[drawn.dtype])


def check_agreement(name: str, found: Any, expected: Any, error: float) -> None:
  """Refuses a result whose distance from the expected one, by the norm, exceeds a fraction `error` of it."""
  if found.shape != expected.shape:
    raise AssertionError(f"{name}: the result has shape {found.shape} instead of {expected.shape}.")
  apart, size = map(float, _norms(found, expected))
  if not apart <= error * size:
    raise AssertionError(f"{name}: wrong result: it is {apart:.3g} away from one of norm {size:.3g}.")


@jax.jit
def _norms(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
  x, y = x.astype(jnp.float32).reshape(-1), y.astype(jnp.float32).reshape(-1)
  return jnp.linalg.norm(x - y), jnp.linalg.norm(y)


def timed(function: Callable[..., Any], arrays: Arrays) -> Call:
  """The device's time of one call, from programs that call the function on several sets of arrays."""
  total = sum(x.size * x.dtype.itemsize for x in arrays)
  count = max(2, min(_MAX_SETS, _CACHED // max(1, total)))
  sets = [arrays, *(jax.tree.map(jnp.copy, arrays) for _ in range(count - 1))]
  jitted = jax.jit(lambda sets: [function(*own) for own in sets])
  jax.block_until_ready(jitted(sets))
  enqueue = lambda: jitted(sets)
  if time_of_one(enqueue, jax.block_until_ready) / count < _SHORT:
    return bench_events.alone(function, lambda: arrays)
  return lambda: Measured(time_of_one(enqueue, jax.block_until_ready) / count)


def called(function: Callable[..., Any], arrays: Arrays) -> Call:
  """A call as a program makes it: what is timed on the CPU."""
  jitted = jax.jit(function)
  return lambda: jitted(*arrays)


def case(drawn: RandomCase, on_gpu: bool = True) -> Case:
  time = timed if on_gpu else called

  def ours() -> Call:
    arrays = drawn.arrays()
    check(drawn, jax.jit(drawn.ours)(*arrays), arrays)
    return time(drawn.ours, arrays)

  # XLA:CPU has no products of float16 with a float32 accumulator.
  plain = in_float32(drawn.plain) if drawn.dtype == "float16" and drawn.op == "attention" else drawn.plain
  peers = drawn.peers if on_gpu and drawn.peers else {XLA: plain}
  in_order = drawn.for_peer if on_gpu else lambda *arrays: arrays
  build = lambda f: lambda: time(f, in_order(*drawn.arrays()))
  contenders = {OURS: ours, **{peer: build(f) for peer, f in peers.items()}}
  name = f"random {drawn.op} {jnp.dtype(drawn.dtype).name} {drawn.name}"
  return Case(name, contenders, rounds=2, goals=dict.fromkeys(peers, GOAL))


def cases(count: int, seed: int, words: Sequence[str], on_gpu: bool = True) -> list[Case]:
  """So many cases, the ops in turn; of ops whose names contain one of the words."""
  names = [op for op in DRAWS if any(word in op for word in words)] if words else list(DRAWS)
  limits = GPU if on_gpu else CPU
  drawn = (random_case(names[i % len(names)], seed, i // len(names), limits) for i in range(count if names else 0))
  return [case(one, on_gpu) for one in drawn]


@dataclasses.dataclass(frozen=True)
class Summary:
  """Ratios of an op's cases, each against the first peer that has a time."""

  op: str
  count: int
  mean: float  # geometric
  worst: float
  worst_case: str


def summarise(rows: Sequence[Row]) -> list[Summary]:
  first: dict[str, Row] = {}
  for row in rows:
    if row.ratio is not None:
      first.setdefault(row.name, row)
  by_op: dict[str, list[tuple[float, str]]] = {}
  for name, row in first.items():
    assert row.ratio is not None
    by_op.setdefault(name.split()[1], []).append((row.ratio, name))
  return [
    Summary(op, len(found), math.exp(sum(math.log(r) for r, _ in found) / len(found)), *min(found))
    for op, found in by_op.items()
  ]
