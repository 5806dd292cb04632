"""Random HLO graphs, each as one kernel: its values are those of the evaluator, within bounds from an error analysis.

    python -m tests.accelerate.random_graphs --count 2000 --seed 0

A graph has a few parameters of several types and odd sizes, and ops of every rule that kernels are made of. What cannot be one kernel is
refused with a reason, which is counted. A failure prints the module.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import math

import jax
import numpy as np

from tests.accelerate.error_bounds import bounds
from tilewright import hlo
from tilewright.accelerate import axes, emit, graph, tiles
from tilewright.accelerate.autotuning import as_call
from tilewright.accelerate.calls import Codes
from tilewright.hlo.values import PaddingDim, SliceDim

SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33)
TYPES = ("f32", "f32", "f32", "bf16", "s32")
ROUNDED = {"bf16": 2.0**-7, "f32": 2.0**-23}


class Maker:
  """Adds random instructions to a module."""

  def __init__(self, random: np.random.Generator):
    self.random = random
    self.b = hlo.Builder("random")
    self.values: list[hlo.Instruction] = []
    self.reducers: dict[tuple[str, str], hlo.Computation] = {}

  def pick(self, items):
    return items[int(self.random.integers(len(items)))]

  def shape(self) -> tuple[int, ...]:
    return tuple(self.pick(SIZES) for _ in range(int(self.random.integers(1, 4))))

  def any(self, wanted=lambda v: True):
    found = [v for v in self.values[-12:] if wanted(v)]
    return self.pick(found) if found else None

  def is_float(self, v) -> bool:
    return v.shape.element_type in ("f32", "bf16")

  def is_number(self, v) -> bool:
    return v.shape.element_type != "pred"

  def step(self) -> None:
    made = getattr(self, f"_{self.pick(KINDS)}")()
    if made is not None and made.shape.num_elements <= 1 << 14:
      self.values.append(made)

  def _unary(self):
    x = self.any(self.is_number)
    if x is None:
      return None
    kinds = ("negate", "abs", "tanh", "logistic", "sine") if self.is_float(x) else ("negate",)
    return self.b.unary(self.pick(kinds), x)

  def _exponential(self):
    x = self.any(self.is_float)
    return None if x is None else self.b.unary("exponential", self.b.unary("tanh", x))

  def _binary(self):
    x = self.any(self.is_number)
    y = x and self.any(lambda v: v.shape.without_layout() == x.shape.without_layout())
    if y is None or x is None:
      return None
    return self.b.op(self.pick(("add", "subtract", "multiply", "maximum", "minimum")), (x, y))

  def _divide(self):
    x = self.any(self.is_float)
    y = x and self.any(lambda v: v.shape.without_layout() == x.shape.without_layout())
    if y is None or x is None:
      return None
    one = self.b.broadcast(self.b.constant(np.float32(1.0), x.shape.element_type), x.shape.dimensions)
    return self.b.op("divide", (x, self.b.add(self.b.unary("abs", y), one)))

  def _choose(self):
    x = self.any(self.is_number)
    y = x and self.any(lambda v: v.shape.without_layout() == x.shape.without_layout())
    if y is None or x is None:
      return None
    return self.b.select(self.b.compare(x, y, self.pick(("GT", "LE", "EQ", "NE"))), x, y)

  def _convert(self):
    x = self.any(self.is_float)
    return None if x is None else self.b.convert(x, "bf16" if x.shape.element_type == "f32" else "f32")

  def _broadcast(self):
    x = self.any(lambda v: 0 < v.shape.rank < 4)
    if x is None:
      return None
    dims, at = list(x.shape.dimensions), list(range(x.shape.rank))
    place = int(self.random.integers(0, len(dims) + 1))
    dims.insert(place, self.pick(SIZES))
    return self.b.broadcast(x, tuple(dims), [i + (i >= place) for i in at])

  def _like(self):
    """Something reduced, as large as it was: what norms and softmax do."""
    made = self._reduce()
    if made is None:
      return None
    source = made.operands[0]
    kept = [d for d in range(source.shape.rank) if d not in made.attrs["dimensions"]]
    wide = self.b.broadcast(made, source.shape.dimensions, kept)
    return self.b.op(self.pick(("subtract", "multiply", "maximum")), (source, wide))

  def _reduce(self):
    x = self.any(lambda v: v.shape.rank and self.is_number(v))
    if x is None:
      return None
    count = int(self.random.integers(1, x.shape.rank + 1))
    dims = sorted(int(d) for d in self.random.choice(x.shape.rank, count, replace=False))
    kind = self.pick(("add", "maximum", "minimum"))
    element = x.shape.element_type
    if (kind, element) not in self.reducers:
      r = hlo.Builder(f"{kind}_{element}")
      root = r.op(kind, (r.parameter(element), r.parameter(element)))
      r.computation.root = root
      self.reducers[kind, element] = r.computation
    limits = {"f32": np.inf, "bf16": np.inf, "s32": 2**31 - 1}[element]
    start = {"add": 0, "maximum": -limits - (element == "s32"), "minimum": limits}[kind]
    init = self.b.constant(np.asarray(start), element)
    kept = tuple(d for i, d in enumerate(x.shape.dimensions) if i not in dims)
    shape = hlo.Shape.array(element, kept)
    return self.b.op("reduce", (x, init), shape, dimensions=tuple(dims), to_apply=self.reducers[kind, element])

  def _transpose(self):
    x = self.any(lambda v: v.shape.rank > 1)
    return None if x is None else self.b.transpose(x, [int(i) for i in self.random.permutation(x.shape.rank)])

  def _reshape(self):
    x = self.any(lambda v: v.shape.rank > 0)
    if x is None:
      return None
    size, dims = x.shape.num_elements, []
    for _ in range(int(self.random.integers(0, 3))):
      d = self.pick([d for d in range(1, size + 1) if size % d == 0])
      dims.append(d)
      size //= d
    return self.b.reshape(x, (*dims, size))

  def _slice(self):
    x = self.any(lambda v: v.shape.rank > 0)
    if x is None:
      return None
    cuts = []
    for d in x.shape.dimensions:
      start = int(self.random.integers(0, d)) if self.random.random() < 0.4 else 0
      stop = int(self.random.integers(start + 1, d + 1)) if self.random.random() < 0.4 else d
      cuts.append((start, stop, self.pick((1, 1, 2))))
    dims = tuple(-(-(b - a) // s) for a, b, s in cuts)
    return self.b.op("slice", (x,), x.shape.with_dimensions(dims), slice=tuple(SliceDim(*c) for c in cuts))

  def _pad(self):
    x = self.any(lambda v: v.shape.rank > 0 and self.is_number(v))
    if x is None:
      return None
    edges = [(self.pick((0, 0, 1, 2)), self.pick((0, 0, 1)), self.pick((0, 0, 0, 1))) for _ in x.shape.dimensions]
    dims = tuple(d + low + high + (d - 1) * inner for d, (low, high, inner) in zip(x.shape.dimensions, edges))
    fill = self.b.constant(np.asarray(2), x.shape.element_type)
    return self.b.op("pad", (x, fill), x.shape.with_dimensions(dims), padding=tuple(PaddingDim(*e) for e in edges))

  def _concatenate(self):
    x = self.any(lambda v: v.shape.rank > 0)
    if x is None:
      return None
    axis = int(self.random.integers(x.shape.rank))
    same = lambda v: (
      v.shape.element_type == x.shape.element_type
      and v.shape.rank == x.shape.rank
      and all(i == axis or a == b for i, (a, b) in enumerate(zip(v.shape.dimensions, x.shape.dimensions)))
    )
    y = self.any(same)
    if y is None:
      return None
    dims = list(x.shape.dimensions)
    dims[axis] += y.shape.dimensions[axis]
    return self.b.op("concatenate", (x, y), x.shape.with_dimensions(tuple(dims)), dimensions=(axis,))

  def _reverse(self):
    x = self.any(lambda v: v.shape.rank > 0)
    return (
      None if x is None else self.b.op("reverse", (x,), x.shape, dimensions=(int(self.random.integers(x.shape.rank)),))
    )

  def _iota(self):
    x = self.any(lambda v: v.shape.rank > 0 and self.is_number(v))
    if x is None:
      return None
    return self.b.op("iota", (), x.shape, iota_dimension=int(self.random.integers(x.shape.rank)))

  def _dot(self):
    x = self.any(lambda v: v.shape.rank == 2 and v.shape.element_type == "f32")
    y = x and self.any(
      lambda v: v.shape.rank == 2 and v.shape.element_type == "f32" and v.shape.dimensions[0] == x.shape.dimensions[1]
    )
    if y is None or x is None:
      return None
    shape = hlo.Shape.array("f32", (x.shape.dimensions[0], y.shape.dimensions[1]))
    return self.b.op("dot", (x, y), shape, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))


KINDS = (
  *(
    "unary",
    "exponential",
    "binary",
    "binary",
    "binary",
    "divide",
    "choose",
    "convert",
    "broadcast",
    "like",
    "like",
    "like",
  ),
  *("reduce", "transpose", "reshape", "slice", "pad", "concatenate", "reverse", "iota", "dot"),
)


def random_module(random: np.random.Generator) -> hlo.Module:
  """A module whose entry gives one or a few values."""
  maker = Maker(random)
  for _ in range(int(random.integers(1, 4))):
    maker.values.append(maker.b.parameter(maker.pick(TYPES), maker.shape()))
  for _ in range(int(random.integers(3, 14))):
    maker.step()
  last = [v for v in maker.values if v.opcode != "parameter"][-maker.pick((1, 1, 1, 2, 3)) :] or maker.values[-1:]
  module = maker.b.module(maker.b.make_tuple(*dict.fromkeys(last)))
  hlo.make_pass("dce").run(module)
  return module


def arguments(module: hlo.Module, random: np.random.Generator) -> list[np.ndarray]:
  found = []
  for p in module.entry.parameters:
    if p.shape.element_type == "s32":
      found.append(random.integers(-9, 10, p.shape.dimensions).astype(np.int32))
    else:
      found.append(random.normal(size=p.shape.dimensions).astype(p.shape.dtype))
  return found


@dataclasses.dataclass
class Checker:
  """Checks modules, and counts what became of them."""

  machine: tiles.Machine
  platform: str = "cpu"
  counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  codes: Codes = dataclasses.field(default_factory=Codes)

  def check(self, seed: int) -> None:
    random = np.random.default_rng(seed)
    module = random_module(random)
    args = arguments(module, random)
    try:
      self._check(module, args)
    except graph.Refused as why:
      self.counts[f"refused: {str(why).split(':')[0][:60]}"] += 1
    except Exception:
      print(f"seed {seed}\n{module.to_text()}", flush=True)
      raise

  def _check(self, module: hlo.Module, args: list[np.ndarray]) -> None:
    members = [i for i in module.entry.topological_order() if i.opcode not in ("parameter", "tuple")]
    g = graph.build(members)
    found = axes.analyse(g)
    try:
      tiling = tiles.choose(g, found, self.machine)
    except graph.Incomplete:
      tiling = tiles.WHOLE
    code = self.codes.compile(emit.emit(g, found, tiling, "random"), self.platform)
    by_name = {p.name: x for p, x in zip(module.entry.parameters, args)}
    leaves = [by_name[n.source.name] for n in g.leaves]
    ours = jax.jit(as_call(code, g, tiling))(*leaves)
    expected = hlo.evaluate(module, *args)
    elements = {id(o): x for o, x in zip(module.entry.root.operands, expected)}
    for output, (value, error), got in zip(g.outputs, bounds(g, leaves), ours):
      reference = np.asarray(elements[id(output.source)], np.float64)
      got = np.asarray(got, np.float64)
      scale = ROUNDED.get(output.shape.element_type, 0.0)
      allowed = 2 * error + 2 * scale * np.abs(value)
      wrong = ~(np.abs(got - reference) <= allowed) & np.isfinite(allowed) & np.isfinite(reference)
      assert not wrong.any(), (
        f"{output.source.name}: {got[wrong][:4]} is not {reference[wrong][:4]}, within {allowed[wrong][:4]}"
      )
      self.counts["elements"] += math.prod(got.shape)
      self.counts["elements without a bound"] += int((~np.isfinite(allowed)).sum())
    self.counts["kernels"] += 1


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--count", type=int, default=2000)
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--platform", choices=["cpu", "cuda"], default="cpu")
  options = parser.parse_args()
  checker = Checker(tiles.host() if options.platform == "cpu" else tiles.gpu(132), options.platform)
  for i in range(options.count):
    checker.check(options.seed + i)
    if i % 100 == 99:
      print(f"{i + 1} graphs: {checker.counts['kernels']} kernels", flush=True)
  for name, count in checker.counts.most_common():
    print(f"{count:8d} {name}")
