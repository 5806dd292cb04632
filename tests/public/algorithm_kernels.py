"""Textbook algorithms as kernels, with float64 references: scans, sorts, factorisations, sparse products, statistics along the grid.

Sizes are odd, the last blocks hang over the edges of the arrays, and each algorithm comes in the dtypes it makes sense for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

F32 = jnp.float32


@dataclasses.dataclass(frozen=True)
class Program:
  """`run(*operands, interpret=…)`, its operands, its result in float64, and how many roundings the largest of the results may be off."""

  name: str
  dtype: np.dtype
  run: Callable[..., Any]
  operands: Callable[[np.random.Generator], tuple[Any, ...]]
  reference: Callable[..., Any]
  roundings: int

  def __str__(self) -> str:
    return f"{self.name}_{self.dtype.name}"


PROGRAMS: list[Program] = []


def program(dtypes: list[Any], roundings: int) -> Any:
  def add(make: Callable[[np.dtype], tuple[Any, Any, Any]]) -> Any:
    for dtype in map(jnp.dtype, dtypes):
      PROGRAMS.append(Program(make.__name__, dtype, *make(dtype), roundings))
    return make

  return add


def shape(s, d):
  return jax.ShapeDtypeStruct(tuple(s), d)


def normal(r, s, d):
  return np.asarray(r.standard_normal(s)).astype(d)


@program([jnp.float32, jnp.bfloat16, jnp.int32], 64)
def prefix_sum(d):
  """Inclusive, along rows of 45 in chunks of 16; the carry lives in scratch; the last chunk overhangs."""

  def run(x, *, interpret):
    def k(x_ref, o_ref, carry):
      @pl.when(pl.program_id(1) == 0)
      def _():
        carry[...] = jnp.zeros_like(carry)

      acc = carry.dtype
      c = jnp.cumsum(x_ref[...].astype(acc), axis=1) + carry[...]
      o_ref[...] = c.astype(o_ref.dtype)
      carry[...] = c[:, -1:]

    acc = jnp.int32 if jnp.issubdtype(d, jnp.integer) else F32
    return pl.pallas_call(
      k,
      shape(x.shape, d),
      grid=(pl.cdiv(x.shape[0], 4), pl.cdiv(x.shape[1], 16)),
      in_specs=[pl.BlockSpec((4, 16), lambda i, j: (i, j))],
      out_specs=pl.BlockSpec((4, 16), lambda i, j: (i, j)),
      scratch_shapes=[pltpu.VMEM((4, 1), acc)],
      compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
      interpret=interpret,
    )(x)

  ops = lambda r: (r.integers(-50, 50, (7, 45)).astype(d),)
  return run, ops, lambda x: np.cumsum(x, 1)


@program([jnp.int32, jnp.uint8, jnp.int8], 1)
def histogram(d):
  """Counts of 17 bins of 103 values, in blocks of 32; the overhang is masked, the counts are one revisited block."""
  n, bins = 103, 17

  def run(x, *, interpret):
    def k(x_ref, o_ref):
      i = pl.program_id(0)

      @pl.when(i == 0)
      def _():
        o_ref[...] = jnp.zeros_like(o_ref)

      v = x_ref[...].astype(jnp.int32)
      valid = (i * 32 + lax.broadcasted_iota(jnp.int32, v.shape, 0)) < n
      hot = (v[:, None] == lax.broadcasted_iota(jnp.int32, (32, bins), 1)) & valid[:, None]
      o_ref[...] += jnp.sum(hot.astype(jnp.int32), 0)

    return pl.pallas_call(
      k,
      shape((bins,), jnp.int32),
      grid=(pl.cdiv(n, 32),),
      in_specs=[pl.BlockSpec((32,), lambda i: (i,))],
      out_specs=pl.BlockSpec((bins,), lambda i: (0,)),
      interpret=interpret,
    )(x)

  return run, lambda r: (r.integers(0, bins, n).astype(d),), lambda x: np.bincount(x.astype(int), minlength=bins)


@program([jnp.int32, jnp.uint8], 1)
def scattered_histogram(d):
  """One count at a time, into memory, by a loop."""
  n, bins = 61, 9

  def run(x, *, interpret):
    def k(x_ref, o_ref):
      o_ref[...] = jnp.zeros_like(o_ref)

      def step(t, c):
        b = x_ref[t].astype(jnp.int32)
        o_ref[b] = o_ref[b] + 1
        return c

      lax.fori_loop(0, n, step, 0)

    return pl.pallas_call(k, shape((bins,), jnp.int32), interpret=interpret)(x)

  return run, lambda r: (r.integers(0, bins, n).astype(d),), lambda x: np.bincount(x.astype(int), minlength=bins)


@program([jnp.float32, jnp.bfloat16], 256)
def selective_scan(d):
  """Mamba's: h = exp(dt A) h + dt B x, y = C h + D x, over length 37 in chunks of 8, channels 20 in blocks of 16."""
  Bt, L, D, N = 2, 37, 20, 5

  def run(x, dt, A, B, C, D_, *, interpret):
    def k(x_ref, dt_ref, a_ref, b_ref, c_ref, d_ref, y_ref, h):
      @pl.when(pl.program_id(2) == 0)
      def _():
        h[...] = jnp.zeros_like(h)

      a = a_ref[...].astype(F32)

      def step(t, s):
        dt = dt_ref[t].astype(F32)
        x = x_ref[t].astype(F32)
        s = jnp.exp(dt[:, None] * a) * s + (dt * x)[:, None] * b_ref[t].astype(F32)[None]
        y = jnp.sum(s * c_ref[t].astype(F32)[None], 1) + d_ref[...].astype(F32) * x
        y_ref[t] = y.astype(y_ref.dtype)
        return s

      h[...] = lax.fori_loop(0, 8, step, h[...])

    rows = pl.BlockSpec((None, 8, 16), lambda b, c, t: (b, t, c))
    state = pl.BlockSpec((None, 8, N), lambda b, c, t: (b, t, 0))
    return pl.pallas_call(
      k,
      shape(x.shape, d),
      grid=(Bt, pl.cdiv(D, 16), pl.cdiv(L, 8)),
      in_specs=[
        rows,
        rows,
        pl.BlockSpec((16, N), lambda b, c, t: (c, 0)),
        state,
        state,
        pl.BlockSpec((16,), lambda b, c, t: (c,)),
      ],
      out_specs=rows,
      scratch_shapes=[pltpu.VMEM((16, N), F32)],
      compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
      interpret=interpret,
    )(x, dt, A, B, C, D_)

  def ops(r):
    return (
      normal(r, (Bt, L, D), d),
      np.asarray(r.random((Bt, L, D))).astype(d),
      (-np.exp(r.standard_normal((D, N)))).astype(d),
      normal(r, (Bt, L, N), d),
      normal(r, (Bt, L, N), d),
      normal(r, (D,), d),
    )

  def ref(x, dt, A, B, C, D_):
    h = np.zeros((Bt, D, N))
    y = np.zeros((Bt, L, D))
    for t in range(L):
      h = np.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * x[:, t])[..., None] * B[:, t, None]
      y[:, t] = (h * C[:, t, None]).sum(-1) + D_ * x[:, t]
    return y

  return run, ops, ref


@program([jnp.float32], 256)
def fft_by_products(d):
  """A complex transform of 35 = 5 x 7 points as two small products and twiddles, real and imaginary parts apart; rows 11 in blocks of 4."""
  n1, n2 = 5, 7
  n = 35

  def run(re, im, f1r, f1i, f2r, f2i, tr, ti, *, interpret):
    def k(re_ref, im_ref, f1r, f1i, f2r, f2i, tr, ti, or_ref, oi_ref):
      hi = "highest"
      xr, xi = re_ref[...].reshape(4, n1, n2), im_ref[...].reshape(4, n1, n2)
      m = lambda a, b: jnp.einsum("jk,bkn->bjn", a, b, precision=hi, preferred_element_type=F32)
      yr = m(f1r[...], xr) - m(f1i[...], xi)
      yi = m(f1r[...], xi) + m(f1i[...], xr)
      zr = yr * tr[...] - yi * ti[...]
      zi = yr * ti[...] + yi * tr[...]
      q = lambda a, b: jnp.einsum("bjn,nk->bkj", a, b, precision=hi, preferred_element_type=F32)
      or_ref[...] = (q(zr, f2r[...]) - q(zi, f2i[...])).reshape(4, n)
      oi_ref[...] = (q(zr, f2i[...]) + q(zi, f2r[...])).reshape(4, n)

    rows = pl.BlockSpec((4, n), lambda i: (i, 0))
    w = lambda a: pl.BlockSpec(a.shape, lambda i: (0,) * a.ndim)
    return pl.pallas_call(
      k,
      (shape(re.shape, F32),) * 2,
      grid=(pl.cdiv(re.shape[0], 4),),
      in_specs=[rows, rows, *map(w, (f1r, f1i, f2r, f2i, tr, ti))],
      out_specs=(rows, rows),
      interpret=interpret,
    )(re, im, f1r, f1i, f2r, f2i, tr, ti)

  def ops(r):
    f = lambda m: np.exp(-2j * np.pi * np.outer(range(m), range(m)) / m)
    tw = np.exp(-2j * np.pi * np.outer(range(n1), range(n2)) / n)
    c = lambda z: (z.real.astype(np.float32), z.imag.astype(np.float32))
    return (normal(r, (11, n), np.float32), normal(r, (11, n), np.float32), *c(f(n1)), *c(f(n2)), *c(tw))

  def ref(re, im, *_):
    z = np.fft.fft(re + 1j * im)
    return z.real, z.imag

  return run, ops, ref


@program([jnp.float32], 256)
def triangular_solve(d):
  """L X = B by forward substitution, row by row, of 13 rows and 21 columns in blocks of 8."""
  n, m = 13, 21

  def run(l, b, *, interpret):
    def k(l_ref, b_ref, x_ref):
      x_ref[...] = jnp.zeros_like(x_ref)

      def step(i, c):
        row = l_ref[pl.ds(i, 1)]
        s = jnp.sum(row.T * x_ref[...], 0, keepdims=True)
        x_ref[pl.ds(i, 1)] = (b_ref[pl.ds(i, 1)] - s) / l_ref[i, i]
        return c

      lax.fori_loop(0, n, step, 0)

    return pl.pallas_call(
      k,
      shape((n, m), d),
      grid=(pl.cdiv(m, 8),),
      in_specs=[pl.BlockSpec((n, n), lambda j: (0, 0)), pl.BlockSpec((n, 8), lambda j: (0, j))],
      out_specs=pl.BlockSpec((n, 8), lambda j: (0, j)),
      interpret=interpret,
    )(l, b)

  def ops(r):
    return (np.tril(r.standard_normal((n, n)) * 0.3, -1) + np.diag(1 + r.random(n))).astype(np.float32), normal(
      r, (n, m), np.float32
    )

  return run, ops, lambda l, b: np.linalg.solve(l, b)


@program([jnp.float32], 256)
def cholesky(d):
  """In place in the output, right-looking, a batch of three."""
  n = 11

  def run(a, *, interpret):
    def k(a_ref, l_ref):
      rows = lax.broadcasted_iota(jnp.int32, (n, n), 0)
      cols = lax.broadcasted_iota(jnp.int32, (n, n), 1)
      l_ref[...] = a_ref[...]

      def step(j, c):
        v = l_ref[...]
        p = lax.sqrt(l_ref[j, j])
        col = jnp.sum(jnp.where(cols == j, v, 0), 1, keepdims=True) / p
        row = jnp.sum(jnp.where(rows == j, v, 0), 0, keepdims=True) / p
        below = (rows > j) & (cols > j)
        v = jnp.where(below, v - col * row, v)
        v = jnp.where((cols == j) & (rows >= j), col, v)
        l_ref[...] = jnp.where((rows == j) & (cols > j), row * p, v)
        return c

      lax.fori_loop(0, n, step, 0)
      l_ref[...] = jnp.where(rows >= cols, l_ref[...], 0)

    s = pl.BlockSpec((None, n, n), lambda b: (b, 0, 0))
    return pl.pallas_call(k, shape(a.shape, d), grid=(a.shape[0],), in_specs=[s], out_specs=s, interpret=interpret)(a)

  def ops(r):
    x = r.standard_normal((3, n, n))
    return ((x @ x.transpose(0, 2, 1) + n * np.eye(n)).astype(np.float32),)

  return run, ops, lambda a: np.linalg.cholesky((a + a.transpose(0, 2, 1)) / 2)


@program([jnp.float32, jnp.int32, jnp.bfloat16, jnp.int8], 1)
def bitonic_sort(d):
  """Keys with their positions, 16 wide, five rows in blocks of two: exchanges by reshape and flip."""
  n = 16

  def run(x, *, interpret):
    def k(x_ref, o_ref, p_ref):
      v = x_ref[...]
      idx = lax.broadcasted_iota(jnp.int32, v.shape, 1)
      pos = idx
      size = 2
      while size <= n:
        stride = size // 2
        while stride:
          swap = lambda a: jnp.flip(a.reshape(-1, n // (2 * stride), 2, stride), 2).reshape(a.shape)
          w, q = swap(v), swap(pos)
          up = (idx & size) == 0
          low = (idx & stride) == 0
          less = (v < w) | ((v == w) & (pos < q))
          keep = jnp.where(up == low, less, ~less)
          v, pos = jnp.where(keep, v, w), jnp.where(keep, pos, q)
          stride //= 2
        size *= 2
      o_ref[...] = v
      p_ref[...] = pos

    s = pl.BlockSpec((2, n), lambda i: (i, 0))
    return pl.pallas_call(
      k,
      (shape(x.shape, d), shape(x.shape, jnp.int32)),
      grid=(pl.cdiv(x.shape[0], 2),),
      in_specs=[s],
      out_specs=(s, s),
      interpret=interpret,
    )(x)

  def ref(x):
    p = np.argsort(x, axis=1, kind="stable")
    return np.take_along_axis(x, p, 1), p

  return run, lambda r: (r.integers(-9, 9, (5, n)).astype(d),), ref


@program([jnp.float32, jnp.bfloat16], 64)
def k_means_step(d):
  """Nearest of 6 centres for 37 points in blocks of 8, sums and counts along the grid, centres divided at the end."""
  n, c, w = 37, 6, 5

  def run(x, m, *, interpret):
    def k(x_ref, m_ref, label_ref, centre_ref, sums, counts):
      i = pl.program_id(0)

      @pl.when(i == 0)
      def _():
        sums[...] = jnp.zeros_like(sums)
        counts[...] = jnp.zeros_like(counts)

      valid = (i * 8 + lax.broadcasted_iota(jnp.int32, (8, 1), 0)) < n
      x = jnp.where(valid, x_ref[...].astype(F32), 0)
      m = m_ref[...].astype(F32)
      dist = jnp.sum((x[:, None] - m[None]) ** 2, -1)
      lab = jnp.argmin(dist, 1).astype(jnp.int32)
      label_ref[...] = lab
      hot = ((lab[:, None] == lax.broadcasted_iota(jnp.int32, (8, c), 1)) & valid).astype(F32)
      sums[...] += lax.dot_general(hot, x, (((0,), (0,)), ((), ())), precision="highest", preferred_element_type=F32)
      counts[...] += jnp.sum(hot, 0)[:, None]

      @pl.when(i == pl.num_programs(0) - 1)
      def _():
        centre_ref[...] = (sums[...] / jnp.maximum(counts[...], 1)).astype(centre_ref.dtype)

    return pl.pallas_call(
      k,
      (shape((n,), jnp.int32), shape((c, w), d)),
      grid=(pl.cdiv(n, 8),),
      in_specs=[pl.BlockSpec((8, w), lambda i: (i, 0)), pl.BlockSpec((c, w), lambda i: (0, 0))],
      out_specs=(pl.BlockSpec((8,), lambda i: (i,)), pl.BlockSpec((c, w), lambda i: (0, 0))),
      scratch_shapes=[pltpu.VMEM((c, w), F32), pltpu.VMEM((c, 1), F32)],
      interpret=interpret,
    )(x, m)

  def ref(x, m):
    lab = ((x[:, None] - m[None]) ** 2).sum(-1).argmin(1)
    return lab, np.stack([x[lab == i].sum(0) / max(1, (lab == i).sum()) for i in range(c)])

  # half-integers: distances are exact, so labels are
  return run, lambda r: ((r.integers(-16, 16, (n, w)) / 2).astype(d), (r.integers(-16, 16, (c, w)) / 2).astype(d)), ref


@program([jnp.float32, jnp.bfloat16, jnp.float16], 128)
def layer_norm_backward(d):
  """dx by rows, dw and db summed along the grid in float32; 29 rows in blocks of 8, 19 columns."""
  n, w = 29, 19

  def run(x, g, dy, *, interpret):
    def k(x_ref, g_ref, dy_ref, dx_ref, dw_ref, db_ref):
      i = pl.program_id(0)

      @pl.when(i == 0)
      def _():
        dw_ref[...] = jnp.zeros_like(dw_ref)
        db_ref[...] = jnp.zeros_like(db_ref)

      x = x_ref[...].astype(F32)
      dy = dy_ref[...].astype(F32)
      mu = jnp.mean(x, 1, keepdims=True)
      r = lax.rsqrt(jnp.mean((x - mu) ** 2, 1, keepdims=True) + 1e-5)
      xh = (x - mu) * r
      t = dy * g_ref[...].astype(F32)
      dx_ref[...] = (r * (t - jnp.mean(t, 1, keepdims=True) - xh * jnp.mean(t * xh, 1, keepdims=True))).astype(
        dx_ref.dtype
      )
      valid = (i * 8 + lax.broadcasted_iota(jnp.int32, (8, 1), 0)) < n
      dw_ref[...] += jnp.sum(jnp.where(valid, dy * xh, 0), 0, keepdims=True)
      db_ref[...] += jnp.sum(jnp.where(valid, dy, 0), 0, keepdims=True)

    row = pl.BlockSpec((8, w), lambda i: (i, 0))
    one = pl.BlockSpec((1, w), lambda i: (0, 0))
    return pl.pallas_call(
      k,
      (shape((n, w), d), shape((1, w), F32), shape((1, w), F32)),
      grid=(pl.cdiv(n, 8),),
      in_specs=[row, one, row],
      out_specs=(row, one, one),
      interpret=interpret,
    )(x, g, dy)

  def ref(x, g, dy):
    mu = x.mean(1, keepdims=True)
    r = 1 / np.sqrt(((x - mu) ** 2).mean(1, keepdims=True) + 1e-5)
    xh = (x - mu) * r
    t = dy * g
    return (
      r * (t - t.mean(1, keepdims=True) - xh * (t * xh).mean(1, keepdims=True)),
      (dy * xh).sum(0, keepdims=True),
      dy.sum(0, keepdims=True),
    )

  return run, lambda r: (normal(r, (n, w), d), normal(r, (1, w), d), normal(r, (n, w), d)), ref


@program([jnp.float32], 512)
def sinkhorn(d):
  """Log-domain normalisation of rows and columns until a count that is data, a batch of three squeezed."""
  n, m = 9, 7

  def run(c, rounds, *, interpret):
    def k(rounds_ref, c_ref, o_ref):
      def body(s):
        i, v = s
        v = v - jax.nn.logsumexp(v, axis=1, keepdims=True)
        return i + 1, v - jax.nn.logsumexp(v, axis=0, keepdims=True)

      o_ref[...] = jnp.exp(
        lax.while_loop(lambda s: s[0] < rounds_ref[pl.program_id(0)], body, (jnp.int32(0), c_ref[...]))[1]
      )

    s = pl.BlockSpec((None, n, m), lambda b, *_: (b, 0, 0))
    return pl.pallas_call(
      k,
      shape(c.shape, d),
      grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(3,), in_specs=[s], out_specs=s),
      interpret=interpret,
    )(rounds, c)

  def ref(c, rounds):
    lse = lambda v, a: np.log(np.exp(v - v.max(a, keepdims=True)).sum(a, keepdims=True)) + v.max(a, keepdims=True)
    out = []
    for x, k in zip(c, rounds):
      for _ in range(int(k)):
        x = x - lse(x, 1)
        x = x - lse(x, 0)
      out.append(np.exp(x))
    return np.stack(out)

  return run, lambda r: (normal(r, (3, n, m), np.float32), np.asarray([0, 3, 6], np.int32)), ref


@program([jnp.float32, jnp.bfloat16], 256)
def ctc_forward(d):
  """log alphas of CTC: frames along the grid in steps of one, the lattice in scratch, lengths and labels prefetched."""
  T, B, V, S = 9, 3, 7, 7  # S extended labels (3 labels)

  def run(logp, labels, lengths, *, interpret):
    def k(labels_ref, len_ref, x_ref, ext_ref, o_ref, alpha):
      b, t = pl.program_id(0), pl.program_id(1)
      s = lax.broadcasted_iota(jnp.int32, (1, S), 1)
      ext = ext_ref[...]
      x = x_ref[...].astype(F32)
      hot = (lax.broadcasted_iota(jnp.int32, (V, S), 0) == ext).astype(F32)
      emit = lax.dot_general(x, hot, (((1,), (0,)), ((), ())), precision="highest", preferred_element_type=F32)
      low = jnp.float32(-1e9)

      @pl.when(t == 0)
      def _():
        alpha[...] = jnp.where(s < 2, emit, low)

      @pl.when((t > 0) & (t < len_ref[b]))
      def _():
        a = alpha[...]
        sh = lambda n: jnp.where(s >= n, jnp.roll(a, n, 1), low)
        skip = (s % 2 == 1) & ((s < 3) | (ext != jnp.roll(ext, 2, 1)))
        a2 = jnp.where(skip, sh(2), low)
        m = jnp.maximum(jnp.maximum(a, sh(1)), a2)
        alpha[...] = emit + m + jnp.log(jnp.exp(a - m) + jnp.exp(sh(1) - m) + jnp.exp(a2 - m))

      @pl.when(t == pl.num_programs(1) - 1)
      def _():
        e = alpha[...]
        last = jnp.where(s >= S - 2, e, low)
        o_ref[...] = jax.nn.logsumexp(last, axis=1, keepdims=True)

    ext = jnp.zeros((B, 1, S), jnp.int32).at[:, 0, 1::2].set(labels)
    gs = pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=2,
      grid=(B, T),
      in_specs=[
        pl.BlockSpec((None, 1, V), lambda b, t, *_: (b, t, 0)),
        pl.BlockSpec((None, 1, S), lambda b, t, *_: (b, 0, 0)),
      ],
      out_specs=pl.BlockSpec((None, 1, 1), lambda b, t, *_: (b, 0, 0)),
      scratch_shapes=[pltpu.VMEM((1, S), F32)],
    )
    return pl.pallas_call(k, shape((B, 1, 1), F32), grid_spec=gs, interpret=interpret)(labels, lengths, logp, ext)

  def ref(logp, labels, lengths):
    out = np.zeros((B, 1, 1))
    for b in range(B):
      ext = [0] * S
      for i, l in enumerate(labels[b]):
        ext[2 * i + 1] = int(l)
      a = np.full(S, -np.inf)
      a[:2] = logp[b, 0, ext[:2]]
      for t in range(1, int(lengths[b])):
        n = np.full(S, -np.inf)
        for s in range(S):
          c = [a[s]] + ([a[s - 1]] if s else []) + ([a[s - 2]] if s > 1 and s % 2 and ext[s] != ext[s - 2] else [])
          n[s] = np.logaddexp.reduce(c) + logp[b, t, ext[s]]
        a = n
      out[b] = np.logaddexp(a[-1], a[-2])
    return out

  def ops(r):
    x = r.standard_normal((B, T, V))
    x = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return x.astype(d), np.asarray([[1, 2, 2], [3, 4, 5], [6, 6, 6]], np.int32), np.asarray([9, 7, 8], np.int32)

  return run, ops, ref


@program([jnp.float32, jnp.bfloat16], 64)
def block_sparse_product(d):
  """Blocked CSR of 8 x 16 blocks times a dense matrix of 21 columns in blocks of 16; rows without blocks, row pointers prefetched."""
  R, C, bm, bk, N = 4, 3, 8, 16, 21
  rowptr = [0, 2, 2, 3, 6]
  cols = [0, 2, 1, 0, 1, 2]

  def run(blocks, dense, ptr, col, *, interpret):
    def k(ptr_ref, col_ref, b_hbm, x_ref, o_ref, buf, sem):
      i = pl.program_id(0)

      def step(e, acc):
        pltpu.async_copy(b_hbm.at[e], buf, sem).wait()
        x = x_ref[pl.ds(pl.multiple_of(col_ref[e] * bk, bk), bk)]
        return acc + jnp.dot(buf[...], x, preferred_element_type=F32, precision="highest")

      o_ref[...] = lax.fori_loop(ptr_ref[i], ptr_ref[i + 1], step, jnp.zeros((bm, 16), F32)).astype(o_ref.dtype)

    gs = pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=2,
      grid=(R, pl.cdiv(N, 16)),
      in_specs=[pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec((C * bk, 16), lambda i, j, *_: (0, j))],
      out_specs=pl.BlockSpec((bm, 16), lambda i, j, *_: (i, j)),
      scratch_shapes=[pltpu.VMEM((bm, bk), d), pltpu.SemaphoreType.DMA],
    )
    return pl.pallas_call(k, shape((R * bm, N), d), grid_spec=gs, interpret=interpret)(ptr, col, blocks, dense)

  def ref(blocks, dense, ptr, col):
    a = np.zeros((R * bm, C * bk))
    for i in range(R):
      for e in range(ptr[i], ptr[i + 1]):
        a[i * bm : (i + 1) * bm, col[e] * bk : (col[e] + 1) * bk] += blocks[e]
    return a @ dense

  return (
    run,
    lambda r: (
      normal(r, (6, bm, bk), d),
      normal(r, (C * bk, N), d),
      np.asarray(rowptr, np.int32),
      np.asarray(cols, np.int32),
    ),
    ref,
  )


@program([jnp.float32, jnp.bfloat16], 16)
def rotary(d):
  """Interleaved halves, sin and cos from positions in the kernel; 13 tokens in blocks of 4, heads squeezed."""
  T, H, D = 13, 3, 10

  def run(x, pos, *, interpret):
    def k(x_ref, p_ref, o_ref):
      half = D // 2
      inv = jnp.exp(lax.broadcasted_iota(jnp.int32, (1, half), 1).astype(F32) * jnp.float32(-np.log(100.0) / half))
      ang = p_ref[...].astype(F32) * inv
      c, s = jnp.cos(ang), jnp.sin(ang)
      a, b = x_ref[:, :half].astype(F32), x_ref[:, half:].astype(F32)
      o_ref[:, :half] = (a * c - b * s).astype(o_ref.dtype)
      o_ref[:, half:] = (b * c + a * s).astype(o_ref.dtype)

    sp = pl.BlockSpec((4, None, D), lambda h, i: (i, h, 0))
    return pl.pallas_call(
      k,
      shape(x.shape, d),
      grid=(H, pl.cdiv(T, 4)),
      in_specs=[sp, pl.BlockSpec((4, 1), lambda h, i: (i, 0))],
      out_specs=sp,
      interpret=interpret,
    )(x, pos)

  def ref(x, pos):
    inv = 100.0 ** (-np.arange(D // 2) / (D // 2))
    ang = (pos * inv)[:, None]
    a, b = x[..., : D // 2], x[..., D // 2 :]
    c, s = np.cos(ang), np.sin(ang)
    return np.concatenate([a * c - b * s, b * c + a * s], -1)

  return run, lambda r: (normal(r, (T, H, D), d), r.integers(0, 40, (T, 1)).astype(np.int32)), ref


@program([jnp.float32, jnp.bfloat16, jnp.int32], 1)
def top_k_sampling(d):
  """The k largest by repeated maximum with masking, logits of 5 rows of 37, then the draw of the cumulative sum."""
  n, v, kk = 5, 37, 4

  def run(x, *, interpret):
    def k(x_ref, val_ref, idx_ref):
      x = x_ref[...]
      at = lax.broadcasted_iota(jnp.int32, x.shape, 1)
      low = jnp.asarray(jnp.finfo(d).min if jnp.issubdtype(d, jnp.floating) else jnp.iinfo(d).min, d)
      for j in range(kk):
        i = jnp.argmax(x, 1).astype(jnp.int32)[:, None]
        val_ref[:, j : j + 1] = jnp.max(x, 1, keepdims=True)
        idx_ref[:, pl.ds(j, 1)] = i
        x = jnp.where(at == i, low, x)

    return pl.pallas_call(
      k,
      (shape((n, kk), d), shape((n, kk), jnp.int32)),
      grid=(pl.cdiv(n, 2),),
      in_specs=[pl.BlockSpec((2, v), lambda i: (i, 0))],
      out_specs=(pl.BlockSpec((2, kk), lambda i: (i, 0)),) * 2,
      interpret=interpret,
    )(x)

  def ref(x):
    p = np.argsort(-x, axis=1, kind="stable")[:, :kk]
    return np.take_along_axis(x, p, 1), p

  return run, lambda r: (r.integers(-20, 20, (n, v)).astype(d),), ref


@program([jnp.float32, jnp.float16], 64)
def strided_pooling(d):
  """Maximum and mean over windows of 3 with step 2, by overlapping blocks of elements with padding; 2D, odd sizes."""
  H, W = 13, 11

  def run(x, *, interpret):
    oh, ow = (H - 1) // 2 + 1, (W - 1) // 2 + 1

    def k(x_ref, m_ref, a_ref):
      i = pl.program_id(0)
      y = lax.broadcasted_iota(jnp.int32, (3, W + 2), 0) + 2 * i - 1
      z = lax.broadcasted_iota(jnp.int32, (3, W + 2), 1) - 1
      ok = (y >= 0) & (y < H) & (z >= 0) & (z < W)
      x = jnp.where(ok, x_ref[...].astype(F32), -jnp.inf)
      s = jnp.where(ok, x_ref[...].astype(F32), 0)
      cols = lambda v, j: lax.slice(v, (0, j), (3, j + 2 * ow - 1), (1, 2))
      m_ref[...] = jnp.maximum(jnp.maximum(cols(x, 0), cols(x, 1)), cols(x, 2)).max(0, keepdims=True).astype(d)
      a_ref[...] = ((cols(s, 0) + cols(s, 1) + cols(s, 2)).sum(0, keepdims=True) / 9).astype(d)

    sp = pl.BlockSpec((pl.Element(3, (1, 1)), pl.Element(W + 2, (1, 1))), lambda i: (2 * i, 0))
    o = pl.BlockSpec((1, ow), lambda i: (i, 0))
    return pl.pallas_call(
      k, (shape((oh, ow), d),) * 2, grid=(oh,), in_specs=[sp], out_specs=(o, o), interpret=interpret
    )(x)

  def ref(x):
    p = np.pad(x, 1, constant_values=-np.inf)
    q = np.pad(x, 1)
    w = lambda a: np.stack([a[i : i + H : 2, j : j + W : 2] for i in range(3) for j in range(3)])
    return w(p).max(0), w(q).sum(0) / 9

  return run, lambda r: (normal(r, (H, W), d),), ref


@program([jnp.float32, jnp.bfloat16], 64)
def flash_decode_split(d):
  """Splits of the keys along the grid give partial sums and maxima, a second kernel combines them; length prefetched."""
  H, D, S, blk = 5, 12, 43, 16

  def run(q, k_, v_, length, *, interpret):
    splits = pl.cdiv(S, blk)

    def part(len_ref, q_ref, k_ref, v_ref, o_ref, m_ref, l_ref):
      i = pl.program_id(0)
      s = lax.dot_general(
        q_ref[...], k_ref[...], (((1,), (1,)), ((), ())), preferred_element_type=F32, precision="highest"
      )
      at = i * blk + lax.broadcasted_iota(jnp.int32, s.shape, 1)
      ok = at < len_ref[0]
      s = jnp.where(ok, s, -1e30)
      m = jnp.max(s, 1, keepdims=True)
      p = jnp.where(ok, jnp.exp(s - m), 0)
      rows = i * blk + lax.broadcasted_iota(jnp.int32, (blk, 1), 0)
      v = jnp.where(rows < len_ref[0], v_ref[...].astype(F32), 0)
      o_ref[...] = lax.dot(p, v, precision="highest", preferred_element_type=F32)
      m_ref[...] = m
      l_ref[...] = jnp.sum(p, 1, keepdims=True)

    kv = pl.BlockSpec((blk, D), lambda i, n: (i, 0))
    piece = lambda w: pl.BlockSpec((None, H, w), lambda i, n: (i, 0, 0))
    gs = pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=1,
      grid=(splits,),
      in_specs=[pl.BlockSpec((H, D), lambda i, n: (0, 0)), kv, kv],
      out_specs=(piece(D), piece(1), piece(1)),
    )
    o, m, l = pl.pallas_call(
      part,
      (shape((splits, H, D), F32), shape((splits, H, 1), F32), shape((splits, H, 1), F32)),
      grid_spec=gs,
      compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
      interpret=interpret,
    )(length, q, k_, v_)

    def join(o_ref, m_ref, l_ref, out_ref):
      m = jnp.max(m_ref[...], 0)
      w = jnp.exp(m_ref[...] - m)
      out_ref[...] = (jnp.sum(o_ref[...] * w, 0) / jnp.sum(l_ref[...] * w, 0)).astype(out_ref.dtype)

    return pl.pallas_call(join, shape((H, D), d), interpret=interpret)(o, m, l)

  def ref(q, k_, v_, length):
    s = q @ k_[: length[0]].T
    p = np.exp(s - s.max(1, keepdims=True))
    return p @ v_[: length[0]] / p.sum(1, keepdims=True)

  return (
    run,
    lambda r: (normal(r, (H, D), d), normal(r, (S, D), d), normal(r, (S, D), d), np.asarray([29], np.int32)),
    ref,
  )


@program([jnp.float32, jnp.int32], 1)
def segment_sum(d):
  """Sums of sorted segments into a revisited output, 53 rows in blocks of 8, ids in SMEM, the overhang skipped by a loop."""
  n, w, g = 53, 6, 7

  def run(x, seg, *, interpret):
    def k(seg_ref, x_ref, o_ref):
      i = pl.program_id(0)

      @pl.when(i == 0)
      def _():
        o_ref[...] = jnp.zeros_like(o_ref)

      @pl.loop(0, jnp.minimum(8, n - i * 8))
      def _(r):
        s = seg_ref[i * 8 + r]
        o_ref[pl.ds(s, 1)] = o_ref[pl.ds(s, 1)] + x_ref[pl.ds(r, 1)]

    gs = pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=1,
      grid=(pl.cdiv(n, 8),),
      in_specs=[pl.BlockSpec((8, w), lambda i, _: (i, 0))],
      out_specs=pl.BlockSpec((g, w), lambda i, _: (0, 0)),
    )
    return pl.pallas_call(k, shape((g, w), d), grid_spec=gs, interpret=interpret)(seg, x)

  def ref(x, seg):
    o = np.zeros((g, w))
    np.add.at(o, seg, x)
    return o

  return run, lambda r: (r.integers(-9, 9, (n, w)).astype(d), np.sort(r.integers(0, g, n)).astype(np.int32)), ref


@program([jnp.float32], 64)
def game_of_neighbours(d):
  """A five-point stencil by two buffers, iterated in place: input aliased to output, blocks of whole rows with halo copied by DMA."""
  n, w = 17, 9

  def run(x, *, interpret):
    def k(x_hbm, o_ref, buf, sem):
      i = pl.program_id(0)
      rows = 4
      start = jnp.clip(i * rows - 1, 0, n - (rows + 2))
      pltpu.async_copy(x_hbm.at[pl.ds(start, rows + 2)], buf, sem).wait()

      @pl.loop(0, rows)
      def _(r):
        y = i * rows + r

        @pl.when(y < n)
        def _():
          c = buf[y - start]
          up = jnp.where(y > 0, buf[jnp.maximum(y - start - 1, 0)], 0)
          dn = jnp.where(y < n - 1, buf[jnp.minimum(y - start + 1, rows + 1)], 0)
          lane = lax.broadcasted_iota(jnp.int32, (w,), 0)
          left = jnp.where(lane > 0, jnp.roll(c, 1), 0)
          right = jnp.where(lane < w - 1, jnp.roll(c, -1), 0)
          o_ref[r] = up + dn + left + right - 4 * c

    return pl.pallas_call(
      k,
      shape((n, w), d),
      grid=(pl.cdiv(n, 4),),
      in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
      out_specs=pl.BlockSpec((4, w), lambda i: (i, 0)),
      scratch_shapes=[pltpu.VMEM((6, w), d), pltpu.SemaphoreType.DMA],
      interpret=interpret,
    )(x)

  def ref(x):
    p = np.pad(x, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x

  return run, lambda r: (normal(r, (n, w), d),), ref


@program([jnp.float32, jnp.bfloat16], 32)
def ssd_chunked(d):
  """Gated linear attention by chunks: inside by a masked product, between by a state in scratch; 29 steps in chunks of 8."""
  B, L, K, V, c = 2, 29, 6, 10, 8

  def run(q, k_, v, g, *, interpret):
    def k(q_ref, k_ref, v_ref, g_ref, o_ref, st):
      t = pl.program_id(1)

      @pl.when(t == 0)
      def _():
        st[...] = jnp.zeros_like(st)

      ok = (t * c + lax.broadcasted_iota(jnp.int32, (c, 1), 0)) < L
      cut = lambda r: jnp.where(ok, r[...].astype(F32), 0)
      q, kk, v, g = cut(q_ref), cut(k_ref), cut(v_ref), cut(g_ref)
      s = jnp.cumsum(g, 0)
      row = lax.broadcasted_iota(jnp.int32, (c, c), 0)
      col = lax.broadcasted_iota(jnp.int32, (c, c), 1)
      a = jnp.where(
        row >= col,
        lax.dot_general(q, kk, (((1,), (1,)), ((), ())), precision="highest")
        * jnp.exp(jnp.where(row >= col, s - s.T, 0)),
        0,
      )
      o = lax.dot(a, v, precision="highest") + lax.dot(q, st[...], precision="highest") * jnp.exp(s)
      o_ref[...] = o.astype(o_ref.dtype)
      w = jnp.exp(s[-1:] - s)
      st[...] = st[...] * jnp.exp(s[-1:]) + lax.dot_general(kk * w, v, (((0,), (0,)), ((), ())), precision="highest")

    sp = lambda w: pl.BlockSpec((None, c, w), lambda b, t: (b, t, 0))
    return pl.pallas_call(
      k,
      shape(v.shape, d),
      grid=(B, pl.cdiv(L, c)),
      in_specs=[sp(K), sp(K), sp(V), sp(1)],
      out_specs=sp(V),
      scratch_shapes=[pltpu.VMEM((K, V), F32)],
      compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
      interpret=interpret,
    )(q, k_, v, g)

  def ref(q, k_, v, g):
    o = np.zeros((B, L, V))
    s = np.zeros((B, K, V))
    for t in range(L):
      s = s * np.exp(g[:, t])[:, None] + k_[:, t, :, None] * v[:, t, None]
      o[:, t] = np.einsum("bk,bkv->bv", q[:, t], s)
    return o

  return (
    run,
    lambda r: (
      normal(r, (B, L, K), d),
      normal(r, (B, L, K), d),
      normal(r, (B, L, V), d),
      (-r.random((B, L, 1))).astype(d),
    ),
    ref,
  )
