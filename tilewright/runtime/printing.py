"""Printing from native code: a function with a C address that formats values as Python does.

    tilewright_print('{"format": "saw {}", "values": [["float32", [4]]]}', [pointer])

Compiled code calls it by its symbol, so that it may come from the cache on disk. It is the one place where a native kernel runs Python.
"""

from __future__ import annotations

import ctypes
import functools
import json
import sys
import traceback
from typing import Any

import llvmlite.binding as llvm
import numpy as np

_SYMBOL = "tilewright_print"
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))


@functools.cache
def _parse(text: bytes) -> tuple[str, list[tuple[str, list[int]]]]:
  said = json.loads(text)
  return said["format"], [(name, shape) for name, shape in said["values"]]


def _print(text: bytes, pointers: Any) -> None:
  try:
    template, values = _parse(text)
    arrays = [_array(pointers[i], np.dtype(name), shape) for i, (name, shape) in enumerate(values)]
    sys.stdout.write(template.format(*arrays) + "\n")
  except Exception:  # there is nothing above this but compiled code
    traceback.print_exc()


def _array(pointer: int, dtype: np.dtype, shape: list[int]) -> np.ndarray:
  count = int(np.prod(shape))
  raw = ctypes.string_at(pointer, count * dtype.itemsize)
  return np.frombuffer(raw, dtype, count).reshape(shape)


_callback = _SIGNATURE(_print)  # lives as long as the code that calls it


@functools.cache
def symbol() -> str:
  """The name under which compiled code finds the function."""
  llvm.add_symbol(_SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value)
  return _SYMBOL
