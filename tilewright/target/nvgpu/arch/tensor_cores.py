"""What tensor cores multiply, as one table that `mma.sync`, `wgmma`, layouts and plans read.

An instruction takes 32 bytes of each operand along k: sixteen halves, eight numbers rounded to tf32, 32 bytes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright.target.nvgpu.arch import Arch

_DEPTH_BYTES = 32
_FLOATS = ("float32", "float16", "bfloat16")


@dataclasses.dataclass(frozen=True)
class Kind:
  """A dtype of operands: its name in PTX, what products are added up in, and the dtypes that may be made of that."""

  name: str
  itemsize: int
  accumulator: str
  results: tuple[str, ...]
  since: tuple[int, int] = (8, 0)  # compute capability

  @property
  def depth(self) -> int:
    """Elements along k of an instruction."""
    return _DEPTH_BYTES // self.itemsize


KINDS = {
  np.dtype(jnp.bfloat16): Kind("bf16", 2, "f32", _FLOATS),
  np.dtype(np.float16): Kind("f16", 2, "f32", _FLOATS),
  np.dtype(jnp.float8_e4m3fn): Kind("e4m3", 1, "f32", _FLOATS, (8, 9)),
  np.dtype(jnp.float8_e5m2): Kind("e5m2", 1, "f32", _FLOATS, (8, 9)),
  np.dtype(np.int8): Kind("s8", 1, "s32", ("int32",)),
  np.dtype(np.uint8): Kind("u8", 1, "s32", ("int32",)),
  np.dtype(np.float32): Kind("tf32", 4, "f32", ("float32",)),  # where a product may be rounded so
}
NAMED = {kind.name: kind for kind in KINDS.values()}
HALVES = {dtype: kind.name for dtype, kind in KINDS.items() if kind.itemsize == 2}


def is_rounded(dtype: Any) -> bool:
  """Whether operands lose digits in the tensor cores, which the user has to allow."""
  return np.dtype(dtype) == np.float32


def multiplies(arch: Arch, dtype: Any, result: Any) -> bool:
  """Whether an architecture multiplies operands of a dtype, with products of another."""
  kind = KINDS.get(np.dtype(dtype))
  return kind is not None and np.dtype(result).name in kind.results and arch.capability >= kind.since
