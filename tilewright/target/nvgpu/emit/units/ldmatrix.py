"""Tiles that go between registers and laid out shared memory by matrix instructions (`ldmatrix`, `stmatrix`).

Shared memory that is tiled or swizzled can be read and written in matrices of 8 rows of 16 bytes, by instructions that deal each out over a
warp:

    store_of(code, view, layout)    # an Access of kind "matrix" or "transposed", or None: vectors do as well

`layout.access` reads off the addresses which ways there are, and counts what each takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.layout.access import VECTOR, Access, best_access
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.layout import Layout
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.cta_memory import BlockDevice
from tilewright.target.nvgpu.emit.ops.relayout import load, store
from tilewright.target.nvgpu.emit.register_tiles import Registers
from tilewright.target.nvgpu.emit.views import View
from tilewright.tile.ir import Op, Value

if TYPE_CHECKING:
  from tilewright.target.nvgpu.emit.code import BlockCode


def load_of(view: Any, layout: Layout) -> Access | None:
  """How a tile in a layout comes from a whole buffer that is laid out in some way, if matrix instructions do it best."""
  return _best(view, layout, True) if _is_laid_out(view) else None


def store_of(code: BlockCode, view: Any, layout: Layout) -> Access | None:
  """How a tile in a layout goes to such a buffer, if matrix instructions do it best."""
  return _best(view, layout, code.arch.has_stmatrix, is_store=True) if _is_laid_out(view) else None


def _is_laid_out(view: Any) -> bool:
  """Whether a place is a whole buffer, laid out in some way."""
  if not isinstance(view, View) or view.tiled is None or view.has_edges or view.is_elsewhere:
    return False
  return view.along == views.whole(view.tiled)


def _best(view: View, layout: Layout, matrices: bool, is_store: bool = False) -> Access | None:
  assert view.tiled is not None
  way = best_access(without_register_copies(layout), view.tiled, matrices, owners_only=is_store)
  return way if way.kind != VECTOR else None


def fill(code: BlockCode, place: Any, v: Value, layout: Layout | None) -> bool:
  """Move a tile between registers and such a buffer, if one of the two is where it goes and the other where it is: whether it was."""
  if isinstance(place, Registers):
    return _fill_registers(code, place, v)
  layout = layout or code.layout_of(v)
  way = None if layout is None else store_of(code, place, layout)
  if way is None:
    return False
  assert layout is not None
  store(layout, place.tiled, way, code.elements_of(v, layout), place.tiled.bits, BlockDevice(code, place))
  return True


def _fill_registers(code: BlockCode, registers: Registers, v: Value) -> bool:
  op = v.owner
  source = code.env.get(op.operands[0]) if isinstance(op, Op) and op.name == "load" and v not in code.env else None
  way = load_of(source, registers.layout)
  if way is None:
    return False
  assert isinstance(source, View) and source.tiled is not None
  device = BlockDevice(code, source)
  device.before_load()
  registers.set_elements(code.b, load(registers.layout, source.tiled, way, source.tiled.bits, device))
  return True
