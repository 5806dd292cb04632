"""`replace_pallas`: imports of `jax.experimental.pallas` find our modules, and JAX's again afterwards."""

from __future__ import annotations

import importlib
import sys
import textwrap
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tilewright import errors
from tilewright import pallas as pl

PALLAS = "jax.experimental.pallas"


@pytest.fixture(autouse=True)
def _quiet():
  with warnings.catch_warnings():
    warnings.simplefilter("ignore", errors.ReplacementWarning)  # other tests of this process import JAX's own
    yield


def load(name, source, path, monkeypatch):
  path.joinpath(f"{name}.py").write_text(textwrap.dedent(source))
  monkeypatch.syspath_prepend(str(path))
  monkeypatch.delitem(sys.modules, name, raising=False)
  return importlib.import_module(name)


def test_every_way_to_import_finds_ours():
  names = {}
  program = """
import jax.experimental.pallas as a
from jax.experimental import pallas as b
from jax.experimental.pallas import BlockSpec, tpu
import jax.experimental.pallas.tpu as pltpu
from jax.experimental.pallas.triton import load
import jax.experimental.pallas.mosaic_gpu
import jax
c = jax.experimental.pallas
from jax.experimental.pallas import fuser
"""
  with tilewright.replace_pallas():
    exec(program, names)
  assert names["a"] is names["b"] is names["c"]
  assert names["BlockSpec"] is names["a"].BlockSpec is pl.BlockSpec
  assert names["tpu"].VMEM is names["pltpu"].VMEM is pl.tpu.VMEM
  assert names["fuser"].fuse is importlib.import_module("tilewright.pallas.fuser").fuse
  assert "BlockSpec" in dir(names["a"])


def test_modules_are_what_they_were_afterwards():
  original = importlib.import_module(PALLAS)
  before = {name: m for name, m in sys.modules.items() if name.startswith(PALLAS)}
  with tilewright.replace_pallas() as outer:
    assert importlib.import_module(PALLAS) is not original
    with tilewright.replace_pallas():
      pass
    assert importlib.import_module(PALLAS) is not original
  outer.undo()  # a second time changes nothing
  assert importlib.import_module(PALLAS) is original
  assert jax.experimental.pallas is original
  assert {name: m for name, m in sys.modules.items() if name.startswith(PALLAS)} == before


def test_a_library_is_loaded_anew_for_each_side(tmp_path, monkeypatch):
  """A module that was bound to our names, and one that uses it, are forgotten; one that is bound to nothing of ours stays."""
  tmp_path.joinpath("lib_plain.py").write_text("x = 1")
  tmp_path.joinpath("lib_kernels.py").write_text("from jax.experimental.pallas import BlockSpec as Spec")
  source = "import lib_plain\nimport lib_kernels"
  with tilewright.replace_pallas():
    ours = load("lib_user", source, tmp_path, monkeypatch)
    assert ours.lib_kernels.Spec is pl.BlockSpec
  assert "lib_plain" in sys.modules and "lib_kernels" not in sys.modules and "lib_user" not in sys.modules
  assert importlib.import_module("lib_user").lib_kernels.Spec is not pl.BlockSpec
  for name in ("lib_user", "lib_kernels", "lib_plain"):
    del sys.modules[name]


def test_modules_that_are_bound_to_jax_already_are_named(tmp_path, monkeypatch):
  load("late_user", "from jax.experimental import pallas as pl", tmp_path, monkeypatch)
  with pytest.warns(errors.ReplacementWarning, match="late_user"), tilewright.replace_pallas():
    pass


@pytest.mark.parametrize(
  "statement",
  [
    "from jax.experimental.pallas import no_such_thing",
    "from jax.experimental.pallas.tpu import no_such_thing",
    "import jax.experimental.pallas.no_such_thing",
    "import jax.experimental.pallas.tpu as m; m.no_such_thing",
  ],
)
def test_what_is_missing_is_an_error_that_names_it(statement):
  with tilewright.replace_pallas(), pytest.raises((ImportError, AttributeError), match=r"no_such_thing.*Tilewright"):
    exec(statement, {})


def test_generators_of_random_numbers_are_registered_by_both_sides():
  name = f"{PALLAS}.ops.tpu.random.philox"
  importlib.import_module(name)
  key = jax.random.key(3, impl="pallas_philox4x32")
  for _ in range(2):
    with tilewright.replace_pallas():
      assert importlib.import_module(name).pl.BlockSpec is pl.BlockSpec
  assert importlib.import_module(name).pl.BlockSpec is not pl.BlockSpec
  assert jax.random.key(3, impl="pallas_philox4x32").dtype == key.dtype


def test_a_program_runs_and_gives_the_same(tmp_path, monkeypatch):
  source = """
    import functools, jax, jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def kernel(n_ref, x_ref, o_ref, acc_ref):
      acc_ref[...] = x_ref[...] * n_ref[pl.program_id(0)]
      o_ref[...] = acc_ref[...] + 1

    def f(n, x, **kwargs):
      spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(4,), in_specs=[pl.BlockSpec((2, 8), lambda i, n: (i, 0))],
        out_specs=pl.BlockSpec((2, 8), lambda i, n: (i, 0)), scratch_shapes=[pltpu.VMEM((2, 8), jnp.float32)])
      return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), grid_spec=spec, **kwargs)(n, x)
  """
  n, x = jnp.arange(4), jnp.arange(64, dtype=jnp.float32).reshape(8, 8)
  with tilewright.replace_pallas():
    found = load("public_program", source, tmp_path, monkeypatch).f(n, x)
  expected = load("public_program", source, tmp_path, monkeypatch).f(n, x, interpret=True)
  np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
  ("imports", "zero"),
  [
    ("from jax.experimental import pallas as pl", "pl.program_id(0)"),
    ("import jax.experimental.pallas", "jax.experimental.pallas.program_id(0)"),
    ("import jax.experimental.pallas.tpu as pltpu", "(pltpu.VMEM is None)"),
    ("import jax.experimental.pallas.tpu", "(jax.experimental.pallas.tpu.VMEM is None)"),
  ],
)
@pytest.mark.parametrize("after", [False, True], ids=["inside", "after"])
def test_a_kernel_reads_names_of_the_modules_by_any_path(imports, zero, after, tmp_path, monkeypatch):
  source = f"""
    import jax
    from tilewright import pallas
    {imports}
    scale = 2

    def kernel(x_ref, o_ref):
      o_ref[...] = x_ref[...] * scale + {zero}

    def f(x):
      return pallas.pallas_call(lambda *refs: kernel(*refs), jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,))(x)
  """
  x = jnp.arange(8, dtype=jnp.int32)
  with tilewright.replace_pallas() as replacement:
    program = load("reads_names", source, tmp_path, monkeypatch)
    if after and "jax." not in zero:  # a name bound to our module works on; `jax.experimental.pallas` is JAX's again
      replacement.undo()
    np.testing.assert_array_equal(program.f(x), x * 2)
    program.scale = 3
    np.testing.assert_array_equal(program.f(x), x * 3)
