"""fuse and fusible: what a kernel of fusions is given, and what becomes of what it returns."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser
from tilewright.pallas import tpu as pltpu

X = jnp.arange(6.0).reshape(2, 3)


def pair(prefix, seen):
  """A fusible function of two results that notes the output fusions it is given."""

  @fuser.fusible(output_fusion_prefix=prefix)
  def kernel(x, y, out):
    seen.append(out)
    results = x() + 1, y() * 2
    if isinstance(out, tuple):
      return tuple(f(r) if f is not None else r for f, r in zip(out, results))
    return out(results) if out is not None else results

  return kernel


def test_alone_a_fusible_function_gets_trivial_fusions():
  seen = []
  a, b = pair(True, seen)(X, X)
  np.testing.assert_array_equal(a, X + 1)
  np.testing.assert_array_equal(b, X * 2)
  assert seen == [None]


def test_fusions_know_their_types():
  @fuser.fusible
  def kernel(x, out):
    assert (x.shape, x.dtype, x.ndim, x.in_type) == ((2, 3), jnp.float32, 2, ((), {}))
    if out is not None:
      assert out.shape == ((3, 2),) and out.ndim == (2,) and out.in_shape == ((2, 3), {})
    return out(x()) if out is not None else x()

  np.testing.assert_array_equal(fuser.fuse(lambda x: kernel(x).T)(X), X.T)


def test_what_stands_around_the_call_becomes_fusions():
  seen = []
  kernel = pair(True, seen)
  f = lambda x, y: sum(kernel(x * 3, y.T.T)) + y
  np.testing.assert_array_equal(jax.jit(fuser.fuse(f))(X, X), X * 3 + 1 + X * 2 + X)
  assert isinstance(seen[-1], fuser.Fusion) and len(seen[-1].type) == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_results_under_different_leaves_are_fused_separately(order):
  seen = []
  kernel = pair((True, True), seen)

  def f(x):
    results = kernel(x, x)
    return tuple(results[i] * (5 + i) for i in order)

  got = fuser.fuse(f)(X)
  for value, i in zip(got, order):
    np.testing.assert_array_equal(value, (X + 1, X * 2)[i] * (5 + i))
  assert all(isinstance(g, fuser.Fusion) for g in seen[-1])


def test_a_result_that_nothing_follows_has_no_fusion():
  seen = []
  kernel = pair((True, True), seen)

  def f(x):
    a, b = kernel(x, x)
    return a * 2, b

  a, b = fuser.fuse(f)(X)
  np.testing.assert_array_equal(a, (X + 1) * 2)
  np.testing.assert_array_equal(b, X * 2)
  assert isinstance(seen[-1][0], fuser.Fusion) and seen[-1][1] is None


def test_a_result_that_is_not_used_has_a_fusion_without_results():
  seen = []
  kernel = pair((True, True), seen)
  np.testing.assert_array_equal(fuser.fuse(lambda x: kernel(x, x)[0] * 2)(X), (X + 1) * 2)
  assert seen[-1][1].type == ()


def test_separate_fusions_must_be_disjoint():
  kernel = pair((True, True), [])
  with pytest.raises(ValueError, match="Outputs must be disjoint"):
    fuser.fuse(lambda x: sum(kernel(x, x)))(X)


def test_outputs_that_do_not_depend_on_the_call_are_computed_beside_it():
  kernel = pair(True, [])
  got = fuser.fuse(lambda x: {"sum": sum(kernel(x, x)), "other": x * 7, "same": x})(X)
  np.testing.assert_array_equal(got["other"], X * 7)
  np.testing.assert_array_equal(got["same"], X)


def test_the_older_name_of_the_prefix_is_accepted():
  @fuser.fusible(output_fusion_mask=(False, True))
  def kernel(x, out):
    return x() + 1, x() * 2

  a, b = fuser.fuse(lambda x: kernel(x))(X)
  np.testing.assert_array_equal(a, X + 1)
  np.testing.assert_array_equal(b, X * 2)


def test_debug_prints_each_jaxpr(capsys):
  kernel = pair(True, [])
  fuser.fuse(lambda x: sum(kernel(x * 2, x)), debug=True)(X)
  printed = capsys.readouterr().out
  for part in ("Jaxpr before fusion", "Fusion of input 0", "Fusion of input 1", "Fusion of output 0"):
    assert part in printed


def test_static_arguments_stay_python_values():
  kernel = pair(True, [])
  f = fuser.fuse(
    lambda x, n, *, name: sum(kernel(x * n, x)) if name == "a" else None, static_argnums=1, static_argnames="name"
  )
  np.testing.assert_array_equal(f(X, 3, name="a"), X * 3 + 1 + X * 2)


def test_a_call_inside_jit_is_found():
  kernel = pair(True, [])
  inner = jax.jit(lambda x: kernel(x, x * 2))
  np.testing.assert_array_equal(fuser.fuse(lambda x: sum(inner(x + 1)))(X), X + 2 + (X + 1) * 4)


def test_fuse_needs_a_call():
  with pytest.raises(ValueError, match="No fusible"):
    fuser.fuse(lambda x: x + 1)(X)


def noted(name, seen):
  """A kernel that notes whether something follows it."""

  @fuser.fusible
  def kernel(x, out):
    seen.append((name, out is not None))
    return x() if out is None else out(x())

  return kernel


def test_of_several_calls_the_first_is_fused():
  seen = []
  a, b = noted("a", seen), noted("b", seen)
  np.testing.assert_array_equal(fuser.fuse(lambda x: b(a(x + 1) * 2) + 3)(X), X * 2 + 5)
  assert seen[-1] == ("a", True) and ("b", True) not in seen


def test_a_fuse_inside_of_another_is_part_of_it():
  seen = []
  a = noted("a", seen)
  inner = fuser.fuse(lambda x: a(x * 2) + 3)
  np.testing.assert_array_equal(fuser.fuse(lambda x: inner(x + 1) * 7)(X), ((X + 1) * 2 + 3) * 7)
  assert seen == [("a", False), ("a", True)]
  np.testing.assert_array_equal(inner(X), X * 2 + 3)


def test_a_kernel_must_return_what_its_fusions_give():
  @fuser.fusible
  def kernel(x, out):
    return x()

  with pytest.raises(errors.FusionError, match="returned 1 results, but"):
    fuser.fuse(lambda x: (lambda y: (y * 2, y * 3))(kernel(x)))(X)


def test_outside_of_fuse_a_fusible_function_is_ordinary():
  """It can be batched and differentiated."""

  @fuser.fusible
  def kernel(x, out):
    y = jnp.sin(x()) * 2
    return out(y) if out is not None else y

  np.testing.assert_allclose(jax.vmap(kernel)(X), 2 * jnp.sin(X), rtol=1e-6)
  np.testing.assert_allclose(jax.grad(lambda x: kernel(x).sum())(X), 2 * jnp.cos(X), rtol=1e-6)
  np.testing.assert_allclose(jax.jit(kernel)(X), 2 * jnp.sin(X), rtol=1e-6)


# --- a matrix product, written the way kernels of fusions are ----------------------------------------------------


def matmul_kernel(fns, scalars, x_refs, y_refs, z_refs, *rest):
  *out_refs, acc_ref = rest
  point = tuple(pl.program_id(d) for d in range(3))
  contents = lambda refs: jax.tree.map(lambda r: r[...], refs)

  @pl.when(point[2] == 0)
  def _():
    acc_ref[...] = jnp.zeros_like(acc_ref)

  x = fns[0](point, scalars, contents(x_refs))
  y = fns[1](point, scalars, contents(y_refs))
  acc_ref[...] += jnp.dot(x, y, preferred_element_type=jnp.float32)

  @pl.when(point[2] == pl.num_programs(2) - 1)
  def _():
    for ref, block in zip(out_refs, jax.tree.leaves(fns[2](point, scalars, contents(z_refs), acc_ref[...]))):
      ref[...] = block


@fuser.fusible
def matmul(x, y, z):
  (m, k), n, (bm, bn, bk) = x.shape, y.shape[1], (16, 16, 16)
  z_type = jax.ShapeDtypeStruct((m, n), jnp.float32)
  z = z if z is not None else lambda r: r
  pulled = []
  specs = [
    pl.BlockSpec((bm, bk), lambda i, j, l, *_: (i, l)),
    pl.BlockSpec((bk, bn), lambda i, j, l, *_: (l, j)),
    fuser.push_block_spec(z, pl.BlockSpec((bm, bn), lambda i, j, l, *_: (i, j)))(z_type),
  ]
  for i, (f, types, spec) in enumerate(zip((x, y, z), ((), (), (z_type,)), specs)):
    fn, values, scalars = fuser.get_fusion_values(f, *types)
    handler = fuser.make_scalar_prefetch_handler(i)
    fn, (value_specs, *_), _ = fuser.pull_block_spec(fn, spec, scalar_prefetch_handler=handler, grid_len=3)(
      values, *types
    )
    pulled.append((fn, values, value_specs, jax.tree.map(lambda s: s[None], scalars)))
  fns, values, value_specs, scalars = zip(*pulled)
  return pl.pallas_call(
    lambda *refs: matmul_kernel(fns, refs[:3], *refs[3:]),
    out_shape=jax.eval_shape(z, z_type),
    grid_spec=pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=3,
      grid=(m // bm, n // bn, k // bk),
      in_specs=list(value_specs),
      out_specs=specs[2],
      scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
    ),
    interpret=True,
  )(*scalars, *values)


def test_prologues_and_epilogue_run_in_the_blocks_of_a_kernel():
  key = jax.random.key(0)
  x, w = jax.random.normal(key, (32, 48)), jax.random.normal(key, (3, 48, 64))
  b, gate = jnp.arange(64.0), jax.random.normal(key, (32, 64))
  layer = jnp.array(1)

  def f(product, x, w, layer, b, gate):
    r = jax.nn.silu(product(x * 0.125, w[layer]) + b) * gate
    return r.T, r.astype(jnp.bfloat16)

  got = jax.jit(fuser.fuse(lambda *args: f(matmul, *args)))(x, w, layer, b, gate)
  want = f(jnp.dot, x, w, layer, b, gate)
  # The product is summed in another order: 48 terms of magnitude below 1/8 each, and silu has slope below 1.1.
  np.testing.assert_allclose(got[0], want[0], atol=48 * 4 * 2**-24 * 8)
  assert got[1].dtype == jnp.bfloat16


def test_a_fused_program_is_one_kernel_call():
  x, w = jnp.ones((32, 48)), jnp.ones((48, 64))
  jaxpr = jax.make_jaxpr(fuser.fuse(lambda x, w: matmul(x * 2, w + 1) * 3))(x, w)
  names = [e.primitive.name for e in jaxpr.eqns]
  assert names.count("pallas_call") == 1
  assert not {"mul", "add", "dot_general"} & set(names)
