"""The base of passes: a name, a docstring with its precondition and proof, and `run(module) -> bool`.

    @register_pass("dce")
    @dataclass(frozen=True)
    class DeadCode(Pass):
      narrow: bool = True                       # options are fields with defaults

      def run(self, module: Module) -> bool:    # True if anything changed
        ...

    make_pass("dce{narrow=false}").run(module)

A pass edits the module in place. It need not clean up when it fails: `run_passes` restores the module. A plain
function `Module -> bool | Module | None` is a pass too (`as_pass`): this is the form for users.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import Module


class HloPassError(HloError, ValueError):
  """A pass that does not exist, an option it does not have, or something that is not a pass."""


@dataclass(frozen=True)
class Pass:
  """Base of every pass. Subclasses are frozen dataclasses whose fields are the options."""

  name: ClassVar[str] = ""

  def run(self, module: Module) -> bool:
    """Edits the module; returns whether anything changed."""
    raise NotImplementedError(f"{type(self).__name__} does not define run")

  @property
  def summary(self) -> str:
    """The first line of the documentation."""
    lines = inspect.cleandoc(type(self).__doc__ or "").splitlines()
    return lines[0] if lines else ""


PassFunction = Callable[[Module], Any]  # -> bool | Module | None
PassLike = Pass | PassFunction | str


@dataclass(frozen=True)
class FunctionPass(Pass):
  """A user's function as a pass. It edits the module and returns whether it changed, or returns another module."""

  function: PassFunction
  label: str = ""

  @property
  def name(self) -> str:  # type: ignore[override]  # a class attribute elsewhere, here each object has its own
    return self.label or getattr(self.function, "__name__", type(self.function).__name__)

  @property
  def summary(self) -> str:
    lines = (inspect.getdoc(self.function) or "").splitlines()
    return lines[0] if lines else ""

  def run(self, module: Module) -> bool:
    result = self.function(module)
    if isinstance(result, Module):
      if result is module:
        return True
      replace_contents(module, result)
      return True
    if result is not None and not isinstance(result, bool):
      raise HloPassError(f"pass {self.name} must return a bool, a Module or None, not {type(result).__name__}")
    return bool(result)


def replace_contents(module: Module, other: Module) -> None:
  """`module` takes over the contents of `other`. `other` must not be used afterwards."""
  for item in dataclasses.fields(Module):
    setattr(module, item.name, getattr(other, item.name))
  for computation in module.computations:
    computation.parent = module


_platform: ContextVar[str] = ContextVar("platform", default="")


@contextmanager
def compiling_for(platform: str) -> Iterator[None]:
  """A context in which passes run as part of a compilation for a platform of XLA, such as "cpu" or "cuda"."""
  token = _platform.set(platform)
  try:
    yield
  finally:
    _platform.reset(token)


def compiled_platform() -> str:
  """The platform for which the current module is being compiled; empty outside of a compilation."""
  return _platform.get()


def copies_are_values(module: Module) -> bool:
  """Whether copies may go: back ends insert those that buffers need afterwards. XLA's CPU back end has inserted them before passes run."""
  return not module.is_scheduled and compiled_platform() != "cpu"


PASSES: dict[str, Callable[..., Pass]] = {}
BROKEN: dict[str, Exception] = {}  # modules of this folder that cannot be imported, and why
P = TypeVar("P", bound=type[Pass])


def register_pass(name: str) -> Callable[[P], P]:
  """Adds a pass class to the table under `name`, which becomes its `name`."""

  def register(cls: P) -> P:
    if name in PASSES:
      raise HloPassError(f"there is a pass called {name} already: {PASSES[name]}")
    cls.name = name
    PASSES[name] = cls
    return cls

  return register


# XLA's names of passes that have another name here, with the options that make them the same.
XLA_NAMES = {
  "algsimp": "algebraic_simplifier",
  "all_reduce_simp": "all_reduce_simplifier",
  "async_collective_creator": "async_collectives",
  "block_scaling_rewriter": "block_scaling",
  "collective_permute_decomposer": "collective_permute_to_send_recv{split_cycles=false}",
  "collective_pipeliner_backward": "collective_pipeliner{direction=backward}",
  "collective_pipeliner_forward": "collective_pipeliner",
  "collective_pipeliner_forwardsink": "collective_pipeliner{direction=forward_sink}",
  "convert_async_collectives_to_sync": "sync_collectives",
  "latency_hiding_scheduler": "schedule",
  "loop_double_buffer_transformer": "double_buffer_loop_unrolling",
  "map_inline": "map_inliner",
  "simplify_conditional": "conditional_simplifier",
  "simplify_while_loops": "while_loop_simplifier",
  "while_loop_all_reduce_code_motion": "all_reduce_code_motion{reduce_scatter=false}",
  "windowed_einsum_handler": "windowed_einsum",
}

XLA_OPTIONS = {
  "collective_size_threshold_to_stop_sinking": "max_bytes",
  "enable_reduce_scatter": "reduce_scatter",
  "pipelining_direction": "direction",
  "remove_loop_iteration_annotation_only": "remove_loop_iteration_annotation",
  "exclude_entry_computation": "exclude_entry",
  "reassociate_converted_ar": "converts",
  "threshold_in_bytes": "min_bytes",
}


def make_pass(text: str) -> Pass:
  """A pass from its name, options in braces: `dce`, `constant_folding{max_bytes=1024}`. XLA's names, with dashes, mean the same."""
  name, brace, rest = text.strip().partition("{")
  name = name.strip().replace("-", "_")
  if name not in PASSES and name in XLA_NAMES:
    own, _, implied = XLA_NAMES[name].partition("{")
    more = rest if implied == "" else implied.removesuffix("}") + ("," + rest if rest.strip("}") else "}")
    return make_pass(own + ("{" + more if brace or implied else ""))
  if name not in PASSES:
    broken = "".join(f". {place}.py cannot be imported ({error})" for place, error in BROKEN.items())
    near = difflib.get_close_matches(name.replace("-", "_"), PASSES, n=3)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    raise HloPassError(
      f"there is no pass called {name}. {meant}hlo.PASSES has all names, and `tilewright hlo --list` prints them{broken}"
    )
  if rest and not rest.endswith("}"):
    raise HloPassError(f"{text}: write the options of a pass in braces, name{{option=value,…}}")
  factory = PASSES[name]
  known = {f.name: f for f in dataclasses.fields(factory)} if isinstance(factory, type) else {}
  options: dict[str, Any] = {}
  for part in filter(None, (p.strip() for p in rest.removesuffix("}").split(","))):
    key, equals, value = part.partition("=")
    if key.strip() not in known:
      key = XLA_OPTIONS.get(key.strip(), key)
    if not equals or key.strip() not in known:
      raise HloPassError(f"{name} has no option {part!r}; it has: {', '.join(known) or 'none'}")
    kind = str(getattr(known[key.strip()].type, "__name__", known[key.strip()].type))
    option = value.strip() if kind == "str" else _option(value.strip())  # a version such as 9.10 is no number
    if kind in _OPTION_KINDS and type(option) not in _OPTION_KINDS[kind]:
      raise HloPassError(f"{name}: {key.strip()} must be {_OPTION_NAMES[kind]}, got {value.strip()!r}")
    options[key.strip()] = option
  return factory(**options)


_OPTION_KINDS: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (float, int)}
_OPTION_NAMES = {"bool": "true or false", "int": "an integer", "float": "a number"}


def _option(text: str) -> bool | int | float | str:
  if text in ("true", "false"):
    return text == "true"
  for kind in (int, float):
    try:
      return kind(text)
    except ValueError:
      pass
  return text


def as_pass(item: PassLike) -> Pass:
  """A `Pass`, the name of one, or a function on modules."""
  if isinstance(item, Pass):
    return item
  if isinstance(item, str):
    return make_pass(item)
  if callable(item):
    return FunctionPass(item)
  raise HloPassError(f"a pass is a Pass, the name of one or a function on modules, not {type(item).__name__}")
