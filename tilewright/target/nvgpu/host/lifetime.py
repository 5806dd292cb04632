"""The lifetime of a kernel's code on the devices: it stays loaded while a program exists that may launch it.

XLA never forgets a handler, so the launcher of a kernel, a few kilobytes for the host, stays. The kernel itself is loaded when it is
compiled or found, and unloaded when nothing uses it. Its launcher counts the users:

    a program      when XLA builds an executable, it lets the handler *instantiate* each call. That counts one more user, whose counter
                   becomes the state of the call; XLA deletes the state with the executable
    a lowering     holds its kernels by Python objects (`Callee`) that JAX keeps beside the module

A kernel without users may be unloaded, once the devices are done with what was launched. If a program is lowered again, the kernel is
loaded again, and its launcher gets the new handles.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import threading
import weakref
from typing import Any

from tilewright.runtime import code_memory, cuda, ffi, linking
from tilewright.runtime.linking import Linked
from tilewright.target.nvgpu.host import peer_memory
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

_PLATFORM, _STATE = "CUDA", "tilewright_cuda_users"  # what XLA knows the platform and the type of the state by
_lock = threading.Lock()
_launchers: dict[str, Linked] = {}


@dataclasses.dataclass(frozen=True)
class Callee:
  """A kernel that XLA can call under a name, if it gives it so much memory to work in, and outputs that begin as poison.

  The kernel is not unloaded while this is alive."""

  name: str
  workspace_bytes: int
  poisoned: tuple[int, ...]
  address: int = 0  # of its handler
  symmetric_bytes: int = 0  # of the heap of each device, if it accesses others


@functools.cache
def _state_type(deleter: int) -> int:
  """Where XLA puts the number of the state's type, whose deleter may be that of any launcher."""
  number = code_memory.zeros(8)
  ffi.register_state(_STATE, number, deleter, _PLATFORM)
  return number


class Resident:
  """A kernel on the devices, and its launcher."""

  def __init__(self, callee: Callee, launcher: Linked, handles: Any):
    self._callee, self._launcher, self._handles = callee, launcher, handles
    if len(handles) == 1:
      self._variable(HANDLE).value = handles[0]
    else:
      self._variable(HANDLES).value = ctypes.addressof(handles)
    self._variable(GONE).value = 0
    if callee.symmetric_bytes:
      self._variable(DIRECTORY).value = peer_memory.directory()

  @classmethod
  def of(cls, callee: Callee, launcher: bytes, handles: Any) -> Resident:
    """A kernel with these handles. The launcher of its name, given as object code, is linked once."""
    with _lock:
      if callee.name not in _launchers:
        _launchers[callee.name] = linking.link(launcher)
      linked = _launchers[callee.name]
    return cls(dataclasses.replace(callee, address=linked.address(HANDLER)), linked, handles)

  def register(self) -> None:
    """Let XLA call the kernel. It may be done again."""
    with _lock:
      if not self._variable(STATE_TYPE).value:
        first = next(iter(_launchers.values()))
        self._variable(STATE_TYPE).value = _state_type(first.address(RELEASE))
    stages = {"instantiate": self._launcher.address(INSTANTIATE), "execute": self._launcher.address(HANDLER)}
    ffi.register(self._callee.name, stages, _PLATFORM)

  def hold(self) -> Callee:
    """Not to be unloaded from now on, while what this gives is alive."""
    held = dataclasses.replace(self._callee)
    self._count(RETAIN)()
    weakref.finalize(held, self._count(RELEASE)).atexit = False
    return held

  def free(self) -> bool:
    """Unload the kernel if nothing uses it, and say whether that is so."""
    users, gone = self._variable(USERS), self._variable(GONE)
    if users.value:
      return False
    gone.value = 1  # who counts as a user from now on sees it
    if users.value or not cuda.unload(self._handles):
      gone.value = 0
      return False
    self._variable(HANDLE).value = self._variable(HANDLES).value = 0
    return True

  def _variable(self, name: str) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(self._launcher.address(name))

  def _count(self, name: str) -> Any:
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._launcher.address(name))
    return functools.partial(function, self._launcher.address(USERS))
