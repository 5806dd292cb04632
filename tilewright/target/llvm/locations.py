"""The user's lines in machine code: locations of tile ops become LLVM's debug locations, and these `.loc` directives of the assembly.

    with locations.recorded():
      text = to_llvm(kernel, host)     # ... fmul ..., !dbg !12        !12 = !DILocation(line: 24, column: 6, scope: !5)
    jit.assembly(text)                 # .loc 1 24 6
                                       # vmulps %zmm1, %zmm2, %zmm2

Nothing is recorded otherwise, so that code, caches and golden files are the same as ever. Where it is, the instructions are the same
too: LLVM's passes must not look at debug locations. While code is emitted, `at` marks instructions with the text of a location; `attach`
makes metadata of these marks when a module is complete, since a location belongs to the function that contains its instruction. An
instruction without a mark gets line 0, which means that it has no source line.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from llvmlite import ir

_LOCATION = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?: \(.*\))?")
_wanted: ContextVar[bool] = ContextVar("tilewright_locations", default=False)


@contextlib.contextmanager
def recorded() -> Iterator[None]:
  """Code that is made inside says where it comes from."""
  token = _wanted.set(True)
  try:
    yield
  finally:
    _wanted.reset(token)


def wanted() -> bool:
  return _wanted.get()


def parse(location: str) -> tuple[str, int, int] | None:
  """File, line and column of a location such as `softmax.py:24:6 (softmax_kernel)`; columns count from 1, and 0 is none."""
  match = _LOCATION.fullmatch(location)
  return match and (match["file"], int(match["line"]), int(match["column"] or 0))


@contextlib.contextmanager
def at(b: ir.IRBuilder, location: str) -> Iterator[None]:
  """Mark the instructions that a builder inserts; an empty location leaves the mark that is there."""
  outer = b.debug_metadata
  b.debug_metadata = location or outer
  try:
    yield
  finally:
    b.debug_metadata = outer


def attach(module: ir.Module) -> None:
  """Make debug locations of the marks in a module; nothing where none are wanted."""
  if not wanted():
    return
  functions = [f for f in module.functions if f.blocks]
  marks = [i.metadata.get("dbg") for f in functions for block in f.blocks for i in block.instructions]
  known = [found for mark in marks if isinstance(mark, str) and (found := parse(mark))]
  unit_file = _file(module, known[0][0] if known else "unknown")
  unit = module.add_debug_info(
    "DICompileUnit",
    {
      "language": ir.DIToken("DW_LANG_Python"),
      "file": unit_file,
      "producer": "tilewright",
      "isOptimized": True,
      "emissionKind": ir.DIToken("DebugDirectivesOnly"),
    },
    is_distinct=True,
  )
  module.add_named_metadata("llvm.dbg.cu", unit)
  flag = [ir.Constant(ir.IntType(32), 2), "Debug Info Version", ir.Constant(ir.IntType(32), 3)]
  module.add_named_metadata("llvm.module.flags", module.add_metadata(flag))
  kind = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([])})
  for function in functions:
    program = module.add_debug_info(
      "DISubprogram",
      {
        "name": function.name,
        "file": unit_file,
        "line": 1,
        "type": kind,
        "unit": unit,
        "spFlags": ir.DIToken("DISPFlagDefinition"),
      },
      is_distinct=True,
    )
    function.set_metadata("dbg", program)
    for block in function.blocks:
      for instruction in block.instructions:
        mark = instruction.metadata.get("dbg")
        found = parse(mark) if isinstance(mark, str) else None
        instruction.metadata["dbg"] = _location(module, program, unit_file, found)


def _file(module: ir.Module, path: str) -> Any:
  folder, name = os.path.split(path)
  return module.add_debug_info("DIFile", {"filename": name, "directory": folder})


def _location(module: ir.Module, program: Any, own: Any, found: tuple[str, int, int] | None) -> Any:
  if found is None:
    return module.add_debug_info("DILocation", {"line": 0, "column": 0, "scope": program})
  path, line, column = found
  file = _file(module, path)
  scope = program
  if file is not own:
    scope = module.add_debug_info("DILexicalBlockFile", {"scope": program, "file": file, "discriminator": 0})
  return module.add_debug_info("DILocation", {"line": line, "column": column, "scope": scope})
