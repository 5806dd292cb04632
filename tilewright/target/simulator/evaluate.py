"""Running a jaxpr on one core, equation by equation.

A jaxpr is cut into steps once: a run of equations that only compute becomes one compiled function; an equation that touches
memory, other cores or the grid is a step of its own and has a rule, in a table keyed by primitive. Control flow whose bodies
only compute counts as computing; the rest of it runs in Python.

    a = load x            rule
    b = sin a; c = b * 2  one function, compiled once
    store y c             rule

Computing happens on a CPU client of our own that runs everything in the calling thread: the kernel runs inside of a callback of
the user's program, and waiting there for that program's own thread pool could deadlock.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.target.simulator.machine import Core
from tilewright.target.simulator.memory import Address, Buffer, Semaphores, is_key
from tilewright.target.xla.evaluate import _globals as _portable_globals
from tilewright.target.xla.evaluate import _rules as _portable_rules
from tilewright.target.xla.evaluate import subjaxprs
from tilewright.tile.grid import Kernel, source_line
from tilewright.tile.memory import SHARED_SPACES

AbstractRef = _jax.state_types.AbstractRef


@functools.cache
def host() -> Any:
  """The device on which kernels compute: the only one of a client that runs in the calling thread."""
  return _jax.xla_client.make_cpu_client(asynchronous=False, num_devices=1).local_devices()[0]


def on_host(x: Any) -> Any:
  """A constant of the user's program without the device it is on, which is not ours."""
  return np.asarray(x) if isinstance(x, jax.Array) and not is_key(x.dtype) else x


@dataclasses.dataclass(frozen=True)
class Instance:
  """Where the body runs: core, point of the grid, named axes of the grid and of the devices."""

  core: Core
  program: Program
  indices: tuple[int, ...]
  sizes: tuple[int, ...]
  axis_indices: dict[Hashable, int]
  mesh_axes: tuple[tuple[Hashable, int], ...]
  first_core: int = 0  # the number of the first core of the mesh on which one of several bodies runs


@dataclasses.dataclass(frozen=True)
class Context:
  """What a rule sees besides its operands: the equation and the instance."""

  eqn: Any
  instance: Instance

  @property
  def core(self) -> Core:
    return self.instance.core

  @property
  def kernel(self) -> Kernel:
    return self.instance.program.kernel

  @property
  def where(self) -> str:
    return source_line(self.eqn)

  def evaluate(
    self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], instance: Instance | None = None
  ) -> list[Any]:
    return evaluate(jaxpr, consts, args, instance or self.instance)

  def read(self, view: Any, mask: Any = None) -> Any:
    return self.core.world.read(self.core, view, self.where, mask)

  def write(self, view: Any, new: Any, mask: Any = None) -> Any:
    return self.update(view, lambda _: new, mask)

  def update(self, view: Any, new: Callable[[Any], Any], mask: Any = None, *, atomic: bool = False) -> Any:
    """Read-modify-write of a view by a function, atomically with respect to other cores; returns the old contents."""

    def masked(old: Any) -> Any:
      return new(old) if mask is None else np.where(np.asarray(mask), np.asarray(new(old)), old)

    return self.core.world.update(self.core, view, self.where, masked, mask, atomic=atomic)

  def allocate(self, key: Hashable, aval: Any, label: str, *, shared: bool | None = None, initial: Any = None) -> Any:
    """A memory of this core, or of all cores of this device, under a key that means the same on every device."""
    if shared is None:
      shared = getattr(aval, "memory_space", None) in SHARED_SPACES
    address = Address(self.core.device, None if shared else self.core.index, key)
    return self.core.world.allocate(address, aval, label, initial)


class Rule(Protocol):
  def __call__(self, ctx: Context, *args: Any, **params: Any) -> Any: ...


_rules: dict[Any, Rule] = {}
_structural: set[Any] = set()


def register(primitive: Any, *, structural: bool = False) -> Callable[[Any], Any]:
  """Give `primitive` its rule: called with concrete operands (refs as memories), returns its result or results.

  A structural primitive only runs the jaxprs among its parameters: it is compiled where these only compute.
  """

  def add(rule: Any) -> Any:
    _rules[primitive] = rule
    if structural:
      _structural.add(primitive)
    return rule

  return add


# --- cutting a jaxpr into steps ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Block:
  """Equations that only compute, compiled into one function."""

  inputs: tuple[Any, ...]
  outputs: tuple[Any, ...]
  function: Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Plan:
  """The steps of a jaxpr: blocks, and single equations; with what may be forgotten after each."""

  steps: tuple[Any, ...]
  last_uses: tuple[tuple[Any, ...], ...]


@dataclasses.dataclass(eq=False)
class Program:
  """A kernel with the plans of its jaxprs, made when they are first run and shared by all cores."""

  kernel: Kernel
  plans: dict[Any, Plan] = dataclasses.field(default_factory=dict)
  functions: dict[Any, Any] = dataclasses.field(default_factory=dict)
  lock: Any = dataclasses.field(default_factory=threading.Lock)

  @property
  def options(self) -> Any:
    return self.kernel.interpret

  def plan(self, jaxpr: Any) -> Plan:
    with self.lock:
      found = self.plans.get(jaxpr)
      if found is None:
        found = self.plans[jaxpr] = make_plan(jaxpr, skip_floats=self.options.skip_floating_point_ops)
      return found

  def portable(self, eqn: Any, refs: tuple[int, ...], outlive: tuple[Any, ...]) -> Any:
    """An equation by its portable rule, compiled."""
    with self.lock:
      key = (eqn, outlive)
      if key not in self.functions:
        self.functions[key] = _compile_portably(self.kernel, eqn, refs, outlive)
      return self.functions[key]


def only_computes(eqn: Any) -> bool:
  if eqn.effects or any(isinstance(v.aval, AbstractRef) for v in (*eqn.invars, *eqn.outvars)):
    return False
  if eqn.primitive in _rules and eqn.primitive not in _structural:
    return False
  return all(only_computes(inner) for jaxpr in subjaxprs(eqn) for inner in jaxpr.eqns)


def _variables(atoms: Iterable[Any]) -> Iterator[Any]:
  return (a for a in atoms if isinstance(a, _jax.core.Var))


def make_plan(jaxpr: Any, *, skip_floats: bool) -> Plan:
  groups: list[list[Any]] = []
  computing = False
  for eqn in jaxpr.eqns:
    if only_computes(eqn):
      if not computing:
        groups.append([])
      groups[-1].append(eqn)
      computing = True
    else:
      groups.append([eqn])
      computing = False
  last: dict[Any, int] = {}
  for position, group in enumerate(groups):
    for eqn in group:
      last.update((v, position) for v in _variables(eqn.invars))
  last.update((v, len(groups)) for v in _variables(jaxpr.outvars))

  steps: list[Any] = []
  for position, group in enumerate(groups):
    if not only_computes(group[0]):
      steps.append(group[0])
      continue
    made = {v for eqn in group for v in eqn.outvars}
    inputs = tuple(dict.fromkeys(v for eqn in group for v in _variables(eqn.invars) if v not in made))
    outputs = tuple(v for eqn in group for v in eqn.outvars if last.get(v, -1) > position)
    if outputs:
      steps.append(Block(inputs, outputs, _compile(jaxpr, group, inputs, outputs, skip_floats)))
    else:
      steps.append(None)
  dead: list[list[Any]] = [[] for _ in groups]
  for v, position in last.items():
    if position < len(groups):
      dead[position].append(v)
  return Plan(tuple(steps), tuple(tuple(d) for d in dead))


_functions: collections.OrderedDict[Hashable, Callable[..., Any]] = (
  collections.OrderedDict()
)  # of blocks, by what they compute
_MOST_FUNCTIONS = 1024


def _compile(
  jaxpr: Any, eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], skip: bool
) -> Callable[..., Any]:
  """A function for a block. Kernels share those of blocks that differ in the names of their variables only."""
  key = (_computed(eqns, inputs, outputs), skip)
  try:
    known = _functions.pop(key, None)
  except TypeError:  # a parameter has no hash
    return _jitted(jaxpr, eqns, inputs, outputs, skip)
  found = _functions[key] = known or _jitted(jaxpr, eqns, inputs, outputs, skip)
  while len(_functions) > _MOST_FUNCTIONS:
    _functions.popitem(last=False)
  return found


def _computed(eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> Hashable:
  """What a block computes: its equations, with variables numbered in order."""
  numbers = {v: i for i, v in enumerate(inputs)}
  said: list[Hashable] = [tuple(v.aval for v in inputs)]
  for eqn in eqns:
    operands = tuple(_literal(a) if isinstance(a, _jax.core.Literal) else numbers[a] for a in eqn.invars)
    said.append((eqn.primitive, tuple(sorted(eqn.params.items())), operands, tuple(v.aval for v in eqn.outvars)))
    for v in eqn.outvars:
      numbers[v] = len(numbers)
  return (*said, tuple(numbers[v] for v in outputs))


def _literal(literal: Any) -> Hashable:
  value = np.asarray(literal.val)
  return literal.aval, value.dtype, value.tobytes()


def _jitted(
  jaxpr: Any, eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], skip: bool
) -> Callable[..., Any]:
  def block(*args: Any) -> list[Any]:
    clean = _jax.core.JaxprEqnContext()  # made here, where no mesh is in force, instead of inside of shard_map
    if not skip:
      return _compute(jaxpr, eqns, inputs, outputs, args, clean)
    env = dict(zip(inputs, args))
    for eqn in eqns:
      env.update(zip(eqn.outvars, _skip(jaxpr, eqn, env, clean)))
    return [env[v] for v in outputs]

  return jax.jit(block)


def _compute(
  jaxpr: Any, eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], args: Any, clean: Any
) -> list[Any]:
  """Some equations of a jaxpr as JAX operations: here the portable lowering is what runs."""
  part = jaxpr.replace(
    constvars=[],
    invars=list(inputs),
    outvars=list(outputs),
    eqns=[_without_mesh(e, clean) for e in eqns],
    effects=frozenset(),
  )
  return xla.evaluate(part, (), args, xla.Instance((), (), {}, None, {}))


def _is_float(aval: Any) -> bool:
  return bool(jnp.issubdtype(aval.dtype, jnp.inexact))


def _skip(jaxpr: Any, eqn: Any, env: dict[Any, Any], clean: Any) -> Sequence[Any]:
  """Leave out operations that give only floats; to the others, floats are infinite."""
  infinite = lambda aval: jnp.full(aval.shape, jnp.inf, aval.dtype)
  if all(_is_float(v.aval) for v in eqn.outvars):
    return [infinite(v.aval) for v in eqn.outvars]
  inputs = list(dict.fromkeys(_variables(eqn.invars)))
  args = [infinite(v.aval) if _is_float(v.aval) else env[v] for v in inputs]
  return _compute(jaxpr, [eqn], inputs, eqn.outvars, args, clean)


def _without_mesh(eqn: Any, clean: Any) -> Any:
  """The equation as if traced outside of any mesh, with the jaxprs inside of it."""
  params = {k: _clean_parameter(v, clean) for k, v in eqn.params.items()}
  return eqn.replace(ctx=clean, params=params)


def _clean_parameter(value: Any, clean: Any) -> Any:
  if isinstance(value, tuple | list) and any(isinstance(v, _jax.core.ClosedJaxpr | _jax.core.Jaxpr) for v in value):
    cleaned = [_clean_parameter(v, clean) for v in value]
    return type(value)(*cleaned) if hasattr(value, "_fields") else type(value)(cleaned)
  if isinstance(value, _jax.core.ClosedJaxpr | _jax.core.Jaxpr):
    jaxpr, consts = _jax.open_jaxpr(value)
    consts = tuple(map(on_host, consts))
    new = jaxpr.replace(eqns=[_without_mesh(e, clean) for e in jaxpr.eqns])
    return _jax.core.ClosedJaxpr(new, consts) if isinstance(value, _jax.core.ClosedJaxpr) else new
  return value


# --- running -----------------------------------------------------------------------------------------------------


def evaluate(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], instance: Instance) -> list[Any]:
  """Run a jaxpr on this core; arguments for refs are memories."""
  plan = instance.program.plan(jaxpr)
  env: dict[Any, Any] = {}

  def value_of(atom: Any) -> Any:
    return atom.val if isinstance(atom, _jax.core.Literal) else env[atom]

  env.update(zip(jaxpr.constvars, map(on_host, consts)))
  env.update(zip(jaxpr.invars, args))
  for step, dead in zip(plan.steps, plan.last_uses):
    if isinstance(step, Block):
      env.update(zip(step.outputs, step.function(*(env[v] for v in step.inputs))))
    elif step is not None:
      out = _evaluate_eqn(step, [value_of(a) for a in step.invars], instance)
      env.update(zip(step.outvars, out if step.primitive.multiple_results else [out]))
    for v in dead:
      env.pop(v, None)
  return [value_of(v) for v in jaxpr.outvars]


def _evaluate_eqn(eqn: Any, values: list[Any], instance: Instance) -> Any:
  rule = _rules.get(eqn.primitive)
  if rule is not None:
    return rule(Context(eqn, instance), *values, **eqn.params)
  if eqn.primitive in _portable_rules:
    return _evaluate_portably(Context(eqn, instance), values)
  if any(isinstance(x, Buffer | Semaphores) for x in values):
    raise errors.UnsupportedPrimitiveError(
      f"The primitive '{eqn.primitive}' takes a ref at {source_line(eqn)}, but the simulated machine has no rule for it. "
      "Read the ref first (ref[...]) and pass the value."
    )
  return eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(eqn.params))


def _evaluate_portably(ctx: Context, values: list[Any]) -> Any:
  """Run an equation by its portable rule, as one step: on the values of its refs, which it puts back after.

  Refs that outlive the instances belong to the core: the state of a random number generator, say.
  """
  found = _portable_globals[ctx.eqn.primitive](ctx.eqn) if ctx.eqn.primitive in _portable_globals else ()
  outlive = {
    key: ctx.allocate(("portable", key), ref.aval, str(key), shared=False, initial=np.asarray(ref.initial()))
    for key, ref in ((r.key, r) for r in found)
  }
  refs = {i: x for i, x in enumerate(values) if isinstance(x, Buffer | Semaphores)}
  memories = [*refs.values(), *outlive.values()]
  plain = [None if i in refs else x for i, x in enumerate(values)]
  function = ctx.instance.program.portable(ctx.eqn, tuple(refs), tuple(outlive))
  with ctx.core.world.changed:
    old = [m.array.copy() if isinstance(m, Buffer) else m.counts.astype(np.int32) for m in memories]
    outs, new = function([x for x in plain if x is not None], old)
    for m, before, after in zip(memories, old, new):
      if not np.array_equal(before, np.asarray(after), equal_nan=before.dtype.kind == "f"):
        (m.array if isinstance(m, Buffer) else m.counts)[...] = np.asarray(after)
  return outs if ctx.eqn.primitive.multiple_results else outs[0]


def _compile_portably(kernel: Kernel, eqn: Any, refs: tuple[int, ...], outlive: tuple[Any, ...]) -> Callable[..., Any]:
  def run(plain: Sequence[Any], old: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    left = iter(plain)
    cells = dict(zip(refs, (xla.Cell(x, eqn.invars[i].aval) for i, x in zip(refs, old))))
    shared = {key: xla.Cell(x, None) for key, x in zip(outlive, old[len(refs) :])}
    args = [cells[i] if i in cells else next(left) for i in range(len(eqn.invars))]
    out = _portable_rules[eqn.primitive](
      xla.Context(eqn, xla.Instance((), (), {}, kernel, shared)), *args, **eqn.params
    )
    outs = list(out) if eqn.primitive.multiple_results else [out]
    return outs, [c.value for c in (*cells.values(), *shared.values())]

  return jax.jit(run)
