"""Deadlock detection: whether a wait between devices can still end, and the error message if it cannot.

Native code asks this (`tilewright_stuck`) a few times a second while a device waits. The answer is a message, which ends the wait with an
error, or nothing. A wait cannot end if

- another device of the rendezvous has failed, or a process has ended whose devices take part, or
- every device of the run waits or has ended its body, and none has moved between two looks, or
- a device has not come at all after `TILEWRIGHT_TIMEOUT` seconds (40 unless said, as long as XLA waits for its own collectives).

Two looks are enough: a device that is seen in the same wait twice was in it all the time between, so between the two looks no device was
left that could signal.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import dataclasses
import functools
import itertools
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator

from tilewright.runtime import linking
from tilewright.runtime.linking import Linked
from tilewright.runtime.meeting import timeout
from tilewright.target.cpu import rendezvous_layout
from tilewright.target.cpu.rendezvous_layout import (
  ABSENT,
  BODY_DONE,
  FAILED,
  FOR_CORES,
  FOR_DEVICE,
  FOR_END,
  FOR_POLLED,
  FOR_POLLED_OR_OTHER,
  FOR_SEMAPHORE,
  GONE,
  IN_BODY,
  OUTSIDE,
)

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
_ELSEWHERE = 1.0  # seconds after which devices that wait in another kernel count as stuck there
_PATIENCE = 2.0  # seconds that a device whose body is over waits for others that may not come at all
_texts: collections.deque[ctypes.Array] = collections.deque(maxlen=256)  # messages that callers are about to copy
_LONGEST_STEP = 2.0  # seconds between two looks that count as waiting
_since: dict[tuple[int, int, int, int], float] = {}
_reported: set[tuple[int, int, int]] = set()
# What a device saw when it looked first, if nothing has changed since.
_polled: dict[tuple[int, int, int], tuple[object, dict[int, int]]] = {}
_clock = [time.monotonic(), 0.0]  # when it was last looked at, and what it showed
_lock = threading.Lock()
_RUN_AHEAD = (
  " XLA takes 32 runs for each CPU device and starts them on as many threads as processors: a program that is called more often before its "
  "results are waited for may stop like this, and jax.block_until_ready every 30 calls keeps it going."
)
_GANG = -1  # stands for all devices of a gang that wait
_launcher: list[Linked] = []


@dataclasses.dataclass(frozen=True)
class Slot:
  """What one device does in a rendezvous."""

  device: int
  state: int
  waits: int
  where: str  # the line where it waits, if it does
  kind: int
  counted: int
  expected: int
  error: str
  other: int  # the device that it waits for, if it waits for one
  polls: int  # how often it has read a semaphore, if it polls

  @property
  def is_blocked(self) -> bool:
    """Whether it waits for a condition that does not hold yet."""
    return self.state == IN_BODY and bool(self.where) and self.counted < self.expected

  @property
  def is_polling(self) -> bool:
    return self.is_blocked and self.kind in (FOR_POLLED, FOR_POLLED_OR_OTHER)

  @property
  def is_over(self) -> bool:
    return self.state in (BODY_DONE, FAILED, GONE, OUTSIDE)

  @property
  def does(self) -> str:
    if self.state == ABSENT:
      return "has not come"
    if self.state == FAILED:
      return f"has failed: {self.error.splitlines()[0] if self.error else ''}"
    if self.is_over:
      return "has ended the kernel"
    if not self.where:
      return "is running"
    if self.kind == FOR_DEVICE:
      return f"waits at {self.where} for device {self.other} to come"
    if self.kind in (FOR_POLLED, FOR_POLLED_OR_OTHER):
      return f"polls a semaphore at {self.where}"
    if self.kind == FOR_CORES:
      return f"waits with all its cores; one {self.where}"
    return f"waits at {self.where} for a semaphore, which has {self.counted} of {self.expected}"


@dataclasses.dataclass(frozen=True)
class Rendezvous:
  address: int
  run: int
  name: str
  slots: tuple[Slot, ...]
  domain: int
  created: int  # nanoseconds: another one may be at the same address later

  @property
  def report(self) -> str:
    return "".join(f"\n  device {s.device} {s.does}" for s in self.members)

  @property
  def members(self) -> list[Slot]:
    """The devices that take part."""
    return [s for s in self.slots if s.state != OUTSIDE]


def _word(address: int) -> int:
  return ctypes.c_int64.from_address(address).value


def _text(address: int) -> str:
  return ctypes.string_at(address).decode(errors="replace") if address else ""


def _slot(rendezvous: int, device: int, *, look: bool) -> Slot:
  """What a device does. Its semaphores may be gone unless the one who asks is in the same rendezvous, and may `look` at them."""
  at = rendezvous + rendezvous_layout.SLOTS + device * rendezvous_layout.SLOT_BYTES
  state, where = _word(at + rendezvous_layout.STATE), _text(_word(at + rendezvous_layout.WHERE))
  kind, place = _word(at + rendezvous_layout.KIND), _word(at + rendezvous_layout.COUNTER)
  is_counted = look and where and place and kind in (FOR_SEMAPHORE, FOR_DEVICE, FOR_END)
  counted = ctypes.c_int32.from_address(place).value if is_counted else 0
  other = (place - rendezvous - rendezvous_layout.SLOTS) // rendezvous_layout.SLOT_BYTES if kind == FOR_DEVICE else -1
  error = _text(_word(at + rendezvous_layout.ERROR)) if state == FAILED else ""
  return Slot(
    device,
    state,
    _word(at + rendezvous_layout.WAITS),
    where,
    kind,
    counted,
    1 if kind == FOR_CORES else _word(at + rendezvous_layout.EXPECTED),
    error,
    other,
    _word(at + rendezvous_layout.POLLS),
  )


def _read_rendezvous(address: int, *, look: bool = True) -> Rendezvous:
  count = _word(address + rendezvous_layout.COUNT)
  name = _text(_word(address + rendezvous_layout.NAME))
  found = tuple(_slot(address, d, look=look) for d in range(count))
  run, domain, created = (
    _word(address + at) for at in (rendezvous_layout.RUN, rendezvous_layout.DOMAIN_OF, rendezvous_layout.CREATED)
  )
  return Rendezvous(address, run, name, found, domain, created)


def own_domain() -> int:
  """Where the domain of this process is, or 0 before anything has met."""
  return _launcher[0].address(rendezvous_layout.DOMAIN) if _launcher else 0


@contextlib.contextmanager
def _held(domain: int) -> Iterator[None]:
  """Inside, the list of a domain's rendezvous does not change."""
  hold, release = (
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_launcher[0].address(name))
    for name in (rendezvous_layout.HOLD, rendezvous_layout.RELEASE)
  )
  hold(domain)
  try:
    yield
  finally:
    release(domain)


def all_rendezvous(domain: int) -> list[Rendezvous]:
  """Those that are under way. Asked by a device inside of one."""
  with _held(domain):
    return _listed(domain)


def _listed(domain: int) -> list[Rendezvous]:
  """The rendezvous in a domain's list, which does not change meanwhile."""
  found: list[Rendezvous] = []
  at = _word(domain + rendezvous_layout.HEAD)
  while at and len(found) < 1024:
    found.append(_read_rendezvous(at, look=False))
    at = _word(at + rendezvous_layout.NEXT)
  return found


def history(run: int | None = None, domain: int | None = None) -> dict[int, list[str]]:
  """The kernels that each device entered last, in order; of one run, or of all."""
  domain = own_domain() if domain is None else domain
  if not domain:
    return {}
  table = domain + rendezvous_layout.HISTORY_TABLE
  total = _word(table)
  found: dict[int, list[str]] = {}
  for number in range(max(0, total - rendezvous_layout.HISTORY), total):
    at = table + 8 + (number % rendezvous_layout.HISTORY) * rendezvous_layout.HISTORY_ENTRY
    if run is None or _word(at) == run:
      found.setdefault(_word(at + 8), []).append(_text(at + 16)[: rendezvous_layout.HISTORY_NAME])
  return found


def watchdog() -> float:
  """After how many seconds in one wait the state of all devices is printed: half of the timeout unless said, before XLA ends the process
  because one of its own collectives waits as long."""
  setting = os.environ.get("TILEWRIGHT_WATCHDOG", "")
  return float(setting) if setting else timeout() / 2


def _print(text: str) -> None:
  print(f"tilewright: {text}", file=sys.stderr, flush=True)


def _now() -> float:
  """Seconds in which this process has run while somebody waited: a process that was stopped has not let others wait in vain."""
  with _lock:
    now = time.monotonic()
    _clock[:] = [now, _clock[1] + min(now - _clock[0], _LONGEST_STEP)]
    return _clock[1]


def _waited(rendezvous: Rendezvous, me: int, waits: int) -> float:
  """Seconds since a device was first seen in a wait, the so manieth of its rendezvous."""
  key, now = (rendezvous.address, rendezvous.created, me, waits), _now()
  with _lock:
    if len(_since) > 4096:
      _since.clear()
    return now - _since.setdefault(key, now)


def _other_rendezvous_of(rendezvous: Rendezvous, device: int, others: list[Rendezvous]) -> Slot | None:
  """What a device that has not come does in another rendezvous of the same run, if it is in one and gets no further there."""
  for other in others:
    if other.address != rendezvous.address and other.run == rendezvous.run and device < len(other.slots):
      slot = other.slots[device]
      if (slot.state == IN_BODY and slot.where and not slot.is_polling) or slot.state == BODY_DONE:
        where = slot.where or "its end"
        inside = "" if "in kernel" in where else f" in kernel '{other.name}'"
        return dataclasses.replace(slot, where=where + inside)
  return None


def _snapshot(address: int) -> tuple[Rendezvous, dict[int, Slot]]:
  """A rendezvous, and what devices that have not come do elsewhere."""
  rendezvous = _read_rendezvous(address)
  others = all_rendezvous(rendezvous.domain)
  elsewhere = {
    s.device: _other_rendezvous_of(rendezvous, s.device, others) for s in rendezvous.slots if s.state == ABSENT
  }
  return rendezvous, {d: s for d, s in elsewhere.items() if s is not None}


def _is_stalled(rendezvous: Rendezvous, elsewhere: dict[int, Slot]) -> bool:
  return all(s.is_blocked or s.is_over or s.device in elsewhere for s in rendezvous.slots)


def _key(rendezvous: Rendezvous, elsewhere: dict[int, Slot]) -> object:
  return [(s.state, s.waits) for s in rendezvous.slots], sorted((d, s.state, s.waits) for d, s in elsewhere.items())


def _divergence(rendezvous: Rendezvous) -> str:
  """The last kernels of each device, and the first at which they differ."""
  last, members = history(rendezvous.run, rendezvous.domain), {s.device for s in rendezvous.members}
  last = {d: names for d, names in last.items() if d in members}
  if not last:
    return ""
  lines = "".join(f"\n  device {d}: {_shortly(names)}" for d, names in sorted(last.items()))
  return f"\nThe last kernels that talk, in order:{lines}{_where_orders_part(rendezvous, last)}"


def _where_orders_part(rendezvous: Rendezvous, last: dict[int, list[str]]) -> str:
  if len(last) < 2 or _is_cut_off(rendezvous):
    return ""
  at = next((i for i, names in enumerate(zip(*last.values())) if len(set(names)) > 1), None)
  if at is not None:
    return f"\nThey differ from number {at + 1} on: " + ", ".join(sorted({names[at] for names in last.values()}))
  counts = {d: len(names) for d, names in sorted(last.items())}
  if len(set(counts.values())) == 1:
    return ""
  return "\nThey are the same ones, but not as many: " + ", ".join(f"device {d} came to {n}" for d, n in counts.items())


def _is_cut_off(rendezvous: Rendezvous) -> bool:
  """Whether the history has lost the beginning of a run, so that the orders of its devices cannot be compared."""
  table = rendezvous.domain + rendezvous_layout.HISTORY_TABLE
  total = _word(table)
  oldest = table + 8 + (total % rendezvous_layout.HISTORY) * rendezvous_layout.HISTORY_ENTRY
  return total > rendezvous_layout.HISTORY and _word(oldest) == rendezvous.run


def _shortly(names: list[str]) -> str:
  """The last of some names, each once for as often as it comes one after another."""
  groups = [(name, len(list(group))) for name, group in itertools.groupby(names)]
  return " → ".join(name if n == 1 else f"{name} ({n} times)" for name, n in groups[-6:])


def _elsewhere_said(rendezvous: Rendezvous, device: int, others: list[Rendezvous]) -> str:
  """What is known of a device that no call of this run waits in: it may run another program, or may have ended this one."""
  for other in others:
    if other.run != rendezvous.run and device < len(other.slots):
      slot = other.slots[device]
      if slot.state == IN_BODY:
        line = slot.where.split(" ")[0]
        waits = f", and waits at {slot.where}" if line and line not in other.name else ""
        return f"; it is in another run of a program, in kernel '{other.name}'{waits}"
  if last := history(rendezvous.run, rendezvous.domain).get(device):
    return f"; the last kernel that talks it came to is '{last[-1]}'"
  last = history(None, rendezvous.domain).get(device)
  return f"; it came to none that talks in this run, and last to '{last[-1]}' in an earlier one" if last else ""


def report(rendezvous: Rendezvous, elsewhere: dict[int, Slot], others: list[Rendezvous] | None = None) -> str:
  """What every device of a rendezvous does, given the rendezvous under way unless they are to be looked for."""
  if others is None and any(s.state == ABSENT and s.device not in elsewhere for s in rendezvous.slots):
    others = all_rendezvous(rendezvous.domain)
  lines = ""
  for s in rendezvous.members:
    lines += f"\n  device {s.device} {elsewhere.get(s.device, s).does}"
    if s.state == ABSENT and s.device not in elsewhere:
      lines += _elsewhere_said(rendezvous, s.device, others or [])
  return lines + _divergence(rendezvous)


def _deadlock_message(address: int, me: int) -> str | None:
  """An error's message, or None to go on waiting."""
  if ended := _ended(_word(address + rendezvous_layout.DOMAIN_OF)):
    return ended
  rendezvous, elsewhere = _snapshot(address)
  own = rendezvous.slots[me]
  waited = _waited(rendezvous, me, own.waits)
  limit = watchdog()
  failed = [s for s in rendezvous.slots if s.state == FAILED]
  if waited >= limit and not failed and (address, rendezvous.created, own.waits) not in _reported:
    _reported.add((address, rendezvous.created, own.waits))
    _print(f"device {me} has waited for {waited:.0f} s in kernel '{rendezvous.name}':{report(rendezvous, elsewhere)}")
  if own.kind == FOR_END:
    return _may_leave(rendezvous, elsewhere, waited)
  if failed:
    if failed[0].error.startswith("DeadlockError"):
      return failed[0].error  # it says already who waits where
    return (
      f"DeadlockError: The wait at {own.where} of device {me} in kernel '{rendezvous.name}' cannot end: device {failed[0].device} "
      f"{failed[0].does}"
    )
  if own.kind == FOR_DEVICE and rendezvous.slots[own.other].state == OUTSIDE:
    return (
      f"DeadlockError: Device {own.other}, which is addressed at {own.where}, does not take part in this call of kernel "
      f"'{rendezvous.name}'. This is a fault of Tilewright's: the numbers of devices in the kernel were found not to reach it."
    )
  if own.kind == FOR_DEVICE and rendezvous.slots[own.other].state == GONE:
    return (
      f"DeadlockError: Device {own.other}, which is addressed at {own.where}, has ended kernel '{rendezvous.name}' long ago and gone on "
      f"without device {me}. Let all devices of the mesh run the kernel, and let each wait for what is sent to it before it ends."
    )
  if any(s.is_polling for s in rendezvous.slots):
    if _polls_in_vain(rendezvous, elsewhere, me):
      return _stalled_message(rendezvous, elsewhere)
  elif _is_stalled(rendezvous, elsewhere) and not (elsewhere and waited < _ELSEWHERE):
    time.sleep(0.05 if elsewhere or any(s.kind == FOR_CORES for s in rendezvous.slots) else 0.002)
    again, away_again = _snapshot(address)
    if _key(again, away_again) == _key(rendezvous, elsewhere) and _is_stalled(again, away_again):
      return _stalled_message(again, away_again)
  missing = [s.device for s in rendezvous.slots if s.state == ABSENT and s.device not in elsewhere]
  if missing and waited > timeout():
    return (
      f"DeadlockError: Device {me} has waited for {waited:.0f} s in kernel '{rendezvous.name}' for devices that have not come to it: "
      f"{', '.join(map(str, missing))}.{report(rendezvous, elsewhere)}\n"
      "Let all devices of the mesh run the kernel; TILEWRIGHT_TIMEOUT says how many seconds to wait."
    )
  return None


def _stalled_message(rendezvous: Rendezvous, elsewhere: dict[int, Slot]) -> str:
  return (
    f"DeadlockError: The devices that run kernel '{rendezvous.name}' wait for each other and never go on:{report(rendezvous, elsewhere)}\n"
    "Signal each semaphore as often as it is waited for, and let all devices run the same kernels in the same order."
  )


def _polls_in_vain(rendezvous: Rendezvous, elsewhere: dict[int, Slot], me: int) -> bool:
  """Whether no device can go on, some of which poll: this was so at an earlier look of this device, nothing has changed since, and each of
  those has read its semaphore since then. A loop that may end by itself is given as long as a device that has not come."""
  place = (rendezvous.address, rendezvous.created, me)
  polls = {s.device: s.polls for s in rendezvous.slots if s.is_polling}
  key = _key(rendezvous, elsewhere)
  is_stalled = _is_stalled(rendezvous, elsewhere)
  with _lock:
    if len(_polled) > 4096:
      _polled.clear()
    before_key, before = _polled.pop(place, (None, polls))
    if is_stalled:
      _polled[place] = key, before if before_key == key else polls
  if before_key != key or not is_stalled:
    return False
  for s in rendezvous.slots:
    if s.is_polling and s.kind == FOR_POLLED_OR_OTHER and _waited(rendezvous, s.device, s.waits) <= timeout():
      return False
  return all(n >= before[d] + 2 for d, n in polls.items())


def _ended(domain: int) -> str:
  """What is to be said of a process of a domain that has ended, if one has."""
  return _text(domain + rendezvous_layout.ENDED_MESSAGE) if _word(domain + rendezvous_layout.BROKEN) else ""


def _may_leave(rendezvous: Rendezvous, elsewhere: dict[int, Slot], waited: float) -> str | None:
  """A device whose body has ended may leave although others have not arrived, if those are stuck elsewhere or time out."""
  if any(s.state == IN_BODY for s in rendezvous.slots):
    return None
  missing = [s for s in rendezvous.slots if s.state == ABSENT]
  if rendezvous.domain == own_domain():
    return "go" if all(s.device in elsewhere for s in missing) or waited > _PATIENCE else None
  if waited <= timeout() and not (elsewhere and waited > _ELSEWHERE and all(s.device in elsewhere for s in missing)):
    return None
  return (
    f"DeadlockError: The devices of other processes have not come to kernel '{rendezvous.name}':{report(rendezvous, elsewhere)}\n"
    "Let all processes run the same programs in the same order; TILEWRIGHT_TIMEOUT says how many seconds to wait."
  )


def _check(address: int, me: int) -> int:
  try:
    message = _deadlock_message(address, me)
    if message is None:
      return 0
    _texts.append(ctypes.create_string_buffer(message.encode()))
    return ctypes.addressof(_texts[-1])
  except Exception:  # there is nothing above this but compiled code
    traceback.print_exc()
    return 0


_callback = _SIGNATURE(_check)  # lives as long as the code that calls it


@functools.cache
def define() -> None:
  """Let the launcher find the function. It is linked after this."""
  linking.define(rendezvous_layout.DEADLOCK_CHECK, ctypes.cast(_callback, ctypes.c_void_p).value or 0)


def watch(launcher: Linked) -> None:
  """Where the list of rendezvous is."""
  if not _launcher:
    _launcher.append(launcher)


# --- gangs -------------------------------------------------------------------------------------------------------


def _watch_gangs() -> None:
  """No thread waits in an incomplete gang, so this thread watches it: devices that arrived get an error after the timeout."""
  launcher, domain = _launcher[0], own_domain()
  unlink = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(launcher.address(rendezvous_layout.UNLINK))
  abandon = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(launcher.address(rendezvous_layout.ABANDON))
  reported: set[tuple[int, int]] = set()
  while True:
    time.sleep(min(0.5, timeout() / 4))
    late: list[tuple[int, str]] = []
    with _held(domain):
      under_way = _listed(domain)
      for rendezvous in under_way:
        at = rendezvous.address
        if not _word(at + rendezvous_layout.IS_GANG):
          continue
        age = _waited(rendezvous, _GANG, 0)
        is_due = age >= watchdog() and (at, rendezvous.created) not in reported
        if not (is_due or age > timeout()):
          continue
        said = _of_gang(rendezvous, age, under_way)
        if is_due:
          reported.add((at, rendezvous.created))
          _print(said)
        if age > timeout():
          unlink(at)
          late.append((at, f"DeadlockError: {said}"))
    for at, message in late:
      _texts.append(ctypes.create_string_buffer(message.encode()))
      abandon(at, _texts[-1])


def _of_gang(rendezvous: Rendezvous, age: float, under_way: list[Rendezvous]) -> str:
  missing = [s.device for s in rendezvous.slots if s.state == ABSENT]
  came = [s.device for s in rendezvous.members if s.state != ABSENT]
  who = f"Device {came[0]} has" if len(came) == 1 else f"The devices {', '.join(map(str, came))} have"
  others = {d: _other_rendezvous_of(rendezvous, d, under_way) for d in missing}
  lines = "".join(
    f"\n  device {d} {slot.does if slot else 'has not come' + _elsewhere_said(rendezvous, d, under_way)}"
    for d, slot in others.items()
  )
  return (
    f"{who} waited for {age:.0f} s in '{rendezvous.name}' for devices that have not come to it: {', '.join(map(str, missing))}."
    f"{lines}{_divergence(rendezvous)}\nLet all of these devices take part; TILEWRIGHT_TIMEOUT says how many seconds to wait."
    f"{_RUN_AHEAD if _may_have_run_ahead(rendezvous, under_way) else ''}"
  )


def _may_have_run_ahead(rendezvous: Rendezvous, under_way: list[Rendezvous]) -> bool:
  """Whether the devices that have not come were here in an earlier run, and none is known to be elsewhere in this one."""
  missing = [s.device for s in rendezvous.slots if s.state == ABSENT]
  if any(_other_rendezvous_of(rendezvous, d, under_way) for d in missing):
    return False
  this_run, all_runs = history(rendezvous.run, rendezvous.domain), history(None, rendezvous.domain)
  name = rendezvous.name[: rendezvous_layout.HISTORY_NAME]
  return all(d not in this_run and name in all_runs.get(d, ()) for d in missing)


@functools.cache
def watch_gangs() -> None:
  threading.Thread(target=_watch_gangs, name="tilewright gangs", daemon=True).start()
