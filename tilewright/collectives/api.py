"""The public functions: arguments checked, axes moved to where the primitives want them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.collectives import cost, ragged
from tilewright.collectives.groups import axes_of, checked_groups
from tilewright.collectives.members import OPS
from tilewright.collectives.primitives import Spec, bind, rank, user_line
from tilewright.runtime.named_axes import named_axes

ALGORITHMS = ("auto", "one_shot", "two_shot", "ring", "multimem")


def spec_of(what: str, kind: str, axis_name: Any, axis_index_groups: Any, **more: Any) -> Spec:
  axes = axes_of(axis_name)
  try:
    size = int(np.prod([lax.axis_size(axis) for axis in axes]))
  except NameError:
    known = list(named_axes())
    raise errors.OutsideKernelError(
      f"collectives.{what}: no axis is called {axis_name!r}; there {f'are {known}' if known else 'is none'} here. Call it inside "
      "jax.shard_map over a mesh that has it."
    ) from None
  groups = checked_groups(axis_index_groups, size, f"collectives.{what}")
  members = size if groups is None else max(len(g) for g in groups)
  return Spec(kind, axes, groups, members, title=f"{what} over {axes} at {user_line()}", **more)


def _check_op(what: str, op: str, x: Any) -> None:
  if op not in OPS:
    raise errors.CollectiveError(f"collectives.{what}: op: expected one of {sorted(OPS)}, got {op!r}.")
  if jnp.issubdtype(x.dtype, jax.dtypes.extended):
    raise errors.CollectiveError(
      f"collectives.{what}: {x.dtype} has no {op!r}; such values can be gathered and sent, not combined."
    )
  if op in ("and", "or") and not (jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == jnp.bool_):
    raise errors.CollectiveError(f"collectives.{what}: op {op!r} is for integers and bools, got {x.dtype}.")
  if jnp.issubdtype(x.dtype, jnp.complexfloating) and op != "sum":
    raise errors.CollectiveError(f"collectives.{what}: complex numbers have no {op!r}; only op='sum'.")


def _ready(x: Any, op: str = "") -> Any:
  """An array; bools are counted in int32 where they are added, as jax.lax.psum does."""
  x = jnp.asarray(x)
  return x.astype(jnp.int32) if op == "sum" and x.dtype == jnp.bool_ else x


def _axis(what: str, name: str, axis: int, rank_: int) -> int:
  if not -rank_ <= axis < rank_:
    raise errors.ShapeMismatchError(f"collectives.{what}: {name}={axis} is outside of an array of {rank_} dimensions.")
  return axis % rank_


def all_reduce(
  x: Any,
  axis_name: Any,
  *,
  op: str = "sum",
  axis_index_groups: Sequence[Sequence[int]] | None = None,
  algorithm: str = "auto",
) -> Any:
  """Combine arrays over the devices along axes of the mesh, as `jax.lax.psum`, `pmax` and `pmin` do.

  Args:
    x: an array, or a tree of arrays. A number of Python's stays one: `all_reduce(1, axis_name)` counts the devices.
    axis_name: an axis of the mesh, or several.
    op: "sum", "max", "min", or, for integers and bools, "and" and "or". Floats of less than 32 bits are added in float32.
    axis_index_groups: a split of the indices along the axes into groups, of any sizes.
    algorithm: "one_shot", "two_shot" or "ring"; "auto" takes what the cost model says (see `explain`). "multimem" needs NVLink SHARP.
  """
  if algorithm not in ALGORITHMS:
    raise errors.CollectiveError(f"collectives.all_reduce: algorithm: expected one of {ALGORITHMS}, got {algorithm!r}.")
  if algorithm == "multimem":
    raise errors.UnsupportedFeatureError(
      "collectives.all_reduce: algorithm='multimem' reduces in NVLink switches, and the devices here have none. Use 'auto', 'one_shot', "
      "'two_shot' or 'ring'."
    )

  def one(x: Any) -> Any:
    number, x = x, _ready(x, op)
    _check_op("all_reduce", op, x)
    spec = spec_of("all_reduce", "all_reduce", axis_name, axis_index_groups, op=op)
    if isinstance(number, bool | int | float | complex) and (axis_index_groups is None or op != "sum"):
      return number * spec.members if op == "sum" else number
    chosen = cost.choose(x.size * max(1, x.dtype.itemsize), spec.members) if algorithm == "auto" else algorithm
    return bind(x, spec.like("all_reduce", algorithm=chosen))

  return jax.tree.map(one, x)


def all_gather(
  x: Any,
  axis_name: Any,
  *,
  axis_index_groups: Sequence[Sequence[int]] | None = None,
  axis: int = 0,
  tiled: bool = False,
) -> Any:
  """Put together what all members of a group have, as `jax.lax.all_gather` does.

  Args:
    x: an array, or a tree of arrays.
    axis_name: an axis of the mesh, or several.
    axis_index_groups: groups of indices. With groups of different sizes the result has room for the largest, zero where a member lacks.
    axis: the position of the new dimension, or with `tiled` the dimension along which parts are concatenated.
    tiled: join along a dimension instead of making a new one.
  """

  def one(x: Any) -> Any:
    x = _ready(x)
    spec = spec_of("all_gather", "gather", axis_name, axis_index_groups)
    at = _axis("all_gather", "axis", axis, x.ndim + (not tiled))
    out = bind(x, spec) if x.size else jnp.broadcast_to(x, (spec.members, *x.shape))
    out = jnp.moveaxis(out, 0, at)
    return out.reshape(*x.shape[:at], spec.members * x.shape[at], *x.shape[at + 1 :]) if tiled else out

  return jax.tree.map(one, x)


def _split(what: str, name: str, x: Any, axis: int, members: int, tiled: bool) -> Any:
  """A dimension's parts, one for each member, as the first dimension."""
  if tiled:
    if x.shape[axis] % members:
      raise errors.ShapeMismatchError(
        f"collectives.{what}: the size {x.shape[axis]} of dimension {name}={axis} must be a multiple of the {members} members of a group."
      )
    x = x.reshape(*x.shape[:axis], members, x.shape[axis] // members, *x.shape[axis + 1 :])
  elif x.shape[axis] != members:
    raise errors.ShapeMismatchError(
      f"collectives.{what}: dimension {name}={axis} has the size {x.shape[axis]}; without tiled=True it must be the number of members "
      f"of a group, {members}."
    )
  return jnp.moveaxis(x, axis, 0)


def reduce_scatter(
  x: Any,
  axis_name: Any,
  *,
  op: str = "sum",
  scatter_dimension: int = 0,
  axis_index_groups: Sequence[Sequence[int]] | None = None,
  tiled: bool = False,
) -> Any:
  """Combine arrays over a group and leave each member its part, as `jax.lax.psum_scatter` does.

  Args:
    x: an array, or a tree of arrays.
    axis_name: an axis of the mesh, or several.
    op: as for `all_reduce`.
    scatter_dimension: the dimension that is split.
    axis_index_groups: groups of indices; the dimension has a part for each member of the largest.
    tiled: keep the dimension, of which each member gets a part; otherwise it goes.
  """

  def one(x: Any) -> Any:
    x = _ready(x, op)
    _check_op("reduce_scatter", op, x)
    spec = spec_of("reduce_scatter", "scatter", axis_name, axis_index_groups, op=op)
    at = _axis("reduce_scatter", "scatter_dimension", scatter_dimension, x.ndim)
    parts = _split("reduce_scatter", "scatter_dimension", x, at, spec.members, tiled)
    out = bind(parts, spec) if x.size else parts[0]
    return out  # with `tiled`, what is left of the dimension stands where it was

  return jax.tree.map(one, x)


def all_to_all(
  x: Any,
  axis_name: Any,
  split_axis: int,
  concat_axis: int,
  *,
  axis_index_groups: Sequence[Sequence[int]] | None = None,
  tiled: bool = False,
) -> Any:
  """Send each member of a group its part and put together what all send, as `jax.lax.all_to_all` does.

  Args:
    x: an array, or a tree of arrays.
    axis_name: an axis of the mesh, or several.
    split_axis: the dimension that is split.
    concat_axis: where the parts that arrive are put together.
    axis_index_groups: groups of indices; the dimension has a part for each member of the largest.
    tiled: keep the rank: the split dimension shrinks and the other one grows. Otherwise the split dimension goes and a new one comes.
  """

  def one(x: Any) -> Any:
    x = _ready(x)
    spec = spec_of("all_to_all", "exchange", axis_name, axis_index_groups)
    split, concat = (
      _axis("all_to_all", n, a, x.ndim) for n, a in (("split_axis", split_axis), ("concat_axis", concat_axis))
    )
    parts = _split("all_to_all", "split_axis", x, split, spec.members, tiled)
    out = bind(parts, spec) if x.size else parts
    out = jnp.moveaxis(out, 0, concat)
    if not tiled:
      return out
    shape = [*out.shape]
    shape[concat : concat + 2] = [out.shape[concat] * out.shape[concat + 1]]
    return out.reshape(shape)

  return jax.tree.map(one, x)


def permute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
  """Send from device to device, as `jax.lax.ppermute` does: pairs (source, destination); who gets nothing has zeros."""

  def one(x: Any) -> Any:
    x = _ready(x)
    spec = spec_of("permute", "permute", axis_name, None)
    sources = [-1] * spec.members
    for source, target in perm:
      if not (0 <= source < spec.members and 0 <= target < spec.members):
        raise errors.GridError(
          f"collectives.permute: perm has the pair {(source, target)}; the axis has the indices 0 to {spec.members - 1}."
        )
      if sources[target] >= 0:
        raise errors.GridError(f"collectives.permute: perm sends to {target} more than once.")
      sources[target] = source
    if len({s for s, _ in perm}) < len(perm):
      raise errors.GridError("collectives.permute: perm sends from an index more than once; use broadcast.")
    return bind(x, spec.like("permute", sources=tuple(sources))) if x.size else x

  return jax.tree.map(one, x)


def broadcast(
  x: Any, axis_name: Any, source: int = 0, *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> Any:
  """What one member of each group has, for all of them: `source` is its place in the group, as for `jax.lax.pbroadcast`."""

  def one(x: Any) -> Any:
    x = _ready(x)
    spec = spec_of("broadcast", "permute", axis_name, axis_index_groups)
    smallest = spec.members if spec.groups is None else min(len(g) for g in spec.groups)
    if not 0 <= source < smallest:
      raise errors.GridError(f"collectives.broadcast: source={source} is outside of a group of {smallest}.")
    return bind(x, spec.like("permute", sources=(source,) * spec.members)) if x.size else x

  return jax.tree.map(one, x)


def barrier(axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> jax.Array:
  """Wait for the other devices of a group. Returns the number of its members, which what follows must depend on."""
  spec = spec_of("barrier", "all_reduce", axis_name, axis_index_groups, op="sum", algorithm="one_shot")
  return bind(jnp.ones((), jnp.int32), spec)


def ragged_all_to_all(
  operand: Any,
  output: Any,
  input_offsets: Any,
  send_sizes: Any,
  output_offsets: Any,
  recv_sizes: Any,
  *,
  axis_name: Any,
  axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> jax.Array:
  """Send each member of a group some rows, as `jax.lax.ragged_all_to_all` does.

  Args:
    operand: rows to send.
    output: rows to write to; those that nothing is sent to stay as they are.
    input_offsets: for each member where in `operand` its rows begin.
    send_sizes: how many they are.
    output_offsets: where in that member's output they go.
    recv_sizes: how many rows come from each member.
    axis_name: an axis of the mesh, or several.
    axis_index_groups: a split of the indices along the axes into groups.
  """
  what = "ragged_all_to_all"
  spec = spec_of(what, "ragged", axis_name, axis_index_groups)
  operand, output = jnp.asarray(operand), jnp.asarray(output)
  if operand.dtype != output.dtype or operand.shape[1:] != output.shape[1:]:
    raise errors.ShapeMismatchError(
      f"collectives.{what}: operand has rows of {operand.dtype}{list(operand.shape[1:])}, output of {output.dtype}{list(output.shape[1:])}."
    )
  sizes = [jnp.asarray(s, jnp.int32).reshape(-1) for s in (input_offsets, send_sizes, output_offsets)]
  for name, s in zip(
    ("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), (*sizes, jnp.asarray(recv_sizes).reshape(-1))
  ):
    if s.shape != (spec.members,):
      raise errors.ShapeMismatchError(
        f"collectives.{what}: {name} must have an entry for each of the {spec.members} members of a group, got shape {s.shape}."
      )
  return ragged.bind(operand, output, jnp.stack(sizes), spec)


__all__ = [
  "all_gather",
  "all_reduce",
  "all_to_all",
  "barrier",
  "broadcast",
  "permute",
  "ragged_all_to_all",
  "rank",
  "reduce_scatter",
]
