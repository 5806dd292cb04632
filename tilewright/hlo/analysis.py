"""Orders and reachability: topological order, the call graph, dominance.

In a straight-line computation an instruction *dominates* another if every run that reaches the second has run the first.
In HLO this means that the second depends on the first, through operands or control edges. `Reachability` answers that query in
constant time after one pass with bit sets. It covers one computation and becomes stale when that computation is edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.hlo.errors import HloGraphError
from tilewright.hlo.ir import Computation, Instruction, Module


def is_ordered(instructions: Iterable[Instruction]) -> bool:
  """Whether operands and control predecessors precede their users."""
  seen: set[Instruction] = set()
  for instruction in instructions:
    for operand in instruction.operands:
      if operand not in seen:
        return False
    if instruction._control_predecessors and not seen.issuperset(instruction._control_predecessors):
      return False
    seen.add(instruction)
  return True


def topological_order(computation: Computation) -> list[Instruction]:
  """The current order if it is topological; else the nearest topological order: each instruction right after its last dependency."""
  instructions = computation.instructions
  if is_ordered(instructions):
    return list(instructions)
  order: list[Instruction] = []
  state: dict[Instruction, bool] = {}  # False while its dependencies are being placed, True when it is placed
  for start in instructions:
    stack = [start]
    while stack:
      top = stack[-1]
      placed = state.get(top)
      if placed:
        stack.pop()
        continue
      waiting = [need for need in (*top.operands, *top.control_predecessors) if not state.get(need)]
      if not waiting:
        state[top] = True
        order.append(top)
        stack.pop()
        continue
      if placed is False and any(state.get(need) is False for need in waiting):
        raise HloGraphError(f"the instructions of %{computation.name} form a cycle through %{top.name}")
      state[top] = False
      for need in reversed(waiting):
        if need.parent is not computation:
          raise HloGraphError(f"%{top.name} of %{computation.name} uses %{need.name}, which is not in it")
        if state.get(need) is False:
          raise HloGraphError(f"the instructions of %{computation.name} form a cycle through %{top.name}")
        stack.append(need)
  return order


@dataclass(frozen=True, slots=True)
class CallGraph:
  """The call relation between computations. `post_order` lists those reachable from the entry, callees before callers, the entry last."""

  callers: dict[Computation, tuple[Instruction, ...]]
  callees: dict[Computation, tuple[Computation, ...]]
  post_order: tuple[Computation, ...]

  def called_once(self, computation: Computation) -> bool:
    return len(self.callers[computation]) == 1


def call_graph(module: Module) -> CallGraph:
  """Which computations of `module` call which. A call of one that is not in the module is an `HloGraphError`."""
  callers: dict[Computation, list[Instruction]] = {c: [] for c in module.computations}
  callees: dict[Computation, dict[Computation, None]] = {c: {} for c in module.computations}
  for computation in module.computations:
    for instruction in computation.instructions:
      if not instruction.attrs:
        continue
      for called in instruction.called_computations:
        if called not in callers:
          raise HloGraphError(f"%{instruction.name} calls %{called.name}, which is not in module {module.name}")
        callers[called].append(instruction)
        callees[computation][called] = None
  order = _post_order([module.entry], callees)
  return CallGraph(
    {c: tuple(users) for c, users in callers.items()}, {c: tuple(used) for c, used in callees.items()}, tuple(order)
  )


def _post_order(
  starts: Iterable[Computation], callees: dict[Computation, dict[Computation, None]]
) -> list[Computation]:
  order: list[Computation] = []
  state: dict[Computation, bool] = {}
  for start in starts:
    stack = [start]
    while stack:
      top = stack[-1]
      if state.get(top):
        stack.pop()
        continue
      waiting = [c for c in callees[top] if not state.get(c)]
      if not waiting:
        state[top] = True
        order.append(top)
        stack.pop()
        continue
      state[top] = False
      for need in reversed(waiting):
        if state.get(need) is False:
          raise HloGraphError(f"computation %{need.name} calls itself, through %{top.name}")
        stack.append(need)
  return order


def computation_order(module: Module) -> list[Computation]:
  """Every computation, callees first; the current order if it already satisfies that."""
  seen: set[Computation] = set()
  ordered = True
  for computation in module.computations:
    for instruction in computation.instructions:
      if instruction.attrs and not seen.issuperset(instruction.called_computations):
        ordered = False
    seen.add(computation)
  if ordered:
    return list(module.computations)
  callees: dict[Computation, dict[Computation, None]] = {c: {} for c in module.computations}
  for computation in module.computations:
    for instruction in computation.instructions:
      for called in instruction.called_computations:
        if called not in callees:
          raise HloGraphError(f"%{instruction.name} calls %{called.name}, which is not in module {module.name}")
        callees[computation][called] = None
  return _post_order(module.computations, callees)


class Reachability:
  """Dependence in one computation. Each instruction has a bit set of everything it depends on."""

  def __init__(self, computation: Computation) -> None:
    self.order = topological_order(computation)
    self.index = {instruction: i for i, instruction in enumerate(self.order)}
    self._needs: list[int] = []
    for i, instruction in enumerate(self.order):
      bits = 1 << i
      for operand in instruction.operands:
        bits |= self._needs[self.index[operand]]
      for predecessor in instruction.control_predecessors:
        bits |= self._needs[self.index[predecessor]]
      self._needs.append(bits)

  def dominates(self, first: Instruction, second: Instruction) -> bool:
    """Whether `second` depends on `first` (an instruction dominates itself)."""
    return bool(self._needs[self.index[second]] >> self.index[first] & 1)

  def needs(self, instruction: Instruction) -> int:
    """Everything the instruction depends on, itself included: bit i represents `order[i]`."""
    return self._needs[self.index[instruction]]

  def independent(self, a: Instruction, b: Instruction) -> bool:
    return not self.dominates(a, b) and not self.dominates(b, a)
