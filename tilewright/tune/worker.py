"""The process that compiles candidates, checks their numbers and times them. It may die at any time; its client continues.

Requests, one at a time, and what is answered:

    setup      a job; arrays are made                       {}
    lower      a candidate is lowered, which puts the code of its kernels into the cache on disk       {"seconds"}
    prune      the same for the compiler's report of its kernels       {}
    output     a candidate's results go to a file           {}
    measure    a candidate is checked against the reference and raced with the incumbent       {"own", "incumbent", "stopped", "leak"}
    compare    several candidates in turns                  {"samples"}

A candidate that fails is answered with {"failed", "phase"}. After a failure at run time (or other numbers than the reference's) the
worker's memory, or its CUDA context, may be damaged: `is_spoiled` says that it must not be used again.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import pickle
import socket
import time
from collections.abc import Iterator
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np

from tilewright.tune import function_pickle, modes, processes, timing
from tilewright.tune.job import Candidate, Job, all_near, difference

_SUSPECT_BYTES = 8 << 20  # of growth while a candidate was timed
_LEAK_BYTES = 4 << 20  # that some more calls add, twice in a row
_LEAK_CALLS = 8
_JAX_PLATFORMS = {"gpu": "cuda"}


class Failed(Exception):
  """A candidate is rejected. `phase` is where: compiling, running, checking."""

  def __init__(self, phase: str, why: str, spoiled: bool = False) -> None:
    super().__init__(why)
    self.phase, self.spoiled = phase, spoiled


def serve(sock: socket.socket) -> None:
  """Answer requests until the other end is closed."""
  state = _State()
  with modes.quietly():
    while True:
      request = processes.receive(sock)
      try:
        reply = getattr(state, request.pop("do"))(**request)
      except Failed as failure:
        reply = {"failed": str(failure), "phase": failure.phase, "is_spoiled": failure.spoiled}
      processes.send(sock, reply)


@jax.jit
def _sum_of_bits(x: Any) -> Any:
  if jnp.issubdtype(x.dtype, jnp.complexfloating):
    return _sum_of_bits(x.real) + 3 * _sum_of_bits(x.imag)
  if jnp.issubdtype(x.dtype, jnp.floating) and (bits := jnp.finfo(x.dtype).bits) >= 8:
    x = jax.lax.bitcast_convert_type(x, {8: np.uint8, 16: np.uint16}.get(bits, np.uint32))
  return x.astype(np.uint32).sum(dtype=np.uint32)


def _checksums(sets: Any) -> np.ndarray:
  """A number for each array that changes when its contents do."""
  return np.asarray([np.asarray(_sum_of_bits(x)) for x in jax.tree.leaves(sets)])


def first_line(error: BaseException) -> str:
  lines = [line for line in str(error).strip().splitlines() if line.strip()]
  return f"{type(error).__name__}: {lines[0].strip()[:300]}" if lines else type(error).__name__


@contextlib.contextmanager
def _phase(phase: str, is_fatal: bool) -> Iterator[None]:
  try:
    yield
  except Failed:
    raise
  except Exception as error:
    raise Failed(phase, first_line(error), is_fatal) from error


class _State:
  def __init__(self) -> None:
    self.job: Job
    self.sets: list[list[Any]] = []
    self.programs: dict[bytes, Any] = {}
    self.reference: tuple[str, list[np.ndarray], list[Any]] | None = (
      None  # a file, what it holds, and the same on the device
    )

  def setup(self, job: bytes, only_lowering: bool = False) -> dict[str, Any]:
    self.job = function_pickle.loads(job)
    platform = "cpu" if only_lowering else _JAX_PLATFORMS.get(self.job.platform, self.job.platform)
    jax.config.update("jax_platforms", platform)
    self.only_lowering = only_lowering
    if not only_lowering:
      with _phase("inputs", True):
        arrays = self.job.make_inputs()
        for _ in range(timing.sets_of_arrays(self.job.nbytes, self.job.platform)):
          self.sets.append([jax.device_put(x) for x in arrays])
        jax.block_until_ready(self.sets)
        self.checksums = _checksums(self.sets)
      self.timer = timing.Timer(self.sets or [[]], self.job.platform)
    return {}

  def lower(self, candidate: bytes) -> dict[str, Any]:
    """Tracing and code generation, without a device."""
    start = time.perf_counter()
    own: Candidate = function_pickle.loads(candidate)
    where = _JAX_PLATFORMS.get(self.job.platform, self.job.platform)
    with _phase("compiling", False):
      with jax.default_device(self.job.platform):  # only tracing happens under it
        traced = jax.make_jaxpr(self.job.program(own))(*self.job.structs)
      lowered = jax.jit(jax.extend.core.jaxpr_as_fun(traced))
      lowered.trace(*self.job.structs).lower(lowering_platforms=(where,))
    return {"seconds": time.perf_counter() - start}

  def prune(self, candidate: bytes, rule: bytes | None) -> dict[str, Any]:
    """Reject a candidate by the compiler's report of its kernels, without running it."""
    from tilewright.runtime import cuda
    from tilewright.target.nvgpu.arch import for_capability
    from tilewright.tune.resources import pruned

    own: Candidate = function_pickle.loads(candidate)
    with _phase("compiling", False):
      arch = for_capability(*cuda.capabilities()[0]).name
      why = pruned(self.job.program(own), self.job.structs, arch, None if rule is None else function_pickle.loads(rule))
    if why:
      raise Failed("pruning", why)
    return {}

  def _program(self, candidate: bytes) -> Any:
    """A compiled candidate. Those that come often (the incumbent) are kept."""
    if candidate not in self.programs:
      own: Candidate = function_pickle.loads(candidate)
      with _phase("compiling", False):
        compiled = self.job.jitted(own)
        compiled.lower(self.sets).compile()  # a call finds it
      while len(self.programs) > 8:
        self.programs.pop(next(iter(self.programs)))
      self.programs[candidate] = compiled
    else:
      self.programs[candidate] = self.programs.pop(candidate)
    return self.programs[candidate]

  def _results(self, program: Any) -> list[Any]:
    with _phase("running", True):
      return jax.block_until_ready(jax.tree.leaves(program(self.sets)[0]))

  def output(self, file: str, candidate: bytes | None = None) -> dict[str, Any]:
    """The results of a candidate, or of the job's own reference, into a file."""
    if candidate is None:
      assert self.job.reference is not None
      reference = self.job.reference
      program = jax.jit(lambda sets: [self.job.call(sets[0], reference, {})])
      results = self._results(program)
    else:
      results = self._results(self._program(candidate))
    with _phase("running", True):
      pathlib.Path(file).write_bytes(pickle.dumps([np.asarray(x) for x in results], protocol=5))
    return {}

  def _difference(self, program: Any, file: str) -> str | None:
    """How a program's results differ from the reference. The device compares; what differs is looked at on the host."""
    if self.reference is None or self.reference[0] != file:
      arrays = pickle.loads(pathlib.Path(file).read_bytes())
      self.reference = file, arrays, [jax.device_put(x) for x in arrays]
    _, arrays, expected = self.reference
    results = self._results(program)
    with _phase("checking", True):
      if all_near(results, expected, self.job.tolerance):
        return None
      return difference([np.asarray(x) for x in results], arrays, self.job.tolerance)

  def check(self, candidate: bytes, reference: str) -> Any:
    """A candidate's program, if its numbers are those of the reference."""
    program = self._program(candidate)
    if why := self._difference(program, reference):
      self.programs.pop(candidate, None)
      raise Failed("checking", why, True)
    return program

  def measure(self, candidate: bytes, incumbent: bytes | None, reference: str, seconds: float) -> dict[str, Any]:
    start = time.perf_counter()
    program = self.check(candidate, reference)
    other = self._program(incumbent) if incumbent is not None and incumbent != candidate else None
    prepared = time.perf_counter() - start
    before = self._memory()
    with _phase("running", True):
      found = timing.race(self.timer, program, other, seconds)
      host = self.timer.is_host_bound
      self._look_for_leaks(program, before)
      self._recheck(program, reference)
    return {
      "own": found.own,
      "incumbent": found.incumbent,
      "stopped": found.stopped,
      "prepared": prepared,
      "host": host,
    }

  def compare(self, candidates: list[bytes], reference: str, seconds: float) -> dict[str, Any]:
    programs = [self.check(c, reference) for c in candidates]
    self.timer.waits.clear()
    with _phase("running", True):
      samples = timing.round_robin(self.timer, programs, seconds)
      for program in programs:
        self._recheck(program, reference)
    waits = [self.timer.waits[n :: len(programs)] for n in range(len(programs))]
    return {"samples": samples, "busy": max(float(np.median(own)) for own in waits)}

  def _recheck(self, program: Any, reference: str) -> None:
    """The numbers once more, after many calls: a race shows now and then. Its arguments must be what they were, too."""
    self._look_at_inputs()
    if why := self._difference(program, reference):
      raise Failed("checking", f"not always the same: {why}", True)

  def _look_at_inputs(self) -> None:
    """A candidate that writes out of bounds may overwrite arrays adjacent to its own."""
    with _phase("running", True):
      if not np.array_equal(_checksums(self.sets), self.checksums):
        raise Failed("checking", "wrote out of bounds: arguments have changed", True)

  def _memory(self) -> int:
    stats = jax.local_devices()[0].memory_stats() if self.job.platform == "gpu" else None
    return int(stats["bytes_in_use"]) if stats else processes.resident_bytes(os.getpid())

  def _look_for_leaks(self, program: Any, before: int) -> None:
    """Memory that grows with the number of calls. A suspicion is looked into with more calls before it counts."""
    if self._memory() - before < _SUSPECT_BYTES:
      return
    grown = []
    for _ in range(2):
      start = self._memory()
      for _ in range(_LEAK_CALLS):
        jax.block_until_ready(program(self.sets))
      grown.append(self._memory() - start)
    if min(grown) > _LEAK_BYTES:
      raise Failed("running", f"leaks memory: {min(grown) / _LEAK_CALLS / 2**20:.1f} MiB with each call", True)
