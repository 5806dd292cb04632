"""The static check for collectives that some devices might not come to, and the watchdog."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.support.communicating_kernels import permute_right
from tests.support.device_meshes import mesh_of, numbers, on
from tilewright import collectives

N = 4
pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 4 devices: set XLA_FLAGS before JAX starts")


def found(f):
  spec = P("x")
  whole = jax.shard_map(f, mesh=mesh_of(x=N), in_specs=spec, out_specs=spec, check_vma=False)
  return collectives.check(whole, jax.ShapeDtypeStruct((4 * N, 8), np.float32))


REDUCTIONS = {"ours": lambda x: collectives.all_reduce(x, "x"), "jax": lambda x: lax.psum(x, "x")}


@pytest.mark.parametrize("reduce", REDUCTIONS.values(), ids=REDUCTIONS)
def test_a_collective_under_a_condition_of_the_device_is_found(reduce):
  (one,) = found(lambda x: lax.cond(lax.axis_index("x") == 0, reduce, lambda x: x, x))
  assert (
    one.depends_on == ("x",) and one.kind == "cond" and "test_check.py" in one.line and "test_check.py" in one.condition
  )
  assert "all devices along x" in str(one)


def test_a_condition_of_split_data_counts_and_a_reduced_one_does_not():
  under = lambda condition: lambda x: lax.cond(condition(x), lambda x: lax.psum(x, "x"), lambda x: x, x)
  assert len(found(under(lambda x: x.sum() > 0))) == 1
  assert not found(under(lambda x: lax.psum(x.sum(), "x") > 0))
  assert not found(under(lambda x: collectives.all_reduce(x.sum(), "x") > 0))
  assert not found(under(lambda x: jnp.bool_(True)))


def test_loops_of_different_lengths_are_found():
  def f(x):
    return lax.while_loop(lambda s: s[0] < lax.axis_index("x"), lambda s: (s[0] + 1, lax.psum(s[1], "x")), (0, x))[1]

  (one,) = found(f)
  assert one.kind == "while"
  assert not found(lambda x: lax.fori_loop(0, 3, lambda i, x: lax.psum(x, "x"), x))

  def carried(x):  # the number of steps is known only from a value that the loop before it made
    n, _ = lax.scan(lambda c, _: (c + lax.axis_index("x"), None), jnp.int32(0), None, length=2)
    return lax.fori_loop(0, n, lambda i, x: lax.psum(x, "x"), x)

  assert len(found(carried)) == 1


def test_kernels_that_talk_count_as_collectives():
  (one,) = found(lambda x: lax.cond(lax.axis_index("x") < 2, lambda x: permute_right(x, N), lambda x: x, x))
  assert "the kernel 'kernel'" in one.collective


def test_the_watchdog_says_who_is_missing(monkeypatch, capfd):
  monkeypatch.setenv("TILEWRIGHT_WATCHDOG", "0.2")
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "1")
  f = lambda x: lax.cond(lax.axis_index("x") < 3, lambda x: collectives.all_reduce(x, "x"), lambda x: x, x)
  with pytest.raises(jax.errors.JaxRuntimeError):
    on(f, numbers((N, 4), np.float32), mesh=mesh_of(x=N))
  said = capfd.readouterr().err
  assert (
    "tilewright: The devices 0, 1, 2 have waited" in said and "not come to it: 3" in said and "test_check.py" in said
  )
