"""Measured times from a JAX profile: how long each instruction took, and what ran at the same time.

    with jax.profiler.trace("prof"):
      jax.block_until_ready(step(*arguments))
    profile = read_profile("prof", module="jit_step")
    model = Measured(profile.seconds(), otherwise=Roofline("h200"))
    profile.overlap()                    # how much of the copying and communicating was hidden

The profiler writes `plugins/profile/TIME/HOST.trace.json.gz`; events of instructions carry `hlo_op` and `hlo_module`. On a GPU the
streams are threads, apart from lines the profiler derives from them, which are skipped. An instruction that launches several
kernels has several events per run: its time is the sum of all its events divided by how often its rarest kernel ran.
"""

from __future__ import annotations

import bisect
import gzip
import json
import os
import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.hlo.errors import HloError

_DERIVED = ("XLA", "Steps", "Framework", "Source", "TensorFlow", "Launch")
_MOVES = (
  "memcpy",
  "nccl",
  "copy-start",
  "copy-done",
  "all-reduce",
  "all-gather",
  "reduce-scatter",
  "all-to-all",
  "collective-",
)


class HloProfileError(HloError, ValueError):
  """A folder without a profile, or a file that is not one."""


@dataclass(frozen=True, slots=True)
class Event:
  """Something that ran, in seconds."""

  op: str
  module: str
  name: str
  begin: float
  end: float
  device: str
  line: str  # the stream or the thread

  @property
  def is_transfer(self) -> bool:
    names = (self.name.lower(), self.line.lower(), self.op)
    return any(mark in name for mark in _MOVES for name in names)


@dataclass(frozen=True, slots=True)
class Overlap:
  """Seconds of transfers, and how many of them ran beside computation."""

  transfers: float
  hidden: float

  @property
  def exposed(self) -> float:
    return self.transfers - self.hidden


@dataclass(frozen=True)
class Profile:
  events: tuple[Event, ...]

  def seconds(self) -> dict[str, float]:
    """The time of one run of each instruction, by name."""
    by_op: dict[str, dict[str, list[float]]] = {}
    for event in self.events:
      if event.op:
        by_op.setdefault(event.op, {}).setdefault(event.name, []).append(event.end - event.begin)
    return {
      op: sum(sum(times) for times in kernels.values()) / min(len(times) for times in kernels.values())
      for op, kernels in by_op.items()
    }

  def order(self) -> list[str]:
    """Instructions in the order in which they began, each once."""
    ordered = sorted((e for e in self.events if e.op), key=lambda e: e.begin)
    return list(dict.fromkeys(e.op for e in ordered))

  def overlap(self) -> Overlap:
    """Transfers against the computation on the same device."""
    transfers = hidden = 0.0
    for device in dict.fromkeys(e.device for e in self.events):
      here = [e for e in self.events if e.device == device]
      busy = union((e.begin, e.end) for e in here if not e.is_transfer)
      for begin, end in union((e.begin, e.end) for e in here if e.is_transfer):
        transfers += end - begin
        hidden += covered(busy, begin, end)
    return Overlap(transfers, hidden)


def union(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
  """The same points as disjoint intervals in order."""
  merged: list[tuple[float, float]] = []
  for begin, end in sorted(intervals):
    if merged and begin <= merged[-1][1]:
      merged[-1] = (merged[-1][0], max(merged[-1][1], end))
    else:
      merged.append((begin, end))
  return merged


def covered(intervals: Sequence[tuple[float, float]], begin: float, end: float) -> float:
  """How much of [begin, end] lies in disjoint, ordered intervals."""
  total = 0.0
  for i in range(max(0, bisect.bisect(intervals, (begin, begin)) - 1), len(intervals)):
    a, b = intervals[i]
    if a >= end:
      break
    total += max(0.0, min(b, end) - max(a, begin))
  return total


def read_profile(path: str | os.PathLike[str], module: str | None = None) -> Profile:
  """The latest profile in a folder that `jax.profiler.trace` wrote to, or a trace file; of one module, if it is named."""
  data = _load(pathlib.Path(path))
  lines: dict[tuple[Any, Any], str] = {}
  devices: dict[Any, str] = {}
  for event in data:
    if event.get("ph") == "M" and event.get("name") == "thread_name":
      lines[event["pid"], event["tid"]] = event["args"]["name"]
    elif event.get("ph") == "M" and event.get("name") == "process_name":
      devices[event["pid"]] = event["args"]["name"]
  on_device = any(name.startswith("/device:") for name in devices.values())
  found: list[Event] = []
  for event in data:
    if event.get("ph") != "X":
      continue
    arguments = event.get("args") or {}
    device, line = devices.get(event["pid"], ""), lines.get((event["pid"], event["tid"]), "")
    if on_device and (not device.startswith("/device:") or line.startswith(_DERIVED)):
      continue
    op = str(arguments.get("hlo_op", ""))
    if not op and not (on_device and "emcpy" in event["name"]):
      continue
    home = str(arguments.get("hlo_module", ""))
    if module is not None and home and home.split("(")[0] != module:
      continue
    begin = event["ts"] * 1e-6
    where = device if on_device else f"{device}:{arguments.get('device_ordinal', '0')}"
    found.append(Event(op, home, event["name"], begin, begin + event.get("dur", 0.0) * 1e-6, where, line))
  return Profile(tuple(found))


def _load(path: pathlib.Path) -> list[dict[str, Any]]:
  files = [path] if path.is_file() else sorted(path.glob("**/*.trace.json.gz"), key=lambda p: (p.stat().st_mtime, p))
  if not files:
    raise HloProfileError(f"{path} holds no *.trace.json.gz; jax.profiler.trace(folder) writes one")
  data = files[-1].read_bytes()
  try:
    events = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)["traceEvents"]
  except (OSError, ValueError, KeyError) as error:
    raise HloProfileError(f"{files[-1]} is not a trace: {type(error).__name__}: {error}") from error
  return [event for event in events if event]
