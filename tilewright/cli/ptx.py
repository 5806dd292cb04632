"""`tilewright ptx MODULE:FUNCTION TYPE...`: the PTX of a function's kernels for NVIDIA GPUs, on any machine.

    tilewright ptx tilewright.ops:softmax 'bf16[16384,8192]'
    tilewright ptx mine.py:my_kernel 'f32[64,64]' 'f32[64]' --arch sm_90a --show ptx
    tilewright ptx tilewright.ops:attention 'bf16[8,1024,64]' 'bf16[8,1024,64]' 'bf16[8,1024,64]' --set causal=True

Types are written as in HLO, or with the names of NumPy's dtypes (bfloat16[16,128]). Modules are also searched in the current
folder. `--set` gives keyword arguments; a function with a parameter `native`, as those of `tilewright.ops`, gets
`native=True`. Registers and spills come from ptxas and are omitted where it is missing. Exit code 0: all well; 1: a
kernel does not compile; 2: the function or a type cannot be read.
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.cli.hlo import load_function
from tilewright.cli.table import print_table
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.pallas.nvgpu import Report, report
from tilewright.runtime import ptxas

_TYPE = re.compile(r"([a-z]\w*)\[((?:\d+(?:,\d+)*)?)\]")
# Elements of so many bytes, by kind, are what JAX computes in half of them unless told otherwise.
_WIDE_BYTES: dict[str, int] = defaultdict(lambda: 64, {"i": 8, "u": 8, "f": 8, "c": 16})
_COLUMNS = (
  "kernel",
  "architecture",
  "blocks",
  "threads",
  "registers",
  "spilled",
  "stack",
  "shared",
  "scratch",
  "tensor",
)


def run(arguments: argparse.Namespace) -> int:
  try:
    function = with_settings(load_function(arguments.function), arguments.set)
    args = [parse_type(text) for text in arguments.types]
    check_number_of_types(function, args)
  except (ImportError, AttributeError, ValueError) as error:
    print(f"tilewright ptx: {error}", file=sys.stderr)
    return 2
  try:
    with jax.enable_x64(True) if needs_x64(args) else nullcontext():
      reports = report(function, *args, archs=arguments.arch.split(",") if arguments.arch else None)
  except (errors.TilewrightError, TypeError) as error:  # a TypeError: the function takes other arguments
    print(f"tilewright ptx: {error}", file=sys.stderr)
    return 1
  if arguments.show:
    for r in reports:
      comment = "//" if arguments.show != "llvm" else ";"
      print(f"{comment} {r.kernel} for {r.arch}\n{getattr(r, arguments.show)}")
    return 0
  numbers = [c for c in _COLUMNS if c not in ("kernel", "architecture")]
  print_table(
    "What kernels take; memory in bytes, tensor memory in columns", _COLUMNS, [_row(r) for r in reports], right=numbers
  )
  if any(r.resources is None for r in reports):
    print(f"There is no ptxas here to count registers: {ptxas.ADVICE}.")
  return 0


def _row(r: Report) -> list[str]:
  used = r.resources
  own = ("-",) * 3 if used is None else (used.registers, used.spilled_bytes, used.stack_bytes)
  shared = r.shared_bytes + (used.shared_bytes if used else 0)
  blocks = "dynamic" if r.num_blocks is None else r.num_blocks
  memory = (shared, r.scratch_bytes, r.tensor_columns)
  return [str(cell) for cell in (r.kernel, r.arch, blocks, r.num_threads, *own, *memory)]


def needs_x64(args: Iterable[jax.ShapeDtypeStruct]) -> bool:
  """Whether JAX would narrow some of these types."""
  return any(a.dtype.itemsize >= _WIDE_BYTES[a.dtype.kind] for a in args)


def parse_type(text: str) -> jax.ShapeDtypeStruct:
  """`bf16[16,128]` as the type of an array."""
  match = _TYPE.fullmatch(text.replace(" ", ""))
  dtype = _dtype(match[1]) if match else None
  if match is None or dtype is None:
    raise ValueError(f"expected a type as bf16[16,128], s32[4], float32[8] or f32[], got {text!r}")
  return jax.ShapeDtypeStruct(tuple(int(n) for n in match[2].split(",") if n), dtype)


def _dtype(name: str) -> np.dtype | None:
  """A dtype by its name in HLO (bf16, s32, pred), in JAX's programs (i32, u8, bool) or in NumPy (bfloat16, float8_e4m3fn)."""
  if name in PRIMITIVE_TYPES:
    return PRIMITIVE_TYPES[name].dtype
  known = {row.dtype.name: row.dtype for row in PRIMITIVE_TYPES.values() if row.dtype is not None}
  return known.get(name) or known.get(re.sub(r"^i(?=\d+$)", "int", name))


def check_number_of_types(function: Callable[..., Any], args: list[Any]) -> None:
  try:
    signature = inspect.signature(function)
  except ValueError:
    return  # a function without one
  try:
    signature.bind(*args)
  except TypeError as error:
    name = getattr(getattr(function, "func", function), "__name__", "the function")
    taken = f"{name}({', '.join(signature.parameters)})"
    raise ValueError(
      f"{taken} takes other arguments than {len(args)} arrays: {error}. Give a TYPE for each array, as 'f32[8,128]', and --set for "
      "other arguments"
    ) from error


def with_settings(function: Callable[..., Any], settings: list[str]) -> Callable[..., Any]:
  """The function with `name=value` as its keyword arguments; values are Python literals, or else text."""
  given: dict[str, Any] = {}
  if "native" in inspect.signature(function).parameters:
    given["native"] = True
  for setting in settings:
    name, equals, value = setting.partition("=")
    if not equals:
      raise ValueError(f"--set: expected name=value, got {setting!r}")
    try:
      given[name] = ast.literal_eval(value)
    except (ValueError, SyntaxError):
      given[name] = value
  return functools.partial(function, **given)
