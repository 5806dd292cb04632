"""Warp-specialized pipelines, in which one warpgroup copies blocks and the others compute: `emit_pipeline_warp_specialized`.

    pipeline = plgpu.emit_pipeline_warp_specialized(
      body, grid=(k // 64,), in_specs=[…], memory_registers=40, wg_axis="wg", num_compute_wgs=2)
    pipeline(a_ref, b_ref)                  in every warpgroup

There are `max_concurrent_steps` slots. In step n the memory warpgroup (the producer) waits until all consumers have released slot n modulo
the number of slots (`consumed`), and copies the input blocks there (`produced`); the consumers wait for them, run the body, and arrive:

    memory     copy 0  copy 1  (wait for 0)  copy 2 …
    compute            body 0        body 1      body 2 …

A body whose products are still in flight when it returns (`wgmma_wait(1)`) reads its blocks in the next step too: with `delay_release`, the
consumers arrive that many steps later.

Consecutive pipelines in the same memory (`allocations`) can be one pipeline to the memory warpgroup (`pipeline_state`): it then copies the
first blocks of the next one while the consumers run the code between the two.

CTAs of a cluster that say so in a spec (`collective_axes`) bring each other its blocks. Their consumers then release a slot in all of them.

Output blocks are single-buffered. When all consumers have left the body, the first of them copies the blocks back, and the others wait for
that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.control import when
from tilewright.pallas.mosaic_gpu.barriers import Barrier, barrier_arrive, barrier_wait, wait_before_use
from tilewright.pallas.mosaic_gpu.copies import set_max_registers
from tilewright.pallas.mosaic_gpu.loops import PipelineBlock, all_of, carrying_loop, collective_axes, num_steps, point
from tilewright.pallas.mosaic_gpu.products import wgmma_wait
from tilewright.pallas.primitives import is_ref
from tilewright.pallas.scoped import run_scoped

_REGISTERS = 64 * 1024 // 128  # registers of an SM, for one thread of each warpgroup


class PipelinePipeline(enum.IntEnum):
  """The position of a pipeline in a sequence of pipelines: the first, one in between, or the last."""

  START = 0
  STEADY = 1
  STOP = 2


@dataclasses.dataclass(frozen=True)
class _Memory:
  """The types of what a pipeline allocates: slots of inputs, blocks of outputs, and barriers. `taken` and `left` concern outputs."""

  slots: list[Any]
  outputs: list[Any]
  produced: list[Any]
  consumed: list[Any]
  left: list[Any]
  taken: list[Any]

  def tree(self) -> dict[str, list[Any]]:
    return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def emit_pipeline_warp_specialized(
  body: Callable[..., Any],
  *,
  grid: Sequence[int | jax.Array],
  memory_registers: int,
  in_specs: Any = (),
  out_specs: Any = (),
  max_concurrent_steps: int = 2,
  wg_axis: str,
  num_compute_wgs: int,
  pipeline_state: jax.Array | PipelinePipeline | None = None,
  manual_produced_barriers: bool = False,
  manual_consumed_barriers: bool = False,
  compute_context: Callable[[Callable[[Any], Any]], Any] | None = None,
  memory_thread_idx: int | None = None,
) -> WarpSpecializedPipeline:
  """Turn a body into a loop over blocks, for a kernel with `num_compute_wgs` + 1 warpgroups, all of which call it on whole refs.

  Args:
    body: gets the indices of a step, a ref for each input and output, then (if requested) a produced and a consumed barrier for each input
      that is copied, and with a `compute_context` the carry, of which it returns the next.
    grid: the steps; sizes may be scalars that the kernel computes.
    memory_registers: how many registers a thread of the memory warpgroup needs; the others share what it does not
      (`set_max_registers`).
    in_specs, out_specs: trees of block specs. Blocks of outputs are shared by the warpgroups that compute.
    max_concurrent_steps: the number of slots of input blocks.
    wg_axis: the name of the warpgroups' axis.
    num_compute_wgs: the number of consumer warpgroups.
    pipeline_state: the position of this pipeline among several of as many steps that are called with the same `allocations`: first START,
      then any number of STEADY, then STOP, as a `PipelinePipeline` or a number that is computed. Only the last one waits until everything
      that was brought is used. None, or without `allocations`: it is alone.
    manual_produced_barriers: the body waits for the inputs itself.
    manual_consumed_barriers: the body, in all warpgroups that compute, says itself that it is done with the inputs.
    compute_context: is called in the consumer warpgroups, with a function that runs the pipeline from the first carry and returns the last.
    memory_thread_idx: the index of the memory warpgroup; None means the last.
  """
  if num_compute_wgs < 1 or max_concurrent_steps < 1:
    raise errors.GridError(
      "plgpu.emit_pipeline_warp_specialized: expected num_compute_wgs and max_concurrent_steps of 1 or more, got "
      f"{num_compute_wgs} and {max_concurrent_steps}."
    )
  longest = max((getattr(spec, "delay_release", 0) for spec in jax.tree.leaves(in_specs)), default=0)
  if max_concurrent_steps <= longest:
    raise errors.GridError(
      f"plgpu.emit_pipeline_warp_specialized: max_concurrent_steps must be greater than delay_release, {longest}, got "
      f"{max_concurrent_steps}."
    )
  return WarpSpecializedPipeline(
    body,
    tuple(grid),
    in_specs,
    out_specs,
    max_concurrent_steps,
    wg_axis,
    num_compute_wgs,
    (manual_produced_barriers, manual_consumed_barriers),
    compute_context,
    num_compute_wgs if memory_thread_idx is None else memory_thread_idx,
    memory_registers,
    longest,
    pipeline_state,
  )


@dataclasses.dataclass(frozen=True)
class WarpSpecializedPipeline:
  """A function of whole refs, which every warpgroup calls; `get_allocations` says what memory it needs, if it is to be given that."""

  body: Callable[..., Any]
  grid: tuple[int | jax.Array, ...]
  in_specs: Any
  out_specs: Any
  num_slots: int
  wg_axis: str
  num_compute: int
  manual: tuple[bool, bool]  # whether the body itself waits, and says that it is done
  compute_context: Callable[[Callable[[Any], Any]], Any] | None
  memory_thread: int
  memory_registers: int
  delay: int  # steps later than a body has run, blocks of inputs are free
  state: jax.Array | PipelinePipeline | None  # None: neither one before it nor one after it

  def get_allocations(self, *gmem_refs: Any) -> dict[str, list[Any]]:
    """The types of the memory of a call on some refs, for `pl.run_scoped(…, collective_axes=wg_axis)`."""
    inputs, outputs = self._blocks(gmem_refs)
    copied = [own for own in inputs if not own.is_whole]
    return self._memory(copied, [own for own in outputs if not own.is_whole]).tree()

  @property
  def compute_registers(self) -> int:
    """The registers of a consumer thread: an equal share of the SM's registers that the memory warpgroup leaves."""
    share = (_REGISTERS - self.memory_registers) // self.num_compute
    return max(24, min(share // 8 * 8, 256))

  @property
  def is_first(self) -> Any:
    """Whether no pipeline before this one may still use its slots."""
    return True if self.state is None else self.state == PipelinePipeline.START

  @property
  def is_last(self) -> Any:
    return True if self.state is None else self.state == PipelinePipeline.STOP

  def _memory(self, copied: Sequence[PipelineBlock], outputs: Sequence[PipelineBlock]) -> _Memory:
    def sets(are_apart: bool) -> list[list[PipelineBlock]]:
      """The inputs that have a barrier together: each for itself if the body uses them, or is done with them, one by one; else all."""
      return [[own] for own in copied] if are_apart else [list(copied)][: len(copied)]

    consumed = Barrier(num_arrivals=self.num_compute, num_barriers=self.num_slots)
    return _Memory(
      [own.slots(self.num_slots) for own in copied],
      [own.memory for own in outputs],
      [Barrier(num_arrivals=len(every), num_barriers=self.num_slots) for every in sets(any(self.manual))],
      # Where other CTAs bring blocks as well, all must be done with those that they replace
      [consumed.memory(collective_axes(every), guards_copies=True) for every in sets(self.manual[1])],
      [Barrier(num_arrivals=self.num_compute)] if outputs else [],
      [Barrier()] if outputs else [],
    )

  def _blocks(self, refs: Sequence[Any]) -> tuple[list[PipelineBlock], list[PipelineBlock]]:
    what = "emit_pipeline_warp_specialized"
    sides = [jax.tree.leaves(specs) for specs in (self.in_specs, self.out_specs)]
    flat = jax.tree.leaves(refs, is_leaf=is_ref)
    if len(flat) != sum(map(len, sides)):
      raise errors.BlockSpecError(
        f"plgpu.{what}: expected a ref for each of {sum(map(len, sides))} specs, got {len(flat)}."
      )
    blocks = [PipelineBlock(spec, ref, what) for spec, ref in zip([*sides[0], *sides[1]], flat)]
    return blocks[: len(sides[0])], blocks[len(sides[0]) :]

  def __call__(self, *gmem_refs: Any, allocations: Any = None) -> None:
    count = lax.axis_size(self.wg_axis)
    if count != self.num_compute + 1 or not 0 <= self.memory_thread < count:
      raise errors.GridError(
        f"plgpu.emit_pipeline_warp_specialized: expected {self.num_compute} warpgroups that compute and one more, with number "
        f"{self.memory_thread}, along {self.wg_axis!r}; the kernel has num_threads={count}."
      )
    if allocations is not None:
      self._run(*self._blocks(gmem_refs), allocations)
    else:  # memory of its own, which no pipeline before or after it sees
      alone = functools.partial(dataclasses.replace(self, state=None)._run, *self._blocks(gmem_refs))
      run_scoped(alone, self.get_allocations(*gmem_refs), collective_axes=self.wg_axis)

  def _run(self, inputs: list[PipelineBlock], outputs: list[PipelineBlock], allocations: dict[str, list[Any]]) -> None:
    memory = _Memory(**allocations)
    step = _Step(self, inputs, outputs, memory)
    is_memory = lax.axis_index(self.wg_axis) == self.memory_thread

    @when(is_memory)
    def _() -> None:
      set_max_registers(self.memory_registers, action="decrease")
      lax.fori_loop(0, step.count, lambda n, _: step.fetch(n), None)

      # Copies in flight are waited for before others may change the barriers, or the memory.
      @when(self.is_last)
      def _() -> None:
        lax.fori_loop(step.last(self.num_slots), step.count, lambda n, _: step.await_use(n), None)

    @when(jnp.logical_not(is_memory))
    def _() -> None:
      set_max_registers(self.compute_registers, action="increase")
      was_called = False

      def run(carry: Any) -> Any:
        nonlocal was_called
        was_called = True
        carry = carrying_loop("emit_pipeline_warp_specialized", step.count, step.compute, carry)
        if self.delay and not self.manual[1]:  # products of the last steps may still read what is released now
          wgmma_wait(0)
        first = step.last(self.delay)
        if isinstance(first, int):
          for n in range(first, step.count):
            step.release(n)
        elif self.delay:
          lax.fori_loop(first, step.count, lambda n, _: step.release(n), None)
        return carry

      if self.compute_context is None:
        run(None)
      else:
        self.compute_context(run)
        if not was_called:  # nothing would release what the memory warpgroup copies
          raise errors.KernelReturnError(
            "plgpu.emit_pipeline_warp_specialized: Pipeline was not called in `compute_context`. Call the function that it gets, with "
            "the first carry."
          )


class _Step:
  """The steps of a pipeline, by number: what the memory warpgroup and the others do."""

  def __init__(
    self, pipeline: WarpSpecializedPipeline, inputs: list[PipelineBlock], outputs: list[PipelineBlock], memory: _Memory
  ):
    self.pipeline, self.inputs, self.outputs, self.memory = pipeline, inputs, outputs, memory
    self.count = num_steps("emit_pipeline_warp_specialized", pipeline.grid)
    self.copied = [own for own in inputs if not own.is_whole]
    for own, buffer in zip([own for own in outputs if not own.is_whole], memory.outputs):
      own.buffer = buffer

  def last(self, steps: int) -> Any:
    """The number of the first among the last so many steps."""
    return max(0, self.count - steps) if isinstance(self.count, int) else jnp.maximum(0, self.count - steps)

  def _slot(self, n: Any) -> Any:
    return lax.rem(jnp.int32(n), jnp.int32(self.pipeline.num_slots))

  # --- the memory warpgroup --------------------------------------------------------------------------------------

  def fetch(self, n: Any) -> None:
    """Copy the blocks of a step, once the previous users of its slot are done: in this pipeline, or in the one before it."""
    is_used = jnp.logical_not((n < self.pipeline.num_slots) & self.pipeline.is_first)
    slot, index, produced = self._slot(n), point(n, self.pipeline.grid), self.memory.produced
    for number, (own, buffer) in enumerate(zip(self.copied, self.memory.slots)):
      if number < len(
        self.memory.consumed
      ):  # one for each, or one for all: a block is copied when its own slot is free
        when(is_used)(functools.partial(barrier_wait, self.memory.consumed[number].at[slot]))
      barrier = produced[number if len(produced) > 1 else 0]
      own.copy(index, buffer.at[slot], barrier.at[slot])

  def await_use(self, n: Any) -> None:
    """Wait until all consumers are done with the contents of a step's slot."""
    for barrier in self.memory.consumed:
      barrier_wait(barrier.at[self._slot(n)])

  # --- the others ------------------------------------------------------------------------------------------------

  def compute(self, n: Any, carry: Any) -> Any:
    pipeline, memory = self.pipeline, self.memory
    slot, index = self._slot(n), point(n, pipeline.grid)
    produced, consumed = ([own.at[slot] for own in barriers] for barriers in (memory.produced, memory.consumed))
    if not pipeline.manual[0]:
      for barrier in produced:
        wait_before_use(barrier)
    buffers = iter(memory.slots)
    seen = [own.ref if own.is_whole else next(buffers).at[slot] for own in self.inputs]
    given = [own.ref if own.is_whole else all_of(own.buffer) for own in self.outputs]
    args = [*_as_tree(pipeline.in_specs, seen), *_as_tree(pipeline.out_specs, given)]
    for is_manual, barriers in zip(pipeline.manual, (produced, consumed)):
      args += barriers if is_manual else []
    if pipeline.compute_context is not None:
      args.append(carry)
    carry = pipeline.body(index, *args)
    if pipeline.compute_context is None and carry is not None:
      raise errors.KernelReturnError("The body of a pipeline without a compute_context must return None.")
    if pipeline.delay == 0:
      self.release(n)
    else:
      when(n >= pipeline.delay)(lambda: self.release(n - pipeline.delay))
    self._take(index)
    return carry

  def release(self, n: Any) -> None:
    """Release a step's slot, so that it may be refilled, unless the body does so itself."""
    if not self.pipeline.manual[1]:
      for barrier in self.memory.consumed:
        barrier_arrive(barrier.at[self._slot(n)])

  def _take(self, index: tuple[Any, ...]) -> None:
    """When all consumers have left the body, one copies the output blocks back, before any continues."""
    if not self.memory.outputs:
      return
    (left,), (taken,) = self.memory.left, self.memory.taken
    barrier_arrive(left)
    first = 1 if self.pipeline.memory_thread == 0 else 0

    @when(lax.axis_index(self.pipeline.wg_axis) == first)
    def _() -> None:
      barrier_wait(left)
      for own in self.outputs:
        own.take(index)
      barrier_arrive(taken)

    barrier_wait(taken)


def _as_tree(specs: Any, refs: Sequence[Any]) -> Sequence[Any]:
  """Refs in the places of their specs."""
  return jax.tree.unflatten(jax.tree.structure(specs), refs)
