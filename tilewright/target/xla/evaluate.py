"""The evaluator behind the portable lowering: a jaxpr with refs, run as JAX operations on values.

Each ref is a `Cell` that holds the value the ref has at this point of the program. Equations without refs are bound as they
are; the others have a rule, in a table keyed by primitive. Rules for JAX's own primitives are in `control` and below; the
kernel language registers the rules of its primitives beside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import jax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target.xla import refs
from tilewright.target.xla.self_updates import Contents, Flows
from tilewright.tile.grid import Kernel, source_line


@dataclasses.dataclass(eq=False)
class Cell:
  """The current value of a ref."""

  value: Any
  aval: Any
  # For writes of what was computed from the same ref (see `self_updates`): where the contents come from, and whether elements of the
  # next write moved.
  contents: Contents = dataclasses.field(default_factory=Contents, kw_only=True)
  moved: bool = dataclasses.field(default=False, kw_only=True)

  def read(self, transforms: Sequence[Any] = ()) -> Any:
    return refs.read(self.value, transforms)

  def write(self, transforms: Sequence[Any], new: Any) -> Any:
    """Replace the elements that `transforms` select; returns the old elements."""
    old, self.value = refs.write(self.value, transforms, new, self.moved)
    return old

  def write_where(self, transforms: Sequence[Any], new: Any, mask: Any) -> Any:
    """As `write`, of the elements that a mask chooses."""
    old, self.value = refs.write_where(self.value, transforms, new, mask, self.moved)
    return old

  def accumulate(self, transforms: Sequence[Any], update: Any, kind: str = "add") -> None:
    """Combine the elements that `transforms` select with an update; where indices repeat, every update counts."""
    self.value = refs.accumulate(self.value, transforms, update, kind, self.moved)


@dataclasses.dataclass(frozen=True)
class GlobalRef:
  """A ref that lives as long as the whole call rather than one instance: its key, its type, its first value."""

  key: Any
  aval: Any
  initial: Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Instance:
  """Where in the grid the body runs, and what it shares with the other instances."""

  indices: tuple[Any, ...]
  sizes: tuple[Any, ...]
  axis_indices: dict[Any, Any]
  kernel: Kernel | None
  globals: dict[Any, Cell]
  finite: bool = False  # out-of-bounds elements are not poison, but numbers that the array also has (see `grid.run`)

  def with_globals(self, cells: dict[Any, Cell]) -> Instance:
    return dataclasses.replace(self, globals=cells)


@dataclasses.dataclass(frozen=True)
class Context:
  """What a rule sees besides its operands: the equation and the instance."""

  eqn: Any
  instance: Instance
  around: frozenset[object] = frozenset()  # what the operands were computed from (see `self_updates`)

  def evaluate(
    self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], instance: Instance | None = None
  ) -> list[Any]:
    return evaluate(jaxpr, consts, args, instance or self.instance, self.around)


class Rule(Protocol):
  def __call__(self, ctx: Context, *args: Any, **params: Any) -> Any: ...


_rules: dict[Any, Rule] = {}
_globals: dict[Any, Callable[[Any], Iterable[GlobalRef]]] = {}


def register(primitive: Any) -> Callable[[Any], Any]:
  """Give `primitive` its rule: called with the operands (refs as cells), returns its result or results."""

  def add(rule: Any) -> Any:
    _rules[primitive] = rule
    return rule

  return add


def register_globals(primitive: Any) -> Callable[[Any], Any]:
  """Say which refs outlive the instances because of an equation with this primitive."""

  def add(find: Any) -> Any:
    _globals[primitive] = find
    return find

  return add


def subjaxprs(eqn: Any) -> Iterable[Any]:
  for value in eqn.params.values():
    for item in value if isinstance(value, tuple | list) else (value,):
      if isinstance(item, _jax.core.ClosedJaxpr | _jax.core.Jaxpr):
        yield _jax.open_jaxpr(item)[0]


def uses_language(jaxpr: Any) -> bool:
  """Whether a jaxpr means something only inside a kernel: it uses refs, or primitives of the kernel language."""
  for eqn in jaxpr.eqns:
    inner = list(subjaxprs(eqn))
    if any(map(uses_language, inner)) or (not inner and eqn.primitive in _rules):
      return True
  return False


def find_globals(jaxpr: Any) -> dict[Any, GlobalRef]:
  """Every ref of the jaxpr, nested ones included, that must be made before the first instance runs."""
  found: dict[Any, GlobalRef] = {}
  for eqn in jaxpr.eqns:
    if eqn.primitive in _globals:
      found.update((ref.key, ref) for ref in _globals[eqn.primitive](eqn))
    for inner in subjaxprs(eqn):
      found.update(find_globals(inner))
  return found


def evaluate(
  jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], instance: Instance, around: Iterable[object] = ()
) -> list[Any]:
  """Run a jaxpr; arguments for refs are cells, whose values are updated. The others may depend on what is `around` (see `self_updates`)."""
  env: dict[Any, Any] = {}

  def value_of(atom: Any) -> Any:
    return atom.val if isinstance(atom, _jax.core.Literal) else env[atom]

  env.update(zip(jaxpr.constvars, consts))
  env.update(zip(jaxpr.invars, args))
  last_use, flows = _last_uses(jaxpr), Flows(jaxpr, around)
  for position, eqn in enumerate(jaxpr.eqns):
    invals = [value_of(v) for v in eqn.invars]
    cells = [x for x in invals if isinstance(x, Cell)]
    flow = flows.before(eqn, cells)
    name_stack = _jax.source_info_util.current_name_stack() + eqn.source_info.name_stack
    with (
      _jax.source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack),
      eqn.ctx.manager,
    ):
      out = _evaluate_eqn(eqn, invals, instance, frozenset(flow.windows))
    outs = out if eqn.primitive.multiple_results else [out]
    made = [x for x in outs if isinstance(x, Cell) and all(x is not cell for cell in cells)]
    flows.after(eqn, cells, flow, made, nested=any(True for _ in subjaxprs(eqn)))
    env.update(zip(eqn.outvars, outs))
    for var in last_use.get(position, ()):
      env.pop(var, None)
  return [value_of(v) for v in jaxpr.outvars]


def _evaluate_eqn(eqn: Any, invals: list[Any], instance: Instance, around: frozenset[object]) -> Any:
  rule = _rules.get(eqn.primitive)
  if rule is not None:
    return rule(Context(eqn, instance, around), *invals, **eqn.params)
  if any(isinstance(x, Cell) for x in invals):
    raise errors.UnsupportedPrimitiveError(
      f"The primitive '{eqn.primitive}' takes a ref at {source_line(eqn)}, but the portable lowering has no rule for it. "
      "Read the ref first (ref[...]) and pass the value."
    )
  return eqn.primitive.bind(*invals, **eqn.primitive.get_bind_params(eqn.params))


def _last_uses(jaxpr: Any) -> dict[int, list[Any]]:
  """For each equation, the variables nothing later reads: they are dropped so that memory follows liveness."""
  last: dict[Any, int] = {}
  for position, eqn in enumerate(jaxpr.eqns):
    for var in eqn.invars:
      if isinstance(var, _jax.core.Var):
        last[var] = position
  for var in jaxpr.outvars:
    last.pop(var, None) if isinstance(var, _jax.core.Var) else None
  at: dict[int, list[Any]] = {}
  for var, position in last.items():
    at.setdefault(position, []).append(var)
  return at


# --- refs --------------------------------------------------------------------------------------------------------


@register(_jax.state_primitives.get_p)
def _get(ctx: Context, cell: Cell, *flat: Any, tree: Any) -> Any:
  return cell.read(jax.tree.unflatten(tree, flat))


@register(_jax.state_primitives.swap_p)
def _swap(ctx: Context, cell: Cell, new: Any, *flat: Any, tree: Any) -> Any:
  return cell.write(jax.tree.unflatten(tree, flat), new)


@register(_jax.state_primitives.addupdate_p)
def _addupdate(ctx: Context, cell: Cell, update: Any, *flat: Any, tree: Any) -> list[Any]:
  cell.accumulate(jax.tree.unflatten(tree, flat), update)
  return []


@register(_jax.core.ref_p)
def _new_ref(ctx: Context, value: Any, **_: Any) -> Cell:
  return Cell(value, ctx.eqn.outvars[0].aval)


@register(_jax.core.empty_ref_p)
def _empty_ref(ctx: Context, **_: Any) -> Cell:
  aval = ctx.eqn.outvars[0].aval
  first_value = refs.zeros if ctx.instance.finite else refs.poison
  return Cell(first_value(aval.shape, aval.dtype), aval)


@register(_jax.core.freeze_p)
def _freeze(ctx: Context, cell: Cell) -> Any:
  return cell.value


@register(_jax.core.free_ref_p)
def _free_ref(ctx: Context, cell: Cell) -> list[Any]:
  return []
