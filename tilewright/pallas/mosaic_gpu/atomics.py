"""Atomic reductions, without a result: `plgpu.atomic_add(ref.at[i], x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas import primitives


def _without_result(operation: Callable[..., Any]) -> Callable[[Any, Any], None]:
  def atomic(ref: Any, val: Any) -> None:
    if primitives.is_ref(ref) and not (aval := jax.typeof(val)).weak_type and aval.dtype != ref.dtype:
      raise errors.ShapeMismatchError(
        f"plgpu.{operation.__name__}: Invalid dtype: the ref holds {ref.dtype}, but the value is {aval.dtype}; convert it with astype."
      )
    operation(ref, ..., val)

  atomic.__name__ = atomic.__qualname__ = operation.__name__
  atomic.__doc__ = f"As `pl.{operation.__name__}`, of all elements of a ref, or of a part of one, `ref.at[…]`."
  return atomic


atomic_add, atomic_max, atomic_min, atomic_and, atomic_or, atomic_xor = (
  _without_result(getattr(primitives, f"atomic_{kind}")) for kind in ("add", "max", "min", "and", "or", "xor")
)
