"""HLO text → `Module`.

The grammar, in short:

    module       := ["HloModule" name {"," attribute}] tables computation…
    computation  := ["ENTRY"] name [signature] "{" instruction… "}" ["," execution_thread=…]
    instruction  := ["ROOT"] name "=" [shape] opcode "(" operands ")" {"," attribute}
    operand      := [shape] name {"#" index} | [shape] opcode "(" operands ")" …

Names are looked up where they are used: an instruction or a computation must precede its users. This file holds
modules, computations and instructions; the values of attributes are read by `parse_attributes` and its neighbours.
"""

from __future__ import annotations

import gc
import re
from typing import Any

from tilewright.hlo.attributes import ATTRIBUTE_KINDS
from tilewright.hlo.cursor import RESERVED, Cursor
from tilewright.hlo.errors import HloError, HloParseError, HloShapeError
from tilewright.hlo.infer import infer_shape
from tilewright.hlo.ir import MAIN_THREAD, Computation, Instruction, Module, take_name
from tilewright.hlo.opcodes import OPCODES, async_sugar
from tilewright.hlo.parse_attributes import COMMON, READERS, Scope
from tilewright.hlo.parse_header import HeaderReader
from tilewright.hlo.parse_literal import LiteralReader
from tilewright.hlo.parse_shape import ShapeReader
from tilewright.hlo.parse_values import read_metadata
from tilewright.hlo.shape import Shape
from tilewright.hlo.sharding import Sharding
from tilewright.hlo.values import OpMetadata

HEAD = re.compile(r"(ROOT\s++)?+(%?[A-Za-z_][\w.-]*+)\s*+=", re.ASCII)
# A whole instruction up to its operands, as long as its shape is an array (looked up by its spelling) or a flat tuple.
LINE = re.compile(
  r"\s*+(ROOT\s++)?+(%?[A-Za-z_][\w.-]*+)\s*+=\s*+"
  r"([a-z]\w*+\[[^\[\]{}()/]*+\](?:\{[\d:][^{}/]*+\})?+|\([^()]++\))\s++([a-z][\w-]*+)\(",
  re.ASCII,
)
OPCODE = re.compile(r"([a-z][\w-]*+)\s*+\(", re.ASCII)
PLAIN_OPERANDS = re.compile(r"([\w.%, -]*+)\)", re.ASCII)
ATTRIBUTE = re.compile(r",\s*+([A-Za-z_][\w-]*+)=", re.ASCII)
NAMED_VALUE = re.compile(r"[A-Za-z_][\w-]*+=", re.ASCII)
METADATA_SPAN = re.compile(r'\{[^{}"]*+(?:"[^"\\]*+"[^{}"]*+)*+\}')
OPERAND_NAME = re.compile(r"%?([A-Za-z_][\w.-]*+)", re.ASCII)
COMPUTATION_START = re.compile(r"(?:ENTRY\s++)?+%?[A-Za-z_][\w.-]*+\s*+[({]", re.ASCII)

UNKNOWN_SHAPE = Shape("opaque")


class Parser:
  def __init__(self, text: str) -> None:
    self.cursor: Cursor = Cursor(text)
    self.shapes: ShapeReader = ShapeReader(self.cursor)
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
    start = cursor.pos
    is_named = self.shapes.try_shape() is None  # `f32[4] negate(%x)` is an instruction, too
    cursor.pos = start
    named = self._instruction(computation, scope)[0] if is_named else self._right_side("_", computation, scope)
    computation.root = named
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
    computation = self.body(take_name(name, self.computation_names))
    self.computations[name] = computation
    while cursor.accept(","):
      key = cursor.word("execution_thread")
      if key != "execution_thread":
        cursor.error(f"`{key}` is not an attribute of a computation", cursor.pos - len(key))
      cursor.expect("=")
      computation.execution_thread = cursor.string()
    return computation, is_entry

  def _signature(self) -> None:
    """`(p: f32[4], s32[]) -> f32[4]`: repeats the instructions."""
    cursor = self.cursor
    cursor.expect("(")
    first = True
    while not cursor.accept(")"):
      if not first:
        cursor.expect(",")
      first = False
      if self.shapes.try_shape() is not None:
        continue  # a parameter without a name
      if not cursor.match(OPERAND_NAME):
        cursor.error(f"expected the name of a parameter, found {cursor.found()}")
      cursor.expect(":", "after the name of a parameter")
      self.shapes.shape()
    cursor.expect("->", "before the result of a computation")
    self.shapes.shape()

  def body(self, name: str) -> Computation:
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
    match = LINE.match(cursor.text, cursor.pos)
    if match:
      root, name, spelled, opcode = match.groups()
      shape = self.shapes.known.get(spelled)
      reserved = name in RESERVED
      name = name.removeprefix("%")
      if shape is not None and not reserved and opcode in OPCODES and name not in scope:
        cursor.pos = match.end()
        instruction = self._operation(name, shape, opcode, None, match.start(4), computation, scope, False)
        scope[name] = instruction
        return instruction, root is not None
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
      name = cursor.name(
        "an instruction or `}`" if cursor.text.strip() else "a module, as `HloModule NAME` and its computations"
      )
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
    return self._operation(name, shape, opcode, sugar, start, computation, scope, nested)

  def _operation(
    self,
    name: str,
    shape: Shape | None,
    opcode: str,
    sugar: tuple[str, str] | None,
    start: int,
    computation: Computation,
    scope: Scope,
    nested: bool,
  ) -> Instruction:
    """Everything after the opening parenthesis."""
    cursor = self.cursor
    attrs: dict[str, Any] = {}
    operands: tuple[Instruction, ...] = ()
    if opcode == "parameter":
      attrs["parameter_number"] = cursor.integer("a parameter number")
      if attrs["parameter_number"] < 0:
        cursor.error("a parameter number is not negative", start)
      cursor.expect(")")
    elif opcode == "constant":
      if shape is None:
        cursor.error("a constant needs a shape", start)
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
      # One sharding for a tuple applies to all its leaves.
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
        pass  # the slow path below reports the error, or makes parameters
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
    """`%t#1`: element 1 of %t, created once per computation."""
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
    """Creates the computation that `custom-call-start(…)` implies, and moves the attributes of the call into it."""
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
      common = COMMON.get(name)
      if common is not None:
        common(self, instruction, scope)
        continue
      kind = ATTRIBUTE_KINDS.get(name)
      if kind is None or (name == "literal" and instruction.opcode != "custom-call"):
        cursor.error(f"`{name}` is not an attribute of {instruction.opcode}", at)
      if name in attrs:
        cursor.error(f"the attribute {name} appears twice", at)
      attrs[name] = READERS[kind](self)

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


def parse(text: str) -> Module:
  """Reads HLO text. Raises `HloParseError` with line and column where the text is not HLO."""
  parser = Parser(text)
  if not text.isascii():
    try:
      text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
      parser.cursor.error("this character is half of a surrogate pair", error.start)
  # Nothing allocated here is garbage until the end, so cyclic garbage collection only costs time (half of it).
  collecting = gc.isenabled()
  gc.disable()
  try:
    return parser.parse()
  except HloError:
    raise
  except RecursionError:
    reason = "this is nested too deeply"  # raised below, without the thousand frames of its context
  except Exception as error:  # text that a rule of this package did not expect
    reason = f"this cannot be read ({type(error).__name__}: {error})"
  finally:
    if collecting:
      gc.enable()
  start = text.rfind("\n", 0, parser.cursor.pos) + 1
  raise HloParseError(reason, text.count("\n", 0, parser.cursor.pos) + 1, parser.cursor.pos - start + 1, "")
