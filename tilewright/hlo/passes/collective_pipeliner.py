"""Collective pipelining: collectives move across the trips of a loop, so that they overlap the work of another trip.

    forward        trip n computes x; trip n+1 reduces and stores it, while it computes its own
    forward_sink   trips only collect x; one collective after the loop works on all of them
    backward       trip n fetches what trip n+1 will need, while it works with what was fetched before

*Forward.* Precondition: known trips, at least 2; collectives whose results go through formatting and dynamic-update-slices
into slots which nothing else in body or condition reads. Write C for those chains and A for the rest of the body. Trip n was
into slots which nothing else in body or condition reads. Write C for those chains and A for the rest of the body. Trip n executes
A then C; A never reads what C writes, so the C of trip n may run at any time before the C of trip n+1. The first A is
peeled before the loop, the last C after it, and the values of A that C needs are carried in new slots: A | C A | C A | C. The stores

*Backward.* Precondition: known trips, at least 2; collectives of values computed by formatting and slicing from invariant
slots and induction slots. Then trip n can compute the operand of trip n+1: invariants are the same, and counters are
known one step ahead. The first collective runs before the loop, each trip runs the next one and uses the one carried in a
new slot, and the last trip is peeled, so that no unneeded value is fetched.

*Forward-sink* is in `pipeline_sink.py`. Formatting includes elementwise arithmetic; collectives of several operands and
copies between memory spaces move like others (`pipeline_options.py`), but do not sink: what trips move to the host would be collected
on the device. Sends and receives move backward. Barriers are processed
value by value (`pipeline_chains.py`). A control edge moves along where both ends do; it is dropped where the loop's
order implies it, and blocks the move where the move would violate it. Peeled instructions leave their scheduling group, or form a new
one if all of it is peeled. Also refused: bodies with side effects (peeling would reorder them), tokens among
the values to be carried, states used as a whole.

Several runs, inner loops first: `level_to_operate_on=0` takes the innermost loops, 1 the loops around those. A run that is not the last
one (`last_run=false`) marks what it moved out of a loop (`InsertedByPreviousStep`, `SunkByPreviousStep`); the last one removes the marks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_computation
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.passes.collective_keys import P2P
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.pipeline_backward import backward
from tilewright.hlo.passes.pipeline_chains import reads_by_element
from tilewright.hlo.passes.pipeline_forward import forward
from tilewright.hlo.passes.pipeline_options import INSERTED, SUNK, Moves, Predicate, accepts, is_marker
from tilewright.hlo.passes.pipeline_sink import sink
from tilewright.hlo.passes.while_loops import Counter, Loop, find_counter, loops_of, unshare

Direction = Callable[[Loop, Counter, Module, Moves], list[Instruction]]
DIRECTIONS: dict[str, Direction] = {"forward": forward, "forward_sink": sink, "backward": backward}
XLA_DIRECTIONS = {"kForward": "forward", "kForwardSink": "forward_sink", "kBackward": "backward"}


@register_pass("collective_pipeliner")
@dataclass(frozen=True)
class CollectivePipeliner(Pass):
  """Pipelines collectives across the iterations of a loop: into the next one, the previous one, or behind the loop."""

  direction: str = "forward"
  min_bytes: int = 0  # of the collective's operands
  max_bytes: int = 1 << 30  # of what forward_sink collects
  level_to_operate_on: int = -1  # 0: loops without loops inside, 1: loops around those, …; -1: all
  max_pipelining_per_loop: int = 0  # collectives; 0: all
  last_run: bool = True  # otherwise what is moved out of loops is marked for the runs after this one
  should_process: str | Predicate = ""  # which collectives: a predicate, or opcodes with | between them
  acceptable_formatting: str | Predicate = ""  # which formatting may go along
  host_offload: bool = True  # forward, backward: also copies between memory spaces
  send_recv: bool = True  # backward: also sends and receives
  barriers: str = "split"  # keep: an optimization barrier moves as a whole or not at all
  should_allow_loop_variant_parameter_in_chain: bool = False  # backward: any slot may be fetched from
  should_allow_control_dependencies: bool = False  # control edges of collectives are dropped
  process_different_sized_ops: bool = True  # also collectives that change the number of elements
  pipeline_use_tree: bool = True  # forward: also collectives whose results, or what is made of them, have several users

  def __post_init__(self) -> None:
    object.__setattr__(self, "direction", XLA_DIRECTIONS.get(self.direction, self.direction))

  def run(self, module: Module) -> bool:
    for option, value, known in (
      ("direction", self.direction, (*DIRECTIONS,)),
      ("barriers", self.barriers, ("split", "keep")),
    ):
      if value not in known:
        raise HloPassError(f"collective_pipeliner: {option}={value} is none of {', '.join(known)}")
    moves = Moves(
      self.min_bytes,
      self.max_bytes,
      accepts(self.should_process),
      accepts(self.acceptable_formatting),
      self.host_offload and self.direction != "forward_sink",
      self.should_allow_loop_variant_parameter_in_chain,
      self.barriers == "split",
      self.max_pipelining_per_loop,
      self.process_different_sized_ops,
      self.pipeline_use_tree or self.direction == "backward",
    )
    changed = False
    for loop in loops_of(module):
      if self.level_to_operate_on >= 0 and _level(loop.body, {}) != self.level_to_operate_on:
        continue
      counter = find_counter(loop)
      if counter is None or counter.trips < 2 or not reads_by_element(loop):
        continue
      changed |= self._in_a_copy(loop, counter, module, moves)
    if self.last_run:
      changed |= _remove_markers(module)
    return changed

  def _in_a_copy(self, loop: Loop, counter: Counter, module: Module, moves: Moves) -> bool:
    """Works on a copy of the body, because matching may already split barriers; keeps it only if something moved."""
    original = loop.body
    if self.direction != "forward_sink" and self._has_effects(original):
      return False
    loop.instruction.attrs["body"] = copy = clone_computation(original)
    if self.should_allow_control_dependencies:
      for instruction in copy.instructions:
        if moves.is_candidate(instruction):
          instruction.drop_control_edges()
    made = DIRECTIONS[self.direction](loop, counter, module, moves)
    if not made:
      loop.instruction.attrs["body"] = original
      return False
    module.add_computation(copy)
    if not self.last_run and self.direction != "backward":
      for value in made:
        _mark(value, SUNK if self.direction == "forward_sink" else INSERTED)
    module.remove_unreachable_computations()
    unshare(module)
    return True

  def _has_effects(self, body: Computation) -> bool:
    """Besides sends and receives between devices, which move backward together."""
    effects = Effects()
    moves = self.send_recv and self.direction == "backward"
    return any(
      effects.of(i) and not (moves and i.opcode in P2P and not i.attrs.get("is_host_transfer"))
      for i in body.instructions
    )


def _level(body: Computation, known: dict[Computation, int]) -> int:
  """How many loops lie inside one another below a body."""
  if body not in known:
    called = [(i, c) for i in body.instructions if i.attrs for c in i.called_computations]
    loops = [_level(c, known) + (i.opcode == "while" and c is i.attrs["body"]) for i, c in called]
    known[body] = max(loops, default=0)
  return known[body]


def _mark(value: Instruction, target: str) -> None:
  computation = value.parent
  assert computation is not None
  users, is_root = value.users, value.is_root
  place = computation.instructions.index(value) + 1
  following = computation.instructions[place] if place < len(computation.instructions) else None
  builder = Builder(computation, before=following, metadata=value.metadata)
  mark = builder.op("custom-call", (value,), value.shape, custom_call_target=target)
  for user in users:
    user.replace_uses_of(value, mark)
  if is_root:
    computation.root = mark


def _remove_markers(module: Module) -> bool:
  found = [i for i in module.instructions() if is_marker(i) and len(i.operands) == 1]
  for mark in found:
    assert mark.parent is not None
    mark.parent.replace(mark, mark.operands[0])
  return bool(found)
