"""Which of two programs is faster, on clocks that are disturbed as those of busy machines are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tilewright
from tilewright.accelerate import autotuning, timing
from tilewright.accelerate.timing import Comparison, Sample, compare


class Machine:
  """Runs programs of known times, each disturbed by other work, and has a clock."""

  def __init__(self, disturbance):
    self.now, self.disturbance = 0.0, disturbance

  def program(self, seconds: float, processor: float | None = None):
    def sample() -> Sample:
      wall = seconds + self.disturbance()
      self.now += wall
      return Sample(wall, processor)

    return sample

  def compare(self, theirs, ours) -> Comparison:
    return compare(self.program(*theirs), self.program(*ours), clock=lambda: self.now)


def _often_late(seed: int):
  """Two of three calls wait for another process, up to twenty times as long as they take."""
  random = np.random.default_rng(seed)
  return lambda: float(random.random() * 2e-3) if random.random() < 2 / 3 else 0.0


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize(("ours", "is_faster"), [(80e-6, True), (99e-6, False), (130e-6, False)])
def test_other_work_on_the_machine_does_not_decide(seed, ours, is_faster):
  assert Machine(_often_late(seed)).compare((100e-6,), (ours,)).is_faster == is_faster


class Uneven:
  """A program that takes other times in every second batch."""

  def __init__(self, seconds: tuple[float, float], processor: float | None = None):
    self.calls, self.seconds, self.processor = itertools.count(), seconds, processor

  def __call__(self) -> Sample:
    return Sample(self.seconds[next(self.calls) // timing._MOST_TURNS % 2], self.processor)


def test_batches_that_disagree_are_repeated_and_then_not_believed():
  found = compare(lambda: Sample(90e-6), Uneven((60e-6, 140e-6)), clock=lambda: 0.0)
  assert len(found.speedups) > 2 and not found.agrees and not found.is_faster
  assert "disagree" in found.text()


@pytest.mark.parametrize(("spent", "is_faster"), [(50e-6, True), (95e-6, False)])
def test_processor_time_decides_where_batches_disagree(spent, is_faster):
  found = compare(lambda: Sample(90e-6, 100e-6), Uneven((60e-6, 140e-6), spent), clock=lambda: 0.0)
  assert not found.agrees and found.is_faster == is_faster
  assert "by processor time" in found.text()


def test_comparisons_are_kept_as_they_were():
  found = Machine(_often_late(0)).compare((100e-6, 1e-4), (80e-6, 1e-4))
  assert Comparison.from_json(found.to_json()) == found


@pytest.mark.usefixtures("all_regions_are_worth_it")
@pytest.mark.parametrize("speedup", [0.9, 1.01, 1.5])
def test_a_region_that_is_not_faster_when_measured_is_left_to_xla(speedup, monkeypatch):
  import jax

  monkeypatch.setattr(autotuning.cache, "get", lambda *a: None)
  machine = Machine(lambda: 0.0)
  monkeypatch.setattr(autotuning, "compare", lambda *programs: machine.compare((1.0,), (1.0 / speedup,)))
  x = np.linspace(0, 1, 64 * 32, dtype=np.float32).reshape(64, 32)
  with tilewright.accelerate(measure=True) as acceleration:
    jax.jit(lambda x: jax.nn.softmax(x * speedup))(x)
  (decision,) = [d for r in acceleration.reports for d in r.decisions if d.measured]
  assert decision.taken == (speedup > 1.03)
  assert "times as fast in 2 batches" in acceleration.explain()
