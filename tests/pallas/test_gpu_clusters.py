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
from tilewright.runtime import _jax

INTERPRETED = pytest.mark.parametrize("interpret", [True, plgpu.InterpretGPUParams()], ids=["portable", "simulated"])
X = jnp.arange(3 * 2 * 4.0).reshape(3, 2, 4)
SMEM = plgpu.SMEM((4,), jnp.float32)
MEET = plgpu.ClusterBarrier(collective_axes=("c",))


def run(body: Any, *scratch: Any, **options: Any) -> Any:
  given: dict[str, Any] = {"grid": (3,), "grid_names": ("g",), "cluster": (2,), "cluster_names": ("c",), **options}
  return plgpu.kernel(body, jax.ShapeDtypeStruct(X.shape, X.dtype), scratch_types=scratch, **given)(X)


@INTERPRETED
@pytest.mark.parametrize("checks", [False, True])
def test_a_block_reads_the_memory_of_another(interpret: Any, checks: bool) -> None:
  def body(x: Any, o: Any, own: Any, meet: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x[g, c]
    for _ in range(2):  # the second phase needs the counts of the first
      plgpu.barrier_arrive(meet)
      plgpu.barrier_wait(meet)
    o[g, c] = plgpu.cluster_ref(own, {"c": 1 - c})[...]

  with _jax.config.enable_checks(checks):
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


@INTERPRETED
def test_the_first_block_counts_for_all(interpret: Any) -> None:
  """It alone waits, for both; what the other wrote before it arrived is there then."""

  def body(x: Any, o: Any, own: Any, counted: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x[g, c]
    plgpu.barrier_arrive(counted)

    @pl.when(c == 0)
    def _() -> None:
      plgpu.barrier_wait(counted)
      for block in range(2):
        o[g, 1 - block] = plgpu.cluster_ref(own, {"c": block})[...]

  counted = plgpu.ClusterBarrier(collective_axes=("c",), leader_tracked=True)
  np.testing.assert_array_equal(run(body, SMEM, counted, interpret=interpret), X[:, ::-1])


@INTERPRETED
@pytest.mark.parametrize("has_barrier", [True, False])
def test_a_block_multiplies_for_two(interpret: Any, has_barrier: bool) -> None:
  """The first block tracks the copies of both, multiplies twice, and tells both. Rows of the left operand are shared out, and columns of
  the right one."""
  a, b = (np.random.default_rng(s).integers(-8, 8, (2 * 64, 64)).astype(jnp.float16) for s in range(2))
  b = np.ascontiguousarray(b.T)

  def body(a_ref: Any, b_ref: Any, o: Any, left: Any, right: Any, acc: Any, ready: Any, done: Any) -> None:
    c = lax.axis_index("c")
    part = plgpu.CopyPartition.PARTITIONED
    for k in range(2):
      columns = pl.ds(32 * k, 32)
      plgpu.copy_gmem_to_smem(a_ref.at[:, columns], left, ready, collective_axes="c", leader_tracked=part(0))
      plgpu.copy_gmem_to_smem(b_ref.at[columns], right, ready, collective_axes="c", leader_tracked=part(1))

      @pl.when(c == 0)
      def _(k: int = k) -> None:
        plgpu.barrier_wait(ready)
        plgpu.tcgen05_mma(acc, left, right, done if has_barrier else None, accumulate=k > 0, collective_axis="c")
        if not has_barrier:
          plgpu.tcgen05_commit_arrive(done, collective_axis="c")

      plgpu.barrier_wait(done)
    o[pl.ds(64 * c, 64), :] = plgpu.async_load_tmem(acc)

  memory = [plgpu.SMEM((64, 32), jnp.float16), plgpu.SMEM((32, 64), jnp.float16)]
  scratch = [*memory, plgpu.TMEM((64, 128), jnp.float32, collective=True), plgpu.Barrier(num_arrivals=2)]
  kernel = plgpu.kernel(
    body,
    jax.ShapeDtypeStruct((128, 128), jnp.float32),
    scratch_types=[*scratch, plgpu.Barrier(orders_tensor_core=True)],
    cluster=(2,),
    cluster_names=("c",),
    interpret=interpret,
  )
  np.testing.assert_array_equal(kernel(a, b), a.astype(np.float32) @ b.astype(np.float32))


@INTERPRETED
def test_tensor_memory_of_two_blocks_is_filled_by_one(interpret: Any) -> None:
  def body(x: Any, o: Any, own: Any, tmem: Any, meet: Any, done: Any) -> None:
    g, c = lax.axis_index("g"), lax.axis_index("c")
    own[...] = x[g, c]
    plgpu.barrier_arrive(meet)
    plgpu.barrier_wait(meet)

    @pl.when(c == 0)
    def _() -> None:
      plgpu.async_copy_smem_to_tmem(own, tmem, collective_axis="c")
      plgpu.tcgen05_commit_arrive(done, collective_axis="c")

    plgpu.barrier_wait(done)
    o[g, c] = plgpu.async_load_tmem(tmem)[0]

  x = X[:, :, None]
  kernel = plgpu.kernel(
    body,
    jax.ShapeDtypeStruct(X.shape, X.dtype),
    scratch_types=[plgpu.SMEM((1, 4), jnp.float32), plgpu.TMEM((1, 4), jnp.float32), MEET, plgpu.Barrier()],
    grid=(3,),
    grid_names=("g",),
    cluster=(2,),
    cluster_names=("c",),
    interpret=interpret,
  )
  np.testing.assert_array_equal(kernel(x), X)


def test_native_code_says_that_it_cannot() -> None:
  def body(x: Any, o: Any, meet: Any) -> None:
    plgpu.barrier_arrive(meet)

  with pytest.raises(
    errors.UnsupportedFeatureError, match=r"blocks of a cluster access each other's shared memory.*interpret=True"
  ):
    run(body, MEET)


@pytest.mark.parametrize(
  ("use", "message"),
  [
    (lambda ref, meet: plgpu.cluster_ref(ref, {"z": 0}), r"block_id: expected a dict of indices along axes of .*'c'"),
    (lambda ref, meet: plgpu.cluster_ref(ref, 1), "block_id: expected a dict of indices"),
    (lambda ref, meet: plgpu.barrier_arrive(meet), "collective_axes: there is no axis 'z' among"),
    (
      lambda ref, meet: plgpu.tcgen05_commit_arrive(meet, "g"),
      "collective_axis: expected an axis .* size 2, but 'g' has size 3",
    ),
    (lambda ref, meet: plgpu.tcgen05_commit_arrive(meet, "z"), "collective_axis: .* there is no axis 'z' among"),
  ],
)
def test_blocks_and_axes_that_do_not_exist_are_named(use: Any, message: str) -> None:
  elsewhere = plgpu.ClusterBarrier(collective_axes=("z",))
  with pytest.raises(errors.GridError, match=message):
    run(lambda x, o, ref, meet: use(ref, meet), SMEM, elsewhere, interpret=True)
