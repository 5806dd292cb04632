"""The call frame of XLA's FFI, in LLVM for the host: fields of structs, and calls of XLA's API."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I8, I64, PTR


def at(b: ir.IRBuilder, pointer: ir.Value, offset: int) -> ir.Value:
  return b.gep(pointer, [i64(offset)], source_etype=I8)


def read(b: ir.IRBuilder, pointer: ir.Value, offset: int, ty: Any = PTR) -> ir.Value:
  return b.load(at(b, pointer, offset), typ=ty, align=8)


def external(module: ir.Module, name: str, result: Any, args: list[Any], *, var_arg: bool = False) -> ir.Function:
  """A function of a library; with `var_arg` it takes more arguments than these."""
  found = module.globals.get(name)
  return found or ir.Function(module, ir.FunctionType(result, args, var_arg=var_arg), name)


def text_pointer(module: ir.Module, text: str) -> ir.Value:
  """A zero-terminated string in the module's read-only data."""
  raw = bytearray(text.encode() + b"\0")
  data = ir.Constant(ir.ArrayType(I8, len(raw)), raw)
  variable = ir.GlobalVariable(module, data.type, module.get_unique_name("text"))
  variable.initializer, variable.global_constant, variable.linkage = data, True, "internal"
  return variable.bitcast(PTR)


def struct(b: ir.IRBuilder, words: int) -> ir.Value:
  """Room for a struct on the stack, as an untyped pointer."""
  return b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, words)), I64), PTR)


def fill(b: ir.IRBuilder, array: ir.Value, values: list[ir.Value]) -> None:
  for i, value in enumerate(values):
    b.store(value, at(b, array, 8 * i))


def api_function(b: ir.IRBuilder, api: ir.Value, name: str) -> ir.Value:
  """A function of XLA's API: it takes one struct of arguments and gives an error or null."""
  return read(b, api, ffi.api_function_offset(name), ir.FunctionType(PTR, [PTR]).as_pointer())


def emit_error(b: ir.IRBuilder, api: ir.Value, message: ir.Value) -> ir.Value:
  """The error that XLA raises with a message: size, extension, message, code."""
  request = struct(b, 4)
  fill(b, request, [i64(ffi.ERROR_CREATE_SIZE), i64(0), message, i64(ffi.ERROR_INTERNAL)])
  return b.call(api_function(b, api, "XLA_FFI_Error_Create"), [request])
