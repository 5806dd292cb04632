"""Random kernels around random bodies: grids, block specs with edges, prefetched tables and state, aliases, accumulators and pipelines.

`generate(seed, size)` writes a kernel with `size` instructions; a smaller size is a prefix of the same program, which is how failures are
cut down. `Kernel.call` runs it with `pallas_call` (or `emit_pipeline` inside one), `Kernel.expected` with the oracle.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

from .block_windows import LARGE, SMALL, Window, random_window
from .generated_bodies import RARE, WIDE_DTYPES, Block, Instruction, Type, Writer, used
from .numbers import EXACT, Number, exact, is_float, is_inexact
from .operations import JAX, ORACLE


@dataclasses.dataclass(frozen=True)
class Output:
  """Value `name` of the body goes to `window`: stored, in rows, under a condition, or added to what earlier grid steps left there."""

  name: int
  type: Type
  window: Window
  how: str
  condition: int | None = None
  revisited: tuple[int, ...] = ()  # grid axes that the window does not depend on


@dataclasses.dataclass(frozen=True)
class Kernel:
  seed: int
  grid: tuple[int, ...]
  inputs: tuple[tuple[int, Type, Window], ...]
  ids: tuple[int, ...]
  scalars: tuple[int, ...]
  body: tuple[Instruction, ...]
  outputs: tuple[Output, ...]
  scratch: tuple[Type, ...]
  table: tuple[int, ...] | None
  alias: tuple[int, int] | None
  pipeline: bool
  far: tuple[tuple[int, Type], ...] = ()  # arrays in HBM, read by `fetch`
  x64: bool = False
  semantics: tuple[str, ...] | None = None
  kept: tuple[Type, ...] = ()  # scratch that lives through the grid, read and written by `history`
  semaphores: int = 0
  states: tuple[int, ...] | None = None  # prefetched scalars that the body writes
  dynamic: tuple[int, ...] = ()  # grid axes whose sizes are operands
  batch: tuple[
    bool, ...
  ] = ()  # under vmap, over a batch of three: which inputs have it, and last whether the table has
  memories: tuple[Type, ...] = ()  # scratch that the body writes first, and then reads and writes in parts

  def __str__(self) -> str:
    head = [f"seed {self.seed}: grid {self.grid}" + (" in emit_pipeline" if self.pipeline else "")]
    head += [f"  {self.semantics}, x64 {self.x64}, dynamic {self.dynamic}, states {self.states}, batch {self.batch}"]
    head += [f"  program ids {self.ids}, prefetched table {self.table}, scalars {self.scalars}, alias {self.alias}"]
    head += [f"  v{n}: {t} = block of {w}" for n, t, w in self.inputs]
    head += [f"  a{n}: {t} in HBM" for n, t in self.far]
    head += [line for i in self.body for line in i.lines("  ")]
    return "\n".join(
      head + [f"  out = {o.how} v{o.name} {o.type} if v{o.condition} to {o.window}" for o in self.outputs]
    )

  def arguments(self) -> list[np.ndarray]:
    if not self.batch:
      return self._arguments(self.seed)
    each = zip(*(self._arguments((self.seed, b)) for b in range(BATCH)))
    flags = [*self.batch[:-1], *[False] * len(self.far)]
    return [np.stack(arrays) if flag else arrays[0] for flag, arrays in zip(flags, each)]

  def of_batch(self, b: int) -> Kernel:
    """What element b of the batch computes."""
    table = self.table and (*self.table[b % len(self.table) :], *self.table[: b % len(self.table)])
    return dataclasses.replace(self, batch=(), table=table if self.batch[-1] else self.table)

  def _arguments(self, seed: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = []
    for _, t, w in self.inputs:
      if t.dtype == "bool":
        arrays.append(rng.integers(0, 2, w.array).astype(bool))
      elif t.special:
        arrays.append(rng.choice(_specials(t.dtype), w.array).astype(jnp.dtype(t.dtype)))
      elif t.dtype == "complex64":
        most = int(t.bound) // 2
        parts = [rng.integers(-most, most, w.array, endpoint=True) for _ in range(2)]
        arrays.append((parts[0] + 1j * parts[1]).astype(np.complex64))
      elif is_float(t.dtype):
        arrays.append(rng.integers(-int(t.bound), int(t.bound) + 1, w.array).astype(jnp.dtype(t.dtype)))
        if not t.sure:
          arrays[-1] = (rng.uniform(-1, 1, w.array) * t.bound).astype(jnp.dtype(t.dtype))
      else:
        info = jnp.iinfo(t.dtype)
        wide = rng.integers(
          int(info.min), int(info.max), w.array, np.int64 if info.bits < 64 else t.dtype, endpoint=True
        )
        small = rng.integers(0, 9, w.array)
        share = 0.3 if info.bits > 4 else 1.0
        arrays.append(np.where(rng.random(w.array) < share, wide, small).astype(jnp.dtype(t.dtype)))
    return arrays + [
      rng.integers(0, 2 if t.dtype == "bool" else 8, t.shape).astype(jnp.dtype(t.dtype)) for _, t in self.far
    ]

  def call(self, arguments: list[np.ndarray], **options: Any) -> list[np.ndarray]:
    tables = [np.asarray(t, np.int32) for t in (self.table, self.states) if t is not None]
    axes = [None] * len(tables) + [0 if flag else None for flag in self.batch[:-1]] + [None] * len(self.far)
    if self.batch and self.batch[-1]:
      tables[0] = np.stack([np.asarray(self.of_batch(b).table, np.int32) for b in range(BATCH)])
      axes[0] = 0
    rank = len(self.grid)
    shapes = [jax.ShapeDtypeStruct(o.window.array, o.type.dtype) for o in self.outputs]
    scratch: list[Any] = [pltpu.VMEM(t.shape, t.dtype) for t in self.scratch]
    scratch += [pltpu.VMEM(t.shape, t.dtype) for t in (*self.kept, *self.memories)]
    scratch += [pltpu.SemaphoreType.REGULAR((max(1, self.semaphores),)), pltpu.SemaphoreType.DMA((1,))]
    ins, outs, near = len(self.inputs) + len(self.far), len(self.outputs), len(self.inputs)
    anywhere = pl.BlockSpec(memory_space=pl.ANY)

    def body(table, state, in_refs, out_refs, scratch_refs):
      env = dict(zip(self.ids, [jnp.asarray(pl.program_id(a), jnp.int32) for a in range(len(self.grid))]))
      for name, i in zip(self.scalars, range(len(self.scalars))):
        env[name] = table[i % len(self.table)]
      for (name, _, w), ref in zip(self.inputs, in_refs):
        env[name] = ref[...]
        if w.has_edge:
          env[name] = _masked(env[name], w, [pl.program_id(a) for a in range(len(self.grid))], table)
      far = {name: ref for (name, _), ref in zip(self.far, in_refs[near:])}
      *memory, counts, sems = scratch_refs
      far |= {"first": len(self.scratch), "counts": counts, "state": state}
      far["memories"] = memory[len(self.scratch) + len(self.kept) :]
      run = InKernel(env, memory, sems, far, len(self.grid))
      run.block(self.body)
      for o, ref in zip(self.outputs, out_refs):
        _store(o, ref, env)

    def kernel(*refs):
      refs = list(refs)
      table = None if self.table is None else refs.pop(0)
      state = None if self.states is None else refs.pop(0)
      body(table, state, refs[:ins], refs[ins : ins + outs], refs[ins + outs :])

    in_specs = [w.spec(rank) for _, _, w in self.inputs] + [anywhere] * len(self.far)
    out_specs = [o.window.spec(rank) for o in self.outputs]
    aliases = {} if self.alias is None else {self.alias[0] + len(tables): self.alias[1]}
    if self.pipeline:

      def outer(*refs):
        blocks, memory = refs[: ins + outs], refs[ins + outs :]
        pltpu.emit_pipeline(
          lambda *r: body(None, None, (*r[:near], *blocks[near:ins]), r[near:], memory),
          grid=self.grid,
          in_specs=in_specs[:near],
          out_specs=out_specs,
        )(*blocks[:near], *blocks[ins:])

      call = pl.pallas_call(
        outer, shapes, in_specs=[anywhere] * ins, out_specs=[anywhere] * outs, scratch_shapes=scratch, **options
      )
      call = jax.vmap(call, axes) if self.batch else call
      return [np.asarray(x) for x in jax.jit(call)(*arguments)]
    params = pltpu.CompilerParams(dimension_semantics=self.semantics)

    def run(bounds, *operands):
      sizes = dict(zip(self.dynamic, bounds))
      grid = tuple(sizes.get(a, n) for a, n in enumerate(self.grid))
      spec = pltpu.PrefetchScalarGridSpec(len(tables), grid, in_specs, out_specs, scratch)
      return pl.pallas_call(
        kernel, shapes, grid_spec=spec, input_output_aliases=aliases, compiler_params=params, **options
      )(*operands)

    bounds = [np.int32(self.grid[a]) for a in self.dynamic]
    run = jax.vmap(run, [None, *axes]) if self.batch else run
    return [np.asarray(x) for x in jax.jit(run)(bounds, *tables, *arguments)]

  def expected(self, arguments: list[np.ndarray]) -> list[Number]:
    if self.batch:
      flags = [*self.batch[:-1], *[False] * len(self.far)]
      own = lambda b: [x[b] if flag else x for x, flag in zip(arguments, flags)]
      each = zip(*(self.of_batch(b).expected(own(b)) for b in range(BATCH)))
      return [Number(np.stack([n.value for n in of]), np.stack([n.error for n in of]), of[0].dtype) for of in each]
    arrays = [exact(a, t.dtype) for a, (_, t, _) in zip(arguments, self.inputs)]
    far = {name: exact(a, t.dtype) for (name, t), a in zip(self.far, arguments[len(self.inputs) :])}
    kept: dict[Any, Any] = {"states": list(self.states or ()), "counts": [0] * self.semaphores, "memories": {}}
    results = []
    for number, o in enumerate(self.outputs):
      first = exact(np.zeros(o.window.array), o.type.dtype)
      if self.alias and self.alias[1] == number:
        first = arrays[self.alias[0]].moved(np.copy)
      results.append(first)
    for ids in itertools.product(*(range(n) for n in self.grid)):
      env: dict[int, Number] = {n: exact(i, "int32") for n, i in zip(self.ids, ids)}
      for i, name in enumerate(self.scalars):
        env[name] = exact(self.table[i % len(self.table)], "int32")
      for (name, t, w), array in zip(self.inputs, arrays):
        block = w.read(array.value, ids, self.table)
        if w.has_edge:
          block = np.where(w.inside(ids, self.table).reshape(w.shape), block, np.zeros((), block.dtype))
        env[name] = exact(block, t.dtype)
      InOracle(env, far, kept).block(self.body)
      for o, r in zip(self.outputs, results):
        value = env[o.name]
        if o.how == "add" and any(ids[a] for a in o.revisited):
          before = r.moved(lambda v: o.window.read(v, ids, self.table))
          value = (ORACLE["or"] if o.type.dtype == "bool" else ORACLE["add"])(before, value)
        if o.how == "keep" and int(env[o.condition].value) % 2 == 0:
          continue
        if o.how == "when" and int(env[o.condition].value) % 2 == 0:
          value = exact(np.zeros(value.shape), o.type.dtype)
        o.window.write(r.value, value.value, ids, self.table)
        o.window.write(r.error, value.error, ids, self.table)
    return results


def _specials(dtype: str) -> np.ndarray:
  """NaN, infinities where there are some, zeros, the largest and smallest numbers, and ordinary ones.

  Subnormal numbers are among them where they are normal as float32: XLA flushes others."""
  info = ml_dtypes.finfo(jnp.dtype(dtype))
  found = [0.0, -0.0, 1.0, -2.0, 3.0, info.max, info.min, info.smallest_normal, np.nan]
  found += [info.smallest_subnormal] if dtype.startswith("float8") or dtype == "float16" else []
  infinities = [] if dtype.startswith("float8") and dtype != "float8_e5m2" else [np.inf, -np.inf]
  return np.asarray([float(x) for x in (*found, *infinities)])


def _masked(block, w: Window, ids, table):
  mask = jnp.ones(block.shape, bool)
  kept = [d for d, b in enumerate(w.block) if b is not None]
  numbers = w.numbers(ids, table)
  for axis, d in enumerate(kept):
    start, count = w.place(d, numbers[d])
    here = lax.broadcasted_iota(jnp.int32, block.shape, axis)
    mask &= (here + start >= 0) & (here + start < w.array[d]) & (here < count)
  return jnp.where(mask, block, jnp.zeros((), block.dtype))


def _store(o: Output, ref, env) -> None:
  value = env[o.name]
  match o.how:
    case "store":
      ref[...] = value
    case "rows":

      @pl.loop(0, value.shape[0])
      def _(i):
        ref[value.shape[0] - 1 - i] = lax.dynamic_index_in_dim(value, value.shape[0] - 1 - i, 0, keepdims=False)

    case "columns":
      for i in range(value.shape[-1]):
        ref[..., pl.ds(i, 1)] = value[..., i : i + 1]
    case "keep":  # an aliased output keeps the input's elements

      @pl.when(env[o.condition] % 2 != 0)
      def _():
        ref[...] = value

    case "when":
      ref[...] = jnp.zeros_like(value)

      @pl.when(env[o.condition] % 2 != 0)
      def _():
        ref[...] = value

    case "add":
      first = None
      for a in o.revisited:
        here = pl.program_id(a) == 0
        first = here if first is None else first & here

      @pl.when(first)
      def _():
        ref[...] = jnp.zeros_like(value)

      ref[...] = (ref[...] | value) if value.dtype == bool else ref[...] + value


def _places(window, starts, ds):
  """An index of `window`; `ds(start, size, step)` is how a slice whose start is computed is written."""
  found = []
  for kind, *rest in window:
    match kind:
      case "number":
        found.append(rest[0])
      case "slice":
        start, size, step = rest
        found.append(slice(start, start + (size - 1) * step + 1, step))
      case "computed":
        number, size, step, places = rest
        found.append(ds(starts[number] % places, size, step))
  return tuple(found)


class InKernel:
  """A body run by JAX, inside a kernel."""

  def __init__(self, env, scratch, sems, far, rank) -> None:
    self.env, self.scratch, self.sems, self.far, self.rank = env, scratch, sems, far, rank

  def inner(self, block: Block, *args):
    run = InKernel({**self.env, **dict(zip(block.params, args))}, self.scratch, self.sems, self.far, self.rank)
    run.block(block.body)
    return run.env[block.result]

  def block(self, body) -> None:
    for i in body:
      args = [self.env[a] for a in i.args]
      rule = getattr(self, i.op, None)
      self.env[i.name] = rule(i, *args) if rule else JAX[i.op](*args, **i.attributes)

  def fori(self, i, a):
    at = i.attributes
    return lax.fori_loop(
      0, at["count"], lambda n, c: self.inner(i.blocks[0], jnp.int32(n), c), a, unroll=at["unroll"] or None
    )

  def fori_dynamic(self, i, a, n):
    return lax.fori_loop(0, n % (i.attributes["most"] + 1), lambda n, c: self.inner(i.blocks[0], n, c), a)

  def scan(self, i, a, xs):
    return lax.scan(lambda c, x: (self.inner(i.blocks[0], x, c), None), a, xs)[0]

  def branch(self, i, a, n):
    return lax.switch(n % len(i.blocks), [lambda c, b=b: self.inner(b, c) for b in i.blocks], a)

  def whole(self, i, a):
    ref = self.scratch[i.attributes["slot"]]
    ref[...] = a
    return ref[...]

  def row(self, i, a, n):
    ref = self.scratch[i.attributes["slot"]]
    ref[...] = a
    return ref[n % a.shape[0]]

  def window(self, i, a, n):
    ref, size = self.scratch[i.attributes["slot"]], i.attributes["size"]
    ref[...] = a
    return ref[..., pl.ds(n % (a.shape[-1] - size + 1), size)]

  def strided(self, i, a):
    ref = self.scratch[i.attributes["slot"]]
    ref[...] = a
    return ref[pl.ds(i.attributes["start"], i.attributes["size"], 2)]

  def dma(self, i, a):
    first, second = self.scratch[i.attributes["slot"] : i.attributes["slot"] + 2]
    first[...] = a
    copy = pltpu.make_async_copy(first, second, self.sems.at[0])
    copy.start()
    copy.wait()
    return second[...]

  def fetch(self, i, n):
    at = i.attributes
    source, target = self.far[at["array"]], self.scratch[at["slot"]]
    start = n % (source.shape[0] - at["size"] + 1)
    pltpu.async_copy(source.at[pl.ds(start, at["size"])], target, self.sems.at[0]).wait()
    return target[...]

  def history(self, i, a):
    ref = self.scratch[self.far["first"] + i.attributes["slot"]]
    first = pl.program_id(0) == 0
    for axis in range(1, self.rank):
      first &= pl.program_id(axis) == 0

    @pl.when(first)
    def _():
      ref[...] = jnp.zeros_like(a)

    before = ref[...]
    ref[...] = a
    return before

  def get(self, i, *starts):
    return self.far["memories"][i.attributes["slot"]][_places(i.attributes["window"], starts, pl.ds)]

  def put(self, i, a, *starts):
    self.far["memories"][i.attributes["slot"]][_places(i.attributes["window"], starts, pl.ds)] = a

  def increase(self, i, a, *starts):
    ref, most = self.far["memories"][i.attributes["slot"]], i.attributes["most"]
    at = _places(i.attributes["window"], starts, pl.ds)
    if a.dtype == bool:
      ref[at] = ref[at] ^ a
    elif is_float(str(a.dtype)):
      ref[at] = jnp.clip(ref[at] + a, jnp.asarray(-most, a.dtype), jnp.asarray(most, a.dtype))
    else:
      ref[at] += a

  def shift(self, i, *starts):
    ref, at = self.far["memories"][i.attributes["slot"]], i.attributes
    source = ref[_places(at["source"], starts[at["split"] :], pl.ds)]
    ref[_places(at["window"], starts[: at["split"]], pl.ds)] = source

  def count(self, i):
    sem, at = self.far["counts"].at[i.attributes["slot"]], i.attributes
    pl.semaphore_signal(sem, at["signals"])
    if at["waits"]:
      pl.semaphore_wait(sem, at["waits"])
    return jnp.asarray(pl.semaphore_read(sem), jnp.int32)

  def state(self, i, n):
    ref, slot = self.far["state"], i.attributes["slot"]
    before = ref[slot]
    ref[slot] = before + n % 7
    return before

  def dma_row(self, i, a, n):
    first, second = self.scratch[i.attributes["slot"] : i.attributes["slot"] + 2]
    first[...] = a
    second[...] = jnp.zeros_like(a)
    at = pl.ds(n % a.shape[0], 1)
    pltpu.async_copy(first.at[at], second.at[at], self.sems.at[0]).wait()
    return second[...]


setattr(
  InKernel,
  "while",
  lambda self, i, a, n: lax.while_loop(
    lambda c: c[0] < n % (i.attributes["most"] + 1),
    lambda c: (c[0] + 1, self.inner(i.blocks[0], *c)),
    (jnp.int32(0), a),
  )[1],
)


class InOracle:
  """A body run by the oracle."""

  def __init__(self, env: dict[int, Number], far: dict[int, Number], kept: dict[int, Number]) -> None:
    self.env, self.far, self.kept = env, far, kept

  def inner(self, block: Block, *args: Number) -> Number:
    run = InOracle({**self.env, **dict(zip(block.params, args))}, self.far, self.kept)
    run.block(block.body)
    return run.env[block.result]

  def block(self, body) -> None:
    for i in body:
      args = [self.env[a] for a in i.args]
      rule = getattr(self, i.op, None)
      self.env[i.name] = rule(i, *args) if rule else ORACLE[i.op](*args, **i.attributes)

  def repeat(self, i, a, count):
    for n in range(count):
      a = self.inner(i.blocks[0], exact(n, "int32"), a)
    return a

  def fori(self, i, a):
    return self.repeat(i, a, i.attributes["count"])

  def fori_dynamic(self, i, a, n):
    return self.repeat(i, a, int(n.value) % (i.attributes["most"] + 1))

  def scan(self, i, a, xs):
    for n in range(xs.shape[0]):
      a = self.inner(i.blocks[0], xs.moved(lambda v: v[n]), a)
    return a

  def branch(self, i, a, n):
    return self.inner(i.blocks[int(n.value) % len(i.blocks)], a)

  def whole(self, i, a):
    return a

  dma = whole

  def row(self, i, a, n):
    return a.moved(lambda v: v[int(n.value) % a.shape[0]])

  def window(self, i, a, n):
    size = i.attributes["size"]
    at = int(n.value) % (a.shape[-1] - size + 1)
    return a.moved(lambda v: v[..., at : at + size])

  def strided(self, i, a):
    return a.moved(lambda v: v[i.attributes["start"] :: 2])

  def fetch(self, i, n):
    at = i.attributes
    source = self.far[at["array"]]
    start = int(n.value) % (source.shape[0] - at["size"] + 1)
    return source.moved(lambda v: v[start : start + at["size"]])

  def history(self, i, a):
    before = self.kept.get(i.name, exact(np.zeros(a.shape), a.dtype))
    self.kept[i.name] = a
    return before

  def places(self, window, starts):
    return _places(
      window, [int(n.value) for n in starts], lambda n, size, step: slice(n, n + (size - 1) * step + 1, step)
    )

  def get(self, i, *starts):
    at = self.places(i.attributes["window"], starts)
    return self.kept["memories"][i.attributes["slot"]].moved(lambda v: v[at].copy())

  def assign(self, i, a, starts):
    memory, at = self.kept["memories"][i.attributes["slot"]], self.places(i.attributes["window"], starts)
    memory.value[at], memory.error[at] = a.value, a.error

  def put(self, i, a, *starts):
    if all(len(x) == 4 and x[0] == "slice" for x in i.attributes["window"]) and "most" not in i.attributes:
      self.kept["memories"][i.attributes["slot"]] = a.moved(np.copy)
    else:
      self.assign(i, a, starts)

  def increase(self, i, a, *starts):
    before, most = self.get(i, *starts), i.attributes["most"]
    if a.dtype == "bool":
      self.assign(i, ORACLE["xor"](before, a), starts)
      return
    total = ORACLE["add"](before, a)
    self.assign(i, ORACLE["clip"](total, -most, most) if is_float(a.dtype) else total, starts)

  def shift(self, i, *starts):
    at = i.attributes
    source = self.places(at["source"], starts[at["split"] :])
    moved = self.kept["memories"][at["slot"]].moved(lambda v: v[source].copy())
    self.assign(i, moved, starts[: at["split"]])

  def count(self, i):
    at, counts = i.attributes, self.kept["counts"]
    counts[at["slot"]] += at["signals"] - at["waits"]
    return exact(counts[at["slot"]], "int32")

  def state(self, i, n):
    states, slot = self.kept["states"], i.attributes["slot"]
    before = states[slot]
    states[slot] = before + int(n.value) % 7
    return exact(before, "int32")

  def dma_row(self, i, a, n):
    kept = np.zeros(a.shape, bool)
    kept[int(n.value) % a.shape[0]] = True
    return a.moved(lambda v: np.where(kept, v, np.zeros((), v.dtype)))


setattr(InOracle, "while", InOracle.fori_dynamic)


def generate(seed: int, size: int | None = None) -> Kernel:
  rng = random.Random(seed)
  grid = tuple(rng.choice([1, 2, 2, 3, 4]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
  if not grid:
    grid = (1,)
  pipeline = rng.random() < 0.15
  table = None
  if not pipeline and rng.random() < 0.4:
    table = tuple(rng.sample(range(grid[0]), grid[0]))
  w = Writer(rng)
  x64, large = rng.random() < 0.15, rng.random() < 0.15
  w.dtypes = WIDE_DTYPES if x64 else w.dtypes
  w.dtypes = [*w.dtypes, *RARE] if rng.random() < 0.2 else w.dtypes
  w.elements = 6000 if large else w.elements
  ids = tuple(w.param(Type((), "int32")) for _ in grid)
  scalars = tuple(w.param(Type((), "int32")) for _ in range(2)) if table else ()
  if not pipeline and rng.random() < 0.4:
    w.states = tuple(rng.randrange(9) for _ in range(rng.randint(1, 3)))
  batched = rng.random() < 0.15
  dynamic = tuple(a for a in range(len(grid)) if not pipeline and rng.random() < 0.1)
  inputs = []
  for _ in range(rng.randint(1, 3)):
    dtypes = [*w.dtypes, "complex64"]
    if inputs and rng.random() < 0.5:
      window, dtype = inputs[-1][2], rng.choice([inputs[-1][1].dtype, rng.choice(dtypes)])
    else:
      window, dtype = random_window(rng, grid, table, LARGE if large else SMALL, w.elements), rng.choice(dtypes)
    bound = 0.0
    sure = True
    special = ""
    if is_inexact(dtype):
      sure = dtype == "complex64" or rng.random() < 0.6
      bound = float(min(8, EXACT[dtype])) if sure else 2.0
      special = "signed" if is_float(dtype) and rng.random() < 0.15 else ""
    t = Type(window.shape, dtype, 0.0 if special else bound, bool(special) or sure, special)
    inputs.append((w.param(t), t, window))
  count = rng.randint(3, 14)
  choices = random.Random(seed + 1)
  w.write(count if size is None else min(size, count))
  for slot, t in enumerate(w.memories):
    w.emit("get", (), t, slot=slot, window=tuple(("slice", 0, n, 1) for n in t.shape))
  outputs: list[Output] = []
  wanted: set[int] = set()
  for _ in range(choices.randint(1, 4)):
    names = [n for n in w.pool if w.types[n].shape and n not in {o.name for o in outputs}]
    if not names:
      break
    name = choices.choice([n for n in names if n not in w.uses] or names)
    o = _output(choices, w, name, grid, ids)
    outputs.append(o)
    wanted |= {o.name} | ({o.condition} if o.condition is not None else set())
  semantics = None
  in_order = w.kept or w.semaphores or w.changes_state
  if not in_order and not pipeline and choices.random() < 0.6:
    ordered = {a for o in outputs for a in o.revisited}
    semantics = tuple(
      "arbitrary" if a in ordered else choices.choice(["parallel", "parallel", "arbitrary"]) for a in range(len(grid))
    )
  batch: tuple[bool, ...] = ()
  if batched:
    flags = [choices.random() < 0.7 for _ in inputs]
    batch = (*flags, table is not None and (choices.random() < 0.5 or not any(flags)))
    batch = batch if any(batch) else (True, *batch[1:])
  alias = None
  for i, (_, t, window) in enumerate(inputs):
    names = [n for n in w.pool if (w.types[n].shape, w.types[n].dtype) == (t.shape, t.dtype)]
    if (
      alias is None
      and not window.steps
      and not any(window.computed)
      and not pipeline
      and set(window.axes) >= set(range(len(grid)))
      and names
      and choices.random() < 0.5
    ):
      name = choices.choice([n for n in names if n not in w.uses] or names)
      alias = (i, len(outputs))
      how = choices.choice(["store", "when", "keep"])
      outputs.append(Output(name, w.types[name], window, how, None if how == "store" else choices.choice(ids)))
      wanted.add(name)
  body = used(w.body, wanted)
  return Kernel(
    seed,
    grid,
    tuple(inputs),
    ids,
    scalars,
    tuple(body),
    tuple(outputs),
    tuple(w.scratch),
    table,
    alias,
    pipeline,
    tuple(w.far),
    x64,
    semantics,
    tuple(w.kept),
    w.semaphores,
    w.states,
    dynamic,
    batch,
    tuple(w.memories),
  )


BATCH = 3


def _output(rng: random.Random, w: Writer, name: int, grid: tuple[int, ...], ids: tuple[int, ...]) -> Output:
  t = w.types[name]
  kept = rng.randint(0, len(grid)) if rng.random() < 0.3 and not t.special else len(grid)
  revisited = tuple(range(kept, len(grid)))
  steps = math.prod(grid[kept:])
  if revisited and is_inexact(t.dtype) and t.bound * steps > (EXACT[t.dtype] if t.sure else 1e30):
    kept, revisited = len(grid), ()
  array, block, axes = list(t.shape), list(t.shape), [None] * len(t.shape)
  for axis in range(kept):
    free = [d for d in range(len(t.shape)) if axes[d] is None]
    if free and rng.random() < 0.6:
      d = rng.choice(free)
      cut = rng.randrange(block[d]) if grid[axis] > 1 and rng.random() < 0.4 else 0
      array[d], axes[d] = block[d] * grid[axis] - cut, axis
  for axis in range(kept):
    if axis not in axes:
      array.insert(0, grid[axis])
      block.insert(0, None)
      axes.insert(0, axis)
  window = Window(tuple(array), tuple(block), tuple(axes))
  if revisited:
    return Output(name, t, window, "add", None, revisited)
  how = rng.choice(["store", "store", "store", "rows", "columns", "when"])
  return Output(name, t, window, how, rng.choice(ids) if how == "when" else None)
