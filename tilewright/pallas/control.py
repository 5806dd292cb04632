"""Control-flow decorators for kernels: `when` for branches, `loop` for loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors


def when(condition: Any, /) -> Callable[[Callable[[], Any]], None]:
  """A decorator that calls the function immediately if `condition` holds.

  A Python bool is decided while tracing; an array becomes a `lax.cond` with the function as its true branch.
  """

  def decorator(f: Callable[[], Any]) -> None:
    if isinstance(condition, bool):
      if condition:
        f()
      return
    aval = jnp.asarray(condition)
    if aval.shape != ():
      raise errors.ShapeMismatchError(
        f"pl.when: the condition must be a scalar, got shape {aval.shape}. Reduce it first."
      )

    def branch() -> None:
      if (result := f()) is not None:
        raise errors.KernelReturnError(f"pl.when: the function must return None, got {result}. Write to refs instead.")

    lax.cond(aval.astype(bool), branch, lambda: None)

  return decorator


def loop(
  lower: Any,
  upper: Any,
  *,
  init_carry: Any = None,
  step: Any = 1,
  unroll: int | bool | None = None,
) -> Callable[[Callable[..., Any]], Any]:
  """A decorator that calls the function for each index in `range(lower, upper, step)`.

  With `init_carry` the function is called as `f(index, carry)` and returns the next carry; the decorated name is then bound to the
  final carry. `unroll` is that of `lax.fori_loop`.
  """
  static_step = step if isinstance(step, int) else None
  if static_step == 0:
    raise errors.ShapeMismatchError("pl.loop: step must not be zero.")

  def decorator(body: Callable[..., Any]) -> Any:
    if static_step == 1:
      first, last, index_of = lower, upper, lambda i: i
    else:
      static = all(isinstance(x, int) for x in (lower, upper, step))
      if static:
        trips: Any = len(range(lower, upper, step))
      else:
        span = jnp.asarray(upper) - lower
        trips = jnp.maximum(
          0, jnp.where(jnp.asarray(step) > 0, lax.div(span + step - 1, step), lax.div(span + step + 1, step))
        )
      first, last, index_of = 0, trips, lambda i: lower + i * step

    def call(i: Any, carry: Any) -> Any:
      if init_carry is None:
        if (result := body(index_of(i))) is not None:
          raise errors.KernelReturnError(f"pl.loop: without init_carry the function must return None, got {result}.")
        return None
      return body(index_of(i), carry)

    return lax.fori_loop(first, last, call, init_carry, unroll=unroll)

  return decorator
