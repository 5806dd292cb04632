"""Kernels over the cores of a mesh: `kernel`, `core_map`, and MPMD kernels with a different body for each mesh.

Each core runs the body once, on whole arrays; `lax.axis_index` of the mesh's axis names identifies the core. A ref of the
enclosing program, passed in or closed over, becomes an operand that is aliased to an output, so that a mesh kernel is also
one `Kernel`: its grid is the mesh. With several bodies the grid is one-dimensional over all cores; each body runs on a contiguous range:

    kernel([a, b], mesh=[Mesh(x=2), Mesh(y=3)])    # grid (5,): a on cores 0..1, b on cores 2..4
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import high_types, jaxprs, targets
from tilewright.pallas.arity import check_takes
from tilewright.pallas.call import apply_eagerly, check_as_traced, is_jax_value, kernel_params, pallas_call_p
from tilewright.pallas.foreign import check_primitives
from tilewright.pallas.primitives import AbstractRef, Primitive, ReadEffect, ShapedArray, WriteEffect, program_id_p
from tilewright.pallas.scoped import begin, is_scratch_type, ref_aval_of, shown
from tilewright.pallas.trace import eliminate_dead_code, is_out_leaf, out_aval, shared
from tilewright.pallas.trace_context import GridFrame, tracing_kernel
from tilewright.pallas.validation import check_options
from tilewright.runtime import _jax
from tilewright.runtime.user_line import names_line
from tilewright.target import xla
from tilewright.tile.grid import Blocked, BlockMapping, CostEstimate, GridMapping, Kernel
from tilewright.tile.memory import CoreMemorySpace, MemorySpace

_UNSET: Any = object()


@dataclasses.dataclass(frozen=True)
class _Options:
  """The arguments of `kernel` and `core_map` besides bodies and meshes."""

  compiler_params: Any = None
  interpret: Any = False
  debug: bool = False
  cost_estimate: CostEstimate | None = None
  name: str | None = None
  metadata: dict[str, str] | None = None

  def __post_init__(self) -> None:
    check_options({}, self.compiler_params, self.cost_estimate, self.metadata)


def mesh_axes(mesh: Any) -> dict[Any, int]:
  """The axes of a mesh of cores with their sizes."""
  shape = getattr(mesh, "shape", None)
  if not isinstance(shape, Mapping):
    raise errors.GridError(
      f"mesh: expected a mesh of cores such as pltpu.TensorCoreMesh(axis_name='x', num_cores=2), got {mesh!r}."
    )
  return dict(shape)


# --- the public entries ------------------------------------------------------------------------------------------


@names_line
def kernel(
  body: Any = _UNSET,
  out_type: Any = (),
  *,
  mesh: Any,
  scratch_types: Any = (),
  compiler_params: Any = None,
  interpret: Any = False,
  cost_estimate: CostEstimate | None = None,
  debug: bool = False,
  name: str | None = None,
  metadata: dict[str, str] | None = None,
) -> Any:
  """Turn a body that runs on every core of a mesh into a function of arrays.

  Args:
    body: takes a ref for each operand, output and scratch buffer; returns None. If omitted, `kernel` is a decorator. A list, with
      a list of meshes, for an MPMD kernel.
    out_type: a tree of `jax.ShapeDtypeStruct`: the outputs.
    mesh: the cores, or a list of meshes.
    scratch_types: memory private to each core; a sequence, or a dict whose refs are passed by keyword.
    compiler_params, interpret, cost_estimate, debug, name, metadata: as for `pallas_call`.

  Returns:
    A function of arrays and refs. Refs, passed in or closed over by the body, are updated in place.
  """
  if body is _UNSET:
    return lambda f: kernel(
      f,
      out_type,
      mesh=mesh,
      scratch_types=scratch_types,
      compiler_params=compiler_params,
      interpret=interpret,
      cost_estimate=cost_estimate,
      debug=debug,
      name=name,
      metadata=metadata,
    )
  bodies = list(body) if isinstance(body, Sequence) else [body]
  meshes = list(mesh) if isinstance(mesh, Sequence) else [mesh]
  if isinstance(body, Sequence) != isinstance(mesh, Sequence) or len(bodies) != len(meshes):
    raise errors.GridError(
      f"pl.kernel: give as many bodies as meshes for an MPMD kernel, got {len(bodies)} bodies and {len(meshes)} meshes."
    )
  options = _Options(compiler_params, interpret, debug, cost_estimate, name, metadata)

  @names_line
  def wrapped(*args: Any) -> Any:
    return _run_on_meshes(bodies, meshes, args, out_type, scratch_types, options)

  if hasattr(bodies[0], "__name__"):
    functools.update_wrapper(
      wrapped, bodies[0], assigned=("__name__", "__qualname__", "__module__", "__doc__"), updated=()
    )
  return wrapped


def core_map(
  mesh: Any,
  *,
  compiler_params: Any = None,
  interpret: Any = False,
  debug: bool = False,
  cost_estimate: CostEstimate | None = None,
  name: str | None = None,
  metadata: dict[str, str] | None = None,
  scratch_shapes: Any = (),
) -> Callable[[Callable[..., None]], None]:
  """A decorator that immediately runs a function on every core of a mesh.

  The function takes only scratch refs and returns None; it works on the refs it closes over.
  """
  options = _Options(compiler_params, interpret, debug, cost_estimate, name, metadata)

  @names_line
  def run(f: Callable[..., None]) -> None:
    map_inside = getattr(mesh, "map_inside", None)
    if map_inside is not None:  # parts of one core, such as warps: `f` belongs to the kernel around it
      if scratch_shapes:
        raise errors.GridError(f"pl.core_map: scratch_shapes: {mesh!r} takes none; use pl.run_scoped instead.")
      map_inside(f)
      return
    _run_on_meshes([f], [mesh], (), (), scratch_shapes, options)

  return run


# --- from bodies to a Kernel -------------------------------------------------------------------------------------


def _is_ref(x: Any) -> bool:
  return isinstance(_jax.core.typeof(x), AbstractRef)


def _run_on_meshes(
  bodies: Sequence[Callable[..., None]],
  meshes: Sequence[Any],
  args: Any,
  out_type: Any,
  scratch: Any,
  options: _Options,
) -> Any:
  flat_args, in_tree = jax.tree.flatten(args)
  flat_args = [x if is_jax_value(x) else jnp.asarray(x) for x in flat_args]
  flat_out, out_tree = jax.tree.flatten(out_type, is_leaf=is_out_leaf)
  out_avals = [out_aval(x) for x in flat_out]
  in_refs = [_jax.core.typeof(x) if _is_ref(x) else _array_ref(_jax.core.typeof(x)) for x in flat_args]
  out_refs = [
    _array_ref(a, None if isinstance(x, jax.Array) else getattr(x, "memory_space", None))
    for a, x in zip(out_avals, flat_out)
  ]
  many_outputs = isinstance(out_type, tuple | list)
  scratch_types, scratch_tree = jax.tree.flatten(scratch, is_leaf=is_scratch_type)
  scratch_avals = [ref_aval_of(t, "scratch_types") for t in scratch_types]
  for ty in scratch_types:
    if isinstance(space := getattr(ty, "memory_space", None), CoreMemorySpace) and space.mesh not in meshes:
      raise errors.MemorySpaceError(f"scratch_types: {ty} is on {space.mesh}, but the kernel runs on {list(meshes)}.")

  traced = []
  for body, mesh in zip(bodies, meshes):
    flat_body = functools.partial(
      _call_body, body, in_tree, out_tree, many_outputs, scratch_types, scratch_tree, len(in_refs), len(out_refs)
    )
    axes = mesh_axes(mesh)
    with tracing_kernel(GridFrame(tuple(axes.values()), tuple(axes))):
      info = _jax.api_util.debug_info("kernel", body, (), {})
      closed = _jax.trace(flat_body, [*in_refs, *out_refs, *scratch_avals], info.with_unknown_names())
      jaxpr, consts = _jax.detach(closed)  # with jax_enable_checks this looks for the axes that the body names
    jaxpr = jaxprs.with_lines(jaxpr)
    check_primitives(jaxpr)
    jaxpr = jaxprs.resolve_axis_names(jaxpr, tuple(axes), program_id_p)
    traced.append((high_types.lowered(jaxpr, "the kernel"), consts))

  captured = _unique([c for _, consts in traced for c in consts])
  _check_captured(captured, bodies)
  where = {id(c): i for i, c in enumerate(captured)}
  cap_avals = [_jax.core.typeof(c) for c in captured]
  cap_refs = [a if isinstance(a, AbstractRef) else _array_ref(a) for a in cap_avals]
  counts = [len(a.lo_ty()) for a in cap_avals]  # several for a value of a user-defined type
  starts = [sum(counts[:i]) for i in range(len(counts))]
  lo_caps = high_types.lower_types(cap_refs)
  in_refs, out_refs, scratch_avals = map(high_types.lower_types, (in_refs, out_refs, scratch_avals))
  stretches = _consecutive_meshes(meshes)

  def whole_body(*refs: Any) -> list[Any]:
    caps, own = refs[: sum(counts)], refs[sum(counts) :]
    for (jaxpr, consts), mesh, start in zip(traced, meshes, stretches):
      values: list[Any] = []
      for c in consts:
        first = starts[where[id(c)]]
        parts = caps[first : first + counts[where[id(c)]]]
        values += parts if _is_ref(c) else [_jax.state_primitives.ref_get(part, ()) for part in parts]
      _on_mesh(jaxpr, mesh, start, len(meshes) > 1, [*values, *own])
    return []

  if len(meshes) == 1:
    axes = mesh_axes(meshes[0])
    grid, names = tuple(axes.values()), tuple(axes)
  else:
    grid, names = (sum(math.prod(mesh_axes(m).values()) for m in meshes),), None
  with _jax.config._check_vma(False):  # as while the bodies were traced
    jaxpr, more = _jax.detach(_jax.trace(whole_body, [*lo_caps, *in_refs, *out_refs, *scratch_avals], what="kernel"))
  if more:
    raise errors.CapturedConstantError(f"The kernel captures {more}; pass it as an operand.")

  operands = [*captured, *flat_args]
  is_ref = [_is_ref(x) for x in operands for _ in _jax.core.typeof(x).lo_ty()]
  built = _build(
    jaxpr, is_ref, [*lo_caps, *in_refs], out_avals, out_refs, scratch_avals, grid, names, meshes, bodies, options
  )
  if any(is_ref):
    outs = mesh_kernel_p.bind(*operands, **kernel_params(built))
  else:
    outs = pallas_call_p.bind(*_jax.vary_together(operands), **kernel_params(built))
  return jax.tree.unflatten(out_tree, outs)


def _call_body(
  body: Any,
  in_tree: Any,
  out_tree: Any,
  many_outputs: bool,
  scratch_types: Sequence[Any],
  scratch_tree: Any,
  num_in: int,
  num_out: int,
  *refs: Any,
) -> list[Any]:
  begin(scratch_types, refs[num_in + num_out :])
  inputs = jax.tree.unflatten(in_tree, refs[:num_in])
  outputs = jax.tree.unflatten(out_tree, refs[num_in : num_in + num_out])
  scratch = jax.tree.unflatten(scratch_tree, [shown(ref) for ref in refs[num_in + num_out :]])
  args = [*inputs, *(outputs if many_outputs else (outputs,))]
  named = scratch if isinstance(scratch, Mapping) else {}
  args += () if named else scratch
  check_takes(body, "The kernel body", "a ref for each operand, output and scratch buffer, in this order", args, named)
  result = body(*args, **named)
  if jax.tree.leaves(result):
    raise errors.KernelReturnError(
      f"A kernel body must return None, got {result}. Write results to the output refs instead."
    )
  return []


def _array_ref(aval: Any, space: Any = None) -> Any:
  if high_types.is_high(aval):
    return AbstractRef(aval, space or MemorySpace.ANY)
  return AbstractRef(ShapedArray(aval.shape, aval.dtype), space or MemorySpace.ANY)


def _unique(values: Sequence[Any]) -> list[Any]:
  return list({id(v): v for v in values}.values())


def _check_captured(captured: Sequence[Any], bodies: Sequence[Any]) -> None:
  arrays = [a for a in map(_jax.core.typeof, captured) if not isinstance(a, AbstractRef) and a.shape != ()]
  if arrays:
    names = ", ".join(getattr(b, "__name__", repr(b)) for b in bodies)
    raise errors.CapturedConstantError(
      f"The kernel function {names} captures constants {arrays}. You should pass them as inputs (or put them into refs)."
    )


def _consecutive_meshes(meshes: Sequence[Any]) -> list[int]:
  starts, at = [], 0
  for mesh in meshes:
    starts.append(at)
    at += math.prod(mesh_axes(mesh).values())
  return starts


def _build(
  jaxpr: Any,
  is_ref: Sequence[bool],
  operand_refs: Sequence[Any],
  out_avals: Sequence[Any],
  out_refs: Sequence[Any],
  scratch_avals: Sequence[Any],
  grid: tuple[int, ...],
  names: Any,
  meshes: Sequence[Any],
  bodies: Sequence[Any],
  options: _Options,
) -> Kernel:
  """The Kernel of a mesh: refs among the operands are inputs aliased to outputs, and the body uses the output's side."""
  own_out = len(out_refs)

  def with_twins(*refs: Any) -> list[Any]:
    inputs, rest = refs[: len(is_ref)], refs[len(is_ref) :]
    outs, twins, scratch = rest[:own_out], iter(rest[own_out : own_out + sum(is_ref)]), rest[own_out + sum(is_ref) :]
    seen = [next(twins) if flag else x for x, flag in zip(inputs, is_ref)]
    _jax.core.eval_jaxpr(jaxpr, (), *seen, *outs, *scratch)
    return []

  twin_refs = [r for r, flag in zip(operand_refs, is_ref) if flag]
  avals = [*operand_refs, *out_refs, *twin_refs, *scratch_avals]
  with _jax.config._check_vma(False):
    full, _ = _jax.detach(_jax.trace(with_twins, avals, jaxpr.debug_info.with_unknown_names()))

  def whole(ref: Any, origin: str) -> BlockMapping:
    aval = ShapedArray(ref.shape, ref.dtype)
    return BlockMapping(tuple(Blocked(d) for d in aval.shape), None, None, aval, ref, origin, in_place=True)

  mappings = [
    *(whole(r, f"operand {i}") for i, r in enumerate(operand_refs)),
    *(whole(r, f"output {i}") for i, r in enumerate(out_refs)),
    *(whole(r, f"ref {i}") for i, r in enumerate(twin_refs)),
  ]
  ref_positions = [i for i, flag in enumerate(is_ref) if flag]
  first = bodies[0]
  while isinstance(first, functools.partial):
    first = first.func
  built = Kernel(
    jaxpr=full,
    grid_mapping=GridMapping(
      grid=grid,
      grid_names=names,
      block_mappings=tuple(mappings),
      num_prefetch=0,
      num_inputs=len(operand_refs),
      num_outputs=len(out_refs) + len(twin_refs),
      num_scratch=len(scratch_avals),
    ),
    out_avals=(*out_avals, *(ShapedArray(r.shape, r.dtype) for r in twin_refs)),
    input_output_aliases=tuple((i, own_out + k) for k, i in enumerate(ref_positions)),
    name=options.name or str(getattr(first, "__name__", "kernel")),
    interpret=targets.effective_interpret(options.interpret),
    compiler_params=options.compiler_params,
    cost_estimate=options.cost_estimate,
    debug=options.debug,
    metadata=_jax.FrozenDict(options.metadata) if options.metadata else None,
    mesh=tuple(meshes),
  )
  if options.debug:
    print(f"The kernel jaxpr for {built.name}:\n{built.jaxpr}")
  return shared(eliminate_dead_code(built))


# --- one body of several -----------------------------------------------------------------------------------------

on_mesh_p = Primitive("on_mesh")
on_mesh_p.multiple_results = True


@on_mesh_p.def_effectful_abstract_eval
def _(*avals: Any, jaxpr: Any, axes: Any, first: int) -> Any:
  return [], set(_jax.core.positional_effects(jaxpr))


def _on_mesh(jaxpr: Any, mesh: Any, start: int, several: bool, args: Sequence[Any]) -> None:
  if not several:
    _jax.core.eval_jaxpr(jaxpr, (), *args)
    return
  axes = tuple(mesh_axes(mesh).items())
  core = program_id_p.bind(axis=0) - start

  def run() -> None:
    on_mesh_p.bind(core, *args, jaxpr=_with_core(jaxpr), axes=axes, first=start)

  lax.cond((core >= 0) & (core < math.prod(s for _, s in axes)), run, lambda: None)


def _with_core(jaxpr: Any) -> Any:
  """The jaxpr with an additional first input: the index of the core within its mesh."""
  avals = [ShapedArray((), jnp.dtype("int32")), *(v.aval for v in jaxpr.invars)]
  body = lambda _, *args: _jax.core.eval_jaxpr(jaxpr, (), *args)
  return _jax.detach(_jax.trace(body, avals, jaxpr.debug_info.with_unknown_names()))[0]


def core_coordinates(core: Any, axes: Sequence[tuple[Any, int]]) -> list[Any]:
  """The coordinates of the n-th core of a mesh, the last axis fastest."""
  coordinates = []
  for _, size in reversed(axes):
    coordinates.append(lax.rem(core, jnp.int32(size)))
    core = lax.div(core, jnp.int32(size))
  return coordinates[::-1]


@xla.register(on_mesh_p)
def _(ctx: xla.Context, core: Any, *args: Any, jaxpr: Any, axes: Any, first: int) -> list[Any]:
  coordinates = core_coordinates(core, axes)
  instance = dataclasses.replace(
    ctx.instance,
    indices=tuple(coordinates),
    sizes=tuple(size for _, size in axes),
    axis_indices={name: i for (name, _), i in zip(axes, coordinates)},
  )
  return ctx.evaluate(jaxpr, (), [core, *args], instance)


# --- a kernel that works on refs ---------------------------------------------------------------------------------

mesh_kernel_p = Primitive("mesh_kernel")
mesh_kernel_p.multiple_results = True
mesh_kernel_p.is_effectful = lambda params: True


@mesh_kernel_p.def_effectful_abstract_eval
def _(*avals: Any, **params: Any) -> Any:
  built = Kernel(**params)
  own = len(built.out_avals) - len(built.input_output_aliases)
  refs = [i for i, a in enumerate(avals) if isinstance(a, AbstractRef)]
  return list(built.out_avals[:own]), {e(i) for i in refs for e in (ReadEffect, WriteEffect)}


def _discharge(args: Sequence[Any], params: Any) -> tuple[list[Any], list[Any]]:
  """The rule on values: the refs' new values, in the operands' positions, and the outputs."""
  built = Kernel(**params)
  outs = pallas_call_p.bind(*args, **params)
  own = len(built.out_avals) - len(built.input_output_aliases)
  new: list[Any] = [None] * len(args)
  for into, out in built.input_output_aliases:
    new[into] = outs[out]
  return new, list(outs[:own])


@_jax.discharge_rule(mesh_kernel_p)
def _(*args: Any, **params: Any) -> Any:
  return _discharge(args, params)


def _is_high(*avals: Any, **params: Any) -> bool:
  return any(a.is_high for a in (*avals, *params["out_avals"]))


def _to_lojax(*args: Any, **params: Any) -> list[Any]:
  built = Kernel(**params)
  own = built.out_avals[: len(built.out_avals) - len(built.input_output_aliases)]
  lo_outs = tuple(b.array_aval for b in built.grid_mapping.output_mappings)
  outs = mesh_kernel_p.bind(*high_types.lower_values(args), **kernel_params(built.replace(out_avals=lo_outs)))
  return _jax.pe.raise_lo_outs(own, outs)


check_as_traced(mesh_kernel_p)
mesh_kernel_p.is_high = _is_high
mesh_kernel_p.to_lojax = _to_lojax
mesh_kernel_p.def_impl(functools.partial(apply_eagerly, mesh_kernel_p))


def _refuse(transformation: str, name: str) -> errors.UnsupportedFeatureError:
  return errors.UnsupportedFeatureError(
    f"{transformation} of the kernel '{name}', which updates refs in place, is not supported. Pass arrays to it and give it an "
    "out_type, so that it is a function of arrays."
  )


def _vmap(axis_data: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
  """The kernel of arrays is batched: the refs are read before it and written after it."""
  if all(d is None for d in dims):
    outs = mesh_kernel_p.bind(*args, **params)
    return outs, [None] * len(outs)
  built = Kernel(**params)
  values = [x[...] if _is_ref(x) else x for x in args]
  outs, out_dims = _jax.batching.fancy_primitive_batchers[pallas_call_p](axis_data, values, dims, **params)
  written = _written_operands(built)
  for into, out in built.input_output_aliases:
    if into not in written:
      continue
    if dims[into] is None:
      raise errors.UnsupportedFeatureError(
        f"vmap of the kernel '{built.name}': its operand {into} is a ref that the kernel writes, and that all elements of the batch "
        "share. Give each element a ref of its own, made from a batched array, or write to an output instead."
      )
    args[into][...] = _jax.batching.moveaxis(outs[out], out_dims[out], dims[into])
  own = len(built.out_avals) - len(built.input_output_aliases)
  return outs[:own], out_dims[:own]


def _written_operands(built: Kernel) -> set[int]:
  """The refs among the operands that the body writes: it uses their outputs."""
  written = jaxprs.written_inputs(built.jaxpr)
  first = built.grid_mapping.num_inputs
  return {into for into, out in built.input_output_aliases if built.jaxpr.invars[first + out] in written}


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  if not all(isinstance(t, _jax.ad.Zero) for t in tangents):
    raise _refuse("A derivative", params["name"])
  outs = mesh_kernel_p.bind(*primals, **params)
  return outs, [_jax.zero_tangent(o) for o in outs]


_jax.batching.fancy_primitive_batchers[mesh_kernel_p] = _vmap
_jax.ad.primitive_jvps[mesh_kernel_p] = _jvp


@xla.register(mesh_kernel_p)
def _(ctx: xla.Context, *args: Any, **params: Any) -> list[Any]:
  new, outs = _discharge([a.value if isinstance(a, xla.Cell) else a for a in args], params)
  for arg, value in zip(args, new):
    if value is not None:
      arg.value = value
  return outs
