"""The fusion finder: parts of a program that are better as one kernel, with reasons.

Every instruction that can be tiled starts as its own group. Groups are joined along the edges between them,
those that carry most bytes first: a producer and its consumer (a reduction and its users, a product and its
prologue and epilogue), then groups that read the same large array. Two groups are joined if

    the result has no path out and back in         (else the kernel would wait for itself)
    it can be tiled                                (the symbolic tiles of all its instructions exist)
    a tile fits the budget                         (working set and recomputation, by search over tile sizes)
    it is predicted to be faster than the two      (the cost model)

and each answer is recorded. A group is worth a kernel if the prediction beats XLA's own program by the budget's
`min_saving`. XLA's fusions are opened inside a group, so boundaries between them do not matter.

    report = find(module, Roofline("cpu"))
    print(report.explain())

"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tilewright.hlo.analysis import Reachability
from tilewright.hlo.cost.model import CostModel, Roofline
from tilewright.hlo.cost.work import FREE, work
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE, SIDE_EFFECTS
from tilewright.hlo.tiling import joining
from tilewright.hlo.tiling.analysis import TileAnalysis, tile_analysis
from tilewright.hlo.tiling.op_maps import CannotTile, operand_maps
from tilewright.hlo.tiling.open_fusions import region_of
from tilewright.hlo.tiling.predict import Budget, budget_for, fused_seconds, predict
from tilewright.hlo.tiling.region import Region, TiledFusion, TiledRegion
from tilewright.hlo.tiling.tile_search import Choice, Tuned, best_tile, region_key

_CHEAP = frozenset({"iota", "broadcast", "constant", "reshape", "bitcast", "convert", "compare"})
_MAX_MEMBERS = 64  # of one group, fusions counted as one
_MAX_OUTPUTS = 8
_ROUNDS = 3
_SHARED = 1 << 16  # bytes of an array whose readers may be joined
_LARGE = 1 << 20  # bytes of an array that may be worth computing twice
_FINE = 30
_COARSE = 8  # tile sizes tried while groups grow


@dataclass(frozen=True, slots=True)
class Decision:
  """One decision of the finder: the groups considered, whether they were joined, and why."""

  what: str
  accepted: bool
  why: str

  def __str__(self) -> str:
    return f"{'joined' if self.accepted else 'kept apart'}: {self.what}: {self.why}"


@dataclass(frozen=True, eq=False)
class FinderReport:
  module: Module
  fusions: tuple[TiledFusion, ...]
  decisions: tuple[Decision, ...]
  seconds: float  # of processor time that the search took

  def explain(self, refusals: bool = True) -> str:
    """The fusions with their reasons, then the groups kept apart and why."""
    lines = [f"module {self.module.name}: {len(self.fusions)} tiled fusions, found in {self.seconds:.2f} s"]
    for fusion in self.fusions:
      names = ", ".join(f"%{o.instruction.name}" for o in fusion.region.outputs)
      lines.append(
        f"{fusion.kind}: {names}: tile {'x'.join(map(str, fusion.tile_sizes)) or 'scalar'}, predicted "
        f"{fusion.predicted_seconds * 1e6:.3g} µs, XLA {fusion.predicted_xla_seconds * 1e6:.3g} µs"
      )
      lines += [f"  {reason}" for reason in fusion.reasons]
    if refusals:
      lines += [str(d) for d in self.decisions if not d.accepted]
    return "\n".join(lines)


def find_fusions(
  module: Module, model: CostModel | None = None, budget: Budget | None = None, tuned: Tuned | None = None
) -> list[TiledFusion]:
  """The tiled fusions of a module, best saving first."""
  return list(find(module, model, budget, tuned).fusions)


def find(
  module: Module, model: CostModel | None = None, budget: Budget | None = None, tuned: Tuned | None = None
) -> FinderReport:
  """The same, with every decision."""
  model = Roofline("cpu") if model is None else model
  budget = budget_for(model) if budget is None else budget
  begin = time.thread_time()
  decisions: list[Decision] = []
  fusions: list[TiledFusion] = []
  seen: _Seen = {}
  for computation in program_computations(module):
    search = _Search(computation, model, budget, tuned, begin + budget.seconds, seen)
    fusions += search.run()
    decisions += search.decisions
  fusions.sort(key=lambda f: f.predicted_seconds - f.predicted_xla_seconds)
  return FinderReport(module, tuple(fusions), tuple(decisions), time.thread_time() - begin)


def program_computations(module: Module) -> list[Computation]:
  """Those whose instructions run one after the other: the entry, bodies of loops, branches; not fusions and reducers."""
  found: dict[Computation, None] = {}
  stack = [module.entry]
  while stack:
    top = stack.pop()
    if top in found:
      continue
    found[top] = None
    for i in top.instructions:
      if i.opcode in ("while", "conditional", "call"):
        stack += [c for c in i.called_computations if c is not i.attrs.get("condition")]
  return list(found)


@dataclass(eq=False)
class _Group:
  members: dict[Instruction, None]
  choice: Choice | None = None
  region: Region | None = None
  seconds: float = 0.0
  xla_seconds: float = 0.0
  again: dict[Instruction, None] = field(default_factory=dict)  # members of other groups that this one computes again
  unused: set[Instruction] = field(default_factory=set)  # members that nothing outside reads any more
  reasons: list[str] = field(default_factory=list)


# What was chosen for a region, by its key: the tile, the steps of its loops and how many sizes were tried; or why there is none.
# Layers of a model repeat.
_Seen = dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...], int] | str]


class _Search:
  def __init__(
    self,
    computation: Computation,
    model: CostModel,
    budget: Budget,
    tuned: Tuned | None,
    deadline: float,
    seen: _Seen,
  ) -> None:
    self.seen = seen
    self.computation, self.model, self.budget, self.tuned, self.deadline = computation, model, budget, tuned, deadline
    self.decisions: list[Decision] = []
    self.reach = Reachability(computation)
    self.fused = any(i.opcode == "fusion" for i in computation.instructions)  # else XLA's fusion is still to come
    self.group_of: dict[Instruction, _Group] = {}
    self.answers: set[tuple[_Group, _Group]] = set()  # pairs that were asked about

  def run(self) -> list[TiledFusion]:
    for i in self.reach.order:
      refused = cannot_join(i)
      if refused is None:
        alone = self.model.cost(i).seconds
        self.group_of[i] = _Group({i: None}, seconds=alone, xla_seconds=alone)
      elif refused:
        self.decisions.append(Decision(f"%{i.name}", False, refused))
    self._join_chains()
    edges = joining.edges(self.group_of, self.reach.index, later_first=True)
    for _ in range(_ROUNDS):  # a group that grew may have taken in what stood between two others
      before = len(self.answers)
      for edge in edges:
        self._try(edge.producer, edge.consumer, f"%{edge.producer.name} → %{edge.consumer.name}, {_bytes(edge.bytes)}")
      if len(self.answers) == before:
        break
    readers = {i for i in self.group_of if not _is_cheap(i)}
    for a, b, source in joining.readers(self.reach.order, readers, _SHARED, self.reach.index):
      self._try(a, b, f"%{a.name} and %{b.name}, which both read %{source.name}")
    groups = list(dict.fromkeys(self.group_of.values()))
    self._recompute(groups)
    found = []
    for group in groups:
      fusion = self._finished(group)
      if fusion is not None:
        found.append(fusion)
    return found

  def _join_chains(self) -> None:
    """An elementwise value with one elementwise user of the same shape is never worth materialising: joined without evaluation."""
    for i in self.reach.order:
      user = i.users[0] if i.user_count == 1 and not i.is_root else None
      if user is None or i not in self.group_of or user not in self.group_of:
        continue
      if i.opcode in ELEMENTWISE and user.opcode in ELEMENTWISE and i.shape.dimensions == user.shape.dimensions:
        left, right = self.group_of[i], self.group_of[user]
        if left is not right and len(left.members) + len(right.members) <= _MAX_MEMBERS:
          both = {**left.members, **right.members}
          order = dict.fromkeys(sorted(both, key=self.reach.index.__getitem__))
          seconds, xla = left.seconds + right.seconds, left.xla_seconds + right.xla_seconds
          joined = _Group(order, seconds=seconds, xla_seconds=xla)
          for member in order:
            self.group_of[member] = joined

  # Joining.

  def _try(self, a: Instruction, b: Instruction, what: str) -> None:
    left, right = self.group_of[a], self.group_of[b]
    if left is right or (left, right) in self.answers:
      return
    self.answers.add((left, right))
    if time.thread_time() > self.deadline:
      self.decisions.append(Decision(what, False, f"the search took longer than {self.budget.seconds:g} s"))
      return
    joined = self._joined(left, right)
    accepted = isinstance(joined, _Group)
    why = joined.reasons[-1] if isinstance(joined, _Group) else joined
    self.decisions.append(Decision(what, accepted, why))
    if isinstance(joined, _Group):
      joined.reasons[-1] = f"{what}: {why}"
      for member in joined.members:
        self.group_of[member] = joined

  def _joined(self, left: _Group, right: _Group) -> _Group | str:
    members = {**left.members, **right.members}
    if len(members) > _MAX_MEMBERS:
      return f"a group has at most {_MAX_MEMBERS} members"
    if self._waits_for_itself(members):
      return "something outside depends on the one and is needed by the other"
    order = sorted(members, key=self.reach.index.__getitem__)
    found = self._tiled(order, _COARSE)
    if isinstance(found, str):
      return found
    region, choice = found
    apart, together = left.seconds + right.seconds, choice.prediction.seconds
    if together > apart * 1.001:
      return f"{together * 1e6:.3g} µs together, {apart * 1e6:.3g} µs apart"
    reasons = [*left.reasons, *right.reasons, f"{together * 1e6:.3g} µs together, {apart * 1e6:.3g} µs apart"]
    xla = left.xla_seconds + right.xla_seconds
    return _Group(dict.fromkeys(order), choice, region, together, xla, reasons=reasons)

  def _tiled(
    self,
    members: list[Instruction],
    most: int,
    again: Iterable[Instruction] = (),
    unused: Collection[Instruction] = (),
  ) -> tuple[Region, Choice] | str:
    inside = set(members)
    outputs = [m for m in members if m not in unused and (m.is_root or any(u not in inside for u in m.users))]
    if len(outputs) > _MAX_OUTPUTS:
      return f"a kernel has at most {_MAX_OUTPUTS} outputs"
    everything = [*again, *members]
    region = region_of([*everything, *self._cheap_producers(everything)], _with_elements(outputs, inside))
    if isinstance(region, CannotTile):
      return str(region)
    key = (region_key(region), most)
    before = self.seen.get(key)
    if isinstance(before, str):
      return before
    choice = self._chosen(region, before, most)
    if isinstance(choice, str):
      self.seen[key] = choice
      return choice
    steps = tuple(axis.tile for axis in choice.tiled.axes if axis.kind == "loop")
    self.seen[key] = (choice.tiled.tile_sizes, steps, choice.tried)
    return region, choice

  def _chosen(
    self, region: Region, before: tuple[tuple[int, ...], tuple[int, ...], int] | None, most: int
  ) -> Choice | str:
    analysis = tile_analysis(region)
    if not isinstance(analysis, TileAnalysis):
      return str(analysis)
    if before is not None:
      sizes, steps, tried = before
      tiled = analysis.tiled(sizes, {loop: step for (loop, _), step in zip(analysis.loops, steps)})
      if isinstance(tiled, TiledRegion):
        return Choice(tiled, predict(tiled, self.model, self.budget), tried, f"the best of {tried} tile sizes")
    choice = best_tile(analysis, self.model, self.budget, max_candidates=most, tuned=self.tuned)
    return str(choice) if isinstance(choice, CannotTile) else choice

  def _cheap_producers(self, members: Iterable[Instruction]) -> list[Instruction]:
    """Constants, iotas and what is broadcast from them: computed in every kernel that needs them."""
    found: dict[Instruction, None] = {}
    stack = [o for m in members for o in m.operands]
    while stack:
      top = stack.pop()
      if top not in found and _is_cheap(top):
        found[top] = None
        stack += top.operands
    return list(found)

  def _waits_for_itself(self, members: dict[Instruction, None]) -> bool:
    def together(i: Instruction) -> Collection[Instruction]:
      group = self.group_of.get(i)
      return group.members if group is not None else (i,)

    others = {g for g in self.group_of.values() if len(g.members) > 1 and next(iter(g.members)) not in members}
    last = joining.last_that_leads_back(members, [g.members for g in others], self.reach.index)
    return joining.waits_for_itself(members, together, self.reach.index, last)

  # Computing twice.

  def _leaves(self, member: Instruction, group: _Group) -> bool:
    return member.is_root or any(u not in group.members for u in member.users)

  def _recompute(self, groups: list[_Group]) -> None:
    """Large arrays between groups: each reader may compute its part again instead, if that is faster for all of them."""
    for group in groups:
      for member in list(group.members):
        size = member.shape.byte_size
        if group.choice is None or not member.shape.is_array or size < _LARGE or member.is_root:
          continue
        outside = [u for u in member.users if u not in group.members]
        if not outside or any(u not in self.group_of for u in outside) or time.thread_time() > self.deadline:
          continue
        self._recompute_one(group, member, list(dict.fromkeys(self.group_of[u] for u in outside)))

  def _arithmetic(self, i: Instruction) -> float:
    """Seconds of an instruction's operations, without its traffic."""
    amount, machine = work(i), self.model.device
    vector = (amount.flops - amount.matrix_flops) / machine.vector_flops
    return amount.matrix_flops / machine.matmul_rate(amount.element_type) + vector

  def _recompute_one(self, group: _Group, member: Instruction, readers: list[_Group]) -> None:
    what = f"%{member.name}, {_bytes(member.shape.byte_size)}, computed again by {len(readers)} readers"
    needed = self.reach.needs(member)
    copies = {m: None for m in group.members if needed >> self.reach.index[m] & 1}
    machine = self.model.device
    moved = (1 + len(readers)) * member.shape.byte_size / (machine.memory_bandwidth * machine.memory_efficiency)
    extra = len(readers) * sum(self._arithmetic(m) for m in copies)
    if extra >= moved:
      why = f"{extra * 1e6:.3g} µs of arithmetic against {moved * 1e6:.3g} µs of traffic"
      self.decisions.append(Decision(what, False, why))
      return
    unused = {*group.unused, member}
    apart, together = group.seconds, 0.0
    changed: list[tuple[_Group, dict[Instruction, None], Region, Choice]] = []
    for reader in readers:
      again = {**reader.again, **copies}
      found = self._tiled(list(reader.members), _COARSE, again, reader.unused)
      if isinstance(found, str):
        self.decisions.append(Decision(what, False, found))
        return
      changed.append((reader, again, *found))
      apart, together = apart + reader.seconds, together + found[1].prediction.seconds
    rest: tuple[Region, Choice] | None = None
    if any(self._leaves(m, group) and m not in unused for m in group.members):
      kept = self._tiled(list(group.members), _COARSE, group.again, unused)
      if isinstance(kept, str):
        self.decisions.append(Decision(what, False, kept))
        return
      rest, together = kept, together + kept[1].prediction.seconds
    why = f"{together * 1e6:.3g} µs, and {apart * 1e6:.3g} µs with it in memory"
    self.decisions.append(Decision(what, together < apart, why))
    if together >= apart:
      return
    for reader, again, region, choice in changed:
      reader.again, reader.region, reader.choice, reader.seconds = again, region, choice, choice.prediction.seconds
      reader.reasons.append(f"{what}: {why}")
    group.unused = unused
    group.seconds = rest[1].prediction.seconds if rest is not None else 0.0
    if rest is not None:
      group.region, group.choice = rest

  # The end.

  def _finished(self, group: _Group) -> TiledFusion | None:
    members = list(group.members)
    if not any(_is_work(m) for m in members):
      return None
    names = f"%{members[-1].name}" + (f" and {len(members) - 1} more" if len(members) > 1 else "")
    if time.thread_time() > self.deadline and group.choice is None:
      return None
    if all(m in group.unused or not self._leaves(m, group) for m in members):
      return None  # whoever needs it computes it again
    found = self._tiled(members, _FINE, group.again, group.unused)
    if isinstance(found, str):
      self.decisions.append(Decision(names, False, found))
      return None
    region, choice = found
    ours, xla = choice.prediction.seconds, group.xla_seconds
    if not self.fused:
      xla = min(xla, fused_seconds(region, self.model))
    if ours > xla * (1 - self.budget.min_saving):
      why = f"predicted {ours * 1e6:.3g} µs, and XLA's program {xla * 1e6:.3g} µs: not worth a kernel"
      self.decisions.append(Decision(names, False, why))
      return None
    reasons = (*group.reasons, f"tile: {choice.why}; {choice.prediction}")
    return TiledFusion(region, choice.tiled, kind_of(region), ours, xla, reasons)


def _with_elements(outputs: list[Instruction], inside: set[Instruction]) -> list[Instruction]:
  """Tuples leave the region through their elements."""
  found: list[Instruction] = []
  for output in outputs:
    if output.shape.is_tuple and not output.is_root:
      found += [
        u for u in output.users if u.opcode == "get-tuple-element" and any(v not in inside for v in (u, *u.users))
      ]
    else:
      found.append(output)
  return list(dict.fromkeys(found))


def _bytes(size: int) -> str:
  return f"{size / 1e6:.3g} MB" if size >= 1e5 else f"{size} B"


def _is_cheap(i: Instruction) -> bool:
  if i.opcode == "constant":
    return i.shape.num_elements == 1
  if i.opcode == "iota":
    return True
  return i.opcode in _CHEAP and all(_is_cheap(o) for o in i.operands)


def _is_work(i: Instruction) -> bool:
  return i.opcode not in FREE and i.opcode not in _CHEAP


def cannot_join(i: Instruction) -> str | None:
  """None if an instruction may be part of a group; an empty text if it is not worth a word; else why not."""
  if i.opcode in ("parameter", "constant", "tuple", "after-all") or (_is_cheap(i) and not i.is_root):
    return ""  # cheap ones are computed in every kernel that needs them
  if i.opcode in SIDE_EFFECTS or i.control_predecessors or i.control_successors:
    return "it has side effects or control dependences"
  if i.opcode == "get-tuple-element":
    return None if i.operands[0].opcode in ("fusion", "reduce") and cannot_join(i.operands[0]) is None else ""
  if i.shape.is_array and i.shape.num_elements == 0:
    return "it has no elements"
  inside = i.called_computations[0].instructions if i.opcode == "fusion" else [i]
  for inner in inside:
    if inner.opcode in ELEMENTWISE and not inner.shape.is_tuple and not any(inner.shape.dynamic):
      continue
    found = operand_maps(inner)
    if isinstance(found, CannotTile):
      return str(found)
  return None


def kind_of(region: Region) -> str:
  """A name for what a region computes, from its ops."""
  opcodes = ["reduce" if _is_blocked_reduction(i) else i.opcode for i in region.body.instructions]
  dots, reduces = opcodes.count("dot") + opcodes.count("convolution"), opcodes.count("reduce")
  if dots >= 2 and reduces and "exponential" in opcodes:
    return "attention"
  if "convolution" in opcodes or "reduce-window" in opcodes:
    return "window"
  if dots:
    return "dot"
  if reduces and "gather" in opcodes:
    return "gather"
  if reduces and "exponential" in opcodes:
    return "softmax"
  if reduces:
    return "reduction"
  return "gather" if "gather" in opcodes else "elementwise"


def _is_blocked_reduction(i: Instruction) -> bool:
  """A reduce-window whose windows do not overlap: XLA's first step of a long reduction."""
  return i.opcode == "reduce-window" and all(w.stride >= w.size for w in i.attrs.get("window", ()))
