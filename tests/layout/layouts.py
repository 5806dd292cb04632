"""Random layouts for the property tests, and the settings they share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tilewright.layout import LANES, Layout, register_layout


def examples(count: int) -> settings:
  return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def register_layouts(draw: Any, shape: tuple[int, ...] | None = None, num_warps: int | None = None) -> Layout:
  """Any layout in which each element has a place: the factors of the shape dealt to registers, lanes and warps in any order."""
  if shape is None:
    sizes = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8, 16, 24, 32, 48]), min_size=1, max_size=3)
    shape = tuple(draw(sizes.filter(lambda own: math.prod(own) <= 2304)))
  num_warps = draw(st.sampled_from([1, 2, 4])) if num_warps is None else num_warps
  atoms = []  # (size, moves): together they count through the tile once
  for axis, size in enumerate(shape):
    stride = 1
    for factor in draw(st.permutations(factors(size))):
      atoms.append((factor, tuple(stride if a == axis else 0 for a in range(len(shape)))))
      stride *= factor
  digits: dict[str, list[Any]] = {"register": [], "lane": [], "warp": []}
  room = {"register": 10**9, "lane": LANES, "warp": num_warps}
  for atom in draw(st.permutations(atoms)):
    name = draw(st.sampled_from([n for n in room if room[n] % atom[0] == 0 or n == "register"]))
    digits[name].append(atom)
    room[name] //= atom[0]
  zero = (0,) * len(shape)
  for name in ("lane", "warp"):
    for factor in factors(room[name]):
      digits[name].insert(draw(st.integers(0, len(digits[name]))), (factor, zero))
  return register_layout(shape, **digits)


def factors(n: int) -> list[int]:
  found, p = [], 2
  while n > 1:
    while n % p == 0:
      found.append(p)
      n //= p
    p += 1
  return found


def holders(layout: Layout) -> np.ndarray:
  """The row-major number of the element in each place: an array over the inputs."""
  table = layout.table()
  strides = [math.prod(layout.shape[i + 1 :]) for i in range(layout.rank)]
  return (table * np.asarray(strides, np.int64)).sum(-1)
