"""Pipelines inside a kernel: copies of the next blocks run while the body works on the current ones.

A pipeline iterates over a grid of steps. The body gets one block of each operand per step; consecutive steps with the same block share it,
so a block is copied in before its first step and copied out after its last. With two slots per operand:

    step t     start the copy in of the block of step t + 1, if it is another one
               wait for the copy in of the block of step t, if it is new
               wait until the slot for a new output block has been copied out
               body
               start the copy out of the output block, if step t + 1 has another one

With n slots inputs are fetched n - 1 steps ahead; with lookahead, as soon as a slot is free. An operand that is read and written
is fetched one step ahead at most, and only after what was written before has arrived.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import high_types
from tilewright.pallas.arity import check_takes, describe_value
from tilewright.pallas.control import when
from tilewright.pallas.primitives import AbstractRef, ShapedArray, is_ref
from tilewright.pallas.scoped import run_scoped
from tilewright.pallas.specs import BlockSpec, canonical_block_dim
from tilewright.pallas.tpu.block_window import is_static
from tilewright.pallas.tpu.buffered_ref import BufferedRef, add_if
from tilewright.pallas.tpu.grid_scope import call_in_grid, index_map_in_grid
from tilewright.pallas.tpu.params import Tiling
from tilewright.pallas.tpu.pipeline_grid import PipelineGrid, canonical_sizes, partition
from tilewright.pallas.trace_context import GridPoint, current_frame
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, Buffered, RevisitMode, Squeezed
from tilewright.tile.memory import MemorySpace


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class PipelineStep:
  """Where a pipeline is: the grid indices of the step, and its number within the share of this core.

  Iterating over it gives the grid indices.
  """

  index: tuple[Any, ...]
  local_index: Any

  def __iter__(self) -> Any:
    return iter(self.index)

  def __getitem__(self, axis: Any) -> Any:
    return self.index[axis]

  def __len__(self) -> int:
    return len(self.index)

  def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
    return (self.index, self.local_index), None

  @classmethod
  def tree_unflatten(cls, aux: None, children: Any) -> PipelineStep:
    return cls(*children)


# --- predicates, decided at once where they are known ------------------------------------------------------------


def _and(*parts: Any) -> Any:
  unknown = [p for p in parts if not isinstance(p, bool)]
  if not all(p for p in parts if isinstance(p, bool)):
    return False
  return functools.reduce(jnp.logical_and, unknown) if unknown else True


def _or(*parts: Any) -> Any:
  unknown = [p for p in parts if not isinstance(p, bool)]
  if any(p for p in parts if isinstance(p, bool)):
    return True
  return functools.reduce(jnp.logical_or, unknown) if unknown else False


def _differs(a: Any, b: Any) -> Any:
  if a is b:
    return False
  if is_static(a) and is_static(b):
    return a != b
  return jnp.any(a != b)


def _choose(condition: Any, a: Any, b: Any) -> Any:
  if isinstance(condition, bool):
    return a if condition else b
  return jnp.where(condition, a, b)


class _CountedOnly(BufferedRef):
  """Buffers whose copies in have been started by someone else."""

  @classmethod
  def of(cls, buffers: BufferedRef) -> _CountedOnly:
    fields = {f.name: getattr(buffers, f.name) for f in dataclasses.fields(buffers)}
    return cls(**(fields | {"await_prefetch": False}))

  def copy_in(self, src_ref: Any, grid_indices: Sequence[Any]) -> None:
    pass


# --- one operand -------------------------------------------------------------------------------------------------


class Progress(NamedTuple):
  """How far one operand is: the counters of its buffers, the next step to fetch for, and the steps of its last copies out."""

  copied_in: Any = 0
  waited_in: Any = 0
  copied_out: Any = 0
  waited_out: Any = 0
  next_fetch: Any = 0
  sent: tuple[Any, ...] = ()  # the newest first, one for each slot


@dataclasses.dataclass(frozen=True)
class Operand:
  """An operand of a pipeline, with what it does at each step. Everything that changes is in its `Progress`."""

  buffers: BufferedRef
  ref: Any
  grid: PipelineGrid
  synchronous: bool

  @property
  def slots(self) -> int:
    return self.buffers.num_slots

  @property
  def copies_in(self) -> bool:
    return self.buffers.is_buffered and self.buffers.is_input

  @property
  def copies_out(self) -> bool:
    return self.buffers.is_buffered and self.buffers.is_output

  @property
  def looks_ahead(self) -> bool:
    return self.copies_in and self.buffers.use_lookahead and not self.synchronous and not self.copies_out

  @property
  def ahead(self) -> int:
    """How many steps ahead of its use a block is fetched."""
    if self.synchronous:
      return 0
    if not self.copies_out:
      return self.slots - 1
    # What will be read may still be written at the current step. Only of the very next block is it known that it is another
    # one, and only blocks of the grid are known not to overlap.
    blocks = all(d is None or isinstance(d, int | Blocked | Squeezed) for d in self.buffers.block_shape or ())
    return min(self.slots - 1, 1) if blocks else 0

  def at(self, p: Progress) -> BufferedRef:
    return self.buffers.with_slot_index(p.copied_in, p.copied_out, p.waited_in, p.waited_out)

  def changes_at(self, step: Any) -> Any:
    """Whether the block of a step after the first differs from that of the step before."""
    now, before = (jax.tree.leaves(self.buffers.compute_index(*self.grid.indices(s))) for s in (step, step - 1))
    return _or(*(_differs(a, b) for a, b in zip(now, before)))

  def starts_at(self, step: Any) -> Any:
    if is_static(step):
      return True if step == 0 else self.changes_at(step)
    return _or(step == 0, self.changes_at(step))

  def ends_at(self, step: Any) -> Any:
    return _or(self.grid.is_last(step), self.changes_at(step + 1))

  # --- copies in

  def start_fetch(self, p: Progress, step: Any, predicate: Any) -> Progress:
    """Start the copy in of the block of a step."""
    if self.copies_out:
      p = self.drain(p, predicate)
    when(_and(predicate, self._is_missing(p.copied_in)))(lambda: self.at(p).copy_in(self.ref, self.grid.indices(step)))
    return p._replace(copied_in=add_if(p.copied_in, predicate))

  def _is_missing(self, number: Any) -> Any:
    """Whether a block is still to be fetched: the first ones may have been put into the window before the pipeline began."""
    return number >= self.buffers.prefetched_count

  def prologue(self, p: Progress) -> Progress:
    """Fetch what the first steps need."""
    if self.buffers.await_prefetch:
      # The same copies are in flight: only count them.
      return dataclasses.replace(self, buffers=_CountedOnly.of(self.buffers)).prologue(p)
    if not self.copies_in:
      return p
    if self.looks_ahead:
      for _ in range(self.slots):
        p = self._fetch_next(p)
      return p
    for step in range(self.ahead):
      p = self.start_fetch(p, step, _and(self.grid.contains(step), self.starts_at(step)))
    return p

  def fetch(self, p: Progress, step: Any) -> Progress:
    """At `step`, fetch what a later one needs."""
    if not self.copies_in:
      return p
    if self.looks_ahead:
      return self._fetch_next(p)
    later = step + self.ahead
    starts = self.starts_at(later) if self.ahead == 0 else self.changes_at(later)
    return self.start_fetch(p, later, _and(self.grid.contains(later), starts))

  def _fetch_next(self, p: Progress) -> Progress:
    """Fetch the next block that differs, if a slot is free."""
    is_free = jnp.asarray(p.copied_in - p.waited_in < self.slots)
    predicate = _and(is_free, self.grid.contains(p.next_fetch))
    here = p.next_fetch
    p = self.start_fetch(p, here, predicate)

    def stops_at(step: Any) -> Any:
      return jnp.asarray(_or(jnp.logical_not(self.grid.contains(step)), self.changes_at(step)))

    def walk(state: Any) -> Any:
      return state[0] + 1, stops_at(state[0] + 1)

    # The condition is computed in the body: it may read refs, through the index map.
    first = jnp.asarray(here + 1, jnp.int32)
    found, _ = lax.while_loop(
      lambda state: jnp.logical_not(state[1]), walk, (first, stops_at(first) | ~jnp.asarray(predicate))
    )
    return p._replace(next_fetch=jnp.where(predicate, found, here))

  def await_block(self, p: Progress, step: Any) -> None:
    if not self.copies_in:
      return
    when(_and(self.starts_at(step), self._is_missing(p.waited_in)))(
      lambda: self.at(p).wait_in(self.ref, self.grid.indices(step))
    )

  # --- copies out

  def _await_sent(self, p: Progress, age: int, predicate: Any) -> None:
    """Wait for the copy out that started `age` copies before the last one."""
    buffers = self.buffers.with_slot_index(wait_out_slot=p.copied_out - 1 - age)
    when(predicate)(lambda: buffers.wait_out(self.ref, self.grid.indices(p.sent[age])))

  def drain(self, p: Progress, predicate: Any = True) -> Progress:
    """Wait for all copies out."""
    if not self.copies_out:
      return p
    pending = p.copied_out - p.waited_out
    for age in reversed(range(self.slots)):
      self._await_sent(p, age, _and(predicate, age < pending))
    return p._replace(waited_out=_choose(predicate, p.copied_out, p.waited_out))

  def free_slot(self, p: Progress, step: Any) -> Progress:
    """Before the body writes a new block: wait until the slot's last block has been copied out."""
    if not self.copies_out or self.copies_in:
      return p  # what is also copied in was drained then
    is_full = p.copied_out - p.waited_out >= self.slots
    if is_static(step) and step == 0:
      return p
    predicate = _and(self.starts_at(step), is_full)
    self._await_sent(p, self.slots - 1, predicate)
    return p._replace(waited_out=add_if(p.waited_out, predicate))

  def finish_block(self, p: Progress, step: Any) -> Progress:
    """After the body: let go of blocks that the next step does not use."""
    if not (self.copies_in or self.copies_out):
      return p
    ends = self.ends_at(step)
    if self.copies_in:
      p = p._replace(waited_in=add_if(p.waited_in, ends))
    if self.copies_out:
      when(ends)(lambda: self.at(p).copy_out(self.ref, self.grid.indices(step)))
      shifted = (step, *p.sent[:-1])
      p = p._replace(
        copied_out=add_if(p.copied_out, ends), sent=tuple(_choose(ends, new, old) for new, old in zip(shifted, p.sent))
      )
      if self.synchronous:
        p = self.drain(p)
    return p

  def block(self, p: Progress, step: Any) -> Any:
    if self.buffers.is_buffered:
      return self.at(p).current_ref
    return self.buffers.bind_existing_ref(self.ref, self.grid.indices(step))


# --- the loop ----------------------------------------------------------------------------------------------------


def _scope(name: str, enabled: bool) -> Any:
  return jax.named_scope(name) if enabled else contextlib.nullcontext()


def _run(operands: Sequence[Operand], grid: PipelineGrid, body: Callable[..., None], trace_scopes: bool) -> None:
  scope = functools.partial(_scope, enabled=trace_scopes)

  def one_step(step: Any, progress: Sequence[Progress]) -> list[Progress]:
    progress = list(progress)
    with scope("ep_copy_in"):
      progress = [o.fetch(p, step) for o, p in zip(operands, progress)]
    with scope("ep_wait_in"):
      for o, p in zip(operands, progress):
        o.await_block(p, step)
    with scope("ep_wait_out"):
      progress = [o.free_slot(p, step) for o, p in zip(operands, progress)]
    with scope("ep_run_kernel"):
      indices = grid.indices(step)
      blocks = [o.block(p, step) for o, p in zip(operands, progress)]
      call_in_grid(lambda: body(PipelineStep(indices, step), blocks), GridPoint(indices, grid.whole))
    with scope("ep_copy_out"):
      return [o.finish_block(p, step) for o, p in zip(operands, progress)]

  with scope("ep_prologue"):
    start = [o.prologue(Progress(sent=(0,) * (o.slots if o.copies_out else 0))) for o in operands]
  if is_static(grid.num_steps) and grid.num_steps == 1:
    end = one_step(0, start)
  else:
    start = jax.tree.map(lambda x: jnp.asarray(x, jnp.int32), start)
    end = lax.fori_loop(0, grid.num_steps, lambda t, p: one_step(jnp.asarray(t, jnp.int32), p), start)
  with scope("ep_epilogue"):
    for o, p in zip(operands, end):
      o.drain(p)


# --- specs and allocations ---------------------------------------------------------------------------------------


def _is_spec(x: Any) -> bool:
  return isinstance(x, BlockSpec) or x is None


def _as_tuple(specs: Any) -> tuple[Any, ...]:
  return tuple(specs) if isinstance(specs, tuple | list) else (specs,)


def _is_high(ref: Any) -> bool:
  """Whether this is a ref to a value of a user-defined type."""
  aval = getattr(ref, "aval", None)
  return isinstance(aval, AbstractRef) and high_types.is_high(aval)


def flatten_operands(in_specs: Any, out_specs: Any, refs: Sequence[Any]) -> tuple[list[Any], list[BlockSpec], int, Any]:
  """Refs and specs side by side, how many of them are inputs, and the tree of the refs.

  A ref without a spec is seen as a whole. Where spec and ref are both None there is no operand: the body gets None.
  """
  specs = (*_as_tuple(in_specs), *_as_tuple(out_specs))
  if len(refs) != len(specs):
    raise errors.TreeMismatchError(
      f"emit_pipeline: {len(specs)} specs (in_specs, then out_specs) were given, but the pipeline was called with "
      f"{len(refs)} refs."
    )
  flat_specs, tree = jax.tree.flatten(specs, is_leaf=_is_spec)
  try:
    flat_refs = tree.flatten_up_to(tuple(refs))
  except ValueError as e:
    raise errors.TreeMismatchError(
      f"emit_pipeline: the specs {tree} do not match the structure of the refs. {e}"
    ) from e
  for spec, ref in zip(flat_specs, flat_refs):
    if not _is_spec(spec):
      raise errors.BlockSpecError(f"emit_pipeline: expected a pl.BlockSpec, got {spec!r}.")
    if not hasattr(ref, "dtype") and not _is_high(ref) and not (spec is None and ref is None):
      raise errors.RefTypeError(
        f"emit_pipeline: expected one ref for the spec {spec}, got {ref!r}. Give each ref of a tree a spec of its own, and None for None."
      )
  present = [None if ref is None else spec or BlockSpec() for spec, ref in zip(flat_specs, flat_refs)]
  own_tree = jax.tree.structure(jax.tree.unflatten(tree, present), is_leaf=lambda x: isinstance(x, BlockSpec))
  num_inputs = len(jax.tree.leaves(_as_tuple(in_specs), is_leaf=_is_spec))
  num_inputs -= sum(spec is None for spec in present[:num_inputs])
  return [r for r in flat_refs if r is not None], [s for s in present if s is not None], num_inputs, own_tree


def make_buffers(spec: BlockSpec, ref: Any, is_input: bool, grid: Sequence[Any], tiling: Tiling | None) -> BufferedRef:
  mode, grid_rank = spec.pipeline_mode, len(grid)
  spec = index_map_in_grid(spec, canonical_sizes(grid))
  is_trivial = _is_whole(spec, tuple(ref.shape), grid_rank)
  if mode is None:
    mode = Buffered(1 if is_trivial else 2)
  if is_input:
    make = BufferedRef.input
  else:
    # A block that may come up again after others have been there must be read back from the array.
    make = BufferedRef.input_output if mode.revisit is RevisitMode.ANY else BufferedRef.output
  return make(
    spec,
    jax.ShapeDtypeStruct(tuple(ref.shape), ref.dtype),
    mode.buffer_count,
    grid_rank=grid_rank,
    use_lookahead=mode.use_lookahead and is_input,
    source_memory_space=_memory_space(ref),
    tiling=tiling,
    is_trivial_windowing=is_trivial,
    prefetched_count=mode.prefetched_count,
  )


def _is_whole(spec: BlockSpec, shape: tuple[int, ...], grid_rank: int) -> bool:
  """Whether every step sees the whole array: its block has the array's shape, and its index map gives zeros for any step."""
  if spec.block_shape is None:
    return True
  dims = [canonical_block_dim(d, "a pipeline operand") for d in spec.block_shape]
  if not all(isinstance(d, Blocked | Squeezed) for d in dims) or tuple(d.block_size for d in dims) != shape:
    return False
  found: list[Any] = []

  def look(*indices: Any) -> list[Any]:
    found.extend(described.compute_index(*indices))
    return []

  described = BufferedRef.input(spec, jnp.float32)
  _jax.trace(look, [ShapedArray((), jnp.dtype(jnp.int32))] * grid_rank, what="index map")
  return all(is_static(entry) and entry == 0 for entry in found)


def _memory_space(ref: Any) -> Any:
  if isinstance(ref, jax.ShapeDtypeStruct):
    return MemorySpace.ANY  # a description of an array, not a ref
  aval = getattr(ref, "type", None) or getattr(ref, "aval", ref)
  return getattr(aval, "memory_space", None)


def make_pipeline_allocations(
  *refs: Any, in_specs: Any = (), out_specs: Any = (), tiling: Tiling | None = None, grid: Sequence[Any] = ()
) -> tuple[BufferedRef, ...]:
  """Descriptions of the buffers that a pipeline with these specs needs for these refs."""
  flat_refs, specs, num_inputs, _ = flatten_operands(in_specs, out_specs, refs)
  return tuple(
    make_buffers(spec, ref, i < num_inputs, grid, tiling) for i, (spec, ref) in enumerate(zip(specs, flat_refs))
  )


# --- operands of user-defined types ------------------------------------------------------------------------------


def _over_arrays(
  body: Callable[..., Any], in_specs: Any, out_specs: Any, refs: Sequence[Any], leading: int
) -> tuple[Callable[..., Any], Any, Any, list[Any]]:
  """The pipeline with a tuple of refs to arrays, and of specs, for each ref to a value of a user-defined type.

  Such a value is put together before each call of the body, in memory of its own, and what the body left of an output is stored after it.
  `leading` arguments of the body come before its refs.
  """
  ins, outs = _as_tuple(in_specs), _as_tuple(out_specs)
  flat_specs, tree = jax.tree.flatten((*ins, *outs), is_leaf=_is_spec)
  flat_refs = tree.flatten_up_to(tuple(refs))
  num_inputs = len(jax.tree.leaves(ins, is_leaf=_is_spec))
  types = {i: ref.aval.inner_aval for i, ref in enumerate(flat_refs) if _is_high(ref)}
  lo_specs = {
    i: tuple(lo or BlockSpec() for lo, _ in high_types.lower_spec(flat_specs[i], ty, "emit_pipeline: an operand"))
    for i, ty in types.items()
  }
  lo_refs = {i: tuple(high_types.take_apart(flat_refs[i])) for i in types}

  def over_arrays(*args: Any, **named: Any) -> Any:
    blocks = tree.flatten_up_to(tuple(args[leading : leading + len(refs)]))
    parts = {i: [ShapedArray(ref.shape, ref.dtype) for ref in blocks[i]] for i in types}
    own = {i: high_types.block_type(ty, parts[i], "emit_pipeline: an operand") for i, ty in types.items()}

    def with_values(*values: Any) -> Any:
      whole = dict(zip(types, values))
      for i, ref in whole.items():
        ref[...] = high_types.read_together(own[i], blocks[i])
      given = jax.tree.unflatten(tree, [whole.get(i, block) for i, block in enumerate(blocks)])
      result = body(*args[:leading], *given, *args[leading + len(refs) :], **named)
      for i, ref in whole.items():
        if i >= num_inputs:
          high_types.write_apart(blocks[i], ref[...])
      return result

    return run_scoped(with_values, *(AbstractRef(ty) for ty in own.values()))

  specs = jax.tree.unflatten(tree, [lo_specs.get(i, spec) for i, spec in enumerate(flat_specs)])
  arrays = jax.tree.unflatten(tree, [lo_refs.get(i, ref) for i, ref in enumerate(flat_refs)])
  return over_arrays, specs[: len(ins)], specs[len(ins) :], list(arrays)


# --- the public entries ------------------------------------------------------------------------------------------


def emit_pipeline(
  body: Callable[..., Any],
  *,
  grid: Sequence[Any],
  in_specs: Any = (),
  out_specs: Any = (),
  tiling: Tiling | None = None,
  core_axis: int | tuple[int, ...] | None = None,
  core_axis_name: str | tuple[str, ...] | None = None,
  dimension_semantics: Sequence[Any] | None = None,
  trace_scopes: bool = True,
  no_pipelining: bool = False,
  _explicit_indices: bool = False,
) -> Callable[..., None]:
  """Make a pipeline out of a body over blocks: a function of whole refs, to be called inside a kernel.

  Args:
    body: gets a ref to a block of each input and output, then the scratch refs; runs once for each point of the grid.
    grid: the sizes of the pipeline's grid; they may be dynamic. Sizes that are known are positive.
    in_specs: how each input is cut; index maps take the indices of this grid. A tree of specs is for a tree of refs; None for None.
    out_specs: how each output is cut.
    tiling: how the operands are tiled, on a TPU.
    core_axis: grid dimensions of the kernel along which cores share the work.
    core_axis_name: the same for the named axes of a mesh of cores.
    dimension_semantics: for each dimension of this grid, whether its steps may be shared among cores (`PARALLEL`).
    trace_scopes: put the parts of the pipeline into named scopes.
    no_pipelining: wait for every copy at once, to find out whether a mistake is one of overlap.
    _explicit_indices: call the body with a `PipelineStep` before the refs.

  Returns:
    A function of the refs, with the keyword arguments `scratches` (refs passed on to the body), `allocations` (buffers made by
    `emit_pipeline_with_allocations`) and `body_prologue` (called before the body at each step).
  """
  grid = tuple(grid) if isinstance(grid, tuple | list) else (grid,)

  def pipeline(*refs: Any, scratches: Any = None, allocations: Any = None, body_prologue: Any = None) -> None:
    current_frame("pltpu.emit_pipeline")
    if any(map(_is_high, jax.tree.leaves(refs))):
      over_arrays, ins, outs, arrays = _over_arrays(body, in_specs, out_specs, refs, int(_explicit_indices))
      again = emit_pipeline(
        over_arrays,
        grid=grid,
        in_specs=ins,
        out_specs=outs,
        tiling=tiling,
        core_axis=core_axis,
        core_axis_name=core_axis_name,
        dimension_semantics=dimension_semantics,
        trace_scopes=trace_scopes,
        no_pipelining=no_pipelining,
        _explicit_indices=_explicit_indices,
      )
      return again(*arrays, scratches=scratches, allocations=allocations, body_prologue=body_prologue)
    flat_refs, specs, num_inputs, tree = flatten_operands(in_specs, out_specs, refs)
    for i, ref in enumerate(flat_refs):
      if not is_ref(ref):
        raise errors.RefTypeError(
          f"emit_pipeline: operand {i} must be a ref, got {describe_value(ref)}. Pass x_ref itself, not the value x_ref[...]."
        )
    given = _given_allocations(allocations, len(flat_refs))
    missing = tuple(
      make_buffers(spec, ref, i < num_inputs, grid, tiling) if given[i] is None else None
      for i, (spec, ref) in enumerate(zip(specs, flat_refs))
    )

    if any(b is not None and b.prefetched_count for b in missing):
      raise errors.BlockSpecError(
        "emit_pipeline: an operand with Buffered(prefetched_count=...) needs the buffers that hold those blocks, as allocations."
      )

    def call_body(step: PipelineStep, blocks: Sequence[Any]) -> None:
      if body_prologue is not None:
        body_prologue()
      extra, named = ((), dict(scratches)) if isinstance(scratches, Mapping) else (tuple(scratches or ()), {})
      first = (step,) if _explicit_indices else ()
      args = (*first, *jax.tree.unflatten(tree, blocks), *extra)
      check_takes(body, "emit_pipeline: the body", "a ref for each input, output and scratch buffer", args, named)
      if jax.tree.leaves(body(*args, **named)):
        raise errors.KernelReturnError(
          "emit_pipeline: the body must return None. Write results to the output refs instead."
        )

    def run(allocated: Sequence[Any]) -> None:
      buffers = [a if g is None else g for a, g in zip(allocated, given)]
      share = partition(grid, core_axis, core_axis_name, dimension_semantics)
      operands = [Operand(b.initialize_slots(), r, share, no_pipelining) for b, r in zip(buffers, flat_refs)]
      _run(operands, share, call_body, trace_scopes)

    run_scoped(run, missing)

  return pipeline


def _given_allocations(allocations: Any, count: int) -> list[Any]:
  if allocations is None:
    return [None] * count
  given = jax.tree.leaves(allocations, is_leaf=lambda x: isinstance(x, BufferedRef) or x is None)
  for each in given:
    if each is not None and not isinstance(each, BufferedRef):
      raise errors.RefTypeError(f"emit_pipeline: allocations must be BufferedRefs, one for each ref, got {each!r}.")
  if len(given) > count:
    raise errors.TreeMismatchError(f"emit_pipeline: {len(given)} allocations were given for {count} refs.")
  return [*given, *([None] * (count - len(given)))]


def emit_pipeline_with_allocations(
  body: Callable[..., Any], *, grid: Sequence[Any], in_specs: Any = (), out_specs: Any = ()
) -> tuple[Callable[..., None], Callable[..., tuple[BufferedRef, ...]]]:
  """A pipeline, and a function that describes its buffers for given refs, so that several calls can use the same ones.

  Allocate what the second function returns with `pl.run_scoped` or as `scratch_shapes`, and pass it as `allocations`.
  """
  pipeline = emit_pipeline(body, grid=grid, in_specs=in_specs, out_specs=out_specs)
  return pipeline, functools.partial(make_pipeline_allocations, in_specs=in_specs, out_specs=out_specs, grid=grid)
