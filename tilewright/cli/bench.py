"""`tilewright bench`: times of kernels beside those of their peers, from one run.

All contenders of a case are built first, then called in turn, round after round, so that whatever slows the machine for
a while slows all of them; a time is the median over the rounds. A ratio is the peer's time divided by ours: above 1,
ours is faster. A call that takes less than a millisecond is repeated within a round until it fills one.

Beside the wall-clock ratio is the ratio of CPU time, summed over all threads of the process. It measures the cost of a call,
and other work on the machine affects it less than the wall-clock time.

Side effects of one contender may slow the next: OpenBLAS's threads spin for some 100 ms after a call, XLA returns large buffers
to the system after its result is ready, and returned pages must be faulted in again. In a case that declares this, every turn
begins when no other thread of the process is running, with a call that does not count.

A run that is interrupted (Ctrl-C, or SIGTERM as from `timeout`) reports the rows it has. `--json` has the rows of all finished cases
at any time, so a run that dies loses none of them.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import gc
import importlib
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

import tilewright
from tilewright.cli import doctor
from tilewright.cli.table import duration, print_table, progress

OURS = "tilewright"
MIN_SAMPLE = 1e-3
MIN_ROUNDS, MAX_ROUNDS = 5, 500
SLOW_ROUNDS = 3  # of a call that exceeds the time budget of a case
_TASKS = pathlib.Path("/proc/self/task")
_MAX_SPIN = 0.2  # seconds: what is waited for where the system does not tell which threads run

Call = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Measured:
  """A value a call has measured itself, instead of the time it took."""

  value: float


@dataclasses.dataclass(frozen=True)
class Case:
  """Something to time: for each contender, ours among them, a function that builds (and compiles) the call to be timed.

  Calls that return arrays are compared with each other before they are timed. A call that returns `Measured` reports its own times or
  bytes instead of being timed. `disturbs` means that a contender has side effects that would slow the next one; `rounds` is the minimum
  number of rounds; `goals` has, for some peers, the ratio to reach.
  """

  name: str
  contenders: Mapping[str, Callable[[], Call]]
  unit: str = "seconds"
  disturbs: bool = False
  rounds: int = MIN_ROUNDS
  goals: Mapping[str, float] = dataclasses.field(default_factory=dict)

  @property
  def peers(self) -> list[str]:
    return [name for name in self.contenders if name != OURS]


@dataclasses.dataclass(frozen=True)
class Row:
  """One line of the table. Times are in seconds (or bytes, as `unit` says); `note` says why a peer has none."""

  name: str
  ours: float
  peer: str
  peer_time: float | None
  rounds: int
  note: str = ""
  unit: str = "seconds"
  processor_ratio: float | None = None
  goal: float | None = None

  @property
  def ratio(self) -> float | None:
    return None if self.peer_time is None else self.peer_time / self.ours


# --- measuring ---------------------------------------------------------------------------------------------------


def wait(result: Any) -> None:
  if isinstance(result, jax.Array):
    result.block_until_ready()  # without the walk over a tree, which a call of a few microseconds would feel
  else:
    jax.block_until_ready(result)


def sample(call: Call, repeats: int) -> tuple[float, float]:
  """Wall-clock time and CPU time of a call. A call that measures itself runs once."""
  start, before = time.perf_counter(), time.process_time()
  for _ in range(repeats):
    result = call()
    if isinstance(result, Measured):
      return result.value, 0.0
    wait(result)
  return (time.perf_counter() - start) / repeats, (time.process_time() - before) / repeats


def running_threads() -> int:
  """How many threads of this process, besides the calling one, run or wait for a processor, as Linux reports.

  The process's CPU time does not show it: a thread that spins on another core is charged only at the next tick, 4 or 10 ms later.
  """
  running = 0
  for task in _TASKS.iterdir():
    try:
      state = (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
      continue
    running += state == "R" and task.name != str(threading.get_native_id())
  return running


def wait_until_idle(patience: float = 10.0) -> None:
  """Wait until no other thread of this process runs."""
  if not _TASKS.is_dir():
    time.sleep(_MAX_SPIN)
    return
  end = time.perf_counter() + patience
  while running_threads():
    if time.perf_counter() > end:
      raise RuntimeError(f"A thread of this process has been running for {patience:g} s, and would disturb the times.")
    time.sleep(1e-3)


class Medians(NamedTuple):
  """The median of each call's times, by the clock and of the processor, and the number of rounds."""

  clock: dict[str, float]
  processor: dict[str, float]
  rounds: int


class _Timing:
  """How long calls were timed in this process, apart from compiling and checking."""

  seconds = 0.0


timing = _Timing()


def interleaved_medians(
  calls: Mapping[str, Call], seconds: float, disturbs: bool = False, min_rounds: int = MIN_ROUNDS
) -> Medians:
  first = {name: sample(call, 1)[0] for name, call in calls.items()}
  repeats = {name: max(1, math.ceil(MIN_SAMPLE / taken)) for name, taken in first.items()}
  slow = {name for name, taken in first.items() if taken > seconds > 0}
  times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
  begun = time.perf_counter()
  end = begun + seconds
  rounds = 0
  was_enabled = gc.isenabled()
  gc.disable()
  try:
    while rounds < min_rounds or (rounds < MAX_ROUNDS and time.perf_counter() < end):
      for name, call in calls.items():
        if name in slow and rounds >= SLOW_ROUNDS:
          continue
        if disturbs and name not in slow:  # what others leave behind is little beside a slow call
          wait_until_idle()
          wait(call())
        times[name].append(sample(call, repeats[name]))
      rounds += 1
  finally:
    timing.seconds += time.perf_counter() - begun
    if was_enabled:
      gc.enable()
  clock, processor = ({name: statistics.median(t[k] for t in times[name]) for name in calls} for k in range(2))
  return Medians(clock, processor, rounds)


def check_agreement(case: Case, results: Mapping[str, Any]) -> None:
  """Refuse to compare programs that compute different things. Catches gross mistakes; accuracy is the demo's subject."""
  ours = jax.tree.leaves(results.get(OURS))
  if not all(isinstance(x, jax.Array) for x in ours):
    return
  for peer in results:
    for a, b in zip(ours, jax.tree.leaves(results[peer]), strict=True):
      x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
      if x.shape != y.shape or not np.max(np.abs(x - y), initial=0) <= 1e-2 * np.max(np.abs(y), initial=1):
        raise AssertionError(
          f"{case.name}: {OURS} and {peer} give different results, so their times cannot be compared."
        )


def measure(case: Case, seconds: float) -> list[Row]:
  calls, notes = {}, {}
  for name, build in case.contenders.items():
    try:
      calls[name] = build()
    except Exception as error:
      if name == OURS:
        raise
      notes[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:100]
  check_agreement(case, {name: result for name, call in calls.items() if not isinstance(result := call(), Measured)})
  clock, processor, rounds = interleaved_medians(calls, seconds, case.disturbs, case.rounds)
  rows = []
  for peer in case.peers:
    cost = processor[peer] / processor[OURS] if peer in processor and processor[OURS] else None
    note, goal = notes.get(peer, ""), case.goals.get(peer)
    rows.append(Row(case.name, clock[OURS], peer, clock.get(peer), rounds, note, case.unit, cost, goal))
  return rows


# --- reporting ---------------------------------------------------------------------------------------------------


def environment() -> dict[str, Any]:
  """The machine, its current load, and the versions a time depends on."""
  versions = {name: doctor.installed_version(name) for name in ("jax", "jaxlib", "numpy", "llvmlite")}
  rows = {row.name: row.found for row in doctor.cpu()}
  return {
    "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    "machine": {
      "cpu": rows["CPU"],
      "features": rows["CPU features"],
      "device": jax.devices()[0].device_kind,
      "system": platform.platform(),
      "load": os.getloadavg()[0],
    },
    "versions": {"tilewright": tilewright.__version__, "python": platform.python_version(), **versions},
  }


def as_json(target: str, conditions: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
  fields = ("name", "ours", "peer", "peer_time", "ratio", "rounds", "note", "unit", "processor_ratio", "goal")
  return {
    "target": target,
    "unit": "seconds",
    **conditions,
    "rows": [{f: getattr(r, f) for f in fields} for r in rows],
  }


def write_atomically(path: pathlib.Path, text: str) -> None:
  """Write a file so that, whatever happens, a reader sees the old one or the new one."""
  handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
  try:
    with os.fdopen(handle, "w", encoding="utf-8") as file:
      file.write(text)
      file.flush()
      os.fsync(file.fileno())
    os.replace(temporary, path)
  except BaseException:
    os.unlink(temporary)
    raise


LEGEND = (
  "ratio: the peer's time divided by ours. processor time: the same by the time of all threads, which other work on the machine changes "
  "less. goal: the ratio to reach; - where none is set."
)
COLUMNS = ("name", "ours", "peer", "peer's time", "ratio", "processor time", "goal")


def table_row(row: Row) -> list[str]:
  """The text of each of `COLUMNS`."""
  text = duration if row.unit == "seconds" else lambda nbytes: f"{nbytes / 2**20:.1f} MiB"
  goal = "-" if row.goal is None else f"{row.goal:g}"
  if row.peer_time is None or row.ratio is None:
    return [row.name, text(row.ours), row.peer, "-", row.note or "-", "-", goal]
  cost = "-" if row.processor_ratio is None else f"{row.processor_ratio:.2f}"
  return [row.name, text(row.ours), row.peer, text(row.peer_time), f"{row.ratio:.2f}", cost, goal]


# --- the command -------------------------------------------------------------------------------------------------


def complain(message: str) -> int:
  print(message, file=sys.stderr)
  return 2


@contextlib.contextmanager
def terminated_as_interrupted() -> Iterator[None]:
  """SIGTERM raises KeyboardInterrupt, as Ctrl-C does; elsewhere than in the main thread nothing changes."""
  if threading.current_thread() is not threading.main_thread():
    yield
    return
  before = signal.signal(signal.SIGTERM, signal.default_int_handler)
  try:
    yield
  finally:
    signal.signal(signal.SIGTERM, before)


def _print_summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
  """Of random cases: the geometric mean and the worst of each op."""
  from tilewright.cli import bench_random

  found = bench_random.summarise(rows)
  cells = [[own.op, str(own.count), f"{own.mean:.2f}", f"{own.worst:.2f}", own.worst_case] for own in found]
  columns = ("op", "cases", "geometric mean", "worst", "worst case")
  print_table("Ratios of each op", columns, cells, right=columns[1:4])
  return [dataclasses.asdict(own) for own in found]


def run(arguments: argparse.Namespace) -> int:
  words = arguments.filter or [""]
  filter_text = " or ".join(repr(word) for word in words)
  if arguments.random is not None:
    from tilewright.cli import bench_random

    cases = bench_random.cases(arguments.random, arguments.seed, words, on_gpu=arguments.target == "gpu")
    if not cases:
      return complain(f"No op's name contains {filter_text}. There are: {', '.join(bench_random.DRAWS)}.")
  else:
    CASES: Sequence[Case] = importlib.import_module(f"tilewright.cli.bench_{arguments.target}").CASES
    cases = [case for case in CASES if any(word in case.name for word in words)]
    if not cases:
      return complain(
        f"No row's name contains {filter_text}. `tilewright bench {arguments.target} --list` prints the names."
      )
  if arguments.list:
    print("\n".join(f"{case.name}  ({', '.join(case.peers)})" for case in cases))
    return 0
  path = pathlib.Path(arguments.json) if arguments.json else None
  if path is not None and (not path.parent.is_dir() or path.is_dir()):
    return complain(
      f"--json: cannot write {path}: {'it is a directory' if path.is_dir() else 'its directory does not exist'}."
    )

  try:
    device = jax.devices(arguments.target)[0]
  except RuntimeError:  # JAX has no such backend
    return complain(
      f"bench {arguments.target} needs an NVIDIA GPU that JAX can see (pip install 'tilewright[cuda]'); there is none here. "
      "What runs everywhere: tilewright bench cpu."
    )
  conditions = environment()
  rows: list[Row] = []
  failed: list[str] = []

  def save(**more: Any) -> None:
    if path is not None:
      write_atomically(path, json.dumps({**as_json(arguments.target, conditions, rows), **more}, indent=2) + "\n")

  begun = time.perf_counter()
  timing.seconds = 0.0
  with terminated_as_interrupted(), progress(len(cases)) as begin, jax.default_device(device):
    for case in cases:
      begin(case.name)
      try:
        rows += measure(case, arguments.seconds)
        save()
      except KeyboardInterrupt:
        failed.append(f"{case.name}: interrupted; this row and those after it are missing")
        break
      except Exception as error:
        failed.append(f"{case.name}: {type(error).__name__}: {error}")
  title = f"tilewright bench {arguments.target}: medians; ratio = peer's time / ours, above 1 ours is faster"
  print_table(title, COLUMNS, [table_row(r) for r in rows], right=[c for c in COLUMNS if c not in ("name", "peer")])
  print(LEGEND)
  print(
    f"It took {time.perf_counter() - begun:.0f} s: {timing.seconds:.0f} s of timing ({arguments.seconds:g} s for each of {len(cases)} "
    f"cases, and {MIN_ROUNDS} rounds at least, {SLOW_ROUNDS} of calls that take longer than that), the rest to compile, check and warm up."
  )
  save(**({} if arguments.random is None else {"random": _print_summary(rows)}))
  if path is not None:
    print(f"Written: {path}")
  for line in failed:
    print(f"Failed: {line}", file=sys.stderr)
  return 1 if failed else 0
