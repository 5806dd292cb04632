"""Code of others around and inside of kernels: Mosaic GPU's own operations, which cannot be, and PyTorch, which can call kernels."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.layout.transforms import Transform
from tilewright.pallas.mosaic_gpu.layouts import SomeLayout


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


def inline_mgpu(*, arg_types: Any = (), return_type: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator for a function that writes Mosaic GPU's own operations. The function it gives raises an error where it is called."""

  def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def refused(*args: Any) -> Any:
      raise errors.UnsupportedFeatureError(
        f"plgpu.inline_mgpu: {getattr(f, '__name__', 'a function')!r} writes operations of Mosaic GPU's compiler, which is not used here. "
        "Write them with jax.numpy, plgpu.layout_cast and plgpu.load, or as PTX by tilewright.pallas.triton.elementwise_inline_asm."
      )

    return refused

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
