"""A kernel is traced once for what it means: a rebuilt function with the same meaning is the same kernel, any change is another."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language import F32, S, arange, pointwise, run, same

from tilewright import pallas as pl
from tilewright.pallas import trace as trace_module

SCALE = 2.0
settings = types.ModuleType("settings")


def kernel_of(f, *args):
  (eqn,) = [e for e in jax.make_jaxpr(f)(*args).eqns if e.primitive.name == "pallas_call"]
  return eqn.params["jaxpr"]


def is_reused(make, *args):
  """Whether two calls of functions built one after the other share one trace."""
  return kernel_of(make(), *args) is kernel_of(make(), *args)


def blocked(scale, block=2):
  """Builds everything anew: the body, the index maps, the specs."""

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * scale

  spec = pl.BlockSpec((block,), lambda i: i)
  return pl.pallas_call(kernel, S((4,), F32), grid=4 // block, in_specs=[spec], out_specs=spec)


def test_a_rebuilt_kernel_is_not_traced_again():
  assert is_reused(lambda: blocked(2.0), arange(4))
  assert is_reused(lambda: functools.partial(run, pointwise(jnp.sin)), arange(4))
  assert is_reused(lambda: lambda x: run(pointwise(functools.partial(jnp.multiply, 3.0)), x), arange(4))


@pytest.mark.parametrize(
  "one, other",
  [(2.0, 3.0), (2.0, 2), (1, True), (0.0, -0.0), (np.float32(0.0), np.float32(-0.0)), ("a", "b")],
  ids=str,
)
def test_a_changed_closure_is_another_kernel(one, other):
  def call(value):
    def kernel(x_ref, o_ref):
      o_ref[...] = jnp.full_like(
        x_ref[...], float(np.copysign(1, ord(value) - 98 if isinstance(value, str) else value))
      )
      if isinstance(value, bool):
        o_ref[0] = 7.0

    return functools.partial(run, kernel)

  assert kernel_of(call(one), arange(3)) is not kernel_of(call(other), arange(3))


def test_a_changed_global_is_another_kernel(monkeypatch):
  def f(x):
    return run(pointwise(lambda x: x * SCALE), x)

  same(f(arange(3)), 2 * arange(3))
  monkeypatch.setitem(globals(), "SCALE", 5.0)
  same(f(arange(3)), 5 * arange(3))


def test_a_changed_attribute_of_a_module_is_another_kernel():
  def f(x):
    return run(pointwise(lambda x: x * settings.scale), x)

  settings.scale = 2.0
  same(f(arange(3)), 2 * arange(3))
  settings.scale = 5.0
  same(f(arange(3)), 5 * arange(3))


def test_a_changed_attribute_of_a_class_is_another_kernel():
  class Config:
    scale = 2.0

  def f(x):
    return run(pointwise(lambda x: x * Config.scale), x)

  same(f(arange(3)), 2 * arange(3))
  Config.scale = 5.0
  same(f(arange(3)), 5 * arange(3))


def test_a_changed_object_is_another_kernel():
  class Scaled:
    """A kernel that is an object, whose meaning changes with it."""

    scale = 2.0

    def __call__(self, x_ref, o_ref):
      o_ref[...] = x_ref[...] * self.scale

    def method(self, x_ref, o_ref):
      self(x_ref, o_ref)

  body = Scaled()
  for kernel in (body, body.method):
    body.scale = 2.0
    same(run(kernel, arange(3)), 2 * arange(3))
    body.scale = 5.0
    same(run(kernel, arange(3)), 5 * arange(3))


def test_a_changed_container_is_another_kernel():
  table = {"scale": 2.0, "shifts": [0.0]}
  f = lambda x: run(pointwise(lambda x: x * table["scale"] + table["shifts"][-1]), x)
  same(f(arange(3)), 2 * arange(3))
  table["scale"] = 5.0
  same(f(arange(3)), 5 * arange(3))
  table["shifts"].append(1.0)
  same(f(arange(3)), 5 * arange(3) + 1)


def test_a_changed_default_is_another_kernel():
  def kernel(x_ref, o_ref, scale=2.0):
    o_ref[...] = x_ref[...] * scale

  same(run(kernel, arange(3)), 2 * arange(3))
  kernel.__defaults__ = (5.0,)
  same(run(kernel, arange(3)), 5 * arange(3))


def test_an_array_that_is_closed_over_is_never_remembered():
  for value in (2.0, 5.0):
    scale = jnp.float32(value)
    same(run(pointwise(lambda x: x * scale), arange(3)), np.float32(value) * arange(3))


def test_values_of_a_dataclass_are_compared():
  @dataclasses.dataclass(frozen=True)
  class Config:
    scale: float

  def make(scale):
    config = Config(scale)
    return functools.partial(run, pointwise(lambda x: x * config.scale))

  assert is_reused(lambda: make(2.0), arange(3))
  same(make(2.0)(arange(3)), 2 * arange(3))
  same(make(5.0)(arange(3)), 5 * arange(3))


def test_shapes_dtypes_specs_and_options_are_part_of_the_key():
  f = functools.partial(run, pointwise(lambda x: x + 1))
  kernels = {
    id(kernel_of(f, arange(3))): "plain",
    id(kernel_of(f, arange(4))): "shape",
    id(kernel_of(f, arange(3, dtype=jnp.int32))): "dtype",
    id(kernel_of(lambda x: f(x, grid=2), arange(3))): "grid",
    id(kernel_of(lambda x: f(x, name="other"), arange(3))): "name",
  }
  assert sorted(kernels.values()) == ["dtype", "grid", "name", "plain", "shape"]
  with jax.enable_x64(True):
    assert id(kernel_of(f, arange(3))) not in kernels


def test_a_helper_used_in_many_places_is_looked_into_once():
  f = lambda x: x + 1.0
  for _ in range(40):  # 2**40 paths lead to the innermost function

    def f(x, a=f, b=f):
      return a(x) if x is None else b(x)

  assert is_reused(lambda: functools.partial(run, pointwise(f)), arange(3))
  same(run(pointwise(f), arange(3)), arange(3) + 1)


def test_many_threads_may_trace_at_once():
  def work(i):
    scale = float(i % 3)
    return np.asarray(run(pointwise(lambda x: x * scale), arange(4)))

  with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for i, out in enumerate(pool.map(work, range(12))):
      same(out, arange(4) * (i % 3))


def test_the_cache_is_bounded():
  cache = trace_module._TraceCache(2)
  for i in range(5):
    cache.put(i, i)
  assert [cache.get(i) for i in range(5)] == [None, None, None, 3, 4]
