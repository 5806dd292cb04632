"""Scans, recurrences and decoding steps along a sequence as kernels, with float64 references (see `algorithm_programs`)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from algorithm_programs import F32, normal, program, shape
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu


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
