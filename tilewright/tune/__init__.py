"""The autotuner: search spaces, measurement in processes of their own, and tables that remember.

    import tilewright as tw

    @tw.tune(block_m=tw.choice(64, 128, 256), block_n=tw.choice(64, 128, 256), stages=tw.range(2, 6))
    def matmul(x, y, *, block_m, block_n, stages): ...

    best = matmul.search(x, y, budget="60s")

`tilewright.tune` is this package and the decorator in one: the module can be called (`tuned.tune`). docs/tuning.md is the full guide.

    space      domains, constraints          strategy, surrogate   which candidate is next
    content, keys                            search, processes, worker, job, shipping, timing   isolation and measurement
    table, shapes   entries on disk          tuned, modes          what users touch
    trials     what a search saw             steps                 several kernels, one objective
"""

from __future__ import annotations

import sys
import types
from typing import Any

from tilewright.tune import tuned as _tuned
from tilewright.tune.modes import tuning
from tilewright.tune.space import Domain, Space, build, choice, power_of_two, range
from tilewright.tune.tuned import Tuned, missing


def __getattr__(name: str) -> Any:
  if name in ("Result", "Trial"):
    from tilewright.tune import trials

    return getattr(trials, name)
  if name == "Budget":
    from tilewright.tune.budget import Budget

    return Budget
  if name == "search_step":
    from tilewright.tune.steps import search_step

    return search_step
  raise AttributeError(f"module 'tilewright.tune' has no attribute {name!r}")


class _Callable(types.ModuleType):
  """This module, as the decorator that has its name."""

  def __call__(self, *args: Any, **options: Any) -> Any:
    return _tuned.tune(*args, **options)


_Callable.__call__.__doc__ = _tuned.tune.__doc__
sys.modules[__name__].__class__ = _Callable
