"""Cache keys for hooks: makes JAX's caches depend on the installed passes.

JAX caches compiled programs in memory, keyed by everything in its configuration that a program depends on, and on disk, keyed by a
hash of the program and the compiler. Neither key includes passes. Two facts are added:

  * in memory: the *epoch*, a number that grows with every install and uninstall. It is a JAX user context, so jit, tracing and
    lowering all miss when it changes; a `Lowered`, which keeps its executable, drops it. An epoch is never reused, so a program
    that was in compilation while the hooks changed is stored under a key that is never looked up again.
  * on disk: the *fingerprint* of the installed passes, equal in two processes if and only if their passes are the same code with
    the same constants. With no hooks the key is the same as without Tilewright. A program is not written if the hooks
    changed, or a pass failed, between the computation of its key and the end of its compilation.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import pathlib
import sys
import threading
import types
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import tilewright
from tilewright.hlo import hook_worker
from tilewright.hlo.passes.base import FunctionPass, Pass

_lock = threading.Lock()
_thread = threading.local()
INSIDE_PASS = -1  # the epoch of programs that passes compile
MARK = "in_a_pass_"  # how the names of their modules begin
WITHOUT_PASSES = "without_passes_"  # and of those that XLA refused with the passes
_state: Any = None  # the user context, made on first use
_epoch = 0
_compiling: dict[
  str, list[tuple[int, int] | None]
] = {}  # by module name: replicas and partitions of what JAX is compiling
_failures = 0
_fingerprint = ""


def hooks_changed(fingerprint: str) -> None:
  """Starts a new epoch: every program JAX compiled before is recompiled at its next call."""
  global _state, _epoch, _fingerprint
  import jax

  with _lock:
    if _state is None:
      _state = jax.make_user_context(0)
      _watch_disk_cache()
      _watch_lowered()
    _epoch, _fingerprint = _epoch + 1, fingerprint
    _state.set_global(_epoch)


def pass_failed() -> None:
  """The program being compiled now must not be stored for other processes."""
  global _failures
  with _lock:
    _failures += 1


def inside_pass() -> bool:
  """Whether this thread is running passes, so that programs it compiles now are compiled without them."""
  return getattr(_thread, "inside", False)


@contextlib.contextmanager
def running_passes() -> Iterator[None]:
  """A pass may use JAX. Programs it compiles get their own epoch, so that they are not served to other callers, and the on-disk key of
  a process without hooks.
  """
  started = getattr(_thread, "started", None)
  _thread.inside = True
  try:
    with _state(INSIDE_PASS):
      yield
  finally:
    _thread.inside = False
    if started is not None:
      _thread.started = started


def _mark(program: Any, mark: str) -> None:
  """Marks the module's name: XLA may call back in its own thread, where only the name identifies the origin of the compilation."""
  name = _name(program)
  if not name.startswith(mark):
    _rename(program, mark + name)


def _name(program: Any) -> str:
  from jax.interpreters import mlir

  attributes = program.operation.attributes
  return str(mlir.ir.StringAttr(attributes["sym_name"]).value) if "sym_name" in attributes else ""


def _rename(program: Any, name: str) -> None:
  from jax.interpreters import mlir

  program.operation.attributes["sym_name"] = mlir.ir.StringAttr.get(name, program.context)


def _watch_disk_cache() -> None:
  from tilewright.runtime import _jax

  inherited = _jax.cache_key.custom_hook
  put = _jax.compilation_cache.put_executable_and_time

  @functools.wraps(inherited)
  def custom_hook() -> str:
    with _lock:
      _thread.started = (_epoch, _failures)
      own = "" if inside_pass() else _fingerprint
    return inherited() + own

  @functools.wraps(put)
  def put_unless_changed(*args: Any, **kwargs: Any) -> Any:
    with _lock:
      now = (_epoch, _failures)
    if getattr(_thread, "started", now) == now:
      return put(*args, **kwargs)

  _jax.cache_key.custom_hook = custom_hook
  _jax.compilation_cache.put_executable_and_time = put_unless_changed


def _watch_lowered() -> None:
  from tilewright.runtime import _jax

  compile_once = _jax.pxla.MeshComputation.compile

  @functools.wraps(compile_once)
  def compile_once_per_epoch(self: Any, *args: Any, **kwargs: Any) -> Any:
    epoch = INSIDE_PASS if inside_pass() else _epoch
    if getattr(self, "_tilewright_epoch", 0) != epoch:
      self._executable = None
    if inside_pass():
      _mark(self._hlo, MARK)
    with hook_worker.compilation():
      compiled = _compile(compile_once, self, *args, **kwargs)
    self._tilewright_epoch = epoch
    return compiled

  _jax.pxla.MeshComputation.compile = compile_once_per_epoch


def _compile(compile_once: Any, computation: Any, *args: Any, **kwargs: Any) -> Any:
  """Compiles, with the counts of devices noted for the passes."""
  name = _name(computation._hlo)
  counts = _counts_of(computation._hlo)
  with _lock:
    _compiling.setdefault(name, []).append(counts)
  try:
    return _compile_or_retry(compile_once, name, computation, *args, **kwargs)
  finally:
    with _lock:
      _compiling[name].remove(counts)
      if not _compiling[name]:
        del _compiling[name]


def device_counts(name: str) -> tuple[int, int] | None:
  """(replicas, partitions) of the programs of this name that are being compiled; None if it is not known, or they differ."""
  with _lock:
    found = set(_compiling.get(name, ()))
  return found.pop() if len(found) == 1 else None


def _counts_of(program: Any) -> tuple[int, int] | None:
  attributes = program.operation.attributes
  keys = ("mhlo.num_replicas", "mhlo.num_partitions")
  if not all(key in attributes for key in keys):
    return None
  replicas, partitions = (int(attributes[key].value) for key in keys)
  return replicas, partitions


def _compile_or_retry(compile_once: Any, name: str, computation: Any, *args: Any, **kwargs: Any) -> Any:
  """Compiles; retries without passes if XLA cannot compile the transformed module."""
  import jax

  from tilewright.hlo import hook

  hook.compiled(name)  # of an earlier compilation by other means
  try:
    result = compile_once(computation, *args, **kwargs)
  except jax.errors.JaxRuntimeError as error:
    changed = hook.compiled(name)
    if changed is None:
      raise
    pass_failed()
    _rename(computation._hlo, WITHOUT_PASSES + name)
    try:
      result = compile_once(computation, *args, **kwargs)
    finally:
      _rename(computation._hlo, name)
    hook.compile_refused(name, changed, error)
  else:
    hook.compiled(name)
  return result


# Fingerprints.


def fingerprint(passes: Iterable[Pass], *context: object) -> str:
  """A hash of the passes' behaviour. Parts that cannot be determined are hashed as a value that never occurs again."""
  found = hashlib.sha256(repr((tilewright.__version__, package_hash(), context)).encode())
  for item in passes:
    found.update(repr(_pass_key(item)).encode())
  return found.hexdigest()


@functools.cache
def package_hash() -> str:
  """A hash of the source of `tilewright.hlo`: an edit of the package counts as another version."""
  found = hashlib.sha256()
  folder = pathlib.Path(__file__).parent
  for path in sorted(folder.rglob("*.py")):
    found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
  return found.hexdigest()


def _pass_key(item: Pass) -> object:
  if isinstance(item, FunctionPass):
    return ("function", item.name, _key(item.function, {}))
  own = type(item).__module__.startswith("tilewright.hlo.")
  return (type(item).__module__, type(item).__qualname__, repr(item), None if own else _key(type(item).run, {}))


def _once() -> object:
  return ("unknown", uuid.uuid4().hex)


def _key(value: Any, seen: dict[int, int]) -> object:
  """Something whose repr is equal for equal values, in any process."""
  if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) or value is Ellipsis:
    return (type(value).__name__, repr(value))
  if id(value) in seen:
    return ("again", seen[id(value)])
  seen[id(value)] = len(seen)
  match value:
    case tuple() | list():
      return (type(value).__name__, [_key(part, seen) for part in value])
    case dict():
      return ("dict", [(_key(k, seen), _key(v, seen)) for k, v in value.items()])
    case set() | frozenset():
      return ("set", sorted(repr(_key(part, seen)) for part in value))
    case types.CodeType():
      consts = [_key(c, seen) for c in value.co_consts]
      return ("code", value.co_code, consts, value.co_names, value.co_varnames, value.co_freevars, value.co_flags)
    case types.FunctionType():
      return _function_key(value, seen)
    case types.MethodType():
      return ("method", _key(value.__func__, seen), _key(value.__self__, seen))
    case functools.partial():
      return ("partial", _key(value.func, seen), _key(value.args, seen), _key(value.keywords, seen))
    case types.BuiltinFunctionType():
      return (
        ("builtin", value.__module__, value.__qualname__) if not _is_user_module(value.__module__ or "") else _once()
      )
    case types.ModuleType():
      return _module_key(value)
    case type():
      return ("type", value.__module__, value.__qualname__, _version(value.__module__))
  return _once()


def _function_key(function: types.FunctionType, seen: dict[int, int]) -> object:
  if not _is_user_module(function.__module__ or ""):
    return ("library", function.__module__, function.__qualname__, _version(function.__module__))
  cells = [_key(cell.cell_contents, seen) if _is_set(cell) else None for cell in function.__closure__ or ()]
  used = {
    name: function.__globals__[name] for name in sorted(_names(function.__code__)) if name in function.__globals__
  }
  defaults = (_key(function.__defaults__, seen), _key(function.__kwdefaults__, seen))
  return ("function", _key(function.__code__, seen), cells, _key(used, seen), defaults)


def _is_set(cell: types.CellType) -> bool:
  try:
    cell.cell_contents  # noqa: B018  # reading it is the question
    return True
  except ValueError:
    return False


def _names(code: types.CodeType) -> set[str]:
  return set(code.co_names).union(*(_names(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _module_key(module: types.ModuleType) -> object:
  return _once() if _is_user_module(module.__name__) else ("module", module.__name__, _version(module.__name__))


def _is_user_module(name: str) -> bool:
  """Neither Python's own, nor installed with a version, nor Tilewright's."""
  top = name.partition(".")[0]
  return top not in sys.stdlib_module_names and top != "tilewright" and _version(name) is None


@functools.cache
def _version(name: str) -> str | None:
  top = name.partition(".")[0]
  if top in sys.stdlib_module_names:
    return sys.version
  try:
    return importlib.metadata.version(top)
  except (importlib.metadata.PackageNotFoundError, ValueError):
    return None
