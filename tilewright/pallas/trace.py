"""Tracing a kernel call: from specs and a Python body to a `Kernel`.

The specs become block mappings, the body is traced once to a jaxpr over refs, captured values become inputs, and dead code is eliminated.
Traces are cached, keyed by everything they depend on (`fingerprint`), so that building and calling the same kernel again is cheap. A call
without such a key is traced again, and compared with earlier kernels by contents (`content`).
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import block_mapping, high_types, jaxprs, targets, validation
from tilewright.pallas.arity import check_takes
from tilewright.pallas.content import content
from tilewright.pallas.control import when
from tilewright.pallas.fingerprint import NoFingerprint, fingerprint
from tilewright.pallas.foreign import check_primitives
from tilewright.pallas.primitives import AbstractRef, ShapedArray, program_id, program_id_p
from tilewright.pallas.scoped import begin, is_scratch_type, ref_aval_of, shown
from tilewright.pallas.specs import GridSpec, no_block_spec
from tilewright.pallas.trace_context import GridFrame, tracing_kernel
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BlockMapping, CostEstimate, GridMapping, Kernel
from tilewright.tile.memory import MemoryRef, MemorySpace, TpuMemorySpace

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Traced:
  """A traced kernel, the values its body closed over (they become its last inputs), and the tree of its outputs.

  `stored` lists the captured refs that the body writes: pairs of the ref's index and the index of the output to store in it.
  `input_writes` says which inputs the body writes, and where: the kernel gets copies of them, which nobody sees after the call.
  """

  kernel: Kernel
  consts: tuple[Any, ...]
  out_tree: Any
  stored: tuple[tuple[int, int], ...] = ()
  input_writes: tuple[str, ...] = ()


@dataclasses.dataclass
class KernelCall:
  """The user's arguments of `pallas_call`."""

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
  may_write_inputs: bool = True  # a copy of the input, which is private to the call

  @property
  def title(self) -> str:
    """The kernel's description in messages: its name and where it is defined."""
    name, where = kernel_name(self)
    return f"{name} at {where}"


# --- traces that are kept ----------------------------------------------------------------------------------------


class _Recent(Generic[T]):
  """An LRU cache. Bounded and thread-safe."""

  def __init__(self, size: int):
    self.size = size
    self.entries: collections.OrderedDict[Any, T] = collections.OrderedDict()
    self.lock = threading.Lock()

  def get(self, key: Any) -> T | None:
    with self.lock:
      found = self.entries.get(key)
      if found is not None:
        self.entries.move_to_end(key)
      return found

  def put(self, key: Any, value: T) -> None:
    with self.lock:
      self.entries[key] = value
      while len(self.entries) > self.size:
        self.entries.popitem(last=False)


_traces = _Recent[Traced](1024)


_kernels = _Recent[Kernel](1024)


def _out_key(out_shape: Any) -> Any:
  leaves, tree = jax.tree.flatten(out_shape, is_leaf=is_out_leaf)
  return fingerprint(tree), tuple(out_aval(x) for x in leaves)


def trace(call: KernelCall, in_tree: Any, in_avals: tuple[Any, ...], static_grid: tuple[Any, ...]) -> Traced:
  """The trace of a call for operands of these types, cached or new.

  Tracing is skipped only if the key covers everything that it would read. Otherwise the kernel is traced again; if that yields the
  same program, the result is the same `Kernel` object, which JAX has compiled already.
  """
  interpret = targets.effective_interpret(call.interpret)
  spec = call.grid_spec
  call_parameters = (
    call.name,
    call.compiler_params,
    call.cost_estimate,
    call.metadata,
    interpret,
    call.debug,
    call.may_write_inputs,
  )
  try:
    key = (
      fingerprint((call.kernel, spec.in_specs, spec.out_specs, spec.scratch_shapes, *call_parameters, in_tree)),
      _out_key(call.out_shape),
      tuple(sorted(call.aliases.items())),
      (spec.num_scalar_prefetch, spec.grid_names, static_grid),
      in_avals,
      _jax.trace_context(),
    )
    found = _traces.get(key)
  except (NoFingerprint, TypeError, RecursionError):
    return _trace(call, in_tree, in_avals, static_grid, interpret)
  if found is None:
    found = _trace(call, in_tree, in_avals, static_grid, interpret)
    if not any(isinstance(c, _jax.core.Tracer | _jax.core.Ref) for c in found.consts):
      _traces.put(key, found)
  return found


def shared(kernel: Kernel) -> Kernel:
  """The earlier kernel with the same contents, if there is one: JAX compiles equal parameters once, and compares jaxprs by identity."""
  key = content(kernel)
  found = _kernels.get(key)
  if found is None:
    found = kernel
    _kernels.put(key, found)
  return found


def is_out_leaf(x: Any) -> bool:
  return isinstance(x, MemoryRef | _jax.core.AbstractValue | jax.ShapeDtypeStruct) or hasattr(x, "get_array_aval")


def out_aval(x: Any) -> Any:
  """The type of an output that a leaf of `out_shape` describes."""
  if isinstance(x, _jax.core.AbstractValue):
    return x
  if hasattr(x, "get_array_aval"):
    return x.get_array_aval()
  if not hasattr(x, "shape") or not hasattr(x, "dtype"):
    raise errors.OutShapeError(
      f"Invalid out_shape type: {type(x)}. Expected jax.ShapeDtypeStruct(shape, dtype) for each output, or an array like it; got {x!r}."
    )
  dtype = x.dtype
  if not isinstance(dtype, _jax.dtypes.ExtendedDType):
    dtype = jax.dtypes.canonicalize_dtype(dtype)
  return _jax.with_varying_axes(ShapedArray(x.shape, dtype), getattr(x, "vma", None))


# --- tracing -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Structure:
  """How the operands and outputs of a call are nested, and the name of each in messages."""

  prefetch_tree: Any
  input_tree: Any
  out_tree: Any  # as the user wrote it
  outs_tree: Any  # as a tuple, one entry per argument of the body
  in_paths: list[str]
  out_paths: list[str]


def _structure(call: KernelCall, in_tree: Any) -> _Structure:
  num_prefetch = call.grid_spec.num_scalar_prefetch
  arg_trees = in_tree.children()
  if num_prefetch > len(arg_trees):
    raise errors.TreeMismatchError(
      f"num_scalar_prefetch is {num_prefetch}, but the call got only {len(arg_trees)} arguments. The first arguments of the call are the "
      "prefetched scalars; count only those."
    )
  # JAX gives lists of outputs back as tuples.
  out_shape = tuple(call.out_shape) if isinstance(call.out_shape, list) else call.out_shape
  out_tree = jax.tree.structure(out_shape, is_leaf=is_out_leaf)
  outs = out_shape if isinstance(out_shape, tuple) else (out_shape,)
  input_tree = _tuple_tree(arg_trees[num_prefetch:])
  return _Structure(
    _tuple_tree(arg_trees[:num_prefetch]),
    input_tree,
    out_tree,
    jax.tree.structure(outs, is_leaf=is_out_leaf),
    _paths("args", input_tree, offset=num_prefetch),
    _paths("outputs", out_tree),
  )


def _tuple_tree(trees: Sequence[Any]) -> Any:
  return jax.tree.structure(tuple(jax.tree.unflatten(t, [0] * t.num_leaves) for t in trees))


def _paths(root: str, tree: Any, offset: int = 0) -> list[str]:
  dummy = jax.tree.unflatten(tree, range(tree.num_leaves))
  paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(dummy)[0]]
  if offset:
    paths = [(jax.tree_util.SequenceKey(p[0].idx + offset), *p[1:]) for p in paths]
  return [root + jax.tree_util.keystr(p) for p in paths]


def _spec_trees(call: KernelCall) -> tuple[Any, Any]:
  """The specs of inputs and of outputs, each as a tuple with one entry per argument of the body."""
  in_specs, out_specs = call.grid_spec.in_specs, call.grid_spec.out_specs
  if in_specs is not no_block_spec and not isinstance(in_specs, tuple | list):
    raise errors.TreeMismatchError(
      f"`in_specs` must be a tuple or a list. Found: {in_specs}. For one argument write in_specs=[spec]."
    )
  if out_specs is not no_block_spec and not isinstance(call.out_shape, tuple | list):
    out_specs = (out_specs,)
  return tuple(in_specs) if isinstance(in_specs, list) else in_specs, tuple(out_specs) if isinstance(
    out_specs, list
  ) else out_specs


def _trace(
  call: KernelCall, in_tree: Any, in_avals: Sequence[Any], static_grid: tuple[Any, ...], interpret: Any
) -> Traced:
  spec, s = call.grid_spec, _structure(call, in_tree)
  out_avals = [out_aval(x) for x in jax.tree.leaves(call.out_shape, is_leaf=is_out_leaf)]
  num_scalars = s.prefetch_tree.num_leaves
  array_avals = in_avals[num_scalars:]
  prefetched = [AbstractRef(ShapedArray(a.shape, a.dtype), TpuMemorySpace.SMEM) for a in in_avals[:num_scalars]]
  in_specs, out_specs = _spec_trees(call)

  def map_all(
    specs: Any, tree: Any, avals: Sequence[Any], paths: Sequence[str], *names: str, num_prefetch: int = 0
  ) -> list[list[BlockMapping]]:
    make = functools.partial(
      block_mapping.make_block_mapping,
      num_grid_dims=len(static_grid),
      prefetch_avals=prefetched,
      prefetch_tree=s.prefetch_tree,
    )
    flat = zip(block_mapping.flatten_specs(specs, tree, *names, num_prefetch=num_prefetch), avals, paths, strict=True)
    return [
      [make(lo_spec, lo, path) for lo_spec, lo in high_types.lower_spec(one, aval, path)] for one, aval, path in flat
    ]

  with tracing_kernel(GridFrame(static_grid, spec.grid_names)), _with_line_of(call):
    in_groups = map_all(
      in_specs, s.input_tree, array_avals, s.in_paths, "in_specs", "inputs", num_prefetch=spec.num_scalar_prefetch
    )
    out_groups = map_all(out_specs, s.outs_tree, out_avals, s.out_paths, "out_specs", "out_shape")
    flat_scratch, scratch_tree = jax.tree.flatten(spec.scratch_shapes, is_leaf=is_scratch_type)
    scratch = [ref_aval_of(t, "scratch_shapes") for t in flat_scratch]
  with tracing_kernel(GridFrame(static_grid, spec.grid_names)):
    in_refs = [_block_ref(g, a) for g, a in zip(in_groups, array_avals)]
    out_refs = [_block_ref(g, a) for g, a in zip(out_groups, out_avals)]
    avals = [*prefetched, *in_refs, *out_refs, *scratch]
    closed = _trace_body(call, avals, s, scratch_tree)
    if begun := _read_first(closed.jaxpr, flat_scratch):
      closed = _trace_body(call, avals, s, scratch_tree, begun)
    jaxpr, consts = _detached(call, closed)

  inputs = [m for g in in_groups for m in g]
  outputs = [m for g in out_groups for m in g]
  jaxpr, captured = _consts_as_inputs(jaxpr, consts, num_scalars + len(inputs))
  grid_mapping = GridMapping(
    grid=static_grid,
    grid_names=spec.grid_names,
    block_mappings=(*inputs, *captured, *outputs),
    num_prefetch=num_scalars,
    num_inputs=len(inputs) + len(captured),
    num_outputs=len(outputs),
    num_scratch=len(scratch),
  )
  with _with_line_of(call):
    aliases = validation.flat_aliases(call.aliases, in_avals, out_avals, s.in_paths, s.out_paths)
  captured_refs = [num_scalars + len(inputs) + i for i, m in enumerate(captured) if m.in_place]
  written = validation.input_writes(jaxpr, grid_mapping, aliases, captured_refs)
  if written and not call.may_write_inputs:
    raise errors.InputWriteError(f"{next(iter(written.values()))} Write to an output or scratch ref.")
  validation.check_indices(jaxpr, may_leave=not isinstance(interpret, bool))
  validation.check_effects(jaxpr)
  kernel = Kernel(
    jaxpr=jaxpr,
    grid_mapping=grid_mapping,
    out_avals=tuple(out_avals),
    input_output_aliases=aliases,
    name=kernel_name(call)[0],
    interpret=interpret,
    compiler_params=call.compiler_params,
    cost_estimate=call.cost_estimate,
    debug=call.debug,
    metadata=_jax.FrozenDict(call.metadata) if call.metadata else None,
  )
  state = [*_state(kernel, captured_refs), *written]
  kernel = eliminate_dead_code(_with_state(kernel, state))
  if call.debug:
    print(f"The kernel jaxpr for pallas_call {call.title}:\n{kernel.jaxpr}\n{kernel.grid_mapping}")
  first = num_scalars + len(inputs)
  stored = tuple((i - first, len(out_avals) + k) for k, i in enumerate(state) if i >= first)
  return Traced(shared(kernel), consts, s.out_tree, stored, tuple(written.values()))


@contextlib.contextmanager
def _with_line_of(call: KernelCall) -> Iterator[None]:
  """Errors in specs of operands have no source line of their own: they name the kernel and where it is defined."""
  try:
    yield
  except (
    errors.BlockSpecError,
    errors.MemorySpaceError,
    errors.TreeMismatchError,
    errors.AliasError,
    errors.LayoutError,
  ) as e:
    if not isinstance(e, errors.IndexMapError):
      e.args = (f"{e} This is in the pallas_call {call.title}.",)
    raise


def _block_ref(group: Sequence[BlockMapping], aval: Any) -> Any:
  if not aval.is_high:
    return group[0].block_aval
  return AbstractRef(high_types.block_type(aval, [m.block_aval.inner_aval for m in group], group[0].origin))


def _read_first(jaxpr: Any, types: Sequence[Any]) -> dict[int, Any]:
  """The scratch memory with initial values (`begin`) that the body relies on, that is, reads before it writes. Keyed by negative
  index (from the end)."""
  begins = ((number, ty) for number, ty in enumerate(types, -len(types)) if hasattr(ty, "begin"))
  return {number: ty for number, ty in begins if _first_use(jaxpr, jaxpr.invars[number]) == "get"}


def _first_use(jaxpr: Any, ref: Any) -> str | None:
  """The primitive that uses a ref first. In a conditional, a write counts as before a read: a body that writes only in some instances
  chooses which, like one that zeroes its accumulator at the first step."""
  for eqn in jaxpr.eqns:
    place = next((i for i, v in enumerate(eqn.invars) if v is ref), None)
    if place is None:
      continue
    if eqn.primitive is not _jax.conditionals.cond_p:
      return eqn.primitive.name
    branches = [branch.jaxpr for branch in eqn.params["branches"]]
    operand = place - 1  # the first operand is the branch index
    uses = [_first_use(branch, branch.invars[operand]) for branch in branches]
    if any(uses):
      return "swap" if "swap" in uses else next(use for use in uses if use)
  return None


def _begin(call: KernelCall, begun: Mapping[int, Any], refs: Sequence[Any]) -> None:
  """Initialise scratch memory at the first step of a CTA: the first index along every dimension that is not parallel."""
  semantics = getattr(call.compiler_params, "dimension_semantics", None) or ()
  steps = [program_id(d) == 0 for d, kind in enumerate(semantics) if kind != "parallel"]
  is_first = functools.reduce(jnp.logical_and, steps) if steps else True
  when(is_first)(lambda: begin(list(begun.values()), [refs[number] for number in begun]))


_GETS = "a ref for each prefetched scalar, input, output and scratch buffer, in this order"


def _trace_body(
  call: KernelCall, avals: Sequence[Any], s: _Structure, scratch_tree: Any, begun: Mapping[int, Any] = {}
) -> Any:
  """The closed jaxpr of the body. The initial values of `begun` are written before it."""

  def body(*refs: Any) -> list[Any]:
    if begun:
      _begin(call, begun, refs)
    left = map(shown, refs)
    take = lambda tree: jax.tree.unflatten(tree, [next(left) for _ in range(tree.num_leaves)])
    args = [*take(s.prefetch_tree), *take(s.input_tree), *take(s.outs_tree)]
    scratch = take(scratch_tree)
    named = scratch if isinstance(scratch, Mapping) else {}
    if not named:
      args += scratch if isinstance(scratch, tuple | list) else (scratch,)
    check_takes(call.kernel, "The kernel function", _GETS, args, named)
    result = call.kernel(*args, **named)
    if result is not None:
      raise errors.KernelReturnError(
        f"The kernel function in the pallas_call {call.title} should return None. It "
        f"returns a PyTree: {jax.tree.structure(result)}. Write results to the output refs instead."
      )
    return []

  info = _jax.api_util.debug_info("pallas_call kernel", call.kernel, (), {})
  return _jax.trace(body, avals, info.with_unknown_names())


def _detached(call: KernelCall, closed: Any) -> tuple[Any, tuple[Any, ...]]:
  """The body's jaxpr, with the captured values as its first inputs, and those values."""
  for const in closed.consts:
    aval = _jax.core.typeof(const)
    if not isinstance(aval, AbstractRef) and getattr(aval, "shape", ()) != ():
      shapes = [_jax.core.typeof(c).str_short(short_dtypes=True) for c in closed.consts]
      raise errors.CapturedConstantError(
        f"The kernel function in the pallas_call {call.title} captures constants "
        f"[{', '.join(shapes)}]. "
        "You should pass them as inputs."
      )
    if not _jax.is_alive(const):
      raise errors.CapturedConstantError(
        f"The kernel function in the pallas_call {call.title} captures a ref ({aval}) whose scope has ended. Use the refs of "
        "pl.run_scoped inside the function that gets them."
      )
    if high_types.is_high(aval):
      raise errors.CapturedConstantError(
        f"The kernel function in the pallas_call {call.title} captures {aval}, of a user-defined type. Pass it as an input."
      )
  jaxpr, consts = _jax.detach(closed)
  jaxpr = jaxprs.with_lines(jaxpr)
  check_primitives(jaxpr)
  jaxpr = jaxprs.resolve_axis_names(jaxpr, call.grid_spec.grid_names or (), program_id_p)
  return high_types.lowered(jaxpr, "the kernel"), consts


def _consts_as_inputs(jaxpr: Any, consts: Sequence[Any], position: int) -> tuple[Any, list[BlockMapping]]:
  """Move the captured values of a body behind its inputs: refs as they are, scalars as refs that it reads first."""
  if not consts:
    return jaxpr, []
  avals = [_jax.core.typeof(c) for c in consts]
  is_ref = [isinstance(a, AbstractRef) for a in avals]
  types = [ShapedArray(a.shape, a.dtype) for a in avals]
  ref_avals = [
    AbstractRef(t, (a.memory_space or MemorySpace.ANY) if r else TpuMemorySpace.SMEM)
    for t, a, r in zip(types, avals, is_ref)
  ]
  own = [v.aval for v in jaxpr.invars[len(consts) :]]

  def body(*refs: Any) -> list[Any]:
    captured = refs[position : position + len(consts)]
    values = [ref if r else _jax.state_primitives.ref_get(ref, ()) for ref, r in zip(captured, is_ref)]
    _jax.core.eval_jaxpr(jaxpr, (), *values, *refs[:position], *refs[position + len(consts) :])
    return []

  closed = _jax.trace(body, [*own[:position], *ref_avals, *own[position:]], jaxpr.debug_info.with_unknown_names())
  mappings = [
    BlockMapping(
      tuple(map(Blocked, t.shape)), None, None, t, ref, f"captured {'ref' if r else 'scalar'} {i}", in_place=r
    )
    for i, (t, ref, r) in enumerate(zip(types, ref_avals, is_ref))
  ]
  return _jax.detach(closed)[0], mappings


def _state(kernel: Kernel, captured: Sequence[int]) -> list[int]:
  """The prefetched scalars and the `captured` refs that a body writes to, by operand index."""
  written = jaxprs.written_inputs(kernel.jaxpr)
  places = (*range(kernel.grid_mapping.num_prefetch), *captured)
  return [i for i in places if kernel.jaxpr.invars[i] in written]


def _cores_dimension(kernel: Kernel) -> int | None:
  """The grid dimension over the two TensorCores of a megacore, if there is one: the first dimension, parallel, of size 2, before dimensions
  that are not parallel."""
  semantics = [getattr(s, "value", s) for s in getattr(kernel.compiler_params, "dimension_semantics", None) or ()]
  grid = kernel.grid_mapping.grid
  is_one = len(grid) > 1 and grid[0] == 2 and semantics[:1] in (["parallel"], ["core_parallel"])
  return 0 if is_one and "arbitrary" in semantics[1:] else None


def _with_state(kernel: Kernel, numbers: Sequence[int]) -> Kernel:
  """The kernel with an additional output in place of each prefetched scalar, captured ref and input that its body writes to.

  Such scalars are memory that is private to the call and lives as long as its grid. That memory is an output initialised with the operand's
  values: each instance sees it whole, so targets keep the instances that use it in order. The caller discards it. Index maps see the
  operand as it was passed, since blocks may be prefetched before preceding instances have run. The caller stores the output of a ref in
  that ref. An input that is written is cut into the same blocks as before.

  If the first grid dimension is the two cores of a megacore (`_cores_dimension`), each core has private scalars: they are initialised again
  for the second core.
  """
  m = kernel.grid_mapping
  if not numbers:
    return kernel
  cores = _cores_dimension(kernel)
  anew = [i for i in numbers if i < m.num_prefetch] if cores is not None else []
  avals = [v.aval for v in kernel.jaxpr.invars]
  first_scratch = len(avals) - m.num_scratch

  def body(*refs: Any) -> list[Any]:
    state = dict(zip(numbers, refs[first_scratch:]))
    own = [*refs[:first_scratch], *refs[first_scratch + len(numbers) :]]
    if anew:
      later = [program_id_p.bind(axis=d) == 0 for d in range(len(m.grid)) if d != cores]
      is_first = functools.reduce(jnp.logical_and, later) if later else True

      @when(is_first)
      def _() -> None:
        for i in anew:
          state[i][...] = refs[i][...]

    _jax.core.eval_jaxpr(kernel.jaxpr, (), *(state.get(i, ref) for i, ref in enumerate(own)))
    return []

  refs = [avals[i] for i in numbers]
  info = kernel.jaxpr.debug_info.with_unknown_names()
  with tracing_kernel(GridFrame(m.grid, m.grid_names)):
    closed = _jax.trace(body, [*avals[:first_scratch], *refs, *avals[first_scratch:]], info)
  mappings = [_state_mapping(m, i, ref) for i, ref in zip(numbers, refs)]
  return kernel.replace(
    jaxpr=_jax.detach(closed)[0],
    grid_mapping=dataclasses.replace(
      m, block_mappings=(*m.block_mappings, *mappings), num_outputs=m.num_outputs + len(mappings)
    ),
    out_avals=(*kernel.out_avals, *(o.array_aval for o in mappings)),
    input_output_aliases=(
      *kernel.input_output_aliases,
      *((i, m.num_outputs + k) for k, i in enumerate(numbers) if i not in anew),
    ),
  )


def _state_mapping(m: GridMapping, number: int, ref: Any) -> BlockMapping:
  """The mapping of the output that stands for operand `number`: of an input its own, of others the whole array."""
  if number >= m.num_prefetch:
    return m.input_mappings[number - m.num_prefetch]
  whole = ShapedArray(ref.shape, ref.dtype)
  return BlockMapping(tuple(map(Blocked, whole.shape)), None, None, whole, ref, f"prefetched scalar {number}")


def kernel_name(call: KernelCall) -> tuple[str, str]:
  """The name of a kernel, and the file and line where its function is defined."""
  kernel = call.kernel
  while isinstance(kernel, functools.partial):
    kernel = kernel.func
  code = getattr(kernel, "__code__", None)
  where = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "an unknown line"
  own = getattr(kernel, "__name__", type(kernel).__name__)
  name = call.name or own
  return ("".join(c if c.isalnum() or c == "_" else "_" for c in name) if call.name is None else name), where


def eliminate_dead_code(kernel: Kernel, used_outputs: Sequence[bool] | None = None) -> Kernel:
  """The kernel without dead computation. Outputs keep their positions; unused outputs are not written."""
  m = kernel.grid_mapping
  used = used_outputs or [True] * m.num_outputs
  live = [True] * (m.num_prefetch + m.num_inputs) + list(used) + [False] * m.num_scratch
  return kernel.replace(jaxpr=jaxprs.eliminate_dead_code(kernel.jaxpr, live))
