"""Manual computations of Shardy, as JAX lowers `shard_map` before XLA partitions the module.

    %l = f32[2,2] custom-call(f32[4,4] %g), "xla.sdy.GlobalToLocalShape"     the part of %g that this device works on
    %m = … call(%l) …                                                        the body, on each device
    %r = f32[4,4] custom-call(%m), "xla.sdy.LocalToGlobalShape"              the parts of all devices, put together

Outside of manual computations the program operates on global arrays: every device holds all of each. In and out shardings are in frontend
attributes, and so are the manual axes of the mesh; other axes do not partition.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.requests import Rendezvous, Request
from tilewright.hlo.evaluate.table import Value, blocking_rule
from tilewright.hlo.ir import Instruction, Module

Run = Generator[Request, Value, Value]
_TARGETS = ("xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape")

_MESH = re.compile(r"(\w+)\s*=\s*#sdy\.mesh<\[([^\]]*)\](?:\s*,\s*device_ids=\[([^\]]*)\])?")
_SHARDING = re.compile(r"<(?:@(\w+)|mesh<\[([^\]]*)\][^>]*>)\s*,\s*\[([^\]]*)\]")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_AXIS = re.compile(r'"([^"]+)"(?::\((\d+)\)(\d+))?')
_SIZE = re.compile(r'"([^"]+)"\s*=\s*(\d+)')


@dataclass(frozen=True)
class Mesh:
  sizes: dict[str, int]
  devices: tuple[int, ...]  # in row-major order of the axes

  def coordinates(self, device: int) -> dict[str, int]:
    place = self.devices.index(device)
    found = np.unravel_index(place, tuple(self.sizes.values())) if self.sizes else ()
    return {axis: int(c) for axis, c in zip(self.sizes, found)}


@dataclass(frozen=True)
class Cut:
  """The partitioning of a value: for each dimension, the axes (with the part of an axis, if it is one)."""

  mesh: Mesh
  dimensions: tuple[tuple[tuple[str, int, int], ...], ...]  # (axis, pre-size, size)

  def box(self, device: int, shape: Sequence[int]) -> tuple[slice, ...]:
    """The part of an array of this shape that a device holds."""
    at = self.mesh.coordinates(device)
    parts: list[slice] = []
    rest = ((),) * (len(shape) - len(self.dimensions))  # a sharding may be shorter than the shape
    for size, axes in zip(shape, (*self.dimensions, *rest)):
      count, index = 1, 0
      for axis, before, length in axes:
        behind = self.mesh.sizes[axis] // (before * length)
        index = index * length + at[axis] // behind % length
        count *= length
      step = size // count
      parts.append(slice(index * step, (index + 1) * step))
    return tuple(parts)


def _cuts(device: Device, instruction: Instruction, attribute: str) -> list[Cut]:
  own = {key: text.replace('\\"', '"') for key, text in instruction.frontend_attributes.items()}
  meshes = _meshes(device)
  manual = set(re.findall(r'"([^"]+)"', own.get("xla.sdy.manual_axes", "")))
  cuts: list[Cut] = []
  for name, inline, dimensions in _SHARDING.findall(own.get(attribute, "")):
    mesh = _mesh(inline, "") if inline else meshes.get(name)
    if mesh is None:
      raise evaluate_error(instruction, f"the module has no mesh called @{name} (frontend attribute xla.sdy.meshes)")
    cut = tuple(
      tuple(
        (axis, int(before or 1), int(size or mesh.sizes[axis]))
        for axis, before, size in _AXIS.findall(axes)
        if axis in manual or not manual
      )
      for axes in _DIMENSION.findall(dimensions)
    )
    cuts.append(Cut(mesh, cut))
  if len(cuts) != len(instruction.operands):
    raise evaluate_error(
      instruction, f"{attribute} must have a sharding for each of {len(instruction.operands)} operands"
    )
  return cuts


def _meshes(device: Device) -> dict[str, Mesh]:
  text = device.program.module.frontend_attributes.get("xla.sdy.meshes", "").replace('\\"', '"')
  return {name: _mesh(axes, ids) for name, axes, ids in _MESH.findall(text)}


def _mesh(axes: str, ids: str) -> Mesh:
  sizes = {name: int(size) for name, size in _SIZE.findall(axes)}
  count = int(np.prod(list(sizes.values()), dtype=np.int64))
  devices = tuple(int(d) for d in ids.split(",")) if ids.strip() else tuple(range(count))
  return Mesh(sizes, devices)


def devices_of(module: Module) -> int:
  """How many devices the manual computations of a module are for; 1 if it has none."""
  calls = [i for i in module.instructions() if i.opcode == "custom-call"]
  if not any(i.attrs.get("custom_call_target") in _TARGETS for i in calls):
    return 1
  text = module.frontend_attributes.get("xla.sdy.meshes", "").replace('\\"', '"')
  return max((1 + max(_mesh(axes, ids).devices) for _, axes, ids in _MESH.findall(text)), default=1)


def _together(instruction: Instruction, values: list[np.ndarray]) -> Value:
  return tuple(values) if instruction.shape.is_tuple else values[0]


def _check_devices(device: Device, instruction: Instruction, cuts: Sequence[Cut]) -> None:
  wanted = max((max(c.mesh.devices) + 1 for c in cuts), default=1)
  have = device.replicas * device.partitions
  if have < wanted:
    reason = (
      f"its mesh has {wanted} devices and this evaluation {have}: use evaluate_devices(…, num_partitions={wanted})"
    )
    raise evaluate_error(instruction, reason)


@blocking_rule("custom-call:xla.sdy.GlobalToLocalShape")
def global_to_local(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  cuts = _cuts(device, instruction, "xla.sdy.in_shardings")
  _check_devices(device, instruction, cuts)
  values = [x[cut.box(device.number, x.shape)] for x, cut in zip(operands, cuts)]
  return _together(instruction, values)
  yield  # a generator, like its counterpart


@blocking_rule("custom-call:xla.sdy.LocalToGlobalShape")
def local_to_global(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  cuts = _cuts(device, instruction, "xla.sdy.out_shardings")
  _check_devices(device, instruction, cuts)
  shapes = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  group = tuple(sorted({d for cut in cuts for d in cut.mesh.devices}))

  def exchange(contributions: list[Value]) -> list[Value]:
    wholes: list[np.ndarray] = []
    for number, (cut, shape) in enumerate(zip(cuts, shapes)):
      whole = np.zeros(shape.dimensions, shape.dtype)
      for member, given in reversed(list(zip(group, contributions))):  # of equal parts the first device's counts
        whole[cut.box(member, shape.dimensions)] = given[number]
      wholes.append(whole)
    return [tuple(wholes)] * len(group)

  found = yield Rendezvous(instruction, instruction, group, tuple(operands), exchange)
  return _together(instruction, list(found))
