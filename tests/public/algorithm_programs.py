"""The form of a textbook algorithm as a kernel with a float64 reference, and the list of all of them.

Sizes are odd, the last blocks hang over the edges of the arrays, and each algorithm comes in the dtypes it makes sense for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

F32 = jnp.float32


@dataclasses.dataclass(frozen=True)
class Program:
  """`run(*operands, interpret=…)`, its operands, its result in float64, and how many roundings the largest of the results may be off."""

  name: str
  dtype: np.dtype
  run: Callable[..., Any]
  operands: Callable[[np.random.Generator], tuple[Any, ...]]
  reference: Callable[..., Any]
  roundings: int

  def __str__(self) -> str:
    return f"{self.name}_{self.dtype.name}"


PROGRAMS: list[Program] = []


def program(dtypes: list[Any], roundings: int) -> Any:
  def add(make: Callable[[np.dtype], tuple[Any, Any, Any]]) -> Any:
    for dtype in map(jnp.dtype, dtypes):
      PROGRAMS.append(Program(make.__name__, dtype, *make(dtype), roundings))
    return make

  return add


def shape(s, d):
  return jax.ShapeDtypeStruct(tuple(s), d)


def normal(r, s, d):
  return np.asarray(r.standard_normal(s)).astype(d)
