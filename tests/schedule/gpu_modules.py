"""HLO text of programs as XLA's GPU back end schedules them, made to any size.

The order is the one XLA tends to give: a start right where its operand is ready or right before its done, a done right before its
first use. `corpus/` holds modules that XLA itself has scheduled: `xla_cpu_*` come from `examples/schedule` on eight host
devices; their collectives are made asynchronous where they stand, since the CPU's back end knows no pairs.
"""

from __future__ import annotations

import pathlib

from tilewright import hlo

ADD = """%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}
"""


def _module(name: str, lines: list[str], partitions: int = 8, before: str = ADD) -> str:
  body = "\n".join(f"  {line}" for line in lines)
  return f"HloModule {name}, is_scheduled=true, num_partitions={partitions}\n\n{before}\nENTRY %main {{\n{body}\n}}\n"


def groups(partitions: int) -> str:
  return f"replica_groups=[1,{partitions}]<=[{partitions}], use_global_device_ids=true"


def data_parallel(layers: int, size: int = 2048, partitions: int = 8) -> str:
  """Backward through `layers` products; each layer's gradient is summed over all devices right after it is made."""
  shape = f"f32[{size},{size}]{{1,0}}"
  dot = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
  lines = [f"%x = {shape} parameter(0)"]
  lines += [f"%w.{i} = {shape} parameter({i + 1})" for i in range(layers)]
  last, results = "x", []
  for i in range(layers):
    lines.append(f"%grad.{i} = {shape} dot(%{last}, %w.{i}), {dot}")
    lines.append(
      f"%reduce-start.{i} = {shape} all-reduce-start(%grad.{i}), channel_id={i + 1}, {groups(partitions)}, to_apply=%add"
    )
    lines.append(f"%reduce-done.{i} = {shape} all-reduce-done(%reduce-start.{i})")
    lines.append(f"%back.{i} = {shape} dot(%{last}, %w.{i}), {dot}")
    lines.append(f"%update.{i} = {shape} subtract(%w.{i}, %reduce-done.{i})")
    last = f"back.{i}"
    results.append(f"%update.{i}")
  tuple_shape = ", ".join([shape] * (layers + 1))
  lines.append(f"ROOT %out = ({tuple_shape}) tuple({', '.join(results)}, %{last})")
  return _module("data_parallel", lines, partitions)


def offload(layers: int, size: int = 8192, rows: int = 64 * 1024, products: int = 3) -> str:
  """Arrays on the host come in while a chain of products runs; every copy is started right before it is needed."""
  x, h = f"bf16[{size},{size}]{{1,0}}", f"f32[{rows},1024]{{1,0}}"
  lines = [f"%x = {x} parameter(0)", f"%w = {x} parameter(1)", "%zero = f32[] constant(0)"]
  lines += [f"%host.{i} = {h[:-1]}:S(5)}} parameter({i + 2})" for i in range(layers)]
  last, results = "x", []
  for i in range(layers):
    for k in range(products):
      lines.append(f"%dot.{i}.{k} = {x} dot(%{last}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
      last = f"dot.{i}.{k}"
    lines.append(f"%copy-start.{i} = ({h}, {h[:-1]}:S(5)}}, u32[]) copy-start(%host.{i})")
    lines.append(f"%copy-done.{i} = {h} copy-done(%copy-start.{i})")
    lines.append(f"%sum.{i} = f32[] reduce(%copy-done.{i}, %zero), dimensions={{0,1}}, to_apply=%add")
    lines.append(f"%first.{i} = bf16[1,1]{{1,0}} slice(%{last}), slice={{[0:1], [0:1]}}")
    lines.append(f"%scalar.{i} = bf16[] reshape(%first.{i})")
    lines.append(f"%wide.{i} = f32[] convert(%scalar.{i})")
    lines.append(f"%result.{i} = f32[] add(%sum.{i}, %wide.{i})")
    results.append(f"%result.{i}")
  tuple_shape = ", ".join([x] + ["f32[]"] * layers)
  lines.append(f"ROOT %out = ({tuple_shape}) tuple(%{last}, {', '.join(results)})")
  return _module("offload", lines, 1)


def many(count: int) -> str:
  """About `count` instructions of the kinds, and with the dependencies, of a deep network's step."""
  return data_parallel(max(1, count // 6), 1024)


def two_axes(layers: int = 4, size: int = 2048) -> str:
  """Two collectives per layer, over the rows and over the columns of a 2 by 4 mesh: their groups share one device."""
  shape = f"f32[{size},{size}]{{1,0}}"
  rows, columns = "replica_groups={{0,1,2,3},{4,5,6,7}}", "replica_groups={{0,4},{1,5},{2,6},{3,7}}"
  lines = [f"%x = {shape} parameter(0)", f"%w = {shape} parameter(1)"]
  last, results = "x", []
  for i in range(layers):
    lines.append(f"%dot.{i} = {shape} dot(%{last}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
    for axis, (name, groups_text) in enumerate((("row", rows), ("column", columns))):
      channel = 2 * i + axis + 1
      lines.append(
        f"%{name}-start.{i} = {shape} all-reduce-start(%dot.{i}), channel_id={channel}, {groups_text}, "
        "use_global_device_ids=true, to_apply=%add"
        if axis == 0
        else f"%{name}-start.{i} = ({shape}, {shape}) collective-permute-start(%dot.{i}), channel_id={channel}, "
        "source_target_pairs={{0,4},{4,0},{1,5},{5,1},{2,6},{6,2},{3,7},{7,3}}"
      )
      done = "all-reduce-done" if axis == 0 else "collective-permute-done"
      lines.append(f"%{name}-done.{i} = {shape} {done}(%{name}-start.{i})")
      results.append(f"%{name}-done.{i}")
    last = f"dot.{i}"
  types = ", ".join([shape] * len(results))
  lines.append(f"ROOT %out = ({types}) tuple({', '.join(results)})")
  return _module("two_axes", lines)


def pipelined_loop(trips: int = 8, size: int = 2048) -> str:
  """A loop whose body sends what the trip before has made, and computes meanwhile; the wait comes right after the start."""
  shape = f"f32[{size},{size}]{{1,0}}"
  state = f"(s32[], {shape}, {shape}, {shape})"
  before = f"""%body (p: {state}) -> {state} {{
  %p = {state} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %here = {shape} get-tuple-element(%p), index=1
  %ready = {shape} get-tuple-element(%p), index=2
  %w = {shape} get-tuple-element(%p), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %send-start = ({shape}, {shape}) collective-permute-start(%ready), channel_id=1, source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}
  %send-done = {shape} collective-permute-done(%send-start)
  %made = {shape} dot(%here, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %again = {shape} dot(%made, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT %state = {state} tuple(%next, %send-done, %again, %w)
}}

%condition (q: {state}) -> pred[] {{
  %q = {state} parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant({trips})
  ROOT %less = pred[] compare(%k, %n), direction=LT
}}
"""
  lines = [
    f"%x = {shape} parameter(0)",
    f"%y = {shape} parameter(1)",
    f"%v = {shape} parameter(2)",
    "%zero = s32[] constant(0)",
    f"%x.copy = {shape} copy(%x)",
    f"%y.copy = {shape} copy(%y)",
    f"%init = {state} tuple(%zero, %x.copy, %y.copy, %v)",
    f"%loop = {state} while(%init), condition=%condition, body=%body",
    f"ROOT %result = {shape} get-tuple-element(%loop), index=2",
  ]
  return _module("pipelined_loop", lines, 4, before)


def carried_receive(trips: int = 6, size: int = 2048) -> str:
  """A loop whose body waits at its beginning for what the trip before has begun to receive at its end."""
  shape = f"f32[{size},{size}]{{1,0}}"
  flight = f"({shape}, u32[], token[])"
  state = f"(s32[], {flight}, {shape}, {shape})"
  pairs = 'frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2},{2,3},{3,0}}"}'
  before = f"""%body (p: {state}) -> {state} {{
  %p = {state} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %flying = {flight} get-tuple-element(%p), index=1
  %have = {shape} get-tuple-element(%p), index=2
  %w = {shape} get-tuple-element(%p), index=3
  %landed = ({shape}, token[]) recv-done(%flying), channel_id=1
  %got = {shape} get-tuple-element(%landed), index=0
  %after = token[] after-all()
  %flight = {flight} recv(%after), channel_id=1, {pairs}
  %made = {shape} dot(%have, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %mixed = {shape} add(%made, %got)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %state = {state} tuple(%next, %flight, %mixed, %w)
}}

%condition (q: {state}) -> pred[] {{
  %q = {state} parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant({trips})
  ROOT %less = pred[] compare(%k, %n), direction=LT
}}
"""
  lines = [
    f"%x = {shape} parameter(0)",
    f"%v = {shape} parameter(1)",
    "%zero = s32[] constant(0)",
    "%begin = token[] after-all()",
    f"%first = {flight} recv(%begin), channel_id=1, {pairs}",
    f"%x.copy = {shape} copy(%x)",
    f"%init = {state} tuple(%zero, %first, %x.copy, %v)",
    f"%loop = {state} while(%init), condition=%condition, body=%body",
    f"%last = {flight} get-tuple-element(%loop), index=1",
    f"%end = ({shape}, token[]) recv-done(%last), channel_id=1",
    f"ROOT %result = {shape} get-tuple-element(%loop), index=2",
  ]
  return _module("carried_receive", lines, 4, before)


def tensor_parallel(layers: int = 4, size: int = 2048, partitions: int = 8) -> str:
  """Two halves of a batch through layers that gather before and scatter after; nothing overlaps as it stands."""
  full, part = f"bf16[{size},{size}]{{1,0}}", f"bf16[{size // partitions},{size}]{{1,0}}"
  wrapped = f"""%scatter_of (s: {full}) -> {part} {{
  %s = {full} parameter(0)
  ROOT %scattered = {part} reduce-scatter(%s), channel_id=99, {groups(partitions)}, dimensions={{0}}, to_apply=%add16
}}
"""
  add16 = (
    ADD.replace("%add ", "%add16 ")
    .replace("f32", "bf16")
    .replace("%x", "%x16")
    .replace("%y", "%y16")
    .replace("%sum", "%sum16")
  )
  lines = [f"%a = {part} parameter(0)", f"%b = {part} parameter(1)", f"%w = {full} parameter(2)"]
  last = {"a": "a", "b": "b"}
  for i in range(layers):
    for h in ("a", "b"):
      t = f"{h}.{i}"
      lines += [
        f"%gather-start.{t} = ({part}, {full}) all-gather-start(%{last[h]}), channel_id=1, {groups(partitions)}, dimensions={{0}}",
        f"%gather-done.{t} = {full} all-gather-done(%gather-start.{t})",
        f"%in.{t} = {full} dot(%gather-done.{t}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
        f"%out.{t} = {full} dot(%in.{t}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
        f"%scatter-start.{t} = (({full}), {part}) async-start(%out.{t}), calls=%scatter_of",
        f"%scatter-done.{t} = {part} async-done(%scatter-start.{t})",
      ]
      last[h] = f"scatter-done.{t}"
  lines.append(f"ROOT %both = ({part}, {part}) tuple(%{last['a']}, %{last['b']})")
  return _module("tensor_parallel", lines, partitions, ADD + "\n" + add16 + "\n" + wrapped)


def activations_out_and_in(layers: int = 5, size: int = 8192) -> str:
  """Activations go to the host after their layer and come back for the backward pass, each copy waited for at once."""
  here, there = f"bf16[{size},{size}]{{1,0}}", f"bf16[{size},{size}]{{1,0:S(5)}}"
  dot = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
  lines = [f"%x = {here} parameter(0)", f"%w = {here} parameter(1)"]
  last = "x"
  for i in range(layers):
    lines += [
      f"%made.{i} = {here} dot(%{last}, %w), {dot}",
      f"%out-start.{i} = ({there}, {here}, u32[]) copy-start(%made.{i})",
      f"%out-done.{i} = {there} copy-done(%out-start.{i})",
    ]
    last = f"made.{i}"
  grads = []
  for i in reversed(range(layers)):
    lines += [
      f"%in-start.{i} = ({here}, {there}, u32[]) copy-start(%out-done.{i})",
      f"%in-done.{i} = {here} copy-done(%in-start.{i})",
      f"%grad.{i} = {here} dot(%in-done.{i}, %{last}), {dot}",
      f"%back.{i} = {here} dot(%{last}, %w), {dot}",
    ]
    last = f"back.{i}"
    grads.append(f"%grad.{i}")
  types = ", ".join([here] * len(grads))
  lines.append(f"ROOT %out = ({types}) tuple({', '.join(grads)})")
  return _module("activations", lines, 1)


CORPUS = {
  "data parallel": lambda: data_parallel(6),
  "data parallel, 16 layers": lambda: data_parallel(16, 1024),
  "tensor parallel": tensor_parallel,
  "two axes": two_axes,
  "pipelined loop": pipelined_loop,
  "carried receive": carried_receive,
  "arrays in": lambda: offload(4),
  "activations out and in": activations_out_and_in,
}


FILES = {path.stem: path for path in sorted((pathlib.Path(__file__).parent / "corpus").glob("*.hlo"))}
NAMES = (*CORPUS, *FILES)


def load(name: str) -> hlo.Module:
  """A module of the corpus, with pairs."""
  if name in CORPUS:
    return hlo.parse(CORPUS[name]())
  module = hlo.parse(FILES[name].read_text(encoding="utf-8"))
  if not any(i.opcode.endswith("-start") for i in module.instructions()):
    hlo.run_passes(module, ["async_collectives"])
  return module
