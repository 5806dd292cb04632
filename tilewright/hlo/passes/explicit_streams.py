"""Explicit streams: `_xla_stream_annotation` turns a call into an asynchronous pair that overlaps other work.

    y = call(x), to_apply=f, frontend_attributes={_xla_stream_annotation="2"}
    →   s = async-start(x), calls={ call(x) }   y = async-done(s)       on the thread "explicit"

Precondition: a call with that frontend attribute, outside fusions, in a module without a schedule. *Proof.* A pair has the value of the
call it wraps; predecessors of the call precede the start, successors follow the done.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, compiled_platform, register_pass
from tilewright.hlo.shape import Shape

ATTRIBUTE = "_xla_stream_annotation"
THREAD = "explicit"


@register_pass("explicit_stream_annotation_async_wrapper")
@dataclass(frozen=True)
class ExplicitStreams(Pass):
  """Turns calls annotated with `_xla_stream_annotation` into asynchronous pairs."""

  def run(self, module: Module) -> bool:
    if compiled_platform() == "cpu" or module.is_scheduled:
      return False  # the CPU has no thunks for pairs
    wrapped = {c for i in module.instructions() if i.opcode == "async-start" for c in i.called_computations}
    found = [
      i
      for c in module.computations
      if not c.is_fusion and c not in wrapped
      for i in c.instructions
      if i.opcode == "call" and ATTRIBUTE in i.frontend_attributes
    ]
    for call in found:
      _wrap(call, module)
    return bool(found)


def _wrap(call: Instruction, module: Module) -> None:
  computation = call.parent
  assert computation is not None
  builder = Builder(f"async_{call.name}")
  parameters = [builder.parameter(operand.shape) for operand in call.operands]
  inner = builder.computation.insert(clone_instruction(call, parameters))
  wrapper = builder.finish(inner)
  wrapper.execution_thread = THREAD
  module.add_computation(wrapper)
  shape = Shape.tuple_of(Shape.tuple_of(*(o.shape for o in call.operands)), call.shape)
  attrs = {"calls": wrapper, "async_execution_thread": THREAD}
  start = Instruction("call-start", "async-start", shape, call.operands, attrs, call.metadata)
  start.frontend_attributes = dict(call.frontend_attributes)
  done = Instruction("call-done", "async-done", call.shape, (start,), {"calls": wrapper}, call.metadata)
  done.frontend_attributes = dict(call.frontend_attributes)
  computation.insert(start, before=call)
  computation.insert(done, before=call)
  for predecessor in call.control_predecessors:
    start.add_control_predecessor(predecessor)
    call.remove_control_predecessor(predecessor)
  computation.replace(call, done)
