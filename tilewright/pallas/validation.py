"""Validation of a traced kernel call: aliases, writes to inputs, and misplaced effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.pallas import effects, jaxprs
from tilewright.runtime import _jax
from tilewright.tile.grid import GridMapping, source_line
from tilewright.tile.memory import is_semaphore


def flat_aliases(
  aliases: Mapping[int, int],
  in_avals: Sequence[Any],
  out_avals: Sequence[Any],
  in_paths: Sequence[str],
  out_paths: Sequence[str],
) -> tuple[tuple[int, int], ...]:
  """The user's aliases, checked, between the arrays that operands and outputs consist of."""
  in_starts, out_starts = _starts(in_avals), _starts(out_avals)
  num_scalars = len(in_avals) - len(in_paths)
  paths = [f"[{i}]" for i in range(num_scalars)] + [p.removeprefix("args") for p in in_paths]
  result: list[tuple[int, int]] = []
  for into, out in aliases.items():
    if not 0 <= into < len(in_avals):
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' with input index {into} outside the range "
        f"[0, {len(in_avals)}). Write {{number of an operand: number of an output}}, prefetched scalars counted."
      )
    if not 0 <= out < len(out_avals):
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' with output index {out} outside the range "
        f"[0, {len(out_avals)}). Write {{number of an operand: number of an output}}."
      )
    a, b = in_avals[into], out_avals[out]
    same = a == b if a.is_high or b.is_high else (a.shape, a.dtype) == (b.shape, b.dtype)
    if not same:
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' referring to input{paths[into]} with abstract value {a} "
        f"and to output{out_paths[out].removeprefix('outputs')} with a different abstract value {b}."
        " An output takes the buffer of its operand: give both one shape and dtype, or leave the alias out."
      )
    result += [(in_starts[into] + k, out_starts[out] + k) for k in range(in_starts[into + 1] - in_starts[into])]
  outs = [o for _, o in result]
  if len(set(outs)) != len(outs):
    raise errors.AliasError(f"input_output_aliases maps two inputs to one output: {dict(aliases)}.")
  return tuple(result)


def _starts(avals: Sequence[Any]) -> list[int]:
  starts = [0]
  for a in avals:
    starts.append(starts[-1] + (len(a.lo_ty()) if a.is_high else 1))
  return starts


def input_writes(
  jaxpr: Any, grid_mapping: GridMapping, aliases: Sequence[tuple[int, int]], captured_refs: Sequence[int] = ()
) -> dict[int, str]:
  """The inputs that a kernel writes though they are not aliased to an output: by operand number, the name and the line.

  Prefetched scalars, semaphores and captured refs, which the kernel may write, are not among them.
  """
  shared = {*(into for into, _ in aliases), *captured_refs}
  written = jaxprs.written_inputs(jaxpr)
  found = {}
  for i, m in enumerate(grid_mapping.input_mappings, grid_mapping.num_prefetch):
    var = jaxpr.invars[i]
    if var in written and i not in shared and not is_semaphore(var.aval.dtype):
      eqn = jaxprs.find_write(jaxpr, var)
      where = source_line(eqn) if eqn is not None else "an unknown line"
      found[i] = f"The kernel writes to {m.origin}, which is an input, at {where}."
  return found


def check_effects(jaxpr: Any) -> None:
  """Reject effects inside rematerialisation that are not safe to repeat."""
  for eqn in jaxpr.eqns:
    unsafe = {e for e in eqn.effects if isinstance(e, effects.KernelEffect)} - effects.SAFE_TO_REPEAT
    if eqn.primitive is _jax.ad_checkpoint.remat_p and unsafe:
      names = ", ".join(sorted(map(str, unsafe)))
      raise errors.EffectError(
        f"The function called at {source_line(eqn)} has the effects {names}, but jax.checkpoint may run its function twice. "
        "Move what has these effects out of it."
      )
    for inner in jaxprs.inner_jaxprs(eqn):
      check_effects(_jax.open_jaxpr(inner.jaxpr)[0])


def check_options(aliases: Any, compiler_params: Any, cost_estimate: Any, metadata: Any) -> None:
  """Check the types of a call's options."""
  try:
    pairs = [(a, b) for a, b in dict(aliases).items()]
  except (TypeError, ValueError):
    pairs = [(aliases, None)]
  if not all(hasattr(n, "__index__") for pair in pairs for n in pair):
    raise errors.AliasError(
      f"input_output_aliases must be a dict from numbers of inputs to numbers of outputs, as in {{0: 0}}, got {aliases!r}."
    )
  if compiler_params is not None and isinstance(compiler_params, type | str | int | float | Mapping | Sequence):
    raise errors.KernelTypeError(
      f"compiler_params must be the CompilerParams of a target, as in pltpu.CompilerParams(...), got {compiler_params!r}."
    )
  if cost_estimate is not None and not hasattr(cost_estimate, "flops"):
    raise errors.KernelTypeError(f"cost_estimate must be a pl.CostEstimate, got {cost_estimate!r}.")
  if metadata is not None and not isinstance(metadata, Mapping):
    raise errors.KernelTypeError(f"metadata must be a dict of strings, got {metadata!r}.")


def check_semantics(compiler_params: Any, grid: Sequence[Any]) -> None:
  """Check that `dimension_semantics` has an entry for each dimension of the grid."""
  semantics = getattr(compiler_params, "dimension_semantics", None)
  if semantics is not None and len(semantics) != len(grid):
    raise errors.GridError(
      f"compiler_params: dimension_semantics must have one entry for each of the {len(grid)} dimensions of the grid, got "
      f"{len(semantics)}: {tuple(getattr(s, 'value', s) for s in semantics)}."
    )


def check_indices(jaxpr: Any, may_leave: bool) -> None:
  """Reject ref indices that are not integers and, in code that is always executed, constant indices out of bounds.

  The simulated machine defines the result of out-of-bounds reads itself (`may_leave`).
  """
  for eqn in jaxpr.eqns:
    if eqn.primitive.name in ("get", "swap", "addupdate"):
      flat = eqn.invars[1 if eqn.primitive.name == "get" else 2 :]
      for transform in jax.tree.unflatten(eqn.params["tree"], flat):
        if isinstance(transform, _jax.indexing.NDIndexer):
          _check_indexer(transform, eqn, may_leave)
    for inner in jaxprs.inner_jaxprs(eqn):
      check_indices(_jax.open_jaxpr(inner.jaxpr)[0], may_leave=True)


def _check_indexer(indexer: Any, eqn: Any, may_leave: bool) -> None:
  for axis, (index, size) in enumerate(zip(indexer.indices, indexer.shape)):
    start = index.start if isinstance(index, _jax.Slice) else index
    dtype = getattr(getattr(start, "aval", start), "dtype", None)
    if dtype == jnp.bool_:
      raise errors.BooleanIndexError(
        f"A ref is indexed by booleans at {source_line(eqn)}; how many elements they select is not known when the kernel is compiled. "
        "Use jnp.where on its value, or pl.load and pl.store with a mask."
      )
    if isinstance(start, float) or (dtype is not None and jnp.issubdtype(dtype, jnp.inexact)):
      raise errors.KernelTypeError(
        f"The index of dimension {axis} at {source_line(eqn)} is {dtype or 'a float'}; indices of refs must be integers. "
        "Divide with //, or convert it with astype(jnp.int32)."
      )
    value = getattr(start, "val", start)
    if may_leave or not isinstance(value, int | np.integer) or not isinstance(size, int):
      continue
    if not -size <= value < size:
      raise errors.OutOfBoundsError(
        f"The index {int(value)} of dimension {axis} at {source_line(eqn)} is out of range: the ref that the body sees has shape "
        f"{tuple(indexer.shape)} there, so that indices go from 0 to {size - 1}."
      )
