"""Native collectives: collectives between CPU devices become kernel calls, which cost less than XLA's rendezvous.

    r = all-reduce(x, y), {{0,1},{2,3}}, add    →       r = custom-call(table, bitcast(x), bitcast(y), position)

XLA lets every device sleep until the last one has arrived, and wakes them all. In a kernel of `tilewright.collectives` nothing waits: the
last device to arrive works for all. All-reduce, all-gather, reduce-scatter, all-to-all and collective-permute are replaced, with any number
of operands. The kernels register themselves (`plugins`); this module does not depend on them.

Precondition: dense arrays of one layout, which the kernel sees as (outer, members, inner) around the dimension that is gathered,
scattered or exchanged; a reduction by one instruction; one replica, groups of one size; no control edges; operands of `min_bytes` to
`max_bytes` together. All devices meet in a kernel, whatever the groups are: a collective of several groups, or a permute, must not be
inside of a branch or of a loop with a computed end, which some devices may execute more often than others. *Proof.* The kernel of a
device accesses the arrays of every member of its group after all have arrived at the call, and computes what the collective is specified
to; all have finished before any continues. Sums are taken in order of the ranks, in float32 for smaller floats: bits may differ from XLA's.

Where no other instruction of the module can wait for another device, its calls say so (`only_gangs`), and devices share threads.

Every decision is logged at the level INFO by the logger `tilewright.hlo.native_collectives`. The pass is off unless it is installed:

    tilewright.hlo.install(["native_collectives{max_bytes=8192}"])
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, reducer
from tilewright.hlo.passes.device_values import device_groups
from tilewright.hlo.passes.while_loops import always_reached
from tilewright.hlo.shape import Shape
from tilewright.runtime import plugins

logger = logging.getLogger("tilewright.hlo.native_collectives")

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Request:
  """What a kernel is to compute. Operands and results are arrays of one type, with these dimensions.

  kind         operands                     results
  all_reduce   (n,) each                    the same
  gather       (outer, inner) each          (outer, members, inner)
  scatter      (outer, members, inner)      (outer, inner)
  exchange     (outer, members, inner)      the same; parts are of the middle dimension
  exchange     (n,) for each member         the same; parts are operands
  permute      (n,) each                    the same
  """

  kind: str
  dtype: np.dtype
  operands: tuple[tuple[int, ...], ...]
  results: tuple[tuple[int, ...], ...]
  devices: int
  groups: Groups = ()
  op: str = "sum"
  sources: tuple[int, ...] = ()  # of a permutation: for each device the one whose value it gets, or -1
  title: str = ""
  only_gangs: bool = False
  always_reached: bool = True  # by all devices, equally often


@dataclass(frozen=True)
class Call:
  """A custom call on (table, operands, the device's number as s32)."""

  instruction: Instruction
  table: np.ndarray


Kernel = Callable[[Request], "Call | str"]  # a call, or a reason why there is none
KERNELS: list[Kernel] = []
NEVER_WAIT: set[str] = set()  # targets of custom calls that have side effects, and do not block their thread
_OPS = {"add": "sum", "maximum": "max", "minimum": "min", "and": "and", "or": "or"}
_KINDS = {
  "all-reduce": "all_reduce",
  "all-gather": "gather",
  "reduce-scatter": "scatter",
  "all-to-all": "exchange",
  "collective-permute": "permute",
}
_WAITING = frozenset({"send", "recv", "send-done", "recv-done", "infeed", "outfeed", "async-start", "async-done"})
_COLLECTIVES = frozenset(_KINDS) | {"collective-broadcast", "ragged-all-to-all"}
_SHORTEST_ROW = 64  # bytes: shorter rows of a gathered or scattered dimension are not worth a kernel


def register_kernel(kernel: Kernel) -> Kernel:
  """Offer kernels to the pass."""
  KERNELS.append(kernel)
  return kernel


@register_pass("native_collectives")
@dataclass(frozen=True)
class NativeCollectives(Pass):
  """Calls kernels of `tilewright.collectives` for collectives between CPU devices."""

  min_bytes: int = 0
  max_bytes: int = 1 << 62
  kinds: str = "all"  # or some of all_reduce, gather, scatter, exchange and permute, with + between them

  def run(self, module: Module) -> bool:
    asked = {i: self._request(i, module) for i in module.instructions() if i.opcode in _KINDS}
    found = {i: _kernel(r) if isinstance(r, Request) else r for i, r in asked.items()}
    if _only_gangs(module, {i for i, call in found.items() if isinstance(call, Call)}):
      found = {i: _kernel(replace(r, only_gangs=True)) if isinstance(r, Request) else r for i, r in asked.items()}
    for instruction, call in found.items():
      logger.info("%%%s: %s", instruction.name, "a kernel" if isinstance(call, Call) else call)
      request = asked[instruction]
      if isinstance(call, Call) and isinstance(request, Request):
        _splice(instruction, request, call)
    return any(isinstance(call, Call) for call in found.values())

  def _request(self, instruction: Instruction, module: Module) -> Request | str:
    """What a collective asks for, or why it stays."""
    kind, shapes = _KINDS[instruction.opcode], _arrays(instruction)
    assert instruction.parent is not None
    if self.kinds != "all" and kind not in self.kinds.split("+"):
      return f"it is not one of {self.kinds}"
    if has_control_edges(instruction) or instruction.sharding is not None:
      return "it is ordered by control edges, or sharded"
    if module.replica_count != 1:
      return "its groups are of replicas"
    if problem := _unsuited(shapes):
      return problem
    nbytes = sum(o.shape.num_elements * max(1, o.shape.dtype.itemsize) for o in instruction.operands)
    if not max(1, self.min_bytes) <= nbytes <= self.max_bytes:
      return f"it has {nbytes:,} bytes; min_bytes is {self.min_bytes:,} and max_bytes is {self.max_bytes:,}"
    title = f"{kind} %{instruction.name}{_line(instruction)}"
    request = Request(kind, np.dtype(shapes[0].dtype), (), (), module.num_partitions, title=title)
    found = _permutation(instruction, request) if kind == "permute" else _in_groups(instruction, request, module)
    return replace(found, always_reached=always_reached(instruction.parent)) if isinstance(found, Request) else found


def _arrays(instruction: Instruction) -> list[Shape]:
  """The shapes of operands and results."""
  results = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  return [*(o.shape for o in instruction.operands), *results]


def _order(shape: Shape) -> tuple[int, ...]:
  """The dimensions as they are in memory, the major one first."""
  return shape.layout.minor_to_major[::-1] if shape.layout is not None else tuple(range(len(shape.dimensions)))


def _unsuited(shapes: list[Shape]) -> str | None:
  for shape in shapes:
    if not shape.is_array or shape.is_dynamic:
      return "it is not of arrays of known sizes"
    if shape.layout is not None and (shape.layout.tiles or shape.layout.element_size_in_bits):
      return "it is tiled or packed"
  if any(len({_order(s) for s in shapes if len(s.dimensions) == n}) > 1 for n in {len(s.dimensions) for s in shapes}):
    return "its operands and results have several layouts"
  if len({s.element_type for s in shapes}) > 1:
    return "its operands have several types"
  return None


def _permutation(instruction: Instruction, request: Request) -> Request | str:
  pairs = instruction.attrs.get("source_target_pairs") or ()
  if not instruction.attrs.get("channel_id") or len(_arrays(instruction)) != 2 * len(instruction.operands):
    return "its pairs are of replicas, or it writes in place"
  sources = [-1] * request.devices
  for source, target in pairs:
    sources[target] = source
  flat = tuple((o.shape.num_elements,) for o in instruction.operands)
  return replace(request, operands=flat, results=flat, sources=tuple(sources))


def _in_groups(instruction: Instruction, request: Request, module: Module) -> Request | str:
  groups = tuple(tuple(g) for g in device_groups(instruction, module))
  if sorted(d for g in groups for d in g) != list(range(request.devices)):
    return "its groups do not name every device once"
  members = len(groups[0])
  if members < 2 or len({len(g) for g in groups}) > 1:
    return "its groups have one device, or differ in size"
  op = "sum"
  if instruction.opcode in ("all-reduce", "reduce-scatter"):
    found = reducer(instruction)
    if found not in _OPS:
      return f"its reduction is {found or 'several instructions'}, not one of {', '.join(_OPS)}"
    op = _OPS[found]
  shapes = [_views(instruction, o.shape, members) for o in instruction.operands]
  if instruction.opcode == "all-to-all" and instruction.shape.is_tuple and len(instruction.operands) != members:
    return "it does not have an operand for each member"
  for operand, result in shapes:
    if len(operand) > 1 and operand[0] > 1 and operand[-1] * request.dtype.itemsize < _SHORTEST_ROW:
      return f"rows of {operand[-1]} elements are too short"
    assert math.prod(operand) > 0 and math.prod(result) > 0
  operands, results = zip(*shapes, strict=True)
  return replace(request, operands=operands, results=results, groups=groups, op=op)


def _views(instruction: Instruction, shape: Shape, members: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
  """An operand and its result as the kernel sees them."""
  if instruction.opcode == "all-reduce" or (instruction.shape.is_tuple and instruction.opcode == "all-to-all"):
    return (shape.num_elements,), (shape.num_elements,)
  (dimension,) = instruction.attrs["dimensions"]
  order = _order(shape)
  outer = math.prod(shape.dimensions[d] for d in order[: order.index(dimension)])
  inner = shape.num_elements // outer
  if instruction.opcode == "all-gather":
    return (outer, inner), (outer, members, inner)
  whole = (outer, members, inner // members)
  return whole, whole if instruction.opcode == "all-to-all" else (outer, inner // members)


def _kernel(request: Request) -> Call | str:
  plugins.load("native_collectives")
  if not KERNELS:
    return "no kernels are registered (importing tilewright.collectives registers its own)"
  return KERNELS[-1](request)


def _only_gangs(module: Module, replaced: set[Instruction]) -> bool:
  """Whether nothing but the replaced collectives can wait for another device."""
  return not any(_may_wait(i) for i in module.instructions() if i not in replaced)


def _may_wait(instruction: Instruction) -> bool:
  opcode = instruction.opcode
  if opcode == "custom-call" and instruction.attrs.get("custom_call_has_side_effect"):
    return instruction.attrs.get("custom_call_target") not in NEVER_WAIT
  return opcode in _WAITING or opcode.removesuffix("-start").removesuffix("-done") in _COLLECTIVES


def _line(instruction: Instruction) -> str:
  """Where the program asks for it."""
  file, line = (getattr(instruction.metadata, name, "") for name in ("source_file", "source_line"))
  return f" at {file}:{line}" if file else ""


def _splice(instruction: Instruction, request: Request, call: Call) -> None:
  """The call, in place of a collective."""
  computation = instruction.parent
  assert computation is not None
  b = Builder(computation, before=instruction, metadata=instruction.metadata)
  element = instruction.operands[0].shape.element_type
  viewed = [b.op("bitcast", (o,), Shape.array(element, v)) for o, v in zip(instruction.operands, request.operands)]
  position = b.op("bitcast", (b.op("partition-id", (), Shape.array("u32", ())),), Shape.array("s32", ()))
  operands = [b.constant(call.table), *viewed, position]
  made = clone_instruction(call.instruction, operands, name=request.kind)
  made.attrs["operand_layout_constraints"] = tuple(o.shape.with_dimensions(o.shape.dimensions) for o in operands)
  made.metadata = instruction.metadata
  computation.insert(made, before=instruction)
  parts = [made]
  if made.shape.is_tuple:
    parts = [b.op("get-tuple-element", (made,), s, index=i) for i, s in enumerate(made.shape.tuple_shapes)]
  shapes = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  results = [b.op("bitcast", (p,), s) for p, s in zip(parts, shapes, strict=True)]
  if not instruction.shape.is_tuple:
    computation.replace(instruction, results[0])
    return
  for user in [u for u in instruction.users if u.opcode == "get-tuple-element"]:
    computation.replace(user, results[user.attrs["index"]])
  if instruction.users or instruction.is_root:
    computation.replace(instruction, b.make_tuple(*results))
  else:
    computation.remove(instruction)


__all__ = ["KERNELS", "NEVER_WAIT", "Call", "Kernel", "NativeCollectives", "Request", "register_kernel"]
