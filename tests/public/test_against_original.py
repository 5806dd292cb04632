"""Small kernels, and small mistakes, through `jax.experimental.pallas` with interpret=True and through ours.

All reads, and all writes, are one program for each, so that XLA compiles once.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as original
from jax.experimental.pallas import tpu as original_tpu

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

X = np.arange(8 * 12, dtype=np.float32).reshape(8, 12)
FULL = jax.ShapeDtypeStruct(X.shape, X.dtype)

ONES = jnp.ones(12)


def array(*values):
  """An array that a kernel makes, and does not capture."""
  return jnp.concatenate([jnp.full(1, v, jnp.int32) for v in values])


# Of a ref of 8 by 12; `p` is the module of the kernel language.
READS = {
  "int": lambda p, r: r[3],
  "negative": lambda p, r: r[-3, -4],
  "slice": lambda p, r: r[-3:-1],
  "steps": lambda p, r: r[1::2, ::3],
  "beyond the end": lambda p, r: r[6:20],
  "ellipsis": lambda p, r: r[..., 2],
  "NumPy ints": lambda p, r: r[np.int64(2), np.uint8(3)],
  "ds": lambda p, r: r[p.ds(2, 3), p.ds(1, 4)],
  "ds with a stride": lambda p, r: r[p.ds(1, 3, 2), p.ds(0, 4, 3)],
  "computed ds": lambda p, r: lax.fori_loop(0, 3, lambda i, a: a + r[p.ds(i, 2, 2)], jnp.zeros((2, 12))),
  "computed negative int": lambda p, r: lax.fori_loop(0, 2, lambda i, a: a + r[i - 2], jnp.zeros(12)),
  "array": lambda p, r: r[array(2, 0, 5)],
  "arrays": lambda p, r: r[array(2, 0, 5), array(1, 1, 7)],
  "arrays that broadcast": lambda p, r: r[jnp.arange(3)[:, None], jnp.arange(4)[None]],
  "array and slice": lambda p, r: r[array(2, 0, 5), 2:4],
  "slice and array": lambda p, r: r[2:4, array(2, 0, 5)],
  "array and ds": lambda p, r: r[array(2, 0, 5), p.ds(2, 2)],
  "negative array": lambda p, r: r[array(-1, -8)],
  "view": lambda p, r: r.at[2:6].at[1][...],
  "view of a view": lambda p, r: r.at[p.ds(1, 6)].at[p.ds(2, 3), p.ds(3, 6)].at[:, 1:3][...],
  "strides of strides": lambda p, r: r.at[p.ds(0, 4, 2)].at[p.ds(0, 2, 2)][...],
  "reshape": lambda p, r: r.reshape(-1, 6)[...],
  "part of a reshape": lambda p, r: r.reshape((4, 2, 12)).at[1][...],
  "bitcast": lambda p, r: lax.bitcast_convert_type(r.bitcast(jnp.int32)[...], jnp.float32),
}

WRITES = {
  "int": lambda p, i, o: o.__setitem__(-1, i[2]),
  "steps": lambda p, i, o: o.__setitem__(slice(1, 7, 2), i[:3]),
  "Python number": lambda p, i, o: o.__setitem__((1, 2), 3.0),
  "array": lambda p, i, o: o.__setitem__(array(1, 5, 2), i[:3]),
  "arrays": lambda p, i, o: o.__setitem__((array(1, 5, 2), array(0, 3, 3)), i[0, :3]),
  "slice and array": lambda p, i, o: o.__setitem__((slice(0, 2), array(0, 3, 5)), i[:2, :3]),
  "view": lambda p, i, o: o.at[2:4].__setitem__(1, i[0]),
  "computed": lambda p, i, o: lax.fori_loop(
    0, 4, lambda j, _: o.__setitem__((p.ds(j * 2, 2), p.ds(j, 3)), i[p.ds(j, 2), p.ds(j, 3)]), None
  ),
  "input": lambda p, i, o: (i.__setitem__(0, i[1] * 2), o.__setitem__(slice(0, 2), i[:2])),
}


@functools.cache
def results(p, interpret):
  """What every read gives and what every write leaves."""

  def of_read(read):
    shape = jax.eval_shape(lambda x: read(original, jax.new_ref(x)), X)

    def kernel(i, o):
      o[...] = read(p, i)

    return p.pallas_call(kernel, jax.ShapeDtypeStruct(shape.shape, shape.dtype), interpret=interpret)

  def of_write(write):
    def kernel(i, o):
      o[...] = jnp.zeros_like(o)
      write(p, i, o)

    return p.pallas_call(kernel, FULL, interpret=interpret)

  calls = {f"read {name}": of_read(f) for name, f in READS.items()}
  calls |= {f"write {name}": of_write(f) for name, f in WRITES.items()}
  return jax.jit(lambda x: {name: call(x) for name, call in calls.items()})(X)


@pytest.mark.filterwarnings("ignore::tilewright.errors.InputWriteWarning")
@pytest.mark.parametrize("interpret", [False, True], ids=["native", "portable"])
def test_indices_mean_what_they_mean_in_the_original(interpret):
  wanted = results(original, True)
  found = results(pl, interpret)
  wrong = [name for name in wanted if not np.array_equal(found[name], wanted[name])]
  assert not wrong


def _call(p, kernel, *args, out=FULL, **options):
  return p.pallas_call(kernel, out, interpret=True, **options)(*(args or (X,)))


def _copy(i, o):
  o[...] = i[...]


def _block(p, shape, index_map):
  return {"grid": (2,), "in_specs": [p.BlockSpec(shape, index_map)]}


REGULAR, DMA = "REGULAR", "DMA"


def _with_semaphore(p, t, kind, body, out=FULL):
  return _call(p, body, out=out, scratch_shapes=[getattr(t.SemaphoreType, kind)])


MISTAKES = {
  "rank of a block": lambda p, t: _call(p, _copy, **_block(p, (8,), lambda i: (0,))),
  "arity of an index map": lambda p, t: _call(p, _copy, **_block(p, (4, 12), lambda i, j: (0, 0))),
  "length of an index": lambda p, t: _call(p, _copy, **_block(p, (4, 12), lambda i: (0,))),
  "array as an index": lambda p, t: _call(p, _copy, **_block(p, (4, 12), lambda i: (jnp.arange(4), 0))),
  "float as an index": lambda p, t: _call(p, _copy, **_block(p, (4, 12), lambda i: (i * 1.5, 0))),
  "too many specs": lambda p, t: _call(p, _copy, in_specs=[p.BlockSpec(), p.BlockSpec()]),
  "tree of output specs": lambda p, t: _call(p, _copy, out_specs=[p.BlockSpec(), p.BlockSpec()]),
  "type of an output": lambda p, t: _call(p, _copy, out=(16, 16)),
  "alias of an input that is not there": lambda p, t: _call(p, _copy, input_output_aliases={2: 0}),
  "alias of an output that is not there": lambda p, t: _call(p, _copy, input_output_aliases={0: 2}),
  "shape of an alias": lambda p, t: _call(
    p, _copy, out=jax.ShapeDtypeStruct((4, 12), X.dtype), input_output_aliases={0: 0}
  ),
  "a result": lambda p, t: _call(p, lambda i, o: 1),
  "a captured array": lambda p, t: _call(p, lambda i, o: o.__setitem__(..., i[...] + ONES)),
  "an axis that is not there": lambda p, t: _call(p, lambda i, o: o.__setitem__(0, p.program_id(1)), grid=(1,)),
  "an axis of the wrong type": lambda p, t: _call(p, lambda i, o: o.__setitem__(0, p.program_id("i")), grid=(1,)),
  "shape of a store": lambda p, t: _call(p, lambda i, o: o.__setitem__(..., i[:4])),
  "a store that broadcasts": lambda p, t: _call(p, lambda i, o: o.__setitem__(slice(1, 7, 2), i[0])),
  "an integer into floats": lambda p, t: _call(p, lambda i, o: o.__setitem__(0, jnp.zeros(12, int))),
  "a condition that is an array": lambda p, t: _call(p, lambda i, o: p.when(i[...] > 0)(lambda: None)),
  "a branch with a result": lambda p, t: _call(p, lambda i, o: p.when(i[0, 0] > 0)(lambda: i[...])),
  "a loop with a result": lambda p, t: _call(p, lambda i, o: p.loop(0, 4)(lambda j: j)),
  "a semaphore that is none": lambda p, t: _with_semaphore(p, t, REGULAR, lambda i, o, s: p.semaphore_signal(i, 1)),
  "a copy with another semaphore": lambda p, t: _with_semaphore(
    p, t, REGULAR, lambda i, o, s: t.async_copy(i, o, s).wait()
  ),
  "a copy to another shape": lambda p, t: _with_semaphore(
    p, t, DMA, lambda i, o, s: t.async_copy(i.at[:4], o, s).wait()
  ),
  "a copy to another dtype": lambda p, t: _with_semaphore(
    p, t, DMA, lambda i, o, s: t.async_copy(i, o, s).wait(), out=jax.ShapeDtypeStruct(X.shape, jnp.int32)
  ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_raises_the_built_in_class_that_the_original_raises(name):
  with pytest.raises((TypeError, ValueError, IndexError)) as wanted:
    MISTAKES[name](original, original_tpu)
  builtin = next(c for c in wanted.type.__mro__ if c.__module__ == "builtins")
  with pytest.raises(builtin):
    MISTAKES[name](pl, pltpu)
