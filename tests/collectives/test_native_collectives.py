"""The HLO pass that calls kernels for collectives: what programs compute with it, what it leaves alone, and how devices share threads."""

from __future__ import annotations

import logging
import os
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import tilewright.collectives  # noqa: F401  offers its kernels
from tilewright import hlo

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs 8 devices: set XLA_FLAGS before JAX starts")


def compiled(f, *xs, options="", **axes):
  """A function of one device's part, for shard_map, compiled with the pass."""
  devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))]).reshape(*axes.values())
  mesh = jax.sharding.Mesh(devices, tuple(axes))
  spec = P(tuple(axes))
  whole = jax.shard_map(lambda *xs: f(*(x[0] for x in xs))[None], mesh=mesh, in_specs=spec, out_specs=spec)
  with hlo.install([f"native_collectives{options}"]):
    return jax.jit(whole).lower(*xs).compile()


def calls(program) -> int:
  return program.as_text().count('custom_call_target="tilewright_cpu"')


def numbers(n, *shape, dtype=np.float32):
  return np.random.default_rng(0).integers(-4, 5, (n, *shape)).astype(dtype)


def varying(x, axis="x"):
  return lax.pcast(x, axis, to="varying")


@pytest.mark.parametrize("dtype", [np.float32, np.int32, jnp.bfloat16], ids=lambda d: np.dtype(d).name)
def test_reductions_are_kernels_and_give_the_same(dtype):
  x = numbers(8, 5, 7, dtype=dtype)
  program = compiled(lambda x: varying(lax.psum(x, "x")), x, x=8)
  assert calls(program) == 1 and " all-reduce(" not in program.as_text()
  np.testing.assert_array_equal(np.asarray(program(x)), np.stack([x.sum(0)] * 8))


def test_several_reductions_over_axes_of_a_mesh():
  x = numbers(8, 3, 4)

  def step(x):
    return varying(lax.psum(x, "a"), "a") + varying(lax.pmax(x, ("a", "b")), ("a", "b"))

  program = compiled(step, x, a=2, b=4)
  assert calls(program) == 2
  by_mesh = x.reshape(2, 4, 3, 4)
  expected = (by_mesh.sum(0, keepdims=True) + by_mesh.max((0, 1), keepdims=True)) * np.ones((2, 1, 1, 1), np.float32)
  np.testing.assert_array_equal(np.asarray(program(x)), expected.reshape(8, 3, 4))


def test_reductions_in_a_loop_and_in_a_derivative():
  x = numbers(4, 6)

  def step(x):
    loss = lambda x: lax.psum(jnp.sum(x * x), "x")
    body = lambda _, x: x - 0.25 * jax.grad(loss)(x) + varying(lax.psum(x, "x"))
    return lax.fori_loop(0, 3, body, x)

  program = compiled(step, x, x=4)
  assert calls(program) >= 1
  expected = x.astype(np.float64)
  for _ in range(3):
    expected = expected / 2 + expected.sum(0)
  np.testing.assert_array_equal(np.asarray(program(x)), expected)  # small integers over 8: exact


def test_what_stays_is_explained(caplog):
  x = numbers(2, 64, 64)
  with caplog.at_level(logging.INFO, "tilewright.hlo.native_collectives"):
    program = compiled(lambda x: varying(lax.psum(x, "x")), x, options="{max_bytes=1024}", x=2)
  assert calls(program) == 0 and " all-reduce(" in program.as_text()
  assert "16,384 bytes; min_bytes is 0 and max_bytes is 1,024" in caplog.text
  np.testing.assert_array_equal(np.asarray(program(x)), np.stack([x.sum(0)] * 2))


SHIFT = [(0, 1), (1, 2), (2, 3)]  # device 0 gets zeros
KINDS = {
  "all_reduce": lambda x: lax.psum(x, "x"),
  "all_reduce of groups": lambda x: lax.psum(x, "x", axis_index_groups=[[0, 2], [1, 3]]),
  "all_gather": lambda x: lax.all_gather(x, "x"),
  "all_gather of rows": lambda x: lax.all_gather(x, "x", axis=1, tiled=True),
  "reduce_scatter": lambda x: lax.psum_scatter(x, "x", tiled=True),
  "reduce_scatter of columns": lambda x: lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
  "all_to_all": lambda x: lax.all_to_all(x, "x", 0, 0, tiled=True),
  "all_to_all of columns": lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True),
  "permute": lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]),
  "permute to some": lambda x: lax.ppermute(x, "x", SHIFT),
  "several": lambda x: sum(lax.psum((x, x[0] * 2, x * x), "x")),
}


def both(f, x, n=4, options=""):
  """What `f` gives on each device, from XLA alone and with the pass; and the compiled program."""
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:n]), ("x",))
  mapped = jax.jit(
    jax.shard_map(lambda x: f(x[0])[None], mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
  )
  plain = mapped.lower(x).compile()
  with hlo.install([f"native_collectives{options}"]):
    program = mapped.lower(x).compile()
  return np.asarray(plain(x)), np.asarray(program(x)), program


@pytest.mark.parametrize("dtype", [np.float32, np.int8, jnp.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("kind", KINDS)
def test_every_collective_is_a_kernel_and_gives_the_same(kind, dtype):
  expected, found, program = both(KINDS[kind], numbers(4, 8, 100 if "columns" in kind else 67, dtype=dtype))
  assert not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", program.as_text())
  np.testing.assert_array_equal(found, expected)  # sums of a few small integers: exact


@pytest.mark.parametrize("size", [1, 63, 4096, 4 * 4096 + 1, 70_001])
def test_arrays_of_any_size_are_not_padded(size):
  for kind in ("all_reduce", "permute"):
    expected, found, program = both(KINDS[kind], numbers(4, 1, size))
    assert " pad(" not in program.as_text()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("columns, is_kernel", [(3, False), (64, True)])
def test_gathering_short_rows_stays(columns, is_kernel):
  """A kernel copies row by row where the gathered dimension is not the major one."""
  module = hlo.parse(f"""HloModule rows, num_partitions=4
ENTRY main {{
  x = f32[100,{columns}]{{1,0}} parameter(0)
  ROOT g = f32[100,{4 * columns}]{{1,0}} all-gather(x), channel_id=1, dimensions={{1}},
    replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true
}}""")
  assert hlo.run_passes(module, ["native_collectives"], verify=True).changed == is_kernel


def chain(x):
  """Many collectives, one after another, between which devices have something to compute."""

  def trip(_, x):
    x = x - lax.pmean(x, "x")
    return x + 0.5 * lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)])

  return lax.fori_loop(0, 2000, trip, x)


def test_devices_share_threads_over_long_loops():
  """A device continues on the thread that its last meeting left free: neither stacks nor threads grow."""
  expected, found, program = both(chain, numbers(4, 1, 65))
  before = threads()
  for _ in range(5):
    program(numbers(4, 1, 65))
  np.testing.assert_allclose(found, expected, 1e-5, 1e-5)
  assert threads() <= before + 4


def threads() -> int:
  return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


def test_collectives_of_xla_beside_kernels():
  """Where some of a module's collectives stay, devices may wait for each other between kernels: each has a thread."""

  def step(x):
    for _ in range(8):
      x = lax.psum(x, "x") / 4 + lax.ppermute(lax.psum(x[:1], "x"), "x", [(i, (i + 1) % 4) for i in range(4)])
    return x

  expected, found, program = both(step, numbers(4, 16, 64), options="{kinds=permute}")
  assert calls(program) >= 1 and " all-reduce(" in program.as_text()
  np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


BOTH = lambda x: np.broadcast_to(x, (2, *x.shape))
GROUPED = {  # what the devices of a group compute, and what that is in NumPy, given the values of both
  "all_reduce": (lambda x: lax.psum(x, "b"), lambda x: BOTH(x.sum(0))),
  "all_gather": (lambda x: lax.all_gather(x, "b", tiled=True)[1:] * 2, lambda x: BOTH(x[1] * 2)),
  "reduce_scatter": (
    lambda x: lax.psum_scatter(jnp.concatenate([x, 2 * x]), "b", tiled=True),
    lambda x: np.stack([x.sum(0), 2 * x.sum(0)]),
  ),
  "permute": (lambda x: lax.ppermute(x, "b", [(0, 1), (1, 0)]) * 2, lambda x: 2 * x[::-1]),
}


@pytest.mark.parametrize("kind", GROUPED)
@pytest.mark.parametrize("place", ["loop", "branch"])
def test_groups_that_do_it_more_often_than_others(kind, place):
  """The devices of one group meet: those of the other run another number of trips, or another branch."""
  x = numbers(4, 1, 64)
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))
  once, in_numpy = GROUPED[kind]

  def step(x):
    a = lax.axis_index("a")
    if place == "loop":
      return lax.fori_loop(0, 2 * a + 1, lambda _, x: once(x), x)
    return lax.switch(a, [once, lambda x: once(once(once(x)))], x)

  f = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=P(("a", "b")), out_specs=P(("a", "b")), check_vma=False))
  with hlo.install(["native_collectives"]):
    program = f.lower(x).compile()
  assert calls(program) >= 1 and not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", program.as_text())
  first, second = x.reshape(2, 2, 1, 64)
  expected = np.concatenate([in_numpy(first), in_numpy(in_numpy(in_numpy(second)))])
  np.testing.assert_array_equal(np.asarray(program(x)), expected)


def test_meshes_too_large_for_parties_keep_what_some_devices_may_not_reach(monkeypatch):
  from tilewright.collectives import groups

  monkeypatch.setattr(groups, "_MOST_PARTIES", 3)
  x = numbers(4, 1, 8)
  step = lambda x: lax.cond(
    lax.axis_index("x") < 2, lambda x: lax.psum(x, "x", axis_index_groups=PAIRS), lambda x: x, x
  )
  expected, found, program = both(step, x)
  assert calls(program) == 0
  np.testing.assert_array_equal(found, expected)


PAIRS = [[0, 1], [2, 3]]


def test_programs_of_kernels_and_of_xla_in_turns():
  """What XLA starts when a program of kernels ends does not run on the threads that its devices share."""
  x = numbers(4, 16, 64)
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
  mean = jax.jit(
    jax.shard_map(lambda x: lax.pmean(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
  )
  lowered = mean.lower(x)
  plain = lowered.compile()
  with hlo.install(["native_collectives"]):
    native = mean.lower(x).compile()
  y = jax.device_put(x, jax.sharding.NamedSharding(mesh, P("x")))
  for _ in range(20):
    y = plain(native(y))  # not waited for
  np.testing.assert_allclose(np.asarray(y), np.stack([x.mean(0)] * 4), 1e-5)


def test_nothing_is_replaced_unless_the_pass_is_installed():
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("x",))
  f = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
  assert calls(f.lower(numbers(2, 8)).compile()) == 0
