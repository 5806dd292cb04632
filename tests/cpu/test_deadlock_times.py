"""How long a wait between devices is taken to last, and what may be the reason."""

from __future__ import annotations

import time

import pytest

from tilewright.target.cpu import deadlocks


@pytest.fixture
def clock(monkeypatch):
  """Moves the clock, which else stands still."""
  now = [1000.0]
  monkeypatch.setattr(time, "monotonic", lambda: now[0])
  monkeypatch.setattr(deadlocks, "_clock", [now[0], 0.0])
  monkeypatch.setattr(deadlocks, "_since", {})

  def move(seconds: float) -> None:
    now[0] += seconds

  return move


def rendezvous(created: int) -> deadlocks.Rendezvous:
  return deadlocks.Rendezvous(address=64, run=1, name="kernel", slots=(), domain=0, created=created)


def waited(of: deadlocks.Rendezvous, *, waits: int = 1) -> float:
  return deadlocks._waited(of, 0, waits)


def test_a_wait_lasts_from_when_it_was_first_seen(clock):
  assert waited(rendezvous(5)) == 0
  clock(1.5)
  assert waited(rendezvous(5)) == 1.5
  assert waited(rendezvous(5), waits=2) == 0


def test_a_wait_is_not_that_of_an_earlier_rendezvous_at_the_same_address(clock):
  assert waited(rendezvous(5)) == 0
  clock(1.5)
  assert waited(rendezvous(6)) == 0


def test_time_in_which_the_process_was_stopped_is_no_waiting(clock):
  assert waited(rendezvous(5)) == 0
  clock(500)
  assert waited(rendezvous(5)) <= deadlocks._LONGEST_STEP


def gang(*, came: tuple[int, ...]) -> deadlocks.Rendezvous:
  states = [deadlocks.IN_BODY if d in came else deadlocks.ABSENT for d in range(3)]
  slots = tuple(deadlocks.Slot(d, state, 0, "", 0, 0, 1, "", -1, 0) for d, state in enumerate(states))
  return deadlocks.Rendezvous(address=64, run=7, name="all_reduce", slots=slots, domain=0, created=1)


@pytest.mark.parametrize(
  ("earlier", "now", "expected"),
  [
    ({2: ["all_reduce"]}, {}, True),  # was here before, and is not in this run yet
    ({2: ["all_gather"]}, {}, False),
    ({}, {}, False),
    ({2: ["all_reduce"]}, {2: ["all_gather"]}, False),  # this run of it went another way
  ],
)
def test_a_device_that_was_here_in_an_earlier_run_may_have_no_thread(monkeypatch, earlier, now, expected):
  of_all = {d: earlier.get(d, []) + now.get(d, []) for d in (*earlier, *now)}
  monkeypatch.setattr(deadlocks, "history", lambda run, domain: of_all if run is None else now)
  assert deadlocks._may_have_run_ahead(gang(came=(0, 1)), []) is expected
