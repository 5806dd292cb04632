"""Loops, branches and calls inside kernels: refs are read and written in each of them as if they were written out."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from language import F32, I32, S, arange, examples, pointwise, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.tile.memory import TpuMemorySpace

VMEM, SMEM = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM


@pytest.mark.parametrize("unroll", [None, 1, 2, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_fori_loop_reads_writes_and_carries(unroll, dynamic):
  if dynamic and unroll is True:
    pytest.skip("JAX unrolls only loops whose bounds it knows")

  def kernel(n_ref, x_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref)

    def body(i, total):
      o_ref[i] = x_ref[i] * total
      return total + 1

    stop = n_ref[0] if dynamic else 4
    total = lax.fori_loop(1, stop, body, F32(1), unroll=None if dynamic else unroll)
    o_ref[0] = jnp.full(6, total)

  x = arange(5, 6)
  expected = np.zeros((5, 6), np.float32)
  for i in range(1, 4):
    expected[i] = x[i] * i
  expected[0] = 4
  same(run(kernel, np.array([4]), x, out=S((5, 6), F32)), expected)


@pytest.mark.parametrize("start, stop", [(0, 5), (2, 2), (3, 1), (-1, 3)])
def test_while_loops_that_count_end_where_python_s_do(start, stop):
  """Counting up to a limit, with other steps, and towards a limit that moves."""

  def kernel(n_ref, o_ref):
    first, last = n_ref[0], n_ref[1]
    below = lambda c: c[0] < c[1]
    o_ref[0] = lax.while_loop(lambda i: i < last, lambda i: i + 1, first)
    o_ref[1], o_ref[2] = lax.while_loop(below, lambda c: (c[0] + 2, c[1]), (first, last))
    o_ref[3], o_ref[4] = lax.while_loop(below, lambda c: (c[0] + 1, c[1] - 1), (first, last))
    o_ref[5] = lax.while_loop(below, lambda c: (c[0] + 1, c[1], c[2] + c[0] * c[1]), (first, last, I32(7)))[2]

  count = lambda low, high, up, down: next(
    (a, b) for a, b in ((low + n * up, high - n * down) for n in range(99)) if a >= b
  )
  total = 7 + sum(i * stop for i in range(start, stop))
  expected = [max(start, stop), *count(start, stop, 2, 0), *count(start, stop, 1, 1), total]
  same(run(kernel, np.array([start, stop], np.int32), out=S((6,), I32)), np.array(expected, np.int32))


def test_while_loop_conditions_may_read_refs_that_the_body_writes():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

    def body(steps):
      o_ref[0] = o_ref[0] * 2
      return steps + 1

    o_ref[1] = lax.while_loop(lambda steps: o_ref[0] < x_ref[2], body, I32(0)).astype(F32)

  same(run(kernel, jnp.array([3.0, 0, 50])), np.array([96, 5, 50], np.float32))


@pytest.mark.parametrize("interpret", [None, pltpu.InterpretParams()])
def test_vmap_inside_of_a_kernel_lets_each_element_leave_a_loop_by_itself(interpret):
  """With bounds of their own, from values and from refs; carries have the batch in front, whatever their rank."""

  def kernel(n_ref, x_ref, o_ref, total_ref):
    o_ref[...] = jax.vmap(lambda n, x: lax.fori_loop(0, n, lambda i, x: 2 * x + i, x))(n_ref[...], x_ref[...])

    def total(row):
      body = lambda c: (c[0] + 1, c[1] + x_ref[row, c[0]])
      return lax.while_loop(lambda c: c[0] < n_ref[row], body, (I32(0), F32(0)))[1]

    total_ref[...] = jax.vmap(total)(lax.iota(I32, 4))

  n, x = np.array([3, 0, 5, 1], np.int32), arange(4, 6)
  out, totals = run(kernel, n, x, out=(S((4, 6), F32), S((4,), F32)), **({"interpret": interpret} if interpret else {}))
  # k steps from x: 2^k x + 2^(k - 1) 0 + ... + (k - 1) = 2^k (x + 1) - k - 1
  same(out, np.asarray((2.0**n * (x.T + 1) - n - 1).T, np.float32))
  same(totals, np.array([x[row, :count].sum() for row, count in enumerate(n)], np.float32))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 5, True])
def test_scan_with_carry_inputs_and_outputs(reverse, unroll):
  def kernel(x_ref, o_ref, log_ref):
    def step(carry, x):
      i, total = carry
      log_ref[i] = x[0]
      return (i + 1, total + x[0]), total * x[1]

    (_, total), ys = lax.scan(step, (I32(0), F32(0)), (x_ref[...], 2 * x_ref[...]), reverse=reverse, unroll=unroll)
    o_ref[:5] = ys
    o_ref[5] = total

  x = np.arange(1.0, 6, dtype=np.float32)
  order = x[::-1] if reverse else x
  before = np.concatenate([[0], np.cumsum(order)[:-1]]).astype(np.float32)
  ys = (before * 2 * order)[:: -1 if reverse else 1]
  out, log = run(kernel, x, out=(S((6,), F32), S((5,), F32)))
  same(out, np.append(ys, x.sum()).astype(np.float32))
  same(log, order)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6))
@examples(8)
def test_switch_runs_one_branch(choices):
  def kernel(c_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref)
    for i in range(len(choices)):

      def write(value):
        o_ref[i] = value
        return value

      result = lax.switch(c_ref[i], [lambda: write(I32(1)), lambda: o_ref[0] * 0 + 7, lambda: write(I32(3))])
      o_ref[i] += 10 * result

  expected = {0: 11, 1: 70, 2: 33}
  same(
    run(kernel, np.array(choices, np.int32), out=S((len(choices),), I32)),
    np.array([expected[c] for c in choices], np.int32),
  )


def test_when_decides_now_for_a_python_bool_and_later_for_an_array():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref)

    @pl.when(True)
    def _():
      o_ref[0] = 1.0

    @pl.when(False)
    def _():
      raise AssertionError("not even traced")

    for i in range(1, 3):

      @pl.when(x_ref[i] > 1)
      def _():
        o_ref[i] = 5.0

  same(run(kernel, arange(3)), np.array([1, 0, 5], np.float32))


@given(st.integers(-3, 3), st.integers(-3, 8), st.sampled_from([-3, -1, 1, 2, 3]), st.booleans())
@examples(25)
def test_loop_counts_like_range(lower, upper, step, dynamic):
  count = len(range(lower, upper, step))

  def kernel(b_ref, o_ref, n_ref):
    n_ref[0] = 0
    o_ref[...] = jnp.full_like(o_ref, -99)
    bounds = (b_ref[0], b_ref[1]) if dynamic else (lower, upper)

    @pl.loop(*bounds, step=b_ref[2] if dynamic and step != 1 else step)
    def _(i):
      o_ref[n_ref[0]] = i
      n_ref[0] += 1

  out, n = run(kernel, np.array([lower, upper, step], np.int32), out=(S((12,), I32), S((1,), I32)))
  assert int(n[0]) == count
  same(out[:count], np.array(list(range(lower, upper, step)), np.int32))


def test_loop_with_a_carry_gives_the_last_one():
  def kernel(x_ref, o_ref):
    @pl.loop(0, 4, init_carry=(F32(0), F32(1)))
    def sums(i, carry):
      total, product = carry
      return total + x_ref[i], product * x_ref[i]

    o_ref[0], o_ref[1] = sums

  same(run(kernel, jnp.array([1.0, 2, 3, 4]), out=S((2,), F32)), np.array([10, 24], np.float32))


@pytest.mark.target("portable")
@pytest.mark.parametrize("form", ["fori", "scan", "loop"])
def test_a_fully_unrolled_loop_leaves_no_loop(form):
  def looped(unroll):
    def kernel(x_ref, o_ref):
      def body(i, carry=None):
        o_ref[i] = x_ref[i] * 2

      if form == "fori":
        lax.fori_loop(0, 4, body, None, unroll=unroll)
      elif form == "loop":
        pl.loop(0, 4, unroll=unroll)(body)
      else:
        lax.scan(lambda c, i: (body(i), None), None, jnp.arange(4), unroll=unroll)

    f = jax.jit(lambda x: run(kernel, x))
    same(f(arange(4)), 2 * arange(4))
    return f.lower(arange(4)).as_text()

  assert "stablehlo.while" not in looped(True)
  assert "stablehlo.while" not in looped(4)
  assert "stablehlo.while" in looped(1)


def nested(x_ref, o_ref, s_ref):
  """A loop in a branch in a loop in a jitted function, each touching refs."""

  @jax.jit
  def row(i):
    s_ref[0] += 1

    @pl.when(i % 2 == 0)
    def _():
      def add(j, total):
        o_ref[i, j] = x_ref[i, j] + s_ref[0].astype(F32)
        return total + o_ref[i, j]

      o_ref[i, 0] = lax.fori_loop(0, 3, add, F32(0))

    @pl.when(i % 2 == 1)
    def _():
      lax.while_loop(lambda j: j < 3, lambda j: (o_ref.__setitem__((i, j), -x_ref[i, j]), j + 1)[1], I32(0))

  s_ref[0] = 0
  lax.fori_loop(0, 4, lambda i, _: row(i), None)


def test_control_flow_nests():
  x = arange(4, 3)
  expected = -np.asarray(x)
  for i in (0, 2):
    expected[i] = x[i] + i + 1
    expected[i, 0] = expected[i].sum()
  same(run(nested, x, scratch_shapes=[SMEM((1,), I32)]), expected)


def test_nested_control_flow_over_a_grid():
  x = arange(2, 4, 3)
  spec = pl.BlockSpec((None, 4, 3), lambda i: (i, 0, 0))
  out = run(nested, x, grid=2, in_specs=[spec], out_specs=spec, scratch_shapes=[SMEM((1,), I32)])
  for b in range(2):
    same(out[b], run(nested, x[b], scratch_shapes=[SMEM((1,), I32)]))


@jax.custom_jvp
def square(x):
  return x * x


square.defjvp(lambda p, t: (square(*p), 3 * p[0] * t[0]))  # not the derivative, so that it is seen which one is used


@jax.custom_vjp
def cube(x):
  return x * x * x


cube.defvjp(lambda x: (cube(x), x), lambda x, g: (5 * x * g,))


def test_functions_with_custom_derivatives_keep_them_inside_kernels():
  x = arange(4)
  out, dot = jax.jvp(lambda x: run(pointwise(square), x), (x,), (jnp.ones(4),))
  same(out, x * x)
  same(dot, 3 * x)
  same(run(pointwise(cube), x), x**3)
  same(jax.grad(lambda x: run(pointwise(cube), x).sum())(x), 5 * x)
  same(jax.grad(lambda x: run(pointwise(square), x).sum())(x), 3 * x)


def test_remat_inside_a_kernel_changes_nothing():
  f = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
  x = arange(4)
  np.testing.assert_allclose(run(pointwise(f), x), np.sin(np.sin(x)), rtol=1e-6)
  expected = jax.grad(lambda x: jnp.sin(jnp.sin(x)).sum())(x)
  np.testing.assert_allclose(jax.grad(lambda x: run(pointwise(f), x).sum())(x), expected, rtol=1e-6)


@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint, functools.partial])
def test_calls_inside_kernels_may_read_refs(wrap):
  def kernel(x_ref, o_ref):
    o_ref[...] = wrap(lambda: x_ref[...] * 2)()

  same(run(kernel, arange(3)), 2 * arange(3))


def test_refs_may_be_passed_to_a_jitted_function():
  @jax.jit
  def move(source, target):
    target[...] = source[...] + 1

  same(run(move, arange(3)), arange(3) + 1)


def test_a_helper_may_be_jitted_and_used_with_two_grids():
  """What it saw of the first grid must not be baked into the second."""

  @jax.jit
  def count(x):
    return x + pl.num_programs(0)

  def kernel(x_ref, o_ref):
    o_ref[...] = count(x_ref[...])

  same(run(kernel, arange(2), grid=2), arange(2) + 2)
  same(run(kernel, arange(2), grid=5), arange(2) + 5)


def test_associative_scan_sort_and_reductions_run_inside_kernels():
  def kernel(x_ref, o_ref):
    x = x_ref[...]
    o_ref[0] = lax.associative_scan(jnp.add, x)
    o_ref[1] = jnp.sort(-x)
    o_ref[2] = jnp.cumsum(x[::-1])
    o_ref[3] = jnp.full_like(x, jnp.argmax(x).astype(F32) + jnp.median(x))

  x = np.array([1, 5, 2, 4], np.float32)
  expected = np.stack([np.cumsum(x), np.sort(-x), np.cumsum(x[::-1]), np.full(4, 1 + 3.0)]).astype(np.float32)
  same(run(kernel, x, out=S((4, 4), F32)), expected)


def test_when_wants_a_scalar_and_no_result():
  def several(x_ref, o_ref):
    pl.when(x_ref[...] > 0)(lambda: None)

  def returning(x_ref, o_ref):
    pl.when(x_ref[0] > 0)(lambda: x_ref[0])

  with pytest.raises(errors.ShapeMismatchError, match=r"condition must be a scalar, got shape \(3,\). Reduce it"):
    run(several, arange(3))
  with pytest.raises(errors.KernelReturnError, match=r"pl.when: the function must return None.*Write to refs"):
    run(returning, arange(3))


def test_loop_wants_a_step_and_no_result():
  with pytest.raises(errors.ShapeMismatchError, match="step must not be zero"):
    run(lambda x_ref, o_ref: pl.loop(0, 3, step=0)(lambda i: None), arange(3))
  with pytest.raises(errors.KernelReturnError, match="without init_carry the function must return None"):
    run(lambda x_ref, o_ref: pl.loop(0, 3)(lambda i: x_ref[i]), arange(3))


# What follows each of three carried arrays, and how NumPy says it.
FOLLOWING = {
  "swapped": lambda a, b, c: (b, a, c),
  "rotated to the left": lambda a, b, c: (b, c, a),
  "rotated to the right": lambda a, b, c: (c, a, b),
  "shifted": lambda a, b, c: (a + b - c, a, b),
  "the same twice": lambda a, b, c: (b - c, b - c, b),
  "overwritten": lambda a, b, c: (b, b, a),
  "reversed": lambda a, b, c: (b[::-1], a[::-1], c[::-1]),
  "reversed in place": lambda a, b, c: (a[::-1], c, b + a[::-1]),
}


@pytest.mark.parametrize("loop", ["for", "while", "scan"])
@pytest.mark.parametrize("name", FOLLOWING)
def test_carried_arrays_change_places_all_at_once(name, loop):
  """An array that takes another one's place is read before that one is overwritten."""
  follow = FOLLOWING[name]

  def kernel(x_ref, n_ref, o_ref):
    start = tuple(x_ref[i] for i in range(3))
    if loop == "for":
      end = lax.fori_loop(0, 5, lambda _, found: follow(*found), start)
    elif loop == "while":
      end = lax.while_loop(lambda s: s[0] < n_ref[0], lambda s: (s[0] + 1, *follow(*s[1:])), (0, *start))[1:]
    else:
      end, _ = lax.scan(lambda found, _: (follow(*found), None), start, None, length=5)
    for i in range(3):
      o_ref[i] = end[i]

  x = arange(3, 24)
  wanted = tuple(np.asarray(x))
  for _ in range(5):
    wanted = follow(*wanted)
  np.testing.assert_array_equal(run(kernel, x, jnp.array([5], I32)), np.stack(wanted))
