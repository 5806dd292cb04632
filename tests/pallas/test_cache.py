"""A kernel is traced once for what it means: a rebuilt function with the same meaning is the same kernel, any change is another."""

from __future__ import annotations

import collections
import concurrent.futures
import contextvars
import dataclasses
import enum
import functools
import itertools
import os
import sys
import types
from typing import ClassVar
from unittest import mock

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


def is_traced_again(make, *args):
  """Whether the second of two functions built one after the other is traced too."""
  kernel_of(make(), *args)
  with mock.patch.object(trace_module, "_trace", wraps=trace_module._trace) as traced:
    kernel_of(make(), *args)
  return traced.called


def is_reused(make, *args):
  return not is_traced_again(make, *args)


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
      number = ord(value) if isinstance(value, str) else value
      o_ref[...] = jnp.full_like(x_ref[...], number) + (7 if isinstance(number, bool) else 0)
      if isinstance(number, int):
        o_ref[0] = 1.0

    return functools.partial(run, kernel)

  assert is_reused(lambda: call(one), arange(3))
  assert kernel_of(call(one), arange(3)) is not kernel_of(call(other), arange(3))


# --- ways to change what a kernel depends on -----------------------------------------------------------------------------------------
# Each gives a function of a value, which a kernel multiplies by, and what sets it from 2 to 5.

WAYS = {}


def way(f):
  WAYS[f.__name__] = f
  return f


def setter(target, name="scale"):
  return lambda value: setattr(target, name, value)


def set_global(value):
  globals()["SCALE"] = value


def scale_of_globals():
  return SCALE


def times_scale(x):
  return x * SCALE


class Holder:
  """Every kind of attribute that does not belong to an instance's own values."""

  scale = 2.0

  @property
  def over_global(self):
    return SCALE

  @classmethod
  def of_class(cls):
    return cls.scale

  @staticmethod
  def static():
    return Holder.scale

  def method(self, x):
    return x * self.scale


@dataclasses.dataclass(frozen=True)
class Settings:
  width: int = 3
  plain: ClassVar[float] = 2.0
  other = 2.0  # no field

  @property
  def scale(self):
    return SCALE

  @functools.cached_property
  def cached(self):
    return SCALE


class Mode(enum.Enum):
  FAST = "fast"

  @property
  def scale(self):
    return SCALE


@way
def a_global():
  return lambda x: x * SCALE, set_global


@way
def a_helper_over_a_global():
  return times_scale, set_global


@way
def a_helper_behind_a_wrapper():
  @functools.wraps(times_scale)
  def wrapper(*args):
    return times_scale(*args)

  return wrapper, set_global


@way
def a_global_inside_a_partial():
  return functools.partial(lambda f, x: x * f(), scale_of_globals), set_global


@way
def a_redefined_helper():
  return lambda x: x * scale_of_globals(), lambda value: globals().update(scale_of_globals=lambda: value)


@way
def a_module():
  return lambda x: x * settings.scale, setter(settings)


@way
def a_module_in_a_partial():
  return functools.partial(lambda m, x: x * m.scale, settings), setter(settings)


@way
def a_module_in_a_default():
  def f(x, m=settings):
    return x * m.scale

  return f, setter(settings)


@way
def a_module_by_getattr():
  return lambda x: x * getattr(settings, "sca" + "le"), setter(settings)


@way
def a_module_passed_on():
  read = lambda m: m.scale
  return lambda x: x * read(settings), setter(settings)


@way
def an_import_in_the_body():
  def f(x):
    import settings_of_this_test

    return x * settings_of_this_test.scale

  return f, setter(settings)


@way
def a_class():
  return lambda x: x * Holder.scale, setter(Holder)


@way
def a_class_in_a_partial():
  return functools.partial(lambda c, x: x * c.scale, Holder), setter(Holder)


@way
def a_class_method():
  return lambda x: x * Holder.of_class(), setter(Holder)


@way
def a_static_method():
  return functools.partial(lambda f, x: x * f(), Holder.static), setter(Holder)


@way
def a_bound_method():
  return Holder().method, setter(Holder)


@way
def an_attribute_of_an_instance():
  holder = Holder()
  return lambda x: x * holder.scale, setter(holder)


@way
def a_property_over_a_global():
  holder = Holder()
  return lambda x: x * holder.over_global, set_global


@way
def a_property_of_a_dataclass():
  chosen = Settings()
  return lambda x: x * chosen.scale, set_global


@way
def a_cached_property_that_is_reset():
  chosen = Settings()

  def change(value):
    set_global(value)
    vars(chosen).pop("cached", None)

  return lambda x: x * chosen.cached, change


@way
def a_class_variable_of_a_dataclass():
  chosen = Settings()
  return lambda x: x * chosen.plain, setter(Settings, "plain")


@way
def a_dataclass_attribute_that_is_no_field():
  chosen = Settings()
  return lambda x: x * chosen.other, setter(Settings, "other")


@way
def a_dataclass_in_a_partial():
  return functools.partial(lambda c, x: x * c.other, Settings()), setter(Settings, "other")


@way
def an_attribute_added_to_a_frozen_dataclass():
  chosen = Settings()
  return lambda x: x * chosen.extra, lambda value: object.__setattr__(chosen, "extra", value)


@way
def an_enum_with_a_property():
  mode = Mode.FAST
  return lambda x: x * mode.scale, set_global


@way
def a_named_tuple_with_a_property():
  class Pair(collections.namedtuple("Pair", "a")):
    scale = 2.0

  pair = Pair(1)
  return lambda x: x * pair.scale, setter(Pair)


@way
def an_object_with_getattr():
  values = {"scale": 2.0}

  class Lazy:
    def __getattr__(self, name):
      return values[name]

  lazy = Lazy()
  return lambda x: x * lazy.scale, lambda value: values.update(scale=value)


@way
def a_descriptor():
  class Reads:
    def __get__(self, owner, kind):
      return SCALE

  class Owner:
    scale = Reads()

  owner = Owner()
  return lambda x: x * owner.scale, set_global


@way
def a_number_with_attributes():
  class Size(int):
    scale = 2.0

  size = Size(1)
  return lambda x: x * size.scale, setter(Size)


@way
def a_default():
  def f(x, scale=2.0):
    return x * scale

  return f, lambda value: setattr(f, "__defaults__", (value,))


@way
def a_keyword_default():
  def f(x, *, scale=2.0):
    return x * scale

  return f, lambda value: f.__kwdefaults__.update(scale=value)


@way
def a_mutable_default():
  def f(x, table={}):  # noqa: B006
    return x * table["scale"]

  return f, lambda value: f.__defaults__[0].update(scale=value)


@way
def an_attribute_of_a_function():
  def f(x):
    return x * f.scale

  return f, setter(f)


@way
def a_dict_in_a_closure():
  table = {}
  return lambda x: x * table["scale"], lambda value: table.update(scale=value)


@way
def a_nested_list_in_a_closure():
  table = {"of": [[2.0]]}
  return lambda x: x * table["of"][0][0], lambda value: table["of"][0].__setitem__(0, value)


@way
def a_dict_of_a_subclass():
  class Table(dict):
    def __missing__(self, key):
      return SCALE

  table = Table()
  return lambda x: x * table["scale"], set_global


@way
def an_array_changed_in_place():
  array = np.full((), 2.0, np.float32)
  return lambda x: x * float(array), lambda value: array.fill(value)


@way
def a_rebound_variable():
  scale = 2.0

  def change(value):
    nonlocal scale
    scale = value

  return lambda x: x * scale, change


@way
def a_generator():
  box = [2.0]
  forever = (box[0] for _ in itertools.count())
  return lambda x: x * next(forever), lambda value: box.__setitem__(0, value)


@way
def a_context_variable():
  return lambda x: x * CONTEXT.get(), CONTEXT.set


@way
def the_generator_of_numpy():
  values = {np.random.RandomState(seed).randint(100): v for seed, v in ((2, 2.0), (5, 5.0))}
  return lambda x: x * values[np.random.randint(100)], lambda value: np.random.seed(int(value))


@way
def the_environment():
  return lambda x: x * float(os.environ["SCALE_OF_TEST"]), lambda v: os.environ.update(SCALE_OF_TEST=str(v))


@way
def the_configuration_of_jax():
  change = lambda value: jax.config.update("jax_debug_log_modules", "" if value == 2.0 else "none")
  return lambda x: x * (5.0 if jax.config.jax_debug_log_modules else 2.0), change


@way
def a_jitted_helper_with_another_dictionary():
  table = {}
  return lambda x: jax.jit(lambda x: x * table["scale"])(x), lambda value: table.update(scale=value)


@way
def eval_of_a_name():
  return lambda x: x * eval("SCALE"), set_global


CONTEXT = contextvars.ContextVar("scale", default=2.0)


@pytest.mark.parametrize("name", WAYS)
def test_what_a_kernel_depends_on_is_never_remembered(name, monkeypatch, request):
  monkeypatch.setitem(globals(), "SCALE", 2.0)
  monkeypatch.setitem(globals(), "scale_of_globals", scale_of_globals)
  monkeypatch.setitem(sys.modules, "settings_of_this_test", settings)
  monkeypatch.setenv("SCALE_OF_TEST", "2.0")
  request.addfinalizer(lambda: jax.config.update("jax_debug_log_modules", ""))
  f, change = WAYS[name]()
  body = pointwise(f)
  for value in (2.0, 5.0, 2.0):
    change(value)
    assert f"{value}:f32[]" in str(kernel_of(lambda x: run(body, x), arange(3)))


def test_a_kernel_that_is_traced_again_is_not_compiled_again():
  holder = Holder()
  f = lambda x: run(pointwise(lambda x: x * holder.scale), x, interpret=True)
  assert is_traced_again(lambda: lambda x: f(x), arange(3))
  assert kernel_of(lambda x: f(x), arange(3)) is kernel_of(lambda x: f(x), arange(3))
  holder.scale = 5.0
  same(f(arange(3)), 5 * arange(3))


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
  cache = trace_module._Recent(2)
  for i in range(5):
    cache.put(i, i)
  assert [cache.get(i) for i in range(5)] == [None, None, None, 3, 4]
