"""Dead-code elimination: instructions whose values reach no root and no side effect are removed.

An instruction is removed if it has no users and no control successors, it is not the root or a parameter, and it has no side
effect (`effects.py`: collectives are removable, because all devices run the same program and omit it together; an
effect marked `xla_allow_dce_side_effecting_op="true"` is too). Proof: the value of an unused instruction reaches no root and
no effect.

Unused outputs are removed as well.
  * A multi-output fusion keeps its used outputs. Precondition: every user is a get-tuple-element, nothing else
    calls its computation, and it is not kCustom (whose back end owns the signature). An output with a side effect stays. Unused
    parameters are removed too, and those of plain calls, which may share a computation. Parameters of the entry are removed only on
    request: callers pass them.
  * A while loop keeps the elements that are *live*: taken after the loop, read by the condition, needed by a side effect in
    the body, or needed by the next value of a live element. Proof: the least such set is closed, so the loop restricted to
    it computes the same values in every iteration; and the number of iterations depends on the condition only.

Computations that nothing calls any more are removed at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.analysis import CallGraph, call_graph
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.narrow import drop_entry_parameters, drop_parameters, narrow_fusion, narrow_while


@register_pass("dce")
@dataclass(frozen=True)
class DeadCode(Pass):
  """Removes dead instructions, unused outputs of fusions and loops, and computations that nothing calls."""

  narrow: bool = True  # also unused outputs
  remove_dead_parameters_from_entry_computation: bool = False  # the module then takes fewer arguments

  def run(self, module: Module) -> bool:
    changed = False
    again = True
    while again:
      again = False
      graph, effects = call_graph(module), Effects()
      for computation in reversed(graph.post_order):  # callers first: what they drop is then dead in the callee
        again |= remove_dead(computation, effects)
        if self.narrow:
          again |= _narrow(computation, graph, effects)
      if self.narrow:
        again |= _narrow_shared(graph)
      if self.remove_dead_parameters_from_entry_computation:
        again |= drop_entry_parameters(module)
      changed |= again
    return module.remove_unreachable_computations() > 0 or changed


def remove_dead(computation: Computation, effects: Effects | None = None) -> bool:
  """Removes the dead instructions of one computation."""
  effects = effects or Effects()
  gone: dict[Instruction, None] = {}
  uses = {i: i.user_count for i in computation.instructions}
  work = [i for i in computation.instructions if not uses[i]]
  while work:
    instruction = work.pop()
    if instruction in gone or instruction.is_root or instruction.opcode == "parameter":
      continue
    if any(s not in gone for s in instruction.control_successors) or effects.of(instruction):
      continue
    gone[instruction] = None
    for operand in dict.fromkeys(instruction.operands):
      uses[operand] -= 1
      if not uses[operand]:
        work.append(operand)
    work += [p for p in instruction.control_predecessors if not uses[p]]
  computation.remove_all(gone)
  return bool(gone)


def remove_unused_in_fusions(module: Module) -> list[str]:
  """Removes unused instructions inside fusions, parameters included, because XLA compiles no fusion that contains any. Returns
  complaints about those that had to stay, and about custom calls: no back end can emit them there, and XLA ends the process.
  """
  graph, effects = call_graph(module), Effects()
  complaints: list[str] = []
  for computation in reversed(graph.post_order):
    for fusion in [i for i in computation.instructions if i.opcode == "fusion"]:
      (fused,) = fusion.called_computations
      if graph.called_once(fused) and fusion.attrs.get("kind") != "kCustom":
        remove_dead(fused, effects)
        drop_parameters(fusion)
        calls = [i.name for i in fused.instructions if i.opcode == "custom-call"]
        complaints += [f"%{name} in the fusion %{fusion.name} is a custom call" for name in calls]
      unused = [i.name for i in fused.instructions if not i.user_count and not i.is_root]
      complaints += [f"%{name} in the fusion %{fusion.name} has no users" for name in unused]
  return complaints


def _is_plain(call: Instruction) -> bool:
  """Whether nothing else relies on the call's signature."""
  return not (call.frontend_attributes or call.backend_config or call.attrs.keys() - {"to_apply"})


def _narrow(computation: Computation, graph: CallGraph, effects: Effects) -> bool:
  changed = False
  for instruction in list(computation.instructions):
    if instruction.parent is not computation:
      continue
    if instruction.opcode not in ("fusion", "while", "call") or not all(
      map(graph.called_once, instruction.called_computations)
    ):
      continue
    if instruction.opcode == "call" and not _is_plain(instruction):
      continue
    if instruction.is_root:  # its outputs are the computation's
      if instruction.opcode != "while" and instruction.attrs.get("kind") != "kCustom" and instruction.sharding is None:
        changed |= drop_parameters(instruction)
      continue
    if instruction.opcode == "while":
      changed |= narrow_while(instruction, effects)
    else:
      changed |= narrow_fusion(instruction, effects)
  return changed


def _narrow_shared(graph: CallGraph) -> bool:
  """Drops unused parameters of computations that several plain calls share."""
  changed = False
  for callers in graph.callers.values():
    left = [c for c in callers if c.parent is not None]
    if len(callers) > 1 and left and all(c.opcode == "call" and _is_plain(c) and c.sharding is None for c in left):
      changed |= drop_parameters(*left)
  return changed
