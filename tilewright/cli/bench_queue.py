"""Device time of one program, from many programs queued one behind the other.

Launching the first of them and noticing that the last is done is host time. It is the same for few programs as for
many, so it cancels in the difference of the two:

    few     |launch| p p p |notice|
    many    |launch| p p p p p p p p |notice|

PyTorch and JAX launch and notice at different speeds, and a kernel of 130 microseconds must be distinguished from one of 131. Short
programs are repeated so often that occasional host delays, some ten microseconds, are negligible.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

FEW = 5  # programs: enough that the device is never idle
MORE = 25  # programs that the time is taken of, at least
MIN_SECONDS = 20e-3  # seconds that these take
SETS = 8  # of arrays in a program, so that no call finds its own in a cache


def time_of_one(enqueue: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
  """Seconds for each further program; `enqueue` queues one and gives its results, `wait` is over when they are there."""

  def seconds(count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
      results = enqueue()  # kept until the next program has its own: no two calls in a row write to the same memory
    wait(results)
    return time.perf_counter() - start

  few = seconds(FEW)
  more = max(MORE, math.ceil(MIN_SECONDS / (few / FEW)))
  return (seconds(FEW + more) - few) / more
