"""XLA's own reader, in a child process: it may abort on what it does not like.

`canonical(items)` sends texts and protos and gets back XLA's own text of each, or the error. A crash of the child counts
as an error of the item it was working on.
"""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CHILD = """
import pickle, struct, sys
from jaxlib import _hlo as xla
options = xla.HloPrintOptions()
options.print_large_constants = True
items = pickle.load(sys.stdin.buffer)
for item in items:
  try:
    read = xla.hlo_module_from_text if isinstance(item, str) else xla.HloModule.from_serialized_hlo_module_proto
    answer = (True, read(item).to_string(options))
  except Exception as error:
    answer = (False, str(error))
  data = pickle.dumps(answer)
  sys.stdout.buffer.write(struct.pack("<Q", len(data)) + data)
  sys.stdout.buffer.flush()
"""


def canonical(items: Sequence[str | bytes]) -> list[tuple[bool, str]]:
  """For each text or proto: (True, XLA's text of it) or (False, why not)."""
  answers: list[tuple[bool, str]] = []
  while len(answers) < len(items):
    todo = list(items[len(answers) :])
    child = subprocess.run(
      [sys.executable, "-c", CHILD], input=pickle.dumps(todo), capture_output=True, check=False, timeout=300
    )
    out, pos = child.stdout, 0
    while pos + 8 <= len(out):
      (size,) = struct.unpack_from("<Q", out, pos)
      answers.append(pickle.loads(out[pos + 8 : pos + 8 + size]))
      pos += 8 + size
    if len(answers) < len(items):
      answers.append((False, f"XLA aborted: {child.stderr.decode(errors='replace')[-2000:]}"))
  return answers


def build_corpus(directory: Path) -> None:
  root = Path(__file__).resolve().parents[2]
  subprocess.run([sys.executable, "-m", "tests.hlo.corpus", str(directory)], cwd=root, check=True, timeout=900)
