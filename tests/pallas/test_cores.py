"""Cores of one mesh that signal each other and copy to each other: as coroutines natively, as threads of the simulator otherwise."""

from __future__ import annotations

import collections
import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from language import F32, I32, S, arange, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

REGULAR, DMA = pltpu.SemaphoreType.REGULAR, pltpu.SemaphoreType.DMA
NATIVE = pytest.param(
  False, id="native", marks=pytest.mark.skipif(jax.default_backend() != "cpu", reason="refused on GPUs")
)
MODES = pytest.mark.parametrize(
  "interpret",
  [NATIVE, pytest.param(True, id="portable"), pytest.param(pltpu.InterpretParams(), id="simulated")],
)


def cores(count=2, name="core"):
  return pltpu.TensorCoreMesh(axis_name=name, num_cores=count)


@dataclasses.dataclass(frozen=True)
class Grid:
  """A mesh of cores with several axes."""

  axes: tuple

  @property
  def shape(self):
    return collections.OrderedDict(self.axes)


@MODES
def test_cores_hand_a_token_around(interpret):
  """Each core waits for the one before it: the last one must run before the first can end."""

  def body(o_ref, sem):
    me, count = lax.axis_index("core"), lax.axis_size("core")
    is_first = me == 0
    pl.when(is_first)(lambda: pl.semaphore_signal(sem, 1, device_id={"core": me + 1}))
    pl.semaphore_wait(sem, jnp.where(is_first, count, me))
    o_ref[me] = 10 * me
    pl.when(~is_first)(lambda: pl.semaphore_signal(sem, me + 1, device_id={"core": lax.rem(me + 1, count)}))

  f = pl.kernel(body, S((4,), I32), mesh=cores(4), scratch_types=[REGULAR], interpret=interpret)
  same(f(), np.arange(4, dtype=np.int32) * 10)


@MODES
@pytest.mark.parametrize("scoped", [False, True], ids=["scratch", "scoped"])
def test_a_sum_goes_around_a_ring(interpret, scoped):
  """Each core copies what it got last to its neighbour, and adds what it gets, as often as there are others."""
  count = 3

  def body(x_ref, o_ref, *scratch):
    me = lax.axis_index("core")
    neighbour = lax.rem(me + 1, count)

    def run(mine, got, sent, arrived, ready):
      pltpu.sync_copy(x_ref.at[me], mine.at[0])
      total = mine[0]
      pltpu.core_barrier(ready, core_axis_name="core")

      def step(n, total):
        copy = pltpu.make_async_remote_copy(mine.at[n], mine.at[n + 1], sent, arrived, device_id={"core": neighbour})
        copy.start()
        copy.wait()
        return total + mine[n + 1]

      got[...] = lax.fori_loop(0, count - 1, step, total)
      pltpu.sync_copy(got, o_ref.at[me])
      pltpu.core_barrier(ready, core_axis_name="core")

    types = [pltpu.VMEM((count, 8), F32), pltpu.VMEM((8,), F32), DMA, DMA, REGULAR]
    pl.run_scoped(run, *types) if scoped else run(*scratch)

  types = [pltpu.VMEM((count, 8), F32), pltpu.VMEM((8,), F32), DMA, DMA, REGULAR]
  f = pl.kernel(body, S((count, 8), F32), mesh=cores(count), scratch_types=() if scoped else types, interpret=interpret)
  x = arange(count, 8)
  same(jax.jit(f)(x), np.broadcast_to(x.sum(0), x.shape))


@MODES
@pytest.mark.parametrize("device_id", [{"y": 1}, {"x": 1, "y": 0}, {("x", "y"): 4}, {("y", "x"): 3}], ids=str)
def test_some_axes_or_several_name_a_core(interpret, device_id):
  """Along axes that are not named a core means its own place. A tuple of axes has one number, the last one fastest."""

  mesh = Grid((("x", 2), ("y", 3)))
  wanted = np.zeros((2, 3), np.int32)
  for x, y in itertools.product(range(2), range(3)):
    to = {"x": x, "y": y}
    for axes, number in device_id.items():
      names = axes if isinstance(axes, tuple) else (axes,)
      to |= dict(zip(names, np.unravel_index(number, [dict(mesh.axes)[n] for n in names])))
    wanted[to["x"], to["y"]] += 10 * x + y + 1

  def body(o_ref, sems, all_here):
    x, y = lax.axis_index("x"), lax.axis_index("y")
    pl.semaphore_signal(sems.at[1], 10 * x + y + 1, device_id=device_id)
    for to in range(6):
      pl.semaphore_signal(all_here, 1, device_id={("x", "y"): to})
    pl.semaphore_wait(all_here, 6)
    o_ref[x, y] = pl.semaphore_read(sems.at[1])
    pl.semaphore_wait(sems.at[1], pl.semaphore_read(sems.at[1]))

  f = pl.kernel(body, S((2, 3), I32), mesh=mesh, scratch_types=[REGULAR((2,)), REGULAR], interpret=interpret)
  same(f(), wanted)


@MODES
@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_barrier_is_for_the_cores_along_its_axis(interpret, axis):
  def body(o_ref, sem):
    at = {name: lax.axis_index(name) for name in ("x", "y")}
    o_ref[0, at["x"], at["y"]] = 3 * at["x"] + at["y"]
    pltpu.core_barrier(sem, core_axis_name=axis)
    next_to = at | {axis: lax.rem(at[axis] + 1, lax.axis_size(axis))}
    o_ref[1, at["x"], at["y"]] = o_ref[0, next_to["x"], next_to["y"]]

  f = pl.kernel(body, S((2, 2, 3), I32), mesh=Grid((("x", 2), ("y", 3))), scratch_types=[REGULAR], interpret=interpret)
  x = np.arange(6, dtype=np.int32).reshape(2, 3)
  same(f(), np.stack([x, np.roll(x, -1, axis="xy".index(axis))]))


@MODES
def test_memory_of_a_scope_may_belong_to_all_cores(interpret):
  def body(o_ref, sem):
    me = lax.axis_index("core")

    def run(shared):
      shared[me] = me + 5
      pltpu.core_barrier(sem, core_axis_name="core")
      o_ref[me] = shared[1 - me]

    pl.run_scoped(run, pltpu.VMEM((2,), I32), collective_axes="core")

  f = pl.kernel(body, S((2,), I32), mesh=cores(), scratch_types=[REGULAR], interpret=interpret)
  same(f(), np.array([6, 5], np.int32))


@MODES
def test_what_was_read_before_a_wait_stays(interpret):
  """Natively values are computed where they are needed, but not from memory that another core may have changed by then."""

  def body(x_ref, o_ref, mine, sent, arrived, ready):
    me = lax.axis_index("core")
    mine[...] = x_ref[me]
    before = mine[...] * 3
    pltpu.core_barrier(ready, core_axis_name="core")
    pltpu.async_remote_copy(x_ref.at[2], mine, sent, arrived, device_id={"core": 1 - me}).wait()
    o_ref[me] = before + mine[...]

  scratch = [pltpu.VMEM((8,), F32), DMA, DMA, REGULAR]
  f = pl.kernel(body, S((2, 8), F32), mesh=cores(), scratch_types=scratch, interpret=interpret)
  x = arange(3, 8)
  same(f(x), 3 * x[:2] + x[2])


@MODES
def test_cores_that_all_wait_are_a_deadlock(interpret):
  def body(o_ref, sem):
    pl.semaphore_signal(sem, 1, device_id={"core": 0})
    pl.semaphore_wait(sem, 2)

  f = pl.kernel(body, S((2,), I32), mesh=cores(), scratch_types=[REGULAR], interpret=interpret)
  with pytest.raises(Exception, match=r"(?s)Deadlock.*test_cores\.py"):
    jax.block_until_ready(f())


@pytest.mark.parametrize("interpret", [NATIVE, pytest.param(True, id="portable")])
@pytest.mark.parametrize("count", [1, 2])
def test_a_core_that_does_not_exist_is_an_error(interpret, count):
  def body(o_ref, sem):
    pl.semaphore_signal(sem, 1, device_id={"core": 5})

  f = pl.kernel(body, S((2,), I32), mesh=cores(count), scratch_types=[REGULAR], interpret=interpret)
  with pytest.raises(Exception, match=r"no core of the number|does not exist|is for another core"):
    jax.block_until_ready(f())


def test_an_axis_that_does_not_exist_is_an_error():
  def body(o_ref, sem):
    pl.semaphore_signal(sem, 1, device_id={("core", "z"): 1})

  with pytest.raises(errors.GridError, match=r"names the axis 'z'.*\['core'\] of cores"):
    pl.kernel(body, S((2,), I32), mesh=cores(), scratch_types=[REGULAR])()


@MODES
def test_each_core_has_the_barrier_semaphore_of_the_kernel(interpret):
  """Cores meet at it, and then swap what they hold."""

  def body(x_ref, o_ref, own, theirs, sent, arrived):
    me = lax.axis_index("core")
    other = {"core": 1 - me}
    pltpu.sync_copy(x_ref.at[me], own)
    barrier = pltpu.get_barrier_semaphore()
    pl.semaphore_signal(barrier, 1, device_id=other)
    pl.semaphore_wait(barrier, 1)
    pltpu.async_remote_copy(own, theirs, sent, arrived, device_id=other).wait()
    pltpu.sync_copy(theirs, o_ref.at[me])

  x = jnp.arange(8, dtype=I32).reshape(2, 4)
  held = pltpu.VMEM((4,), I32)
  params = pltpu.CompilerParams(collective_id=0)
  f = pl.kernel(
    body, x, mesh=cores(), scratch_types=[held, held, DMA, DMA], compiler_params=params, interpret=interpret
  )
  same(f(x), np.asarray(x)[::-1])
