"""The table of rules: what the fuser knows about each operation.

A row has four functions:

| function | question | for `transpose` |
|---|---|---|
| usage | which operands are needed for these outputs, as values or as indices? | the operand, as a value |
| pull | given the parts of the outputs that are needed, which parts of the operands are? | the permuted block |
| evaluate | given those parts of the operands, what are the parts of the outputs? | transpose of the block |
| push | given how the operands are cut, how is the output? | the permuted block |

While they are evaluated, blocks have the rank of the whole value: a squeezed dimension is one of size one. So a rule
may keep the axes of its equation. Arrays of PRNG keys are never cut, and are their data: unsigned integers with one
dimension more.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.views import UNUSED, View
from tilewright.runtime import _jax
from tilewright.tile.grid import source_line


class Usage(enum.Flag):
  """How an operand is used: not at all, its elements, or as a number that says where something lies."""

  NONE = 0
  VALUE = enum.auto()
  INDEX = enum.auto()


@dataclasses.dataclass(frozen=True)
class Site:
  """An equation, as the rules that look at types see it.

  `scalar(atom)` reads a number where index maps are computed, if it is known there; `inner(jaxpr, ...)` pulls or pushes
  through a jaxpr inside the equation; `same` compares views. `consistent_random` says how random bits are drawn (see
  `randomness`). `grid_len` is the number of grid dimensions, where a push knows it.
  """

  eqn: Any
  scalar: Callable[[Any], Callable[[Any], Any] | None]
  inner: Callable[..., Any]
  same: Callable[[View, View, Sequence[int]], bool]
  consistent_random: bool = False
  grid_len: int | None = None

  @property
  def params(self) -> Any:
    return self.eqn.params

  @property
  def in_avals(self) -> list[Any]:
    return [v.aval for v in self.eqn.invars]

  @property
  def out_avals(self) -> list[Any]:
    return [v.aval for v in self.eqn.outvars]

  def refuse(self, cut: Any, why: str, fix: str) -> errors.UnsupportedFusionError:
    """The error for an operation that cannot be cut this way, with what to do about it."""
    shape = cut.block_shape if hasattr(cut, "block_shape") else cut
    shape = None if shape is None else tuple(shape)
    types = ", ".join(a.str_short(short_dtypes=True) for a in self.in_avals)
    line = source_line(self.eqn) or "an unknown line"
    return errors.UnsupportedFusionError(
      f"'{self.eqn.primitive}' of ({types}) at {line} cannot be computed in blocks of {shape}: {why}. {fix}",
      self.eqn,
      f"in blocks of {shape}, {why}",
    )


@dataclasses.dataclass(frozen=True)
class Blocks:
  """An equation while one of its blocks is computed: the views that were pulled and the indices of this block."""

  site: Site
  out_views: Sequence[Any]
  in_views: Sequence[Any]
  out_indices: Sequence[Any]
  in_indices: Sequence[Any]
  state: Any = None
  program_indices: tuple[Any, ...] = ()

  @property
  def eqn(self) -> Any:
    return self.site.eqn

  @property
  def params(self) -> Any:
    return self.site.params

  def out_sizes(self, i: int = 0) -> tuple[int, ...]:
    return views.sizes(self.out_views[i], self.site.out_avals[i].shape)

  def out_starts(self, i: int = 0) -> tuple[Any, ...]:
    return views.starts(self.out_views[i], self.out_indices[i], self.site.out_avals[i].ndim)


@dataclasses.dataclass(frozen=True)
class Pulled:
  """What a pull rule gives where its evaluation needs to remember something: the views of the operands, and that."""

  in_views: Sequence[Any]
  state: Any


PullRule = Callable[[Site, Sequence[Any]], "Sequence[Any] | Pulled"]
EvaluateRule = Callable[..., Any]
PushRule = Callable[[Site, Sequence[Any]], Sequence[Any]]
UsageRule = Callable[[Site, Sequence[bool]], Sequence[Usage]]


def needs_all(site: Site, used: Sequence[bool]) -> Sequence[Usage]:
  """Every operand is needed for any output."""
  return [Usage.VALUE if any(used) else Usage.NONE] * len(site.eqn.invars)


def no_push(site: Site, specs: Sequence[Any]) -> Sequence[Any]:
  raise site.refuse(
    next((s for s in specs if hasattr(s, "block_shape")), None),
    "the blocks of its output do not follow from those of its operands",
    "Give the output's block spec and use pull_block_spec, or move the operation out of the fused function.",
  )


@dataclasses.dataclass(frozen=True)
class Rules:
  """A row of the table."""

  pull: PullRule
  evaluate: EvaluateRule
  push: PushRule = no_push
  usage: UsageRule = needs_all


RULES: dict[str, Rules] = {}

# The row of operations on keys that only move them.
MOVING_KEYS = "operations that move keys"
MOVE = {
  *("broadcast_in_dim", "concatenate", "copy", "dynamic_slice", "dynamic_update_slice", "expand_dims", "gather"),
  *("optimization_barrier", "reshape", "rev", "select_n", "slice", "split", "squeeze", "stack", "tile", "transpose"),
  "unstack",
}


def define(
  *names: str, pull: PullRule, evaluate: EvaluateRule, push: PushRule = no_push, usage: UsageRule = needs_all
) -> None:
  """Add a row for each primitive named."""
  for name in names:
    RULES[name] = Rules(pull, evaluate, push, usage)


def rules_of(site: Site) -> Rules:
  name = site.eqn.primitive.name
  found = RULES.get(MOVING_KEYS if name in MOVE and any(map(views.is_key, site.out_avals)) else name)
  if found is None:
    line = source_line(site.eqn) or "an unknown line"
    raise errors.UnsupportedFusionError(
      f"'{site.eqn.primitive}' at {line} has no rule for being computed in blocks, so it cannot be fused. Compute it "
      "outside of the fused "
      "function, or wrap it with fuser.custom_fusion and give it rules."
    )
  return found


def common_view(site: Site, found: Sequence[View], shape: Sequence[int]) -> View:
  """The one view of an operand that all outputs in use ask for."""
  for other in found[1:]:
    if not site.same(found[0], other, shape):
      raise site.refuse(
        found[0], f"another of its outputs needs blocks of {other.block_shape}", "Give all its outputs the same blocks."
      )
  return found[0]


# --- what several rules share ------------------------------------------------------------------------------------


def first_used(out_views: Sequence[Any]) -> View:
  return next(v for v in out_views if v is not UNUSED)


def cut(array: jax.Array, axis: int, start: Any, size: int, aligned: bool = True) -> jax.Array:
  """`size` elements of a block that holds a whole dimension. Past its end is anything: nothing in range depends on it.

  `aligned` says that `start` is a multiple of `size`.
  """
  length = array.shape[axis]
  if isinstance(start, int) and start + size <= length:
    return array if size == length else lax.slice_in_dim(array, start, start + size, axis=axis)
  if size != 1 and not (aligned and length % size == 0):
    # dynamic_slice would move a block that hangs over the end back inside.
    widths = [(0, size if d == axis else 0, 0) for d in range(array.ndim)]
    array = lax.pad(array, jnp.zeros((), array.dtype), widths)
  return lax.dynamic_slice_in_dim(array, start, size, axis)


def cut_to(array: jax.Array, wanted: View, indices: Any, got: View, shape: Sequence[int]) -> jax.Array:
  """A block, out of a bigger one that has some dimensions whole."""
  if wanted.block_shape is None:
    return array
  for axis, (dim, start) in enumerate(zip(wanted.block_shape, views.starts(wanted, indices, len(shape)))):
    have = None if got.block_shape is None else got.block_shape[axis]
    is_whole = got.block_shape is None or views.covers(have, shape[axis])
    if is_whole and not views.covers(dim, shape[axis]):
      array = cut(array, axis, start, views.size_of(dim), views.is_blocked(dim))
  return array


def is_literal(atom: Any) -> bool:
  return isinstance(atom, _jax.core.Literal)
