"""A small program for each public name, from which docs/api.md learns its state.

A program uses the names it is registered for and checks what comes out, exactly. If it runs, they work; if it raises
UnsupportedFeatureError, they are an error with that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl

Program = Callable[[], None]
programs: dict[tuple[str, str], Program] = {}


def use(module: str, names: str) -> Callable[[Program], Program]:
  """Register a program for some names of a module ('pl', 'pltpu', 'plgpu', 'triton' or 'fuser')."""

  def add(program: Program) -> Program:
    for name in names.split():
      assert (module, name) not in programs, f"two programs for {module}.{name}"
      programs[module, name] = program
    return program

  return add


def run(
  kernel: Callable[..., None], *args: Any, shape: tuple[int, ...] = (8,), dtype: Any = jnp.float32, **options: Any
) -> Any:
  """Call a kernel with one output."""
  return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(shape, dtype), **options)(*args)


def same(got: Any, expected: Any) -> None:
  np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


def count(n: int = 8, dtype: Any = jnp.float32) -> jax.Array:
  return jnp.arange(n, dtype=dtype)
