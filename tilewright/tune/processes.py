"""Isolated worker processes: one may crash, hang or exhaust memory, while the process that uses it continues.

    with Nursery({"JAX_PLATFORMS": "cpu"}) as nursery:
      worker = nursery.start("tilewright.tune.worker:serve")
      worker.ask({"do": "measure", ...}, seconds=30)      # the reply, or WorkerLost with the reason

Workers are forked from a process that has imported JAX and has not used it, so that a lost worker is replaced within milliseconds.
Neither is forked from the user's process, which has threads and perhaps a CUDA context. Each worker is a session of its own: Ctrl-C does
not reach it, and it is ended with everything it started. When the user's process exits, the nursery exits, and its workers with it.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

from tilewright import errors

_POLL = 0.05  # seconds between looks at a worker's memory
_START_SECONDS = 120.0  # for importing JAX on a busy machine
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_PAGE = os.sysconf("SC_PAGE_SIZE")


class WorkerLost(Exception):
  """A worker did not answer: it crashed, was killed, took too long or too much memory. The text says which.

  `is_from_outside`: another process killed it, as the system does when memory is short; its work may be correct.
  """

  def __init__(self, why: str, is_from_outside: bool = False) -> None:
    super().__init__(why)
    self.is_from_outside = is_from_outside


# --- messages ----------------------------------------------------------------------------------------------------


def send(sock: socket.socket, message: Any) -> None:
  data = pickle.dumps(message, protocol=5)
  sock.sendall(struct.pack("<Q", len(data)) + data)


def receive(sock: socket.socket) -> Any:
  """The next message; EOFError when the other end is closed."""
  (size,) = struct.unpack("<Q", _exactly(sock, 8))
  return pickle.loads(_exactly(sock, size))


def _exactly(sock: socket.socket, size: int) -> bytes:
  parts = bytearray()
  while len(parts) < size:
    try:
      part = sock.recv(min(size - len(parts), 1 << 20))
    except ConnectionResetError as error:
      raise EOFError from error
    if not part:
      raise EOFError
    parts += part
  return bytes(parts)


# --- the nursery's process ---------------------------------------------------------------------------------------


def main() -> None:
  """What the nursery runs: import everything, then fork when asked. File descriptor 0 is the way to the user's process: when that is
  gone, it is closed. (The system could end the nursery with its parent, but takes the thread that started it for the parent.)"""
  control = socket.socket(fileno=os.dup(0))
  os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
  signal.signal(signal.SIGINT, signal.SIG_IGN)
  with contextlib.suppress(EOFError):
    start = receive(control)
    sys.path[:] = start["path"]
    warnings.filterwarnings("ignore", message=".*os.fork.*")  # JAX is imported and not used: there are no threads yet
    for module in start["imports"]:
      importlib.import_module(module)
    send(control, {"ready": os.getpid()})
    while True:
      _serve(control, receive(control))


def _serve(control: socket.socket, request: dict[str, Any]) -> None:
  if request["do"] == "reap":
    send(control, {"status": _status(request["pid"])})
    return
  _, (passed,), _, _ = socket.recv_fds(control, 1, 1)
  pid = os.fork()
  if pid:
    os.close(passed)
    send(control, {"pid": pid})
    return
  try:
    _die_with_parent()
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    control.close()
    sock = socket.socket(fileno=passed)
    module, _, function = request["target"].partition(":")
    getattr(importlib.import_module(module), function)(sock)
  except (EOFError, BrokenPipeError):
    pass
  except BaseException as error:
    print(f"tilewright tune: a worker failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(1)
  os._exit(0)


def _status(pid: int) -> int | None:
  """How a worker ended; None if it does not, as one that the system holds in the middle of a call."""
  for n in range(200):
    found, status = os.waitpid(pid, os.WNOHANG)
    if found:
      return status
    time.sleep(min(1e-3 * n, _POLL))
  return None


def _die_with_parent() -> None:
  """Have the system end this process when the nursery, which has one thread, is gone."""
  with contextlib.suppress(OSError, AttributeError):
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


# --- the user's process ------------------------------------------------------------------------------------------


class Worker:
  """One process that answers messages, one at a time."""

  def __init__(self, pid: int, sock: socket.socket, fork_server: ForkServer) -> None:
    self.pid, self.sock, self.fork_server = pid, sock, fork_server
    self.is_alive = True

  def post(self, message: Any) -> None:
    """Send a message; `wait` gets the reply."""
    try:
      send(self.sock, message)
    except OSError:
      raise self._ended() from None

  def wait(self, seconds: float, memory_bytes: int | None = None) -> Any:
    """The reply. A worker that takes longer, or more memory, is ended."""
    end = time.monotonic() + seconds
    while True:
      left = end - time.monotonic()
      if left <= 0:
        self.end()
        raise WorkerLost(f"took longer than {seconds:g} s")
      ready, _, _ = select.select([self.sock], [], [], min(left, _POLL))
      if ready:
        try:
          return receive(self.sock)
        except EOFError:
          raise self._ended() from None
      if memory_bytes is not None and (used := resident_bytes(self.pid)) > memory_bytes:
        self.end()
        raise WorkerLost(f"took {used / 2**30:.1f} GiB of memory; {memory_bytes / 2**30:.1f} GiB is the limit")

  def ask(self, message: Any, seconds: float, memory_bytes: int | None = None) -> Any:
    self.post(message)
    return self.wait(seconds, memory_bytes)

  def end(self) -> None:
    """End it, and everything it started."""
    if self.is_alive:
      with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(self.pid, signal.SIGKILL)
      with contextlib.suppress(ProcessLookupError):
        os.kill(self.pid, signal.SIGKILL)
      self._ended()

  def _ended(self) -> WorkerLost:
    """Why it is no more."""
    if not self.is_alive:
      return WorkerLost("the process had ended before")
    self.is_alive = False
    self.sock.close()
    status = self.fork_server.reap(self.pid)
    if status is None:
      return WorkerLost("the process was lost")
    if os.WIFSIGNALED(status):
      number = os.WTERMSIG(status)
      name = signal.Signals(number).name if number in list(signal.Signals) else str(number)
      meant = {"SIGSEGV": " (a bad memory access)", "SIGKILL": " (killed from outside, perhaps for its memory)"}
      return WorkerLost(f"the process crashed with {name}{meant.get(name, '')}", name in ("SIGKILL", "SIGTERM"))
    return WorkerLost(f"the process exited with code {os.waitstatus_to_exitcode(status)}")


class ForkServer:
  """A process that forks workers. Environment variables are those of this process, and `environment`."""

  def __init__(
    self, environment: Mapping[str, str], imports: tuple[str, ...] = ("jax", "tilewright.tune.worker")
  ) -> None:
    ours, theirs = socket.socketpair()
    self.control = ours
    self.owner = os.getpid()
    self.workers: list[Worker] = []
    command = [sys.executable, "-c", "from tilewright.tune.processes import main; main()"]
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    known = [package, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(known), **environment}
    self.process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=2, env=env, start_new_session=True)
    theirs.close()
    send(self.control, {"path": list(sys.path), "imports": imports})
    self.is_ready = self.is_closed = False
    self._lock = threading.Lock()

  def __enter__(self) -> ForkServer:
    return self

  def __exit__(self, *_: object) -> None:
    self.close()

  def _reply(self, seconds: float) -> Any:
    ready, _, _ = select.select([self.control], [], [], seconds)
    if not ready:
      raise errors.TuningError(f"tune: the process that starts workers did not answer within {seconds:g} s.")
    try:
      return receive(self.control)
    except EOFError:
      raise errors.TuningError(
        "tune: the process that starts workers ended; its messages are on the error stream."
      ) from None

  def start(self, target: str) -> Worker:
    """A new worker, which runs `module:function(socket)`."""
    ours, theirs = socket.socketpair()
    with self._lock:
      if not self.is_ready:
        self._reply(_START_SECONDS)
        self.is_ready = True
      send(self.control, {"do": "fork", "target": target})
      socket.send_fds(self.control, [b"."], [theirs.fileno()])
      theirs.close()
      worker = Worker(self._reply(_START_SECONDS)["pid"], ours, self)
      self.workers.append(worker)
    return worker

  def reap(self, pid: int) -> int | None:
    try:
      with self._lock:
        send(self.control, {"do": "reap", "pid": pid})
        return self._reply(10.0).get("status")
    except (errors.TuningError, OSError):
      return None

  def close(self) -> None:
    if self.is_closed:
      return
    self.is_closed = True
    if self.owner != os.getpid():  # a process that was forked from it leaves it alone
      return
    for worker in self.workers:
      worker.end()
    with contextlib.suppress(OSError):
      self.control.close()
    try:
      self.process.wait(timeout=5)
    except subprocess.TimeoutExpired:
      self.process.kill()
      self.process.wait()


_shared_lock = threading.Lock()
_shared: dict[tuple[tuple[str, str], ...], ForkServer] = {}


def shared(environment: Mapping[str, str]) -> ForkServer:
  """A nursery that searches of this process use one after the other; it ends with the process."""
  key = tuple(sorted({**os.environ, **environment, "sys.path": os.pathsep.join(sys.path)}.items()))
  with _shared_lock:
    found = _shared.get(key)
    if found is None or found.is_closed or found.process.poll() is not None or found.owner != os.getpid():
      found = _shared[key] = ForkServer(environment)
      atexit.register(found.close)
    return found


def resident_bytes(pid: int) -> int:
  """Memory that a process holds, as Linux counts it; 0 where that is not reported."""
  try:
    with open(f"/proc/{pid}/statm") as file:
      return int(file.read().split()[1]) * _PAGE
  except (OSError, ValueError, IndexError):
    return 0


def available_bytes() -> int:
  """Memory available without swapping; a large number where that is not reported."""
  try:
    with open("/proc/meminfo") as file:
      fields = dict(line.split(":", 1) for line in file)
    return int(fields["MemAvailable"].split()[0]) << 10
  except (OSError, ValueError, KeyError):
    return 1 << 62
