"""HLO as Python objects: a `Module` of `Computation`s of `Instruction`s.

    module = hlo.parse(text)
    for instruction in module.entry.instructions:
      print(instruction.name, instruction.opcode, instruction.shape, [o.name for o in instruction.operands])

An instruction is one node: opcode, shape, operands, and `attrs`, a dict keyed by the attribute's name in the HLO
text, whose values are typed (see `attributes.py` for the table). What every opcode may carry has a field of its own:
metadata, sharding, frontend_attributes, backend_config, origin, statistics and control edges. Instructions compare by
identity.

Edges are kept on both ends. Read `operands`, `users`, `control_predecessors` and `control_successors` freely; change
them with the methods (`set_operands`, `replace_operand`, `replace_all_uses_with`, `add_control_predecessor`, …),
never by assignment.

The order of `Computation.instructions` is the schedule if the module is scheduled. Otherwise any order is legal:
printing sorts when necessary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tilewright.hlo.errors import HloGraphError, HloNameError
from tilewright.hlo.shape import ProgramShape, Shape
from tilewright.hlo.sharding import Sharding
from tilewright.hlo.values import (
  BufferDonor,
  DebugEntry,
  InputOutputAlias,
  OpMetadata,
  Original,
  OriginalArray,
  StackFrameIndex,
  Statistics,
)

if TYPE_CHECKING:
  from tilewright.hlo.literal import Literal

MAIN_THREAD = "main"


def take_name(name: str, taken: dict[str, int]) -> str:
  """`name` if it is free, else `stem.N` with the next free number; adds the result to `taken`.

  A stem's last number is remembered in `taken` too (under a key no name can have), so that a thousand equal names do not
  take a million steps.
  """
  if name in taken:
    head, dot, tail = name.rpartition(".")
    stem, n = (head, int(tail)) if dot and tail.isascii() and tail.isdigit() and len(tail) < 10 else (name, 0)
    n = max(n, taken.get("\0" + stem, 0))
    while name in taken:
      n += 1
      name = f"{stem}.{n}"
    taken["\0" + stem] = n
  taken[name] = 0
  return name


# Attributes that hold computations, in the order in which XLA numbers an instruction's called computations. `calls`,
# `to_apply` and `called_computations` exclude one another; branch_computations and called_computations hold a tuple.
CALLED_ATTRS = (
  "calls",
  "to_apply",
  "body",
  "condition",
  "select",
  "scatter",
  "true_computation",
  "false_computation",
  "branch_computations",
  "called_computations",
)


@dataclass(eq=False, slots=True, repr=False)
class Instruction:
  """One operation. `attrs["parameter_number"]` and `attrs["literal"]` hold what text writes in the parentheses of
  those opcodes.
  """

  name: str
  opcode: str
  shape: Shape
  operands: tuple[Instruction, ...] = ()
  attrs: dict[str, Any] = field(default_factory=dict)
  metadata: OpMetadata | None = None
  sharding: Sharding | None = None
  frontend_attributes: dict[str, str] = field(default_factory=dict)
  backend_config: str = ""  # the raw text, often JSON: see `backend_config_json`
  origin: Original | None = None
  statistics: Statistics | None = None
  parent: Computation | None = None
  id: int = -1  # XLA's number; -1 until it has one
  unknown: bytes = b""  # proto fields without a name here, byte for byte
  _users: dict[Instruction, None] = field(default_factory=dict)
  _control_predecessors: dict[Instruction, None] | None = None
  _control_successors: dict[Instruction, None] | None = None

  def __post_init__(self) -> None:
    for operand in self.operands:
      operand._users[self] = None

  def __repr__(self) -> str:
    operands = ", ".join("%" + operand.name for operand in self.operands)
    return f"<%{self.name} = {self.shape} {self.opcode}({operands})>"

  # What it is.

  @property
  def users(self) -> tuple[Instruction, ...]:
    """The instructions that have this one as an operand, each once, in order of first use."""
    return tuple(self._users)

  @property
  def user_count(self) -> int:
    return len(self._users)

  @property
  def is_root(self) -> bool:
    return self.parent is not None and self.parent.root is self

  @property
  def is_dead(self) -> bool:
    """No users, no control successors, and not the root. (It may still have side effects.)"""
    return not self._users and not self._control_successors and not self.is_root

  @property
  def called_computations(self) -> tuple[Computation, ...]:
    """Every computation this instruction calls, in XLA's order."""
    found: tuple[Computation, ...] = ()
    attrs = self.attrs
    for key in CALLED_ATTRS:
      if key in attrs:
        value = attrs[key]
        found += (value,) if isinstance(value, Computation) else tuple(value)
    return found

  def replace_called_computation(self, old: Computation, new: Computation) -> None:
    for key in CALLED_ATTRS:
      value = self.attrs.get(key)
      if value is old:
        self.attrs[key] = new
      elif isinstance(value, tuple):
        self.attrs[key] = tuple(new if c is old else c for c in value)

  @property
  def literal(self) -> Literal:
    """The value of a constant."""
    literal: Literal = self.attrs["literal"]
    return literal

  @property
  def parameter_number(self) -> int:
    return int(self.attrs["parameter_number"])

  @property
  def module(self) -> Module | None:
    return self.parent.parent if self.parent is not None else None

  @property
  def backend_config_json(self) -> Any:
    """The backend config read as JSON, None if there is none or it is not JSON."""
    try:
      return json.loads(self.backend_config) if self.backend_config else None
    except ValueError:
      return None

  def operand(self, i: int) -> Instruction:
    return self.operands[i]

  def operand_index(self, operand: Instruction) -> int:
    """The first position of `operand`."""
    for i, candidate in enumerate(self.operands):
      if candidate is operand:
        return i
    raise HloGraphError(f"%{operand.name} is not an operand of %{self.name}")

  # Data edges.

  def set_operands(self, operands: Iterable[Instruction]) -> None:
    new = tuple(operands)
    for operand in self.operands:
      operand._users.pop(self, None)
    self.operands = new
    for operand in new:
      operand._users[self] = None

  def replace_operand(self, i: int, new: Instruction) -> None:
    """Makes `new` the operand at position `i`."""
    self.set_operands((*self.operands[:i], new, *self.operands[i + 1 :]))

  def replace_uses_of(self, old: Instruction, new: Instruction) -> None:
    """Puts `new` wherever this instruction has `old` as an operand."""
    self.set_operands(new if operand is old else operand for operand in self.operands)

  def replace_all_uses_with(self, new: Instruction) -> None:
    """Every user of this instruction uses `new` instead; if this was the root, `new` is. `new` itself keeps its
    operands.
    """
    if new is self:
      return
    for user in self.users:
      if user is not new:
        user.replace_uses_of(self, new)
    if self.is_root:
      assert self.parent is not None
      self.parent.root = new

  # Control edges: the predecessor finishes first, without passing a value.

  @property
  def control_predecessors(self) -> tuple[Instruction, ...]:
    return tuple(self._control_predecessors or ())

  @property
  def control_successors(self) -> tuple[Instruction, ...]:
    return tuple(self._control_successors or ())

  def add_control_predecessor(self, predecessor: Instruction) -> None:
    if predecessor is self:
      raise HloGraphError(f"%{self.name} cannot wait for itself")
    if self._control_predecessors is None:
      self._control_predecessors = {}
    if predecessor._control_successors is None:
      predecessor._control_successors = {}
    self._control_predecessors[predecessor] = None
    predecessor._control_successors[self] = None

  def remove_control_predecessor(self, predecessor: Instruction) -> None:
    if self._control_predecessors and predecessor in self._control_predecessors:
      del self._control_predecessors[predecessor]
      assert predecessor._control_successors is not None
      del predecessor._control_successors[self]

  def drop_control_edges(self) -> None:
    """Removes this instruction from its control edges: its control successors become successors of its control
    predecessors.
    """
    before, after = self.control_predecessors, self.control_successors
    for predecessor in before:
      self.remove_control_predecessor(predecessor)
    for successor in after:
      successor.remove_control_predecessor(self)
      for predecessor in before:
        successor.add_control_predecessor(predecessor)

  def to_text(self) -> str:
    """This instruction's line of HLO text."""
    from tilewright.hlo.printer import instruction_text

    return instruction_text(self)


@dataclass(eq=False, slots=True, repr=False)
class Computation:
  """A function: parameters, instructions, a root whose value it returns."""

  name: str
  instructions: list[Instruction] = field(default_factory=list)
  root: Instruction = None  # type: ignore[assignment]  # set before the computation is published
  parent: Module | None = None
  execution_thread: str = MAIN_THREAD
  id: int = -1
  is_fusion: bool = False  # the callee of a fusion instruction; kept in step by the readers and the builder
  unknown: bytes = b""

  def __repr__(self) -> str:
    return f"<computation %{self.name}: {len(self.instructions)} instructions>"

  def __iter__(self) -> Iterator[Instruction]:
    return iter(self.instructions)

  @property
  def parameters(self) -> tuple[Instruction, ...]:
    """The parameter instructions by number."""
    found = [i for i in self.instructions if i.opcode == "parameter"]
    return tuple(sorted(found, key=lambda i: i.parameter_number))

  @property
  def program_shape(self) -> ProgramShape:
    parameters = self.parameters
    return ProgramShape(tuple(p.shape for p in parameters), self.root.shape, tuple(p.name for p in parameters))

  @property
  def is_entry(self) -> bool:
    return self.parent is not None and self.parent.entry is self

  def find(self, name: str) -> Instruction:
    """The instruction of that name (`%` optional)."""
    name = name.removeprefix("%")
    for instruction in self.instructions:
      if instruction.name == name:
        return instruction
    raise KeyError(f"computation %{self.name} has no instruction %{name}")

  def topological_order(self) -> list[Instruction]:
    """Operands and control predecessors first; the current order if it is already topological. An error on a cycle."""
    from tilewright.hlo.analysis import topological_order

    return topological_order(self)

  # Editing.

  def append(self, instruction: Instruction) -> Instruction:
    return self.insert(instruction)

  def insert(
    self, instruction: Instruction, *, before: Instruction | None = None, after: Instruction | None = None
  ) -> Instruction:
    """Adds an instruction at the end, or next to another one. Its name is made unique in the module."""
    if instruction.parent is not None:
      raise HloGraphError(f"%{instruction.name} already belongs to computation %{instruction.parent.name}")
    if self.parent is not None:
      instruction.name = self.parent.unique_name(instruction.name)
    if before is not None:
      self.instructions.insert(self.instructions.index(before), instruction)
    elif after is not None:
      self.instructions.insert(self.instructions.index(after) + 1, instruction)
    else:
      self.instructions.append(instruction)
    instruction.parent = self
    return instruction

  def remove(self, instruction: Instruction) -> None:
    """Removes an instruction nothing depends on. Control neighbours are joined."""
    self.remove_all([instruction])

  def remove_all(self, instructions: Iterable[Instruction]) -> None:
    """Removes several at once (in linear time); they may use one another, but nothing else may use them."""
    gone = dict.fromkeys(instructions)
    for instruction in gone:
      if instruction.parent is not self:
        raise HloGraphError(f"%{instruction.name} is not in computation %{self.name}")
      if instruction is self.root:
        raise HloGraphError(f"%{instruction.name} is the root of %{self.name} and cannot be removed")
      for user in instruction._users:
        if user not in gone:
          raise HloGraphError(f"%{instruction.name} cannot be removed: %{user.name} uses it")
    if not gone:
      return
    for instruction in gone:
      instruction.drop_control_edges()
      instruction.set_operands(())
      instruction.parent = None
    if len(gone) <= 8:  # a search by identity is faster than a lookup per instruction
      for instruction in gone:
        self.instructions.remove(instruction)
    else:
      self.instructions = [i for i in self.instructions if i not in gone]

  def replace(self, old: Instruction, new: Instruction) -> None:
    """Puts `new` in the place of `old` and removes `old`; control edges move over, metadata too where `new` has none."""
    old.replace_all_uses_with(new)
    for predecessor in old.control_predecessors:
      if predecessor is not new:
        new.add_control_predecessor(predecessor)
    for successor in old.control_successors:
      if successor is not new:
        successor.add_control_predecessor(new)
      successor.remove_control_predecessor(old)
    if new.metadata is None:
      new.metadata = old.metadata
    for predecessor in old.control_predecessors:
      old.remove_control_predecessor(predecessor)
    self.remove(old)

  def to_text(self) -> str:
    from tilewright.hlo.printer import computation_text

    return computation_text(self)


@dataclass(frozen=True, slots=True)
class OriginRecovery:
  """One entry of `origin_recovery_table`: how to compute a lost original array (`old`) from one that is still there.

  Without a module, `old` equals `new`.
  """

  old: OriginalArray | None
  new: OriginalArray | None
  module: Module | None = None
  unknown: bytes = b""


@dataclass(eq=False, slots=True, repr=False)
class Module:
  """A program. The flags and counts below `entry` are what the text's header holds; some of them are not in protos
  (see `proto_read.py`).
  """

  name: str
  computations: list[Computation] = field(default_factory=list)
  entry: Computation = None  # type: ignore[assignment]  # set before the module is published
  is_scheduled: bool = False
  entry_layout: ProgramShape | None = None  # entry_computation_layout; None: that of the entry's own shapes
  input_output_alias: tuple[InputOutputAlias, ...] = ()
  buffer_donor: tuple[BufferDonor, ...] = ()
  alias_passthrough_params: bool = False
  replica_count: int = 1
  num_partitions: int = 1
  counts_known: bool = True  # False: read from a proto, which does not hold the two counts
  frontend_attributes: dict[str, str] = field(default_factory=dict)
  allow_spmd_sharding_propagation_to_parameters: tuple[bool, ...] = ()
  allow_spmd_sharding_propagation_to_output: tuple[bool, ...] = ()
  stack_frames: StackFrameIndex = StackFrameIndex()  # noqa: RUF009  # frozen
  origin_recovery_table: tuple[OriginRecovery, ...] = ()
  debug_attributes: tuple[DebugEntry, ...] = ()
  id: int = -1
  spmd_output_sharding: Sharding | None = None  # protos only
  spmd_parameter_shardings: tuple[Sharding, ...] = ()  # protos only
  unknown: bytes = b""
  _taken_names: dict[str, int] | None = None  # of instructions
  _taken_computation_names: dict[str, int] | None = None

  def __repr__(self) -> str:
    return f"<module {self.name}: {len(self.computations)} computations, {self.instruction_count} instructions>"

  @property
  def states_devices(self) -> bool:
    """Whether `replica_count` and `num_partitions` are the program's, and not what a proto leaves them at."""
    return self.counts_known or self.replica_count * self.num_partitions > 1

  @property
  def instruction_count(self) -> int:
    return sum(len(c.instructions) for c in self.computations)

  def instructions(self) -> Iterator[Instruction]:
    """Every instruction of every computation."""
    for computation in self.computations:
      yield from computation.instructions

  def find(self, name: str) -> Computation:
    """The computation of that name (`%` optional)."""
    name = name.removeprefix("%")
    for computation in self.computations:
      if computation.name == name:
        return computation
    raise HloNameError("computation", name, self.name, (c.name for c in self.computations))

  def find_instruction(self, name: str) -> Instruction:
    name = name.removeprefix("%")
    for instruction in self.instructions():
      if instruction.name == name:
        return instruction
    raise HloNameError("instruction", name, self.name, (i.name for i in self.instructions()))

  def add_computation(self, computation: Computation) -> Computation:
    """Adds a computation; its name and those of its instructions are made unique."""
    if computation.parent is not None:
      raise HloGraphError(f"computation %{computation.name} already belongs to module {computation.parent.name}")
    computation.name = self.unique_computation_name(computation.name)
    for instruction in computation.instructions:
      instruction.name = self.unique_name(instruction.name)
    computation.parent = self
    self.computations.append(computation)
    return computation

  def remove_computation(self, computation: Computation) -> None:
    """Removes a computation that no instruction calls."""
    if computation is self.entry:
      raise HloGraphError(f"%{computation.name} is the entry computation and cannot be removed")
    for instruction in self.instructions():
      if computation in instruction.called_computations and instruction.parent is not computation:
        raise HloGraphError(f"computation %{computation.name} cannot be removed: %{instruction.name} calls it")
    self.computations.remove(computation)
    computation.parent = None

  def remove_unreachable_computations(self) -> int:
    """Removes every computation that is unreachable from the entry; returns how many."""
    from tilewright.hlo.analysis import call_graph

    kept = dict.fromkeys(call_graph(self).post_order)
    gone = [c for c in self.computations if c not in kept]
    for computation in gone:
      computation.parent = None
    self.computations = [c for c in self.computations if c in kept]
    return len(gone)

  def unique_name(self, name: str) -> str:
    """`name`, or `name.N` if an instruction has it; the result is reserved from then on."""
    if self._taken_names is None:
      self._taken_names = dict.fromkeys((i.name for i in self.instructions()), 0)
    return take_name(name, self._taken_names)

  def unique_computation_name(self, name: str) -> str:
    """The same for computations, whose names are in a separate namespace from those of instructions."""
    if self._taken_computation_names is None:
      self._taken_computation_names = dict.fromkeys((c.name for c in self.computations), 0)
    return take_name(name, self._taken_computation_names)

  def clone(self, name: str | None = None) -> Module:
    """A deep copy; literals and other frozen values are shared."""
    from tilewright.hlo.clone import clone_module

    return clone_module(self, name)

  def to_text(self) -> str:
    """HLO text that `hlo.parse` and XLA's own parser read back."""
    from tilewright.hlo.printer import module_text

    return module_text(self)

  def to_proto(self) -> bytes:
    """A serialised HloModuleProto."""
    from tilewright.hlo.proto_write import module_to_proto

    return module_to_proto(self)
