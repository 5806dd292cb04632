"""A worker thread with a time limit for passes: a call that can be abandoned.

XLA waits for the hook, so a pass that does not terminate would hang the program. Passes therefore run in a daemon thread, and the
thread in which XLA called back waits for it. At the limit the wait ends and `Stopped` is raised in the pass's thread, which ends any
loop written in Python. A pass that is blocked in native code is abandoned: it holds nothing that the program needs, because
it worked on its own copy of the module.

At exit, the interpreter would end a thread that returns from XLA in the middle of C++ frames, which aborts
the process. `_close` therefore ends all waits, lets the compilations in flight finish without passes, and ends their threads.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import ctypes
import functools
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from tilewright.hlo.errors import HloError

T = TypeVar("T")

_changed = threading.Condition()
_calls = 0  # in flight
_closing = False


class Stopped(BaseException):
  """Raised in the thread of a pass that exceeded its time limit."""


class PassTimeout(HloError, TimeoutError):
  """Passes exceeded `install(time_limit=…)`. The message ends with where they were; a note has the stack."""


class _Call(Generic[T]):
  def __init__(self, function: Callable[[], T]) -> None:
    self.function = function
    self.result: list[T] = []
    self.error: BaseException | None = None
    self.is_done = False

  def run(self) -> None:
    try:
      self.result.append(self.function())
    except BaseException as error:  # also SystemExit: a pass must not end anything but itself
      self.error = error
    finally:
      with _changed:
        self.is_done = True
        _changed.notify_all()


def run_limited(function: Callable[[], T], seconds: float | None) -> T:
  """`function()`, in a thread with this thread's context variables. `PassTimeout` if it takes longer than `seconds`."""
  call = _Call(function)
  context = contextvars.copy_context()
  thread = threading.Thread(target=context.run, args=(call.run,), name="tilewright-passes", daemon=True)
  deadline = None if seconds is None else time.monotonic() + seconds
  try:
    thread.start()
    with _changed:
      while not call.is_done and not _closing:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
          break
        _changed.wait(left)
      is_done = call.is_done
  except BaseException:  # Ctrl-C while we wait
    _stop(thread)
    raise
  if not is_done:
    error = _timeout(thread, seconds)
    _stop(thread)
    raise error
  if call.error is not None:
    raise call.error
  return call.result[0]


def _timeout(thread: threading.Thread, seconds: float | None) -> PassTimeout:
  frame = sys._current_frames().get(thread.ident or -1)
  stack = traceback.extract_stack(frame) if frame is not None else traceback.StackSummary()
  where = f"line {stack[-1].lineno} of {stack[-1].filename}" if stack else "an unknown place"
  error = PassTimeout(f"the passes did not end within {seconds} s (time_limit); they were at {where}")
  error.add_note("".join(stack.format()))
  return error


def _stop(thread: threading.Thread) -> None:
  if thread.ident is not None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped))


def is_closing() -> bool:
  """Whether the process is about to end."""
  return _closing


@contextlib.contextmanager
def compilation() -> Iterator[None]:
  """Within, this thread compiles something that passes may run on."""
  global _calls
  with _changed:
    _calls += 1
  try:
    yield
  finally:
    with _changed:
      _calls -= 1
      _changed.notify_all()
  if _closing and threading.current_thread() is not threading.main_thread():
    raise SystemExit  # a daemon thread: ended here, where it holds no C++ frames


@functools.cache
def watch_exit() -> None:
  """Registers `_close`. JAX must have been imported: its own handlers, which take back ends down, run after it."""
  atexit.register(_close)


def _close() -> None:
  global _closing
  with _changed:
    _closing = True
    _changed.notify_all()
    _changed.wait_for(lambda: not _calls, timeout=10)
