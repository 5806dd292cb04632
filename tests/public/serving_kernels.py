"""Kernels of the kind that serving and training libraries ship, in the style they are written in, with float64 references.

State between grid points in SMEM, copies started at one grid point and awaited at the next, optional operands,
quantised weights, carries in scratch memory, arrays updated in place.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

HBM = pl.BlockSpec(memory_space=pl.ANY)


@dataclasses.dataclass(frozen=True)
class Program:
  """`run(*operands, interpret=…)`, operands, and what the result is in float64."""

  name: str
  run: Callable[..., Any]
  operands: Callable[[np.random.Generator], tuple[Any, ...]]
  reference: Callable[..., Any]

  def __str__(self) -> str:
    return self.name


PROGRAMS: list[Program] = []


def program(operands: Callable[[np.random.Generator], tuple[Any, ...]], reference: Callable[..., Any]) -> Any:
  def add(run: Callable[..., Any]) -> Any:
    PROGRAMS.append(Program(run.__name__, run, operands, reference))
    return run

  return add


def softmax(x: np.ndarray) -> np.ndarray:
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)


# --- paged attention: the buffer in use is a scalar in SMEM that lives from grid point to grid point -----------------

PAGES, PAGE, HEADS, DIM = 7, 8, 2, 32


def decode_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.standard_normal((3, HEADS, 4, DIM), np.float32),
    *random.standard_normal((2, HEADS, PAGES, PAGE, DIM), np.float32),
    np.array([13, 1, 24], np.int32),
    np.array([[5, 1, 0], [3, 0, 0], [2, 6, 4]], np.int32),
  )


def decode_reference(q, k, v, lengths, table):
  out = np.zeros(q.shape)
  for b, h in np.ndindex(len(lengths), HEADS):
    keys, values = (x[h, table[b]].reshape(-1, DIM)[: lengths[b]] for x in (k, v))
    out[b, h] = softmax(q[b, h] @ keys.T / np.sqrt(DIM)) @ values
  return out


@program(decode_operands, decode_reference)
def paged_decode(q, k, v, lengths, table, *, interpret):
  """One query per sequence; each grid point starts the first copy of the next one."""
  batch, heads = q.shape[:2]

  def kernel(lengths, table, slot, started, q_ref, k_hbm, v_hbm, o_ref, k_buf, v_buf, sems):
    b, h = pl.program_id(0), pl.program_id(1)
    pages = pl.cdiv(lengths[b], PAGE)

    def copies(b, h, i, slot):
      page = table[b, i]
      return [
        pltpu.make_async_copy(hbm.at[h, page], buf.at[slot], sems.at[slot, n])
        for n, (hbm, buf) in enumerate(((k_hbm, k_buf), (v_hbm, v_buf)))
      ]

    @pl.when(started[0] == 0)
    def _():
      for copy in copies(b, h, 0, 0):
        copy.start()
      started[0] = 1

    def step(i, carry):
      m, l, acc = carry
      now = slot[0]
      is_last = i + 1 == pages
      next_h = jnp.where(is_last, (h + 1) % heads, h)
      next_b = jnp.where(is_last & (h + 1 == heads), b + 1, b)
      next_i = jnp.where(is_last, 0, i + 1)

      @pl.when(next_b < batch)
      def _():
        for copy in copies(next_b, next_h, next_i, 1 - now):
          copy.start()

      for copy in copies(b, h, i, now):
        copy.wait()
      s = q_ref[...] @ k_buf[now].T * DIM**-0.5
      s = jnp.where(i * PAGE + jax.lax.broadcasted_iota(jnp.int32, s.shape, 1) < lengths[b], s, -jnp.inf)
      slot[0] = 1 - now
      new = jnp.maximum(m, s.max(1, keepdims=True))
      p, scale = jnp.exp(s - new), jnp.exp(m - new)
      return new, l * scale + p.sum(1, keepdims=True), acc * scale + p @ v_buf[now]

    rows = q_ref.shape[0]
    start = (jnp.full((rows, 1), -jnp.inf), jnp.zeros((rows, 1)), jnp.zeros((rows, DIM)))
    _, l, acc = jax.lax.fori_loop(0, pages, step, start)
    o_ref[...] = acc / l

  block = pl.BlockSpec((None, None, *q.shape[2:]), lambda b, h, *_: (b, h, 0, 0))
  buffer = pltpu.VMEM((2, PAGE, DIM), jnp.float32)
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=4,
    grid=(batch, heads),
    in_specs=[block, HBM, HBM],
    out_specs=block,
    scratch_shapes=[buffer, buffer, pltpu.SemaphoreType.DMA((2, 2))],
  )
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct(q.shape, q.dtype), grid_spec=spec, interpret=interpret)
  return call(lengths, table, jnp.zeros(1, jnp.int32), jnp.zeros(1, jnp.int32), q, k, v)


# --- ragged attention: sequences of any length in one array of tokens; the sequence a block begins with is state -----


def ragged_operands(random: np.random.Generator) -> tuple[Any, ...]:
  tokens = 24
  return (
    *random.standard_normal((3, tokens, DIM), np.float32),
    np.array([0, 5, 6, 19, 24], np.int32),
  )


def ragged_reference(q, k, v, starts):
  out = np.zeros(q.shape)
  for begin, end in itertools.pairwise(starts):
    s = q[begin:end] @ k[begin:end].T / np.sqrt(DIM)
    out[begin:end] = softmax(np.where(np.tri(end - begin, dtype=bool), s, -np.inf)) @ v[begin:end]
  return out


@program(ragged_operands, ragged_reference)
def ragged_attention(q, k, v, starts, *, interpret, block=8):
  """Causal attention within sequences. Which sequence a block of queries begins with is kept in SMEM."""
  sequences = len(starts) - 1

  def kernel(starts, at, q_ref, k_ref, v_ref, o_ref, acc_ref):
    first = pl.program_id(0) * block
    rows = first + jax.lax.broadcasted_iota(jnp.int32, (block, 1), 0)
    columns = jax.lax.broadcasted_iota(jnp.int32, (1, k_ref.shape[0]), 1)

    def is_here(sequence):
      return (sequence < sequences) & (starts[jnp.minimum(sequence, sequences - 1)] < first + block)

    def one(sequence):
      begin, end = starts[sequence], starts[sequence + 1]
      own = (rows >= begin) & (rows < end)
      s = q_ref[...] @ k_ref[...].T * DIM**-0.5
      s = jnp.where((columns >= begin) & (columns <= rows), s, -1e30)
      p = jnp.exp(s - s.max(1, keepdims=True))
      o = p @ v_ref[...] / p.sum(1, keepdims=True)
      acc_ref[...] = jnp.where(own, o, acc_ref[...])
      at[0] = jnp.where(end <= first + block, sequence + 1, sequence)
      return sequence + 1

    jax.lax.while_loop(is_here, one, at[0])
    o_ref[...] = acc_ref[...]

  rows = pl.BlockSpec((block, DIM), lambda i, *_: (i, 0))
  whole = pl.BlockSpec(k.shape, lambda i, *_: (0, 0))
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=2,
    grid=(len(q) // block,),
    in_specs=[rows, whole, whole],
    out_specs=rows,
    scratch_shapes=[pltpu.VMEM((block, DIM), jnp.float32)],
  )
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct(q.shape, q.dtype), grid_spec=spec, interpret=interpret)
  return call(starts, jnp.zeros(1, jnp.int32), q, k, v)


# --- quantised products ----------------------------------------------------------------------------------------------


def int8_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.integers(-127, 128, (16, 64)).astype(np.int8),
    random.random((16, 1), np.float32),
    random.integers(-127, 128, (64, 48)).astype(np.int8),
    random.random((1, 48), np.float32),
  )


@program(int8_operands, lambda x, sx, w, sw: (x.astype(np.float64) @ w.astype(np.float64)) * sx * sw)
def int8_matmul(x, x_scale, w, w_scale, *, interpret):
  """int8 times int8 in int32, scaled by row and column at the end."""

  def kernel(x_ref, sx_ref, w_ref, sw_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], w_ref[...], preferred_element_type=jnp.int32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
      o_ref[...] = acc_ref[...].astype(jnp.float32) * sx_ref[...] * sw_ref[...]

  m, n, k = 8, 16, 32
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((x.shape[0], w.shape[1]), jnp.float32),
    grid=(x.shape[0] // m, w.shape[1] // n, x.shape[1] // k),
    in_specs=[
      pl.BlockSpec((m, k), lambda i, j, k: (i, k)),
      pl.BlockSpec((m, 1), lambda i, j, k: (i, 0)),
      pl.BlockSpec((k, n), lambda i, j, k: (k, j)),
      pl.BlockSpec((1, n), lambda i, j, k: (0, j)),
    ],
    out_specs=pl.BlockSpec((m, n), lambda i, j, k: (i, j)),
    scratch_shapes=[pltpu.VMEM((m, n), jnp.int32)],
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    interpret=interpret,
  )(x, x_scale, w, w_scale)


def int4_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.standard_normal((8, 64), np.float32),
    random.integers(0, 256, (32, 48)).astype(np.uint8),
    random.random((4, 48), np.float32),
  )


def int4_reference(x, packed, scales):
  w = np.stack([packed & 15, packed >> 4], axis=1).reshape(64, 48).astype(np.int64)
  w = np.where(w >= 8, w - 16, w) * np.repeat(scales, 16, axis=0)
  return x @ w


@program(int4_operands, int4_reference)
def int4_matmul(x, packed, scales, *, interpret):
  """Weights of four bits, two in a byte, with a scale for each group of 16 rows."""

  def kernel(x_ref, w_ref, s_ref, o_ref):
    w = w_ref[...].astype(jnp.int32)
    halves = jnp.stack([(w << 28) >> 28, (w << 24) >> 28], axis=1).reshape(2 * w.shape[0], w.shape[1])
    groups = halves.astype(jnp.float32).reshape(s_ref.shape[0], -1, w.shape[1]) * s_ref[...][:, None, :]
    o_ref[...] = x_ref[...] @ groups.reshape(halves.shape)

  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((x.shape[0], packed.shape[1]), jnp.float32),
    grid=(3,),
    in_specs=[
      pl.BlockSpec(x.shape, lambda j: (0, 0)),
      pl.BlockSpec((32, 16), lambda j: (0, j)),
      pl.BlockSpec((4, 16), lambda j: (0, j)),
    ],
    out_specs=pl.BlockSpec((8, 16), lambda j: (0, j)),
    interpret=interpret,
  )(x, packed, scales)


# --- grouped products, with operands that may be left out ------------------------------------------------------------


def grouped_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.standard_normal((32, 16), np.float32),
    random.standard_normal((3, 16, 24), np.float32),
    random.standard_normal((3, 24), np.float32),
    np.array([9, 0, 15], np.int32),
  )


def grouped_reference(x, w, bias, sizes):
  out = np.zeros((len(x), w.shape[-1]))
  ends = np.cumsum(sizes)
  for g, end in enumerate(ends):
    out[end - sizes[g] : end] = x[end - sizes[g] : end] @ w[g] + (0 if bias is None else bias[g])
  return out


def grouped(x, w, bias, sizes, *, interpret, block=8):
  """Rows of each group times its matrix; the grid is as long as the groups ask for. Rows of no group are zero."""
  ends = jnp.cumsum(sizes)
  begins = ends - sizes
  tiles = jnp.where(sizes > 0, (ends + block - 1) // block - begins // block, 0)
  most = len(x) // block + len(sizes)
  group_ids = jnp.repeat(jnp.arange(len(sizes), dtype=jnp.int32), tiles, total_repeat_length=most)
  first = jnp.cumsum(tiles) - tiles
  row_ids = (begins // block)[group_ids] + jnp.arange(most) - first[group_ids]

  def kernel(groups, rows, begins, ends, x_ref, w_ref, b_ref, old_ref, o_ref):
    i = pl.program_id(0)
    g = groups[i]
    row = rows[i] * block + jax.lax.broadcasted_iota(jnp.int32, (block, 1), 0)
    y = x_ref[...] @ w_ref[...]
    if b_ref is not None:
      y += b_ref[...]
    is_first = (i == 0) | (rows[jnp.maximum(i - 1, 0)] != rows[i])
    old = jnp.where(is_first, old_ref[...], o_ref[...])
    o_ref[...] = jnp.where((row >= begins[g]) & (row < ends[g]), y, old)

  n = w.shape[-1]
  out = pl.BlockSpec((block, n), lambda i, groups, rows, *_: (rows[i], 0))
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=4,
    grid=(jnp.sum(tiles),),
    in_specs=[
      pl.BlockSpec((block, x.shape[1]), lambda i, groups, rows, *_: (rows[i], 0)),
      pl.BlockSpec((None, *w.shape[1:]), lambda i, groups, *_: (groups[i], 0, 0)),
      None if bias is None else pl.BlockSpec((1, n), lambda i, groups, *_: (groups[i], 0)),
      out,
    ],
    out_specs=out,
  )
  num_before = 4 + 2 + (bias is not None)
  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((len(x), n), x.dtype),
    grid_spec=spec,
    input_output_aliases={num_before: 0},
    compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
    interpret=interpret,
  )
  return call(group_ids, row_ids.astype(jnp.int32), begins, ends, x, w, bias, jnp.zeros((len(x), n), x.dtype))


@program(grouped_operands, grouped_reference)
def grouped_matmul(x, w, bias, sizes, *, interpret):
  return grouped(x, w, bias, sizes, interpret=interpret)


@program(grouped_operands, lambda x, w, bias, sizes: grouped_reference(x, w, None, sizes))
def grouped_matmul_without_bias(x, w, bias, sizes, *, interpret):
  return grouped(x, w, None, sizes, interpret=interpret)


# --- gated linear unit -----------------------------------------------------------------------------------------------


def glu_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return tuple(random.standard_normal(s, np.float32) / 4 for s in ((16, 32), (32, 64), (32, 64), (64, 24)))


@program(glu_operands, lambda x, gate, up, down: ((x @ gate) / (1 + np.exp(-(x @ gate))) * (x @ up)) @ down)
def gated_linear_unit(x, gate, up, down, *, interpret):
  """silu(x gate) * (x up), times down, summed over blocks of the hidden dimension."""

  def kernel(x_ref, gate_ref, up_ref, down_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      acc_ref[...] = jnp.zeros_like(acc_ref)

    x = x_ref[...]
    hidden = jax.nn.silu(x @ gate_ref[...]) * (x @ up_ref[...])
    acc_ref[...] += hidden @ down_ref[...]

    @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
    def _():
      o_ref[...] = acc_ref[...]

  m, h = 8, 16
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((x.shape[0], down.shape[1]), x.dtype),
    grid=(x.shape[0] // m, gate.shape[1] // h),
    in_specs=[
      pl.BlockSpec((m, x.shape[1]), lambda i, j: (i, 0)),
      pl.BlockSpec((x.shape[1], h), lambda i, j: (0, j)),
      pl.BlockSpec((x.shape[1], h), lambda i, j: (0, j)),
      pl.BlockSpec((h, down.shape[1]), lambda i, j: (j, 0)),
    ],
    out_specs=pl.BlockSpec((m, down.shape[1]), lambda i, j: (i, 0)),
    scratch_shapes=[pltpu.VMEM((m, down.shape[1]), jnp.float32)],
    interpret=interpret,
  )(x, gate, up, down)


# --- linear recurrence -----------------------------------------------------------------------------------------------


def recurrence_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.random((2, 24, 16), np.float32),
    random.standard_normal((2, 24, 16), np.float32),
    random.standard_normal((2, 16), np.float32),
  )


def recurrence_reference(a, x, h):
  out = np.zeros(x.shape)
  for t in range(x.shape[1]):
    h = a[:, t] * h + x[:, t]
    out[:, t] = h
  return out, h


@program(recurrence_operands, recurrence_reference)
def linear_recurrence(a, x, initial, *, interpret, chunk=8):
  """h[t] = a[t] h[t - 1] + x[t], chunk by chunk with the state in scratch memory; gives all states and the last."""

  def kernel(a_ref, x_ref, h0_ref, o_ref, last_ref, h_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      h_ref[...] = h0_ref[...]

    def step(t, h):
      h = a_ref[pl.ds(t, 1)] * h + x_ref[pl.ds(t, 1)]
      o_ref[pl.ds(t, 1)] = h
      return h

    h_ref[...] = jax.lax.fori_loop(0, chunk, step, h_ref[...])

    @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
    def _():
      last_ref[...] = h_ref[...]

  batch, length, width = x.shape
  rows = pl.BlockSpec((None, chunk, width), lambda b, t: (b, t, 0))
  state = pl.BlockSpec((1, width), lambda b, t: (b, 0))
  return pl.pallas_call(
    kernel,
    (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(initial.shape, x.dtype)),
    grid=(batch, length // chunk),
    in_specs=[rows, rows, state],
    out_specs=(rows, state),
    scratch_shapes=[pltpu.VMEM((1, width), jnp.float32)],
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
    interpret=interpret,
  )(a, x, initial)


# --- causal convolution ----------------------------------------------------------------------------------------------


def convolution_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.standard_normal((2, 24, 16), np.float32),
    random.standard_normal((4, 16), np.float32),
    random.standard_normal(16, np.float32),
  )


def convolution_reference(x, w, bias):
  padded = np.concatenate([np.zeros((len(x), 3, x.shape[2])), x], axis=1)
  y = sum(padded[:, k : k + x.shape[1]] * w[k] for k in range(4)) + bias
  return y / (1 + np.exp(-y))


@program(convolution_operands, convolution_reference)
def causal_convolution(x, w, bias, *, interpret, chunk=8):
  """Depthwise, of width four, with silu; the last rows of a chunk are carried to the next."""
  taps = len(w)

  def kernel(x_ref, w_ref, b_ref, o_ref, window_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      window_ref[: taps - 1] = jnp.zeros((taps - 1, window_ref.shape[1]))

    window_ref[taps - 1 :] = x_ref[...]
    y = b_ref[...] + sum(window_ref[k : k + chunk] * w_ref[k] for k in range(taps))
    o_ref[...] = jax.nn.silu(y)
    window_ref[: taps - 1] = window_ref[chunk:]

  batch, length, width = x.shape
  rows = pl.BlockSpec((None, chunk, width), lambda b, t: (b, t, 0))
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(batch, length // chunk),
    in_specs=[rows, pl.BlockSpec(w.shape, lambda b, t: (0, 0)), pl.BlockSpec((width,), lambda b, t: (0,))],
    out_specs=rows,
    scratch_shapes=[pltpu.VMEM((chunk + taps - 1, width), jnp.float32)],
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
    interpret=interpret,
  )(x, w, bias)


# --- update of a key-value cache -------------------------------------------------------------------------------------


def cache_operands(random: np.random.Generator) -> tuple[Any, ...]:
  return (
    random.standard_normal((6, HEADS, DIM), np.float32),
    random.standard_normal((PAGES, PAGE, HEADS, DIM), np.float32),
    np.array([3, 55, 17, 0, 40, 21], np.int32),
    np.array([5], np.int32),
  )


def cache_reference(new, cache, slots, count):
  out = cache.copy().reshape(-1, HEADS, DIM)
  out[slots[: count[0]]] = new[: count[0]]
  return out.reshape(cache.shape)


@program(cache_operands, cache_reference)
def cache_update(new, cache, slots, count, *, interpret):
  """Write rows into a paged cache where it is, by copies that are in flight together."""

  def kernel(slots, count, new_ref, cache_in, cache_ref, sems):
    def copy(i):
      place = cache_ref.at[slots[i] // PAGE, slots[i] % PAGE]
      return pltpu.make_async_copy(new_ref.at[i], place, sems.at[i])

    def start(i, _):
      copy(i).start()

    def wait(i, _):
      copy(i).wait()

    jax.lax.fori_loop(0, count[0], start, None)
    jax.lax.fori_loop(0, count[0], wait, None)

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=2,
    grid=(1,),
    in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM), HBM],
    out_specs=HBM,
    scratch_shapes=[pltpu.SemaphoreType.DMA((len(new),))],
  )
  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(cache.shape, cache.dtype),
    grid_spec=spec,
    input_output_aliases={3: 0},
    interpret=interpret,
  )
  return call(slots, count, new, cache)
