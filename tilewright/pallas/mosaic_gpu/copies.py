"""Asynchronous copies between global and shared memory, and the waits for them.

    plgpu.copy_gmem_to_smem(x_ref.at[rows], x_smem, barrier)
    plgpu.barrier_wait(barrier)

On GPUs, in CTAs of several warpgroups and in CTAs of one warpgroup whose copies have barriers:

| copy                                    | sm_90a and later                            | before, and where no box fits                |
|-----------------------------------------|---------------------------------------------|----------------------------------------------|
| to shared memory, with a barrier        | TMA, issued by one thread;                  | by all threads (`cp.async`), in pieces of 4  |
|                                         | its bytes arrive at the barrier             | to 16 bytes that arrive at the barrier       |
| to shared memory, without               | done when the call returns                  | the same                                     |
| to global memory                        | TMA; in flight until                        | done when the call returns                   |
|                                         | `wait_smem_to_gmem`                         |                                              |

A TMA box fits (`nvgpu.emit.by_hand.tma_copies`) if the array's row stride is a multiple of 16 bytes, and the part is contiguous along its
last dimension and is 128-byte aligned in shared memory, row by row or in swizzled tiles. A copy to shared memory must read an array that
the kernel does not write, and some warpgroup must wait at the barrier; a copy to global memory must write an array that the kernel writes
only by such copies. A copy to shared memory must have arrived before the kernel ends. `cp.async` needs rows that are aligned to four bytes;
other copies are loads and stores, done when the call returns.
"""

from __future__ import annotations

import operator
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas import effects, primitives
from tilewright.pallas.arity import describe_value
from tilewright.pallas.control import when
from tilewright.pallas.mosaic_gpu import atomics
from tilewright.pallas.mosaic_gpu.barriers import arrive_with_copy, check_axes, check_barrier
from tilewright.pallas.mosaic_gpu.partition import axes_of, share
from tilewright.pallas.mosaic_gpu.specs import OOBFillMode
from tilewright.pallas.mosaic_gpu.zero_fill import zero_filled
from tilewright.pallas.primitives import Primitive
from tilewright.runtime import _jax
from tilewright.target import xla

_MIN_REGISTERS, _MAX_REGISTERS = 24, 256  # of a thread, that setmaxnreg takes

# What a warpgroup of several says on a GPU; elsewhere copies are done when their calls return, and there are no registers.
commit_copies_p = Primitive("commit_copies")
await_copies_p = Primitive("await_copies")
set_max_registers_p = Primitive("set_max_registers")
for _own in (commit_copies_p, await_copies_p, set_max_registers_p):
  _own.multiple_results = True
  _own.def_effectful_abstract_eval(lambda **params: ([], {effects.semaphore_effect}))
  xla.register(_own)(lambda ctx, **params: [])


def check_refs(what: str, **refs: Any) -> None:
  """Arguments that must be refs, or views of them."""
  for name, ref in refs.items():
    if not primitives.is_ref(ref):
      raise errors.RefTypeError(
        f"plgpu.{what}: {name}: expected a ref or a view of one, got {describe_value(ref)}. Can only call `{what}` on a `Ref`."
      )


def space_of(ref: Any) -> str:
  """The memory that a ref, or the ref that a view is of, lies in: "smem", "gmem", …"""
  own = ref.ref if isinstance(ref, primitives.TransformedRef) else ref
  space = str(getattr(_jax.core.typeof(own), "memory_space", None)).lower()
  return "gmem" if space == "any" else space  # where operands of kernels lie


def check_spaces(what: str, src: Any, dst: Any) -> None:
  """Refuse a copy that goes the other way than its name says."""
  wrong = {"copy_gmem_to_smem": ("smem", "gmem"), "copy_smem_to_gmem": ("gmem", "smem")}[what]
  for name, ref, space in zip(("src", "dst"), (src, dst), wrong):
    if space_of(ref).startswith(space):
      raise errors.MemorySpaceError(
        f"plgpu.{what}: {name} must be a {'GMEM' if space == 'smem' else 'SMEM'} reference, but lies in {space.upper()}. "
        f"The order is {what}(src, dst, ...); for the other direction there is "
        f"plgpu.{'copy_smem_to_gmem' if what == 'copy_gmem_to_smem' else 'copy_gmem_to_smem'}."
      )


def check_ends(what: str, src: Any, dst: Any) -> None:
  """The two ends of a copy are refs of one shape and dtype."""
  check_refs(what, src=src, dst=dst)
  if src.dtype != dst.dtype:
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: Expected dtypes to match but src had type {src.dtype} and dst had type {dst.dtype}."
    )
  if tuple(src.shape) != tuple(dst.shape):
    raise errors.ShapeMismatchError(
      f"plgpu.{what}: Expected shapes to match, but src has shape {tuple(src.shape)} and dst has shape {tuple(dst.shape)}. "
      f"Expected source shape to be {tuple(dst.shape)}, but got {tuple(src.shape)}."
    )


def copy_gmem_to_smem(
  src: Any,
  dst: Any,
  barrier: Any = None,
  *,
  collective_axes: Any = None,
  leader_tracked: Any = None,
  oob_mode: OOBFillMode | None = None,
  predicate: jax.Array | None = None,
) -> None:
  """Copy `src` to `dst`, and arrive at a `barrier`; if a `predicate` is given, only where it is true.

  With `collective_axes`, all CTAs of a cluster along these axes make the same copy, to the same place. On a GPU with clusters each asks TMA
  for a part of it, which arrives in all of them (multicast); so none may ask before all are done with what `dst` held, which a
  `ClusterBarrier` says. Elsewhere each copies for itself. With `leader_tracked`, each gets all of it or its part (`CopyPartition`), and the
  first CTA waits for the copies of all. Where `src` is out of bounds of its array, `dst` is zero, unless `oob_mode` is another.
  """
  check_refs("copy_gmem_to_smem", src=src, dst=dst)
  check_spaces("copy_gmem_to_smem", src, dst)
  src = share("copy_gmem_to_smem", src, collective_axes, leader_tracked)
  axes = axes_of(collective_axes)
  check_axes("plgpu.copy_gmem_to_smem", axes)
  leader_axes, along = (axes, ()) if leader_tracked is not None else ((), axes)
  check_ends("copy_gmem_to_smem", src, dst)
  if barrier is not None:
    check_barrier("copy_gmem_to_smem", barrier)
  read = zero_filled if oob_mode in (None, OOBFillMode.ZEROS) else primitives.load

  def copy() -> None:
    primitives.store(dst, None, read(src))
    if barrier is not None:
      arrive_with_copy(barrier, leader_axes, along)

  _when(predicate, copy)


_REDUCTIONS = {kind: getattr(atomics, f"atomic_{kind}") for kind in ("add", "max", "min", "and", "or", "xor")}


def copy_smem_to_gmem(
  src: Any, dst: Any, predicate: jax.Array | None = None, *, commit_group: bool = True, reduction_op: str | None = None
) -> None:
  """Copy `src` to `dst`, or combine it with the old contents (a reduction); if a `predicate` is given, only where it is true.

  It may be in flight until `wait_smem_to_gmem`, and `src` must not be written until then. With `commit_group` the copies of this warpgroup
  that belong to no group yet form one.
  """
  check_ends("copy_smem_to_gmem", src, dst)
  check_spaces("copy_smem_to_gmem", src, dst)
  if reduction_op is not None and reduction_op not in _REDUCTIONS:
    raise errors.UnsupportedFeatureError(
      f"plgpu.copy_smem_to_gmem: reduction_op: expected None or one of {', '.join(_REDUCTIONS)}, got {reduction_op!r}."
    )

  def copy() -> None:
    if reduction_op:
      _REDUCTIONS[reduction_op](dst, primitives.load(src))
    else:
      primitives.store(dst, None, primitives.load(src))
      commit_copies_p.bind(group=commit_group)

  _when(predicate, copy)


def _when(predicate: Any, action: Any) -> None:
  if predicate is None:
    action()
  else:
    when(predicate)(action)


def async_prefetch(
  ref: Any, *, collective_axes: Any = None, leader_tracked: Any = None, predicate: jax.Array | None = None
) -> None:
  """Say that a part of global memory will be read soon. It changes nothing."""
  check_refs("async_prefetch", ref=ref)


# --- waiting for copies ------------------------------------------------------------------------------------------


def wait_gmem_to_smem(n: int) -> None:
  """Wait until at most `n` copies to shared memory are in flight: none is."""
  _check_count("wait_gmem_to_smem", n)


def wait_smem_to_gmem(n: int, wait_read_only: bool = False) -> None:
  """Wait until at most `n` groups of this warpgroup's copies to global memory are in flight; `wait_read_only`: until shared memory has been
  read for the others, though global memory may not have been written."""
  _check_count("wait_smem_to_gmem", n)
  await_copies_p.bind(pending=operator.index(n), read_only=bool(wait_read_only))


def _check_count(what: str, n: int) -> None:
  if isinstance(n, int) and n < 0:
    raise errors.GridError(f"plgpu.{what}: n: expected 0 or more, got {n}.")


def commit_smem() -> None:
  """Make what was written to shared memory visible to copies and products. It is."""


def commit_smem_to_gmem_group() -> None:
  """Make a group of this warpgroup's copies to global memory so far that belong to none."""
  commit_copies_p.bind(group=True)


def set_max_registers(n: int, *, action: str) -> None:
  """Let each thread of this warpgroup have `n` registers from here on: a multiple of 8, from 24 to 256.

  It has an effect on sm_90a and later, in kernels of several warpgroups (`setmaxnreg`), which begin with the same number each, 64 Ki in
  all. Who takes more waits until others have given back as many. Where the warpgroup has `n` already, or more of an increase, or fewer of a
  decrease, nothing happens.
  """
  if action not in ("increase", "decrease"):
    raise errors.GridError(f"plgpu.set_max_registers: action must be 'increase' or 'decrease', got {action!r}.")
  if not isinstance(n, int) or n % 8 or not _MIN_REGISTERS <= n <= _MAX_REGISTERS:
    raise errors.GridError(
      f"plgpu.set_max_registers: n must be a positive multiple of 8, from {_MIN_REGISTERS} to {_MAX_REGISTERS}, got {n!r}."
    )
  set_max_registers_p.bind(count=n, increase=action == "increase")


def griddepcontrol_launch_dependents() -> None:
  """Let the kernel that comes next begin. Kernels run one after another here."""


def griddepcontrol_wait() -> None:
  """Wait for the kernels before this one. They are done when it begins."""
