"""A folder with everything needed to see a failing pass fail again: the module, the error, and a script.

It is written under a temporary name and renamed, so whoever sees it sees all of it.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import shutil
import tempfile
import traceback

from tilewright.hlo.passes.base import FunctionPass, Pass

_counter = itertools.count()

SCRIPT = '''"""{title}

Run it where the pass can be imported. The traceback of the failure is in error.txt.
"""

import pathlib

from tilewright import hlo
from tilewright.hlo.passes import run_passes
{imports}
here = pathlib.Path(__file__).parent
module = hlo.parse((here / "module.hlo").read_text(encoding="utf-8"))
print(run_passes(module, [{passes}], verify=True))
'''


def folder_for_reproducers() -> pathlib.Path:
  """`TILEWRIGHT_DUMP`, else a folder of this user's among the temporary files."""
  top = os.environ.get("TILEWRIGHT_DUMP")
  if top:
    return pathlib.Path(top) / "hlo-failures"
  user = os.getuid() if hasattr(os, "getuid") else "user"
  return pathlib.Path(tempfile.gettempdir()) / f"tilewright-hlo-{user}"


def write_reproducer(
  module_name: str, text: str | None, data: bytes, failed: Pass | None, passes: list[Pass], error: BaseException
) -> pathlib.Path | None:
  """Writes it and says where; None if the disk does not take it. `data` is the proto, kept where the text is missing."""
  top = folder_for_reproducers()
  name = re.sub(r"[^\w.-]", "_", module_name)[:80]
  try:
    top.mkdir(parents=True, exist_ok=True)
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
  imports, names = [], []
  for item in shown:
    if isinstance(item, FunctionPass):
      home, path = getattr(item.function, "__module__", ""), getattr(item.function, "__qualname__", item.name)
      if home and home != "__main__" and path.isidentifier():
        imports.append(f"from {home} import {path}")
      else:
        path = item.name if item.name.isidentifier() else "my_pass"
        imports.append(f"{path} = ...  # put the function here: {home}.{getattr(item.function, '__qualname__', '?')}")
      names.append(path)
    else:
      imports.append(f"from {type(item).__module__} import {type(item).__name__}")
      names.append(repr(item))
  title = f"Pass {failed.name} failed" if failed is not None else "The passes failed"
  lines = "".join(line + "\n" for line in dict.fromkeys(imports))
  return SCRIPT.format(title=f"{title} on module {module_name}.", imports=lines, passes=", ".join(names))
