"""Decisions inside of library kernels that can be tuned: a space, and the facts that a decision depends on.

    ROWS = Declared("ops.by_rows gpu", {"rows": choice(0, 1, 2, 4), "num_warps": choice(0, 4, 8)})
    config = ROWS.choose(name="softmax", rows=1024, columns=8192, dtype="bf16")      {"rows": 0, "num_warps": 0} where nothing was tuned

A function with such decisions in it is tuned as a step (`steps.search_step`); `predict` estimates times from facts and values. Its own
heuristic is the value that a domain has first (0, by convention): so an entry may say that the heuristic is best. A missing entry
causes no warning; under `strict` it is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax.tree_util

from tilewright.tune.keys import Bound
from tilewright.tune.space import Config, Predicate, Space
from tilewright.tune.tuned import Call, Tuned


class Declared(Tuned):
  """A decision point. `version` is counted up when a value begins to mean something else."""

  def __init__(
    self,
    name: str,
    space: Mapping[str, Any],
    where: Iterable[Predicate] = (),
    predict: Callable[..., float] | bool = False,
    version: int = 1,
  ) -> None:
    found = Space.of(space, where)
    own = hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:24]
    default = {n: domain.values[0] for n, domain in found.domains.items()}
    super().__init__(_never_called, found, heuristic=default, predict=predict, kernel_content=own, is_quiet=True)
    self.name, self.version = name, version

  def __reduce__(self) -> Any:
    return _declared_again, (self.name, self.space, self.predict, self.version)

  def choose(self, **facts: Any) -> Config:
    """The configuration for some facts: numbers and words."""
    return self.configure(Call(self, Bound(facts, (), jax.tree_util.tree_structure(()), ()), {}))

  def command(self, bound: Bound) -> str:
    op = str(bound.names.get("op", self.name.split()[0].removeprefix("ops.")))
    return f"tilewright tune tilewright.ops:{op} TYPE..."


def _never_called(*_: Any, **__: Any) -> Any:
  raise AssertionError("a decision point is not a function")


def _declared_again(name: str, space: Space, predict: Any, version: int) -> Declared:
  return Declared(name, dict(space.domains), space.constraints, predict, version)
