"""Blocks of a cluster that wait for each other and reach for each other's shared memory."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

INTERPRETED = pytest.mark.parametrize("interpret", [True, plgpu.InterpretGPUParams()], ids=["portable", "simulated"])
X = jnp.arange(3 * 2 * 4.0).reshape(3, 2, 4)
SMEM = plgpu.SMEM((4,), jnp.float32)
MEET = plgpu.ClusterBarrier(collective_axes=("c",))


def run(body: Any, *scratch: Any, **options: Any) -> Any:
  given: dict[str, Any] = {"grid": (3,), "grid_names": ("g",), "cluster": (2,), "cluster_names": ("c",), **options}
  return plgpu.kernel(body, jax.ShapeDtypeStruct(X.shape, X.dtype), scratch_types=scratch, **given)(X)


@INTERPRETED
def test_a_block_reads_the_memory_of_another(interpret: Any) -> None:
  def body(x: Any, o: Any, own: Any, meet: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x[g, c]
    for _ in range(2):  # the second phase needs the counts of the first
      plgpu.barrier_arrive(meet)
      plgpu.barrier_wait(meet)
    o[g, c] = plgpu.cluster_ref(own, {"c": 1 - c})[...]

  np.testing.assert_array_equal(run(body, SMEM, MEET, interpret=interpret), X[:, ::-1])


@INTERPRETED
def test_warpgroups_of_two_blocks_hand_over(interpret: Any) -> None:
  """One warpgroup of each block writes, and the other reads what those of both blocks wrote."""

  def body(x: Any, o: Any, own: Any, meet: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")

    @pl.when(lax.axis_index("w") == 0)
    def _() -> None:
      own[...] = x[g, c]
      plgpu.barrier_arrive(meet)

    @pl.when(lax.axis_index("w") == 1)
    def _() -> None:
      plgpu.barrier_wait(meet)
      o[g, c] = own[...] - plgpu.cluster_ref(own, {"c": 1 - c})[...]

  found = run(body, SMEM, MEET, num_threads=2, thread_name="w", interpret=interpret)
  np.testing.assert_array_equal(found, X - X[:, ::-1])


@INTERPRETED
@pytest.mark.parametrize("atomic", [None, "add"])
def test_a_block_writes_to_the_memory_of_another_and_tells_it(interpret: Any, atomic: str | None) -> None:
  def body(x: Any, o: Any, own: Any, arrived: Any, meet: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = jnp.full(4, 100.0)
    plgpu.barrier_arrive(meet)
    plgpu.barrier_wait(meet)
    plgpu.async_store_smem(x[g, c], own, arrived, cluster_idx=1 - c, cluster_dim="c", atomic=atomic)
    plgpu.barrier_wait(arrived)
    o[g, c] = own[...]

  found = run(body, SMEM, plgpu.Barrier(), MEET, interpret=interpret)
  np.testing.assert_array_equal(found, X[:, ::-1] + (100 if atomic else 0))


def test_native_code_says_that_it_cannot() -> None:
  def body(x: Any, o: Any, meet: Any) -> None:
    plgpu.barrier_arrive(meet)

  with pytest.raises(errors.UnsupportedFeatureError, match=r"blocks of a cluster reach for each other.*interpret=True"):
    run(body, MEET)


@pytest.mark.parametrize(
  ("use", "message"),
  [
    (lambda ref, meet: plgpu.cluster_ref(ref, {"z": 0}), r"block_id: expected a dict of indices along axes of .*'c'"),
    (lambda ref, meet: plgpu.cluster_ref(ref, 1), "block_id: expected a dict of indices"),
    (lambda ref, meet: plgpu.barrier_arrive(meet), "collective_axes: there is no axis 'z' among"),
  ],
)
def test_blocks_and_axes_that_do_not_exist_are_named(use: Any, message: str) -> None:
  elsewhere = plgpu.ClusterBarrier(collective_axes=("z",))
  with pytest.raises(errors.GridError, match=message):
    run(lambda x, o, ref, meet: use(ref, meet), SMEM, elsewhere, interpret=True)
