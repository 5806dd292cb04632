"""The captured values of a fusion as arguments: arrays that are split into blocks, scalars that are prefetched, refs that
are read or written.

    w = jnp.ones((512, 512))
    def f(x): return x * w
    fn, values, scalars = get_fusion_values(f, x_type)      # values == (w,)
    fn(values, x)                                           # == f(x)

A kernel passes `values` as operands, cut by the specs that `pull_block_spec(fn, ...)` gives, and `scalars` as
prefetched scalars, each with a leading dimension of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.fuser.inlining import inline, on_leaves, trace_flat
from tilewright.pallas.fuser.prefetch import roots_of_index, scalar_prefetch_p
from tilewright.pallas.fuser.table import RULES, Site, Usage, needs_all
from tilewright.runtime import _jax

core = _jax.core
AbstractRef = _jax.state_types.AbstractRef


def get_fusion_values(
  fusion: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
  """Make what a function closes over arguments.

  Args:
    fusion: the function or `Fusion`.
    *args: types of its arguments (anything with a shape and a dtype).
    **kwargs: types of arguments that are passed by name.

  Returns:
    `fn, values, scalar_prefetch`: `fn(values, *args, **kwargs)` is the function; `values` are the arrays it uses, and
    `scalar_prefetch` the numbers on which depends where something is read.
  """
  fn, values, scalars, _ = _fusion_values(fusion, args, kwargs, reads=False, writes=False)
  return fn, values, scalars


def get_stateful_input_fusion_values(
  fusion: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
  """Like `get_fusion_values` for a function that reads refs: the refs are among the values, and `fn` takes their
  contents.

  Writes are left out.
  """
  fn, values, scalars, _ = _fusion_values(fusion, args, kwargs, reads=True, writes=False)
  return fn, values, scalars


def get_stateful_output_fusion_values(
  fusion: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], dict[int, int]]:
  """Like `get_fusion_values` for a function that reads and writes refs.

  `fn` takes the contents of the refs and returns `(results, new contents of the refs it writes)`; without writes, only
  the results. The fourth result says which leaf of what `fn` returns is to be written over which value: `{leaf:
  value}`.
  """
  return _fusion_values(fusion, args, kwargs, reads=True, writes=True)


def _is_ref(aval: Any) -> bool:
  return isinstance(aval, AbstractRef)


def _fusion_values(
  fusion: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, reads: bool, writes: bool
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], dict[int, int]]:
  leaves, in_tree = jax.tree.flatten((args, kwargs))
  avals = [core.shaped_abstractify(x) if not isinstance(x, core.AbstractValue) else x for x in leaves]
  flat, trees = on_leaves(fusion, in_tree)

  function = getattr(fusion, "func", fusion)
  info = _jax.api_util.debug_info("fusion", function if callable(function) else fusion, args, kwargs)
  jaxpr, consts = trace_flat(flat, avals, info.with_unknown_names())
  out_tree = trees[-1]
  if any(_is_ref(v.aval) for v in jaxpr.invars[: len(consts)]):
    if not reads:
      raise errors.FusionError(
        "get_fusion_values: the function uses a ref. Use get_stateful_input_fusion_values for one that reads refs, or "
        "get_stateful_output_fusion_values for one that also writes them."
      )
    jaxpr, consts, written = _discharged(jaxpr, consts, writes)
  else:
    written = ()
  captured = jaxpr.invars[: len(consts)]
  prefetched = _index_constants(jaxpr, set(captured))
  own = [i for i, v in enumerate(captured) if v not in prefetched]
  scalars = [i for i, v in enumerate(captured) if v in prefetched]
  num_outs = len(jaxpr.outvars) - len(written)

  def fn(values: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    given, tree = jax.tree.flatten((args, kwargs))
    if tree != in_tree:
      raise errors.TreeMismatchError(f"fusion: expected arguments of the structure {in_tree}, got {tree}.")
    operands: list[Any] = [None] * len(consts)
    for place, x in zip(own, values, strict=True):
      operands[place] = x
    for index, place in enumerate(scalars):
      operands[place] = scalar_prefetch_p.bind(consts[place], index=index)
    outs = core.eval_jaxpr(jaxpr, (), *operands, *given)
    results = jax.tree.unflatten(out_tree, outs[:num_outs])
    return (results, tuple(outs[num_outs:])) if written else results

  places = {place: i for i, place in enumerate(own)}
  leaf = out_tree.num_leaves
  aliases = {leaf + i: places[place] for i, place in enumerate(written)}
  return fn, tuple(consts[i] for i in own), tuple(consts[i] for i in scalars), aliases


def _discharged(jaxpr: Any, consts: tuple[Any, ...], writes: bool) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
  """Refs become their contents.

  What was written to them becomes outputs, or is dropped with all that was only for it.
  """
  num_outs, num = len(jaxpr.outvars), len(consts)
  refs = [i for i, v in enumerate(jaxpr.invars[:num]) if _is_ref(v.aval)]
  body, more = _jax.detach(_jax.discharge.discharge_state(_jax.pe.close_jaxpr(jaxpr)))
  body, more = inline(body, more)
  if more:
    raise errors.FusionError("A fusion with refs closes over constants; pass them as arguments.")
  contents = body.outvars[num_outs:]
  written = [i for i, o in zip(refs, contents) if o is not body.invars[i] and writes]
  outvars = [*body.outvars[:num_outs], *(o for i, o in zip(refs, contents) if i in written)]
  body = body.replace(outvars=outvars, debug_info=body.debug_info.with_unknown_names())
  keep = [i >= num or i in written for i in range(len(body.invars))]
  body, used = _jax.pe.dce_jaxpr(body, [True] * len(outvars), instantiate=keep)
  kept = [i for i in range(num) if used[i]]
  return body, tuple(consts[i] for i in kept), tuple(kept.index(i) for i in written)


def _index_constants(jaxpr: Any, constants: set[Any]) -> set[Any]:
  """The constants from which indices are computed that say where a block lies."""
  found: set[Any] = set()
  for eqn in jaxpr.eqns:
    rules = RULES.get(eqn.primitive.name)
    if rules is None or rules.usage is needs_all:
      continue
    site = Site(eqn, lambda _: None, lambda *_: None, lambda a, b, shape: a is b)
    usage = rules.usage(site, [True] * len(eqn.outvars))
    for atom, how in zip(eqn.invars, usage):
      if how & Usage.INDEX:
        roots = roots_of_index(jaxpr, atom)
        if roots is not None and roots <= constants:
          found |= roots
  return found
