"""Whether a kernel's layouts are inferred, and for which of its refs.

Most kernels over rows have one shape and one sensible layout, the `ordinary` one, and are compiled without inference. Layouts are inferred
where there is a choice: matrix products, transposes, parts of tiles, reductions that do not go along rows; and where the user gives layout
hints. The ops of a kernel never exclude each other, so that without such hints there always is a solution (see
`constraints`); the best that the budget allows to find is taken. With hints there may be none: then the error says why.

Scratch buffers that are only read and written as a whole, and are small enough, live in registers then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright import errors
from tilewright.layout.build import blocked_for
from tilewright.layout.layout import Layout, read_layout
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.threads import MAX_ACCUMULATORS
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, STORE_ASYNC
from tilewright.target.nvgpu.passes import register_budget
from tilewright.target.nvgpu.passes.layouts.hints import accumulators as layouts_of_accumulators
from tilewright.target.nvgpu.passes.layouts.hints import given_layout, is_accumulator
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.types import RefType
from tilewright.tile.uninitialized import scratch_to_poison

if TYPE_CHECKING:
  from tilewright.target.nvgpu.passes.layouts.inference import Inferred

_BUDGET, _BUDGET_PER_OP = 400_000, 4000  # of the search: candidates and entries of tables
_FREE_SHARE = 4  # buffers that together take at most this part of shared memory are there for sure
_CHOICES = frozenset({"dot", "transpose", "slice", "concatenate", "layout_cast", "print_layout"})


def choose(kernel: NativeKernel, arch: Arch, num_warps: int) -> Inferred | None:
  """The layouts of a kernel; None if the ordinary ones will do."""
  ops = list(walk(kernel.body.body))
  shared = given_refs(kernel)
  if not any(_is_choice(op) for op in ops) and not shared and not accumulators(kernel):
    return None
  from tilewright.target.nvgpu.passes.layouts.inference import infer

  registers = _register_refs(kernel, arch, num_warps)
  return infer(
    kernel.body,
    arch,
    num_warps,
    shared_refs=[*shared, *_free_refs(kernel, arch, {*shared, *registers})],
    budget=search_budget(len(ops)),
    register_refs=registers,
    is_plain=True,
    names=_names(kernel),
    max_registers=max(MAX_ACCUMULATORS, *(_fewest(ref, arch, num_warps) for ref in accumulators(kernel)), 0),
  )


def search_budget(num_ops: int) -> int:
  """How many steps the search for the layouts of a kernel may take."""
  return max(_BUDGET, _BUDGET_PER_OP * num_ops)


def casts(kernel: NativeKernel) -> list[Layout]:
  """The layouts that the user gave, which must be for the same number of warps."""
  found = {op: read_layout(op.attrs["layout"]) for op in walk(kernel.body.body) if op.name == "layout_cast"}
  first = next(iter(found.items()), None)
  for op, own in found.items():
    if first is not None and own.num_warps != first[1].num_warps:
      raise errors.LayoutError(
        f"{kernel.name}: the layout_cast at {first[0].loc or '?'} is for {first[1].num_warps} warps, and that at {op.loc or '?'} for "
        f"{own.num_warps}. All threads of a CTA hold a tile together: give layouts of the same number of warps."
      )
  return list(found.values())


def _is_choice(op: Op) -> bool:
  if op.name not in ("reduce", "arg_reduce"):
    return op.name in _CHOICES
  shape = op.operands[0].tile.shape
  axes = op.attrs["axes"] if op.name == "reduce" else (op.attrs["axis"],)
  long = [a for a, d in enumerate(shape) if d > 1]
  return bool(long) and any(a not in axes and a > min(axes, default=0) for a in long)


# --- the user's layouts of refs ----------------------------------------------------------------------------------


def _refs(kernel: NativeKernel) -> list[Value]:
  """The refs that a body is given and allocates."""
  return [*kernel.body.params, *(op.result for op in walk(kernel.body.body) if op.name == "alloc")]


def given_refs(kernel: NativeKernel) -> list[Value]:
  """The refs in shared memory for which the user gave a layout."""
  return [v for v in _refs(kernel) if isinstance(v.type, RefType) and given_layout(v.type) is not None]


def _free_refs(kernel: NativeKernel, arch: Arch, others: set[Value]) -> list[Value]:
  """Buffers in shared memory whose layout is free: only loaded from and stored to, and certainly small enough to be there."""
  used = users(kernel.body.body)
  scratch = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  starts = kernel.scratch_values or (None,) * len(scratch)
  begun = {ref for ref, start in zip(scratch, starts) if start is not None}
  found = [v for v in _refs(kernel) if v not in others and isinstance(v.type, RefType)]
  found = [v for v in found if (v in scratch or isinstance(v.owner, Op)) and v not in copied_refs(kernel)]
  if sum(v.ref.size * v.ref.dtype.itemsize for v in found) > arch.shared_bytes // _FREE_SHARE:
    return []
  return [v for v in found if v.ref.rank > 1 and v.ref.size and v not in begun and _is_only_accessed(v, used)]


def copied_refs(kernel: NativeKernel) -> set[Value]:
  """Buffers in shared memory that explicit copies fill or drain, in a layout that TMA supports: row-major, unless the user gave another."""
  found: set[Value] = set()
  for op in walk(kernel.body.body):
    if op.name == COPY_ASYNC:
      found.add(base_of(op.operands[0]))
    load = op.operands[1].owner if op.name == STORE_ASYNC else None
    if isinstance(load, Op) and load.name in ("load", "window_load"):
      found.add(base_of(load.operands[0]))
  return found


def _is_only_accessed(ref: Value, used: Mapping[Value, list[Op]]) -> bool:
  """Whether a ref, and every part of it that is looked at, is only loaded from and stored to."""
  return all(
    _is_only_accessed(op.result, used)
    if op.name == "subview"
    else op.name in ("load", "window_load", "store", "window_store") and ref not in op.operands[1:]
    for op in used.get(ref, [])
  )


def accumulators(kernel: NativeKernel) -> list[Value]:
  """The refs that the user declared as accumulators of the tensor cores."""
  return [v for v in _refs(kernel) if isinstance(v.type, RefType) and is_accumulator(v.type)]


def given_blocks(kernel: NativeKernel) -> dict[int, Value]:
  """Those of them that are blocks, by position."""
  blocks = kernel.body.params[kernel.mapping.num_prefetch : len(kernel.body.params) - len(kernel.scratch)]
  given = given_refs(kernel)
  return {position: ref for position, ref in enumerate(blocks) if ref in given}


def _names(kernel: NativeKernel) -> dict[Value, str]:
  """What refs are called in messages."""
  mapping, params = kernel.mapping, kernel.body.params
  blocks = params[mapping.num_prefetch : len(params) - len(kernel.scratch)]
  scratch = params[len(params) - len(kernel.scratch) :]
  named = {v: f"the block of {m.origin}" for v, m in zip(blocks, mapping.block_mappings)}
  return {**named, **{v: f"scratch buffer {i}" for i, v in enumerate(scratch)}}


def _register_refs(kernel: NativeKernel, arch: Arch, num_warps: int) -> list[Value]:
  """Buffers that can be registers: those that must be, and scratch that is only read and written as a whole."""
  params = kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]
  used = users(kernel.body.body)
  starts = kernel.scratch_values or (None,) * len(params)
  unwritten = scratch_to_poison(kernel, parallel_dims(kernel))
  must = accumulators(kernel)
  for ref in must:
    _check_accumulator(kernel, ref, used.get(ref, []), arch, num_warps)
  if kernel.warpgroups > 1:  # other warpgroups see what is no accumulator
    return must
  given = given_refs(kernel)
  return must + [
    ref
    for number, (ref, start) in enumerate(zip(params, starts))
    if start is None
    and number not in unwritten
    and ref not in must
    and ref not in given
    and _is_kept_whole(ref, used.get(ref, []), num_warps)
  ]


def _check_accumulator(kernel: NativeKernel, ref: Value, uses: list[Op], arch: Arch, num_warps: int) -> None:
  """An accumulator is read and written as a whole, and tensor cores have layouts for its shape."""
  name, shape = _names(kernel).get(ref, "an accumulator that the body allocates"), ref.ref.shape
  for op in uses:
    if op.name not in ("load", "store", "mma", "mma_wait") or (op.name == "store" and op.operands[1] is ref):
      raise errors.LayoutError(
        f"{op.loc or kernel.name}: {name} is an accumulator (ACC), in registers, but {op.name} takes a part of it: read and write it as a "
        "whole, as in acc[...], or use SMEM."
      )
  options = layouts_of_accumulators(shape, arch, num_warps)
  if not options:
    raise errors.LayoutError(
      f"{kernel.name}: {name} is an accumulator (ACC) of shape {shape}, for which tensor cores of {arch.name} with {num_warps} warps "
      "have no layout: expected (m, n) with m a multiple of 16 and n of 8, that warps can divide."
    )
  fewest, most = _fewest(ref, arch, num_warps), register_budget.of_accumulator(kernel, uses, MAX_ACCUMULATORS)
  if fewest > most:
    raise errors.ResourceExhaustedError(
      f"{kernel.name}: {name}, an accumulator (ACC) of shape {shape}, exceeds available registers: with {num_warps} warps it takes {fewest}"
      f" of each thread, and may take {most}. Use a smaller one, more warps, or plgpu.set_max_registers in the warpgroups that multiply."
    )


def _fewest(accumulator: Value, arch: Arch, num_warps: int) -> int:
  """The registers of a thread that an accumulator takes at least."""
  options = layouts_of_accumulators(accumulator.ref.shape, arch, num_warps)
  return min((own.num_registers for own in options), default=0)


def _is_kept_whole(ref: Value, uses: list[Op], num_warps: int) -> bool:
  kind = ref.type
  if not isinstance(kind, RefType) or not kind.shape or not kind.size:
    return False
  if any(op.name not in ("load", "store", COPY_ASYNC) or ref in op.operands[1:] for op in uses):
    return False
  return blocked_for(kind.shape, num_warps).num_registers <= MAX_ACCUMULATORS
