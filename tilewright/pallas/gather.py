"""Indirect copies, whose rows are selected by indices in memory: gathers and scatters of a SparseCore.

    pltpu.sync_copy(table.at[indices_ref], rows)                              # rows[i] = table[indices_ref[i]]
    pltpu.sync_copy(rows, table.at[plsc.Indices(indices_ref, ignored_value=-1)])

An index of a view may be a ref, or `Indices` around a ref or an array. When the copy starts, the ref is read and its value becomes an
ordinary index array of the view. With an ignored value the rows are copied one by one: a row whose index is ignored is copied onto itself,
so that the semaphore counts the bytes of all rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.control import when
from tilewright.pallas.primitives import TransformedRef, is_ref
from tilewright.runtime import _jax

NDIndexer, Slice = _jax.indexing.NDIndexer, _jax.indexing.Slice


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Indices:
  """Indices of a gather or a scatter: an array or a ref of integers. Those that equal `ignored_value` are skipped."""

  values: Any
  ignored_value: int | None = dataclasses.field(default=None, metadata={"static": True})

  def pretty_print(self, context: Any, *, print_dtype: bool = True) -> str:
    """How a jaxpr shows these indices."""
    values = self.values
    name = (
      str(_jax.core.pp_var(values, context, print_literal_dtype=print_dtype))
      if isinstance(values, _jax.core.Var)
      else str(values)
    )
    return name if self.ignored_value is None else f"{name}~{self.ignored_value}"


def _is_indirect(index: Any) -> bool:
  return isinstance(index, Indices) or (not isinstance(index, Slice | int) and is_ref(index))


def _replace(view: Any, new: Callable[[Any], Any]) -> Any:
  """The view with its in-memory indices replaced."""

  def replaced(transform: Any) -> Any:
    if not isinstance(transform, NDIndexer) or not any(map(_is_indirect, transform.indices)):
      return transform
    indices = tuple(new(i) if _is_indirect(i) else i for i in transform.indices)
    return NDIndexer(indices, transform.shape, transform.int_indexer_shape)

  return TransformedRef(view.ref, tuple(map(replaced, view.transforms)))


def _values(index: Any) -> Any:
  values = index.values if isinstance(index, Indices) else index
  return values[...] if is_ref(values) else jnp.asarray(values)


def read_indices(view: Any) -> Any:
  """The view with its in-memory indices replaced by their current values."""
  return _replace(view, _values)


def any_indices(view: Any) -> Any:
  """A view of the same shape that does not read memory, for waits, which need only the number of bytes."""
  values = lambda i: i.values if isinstance(i, Indices) else i
  return _replace(view, lambda index: jnp.zeros(values(index).shape, jnp.int32))


def ignores(view: Any) -> bool:
  """Whether some of the view's indices may be ignored."""
  indices = [i for t in view.transforms if isinstance(t, NDIndexer) for i in t.indices]
  return any(isinstance(i, Indices) and i.ignored_value is not None for i in indices)


@dataclasses.dataclass(frozen=True)
class CountedRows:
  """A copy between the rows selected by `view`, one `end` of the copy, and those of the other end; ignored rows are skipped."""

  view: Any
  end: str

  def start(self, copy: Any, priority: int, add: bool) -> None:
    *before, last = self.view.transforms
    others = [i for i in getattr(last, "indices", ()) if not isinstance(i, Slice)]
    if len(others) != 1 or not isinstance(others[0], Indices) or len(last.int_indexer_shape) != 1:
      raise errors.UnsupportedFeatureError(
        "plsc.Indices: with an ignored_value, the indices must be one-dimensional, and be the last and only index of the view that is "
        f"not a slice; got {self.view}. Take slices first: ref.at[:, a:b].at[plsc.Indices(...)]."
      )
    axis = next(i for i, index in enumerate(last.indices) if isinstance(index, Indices))
    values, ignored = _values(last.indices[axis]), last.indices[axis].ignored_value
    far = copy.dst_ref if self.end == "src" else copy.src_ref

    def one(i: Any, _: None) -> None:
      index = lax.dynamic_index_in_dim(values, i, keepdims=False)
      own_row = NDIndexer((*last.indices[:axis], index, *last.indices[axis + 1 :]), last.shape, ())
      own = TransformedRef(self.view.ref, (*before, own_row))
      other = far.at[(*[slice(None)] * axis, i)]
      src, dst = (own, other) if self.end == "src" else (other, own)
      when(index != ignored)(lambda: dataclasses.replace(copy, src_ref=src, dst_ref=dst).start(priority, add=add))
      when(index == ignored)(lambda: dataclasses.replace(copy, src_ref=other, dst_ref=other).start(priority))

    lax.fori_loop(0, values.shape[0], one, None)
