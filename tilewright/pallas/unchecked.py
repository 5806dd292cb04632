"""Calls of ordinary JAX functions whose bodies are exempt from varying-axes (vma) type checks.

Under `shard_map` JAX checks along which mesh axes each value varies. Inside a kernel this has no meaning: a ref starts with constants and
ends with data. So the derivatives of a kernel's portable lowering, like the kernel itself, are one call each: its results vary along every
axis that an operand varies along, and the body is not checked. The function of a call is a frozen value that describes it, e.g.
`Tangent(Portable(kernel), moving)`; the transformations of a call wrap that value once more.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright.runtime import _jax

_ad = _jax.ad
Function = Callable[..., list[Any]]

unchecked_call_p = _jax.core.Primitive("unchecked_call")
unchecked_call_p.multiple_results = True
unchecked_call_p.def_impl(functools.partial(_jax.dispatch.apply_primitive, unchecked_call_p))


def without_varying_axes(x: Any) -> Any:
  """In unchecked code, the value with a type without varying axes, as loop carries must have.

  Unchecked, an operation whose operands vary differently has such a result type; XLA removes this one.
  """
  return jax.lax.select_n(jnp.zeros((), bool), x, x) if _jax.varying_axes([_jax.core.typeof(x)]) else x


def is_manual() -> bool:
  """Whether this code runs under `shard_map`, once per device."""
  return bool(jax.sharding.get_abstract_mesh().manual_axes)


def has_tangent(x: Any) -> bool:
  """Whether a value or type has derivatives: it is an array of floats."""
  return not isinstance(x.dtype, _jax.dtypes.ExtendedDType) and jnp.issubdtype(x.dtype, jnp.inexact)


@dataclasses.dataclass(frozen=True)
class Tangent:
  """The tangents of the float results of a function: of all its operands, then the tangents of those that are `moving`."""

  of: Function
  moving: tuple[bool, ...]

  def __call__(self, *args: Any) -> list[Any]:
    primals, tangents = args[: len(self.moving)], args[len(self.moving) :]

    def of_moving(*values: Any) -> list[Any]:
      left = iter(values)
      outs = self.of(*(next(left) if m else p for p, m in zip(primals, self.moving)))
      return [o for o in outs if has_tangent(o)]

    return jax.jvp(of_moving, [p for p, m in zip(primals, self.moving) if m], list(tangents))[1]


@dataclasses.dataclass(frozen=True)
class Batched:
  """The function vmapped over a batch, which is dimension `dims` of its operands."""

  of: Function
  dims: tuple[int | None, ...]
  size: int

  def __call__(self, *args: Any) -> list[Any]:
    return jax.vmap(self.of, in_axes=self.dims, axis_size=self.size)(*args)


@dataclasses.dataclass(frozen=True)
class Pullback:
  """The cotangents of the operands a function is linear in: a function of the other operands, then of the `given` cotangents of its
  results."""

  of: Function
  linear: tuple[Any, ...]  # the type of an operand it is linear in, else None
  given: tuple[bool, ...]

  def __call__(self, *args: Any) -> list[Any]:
    known, cotangents = args[: self.linear.count(None)], args[self.linear.count(None) :]

    def of_linear(*values: Any) -> list[Any]:
      left, rest = iter(values), iter(known)
      outs = self.of(*(next(rest) if aval is None else next(left) for aval in self.linear))
      return [o for o, wanted in zip(outs, self.given) if wanted]

    zeros = [jnp.zeros(aval.shape, aval.dtype) for aval in self.linear if aval is not None]
    return list(jax.vjp(of_linear, *zeros)[1](list(cotangents)))


def call(of: Function, *args: Any) -> list[Any]:
  """`of(*args)` as one call."""
  return unchecked_call_p.bind(*_jax.vary_together(args), of=of)


def _run(*args: Any, of: Function) -> list[Any]:
  with _jax.config._check_vma(False):
    return of(*map(without_varying_axes, args))


def lower_unchecked(f: Callable[..., Any]) -> Callable[..., Any]:
  """A lowering rule made from a function that runs unchecked. With `jax_enable_checks`, what it traces is checked like that, too."""
  rule = _jax.mlir.lower_fun(f, multiple_results=True)

  def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
    with _jax.config._check_vma(False):
      return rule(ctx, *operands, **params)

  return lower


_jax.mlir.register_lowering(unchecked_call_p, lower_unchecked(_run))


@unchecked_call_p.def_abstract_eval
def _(*avals: Any, of: Function) -> list[Any]:
  with _jax.config._check_vma(False):
    outs = jax.eval_shape(of, *(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals))
  vary = _jax.varying_axes(avals)
  return [_jax.with_varying_axes(_jax.core.ShapedArray(o.shape, o.dtype), vary) for o in outs]


def jvp(of: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
  """The tangents of the float results of `of`, where some of `tangents` may be symbolic zeros."""
  moving = tuple(not isinstance(t, _ad.Zero) for t in tangents)
  return call(Tangent(of, moving), *primals, *(t for t, m in zip(tangents, moving) if m))


def transpose(of: Function, cotangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
  """The cotangents of the operands that `args` leaves undefined, in which `of` is linear; None for the others."""
  linear = tuple(
    _jax.core.ShapedArray(x.aval.shape, x.aval.dtype) if _ad.is_undefined_primal(x) else None for x in args
  )
  given = tuple(not isinstance(ct, _ad.Zero) for ct in cotangents)
  known = [x for x, aval in zip(args, linear) if aval is None]
  found = iter(call(Pullback(of, linear, given), *known, *(ct for ct, g in zip(cotangents, given) if g)))
  return [None if aval is None else next(found) for aval in linear]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, of: Function) -> tuple[list[Any], list[Any]]:
  outs = unchecked_call_p.bind(*primals, of=of)
  dots = iter(jvp(of, primals, tangents))
  return outs, [next(dots) if has_tangent(_jax.core.typeof(o)) else _jax.zero_tangent(o) for o in outs]


def _vmap(axis_data: Any, args: Sequence[Any], dims: Sequence[Any], *, of: Function) -> tuple[list[Any], list[int]]:
  outs = unchecked_call_p.bind(*args, of=Batched(of, tuple(dims), axis_data.size))
  return outs, [0] * len(outs)


_ad.primitive_jvps[unchecked_call_p] = _jvp
_ad.primitive_transposes[unchecked_call_p] = lambda cotangents, *args, of: transpose(of, cotangents, args)
_jax.batching.fancy_primitive_batchers[unchecked_call_p] = _vmap
