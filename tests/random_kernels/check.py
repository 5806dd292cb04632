"""One random kernel against the oracle, and the smallest prefix of its program that still fails."""

from __future__ import annotations

import traceback

import jax

from . import hand_written
from .generated_kernels import Kernel, generate
from .numbers import difference


def check_hand_written(seed: int, *, size: int | None = None, show: bool = False) -> str | None:
  """What is wrong with the hand-written kernel of `seed`, or None."""
  program = hand_written.generate(seed, size)
  if show:
    print(program, flush=True)
  arguments = program.arguments()
  expected = program.expected(arguments)
  try:
    actual = program.call(arguments)
  except Exception as error:
    return f"raised {type(error).__name__}: {error}\n" + "\n".join(traceback.format_exc().splitlines()[-12:])
  for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
    if wrong := int((a.astype(float) != e).sum()):
      return f"output {number}: {wrong} of {e.size} are wrong"
  return None


def check(seed: int, *, portable: bool = True, size: int | None = None, show: bool = False) -> str | None:
  """What is wrong with the kernel of `seed`, or None."""
  kernel = generate(seed, size)
  if show:
    print(kernel, flush=True)
  arguments = kernel.arguments()
  expected = kernel.expected(arguments)
  for name, options in [("native", {})] + ([("portable", {"interpret": True})] if portable else []):
    try:
      with jax.enable_x64(kernel.x64):
        actual = kernel.call(arguments, **options)
    except Exception as error:
      where = traceback.format_exc().splitlines()[-12:]
      return f"{name}: raised {type(error).__name__}: {error}\n" + "\n".join(where)
    for number, (a, e) in enumerate(zip(actual, expected)):
      wrong = difference(a, e)
      if wrong:
        return f"{name}: output {number}: {wrong}"
  return None


def minimised(seed: int, failure: str, *, portable: bool = True) -> tuple[Kernel, str]:
  for size in range(15):
    again = check(seed, portable=portable, size=size)
    if again and again.split(":")[:2] == failure.split(":")[:2]:
      return generate(seed, size), again
  return generate(seed), failure
