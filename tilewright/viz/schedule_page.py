"""A schedule as one HTML page, and as a trace for Chrome's and Perfetto's viewers.

The page has two panels with one time axis: the original order of the module, and ours. Each has a lane for the main stream, one for
each lane of each resource, and a curve of live memory with the limit. Exposed communication is red on the main stream. A click
on an instruction marks it in both panels and shows the reason for its position. No network, no libraries: it opens from a file.

    pathlib.Path("report.html").write_text(render(schedule))
    pathlib.Path("trace.json").write_text(chrome_trace(schedule))
"""

from __future__ import annotations

import html
import importlib.resources
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.hlo.cost.model import CostModel
from tilewright.hlo.schedule import KINDS, ComputationSchedule, Schedule, Simulation
from tilewright.hlo.schedule.problem import COMPUTE, DONE, START, Problem
from tilewright.hlo.schedule.timing import Trace

_MAX_TEXT = 600


def render(schedule: Schedule, simulations: Mapping[str, Simulation] | None = None, title: str | None = None) -> str:
  """The page. `simulations` adds the results of simulating many devices, before and after."""
  computations = [
    _drawing(schedule, found) for found in sorted(schedule.computations.values(), key=lambda c: -c.trips * c.outcome.seconds)
    if found.order and (found.computation is schedule.module.entry or found.outcome.seconds > 0)
  ]  # fmt: skip
  computations.sort(key=lambda c: not c["entry"])
  limit = schedule.memory_limit if schedule.memory_limit < 1e18 else None
  data = {
    "module": schedule.module.name,
    "device": schedule.model.device.name,
    "limit": limit,
    "cards": _cards(schedule, simulations or {}),
    "computations": computations,
  }
  text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\!--")
  name = html.escape(title or f"Schedule of {schedule.module.name}, predicted for {schedule.model.device.name.upper()}")
  page = importlib.resources.files(__package__).joinpath("schedule.html").read_text(encoding="utf-8")
  return page.replace("@TITLE@", name).replace("@DATA@", text)


def _cards(schedule: Schedule, simulations: Mapping[str, Simulation]) -> list[list[str]]:
  """(what, before, after)."""
  old, new = schedule.original, schedule.entry.outcome
  rows = [
    ["step time", duration(old.seconds), duration(new.seconds)],
    ["exposed communication", duration(old.exposed), duration(new.exposed)],
    ["peak memory", size(old.peak), size(new.peak)],
  ]
  if "before" in simulations and "after" in simulations:
    a, b = simulations["before"], simulations["after"]
    rows.append([f"simulated step, {devices(b.devices)}", duration(a.seconds), duration(b.seconds)])
    rows.append([f"utilisation, {devices(b.devices)}", f"{a.utilisation * 100:.1f}%", f"{b.utilisation * 100:.1f}%"])
  return rows


def devices(count: int) -> str:
  return f"{count} device" if count == 1 else f"{count:,} devices"


def duration(seconds: float) -> str:
  for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
    if seconds >= scale:
      return f"{seconds / scale:.4g} {unit}"
  return f"{seconds * 1e9:.3g} ns" if seconds > 0 else "0"


def size(count: float) -> str:
  for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
    if count >= scale:
      return f"{count / scale:.4g} {unit}"
  return f"{count:.0f} B"


def _drawing(schedule: Schedule, found: ComputationSchedule) -> dict[str, Any]:
  """n name, entry, trips, loops (whether it has any); i: instructions (name, opcode, text, cost, reason); before and after: panels."""
  p = found.lowered.problem
  instructions = [
    [
      instruction.name,
      instruction.opcode,
      instruction.to_text().strip()[:_MAX_TEXT],
      _cost(schedule.model, p, v, found),
      found.reason(v),
      instruction.metadata.op_name if instruction.metadata is not None else "",
      p.pair[v],
      sum(p.buffer_size[b] for b in p.touches[v]),
    ]
    for v, instruction in enumerate(found.nodes)
  ]
  return {
    "n": found.computation.name,
    "entry": found.computation is schedule.module.entry,
    "trips": found.trips,
    "loops": any(i.opcode == "while" for i in found.nodes),
    "i": instructions,
    "before": _panel(found.original_problem, found.original_order, found.original_timeline()),
    "after": _panel(p, found.order, found.timeline()),
  }


def _cost(model: CostModel, p: Problem, v: int, found: ComputationSchedule) -> str:
  instruction = found.nodes[v]
  if p.role[v] == DONE:
    return "waits"
  cost = model.cost(instruction)
  if not cost.why:
    return f"{duration(p.cost[v])}" + (" inside" if p.cost[v] else "")
  return f"{duration(p.cost[v])}: {cost.why}"


def _panel(p: Problem, order: Sequence[int], timeline: Trace) -> dict[str, Any]:
  """Lanes, boxes [node, lane, begin, end, what] in µs (what: 0 computation, 1 transfer, 2 wait, 3 exposed transfer), and memory
  [[µs, bytes], …].
  """
  used = sorted({(p.kind[v], timeline.lane[v]) for v in order if p.role[v] == START})
  lanes = ["main stream", *(f"{KINDS[kind]} {lane + 1}" for kind, lane in used)]
  number = {key: i + 1 for i, key in enumerate(used)}
  boxes: list[list[float]] = []
  memory: list[list[float]] = []
  for place, v in enumerate(order):
    begin, end, wait = timeline.begin[v] * 1e6, timeline.end[v] * 1e6, timeline.wait[v] * 1e6
    if p.role[v] == START:
      boxes.append([v, number[p.kind[v], timeline.lane[v]], begin, end, 1])
      memory.append([_now(timeline, p, order, place), timeline.memory[place]])
      continue
    memory.append([begin, timeline.memory[place]])
    if wait > 0:
      boxes.append([v, 0, begin, begin + wait, 2])
    if p.role[v] == COMPUTE and end > begin + wait:
      boxes.append([v, 0, begin + wait, end, 3 if p.exposed[v] else 0])
  rounded = [[v, lane, round(a, 4), round(b, 4), what] for v, lane, a, b, what in boxes]
  return {
    "lanes": lanes,
    "boxes": rounded,
    "memory": [[round(t, 4), m] for t, m in memory],
    "seconds": timeline.seconds * 1e6,
    "order": list(order),
  }


def _now(timeline: Trace, p: Problem, order: Sequence[int], place: int) -> float:
  """When the main stream reaches a start: when the preceding node has ended."""
  for i in range(place - 1, -1, -1):
    if p.role[order[i]] != START:
      return timeline.end[order[i]] * 1e6
  return 0.0


# Chrome's trace format.


def chrome_trace(schedule: Schedule) -> str:
  """Trace events: one process for the order before and one for ours, a thread per lane, memory as a counter. The first trip of a
  loop's body lies inside its loop.
  """
  events: list[dict[str, Any]] = []
  for pid, original in enumerate((True, False)):
    name = "before" if original else "scheduled"
    events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": f"{schedule.module.name}: {name}"}})
    threads: dict[str, int] = {}
    _trace_computation(schedule, schedule.entry, original, pid, 0.0, events, threads)
    for thread, tid in threads.items():
      events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": thread}})
  return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def _trace_computation(
  schedule: Schedule,
  found: ComputationSchedule,
  original: bool,
  pid: int,
  offset: float,
  events: list[dict[str, Any]],
  threads: dict[str, int],
) -> None:
  p, order = (found.original_problem, found.original_order) if original else (found.lowered.problem, found.order)
  timeline = found.original_timeline() if original else found.timeline()
  panel = _panel(p, order, timeline)
  for v, lane, begin, end, what in panel["boxes"]:
    instruction = found.nodes[v]
    tid = threads.setdefault(panel["lanes"][lane], len(threads) + 1)
    arguments = {"instruction": instruction.to_text().strip()[:_MAX_TEXT], "cost": _cost(schedule.model, p, v, found)}
    if not original:
      arguments["reason"] = found.reason(v)
    events.append(
      {
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "ts": begin + offset,
        "dur": end - begin,
        "name": instruction.name,
        "cat": ("computation", "transfer", "exposed", "exposed")[what],
        "args": arguments,
      }
    )
    if instruction.opcode in ("while", "call") and what == 0:
      at = offset + begin
      for called in instruction.called_computations:
        if called in schedule.computations and called is not instruction.attrs.get("condition"):
          _trace_computation(schedule, schedule.computations[called], original, pid, at, events, threads)
  if found is schedule.entry:
    for at, live in panel["memory"]:
      events.append({"ph": "C", "pid": pid, "ts": at + offset, "name": "live memory", "args": {"bytes": live}})
