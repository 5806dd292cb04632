"""Two processes whose devices are GPUs that the CPU stands for: kernels access the memory of both, and one process dies."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

NAMES = "remote copy to the right", "all_reduce one_shot f32", "remote additions under a lock"


@pytest.mark.skipif(sys.platform != "linux", reason="processes share memory on Linux")
def test_two_processes_agree_and_one_hears_of_the_others_death():
  command = [
    sys.executable,
    "-m",
    "tests.collectives.gpu_kernels",
    "--emulated",
    "--timeout",
    "120",
    "--only",
    ",".join(NAMES),
  ]
  said = subprocess.run(command, capture_output=True, text=True, timeout=150)
  for number in range(2):
    assert f"process {number}: {len(NAMES)} of {len(NAMES)} programs agree in all processes" in said.stdout, (
      said.stdout[-3000:]
    )
  found = re.search(r"process 0: an error ([\d.]+) s after a process died: .*", said.stdout)
  assert found and float(found[1]) < 8, said.stdout[-3000:]
  assert "DeadlockError: Process 1 (pid " in said.stdout + said.stderr
