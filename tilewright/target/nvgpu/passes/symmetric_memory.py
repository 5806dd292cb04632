"""What a kernel that accesses other devices needs of symmetric memory, and where it lies there.

Each device has a heap that all the others map (`host.peer_memory`), and a kernel uses the same offsets in all of them:

    control     the counters by which CTAs of one number meet on all devices, and a lock
    arrays      those that other devices access, copied there before the kernel and back after it
    scratch     buffers that other devices access
    semaphores  all of a kernel's

One kernel after another uses the same memory: nobody leaves a kernel before all have ended its body.
"""

from __future__ import annotations

import dataclasses
import math
import zlib

from tilewright import errors
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Op, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.remote_arrays import Staged, number_of_devices, staged
from tilewright.tile.types import SemaphoreArrayType

MAX_DEVICES, MAX_BLOCKS = 64, 256
# The control part, in bytes: whether the domain is broken, the lock of this device's memory; then a row for each CTA of a launch: how many
# kernels it has run, and for each device the kernel in which it arrived, that which it left, and the last one in which it failed.
BROKEN, LOCK, ROWS = 0, 8, 64
COUNT, ARRIVED, LEFT, FAILED = 0, 8, 8 + 8 * MAX_DEVICES, 8 + 16 * MAX_DEVICES
ROW_BYTES = 2048
DATA = ROWS + MAX_BLOCKS * ROW_BYTES + 4032  # behind the control part, a multiple of a page
# A word of ARRIVED: the number of the kernel among those of its row, 16 bits that tell kernels apart, and the heap that the device has.
EPOCH_SHIFT, TAG_SHIFT, SLOT_MASK, TAG_MASK = 24, 8, 0xFF, 0xFFFF
# The table of a device, in words of 64 bits: its own heap's number, how many there are, nanoseconds to wait, where the host says that a
# process has ended, and where each heap is mapped.
OWN_SLOT, NUM_SLOTS, PATIENCE, HOST_WORD, HEAPS = range(5)
TABLE_BYTES = 8 * (HEAPS + MAX_DEVICES)
_ALIGNED = 256
# What a wait found, in shared memory.
VERDICT_WORDS = 4
VERDICT_BYTES = 4 * VERDICT_WORDS

# Ops that other devices may observe, or by which this one observes them.
SYNCHRONISING = frozenset({"signal", "wait", "read_semaphore", "lock_device", "unlock_device"})


@dataclasses.dataclass(frozen=True)
class Symmetric:
  """The symmetric memory of a kernel: offsets in bytes from the start of the heap."""

  devices: int
  tag: int  # tells this kernel from others
  arrays: tuple[tuple[Staged, int], ...]
  scratch: tuple[tuple[int, int], ...]  # the numbers of scratch buffers and semaphores
  nbytes: int


def plan(kernel: NativeKernel) -> Symmetric:
  """Where everything is that other devices access."""
  check(kernel)
  at, arrays, scratch = DATA, [], []
  places: dict[int, int] = {}
  for each in staged(kernel):
    places[each.number] = places[each.same_as] if each.same_as >= 0 else at
    arrays.append((each, places[each.number]))
    if each.same_as < 0:
      at += -(-max(1, each.nbytes) // _ALIGNED) * _ALIGNED
  for number, nbytes in _scratch(kernel):
    scratch.append((number, at))
    at += -(-max(1, nbytes) // _ALIGNED) * _ALIGNED
  tag = zlib.crc32(
    f"{kernel.name} {kernel.mesh} {kernel.mapping.grid} {[m.array_aval for m in kernel.mapping.block_mappings]}".encode()
  )
  return Symmetric(number_of_devices(kernel), tag & TAG_MASK, tuple(arrays), tuple(scratch), at)


def _scratch(kernel: NativeKernel) -> list[tuple[int, int]]:
  """The scratch buffers that others access and all semaphores, by number, with their bytes."""
  refs = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  seen = {base_of(op.operands[0]) for op in walk(kernel.body.body) if op.name == "remote"}
  found = []
  for number, (ref, kind) in enumerate(zip(refs, kernel.scratch)):
    if isinstance(kind, SemaphoreArrayType):
      found.append((number, 4 * math.prod(kind.shape)))
    elif ref in seen:
      found.append((number, ref.ref.size * ref.ref.dtype.itemsize))
  return found


def waits(kernel: NativeKernel) -> bool:
  """Whether instances signal or wait: they then run in order, in one CTA."""
  return any(op.name in SYNCHRONISING for op in walk(kernel.body.body))


def check(kernel: NativeKernel) -> None:
  """Refuse what is not there on GPUs."""
  what = f"The kernel '{kernel.name}' accesses other devices"
  if kernel.warpgroups > 1:
    raise errors.NativeCodeError(
      f"{what} and has {kernel.warpgroups} warpgroups (num_threads), which cannot be compiled to native GPU code together. Use one "
      "warpgroup, or pass interpret=True."
    )
  if number_of_devices(kernel) > MAX_DEVICES:
    raise errors.NativeCodeError(
      f"{what}, of which there are {number_of_devices(kernel)}; native GPU code has at most {MAX_DEVICES}."
    )
  for op in walk(kernel.body.body):
    combines = op.name == "atomic" or (op.name == "scatter_store" and op.attrs["kind"] != "set")
    base = base_of(op.operands[0]).owner if combines or op.name == "remote" else None
    if isinstance(base, Op) and base.name == "remote":
      how = "sent on to a third" if op.name == "remote" else "changed by an atomic operation or a scatter that adds"
      raise errors.NativeCodeError(
        f"A ref on another device cannot be {how} in native GPU code, at {op.loc}. Send the values to a buffer, and let the other device "
        "do it; or pass interpret=True."
      )


__all__ = ["Symmetric", "check", "plan", "waits"]
