"""Loops with collectives that are pipelined."""

from __future__ import annotations

import dataclasses

from tests.hlo.collective_checks import ADD
from tilewright import hlo
from tilewright.hlo.passes.collective_pipeliner import CollectivePipeliner
from tilewright.hlo.passes.while_loops import find_counter, loops_of

FORWARD = CollectivePipeliner()
SINK = CollectivePipeliner("forward_sink")
BACKWARD = CollectivePipeliner("backward")
AR = "replica_groups={{0,1,2,3}}, to_apply=add"


@dataclasses.dataclass(frozen=True)
class Layers:
  """A loop over `(i, buf, h, w)`: the state `h` goes through layers of weights `w`; `buf` collects."""

  body: str  # defines buf1 and h1 from i, buf, h, w, zero
  buf: str = "f32[5,4]"
  h: str = "f32[4]"
  w: str = "f32[5,4]"
  trips: int = 5
  start: int = 0
  step: int = 1
  condition: str = ""
  header: str = "replica_count=4"
  extra: str = ""
  i1: str = "i1 = s32[] add(i, one)"

  def __str__(self) -> str:
    state = f"(s32[], {self.buf}, {self.h}, {self.w})"
    limit = self.start + self.step * self.trips
    direction = "LT" if self.step > 0 else "GT"
    condition = self.condition or f"n = s32[] constant({limit}) ROOT lt = pred[] compare(ci, n), direction={direction}"
    return f"""HloModule layers, {self.header}
{ADD}
{self.extra}
body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  buf = {self.buf} get-tuple-element(p), index=1
  h = {self.h} get-tuple-element(p), index=2
  w = {self.w} get-tuple-element(p), index=3
  one = s32[] constant({self.step})
  zero = s32[] constant(0)
  {self.i1}
  {self.body}
  ROOT t = {state} tuple(i1, buf1, h1, w)
}}
cond {{
  cp = {state} parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  cbuf = {self.buf} get-tuple-element(cp), index=1
  {condition}
}}
ENTRY main {{
  b0 = {self.buf} parameter(0)
  h0 = {self.h} parameter(1)
  w0 = {self.w} parameter(2)
  z = s32[] constant({self.start})
  init = {state} tuple(z, b0, h0, w0)
  ROOT loop = {state} while(init), condition=cond, body=body
}}"""


def trips(module: hlo.Module) -> int:
  (loop,) = loops_of(module)
  counter = find_counter(loop)
  assert counter is not None
  return counter.trips


def store(chain: str = "u = f32[1,4] reshape(r)", index: str = "i, zero", compute: str = "h1 = f32[4] sine(h)") -> str:
  return f"""{compute} r = f32[4] all-reduce(h1), {AR} {chain}
  buf1 = f32[5,4] dynamic-update-slice(buf, u, {index})"""


def fetch(operand: str = "a", more: str = "", use: str = "h1 = f32[4] multiply(h, g)") -> str:
  return f"""row = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(row) {more}
  g = f32[4] all-reduce({operand}), {AR} {use} buf1 = f32[5,4] copy(buf)"""
