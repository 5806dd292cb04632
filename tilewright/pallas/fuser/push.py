"""Push: derives the block specs of a program's outputs from those of its inputs.

    def f(z): return z.reshape(512, 2, 128).transpose(1, 0, 2)
    push_block_spec(f, pl.BlockSpec((64, 128), lambda i, j: (i, j)))(z_type)      # blocks of (1, 64, 128), index map
    (i, j) -> (j, i, 0)

A kernel has the block specs of its own results. Those of a fused epilogue's results follow from them:
push derives them, and the kernel then pulls the pushed spec back through the epilogue to derive the block specs of the
epilogue's other operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.fuser.inlining import inline, on_leaves, trace_flat
from tilewright.pallas.fuser.prefetch import scalar_prefetch_p
from tilewright.pallas.fuser.table import Site, rules_of
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.runtime import _jax

core = _jax.core


def push_block_spec(
  f: Callable[..., Any],
  *in_spec_args: Any,
  scalar_prefetch_handler: Any = None,
  grid_len: int | None = None,
  strict_mode: bool = True,
  **in_spec_kwargs: Any,
) -> Callable[..., Any]:
  """Find how the outputs of a function are cut.

  Args:
    f: the function.
    *in_spec_args: a block spec for each argument, or `pl.no_block_spec` for one that is to be cut as the others need.
    scalar_prefetch_handler: accepted for symmetry with `pull_block_spec`; index maps get the prefetched scalars as they
      are.
    grid_len: the number of grid dimensions, for index maps that take any number of arguments.
    strict_mode: accepted for symmetry with `pull_block_spec`.
    **in_spec_kwargs: block specs of arguments that are passed by name.

  Returns:
    A function of the types of the arguments that gives the block specs of the outputs, in their structure. An output
    that does not depend on any argument with a spec is cut like the first such argument of its shape.
  """

  def push(*args: Any, **kwargs: Any) -> Any:
    leaves, in_tree = jax.tree.flatten((args, kwargs))
    avals = [core.shaped_abstractify(x) if not isinstance(x, core.AbstractValue) else x for x in leaves]
    flat, trees = on_leaves(f, in_tree)

    jaxpr, consts = trace_flat(flat, avals, _jax.api_util.debug_info("push_block_spec", f, args, kwargs))
    is_spec = lambda s: s is no_block_spec or isinstance(s, BlockSpec)
    specs = jax.tree.leaves((in_spec_args, in_spec_kwargs), is_leaf=is_spec)
    if len(specs) != len(leaves):
      raise errors.TreeMismatchError(
        f"push_block_spec: there must be one BlockSpec (or pl.no_block_spec) for each of the {len(leaves)} arguments, "
        f"got {len(specs)}."
      )
    found = _push(jaxpr, [no_block_spec] * len(consts) + specs, grid_len)
    by_shape = {a.shape: s for s, a in reversed(list(zip(specs, avals))) if s is not no_block_spec}
    found = [by_shape.get(v.aval.shape, s) if s is no_block_spec else s for s, v in zip(found, jaxpr.outvars)]
    return jax.tree.unflatten(trees[-1], found)

  return push


def _push(jaxpr: Any, in_specs: list[Any], grid_len: int | None) -> list[Any]:
  env: dict[Any, Any] = dict(zip(jaxpr.invars, in_specs, strict=True))

  def read(atom: Any) -> Any:
    # Literals and what is closed over come without a spec.
    return no_block_spec if isinstance(atom, core.Literal) else env.get(atom, no_block_spec)

  def push_inside(closed: Any, specs: Any) -> list[Any]:
    body, consts = inline(*_jax.detach(closed))
    return _push(body, [no_block_spec] * len(consts) + list(specs), grid_len)

  for eqn in jaxpr.eqns:
    site = Site(eqn, lambda _: None, push_inside, lambda a, b, shape: a is b, grid_len=grid_len)
    given = [read(a) for a in eqn.invars]
    if eqn.primitive is scalar_prefetch_p or all(s is no_block_spec for s in given):
      continue
    env.update(zip(eqn.outvars, rules_of(site).push(site, given), strict=True))
  return [read(a) for a in jaxpr.outvars]
