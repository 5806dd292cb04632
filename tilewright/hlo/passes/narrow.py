"""Narrower tuples: removes unneeded outputs of a fusion or a loop. See `dce.py` for the conditions and the proof.

Both functions edit in place and keep the order of instructions, so scheduled modules stay scheduled.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence

from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.shape import Shape, ShapeIndex
from tilewright.hlo.values import OutputAlias


def narrow_fusion(fusion: Instruction, effects: Effects) -> bool:
  """Drops unused outputs and unused parameters of a fusion that is the only caller of its computation."""
  if fusion.attrs.get("kind") == "kCustom" or fusion.sharding is not None:
    return False
  changed = _drop_outputs(fusion, effects)
  return drop_parameters(fusion) or changed


def _drop_outputs(fusion: Instruction, effects: Effects) -> bool:
  computation = fusion.called_computations[0]
  root = computation.root
  if not fusion.shape.is_tuple or root.opcode != "tuple" or not _only_elements(fusion):
    return False
  used = {u.attrs["index"] for u in fusion.users}
  kept = [i for i, o in enumerate(root.operands) if i in used or effects.of(o)]
  if len(kept) == len(root.operands) or not kept:
    return False
  aliases = fusion.attrs.get("output_to_operand_aliasing", ())
  if len(kept) == 1 and not root.operands[kept[0]].shape.is_tuple:
    fusion.shape = root.operands[kept[0]].shape
    computation.root = root.operands[kept[0]]
    _forget(root)
    for user in fusion.users:
      _merge_element(user, fusion)
    new_index: dict[int, ShapeIndex] = {kept[0]: ()}
  else:
    _narrow_tuple(root, kept)
    fusion.shape = root.shape
    _renumber(fusion.users, kept)
    new_index = {old: (new,) for new, old in enumerate(kept)}
  fusion.origin = None
  _set_aliases(
    fusion,
    [
      OutputAlias((*new_index[a.output_index[0]], *a.output_index[1:]), a.operand, a.operand_index, a.unknown)
      for a in aliases
      if a.output_index and a.output_index[0] in new_index
    ],
  )
  return True


def _merge_element(element: Instruction, whole: Instruction) -> None:
  """The element is the only output: its users take the whole. Control successors of the element become successors of the whole, and
  still follow its control predecessors. (The whole need not follow those: it may be one of them.)
  """
  for successor in element.control_successors:
    successor.add_control_predecessor(whole)
  for later in (*element.users, *element.control_successors):
    for predecessor in element.control_predecessors:
      if predecessor is not later:
        later.add_control_predecessor(predecessor)
  element.replace_all_uses_with(whole)
  _forget(element)


def drop_parameters(*callers: Instruction) -> bool:
  """Drops unused parameters of the computation of a fusion or call. All its callers must be given."""
  computation = callers[0].called_computations[0]
  parameters = computation.parameters
  kept = [p for p in parameters if p.user_count or p.is_root or p.control_predecessors or p.control_successors]
  if len(kept) == len(parameters):
    return False
  number = {p.parameter_number: i for i, p in enumerate(kept)}
  if any(a.operand not in number for c in callers for a in c.attrs.get("output_to_operand_aliasing", ())):
    return False
  computation.remove_all(p for p in parameters if p not in kept)
  for i, parameter in enumerate(kept):
    parameter.attrs["parameter_number"] = i
  for caller in callers:
    aliases = caller.attrs.get("output_to_operand_aliasing", ())
    caller.set_operands(o for i, o in enumerate(caller.operands) if i in number)
    _set_aliases(caller, [OutputAlias(a.output_index, number[a.operand], a.operand_index, a.unknown) for a in aliases])
  return True


def drop_entry_parameters(module: Module) -> bool:
  """Drops the parameters of the entry that nothing uses, donates or aliases; the others move up."""
  parameters = module.entry.parameters
  held = {a.parameter for a in module.input_output_alias} | {d.parameter for d in module.buffer_donor}
  kept = [
    p
    for p in parameters
    if p.user_count or p.is_root or p.control_predecessors or p.control_successors or p.parameter_number in held
  ]
  if len(kept) == len(parameters):
    return False
  number = {p.parameter_number: i for i, p in enumerate(kept)}
  module.entry.remove_all(p for p in parameters if p not in kept)
  for parameter in kept:
    parameter.attrs["parameter_number"] = number[parameter.parameter_number]
  layout = module.entry_layout
  if layout is not None:
    names = (
      tuple(n for i, n in enumerate(layout.parameter_names) if i in number)
      if layout.parameter_names
      else layout.parameter_names
    )
    shapes = tuple(s for i, s in enumerate(layout.parameters) if i in number)
    module.entry_layout = dataclasses.replace(layout, parameters=shapes, parameter_names=names)
  module.input_output_alias = tuple(
    dataclasses.replace(a, parameter=number[a.parameter]) for a in module.input_output_alias
  )
  module.buffer_donor = tuple(dataclasses.replace(d, parameter=number[d.parameter]) for d in module.buffer_donor)
  for name in ("spmd_parameter_shardings", "allow_spmd_sharding_propagation_to_parameters"):
    values = getattr(module, name)
    if len(values or ()) == len(parameters):
      setattr(module, name, type(values)(v for i, v in enumerate(values) if i in number))
  return True


def _set_aliases(fusion: Instruction, aliases: Sequence[OutputAlias]) -> None:
  if aliases:
    fusion.attrs["output_to_operand_aliasing"] = tuple(aliases)
  else:
    fusion.attrs.pop("output_to_operand_aliasing", None)


def narrow_while(loop: Instruction, effects: Effects) -> bool:
  """Drops the elements of a loop's state that are not live; the loop must be the only caller of its computations."""
  body, condition = loop.attrs["body"], loop.attrs["condition"]
  if not loop.shape.is_tuple or loop.sharding is not None or body is condition:
    return False
  state, seen = body.parameters[0], condition.parameters[0]
  if body.root.opcode != "tuple" or not (_only_elements(loop) and _only_elements(state) and _only_elements(seen)):
    return False
  if state.is_root or seen.is_root or body.root.user_count or body.root.sharding or state.sharding:
    return False
  kept = _live_elements(loop, body, state, seen, effects)
  if len(kept) == len(loop.shape.tuple_shapes):
    return False
  config = _config_for(loop, kept)
  if config is None:
    return False
  _narrow_init(loop, kept)
  _narrow_tuple(body.root, kept)
  for parameter in (state, seen):
    gone = [u for u in parameter.users if u.attrs["index"] not in kept]
    assert parameter.parent is not None
    parameter.parent.remove_all(_with_users(gone))
    _renumber(parameter.users, kept)
    parameter.shape = _kept_elements(parameter.shape, kept)
    parameter.origin = None
  loop.shape, loop.origin, loop.backend_config = _kept_elements(loop.shape, kept), None, config
  _renumber(loop.users, kept)
  return True


def _live_elements(
  loop: Instruction, body: Computation, state: Instruction, seen: Instruction, effects: Effects
) -> list[int]:
  live = {u.attrs["index"] for u in (*loop.users, *seen.users)}
  outputs = body.root.operands
  needed: set[Instruction] = set()
  work = [i for i in body.instructions if i is not body.root and effects.of(i)]
  # Whoever has control edges stays as well: it orders something.
  work += [i for i in body.instructions if i.control_predecessors or i.control_successors]
  work += [outputs[i] for i in live]
  while work:
    instruction = work.pop()
    if instruction in needed or instruction is body.root:
      continue
    needed.add(instruction)
    work += [*instruction.operands, *instruction.control_predecessors]
    if instruction.opcode == "get-tuple-element" and instruction.operands[0] is state:
      index = instruction.attrs["index"]
      if index not in live:
        live.add(index)
        work.append(outputs[index])
  return sorted(live) or [0]  # a loop over an empty tuple would be legal, but rare enough to surprise someone


def _config_for(loop: Instruction, kept: list[int]) -> str | None:
  """The back-end config with element numbers updated; None if it holds something unknown."""
  if not loop.backend_config:
    return ""
  config = loop.backend_config_json
  known = {"known_trip_count", "known_init_step", "known_induction_variable", "dynamic_variable_tuple_indices"}
  if not isinstance(config, dict) or not config.keys() <= known:
    return None
  try:
    variable = config.get("known_induction_variable")
    if variable is not None:
      if set(variable) != {"tuple_index"}:
        return None
      if int(variable["tuple_index"]) in kept:
        config["known_induction_variable"] = {"tuple_index": str(kept.index(int(variable["tuple_index"])))}
      else:
        del config["known_induction_variable"]
    indices = config.get("dynamic_variable_tuple_indices")
    if indices:
      config["dynamic_variable_tuple_indices"] = [str(kept.index(int(i))) for i in indices if int(i) in kept]
  except (TypeError, ValueError):
    return None
  return json.dumps(config, separators=(",", ":")) if config else ""


def _narrow_init(loop: Instruction, kept: list[int]) -> None:
  (init,) = loop.operands
  computation = loop.parent
  assert computation is not None
  if init.opcode == "tuple":
    parts = [init.operands[i] for i in kept]
  else:
    parts = []
    for i in kept:
      part = Instruction(f"{init.name}.{i}", "get-tuple-element", init.shape.tuple_shapes[i], (init,), {"index": i})
      parts.append(computation.insert(part, before=loop))
  narrow = Instruction(
    f"{init.name}.live", "tuple", _kept_elements(init.shape, kept), tuple(parts), metadata=init.metadata
  )
  loop.set_operands([computation.insert(narrow, before=loop)])
  if init.opcode == "tuple" and init.is_dead and not init.control_predecessors:
    computation.remove(init)


def _only_elements(instruction: Instruction) -> bool:
  return all(u.opcode == "get-tuple-element" for u in instruction.users)


def _kept_elements(shape: Shape, kept: Sequence[int]) -> Shape:
  return Shape.tuple_of(*(shape.tuple_shapes[i] for i in kept))


def _narrow_tuple(tuple_: Instruction, kept: Sequence[int]) -> None:
  tuple_.shape = _kept_elements(tuple_.shape, kept)
  tuple_.set_operands([tuple_.operands[i] for i in kept])
  tuple_.origin = None


def _renumber(elements: Iterable[Instruction], kept: Sequence[int]) -> None:
  for element in elements:
    element.attrs["index"] = kept.index(element.attrs["index"])


def _forget(instruction: Instruction) -> None:
  assert instruction.parent is not None
  instruction.parent.remove(instruction)


def _with_users(instructions: Iterable[Instruction]) -> dict[Instruction, None]:
  found: dict[Instruction, None] = {}
  work = list(instructions)
  while work:
    instruction = work.pop()
    if instruction not in found:
      found[instruction] = None
      work += instruction.users
  return found
