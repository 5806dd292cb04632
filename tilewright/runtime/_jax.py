"""Every import from JAX's private modules, one line each with its reason.

Works with jax 0.10.2 and 0.11.x. Nothing else in the package imports `jax._src` or `jaxlib`.
"""

from __future__ import annotations

from typing import Any

import jax
from jax._src import (  # primitives of remat, custom rules and jit
  ad_checkpoint,
  api_util,  # debug_info: names and source lines of a traced function
  blocked_sampler,
  config,  # options that are part of jit's cache key
  core,  # Jaxpr, Primitive, avals, Ref, axis environment
  custom_derivatives,
  dispatch,
  dtypes,
  effects,
  pjit,
  source_info_util,
  state,
)
from jax._src import linear_util as lu  # WrappedFun, what the tracers take
from jax._src.interpreters import (
  ad,  # tables of differentiation rules
  batching,  # tables of vmap rules
  mlir,  # tables of lowering rules
)
from jax._src.interpreters import partial_eval as pe  # tracing, dead-code elimination, hijax lowering
from jax._src.lax import lax as lax_internal  # primitives of elementwise operations, for cost tables
from jax._src.lax.control_flow import conditionals, loops  # primitives of cond, scan and while
from jax._src.lax.eval_jaxpr import eval_jaxpr_p  # an inlined call, which custom rules leave behind
from jax._src.lax.parallel import axis_index_p  # axis_index over a named grid dimension
from jax._src.state import (
  discharge,
  indexing,
)
from jax._src.state import primitives as state_primitives  # get, swap, addupdate
from jax._src.state import types as state_types  # ref transforms: reshape, bitcast, transpose, select
from jax._src.state import utils as state_utils  # hoist_consts_to_refs, bitcast of a ref's value

Slice, ds, dslice = indexing.Slice, indexing.ds, indexing.dslice
JAX_VERSION: tuple[int, ...] = jax.__version_info__


def trace(fun: Any, in_avals: Any, debug_info: Any = None, *, what: str = "kernel") -> Any:
  """Trace `fun(*tracers) -> sequence of leaves` to a closed jaxpr."""
  info = debug_info or api_util.debug_info(what, fun, tuple(in_avals), {})
  jaxpr, _, consts = pe.trace_to_jaxpr_dynamic(lu.wrap_init(fun, debug_info=info), tuple(in_avals))
  return core.ClosedJaxpr(jaxpr, tuple(consts))


def open_jaxpr(jaxpr: Any) -> tuple[Any, tuple[Any, ...]]:
  """The bare jaxpr and its constants, whichever of the two forms JAX hands over."""
  if isinstance(jaxpr, core.ClosedJaxpr):
    return jaxpr.jaxpr, tuple(jaxpr.consts)
  return jaxpr, ()


def detach(closed: Any) -> tuple[Any, tuple[Any, ...]]:
  """A jaxpr that takes what were its constants as its first inputs, and those constants."""
  jaxpr, consts = open_jaxpr(closed)
  return pe.convert_constvars_jaxpr(jaxpr), consts


def varying_axes(avals: Any) -> frozenset[Any]:
  """The manual mesh axes along which any of the values differs between devices (empty outside of shard_map)."""
  found: frozenset[Any] = frozenset()
  for aval in avals:
    mat = getattr(aval, "manual_axis_type", None)
    found |= frozenset(getattr(mat, "varying", ()) or ())
  return found


def with_varying_axes(aval: Any, axes: Any) -> Any:
  """The array type with these varying manual mesh axes."""
  if not axes or not isinstance(aval, core.ShapedArray):
    return aval
  spec = jax.sharding.PartitionSpec(*(None,) * aval.ndim)
  sharding = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), spec)
  return aval.update(sharding=sharding, manual_axis_type=core.ManualAxisType(varying=frozenset(axes)))


def discharge_rule(primitive: Any) -> Any:
  """Register `rule(*args, **params) -> (new values of refs, outputs)`: how JAX turns the primitive's refs into values."""

  def add(rule: Any) -> Any:
    if JAX_VERSION < (0, 11):
      discharge.register_discharge_rule(primitive)(
        lambda in_avals, out_avals, /, *args, **params: rule(*args, **params)
      )
    else:
      discharge.register_discharge_rule(primitive)(lambda ctx, /, *args, **params: rule(*args, **params))
    return rule

  return add


def linearization(outs: Any, nonzeros: Any, residuals: Any, linear: Any) -> tuple[Any, ...]:
  """What a linearisation rule returns: jax 0.11 has a place for structured residuals in the middle."""
  return (outs, nonzeros, residuals, linear) if JAX_VERSION < (0, 11) else (outs, nonzeros, residuals, None, linear)


def trace_context() -> Any:
  """Everything in JAX's configuration that a traced jaxpr depends on."""
  return config.trace_context()
