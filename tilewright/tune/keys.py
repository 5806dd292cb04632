"""What an entry of a table is for: a kernel by its contents, the types of its arguments, the device, and versions of the compiler.

    key_of(tuned, arguments)      Key(kernel="matmul", content="5d0c…", arguments="x=f32[512,512] y=f32[512,512]", device="NVIDIA H200", …)

Everything is text, so that a line of a table is readable. Computing a key runs nothing and traces nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import platform as host
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

import tilewright
from tilewright.runtime import cuda, pretend
from tilewright.tune.content import content

_SHORT = {"float": "f", "bfloat": "bf", "int": "s", "uint": "u", "complex": "c"}
_MAX_ARGUMENT_BYTES = 1 << 30  # bytes of arguments that are sent; beyond, random numbers serve
_CPUINFO_BYTES = 4096  # what the first processor's lines take, at most


@dataclasses.dataclass(frozen=True)
class Key:
  """All that decides which configuration is best. `versions` and `driver` make an entry of another installation a miss."""

  kernel: str  # its name, for people
  content: str
  arguments: str
  device: str
  driver: str
  versions: str

  @property
  def identity(self) -> tuple[str, ...]:
    """What two keys of the same thing have in common; a name is not part of it."""
    return (self.content, self.arguments, self.device, self.driver, self.versions)


@dataclasses.dataclass(frozen=True)
class Bound:
  """The arguments of a call, taken apart: arrays by their types, everything else as it is.

  `tree` and `leaves` rebuild them; `arrays` are the places of arrays among the leaves.
  """

  names: Mapping[str, Any]  # by the function's own names, arrays as types: what predicates see
  leaves: tuple[Any, ...]
  tree: Any
  arrays: tuple[int, ...]

  @property
  def types(self) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(type_of(self.leaves[n]) for n in self.arrays)

  def text(self, bucket: Callable[..., Any] | None = None) -> str:
    if bucket is not None:
      return f"bucket {bucket(*self.types)!r}"
    return " ".join(f"{name}={_value_text(value)}" for name, value in self.names.items())


def is_array(x: Any) -> bool:
  return isinstance(x, jax.Array | np.ndarray | jax.ShapeDtypeStruct | jax.core.Tracer)


def concrete(arrays: Sequence[Any]) -> tuple[np.ndarray, ...] | None:
  """The values of arrays, to be sent to the process that measures; None if they have none, or are too large for that."""
  if any(isinstance(x, jax.core.Tracer) or not isinstance(x, np.ndarray | jax.Array) for x in arrays):
    return None
  return tuple(np.asarray(x) for x in arrays) if sum(x.nbytes for x in arrays) <= _MAX_ARGUMENT_BYTES else None


def type_of(x: Any) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(x.shape, x.dtype)


def type_text(x: Any) -> str:
  """`f32[512,512]`, as in HLO."""
  dtype = str(x.dtype)
  letters, digits = dtype.rstrip("0123456789"), dtype[len(dtype.rstrip("0123456789")) :]
  short = {"bool": "pred"}.get(dtype) or (f"{_SHORT[letters]}{digits}" if letters in _SHORT else dtype)
  return f"{short}[{','.join(map(str, x.shape))}]"


def _value_text(value: Any) -> str:
  if is_array(value):
    return type_text(value)
  if isinstance(value, tuple | list):
    return f"({', '.join(map(_value_text, value))})"
  if isinstance(value, dict):
    return "{" + ", ".join(f"{k}: {_value_text(v)}" for k, v in value.items()) + "}"
  if callable(value) and not isinstance(value, type):
    return f"<{content(value)}>"
  text = repr(value)
  if " at 0x" in text and dataclasses.is_dataclass(value):
    text = str({f.name: _value_text(getattr(value, f.name)) for f in dataclasses.fields(value)})
  return text.replace("\n", " ")


def bind(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
  """The arguments of a call by name, without the parameters that are tuned."""
  bound = signature.bind(*args, **kwargs)
  bound.apply_defaults()
  leaves, tree = jax.tree.flatten((bound.args, bound.kwargs), is_leaf=lambda x: x is None)
  arrays = tuple(n for n, leaf in enumerate(leaves) if is_array(leaf))
  typed = lambda own: jax.tree.map(lambda x: type_of(x) if is_array(x) else x, own, is_leaf=lambda x: x is None)
  as_types = {name: typed(own) for name, own in bound.arguments.items()}  # in the order of the signature
  return Bound(as_types, tuple(leaves), tree, arrays)


# --- where it runs -----------------------------------------------------------------------------------------------


def platform() -> str:
  """Where a program that is traced now will run: `cpu`, `gpu`, or another of JAX's."""
  chosen = jax.config.jax_default_device
  found = pretend.real_backend() if chosen is None else chosen if isinstance(chosen, str) else chosen.platform
  return "gpu" if found in ("cuda", "gpu") else found


@functools.cache
def device_name(where: str) -> str:
  """A device, by what makes it fast: all of one name are taken to be alike. One that is not here has no entries."""
  if where == "cpu":
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{cpu_model()}, {threads} threads"
  try:
    return jax.devices(where)[0].device_kind
  except RuntimeError:
    return f"no {where}"


def cpu_model() -> str:
  """The model of the processor with its family and number, as Linux has them; some are called the same."""
  found: dict[str, str] = {}
  try:
    with open("/proc/cpuinfo", "rb") as file:
      text = file.read(_CPUINFO_BYTES).decode(errors="replace")
    for line in text.splitlines():
      name, _, value = line.partition(":")
      found.setdefault(name.strip().lower(), value.strip())
  except OSError:
    pass
  name = found.get("model name") or host.processor() or host.machine() or "unknown"
  numbers = [found[n] for n in ("cpu family", "model") if n in found]
  return f"{name} ({'/'.join(numbers)})" if numbers else name


@functools.cache
def driver(where: str) -> str:
  if where != "gpu":
    return ""
  if not cuda.is_here():
    return "none"
  version = cuda.driver_version()
  return f"CUDA {version // 1000}.{version % 1000 // 10}"


@functools.cache
def versions() -> str:
  """Of what makes the code."""
  python = ".".join(host.python_version_tuple()[:2])
  return f"tilewright {tilewright.__version__}, jax {jax.__version__}, python {python}"
