"""Messages: send and recv between devices, infeed and outfeed to the host.

A send puts its data into the mailbox of (channel, source, target) and continues. A recv-done waits until a message has
arrived. The source-target pairs are in the frontend attribute `_xla_send_recv_source_target_pairs`, as XLA writes it when it
decomposes a collective-permute. Transfers to the host use the infeed and outfeed queues.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Sequence

import numpy as np

from tilewright.hlo.evaluate.collectives import device_pairs
from tilewright.hlo.evaluate.control import zeros
from tilewright.hlo.evaluate.interpreter import Device, check_value, evaluate_error
from tilewright.hlo.evaluate.requests import Receive, Request
from tilewright.hlo.evaluate.table import TOKEN, Value, blocking_rule
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape

Run = Generator[Request, Value, Value]
PAIRS = "_xla_send_recv_source_target_pairs"


def _pairs(device: Device, instruction: Instruction) -> list[tuple[int, int]]:
  """From the instruction itself, from its start, or from any transfer on the same channel."""
  channel = instruction.attrs.get("channel_id")
  candidates = [instruction, *instruction.operands]
  candidates += [
    i
    for i in device.program.module.instructions()
    if i.opcode in ("send", "recv", "send-done", "recv-done") and i.attrs.get("channel_id") == channel
  ]
  for candidate in candidates:
    text = candidate.frontend_attributes.get(PAIRS)
    if text is not None:
      found = re.findall(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}", text)
      return device_pairs(device, instruction, [(int(a), int(b)) for a, b in found])
  raise evaluate_error(instruction, f"the source-target pairs are missing: add the frontend attribute {PAIRS}")


def _is_host_transfer(instruction: Instruction) -> bool:
  return bool(instruction.attrs.get("is_host_transfer"))


@blocking_rule("send")
def send(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  data = operands[0]
  if _is_host_transfer(instruction):
    device.host.outfeed.append(data)
  else:
    for source, target in _pairs(device, instruction):
      if source == device.number:
        key = (instruction.attrs.get("channel_id"), source, target)
        device.mailbox.setdefault(key, deque()).append(data)
  return (data, np.zeros((), np.uint32), TOKEN)
  yield  # a generator, so that it counts as an effect and is never skipped


@blocking_rule("send-done")
def send_done(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  return TOKEN
  yield


@blocking_rule("recv")
def recv(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  return (zeros(instruction.shape.tuple_shapes[0]), np.zeros((), np.uint32), TOKEN)
  yield


@blocking_rule("recv-done")
def recv_done(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  shape = instruction.shape.tuple_shapes[0]
  if _is_host_transfer(instruction):
    return (_from_host(device, instruction, shape), TOKEN)
  for source, target in _pairs(device, instruction):
    if target == device.number:
      data = yield Receive(instruction, instruction.attrs.get("channel_id"), source, target)
      return (data, TOKEN)
  return (zeros(shape), TOKEN)


def _from_host(device: Device, instruction: Instruction, shape: Shape) -> Value:
  if not device.host.infeed:
    raise evaluate_error(instruction, "the infeed queue is empty: pass evaluate(…, infeed=[…]) one value per read")
  value = device.host.infeed.popleft()
  problem = check_value(value, shape)
  if problem is not None:
    raise evaluate_error(instruction, f"the next value of the infeed queue does not fit: {problem}")
  return value


@blocking_rule("infeed")
def infeed(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  return (_from_host(device, instruction, instruction.shape.tuple_shapes[0]), TOKEN)
  yield


@blocking_rule("outfeed")
def outfeed(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  device.host.outfeed.append(operands[0])
  return TOKEN
  yield
