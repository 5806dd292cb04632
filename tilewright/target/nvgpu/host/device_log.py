"""The device log: prints and failed checks of a running kernel, and how they are reported to the user.

A kernel that may print or fail has a log in global memory: a header of 32-bit words, then a record for each print.

    used | dropped | failed | message | element | rank | index …     bytes of records, prints that found no room, the check that failed,
                                                                     for which element, in which instance
    site, values …                                                   a record; each value begins at a multiple of sixteen bytes

The launcher clears the header before the kernel. After it, it waits for the stream, and if anything was logged it calls Python, which
prints as `print` does and creates the error that XLA raises. The meaning of the numbers is stored in the launcher as text.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from llvmlite import ir

from tilewright.runtime import printing
from tilewright.target.llvm.frame import at, emit_error, external, struct
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID
from tilewright.tile.ir import Block, walk
from tilewright.tile.types import TileType

USED, DROPPED, FAILED, MESSAGE = range(4)
HEADER_WORDS = printing.HEADER_WORDS
HEADER_BYTES = 4 * HEADER_WORDS
ALIGNED = printing.ALIGNED
RECORDS_BYTES = 1 << 20


_SAYING = frozenset({"wait", "check", "print"})


def may_log(block: Block) -> bool:
  """Whether a body may print or fail, so that it needs a log."""
  return any(op.name in _SAYING for op in walk(block))


@dataclasses.dataclass
class Report:
  """What a kernel may say, by number."""

  prints: list[tuple[str, list[tuple[str, list[int]]]]] = dataclasses.field(default_factory=list)
  # With the shape of what is checked.
  # Without a shape (None) the numbers after the rank are fields of the text.
  messages: list[tuple[str, tuple[int, ...] | None]] = dataclasses.field(default_factory=list)

  def print(self, template: str, tiles: Sequence[TileType]) -> int:
    self.prints.append((template, [(t.dtype.name, list(t.shape)) for t in tiles]))
    return len(self.prints) - 1

  def message(self, text: str, shape: tuple[int, ...] | None = ()) -> int:
    if (text, shape) not in self.messages:
      self.messages.append((text, shape))
    return self.messages.index((text, shape))

  @property
  def log_bytes(self) -> int:
    return HEADER_BYTES + (RECORDS_BYTES if self.prints else 0)

  def to_json(self) -> str:
    return json.dumps({"prints": self.prints, "messages": self.messages})


def padded(tile: TileType) -> int:
  return -(-tile.nbytes // ALIGNED) * ALIGNED


def record_bytes(tiles: Sequence[TileType]) -> int:
  return ALIGNED + sum(padded(t) for t in tiles)


# --- in the launcher ---------------------------------------------------------------------------------------------


def clear(b: ir.IRBuilder, log: ir.Value, stream: ir.Value) -> ir.Value:
  """Set the header to zero before the kernel; returns what the driver says to that."""
  clear = external(b.module, "cuMemsetD32Async", I32, [PTR, I32, I64, PTR])
  return b.call(clear, [log, I32(0), i64(HEADER_WORDS), stream])


def deliver(b: ir.IRBuilder, api: ir.Value, log: ir.Value, stream: ir.Value, report: Report) -> ir.Value:
  """After the kernel: wait, print what it printed, and return the error if it failed. Returns what the driver says to the waiting."""
  module = b.module
  header = struct(b, HEADER_BYTES // 8)
  copy = external(module, "cuMemcpyDtoHAsync_v2", I32, [PTR, PTR, I64, PTR])
  b.call(copy, [header, log, i64(HEADER_BYTES), stream])
  status = b.call(external(module, "cuStreamSynchronize", I32, [PTR]), [stream])
  used, dropped, failed = (b.load(at(b, header, 4 * word), typ=I32, align=4) for word in (USED, DROPPED, FAILED))
  has_output = b.icmp_unsigned("!=", b.or_(used, b.or_(dropped, failed)), I32(0))
  with if_then(b, b.and_(has_output, b.icmp_unsigned("==", status, I32(0)))):
    size = b.zext(used, I64)
    records = b.call(external(module, "malloc", PTR, [I64]), [b.add(size, i64(ALIGNED))])
    b.call(external(module, "cuMemcpyDtoH_v2", I32, [PTR, PTR, I64]), [records, at(b, log, HEADER_BYTES), size])
    raw = bytearray(report.to_json().encode() + b"\0")
    text = ir.GlobalVariable(module, ir.ArrayType(I8, len(raw)), module.get_unique_name("report"))
    text.initializer, text.global_constant = ir.Constant(text.type.pointee, raw), True
    report_function = external(module, printing.REPORT, PTR, [PTR, PTR, PTR])
    message = b.call(report_function, [b.bitcast(text, PTR), header, records])
    b.call(external(module, "free", VOID, [PTR]), [records])
    with if_then(b, b.icmp_unsigned("!=", message, ir.Constant(PTR, None)), ends=True):
      b.ret(emit_error(b, api, b.ptrtoint(message, I64)))
  return status
