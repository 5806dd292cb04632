"""sort and topk.

A comparator is any computation `less(a₀, b₀, a₁, b₁, …)`. Two ways, both stable:

- If it compares one key, the same function of the left element as of the right (`g(a₀) < g(b₀)`, which is what `lax.sort`
  writes, NaNs and zeros made canonical by g), numpy sorts the keys.
- Otherwise a merge sort runs on all rows at once: the place of an element in the merged run is its place in its own
  run plus the number of elements of the sibling run before it, found by binary search. log²n vectorised comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.hlo.evaluate.elementwise import is_total_order
from tilewright.hlo.evaluate.interpreter import Device, apply_to_arrays
from tilewright.hlo.evaluate.numbers import kind_of, total_order_key, widen
from tilewright.hlo.evaluate.reductions import untuple
from tilewright.hlo.evaluate.table import Arrays, Value, rule
from tilewright.hlo.ir import Computation, Instruction

Less = Callable[[Sequence[np.ndarray]], Arrays]


@rule("sort")
def sort(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  axis = instruction.attrs["dimensions"][0]
  rows = [np.moveaxis(x, axis, -1) for x in operands]
  comparator = instruction.attrs["to_apply"]
  keys = sort_keys(device, comparator, rows)
  if keys is not None:
    order = np.argsort(keys, axis=-1, kind="stable")
  else:
    order = merge_sort(device.scalar_function(comparator), rows)
  results = [np.moveaxis(np.take_along_axis(x, order, axis=-1), -1, axis) for x in rows]
  return untuple(instruction, results)


def sort_keys(device: Device, comparator: Computation, rows: Arrays) -> np.ndarray | None:
  """Keys whose ascending order is the comparator's, where it has the form g(a) < g(b) or g(a) > g(b)."""
  root = comparator.root
  if root.opcode != "compare" or root.attrs["direction"] not in ("LT", "GT"):
    return None
  pair = _mirrored(root.operands[0], root.operands[1])
  if pair is None:
    return None
  left, right = pair
  if left // 2 != right // 2 or left == right:
    return None
  key = _apply_graph(device, root.operands[0], rows[left // 2])
  if key is None:
    return None
  key = np.broadcast_to(key, rows[left // 2].shape)
  if is_total_order(root):
    key = total_order_key(key)
  elif kind_of(key.dtype) == "float" and np.isnan(widen(key)).any():
    return None  # no order: leave the result to the comparator itself
  else:
    key = widen(key)
  descending = (root.attrs["direction"] == "GT") != (left > right)
  if not descending:
    return key
  return ~key if kind_of(key.dtype) in ("signed", "unsigned", "pred") else -key


def _mirrored(left: Instruction, right: Instruction) -> tuple[int, int] | None:
  """(a, b) if the two graphs are the same function, the first of parameter a alone and the second of b alone."""
  found: tuple[int, int] | None = None
  stack, seen = [(left, right)], set()
  while stack:
    a, b = pair = stack.pop()
    if pair in seen:
      continue
    seen.add(pair)
    if a.opcode != b.opcode or len(a.operands) != len(b.operands):
      return None
    if a.opcode == "parameter":
      numbers = (a.parameter_number, b.parameter_number)
      if found is not None and found != numbers:
        return None
      found = numbers
    elif a.opcode == "constant":
      if a is not b and not a.literal.identical(b.literal):
        return None
    elif a is not b and a.attrs != b.attrs:
      return None
    stack.extend(zip(a.operands, b.operands))
  return found


def _apply_graph(device: Device, node: Instruction, value: np.ndarray) -> np.ndarray | None:
  """g(value), where `node` computes g of the one parameter it depends on."""
  if node.opcode == "parameter":
    return value
  if node.parent is None or device.program.vectorised(node.parent) is None:
    return None
  values: dict[Instruction, np.ndarray] = {}
  for step in device.program.plan(node.parent).steps:
    instruction = step.instruction
    operands: list[Value] = []
    for operand in instruction.operands:
      if operand.opcode == "parameter":
        operands.append(value)
      elif operand.opcode == "constant":
        operands.append(operand.literal.to_numpy())
      elif operand in values:
        operands.append(values[operand])
      else:
        break
    else:
      if instruction.opcode not in ("call", "fusion") and _depends_only_on_one(instruction):
        values[instruction] = apply_to_arrays(step, operands)
  return values.get(node)


def _depends_only_on_one(node: Instruction) -> bool:
  parameters, stack, seen = set(), [node], set()
  while stack:
    current = stack.pop()
    if current in seen:
      continue
    seen.add(current)
    if current.opcode == "parameter":
      parameters.add(current)
    stack.extend(current.operands)
  return len(parameters) <= 1


def merge_sort(less: Less, rows: Arrays) -> np.ndarray:
  """The stable order of the last axis under `less(a₀, b₀, a₁, b₁, …)`."""
  shape = rows[0].shape
  length = shape[-1]
  order = np.array(np.broadcast_to(np.arange(length), shape))
  place = np.arange(length)
  run = 1
  while run < length:
    start = place // (2 * run) * (2 * run)
    middle, end = np.minimum(start + run, length), np.minimum(start + 2 * run, length)
    in_left = place < middle
    low = np.broadcast_to(np.where(in_left, middle, start), shape).copy()
    high = np.broadcast_to(np.where(in_left, end, middle), shape).copy()
    mine = [np.take_along_axis(x, order, axis=-1) for x in rows]
    while np.any(low < high):
      probe = (low + high) // 2
      safe = np.minimum(probe, length - 1)
      theirs = [np.take_along_axis(x, safe, axis=-1) for x in mine]
      # Left elements come after the right ones that are less; right elements after the left ones they are not less than.
      theirs_less = _compare(less, theirs, mine, shape)
      mine_less = _compare(less, mine, theirs, shape)
      before = np.where(in_left, theirs_less, ~mine_less)
      active = low < high
      low = np.where(active & before, probe + 1, low)
      high = np.where(active & ~before, probe, high)
    first = np.where(in_left, middle, start)
    target = place - np.where(in_left, start, middle) + (low - first) + start
    merged = np.empty_like(order)
    np.put_along_axis(merged, target, order, axis=-1)
    order = merged
    run *= 2
  return order


def _compare(less: Less, left: Arrays, right: Arrays, shape: tuple[int, ...]) -> np.ndarray:
  (result,) = less([x for pair in zip(left, right) for x in pair])
  return np.broadcast_to(result, shape)


def top_k(x: np.ndarray, k: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
  """The k first of the last axis in total order, ties by position, with their positions."""
  key = total_order_key(x)
  order = np.argsort(~key if largest else key, axis=-1, kind="stable")[..., :k]
  return np.take_along_axis(x, order, axis=-1), order.astype(np.int32)


@rule("topk")
def topk(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return top_k(operands[0], instruction.attrs["k"], bool(instruction.attrs.get("largest", False)))
