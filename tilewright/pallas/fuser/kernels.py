"""Rewriting of a kernel call with fused operands and results: prologues are computed where its body reads, an epilogue
where it has written.

The body of a call is a jaxpr over refs. A ref that is only read needs no memory: each read of it becomes the
computation of the block (`RecomputedRef`), so that native code evaluates it where the contraction packs its panels. An
output that is written once becomes the value that was written. Refs that are used in other ways are replaced by scratch
memory of the size of a block.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import jaxprs
from tilewright.pallas.call import pallas_call
from tilewright.pallas.control import when
from tilewright.pallas.fuser import push_rules, views
from tilewright.pallas.fuser.prefetch import make_scalar_prefetch_handler
from tilewright.pallas.fuser.pull import pull_block_spec
from tilewright.pallas.fuser.push import push_block_spec
from tilewright.pallas.fuser.values import get_fusion_values
from tilewright.pallas.primitives import program_id
from tilewright.pallas.specs import BlockSpec, PrefetchScalarGridSpec, no_block_spec
from tilewright.runtime import _jax
from tilewright.target.xla import refs as values_of_refs
from tilewright.tile.grid import BlockMapping, Kernel
from tilewright.tile.memory import MemoryRef

core = _jax.core
get_p, swap_p = _jax.state_primitives.get_p, _jax.state_primitives.swap_p
Slice = _jax.indexing.Slice


@dataclasses.dataclass(frozen=True)
class RecomputedRef:
  """Stands for a ref whose contents are computed anew at every read."""

  read: Callable[[], Any]


@dataclasses.dataclass
class WrittenRef:
  """Stands for a ref that is written once."""

  value: Any = None


@dataclasses.dataclass(frozen=True)
class Prologue:
  """An operand that is computed in the kernel: how a block is, and what is read for that."""

  block_fn: Callable[..., Any]
  values: tuple[Any, ...]
  specs: tuple[Any, ...]
  scalars: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Epilogue:
  """What is made of a call's results in the kernel."""

  block_fn: Callable[..., Any]
  values: tuple[Any, ...]
  specs: tuple[Any, ...]
  scalars: tuple[Any, ...]
  out_types: tuple[Any, ...]
  out_specs: tuple[Any, ...]


# --- specs -------------------------------------------------------------------------------------------------------


def spec_of(mapping: BlockMapping, kernel: Kernel) -> Any:
  """The block spec that a block mapping was made from. Its index map takes more prefetched scalars than it uses."""
  if mapping.is_whole_array:
    return BlockSpec(None, None, memory_space=mapping.memory_space)
  jaxpr, consts = _jax.detach(mapping.index_map)
  num = len(jaxpr.invars) - len(consts)

  def index_map(*args: Any) -> Any:
    return tuple(jax.tree.unflatten(mapping.index_tree, core.eval_jaxpr(jaxpr, (), *consts, *args[:num])))

  return BlockSpec(mapping.block_shape, index_map, mapping.pipeline_mode, memory_space=mapping.memory_space)


def make_prologue(f: Callable[[], Any], spec: Any, grid_len: int, path: tuple[Any, ...]) -> Prologue:
  """Pull an operand's spec through the function that computes the operand."""
  fn, values, scalars = get_fusion_values(f)
  handler = make_scalar_prefetch_handler(*path)
  block_fn, (specs,), _ = pull_block_spec(
    fn, spec, scalar_prefetch_handler=handler, grid_len=grid_len, strict_mode=False, consistent_random=True
  )(values)
  return Prologue(block_fn, values, _in_memory(specs, spec.memory_space), scalars)


def _in_memory(specs: Any, memory_space: Any) -> Any:
  """The specs of blocks that a kernel reads in place of one in this memory space."""
  has_blocks = lambda s: s is not no_block_spec and s.block_shape is not None
  place = lambda s: s.replace(memory_space=memory_space) if has_blocks(s) else s
  return jax.tree.map(place, specs, is_leaf=lambda s: s is no_block_spec or isinstance(s, BlockSpec))


def make_epilogue(
  f: Callable[..., Any], types: Sequence[Any], specs: Sequence[Any], grid_len: int, path: tuple[Any, ...]
) -> Epilogue:
  """Push the specs of results through what follows, and pull what comes out of that back to the other operands."""
  fn, values, scalars = get_fusion_values(f, *types)
  out_specs = push_block_spec(f, *specs)(*types)
  handler = make_scalar_prefetch_handler(*path)
  block_fn, (value_specs, *result_specs), _ = pull_block_spec(
    fn, out_specs, scalar_prefetch_handler=handler, grid_len=grid_len, strict_mode=True, consistent_random=True
  )(values, *types)
  for given, found, type_ in zip(specs, result_specs, types):
    if not _are_the_blocks(given, found, type_, grid_len):
      raise errors.FusionConflictError(
        f"It needs blocks of {found.block_shape} of a result that the kernel computes in blocks of {given.block_shape}."
      )
  outs = jax.tree.leaves(jax.eval_shape(f, *types))
  return Epilogue(block_fn, values, value_specs, scalars, tuple(outs), tuple(out_specs))


def _are_the_blocks(given: Any, found: Any, type_: Any, grid_len: int) -> bool:
  """Whether the blocks of a result in which an epilogue needs it are those that the kernel has. A slice needs a part of them."""
  if found is no_block_spec:
    return True
  sizes = lambda s: list(type_.shape) if s.block_shape is None else [views.size_of(d) for d in s.block_shape]
  if sizes(given) != sizes(found):
    return False
  if given.block_shape is None or found.block_shape is None:
    return True
  cut = [not views.covers(d, n) for d, n in zip(given.block_shape, type_.shape)]
  if not any(cut) and all(views.covers(d, n) for d, n in zip(found.block_shape, type_.shape)):
    return True
  return push_rules.same_starts(given, found, grid_len) is not False


# --- how a body uses a ref ---------------------------------------------------------------------------------------


def only_read(jaxpr: Any, var: Any) -> bool:
  """Whether a ref is only read, at the top or in branches."""
  for eqn in jaxpr.eqns:
    if not any(a is var for a in eqn.invars):
      continue
    if eqn.primitive is get_p and not any(a is var for a in eqn.invars[1:]):
      continue
    if eqn.primitive.name != "cond":
      return False
    for inner in jaxprs.inner_jaxprs(eqn):
      body, _ = _jax.open_jaxpr(inner.jaxpr)
      if not all(only_read(body, own) for own, outer in zip(body.invars, inner.outer) if outer is var):
        return False
  return True


def written_once(jaxpr: Any, var: Any) -> bool:
  """Whether a ref is written once, whole and in every case, and never read."""
  uses = [e for e in jaxpr.eqns if any(a is var for a in e.invars)]
  if len(uses) != 1 or uses[0].primitive is not swap_p or uses[0].invars[0] is not var:
    return False
  (eqn,) = uses
  if not isinstance(eqn.outvars[0], core.DropVar) and any(eqn.outvars[0] in e.invars for e in jaxpr.eqns):
    return False
  return eqn.invars[1].aval.shape == var.aval.shape and all(isinstance(a, core.Literal) for a in eqn.invars[2:])


def evaluate(jaxpr: Any, args: Sequence[Any]) -> list[Any]:
  """Evaluate a body in which some refs are `RecomputedRef` or `WrittenRef`."""
  env: dict[Any, Any] = dict(zip(jaxpr.invars, args, strict=True))
  read = lambda a: a.val if isinstance(a, core.Literal) else env[a]
  for eqn in jaxpr.eqns:
    operands = [read(a) for a in eqn.invars]
    if not any(isinstance(x, RecomputedRef | WrittenRef) for x in operands):
      params = eqn.primitive.get_bind_params(eqn.params)
      out = eqn.primitive.bind(*operands, **params)
      env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    elif eqn.primitive is get_p:
      transforms = jax.tree.unflatten(eqn.params["tree"], operands[1:])
      value = operands[0].read()
      env[eqn.outvars[0]] = value if _is_whole(transforms, value) else values_of_refs.read(value, transforms)
    elif eqn.primitive is swap_p:
      operands[0].value = operands[1]
    else:
      env.update(zip(eqn.outvars, _branch(eqn, operands)))
  return [read(a) for a in jaxpr.outvars]


def _is_whole(transforms: Sequence[Any], value: Any) -> bool:
  return all(
    isinstance(t, _jax.indexing.NDIndexer)
    and all(
      isinstance(i, Slice) and isinstance(i.start, int) and (i.start, i.size, i.stride) == (0, n, 1)
      for i, n in zip(t.indices, value.shape)
    )
    for t in transforms
  )


def _branch(eqn: Any, operands: Sequence[Any]) -> list[Any]:
  def branch(closed: Any) -> Callable[[], list[Any]]:
    body, consts = _jax.detach(closed)
    return lambda: evaluate(body, [*consts, *operands[1:]])

  branches = [branch(b) for b in eqn.params["branches"]]
  return lax.switch(jnp.asarray(operands[0], jnp.int32), branches)


# --- the call ----------------------------------------------------------------------------------------------------


def is_last_visit(kernel: Kernel, positions: Sequence[int]) -> Any:
  """Whether an instance is the last to see its blocks of some outputs; None where every instance may be.

  Instances that share a block differ in trailing grid dimensions that the index map does not look at.
  """
  mapping = kernel.grid_mapping
  used: set[int] = set()
  for position in positions:
    block = mapping.output_mappings[position]
    if block.is_whole_array:
      continue
    jaxpr, consts = _jax.detach(block.index_map)
    seen = {v for e in jaxpr.eqns for v in e.invars if isinstance(v, core.Var)}
    seen |= {v for v in jaxpr.outvars if isinstance(v, core.Var)}
    own = jaxpr.invars[len(consts) :]
    if any(v in seen for v in own[len(mapping.grid) :]):
      return None
    used |= {d for d, v in enumerate(own[: len(mapping.grid)]) if v in seen}
  trailing = [d for d in range(max(used, default=-1) + 1, len(mapping.grid)) if mapping.grid[d] != 1]
  if not trailing:
    return None
  last: Any = True
  for d in trailing:
    last = (program_id(d) == mapping.grid[d] - 1) & last
  return last


def fused_call(
  kernel: Kernel,
  operands: Sequence[Any],
  prologues: dict[int, Prologue],
  epilogue: Epilogue | None,
  fused_outputs: Sequence[int],
) -> tuple[list[Any], list[Any]]:
  """Run a call with some operands computed in it, and with an epilogue of some of its results.

  Returns what the epilogue gives, and the results that it does not take.
  """
  mapping = kernel.grid_mapping
  num_prefetch, num_inputs = mapping.num_prefetch, mapping.num_inputs
  prefetched, inputs = list(operands[:num_prefetch]), list(operands[num_prefetch:])
  plain_outputs = [i for i in range(mapping.num_outputs) if i not in fused_outputs]
  body = kernel.jaxpr
  in_vars = body.invars[num_prefetch : num_prefetch + num_inputs]
  out_vars = body.invars[num_prefetch + num_inputs : num_prefetch + num_inputs + mapping.num_outputs]
  scratch_vars = body.invars[num_prefetch + num_inputs + mapping.num_outputs :]

  # Prefetched scalars of the fusions follow the kernel's own, as one tuple for each fusion.
  groups: list[Any] = [*prologues.values(), *([epilogue] if epilogue is not None else [])]
  scalars = [jax.tree.map(lambda s: jnp.asarray(s)[None], g.scalars) for g in groups]
  values = [prologues[i].values if i in prologues else (x,) for i, x in enumerate(inputs)]
  specs = [
    tuple(prologues[i].specs) if i in prologues else (spec_of(m, kernel),) for i, m in enumerate(mapping.input_mappings)
  ]
  copies = [i for i in prologues if not only_read(body, in_vars[i])]
  kept = [i for i in fused_outputs if not written_once(body, out_vars[i])]
  memory = [MemoryRef(v.aval.inner_aval, v.aval.memory_space) for v in scratch_vars]
  memory += [MemoryRef(in_vars[i].aval.inner_aval, None) for i in copies]
  memory += [MemoryRef(out_vars[i].aval.inner_aval, None) for i in kept]
  grid_len = len(mapping.grid)

  def new_body(*refs: Any) -> None:
    left = iter(refs)
    take = lambda n: [next(left) for _ in range(n)]
    own_scalars, fusion_scalars = take(num_prefetch), take(len(groups))
    value_refs, epilogue_refs = take(len(inputs)), take(1)[0]
    epilogue_outs = take(len(epilogue.out_types) if epilogue is not None else 0)
    plain_outs = dict(zip(plain_outputs, take(len(plain_outputs))))
    own_scratch = take(len(scratch_vars))
    copy_refs, kept_refs = dict(zip(copies, take(len(copies)))), dict(zip(kept, take(len(kept))))
    point = [program_id(d) for d in range(grid_len)]
    everything = (*own_scalars, *fusion_scalars)
    contents = lambda tree: jax.tree.map(lambda r: r[...], tree)

    in_refs: list[Any] = []
    for i in range(len(inputs)):
      if i not in prologues:
        in_refs.append(value_refs[i][0])
        continue
      block = lambda i=i: prologues[i].block_fn(point, everything, contents(value_refs[i]))
      if i in copy_refs:
        copy_refs[i][...] = block()
        in_refs.append(copy_refs[i])
      else:
        in_refs.append(RecomputedRef(block))
    memory_of = {**plain_outs, **kept_refs}
    out_refs: list[Any] = [memory_of[i] if i in memory_of else WrittenRef() for i in range(mapping.num_outputs)]
    evaluate(body, [*own_scalars, *in_refs, *out_refs, *own_scratch])
    if epilogue is None:
      return

    def finish() -> None:
      results = [out_refs[i].value if isinstance(out_refs[i], WrittenRef) else out_refs[i][...] for i in fused_outputs]
      blocks = epilogue.block_fn(point, everything, contents(epilogue_refs), *results)
      for ref, block in zip(epilogue_outs, blocks, strict=True):
        ref[...] = block

    last = is_last_visit(kernel, fused_outputs) if kept else None
    if last is None:
      finish()
    else:
      when(last)(finish)

  out_types = [*(epilogue.out_types if epilogue is not None else ())]
  out_specs = [*(epilogue.out_specs if epilogue is not None else ())]
  call = pallas_call(
    new_body,
    out_shape=[
      *(jax.ShapeDtypeStruct(t.shape, t.dtype) for t in out_types),
      *(jax.ShapeDtypeStruct(kernel.out_avals[i].shape, kernel.out_avals[i].dtype) for i in plain_outputs),
    ],
    grid_spec=PrefetchScalarGridSpec(
      num_scalar_prefetch=num_prefetch + len(groups),
      grid=mapping.grid,
      in_specs=[*specs, epilogue.specs if epilogue is not None else ()],
      out_specs=[*out_specs, *(spec_of(mapping.output_mappings[i], kernel) for i in plain_outputs)],
      scratch_shapes=memory,
    ),
    interpret=kernel.interpret,
    compiler_params=kernel.compiler_params,
    name=f"{kernel.name}_fused",
    metadata=dict(kernel.metadata) if kernel.metadata else None,
  )
  results = call(*prefetched, *scalars, *values, epilogue.values if epilogue is not None else ())
  return list(results[: len(out_types)]), list(results[len(out_types) :])
