"""`tilewright.accelerate`: ordinary JAX programs, compiled with kernels that are found in them."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import itertools
import os
import pathlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.accelerate import persistent_cache, tiles
from tilewright.accelerate.calls import Codes
from tilewright.accelerate.program import Accelerate, Options, Surroundings
from tilewright.accelerate.report import ModuleReport
from tilewright.hlo import Hook, Module, install
from tilewright.target.llvm.identity import code_version

_SOURCES = ("accelerate", "hlo", "layout", "ops", "pallas", "target")
_numbers = itertools.count(1)
_in_force: list[Acceleration] = []  # in the order in which they began
_lock = threading.Lock()


class Acceleration:
  """Programs that are compiled from now on get kernels, until `undo()` or the end of a `with` statement.

  `reports` has what was decided about each module; `explain()` gives it as text, `write_html(path)` as a page.
  """

  def __init__(self, options: Options, explain: bool | str | os.PathLike[str] = False):
    self.options = options
    self.reports: list[ModuleReport] = []
    self._modules: list[Module | None] = []  # as XLA had them, one for each report
    self._explain = explain
    self._codes = Codes()
    self._lock = threading.Lock()
    self._hook: Hook | None = None
    self._begin()

  def _begin(self) -> None:
    persistent_cache.watch(self)
    with _lock:
      _in_force.append(self)
    if self._page is not None:
      atexit.register(self.undo)  # for the page, if nobody ends it before
    self._hook = install(
      [Accelerate(self.options, self._codes, self._decided, self._surroundings)],
      stage="pre_scheduler",
      platforms=("cpu", "cuda"),
      fingerprint=_fingerprint(self.options),
      time_limit=None,
    )

  @property
  def _page(self) -> str | os.PathLike[str] | None:
    return None if isinstance(self._explain, bool) else self._explain

  @property
  def active(self) -> bool:
    return self._hook is not None and self._hook.installed

  def undo(self) -> None:
    """From now on programs are compiled as without. Twice does no harm."""
    hook, self._hook = self._hook, None
    if hook is not None:
      hook.uninstall()
      persistent_cache.forget(self)
      with _lock:
        _in_force.remove(self)
      if self._page is not None:
        atexit.unregister(self.undo)
        self.write_html(self._page)

  def __enter__(self) -> Acceleration:
    if not self.active:
      self._begin()
    return self

  def __exit__(self, *exc: object) -> None:
    self.undo()

  def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
    """As a decorator: this function only."""
    self.undo()
    return accelerated(f, self.options, self._explain)

  def explain(self) -> str:
    """A table for each module: fusion, ops, tile, predicted and measured times, speed-up, and why not."""
    with self._lock:
      return "\n\n".join(report.text() for report in self.reports) or "Nothing was compiled."

  def write_html(self, path: str | os.PathLike[str]) -> None:
    """A page with the graph of each module, coloured by kernel."""
    from tilewright.accelerate.page import page

    with self._lock:
      pathlib.Path(path).write_text(page(list(zip(self.reports, self._modules, strict=True))))

  def add(self, report: ModuleReport, module: Module | None = None) -> None:
    with self._lock:
      self.reports.append(report)
      self._modules.append(module)
    if self._explain is True and report.decisions:
      print(report.text() if report.is_telling else report.title(), flush=True)

  def _surroundings(self) -> Surroundings:
    """The innermost `with` statement decides, and a decorator for its function."""
    with _lock:
      inner = _in_force[_in_force.index(self) + 1 :] if self in _in_force else []
      others = tuple(a.options.marker for a in _in_force if a is not self and a.options.marker)
    if self.options.marker:
      same = any(a.options.marker == self.options.marker for a in inner)
      return Surroundings(same)
    return Surroundings(any(not a.options.marker for a in inner), others)

  def _decided(self, report: ModuleReport, keys: list[str], module: Module) -> None:
    persistent_cache.remember(self, report, keys)
    self.add(report, module)


def _fingerprint(options: Options) -> str:
  return f"accelerate {code_version(*_SOURCES)} {options!r} {tiles.host()!r}"


def accelerate(
  f: Callable[..., Any] | None = None,
  *,
  explain: bool | str | os.PathLike[str] = False,
  exact: bool = False,
  measure: bool = False,
  compile_seconds: float = 60.0,
  platforms: Sequence[str] = ("cpu", "cuda"),
) -> Any:
  """Make ordinary JAX programs faster: parts of what XLA compiles become tiled kernels.

  A call is in force for the rest of the process, or in a `with` statement; programs that were compiled before are compiled anew when they
  are next called. On a function, as a decorator, it is in force for what that function computes, also inside of other programs.

  Args:
    f: a function, if this is a decorator.
    explain: True to print for each program what became a kernel and what did not, and why; a path to write that as a page when
      the `with` statement ends, or the process.
    exact: take only regions whose kernels give the same bits as XLA.
    measure: time each kernel against XLA while the program is compiled, and leave what is slower to XLA.
    compile_seconds: how long to compile kernels for one program at most; what is left then stays with XLA.
    platforms: of "cpu" and "cuda"; programs on others are left to XLA.
  """
  if f is not None and not callable(f):
    raise errors.KernelTypeError(f"accelerate: expected a function to decorate or no positional argument, got {f!r}.")
  for name, value in (("exact", exact), ("measure", measure)):
    if not isinstance(value, bool):
      raise errors.KernelTypeError(f"accelerate: {name} must be True or False, got {value!r}.")
  if not isinstance(explain, bool | str | os.PathLike):
    raise errors.KernelTypeError(f"accelerate: explain must be a bool or the path of a page to write, got {explain!r}.")
  if isinstance(compile_seconds, bool) or not isinstance(compile_seconds, int | float) or not compile_seconds >= 0:
    raise errors.KernelTypeError(f"accelerate: compile_seconds must be a number from 0 on, got {compile_seconds!r}.")
  if not isinstance(explain, bool) and not pathlib.Path(explain).absolute().parent.is_dir():
    raise errors.KernelTypeError(f"accelerate: explain={os.fspath(explain)!r} is in no directory that exists.")
  if not isinstance(platforms, list | tuple | set | frozenset) or not all(p in ("cpu", "cuda") for p in platforms):
    raise errors.KernelTypeError(f"accelerate: platforms must be some of ('cpu', 'cuda'), got {platforms!r}.")
  options = Options(exact, measure, float(compile_seconds), platforms=tuple(platforms))
  return Acceleration(options, explain) if f is None else accelerated(f, options, explain)


def accelerated(
  f: Callable[..., Any], options: Options, explain: bool | str | os.PathLike[str] = False
) -> Callable[..., Any]:
  """A function whose computations are accelerated, wherever it is called. It is jitted, unless it is already."""
  if hasattr(f, "lower"):  # jitted, with options of its own
    marker = getattr(f, "__name__", "f")
    jitted = f
  else:
    marker = f"accelerated_{next(_numbers)}_{getattr(f, '__name__', 'f').strip('<>')}"

    @functools.wraps(f)
    def named(*args: Any, **kwargs: Any) -> Any:
      return f(*args, **kwargs)

    named.__name__ = named.__qualname__ = marker
    jitted = jax.jit(named)
  own = Acceleration(dataclasses.replace(options, marker=marker), explain)

  @functools.wraps(f)
  def wrapper(*args: Any, **kwargs: Any) -> Any:
    try:
      return jitted(*args, **kwargs)
    except TypeError as e:
      if jitted is f:
        raise
      _check_arguments(getattr(f, "__qualname__", marker), args, kwargs, e)
      raise

  wrapper.acceleration = own  # type: ignore[attr-defined]
  for name in ("lower", "trace", "eval_shape", "clear_cache"):
    if hasattr(jitted, name):
      setattr(wrapper, name, getattr(jitted, name))
  return wrapper


def _check_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], cause: TypeError) -> None:
  """An error that says which argument cannot be part of a program, if it is one."""
  for path, leaf in jax.tree_util.tree_leaves_with_path((args, kwargs)):
    is_array = isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex)
    if not is_array and not hasattr(leaf, "__jax_array__"):
      place = getattr(path[1], "idx", getattr(path[1], "key", ""))
      which = f"argument {place}" if isinstance(place, int) else f"argument {place!r}"
      raise errors.KernelTypeError(
        f"accelerate: {name} is compiled as a whole, and its {which} is a {type(leaf).__name__}, no array or tree of arrays. Jit it "
        "yourself with that argument static, and decorate the result: @tilewright.accelerate above "
        "@functools.partial(jax.jit, static_argnums=0); or accelerate what calls it."
      ) from cause
