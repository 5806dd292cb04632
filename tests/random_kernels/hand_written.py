"""Random hand-written GPU kernels: copies, barriers, roles, unions and products, by warpgroups that take turns.

`generate(seed, size)` writes a program as data. `Program.call` runs it as a `plgpu.kernel`, `Program.expected` with NumPy. A program is a
list of phases. In a phase each warpgroup has instructions of its own; it writes only buffers that no other warpgroup accesses in that
phase, and all warpgroups meet at a barrier between two phases. So each program is right, and its results are the same on every target:

    phase 0    warpgroup 0   copy x0 -> s1; s0 = 2 * s1                  warpgroup 1   copy x1 -> s2
    phase 1    warpgroup 0   acc = s0 @ s2; o0 = acc                     warpgroup 1   o1 = s2.T

All numbers are small integers, which every dtype holds, and every result is clipped to those; so all sums are exact.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

_DTYPES = ("float32", "bfloat16", "float16", "int32", "int8")
_OF_PRODUCTS = ("bfloat16", "float16")
_COLUMNS = (32, 64, 128)
_LARGEST = 8  # of a number that a program computes
_ELEMENTS_OF_A_UNION = 2

Layout = plgpu.Layout
_LAYOUTS: dict[str, Any] = {
  "none": None,
  "wgmma": Layout.WGMMA,
  "strided": lambda shape: Layout.WG_STRIDED(shape, vec_size=2),
}


@dataclasses.dataclass(frozen=True)
class Buffer:
  """A buffer in shared memory. `swizzle` of None: without transforms; `union` is the tree of the union it is in."""

  shape: tuple[int, int]
  dtype: str
  swizzle: int | None = None
  union: int | None = None

  @property
  def bits(self) -> int:
    return 8 * jnp.dtype(self.dtype).itemsize

  def memory(self) -> Any:
    if self.swizzle is None:
      return plgpu.SMEM(self.shape, jnp.dtype(self.dtype))
    tiling = plgpu.TilingTransform((8, 8 * self.swizzle // self.bits))
    return plgpu.SMEM(self.shape, jnp.dtype(self.dtype), transforms=(tiling, plgpu.SwizzleTransform(self.swizzle)))


@dataclasses.dataclass(frozen=True)
class Instruction:
  """`kind` says what is done; `place` is the number of the buffer, tile, input or output it goes to, `sources` those it comes from."""

  kind: str
  place: int
  sources: tuple[int, ...] = ()
  how: Any = None

  def __str__(self) -> str:
    return (
      f"{self.kind}({self.place} <- {', '.join(map(str, self.sources))}{'' if self.how is None else f'; {self.how}'})"
    )


@dataclasses.dataclass(frozen=True)
class Program:
  seed: int
  programs: int  # points of the grid
  warpgroups: int
  inputs: tuple[tuple[tuple[int, int], str], ...]
  buffers: tuple[Buffer, ...]
  phases: tuple[tuple[tuple[Instruction, ...], ...], ...]  # by warpgroup
  outputs: tuple[tuple[tuple[int, int], str], ...]

  def __str__(self) -> str:
    lines = [f"seed {self.seed}: {self.programs} CTAs of {self.warpgroups} warpgroups", f"inputs {self.inputs}"]
    lines += [f"s{n} {buffer}" for n, buffer in enumerate(self.buffers)]
    for n, phase in enumerate(self.phases):
      lines += [f"phase {n}, warpgroup {w}: {'; '.join(map(str, own))}" for w, own in enumerate(phase)]
    return "\n".join([*lines, f"outputs {self.outputs}"])

  def arguments(self) -> list[np.ndarray]:
    rng = np.random.default_rng(self.seed)
    whole = lambda shape: (self.programs, *shape)
    return [rng.integers(-4, 5, whole(shape)).astype(jnp.dtype(dtype)) for shape, dtype in self.inputs]

  def expected(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    results = [np.zeros((self.programs, *shape)) for shape, _ in self.outputs]
    for at in range(self.programs):
      run = _Oracle(self, [np.asarray(a[at], np.float64) for a in arguments], [r[at] for r in results])
      for phase in self.phases:
        for w, own in enumerate(phase):
          for instruction in own:
            run.execute(w, instruction)
    return results

  def call(self, arguments: Sequence[Any], interpret: Any = None) -> list[Any]:
    return [np.asarray(r) for r in jax.jit(self.kernel(interpret))(*arguments)]

  def kernel(self, interpret: Any = None) -> Any:
    copies = sum(i.kind == "copy" for phase in self.phases for own in phase for i in own)
    trees: list[list[int]] = [
      [n for n, b in enumerate(self.buffers) if b.union == tree] for tree in range(_ELEMENTS_OF_A_UNION)
    ]
    scratch: dict[str, Any] = {f"s{n}": b.memory() for n, b in enumerate(self.buffers) if b.union is None}
    if all(trees):
      scratch["union"] = plgpu.RefUnion(*([self.buffers[n].memory() for n in tree] for tree in trees))
    if copies:
      scratch["copied"] = plgpu.Barrier(num_barriers=copies)
    if self.warpgroups > 1:
      scratch["met"] = plgpu.Barrier(num_arrivals=self.warpgroups)

    def body(*refs: Any, **memory: Any) -> None:
      inputs, outputs = refs[: len(self.inputs)], refs[len(self.inputs) :]
      at = lax.axis_index("g")
      buffers = {n: memory[f"s{n}"] for n, b in enumerate(self.buffers) if b.union is None}
      if "union" in memory:
        for tree, found in zip(trees, memory["union"]):
          buffers.update(zip(tree, found))
      run = _Kernel(self, [r.at[at] for r in inputs], [r.at[at] for r in outputs], buffers, memory.get("copied"))
      for number, phase in enumerate(self.phases):
        if number and self.warpgroups > 1:
          plgpu.barrier_arrive(memory["met"])
          plgpu.barrier_wait(memory["met"])
        for w, own in enumerate(phase):
          run.when(w, own)

    threads = {"num_threads": self.warpgroups, "thread_name": "wg"} if self.warpgroups > 1 else {}
    return plgpu.kernel(
      body,
      out_type=[jax.ShapeDtypeStruct((self.programs, *shape), jnp.dtype(dtype)) for shape, dtype in self.outputs],
      grid=(self.programs,),
      grid_names=("g",),
      scratch_types=scratch,
      interpret=interpret,
      **threads,
    )


_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
  "add": lambda xp, a, b: a + b,
  "sub": lambda xp, a, b: a - b,
  "mul": lambda xp, a, b: a * b,
  "max": lambda xp, a, b: xp.maximum(a, b),
  "where": lambda xp, a, b: xp.where(a < b, a + a, b - a),
}
_REDUCTIONS = ("max", "sum")
_KINDS = (
  *("copy", "copy", "load", "load", "store", "cast", "layout", "binary", "reduce", "loop"),
  *("product", "product", "out", "out", "out_copy"),
)


def _reduced(xp: Any, x: Any, how: str, axis: int) -> Any:
  wide = x if xp is np else x.astype(jnp.float32)
  found = getattr(wide, how)(axis)
  found = found if xp is np else jnp.clip(found, -_LARGEST, _LARGEST).astype(x.dtype)
  if xp is np:
    found = np.clip(found, -_LARGEST, _LARGEST)
    return np.broadcast_to(np.expand_dims(found, axis), x.shape)
  return lax.broadcast_in_dim(found, x.shape, [1 - axis])


class _Oracle:
  def __init__(self, program: Program, inputs: list[np.ndarray], outputs: list[np.ndarray]):
    self.program, self.inputs, self.outputs = program, inputs, outputs
    self.buffers = [np.full(b.shape, np.nan) for b in program.buffers]
    self.tiles: dict[tuple[int, int], np.ndarray] = {}

  def execute(self, w: int, i: Instruction) -> None:
    tile = lambda n: self.tiles[w, n]
    match i.kind:
      case "copy":
        self.buffers[i.place][i.how[1] :] = self.inputs[i.sources[0]][i.how[1] :]
        if i.how[1]:
          self.buffers[i.place][: i.how[1]] = self.inputs[i.sources[0]][: i.how[1]]
      case "wait":
        pass
      case "load":
        found = self.buffers[i.sources[0]]
        self.tiles[w, i.place] = (found.T if i.how[1] else found).copy()
      case "store":
        self.buffers[i.place][...] = tile(i.sources[0])
      case "cast":
        self.tiles[w, i.place] = tile(i.sources[0])
      case "layout":
        self.tiles[w, i.place] = tile(i.sources[0])
      case "binary":
        a, b = map(tile, i.sources)
        self.tiles[w, i.place] = np.clip(_BINARY[i.how](np, a, b), -_LARGEST, _LARGEST)
      case "reduce":
        self.tiles[w, i.place] = _reduced(np, tile(i.sources[0]), *i.how)
      case "loop":
        total = tile(i.sources[0])
        for _ in range(i.how):
          total = np.clip(total + self.buffers[i.sources[1]], -_LARGEST, _LARGEST)
        self.tiles[w, i.place] = total
      case "product":
        in_registers, is_transposed, times = i.how
        a = tile(i.sources[0]) if in_registers else self.buffers[i.sources[0]]
        b = self.buffers[i.sources[1]]
        self.tiles[w, i.place] = np.clip(times * (a @ (b.T if is_transposed else b)), -_LARGEST, _LARGEST)
      case "out":
        self.outputs[i.place][...] = tile(i.sources[0])
      case "out_copy":
        self.outputs[i.place][...] = self.buffers[i.sources[0]]


class _Kernel:
  def __init__(self, program: Program, inputs: Any, outputs: Any, buffers: dict[int, Any], copied: Any):
    self.program, self.inputs, self.outputs, self.buffers, self.copied = program, inputs, outputs, buffers, copied
    self.tiles: dict[int, Any] = {}
    self.barriers: dict[int, list[Any]] = {}
    self.num_copies = 0

  def when(self, w: int, instructions: Sequence[Instruction]) -> None:
    def run() -> None:
      self.tiles = {}
      for instruction in instructions:
        self.execute(instruction)

    run() if self.program.warpgroups == 1 else pl.when(lax.axis_index("wg") == w)(run)

  def execute(self, i: Instruction) -> None:
    buffer = self.buffers.get
    match i.kind:
      case "copy":
        waits, rows = i.how
        source, target, barrier = self.inputs[i.sources[0]], buffer(i.place), self.copied.at[self.num_copies]
        self.num_copies += 1
        if rows:  # in two parts, of which the first is waited for at once
          plgpu.copy_gmem_to_smem(source.at[:rows], target.at[:rows], barrier)
          plgpu.barrier_wait(barrier)
          plgpu.copy_gmem_to_smem(source.at[pl.ds(rows, target.shape[0] - rows)], target.at[rows:], barrier)
        else:
          plgpu.copy_gmem_to_smem(source, target, barrier)
        if waits:
          plgpu.barrier_wait(barrier)
        else:
          self.barriers.setdefault(i.place, []).append(barrier)
      case "wait":
        plgpu.barrier_wait(self.barriers[i.place].pop())
      case "load":
        name, is_transposed = i.how
        ref = plgpu.transpose_ref(buffer(i.sources[0]), (1, 0)) if is_transposed else buffer(i.sources[0])
        layout = _LAYOUTS[name]
        self.tiles[i.place] = (
          ref[...]
          if layout is None
          else plgpu.load(ref, (), layout=layout(ref.shape) if callable(layout) and name == "strided" else layout)
        )
      case "store":
        buffer(i.place)[...] = self.tiles[i.sources[0]]
      case "cast":
        self.tiles[i.place] = self.tiles[i.sources[0]].astype(i.how)
      case "layout":
        layout = _LAYOUTS[i.how]
        x = self.tiles[i.sources[0]]
        self.tiles[i.place] = plgpu.layout_cast(x, layout(x.shape) if i.how == "strided" else layout)
      case "binary":
        a, b = (self.tiles[n] for n in i.sources)
        self.tiles[i.place] = jnp.clip(_BINARY[i.how](jnp, a, b), -_LARGEST, _LARGEST).astype(a.dtype)
      case "reduce":
        self.tiles[i.place] = _reduced(jnp, self.tiles[i.sources[0]], *i.how)
      case "loop":
        ref, dtype = buffer(i.sources[1]), self.tiles[i.sources[0]].dtype
        step = lambda _, total: jnp.clip(total + ref[...].astype(dtype), -_LARGEST, _LARGEST).astype(dtype)
        self.tiles[i.place] = lax.fori_loop(0, i.how, step, self.tiles[i.sources[0]])
      case "product":
        in_registers, is_transposed, times = i.how
        a = self.tiles[i.sources[0]] if in_registers else buffer(i.sources[0])
        b = buffer(i.sources[1])
        b = plgpu.transpose_ref(b, (1, 0)) if is_transposed else b
        plgpu.commit_smem()

        def multiply(acc: Any) -> Any:
          for _ in range(times):
            plgpu.wgmma(acc, a, b)
          plgpu.wgmma_wait(0)
          return acc[...]

        found = pl.run_scoped(multiply, plgpu.ACC((a.shape[0], b.shape[1]), jnp.float32))
        self.tiles[i.place] = jnp.clip(found, -_LARGEST, _LARGEST)
      case "out":
        self.outputs[i.place][...] = self.tiles[i.sources[0]]
      case "out_copy":
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(buffer(i.sources[0]), self.outputs[i.place])
        plgpu.wait_smem_to_gmem(0)


def generate(seed: int, size: int | None = None) -> Program:
  """A program of `size` instructions, or of a random number of them."""
  return _Writer(seed, size).program()


class _Writer:
  def __init__(self, seed: int, size: int | None):
    self.r = random.Random(seed)
    self.seed = seed
    self.warpgroups = self.r.choice([1, 1, 2, 2, 3])
    wanted = self.r.randint(2, 14)
    self.size = wanted if size is None else size
    self.inputs: list[Any] = []
    self.outputs: list[Any] = []
    self.buffers = [self._buffer() for _ in range(self.r.randint(2, 5))]
    self._unite()
    self.filled: set[int] = set()
    self.phases: list[list[list[Instruction]]] = []

  def _buffer(self) -> Buffer:
    r = self.r
    dtype = r.choice((*_DTYPES, *_OF_PRODUCTS))
    shape = (r.choice([64, 64, 128]), r.choice(_COLUMNS))
    row = shape[1] * jnp.dtype(dtype).itemsize
    return Buffer(shape, dtype, r.choice([None, *(s for s in (128, 64, 32) if row % s == 0)]))

  def _unite(self) -> None:
    """Two buffers, or three, in a union: the first tree is used in the first half of the phases, the second later."""
    if self.r.random() < 0.4 and len(self.buffers) > 2:
      for n, tree in enumerate((0, 1, 1)[: self.r.choice([2, 3])]):
        self.buffers[n] = dataclasses.replace(self.buffers[n], union=tree)

  def program(self) -> Program:
    count = self.r.randint(1, 4)
    for number in range(count):
      phase: list[list[Instruction]] = [[] for _ in range(self.warpgroups)]
      usable = [n for n, b in enumerate(self.buffers) if b.union in (None, int(2 * number >= count))]
      if 2 * number >= count:
        self.filled -= {n for n, b in enumerate(self.buffers) if b.union == 0}
      owner = {n: self.r.randrange(self.warpgroups) for n in usable if self.r.random() < 0.7 or n not in self.filled}
      shared = [n for n in usable if n in self.filled and n not in owner]
      written: set[int] = set()
      for w in range(self.warpgroups):
        own = [n for n in owner if owner[n] == w]
        written |= self._phase(phase[w], own, shared)
      self.filled |= written
      self.phases.append(phase)
    if not self.outputs:
      self.phases.append([[] for _ in range(self.warpgroups)])
      self.size = 3
      self._phase(self.phases[-1][0], [n for n, b in enumerate(self.buffers) if b.union != 0], [], is_last=True)
    return Program(
      self.seed,
      self.r.choice([1, 2]),
      self.warpgroups,
      tuple(self.inputs),
      tuple(self.buffers),
      tuple(tuple(tuple(own) for own in phase) for phase in self.phases),
      tuple(self.outputs),
    )

  def _phase(self, code: list[Instruction], own: list[int], shared: list[int], is_last: bool = False) -> set[int]:
    """The instructions of a warpgroup, which may write the buffers `own` and read those that are `shared`."""
    r = self.r
    filled, waiting = self.filled & set(own), set()
    tiles: list[tuple[tuple[int, int], str]] = []
    written: set[int] = set()

    def tile(shape: Any, dtype: str) -> int:
      tiles.append((shape, dtype))
      return len(tiles) - 1

    def pick(found: Sequence[Any]) -> Any:
      return r.choice(list(found)) if found else None

    for _ in range(self.size if is_last else r.randint(1, max(1, self.size))):
      readable = sorted((filled | set(shared)) - waiting)
      match r.choice(_KINDS):
        case "copy" if own:
          n = r.choice(own)
          if n in waiting:
            code.append(Instruction("wait", n))
            waiting.discard(n)
            continue
          self.inputs.append((self.buffers[n].shape, self.buffers[n].dtype))
          waits, rows = r.random() < 0.6, r.choice([0, 0, 32])
          code.append(Instruction("copy", n, (len(self.inputs) - 1,), (waits, rows)))
          filled.add(n)
          written.add(n)
          if not waits:
            waiting.add(n)
        case "load" if readable:
          n = r.choice(readable)
          shape, is_transposed = self.buffers[n].shape, r.random() < 0.15
          shape = shape[::-1] if is_transposed else shape
          name = r.choice(["none", "wgmma", "strided"]) if shape[0] % 64 == 0 else "none"
          code.append(Instruction("load", tile(shape, self.buffers[n].dtype), (n,), (name, is_transposed)))
        case "store" if tiles:
          t = r.randrange(len(tiles))
          fitting = [n for n in own if n not in waiting and (self.buffers[n].shape, self.buffers[n].dtype) == tiles[t]]
          if (n := pick(fitting)) is not None:
            code.append(Instruction("store", n, (t,)))
            filled.add(n)
            written.add(n)
        case "cast" if tiles:
          t = r.randrange(len(tiles))
          dtype = r.choice([d for d in _DTYPES if d != tiles[t][1]])
          code.append(Instruction("cast", tile(tiles[t][0], dtype), (t,), dtype))
        case "layout" if tiles:
          t = r.randrange(len(tiles))
          if tiles[t][0][0] % 64 == 0:
            code.append(Instruction("layout", tile(*tiles[t]), (t,), r.choice(["wgmma", "strided"])))
        case "binary" if tiles:
          t = r.randrange(len(tiles))
          other = r.choice([n for n in range(len(tiles)) if tiles[n] == tiles[t]])
          code.append(Instruction("binary", tile(*tiles[t]), (t, other), r.choice(list(_BINARY))))
        case "reduce" if tiles:
          t = r.randrange(len(tiles))
          code.append(Instruction("reduce", tile(*tiles[t]), (t,), (r.choice(_REDUCTIONS), r.choice([0, 1]))))
        case "loop" if tiles:
          t = r.randrange(len(tiles))
          if (n := pick([n for n in readable if self.buffers[n].shape == tiles[t][0]])) is not None:
            code.append(Instruction("loop", tile(*tiles[t]), (t, n), r.randint(1, 3)))
        case "product":
          self._product(code, tiles, readable, tile)
        case "out" if tiles:
          t = r.randrange(len(tiles))
          self.outputs.append(tiles[t])
          code.append(Instruction("out", len(self.outputs) - 1, (t,)))
        case "out_copy" if readable:
          n = r.choice(readable)
          self.outputs.append((self.buffers[n].shape, self.buffers[n].dtype))
          code.append(Instruction("out_copy", len(self.outputs) - 1, (n,)))
    code.extend(Instruction("wait", n) for n in sorted(waiting))
    if tiles and (not self.outputs or r.random() < 0.5):
      self.outputs.append(tiles[-1])
      code.append(Instruction("out", len(self.outputs) - 1, (len(tiles) - 1,)))
    elif is_last:
      n = own[0]
      if n not in filled:
        self.inputs.append((self.buffers[n].shape, self.buffers[n].dtype))
        code.append(Instruction("copy", n, (len(self.inputs) - 1,), (True, 0)))
      self.outputs.append((self.buffers[n].shape, self.buffers[n].dtype))
      code.append(Instruction("out_copy", len(self.outputs) - 1, (n,)))
    return written

  def _product(self, code: list[Instruction], tiles: list[Any], readable: list[int], tile: Any) -> None:
    r = self.r
    found = []
    for n in readable:
      b = self.buffers[n]
      if b.dtype not in _OF_PRODUCTS:
        continue
      for is_transposed in (False, True):
        k, columns = b.shape[::-1] if is_transposed else b.shape
        left = [(False, m) for m in readable if (self.buffers[m].shape[1], self.buffers[m].dtype) == (k, b.dtype)]
        left += [(True, t) for t, (shape, dtype) in enumerate(tiles) if (shape[1], dtype) == (k, b.dtype)]
        for in_registers, a in left:
          rows = tiles[a][0][0] if in_registers else self.buffers[a].shape[0]
          if rows % 64 == 0:
            found.append((in_registers, a, n, is_transposed, (rows, columns)))
    if found:
      in_registers, a, n, is_transposed, shape = r.choice(found)
      how = (in_registers, is_transposed, r.choice([1, 1, 2]))
      code.append(Instruction("product", tile(shape, "float32"), (a, n), how))
