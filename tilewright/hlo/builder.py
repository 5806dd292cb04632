"""A builder: writing HLO from Python.

    b = Builder("axpy")
    a, x, y = b.parameter("f32"), b.parameter("f32", (8,)), b.parameter("f32", (8,))
    module = b.module(b.add(b.multiply(b.broadcast(a, (8,)), x), y))

`Builder(computation)` adds to an existing computation instead, at the end or before an instruction. `op` emits any opcode;
the named methods cover the opcodes that passes use most. Shapes are inferred unless given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tilewright.hlo.errors import HloGraphError
from tilewright.hlo.infer import infer_shape
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.opcodes import OPCODES
from tilewright.hlo.shape import Shape
from tilewright.hlo.values import OpMetadata, PaddingDim, SliceDim


class Builder:
  """Adds instructions to one computation."""

  def __init__(
    self,
    target: str | Computation = "computation",
    *,
    before: Instruction | None = None,
    metadata: OpMetadata | None = None,
  ) -> None:
    self.computation = Computation(target) if isinstance(target, str) else target
    self.before = before
    self.metadata = metadata
    self._names: dict[str, int] | None = None  # names in use, where there is no module to track them

  def op(
    self,
    opcode: str,
    operands: Iterable[Instruction] = (),
    shape: Shape | None = None,
    *,
    name: str | None = None,
    **attrs: Any,
  ) -> Instruction:
    """An instruction of any opcode; attributes by their names in the text."""
    if opcode not in OPCODES:
      raise HloGraphError(f"`{opcode}` is not an opcode of HLO")
    inputs = tuple(operands)
    for operand in inputs:
      if operand.parent is not self.computation:
        raise HloGraphError(f"%{operand.name} is not in computation %{self.computation.name}")
    if shape is None:
      shape = infer_shape(opcode, inputs, attrs)
    instruction = Instruction(name or opcode, opcode, shape, inputs, attrs, self.metadata)
    if self.computation.parent is None:
      from tilewright.hlo.ir import take_name

      if self._names is None:
        self._names = dict.fromkeys((i.name for i in self.computation.instructions), 0)
      instruction.name = take_name(instruction.name, self._names)
    if opcode == "fusion":
      attrs["calls"].is_fusion = True
    return self.computation.insert(instruction, before=self.before)

  def parameter(
    self, shape: Shape | str | np.typing.DTypeLike, dimensions: tuple[int, ...] = (), *, name: str | None = None
  ) -> Instruction:
    """The next parameter, from a shape or from an element type and dimensions."""
    whole = shape if isinstance(shape, Shape) else Shape.array(shape, dimensions)
    number = len(self.computation.parameters)
    return self.op("parameter", (), whole, name=name or f"p{number}", parameter_number=number)

  def constant(self, value: np.typing.ArrayLike | Literal, element_type: str | None = None) -> Instruction:
    if isinstance(value, Literal):
      literal = value
    else:
      array = np.asarray(value)
      literal = Literal.of(array if element_type is None else array.astype(Shape.array(element_type).dtype))
    return self.op("constant", (), literal.shape, literal=literal)

  def make_tuple(self, *elements: Instruction) -> Instruction:
    return self.op("tuple", elements)

  def element(self, of: Instruction, index: int) -> Instruction:
    return self.op("get-tuple-element", (of,), index=index)

  def unary(self, opcode: str, x: Instruction) -> Instruction:
    return self.op(opcode, (x,))

  def add(self, x: Instruction, y: Instruction) -> Instruction:
    return self.op("add", (x, y))

  def subtract(self, x: Instruction, y: Instruction) -> Instruction:
    return self.op("subtract", (x, y))

  def multiply(self, x: Instruction, y: Instruction) -> Instruction:
    return self.op("multiply", (x, y))

  def compare(self, x: Instruction, y: Instruction, direction: str) -> Instruction:
    return self.op("compare", (x, y), direction=direction)

  def select(self, predicate: Instruction, on_true: Instruction, on_false: Instruction) -> Instruction:
    return self.op("select", (predicate, on_true, on_false))

  def convert(self, x: Instruction, element_type: str) -> Instruction:
    return self.op("convert", (x,), x.shape.with_element_type(element_type))

  def broadcast(self, x: Instruction, dimensions: tuple[int, ...], at: Sequence[int] = ()) -> Instruction:
    """`x` with its dimension i placed at `at[i]` of the result."""
    return self.op("broadcast", (x,), x.shape.with_dimensions(tuple(dimensions)), dimensions=tuple(at))

  def reshape(self, x: Instruction, dimensions: tuple[int, ...]) -> Instruction:
    return self.op("reshape", (x,), x.shape.with_dimensions(tuple(dimensions)))

  def transpose(self, x: Instruction, permutation: Sequence[int]) -> Instruction:
    return self.op("transpose", (x,), dimensions=tuple(permutation))

  def slice(self, x: Instruction, *parts: tuple[int, int] | tuple[int, int, int]) -> Instruction:
    return self.op("slice", (x,), slice=tuple(SliceDim(*part) for part in parts))

  def pad(self, x: Instruction, value: Instruction, *parts: tuple[int, int] | tuple[int, int, int]) -> Instruction:
    return self.op("pad", (x, value), padding=tuple(PaddingDim(*part) for part in parts))

  def dynamic_slice(self, x: Instruction, starts: Sequence[Instruction], sizes: Sequence[int]) -> Instruction:
    return self.op("dynamic-slice", (x, *starts), dynamic_slice_sizes=tuple(sizes))

  def dynamic_update_slice(self, x: Instruction, update: Instruction, starts: Sequence[Instruction]) -> Instruction:
    return self.op("dynamic-update-slice", (x, update, *starts))

  def iota(self, element_type: str, dimensions: tuple[int, ...], dimension: int = 0) -> Instruction:
    return self.op("iota", (), Shape.array(element_type, dimensions), iota_dimension=dimension)

  def dot(
    self,
    lhs: Instruction,
    rhs: Instruction,
    *,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
  ) -> Instruction:
    attrs: dict[str, Any] = {
      "lhs_contracting_dims": tuple(contracting[0]),
      "rhs_contracting_dims": tuple(contracting[1]),
    }
    if batch[0]:
      attrs |= {"lhs_batch_dims": tuple(batch[0]), "rhs_batch_dims": tuple(batch[1])}
    return self.op("dot", (lhs, rhs), **attrs)

  def reduce(self, x: Instruction, init: Instruction, dimensions: Sequence[int], to_apply: Computation) -> Instruction:
    return self.op("reduce", (x, init), dimensions=tuple(dimensions), to_apply=to_apply)

  def call(self, to_apply: Computation, *operands: Instruction) -> Instruction:
    return self.op("call", operands, to_apply=to_apply)

  def while_loop(self, init: Instruction, condition: Computation, body: Computation) -> Instruction:
    return self.op("while", (init,), condition=condition, body=body)

  def finish(self, root: Instruction) -> Computation:
    """Sets the root and returns the computation."""
    if root.parent is not self.computation:
      raise HloGraphError(f"%{root.name} is not in computation %{self.computation.name}")
    self.computation.root = root
    return self.computation

  def module(self, root: Instruction, name: str | None = None) -> Module:
    """A module whose entry is this computation; the computations it calls, directly or not, are included."""
    entry = self.finish(root)
    module = Module(name or entry.name)
    added: set[Computation] = set()

    def add(computation: Computation) -> None:
      if computation in added:
        return
      added.add(computation)
      for instruction in computation.instructions:
        for called in instruction.called_computations:
          add(called)
      module.add_computation(computation)

    add(entry)
    module.entry = entry
    return module
