"""A grid inside a kernel: in the body and the index maps of a pipeline, `program_id` and `num_programs` mean the pipeline's own grid.

An index map is called with the current indices, and `program_id` returns those. The body is traced once with the inner grid around it. If
the resulting jaxpr reads its position, it is replayed with those equations replaced by the current values; equations with such nested
jaxprs (branches, loops, scoped memory) are rebuilt around replayed bodies. Otherwise it is inlined unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import jaxprs
from tilewright.pallas.arity import check_takes
from tilewright.pallas.primitives import num_programs_p, program_id_p
from tilewright.pallas.scoped import run_scoped_p
from tilewright.pallas.specs import BlockSpec
from tilewright.pallas.trace_context import GridFrame, GridPoint, tracing_kernel
from tilewright.runtime import _jax
from tilewright.tile.grid import source_line


def index_map_in_grid(spec: BlockSpec, sizes: Sequence[Any]) -> BlockSpec:
  """The spec with an index map that runs at the point of the inner grid for which it is called."""
  index_map = spec.index_map
  if index_map is None:
    return spec

  def at_point(*indices: Any) -> Any:
    with tracing_kernel(_frame(sizes), GridPoint(indices, tuple(sizes))):
      check_takes(
        index_map, "emit_pipeline: the index map", "the grid indices", indices, error=errors.IndexMapArityError
      )
      return index_map(*indices)

  return spec.replace(index_map=at_point)


def _frame(sizes: Sequence[Any]) -> GridFrame:
  return GridFrame(tuple(s if isinstance(s, int) else None for s in sizes))


def call_in_grid(f: Callable[[], None], point: GridPoint) -> None:
  """Call `f` as the body of an instance at `point`."""

  def flat() -> list[Any]:
    f()
    return []

  with tracing_kernel(_frame(point.sizes)):
    closed = _jax.trace(flat, (), what="pipeline body")
  jaxpr, consts = _jax.open_jaxpr(closed)
  _replay(jaxpr, consts, (), point)


def _asks_for_position(jaxpr: Any) -> bool:
  return any(eqn.primitive in (program_id_p, num_programs_p) or _holds_position(eqn) for eqn in jaxpr.eqns)


def _holds_position(eqn: Any) -> bool:
  return any(_asks_for_position(_jax.open_jaxpr(inner.jaxpr)[0]) for inner in jaxprs.inner_jaxprs(eqn))


def _replay(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], point: GridPoint) -> list[Any]:
  if not _asks_for_position(jaxpr):
    return _jax.core.eval_jaxpr(jaxpr, consts, *args)
  env: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

  def value_of(atom: Any) -> Any:
    return atom.val if isinstance(atom, _jax.core.Literal) else env[atom]

  for eqn in jaxpr.eqns:
    operands = [value_of(v) for v in eqn.invars]
    name_stack = _jax.source_info_util.current_name_stack() + eqn.source_info.name_stack
    with _jax.source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
      out = _replay_eqn(eqn, operands, point)
    env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
  return [value_of(v) for v in jaxpr.outvars]


def _replay_eqn(eqn: Any, operands: list[Any], point: GridPoint) -> Any:
  if eqn.primitive is program_id_p:
    return jnp.asarray(point.indices[eqn.params["axis"]], jnp.int32)
  if eqn.primitive is num_programs_p:
    return jnp.asarray(point.sizes[eqn.params["axis"]], jnp.int32)
  if not _holds_position(eqn):
    return eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params))
  if (rule := _replay_rules.get(eqn.primitive)) is None:
    raise errors.UnsupportedPrimitiveError(
      f"pl.program_id is used inside of '{eqn.primitive}' at {source_line(eqn)} in the body of a pipeline. Read it before and "
      "pass the value."
    )
  return rule(eqn.params, operands, point)


# --- equations with bodies ---------------------------------------------------------------------------------------


def _function(closed: Any, point: GridPoint) -> Callable[..., list[Any]]:
  jaxpr, consts = _jax.open_jaxpr(closed)
  return lambda *args: _replay(jaxpr, consts, args, point)


def _cond(params: Any, operands: list[Any], point: GridPoint) -> list[Any]:
  index, *args = operands
  # The operands are closed over: among them may be refs, which lax.switch takes in this way only.
  return lax.switch(index, [lambda b=b: _function(b, point)(*args) for b in params["branches"]])


def _scan(params: Any, operands: list[Any], point: GridPoint) -> list[Any]:
  num_consts, num_carry = _jax.scan_counts(params)
  consts, init, xs = (
    operands[:num_consts],
    operands[num_consts : num_consts + num_carry],
    operands[num_consts + num_carry :],
  )
  body = _function(params["jaxpr"], point)

  def step(carry: list[Any], x: list[Any]) -> tuple[list[Any], list[Any]]:
    out = body(*consts, *carry, *x)
    return out[:num_carry], out[num_carry:]

  carry, ys = lax.scan(step, init, xs, length=params["length"], reverse=params["reverse"], unroll=params["unroll"])
  return [*carry, *ys]


def _while(params: Any, operands: list[Any], point: GridPoint) -> list[Any]:
  num_cond, num_body = params["cond_nconsts"], params["body_nconsts"]
  cond_consts, body_consts = operands[:num_cond], operands[num_cond : num_cond + num_body]
  cond, body = _function(params["cond_jaxpr"], point), _function(params["body_jaxpr"], point)
  return lax.while_loop(
    lambda carry: cond(*cond_consts, *carry)[0],
    lambda carry: body(*body_consts, *carry),
    operands[num_cond + num_body :],
  )


def _scoped(params: Any, operands: list[Any], point: GridPoint) -> list[Any]:
  jaxpr = params["jaxpr"]
  scoped = [v.aval for v in jaxpr.invars[len(operands) :]]
  inner = _jax.trace(lambda *refs: _replay(jaxpr, (), (*operands, *refs), point), scoped, what="run_scoped")
  detached, consts = _jax.detach(inner)
  return run_scoped_p.bind(*consts, **{**params, "jaxpr": detached})


def _inline(name: str) -> Callable[..., list[Any]]:
  return lambda params, operands, point: _function(params[name], point)(*operands)


_replay_rules: dict[Any, Callable[[Any, list[Any], GridPoint], list[Any]]] = {
  _jax.conditionals.cond_p: _cond,
  _jax.loops.scan_p: _scan,
  _jax.loops.while_p: _while,
  run_scoped_p: _scoped,
  _jax.pjit.jit_p: _inline("jaxpr"),
  _jax.core.closed_call_p: _inline("call_jaxpr"),
  _jax.core.call_p: _inline("call_jaxpr"),
  _jax.eval_jaxpr_p: _inline("jaxpr"),
  _jax.custom_derivatives.custom_jvp_call_p: _inline("call_jaxpr"),
  _jax.custom_derivatives.custom_vjp_call_p: _inline("call_jaxpr"),
  _jax.ad_checkpoint.remat_p: _inline("jaxpr"),
}
