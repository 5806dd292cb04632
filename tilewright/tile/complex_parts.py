"""A pass that splits each complex tile into two real ones, so that no target needs to support complex numbers.

A tile of c64 becomes a tile of real and one of imaginary parts; a ref to c64 becomes a ref to f32 with a last dimension of two, which is
the memory layout of complex numbers:

    %z = load %ref : 8xc64        becomes        %x = load (subview %ref [.., 0]) : 8xf32,  %y = load (subview %ref [.., 1]) : 8xf32

`split` rebuilds a whole kernel this way: its arrays, blocks and scratch memory too. Ops that only move elements, and additions, apply to
both parts separately; the others are rows of tables here and in `complex_functions`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.tile.complex_functions import (
  BINARY,
  COMPARE,
  FUNCTIONS,
  Complex,
  Real,
  integer_power,
  magnitude,
)
from tilewright.tile.grid import Blocked, BlockMapping
from tilewright.tile.ir import Block, Builder, Function, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import INDEX, RefType, TileType, Type

_PARTS = (0, 1)


def is_complex(ty: Type) -> bool:
  return isinstance(ty, TileType | RefType) and np.dtype(ty.dtype).kind == "c"


def part_dtype(dtype: Any) -> np.dtype:
  """The dtype of a complex number's parts."""
  return np.dtype(f"f{np.dtype(dtype).itemsize // 2}")


def _types(ty: Type) -> list[Type]:
  """The types that replace a type: itself, or two for a complex tile."""
  if not is_complex(ty):
    return [ty]
  if isinstance(ty, TileType):
    return [ty.with_dtype(part_dtype(ty.dtype))] * 2
  assert isinstance(ty, RefType)
  strides = (*(2 * s for s in ty.strides), 1)
  return [RefType((*ty.shape, 2), part_dtype(ty.dtype), ty.space, strides)]


# --- a kernel ------------------------------------------------------------------------------------------------------


def split(kernel: NativeKernel) -> NativeKernel:
  """The same kernel without complex numbers. A kernel that has none is returned unchanged."""
  values = [*kernel.body.params, *(v for op in walk(kernel.body.body) for v in op.results)]
  if not any(is_complex(v.type) for v in values):
    return kernel
  mapping = kernel.mapping
  body = Function(kernel.body.name, Block.of([t for p in kernel.body.params for t in _types(p.type)]))
  splitter = _Splitter(Builder(body.body))
  splitter.bind(kernel.body.params, body.params)
  splitter.block(kernel.body.body)
  for m, index_map in zip(mapping.block_mappings, kernel.index_maps):
    if index_map is not None and np.dtype(m.array_aval.dtype).kind == "c":
      _index_both_parts(index_map)
  return dataclasses.replace(
    kernel,
    body=body,
    mapping=dataclasses.replace(mapping, block_mappings=tuple(map(_split_mapping, mapping.block_mappings))),
    scratch=tuple(t for ty in kernel.scratch for t in _types(ty)),
  )


def _split_mapping(m: BlockMapping) -> BlockMapping:
  aval = m.array_aval
  if np.dtype(aval.dtype).kind != "c":
    return m
  array = jax.ShapeDtypeStruct((*aval.shape, 2), part_dtype(aval.dtype))
  return dataclasses.replace(m, array_aval=array, block_shape=(*m.block_shape, Blocked(2)))


def _index_both_parts(index_map: Function) -> None:
  """Along the new dimension there is one block, with both parts."""
  terminator = index_map.body.ops.pop()
  builder = Builder(index_map.body)
  zero = builder.emit("constant", [], value=np.asarray(0, np.int32), dtype=np.dtype(np.int32))
  builder.emit_all("yield", [*terminator.operands, zero])


# --- a function ----------------------------------------------------------------------------------------------------

_COMPONENTWISE = {
  *("layout_cast", "broadcast", "reshape", "transpose", "slice", "reverse", "dynamic_slice", "take"),
  *("concatenate", "pad", "dynamic_update_slice", "select", "gather"),
}
_SUMS = ("reduce", "cumulative", "scatter")  # which are componentwise where they add or replace


class _Splitter:
  """Rebuilds ops; `env` maps each value of the original function to its replacements."""

  def __init__(self, builder: Builder):
    self.b = builder
    self.env: dict[Value, list[Value]] = {}

  def bind(self, old: Sequence[Value], new: Sequence[Value]) -> None:
    left = iter(new)
    for v in old:
      self.env[v] = [next(left) for _ in _types(v.type)]

  def one(self, v: Value) -> Value:
    (value,) = self.env[v]
    return value

  def all(self, values: Sequence[Value]) -> list[Value]:
    return [part for v in values for part in self.env[v]]

  def complex(self, v: Value) -> Complex:
    re, im = self.env[v]
    return Complex(Real(self.b, re), Real(self.b, im))

  def block(self, block: Block) -> None:
    for op in block.ops:
      with self.b.at(op.loc):
        self.op(op)

  def op(self, op: Op) -> None:
    involved = any(is_complex(v.type) for v in (*op.operands, *op.results))
    if op.blocks or op.name == "yield" or not involved:
      results = self.b.emit_all(op.name, self.all(op.operands), [self.nested(inner) for inner in op.blocks], **op.attrs)
      self.bind(op.results, results)
      return
    if op.name in _COMPONENTWISE or (op.name in _SUMS and op.attrs["kind"] in ("sum", "set")):
      self.env[op.result] = [self.b.emit(op.name, self.part(op.operands, k), **op.attrs) for k in _PARTS]
    elif op.name in FUNCTIONS:
      self.give(op, FUNCTIONS[op.name](self.complex(op.operands[0])))
    elif op.name in BINARY:
      self.give(op, BINARY[op.name](*map(self.complex, op.operands)))
    elif op.name in COMPARE:
      self.env[op.result] = [COMPARE[op.name](*map(self.complex, op.operands)).value]
    elif op.name in _RULES:
      _RULES[op.name](self, op)
    else:
      self.refuse(op)

  def refuse(self, op: Op) -> None:
    kind = f" of kind '{op.attrs['kind']}'" if "kind" in op.attrs else ""
    raise errors.NativeCodeError(
      f"'{op.name}'{kind} of complex numbers at {op.loc or '?'} cannot be compiled to native code yet. Pass interpret=True."
    )

  def give(self, op: Op, z: Complex) -> None:
    self.env[op.result] = [z.re.value, z.im.value]

  def nested(self, block: Block) -> Block:
    new = Block.of([t for p in block.params for t in _types(p.type)])
    self.bind(block.params, new.params)
    with self.b.into(new):
      self.block(block)
    return new

  def part(self, values: Sequence[Value], k: int) -> list[Value]:
    """One part of each complex operand; the others (indices, conditions) as they are."""
    return [self.env[v][k if is_complex(v.type) else 0] for v in values]

  def index(self, k: int) -> Value:
    return self.b.emit("constant", [], value=np.asarray(k, np.int32), dtype=INDEX.dtype)

  def part_of_ref(self, ref: Value, k: int) -> Value:
    """A view of all the real or all the imaginary parts."""
    new = self.one(ref)
    rank = new.ref.rank
    return self.b.emit(
      "subview",
      [new, *[self.index(0)] * (rank - 1), self.index(k)],
      sizes=(*new.ref.shape[:-1], 1),
      steps=(1,) * rank,
      dropped=(rank - 1,),
    )


# --- the other ops, one row each -------------------------------------------------------------------------------------

_RULES: dict[str, Callable[[_Splitter, Op], None]] = {}


def _rule(*names: str) -> Callable[[Callable[[_Splitter, Op], None]], Callable[[_Splitter, Op], None]]:
  def add(f: Callable[[_Splitter, Op], None]) -> Callable[[_Splitter, Op], None]:
    _RULES.update(dict.fromkeys(names, f))
    return f

  return add


@_rule("real", "imag")
def _part(s: _Splitter, op: Op) -> None:
  s.env[op.result] = [s.env[op.operands[0]][0 if op.name == "real" else 1]]


@_rule("complex")
def _complex(s: _Splitter, op: Op) -> None:
  s.env[op.result] = s.all(op.operands)


@_rule("conj")
def _conj(s: _Splitter, op: Op) -> None:
  s.give(op, s.complex(op.operands[0]).conj())


@_rule("abs")
def _abs(s: _Splitter, op: Op) -> None:
  s.env[op.result] = [magnitude(s.complex(op.operands[0])).value]


@_rule("integer_pow")
def _integer_pow(s: _Splitter, op: Op) -> None:
  s.give(op, integer_power(s.complex(op.operands[0]), op.attrs["y"]))


def _convert(s: _Splitter, v: Value, dtype: np.dtype) -> Value:
  return v if v.tile.dtype == dtype else s.b.emit("convert", [v], dtype=dtype)


@_rule("convert")
def _convert_parts(s: _Splitter, op: Op) -> None:
  """To a real number or a bool by the real part, as XLA does (`astype(bool)` compares with zero before it converts)."""
  source, target = s.env[op.operands[0]], np.dtype(op.attrs["dtype"])
  if target.kind != "c":
    s.env[op.result] = [_convert(s, source[0], target)]
  else:
    re = Real(s.b, _convert(s, source[0], part_dtype(target)))
    im = re.lift(0.0).value if len(source) == 1 else _convert(s, source[1], part_dtype(target))
    s.env[op.result] = [re.value, im]


@_rule("constant")
def _constant(s: _Splitter, op: Op) -> None:
  value, dtype = np.asarray(op.attrs["value"]).astype(op.attrs["dtype"]), part_dtype(op.attrs["dtype"])
  s.env[op.result] = [s.b.emit("constant", [], value=part, dtype=dtype) for part in (value.real, value.imag)]


@_rule("iota")
def _iota(s: _Splitter, op: Op) -> None:
  re = Real(s.b, s.b.emit("iota", [], **{**op.attrs, "dtype": part_dtype(op.attrs["dtype"])}))
  s.env[op.result] = [re.value, re.lift(0.0).value]


@_rule("dot")
def _dot(s: _Splitter, op: Op) -> None:
  """Four contractions; two where one side is real."""
  attrs = {**op.attrs, "dtype": part_dtype(op.attrs["dtype"])}
  lhs, rhs = (s.env[v] for v in op.operands)

  def dot(x: Value, y: Value) -> Real:
    return Real(s.b, s.b.emit("dot", [x, y], **attrs))

  if len(lhs) == len(rhs) == 2:
    parts = dot(lhs[0], rhs[0]) - dot(lhs[1], rhs[1]), dot(lhs[0], rhs[1]) + dot(lhs[1], rhs[0])
  else:
    parts = (dot(lhs[0], rhs[0]), dot(lhs[-1], rhs[-1]))
  s.env[op.result] = [p.value for p in parts]


# By kind: what leaves the other operand as it is, as both parts, and how two numbers are combined.
_NEUTRAL = {"prod": (1.0, 0.0), "max": (-math.inf, -math.inf), "min": (math.inf, math.inf)}
_COMBINE = {"prod": BINARY["mul"], "max": BINARY["max"], "min": BINARY["min"]}


@_rule("reduce")
def _reduce(s: _Splitter, op: Op) -> None:
  """Sequentially: the reduced dimensions are moved to the front and flattened into one, over which a loop runs."""
  kind = op.attrs["kind"]
  if kind not in _COMBINE:
    s.refuse(op)
  shape, axes = op.operands[0].tile.shape, tuple(op.attrs["axes"])
  kept = [a for a in range(len(shape)) if a not in axes]
  count, rest = math.prod(shape[a] for a in axes), tuple(shape[a] for a in kept)
  rows = []
  for part in s.env[op.operands[0]]:
    moved = s.b.emit("transpose", [part], permutation=(*axes, *kept))
    rows.append(s.b.emit("reshape", [moved], shape=(count, *rest)))
  start = [s.b.emit("constant", [], value=np.full(rest, x), dtype=rows[0].tile.dtype) for x in _NEUTRAL[kind]]
  block = Block.of([INDEX, *(v.type for v in start)])
  with s.b.into(block):
    i, *so_far = block.params
    zeros = [s.index(0)] * len(rest)
    picked = [s.b.emit("dynamic_slice", [row, i, *zeros], sizes=(1, *rest)) for row in rows]
    element = Complex(*(Real(s.b, s.b.emit("reshape", [p], shape=rest)) for p in picked))
    combined = _COMBINE[kind](Complex(*(Real(s.b, v) for v in so_far)), element)
    s.b.emit_all("yield", [combined.re.value, combined.im.value])
  s.env[op.result] = s.b.emit_all("for", [s.index(0), s.index(count), *start], [block])


@_rule("cumulative")
def _cumulative(s: _Splitter, op: Op) -> None:
  """By doubling: once each element is combined with the one d before it, for d = 1, 2, 4, ..., it has them all."""
  kind, axis, tile = op.attrs["kind"], op.attrs["axis"], op.operands[0].tile

  def earlier(part: Real, distance: int, neutral: float) -> Real:
    fill = s.b.emit("constant", [], value=np.asarray(neutral), dtype=part.value.tile.dtype)
    along = [distance if a == axis else 0 for a in range(tile.rank)]
    low, high = (along, [-d for d in along])[:: -1 if op.attrs["reverse"] else 1]
    interior = (0,) * tile.rank
    return Real(s.b, s.b.emit("pad", [part.value, fill], low=tuple(low), high=tuple(high), interior=interior))

  z = s.complex(op.operands[0])
  for distance in (1 << k for k in range(max(tile.shape[axis] - 1, 0).bit_length())):
    shifted = (earlier(p, distance, n) for p, n in zip((z.re, z.im), _NEUTRAL[kind], strict=True))
    z = _COMBINE[kind](Complex(*shifted), z)
  s.give(op, z)


# --- memory --------------------------------------------------------------------------------------------------------


@_rule("load")
def _load(s: _Splitter, op: Op) -> None:
  s.env[op.result] = [s.b.emit("load", [s.part_of_ref(op.operands[0], k)]) for k in _PARTS]


@_rule("store")
def _store(s: _Splitter, op: Op) -> None:
  ref, value = op.operands
  for k in _PARTS:
    s.b.emit_all("store", [s.part_of_ref(ref, k), s.env[value][k]])


@_rule("window_load", "gather_load")
def _window_load(s: _Splitter, op: Op) -> None:
  ref, *starts = op.operands
  s.env[op.result] = [s.b.emit(op.name, [s.part_of_ref(ref, k), *s.all(starts)], **op.attrs) for k in _PARTS]


@_rule("window_store", "scatter_store")
def _window_store(s: _Splitter, op: Op) -> None:
  if op.attrs.get("kind", "set") not in ("set", "sum"):
    s.refuse(op)
  ref, value, *starts = op.operands
  for k in _PARTS:
    s.b.emit_all(op.name, [s.part_of_ref(ref, k), s.env[value][k], *s.all(starts)], **op.attrs)


@_rule("subview")
def _subview(s: _Splitter, op: Op) -> None:
  ref, *starts = op.operands
  attrs = {"sizes": (*op.attrs["sizes"], 2), "steps": (*op.attrs["steps"], 1), "dropped": op.attrs["dropped"]}
  s.env[op.result] = [s.b.emit("subview", [s.one(ref), *s.all(starts), s.index(0)], **attrs)]


@_rule("reshape_ref")
def _reshape_ref(s: _Splitter, op: Op) -> None:
  s.env[op.result] = [s.b.emit("reshape_ref", [s.one(op.operands[0])], shape=(*op.attrs["shape"], 2))]


@_rule("remote", "cluster_ref")
def _remote(s: _Splitter, op: Op) -> None:
  ref, device = op.operands
  s.env[op.result] = [s.b.emit(op.name, [s.one(ref), *s.all([device])], **op.attrs)]


@_rule("transpose_ref")
def _transpose_ref(s: _Splitter, op: Op) -> None:
  permutation = tuple(op.attrs["permutation"])
  s.env[op.result] = [s.b.emit("transpose_ref", [s.one(op.operands[0])], permutation=(*permutation, len(permutation)))]


@_rule("copy")
def _copy(s: _Splitter, op: Op) -> None:
  s.b.emit_all("copy", s.all(op.operands))


@_rule("alloc")
def _alloc(s: _Splitter, op: Op) -> None:
  attrs = {**op.attrs, "shape": (*op.attrs["shape"], 2), "dtype": part_dtype(op.attrs["dtype"])}
  s.env[op.result] = [s.b.emit("alloc", [], **attrs)]
