"""Parts of a ref at fixed places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.tile.boxes import are_apart, cover
from tilewright.tile.parser import parse

SHAPE = (6, 5)


@st.composite
def boxes(draw):
  """Where a part of SHAPE begins, and its sizes."""
  starts = [draw(st.integers(0, size - 1)) for size in SHAPE]
  return starts, [draw(st.integers(1, size - start)) for size, start in zip(SHAPE, starts)]


def elements(box):
  mask = np.zeros(SHAPE, bool)
  mask[tuple(slice(start, start + size) for start, size in zip(*box))] = True
  return mask


def views(*parts):
  lines = [f"%c{n} = constant {n} : s32" for n in range(max(SHAPE))]
  for name, (starts, sizes) in zip("ab", parts):
    kind = f"ref<{'x'.join(map(str, sizes))}xf32, any, strides=[{SHAPE[1]}, 1]>"
    places = ", ".join(f"%c{n}" for n in starts)
    lines.append(f"%{name} = subview %x, {places} {{dropped=[], sizes={sizes}, steps=[1, 1]}} : {kind}")
  text = "func @f(%x: ref<6x5xf32, any>) {\n" + "\n".join(lines) + "\n}"
  return [op.result for op in parse(text).body.ops if op.name == "subview"]


@given(boxes(), boxes())
def test_parts_are_apart_if_they_share_no_element(a, b):
  first, second = views(a, b)
  assert are_apart(first, second) == (not (elements(a) & elements(b)).any())


@given(st.lists(boxes(), max_size=4))
def test_boxes_cover_a_shape_if_every_element_is_in_one(parts):
  intervals = [tuple((start, start + size) for start, size in zip(*box)) for box in parts]
  everything = np.zeros(SHAPE, bool)
  for box in parts:
    everything |= elements(box)
  assert cover(intervals, SHAPE) == everything.all()
