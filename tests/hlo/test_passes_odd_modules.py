"""Every pass on modules with what few programs have, alone and in random sequences: legal, honest about changes, the same values.

    python -m tests.hlo.test_passes_odd_modules --seconds 600 --seed 1

The modules in `odd/` hold bounded dimensions, tokens, host transfers, transfers that end a trip later, layouts, memory spaces, schedules,
packed integers, groups of several sizes and kinds, and computations of every kind of caller.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hlo.collective_checks import assert_same, random_arguments
from tilewright import hlo
from tilewright.hlo.passes import PASSES, run_passes

MODULES = sorted((Path(__file__).parent / "odd").glob("*.hlo"))
NOT_EVALUATED = {"custom", "rng", "send_host", "tokens"}  # an unknown call, other bits, nothing to read
CALLS_KERNELS = {"native_collectives"}  # where tilewright.collectives is imported: machine code is not evaluated
VARIANTS = (
  "algebraic_simplifier{exact=false}",
  "all_reduce_blueconnect{num_devices_per_host=2}",
  "all_reduce_splitter{only_known_groups=false}",
  "all_to_all_decomposer{min_array_rank=4}",
  "collective_pipeliner{direction=backward}",
  "collective_pipeliner{direction=forward_sink}",
  "combine_collectives{combine_by_dim=false,combine_different_dtypes=true}",
  "constant_folding{loops=true}",
  "decompose_all_reduce{min_bytes=0}",
  "double_buffer_loop_unrolling{strategy=full_unroll}",
  "split_collectives{max_bytes=8}",
  "sync_collectives{everything=true}",
  "while_loop_invariant_code_motion{hoist_constants=true,hoist_reshapes=true}",
)
NAMES = (*sorted(PASSES), *VARIANTS)


def check(file: Path, passes: Sequence[str]) -> None:
  """Raises if the module breaks a rule after the passes, computes other values, or a pass hides a change."""
  text = file.read_text()
  module = hlo.parse(text)
  report = run_passes(module, list(passes), verify=True, strict=True)
  again = hlo.parse(module.to_text())
  if not report.changed or file.stem in NOT_EVALUATED or CALLS_KERNELS & set(passes):
    return
  before = hlo.parse(text)
  arguments = random_arguments(before, before.replica_count * before.num_partitions)
  wanted = hlo.evaluate_devices(before, arguments)
  assert_same(wanted, hlo.evaluate_devices(again, arguments), 1e-4)


@pytest.mark.parametrize("file", MODULES, ids=lambda f: f.stem)
def test_every_pass_takes_odd_modules(file: Path) -> None:
  for name in NAMES:
    check(file, [name])


def test_sequences_of_passes_take_odd_modules() -> None:
  choose = random.Random(0)
  for _ in range(300):
    check(choose.choice(MODULES), [choose.choice(NAMES) for _ in range(choose.randint(2, 5))])


def main() -> int:
  parser = argparse.ArgumentParser(prog="python -m tests.hlo.test_passes_odd_modules")
  parser.add_argument("--seconds", type=float, default=60)
  parser.add_argument("--seed", type=int, default=0)
  options = parser.parse_args()
  choose, end, ran, faults = random.Random(options.seed), time.monotonic() + options.seconds, 0, 0
  while time.monotonic() < end:
    file, passes = choose.choice(MODULES), [choose.choice(NAMES) for _ in range(choose.randint(2, 5))]
    ran += 1
    try:
      check(file, passes)
    except Exception as error:
      faults += 1
      print(f"{file.stem}, {passes}: {type(error).__name__}: {error}", flush=True)
  print(f"{ran} sequences, {faults} faults")
  return 1 if faults else 0


if __name__ == "__main__":
  sys.exit(main())
