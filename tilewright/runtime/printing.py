"""Printing from native code: a function with a C address that formats values as Python does.

    tilewright_print('{"format": "saw {}", "values": [["float32", [4]]]}', [pointer])

Compiled code calls it by its symbol, so that it may come from the cache on disk. The prints of a GPU kernel are collected in a log, and
reported when it is done: `tilewright_report('{"prints": …, "messages": …}', header, records)` prints it and returns the text of the error,
if there is one (the log's form is in `target.nvgpu.host.device_log`). These are the only places where a native kernel runs Python.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import json
import sys
import traceback
from collections.abc import Iterable
from typing import Any

import numpy as np

from tilewright.runtime import linking

_SYMBOL = "tilewright_print"
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))


@functools.cache
def _parse(text: bytes) -> tuple[str, list[tuple[str, list[int]]]]:
  record = json.loads(text)
  return record["format"], [(name, shape) for name, shape in record["values"]]


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

# --- the log of a kernel on a GPU --------------------------------------------------------------------------------

REPORT = "tilewright_report"
HEADER_WORDS = 16
ALIGNED = 16
# What an error says of where it happened, on every target, given numbers with commas between them.
ELEMENT, INSTANCE = " The first element is [{}].", " In the instance ({}) of the grid."
_REPORT_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_errors: collections.deque[Any] = collections.deque(maxlen=256)  # texts that callers are about to copy


def _report(text: bytes, header: int, records: int) -> int | None:
  try:
    return _print_records(text, header, records)
  except Exception:  # there is nothing above this but compiled code
    traceback.print_exc()
    return None


def _print_records(text: bytes, header: int, records: int) -> int | None:
  """Print the records of a log; returns the address of the error's text."""
  meaning = _parse_report(text)
  words = (ctypes.c_uint32 * HEADER_WORDS).from_address(header)
  used, dropped, failed, message, element, rank = words[:6]
  at = 0
  while at < used:
    template, values = meaning["prints"][ctypes.c_uint32.from_address(records + at).value]
    at += ALIGNED
    arrays = []
    for name, shape in values:
      arrays.append(_array(records + at, np.dtype(name), shape))
      at += -(-arrays[-1].nbytes // ALIGNED) * ALIGNED
    _write(template, arrays)
  if dropped:
    sys.stdout.write(f"({dropped} more prints of this kernel did not fit its log.)\n")
  if not failed:
    return None
  record, shape = meaning["messages"][message]
  if shape is None:
    record = record.format(*words[6 : 6 + rank])
  elif shape:
    record += ELEMENT.format(_listed(np.unravel_index(element, shape)))
  if rank and shape is not None:
    record += INSTANCE.format(_listed(words[6 : 6 + rank]))
  _errors.append(ctypes.create_string_buffer(record.encode()))
  return ctypes.addressof(_errors[-1])


def _write(template: str, arrays: list[np.ndarray]) -> None:
  """One print: what Python cannot format keeps neither the others nor the error from being told."""
  try:
    sys.stdout.write(template.format(*arrays) + "\n")
  except Exception:
    traceback.print_exc()


def _listed(numbers: Iterable[Any]) -> str:
  return ", ".join(str(int(n)) for n in numbers)


def first_failing(held: np.ndarray) -> str:
  """What an error says of a condition that does not hold for all elements."""
  return ELEMENT.format(_listed(np.argwhere(~held)[0])) if held.ndim else ""


@functools.cache
def _parse_report(text: bytes) -> Any:
  return json.loads(text)


_report_callback = _REPORT_SIGNATURE(_report)


def _address(callback: Any) -> int:
  return ctypes.cast(callback, ctypes.c_void_p).value or 0


@functools.cache
def symbol() -> str:
  """The name under which compiled code finds the function."""
  linking.define(_SYMBOL, _address(_callback))
  return _SYMBOL


@functools.cache
def report_symbol() -> str:
  """The name under which compiled code finds the function that reads a log."""
  linking.define(REPORT, _address(_report_callback))
  return REPORT
