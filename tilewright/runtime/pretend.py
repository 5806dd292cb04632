"""`pretend`: queries about the device are answered for a device that this machine does not have.

    with tilewright.pretend("v6e"):
      pltpu.get_tpu_info().num_lanes                      # 128
    tilewright.pretend("h100")                            # or once, for the rest of the process
    jax.devices()[0].core_count, jax.devices()[0].device_kind

Programs choose block sizes, grids and code paths by what the host knows about its device. Under `pretend` JAX's devices
report the kind, number of cores and compute capability of the named one, `jax.default_backend()` its platform,
`jax.devices("tpu")` and its siblings return the real devices, and JAX's `cuda_versions` exists for a GPU.
Computation does not change: programs are compiled for, and run on, the real devices. The environment variable
TILEWRIGHT_PRETEND names a device when `tilewright.pallas` is imported.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import types
from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.runtime import _jax

VARIABLE = "TILEWRIGHT_PRETEND"
real_backend: Callable[[], str] = jax.default_backend  # what computes, whatever is pretended


@dataclasses.dataclass(frozen=True)
class Device:
  """What JAX says about a device. `num_cores` counts the TensorCores of a TPU device, `core_count` the SMs of a GPU."""

  name: str
  platform: str
  device_kind: str
  num_cores: int | None = None
  core_count: int | None = None
  compute_capability: str | None = None


def _tpu(name: str, kind: str, cores: int = 1) -> Device:
  return Device(name, "tpu", kind, num_cores=cores)


def _gpu(name: str, kind: str, capability: str, sms: int) -> Device:
  return Device(name, "gpu", kind, core_count=sms, compute_capability=capability)


# TPUs as JAX names them; those with Megacore are one device of two cores. GPUs as their driver names them.
DEVICES: dict[str, Device] = {
  device.name: device
  for device in (
    _tpu("v2", "TPU v2"),
    _tpu("v3", "TPU v3"),
    _tpu("v4i", "TPU v4 lite"),
    _tpu("v4", "TPU v4", 2),
    _tpu("v5e", "TPU v5 lite"),
    _tpu("v5p", "TPU v5", 2),
    _tpu("v6e", "TPU v6 lite"),
    _tpu("7", "TPU7"),
    _tpu("7x", "TPU7x"),
    _tpu("8i", "TPU8i"),
    _tpu("8t", "TPU8t"),
    _gpu("t4", "Tesla T4", "7.5", 40),
    _gpu("a10", "NVIDIA A10", "8.6", 72),
    _gpu("a100", "NVIDIA A100-SXM4-80GB", "8.0", 108),
    _gpu("l4", "NVIDIA L4", "8.9", 58),
    _gpu("l40", "NVIDIA L40", "8.9", 142),
    _gpu("rtx4090", "NVIDIA GeForce RTX 4090", "8.9", 128),
    _gpu("h100", "NVIDIA H100 80GB HBM3", "9.0", 132),
    _gpu("h200", "NVIDIA H200", "9.0", 132),
    _gpu("gh200", "NVIDIA GH200 480GB", "9.0", 132),
    _gpu("b200", "NVIDIA B200", "10.0", 148),
  )
}
_CUDA = 13000  # what cuda_versions says: 13.0

_pretended: list[Device] = []


def device(name: str) -> Device:
  """The device of a name: "v6e", "TPU v6e", "tpu7x", "H100", "nvidia-h100"."""
  plain = "".join(c for c in name.lower() if c.isalnum()).removeprefix("tpu").removeprefix("nvidia")
  found = DEVICES.get(plain) or DEVICES.get(f"v{plain}")
  if found is None:
    raise errors.DeviceKindError(f"pretend: {name!r} is not a known device: {', '.join(DEVICES)}.")
  return found


def pretended() -> Device | None:
  """The device in force, if any."""
  return _pretended[-1] if _pretended else None


class Pretence:
  """What `pretend` did, as a context manager that undoes it."""

  def __init__(self, stack: contextlib.ExitStack):
    self._stack = stack

  def undo(self) -> None:
    """Restore the answers of the real devices."""
    self._stack.close()

  def __enter__(self) -> Pretence:
    return self

  def __exit__(self, *exc: object) -> None:
    self.undo()


def pretend(name: str) -> Pretence:
  """Let questions about the device be answered as for this one from now on, or inside a `with` statement.

  Args:
    name: a TPU ("v5e", "v5p", "v6e", "7x", ...) or a GPU ("a100", "h100", "b200", ...).
  """
  from unittest import mock  # it imports asyncio: only users of `pretend` pay for that

  as_if = device(name)
  stack = contextlib.ExitStack()
  facts = {
    field: getattr(as_if, field)
    for field in ("device_kind", "num_cores", "core_count", "compute_capability")
    if getattr(as_if, field) is not None
  }
  for field, value in facts.items():
    stack.enter_context(mock.patch.object(jax.Device, field, _answer(value), create=True))
  stack.enter_context(mock.patch.object(jax, "default_backend", lambda: as_if.platform))
  for name in ("devices", "local_devices", "device_count", "local_device_count"):
    stack.enter_context(mock.patch.object(jax, name, _of_any_platform(name, getattr(jax, name), as_if.platform)))
  if as_if.platform == "gpu" and _jax.lib.cuda_versions is None:
    versions = types.SimpleNamespace(cuda_runtime_get_version=lambda: _CUDA, cuda_driver_get_version=lambda: _CUDA)
    stack.enter_context(mock.patch.object(_jax.lib, "cuda_versions", versions))
  _pretended.append(as_if)
  stack.callback(_pretended.remove, as_if)
  return Pretence(stack)


def _answer(value: Any) -> property:
  return property(lambda self: value)


def _of_any_platform(name: str, function: Callable[..., Any], platform: str) -> Callable[..., Any]:
  """One of `jax.devices` and its siblings, which takes the pretended platform for the one there is."""
  names = {"tpu": ("tpu",), "gpu": ("gpu", "cuda")}[platform]

  @functools.wraps(function)
  def call(*args: Any, **kwargs: Any) -> Any:
    drop = lambda value: None if value in names else value
    kwargs = {k: drop(v) if k == "backend" else v for k, v in kwargs.items()}
    return function(
      *(args if name == "local_devices" else map(drop, args)), **kwargs
    )  # that one's first argument is a process

  return call


def from_environment() -> Pretence:
  """Pretend as the environment says, unless something is pretended already."""
  name = os.environ.get(VARIABLE)
  return Pretence(contextlib.ExitStack()) if not name or _pretended else pretend(name)
