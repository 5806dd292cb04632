"""Asynchronous copies between refs, on one device or to another.

A descriptor is created first and the copy is started later; its semaphores count the bytes that were sent or received. In the portable
lowering a copy completes as soon as it starts, so a wait only decrements the semaphore.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import effects, gather, semaphores
from tilewright.pallas.arity import describe_value
from tilewright.pallas.primitives import AbstractRef, Primitive, ReadEffect, TransformedRef, WriteEffect, is_ref
from tilewright.pallas.scoped import run_scoped
from tilewright.pallas.semaphores import DeviceIdType
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.memory import SemaphoreType, bytes_per_element, dma_semaphore

Slice = _jax.indexing.Slice


def _as_view(ref: Any) -> Any:
  return ref if isinstance(ref, TransformedRef) else TransformedRef(ref, ())


def _check_ends(what: str, src: Any, dst: Any) -> None:
  for name, ref in (("src_ref", src), ("dst_ref", dst)):
    if not isinstance(ref.type, AbstractRef):
      raise errors.RefTypeError(f"{what}: {name} must be a ref, got {describe_value(ref.ref)}.")
  if src.dtype != dst.dtype:
    raise errors.ShapeMismatchError(
      f"{what}: src_ref holds {src.dtype} but dst_ref holds {dst.dtype}; a copy does not convert."
    )
  static = all(isinstance(d, int) for d in (*src.shape, *dst.shape))
  if static and tuple(src.shape) != tuple(dst.shape):
    raise errors.ShapeMismatchError(
      f"{what}: src_ref has shape {src.shape} but dst_ref has shape {dst.shape}; they must be equal."
    )


def _check_semaphore(what: str, sem: Any) -> Any:
  view = semaphores.semaphore_view(sem, what)
  if not jnp.issubdtype(view.dtype, dma_semaphore):
    raise errors.RefTypeError(f"{what}: expected a DMA semaphore (pltpu.SemaphoreType.DMA), got {view.dtype}.")
  return view


@dataclasses.dataclass(frozen=True)
class AsyncCopyDescriptor:
  """A copy that can be started and waited for. Nothing happens before `start`."""

  src_ref: Any
  dst_ref: Any
  dst_sem: Any
  src_sem: Any = None
  device_id: Any = None
  device_id_type: DeviceIdType = DeviceIdType.MESH
  core: Any = None  # the destination core in the kernel's mesh, if it is another core

  @property
  def is_remote(self) -> bool:
    return self.src_sem is not None

  def start(self, priority: int = 0, *, add: bool = False) -> None:
    """Start the copy; with `add`, it accumulates into the destination instead of overwriting it. Refs among its indices are read now."""
    if (rows := self._counted_rows()) is not None:
      rows.start(self, priority, add)
      return
    ends = (gather.read_indices(self.src_ref), gather.read_indices(self.dst_ref))
    flat, tree = _jax.flatten((*ends, self.dst_sem, self.src_sem, self.device_id, self.core))
    dma_start_p.bind(*flat, tree=tree, device_id_type=self.device_id_type, priority=priority, add=add)

  def _counted_rows(self) -> gather.CountedRows | None:
    """The rows to copy one by one, where indices of a certain value are ignored."""
    found = [(view, end) for view, end in ((self.src_ref, "src"), (self.dst_ref, "dst")) if gather.ignores(view)]
    if not found:
      return None
    if self.is_remote or len(found) > 1:
      raise errors.UnsupportedFeatureError(
        "pltpu.async_copy: plsc.Indices(ignored_value=...) is supported only at one end of a copy within a core. Gather into memory of "
        "this core first."
      )
    return gather.CountedRows(*found[0])

  def wait(self) -> None:
    """Wait until this device's part is done: its data is sent and, for a copy between devices, the data sent to it has arrived."""
    if self.is_remote:
      self.wait_send()
    self.wait_recv()

  def wait_recv(self) -> None:
    """Wait until data of this copy's size has arrived here."""
    self._wait(self.dst_ref, self.dst_sem)

  def wait_send(self) -> None:
    """Wait until the data of a copy to another device has left."""
    if not self.is_remote:
      raise errors.RefTypeError("wait_send: this copy stays on its device; use wait().")
    self._wait(self.src_ref, self.src_sem)

  def _wait(self, moved: Any, sem: Any) -> None:
    flat, tree = _jax.flatten((gather.any_indices(moved), sem))
    dma_wait_p.bind(*flat, tree=tree)


def make_async_copy(src_ref: Any, dst_ref: Any, sem: Any) -> AsyncCopyDescriptor:
  """Describe a copy between two refs of this device.

  Args:
    src_ref: the source.
    dst_ref: the destination; same shape and dtype.
    sem: the DMA semaphore that counts its bytes.
  """
  what = "pltpu.make_async_copy"
  src, dst = _as_view(src_ref), _as_view(dst_ref)
  _check_ends(what, src, dst)
  return AsyncCopyDescriptor(src, dst, _check_semaphore(what, sem))


def async_copy(src_ref: Any, dst_ref: Any, sem: Any, *, priority: int = 0, add: bool = False) -> AsyncCopyDescriptor:
  """Describe a copy and start it."""
  copy = make_async_copy(src_ref, dst_ref, sem)
  copy.start(priority, add=add)
  return copy


def make_async_remote_copy(
  src_ref: Any,
  dst_ref: Any,
  send_sem: Any,
  recv_sem: Any,
  device_id: Any,
  device_id_type: DeviceIdType = DeviceIdType.MESH,
) -> AsyncCopyDescriptor:
  """Describe a copy from this device to another one (or to itself), or from this core of a mesh to another one.

  Every device runs the same kernel: the sender waits for `send_sem`, the receiver for `recv_sem`.

  Args:
    src_ref: the source, on this device.
    dst_ref: the destination: the ref of this name on the other device.
    send_sem: counts the bytes sent, on this device.
    recv_sem: counts the bytes received, on the other device.
    device_id: the destination device; see `pl.semaphore_signal`.
    device_id_type: how `device_id` is interpreted.
  """
  what = "pltpu.make_async_remote_copy"
  src, dst = _as_view(src_ref), _as_view(dst_ref)
  _check_ends(what, src, dst)
  send, recv = _check_semaphore(what, send_sem), _check_semaphore(what, recv_sem)
  target = semaphores.target_of(device_id, what)
  return AsyncCopyDescriptor(src, dst, recv, send, target.device, device_id_type, target.core)


def async_remote_copy(
  src_ref: Any,
  dst_ref: Any,
  send_sem: Any,
  recv_sem: Any,
  device_id: Any,
  device_id_type: DeviceIdType = DeviceIdType.MESH,
) -> AsyncCopyDescriptor:
  """Describe a copy to another device and start it."""
  copy = make_async_remote_copy(src_ref, dst_ref, send_sem, recv_sem, device_id, device_id_type)
  copy.start()
  return copy


# --- primitives --------------------------------------------------------------------------------------------------

dma_start_p = Primitive("dma_start")
dma_start_p.multiple_results = True

dma_wait_p = Primitive("dma_wait")
dma_wait_p.multiple_results = True


@dataclasses.dataclass(frozen=True)
class _Operand:
  """Stands for the operand at a position. (A bare int in a transformed ref would be taken for part of a shape.)"""

  position: int


def operands(tree: Any, flat: Any) -> Any:
  """The arguments of a signal or a copy, with positions in place of its operands."""
  return _jax.unflatten(tree, [_Operand(i) for i in range(len(flat))])


def _ref_positions(part: Any, flat: Any) -> list[int]:
  return [o.position for o in _jax.flatten(part)[0] if isinstance(flat[o.position], AbstractRef)]


@dma_start_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, device_id_type: Any, priority: int, add: bool) -> Any:
  src, dst, dst_sem, src_sem, device_id, _ = operands(tree, flat)
  found: set[Any] = (
    {effects.semaphore_effect} if device_id is None else {effects.semaphore_effect, effects.comms_effect}
  )
  for part, kinds in (
    (src, (ReadEffect,)),
    (dst, (ReadEffect, WriteEffect) if add else (WriteEffect,)),
    (dst_sem, (WriteEffect,)),
    (src_sem, (WriteEffect,)),
  ):
    found.update(kind(i) for i in _ref_positions(part, flat) for kind in kinds)
  return [], found


@dma_wait_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any) -> Any:
  _, sem = operands(tree, flat)
  refs = _ref_positions(sem, flat)
  return [], {effects.semaphore_effect, *(e(i) for i in refs for e in (ReadEffect, WriteEffect))}


# --- the portable rules ------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Window:
  """A view of a cell with static shape; of a slice with dynamic size only the first `counts` elements are valid."""

  cell: Any
  transforms: tuple[Any, ...]
  counts: tuple[tuple[int, Any], ...]

  @property
  def shape(self) -> tuple[int, ...]:
    return jax.eval_shape(lambda value: xla.Cell(value, self.cell.aval).read(self.transforms), self.cell.value).shape

  @property
  def nbytes(self) -> Any:
    """How many bytes count. Needs the shape of the view only, not its value."""
    dynamic = dict(self.counts)
    number: Any = math.prod(d for axis, d in enumerate(self.shape) if axis not in dynamic)
    for count in dynamic.values():
      number = number * count
    return jnp.asarray(number * bytes_per_element(self.cell.value.dtype), jnp.int32)


def _windows(view: Any, limits: Mapping[int, int] = {}) -> list[tuple[Any, _Window]]:
  """The windows a view may denote, each with the condition under which it is selected: several for `select_ref`.

  `limits` bounds the dynamic size along an axis of the view, where the other end of the copy is smaller.
  """
  if isinstance(view, xla.Cell):
    return [(True, _Window(view, (), ()))]
  transforms = tuple(view.transforms)
  if view.multiref:
    choice = transforms[0].idx
    return [
      (jnp.logical_and(condition, choice == i), window)
      for i, ref in enumerate(view.ref)
      for condition, window in _windows(ref, limits)
    ]
  found = []
  for condition, inner in _windows(view.ref, limits):
    counts = list(inner.counts)
    fixed: list[Any] = []
    for transform in transforms:
      if isinstance(transform, _jax.indexing.NDIndexer) and transform.is_dynamic_size:
        transform, more = fix_sizes(transform, limits)
        counts += more
      fixed.append(transform)
    found.append((condition, _Window(inner.cell, (*inner.transforms, *fixed), tuple(counts))))
  return found


def fix_sizes(indexer: Any, limits: Mapping[int, int]) -> tuple[Any, list[tuple[int, Any]]]:
  """Replace dynamic slice sizes by an upper bound, and return the number of valid elements along each such axis."""
  indices, counts = [], []
  array_rank = len(indexer.int_indexer_shape)
  ints = [i for i, index in enumerate(indexer.indices) if not isinstance(index, Slice)]
  # NumPy's rule: the dimensions of index arrays take the arrays' place, but come first if a slice separates the arrays.
  scattered = bool(ints) and ints[-1] - ints[0] + 1 != len(ints)
  axis = array_rank if scattered else 0
  for i, (index, dim) in enumerate(zip(indexer.indices, indexer.shape)):
    if isinstance(index, Slice):
      if index.is_dynamic_size:
        counts.append((axis, index.size))
        index = Slice(index.start, min(dim, limits.get(axis, dim)), index.stride)
      axis += 1
    elif not scattered and i == ints[0]:
      axis += array_rank
    indices.append(index)
  return _jax.indexing.NDIndexer(tuple(indices), indexer.shape, indexer.int_indexer_shape), counts


def _common_limits(*views: Any) -> dict[int, int]:
  """For each axis of dynamic size, the size that fits every end of a copy. Without it a block at the edge would be read as a
  slice as long as the whole array."""
  limits: dict[int, int] = {}
  for view in views:
    for _, window in _windows(view):
      shape = window.shape
      for axis, _ in window.counts:
        limits[axis] = min(limits.get(axis, shape[axis]), shape[axis])
  return limits


def read_view(view: Any, limits: Mapping[int, int] = {}) -> Any:
  """The value of a view, up to the limits along dimensions of dynamic size."""
  (_, first), *rest = _windows(view, limits)
  value = first.cell.read(first.transforms)
  for condition, window in rest:
    value = jnp.where(condition, window.cell.read(window.transforms), value)
  return value


def _nbytes(view: Any) -> Any:
  return _windows(view)[0][1].nbytes


def _fit(value: Any, shape: tuple[int, ...]) -> Any:
  """Cut or pad (with poison) to a shape: dynamic slices may be bounded by dimensions of different size."""
  value = value[tuple(slice(0, d) for d in shape)]
  if value.shape == shape:
    return value
  return xla.poison(shape, value.dtype).at[tuple(slice(0, d) for d in value.shape)].set(value)


def write_view(view: Any, value: Any, *, add: bool, limits: Mapping[int, int], when: Any = True) -> None:
  for condition, window in _windows(view, limits):
    old = window.cell.read(window.transforms)
    new = _fit(value, old.shape)
    new = old + new if add else new
    keep = jnp.logical_and(condition, when) if when is not True or condition is not True else True
    for axis, count in window.counts:
      keep = jnp.logical_and(keep, lax.broadcasted_iota(jnp.int32, old.shape, axis) < count)
    window.cell.write(window.transforms, new if keep is True else jnp.where(keep, new, old))


def _signal(sem: Any, nbytes: Any) -> None:
  sem.ref.write(sem.transforms, sem.ref.read(sem.transforms) + nbytes)


@xla.register(dma_start_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, device_id_type: Any, priority: int, add: bool) -> list[Any]:
  src, dst, dst_sem, src_sem, device_id, core = _jax.unflatten(tree, flat)
  semaphores.check_own_core(ctx, core)
  limits = _common_limits(src, dst)
  value = read_view(src, limits)
  nbytes = _nbytes(src)
  if device_id is None:
    write_view(dst, value, add=add, limits=limits)
    _signal(dst_sem, nbytes)
  else:
    _send(value, nbytes, dst, dst_sem, device_id, device_id_type, add, limits)
  if src_sem is not None:
    _signal(src_sem, nbytes)
  return []


def _send(
  value: Any,
  nbytes: Any,
  dst: Any,
  dst_sem: Any,
  device_id: Any,
  device_id_type: Any,
  add: bool,
  limits: Mapping[int, int],
) -> None:
  """A collective: every device gathers what all devices send and applies, in order of the senders, what is addressed to it."""
  axes = semaphores.device_axes()
  names = tuple(axes)
  target = semaphores.logical_device_id(device_id, device_id_type, axes)
  me = semaphores.own_device_id(axes)
  # The indices in dst and dst_sem were computed by the sender, so they are sent too.
  leaves, tree = _jax.flatten((dst, dst_sem))
  is_cell = [isinstance(x, xla.Cell) for x in leaves]
  sent: list[Any] = [None if cell else lax.all_gather(jnp.asarray(x), names) for x, cell in zip(leaves, is_cell)]
  targets, values, sizes = (lax.all_gather(x, names) for x in (target, value, nbytes))
  for sender in range(math.prod(axes.values())):
    theirs = _jax.unflatten(tree, [x if cell else s[sender] for x, s, cell in zip(leaves, sent, is_cell)])
    for_me = targets[sender] == me
    write_view(theirs[0], values[sender], add=add, limits=limits, when=for_me)
    _signal(theirs[1], jnp.where(for_me, sizes[sender], 0))


@xla.register(dma_wait_p)
def _(ctx: xla.Context, *flat: Any, tree: Any) -> list[Any]:
  moved, sem = _jax.unflatten(tree, flat)
  semaphores.take(sem, _nbytes(moved), ctx)
  return []


# --- choosing among refs -----------------------------------------------------------------------------------------


def select_ref(idx: Any, *refs: Any) -> Any:
  """The `idx`-th of several refs of one type, for copies: `pltpu.async_copy(pl.select_ref(i, a, b), dst, sem)`."""
  if not refs:
    raise errors.RefTypeError("pl.select_ref: give at least one ref to choose from.")
  return TransformedRef(tuple(refs), (_jax.state_types.SelectTransform(semaphores.int32(idx, "pl.select_ref", "idx")),))


# --- copies that wait --------------------------------------------------------------------------------------------


def sync_copy(src_ref: Any, dst_ref: Any, *, add: bool = False) -> None:
  """Copy a ref, or each ref of a tree, to another and wait for it. The copies of a tree are in flight concurrently."""
  sources, source_tree = jax.tree.flatten(src_ref, is_leaf=is_ref)
  targets, target_tree = jax.tree.flatten(dst_ref, is_leaf=is_ref)
  if source_tree != target_tree:
    raise errors.TreeMismatchError(
      f"pltpu.sync_copy: src_ref and dst_ref must have the same structure, got {source_tree} and {target_tree}."
    )

  def copy(sems: Any) -> None:
    copies = [async_copy(s, t, sems.at[i], add=add) for i, (s, t) in enumerate(zip(sources, targets))]
    for each in copies:
      each.wait()

  if sources:
    run_scoped(copy, SemaphoreType.DMA((len(sources),)))
