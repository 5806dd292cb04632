"""How jaxprs show what kernels do with memory, in the notation of JAX for refs:

    dma_start(p0) a[:4,:] -> c[f:f+4,:] d[1]       copy a part of `a` to a part of `c`; semaphore 1 of `d` counts its bytes
    semaphore_signal e[...] 2:i32[]
    i:f32[2,8] <- a[:2,:] mask=h                   a masked load
    _:f32[2,8], b[:2,:] <- b[:2,:], i mask=j       a masked store

Copies to other devices, and signals of other cores, are shown with all of their parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.pallas import dma, primitives, semaphores
from tilewright.runtime import _jax

core, pp = _jax.core, _jax.core.pp


def _view(view: Any, context: Any) -> Any:
  return _jax.state_primitives.pp_ref_transforms(context, view.ref, view.transforms)


def _shows(primitive: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator: `f(eqn, parts, context)` gives the words of an equation, or None if it is to be shown as any other."""

  def add(f: Callable[..., Any]) -> Callable[..., Any]:
    def rule(eqn: Any, context: Any, settings: Any) -> Any:
      words = f(eqn, _jax.unflatten(eqn.params["tree"], eqn.invars), context)
      if words is None:
        return core._pp_eqn(eqn, context, settings)
      line = _jax.source_info_util.summarize(eqn.source_info) if settings.source_info else None
      docs = [pp.text(w) if isinstance(w, str) else w for w in words]
      name = core.pp_vars(eqn.outvars, context, print_shapes=settings.print_shapes) if eqn.outvars else None
      start = [] if name is None else [name]
      return pp.concat([*start, pp.text("", annotation=line), *docs])

    core.pp_eqn_rules[primitive] = rule
    return f

  return add


@_shows(dma.dma_start_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any] | None:
  source, target, counted, sent, device_id, other_core = parts
  if sent is not None or device_id is not None or other_core is not None:
    return None
  how = f"dma_start(p{eqn.params['priority']}{', add' if eqn.params['add'] else ''}) "
  return [how, _view(source, context), " -> ", _view(target, context), " ", _view(counted, context)]


@_shows(dma.dma_wait_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any]:
  moved, counted = parts
  return ["dma_wait ", _view(moved, context), " ", _view(counted, context)]


@_shows(semaphores.semaphore_signal_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any] | None:
  view, by, device_id, other_core = parts
  if other_core is not None or isinstance(device_id, dict | tuple):
    return None
  device = [] if device_id is None else [" ", core.pp_var(device_id, context)]
  return ["semaphore_signal ", _view(view, context), " ", core.pp_var(by, context), *device]


@_shows(semaphores.semaphore_wait_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any]:
  view, by = parts
  how = "semaphore_wait[dec] " if eqn.params["decrement"] else "semaphore_wait "
  return [how, _view(view, context), " ", core.pp_var(by, context)]


@_shows(primitives.masked_load_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any]:
  view, mask, other = parts
  shown = [] if mask is None else [" mask=", core.pp_var(mask, context)]
  shown += [] if other is None else [" other=", core.pp_var(other, context)]
  return [" <- ", _view(view, context), *shown]


@_shows(primitives.masked_swap_p)
def _(eqn: Any, parts: Any, context: Any) -> list[Any]:
  view, value, mask = parts
  where = _view(view, context)
  shown = [] if mask is None else [" mask=", core.pp_var(mask, context)]
  return [", ", where, " <- ", where, ", ", core.pp_var(value, context), *shown]
