"""`tilewright tune`: searches for configurations, and manages the table of results.

    tilewright tune kernels.py:matmul 'bf16[4096,4096]' 'bf16[4096,4096]' --budget 60s --html report.html
    tilewright tune tilewright.ops:attention 'bf16[8,1024,64]' 'bf16[8,1024,64]' 'bf16[8,1024,64]' --set causal=True
    tilewright tune train.py                 runs the program, and tunes its calls that have no entry in a table
    tilewright tune list                     the entries found
    tilewright tune merge A.jsonl B.jsonl    add tables of other machines; of two entries for one key the faster counts
    tilewright tune export FILE              a table for others
    tilewright tune import FILE              adopt a table
    tilewright tune check                    whether all lines can be used
    tilewright tune check train.py           what a program would miss under strict tuning

A function that is not itself a tuned function is tuned as a step: all tuned functions and library kernels in it, for the time of the
whole. Exit code 0: all well; 1: something is missing or failed; 2: the request cannot be read; 130: interrupted, with the best so far kept.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import pathlib
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.cli.hlo import load_function
from tilewright.cli.ptx import parse_type, with_settings
from tilewright.cli.table import duration, print_table
from tilewright.tune import modes, steps, table
from tilewright.tune.budget import Budget
from tilewright.tune.decision_points import Declared
from tilewright.tune.trials import Result
from tilewright.tune.tuned import Call, Tuned, missing_text
from tilewright.viz import tune_page


def run(arguments: argparse.Namespace) -> int:
  actions = {"list": _list, "merge": _merge, "export": _export, "import": _import, "check": _check}
  try:
    return actions.get(arguments.what, _tune)(arguments)
  except (errors.TuningError, ImportError, AttributeError, OSError, ValueError) as error:
    print(f"tilewright tune: {error}", file=sys.stderr)
    return 1 if isinstance(error, errors.TuningError) else 2


# --- searching ---------------------------------------------------------------------------------------------------


def _tune(arguments: argparse.Namespace) -> int:
  with _device(arguments.device):
    options = {"budget": Budget.of(arguments.budget), "seed": arguments.seed, "log": arguments.log}
    searches = _searches(arguments.what, arguments)
    results: list[Result] = []
    for search in searches:
      results.append(search(**options))
      print(f"{results[-1].key.kernel} {results[-1].key.arguments}")
      print(f"  {tune_page._config(results[-1].config)}")
      print(f"  {results[-1].summary()}", flush=True)
      if results[-1].is_interrupted:
        break
  if not results:
    print("Nothing to tune: the program calls no tuned function, or the tables have an entry for each of its calls.")
  if arguments.html:
    pathlib.Path(arguments.html).write_text(tune_page.render(results), encoding="utf-8")
    print(f"Written: {arguments.html}")
  if results:
    print(f"Kept in {table.path()}.")
  return 130 if any(r.is_interrupted for r in results) else 0


@contextlib.contextmanager
def _device(name: str | None) -> Any:
  if name is None:
    yield
    return
  try:
    device = jax.devices(name)[0]
  except RuntimeError as error:
    raise errors.TuningError(f"--device {name}: JAX has no such device here ({error}).") from error
  with jax.default_device(device):
    yield


def _searches(what: str, arguments: argparse.Namespace) -> list[Callable[..., Result]]:
  """What there is to search for."""
  file, colon, _ = what.partition(":")
  if not colon:
    if arguments.rest:
      return [_search_of(_only_tuned(file), arguments)]
    return [functools.partial(c.tuned._search, c) for c in _missing_entries(_calls_of_program(file))]
  function = load_function(what)
  if not arguments.rest and isinstance(function, Tuned) and _needs_arguments(function):
    calls = [c for c in _calls_of_program(file) if c.tuned.content == function.content]
    if not calls:
      raise errors.TuningError(
        f"{what} needs the types of its arguments, as in: tilewright tune {what} 'f32[512,512]'; running {file} does not call it."
      )
    return [functools.partial(c.tuned._search, c) for c in calls]
  return [_search_of(function, arguments)]


def _search_of(function: Any, arguments: argparse.Namespace) -> Callable[..., Result]:
  types = [parse_type(text) for text in arguments.rest]
  settings = dict(with_settings(lambda: None, arguments.set).keywords)  # type: ignore[attr-defined]
  _check_takes(arguments.what, function, types, settings)
  if isinstance(function, Tuned):
    return functools.partial(function.search, *types, **settings)
  return functools.partial(steps.search_step, function, *types, **settings)


def _check_takes(what: str, function: Any, types: Sequence[Any], settings: Mapping[str, Any]) -> None:
  signature = function.signature if isinstance(function, Tuned) else inspect.signature(function)
  try:
    signature.bind(*types, **settings)
  except TypeError as error:
    raise errors.TuningError(
      f"{what}: {error}. It takes {signature}: give a type for each array, and other arguments as --set NAME=VALUE."
    ) from error


def _needs_arguments(function: Tuned) -> bool:
  return any(p.default is p.empty and p.kind in (0, 1, 3) for p in function.signature.parameters.values())


def _only_tuned(file: str) -> Tuned:
  home = runpy.run_path(file, run_name="tilewright_tune")
  found = {id(v): v for v in home.values() if isinstance(v, Tuned) and not isinstance(v, Declared)}
  if len(found) != 1:
    names = ", ".join(v.name for v in found.values()) or "none"
    raise errors.TuningError(
      f"{file} must have one tuned function where types are given; it has {names}. Name it: {file}:function."
    )
  return next(iter(found.values()))


def _calls_of_program(file: str) -> list[Call]:
  """The calls of tuned functions that a program makes, each once; library kernels are tuned by their own functions."""
  with modes.noting() as noted:
    runpy.run_path(file, run_name="__main__")
  return list({c.key.identity: c for c in noted if not isinstance(c.tuned, Declared)}.values())


def _missing_entries(calls: Sequence[Call]) -> list[Call]:
  return [c for c in calls if c.tuned.from_entry(c, table.find(c.key)) is None]


# --- the table ---------------------------------------------------------------------------------------------------


def _rows(entries: Sequence[table.Entry]) -> list[list[str]]:
  return [
    [
      *(e.key.kernel, e.key.arguments, e.key.device),
      ", ".join(f"{name}={value}" for name, value in e.config.items()),
      *(duration(e.seconds), "-" if e.gain is None else f"{e.gain:.3f}", e.date or "-", e.note),
    ]
    for e in entries
  ]


def _list(arguments: argparse.Namespace) -> int:
  columns = ("kernel", "arguments", "device", "configuration", "time", "gain", "date", "note")
  found = (
    [e for file in arguments.rest for e in table.read_file(file).entries]
    if arguments.rest
    else list(table.read().entries)
  )
  where = ", ".join(arguments.rest) or str(table.path())
  print_table(
    f"{where}: {len(found)} entries; gain = default's time / time", columns, _rows(found), right=["time", "gain"]
  )
  if not arguments.rest:
    own = [e for entries in table.shipped().values() for e in entries]
    print_table(f"With the package: {len(own)} entries", columns, _rows(own), right=["time", "gain"])
  return 0


def _read_all(files: Sequence[str]) -> list[table.Entry]:
  if not files:
    raise errors.TuningError("name at least one file.")
  entries: list[table.Entry] = []
  for file in files:
    found = table.read_file(file)
    for problem in found.problems:
      print(f"{file}:{problem.line} is left out: {problem.why}", file=sys.stderr)
    entries += found.entries
  return entries


def _merge(arguments: argparse.Namespace) -> int:
  given = _read_all(arguments.rest)
  if arguments.out:
    merged = table.merged(given)
    table.write_file(arguments.out, merged)
    print(f"Written: {arguments.out}, {len(merged)} entries.")
    return 0
  merged = table.merged(table.read().entries, given)
  table.replace(merged)
  print(f"{table.path()} has {len(merged)} entries now.")
  return 0


def _export(arguments: argparse.Namespace) -> int:
  if len(arguments.rest) != 1:
    raise errors.TuningError("export: name one file.")
  entries = table.read().entries
  table.write_file(arguments.rest[0], entries)
  print(f"Written: {arguments.rest[0]}, {len(entries)} entries.")
  return 0


def _import(arguments: argparse.Namespace) -> int:
  entries = _read_all(arguments.rest)
  table.append(*entries)
  print(f"{len(entries)} entries are in {table.path()} now.")
  return 0


def _check(arguments: argparse.Namespace) -> int:
  if arguments.rest and not arguments.rest[0].endswith(".jsonl"):
    return _check_program(arguments)
  found = _read_all_of(arguments.rest)
  for where, problem in found:
    print(f"{where}:{problem.line} is not used: {problem.why}")
  print("All lines can be used." if not found else f"{len(found)} lines are not used.")
  return 1 if found else 0


def _read_all_of(files: Sequence[str]) -> list[tuple[str, table.Problem]]:
  if not files:
    return [(str(table.path()), p) for p in table.read().problems]
  return [(file, p) for file in files for p in table.read_file(file).problems]


def _check_program(arguments: argparse.Namespace) -> int:
  """The entries missing for a program."""
  what, *types = arguments.rest
  with _device(arguments.device):
    if ":" in what:
      settings = dict(with_settings(lambda: None, arguments.set).keywords)  # type: ignore[attr-defined]
      function, given = load_function(what), [parse_type(text) for text in types]
      _check_takes(what, function, given, settings)
      calls = steps.calls_in(function, *given, **settings)
    else:
      calls = _calls_of_program(what)
    lacking = _missing_entries(calls)
  if lacking:
    print(missing_text(lacking))
    return 1
  print(f"All {len(calls)} calls of tuned functions have an entry.")
  return 0
