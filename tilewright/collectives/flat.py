"""Collectives on several arrays at once, as bodies of kernels: of flat arrays, or around the dimension of the members.

    all_reduce          (n,)                    → (n,)
    gather              (outer, inner)          → (outer, members, inner)
    scatter             (outer, members, inner) → (outer, inner)
    exchange            (outer, members, inner) → the same; parts are of the middle dimension
    exchange_operands   (n,) for each member    → the same; parts are the operands
    permute             (n,)                    → (n,)

A body takes a `Member`, the refs of operands and those of results. Nothing waits, as in `kernels`, and no array is padded: loops over
chunks are followed by a last, shorter one. All groups have one size. What is only moved is copied chunk by chunk by the C library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.collectives.members import LOGICAL, Member, wide
from tilewright.pallas import remote, semaphores

_CHUNK_BYTES = 16 << 10  # for which inputs and a sum do not displace each other in L1
_LANES = 64  # elements: shares of an array begin at multiples of this
MOST_MEMBERS = 16  # whose arrays one loop reads

Refs = Sequence[Any]


def chunk_of(dtype: Any) -> int:
  """The elements of a chunk."""
  return max(_LANES, _CHUNK_BYTES // max(1, np.dtype(dtype).itemsize))


def _pieces(size: int, dtype: Any, run: Callable[[Any], None], base: Any = 0) -> None:
  """`run` on slices from a base on: chunks, and what is left behind the last one."""
  chunk = chunk_of(dtype)
  count = size // chunk
  if count:
    pl.loop(0, count)(lambda i: run(pl.ds(pl.multiple_of(base + i * chunk, _LANES), chunk)))
  if size % chunk:
    run(pl.ds(base + count * chunk, size % chunk))


def all_reduce(op: str, member: Member, xs: Refs, ys: Refs, total: Any) -> None:
  """Each member reduces its share, chunk by chunk into `total`, and copies it to all; the last member also what equal shares leave."""
  width, rank = member.table.width, member.rank
  for x, y in zip(xs, ys, strict=True):
    (size,), dtype = x.shape, x.dtype
    inputs, outputs = member.refs(x), member.refs(y)

    def run(part: Any, inputs: Any = inputs, outputs: Any = outputs) -> None:
      total[pl.ds(0, part.size)] = _reduced(op, member, lambda other: inputs(other)[part])
      for other in range(width):
        outputs(other)[part] = total[pl.ds(0, part.size)]

    share = size // width // _LANES * _LANES
    _pieces(share, dtype, run, rank * share)
    if rest := size - share * width:

      @pl.when(rank == width - 1)
      def _(run: Any = run, rest: int = rest, dtype: Any = dtype, base: int = share * width) -> None:
        _pieces(rest, dtype, run, base)


def _reduced(op: str, member: Member, part: Callable[[Any], Any]) -> Any:
  dtype = part(0).dtype
  acc = wide(dtype, op)
  return member.reduced(lambda rank: part(rank).astype(acc), op).astype(dtype)


def gather(member: Member, xs: Refs, ys: Refs) -> None:
  """Each member copies what it has to all."""
  for x, y in zip(xs, ys, strict=True):
    outputs = member.refs(y)

    @pl.loop(0, x.shape[0])
    def _(i: Any, x: Any = x, outputs: Any = outputs) -> None:
      def run(part: Any) -> None:
        for other in range(member.table.width):
          outputs(other)[i, member.rank, part] = x[i, part]

      _pieces(x.shape[-1], x.dtype, run)


def scatter(op: str, member: Member, xs: Refs, ys: Refs) -> None:
  """Each member reduces the part that is its own."""
  for x, y in zip(xs, ys, strict=True):
    inputs = member.refs(x)

    @pl.loop(0, y.shape[0])
    def _(i: Any, y: Any = y, inputs: Any = inputs) -> None:
      def run(part: Any) -> None:
        y[i, part] = _reduced(op, member, lambda other: inputs(other)[i, member.rank, part])

      _pieces(y.shape[-1], y.dtype, run)


def exchange(member: Member, xs: Refs, ys: Refs) -> None:
  """Each member copies its part from all."""
  for x, y in zip(xs, ys, strict=True):
    inputs = member.refs(x)

    @pl.loop(0, x.shape[0])
    def _(i: Any, y: Any = y, inputs: Any = inputs) -> None:
      def run(part: Any) -> None:
        for other in range(member.table.width):
          y[i, other, part] = inputs(other)[i, member.rank, part]

      _pieces(y.shape[-1], y.dtype, run)


def exchange_operands(member: Member, xs: Refs, ys: Refs) -> None:
  """Each member copies from all the operand that is for it."""
  for rank, x in enumerate(xs):

    @pl.when(member.rank == rank)
    def _(x: Any = x) -> None:
      for source, y in enumerate(ys):
        _copy(remote.remote_ref(x, member.number(source), LOGICAL), y)


def permute(table_ref: Any, xs: Refs, ys: Refs) -> None:
  """Each device copies from its source, which its row of the table names; without one (-1) its results are zeros."""
  source = table_ref[semaphores.own_device_id(semaphores.device_axes()), 0]
  for x, y in zip(xs, ys, strict=True):

    @pl.when(source >= 0)
    def _(x: Any = x, y: Any = y) -> None:
      _copy(remote.remote_ref(x, source, LOGICAL), y)

    @pl.when(source < 0)
    def _(y: Any = y) -> None:
      def clear(part: Any) -> None:
        y[part] = jnp.zeros(part.size, y.dtype)

      _pieces(y.shape[0], y.dtype, clear)


def _copy(source: Any, target: Any) -> None:
  def run(part: Any) -> None:
    target[part] = source[part]

  _pieces(target.shape[0], target.dtype, run)
