"""Pipelines of Mosaic GPU kernels: what grids, blocks and refs may be, as native code for the CPU, portably and simulated."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu

S = jax.ShapeDtypeStruct
X = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
ROWS = plgpu.BlockSpec((16, 32), lambda i: (i, 0))
TRANSFORMS = plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)
MODES = pytest.mark.parametrize(
  "interpret", [False, True, plgpu.InterpretGPUParams()], ids=["native", "portable", "simulated"]
)


def specialized(grid: Any, interpret: Any, spec: Any = ROWS, **kwargs: Any) -> Any:
  """Twice X by a pipeline of two warpgroups that compute and one that copies; `grid` is given to the kernel in memory."""

  def kernel(sizes: Any, x: Any, o: Any) -> None:
    def body(_: Any, x: Any, o: Any, *barriers: Any) -> None:
      if kwargs.get("manual_produced_barriers"):
        plgpu.barrier_wait(barriers[0])
      mine = pl.ds(8 * lax.axis_index("wg"), 8)
      o[mine] = 2 * x[mine]
      if kwargs.get("manual_consumed_barriers"):
        plgpu.barrier_arrive(barriers[-1])

    steps = tuple(sizes[i] for i in range(len(grid)))
    options = {"memory_registers": 40, "wg_axis": "wg", "num_compute_wgs": 2, "max_concurrent_steps": 2} | kwargs
    plgpu.emit_pipeline_warp_specialized(body, grid=steps, in_specs=[spec], out_specs=[ROWS], **options)(x, o)

  call = plgpu.kernel(
    kernel,
    out_type=S(X.shape, X.dtype),
    grid=(1,),
    grid_names=("g",),
    num_threads=3,
    thread_name="wg",
    interpret=interpret,
  )
  return call(jnp.asarray(grid, jnp.int32), X)


@MODES
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_specialized_pipeline_may_have_a_computed_number_of_steps(steps: int, interpret: Any) -> None:
  late = plgpu.BlockSpec((16, 32), lambda i: (i, 0), delay_release=1)
  np.testing.assert_array_equal(specialized((steps,), interpret, late)[: 16 * steps], 2 * X[: 16 * steps])


@MODES
@pytest.mark.parametrize("manual", ["produced", "consumed"])
def test_delayed_release_goes_with_manual_barriers(manual: str, interpret: Any) -> None:
  late = plgpu.BlockSpec((16, 32), lambda i: (i, 0), delay_release=1)
  np.testing.assert_array_equal(specialized((4,), interpret, late, **{f"manual_{manual}_barriers": True}), 2 * X)


@MODES
@pytest.mark.parametrize("kind", ["plain", "specialized"])
def test_blocks_may_be_cut_by_elements(kind: str, interpret: Any) -> None:
  spec = plgpu.BlockSpec((pl.Element(16), pl.Element(32)), lambda i: (12 * i, 0))

  def kernel(x: Any, o: Any) -> None:
    def body(_: Any, x: Any, o: Any) -> None:
      o[...] = 2 * x[...]

    plgpu.emit_pipeline(body, grid=(4,), in_specs=[spec], out_specs=[ROWS])(x, o)

  if kind == "plain":
    found = plgpu.kernel(kernel, out_type=S(X.shape, X.dtype), grid=(1,), grid_names=("g",), interpret=interpret)(X)
  else:
    found = specialized((4,), interpret, spec)
  np.testing.assert_array_equal(found, np.concatenate([2 * X[12 * i : 12 * i + 16] for i in range(4)]))


@MODES
def test_none_in_a_tree_of_refs_is_none_for_the_body(interpret: Any) -> None:
  def kernel(x: Any, o: Any) -> None:
    def body(_: Any, pair: Any, o: Any) -> None:
      assert pair[1] is None
      o[...] = 2 * pair[0][...]

    plgpu.emit_pipeline(body, grid=(4,), in_specs=[(ROWS, None)], out_specs=[ROWS])((x, None), o)

  call = plgpu.kernel(kernel, out_type=S(X.shape, X.dtype), grid=(1,), grid_names=("g",), interpret=interpret)
  np.testing.assert_array_equal(call(X), 2 * X)


def names(ref: Any) -> list[str]:
  return [type(t).__name__ for t in ref.transforms]


@MODES
def test_refs_in_shared_memory_show_their_transforms(interpret: Any) -> None:
  """The last one first, then the index of a pipeline's slot."""
  undone = ["UnswizzleRef", "UntilingTransform"]
  spec = plgpu.BlockSpec((16, 32), lambda i: (i, 0), transforms=TRANSFORMS)
  scratch = plgpu.SMEM((16, 32), jnp.float32, transforms=TRANSFORMS)
  assert scratch.transforms == TRANSFORMS

  def kernel(x: Any, o: Any, own: Any) -> None:
    def body(_: Any, x: Any, o: Any) -> None:
      assert all(names(ref)[:2] == undone and len(names(ref)) == 3 for ref in (x, o))
      own[...] = x[...]
      o[...] = 2 * own[...]

    assert names(own) == undone
    assert own.transforms[0].swizzle == 128 and own.transforms[1].tiling == (8, 32)
    pl.run_scoped(lambda ref: names(ref).index(undone[0]), scratch)
    plgpu.emit_pipeline(body, grid=(4,), in_specs=[spec], out_specs=[spec])(x, o)

  call = plgpu.kernel(
    kernel, out_type=S(X.shape, X.dtype), grid=(1,), grid_names=("g",), scratch_types=[scratch], interpret=interpret
  )
  np.testing.assert_array_equal(call(X), 2 * X)


def test_blocks_of_a_call_show_their_transforms() -> None:
  def kernel(x: Any, o: Any) -> None:
    assert names(x) == names(o) == ["UnswizzleRef", "UntilingTransform"]
    o[...] = 2 * x[...]

  spec = plgpu.BlockSpec((16, 32), lambda i: (i, 0), transforms=TRANSFORMS)
  found = pl.pallas_call(kernel, S(X.shape, X.dtype), grid=(4,), in_specs=[spec], out_specs=spec)(X)
  np.testing.assert_array_equal(found, 2 * X)


def test_a_grid_that_is_known_to_be_empty_is_an_error() -> None:
  with pytest.raises(ValueError, match="strictly positive"):
    plgpu.emit_pipeline(lambda *_: None, grid=(0,))
