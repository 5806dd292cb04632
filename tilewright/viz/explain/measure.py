"""Measurements for the page. On a GPU the kernels record what they do; on a CPU the whole function is timed.

Types are filled with numbers: floating point with a normal distribution, integers with ones. See `nvgpu.profile` for what is recorded.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.runtime import cuda, jit
from tilewright.tile.grid import lines_of_library

if TYPE_CHECKING:
  from tilewright.target.nvgpu.host.profile import Profile


@dataclasses.dataclass(frozen=True)
class Measured:
  """One call of a kernel on a device."""

  device: str
  profile: Profile


def require(arch: str) -> None:
  """Raise an error unless JAX runs on devices for which `arch` is the architecture that kernels are compiled for."""
  here = jax.default_backend()
  if here == "gpu":
    from tilewright.target.nvgpu import arch as architectures

    found, _ = architectures.families(cuda.capabilities(), cuda.driver_version(), jit.llvm_version())
    names = [family.arch.name for family in found]
    if names == [arch]:
      return
    here = f"GPU ({', '.join(names)})"
  raise errors.NativeCodeError(
    f"measure: expected a machine whose GPU runs {arch}, but JAX runs on the {here} here. Leave it out: the timeline is predicted then."
  )


def seconds(function: Callable[..., Any], args: Sequence[Any], repeat: int = 15) -> float:
  """The median time of a call on this machine's CPU, of all kernels of the function together and what is between them."""
  with jax.default_device(jax.devices("cpu")[0]):
    inputs = [filled(arg, n) for n, arg in enumerate(args)]
    compiled = jax.jit(lambda *own: function(*own)).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    times = []
    for _ in range(repeat):
      start = time.perf_counter()
      jax.block_until_ready(compiled(*inputs))
      times.append(time.perf_counter() - start)
  return statistics.median(times)


def filled(arg: Any, number: int) -> Any:
  """An array for a type; what is no type stays."""
  if not isinstance(arg, jax.ShapeDtypeStruct):
    return arg
  if not jnp.issubdtype(arg.dtype, jnp.inexact):
    return jnp.ones(arg.shape, arg.dtype)
  values = np.random.default_rng(number).standard_normal(arg.shape, np.float32)
  return jnp.asarray(values).astype(arg.dtype)


def profiles(function: Callable[..., Any], args: Sequence[Any], arch: str) -> dict[str, list[Measured]]:
  """The profiles of a function's kernels, by their names, in the order of the calls."""
  from tilewright.pallas import nvgpu

  require(arch)
  found: dict[str, list[Measured]] = {}
  with lines_of_library():
    own = nvgpu.profile(function, *(filled(arg, n) for n, arg in enumerate(args)))
  for profile in own:
    found.setdefault(profile.kernel, []).append(Measured(jax.devices()[0].device_kind, profile))
  return found
