"""What tuning does for NVIDIA GPUs before anything runs: lowering without a device, pruning by the compiler's report, predicted times."""

from __future__ import annotations

import dataclasses
import pathlib
import sys

import jax
import jax.numpy as jnp
import pytest

import tilewright as tw
from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.runtime import ptxas
from tilewright.tune import function_pickle, modes
from tilewright.tune.job import Candidate, Job
from tilewright.tune.resources import exceeds_resources, predicted_seconds, pruned
from tilewright.tune.worker import Failed, _State

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

from fake_driver import FakeDriver

S = jax.ShapeDtypeStruct
X = S((256, 256), jnp.bfloat16)


def job_of(function, platform="gpu"):
  leaves, tree = jax.tree.flatten(((X, X), {}))
  return Job(function, (None, None), tree, (0, 1), tuple((x.shape, x.dtype) for x in leaves), platform)


def test_candidates_for_a_gpu_are_lowered_without_one(monkeypatch):
  FakeDriver(monkeypatch, capabilities=[(9, 0)])
  state = _State()
  state.job = job_of(ops.matmul)
  with modes.quietly():
    assert state.lower(function_pickle.dumps(Candidate({"blocks": (64, 64, 64)})))["seconds"] > 0
    with pytest.raises(Failed, match="blocks must be three"):
      state.lower(function_pickle.dumps(Candidate({"blocks": (64, 64)})))


def product(x, y, *, block, params=None):
  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32).astype(o_ref.dtype)

  (m, k), n = x.shape, y.shape[1]
  return pl.pallas_call(
    kernel,
    S((m, n), x.dtype),
    grid=(m // block, n // block),
    in_specs=[pl.BlockSpec((block, k), lambda i, j: (i, 0)), pl.BlockSpec((k, block), lambda i, j: (0, j))],
    out_specs=pl.BlockSpec((block, block), lambda i, j: (i, j)),
    compiler_params=params,
  )(x, y)


@pytest.mark.skipif(ptxas.find() is None, reason="needs ptxas")
def test_kernels_are_pruned_by_the_compilers_report():
  params = nvgpu.CompilerParams(num_warps=4)
  (found,) = nvgpu.report(lambda x, y: product(x, y, block=64, params=params), X, X, archs="sm_80")
  assert found.resources is not None and exceeds_resources(found) is None
  spilling = dataclasses.replace(found.resources, spilled_bytes=64)
  assert "spills 64 bytes" in (exceeds_resources(dataclasses.replace(found, resources=spilling)) or "")
  assert "shared memory" in (exceeds_resources(dataclasses.replace(found, shared_bytes=1 << 20)) or "")
  rule = lambda report: report.num_blocks > 8
  assert "pruned by" in (pruned(lambda x, y: product(x, y, block=64), [X, X], "sm_80", rule) or "")


def test_the_cost_model_knows_that_small_blocks_move_more_bytes():
  for platform in ("cpu", "gpu"):
    seconds = [
      predicted_seconds(lambda x, y: product(x, y, block=block), [S((4096, 4096), jnp.float32)] * 2, platform)
      for block in (16, 64, 256)
    ]
    assert seconds == sorted(seconds, reverse=True)


def test_the_cost_model_orders_a_search():
  @tw.tune(block=tw.choice(16, 64, 32, 256, 128), predict=True, heuristic={"block": 16})
  def f(x, y, *, block):
    return product(x, y, block=block)

  from tilewright.tune.budget import Budget
  from tilewright.tune.strategy import Strategy

  task = f.task(f.bound((X, X), {}), Budget.of("5 trials"), 0)
  order = Strategy(task.space, task.candidates, predicted=task.predicted, first=[0]).ask(5)
  assert task.candidates[order[0]]["block"] == 16
  assert sorted(order) == [0, 1, 2, 3, 4]
  assert list(task.predicted[order[1:]]) == sorted(task.predicted[order[1:]])


def test_programs_of_several_calls_give_the_time_of_one():
  from tilewright.tune.timing import Timer, sets_of_arrays

  assert sets_of_arrays(1 << 20, "gpu") == 32 and sets_of_arrays(1 << 26, "gpu") == 8
  assert sets_of_arrays(1 << 40, "gpu") == 1 == sets_of_arrays(1 << 20, "cpu")
  state = _State()
  state.job = job_of(lambda x, y: x @ y, "cpu")
  x = jnp.ones(X.shape, X.dtype)
  state.sets = [[x + n, x] for n in range(3)]
  program = state._program(function_pickle.dumps(Candidate({})))
  assert [float(r[0, 0]) for r in program(state.sets)] == [256.0, 512.0, 768.0]
  timer = Timer(state.sets, "cpu")
  calls = []
  counted = lambda sets: calls.append(len(sets)) or program(sets)
  assert timer.sample(counted) > 0 and set(calls) == {3} and len(timer.waits) == 1


@pytest.mark.gpu
def test_a_search_on_a_gpu_is_clocked_by_it(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TUNING_TABLE", str(tmp_path / "tables" / "tuning.jsonl"))

  @tw.tune(block=tw.choice(32, 64, 128, 7), heuristic={"block": 64})
  def f(x, y, *, block):
    assert 256 % block == 0, "256 must be a multiple"
    return product(x, y, block=block)

  best = f.search(X, X, budget="30s")
  assert [t.config["block"] for t in best.failures] == [7]
  assert 0 < best.seconds < 1e-3


def test_the_most_disturbed_program_says_how_busy_a_machine_is(tmp_path):
  """A program of many threads waits for processors, one of a single thread beside it does not: its gain is not believed."""
  state = _State()
  state.setup(function_pickle.dumps(job_of(lambda x, y, factor: (x @ y) * factor, "cpu")))
  candidates = [function_pickle.dumps(Candidate({"factor": factor})) for factor in (2, 2.0)]
  reference = str(tmp_path / "reference")
  state.output(reference, candidates[0])
  state.timer.sample = lambda program: state.timer.waits.append(0.5 * (len(state.timer.waits) % 2)) or 1e-3
  assert state.compare(candidates, reference, 0.0)["busy"] == 0.5
