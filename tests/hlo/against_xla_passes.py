"""XLA's passes and ours on the same modules: what XLA's CPU back end does to programs, pass by pass, and what we make of the same.

    python -m tests.hlo.against_xla_passes --random 100

XLA writes down the module after every pass that changed it. Our pass of that name gets the module before; it agrees if it leaves at most as
many instructions (parameters and tuples not counted). The programs are those of `corpus.py` and of `random_collectives.py`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import HloPassError, make_pass

_FREE = frozenset({"parameter", "tuple", "get-tuple-element"})
# XLA's simplifier rounds; its combiner on the CPU is the general one with thresholds of its own.
_NAMES = {"algsimp": "algsimp{exact=false}", "cpu-all-reduce-combiner": "all-reduce-combiner"}
_FILE = re.compile(r"(module_\d+\..*?)\.(\d{4})\..*\.after_(.*?)(?:\.before_.*)?\.txt")


@dataclass
class Agreement:
  """Of one pass."""

  agrees: int = 0
  cases: int = 0
  differences: Counter[str] = field(default_factory=Counter)


def dump(directory: Path, programs: list[str], random_programs: int) -> None:
  """Compiles programs in a child whose XLA writes modules down; no names mean all programs."""
  flags = [
    f"--xla_dump_to={directory}",
    "--xla_dump_hlo_pass_re=.*",
    "--xla_dump_hlo_as_text",
    "--xla_dump_large_constants=true",
    "--xla_force_host_platform_device_count=4",
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
  ]
  command = [sys.executable, "-m", "tests.hlo.against_xla_passes", "--compile", str(random_programs), *programs]
  environment = {**os.environ, "XLA_FLAGS": " ".join(flags), "JAX_PLATFORMS": "cpu"}
  root = Path(__file__).resolve().parents[2]
  subprocess.run(command, cwd=root, env=environment, check=True, timeout=900)


def compile_all(programs: list[str], random_programs: int) -> None:
  import jax

  from tests.hlo import corpus, random_collectives

  for name, (function, arguments) in corpus.programs().items():
    if not programs or name in programs:
      jax.jit(function).lower(*arguments).compile()
  for seed in range(random_programs):
    _, function, arguments, _ = random_collectives.generated(seed)
    jax.jit(function).lower(*arguments).compile()


def compare(directory: Path) -> dict[str, Agreement]:
  """For each of XLA's passes that we have: how often ours leaves at most as many instructions."""
  files: dict[str, list[tuple[int, str, Path]]] = defaultdict(list)
  for path in directory.glob("module_*.txt"):
    found = _FILE.fullmatch(path.name)
    if found is not None:
      files[found[1]].append((int(found[2]), found[3], path))
  result: dict[str, Agreement] = defaultdict(Agreement)
  for steps in files.values():
    before = ""
    for _, name, path in sorted(steps):
      text = path.read_text()
      if before and text != before and name != "pipeline-start" and _is_known(name):
        _compare(result[name], before, text, _NAMES.get(name, name))
      before = text
  return dict(result)


def _is_known(name: str) -> bool:
  try:
    make_pass(_NAMES.get(name, name))
  except HloPassError:
    return False
  return True


def _compare(agreement: Agreement, before: str, after: str, name: str) -> None:
  module = hlo.parse(before)
  run_passes(module, [name], verify=True)
  ours, theirs = (
    Counter(i.opcode for i in m.instructions() if i.opcode not in _FREE) for m in (module, hlo.parse(after))
  )
  agreement.cases += 1
  if ours.total() <= theirs.total():
    agreement.agrees += 1
  else:
    changed = {o: ours[o] - theirs[o] for o in sorted(ours | theirs) if ours[o] != theirs[o]}
    agreement.differences[", ".join(f"{o} {n:+}" for o, n in changed.items())] += 1


def main() -> int:
  parser = argparse.ArgumentParser(
    prog="python -m tests.hlo.against_xla_passes", description=(__doc__ or "").splitlines()[0]
  )
  parser.add_argument("programs", nargs="*", help="names of the corpus; none: all of it")
  parser.add_argument("--random", type=int, default=0, help="random collective programs besides")
  parser.add_argument("--compile", type=int, default=None, help=argparse.SUPPRESS)
  options = parser.parse_args()
  if options.compile is not None:
    compile_all(options.programs, options.compile)
    return 0
  with tempfile.TemporaryDirectory() as directory:
    dump(Path(directory), options.programs, options.random)
    found = compare(Path(directory))
  for name, agreement in sorted(found.items()):
    print(f"{name:36} {agreement.agrees:4} of {agreement.cases:4}")
    for difference, times in agreement.differences.most_common(3):
      print(f"    {times} times more than XLA: {difference}")
  total = sum(a.cases for a in found.values())
  print(f"{sum(a.agrees for a in found.values())} of {total} agree")
  return 0


if __name__ == "__main__":
  sys.exit(main())
