"""A kernel's cache hints as PTX qualifiers, on the loads and stores of global memory that have them.

    plt.load(x_ref, eviction_policy="evict_first")     ld.global.L1::evict_first.L2::cache_hint.v4.b32 …, policy;
    plt.load(x_ref, cache_modifier=".cg")              ld.global.cg.v4.b32 …;
    plt.load(x_ref, volatile=True)                     ld.volatile.global.v4.b32 …;

An eviction policy is for both caches: L1 takes it as a qualifier of the instruction, L2 as a policy operand. PTX before 7.4 has no
policies, and a volatile access takes no other qualifiers: hints are ignored there. Long vectors are accessed by sixteen bytes, unaligned
ones element by element.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I8, I16, I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, parts, several, value

_PTX = 74  # the version that knows policies
_EVICTED = ("evict_first", "evict_last")


def words(hint: str, ptx: int) -> str:
  """The parts of a hint, as in `.cg evict_first`, that an architecture supports."""
  given = hint.split()
  if "volatile" in given:
    return "volatile"
  return " ".join(word for word in given if word not in _EVICTED or ptx >= _PTX)


_MAX_ACCESS_BYTES = 16  # bytes of an access


def can_access(nbytes: int, align: int) -> bool:
  return (nbytes in (1, 2, 4, 8) or nbytes % _MAX_ACCESS_BYTES == 0) and align >= min(nbytes, _MAX_ACCESS_BYTES)


def _instruction(name: str, hint: str, nbytes: int) -> tuple[str, str | None]:
  """An instruction with its qualifiers, and which policy it takes."""
  given = hint.split()
  kind = f".b{8 * nbytes}" if nbytes < 4 else f"{f'.v{nbytes // 4}' if nbytes > 4 else ''}.b32"
  if "volatile" in given:
    return f"{name}.volatile.global{kind}", None
  modifier = next((word for word in given if word.startswith(".")), "")
  evicted = next((word for word in given if word in _EVICTED), None)
  first = modifier or (f".L1::{evicted}" if evicted else "")  # an instruction has one of the two
  return f"{name}.global{first}{'.L2::cache_hint' if evicted else ''}{kind}", evicted


def _policy(b: ir.IRBuilder, kind: str) -> ir.Value:
  with b.goto_entry_block():
    return value(b, f"createpolicy.fractional.L2::{kind}.b64 $0, 1.0;", [], I64)


def _registers(count: int, first: int) -> str:
  names = [f"${first + n}" for n in range(count)]
  return f"{{{', '.join(names)}}}" if count > 1 else names[0]


def _places(b: ir.IRBuilder, pointer: ir.Value, nbytes: int) -> list[ir.Value]:
  return [b.gep(pointer, [I64(n)], source_etype=I8) for n in range(0, nbytes, _MAX_ACCESS_BYTES)]


def load(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, hint: str) -> ir.Value:
  """So many bytes of global memory, as a vector of words, or one of two bytes, or a byte."""
  if nbytes > _MAX_ACCESS_BYTES:
    pieces = [load(b, p, _MAX_ACCESS_BYTES, hint) for p in _places(b, pointer, nbytes)]
    return ty.joined(b, [b.extract_element(part, I32(n)) for part in pieces for n in range(4)])
  word, count = (I16, 1) if nbytes < 4 else (I32, nbytes // 4)
  name, evicted = _instruction("ld", hint, nbytes)
  args: list[Any] = [b.ptrtoint(pointer, I64), *([_policy(b, evicted)] if evicted else [])]
  text = f"{name} {_registers(count, 0)}, [${count}]{f', ${count + 1}' if evicted else ''};"
  found = ty.joined(b, parts(b, effect(b, text, args, several(word, count))))
  return b.trunc(found, I8) if nbytes == 1 else found


def store(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, hint: str, raw: ir.Value) -> None:
  """Write so many bytes to global memory."""
  if nbytes > _MAX_ACCESS_BYTES:
    whole = b.bitcast(raw, ir.VectorType(I32, nbytes // 4))
    for n, p in enumerate(_places(b, pointer, nbytes)):
      store(b, p, _MAX_ACCESS_BYTES, hint, ty.joined(b, [b.extract_element(whole, I32(4 * n + k)) for k in range(4)]))
    return
  word, count = (I16, 1) if nbytes < 4 else (I32, nbytes // 4)
  name, evicted = _instruction("st", hint, nbytes)
  bits = b.zext(raw, I16) if nbytes == 1 else b.bitcast(raw, word if count == 1 else ir.VectorType(word, count))
  values = [bits] if count == 1 else [b.extract_element(bits, I32(n)) for n in range(count)]
  args = [b.ptrtoint(pointer, I64), *values, *([_policy(b, evicted)] if evicted else [])]
  text = f"{name} [$0], {_registers(count, 1)}{f', ${count + 1}' if evicted else ''};"
  effect(b, text, args)
