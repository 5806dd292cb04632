"""Collectives that some devices might not reach: a static check of programs for `jax.shard_map`.

A collective needs all devices. Under a condition that differs from device to device some come and some do not, and those who came wait:

    lax.cond(lax.axis_index("x") == 0, lambda x: lax.psum(x, "x"), lambda x: x, x)

The check follows, through the program of a device, what depends on the device: `axis_index`, arguments that shard_map splits, and whatever
is computed from them; results of reductions over an axis no longer depend on the position along it. It reports every collective inside of
a `cond` or `while` whose condition depends on the position along an axis that the collective needs. (A condition of a split argument may be
the same everywhere all the same: the report says what it depends on.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright.collectives.fused import fused_p
from tilewright.collectives.primitives import collective_p
from tilewright.collectives.ragged import ragged_p
from tilewright.pallas.effects import CommsEffect
from tilewright.runtime import _jax
from tilewright.tile.grid import source_line

# Collectives of JAX, and whether what they give is the same on all devices along their axes.
_COLLECTIVES = {
  "psum": True,
  "psum2": True,
  "psum_invariant": True,
  "pmax": True,
  "pmin": True,
  "all_gather": True,
  "all_gather_invariant": True,
  "all_gather_reduced": True,
  "reduce_scatter": False,
  "unreduced_reduce_scatter": False,
  "unreduced_psum": True,
  "all_to_all": False,
  "ragged_all_to_all": False,
  "ppermute": False,
  "psend": False,
  "precv": False,
  "pgather": False,
  "collective_permute": False,
}
_SAME = {"all_reduce", "gather", "matmul_all_reduce", "all_gather_matmul"}


@dataclasses.dataclass(frozen=True)
class Finding:
  """A collective that some devices may not reach."""

  collective: str
  line: str
  axes: tuple[Any, ...]
  condition: str  # the line of the condition
  kind: str  # cond or while
  depends_on: tuple[Any, ...]  # the axes along which the condition differs

  def __str__(self) -> str:
    axes = ", ".join(map(str, self.depends_on))
    return (
      f"{self.collective} at {self.line} needs all devices along {', '.join(map(str, self.axes))}, but is inside of a {self.kind} at "
      f"{self.condition} whose condition differs along {axes}: devices that do not reach it leave the others waiting. Make "
      f"the condition the same everywhere (reduce it with collectives.all_reduce over {axes}), or take the collective out."
    )


Axes = frozenset[Any]
_NONE: Axes = frozenset()


@dataclasses.dataclass(frozen=True)
class _Condition:
  line: str
  kind: str
  axes: Axes


def check(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Finding]:
  """Trace a function and find the collectives in its `shard_map`s that some devices might not reach.

  Args:
    f: a function that calls `jax.shard_map`, or one for which it is called around (then give its arguments as that would).
    args: its arguments, or their shapes and dtypes.
    kwargs: likewise.
  """
  closed = jax.make_jaxpr(f)(*args, **kwargs)
  checker = _Checker()
  checker.run(closed.jaxpr, [_NONE] * len(closed.jaxpr.invars), [])
  unique: dict[Finding, None] = dict.fromkeys(checker.found)
  return list(unique)


class _Checker:
  def __init__(self) -> None:
    self.found: list[Finding] = []
    self.sizes: dict[Any, int] = {}

  def run(self, jaxpr: Any, args: Sequence[Axes], inside: list[_Condition]) -> list[Axes]:
    """Follow a jaxpr, given along which axes its arguments differ; returns the same of its results."""
    env: dict[Any, Axes] = dict(zip(jaxpr.invars, args))
    read = lambda v: _NONE if isinstance(v, _jax.core.Literal) else env.get(v, _NONE)
    for eqn in jaxpr.eqns:
      given = [read(v) for v in eqn.invars]
      outs = self._equation(eqn, given, inside)
      env.update(zip(eqn.outvars, outs))
    return [read(v) for v in jaxpr.outvars]

  def _equation(self, eqn: Any, given: list[Axes], inside: list[_Condition]) -> list[Axes]:
    name, params = eqn.primitive.name, eqn.params
    union = _NONE.union(*given) if given else _NONE
    if name == "axis_index":
      axis = params["axis_name"]
      return [union | frozenset(axis if isinstance(axis, tuple) else (axis,))]
    if (needed := _needs(eqn)) is not None:
      axes, same = needed
      self._report(eqn, axes, inside)
      return [union - frozenset(axes) if same else union | frozenset(axes)] * len(eqn.outvars)
    if name == "shard_map":
      return self._shard_map(eqn, given, inside)
    if name == "cond":
      index, *operands = given
      within = [*inside, _Condition(source_line(eqn), "cond", index)] if index else inside
      branches = [self.run(_jax.open_jaxpr(b)[0], operands, within) for b in params["branches"]]
      return [index.union(*outs) for outs in zip(*branches)] if branches and branches[0] else []
    if name == "while":
      return self._while(eqn, given, inside)
    if name == "scan":
      return self._scan(eqn, given, inside)
    inner = [v for v in params.values() if isinstance(v, _jax.core.ClosedJaxpr | _jax.core.Jaxpr)]
    if name == "pallas_call" or not inner:
      return [union] * len(eqn.outvars)
    jaxpr = _jax.open_jaxpr(inner[0])[0]
    if len(jaxpr.invars) != len(given):
      return [union] * len(eqn.outvars)
    outs = self.run(jaxpr, given, inside)
    return outs if len(outs) == len(eqn.outvars) else [union] * len(eqn.outvars)

  def _report(self, eqn: Any, axes: tuple[Any, ...], inside: list[_Condition]) -> None:
    for condition in inside:
      differs = tuple(axis for axis in sorted(condition.axes, key=str) if axis in axes)
      if differs:
        what = _title(eqn)
        self.found.append(Finding(what, source_line(eqn), axes, condition.line, condition.kind, differs))

  def _shard_map(self, eqn: Any, given: list[Axes], inside: list[_Condition]) -> list[Axes]:
    params = eqn.params
    specs = params.get("in_specs", params.get("in_names"))
    args = [own | _of_spec(spec) for own, spec in zip(given, specs)]
    outs = self.run(_jax.open_jaxpr(params["jaxpr"])[0], args, inside)
    mesh = frozenset(params["mesh"].axis_names)
    return [out - mesh for out in outs]

  def _while(self, eqn: Any, given: list[Axes], inside: list[_Condition]) -> list[Axes]:
    params = eqn.params
    cn, bn = params["cond_nconsts"], params["body_nconsts"]
    cond, body = _jax.open_jaxpr(params["cond_jaxpr"])[0], _jax.open_jaxpr(params["body_jaxpr"])[0]
    carried, silent = list(given[cn + bn :]), _Checker()
    while True:  # along the axes that a carried value may differ, until there are no more
      (continues,) = silent.run(cond, [*given[:cn], *carried], [])
      outs = silent.run(body, [*given[cn : cn + bn], *carried], [])
      new = [a | b | continues for a, b in zip(carried, outs)]
      if new == carried:
        break
      carried = new
    within = [*inside, _Condition(source_line(eqn), "while", continues)] if continues else inside
    self.run(cond, [*given[:cn], *carried], within)
    self.run(body, [*given[cn : cn + bn], *carried], within)
    return carried

  def _scan(self, eqn: Any, given: list[Axes], inside: list[_Condition]) -> list[Axes]:
    consts, carry = _jax.scan_counts(eqn.params)
    jaxpr, silent = _jax.open_jaxpr(eqn.params["jaxpr"])[0], _Checker()
    carried = list(given[consts : consts + carry])
    while True:
      outs = silent.run(jaxpr, [*given[:consts], *carried, *given[consts + carry :]], [])
      new = [a | b for a, b in zip(carried, outs)]
      if new == carried:
        break
      carried = new
    outs = self.run(jaxpr, [*given[:consts], *carried, *given[consts + carry :]], inside)
    return [*carried, *outs[carry:]]


def _of_spec(spec: Any) -> Axes:
  """The axes along which an argument is split."""
  entries = spec.values() if isinstance(spec, dict) else (spec or ())
  found: set[Any] = set()
  for entry in entries:
    found.update(entry if isinstance(entry, tuple) else (entry,) if entry is not None else ())
  return frozenset(found)


def _needs(eqn: Any) -> tuple[tuple[Any, ...], bool] | None:
  """The axes along which an equation needs all devices, and whether its results are the same along them; None if it needs no others."""
  name, params = eqn.primitive.name, eqn.params
  if eqn.primitive in (collective_p, fused_p, ragged_p):
    spec = params["spec"]
    is_broadcast = spec.kind == "permute" and len(set(spec.sources)) == 1
    return spec.axes, (spec.kind in _SAME or is_broadcast) and spec.groups is None
  if name in _COLLECTIVES:
    axes = params.get("axes", params.get("axis_name"))
    axes = tuple(a for a in (axes if isinstance(axes, tuple) else (axes,)) if not isinstance(a, int))
    return (axes, _COLLECTIVES[name] and params.get("axis_index_groups") is None) if axes else None
  if name == "pallas_call" and any(isinstance(e, CommsEffect) for e in eqn.effects):
    return _EVERY, False
  return None


class _Every(tuple[Any, ...]):
  """All axes of the mesh: a kernel that communicates with other devices."""

  def __contains__(self, axis: object) -> bool:
    return True


_EVERY = _Every(("the mesh",))


def _title(eqn: Any) -> str:
  if eqn.primitive in (collective_p, fused_p, ragged_p):
    return str(eqn.params["spec"].title.split(" ")[0])
  return f"the kernel '{eqn.params['name']}'" if eqn.primitive.name == "pallas_call" else str(eqn.primitive.name)


__all__ = ["Finding", "check"]
