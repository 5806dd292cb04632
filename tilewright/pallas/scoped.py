"""Memory allocated inside a kernel: `run_scoped` allocates for the duration of a call, `get_global` for the whole kernel.

    pl.run_scoped(lambda scratch, arrived: ..., pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA)

A scope is one equation: its jaxpr takes the values it closes over, then the refs, which a target allocates when it reaches the equation.
Differentiation adds to every float ref of the scope a tangent ref.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import effects, high_types
from tilewright.pallas.arity import check_takes
from tilewright.pallas.foreign import own_scratch
from tilewright.pallas.primitives import AbstractRef, Primitive, ShapedArray, TransformedRef, declare_ref_result
from tilewright.pallas.trace_context import current_frame, outside_kernel
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.grid import source_line
from tilewright.tile.memory import SemaphoreType

run_scoped_p = Primitive("run_scoped")
run_scoped_p.multiple_results = True


def ref_aval_of(ty: Any, what: str) -> Any:
  """The ref that a scratch type allocates."""
  ty = own_scratch(ty)
  if hasattr(ty, "get_ref_aval"):
    aval = ty.get_ref_aval()
    return aval.type if isinstance(aval, TransformedRef) else aval
  if isinstance(ty, AbstractRef):
    return ty
  if isinstance(ty, _jax.core.AbstractValue):
    return AbstractRef(ty)
  if hasattr(ty, "shape") and hasattr(ty, "dtype"):
    return AbstractRef(ShapedArray(ty.shape, ty.dtype))
  raise errors.MemorySpaceError(
    f"{what}: cannot allocate {ty!r}. Expected a memory space called with a shape and a dtype, as in "
    "pltpu.VMEM((8, 128), jnp.float32), or a semaphore type."
  )


def begin(types: Sequence[Any], refs: Sequence[Any]) -> None:
  """Write the initial values of the scratch types that have some (those with a `begin` method)."""
  for ty, ref in zip(types, refs):
    if hasattr(ty, "begin"):
      ty.begin(ref)


def shown(ref: Any) -> Any:
  """A ref as a body gets it: a memory space with a `shown` method may add transforms to it."""
  space: Any = getattr(_jax.core.typeof(ref), "memory_space", None)
  return space.shown(ref) if hasattr(space, "shown") else ref


def is_scratch_type(x: Any) -> bool:
  return hasattr(x, "get_ref_aval") or isinstance(x, _jax.core.AbstractValue | jax.ShapeDtypeStruct)


def run_scoped(
  f: Callable[..., Any],
  *types: Any,
  collective_axes: Hashable | tuple[Hashable, ...] = (),
  **kw_types: Any,
) -> Any:
  """Call `f` with freshly allocated refs of the given types, and free them when it returns.

  Those of `types` are positional arguments of `f`, those of `kw_types` keyword arguments; each may be a tree. With
  `collective_axes`, all instances that differ only along these axes get the same allocation. What cannot be allocated is a
  `MemorySpaceError`.
  """
  if not isinstance(collective_axes, tuple):
    collective_axes = (collective_axes,)
  flat_types, in_tree = jax.tree.flatten((types, kw_types), is_leaf=is_scratch_type)
  avals = [ref_aval_of(t, "pl.run_scoped") for t in flat_types]
  out_trees: list[Any] = []

  def flat_f(*flat_refs: Any) -> list[Any]:
    begin(flat_types, flat_refs)
    args, kwargs = jax.tree.unflatten(in_tree, [shown(ref) for ref in flat_refs])
    check_takes(f, "pl.run_scoped: the function", "a ref for each type to allocate", args, kwargs)
    leaves, tree = jax.tree.flatten(f(*args, **kwargs))
    out_trees.append(tree)
    return leaves

  # Refs and values captured from the enclosing scope become operands, before the scoped refs.
  jaxpr, consts = _jax.detach(_jax.trace(flat_f, avals, what="run_scoped"))
  out = run_scoped_p.bind(*consts, jaxpr=jaxpr, collective_axes=collective_axes)
  return jax.tree.unflatten(out_trees[-1], out)


def with_scoped(
  *types: Any, collective_axes: Hashable | tuple[Hashable, ...] = (), **kw_types: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator that calls a function with allocations of the given types after its own arguments; see `run_scoped` for all arguments."""

  def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
      return run_scoped(functools.partial(f, *args, **kwargs), *types, collective_axes=collective_axes, **kw_types)

    return wrapper

  return decorator


@run_scoped_p.def_effectful_abstract_eval
def _(*avals: Any, jaxpr: Any, collective_axes: Any) -> Any:
  outer = set()
  for effect in _jax.core.positional_effects(jaxpr):
    if isinstance(effect, _jax.effects.JaxprInputEffect):
      if effect.input < len(avals):
        outer.add(effect)
    else:
      outer.add(effect)
  return [v.aval for v in jaxpr.outvars], outer


def check_alone(collective_axes: Sequence[Hashable], sizes: Mapping[Any, Any], where: str) -> None:
  """Reject memory that several instances would share, on targets where memory is private to an instance; an axis of unknown size may have
  several."""
  shared = [axis for axis in collective_axes if sizes.get(axis) != 1]
  if shared:
    raise errors.UnsupportedFeatureError(
      f"pl.run_scoped at {where}: collective_axes: instances along {', '.join(map(repr, shared))} would share the memory, which only the "
      "simulated machine can do. Use interpret=pltpu.InterpretParams(), or pass the memory as an operand."
    )


def allocate(aval: Any, *, finite: bool = False) -> Any:
  """The first value of a scoped ref: zero for semaphores, else poison, or with `finite` zeros (see `xla.run`)."""
  return (xla.zeros if finite else xla.poison)(aval.shape, aval.dtype)


def _to_lojax(*args: Any, jaxpr: Any, collective_axes: Any) -> list[Any]:
  body = high_types.lowered(jaxpr, "pl.run_scoped")
  outs = run_scoped_p.bind(*high_types.lower_values(args), jaxpr=body, collective_axes=collective_axes)
  return _jax.pe.raise_lo_outs([v.aval for v in jaxpr.outvars], outs)


run_scoped_p.to_lojax = _to_lojax


@run_scoped_p.def_impl
def _(*_: Any, **__: Any) -> Any:
  raise outside_kernel("pl.run_scoped")


@xla.register(run_scoped_p)
def _(ctx: xla.Context, *consts: Any, jaxpr: Any, collective_axes: Any) -> list[Any]:
  check_alone(collective_axes, dict(zip(ctx.instance.axis_indices, ctx.instance.sizes)), source_line(ctx.eqn))
  scoped = [xla.Cell(allocate(v.aval, finite=ctx.instance.finite), v.aval) for v in jaxpr.invars[len(consts) :]]
  return ctx.evaluate(jaxpr, (), [*consts, *scoped])


@functools.partial(_jax.ad.primitive_jvps.__setitem__, run_scoped_p)
def _(primals: Any, tangents: Any, *, jaxpr: Any, collective_axes: Any) -> Any:
  num_consts, num_scoped = len(primals), len(jaxpr.invars) - len(primals)
  scoped_nonzero = [jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in jaxpr.invars[num_consts:]]
  nonzero = [not isinstance(t, _jax.ad.Zero) for t in tangents]
  jvp_jaxpr, out_nonzero = _jax.ad.jvp_jaxpr(_jax.pe.close_jaxpr(jaxpr), [*nonzero, *scoped_nonzero], instantiate=False)
  body, consts = _jax.open_jaxpr(jvp_jaxpr)
  dot_consts = sum(nonzero)

  def reordered(*args: Any) -> list[Any]:
    const_p, const_t = args[:num_consts], args[num_consts : num_consts + dot_consts]
    scoped_p = args[num_consts + dot_consts :][:num_scoped]
    scoped_t = args[num_consts + dot_consts + num_scoped :]
    return _jax.core.eval_jaxpr(body, consts, *const_p, *scoped_p, *const_t, *scoped_t)

  scoped_avals = [v.aval for v in jaxpr.invars[num_consts:]]
  tangent_avals = [a.to_tangent_aval() for a, nz in zip(scoped_avals, scoped_nonzero) if nz]
  live = [t for t in tangents if not isinstance(t, _jax.ad.Zero)]
  avals = [_jax.core.typeof(x) for x in (*primals, *live)]
  new, more = _jax.detach(_jax.trace(reordered, [*avals, *scoped_avals, *tangent_avals], what="run_scoped"))
  out = run_scoped_p.bind(*more, *primals, *live, jaxpr=new, collective_axes=collective_axes)
  num_out = len(jaxpr.outvars)
  dots = iter(out[num_out:])
  return out[:num_out], [next(dots) if nz else _jax.zero_tangent(p) for p, nz in zip(out, out_nonzero)]


get_global_p = Primitive("get_global")
declare_ref_result(get_global_p)


class _GlobalKey:
  """Identifies the ref of a `get_global` call: each traced call has its own."""


@get_global_p.def_effectful_abstract_eval
def _(*, aval: Any, key: Any) -> Any:
  return aval, {effects.global_effect}


def get_global(what: Any) -> Any:
  """A ref of the type `what` that lives as long as the whole kernel call and is shared by all instances.

  Each call in the kernel's source returns a different ref.
  """
  current_frame("pl.get_global")
  return get_global_p.bind(aval=ref_aval_of(what, "pl.get_global"), key=_GlobalKey())


core_semaphore_p = Primitive("core_semaphore")
declare_ref_result(core_semaphore_p)
core_semaphore_p.def_effectful_abstract_eval(lambda *, aval, key: (aval, {effects.global_effect}))


def core_semaphore() -> Any:
  """A semaphore, initially zero, private to each core of a mesh and live for the whole kernel, for cores that run concurrently."""
  return core_semaphore_p.bind(aval=SemaphoreType.REGULAR.get_ref_aval(), key=_GlobalKey())


@xla.register_globals(get_global_p)
def _(eqn: Any) -> Any:
  aval = eqn.params["aval"]
  return [xla.GlobalRef(eqn.params["key"], aval, lambda: allocate(aval))]


@xla.register(get_global_p)
def _(ctx: xla.Context, *, aval: Any, key: Any) -> Any:
  return ctx.instance.globals[key]
