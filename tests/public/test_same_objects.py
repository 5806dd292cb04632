"""Public objects besides functions: what they print, compare, and have as attributes is what those of JAX print, compare and have."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as original
from jax.experimental.pallas import fuser as original_fuser
from jax.experimental.pallas import tpu as original_tpu
from jax.experimental.pallas import tpu_sc as original_sc

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import tpu_sc as plsc

F32 = jnp.float32
S = jax.ShapeDtypeStruct

# --- texts -------------------------------------------------------------------------------------------------------

PRINTED = {
  "block": lambda pl, pltpu: pl.Blocked(3),
  "element": lambda pl, pltpu: pl.Element(3, (1, 2)),
  "bounded slice": lambda pl, pltpu: pl.BoundedSlice(3),
  "indirect": lambda pl, pltpu: pl.Indirect(3),
  "squeezed": lambda pl, pltpu: pl.squeezed,
  "spec": lambda pl, pltpu: pl.BlockSpec((4, None, pl.Element(3)), memory_space=pltpu.VMEM),
  "grid spec": lambda pl, pltpu: pl.GridSpec(grid=(2,), in_specs=[pl.BlockSpec()], out_specs=[pl.BlockSpec()]),
  "named grid": lambda pl, pltpu: pl.GridSpec(grid=(("i", 2),), in_specs=[pl.BlockSpec((1,))]),
  "prefetch": lambda pl, pltpu: pltpu.PrefetchScalarGridSpec(1, grid=2, scratch_shapes=[pltpu.VMEM((8,), F32)]),
  "memory": lambda pl, pltpu: pltpu.VMEM((4, 8), F32),
  "scalar memory": lambda pl, pltpu: pltpu.SMEM((4,), jnp.int32),
  "spaces": lambda pl, pltpu: [pltpu.VMEM, pltpu.SMEM, pltpu.HBM, pltpu.SEMAPHORE, pltpu.CMEM, pl.ANY],
  "semaphores": lambda pl, pltpu: [pltpu.SemaphoreType.REGULAR((2,)), pltpu.SemaphoreType.BARRIER(())],
  "copy semaphores": lambda pl, pltpu: pltpu.SemaphoreType.DMA((2,)),
  "ref": lambda pl, pltpu: pltpu.VMEM((4, 8), F32).get_ref_aval(),
}


@pytest.mark.parametrize("what", PRINTED)
@pytest.mark.parametrize("text", [str, repr])
def test_an_object_prints_as_the_original(what, text):
  make = PRINTED[what]
  assert text(make(pl, pltpu)) == text(make(original, original_tpu))


def call(pl: Any, pltpu: Any) -> Any:
  grid = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(2,),
    in_specs=[pl.BlockSpec((4, 128), lambda i, s: (s[i], 0))],
    out_specs=pl.BlockSpec((4, 128), lambda i, s: (i, 0)),
    scratch_shapes=[pltpu.VMEM((8, 128), F32)],
  )
  f = pl.pallas_call(
    lambda s, x, o, t: None, S((8, 128), F32), grid_spec=grid, metadata={"a": "b"}, name="named", interpret=True
  )
  return jax.make_jaxpr(f)(jnp.zeros((2,), jnp.int32), jnp.zeros((8, 128))).eqns[0].params


def test_the_parameters_of_an_equation_are_those_of_the_original():
  ours, theirs = call(pl, pltpu), call(original, original_tpu)
  for name in ("metadata", "name", "debug", "input_output_aliases", "out_avals", "interpret"):
    assert ours[name] == theirs[name], name
  ours, theirs = ours["grid_mapping"], theirs["grid_mapping"]
  assert repr(ours) == repr(theirs)
  for name in (
    "grid",
    "static_grid",
    "grid_names",
    "num_inputs",
    "num_outputs",
    "num_index_operands",
    "num_scratch_operands",
    "num_dynamic_grid_bounds",
    "slice_index_ops",
    "slice_block_ops",
    "slice_scratch_ops",
    "vmapped_dims",
    "out_shapes",
  ):
    assert getattr(ours, name) == getattr(theirs, name), name
  assert list(map(str, ours.index_map_avals)) == list(map(str, theirs.index_map_avals))
  for own, other in zip(ours.block_mappings, theirs.block_mappings, strict=True):
    assert (repr(own), own.origin) == (repr(other), other.origin)
    assert str(own.index_map_jaxpr) == str(other.index_map_jaxpr)
    assert own.index_map_out_tree == other.index_map_out_tree
    assert (own.ref_aval.shape, own.transforms) == (other.ref_aval.shape, other.transforms)


# --- attributes --------------------------------------------------------------------------------------------------

_ORIGINAL_MESH = (
  original_tpu.TensorCoreMesh
  if hasattr(original_tpu, "TensorCoreMesh")
  else type(original_tpu.create_tensorcore_mesh("x", num_cores=1))
)

CLASSES = {
  "BlockSpec": (pl.BlockSpec, original.BlockSpec),
  "GridSpec": (pl.GridSpec, original.GridSpec),
  "PrefetchScalarGridSpec": (pltpu.PrefetchScalarGridSpec, original_tpu.PrefetchScalarGridSpec),
  "Buffered": (pl.Buffered, original.Buffered),
  "BufferedRef": (pltpu.BufferedRef, original_tpu.BufferedRef),
  "BufferedRefBase": (pltpu.BufferedRefBase, original_tpu.BufferedRefBase),
  "TensorCoreMesh": (pltpu.TensorCoreMesh, _ORIGINAL_MESH),
  "InterpretParams": (pltpu.InterpretParams, original_tpu.InterpretParams),
  "VectorSubcoreMesh": (plsc.VectorSubcoreMesh, original_sc.VectorSubcoreMesh),
  "ScalarSubcoreMesh": (plsc.ScalarSubcoreMesh, original_sc.ScalarSubcoreMesh),
  "Indices": (plsc.Indices, original_sc.Indices),
  "custom_fusion": (fuser.custom_fusion, original_fuser.custom_fusion),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_members_of_the_original(name):
  ours, theirs = CLASSES[name]
  set_by_init = {"custom_fusion": {"eval_rule", "pallas_impl", "pull_block_spec_rule", "push_block_spec_rule"}}
  known = {*dir(ours), *getattr(ours, "__dataclass_fields__", ()), *set_by_init.get(name, ())}
  assert {m for m in dir(theirs) if not m.startswith("_")} <= known
  if dataclasses.is_dataclass(theirs):
    assert {f.name for f in dataclasses.fields(theirs)} <= known


def test_members_of_a_class_take_the_arguments_of_the_original():
  for name in dir(original_fuser.custom_fusion):
    if name.startswith("def_"):
      own, other = (inspect.signature(getattr(m.custom_fusion, name)) for m in (fuser, original_fuser))
      assert list(own.parameters) == list(other.parameters)


def test_specs_are_compared_by_their_contents_and_can_be_changed():
  index_map = lambda i: (i, 0)
  assert pl.GridSpec(2, [pl.BlockSpec((1, 2), index_map)]) == pl.GridSpec((2,), (pl.BlockSpec((1, 2), index_map),))
  assert pl.GridSpec(2) != pltpu.PrefetchScalarGridSpec(1, 2)
  spec = pl.BlockSpec((4, 128), index_map)
  spec.memory_space = pltpu.VMEM
  assert spec == pl.BlockSpec((4, 128), index_map, memory_space=pltpu.VMEM)


def test_a_block_spec_gives_a_block_mapping():
  def mapping(pl: Any, pltpu: Any) -> Any:
    avals = (jax.core.ShapedArray((), jnp.int32), pltpu.SMEM((2,), jnp.int32).get_ref_aval())
    return pl.BlockSpec((4, None), lambda i, s: (i, s[0])).to_block_mapping(
      "x",
      jax.core.ShapedArray((8, 128), F32),
      index_map_avals=avals,
      index_map_tree=jax.tree.structure((avals, {})),
      grid=(2,),
      vmapped_dims=(),
    )

  ours, theirs = mapping(pl, pltpu), mapping(original, original_tpu)
  assert repr(ours) == repr(theirs)
  assert str(ours.index_map_jaxpr) == str(theirs.index_map_jaxpr)
  assert (ours.origin, ours.array_aval, ours.block_aval.shape) == (theirs.origin, theirs.array_aval, (4,))


def test_semaphores_of_the_original_are_taken_over():
  def body(x, o, copied, counter):
    pl.semaphore_signal(counter, 2)
    pl.semaphore_wait(counter, 2)
    pltpu.async_copy(x, o, copied).wait()

  kinds = original_tpu.SemaphoreType
  x = jnp.arange(8.0)
  for scratch in ([kinds.DMA(()), kinds.REGULAR(())], [kinds.DMA, kinds.REGULAR]):
    np.testing.assert_array_equal(pl.pallas_call(body, S((8,), F32), scratch_shapes=scratch)(x), x)


# --- axes of a vmap ----------------------------------------------------------------------------------------------

MODES = pytest.mark.parametrize(
  "interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"]
)
X = jnp.arange(16.0).reshape(2, 8)


@MODES
def test_a_body_may_ask_for_the_size_of_the_axis_of_a_vmap(interpret):
  def body(x, o):
    o[...] = x[...] + lax.axis_size("b")

  f = pl.pallas_call(body, S((8,), F32), interpret=interpret)
  np.testing.assert_array_equal(jax.vmap(f, axis_name="b")(X), X + 2)
  np.testing.assert_array_equal(jax.jit(jax.vmap(f, axis_name="b"))(X), X + 2)


@MODES
def test_a_kernel_runs_below_a_named_vmap_that_does_not_concern_it(interpret):
  f = pl.pallas_call(lambda x, o: o.__setitem__(..., x[...] * 2), S((8,), F32), interpret=interpret)
  np.testing.assert_array_equal(jax.vmap(lambda y: y + f(X[0]), axis_name="b")(X), X + 2 * X[0])


@MODES
@pytest.mark.parametrize("use", [lax.axis_index, lambda b: lax.psum(1.5 * jnp.ones(8), b)], ids=["index", "psum"])
def test_a_position_along_the_axis_of_a_vmap_is_refused(interpret, use):
  def body(x, o):
    o[...] = x[...] + use("b")

  f = pl.pallas_call(body, S((8,), F32), interpret=interpret)
  with pytest.raises(
    errors.AxisNameError, match=r"(?s)the axis 'b' of a vmap.*Pass its position as an operand.*\.py:\d+"
  ):
    jax.vmap(f, axis_name="b")(X)


@MODES
def test_an_index_map_that_asks_for_the_axis_of_a_vmap_is_refused(interpret):
  spec = pl.BlockSpec((4,), lambda i: (lax.axis_index("b"),))
  f = pl.pallas_call(lambda x, o: None, S((4,), F32), grid=(1,), in_specs=[spec], interpret=interpret)
  with pytest.raises(errors.AxisNameError, match="index map of args"):
    jax.vmap(f, axis_name="b")(X)


# --- jaxprs ------------------------------------------------------------------------------------------------------


def body_that_copies_and_waits(pl: Any, pltpu: Any) -> Any:
  load, store = (getattr(pltpu, name, None) or getattr(pl, name) for name in ("load", "store"))

  def body(x, o, v, copied, counter):
    i = pl.program_id(0)
    copy = pltpu.make_async_copy(x.at[pl.ds(0, 4)], v.at[pl.ds(i, 4)], copied.at[1])
    copy.start()
    copy.wait()
    pltpu.make_async_copy(x, v, copied.at[0]).start(priority=1)
    pl.semaphore_signal(counter, 2)
    pl.semaphore_signal(counter, 1, device_id=1)
    pl.semaphore_wait(counter, 2)
    rows = load(x.at[0:2], mask=x[0:2] > 0)
    store(o.at[0:2], rows, mask=rows > 0)

  scratch = [pltpu.VMEM((8, 8), F32), pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.REGULAR]
  return pl.pallas_call(body, S((8, 8), F32), grid=(2,), scratch_shapes=scratch, interpret=pltpu.InterpretParams())


def equations(pl: Any, pltpu: Any) -> list[str]:
  traced = jax.make_jaxpr(body_that_copies_and_waits(pl, pltpu), axis_env=[("d", 2)])(jnp.zeros((8, 8)))
  text = str(traced.eqns[0].params["jaxpr"])
  return [line.strip() for line in text[text.index(" let") :].splitlines()[1:]]


def test_jaxprs_show_copies_waits_and_masked_accesses_as_those_of_the_original():
  found = equations(pl, pltpu)
  assert found == equations(original, original_tpu)
  assert "dma_start(p0) a[:4,:] -> c[f:f+4,:] d[1]" in found


def test_jaxprs_show_copies_to_other_devices_with_all_parameters():
  def body(x, o, s, r):
    pltpu.make_async_remote_copy(x, o, s, r, device_id=1).start()

  f = pl.pallas_call(
    body, S((8,), F32), scratch_shapes=[pltpu.SemaphoreType.DMA] * 2, interpret=pltpu.InterpretParams()
  )
  assert "device_id_type" in str(jax.make_jaxpr(f, axis_env=[("d", 2)])(jnp.zeros(8)))
