"""The constraints of each tile op on the layouts of its operands and results: a table keyed by op.

    elementwise   operands come in the layout of the result
    broadcast     the operand is held where the result needs it
    layout_cast   the result has the layout that the user gave
    reduce        the result is held where the operand was
    load, store   vectors and coalescing have a price, and so have conflicts in shared memory
    dot           the operands and the result of mma.sync, wgmma or a loop of multiplications, see `dot_kinds`
    for, while    what is carried keeps its layout from round to round

The ops of a kernel never conflict. Hard constraints (a link, a list) are between the result of one op, or its uses, which are variables of
their own; each op alone can be satisfied; and a value is connected to its uses by a soft constraint, a relayout with a cost. Elementwise
ops are one region in one layout, and any layout is valid. So there always is a solution, unless the user's hints exclude it.

An op that moves elements in ways no layout describes (a gather, a sort, …), or that has no row, leaves operands and results free: its code
goes through shared memory. A row is called with the system it adds to and the op.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright import errors
from tilewright.layout.algebra import reshaped
from tilewright.layout.build import blocked_for
from tilewright.layout.constraints import (
  Broadcast,
  Equal,
  Hint,
  MemoryAccess,
  OneOf,
  PartOf,
  Reduced,
  Reduces,
  RelayoutAllowed,
  Reshaped,
  SharedAccess,
  Stacked,
  TmaTransferable,
  Transposed,
  Variable,
  Work,
)
from tilewright.layout.layout import Layout, read_layout
from tilewright.layout.shared import SWIZZLES, shared_tiled
from tilewright.target.nvgpu.passes.layouts import hints
from tilewright.target.nvgpu.passes.layouts.dot_kinds import dot, reads_shared_directly
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE, System
from tilewright.tile.dead_code import VIEWS
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.types import RefType

Rule = Callable[[System, Op], None]
RULES: dict[str, Rule] = {"dot": dot}


def rule(*names: str) -> Callable[[Rule], Rule]:
  def add(f: Rule) -> Rule:
    RULES.update(dict.fromkeys(names, f))
    return f

  return add


def constrain_function(system: System) -> None:
  """Add what a kernel says. Its operands in shared memory were brought there by copies."""
  for param in system.function.params:
    _filled_by_copies(system, param)
  for value in system.number:
    _given(system, value)
  constrain(system, system.function.body)


def _given(system: System, ref: Value) -> None:
  """What the user says about a ref: its transforms in shared memory, or that it is an accumulator."""
  system.op = ref.owner if isinstance(ref.owner, Op) else None
  if not isinstance(ref.type, RefType) or (system.op is not None and system.op.name != "alloc"):
    return  # no ref, or a view of one
  shared, held = system.shared(ref), system.held(ref)
  given = hints.given_layout(ref.type)
  if system.op is None:  # what stands where the kernel is called is told by the first use
    system.op = next(iter(system.users.get(ref, [])), None)
  if shared is not None and given is not None:
    system.require(Hint(shared, given))
  if held is not None and hints.is_accumulator(ref.type):
    options = tuple((own,) for own in hints.accumulators(held.shape, system.arch, system.num_warps))
    system.require(OneOf((held,), options, f"{held} must be laid out as tensor cores add up products"))


def constrain(system: System, block: Block) -> None:
  """Add what the ops of a block say, nested blocks included."""
  for op in block.ops:
    system.op = op
    if not (op.results and all(v in system.free for v in op.results)):
      RULES.get(op.name, _moved)(system, op)


# --- values ------------------------------------------------------------------------------------------------------


@rule(*ELEMENTWISE)
def _elementwise(system: System, op: Op) -> None:
  result = system.of(op.result)
  if result is None:
    return
  system.require(Work(result, system.weight))
  for i in range(len(op.operands)):
    system.link_elementwise(op, i, result)


@rule("broadcast")
def _broadcast(system: System, op: Op) -> None:
  result = system.of(op.result)
  if result is None or system.of(op.operands[0]) is None:
    return
  wanted = system.use(op, 0)
  system.link(op, 0, wanted)
  system.require(Broadcast(wanted, result, tuple(op.attrs["dims"])))


@rule("reshape")
def _reshape(system: System, op: Op) -> None:
  result, operand = system.of(op.result), system.of(op.operands[0])
  if result is None or operand is None:
    return
  wanted = system.use(op, 0)
  if not _has_layouts(system, wanted, result):
    return _moved(system, op)
  system.link(op, 0, wanted)
  system.require(Reshaped(wanted, result))


def _has_layouts(system: System, operand: Variable, result: Variable) -> bool:
  """Whether some layout of a tile that is reshaped leaves elements where they are: one to begin with, or one that is proposed then."""
  for own, other in ((operand, result), (result, operand)):
    plain = blocked_for(own.shape, system.num_warps)
    for place in (*system.seeds(own), plain):
      try:
        assert isinstance(place, Layout)
        reshaped(place, other.shape)
      except errors.LayoutError:
        continue
      if place is plain:
        system.proposed.setdefault(own, []).append(plain)
      return True
  return False


@rule("transpose")
def _transpose(system: System, op: Op) -> None:
  result = system.of(op.result)
  if result is None or reads_shared_directly(system, op.result):
    return
  wanted = system.use(op, 0)
  system.link(op, 0, wanted)
  system.require(Transposed(wanted, result, tuple(op.attrs["permutation"])))


@rule("layout_cast")
def _layout_cast(system: System, op: Op) -> None:
  """The user says what the layout is from here on; what it was before need not be the same."""
  result = system.of(op.result)
  if result is None:
    return
  given = read_layout(op.attrs["layout"])
  if given.num_warps != system.num_warps:
    raise errors.LayoutError(
      f"layout_cast at {op.loc or '?'}: the layout is for {given.num_warps} warps, but the kernel has {system.num_warps}: "
      f"give it CompilerParams(num_warps={given.num_warps})"
    )
  if given.num_registers > system.max_registers:
    raise errors.LayoutError(
      f"layout_cast at {op.loc or '?'}: the layout gives each thread {given.num_registers} elements, but a tile in registers has at most "
      f"{system.max_registers} in a thread: use more warps, or cast smaller tiles"
    )
  system.require(Hint(result, given))
  system.link(op, 0, result)


@rule("reduce", "arg_reduce")
def _reduce(system: System, op: Op) -> None:
  operand, result = system.of(op.operands[0]), system.of(op.result)
  if operand is None:
    return
  axes = tuple(op.attrs["axes"]) if op.name == "reduce" else (op.attrs["axis"],)
  wanted = system.use(op, 0)
  system.link(op, 0, wanted)
  system.require(Reduces(wanted, axes, system.weight))
  if result is not None:
    system.require(Reduced(wanted, result, axes))


@rule("cumulative")
def _cumulative(system: System, op: Op) -> None:
  result = system.of(op.result)
  if result is not None:
    system.link(op, 0, result)
    system.require(Reduces(result, (op.attrs["axis"],), system.weight))


@rule("dynamic_update_slice")
def _update(system: System, op: Op) -> None:
  """The operand stays where it is; the update goes through shared memory."""
  result = system.of(op.result)
  if result is not None:
    system.link(op, 0, result)
    _any_layout(system, op, 1)


@rule("slice")
def _slice(system: System, op: Op) -> None:
  whole, part = system.of(op.operands[0]), system.of(op.result)
  if whole is None or part is None or any(stride != 1 for stride in op.attrs["strides"]):
    return _moved(system, op)
  wanted = system.use(op, 0)
  system.link(op, 0, wanted)
  system.require(PartOf(wanted, part, tuple(op.attrs["starts"]), system.weight))


@rule("concatenate")
def _concatenate(system: System, op: Op) -> None:
  whole = system.of(op.result)
  start, axis = 0, op.attrs["axis"]
  for i, value in enumerate(op.operands):
    if whole is not None and system.of(value) is not None:
      wanted = system.use(op, i)
      system.link(op, i, wanted)
      starts = tuple(start if a == axis else 0 for a in range(len(whole.shape)))
      system.require(PartOf(whole, wanted, starts, system.weight))
    start += value.tile.shape[axis]


@rule(
  *("pad", "reverse", "dynamic_slice", "gather", "scatter", "sort", "top_k", "recast"),
  *("atomic", "inline_asm", "threefry"),
)
def _moved(system: System, op: Op) -> None:
  """Elements change threads in ways that no layout describes: any layout on either side, with shared memory between."""
  for i in range(len(op.operands)):
    _any_layout(system, op, i)


def _any_layout(system: System, op: Op, i: int) -> None:
  """An operand is taken in whatever layout it has."""
  own = system.of(op.operands[i])
  if own is not None:
    system.uses[op, i] = own
    if op.operands[i] not in system.free:
      system.require(Work(own, system.weight))


# --- memory ------------------------------------------------------------------------------------------------------


def _memory(system: System, op: Op, tile: Variable, strides: tuple[int, ...]) -> None:
  """A tile that is read from, or written to, the ref of an op."""
  shared = system.shared(op.operands[0])
  given = hints.layout_in_stack(op.operands[0])
  if given is not None and given.shape == tile.shape:
    part = system.part(op.operands[0])
    system.require(Hint(part, given))
    system.require(SharedAccess(tile, part, system.weight))
  elif shared is not None and shared.shape == tile.shape:
    system.require(SharedAccess(tile, shared, system.weight))
  elif shared is None:
    system.strides.setdefault(tile, strides)
    system.require(MemoryAccess(tile, strides, system.weight))
  else:  # a window of a shared ref that is no ref of its own
    system.require(Work(tile, system.weight))


def _window_strides(op: Op) -> tuple[int, ...]:
  ref = op.operands[0].ref
  kept = [i for i in range(ref.rank) if i not in op.attrs["dropped"]]
  return tuple(ref.strides[i] * op.attrs["steps"][i] for i in kept)


@rule("load", "window_load")
def _load(system: System, op: Op) -> None:
  result = system.of(op.result)
  if result is None or reads_shared_directly(system, op.result):
    return
  held = system.held(op.operands[0])
  if held is not None:
    system.require(Equal(held, result))
    return
  _memory(system, op, result, op.operands[0].ref.strides if op.name == "load" else _window_strides(op))


@rule("store", "window_store", "copy_async", "store_async")
def _store(system: System, op: Op) -> None:
  if system.of(op.operands[1]) is None:
    return
  held = system.held(op.operands[0])
  if held is not None:
    system.link(op, 1, held)
    return
  wanted = system.use(op, 1)
  system.link(op, 1, wanted)
  strides = _window_strides(op) if "steps" in op.attrs else op.operands[0].ref.strides
  if op.operands[1] not in system.free or system.shared(op.operands[0]) is None:
    _memory(system, op, wanted, strides)


@rule("mma")
def _mma(system: System, op: Op) -> None:
  """A product is held where it is added up."""
  held, product = system.held(op.operands[0]), system.of(op.operands[1])
  assert held is not None and product is not None
  system.uses[op, 1] = held
  system.require(Equal(product, held))


@rule("gather_load")
def _gather(system: System, op: Op) -> None:
  _row_by_row(system, op.operands[0])
  result = system.of(op.result)
  if result is None:
    return
  system.require(Work(result, system.weight))
  for i in range(1, len(op.operands)):
    _position(system, op, i, result)


def _position(system: System, op: Op, i: int, wanted: Variable) -> None:
  """A position is held in the layout of the elements it addresses; one of a whole window in any layout."""
  if op.operands[i].tile.shape == wanted.shape:
    system.link(op, i, wanted)
  else:
    _any_layout(system, op, i)


@rule("scatter_store")
def _scatter(system: System, op: Op) -> None:
  """The value, its indices and the mask are in one layout: that of the value."""
  _row_by_row(system, op.operands[0])
  wanted = system.of(op.operands[1])
  if wanted is None:
    return
  system.require(Work(wanted, system.weight))
  for i in range(1, len(op.operands)):
    _position(system, op, i, wanted)


@rule("alloc")
def _alloc(system: System, op: Op) -> None:
  if any(user.name == "copy" for user in system.users.get(op.result, [])):
    _filled_by_copies(system, op.result)


def _filled_by_copies(system: System, ref: Value) -> None:
  """Shared memory that asynchronous copies fill or drain: TMA where there is one, else pieces of 16 bytes of a row."""
  shared = system.shared(ref)
  if system.is_plain or shared is None or not shared.shape or shared.shape[-1] * shared.bits // 8 % 16:
    return
  if system.arch.has_tma:
    system.require(TmaTransferable(shared))
  else:
    rows = tuple((shared_tiled(shared.shape, None, shared.bits, swizzle),) for swizzle in SWIZZLES)
    system.require(OneOf((shared,), rows, f"{shared} must be transferable by cp.async, in pieces of 16 bytes of a row"))


@rule("subview", "reshape_ref", "transpose_ref", "bitcast_ref", "cluster_ref")
def _view(system: System, op: Op) -> None:
  """A view of shared memory has the layout of its ref if it only takes the front dimensions apart; else both lie row-major."""
  base, view = system.shared(op.operands[0]), system.shared(op.result)
  if op.name == "reshape_ref":
    _row_by_row(system, op.operands[0])
  if base is None or view is None:
    return
  if base.shape == view.shape and base.bits == view.bits and op.name in ("bitcast_ref", "subview", "cluster_ref"):
    system.require(Equal(base, view))
    return
  if op.name == "transpose_ref" and system.is_plain:
    system.require(Transposed(base, view, tuple(op.attrs["permutation"])))
    return
  if op.name == "subview" and _takes_one(op):
    system.require(Stacked(base, view))
    return
  for ref in (op.operands[0], op.result):
    _row_by_row(system, ref)


def _row_by_row(system: System, ref: Value) -> None:
  """Shared memory that an op looks at in a way that only the order of its rows allows; as a whole, if it is part of it that it sees."""
  if system.is_plain:
    while isinstance(ref.owner, Op) and ref.owner.name in VIEWS:
      ref = ref.owner.operands[0]
  shared = system.shared(ref)
  if shared is not None and shared.shape:
    rows = shared_tiled(shared.shape, None, shared.bits)
    system.require(OneOf((shared,), ((rows,),), f"{shared} must lie row by row, without transforms"))


def _takes_one(op: Op) -> bool:
  """Whether a subview is one tile of an array of tiles: an index in front, everything behind."""
  shape, dropped = op.operands[0].ref.shape, sorted(op.attrs["dropped"])
  behind = range(len(dropped), len(shape))
  whole = all(op.attrs["sizes"][a] == shape[a] and op.attrs["steps"][a] == 1 for a in behind)
  return bool(dropped) and whole and dropped == list(range(len(dropped)))


# --- control -----------------------------------------------------------------------------------------------------


def _carry(system: System, op: Op, i: int, param: Value, result: Value | None) -> None:
  """What a loop is given, carries and gives has one layout."""
  own = system.of(param)
  if own is None:
    return
  system.link(op, i, own)
  after = system.of(result) if result is not None else None
  if after is not None:
    system.require(Equal(own, after))


def _inside(system: System, op: Op, block: Block, into: list[Value], loop: bool) -> None:
  """The ops of a nested block; what it yields becomes the values `into`."""
  system.depth += loop
  constrain(system, block)
  for i, (value, target) in enumerate(zip(block.yielded, into)):
    own, wanted = system.of(value), system.of(target)
    if own is None or wanted is None:
      continue
    system.op = block.ops[-1]
    system.uses[block.ops[-1], i] = wanted
    if value not in system.free and own != wanted:
      system.require(RelayoutAllowed(own, wanted, system.weight))
  system.depth -= loop
  system.op = op


@rule("for")
def _for(system: System, op: Op) -> None:
  (body,) = op.blocks
  for i, (param, result) in enumerate(zip(body.params[1:], op.results)):
    _carry(system, op, 2 + i, param, result)
  _inside(system, op, body, body.params[1:], True)


@rule("while")
def _while(system: System, op: Op) -> None:
  condition, body = op.blocks
  for i, (param, result) in enumerate(zip(body.params, op.results)):
    _carry(system, op, i, param, result)
    tested, own = system.of(condition.params[i]), system.of(param)
    if tested is not None and own is not None:
      system.require(Equal(tested, own))
  _inside(system, op, condition, [], True)
  _inside(system, op, body, body.params, True)


@rule("switch", "warps")
def _switch(system: System, op: Op) -> None:
  for block in op.blocks:
    _inside(system, op, block, op.results, False)


@rule(
  *("constant", "iota", "program_id", "num_programs", "yield", "copy"),
  *("alloc_semaphores", "signal", "wait", "read_semaphore", "delay", "arrive", "await", "meet", "barrier"),
  *("commit_copies", "await_copies", "await_products", "set_registers", "mma_wait", "copy_commit", "copy_wait"),
  *("remote", "lock_device", "unlock_device"),
)
def _nothing(system: System, op: Op) -> None:
  """No tiles, or tiles in any layout."""


@rule("print", "print_layout", "check")
def _seen(system: System, op: Op) -> None:
  for i in range(len(op.operands)):
    _any_layout(system, op, i)
