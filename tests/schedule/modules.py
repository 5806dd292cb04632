"""HLO text of programs as XLA's GPU back end schedules them, made to any size.

The order is the one XLA tends to give: a start right where its operand is ready or right before its done, a done right before its
first use.
"""

from __future__ import annotations

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
