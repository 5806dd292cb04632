"""Copies that are added where a pass broke what XLA had proven about buffers."""

from __future__ import annotations

from tilewright import hlo
from tilewright.hlo.passes.buffers import BufferUses

# The outer loop's second element goes through the inner loop, which writes it; %read reads it there.
NESTED = """HloModule m
inner { ip = (s32[], f32[4]) parameter(0)
  ii = s32[] get-tuple-element(ip), index=0
  iv = f32[4] get-tuple-element(ip), index=1
  ione = s32[] constant(1)
  in = s32[] add(ii, ione)
  ie = f32[4] exponential(iv)
  ROOT it = (s32[], f32[4]) tuple(in, ie) }
below { bp = (s32[], f32[4]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  three = s32[] constant(3)
  ROOT bl = pred[] compare(bi, three), direction=LT }
outer { p = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  w = f32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  zero = s32[] constant(0)
  start = s32[] copy(zero)
  t = (s32[], f32[4]) tuple(start, v)
  loop = (s32[], f32[4]) while(t), condition=below, body=inner
  made = f32[4] get-tuple-element(loop), index=1
  read = f32[4] add(made, w)
  waits = f32[4] sine(read)
  free = f32[4] cosine(w)
  ROOT r = (s32[], f32[4], f32[4]) tuple(n, waits, read) }
above { ap = (s32[], f32[4], f32[4]) parameter(0)
  ai = s32[] get-tuple-element(ap), index=0
  four = s32[] constant(4)
  ROOT al = pred[] compare(ai, four), direction=LT }
ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = s32[] constant(0)
  k = s32[] copy(z)
  a = f32[4] copy(x)
  b = f32[4] copy(y)
  s = (s32[], f32[4], f32[4]) tuple(k, a, b)
  ROOT whole = (s32[], f32[4], f32[4]) while(s), condition=above, body=outer }"""


def test_a_loop_result_is_written_after_readers_of_what_an_inner_loop_left_in_its_buffer() -> None:
  module = hlo.parse(NESTED)
  uses = BufferUses(module)
  outer = module.find("outer")
  named = {i.name: i for i in outer.instructions}
  outer.root.replace_operand(1, named["free"])  # it does not wait for %read
  assert uses.protect(module)
  (copy,) = [i for i in outer.instructions if i.opcode == "copy" and i.operands[0] is named["free"]]
  assert outer.root.operands[1] is copy and named["read"] in copy.control_predecessors


def test_what_is_written_in_place_into_its_own_buffer_needs_no_copy() -> None:
  module = hlo.parse(NESTED.replace("ROOT r = (s32[], f32[4], f32[4]) tuple(n, waits, read)", """
  half = f32[2] slice(free), slice={[0:2]}
  put = f32[4] dynamic-update-slice(made, half, zero)
  ROOT r = (s32[], f32[4], f32[4]) tuple(n, waits, read)""").replace("read = f32[4] add(made, w)", "read = f32[4] add(w, w)"))  # fmt: skip
  uses = BufferUses(module)
  outer = module.find("outer")
  outer.root.replace_operand(1, next(i for i in outer.instructions if i.name == "put"))
  assert not uses.protect(module)
