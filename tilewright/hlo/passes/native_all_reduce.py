"""Native all-reduces: small all-reduces between CPU devices become kernel calls with lower overhead than XLA's collective.

    r = all-reduce(x), {{0,1},{2,3}}, add       →       r = custom-call(table, reshape(x), position)

The kernels are those of `tilewright.collectives`, which registers them (`plugins`); this module does not depend on it. Float sums of less
than 32 bits are accumulated in float32 and rounded once, others in order of the ranks: bits may differ from XLA's.

Precondition: one operand; a reduction by one instruction; ids are devices; no control edges; at most `max_bytes` (for larger arrays the
instructions that fusion would have fused with the collective cost more than is gained). *Proof.* The kernel of a device reads the operand
of every member of its group after all have arrived at the call, and reduces them as specified; all have read before any continues.

Every decision is logged at the level INFO by the logger `tilewright.hlo.native_all_reduce`. The pass is off unless it is installed:

    tilewright.hlo.install(["native_all_reduce{max_bytes=8192}"])
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from tilewright.hlo.clone import copy_body
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, reducer
from tilewright.hlo.passes.device_values import device_groups
from tilewright.runtime import plugins

logger = logging.getLogger("tilewright.hlo.native_all_reduce")

Groups = tuple[tuple[int, ...], ...]
# A computation of one parameter that reduces it over groups of devices, given the all-reduce, the reduction's name, the groups and the
# number of devices; or a reason why there is none.
Kernel = Callable[[Instruction, str, Groups, int], Computation | str]
KERNELS: list[Kernel] = []
_OPS = {"add": "sum", "maximum": "max", "minimum": "min", "and": "and", "or": "or"}


def register_kernel(kernel: Kernel) -> Kernel:
  """Offer kernels to the pass."""
  KERNELS.append(kernel)
  return kernel


@register_pass("native_all_reduce")
@dataclass(frozen=True)
class NativeAllReduce(Pass):
  """Calls kernels of `tilewright.collectives` for small all-reduces between CPU devices."""

  max_bytes: int = 1 << 13

  def run(self, module: Module) -> bool:
    changed = False
    for instruction in [i for i in module.instructions() if i.opcode == "all-reduce"]:
      found = self._replaced(instruction, module)
      changed |= found is None
      logger.info("%%%s: %s", instruction.name, found or "a kernel")
    return changed

  def _replaced(self, instruction: Instruction, module: Module) -> str | None:
    """The reason why an all-reduce stays; None if a kernel has replaced it."""
    op, shape = reducer(instruction), instruction.shape
    if len(instruction.operands) != 1 or not shape.is_array or shape.is_dynamic:
      return "it has several operands; only all-reduces of one array are kernels"
    if op not in _OPS:
      return f"its reduction is {op or 'several instructions'}, not one of {', '.join(_OPS)}"
    if has_control_edges(instruction) or instruction.sharding is not None:
      return "it is ordered by control edges, or sharded"
    by_device = bool(instruction.attrs.get("use_global_device_ids")) and module.replica_count == 1
    if not by_device:
      return "its groups are of replicas"
    nbytes = shape.num_elements * max(1, shape.dtype.itemsize)
    if not 0 < nbytes <= self.max_bytes:
      return f"it has {nbytes:,} bytes, and max_bytes is {self.max_bytes:,}"
    operand = instruction.operands[0]
    if any(s.layout is not None and not s.layout.is_descending for s in (shape, operand.shape)):
      return "it is not in row-major order"
    plugins.load("native_all_reduce")
    if not KERNELS:
      return "no kernels are registered (importing tilewright.collectives registers its own)"
    groups = tuple(tuple(g) for g in device_groups(instruction, module))
    everyone = sorted(d for g in groups for d in g)
    if everyone != list(range(max(len(everyone), module.num_partitions))):
      return "its groups do not name every device"
    found = KERNELS[-1](instruction, _OPS[op], groups, len(everyone))
    if isinstance(found, str):
      return found
    _splice(instruction, found)
    return None


def _splice(instruction: Instruction, body: Computation) -> None:
  """What a computation of one parameter gives, in place of an instruction of one operand."""
  computation = instruction.parent
  assert computation is not None
  for inner in body.instructions:
    if inner.opcode != "custom-call" and inner.shape.is_array:  # no layouts were chosen yet
      inner.shape = inner.shape.with_dimensions(inner.shape.dimensions)
  copies, new = copy_body(body, {p: instruction.operands[0] for p in body.parameters})
  for copy in copies:
    copy.metadata = instruction.metadata
    computation.insert(copy, before=instruction)
  root = new[body.root]
  users, is_root = instruction.users, instruction.is_root
  for user in users:
    user.replace_uses_of(instruction, root)
  if is_root:
    computation.root = root
  computation.remove(instruction)


__all__ = ["KERNELS", "Kernel", "NativeAllReduce", "register_kernel"]
