"""The table of lowering rules, and the walk over a jaxpr that uses it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel, source_line
from tilewright.tile.ir import Block, Builder, Value
from tilewright.tile.types import TileType

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
KEYED: dict[str, Rule] = {}  # rules for arrays of keys of the random number generator, where they differ (see `keys`)


def is_key(aval: Any) -> bool:
  return isinstance(getattr(aval, "dtype", None), _jax.prng.KeyTy)


def physical(aval: Any) -> TileType:
  """The type a value has in the tile IR; a key is its words."""
  if is_key(aval):
    return TileType((*aval.shape, *aval.dtype._impl.key_shape), np.dtype(np.uint32))
  return TileType(tuple(aval.shape), np.dtype(aval.dtype))


class Emitter(Builder):
  """A builder with the context of the kernel that it lowers.

  `position` replaces the grid indices (and sizes) where one of several bodies of a kernel runs on its own mesh; `globals` are the refs that
  outlive the instances of the kernel, by their keys; `device_axes` are refs to the device's position along the axes of a mesh; `mesh` has
  the sizes of all axes, if the kernel accesses other devices; `body` is the whole body, which gets a parameter for memory that
  warpgroups share; `cores` are the cores of a mesh that run concurrently. Code `for_gpu` may have atomic operations and inline assembly;
  `in_order` is set by rules that rely on the order of instances.
  """

  def __init__(self, block: Block, kernel: Kernel | None = None):
    super().__init__(block)
    self.kernel = kernel
    self.position: tuple[tuple[Value, int], ...] | None = None
    self.globals: dict[Any, Value] = {}
    self.device_axes: dict[Any, Value] = {}
    self.mesh: dict[Any, int] = {}
    self.body: Block | None = None
    self.cores: Any = None
    self.for_gpu = False
    self.in_order = False

  @contextlib.contextmanager
  def placed(self, position: Sequence[tuple[Value, int]]) -> Iterator[None]:
    outer, self.position = self.position, tuple(position)
    try:
      yield
    finally:
      self.position = outer


@dataclasses.dataclass(frozen=True)
class Context:
  """A rule's context: everything it gets besides its operands."""

  builder: Emitter
  eqn: Any

  def emit(self, name: str, *operands: Value, **attrs: Any) -> Value:
    return self.builder.emit(name, operands, **attrs)

  def constant(self, value: Any, dtype: Any) -> Value:
    return self.builder.emit("constant", (), value=value, dtype=np.dtype(dtype))

  def broadcast(self, v: Value, shape: Sequence[int]) -> Value:
    """A scalar, or a tile with dimensions of size one, repeated over a shape of the same rank."""
    assert isinstance(v.type, TileType)
    if v.type.shape == tuple(shape):
      return v
    return self.emit("broadcast", v, shape=tuple(shape), dims=tuple(range(v.type.rank)))

  def broadcast_scalar(self, v: Value, shape: Sequence[int]) -> Value:
    return v if not shape else self.emit("broadcast", v, shape=tuple(shape), dims=())

  @property
  def where(self) -> str:
    """The kernel and the user's line, for run-time error messages."""
    name = "" if self.builder.kernel is None else f" in kernel '{self.builder.kernel.name}'"
    return f"{self.builder.loc}{name}"

  def check(self, condition: Value, message: str) -> None:
    """Fail at run time unless a scalar condition holds."""
    self.builder.emit_all("check", [condition], message=message)

  def check_all(self, condition: Value, message: str) -> None:
    """Fail at run time unless a condition holds for all elements. The error names the first for which it does not."""
    shape = condition.tile.shape
    held = self.emit("reduce", condition, kind="and", axes=tuple(range(len(shape))))
    if not condition.tile.size:
      self.check(held, message)
      return
    numbers = self.emit("convert", condition, dtype=np.dtype(np.int32))
    flat = self.emit("reshape", numbers, shape=(condition.tile.size,))
    first = self.emit("arg_reduce", flat, kind="min", axis=0, dtype=np.dtype(np.int32))
    self.builder.emit_all("check", [held, first], message=message, shape=shape)

  @property
  def out(self) -> TileType:
    """The type of the equation's first result."""
    return physical(self.eqn.outvars[0].aval)


def rule(*names: str) -> Callable[[Rule], Rule]:
  def add(f: Rule) -> Rule:
    for name in names:
      RULES[name] = f
    return f

  return add


def _has_no_elements(eqn: Any) -> bool:
  """Whether all results of an equation have size zero: such equations need no rule."""
  arrays = all(isinstance(v.aval, _jax.core.ShapedArray) and 0 in v.aval.shape for v in eqn.outvars)
  return arrays and bool(eqn.outvars) and not eqn.effects


def _nothing(ctx: Context, *_: Value, **__: Any) -> Any:
  types = [physical(v.aval) for v in ctx.eqn.outvars]
  outs = [ctx.broadcast_scalar(ctx.constant(0, t.dtype), t.shape) for t in types]
  return outs if ctx.eqn.primitive.multiple_results else outs[0]


def lower_jaxpr(builder: Emitter, jaxpr: Any, consts: Sequence[Value], args: Sequence[Value]) -> list[Value]:
  """Append the ops of a jaxpr; returns its results."""
  env: dict[Any, Value] = {}
  env.update(zip(jaxpr.constvars, consts))
  env.update(zip(jaxpr.invars, args))

  def read(atom: Any) -> Value:
    if isinstance(atom, _jax.core.Literal):
      return builder.emit("constant", (), value=np.asarray(atom.val), dtype=np.dtype(atom.aval.dtype))
    return env[atom]

  for eqn in jaxpr.eqns:
    loc = source_line(eqn) or builder.loc  # code of a library inside has no line of the user
    lower = RULES.get(eqn.primitive.name)
    if lower is not None and any(is_key(v.aval) for v in (*eqn.invars[:1], *eqn.outvars)):
      lower = KEYED.get(eqn.primitive.name, lower)
    if _has_no_elements(eqn):
      lower = _nothing
    if lower is None:
      raise errors.NativeCodeError(
        f"The primitive '{eqn.primitive}' at {loc} cannot be compiled to native code yet. Pass interpret=True to run this kernel "
        "through the portable lowering."
      )
    with builder.at(loc):
      out = lower(Context(builder, eqn), *(read(v) for v in eqn.invars), **eqn.params)
    outs = out if eqn.primitive.multiple_results else [out]
    env.update(zip(eqn.outvars, outs))
  return [read(v) for v in jaxpr.outvars]
