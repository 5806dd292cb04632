"""Layouts of buffers in shared memory for which the user gave none.

Tensor cores read matrices in tiles of eight rows with a swizzle, and TMA writes them so. A buffer that is an operand of a product, and that
is otherwise only loaded from, stored to and copied, is given the widest swizzle that its rows allow:

    SMEM((2, 128, 128), bfloat16)    →    smem.tile-8x64.swizzle-128
"""

from __future__ import annotations

import dataclasses

from tilewright.layout.transforms import Swizzle, Tiling
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC
from tilewright.target.nvgpu.passes.layouts.hints import SHARED_MEMORY, space_text, split_space
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS
from tilewright.tile.types import RefType

_SWIZZLES = (128, 64, 32)  # bytes
_ROWS = 8
_BITS = (8, 16)  # of elements that tensor cores multiply


def choose(kernel: NativeKernel) -> NativeKernel:
  """A kernel whose operands of products lie in shared memory as tensor cores read them. Its body is changed in place."""
  used = users(kernel.body.body)
  found = dict.fromkeys(
    ref for op in walk(kernel.body.body) if op.name == "dot" for v in op.operands if (ref := _buffer(v)) is not None
  )
  chosen = {ref: kind for ref in found if (kind := _laid_out(ref, used)) is not None}
  if not chosen:
    return kernel
  for ref, kind in chosen.items():
    _retype(ref, kind, used)
  first = len(kernel.body.params) - len(kernel.scratch)
  scratch = tuple(chosen.get(ref, kind) for ref, kind in zip(kernel.body.params[first:], kernel.scratch, strict=True))
  return dataclasses.replace(kernel, scratch=scratch)


def _buffer(operand: Value) -> Value | None:
  """The buffer in shared memory from which an operand is loaded, if the user did not say how it lies."""
  load = behind_transposes(operand)[0].owner
  if not isinstance(load, Op) or load.name != "load":
    return None
  ref = base_of(load.operands[0])
  return ref if split_space(ref.ref.space)[0] == SHARED_MEMORY else None


def _laid_out(ref: Value, used: dict[Value, list[Op]]) -> RefType | None:
  """The type of a buffer with a swizzle; None where it has no room for one, or is looked at in a way that does not allow it."""
  kind, bits = ref.ref, 8 * ref.ref.dtype.itemsize
  if bits not in _BITS or kind.rank < 2 or kind.shape[-2] % _ROWS or not _is_seen_by_parts(ref, used):
    return None
  row = kind.shape[-1] * bits // 8
  swizzle = next((size for size in _SWIZZLES if row % size == 0), None)
  if swizzle is None:
    return None
  transforms = Tiling((_ROWS, swizzle * 8 // bits)), Swizzle(swizzle)
  return dataclasses.replace(kind, space=space_text(transforms, split_space(kind.space)[1]))


def _is_seen_by_parts(ref: Value, used: dict[Value, list[Op]]) -> bool:
  """Whether a ref and its views are only cut, transposed, loaded from and stored to."""
  for op in used.get(ref, ()):
    if op.name in ("subview", "transpose_ref"):
      if any(step != 1 for step in op.attrs.get("steps", ())) or not _is_seen_by_parts(op.result, used):
        return False
    elif op.name not in ("load", "store", COPY_ASYNC) or ref in op.operands[1:]:
      return False
  return True


def _retype(ref: Value, kind: RefType, used: dict[Value, list[Op]]) -> None:
  """Give a ref another type, and its views those that follow."""
  ref.type = kind
  if isinstance(ref.owner, Op) and ref.owner.name == "alloc":
    ref.owner.attrs["space"] = kind.space
  for op in used.get(ref, ()):
    for view, own in zip(op.results, OPS[op.name].infer(op)):
      if isinstance(own, RefType):
        _retype(view, own, used)
