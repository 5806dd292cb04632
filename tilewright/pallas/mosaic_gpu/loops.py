"""Loops over a grid inside a kernel: `nd_loop` (persistent CTAs), `emit_pipeline` and variants.

    @plgpu.nd_loop((rows // 64, columns // 64), collective_axes="sm")     points are distributed over the CTAs round-robin
    def _(info):
      i, j = info.index
      …

`emit_pipeline` passes a body one block of each operand per step. With `max_concurrent_steps` = s, input blocks are in a ring of s slots,
and copies run ahead of the body. A slot is refilled when the products that read it are done, `delay_release` = d steps later:

    copies         0 … s - d - 1 before the loop
    step n         wait for copy n; body; all products but those of the newest d steps are done; copy n + s - d to the slot of n - d

CTAs of a cluster that say so in a spec (`collective_axes`) bring each other its blocks. Then a slot is refilled when all of them are done.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.layout.transforms import stacked
from tilewright.pallas import primitives
from tilewright.pallas.arity import check_takes, name_of
from tilewright.pallas.control import when
from tilewright.pallas.mosaic_gpu.barriers import Barrier, barrier_arrive, barrier_wait
from tilewright.pallas.mosaic_gpu.copies import copy_gmem_to_smem
from tilewright.pallas.mosaic_gpu.memory import SMEM, SharedMemory, Whole, untransformed
from tilewright.pallas.mosaic_gpu.partition import axes_of
from tilewright.pallas.mosaic_gpu.products import wgmma_wait
from tilewright.pallas.mosaic_gpu.specs import OOBFillMode
from tilewright.pallas.mosaic_gpu.zero_fill import may_hang_over, zero_filled
from tilewright.pallas.primitives import ReadEffect, ShapedArray, TransformedRef
from tilewright.pallas.scoped import run_scoped, shown
from tilewright.runtime import _jax
from tilewright.runtime._jax import ds
from tilewright.tile.grid import Blocked, Element, Squeezed
from tilewright.tile.memory import memory_ref

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class NDLoopInfo:
  """The position of a loop: the grid indices, the number of steps this CTA has done, and its total number of steps."""

  index: tuple[jax.Array, ...]
  local_index: jax.Array | int
  num_local_steps: jax.Array | int | None


def nd_loop(
  grid: Sequence[int], *, collective_axes: Any, tiling: Sequence[int] | None = None, init_carry: Any = None
) -> Callable[[Callable[..., Any]], Any]:
  """A decorator that runs a function for each point of a grid, distributed over the CTAs along some axes.

  Step n of all is that of block n modulo their number. Points come row by row, or tile by tile with a `tiling`, which divides the
  grid. The function gets a `NDLoopInfo`, and with `init_carry` what it returned the time before as `carry`; the decorator gives the last.
  """
  if not isinstance(grid, Sequence):
    raise errors.GridError(f"plgpu.nd_loop: grid: expected a sequence of sizes, as in (2,), got {grid!r}.")
  grid = tuple(grid)
  tiles = tuple(tiling) if tiling is not None else grid
  if len(tiles) != len(grid):
    raise errors.GridError(f"plgpu.nd_loop: tiling={tiles} and grid={grid} must have same length.")
  if any(isinstance(n, int) and n % t for n, t in zip(grid, tiles)):
    raise errors.GridError(
      f"plgpu.nd_loop: Tiling {tiles} does not divide grid {grid}. Expected sizes that divide the grid."
    )
  axes = (collective_axes,) if isinstance(collective_axes, str) else tuple(collective_axes)

  def run(body: Callable[..., Any]) -> Any:
    mine, count = jnp.int32(0), 1
    for axis in axes:
      mine, count = mine * lax.axis_size(axis) + lax.axis_index(axis), count * lax.axis_size(axis)
    num_steps = (math.prod(grid) - mine + count - 1) // count

    def step(n: Any, carry: Any) -> Any:
      index = point(mine + n * count, [*(size // t for size, t in zip(grid, tiles)), *tiles])
      outer, inner = index[: len(grid)], index[len(grid) :]
      at = tuple(o * t + i for o, t, i in zip(outer, tiles, inner))
      return _called(body, NDLoopInfo(at, n, num_steps), carry, init_carry is not None)

    return carrying_loop("nd_loop", num_steps, step, init_carry)

  return run


class Carry:
  """What a loop carries: values, and perhaps refs, accumulators say, which every step must give on as they are."""

  def __init__(self, what: str, carry: Any):
    self._what, self.is_none = what, carry is None
    leaves, self._tree = jax.tree.flatten(carry, is_leaf=primitives.is_ref)
    self._refs = {place: leaf for place, leaf in enumerate(leaves) if primitives.is_ref(leaf)}
    self.values = [leaf for place, leaf in enumerate(leaves) if place not in self._refs]

  def whole(self, values: Sequence[Any]) -> Any:
    rest = iter(values)
    count = len(self._refs) + len(values)
    return jax.tree.unflatten(self._tree, [self._refs[n] if n in self._refs else next(rest) for n in range(count)])

  def after(self, given: Any) -> list[Any]:
    """The values of what a step gives."""
    leaves, tree = jax.tree.flatten(given, is_leaf=primitives.is_ref)
    if self._refs and (tree != self._tree or any(leaves[place] is not ref for place, ref in self._refs.items())):
      raise errors.KernelReturnError(
        f"plgpu.{self._what}: there are refs in the carry: expected the body to return them, each where it was, in a tree {self._tree}, "
        f"got {tree}. Change what a ref holds, and return the ref itself."
      )
    return [leaf for place, leaf in enumerate(leaves) if place not in self._refs]

  def loop(self, num_steps: Any, step: Callable[[Any, Any], Any]) -> Any:
    """Run steps, each of which gets a number and the carry, and returns the next. The values of the last carry."""
    if not self._refs:  # as it is, so that the trees of two carries are compared where they are known
      return jax.tree.leaves(lax.fori_loop(0, num_steps, step, self.whole(self.values)))
    return lax.fori_loop(0, num_steps, lambda n, values: self.after(step(n, self.whole(values))), self.values)


def carrying_loop(what: str, num_steps: Any, step: Callable[[Any, Any], Any], init: Any) -> Any:
  """`fori_loop` from 0 on, in whose carry there may be refs."""
  carry = Carry(what, init)
  return carry.whole(carry.loop(num_steps, step))


def _called(body: Callable[..., Any], info: NDLoopInfo, carry: Any, has_carry: bool) -> Any:
  if has_carry:
    return body(info, carry=carry)
  if body(info) is not None:
    raise errors.KernelReturnError("The body of a loop without init_carry must return None.")
  return None


def point(number: Any, sizes: Sequence[Any]) -> tuple[Any, ...]:
  """A number as indices, the last one fastest."""
  found = []
  for size in reversed(sizes):
    found.append(lax.rem(number, jnp.int32(size)))
    number = lax.div(number, jnp.int32(size))
  return tuple(reversed(found))


def dynamic_scheduling_loop(
  grid_names: Any, thread_axis: Any = None, cluster_axes: Any = (), init_carry: Any = None
) -> Callable[[Callable[..., Any]], Any]:
  """A decorator that runs a function for the grid points that a CTA claims dynamically: here, each CTA runs its own."""
  names = (grid_names,) if isinstance(grid_names, str) else tuple(grid_names)

  def run(body: Callable[..., Any]) -> Any:
    info = NDLoopInfo(tuple(lax.axis_index(name) for name in names), jnp.int32(0), None)
    return _called(body, info, init_carry, init_carry is not None)

  return run


def planar_snake(lin_idx: jax.Array, shape: tuple[Any, Any], minor_dim: int, tile_width: int) -> tuple[Any, Any]:
  """The point of a plane that a number stands for, such that neighbours in number are near each other.

  The dimension `minor_dim` is cut into tiles of `tile_width`, the last one perhaps narrower. A tile is walked along the other dimension,
  forwards and backwards in turn, and across first.
  """
  if minor_dim not in (0, 1):
    raise errors.GridError(f"plgpu.planar_snake: minor_dim: expected 0 or 1, got {minor_dim}.")
  minor_size, major_size = shape[minor_dim], shape[1 - minor_dim]
  lin_idx = jnp.asarray(lin_idx, jnp.int32)
  tile = lin_idx // (tile_width * major_size)
  inside = lin_idx - tile * tile_width * major_size
  width = jnp.minimum(tile_width, minor_size - tile * tile_width)
  major, minor = inside // width, tile * tile_width + inside % width
  major = jnp.where(tile % 2 == 0, major, major_size - 1 - major)
  return (minor, major) if minor_dim == 0 else (major, minor)


# --- pipelines ---------------------------------------------------------------------------------------------------


def emit_pipeline(
  body: Callable[..., T],
  *,
  grid: Sequence[int | jax.Array],
  in_specs: Sequence[Any] = (),
  out_specs: Sequence[Any] = (),
  max_concurrent_steps: int = 1,
  init_carry: T | None = None,
) -> Callable[..., T | None]:
  """Turn a body into a pipelined loop over blocks: a function of whole refs, to be called inside a kernel.

  The body gets the indices of a step, then a ref for each input and output, and with `init_carry` what it returned the step before; the
  function gives the last. Specs may be trees, for trees of refs, with None for None. Blocks lie in shared memory, as their transforms say,
  and are zero beyond the end of their array; those of inputs that the body only reads come ahead of their step, as `max_concurrent_steps`
  allows. With one step at a time, such inputs are read where they are.
  """
  grid = tuple(grid)
  sides = tuple(in_specs), tuple(out_specs)
  specs, tree = jax.tree.flatten(sides)
  num_inputs = len(jax.tree.leaves(sides[0]))
  longest = max((getattr(spec, "delay_release", 0) for spec in specs), default=0)
  if max_concurrent_steps <= longest:
    raise errors.GridError(
      f"plgpu.emit_pipeline: max_concurrent_steps must be greater than all delay_release values, of which {longest} is the largest, got "
      f"{max_concurrent_steps}."
    )
  if any(isinstance(size, int) and size < 1 for size in grid):
    raise errors.GridError(
      f"plgpu.emit_pipeline: All elements in the grid must be strictly positive, but got grid={grid}. Leave the pipeline out where "
      "there is nothing to do, or pass the size as an array."
    )

  def pipeline(*refs: Any) -> T | None:
    flat = jax.tree.leaves(refs, is_leaf=primitives.is_ref)
    if len(flat) != len(specs):
      raise errors.BlockSpecError(
        f"plgpu.emit_pipeline: expected a ref for each of {len(specs)} specs, got {len(flat)}."
      )
    blocks = [PipelineBlock(spec, ref) for spec, ref in zip(specs, flat)]
    carried = Carry("emit_pipeline", init_carry)

    def call(index: tuple[Any, ...], seen: Sequence[Any], carry: Any) -> Any:
      inputs, outputs = jax.tree.unflatten(tree, seen)
      args = (index, *inputs, *outputs, *(() if init_carry is None else (carry,)))
      check_takes(
        body, "plgpu.emit_pipeline: the body", "the indices, a ref for each spec, and the carry if there is one", args
      )
      given = body(*args)
      return None if init_carry is None else given  # what a body without a carry gives is not used

    written = _written(call, len(grid), blocks, carried)
    count = num_steps("emit_pipeline", grid)
    num_slots = min(max_concurrent_steps, count) if isinstance(count, int) else max_concurrent_steps
    ring: list[PipelineBlock] = []
    for number, own in enumerate(blocks):
      is_read = number < num_inputs and not written[number]
      if is_read and own.can_prefetch and num_slots > 1:
        ring.append(own)
      own.is_in_place = own.is_whole or (is_read and own.lies_inside and own not in ring)
    here = [own for own in blocks if not own.is_in_place and own not in ring]

    def run(buffers: Sequence[Any], slots: Sequence[Any], barriers: Sequence[Any]) -> Any:
      for own, buffer in zip(here, buffers):
        own.buffer = buffer
      ahead = PrefetchedInputs(ring, slots, barriers, grid, count, min(longest, num_slots - 1)) if ring else None

      def step(n: Any, carry: Any) -> Any:
        index = point(n, grid)
        if ahead is not None:
          ahead.wait(n)
        for own in blocks[:num_inputs]:
          if own in here:
            own.fetch(index)
        carry = call(index, [own.seen(index) for own in blocks], carry)
        for own in blocks[num_inputs:]:
          own.take(index)
        if ahead is not None:
          ahead.continue_from(n)
        return carry

      if ahead is not None:
        ahead.begin()
      found = carried.loop(count, step)
      if ahead is not None:
        wgmma_wait(0)
      return found

    barriers = [Barrier(num_arrivals=len(ring), num_barriers=num_slots)] if ring else []
    if axes := collective_axes(ring):
      barriers.append(Barrier(num_barriers=num_slots).memory(axes, guards_copies=True))
    memory = [own.memory for own in here], [own.slots(num_slots) for own in ring], barriers
    return carried.whole(run_scoped(run, *memory))

  return pipeline


def collective_axes(blocks: Sequence[PipelineBlock]) -> tuple[Any, ...]:
  """The axes of a cluster whose CTAs bring each other some of these blocks."""
  return tuple(dict.fromkeys(axis for own in blocks for axis in own.collective_axes))


class PrefetchedInputs:
  """The inputs of a pipeline whose blocks come ahead of the body, through slots; one barrier for all that a step needs.

  Where CTAs of a cluster bring each other blocks, a second one says that all of them are done with a slot."""

  def __init__(
    self,
    blocks: Sequence[PipelineBlock],
    slots: Sequence[Any],
    barriers: Sequence[Any],
    grid: Any,
    count: Any,
    delay: int,
  ):
    self.blocks, self.slots, self.grid, self.count, self.delay = blocks, slots, grid, count, delay
    self.full, self.free = barriers[0], barriers[1] if len(barriers) > 1 else None
    self.num_slots = self.full.shape[0]
    self.lead = self.num_slots - delay  # steps that copies are ahead

  def _slot(self, n: Any) -> Any:
    return lax.rem(jnp.int32(n), jnp.int32(self.num_slots))

  def begin(self) -> None:
    for n in range(self.lead):
      self._if_in_grid(n, functools.partial(self._copy, n))

  def wait(self, n: Any) -> None:
    """Until the blocks of a step are there, which the body then sees."""
    slot = self._slot(n)
    barrier_wait(self.full.at[slot])
    for own, buffer in zip(self.blocks, self.slots):
      own.buffer = buffer.at[slot]

  def continue_from(self, n: Any) -> None:
    """When products no longer read the slot that is next, fill it."""
    wgmma_wait(self.delay)

    def refill() -> None:
      if self.free is not None:
        slot = self.free.at[self._slot(n + self.lead)]

        @when(n >= self.delay)
        def _() -> None:
          barrier_arrive(slot)
          barrier_wait(slot)

      self._copy(n + self.lead)

    self._if_in_grid(n + self.lead, refill)

  def _if_in_grid(self, n: Any, action: Callable[[], None]) -> None:
    if not isinstance(n, int) or not isinstance(self.count, int):
      when(n < self.count)(action)
    elif n < self.count:
      action()

  def _copy(self, n: Any) -> None:
    slot, index = self._slot(n), point(jnp.int32(n), self.grid)
    for own, buffer in zip(self.blocks, self.slots):
      own.copy(index, buffer.at[slot], self.full.at[slot])


def num_steps(what: str, grid: Sequence[Any]) -> Any:
  """How many points a grid has: an int, or an int32 scalar where a size is one."""
  if all(isinstance(size, int) for size in grid):
    return math.prod(grid)
  count = jnp.int32(1)
  for size in grid:
    size = jnp.asarray(size)
    if size.shape != () or not jnp.issubdtype(size.dtype, jnp.integer):
      raise errors.GridError(f"plgpu.{what}: grid: expected integer scalars, got {size.dtype}{list(size.shape)}.")
    count = count * size.astype(jnp.int32)
  return count


def _written(call: Callable[..., Any], rank: int, blocks: Sequence[PipelineBlock], carry: Carry) -> list[bool]:
  """Whether the body of a pipeline writes to each of its blocks; to be sure, to all if it writes to the arrays they are cut from."""

  def flat(*args: Any) -> list[Any]:
    index, seen, rest = args[:rank], args[rank : rank + len(blocks)], args[rank + len(blocks) :]
    call(tuple(index), [all_of(shown(ref)) for ref in seen], carry.whole(rest))
    return []

  avals = [
    *[ShapedArray((), jnp.dtype(jnp.int32))] * rank,
    *(own.memory.get_ref_aval() for own in blocks),
    *(_jax.core.typeof(jnp.asarray(leaf)) for leaf in carry.values),
  ]
  jaxpr, outside = _jax.detach(_jax.trace(flat, avals, what="emit_pipeline"))
  effects = _jax.core.positional_effects(jaxpr)
  changed = {e.input for e in effects if isinstance(e, _jax.effects.JaxprInputEffect) and not isinstance(e, ReadEffect)}
  if any(outside[n] is own.array for n in changed if n < len(outside) for own in blocks):
    return [True] * len(blocks)
  return [len(outside) + rank + number in changed for number in range(len(blocks))]


def all_of(ref: Any) -> Any:
  """All of a block's memory, as a view, as a slot of several would be."""
  view = ref if isinstance(ref, TransformedRef) else TransformedRef(ref, ())
  return TransformedRef(view.ref, (*view.transforms, Whole(tuple(ref.shape))))


class PipelineBlock:
  """A block of an operand of a pipeline: what a body sees of it, the memory for it if it has any, and what is copied at a step."""

  def __init__(self, spec: Any, ref: Any, what: str = "emit_pipeline"):
    self.ref, self._what = ref, what
    self.buffer: Any = None
    self.is_whole = spec.block_shape is None or "gmem" in str(spec.memory_space)
    self.is_in_place = self.is_whole
    self.sizes = [] if self.is_whole else [self._size(d) for d in spec.block_shape]
    # An index counts blocks, or elements where a dimension is cut by elements.
    self.units = [1 if isinstance(d, Element) else size for d, size in zip(spec.block_shape or (), self.sizes)]
    if not self.is_whole and len(self.sizes) != len(ref.shape):
      raise errors.BlockRankError(
        f"plgpu.{what}: a block of shape {tuple(spec.block_shape)} does not fit a ref of shape {tuple(ref.shape)}."
      )
    is_cut_evenly = not any(d and (n % d or u != d) for d, u, n in zip(self.sizes, self.units, ref.shape))
    self.lies_inside = is_cut_evenly and not may_hang_over(ref)
    self.index_map = spec.index_map or (lambda *_: (0,) * len(self.sizes))
    self.oob_mode = getattr(spec, "oob_fill_mode", OOBFillMode.ZEROS)
    self.transforms = tuple(getattr(spec, "transforms", ()))
    self.collective_axes = axes_of(getattr(spec, "collective_axes", None))
    shape = ref.shape if self.is_whole else tuple(d for d in self.sizes if d is not None)
    self.memory = memory_ref(shape, ref.dtype, SharedMemory(self.transforms) if self.transforms else SMEM)

  @property
  def can_prefetch(self) -> bool:
    """Whether a block is copied as it is."""
    return not self.is_whole and isinstance(self.ref.dtype, np.dtype) and bool(self.memory.shape)

  def _size(self, dim: Any) -> int | None:
    match dim:
      case None | Squeezed():
        return None
      case int():
        return dim
      case Blocked(size):
        return size
      case Element(size, (0, 0)):
        return size
    raise errors.UnsupportedFeatureError(
      f"plgpu.{self._what}: block dimensions must be ints, pl.Element without padding, or None, got {dim!r}."
    )

  def slots(self, count: int) -> Any:
    """The memory of several blocks, each of which lies as its transforms say."""
    space = SharedMemory(stacked(self.transforms)) if self.transforms else SMEM
    return memory_ref((count, *self.memory.shape), self.memory.dtype, space)

  @property
  def array(self) -> Any:
    """The ref that a block is cut from."""
    return self.ref.ref if isinstance(self.ref, TransformedRef) else self.ref

  def part(self, index: tuple[Any, ...], ref: Any = None) -> Any:
    """The block at an index of the grid, as a view."""
    check_takes(
      self.index_map, f"plgpu.{self._what}: the index map", "the grid indices", index, error=errors.IndexMapArityError
    )
    at = self.index_map(*index)
    at = at if isinstance(at, tuple | list) else (at,)
    if not self.is_whole and len(at) != len(self.sizes):
      raise errors.IndexMapError(
        f"plgpu.{self._what}: the index map {name_of(self.index_map)} must return {len(self.sizes)} values to match "
        f"block_shape={tuple(self.sizes)}, got {len(at)}."
      )
    ref = self.ref if ref is None else ref
    return ref.at[tuple(i if size is None else ds(i * u, size) for i, u, size in zip(at, self.units, self.sizes))]

  def copy(self, index: tuple[Any, ...], slot: Any, barrier: Any) -> None:
    """Start to copy the block at an index to a slot."""
    copy_gmem_to_smem(
      self.part(index), slot, barrier, collective_axes=self.collective_axes or None, oob_mode=self.oob_mode
    )

  def seen(self, index: tuple[Any, ...]) -> Any:
    if self.is_whole:
      return self.ref
    return self.part(index, untransformed(self.transforms, self.ref)) if self.is_in_place else all_of(self.buffer)

  def fetch(self, index: tuple[Any, ...]) -> None:
    if not self.is_in_place:
      self.buffer[...] = zero_filled(self.part(index))

  def take(self, index: tuple[Any, ...]) -> None:
    if not self.is_in_place:
      primitives.store(self.part(index), None, self.buffer[...])
