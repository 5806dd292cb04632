"""The layouts of a program's arguments and results, kept while passes change its module.

XLA takes them from the module that a hook hands back: from the shapes of the entry's parameters and of its root, not from the module's
`entry_computation_layout`, which is what JAX was told. Before XLA has assigned layouts, on GPUs, these shapes say something else wherever a
lowering gave a transposition the layout that moves nothing:

    entry_computation_layout={(f32[8,16]{1,0})->f32[16,8]{1,0}}      ROOT t = f32[16,8]{0,1} transpose(x)

The program would return a column-major array then, and programs that read it as row-major, as JAX's do, would read other elements.
"""

from __future__ import annotations

import dataclasses

from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.shape import Shape


def keep_entry_layout(module: Module) -> None:
  """Give parameters and the root the orders of dimensions that the module promises; a result in another order is copied."""
  promised = module.entry_layout
  if promised is None or not promised.result.compatible(module.entry.root.shape):
    return
  for parameter, shape in zip(module.entry.parameters, promised.parameters):
    if parameter.shape.compatible(shape):
      parameter.shape = _in_order(parameter.shape, shape)
  root = module.entry.root
  shape = _in_order(root.shape, promised.result)
  if shape == root.shape:
    return
  if root.opcode == "tuple":
    parts = [_copied(module.entry, v, s) for v, s in zip(root.operands, shape.tuple_shapes)]
    _move_to_end(module.entry, root)
    root.set_operands(parts)
    root.shape = shape
  else:
    module.entry.root = _copied(module.entry, root, shape)


def _in_order(shape: Shape, promised: Shape) -> Shape:
  """A shape with the order of dimensions of another one, where both say one."""
  if shape.is_tuple:
    parts = tuple(_in_order(a, b) for a, b in zip(shape.tuple_shapes, promised.tuple_shapes))
    return shape if parts == shape.tuple_shapes else dataclasses.replace(shape, tuple_shapes=parts)
  if shape.layout is None or promised.layout is None:
    return shape
  order = promised.layout.minor_to_major
  if shape.layout.minor_to_major == order:
    return shape
  return dataclasses.replace(shape, layout=dataclasses.replace(shape.layout, minor_to_major=order))


def _copied(entry: Computation, value: Instruction, shape: Shape) -> Instruction:
  """A value in the layouts of a shape."""
  if _in_order(value.shape, shape) == value.shape:
    return value
  if not shape.is_tuple:
    return entry.insert(Instruction(f"{value.name}.in_order", "copy", shape, (value,), {}, value.metadata))
  parts = []
  for k, (own, wanted) in enumerate(zip(value.shape.tuple_shapes, shape.tuple_shapes)):
    element = Instruction(f"{value.name}.{k}", "get-tuple-element", own, (value,), {"index": k}, value.metadata)
    parts.append(_copied(entry, entry.insert(element), wanted))
  return entry.insert(Instruction(f"{value.name}.in_order", "tuple", shape, tuple(parts), {}, value.metadata))


def _move_to_end(entry: Computation, root: Instruction) -> None:
  """A root behind what was added for it, in the order in which a scheduled module runs."""
  entry.instructions.remove(root)
  entry.instructions.append(root)
