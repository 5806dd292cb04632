"""The rules of HLO, checked.

`verify(module)` raises `HloVerifyError` with every broken rule. The graph: edges on both ends, no cycles, roots and
parameters in place, unique names, the schedule an order. The types: result shapes that follow from the operands,
called computations whose signature fits. Layouts are not compared (XLA assigns them), dynamic dimensions are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilewright.hlo.analysis import call_graph, is_ordered, topological_order
from tilewright.hlo.errors import HloError, HloGraphError, HloVerifyError
from tilewright.hlo.infer import infer_shape, rule_for
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.opcodes import ARITY, OPCODES
from tilewright.hlo.shape import Shape
from tilewright.hlo.verify_collectives import COLLECTIVE_RULES
from tilewright.hlo.verify_indexing import INDEXING_RULES
from tilewright.hlo.verify_linalg import LINALG_RULES
from tilewright.hlo.verify_operands import OPERAND_RULES
from tilewright.hlo.verify_pairs import PAIR_RULES

Problems = Iterator[str]


def problems(module: Module) -> list[str]:
  """Every broken rule, one sentence each; empty for a legal module."""
  found = list(_module_problems(module))
  if found:
    return found  # what follows relies on a sound graph
  for computation in module.computations:
    for instruction in computation.instructions:
      found += [f"%{instruction.name}: {problem}" for problem in _checked(instruction)]
  return found


def _checked(instruction: Instruction) -> list[str]:
  """The broken rules of one instruction. A rule that does not find what it looks at has found a problem, too."""
  try:
    return list(_instruction_problems(instruction))
  except Exception as error:
    return [f"{instruction.opcode} lacks an attribute or an operand, or has one of the wrong kind ({error!r})"]


def verify(module: Module) -> None:
  """Raises `HloVerifyError` unless the module is legal HLO."""
  found = problems(module)
  if found:
    raise HloVerifyError(found)


# The graph.


def _module_problems(module: Module) -> Problems:
  if module.entry is None or module.entry not in module.computations:
    yield f"module {module.name} has no entry computation"
    return
  names: set[str] = set()
  computation_names: set[str] = set()
  for computation in module.computations:
    if computation.parent is not module:
      yield f"computation %{computation.name} does not know that it is in module {module.name}"
    if computation.name in computation_names:
      yield f"two computations are called %{computation.name}"
    computation_names.add(computation.name)
    for instruction in computation.instructions:
      if instruction.name in names:
        yield f"two instructions are called %{instruction.name}"
      names.add(instruction.name)
    yield from _computation_problems(computation, module.is_scheduled)
  yield from _fusion_problems(module)
  try:
    call_graph(module)
  except HloGraphError as error:
    yield str(error)
    return
  yield from _entry_problems(module)


def _computation_problems(computation: Computation, scheduled: bool) -> Problems:
  where = f"computation %{computation.name}"
  inside = set(computation.instructions)
  if len(inside) != len(computation.instructions):
    yield f"{where} lists an instruction twice"
  if computation.root not in inside:
    yield f"the root of {where} is not in it"
    return
  numbers = [p.attrs.get("parameter_number") for p in computation.instructions if p.opcode == "parameter"]
  if sorted(n for n in numbers if isinstance(n, int)) != list(range(len(numbers))):
    yield f"the parameters of {where} are numbered {numbers}, not 0 to {len(numbers) - 1}"
  sound = True
  for instruction in computation.instructions:
    if instruction.parent is not computation:
      yield f"%{instruction.name} does not know that it is in {where}"
    for other in (*instruction.operands, *instruction.control_predecessors):
      if other not in inside:
        sound = False
        yield f"%{instruction.name} depends on %{other.name}, which is not in {where}"
    for operand in instruction.operands:
      if instruction not in operand._users:
        yield f"%{operand.name} does not know its user %{instruction.name}"
    for user in instruction.users:
      if user not in inside or instruction not in user.operands:
        yield f"%{instruction.name} names %{user.name} as a user, which it is not"
  if not sound:
    return
  try:
    topological_order(computation)
  except HloGraphError as error:
    yield str(error)
    return
  if computation.is_fusion:
    for instruction in computation.instructions:
      if instruction.is_dead and instruction is not computation.root:
        yield f"%{instruction.name} of the fusion's computation %{computation.name} has no users"
  if scheduled and not is_ordered(computation.instructions):
    yield f"the schedule of {where} runs an instruction before something it depends on"


def _fusion_problems(module: Module) -> Problems:
  """The computation of a fusion belongs to it alone."""
  fusions: dict[Computation, Instruction] = {}
  for instruction in module.instructions():
    if instruction.opcode == "fusion":
      for computation in instruction.called_computations[:1]:
        first = fusions.setdefault(computation, instruction)
        if first is not instruction:
          yield f"%{first.name} and %{instruction.name} are fusions of the same computation %{computation.name}"


def _entry_problems(module: Module) -> Problems:
  entry = module.entry
  if module.entry_layout is not None:
    shapes = tuple(p.shape for p in entry.parameters)
    if len(shapes) != len(module.entry_layout.parameters):
      yield f"entry_computation_layout has {len(module.entry_layout.parameters)} parameters, the entry {len(shapes)}"
    else:
      for i, (wanted, shape) in enumerate(zip(module.entry_layout.parameters, shapes)):
        if not wanted.compatible(shape):
          yield f"parameter {i} is {shape}, but {wanted} in entry_computation_layout"
      if not module.entry_layout.result.compatible(entry.root.shape):
        yield f"the entry returns {entry.root.shape}, but {module.entry_layout.result} in entry_computation_layout"
  seen: set[tuple[int, ...]] = set()
  for alias in module.input_output_alias:
    if alias.output_index in seen:
      yield f"output {{{','.join(map(str, alias.output_index))}}} is aliased twice"
    seen.add(alias.output_index)
    try:
      output = entry.root.shape.at(alias.output_index)
      parameter = entry.parameters[alias.parameter].shape.at(alias.parameter_index)
    except IndexError:
      yield f"input_output_alias names output {alias.output_index} or parameter {alias.parameter}, which do not exist"
      continue
    if output.byte_size != parameter.byte_size:
      yield f"input_output_alias pairs {output} with parameter {alias.parameter} of shape {parameter}"


# Instructions.


def _instruction_problems(instruction: Instruction) -> Problems:
  opcode = instruction.opcode
  if opcode not in OPCODES:
    yield f"`{opcode}` is not an opcode of HLO"
    return
  arity = ARITY.get(opcode)
  if arity is not None and len(instruction.operands) != arity:
    yield f"{opcode} takes {arity} operand(s), not {len(instruction.operands)}"
    return
  yield from _sharding(instruction)
  rule = _RULES.get(opcode)
  if rule is not None:
    yield from rule(instruction)
  for table in (OPERAND_RULES, INDEXING_RULES, LINALG_RULES, PAIR_RULES):
    for operand_rule in table.get(opcode, ()):
      yield from operand_rule(instruction)
  if rule_for(opcode) is not None and opcode not in _OWN_SHAPE:
    try:
      wanted = infer_shape(opcode, instruction.operands, instruction.attrs)
    except HloError as error:
      yield str(error)
      return
    if not _fits(wanted, instruction.shape):
      yield f"{opcode} of these operands has the shape {wanted}, not {instruction.shape}"


def _sharding(instruction: Instruction) -> Problems:
  sharding, shape = instruction.sharding, instruction.shape
  if sharding is not None and sharding.kind == "devices" and shape.is_array:
    rank = len(sharding.tile_dims) - len(sharding.last_tile_dims) - sharding.replicate_on_last_tile_dim
    if rank != shape.rank:
      yield f"its sharding is for {rank} dimensions, and its shape is {shape}"


def _fits(wanted: Shape, given: Shape) -> bool:
  """Equal up to layout; where operands mix precision, the result type is the writer's choice (see _MIXED)."""
  if wanted.is_tuple != given.is_tuple or len(wanted.tuple_shapes) != len(given.tuple_shapes):
    return False
  if wanted.is_tuple:
    return all(_fits(a, b) for a, b in zip(wanted.tuple_shapes, given.tuple_shapes))
  return wanted.element_type == given.element_type and wanted.dimensions == given.dimensions


# Their result type does not follow from the operands (preferred element types, padded collectives, buffers).
_OWN_SHAPE = frozenset(
  [
    "dot",
    "convolution",
    "all-gather-done",
    "collective-permute-done",
    "async-done",
    "opt-barrier",
    "fusion",
    "call",
    "collective-permute",
    "async-update",
    "copy-start",
    "copy-done",
    "get-dimension-size",
    "add-dependency",
  ]
)


def _signature(instruction: Instruction, computation: Computation, shapes: list[Shape], what: str) -> Problems:
  parameters = computation.parameters
  if len(parameters) != len(shapes):
    yield f"{what} %{computation.name} takes {len(parameters)} parameter(s), not {len(shapes)}"
    return
  for i, (parameter, shape) in enumerate(zip(parameters, shapes)):
    if not parameter.shape.compatible(shape):
      yield f"parameter {i} of {what} %{computation.name} is {parameter.shape}, not {shape}"


def _returns(computation: Computation, shape: Shape, what: str) -> Problems:
  if not computation.root.shape.compatible(shape):
    yield f"{what} %{computation.name} returns {computation.root.shape}, not {shape}"


def _missing(instruction: Instruction, *names: str) -> Problems:
  for name in names:
    if name not in instruction.attrs:
      yield f"{instruction.opcode} needs the attribute {name}"


def _while(instruction: Instruction) -> Problems:
  yield from _missing(instruction, "condition", "body")
  if not {"condition", "body"} <= instruction.attrs.keys():
    return
  state = instruction.operands[0].shape
  condition, body = instruction.attrs["condition"], instruction.attrs["body"]
  yield from _signature(instruction, condition, [state], "the condition")
  yield from _signature(instruction, body, [state], "the body")
  yield from _returns(body, state, "the body")
  if condition.root.shape.element_type != "pred" or condition.root.shape.dimensions:
    yield f"the condition %{condition.name} returns {condition.root.shape}, not pred[]"


def _conditional(instruction: Instruction) -> Problems:
  branches = instruction.called_computations
  if not instruction.operands or len(branches) != len(instruction.operands) - 1 or not branches:
    yield f"{len(branches)} branches but {max(len(instruction.operands) - 1, 0)} branch operands"
    return
  for branch, operand in zip(branches, instruction.operands[1:]):
    yield from _signature(instruction, branch, [operand.shape], "the branch")
    yield from _returns(branch, instruction.shape, "the branch")


def _called(attribute: str) -> Callable[[Instruction], Problems]:
  def rule(instruction: Instruction) -> Problems:
    yield from _missing(instruction, attribute)
    computation = instruction.attrs.get(attribute)
    if computation is not None:
      yield from _signature(instruction, computation, [o.shape for o in instruction.operands], "the callee")
      yield from _returns(computation, instruction.shape, "the callee")

  return rule


def _scalars(count: Callable[[Instruction], int]) -> Callable[[Instruction], Problems]:
  """`to_apply` works on scalars: a pair of them per input."""

  def rule(instruction: Instruction) -> Problems:
    yield from _missing(instruction, "to_apply")
    computation = instruction.attrs.get("to_apply")
    if computation is None:
      return
    if len(computation.parameters) != 2 * count(instruction):
      yield (
        f"%{computation.name} takes {len(computation.parameters)} parameter(s), but {instruction.opcode} gives it "
        f"{2 * count(instruction)}"
      )
    for parameter in computation.parameters:
      if parameter.shape.dimensions:
        yield f"%{computation.name} must work on scalars, but takes {parameter.shape}"

  return rule


def _constant(instruction: Instruction) -> Problems:
  literal = instruction.attrs.get("literal")
  if literal is None:
    yield "a constant needs a literal"
  elif not literal.shape.compatible(instruction.shape):
    yield f"the literal is {literal.shape}, the constant {instruction.shape}"
  elif literal.value is not None and literal.value.shape != instruction.shape.dimensions:
    yield f"the literal holds an array of shape {literal.value.shape}, the constant is {instruction.shape}"


def _reshape(instruction: Instruction) -> Problems:
  before, after = instruction.operands[0].shape, instruction.shape
  static = before.is_array and after.is_array and not before.is_dynamic and not after.is_dynamic
  if static and (before.element_type != after.element_type or before.num_elements != after.num_elements):
    yield f"{before} cannot become {after}"


def _same_dimensions(instruction: Instruction) -> Problems:
  before, after = instruction.operands[0].shape, instruction.shape
  if before.is_array and before.dimensions != after.dimensions:
    yield f"{before} cannot become {after}: the dimensions differ"


def _broadcast(instruction: Instruction) -> Problems:
  source, result = instruction.operands[0].shape, instruction.shape
  places = instruction.attrs.get("dimensions", ())  # a scalar has none to place
  if len(places) != source.rank or len(set(places)) != len(places) or any(not 0 <= p < result.rank for p in places):
    yield f"dimensions={places} does not place the {source.rank} dimensions of {source} in {result}"
  elif any(source.dimensions[i] != result.dimensions[p] for i, p in enumerate(places)):
    yield f"{source} does not fit {result} at dimensions={places}"
  if source.element_type != result.element_type:
    yield f"{source} cannot become {result}: the types differ"


def _dot(instruction: Instruction) -> Problems:
  try:
    wanted = infer_shape(instruction.opcode, instruction.operands, instruction.attrs)
  except HloError as error:
    yield str(error)
    return
  if wanted.dimensions != instruction.shape.dimensions:
    yield f"the result has the dimensions {list(wanted.dimensions)}, not {list(instruction.shape.dimensions)}"


def _compare(instruction: Instruction) -> Problems:
  if instruction.attrs.get("direction") not in ("EQ", "NE", "GE", "GT", "LE", "LT"):
    yield f"direction={instruction.attrs.get('direction')} is none of EQ, NE, GE, GT, LE, LT"


def _done(instruction: Instruction) -> Problems:
  start = instruction.operands[0].opcode
  wanted = instruction.opcode.removesuffix("-done") + "-start"
  if start not in (wanted, "async-update" if wanted == "async-start" else wanted):
    yield f"its operand is a {start}, not a {wanted}"


def _custom_call(instruction: Instruction) -> Problems:
  yield from _missing(instruction, "custom_call_target")


def _async_start(instruction: Instruction) -> Problems:
  shape = instruction.shape
  if not shape.is_tuple or len(shape.tuple_shapes) < 2 or not shape.tuple_shapes[0].is_tuple:
    yield f"the shape of an async-start is ((operands…), result, …), not {shape}"
  elif not instruction.called_computations:
    yield "async-start needs the attribute calls"


def _parts(count: int) -> Callable[[Instruction], Problems]:
  def rule(instruction: Instruction) -> Problems:
    if not instruction.shape.is_tuple or len(instruction.shape.tuple_shapes) < count:
      yield f"a {instruction.opcode} gives a tuple of at least {count}, not {instruction.shape}"

  return rule


def _contracted(instruction: Instruction) -> Problems:
  """Dots whose result is the writer's choice: the dimensions they name exist."""
  for side, operand in zip(("lhs", "rhs"), instruction.operands):
    for which in ("batch_dims", "contracting_dims"):
      for axis in instruction.attrs.get(f"{side}_{which}", ()):
        if not 0 <= axis < operand.shape.rank:
          yield f"{operand.shape} has no dimension {axis} ({side}_{which})"


def _along(attribute: str) -> Callable[[Instruction], Problems]:
  """Attributes that name dimensions of the first operand, or of the result where there is none."""

  def rule(instruction: Instruction) -> Problems:
    yield from _missing(instruction, attribute)
    value = instruction.attrs.get(attribute, ())
    shape = instruction.operands[0].shape if instruction.operands else instruction.shape
    for axis in (value,) if isinstance(value, int) else value:
      if not 0 <= axis < shape.rank:
        yield f"{shape} has no dimension {axis}"

  return rule


def _update(instruction: Instruction) -> Problems:
  if len(instruction.operands) < 2:
    yield "dynamic-update-slice takes an array, an update and start indices"
    return
  x, update = instruction.operands[0].shape, instruction.operands[1].shape
  if len(instruction.operands) != 2 + x.rank and len(instruction.operands) != 3:
    yield f"{len(instruction.operands) - 2} start indices for {x}"
  if update.rank != x.rank or any(u > d for u, d in zip(update.dimensions, x.dimensions)):
    yield f"the update {update} does not fit into {x}"


_RULES: dict[str, Callable[[Instruction], Problems]] = {
  "while": _while,
  "conditional": _conditional,
  "call": _called("to_apply"),
  "fusion": _called("calls"),
  "reduce": _scalars(lambda i: len(i.operands) // 2),
  "reduce-window": _scalars(lambda i: len(i.operands) // 2),
  "scatter": _scalars(lambda i: len(i.operands) // 2),
  "sort": _scalars(lambda i: len(i.operands)),
  "constant": _constant,
  "custom-call": _custom_call,
  "async-start": _async_start,
  "copy-start": _parts(2),
  "recv": _parts(1),
  "recv-done": _parts(1),
  "send": _parts(1),
  "ragged-dot": _contracted,
  "scaled-dot": _contracted,
  "iota": _along("iota_dimension"),
  "reverse": _along("dimensions"),
  "get-dimension-size": _along("dimensions"),
  "set-dimension-size": _along("dimensions"),
  "reshape": _reshape,
  "convert": _same_dimensions,
  "broadcast": _broadcast,
  "dot": _dot,
  "convolution": _dot,
  "compare": _compare,
  "dynamic-update-slice": _update,
  **COLLECTIVE_RULES,
  "async-done": _done,
  "all-reduce-done": _done,
  "all-gather-done": _done,
  "collective-permute-done": _done,
  "copy-done": _done,
}
