"""Register budgets of warpgroups that use `setmaxnreg`: no warpgroup may wait for more registers than the others ever release.

All threads of a CTA begin with the same number. The maximum of a warpgroup is what remains when the others hold their minimum:

    three warpgroups begin with 168 each, 512 in all      warpgroup 2 keeps 40      0 and 1 may have 232 and 240, or 240 and 232
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright import errors
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.ir.ops import MMA
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles
from tilewright.tile.ir import Op, walk
from tilewright.tile.native import NativeKernel

_OTHERS = 40  # registers of a thread that multiplies, besides its accumulator: addresses, counters, fragments


def of_accumulator(kernel: NativeKernel, uses: Sequence[Op], usual: int) -> int:
  """The registers of a thread that an accumulator may take: what the warpgroups that multiply have, without what all code needs. Where
  no warpgroup starts products, the `usual` number."""
  if not any(op.name == MMA for op in uses):
    return usual
  roles = Roles(kernel)
  found = [threads.registers_of(kernel.warpgroups * threads.GROUP)] * kernel.warpgroups
  for op in walk(kernel.body.body):
    if op.name == "set_registers" and op.attrs["increase"]:
      for wg in roles.comes_to(op):
        found[wg] = max(found[wg], op.attrs["count"])
  multiply = {wg for op in uses if op.name == MMA for wg in roles.comes_to(op)}
  return max(usual, min((found[wg] for wg in multiply), default=usual) - _OTHERS)


def check(kernel: NativeKernel, roles: Roles) -> None:
  """Refuse a kernel in which a warpgroup would never end its wait for registers."""
  begins = threads.registers_of(kernel.warpgroups * threads.GROUP)
  everyone = range(kernel.warpgroups)
  requests: dict[int, list[Op]] = {wg: [] for wg in everyone}
  for op in walk(kernel.body.body):
    if op.name == "set_registers":
      for wg in roles.comes_to(op):
        requests[wg].append(op)
  kept = {
    wg: min([begins, *(op.attrs["count"] for op in own if not op.attrs["increase"])]) for wg, own in requests.items()
  }
  for wg in everyone:
    left = threads.REGISTERS // threads.GROUP - sum(kept[other] for other in everyone if other != wg)
    for op in requests[wg]:
      if op.attrs["increase"] and op.attrs["count"] > max(left, begins):
        others = ", ".join(f"warpgroup {other} keeps {kept[other]}" for other in everyone if other != wg)
        raise errors.ResourceExhaustedError(
          f"{op.loc or kernel.name}: plgpu.set_max_registers({op.attrs['count']}, action='increase') in warpgroup {wg} exceeds available "
          f"registers: each thread begins with {begins}, {others or 'there are no others'}, and {left} are left. Decrease those of other "
          "warpgroups more, or ask for fewer."
        )
