"""Random loops that the collective pipeliner moves collectives across, in the evaluator: values must stay the same on every device.

    python -m tests.hlo.random_pipelines --count 1000 --seed 0

A trip fetches rows of weights through collectives (for `backward`) and stores rows of results of collectives (for `forward` and
`forward_sink`), with arithmetic, formatting, barriers, fusions and control edges around them, and rows chosen by arithmetic on the
counter. Each direction runs alone and twice, then among other passes. Nearly every loop must change.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, field

from tests.hlo.collective_checks import ADD, assert_same, random_arguments, with_own_fusions
from tilewright import hlo
from tilewright.hlo.passes import run_passes

GROUP = "replica_groups={{0,1,2,3}}"
RING = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
PAIR = "(f32[4], f32[4])"
DIRECTIONS = tuple(f"collective_pipeliner{{direction={d}}}" for d in ("backward", "forward", "forward_sink"))
OTHERS = (
  "combine_collectives",
  "cse",
  "dce",
  "tuple_simplifier",
  "while_loop_simplifier",
  "algebraic_simplifier",
  "async_collectives",
  "schedule{device=h100}",
  "all_reduce_code_motion",
  "while_loop_unroller",
  "double_buffer_loop_unrolling",
  "collective_pipeliner{direction=backward,should_allow_loop_variant_parameter_in_chain=true}",
  "collective_pipeliner{should_allow_control_dependencies=true}",
  "collective_pipeliner{barriers=keep}",
  "collective_pipeliner{direction=forward_sink,barriers=keep}",
  "collective_pipeliner{max_pipelining_per_loop=1}",
  "collective_pipeliner{direction=forward_sink,last_run=false}",
)


@dataclass
class Trip:
  """The body of a loop, written line by line."""

  choose: random.Random
  trips: int
  start: int
  step: int
  lines: list[str] = field(default_factory=list)
  buffers: list[str] = field(default_factory=lambda: ["buf", "buf2"])
  state: str = "h"

  def new(self, operation: str, shape: str = "f32[4]") -> str:
    name = f"v{len(self.lines)}"
    self.lines.append(f"{name} = {shape} {operation}")
    return name

  def number(self, value: int) -> str:
    return self.new(f"constant({value})", "s32[]")

  def row(self) -> str:
    """The row of a trip: each is chosen at most once."""
    k = "i"
    if self.start or self.step != 1 or self.choose.random() < 0.4:
      k = self.new(f"subtract(i, {self.number(self.start)})", "s32[]")
      k = self.new(f"divide({k}, {self.number(self.step)})", "s32[]")
    match self.choose.randrange(7):
      case 0:
        k = self.new(f"negate({k})", "s32[]")
        return self.new(f"add({k}, {self.number(self.trips - 1)})", "s32[]")
      case 1:
        return self.new(f"subtract(last, {k})", "s32[]")
      case 2:
        half = self.trips // 2
        first = self.new(f"compare({k}, {self.number(half)}), direction=LT", "pred[]")
        mirrored = self.new(f"subtract({self.number(half - 1)}, {k})", "s32[]")
        return self.new(f"select({first}, {mirrored}, {k})", "s32[]")
      case 3:
        return self.new(f"clamp(zero, {k}, {self.number(self.trips - 1)})", "s32[]")
      case 4:
        k = self.new(f"add({k}, {self.number(1)})", "s32[]")
        return self.new(f"remainder({k}, {self.number(self.trips)})", "s32[]")
      case 5:
        return "counted"
    return k

  def chain(self, x: str, other: str | None = None) -> str:
    for _ in range(self.choose.randint(0, 3)):
      match self.choose.randrange(11):
        case 0:
          k = self.new("constant(0.5)", "f32[]")
          x = self.new(f"multiply({x}, {self.new(f'broadcast({k}), dimensions={{}}')})")
        case 1:
          x = self.new(f"tanh({x})")
        case 2:
          x = self.new(f"add({x}, {x})")
        case 3:
          x = self.new(f"convert({self.new(f'convert({x})', 'f16[4]')})")
        case 4:
          x = self.new(f"transpose({self.new(f'reshape({x})', 'f32[2,2]')}), dimensions={{1,0}}", "f32[2,2]")
          x = self.new(f"reshape({x})")
        case 5 if other:
          x = self.new(f"subtract({x}, {other})")
        case 6:
          x = self.new(f"reverse({x}), dimensions={{0}}")
        case 7:
          x = self.new(f"concatenate({x}, {x}), dimensions={{0}}", "f32[8]")
          x = self.new(f"slice({x}), slice={{[2:6]}}")
        case 8:
          both = self.new(f"opt-barrier({self.new(f'tuple({x}, {other or x})', PAIR)})", PAIR)
          x = self.new(f"get-tuple-element({both}), index=0")
        case 9:
          x = self.new(f"fusion({x}), kind=kLoop, calls=fused")
        case 10:
          early = self.new(f"compare(i, {self.number(1)}), direction=LT", "pred[]")
          x = self.new(f"select({early}, {self.new(f'negate({x})')}, {x})")
    return x

  def collective(self, x: str, y: str) -> str:
    match self.choose.randrange(8):
      case 0 | 1 | 2:
        return self.new(f"all-reduce({x}), {GROUP}, to_apply={self.choose.choice(['add', 'max'])}")
      case 3:
        x = self.new(f"all-gather({x}), {GROUP}, dimensions={{0}}", "f32[16]")
        return self.new(f"slice({x}), slice={{[5:9]}}")
      case 4:
        x = self.new(f"reduce-scatter({x}), {GROUP}, dimensions={{0}}, to_apply=add", "f32[1]")
        return self.new(f"broadcast({self.new(f'reshape({x})', 'f32[]')}), dimensions={{}}")
      case 5:
        return self.new(f"collective-permute({x}), {RING}")
      case 6:
        return self.new(f"all-to-all({x}), {GROUP}, dimensions={{0}}")
    both = self.new(f"all-reduce({x}, {y}), {GROUP}, to_apply=add", PAIR)
    first = self.new(f"get-tuple-element({both}), index=0")
    if self.choose.random() < 0.5:
      return first
    return self.new(f"subtract({first}, {self.new(f'get-tuple-element({both}), index=1')})")

  def fetch(self) -> None:
    x = self.new(f"dynamic-slice(w, {self.row()}, zero), dynamic_slice_sizes={{1,4}}", "f32[1,4]")
    x = self.chain(self.new(f"reshape({x})"))
    x = self.chain(self.collective(x, x))
    self.state = self.new(f"{self.choose.choice(['multiply', 'add'])}({self.state}, {x})")
    self.state = self.new(f"tanh({self.state})")

  def store(self) -> None:
    x = self.new(f"sine({self.state})")
    x = self.chain(self.collective(x, self.state), "h" if self.choose.random() < 0.3 else None)
    part = self.new(f"reshape({x})", "f32[1,4]")
    into = self.choose.randrange(2)
    if self.buffers[into].startswith("v") and self.choose.random() < 0.8:
      into = 1 - into  # two stores into one buffer do not sink
    place = f"{self.buffers[into]}, {part}, {self.row()}, zero"
    self.buffers[into] = self.new(f"dynamic-update-slice({place})", f"f32[{self.trips},4]")
    self.state = self.new(f"cosine({self.state})")


def generated(seed: int) -> tuple[str, bool, bool]:
  """A module; whether its loop fetches, and whether it stores."""
  choose = random.Random(seed)
  trip = Trip(choose, choose.randint(2, 5), choose.choice([0, 0, 0, 2, -3]), choose.choice([1, 1, 1, 2, -1, 3]))
  fetches, stores = choose.choice([(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 3)])
  for _ in range(fetches):
    trip.fetch()
  for _ in range(stores):
    trip.store()
  if choose.random() < 0.3:
    later = choose.randrange(1, len(trip.lines))
    earlier = trip.lines[choose.randrange(later)].split(" ")[0]
    trip.lines[later] += f", control-predecessors={{{earlier}}}"
  rows = f"f32[{trip.trips},4]"
  state = f"(s32[], {rows}, f32[4], {rows}, {rows}, s32[], s32[])"
  body = "\n  ".join(trip.lines)
  text = f"""HloModule layers, replica_count=4
{ADD}
fused {{
  fp = f32[4] parameter(0)
  fn = f32[4] negate(fp)
  ROOT fr = f32[4] multiply(fn, fp)
}}
body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  buf = {rows} get-tuple-element(p), index=1
  h = f32[4] get-tuple-element(p), index=2
  w = {rows} get-tuple-element(p), index=3
  buf2 = {rows} get-tuple-element(p), index=4
  last = s32[] get-tuple-element(p), index=5
  counted = s32[] get-tuple-element(p), index=6
  step = s32[] constant({trip.step})
  one = s32[] constant(1)
  zero = s32[] constant(0)
  i1 = s32[] add(i, step)
  counted1 = s32[] add(counted, one)
  {body}
  ROOT t = {state} tuple(i1, {trip.buffers[0]}, {trip.state}, w, {trip.buffers[1]}, last, counted1)
}}
cond {{
  cp = {state} parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  n = s32[] constant({trip.start + trip.step * trip.trips})
  ROOT lt = pred[] compare(ci, n), direction={"LT" if trip.step > 0 else "GT"}
}}
ENTRY main {{
  b0 = {rows} parameter(0)
  h0 = f32[4] parameter(1)
  w0 = {rows} parameter(2)
  b1 = {rows} parameter(3)
  z = s32[] constant({trip.start})
  z0 = s32[] constant(0)
  top = s32[] constant({trip.trips - 1})
  init = {state} tuple(z, b0, h0, w0, b1, top, z0)
  ROOT loop = {state} while(init), condition=cond, body=body
}}"""
  return with_own_fusions(text), bool(fetches), bool(stores)


def check(seed: int) -> tuple[int, int]:
  """How many directions should have moved something in the module of a seed, and how many did; raises if something is wrong."""
  text, fetches, stores = generated(seed)
  choose = random.Random(f"passes {seed}")
  before = hlo.parse(text)
  hlo.verify(before)
  arguments = random_arguments(before, 4, seed)
  wanted = hlo.evaluate_devices(before, arguments)
  mixed = [choose.choice(DIRECTIONS + OTHERS) for _ in range(choose.randint(2, 5))]
  should = moved = 0
  for passes in (*([d, d] for d in DIRECTIONS), mixed):
    after = hlo.parse(text)
    try:
      report = run_passes(after, passes, verify=True, strict=True)
      assert_same(wanted, hlo.evaluate_devices(hlo.parse(after.to_text()), arguments), 1e-5)
    except Exception as error:
      error.add_note(f"seed {seed}, passes {passes}")
      raise
    if passes is not mixed and (fetches if passes[0] == DIRECTIONS[0] else stores):
      should, moved = should + 1, moved + report.changed
  return should, moved


def main() -> int:
  parser = argparse.ArgumentParser(
    prog="python -m tests.hlo.random_pipelines", description=(__doc__ or "").splitlines()[0]
  )
  parser.add_argument("--count", type=int, default=1000)
  parser.add_argument("--seed", type=int, default=0, help="the first seed")
  parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
  options = parser.parse_args()
  start, faults, should, moved, ran = time.monotonic(), 0, 0, 0, 0
  for seed in range(options.seed, options.seed + options.count):
    if time.monotonic() - start > options.seconds:
      break
    ran += 1
    try:
      counted = check(seed)
      should, moved = should + counted[0], moved + counted[1]
    except Exception as error:
      faults += 1
      print(f"seed {seed}: {type(error).__name__}: {error}", *getattr(error, "__notes__", ()), sep="\n  ", flush=True)
  print(f"{ran} loops, {moved} of {should} moves, {faults} faults, {time.monotonic() - start:.0f} s")
  return 1 if faults else 0


if __name__ == "__main__":
  sys.exit(main())
