"""Rules of elementwise operations: a block of the result needs the same block of every operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.pallas.fuser import push_rules
from tilewright.pallas.fuser.inlining import evaluate_equation
from tilewright.pallas.fuser.table import Blocks, Site, define, first_used
from tilewright.pallas.fuser.views import View, covers, repeated, whole

ELEMENTWISE = [
  "abs",
  "acos",
  "acosh",
  "add",
  "add_any",
  "and",
  "asin",
  "asinh",
  "atan",
  "atan2",
  "atanh",
  "bessel_i0e",
  "bessel_i1e",
  "cbrt",
  "ceil",
  "clamp",
  "clz",
  "complex",
  "conj",
  "convert_element_type",
  "copy",
  "cos",
  "cosh",
  "digamma",
  "div",
  "eq",
  "erf",
  "erf_inv",
  "erfc",
  "exp",
  "exp2",
  "expm1",
  "floor",
  "ge",
  "gt",
  "igamma",
  "igamma_grad_a",
  "igammac",
  "imag",
  "integer_pow",
  "is_finite",
  "le",
  "lgamma",
  "log",
  "log1p",
  "logistic",
  "lt",
  "max",
  "min",
  "mul",
  "multiple_of",
  "name",
  "ne",
  "neg",
  "nextafter",
  "not",
  "one_minus_square",
  "or",
  "polygamma",
  "population_count",
  "pow",
  "pvary",
  "real",
  "reduce_precision",
  "regularized_incomplete_beta",
  "rem",
  "round",
  "rsqrt",
  "select_n",
  "sharding_constraint",
  "shift_left",
  "shift_right_arithmetic",
  "shift_right_logical",
  "sign",
  "sin",
  "sinh",
  "sqrt",
  "square",
  "stop_gradient",
  "sub",
  "tan",
  "tanh",
  "xor",
  "zeta",
]


def same_view(site: Site, view: Any) -> list[Any]:
  """The view of the result for each operand. A scalar is whole, and so is a dimension of size one that is repeated."""
  out = site.out_avals[0].shape

  def part(aval: Any) -> View:
    if aval.shape == out:
      return view
    return whole(aval, view) if aval.ndim != len(out) else repeated(view, aval.shape, out, range(aval.ndim))

  return [part(a) for a in site.in_avals]


def pull(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  return same_view(site, out_views[0])


def evaluate(blocks: Blocks, *args: Any) -> list[Any]:
  return evaluate_equation(blocks.eqn, args)


def _pull_each(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  """Each result is one operand: what is not needed of the results is not needed of the operands."""
  return list(out_views)


def _evaluate_each(blocks: Blocks, *args: Any) -> list[Any]:
  return list(args)


def _pull_bitcast(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  """Between widths, the last dimension of the narrower type belongs to one element of the wider."""
  view: View = first_used(out_views)
  narrow, wide = site.in_avals[0].ndim, site.out_avals[0].ndim
  if narrow == wide or view.block_shape is None:
    return [view]
  if narrow < wide:
    if not covers(view.block_shape[-1], site.out_avals[0].shape[-1]):
      raise site.refuse(
        view,
        "the narrow elements that form one wide element lie in different blocks",
        "Make the block cover the last dimension.",
      )
    return [view.then(tuple(view.block_shape)[:-1], lambda i: tuple(i)[:-1])]
  parts = site.in_avals[0].shape[-1]
  return [view.then((*view.block_shape, parts), lambda i: (*i, 0))]


define(*ELEMENTWISE, pull=pull, evaluate=evaluate, push=push_rules.elementwise)
define("bitcast_convert_type", pull=_pull_bitcast, evaluate=evaluate, push=push_rules.bitcast)
define("optimization_barrier", pull=_pull_each, evaluate=_evaluate_each, push=push_rules.each)
