"""The FFI handler of a GPU kernel, in LLVM for the host: collects pointers and launches on XLA's stream, and counts users (`lifetime`).

Nothing of Python runs per call. The kernel's handle differs from process to process, and from device to device, so it lies in a variable
that is filled after loading; the code is the same everywhere and can be cached.
"""

from __future__ import annotations

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct, text_pointer
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID
from tilewright.target.nvgpu.emit.kernel_function import Launch
from tilewright.target.nvgpu.emit.units import tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.host import device_log, peer_launch
from tilewright.target.nvgpu.host.symbols import (
  DIRECTORY,
  GONE,
  HANDLE,
  HANDLER,
  HANDLES,
  INSTANTIATE,
  RELEASE,
  RETAIN,
  STATE_TYPE,
  USERS,
)
from tilewright.tile.grid import GridMapping
from tilewright.tile.native import NativeKernel

_NULL = ir.Constant(PTR, None)
_MESSAGE_BYTES = 1024
_COMMAND_BUFFER = 1  # XLA_FFI_HANDLERTRAITS_COMMAND_BUFFER_COMPATIBLE: a call only launches, always the same
_INSTANTIATING = 0  # XLA_FFI_ExecutionStage_INSTANTIATE
_GONE_TEXT = (
  "The code of a Tilewright kernel is not on the GPU any more: nothing used it, and this program was not lowered since. Lower the function "
  "again."
)
TRAITS = 32  # of struct XLA_FFI_Metadata, after its size and the version


# From cuda.h: CUtensorMapSwizzle, by bytes, and CUtensorMapL2promotion.
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_PROMOTE_256B = 3
_COOPERATIVE, _CLUSTER_DIMENSION = 2, 4  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
_ATTRIBUTE_WORDS = 9  # of struct CUlaunchAttribute


def to_llvm(kernel: NativeKernel, launch: Launch) -> str:
  """The operands are dynamic bounds and arrays; the results are arrays, then scratch memory."""
  module = ir.Module("tilewright")
  for name in (HANDLE, HANDLES, USERS, GONE, STATE_TYPE, *[DIRECTORY] * (launch.symmetric is not None)):
    ir.GlobalVariable(module, I64, name).initializer = I64(0)
  _emit_instantiate(module, launch)
  _emit_users(module)
  function = ir.Function(module, ir.FunctionType(PTR, [PTR]), HANDLER)
  (frame,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  with if_then(b, b.icmp_unsigned("!=", read(b, frame, ffi.FRAME_EXTENSION), _NULL), ends=True):
    _fill_metadata(b, read(b, read(b, frame, ffi.FRAME_EXTENSION), ffi.METADATA_POINTER), launch)
    b.ret(_NULL)
  blocks = launch.launched_blocks
  if blocks == 0:  # CUDA does not launch nothing
    b.ret(_NULL)
    return str(module)

  if launch.symmetric is None:
    _emit_call(b, kernel, launch, frame)
  else:
    device = device_number(b, frame, read(b, frame, ffi.FRAME_API))
    peer_launch.emit(b, frame, kernel.name, device, lambda b, *heap: _emit_call(b, kernel, launch, *heap))
  return str(module)


def _emit_call(
  b: ir.IRBuilder,
  kernel: NativeKernel,
  launch: Launch,
  frame: ir.Value,
  record: ir.Value | None = None,
  site: ir.Value | None = None,
) -> None:
  """Launch a kernel, and return. One that accesses other devices has the record of its heap and the number of its call."""
  module, blocks = b.module, launch.launched_blocks
  api = read(b, frame, ffi.FRAME_API)
  stream = _stream(b, frame, api)
  mapping = kernel.mapping
  places = _places(b, frame, mapping, bool(launch.workspace_bytes))
  bounds, arrays = places[: mapping.num_dynamic_bounds], places[mapping.num_dynamic_bounds :]
  log = b.load(arrays[mapping.num_prefetch + len(mapping.block_mappings)], typ=PTR, align=8)
  if launch.report is not None:
    _check(b, api, device_log.clear(b, log, stream), f"The log of the GPU kernel '{kernel.name}' could not be cleared")
  if launch.grid_bytes:
    _check(
      b,
      api,
      _clear_grid(b, launch, log, stream),
      f"The semaphores of the GPU kernel '{kernel.name}' could not be cleared",
    )
  staged: list[peer_launch.Copied] = []
  if launch.symmetric is not None:
    assert record is not None and site is not None
    arrays, staged = peer_launch.places(b, arrays, record, launch.symmetric)
    for each in staged:
      if each.array.is_read:
        _check(
          b,
          api,
          peer_launch.copy_in(b, each, stream),
          f"The GPU kernel '{kernel.name}': operand {each.array.number} was not copied",
        )
  params = [*arrays, *bounds]
  if record is not None:
    params += peer_launch.parameters(b, record, site)
  for m in launch.maps:
    place, status = _tensor_map(b, module, m, b.load(arrays[m.array], typ=PTR, align=8))
    _check(b, api, status, f"The GPU kernel '{kernel.name}': operand {m.array} has no tensor map")
    params.append(place)
  pointers = struct(b, len(params))
  fill(b, pointers, [b.ptrtoint(p, I64) for p in params])
  status = _launch(b, module, launch, _handle(b, frame, api), stream, pointers)
  launch_text = f"{blocks} blocks of {launch.num_threads} threads with {launch.shared_bytes} bytes of shared memory"
  launch_text += f" in clusters of {launch.cluster}" if launch.cluster > 1 else ""
  launch_text += ", which wait for each other and so must all run at the same time" if launch.grid_bytes else ""
  _check(b, api, status, f"The GPU kernel '{kernel.name}' could not be launched as {launch_text}")
  for each in staged:
    if each.array.is_written:
      _check(
        b,
        api,
        peer_launch.copy_out(b, each, stream),
        f"The GPU kernel '{kernel.name}': operand {each.array.number} was not copied",
      )
  if launch.report is not None:
    status = device_log.deliver(b, api, log, stream, launch.report)
    _check(b, api, status, f"The GPU kernel '{kernel.name}' did not finish")
  b.ret(_NULL)


def _emit_instantiate(module: ir.Module, launch: Launch) -> None:
  """A program that may launch the kernel counts as a user until XLA deletes its state, which is the place of the counter."""
  function = ir.Function(module, ir.FunctionType(PTR, [PTR]), INSTANTIATE)
  (frame,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  with if_then(b, b.icmp_unsigned("!=", read(b, frame, ffi.FRAME_EXTENSION), _NULL), ends=True):
    _fill_metadata(b, read(b, read(b, frame, ffi.FRAME_EXTENSION), ffi.METADATA_POINTER), launch)
    b.ret(_NULL)
  api, users = read(b, frame, ffi.FRAME_API), module.globals[USERS]
  b.atomic_rmw("add", users, i64(1), "seq_cst")
  is_gone = b.icmp_unsigned("!=", b.load_atomic(module.globals[GONE], "seq_cst", 8, typ=I64), i64(0))
  with if_then(b, is_gone, ends=True):
    b.atomic_rmw("sub", users, i64(1), "seq_cst")
    b.ret(emit_error(b, api, b.ptrtoint(text_pointer(module, _GONE_TEXT), I64)))
  request = struct(b, 6)  # struct XLA_FFI_State_Set_Args: size, extension, context, stage, type, state
  context, kind = read(b, frame, ffi.FRAME_CONTEXT, I64), b.load(module.globals[STATE_TYPE], typ=I64)
  fill(b, request, [i64(48), i64(0), context, i64(_INSTANTIATING), kind, b.ptrtoint(users, I64)])
  failed = b.call(api_function(b, api, "XLA_FFI_State_Set"), [request])
  with if_then(b, b.icmp_unsigned("!=", failed, _NULL)):
    b.atomic_rmw("sub", users, i64(1), "seq_cst")
  b.ret(failed)


def _emit_users(module: ir.Module) -> None:
  for name, change in ((RETAIN, "add"), (RELEASE, "sub")):
    function = ir.Function(module, ir.FunctionType(VOID, [PTR]), name)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.atomic_rmw(change, b.bitcast(function.args[0], ir.PointerType(I64)), i64(1), "seq_cst")
    b.ret_void()


def _launch(
  b: ir.IRBuilder, module: ir.Module, launch: Launch, function: ir.Value, stream: ir.Value, params: ir.Value
) -> ir.Value:
  """Start a kernel; returns what the driver says to that."""
  sizes = [launch.launched_blocks, 1, 1, launch.num_threads, 1, 1, launch.shared_bytes]
  together = launch.symmetric is not None or launch.grid_bytes > 0
  if together and launch.launched_blocks > 1 and launch.cluster == 1:  # CTAs that wait for others must all be resident
    launcher = external(module, "cuLaunchCooperativeKernel", I32, [PTR] + [I32] * 7 + [PTR] * 2)
    return b.call(launcher, [function, *(I32(n) for n in sizes), stream, params])
  if launch.cluster == 1:
    launcher = external(module, "cuLaunchKernel", I32, [PTR] + [I32] * 7 + [PTR] * 3)
    return b.call(launcher, [function, *(I32(n) for n in sizes), stream, params, _NULL])
  # From cuda.h: struct CUlaunchConfig has the sizes, the stream, a pointer to attributes and their number; struct CUlaunchAttribute has a
  # number, in eight bytes, and a value of 64 bytes.
  attributes, config = struct(b, 2 * _ATTRIBUTE_WORDS), struct(b, 7)
  fill(b, attributes, [i64(_CLUSTER_DIMENSION), i64(1 << 32 | launch.cluster), i64(1)])
  for offset, value in ((0, _COOPERATIVE), (1, 1)):
    b.store(i64(value), at(b, attributes, 8 * (_ATTRIBUTE_WORDS + offset)))
  words = [*sizes, 0]
  fill(b, config, [i64(high << 32 | low) for low, high in zip(words[::2], words[1::2])])
  for offset, value in ((32, b.ptrtoint(stream, I64)), (40, b.ptrtoint(attributes, I64)), (48, i64(1 + together))):
    b.store(value, at(b, config, offset))
  launcher = external(module, "cuLaunchKernelEx", I32, [PTR] * 4)
  return b.call(launcher, [config, function, params, _NULL])


def _clear_grid(b: ir.IRBuilder, launch: Launch, workspace: ir.Value, stream: ir.Value) -> ir.Value:
  """Set what all CTAs share to zero before the kernel; returns what the driver says to that."""
  start = b.gep(workspace, [i64(launch.log_bytes)], source_etype=I8)
  clear = external(b.module, "cuMemsetD32Async", I32, [PTR, I32, I64, PTR])
  return b.call(clear, [start, I32(0), i64(launch.grid_bytes // 4), stream])


def _fill_metadata(b: ir.IRBuilder, metadata: ir.Value, launch: Launch) -> None:
  """Fill in what XLA asks of a handler when it is registered. One that waits for its kernel cannot be part of a command buffer; nor is one
  whose CTAs wait for each other."""
  major, minor = ffi.api_version()
  traits = _COMMAND_BUFFER if launch.report is None and not launch.grid_bytes else 0
  for offset, value in ((ffi.VERSION_MAJOR, major), (ffi.VERSION_MINOR, minor), (TRAITS, traits)):
    b.store(I32(value), at(b, metadata, offset))


def _stream(b: ir.IRBuilder, frame: ir.Value, api: ir.Value) -> ir.Value:
  """The stream on which XLA wants the work."""
  return read(b, _asked(b, frame, api, "XLA_FFI_Stream_Get", 32), 24)


def _handle(b: ir.IRBuilder, frame: ir.Value, api: ir.Value) -> ir.Value:
  """The kernel: that of the only device, else that of the device on which XLA wants the work."""
  only, table = (b.load(b.module.globals[name], typ=I64) for name in (HANDLE, HANDLES))
  found = struct(b, 1)
  fill(b, found, [only])
  with if_then(b, b.icmp_unsigned("==", only, I64(0))):
    table = b.inttoptr(table, PTR)
    fill(b, found, [b.load(b.gep(table, [device_number(b, frame, api)], source_etype=I64), typ=I64, align=8)])
  return read(b, found, 0)


def device_number(b: ir.IRBuilder, frame: ir.Value, api: ir.Value) -> ir.Value:
  """The number of the device on which XLA wants the work, as the driver counts them."""
  return b.zext(read(b, _asked(b, frame, api, "XLA_FFI_DeviceOrdinal_Get", 28), 24, I32), I64)


def _asked(b: ir.IRBuilder, frame: ir.Value, api: ir.Value, function: str, nbytes: int) -> ir.Value:
  """What XLA answers to a question about a call: a struct of so many bytes with its size, an extension, the context, and the answer. An
  error is returned."""
  query = struct(b, 4)
  fill(b, query, [i64(nbytes), i64(0), read(b, frame, ffi.FRAME_CONTEXT, I64), i64(0)])
  error = b.call(api_function(b, api, function), [query])
  with if_then(b, b.icmp_unsigned("!=", error, _NULL), ends=True):
    b.ret(error)
  return query


def _places(b: ir.IRBuilder, frame: ir.Value, mapping: GridMapping, has_scratch: bool) -> list[ir.Value]:
  """Where the addresses of dynamic bounds, arrays and scratch memory are: a parameter of a launch is a pointer to its value."""
  operands, results = read(b, frame, ffi.FRAME_ARGS), read(b, frame, ffi.FRAME_RETS)
  num_operands = mapping.num_dynamic_bounds + mapping.num_prefetch + mapping.num_inputs
  buffers = [read(b, operands, 8 * i) for i in range(num_operands)]
  buffers += [read(b, results, 8 * i) for i in range(mapping.num_outputs + has_scratch)]
  places = [at(b, buffer, ffi.BUFFER_DATA) for buffer in buffers]
  if not has_scratch:
    places.append(struct(b, 1))
    fill(b, places[-1], [i64(0)])
  return places


def _words(b: ir.IRBuilder, numbers: list[int]) -> ir.Value:
  """32-bit numbers on the stack, two in each slot, the first in the lower half."""
  padded = [*numbers, *([0] * (len(numbers) % 2))]
  place = struct(b, len(padded) // 2)
  fill(b, place, [i64(high << 32 | low) for low, high in zip(padded[::2], padded[1::2])])
  return place


def _tensor_map(b: ir.IRBuilder, module: ir.Module, m: TensorMap, data: ir.Value) -> tuple[ir.Value, ir.Value]:
  """A tensor map on the stack, filled for an array that starts at `data`, and what the driver says to that."""
  room = b.ptrtoint(b.alloca(ir.ArrayType(I8, tma.MAP_BYTES + tma.MAP_ALIGNMENT)), I64)
  place = b.inttoptr(b.and_(b.add(room, i64(tma.MAP_ALIGNMENT - 1)), i64(-tma.MAP_ALIGNMENT)), PTR)
  rank = len(m.shape)
  sizes = list(reversed(m.shape))  # the last dimension comes first
  dims, strides = struct(b, rank), struct(b, rank - 1)
  fill(b, dims, [i64(size) for size in sizes])
  fill(b, strides, [i64(stride) for stride in reversed(m.outer_strides)])
  box, ones = _words(b, [m.box_columns, *reversed(m.box)]), _words(b, [1] * rank)
  kinds = [PTR, I32, I32, PTR, PTR, PTR, PTR, PTR, I32, I32, I32, I32]
  encode = external(module, "cuTensorMapEncodeTiled", I32, kinds)
  args = [place, I32(tma.KINDS[m.kind][0]), I32(rank), data, dims, strides, box, ones]
  return place, b.call(encode, [*args, I32(0), I32(_SWIZZLES[m.swizzle_bytes]), I32(_PROMOTE_256B), I32(0)])


def _check(b: ir.IRBuilder, api: ir.Value, status: ir.Value, what: str) -> None:
  """Return an error that XLA raises, unless the driver's status is that of success."""
  module = b.module
  with if_then(b, b.icmp_unsigned("!=", status, I32(0)), ends=True):
    parts = []
    for function in ("cuGetErrorName", "cuGetErrorString"):
      slot = struct(b, 1)
      fill(b, slot, [i64(0)])
      b.call(external(module, function, I32, [I32, PTR]), [status, slot])
      parts.append(read(b, slot, 0))
    form = bytearray(what.replace("%", "%%").encode() + b": %s (%s).\0")
    text = ir.GlobalVariable(module, ir.ArrayType(I8, len(form)), module.get_unique_name("message"))
    text.initializer, text.global_constant = ir.Constant(text.type.pointee, form), True
    room = struct(b, _MESSAGE_BYTES // 8)
    write = external(module, "snprintf", I32, [PTR, I64, PTR], var_arg=True)
    b.call(write, [room, i64(_MESSAGE_BYTES), b.bitcast(text, PTR), *parts])
    b.ret(emit_error(b, api, b.ptrtoint(room, I64)))
