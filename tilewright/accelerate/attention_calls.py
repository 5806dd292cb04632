"""An attention that was found, as calls of the library's kernels in place of its products.

Operands are what the products have, brought into the order (batch, length, depth) of the kernels: by a bitcast where they lie in memory so,
else by a transposition. Results go the same way back. After that, nothing uses the arrays of all pairs of queries and keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tilewright.accelerate import library
from tilewright.accelerate.attention import Match, Place, Use, base_of, operand_place, result_place, same_array
from tilewright.accelerate.calls import Codes, remove_dead, replace
from tilewright.accelerate.graph import Node, Refused, View, layouts_are_settled, physical_order
from tilewright.hlo import Instruction, Shape
from tilewright.ops import calling
from tilewright.ops.attention import attention_backward, attention_forward, plan_for

PLATFORMS = ("cpu",)


class Rewrite:
  """One attention in one computation."""

  def __init__(self, match: Match, view: View, codes: Codes, platform: str):
    self.match, self.view, self.codes, self.platform = match, view, codes, platform
    self.names: list[str] = []

  def run(self) -> list[str]:
    """Put the calls in; gives the names of their code."""
    m = self.match
    if self.platform not in PLATFORMS:
      raise Refused(f"attention is found for {', '.join(PLATFORMS)} only")
    homes = [self._home(u.dot) for u in (m.out, m.dv, m.dq, m.dk) if u is not None]
    scores = self.view.within[m.scores]
    self._check_dead(scores, homes)
    q_side, k_side = (0, 1) if m.keys_last else (1, 0)
    first = min(homes, key=_position)
    q = self._array(operand_place(m.scores, q_side, False), first)
    k = self._array(operand_place(m.scores, k_side, False), first)
    v = self._array(self._values(), first)
    dtype = jnp.dtype(q.shape.dtype)
    if len({o.shape.element_type for o in (q, k, v)}) > 1:
      raise Refused("q, k and v have different types")
    if dtype not in calling.FLOATS:
      raise Refused(f"attention is not computed in {dtype}")
    if self.platform != "cpu" and dtype.itemsize != 2:
      raise Refused(f"tensor cores multiply {dtype} for XLA, with less precision; the library's kernels do not")
    plan = self._plan(q, k, v)

    def forward(*operands: Any) -> tuple[Any, Any]:
      out, kept = attention_forward(plan, *(x[None] for x in operands))
      return out[0], kept[4]

    (out, lse), names = library.call(forward, [q, k, v], first, self.platform, self.codes)
    self.names += names
    replaced: dict[Instruction, Instruction] = {}
    if m.out is not None:
      self._put(m.out, out, replaced)
    if m.has_slopes:
      assert m.dv is not None and m.dq is not None and m.dk is not None
      later = min([self._home(u.dot) for u in (m.dv, m.dq, m.dk)], key=_position)
      g = self._array(operand_place(m.dv.dot, 1 - m.dv.side, True), later)
      if g.shape.element_type != q.shape.element_type:
        raise Refused("the derivative has another type than q, k and v")

      def backward(q: Any, k: Any, v: Any, out: Any, lse: Any, g: Any) -> tuple[Any, ...]:
        found = attention_backward(plan, (q[None], k[None], v[None], out[None], lse), g[None])
        return tuple(x[0] for x in found)

      slopes, names = library.call(backward, [q, k, v, out, lse, g], later, self.platform, self.codes)
      self.names += names
      for use, value in zip((m.dq, m.dk, m.dv), slopes):
        self._put(use, value, replaced)
    remove_dead([*homes, scores])
    return self.names

  def _plan(self, q: Instruction, k: Instruction, v: Instruction) -> Any:
    band = self.match.band
    shapes: list[Any] = [_Shaped((1, *o.shape.dimensions), jnp.dtype(o.shape.dtype)) for o in (q, k, v)]
    how = calling.How(False, None, self.platform != "cpu")
    return plan_for(shapes[0], shapes[1], shapes[2], self.match.scale, band.left, band.right, 0, how)

  def _values(self) -> Place:
    m = self.match
    if m.out is not None:
      return operand_place(m.out.dot, 1 - m.out.side, True)
    assert m.dp is not None and m.dv is not None
    g = operand_place(m.dv.dot, 1 - m.dv.side, True)
    side = next(i for i in (0, 1) if same_array(operand_place(m.dp, i, False), g))
    return operand_place(m.dp, 1 - side, False)

  def _home(self, node: Node) -> Instruction:
    found = self.view.home.get(node)
    if found is None:
      raise Refused("a product of it is fused with other operations")
    return found

  def _check_dead(self, scores: Instruction, homes: Sequence[Instruction]) -> None:
    """That nothing else uses the scores, or what is computed of them."""
    gone = set(homes)
    assert scores.parent is not None
    for instruction in reversed(scores.parent.topological_order()):
      if instruction.users and not instruction.is_root and all(u in gone for u in instruction.users):
        gone.add(instruction)
    if scores not in gone:
      raise Refused("the scores or the weights are used elsewhere too")
    if any(h.is_root for h in homes) and len(homes) > 1:
      raise Refused("a product of it is the result of the program")

  def _array(self, place: Place, before: Instruction) -> Instruction:
    """A value as (batch, length, depth), row-major: one that lies in memory so, or else a transposition."""
    source, order = self._source(place, before)
    element_type, dims = source.shape.element_type, source.shape.dimensions
    flat = Shape.array(element_type, place.sizes)
    lies = physical_order(source.shape)
    if [d for d in order if dims[d] != 1] == [d for d in lies if dims[d] != 1]:
      return _bitcast(source, flat, before)
    plain = _bitcast(source, Shape.array(element_type, tuple(dims[d] for d in lies)), before)
    permutation = tuple(lies.index(d) for d in order)
    turned = Shape.array(element_type, tuple(dims[d] for d in order))
    return _bitcast(_transposed(plain, turned, permutation, before), flat, before)

  def _source(self, place: Place, before: Instruction) -> tuple[Instruction, tuple[int, ...]]:
    """An instruction that has this array, and its dimensions as (batch, length, depth)."""
    for node, home in self.view.home.items():
      if base_of(node) is base_of(place.node) and _position(home) < _position(before):
        lies = physical_order(home.shape)
        if _cut(node, lies, place.sizes) and same_array(Place(node, lies, place.sizes), place):
          return home, lies
    node, order = place.node, place.order
    while node not in self.view.home:
      if node.opcode != "transpose":
        raise Refused("an operand of it is computed inside of a fusion")
      permutation = node.attrs["permutation"]
      order, node = tuple(permutation[d] for d in order), node.operands[0]
    return self.view.home[node], order

  def _put(self, use: Use, value: Instruction, replaced: dict[Instruction, Instruction]) -> None:
    """A result (batch, length, depth), row-major, in place of a product."""
    home, place = self._home(use.dot), result_place(use)
    shape, computation = home.shape, home.parent
    assert computation is not None
    if value.shape.element_type != shape.element_type:
      wide = Shape.array(shape.element_type, value.shape.dimensions)
      value = computation.insert(Instruction("convert", "convert", wide, (value,)), before=home)
    lies = physical_order(shape)
    if [d for d in place.order if shape.dimensions[d] != 1] != [d for d in lies if shape.dimensions[d] != 1]:
      plain = _bitcast(value, Shape.array(shape.element_type, tuple(shape.dimensions[d] for d in place.order)), home)
      physical = Shape.array(shape.element_type, tuple(shape.dimensions[d] for d in lies))
      value = _transposed(plain, physical, tuple(place.order.index(d) for d in lies), home)
    replace(home, None, _bitcast(value, shape, home), replaced)


@dataclasses.dataclass(frozen=True)
class _Shaped:
  shape: tuple[int, ...]
  dtype: Any


def _position(instruction: Instruction) -> int:
  assert instruction.parent is not None
  return instruction.parent.topological_order().index(instruction)


def _cut(node: Node, order: Sequence[int], sizes: tuple[int, int, int]) -> bool:
  """Whether dimensions in an order end with those of length and depth."""
  dims = [node.dims[d] for d in order]
  return len(dims) >= 2 and tuple(dims[-2:]) == sizes[1:]


def _transposed(x: Instruction, shape: Shape, permutation: tuple[int, ...], before: Instruction) -> Instruction:
  assert before.parent is not None
  made = Instruction("transpose", "transpose", shape, (x,), {"dimensions": permutation}, before.metadata)
  return before.parent.insert(made, before=before)


def _bitcast(x: Instruction, shape: Shape, before: Instruction) -> Instruction:
  if x.shape == shape or (x.shape.dimensions == shape.dimensions and not layouts_are_settled.get()):
    return x
  assert before.parent is not None
  opcode = "bitcast" if layouts_are_settled.get() else "reshape"
  return before.parent.insert(Instruction(opcode, opcode, shape, (x,), {}, before.metadata), before=before)
