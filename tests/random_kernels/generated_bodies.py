"""Random bodies of kernels: straight-line code over typed values, with loops, branches and round trips through scratch memory.

A body is data (`Block` of `Instruction`s), so that it can be printed, cut down, run by JAX inside a kernel and by the oracle. Each value
knows what its generator must keep: a bound of its magnitude, and whether it is `sure`: computed without rounding. Only sure values decide
(comparisons, sorts, conversions to integers, counts of loops), so a rounding never changes which path the oracle takes.

Complex numbers, and floats that may be NaN, infinite, subnormal or -0 (`special`), are odd: only rules that know what to do with them see
them.
"""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import jax.numpy as jnp

from .numbers import EXACT, LARGEST, is_float, is_inexact

SIGNED = ["int4", "int8", "int16", "int32"]
UNSIGNED = ["uint4", "uint8", "uint16", "uint32"]
FLOATS = ["float32", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
RARE = ["float8_e4m3fnuz", "float8_e5m2fnuz"]
DTYPES = ["bool", *SIGNED, "int32", *UNSIGNED, *FLOATS]
WIDE_DTYPES = [*DTYPES, *["int64", "uint64", "float64"] * 2]  # with jax_enable_x64


@dataclasses.dataclass(frozen=True)
class Type:
  shape: tuple[int, ...]
  dtype: str
  bound: float = 0.0  # of a float's magnitude
  sure: bool = True  # computed without rounding
  special: str = ""  # a float that may be NaN or infinite; "signed" where its zeros have a known sign

  @property
  def is_odd(self) -> bool:
    return bool(self.special) or self.dtype == "complex64"

  def __str__(self) -> str:
    return f"{self.dtype}{list(self.shape)}"


@dataclasses.dataclass(frozen=True)
class Instruction:
  name: int
  op: str
  args: tuple[int, ...]
  attributes: dict[str, Any]
  type: Type
  blocks: tuple[Block, ...] = ()

  def lines(self, indent: str = "") -> list[str]:
    given = ", ".join([f"v{a}" for a in self.args] + [f"{k}={v}" for k, v in self.attributes.items()])
    lines = [f"{indent}v{self.name}: {self.type} = {self.op}({given})"]
    for block in self.blocks:
      lines += [f"{indent}  block({', '.join(f'v{p}' for p in block.params)}):", *block.lines(indent + "    ")]
    return lines


@dataclasses.dataclass(frozen=True)
class Block:
  params: tuple[int, ...]
  body: tuple[Instruction, ...]
  result: int

  def lines(self, indent: str = "") -> list[str]:
    return [line for i in self.body for line in i.lines(indent)] + [f"{indent}yield v{self.result}"]


def used(instructions: list[Instruction], wanted: set[int]) -> list[Instruction]:
  """The instructions that `wanted` needs, and those that write memory."""
  kept, wanted = [], set(wanted)
  for instruction in reversed(instructions):
    if instruction.name in wanted or writes_memory(instruction):
      kept.append(instruction)
      wanted |= set(instruction.args) | {v for b in instruction.blocks for v in _free(b)}
  return kept[::-1]


def writes_memory(i: Instruction) -> bool:
  return i.op in ("put", "increase", "shift") or any(writes_memory(x) for b in i.blocks for x in b.body)


def _free(block: Block) -> set[int]:
  names = {block.result}
  for i in block.body:
    names |= set(i.args) | {v for b in i.blocks for v in _free(b)}
  return names


class Writer:
  """Appends random instructions; `pool` are the values in scope."""

  def __init__(self, rng: random.Random, first_name: int = 0) -> None:
    self.rng, self.body, self.types = rng, [], {}
    self.pool: list[int] = []
    self.next = first_name
    self.scratch: list[Type] = []
    self.uses: set[int] = set()
    self.far: list[tuple[int, Type]] = []
    self.kept: list[Type] = []
    self.memories: list[Type] = []  # scratch that is written and read in parts, in any order, also in loops
    self.semaphores = 0
    self.states: tuple[int, ...] | None = None  # prefetched scalars that may be written
    self.changes_state = False
    self.dtypes, self.elements = DTYPES, 600  # what values may be, and the most elements of one

  def param(self, type: Type) -> int:
    name, self.next = self.next, self.next + 1
    self.types[name] = type
    self.pool.append(name)
    return name

  def emit(self, op: str, args: tuple[int, ...], type: Type, blocks: tuple[Block, ...] = (), **attributes: Any) -> int:
    name = self.param(type)
    self.body.append(Instruction(name, op, args, attributes, type, blocks))
    self.uses |= set(args) | {v for b in blocks for v in _free(b)}
    if is_inexact(type.dtype):
      limit = EXACT[type.dtype] if type.sure else LARGEST[type.dtype]
      if type.bound > limit:
        raise AssertionError(f"{op} may leave {type.dtype}")
    return name

  def effect(self, op: str, args: tuple[int, ...], **attributes: Any) -> None:
    """An instruction without a value."""
    name, self.next = self.next, self.next + 1
    self.body.append(Instruction(name, op, args, attributes, Type((), "nothing")))
    self.uses |= set(args)

  def some(self, wanted=lambda t: True, odd: bool = False) -> int | None:
    """A value in scope; those that nothing uses yet are preferred, so that little of a program is dead."""
    names = [n for n in self.pool if (odd or not self.types[n].is_odd) and wanted(self.types[n])]
    if not names:
      return None
    if self.rng.random() < 0.7:
      names = [n for n in names if n not in self.uses] or names
    return self.rng.choice(names)

  def like(self, name: int) -> int:
    """Another value of the same shape and dtype, or the same."""
    t = self.types[name]
    alike = lambda u: (u.shape, u.dtype, bool(u.special)) == (t.shape, t.dtype, bool(t.special))
    others = [n for n in self.pool if n != name and alike(self.types[n])]
    return self.rng.choice(others) if others else name

  def index(self) -> int:
    """An int32 scalar."""
    found = self.some(lambda t: t.shape == () and t.dtype == "int32")
    return (
      self.emit("constant", (), Type((), "int32"), shape=(), value=self.rng.randrange(5), dtype="int32")
      if found is None
      else found
    )

  def bounded(self, name: int, limit: float) -> int:
    """The value, clipped if it can pass `limit`."""
    t = self.types[name]
    if t.bound <= limit:
      return name
    limit = 2.0 ** math.floor(math.log2(limit))  # which every format holds
    return self.emit("clip", (name,), dataclasses.replace(t, bound=limit), low=-limit, high=limit)

  def write(self, count: int, depth: int = 0) -> None:
    done = 0
    while done < count:
      rule = self.rng.choice(RULES if depth < 2 else [*PLAIN, *ODD])
      before = len(self.body)
      rule(self, depth)
      done += len(self.body) > before


def _limit(t: Type) -> float:
  return EXACT[t.dtype] if t.sure else LARGEST[t.dtype]


def binary(w: Writer, _: int) -> None:
  a = w.some()
  b = w.like(a)
  s, t = w.types[a], w.types[b]
  if s.dtype == "bool":
    w.emit(w.rng.choice(["and", "or", "xor"]), (a, b), s)
  elif not is_float(s.dtype):
    w.emit(w.rng.choice(["add", "sub", "mul", "max", "min", "and", "or", "xor"]), (a, b), s)
  else:
    op = w.rng.choice(["add", "sub", "mul", "max", "min", "quotient"])
    if op == "quotient":
      w.emit(op, (a, b), Type(s.shape, s.dtype, s.bound, False))
      return
    sure = s.sure and t.sure
    bound = {"add": s.bound + t.bound, "sub": s.bound + t.bound, "mul": s.bound * t.bound}.get(
      op, max(s.bound, t.bound)
    )
    if bound > _limit(Type((), s.dtype, 0, sure)):
      half = math.floor(math.sqrt(_limit(Type((), s.dtype, 0, sure)) / 2))
      a, b = w.bounded(a, half), w.bounded(b, half)
      bound = 2 * half if op in ("add", "sub") else half * half
      bound = bound if op in ("add", "sub", "mul") else half
    w.emit(op, (a, b), Type(s.shape, s.dtype, bound, sure))


def unary(w: Writer, _: int) -> None:
  a = w.some()
  t = w.types[a]
  if t.dtype == "bool":
    w.emit("not", (a,), t)
  elif not is_float(t.dtype):
    bits = jnp.iinfo(t.dtype).bits
    choices = ["not", "shift_left", "shift_right", "mod", "floor_divide", "rem", "mask", "clip"]
    op = w.rng.choice(choices + ([] if t.dtype.startswith("u") else ["neg"] if bits == 4 else ["neg", "abs", "sign"]))
    if op in ("not", "neg", "abs", "sign"):
      w.emit(op, (a,), t)
    elif op.startswith("shift"):
      w.emit(op, (a,), t, by=w.rng.randrange(bits))
    elif op == "clip":
      low = w.rng.randrange(0, 20 if bits > 4 else 4)
      w.emit(op, (a,), t, low=low, high=low + w.rng.randrange(40 if bits > 4 else 4))
    else:
      by = w.rng.choice([1, 2, 3, 5, 7] + ([8, 13, 16, 100] if bits > 4 else []))
      w.emit(op, (a,), t, by=-by if t.dtype.startswith("i") and op != "mask" and w.rng.random() < 0.3 else by)
  else:
    op = w.rng.choice(["neg", "abs", "tanh", "exp", "sqrt"] + (["sign"] if t.sure else []))
    bound = {"tanh": 2.0, "exp": 4.0, "sqrt": t.bound + 2, "sign": 1.0}.get(op, t.bound)
    if op == "sqrt" and t.bound + 2 > LARGEST[t.dtype]:
      return
    sure = t.sure and op in ("neg", "abs", "sign")
    w.emit(op, (a,), Type(t.shape, t.dtype, bound, sure))


def convert(w: Writer, _: int) -> None:
  a = w.some()
  t, to = w.types[a], w.rng.choice(w.dtypes)
  if to == t.dtype:
    return
  if to == "bool" or (not is_float(to) and not is_float(t.dtype)):
    if t.sure:
      w.emit("convert", (a,), Type(t.shape, to), to=to)
  elif not is_float(to):
    if t.sure:
      fits = min(jnp.iinfo(to).max, 2**20)
      a = w.bounded(a, min(fits, t.bound))
      a = w.emit("abs", (a,), w.types[a]) if to.startswith("u") else a
      w.emit("convert", (a,), Type(t.shape, to), to=to)
  elif not is_float(t.dtype):
    bound = 1.0
    if t.dtype != "bool":
      mask = w.rng.choice([3, 7, 7, 15 if EXACT[to] > 8 and not t.dtype.endswith("int4") else 7])
      a, bound = w.emit("mask", (a,), t, by=mask), float(mask)
    w.emit("convert", (a,), Type(t.shape, to, bound), to=to)
  else:
    if t.sure:
      a = w.bounded(a, EXACT[to])
    else:
      a = w.bounded(a, LARGEST[to])
    w.emit("convert", (a,), Type(t.shape, to, w.types[a].bound, t.sure), to=to)


def compare(w: Writer, _: int) -> None:
  a = w.some(lambda t: t.sure)
  if a is None:
    return
  t = w.types[a]
  b = w.some(lambda u: (u.shape, u.dtype, u.sure) == (t.shape, t.dtype, True))
  w.emit(w.rng.choice(["eq", "ne"] if t.dtype == "bool" else ["lt", "le", "eq", "ne"]), (a, b), Type(t.shape, "bool"))


def select(w: Writer, _: int) -> None:
  p = w.some(lambda t: t.dtype == "bool")
  if p is None:
    return
  shape = w.types[p].shape
  a = w.some(lambda t: t.shape == shape, odd=True)
  b = w.like(a)
  s, t = w.types[a], w.types[b]
  special = max(s.special, t.special, key=len)  # "unsigned" where either is
  w.emit("select", (p, a, b), Type(shape, s.dtype, max(s.bound, t.bound), s.sure and t.sure, special))


def reduce(w: Writer, _: int) -> None:
  a = w.some(lambda t: t.shape)
  if a is None:
    return
  t = w.types[a]
  axis = w.rng.randrange(len(t.shape))
  shape = t.shape[:axis] + t.shape[axis + 1 :]
  op = w.rng.choice(
    ["any", "all"] if t.dtype == "bool" else ["sum", "sum", "reduce_max", "reduce_min", "argmax", "argmin"]
  )
  if op.startswith("arg"):
    if t.sure:
      w.emit(op, (a,), Type(shape, "int32"), axis=axis)
    return
  bound = t.bound
  if op == "sum" and is_float(t.dtype):
    if t.shape[axis] > _limit(t):
      return
    each = min(t.bound, math.floor(_limit(t) / t.shape[axis]))
    a, bound = w.bounded(a, each), each * t.shape[axis]
  w.emit(op, (a,), Type(shape, t.dtype, bound, t.sure), axis=axis)


def along_axis(w: Writer, _: int) -> None:
  a = w.some(lambda t: t.shape and t.dtype != "bool")
  if a is None:
    return
  t = w.types[a]
  axis = w.rng.randrange(len(t.shape))
  op = w.rng.choice(["cumsum", "sort"])
  if op == "sort":
    if t.sure:
      w.emit("sort", (a,), t, axis=axis)
    return
  bound = t.bound
  if is_float(t.dtype):
    if t.shape[axis] > _limit(t):
      return
    each = min(t.bound, math.floor(_limit(t) / t.shape[axis]))
    a, bound = w.bounded(a, each), each * t.shape[axis]
  w.emit("cumsum", (a,), Type(t.shape, t.dtype, bound, t.sure), axis=axis)


def dot(w: Writer, _: int) -> None:
  a = w.some(lambda t: len(t.shape) == 2 and t.dtype in ("int8", "float32", "bfloat16", "float16", "float8_e4m3fn"))
  if a is None:
    return
  s = w.types[a]
  b = w.some(lambda t: len(t.shape) == 2 and t.dtype == s.dtype and t.shape[0] == s.shape[1])
  if b is None:
    columns = w.some(lambda t: len(t.shape) == 2 and t.dtype == s.dtype and t.shape[1] == s.shape[1])
    t = w.types[columns]
    b = w.emit("transpose", (columns,), dataclasses.replace(t, shape=t.shape[::-1]), axes=(1, 0))
  to = "int32" if s.dtype == "int8" else "float32"
  t = w.types[b]
  shape, sure = (s.shape[0], t.shape[1]), s.sure and t.sure
  if math.prod(shape) > w.elements:
    return
  if is_float(s.dtype):
    a, b = w.bounded(a, min(s.bound, 100.0)), w.bounded(b, min(t.bound, 100.0))
  w.emit("dot", (a, b), Type(shape, to, w.types[a].bound * w.types[b].bound * s.shape[1], sure), to=to)


def complexes(w: Writer, _: int) -> None:
  """Complex numbers from parts, sums, products, and their parts again."""
  a = w.some(lambda t: t.dtype == "complex64", odd=True)
  if a is None or w.rng.random() < 0.25:
    a = w.some(lambda t: t.dtype == "float32")
    if a is not None:
      b = w.like(a)
      s, t = w.types[a], w.types[b]
      bound = 2 * max(s.bound, t.bound)
      if bound <= EXACT["complex64"] if s.sure and t.sure else bound <= LARGEST["complex64"]:
        w.emit("complex", (a, b), Type(s.shape, "complex64", bound, s.sure and t.sure))
    return
  b = w.like(a)
  s, t = w.types[a], w.types[b]
  sure = s.sure and t.sure
  op = w.rng.choice(["add", "sub", "mul", "mul", "neg", "conj", "real", "imag", "sum", "eq"])
  limit = _limit(Type((), "complex64", 0, sure)) / 2
  match op:
    case "add" | "sub" | "mul":
      bound = s.bound * t.bound if op == "mul" else s.bound + t.bound
      if bound <= limit:
        w.emit(op, (a, b), Type(s.shape, s.dtype, bound, sure))
    case "neg" | "conj":
      w.emit(op, (a,), s)
    case "real" | "imag":
      w.emit(op, (a,), Type(s.shape, "float32", s.bound, s.sure))
    case "sum" if s.shape:
      axis = w.rng.randrange(len(s.shape))
      if s.bound * s.shape[axis] <= limit:
        shape = s.shape[:axis] + s.shape[axis + 1 :]
        w.emit("sum", (a,), Type(shape, s.dtype, s.bound * s.shape[axis], s.sure), axis=axis)
    case "eq" if sure:
      w.emit(w.rng.choice(["eq", "ne"]), (a, b), Type(s.shape, "bool"))


def specials(w: Writer, _: int) -> None:
  """What is done to floats that may be NaN, infinite, subnormal or -0."""
  a = w.some(lambda t: t.special, odd=True)
  if a is None:
    return
  b = w.like(a)
  s = w.types[a]
  op = w.rng.choice(["neg", "abs", "max", "min", "lt", "le", "eq", "ne", "is_nan", "is_finite", "sign_bit", "tame"])
  match op:
    case "neg" | "abs":
      w.emit(op, (a,), s)
    case "max" | "min":  # of 0 and -0 either
      w.emit(op, (a, b), dataclasses.replace(s, special="unsigned"))
    case "lt" | "le" | "eq" | "ne":
      w.emit(op, (a, b), Type(s.shape, "bool"))
    case "is_nan" | "is_finite":
      w.emit(op, (a,), Type(s.shape, "bool"))
    case "sign_bit" if s.special == "signed" and not s.dtype.startswith("float8"):
      w.emit(op, (a,), Type(s.shape, "bool"))
    case "tame":
      w.emit(op, (a,), Type(s.shape, s.dtype, 4.0, False))


def move(w: Writer, _: int) -> None:
  a = w.some(lambda t: t.shape, odd=True)
  if a is None:
    return
  t, rng = w.types[a], w.rng
  axis = rng.randrange(len(t.shape))
  size = t.shape[axis]

  def shaped(*shape: int) -> Type:
    return dataclasses.replace(t, shape=tuple(shape))

  def along(new: int) -> Type:
    return shaped(*t.shape[:axis], new, *t.shape[axis + 1 :])

  match rng.randrange(11):
    case 0:
      shape = [d for d in t.shape if d != 1] or [1]
      if rng.random() < 0.5:
        shape = [math.prod(shape)]
      else:
        shape.insert(rng.randrange(len(shape) + 1), 1)
      w.emit("reshape", (a,), shaped(*shape), shape=tuple(shape))
    case 1:
      axes = tuple(rng.sample(range(len(t.shape)), len(t.shape)))
      w.emit("transpose", (a,), shaped(*(t.shape[x] for x in axes)), axes=axes)
    case 2 if math.prod(t.shape) <= w.elements // 4 and len(t.shape) < 3:
      at, new = rng.randrange(len(t.shape) + 1), rng.randint(1, 4)
      shape = (*t.shape[:at], new, *t.shape[at:])
      w.emit("broadcast", (a,), shaped(*shape), shape=shape, axes=tuple(i for i in range(len(shape)) if i != at))
    case 3:
      starts = [rng.randrange(d) for d in t.shape]
      stops = [rng.randint(s + 1, d) for s, d in zip(starts, t.shape)]
      steps = [rng.choice([1, 1, 2, 3]) for _ in t.shape]
      shape = tuple(-(-(e - s) // p) for s, e, p in zip(starts, stops, steps))
      w.emit("slice", (a,), shaped(*shape), starts=starts, stops=stops, steps=steps)
    case 4:
      part = rng.randint(1, size)
      w.emit("dynamic_slice", (a, w.index()), along(part), axis=axis, size=part)
    case 5 if math.prod(t.shape) <= w.elements // 2:
      b = w.some(
        lambda u: (
          (u.dtype, u.special) == (t.dtype, t.special)
          and len(u.shape) == len(t.shape)
          and all(x == y or i == axis for i, (x, y) in enumerate(zip(u.shape, t.shape)))
        ),
        odd=True,
      )
      u = w.types[b]
      if math.prod(u.shape) > w.elements // 2:
        return
      w.emit(
        "concatenate",
        (a, b),
        Type(along(size + u.shape[axis]).shape, t.dtype, max(t.bound, u.bound), t.sure and u.sure, t.special),
        axis=axis,
      )
    case 6:
      w.emit("reverse", (a,), t, axis=axis)
    case 7:
      w.emit("roll", (a,), t, by=rng.randint(-5, 5), axis=axis)
    case 8 if math.prod(t.shape) <= w.elements // 4 and t.dtype != "bool":
      pads = [(rng.randrange(2), rng.randrange(3)) if i == axis else (0, 0) for i in range(len(t.shape))]
      w.emit("pad", (a,), along(size + sum(pads[axis])), pads=pads)
    case 9:
      i = w.some(
        lambda u: (
          len(u.shape) == 1
          and not is_float(u.dtype)
          and u.dtype != "bool"
          and u.shape[0] * math.prod(t.shape) <= w.elements * size
        )
      )
      if i is not None:
        w.emit("gather", (a, i), along(w.types[i].shape[0]), axis=axis)
    case 10:
      i = w.some(lambda u: u.shape == t.shape and not is_float(u.dtype) and u.dtype != "bool")
      if i is not None:
        w.emit("along", (a, i), t, axis=axis)


def splat(w: Writer, _: int) -> None:
  shape = w.types[w.some()].shape
  s = w.some(lambda t: t.shape == ())
  if s is not None and shape:
    w.emit("broadcast", (s,), dataclasses.replace(w.types[s], shape=shape), shape=shape, axes=())


def iota(w: Writer, _: int) -> None:
  shape = w.types[w.some()].shape
  if shape:
    axis = w.rng.randrange(len(shape))
    w.emit("iota", (), Type(shape, "int32"), dtype="int32", shape=shape, axis=axis)


def through_memory(w: Writer, _: int) -> None:
  """Stored to scratch, and read again in part or after a DMA."""
  a = w.some(lambda t: t.shape, odd=True)
  if a is None:
    return
  t = w.types[a]
  slot = len(w.scratch)
  how = w.rng.choice(["whole", "row", "window", "dma", "dma_row", "strided"])
  w.scratch += [t, t] if how.startswith("dma") else [t]
  match how:
    case "whole" | "dma":
      w.emit(how, (a,), t, slot=slot)
    case "row" | "dma_row":
      w.emit(how, (a, w.index()), dataclasses.replace(t, shape=t.shape[1:] if how == "row" else t.shape), slot=slot)
    case "window":
      size = w.rng.randint(1, t.shape[-1])
      w.emit("window", (a, w.index()), dataclasses.replace(t, shape=(*t.shape[:-1], size)), slot=slot, size=size)
    case "strided":
      start = w.rng.randrange(t.shape[0])
      size = -(-(t.shape[0] - start) // 2)
      w.emit("strided", (a,), dataclasses.replace(t, shape=(size, *t.shape[1:])), slot=slot, start=start, size=size)


def fetch(w: Writer, _: int) -> None:
  """A DMA of some rows of an array in HBM, from a row that is computed."""
  if not w.far or w.rng.random() < 0.3:
    shape = tuple(w.rng.choice([1, 2, 3, 5, 8, 13]) for _ in range(w.rng.randint(1, 3)))
    dtype = w.rng.choice(w.dtypes)
    w.far.append((len(w.far), Type(shape, dtype, 7.0 if is_float(dtype) else 0.0)))
  array, t = w.rng.choice(w.far)
  size = w.rng.randint(1, t.shape[0])
  t = dataclasses.replace(t, shape=(size, *t.shape[1:]))
  w.emit("fetch", (w.index(),), t, array=array, slot=len(w.scratch), size=size)
  w.scratch.append(t)


def history(w: Writer, depth: int) -> None:
  """What the same value was in the grid step before, zeros in the first: scratch that lives through the grid."""
  a = w.some(lambda t: t.shape, odd=True) if depth == 0 else None
  if a is not None:
    w.emit("history", (a,), w.types[a], slot=len(w.kept))
    w.kept.append(w.types[a])


def count(w: Writer, depth: int) -> None:
  """A semaphore that lives through the grid: it is signalled, waited for, and read."""
  if depth == 0:
    signals = w.rng.randint(1, 4)
    w.emit("count", (), Type((), "int32"), slot=w.semaphores, signals=signals, waits=w.rng.randint(0, signals))
    w.semaphores += 1


def state(w: Writer, depth: int) -> None:
  """A prefetched scalar that lives through the grid: an earlier step's number is read, and another one written."""
  if depth == 0 and w.states is not None:
    w.emit("state", (w.index(),), Type((), "int32"), slot=w.rng.randrange(len(w.states)))
    w.changes_state = True


def _part(w: Writer, shape: tuple[int, ...], sizes: tuple[int, ...] | None = None):
  """A window of memory, of `sizes` if given: for each dimension a slice or a number, its start written or computed."""
  window, args, found = [], [], []
  for d, n in enumerate(shape):
    size = w.rng.randint(1, n) if sizes is None else sizes[d]
    step = w.rng.choice([s for s in (1, 1, 2, 3) if (size - 1) * s < n])
    last = n - (size - 1) * step - 1
    if w.rng.random() < 0.4:
      window.append(("computed", len(args), size, step, last + 1))
      args.append(w.index())
    elif sizes is None and w.rng.random() < 0.3:
      window.append(("number", w.rng.randrange(n)))
      continue
    else:
      window.append(("slice", w.rng.randint(0, last), size, step))
    found.append(size)
  return tuple(window), tuple(args), tuple(found)


def memory(w: Writer, depth: int) -> None:
  """Loads, stores, updates and overlapping copies of parts of one scratch buffer: what is read before a store must not see it."""
  if depth == 0 and (not w.memories or w.rng.random() < 0.2):
    a = w.some(lambda t: t.shape)
    if a is None:
      return
    t = w.types[a]
    if is_float(t.dtype):
      a = w.bounded(a, min(8.0, EXACT[t.dtype] / 2))
      t = Type(t.shape, t.dtype, min(8.0, EXACT[t.dtype] / 2), t.sure)
    w.memories.append(t)
    whole = tuple(("slice", 0, n, 1) for n in t.shape)
    w.effect("put", (a,), slot=len(w.memories) - 1, window=whole)
    return
  if not w.memories:
    return
  slot = w.rng.randrange(len(w.memories))
  t = w.memories[slot]
  window, args, shape = _part(w, t.shape)
  kind = w.rng.choice(["get", "get", "put", "put", "increase", "shift", "shift"])
  if kind == "get":
    w.emit("get", args, dataclasses.replace(t, shape=shape), slot=slot, window=window)
    return
  if kind == "shift":
    sizes = tuple(w.rng.randint(1, n) for n in t.shape)
    (window, args, _), (source, more, _) = _part(w, t.shape, sizes), _part(w, t.shape, sizes)
    w.effect("shift", (*args, *more), slot=slot, window=window, source=source, split=len(args))
    return
  a = w.some(lambda u: (u.shape, u.dtype) == (shape, t.dtype) and (u.sure or not t.sure))
  if a is None:
    b = w.some(lambda u: (u.shape, u.dtype) == ((), t.dtype) and (u.sure or not t.sure)) if shape else None
    if b is None:
      return
    a = w.emit("broadcast", (b,), dataclasses.replace(w.types[b], shape=shape), shape=shape, axes=())
  if is_float(t.dtype):
    a = w.bounded(a, t.bound)
  w.effect(kind, (a, *args), slot=slot, window=window, most=t.bound)


def _carried(w: Writer, depth: int, params: list[Type], carry: int, captured: list[int]) -> tuple[Block, Type]:
  """A block whose result is again of the type of its parameter number `carry`."""
  inner = Writer(w.rng, w.next)
  inner.types, inner.pool, inner.scratch = dict(w.types), list(captured), w.scratch
  inner.far, inner.dtypes, inner.elements, inner.memories = w.far, w.dtypes, w.elements, w.memories
  names = [inner.param(p) for p in params]
  inner.write(w.rng.randint(1, 4), depth + 1)
  t = params[carry]
  found = inner.some(lambda u: (u.shape, u.dtype) == (t.shape, t.dtype) and (u.sure or not t.sure))
  if is_float(t.dtype):
    found = inner.bounded(found, t.bound)
  w.next = inner.next
  return Block(tuple(names), tuple(inner.body), found), t


def _carry(w: Writer) -> tuple[int, Type] | None:
  a = w.some(lambda t: t.shape)
  if a is None:
    return None
  t = w.types[a]
  if not is_float(t.dtype):
    return a, t
  bound = 8.0 if t.sure else 4.0
  a = w.bounded(a, bound)
  sure = t.sure and w.rng.random() < 0.6
  return a, Type(t.shape, t.dtype, bound, sure)


def loop(w: Writer, depth: int) -> None:
  """fori_loop with a static or a dynamic count, or while_loop."""
  found = _carry(w)
  if found is None:
    return
  a, t = found
  captured = list(w.pool)
  kind = w.rng.choice(["fori", "fori_dynamic", "while", "scan"])
  if kind == "scan":
    xs = w.some(lambda u: len(u.shape) > 1)
    if xs is None:
      return
    x = w.types[xs]
    block, _ = _carried(w, depth, [dataclasses.replace(x, shape=x.shape[1:]), t], 1, captured)
    w.emit("scan", (a, xs), t, (block,))
    return
  args = (a,) if kind == "fori" else (a, w.index())
  block, _ = _carried(w, depth, [Type((), "int32"), t], 1, captured)
  attributes = (
    {"count": w.rng.randrange(5), "unroll": w.rng.choice([False, False, True])}
    if kind == "fori"
    else {"most": w.rng.randint(1, 5)}
  )
  w.emit(kind, args, t, (block,), **attributes)


def branch(w: Writer, depth: int) -> None:
  found = _carry(w)
  if found is None:
    return
  a, t = found
  captured, choices = list(w.pool), w.rng.randint(2, 3)
  i = w.index()
  blocks = tuple(_carried(w, depth, [t], 0, captured)[0] for _ in range(choices))
  w.emit("branch", (a, i), t, blocks)


PLAIN = [
  binary,
  binary,
  binary,
  unary,
  unary,
  convert,
  convert,
  compare,
  select,
  select,
  reduce,
  reduce,
  along_axis,
  dot,
  move,
  move,
  move,
  splat,
  iota,
]
ODD = [complexes, specials]
RULES = [*PLAIN, *ODD, through_memory, memory, memory, memory, fetch, history, count, state, loop, loop, branch]
