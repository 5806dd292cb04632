"""A kernel on its way to code: the tile IR, and what the passes have decided so far.

Passes are functions from such a kernel to such a kernel. What concerns one op is in the IR, as an op of the GPU level or an attribute
(the `kind` of a product); what concerns the kernel as a whole is here. Code generation reads it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.cluster import ALONE, Cluster
from tilewright.target.nvgpu.emit.units.threads import GROUP, WARP
from tilewright.target.nvgpu.passes import matmul_plans, memory, plans, stage
from tilewright.target.nvgpu.passes.cooperation import Cooperation
from tilewright.target.nvgpu.passes.elementwise_chains import Chains
from tilewright.target.nvgpu.passes.l2_hints import PrefetchedBlock
from tilewright.target.nvgpu.passes.layouts.inference import Inferred
from tilewright.target.nvgpu.passes.loop_stages import StagedLoop
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.ir import Block, Op, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.pipeline import Pipeline
from tilewright.tile.printer import to_text

# The forms of kernels: each CTA takes points of the grid; a pipeline of products along the grid; warpgroups with their own control flow.
POINTS, PIPELINE, WARPGROUPS = "points", "pipeline", "warpgroups"
# How a body accesses a block of data: see `passes.bodies`.
IN_PLACE, COPY, TILED, STAGED = "in place", "copy", "tiled", "staged"
_COPIES = {COPY: "each block is copied", TILED: "each block is copied to shared memory, in the user's layout"}


@dataclasses.dataclass(frozen=True)
class Wishes:
  """What a user may say: see `nvgpu.CompilerParams`."""

  num_warps: int | None = None
  cluster: tuple[int, ...] | None = None
  pipeline: Pipeline | None = None


@dataclasses.dataclass(frozen=True)
class Access:
  """How a body accesses a block."""

  how: str
  inside: tuple[bool, ...] = ()  # for each dimension, whether the block never hangs over the edge of its array
  is_written: bool = False  # so that a copy is written back
  outlives: bool = False  # whether a copy stays for the next instance


@dataclasses.dataclass(frozen=True)
class Body:
  """A body of a kernel, and how it accesses the blocks, by position."""

  block: Block
  accesses: tuple[Access, ...]


@dataclasses.dataclass(frozen=True)
class GpuKernel:
  """A kernel, and what has been decided."""

  kernel: NativeKernel
  arch: Arch
  wishes: Wishes = Wishes()
  form: str = POINTS
  # grid
  parallel: tuple[
    int, ...
  ] = ()  # dimensions that are distributed over CTAs, that along which their numbers run fastest last
  cluster: Cluster = ALONE
  # pipeline
  pipeline: matmul_plans.Plan | None = None
  # cooperation
  cooperation: Cooperation | None = None  # of the CTAs of a cluster, in kernels by hand
  # roles
  roles: Roles | None = None  # of several warpgroups
  # occupancy
  num_threads: int = 0  # that share a body: of a CTA, or of each warpgroup
  resident: int = 1  # CTAs that an SM shall have room for
  streams: tuple[int, ...] = ()  # inputs that L2 keeps longest
  ahead: tuple[PrefetchedBlock, ...] = ()  # blocks of later instances that are prefetched to L2
  # layouts, fuse
  inferred: Inferred | None = None  # None: every tile has the ordinary layout of its shape
  chains: Chains = dataclasses.field(default_factory=Chains)
  # memory
  arena: memory.Arena | None = None  # what is given out before the body
  scratch: tuple[memory.RefPlace | None, ...] = ()
  # stage
  steps: stage.Steps | None = None
  # bodies
  bodies: tuple[Body, ...] = ()  # one; of a pipeline those of the first step, the steps between, and the last
  # operands
  direct: frozenset[Op] = frozenset()  # loads whose rows threads can copy as they are
  loops: Mapping[Op, StagedLoop] = dataclasses.field(default_factory=dict)  # whose products read stages

  @property
  def num_warps(self) -> int:
    return self.num_threads // WARP

  def replace(self, **changes: Any) -> GpuKernel:
    return dataclasses.replace(self, **changes)

  def plan(self) -> plans.Plan:
    """What was decided, in words, before products and copies are carried out."""
    if self.pipeline is not None:
      return matmul_plans.described(self.pipeline, self.kernel)
    if self.form == WARPGROUPS:
      return plans.Plan("warpgroups by hand", tuple(self._warpgroups()), notes=tuple(self._clusters()))
    staged = () if self.steps is None else stage.described(self.kernel, self.steps)
    return plans.Plan("one CTA for each point of the grid", (plans.Role("copy and compute", self.num_warps),), staged)

  def _warpgroups(self) -> Iterator[plans.Role]:
    """The warpgroups, with the registers that they set."""
    assert self.roles is not None
    sets = [op for op in walk(self.kernel.body.body) if op.name == "set_registers"]
    for wg in range(self.kernel.warpgroups):
      own = [op.attrs["count"] for op in sets if wg in self.roles.comes_to(op)]
      yield plans.Role(f"warpgroup {wg}", GROUP // WARP, own[0] if own else None)

  def _clusters(self) -> Iterator[str]:
    if self.cooperation is not None:
      hands = ", which hand over what their threads write" if self.cooperation.hands_over else ""
      yield f"clusters of {' x '.join(map(str, self.cooperation.sizes))} CTAs{hands}"

  def text(self) -> str:
    """The kernel as text: lines of what was decided for it as a whole, then the tile IR, each op with the layout of its result."""
    maps = (str(f) for f in self.kernel.index_maps if f is not None)
    return "\n".join([*(f"// {line}" for line in self._lines()), *maps, to_text(self.kernel.body, note=self._note)])

  def _note(self, op: Op) -> str:
    """The layouts of an op's results, and of the operands that it takes in another one than they are held in."""
    if self.inferred is None:
      return ""
    held, uses = self.inferred.layouts, self.inferred.uses
    own = [str(held[v]) for v in op.results if v in held and v.tile.shape]
    wanted = [(i, uses.get((op, i))) for i, v in enumerate(op.operands) if uses.get((op, i)) != held.get(v)]
    parts = [*own, *(f"operand {i} as {place}" for i, place in wanted if place is not None)]
    if op in self.loops:
      parts.append(f"{self.loops[op].stages} stages of {self.loops[op].stage_bytes:,} bytes")
    return f"  ; {'; '.join(parts)}" if parts else ""

  def _lines(self) -> Iterator[str]:
    mapping = self.kernel.mapping
    if self.num_threads or self.pipeline is not None:
      yield from self.plan().lines()
    else:
      yield from self._clusters()
    if self.parallel:
      yield f"CTAs: along dimensions {', '.join(map(str, self.parallel))} of the grid"
    if self.resident > 1:
      yield f"{self.resident} CTAs on an SM"
    for position in self.streams:
      yield f"{mapping.block_mappings[position].origin}: stays in L2 longest"
    for piece in self.ahead:
      origin, ahead = mapping.block_mappings[piece.position].origin, f"{piece.quarters / 4:g}"
      yield f"{origin}: prefetched to L2, for {ahead} times as many CTAs as run at a time"
    if self.chains.ops:
      yield f"{len(self.chains.ops)} ops are computed element by element"
    for number, own in enumerate(self.scratch):
      if own is not None:
        yield f"scratch {number}: {own}"
    if self.steps is not None and self.steps.outputs:
      kept = (mapping.output_mappings[n].origin for n in self.steps.outputs)
      yield f"{', '.join(kept)}: in shared memory from the first step to the last"
    for position, m in enumerate(mapping.block_mappings):
      accesses = {body.accesses[position] for body in self.bodies}
      for how in sorted({access.how for access in accesses} & set(_COPIES)):
        stays = ", and stays for the next instance" if any(access.outlives for access in accesses) else ""
        yield f"{m.origin}: {_COPIES[how]}{stays}"
