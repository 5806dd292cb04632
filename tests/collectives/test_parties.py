"""Collectives that only some devices come to: those of one group meet, whatever the devices of other groups do meanwhile."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.support.device_meshes import N, mesh_of, numbers, on
from tilewright import collectives

pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")

SIZE, STAGES = 4, 2


def of_stages(f, x):
  return on(f, x, mesh=mesh_of(x=SIZE, stage=STAGES))


@pytest.mark.parametrize("columns", [5, 70_000])
@pytest.mark.parametrize("algorithm", ["one_shot", "two_shot", "ring"])
def test_stages_of_a_pipeline_call_collectives_of_their_own(algorithm, columns):
  """The stages run loops of different lengths, so that nothing makes them meet."""
  reduced = lambda x: collectives.all_reduce(x, "x", algorithm=algorithm)

  def step(x):
    rounds = lambda n: lambda x: lax.fori_loop(0, n, lambda i, x: reduced(x) + i, x)
    return lax.switch(lax.axis_index("stage"), [rounds(1), rounds(3)], x)

  x = numbers((N, columns), np.float32)
  expected = x.reshape(SIZE, STAGES, columns).copy()
  for stage, rounds in ((0, 1), (1, 3)):
    for i in range(rounds):
      expected[:, stage] = expected[:, stage].sum(0) + i
  np.testing.assert_array_equal(of_stages(step, x), expected.reshape(x.shape))


def test_every_collective_in_one_stage_only():
  def step(x):
    w = jnp.ones((2, 2))

    def here(x):
      found = [collectives.all_gather(x, "x", tiled=True), collectives.all_to_all(x, "x", 0, 0, tiled=True)]
      found += [collectives.permute(x, "x", [(0, 1), (1, 0)]), collectives.broadcast(x, "x", 2)]
      found += [collectives.reduce_scatter(x, "x", tiled=True), collectives.matmul_all_reduce(x, w, "x")]
      one = jnp.ones(SIZE, jnp.int32)
      found += [collectives.ragged_all_to_all(x, x * 0, one, one, one * lax.axis_index("x"), one, axis_name="x")]
      return sum(jnp.sum(y) * 3**i for i, y in enumerate(found))

    together = here(x)
    apart = lax.cond(lax.axis_index("stage") == 1, here, lambda x: jnp.float32(0), x)
    return jnp.stack([together, apart])

  found = of_stages(step, numbers((N, SIZE, 2), np.float32)).reshape(SIZE, STAGES, 2)
  np.testing.assert_array_equal(found[:, 1, 1], found[:, 1, 0])
  assert not found[:, 0, 1].any()


def test_groups_of_an_axis_meet_apart():
  groups = [[0, 1, 2], [3, 4], [7, 6, 5]]
  reduced = lambda x: collectives.all_reduce(x, "x", axis_index_groups=groups)
  branches = [reduced, lambda x: x, lambda x: reduced(reduced(x))]
  which = np.array([0, 0, 0, 1, 1, 2, 2, 2])
  x = numbers((N, 3), np.float32)
  found = on(lambda x: lax.switch(jnp.asarray(which)[lax.axis_index("x")], branches, x), x)
  expected = x.copy()
  expected[:3], expected[5:] = x[:3].sum(0), 3 * x[5:].sum(0)
  np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("algorithm", ["two_shot", "ring"])
def test_messages_are_of_the_devices_that_take_part(monkeypatch, algorithm):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "2")
  inside = lambda: (lax.axis_index("stage") == 1) & (lax.axis_index("x") != 2)
  step = lambda x: lax.cond(inside(), lambda x: collectives.all_reduce(x, "x", algorithm=algorithm), lambda x: x, x)
  with pytest.raises(jax.errors.JaxRuntimeError, match="devices that have not come to it: 5") as caught:
    of_stages(step, numbers((N, 3), np.float32))
  assert "device 0" not in str(caught.value) and "device 4" not in str(caught.value)


def test_the_static_check_knows_what_a_broadcast_makes_the_same():
  def step(x):
    same = collectives.broadcast(x, "x", 1)[0] > 0
    return lax.cond(same, lambda x: collectives.all_reduce(x, "x"), lambda x: x, x)

  spec = jax.sharding.PartitionSpec("x")
  f = jax.shard_map(step, mesh=mesh_of(x=N), in_specs=spec, out_specs=spec, check_vma=False)
  assert collectives.check(f, np.zeros(N, np.float32)) == []
