"""The names of `jax.experimental.pallas.triton`, with the same semantics on every target."""

from tilewright.pallas.arithmetic import dot
from tilewright.pallas.primitives import (
  atomic_add,
  atomic_and,
  atomic_cas,
  atomic_max,
  atomic_min,
  atomic_or,
  atomic_xchg,
  atomic_xor,
)
from tilewright.pallas.triton.gpu_info import (
  GpuInfo,
  GpuVersion,
  get_gpu_info,
  get_gpu_info_from_version,
  is_gpu_device,
)
from tilewright.pallas.triton.ops import (
  CUSTOM_CALL_TARGET_NAME,
  CompilerParams,
  approx_tanh,
  debug_barrier,
  elementwise_inline_asm,
  load,
  max_contiguous,
  store,
)

__all__ = [
  "CUSTOM_CALL_TARGET_NAME",
  "CompilerParams",
  "GpuInfo",
  "GpuVersion",
  "approx_tanh",
  "atomic_add",
  "atomic_and",
  "atomic_cas",
  "atomic_max",
  "atomic_min",
  "atomic_or",
  "atomic_xchg",
  "atomic_xor",
  "debug_barrier",
  "dot",
  "elementwise_inline_asm",
  "get_gpu_info",
  "get_gpu_info_from_version",
  "is_gpu_device",
  "load",
  "max_contiguous",
  "store",
]
