"""Data-parallel training with gradient accumulation: k all-reduces per parameter become one.

Four devices share the batch. Each step runs k microbatches and adds up their gradients; each gradient is summed over the
devices with `psum`, inside the loop, as one writes it first:

    for every microbatch:   total += psum(gradient)         k all-reduces per parameter

Sums may be taken in any order, so the devices could add up their own gradients and meet once:

    for every microbatch:   total += gradient
    after the loop:         total = psum(total)              1 all-reduce per parameter

XLA on the CPU does not do this. `hlo.install` puts a pass into XLA's own compilation that does; the program below does not
change. `all_reduce_code_motion` first proves that the loop does nothing else with the sum: look at the docstring of
`tilewright/hlo/passes/all_reduce_code_motion.py` for the proof, and for everything it refuses.

The example compiles the step twice, counts the all-reduces each version executes (by running its HLO in the evaluator, on four
simulated devices), times both, and compares the results. It needs no special hardware: the devices are threads.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

# Before JAX starts: four devices on the host (more, if somebody has asked for more already).
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 " + os.environ.get("XLA_FLAGS", "")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tilewright import hlo

DEVICES = 4
MICROBATCHES, BATCH, WIDTH, LAYERS = 16, 8, 128, 3  # BATCH is per device and microbatch
RATE = 0.01

Params = list[tuple[jax.Array, jax.Array]]


def loss(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
  for w, b in params[:-1]:
    x = jnp.tanh(x @ w + b)
  w, b = params[-1]
  return jnp.mean((x @ w + b - y) ** 2)


def step(params: Params, x: jax.Array, y: jax.Array) -> Params:
  """One step of one device; `x` and `y` hold its part of each microbatch."""

  def microbatch(total: Params, xy: tuple[jax.Array, jax.Array]) -> tuple[Params, None]:
    gradient = jax.lax.psum(jax.grad(loss)(params, *xy), "data")
    return jax.tree.map(jnp.add, total, gradient), None

  total, _ = jax.lax.scan(microbatch, jax.tree.map(jnp.zeros_like, params), (x, y))
  return jax.tree.map(lambda p, g: p - RATE / (MICROBATCHES * DEVICES) * g, params, total)


def all_reduces(compiled: jax.stages.Compiled, arguments: list[np.ndarray]) -> float:
  """How many all-reduces one device executes per parameter, counted while the evaluator runs the compiled program."""
  module = hlo.parse(compiled.as_text())
  reduced = 0

  def watch(device: int, instruction: hlo.Instruction, value: object) -> None:
    nonlocal reduced
    if device == 0 and instruction.opcode == "all-reduce":
      reduced += len(instruction.operands)

  own = [[np.split(a, DEVICES, axis=1)[d] if a.ndim == 3 else a for a in arguments] for d in range(DEVICES)]
  hlo.evaluate_devices(module, own, num_replicas=1, num_partitions=DEVICES, on_value=watch)
  return reduced / (2 * LAYERS)


def milliseconds(calls: dict[str, object], rounds: int = 15) -> dict[str, float]:
  """Medians, measured in turn, so that whatever slows the machine slows both."""
  times: dict[str, list[float]] = {name: [] for name in calls}
  for _ in range(rounds):
    for name, call in calls.items():
      start = time.perf_counter()
      jax.block_until_ready(call())
      times[name].append(1e3 * (time.perf_counter() - start))
  return {name: statistics.median(samples) for name, samples in times.items()}


def main() -> int:
  mesh = Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("data",))
  replicated, shared = PartitionSpec(), PartitionSpec(None, "data")
  rng = np.random.default_rng(0)
  weights = [rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5 for _ in range(LAYERS)]
  params = [(w, np.zeros(WIDTH, np.float32)) for w in weights]
  x, y = rng.normal(size=(2, MICROBATCHES, DEVICES * BATCH, WIDTH)).astype(np.float32)
  arguments = (
    jax.device_put(params, NamedSharding(mesh, replicated)),
    *jax.device_put((x, y), NamedSharding(mesh, shared)),
  )

  def compile_step() -> jax.stages.Compiled:
    specs = {"in_specs": (replicated, shared, shared), "out_specs": replicated}
    return jax.jit(jax.shard_map(step, mesh=mesh, check_vma=False, **specs)).lower(*arguments).compile()

  print("compiling the step with and without the pass, counting and timing …", flush=True)
  compiled = {"XLA": compile_step()}
  with hlo.install(["all_reduce_code_motion"], platforms="cpu"):
    compiled["with the pass"] = compile_step()

  flat = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
  counts = {name: all_reduces(program, flat) for name, program in compiled.items()}
  times = milliseconds({name: lambda program=program: program(*arguments) for name, program in compiled.items()})
  for name in compiled:
    print(f"{name:<14} {counts[name]:4.0f} all-reduces per parameter   {times[name]:7.2f} ms per step")

  # The loop adds up k·DEVICES gradients in another order: each sum may differ by that many roundings of its largest part.
  before, after = (program(*arguments) for program in compiled.values())
  gradients = jax.tree.map(lambda p, q: np.abs(np.asarray(q) - p).max() / RATE * MICROBATCHES * DEVICES, params, before)
  bound = MICROBATCHES * DEVICES * float(np.finfo(np.float32).eps) * max(jax.tree.leaves(gradients))
  bound = bound * RATE / (MICROBATCHES * DEVICES) + float(np.finfo(np.float32).eps) * max(
    np.abs(w).max() for w in weights
  )
  error = max(jax.tree.leaves(jax.tree.map(lambda a, b: float(np.abs(a - b).max()), before, after)))
  print(f"largest difference of a parameter: {error:.1e} (bound {bound:.1e})")
  print(f"faster by a factor of {times['XLA'] / times['with the pass']:.1f}")

  fewer = counts == {"XLA": MICROBATCHES, "with the pass": 1}
  good = fewer and error <= bound  # how much faster it is depends on the machine, and is only shown
  print(f"gradient_accumulation: {'ok' if good else 'WRONG'}")
  return 0 if good else 1


if __name__ == "__main__":
  sys.exit(main())
