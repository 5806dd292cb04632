"""From a kernel to a system of constraints: the variables for its values and uses, and the constraints on them.

A value has a variable for its own layout. A use (operand i of an op) has one where the op may require the value in another layout; a
relayout is then inserted between the two, at a cost. Scalars have no layout: every thread has them.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tilewright.layout.build import blocked_for
from tilewright.layout.constraints import Constraint, Equal, Located, OneOf, Place, RelayoutAllowed, Variable
from tilewright.layout.options import tma_layouts
from tilewright.layout.shared import SWIZZLES, shared_tiled
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.threads import MAX_ACCUMULATORS
from tilewright.target.nvgpu.passes.layouts.hints import split_space
from tilewright.tile.ir import Block, Function, Op, Value, users, walk
from tilewright.tile.ops import BINARY, COMPARE, UNARY
from tilewright.tile.types import RefType, TileType

ELEMENTWISE = frozenset(
  {
    *(*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow", "select", "convert", "bitcast"),
    *("real", "imag", "conj", "complex"),
  }
)
SHARED_SPACES = frozenset({"smem", "shared"})
_VIEWS = frozenset({"subview", "reshape_ref", "transpose_ref", "bitcast_ref", "cluster_ref"})
_LOOP = 8  # a loop is taken to run that many times
_DEEPEST = 3
_VECTOR_BITS = 128


@dataclasses.dataclass(eq=False)
class System:
  """What the ops of a function say about layouts."""

  function: Function
  arch: Arch
  num_warps: int
  shared_refs: Collection[Value] = ()
  register_refs: Collection[Value] = ()
  # Whether all memory but `shared_refs` lies row by row, and no instruction reads it where it is.
  is_plain: bool = False
  names: Mapping[Value, str] = dataclasses.field(default_factory=dict)  # of refs, for messages
  max_registers: int = MAX_ACCUMULATORS  # of a thread for one tile
  constraints: list[Located] = dataclasses.field(default_factory=list)
  uses: dict[tuple[Op, int], Variable] = dataclasses.field(default_factory=dict)
  strides: dict[Variable, tuple[int, ...]] = dataclasses.field(default_factory=dict)  # of the memory a variable is for
  # With the kind of each option.
  dots: dict[Op, tuple[OneOf, tuple[str, ...]]] = dataclasses.field(default_factory=dict)

  proposed: dict[Variable, list[Place]] = dataclasses.field(default_factory=dict)  # more candidates to begin with

  def __post_init__(self) -> None:
    self.op: Op | None = None
    self.depth = 0
    self.users = users(self.function.body)
    self.number = {v: i for i, v in enumerate(_values(self.function))}
    self.op_number = {op: i for i, op in enumerate(walk(self.function.body))}
    self.blocked: dict[tuple[object, ...], list[Place]] = {}
    self.free = find_free(self.function)
    self.in_shared = set(self.shared_refs)
    for op in walk(self.function.body):
      if op.name in _VIEWS and op.operands[0] in self.in_shared and not (self.is_plain and _is_part(op)):
        self.in_shared.add(op.result)

  @property
  def weight(self) -> int:
    return _LOOP ** min(self.depth, _DEEPEST)

  def require(self, constraint: Constraint) -> None:
    """Record a constraint of the present op."""
    loc, name = (self.op.loc, self.op.name) if self.op is not None else ("", "")
    self.constraints.append(Located(constraint, loc, name))

  # --- variables -------------------------------------------------------------------------------------------------

  def of(self, value: Value) -> Variable | None:
    """The variable of a tile; None for scalars, empty tiles, and what is no tile."""
    if not isinstance(value.type, TileType) or value.type.is_scalar or not value.type.size:
      return None
    return Variable(("value", self.number[value]), value.type.shape, _bits(value.type.dtype), self._name(value))

  def has(self, value: Value) -> Variable:
    found = self.of(value)
    assert found is not None
    return found

  def use(self, op: Op, i: int, shape: Sequence[int] | None = None, part: str = "use") -> Variable:
    """A variable for an operand as the op wants it."""
    ty = op.operands[i].type
    assert isinstance(ty, TileType | RefType)
    name = f"operand {i} of {op.name}{_line(op)}"
    return Variable((part, self.op_number[op], i), tuple(shape or ty.shape), _bits(ty.dtype), name)

  def shared(self, ref: Value) -> Variable | None:
    """The variable of a ref in shared memory; None for refs elsewhere, and for empty ones."""
    ty = ref.type
    if not isinstance(ty, RefType) or not ty.size or ref in self.register_refs:
      return None
    if ref not in self.in_shared and (self.is_plain or split_space(ty.space)[0] not in SHARED_SPACES):
      return None
    return Variable(("shared", self.number[ref]), ty.shape, _bits(ty.dtype), self._name(ref))

  def part(self, ref: Value) -> Variable:
    """The variable of a view of shared memory that lies as the whole does."""
    return Variable(("part", self.number[ref]), ref.ref.shape, _bits(ref.ref.dtype), self._name(ref))

  def held(self, ref: Value) -> Variable | None:
    """The variable of a ref that lives in registers; None for others."""
    if ref not in self.register_refs or not isinstance(ref.type, RefType):
      return None
    return Variable(("ref", self.number[ref]), ref.type.shape, _bits(ref.type.dtype), self._name(ref))

  def _name(self, value: Value) -> str:
    """A value in words: what made it, and where."""
    if isinstance(value.owner, Op):
      several = f" {value.owner.results.index(value)}" if len(value.owner.results) > 1 else ""
      return f"the result{several} of {value.owner.name}{_line(value.owner)}"
    return self.names.get(value) or f"the parameter %{self.number[value]}"

  # --- links -----------------------------------------------------------------------------------------------------

  def link(self, op: Op, i: int, wanted: Variable) -> None:
    """Operand i of an op must come in the layout `wanted`: relaid out if need be, recomputed if it is free."""
    value = op.operands[i]
    own = self.of(value)
    if own is None:
      return
    self.uses[op, i] = wanted
    if value not in self.free and own != wanted:
      self.require(RelayoutAllowed(own, wanted, self.weight))

  def link_elementwise(self, op: Op, i: int, wanted: Variable) -> None:
    """The same between elementwise ops, which form one region in one layout."""
    value = op.operands[i]
    own = self.of(value)
    owner = value.owner
    if own is not None and value not in self.free and isinstance(owner, Op) and owner.name in ELEMENTWISE:
      self.uses[op, i] = wanted
      self.require(Equal(own, wanted))
    else:
      self.link(op, i, wanted)

  # --- candidates ------------------------------------------------------------------------------------------------

  def seeds(self, variable: Variable) -> list[Place]:
    """Layouts to begin with, `proposed` ones included."""
    own, more = self._seeds(variable), self.proposed.get(variable)
    return own if not more else [*own, *more]

  def _seeds(self, variable: Variable) -> list[Place]:
    """Coalesced for the memory the tile is for, by rows so that reductions stay in warps."""
    assert isinstance(variable.key, tuple)
    if variable.key[0] == "shared":
      rows = [shared_tiled(variable.shape, None, variable.bits, s) for s in SWIZZLES]
      if self.is_plain:  # the plain one first: what costs the same is not swizzled
        return [own for own in rows if not own.swizzle.bits or own.nbytes * 8 == math.prod(own.shape) * own.bits]
      return list(dict.fromkeys([*tma_layouts(variable.shape, variable.bits, (128, 64, 32)), *rows]))
    if variable.key[0] == "matrix":
      return []
    strides = self.strides.get(variable)
    rank = len(variable.shape)
    order = list(reversed(range(rank)))
    if strides is not None:
      order.sort(key=lambda axis: (variable.shape[axis] == 1, strides[axis] == 0, strides[axis]))
    vector = max(_VECTOR_BITS // max(variable.bits, 8), 1)
    if strides is not None and strides[order[0]] != 1:
      vector = 1
    key = variable.shape, vector, tuple(order)
    if key not in self.blocked:
      self.blocked[key] = [blocked_for(variable.shape, self.num_warps, vector, order, rows) for rows in (False, True)]
    return self.blocked[key]


def _values(function: Function) -> list[Value]:
  found = list(function.params)
  for op in walk(function.body):
    found += op.results
    for block in op.blocks:
      found += block.params
  return found


def _is_part(op: Op) -> bool:
  """Whether a view is a part of its ref."""
  return op.name == "subview" and op.operands[0].ref.shape != op.result.ref.shape


def _line(op: Op) -> str:
  """The file and line of an op, short."""
  found = re.match(r"(?:.*/)?([^/:]+:\d+)", op.loc)
  return f" ({found[1]})" if found else ""


def _bits(dtype: np.dtype) -> int:
  return 8 * dtype.itemsize


def find_free(function: Function) -> set[Value]:
  """Values that cost nothing to have in any layout: constants, iotas, scalars repeated, and arithmetic on those."""
  free: set[Value] = set()

  def visit(block: Block) -> None:
    for op in block.ops:
      tiles = [v for v in op.operands if isinstance(v.type, TileType) and not v.type.is_scalar]
      if op.name in ("constant", "iota") or (op.name in (*ELEMENTWISE, "broadcast") and all(v in free for v in tiles)):
        free.update(op.results)
      for inner in op.blocks:
        visit(inner)

  visit(function.body)
  return free
