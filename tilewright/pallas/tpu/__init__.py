"""Kernels for TPUs, on any device: a drop-in replacement for `jax.experimental.pallas.tpu`.

Hardware features keep their meaning where they have one on other devices; those that only a TPU has raise an error when called.
"""

from __future__ import annotations

from tilewright.errors import UnsupportedPrimitiveError as LoweringException
from tilewright.pallas import debugging as _debugging
from tilewright.pallas import deprecated as _deprecated
from tilewright.pallas import scoped as _scoped
from tilewright.pallas import semaphores as _semaphores
from tilewright.pallas.arithmetic import reciprocal
from tilewright.pallas.dma import (
  AsyncCopyDescriptor,
  async_copy,
  async_remote_copy,
  make_async_copy,
  make_async_remote_copy,
  sync_copy,
)
from tilewright.pallas.specs import PrefetchScalarGridSpec
from tilewright.pallas.tpu import core
from tilewright.pallas.tpu import memory as _memory
from tilewright.pallas.tpu import mesh as _mesh
from tilewright.pallas.tpu import ops as _ops
from tilewright.pallas.tpu.barrier import get_barrier_semaphore
from tilewright.pallas.tpu.buffered_ref import BufferedRef, BufferedRefBase, BufferType
from tilewright.pallas.tpu.info import (
  ChipVersion,
  SparseCoreInfo,
  TpuInfo,
  get_tpu_info,
  get_tpu_info_for_chip,
  is_tpu_device,
)
from tilewright.pallas.tpu.interpret import (
  InterpretParams,
  force_tpu_interpret_mode,
  interpret_error,
  interpret_races,
  reset_tpu_interpret_mode_state,
  set_tpu_interpret_mode,
)
from tilewright.pallas.tpu.memory import (
  ACC,
  CMEM,
  HBM,
  KEY,
  SEMAPHORE,
  SMEM,
  VMEM,
  VMEM_SHARED,
  MemorySpace,
  SemaphoreType,
  dma_semaphore,
)
from tilewright.pallas.tpu.mesh import CoreType, TensorCoreMesh, core_barrier, run_on_first_core
from tilewright.pallas.tpu.ops import (
  annotate,
  bitcast,
  conv,
  einshape,
  load,
  matmul_acc_lhs,
  matmul_lhs_fifo,
  matmul_pop,
  matmul_pop_fifo,
  matmul_push_rhs,
  pack_elementwise,
  roll,
  stochastic_round,
  store,
  touch,
  trace_value,
  unpack_elementwise,
  with_memory_space_constraint,
)
from tilewright.pallas.tpu.params import (
  ARBITRARY,
  CORE_PARALLEL,
  PARALLEL,
  SUBCORE_PARALLEL,
  CompilerParams,
  GridDimensionSemantics,
  OptLevel,
  SideEffectType,
  Tiling,
)
from tilewright.pallas.tpu.pipeline import (
  PipelineStep,
  emit_pipeline,
  emit_pipeline_with_allocations,
)
from tilewright.pallas.tpu.prefetch import emit_pipeline_with_async_prefetch
from tilewright.pallas.tpu.random import (
  prng_random_bits,
  prng_seed,
  sample_block,
  stateful_bernoulli,
  stateful_bits,
  stateful_normal,
  stateful_uniform,
  to_pallas_key,
)
from tilewright.runtime import _jax
from tilewright.tile import memory as _tile_memory

if _jax.JAX_VERSION < (0, 11):
  # Deprecated from jax 0.11 on; see below.
  from tilewright.pallas.tpu.mesh import create_tensorcore_mesh


__getattr__ = _deprecated.lookup(
  __name__,
  "pltpu",
  {
    "TPUCompilerParams": ("pltpu.CompilerParams", CompilerParams),
    "TPUMemorySpace": ("pltpu.MemorySpace", MemorySpace),
    "TPUInterpretParams": ("pltpu.InterpretParams", InterpretParams),
    "ANY": ("pl.ANY", _memory.CommonMemorySpace.ANY),
    "HOST": ("pl.HOST", _memory.CommonMemorySpace.HOST),
    "DeviceIdType": ("pl.DeviceIdType", _semaphores.DeviceIdType),
    "semaphore": ("pl.semaphore", _tile_memory.semaphore),
    "semaphore_read": ("pl.semaphore_read", _semaphores.semaphore_read),
    "semaphore_signal": ("pl.semaphore_signal", _semaphores.semaphore_signal),
    "semaphore_wait": ("pl.semaphore_wait", _semaphores.semaphore_wait),
    "run_scoped": ("pl.run_scoped", _scoped.run_scoped),
    "delay": ("pl.delay", _debugging.delay),
    "repeat": ("jnp.tile", _ops.repeat),
    "create_tensorcore_mesh": ("pltpu.TensorCoreMesh", _mesh.create_tensorcore_mesh),
  },
)
