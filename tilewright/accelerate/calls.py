"""A compiled kernel as an instruction of XLA's module: a custom call with our FFI handler.

XLA plans its buffers as for any instruction: operands and results have the layouts that they had before. Code is compiled once, kept on
disk by what it is made of, and held in memory while the `Codes` of an acceleration are alive or an executable uses it.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.accelerate.axes import Axes
from tilewright.accelerate.graph import ELEMENTWISE, Graph, Refused, laid_out, layouts_are_settled, unsettled
from tilewright.accelerate.tiles import Tiling, partial_sizes
from tilewright.hlo import Builder, Computation, Instruction, Shape
from tilewright.hlo.literal import Literal
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.values import OutputAlias
from tilewright.runtime import cache, jit
from tilewright.target.llvm.identity import identity
from tilewright.tile.native import NativeKernel

_CODE, _ON_GPU = re.compile(r'code = "([0-9a-f]+)"'), "tilewright_cuda_"


@dataclasses.dataclass(frozen=True)
class Code:
  """Machine code that XLA can call: the handler's name, and what it is told. `key` finds it on disk."""

  platform: str
  target: str
  attributes: str
  key: str
  workspace_bytes: int = 0


class Codes:
  """The code of the kernels of an acceleration, kept in memory."""

  def __init__(self) -> None:
    self._held: list[Any] = []
    self._lock = threading.Lock()

  def keep(self, held: Any) -> None:
    """Keep something that holds code."""
    with self._lock:
      self._held.append(held)

  def keep_named(self, call: Instruction) -> str:
    """Keep the code that a custom call names; returns the key that finds it on disk, or nothing."""
    found, target = _CODE.search(call.backend_config), call.attrs["custom_call_target"]
    if not found and not target.startswith(_ON_GPU):
      return ""
    from tilewright.target.cpu import _code_cache as on_cpu
    from tilewright.target.nvgpu.host.compiled import _code_cache as on_gpu

    name = on_cpu.full_name(found[1]) if found else on_gpu.full_name(target.removeprefix(_ON_GPU))
    if name:
      self.keep((on_cpu if found else on_gpu).find(name))
    return name

  def compile(self, kernel: NativeKernel, platform: str) -> Code:
    """Native code for a kernel; `Refused` where the target cannot make any."""
    try:
      return self._cpu(kernel) if platform == "cpu" else self._cuda(kernel)
    except errors.TilewrightError as e:
      raise Refused(f"it does not compile: {e}") from e

  def _cpu(self, kernel: NativeKernel) -> Code:
    from tilewright.target import cpu
    from tilewright.target.cpu import lifetime

    key_text = identity(kernel, "target/cpu")
    held = cpu.compile_kernel(kernel)
    self.keep(held)
    key = "" if key_text is None else cache.key(key_text, *jit.environment())
    return Code("cpu", lifetime.TARGET, f'{{{lifetime.ATTRIBUTE} = "{held.name}"}}', key)

  def _cuda(self, kernel: NativeKernel) -> Code:
    from tilewright.target import nvgpu
    from tilewright.target.nvgpu.host.compiled import _code_cache as on_gpu

    callee = nvgpu.compile_kernel(kernel, None)
    if callee.poisoned:
      raise Refused("some elements of an output are not written")
    self.keep(callee)  # the kernel stays loaded until XLA has built the executable, which holds it from then on
    return Code("cuda", callee.name, "{}", on_gpu.full_name(callee.name.removeprefix(_ON_GPU)), callee.workspace_bytes)


def leaf_values(graph: Graph, replaced: dict[Instruction, Instruction]) -> list[Instruction]:
  """The instructions that a kernel of a region reads, in the order of its leaves."""
  return [current(n.source, replaced) for n in graph.leaves if n.source is not None]


def insert(
  code: Code,
  graph: Graph,
  tiling: Tiling,
  reused: Sequence[tuple[int, int]],
  shapes: Sequence[Shape],
  name: str,
  replaced: dict[Instruction, Instruction],
) -> Instruction:
  """Replace a region with a call. `replaced` maps instructions that calls replaced to their new values, and is updated."""
  first = graph.outputs[0].source
  computation = first.parent
  assert computation is not None
  call = call_of(code, leaf_values(graph, replaced), shapes, name, first)
  is_tuple = call.shape.is_tuple
  if reused:
    at = lambda k: (k,) if is_tuple else ()
    call.attrs["output_to_operand_aliasing"] = tuple(OutputAlias(at(k), into, ()) for into, k in reused)
  for k, output in enumerate(graph.outputs):
    value = call
    if is_tuple:
      value = element_of(computation, call, k)
    if k in tiling.partial_sums:
      value = _added(computation, value, len(partial_sizes(tiling, k)), output.shape)
    replace(output.source, output.index, value, replaced)
  return call


# What a value must be made by to have a buffer of its own. XLA gives its own fusions the buffer of an operand that ends there, too.
_OWN_BUFFER = frozenset({"fusion", "custom-call", "dot", "convolution", "copy", "transpose", "reduce", *ELEMENTWISE})


def _has_own_buffer(value: Instruction) -> bool:
  is_element = value.opcode == "get-tuple-element" and value.operands[0].opcode in ("fusion", "custom-call")
  return is_element or value.opcode in _OWN_BUFFER


def overwritten(
  graph: Graph, axes: Axes, tiling: Tiling, operands: Sequence[Instruction], members: Collection[Instruction]
) -> tuple[tuple[int, int], ...]:
  """The operands whose buffers results may have: pairs of their numbers.

  The operand has the shape, the type, and the order in memory of the result, so that each instance reads and writes the same block of both;
  the kernel is told, and reads an element before its place is written. Nothing but the members of the region may use it.
  """
  if not layouts_are_settled.get():
    return ()
  by_dims = lambda node: [axes.dim(node, i) for i in range(len(node.dims))]
  found: dict[int, int] = {}
  for k, output in enumerate(graph.outputs):
    if k in tiling.partial_sums:
      continue
    for number, (leaf, operand) in enumerate(zip(graph.leaves, operands, strict=True)):
      is_alike = leaf.dtype == output.node.dtype and by_dims(leaf) == by_dims(output.node)
      is_own = _has_own_buffer(operand) and operands.count(operand) == 1 and not operand.is_root
      is_free = number not in found and all(u in members for u in operand.users)
      if is_alike and is_own and is_free and operand.shape == output.shape:
        found[number] = k
        break
  return tuple(found.items())


def call_of(
  code: Code, operands: Sequence[Instruction], shapes: Sequence[Shape], name: str, before: Instruction
) -> Instruction:
  """A custom call of a kernel."""
  results = list(shapes)
  if code.workspace_bytes:
    results.append(Shape.array("u8", (code.workspace_bytes,)))
  call = Instruction(
    name,
    "custom-call",
    Shape.tuple_of(*results) if len(results) > 1 else results[0],
    tuple(operands),
    {
      "custom_call_target": code.target,
      "operand_layout_constraints": tuple(laid_out(o.shape) for o in operands),
      "api_version": "API_VERSION_TYPED_FFI",
    },
    before.metadata,
    backend_config=code.attributes,
  )
  assert before.parent is not None
  return before.parent.insert(call, before=before)


def in_row_major(x: Instruction, before: Instruction) -> Instruction:
  """A value that a call reads row-major, where a module does not say whether its layouts are final.

  If they are, a copy moves the elements; if XLA will choose them anew, the copy is one more value with a layout of its choice.
  """
  return in_layout_of(x, unsettled(x.shape), before)


def in_layout_of(x: Instruction, shape: Shape, before: Instruction) -> Instruction:
  if layouts_are_settled.get() or x.shape.layout is None or shape.layout is None or x.shape == shape:
    return x
  assert before.parent is not None
  return before.parent.insert(Instruction("copy", "copy", shape, (x,), {}, before.metadata), before=before)


def element_of(computation: Computation, call: Instruction, k: int) -> Instruction:
  shape = call.shape.tuple_shapes[k]
  made = Instruction(f"{call.name}.{k}", "get-tuple-element", shape, (call,), {"index": k}, call.metadata)
  return computation.insert(made, after=call)


def current(instruction: Instruction, replaced: dict[Instruction, Instruction]) -> Instruction:
  while instruction in replaced:
    instruction = replaced[instruction]
  return instruction


def replace(
  source: Instruction, index: int | None, value: Instruction, replaced: dict[Instruction, Instruction]
) -> None:
  """A value takes the place of an instruction, or of one element of its tuple."""
  old = [source]
  if index is not None:
    old = [u for u in source.users if u.opcode == "get-tuple-element" and u.attrs["index"] == index]
  for instruction in old:
    instruction.replace_all_uses_with(value)
    replaced[instruction] = value


def remove_dead(instructions: Sequence[Instruction]) -> None:
  """Remove what nothing uses any more of these, and of what only they used."""
  waiting, effects = list(instructions), Effects()
  while waiting:
    gone = waiting.pop()
    if gone.parent is None or gone.opcode == "parameter" or effects.of(gone):
      continue
    elements = [u for u in gone.users if u.opcode == "get-tuple-element" and u.is_dead]
    gone.parent.remove_all(elements)
    if gone.is_dead:
      operands = gone.operands
      gone.parent.remove(gone)
      waiting += operands


def _added(computation: Computation, parts: Instruction, count: int, shape: Shape) -> Instruction:
  """The sum of parts along the leading dimensions."""
  module = computation.parent
  assert module is not None
  b = Builder("parts_added")
  scalar = Shape.array(shape.element_type, ())
  b.add(b.parameter(scalar), b.parameter(scalar))
  adder = b.computation
  adder.root = adder.instructions[-1]
  module.add_computation(adder)
  zero = Instruction("zero", "constant", scalar, (), {"literal": Literal.of(np.zeros((), scalar.dtype))})
  computation.insert(zero, after=parts)
  total = Instruction(
    "parts_sum", "reduce", shape, (parts, zero), {"dimensions": tuple(range(count)), "to_apply": adder}, parts.metadata
  )
  return computation.insert(total, after=zero)


def readable(text: str) -> str:
  """A name for a kernel out of names of instructions."""
  return re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:60] or "fusion"
