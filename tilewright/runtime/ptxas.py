"""ptxas, if it is installed: the resources that a PTX kernel needs on an architecture, and whether it assembles at all.

    resources(ptx, "sm_90a")     Resources(registers=40, shared_bytes=0, spilled_bytes=0, stack_bytes=0)

It is not needed at run time: the driver assembles PTX. It comes with the package `nvidia-cuda-nvcc`, or with the CUDA toolkit.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import pathlib
import re
import shutil
import subprocess
import tempfile

from tilewright import errors

ADVICE = "pip install nvidia-cuda-nvcc, or put the CUDA toolkit's on the path"


@dataclasses.dataclass(frozen=True)
class Resources:
  """Resources per thread (shared memory: per CTA) of a kernel. Dynamic shared memory is not included."""

  registers: int
  shared_bytes: int
  spilled_bytes: int  # bytes of register spills
  stack_bytes: int


def find() -> str | None:
  """The path of a ptxas: that of an installed package, else one on the path."""
  nvidia = importlib.util.find_spec("nvidia")
  for place in (nvidia.submodule_search_locations or []) if nvidia else []:
    for tool in sorted(pathlib.Path(place).glob("*/bin/ptxas")):
      return str(tool)
  return shutil.which("ptxas")


def resources(ptx: str, arch: str, tool: str | None = None) -> Resources:
  """Assemble PTX that has one kernel, and give what it needs."""
  tool = tool or find()
  if tool is None:
    raise errors.NativeCodeError(f"There is no ptxas here to assemble a kernel for {arch}: {ADVICE}.")
  with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "kernel.ptx"
    source.write_text(ptx)
    command = [tool, "-v", f"-arch={arch}", str(source), "-o", str(source.with_suffix(".cubin"))]
    done = subprocess.run(command, capture_output=True, text=True)
  if done.returncode != 0:
    raise errors.NativeCodeError(f"ptxas does not assemble the kernel for {arch}: {done.stderr.strip()}")
  return parse(done.stderr)


_NUMBERS = {
  "registers": r"Used (\d+) registers",
  "shared_bytes": r"(\d+) bytes smem",
  "spilled_bytes": r"(\d+) bytes spill stores",
  "stack_bytes": r"(\d+) bytes stack frame",
}


def parse(report: str) -> Resources:
  """What `ptxas -v` says of a kernel; a number that it leaves out is zero."""
  found = {field: re.search(pattern, report) for field, pattern in _NUMBERS.items()}
  if found["registers"] is None:
    raise errors.NativeCodeError(f"The output of ptxas has no register counts: {report.strip()!r}.")
  return Resources(**{field: int(match[1]) if match else 0 for field, match in found.items()})
