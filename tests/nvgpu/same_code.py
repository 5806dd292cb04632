"""Whether a change of the compiler leaves the code of kernels as it is: a corpus of kernels, and what each became before.

    python -m tests.nvgpu.same_code collect DIR tests/nvgpu -q      keep the kernels that these tests compile for GPUs, in the tile IR
    python -m tests.nvgpu.same_code record DIR                      keep the LLVM IR of each for sm_80, sm_90a and sm_100a
    python -m tests.nvgpu.same_code compare DIR [--every N]         make it anew, and print what became another

Races do not show in the CPU model of the GPU, so a change that is meant to leave code alone has to be compared. The corpus holds what the
target is given, not programs, so that changes of the language above it do not matter. LLVM IR that is the same becomes the same PTX. Where
it differs PTX decides, without comments and with registers and labels numbered by first use. `record --ptx` keeps a hash of PTX as well,
which `compare --ptx` checks: for a change of `emit.ptx` itself, or of LLVM.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import difflib
import hashlib
import importlib
import io
import multiprocessing
import pathlib
import pickle
import re
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.emit.ptx import to_ptx
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.native import NativeKernel, copied_kernel

NAMES = ("sm_80", "sm_90a", "sm_100a")
Case = tuple[NativeKernel, tuple[Any, ...]]  # a kernel and the wishes of `emit_kernel`


class _Pickler(pickle.Pickler):
  """Ops and types as they are. Of the jaxprs in block mappings it counts only whether there is one."""

  def reducer_override(self, value: Any) -> Any:
    name = type(value).__name__
    is_inner = name in ("function", "method") and "<" in value.__qualname__
    if is_inner or name in ("Jaxpr", "ClosedJaxpr", "PyTreeDef", "Traceback"):
      return (str, ("what code is not made of",))
    return NotImplemented


# A function as nested tuples in which values are numbers: ops and values point at each other, deeper than pickle follows.


def _flat(block: Block, numbers: dict[Value, int]) -> Any:
  def number(values: list[Value]) -> list[tuple[int, Any]]:
    return [(numbers.setdefault(v, len(numbers)), v.type) for v in values]

  return number(block.params), [
    (
      op.name,
      [numbers[v] for v in op.operands],
      op.attrs,
      [_flat(b, numbers) for b in op.blocks],
      number(op.results),
      op.loc,
    )
    for op in block.ops
  ]


def _unflat(flat: Any, values: dict[int, Value]) -> Block:
  params, ops = flat
  block = Block.of([t for _, t in params])
  values.update((n, v) for (n, _), v in zip(params, block.params))
  for name, operands, attrs, blocks, results, loc in ops:
    op = Op(name, [values[n] for n in operands], attrs, [_unflat(b, values) for b in blocks], [], loc)
    op.results = [Value(t, op) for _, t in results]
    values.update((n, v) for (n, _), v in zip(results, op.results))
    block.ops.append(op)
  return block


def dumped(case: Case) -> bytes:
  kernel, wishes = case
  functions = [None if f is None else (f.name, _flat(f.body, {})) for f in (kernel.body, *kernel.index_maps)]
  buffer = io.BytesIO()
  _Pickler(buffer).dump((dataclasses.replace(kernel, body=None, index_maps=()), functions, wishes))  # type: ignore[arg-type]
  return zlib.compress(buffer.getvalue(), 1)


def loaded(data: bytes) -> Case:
  kernel, functions, wishes = pickle.loads(zlib.decompress(data))
  body, *maps = [None if f is None else Function(f[0], _unflat(f[1], {})) for f in functions]
  return dataclasses.replace(kernel, body=body, index_maps=tuple(maps)), wishes


# --- the corpus ---------------------------------------------------------------------------------------------------------


class Collector:
  """Keeps each kernel that code is made of, once: a plugin of pytest."""

  def __init__(self, folder: pathlib.Path):
    self.folder = folder
    self.lost: collections.Counter[str] = collections.Counter()

  def keep(self, kernel: NativeKernel, wishes: tuple[Any, ...]) -> None:
    from tilewright.target.llvm.prepared import kernel_text

    fields = (kernel.scratch, kernel.input_output_aliases, kernel.dimension_semantics, kernel.warpgroups)
    own = [(m.block_shape, m.array_aval.shape, str(m.array_aval.dtype)) for m in kernel.mapping.block_mappings]
    said = repr((kernel_text(kernel), kernel.mapping.grid, own, fields, wishes))
    path = self.folder / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.kernel"
    if not path.exists():
      try:
        path.write_bytes(dumped((kernel, wishes)))
      except Exception as e:
        self.lost[f"{type(e).__name__}: {str(e)[:80]}"] += 1

  def pytest_terminal_summary(self, terminalreporter: Any) -> None:
    for why, count in self.lost.items():
      terminalreporter.write_line(f"{count} kernels are not kept: {why}")


def collect(folder: pathlib.Path, arguments: list[str]) -> int:
  import pytest

  folder.mkdir(parents=True, exist_ok=True)
  collector = Collector(folder)
  launch = importlib.import_module(emit_kernel.__module__)

  def keeping(kernel: NativeKernel, arch: Any, *wishes: Any) -> Any:
    collector.keep(kernel, wishes)
    return emit_kernel(kernel, arch, *wishes)

  launch.emit_kernel = keeping  # type: ignore[attr-defined]  # before any test imports it
  every_kernel = importlib.import_module("tests.nvgpu.every_kernel")
  every_kernel.failures_of = lambda kernel, choice: collector.keep(kernel, (None, None)) or []  # type: ignore[attr-defined]
  return pytest.main(["-p", "no:cacheprovider", *arguments], plugins=[collector])


# --- what kernels become ------------------------------------------------------------------------------------------------


def llvm_of(case: Case, arch: str) -> str:
  """The LLVM IR of a kernel and how it is launched; or the error."""
  kernel, wishes = case
  try:
    text, launch = emit_kernel(copied_kernel(kernel), ARCHS[arch], *wishes)
  except Exception as e:
    where = traceback.extract_tb(e.__traceback__)[-1]
    unexpected = "" if type(e).__module__.endswith("errors") else f" in {where.name}"
    return f"{type(e).__name__}: {e}{unexpected}"
  return f"{text}\n; {re.sub(r'0x[0-9a-f]+', '', repr(launch))}\n"


def normalised(ptx: str) -> str:
  """PTX without comments, in which registers and labels have numbers by first use."""
  numbers: dict[str, str] = {}

  def number(found: re.Match[str]) -> str:
    return numbers.setdefault(found[0], f"{re.sub('[0-9]+$', '', found[0])}{len(numbers)}")

  return re.sub(r"%[a-z]+\d+|\$L__\w+", number, re.sub(r"//.*", "", ptx))


def ptx_of(text: str, arch: str) -> str:
  return normalised(to_ptx(text, ARCHS[arch])) if text.startswith("; ModuleID") else text


def _launch_line(text: str) -> str:
  return text.rstrip().rpartition("\n")[2]


def _record_one(task: tuple[pathlib.Path, bool]) -> int:
  path, with_ptx = task
  case = loaded(path.read_bytes())
  texts = {arch: llvm_of(case, arch) for arch in NAMES}
  hashes = {arch: hashlib.sha256(ptx_of(texts[arch], arch).encode()).hexdigest() for arch in NAMES if with_ptx}
  path.with_suffix(".before").write_bytes(zlib.compress(pickle.dumps((texts, hashes)), 3))
  return len(texts)


def _compare_one(task: tuple[pathlib.Path, bool]) -> tuple[int, int, list[str]]:
  path, with_ptx = task
  case = loaded(path.read_bytes())
  before, hashes = pickle.loads(zlib.decompress(path.with_suffix(".before").read_bytes()))
  others, found = 0, []
  for arch in NAMES:
    now = llvm_of(case, arch)
    if with_ptx and hashes.get(arch) != hashlib.sha256(ptx_of(now, arch).encode()).hexdigest():
      found.append(f"{path.stem} {case[0].name} {arch}: the hash of PTX differs")
    if now == before[arch]:
      continue
    others += 1
    old, new = ptx_of(before[arch], arch), ptx_of(now, arch)
    if old != new or _launch_line(before[arch]) != _launch_line(now):
      lines = [_launch_line(before[arch]), *old.splitlines()], [_launch_line(now), *new.splitlines()]
      difference = list(difflib.unified_diff(*lines, lineterm="", n=2))[2:22]
      found.append("\n".join([f"{path.stem} {case[0].name} {arch}:", *(f"    {line[:200]}" for line in difference)]))
  return len(NAMES), others, found


def _each(work: Callable[[Any], Any], tasks: list[Any], processes: int) -> Iterator[Any]:
  if processes == 1:
    yield from map(work, tasks)
    return
  with multiprocessing.get_context("spawn").Pool(processes) as pool:
    yield from pool.imap_unordered(work, tasks, chunksize=4)


def main() -> int:
  if sys.argv[1:2] == ["collect"]:
    return collect(pathlib.Path(sys.argv[2]), sys.argv[3:])
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("command", choices=("record", "compare"))
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--every", type=int, default=1, help="only every n-th kernel")
  parser.add_argument("--ptx", action="store_true", help="hashes of PTX as well")
  parser.add_argument("--processes", type=int, default=2)
  options = parser.parse_args()
  kernels = sorted(options.folder.glob("*.kernel"))[:: options.every]
  if options.command == "record":
    tasks = [(path, options.ptx) for path in kernels]
    print(f"{sum(_each(_record_one, tasks, options.processes))} texts of {len(kernels)} kernels")
    return 0
  tasks = [(path, options.ptx) for path in kernels if path.with_suffix(".before").exists()]
  texts = others = wrong = 0
  for count, different, found in _each(_compare_one, tasks, options.processes):
    texts, others, wrong = texts + count, others + different, wrong + len(found)
    for line in found[:2] if wrong < 40 else []:
      print(line)
  print(f"{len(tasks)} kernels, {texts} texts: {others} have other LLVM IR, {wrong} other PTX")
  return 1 if wrong or not tasks else 0


if __name__ == "__main__":
  sys.exit(main())
