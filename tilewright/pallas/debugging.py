"""Debugging aids for kernels: prints, checks, and delays that expose races.

    pl.debug_print("instance {} sees {}", pl.program_id(0), x_ref[0])
    pl.debug_check(jnp.all(x_ref[...] > 0), "lengths are positive")

`fail_unless` is how the portable target reports an error that can only be detected at run time.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.options import enable_debug_checks
from tilewright.pallas.primitives import Primitive, is_ref, not_differentiable
from tilewright.target import xla
from tilewright.tile.grid import source_line

debug_print_p = Primitive("pallas_debug_print")
debug_print_p.multiple_results = True
debug_print_p.def_effectful_abstract_eval(lambda *avals, fmt, has_placeholders: ([], {effects.debug_effect}))
not_differentiable(debug_print_p)


def debug_print(fmt: str, *args: Any) -> None:
  """Print values from inside a kernel.

  If `fmt` has placeholders, there must be one for each of `args`; without placeholders, the values are printed after it. A different
  number of placeholders is a `ShapeMismatchError`.
  """
  fields = [f for _, f, _, _ in string.Formatter().parse(fmt) if f is not None]
  if fields and len(fields) != len(args):
    raise errors.ShapeMismatchError(
      f"pl.debug_print: {fmt!r} has {len(fields)} placeholders but {len(args)} values were given."
    )
  values = [_value(a, "pl.debug_print") for a in args]
  if fields:
    _check_format(fmt, values)
  debug_print_p.bind(*values, fmt=fmt, has_placeholders=bool(fields))


def _value(x: Any, what: str) -> jax.Array:
  if is_ref(x):
    raise errors.UnreadRefError(
      f"{what}: got {x}. A ref is not the value that it holds: read it first, as in x_ref[...]."
    )
  return jnp.asarray(x)


def _check_format(fmt: str, values: Sequence[Any]) -> None:
  """Format zeros of the same types, so that an invalid format is reported while tracing and not when the kernel runs."""
  types = [x.dtype for x in values]
  if any(jnp.issubdtype(t, jax.dtypes.extended) for t in types):
    return
  try:
    fmt.format(*(np.zeros(x.shape, t) for x, t in zip(values, types)))
  except (ValueError, TypeError, LookupError, AttributeError) as e:
    shown = ", ".join(f"{t.name}{list(x.shape)}" for x, t in zip(values, types))
    raise errors.ShapeMismatchError(
      f"pl.debug_print: {fmt!r} cannot print values of types {shown}: {e}. Formats such as {{:.2f}} are for scalars; {{}} prints any array."
    ) from e


@xla.register(debug_print_p)
def _(ctx: xla.Context, *args: Any, fmt: str, has_placeholders: bool) -> list[Any]:
  if not has_placeholders:
    fmt = fmt.replace("{", "{{").replace("}", "}}") + " {}" * len(args)
  jax.debug.print(fmt, *args)
  return []


debug_check_p = Primitive("pallas_debug_check")
debug_check_p.multiple_results = True
debug_check_p.def_effectful_abstract_eval(lambda *avals, message: ([], {effects.debug_effect}))
not_differentiable(debug_check_p)


def debug_check(condition: Any, message: str) -> None:
  """Fail with `message` if `condition` is false, provided that `enable_debug_checks` is set; otherwise do nothing."""
  if not enable_debug_checks.value:
    return
  debug_check_p.bind(_value(condition, "pl.debug_check").astype(jnp.bool_), message=message)


def fail_unless(condition: Any, error: type[Exception], message: str) -> None:
  """Raise on the host, at run time, if `condition` is false; for an array, the error names the first false element."""

  def complain() -> None:
    def report(held: Any) -> None:
      from tilewright.runtime import printing  # it loads LLVM, which the portable target does not need

      raise error(message + printing.first_failing(np.asarray(held, bool)))

    jax.debug.callback(report, condition)

  lax.cond(jnp.all(condition), lambda: None, complain)


@xla.register(debug_check_p)
def _(ctx: xla.Context, condition: Any, *, message: str) -> list[Any]:
  text = f"debug_check failed: {message} (at {source_line(ctx.eqn)})"
  fail_unless(condition, errors.DebugCheckError, text)
  return []


delay_p = Primitive("delay")
delay_p.multiple_results = True
delay_p.def_effectful_abstract_eval(lambda nanos: ([], {effects.delay_effect}))
not_differentiable(delay_p)
xla.register(delay_p)(lambda ctx, nanos: [])  # instances run sequentially: none can overtake another


def delay(nanos: int | jax.Array) -> None:
  """Sleep for `nanos` nanoseconds, so that other cores get ahead of this one."""
  delay_p.bind(jnp.asarray(nanos, jnp.int32))
