"""Interoperation: inline Mosaic GPU operations, which cannot be compiled here, and PyTorch, which can call kernels."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.layout.transforms import Transform
from tilewright.pallas import effects, primitives
from tilewright.pallas.mosaic_gpu.layouts import SomeLayout
from tilewright.runtime import _jax
from tilewright.target import xla


@dataclasses.dataclass(frozen=True)
class RefType:
  """An argument of `inline_mgpu` that is a ref, with its transforms."""

  transforms: tuple[Transform, ...] = ()


@dataclasses.dataclass(frozen=True)
class ShapeDtypeStruct:
  """A result of `inline_mgpu`: a tile with a layout."""

  shape: tuple[int, ...]
  dtype: Any
  layout: SomeLayout


inline_mgpu_p = primitives.Primitive("inline_mgpu")
inline_mgpu_p.multiple_results = True


@inline_mgpu_p.def_effectful_abstract_eval
def _(*avals: Any, out_avals: Any, message: str) -> Any:
  read = {primitives.ReadEffect(i) for i, aval in enumerate(avals) if isinstance(aval, primitives.AbstractRef)}
  return list(out_avals), {*read, effects.semaphore_effect}  # so that it stays, whatever it would have done


@xla.register(inline_mgpu_p)
def _(ctx: xla.Context, *args: Any, out_avals: Any, message: str) -> list[Any]:
  raise errors.UnsupportedFeatureError(message)


def inline_mgpu(*, arg_types: Any = (), return_type: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator for a function that writes Mosaic GPU's own operations. What it gives can be traced, but not compiled: only the simulated
  machine can leave such a call out, `InterpretGPUParams(inline_mgpu="ignore")`, and gives uninitialised values then."""

  def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def call(*args: Any) -> Any:
      message = (
        f"plgpu.inline_mgpu: {getattr(f, '__name__', 'a function')!r} writes operations of Mosaic GPU's compiler, which is not used here. "
        "Write them with jax.numpy, plgpu.layout_cast and plgpu.load, or as PTX by tilewright.pallas.triton.elementwise_inline_asm. "
        'interpret=plgpu.InterpretGPUParams(inline_mgpu="ignore") leaves them out.'
      )
      types, tree = jax.tree.flatten(return_type, is_leaf=lambda x: isinstance(x, ShapeDtypeStruct))
      avals = tuple(primitives.ShapedArray(tuple(ty.shape), jnp.dtype(ty.dtype)) for ty in types)
      flat, _ = _jax.flatten(tuple(args))
      return jax.tree.unflatten(tree, inline_mgpu_p.bind(*flat, out_avals=avals, message=message))

    return call

  return decorate


def as_torch_kernel(fn: Callable[..., Any]) -> Callable[..., Any]:
  """Make a function of JAX arrays one of PyTorch tensors, which are passed without a copy.

  The results are on the device of the arguments. JAX compiles the function once for each set of shapes and dtypes.
  """
  compiled = jax.jit(fn)

  @functools.wraps(fn)
  def call(*args: Any) -> Any:
    torch = importlib.import_module("torch")
    arrays = jax.tree.map(lambda t: jax.dlpack.from_dlpack(t.detach().contiguous()), args)
    return jax.tree.map(torch.from_dlpack, compiled(*arrays))

  return call
