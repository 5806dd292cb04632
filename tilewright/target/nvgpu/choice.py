"""Whether a kernel's layouts are inferred, and what for.

Most kernels over rows have one shape and one sensible layout, the `ordinary` one, and are compiled without asking. Layouts are inferred
where there is something to choose: matrix products, transposes, parts of tiles, reductions that do not go along rows; and where the user
says something about layouts. The ops of a kernel never exclude each other, so that without such hints there always is a solution (see
`constraints`); the best that the budget allows to find is taken. With hints there may be none: then the error says why.

Scratch buffers that are only read and written as a whole, and are small enough, live in registers then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout.build import blocked_for
from tilewright.layout.value import Layout, read_layout
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.distribution import MOST_SUMS
from tilewright.tile.initial import scratch_to_poison
from tilewright.tile.ir import Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.types import RefType

if TYPE_CHECKING:
  from tilewright.target.nvgpu.inference import Inferred

_BUDGET, _BUDGET_PER_OP = 400_000, 4000  # of the search: candidates and entries of tables
_CHOICES = frozenset({"dot", "transpose", "slice", "concatenate", "layout_cast"})


def choose(kernel: NativeKernel, arch: Arch, num_warps: int) -> Inferred | None:
  """The layouts of a kernel; None if the ordinary ones will do."""
  ops = list(walk(kernel.body.body))
  if not any(_is_choice(op) for op in ops):
    return None
  from tilewright.target.nvgpu.inference import (
    infer,  # the solver is a tenth of a second to import, which most kernels can do without
  )

  refs = _register_refs(kernel, num_warps)
  budget = search_budget(len(ops))
  return infer(kernel.body, arch.name, num_warps, budget=budget, register_refs=refs, is_plain=True)


def search_budget(num_ops: int) -> int:
  """How many steps the search for the layouts of a kernel may take."""
  return max(_BUDGET, _BUDGET_PER_OP * num_ops)


def casts(kernel: NativeKernel) -> list[Layout]:
  """The layouts that the user gave."""
  return [read_layout(op.attrs["layout"]) for op in walk(kernel.body.body) if op.name == "layout_cast"]


def _is_choice(op: Op) -> bool:
  if op.name not in ("reduce", "arg_reduce"):
    return op.name in _CHOICES
  shape = op.operands[0].tile.shape
  axes = op.attrs["axes"] if op.name == "reduce" else (op.attrs["axis"],)
  long = [a for a, d in enumerate(shape) if d > 1]
  return bool(long) and any(a not in axes and a > min(axes, default=0) for a in long)


def _register_refs(kernel: NativeKernel, num_warps: int) -> list[Value]:
  """Scratch buffers that can be registers."""
  params = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  used = users(kernel.body.body)
  starts = kernel.scratch_values or (None,) * len(params)
  unwritten = scratch_to_poison(kernel, parallel_dims(kernel))
  return [
    ref
    for number, (ref, start) in enumerate(zip(params, starts))
    if start is None and number not in unwritten and _is_kept_whole(ref, used.get(ref, []), num_warps)
  ]


def _is_kept_whole(ref: Value, uses: list[Op], num_warps: int) -> bool:
  kind = ref.type
  if not isinstance(kind, RefType) or not kind.shape or not kind.size:
    return False
  if any(op.name not in ("load", "store") or (op.name == "store" and op.operands[1] is ref) for op in uses):
    return False
  return blocked_for(kind.shape, num_warps).num_registers <= MOST_SUMS
