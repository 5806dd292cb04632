"""Inline assembly of the user: `elementwise_inline_asm` as Triton defines it.

The text is run once for every `pack` elements. An operand's elements fill registers as its constraints say (r, f: 32 bits, l, d: 64 bits,
h: 16 bits), the first element in the lowest bits; likewise for results:

    int8, pack 4, "=r,r":   one register of four elements in, one out
    f32,  pack 2, "=f,=f,f,f":   two registers each
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, i64, if_then
from tilewright.target.llvm.types import F32, F64, I16, I32, I64
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op
from tilewright.tile.types import TileType

_REGISTERS: dict[str, ir.Type] = {"r": I32, "f": F32, "l": I64, "d": F64, "h": I16}


def inline_asm(code: BlockCode, op: Op) -> None:
  pack = op.attrs["pack"]
  tiles = [r.tile for r in op.results]
  outs, ins = _registers(op)
  _check_operands(op, sum(map(len, (*outs, *ins))))
  size = tiles[0].size
  args = [_flat(code.in_memory(v) if v.tile.shape else _scalar_in_memory(code, v)) for v in op.operands]
  results = [code.allocate(t.shape, t.dtype) for t in tiles]
  code.sync({a.base for a in args}, {r.base for r in results})
  given = [k for tokens in ins for k in tokens]
  made = [k for tokens in outs for k in tokens]
  kind = ir.FunctionType(made[0] if len(made) == 1 else ir.LiteralStructType(made), given)
  asm = ir.InlineAsm(kind, _escaped(op.attrs["text"]), _constraints(op), side_effect=False)

  def each(index: list[Index], lanes: int, step: Any) -> None:
    b = code.b
    first = b.mul(i64(index[0].base), i64(pack))
    words: list[ir.Value] = []
    for view, tokens in zip(args, ins):
      elements = [_element(code, view, first, n, size) for n in range(pack)]
      words += _joined(b, elements, tokens)
    out = b.call(asm, words)
    parts = [out] if len(made) == 1 else [b.extract_value(out, n) for n in range(len(made))]
    for view, tokens in zip(map(_flat, results), outs):
      own, parts = parts[: len(tokens)], parts[len(tokens) :]
      for n, element in enumerate(_split(b, own, view.dtype, pack)):
        place = b.add(first, i64(n))
        with if_then(b, b.icmp_unsigned("<", place, i64(size))):
          code.store(view, [Index(place)], element)

  if size:
    code.each_step(distribute((-(-size // pack),), 1, code.num_threads), each)
  code.env.update(zip(op.results, results))
  for result, view in zip(op.results, results):
    if result.tile.is_scalar:
      code.sync({view.base}, set())
      code.env[result] = code.load(view, [], 1)


def _scalar_in_memory(code: BlockCode, v: Any) -> View:
  """A scalar in memory."""
  memory = code.allocate((), v.tile.dtype)
  code.store(memory, [], code.scalar(v))
  code.written.add(memory.base)
  return memory


def _flat(view: View) -> View:
  return View(view.pointer, (1,), view.dtype, view.base)


def _element(code: BlockCode, view: View, first: ir.Value, n: int, size: int) -> ir.Value:
  """The bits of an element; behind the last one, those of the last one."""
  b = code.b
  place = b.add(first, i64(n))
  place = b.select(b.icmp_unsigned("<", place, i64(size)), place, i64(size - 1))
  return _to_bits(b, code.load(view, [Index(place)], 1), view.dtype)


def _to_bits(b: ir.IRBuilder, value: ir.Value, dtype: np.dtype) -> ir.Value:
  return b.bitcast(ty.narrow(b, value, dtype), ir.IntType(8 * dtype.itemsize))


def _joined(b: ir.IRBuilder, elements: list[ir.Value], tokens: list[ir.Type]) -> list[ir.Value]:
  """The bits of elements, one after another, as registers."""
  width = elements[0].type.width
  found = []
  for number, kind in enumerate(tokens):
    word = ir.IntType(_bits(kind))
    per_word = max(1, word.width // width)
    total: ir.Value = ir.Constant(word, 0)
    for k, element in enumerate(elements[number * per_word : (number + 1) * per_word]):
      wide = element if width == word.width else b.zext(element, word)
      total = b.or_(total, b.shl(wide, ir.Constant(word, k * width)))
    found.append(b.bitcast(total, kind))
  return found


def _split(b: ir.IRBuilder, words: list[ir.Value], dtype: np.dtype, pack: int) -> list[ir.Value]:
  """The elements that registers hold."""
  width = 8 * dtype.itemsize
  found = []
  for word in words:
    bits = b.bitcast(word, ir.IntType(_bits(word.type)))
    for k in range(max(1, bits.type.width // width)):
      part = b.lshr(bits, ir.Constant(bits.type, k * width))
      part = part if bits.type.width == width else b.trunc(part, ir.IntType(width))
      found.append(ty.widen(b, b.bitcast(part, ty.memory_type(dtype)), dtype, 1))
  return found[:pack]


def _bits(kind: ir.Type) -> int:
  return {F32: 32, F64: 64}.get(kind) or kind.width


# --- constraints -------------------------------------------------------------------------------------------------


def _registers(op: Op) -> tuple[list[list[ir.Type]], list[list[ir.Type]]]:
  """The registers of each result and of each operand."""
  tokens = _tokens(op)
  made = [t[1:].lstrip("&") for t in tokens if t.startswith("=")]
  given = [t for t in tokens if not t.startswith(("=", "~"))]
  outs = _dealt(op, "results", [r.tile for r in op.results], made)
  ins = _dealt(op, "operands", [v.tile for v in op.operands], given)
  return outs, ins


def _tokens(op: Op) -> list[str]:
  return [t.strip() for t in op.attrs["constraints"].split(",") if t.strip()]


def _constraints(op: Op) -> str:
  return ",".join(_tokens(op))


def _dealt(op: Op, what: str, tiles: list[TileType], tokens: list[str]) -> list[list[ir.Type]]:
  """Deal constraints out: each tile takes as many as `pack` of its elements fill."""
  left = list(tokens)
  found: list[list[ir.Type]] = []
  for tile in tiles:
    bits, own = op.attrs["pack"] * 8 * tile.dtype.itemsize, []
    while bits > 0:
      if not left or left[0] not in _REGISTERS:
        raise errors.NativeCodeError(
          f"elementwise_inline_asm at {op.loc or '?'}: the {what} of {op.attrs['pack']} elements at a time need a register constraint (one "
          f"of {', '.join(_REGISTERS)}) for every 32 bits; constraints={op.attrs['constraints']!r} has {tokens}."
        )
      own.append(_REGISTERS[left.pop(0)])
      bits -= max(_bits(own[-1]), 8 * tile.dtype.itemsize)
    found.append(own)
  if left:
    raise errors.NativeCodeError(
      f"elementwise_inline_asm at {op.loc or '?'}: the constraints {left} of {op.attrs['constraints']!r} are too many for the {what}."
    )
  return found


_NAMED = re.compile(
  r"\$(?:\$|\{:uid\}|(\d+)|\{(\d+)\}|)"
)  # a dollar, a number of its own for each copy of the text, or an operand


def _check_operands(op: Op, count: int) -> None:
  """Refuse a text that names operands which are not there: LLVM would end the process."""
  for found in _NAMED.finditer(op.attrs["text"]):
    number = found[1] or found[2]
    if found[0] == "$" or (number is not None and int(number) >= count):
      rest = op.attrs["text"][found.start() :].splitlines()[0][:20]
      raise errors.NativeCodeError(
        f"elementwise_inline_asm at {op.loc or '?'}: asm: expected operands $0 to ${count - 1}, which constraints="
        f"{op.attrs['constraints']!r} name, and $$ for a dollar, got {rest!r}."
      )


def _escaped(text: str) -> str:
  """As LLVM writes strings."""
  return "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else f"\\{ord(c):02X}" for c in text)
