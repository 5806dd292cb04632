"""What a kernel does besides computing its outputs: it is tracked, kept, and refused where it would be repeated or lost."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from language import F32, S, arange, pointwise, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import dma, effects
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import _jax
from tilewright.tile.memory import SemaphoreType, TpuMemorySpace

VMEM = TpuMemorySpace.VMEM


@dataclasses.dataclass(frozen=True)
class Params:
  has_side_effects: bool = False


def text(f, *args):
  """What XLA is asked to compile."""
  return jax.jit(f).lower(*args).as_text()


def kernel_of(f, *args):
  """The parameters of the one kernel call in `f`."""
  (eqn,) = [e for e in jax.make_jaxpr(f)(*args).eqns if e.primitive.name == "pallas_call"]
  return eqn.params


def body_effects(kernel, **options):
  jaxpr = kernel_of(lambda x: run(kernel, x, **options), arange(4))["jaxpr"]
  return {e for e in jaxpr.effects if isinstance(e, effects.KernelEffect)}


# --- tracking ----------------------------------------------------------------------------------------------------


def test_each_kind_of_effect_is_tracked():
  def after(effect):
    def kernel(x_ref, o_ref, *scratch):
      o_ref[...] = x_ref[...]
      effect(*scratch)

    return kernel

  regular, byte_counter = SemaphoreType.REGULAR, SemaphoreType.DMA
  assert body_effects(after(lambda: None)) == set()
  assert body_effects(after(lambda: pl.delay(3))) == {effects.delay_effect}
  assert body_effects(after(lambda: pl.debug_print("x"))) == {effects.debug_effect}
  assert body_effects(after(lambda s: pl.semaphore_signal(s)), scratch_shapes=[regular]) == {effects.semaphore_effect}
  assert body_effects(
    after(lambda a, b, s: dma.async_copy(a, b, s)), scratch_shapes=[VMEM((1,), F32)] * 2 + [byte_counter]
  ) == {effects.semaphore_effect}
  assert body_effects(after(lambda: pl.get_global(VMEM((1,), F32)))) == {effects.global_effect}
  remote = after(lambda s: pl.semaphore_signal(s, device_id=0, device_id_type=pl.DeviceIdType.LOGICAL))
  assert body_effects(remote, scratch_shapes=[regular]) == {effects.semaphore_effect, effects.comms_effect}


def test_effects_inside_control_flow_are_tracked():
  def kernel(x_ref, o_ref, sem):
    o_ref[...] = x_ref[...]

    @pl.loop(0, 3)
    def _(i):
      @pl.when(i > 0)
      def _():
        pl.semaphore_signal(sem, 1)

  assert body_effects(kernel, scratch_shapes=[SemaphoreType.REGULAR]) == {effects.semaphore_effect}


def test_only_what_is_seen_outside_is_an_effect_of_the_call():
  def call_effects(effect, **options):
    def kernel(x_ref, o_ref, *scratch):
      effect(*scratch)
      o_ref[...] = x_ref[...]

    return jax.make_jaxpr(lambda x: run(kernel, x, **options))(arange(4)).effects

  assert call_effects(lambda s: pl.semaphore_signal(s), scratch_shapes=[SemaphoreType.REGULAR]) == set()
  assert call_effects(lambda: pl.debug_print("x")) == {effects.debug_effect}
  assert call_effects(lambda: None, compiler_params=Params(has_side_effects=True)) == {effects.side_effect}


# --- what is removed ---------------------------------------------------------------------------------------------


def test_a_kernel_whose_outputs_nobody_uses_is_removed():
  assert "sine" not in text(lambda x: (run(pointwise(jnp.sin), x), x)[1], arange(4))


@pytest.mark.target("portable")
@pytest.mark.parametrize("loop", [False, True])
def test_an_output_that_nobody_uses_is_not_computed(loop):
  def kernel(x_ref, a_ref, b_ref):
    a_ref[...] = jnp.cos(x_ref[...])
    if loop:

      def body(i, _):
        pl.when(i > 1)(lambda: b_ref.__setitem__(i, jnp.sin(x_ref[i])))

      lax.fori_loop(0, 4, body, None)
    else:
      b_ref[...] = jnp.sin(x_ref[...])

  def both(x):
    return run(kernel, x, out=[S((4,), F32)] * 2)

  lowered = text(lambda x: both(x)[0], arange(4))
  assert "cosine" in lowered
  assert "stablehlo.sine" not in lowered
  assert "while" not in lowered
  np.testing.assert_allclose(jax.jit(lambda x: both(x)[0])(arange(4)), np.cos(np.arange(4.0)), rtol=1e-6)
  assert "stablehlo.sine" in text(lambda x: both(x)[1], arange(4))


def test_an_output_that_the_kernel_reads_again_is_kept():
  def kernel(x_ref, a_ref, b_ref):
    b_ref[...] = jnp.sin(x_ref[...])
    a_ref[...] = b_ref[...] * 2

  f = jax.jit(lambda x: run(kernel, x, out=[S((4,), F32)] * 2)[0])
  np.testing.assert_allclose(f(arange(4)), 2 * np.sin(np.arange(4.0)), rtol=1e-6)


def test_computation_inside_a_kernel_that_nothing_uses_is_removed():
  def kernel(x_ref, o_ref, scratch):
    jnp.sin(x_ref[...])
    scratch[...] = jnp.tanh(x_ref[...])  # and nobody reads scratch
    lax.fori_loop(0, 3, lambda i, c: c + jnp.exp(c), x_ref[...])
    o_ref[...] = x_ref[...]

  jaxpr = str(kernel_of(lambda x: run(kernel, x, scratch_shapes=[VMEM((4,), F32)]), arange(4))["jaxpr"])
  assert not [name for name in ("sin", "tanh", "exp", "while", "scan") if f" {name} " in jaxpr]


def test_dead_calls_inside_loops_and_branches_of_the_program_are_removed():
  def f(x):
    def body(c, _):
      run(pointwise(jnp.sin), c)
      return c + 1, None

    return lax.scan(body, x, None, length=3)[0]

  assert "sine" not in text(f, arange(4))


# --- what is kept ------------------------------------------------------------------------------------------------


def test_a_kernel_with_side_effects_stays():
  def f(x, kept):
    run(pointwise(jnp.sin), x, compiler_params=Params(has_side_effects=kept))
    return x

  def calls_left(kept):
    closed = jax.make_jaxpr(lambda x: f(x, kept))(arange(4))
    return len(_jax.pe.dce_jaxpr(closed.jaxpr, [True])[0].eqns)

  assert calls_left(True) == 1
  assert calls_left(False) == 0


@pytest.mark.target("native")
@pytest.mark.parametrize(
  "declared, unused, equal",
  [
    (False, 0, 1),
    (pltpu.SideEffectType.PURE, 0, 1),
    (pltpu.SideEffectType.DATAFLOW_SIDE_EFFECTING, 0, 2),
    (pltpu.SideEffectType.SIDE_EFFECTING, 1, 2),
  ],
)
def test_side_effects_that_follow_the_dataflow_go_with_the_outputs_and_are_not_merged(declared, unused, equal):
  call = lambda x: run(pointwise(jnp.sin), x, compiler_params=pltpu.CompilerParams(has_side_effects=declared))

  def calls(f):
    return jax.jit(f).lower(arange(4)).compile().as_text().count("custom-call(")

  assert calls(lambda x: (call(x), x + 1)[1]) == unused
  assert calls(lambda x: call(x) + call(x)) == equal


@pytest.mark.target("portable")
@pytest.mark.parametrize("declared", ["invalid", 1, None, "pure"])
def test_an_unknown_kind_of_side_effects_is_refused(declared):
  params = pltpu.CompilerParams(has_side_effects=declared)
  with pytest.raises(ValueError, match=r"Invalid side effect type: .* has_side_effects must be True, False or"):
    run(pointwise(jnp.sin), arange(4), compiler_params=params)


def test_a_debug_print_happens_though_nobody_uses_the_outputs(capfd):
  def kernel(x_ref, o_ref):
    pl.debug_print("saw {} at {}", x_ref[1], pl.program_id(0))
    pl.debug_print("values", x_ref[...])
    o_ref[...] = x_ref[...]

  def f(x):
    run(kernel, x, grid=2)
    return x

  jax.jit(f)(arange(2))
  jax.effects_barrier()
  printed = capfd.readouterr().out
  assert "saw 1.0 at 0" in printed
  assert "saw 1.0 at 1" in printed
  assert printed.count("values [0. 1.]") == 2


@pytest.mark.target("portable")
def test_a_kernel_that_talks_to_other_devices_stays():
  def kernel(x_ref, o_ref, sem):
    pl.semaphore_signal(sem, 1, device_id=(1 - lax.axis_index("d"),))
    pl.semaphore_wait(sem, 1)
    o_ref[...] = x_ref[...]

  mesh = Mesh(np.array(jax.devices()[:2]), ("d",))

  def per_device(x):
    run(kernel, x, scratch_shapes=[SemaphoreType.REGULAR])
    return x

  f = jax.shard_map(per_device, mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"))
  with _jax.config.enable_checks(True):  # values vary along an axis outside of the kernel, inside they are not said to
    jax.make_jaxpr(f)(arange(4))
  assert "all_gather" in text(f, arange(4))
  same(jax.jit(f)(arange(4)), arange(4))


def test_debug_checks_fail_at_run_time_only_where_they_are_enabled():
  def kernel(x_ref, o_ref):
    pl.debug_check(x_ref[0] > 0, "must be positive")
    o_ref[...] = x_ref[...]

  same(run(kernel, arange(3)), arange(3))
  with pl.enable_debug_checks(True):
    same(run(kernel, arange(3) + 1), arange(3) + 1)
    jax.effects_barrier()
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"must be positive \(at .*test_effects.py:\d+"):
      jax.block_until_ready(run(kernel, arange(3)))
      jax.effects_barrier()


def test_a_debug_check_of_several_elements_names_the_first_that_fails():
  def kernel(x_ref, o_ref):
    pl.debug_check(x_ref[...] < 4, "too large")
    o_ref[...] = x_ref[...]

  with pl.enable_debug_checks(True), pytest.raises(jax.errors.JaxRuntimeError, match=r"first element is \[1, 1\]"):
    jax.block_until_ready(run(kernel, arange(3, 3)))
    jax.effects_barrier()


# --- transformations that would repeat or lose an effect ---------------------------------------------------------


def with_jvp(f):
  g = jax.custom_jvp(f)
  g.defjvp(lambda p, t: (f(*p), 3 * t[0]))
  return g


def with_vjp(f):
  g = jax.custom_vjp(f)
  g.defvjp(lambda x: (f(x), None), lambda _, ct: (3 * ct,))
  return g


WRAPPERS = {"custom_jvp": with_jvp, "custom_vjp": with_vjp, "remat": jax.checkpoint}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("effect", ["delay", "debug"])
def test_harmless_effects_may_stand_in_remat_and_custom_derivatives(wrapper, effect):
  def kernel(x_ref, o_ref):
    def f(x):
      pl.delay(1) if effect == "delay" else pl.debug_print("here")
      return 2 * x

    o_ref[...] = WRAPPERS[wrapper](f)(x_ref[...])

  same(run(kernel, arange(3)), 2 * arange(3))


@pytest.mark.parametrize("wrapper", ["custom_jvp", "custom_vjp"])
def test_semaphores_and_copies_may_stand_in_custom_derivatives(wrapper):
  def kernel(x_ref, o_ref, sem, dma_sem):
    def f(x):
      pl.semaphore_signal(sem, 2)
      copy = pltpu.make_async_copy(x_ref, o_ref, dma_sem)
      copy.start()
      copy.wait()
      pl.semaphore_wait(sem, 2)
      return 2 * x

    doubled = WRAPPERS[wrapper](f)(x_ref[...])
    o_ref[...] = o_ref[...] + doubled

  semaphores = [pltpu.SemaphoreType.REGULAR, pltpu.SemaphoreType.DMA]
  same(run(kernel, arange(3), scratch_shapes=semaphores), 3 * arange(3))


@pytest.mark.parametrize("wrap", [with_jvp, with_vjp])
def test_a_custom_derivative_that_depends_on_the_grid_is_refused_in_reverse(wrap):
  def kernel(x_ref, o_ref):
    o_ref[...] = wrap(lambda x: x * (1 + pl.program_id(0)))(x_ref[...])

  f = lambda x: run(kernel, x, grid=1)
  same(f(arange(3)), arange(3))
  with pytest.raises(errors.EffectError, match=r"test_effects.py:\d+.*Pass what it reads as its arguments"):
    jax.grad(lambda x: f(x).sum())(arange(3))


def test_a_kernel_inside_remat_runs_again_for_the_derivative():
  f = jax.checkpoint(lambda x: jnp.sin(run(pointwise(jnp.sin), x)))
  expected = jax.grad(lambda x: jnp.sin(jnp.sin(x)).sum())(arange(4))
  np.testing.assert_allclose(jax.grad(lambda x: f(x).sum())(arange(4)), expected, rtol=1e-6)


def test_a_call_that_communicates_may_be_run_again():
  assert _jax.effects.remat_allowed_effects.contains(effects.comms_effect)
  assert not _jax.effects.remat_allowed_effects.contains(effects.side_effect)


def test_remat_refuses_a_kernel_with_side_effects():
  f = jax.checkpoint(lambda x: run(pointwise(jnp.sin), x, compiler_params=Params(has_side_effects=True)))
  with pytest.raises(NotImplementedError, match="Effects not supported"):
    jax.grad(lambda x: f(x).sum())(arange(4))


def test_side_effects_are_allowed_in_loops_and_branches():
  params = Params(has_side_effects=True)

  def f(x):
    x = lax.fori_loop(0, 2, lambda i, x: run(pointwise(lambda x: x + 1), x, compiler_params=params), x)
    return lax.cond(x[0] > 0, lambda: run(pointwise(lambda x: -x), x, compiler_params=params), lambda: x)

  same(jax.jit(f)(arange(3)), -(arange(3) + 2))


# --- refs stay in their scope ------------------------------------------------------------------------------------


def test_run_scoped_does_not_let_its_refs_out():
  def kernel(x_ref, o_ref):
    pl.run_scoped(lambda scratch: scratch, VMEM((4,), F32))

  with pytest.raises(ValueError, match="references cannot be returned"):
    run(kernel, arange(4))


def test_a_scoped_ref_kept_by_python_cannot_be_used_after_its_scope():
  kept = []

  def kernel(x_ref, o_ref):
    pl.run_scoped(kept.append, VMEM((4,), F32))
    o_ref[...] = kept[0][...]

  with pytest.raises(errors.CapturedConstantError, match=r"test_effects.py:\d+ captures a ref"):
    run(kernel, arange(4))


def test_a_ref_of_a_kernel_kept_by_python_cannot_be_used_after_it():
  kept = []

  def kernel(x_ref, o_ref):
    kept.append(x_ref)
    o_ref[...] = x_ref[...]

  run(kernel, arange(4))
  with pytest.raises(jax.errors.UnexpectedTracerError):
    kept[0][...]


@pytest.mark.parametrize(
  "leak",
  [
    lambda x_ref: jax.jit(lambda: x_ref)(),
    lambda x_ref: lax.cond(x_ref[0] > 0, lambda: x_ref, lambda: x_ref),
    lambda x_ref: lax.fori_loop(0, 2, lambda i, ref: ref, x_ref),
  ],
  ids=["jit", "cond", "fori_loop"],
)
def test_control_flow_does_not_return_refs(leak):
  def kernel(x_ref, o_ref):
    leak(x_ref)

  with pytest.raises(ValueError, match="references cannot be returned"):
    run(kernel, arange(4))


def test_a_ref_cannot_be_stored_in_a_ref():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref

  with pytest.raises(ValueError, match="Cannot store a Ref into another Ref"):
    run(kernel, arange(4))
