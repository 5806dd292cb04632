"""`tilewright hlo FILE`: passes over an HLO module from the shell.

    tilewright hlo module.hlo --passes call_inliner,cse,dce --diff
    tilewright hlo module.hlo --passes mine.py:my_pass --evaluate --out after.hlo --html after.html
    tilewright hlo module.hlo --tiling --tile 32,128 --html tiles.html

The file is HLO text, a serialised HloModuleProto, or StableHLO (MLIR text or bytecode, converted by JAX);
`-` reads standard input. `--evaluate` runs the module on random arguments
before and after the passes and compares. `--tiling` prints indexing maps, symbolic tiles and the regions that are better as one
kernel (see `docs/tiling.md`). Exit code 0: all well; 1: a pass failed, or the values differ; 2: the file or the passes
cannot be read, or a result cannot be written.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.util
import os
import pathlib
import re
import sys
import textwrap
from typing import Any

import numpy as np

from tilewright import hlo
from tilewright.hlo.errors import HloError
from tilewright.hlo.passes import PASSES, Pass, as_pass, make_pass, run_passes
from tilewright.hlo.shape import Shape


def run(arguments: argparse.Namespace) -> int:
  if arguments.list:
    for name in sorted(PASSES):
      print(f"{name:<32} {make_pass(name).summary}")
      options = [f"{field.name}={_spelled(field.default)}" for field in dataclasses.fields(make_pass(name))]
      if options:
        print(textwrap.fill(", ".join(options), 120, initial_indent="    ", subsequent_indent="    "))
    return 0
  if not arguments.file:
    print("tilewright hlo: which FILE? (--list prints the passes)", file=sys.stderr)
    return 2
  arguments.tiling = arguments.tiling or arguments.tile is not None
  try:
    module = read_module(arguments.file)
    passes = [load_pass(text) for text in split_passes(arguments.passes)]
  except (HloError, OSError, ImportError, AttributeError) as error:
    print(f"tilewright hlo: {error}", file=sys.stderr)
    return 2
  try:
    return _work(module, passes, arguments)
  except HloError as error:
    print(f"tilewright hlo: {error}", file=sys.stderr)
    return 1
  except OSError as error:  # --out or --html
    print(f"tilewright hlo: {error}", file=sys.stderr)
    return 2


def _spelled(default: object) -> str:
  """The default of an option, as one writes it in braces."""
  return str(default).lower() if isinstance(default, bool) else "" if default is None else str(default)


def _work(module: hlo.Module, passes: list[Pass], arguments: argparse.Namespace) -> int:
  original = module.clone() if arguments.evaluate and passes else module
  if passes:
    report = run_passes(
      module, passes, fixed_point=arguments.fixed_point, verify=True, keep_text=arguments.diff, dump=None
    )
    print(report)
    if arguments.diff:
      print(report.diff())
  elif not arguments.evaluate and not arguments.tiling:
    counts = f"{len(module.computations)} computations, {module.instruction_count} instructions"
    print(f"module {module.name}: {counts}, {'scheduled' if module.is_scheduled else 'not scheduled'}")
  code = _evaluate(original, module, arguments.seed) if arguments.evaluate else 0
  if arguments.out:
    if arguments.out.endswith(".pb"):
      pathlib.Path(arguments.out).write_bytes(module.to_proto())
    else:
      pathlib.Path(arguments.out).write_text(module.to_text(), encoding="utf-8")
  if arguments.tiling:
    from tilewright.cli.tiling import run_tiling

    return max(code, run_tiling(module, arguments.tile, arguments.device, arguments.html))
  if arguments.html:
    from tilewright.viz.hlo_graph import render

    pathlib.Path(arguments.html).write_text(render(module), encoding="utf-8")
  return code


def read_module(name: str) -> hlo.Module:
  """From a file: HLO text, StableHLO as text or bytecode, or a proto if it is neither."""
  if name != "-" and not pathlib.Path(name).exists():
    raise FileNotFoundError(f"there is no file {name!r}")
  data = sys.stdin.buffer.read() if name == "-" else pathlib.Path(name).read_bytes()
  if data.startswith(b"ML\xefR") or MLIR_TEXT.match(data):
    return _from_stablehlo(name, data)
  try:
    text = data.decode("utf-8")
  except UnicodeDecodeError:
    return _from_proto(name, data)
  if "\0" in text or not re.search(r"HloModule|ENTRY|=|\{", text[:100_000]):
    return _from_proto(name, data)
  return hlo.parse(text)


def _from_proto(name: str, data: bytes) -> hlo.Module:
  try:
    return hlo.from_proto(data)
  except HloError as error:
    raise HloError(
      f"{name} is neither HLO text, which begins with `HloModule`, nor StableHLO, and it cannot be read as an HLO proto: {error}"
    ) from error


# A module of MLIR, perhaps after comments and aliases (`#loc1 = …`).
MLIR_TEXT = re.compile(rb"(?:\s*(?://[^\n]*|[#!][^\n]*)?\n)*\s*(?:builtin\.)?module\b[^\n]*\{", re.ASCII)


def _from_stablehlo(name: str, data: bytes) -> hlo.Module:
  from tilewright.runtime import _jax

  try:
    return hlo.from_proto(_jax.stablehlo_to_hlo(data))
  except Exception as error:  # whatever the MLIR parser and the converter raise
    reason = str(error).strip().splitlines()[:1]
    raise HloError(
      f"{name} is MLIR that JAX cannot convert to HLO ({''.join(reason)}); expected StableHLO, as "
      "jax.jit(f).lower(…).as_text() prints it, or HLO text (as_text('hlo'), or compile().as_text())"
    ) from error


def split_passes(text: str) -> list[str]:
  """`a,b{x=1,y=2}` → a and b{x=1,y=2}: commas in braces do not separate."""
  return [part.strip() for part in re.findall(r"(?:[^,{]|\{[^}]*\}?)+", text) if part.strip()]


def load_pass(text: str) -> Pass:
  """The name of a pass, or `file.py:function`, or `package.module:function`."""
  return as_pass(load_function(text)) if ":" in text else make_pass(text)


def load_function(text: str) -> Any:
  """`file.py:function` or `package.module:function`."""
  place, colon, function = text.partition(":")
  if not colon:
    raise ImportError(f"expected file.py:function or package.module:function, got {text!r}")
  try:
    home = _python_file(place) if place.endswith(".py") else _module(place)
  except Exception as error:  # the user's code: anything may go wrong in it
    raise ImportError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error
  if not hasattr(home, function):
    there = [
      n for n, value in vars(home).items() if callable(value) and getattr(value, "__module__", None) == home.__name__
    ]
    raise AttributeError(f"{place} has no {function!r}; it has {', '.join(there) or 'no functions'}")
  return getattr(home, function)


def _module(name: str) -> Any:
  """A module, found in the current folder as `python -m` finds it."""
  here = os.getcwd()
  if here not in sys.path and "" not in sys.path:
    sys.path.insert(0, here)
  return importlib.import_module(name)


def _python_file(place: str) -> Any:
  if not pathlib.Path(place).is_file():
    raise FileNotFoundError("there is no such file")
  spec = importlib.util.spec_from_file_location(pathlib.Path(place).stem, place)
  assert spec is not None and spec.loader is not None  # the name ends in .py
  home = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(home)
  return home


# Evaluation.


def random_value(shape: Shape, generator: np.random.Generator) -> Any:
  """A value of this shape: small numbers, so that sums and products stay finite."""
  if shape.is_tuple:
    return tuple(random_value(part, generator) for part in shape.tuple_shapes)
  if not shape.is_array:
    return None
  match shape.kind:
    case "pred":
      return generator.integers(0, 2, shape.dimensions).astype(bool)
    case "signed" | "unsigned":
      return generator.integers(0, 4, shape.dimensions).astype(shape.dtype)
    case "complex":
      real = generator.standard_normal(shape.dimensions)
      return (real + 1j * generator.standard_normal(shape.dimensions)).astype(shape.dtype)
  return np.asarray(generator.standard_normal(shape.dimensions)).astype(shape.dtype)


def evaluate(module: hlo.Module, seed: int) -> list[Any]:
  """One result per device of the module."""
  devices = module.replica_count * module.num_partitions
  shapes = [p.shape for p in module.entry.parameters]
  generators = [np.random.default_rng([seed, d]) for d in range(devices)]
  return hlo.evaluate_devices(module, [[random_value(s, g) for s in shapes] for g in generators], seed=seed)


def _evaluate(before: hlo.Module, after: hlo.Module, seed: int) -> int:
  values = evaluate(after, seed)
  if before is after:
    for device, value in enumerate(values):
      for path, leaf in _leaves(value):
        print(f"device {device} {path or 'result'}: {leaf.dtype}{list(leaf.shape)} {_some(leaf)}")
    return 0
  worst = 0.0
  same = True
  for old, new in zip(evaluate(before, seed), values):
    for (path, a), (_, b) in zip(_leaves(old), _leaves(new)):
      if a.shape != b.shape or a.dtype != b.dtype:
        print(f"{path or 'result'}: {a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}")
        return 1
      if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
        same = False
        worst = max(worst, _difference(a, b))
  print("values: equal" if same else f"values: largest relative difference {worst:.3g}")
  # Sums in another order differ in the last digits; anything more is another program.
  return 0 if worst < 1e-3 else 1


def _difference(a: np.ndarray, b: np.ndarray) -> float:
  wide = np.complex128 if a.dtype.kind == "c" else np.float64
  x, y = a.astype(wide), b.astype(wide)
  if not np.array_equal(np.isnan(x), np.isnan(y)) or not np.array_equal(np.isinf(x), np.isinf(y)):
    return float("inf")
  finite = np.isfinite(x) & np.isfinite(y)
  scale = np.maximum(np.abs(x[finite]).max(initial=0), 1e-30)
  return float(np.abs(x[finite] - y[finite]).max(initial=0) / scale)


def _leaves(value: Any, path: str = "") -> list[tuple[str, np.ndarray]]:
  if isinstance(value, tuple):
    return [leaf for i, part in enumerate(value) for leaf in _leaves(part, f"{path}[{i}]")]
  return [(path, value)] if isinstance(value, np.ndarray) else []


def _some(array: np.ndarray) -> str:
  return np.array2string(array.reshape(-1)[:8], precision=4, threshold=8) + ("…" if array.size > 8 else "")
