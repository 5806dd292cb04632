"""Searches: what they find, with how many trials, and from where they can be started."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright as tw
from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.tune import Budget, search_step, table
from tilewright.tune.space import Space
from tilewright.tune.strategy import Strategy
from tilewright.tune.timing import estimate

RECORDED = sorted((pathlib.Path(__file__).parent / "recorded").glob("*.json"))


@pytest.fixture(autouse=True)
def own_table(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TUNING_TABLE", str(tmp_path / "tables" / "tuning.jsonl"))


# --- in times that were recorded ---------------------------------------------------------------------------------


def searched(space, candidates, times, trials, seed):
  strategy = Strategy(space, candidates, seed=seed, trials=trials)
  order = []
  while len(order) < trials and (batch := strategy.ask(min(4, trials - len(order)))):
    for number in batch:
      strategy.tell(number, times[number])
      order.append(number)
  return order


def recorded(file):
  said = json.loads(file.read_text())
  as_value = lambda v: tuple(v) if isinstance(v, list) else v
  configs = [dict(zip(said["names"], map(as_value, values))) for values, _ in said["trials"]]
  domains = {}
  for name in said["names"]:
    values = list(dict.fromkeys(c[name] for c in configs))
    numbers = all(isinstance(v, int) for v in values)
    domains[name] = tw.choice(*(sorted(values) if numbers else values))
  return Space.of(domains), configs, [seconds for _, seconds in said["trials"]]


def test_a_tenth_of_the_trials_finds_95_percent_of_the_optimum():
  assert len(RECORDED) >= 3
  reached = []
  for file in RECORDED:
    space, configs, times = recorded(file)
    assert len(configs) >= 500
    best = min(t for t in times if t is not None)
    for seed in range(2):
      order = searched(space, configs, times, len(configs) // 10, seed)
      assert len(set(order)) == len(order) == len(configs) // 10
      reached.append(best / min(times[n] for n in order if times[n] is not None))
    print(f"{file.stem}: {len(configs)} candidates, {np.mean(reached[-2:]):.3f} of the optimum")
  assert np.mean(reached) >= 0.95


def test_a_search_is_decided_by_its_seed():
  space, configs, times = recorded(RECORDED[0])
  one, other, another = (searched(space, configs, times, 24, seed) for seed in (1, 1, 2))
  assert one == other != another


def test_small_spaces_are_tried_as_a_whole_in_the_order_of_predictions():
  space = Space.of({"a": tw.range(5)})
  configs = list(space.candidates({}))
  strategy = Strategy(space, configs, first=[3], predicted=np.array([5.0, 1.0, 2.0, 9.0, 3.0]))
  assert strategy.ask(9) == [3, 1, 2, 4, 0]


def test_an_interval_holds_the_median():
  rng = np.random.default_rng(0)
  held = 0
  for _ in range(200):
    found = estimate(rng.lognormal(0, 0.5, 25))
    held += found.low <= 1.0 <= found.high
  assert held >= 180


# --- with processes ----------------------------------------------------------------------------------------------


@tw.tune(block=tw.choice(64, 256, 1024), where=lambda block, x: x.shape[0] % block == 0, heuristic={"block": 64})
def double(x, *, block):
  spec = pl.BlockSpec((block,), lambda i: (i,))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

  out = jax.ShapeDtypeStruct(x.shape, x.dtype)
  return pl.pallas_call(kernel, out, grid=(x.shape[0] // block,), in_specs=[spec], out_specs=spec)(x)


def test_a_search_runs_at_the_first_call_even_under_jit():
  x = jnp.arange(1024.0)
  with tw.tuning("search", budget="2 trials"):
    result = jax.jit(lambda x: double(x) + 1)(x)
  assert np.array_equal(result, x * 2 + 1)
  (entry,) = table.read().entries
  assert entry.key.arguments == "x=f32[1024]" and entry.trials == 2 and entry.seconds > 0
  with tw.tuning("strict"):
    assert np.array_equal(double(x), x * 2)


def test_a_step_tunes_all_kernels_in_it_and_flags_of_xla():
  def step(x):
    return ops.rms_norm(double(x).reshape(4, 256)) + double(x[:256]).sum()

  flags = {"xla_cpu_enable_fast_math": tw.choice(False, True)}
  best = search_step(step, jnp.ones(1024), budget="3 trials", compiler_options=flags, compilers=0)
  assert {name.partition("/")[0].partition("#")[0] for name in best} == {"double", "ops.by_rows cpu", "xla"}
  assert [e.key.kernel for e in table.read().entries] == ["double", "ops.by_rows cpu", "double"]
  assert all(t.status == "ok" for t in best.trials) and len(best.trials) == 3
  with tw.tuning("strict"):
    jax.jit(step)(jnp.ones(1024))
  with pytest.raises(errors.TuningError, match="nothing to tune"):
    search_step(lambda x: x + 1, jnp.ones(4), budget="1s")


def test_flags_of_xla_are_parameters_like_others():
  @tw.tune(compiler_options={"xla_cpu_enable_fast_math": tw.choice(False, True)})
  def f(x):
    return jnp.tanh(x) * 2

  best = f.search(jnp.ones(512), budget="2 trials", compilers=0)
  assert set(best) == {"compiler_options.xla_cpu_enable_fast_math"}
  assert np.allclose(f(jnp.ones(512)), np.tanh(1.0) * 2)


INTERRUPTED = """
import signal, sys, time, pathlib
import jax, jax.numpy as jnp
import tilewright as tw
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
def wait(x):
  time.sleep(0.2)
  return x
@tw.tune(n=tw.range(40), heuristic={"n": 0})
def f(x, *, n):
  return jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + n * 0
best = f.search(jnp.ones(8), budget="100s", log=sys.argv[1], compilers=0)
print(best.is_interrupted, len(best.trials), best["n"])
"""


def test_ctrl_c_keeps_the_best_and_the_log(tmp_path):
  program, log = tmp_path / "program.py", tmp_path / "log.jsonl"
  program.write_text(INTERRUPTED)
  environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tw.__file__).parents[1])}
  running = subprocess.Popen(
    [sys.executable, str(program), str(log)], stdout=subprocess.PIPE, text=True, env=environment
  )
  while running.poll() is None and not (log.exists() and log.read_text().count("\n") >= 1):
    time.sleep(0.05)
  running.send_signal(signal.SIGINT)
  said = running.communicate(timeout=60)[0].split()
  assert running.returncode == 0 and said[0] == "True"
  lines = [json.loads(line) for line in log.read_text().splitlines()]
  assert lines[-1]["result"]["interrupted"] and len(lines) == int(said[1]) + 1
  (entry,) = table.read().entries
  assert entry.note == "interrupted" and entry.config == {"n": int(said[2])}


def test_two_searches_at_once_do_not_disturb_each_other():
  results = []
  threads = [
    threading.Thread(target=lambda n=n: results.append(double.search(jnp.ones(n), budget="2 trials", compilers=0)))
    for n in (2048, 4096)
  ]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert sorted(r.key.arguments for r in results) == ["x=f32[2048]", "x=f32[4096]"]
  assert Budget.of("2 trials").trials == 2


@dataclasses.dataclass(frozen=True)
class Scaled:
  by: float

  @tw.tune(copies=tw.choice(1, 2))
  def run(self, x, *, copies):
    return sum(x for _ in range(copies)) / copies * self.by


def test_methods_are_searched_for_their_object():
  x = np.arange(8, dtype=np.float32)
  found = Scaled(3.0).run.search(x, budget="2 trials")
  assert found["copies"] in (1, 2)
  with tw.tuning("strict"):
    np.testing.assert_array_equal(Scaled(3.0).run(x), 3 * x)
    with pytest.raises(errors.MissingTuningError, match=r"by=4\.0"):
      Scaled(4.0).run(x)
