"""A search: candidates are compiled in parallel, measured one at a time against the incumbent, and the best few remeasured at the end.

    candidates ─ ask ─► lowered by several processes ─► checked and raced by one process that has the device to itself ─ tell ─► …
                                                                                        │
    the best three and the default, in turns, in a process that has seen no other candidate ◄┘

Nothing is compiled during a measurement: on a CPU both use the same device, and processes that create or use a CUDA context slow the
launches of others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO

import numpy as np

from tilewright import errors
from tilewright.tune import function_pickle, timing, trials
from tilewright.tune.budget import Budget
from tilewright.tune.job import Candidate, Job, difference
from tilewright.tune.keys import Key
from tilewright.tune.processes import Worker, WorkerLost, available_bytes, resident_bytes, shared
from tilewright.tune.space import Config, Space
from tilewright.tune.strategy import Strategy
from tilewright.tune.trials import Result, Trial

SERVE = "tilewright.tune.worker:serve"
_MAX_COMPILERS = 8
_FINALISTS = 3
_FINAL_SHARE = 0.2  # of the time, for the finalists
_FIRST = 3  # candidates that are tried whatever the time
_CONSENSUS = 3  # candidates that vote on the correct results where there is no reference
_SETUP_SECONDS = 120.0
_ROOM = 2 << 30  # bytes that a candidate may take beyond twice what the default took
_RACE_SECONDS = 5.0
_SPARE_BYTES = 1 << 30  # of arguments that a second process may have, too

Prune = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Task:
  """All that a search needs to know."""

  job: Job
  key: Key
  space: Space
  candidates: Sequence[Config]
  default: Config
  is_default_given: bool  # by the user: it is the reference, if there is no other
  to_candidate: Callable[[Config], Candidate]
  budget: Budget
  seed: int = 0
  predicted: np.ndarray | None = None
  prune: Prune | bool = False
  limit_seconds: float | None = None  # of one candidate
  memory_bytes: int | None = None
  compilers: int | None = None
  log: str | os.PathLike[str] | None = None
  report: Callable[[Trial, Trial | None], None] | None = None  # of each trial, and the best so far


def run(task: Task) -> Result:
  """Search, and give the best. Ctrl-C ends it with the best so far."""
  if not task.candidates:
    raise errors.TuningError(f"{task.key.kernel}: no configuration satisfies the constraints for {task.key.arguments}.")
  with contextlib.ExitStack() as stack:
    search = _Search(task, stack)
    return search.run()


class _Search:
  def __init__(self, task: Task, stack: contextlib.ExitStack) -> None:
    self.task, self.stack = task, stack
    self.began = time.monotonic()
    self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tilewright-tune-")))
    self.log: TextIO | None = None
    if task.log is not None:
      self.log = stack.enter_context(open(task.log, "a", encoding="utf-8"))  # noqa: SIM115
    places = {task.space.key(c): n for n, c in enumerate(task.candidates)}
    self.default = places.get(task.space.key(task.default))
    self.first = [self.default] if self.default is not None else []
    self.strategy = Strategy(
      task.space,
      task.candidates,
      seed=task.seed,
      first=self.first,
      predicted=task.predicted,
      trials=task.budget.trials,
    )
    self.shipped: dict[int, bytes] = {}
    self.trials: list[Trial] = []
    self.reference = str(self.folder / "reference")
    self.worker: Worker | None = None  # the one that measures
    self.spare: Worker | None = None  # one for the end, that has seen no candidate
    self.workers: list[Worker] = []
    self.job_bytes = function_pickle.dumps(dataclasses.replace(task.job))
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TILEWRIGHT_TUNING": "cached"}
    if task.job.platform == "cpu":
      environment["JAX_PLATFORMS"] = "cpu"
    self.fork_server = shared(environment)
    stack.callback(self._end_workers)
    self.limit = task.limit_seconds or 60.0
    self.memory = task.memory_bytes or int(0.8 * available_bytes())
    self.is_interrupted = False
    self.busy = 0.0  # share of the time for which the finalists waited for a processor

  def start_worker(self) -> Worker:
    worker = self.fork_server.start(SERVE)
    self.workers.append(worker)
    return worker

  def _end_workers(self) -> None:
    """End the workers that this search started; an interrupted one may be in the middle of a message."""
    for worker in self.workers:
      worker.end()
    if self.is_interrupted:
      self.fork_server.close()

  # --- time ------------------------------------------------------------------------------------------------------

  @property
  def elapsed(self) -> float:
    return time.monotonic() - self.began

  @property
  def is_over(self) -> bool:
    budget = self.task.budget
    if budget.trials is not None and len(self.trials) >= budget.trials:
      return True
    if budget.seconds is None or (len(self.trials) < _FIRST and self.strategy.best is None):
      return False  # a budget that is gone before anything ran is still good for the first candidates
    return self.elapsed > (1 - _FINAL_SHARE) * budget.seconds

  def _left(self, count: int) -> int:
    """How many of some candidates the number of trials has room for."""
    max_trials = self.task.budget.trials
    return count if max_trials is None else max(0, min(count, max_trials - len(self.trials)))

  # --- workers ---------------------------------------------------------------------------------------------------

  def _measurer(self) -> Worker:
    """The process that has the device: the one there is, or a new one."""
    if self.worker is None or not self.worker.is_alive:
      self.worker = self._begun()
      started = [self.worker]
      if self.spare is None and self.task.job.nbytes <= _SPARE_BYTES:
        self.spare = self._begun()
        started.append(self.spare)
      for worker in started:  # a process that is still starting would disturb what is measured
        self._ready(worker)
    return self.worker

  def _begun(self) -> Worker:
    """A new worker, set up with the job."""
    worker = self.start_worker()
    worker.post({"do": "setup", "job": self.job_bytes})
    return worker

  def _ready(self, worker: Worker) -> None:
    reply = worker.wait(_SETUP_SECONDS)
    if "failed" in reply:
      raise errors.TuningError(f"{self.task.key.kernel}: the inputs could not be made: {reply['failed']}")

  def _replace_by_spare(self) -> None:
    """Use a fresh process, which has run no candidate, for the next measurements."""
    if self.worker is not None:
      self.worker.end()
    if self.spare is not None and self.spare.is_alive:
      self.worker, self.spare = self.spare, self.worker

  def _request(self, request: Mapping[str, Any], seconds: float, again: bool = False) -> dict[str, Any]:
    """The reply of the measuring process; a lost process is a reply too. One that may be damaged is not used again.

    If the process was killed from outside, the request is retried once.
    """
    try:
      worker = self._measurer()
      reply = worker.ask(dict(request), seconds, self.memory)
    except WorkerLost as lost:
      if lost.is_from_outside and not again:
        return self._request(request, seconds, again=True)
      return {"failed": str(lost), "phase": "running"}
    if reply.get("is_spoiled"):
      worker.end()
    return reply

  def _candidate(self, number: int) -> bytes:
    if number not in self.shipped:
      self.shipped[number] = function_pickle.dumps(self.task.to_candidate(self.task.candidates[number]))
    return self.shipped[number]

  # --- the reference ---------------------------------------------------------------------------------------------

  def _find_reference(self) -> None:
    """The expected results: the reference's, the default's, or those of the majority of a few candidates."""
    task = self.task
    if task.job.reference is not None:
      reply = self._request({"do": "output", "file": self.reference}, _SETUP_SECONDS)
      if "failed" in reply:
        raise errors.TuningError(f"{task.key.kernel}: the reference failed while {reply['phase']}: {reply['failed']}")
      return
    if task.is_default_given:
      candidate = function_pickle.dumps(task.to_candidate(task.default))
      reply = self._request({"do": "output", "file": self.reference, "candidate": candidate}, self.limit)
      if "failed" in reply:
        raise errors.TuningError(
          f"{task.key.kernel}: the default {dict(task.default)} failed while {reply['phase']}: {reply['failed']}. "
          "Its results are what candidates are checked against; give another default, or a reference."
        )
      return
    self._vote()

  def _vote(self) -> None:
    found: dict[int, list[np.ndarray]] = {}
    count = len(self.task.candidates)
    order = dict.fromkeys(
      [*self.first, *(n * count // _CONSENSUS for n in range(_CONSENSUS)), *range(min(count, 4 * _CONSENSUS))]
    )
    why = ""
    for number in order:
      file = self.folder / f"output{number}"
      reply = self._request({"do": "output", "file": str(file), "candidate": self._candidate(number)}, self.limit)
      if "failed" in reply:
        why = reply["failed"]
        continue
      found[number] = pickle.loads(file.read_bytes())
      if len(found) == _CONSENSUS:
        break
    if not found:
      raise errors.TuningError(f"{self.task.key.kernel}: none of {len(order)} candidates runs; the last one: {why}")
    agree = {
      n: sum(difference(own, other, self.task.job.tolerance) is None for other in found.values())
      for n, own in found.items()
    }
    chosen = max(agree, key=lambda n: agree[n])
    os.replace(self.folder / f"output{chosen}", self.reference)
    for number in found:
      (self.folder / f"output{number}").unlink(missing_ok=True)

  # --- candidates ------------------------------------------------------------------------------------------------

  def _note(self, trial: Trial) -> None:
    self.trials.append(trial)
    if self.log is not None:
      self.log.write(trials.line(trial.to_json()))
      self.log.flush()
    if self.task.report is not None:
      self.task.report(trial, self._best_trial())

  def _best_trial(self) -> Trial | None:
    known = [t for t in self.trials if t.seconds is not None]
    return min(known, key=lambda t: t.seconds or 0.0) if known else None

  def _reject(self, number: int, reply: Mapping[str, Any]) -> None:
    self.strategy.tell(number, None)
    config = self.task.space.to_json(self.task.candidates[number])
    status = trials.PRUNED if reply["phase"] == "pruning" else trials.FAILED
    self._note(
      Trial(len(self.trials), config, status, phase=reply["phase"], reason=reply["failed"], elapsed=self.elapsed)
    )

  def _measure(self, number: int) -> None:
    """One candidate beside the best so far."""
    best = self.strategy.best
    request = {
      "do": "measure",
      "candidate": self._candidate(number),
      "incumbent": None if best is None else self._candidate(best),
      "reference": self.reference,
      "seconds": _RACE_SECONDS,
    }
    start = time.monotonic()
    reply = self._request(request, self.limit)
    if "failed" in reply:
      self._reject(number, reply)
      return
    race = timing.Race(tuple(reply["own"]), tuple(reply["incumbent"]), reply["stopped"])
    own = timing.estimate(race.own)
    # Against drift: the time that the incumbent had, times the ratio of samples taken side by side.
    seconds = own.seconds
    if best is not None and race.incumbent and (known := self.strategy.times[best]) is not None:
      seconds = known * race.ratio
    scale = seconds / own.seconds
    self.strategy.tell(number, seconds)
    config = self.task.space.to_json(self.task.candidates[number])
    ratio = race.ratio if race.incumbent else None
    numbers = (seconds, own.low * scale, own.high * scale, ratio, own.samples, own.noise)
    why = "; ".join(filter(None, (race.stopped, "the host's time to ask for programs" if reply.get("host") else "")))
    self._note(Trial(len(self.trials), config, trials.OK, *numbers, reason=why, elapsed=self.elapsed))
    if self.task.limit_seconds is None:  # what is much slower than anything so far hangs, for all we know
      self.limit = min(self.limit, max(5.0, 10 * (time.monotonic() - start)))
    if self.task.memory_bytes is None and self.worker is not None:
      room = 2 * resident_bytes(self.worker.pid) + 4 * self.task.job.nbytes + _ROOM
      self.memory = min(self.memory, room)

  def run(self) -> Result:
    finals: list[Trial] = []
    try:
      self._find_reference()
      with self._compilers() as lowered:
        self._trials(lowered)
      finals = self._remeasure_best()
    except KeyboardInterrupt:
      self.is_interrupted = True
      if self.strategy.best is None:
        raise
    except errors.TuningError:
      self.fork_server.close()
      raise
    return self._result(finals)

  def _trials(self, lowered: _Compilers) -> None:
    while batch := lowered.all(self.strategy.ask(self._left(lowered.batch))):
      for number, failed in batch.items():
        if self.is_over:
          return
        if failed is not None:
          self._reject(number, failed)
        else:
          self._measure(number)

  @contextlib.contextmanager
  def _compilers(self) -> Iterator[_Compilers]:
    compilers = _Compilers(self)
    try:
      yield compilers
    finally:
      compilers.close()

  # --- the end ---------------------------------------------------------------------------------------------------

  def _remeasure_best(self) -> list[Trial]:
    """The best few and the default, in turns, in a new process; the default is the first."""
    best = sorted((t, n) for n, t in self.strategy.times.items() if t is not None)[:_FINALISTS]
    numbers = [n for _, n in best]
    if not numbers:
      raise errors.TuningError(self._raise_no_candidate())
    if self.default is not None and self.strategy.times.get(self.default) is not None:
      numbers = [self.default, *(n for n in numbers if n != self.default)]
    if len(numbers) == 1:
      return []
    budget = self.task.budget.seconds
    seconds = min(10.0, 1.0 if budget is None else max(0.2, min(budget - self.elapsed, _FINAL_SHARE * budget)))
    while len(numbers) > 1:
      self._replace_by_spare()
      candidates = [self._candidate(n) for n in numbers]
      request = {"do": "compare", "candidates": candidates, "reference": self.reference, "seconds": seconds}
      reply = self._request(request, max(30.0, 4 * self.limit) + seconds)
      if "failed" not in reply:
        self.busy = reply["busy"]
        return [self._final(n, own, reply["samples"][0]) for n, own in zip(numbers, reply["samples"])]
      numbers = self._without_culprit(numbers, reply)
    return []

  def _without_culprit(self, numbers: list[int], reply: Mapping[str, Any]) -> list[int]:
    """The finalists that pass when they are alone; of those that do not, the log says why."""
    kept = []
    for number in numbers:
      if self.worker is not None:
        self.worker.end()
      request = {"do": "compare", "candidates": [self._candidate(number)], "reference": self.reference, "seconds": 0.0}
      own = self._request(request, self.limit)
      if "failed" in own:
        self._reject(number, own)
      else:
        kept.append(number)
    if len(kept) == len(numbers):
      self._reject(numbers[-1], {**reply, "failed": f"beside others: {reply['failed']}"})
      kept.pop()
    return kept

  def _final(self, number: int, samples: list[float], default: list[float]) -> Trial:
    own = timing.estimate(samples)
    ratios = timing.estimate([a / b for a, b in zip(samples, default)])
    config = self.task.space.to_json(self.task.candidates[number])
    # A finalist's interval is that of its ratio to the first one: it must exclude 1 for a gain to be believed.
    return Trial(
      number, config, trials.OK, own.seconds, ratios.low, ratios.high, ratios.seconds, own.samples, own.noise
    )

  def _result(self, finals: list[Trial]) -> Result:
    task, best = self.task, self.strategy.best
    if best is None:
      raise errors.TuningError(self._raise_no_candidate())
    has_default = self.default is not None and self.strategy.times.get(self.default) is not None
    default_seconds = self.strategy.times[self.default] if has_default and self.default is not None else None
    seconds = self.strategy.times[best]
    if finals:
      surely = [t for t in finals[1:] if (t.high or 1.0) < 1.0] if has_default else finals
      if has_default and self.busy > timing.BUSY:
        surely = []  # a busy machine favours programs of few threads: such a gain is not believed
      winner = min(surely, key=lambda t: t.ratio or 1.0) if surely else finals[0]
      best, seconds = winner.number, winner.seconds
      if has_default:  # by the ratio of samples side by side: two medians may be of different moments
        default_seconds = finals[0].seconds
        seconds = (default_seconds or 0.0) * (winner.ratio or 1.0) if winner is not finals[0] else default_seconds
    assert seconds is not None
    noises = [t.noise for t in self.trials if t.status == trials.OK and t.samples > 2]
    result = Result(
      config=task.candidates[best],
      seconds=seconds,
      default=task.default,
      default_seconds=default_seconds,
      trials=tuple(self.trials),
      key=task.key,
      num_candidates=len(task.candidates),
      elapsed=self.elapsed,
      seed=task.seed,
      finalists=tuple(finals),
      is_exhaustive=len(self.strategy.times) == len(task.candidates),
      is_interrupted=self.is_interrupted,
      noise=float(np.median(noises)) if noises else 0.0,
      busy=self.busy,
    )
    if self.log is not None:
      fields = result.to_json() | {
        "config": task.space.to_json(result.config),
        "default": task.space.to_json(task.default),
      }
      self.log.write(trials.line({"result": fields}))
    return result

  def _raise_no_candidate(self) -> str:
    reasons = [f"  {dict(t.config)}: {t.reason}" for t in self.trials[:5]]
    return "\n".join([f"{self.task.key.kernel}: none of {len(self.trials)} candidates works:", *reasons])


class _Compilers:
  """Processes that lower candidates, so that the code of their kernels is on disk when they are measured."""

  def __init__(self, search: _Search) -> None:
    self.search = search
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    requested = search.task.compilers
    self.count = min(_MAX_COMPILERS, cores) if requested is None else requested
    self.batch = max(2, self.count)
    self.workers: list[Worker] = []
    self.threads = ThreadPoolExecutor(max(1, self.count), thread_name_prefix="tilewright-tune")

  def all(self, numbers: list[int]) -> dict[int, dict[str, Any] | None]:
    """Lower candidates: for each, how it failed, or None. Nothing is being compiled any more when this is over."""
    futures = {n: self.threads.submit(self._lower, self.search._candidate(n)) for n in numbers}
    return {n: future.result() for n, future in futures.items()}

  def _lower(self, candidate: bytes) -> dict[str, Any] | None:
    if not self.count:
      return None
    task = self.search.task
    try:
      worker = self.workers.pop() if self.workers else self._new()
      requests: list[dict[str, Any]] = [{"do": "lower", "candidate": candidate}]
      if task.prune and task.job.platform == "gpu":
        rule = None if task.prune is True else function_pickle.dumps(task.prune)
        requests.insert(0, {"do": "prune", "candidate": candidate, "rule": rule})
      for request in requests:
        reply = worker.ask(request, self.search.limit, self.search.memory)
        if "failed" in reply:
          break
    except WorkerLost as lost:
      return {"failed": str(lost), "phase": "compiling"}
    self.workers.append(worker)
    return reply if "failed" in reply else None

  def _new(self) -> Worker:
    worker = self.search.start_worker()
    worker.ask({"do": "setup", "job": self.search.job_bytes, "only_lowering": True}, _SETUP_SECONDS)
    return worker

  def close(self) -> None:
    self.threads.shutdown(wait=False, cancel_futures=True)
    for worker in self.search.workers:
      if worker is not self.search.worker:
        worker.end()
