"""Top-k of a line by one pass over it.

The best k elements so far are kept sorted. A vector of elements is compared with the last of them; usually none is better, and the pass
continues. A better one is inserted at its position, after its equals, so that of equal elements the first ones are kept (stable).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.sorting import in_memory, key_bits, lines, sort_key
from tilewright.target.llvm.types import I1, I32, I64, PTR, VOID
from tilewright.tile.ir import Op


def top_k(code: Code, op: Op) -> None:
  (x,) = op.operands
  axis, k, dtype = op.attrs["axis"], op.attrs["k"], x.tile.dtype
  size, lanes = x.tile.shape[axis], code.lanes
  source = in_memory(code, x)
  values, numbers = (code.allocate(r.tile.shape, r.tile.dtype) for r in op.results)
  wide = key_bits(dtype) > 32
  key_dtype = np.uint64 if wide else np.uint32
  keys = code.allocate((-(-size // lanes) * lanes,), key_dtype)
  best = code.allocate((k,), key_dtype)
  chosen = code.allocate((k,), np.int32)
  function = _selection(code, I64 if wide else I32, lanes)

  def one(at: Any) -> None:
    b = code.b

    def fill(index: list[Index], lanes: int) -> None:
      code.store(keys, index, sort_key(code, op, code.load(source, at(index[0]), lanes), dtype, wide))

    code.nest((size,), fill)
    b.call(function, [keys.pointer, best.pointer, chosen.pointer, i64(size), i64(k)])
    with for_range(b, 0, k) as i:
      number = code.load(chosen, [Index(i)], 1)
      code.store(numbers, at(Index(i)), number)
      code.store(values, at(Index(i)), code.load(source, at(Index(b.zext(number, I64))), 1))

  if 0 not in x.tile.shape:
    lines(code, x.tile.shape, axis, one)
  code.env.update(zip(op.results, (values, numbers)))


def _selection(code: Code, key: ir.Type, lanes: int) -> ir.Function:
  """`select(keys, best, chosen, size, k)`: the k smallest keys, in order, and their numbers."""
  name = f"select_{key.width}"
  found = code.b.module.globals.get(name)
  if found is not None:
    return found
  function = ir.Function(code.b.module, ir.FunctionType(VOID, [PTR, PTR, PTR, I64, I64]), name)
  function.linkage = "internal"
  function.attributes.add("alwaysinline")  # with the size and k known, it is faster
  keys, best, chosen, size, k = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  place = b.alloca(I64)

  def at(array: ir.Value, i: Any, element: ir.Type) -> ir.Value:
    return b.gep(array, [i64(i)], source_etype=element)

  def insert(number: ir.Value, own: ir.Value, last: ir.Value) -> None:
    """Put an element where it belongs among the best; the one at `last` goes."""
    b.store(last, place)
    look, move, done = (b.append_basic_block(part) for part in ("look", "move", "found"))
    b.branch(look)
    b.position_at_end(look)
    here = b.load(place, typ=I64)
    before = b.sub(here, i64(1))
    first = b.icmp_signed("<=", here, i64(0))
    neighbour = b.load(at(best, b.select(first, i64(0), before), key), typ=key)
    b.cbranch(b.and_(b.not_(first), b.icmp_unsigned("<", own, neighbour)), move, done)
    b.position_at_end(move)
    b.store(neighbour, at(best, here, key))
    b.store(b.load(at(chosen, before, I32), typ=I32), at(chosen, here, I32))
    b.store(before, place)
    b.branch(look)
    b.position_at_end(done)
    b.store(own, at(best, here, key))
    b.store(b.trunc(number, I32), at(chosen, here, I32))

  def consider(number: ir.Value) -> None:
    own = b.load(at(keys, number, key), typ=key)
    last = b.sub(k, i64(1))
    with if_then(b, b.icmp_unsigned("<", own, b.load(at(best, last, key), typ=key))):
      insert(number, own, last)

  with for_range(b, 0, k) as i:
    insert(i, b.load(at(keys, i, key), typ=key), i)
  vectors = b.add(k, b.and_(b.sub(size, k), i64(-lanes)))
  vector = ir.VectorType(key, lanes)
  with for_range(b, k, vectors, lanes) as i:
    limit = b.load(at(best, b.sub(k, i64(1)), key), typ=key)
    own = b.load(at(keys, i, key), typ=vector, align=key.width // 8)
    better = b.icmp_unsigned("<", own, ty.splat(b, limit, lanes))
    with if_then(b, ty.intrinsic(b, "vector.reduce.or", [better], I1)), for_range(b, i, b.add(i, i64(lanes))) as number:
      consider(number)
  with for_range(b, vectors, size) as number:
    consider(number)
  b.ret_void()
  return function
