"""Every kernel that a test compiles for this CPU is compiled to PTX as well, for each architecture, without a GPU.

A test is watched while it runs:

    with watched() as failures:
      ...                       # kernels are compiled, and run on the CPU
    assert not failures

A kernel is told from others by its tile IR and its grid, and compiled once in a process. An architecture's LLVM IR is generated anew only
if it differs from another's in a field that code generation looked at (`Observed`); the back end runs for each. Where there is a ptxas,
it assembles what is different: each LLVM IR for the oldest architecture that has it, and for one that follows from the kernel.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import hashlib
import runpy
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from tilewright.runtime import ptxas
from tilewright.target import cpu
from tilewright.target.llvm.identity import identity
from tilewright.target.nvgpu.arch import ARCHS, Arch
from tilewright.target.nvgpu.launch import emit_kernel
from tilewright.target.nvgpu.ptx import to_ptx
from tilewright.tile.cleaning import clean
from tilewright.tile.native import NativeKernel


class Observed(Arch):
  """An architecture that remembers which of its fields were looked at."""

  def __getattribute__(self, name: str) -> Any:
    value = super().__getattribute__(name)
    if name in Arch.__dataclass_fields__:
      super().__getattribute__("__dict__").setdefault("looked_at", {})[name] = value
    return value


def llvm_of(kernel: NativeKernel) -> dict[str, str]:
  """The LLVM IR of a kernel for each architecture."""
  texts: dict[str, str] = {}
  known: list[tuple[dict[str, Any], str]] = []
  for arch in ARCHS.values():
    fitting = (text for looked_at, text in known if all(getattr(arch, f) == v for f, v in looked_at.items()))
    if (text := next(fitting, None)) is None:
      observed = Observed(**dataclasses.asdict(arch))
      text, _ = emit_kernel(kernel, observed)
      known.append((observed.__dict__.get("looked_at", {}), text))
    texts[arch.name] = text
  return texts


@functools.cache
def assembler() -> str | None:
  return ptxas.find()


def failures_of(kernel: NativeKernel, choice: int) -> list[str]:
  """What goes wrong with a simplified kernel on the way to PTX; the architecture that `choice` stands for is assembled too."""
  try:
    texts = llvm_of(kernel)
  except Exception as e:
    return [f"{kernel.name}: {type(e).__name__}: {e}"]
  found = []
  oldest = {text: name for name, text in reversed(texts.items())}
  chosen = {*oldest.values(), list(texts)[choice % len(texts)]} if assembler() else set()
  for name, text in texts.items():
    try:
      ptx = to_ptx(text, ARCHS[name])
      assert f".target {name}" in ptx and ".visible .entry" in ptx, "there is no kernel in the PTX"
      if name in chosen:
        ptxas.resources(ptx, name, assembler())
    except Exception as e:
      found.append(f"{kernel.name} for {name}: {type(e).__name__}: {e}")
  return found


_known: dict[str, list[str]] = {}


def check(kernel: NativeKernel) -> list[str]:
  """What goes wrong with a kernel, which is left as it is."""
  said = identity(kernel)
  digest = hashlib.sha256((said or repr(id(kernel))).encode()).hexdigest()
  if said is None or digest not in _known:
    own = dataclasses.replace(
      kernel, body=copy.deepcopy(kernel.body), index_maps=tuple(copy.deepcopy(m) for m in kernel.index_maps)
    )
    _known[digest] = failures_of(clean(own), int(digest, 16))
  return _known[digest]


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
  """Whatever is compiled for the CPU in this context is compiled to PTX; gives the list of what went wrong."""
  failures: list[str] = []
  run = cpu.run

  def watching(kernel: NativeKernel, *operands: Any) -> list[Any]:
    failures.extend(check(kernel))
    return run(kernel, *operands)

  with mock.patch.object(cpu, "run", watching):
    yield failures


@pytest.fixture(autouse=True)
def becomes_ptx() -> Iterator[None]:
  """For a conftest.py to import: every test below it fails if a kernel of it does not become PTX."""
  with watched() as failures:
    yield
  assert not failures, "\n".join(failures)


def main(path: str) -> None:
  """Run a program as Python would, and fail if a kernel of it does not become PTX."""
  with watched() as failures:
    try:
      runpy.run_path(path, run_name="__main__")
    except SystemExit as e:
      if e.code not in (None, 0):
        raise
  if failures:
    sys.exit("\n".join(failures))


if __name__ == "__main__":
  main(sys.argv[1])
