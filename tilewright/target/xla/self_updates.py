"""Writes to a ref of what was computed from the same ref.

    s[1:8] = s[0:7]                            moved: row i comes from row i - 1
    s[2:4] = s[2:4][::-1]                      moved: within the window
    t[...] = s[0:7]; s[1:8] = t[...]           moved: through another ref
    v = s[0:7]; pl.when(c)(write s[1:8] = v)   moved: into a branch, a loop or a call
    s[2:4] = s[2:4] + 1                        not moved: each element from itself

XLA:CPU fuses such a slice with the `dynamic_update_slice` that puts it back, updates the array in place, and reads elements that it has
overwritten already (jaxlib 0.10.2 and 0.11.2, in loops that do not change the array otherwise; `x[1:] = x[:-1]` repeats the first row).
So the portable target writes what is `moved` in another way (`refs`).

The evaluator follows what was computed from what. A ref's array has an identity, `Contents.identities`; `t[...] = s[...]` gives it to `t`
as well, since XLA may keep both in one buffer. A value has a `Flow`: the identities it was computed from, each with the window where it was
read if every element still depends only on the element at its own place. A loop or a branch may or may not run, so after it a ref has what
it had before and what the body gave it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from tilewright.runtime import _jax
from tilewright.tile.ops import BINARY, COMPARE, UNARY

_ELEMENTWISE = frozenset((*UNARY, *BINARY, *COMPARE, "convert_element_type", "integer_pow", "select_n", "square"))
_COPIES = frozenset(("reshape", "squeeze", "expand_dims", "broadcast_in_dim", "copy"))
_READ, _WRITE = _jax.state_primitives.get_p, _jax.state_primitives.swap_p

Window = tuple[Any, ...]


class Contents:
  """What a ref holds: the identities that its array may have, and those of all other arrays that flowed into it."""

  def __init__(self) -> None:
    self._own = object()
    self.identities: frozenset[object] = frozenset([self._own])
    self.sources: frozenset[object] = frozenset()

  def copy(self) -> Contents:
    new = Contents()
    new._own, new.identities, new.sources = self._own, self.identities, self.sources
    return new

  def replace(self, flow: Flow) -> None:
    """All elements are overwritten by a value."""
    self.identities = flow.copies or frozenset([self._own])
    self.sources = frozenset(flow.windows) - self.identities

  def add(self, identities: Iterable[object] = (), sources: Iterable[object] = ()) -> None:
    self.identities |= frozenset(identities)
    self.sources = (self.sources | frozenset(sources)) - self.identities


class RefCell(Protocol):
  contents: Contents
  moved: bool


@dataclasses.dataclass(frozen=True)
class Flow:
  """What a value was computed from, with the window of each (None if elements moved since), and the arrays it is a copy of."""

  windows: Mapping[object, Window | None]
  copies: frozenset[object] = frozenset()

  @staticmethod
  def moved_from(identities: Iterable[object]) -> Flow:
    return Flow(dict.fromkeys(identities))

  @staticmethod
  def of(flows: Iterable[Flow]) -> Flow:
    windows: dict[object, Window | None] = {}
    for flow in flows:
      for identity, window in flow.windows.items():
        windows[identity] = window if windows.get(identity, window) == window else None
    return Flow(windows)


_NOTHING = Flow({})


class Flows:
  """The flows of the values of one jaxpr, found equation by equation. `around` is what all its arguments may depend on."""

  def __init__(self, jaxpr: Any, around: Iterable[object] = ()):
    arguments = Flow.moved_from(around)
    self._of: dict[Any, Flow] = dict.fromkeys(jaxpr.invars, arguments) if arguments.windows else {}

  def before(self, eqn: Any, cells: Sequence[RefCell]) -> Flow:
    """What the operands of an equation were computed from; the refs it may write are marked if that was moved."""
    flow = Flow.of(map(self._flow_of, eqn.invars))
    window = _window(eqn)
    twice = len({id(c.contents) for c in cells}) < len(cells)
    for cell in cells:
      seen = dict(flow.windows)
      for other in cells:
        if other is not cell:
          seen |= dict.fromkeys(other.contents.identities | other.contents.sources)  # what a copy reads
      cell.moved = twice or any(i in seen and (window is None or seen[i] != window) for i in cell.contents.identities)
    return flow

  def after(self, eqn: Any, cells: Sequence[RefCell], flow: Flow, made: Iterable[RefCell], nested: bool) -> None:
    """Note what an equation read and wrote, and the refs it `made`. A `nested` one has bodies: these noted what they did to the refs."""
    windows = dict(flow.windows)
    if eqn.primitive.name not in _ELEMENTWISE:
      windows = dict.fromkeys(windows)
    window = _window(eqn)
    for cell in cells:
      windows |= dict.fromkeys(cell.contents.sources) | dict.fromkeys(cell.contents.identities, window)
    if windows:
      self._of.update((v, Flow(windows, self._copies(eqn, cells))) for v in eqn.outvars)
    if eqn.primitive is _WRITE and _is_all(eqn.invars[1].aval, eqn.invars[0].aval):
      cells[0].contents.replace(self._flow_of(eqn.invars[1]))
    elif eqn.primitive is not _READ and not nested:
      for cell in cells:
        cell.contents.add(sources=windows)
    for cell in made:
      cell.contents.add(sources=windows)

  def _flow_of(self, atom: Any) -> Flow:
    return self._of.get(atom, _NOTHING) if isinstance(atom, _jax.core.Var) else _NOTHING

  def _copies(self, eqn: Any, cells: Sequence[RefCell]) -> frozenset[object]:
    is_read = eqn.primitive is _READ
    if (is_read or eqn.primitive.name in _COPIES) and _is_all(eqn.outvars[0].aval, eqn.invars[0].aval):
      return cells[0].contents.identities if is_read else self._flow_of(eqn.invars[0]).copies
    return frozenset()


def _is_all(part: Any, whole: Any) -> bool:
  """Whether a part of an array has all of its elements."""
  sizes = [d for aval in (part, whole) for d in aval.shape]
  return all(isinstance(d, int) for d in sizes) and math.prod(part.shape) == math.prod(whole.shape)


def _window(eqn: Any) -> Window | None:
  """Where an equation reads or writes a ref: the indices are the operands behind the ref, and the value if there is one."""
  if eqn.primitive not in (_READ, _WRITE):
    return None
  indices = eqn.invars[1 if eqn.primitive is _READ else 2 :]
  literal = lambda v: ("literal", v.val) if isinstance(v, _jax.core.Literal) else v
  return (eqn.params["tree"], *map(literal, indices))
