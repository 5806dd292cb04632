"""The barrier semaphore on which the devices of a collective kernel synchronise.

Every device has one for each collective id (or tag); a kernel signals it on its neighbours and waits for their signals before it
writes to their memory. It outlives the instances of the call, so it is a global ref.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.primitives import Primitive, declare_ref_result, not_differentiable
from tilewright.pallas.trace_context import current_frame
from tilewright.target import xla
from tilewright.tile.grid import source_line
from tilewright.tile.memory import SemaphoreType

get_barrier_semaphore_p = Primitive("get_barrier_semaphore")
declare_ref_result(get_barrier_semaphore_p)
not_differentiable(get_barrier_semaphore_p)


def _ref_aval() -> Any:
  return SemaphoreType.BARRIER.get_ref_aval()


@get_barrier_semaphore_p.def_effectful_abstract_eval
def _(*, tag: Any) -> Any:
  return _ref_aval(), {effects.global_effect}


def get_barrier_semaphore(tag: Hashable | None = None) -> Any:
  """The barrier semaphore of this kernel, on this device.

  It belongs to the `collective_id` in the kernel's `CompilerParams`, or to `tag`. Wait it back down to zero before the kernel
  ends. Kernels with different patterns of communication must use different ids.
  """
  current_frame("pltpu.get_barrier_semaphore")
  return get_barrier_semaphore_p.bind(tag=tag)


def barrier_key(tag: Hashable | None) -> Hashable:
  """What names this semaphore among the global refs of a call."""
  return ("barrier_semaphore", tag)


def is_barrier_key(key: Hashable) -> bool:
  return isinstance(key, tuple) and key[:1] == ("barrier_semaphore",)


@xla.register_globals(get_barrier_semaphore_p)
def _(eqn: Any) -> Any:
  aval = _ref_aval()
  return [xla.GlobalRef(barrier_key(eqn.params["tag"]), aval, lambda: xla.poison(aval.shape, aval.dtype))]


@xla.register(get_barrier_semaphore_p)
def _(ctx: xla.Context, *, tag: Any) -> Any:
  check_collective_id(ctx.instance.kernel, tag, ctx.eqn)
  return ctx.instance.globals[barrier_key(tag)]


def check_collective_id(kernel: Any, tag: Any, eqn: Any) -> None:
  """Every target checks this: without an id or a tag, which devices share the semaphore is not known."""
  if tag is None and getattr(getattr(kernel, "compiler_params", None), "collective_id", None) is None:
    raise errors.CollectiveIdError(
      f"get_barrier_semaphore at {source_line(eqn)} needs a collective id: pass "
      "compiler_params=pltpu.CompilerParams(collective_id=...) to the call, or give it a tag."
    )
