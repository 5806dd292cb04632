"""Snapshots for undo: the contents of a module at one moment, restored on request.

Every field of every instruction and computation is copied one level deep (their values are frozen), so that after
`restore` the same objects have their earlier contents. References held elsewhere stay valid.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tilewright.hlo.ir import Computation, Instruction, Module

_MODULE = tuple(f.name for f in dataclasses.fields(Module))
_COMPUTATION = tuple(f.name for f in dataclasses.fields(Computation))
_INSTRUCTION = tuple(f.name for f in dataclasses.fields(Instruction))


def _copied(value: Any) -> Any:
  return value.copy() if isinstance(value, (dict, list, set)) else value


def _fields(thing: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
  return tuple(_copied(getattr(thing, name)) for name in names)


class Snapshot:
  """The state of a module."""

  def __init__(self, module: Module) -> None:
    self.module = module
    self._state: list[tuple[Any, tuple[str, ...], tuple[Any, ...]]] = [(module, _MODULE, _fields(module, _MODULE))]
    for computation in module.computations:
      self._state.append((computation, _COMPUTATION, _fields(computation, _COMPUTATION)))
      self._state += [(i, _INSTRUCTION, _fields(i, _INSTRUCTION)) for i in computation.instructions]

  def restore(self) -> None:
    for thing, names, values in self._state:
      for name, value in zip(names, values):
        setattr(thing, name, _copied(value))
