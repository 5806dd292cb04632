"""Constants as numpy arrays.

A `Literal` is an array of the shape's numpy type, or a tuple of literals. The array is indexed logically: layout matters
only when it is serialised. `value is None` where the text elided the elements (`constant({...})`): such a module
prints, but does not evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.shape import Layout, Shape


@dataclass(eq=False, slots=True)
class Literal:
  shape: Shape
  value: np.ndarray | None = None
  elements: tuple[Literal, ...] = ()
  dynamic_sizes: tuple[int, ...] = ()  # actual sizes of bounded dynamic dimensions, one per dimension, if any
  unknown: bytes = b""

  @staticmethod
  def of(value: np.typing.ArrayLike | tuple[Literal, ...]) -> Literal:
    """A literal from an array (row-major) or from a tuple of literals."""
    if isinstance(value, tuple) and all(isinstance(part, Literal) for part in value):
      return Literal(Shape.tuple_of(*(part.shape for part in value)), elements=value)
    array = np.asarray(value)
    return Literal(Shape.array(array.dtype, array.shape), array)

  @property
  def is_elided(self) -> bool:
    if self.shape.is_tuple:
      return any(part.is_elided for part in self.elements)
    return self.value is None and self.shape.is_array

  def to_numpy(self) -> np.ndarray | tuple:
    """The array, or nested tuples of arrays; an error if elements were elided from the text."""
    if self.shape.is_tuple:
      return tuple(part.to_numpy() for part in self.elements)
    if self.value is None:
      raise ValueError(f"the elements of this {self.shape} constant were elided from the text ({{...}})")
    return self.value

  def identical(self, other: Literal) -> bool:
    """Same shape and the same bits (so nan equals the same nan, and 0 differs from -0)."""
    if self.shape != other.shape or len(self.elements) != len(other.elements):
      return False
    if self.dynamic_sizes != other.dynamic_sizes:
      return False
    if self.value is None or other.value is None:
      return self.value is other.value and all(a.identical(b) for a, b in zip(self.elements, other.elements))
    return self.value.tobytes() == other.value.tobytes()

  def with_layout(self, layout: Layout) -> Literal:
    return Literal(self.shape.with_layout(layout), self.value, (), self.dynamic_sizes, self.unknown)
