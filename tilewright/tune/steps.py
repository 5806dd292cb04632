"""Tuning of whole steps: several kernels in one program, one objective.

    search_step(train_step, params, batch, budget="5min")

The program is traced once to see which tuned functions, and which decision points of library kernels, it calls with which types. Their
spaces together are one space, of which a candidate is a configuration for each; what is measured is the whole program. The table gets an
entry for each kernel. A program without any kernel to tune may still have flags of XLA to choose.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.tune import keys, modes, search, table
from tilewright.tune.budget import Budget
from tilewright.tune.content import content
from tilewright.tune.job import Candidate, Job
from tilewright.tune.reporting import reporter
from tilewright.tune.space import Config, Domain, Space, ask, product, same, split
from tilewright.tune.trials import Result
from tilewright.tune.tuned import Call

_OPTIONS = "xla"  # the prefix of flags in the space of a step


def calls_in(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Call]:
  """The calls of tuned functions in a program, one for each kernel and types. It is traced, and not run."""
  with modes.noting() as noted:
    _traced(function, args, kwargs)
  return list({(c.tuned.content, c.arguments): c for c in noted}.values())


def _traced(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
  leaves, tree = jax.tree.flatten((args, dict(kwargs)), is_leaf=lambda x: x is None)
  places = [n for n, leaf in enumerate(leaves) if keys.is_array(leaf)]

  def run(*arrays: Any) -> Any:
    filled = list(leaves)
    for place, array in zip(places, arrays):
      filled[place] = array
    own_args, own_kwargs = jax.tree.unflatten(tree, filled)
    return function(*own_args, **own_kwargs)

  jax.eval_shape(run, *(keys.type_of(leaves[n]) for n in places))


def search_step(
  function: Callable[..., Any],
  *args: Any,
  budget: Any = "60s",
  seed: int = 0,
  log: str | os.PathLike[str] | None = None,
  save: bool = True,
  progress: bool | None = None,
  compiler_options: Mapping[str, Domain] | None = None,
  limit_seconds: float | None = None,
  memory_bytes: int | None = None,
  compilers: int | None = None,
  **kwargs: Any,
) -> Result:
  """Tune all kernels of `function(*args, **kwargs)` together, for the time of the whole.

  The arguments are those of `Tuned.search`. `compiler_options` has domains of XLA's flags, which are tuned with the kernels; the result
  has them under names that begin with `xla/`, and they are the caller's to pass to `jax.jit`.
  """
  calls = calls_in(function, *args, **kwargs)
  if not calls and not compiler_options:
    name = getattr(function, "__name__", function)
    raise errors.TuningError(
      f"search_step: {name} calls no tuned function with these arguments; there is nothing to tune."
    )
  names = {f"{c.tuned.name}#{n}" if len(calls) > 1 else c.tuned.name: c for n, c in enumerate(calls)}
  spaces = {name: _whole(c) for name, c in names.items()}
  if compiler_options:
    spaces[_OPTIONS] = Space.of(compiler_options)
  space = dataclasses.replace(product(spaces), constraints=_constraints(names))
  defaults = {name: c.default()[0] for name, c in names.items()}
  default: Config = {f"{name}/{n}": v for name, own in defaults.items() for n, v in own.items()}
  default |= {f"{_OPTIONS}/{n}": d.values[0] for n, d in (compiler_options or {}).items()}

  def to_candidate(config: Config) -> Candidate:
    parts = split(config)
    overrides = {(c.tuned.content, c.arguments): c.space.to_json(parts[name]) for name, c in names.items()}
    return Candidate({}, parts.get(_OPTIONS, {}), overrides)

  key = _key(function, calls, args, kwargs)
  candidates = space.enumerated({}, seed)
  if not any(all(same(default[n], c[n]) for n in c) for c in candidates):
    candidates = [default, *candidates]
  task = search.Task(
    _job(function, args, kwargs, seed), key, space, candidates, default, True, to_candidate, Budget.of(budget), seed,
    _predicted(names, candidates), limit_seconds=limit_seconds, memory_bytes=memory_bytes, compilers=compilers, log=log,
  )  # fmt: skip
  with reporter(task, progress) as report:
    result = search.run(dataclasses.replace(task, report=report))
  _remember(names, result, save)
  return result


def _predicted(names: Mapping[str, Call], candidates: Sequence[Config]) -> np.ndarray | None:
  """The order that the kernels' own estimates give; None where there is none. Estimates of several kernels may have several units."""
  known = {name: call for name, call in names.items() if callable(call.tuned.predict)}
  if not known:
    return None
  total = np.zeros(len(candidates))
  for name, call in known.items():
    predict: Any = call.tuned.predict
    own = np.array([float(ask(predict, {**call.bound.names, **split(c)[name]}, "predict")) for c in candidates])
    total += own / max(float(own.max()), 1e-30)
  return total


def _whole(call: Call) -> Space:
  """A call's space with the values of its default, which its domains may leave out."""
  from tilewright.tune.tuned import _widened

  return _widened(call.space, call.default()[0])


def _constraints(names: Mapping[str, Call]) -> tuple[Callable[..., Any], ...]:
  """Each kernel's own configuration is one of its space, or its default."""

  def holds(name: str, call: Call, **config: Any) -> bool:
    own = {n.rpartition("/")[2]: v for n, v in config.items() if n.startswith(f"{name}/")}
    default = call.default()[0]
    return call.space.holds(own, call.bound.names) or all(same(default[n], own[n]) for n in own)

  return tuple(functools.partial(holds, name, call) for name, call in names.items())


def _key(function: Callable[..., Any], calls: list[Call], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> keys.Key:
  if len(calls) == 1:
    return calls[0].key
  where = keys.platform()
  notes = keys.bind(inspect.signature(lambda *args, **kwargs: None), args, kwargs).text()
  name = getattr(function, "__name__", "step")
  return keys.Key(name, content(function), notes, keys.device_name(where), keys.driver(where), keys.versions())


def _job(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], seed: int) -> Job:
  leaves, tree = jax.tree.flatten((args, dict(kwargs)), is_leaf=lambda x: x is None)
  arrays = tuple(n for n, leaf in enumerate(leaves) if keys.is_array(leaf))
  given = [leaves[n] for n in arrays]
  rest = tuple(None if n in arrays else leaf for n, leaf in enumerate(leaves))
  types = tuple((tuple(x.shape), x.dtype) for x in given)
  return Job(function, rest, tree, arrays, types, keys.platform(), seed, keys.concrete(given))


def _remember(names: Mapping[str, Call], result: Result, save: bool) -> None:
  parts = split(result.config)
  note = "" if len(names) == 1 else f"tuned with {len(names) - 1} others for the time of {result.key.kernel}"
  notes = "; ".join(filter(None, (note, *result.doubts)))
  for name, call in names.items():
    call.tuned._found[keys.platform(), call.arguments] = parts[name]
    if save:
      config = call.space.to_json(parts[name])
      numbers = (result.seconds, result.default_seconds, len(result.trials))
      table.append(table.Entry(call.key, config, *numbers, table.today(), notes))
