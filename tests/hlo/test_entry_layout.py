"""A program takes and gives arrays in the layouts that JAX was told, whatever layouts passes leave at the entry.

What is wrong there does not show on the host, which reads an array in the layout it has, but in programs that read it on the device.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo import Instruction, Module, Shape
from tilewright.hlo.entry_layout import keep_entry_layout

X = jnp.asarray(np.arange(8 * 16, dtype=np.float32).reshape(8, 16))


def _turned(shape: Shape) -> Shape:
  assert shape.layout is not None
  return dataclasses.replace(shape, layout=dataclasses.replace(shape.layout, minor_to_major=(0, 1)))


def _column_major(value: Instruction) -> Instruction:
  assert value.parent is not None
  return value.parent.insert(Instruction("turned", "copy", _turned(value.shape), (value,)), after=value)


def turn_result(module: Module) -> bool:
  root = module.entry.root
  if root.opcode == "tuple":
    root.set_operands([_column_major(v) for v in root.operands])
    root.shape = Shape.tuple_of(*(v.shape for v in root.operands))
    module.entry.instructions.remove(root)
    module.entry.instructions.append(root)
  else:
    module.entry.root = _column_major(root)
  return True


def turn_argument(module: Module) -> bool:
  (x,) = module.entry.parameters
  plain = x.shape
  users = list(x.users)
  x.shape = _turned(plain)
  copy = module.entry.insert(Instruction("turned", "copy", plain, (x,)), after=x)
  for user in users:
    user.replace_uses_of(x, copy)
  return True


@pytest.mark.parametrize("turn", [turn_result, turn_argument])
@pytest.mark.parametrize(
  "f", [lambda x: jnp.tanh(x) * 2, lambda x: (jnp.tanh(x), {"a": x + 1, "b": jnp.exp(-x)})], ids=["array", "tuple"]
)
def test_results_and_arguments_keep_their_layouts(f, turn):
  expected = f(X)
  with hlo.install([turn], stage="pre_scheduler"):
    compiled = jax.jit(lambda x: f(x)).lower(X).compile()
  for found, wanted in zip(*map(jax.tree.leaves, (compiled(X), expected))):
    assert found.format.layout.major_to_minor == (0, 1)
    np.testing.assert_allclose(np.asarray(found * 1), wanted, rtol=1e-6)  # read on the device


def test_before_layouts_are_assigned_the_layout_of_a_transposition_means_nothing():
  """A GPU module as a hook gets it: the root has the layout that the lowering gave it."""
  module = hlo.parse("""HloModule m, entry_computation_layout={(f32[8,16]{1,0})->f32[16,8]{1,0}}
ENTRY e {
  x = f32[8,16]{1,0} parameter(0)
  ROOT t = f32[16,8]{0,1} transpose(x), dimensions={1,0}
}""")
  keep_entry_layout(module)
  hlo.verify(module)
  assert str(module.entry.root.shape) == "f32[16,8]{1,0}"
  values = np.arange(128, dtype=np.float32).reshape(8, 16)
  np.testing.assert_array_equal(hlo.evaluate(module, values), values.T)


def test_results_that_come_as_one_tuple_are_taken_apart():
  module = hlo.parse("""HloModule m, entry_computation_layout={(f32[8,16]{1,0})->(f32[16,8]{1,0}, f32[8,16]{1,0})}
ENTRY e {
  x = f32[8,16]{1,0} parameter(0)
  ROOT c = (f32[16,8]{0,1}, f32[8,16]{1,0}) custom-call(x), custom_call_target="f"
}""")
  keep_entry_layout(module)
  hlo.verify(module)
  root = module.entry.root
  assert root.opcode == "tuple" and [o.opcode for o in root.operands] == ["copy", "get-tuple-element"]
  assert [str(s) for s in root.shape.tuple_shapes] == ["f32[16,8]{1,0}", "f32[8,16]{1,0}"]


def test_what_is_in_order_is_left_alone():
  text = """HloModule m, entry_computation_layout={(f32[8,16]{1,0})->f32[8,16]{1,0}}
ENTRY e {
  x = f32[8,16]{1,0} parameter(0)
  ROOT t = f32[8,16]{1,0} tanh(x)
}"""
  module = hlo.parse(text)
  before = module.to_text()
  keep_entry_layout(module)
  assert module.to_text() == before
