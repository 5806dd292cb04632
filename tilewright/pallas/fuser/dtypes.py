"""Types that exist only in a program, resolved to the arrays they are stored as.

A PRNG key is an array of words with a type of its own; a value of a user-defined (hijax) type is one or several arrays, and so is an
array of a user-defined element type (`fusion_types`). Memory knows none of them.
Before a program is fused they are resolved: its inputs are taken apart, and the equations work on
what is left.

    def f(x, key): return x * jax.random.bernoulli(key, 0.9, x.shape)
    physicalize(f)(x, key)       # the same; inside, the key is an array of two uint32
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from tilewright.pallas import fusion_types
from tilewright.pallas.fuser.inlining import lower_value, on_leaves
from tilewright.pallas.fuser.views import is_key
from tilewright.runtime import _jax

core = _jax.core


# A program over values of user-defined types that are not there yet, as under jit: it is run when they are taken apart.
late_p = core.Primitive("fused_program")
late_p.multiple_results = True
late_p.def_abstract_eval(lambda *_, run, out_avals: list(out_avals))
late_p.is_high = lambda *avals, **_: True
late_p.to_lojax = lambda *args, run, out_avals: run(args)


def run_on_arrays(closed: Any, args: Sequence[Any], run: Callable[[Any, Sequence[Any]], list[Any]]) -> list[Any]:
  """The outputs of `run(closed, args)` over arrays that are stored, put together to what the program's outputs are."""

  def resolved(values: Sequence[Any]) -> list[Any]:
    jaxpr, arrays, rebuild = resolve(closed, values)
    return rebuild(run(jaxpr, arrays))

  is_late = lambda x: isinstance(x, core.Tracer) and getattr(core.typeof(x), "is_high", False)
  if any(map(is_late, args)):
    out_avals = tuple(v.aval for v in closed.jaxpr.outvars)
    return late_p.bind(*args, run=resolved, out_avals=out_avals)
  return resolved(args)


def resolve(closed: Any, args: Sequence[Any]) -> tuple[Any, list[Any], Callable[[Sequence[Any]], list[Any]]]:
  """A jaxpr over arrays that are stored, those arrays, and how the outputs are put together again."""
  avals = [v.aval for v in closed.jaxpr.invars]
  out_avals = [v.aval for v in closed.jaxpr.outvars]
  special = lambda a: getattr(a, "is_high", False) or is_key(a)
  if not closed.jaxpr.is_high and not any(map(special, (*avals, *out_avals))):
    return closed, list(args), list
  detached, consts = _jax.detach(closed)
  values = [*consts, *args]
  if detached.is_high:
    detached, more = _jax.detach(_jax.pe.lower_jaxpr2(_jax.pe.close_jaxpr(detached)))
    values = [*more, *(v for x in values for v in lower_value(x))]
  in_avals = [v.aval for v in detached.invars]

  def wrapped(x: Any, aval: Any) -> Any:
    return _jax.prng.random_wrap(x, impl=aval.dtype._impl) if is_key(aval) else x

  def stored(*arrays: Any) -> list[Any]:
    outs = core.eval_jaxpr(detached, (), *(wrapped(x, a) for x, a in zip(arrays, in_avals)))
    return [jax.random.key_data(o) if is_key(core.typeof(o)) else o for o in outs]

  arrays = [jax.random.key_data(v) if is_key(core.typeof(v)) else v for v in values]
  new = _jax.trace(stored, [core.typeof(x) for x in arrays], closed.jaxpr.debug_info.with_unknown_names())

  def rebuild(outs: Sequence[Any]) -> list[Any]:
    left = iter(outs)
    found = []
    for aval in out_avals:
      parts = [wrapped(next(left), a) for a in (aval.lo_ty() if getattr(aval, "is_high", False) else [aval])]
      found.append(aval.raise_val(*parts) if getattr(aval, "is_high", False) else parts[0])
    return found

  return new, arrays, rebuild


def _evaluate(closed: Any, arrays: Sequence[Any]) -> list[Any]:
  body, consts = _jax.detach(closed)
  return core.eval_jaxpr(body, (), *consts, *arrays)


def without_packed(run: Callable[[Any, Sequence[Any]], list[Any]], closed: Any, arrays: Sequence[Any]) -> list[Any]:
  """The outputs of `run(closed, arrays)`, a program in which there may be arrays of user-defined element types, computed without them."""
  if not fusion_types.occur(closed):
    return run(closed, arrays)
  traced = _jax.trace(lambda *xs: run(closed, xs), [core.typeof(x) for x in arrays])
  body, consts = _jax.detach(traced)
  return fusion_types.resolved(body, [*consts, *arrays])


def physicalize(
  f: Callable[..., Any] | None = None,
  *,
  static_argnums: int | Sequence[int] | None = None,
  static_argnames: str | Iterable[str] | None = None,
) -> Any:
  """The same function, computed on the arrays that values are stored as.

  Args:
    f: the function. An output of a user-defined element type is the tuple of its arrays.
    static_argnums: positional arguments that are not arrays.
    static_argnames: named arguments that are not arrays.
  """
  if f is None:
    return functools.partial(physicalize, static_argnums=static_argnums, static_argnames=static_argnames)
  func = f
  positions = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums or ())
  names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames or ())

  @functools.wraps(func)
  def wrapper(*args: Any, **kwargs: Any) -> Any:
    fixed = {i % max(len(args), 1) for i in positions}
    static = {k: v for k, v in kwargs.items() if k in names}

    def on_arrays(*given: Any, **named: Any) -> Any:
      left = iter(given)
      return func(*(args[i] if i in fixed else next(left) for i in range(len(args))), **named, **static)

    dynamic = tuple(a for i, a in enumerate(args) if i not in fixed)
    named = {k: v for k, v in kwargs.items() if k not in names}
    leaves, in_tree = jax.tree.flatten((dynamic, named))
    flat, trees = on_leaves(on_arrays, in_tree)

    info = _jax.api_util.debug_info("physicalize", func, args, kwargs).with_unknown_names()
    closed = _jax.trace(flat, [core.typeof(x) for x in leaves], info)
    outs = run_on_arrays(closed, leaves, functools.partial(without_packed, _evaluate))
    return jax.tree.unflatten(trees[-1], outs)

  return wrapper


def resolve_fusion_dtypes(f: Callable[..., Any]) -> Callable[..., Any]:
  """Another name of `physicalize`."""
  return physicalize(f)
