"""Functions with user-defined rules: how they are split into blocks, and how a block is computed.

@fuser.custom_fusion
def dequantise(q, scales): return q.astype(jnp.float32) * jnp.repeat(scales, 64, axis=0)

@dequantise.def_pull_block_spec
def _(out_views): ...            # a view (fuser.BlockIndexTransform) of each operand, from those of the results

@dequantise.def_eval_rule
def _(ctx, q, scales): ...       # the blocks of the results, as a tuple; ctx.out_block_indices says which
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.inlining import on_leaves
from tilewright.pallas.fuser.table import Blocks, Site, define
from tilewright.pallas.fuser.views import UNUSED, NoBlockIndexTransform, View
from tilewright.pallas.lowering.table import lower_jaxpr, rule
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.runtime import _jax
from tilewright.target import xla

core = _jax.core
custom_fusion_p = core.Primitive("custom_fusion")
custom_fusion_p.multiple_results = True


@dataclasses.dataclass(frozen=True)
class CustomEvalContext:
  """Which blocks of the results an evaluation rule computes."""

  out_block_specs: tuple[Any, ...]
  out_block_indices: tuple[Any, ...]
  scalar_prefetch: Any = ()
  scalar_prefetch_handler: Any = None


class custom_fusion:
  """A function with rules of its own.

  Args:
    fun: what it computes on whole arrays.
  """

  def __init__(self, fun: Callable[..., Any]) -> None:
    functools.update_wrapper(self, fun)
    self.fun = fun
    self.eval_rule: Callable[..., Any] | None = None
    self.pull_block_spec_rule: Callable[..., Any] | None = None
    self.push_block_spec_rule: Callable[..., Any] | None = None
    self.pallas_impl: Callable[..., Any] | None = None

  def def_pull_block_spec(self, pull_block_spec_rule: Callable[..., Any]) -> Callable[..., Any]:
    """`rule(out_views)` gives a view of each operand; `pl.no_block_spec` for one that is needed whole."""
    self.pull_block_spec_rule = pull_block_spec_rule
    return pull_block_spec_rule

  def def_push_block_spec(self, push_block_spec_rule: Callable[..., Any]) -> Callable[..., Any]:
    """`rule(in_specs)` gives the block spec of each result."""
    self.push_block_spec_rule = push_block_spec_rule
    return push_block_spec_rule

  def def_eval_rule(self, eval_rule: Callable[..., Any]) -> Callable[..., Any]:
    """`rule(ctx, *blocks)` gives the block of each result."""
    self.eval_rule = eval_rule
    return eval_rule

  def def_pallas_impl(self, pallas_impl: Callable[..., Any]) -> Callable[..., Any]:
    """What to compute where the function is called inside a kernel."""
    self.pallas_impl = pallas_impl
    return pallas_impl

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    if self.pull_block_spec_rule is None or self.eval_rule is None:
      missing = "def_pull_block_spec" if self.pull_block_spec_rule is None else "def_eval_rule"
      name = getattr(self.fun, "__name__", "the function")
      raise errors.FusionError(f"custom_fusion: {name} has no rule yet; give it one with @{name}.{missing}.")
    leaves, in_tree = jax.tree.flatten((args, kwargs))
    avals = [core.typeof(x) for x in leaves]
    jaxpr, consts, out_tree = _traced(self.fun, in_tree, avals)
    inside, inside_consts = None, ()
    if self.pallas_impl is not None:
      inside, inside_consts, _ = _traced(self.pallas_impl, in_tree, avals)
    outs = custom_fusion_p.bind(
      *consts,
      *inside_consts,
      *leaves,
      jaxpr=core.ClosedJaxpr(jaxpr, ()),
      num_consts=len(consts),
      pallas_jaxpr=None if inside is None else core.ClosedJaxpr(inside, ()),
      num_pallas_consts=len(inside_consts),
      eval_rule=self.eval_rule,
      pull_block_spec_rule=self.pull_block_spec_rule,
      push_block_spec_rule=self.push_block_spec_rule,
    )
    return jax.tree.unflatten(out_tree, outs)


def _traced(f: Callable[..., Any], in_tree: Any, avals: Sequence[Any]) -> tuple[Any, tuple[Any, ...], Any]:
  flat, trees = on_leaves(f, in_tree)

  jaxpr, consts = _jax.detach(_jax.trace(flat, avals, what="custom_fusion"))
  return jaxpr, consts, trees[-1]


# Operands of the primitive: what the function closes over, what its implementation for kernels does, and the arguments.
# Rules are given the arguments only.


def _whole(args: Sequence[Any], params: Any) -> tuple[Any, list[Any]]:
  """The jaxpr of the function, and the operands it takes."""
  own = params["num_consts"]
  return _jax.open_jaxpr(params["jaxpr"])[0], [*args[:own], *args[own + params["num_pallas_consts"] :]]


def _in_kernel(args: Sequence[Any], params: Any) -> tuple[Any, list[Any]]:
  """What a kernel computes in place of the function, and the operands it takes."""
  if params["pallas_jaxpr"] is None:
    return _whole(args, params)
  return _jax.open_jaxpr(params["pallas_jaxpr"])[0], list(args[params["num_consts"] :])


def _num_consts(site: Site) -> int:
  return int(site.params["num_consts"] + site.params["num_pallas_consts"])


def _compute(*args: Any, **params: Any) -> list[Any]:
  jaxpr, operands = _whole(args, params)
  return core.eval_jaxpr(jaxpr, (), *operands)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  zeros = [_jax.ad.instantiate_zeros(t) if isinstance(t, _jax.ad.Zero) else t for t in tangents]
  return jax.jvp(functools.partial(_compute, **params), tuple(primals), tuple(zeros))


def _batch(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
  outs = jax.vmap(functools.partial(_compute, **params), in_axes=tuple(dims))(*args)
  return outs, [0] * len(outs)


custom_fusion_p.def_impl(_compute)


@custom_fusion_p.def_effectful_abstract_eval
def _types(*avals: Any, **params: Any) -> tuple[list[Any], Any]:
  jaxpr, places = _whole(range(len(avals)), params)
  is_input = lambda e: isinstance(e, _jax.effects.JaxprInputEffect)
  effects = {e.replace(input=places[e.input]) if is_input(e) else e for e in core.positional_effects(jaxpr)}
  return [v.aval for v in jaxpr.outvars], effects


_jax.mlir.register_lowering(custom_fusion_p, _jax.mlir.lower_fun(_compute, multiple_results=True))
_jax.ad.primitive_jvps[custom_fusion_p] = _jvp


@_jax.discharge_rule(custom_fusion_p)
def _discharge(*args: Any, **params: Any) -> tuple[list[Any], list[Any]]:
  """The function on the contents of the refs it closes over, and what it leaves in them."""
  jaxpr, places = _whole(range(len(args)), params)
  body, consts = _jax.detach(_jax.discharge.discharge_state(_jax.pe.close_jaxpr(jaxpr)))
  outs = core.eval_jaxpr(body, (), *consts, *(args[i] for i in places))
  refs = [i for i, v in zip(places, jaxpr.invars) if isinstance(v.aval, _jax.state_types.AbstractRef)]
  left: list[Any] = [None] * len(args)
  for i, x in zip(refs, outs[len(jaxpr.outvars) :]):
    left[i] = x
  return left, outs[: len(jaxpr.outvars)]


_jax.batching.primitive_batchers[custom_fusion_p] = _batch


# --- rules -------------------------------------------------------------------------------------------------------


def _pull(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  found = site.params["pull_block_spec_rule"](tuple(out_views))
  found = found if isinstance(found, tuple | list) else (found,)
  consts, avals = _num_consts(site), site.in_avals[_num_consts(site) :]
  if len(found) != len(avals):
    raise site.refuse(
      next(v for v in out_views if v is not UNUSED),
      f"its pull rule gave {len(found)} views for {len(avals)} operands",
      "Return one fuser.BlockIndexTransform for each.",
    )
  return [*[UNUSED] * consts, *(_as_view(v, a) for v, a in zip(found, avals))]


def _as_view(found: Any, aval: Any) -> View:
  if isinstance(found, View):
    return found if found.block_shape is None else found.replace(block_shape=tuple(found.block_shape))
  if found is None or found is no_block_spec or isinstance(found, NoBlockIndexTransform):
    return views.whole(aval)
  raise errors.FusionError(f"custom_fusion: a pull rule must give fuser.BlockIndexTransform, got {found!r}.")


def _plain(indices: Any) -> Any:
  return tuple(indices) if isinstance(indices, tuple) else indices


def _evaluate(blocks: Blocks, *args: Any) -> list[Any]:
  """Rules of users see blocks as kernels do: without squeezed dimensions."""
  avals, consts = blocks.site.in_avals, _num_consts(blocks.site)
  given = [
    None if v is UNUSED else jnp.reshape(x, views.kept_sizes(v, a.shape))
    for x, v, a in zip(args[consts:], blocks.in_views[consts:], avals[consts:])
  ]
  specs = tuple(
    no_block_spec
    if v is UNUSED
    else BlockSpec(v.block_shape, lambda *_, i=i: i, v.pipeline_mode, memory_space=v.memory_space)
    for v, i in zip(blocks.out_views, blocks.out_indices)
  )
  prefetched = blocks.program_indices[0].prefetched
  context = CustomEvalContext(specs, tuple(map(_plain, blocks.out_indices)), prefetched.scalars, prefetched.handler)
  outs = blocks.params["eval_rule"](context, *given)
  outs = outs if isinstance(outs, tuple | list) else (outs,)
  used = [i for i, v in enumerate(blocks.out_views) if v is not UNUSED]
  if len(outs) != len(blocks.out_views):
    raise errors.FusionError(
      f"custom_fusion: an evaluation rule must give {len(blocks.out_views)} blocks, one for each result, got "
      f"{len(outs)}."
    )
  found: list[Any] = [None] * len(outs)
  for i in used:
    found[i] = jnp.reshape(outs[i], blocks.out_sizes(i))
  return found


def _push(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  rule = site.params["push_block_spec_rule"]
  if rule is None:
    raise site.refuse(
      next(s for s in specs if s is not no_block_spec), "it has no push rule", "Give it one with def_push_block_spec."
    )
  found = rule(tuple(specs[_num_consts(site) :]))
  return list(found) if isinstance(found, tuple | list) else [found]


define(custom_fusion_p.name, pull=_pull, evaluate=_evaluate, push=_push)


# --- inside kernels ----------------------------------------------------------------------------------------------


@rule(custom_fusion_p.name)
def _lower_in_kernel(ctx: Any, *args: Any, **params: Any) -> Any:
  jaxpr, operands = _in_kernel(args, params)
  return lower_jaxpr(ctx.builder, jaxpr, (), operands)


@xla.register(custom_fusion_p)
def _evaluate_in_kernel(ctx: Any, *args: Any, **params: Any) -> list[Any]:
  jaxpr, operands = _in_kernel(args, params)
  return core.eval_jaxpr(jaxpr, (), *operands)
