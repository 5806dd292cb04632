"""How long a wait between devices is taken to last, and whether two runs wait for each other."""

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


def gang(run: int, *, came: tuple[int, ...]) -> deadlocks.Rendezvous:
  states = [deadlocks.IN_BODY if d in came else deadlocks.ABSENT for d in range(4)]
  slots = tuple(deadlocks.Slot(d, state, 0, "", 0, 0, 1, "", -1) for d, state in enumerate(states))
  return deadlocks.Rendezvous(address=64 * run, run=run, name="all_reduce", slots=slots, domain=0, created=run)


@pytest.mark.parametrize(
  ("came_to_other", "expected"), [((3,), True), ((2, 3), True), ((0, 1, 2), False), ((), False), ((0, 1, 2, 3), False)]
)
def test_runs_wait_for_each_other_if_each_lacks_a_device_that_the_other_has(came_to_other, expected):
  own, other = gang(1, came=(0, 1, 2)), gang(2, came=came_to_other)
  assert deadlocks._runs_wait_for_each_other(own, [own, other]) == expected
  assert deadlocks._runs_wait_for_each_other(own, [own]) is False
