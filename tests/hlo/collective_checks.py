"""Running a pass on a module and evaluating before and after on simulated devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright import hlo
from tilewright.hlo.clone import clone_computation
from tilewright.hlo.ir import Module
from tilewright.hlo.passes import PassLike, run_passes
from tilewright.hlo.shape import Shape

ADD = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
iadd { ia = s32[] parameter(0) ib = s32[] parameter(1) ROOT is = s32[] add(ia, ib) }
max { ma = f32[] parameter(0) mb = f32[] parameter(1) ROOT ms = f32[] maximum(ma, mb) }
hadd { ha = bf16[] parameter(0) hb = bf16[] parameter(1) ROOT hs = bf16[] add(ha, hb) }
"""


def random_value(rng: np.random.Generator, shape: Shape) -> object:
  if shape.is_tuple:
    return tuple(random_value(rng, part) for part in shape.tuple_shapes)
  if shape.kind == "pred":
    return rng.integers(0, 2, shape.dimensions).astype(bool)
  if shape.kind in ("signed", "unsigned"):
    return rng.integers(0, 100, shape.dimensions).astype(shape.dtype)
  return rng.normal(size=shape.dimensions).astype(shape.dtype)


def random_arguments(module: Module, devices: int, seed: int = 0) -> list[list[object]]:
  """Different arguments for every device."""
  rng = np.random.default_rng(seed)
  return [[random_value(rng, p.shape) for p in module.entry.parameters] for _ in range(devices)]


def leaves(value: object) -> list[np.ndarray]:
  if isinstance(value, tuple):
    return [leaf for part in value for leaf in leaves(part)]
  return [np.asarray(value)]


def assert_same(before: Sequence[object], after: Sequence[object], tolerance: float) -> None:
  for device, (a, b) in enumerate(zip(before, after, strict=True)):
    for x, y in zip(leaves(a), leaves(b), strict=True):
      assert x.dtype == y.dtype and x.shape == y.shape
      if x.dtype.kind in "iub" or tolerance == 0:
        np.testing.assert_array_equal(x, y, err_msg=f"device {device}")
      else:
        wide = np.promote_types(np.float64, x.dtype) if x.dtype.kind in "fc" else np.float64
        np.testing.assert_allclose(y.astype(wide), x.astype(wide), tolerance, tolerance, err_msg=f"device {device}")


def with_own_fusions(text: str) -> str:
  """The same module, in which each fusion has a computation of its own, as XLA requires it."""
  module, seen = hlo.parse(text), set[str]()
  for instruction in list(module.instructions()):
    if instruction.opcode == "fusion":
      (fused,) = instruction.called_computations
      if fused.name in seen:
        instruction.attrs["calls"] = module.add_computation(clone_computation(fused))
      seen.add(fused.name)
  return module.to_text()


def count(module: Module, opcode: str, computation: str | None = None) -> int:
  """How many instructions of an opcode stand in a computation, or in all of them."""
  where = module.instructions() if computation is None else module.find(computation).instructions
  return sum(i.opcode == opcode for i in where)


def executed(module: Module, opcode: str, devices: int = 4) -> int:
  """How many instructions of an opcode device 0 runs."""
  seen: list[str] = []

  def note(device: int, instruction: hlo.Instruction, value: object) -> None:
    if instruction.opcode == opcode and device == 0:
      seen.append(instruction.name)

  hlo.evaluate_devices(module, random_arguments(module, devices), on_value=note)
  return len(seen)


def transformed(
  text: str,
  passes: PassLike | Sequence[PassLike],
  *,
  changes: bool = True,
  devices: int = 4,
  tolerance: float = 1e-5,
  seeds: int = 1,
) -> Module:
  """The module after the passes. It must be legal, print and read back, and compute the same on every device."""
  before, after = hlo.parse(text), hlo.parse(text)
  listed: list[PassLike] = list(passes) if isinstance(passes, (list, tuple)) else [passes]  # type: ignore[list-item]
  report = run_passes(after, listed, verify=True)
  assert report.changed == changes, after.to_text()
  again = hlo.parse(after.to_text())
  for seed in range(seeds):
    arguments = random_arguments(before, devices, seed)
    wanted = hlo.evaluate_devices(before, arguments)
    assert_same(wanted, hlo.evaluate_devices(after, arguments), tolerance)
    assert_same(wanted, hlo.evaluate_devices(again, arguments), tolerance)
  return after
