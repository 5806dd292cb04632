"""Rules of gather, scatter and select-and-scatter: the dimension numbers, and the sizes that follow from them.

The dimensions of a gather's operand are of three kinds, each named once: collapsed (of size 1 in a slice, absent from the result), batching
(paired with dimensions of the indices), and the others, which `offset_dims` places in the result in order. The dimension
`index_vector_dim` of the indices holds an index for each entry of `start_index_map`. A scatter has the same under other names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.hlo.infer import windowed
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape
from tilewright.hlo.verify_operands import Rule, takes

Problems = Iterator[str]
_INTEGERS = ("signed", "unsigned")


@dataclass(frozen=True)
class _Names:
  """What gather and scatter call the same things."""

  gone: str  # dimensions of the operand that a slice does not have
  batching: str
  mapped: str  # dimensions of the operand that indices are for
  index_batching: str


_GATHER = _Names("collapsed_slice_dims", "operand_batching_dims", "start_index_map", "start_indices_batching_dims")
_SCATTER = _Names(
  "inserted_window_dims",
  "input_batching_dims",
  "scatter_dims_to_operand_dims",
  "scatter_indices_batching_dims",
)


def _distinct(name: str, dims: Sequence[int], rank: int, ascending: bool) -> Problems:
  if any(not 0 <= d < rank for d in dims):
    yield f"{name}={tuple(dims)} names a dimension outside of 0 to {rank - 1}"
  if len(set(dims)) != len(dims):
    yield f"{name}={tuple(dims)} names a dimension twice"
  elif ascending and sorted(dims) != list(dims):
    yield f"{name}={tuple(dims)} is not ascending"


def _indexed(instruction: Instruction, names: _Names, x: Shape, indices: Shape) -> Problems:
  """What gather and scatter have in common."""
  get = lambda name: tuple(instruction.attrs.get(name, ()))
  gone, batching, mapped = get(names.gone), get(names.batching), get(names.mapped)
  index_batching, vector = get(names.index_batching), instruction.attrs.get("index_vector_dim", 0)
  if indices.kind not in _INTEGERS:
    yield f"indices are integers, not {indices}"
  if not 0 <= vector <= indices.rank:
    yield f"index_vector_dim={vector} of {indices}"
    return
  count = indices.dimensions[vector] if vector < indices.rank else 1
  if len(mapped) != count:
    yield f"{names.mapped}={mapped} has {len(mapped)} entries, but {indices} holds vectors of {count}"
  yield from _distinct(names.mapped, mapped, x.rank, ascending=False)
  yield from _distinct(names.gone, gone, x.rank, ascending=True)
  yield from _distinct(names.batching, batching, x.rank, ascending=True)
  yield from _distinct(names.index_batching, index_batching, indices.rank, ascending=False)
  if set(batching) & {*gone, *mapped}:
    yield f"{names.batching}={batching} overlaps {names.gone}={gone} or {names.mapped}={mapped}"
  if vector in index_batching:
    yield f"{names.index_batching}={index_batching} names index_vector_dim"
  elif len(batching) != len(index_batching):
    yield f"{names.batching}={batching} and {names.index_batching}={index_batching} do not pair up"
  elif all(d < x.rank for d in batching) and all(d < indices.rank for d in index_batching):
    for a, b in zip(batching, index_batching):
      if x.dimensions[a] != indices.dimensions[b]:
        yield f"batching dimension {a} of {x} does not fit dimension {b} of {indices}"


def _gather(instruction: Instruction) -> Problems:
  x, indices = (o.shape for o in instruction.operands)
  if not x.is_array or not indices.is_array:
    yield f"gather works on arrays, not on {x} and {indices}"
    return
  yield from _indexed(instruction, _GATHER, x, indices)
  attrs = instruction.attrs
  sizes, offsets = attrs.get("slice_sizes", ()), attrs.get("offset_dims", ())
  one = (*attrs.get("collapsed_slice_dims", ()), *attrs.get("operand_batching_dims", ()))
  if len(set(offsets)) == len(offsets) and sorted(offsets) != list(offsets):
    yield f"offset_dims={offsets} is not ascending"
  yield from _distinct("offset_dims", offsets, instruction.shape.rank, ascending=False)
  if len(sizes) != x.rank or len(offsets) + len(one) != x.rank:
    yield f"slice_sizes={sizes}, offset_dims={offsets} and {len(one)} dimensions that go do not make the {x.rank} of {x}"
    return
  for d, (size, bound) in enumerate(zip(sizes, x.dimensions)):
    if not 0 <= size <= bound:
      yield f"a slice of size {size} along dimension {d} of {x}"
    if d in one and size > 1:
      yield f"dimension {d} of a slice has size {size}, so it cannot go"


def _scatter(instruction: Instruction) -> Problems:
  count = len(instruction.operands) // 2
  shapes = [o.shape for o in instruction.operands]
  inputs, indices, updates = shapes[:count], shapes[count], shapes[count + 1 :]
  if not all(s.is_array for s in shapes):
    yield f"scatter works on arrays, not on {', '.join(map(str, shapes))}"
    return
  for what, several in (("arrays", inputs), ("updates", updates)):
    if len({s.dimensions for s in several}) > 1:
      yield f"{what} of different dimensions: {', '.join(map(str, several))}"
      return
  x, update = inputs[0], updates[0]
  yield from _indexed(instruction, _SCATTER, x, indices)
  attrs = instruction.attrs
  window, vector = attrs.get("update_window_dims", ()), attrs.get("index_vector_dim", 0)
  gone = (*attrs.get("inserted_window_dims", ()), *attrs.get("input_batching_dims", ()))
  yield from _distinct("update_window_dims", window, update.rank, ascending=True)
  if len(window) + len(gone) != x.rank:
    yield f"update_window_dims={window} and {len(gone)} inserted or batching dimensions do not make the {x.rank} of {x}"
    return
  along = [size for d, size in enumerate(indices.dimensions) if d != vector]
  if update.rank != len(window) + len(along):
    yield f"updates of {indices} have rank {len(window) + len(along)}, not {update.rank}"
  elif [size for d, size in enumerate(update.dimensions) if d not in window] != along:
    yield f"the updates {update} do not have the dimensions of the indices {indices}"
  elif all(0 <= d < update.rank for d in window):
    kept = [bound for d, bound in enumerate(x.dimensions) if d not in gone]
    for d, bound in zip(window, kept):
      if update.dimensions[d] > bound:
        yield f"the window of {update} does not fit into {x}: {update.dimensions[d]} elements along dimension {d}, of {bound}"
  yield from takes(instruction, "to_apply", [*inputs, *updates])


def _select_and_scatter(instruction: Instruction) -> Problems:
  x, source, start = (o.shape for o in instruction.operands)
  select, window = instruction.attrs.get("select"), instruction.attrs.get("window", ())
  if select is None or "scatter" not in instruction.attrs:
    yield "select-and-scatter needs the attributes select and scatter"
    return
  if select.root.shape.element_type != "pred" or select.root.shape.rank:
    yield f"select %{select.name} returns {select.root.shape}, not pred[]"
  if len(select.parameters) != 2:
    yield f"select %{select.name} takes {len(select.parameters)} parameter(s), not 2"
  yield from takes(instruction, "select", [x, x])
  yield from takes(instruction, "scatter", [source, source])
  if start.rank:
    yield f"it starts from a scalar, not from {start}"
  if len(window) != x.rank:
    yield f"a window of {len(window)} dimensions over {x}"
  elif (wanted := tuple(windowed(x.dimensions, window))) != source.dimensions:
    yield f"the window has {list(wanted)} places in {x}, and the source is {source}"


INDEXING_RULES: dict[str, tuple[Rule, ...]] = {
  "gather": (_gather,),
  "scatter": (_scatter,),
  "select-and-scatter": (_select_and_scatter,),
}
