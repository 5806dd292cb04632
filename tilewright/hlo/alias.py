"""Which outputs share buffers with operands.

*Must*: the back end has no choice, because the operation is defined in place: a while loop's state, the buffer a
dynamic-update-slice or a scatter updates, an all-reduce-start and its done, the destination of a permute of slices,
what `output_to_operand_aliasing` declares, and a module's must-alias parameters. *May*: the back end may reuse the
operand's buffer if nothing reads it afterwards: equal-sized elementwise operands, may-alias parameters, donors. Tuples
forward buffers: a tuple, a get-tuple-element, a bitcast, a barrier or a domain allocates no new buffer (`forwards`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.shape import ShapeIndex


@dataclass(frozen=True, slots=True)
class Alias:
  """Output part `output_index` and part `operand_index` of operand number `operand` in one buffer."""

  output_index: ShapeIndex
  operand: int
  operand_index: ShapeIndex


FORWARDING = frozenset({"bitcast", "opt-barrier", "domain", "add-dependency"})


def _whole(instruction: Instruction, operand: int, output: ShapeIndex = ()) -> list[Alias]:
  """Every leaf of an operand with the same leaf below `output`."""
  return [Alias((*output, *index), operand, index) for index, _ in instruction.operands[operand].shape.leaves()]


def forwards(instruction: Instruction) -> list[Alias]:
  """Outputs that alias operands because the instruction performs no operation."""
  match instruction.opcode:
    case "tuple":
      return [alias for i in range(len(instruction.operands)) for alias in _whole(instruction, i, (i,))]
    case "get-tuple-element":
      index = instruction.attrs["index"]
      return [Alias(path, 0, (index, *path)) for path, _ in instruction.shape.leaves()]
    case opcode if opcode in FORWARDING and instruction.operands:
      return _whole(instruction, 0)
  return []


def must_alias(instruction: Instruction) -> list[Alias]:
  """In-place pairs the back end must honour."""
  opcode = instruction.opcode
  found: list[Alias] = []
  if opcode == "dynamic-update-slice":
    found.append(Alias((), 0, ()))
  elif opcode == "scatter":
    count = len(instruction.operands) // 2
    found += [Alias((i,) if instruction.shape.is_tuple else (), i, ()) for i in range(count)]
  elif opcode == "while":
    found += _whole(instruction, 0)
  elif opcode == "all-reduce-start":
    count = len(instruction.operands)
    found += [Alias((i,) if instruction.shape.is_tuple else (), i, ()) for i in range(count)]
  elif opcode == "all-reduce-done":
    found += _whole(instruction, 0)
  elif opcode in ("collective-permute", "collective-permute-start") and is_in_place_permute(instruction):
    # It receives into its second operand; a start forwards its first operand.
    if opcode == "collective-permute":
      found += _whole(instruction, 1)
    else:
      found += [*_whole(instruction, 0, (0,)), *_whole(instruction, 1, (1,))]
  elif opcode in ("all-gather-start", "collective-permute-start"):
    # The result tuple forwards the operands as its first element.
    first = instruction.shape.tuple_shapes[0] if instruction.shape.tuple_shapes else None
    if first is not None and first.is_tuple:
      found += [Alias((0, i), i, ()) for i in range(min(len(first.tuple_shapes), len(instruction.operands)))]
    elif first is not None:
      found.append(Alias((0,), 0, ()))
  elif opcode == "async-start":
    found += [a for i in range(len(instruction.operands)) for a in _whole(instruction, i, (0, i))]
  elif opcode == "async-update":
    found += _whole(instruction, 0)
  elif opcode in ("async-done", "all-gather-done", "collective-permute-done"):
    found += [Alias(path, 0, (1, *path)) for path, _ in instruction.shape.leaves()]
  elif opcode == "copy-start":
    found.append(Alias((1,), 0, ()))
  elif opcode == "copy-done":
    found.append(Alias((), 0, (0,)))
  elif opcode == "send":
    found += _whole(instruction, 0, (0,))
  elif opcode == "recv-done":
    found += [Alias((0, *path), 0, (0, *path)) for path, _ in instruction.shape.tuple_shapes[0].leaves()]
  for alias in instruction.attrs.get("output_to_operand_aliasing", ()):
    found.append(Alias(alias.output_index, alias.operand, alias.operand_index))
  return found


def is_in_place_permute(instruction: Instruction) -> bool:
  """A collective-permute (or its start) of slices: `(source, destination, source indices, destination indices)`."""
  return "slice_sizes" in instruction.attrs and len(instruction.operands) == 4


def fusion_in_place(fusion: Instruction) -> list[Alias]:
  """Outputs of a fusion that update one of its operands in place: a chain of updates and scatters that starts at a parameter."""
  root = fusion.called_computations[0].root
  outputs = root.operands if root.opcode == "tuple" else (root,)
  found: list[Alias] = []
  for number, output in enumerate(outputs):
    value, updates = output, False
    while value.opcode in ("dynamic-update-slice", "scatter", "bitcast", "copy", "get-tuple-element"):
      updates |= value.opcode in ("dynamic-update-slice", "scatter")
      value = value.operands[0]
    if updates and value.opcode == "parameter":
      found.append(Alias((number,) if root.opcode == "tuple" else (), value.parameter_number, ()))
  return found


def may_alias(instruction: Instruction) -> list[Alias]:
  """Pairs where an elementwise result fits an operand's buffer; reuse is the back end's choice."""
  if instruction.opcode not in ELEMENTWISE or not instruction.shape.is_array:
    return []
  size, layout = instruction.shape.byte_size, instruction.shape.layout
  order = layout.minor_to_major if layout else ()
  return [
    Alias((), i, ())
    for i, operand in enumerate(instruction.operands)
    if operand.shape.is_array
    and operand.shape.byte_size == size
    and operand.shape.dimensions == instruction.shape.dimensions
    and (operand.shape.layout.minor_to_major if operand.shape.layout else ()) == order
  ]


@dataclass(frozen=True, slots=True)
class ModuleAliases:
  """(output index, parameter number, parameter index) of the entry computation; donors have no fixed output."""

  must: tuple[tuple[ShapeIndex, int, ShapeIndex], ...]
  may: tuple[tuple[ShapeIndex, int, ShapeIndex], ...]
  donors: tuple[tuple[int, ShapeIndex], ...]


def module_aliases(module: Module) -> ModuleAliases:
  """Which outputs of `module` must or may share their buffers with parameters, and which parameters are donated."""
  rows = [(a.kind, (a.output_index, a.parameter, a.parameter_index)) for a in module.input_output_alias]
  return ModuleAliases(
    tuple(row for kind, row in rows if kind == "must-alias"),
    tuple(row for kind, row in rows if kind != "must-alias"),
    tuple((d.parameter, d.parameter_index) for d in module.buffer_donor),
  )


def buffer_source(instruction: Instruction, index: ShapeIndex = ()) -> tuple[Instruction, ShapeIndex]:
  """The instruction and output part that first allocated the buffer of this value, through forwarding and must-alias pairs."""
  while True:
    for alias in (*forwards(instruction), *must_alias(instruction)):
      if alias.output_index == index:
        instruction, index = instruction.operands[alias.operand], alias.operand_index
        break
    else:
      return instruction, index
