"""The interpreter: one device, one computation at a time.

A computation is planned once: its instructions in dependency order, each with its rule, the slots of its operands,
and the slots that are free afterwards. Running it walks the plan. `run` is a generator, because a collective inside
must wait for the other devices; `call` is for computations that may not communicate (comparators, reductions).

`vectorised` turns a scalar computation made of elementwise opcodes, such as `(a, b) → a + b`, into a function on
arrays. That is what makes a reduction with any computation fast.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.hlo.errors import HloError, HloEvaluateError
from tilewright.hlo.evaluate.limits import Budget, EvaluateLimits
from tilewright.hlo.evaluate.numbers import bitcast_convert
from tilewright.hlo.evaluate.requests import Request
from tilewright.hlo.evaluate.table import BLOCKING_RULES, ELEMENTWISE, RULES, Arrays, Value
from tilewright.hlo.infer import infer_shape
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.shape import Shape

CustomCall = Callable[[Instruction, Sequence[Value]], Value]
Observer = Callable[[int, Instruction, Value], None]

# Scalar to scalar these change the type at most, so they may appear in a vectorised computation.
_TRIVIAL_ON_SCALARS = frozenset({"broadcast", "reshape", "bitcast", "copy", "transpose"})
# Their results are their operands, parts of them, or were counted where they were computed.
_NO_MEMORY = frozenset(
  ["tuple", "get-tuple-element", "opt-barrier", "add-dependency", "call", "fusion", "while", "conditional"]
  + ["async-start", "async-update", "async-done", "all-reduce-done", "all-gather-done", "collective-permute-done"]
)
_SIZED_BY_ATTRIBUTES = frozenset({"pad", "reduce-window", "convolution", "concatenate", "dot", "gather"})
# Evaluated even if nothing uses them.
_EFFECTS = frozenset({"custom-call", "rng", "rng-get-and-update-state"})


def describe(instruction: Instruction) -> str:
  """`%add.1 = f32[4] add(f32[4] %x, f32[4] %y) in computation %main`."""
  operands = ", ".join(f"{o.shape} %{o.name}" for o in instruction.operands)
  where = f" in computation %{instruction.parent.name}" if instruction.parent is not None else ""
  return f"%{instruction.name} = {instruction.shape} {instruction.opcode}({operands}){where}"


def evaluate_error(instruction: Instruction, reason: str) -> HloEvaluateError:
  return HloEvaluateError(f"{reason}\n  at {describe(instruction)}")


def rule_error(instruction: Instruction, error: Exception) -> HloEvaluateError:
  """What a rule raised on a module that breaks its assumptions, as an error of the evaluator."""
  reason = f"{type(error).__name__} in the evaluator's rule for {instruction.opcode}: {error}"
  return evaluate_error(instruction, f"{reason}; hlo.verify(module) may say why")


@dataclass(slots=True)
class Step:
  instruction: Instruction
  rule: Callable[..., Value]
  is_blocking: bool
  operands: tuple[int, ...]
  slot: int
  freed: tuple[int, ...]
  dimensions: tuple[int, ...] | None  # what the result must look like; None for tuples, tokens and dynamic shapes
  dtype: np.dtype | None
  size: int  # of the result in bytes, as it is computed; 0 if it takes no memory of its own


@dataclass(slots=True)
class Plan:
  computation: Computation
  parameters: tuple[int, ...]  # parameter number → slot
  template: list[Value]  # constants in their slots, None elsewhere
  steps: list[Step]
  root: int


@dataclass(slots=True)
class Host:
  """The devices' view of the outside world."""

  infeed: deque[Value] = field(default_factory=deque)
  outfeed: list[Value] = field(default_factory=list)
  generator: np.random.Generator | None = None  # of `rng`; None: the module may not use it
  state: int = 0x7012395  # of `rng-get-and-update-state`: XLA's own initial value


def check_value(value: Value, shape: Shape) -> str | None:
  """Why `value` cannot have this shape, or None."""
  if shape.is_tuple:
    if not isinstance(value, tuple) or len(value) != len(shape.tuple_shapes):
      return f"expected a tuple of {len(shape.tuple_shapes)}"
    problems = (check_value(v, s) for v, s in zip(value, shape.tuple_shapes))
    return next((p for p in problems if p is not None), None)
  if shape.is_buffer:
    return check_value(value, shape.tuple_shapes[0])
  if not shape.is_array:
    return None
  if not isinstance(value, np.ndarray):
    return f"expected an array of {shape}, found {type(value).__name__}"
  if value.dtype != shape.dtype:
    return f"expected elements of type {shape.dtype}, found {value.dtype}"
  sizes = zip(value.shape, shape.dimensions, shape.dynamic or (False,) * shape.rank)
  fits = all(n == d or (is_dynamic and (n <= d or d < 0)) for n, d, is_dynamic in sizes)
  if len(value.shape) != shape.rank or not fits:
    return f"expected dimensions {list(shape.dimensions)}, found {list(value.shape)}"
  return None


class Program:
  """What the devices share: the module, its plans, and the custom calls."""

  def __init__(
    self,
    module: Module,
    custom_calls: Mapping[str, CustomCall],
    on_value: Observer | None = None,
    limits: EvaluateLimits | None = None,
  ) -> None:
    self.module = module
    self.custom_calls = custom_calls
    self.on_value = on_value
    self.budget = Budget(limits or EvaluateLimits(), describe)
    self._plans: dict[Computation, Plan] = {}
    self._vectorised: dict[Computation, Callable[[Sequence[np.ndarray]], Arrays] | None] = {}

  def plan(self, computation: Computation) -> Plan:
    found = self._plans.get(computation)
    if found is None:
      found = self._plans[computation] = make_plan(computation)
    return found

  def vectorised(self, computation: Computation) -> Callable[[Sequence[np.ndarray]], Arrays] | None:
    """The computation as a function on arrays of one shape; None if it holds more than scalar arithmetic."""
    if computation not in self._vectorised:
      self._vectorised[computation] = _vectorise(self, self.plan(computation))
    return self._vectorised[computation]


class Device:
  """One simulated device."""

  def __init__(
    self, program: Program, host: Host, replica: int, partition: int, replicas: int, partitions: int
  ) -> None:
    self.program = program
    self.host = host
    self.replica, self.partition = replica, partition
    self.replicas, self.partitions = replicas, partitions
    self.number = replica * partitions + partition
    self.mailbox: dict[object, deque[Value]] = {}  # replaced by one shared among all devices

  def run(self, computation: Computation, arguments: Sequence[Value]) -> Generator[Request, Value, Value]:
    plan = self.program.plan(computation)
    on_value, budget = self.program.on_value, self.program.budget
    values = list(plan.template)
    for slot, argument in zip(plan.parameters, arguments):
      values[slot] = argument
    for step in plan.steps:
      operands = [values[i] for i in step.operands]
      budget.step(step.instruction)
      if step.size:
        budget.reserve(step.instruction, step.size)
      try:
        if step.is_blocking:
          value = yield from step.rule(self, step.instruction, operands)
        else:
          value = step.rule(self, step.instruction, operands)
        if step.dtype is not None:
          value = np.asarray(value)
      except HloError:
        raise
      except Exception as error:
        raise rule_error(step.instruction, error) from error
      if step.dtype is not None:
        if value.shape != step.dimensions or value.dtype != step.dtype:
          raise evaluate_error(step.instruction, _wrong_result(value, step.instruction.shape))
      elif (problem := check_value(value, step.instruction.shape)) is not None:
        raise evaluate_error(step.instruction, f"the operands do not give the shape that is written: {problem}")
      if step.size:
        budget.track(value)
      values[step.slot] = value
      if on_value is not None:
        on_value(self.number, step.instruction, value)
      for slot in step.freed:
        values[slot] = None
    return values[plan.root]

  def call(self, computation: Computation, arguments: Sequence[Value]) -> Value:
    """Runs a computation that may not communicate."""
    running = self.run(computation, arguments)
    try:
      request = next(running)
    except StopIteration as stop:
      return stop.value
    raise evaluate_error(request.instruction, "a comparator, reduction or map cannot communicate; move it out of there")

  def scalar_function(self, computation: Computation) -> Callable[[Sequence[np.ndarray]], Arrays]:
    """The computation on arrays of one shape, element by element: vectorised, or one call per element."""
    vectorised = self.program.vectorised(computation)
    if vectorised is not None:
      return vectorised

    def each(arguments: Sequence[np.ndarray]) -> Arrays:
      arrays = np.broadcast_arrays(*arguments)
      shapes = [s for _, s in computation.root.shape.leaves()]
      results = [np.empty(arrays[0].shape, s.dtype) for s in shapes]
      for position in np.ndindex(arrays[0].shape):
        value = self.call(computation, [np.asarray(a[position]) for a in arrays])
        for result, part in zip(results, value if isinstance(value, tuple) else (value,)):
          result[position] = part
      return results

    return each


def _wrong_result(value: np.ndarray, shape: Shape) -> str:
  found = f"{value.dtype}{list(value.shape)}"
  return f"the operands give {found}, but the instruction says {shape}: run hlo.verify(module) to find out why"


def make_plan(computation: Computation) -> Plan:
  order = computation.topological_order()
  needed: set[Instruction] = set()
  for instruction in reversed(order):
    opcode = instruction.opcode
    if instruction is computation.root or rule_key(instruction) in BLOCKING_RULES or opcode in _EFFECTS:
      needed.add(instruction)
    if instruction in needed:
      needed.update(instruction.operands)
  slots = {instruction: slot for slot, instruction in enumerate(order)}
  last_use: dict[Instruction, Instruction] = {}
  for instruction in order:
    if instruction in needed:
      for operand in instruction.operands:
        last_use[operand] = instruction
  template: list[Value] = [None] * len(order)
  parameters: dict[int, int] = {}
  steps: list[Step] = []
  for instruction in order:
    opcode, slot = instruction.opcode, slots[instruction]
    if opcode == "parameter":
      parameters[instruction.parameter_number] = slot
    elif instruction not in needed:
      continue
    elif opcode == "constant":
      template[slot] = _constant(instruction)
    else:
      dying = (o for o in dict.fromkeys(instruction.operands) if last_use[o] is instruction)
      freed = tuple(slots[o] for o in dying if o is not computation.root)
      steps.append(_step(instruction, tuple(slots[o] for o in instruction.operands), slot, freed))
  return Plan(computation, tuple(parameters[i] for i in sorted(parameters)), template, steps, slots[computation.root])


def rule_key(instruction: Instruction) -> str:
  """The opcode; of custom calls whose devices meet, with the target."""
  if instruction.opcode != "custom-call":
    return instruction.opcode
  key = f"custom-call:{instruction.attrs.get('custom_call_target')}"
  return key if key in BLOCKING_RULES else instruction.opcode


def _constant(instruction: Instruction) -> Value:
  literal = instruction.literal
  if literal.is_elided:
    reason = "the text of this constant was elided ({...}); print the module with its large constants"
    raise evaluate_error(instruction, reason)
  value = literal.to_numpy()
  if literal.dynamic_sizes and isinstance(value, np.ndarray):
    value = value[tuple(slice(n) for n in literal.dynamic_sizes)]
  return value


def _step(instruction: Instruction, operands: tuple[int, ...], slot: int, freed: tuple[int, ...]) -> Step:
  rule = BLOCKING_RULES.get(rule_key(instruction))
  is_blocking = rule is not None
  function: Callable[..., Value] | None = rule if rule is not None else RULES.get(instruction.opcode)
  if function is None:
    raise evaluate_error(instruction, f"the evaluator has no rule for {instruction.opcode}")
  shape = instruction.shape
  static = shape.is_array and not shape.is_dynamic
  dimensions, dtype = (shape.dimensions, shape.dtype) if static else (None, None)
  size = 0 if instruction.opcode in _NO_MEMORY else max(_size(shape), _computed_size(instruction))
  return Step(instruction, function, is_blocking, operands, slot, freed, dimensions, dtype, size)


def _computed_size(instruction: Instruction) -> int:
  """Bytes of what the operands and attributes give, which an illegal module may write another shape for."""
  if instruction.opcode not in _SIZED_BY_ATTRIBUTES:
    return 0
  try:
    return _size(infer_shape(instruction.opcode, instruction.operands, instruction.attrs))
  except HloError:
    return 0  # the rule says what is wrong


def _size(shape: Shape) -> int:
  """Bytes of a value while it is computed: floats are computed in float64."""
  leaves = [leaf for _, leaf in shape.leaves() if leaf.is_array]
  return sum(n.num_elements * (max(n.dtype.itemsize, 8) if n.kind == "float" else n.dtype.itemsize) for n in leaves)


def apply_to_arrays(step: Step, operands: Sequence[Value]) -> Value:
  """One step of a vectorised computation: an instruction on scalars, applied to arrays."""
  if step.instruction.opcode in _TRIVIAL_ON_SCALARS:
    return bitcast_convert(operands[0], step.instruction.shape.dtype)
  # The rules of elementwise opcodes and of tuples do not look at the device.
  value = step.rule(None, step.instruction, operands)
  return value if isinstance(value, tuple) else np.asarray(value)


def _vectorise(program: Program, plan: Plan) -> Callable[[Sequence[np.ndarray]], Arrays] | None:
  calls: dict[Instruction, Callable[[Sequence[np.ndarray]], Arrays]] = {}
  for step in plan.steps:
    instruction = step.instruction
    shapes = [instruction.shape, *(o.shape for o in instruction.operands)]
    if instruction.opcode in ("call", "fusion"):
      inner = program.vectorised(instruction.called_computations[0])
      if inner is None:
        return None
      calls[instruction] = inner
    elif instruction.opcode in ("tuple", "get-tuple-element"):
      continue
    elif instruction.opcode not in ELEMENTWISE and instruction.opcode not in _TRIVIAL_ON_SCALARS:
      return None
    if not all(leaf.is_scalar for shape in shapes for _, leaf in shape.leaves()):
      return None

  budget = program.budget

  def apply(arguments: Sequence[np.ndarray]) -> Arrays:
    values = list(plan.template)
    for slot, argument in zip(plan.parameters, arguments):
      values[slot] = argument
    for step in plan.steps:
      budget.step(step.instruction)
      operands = [values[i] for i in step.operands]
      if step.instruction in calls:
        parts = calls[step.instruction](operands)
        values[step.slot] = tuple(parts) if step.instruction.shape.is_tuple else parts[0]
      else:
        values[step.slot] = apply_to_arrays(step, operands)
    root = values[plan.root]
    return list(root) if isinstance(root, tuple) else [root]

  return apply
