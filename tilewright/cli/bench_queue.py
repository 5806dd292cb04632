"""The device's time of one program, from many that wait for the device one behind the other.

What it takes to ask for the first of them, and to notice that the last is done, is the host's time. It is the same for few programs as for
many, so that the difference of the two has none of it:

    few     |ask| p p p |notice|
    many    |ask| p p p p p p p p |notice|

PyTorch and JAX ask and notice at different speeds, and a kernel of 130 microseconds has to be told from one of 131. Of short programs
there are so many that what the host loses now and then, some ten microseconds, is nothing beside them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

FEW = 5  # programs: enough that the device is never out of work
MORE = 25  # programs that the time is taken of, at least
LEAST = 20e-3  # seconds that these take
SETS = 8  # of arrays in a program, so that no call finds its own in a cache


def time_of_one(ask: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
  """Seconds for each further program; `ask` queues one and gives its results, `wait` is over when they are there."""

  def seconds(count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
      results = ask()  # kept until the next program has its own: no two calls in a row write to the same memory
    wait(results)
    return time.perf_counter() - start

  few = seconds(FEW)
  more = max(MORE, math.ceil(LEAST / (few / FEW)))
  return (seconds(FEW + more) - few) / more
