"""Writes to a ref of what was computed from the same ref.

    s[1:8] = s[0:7]             moved: row i comes from row i - 1
    s[2:4] = s[2:4][::-1]       moved: within the window
    s[2:4] = s[2:4] + 1         not moved: each element from itself

XLA:CPU fuses such a slice with the `dynamic_update_slice` that puts it back, updates the array in place, and reads elements that it has
overwritten already (jaxlib 0.10.2 and 0.11.2, in loops that do not change the array otherwise; `x[1:] = x[:-1]` repeats the first row).
So the portable target writes what is `moved` in another way (`refs`). Refs that a nested call has read before it are not followed.
"""

from __future__ import annotations

from typing import Any

from tilewright.runtime import _jax
from tilewright.tile.ops import BINARY, COMPARE, UNARY

_ELEMENTWISE = frozenset((*UNARY, *BINARY, *COMPARE, "convert_element_type", "integer_pow", "select_n", "square"))
_READS = (_jax.state_primitives.get_p, _jax.state_primitives.swap_p)

Window = tuple[Any, ...]


def moved_writes(jaxpr: Any) -> frozenset[int]:
  """The positions of equations that write what was moved within their ref."""
  sources: dict[
    Any, dict[Any, Window | None]
  ] = {}  # of a value: the refs it was read from, and where, if it was not moved since
  found = set()
  for position, eqn in enumerate(jaxpr.eqns):
    refs = [v for v in eqn.invars if isinstance(v.aval, _jax.state_types.AbstractRef)]
    reached: dict[Any, Window | None] = {}
    for v in eqn.invars:
      for ref, window in sources.get(v, {}).items() if isinstance(v, _jax.core.Var) else ():
        reached[ref] = window if reached.get(ref, window) == window else None
    window = _window(eqn) if eqn.primitive in _READS else None
    if len(set(refs)) < len(refs) or any(ref in reached and (window is None or reached[ref] != window) for ref in refs):
      found.add(position)
    if eqn.primitive.name not in _ELEMENTWISE:
      reached = dict.fromkeys(reached)
    reached |= dict.fromkeys(refs, window)
    if reached:
      sources.update((v, reached) for v in eqn.outvars)
  return frozenset(found)


def _window(eqn: Any) -> Window:
  """Where an equation reads or writes: the indices are the operands behind the ref, and the value if there is one."""
  indices = eqn.invars[1 if eqn.primitive is _jax.state_primitives.get_p else 2 :]
  literal = lambda v: ("literal", v.val) if isinstance(v, _jax.core.Literal) else v
  return (eqn.params["tree"], *map(literal, indices))
