"""`@tune`: a function some of whose keyword arguments are chosen by measurement.

    @tune(block_m=choice(64, 128, 256), stages=range(2, 6))
    def matmul(x, y, *, block_m, stages): ...

    matmul(x, y)                                the configuration of the tables, or the heuristic
    matmul(x, y, block_m=64, stages=2)          this one
    best = matmul.search(x, y, budget="60s")    measures, and remembers

Arrays may be tracers: under `jit` a configuration is found by their types, and a search runs in other processes, outside of the trace.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.tune import keys, modes, table
from tilewright.tune.budget import Budget
from tilewright.tune.content import content
from tilewright.tune.keys import Bound, Key
from tilewright.tune.space import Config, Domain, Predicate, Space, ask, same

OPTIONS = "compiler_options"  # the parameter whose fields are flags of XLA


class Call:
  """A call of a tuned function: what it is for, and the space with what the caller has fixed taken out."""

  def __init__(self, tuned: Tuned, bound: Bound, fixed: Mapping[str, Any]) -> None:
    self.tuned, self.bound, self.fixed = tuned, bound, fixed
    self.space = tuned.space.narrowed(fixed)
    notes = " ".join(f"{name}:={value!r}" for name, value in fixed.items())
    self.arguments = " ".join(filter(None, (bound.text(tuned.bucket), notes)))

  @functools.cached_property
  def key(self) -> Key:
    where = keys.platform()
    own = (self.tuned.name, self.tuned.content, self.arguments)
    return Key(*own, keys.device_name(where), keys.driver(where), keys.versions())

  def default(self) -> tuple[Config, bool]:
    """The configuration without any tuning, and whether the kernel's author chose it."""
    names, known = self.space.domains, self.bound.names
    heuristic = self.tuned.heuristic
    if heuristic is not None:
      given = ask(heuristic, known, "heuristic") if callable(heuristic) else heuristic
      if not isinstance(given, Mapping) or not set(names) >= set(given) >= set(names) - set(self.fixed):
        raise errors.TuningError(
          f"{self.tuned.name}: the heuristic must give {', '.join(n for n in names if n not in self.fixed)}, got {given!r}."
        )
      return {**given, **self.fixed}, True
    declared = inspect.signature(self.tuned.function).parameters
    if all(n in self.fixed or (n in declared and declared[n].default is not inspect.Parameter.empty) for n in names):
      return {n: self.fixed.get(n, getattr(declared.get(n), "default", None)) for n in names}, True
    for config in self.space.candidates(known):
      return config, False
    raise errors.TuningError(f"{self.tuned.name}: no configuration satisfies the constraints for {self.arguments}.")

  def command(self) -> str:
    """The command that would tune this call."""
    return self.tuned.command(self.bound)


class Method(functools.partial[Any]):
  """A tuned method of an object."""

  func: Tuned

  def search(self, *args: Any, **kwargs: Any) -> Any:
    return self.func.search(*self.args, *args, **kwargs)


class Tuned:
  """A function with a search space. See `tune`."""

  def __init__(
    self,
    function: Callable[..., Any],
    space: Space,
    *,
    heuristic: Callable[..., Mapping[str, Any]] | Mapping[str, Any] | None = None,
    bucket: Callable[..., Any] | None = None,
    inputs: Callable[..., Any] | None = None,
    reference: Callable[..., Any] | None = None,
    tolerance: float | None = None,
    predict: Callable[..., float] | bool = False,
    prune: Callable[[Any], Any] | bool = False,
    options: Mapping[str, Domain] | None = None,
    kernel_content: str | None = None,
    is_quiet: bool = False,
  ) -> None:
    functools.update_wrapper(self, function)
    self.function, self.heuristic, self.bucket = function, heuristic, bucket
    self.inputs, self.reference, self.tolerance = inputs, reference, tolerance
    self.predict, self.prune, self.is_quiet = predict, prune, is_quiet
    self.options = dict(options or {})
    self.space = space
    self.name = getattr(function, "__name__", "kernel")
    self._content = kernel_content
    self._found: dict[tuple[str, str], Config] = {}
    self._warned: set[str] = set()
    signature = inspect.signature(function)
    taken = set(space.parameters) - set(self.option_names)
    unknown = [n for n in taken if n not in signature.parameters]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
      raise errors.TuningError(
        f"tune: {self.name} has no parameter {', '.join(unknown)}; it has {', '.join(signature.parameters)}."
      )
    self.signature = signature.replace(parameters=[p for n, p in signature.parameters.items() if n not in taken])

  @property
  def option_names(self) -> tuple[str, ...]:
    return tuple(f"{OPTIONS}.{name}" for name in self.options)

  def __reduce__(self) -> Any:
    return _rebuilt, (self.function, self.space, {
      "heuristic": self.heuristic, "bucket": self.bucket, "inputs": self.inputs, "reference": self.reference, "tolerance": self.tolerance,
      "predict": self.predict, "prune": self.prune, "options": self.options, "kernel_content": self._content, "is_quiet": self.is_quiet,
    })  # fmt: skip

  @functools.cached_property
  def content(self) -> str:
    """The hash of what the function computes. Names of parameters are part of it, their domains are not."""
    return self._content or content(self.function)

  def __get__(self, instance: Any, owner: type | None = None) -> Any:
    return self if instance is None else Method(self, instance)

  # --- calling ---------------------------------------------------------------------------------------------------

  def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    fixed = {n: v for n, v in kwargs.items() if n in self.space.domains}
    built = [n for n in kwargs if n in self.space.built]
    if built:
      raise errors.TuningError(
        f"{self.name}: give all of {', '.join(self.space.parameters)}, or leave out {', '.join(built)}."
      )
    rest = {n: v for n, v in kwargs.items() if n not in fixed}
    return Call(self, keys.bind(self.signature, args, rest), fixed)

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    if all(n in kwargs for n in self.space.parameters if not n.startswith(f"{OPTIONS}.")) and not self.options:
      return self.function(*args, **kwargs)
    call = self.bound(args, kwargs)
    config = self.configure(call)
    rest = {n: v for n, v in kwargs.items() if n not in call.fixed}
    return self.run(config, args, rest)

  def run(self, config: Config, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call the function with a configuration."""
    options, own = self.split(config)
    arguments = self.space.arguments(own)
    if not options:
      return self.function(*args, **kwargs, **arguments)
    return _compiled(self, tuple(sorted(options.items())), tuple(sorted(arguments.items(), key=lambda i: i[0])))(
      *args, **kwargs
    )

  def split(self, config: Mapping[str, Any]) -> tuple[dict[str, Any], Config]:
    """XLA's options of a configuration, and the rest."""
    options = {n.removeprefix(f"{OPTIONS}."): v for n, v in config.items() if n in self.option_names}
    return options, {n: v for n, v in config.items() if n not in self.option_names}

  def configure(self, call: Call) -> Config:
    """The configuration for a call: by the tables, by a search, or by the heuristic, as the mode says."""
    modes.note(call)
    notes = modes.override(self.content, call.arguments)
    if notes is not None:
      config = call.space.from_json(notes)
      if config is None:
        raise errors.TuningError(f"{self.name}: {dict(notes)} is not in its search space.")
      return config
    mode = modes.current()
    if mode.name == "off":
      return call.default()[0]
    where = keys.platform()
    known = self._found.get((where, call.arguments))
    if known is None:
      known = self._look_up(call, mode)
      if known is None:
        return call.default()[0]
      self._found[where, call.arguments] = known
    return known

  def _look_up(self, call: Call, mode: modes.Mode) -> Config | None:
    entry = _found(call.key)
    config = self.from_entry(call, entry)
    if config is not None:
      return config
    if mode.name == "search":
      return dict(self._search(call, budget=mode.budget, seed=mode.seed).config)
    if mode.nearest and (near := table.nearest(call.key)) is not None:
      config = self.from_entry(call, near[0])
      if config is not None:
        self._warn(
          call.arguments,
          f"{self.name} was not tuned for {call.arguments}; the entry of the nearest shapes, {near[0].key.arguments}, is used.",
        )
        return config
    if mode.name == "strict":
      raise errors.MissingTuningError(missing_text([call]))
    if not mode.is_quiet and not self.is_quiet:
      self._warn(
        call.arguments,
        f"{self.name} was not tuned for {call.arguments} on {call.key.device}; its heuristic is used. To tune it: {call.command()}",
      )
    return None

  def from_entry(self, call: Call, entry: table.Entry | None) -> Config | None:
    """The configuration of an entry, if this kernel still has it."""
    if entry is None:
      return None
    config = call.space.from_json(entry.config)
    return config if config is not None and call.space.holds(config, call.bound.names) else None

  def _warn(self, arguments: str, text: str) -> None:
    if arguments not in self._warned:
      self._warned.add(arguments)
      warnings.warn(text, errors.TuningWarning, stacklevel=5)

  def command(self, bound: Bound) -> str:
    file = (
      inspect.unwrap(self.function).__code__.co_filename
      if hasattr(inspect.unwrap(self.function), "__code__")
      else "FILE.py"
    )
    below = os.path.relpath(file) if os.path.exists(file) else file
    shown = file if below.startswith(os.pardir) else below
    types = [keys.type_text(t) for t in bound.types]
    settings = [
      f"--set {shlex.quote(f'{n}={v!r}')}" for n, v in bound.names.items() if _is_literal(v, self.signature, n)
    ]
    return " ".join(["tilewright tune", shlex.quote(f"{shown}:{self.name}"), *map(shlex.quote, types), *settings])

  # --- searching -------------------------------------------------------------------------------------------------

  def search(
    self,
    *args: Any,
    budget: Any = "60s",
    seed: int = 0,
    log: str | os.PathLike[str] | None = None,
    save: bool = True,
    progress: bool | None = None,
    limit_seconds: float | None = None,
    memory_bytes: int | None = None,
    compilers: int | None = None,
    **kwargs: Any,
  ) -> Any:
    """Find the best configuration for a call, and remember it.

    Args:
      *args, **kwargs: of the function, without what is tuned; types (`jax.ShapeDtypeStruct`) do for arrays, with random numbers in them.
      budget: "60s", "5min", "200 trials", or a number of seconds.
      seed: of the search and of random numbers.
      log: a file to which every trial is appended as a line of JSON.
      save: whether the table gets the result.
      progress: whether to show a progress bar; by default on a terminal.
      limit_seconds: the time limit of one candidate; by default ten times what the others take.
      memory_bytes: the most memory of the process that runs a candidate.
      compilers: how many processes compile; by default as many as there are cores, eight at most.

    Returns:
      A `Result`: a mapping of the best configuration, with times, trials and reasons.
    """
    call = self.bound(args, kwargs)
    options = {"limit_seconds": limit_seconds, "memory_bytes": memory_bytes, "compilers": compilers}
    return self._search(call, budget=budget, seed=seed, log=log, save=save, progress=progress, **options)

  def _search(
    self,
    call: Call,
    *,
    budget: Any,
    seed: int = 0,
    log: str | os.PathLike[str] | None = None,
    save: bool = True,
    progress: bool | None = None,
    **options: Any,
  ) -> Any:
    from tilewright.tune import search
    from tilewright.tune.reporting import reporter

    task = self.task(call, Budget.of(budget), seed)
    with reporter(task, progress) as report:
      result = search.run(search.dataclasses.replace(task, log=log, report=report, **options))
    if save:
      remember(call.space, result)
    self._found[keys.platform(), call.arguments] = dict(result.config)
    return result

  def task(self, call: Call, budget: Budget, seed: int) -> Any:
    """What a search for a call needs to know."""
    from tilewright.tune.job import Candidate, Job
    from tilewright.tune.search import Task

    bound = call.bound
    values = None if self.inputs is not None else keys.concrete([bound.leaves[n] for n in bound.arrays])
    leaves = tuple(None if n in bound.arrays else leaf for n, leaf in enumerate(bound.leaves))
    shapes = tuple((tuple(t.shape), t.dtype) for t in bound.types)
    job = Job(
      self.function, leaves, bound.tree, bound.arrays, shapes, keys.platform(), seed,
      values, self.inputs, self.reference, self.tolerance,
    )  # fmt: skip
    candidates = call.space.enumerated(bound.names, seed)
    default, is_given = call.default()
    if not any(all(same(default[n], c[n]) for n in c) for c in candidates):
      candidates = [default, *candidates]  # a heuristic may choose what the space leaves out

    def to_candidate(config: Config) -> Candidate:
      flags, own = self.split(config)
      return Candidate(self.space.arguments(own), flags)

    predicted = None
    if self.predict is True:
      predicted = _by_cost_model(job, [to_candidate(c) for c in candidates])
    elif callable(self.predict):
      predicted = np.array([float(ask(self.predict, {**bound.names, **c}, "predict")) for c in candidates])
    space = (
      call.space if call.space.from_json(call.space.to_json(default)) is not None else _widened(call.space, default)
    )
    return Task(job, call.key, space, candidates, default, is_given, to_candidate, budget, seed, predicted, self.prune)


def _by_cost_model(job: Any, candidates: Sequence[Any]) -> np.ndarray:
  """Estimates; a candidate that cannot be traced comes last, and says why when it is tried."""
  from tilewright.tune.resources import predicted_seconds

  found = []
  with modes.quietly():
    for candidate in candidates:
      try:
        found.append(predicted_seconds(job.program(candidate), job.structs, job.platform))
      except Exception:  # the user's code: anything may go wrong in it
        found.append(np.inf)
  known = [t for t in found if np.isfinite(t)]
  return np.array([t if np.isfinite(t) else 10 * max(known, default=1.0) for t in found])


def _widened(space: Space, config: Config) -> Space:
  """A space whose domains also have the values of a configuration."""
  domains = {}
  for name, domain in space.domains.items():
    if any(same(config[name], v) for v in domain.every):
      domains[name] = domain
    else:
      values = (*domain.values, config[name])
      domains[name] = Domain(tuple(sorted(values)) if domain.is_ordered else values, domain.is_ordered)
  return Space(domains, (), None, space.built)


def _rebuilt(function: Callable[..., Any], space: Space, options: dict[str, Any]) -> Tuned:
  return Tuned(function, space, **options)


@functools.lru_cache(maxsize=256)
def _compiled(tuned: Tuned, options: tuple[tuple[str, Any], ...], arguments: tuple[tuple[str, Any], ...]) -> Any:
  return jax.jit(functools.partial(tuned.function, **dict(arguments)), compiler_options=dict(options))


def _is_literal(value: Any, signature: inspect.Signature, name: str) -> bool:
  declared = signature.parameters.get(name)
  plain = value is None or isinstance(value, bool | int | float | str)
  return plain and (declared is None or declared.default is inspect.Parameter.empty or declared.default != value)


def _found(key: Key) -> table.Entry | None:
  """The entry of a key; a table that cannot be read has none, which is said once."""
  try:
    return table.find(key)
  except (errors.TuningError, OSError) as error:
    _warn_unusable(str(error))
    return None


@functools.cache
def _warn_unusable(why: str) -> None:
  warnings.warn(f"The table of tuning is not used: {why}", errors.TuningWarning, stacklevel=6)


def remember(space: Space, result: Any, note: str = "") -> None:
  """Add a result to the user's table."""
  notes = "; ".join(filter(None, (note, *result.doubts)))
  config = space.to_json(result.config)
  table.append(
    table.Entry(result.key, config, result.seconds, result.default_seconds, len(result.trials), table.today(), notes)
  )


def missing_text(calls: Sequence[Call]) -> str:
  """The missing entries, with shapes, and the command that creates them."""
  lines = [f"  {c.tuned.name}: {c.arguments} on {c.key.device}\n    {c.command()}" for c in calls]
  return "\n".join(
    [
      f"Strict tuning: {len(calls)} {'entry is' if len(calls) == 1 else 'entries are'} missing in {table.path()}:",
      *lines,
    ]
  )


def missing(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Call]:
  """The calls of tuned functions in `function(*args, **kwargs)` that no table has an entry for. The function is traced, and not run."""
  with modes.noting() as noted:
    jax.eval_shape(functools.partial(function, **kwargs), *args)
  calls = {c.key.identity: c for c in noted}
  return [c for c in calls.values() if c.tuned.from_entry(c, _found(c.key)) is None]


def tune(
  configs: Sequence[Mapping[str, Any]] | None = None,
  /,
  *,
  space: Mapping[str, Any] | None = None,
  where: Predicate | Iterable[Predicate] = (),
  heuristic: Callable[..., Mapping[str, Any]] | Mapping[str, Any] | None = None,
  bucket: Callable[..., Any] | None = None,
  inputs: Callable[..., Any] | None = None,
  reference: Callable[..., Any] | None = None,
  tolerance: float | None = None,
  predict: Callable[..., float] | bool = False,
  prune: Callable[[Any], Any] | bool = False,
  compiler_options: Mapping[str, Any] | None = None,
  **parameters: Any,
) -> Callable[[Callable[..., Any]], Tuned]:
  """Have keyword arguments of a function chosen by measurement.

  Args:
    configs: an explicit list of configurations, in the place of domains; also by the name `configs`.
    space: domains by name, for parameters whose names are those of options here.
    where: a predicate, or several, that candidates satisfy; they name parameters, and arguments of the function, seen as types.
    heuristic: the configuration where nothing was tuned, or a function of the arguments that gives it. Left out: the function's own
      defaults for all parameters, or else the first configuration of the space.
    bucket: a function of the arrays' types; calls for which it gives the same share an entry.
    inputs: a function of the arrays' types that gives the arrays to measure with; left out, those of the call, or random ones.
    reference: a function of the same arguments whose numbers candidates must give; left out, the heuristic's.
    tolerance: the relative error that candidates may have; by default some roundings of the dtype.
    predict: a function of parameters and arguments that estimates the time, or True for the cost model of kernels, which traces each
      candidate; candidates are tried in its order, and the model of the search knows it.
    prune: whether kernels that spill registers, or need more shared memory than there is, are rejected before they run; or a function
    of their `nvgpu.Report` that decides it. For NVIDIA GPUs.
    compiler_options: domains of flags of XLA (`xla_...`); the function is then compiled with `jax.jit` and these options.
    **parameters: domains of keyword arguments: `choice`, `range`, `power_of_two`, `build`.
  """
  configs = parameters.pop("configs", configs)
  if callable(configs):
    raise errors.TuningError("tune: write @tune(block_m=choice(64, 128)), with parameters and their values.")
  constraints = (where,) if callable(where) else tuple(where)
  options = {n: d if isinstance(d, Domain) else Domain((d,)) for n, d in (compiler_options or {}).items()}
  flags = {f"{OPTIONS}.{name}": domain for name, domain in options.items()}
  if configs is not None:
    if space or parameters or flags:
      raise errors.TuningError("tune: give a list of configurations or domains, not both.")
    found = Space.explicit(configs, constraints)
  else:
    found = Space.of({**(space or {}), **parameters, **flags}, constraints)

  def decorate(function: Callable[..., Any]) -> Tuned:
    return Tuned(
      function, found, heuristic=heuristic, bucket=bucket, inputs=inputs, reference=reference, tolerance=tolerance, predict=predict,
      prune=prune, options=options,
    )  # fmt: skip

  return decorate
