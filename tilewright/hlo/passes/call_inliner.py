"""Call inlining: a call becomes a copy of its callee's body.

Precondition: the callee runs in the caller's thread, the call has no requirements of its own (a back-end config, `inlineable="false"`,
a frontend attribute of XLA's such as `_xla_compute_type`, a sharding other than the root's; composites if `preserve_composites`),
and the callee's root is not marked for the CPU's parallel loops. A scheduling group of the call becomes the group of the inlined
instructions. Proof: parameters are replaced by
operands, and HLO values do not change; control edges of the call become edges of every inlined instruction.

Copies of one callee are separate transfers: their collectives, sends and receives get new channel ids, except for transfers that
begin or end outside of the callee. Inlining is exponential in
the depth of shared calls, so a call whose copy would make the caller larger than `max_instructions` stays.

Names record where an instruction comes from: its op_name becomes `call/op`, slashes at the ends stripped; not if it already has that
prefix, and not if the result would reach 1,024 characters. Stack frames likewise: the op's frames continue in the
call's, unless they already do. The bodies of loops and the branches of conditionals inside the callee are renamed too;
called and embedded computations (reductions, fusions) are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tilewright.hlo.analysis import CallGraph, call_graph
from tilewright.hlo.clone import clone_computation, copy_body
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import next_channel, open_channels
from tilewright.hlo.passes.dce import DeadCode
from tilewright.hlo.values import OpMetadata, StackFrame

MAX_OP_NAME = 1024
SCHEDULING_GROUP = "_scheduling_group_id"


@register_pass("call_inliner")
@dataclass(frozen=True)
class CallInliner(Pass):
  """Inlines calls, and keeps where instructions came from in their op names and stack frames."""

  preserve_composites: bool = False
  single_call_site: bool = False  # only what is called once, so that the module does not grow
  max_instructions: int = 100_000  # of a computation, with the loops in it, that calls are copied into

  def run(self, module: Module) -> bool:
    graph = call_graph(module)
    inliner = _Inliner(module, graph)
    changed = False
    for computation in graph.post_order:  # callees first: what is copied holds no call any more
      if computation.is_fusion:
        continue
      wanted = [i for i in computation.instructions if i.opcode == "call" and self.may_inline(i)]
      if self.single_call_site:
        wanted = [i for i in wanted if graph.called_once(i.called_computations[0])]
      calls = inliner.affordable(computation, wanted, self.max_instructions)
      if calls:
        inliner.inline(computation, calls)
        changed = True
    inliner.frames.store()
    if changed:
      DeadCode(narrow=False).run(module)
    return changed

  def may_inline(self, call: Instruction) -> bool:
    callee = call.called_computations[0]
    assert call.parent is not None
    if callee.execution_thread != call.parent.execution_thread or call.backend_config:
      return False
    attributes = call.frontend_attributes
    if attributes.get("inlineable", "true") != "true" or any(name.startswith("_xla") for name in attributes):
      return False
    if self.preserve_composites and call.attrs.get("is_composite"):
      return False
    if call.sharding is not None and call.sharding != callee.root.sharding:
      return False
    return "outer_dimension_partitions" not in callee.root.backend_config


_OWN_BODIES = frozenset({"while", "conditional", "fusion", "async-start", "async-update", "async-done"})


class _Inliner:
  def __init__(self, module: Module, graph: CallGraph) -> None:
    self.module = module
    self.graph = graph
    self.frames = _Frames(module)
    self._sizes: dict[Computation, int] = {}
    self._next_channel = next_channel(module)

  def affordable(self, computation: Computation, calls: list[Instruction], limit: int) -> list[Instruction]:
    """Those of the calls whose copies do not make the computation larger than the limit. What is moved costs nothing."""
    size, chosen = self._size(computation), []
    for call in calls:
      callee = call.called_computations[0]
      own = self._size(callee)
      if self.graph.called_once(callee) or size + own <= limit:
        size += own
        chosen.append(call)
    self._sizes[computation] = size
    return chosen

  def _size(self, computation: Computation) -> int:
    if computation not in self._sizes:
      inside = [c for i in computation.instructions if i.opcode in _OWN_BODIES for c in i.called_computations]
      self._sizes[computation] = len(computation.instructions) + sum(map(self._size, inside))
    return self._sizes[computation]

  def inline(self, computation: Computation, calls: list[Instruction]) -> None:
    wanted = set(calls)
    instructions: list[Instruction] = []
    for instruction in computation.instructions if self.module.is_scheduled else computation.topological_order():
      instructions += self._body(instruction, computation) if instruction in wanted else [instruction]
    computation.instructions = instructions

  def _body(self, call: Instruction, computation: Computation) -> list[Instruction]:
    """The instructions that replace the call."""
    callee = call.called_computations[0]
    moves = self.graph.called_once(callee)  # then its instructions themselves, names and all
    body, result = _moved(call, callee) if moves else _copied(call, callee)
    rename = _renaming(call, self.frames)
    group = call.frontend_attributes.get(SCHEDULING_GROUP)
    copies: dict[Computation, Computation] | None = None if moves else {}
    crosses = any(leaf.is_token for value in (*call.operands, call) for _, leaf in value.shape.leaves())
    channels = {channel: channel for channel in open_channels(body)} if crosses else dict[int, int]()
    for instruction in body:
      instruction.parent = computation
      if not moves:
        instruction.name = self.module.unique_name(instruction.name)
      if group is not None:
        instruction.frontend_attributes.setdefault(SCHEDULING_GROUP, group)
      self._rename_inlined(instruction, rename, copies, channels)
      for predecessor in call.control_predecessors:
        instruction.add_control_predecessor(predecessor)
      for successor in call.control_successors:
        successor.add_control_predecessor(instruction)
    call.replace_all_uses_with(result)
    call.drop_control_edges()
    call.set_operands(())
    call.parent = None
    if moves:
      self.module.computations.remove(callee)
      callee.parent = None
    return body

  def _rename_inlined(
    self,
    instruction: Instruction,
    rename: Callable[[Instruction], None],
    copies: dict[Computation, Computation] | None,
    channels: dict[int, int],
  ) -> None:
    """Names of an inlined instruction and of what is in its loops, branches, fusions and async computations. In a copy (`copies` is not
    None) those become copies too, and transfers get channels of their own.
    """
    rename(instruction)
    channel = instruction.attrs.get("channel_id")
    if copies is not None and channel and not instruction.attrs.get("is_host_transfer"):
      if channel not in channels:
        channels[channel], self._next_channel = self._next_channel, self._next_channel + 1
      instruction.attrs["channel_id"] = channels[channel]
    if instruction.opcode not in _OWN_BODIES:
      return
    for called in dict.fromkeys(instruction.called_computations):
      inner, shared = copies, called in self.graph.callers and not self.graph.called_once(called)
      if copies is None and shared and instruction.opcode in ("while", "conditional"):
        inner = {}  # the others that call it keep theirs
      if inner is None:
        own, is_new = called, True
      else:
        is_new = called not in inner
        if is_new:
          inner[called] = self.module.add_computation(clone_computation(called))
        own = inner[called]
        instruction.replace_called_computation(called, own)
      if is_new and (inner is not None or instruction.opcode in ("while", "conditional")):
        for part in own.instructions:
          self._rename_inlined(part, rename, inner, channels)


def _copied(call: Instruction, callee: Computation) -> tuple[list[Instruction], Instruction]:
  copies, new = copy_body(callee, {p: call.operands[p.parameter_number] for p in callee.parameters})
  return copies, new[callee.root]


def _moved(call: Instruction, callee: Computation) -> tuple[list[Instruction], Instruction]:
  body = [i for i in callee.topological_order() if i.opcode != "parameter"]
  for parameter in callee.parameters:
    parameter.replace_all_uses_with(call.operands[parameter.parameter_number])
  return body, callee.root


def _renaming(call: Instruction, frames: _Frames) -> Callable[[Instruction], None]:
  outer = call.metadata or OpMetadata()

  def rename(instruction: Instruction) -> None:
    inner = instruction.metadata
    if instruction.opcode == "parameter" or (inner is None and not outer.op_name):
      return
    inner = inner or OpMetadata()
    name, frame = joined_name(outer.op_name, inner.op_name), frames.joined(outer.stack_frame_id, inner.stack_frame_id)
    if name != inner.op_name or frame != inner.stack_frame_id:
      instruction.metadata = replace(inner, op_name=name, stack_frame_id=frame)

  return rename


def joined_name(call: str, op: str) -> str:
  """`call/op`; `op` itself if it is so already or would grow too long."""
  call, stripped = call.strip("/"), op.strip("/")
  if not call or stripped == call or stripped.startswith(call + "/"):
    return op
  name = f"{call}/{stripped}" if stripped else call
  return op if len(name) >= MAX_OP_NAME else name


class _Frames:
  """The module's stack frames, growing. Frame ids count from 1; 0 is no frame."""

  def __init__(self, module: Module) -> None:
    self.module = module
    self.rows = list(module.stack_frames.stack_frames)
    self._known: dict[tuple[int, int], int] = {}
    self._ids = {row: i for i, row in reversed(list(enumerate(self.rows, start=1)))}

  def joined(self, outer: int, inner: int) -> int:
    """The frame `inner` whose outermost frame is called from frame `outer`."""
    if not 0 < outer <= len(self.rows) or not 0 <= inner <= len(self.rows) or outer == inner:
      return inner
    if inner == 0:
      return outer
    if (outer, inner) not in self._known:
      chain = self._chain(inner)
      self._known[outer, inner] = inner if outer in chain else self._extend(outer, chain)
    return self._known[outer, inner]

  def _chain(self, frame: int) -> list[int]:
    """From a frame out to the outermost one."""
    chain: list[int] = []
    while 0 < frame <= len(self.rows) and frame not in chain:
      chain.append(frame)
      frame = self.rows[frame - 1].parent_frame_id
    return chain

  def _extend(self, parent: int, chain: list[int]) -> int:
    for frame in reversed(chain):
      row = StackFrame(self.rows[frame - 1].file_location_id, parent, self.rows[frame - 1].unknown)
      parent = self._ids.get(row, 0)
      if not parent:
        self.rows.append(row)
        parent = self._ids[row] = len(self.rows)
    return parent

  def store(self) -> None:
    if len(self.rows) != len(self.module.stack_frames.stack_frames):
      self.module.stack_frames = replace(self.module.stack_frames, stack_frames=tuple(self.rows))
