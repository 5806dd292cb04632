"""Layouts for a kernel: the cheapest ones that its ops allow.

    found = infer(function, "sm_90a", num_warps=4)
    found.layouts[value]       the register layout of a tile
    found.inferred_operand_layout(op, i)        the layout in which an op takes its operand i; relay out if it differs from the value's
    found.shared[ref]          how a ref in shared memory is tiled and swizzled
    found.refs[ref]            the layout of a ref that lives in registers
    found.dots[op]             "wgmma", "mma" or "fma"

Values in `found.free` (constants, iotas, arithmetic on them) may be computed anew in any layout that a use wants.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from tilewright import errors
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.constraints import Hint, Located, Place
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout
from tilewright.layout.solve import DEFAULT_BUDGET, solve
from tilewright.target.nvgpu.arch import ARCHS, FMA, WGMMA, Arch
from tilewright.target.nvgpu.emit.units.threads import MAX_ACCUMULATORS
from tilewright.target.nvgpu.passes.layouts.constraints import constrain_function
from tilewright.target.nvgpu.passes.layouts.dot_kinds import is_short, reads_shared_directly
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE, System
from tilewright.tile.ir import Function, Op, Value, walk
from tilewright.tile.printer import op_text


@dataclasses.dataclass(frozen=True)
class Inferred:
  """The layouts of a kernel."""

  layouts: Mapping[Value, Layout]
  uses: Mapping[tuple[Op, int], Place]
  shared: Mapping[Value, SharedLayout]
  refs: Mapping[Value, Layout]  # that live in registers
  dots: Mapping[Op, str]
  free: frozenset[Value]
  unread: frozenset[Value]  # loads from shared memory that dots read where they are
  cost: int
  spent: int  # of the budget
  max_registers: int = MAX_ACCUMULATORS  # of a thread for one tile

  def inferred_operand_layout(self, op: Op, i: int) -> Place:
    """The place in which an op takes an operand."""
    return self.uses.get((op, i)) or self.layouts[op.operands[i]]

  def kind_of(self, op: Op) -> str:
    """How a product is carried out: as inference chose, unless its registers are too many, or its instructions, which are written out."""
    kind, held = self.dots[op], self.layouts.get(op.result)
    if kind == FMA or held is None:
      return kind
    if not self.fits(held):
      return FMA
    return kind if kind == WGMMA or is_short(op, without_register_copies(held)) else FMA

  def fits(self, layout: Layout) -> bool:
    """Whether a thread has enough registers for a tile in a layout."""
    return layout.num_registers <= self.max_registers

  def text(self, function: Function) -> str:
    """The layouts as a listing: every op, what it holds, and what it wants in another layout than it is held in."""
    lines = [f"cost {self.cost}, {self.spent} steps", *(f"{v}: {place}" for v, place in self.shared.items())]
    for op in walk(function.body):
      lines.append(
        f"{op_text(op)}{'  // ' + op.loc if op.loc else ''}" + (f"  [{self.dots[op]}]" if op in self.dots else "")
      )
      for value in op.results:
        if value in self.layouts:
          lines.append(f"    {'free ' if value in self.free else ''}{self.layouts[value]}")
      for i, value in enumerate(op.operands):
        wanted = self.uses.get((op, i))
        if wanted is not None and wanted != self.layouts.get(value):
          lines.append(f"    operand {i} wanted as {wanted}")
    return "\n".join(lines) + "\n"


def infer(
  function: Function,
  arch: str | Arch,
  num_warps: int,
  shared_refs: Collection[Value] = (),
  hints: Mapping[Value, Place] | None = None,
  budget: int = DEFAULT_BUDGET,
  register_refs: Collection[Value] = (),
  is_plain: bool = False,
  names: Mapping[Value, str] | None = None,
  max_registers: int = MAX_ACCUMULATORS,
) -> Inferred:
  """The layouts of the tiles and shared refs of a kernel body.

  `shared_refs` are refs that live in shared memory besides those whose memory space says so, `register_refs` such as live in registers,
  read and written as a whole. `hints` are layouts that the user gave, for tiles or for refs: they hold. With `is_plain` all memory but
  `shared_refs` lies row by row, and no instruction reads it where it is. `names` are what refs are called in messages. `max_registers`
  are those that a thread may spend on one tile.
  """
  if isinstance(arch, str):
    if arch not in ARCHS:
      raise errors.LayoutError(f"arch: expected one of {', '.join(ARCHS)}, got {arch!r}")
    arch = ARCHS[arch]
  system = System(
    function,
    arch,
    num_warps,
    frozenset(shared_refs),
    frozenset(register_refs),
    is_plain,
    names or {},
    max_registers,
  )
  constrain_function(system)
  for value, place in (hints or {}).items():
    variable = system.held(value) or system.shared(value) or system.of(value)
    if variable is None or variable.shape != place.shape:
      raise errors.LayoutError(f"a hint gives {value} the layout {place}, which is for another shape")
    loc = value.owner.loc if isinstance(value.owner, Op) else ""
    system.constraints.append(Located(Hint(variable, place), loc, "hint"))
  solution = solve(system.constraints, system.seeds, budget)
  uses = {key: solution.places[v] for key, v in system.uses.items() if v in solution.places}
  layouts: dict[Value, Layout] = {}
  shared: dict[Value, SharedLayout] = {}
  unread = set()
  for value in reversed(system.number):  # users first: free values follow them
    own, memory = system.of(value), system.shared(value)
    held = solution.places.get(memory) if memory is not None else None
    if isinstance(held, SharedLayout):
      shared[value] = held
    if own is None:
      continue
    if reads_shared_directly(system, value):
      unread.add(value)
      continue
    known = solution.places.get(own) or _first_use(system, value, uses) or system.seeds(own)[0]
    assert isinstance(known, Layout), f"{own} is a tile in registers, but its layout is {known}"
    layouts[value] = known
    if value in system.free and isinstance(value.owner, Op) and value.owner.name in ELEMENTWISE:
      uses.update({(value.owner, i): layouts[value] for i, v in enumerate(value.owner.operands) if system.of(v)})
  dots = {}
  for op, (listed, kinds) in system.dots.items():
    dots[op] = kinds[listed.choices.index(tuple(solution.places[v] for v in listed.over))]
  refs: dict[Value, Layout] = {}
  for ref in system.register_refs:
    variable = system.held(ref)
    kept = solution.places.get(variable) if variable is not None else None
    if isinstance(kept, Layout):
      refs[ref] = kept
  return Inferred(
    layouts,
    uses,
    shared,
    refs,
    dots,
    frozenset(system.free),
    frozenset(unread),
    solution.cost,
    solution.spent,
    max_registers,
  )


def _first_use(system: System, value: Value, uses: Mapping[tuple[Op, int], Place]) -> Place | None:
  for user in system.users.get(value, []):
    for i, operand in enumerate(user.operands):
      if operand is value and isinstance(uses.get((user, i)), Layout):
        return uses[user, i]
  return None
