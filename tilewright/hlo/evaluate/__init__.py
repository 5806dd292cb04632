"""The evaluator of HLO: computes what a module computes, on numpy arrays.

    hlo.evaluate(module, x, y)                        one device
    hlo.evaluate_devices(module, [(x0,), (x1,)])      one result per device; collectives communicate

This is the oracle for the passes: `evaluate(before, *args)` must equal `evaluate(after, *args)`. Every opcode has one small
rule (`table.py` describes their form). Results are at least as exact as any back end's, because floats are accumulated in
float64 and rounded once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.hlo.errors import HloEvaluateError
from tilewright.hlo.evaluate import (  # importing a module fills the rule table
  collectives,
  contractions,
  control,
  dynamic,
  elementwise,
  indexing,
  lapack,
  linalg,
  random,
  reductions,
  shapes,
  shardy,
  sorting,
  transfers,
)
from tilewright.hlo.evaluate.custom_calls import CUSTOM_CALLS, custom_call
from tilewright.hlo.evaluate.devices import run_devices
from tilewright.hlo.evaluate.interpreter import CustomCall, Device, Host, Observer, Program, check_value
from tilewright.hlo.evaluate.limits import EvaluateLimits
from tilewright.hlo.evaluate.table import BLOCKING_RULES, RULES, TOKEN, Value
from tilewright.hlo.ir import Module
from tilewright.hlo.shape import Shape

__all__ = ["CUSTOM_CALLS", "EvaluateLimits", "custom_call", "evaluate", "evaluate_devices", "supported_opcodes"]


def supported_opcodes() -> frozenset[str]:
  """Every opcode the evaluator has a rule for."""
  named = {*RULES, *BLOCKING_RULES, "parameter", "constant"}
  return frozenset(name for name in named if ":" not in name)


def evaluate(
  module: Module,
  *args: object,
  custom_calls: Mapping[str, CustomCall] | None = None,
  infeed: Sequence[object] = (),
  outfeed: list[Value] | None = None,
  seed: int | None = None,
  on_value: Observer | None = None,
  limits: EvaluateLimits | None = None,
) -> Value:
  """What `module` computes on one device: an array, or nested tuples of them.

  `args` are the entry's parameters, arrays of exactly the parameter's type (Python numbers are converted; tuples for
  tuple parameters). `custom_calls` adds to the table of custom calls. `infeed` is what infeed instructions read, and
  `outfeed`, if given, receives what outfeed instructions write. `seed` starts the generator of `rng`, which is an error
  without one. `on_value(device, instruction, value)` sees every value as it is computed.
  `limits` bounds memory, steps and time; what exceeds them is an `HloEvaluateError`.
  """
  host = _host(infeed, seed, 0)
  count = shardy.devices_of(
    module
  )  # more than one where a program over global arrays has parts that run on each device
  result, *_ = _run(module, [args] * count, 1, count, custom_calls, [host] * count, on_value, limits)
  if outfeed is not None:
    outfeed.extend(host.outfeed)
  return result


def evaluate_devices(
  module: Module,
  args: Sequence[Sequence[object]],
  *,
  num_replicas: int | None = None,
  num_partitions: int | None = None,
  custom_calls: Mapping[str, CustomCall] | None = None,
  infeed: Sequence[Sequence[object]] | None = None,
  outfeed: list[list[Value]] | None = None,
  seed: int | None = None,
  on_value: Observer | None = None,
  limits: EvaluateLimits | None = None,
) -> list[Value]:
  """What `module` computes on each of several devices.

  `args[d]` are the arguments of device d = replica · num_partitions + partition. The counts are the module's own unless
  they are given (`num_replicas`, `num_partitions`). `infeed[d]` and `outfeed[d]` belong to device d; `custom_calls`, `seed`,
  `on_value` and `limits` are as for `evaluate`.
  A program that deadlocks is an `HloEvaluateError`, not a hang.
  """
  replicas = module.replica_count if num_replicas is None else num_replicas
  partitions = module.num_partitions if num_partitions is None else num_partitions
  if len(args) != replicas * partitions:
    counts = f"{replicas} replicas of {partitions} partitions"
    raise HloEvaluateError(
      f"{len(args)} lists of arguments for {counts}: one for each device, or set num_replicas / num_partitions"
    )
  hosts = [_host(infeed[d] if infeed is not None else (), seed, d) for d in range(len(args))]
  results = _run(module, args, replicas, partitions, custom_calls, hosts, on_value, limits)
  if outfeed is not None:
    outfeed.extend(host.outfeed for host in hosts)
  return results


def _host(infeed: Sequence[object], seed: int | None, device: int) -> Host:
  generator = None if seed is None else np.random.default_rng([seed, device])
  return Host(infeed=deque(_to_value(item) for item in infeed), generator=generator)


def _to_value(item: object) -> Value:
  return tuple(_to_value(part) for part in item) if isinstance(item, (tuple, list)) else np.asarray(item)


def _run(
  module: Module,
  args: Sequence[Sequence[object]],
  replicas: int,
  partitions: int,
  custom_calls: Mapping[str, CustomCall] | None,
  hosts: list[Host],
  on_value: Observer | None,
  limits: EvaluateLimits | None,
) -> list[Value]:
  program = Program(module, custom_calls or {}, on_value, limits)
  values = [_arguments(module, own) for own in args]
  devices = [Device(program, host, *divmod(d, partitions), replicas, partitions) for d, host in enumerate(hosts)]
  with np.errstate(all="ignore"):  # overflow, division by zero and the like are ordinary values in HLO
    return [_owned(result) for result in run_devices(devices, values)]


def _owned(value: Value) -> Value:
  """A copy the caller may write to: inside, values are shared with arguments, constants and each other."""
  if isinstance(value, tuple):
    return tuple(_owned(part) for part in value)
  return np.array(value, order="C") if isinstance(value, np.ndarray) else value


def _arguments(module: Module, args: Sequence[object]) -> list[Value]:
  parameters = module.entry.parameters
  if len(args) != len(parameters):
    wanted = ", ".join(f"{p.shape} %{p.name}" for p in parameters)
    raise HloEvaluateError(f"module {module.name} takes {len(parameters)} arguments ({wanted}), {len(args)} were given")
  values = []
  for number, (argument, parameter) in enumerate(zip(args, parameters)):
    value = _argument(argument, parameter.shape)
    problem = check_value(value, parameter.shape)
    if problem is not None:
      raise HloEvaluateError(f"argument {number} of {module.name}, {parameter.shape} %{parameter.name}: {problem}")
    values.append(value)
  return values


def _argument(argument: object, shape: Shape) -> Value:
  if shape.is_tuple and isinstance(argument, (tuple, list)):
    return tuple(_argument(part, s) for part, s in zip(argument, shape.tuple_shapes, strict=True))
  if shape.is_token:
    return TOKEN
  if shape.is_array and isinstance(argument, (bool, int, float, complex)):
    return np.array(argument).astype(shape.dtype)
  return np.asarray(argument)
