"""Every kernel that a test compiles for this CPU is compiled to PTX as well, for each architecture, without a GPU.

A test is watched while it runs:

    with watched() as failures:
      ...                       # kernels are compiled, and run on the CPU
    assert not failures

A kernel is told from others by its tile IR and its grid, and compiled once in a process. An architecture's LLVM IR is generated anew only
if code generation asked something that has another answer there (`Observed`). LLVM, and ptxas where there is one, run on what is different:
each LLVM IR is compiled for one architecture that has it, which follows from the kernel, so that other kernels are compiled for others.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import hashlib
import operator
import runpy
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

from tilewright.runtime import ptxas
from tilewright.target import cpu
from tilewright.target.llvm.identity import identity
from tilewright.target.nvgpu.arch import ARCHS, Arch
from tilewright.target.nvgpu.emit.ptx import to_ptx
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.tile.native import NativeKernel
from tilewright.tile.standard_passes import clean

Question = Callable[[Arch], Any]


class Number:
  """A number of an architecture that is compared, perhaps after adding something: what comes of that is all that was learnt of it."""

  def __init__(self, of: Question, arch: Observed):
    self.of, self.arch = of, arch

  def __add__(self, other: Any) -> Number:
    return Number(lambda arch: self.of(arch) + other, self.arch)

  def __sub__(self, other: Any) -> Number:
    return Number(lambda arch: self.of(arch) - other, self.arch)

  def __lt__(self, other: Any) -> Any:
    return self.arch.ask(lambda arch: self.of(arch) < other)

  def __le__(self, other: Any) -> Any:
    return self.arch.ask(lambda arch: self.of(arch) <= other)

  def __gt__(self, other: Any) -> Any:
    return self.arch.ask(lambda arch: self.of(arch) > other)

  def __ge__(self, other: Any) -> Any:
    return self.arch.ask(lambda arch: self.of(arch) >= other)

  # Whatever else is done with it, the number itself is known from then on.

  def __index__(self) -> int:
    return self.arch.ask(self.of)

  def __str__(self) -> str:
    return str(self.arch.ask(self.of))

  def __mul__(self, other: Any) -> Any:
    return self.arch.ask(self.of) * other

  __rmul__ = __mul__

  def __floordiv__(self, other: Any) -> Any:
    return self.arch.ask(self.of) // other

  def __mod__(self, other: Any) -> Any:
    return self.arch.ask(self.of) % other


class Observed(Arch):
  """An architecture that remembers what it was asked, with the answers."""

  def __init__(self, arch: Arch):
    self.__dict__.update(plain=arch, answers=[])

  def ask(self, question: Question) -> Any:
    answer = question(self.plain)
    self.answers.append((question, answer))
    return answer

  def __getattribute__(self, name: str) -> Any:
    if name in ("ptx", "shared_bytes"):
      return Number(operator.attrgetter(name), self)
    if name in Arch.__dataclass_fields__ or (name in Arch.__dict__ and not name.startswith("_")):
      return self.ask(operator.attrgetter(name))
    return super().__getattribute__(name)


def llvm_of(kernel: NativeKernel) -> dict[str, str]:
  """The LLVM IR of a kernel for each architecture."""
  texts: dict[str, str] = {}
  known: list[tuple[list[tuple[Question, Any]], str]] = []
  for arch in ARCHS.values():
    fitting = (text for answers, text in known if all(question(arch) == answer for question, answer in answers))
    if (text := next(fitting, None)) is None:
      observed = Observed(arch)
      text, _ = emit_kernel(kernel, observed)
      known.append((observed.answers, text))
    texts[arch.name] = text
  return texts


@functools.cache
def assembler() -> str | None:
  return ptxas.find()


def failures_of(kernel: NativeKernel, choice: int) -> list[str]:
  """What goes wrong with a simplified kernel on the way to PTX; `choice` stands for one of the architectures with equal LLVM IR."""
  try:
    texts = llvm_of(kernel)
  except Exception as e:
    return [f"{kernel.name}: {type(e).__name__}: {e}"]
  found = []
  names: dict[str, list[str]] = {}
  for name, text in texts.items():
    names.setdefault(text, []).append(name)
  for text, alike in names.items():
    name = alike[choice % len(alike)]
    try:
      ptx = to_ptx(text, ARCHS[name])
      assert f".target {name}" in ptx and ".visible .entry" in ptx, "there is no kernel in the PTX"
      if assembler():
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

  def watching(kernel: NativeKernel, *operands: Any, **options: Any) -> list[Any]:
    if not kernel.are_cores and not kernel.mesh:  # on GPUs, neither cores nor devices reach for each other
      failures.extend(check(kernel))
    return run(kernel, *operands, **options)

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
