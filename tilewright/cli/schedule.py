"""`tilewright schedule FILE`: schedules an HLO module, and reports the gain and the reasons.

    tilewright schedule module.hlo --device h100 --devices 1024 --html report.html --trace trace.json
    tilewright schedule module.hlo --memory-limit 60GB --explain all-reduce-start.3 --out scheduled.hlo
    tilewright schedule --calibrate this_machine.json

The file is HLO text, a serialised HloModuleProto or StableHLO,
with start/done pairs; `--async` makes pairs of collectives and copies first. Exit
code 0: all well; 1: the module cannot be scheduled within the limits; 2: something cannot be read or written.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from tilewright.cli.hlo import load_pass, read_module
from tilewright.cli.table import print_table
from tilewright.hlo import Module, Reachability, cost, schedule
from tilewright.hlo.cost.profile import HloProfileError
from tilewright.hlo.cost.work import FREE as COSTLESS
from tilewright.hlo.errors import HloError
from tilewright.hlo.opcodes import DONES, STARTS
from tilewright.hlo.passes import run_passes
from tilewright.viz.schedule_page import chrome_trace, devices, duration, render, size


def run(arguments: argparse.Namespace) -> int:
  try:
    if arguments.calibrate:
      return _calibrate(pathlib.Path(arguments.calibrate))
    if arguments.rules:
      for rule in schedule.RULES:
        print(f"{rule.name:<18} {rule.reason}")
      return 0
    if not arguments.file:
      print("tilewright schedule: which FILE?", file=sys.stderr)
      return 2
    module = read_module(arguments.file)
    arguments.device = arguments.device or device_of(module)
    model = _model(arguments)
  except (HloError, OSError, ImportError) as error:
    print(f"tilewright schedule: {error}", file=sys.stderr)
    return 2
  try:
    return _work(module, model, arguments)
  except HloError as error:
    print(f"tilewright schedule: {error}", file=sys.stderr)
    return 1
  except OSError as error:
    print(f"tilewright schedule: {error}", file=sys.stderr)
    return 2


_CPU_ONLY = ("outer_dimension_partitions", "__onednn$", "lapack_")


def device_of(module: Module) -> str:
  """The device to assume: `cpu` where something shows that XLA's CPU back end made the module, else a GPU."""
  for instruction in module.instructions():
    traces = (instruction.backend_config, str(instruction.attrs.get("custom_call_target", "")))
    if any(mark in trace for mark in _CPU_ONLY for trace in traces):
      return "cpu"
  return "h100"


def why_exposed(module: Module, result: schedule.Schedule) -> list[str]:
  """Why communication stays exposed that the schedule could not hide."""
  if result.entry.outcome.exposed <= 0 or result.entry.outcome.exposed < result.original.exposed:
    return []
  pairs = [i for i in module.instructions() if i.opcode in STARTS]
  if not pairs:
    return ["no collective is a start/done pair, so nothing can run beside one: --async makes pairs"]
  reasons: list[str] = []
  for start in pairs:
    computation = start.parent
    done = next((u for u in start.users if u.opcode in DONES), None)
    if computation is None or done is None:
      continue
    depends = Reachability(computation)
    beside = [
      i
      for i in computation.instructions
      if i.opcode not in COSTLESS and depends.independent(i, start) and not depends.dominates(done, i)
    ]
    if not [i for i in beside if i is not done and i.opcode not in STARTS | DONES]:
      reasons.append(f"everything else needs the result of %{start.name} or is needed by it: nothing can run beside it")
  return reasons or ["the work that is independent of the transfers is shorter than they are, or limits keep it apart"]


def _model(arguments: argparse.Namespace) -> cost.CostModel:
  model: cost.CostModel = cost.Roofline(cost.device(arguments.device), arguments.devices)
  if arguments.profile:
    measured = cost.read_profile(arguments.profile).seconds()
    if not measured:
      raise HloProfileError(f"{arguments.profile} has no events with the names of instructions")
    model = cost.Measured(measured, model)
  return model


def _work(module: Module, model: cost.CostModel, arguments: argparse.Namespace) -> int:
  if arguments.make_async:
    run_passes(module, [load_pass("async_collectives")], verify=True)
  limits = schedule.Limits(
    collectives=arguments.collectives,
    scale_up=arguments.scale_up,
    p2p=arguments.p2p,
    async_compute=arguments.async_compute,
    copies=arguments.copies,
  )
  result = schedule.schedule_module(
    module,
    model=model,
    limits=limits,
    memory_limit=arguments.memory_limit,
    headroom=arguments.headroom,
    remat=arguments.remat,
    starts=arguments.starts,
  )
  simulations = {
    name: schedule.simulate(result, arguments.devices, original=original, jitter=arguments.jitter)
    for name, original in (("before", True), ("after", False))
  }
  _report(result, simulations)
  for line in why_exposed(module, result)[:4]:
    print(f"exposed time could not be reduced: {line}")
  for name in arguments.explain:
    print(f"%{name.removeprefix('%')}: {result.explain(name)}")
  for line in schedule.caveats(result, "gpu" if model.device.name != "cpu" else "cpu")[:8]:
    print(f"note: {line}")
  if arguments.html:
    pathlib.Path(arguments.html).write_text(render(result, simulations), encoding="utf-8")
  if arguments.trace:
    pathlib.Path(arguments.trace).write_text(chrome_trace(result), encoding="utf-8")
  if arguments.out:
    result.apply()
    if arguments.out.endswith(".pb"):
      pathlib.Path(arguments.out).write_bytes(module.to_proto())
    else:
      pathlib.Path(arguments.out).write_text(module.to_text(), encoding="utf-8")
  return 0


def _report(result: schedule.Schedule, simulations: dict[str, schedule.Simulation]) -> None:
  old, new = result.original, result.entry.outcome
  before, after = simulations["before"], simulations["after"]
  rows = [
    ["step time", duration(old.seconds), duration(new.seconds)],
    ["exposed communication", duration(old.exposed), duration(new.exposed)],
    ["peak memory", size(old.peak), size(new.peak)],
    [f"simulated step, {devices(after.devices)}", duration(before.seconds), duration(after.seconds)],
    ["utilisation", f"{before.utilisation * 100:.1f}%", f"{after.utilisation * 100:.1f}%"],
  ]
  device = result.model.device.name
  title = f"{result.module.name}: {result.module.instruction_count} instructions on {device}"
  print_table(title, ["", "before", "scheduled"], rows, right=["before", "scheduled"])


def _calibrate(path: pathlib.Path) -> int:
  from tilewright.hlo.cost.calibrate import calibrate

  device = calibrate()
  path.write_text(device.to_json() + "\n", encoding="utf-8")
  print(f"{device.name}: {', '.join(f'{k} {v / 1e9:.4g} GFLOP/s' for k, v in device.flops.items())}; ", end="")
  print(f"memory {device.memory_bandwidth / 1e9:.4g} GB/s, launch {device.launch * 1e6:.3g} µs, ", end="")
  print(f"collectives {device.scale_up.bandwidth / 1e9:.4g} GB/s and {device.scale_up.latency * 1e6:.3g} µs a step")
  print(f"Written: {path}")
  return 0
