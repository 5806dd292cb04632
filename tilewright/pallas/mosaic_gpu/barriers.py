"""Barriers (mbarrier) between the warpgroups of a CTA.

    ready = plgpu.Barrier(num_arrivals=1, num_barriers=2)      scratch memory: two barriers

    plgpu.barrier_arrive(ready.at[slot])                       in one warpgroup: what I did before this is done
    plgpu.barrier_wait(ready.at[slot])                         in another: until it is

A barrier has phases. A phase ends when `num_arrivals` warpgroups (or copies) have arrived, and the next one begins. Every warpgroup counts
its own waits: its n-th wait is for the n-th phase. So a phase must not end before every waiter of the preceding phase has seen it end: on a
GPU a barrier holds only the parity of the current phase.

In a CTA of one warpgroup only the warpgroup's own copies arrive at barriers. Where copies are synchronous (on targets other than GPUs), a
wait for arrivals that have not happened by then is a `DeadlockError`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import effects, semaphores
from tilewright.pallas.arity import describe_value
from tilewright.pallas.control import when
from tilewright.pallas.primitives import Primitive, ReadEffect, ShapedArray, WriteEffect, is_ref
from tilewright.pallas.trace_context import core_axes
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.memory import BlockBarrier, memory_ref


@dataclasses.dataclass(frozen=True)
class _BarrierMemory:
  """The memory space of barriers: shared memory."""

  is_tilewright_memory_space = True
  tile_space = "smem"

  def __str__(self) -> str:
    return "smem"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Barrier:
  """A barrier, or an array of them, as scratch memory: `Barrier(num_arrivals=2)`, `Barrier(num_barriers=4)`.

  `orders_tensor_core` has no effect: tensor-memory products are synchronous here.
  """

  num_arrivals: int = 1
  num_barriers: int | Sequence[int] = ()
  orders_tensor_core: bool = False

  def __post_init__(self) -> None:
    if not hasattr(self.num_arrivals, "__index__") or self.num_arrivals < 1:
      raise errors.GridError(f"Barrier: num_arrivals: Num arrivals must be at least 1, but got {self.num_arrivals}.")
    counts = self.num_barriers if isinstance(self.num_barriers, Sequence) else (self.num_barriers,)
    if not all(hasattr(n, "__index__") and n > 0 for n in counts):
      raise errors.GridError(f"Barrier: num_barriers: expected 1 or more, got {self.num_barriers}.")
    object.__setattr__(self, "num_barriers", tuple(counts))

  def get_array_aval(self) -> Any:
    return self.memory().get_array_aval()

  def get_ref_aval(self) -> Any:
    return self.memory().get_ref_aval()

  def memory(self, axes: tuple[str, ...] = (), *, of_leader: bool = False, guards_copies: bool = False) -> Any:
    """The allocation; with `axes`, for CTAs of a cluster that arrive at each other's barriers, or all at the first CTA's (`of_leader`).

    If it `guards_copies`, it says that memory which collective copies fill is free."""
    assert isinstance(self.num_barriers, tuple)
    kind = BlockBarrier(self.num_arrivals, axes, of_leader, guards_copies and bool(axes))
    return memory_ref(self.num_barriers, kind, _BarrierMemory())


def check_barrier(what: str, barrier: Any) -> Any:
  """One barrier, as a view."""
  if not is_ref(barrier):
    raise errors.RefTypeError(f"plgpu.{what}: barrier: expected a ref or a view of one, got {describe_value(barrier)}.")
  is_one = lambda dtype: isinstance(dtype, BlockBarrier)
  if not is_one(barrier.dtype):
    raise errors.MemorySpaceError(
      f"plgpu.{what}: barrier must be a SMEM reference to a barrier, got a ref of {barrier.dtype}. Allocate one with plgpu.Barrier()."
    )
  if math.prod(barrier.shape) != 1:
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: Attempting to operate on barrier without indexing, but `num_barriers = {math.prod(barrier.shape)}`. "
      "Pick one with barrier.at[i]."
    )
  return semaphores.view_of_one(barrier, f"plgpu.{what}: barrier", is_one, "barrier", "plgpu.Barrier()")


barrier_arrive_p = Primitive("barrier_arrive")
barrier_wait_p = Primitive("barrier_wait")
for _own in (barrier_arrive_p, barrier_wait_p):
  _own.multiple_results = True
  _own.def_effectful_abstract_eval(
    lambda *flat, **params: ([], {ReadEffect(0), WriteEffect(0), effects.semaphore_effect})
  )


def barrier_arrive(barrier: Any, *, predicate: jax.Array | None = None) -> None:
  """Arrive at a barrier: this warpgroup's earlier accesses happen before a wait returns there. With a `predicate`, only if it is true."""
  view = check_barrier("barrier_arrive", barrier)
  _arrivals(view)  # says what is wrong with its axes

  def arrive() -> None:
    kind = view.dtype
    if not kind.axes or kind.guards_copies:
      _arrive(view, along=kind.axes)
      return
    for each in _all_barriers(view, kind.axes)[: 1 if kind.of_leader else None]:
      _arrive(check_barrier("barrier_arrive", each))

  arrive() if predicate is None else when(predicate)(arrive)


_all_barriers: Callable[[Any, tuple[Any, ...]], list[Any]]


def arrives_at_all(f: Callable[[Any, tuple[Any, ...]], list[Any]]) -> Callable[[Any, tuple[Any, ...]], list[Any]]:
  """Register what gives the barriers of one name of all blocks of a cluster along some axes."""
  global _all_barriers
  _all_barriers = f
  return f


def _arrivals(view: Any) -> int:
  """The number of arrivals that end a phase, where each CTA copies for itself."""
  check_axes("ClusterBarrier", view.dtype.axes)
  if not view.dtype.axes or view.dtype.guards_copies:
    return int(view.dtype.arrivals)
  sizes = core_axes()
  return int(view.dtype.arrivals) * math.prod(sizes[axis] for axis in view.dtype.axes)


def check_axes(what: str, axes: Sequence[Any]) -> None:
  """The axes that an argument `collective_axes` names must exist."""
  sizes = core_axes()
  unknown = [axis for axis in axes if axis not in sizes]
  if unknown:
    raise errors.GridError(f"{what}: collective_axes: there is no axis {unknown[0]!r} among {list(sizes)}.")


def arrive_with_copy(barrier: Any, leader_axes: tuple[Any, ...] = (), along: tuple[Any, ...] = ()) -> None:
  """Make the copy just before this call arrive at a barrier on completion, asynchronously to this warpgroup.

  With `leader_axes`, the first CTA of a cluster along these axes tracks the copies of all: its wait is for the arrivals of each. The CTAs
  `along` other axes make the same copy.
  """
  _arrive(check_barrier("copy_gmem_to_smem", barrier), of_copy=True, leader_axes=leader_axes, along=along)


def _arrive(
  view: Any, *, of_copy: bool = False, leader_axes: tuple[Any, ...] = (), along: tuple[Any, ...] = ()
) -> None:
  flat, tree = _jax.flatten(view)
  barrier_arrive_p.bind(*flat, tree=tree, of_copy=of_copy, leader_axes=leader_axes, along=along)


def arrive_in_cluster(what: str, barrier: Any, axes: tuple[Any, ...]) -> None:
  """Arrive at the barrier of this name in each CTA of the cluster along some axes."""
  for each in _all_barriers(check_barrier(what, barrier), axes):
    _arrive(check_barrier(what, each))


def barrier_wait(barrier: Any) -> None:
  """Wait until the next phase of a barrier has ended."""
  _wait(check_barrier("barrier_wait", barrier), is_lazy=False)


def wait_before_use(barrier: Any) -> None:
  """The same for the copies that arrive there, wherever what they bring is first looked at."""
  _wait(check_barrier("barrier_wait", barrier), is_lazy=True)


def _wait(view: Any, *, is_lazy: bool) -> None:
  flat, tree = _jax.flatten(view)
  barrier_wait_p.bind(*flat, tree=tree, arrivals=_arrivals(view), is_lazy=is_lazy)


barrier_test_p = Primitive("barrier_test")
barrier_test_p.def_effectful_abstract_eval(
  lambda *flat, **params: (ShapedArray((), jnp.dtype(jnp.bool_)), {ReadEffect(0), effects.semaphore_effect})
)


def barrier_test(barrier: Any) -> jax.Array:
  """Whether the phase that the next `barrier_wait` of this warpgroup waits for has ended. It does not count as a wait."""
  view = check_barrier("barrier_test", barrier)
  flat, tree = _jax.flatten(view)
  return barrier_test_p.bind(*flat, tree=tree, arrivals=_arrivals(view))


# --- one warpgroup: arrivals are counted, and a wait subtracts them -----------------------------------------------


@xla.register(barrier_arrive_p)
def _(
  ctx: xla.Context, *flat: Any, tree: Any, of_copy: bool, leader_axes: tuple[Any, ...], along: tuple[Any, ...]
) -> list[Any]:
  view = _jax.unflatten(tree, flat)
  view.ref.write(view.transforms, view.ref.read(view.transforms) + 1)
  return []


@xla.register(barrier_wait_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, arrivals: int, is_lazy: bool) -> list[Any]:
  semaphores.take(_jax.unflatten(tree, flat), arrivals, ctx)
  return []


@xla.register(barrier_test_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, arrivals: int) -> Any:
  view = _jax.unflatten(tree, flat)
  return view.ref.read(view.transforms) >= arrivals
