"""SparseCore kernels: meshes of subcores, what subcores do together, and operations on their vectors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import tpu_sc as plsc

S = jax.ShapeDtypeStruct
MODES = pytest.mark.parametrize(
  "interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"]
)


def subcores(cores: int = 2, each: int = 3) -> Any:
  return plsc.VectorSubcoreMesh(core_axis_name="c", subcore_axis_name="s", num_cores=cores, num_subcores=each)


def test_meshes_say_what_they_are() -> None:
  assert dict(subcores().shape) == {"c": 2, "s": 3} and subcores().size == 6
  assert subcores().core_type is pltpu.CoreType.SC_VECTOR_SUBCORE
  scalar = plsc.ScalarSubcoreMesh(axis_name="c", num_cores=2)
  assert dict(scalar.shape) == {"c": 2} and scalar.core_type is pltpu.CoreType.SC_SCALAR_SUBCORE
  assert dict(plsc.VectorSubcoreMesh(core_axis_name="c", subcore_axis_name="s").shape) == {"c": 1, "s": 16}
  with pytest.raises(ValueError, match="num_subcores must be at least 1"):
    subcores(1, 0)


@MODES
@pytest.mark.skipif(jax.default_backend() != "cpu", reason="GPUs refuse cores that signal each other")
def test_subcores_wait_for_those_of_their_core(interpret: Any) -> None:
  """Twice, so that the second barrier needs counts that the first left at zero."""

  def body(o: Any) -> None:
    c, s = lax.axis_index("c"), lax.axis_index("s")
    o[0, c, s] = 10 * c + s

    def step(n: Any, _: None) -> None:
      plsc.subcore_barrier()
      o[n + 1, c, s] = o[n, c, lax.rem(s + 1, 3)]

    lax.fori_loop(0, 2, step, None)

  found = pl.kernel(body, S((3, 2, 3), jnp.int32), mesh=subcores(), interpret=interpret)()
  first = 10 * np.arange(2)[:, None] + np.arange(3)
  np.testing.assert_array_equal(found, np.stack([np.roll(first, -n, axis=1) for n in range(3)]))


@MODES
@pytest.mark.skipif(jax.default_backend() != "cpu", reason="GPUs refuse cores that signal each other")
def test_subcores_of_a_core_share_memory_and_counters(interpret: Any) -> None:
  def body(o: Any, shared: Any, count: Any) -> None:
    c, s = lax.axis_index("c"), lax.axis_index("s")
    count[0] = 0
    shared[s] = 10 * c + s
    plsc.subcore_barrier()
    plsc.fetch_and_add(count.at[0], s + 1, subcore_id=0)
    plsc.subcore_barrier()
    o[c, s] = 1000 * count[0] + shared[lax.rem(s + 1, 3)]

  scratch = [pltpu.VMEM_SHARED((3,), jnp.int32), pltpu.SMEM((1,), jnp.int32)]
  found = pl.kernel(body, S((2, 3), jnp.int32), mesh=subcores(), scratch_types=scratch, interpret=interpret)()
  np.testing.assert_array_equal(found, [[6001, 2, 0], [6011, 12, 10]])


@MODES
def test_scalar_and_vector_subcores_run_in_one_kernel(interpret: Any) -> None:
  scalar = plsc.ScalarSubcoreMesh(axis_name="k", num_cores=2)

  def on_vectors(x: Any, o: Any, own: Any) -> None:
    at = 3 * lax.axis_index("c") + lax.axis_index("s")
    own[...] = x[at] + 1
    o[at] = own[...]

  def on_scalars(x: Any, o: Any, own: Any) -> None:
    o[6 + lax.axis_index("k")] = x[0] * 2

  x = jnp.arange(48.0).reshape(6, 8)
  f = pl.kernel(
    [on_vectors, on_scalars],
    S((8, 8), jnp.float32),
    mesh=[subcores(), scalar],
    scratch_types=[(pltpu.VMEM @ subcores())((8,), jnp.float32)],
    interpret=interpret,
  )
  np.testing.assert_array_equal(f(x), np.concatenate([x + 1, [2 * x[0]] * 2]))


def test_memory_belongs_to_a_mesh_that_has_it() -> None:
  assert str((pltpu.SemaphoreType.DMA @ subcores()).memory_space) == "semaphore_mem@sc_vector_subcore"
  with pytest.raises(errors.MemorySpaceError, match="hbm is not one of the cores"):
    pltpu.HBM @ subcores()
  other = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
  with pytest.raises(errors.MemorySpaceError, match="but the kernel runs on"):
    pl.kernel(
      lambda o, s: None, S((8,), jnp.float32), mesh=subcores(), scratch_types=[pltpu.SMEM((8,), jnp.int32) @ other]
    )()


# --- vectors -----------------------------------------------------------------------------------------------------

X = np.array([5, -3, 5, 9, -3, 5, 0, 9], np.int32)
MASK = np.array([0, 1, 1, 0, 1, 1, 0, 1], bool)


def on_vector(f: Any, out: Any, *args: Any, interpret: Any = False) -> Any:
  """A function of values, or of an output ref and values, in a kernel."""
  return pl.pallas_call(f, out, interpret=interpret)(*args)


@pytest.mark.parametrize("interpret", [False, True], ids=["native", "portable"])
def test_masks_choose_elements_of_refs(interpret: Any) -> None:
  def body(x: Any, m: Any, stored: Any, added: Any, expanded: Any, gathered: Any, scattered: Any) -> None:
    mask = m[...] != 0
    stored[...] = jnp.zeros(8, jnp.int32)
    added[...] = jnp.ones(8, jnp.int32)
    scattered[...] = jnp.zeros(8, jnp.int32)
    plsc.store_compressed(stored, x[...], mask=mask)
    plsc.addupdate_compressed(added, x[...], mask=mask)
    expanded[...] = plsc.load_expanded(x, mask=mask)
    index = lax.iota(jnp.int32, 8) // 2
    gathered[...] = plsc.load_gather(x, [index], mask=mask)
    plsc.addupdate_scatter(scattered, [index], x[...], mask=mask)
    plsc.store_scatter(scattered, [jnp.full((8,), 7, jnp.int32)], x[...], mask=lax.iota(jnp.int32, 8) == 3)
    plsc.addupdate(scattered, jnp.ones(8, jnp.int32))

  found = pl.pallas_call(body, [S((8,), jnp.int32)] * 5, interpret=interpret)(X, MASK.astype(np.int32))
  chosen, index = X[MASK], np.arange(8) // 2
  scattered = np.zeros(8, np.int32)
  np.add.at(scattered, index[MASK], chosen)
  scattered[7] = X[3]
  expanded = np.zeros(8, np.int32)
  expanded[MASK] = X[: MASK.sum()]
  wanted = [
    np.append(chosen, [0] * 3),
    np.append(chosen + 1, [1] * 3),
    expanded,
    np.where(MASK, X[index], 0),
    scattered + 1,
  ]
  for a, b in zip(found, wanted, strict=True):
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("interpret", [False, True], ids=["native", "portable"])
def test_running_sums_maxima_and_counts(interpret: Any) -> None:
  def body(x: Any, m: Any, o: Any) -> None:
    mask = m[...] != 0
    o[0] = plsc.cumsum(x[...], mask=mask)
    o[1] = plsc.cummax(x[...], mask=mask)
    counts, last = plsc.scan_count(x[...], mask)
    o[2], o[3] = counts, last.astype(jnp.int32)
    o[4] = plsc.all_reduce_ffs(mask)
    o[5] = plsc.all_reduce_population_count(mask)
    o[6], o[7], valid = plsc.sort_key_val(x[...], lax.iota(jnp.int32, 8), mask=mask)
    o[8] = valid.astype(jnp.int32)
    o[9], o[10] = plsc.sort_key_val(x[...], lax.iota(jnp.int32, 8), descending=True)

  found = pl.pallas_call(body, S((11, 8), jnp.int32), interpret=interpret)(X, MASK.astype(np.int32))
  wanted = [
    np.cumsum(np.where(MASK, X, 0)),
    [5, -3, 5, 5, 5, 5, 5, 9],
    [1, 1, 1, 1, 2, 2, 1, 1],
    [0, 0, 0, 0, 1, 1, 0, 1],
    [1] * 8,
    [5] * 8,
    [-3, -3, 5, 5, 9, 0, 5, 9],
    [1, 4, 2, 5, 7, 6, 0, 3],
    [1] * 5 + [0] * 3,
    [9, 9, 5, 5, 5, 0, -3, -3],
    [3, 7, 0, 2, 5, 6, 1, 4],
  ]
  np.testing.assert_array_equal(found, np.array(wanted))


@pytest.mark.parametrize("format", list(plsc.PackFormat))
def test_what_is_packed_can_be_unpacked(format: Any) -> None:
  a, b = jnp.arange(8, dtype=jnp.float32), -jnp.arange(8, dtype=jnp.float32)
  packed = plsc.pack(a, b, format=format)
  assert packed.dtype == jnp.bfloat16
  in_turns = np.stack([a, b], 1).reshape(-1)
  np.testing.assert_array_equal(
    packed.astype(jnp.float32), in_turns if format.value == "interleaved" else np.append(a, b)
  )
  for found, wanted in zip(plsc.unpack(packed, format=format), (a, b), strict=True):
    np.testing.assert_array_equal(found, wanted)


def test_bitcasts_change_the_last_dimension() -> None:
  x = jnp.arange(8, dtype=jnp.uint32).reshape(2, 4) * 0x10001
  narrow = plsc.bitcast(x, jnp.uint16)
  np.testing.assert_array_equal(narrow, np.asarray(x).view(np.uint16))
  np.testing.assert_array_equal(plsc.bitcast(narrow, jnp.uint32), x)


def test_a_parallel_loop_carries_values() -> None:
  def body(o: Any) -> None:
    @plsc.parallel_loop(0, 8, step=2, carry=jnp.int32(1))
    def last(i: Any, j: Any) -> Any:
      o[pl.ds(i, 2)] = jnp.full((2,), j)
      return j + 1

    o[8] = last

  np.testing.assert_array_equal(pl.pallas_call(body, S((9,), jnp.int32))(), [1, 1, 2, 2, 3, 3, 4, 4, 5])


# --- gathers and scatters ----------------------------------------------------------------------------------------

TABLE = jnp.arange(12.0 * 4).reshape(12, 4)
PLACES = np.array([7, 2, -1, 0, -1, 11], np.int32)
IN_MEMORY = [pltpu.VMEM((6,), jnp.int32), pltpu.VMEM((6, 4), jnp.float32), pltpu.SemaphoreType.DMA]


def run_gather(body: Any, out: Any, places: Any, interpret: Any) -> Any:
  return pl.kernel(body, out, mesh=subcores(1, 1), scratch_types=IN_MEMORY, interpret=interpret)(TABLE, places)


@MODES
@pytest.mark.parametrize("wrap", [lambda ref: ref, plsc.Indices, lambda ref: plsc.Indices(ref[...])])
def test_rows_are_gathered_and_scattered_by_indices_in_memory(interpret: Any, wrap: Any) -> None:
  """The copy back is described before its indices are there: they are read when it starts."""
  places = np.abs(PLACES) % 12

  def body(table: Any, indices: Any, out: Any, own: Any, rows: Any, sem: Any) -> None:
    pltpu.sync_copy(table, out)
    back = pltpu.make_async_copy(rows, out.at[own], sem)
    pltpu.sync_copy(indices, own)
    pltpu.sync_copy(table.at[wrap(own)], rows)
    rows[...] = -rows[...]
    back.start()
    back.wait()

  want = np.array(TABLE)
  want[places] *= -1
  np.testing.assert_array_equal(run_gather(body, TABLE, places, interpret), want)


@MODES
def test_indices_of_a_certain_value_are_ignored(interpret: Any) -> None:
  def body(table: Any, indices: Any, got: Any, put: Any, own: Any, rows: Any, sem: Any) -> None:
    pltpu.sync_copy(indices, own)
    places = plsc.Indices(own, ignored_value=-1)
    rows[...] = jnp.full(rows.shape, 100.0)
    pltpu.async_copy(table.at[places], rows, sem).wait()
    pltpu.sync_copy(rows, got)
    pltpu.sync_copy(table, put)
    pltpu.sync_copy(rows, put.at[places], add=True)

  got, put = run_gather(body, (S((6, 4), jnp.float32), TABLE), PLACES, interpret)
  valid = PLACES >= 0
  np.testing.assert_array_equal(got, np.where(valid[:, None], np.array(TABLE)[PLACES], 100))
  want = np.array(TABLE)
  want[PLACES[valid]] *= 2
  np.testing.assert_array_equal(put, want)


def test_ignored_indices_stand_alone() -> None:
  def body(table: Any, indices: Any, out: Any, own: Any, rows: Any, sem: Any) -> None:
    pltpu.sync_copy(table.at[plsc.Indices(own, ignored_value=-1)].at[:, :], rows)

  with pytest.raises(errors.UnsupportedFeatureError, match="ignored_value, the indices must be one-dimensional"):
    run_gather(body, S((6, 4), jnp.float32), PLACES, False)


# --- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
  "f, builtin, message",
  [
    (lambda x, o: plsc.cumsum(x[...], mask=x[...]), TypeError, "mask.dtype=int32 is not a boolean dtype"),
    (lambda x, o: plsc.cumsum(x[...], mask=jnp.ones(3, bool)), ValueError, r"mask.shape=\(3,\)"),
    (lambda x, o: plsc.all_reduce_ffs(x[...]), TypeError, "Mask all-reduce only supports bool arrays, got int32"),
    (lambda x, o: plsc.load_gather(x, [x[...].astype(jnp.float32)]), TypeError, "indices must be integers"),
    (
      lambda x, o: plsc.load_gather(x, [x[...], x[...]]),
      ValueError,
      "The number of indices does not match ref.ndim=1",
    ),
    (
      lambda x, o: plsc.load_gather(x, [x[...]], mask=jnp.ones(3, bool)),
      ValueError,
      r"mask.shape=\(3,\) does not match the expected shape \(8,\)",
    ),
    (
      lambda x, o: plsc.store_scatter(o, [x[...]], jnp.zeros(3, jnp.int32)),
      ValueError,
      r"x.shape=\(3,\) does not match expected shape \(8,\)",
    ),
    (
      lambda x, o: plsc.addupdate_scatter(o, [x[...]], jnp.zeros(8, jnp.float32)),
      TypeError,
      "val.dtype=float32 != ref.dtype=int32",
    ),
    (lambda x, o: plsc.addupdate(o, jnp.zeros(8, jnp.float32)), TypeError, "val.dtype=float32 != ref.dtype=int32"),
    (lambda x, o: plsc.store_compressed(o, x[...], mask=jnp.ones(3, bool)), ValueError, r"mask.shape=\(3,\)"),
    (
      lambda x, o: plsc.pack(x[...], x[...].astype(jnp.float32), format=plsc.PackFormat.INTERLEAVED),
      TypeError,
      "Packed arrays must have the same dtype, got int32 and float32",
    ),
    (
      lambda x, o: plsc.pack(x[...], x[:4], format=plsc.PackFormat.INTERLEAVED),
      ValueError,
      "Packed arrays must have the same shape",
    ),
    (lambda x, o: plsc.sort_key_val(x[...], x[:4]), ValueError, r"values shape \(4,\) must be \(8,\)"),
  ],
)
def test_operands_that_do_not_fit_are_refused(f: Any, builtin: Any, message: str) -> None:
  def body(x: Any, o: Any) -> None:
    f(x, o)

  with pytest.raises(builtin, match=message):
    jax.jit(pl.pallas_call(body, S((8,), jnp.int32))).lower(X)


@MODES
@pytest.mark.skipif(jax.default_backend() != "cpu", reason="GPUs refuse cores that signal each other")
def test_a_counter_is_that_of_a_subcore_with_a_known_number(interpret: Any) -> None:
  """The old values of all additions are different, whatever their order; the subcore is given as a Python number."""

  def body(o: Any, count: Any) -> None:
    s = lax.axis_index("s")
    count[0] = 0
    plsc.subcore_barrier()
    o[s] = plsc.fetch_and_add(count.at[0], 2, subcore_id=1)

  found = pl.kernel(
    body, S((4,), jnp.int32), mesh=subcores(1, 4), scratch_types=[pltpu.SMEM((1,), jnp.int32)], interpret=interpret
  )()
  assert sorted(np.asarray(found)) == [0, 2, 4, 6]
