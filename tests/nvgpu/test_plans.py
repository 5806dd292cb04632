"""Plans as data: what the compiler decides, what a user may say instead, and another planner in front of the compiler's."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import pathlib
import re

import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from contractions import S, contraction
from gpu_programs import natives

from tilewright import errors, tune
from tilewright.pallas import nvgpu
from tilewright.pallas.nvgpu import Pipeline, report
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.passes import plans

BF16 = jnp.bfloat16
A, B = (np.asarray(np.random.default_rng(n).integers(-4, 5, (128, 128)), BF16) for n in range(2))
WANTED = np.asarray(A, np.float32) @ np.asarray(B, np.float32)
BLOCKS = (64, 64, 64)


def native(pipeline=None, **how):
  ((_, found),) = natives(contraction(blocks=BLOCKS, dtype=jnp.float32, params=params(pipeline), **how), A, B)
  return prepared(found)


def params(pipeline):
  return nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), pipeline=pipeline)


@pytest.mark.parametrize(
  ("arch", "usual"),
  [
    ("sm_80", Pipeline(5, ("cp.async", "cp.async"), "mma.sync")),
    ("sm_90a", Pipeline(10, ("TMA", "TMA"), "wgmma")),
    ("sm_120a", Pipeline(3, ("TMA", "TMA"), "mma.sync")),
  ],
)
def test_a_plan_says_how_a_product_is_pipelined(arch, usual):
  _, launch = compile_ptx(native(), arch)
  assert launch.plan.pipeline == usual
  assert re.search(rf"{usual.stages} stages of [48],[0-9]+ bytes by {usual.engines[0]}", str(launch.plan))


@pytest.mark.parametrize(
  ("arch", "wish"),
  [
    ("sm_80", Pipeline(stages=2)),
    ("sm_80", Pipeline(stages=4, engines=("cp.async", None))),
    ("sm_90a", Pipeline(stages=2)),
    ("sm_90a", Pipeline(stages=3, product="wgmma")),
    ("sm_90a", Pipeline(product="mma.sync")),
    ("sm_90a", Pipeline(stages=3, engines=("cp.async", "cp.async"))),
    ("sm_120a", Pipeline(stages=2, engines=("cp.async", "cp.async"))),
  ],
  ids=str,
)
def test_a_user_decides_some_of_it(arch, wish):
  (found,) = run(native(), A, B, arch=arch, pipeline=wish)
  np.testing.assert_array_equal(found, WANTED)
  _, launch = compile_ptx(native(), arch, pipeline=wish)
  assert wish.allows(launch.plan.pipeline)


def test_what_cannot_be_is_an_error_that_says_what_there_is():
  with pytest.raises(errors.GridError, match=r"cannot have wgmma .* on sm_80. There are: mma.sync .*cp.async"):
    compile_ptx(native(), "sm_80", pipeline=Pipeline(product="wgmma"))
  with pytest.raises(errors.GridError, match="up to 10 stages"):
    compile_ptx(native(), "sm_90a", pipeline=Pipeline(stages=11))
  ((_, other),) = natives(lambda x: jnp_sum(x), A)
  with pytest.raises(errors.GridError, match="no product"):
    compile_ptx(prepared(other), "sm_90a", pipeline=Pipeline(stages=2))


def jnp_sum(x):
  from tilewright import pallas as pl

  return pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] * 2), out_shape=S(x.shape, BF16))(x)


@pytest.mark.parametrize(
  "wrong",
  [{"stages": 1}, {"stages": 2.5}, {"engines": ("TMA",)}, {"engines": ("DMA", None)}, {"product": "fma"}],
  ids=str,
)
def test_a_pipeline_is_checked(wrong):
  with pytest.raises(errors.GridError, match=f"pipeline: {next(iter(wrong))}"):
    Pipeline(**wrong)


def test_the_parameters_of_a_call_reach_the_code_and_can_be_left_to_the_tuner():
  wish = Pipeline(stages=3)
  (found,) = report(contraction(blocks=BLOCKS, params=params(wish)), A, B, archs="sm_90a", assemble=False)
  assert "3 stages" in found.plan
  space = tune.build(nvgpu.CompilerParams, pipeline=tune.choice(None, Pipeline(stages=2), wish))
  assert space is not None


def test_plans_of_other_kernels_name_what_is_staged_and_multiplied():
  from mosaic_programs import pipelined_matmul

  ((_, found),) = natives(pipelined_matmul, S((128, 192), BF16), S((192, 64), BF16))
  _, launch = compile_ptx(prepared(found), "sm_90a")
  assert [role.work for role in launch.plan.roles] == ["warpgroup 0", "warpgroup 1", "warpgroup 2"]
  said = str(launch.plan)
  assert re.search(r"copy at .*: TMA", said) and re.search(r"product at .*: wgmma", said)


# --- the example of the documents --------------------------------------------------------------------------------


def example():
  page = (pathlib.Path(__file__).parents[2] / "docs" / "targets.md").read_text()
  (code,) = re.findall(r"```python\n(# Another plan.*?)```", page, re.S)
  (shown,) = re.findall(r"```\n(pipeline of .*?)\n```", page, re.S)
  return code, shown


def test_the_example_of_another_plan_is_short_and_right():
  (code, shown), out, names = example(), io.StringIO(), {}
  assert len(code.splitlines()) <= 70
  with contextlib.redirect_stdout(out):
    exec(compile(code, "targets.md", "exec"), names)
  assert "by threads" in out.getvalue()
  square = names["square"]
  (usual,) = report(names["matmul"], square, square, archs="sm_90a", assemble=False)
  assert usual.plan == shown
  with plans.planning(names["right_by_threads"]):
    for orientation in ("nn", "nt", "tn"):
      kernel = native(orientation=orientation)
      turned = [x.T.copy() if c == "t" else x for x, c in zip((A, B), orientation)]
      (found,) = run(kernel, *turned, arch="sm_90a")
      np.testing.assert_array_equal(found, WANTED)
      assert compile_ptx(native(orientation=orientation), "sm_90a")[1].plan.pipeline.engines == ("TMA", "threads")
  assert compile_ptx(native(), "sm_90a")[1].plan.pipeline.engines == ("TMA", "TMA")


def test_plans_are_frozen():
  with pytest.raises(dataclasses.FrozenInstanceError):
    Pipeline(stages=2).stages = 3
