"""Modules before and after single passes."""

from __future__ import annotations

import numpy as np

from tilewright import hlo
from tilewright.hlo.passes import run_passes

X = np.array([1.5, -2.0, 0.25, 8.0], np.float32)


def after(text: str, *passes: str, args: tuple = (X,), **options: object) -> hlo.Module:
  """The module after the passes; its value must not change, and it must verify."""
  module = hlo.parse(text)
  devices = module.replica_count * module.num_partitions
  custom = {"effect": lambda i, v: v[0], "pure": lambda i, v: v[0]}
  before = hlo.evaluate_devices(module, [args] * devices, custom_calls=custom)
  run_passes(module, passes, strict=True, **options)
  now = hlo.evaluate_devices(module, [args] * devices, custom_calls=custom)
  for old, new in zip(before, now):
    for a, b in zip(old if isinstance(old, tuple) else (old,), new if isinstance(new, tuple) else (new,)):
      np.testing.assert_array_equal(a, b)
  return module


def opcodes(module: hlo.Module) -> list[str]:
  return [i.opcode for i in module.entry.instructions]


def all_opcodes(module: hlo.Module) -> set[str]:
  return {i.opcode for i in module.instructions()}


def folded(body: str, name: str = "constant_folding") -> hlo.Module:
  return after(f"ENTRY e {{ x = f32[4] parameter(0)\n {body} }}", name)
