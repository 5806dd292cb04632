"""Fusion of the operations around a kernel call into it, as far as possible, with an explanation of what was fused.

    found = fuse_around(jaxpr, args, is_kernel)

The program around one `pallas_call` is partitioned in three. Cheap operations before it are recomputed in its blocks:
they become prologues of its operands. Operations after it become its epilogue. Expensive operations
(another contraction, a sort, a loop), and those that cannot be computed in the kernel's blocks, run before or after
the call, and the explanation gives the reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.call import pallas_call_p
from tilewright.pallas.fuser.inlining import inline, without_dead_code
from tilewright.pallas.fuser.kernels import fused_call, make_epilogue, make_prologue, spec_of
from tilewright.pallas.fuser.table import RULES
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel, source_line

core = _jax.core

EXPENSIVE = frozenset(
  ("dot_general", "scan", "while", "sort", "top_k", "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "gather")
)


@dataclasses.dataclass(frozen=True)
class Operation:
  """An operation of the program, for a reader: what it is, its type, and the line it comes from."""

  name: str
  type: str
  line: str


@dataclasses.dataclass(frozen=True)
class Operand:
  """What the kernel reads or writes in one place: an array and the blocks it is cut into."""

  type: str
  block: tuple[Any, ...] | None

  @property
  def cut(self) -> str:
    """How it is cut, in words: `blocks of (16, None)`."""
    if self.block is None:
      return "the whole array"
    return f"blocks of {tuple(d if isinstance(d, int) else getattr(d, 'block_size', None) for d in self.block)}"


@dataclasses.dataclass(frozen=True)
class FusedPart:
  """A prologue or the epilogue: the operations that moved into the kernel, what they read or write there, and bytes
  they save."""

  place: str
  operations: tuple[Operation, ...]
  arrays: tuple[Operand, ...]
  saved_bytes: int


@dataclasses.dataclass(frozen=True)
class LeftOutside:
  """An operation that stayed out of the kernel, and why."""

  operation: Operation
  why: str


@dataclasses.dataclass(frozen=True)
class Explanation:
  """What was fused into a kernel, and what was not."""

  kernel: str
  grid: tuple[Any, ...]
  pieces: tuple[FusedPart, ...]
  outside: tuple[LeftOutside, ...]

  @property
  def saved_bytes(self) -> int:
    return sum(p.saved_bytes for p in self.pieces)

  def __str__(self) -> str:
    lines = [f"kernel {self.kernel}, grid {self.grid}"]
    for p in self.pieces:
      what = ", ".join(o.name for o in p.operations) or "nothing to compute"
      lines.append(f"  {p.place}: {what}; saves {p.saved_bytes:,} bytes")
      lines += [f"    {a.type}, {a.cut}" for a in p.arrays]
    lines += [f"  outside: {o.operation.name} at {o.operation.line}: {o.why}" for o in self.outside]
    lines.append(f"  in all: {self.saved_bytes:,} bytes less to write and read")
    return "\n".join(lines)


def _operation(eqn: Any) -> Operation:
  type_ = ", ".join(v.aval.str_short(short_dtypes=True) for v in eqn.outvars)
  return Operation(str(eqn.primitive), type_, source_line(eqn) or "an unknown line")


def _bytes(aval: Any) -> int:
  bits = (
    jax.numpy.iinfo(aval.dtype).bits if jax.numpy.issubdtype(aval.dtype, jax.numpy.integer) else aval.dtype.itemsize * 8
  )
  return math.prod(aval.shape) * bits // 8


def _operand(x: Any, spec: Any) -> Operand:
  block = getattr(spec, "block_shape", None)
  aval = core.typeof(x) if not hasattr(x, "str_short") else x
  return Operand(aval.str_short(short_dtypes=True), None if block is None else tuple(block))


# --- the parts of the program ------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Program:
  """A flat jaxpr with a kernel call in it, the values of its inputs, and equations that were found not to be fusible."""

  jaxpr: Any
  known: dict[Any, Any]
  place: int
  refused: dict[int, str] = dataclasses.field(default_factory=dict)

  @property
  def call(self) -> Any:
    return self.jaxpr.eqns[self.place]

  def why_not(self, eqn: Any) -> str | None:
    """Why an equation cannot move into the kernel; None if it may."""
    if id(eqn) in self.refused:
      return self.refused[id(eqn)]
    if eqn.primitive.name in EXPENSIVE:
      return "it would be computed again in every block"
    if eqn.primitive.name not in RULES:
      return "it has no rule for being computed in blocks"
    return "it has effects" if eqn.effects else None

  def slice_of(self, outs: Sequence[Any], inputs: Sequence[Any], eqns: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The part of some equations that computes variables from `inputs` and from what is known."""
    outer = [v for v in self.known if v not in inputs]
    info = self.jaxpr.debug_info.with_unknown_names()
    effects: Any = core.join_effects(*(e.effects for e in eqns)) if eqns else core.no_effects
    cut = self.jaxpr.replace(
      invars=[*outer, *inputs], outvars=list(outs), eqns=list(eqns), debug_info=info, effects=effects
    )
    return without_dead_code(cut, [self.known[v] for v in outer])

  def compute(self, variables: Sequence[Any], eqns: Sequence[Any]) -> None:
    """Compute values outside of the kernel; from then on they are known."""
    missing = [v for v in variables if v not in self.known]
    if missing:
      left = [e for e in eqns if not all(v in self.known or isinstance(v, core.DropVar) for v in e.outvars)]
      cut, values = self.slice_of(missing, (), left)
      self.known.update(zip(missing, core.eval_jaxpr(cut, (), *values)))


def _upstream(
  program: _Program, atoms: Sequence[Any], before: Sequence[Any]
) -> tuple[list[Any], list[Any], list[LeftOutside]]:
  """The equations that may be computed in the kernel for some values, the values they start from, and where they stop."""
  defined = {v: e for e in before for v in e.outvars}
  included: dict[int, Any] = {}
  frontier: dict[Any, None] = {}
  outside: dict[int, LeftOutside] = {}
  pending = list(atoms)
  while pending:
    a = pending.pop()
    if isinstance(a, core.Literal) or a in frontier:
      continue
    if a in program.known and a not in defined:
      frontier[a] = None
      continue
    eqn = defined[a]
    why = program.why_not(eqn)
    if why is not None:
      frontier[a] = None
      outside[id(eqn)] = LeftOutside(_operation(eqn), why)
    elif id(eqn) not in included:
      included[id(eqn)] = eqn
      pending.extend(eqn.invars)
  return [e for e in before if id(e) in included], list(frontier), list(outside.values())


def _prologue(program: _Program, position: int, atom: Any, mapping: Any, kernel: Kernel, group: int) -> Any:
  """A prologue and its explanation; None for the prologue of an operand that has nothing to compute."""
  grid_len, num_prefetch = len(kernel.grid_mapping.grid), kernel.grid_mapping.num_prefetch
  before = program.jaxpr.eqns[: program.place]
  while True:
    eqns, frontier, outside = _upstream(program, [atom], before)
    program.compute(frontier, before)
    if not eqns:
      return None, None, outside
    cut, values = program.slice_of([atom], frontier, eqns)
    start = [program.known[v] for v in frontier]
    f = lambda cut=cut, values=values, start=start: core.eval_jaxpr(cut, (), *values, *start)[0]
    try:
      found = make_prologue(f, spec_of(mapping, kernel), grid_len, (num_prefetch + group,))
    except errors.UnsupportedFusionError as error:
      if getattr(error, "eqn", None) is None or not _mark(program, eqns, error):
        raise
      continue
    saved = 2 * _bytes(atom.aval)
    arrays = tuple(_operand(v, s) for v, s in zip(found.values, found.specs))
    return found, FusedPart(f"operand {position}", tuple(map(_operation, eqns)), arrays, saved), outside


def _mark(program: _Program, eqns: Sequence[Any], error: Any) -> bool:
  """Note the equation an error is about; whether one was found. Equations are told apart by what they define."""
  wanted = error.eqn
  for eqn in eqns:
    if eqn.primitive is wanted.primitive and source_line(eqn) == source_line(wanted) and id(eqn) not in program.refused:
      same = [v.aval for v in eqn.outvars] == [v.aval for v in wanted.outvars]
      if same:
        program.refused[id(eqn)] = error.why
        return True
  return False


def _downstream(program: _Program) -> tuple[list[Any], list[LeftOutside]]:
  """The equations after the call that may be computed in it: those that depend on it and only on what is fused or
  known."""
  after = program.jaxpr.eqns[program.place + 1 :]
  inside = set(program.call.outvars)  # values that the kernel has
  late: set[Any] = set()  # values that exist only after the kernel
  eqns, outside = [], []
  for eqn in after:
    needs = [a for a in eqn.invars if isinstance(a, core.Var)]
    if not any(a in inside or a in late for a in needs):
      continue
    why = program.why_not(eqn)
    if any(a in late for a in needs):
      late.update(eqn.outvars)
    elif why is not None:
      late.update(eqn.outvars)
      outside.append(LeftOutside(_operation(eqn), why))
    else:
      inside.update(eqn.outvars)
      eqns.append(eqn)
  return eqns, outside


def _epilogue(program: _Program, kernel: Kernel, group: int) -> Any:
  """An epilogue, the results of the call it takes and the variables it gives, its explanation, and what stays outside."""
  call, mapping = program.call, kernel.grid_mapping
  while True:
    eqns, outside = _downstream(program)
    if not eqns:
      return None, [], [], None, outside
    chosen = {id(e) for e in eqns}
    made = [v for e in eqns for v in e.outvars]
    later = [e for e in program.jaxpr.eqns[program.place + 1 :] if id(e) not in chosen]
    needed = {a for e in later for a in e.invars if isinstance(a, core.Var)}
    needed |= {a for a in program.jaxpr.outvars if isinstance(a, core.Var)}
    used = {a for e in eqns for a in e.invars if isinstance(a, core.Var)}
    taken = [i for i, v in enumerate(call.outvars) if v in used]
    # A result that is needed as it is too comes out of the epilogue unchanged.
    wanted = [v for v in made if v in needed] + [call.outvars[i] for i in taken if call.outvars[i] in needed]
    inputs = [call.outvars[i] for i in taken]
    own = set(made) | set(inputs)
    others = [a for a in dict.fromkeys(a for e in eqns for a in e.invars if isinstance(a, core.Var)) if a not in own]
    apart = _independent(program)
    more, frontier, stops = _upstream(program, others, apart)
    program.compute(frontier, apart)
    cut, values = program.slice_of(wanted, inputs, [*more, *eqns])
    f = lambda *results, cut=cut, values=values: tuple(core.eval_jaxpr(cut, (), *values, *results))
    types = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in inputs]
    specs = [spec_of(mapping.output_mappings[i], kernel) for i in taken]
    try:
      found = make_epilogue(f, types, specs, len(mapping.grid), (mapping.num_prefetch + group,))
    except errors.FusionConflictError as error:
      last = eqns[-1]
      program.refused[id(last)] = str(error).split("\n")[0]
      continue
    except errors.UnsupportedFusionError as error:
      if getattr(error, "eqn", None) is None or not _mark(program, [*more, *eqns], error):
        raise
      continue
    arrays = [*(_operand(v, s) for v, s in zip(found.values, found.specs))]
    arrays += [_operand(v.aval, s) for v, s in zip(wanted, found.out_specs)]
    saved = 2 * sum(_bytes(v.aval) for v in inputs if v not in wanted)
    return (
      found,
      taken,
      wanted,
      FusedPart("result", tuple(map(_operation, [*more, *eqns])), tuple(arrays), saved),
      [*outside, *stops],
    )


def _independent(program: _Program) -> list[Any]:
  """The equations that do not depend on the call."""
  late = set(program.call.outvars)
  found = []
  for eqn in program.jaxpr.eqns:
    if eqn is program.call or any(isinstance(a, core.Var) and a in late for a in eqn.invars):
      late.update(eqn.outvars)
    else:
      found.append(eqn)
  return found


# --- all together ------------------------------------------------------------------------------------------------


def find_calls(jaxpr: Any, is_kernel: Callable[[str], bool]) -> list[int]:
  return [i for i, e in enumerate(jaxpr.eqns) if e.primitive is pallas_call_p and is_kernel(e.params["name"])]


def flat_program(closed: Any) -> tuple[Any, tuple[Any, ...]]:
  """The program with all calls inlined, without dead code."""
  return flat_program_of(*_jax.detach(closed))


def flat_program_of(jaxpr: Any, consts: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
  return without_dead_code(*inline(jaxpr, consts))


def fuse_around(jaxpr: Any, consts: Sequence[Any], place: int, args: Sequence[Any]) -> tuple[list[Any], Explanation]:
  """Compute a flat program with one kernel call, the one at `place`, and with what can be fused into it in it."""
  program = _Program(jaxpr, dict(zip(jaxpr.invars, (*consts, *args), strict=True)), place)
  call = program.call
  kernel = Kernel(**call.params)
  mapping = kernel.grid_mapping
  _check(kernel, call)
  before = jaxpr.eqns[:place]
  num_prefetch = mapping.num_prefetch
  prologues: dict[int, Any] = {}
  pieces: list[FusedPart] = []
  outside: list[LeftOutside] = []
  for i, (atom, block) in enumerate(zip(call.invars[num_prefetch:], mapping.input_mappings)):
    found, piece, out = _prologue(program, i, atom, block, kernel, len(prologues))
    outside += out
    if found is not None:
      prologues[i] = found
      pieces.append(piece)
  plain = [a for i, a in enumerate(call.invars) if i < num_prefetch or i - num_prefetch not in prologues]
  program.compute([a for a in plain if isinstance(a, core.Var)], before)
  read = lambda a: a.val if isinstance(a, core.Literal) else program.known.get(a)
  operands = [read(a) for a in call.invars]
  epilogue, taken, wanted, piece, out = _epilogue(program, kernel, len(prologues))
  outside += out
  if piece is not None:
    pieces.append(piece)
  fused, rest = fused_call(kernel, operands, prologues, epilogue, taken)
  program.known.update(zip(wanted, fused))
  plain_outputs = [v for i, v in enumerate(call.outvars) if i not in taken]
  program.known.update((v, x) for v, x in zip(plain_outputs, rest) if not isinstance(v, core.DropVar))
  outs = [a for a in jaxpr.outvars if isinstance(a, core.Var)]
  program.compute(list(dict.fromkeys(outs)), [e for e in jaxpr.eqns if e is not call])
  distinct = list({o.operation: o for o in outside}.values())
  explanation = Explanation(kernel.name, mapping.grid, tuple(pieces), tuple(distinct))
  return [read(a) for a in jaxpr.outvars], explanation


def _check(kernel: Kernel, call: Any) -> None:
  line = source_line(call)
  for condition, why in (
    (kernel.input_output_aliases, "it writes over its operands"),
    (kernel.grid_mapping.num_dynamic_bounds, "its grid is not static"),
    (kernel.grid_mapping.num_vmapped, "it was batched; fuse first, then apply vmap to the fused function"),
    (kernel.mesh is not None, "it runs over a mesh of cores"),
  ):
    if condition:
      raise errors.UnsupportedFusionError(f"Nothing can be fused into the kernel {kernel.name!r} at {line}: {why}.")
