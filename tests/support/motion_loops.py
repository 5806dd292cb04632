"""Loops with collectives that code motion moves."""

from __future__ import annotations

import dataclasses

from tests.hlo.collective_checks import ADD, count, transformed
from tilewright import hlo
from tilewright.hlo.passes.all_reduce_code_motion import AllReduceCodeMotion

MOVE = "all_reduce_code_motion"
AR = "replica_groups={{0,1,2,3}}, to_apply=add"


@dataclasses.dataclass(frozen=True)
class LoopText:
  """A loop over `(i, acc, x, …)`: `i` counts, `acc` is what the body makes of it, `x` differs per device and stays."""

  body: str  # defines `next`, may use i, acc, x, c1
  acc: str = "f32[4]"
  x: str = "f32[4]"
  init: str = ""  # of acc; a parameter if empty
  trips: int = 5
  start: int = 0
  step: int = 1
  condition: str = ""
  header: str = "replica_count=4"
  extra: str = ""  # more computations

  def __str__(self) -> str:
    state = f"(s32[], {self.acc}, {self.x})"
    limit = self.start + self.trips * self.step
    condition = self.condition or f"n = s32[] constant({limit}) ROOT lt = pred[] compare(ci, n), direction=LT"
    acc = self.init or f"acc0 = {self.acc} parameter(1)"
    return f"""HloModule loop, {self.header}
{ADD}
{self.extra}
body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  acc = {self.acc} get-tuple-element(p), index=1
  x = {self.x} get-tuple-element(p), index=2
  c1 = s32[] constant({self.step})
  i1 = s32[] add(i, c1)
  {self.body}
  ROOT t = {state} tuple(i1, next, x)
}}
cond {{
  cp = {state} parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  cacc = {self.acc} get-tuple-element(cp), index=1
  {condition}
}}
ENTRY main {{
  x0 = {self.x} parameter(0)
  {acc}
  zero = s32[] constant({self.start})
  init = {state} tuple(zero, acc0, x0)
  w = {state} while(init), condition=cond, body=body
  wi = s32[] get-tuple-element(w), index=0
  wacc = {self.acc} get-tuple-element(w), index=1
  ROOT r = (s32[], {self.acc}) tuple(wi, wacc)
}}"""


SUM = f"s = f32[4] sine(x) r = f32[4] all-reduce(s), {AR} next = f32[4] add(acc, r)"


def moved(loop: LoopText | str, **options: object) -> hlo.Module:
  module = transformed(str(loop), AllReduceCodeMotion(**options))  # type: ignore[arg-type]
  assert count(module, "all-reduce", "body") + count(module, "reduce-scatter", "body") == 0
  return module


def refused(loop: LoopText, **options: object) -> None:
  transformed(str(loop), AllReduceCodeMotion(**options), changes=False)  # type: ignore[arg-type]


TWO = """HloModule two, replica_count=4
{ADD}
body {{
  p = (s32[], f32[4], f32[2], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[4] get-tuple-element(p), index=1
  b = f32[2] get-tuple-element(p), index=2
  x = f32[4] get-tuple-element(p), index=3
  one = s32[] constant(1)
  i1 = s32[] add(i, one)
  y = f32[2] slice(x), slice={{[1:3]}}
  r = (f32[4], f32[2]) all-reduce(x, y), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
  r0 = f32[4] get-tuple-element(r), index=0
  r1 = f32[2] get-tuple-element(r), index=1
  a1 = f32[4] add(a, r0)
  {b}
  ROOT t = (s32[], f32[4], f32[2], f32[4]) tuple(i1, a1, b1, x)
}}
cond {{
  cp = (s32[], f32[4], f32[2], f32[4]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  n = s32[] constant(6)
  ROOT lt = pred[] compare(ci, n), direction=LT
}}
ENTRY main {{
  x0 = f32[4] parameter(0)
  a0 = f32[4] parameter(1)
  b0 = f32[2] parameter(2)
  z = s32[] constant(0)
  init = (s32[], f32[4], f32[2], f32[4]) tuple(z, a0, b0, x0)
  ROOT w = (s32[], f32[4], f32[2], f32[4]) while(init), condition=cond, body=body
}}"""


STORE = "f32[5,4]"


def store(index: str, more: str = "", update: str = "u") -> str:
  return f"""s = f32[4] sine(x) f = f32[] convert(i) fb = f32[4] broadcast(f), dimensions={{}} y = f32[4] multiply(s, fb)
  r = f32[4] all-reduce(y), {AR} u = f32[1,4] reshape(r) z = s32[] constant(0) {more}
  next = {STORE} dynamic-update-slice(acc, {update}, {index})"""
