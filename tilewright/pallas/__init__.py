"""The kernel language: a drop-in replacement for `jax.experimental.pallas`."""

from tilewright.pallas import checks as _checks  # registers the rule of checkify
from tilewright.pallas import deprecated as _deprecated
from tilewright.pallas import printing as _printing  # registers how jaxprs show what kernels do
from tilewright.pallas import transforms as _transforms  # registers the rules of vmap and of derivatives
from tilewright.pallas.allocation import empty, empty_like, empty_ref_like, run_state
from tilewright.pallas.arithmetic import align_to, broadcast_to, cdiv, next_power_of_2, strides_from_shape
from tilewright.pallas.arithmetic import dot as _dot
from tilewright.pallas.arithmetic import reciprocal as _reciprocal
from tilewright.pallas.call import pallas_call, pallas_call_p
from tilewright.pallas.control import loop, when
from tilewright.pallas.cost import estimate_cost
from tilewright.pallas.debugging import debug_check, debug_print, delay
from tilewright.pallas.dma import select_ref
from tilewright.pallas.export import lower_as_mlir, pallas_export_experimental
from tilewright.pallas.kernel import core_map as _core_map
from tilewright.pallas.kernel import kernel
from tilewright.pallas.options import enable_debug_checks, enable_poison_buffers
from tilewright.pallas.primitives import (
  atomic_add,
  atomic_and,
  atomic_cas,
  atomic_max,
  atomic_min,
  atomic_or,
  atomic_xchg,
  atomic_xor,
  load,
  multiple_of,
  num_programs,
  program_id,
  store,
  swap,
)
from tilewright.pallas.scoped import get_global, run_scoped, with_scoped
from tilewright.pallas.semaphores import DeviceIdType, semaphore_read, semaphore_signal, semaphore_wait
from tilewright.pallas.specs import BlockSpec, CompilerParams, GridSpec, no_block_spec
from tilewright.runtime import pretend as _pretend
from tilewright.runtime._jax import JAX_VERSION as _JAX_VERSION
from tilewright.runtime._jax import Slice, ds, dslice
from tilewright.tile.grid import (
  BlockDim,
  Blocked,
  BoundedSlice,
  Buffered,
  CostEstimate,
  Element,
  Indirect,
  RevisitMode,
  Squeezed,
  squeezed,
)
from tilewright.tile.memory import MemoryRef, MemorySpace, semaphore, semaphore_dtype

_pretend.from_environment()

ANY = MemorySpace.ANY
HOST = MemorySpace.HOST

if _JAX_VERSION < (0, 11):
  # Deprecated from jax 0.11 on; see below.
  core_map, reciprocal = _core_map, _reciprocal

__getattr__ = _deprecated.lookup(
  __name__,
  "pl",
  {
    "dot": ("jnp.dot, jnp.einsum or the @ operator", _dot),
    "core_map": ("pl.kernel", _core_map),
    "reciprocal": ("pltpu.reciprocal", _reciprocal),
    "debug_checks_enabled": ("pl.enable_debug_checks.value", lambda: enable_debug_checks.value),
  },
)
