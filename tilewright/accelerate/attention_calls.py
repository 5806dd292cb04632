"""An attention that was found, as calls of the library's kernels in place of its products.

Operands are what the products have, brought into the order (batch, length, depth) of the kernels: by a bitcast where they lie in memory so,
else by a transposition. Results go the same way back. After that, nothing uses the arrays of all pairs of queries and keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tilewright.accelerate import axes, emit, library, tiles
from tilewright.accelerate.attention import (
  BatchedView,
  Match,
  Rows,
  ScoreProduct,
  base_of,
  operand_place,
  result_place,
  same_array,
)
from tilewright.accelerate.calls import Codes, call_of, in_layout_of, in_row_major, readable, remove_dead, replace
from tilewright.accelerate.graph import (
  Graph,
  Node,
  Output,
  Refused,
  View,
  is_float,
  is_row_major,
  known_dtype,
  layouts_are_settled,
  physical_order,
  unsettled,
)
from tilewright.hlo import Instruction, Shape
from tilewright.hlo.dtypes import element_type_of
from tilewright.ops import calling
from tilewright.ops.attention import attention_backward, attention_forward, plan_for


class Rewrite:
  """One attention in one computation."""

  def __init__(self, match: Match, view: View, codes: Codes, machine: tiles.Machine):
    self.match, self.view, self.codes, self.machine = match, view, codes, machine
    self.platform = machine.platform
    self.names: list[str] = []
    computation = view.within[match.scores].parent
    assert computation is not None
    self.computation = computation
    self.position = {i: n for n, i in enumerate(computation.topological_order())}
    self.users = Graph(view.nodes, (), ()).users()

  def run(self) -> list[str]:
    """Put the calls in; returns the names of their code. Nothing is left behind where that is refused."""
    try:
      return self._run()
    except Exception:
      added = [i for i in self.computation.instructions if i not in self.position]
      self.computation.remove_all(added)
      raise

  def _run(self) -> list[str]:
    m = self.match
    homes = [self._home(u.dot) for u in (m.out, m.dv, m.dq, m.dk) if u is not None]
    scores = self.view.within[m.scores]
    self._check_dead(scores, homes)
    q_side, k_side = (0, 1) if m.keys_last else (1, 0)
    first = min(homes, key=self.position.__getitem__)
    q = self._array(operand_place(m.scores, q_side, False), first)
    k = self._array(operand_place(m.scores, k_side, False), first)
    v = self._array(self._values(), first)
    g: Instruction | None = None
    later = first
    if m.has_slopes:
      assert m.dv is not None and m.dq is not None and m.dk is not None
      later = min([self._home(u.dot) for u in (m.dv, m.dq, m.dk)], key=self.position.__getitem__)
      g = self._array(operand_place(m.dv.dot, 1 - m.dv.side, True), later)
    dtype, rows = self._dtype([x for x in (q, k, v, g) if x is not None]), m.rows
    plan = self._plan(q, k, v, dtype)

    def forward(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
      q, k, v = (x.astype(dtype) for x in (_heads(q, rows[m.scores]), k[None], v[None]))
      out, residuals = attention_forward(plan, q, k, v)
      return out, residuals[4]

    (out, lse), names = library.call(forward, [q, k, v], first, self.platform, self.codes)
    self.names += names
    results: list[tuple[ScoreProduct, Instruction]] = []
    if m.out is not None:
      order = rows[m.out.dot]
      (result,), _ = library.call(lambda x: _matrices(x, order), [out], first, self.platform, self.codes)
      results.append((m.out, result))
    if g is not None:
      assert m.dv is not None and m.dq is not None and m.dk is not None
      of_scores, of_dv, of_dq = (rows[n] for n in (m.scores, m.dv.dot, m.dq.dot))

      def backward(q: Any, k: Any, v: Any, out: Any, lse: Any, g: Any) -> tuple[Any, ...]:
        q, k, v, g = (x.astype(dtype) for x in (_heads(q, of_scores), k[None], v[None], _heads(g, of_dv)))
        dq, dk, dv = attention_backward(plan, (q, k, v, out, lse), g)
        return _matrices(dq, of_dq), dk[0], dv[0]

      slopes, names = library.call(backward, [q, k, v, out, lse, g], later, self.platform, self.codes)
      self.names += names
      results += zip((m.dq, m.dk, m.dv), slopes)
    replaced: dict[Instruction, Instruction] = {}
    for use, value in results:  # from here on nothing is refused
      self._put(use, value, replaced)
    remove_dead([*homes, scores])
    return self.names

  def _dtype(self, operands: Sequence[Instruction]) -> Any:
    """What the kernels compute in: the widest type of an operand, and float32 if a product's result is used with more than that has."""
    m = self.match
    dtype = jnp.result_type(*(o.shape.dtype for o in operands))
    results = [u.dot for u in (m.out, m.dv, m.dq, m.dk) if u is not None]
    if any(r.dtype.itemsize > dtype.itemsize and not self._is_rounded(r, dtype.itemsize) for r in results):
      dtype = jnp.result_type(dtype, *(r.dtype for r in results))
    if dtype not in calling.FLOATS:
      raise Refused(f"attention is not computed in {dtype}")
    products = [m.scores, m.dp, *(u.dot for u in (m.out, m.dv, m.dq, m.dk) if u is not None)]
    is_wide = all(p.attrs["precision"] == "highest" for p in products if p is not None)
    if self.platform != "cpu" and dtype.itemsize != 2 and not is_wide:
      raise Refused(f"tensor cores multiply {dtype} for XLA, with less precision; the library's kernels do not")
    return jnp.dtype(dtype)

  def _is_rounded(self, node: Node, itemsize: int) -> bool:
    """Whether all that uses a value rounds it to floats of so many bytes first."""
    users = self.users[node]
    home = self.view.home.get(node)
    if not users or (home is not None and home.is_root):
      return False
    return all(
      (u.opcode == "convert" and is_float(u.dtype) and u.dtype.itemsize <= itemsize)
      or (u.opcode in ("transpose", "reshape") and self._is_rounded(u, itemsize))
      for u in users
    )

  def _plan(self, q: Instruction, k: Instruction, v: Instruction, dtype: Any) -> Any:
    band = self.match.band
    before, length, after = self.match.rows[self.match.scores]
    sizes: list[tuple[int, ...]] = [(1, q.shape.dimensions[0] * before * after, length, q.shape.dimensions[2])]
    sizes += [(1, *o.shape.dimensions) for o in (k, v)]
    shapes: list[Any] = [_Shaped(s, dtype) for s in sizes]
    how = calling.Execution(False, None, self.platform != "cpu")
    return plan_for(shapes[0], shapes[1], shapes[2], self.match.scale, band.left, band.right, 0, how)

  def _values(self) -> BatchedView:
    m = self.match
    if m.out is not None:
      return operand_place(m.out.dot, 1 - m.out.side, True)
    assert m.dp is not None and m.dv is not None
    g = operand_place(m.dv.dot, 1 - m.dv.side, True)
    side = next(i for i in (0, 1) if same_array(operand_place(m.dp, i, False), g))
    return operand_place(m.dp, 1 - side, False)

  def _home(self, node: Node) -> Instruction:
    return self.view.home[self._seen(node)]

  def _seen(self, node: Node) -> Node:
    """A value as an instruction has it: itself, or moved by the fusion in which it is computed."""
    left = [node]
    while left:
      here = left.pop()
      if here in self.view.home:
        return here
      left += [u for u in self.users[here] if u.opcode in ("reshape", "transpose")]
    raise Refused("a product of it is fused with other operations")

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

  def _array(self, place: BatchedView, before: Instruction) -> Instruction:
    """A value as (batch, length, depth), row-major: one that lies in memory so, or else a transposition."""
    source, order = self._source(place, before)
    source = in_row_major(source, before)
    element_type, dims = source.shape.element_type, source.shape.dimensions
    flat = Shape.array(element_type, place.sizes)
    minor_last = physical_order(source.shape)
    if [d for d in order if dims[d] != 1] == [d for d in minor_last if dims[d] != 1]:
      return _bitcast(source, flat, before)
    plain = _bitcast(source, Shape.array(element_type, tuple(dims[d] for d in minor_last)), before)
    permutation = tuple(minor_last.index(d) for d in order)
    transposed = Shape.array(element_type, tuple(dims[d] for d in order))
    return _bitcast(_transposed(plain, transposed, permutation, before), flat, before)

  def _source(self, place: BatchedView, before: Instruction) -> tuple[Instruction, tuple[int, ...]]:
    """An instruction that has this array, and its dimensions as (batch, length, depth)."""
    base, found = base_of(place.node), []
    for node, home in self.view.home.items():
      if base_of(node) is base and self.position[home] < self.position[before]:
        minor_last = physical_order(home.shape)
        if _cut(node, minor_last, place.sizes) and same_array(BatchedView(node, minor_last, place.sizes), place):
          found.append((home, minor_last))
    if found:
      return min(found, key=lambda f: (f[0].shape.byte_size, not is_row_major(f[0].shape)))
    node, order = place.node, place.order
    while node not in self.view.home:
      if node.opcode != "transpose":
        return self._computed(node, before), order
      permutation = node.attrs["permutation"]
      order, node = tuple(permutation[d] for d in order), node.operands[0]
    return self.view.home[node], order

  def _computed(self, wanted: Node, before: Instruction) -> Instruction:
    """A value that XLA computes inside of a fusion only, by a kernel of its own."""
    made: dict[Node, Node] = {}

    def copy(node: Node) -> Node:
      if node not in made:
        home = self.view.home.get(node)
        is_early = home is not None and self.position[home] < self.position[before]
        if is_early and node.opcode not in ("constant", "iota"):
          made[node] = Node("leaf", node.dtype, node.dims, source=home)
        elif node.opcode in ("leaf", "dot") or not known_dtype(node.dtype):
          raise Refused("an operand of it is computed inside of a fusion")
        else:
          made[node] = dataclasses.replace(node, operands=tuple(map(copy, node.operands)))
      return made[node]

    root = copy(wanted)
    shape = Shape.array(element_type_of(wanted.dtype), wanted.dims)
    placeholder = Instruction("operand", "copy", shape, (), {}, before.metadata)
    nodes = tuple(made.values())
    graph = Graph(nodes, tuple(n for n in nodes if n.opcode == "leaf"), (Output(placeholder, None, root),))
    found = axes.analyse(graph)
    tiling = tiles.choose(graph, found, self.machine)
    name = readable(f"operand_of_{before.name}")
    code = self.codes.compile(emit.emit(graph, found, tiling, name), self.platform)
    self.names.append(code.key)
    sources = [in_row_major(n.source, before) for n in graph.leaves if n.source is not None]
    return call_of(code, sources, emit.result_shapes(graph, tiling), f"tilewright_{name}", before)

  def _put(self, use: ScoreProduct, value: Instruction, replaced: dict[Instruction, Instruction]) -> None:
    """A result (batch, length, depth), row-major, in place of a product."""
    place, seen = result_place(use), self._seen(use.dot)
    home = self.view.home[seen]
    shape, computation = home.shape, home.parent
    assert computation is not None
    if value.shape.element_type != shape.element_type:
      wide = Shape.array(shape.element_type, value.shape.dimensions)
      value = computation.insert(Instruction("convert", "convert", wide, (value,)), before=home)
    chain = [seen]
    while chain[-1] is not use.dot:
      chain.append(chain[-1].operands[0])
    found = axes.analyse(Graph(tuple(reversed(chain)), (), ()), {use.dot})
    now = [a for d in place.order for a in found.dim(use.dot, d)]
    wanted = [a for d in physical_order(shape) for a in found.dim(seen, d)]
    if now != wanted:
      plain = _bitcast(value, Shape.array(shape.element_type, tuple(a.size for a in now)), home)
      physical = Shape.array(shape.element_type, tuple(a.size for a in wanted))
      value = _transposed(plain, physical, tuple(now.index(a) for a in wanted), home)
    replace(home, None, in_layout_of(_bitcast(value, unsettled(shape), home), shape, home), replaced)


def _heads(x: Any, rows: Rows) -> Any:
  """(batch, rows, depth) as (1, heads, queries, depth): heads that share keys are next to each other."""
  before, length, after = rows
  batch, _, depth = x.shape
  split = x.reshape(batch, before, length, after, depth)
  split = split.swapaxes(2, 3) if after > 1 else split
  return split.reshape(1, batch * before * after, length, depth)


def _matrices(x: Any, rows: Rows) -> Any:
  """Back again."""
  before, length, after = rows
  split = x.reshape(-1, before, after, length, x.shape[-1])
  split = split.swapaxes(2, 3) if after > 1 else split
  return split.reshape(-1, before * length * after, x.shape[-1])


@dataclasses.dataclass(frozen=True)
class _Shaped:
  shape: tuple[int, ...]
  dtype: Any


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
