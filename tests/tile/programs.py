"""Random functions of the tile IR, well formed by construction: what printer, parser, verifier and rewrites are tried on."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tilewright.tile.ir import Block, Builder, Function, Value
from tilewright.tile.literal import is_float, is_integer
from tilewright.tile.printer import to_text
from tilewright.tile.types import INDEX, RefType, TileType, Type, dense_strides
from tilewright.tile.verify import verify

DTYPES = [np.dtype(d) for d in (np.float32, np.int32, np.bool_, np.int8, np.uint8, jnp.bfloat16, np.float64, jnp.int4)]
SHAPES = [(), (3,), (2, 3), (1, 3), (4, 2)]
NUMBERS = [0, 1, -1, 2, 3, 7, -8, -0.0, 0.5, 1.5, -2.5, np.inf, -np.inf, np.nan]


def examples(count: int) -> settings:
  return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


class Draw:
  """A function in the making: the values in scope, by block."""

  def __init__(self, draw: Any, control: bool = True):
    self.draw = draw
    self.control = control
    self.function = Function(
      "f", Block.of([self.ref((2, 3), np.float32), self.ref((3,), np.int32), self.ref((4, 2), np.int8)])
    )
    self.b = Builder(self.function.body)
    self.pool: list[Value] = list(self.function.params)
    self.inputs = set(self.pool)

  @staticmethod
  def ref(shape: tuple[int, ...], dtype: Any, space: str = "any") -> RefType:
    return RefType(shape, np.dtype(dtype), space, dense_strides(shape))

  def pick(self, options: Any) -> Any:
    return self.draw(st.sampled_from(list(options)))

  def emit(self, name: str, *operands: Value, **attrs: Any) -> Value:
    value = self.b.emit(name, operands, **attrs)
    self.pool.append(value)
    return value

  def tiles(self, accept: Any = lambda t: True) -> list[Value]:
    return [v for v in self.pool if isinstance(v.type, TileType) and accept(v.type)]

  def refs(self) -> list[Value]:
    return [v for v in self.pool if isinstance(v.type, RefType)]

  def constant(self, ty: TileType) -> Value:
    if is_integer(ty.dtype):
      choices: Any = range(0, 4) if ty.dtype.kind == "u" else range(-4, 4)
    else:
      choices = [False, True] if ty.dtype == np.bool_ else NUMBERS
    if self.draw(st.booleans()) and ty.shape:
      values = np.asarray([self.pick(choices) for _ in range(ty.size)]).reshape(ty.shape).astype(ty.dtype)
      return self.emit("constant", value=values, dtype=ty.dtype)
    scalar = self.emit("constant", value=np.asarray(self.pick(choices)).astype(ty.dtype), dtype=ty.dtype)
    return self.emit("broadcast", scalar, shape=ty.shape, dims=()) if ty.shape else scalar

  def tile(self, ty: Type) -> Value:
    """A value of a type: one that is there, or a constant."""
    assert isinstance(ty, TileType)
    found = self.tiles(lambda t: t == ty)
    return self.pick(found) if found and self.draw(st.integers(0, 3)) else self.constant(ty)

  def any_tile(self) -> Value:
    found = self.tiles()
    if found and self.draw(st.integers(0, 4)):
      return self.pick(found)
    return self.constant(TileType(self.pick(SHAPES), self.pick(DTYPES)))

  # --- ops -------------------------------------------------------------------------------------------------------

  def elementwise(self) -> None:
    x = self.any_tile()
    assert isinstance(x.type, TileType)
    dtype = x.type.dtype
    if dtype == np.bool_:
      names = ["and", "or", "xor", "not", "eq", "ne"]
    elif is_integer(dtype):
      names = [
        "add",
        "add",
        "sub",
        "mul",
        "max",
        "min",
        "and",
        "or",
        "xor",
        "not",
        "neg",
        "abs",
        "sign",
        "eq",
        "lt",
        "ge",
      ]
      names += ["popcount", "clz", "shl", "shr_logical", "shr_arithmetic", "div", "rem"]
    else:
      names = [
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "abs",
        "floor",
        "ceil",
        "round",
        "round_even",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
      ]
      names += ["is_finite", "sign", "exp", "add", "sub", "mul"]
    name = self.pick(names)
    unary = ("not", "neg", "abs", "sign", "popcount", "clz", "floor", "ceil", "round", "round_even", "is_finite", "exp")
    others = [] if name in unary else [self.tile(x.type)]
    self.emit(name, *([*others, x] if self.draw(st.booleans()) else [x, *others]))

  def select(self) -> None:
    x = self.any_tile()
    assert isinstance(x.type, TileType)
    self.emit("select", self.tile(x.type.with_dtype(np.bool_)), x, self.tile(x.type))

  def convert(self) -> None:
    x = self.any_tile()
    # Through NaN or infinity to an integer is a matter of the target; the others are exact or round once.
    wide = [d for d in DTYPES if not is_integer(d)] if is_float(x.type.dtype) else DTYPES
    self.emit("convert", x, dtype=self.pick(wide))

  def move(self) -> None:
    x = self.any_tile()
    assert isinstance(x.type, TileType)
    shape, rank = x.type.shape, x.type.rank
    match self.pick(["reshape", "transpose", "broadcast", "slice", "reverse", "reduce", "iota"]):
      case "reshape":
        options = [shape, (x.type.size,), (1, *shape), shape[::-1]]
        self.emit("reshape", x, shape=self.pick(options))
      case "transpose":
        self.emit("transpose", x, permutation=tuple(self.draw(st.permutations(range(rank)))))
      case "broadcast" if rank < 3:
        self.emit("broadcast", x, shape=(self.pick([1, 2]), *shape), dims=tuple(range(1, rank + 1)))
      case "slice":
        starts = tuple(self.draw(st.integers(0, d)) for d in shape)
        stops = tuple(self.draw(st.integers(s, d)) for s, d in zip(starts, shape))
        whole = self.draw(st.booleans())
        strides = tuple(1 if whole else self.draw(st.integers(1, 2)) for _ in shape)
        self.emit("slice", x, starts=(0,) * rank if whole else starts, stops=shape if whole else stops, strides=strides)
      case "reverse":
        self.emit("reverse", x, axes=tuple(a for a in range(rank) if self.draw(st.booleans())))
      case "reduce" if rank and x.type.size and x.type.dtype in (np.int32, np.int8, np.float32):
        self.emit("reduce", x, kind=self.pick(["sum", "max", "min"]), axes=(self.draw(st.integers(0, rank - 1)),))
      case _:
        self.emit(
          "iota", shape=(2, 3), axis=self.pick([0, 1]), dtype=self.pick([np.dtype(np.int32), np.dtype(np.float32)])
        )

  def position(self) -> None:
    self.emit(self.pick(["program_id", "num_programs"]), axis=self.pick([0, 1]))

  def memory(self) -> None:
    match self.pick(["alloc", "load", "store", "subview", "window_load", "window_store", "print"]):
      case "alloc":
        self.emit("alloc", shape=self.pick(SHAPES), dtype=self.pick(DTYPES), space="scratch")
      case "load":
        self.emit("load", self.pick(self.refs()))
      case "store":
        ref = self.pick(self.refs())
        assert isinstance(ref.type, RefType)
        self.b.emit_all("store", [ref, self.tile(ref.type.tile)])
      case "subview":
        ref = self.pick(self.refs())
        sizes = tuple(self.draw(st.integers(1, d)) for d in ref.type.shape)
        starts = [self.index(self.draw(st.integers(0, d - s))) for s, d in zip(sizes, ref.type.shape)]
        dropped = tuple(a for a, s in enumerate(sizes) if s == 1 and self.draw(st.booleans()))
        self.emit("subview", ref, *starts, sizes=sizes, steps=(1,) * len(sizes), dropped=dropped)
      case "window_load":
        ref = self.pick(self.refs())
        sizes = tuple(self.draw(st.integers(1, 2)) for _ in ref.type.shape)
        dropped = tuple(a for a, s in enumerate(sizes) if s == 1 and self.draw(st.booleans()))
        self.emit(
          "window_load", ref, *(self.tile(INDEX) for _ in sizes), sizes=sizes, steps=(1,) * len(sizes), dropped=dropped
        )
      case "window_store":
        ref = self.pick(self.refs())
        sizes = tuple(self.draw(st.integers(1, 2)) for _ in ref.type.shape)
        value, starts = self.tile(TileType(sizes, ref.type.dtype)), [self.tile(INDEX) for _ in sizes]
        self.b.emit_all("window_store", [ref, value, *starts], sizes=sizes, steps=(1,) * len(sizes), dropped=())
      case "print":
        self.b.emit_all("print", [self.any_tile()], fmt="x // {}\n")

  def index(self, number: int) -> Value:
    return self.emit("constant", value=np.asarray(number, np.int32), dtype=np.dtype(np.int32))

  def flow(self, depth: int) -> None:
    match self.pick(["for", "switch", "while"]):
      case "for":
        carried = [self.any_tile() for _ in range(self.draw(st.integers(0, 2)))]
        bounds = [self.index(self.draw(st.integers(0, 2))), self.index(self.draw(st.integers(0, 4)))]
        block = Block.of([INDEX, *(v.type for v in carried)])
        self.inside(block, depth, [v.type for v in carried])
        self.pool += self.b.emit_all("for", [*bounds, *carried], [block])
      case "switch":
        types = [self.any_tile().type for _ in range(self.draw(st.integers(0, 2)))]
        selector = self.tile(INDEX)
        blocks = [Block.of([]) for _ in range(self.draw(st.integers(1, 3)))]
        for block in blocks:
          self.inside(block, depth, types)
        self.pool += self.b.emit_all("switch", [selector], blocks)
      case "while":  # counts down from a small number, whatever else it carries
        carried = [self.index(self.draw(st.integers(0, 3))), self.any_tile()]
        types = [v.type for v in carried]
        condition, body = Block.of(types), Block.of(types)
        with self.b.into(condition):
          zero = self.b.emit("constant", value=np.asarray(0, np.int32), dtype=np.dtype(np.int32))
          self.b.emit_all("yield", [self.b.emit("gt", [condition.params[0], zero])])
        self.inside(body, depth, types, counts=True)
        self.pool += self.b.emit_all("while", carried, [condition, body])

  def inside(self, block: Block, depth: int, yields: list[Type], counts: bool = False) -> None:
    outer = list(self.pool)
    with self.b.into(block):
      self.pool += block.params
      self.ops(depth - 1, self.draw(st.integers(0, 4)))
      outs = [self.tile(t) for t in yields]
      if counts:
        outs[0] = self.emit("sub", block.params[0], self.index(1))
      if (
        not counts
        and yields
        and isinstance(block.params and block.params[-1].type, TileType)
        and self.draw(st.booleans())
      ):
        outs[-1] = block.params[-1]
      self.b.emit_all("yield", outs)
    self.pool = outer

  def ops(self, depth: int, count: int) -> None:
    for n in range(count):
      self.b.loc = self.pick(["", f"kernel.py:{n}:3 (f)", "a b", ' "quoted"\n'])
      kinds = [
        "elementwise",
        "elementwise",
        "elementwise",
        "select",
        "convert",
        "move",
        "move",
        "memory",
        "memory",
        "position",
      ]
      kind = self.pick([*kinds, *(["flow", "flow"] if depth > 0 and self.control else [])])
      if kind == "flow":
        self.flow(depth)
      else:
        getattr(self, kind)()

  def finish(self) -> Function:
    """What was computed goes to new outputs, so that it can be seen."""
    for v in self.tiles()[-4:]:
      assert isinstance(v.type, TileType)
      out = Value(self.ref(v.type.shape, v.type.dtype), self.function.body)
      self.function.body.params.append(out)
      self.b.emit_all("store", [out, v])
    return self.function


@st.composite
def functions(draw: Any) -> Function:
  """A kernel body with up to a dozen ops at the top, and nested ones. What the builder makes, the verifier accepts."""
  made = Draw(draw)
  made.ops(2, draw(st.integers(1, 12)))
  function = made.finish()
  verify(function, "lowered")
  return function


def texts() -> st.SearchStrategy[str]:
  """The same as text, which a failing example shows in full."""
  return functions().map(to_text)
