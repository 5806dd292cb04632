"""The verifier of the tile IR: the invariants of a function, stage by stage.

    lowered   as it comes from a jaxpr: values defined before use and in scope, types as the op table infers them, blocks with
              the right parameters and yields, operands and attributes that make sense, effects only where they may be
    cleaned   the same, and nothing dead is left
    native    the same, and only what a native target takes: known ops, static bounds that hold

Each stage is a tuple of checks; each check looks at one op (or the function) and yields its problems. The error names
the op, the user's line and the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from tilewright import errors
from tilewright.tile import ops
from tilewright.tile.ir import Block, Function, Op, Value, walk
from tilewright.tile.operands import OPERAND_CHECKS
from tilewright.tile.ops import OPS, SYNC, WORLD, WRITE
from tilewright.tile.printer import op_text
from tilewright.tile.types import BOOL, RefType, SemaphoreArrayType, TileType, Type

# The number of an op's blocks and their parameters; what they yield is checked by the op's own row.
_BLOCKS: dict[str, tuple[int, int | None]] = {"for": (1, 1), "while": (2, 2)}
_CASES: tuple[int, int | None] = (1, None)  # of an op that runs one of its blocks

Problems = Iterator[str]
Check = Callable[["Scope", Op], Problems]


def verify(function: Function, stage: str, known: Collection[str] | None = None) -> None:
  """Raise TileError if a function is not what it must be at a stage. `known` are the ops that a target has code for."""
  if stage not in STAGES:
    raise errors.TileError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")
  Scope(function, STAGES[stage], known).run()


def _where(op: Op, function: Function) -> str:
  try:
    text = op_text(op)
  except (errors.TileError, AttributeError):
    text = op.name
  return f"{text} at {op.loc or '?'} in {function.name}"


class Scope:
  """A walk over a function that knows which values are in scope, and the blocks around the present op."""

  def __init__(self, function: Function, checks: tuple[Check, ...], known: Collection[str] | None):
    self.function = function
    self.checks = checks
    self.known = known
    self.visible: set[Value] = set()
    self.defined: set[Value] = set()
    self.seen: set[Op | Block] = set()
    self.around: list[tuple[Op, int]] = []  # the ops around, each with the number of the block we are in
    self.used = {v for op in walk(function.body) for v in op.operands}

  def run(self) -> None:
    for p in self.function.params:
      if not isinstance(p.type, TileType | RefType | SemaphoreArrayType):
        raise errors.TileError(f"a parameter of {self.function.name} has the type {p.type!r}, which is none")
    self.block(self.function.body, None)

  def fail(self, op: Op, problem: str) -> None:
    raise errors.TileError(f"{_where(op, self.function)}: {problem}")

  def block(self, block: Block, around: Op | None) -> None:
    if block in self.seen:
      raise errors.TileError(f"a block of {self.function.name} is in two places")
    self.seen.add(block)
    added: list[Value] = []
    for p in block.params:
      self.define(p, block, around, added)
    for position, op in enumerate(block.ops):
      self.op(op, last=position == len(block.ops) - 1)
      for result in op.results:
        self.define(result, op, op, added)
    if around is not None and (not block.ops or block.ops[-1].name != "yield"):
      self.fail(around, "a block inside does not end with yield")
    self.visible.difference_update(added)

  def define(self, value: Value, owner: Op | Block, at: Op | None, added: list[Value]) -> None:
    what = f"a value of {self.function.name}" if at is None else f"a value of {_where(at, self.function)}"
    if value in self.defined:
      raise errors.TileError(f"{what} is defined twice")
    if value.owner is not owner:
      raise errors.TileError(f"{what} names another owner than the op or block that defines it")
    self.defined.add(value)
    self.visible.add(value)
    added.append(value)

  def op(self, op: Op, last: bool) -> None:
    if op in self.seen:
      self.fail(op, "the op is in two blocks")
    self.seen.add(op)
    if op.name not in OPS:
      self.fail(op, f"there is no tile op {op.name!r}")
    if op.name == "yield" and not last:
      self.fail(op, "yield is not the last op of its block")
    for i, v in enumerate(op.operands):
      if v not in self.visible:
        later = "before it is defined or outside of its block" if self._exists(v) else "but no op defines it"
        self.fail(op, f"operand {i} is used {later}")
    for number, block in enumerate(op.blocks):
      self.around.append((op, number))
      self.block(block, op)
      self.around.pop()
    for check in self.checks:
      for problem in check(self, op):
        self.fail(op, problem)

  def _exists(self, value: Value) -> bool:
    if value in self.defined or value in self.function.params:
      return True
    every = list(walk(self.function.body))
    return any(value in op.results or any(value in b.params for b in op.blocks) for op in every)


# --- lowered -----------------------------------------------------------------------------------------------------


def _blocks(scope: Scope, op: Op) -> Problems:
  """The right number of blocks, with the right parameters."""
  min_blocks, max_blocks = _CASES if OPS[op.name].is_choice else _BLOCKS.get(op.name, (0, 0))
  if len(op.blocks) < min_blocks or (max_blocks is not None and len(op.blocks) > max_blocks):
    yield f"has {len(op.blocks)} blocks, must have {min_blocks}{'' if max_blocks == min_blocks else ' or more'}"
  for number, block in enumerate(op.blocks):
    expected = _parameters(op)
    found = [p.type for p in block.params]
    if found != expected:
      yield f"block {number} takes ({_types(found)}), must take ({_types(expected)})"


def _parameters(op: Op) -> list[Type]:
  """What the blocks of an op take."""
  types = [v.type for v in op.operands]
  match op.name:
    case "for":
      return [*types[:1], *types[2:]]
    case "while":
      return types
  return []


def _types(types: Collection[Type]) -> str:
  return ", ".join(map(str, types))


def _results(scope: Scope, op: Op) -> Problems:
  """The recorded types are those that the op's row infers."""
  try:
    inferred = list(OPS[op.name].infer(op))
  except errors.TileError as e:
    yield str(e)
    return
  except KeyError as e:
    yield f"the attribute {e.args[0]} is missing"
    return
  except (TypeError, ValueError, IndexError, AttributeError) as e:
    yield f"its operands, attributes or blocks are not what its row expects ({type(e).__name__}: {e})"
    return
  found = [v.type for v in op.results]
  if found != inferred:
    yield f"gives ({_types(found)}), but its operands make it ({_types(inferred)})"


def _operands(scope: Scope, op: Op) -> Problems:
  check = OPERAND_CHECKS.get(op.name)
  if check is not None:
    try:
      check(op)
    except errors.TileError as e:
      yield str(e)
    except KeyError as e:
      yield f"the attribute {e.args[0]} is missing"
    except (TypeError, ValueError, IndexError) as e:
      yield f"its operands or attributes are not what they must be ({type(e).__name__}: {e})"


def _refs_stay(scope: Scope, op: Op) -> Problems:
  """Memory lives as long as its block runs, so no ref may leave a block or go around a loop."""
  leaves = {"yield": op.operands, "for": op.operands[2:], "while": op.operands}.get(op.name, [])
  for i, v in enumerate(leaves):
    if not isinstance(v.type, TileType):
      yield f"value {i} is a {v.type}, which must not leave its block"


def _effects(scope: Scope, op: Op) -> Problems:
  """A loop's condition and an index map may read memory, not write it: a target may evaluate them more than once."""
  effects = OPS[op.name].effects
  if WRITE in effects and (loop := _condition_around(scope)) is not None:
    written = _base(op.operands[1 if op.name == "copy" else 0])
    if not _stands_in(written, loop.blocks[0]):
      yield "the condition of a while loop must not write to memory outside of it"
  if _is_index_map(scope.function) and effects & {SYNC, WORLD}:
    yield "an index map must not have effects"
  if _is_index_map(scope.function) and WRITE in effects and _base(op.operands[0]) in scope.function.params:
    yield "an index map must not write"


def _is_index_map(function: Function) -> bool:
  return bool(function.body.yielded)


def _condition_around(scope: Scope) -> Op | None:
  for op, number in scope.around:
    if op.name == "while" and number == 0:
      return op
  return None


def _base(ref: Value) -> Value:
  """The memory that a ref is part of."""
  while isinstance(ref.owner, Op) and ref.owner.operands and isinstance(ref.owner.operands[0].type, RefType):
    ref = ref.owner.operands[0]
  return ref


def _stands_in(value: Value, block: Block) -> bool:
  return value in block.params or any(value in op.results for op in walk(block))


# --- cleaned -----------------------------------------------------------------------------------------------------


def _not_dead(scope: Scope, op: Op) -> Problems:
  """Ops without side effects must have a use."""
  if OPS[op.name].effects <= {ops.READ, ops.ALLOC} and not any(v in scope.used for v in op.results):
    yield "nothing uses it"


# --- native ------------------------------------------------------------------------------------------------------


def _has_code(scope: Scope, op: Op) -> Problems:
  if scope.known is not None and op.name not in scope.known and op.name != "yield":
    yield "the target has no code for this op"


def _inside(scope: Scope, op: Op) -> Problems:
  """A view with static starts lies inside of its ref, as nothing checks it later."""
  if op.name != "subview":
    return
  ref = op.operands[0].type
  assert isinstance(ref, RefType)
  for axis, start in enumerate(op.operands[1:]):
    source = start.owner
    if not isinstance(source, Op) or source.name != "constant":
      continue
    first, size, step = int(np.asarray(source.attrs["value"])), op.attrs["sizes"][axis], op.attrs["steps"][axis]
    if size and not (first >= 0 and first + (size - 1) * step < ref.shape[axis]):
      yield f"elements {first} to {first + (size - 1) * step} of dimension {axis} are outside of {ref}"


def _memory_is_plain(scope: Scope, op: Op) -> Problems:
  for v in [*op.operands, *op.results]:
    if isinstance(v.type, RefType) and (len(v.type.strides) != v.type.rank or any(s < 0 for s in v.type.strides)):
      yield f"{v.type} must have one stride, not negative, for each dimension"


def _bool_is_bool(scope: Scope, op: Op) -> Problems:
  if op.name == "while" and [v.type for v in op.blocks[0].yielded] != [BOOL]:
    yield "the condition must yield one bool"


_LOWERED: tuple[Check, ...] = (_blocks, _operands, _results, _refs_stay, _effects, _bool_is_bool)
_CLEANED: tuple[Check, ...] = (*_LOWERED, _not_dead)
_NATIVE: tuple[Check, ...] = (*_CLEANED, _has_code, _inside, _memory_is_plain)
STAGES: dict[str, tuple[Check, ...]] = {"lowered": _LOWERED, "cleaned": _CLEANED, "native": _NATIVE}
