"""The lifetime of a kernel's code: it stays in memory while a program exists that may call it.

XLA never forgets a handler, and an executable may outlive every Python object that led to it. So one handler serves all kernels, and a call
names its code by an attribute, the hash of everything the code depends on:

    custom_call "tilewright_cpu" {code = "3f2a91…"}

When XLA builds an executable, it lets the handler *instantiate* each call: the name is looked up in a table of *records*, the record counts
one more user, and its address becomes the state of that call, which XLA hands to the handler at each run and deletes with the executable.
A program that is lowered but not compiled yet holds its code by a Python object (`Hold`) that JAX keeps beside the module. A record without
users may be withdrawn; after that nothing can reach its code, which is freed.

What XLA calls is native code (`records`, part of the launcher), since XLA has threads of its own, with or without the GIL.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import weakref
from typing import Any

from tilewright.runtime import code_memory, ffi, linking
from tilewright.runtime.linking import Linked
from tilewright.target.cpu import deadlocks, rendezvous_layout
from tilewright.target.cpu.processes import World

TARGET, STATE = "tilewright_cpu", "tilewright_cpu_code"  # XLA's names for the handler and its state
ATTRIBUTE, NAME_BYTES = "code", 32
TITLE, SITE_TITLE, TITLE_BYTES = "title", 8, 184  # what a call is, for messages; where it is in the call's site
# Which domain of several processes a call is in (its address, or 0), which call of the program it is, and whether the program's devices
# meet in gangs only, so that what XLA computes between them never waits for another device; where these are in the site. Then, unless all
# devices meet: for each device the number of its party, and in the site how many devices these are.
WORLD, SITE_WORLD, WORLD_WORDS = "world", SITE_TITLE + TITLE_BYTES, 3
SITE_DOMAIN, SITE_CALL, SITE_ONLY_GANGS, SITE_PARTIES, SITE_PARTY = (SITE_WORLD + 8 * i for i in range(WORLD_WORDS + 2))
SITE_BYTES = SITE_PARTY
FACTS = "facts"  # the global variable of a kernel's code that holds its `Facts`
# A record: the next one of its bucket, how many use it, the kernel's facts, the name.
NEXT, USERS, RECORD_FACTS, NAME = 0, 8, 16, 24
_RECORD_BYTES = NAME + NAME_BYTES
# The functions of the launcher, and the variable in which XLA puts the number of the state's type.
INSTANTIATE, EXECUTE, RETAIN, RELEASE, RELEASE_SITE, PUBLISH, WITHDRAW = (
  *("instantiate", "execute", "retain", "release"),
  *("release_site", "publish", "withdraw"),
)
TYPE_ID = "type_id"


@dataclasses.dataclass(frozen=True)
class Launcher:
  """The functions that all kernels share. They stay as long as the process."""

  code: Linked

  @functools.cached_property
  def retain(self) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(RETAIN))

  @functools.cached_property
  def release(self) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(RELEASE))

  @functools.cached_property
  def publish(self) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(PUBLISH))

  @functools.cached_property
  def withdraw(self) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.code.address(WITHDRAW))

  def in_world(self, world: World) -> None:
    """Let kernels allocate from this process's heap in the shared segment."""
    ctypes.c_int64.from_address(self.code.address(rendezvous_layout.OWN_HEAP)).value = world.heap

  def register(self) -> None:
    """Register the handler with XLA, and the shared functions with the linker. Idempotent, so it can be repeated after an interruption."""
    for name in rendezvous_layout.FUNCTIONS:
      linking.define(name, self.code.address(name))
    deadlocks.watch(self.code)
    ffi.register_state(STATE, self.code.address(TYPE_ID), self.code.address(RELEASE_SITE), "cpu")
    stages = {stage: self.code.address(stage) for stage in (INSTANTIATE, EXECUTE)}
    ffi.register(TARGET, stages, "cpu")


class Resident:
  """The code of a kernel in memory, with its record."""

  def __init__(self, launcher: Launcher, name: str, code: Linked):
    self.name = name[:NAME_BYTES]
    self._launcher, self._code = launcher, code
    self._record = code_memory.zeros(_RECORD_BYTES)
    ctypes.c_uint64.from_address(self._record + RECORD_FACTS).value = code.address(FACTS)
    ctypes.memmove(self._record + NAME, self.name.encode(), NAME_BYTES)

  def publish(self) -> None:
    """Enter the code in the table of records, by its name. Idempotent."""
    self._launcher.publish(self._record)

  def hold(self) -> Hold:
    """A handle; the code is not freed while it is alive."""
    held = Hold(self.name)
    self._launcher.retain(self._record)
    weakref.finalize(held, self._launcher.release, self._record).atexit = False
    return held

  def free(self) -> bool:
    """Free the code if nothing uses it; returns whether it was freed."""
    if not self._launcher.withdraw(self._record):
      return False
    self._code.free()
    code_memory.free_zeros(self._record)
    return True


class Hold:
  """A handle that keeps the code of this name in memory."""

  def __init__(self, name: str):
    self.name = name
