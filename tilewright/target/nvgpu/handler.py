"""The FFI handler of a GPU kernel, in LLVM for the host: collects pointers and launches on XLA's stream.

Nothing of Python runs per call. The kernel's handle differs from process to process, so it lies in a variable that is filled after
loading; the code is the same everywhere and can be cached.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I8, I32, I64, PTR
from tilewright.target.nvgpu import tma
from tilewright.target.nvgpu.tma import TensorMap

HANDLE = "kernel_handle"
_DYNAMIC_BLOCKS = 1024  # where the grid is dynamic: each block of threads takes several points
_COMMAND_BUFFER = 1  # XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE
_TRAITS = 32  # of struct XLA_FFI_Metadata, after size, extension and version


# From cuda.h: CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion.
_MAP_DTYPES = {"f16": 6, "bf16": 9}
_SWIZZLE_128B, _PROMOTE_256B = 3, 3


def _tensor_map(b: ir.IRBuilder, module: ir.Module, m: TensorMap, data: ir.Value) -> ir.Value:
  """A tensor map on the stack, filled for an array that starts at `data`."""
  room = b.ptrtoint(b.alloca(ir.ArrayType(I8, tma.MAP_BYTES + tma.MAP_ALIGNMENT)), I64)
  place = b.inttoptr(b.and_(b.add(room, i64(tma.MAP_ALIGNMENT - 1)), i64(-tma.MAP_ALIGNMENT)), PTR)
  rows, columns = m.shape
  dims, strides = struct(b, 2), struct(b, 1)
  fill(b, dims, [i64(columns), i64(rows)])
  fill(b, strides, [i64(2 * columns)])
  box, ones = struct(b, 1), struct(b, 1)  # two 32-bit numbers each, the first in the lower half
  fill(b, box, [i64(m.box_rows << 32 | m.box_columns)])
  fill(b, ones, [i64(1 << 32 | 1)])
  kinds = [PTR, I32, I32, PTR, PTR, PTR, PTR, PTR, I32, I32, I32, I32]
  encode = external(module, "cuTensorMapEncodeTiled", I32, kinds)
  args = [place, I32(_MAP_DTYPES[m.kind]), I32(2), data, dims, strides, box, ones]
  b.call(encode, [*args, I32(0), I32(_SWIZZLE_128B), I32(_PROMOTE_256B), I32(0)])
  return place


def to_llvm(num_operands: int, num_results: int, launch: Any) -> str:
  """The operands are dynamic bounds and arrays; the results are arrays, then scratch memory."""
  module = ir.Module("tilewright")
  handle = ir.GlobalVariable(module, I64, HANDLE)
  handle.initializer = I64(0)
  launcher = ir.Function(module, ir.FunctionType(I32, [PTR] + [I32] * 7 + [PTR] * 3), "cuLaunchKernel")
  function = ir.Function(module, ir.FunctionType(PTR, [PTR]), "handler")
  (frame,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  null = ir.Constant(PTR, None)
  extension = read(b, frame, ffi.FRAME_EXTENSION)
  run, metadata = b.append_basic_block("run"), b.append_basic_block("metadata")
  b.cbranch(b.icmp_unsigned("==", extension, null), run, metadata)
  b.position_at_end(metadata)
  found = read(b, extension, ffi.METADATA_POINTER)
  major, minor = ffi.api_version()
  b.store(I32(major), at(b, found, ffi.VERSION_MAJOR))
  b.store(I32(minor), at(b, found, ffi.VERSION_MINOR))
  b.store(I32(_COMMAND_BUFFER), at(b, found, _TRAITS))
  b.ret(null)
  b.position_at_end(run)

  api, context = read(b, frame, ffi.FRAME_API), read(b, frame, ffi.FRAME_CONTEXT)
  ask = struct(b, 4)
  fill(b, ask, [i64(32), i64(0), b.ptrtoint(context, I64), i64(0)])
  b.call(api_function(b, api, "XLA_FFI_Stream_Get"), [ask])
  stream = read(b, ask, 24)
  operands, results = read(b, frame, ffi.FRAME_ARGS), read(b, frame, ffi.FRAME_RETS)
  dynamic = sum(size is None for size in launch.grid)
  buffers = [read(b, operands, 8 * i) for i in range(num_operands)]
  buffers += [read(b, results, 8 * i) for i in range(num_results)]
  places = [at(b, buffer, ffi.BUFFER_DATA) for buffer in buffers]  # a parameter is a pointer to its value
  if launch.scratch_bytes:
    places.append(at(b, read(b, results, 8 * num_results), ffi.BUFFER_DATA))
  else:
    nothing = struct(b, 1)
    fill(b, nothing, [i64(0)])
    places.append(nothing)
  arrays = places[dynamic:]
  places = [*arrays, *places[:dynamic]]
  places += [_tensor_map(b, module, m, b.load(arrays[m.array], typ=PTR, align=8)) for m in launch.maps]
  params = struct(b, len(places))
  fill(b, params, [b.ptrtoint(p, I64) for p in places])
  blocks = launch.num_blocks if launch.num_blocks is not None else _DYNAMIC_BLOCKS
  kernel = b.inttoptr(b.load(handle, typ=I64), PTR)
  sizes = [blocks, 1, 1, launch.num_threads, 1, 1, launch.shared_bytes]
  status = b.call(launcher, [kernel, *(I32(n) for n in sizes), stream, params, null])
  failed, fine = b.append_basic_block("failed"), b.append_basic_block("fine")
  b.cbranch(b.icmp_unsigned("==", status, I32(0)), fine, failed)
  b.position_at_end(fine)
  b.ret(null)
  b.position_at_end(failed)
  text = bytearray(b"tilewright: the GPU kernel could not be launched\0")
  message = ir.GlobalVariable(module, ir.ArrayType(I8, len(text)), "message")
  message.initializer, message.global_constant = ir.Constant(message.type.pointee, text), True
  b.ret(emit_error(b, api, b.ptrtoint(message, I64)))
  return str(module)
