"""A region from instructions of a computation: fusions and calls are opened, tuples taken apart.

    region_of([fusion.1, reduce.2, fusion.3])     Region(inputs=…, outputs=…, body=one flat computation)

Constants of one element come along, so that the body sees their values. What XLA computed in several fusions, with the same operands and
attributes, is one instruction of the body.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Computation, Instruction, take_name
from tilewright.hlo.literal import Literal
from tilewright.hlo.shape import Shape, ShapeIndex
from tilewright.hlo.tiling.op_maps import CannotTile
from tilewright.hlo.tiling.region import Region, RegionOutput

Value = Instruction | tuple["Value", ...]  # of the body; nested tuples are Python's


def region_of(members: Iterable[Instruction], outputs: Iterable[Instruction] | None = None) -> Region | CannotTile:
  """The region that these instructions of one computation are. Outputs are what others use, unless they are named.

  A get-tuple-element of a member is a member, too; one of something else is an input.
  """
  chosen = dict.fromkeys(members)
  if not chosen:
    return CannotTile("there is nothing in the region")
  parents = {m.parent for m in chosen}
  parent = next(iter(chosen)).parent
  if len(parents) != 1 or parent is None:
    return CannotTile("its instructions are not all in one computation")
  for member in list(chosen):
    if member.shape.is_tuple:
      chosen |= dict.fromkeys(u for u in member.users if u.opcode == "get-tuple-element")
  chosen = {m: None for m in chosen if m.opcode != "get-tuple-element" or m.operands[0] in chosen}
  order = [i for i in parent.topological_order() if i in chosen]
  opened = _Opened(Computation("region"))
  values: dict[Instruction, Value] = {}
  inputs: list[Instruction] = []
  for member in order:
    for operand in member.operands:
      if operand in values:
        continue
      if operand.opcode == "constant" and operand.shape.num_elements == 1:
        values[operand] = opened.add(operand, ())
      elif not operand.shape.is_array:
        return CannotTile(f"it reads %{operand.name}, which is {operand.shape}", member)
      else:
        values[operand] = opened.parameter(operand, len(inputs))
        inputs.append(operand)
    found = opened.value(member, [values[o] for o in member.operands])
    if isinstance(found, CannotTile):
      return found
    values[member] = found
  named = None if outputs is None else set(outputs)
  results: list[RegionOutput] = []
  for member in order:
    outside = member.is_root or any(u not in chosen for u in member.users)
    if outside if named is None else member in named:
      if member.opcode == "tuple" and not member.is_root:
        return CannotTile("a tuple leaves the region", member)
      results += [RegionOutput(member, index, root) for index, root in _leaves(values[member], ())]
  roots = [r.root for r in results]
  if not roots:
    return CannotTile("nothing outside uses it")
  body = opened.finish(roots)
  return Region(parent, tuple(order), tuple(inputs), tuple(results), body)


def _leaves(value: Value, index: ShapeIndex) -> list[tuple[ShapeIndex, Instruction]]:
  if isinstance(value, Instruction):
    return [(index, value)]
  return [leaf for i, part in enumerate(value) for leaf in _leaves(part, (*index, i))]


class _Opened:
  """Adds instructions to a flat computation; equal ones once."""

  def __init__(self, body: Computation) -> None:
    self.body = body
    self.names: dict[str, int] = {}
    self.known: dict[tuple[object, ...], Instruction] = {}

  def parameter(self, source: Instruction, number: int) -> Instruction:
    made = Instruction(source.name, "parameter", source.shape, (), {"parameter_number": number}, source.metadata)
    return self._insert(made)

  def add(self, source: Instruction, operands: tuple[Instruction, ...]) -> Instruction:
    key = (source.opcode, source.shape, operands, tuple((k, _key(v)) for k, v in sorted(source.attrs.items())))
    if key not in self.known:
      made = clone_instruction(source, operands)
      made.sharding = None
      self.known[key] = self._insert(made)
    return self.known[key]

  def _insert(self, made: Instruction) -> Instruction:
    made.name = take_name(made.name, self.names)
    return self.body.insert(made)

  def value(self, source: Instruction, operands: list[Value]) -> Value | CannotTile:
    match source.opcode:
      case "tuple":
        return tuple(operands)
      case "get-tuple-element":
        whole = operands[0]
        assert isinstance(whole, tuple)
        return whole[source.attrs["index"]]
      case "opt-barrier":
        return operands[0]
      case "fusion" | "call":
        inside = source.called_computations[0]
        values: dict[Instruction, Value] = {p: operands[p.parameter_number] for p in inside.parameters}
        for i in inside.topological_order():
          if i not in values:
            found = self.value(i, [values[o] for o in i.operands])
            if isinstance(found, CannotTile):
              return found
            values[i] = found
        return values[inside.root]
    arrays = tuple(o for o in operands if isinstance(o, Instruction))
    if len(arrays) != len(operands):
      return CannotTile("it takes a tuple", source)
    made = self.add(source, arrays)
    if not source.shape.is_tuple:
      return made
    if any(not part.is_array for part in source.shape.tuple_shapes):
      return CannotTile(f"it makes {source.shape}", source)
    return tuple(
      self.add(Instruction(f"{source.name}.{i}", "get-tuple-element", part, (), {"index": i}), (made,))
      for i, part in enumerate(source.shape.tuple_shapes)
    )

  def finish(self, roots: list[Instruction]) -> Computation:
    """Sets the root and drops what it does not need."""
    self.body.root = (
      roots[0]
      if len(roots) == 1
      else self._insert(Instruction("outputs", "tuple", Shape.tuple_of(*(r.shape for r in roots)), tuple(roots)))
    )
    needed: set[Instruction] = set()
    stack = [self.body.root]
    while stack:
      top = stack.pop()
      if top not in needed:
        needed.add(top)
        stack += top.operands
    unused = [i for i in self.body.instructions if i not in needed and i.opcode != "parameter"]
    self.body.remove_all(unused)
    return self.body


def _key(value: object) -> object:
  """Equal for equal attributes: literals by their bytes, computations by what they compute."""
  if isinstance(value, Literal):
    return value.shape, id(value) if value.value is None else value.value.tobytes()
  if isinstance(value, Computation):
    number = {i: n for n, i in enumerate(value.topological_order())}
    return tuple(
      (i.opcode, i.shape, tuple(number[o] for o in i.operands), tuple((k, _key(v)) for k, v in sorted(i.attrs.items())))
      for i in number
    ) + (number[value.root],)
  if isinstance(value, tuple):
    return tuple(map(_key, value))
  try:
    hash(value)
  except TypeError:
    return id(value)
  return value
