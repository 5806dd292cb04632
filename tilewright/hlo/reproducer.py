"""Reproducers: a folder with everything needed to reproduce the failure of a pass: the module, the error, and a script.

It is written under a temporary name and renamed, so readers never see a partial folder.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import pathlib
import re
import shutil
import tempfile
import textwrap
import traceback
import types

from tilewright.hlo.passes.base import FunctionPass, Pass, compiled_platform

_counter = itertools.count()

SCRIPT = '''"""{title}

Run it where what it imports can be found. The traceback of the failure is in error.txt.
"""

import pathlib

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import compiling_for
{imports}
here = pathlib.Path(__file__).parent
module = hlo.parse((here / "module.hlo").read_text(encoding="utf-8"))
with compiling_for({platform!r}):
  print(run_passes(module, [{passes}], verify=True))
'''


_folder: pathlib.Path | None = None  # of this process


def folder_for_reproducers() -> pathlib.Path:
  """`TILEWRIGHT_DUMP`, else a temporary folder of this process. Its name is unpredictable and only this user can access it: a
  reproducer is a program, and another user must not be able to replace it.
  """
  global _folder
  top = os.environ.get("TILEWRIGHT_DUMP")
  if top:
    return pathlib.Path(top) / "hlo-failures"
  if _folder is None or not _folder.is_dir():
    _folder = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-hlo-"))
  return _folder


def write_reproducer(
  module_name: str, text: str | None, data: bytes, failed: Pass | None, passes: list[Pass], error: BaseException
) -> pathlib.Path | None:
  """Writes it and says where; None if the disk does not take it. `data` is the proto, kept where the text is missing."""
  name = re.sub(r"[^\w.-]", "_", module_name)[:80]
  try:
    top = folder_for_reproducers()
    top.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = pathlib.Path(tempfile.mkdtemp(prefix=".draft-", dir=top))
    try:
      if text is not None:
        (draft / "module.hlo").write_text(text, encoding="utf-8")
      else:
        (draft / "module.pb").write_bytes(data)
      trace = "".join(traceback.format_exception(error))
      (draft / "error.txt").write_text(trace, encoding="utf-8")
      (draft / "reproduce.py").write_text(_script(module_name, failed, passes), encoding="utf-8")
      final = top / f"{name}.{os.getpid()}.{next(_counter)}"
      os.replace(draft, final)
      return final
    except BaseException:
      shutil.rmtree(draft, ignore_errors=True)
      raise
  except OSError:
    return None


def _script(module_name: str, failed: Pass | None, passes: list[Pass]) -> str:
  shown = [failed] if failed is not None else passes
  imports: list[str] = []
  names: list[str] = []
  for item in shown:
    if isinstance(item, FunctionPass):
      home, path = getattr(item.function, "__module__", ""), getattr(item.function, "__qualname__", item.name)
      if home and home != "__main__" and path.isidentifier():
        imports.append(f"from {home} import {path}")
      else:
        path = item.name if item.name.isidentifier() else "my_pass"
        imports += _definition(item.function, path)
      names.append(path)
    else:
      imports.append(f"from {type(item).__module__} import {type(item).__name__}")
      names.append(repr(item))
  title = f"Pass {failed.name} failed" if failed is not None else "The passes failed"
  lines = "".join(line + "\n" for line in dict.fromkeys(imports))
  return SCRIPT.format(
    title=f"{title} on module {module_name}.", imports=lines, platform=compiled_platform(), passes=", ".join(names)
  )


def _definition(function: object, name: str) -> list[str]:
  """Source of a function that no import finds, with what it refers to as far as that can be written down."""
  where = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}"
  try:
    text = textwrap.dedent(inspect.getsource(function))  # type: ignore[arg-type]  # what has no source is a TypeError
    ast.parse(text)
  except (OSError, TypeError, SyntaxError):
    text = ""
  if not isinstance(function, types.FunctionType) or not text.startswith("def "):
    return [f"{name} = ...  # put the function here: {where}"]
  lines: list[str] = []
  inner = inspect.getclosurevars(function)
  for key, value in {**inner.globals, **inner.nonlocals}.items():
    if value is function:
      continue
    if isinstance(value, types.ModuleType):
      lines.append(f"import {value.__name__} as {key}")
    elif isinstance(value, (bool, int, float, str, bytes, types.NoneType)):
      lines.append(f"{key} = {value!r}")
    elif getattr(value, "__module__", "__main__") != "__main__" and getattr(value, "__name__", "") == key:
      lines.append(f"from {value.__module__} import {key}")
    else:
      lines.append(f"{key} = ...  # {name} needs it: {type(value).__name__} {getattr(value, '__qualname__', '')}")
  rename = [] if function.__name__ == name else [f"{name} = {function.__name__}"]
  return [*lines, text, *rename]
