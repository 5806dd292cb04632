"""Hooks that run your passes inside XLA: `install` makes them part of every compilation of this process.

    def no_dead_code(module: hlo.Module) -> bool: ...

    with hlo.install([no_dead_code, "cse"], stage="pre_scheduler"):
      jax.jit(f)(x)

XLA passes each module twice, as a proto, and takes back the returned one: before scheduling and after it. On the GPU
`pre_scheduler` runs before fusion. On the CPU it runs after fusion and after copy insertion, as `post_scheduler` does
everywhere. After copy insertion XLA no longer checks aliasing, so a pass that makes two values share a buffer that one of them
overwrites would be wrong. After passes have run at such a stage, copies are therefore reinserted wherever that could happen
(`passes/buffers.py`). At every stage the layouts of arguments and results stay as they were (`entry_layout.py`).

A pass cannot break a compilation. A pass that raises is undone and reported with an `HloPassWarning` and a reproducer. XLA
gets the module as it was before that pass; or as it was before all passes if the verifier rejects the result, if the passes exceed
the time limit (`hook_worker.py`), or if XLA itself cannot compile the result (`compile_refused`). Passes may run in several threads
at once, one module each. Programs that a pass itself compiles are compiled without passes.

Installing and uninstalling change what `jax.jit` means, so both start a new epoch (`hook_cache.py`): programs compiled
earlier are recompiled at their next call. A compilation in flight keeps the hooks it finds at each stage.

XLA's GPU autotuner compiles hundreds of candidates through the same pipeline, as modules named after an instruction
(`gemm_fusion_dot.2`), in its own threads, and exposes them only after scheduling. A module first seen after scheduling
therefore belongs to the autotuner and is left alone unless `include_autotuning=True`.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.hlo import hook_cache
from tilewright.hlo.entry_layout import keep_entry_layout
from tilewright.hlo.errors import HloError, HloPassWarning
from tilewright.hlo.hook_worker import is_closing, run_limited, watch_exit
from tilewright.hlo.ir import Module
from tilewright.hlo.passes import Pass, PassLike, Report, as_pass, run_passes
from tilewright.hlo.passes.base import HloPassError, compiling_for
from tilewright.hlo.passes.buffers import BufferUses
from tilewright.hlo.passes.dce import remove_unused_in_fusions
from tilewright.hlo.reproducer import write_reproducer
from tilewright.hlo.verify_platform import platform_problems

STAGES = ("pre_scheduler", "post_scheduler")
_GPU = ("cuda", "rocm", "gpu")

_lock = threading.Lock()
_hooks: tuple[Hook, ...] = ()
_registered: set[tuple[str, str]] = set()  # (platform, stage) for which XLA calls our callback
_waiting: Counter[tuple[str, str]] = Counter()  # (platform, module name) seen before scheduling, not yet after it
_changed: OrderedDict[str, Changed] = OrderedDict()  # by module name: modules recently handed to XLA
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Changed:
  """A module that replaced XLA's own."""

  data: bytes  # the original
  passes: tuple[Pass, ...]
  platform: str


@dataclass(eq=False)
class Hook:
  """Installed passes. `uninstall()` removes them; so does leaving a `with` block."""

  passes: tuple[Pass, ...]
  stage: str
  platforms: tuple[str, ...] | None
  include_autotuning: bool
  fixed_point: bool
  verify: bool
  only: re.Pattern[str] | None
  fingerprint: str
  time_limit: float | None = None  # seconds per module
  number: int = field(default_factory=lambda: next(_numbers))
  reports: deque[Report] = field(default_factory=lambda: deque(maxlen=1000))  # of the latest modules, oldest first

  @property
  def installed(self) -> bool:
    return self in _hooks

  @property
  def changed(self) -> bool:
    """Whether any module was changed so far."""
    return any(report.changed for report in self.reports)

  def uninstall(self) -> None:
    """Compile without these passes from now on. Idempotent."""
    global _hooks
    with _lock:
      if self not in _hooks:
        return
      _hooks = tuple(h for h in _hooks if h is not self)
      _announce()

  def __enter__(self) -> Hook:
    return self

  def __exit__(self, *exception: object) -> None:
    self.uninstall()

  def wants(self, platform: str, stage: str, module: str, autotuning: bool) -> bool:
    if stage != self.stage or (autotuning and not self.include_autotuning):
      return False
    if self.platforms is not None and platform not in self.platforms:
      return False
    return self.only is None or self.only.search(module) is not None


def install(
  passes: PassLike | Sequence[PassLike],
  *,
  stage: str | Any = "pre_scheduler",
  platforms: str | Sequence[str] | None = None,
  include_autotuning: bool = False,
  fixed_point: bool = False,
  verify: bool = True,
  only: str | None = None,
  fingerprint: str | None = None,
  time_limit: float | None = 300.0,
) -> Hook:
  """Runs `passes` inside every compilation from now on, until the returned hook's `uninstall()`.

  A pass is a function on modules (returning whether it changed anything, or a new module), a `Pass`, or the name of one.
  `stage` is "pre_scheduler" or "post_scheduler", `platforms` a choice of "cpu", "gpu", "cuda", … (all if None). `only` is a
  regular expression searched for in module names. Several hooks run in the order of their installation. With
  `fixed_point` the passes run until a whole round changes nothing; with `verify` a module that they leave illegal is not handed to XLA;
  with `include_autotuning` they also run on the small modules of XLA's autotuner. Passes that are still running `time_limit` seconds
  after they started on a module are stopped, and XLA compiles the module unchanged (None: no limit).

  `fingerprint` identifies this version of the passes in the keys of JAX's persistent compilation cache. By default it is computed
  from their code. A pass that refers to objects whose value cannot be determined gets a fingerprint unique to the process, so that
  it never loads a program from disk that other passes produced.
  """
  items = [passes] if isinstance(passes, (str, Pass)) or callable(passes) else list(passes)
  todo = tuple(as_pass(item) for item in items)
  where = _stage_name(stage)
  names = _platform_names(platforms)
  if time_limit is not None and not time_limit > 0:
    raise HloPassError(f"time_limit={time_limit!r}: expected a positive number of seconds, or None for no limit")
  key = fingerprint if fingerprint is not None else hook_cache.fingerprint(todo)
  options = repr((where, names, include_autotuning, fixed_point, only))
  pattern = None if only is None else re.compile(only)
  hook = Hook(todo, where, names, include_autotuning, fixed_point, verify, pattern, f"{options}:{key}", time_limit)
  global _hooks
  with _lock:
    _register(names)
    watch_exit()
    _hooks = (*_hooks, hook)
    _announce()
  return hook


def installed_hooks() -> tuple[Hook, ...]:
  """The hooks installed now, in order."""
  return _hooks


def _announce() -> None:
  hook_cache.hooks_changed("".join(f"[tilewright.hlo {h.fingerprint}]" for h in _hooks))


def _stage_name(stage: Any) -> str:
  name = str(getattr(stage, "name", stage)).lower()
  if name not in STAGES:
    raise HloPassError(f"stage={stage!r} is neither of {', '.join(STAGES)}")
  return name


def _platform_names(platforms: str | Sequence[str] | None) -> tuple[str, ...] | None:
  if platforms is None:
    return None
  named = [platforms] if isinstance(platforms, str) else list(platforms)
  if not named or not all(isinstance(p, str) and p for p in named):
    raise HloPassError(f"platforms={platforms!r}: expected names such as 'cpu' or 'gpu', or None for all")
  return tuple(dict.fromkeys(p for name in named for p in (_GPU if name == "gpu" else (name,))))


def _register(names: tuple[str, ...] | None) -> None:
  """Registers the XLA callbacks, once and permanently: removing a callback that XLA may be about to call is not safe. An idle callback
  costs the serialisation of a proto per module.
  """
  import jax
  from jax.extend import backend
  from jax.extend import xla as jex

  if jax.__version_info__ < (0, 11):  # registers with plug-ins when they start
    groups = [("cpu",), _GPU, ("tpu",)]
  else:  # plug-ins must be there
    groups = [(platform,) for platform in backend.backends()]
  for group in groups:
    if names is not None and not set(group) & set(names):
      continue
    for stage in jex.PipelineStage:  # both, to tell autotuning from compiling
      key = (group[0], stage.name.lower())
      if key in _registered:
        continue
      callback = functools.partial(_callback, *key)
      name = f"tilewright_{key[0]}_{key[1]}"
      jex.register_hlo_module_transformation(callback, name=name, stage=stage, platforms=list(group))
      _registered.add(key)


def _callback(platform: str, stage: str, data: bytes) -> bytes | None:
  """The callback XLA calls. Returns the new module, or None to keep the old one. Raises only if the user's filters turn warnings into
  errors.
  """
  hooks = _hooks
  if (not hooks and not _waiting) or is_closing():
    return None
  name = module_name(data)
  if name.startswith((hook_cache.MARK, hook_cache.WITHOUT_PASSES)):  # a pass uses JAX itself, or failed before
    return None
  autotuning = _is_autotuning(platform, stage, name)
  wanted = [h for h in hooks if h.wants(platform, stage, name, autotuning)]
  if not wanted:
    return None
  problems: list[str] = []
  limits = [h.time_limit for h in wanted]
  seconds = None if None in limits else sum(limit for limit in limits if limit is not None)
  with compiling_for(platform):
    try:
      result, problems = run_limited(functools.partial(_transform, wanted, platform, stage, name, data), seconds)
    except (Exception, SystemExit) as error:  # of the reader or the writer, out of time, or a pass that exits
      if is_closing():
        return None
      result, problems = None, [_failure(name, data, None, _all_passes(wanted), error, _UNCHANGED)]
  for problem in problems:
    warnings.warn(problem, HloPassWarning, stacklevel=2)
  if result is not None:
    _remember(name, Changed(data, tuple(_all_passes(wanted)), platform))
  return result


_UNCHANGED = "XLA compiles it unchanged"


def _all_passes(hooks: list[Hook]) -> list[Pass]:
  return [item for hook in hooks for item in hook.passes]


def _transform(hooks: list[Hook], platform: str, stage: str, name: str, data: bytes) -> tuple[bytes | None, list[str]]:
  """The new module, or None to keep the old one, and what went wrong."""
  problems: list[str] = []
  with hook_cache.running_passes():
    module = _read(name, data)
    uses = BufferUses(module) if copies_are_in(platform, stage) else None
    reports = [_run(hook, module, data, problems) for hook in hooks]
    if not any(report.changed for report in reports):
      return None, problems
    unused = remove_unused_in_fusions(module)
    if uses is not None:
      uses.protect(module)
    keep_entry_layout(module)
    if any(hook.verify for hook in hooks):
      try:
        _check(module, data, platform, unused)
      except HloError as error:
        problems.append(_failure(name, data, None, _all_passes(hooks), error, _UNCHANGED))
        return None, problems
    return module.to_proto(), problems


def _read(name: str, data: bytes) -> Module:
  """The module, with the counts of devices that protos do not hold, where JAX's compilation says them."""
  from tilewright.hlo.proto_read import from_proto

  module = from_proto(data)
  counts = hook_cache.device_counts(name)
  if counts is not None:
    module.replica_count, module.num_partitions = counts
    module.counts_known = True
  return module


def _remember(name: str, changed: Changed) -> None:
  with _lock:
    _changed.pop(name, None)
    _changed[name] = changed
    while len(_changed) > 16:  # compiled without JAX's compile path, so the entry is never consumed
      _changed.popitem(last=False)


def compiled(name: str) -> Changed | None:
  """The passes' change to a module whose compilation has ended, successfully or not; the record is removed."""
  with _lock:
    return _changed.pop(name, None)


def compile_refused(name: str, changed: Changed, error: BaseException) -> None:
  """Reports that XLA could compile the original, but not the module the passes produced."""
  with compiling_for(changed.platform):
    text = _failure(name, changed.data, None, list(changed.passes), error, "it was compiled without them")
  warnings.warn(f"XLA refuses what passes made: {text}", HloPassWarning, stacklevel=2)


def _run(hook: Hook, module: Module, data: bytes, problems: list[str]) -> Report:
  report = run_passes(module, hook.passes, fixed_point=hook.fixed_point, on_error="skip")
  hook.reports.append(report)
  by_name = {item.name: item for item in hook.passes}
  for run in report.failures:
    assert run.error is not None
    what = "XLA compiles the module without it"
    problems.append(_failure(module.name, data, by_name.get(run.name), list(hook.passes), run.error, what))
  return report


def _check(module: Module, data: bytes, platform: str, unused: list[str]) -> None:
  """An error if the module breaks rules, of HLO or of the platform, that it did not break before."""
  from tilewright.hlo.verify import problems

  found = problems(module) + unused
  own = platform_problems(module, platform)
  if found or own:
    before = _read(module.name, data)
    known = {*problems(before), *platform_problems(before, platform), *remove_unused_in_fusions(before)}
    new, own = [p for p in found if p not in known], [p for p in own if p not in known]
    if new:
      raise HloError(f"the passes made a module that is not legal HLO: {'; '.join(new[:3])}")
    if own:
      raise HloError(f"the passes made a module that XLA cannot run on this platform: {'; '.join(own[:3])}")


def _failure(name: str, data: bytes, failed: Pass | None, passes: list[Pass], error: BaseException, then: str) -> str:
  hook_cache.pass_failed()
  text = None
  try:
    from tilewright.hlo.proto_read import from_proto

    text = from_proto(data).to_text()
  except Exception:  # the reader itself may be what failed: then the bytes are kept
    pass
  place = write_reproducer(name, text, data, failed, passes, error)
  culprit = f"pass {failed.name}" if failed is not None else "running passes"
  where = f" To see it again: python {place / 'reproduce.py'}" if place is not None else ""
  return f"{culprit} failed on module {name} ({type(error).__name__}: {error}); {then}.{where}"


def copies_are_in(platform: str, stage: str) -> bool:
  """Whether XLA has already inserted copies at this stage, so that it will not add one that a pass makes necessary."""
  return stage == "post_scheduler" or platform not in _GPU


def _is_autotuning(platform: str, stage: str, name: str) -> bool:
  with _lock:
    if stage == "pre_scheduler":
      if len(_waiting) > 10_000:  # compilations that failed half-way leave their names
        _waiting.clear()
      _waiting[platform, name] += 1
      return False
    if _waiting[platform, name] > 0:
      _waiting[platform, name] -= 1
    else:
      del _waiting[platform, name]
      return platform in _GPU
    if not _waiting[platform, name]:
      del _waiting[platform, name]
    return False


def module_name(data: bytes) -> str:
  """The first field of an HloModuleProto, without decoding the rest."""
  from tilewright.hlo import proto_wire

  try:
    return next((proto_wire.text(value) for number, _, value in proto_wire.fields(data) if number == 1), "")
  except HloError:
    return ""
