"""Collectives as kernels, for devices that see each other's memory.

Nothing here waits: a device reads inputs of others, which are complete when a kernel begins, and writes to outputs of others, which nobody
reads before all have ended. On the CPU such kernels run as gangs. Arrays are rows of one chunk each, and a chunk is what fits the first
cache:

    one_shot   each device reads all inputs and writes its own output                     g reads and 1 write of the array
    two_shot   each device reduces its share of the rows and writes it to all outputs     1 read and 1 write
    ring       sums travel from device to device, with semaphores                         2 (g - 1) / g of each

All devices of a group add in the same order, so that they get the same bits in every run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.collectives import flat
from tilewright.collectives.groups import Table
from tilewright.collectives.members import LOGICAL, OPS, Member, wide
from tilewright.pallas import remote
from tilewright.pallas import tpu as pltpu
from tilewright.tile.formats import width as bits_of

_CHUNK_BYTES, _CHUNK_BYTES_OF_PARTS = 32 << 10, 8 << 10


@dataclasses.dataclass(frozen=True)
class Params:
  """Compiler parameters of a collective: what it is, with the user's line, for messages; the parties in which devices meet; whether devices
  meet in no other way; whether its instances run side by side."""

  title: str
  parties: tuple[int, ...] = ()
  only_gangs: bool = False
  grid_is_parallel: bool = False
  collective_id: int = 0
  has_side_effects: bool = True
  writes_all: bool = True


@dataclasses.dataclass(frozen=True)
class Call:
  """Who takes part in a collective, what messages call it, and how many instances on each device share its rows."""

  table: Table
  title: str
  parts: int = 1

  @property
  def chunk_bytes(self) -> int:
    return _CHUNK_BYTES if self.parts == 1 else _CHUNK_BYTES_OF_PARTS

  def rows(self, first: Any, last: Any, parts: int) -> Callable[[Callable[[Any], None]], None]:
    """A loop over rows, of which each of `parts` instances takes every so-manieth."""
    if parts == 1:
      return pl.loop(first, last)

    def run(body: Callable[[Any], None]) -> None:
      own = first + pl.program_id(0)
      pl.loop(0, lax.div(jnp.int32(last) - jnp.int32(own) + parts - 1, parts))(lambda k: body(own + k * parts))

    return run


def rows_of(size: int, dtype: Any, chunk_bytes: int = _CHUNK_BYTES) -> tuple[int, int]:
  """How an array is cut: the number of rows and their size. The last row may be filled up."""
  most = max(64, chunk_bytes // max(1, np.dtype(dtype).itemsize))
  if size <= most:
    return 1, size
  for chunk in range(most, most // 8, -1):
    if size % chunk == 0:
      return size // chunk, chunk
  return -(-size // most), most


def run(
  body: Callable[..., None], x: Any, out_shape: tuple[int, ...], call: Call, scratch: Any = (), parts: int = 1
) -> Any:
  """Call a body, in `parts` instances."""
  whole = pl.BlockSpec(memory_space=pl.ANY)
  return pl.pallas_call(
    lambda table_ref, x_ref, o_ref, *more: body(Member(table_ref, call.table), x_ref, o_ref, *more),
    jax.ShapeDtypeStruct(out_shape, x.dtype),
    grid=(parts,) if parts > 1 else (),
    in_specs=[whole, whole],
    out_specs=whole,
    scratch_shapes=list(scratch),
    compiler_params=Params(call.title, call.table.parties, grid_is_parallel=parts > 1),
    name=call.title.split(" ")[0],
  )(jnp.asarray(call.table.array()), x)


def in_rows(x: Any, call: Call, lead: int = 0) -> tuple[Any, Callable[[Any], Any], tuple[int, int]]:
  """An array as rows of chunks behind its first dimensions; how to get its shape back; and how many rows of what size."""
  size = int(np.prod(x.shape[lead:]))
  count, chunk = rows_of(size, x.dtype, call.chunk_bytes)
  flat = x.reshape(*x.shape[:lead], size)
  if count * chunk != size:
    flat = jnp.pad(flat, [(0, 0)] * lead + [(0, count * chunk - size)])
  inner = x.shape[lead:]

  def back(y: Any) -> Any:
    outer = y.shape[:-2]
    return y.reshape(*outer, count * chunk)[..., :size].reshape(*outer, *inner)

  return flat.reshape(*x.shape[:lead], count, chunk), back, (count, chunk)


# --- all-reduce --------------------------------------------------------------------------------------------------


def all_reduce(x: Any, call: Call, op: str, algorithm: str) -> Any:
  table = call.table
  if algorithm == "ring" and wide(x.dtype, op) != x.dtype:  # sums on their way are not rounded
    return all_reduce(x.astype(wide(x.dtype, op)), call, op, algorithm).astype(x.dtype)
  is_flat = algorithm == "two_shot" and call.parts == 1
  if is_flat and table.is_even and table.width <= flat.MOST_MEMBERS and bits_of(x.dtype) >= 8:
    total = (pltpu.VMEM((flat.chunk_of(x.dtype),), x.dtype),)
    body = lambda member, x_ref, o_ref, total: flat.all_reduce(op, member, [x_ref], [o_ref], total)
    return run(body, x.reshape(-1), (x.size,), call, total).reshape(x.shape)
  rows, back, (count, chunk) = in_rows(x, call)
  parts = 1 if algorithm == "ring" else min(call.parts, count)
  dtype, acc = x.dtype, wide(x.dtype, op)

  def one_shot(member: Member, x_ref: Any, o_ref: Any) -> None:
    inputs = member.refs(x_ref)

    @call.rows(0, count, parts)
    def _(i: Any) -> None:
      o_ref[i] = member.reduced(lambda rank: inputs(rank)[i].astype(acc), op).astype(dtype)

  def two_shot(member: Member, x_ref: Any, o_ref: Any) -> None:
    first, last = member.rows_of_member(count)
    inputs, outputs = member.refs(x_ref), member.refs(o_ref)

    @call.rows(first, last, parts)
    def _(i: Any) -> None:
      total = member.reduced(lambda rank: inputs(rank)[i].astype(acc), op).astype(dtype)

      def write(rank: Any) -> None:
        outputs(rank)[i] = total

      member.each(write)

  def ring(member: Member, x_ref: Any, o_ref: Any, incoming: Any, sent: Any, arrived: Any, free: Any) -> None:
    """Each row's sum starts at the member after the one that owns it, and travels right; then sums travel on to all.

    Every step sends one buffer to the right, which says when it is free again.
    """
    size, rank = jnp.int32(member.size), jnp.int32(member.rank)
    right, left = member.number(lax.rem(rank + 1, size)), member.number(lax.rem(rank + size - 1, size))
    owned = lax.div(count + size - 1, size)  # rows of each member; there are more of them in a smaller group

    @pl.loop(0, owned)
    def _(k: Any) -> None:
      def row(owner: Any) -> Any:
        return lax.rem(jnp.int32(owner), size) * owned + jnp.int32(k)

      def add(step: Any, reduce: bool) -> None:
        """Send a row, receive another; add it to ours or take it as it is."""
        away = size - jnp.int32(step) + (0 if reduce else 1)
        outgoing, coming = row(rank + away), row(rank + away + size - 1)

        @pl.when(outgoing < count)
        def _() -> None:
          copy = pltpu.make_async_remote_copy(
            o_ref.at[outgoing], incoming, sent, arrived, device_id=right, device_id_type=LOGICAL
          )
          copy.start()
          copy.wait_send()

        @pl.when(coming < count)
        def _() -> None:
          pltpu.make_async_copy(incoming, incoming, arrived).wait()
          new = incoming[...]
          if reduce:
            new = OPS[op](o_ref[coming].astype(acc), new.astype(acc)).astype(dtype)
          o_ref[coming] = new

        pl.semaphore_signal(free, 1, device_id=left, device_id_type=LOGICAL)
        pl.semaphore_wait(free, 1)

      @pl.loop(0, size)
      def _(owner: Any) -> None:
        @pl.when(row(owner) < count)
        def _() -> None:
          o_ref[row(owner)] = x_ref[row(owner)]

      pl.loop(0, size - 1)(lambda step: add(step, True))
      pl.loop(0, size - 1)(lambda step: add(step, False))

  bodies: dict[str, Callable[..., None]] = {"one_shot": one_shot, "two_shot": two_shot, "ring": ring}
  DMA = pltpu.SemaphoreType.DMA
  scratch = (pltpu.VMEM((chunk,), dtype), DMA(()), DMA(()), pltpu.SemaphoreType.REGULAR) if algorithm == "ring" else ()
  return back(run(bodies[algorithm], rows, rows.shape, call, scratch, parts))


# --- the others --------------------------------------------------------------------------------------------------


def gather(x: Any, call: Call) -> Any:
  """From x to (members, *x): what all members have."""
  rows, back, (count, _) = in_rows(x, call)
  parts = min(call.parts, count)

  def body(member: Member, x_ref: Any, o_ref: Any) -> None:
    outputs = member.refs(o_ref)

    @call.rows(0, count, parts)
    def _(i: Any) -> None:
      def write(rank: Any) -> None:
        outputs(rank)[member.rank, i] = x_ref[i]

      member.each(write)
      _clear(member, lambda rank: o_ref.at[rank, i])

  return back(run(body, rows, (call.table.width, *rows.shape), call, parts=parts))


def _clear(member: Member, part: Callable[[Any], Any]) -> None:
  """Parts of members that a group lacks are zero."""
  if not member.table.is_even:

    @pl.loop(member.size, member.table.width)
    def _(rank: Any) -> None:
      ref = part(rank)
      ref[...] = jnp.zeros(ref.shape, ref.dtype)


def scatter(x: Any, call: Call, op: str) -> Any:
  """From (members, *y) to y: the part that is this member's, combined over all."""
  rows, back, (count, _) = in_rows(x, call, 1)
  parts = min(call.parts, count)
  dtype, acc = x.dtype, wide(x.dtype, op)

  def body(member: Member, x_ref: Any, o_ref: Any) -> None:
    inputs = member.refs(x_ref)

    @call.rows(0, count, parts)
    def _(i: Any) -> None:
      part = lambda rank: inputs(rank)[member.rank, i].astype(acc)
      o_ref[i] = member.reduced(part, op).astype(dtype)

  return back(run(body, rows, rows.shape[1:], call, parts=parts))


def exchange(x: Any, call: Call) -> Any:
  """From (members, *y) to (members, *y): part i goes to member i, and comes to stand where its sender is."""
  rows, back, (count, _) = in_rows(x, call, 1)
  parts = min(call.parts, count)

  def body(member: Member, x_ref: Any, o_ref: Any) -> None:
    inputs = member.refs(x_ref)

    @call.rows(0, count, parts)
    def _(i: Any) -> None:
      def read(rank: Any) -> None:
        o_ref[rank, i] = inputs(rank)[member.rank, i]

      member.each(read)
      _clear(member, lambda rank: o_ref.at[rank, i])

  return back(run(body, rows, rows.shape, call, parts=parts))


def permute(x: Any, call: Call, sources: tuple[int, ...]) -> Any:
  """Member i gets what member sources[i] has, or zeros where that is -1."""
  rows, back, (count, _) = in_rows(x, call)
  parts = min(call.parts, count)

  def body(member: Member, x_ref: Any, o_ref: Any) -> None:
    source = jnp.int32(-1)
    for rank, number in enumerate(sources):
      source = jnp.where(member.rank == rank, number, source)

    @call.rows(0, count, parts)
    def _(i: Any) -> None:
      @pl.when(source >= 0)
      def _() -> None:
        o_ref[i] = remote.remote_ref(x_ref, member.number(source), LOGICAL)[i]

      @pl.when(source < 0)
      def _() -> None:
        o_ref[i] = jnp.zeros(o_ref.shape[1:], o_ref.dtype)

  return back(run(body, rows, rows.shape, call, parts=parts))


def ragged(operand: Any, output: Any, sizes: Any, call: Call) -> Any:
  """Rows of the operand go to places in the outputs of others. `sizes` are, row by row, where a part begins here, how many rows it has, and
  where it begins there; its other rows stay as the output had them."""
  whole = pl.BlockSpec(memory_space=pl.ANY)
  scalars = pl.BlockSpec(memory_space=pltpu.SMEM)
  parts = min(call.parts, max(1, operand.shape[0]))

  def body(table_ref: Any, sizes_ref: Any, x_ref: Any, _: Any, o_ref: Any) -> None:
    member = Member(table_ref, call.table)
    outputs = member.refs(o_ref)

    def send(rank: Any) -> None:
      begin, count, there = (sizes_ref[k, rank] for k in range(3))

      @call.rows(0, count, parts)
      def _(i: Any) -> None:
        outputs(rank)[there + i] = x_ref[begin + i]

    member.each(send)

  return pl.pallas_call(
    body,
    jax.ShapeDtypeStruct(output.shape, output.dtype),
    grid=(parts,) if parts > 1 else (),
    in_specs=[whole, scalars, whole, whole],
    out_specs=whole,
    input_output_aliases={3: 0},
    compiler_params=Params(call.title, call.table.parties, grid_is_parallel=parts > 1),
    name="ragged_all_to_all",
  )(jnp.asarray(call.table.array()), sizes, operand, output)
