"""Whether instances along a grid dimension that is declared parallel visit the same block of an output.

On a TPU every core has its own copy of a block, so a block that all indices of a parallel dimension share serves as per-core memory:

    dimension_semantics=("parallel", "arbitrary"), out_specs=[…, BlockSpec((8, 128), lambda i, j: (0, 0))]

Here blocks are views of the array itself, so this would be a data race between threads. The index map is evaluated at all points of the
grid at once (for a dynamic grid, or one of more than 2^18 points, at those of one corner): points of one block must agree in their
index along the dimension. An entry that is read from prefetched scalars is unknown before the kernel runs; where it depends on the
dimension, the user's declaration is trusted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.tile.grid import BlockDim, Blocked, Element, Squeezed
from tilewright.tile.ir import Function, Op, Value

_POINTS = 1 << 18  # at most this many points are evaluated: less than a tenth of a second
_DYNAMIC = 1 << 10  # as many indices of a dimension whose size is not known


def _div(a: Any, b: Any) -> Any:
  quotient = np.abs(a) // np.maximum(np.abs(b), 1)
  return np.where((a < 0) != (b < 0), -quotient, quotient)


_COMPUTED: dict[str, Callable[..., Any]] = {
  **{
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": np.abs,
    "sign": np.sign,
  },
  **{"div": _div, "rem": lambda a, b: a - b * _div(a, b), "min": np.minimum, "max": np.maximum},
  **{"and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": np.invert},
  **{"shl": operator.lshift, "shr_arithmetic": operator.rshift},
  **{"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge},
  "select": np.where,
}


def tells_blocks_apart(
  block_shape: Sequence[BlockDim],
  entries: Sequence[tuple[Value, ...]],
  index_map: Function,
  grid: Sequence[int | None],
  dim: int,
) -> bool:
  """Whether instances that differ in their index along a dimension never see the same block, as far as that can be known."""
  points = _corner(grid)
  known: dict[Value, Any] = dict(zip(index_map.params, points))
  keys: list[Any] = []
  for kind, entry in zip(block_shape, entries):
    at = _evaluated(entry[0], known)
    if at is None or not isinstance(kind, Blocked | Squeezed | Element):
      if any(_depends(v, index_map.params[dim]) for v in entry):
        return True
    elif isinstance(kind, Element):  # blocks at any element may overlap
      keys.append(at // kind.block_size if not (at % kind.block_size).any() else np.zeros_like(at))
    else:
      keys.append(at)
  if not keys:
    return False
  blocks = _numbered([np.broadcast_to(k, points[dim].shape) for k in keys])
  low, high = np.full(blocks.max() + 1, np.iinfo(np.int64).max), np.full(blocks.max() + 1, -1)
  np.minimum.at(low, blocks, points[dim])
  np.maximum.at(high, blocks, points[dim])
  return bool((low == high).all())


def _numbered(keys: Sequence[Any]) -> Any:
  """A number for each point, the same for points that agree in all keys."""
  number = np.zeros(len(keys[0]), np.int64)
  for key in keys:
    values, own = np.unique(key, return_inverse=True)
    _, number = np.unique(number * len(values) + own.reshape(-1), return_inverse=True)
  return number.reshape(-1)


def _corner(grid: Sequence[int | None]) -> list[Any]:
  """The indices of the points of a grid along each dimension, or of those at its corner."""
  sizes = [_DYNAMIC if size is None else max(size, 1) for size in grid]
  while np.prod(sizes, dtype=float) > _POINTS:
    largest = int(np.argmax(sizes))
    sizes[largest] = (sizes[largest] + 1) // 2
  return [axis.ravel() for axis in np.indices(sizes)]


def _evaluated(v: Value, known: dict[Value, Any]) -> Any:
  """A scalar at all points; None if it is not known."""
  if v not in known:
    known[v] = _computed(v.owner, known) if isinstance(v.owner, Op) else None
  return known[v]


def _computed(op: Op, known: dict[Value, Any]) -> Any:
  if op.name == "constant":
    return np.asarray(op.attrs["value"]).astype(np.int64) if np.ndim(op.attrs["value"]) == 0 else None
  operands = [_evaluated(v, known) for v in op.operands]
  if any(x is None for x in operands):
    return None
  dtype = op.result.tile.dtype
  if (op.name != "convert" and op.name not in _COMPUTED) or dtype.kind not in "biu":
    return None
  found = operands[0] if op.name == "convert" else _COMPUTED[op.name](*operands)
  return np.asarray(found).astype(dtype).astype(np.int64)  # it wraps around where the kernel's number does


def _depends(v: Value, index: Value) -> bool:
  return v is index or (isinstance(v.owner, Op) and any(_depends(x, index) for x in v.owner.operands))
