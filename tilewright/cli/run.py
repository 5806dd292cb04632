"""`tilewright run PROGRAM.py [ARGUMENT...]`: run a program written for `jax.experimental.pallas`, unchanged, with our kernels.

    tilewright run train.py --steps 10
    tilewright run --check -m package.module
    tilewright run --target simulator kernel.py

The program runs as `python PROGRAM.py` would run it, with `replace_pallas()` active: its imports of
`jax.experimental.pallas`, and those of the libraries it uses, resolve to our modules. Options precede the program;
everything after it is passed to the program.

`--interpret` runs every kernel through the portable lowering, `--target` as native code of the CPU or of the GPU, or on
the simulated machine; both override the program's own `interpret`. `--as DEVICE` answers device queries as for
another device (`pretend`).

`--check` then runs the program once more, in a separate process, with JAX's Pallas in interpret mode, and compares:
the results of every call of `pallas_call` and `kernel` in the order the program makes them, and the arrays among its
global variables at the end (see `recording`). Exit code: the program's own; or 1 if something differs; or 3 if JAX's
Pallas cannot run the program here, with its error.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import pickle
import re
import runpy
import subprocess
import sys
import threading
import traceback
import types
from collections.abc import Sequence
from typing import Any

DIFFERENT, NOT_COMPARED = 1, 3
_IS_ERROR = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Warning|Exit)\b")  # the last line of a traceback


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument("--interpret", action="store_true", help="run kernels through the portable lowering")
  parser.add_argument(
    "--target", choices=["cpu", "gpu", "simulator"], help="where kernels run (default: as the program says)"
  )
  parser.add_argument(
    "--as", dest="device", metavar="DEVICE", help="answer questions about the device as for this one: v6e, h100, ..."
  )
  parser.add_argument(
    "--check", action="store_true", help="run it also with JAX's Pallas, and compare the results of kernels"
  )
  parser.add_argument(
    "--tolerance",
    type=float,
    metavar="X",
    help="largest difference, relative to the largest element (default: by dtype)",
  )
  parser.add_argument("--original", type=int, metavar="FD", help=argparse.SUPPRESS)  # how --check calls itself
  parser.add_argument(
    "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE ...", help="run a module, and its arguments"
  )
  parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="a file, and its arguments")


def run(arguments: argparse.Namespace) -> int:
  argv = arguments.module or arguments.program
  if not argv:
    print("tilewright run: expected a program: a file, or -m and a module.", file=sys.stderr)
    return 2
  if not arguments.module and not pathlib.Path(argv[0]).is_file():
    print(f"tilewright run: there is no file {argv[0]!r}.", file=sys.stderr)
    return 2
  if arguments.interpret and arguments.target:
    print("tilewright run: --interpret is a target of its own; leave --target out.", file=sys.stderr)
    return 2
  try:
    _choose_device(arguments)
  except (RuntimeError, ValueError) as error:
    print(f"tilewright run: {error}", file=sys.stderr)
    return 2
  if arguments.original is not None:
    return _run_original(argv, arguments)
  from tilewright.replacing import replace_pallas

  replace_pallas()
  _choose_target(arguments)
  if not arguments.check:
    return execute(argv, is_module=bool(arguments.module))[0]
  return _check(argv, arguments)


def _choose_device(arguments: argparse.Namespace) -> None:
  import jax

  if arguments.target == "cpu":
    jax.config.update("jax_platforms", "cpu")
  if arguments.target == "gpu" and jax.default_backend() != "gpu":
    raise RuntimeError("--target gpu: JAX sees no GPU here. `tilewright doctor` says what is missing.")
  if arguments.device:
    from tilewright.runtime.pretend import pretend

    pretend(arguments.device)


def _choose_target(arguments: argparse.Namespace) -> None:
  from tilewright.pallas import targets
  from tilewright.pallas.tpu import InterpretParams

  forced = {"cpu": False, "gpu": False, "simulator": InterpretParams(), None: True if arguments.interpret else None}
  if (interpret := forced[arguments.target]) is not None:
    targets.forced_interpret.set_global(interpret)


# --- a program in this process ---------------------------------------------------------------------------------------


def execute(argv: Sequence[str], *, is_module: bool) -> tuple[int, dict[str, Any]]:
  """Run a program as the interpreter would: its exit code, and its global variables at the end."""
  sys.argv = list(argv)
  try:
    if is_module:
      sys.path[0] = os.getcwd()
      return 0, runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    sys.path[0] = str(pathlib.Path(argv[0]).resolve().parent)
    return 0, runpy.run_path(argv[0], run_name="__main__")
  except SystemExit as stop:
    return _exit_code(stop), {}
  except Exception as error:
    error.__traceback__ = _of_the_program(error.__traceback__)
    traceback.print_exception(error)
    return 1, {}


def _exit_code(stop: SystemExit) -> int:
  if stop.code is None or isinstance(stop.code, int):
    return stop.code or 0
  print(stop.code, file=sys.stderr)
  return 1


def _of_the_program(frames: types.TracebackType | None) -> types.TracebackType | None:
  """A traceback without the frames that started the program."""
  starters = (__file__, runpy.__file__, "<frozen runpy>")
  inner = frames
  while inner is not None and inner.tb_frame.f_code.co_filename in starters:
    inner = inner.tb_next
  return inner or frames


# --- and beside it, with JAX's own -------------------------------------------------------------------------------------


def _check(argv: Sequence[str], arguments: argparse.Namespace) -> int:
  from tilewright.cli import recording

  ours = recording.Recording()
  with recording.recorded(ours):
    code, variables = execute(argv, is_module=bool(arguments.module))
    ours.keep_variables(variables)
  theirs, complaint = _ask_original(argv, arguments)
  if theirs is None:
    print(
      f"tilewright run --check: not compared: JAX's Pallas cannot run this program here: {complaint}", file=sys.stderr
    )
    return code or NOT_COMPARED
  return code or (0 if recording.report(ours, theirs, arguments.tolerance) else DIFFERENT)


def _ask_original(argv: Sequence[str], arguments: argparse.Namespace) -> tuple[Any, str]:
  """The results of the program with JAX's own Pallas, or None and the last line of its error output."""
  read, write = os.pipe()
  given = {"target": arguments.target if arguments.target != "simulator" else None, "as": arguments.device}
  options = [f"--{name}={value}" for name, value in given.items() if value]
  command = [
    sys.executable,
    "-m",
    "tilewright",
    "run",
    *options,
    f"--original={write}",
    *(["-m"] if arguments.module else []),
    *argv,
  ]
  received: list[bytes] = []

  def receive() -> None:
    with os.fdopen(read, "rb") as pipe:
      received.append(pipe.read())

  reader = threading.Thread(target=receive)
  reader.start()
  paths = os.pathsep.join(p for p in [str(pathlib.Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")] if p)
  try:
    done = subprocess.run(
      command,
      pass_fds=(write,),
      stdin=subprocess.DEVNULL,
      capture_output=True,
      text=True,
      env={**os.environ, "PYTHONPATH": paths},
    )
  finally:
    os.close(write)
    reader.join()
  if done.returncode or not received[0]:
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    error_lines = [line for line in lines if _IS_ERROR.match(line)] or lines
    return None, error_lines[-1] if error_lines else f"it ended with code {done.returncode}"
  return pickle.loads(received[0]), ""


def _run_original(argv: Sequence[str], arguments: argparse.Namespace) -> int:
  from tilewright.cli import recording

  found = recording.Recording()
  with recording.recorded(found, interpret=True):
    code, variables = execute(argv, is_module=bool(arguments.module))
    found.keep_variables(variables)
  with os.fdopen(arguments.original, "wb") as pipe:
    pickle.dump(found, pipe)
  return code
