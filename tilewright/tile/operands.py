"""Checks on the operands and attributes of each op, beyond those of type inference.

A table keyed by op: each row raises TileError with the problem. A row checks only what inference
does not: that an index is an integer, an axis exists, the operand of a sine is a float.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.tile.ir import Op
from tilewright.tile.literal import is_float, is_integer
from tilewright.tile.ops import REDUCTIONS, UNARY, expect, ref_of, tile_of
from tilewright.tile.types import BOOL, INDEX, RefType, SemaphoreArrayType

OPERAND_CHECKS: dict[str, Callable[[Op], None]] = {}

_NOT_FLOAT_ONLY = ("neg", "abs", "sign", "not", "popcount", "clz")
_FLOATS = (*(name for name in UNARY if name not in _NOT_FLOAT_ONLY), "atan2", "nextafter", "is_finite")
_INTEGERS = ("mulhi", "popcount", "clz", "shl", "shr_logical", "shr_arithmetic")
_BITS = ("not", "and", "or", "xor")


def _of_kind(what: str, accepts: Callable[[np.dtype], bool]) -> Callable[[Op], None]:
  def check(op: Op) -> None:
    dtype = tile_of(op, 0).dtype
    expect(accepts(dtype), f"takes {what}, got {dtype}")

  return check


def _is_inexact(dtype: np.dtype) -> bool:
  return is_float(dtype) or dtype.kind == "c"


def _is_bits(dtype: np.dtype) -> bool:
  return is_integer(dtype) or dtype == np.bool_


OPERAND_CHECKS.update({name: _of_kind("floats", _is_inexact) for name in _FLOATS})
OPERAND_CHECKS["conj"] = _of_kind("complex numbers", lambda dtype: dtype.kind == "c")
OPERAND_CHECKS.update({name: _of_kind("integers", is_integer) for name in _INTEGERS})
OPERAND_CHECKS.update({name: _of_kind("integers or bools", _is_bits) for name in _BITS})


def _check(*names: str) -> Callable[[Callable[[Op], None]], Callable[[Op], None]]:
  def add(f: Callable[[Op], None]) -> Callable[[Op], None]:
    OPERAND_CHECKS.update(dict.fromkeys(names, f))
    return f

  return add


def _count(op: Op, count: int) -> None:
  expect(len(op.operands) == count, f"takes {count} operands, got {len(op.operands)}")


def _indices(op: Op, first: int) -> None:
  """Operands from `first` on are integer scalars."""
  for i in range(first, len(op.operands)):
    index = tile_of(op, i)
    expect(index.is_scalar and is_integer(index.dtype), f"operand {i} must be an integer scalar, got {index}")


def _axes(axes: Sequence[int], rank: int, what: str = "axes") -> None:
  expect(len(set(axes)) == len(axes), f"{what} {list(axes)} repeat")
  for axis in axes:
    expect(0 <= axis < rank, f"axis {axis} of {what} {list(axes)} is outside of a rank of {rank}")


def _one_each(op: Op, rank: int, *keys: str) -> None:
  for key in keys:
    expect(len(op.attrs[key]) == rank, f"{key} must have one entry for each of {rank} dimensions")


# --- values ------------------------------------------------------------------------------------------------------


@_check("constant")
def _constant(op: Op) -> None:
  _count(op, 0)


@_check("iota")
def _iota(op: Op) -> None:
  _count(op, 0)
  _axes((op.attrs["axis"],), len(op.attrs["shape"]), "axis")


@_check("convert", "bitcast", "recast")
def _convert(op: Op) -> None:
  _count(op, 1)


@_check("broadcast")
def _broadcast(op: Op) -> None:
  _count(op, 1)
  _axes(op.attrs["dims"], len(op.attrs["shape"]), "dims")


@_check("reshape")
def _reshape(op: Op) -> None:
  _count(op, 1)
  expect(all(d >= 0 for d in op.attrs["shape"]), "a shape must not be negative")


@_check("transpose")
def _transpose(op: Op) -> None:
  _count(op, 1)


@_check("slice")
def _slice(op: Op) -> None:
  _count(op, 1)
  _one_each(op, tile_of(op, 0).rank, "starts", "stops", "strides")
  expect(all(s > 0 for s in op.attrs["strides"]), "strides must be positive")


@_check("pad")
def _pad(op: Op) -> None:
  _count(op, 2)
  _one_each(op, tile_of(op, 0).rank, "low", "high", "interior")
  expect(all(i >= 0 for i in op.attrs["interior"]), "interior padding must not be negative")


@_check("concatenate")
def _concatenate(op: Op) -> None:
  expect(bool(op.operands), "takes one operand or more")
  _axes((op.attrs["axis"],), tile_of(op, 0).rank, "axis")


@_check("reverse")
def _reverse(op: Op) -> None:
  _count(op, 1)
  _axes(op.attrs["axes"], tile_of(op, 0).rank)


@_check("layout_cast")
def _layout_cast(op: Op) -> None:
  _count(op, 1)
  expect(isinstance(op.attrs["layout"], str), "layout must be the text of a layout")


@_check("dynamic_slice")
def _dynamic_slice(op: Op) -> None:
  _one_each(op, tile_of(op, 0).rank, "sizes")
  _indices(op, 1)


@_check("dynamic_update_slice")
def _dynamic_update_slice(op: Op) -> None:
  source, update = tile_of(op, 0), tile_of(op, 1)
  expect(all(u <= d for u, d in zip(update.shape, source.shape)), f"{update} does not fit into {source}")
  _indices(op, 2)


@_check("reduce")
def _reduce(op: Op) -> None:
  _count(op, 1)
  _axes(op.attrs["axes"], tile_of(op, 0).rank)
  if op.attrs["kind"] in ("and", "or", "xor"):
    expect(_is_bits(tile_of(op, 0).dtype), f"{op.attrs['kind']} takes integers or bools, got {tile_of(op, 0)}")


@_check("arg_reduce")
def _arg_reduce(op: Op) -> None:
  _count(op, 1)
  _axes((op.attrs["axis"],), tile_of(op, 0).rank, "axis")
  expect(is_integer(np.dtype(op.attrs["dtype"])), "positions must be integers")


@_check("cumulative")
def _cumulative(op: Op) -> None:
  _count(op, 1)
  _axes((op.attrs["axis"],), tile_of(op, 0).rank, "axis")
  kind = op.attrs["kind"]
  expect(kind in REDUCTIONS or kind == "logsumexp", f"unknown kind {kind!r}")
  expect(isinstance(op.attrs["reverse"], bool | np.bool_), "reverse must be a bool")


@_check("dot")
def _dot(op: Op) -> None:
  _count(op, 2)
  for side, name in enumerate(("lhs", "rhs")):
    axes: tuple[Any, ...] = (*op.attrs["contract"][side], *op.attrs["batch"][side])
    _axes(axes, tile_of(op, side).rank, f"{name} dimensions")
  for key in ("contract", "batch"):
    expect(len(op.attrs[key][0]) == len(op.attrs[key][1]), f"{key} has more dimensions on one side")


# --- memory ------------------------------------------------------------------------------------------------------


@_check("subview", "window_load")
def _subview(op: Op) -> None:
  _one_each(op, ref_of(op).rank, "sizes", "steps")
  _axes(op.attrs["dropped"], ref_of(op).rank, "dropped")
  _indices(op, 1)


@_check("window_store")
def _window_store(op: Op) -> None:
  _one_each(op, ref_of(op).rank, "sizes", "steps")
  _axes(op.attrs["dropped"], ref_of(op).rank, "dropped")
  _indices(op, 2)


@_check("reshape_ref", "bitcast_ref", "load")
def _one_ref(op: Op) -> None:
  _count(op, 1)


@_check("transpose_ref")
def _transpose_ref(op: Op) -> None:
  rank = ref_of(op).rank
  expect(sorted(op.attrs["permutation"]) == list(range(rank)), f"not a permutation of {rank} dimensions")


@_check("store")
def _store(op: Op) -> None:
  _count(op, 2)


@_check("copy")
def _copy(op: Op) -> None:
  source, target = ref_of(op, 0), ref_of(op, 1)
  expect(source.tile == target.tile, f"cannot copy {source} to {target}")


@_check("alloc")
def _alloc(op: Op) -> None:
  _count(op, 0)
  expect(isinstance(op.attrs["space"], str), "the memory space must be a name")


# --- position, control, the world --------------------------------------------------------------------------------


@_check("program_id", "num_programs")
def _position(op: Op) -> None:
  _count(op, 0)
  axis = op.attrs["axis"]
  expect(isinstance(axis, int | np.integer) and bool(axis >= 0), "axis must be an int from 0 on")


@_check("for")
def _for(op: Op) -> None:
  lower, upper = tile_of(op, 0), tile_of(op, 1)
  expect(lower == upper, f"the bounds differ: {lower} and {upper}")
  expect(lower.is_scalar and is_integer(lower.dtype), f"the bounds must be integer scalars, got {lower}")


@_check("switch")
def _switch(op: Op) -> None:
  _count(op, 1)
  _indices(op, 0)


@_check("signal", "wait")
def _count_semaphore(op: Op) -> None:
  _semaphore(op, 2)
  amount = tile_of(op, 1)
  expect(amount.is_scalar and is_integer(amount.dtype), "the count must be an integer scalar")
  if op.name == "wait":
    expect(isinstance(op.attrs["decrement"], bool), "decrement must be a bool")
    expect(isinstance(op.attrs["message"], str), "the message must be a str")


@_check("remote", "cluster_ref")
def _remote(op: Op) -> None:
  _count(op, 2)
  ty = op.operands[0].type
  expect(isinstance(ty, RefType | SemaphoreArrayType), f"operand 0 must be a ref or a semaphore, got {ty}")
  _indices(op, 1)
  expect(isinstance(op.attrs["where"], str), "where must be a str")


@_check("lock_device", "unlock_device")
def _device(op: Op) -> None:
  _count(op, 1)
  _indices(op, 0)
  expect(isinstance(op.attrs["where"], str), "where must be a str")


@_check("arrive", "await")
def _barrier(op: Op) -> None:
  _semaphore(op, 1)
  if op.name == "arrive":
    expect(isinstance(op.attrs["of_copy"], bool), "of_copy must be a bool")
    expect(all(isinstance(d, int) for d in op.attrs.get("along", ())), "along must be dimensions of the grid")
  else:
    expect(isinstance(op.attrs["message"], str), "the message must be a str")


@_check("commit_copies", "await_copies", "await_products", "set_registers")
def _of_a_warpgroup(op: Op) -> None:
  _count(op, 0)
  for name, kind in _SAID[op.name].items():
    expect(isinstance(op.attrs[name], kind), f"{name} must be of type {kind.__name__}")


_SAID: dict[str, dict[str, type]] = {
  "commit_copies": {"group": bool},
  "await_copies": {"pending": int, "read_only": bool},
  "await_products": {"pending": int},
  "set_registers": {"count": int, "increase": bool},
}


@_check("read_semaphore")
def _read_semaphore(op: Op) -> None:
  _semaphore(op, 1)


def _semaphore(op: Op, first: int) -> None:
  """Operand 0 is an array of semaphores; from `first` on, there is an index for each of its dimensions."""
  ty = op.operands[0].type
  expect(isinstance(ty, SemaphoreArrayType), f"operand 0 must be a semaphore, got {ty}")
  assert isinstance(ty, SemaphoreArrayType)
  _count(op, first + len(ty.shape))
  _indices(op, first)


@_check("check")
def _check_op(op: Op) -> None:
  numbered = "shape" in op.attrs
  _count(op, 1 + numbered)
  expect(tile_of(op, 0) == BOOL, f"the condition must be a bool, got {tile_of(op, 0)}")
  if numbered:
    expect(tile_of(op, 1) == INDEX, f"the number of an element must be {INDEX}, got {tile_of(op, 1)}")
  expect(isinstance(op.attrs["message"], str), "the message must be a str")


@_check("print")
def _print(op: Op) -> None:
  expect(isinstance(op.attrs["fmt"], str), "the format must be a str")
  for i in range(len(op.operands)):
    tile_of(op, i)


@_check("print_layout")
def _print_layout(op: Op) -> None:
  _count(op, 1)
  tile_of(op, 0)
  expect(isinstance(op.attrs["fmt"], str), "the format must be a str")


@_check("delay")
def _delay(op: Op) -> None:
  _count(op, 1)
  _indices(op, 0)
