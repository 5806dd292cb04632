"""Values of types that a user made with hijax: a kernel gets a ref to one, whole or in blocks, and may give one back."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import core, hijax
from language import F32, S, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu


@dataclasses.dataclass
class Quantised:
  """Rows of bytes, with a scale for each."""

  values: jax.Array
  scales: jax.Array

  def dequantised(self):
    return np.asarray(self.values, np.float32) * np.asarray(self.scales)[:, None]


@dataclasses.dataclass(frozen=True)
class QuantisedType(hijax.HiType):
  shape: tuple[int, int]

  def lo_ty(self):
    return [core.ShapedArray(self.shape, jnp.dtype("int8")), core.ShapedArray(self.shape[:1], jnp.dtype("float32"))]

  def lower_val(self, x):
    return [x.values, x.scales]

  def raise_val(self, values, scales):
    return Quantised(values, scales)

  def to_tangent_aval(self):
    return self

  def str_short(self, short_dtypes=False, **_):
    return f"q8{list(self.shape)}"


@dataclasses.dataclass(frozen=True)
class CutType(QuantisedType):
  """The same, and it says how to be cut into blocks of rows."""

  def raise_val(self, values, scales):
    return Cut(values, scales)

  def lower_block_spec(self, spec):
    rows, _ = spec.block_shape
    return [spec, pl.BlockSpec((rows,), lambda *i: spec.index_map(*i)[0])]

  def block_type(self, avals):
    return CutType(avals[0].shape)


class Cut(Quantised): ...


hijax.register_hitype(Quantised, lambda x: QuantisedType(tuple(x.values.shape)))
hijax.register_hitype(Cut, lambda x: CutType(tuple(x.values.shape)))


# The base class of user-defined primitives was renamed in jax 0.11.
UserPrimitive = hijax.VJPHiPrimitive if hasattr(hijax, "VJPHiPrimitive") else hijax.HiPrim


class Dequantise(UserPrimitive):
  def __init__(self, ty):
    self.in_avals = (ty,)
    self.out_aval = core.ShapedArray(ty.shape, jnp.dtype("float32"))
    self.params = {}
    super().__init__()

  def expand(self, x):
    return x.values.astype(jnp.float32) * x.scales[:, None]


def dequantise(x):
  return Dequantise(core.typeof(x))(x)


def example(kind):
  return kind(jnp.arange(12, dtype=jnp.int8).reshape(4, 3), jnp.array([0.5, 1, 2, 4], F32))


def kernel(q_ref, o_ref):
  o_ref[...] = dequantise(q_ref[...])


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_kernel_gets_a_ref_to_the_whole_value(wrap):
  q = example(Quantised)
  same(wrap(pl.pallas_call(kernel, S((4, 3), F32)))(q), q.dequantised())


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_type_that_says_how_may_be_cut_into_blocks(wrap):
  q = example(Cut)
  spec = pl.BlockSpec((2, 3), lambda i: (i, 0))
  f = pl.pallas_call(kernel, S((4, 3), F32), grid=2, in_specs=[spec], out_specs=spec)
  same(wrap(f)(q), q.dequantised())


def test_a_kernel_may_give_back_such_a_value():
  q = example(Cut)

  def copy(q_ref, o_ref):
    o_ref[...] = q_ref[...]

  spec = pl.BlockSpec((2, 3), lambda i: (i, 0))
  f = pl.pallas_call(copy, CutType((4, 3)), grid=2, in_specs=[spec], out_specs=spec)
  out = jax.jit(f)(q)
  assert isinstance(out, Cut)
  same(out.values, q.values)
  same(out.scales, q.scales)


def test_a_type_that_does_not_say_how_to_cut_it_cannot_be_cut():
  spec = pl.BlockSpec((2, 3), lambda i: (i, 0))
  with pytest.raises(errors.BlockSpecError, match=r"args\[0\] has the user-defined type.*lower_block_spec\(spec\)"):
    run(kernel, example(Quantised), out=S((4, 3), F32), grid=2, in_specs=[spec], out_specs=spec)


# --- in kernels over meshes, in scopes and in pipelines ----------------------------------------------------------

MESH = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
ROWS = pl.BlockSpec((2, 3), lambda i: (i, 0))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_kernel_over_a_mesh_takes_keeps_and_gives_such_values(wrap):
  q = example(Quantised)

  def body(q_ref, copy_ref, o_ref, scratch):
    scratch[...] = q_ref[...]
    copy_ref[...] = scratch[...]
    o_ref[...] = dequantise(scratch[...])

  f = pl.kernel(body, (QuantisedType((4, 3)), S((4, 3), F32)), mesh=MESH, scratch_types=[QuantisedType((4, 3))])
  copy, out = wrap(f)(q)
  assert isinstance(copy, Quantised)
  same(copy.dequantised(), q.dequantised())
  same(out, q.dequantised())


def test_a_kernel_over_a_mesh_updates_refs_beside_such_values():
  q = example(Quantised)

  def f(q, x):
    total, held = jax.new_ref(x), jax.new_ref(q)

    def body(q_ref, copy_ref):
      total[...] = total[...] + dequantise(q_ref[...]) * dequantise(held[...])
      copy_ref[...] = q_ref[...]

    copy = pl.kernel(body, QuantisedType((4, 3)), mesh=MESH)(q)
    return dequantise(copy), total[...]

  copy, total = jax.jit(f)(q, jnp.ones((4, 3)))
  same(copy, q.dequantised())
  same(total, 1 + q.dequantised() ** 2)


def test_scopes_allocate_such_values():
  def scoped(q_ref, o_ref):
    def keep(held):
      held[...] = q_ref[...]
      return dequantise(held[...])

    o_ref[...] = pl.run_scoped(keep, QuantisedType((4, 3)))

  q = example(Quantised)
  same(run(scoped, q, out=S((4, 3), F32)), q.dequantised())


@pytest.mark.parametrize("interpret", [False, pltpu.InterpretParams()], ids=["native", "simulated"])
def test_pipelines_cut_such_values(interpret):
  def body(q_ref, o_ref, copy_ref):
    copy_ref[...] = q_ref[...]

    @pl.when(pl.program_id(0) == 0)
    def _():
      o_ref[...] = dequantise(q_ref[...])

    @pl.when(pl.program_id(0) == 1)
    def _():
      o_ref[...] = -dequantise(copy_ref[...])

  def pipelined(*refs):
    pltpu.emit_pipeline(body, grid=(2,), in_specs=[ROWS], out_specs=[ROWS, ROWS])(*refs)

  q = example(Cut)
  whole = pl.BlockSpec(memory_space=pl.ANY)
  types = (S((4, 3), F32), CutType((4, 3)))
  out, copy = pl.pallas_call(pipelined, types, in_specs=[whole], out_specs=(whole, whole), interpret=interpret)(q)
  same(out, q.dequantised() * np.array([[1], [1], [-1], [-1]], np.float32))
  same(copy.dequantised(), q.dequantised())


def test_a_pipeline_needs_to_know_how_to_cut():
  def pipelined(q_ref, o_ref):
    pltpu.emit_pipeline(kernel, grid=(2,), in_specs=[ROWS], out_specs=[ROWS])(q_ref, o_ref)

  with pytest.raises(errors.BlockSpecError, match=r"emit_pipeline.*user-defined type.*lower_block_spec\(spec\)"):
    run(pipelined, example(Quantised), out=S((4, 3), F32))
