"""Names, tables and parameters of `pltpu`, and the small things that cores and devices do together."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import deprecated
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
ANY = pl.BlockSpec(memory_space=pl.ANY)


def test_every_public_name_of_jax_is_here() -> None:
  peer = importlib.import_module("jax.experimental.pallas.tpu")
  missing = [n for n in dir(peer) if not n.startswith("_") and not hasattr(pltpu, n)]
  assert not missing


@pytest.mark.parametrize(
  "name", ["TPUCompilerParams", "TPUMemorySpace", "ANY", "HOST", "DeviceIdType", "semaphore_signal", "delay", "repeat"]
)
def test_deprecated_names_work_and_warn_once(name: str) -> None:
  deprecated._warned.discard(("pltpu", name))
  with pytest.warns(errors.DeprecatedNameWarning, match=f"pltpu.{name} is deprecated, use"):
    first = getattr(pltpu, name)
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert getattr(pltpu, name) is first


@pytest.mark.parametrize("name", ["dot", "debug_checks_enabled"])
def test_deprecated_names_of_the_language_work_and_warn_once(name: str) -> None:
  deprecated._warned.discard(("pl", name))
  with pytest.warns(errors.DeprecatedNameWarning, match=f"pl.{name} is deprecated, use"):
    first = getattr(pl, name)
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert getattr(pl, name) is first


def test_names_that_jax_deprecated_later_warn_from_that_release_on() -> None:
  for name in ("core_map", "reciprocal"):
    deprecated._warned.discard(("pl", name))
    with warnings.catch_warnings(record=True) as seen:
      warnings.simplefilter("always")
      assert callable(getattr(pl, name))
    assert len(seen) == (jax.__version_info__ >= (0, 11))


def test_unknown_names_are_attribute_errors() -> None:
  with pytest.raises(AttributeError, match="no attribute 'nothing'"):
    _ = pltpu.nothing


def test_params_are_hashable_and_replaceable() -> None:
  params = pltpu.CompilerParams(dimension_semantics=["parallel", pltpu.ARBITRARY], flags={"a": 1})
  assert hash(params) == hash(pltpu.CompilerParams(dimension_semantics=("parallel", pltpu.ARBITRARY), flags={"a": 1}))
  assert params.replace(collective_id=3).collective_id == 3
  assert bool(pltpu.SideEffectType.SIDE_EFFECTING) and not pltpu.SideEffectType.PURE
  with pytest.raises(errors.GridError, match="dimension_semantics"):
    pltpu.CompilerParams(dimension_semantics=("sideways",))


def test_tables_agree_with_the_peer() -> None:
  peer = importlib.import_module("jax.experimental.pallas.tpu")
  fields = [f for f in pltpu.TpuInfo.__dataclass_fields__ if f not in ("chip_version", "sparse_core")]
  dtypes = [jnp.float32, jnp.bfloat16, jnp.int8, jnp.uint8, jnp.int4, jnp.float8_e4m3fn, jnp.float8_e5m2]
  for theirs in peer.ChipVersion:
    chip = pltpu.ChipVersion(theirs.value)
    for cores in (1, 2):
      if cores > 1 and not chip.supports_megacore:
        with pytest.raises(errors.DeviceKindError, match="must be 1"):
          pltpu.get_tpu_info_for_chip(chip, cores)
        continue
      mine, other = pltpu.get_tpu_info_for_chip(chip, cores), peer.get_tpu_info_for_chip(theirs, cores)
      assert {f: getattr(mine, f) for f in fields} == {f: getattr(other, f) for f in fields}
      assert str(mine.sparse_core) == str(other.sparse_core)
      for flag in ("is_lite", "is_megacore", "is_split_chip"):
        assert getattr(mine, flag) == getattr(other, flag)
      try:
        other.get_sublane_tiling(jnp.dtype("float32"))
      except NotImplementedError:  # jax 0.10.2 does not know the newest chips in full
        continue
      for dtype in (jnp.float32, jnp.bfloat16, jnp.int8, jnp.int4):
        assert mine.get_sublane_tiling(jnp.dtype(dtype)) == other.get_sublane_tiling(jnp.dtype(dtype))
      for a in dtypes:
        for b in dtypes:
          assert mine.is_matmul_supported(a, b) == other.is_matmul_supported(a, b), (chip, a, b)


def test_there_is_no_tpu_here_unless_the_mesh_says_so() -> None:
  if jax.default_backend() == "tpu":
    pytest.skip("this is a TPU")
  assert not pltpu.is_tpu_device()
  with pytest.raises(errors.DeviceKindError, match="get_tpu_info_for_chip"):
    pltpu.get_tpu_info()
  device = jax.sharding.AbstractDevice(device_kind="TPU v5p", num_cores=2, platform="tpu")
  with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)):
    assert pltpu.is_tpu_device()
    assert pltpu.get_tpu_info() == pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5P, 2)


def test_a_mesh_of_cores() -> None:
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
  assert [core.id for core in mesh.devices] == [0, 1]
  assert dict(mesh.shape) == {"core": 2} and mesh.axis_names == ("core",) and mesh.core_type is pltpu.CoreType.TC
  assert pltpu.TensorCoreMesh(axis_name="core").num_cores >= 1
  mesh.check_is_compatible_with(pltpu.TensorCoreMesh(axis_name="core", num_cores=2))
  with pytest.raises(errors.GridError, match="cannot be used in one kernel"):
    mesh.check_is_compatible_with(pltpu.TensorCoreMesh(axis_name="core", num_cores=4))


def test_run_on_first_core() -> None:
  def body(o: Any) -> None:
    core = jax.lax.axis_index("core")
    o[core] = jnp.full((4,), 1.0)

    @pltpu.run_on_first_core("core")
    def _() -> None:
      o[core] = jnp.full((4,), 9.0)

  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
  np.testing.assert_array_equal(pl.kernel(body, S((2, 4), jnp.float32), mesh=mesh)()[:, 0], [9, 1])


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="GPUs refuse cores that signal each other")
def test_core_barrier_lets_cores_run_side_by_side() -> None:
  def body(x: Any, o: Any, sem: Any) -> None:
    core = jax.lax.axis_index("core")
    o[core] = x[core]
    pltpu.core_barrier(sem, core_axis_name="core")
    o[2 + core] = o[1 - core] * 10

  def call(interpret: Any) -> Any:
    mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
    scratch = [pltpu.SemaphoreType.REGULAR(())]
    return pl.kernel(body, S((4, 4), jnp.float32), mesh=mesh, scratch_types=scratch, interpret=interpret)(x)

  x = jnp.arange(8.0).reshape(2, 4)
  for interpret in (False, True, pltpu.InterpretParams()):
    np.testing.assert_array_equal(call(interpret), np.concatenate([x, x[::-1] * 10]))


def test_sync_copy_takes_trees() -> None:
  def kernel(x: Any, y: Any, o: Any, p: Any) -> None:
    pltpu.sync_copy({"a": x, "b": y.at[0]}, {"a": o, "b": p})
    with pytest.raises(errors.TreeMismatchError, match="same structure"):
      pltpu.sync_copy({"a": x}, (o,))

  x, y = jnp.arange(8.0).reshape(2, 4), jnp.arange(12.0).reshape(3, 4)
  out = pl.pallas_call(
    kernel, (S((2, 4), jnp.float32), S((4,), jnp.float32)), in_specs=[ANY, ANY], out_specs=(ANY, ANY)
  )(x, y)
  np.testing.assert_array_equal(out[0], x)
  np.testing.assert_array_equal(out[1], y[0])


def test_barrier_semaphore_needs_an_id_or_a_tag() -> None:
  def kernel(o: Any, *, tag: Any = None) -> None:
    sem = pltpu.get_barrier_semaphore(tag)
    pl.semaphore_signal(sem, 2)
    pl.semaphore_wait(sem, 2)
    o[...] = jnp.full(o.shape, pl.semaphore_read(sem))

  out = S((4,), jnp.int32)
  params = pltpu.CompilerParams(collective_id=1)
  np.testing.assert_array_equal(pl.pallas_call(kernel, out, compiler_params=params)(), 0)
  np.testing.assert_array_equal(pl.pallas_call(lambda o: kernel(o, tag="ring"), out)(), 0)
  with pytest.raises(errors.CollectiveIdError, match="collective_id"):
    pl.pallas_call(kernel, out)()


@pytest.mark.target("portable")
def test_devices_meet_at_a_barrier() -> None:
  mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

  def kernel(x: Any, o: Any, send: Any, recv: Any) -> None:
    me = jax.lax.axis_index("x")
    right = jax.lax.rem(me + 1, 4)
    sem = pltpu.get_barrier_semaphore()
    pl.semaphore_signal(sem, 1, device_id=(right,))
    pl.semaphore_wait(sem, 1)
    copy = pltpu.make_async_remote_copy(x, o, send, recv, device_id=(right,))
    copy.start()
    copy.wait()

  call = pl.pallas_call(
    kernel,
    S((1, 8), jnp.float32),
    in_specs=[ANY],
    out_specs=ANY,
    scratch_shapes=[pltpu.SemaphoreType.DMA(()), pltpu.SemaphoreType.DMA(())],
    compiler_params=pltpu.CompilerParams(collective_id=0),
  )
  spec = jax.sharding.PartitionSpec("x")
  x = jnp.arange(32.0).reshape(4, 8)
  shifted = jax.jit(jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))(x)
  np.testing.assert_array_equal(shifted, np.roll(x, 1, axis=0))
