"""Relayout within warps by shuffles: the steps that move every atom from its slot to its target slot.

Atoms that must enter lanes are in registers; those that must leave lanes go to registers. An atom enters a lane slot by being *chosen* (if
the lanes are copies there) or *exchanged* for the atom in that slot; atoms that leave without an exchange are *gathered*. Then the
lanes hold the right atoms, perhaps in the wrong order: *permute*. Warps cannot receive data, only choose among the copies they hold.
The registers are renamed at the end. If an atom would have to cross warps, there is no such plan.
"""

from __future__ import annotations

import itertools
import math

from tilewright.layout.atoms import Atom, Slots
from tilewright.layout.layout import LANE, WARP
from tilewright.layout.steps import Choose, Exchange, Gather, Permute, Rename, Step


class _State:
  """Where the atoms are now, and the steps so far."""

  def __init__(self, slots: Slots):
    self.register = [slot for slot in slots.register if slot[0] is not None]
    self.lane = [atom for atom, _ in slots.lane]
    self.warp = list(slots.warp)
    self.steps: list[Step] = []
    if len(self.register) < len(slots.register):  # registers that are copies go first
      sizes = [size for _, size in slots.register]
      kept = [atom is not None for atom, _ in slots.register]
      self.steps.append(
        Rename(tuple(r for r in range(math.prod(sizes)) if all(k or not d for k, d in zip(kept, _digits(r, sizes)))))
      )

  @property
  def sizes(self) -> list[int]:
    return [size for _, size in self.register]

  def slot_of(self, atom: Atom) -> int | None:
    return next((i for i, (own, _) in enumerate(self.register) if own == atom), None)

  # --- steps -----------------------------------------------------------------------------------------------------

  def choose(self, atom: Atom, name: str, slot: int) -> None:
    """An atom goes from registers to a slot where threads held copies."""
    position = self.slot_of(atom)
    assert position is not None
    place = 1 << slot if name == LANE else math.prod(size for _, size in self.warp[:slot])
    sizes = self.sizes
    rest = [range(size) if i != position else range(1) for i, size in enumerate(sizes)]
    choices = tuple(
      tuple(
        _number([d if i != position else k for i, d in enumerate(reversed(digits))], sizes) for k in range(atom.size)
      )
      for digits in itertools.product(*reversed(rest))
    )
    self.steps.append(Choose(name, place, choices))
    del self.register[position]
    if name == LANE:
      self.lane[slot] = atom
    else:
      self.warp[slot] = (atom, atom.size)

  def exchange(self, atom: Atom, slot: int) -> None:
    position = self.slot_of(atom)
    assert position is not None
    sizes = self.sizes
    place = math.prod(sizes[:position])
    lows = [r for r in range(math.prod(sizes)) if not r // place % 2]
    self.steps.append(Exchange(1 << slot, tuple((r, r + place) for r in lows)))
    self.register[position], self.lane[slot] = (self.lane[slot], 2), atom

  def gather(self, slot: int) -> None:
    """The atom of a lane slot becomes the most significant register digit."""
    count = math.prod(self.sizes)
    self.steps.append(Gather(1 << slot, tuple((r, bit) for bit in range(2) for r in range(count))))
    self.register.append((self.lane[slot], 2))
    self.lane[slot] = None

  def permute(self, wanted: list[Atom | None]) -> None:
    """Lane slots in the wanted order; slots without an atom keep their own bit."""
    if all(w is None or w == own for w, own in zip(wanted, self.lane)):
      self.lane = [own if w is not None else None for w, own in zip(wanted, self.lane)]
      return
    source = []
    for lane in range(1 << len(self.lane)):
      bits = [lane >> slot & 1 for slot in range(len(self.lane))]
      for slot, atom in enumerate(self.lane):
        if atom is not None:
          bits[slot] = lane >> wanted.index(atom) & 1
      source.append(sum(bit << slot for slot, bit in enumerate(bits)))
    self.steps.append(Permute(tuple(source), math.prod(self.sizes)))
    self.lane = list(wanted)

  def rename(self, wanted: Slots) -> None:
    """Registers in the wanted order, with the copies that are wanted."""
    target = [size for _, size in wanted.register]
    sizes = self.sizes
    source = []
    for r in range(math.prod(target)):
      digit = {atom: d for (atom, _), d in zip(wanted.register, _digits(r, target))}
      source.append(_number([digit[atom] for atom, _ in self.register], sizes))
    if source != list(range(math.prod(sizes))):
      self.steps.append(Rename(tuple(source)))


def shuffle_steps(source: Slots, target: Slots) -> tuple[Step, ...] | None:
  """Steps inside of warps from one layout to another, or None if some atom must cross warps."""
  if len(source.warp) != len(target.warp) or [s for _, s in source.warp] != [s for _, s in target.warp]:
    return None
  to_warp: list[tuple[int, Atom]] = []
  for slot, ((own, _), (wanted, _)) in enumerate(zip(source.warp, target.warp)):
    if own == wanted:
      continue
    if own is not None or wanted is None or wanted in source.atoms(WARP):
      return None
    to_warp.append((slot, wanted))
  state = _State(source)
  wanted_lanes = [atom for atom, _ in target.lane]
  _choose_for_warps(state, to_warp)
  coming = [(slot, atom) for slot, atom in enumerate(wanted_lanes) if atom is not None and atom not in state.lane]
  _enter_lanes(state, coming, wanted_lanes)
  for slot, atom in enumerate(state.lane):
    if atom is not None and atom not in wanted_lanes:
      state.gather(slot)
  _choose_for_warps(state, to_warp)
  state.permute(wanted_lanes)
  state.rename(target)
  return tuple(state.steps)


def _choose_for_warps(state: _State, to_warp: list[tuple[int, Atom]]) -> None:
  """Warps choose as early as the atom is in registers: the fewer registers, the cheaper the rest."""
  for slot, atom in list(to_warp):
    if state.slot_of(atom) is not None:
      state.choose(atom, WARP, slot)
      to_warp.remove((slot, atom))


def _enter_lanes(state: _State, coming: list[tuple[int, Atom]], wanted: list[Atom | None]) -> None:
  """Each atom into its own lane slot if that is free or leaves; else into any such slot, for the permutation to put right."""

  def is_free(slot: int) -> bool:
    return state.lane[slot] is None

  def leaves(slot: int) -> bool:
    atom = state.lane[slot]
    return atom is not None and atom not in wanted

  later = []
  for slot, atom in coming:
    if is_free(slot):
      state.choose(atom, LANE, slot)
    elif leaves(slot):
      state.exchange(atom, slot)
    else:
      later.append(atom)
  for atom in later:
    slots = range(len(state.lane))
    free = next((s for s in slots if is_free(s)), None)
    if free is not None:
      state.choose(atom, LANE, free)
    else:
      state.exchange(atom, next(s for s in slots if leaves(s)))


def _digits(number: int, sizes: list[int]) -> list[int]:
  found = []
  for size in sizes:
    found.append(number % size)
    number //= size
  return found


def _number(digits: list[int], sizes: list[int]) -> int:
  total, place = 0, 1
  for digit, size in zip(digits, sizes):
    total += digit * place
    place *= size
  return total
