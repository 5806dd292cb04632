"""How many calls make a sample, on a clock that only the programs move."""

from __future__ import annotations

import math

import pytest

from tilewright.tune import timing


class Clock:
  """Programs whose calls take the seconds that they say."""

  def __init__(self, monkeypatch):
    self.now = 100.0
    monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)
    monkeypatch.setattr(timing, "waited_seconds", lambda: 0.0)

  def program(self, *first, then):
    durations, calls = list(first), []

    def run(sets):
      calls.append(None)
      self.now += durations.pop(0) if durations else then
      return sets

    run.calls = calls
    return run


@pytest.fixture
def clock(monkeypatch):
  return Clock(monkeypatch)


def test_calls_that_fault_in_memory_do_not_shorten_samples(clock):
  timer = timing.Timer([[]], "cpu")
  program = clock.program(30e-3, 1.7e-3, 1.6e-3, 1.4e-3, then=1e-4)
  assert timer.repeats(program) == math.ceil(timing.SAMPLE_SECONDS / 1e-4)
  assert timer.sample(program) == pytest.approx(1e-4)


def test_one_disturbed_call_does_not_shorten_samples(clock):
  timer = timing.Timer([[]], "cpu")
  warm = [1e-4] * math.ceil(0.02 / 1e-4)
  program = clock.program(*warm, 1e-4, 8e-3, 8e-3, then=1e-4)
  assert timer.repeats(program) == math.ceil(timing.SAMPLE_SECONDS / 1e-4)


def test_long_calls_are_not_made_more_often_than_needed(clock):
  timer = timing.Timer([[]], "cpu")
  program = clock.program(then=1.0)
  assert timer.repeats(program) == 1 and len(program.calls) == 2
  assert timer.sample(program) == 1.0 and len(program.calls) == 3


def test_the_first_call_of_a_sample_of_several_does_not_count(clock):
  """It wakes threads that slept meanwhile."""
  timer = timing.Timer([[]], "cpu")
  program = clock.program(*[1e-4] * 300, then=1e-4)
  count = timer.repeats(program)
  before = len(program.calls)
  timer.sample(program)
  assert len(program.calls) == before + count + 1
