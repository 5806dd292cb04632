"""A step on four host devices, in a process of its own: rows of `tilewright bench cpu`.

JAX fixes its number of devices when it starts, and every other row wants one. So the step runs in a child process, which
waits for a line on its input, runs one step, and answers with a line. What is timed is the step and one message each way.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tilewright

DEVICES = 4
ROOT = pathlib.Path(tilewright.__file__).resolve().parents[1]


def start(module: str, *arguments: str) -> Callable[[], Any]:
  """Starts `python -m module arguments`, which calls `serve`. The call that comes back runs one step there and returns a summary of
  the first step's result.
  """
  import jax.numpy as jnp

  flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}"
  path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
  child = subprocess.Popen(
    [sys.executable, "-m", module, *arguments],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path},
  )
  assert child.stdin is not None and child.stdout is not None and child.stderr is not None
  first = child.stdout.readline()
  if not first:
    raise RuntimeError(f"the child process ended: {child.stderr.read().strip()[-300:]}")
  summary = jnp.array([float(word) for word in first.split()])
  asks, answers = child.stdin, child.stdout

  def call() -> Any:
    asks.write("\n")
    asks.flush()
    if not answers.readline():
      raise RuntimeError("the child process ended")
    return summary

  weakref.finalize(call, _end, child)
  return call


def _end(child: subprocess.Popen[str]) -> None:
  """The child ends when its input does."""
  for stream in (child.stdin, child.stdout, child.stderr):
    if stream is not None:
      stream.close()
  child.wait()


def serve(step: Callable[[], Sequence[Any]]) -> None:
  """In the child: a summary of the first step's arrays, then a step for every line."""
  import numpy as np

  print(*(float(np.abs(np.asarray(p)).sum()) for p in step()), flush=True)
  for _ in sys.stdin:
    step()
    print("done", flush=True)
