"""Random kernels, natively and portably, against the oracle.

python -m tests.random_kernels --count 1000 --seed 0 [--target cpu|native|emulated|gpu] [--hand-written] [--show]

`cpu` is native code and the portable lowering; the other targets leave the portable lowering, which takes most of the time, out.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time

import jax

# Compiling is most of the time. Releases from 0.11 have only the emitters that go by way of MLIR.
FLAGS = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
if jax.__version_info__ < (0, 11):
  FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))  # read when JAX is first asked for a device
SLOW = 5.0  # seconds of processor time for one kernel


def main() -> int:
  parser = argparse.ArgumentParser(prog="python -m tests.random_kernels", description=__doc__.splitlines()[0])
  parser.add_argument("--count", type=int, default=100)
  parser.add_argument("--seed", type=int, default=0, help="the first seed")
  parser.add_argument("--target", choices=["cpu", "native", "emulated", "gpu"], default="cpu")
  parser.add_argument("--hand-written", action="store_true", help="kernels with copies and barriers (plgpu)")
  parser.add_argument("--show", action="store_true", help="print each program before it runs")
  parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
  options = parser.parse_args()
  from .check import check, check_hand_written, minimised

  if options.target == "gpu":
    jax.config.update("jax_default_matmul_precision", "highest")
  if options.target == "emulated":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "nvgpu"))
    import emulated

    from tilewright.pallas import targets

    targets.NATIVE["cpu"] = emulated.run
    if options.hand_written:
      emulated.arch = "sm_90a"
  start, ran, found = time.monotonic(), 0, []
  for seed in range(options.seed, options.seed + options.count):
    if time.monotonic() - start > options.seconds:
      break
    began = time.process_time()
    if options.hand_written:
      failure = check_hand_written(seed, show=options.show)
    else:
      failure = check(seed, portable=options.target == "cpu", show=options.show)
    ran += 1
    if (took := time.process_time() - began) > SLOW:
      print(f"seed {seed} took {took:.1f} s", flush=True)
    if failure:
      found.append(seed)
      print(f"seed {seed} failed: {failure[:1000]}", flush=True)
      if not options.hand_written:
        kernel, failure = minimised(seed, failure, portable=options.target == "cpu")
        print(f"{kernel}\n{failure}\n", flush=True)
    if ran % 10 == 0:
      print(f"{ran} kernels, {len(found)} failed, {time.monotonic() - start:.0f} s", flush=True)
    if ran % 50 == 0:
      jax.clear_caches()
  print(f"{ran} kernels from seed {options.seed}: {ran - len(found)} right, {len(found)} failed {found}")
  return bool(found)


if __name__ == "__main__":
  sys.exit(main())
