"""Timing of programs that are compared: samples are interleaved, so that whatever slows the machine slows all of them.

A sample is the time of one call, from as many calls as fill a millisecond or two. On a GPU it is by the device's own clock (CUDA events),
and a program makes many calls, each on its own set of arrays: so that no call finds its arrays in L2, and the device is never
idle. If it was, because the host took longer to launch than the device to compute, the sample reports it (`is_host_bound`). On a CPU a
sample during which threads waited for a processor that others had is taken again (Linux counts that wait): on a busy machine a program
of one thread would look better than one of many.

A program's time is the median of its samples, with the interval in which the true median lies with 95% (order statistics: no distribution
is assumed). Two programs are compared by the ratios of samples that were taken side by side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import glob
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

SAMPLE_SECONDS = 2e-3  # of calls in a sample, at least
_GPU_L2 = 64 << 20  # bytes, more than any has
_MIN_SETS, _MAX_SETS, _MAX_BYTES = 8, 32, 4 << 30
_WARM = 0.05  # seconds of work before the first sample: an idle GPU runs at a lower clock
_WARM_CPU, _CALLS = 0.02, 5  # the same on a CPU, and how many calls then say how long one takes: the shortest counts
_IN_FLIGHT, _BYTES_IN_FLIGHT = 64, 4 << 30  # programs in flight before the host waits, and bytes of their results
_HOST_SHARE = 0.9  # of a sample's time, spent on launches, from which on it is host-bound
_MAD = 1.4826  # of a normal distribution: the deviation is so many median absolute deviations
NOISY = 0.10  # relative spread of samples from which on a machine is called noisy

_UNDISTURBED = 0.02  # of a sample, that threads waited for a processor
_TRIES = 5
BUSY = 0.10  # the same, from which on times are those of a busy machine

Program = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Estimate:
  """The median of some samples, the interval it lies in with 95%, and their relative spread."""

  seconds: float
  low: float
  high: float
  samples: int
  noise: float

  @property
  def is_noisy(self) -> bool:
    return self.noise > NOISY


def estimate(samples: Sequence[float]) -> Estimate:
  ordered = np.sort(np.asarray(samples, np.float64))
  n, median = len(ordered), float(np.median(ordered))
  reach = 0.98 * math.sqrt(n)  # 1.96 deviations of a binomial with p = 1/2, in ranks
  low = ordered[max(0, math.floor(n / 2 - reach))]
  high = ordered[min(n - 1, math.ceil(n / 2 + reach))]
  spread = _MAD * float(np.median(np.abs(ordered - median)))
  return Estimate(median, float(low), float(high), n, spread / median if median > 0 else 0.0)


def sets_of_arrays(nbytes: int, platform: str) -> int:
  """How many copies of the arguments calls take in turns, so that none finds its own in L2; on a CPU one, as its caches are the machine."""
  if platform != "gpu":
    return 1
  wanted = min(_MAX_SETS, max(_MIN_SETS, math.ceil(2 * _GPU_L2 / max(1, nbytes))))
  return max(1, min(wanted, _MAX_BYTES // max(1, nbytes)))


class Timer:
  """Takes samples of programs: each makes a call on every one of some sets of arrays."""

  def __init__(self, sets: Sequence[Sequence[Any]], platform: str) -> None:
    self.sets, self.platform = sets, platform
    self.is_host_bound = False  # the last sample
    self.waited = 0.0  # share of the last sample for which threads waited for a processor
    self.waits: list[float] = []  # of the samples that counted
    self._repeats: dict[int, tuple[Program, int]] = {}

  def _queue(self, program: Program, count: int) -> float:
    """Launch programs; returns the seconds that took."""
    results: list[Any] = []
    max_samples = _IN_FLIGHT
    start = time.perf_counter()
    for _ in range(count):
      results.append(program(self.sets))
      if len(results) == 1:
        max_samples = max(
          2, min(_IN_FLIGHT, _BYTES_IN_FLIGHT // max(1, sum(x.nbytes for x in jax.tree.leaves(results))))
        )
      elif len(results) > max_samples:
        jax.block_until_ready(results.pop(0))
    return time.perf_counter() - start

  def once(self, program: Program, count: int) -> float:
    """Seconds of one call, from so many programs."""
    if self.platform == "gpu":
      from tilewright.runtime.device_clock import device_clock

      clock = device_clock()
      clock.start()
      asking = self._queue(program, count)
      seconds = clock.stop()
      self.is_host_bound = asking > _HOST_SHARE * seconds
    else:
      if count > 1:  # a call that wakes the threads, and brings the data back that looking at the clock displaced
        jax.block_until_ready(program(self.sets))
      waited, start = waited_seconds(), time.perf_counter()
      for _ in range(count):
        jax.block_until_ready(program(self.sets))
      seconds = time.perf_counter() - start
      self.waited = (waited_seconds() - waited) / seconds
    return seconds / (count * len(self.sets))

  def repeats(self, program: Program) -> int:
    """How many programs make a sample. The first calls of a process fault in the memory of its results, and are of no use for that."""
    found = self._repeats.get(id(program))
    if found is None or found[0] is not program:
      is_gpu = self.platform == "gpu"
      end = time.perf_counter() + ((0.0 if self._repeats else _WARM) if is_gpu else _WARM_CPU)
      self.once(program, 1)
      while time.perf_counter() < end:
        self.once(program, 1)
      calls: list[float] = []
      while len(calls) < (1 if is_gpu else _CALLS) and (not calls or calls[-1] < _WARM_CPU):
        calls.append(self.once(program, 1) * len(self.sets))
      found = program, max(1, math.ceil(SAMPLE_SECONDS / max(min(calls), 1e-9)))
      self._repeats[id(program)] = found
    return found[1]

  def sample(self, program: Program) -> float:
    """A sample; on a CPU, of a few tries the one that others disturbed least. A machine that is never quiet is not waited for."""
    count, tries = self.repeats(program), []
    is_quiet = len(self.waits) < _TRIES or min(self.waits[-_TRIES:]) <= _UNDISTURBED
    for _ in range(_TRIES if self.platform == "cpu" and is_quiet else 1):
      tries.append((self.once(program, count), self.waited))
      if self.waited <= _UNDISTURBED:
        break
    seconds, waited = min(tries, key=lambda each: each[1])
    self.waits.append(waited)
    return seconds


def waited_seconds() -> float:
  """The total time for which threads of this process were ready but other processes had the processor; 0 if it is not reported."""
  total = 0
  for file in glob.glob("/proc/self/task/*/schedstat"):
    with contextlib.suppress(OSError, ValueError, IndexError), open(file) as opened:
      total += int(opened.read().split()[1])
  return total * 1e-9


@dataclasses.dataclass(frozen=True)
class Race:
  """Samples of a candidate and of the incumbent, taken side by side, and why it was stopped, if it was."""

  own: tuple[float, ...]
  incumbent: tuple[float, ...]
  stopped: str = ""

  @property
  def ratio(self) -> float:
    """The candidate's time, in times of the incumbent."""
    return float(np.median(np.array(self.own) / np.array(self.incumbent))) if self.incumbent else 1.0


RUNGS = (3, 7, 15)  # samples after which a candidate must still have a chance
_CHANCE = (1.25, 1.08, 1.0)  # the least ratio to the incumbent at which it has none
_EARLY_STOP_RATIOS = ((1, 8.0), (2, 2.0))  # ratios at which so few samples are enough


def race(timer: Timer, program: Program, incumbent: Program | None, seconds: float) -> Race:
  """Samples of a candidate beside the incumbent: few if it cannot win, more the closer it is, and more again where they scatter."""
  own: list[float] = []
  other: list[float] = []
  end = time.perf_counter() + seconds
  was_enabled = gc.isenabled()
  gc.disable()
  try:
    rungs = list(zip(RUNGS, _CHANCE))
    while rungs:
      count, chance = rungs.pop(0)
      while len(own) < count:
        if incumbent is not None:
          other.append(timer.sample(incumbent))
        own.append(timer.sample(program))
        if other and any(len(own) == n and min(own) > ratio * max(other) for n, ratio in _EARLY_STOP_RATIOS):
          return Race(tuple(own), tuple(other), f"{min(own) / max(other):.2f} times the incumbent's time")
        if len(own) >= RUNGS[0] and time.perf_counter() > end:
          return Race(tuple(own), tuple(other), "out of time")
      if other and (lowest := estimate([a / b for a, b in zip(own, other)]).low) > chance:
        return Race(tuple(own), tuple(other), f"at least {lowest:.2f} times the incumbent's time")
      if not rungs and count == RUNGS[-1] and estimate(own).is_noisy:
        rungs.append((3 * count, _CHANCE[-1]))  # a noisy machine: more samples, once
  finally:
    if was_enabled:
      gc.enable()
  return Race(tuple(own), tuple(other))


def round_robin(
  timer: Timer, programs: Sequence[Program], seconds: float, min_samples: int = 9, max_samples: int = 200
) -> list[list[float]]:
  """Samples of several programs in turns, as many as fit the time."""
  samples: list[list[float]] = [[] for _ in programs]
  end = time.perf_counter() + seconds
  was_enabled = gc.isenabled()
  gc.disable()
  try:
    while len(samples[0]) < min_samples or (len(samples[0]) < max_samples and time.perf_counter() < end):
      for own, program in zip(samples, programs):
        own.append(timer.sample(program))
  finally:
    if was_enabled:
      gc.enable()
  return samples
