"""HLO text → `Module`.

The grammar, in short:

    module       := ["HloModule" name {"," attribute}] tables computation…
    computation  := ["ENTRY"] name [signature] "{" instruction… "}" ["," execution_thread=…]
    instruction  := ["ROOT"] name "=" [shape] opcode "(" operands ")" {"," attribute}
    operand      := [shape] name {"#" index} | [shape] opcode "(" operands ")" …

Names are looked up where they are used: an instruction or a computation must stand before its users. This file holds
modules, computations and instructions; the values of attributes are read by `parse_values.py` and its neighbours.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

from tilewright.hlo.attributes import ATTRIBUTE_KINDS
from tilewright.hlo.cursor import Cursor
from tilewright.hlo.errors import HloParseError, HloShapeError
from tilewright.hlo.infer import infer_shape
from tilewright.hlo.ir import MAIN_THREAD, Computation, Instruction, Module, take_name
from tilewright.hlo.literal import Literal
from tilewright.hlo.opcodes import OPCODES, async_sugar
from tilewright.hlo.parse_header import HeaderReader
from tilewright.hlo.parse_literal import LiteralReader
from tilewright.hlo.parse_shape import ShapeReader
from tilewright.hlo.parse_sharding import read_groups, read_sharding
from tilewright.hlo.parse_values import (
  read_accuracy,
  read_block_scaling,
  read_bools,
  read_dim_labels,
  read_frontend_attributes,
  read_int_lists,
  read_metadata,
  read_origin,
  read_output_aliases,
  read_padding,
  read_pairs,
  read_slices,
  read_sparsity,
  read_statistics,
  read_window,
)
from tilewright.hlo.shape import Shape
from tilewright.hlo.sharding import Domain, Sharding
from tilewright.hlo.values import OpMetadata

HEAD = re.compile(r"(ROOT\s++)?+(%?[A-Za-z_][\w.-]*+)\s*+=", re.ASCII)
OPCODE = re.compile(r"([a-z][\w-]*+)\s*+\(", re.ASCII)
PLAIN_OPERANDS = re.compile(r"([\w.%, -]*+)\)", re.ASCII)
ATTRIBUTE = re.compile(r",\s*+([A-Za-z_][\w-]*+)=", re.ASCII)
NAMED_VALUE = re.compile(r"[A-Za-z_][\w-]*+=", re.ASCII)
METADATA_SPAN = re.compile(r'\{[^{}"]*+(?:"[^"\\]*+"[^{}"]*+)*+\}')
OPERAND_NAME = re.compile(r"%?([A-Za-z_][\w.-]*+)", re.ASCII)
COMPUTATION_START = re.compile(r"(?:ENTRY\s++)?+%?[A-Za-z_][\w.-]*+\s*+[({]", re.ASCII)

UNKNOWN_SHAPE = Shape("opaque")

Scope = dict[str, Instruction]


class Parser:
  def __init__(self, text: str) -> None:
    self.cursor = Cursor(text)
    self.shapes = ShapeReader(self.cursor)
    self.literals = LiteralReader(self.cursor)
    self.module = Module("")
    self.computations: dict[str, Computation] = {}
    self.names: dict[str, int] = {}  # of instructions, in the whole module
    self.computation_names: dict[str, int] = {}
    self.known_metadata: dict[str, OpMetadata] = {}
    self.implied_parameters = 0
    self.single = False  # one instruction is the whole text: its unknown operands are parameters

  # Modules and computations.

  def parse(self) -> Module:
    cursor, module = self.cursor, self.module
    header = HeaderReader(cursor, self.shapes, parse)
    named = cursor.accept_word("HloModule")
    if named:
      header.read(module)
    else:
      cursor.skip()
      if not COMPUTATION_START.match(cursor.text, cursor.pos):
        return self._single_instruction()
    entry: Computation | None = None
    while cursor.peek():
      computation, is_entry = self._computation()
      if is_entry:
        if entry is not None:
          cursor.error("a module has one ENTRY computation, this is the second")
        entry = computation
    if not module.computations:
      cursor.error("expected a computation, found the end of the text")
    module.entry = entry or module.computations[-1]
    if not named:
      module.name = "module_" + module.entry.name
    if module.entry_layout is not None and len(module.entry_layout.parameters) != len(module.entry.parameters):
      cursor.error(
        f"entry_computation_layout has {len(module.entry_layout.parameters)} parameters, "
        f"the entry computation {len(module.entry.parameters)}",
        0,
      )
    self._finish(module)
    return module

  def _finish(self, module: Module) -> None:
    module._taken_names = self.names
    module._taken_computation_names = self.computation_names
    for computation in module.computations:
      for instruction in computation.instructions:
        if instruction.opcode == "fusion" and "calls" in instruction.attrs:
          instruction.attrs["calls"].is_fusion = True

  def _single_instruction(self) -> Module:
    self.single = True
    module, cursor = self.module, self.cursor
    module.name, module.is_scheduled = "_", True
    computation = Computation("_", parent=module)
    scope: Scope = {}
    computation.root = self._instruction(computation, scope)[0]
    if cursor.peek():
      cursor.error(f"expected the end of the text after a single instruction, found {cursor.found()}")
    parameters = [i for i in computation.instructions if i.opcode == "parameter"]
    computation.instructions = parameters + [i for i in computation.instructions if i.opcode != "parameter"]
    module.computations.append(computation)
    module.entry = computation
    self._finish(module)
    return module

  def _computation(self) -> tuple[Computation, bool]:
    cursor = self.cursor
    is_entry = cursor.accept_word("ENTRY")
    start = cursor.pos
    name = cursor.name("the name of a computation")
    if name in self.computations:
      cursor.error(f"there is already a computation %{name}", start)
    if cursor.at("("):
      self._signature()
    computation = self._body(take_name(name, self.computation_names))
    self.computations[name] = computation
    while cursor.accept(","):
      key = cursor.word("execution_thread")
      if key != "execution_thread":
        cursor.error(f"`{key}` is not an attribute of a computation", cursor.pos - len(key))
      cursor.expect("=")
      computation.execution_thread = cursor.string()
    return computation, is_entry

  def _signature(self) -> None:
    """`(p: f32[4], q: s32[]) -> f32[4]`: repeats what the instructions say."""
    cursor = self.cursor
    cursor.expect("(")
    first = True
    while not cursor.accept(")"):
      if not first:
        cursor.expect(",")
      first = False
      if not cursor.match(OPERAND_NAME):
        cursor.error(f"expected the name of a parameter, found {cursor.found()}")
      cursor.expect(":", "after the name of a parameter")
      self.shapes.shape()
    cursor.expect("->", "before the result of a computation")
    self.shapes.shape()

  def _body(self, name: str) -> Computation:
    cursor = self.cursor
    cursor.expect("{", "before the instructions of a computation")
    start = cursor.pos
    computation = Computation(name, parent=self.module)
    scope: Scope = {}
    root: Instruction | None = None
    instruction: Instruction | None = None
    while not cursor.accept("}"):
      if cursor.pos >= len(cursor.text):
        cursor.error(f"computation %{name} is not closed", start)
      instruction, is_root = self._instruction(computation, scope)
      if is_root:
        if root is not None:
          cursor.error(f"computation %{name} has two roots")
        root = instruction
    if instruction is None:
      cursor.error(f"computation %{name} has no instructions", start)
    computation.root = root or instruction
    self._check_parameters(computation, start)
    self.module.computations.append(computation)
    return computation

  def _check_parameters(self, computation: Computation, start: int) -> None:
    numbers = sorted(i.attrs["parameter_number"] for i in computation.instructions if i.opcode == "parameter")
    if numbers != list(range(len(numbers))):
      self.cursor.error(f"the parameters of %{computation.name} are not numbered 0 to {len(numbers) - 1}", start)

  # Instructions.

  def _instruction(self, computation: Computation, scope: Scope) -> tuple[Instruction, bool]:
    cursor = self.cursor
    cursor.skip()
    match = HEAD.match(cursor.text, cursor.pos)
    if match:
      spelled = match[2]
      is_root = match[1] is not None
      start = match.start(2)
      if spelled[0] == "%":
        name = spelled[1:]
      else:
        cursor.pos = start
        name = cursor.name("the name of an instruction")
      cursor.pos = match.end()
    else:
      is_root = cursor.accept_word("ROOT")
      start = cursor.pos
      name = cursor.name("an instruction or `}`")
      cursor.expect("=", "after the name of an instruction")
    if name in scope:
      cursor.error(f"there is already an instruction %{name} in this computation", start)
    instruction = self._right_side(name, computation, scope)
    scope[name] = instruction
    return instruction, is_root

  def _right_side(self, name: str, computation: Computation, scope: Scope, nested: bool = False) -> Instruction:
    cursor = self.cursor
    shape = self.shapes.try_shape()
    start = cursor.pos
    match = cursor.match(OPCODE)
    if not match:
      cursor.error(f"expected {'an' if shape else 'a shape or an'} opcode and `(`, found {cursor.found()}")
    opcode = match[1]
    sugar = None
    if opcode not in OPCODES:
      sugar = async_sugar(opcode)
      if sugar is None:
        cursor.error(f"`{opcode}` is not an opcode", match.start(1))
      opcode = sugar[0]
    attrs: dict[str, Any] = {}
    operands: tuple[Instruction, ...] = ()
    if opcode == "parameter":
      attrs["parameter_number"] = cursor.integer("a parameter number")
      if attrs["parameter_number"] < 0:
        cursor.error("a parameter number is not negative", match.end())
      cursor.expect(")")
    elif opcode == "constant":
      if shape is None:
        cursor.error("a constant needs a shape", match.start(1))
      attrs["literal"] = self.literals.literal(shape)
      cursor.expect(")", "after a literal")
    else:
      operands = self._operands(computation, scope)
    placed = shape or UNKNOWN_SHAPE  # inferred below, when the attributes are known
    instruction = Instruction(take_name(name, self.names), opcode, placed, operands, attrs, parent=computation)
    self._attributes(instruction, scope, nested)
    if shape is None:
      self._infer(instruction, start)
    if opcode == "topk":
      attrs.setdefault("is_stable", True)  # the default of the text, not of the proto
    if sugar is not None:
      self._wrap(instruction, sugar[1], start)
    if instruction.sharding is not None and instruction.shape.is_tuple and instruction.sharding.kind != "tuple":
      # One sharding for a tuple stands for all its leaves.
      leaves = sum(1 for _ in instruction.shape.leaves())
      instruction.sharding = Sharding("tuple", elements=(instruction.sharding,) * leaves)
    computation.instructions.append(instruction)
    return instruction

  def _infer(self, instruction: Instruction, start: int) -> None:
    try:
      instruction.shape = infer_shape(instruction.opcode, instruction.operands, instruction.attrs)
    except HloShapeError as error:
      self.cursor.error(f"the shape of %{instruction.name} cannot be inferred: {error}", start)

  def _operands(self, computation: Computation, scope: Scope) -> tuple[Instruction, ...]:
    cursor = self.cursor
    match = PLAIN_OPERANDS.match(cursor.text, cursor.pos)
    if match:
      body = match[1]
      if not body.strip():
        cursor.pos = match.end()
        return ()
      try:
        found = tuple([scope[part.strip().removeprefix("%")] for part in body.split(",")])
      except KeyError:
        pass  # the slow road below says what is wrong, or makes parameters
      else:
        cursor.pos = match.end()
        return found
    operands: list[Instruction] = []
    while not cursor.accept(")"):
      if operands:
        cursor.expect(",", "between operands")
      operands.append(self._operand(computation, scope))
    return tuple(operands)

  def _operand(self, computation: Computation, scope: Scope) -> Instruction:
    cursor = self.cursor
    shape_at = cursor.pos
    shape = self.shapes.try_shape()
    start = cursor.pos
    match = cursor.match(OPERAND_NAME)
    if not match:
      cursor.error(f"expected an operand, found {cursor.found()}")
    name = match[1]
    if cursor.at("(") and match[0][0] != "%":
      # A whole instruction in the place of an operand: `add(sqrt(x), y)`.
      cursor.pos = shape_at
      return self._right_side(f"{name}.anon", computation, scope, nested=True)
    operand = scope.get(name)
    if operand is None:
      if not self.single or shape is None:
        cursor.error(f"there is no instruction %{name} before this", start)
      number = self.implied_parameters
      self.implied_parameters += 1
      operand = Instruction(
        take_name(name, self.names), "parameter", shape, attrs={"parameter_number": number}, parent=computation
      )
      computation.instructions.append(operand)
      scope[name] = operand
    while cursor.accept("#"):
      operand, name = self._element(operand, name, cursor.integer("a tuple index"), computation, scope)
    if shape is not None and not shape.compatible(operand.shape):
      cursor.error(f"%{name} has the shape {operand.shape}, not {shape}", start)
    return operand

  def _element(
    self, tuple_: Instruction, name: str, index: int, computation: Computation, scope: Scope
  ) -> tuple[Instruction, str]:
    """`%t#1`: element 1 of %t, made once per computation."""
    name = f"{name}_{index}"
    known = scope.get(name)
    if known is not None and known.opcode == "get-tuple-element" and known.operands[0] is tuple_:
      return known, name
    parts = tuple_.shape.tuple_shapes
    if not tuple_.shape.is_tuple or not 0 <= index < len(parts):
      self.cursor.error(f"%{tuple_.name} of shape {tuple_.shape} has no element {index}")
    element = Instruction(
      take_name(name, self.names), "get-tuple-element", parts[index], (tuple_,), {"index": index}, parent=computation
    )
    computation.instructions.append(element)
    if known is None:
      scope[name] = element
    return element, name

  def _wrap(self, instruction: Instruction, opcode: str, start: int) -> None:
    """Makes the computation that `custom-call-start(…)` stands for, and moves the attributes of the call into it."""
    if instruction.opcode != "async-start":
      return
    parts = instruction.shape.tuple_shapes
    if len(parts) < 2:
      self.cursor.error("the shape of an async start is ((operands), result, …)", start)
    thread = instruction.attrs.pop("async_execution_thread", MAIN_THREAD)
    computation = Computation(
      take_name("async_wrapped", self.computation_names), parent=self.module, execution_thread=thread
    )
    for number, operand in enumerate(instruction.operands):
      parameter = Instruction(
        take_name("async_param", self.names), "parameter", operand.shape, attrs={"parameter_number": number}
      )
      parameter.parent = computation
      computation.instructions.append(parameter)
    root = Instruction(
      take_name(opcode, self.names),
      opcode,
      parts[1],
      tuple(computation.instructions),
      instruction.attrs,
      instruction.metadata,
      None,
      dict(instruction.frontend_attributes),
      instruction.backend_config,
      parent=computation,
    )
    computation.instructions.append(root)
    computation.root = root
    self.module.computations.append(computation)
    instruction.attrs = {"calls": computation}
    if thread != MAIN_THREAD:
      instruction.attrs["async_execution_thread"] = thread

  # Attributes.

  def _attributes(self, instruction: Instruction, scope: Scope, nested: bool) -> None:
    cursor = self.cursor
    text = cursor.text
    attrs = instruction.attrs
    while True:
      match = ATTRIBUTE.match(text, cursor.pos)
      if match:
        cursor.pos = match.end()
        name, at = match[1], match.start(1)
      else:
        before = cursor.pos
        if not cursor.accept(","):
          return
        cursor.skip()
        at = cursor.pos
        if nested and not NAMED_VALUE.match(text, at):
          cursor.pos = before  # the comma separates operands
          return
        name = cursor.word("an attribute")
        cursor.expect("=", "after the name of an attribute")
      if name == "metadata":
        instruction.metadata = self._metadata()
        continue
      common = _COMMON.get(name)
      if common is not None:
        common(self, instruction, scope)
        continue
      kind = ATTRIBUTE_KINDS.get(name)
      if kind is None or (name == "literal" and instruction.opcode != "custom-call"):
        cursor.error(f"`{name}` is not an attribute of {instruction.opcode}", at)
      if name in attrs:
        cursor.error(f"the attribute {name} appears twice", at)
      attrs[name] = _READERS[kind](self)

  def _metadata(self) -> OpMetadata:
    cursor = self.cursor
    match = METADATA_SPAN.match(cursor.text, cursor.pos)
    if match:
      known = self.known_metadata.get(match[0])
      if known is not None:
        cursor.pos = match.end()
        return known
    start = cursor.pos
    metadata = read_metadata(cursor)
    self.known_metadata[cursor.text[start : cursor.pos]] = metadata
    return metadata

  def _read_sharding(self, instruction: Instruction, scope: Scope) -> None:
    instruction.sharding = read_sharding(self.cursor)

  def _read_frontend(self, instruction: Instruction, scope: Scope) -> None:
    instruction.frontend_attributes = read_frontend_attributes(self.cursor)

  def _read_backend_config(self, instruction: Instruction, scope: Scope) -> None:
    cursor = self.cursor
    instruction.backend_config = cursor.braces("a backend config") if cursor.at("{") else cursor.string()

  def _read_origin(self, instruction: Instruction, scope: Scope) -> None:
    instruction.origin = read_origin(self.cursor)

  def _read_statistics(self, instruction: Instruction, scope: Scope) -> None:
    instruction.statistics = read_statistics(self.cursor)

  def _read_control_predecessors(self, instruction: Instruction, scope: Scope) -> None:
    cursor = self.cursor
    cursor.expect("{", "before control predecessors")
    first = True
    while not cursor.accept("}"):
      if not first:
        cursor.expect(",")
      first = False
      start = cursor.pos
      name = cursor.name("an instruction")
      if name not in scope:
        cursor.error(f"there is no instruction %{name} before this", start)
      instruction.add_control_predecessor(scope[name])

  def _computation_value(self) -> Computation:
    cursor = self.cursor
    if cursor.at("{"):
      return self._body(take_name("_", self.computation_names))
    start = cursor.pos
    name = cursor.name("the name of a computation")
    computation = self.computations.get(name)
    if computation is None:
      cursor.error(f"there is no computation %{name} before this", start)
    return computation

  def _computation_values(self) -> tuple[Computation, ...]:
    cursor = self.cursor
    cursor.expect("{", "before a list of computations")
    found: list[Computation] = []
    while not cursor.accept("}"):
      if found:
        cursor.expect(",")
      found.append(self._computation_value())
    return tuple(found)

  def _words(self) -> tuple[str, ...]:
    cursor = self.cursor
    cursor.expect("{")
    words: list[str] = []
    while not cursor.accept("}"):
      if words:
        cursor.expect(",")
      words.append(cursor.word())
    return tuple(words)

  def _shape_list(self) -> tuple[Shape, ...]:
    cursor = self.cursor
    cursor.expect("{", "before a list of shapes")
    shapes: list[Shape] = []
    while not cursor.accept("}"):
      if shapes:
        cursor.expect(",")
      shapes.append(self.shapes.shape())
    return tuple(shapes)

  def _literal_value(self) -> Literal:
    return self.literals.literal(self.shapes.shape())

  def _ints_or_lists(self) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
    cursor = self.cursor
    start = cursor.pos
    if cursor.accept("{") and cursor.at("{"):
      cursor.pos = start
      return read_int_lists(cursor)
    cursor.pos = start
    return cursor.ints()

  def _domain(self) -> Domain:
    cursor = self.cursor
    cursor.expect("{")
    kind = ""
    sides: dict[str, Sharding] = {}
    first = True
    while not cursor.accept("}"):
      if not first:
        cursor.expect(",")
      first = False
      key = cursor.word("kind, entry or exit")
      cursor.expect("=")
      if key == "kind":
        kind = cursor.string()
      elif key in ("entry", "exit"):
        sides[key] = read_sharding(cursor)
      else:
        cursor.error(f"`{key}` is not part of a domain", cursor.pos - len(key))
    if len(sides) != 2:
      cursor.error("a domain has an entry and an exit")
    return Domain(kind, sides["entry"], sides["exit"])


_COMMON: dict[str, Callable[[Parser, Instruction, Scope], None]] = {
  "sharding": Parser._read_sharding,
  "frontend_attributes": Parser._read_frontend,
  "backend_config": Parser._read_backend_config,
  "origin": Parser._read_origin,
  "statistics": Parser._read_statistics,
  "control-predecessors": Parser._read_control_predecessors,
}

_READERS: dict[str, Callable[[Parser], Any]] = {
  "int": lambda p: p.cursor.integer(),
  "float": lambda p: p.cursor.number(),
  "bool": lambda p: p.cursor.boolean(),
  "string": lambda p: p.cursor.string(),
  "ints": Parser._ints_or_lists,
  "bools": lambda p: read_bools(p.cursor),
  "word": lambda p: p.cursor.word(),
  "words": Parser._words,
  "computation": Parser._computation_value,
  "computations": Parser._computation_values,
  "shape": lambda p: p.shapes.shape(),
  "shapes": Parser._shape_list,
  "window": lambda p: read_window(p.cursor),
  "dim_labels": lambda p: read_dim_labels(p.cursor),
  "sparsity": lambda p: read_sparsity(p.cursor),
  "block_scaling": lambda p: read_block_scaling(p.cursor),
  "padding": lambda p: read_padding(p.cursor),
  "slices": lambda p: read_slices(p.cursor),
  "groups": lambda p: read_groups(p.cursor),
  "pairs": lambda p: read_pairs(p.cursor),
  "aliases": lambda p: read_output_aliases(p.cursor),
  "accuracy": lambda p: read_accuracy(p.cursor),
  "domain": Parser._domain,
  "literal": Parser._literal_value,
}


def parse(text: str) -> Module:
  """Reads HLO text. Raises `HloParseError` with line and column where the text is not HLO."""
  parser = Parser(text)
  if not text.isascii():
    try:
      text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
      parser.cursor.error("this character is half of a surrogate pair", error.start)
  # Nothing made here is garbage until the end, so looking for cycles again and again only costs time (half of it).
  collecting = gc.isenabled()
  gc.disable()
  try:
    return parser.parse()
  except RecursionError:
    pass  # raised anew below, without the thousand frames of its context
  finally:
    if collecting:
      gc.enable()
  start = text.rfind("\n", 0, parser.cursor.pos) + 1
  raise HloParseError(
    "this is nested too deeply", text.count("\n", 0, parser.cursor.pos) + 1, parser.cursor.pos - start + 1, ""
  )
