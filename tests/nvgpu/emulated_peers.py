"""The driver of symmetric memory for devices that the CPU stands for: heaps in memory that processes share, mapped where each likes."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
from typing import Any

import emulated

from tilewright.collectives import fused, primitives, ragged
from tilewright.pallas import targets
from tilewright.runtime import cuda
from tilewright.target.nvgpu.host import peer_memory

PROCESSORS = 2


class OnCpu:
  """Addresses are those of the process; each process, and each device, has a mapping of its own, so that they differ."""

  def __init__(self) -> None:
    self._kept: list[Any] = []
    self._files: dict[int, tuple[int, int]] = {}

  def _map(self, descriptor: int, nbytes: int) -> int:
    mapped = mmap.mmap(descriptor, nbytes)
    self._kept.append(mapped)
    view = (ctypes.c_char * nbytes).from_buffer(mapped)
    self._kept.append(view)
    return ctypes.addressof(view)

  def allocate(self, device: int, nbytes: int) -> int:
    descriptor = os.memfd_create("heap")
    nbytes = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    os.ftruncate(descriptor, nbytes)
    address = self._map(descriptor, nbytes)
    self._files[address] = descriptor, nbytes
    return address

  def offer(self, device: int, address: int) -> str:
    descriptor, nbytes = self._files[address]
    return json.dumps([os.getpid(), descriptor, nbytes])

  def open(self, device: int, offer: str) -> int:
    pid, descriptor, nbytes = json.loads(offer)
    opened = os.open(f"/proc/{pid}/fd/{descriptor}", os.O_RDWR)
    try:
      return self._map(opened, nbytes)
    finally:
      os.close(opened)

  def reach(self, device: int, other: int) -> None:
    pass

  def write(self, device: int, address: int, data: bytes) -> None:
    ctypes.memmove(address, data, len(data))

  def host_word(self, device: int) -> tuple[int, int]:
    word = ctypes.c_uint64()
    self._kept.append(word)
    return ctypes.addressof(word), ctypes.addressof(word)


def install(patch: Any = setattr) -> None:
  """From now on kernels, and collectives as kernels, run as the code for GPUs that the CPU stands for."""
  patch(peer_memory.cuda_memory, "Cuda", OnCpu)
  peer_memory.renew()  # heaps of other drivers are not these
  patch(cuda, "processors", lambda: PROCESSORS)
  patch(cuda, "capabilities", lambda: ((9, 0),) * 8)
  patch(targets, "NATIVE", {**targets.NATIVE, "cpu": emulated.run})
  for module in (primitives, ragged, fused):
    rules = module._lower_kernel
    patch(module, "_lower_kernel", {**rules, "cpu": rules["cuda"]})
