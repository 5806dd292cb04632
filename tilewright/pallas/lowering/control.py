"""Rules for control flow, and the lowering of a whole kernel."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.pallas import cores
from tilewright.pallas.effects import has_side_effects, is_removable
from tilewright.pallas.lowering import clusters
from tilewright.pallas.lowering import cores as lowered_cores
from tilewright.pallas.lowering.expand import expand
from tilewright.pallas.lowering.keys import on_words
from tilewright.pallas.lowering.memory import memory_type
from tilewright.pallas.lowering.table import Context, Emitter, lower_jaxpr, physical, rule
from tilewright.pallas.lowering.views import index_dtype
from tilewright.pallas.lowering.warpgroups import check_shared
from tilewright.pallas.tpu.barrier import is_barrier_key
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.target.xla.evaluate import subjaxprs
from tilewright.tile.aliased_inputs import read_through_outputs
from tilewright.tile.grid import BlockMapping, GridMapping, Kernel
from tilewright.tile.ir import Block, Function, Op, Value, walk
from tilewright.tile.memory import is_semaphore
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import INDEX, RefType, SemaphoreArrayType, TileType, dense_strides


@rule("program_id")
def _program_id(ctx: Context, *, axis: int) -> Value:
  position = ctx.builder.position
  return ctx.emit("program_id", axis=axis) if position is None else position[axis][0]


@rule("num_programs")
def _num_programs(ctx: Context, *, axis: int) -> Value:
  position = ctx.builder.position
  return ctx.emit("num_programs", axis=axis) if position is None else ctx.constant(position[axis][1], np.int32)


@rule("on_mesh")
def _on_mesh(ctx: Context, core: Value, *args: Value, jaxpr: Any, axes: Any, first: int) -> list[Value]:
  """One body of several, on its own mesh: the index of the core within that mesh, the last axis fastest, determines its coordinates."""
  position: list[tuple[Value, int]] = []
  left = core
  for _, size in reversed(axes):
    divisor = ctx.constant(size, np.int32)
    position.insert(0, (ctx.emit("rem", left, divisor), size))
    left = ctx.emit("div", left, divisor)
  if ctx.builder.cores is not None:
    ctx.builder.cores.first = first
  with ctx.builder.placed(position):
    return lower_jaxpr(ctx.builder, jaxpr, (), [core, *args])


@rule("pallas_call")
def _pallas_call(ctx: Context, *operands: Value, **params: Any) -> list[Value]:
  """A nested kernel is lowered in place as the loop over its grid that its portable lowering makes."""
  return expand(ctx, lambda *xs: xla.run(Kernel(**params), *xs), *operands)


@rule("axis_index")
def _axis_index(ctx: Context, *, axis_name: Any) -> Value:
  if axis_name in ctx.builder.device_axes:
    return ctx.emit("load", ctx.builder.device_axes[axis_name])
  raise errors.NativeCodeError(
    f"The primitive 'axis_index' at {ctx.builder.loc} asks for the position along the axis {axis_name!r} of a mesh of devices, which "
    "an index map cannot know in native code. Prefetch the index as a scalar, or pass interpret=True."
  )


def _inline(name: str) -> Any:
  def lower(ctx: Context, *args: Value, **params: Any) -> list[Value]:
    return _lowered(ctx, params[name], args)

  return lower


def _constant(ctx: Context, value: Any) -> Value:
  array = np.asarray(value)
  return ctx.constant(array, array.dtype)


rule("jit", "remat2", "eval_jaxpr", "composite", "xla_metadata_call")(_inline("jaxpr"))
rule("custom_vmap_call")(_inline("call"))
rule("closed_call", "call", "custom_jvp_call", "custom_vjp_call")(_inline("call_jaxpr"))


def _body(
  ctx: Context,
  jaxpr: Any,
  params: Sequence[Any],
  before: Sequence[Value],
  finish: Callable[[list[Value], Sequence[Value]], list[Value]] = lambda outs, _: outs,
) -> Block:
  """A block for a jaxpr whose inputs are captured outer values, then the block's parameters. It yields `finish` of the results."""
  block = Block.of(params)
  with ctx.builder.into(block):
    outs = _lowered(ctx, jaxpr, [*before, *block.params])
    ctx.builder.emit_all("yield", finish(outs, block.params))
  return block


def _lowered(ctx: Context, jaxpr: Any, args: Sequence[Value]) -> list[Value]:
  inner, consts = _jax.open_jaxpr(jaxpr)
  return lower_jaxpr(ctx.builder, inner, [_constant(ctx, c) for c in consts], args)


@rule("cond")
def _cond(ctx: Context, index: Value, *args: Value, branches: Any, **_: Any) -> list[Value]:
  assert isinstance(index.type, TileType)
  if index.type.dtype == np.bool_:
    index = ctx.emit("convert", index, dtype=np.dtype(np.int32))
  blocks = [_body(ctx, branch, [], args) for branch in branches]
  return ctx.builder.emit_all("switch", [index], blocks)


@rule("while")
def _while(
  ctx: Context, *args: Value, cond_nconsts: int, cond_jaxpr: Any, body_nconsts: int, body_jaxpr: Any, **_: Any
) -> list[Value]:
  cond_consts, body_consts = args[:cond_nconsts], args[cond_nconsts : cond_nconsts + body_nconsts]
  init = args[cond_nconsts + body_nconsts :]
  types = [v.type for v in init]
  if any(isinstance(e, _jax.state_types.WriteEffect | _jax.state_types.AccumEffect) for e in cond_jaxpr.effects):
    if cond_jaxpr.out_avals[0].shape:
      raise errors.EffectError(
        f"The condition of the while_loop at {ctx.builder.loc} writes to a ref, which it cannot under vmap: write in the body."
      )
    return _decided_before(ctx, cond_jaxpr, cond_consts, body_jaxpr, body_consts, init)
  if not cond_jaxpr.out_avals[0].shape:
    blocks = [_body(ctx, cond_jaxpr, types, cond_consts), _body(ctx, body_jaxpr, types, body_consts)]
    return _counted(ctx, init, *blocks) or ctx.builder.emit_all("while", init, blocks)

  # `vmap` of a loop: elements whose condition no longer holds keep their carry.
  def any_active(going: list[Value], _: Sequence[Value]) -> list[Value]:
    return [ctx.emit("reduce", going[0], kind="or", axes=tuple(range(going[0].tile.rank)))]

  def masked_step(new: list[Value], old: Sequence[Value]) -> list[Value]:
    (going,) = _lowered(ctx, cond_jaxpr, [*cond_consts, *old])
    dims = tuple(range(going.tile.rank))
    return [
      ctx.emit("select", ctx.emit("broadcast", going, shape=n.tile.shape, dims=dims), n, o) if n is not o else o
      for n, o in zip(new, old, strict=True)
    ]

  condition = _body(ctx, cond_jaxpr, types, cond_consts, any_active)
  return ctx.builder.emit_all("while", init, [condition, _body(ctx, body_jaxpr, types, body_consts, masked_step)])


def _decided_before(
  ctx: Context, cond: Any, cond_consts: Sequence[Value], body: Any, body_consts: Sequence[Value], init: Sequence[Value]
) -> list[Value]:
  """A loop whose condition has writes, such as acquiring a lock: the condition is evaluated ahead of each step and carried."""
  evaluate_condition = lambda state: _lowered(ctx, cond, [*cond_consts, *state])
  carried = [*evaluate_condition(init), *init]
  condition_block, step = Block.of([v.type for v in carried]), Block.of([v.type for v in carried])
  with ctx.builder.into(condition_block):
    ctx.builder.emit_all("yield", condition_block.params[:1])
  with ctx.builder.into(step):
    state = _lowered(ctx, body, [*body_consts, *step.params[1:]])
    ctx.builder.emit_all("yield", [*evaluate_condition(state), *state])
  return ctx.builder.emit_all("while", carried, [condition_block, step])[1:]


def _counted(ctx: Context, init: Sequence[Value], condition: Block, body: Block) -> list[Value] | None:
  """A `for` for a loop that continues while a carried counter is below a limit and increments it by one, as `fori_loop` traces to."""
  test = condition.ops[0]
  if len(condition.ops) != 2 or test.name != "lt" or test.operands[0] not in condition.params:
    return None
  at, limit = condition.params.index(test.operands[0]), test.operands[1]
  step = body.yielded[at].owner
  if not isinstance(step, Op) or step.name != "add" or step.operands[0] is not body.params[at]:
    return None
  one = step.operands[1].owner
  if not isinstance(one, Op) or one.name != "constant" or int(np.asarray(one.attrs["value"])) != 1:
    return None
  if limit in condition.params:
    kept = condition.params.index(limit)
    if body.yielded[kept] is not body.params[kept]:
      return None
    limit = init[kept]
  others = [n for n in range(len(init)) if n != at]
  last = body.ops[-1]
  last.operands = [last.operands[n] for n in others]
  body.params = [body.params[at], *(body.params[n] for n in others)]
  found = ctx.builder.emit_all("for", [init[at], limit, *(init[n] for n in others)], [body])
  return [*found[:at], ctx.emit("max", init[at], limit), *found[at:]]


@rule("scan")
def _scan(ctx: Context, *args: Value, jaxpr: Any, length: int, reverse: bool, unroll: Any, **_: Any) -> list[Value]:
  num_consts, num_carry = _jax.scan_counts(ctx.eqn.params)
  consts, init, xs = args[:num_consts], args[num_consts : num_consts + num_carry], args[num_consts + num_carry :]
  out_avals = [v.aval for v in ctx.eqn.outvars[num_carry:]]
  b = ctx.builder
  # The stacked outputs of the scan are written to memory as they are computed.
  of_rows = [physical(a) for a in out_avals]
  stacked = [ctx.emit("alloc", shape=ty.shape, dtype=ty.dtype, space="scratch") for ty in of_rows]
  inner, inner_consts = _jax.open_jaxpr(jaxpr)

  def step(i: Value, carried: Sequence[Value]) -> list[Value]:
    at = ctx.emit("sub", ctx.constant(length - 1, np.int32), i) if reverse else i
    rows = [_row(ctx, x, at) for x in xs]
    outs = lower_jaxpr(b, inner, [_constant(ctx, c) for c in inner_consts], [*consts, *carried, *rows])
    for ref, y in zip(stacked, outs[num_carry:]):
      _store_row(ctx, ref, y, at)
    return outs[:num_carry]

  if unroll is True or (unroll is not False and length <= int(unroll)):
    carried = list(init)
    for n in range(length):
      carried = step(ctx.constant(n, np.int32), carried)
  else:
    block = Block.of([INDEX, *(v.type for v in init)])
    with b.into(block):
      b.emit_all("yield", step(block.params[0], block.params[1:]))
    carried = b.emit_all("for", [ctx.constant(0, np.int32), ctx.constant(length, np.int32), *init], [block])
  return [*carried, *(ctx.emit("load", ref) for ref in stacked)]


def _row(ctx: Context, x: Value, at: Value) -> Value:
  assert isinstance(x.type, TileType)
  zero = ctx.constant(0, np.int32)
  part = ctx.emit("dynamic_slice", x, at, *[zero] * (x.type.rank - 1), sizes=(1, *x.type.shape[1:]))
  return ctx.emit("reshape", part, shape=x.type.shape[1:])


def _store_row(ctx: Context, ref: Value, y: Value, at: Value) -> None:
  assert isinstance(ref.type, RefType)
  shape = ref.type.shape
  zero = ctx.constant(0, np.int32)
  view = ctx.emit(
    "subview", ref, at, *[zero] * (len(shape) - 1), sizes=(1, *shape[1:]), steps=(1,) * len(shape), dropped=(0,)
  )
  ctx.builder.emit_all("store", [view, y])


# --- a whole kernel ----------------------------------------------------------------------------------------------


def device_axes(jaxpr: Any) -> list[Hashable]:
  """The device mesh axes along which a body reads its position (`axis_index`)."""
  found: dict[Hashable, None] = {}
  for eqn in jaxpr.eqns:
    if eqn.primitive is _jax.axis_index_p:
      found[eqn.params["axis_name"]] = None
    for inner in subjaxprs(eqn):
      found.update(dict.fromkeys(device_axes(inner)))
  return list(found)


def lower_kernel(
  kernel: Kernel,
  axes: Sequence[Hashable] = (),
  mesh: Mapping[Any, int] = types.MappingProxyType({}),
  *,
  for_gpu: bool = False,
) -> NativeKernel:
  """The tile IR of a kernel: body and index maps. After its inputs the native kernel takes the device's position along `axes`. A kernel
  that accesses other devices gets the axes of their `mesh`, in order, and their sizes.

  With `for_gpu`, atomic operations are lowered to atomics and inline assembly is kept. Otherwise atomic operations become plain reads and
  writes, and instances run in order.
  """
  together = cores.run_together(kernel)
  if together and for_gpu:
    raise errors.NativeCodeError(
      f"The cores of kernel '{kernel.name}' signal each other, which cannot be compiled for GPUs. Pass interpret=True."
    )
  kernel = on_words(kernel)
  mapping = kernel.grid_mapping
  if any(b is not None and not isinstance(b, int) for b in mapping.grid):
    raise errors.NativeCodeError("A symbolic grid cannot be compiled to native code. Pass interpret=True.")
  first_block = mapping.num_prefetch
  kinds: list[RefType | SemaphoreArrayType] = []
  for i, var in enumerate(kernel.jaxpr.invars):
    position = i - first_block
    strides = None
    if 0 <= position < len(mapping.block_mappings):
      m = mapping.block_mappings[position]
      if any(not isinstance(d, int) for d in m.array_aval.shape):
        raise errors.NativeCodeError("Symbolic shapes cannot be compiled to native code. Pass interpret=True.")
      dense = dense_strides(tuple(m.array_aval.shape))
      strides = tuple(dense[k] for k in range(len(dense)) if k not in m.squeezed_dims)
    ty = clusters.barrier_type(kernel, var.aval, memory_type(var.aval, strides), for_gpu=for_gpu)
    if together and position >= len(mapping.block_mappings):
      sharers = lowered_cores.sharers(kernel, var.aval)
      ty = ty if sharers is None else lowered_cores.of_all(ty, math.prod(mapping.grid) // sharers)
    kinds.append(ty)
  # Refs that outlive the instances are more scratch; positions along axes are more inputs.
  global_refs = xla.find_globals(kernel.jaxpr)
  own_refs = [key for key in global_refs if together and is_barrier_key(key)]  # private to each core
  count = math.prod(int(d or 1) for d in mapping.grid)
  for key, ref in global_refs.items():
    ty = memory_type(ref.aval)
    kinds.append(lowered_cores.of_all(ty, count) if key in own_refs else ty)
  first_scratch = first_block + len(mapping.block_mappings) + len(axes)
  at = first_block + mapping.num_inputs
  kinds[at:at] = [RefType((), np.dtype(np.int32), "any", ())] * len(axes)
  body = Function(kernel.name, Block.of(kinds))
  emitter = Emitter(body.body, kernel)
  params = [*body.params[:at], *body.params[at + len(axes) :]]
  own = len(kernel.jaxpr.invars)
  emitter.for_gpu, emitter.body = for_gpu, body.body
  emitter.device_axes = dict(zip(axes, body.params[at:]))
  emitter.mesh = dict(mesh)
  positions = tuple((at + axes.index(axis), size) for axis, size in mesh.items())
  emitter.globals = dict(zip(global_refs, params[own:]))
  values = [None] * mapping.num_scratch + [_first_value(ref) for ref in global_refs.values()]
  seen = params[:own]
  if together:
    at = own - mapping.num_scratch
    seen[at:] = lowered_cores.begin(emitter, kernel, seen[at:], [v.aval for v in kernel.jaxpr.invars[at:]])
    assert emitter.cores is not None
    emitter.cores.wholes.update((emitter.globals[key], emitter.globals[key]) for key in own_refs)
  lower_jaxpr(emitter, kernel.jaxpr, (), seen)
  scratch = tuple(v.type for v in body.params[first_scratch:])
  are_of_grid = for_gpu and not mesh and clusters.shares_semaphores(kernel, [ref.aval for ref in global_refs.values()])
  if kernel.warpgroups > 1:
    check_shared(kernel, () if are_of_grid else global_refs, for_gpu=for_gpu)
  if together and len(own_refs) < len(global_refs):
    raise errors.UnsupportedFeatureError(
      f"The kernel '{kernel.name}': cores that signal each other have no memory that outlives an instance natively, such as that of "
      "pl.get_global or of random number generators with a state. Pass it as an operand, or use interpret=True."
    )
  values += [None] * (len(scratch) - len(values))
  maps = [_lower_index_map(kernel, m) for m in mapping.block_mappings]
  maps[mapping.num_inputs : mapping.num_inputs] = [None] * len(axes)
  semantics = getattr(kernel.compiler_params, "dimension_semantics", None)
  if getattr(kernel.compiler_params, "grid_is_parallel", False):
    semantics = ("concurrent" if for_gpu else "parallel",) * len(mapping.grid)
  cluster: tuple[int, ...] = ()
  if for_gpu and clusters.cooperates(kernel.jaxpr):
    cluster = tuple(axis.size for axis in clusters.axes_of(kernel).values())
  if cluster or are_of_grid:
    clusters.check_together(kernel, needs_order=emitter.in_order, are_of_grid=are_of_grid)
    semantics = clusters.concurrent(mapping, semantics)
  warpgroups = kernel.warpgroups
  if together:
    warpgroups, semantics = math.prod(int(d or 1) for d in mapping.grid), None
    mapping = dataclasses.replace(mapping, grid=(warpgroups,), grid_names=None)
  native = NativeKernel(
    kernel.name,
    body,
    tuple(maps),
    _with_inputs(mapping, [_position_mapping(axis) for axis in axes]),
    kernel.input_output_aliases,
    scratch,
    None if semantics is None else tuple(getattr(s, "value", s) for s in semantics),
    in_order=not (cluster or are_of_grid)
    and (
      bool(global_refs)
      or (bool(mesh) and not (for_gpu and _may_interleave(kernel, body)))
      or emitter.in_order
      or _uses(kernel.jaxpr, _ONE_AFTER_ANOTHER)
    ),
    has_side_effects=has_side_effects(kernel),
    is_removable=is_removable(kernel),
    scratch_values=tuple(values),
    warpgroups=warpgroups,
    are_cores=together,
    mesh=positions,
    writes_all=bool(mesh) and getattr(kernel.compiler_params, "writes_all", False),
    cluster=cluster,
    grid_semaphores=tuple(range(mapping.num_scratch, mapping.num_scratch + len(global_refs))) if are_of_grid else (),
  )
  return read_through_outputs(native)


def _may_interleave(kernel: Kernel, body: Function) -> bool:
  """Whether instances that access other devices may run side by side: they say so, and none waits or signals."""
  waits = any(op.name in ("signal", "wait", "read_semaphore", "lock_device") for op in walk(body.body))
  return getattr(kernel.compiler_params, "grid_is_parallel", False) and not waits


def _position_mapping(axis: Hashable) -> BlockMapping:
  aval = _jax.core.ShapedArray((), np.dtype(np.int32))
  return BlockMapping((), None, None, aval, _jax.state_types.AbstractRef(aval), f"position along {axis}")


def _with_inputs(mapping: GridMapping, more: Sequence[BlockMapping]) -> GridMapping:
  mappings = (*mapping.input_mappings, *more, *mapping.output_mappings)
  return dataclasses.replace(mapping, block_mappings=mappings, num_inputs=mapping.num_inputs + len(more))


def _first_value(ref: Any) -> tuple[int, ...] | None:
  """The initial values of a small ref. Larger refs and semaphores start as poison or zero, like any scratch."""
  if is_semaphore(ref.aval.dtype) or ref.aval.dtype != np.uint32 or ref.aval.size > 8:
    return None
  with jax.ensure_compile_time_eval():
    return tuple(int(x) for x in np.asarray(ref.initial()).reshape(-1))


# Effects on other instances, or outside the kernel, that are deterministic only if instances run in order.
_ONE_AFTER_ANOTHER = frozenset({"pallas_debug_print", "debug_print"})


def _uses(jaxpr: Any, names: frozenset[str]) -> bool:
  return any(eqn.primitive.name in names or any(_uses(j, names) for j in subjaxprs(eqn)) for eqn in jaxpr.eqns)


def _lower_index_map(kernel: Kernel, m: Any) -> Function | None:
  if m.is_whole_array:
    return None
  mapping = kernel.grid_mapping
  prefetched = [memory_type(v.aval) for v in kernel.jaxpr.invars[: mapping.num_prefetch]]
  function = Function(f"index_map of {m.origin}", Block.of([*[INDEX] * len(mapping.grid), *prefetched]))
  builder = Emitter(function.body)
  jaxpr, consts = _jax.open_jaxpr(m.index_map)
  outs = lower_jaxpr(builder, jaxpr, [_constant(Context(builder, None), c) for c in consts], function.params)
  entries = jax.tree.unflatten(m.index_tree, outs)
  yields: list[Value] = []
  for entry in entries:
    for part in (entry.start, entry.size) if isinstance(entry, _jax.indexing.Slice) else (entry,):
      yields.append(part if isinstance(part, Value) else Context(builder, None).constant(part, index_dtype(part)))
  for _ in m.block_shape[len(entries) :]:  # all the words of a key
    yields.append(builder.emit("constant", (), value=0, dtype=INDEX.dtype))
  builder.emit_all("yield", yields)
  return function
