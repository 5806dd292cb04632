"""How much communication is exposed, in XLA's order and in ours with our passes; and what that does to time on this machine.

    python -m examples.models.compare                    # predicted for 8 GPUs that need not be there
    python -m examples.models.compare --measure          # also timed on 4 devices of this host

Each model is compiled for 8 devices: for a description of GPUs where this JAX can compile for one, else for 8 devices of the host, which
have the same collectives. *XLA's order* is the order XLA gave the module; where that back end has no asynchronous collectives, each starts
where XLA put it and is waited for where its result is first used. *Ours* is the best of a few lists of passes, by the same cost
model, with our schedule. `--measure` installs passes in XLA (`fastest`: the list that
pays on the CPU, or none; then also collectives as kernels) and compares steps in turns; results must agree.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

LISTS: dict[str, tuple[str, ...]] = {
  "schedule": (),
  "fetch ahead": ("collective_pipeliner{direction=backward}",),
  "fetch ahead, store late": ("collective_pipeliner{direction=backward}", "collective_pipeliner"),
  "sums after loops": ("all_reduce_code_motion", "collective_pipeliner{direction=forward_sink}"),
  "parts of 32 MiB": ("split_collectives{max_bytes=33554432}",),
  "parts of 32 MiB, stored late": ("split_collectives{max_bytes=33554432}", "collective_pipeliner"),
  "scatter, combine": ("reduce_scatter_creator", "all_reduce_reassociate", "combine_collectives"),
}
# Besides, where devices share a host: collectives as kernels, of which the cost model knows nothing.
ON_THIS_HOST = ("while_loop_invariant_code_motion", "native_collectives")


def as_pairs(module: Any) -> None:
  """Start/done pairs: a start where the collective stood, its done where the result is first used."""
  from tilewright import hlo

  if any(i.opcode.endswith("-start") for i in module.instructions()):
    return
  hlo.run_passes(module, ["async_collectives"])
  for computation in module.computations:
    for done in [i for i in computation.instructions if i.opcode.endswith("-done")]:
      order = computation.instructions
      users = set(done.users)
      place = next((n for n, i in enumerate(order) if i in users), len(order) - 1)
      here = order.index(done)
      if place - 1 > here:
        order.insert(place - 1, order.pop(here))
  module.is_scheduled = True


def recorded(make: Callable[..., Any], devices: Sequence[Any], size: float) -> Any:
  """The module as XLA scheduled it."""
  import jax

  from tilewright import hlo

  found: list[Any] = []

  def record(module: Any) -> bool:
    found.append(module.clone())
    return False

  function, arguments = make(devices, size)
  hiding = {"xla_gpu_enable_latency_hiding_scheduler": True} if devices[0].platform != "cpu" else None
  with hlo.install(record, stage="post_scheduler", fingerprint="record"):
    jax.jit(function).lower(*arguments).compile(compiler_options=hiding)
  return max(found, key=lambda m: m.instruction_count)


def predicted(name: str, module: Any, device: str) -> dict[str, Any]:
  """Exposed communication of XLA's order and of the best list of passes with our schedule."""
  from tilewright import hlo
  from tilewright.hlo import schedule

  theirs = module.clone()
  as_pairs(theirs)
  own = schedule.schedule_module(theirs, device=device)
  best, label, seconds = own, "schedule", own.seconds
  for title, passes in LISTS.items():
    if not passes:
      continue
    ours = module.clone()
    ours.is_scheduled = False
    if not hlo.run_passes(ours, [*passes, "dce"]).changed:
      continue
    as_pairs(ours)
    result = schedule.schedule_module(ours, device=device)
    if result.seconds < seconds and result.exposed <= best.exposed:
      best, label, seconds = result, title, result.seconds
  before = own.original.exposed, own.original.seconds, own.original.peak
  return {
    "model": name,
    "exposed": (before[0], best.exposed),
    "seconds": (before[1], best.seconds),
    "peak": (before[2], best.peak),
    "passes": label,
  }


def measured(
  make: Callable[..., Any], devices: Sequence[Any], size: float, rounds: int
) -> dict[str, tuple[float, float]]:
  """Medians of the seconds of a step, and of the processor time of all devices for it, timed in turns: XLA alone, and with passes."""
  import jax
  import numpy as np

  from examples.models.programs import values
  from tilewright import (
    collectives,  # noqa: F401  registers its kernels
    hlo,
  )
  from tilewright.hlo.passes.fastest import Fastest

  function, types = make(devices, size)
  arguments = values(types)
  plain = jax.jit(function).lower(*arguments).compile()
  wanted = [np.asarray(leaf) for leaf in jax.tree.leaves(plain(*arguments))]
  candidates: dict[str, Any] = {"XLA": plain}
  paying = Fastest(tuple((*passes, "dce") for passes in LISTS.values() if passes), device="cpu")
  for title, passes in {"passes": (paying,), "passes, kernels": (paying, *ON_THIS_HOST)}.items():
    with hlo.install(passes, platforms="cpu"):
      candidates[title] = jax.jit(function).lower(*arguments).compile()
    got = [np.asarray(leaf) for leaf in jax.tree.leaves(candidates[title](*arguments))]
    for a, b in zip(wanted, got, strict=True):
      np.testing.assert_allclose(b, a, 1e-3, 1e-4)
  times: dict[str, list[tuple[float, float]]] = {title: [] for title in candidates}
  for _ in range(rounds):
    for title, run in candidates.items():
      start = time.perf_counter(), time.process_time()
      jax.block_until_ready(run(*arguments))
      times[title].append((time.perf_counter() - start[0], time.process_time() - start[1]))
  return {title: (_median(found, 0), _median(found, 1)) for title, found in times.items()}


def _median(times: list[tuple[float, float]], which: int) -> float:
  return statistics.median(t[which] for t in times)


def devices_to_compile_for(count: int) -> Sequence[Any]:
  """GPUs, if this JAX can compile for some that are described only; else devices of the host."""
  import jax

  here = jax.devices()
  if len(here) >= count:
    return here[:count]
  if here[0].platform == "gpu":
    from jax.experimental import topologies

    try:
      return topologies.get_topology_desc("models", "cuda", topology=f"1x1x{count}").devices[:count]
    except Exception as error:
      print(f"no GPUs to compile for ({type(error).__name__}: {str(error).splitlines()[0][:120]})")
  return jax.devices("cpu")[:count]


def main() -> None:
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
  parser.add_argument("--device", default="h100", help="the device of the cost model (default: %(default)s)")
  parser.add_argument("--devices", type=int, default=8, help="how many (default: %(default)s)")
  parser.add_argument(
    "--size", type=float, default=1.0, help="of the models; 1 is meant for GPUs (default: %(default)s)"
  )
  parser.add_argument("--only", default="", help="a part of the names of models")
  parser.add_argument("--measure", action="store_true", help="also time the models on devices of this host")
  parser.add_argument("--measure-devices", type=int, default=4)
  parser.add_argument("--measure-size", type=float, default=0.0625)
  parser.add_argument("--rounds", type=int, default=10)
  arguments = parser.parse_args()
  count = max(arguments.devices, arguments.measure_devices)
  os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={count}"
  import jax

  from examples.models.programs import MODELS

  chosen = {name: make for name, make in MODELS.items() if arguments.only in name}
  if not chosen:
    parser.error(f"no model has {arguments.only!r} in its name; there are {', '.join(MODELS)}")
  devices = devices_to_compile_for(arguments.devices)
  print(f"predicted for {len(devices)} x {arguments.device}, from modules XLA scheduled for {devices[0].platform}")
  print(f"compiling and scheduling {len(chosen)} models …", flush=True)
  print(
    f"{'model':20} {'exposed: XLA':>14} {'ours':>10} {'left':>6} {'step: XLA':>12} {'ours':>10} {'peak':>14}  passes"
  )
  left: list[float] = []
  for name, make in chosen.items():
    row = predicted(name, recorded(make, devices, arguments.size), arguments.device)
    (xla, ours), (before, after), (peak, now) = row["exposed"], row["seconds"], row["peak"]
    left.append(max(ours / xla, 0.01) if xla > 0 else 1.0)
    print(
      f"{name:20} {xla * 1e6:>11.0f} µs {ours * 1e6:>7.0f} µs {left[-1] * 100:>5.0f}% {before * 1e6:>9.0f} µs "
      f"{after * 1e6:>7.0f} µs {peak / 1e6:>5.0f} → {now / 1e6:.0f} MB  {row['passes']}",
      flush=True,
    )
  mean = statistics.geometric_mean(left)
  print(f"exposed communication that is left, geometric mean (none counts as 1%): {mean * 100:.0f}%")
  if arguments.measure:
    ratios: dict[str, list[tuple[float, float]]] = {}
    print(
      f"on {arguments.measure_devices} devices of this host: XLA's time / ours, and the same of processor time; medians in turns"
    )
    for name, make in chosen.items():
      there = jax.devices("cpu")[: arguments.measure_devices]
      found = measured(make, there, arguments.measure_size, arguments.rounds)
      line = f"{name:20} {found['XLA'][0] * 1e3:>9.2f} ms"
      for title, (seconds, processor) in found.items():
        if title != "XLA":
          ratio = found["XLA"][0] / seconds, found["XLA"][1] / processor
          ratios.setdefault(title, []).append(ratio)
          line += f"   {title} {ratio[0]:.2f} ({ratio[1]:.2f})"
      print(line, flush=True)
    for title, both in ratios.items():
      wall, processor = (statistics.geometric_mean(r[k] for r in both) for k in (0, 1))
      print(f"geometric mean, {title}: {wall:.2f} ({processor:.2f})")


if __name__ == "__main__":
  main()
