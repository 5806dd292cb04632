"""Candidates that do everything wrong: the tuner gives the right answer, and its log says what happened to each."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright as tw


@pytest.fixture(autouse=True)
def own_table(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TUNING_TABLE", str(tmp_path / "tables" / "tuning.jsonl"))


def faulty(marker):
  """A sum of rows with a parameter that says what goes wrong."""

  def eat(x):
    eaten = []
    while True:
      eaten.append(np.ones(1 << 23))

  def leak(x, kept=[]):  # noqa: B006 (that is the point)
    kept.append(np.ones(1 << 20))
    return x

  def die_once(x):
    if not os.path.exists(marker):
      pathlib.Path(marker).touch()
      os.kill(os.getpid(), signal.SIGKILL)
    return x

  def out_of_bounds(x):
    x = np.array(x)
    ctypes.memset(x.ctypes.data, 0, 1 << 40)

  def on_host(f, x):
    return jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

  @tw.tune([{"kind": k} for k in KINDS], heuristic={"kind": "plain"})
  def double(x, *, kind):
    if kind == "loop":
      return jax.lax.while_loop(lambda c: c[0] == c[0], lambda c: c + 1, x)
    if kind == "raises":
      raise RuntimeError("this one does not compile")
    before = {"eats memory": eat, "leaks": leak, "killed once": die_once, "out of bounds": out_of_bounds}.get(kind)
    if before is not None:
      x = on_host(before, x)
    return {"nan": x * jnp.nan, "wrong": (x * 2).at[3].add(1e-2), "slow": jnp.sin(jnp.sort(x)) * 0 + x * 2}.get(
      kind, x * 2
    )

  return double


KINDS = [
  *("plain", "slow", "loop", "out of bounds", "raises", "eats memory", "nan", "wrong", "leaks"),
  "killed once",
]


@pytest.mark.filterwarnings("ignore::tilewright.errors.TuningWarning")
def test_what_fails_is_thrown_out_with_its_reason(tmp_path):
  log = tmp_path / "log.jsonl"
  double = faulty(str(tmp_path / "marker"))
  x = jnp.linspace(1.0, 2.0, 4096)
  best = double.search(x, budget="100s", log=log, limit_seconds=6.0, memory_bytes=700 << 20, compilers=1)
  reasons = {t.config["kind"]: t.reason for t in best.trials if t.status == "failed"}
  assert set(reasons) == set(KINDS) - {"plain", "slow", "killed once"}
  assert "longer than 6 s" in reasons["loop"]
  assert "the process crashed with SIG" in reasons["out of bounds"]
  assert "RuntimeError: this one does not compile" in reasons["raises"]
  assert "GiB" in reasons["eats memory"]
  assert "differs from the reference in 4096 of 4096" in reasons["nan"]
  assert "in 1 of 4096 elements: at [3]" in reasons["wrong"]
  assert "leaks memory" in reasons["leaks"]
  assert best["kind"] in ("plain", "killed once")
  assert np.array_equal(double(x), x * 2)
  lines = [json.loads(line) for line in log.read_text().splitlines()]
  assert {line["config"]["kind"]: line.get("reason") for line in lines if line.get("status") == "failed"} == reasons
  assert lines[-1]["result"]["config"] == dict(best)


def test_the_vote_finds_the_right_numbers_where_nobody_said():
  """The first candidate gives other numbers than the rest, and nothing says which are right."""

  @tw.tune(kind=tw.choice("wrong", "a", "b"))
  def double(x, *, kind):
    return x * 3 if kind == "wrong" else x * 2

  best = double.search(jax.ShapeDtypeStruct((64,), jnp.float32), budget="30s", compilers=0)
  assert best["kind"] in ("a", "b")
  assert [t.config["kind"] for t in best.failures] == ["wrong"]
