"""Device time of kernels, from the events of the profiler.

    alone(ops.softmax, lambda: (x,))        a call to be timed, for a `Case`

A kernel on a small array takes a microsecond or two. The host needs longer than that to launch it, so queued calls measure the
host. Kernels that follow each other in one program take more or less than the sum of their times: XLA starts one of its own
before the previous one has ended. So programs of one call each are run, and the device's busy time of each is added up.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import statistics
import tempfile
from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.cli.bench import Call, Measured

_CALLS = 30  # in a profile


def alone(function: Callable[..., Any], values: Callable[[], tuple[Any, ...]]) -> Call:
  """The device's time of a program that calls the function once, on arrays that are in its cache."""
  jitted, arrays = jax.jit(function), values()
  jax.block_until_ready(jitted(*arrays))
  return lambda: Measured(_seconds(lambda: jitted(*arrays)))


def _seconds(enqueue: Callable[[], Any]) -> float:
  """The mean of some calls: the clock ticks in thirty-seconds of a microsecond, and the median would be a tick."""
  with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder, create_perfetto_trace=True):
      for _ in range(_CALLS):
        results = enqueue()
      jax.block_until_ready(results)
    found = microseconds(pathlib.Path(folder))
  if not found or len(found) % _CALLS:
    raise errors.UnsupportedFeatureError(
      f"The profiler has {len(found)} events of the device for {_CALLS} equal calls. It needs CUPTI, which jax's extra for CUDA installs, "
      "and no other profiler beside it."
    )
  return 1e-6 * statistics.fmean(found) * (len(found) // _CALLS)


def microseconds(folder: pathlib.Path) -> list[float]:
  """How long each event of a device took, from the folder of a trace."""
  events = [e for file in folder.rglob("perfetto_trace.json.gz") for e in _events(file)]
  devices = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU" in e["args"]["name"]}
  return [e["dur"] for e in events if e.get("ph") == "X" and e["pid"] in devices]


def _events(file: pathlib.Path) -> list[dict[str, Any]]:
  with gzip.open(file, "rt") as stream:
    return json.load(stream)["traceEvents"]
