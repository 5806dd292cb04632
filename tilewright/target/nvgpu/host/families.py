"""A kernel for devices of different architectures in one process: a launcher for each of them, and one in front that finds the device's.

H200, A100, T4      the handler asks XLA for the device, and calls the launcher for sm_90a or for sm_80; for the third device it returns
                    the error that says why it has no code
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from llvmlite import ir

from tilewright.runtime import ffi, jit, linking
from tilewright.target.llvm.frame import at, emit_error, read
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I8, I32, I64, PTR
from tilewright.target.nvgpu.host.handler import TRAITS, device_number
from tilewright.target.nvgpu.host.symbols import HANDLER

_NULL = ir.Constant(PTR, None)
_HANDLER = ir.FunctionType(PTR, [PTR])
_lock = threading.Lock()
_linked: dict[str, linking.Linked] = {}


def register(name: str, launchers: Mapping[int, int], without: Mapping[int, str]) -> None:
  """Let XLA call, under a name, the launchers at these addresses by device; `without` says why there is none for others."""
  with _lock:
    if name not in _linked:
      _linked[name] = linking.link(jit.object_code(to_llvm(launchers, without)))
    ffi.register(name, _linked[name].address(HANDLER), "CUDA")


def to_llvm(launchers: Mapping[int, int], without: Mapping[int, str]) -> str:
  module = ir.Module("tilewright")
  function = ir.Function(module, _HANDLER, HANDLER)
  (frame,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  with if_then(b, b.icmp_unsigned("!=", read(b, frame, ffi.FRAME_EXTENSION), _NULL), ends=True):
    _fill_metadata(b, frame, list(dict.fromkeys(launchers.values())))
    b.ret(_NULL)
  api = read(b, frame, ffi.FRAME_API)
  number = device_number(b, frame, api)
  for device, address in launchers.items():
    with if_then(b, b.icmp_unsigned("==", number, i64(device)), ends=True):
      b.ret(_call(b, address, frame))
  for device, why in without.items():
    with if_then(b, b.icmp_unsigned("==", number, i64(device)), ends=True):
      b.ret(emit_error(b, api, _text(b, f"There is no code of this kernel for device {device}. {why}")))
  b.ret(emit_error(b, api, _text(b, "This device was not there when the kernel was compiled.")))
  return str(module)


def _fill_metadata(b: ir.IRBuilder, frame: ir.Value, addresses: Sequence[int]) -> None:
  """What XLA asks of a handler when it is registered: the launchers answer, and a trait is one that all of them have."""
  place = at(b, read(b, read(b, frame, ffi.FRAME_EXTENSION), ffi.METADATA_POINTER), TRAITS)
  traits: ir.Value = I32(-1)
  for address in addresses:
    _call(b, address, frame)
    traits = b.and_(traits, b.load(place, typ=I32, align=4))
  b.store(traits, place)


def _call(b: ir.IRBuilder, address: int, frame: ir.Value) -> ir.Value:
  return b.call(b.inttoptr(i64(address), _HANDLER.as_pointer()), [frame])


def _text(b: ir.IRBuilder, contents: str) -> ir.Value:
  """The address of a text, as a number."""
  raw = bytearray(contents.encode() + b"\0")
  text = ir.GlobalVariable(b.module, ir.ArrayType(I8, len(raw)), b.module.get_unique_name("message"))
  text.initializer, text.global_constant = ir.Constant(text.type.pointee, raw), True
  return b.ptrtoint(text, I64)
