"""compute-sanitizer over a representative set of native kernels, with exact answers: `python tests/gpu/sanitize.py`.

Needs an NVIDIA GPU and CUDA's `compute-sanitizer`. Each tool looks at every case, in several processes at a time; the table at the end
gives, for each tool and case, how many errors were found in it. Arguments choose: `python tests/gpu/sanitize.py memcheck racecheck`, and
`--only matmul` the cases whose names have that in them. `python tests/gpu/sanitize.py run softmax matmul` runs cases without any tool, on
whatever device there is.

Every buffer is an allocation of its own (XLA's "platform" allocator), so that what lies beside it is out of bounds. Only our kernels are
looked at, but for `initcheck`, which has to see who writes what they read. What TMA writes it does not see: that the host reads
results that came by TMA stores (`matmul_in_bf16`) is a "Host API memory access error" for it, and is not counted. Nor does it know that the
constants of XLA's modules are written: cases in which a kernel reads a copy of one (`_FROM_CONSTANTS`) are left to the other tools.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from cases import CASES, exact

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

import cases_of_products  # noqa: F401  (cases enter themselves)
import cases_of_public_kernels  # noqa: F401
import cases_of_the_language  # noqa: F401

from tilewright.target.nvgpu.host import symbols

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_FROM_CONSTANTS = {
  "public_paged_attention",
  "public_paged_attention_soft_cap",
  "public_paged_decode",
  "public_megablox_tgmm",
}
_BEGIN = "--- case "
_LAG = 1.0  # seconds after which the tool, which is another process, has said what it found


def run(names: list[str]) -> None:
  wrong = False
  for name in names:
    print(f"{_BEGIN}{name}", flush=True)
    try:
      got, wanted, tolerance = CASES[name]()
      np.testing.assert_allclose(exact(got), exact(wanted), rtol=0, atol=tolerance)
      said = "right"
    except Exception as e:
      wrong, said = True, f"WRONG {type(e).__name__}: {e}"
    time.sleep(_LAG)
    print(said, flush=True)
  sys.exit(wrong)


# The first line of a report, by what each tool finds; others say more about it.
_REPORT = re.compile(
  r"^========= (?:Error: |Warning: )?((?:Invalid|Misaligned|Out-of|Race|Potential|Barrier|Divergent|Uninitialized|Program hit).*)",
  re.MULTILINE,
)
_SUMMARY = re.compile(r"^========= (?:ERROR|RACECHECK) SUMMARY", re.MULTILINE)


def told(output: str) -> Iterator[tuple[str, int, str]]:
  """Each case with the number of errors that a tool saw while it ran, and the first of them or what went wrong."""
  for part in output.split(_BEGIN)[1:]:
    name, _, text = part.partition("\n")
    text = _SUMMARY.split(text)[0]
    seen = _REPORT.findall(text)
    wrong = re.findall(r"^WRONG .*", text, re.MULTILINE) or seen
    yield name, len(seen), wrong[0] if wrong else "" if re.search(r"^right$", text, re.MULTILINE) else "ended early"


def sanitise(tool: str, names: list[str], log: pathlib.Path, timeout: float) -> list[tuple[str, str, int, str]]:
  options = ["--kernel-name", f"kne={symbols.KERNEL}"] if tool != "initcheck" else []
  options += ["--target-processes", "application-only", "--report-api-errors", "no", "--print-limit", "1000"]
  command = ["compute-sanitizer", "--tool", tool, *options, sys.executable, __file__, "run", *names]
  with log.open("w") as file:
    try:
      subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
      file.write("ran out of time\n")
  found = {name: (count, said) for name, count, said in told(log.read_text())}
  return [(tool, name, *found.get(name, (0, "did not begin"))) for name in names]


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("words", nargs="*", help="tools, or `run` and cases")
  parser.add_argument("--only", default="", help="of the cases, those that have this in their names")
  parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
  parser.add_argument("--timeout", type=float, default=300.0, help="of each process, in seconds")
  parser.add_argument("--logs", type=pathlib.Path, default=None)
  options = parser.parse_args()
  if options.words[:1] == ["run"]:
    run(options.words[1:] or list(CASES))
  tools = options.words or list(TOOLS)
  names = [name for name in CASES if options.only in name]
  logs = options.logs or pathlib.Path(tempfile.mkdtemp())
  logs.mkdir(parents=True, exist_ok=True)
  os.environ.update(
    XLA_PYTHON_CLIENT_ALLOCATOR="platform",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    XLA_FLAGS="--xla_gpu_autotune_level=0",  # which compares buffers that nothing was written to
    TILEWRIGHT_CACHE_DIR=str(logs / "cache"),
  )
  parts = max(1, options.jobs // len(tools))
  began = time.monotonic()
  looked_at = {tool: [n for n in names if tool != "initcheck" or n not in _FROM_CONSTANTS] for tool in tools}
  with ThreadPoolExecutor(options.jobs) as pool:
    work = [
      pool.submit(sanitise, tool, looked_at[tool][n::parts], logs / f"{tool}-{n}.txt", options.timeout)
      for tool in tools
      for n in range(parts)
      if looked_at[tool][n::parts]
    ]
    rows = sorted((row for w in work for row in w.result()), key=lambda r: (tools.index(r[0]), names.index(r[1])))
  bad = [r for r in rows if r[2] or r[3]]
  for tool in tools:
    own = [r for r in rows if r[0] == tool]
    print(f"{tool}: {len(own)} cases, {sum(r[2] for r in own)} errors, {sum(bool(r[3]) for r in own)} not right")
  for tool, name, count, said in bad:
    print(f"{tool:10} {name:36} {count:5}  {said[:150]}")
  print(f"{time.monotonic() - began:.0f} s; what the tools said is in {logs}")
  sys.exit(bool(bad))


if __name__ == "__main__":
  main()
