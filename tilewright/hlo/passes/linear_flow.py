"""Linearity analysis: an abstract interpretation that finds which accumulators of a loop are linear in its collectives.

Every value of the body gets one of these abstract values:

    Free       does not depend on a collective under study. `uniform`: the same on every device; `table`: an integer whose
               value in every trip is known
    Linear     a linear function, the same on every device, of the results of some collectives (`sources`), no constant term
    Carry      the value of slot k at the start of the trip, plus something Linear (`sums`), or with Linear values written into
               it at known places (`writes`)
    Window     a slice of a Carry, plus something Linear, which is to be written back where it was read
    Parts      a tuple of abstract values

One transfer function per opcode combines them. Where none applies, the collectives and slots involved are *spoiled*: they
are no longer under study, and the body is interpreted again without them. Fusions and calls are interpreted inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.collective_keys import participants_key, reducer
from tilewright.hlo.passes.while_loops import Counter, Loop, is_zero
from tilewright.hlo.shape import Shape

MAX_TABLE = 1 << 16  # trips up to which the values of counters are tabulated

Source = tuple[Instruction, int]  # a collective, and which of its results
Box = tuple[tuple[int, int], ...]  # [start, limit) in every dimension


@dataclass(frozen=True, eq=False)
class Free:
  uniform: bool = False
  table: np.ndarray | None = None  # of shape () if it is the same in every trip, else (trips,)


@dataclass(frozen=True)
class Linear:
  sources: frozenset[Source]
  # Whether this is one result itself. A reduce-scatter may only be added as it is, or after conversions and transpositions
  # (`steps`), because its operand is larger than what the loop would have to apply the function to.
  direct: bool = False
  steps: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Carry:
  slot: int
  sums: frozenset[Source] = frozenset()
  writes: tuple[tuple[Box, frozenset[Source]], ...] = ()
  steps: tuple[Instruction, ...] = ()  # between a reduce-scatter and its sum

  @property
  def sources(self) -> frozenset[Source]:
    return self.sums.union(*(sources for _, sources in self.writes))


@dataclass(frozen=True, eq=False)
class Window:
  carry: Carry
  starts: tuple[Meaning, ...]
  names: tuple[Instruction, ...]  # the instructions of the starts
  size: tuple[int, ...]
  sums: frozenset[Source] = frozenset()

  @property
  def slot(self) -> int:
    return self.carry.slot

  @property
  def sources(self) -> frozenset[Source]:
    return self.sums | self.carry.sources


@dataclass(frozen=True, eq=False)
class Parts:
  elements: tuple[Meaning, ...]


Meaning = Free | Linear | Carry | Window | Parts
Rule = Callable[["Flow", Instruction, Sequence[Meaning]], Meaning | None]
RULES: dict[str, Rule] = {}


def rule(*opcodes: str) -> Callable[[Rule], Rule]:
  def register(function: Rule) -> Rule:
    RULES.update(dict.fromkeys(opcodes, function))
    return function

  return register


class Flow:
  """One interpretation of a loop's body. `sources` and `slots` are under study; `spoiled_*` grow while it runs."""

  def __init__(
    self,
    loop: Loop,
    counter: Counter | None,
    sources: set[Source],
    slots: set[int],
    uniform_slots: set[int],
    narrowing: bool = False,
  ) -> None:
    self.loop, self.counter, self.narrowing = loop, counter, narrowing
    self.sources, self.slots, self.uniform_slots = sources, slots, uniform_slots
    self.collectives = {collective for collective, _ in sources}
    self.groups = {participants_key(collective) for collective in self.collectives}
    self.spoiled_sources: set[Source] = set()
    self.spoiled_slots: set[int] = set()

  def run(self) -> tuple[Meaning, ...]:
    """The meaning of what the body returns, slot by slot."""
    start = Parts(tuple(self._at_start(slot) for slot in range(self.loop.slots)))
    results = self.call(self.loop.body, [start], inside=False)
    assert isinstance(results, Parts)
    return results.elements

  def _at_start(self, slot: int) -> Meaning:
    if slot in self.slots:
      return Carry(slot)
    counter = self.counter
    if counter is not None and slot == counter.slot and 0 < counter.trips <= MAX_TABLE:
      return Free(True, counter.values())
    return Free(slot in self.uniform_slots)

  def call(self, computation: Computation, arguments: Sequence[Meaning], inside: bool = True) -> Meaning:
    meanings: dict[Instruction, Meaning] = {}
    for instruction in topological_order(computation):
      if instruction.opcode == "parameter":
        meanings[instruction] = arguments[instruction.parameter_number]
        continue
      operands = [meanings[operand] for operand in instruction.operands]
      if instruction in self.collectives and not inside:
        meanings[instruction] = self._collective(instruction, operands)
        continue
      found = RULES.get(instruction.opcode, plain)(self, instruction, operands)
      if found is None:
        self.invalidate(operands)
        found = Free()
      meanings[instruction] = found
    return meanings[computation.root]

  def _collective(self, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning:
    self.invalidate(operands)
    results = tuple(
      Linear(frozenset({(instruction, i)}), direct=True)
      if (instruction, i) in self.sources
      else Free(instruction.opcode == "all-reduce" and self.groups == {participants_key(instruction)})
      for i in range(len(operands))
    )
    return Parts(results) if instruction.shape.is_tuple else results[0]

  def invalidate(self, meanings: Sequence[Meaning]) -> None:
    for meaning in meanings:
      if isinstance(meaning, Parts):
        self.invalidate(meaning.elements)
      elif isinstance(meaning, (Linear, Carry, Window)):
        self.spoiled_sources |= meaning.sources
        if isinstance(meaning, (Carry, Window)):
          self.spoiled_slots.add(meaning.slot)


def may_scale(meaning: Linear) -> bool:
  """Anything linear may be done to an all-reduce that adds; a reduce-scatter is only added as it is."""
  return may_move(meaning) and adds(meaning)


def may_move(meaning: Linear) -> bool:
  """The elements of an all-reduce may be moved about, whatever it reduces by."""
  return all(collective.opcode == "all-reduce" for collective, _ in meaning.sources)


def adds(meaning: Linear) -> bool:
  return all(reducer(collective) == "add" for collective, _ in meaning.sources)


def is_free(meaning: Meaning) -> bool:
  if isinstance(meaning, Parts):
    return all(is_free(part) for part in meaning.elements)
  return isinstance(meaning, Free)


def is_uniform(meaning: Meaning) -> bool:
  if isinstance(meaning, Parts):
    return all(is_uniform(part) for part in meaning.elements)
  return isinstance(meaning, Free) and meaning.uniform


# What only depends on its operands, so that equal operands give equal results on every device.
_SHAPING = frozenset({"bitcast", "broadcast", "concatenate", "constant", "iota", "pad", "reshape", "reverse", "slice"})
_DETERMINISTIC = (
  ELEMENTWISE | _SHAPING | {"dot", "dynamic-slice", "dynamic-update-slice", "gather", "reduce", "transpose"}
)


def plain(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  """An instruction on values that do not depend on a collective under study."""
  if not all(is_free(m) for m in operands):
    return None
  if instruction.opcode == "all-reduce" and flow.groups == {participants_key(instruction)}:
    # All devices that meet in the collectives under study hold the same.
    same = Free(True)
    return Parts((same,) * len(operands)) if instruction.shape.is_tuple else same
  uniform = instruction.opcode in _DETERMINISTIC and all(is_uniform(m) for m in operands)
  table = _tabulate(instruction, operands) if uniform else None
  result: Meaning = Free(uniform, table)
  return Parts(_unknown(instruction.shape).elements) if instruction.shape.is_tuple else result


def _unknown(shape: Shape) -> Parts:
  return Parts(tuple(_unknown(s) if s.is_tuple else Free() for s in shape.tuple_shapes))


_INTEGER: dict[str, Callable[..., np.ndarray]] = {
  "add": np.add,
  "subtract": np.subtract,
  "multiply": np.multiply,
  "maximum": np.maximum,
  "minimum": np.minimum,
  "negate": np.negative,
  "copy": np.asarray,
  "reshape": np.asarray,
  "bitcast": np.asarray,
  "convert": lambda x: x.astype(np.int64),
  "select": np.where,
  "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}
_COMPARE = {
  "EQ": np.equal,
  "NE": np.not_equal,
  "LT": np.less,
  "LE": np.less_equal,
  "GT": np.greater,
  "GE": np.greater_equal,
}


def _tabulate(instruction: Instruction, operands: Sequence[Meaning]) -> np.ndarray | None:
  """The integer (or truth value) in every trip, as exact int64; None where it does not fit its type or is not known."""
  shape = instruction.shape
  if shape.num_elements != 1 or shape.kind not in ("signed", "unsigned", "pred"):
    return None
  if instruction.opcode == "constant":
    value = instruction.literal.value
    return None if value is None else value.reshape(()).astype(np.int64)
  tables = [m.table if isinstance(m, Free) else None for m in operands]
  known = [table for table in tables if table is not None]
  if not known or len(known) != len(tables):
    return None
  if instruction.opcode == "compare":
    return np.asarray(_COMPARE[instruction.attrs["direction"]](*known))
  function = _INTEGER.get(instruction.opcode)
  if function is None or (shape.kind == "pred" and instruction.opcode not in ("copy", "reshape", "bitcast", "select")):
    return None
  with np.errstate(over="ignore"):
    result = np.asarray(function(*known))
  if shape.kind == "pred":
    return result
  bounds = np.iinfo(shape.dtype)
  return result if bounds.min <= int(result.min()) and int(result.max()) <= bounds.max else None


# Structure.


@rule("tuple")
def _tuple(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  return Parts(tuple(operands))


@rule("get-tuple-element")
def _element(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  (whole,) = operands
  return whole.elements[instruction.attrs["index"]] if isinstance(whole, Parts) else Free()


@rule("fusion", "call")
def _call(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  return flow.call(instruction.called_computations[0], operands)


@rule("opt-barrier")
def _same(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  return operands[0]


# Moving elements about.


@rule("copy", "bitcast", "reshape", "transpose", "reverse", "slice", "broadcast")
def _move(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  (x,) = operands
  before, after = instruction.operands[0].shape, instruction.shape
  same = before.same_logical(after) and (instruction.opcode != "bitcast" or before.layout == after.layout)
  untouched = same and instruction.opcode in ("copy", "bitcast", "reshape")
  if isinstance(x, Carry):
    return x if untouched else None
  if isinstance(x, Window):  # a reshape keeps the order of elements, and the update wants its shape back
    return x if instruction.opcode in ("copy", "reshape") else None
  if isinstance(x, Linear):
    if untouched:
      return x
    if may_move(x):
      return replace(x, direct=False) if before.element_type == after.element_type else None
    movable = instruction.opcode in ("transpose", "reshape") and (x.direct or x.steps)
    return _stepped(flow, x, instruction) if movable else None
  return plain(flow, instruction, operands)


def _stepped(flow: Flow, x: Linear, instruction: Instruction) -> Linear | None:
  """A reduce-scatter with one more step behind it, which is repeated after the loop."""
  if instruction.parent is not flow.loop.body or len(x.sources) != 1 or not adds(x):
    return None
  return Linear(x.sources, False, (*x.steps, instruction))


@rule("concatenate")
def _concatenate(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  parts = [m for m in operands if isinstance(m, Linear) and may_move(m)]
  if len(parts) != len(operands):
    return plain(flow, instruction, operands)
  return Linear(frozenset().union(*(m.sources for m in parts)))


@rule("dynamic-slice")
def _dynamic_slice(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  x, *starts = operands
  uniform = all(is_uniform(s) for s in starts)
  if isinstance(x, Carry):
    names = instruction.operands[1:]
    return Window(x, tuple(starts), names, instruction.shape.dimensions) if uniform and not x.writes else None
  if not isinstance(x, Linear):
    return plain(flow, instruction, operands)
  return replace(x, direct=False) if may_move(x) and uniform else None


@rule("dynamic-update-slice")
def _update(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  target, update, *starts = operands
  if isinstance(target, Carry) and isinstance(update, Window):
    back = update.carry == target and update.size == instruction.operands[1].shape.dimensions
    names = instruction.operands[2:]
    pairs = zip(update.starts, starts, update.names, names, strict=True)
    same = len(starts) == len(update.starts) and all(a is b or _same_table(x, y) for x, y, a, b in pairs)
    return replace(target, sums=target.sums | update.sums) if back and same else None
  if not isinstance(target, Carry) or not isinstance(update, Linear) or target.sums or not may_move(update):
    return plain(flow, instruction, operands)
  box = written_box(instruction, starts)
  return None if box is None else replace(target, writes=(*target.writes, (box, update.sources)))


def _same_table(x: Meaning, y: Meaning) -> bool:
  if not isinstance(x, Free) or not isinstance(y, Free) or x.table is None or y.table is None:
    return False
  return np.array_equal(x.table, y.table)


def written_box(instruction: Instruction, starts: Sequence[Meaning]) -> Box | None:
  """What all trips together write, if that is a box: one dimension at most may move, and it must leave no gaps."""
  whole, part = instruction.operands[0].shape.dimensions, instruction.operands[1].shape.dimensions
  box: list[tuple[int, int]] = []
  moving = 0
  for size, length, start in zip(whole, part, starts):
    if not isinstance(start, Free) or start.table is None or not length:
      return None
    places = np.unique(np.clip(start.table, 0, size - length))
    if len(places) > 1:
      moving += 1
      if np.any(np.diff(places) > length):
        return None
    box.append((int(places[0]), int(places[-1]) + length))
  return tuple(box) if moving <= 1 else None


# Arithmetic.


@rule("add")
def _add(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  x, y = operands
  if isinstance(y, (Carry, Window)):
    x, y = y, x
  if isinstance(x, Window) and isinstance(y, Linear):
    return replace(x, sums=x.sums | y.sources) if may_scale(y) else None
  if isinstance(x, Carry) and isinstance(y, Linear) and not x.writes:
    if not adds(y):
      return None
    if may_scale(y):
      return replace(x, sums=x.sums | y.sources) if not x.steps else None
    alike = not x.sums or [_signature(i) for i in x.steps] == [_signature(i) for i in y.steps]
    if x.sums & y.sources or not alike or not (y.direct or y.steps):
      return None
    return replace(x, sums=x.sums | y.sources, steps=y.steps)
  if isinstance(x, Linear) and isinstance(y, Linear) and may_scale(x) and may_scale(y):
    return Linear(x.sources | y.sources)
  return plain(flow, instruction, operands)


def _signature(step: Instruction) -> object:
  return step.opcode, step.shape, step.operands[0].shape, step.attrs.get("dimensions")


@rule("select")
def _select(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  """Where all devices choose alike, a choice between linear values is linear; so is one between a linear value and zero."""
  chosen, x, y = operands
  if not is_uniform(chosen):
    return plain(flow, instruction, operands)
  if isinstance(x, Linear) and isinstance(y, Linear):
    return Linear(x.sources | y.sources) if may_scale(x) and may_scale(y) else None
  for side, (mine, _) in enumerate(((x, y), (y, x))):
    if isinstance(mine, Linear) and is_zero(instruction.operands[2 - side]):
      return replace(mine, direct=False) if may_scale(mine) else None
  if isinstance(x, Carry) and isinstance(y, Carry) and x.slot == y.slot and not (x.writes or y.writes):
    return Carry(x.slot, x.sums | y.sums) if not (x.steps or y.steps) and _scalable(x) and _scalable(y) else None
  return plain(flow, instruction, operands)


def _scalable(carry: Carry) -> bool:
  return all(collective.opcode == "all-reduce" for collective, _ in carry.sums)


@rule("subtract")
def _subtract(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  x, y = operands
  if isinstance(x, (Carry, Linear)) and isinstance(y, Linear) and may_scale(y):
    return _add(flow, instruction, operands)
  return plain(flow, instruction, operands)


@rule("negate")
def _negate(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  (x,) = operands
  if not isinstance(x, Linear):
    return plain(flow, instruction, operands)
  return replace(x, direct=False) if may_scale(x) else None


@rule("multiply", "divide")
def _scale(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  x, factor = operands
  if instruction.opcode == "multiply" and isinstance(factor, Linear):
    x, factor = factor, x
  if not isinstance(x, Linear):
    return plain(flow, instruction, operands)
  if isinstance(factor, Linear):  # a product of two results: the smaller one stays in the loop, as a factor
    if _elements(factor) > _elements(x):
      x, factor = factor, x
    flow.invalidate([factor])
    return replace(x, direct=False)
  # Division of integers rounds: it is not linear.
  exact = instruction.opcode == "multiply" or instruction.shape.kind in ("float", "complex")
  return replace(x, direct=False) if exact and is_uniform(factor) and may_scale(x) else None


def _elements(meaning: Linear) -> int:
  return max(collective.operands[i].shape.num_elements for collective, i in meaning.sources)


@rule("convert")
def _convert(flow: Flow, instruction: Instruction, operands: Sequence[Meaning]) -> Meaning | None:
  (x,) = operands
  before, after = instruction.operands[0].shape, instruction.shape
  if isinstance(x, (Linear, Carry)) and before.element_type == after.element_type:
    return x
  if isinstance(x, Linear):
    linear = widens(before, after) or (flow.narrowing and before.kind == after.kind == "float")
    if not linear:
      return None
    ordered = all(reducer(collective) in ("minimum", "maximum") for collective, _ in x.sources)
    if may_scale(x) or (may_move(x) and ordered and widens(before, after)):
      return replace(x, direct=False)
    return _stepped(flow, x, instruction) if not may_move(x) and (x.direct or x.steps) else None
  return plain(flow, instruction, operands)


def widens(before: Shape, after: Shape) -> bool:
  """Whether every float of the first type is one of the second. Integers wrap around, so no integer type widens."""
  if before.kind != "float" or after.kind != "float":
    return False
  import ml_dtypes

  a, b = ml_dtypes.finfo(before.dtype), ml_dtypes.finfo(after.dtype)
  return bool(a.nmant <= b.nmant and a.maxexp <= b.maxexp and a.minexp >= b.minexp)
