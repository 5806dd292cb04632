"""`pallas_call`: from a Python function over refs to one equation in a JAX program.

A call goes through these steps: the specs become block mappings (`mapping`), the body is traced once to a jaxpr over refs,
dead code goes, and the result is a `Kernel`, held by a single `pallas_call` equation. Transformations (`transforms`) rewrite
the kernel; the target named by `interpret` and the backend runs it.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

from tilewright import errors
from tilewright.pallas import effects, jaxprs, mapping, targets
from tilewright.pallas.fingerprint import NoFingerprint, fingerprint
from tilewright.pallas.primitives import AbstractRef, ShapedArray, is_scratch_type, program_id_p, ref_aval_of
from tilewright.pallas.specs import GridSpec, no_block_spec
from tilewright.pallas.tracing import GridFrame, tracing_kernel
from tilewright.runtime import _jax
from tilewright.tile.grid import BlockMapping, CostEstimate, GridMapping, Kernel, source_line
from tilewright.tile.memory import MemoryRef, TpuMemorySpace

pallas_call_p = _jax.core.Primitive("pallas_call")
pallas_call_p.multiple_results = True


@dataclasses.dataclass(frozen=True)
class Traced:
  """A traced kernel, the values its body closed over (they become its last inputs), and the tree of its outputs."""

  kernel: Kernel
  consts: tuple[Any, ...]
  out_tree: Any


# --- the public entry --------------------------------------------------------------------------------------------


def pallas_call(
  kernel: Callable[..., None],
  out_shape: Any,
  *,
  grid_spec: GridSpec | None = None,
  grid: Any = (),
  in_specs: Any = no_block_spec,
  out_specs: Any = no_block_spec,
  scratch_shapes: Any = (),
  input_output_aliases: Mapping[int, int] = {},
  debug: bool = False,
  interpret: Any = False,
  name: str | None = None,
  compiler_params: Any = None,
  cost_estimate: CostEstimate | None = None,
  metadata: dict[str, str] | None = None,
) -> Callable[..., Any]:
  """Make a function of arrays out of a kernel, a function of refs that runs once per point of a grid.

  Args:
    kernel: gets a ref for each prefetched scalar, input, output and scratch buffer, in this order; returns None.
    out_shape: a tree of `jax.ShapeDtypeStruct`: the outputs.
    grid_spec: grid, specs and scratch in one object, instead of the next four arguments.
    grid: the sizes of the grid: ints, dynamic scalars, or pairs (name, size).
    in_specs: a tree of `BlockSpec` matching the positional arguments; by default each instance sees whole arrays.
    out_specs: the same for the outputs.
    scratch_shapes: a sequence or dict of memory that lives for the whole call.
    input_output_aliases: which flat input shares its memory with which flat output.
    debug: print the stages of the kernel as it is processed.
    interpret: True for the portable lowering on any backend, an `InterpretParams` for the simulated machine.
    name: what the kernel is called in programs, dumps and messages.
    compiler_params: parameters of one target.
    cost_estimate: what the kernel costs, for schedulers.
    metadata: strings kept with the kernel.

  Returns:
    A function of the inputs, which gives arrays in the structure of `out_shape`.
  """
  if grid_spec is None:
    grid_spec = GridSpec(grid, in_specs, out_specs, scratch_shapes)
  else:
    for field, value, default in (
      ("grid", grid, ()),
      ("in_specs", in_specs, no_block_spec),
      ("out_specs", out_specs, no_block_spec),
      ("scratch_shapes", scratch_shapes, ()),
    ):
      if value is not default and value != default:
        raise errors.GridError(f"If `grid_spec` is specified, then `{field}` must be `{default}`. It is {value}.")
  call = _Call(
    kernel=kernel,
    out_shape=out_shape,
    grid_spec=grid_spec,
    aliases=dict(input_output_aliases),
    debug=debug,
    interpret=interpret,
    name=name,
    compiler_params=compiler_params,
    cost_estimate=cost_estimate,
    metadata=metadata,
  )

  def wrapped(*args: Any) -> Any:
    return call(*args)

  functools.update_wrapper(wrapped, kernel, assigned=("__name__", "__qualname__", "__module__"), updated=()) if hasattr(
    kernel, "__name__"
  ) else None
  return wrapped


@dataclasses.dataclass
class _Call:
  """What the user gave to `pallas_call`."""

  kernel: Callable[..., Any]
  out_shape: Any
  grid_spec: GridSpec
  aliases: dict[int, int]
  debug: bool
  interpret: Any
  name: str | None
  compiler_params: Any
  cost_estimate: CostEstimate | None
  metadata: dict[str, str] | None

  def __call__(self, *args: Any) -> Any:
    flat_args, in_tree = jax.tree.flatten(args)
    flat_args = [x if _is_jax_value(x) else jnp.asarray(x) for x in flat_args]
    if any(isinstance(_jax.core.typeof(x), AbstractRef) for x in flat_args):
      raise errors.KernelTypeError(
        "pallas_call takes arrays, but got a ref. Pass ref[...], or use pl.kernel, which takes refs."
      )
    bounds, static_grid = _split_grid(self.grid_spec.grid)
    in_avals = tuple(_jax.core.typeof(x) for x in flat_args)
    traced = self.trace(in_tree, in_avals, static_grid)
    out = pallas_call_p.bind(*bounds, *flat_args, *traced.consts, **kernel_params(traced.kernel))
    return jax.tree.unflatten(traced.out_tree, out)

  def trace(self, in_tree: Any, in_avals: tuple[Any, ...], static_grid: tuple[Any, ...]) -> Traced:
    interpret = targets.effective_interpret(self.interpret)
    try:
      key = (
        fingerprint(self.kernel),
        *(fingerprint(x) for x in (self.grid_spec.in_specs, self.grid_spec.out_specs, self.grid_spec.scratch_shapes)),
        _out_key(self.out_shape),
        tuple(sorted(self.aliases.items())),
        *(
          fingerprint(x)
          for x in (self.name, self.compiler_params, self.cost_estimate, self.metadata, interpret, self.debug)
        ),
        (self.grid_spec.num_scalar_prefetch, self.grid_spec.grid_names, static_grid),
        in_tree,
        in_avals,
        _jax.trace_context(),
      )
      hash(key)
    except (NoFingerprint, TypeError):
      return trace_call(self, in_tree, in_avals, static_grid, interpret)
    found = _traces.get(key)
    if found is None:
      found = trace_call(self, in_tree, in_avals, static_grid, interpret)
      if not any(isinstance(c, _jax.core.Tracer) for c in found.consts):
        _traces.put(key, found)
    return found


class _TraceCache:
  """The most recently used traces. Bounded, and safe to use from several threads."""

  def __init__(self, size: int):
    self.size = size
    self.entries: collections.OrderedDict[Any, Traced] = collections.OrderedDict()
    self.lock = threading.Lock()

  def get(self, key: Any) -> Traced | None:
    with self.lock:
      found = self.entries.get(key)
      if found is not None:
        self.entries.move_to_end(key)
      return found

  def put(self, key: Any, value: Traced) -> None:
    with self.lock:
      self.entries[key] = value
      while len(self.entries) > self.size:
        self.entries.popitem(last=False)


_traces = _TraceCache(1024)


def _out_key(out_shape: Any) -> Any:
  leaves, tree = jax.tree.flatten(out_shape, is_leaf=_is_out_leaf)
  return tree, tuple(out_aval(x) for x in leaves)


def _is_jax_value(x: Any) -> bool:
  try:
    _jax.core.typeof(x)
  except TypeError:
    return False
  return not isinstance(x, bool | int | float | complex)


def _is_out_leaf(x: Any) -> bool:
  return isinstance(x, MemoryRef | _jax.core.AbstractValue | jax.ShapeDtypeStruct) or hasattr(x, "get_array_aval")


def out_aval(x: Any) -> Any:
  """The type of an output that a leaf of `out_shape` describes."""
  if isinstance(x, _jax.core.AbstractValue):
    return x
  if hasattr(x, "get_array_aval"):
    return x.get_array_aval()
  if not hasattr(x, "shape") or not hasattr(x, "dtype"):
    raise errors.OutShapeError(
      f"Invalid out_shape type: {type(x)}. Expected jax.ShapeDtypeStruct, or something else with a shape and a dtype."
    )
  dtype = x.dtype
  if not isinstance(dtype, _jax.dtypes.ExtendedDType):
    dtype = jax.dtypes.canonicalize_dtype(dtype)
  return _jax.with_varying_axes(ShapedArray(x.shape, dtype), getattr(x, "vma", None))


def _split_grid(grid: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
  """Dynamic bounds as operands, and the grid with None in their places."""
  bounds: list[Any] = []
  static: list[Any] = []
  for axis, size in enumerate(grid):
    if isinstance(size, bool | float):
      raise errors.GridError(f"Grid must be a tuple of integers or jax.Array, got {tuple(grid)}: see dimension {axis}.")
    if hasattr(size, "__index__") and not isinstance(size, jax.Array | _jax.core.Tracer):
      size = int(size)
    if isinstance(size, int):
      if size < 0:
        raise errors.GridError(f"grid: dimension {axis} is {size}; sizes must not be negative.")
      static.append(size)
    elif hasattr(size, "scope"):  # a symbolic dimension of jax.export
      static.append(size)
    else:
      bound = jnp.asarray(size)
      if bound.shape != () or not jnp.issubdtype(bound.dtype, jnp.integer):
        raise errors.GridError(
          f"grid: dimension {axis} must be an integer scalar, got {bound.dtype}{list(bound.shape)}."
        )
      bounds.append(bound.astype(jnp.int32))
      static.append(None)
  return bounds, tuple(static)


def kernel_params(kernel: Kernel) -> dict[str, Any]:
  return {f.name: getattr(kernel, f.name) for f in dataclasses.fields(kernel)}


# --- tracing -----------------------------------------------------------------------------------------------------


def trace_call(
  call: _Call, in_tree: Any, in_avals: Sequence[Any], static_grid: tuple[Any, ...], interpret: Any
) -> Traced:
  """Trace the specs and the body for operands of these types."""
  spec = call.grid_spec
  num_prefetch = spec.num_scalar_prefetch
  arg_trees = in_tree.children()
  if num_prefetch > len(arg_trees):
    raise errors.TreeMismatchError(
      f"num_scalar_prefetch is {num_prefetch}, but the call got only {len(arg_trees)} arguments."
    )
  prefetch_tree = jax.tree.structure(tuple(jax.tree.unflatten(t, [0] * t.num_leaves) for t in arg_trees[:num_prefetch]))
  input_tree = jax.tree.structure(tuple(jax.tree.unflatten(t, [0] * t.num_leaves) for t in arg_trees[num_prefetch:]))
  num_scalars = prefetch_tree.num_leaves
  prefetch_avals = [AbstractRef(ShapedArray(a.shape, a.dtype), TpuMemorySpace.SMEM) for a in in_avals[:num_scalars]]

  out_shape = tuple(call.out_shape) if isinstance(call.out_shape, list) else call.out_shape
  flat_out, out_tree = jax.tree.flatten(out_shape, is_leaf=_is_out_leaf)
  out_avals = [out_aval(x) for x in flat_out]
  one_output = not isinstance(out_shape, tuple)
  outs_tree = jax.tree.structure((out_shape,) if one_output else out_shape, is_leaf=_is_out_leaf)
  out_specs = (spec.out_specs,) if one_output and spec.out_specs is not no_block_spec else spec.out_specs

  in_specs = spec.in_specs
  if in_specs is not no_block_spec and not isinstance(in_specs, tuple | list):
    raise errors.TreeMismatchError(f"`in_specs` must be a tuple or a list. Found: {in_specs}.")
  if isinstance(in_specs, list):
    in_specs = tuple(in_specs)
  if isinstance(out_specs, list):
    out_specs = tuple(out_specs)
  in_paths = _paths("args", input_tree, offset=num_prefetch)
  out_paths = (
    _paths("outputs", outs_tree)
    if not one_output
    else _paths("outputs", jax.tree.structure(out_shape, is_leaf=_is_out_leaf))
  )

  def map_all(
    specs: Any, tree: Any, avals: Sequence[Any], paths: Sequence[str], name: str, values: str
  ) -> list[list[BlockMapping]]:
    make = functools.partial(
      mapping.make_block_mapping,
      num_grid_dims=len(static_grid),
      prefetch_avals=prefetch_avals,
      prefetch_tree=prefetch_tree,
    )
    groups = []
    for s, aval, path in zip(mapping.flatten_specs(specs, tree, name, values), avals, paths, strict=True):
      groups.append([make(ls, lo, path) for ls, lo in _lower_spec(s, aval, path)])
    return groups

  frame = GridFrame(static_grid, spec.grid_names)
  with tracing_kernel(frame):
    in_groups = map_all(in_specs, input_tree, in_avals[num_scalars:], in_paths, "in_specs", "inputs")
    out_groups = map_all(out_specs, outs_tree, out_avals, out_paths, "out_specs", "out_shape")
    flat_scratch, scratch_tree = jax.tree.flatten(spec.scratch_shapes, is_leaf=is_scratch_type)
    scratch_avals = [ref_aval_of(t, "scratch_shapes") for t in flat_scratch]
    in_refs = [_block_ref(g, a) for g, a in zip(in_groups, in_avals[num_scalars:])]
    out_refs = [_block_ref(g, a) for g, a in zip(out_groups, out_avals)]
    jaxpr, consts = _trace_body(
      call, [*prefetch_avals, *in_refs, *out_refs, *scratch_avals], prefetch_tree, input_tree, outs_tree, scratch_tree
    )

  lo_in = [m for g in in_groups for m in g]
  lo_out = [m for g in out_groups for m in g]
  jaxpr, const_mappings = _consts_as_inputs(jaxpr, consts, num_scalars + len(lo_in))
  grid_mapping = GridMapping(
    grid=static_grid,
    grid_names=spec.grid_names,
    block_mappings=(*lo_in, *const_mappings, *lo_out),
    num_prefetch=num_scalars,
    num_inputs=len(lo_in) + len(const_mappings),
    num_outputs=len(lo_out),
    num_scratch=len(jaxpr.invars) - num_scalars - len(lo_in) - len(const_mappings) - len(lo_out),
  )
  lo_arrays = [*(_lo_avals(in_avals[:num_scalars])), *(m.array_aval for m in lo_in)]
  aliases = _check_aliases(call.aliases, in_avals, out_avals, lo_arrays, lo_out, in_paths, out_paths)
  _check_input_writes(jaxpr, grid_mapping, aliases)
  name, where = _kernel_name(call)
  kernel = Kernel(
    jaxpr=jaxpr,
    grid_mapping=grid_mapping,
    out_avals=tuple(out_avals),
    input_output_aliases=aliases,
    name=name,
    interpret=interpret,
    compiler_params=call.compiler_params,
    cost_estimate=call.cost_estimate,
    debug=call.debug,
    metadata=tuple(sorted(call.metadata.items())) if call.metadata else None,
  )
  kernel = eliminate_dead_code(kernel)
  if call.debug:
    print(f"The kernel jaxpr for pallas_call {name} at {where}:\n{kernel.jaxpr}\n{kernel.grid_mapping}")
  return Traced(kernel, consts, out_tree)


def _lo_avals(avals: Sequence[Any]) -> list[Any]:
  return [lo for a in avals for lo in (a.lo_ty() if a.is_high else [a])]


def _lower_spec(spec: Any, aval: Any, path: str) -> list[tuple[Any, Any]]:
  """A spec and a type for each array that a value consists of: several for a user-defined (hijax) type."""
  if not aval.is_high:
    return [(spec, aval)]
  lo_avals = aval.lo_ty()
  if spec is None or spec is no_block_spec or (spec.block_shape is None and spec.index_map is None):
    return [(spec, lo) for lo in lo_avals]
  if hasattr(aval, "lower_block_spec"):
    return list(zip(aval.lower_block_spec(spec), lo_avals, strict=True))
  raise errors.BlockSpecError(
    f"{path} has the user-defined type {aval}, which does not say how to cut it. Give its class a method "
    "lower_block_spec(spec) that returns one BlockSpec for each array it consists of."
  )


def _block_ref(group: Sequence[BlockMapping], aval: Any) -> Any:
  if not aval.is_high:
    return group[0].block_aval
  if all(m.is_whole_array for m in group):
    return AbstractRef(aval)
  if hasattr(aval, "block_type"):
    return AbstractRef(aval.block_type([m.block_aval.inner_aval for m in group]))
  raise errors.BlockSpecError(
    f"{group[0].origin} has the user-defined type {aval}, which does not say what a block of it is. Give its class a method "
    "block_type(avals) that returns the type made of blocks of these types."
  )


def _paths(root: str, tree: Any, offset: int = 0) -> list[str]:
  dummy = jax.tree.unflatten(tree, range(tree.num_leaves))
  paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(dummy)[0]]
  if offset:
    paths = [(jax.tree_util.SequenceKey(p[0].idx + offset), *p[1:]) for p in paths]
  return [root + jax.tree_util.keystr(p) for p in paths]


def _trace_body(
  call: _Call, avals: Sequence[Any], prefetch_tree: Any, input_tree: Any, outs_tree: Any, scratch_tree: Any
) -> tuple[Any, tuple[Any, ...]]:
  """The body's jaxpr, with what it closes over as its first inputs; those values."""
  num_p, num_i, num_o = prefetch_tree.num_leaves, input_tree.num_leaves, outs_tree.num_leaves

  def body(*refs: Any) -> list[Any]:
    prefetched = jax.tree.unflatten(prefetch_tree, refs[:num_p])
    inputs = jax.tree.unflatten(input_tree, refs[num_p : num_p + num_i])
    outputs = jax.tree.unflatten(outs_tree, refs[num_p + num_i : num_p + num_i + num_o])
    scratch = jax.tree.unflatten(scratch_tree, refs[num_p + num_i + num_o :])
    if isinstance(scratch, Mapping):
      result = call.kernel(*prefetched, *inputs, *outputs, **scratch)
    else:
      result = call.kernel(
        *prefetched, *inputs, *outputs, *(scratch if isinstance(scratch, tuple | list) else (scratch,))
      )
    if jax.tree.leaves(result):
      raise errors.KernelReturnError(
        f"The kernel function in the pallas_call {_kernel_name(call)[0]} at {_kernel_name(call)[1]} should return None. It "
        f"returns a PyTree: {jax.tree.structure(result)}. Write results to the output refs instead."
      )
    return []

  info = _jax.api_util.debug_info("pallas_call kernel", call.kernel, (), {})
  closed = _jax.trace(body, avals, info.with_unknown_names())
  for const in closed.consts:
    aval = _jax.core.typeof(const)
    if not isinstance(aval, AbstractRef) and getattr(aval, "shape", ()) != ():
      shapes = [_jax.core.typeof(c).str_short(short_dtypes=True) for c in closed.consts]
      raise errors.CapturedConstantError(
        f"The kernel function in the pallas_call {_kernel_name(call)[0]} at {_kernel_name(call)[1]} captures constants "
        f"[{', '.join(shapes)}]. "
        "You should pass them as inputs."
      )
    if isinstance(aval, AbstractRef):
      raise errors.CapturedConstantError(
        f"The kernel function in the pallas_call {_kernel_name(call)[0]} at {_kernel_name(call)[1]} captures a ref ({aval}). Use "
        "pl.kernel or pl.core_map, whose bodies may close over refs."
      )
  jaxpr, consts = _jax.detach(closed)
  jaxpr = jaxprs.resolve_axis_names(jaxpr, call.grid_spec.grid_names or (), program_id_p)
  if jaxpr.is_high:
    lowered = _jax.pe.lower_jaxpr2(_jax.pe.close_jaxpr(jaxpr))
    jaxpr, more = _jax.detach(lowered)
    if more:
      raise errors.CapturedConstantError("A user-defined type brought constants into the kernel; pass them as inputs.")
  return jaxpr, consts


def _consts_as_inputs(jaxpr: Any, consts: Sequence[Any], position: int) -> tuple[Any, list[BlockMapping]]:
  """Move the scalars a body closes over behind its inputs, as refs that it reads first."""
  if not consts:
    return jaxpr, []
  avals = [_jax.core.typeof(c) for c in consts]
  ref_avals = [AbstractRef(ShapedArray(a.shape, a.dtype), TpuMemorySpace.SMEM) for a in avals]
  own = [v.aval for v in jaxpr.invars[len(consts) :]]

  def body(*refs: Any) -> list[Any]:
    scalars = refs[position : position + len(consts)]
    values = [_jax.state_primitives.ref_get(r, ()) for r in scalars]
    _jax.core.eval_jaxpr(jaxpr, (), *values, *refs[:position], *refs[position + len(consts) :])
    return []

  closed = _jax.trace(body, [*own[:position], *ref_avals, *own[position:]], jaxpr.debug_info.with_unknown_names())
  mappings = [
    BlockMapping((), None, None, ShapedArray(a.shape, a.dtype), r, f"captured scalar {i}")
    for i, (a, r) in enumerate(zip(avals, ref_avals))
  ]
  return _jax.detach(closed)[0], mappings


def _kernel_name(call: _Call) -> tuple[str, str]:
  kernel = call.kernel
  while isinstance(kernel, functools.partial):
    kernel = kernel.func
  code = getattr(kernel, "__code__", None)
  where = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "an unknown line"
  own = getattr(kernel, "__name__", type(kernel).__name__)
  name = call.name or own
  return ("".join(c if c.isalnum() or c == "_" else "_" for c in name) if call.name is None else name), where


# --- checks ------------------------------------------------------------------------------------------------------


def _check_aliases(
  aliases: Mapping[int, int],
  in_avals: Sequence[Any],
  out_avals: Sequence[Any],
  lo_inputs: Sequence[Any],
  lo_out: Sequence[BlockMapping],
  in_paths: Sequence[str],
  out_paths: Sequence[str],
) -> tuple[tuple[int, int], ...]:
  in_starts, out_starts = _starts(in_avals), _starts(out_avals)
  num_scalars = len(in_avals) - len(in_paths)
  paths = [f"[{i}]" for i in range(num_scalars)] + [p.removeprefix("args") for p in in_paths]
  result: list[tuple[int, int]] = []
  for into, out in aliases.items():
    if not 0 <= into < len(in_avals):
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' with input index {into} outside the range "
        f"[0, {len(in_avals)})."
      )
    if not 0 <= out < len(out_avals):
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' with output index {out} outside the range "
        f"[0, {len(out_avals)})."
      )
    a, b = in_avals[into], out_avals[out]
    same = a == b if a.is_high or b.is_high else (a.shape, a.dtype) == (b.shape, b.dtype)
    if not same:
      raise errors.AliasError(
        f"input_output_aliases contains the mapping '{into}:{out}' referring to input{paths[into]} with abstract value {a} "
        f"and to output{out_paths[out].removeprefix('outputs')} with a different abstract value {b}."
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


def _check_input_writes(jaxpr: Any, grid_mapping: GridMapping, aliases: Sequence[tuple[int, int]]) -> None:
  shared = {into for into, _ in aliases}
  names = [f"the prefetched scalar {i}" for i in range(grid_mapping.num_prefetch)] + [
    m.origin for m in grid_mapping.input_mappings
  ]
  written = {
    e.input for e in jaxpr.effects if isinstance(e, _jax.state_types.WriteEffect | _jax.state_types.AccumEffect)
  }
  for i, (name, var) in enumerate(zip(names, jaxpr.invars)):
    if var in written and i not in shared:
      eqn = jaxprs.find_write(jaxpr, var)
      where = source_line(eqn) if eqn is not None else "an unknown line"
      raise errors.InputWriteError(
        f"The kernel writes to {name}, which is an input, at {where}. Write to an output or scratch ref, or alias the input to "
        "an output with input_output_aliases."
      )


def eliminate_dead_code(kernel: Kernel, used_outputs: Sequence[bool] | None = None) -> Kernel:
  """The kernel without computation that nothing uses. Outputs keep their places; those not used are just not written."""
  m = kernel.grid_mapping
  used = used_outputs or [True] * m.num_outputs
  live = [True] * (m.num_prefetch + m.num_inputs) + list(used) + [False] * m.num_scratch
  return kernel.replace(jaxpr=jaxprs.eliminate_dead_code(kernel.jaxpr, live))


# --- the primitive -----------------------------------------------------------------------------------------------


@pallas_call_p.def_effectful_abstract_eval
def _(*avals: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  vary = _jax.varying_axes(avals)
  outs = [a if _jax.varying_axes([a]) else _jax.with_varying_axes(a, vary) for a in kernel.out_avals]
  found: set[Any] = set(effects.call_effects(kernel.jaxpr.effects))
  if _has_side_effects(kernel.compiler_params):
    found.add(effects.side_effect)
  return outs, found


def _has_side_effects(compiler_params: Any) -> bool:
  said = getattr(compiler_params, "has_side_effects", False)
  return said if isinstance(said, bool) else getattr(said, "name", "PURE") != "PURE"


pallas_call_p.def_impl(functools.partial(_jax.dispatch.apply_primitive, pallas_call_p))


def _run(*operands: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  metadata = {"kernel_metadata": json.dumps(dict(kernel.metadata))} if kernel.metadata else {}
  with jax.named_scope(kernel.name), set_xla_metadata(**metadata), _jax.config._check_vma(False):
    return targets.run(kernel, *operands)


_lower_run = _jax.mlir.lower_fun(_run, multiple_results=True)


def _lower(ctx: Any, *operands: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  platforms = ctx.module_context.platforms
  if targets.is_native(kernel) and tuple(platforms) != ("cpu",):
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}' asks for native CPU code (compiler_params=cpu.CompilerParams()) but is compiled for "
      f"{', '.join(platforms)}. Leave compiler_params out, or run it on the CPU."
    )
  return _lower_run(ctx, *operands, **params)


_jax.mlir.register_lowering(pallas_call_p, _lower)


def _dce(used_outputs: Sequence[bool], eqn: Any) -> tuple[list[bool], Any]:
  if not any(used_outputs) and not _jax.pe.has_effects(eqn):
    return [False] * len(eqn.invars), None
  if all(used_outputs):
    return [True] * len(eqn.invars), eqn
  kernel = Kernel(**eqn.params)
  aliased = {out for _, out in kernel.input_output_aliases}
  used = [u or i in aliased for i, u in enumerate(used_outputs)]
  return [True] * len(eqn.invars), eqn.replace(params=kernel_params(eliminate_dead_code(kernel, used)))


_jax.pe.dce_rules[pallas_call_p] = _dce
