"""XLA's order and ours, side by side: predicted for programs on many devices, measured for programs on this one.

    python -m examples.schedule.compare OUT                       # on a GPU
    python -m examples.schedule.compare OUT --size 0.1 --devices 4  # a trial on the CPU

Part 1 compiles the parallel programs for several devices: for a topology of GPUs that need not exist if this JAX can do that, else
for the devices there are. It writes XLA's scheduled modules to OUT/modules and compares the orders under one cost model.
Part 2 runs the offload programs: in XLA's order, in XLA's order with its latency-hiding scheduler, and in ours under four memory
limits (what XLA's order needs, half as much again, none, and the least that costs little time). It prints step times, and from
a profile of each how much of the copying was hidden; then again with costs measured in that profile. OUT/results.json holds
all of it, OUT/modules.tar.gz the modules.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import statistics
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from examples.schedule.programs import OFFLOAD, PARALLEL
from tilewright import hlo
from tilewright.hlo import cost, schedule

LATENCY_HIDING = {"xla_gpu_enable_latency_hiding_scheduler": True}


@contextlib.contextmanager
def recorded() -> Iterator[list[hlo.Module]]:
  """The modules XLA has scheduled, as it scheduled them."""
  found: list[hlo.Module] = []

  def record(module: hlo.Module) -> bool:
    found.append(module.clone())
    return False

  with hlo.install(record, stage="post_scheduler", fingerprint="record"):
    yield found


def main_module(found: Sequence[hlo.Module]) -> hlo.Module:
  return max(found, key=lambda m: m.instruction_count)


def geometric_mean(values: Sequence[float]) -> float:
  return statistics.geometric_mean(values) if values else 1.0


def topology(count: int) -> Sequence[Any]:
  """`count` devices to compile for. Those that are here if there are enough, else a description of a machine."""
  if len(jax.devices()) >= count:
    return jax.devices()[:count]
  from jax.experimental import topologies

  problems = []
  for platform in ("cuda", "gpu"):
    for options in ({"topology": f"1x1x{count}"}, {"topology": f"1x1x{count}", "target_config": ""}):
      try:
        found = topologies.get_topology_desc("compare", platform, **options).devices
        print(f"compiling for {len(found)} devices: {platform}, {options}")
        return found
      except Exception as error:
        problems.append(f"{platform} {options}: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
  raise RuntimeError("no topology:\n  " + "\n  ".join(problems))


# Part 1.


def compare_orders(out: pathlib.Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
  rows: list[dict[str, Any]] = []
  try:
    devices = topology(arguments.devices)
  except Exception as error:
    print(f"parallel programs are left out: {error}")
    return rows
  for name, make in [(n, m) for n, m in PARALLEL.items() if arguments.only in n]:
    for variant, options in {"default": {}, "lhs": LATENCY_HIDING}.items():
      if variant == "lhs" and jax.devices()[0].platform == "cpu":
        continue
      print(f"{name} ({variant}): compiling and scheduling …", flush=True)
      try:
        function, values = make(devices, arguments.size)
        with recorded() as found:
          jax.jit(function).lower(*values).compile(compiler_options=options)
        rows.append(predicted(f"{name} ({variant})", main_module(found), out, arguments))
      except Exception:
        print(f"{name} ({variant}) failed:\n{traceback.format_exc(limit=3)}")
  left = [max(row["exposed"][1] / row["exposed"][0], 0.01) for row in rows if row["exposed"][0] > 0]
  if left:
    print(
      f"exposed communication that is left, geometric mean over {len(left)} modules (none counts as 1%): {geometric_mean(left) * 100:.0f}%"
    )
  return rows


def predicted(name: str, module: hlo.Module, out: pathlib.Path, arguments: argparse.Namespace) -> dict[str, Any]:
  file = out / "modules" / f"{name.replace(' ', '_').replace('(', '').replace(')', '')}.hlo"
  file.write_text(module.to_text(), encoding="utf-8")
  if not any(i.opcode.endswith("-start") for i in module.instructions()):
    hlo.run_passes(module, ["async_collectives"])  # the CPU's back end knows no pairs
  result = schedule.schedule_module(module, device=arguments.device, headroom=1.1)
  old, new = result.original, result.entry.outcome
  row = {
    "name": name,
    "instructions": module.instruction_count,
    "seconds": [old.seconds, new.seconds],
    "exposed": [old.exposed, new.exposed],
    "peak": [old.peak, new.peak],
  }
  less = f"{(1 - new.exposed / old.exposed) * 100:.0f}% less" if old.exposed else "none"
  print(
    f"{name:<28} predicted step {old.seconds * 1e3:8.3f} → {new.seconds * 1e3:8.3f} ms, exposed "
    f"{old.exposed * 1e3:7.3f} → {new.exposed * 1e3:7.3f} ms ({less}), peak {old.peak / 1e6:.0f} → {new.peak / 1e6:.0f} MB"
  )
  return row


# Part 2.


def step_times(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
  """Medians, the variants taking turns."""
  times: dict[str, list[float]] = {name: [] for name in calls}
  end = time.perf_counter() + seconds
  while min(len(t) for t in times.values()) < 5 or time.perf_counter() < end:
    for name, call in calls.items():
      start = time.perf_counter()
      jax.block_until_ready(call())
      times[name].append(time.perf_counter() - start)
  return {name: statistics.median(t) for name, t in times.items()}


def overlap(call: Callable[[], Any], folder: pathlib.Path) -> tuple[cost.Overlap, dict[str, float]]:
  """Of a profile of five runs: per run, the time of copies and how much of it was hidden; and the time of each instruction."""
  with jax.profiler.trace(str(folder)):
    for _ in range(5):
      jax.block_until_ready(call())
  profile = cost.read_profile(folder)
  whole = profile.overlap()
  return cost.Overlap(whole.transfers / 5, whole.hidden / 5), profile.seconds()


def tight_limit(module: hlo.Module, device: str) -> float:
  """The least memory, in steps of 5% of what the unlimited schedule needs, that costs less than 5% of its time."""
  free = schedule.schedule_module(module, device=device)
  best = free.peak
  for percent in range(95, 45, -5):
    try:
      tight = schedule.schedule_module(module, device=device, memory_limit=free.peak * percent / 100)
    except schedule.HloMemoryError:
      break
    if tight.seconds > 1.05 * free.seconds:
      break
    best = int(free.peak * percent / 100)
  return best


def run_offload(name: str, out: pathlib.Path, arguments: argparse.Namespace) -> dict[str, Any]:
  print(f"{name}: compiling, scheduling and timing …", flush=True)
  device = jax.devices()[0]
  function, values = OFFLOAD[name](device, arguments.size)
  calls: dict[str, Callable[[], Any]] = {}
  plans: dict[str, schedule.Schedule] = {}

  def compiled(**options: Any) -> Callable[[], Any]:
    step = jax.jit(function).lower(*values).compile(compiler_options=options)
    return lambda: step(*values)

  with recorded() as found:
    calls["XLA"] = compiled()
  module = main_module(found)
  (out / "modules" / f"{name}.hlo").write_text(module.to_text(), encoding="utf-8")
  if device.platform != "cpu":
    calls["XLA, latency hiding"] = compiled(**LATENCY_HIDING)
  for label, headroom in {"ours, XLA's memory": 1.0, "ours, half more": 1.5, "ours, no limit": None}.items():
    with schedule.install(device=arguments.device, headroom=headroom) as installed:
      calls[label] = compiled()
    plans[label] = max(installed.schedules, key=lambda s: s.module.instruction_count)
  limit = tight_limit(module, arguments.device)
  with schedule.install(device=arguments.device, memory_limit=limit) as installed:
    calls["ours, tight"] = compiled()
  plans["ours, tight"] = max(installed.schedules, key=lambda s: s.module.instruction_count)
  expected = jax.tree.map(np.asarray, jax.block_until_ready(calls["XLA"]()))
  first, measured = overlap(calls["XLA"], arguments.profiles / name / "XLA")
  model = cost.Measured(measured, cost.Roofline(arguments.device))
  label = "ours, half more, measured costs"
  with schedule.install(device=arguments.device, headroom=1.5, model=model) as installed:
    calls[label] = compiled()
  plans[label] = max(installed.schedules, key=lambda s: s.module.instruction_count)
  for label, call in calls.items():
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(call())):
      np.testing.assert_allclose(
        np.asarray(b, np.float32), np.asarray(a, np.float32), rtol=2e-2, atol=1e-2, err_msg=label
      )
  times = step_times(calls, arguments.seconds)
  rows: dict[str, Any] = {}
  print(
    f"\n{name}: {module.instruction_count} instructions, {sum(i.opcode == 'copy-start' for i in module.instructions())} pairs"
  )
  unlimited = plans["ours, no limit"].peak
  for label, call in calls.items():
    hidden = (
      first
      if label == "XLA"
      else overlap(call, arguments.profiles / name / label.replace(" ", "_").replace(",", ""))[0]
    )
    rows[label] = {"seconds": times[label], "copies": hidden.transfers, "hidden": hidden.hidden}
    line = f"  {label:<34} {times[label] * 1e3:8.2f} ms  {times['XLA'] / times[label]:.2f} times as fast   "
    line += f"copies {hidden.transfers * 1e3:7.2f} ms, "
    line += f"hidden {hidden.hidden * 1e3:7.2f} ms"
    if label in plans:
      plan = plans[label]
      rows[label] |= {
        "predicted": plan.seconds,
        "peak": plan.peak,
        "limit": plan.memory_limit,
        "caveats": schedule.caveats(plan, "gpu"),
      }
      binds = "binds" if plan.memory_limit < unlimited else "does not bind"
      line += f"; predicted {plan.seconds * 1e3:.2f} ms, peak {plan.peak / 1e6:.0f} MB, limit {plan.memory_limit / 1e6:.0f} MB ({binds})"
    else:
      rows[label] |= {
        "predicted": plans["ours, no limit"].original.seconds,
        "peak": plans["ours, no limit"].original.peak,
      }
    print(line)
  return {"name": name, "rows": rows}


def main(argv: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("out", type=pathlib.Path)
  parser.add_argument("--size", type=float, default=1.0)
  parser.add_argument("--devices", type=int, default=8)
  parser.add_argument("--device", default=None, help="a row of the device table; found from JAX's device if not given")
  parser.add_argument("--seconds", type=float, default=4.0, help="for the timing of each offload program")
  parser.add_argument("--only", default="", help="programs whose name contains this")
  parser.add_argument("--part", choices=["parallel", "offload"], help="one of the two parts")
  arguments = parser.parse_args(argv)
  first = jax.devices()[0]
  arguments.device = arguments.device or schedule.device_name(first)
  (arguments.out / "modules").mkdir(parents=True, exist_ok=True)
  print(f"jax {jax.__version__}, {first.device_kind}, cost model {arguments.device}, size {arguments.size}")
  arguments.profiles = pathlib.Path(tempfile.mkdtemp(prefix="profiles_"))
  results: dict[str, Any] = {"jax": jax.__version__, "device": first.device_kind, "parallel": [], "offload": []}
  failed = False

  def save() -> None:
    (arguments.out / "results.json").write_text(json.dumps(results, indent=2, default=str), encoding="utf-8")
    with tarfile.open(arguments.out / "modules.tar.gz", "w:gz") as archive:
      archive.add(arguments.out / "modules", "modules")

  for name in [n for n in OFFLOAD if arguments.only in n and arguments.part != "parallel"]:
    try:
      results["offload"].append(run_offload(name, arguments.out, arguments))
    except Exception:
      failed = True
      print(f"\n{name} failed:\n{traceback.format_exc(limit=6)}")
    save()
  if arguments.part != "offload":
    print()
    results["parallel"] = compare_orders(arguments.out, arguments)
  save()
  return 1 if failed else 0


if __name__ == "__main__":
  raise SystemExit(main())
