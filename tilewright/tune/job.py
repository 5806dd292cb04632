"""A measurement job: a function, its arguments, and a candidate, as data that is sent to worker processes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.tune import modes

_SMALL_INTEGERS = 8  # random integers are below it: they may be indices

# The error that a candidate may have beside the reference, relative to an element and to the root mean square of all of them: some
# roundings of the dtype. Sums in another order, or of other partial sums, stay below; a wrong element does not.
_TOLERANCES = {
  "float64": 1e-9,
  "float32": 1e-4,
  "float16": 5e-3,
  "bfloat16": 3e-2,
  "complex64": 1e-4,
  "complex128": 1e-9,
}


@dataclasses.dataclass(frozen=True)
class Candidate:
  """Keyword arguments of the function, options for XLA, and, for steps, the configurations of the kernels that it calls."""

  arguments: Mapping[str, Any]
  options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  overrides: Mapping[tuple[str, str], Mapping[str, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Job:
  """A function and its arguments: `leaves` without the arrays, whose positions are `arrays`."""

  function: Callable[..., Any]
  leaves: tuple[Any, ...]
  tree: Any
  arrays: tuple[int, ...]
  types: tuple[tuple[tuple[int, ...], Any], ...]  # shape and dtype of each array
  platform: str
  seed: int = 0
  values: tuple[np.ndarray, ...] | None = None
  inputs: Callable[..., Any] | None = None
  reference: Callable[..., Any] | None = None
  tolerance: float | None = None

  @property
  def structs(self) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(*t) for t in self.types]

  @property
  def nbytes(self) -> int:
    return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in self.types)

  def call(self, arrays: Sequence[Any], function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    leaves = list(self.leaves)
    for place, array in zip(self.arrays, arrays, strict=True):
      leaves[place] = array
    args, kwargs = jax.tree.unflatten(self.tree, leaves)
    return function(*args, **kwargs, **arguments)

  def program(self, candidate: Candidate) -> Callable[..., Any]:
    """A candidate as a function of the arrays alone."""

    def run(*arrays: Any) -> Any:
      with modes.overriding(candidate.overrides):
        return self.call(arrays, self.function, candidate.arguments)

    return run

  def jitted(self, candidate: Candidate) -> Any:
    """A program that calls a candidate on each of some sets of arrays."""
    call = self.program(candidate)
    return jax.jit(lambda sets: [call(*arrays) for arrays in sets], compiler_options=dict(candidate.options) or None)

  def make_inputs(self) -> list[np.ndarray]:
    """The arrays to measure with: those of the call, the user's, or random ones."""
    if self.values is not None:
      return list(self.values)
    if self.inputs is not None:
      return self._given()
    rng = np.random.default_rng(self.seed)
    return [_random(rng, shape, np.dtype(dtype)) for shape, dtype in self.types]

  def _given(self) -> list[np.ndarray]:
    assert self.inputs is not None
    found = [np.asarray(x) for x in jax.tree.leaves(self.inputs(*self.structs))]
    if [(x.shape, x.dtype) for x in found] != [(tuple(s), np.dtype(d)) for s, d in self.types]:
      wanted, given = ([f"{x.dtype}{list(x.shape)}" for x in own] for own in (self.structs, found))
      raise errors.TuningError(f"inputs: expected arrays {', '.join(wanted)}, got {', '.join(given)}.")
    return found


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
  if dtype == np.bool_:
    return rng.integers(0, 2, shape).astype(dtype)
  if jnp.issubdtype(dtype, jnp.integer):
    return rng.integers(0, _SMALL_INTEGERS, shape).astype(dtype)
  if jnp.issubdtype(dtype, jnp.complexfloating):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
  return rng.standard_normal(shape, np.float32).astype(dtype)


# --- comparing ---------------------------------------------------------------------------------------------------


def all_near(found: Sequence[Any], reference: Sequence[Any], tolerance: float | None) -> bool:
  """Whether results are surely those of the reference, by the device, in float32. What it is not sure of, `difference` decides."""
  if [(a.shape, a.dtype) for a in found] != [(b.shape, b.dtype) for b in reference]:
    return False
  return all(bool(_is_near(a, b, _allowed(a.dtype, tolerance))) for a, b in zip(found, reference))


@functools.partial(jax.jit, static_argnums=2)
def _is_near(a: Any, b: Any, tolerance: float) -> Any:
  if not jnp.issubdtype(a.dtype, jnp.floating) or a.dtype.itemsize > 4:
    return jnp.all(a == b)
  x, y = a.astype(jnp.float32), b.astype(jnp.float32)
  size = jnp.sqrt(jnp.mean(y * y))  # NaN or infinite where the reference is: then nothing is near
  return jnp.all(jnp.abs(x - y) <= 0.9 * tolerance * (jnp.abs(y) + size)) & jnp.isfinite(size)


def _allowed(dtype: Any, tolerance: float | None) -> float:
  return _TOLERANCES.get(str(dtype), 0.25) if tolerance is None else tolerance


def difference(found: Sequence[np.ndarray], reference: Sequence[np.ndarray], tolerance: float | None) -> str | None:
  """How results differ from the reference, in words; None if they do not."""
  if len(found) != len(reference):
    return f"gives {len(found)} arrays, and the reference {len(reference)}"
  for n, (a, b) in enumerate(zip(found, reference)):
    which = f"result {n}" if len(found) > 1 else "the result"
    if a.shape != b.shape or a.dtype != b.dtype:
      return f"{which} is {a.dtype}{list(a.shape)}, and that of the reference {b.dtype}{list(b.shape)}"
    if not jnp.issubdtype(a.dtype, jnp.inexact):
      wrong = a != b
    else:
      wrong = _differs(a, b, _allowed(a.dtype, tolerance))
    if wrong.any():
      place = tuple(int(i) for i in np.argwhere(wrong)[0])
      return (
        f"{which} differs from the reference in {int(wrong.sum())} of {wrong.size} elements: "
        f"at {list(place)} it is {a[place]}, not {b[place]}"
      )
  return None


def _differs(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
  wide = np.complex128 if np.iscomplexobj(a) else np.float64
  x, y = a.astype(wide), b.astype(wide)
  with np.errstate(all="ignore"):
    finite = np.isfinite(y)
    size = float(np.sqrt(np.mean(np.abs(y[finite]) ** 2))) if finite.any() else 0.0
    near = np.abs(x - y) <= tolerance * (np.abs(y) + size)
    return ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
