"""A verifier of what the passes decide: each rule holds after every pass, of what is there by then.

grid       the dimensions that CTAs share out are different ones of the grid
pipeline   stages fit shared memory, and the registers of all warps an SM
layouts    a product has a kind that its architecture, dtypes and shape allow
memory     buffers lie in shared memory, and apart from each other unless they are of one union
stage      what comes ahead of time is only read, and changes along the steps; stages fit beside scratch memory; TMA is there; what is
           kept stays the same
operands   loops copy ahead what products of warpgroups alone read and no one writes; their stages fit beside scratch memory
bodies     a block that is accessed in place has all that its body needs of it; what is staged is what `stage` says
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright import errors
from tilewright.layout.layout import Layout
from tilewright.target.nvgpu.arch import FMA, MMA, WGMMA
from tilewright.target.nvgpu.arch.tensor_cores import KINDS
from tilewright.target.nvgpu.emit.units.threads import GROUP, REGISTERS, WARP
from tilewright.target.nvgpu.passes import matmul_plans
from tilewright.target.nvgpu.passes.block_accesses import accessed_without_edges, is_only_loaded
from tilewright.target.nvgpu.passes.gpu_kernel import COPY, IN_PLACE, PIPELINE, STAGED, GpuKernel
from tilewright.target.nvgpu.passes.layouts.dot_kinds import has_tensor_cores, is_matrix
from tilewright.target.nvgpu.passes.memory import scratch_refs
from tilewright.tile.grid import Indirect
from tilewright.tile.ir import Op, users, walk
from tilewright.tile.native import moving_dims

_ROWS = {WGMMA: 64, MMA: 16}  # of the result, that an instruction gives
_COLUMNS = 8


def verify(k: GpuKernel) -> None:
  """Raise TileError for the first decision that cannot be."""
  for rule in (_grid, _pipeline, _products, _memory, _stages, _bodies, _loops):
    for problem in rule(k):
      raise errors.TileError(f"The kernel '{k.kernel.name}' on {k.arch.name}: {problem}")


def _grid(k: GpuKernel) -> Iterator[str]:
  rank = len(k.kernel.mapping.grid)
  if len(set(k.parallel)) < len(k.parallel) or any(d not in range(rank) for d in k.parallel):
    yield f"CTAs cannot share out the dimensions {k.parallel} of a grid of {rank}"


def _pipeline(k: GpuKernel) -> Iterator[str]:
  plan = k.pipeline
  if (plan is not None) != (k.form == PIPELINE):
    yield f"a kernel of the form {k.form!r} has {'a' if plan is not None else 'no'} pipeline"
  if plan is None:
    return
  nbytes = sum(size for _, size in matmul_plans.stage_parts(plan))
  if nbytes > k.arch.shared_bytes:
    yield f"stages of {nbytes} bytes are more than shared memory, {k.arch.shared_bytes} bytes"
  if isinstance(plan, matmul_plans.WarpgroupPlan):
    fewer, more = plan.registers
    total = plan.producers * fewer + plan.groups * GROUP * more
    if total > REGISTERS:
      yield f"{total} registers are more than an SM has, {REGISTERS}"


# --- products ----------------------------------------------------------------------------------------------------


def _products(k: GpuKernel) -> Iterator[str]:
  for op in walk(k.kernel.body.body):
    kind = op.attrs.get("kind") if op.name == "dot" else None
    if kind is not None and (problem := _product(k, op, kind)):
      yield f"the product at {op.loc or '?'} cannot be of the kind {kind!r}: {problem}"


def _product(k: GpuKernel, op: Op, kind: str) -> str:
  if k.inferred is None:
    return "no layouts were inferred"
  if kind == FMA:
    return ""
  if kind not in k.arch.rates:
    return f"the architecture multiplies by {', '.join((*k.arch.rates, FMA))}"
  if not is_matrix(op) or not has_tensor_cores(k.arch, op):
    return "tensor cores do not multiply these dtypes, or more than matrices"
  (m, n), contracted = op.result.tile.shape, op.attrs["contract"][0][0]
  depth = op.operands[0].tile.shape[contracted]
  if m % _ROWS[kind] or n % _COLUMNS or depth % KINDS[op.operands[0].tile.dtype].depth:
    return f"its shape, {m} x {n} x {depth}, is not made of whole instructions"
  if kind == WGMMA and k.num_threads % GROUP:
    return f"{k.num_threads // WARP} warps are no whole warpgroups"
  held = k.inferred.layouts.get(op.result)
  if not isinstance(held, Layout) or not k.inferred.fits(held):
    return "a thread has too few registers for its result"
  return ""


# --- memory ------------------------------------------------------------------------------------------------------


def _memory(k: GpuKernel) -> Iterator[str]:
  if k.arena is None:
    return
  if len(k.scratch) != len(scratch_refs(k.kernel)):
    yield f"{len(k.scratch)} places for {len(k.kernel.scratch)} scratch buffers"
  if k.arena.used > k.arch.shared_bytes:
    yield f"{k.arena.used} bytes of buffers are more than shared memory, {k.arch.shared_bytes} bytes"
  taken = [
    (own.place.offset, own.place.offset + own.place.nbytes * (1 if own.is_for_all else k.arena.groups), number, own)
    for number, own in enumerate(k.scratch)
    if own is not None and own.place is not None and not own.place.in_global
  ]
  for i, (start, end, number, own) in enumerate(taken):
    for other_start, other_end, other, its in taken[:i]:
      in_union = own.union is not None and own.union is its.union
      if start < other_end and other_start < end and not in_union:
        yield f"scratch buffers {other} and {number} overlap in shared memory"


# --- stages ------------------------------------------------------------------------------------------------------


def _stages(k: GpuKernel) -> Iterator[str]:
  kernel, steps = k.kernel, k.steps
  if steps is None or k.arena is None:
    return
  first = kernel.mapping.num_prefetch
  aliased = {into - first for into, _ in kernel.input_output_aliases}
  for block in (*steps.inputs, *steps.held):
    name, moves = kernel.mapping.block_mappings[block.position].origin, moving_dims(kernel, block.position)
    if block.position in aliased or not is_only_loaded(kernel, kernel.body.params[first + block.position]):
      yield f"{name} is written, and cannot come to shared memory ahead of time"
    if (block in steps.inputs) == moves.isdisjoint(steps.dims):
      yield f"{name} {'stays the same' if block in steps.inputs else 'changes'} along the steps"
  if steps.inputs and steps.stages < 2:
    yield f"{steps.stages} stages leave none to fill while one is read"
  if steps.maps and not k.arch.has_tma:
    yield "the architecture has no TMA"
  if k.arena.used + steps.staged_bytes > k.arch.shared_bytes:
    yield f"stages of {steps.staged_bytes} bytes do not fit beside {k.arena.used} bytes of scratch memory"
  for number in steps.outputs:
    if not moving_dims(kernel, kernel.mapping.num_inputs + number).isdisjoint(steps.dims):
      yield f"{kernel.mapping.output_mappings[number].origin} changes along the steps, and cannot be kept"


# --- bodies ------------------------------------------------------------------------------------------------------


def _bodies(k: GpuKernel) -> Iterator[str]:
  mapping, steps = k.kernel.mapping, k.steps
  staged = set[int]()
  if steps is not None:
    staged = {block.position for block in (*steps.inputs, *steps.held)} | {
      mapping.num_inputs + n for n in steps.outputs
    }
  for body in k.bodies:
    without_edges = accessed_without_edges(body.block)
    for position, (access, m) in enumerate(zip(body.accesses, mapping.block_mappings)):
      ref = body.block.params[mapping.num_prefetch + position]
      is_in_registers = k.pipeline is not None and ref is k.pipeline.contraction.accumulator
      if (access.how == STAGED) != (position in staged):
        yield f"{m.origin} is accessed as '{access.how}', and is {'' if position in staged else 'not '}staged"
      if any(isinstance(d, Indirect) for d in m.block_shape) and access.how != COPY:
        yield f"{m.origin} has elements at given numbers, which need a copy"
      if access.how == IN_PLACE and ref in without_edges and not all(access.inside) and not is_in_registers:
        yield f"{m.origin} may hang over the edge of its array, which its body cannot see: it needs a copy"


# --- operands ----------------------------------------------------------------------------------------------------


def _loops(k: GpuKernel) -> Iterator[str]:
  if k.loops and k.steps is not None and k.steps.inputs:
    yield "operands of a loop are copied ahead while blocks of a sequential grid are"
  used = users(k.kernel.body.body)
  for op, loop in k.loops.items():
    for load in (own.source.load for own in loop.operands):
      if load not in k.direct or load not in op.blocks[0].ops:
        yield f"the loop at {op.loc or '?'} cannot copy ahead what is loaded at {load.loc or '?'}"
      if any(user.attrs.get("kind") != WGMMA for user in used[load.result] if user.name != "transpose"):
        yield f"what is loaded at {load.loc or '?'} lies in stages, which products of warpgroups alone can read"
    if loop.stages < 2:
      yield f"the loop at {op.loc or '?'} has {loop.stages} stages, which leave none to fill while one is read"
  if k.arena is not None and k.loops and k.arena.used + k.arena.promised > k.arch.shared_bytes:
    yield f"stages of loops, {k.arena.promised} bytes, do not fit beside {k.arena.used} bytes of scratch memory"
