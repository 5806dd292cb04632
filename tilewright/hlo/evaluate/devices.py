"""The event loop of several devices: each runs until it needs the others; requests are answered as soon as they can be.

Devices need not be in step. A rendezvous is complete when every member of its group waits at the same meeting point with
the same group. If every device waits and no rendezvous is complete, the program would deadlock on real devices. Here that is an
error, which reports where each device waits.
"""

from __future__ import annotations

from collections.abc import Generator

from tilewright.hlo.errors import HloError, HloEvaluateError
from tilewright.hlo.evaluate.interpreter import Device, describe, rule_error
from tilewright.hlo.evaluate.requests import Receive, Rendezvous, Request
from tilewright.hlo.evaluate.table import Value


def run_devices(devices: list[Device], arguments: list[list[Value]]) -> list[Value]:
  """Runs the entry computation on every device; the results, in order of device number."""
  for device in devices[1:]:
    device.mailbox = devices[0].mailbox
  running: dict[int, Generator[Request, Value, Value]] = {}
  waiting: dict[int, Request] = {}
  results: dict[int, Value] = {}
  answers: dict[int, Value] = {}
  for device, values in zip(devices, arguments):
    running[device.number] = device.run(device.program.module.entry, values)
    answers[device.number] = None  # what starts a generator
  while answers:
    for number, answer in answers.items():
      try:
        waiting[number] = running[number].send(answer)
      except StopIteration as stop:
        results[number] = stop.value
    answers = _answer_ready_requests(waiting, devices)
    for number in answers:
      del waiting[number]
  if waiting:
    raise HloEvaluateError(_hang_message(waiting, results))
  return [results[device.number] for device in devices]


def _answer_ready_requests(waiting: dict[int, Request], devices: list[Device]) -> dict[int, Value]:
  """Every request that can be answered now, with its answer."""
  answers: dict[int, Value] = {}
  for number, request in waiting.items():
    if number in answers:
      continue
    if isinstance(request, Receive):
      messages = devices[0].mailbox.get((request.channel, request.source, request.target))
      if messages:
        answers[number] = messages.popleft()
      continue
    members = [waiting.get(member) for member in request.group]
    if all(isinstance(m, Rendezvous) and m.meeting == request.meeting and m.group == request.group for m in members):
      try:
        parts = request.exchange([m.contribution for m in members if isinstance(m, Rendezvous)])
      except HloError:
        raise
      except Exception as error:
        raise rule_error(request.instruction, error) from error
      answers.update(zip(request.group, parts))
  return answers


def _hang_message(waiting: dict[int, Request], results: dict[int, Value]) -> str:
  lines = ["the devices wait for each other forever (on real devices this program would hang):"]
  for number, request in sorted(waiting.items()):
    if isinstance(request, Rendezvous):
      others = ", ".join(str(m) for m in request.group if m != number) or "nobody else"
      lines.append(f"  device {number} waits for {others} at {describe(request.instruction)}")
    else:
      lines.append(f"  device {number} waits for a message of {request.source} at {describe(request.instruction)}")
  if results:
    lines.append(f"  finished: {', '.join(str(number) for number in sorted(results))}")
  lines.append(
    "Every member of a group must reach the same collective equally often: look at the conditions before it."
  )
  return "\n".join(lines)
