"""Random kernels with tiles of the sizes that kernels have: everything that says something about layouts, in any order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from tests.layout.layouts import factors
from tilewright.tile.ir import Block, Builder, Function, Value
from tilewright.tile.types import RefType, dense_strides

BF16, F32, S8 = np.dtype(jnp.bfloat16), np.dtype(np.float32), np.dtype(np.int8)
SHAPES = [(64, 64), (64, 128), (128, 64), (16, 24), (48, 96), (7, 33), (1, 256), (100,), (512,), (4, 8, 32)]


def ref(shape: tuple[int, ...], dtype: Any = F32, space: str = "any") -> RefType:
  return RefType(shape, np.dtype(dtype), space, dense_strides(shape))


class Kernel:
  """A kernel in the making, and the tiles that there are so far."""

  def __init__(self, draw: Any, refs: Iterable[RefType]):
    self.draw = draw
    self.function = Function("kernel", Block.of(list(refs)))
    self.b = Builder(self.function.body)
    self.tiles = [self.b.emit("load", [p]) for p in self.function.params]

  def pick(self, options: Iterable[Any]) -> Any:
    return self.draw(st.sampled_from(list(options)))

  def dot(self, x: Value, y: Value) -> Value | None:
    both = self.pick([BF16, S8, F32])
    x, y = (self.b.emit("convert", [v], dtype=both) for v in (x, y))
    for i, j in itertools.product(range(x.tile.rank), range(y.tile.rank)):
      if x.tile.rank == y.tile.rank == 2 and x.tile.shape[i] == y.tile.shape[j]:
        out = np.dtype(np.int32) if both == S8 else F32
        product = self.b.emit("dot", [x, y], contract=((i,), (j,)), batch=((), ()), dtype=out)
        return self.b.emit("convert", [product], dtype=F32)
    return None

  def step(self) -> Value | None:
    b, x = self.b, self.pick(self.tiles[-6:])
    shape, rank = x.tile.shape, x.tile.rank
    alike = [y for y in self.tiles[-6:] if y.type == x.type]
    match self.pick(["add", "transpose", "reshape", "row", "halves", "dot", "dot", "loop", "reduce"]):
      case "add":
        return b.emit("add", [x, self.pick(alike)])
      case "transpose":
        return b.emit("transpose", [x], permutation=tuple(self.draw(st.permutations(range(rank)))))
      case "reshape":
        parts = self.draw(st.permutations(factors(math.prod(shape))))
        cuts = sorted(self.draw(st.sets(st.integers(0, len(parts)), max_size=2)))
        edges = [0, *cuts, len(parts)]
        return b.emit("reshape", [x], shape=tuple(math.prod(parts[i:j]) for i, j in itertools.pairwise(edges)))
      case "row":
        axis = self.draw(st.integers(0, rank - 1))
        reduced = b.emit("reduce", [x], axes=(axis,), kind="max")
        wide = b.emit("broadcast", [reduced], shape=shape, dims=tuple(a for a in range(rank) if a != axis))
        return b.emit("sub", [x, wide])
      case "reduce" if rank > 1:
        return b.emit("reduce", [x], axes=(self.draw(st.integers(0, rank - 1)),), kind="sum")
      case "halves" if shape[-1] % 2 == 0:
        half = shape[-1] // 2
        ends = [((*(0,) * (rank - 1), s), (*shape[:-1], s + half)) for s in (half, 0)]
        sides = [b.emit("slice", [x], starts=lo, stops=hi, strides=(1,) * rank) for lo, hi in ends]
        return b.emit("concatenate", sides, axis=rank - 1)
      case "dot":
        return self.dot(x, self.pick(self.tiles[-6:]))
      case "loop":
        bounds = [b.emit("constant", value=np.asarray(n, np.int32), dtype=np.dtype(np.int32)) for n in (0, 8)]
        y = self.pick(alike)
        body = Block.of([bounds[0].type, x.type])
        with b.into(body):
          b.emit_all("yield", [b.emit("add", [b.emit("exp", [body.params[1]]), y])])
        return b.emit("for", [*bounds, x], [body])
    return None


@st.composite
def kernels(draw: Any, spaces: tuple[str, ...] = ("any",), most: int = 24) -> Function:
  """Refs of random shapes, all loaded; steps on the tiles; and the last tiles stored, transposed where that is what fits."""
  refs = [
    ref(draw(st.sampled_from(SHAPES)), F32, draw(st.sampled_from(spaces))) for _ in range(draw(st.integers(1, 4)))
  ]
  made = Kernel(draw, refs)
  for _ in range(draw(st.integers(1, most))):
    found = made.step()
    if found is not None and found.tile.shape:
      made.tiles.append(found)
  for p in made.function.params:
    last = [v for v in made.tiles if v.tile == p.ref.tile][-1]
    made.b.emit_all("store", [p, last])
  return made.function
