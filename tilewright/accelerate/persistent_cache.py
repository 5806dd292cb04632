"""Decisions that are stored with executables in JAX's persistent compilation cache.

An executable that is read from disk was never shown to the pass, so its kernels must be loaded before XLA builds it. Beside
each executable that has kernels, a record under the same key has the names of their code and the report:

    compile  ->  pass decides (by the module's name)  ->  JAX writes the executable under a key  ->  we write the record
    a later process: JAX asks for the key  ->  we read the record, load the code  ->  JAX reads the executable

Several programs may have one name, also at the same time in several threads: the record of an executable is the one whose code it
calls. A record whose code is gone makes JAX compile the program anew.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from tilewright.accelerate.report import ModuleReport
from tilewright.runtime import _jax, cache

if TYPE_CHECKING:
  from tilewright.accelerate.session import Acceleration

_KIND = "accelerate"
_NAMED = 16  # characters of the key of a kernel's code that the name in an executable has at least
_lock = threading.Lock()
_sessions: list[Acceleration] = []
_waiting: deque[tuple[ModuleReport, list[str]]] = deque(maxlen=64)  # decided, and not on disk
_held: list[Any] = []  # code of executables from disk


def remember(session: Acceleration, report: ModuleReport, keys: list[str]) -> None:
  """A module was decided; its executable may be written to disk soon."""
  with _lock:
    _waiting.append((report, keys))


def forget(session: Acceleration) -> None:
  with _lock:
    if session in _sessions:
      _sessions.remove(session)


def watch(session: Acceleration) -> None:
  with _lock:
    _sessions.append(session)
  _watch_cache()


@functools.cache
def _watch_cache() -> None:
  put, get = _jax.compilation_cache.put_executable_and_time, _jax.compilation_cache.get_executable_and_time

  @functools.wraps(put)
  def put_with_record(cache_key: str, module_name: str, executable: Any, *args: Any, **kwargs: Any) -> Any:
    found = _decided_of(module_name, executable)
    if found is not None:
      report, keys = found
      if not all(keys):
        return None  # code that no other process can find
      record = {"platform": report.platform, "keys": keys, "report": report.to_json()}
      cache.put(_KIND, _name(cache_key), json.dumps(record).encode())
    return put(cache_key, module_name, executable, *args, **kwargs)

  @functools.wraps(get)
  def get_with_code(cache_key: str, *args: Any, **kwargs: Any) -> Any:
    record = _record(cache_key)
    if record is not None and not _load(record):
      return None, None
    found = get(cache_key, *args, **kwargs)
    if record is not None and found[0] is not None:
      _load_code(record)
    return found

  _jax.compilation_cache.put_executable_and_time = put_with_record
  _jax.compilation_cache.get_executable_and_time = get_with_code


def _decided_of(module_name: str, executable: Any) -> tuple[ModuleReport, list[str]] | None:
  """What was decided about the module of an executable, if that has kernels."""
  with _lock:
    candidates = [found for found in _waiting if found[0].module == module_name and found[1]]
  if not candidates:
    return None
  text = "\n".join(module.to_string() for module in executable.hlo_modules())
  fitting = [found for found in candidates if all(key[:_NAMED] in text for key in found[1])]
  if not fitting:
    return None
  chosen = max(fitting, key=lambda found: len(set(found[1])))
  with _lock:
    if chosen in _waiting:
      _waiting.remove(chosen)
  return chosen


def _name(cache_key: str) -> str:
  return cache.key("executable", cache_key)


def _record(cache_key: str) -> dict[str, Any] | None:
  """What is known of an executable that was made with kernels."""
  with _lock:
    if not _sessions:
      return None
  kept = cache.get(_KIND, _name(cache_key))
  return None if kept is None else json.loads(kept)


def _load(record: dict[str, Any]) -> bool:
  """Bring the code of an executable's kernels into memory; False if some of it is gone."""
  if record["platform"] == "cpu":
    from tilewright.target.cpu import _code_cache
  else:
    from tilewright.target.nvgpu.host.compiled import _code_cache  # type: ignore[assignment]
  held = [_code_cache.find(key) for key in record["keys"]]
  if any(code is None for code in held):
    return False
  _held.extend(held)
  return True


def _load_code(record: dict[str, Any]) -> None:
  """The latest acceleration reports what was decided when the executable was made."""
  with _lock:
    latest = _sessions[-1] if _sessions else None
  if latest is not None:
    latest.add(dataclasses.replace(ModuleReport.from_json(record["report"]), from_disk=True))
