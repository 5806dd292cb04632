"""Numbers for the calls of a program that several processes run, by which they recognise each other's.

    world = dense<[17592186044416, 1000002000000, 0]> : tensor<3xi64>      the second call that was lowered

Lowering numbers the calls, alike in all processes. But JAX lowers an inner `jit` once however often it is called, and XLA then inlines it
at each call, so that several calls have one number. They would be told apart by the order in which each device comes to them, which differs
from process to process where none needs another's result. So XLA passes us its final module, and the k-th call of one number gets k added
to it. All processes compile the same module to the same order of instructions.

The numbers have as many digits as before, so the module's proto is changed in place, without being read.
"""

from __future__ import annotations

import collections
import functools
import re

import numpy as np

_COPIES, _DIGITS = 10**6, 10**12
_CALL = re.compile(rb"(world = \w+<\D{0,8}\d+, )(1\d{12})\b")


def attribute(domain: int, number: int, parties: tuple[int, ...] = ()) -> np.ndarray:
  """What a call carries: the domain of its processes, its number, with as many digits for all calls, that not all calls are gangs, and the
  parties that meet."""
  return np.array([domain, _DIGITS + number * _COPIES, 0, *parties], np.int64)


def distinct(module: bytes) -> bytes | None:
  """A module, as XLA's proto, in which no two calls have the same number; None if that is so already."""
  seen: collections.Counter[bytes] = collections.Counter()

  def renumbered(call: re.Match[bytes]) -> bytes:
    copy = seen[call[0]]
    seen[call[0]] += 1
    return b"%s%d" % (call[1], int(call[2]) + copy)

  changed = _CALL.sub(renumbered, module)
  return changed if changed != module else None


@functools.cache
def watch() -> None:
  """Have XLA pass the modules that it compiles for CPUs to us from now on."""
  from jax.extend import xla

  xla.register_hlo_module_transformation(
    distinct, name="tilewright_call_numbers", stage=xla.PipelineStage.POST_SCHEDULER, platforms=["cpu"]
  )


__all__ = ["attribute", "distinct", "watch"]
