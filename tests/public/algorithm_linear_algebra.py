"""Transforms, factorisations and products of matrices as kernels, with float64 references (see `algorithm_programs`)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from algorithm_programs import F32, normal, program, shape
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu


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
