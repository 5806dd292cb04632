"""Sorting, counting, grouping and stencils as kernels, with float64 references (see `algorithm_programs`)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from algorithm_programs import F32, normal, program, shape
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu


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
