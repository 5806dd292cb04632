"""Kernels over the cores of a mesh: `pl.kernel`, `pl.core_map`, and several bodies in one launch."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from language import F32, I32, S, arange, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import dma
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import _jax

VMEM = pltpu.VMEM


def cores(count=2, name="core"):
  return pltpu.TensorCoreMesh(axis_name=name, num_cores=count)


def double_row(x_ref, o_ref):
  i = lax.axis_index("core")
  o_ref[i] = 2 * x_ref[i]


def test_axis_names_are_known_where_jax_checks_jaxprs():
  def body(x_ref, o_ref):
    @pl.when(lax.axis_index("core") < 2)
    def _():
      double_row(x_ref, o_ref)

  with _jax.config.enable_checks(True):
    same(pl.kernel(body, S((2, 3), F32), mesh=cores())(arange(2, 3)), 2 * arange(2, 3))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("form", ["call", "decorator"])
def test_each_core_runs_the_body_once(wrap, form):
  if form == "call":
    f = pl.kernel(double_row, S((2, 3), F32), mesh=cores())
  else:
    f = pl.kernel(out_type=S((2, 3), F32), mesh=cores())(double_row)
  assert f.__name__ == "double_row"
  same(wrap(f)(arange(2, 3)), 2 * arange(2, 3))


def test_cores_know_where_they_are():
  def body(o_ref):
    i = lax.axis_index("core")
    o_ref[i] = 10 * i + lax.axis_size("core") + 100 * pl.program_id(0) + 1000 * pl.num_programs(0)

  same(pl.kernel(body, S((2,), I32), mesh=cores())(), np.array([2002, 2112], np.int32))


@pytest.mark.parametrize("as_dict", [False, True])
def test_scratch_and_copies(as_dict):
  def body(x_ref, o_ref, buffer, sem):
    i = lax.axis_index("core")
    dma.async_copy(x_ref.at[i], buffer, sem).wait()
    buffer[...] += 1
    dma.sync_copy(buffer, o_ref.at[i])

  types = {"buffer": VMEM((3,), F32), "sem": pltpu.SemaphoreType.DMA}
  scratch = types if as_dict else list(types.values())
  f = pl.kernel(body, S((2, 3), F32), mesh=cores(), scratch_types=scratch)
  same(f(arange(2, 3)), arange(2, 3) + 1)


def test_outputs_may_be_trees():
  def body(x_ref, out):
    @pl.when(lax.axis_index("core") == 1)
    def _():
      out["a"][...] = x_ref[...]
      out["b"][0][...] = -x_ref[...]

  out = pl.kernel(body, {"a": S((3,), F32), "b": [S((3,), F32)]}, mesh=cores())(arange(3))
  same(out["a"], arange(3))
  same(out["b"][0], -arange(3))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("closed_over", [False, True])
def test_refs_are_updated_in_place(wrap, closed_over):
  def f(x):
    ref = jax.new_ref(x)

    def body(*refs):
      target = ref if closed_over else refs[0]
      i = lax.axis_index("core")
      target[i] = target[i] + 10 * (i + 1).astype(F32)

    pl.kernel(body, mesh=cores())(*(() if closed_over else (ref,)))
    ref[0] = ref[0] * 2
    return jax.ref.freeze(ref)

  same(wrap(f)(arange(2, 3)), np.array([[20, 22, 24], [23, 24, 25]], np.float32))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_core_map_works_on_the_refs_it_closes_over(wrap):
  def f(x):
    x_ref, o_ref = jax.new_ref(x), pl.empty_ref_like(S((2, 3), F32))

    @pl.core_map(cores(), scratch_shapes=[VMEM((3,), F32)])
    def _(buffer):
      i = lax.axis_index("core")
      buffer[...] = x_ref[i]
      o_ref[1 - i] = buffer[...]

    return jax.ref.freeze(o_ref)

  same(wrap(f)(arange(2, 3)), arange(2, 3)[::-1])


def test_run_state_and_core_map():
  def f(refs):
    x_ref, o_ref = refs

    @pl.core_map(cores())
    def _():
      i = lax.axis_index("core")
      o_ref[i] = x_ref[i] + 1

  _, out = pl.run_state(f)((arange(2, 3), jnp.zeros((2, 3))))
  same(out, arange(2, 3) + 1)


def test_several_bodies_run_in_one_launch():
  def first(x_ref, o_ref):
    i = lax.axis_index("a")
    o_ref[i] = x_ref[i] + 10 * lax.axis_size("a")

  def second(x_ref, o_ref):
    i = lax.axis_index("b")
    o_ref[2 + i] = -x_ref[2 + i] - pl.num_programs(0)

  f = pl.kernel([first, second], S((5,), F32), mesh=[cores(2, "a"), cores(3, "b")])
  expected = np.array([20, 21, -5, -6, -7], np.float32)
  same(f(arange(5)), expected)
  same(jax.jit(f)(arange(5)), expected)
  assert len(jax.make_jaxpr(f)(arange(5)).eqns) == 1


def test_several_bodies_share_refs():
  ref = jax.new_ref(jnp.zeros(2))

  def first():
    ref[0] = 1.0

  def second():
    ref[1] = ref[0] + 1  # the portable lowering runs one core after another

  pl.kernel([first, second], mesh=[cores(1, "a"), cores(1, "b")])()
  same(ref[...], np.array([1, 2], np.float32))


def test_a_kernel_of_arrays_transforms_like_a_call():
  f = pl.kernel(double_row, S((2, 3), F32), mesh=cores())
  x = arange(4, 2, 3)
  same(jax.vmap(f)(x), 2 * x)
  same(jax.grad(lambda x: jnp.sum(f(x) * x))(x[1]), 4 * x[1])
  same(jax.jvp(f, (x[0],), (x[1],))[1], 2 * x[1])
  assert jax.eval_shape(f, x[0]).shape == (2, 3)


def test_a_scalar_may_be_closed_over_and_an_array_may_not():
  def scaled(s):
    def body(x_ref, o_ref):
      o_ref[...] = x_ref[...] * s

    return pl.kernel(body, S((3,), F32), mesh=cores(1))(arange(3))

  same(jax.jit(scaled)(3.0), 3 * arange(3))
  with pytest.raises(errors.CapturedConstantError, match=r"captures constants.*pass them as inputs"):
    scaled(jnp.ones(3))


def test_a_body_returns_nothing():
  with pytest.raises(errors.KernelReturnError, match="must return None"):
    pl.kernel(lambda x_ref, o_ref: x_ref[...], S((3,), F32), mesh=cores())(arange(3))


def test_bodies_and_meshes_go_together():
  with pytest.raises(errors.GridError, match="2 bodies and 1 meshes"):
    pl.kernel([double_row, double_row], S((3,), F32), mesh=[cores()])
  with pytest.raises(errors.GridError, match="expected a mesh of cores"):
    pl.kernel(double_row, S((3,), F32), mesh=3)(arange(3))


@pytest.mark.devices(4)
@pytest.mark.parametrize("check_vma", [True, False])
def test_core_map_inside_shard_map(check_vma):
  def per_device(x):
    ref = jax.new_ref(x)

    @pl.core_map(cores(1))
    def _():
      ref[...] = ref[...] * 2

    return jax.ref.freeze(ref)

  mesh, spec = Mesh(np.array(jax.devices()[:4]), ("d",)), PartitionSpec("d")
  f = jax.shard_map(per_device, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma)
  same(jax.jit(f)(arange(4)), 2 * arange(4))


def test_a_kernel_that_updates_refs_says_that_it_has_no_derivative():
  def f(x):
    ref = jax.new_ref(x)
    pl.kernel(lambda ref: ref.__setitem__(..., ref[...] + 1), mesh=cores(1), name="update")(ref)
    return ref[...]

  with pytest.raises(
    errors.UnsupportedFeatureError, match=r"of the kernel 'update', which updates refs in place.*out_type"
  ):
    jax.grad(lambda x: f(x).sum())(arange(3))
