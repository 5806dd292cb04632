"""The key of the cache on disk: everything that the machine code of a kernel depends on, as text.

The key is taken from the tile IR as lowered, so that a process that finds its code on disk neither simplifies the kernel nor generates
LLVM IR. Everything after the lowering is this package's own code, which is part of the key as the hash of its sources.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
from typing import Any

import jax

import tilewright
from tilewright.runtime import ffi
from tilewright.tile.grid import BlockMapping
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS, WORLD
from tilewright.tile.printer import to_text

# Fields that are said otherwise: functions by their text (which holds the refs that blocks are seen as), arrays by shape and dtype.
_SAID_OTHERWISE = {
  "body",
  "index_maps",
  "mapping",
  "block_mappings",
  "index_map",
  "index_tree",
  "array_aval",
  "block_aval",
}
_FOR_PEOPLE = {"origin", "grid_names"}
_SHARED = ("runtime", "target/llvm", "tile")  # packages that every native target is made of


def identity(kernel: NativeKernel, *packages: str) -> str | None:
  """Everything the code depends on but the processor, if `packages` make it; None for a kernel that calls back into this process."""
  functions = [kernel.body, *kernel.index_maps]
  if any(WORLD in OPS[op.name].effects for f in functions if f is not None for op in walk(f.body)):
    return None
  parts = ["none" if f is None else to_text(f, locations=False) for f in functions]
  parts += [_fields(kernel), _fields(kernel.mapping), *map(_block, kernel.mapping.block_mappings)]
  return "\n".join([code_version(*packages), *parts])


def _fields(value: Any) -> str:
  names = (f.name for f in dataclasses.fields(value))
  return ", ".join(f"{n}={getattr(value, n)!r}" for n in names if n not in _SAID_OTHERWISE | _FOR_PEOPLE)


def _block(mapping: BlockMapping) -> str:
  array = mapping.array_aval
  return f"{array.shape} {array.dtype} whole={mapping.is_whole_array} {_fields(mapping)}"


@functools.cache
def code_version(*packages: str) -> str:
  """The version of everything that makes machine code out of the tile IR, down to the last edit."""
  digest = hashlib.sha256(f"{tilewright.__version__} {jax.__version__} {ffi.api_version()}".encode())
  root = pathlib.Path(tilewright.__file__).parent
  for package in (*_SHARED, *packages):
    for path in sorted((root / package).rglob("*.py")):
      digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
  return digest.hexdigest()
