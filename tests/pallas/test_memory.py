"""Scoped and global memory, semaphores, copies on a device and between devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from language import F32, I32, S, arange, examples, numbers, run, same

from tilewright import pallas as pl
from tilewright.pallas import dma, tpu
from tilewright.tile.memory import SemaphoreType, TpuMemorySpace

VMEM, SMEM, HBM = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM, TpuMemorySpace.HBM
ANY = pl.BlockSpec(memory_space=pl.ANY)


# --- scoped and global memory ------------------------------------------------------------------------------------


def test_run_scoped_allocates_passes_and_returns():
  def kernel(x_ref, o_ref):
    def outer(a, *, b):
      a[...] = x_ref[...] * 2

      def inner(c):
        c[...] = a[...] + 1
        b[0] = c[0].astype(I32)
        return c[...], {"last": c[3]}

      values, extra = pl.run_scoped(inner, VMEM((4,), F32))
      return values + extra["last"] + b[0].astype(F32)

    o_ref[...] = pl.run_scoped(outer, VMEM((4,), F32), b=SMEM((1,), I32))

  same(run(kernel, arange(4)), 2 * arange(4) + 1 + 7 + 1)


def test_scoped_types_may_be_trees():
  def kernel(x_ref, o_ref):
    def body(buffers):
      buffers["a"][...] = x_ref[...]
      buffers["b"][0][...] = buffers["a"][...] * 3
      o_ref[...] = buffers["b"][0][...]

    pl.run_scoped(body, {"a": VMEM((4,), F32), "b": [VMEM((4,), F32)]})

  same(run(kernel, arange(4)), 3 * arange(4))


def test_scoped_memory_is_fresh_in_every_turn_of_a_loop():
  def kernel(o_ref):
    @pl.loop(0, 3)
    def _(i):
      def body(sem):
        o_ref[i] = pl.semaphore_read(sem)
        pl.semaphore_signal(sem, 5)

      pl.run_scoped(body, SemaphoreType.REGULAR)

  same(run(kernel, out=S((3,), I32)), np.zeros(3, np.int32))


def test_with_scoped_adds_arguments():
  def kernel(x_ref, o_ref):
    @pl.with_scoped(VMEM((4,), F32))
    def through(scale, scratch):
      scratch[...] = x_ref[...] * scale
      o_ref[...] = scratch[...]

    through(3.0)

  same(run(kernel, arange(4)), 3 * arange(4))


def test_a_global_ref_is_shared_by_all_instances_and_each_call_gives_another():
  def kernel(o_ref):
    first, second = pl.get_global(SMEM((1,), I32)), pl.get_global(SMEM((1,), I32))

    @pl.when(pl.program_id(0) == 0)
    def _():
      first[0] = 0
      second[0] = 100

    lax.fori_loop(0, 2, lambda i, _: first.__setitem__(0, first[0] + 1), None)
    o_ref[0, 0] = first[0]
    o_ref[0, 1] = second[0]

  out = run(kernel, out=S((3, 2), I32), grid=3, out_specs=pl.BlockSpec((1, 2), lambda i: (i, 0)))
  same(out, np.array([[2, 100], [4, 100], [6, 100]], np.int32))


def test_run_state_outside_and_inside_a_kernel():
  def add_one(refs):
    x_ref, y_ref = refs
    y_ref[...] = x_ref[...] + 1
    x_ref[...] = jnp.zeros_like(x_ref[...])

  x, y = pl.run_state(add_one)((arange(3), arange(3)))
  same(x, np.zeros(3, np.float32))
  same(y, arange(3) + 1)

  def kernel(x_ref, o_ref):
    _, y = pl.run_state(add_one)((x_ref[...], x_ref[...]))
    o_ref[...] = y

  same(run(kernel, arange(3)), arange(3) + 1)


def test_a_state_inside_a_kernel_may_begin_with_a_number():
  def kernel(x_ref, o_ref):
    def add(total):
      total[...] = total[...] + x_ref[0]

    o_ref[0] = pl.run_state(add)(1.0)

  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((1,), jnp.float32))
  np.testing.assert_array_equal(jax.jit(call)(np.ones(1, np.float32)), [2])


def test_empty_values_have_a_type_and_no_promised_contents():
  a = pl.empty((2, 3), jnp.bfloat16)
  assert (a.shape, a.dtype) == ((2, 3), jnp.bfloat16)
  tree = pl.empty_like({"a": S((2,), I32), "b": arange(3)})
  assert jax.tree.map(lambda x: (x.shape, x.dtype), tree) == {"a": ((2,), I32), "b": ((3,), F32)}
  ref = pl.empty_ref_like(S((2,), F32))
  ref[...] = jnp.ones(2)
  same(jax.ref.freeze(ref), np.ones(2, np.float32))


POISON = {
  "float32": np.nan,
  "float16": np.nan,
  "bfloat16": np.nan,
  "float8_e4m3fn": np.nan,
  "float8_e5m2": np.nan,
  "complex64": np.nan,
  "int32": -(2**31),
  "int8": -128,
  "uint8": 0,
  "int4": -8,
  "bool": False,
}


@pytest.mark.parametrize("name", POISON)
@pytest.mark.parametrize("where", ["output", "scratch", "scoped", "outside"])
def test_what_was_never_written_is_poison(name, where):
  dtype = jnp.dtype(name)

  def kernel(x_ref, o_ref, scratch):
    if where == "scratch":
      o_ref[...] = scratch[...]
    elif where == "scoped":
      pl.run_scoped(lambda t: o_ref.__setitem__(..., t[...]), VMEM((2,), dtype))
    elif where == "outside":
      o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((2,), lambda: 1 if where == "outside" else 0)
  out = run(kernel, jnp.ones(2, dtype), in_specs=[spec], scratch_shapes=[VMEM((2,), dtype)], out=S((2,), dtype))
  wide = np.asarray(out).astype(np.complex64 if name == "complex64" else np.float32)
  np.testing.assert_array_equal(np.real(wide), np.full(2, POISON[name], np.float32))


def test_poison_of_float64_is_nan():
  with jax.enable_x64(True):
    assert np.isnan(run(lambda o_ref: None, out=S((2,), jnp.float64))).all()


# --- semaphores --------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["signal", "wait"]), st.integers(1, 4)), max_size=8))
@examples(15)
def test_semaphores_count(steps):
  count, sure = 0, []
  for kind, n in steps:
    if kind == "signal" or n <= count:
      count += n if kind == "signal" else -n
      sure.append((kind, n))

  def kernel(o_ref, sems):
    for kind, n in sure:
      (pl.semaphore_signal if kind == "signal" else pl.semaphore_wait)(sems.at[1], n)
    o_ref[0] = pl.semaphore_read(sems.at[0])
    o_ref[1] = pl.semaphore_read(sems.at[1])

  same(run(kernel, out=S((2,), I32), scratch_shapes=[SemaphoreType.REGULAR((2,))]), np.array([0, count], np.int32))


def test_a_wait_may_leave_the_count():
  def kernel(o_ref, sem):
    pl.semaphore_signal(sem, 3)
    pl.semaphore_wait(sem, 2, decrement=False)
    o_ref[0] = pl.semaphore_read(sem)

  same(run(kernel, out=S((1,), I32), scratch_shapes=[SemaphoreType.REGULAR]), np.array([3], np.int32))


# --- atomics -----------------------------------------------------------------------------------------------------


@given(st.sampled_from(["add", "max", "min", "and", "or", "xor", "xchg"]), st.booleans(), st.data())
@examples(20)
def test_atomics_combine_what_stands_there_and_give_it_back(kind, masked, data):
  index = data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3, unique=kind == "xchg"))
  mask = np.array(data.draw(st.lists(st.booleans(), min_size=3, max_size=3))) if masked else np.ones(3, bool)
  x, value = numbers((5,), np.int32), numbers((3,), np.int32, seed=1)
  combine = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or}
  combine |= {"xor": np.bitwise_xor, "xchg": lambda old, new: new}
  expected = x.copy()
  for i, v, m in zip(index, value, mask):
    expected[i] = combine[kind](expected[i], v) if m else expected[i]

  def kernel(i_ref, m_ref, x_ref, v_ref, o_ref, old_ref):
    o_ref[...] = x_ref[...]
    atomic = getattr(pl, f"atomic_{kind}")
    old_ref[...] = atomic(o_ref, (i_ref[...],), v_ref[...], mask=m_ref[...] if masked else None)

  after, old = run(kernel, np.array(index, np.int32), mask, x, value, out=(S((5,), I32), S((3,), I32)))
  same(after, expected)
  if len(set(index)) == 3:
    same(old, x[np.array(index)])


@pytest.mark.parametrize("interpret", [False, True, tpu.InterpretParams()], ids=["native", "portable", "simulated"])
def test_atomics_count_every_element_that_the_mask_chooses_and_no_other(interpret):
  """Three elements meet at one place, of which the mask leaves out the last; the values differ in their signs too."""
  index, mask = np.array([2, 0, 2, 2], np.int32), np.array([True, True, True, False])
  x, value = np.array([1, 2, -75], np.int8), np.array([-13, 6, 92, 127], np.int8)
  combined = {"add": 4, "max": 92, "min": -75, "and": -75 & -13 & 92, "or": -75 | -13 | 92, "xor": -75 ^ -13 ^ 92}

  def kernel(i_ref, m_ref, x_ref, v_ref, *o_refs):
    for kind, o_ref in zip([*combined, "xchg"], o_refs):
      o_ref[...] = x_ref[...]
      chosen = m_ref[...] & ((jnp.arange(4) != 0) | (kind != "xchg"))  # of an exchange, one alone
      getattr(pl, f"atomic_{kind}")(o_ref, (i_ref[...],), v_ref[...], mask=chosen)

  out = [S((3,), jnp.int8)] * 7
  found = run(kernel, index, mask, x, value, out=out, interpret=interpret)
  for got, expected in zip(found, [*combined.values(), 92], strict=True):
    assert int(got[2]) == expected and int(got[1]) == 2


def test_compare_and_swap_writes_only_what_it_expects():
  def kernel(o_ref, old_ref):
    o_ref[0] = 5
    old_ref[0] = pl.atomic_cas(o_ref.at[0], 4, 9)
    old_ref[1] = pl.atomic_cas(o_ref.at[0], 5, 7)

  out, old = run(kernel, out=(S((1,), I32), S((2,), I32)))
  same(out, np.array([7], np.int32))
  same(old, np.array([5, 5], np.int32))


# --- copies on one device ----------------------------------------------------------------------------------------


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4), st.booleans())
@examples(20)
def test_a_copy_moves_a_window_of_dynamic_size(source, target, size, add):
  x, y = numbers((7, 2), np.float32), numbers((7, 2), np.float32, seed=1)
  expected = y.copy()
  expected[target : target + size] = x[source : source + size] + (expected[target : target + size] if add else 0)

  def kernel(n_ref, x_ref, y_ref, o_ref, sem):
    o_ref[...] = y_ref[...]
    s, t, n = n_ref[0], n_ref[1], n_ref[2]
    copy = dma.make_async_copy(x_ref.at[pl.ds(s, n)], o_ref.at[pl.ds(t, n)], sem)
    copy.start(add=add)
    copy.wait()

  bounds = np.array([source, target, size], np.int32)
  same(run(kernel, bounds, x, y, out=S((7, 2), F32), scratch_shapes=[SemaphoreType.DMA]), expected)


def test_a_copy_that_is_only_described_moves_nothing():
  def kernel(x_ref, o_ref, sem):
    o_ref[...] = jnp.zeros_like(o_ref)
    dma.make_async_copy(x_ref, o_ref, sem)

  same(run(kernel, arange(4), scratch_shapes=[SemaphoreType.DMA]), np.zeros(4, np.float32))


@pytest.mark.parametrize("choice", [0, 1, 2])
def test_select_ref_chooses_the_source_or_the_target_of_a_copy(choice):
  def kernel(i_ref, a_ref, b_ref, c_ref, o_ref, p_ref, q_ref, sem):
    dma.sync_copy(pl.select_ref(i_ref[0], a_ref, b_ref, c_ref), o_ref)
    for ref in (p_ref, q_ref):
      ref[...] = jnp.zeros_like(ref)
    copy = dma.make_async_copy(a_ref, pl.select_ref(i_ref[0] % 2, p_ref, q_ref), sem)
    copy.start()
    copy.wait()

  x = arange(3)
  out, p, q = run(
    kernel, np.array([choice]), x, x + 10, x + 20, out=[S((3,), F32)] * 3, scratch_shapes=[SemaphoreType.DMA]
  )
  same(out, x + 10 * choice)
  same(p, x * (choice % 2 == 0))
  same(q, x * (choice % 2 == 1))


def test_sync_copy_copies_trees():
  def kernel(a_ref, b_ref, o_ref, p_ref):
    dma.sync_copy({"x": a_ref, "y": b_ref.at[pl.ds(1, 2)]}, {"x": o_ref, "y": p_ref})

  out, part = run(kernel, arange(3), arange(4, dtype=I32), out=[S((3,), F32), S((2,), I32)])
  same(out, arange(3))
  same(part, np.array([1, 2], np.int32))


def test_a_ring_of_buffers_hides_nothing():
  """The usual double buffering: start the next copy, wait for this one, compute."""

  def kernel(x_ref, o_ref, buffers, sems):
    def copy(i, slot):
      return dma.make_async_copy(x_ref.at[pl.ds(2 * i, 2)], buffers.at[slot], sems.at[slot])

    copy(0, 0).start()

    @pl.loop(0, 4)
    def _(i):
      slot = lax.rem(i, 2)
      pl.when(i < 3)(lambda: copy(i + 1, 1 - slot).start())
      copy(i, slot).wait()
      o_ref[pl.ds(2 * i, 2)] = jnp.sin(buffers[slot])

  scratch = [VMEM((2, 2), F32), SemaphoreType.DMA((2,))]
  out = run(kernel, arange(8), in_specs=[ANY], scratch_shapes=scratch)
  np.testing.assert_allclose(out, np.sin(np.arange(8.0)), rtol=1e-6)


# --- copies between devices --------------------------------------------------------------------------------------


def on_devices(kernel, x, scratch, names=("x",), shape=(4,), out=None, check_vma=True):
  mesh = Mesh(np.array(jax.devices()[:4]).reshape(shape), names)
  spec = PartitionSpec(names)
  f = pl.pallas_call(kernel, out or S((2, 3), F32), in_specs=[ANY], out_specs=ANY, scratch_shapes=scratch)
  return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma))(x)


@pytest.mark.target("portable")
@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("by", ["mesh", "logical", "dict"])
def test_each_device_sends_to_its_neighbour(by, check_vma):
  def kernel(x_ref, o_ref, send, recv):
    right = lax.rem(lax.axis_index("x") + 1, 4)
    kind = pl.DeviceIdType.LOGICAL if by == "logical" else pl.DeviceIdType.MESH
    target = {"mesh": (right,), "logical": right, "dict": {"x": right}}[by]
    copy = dma.make_async_remote_copy(x_ref, o_ref, send, recv, device_id=target, device_id_type=kind)
    copy.start()
    copy.wait()

  x = numbers((8, 3), np.float32)
  same(on_devices(kernel, x, [SemaphoreType.DMA] * 2, check_vma=check_vma), np.roll(x, 2, 0))


@pytest.mark.target("portable")
def test_devices_of_a_mesh_with_two_axes():
  def kernel(x_ref, o_ref, send, recv):
    to = {"b": 1 - lax.axis_index("b")}
    copy = dma.make_async_remote_copy(x_ref, o_ref, send, recv, device_id=to)
    copy.start()
    copy.wait_send()
    copy.wait_recv()

  x = numbers((8, 3), np.float32)
  out = on_devices(kernel, x, [SemaphoreType.DMA] * 2, names=("a", "b"), shape=(2, 2))
  same(out, x.reshape(2, 2, 2, 3)[:, ::-1].reshape(8, 3))


@pytest.mark.target("portable")
def test_an_all_gather_written_with_copies():
  def kernel(x_ref, o_ref, send, recv):
    me = lax.axis_index("x")
    dma.sync_copy(x_ref, o_ref.at[me])
    for step in range(3):
      slot = lax.rem(me - step + 4, 4)
      copy = dma.make_async_remote_copy(o_ref.at[slot], o_ref.at[slot], send, recv, device_id=(lax.rem(me + 1, 4),))
      copy.start()
      copy.wait()

  x = numbers((8, 3), np.float32)
  out = on_devices(kernel, x, [SemaphoreType.DMA] * 2, out=S((4, 2, 3), F32))
  for device in range(4):
    same(out[4 * device : 4 * device + 4], x.reshape(4, 2, 3))


@pytest.mark.target("portable")
def test_devices_signal_each_other():
  def kernel(x_ref, o_ref, sem):
    me = lax.axis_index("x")
    pl.semaphore_signal(sem, me + 1, device_id=(lax.rem(me + 1, 4),))
    o_ref[...] = x_ref[...] * pl.semaphore_read(sem).astype(F32)
    pl.semaphore_wait(sem, lax.rem(me + 3, 4) + 1)

  x = np.ones((8, 3), np.float32)
  expected = np.repeat([4, 1, 2, 3], 2)[:, None] * x
  same(on_devices(kernel, x, [SemaphoreType.REGULAR]), expected.astype(np.float32))


def test_the_dtypes_jax_has_pass_through_a_kernel():
  for dtype in (ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn, jnp.uint4, jnp.int2, np.float16, np.uint16):
    x = jnp.ones((5,), dtype)
    spec = pl.BlockSpec((4,), lambda i: i)
    out = run(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]), x, grid=2, in_specs=[spec], out_specs=spec)
    assert out.dtype == dtype
    np.testing.assert_array_equal(np.asarray(out).astype(np.float32), np.ones(5, np.float32))


@pytest.mark.parametrize("semantics", [None, ("arbitrary", "parallel")])
def test_prefetched_scalars_are_memory_of_the_call(semantics):
  """As in kernels of paged attention, which keep the number of the buffer in turn there. Index maps see what was passed."""

  def kernel(state, x_ref, o_ref):
    o_ref[...] = x_ref[...] + 100 * state[0]
    state[0] += 1

    @pl.when(pl.program_id(1) == 1)
    def _():
      state[1] = state[0]

    o_ref[0] = state[1].astype(F32)

  spec = pl.BlockSpec((8,), lambda i, j, s: (2 * i + j + s[0],))
  call = pl.pallas_call(
    kernel,
    S((48,), F32),
    grid_spec=tpu.PrefetchScalarGridSpec(1, (2, 2), [spec], spec, ()),
    compiler_params=tpu.CompilerParams(dimension_semantics=semantics),
  )

  def expected(first, x):
    out = (x + 100 * (first + np.arange(4).repeat(8))).reshape(4, 8)
    out[:, 0] = [-1, first + 2, first + 2, first + 4]
    return out.ravel().astype(F32)

  states, x = jnp.array([[0, -1], [1, -1]], I32), arange(48)
  same(call(states[0], x)[:32], expected(0, np.asarray(x[:32])))
  both = jax.vmap(call, (0, None))(states, x)
  same(both[0, :32], expected(0, np.asarray(x[:32])))
  same(both[1, 8:40], expected(1, np.asarray(x[8:40])))
  same(states, np.array([[0, -1], [1, -1]], np.int32))


@pytest.mark.parametrize("cores", [2, 3])
def test_each_core_of_a_megacore_has_its_own_prefetched_scalars(cores):
  """A parallel dimension of two in front stands for the two cores, as in paged attention; along others the scalars stay."""

  def kernel(state, o_ref):
    o_ref[...] = jnp.full_like(o_ref, state[0])
    state[0] += 1

  spec = pl.BlockSpec((1, 1), lambda i, j, s: (i, j))
  call = pl.pallas_call(
    kernel,
    S((cores, 3), I32),
    grid_spec=tpu.PrefetchScalarGridSpec(1, (cores, 3), [], spec, ()),
    compiler_params=tpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
  )
  counted = 7 + np.arange(3 * cores, dtype=np.int32).reshape(cores, 3)
  same(call(jnp.array([7], I32)), np.stack([counted[0]] * 2) if cores == 2 else counted)
