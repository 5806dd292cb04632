"""Recordings of the results of a program's kernels, kept and compared: `tilewright run --check`.

A recording holds the results of each call of `pallas_call` and `kernel`, numbered in the order in which the program
makes the calls. Under `jit` a call is made while JAX traces; its results are sent to the recording when the program
runs, each time it runs: in a loop, under `vmap` and `shard_map` once for each iteration, element or device. The recording
also holds the arrays among the program's global variables at its end.

Two recordings agree where shapes, dtypes, integers and the positions of NaNs are the same and floats differ by at most
eps^(2/3) of the largest element, eps being the spacing of the coarsest float dtype seen in the program so far: kernels
may sum in another order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.cli.table import print_table
from tilewright.replacing import PALLAS

# Functions that make a kernel, by module.
MAKERS = ((PALLAS, "pallas_call"), (PALLAS, "kernel"), (f"{PALLAS}.mosaic_gpu", "kernel"))


@dataclasses.dataclass
class Recording:
  """Results by call: the kernel's name, and the arrays of each time it ran. And the program's global arrays."""

  names: list[str] = dataclasses.field(default_factory=list)
  results: dict[int, list[list[np.ndarray]]] = dataclasses.field(default_factory=dict)
  variables: dict[str, list[np.ndarray]] = dataclasses.field(default_factory=dict)

  def add_call(self, name: str) -> int:
    self.names.append(name)
    return len(self.names) - 1

  def add_results(self, call: int, *arrays: Any) -> None:
    with _lock:
      self.results.setdefault(call, []).append([np.array(a) for a in arrays])

  def keep_variables(self, variables: Mapping[str, Any]) -> None:
    jax.effects_barrier()
    for name, value in variables.items():
      if not name.startswith("_") and (arrays := _arrays(value)):
        self.variables[name] = [np.array(a) for a in arrays]


_lock = threading.Lock()


def _arrays(value: Any) -> list[Any]:
  """The arrays in a tree; keys of random numbers as their bits."""
  leaves = [
    leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array | np.ndarray) and hasattr(leaf, "dtype")
  ]
  return [
    jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
    for leaf in leaves
    if leaf.dtype != object
  ]


@contextlib.contextmanager
def recorded(recording: Recording, *, interpret: bool = False) -> Iterator[None]:
  """While active, kernels created send their results to the recording; with `interpret`, they run in interpret mode."""
  with contextlib.ExitStack() as stack:
    for place, name in MAKERS:
      try:
        module = importlib.import_module(place)
      except ImportError:  # JAX's Mosaic GPU needs more than JAX
        continue
      stack.enter_context(
        mock.patch.object(module, name, _recording_maker(getattr(module, name), recording, interpret))
      )
    yield


def _recording_maker(make: Callable[..., Any], recording: Recording, interpret: bool) -> Callable[..., Any]:
  forced = {"interpret": True} if interpret and "interpret" in inspect.signature(make).parameters else {}

  @functools.wraps(make)
  def maker(*args: Any, **kwargs: Any) -> Any:
    made = make(*args, **(kwargs if kwargs.get("interpret") else {**kwargs, **forced}))
    body = args[0] if args else kwargs.get("kernel", kwargs.get("body"))
    if body is None:  # a decorator with arguments
      return lambda body: _recording_calls(made(body), recording, _name_of(body, kwargs))
    return _recording_calls(made, recording, _name_of(body, kwargs))

  return maker


def _name_of(body: Any, kwargs: Mapping[str, Any]) -> str:
  while isinstance(body, functools.partial):
    body = body.func
  return str(kwargs.get("name") or getattr(body, "__name__", "kernel"))


def _recording_calls(function: Callable[..., Any], recording: Recording, name: str) -> Callable[..., Any]:
  @functools.wraps(function)
  def call(*args: Any, **kwargs: Any) -> Any:
    out = function(*args, **kwargs)
    keep = functools.partial(recording.add_results, recording.add_call(name))
    arrays = _arrays(out)
    if any(isinstance(a, jax.core.Tracer) for a in arrays):
      jax.debug.callback(keep, *arrays)
    else:
      keep(*arrays)
    return out

  return call


# --- comparing -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Comparison:
  """How far two lists of arrays are apart, relative to the largest element; or why they cannot be compared."""

  difference: float
  allowed: float
  reason: str = ""

  @property
  def agrees(self) -> bool:
    return not self.reason and self.difference <= self.allowed


def spacing(dtype: Any) -> float:
  return float(jnp.finfo(dtype).eps) if jnp.issubdtype(dtype, jnp.inexact) else 0.0


def compare(ours: list[np.ndarray], theirs: list[np.ndarray], allowed: float) -> Comparison:
  if [(a.shape, a.dtype) for a in ours] != [(b.shape, b.dtype) for b in theirs]:
    found, expected = (", ".join(f"{a.dtype}{list(a.shape)}" for a in side) for side in (ours, theirs))
    return Comparison(np.inf, allowed, f"types: {found} here, {expected} there")
  worst = 0.0
  for a, b in zip(ours, theirs):
    if not jnp.issubdtype(a.dtype, jnp.inexact):
      if wrong := int(np.sum(a != b)):
        return Comparison(np.inf, allowed, f"{wrong} of {a.size} elements of {a.dtype} differ")
      continue
    wide = np.complex128 if jnp.issubdtype(a.dtype, jnp.complexfloating) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    if wrong := int(np.sum(np.isnan(a) & ~np.isnan(b))):
      return Comparison(
        np.inf, allowed, f"{wrong} of {a.size} elements are NaN here alone: read before they were written?"
      )
    if wrong := int(np.sum(np.isnan(b) & ~np.isnan(a))):
      return Comparison(np.inf, allowed, f"{wrong} of {a.size} elements are NaN there alone")
    other = ~(np.isnan(a) | (a == b))
    scale = np.max(np.abs(b), where=np.isfinite(b), initial=0.0) or 1.0
    worst = max(worst, float(np.max(np.abs(a[other] - b[other]), initial=0.0)) / scale)
  return Comparison(worst, allowed)


def compare_runs(ours: list[list[np.ndarray]], theirs: list[list[np.ndarray]], allowed: float) -> Comparison:
  """Results of one call that ran several times. Devices run side by side, so theirs may come in another order."""
  if len(ours) != len(theirs):
    return Comparison(np.inf, allowed, f"it ran {len(ours)} times here, {len(theirs)} times there")
  left, found = list(theirs), []
  for run in ours:
    candidates = [compare(run, other, allowed) for other in left[:1]]
    if not candidates[0].agrees:
      candidates = [compare(run, other, allowed) for other in left]
    best = min(range(len(candidates)), key=lambda i: (candidates[i].difference, bool(candidates[i].reason)))
    found.append(candidates[best])
    left.pop(best)
  return max(found, key=lambda c: c.difference, default=Comparison(0.0, allowed))


def report(ours: Recording, theirs: Recording, tolerance: float | None) -> bool:
  """Print a table of all comparisons; whether everything agrees."""
  rows: list[tuple[str, str, Comparison]] = []
  coarsest = 0.0

  def allowed(runs: list[list[np.ndarray]]) -> float:
    nonlocal coarsest
    coarsest = max([coarsest, *(spacing(a.dtype) for run in runs for a in run)])
    return coarsest ** (2 / 3) if tolerance is None else tolerance

  for call in range(max(len(ours.names), len(theirs.names))):
    name = (ours.names if call < len(ours.names) else theirs.names)[call]
    found, expected = ours.results.get(call, []), theirs.results.get(call, [])
    rows.append((f"{name} ({call})", str(len(found)), compare_runs(found, expected, allowed(expected))))
  for name in sorted({*ours.variables, *theirs.variables}):
    here, there = ours.variables.get(name), theirs.variables.get(name)
    if here is None or there is None:
      rows.append((name, "-", Comparison(np.inf, 0.0, f"a variable {'there' if here is None else 'here'} alone")))
    else:
      rows.append((name, "-", compare(here, there, allowed([there]))))
  cells = [
    [name, runs, c.reason or f"{c.difference:.1e}", f"{c.allowed:.1e}", "same" if c.agrees else "DIFFERENT"]
    for name, runs, c in rows
  ]
  print_table(
    "Kernels and variables, here and with JAX's Pallas; differences relative to the largest element",
    ["what", "runs", "difference", "allowed", ""],
    cells,
    right=["runs", "difference", "allowed"],
  )
  if not rows:
    print("The program called no kernel and has no arrays among its global variables: nothing was compared.")
  return all(c.agrees for _, _, c in rows)
