"""Collectives between simulated devices.

Every collective runs among the members of a group. The meaning of the numbers in `replica_groups` depends on two attributes:

    channel_id   use_global_device_ids   the numbers are                          members of a group
    no           no                      replicas                                 those replicas, same partition
    yes          no (all-reduce, …)      replicas                                 those replicas, all their partitions
    yes          absent (permute, …)     partitions                               those partitions, same replica
    yes          yes                     devices: replica · partitions + part.    those devices

An empty list means one group of all. A start does the work and its done returns the result: asynchrony is invisible in values.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence

import numpy as np

from tilewright.hlo.evaluate.control import zeros
from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.numbers import narrow
from tilewright.hlo.evaluate.reductions import accumulator_type, monoid
from tilewright.hlo.evaluate.requests import Exchange, Rendezvous, Request
from tilewright.hlo.evaluate.table import Value, blocking_rule, rule
from tilewright.hlo.ir import Computation, Instruction

Run = Generator[Request, Value, Value]
# all-to-all, collective-permute and collective-broadcast have no use_global_device_ids: a channel means partitions.
_CHANNEL_MEANS_PARTITIONS = frozenset(
  {"all-to-all", "ragged-all-to-all", "collective-permute", "collective-permute-start", "collective-broadcast", "send"}
  | {"recv", "recv-done"}
)


def device_numbers(device: Device, instruction: Instruction, ids: Sequence[int]) -> tuple[int, ...]:
  """The devices that one group of ids denotes, seen from this device."""
  attrs = instruction.attrs
  if attrs.get("use_global_device_ids"):
    return tuple(ids)
  if not attrs.get("channel_id"):
    return tuple(replica * device.partitions + device.partition for replica in ids)
  if instruction.opcode in _CHANNEL_MEANS_PARTITIONS:
    return tuple(device.replica * device.partitions + partition for partition in ids)
  return tuple(replica * device.partitions + p for replica in ids for p in range(device.partitions))


def group_of(device: Device, instruction: Instruction) -> tuple[int, ...]:
  """The group this device is in."""
  attrs = instruction.attrs
  groups = attrs["replica_groups"].groups() if "replica_groups" in attrs else ()
  if not any(groups):
    everyone = device.replicas
    if attrs.get("use_global_device_ids"):
      everyone = device.replicas * device.partitions
    elif attrs.get("channel_id") and instruction.opcode in _CHANNEL_MEANS_PARTITIONS:
      everyone = device.partitions
    groups = (tuple(range(everyone)),)
  total = device.replicas * device.partitions
  for ids in groups:
    members = device_numbers(device, instruction, ids)
    if any(m >= total for m in members):
      reason = (
        f"the groups name device {max(members)}, but there are {device.replicas} replicas of {device.partitions} "
      )
      reason += "partitions; use evaluate_devices with as many as the module is for"
      raise evaluate_error(instruction, reason)
    if device.number in members:
      return members
  raise evaluate_error(instruction, f"device {device.number} runs this collective but is in none of its groups")


def meeting_point(instruction: Instruction) -> Hashable:
  """Devices rendezvous by channel, as they do in XLA; without one, at the same instruction."""
  channel = instruction.attrs.get("channel_id")
  return (instruction.opcode, channel) if channel else instruction


def meet(
  device: Device, instruction: Instruction, group: tuple[int, ...], contribution: Value, exchange: Exchange
) -> Run:
  return (yield Rendezvous(instruction, meeting_point(instruction), group, contribution, exchange))


def _per_operand(operate: Callable[[list[np.ndarray]], list[np.ndarray]]) -> Exchange:
  """An exchange of one array, applied to each operand of a variadic collective."""

  def exchange(contributions: list[Value]) -> list[Value]:
    columns = [operate([c[i] for c in contributions]) for i in range(len(contributions[0]))]
    return [tuple(column[member] for column in columns) for member in range(len(contributions))]

  return exchange


def _unwrap(instruction: Instruction, result: tuple) -> Value:
  """A collective of one operand returns an array, of several a tuple."""
  return result[0] if len(instruction.operands) == 1 else result


def combine(device: Device, computation: Computation, arrays: Sequence[np.ndarray]) -> np.ndarray:
  """Folds one array per member; sums of floats in float64, rounded once."""
  ufunc = monoid(computation)
  if ufunc is not None:
    wide = accumulator_type(arrays[0].dtype, ufunc)
    total = ufunc.reduce(np.stack([a.astype(wide) for a in arrays]), axis=0, dtype=wide)
    return narrow(np.asarray(total), arrays[0].dtype)
  function = device.scalar_function(computation)
  total = arrays[0]
  for array in arrays[1:]:
    (total,) = function([total, array])
  return np.asarray(total)


@blocking_rule("all-reduce", "all-reduce-start")
def all_reduce(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  def operate(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [combine(device, instruction.attrs["to_apply"], arrays)] * len(arrays)

  group = group_of(device, instruction)
  result = yield from meet(device, instruction, group, tuple(operands), _per_operand(operate))
  return _unwrap(instruction, result)


@blocking_rule("collective-reduce")
def collective_reduce(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """The first of the group gets the total; the results of the others are undefined, and zero here."""

  def operate(arrays: list[np.ndarray]) -> list[np.ndarray]:
    total = combine(device, instruction.attrs["to_apply"], arrays)
    return [total] + [np.zeros_like(total)] * (len(arrays) - 1)

  group = group_of(device, instruction)
  result = yield from meet(device, instruction, group, tuple(operands), _per_operand(operate))
  return _unwrap(instruction, result)


@blocking_rule("reduce-scatter")
def reduce_scatter(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  def operate(arrays: list[np.ndarray]) -> list[np.ndarray]:
    total = combine(device, instruction.attrs["to_apply"], arrays)
    return np.split(total, len(arrays), axis=instruction.attrs["dimensions"][0])

  group = group_of(device, instruction)
  result = yield from meet(device, instruction, group, tuple(operands), _per_operand(operate))
  return _unwrap(instruction, result)


def _gather(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  def operate(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [np.concatenate(arrays, axis=instruction.attrs["dimensions"][0])] * len(arrays)

  group = group_of(device, instruction)
  result = yield from meet(device, instruction, group, tuple(operands), _per_operand(operate))
  return _unwrap(instruction, result)


@blocking_rule("all-gather")
def all_gather(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  return (yield from _gather(device, instruction, operands))


@blocking_rule("all-gather-start")
def all_gather_start(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  result = yield from _gather(device, instruction, operands)
  return _operands_and(instruction, operands, result)


def _operands_and(instruction: Instruction, operands: Sequence[Value], result: Value) -> Value:
  """(operands, result, context…), the value of a start."""
  context = (zeros(shape) for shape in instruction.shape.tuple_shapes[2:])
  return (operands[0] if len(operands) == 1 else tuple(operands), result, *context)


@rule("all-reduce-done")
def all_reduce_done(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0]


@rule("all-gather-done", "collective-permute-done")
def second_element(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0][1]


@blocking_rule("all-to-all")
def all_to_all(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """Array form: split along a dimension, exchange, concatenate along it. Tuple form: one operand for each member."""
  dimensions = instruction.attrs.get("dimensions")

  def exchange(contributions: list[Value]) -> list[Value]:
    count = len(contributions)
    if not dimensions:
      return [tuple(c[member] for c in contributions) for member in range(count)]
    cut = [np.split(c[0], count, axis=dimensions[0]) for c in contributions]
    return [np.concatenate([parts[member] for parts in cut], axis=dimensions[0]) for member in range(count)]

  group = group_of(device, instruction)
  if not dimensions and len(operands) != len(group):
    raise evaluate_error(instruction, f"{len(operands)} operands for a group of {len(group)}: one for each member")
  result = yield from meet(device, instruction, group, tuple(operands), exchange)
  return result if dimensions or instruction.shape.is_tuple else result[0]


@blocking_rule("collective-broadcast")
def collective_broadcast(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """The first of the group sends; a device in no group gets zeros."""
  ids = [i for group in instruction.attrs["replica_groups"].groups() for i in group]
  if ids and device.number not in device_numbers(device, instruction, ids):
    return zeros(instruction.shape)
  exchange = _per_operand(lambda arrays: [arrays[0]] * len(arrays))
  result = yield from meet(device, instruction, group_of(device, instruction), tuple(operands), exchange)
  return _unwrap(instruction, result)


def connected(pairs: Sequence[tuple[int, int]], start: int) -> tuple[int, ...]:
  """The devices that are connected with `start` by pairs, in order."""
  found, frontier = {start}, [start]
  while frontier:
    here = frontier.pop()
    for a, b in pairs:
      for other in ((b,) if a == here else ()) + ((a,) if b == here else ()):
        if other not in found:
          found.add(other)
          frontier.append(other)
  return tuple(sorted(found))


def device_pairs(device: Device, instruction: Instruction, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
  return [(a, b) for a, b in (device_numbers(device, instruction, pair) for pair in pairs)]


def _permute(device: Device, instruction: Instruction, contribution: tuple, missing: tuple) -> Run:
  """What the device receives from its source; `missing` if it has none."""
  pairs = device_pairs(device, instruction, instruction.attrs["source_target_pairs"])
  if not any(device.number in pair for pair in pairs):
    return missing
  group = connected(pairs, device.number)
  source_of = {target: source for source, target in pairs}

  def exchange(contributions: list[Value]) -> list[Value]:
    sent = dict(zip(group, contributions))
    return [sent[source_of[member]] if member in source_of else None for member in group]

  received = yield from meet(device, instruction, group, contribution, exchange)
  return missing if received is None else received


@blocking_rule("collective-permute", "collective-permute-start")
def collective_permute(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """A device that is not a target gets zeros (or, in the form with slices, keeps the contents of the output)."""
  if "slice_sizes" in instruction.attrs:
    result = yield from _permute_slice(device, instruction, operands)
    operands = operands[:1]
  else:
    missing = tuple(np.zeros_like(x) for x in operands)
    received = yield from _permute(device, instruction, tuple(operands), missing)
    result = _unwrap(instruction, received)
  return _operands_and(instruction, operands, result) if instruction.opcode.endswith("start") else result


def _permute_slice(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """(input, output, start in the input, start in the output): one slice moves into place."""
  source, target, source_start, target_start = operands
  sizes = instruction.attrs["slice_sizes"]
  sizes = sizes[0] if sizes and isinstance(sizes[0], tuple) else sizes
  flat = lambda start: [int(i) for i in (start[0] if start and isinstance(start[0], tuple) else start)]
  box = lambda start: tuple(slice(i, i + n) for i, n in zip(flat(start), sizes))
  received = yield from _permute(device, instruction, (source[box(source_start)],), (None,))
  if received[0] is None:
    return target
  result = np.array(target)
  result[box(target_start)] = received[0]
  return result


@blocking_rule("ragged-all-to-all")
def ragged_all_to_all(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """(input, output, input offsets, send sizes, output offsets, receive sizes). Offsets into the output are given by
  the sender; each list has the same number of entries for every member of the group, in order.
  """

  def exchange(contributions: list[Value]) -> list[Value]:
    results = [np.array(c[1]) for c in contributions]
    count = len(contributions)
    for data, _, offsets, sizes, targets, _ in contributions:
      each = len(sizes.reshape(-1)) // count
      for entry, (start, size, to) in enumerate(zip(offsets.reshape(-1), sizes.reshape(-1), targets.reshape(-1))):
        results[entry // each][int(to) : int(to) + int(size)] = data[int(start) : int(start) + int(size)]
    return list(results)

  return (yield from meet(device, instruction, group_of(device, instruction), tuple(operands), exchange))


@rule("partition-id")
def partition_id(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return np.array(device.partition, np.uint32)


@rule("replica-id")
def replica_id(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return np.array(device.replica, np.uint32)
