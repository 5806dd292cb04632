"""The choice of a target for library kernels, and checks of their arguments.

Every op takes `interpret` and `native`. By default, a kernel becomes native code where the program runs on the CPU or on an NVIDIA GPU and
uses the portable lowering elsewhere; `native=True` forces native code, and `interpret=True` forces the portable lowering everywhere.
Both are resolved once, where the op is called, and passed on as one small value, `Execution`, which is static under `jit` and in derivative
rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.pallas import cpu, nvgpu
from tilewright.pallas.native_params import NativeParams
from tilewright.runtime import pretend

FLOATS = (np.dtype(jnp.float32), np.dtype(jnp.bfloat16), np.dtype(jnp.float16))


@dataclasses.dataclass(frozen=True)
class TunedParams(NativeParams):
  """Parameters of the NVIDIA target for a kernel that other targets may run too: see `nvgpu.CompilerParams`."""

  num_warps: int | None = None
  cluster: tuple[int, ...] | None = None
  writes_all: bool = False


@dataclasses.dataclass(frozen=True)
class Execution:
  """Which target an op's kernels run on."""

  interpret: bool
  native: bool | None  # None leaves it to the platform
  on_gpu: bool = False  # where native code runs
  params: tuple[tuple[str, Any], ...] = ()  # of the NVIDIA target, as tuned

  def options(self, *semantics: str, on_gpu: dict[str, Any] | None = None) -> dict[str, Any]:
    """Arguments for `pallas_call`; `semantics` names the grid dimensions as parallel or arbitrary where a proof would not be found.

    `on_gpu` are parameters of a kernel that is written for a GPU (`TunedParams`); tuned ones come first.
    """
    if self.interpret:
      return {"interpret": True}
    if self.params or on_gpu:
      tuned = TunedParams if self.native is None else nvgpu.CompilerParams
      return {
        "compiler_params": tuned(dimension_semantics=semantics or None, **{**(on_gpu or {}), **dict(self.params)})
      }
    params = NativeParams if self.native is None else nvgpu.CompilerParams if self.on_gpu else cpu.CompilerParams
    return {"compiler_params": params(dimension_semantics=semantics or None)}


def execution(interpret: bool | None, native: bool | None) -> Execution:
  """Resolve the two arguments of an op."""
  if interpret and native:
    raise errors.KernelTypeError(
      "interpret=True asks for the portable lowering and native=True for native code. Leave one of them out."
    )
  portable = bool(interpret) or native is False
  return Execution(portable, native, not portable and platform() in ("gpu", "cuda"))


def platform() -> str:
  """The platform on which a program traced now will run, unless its inputs are on another one."""
  chosen = jax.config.jax_default_device
  if chosen is None:
    return pretend.real_backend()
  return chosen if isinstance(chosen, str) else chosen.platform


# --- checks ------------------------------------------------------------------------------------------------------


def array(op: str, name: str, x: Any, *, min_rank: int = 0) -> jax.Array:
  """An argument as an array of rank `min_rank` or more."""
  try:
    x = jnp.asarray(x)
  except (TypeError, ValueError) as error:
    raise errors.KernelTypeError(f"{op}: {name} must be an array, got {type(x).__name__}.") from error
  if x.ndim < min_rank:
    raise errors.ShapeMismatchError(
      f"{op}: {name} must have at least {min_rank} dimensions, got shape {x.shape}. Add a dimension with {name}[None]."
    )
  return x


def floating(op: str, name: str, x: Any, *, min_rank: int = 0) -> jax.Array:
  """An argument as an array of a float dtype that the kernels compute with."""
  x = array(op, name, x, min_rank=min_rank)
  if x.dtype not in FLOATS:
    raise errors.ShapeMismatchError(
      f"{op}: {name} must be float32, bfloat16 or float16, got {x.dtype}. Convert it with {name}.astype(jnp.float32)."
    )
  return x


def shaped(op: str, name: str, x: jax.Array, shape: Sequence[int], why: str) -> None:
  """Check an argument's shape; `why` says what it must fit."""
  if x.shape != tuple(shape):
    raise errors.ShapeMismatchError(f"{op}: {name} must have shape {tuple(shape)} ({why}), got {x.shape}.")


def axis_of(op: str, x: jax.Array, axis: int) -> int:
  """A dimension's number, counted from the front."""
  if not -x.ndim <= axis < x.ndim:
    raise errors.ShapeMismatchError(
      f"{op}: axis must be between {-x.ndim} and {x.ndim - 1} for an array of shape {x.shape}, got {axis}."
    )
  return axis % x.ndim
