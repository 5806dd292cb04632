"""The threads of a block as NumPy arrays, with the methods that code generation calls: emitting code for it runs the code.

A value is an array over (lane, warp); a word is several of them, an array over (element, lane, warp).
"""

from __future__ import annotations

import contextlib
import operator

import numpy as np
from llvmlite import ir

from tilewright.target.nvgpu.emit.symbolic import Number

LANE = np.arange(32)


def plain(x):
  return x.constant if isinstance(x, ir.Constant) else x


class Builder:
  """The arithmetic of an IRBuilder, done at once."""

  def __init__(self):
    self.active = []

  def icmp_unsigned(self, how, a, b):
    compare = {"==": operator.eq, "!=": operator.ne, "<": operator.lt}[how]
    return compare(plain(a), plain(b))

  def select(self, condition, a, b):
    return np.where(condition, plain(a), plain(b))

  @contextlib.contextmanager
  def if_then(self, condition):
    self.active.append(condition)
    yield
    self.active.pop()

  def is_active(self, shape):
    return np.logical_and.reduce([np.ones(shape, bool), *(np.broadcast_to(c, shape) for c in self.active)])


for _name, _f in {
  **{"add": operator.add, "mul": operator.mul, "shl": operator.lshift, "lshr": operator.rshift},
  **{"udiv": operator.floordiv, "urem": operator.mod, "and_": operator.and_, "xor": operator.xor},
}.items():
  setattr(Builder, _name, lambda self, a, b, f=_f: f(plain(a), plain(b)))


class Warps:
  """A model of `relayout.Machine`."""

  def __init__(self, num_warps: int, nbytes: int = 0, size: int = 1):
    self.builder = Builder()
    self.shape = (32, num_warps)
    self.lane = Number(self.builder, np.broadcast_to(LANE[:, None], self.shape), 32)
    self.warp = Number(self.builder, np.broadcast_to(np.arange(num_warps)[None, :], self.shape), num_warps)
    self.memory = np.full(nbytes // size, -1)
    self.size = size

  def pack(self, values, bits):
    assert len(values) * bits <= max(bits, 32)
    return np.stack([np.broadcast_to(v, self.shape) for v in values])

  def unpack(self, word, count, bits):
    return list(word[:count])

  def butterfly(self, word, mask):
    return word[:, LANE ^ mask]

  def from_lane(self, word, lane):
    return np.take_along_axis(word, np.broadcast_to(plain(lane), self.shape)[None], axis=1)

  def before_store(self):
    pass

  def before_load(self):
    pass

  def _at(self, address):
    return np.broadcast_to(plain(address.value if isinstance(address, Number) else address), self.shape)

  def store(self, address, values, bits):
    at = self._at(address)
    active = self.builder.is_active(self.shape)
    assert (at[active] % (len(values) * bits // 8) == 0).all()
    for i, value in enumerate(values):
      self.memory[at[active] // self.size + i] = np.broadcast_to(value, self.shape)[active]

  def load(self, address, count, bits):
    at = self._at(address)
    assert (at % (count * bits // 8) == 0).all()
    return [self.memory[at // self.size + i] for i in range(count)]

  def _matrix_places(self, address, count, transposed):
    """For each matrix and element of a word: where it is, per lane and warp. Lane 8m + r gives the address of row r of matrix m."""
    at = self._at(address)
    each = 4 // self.size
    for m in range(count):
      rows = at[8 * m : 8 * m + 8]
      assert (rows % 16 == 0).all()
      if transposed:
        assert each == 2
        yield [rows[2 * (LANE % 4) + j] + 2 * (LANE // 4)[:, None] for j in range(2)]
      else:
        yield [rows[LANE // 4] + 4 * (LANE % 4)[:, None] + j * self.size for j in range(each)]

  def store_matrices(self, address, words, transposed):
    active = self.builder.is_active(self.shape)
    for word, places in zip(words, self._matrix_places(address, len(words), transposed)):
      for element, place in zip(word, places):
        self.memory[place[active] // self.size] = element[active]

  def load_matrices(self, address, count, transposed):
    return [
      np.stack([self.memory[place // self.size] for place in places])
      for places in self._matrix_places(address, count, transposed)
    ]
