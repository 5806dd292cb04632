"""Tables: what is remembered, for what, and whom they believe."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import tilewright as tw
from tilewright import errors
from tilewright.tune import keys, missing, table
from tilewright.tune.content import content
from tilewright.tune.keys import Key
from tilewright.tune.processes import ForkServer
from tilewright.tune.shapes import distance

X = jax.ShapeDtypeStruct((64,), jnp.float32)
KEY = Key("kernel", "c" * 24, "x=f32[64]", "device", "", "versions")


@pytest.fixture(autouse=True)
def own_table(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TUNING_TABLE", str(tmp_path / "tables" / "tuning.jsonl"))
  return tmp_path / "tables" / "tuning.jsonl"


def scaled(default=1):
  @tw.tune(factor=tw.choice(1, 2, 3), heuristic={"factor": default})
  def f(x, *, factor):
    return x * factor

  return f


def entry_for(tuned, *args, factor=3, **changes):
  key = tuned.bound(args, {}).key
  return table.Entry(dataclasses.replace(key, **changes), {"factor": factor}, 1e-3, 2e-3)


def test_an_entry_is_used_and_another_key_is_not():
  x = jnp.ones(64)
  f = scaled()
  table.append(entry_for(f, x))
  assert f(x)[0] == 3
  assert jax.jit(f)(x)[0] == 3
  assert f(x, factor=2)[0] == 2
  with tw.tuning("off"):
    assert f(x)[0] == 1
  for change in ({"device": "another"}, {"versions": "older"}, {"driver": "CUDA 1.0"}, {"content": "0" * 24}):
    other = scaled()
    table.replace([entry_for(other, x, **change)])
    with pytest.warns(errors.TuningWarning, match="not tuned"):
      assert other(x)[0] == 1


def test_a_missing_entry_warns_once_and_names_the_command():
  f = scaled()
  with pytest.warns(errors.TuningWarning) as seen:
    assert f(jnp.ones(8))[0] == 1
    assert f(jnp.ones(8))[0] == 1
  (said,) = (str(w.message) for w in seen)
  assert "f was not tuned for x=f32[8]" in said
  assert "tilewright tune" in said and "test_tune_table.py:f" in said and "'f32[8]'" in said


def test_strict_is_an_error_that_lists_what_is_missing():
  f = scaled()
  with tw.tuning("strict"), pytest.raises(errors.MissingTuningError, match=r"f: x=f32\[8\]"):
    f(jnp.ones(8))
  with tw.tuning("cached", strict=True), pytest.raises(errors.MissingTuningError):
    jax.jit(f)(jnp.ones(8))
  found = missing(lambda x: f(x)[:4] + f(x[:4]), jax.ShapeDtypeStruct((8,), jnp.float32))
  assert [c.arguments for c in found] == ["x=f32[8]", "x=f32[4]"]


def test_the_nearest_shape_is_used_if_asked_for_and_said():
  f = scaled()
  table.append(entry_for(f, X), entry_for(f, jax.ShapeDtypeStruct((1024,), jnp.float32), factor=2))
  with tw.tuning("cached", nearest=True), pytest.warns(errors.TuningWarning, match=r"nearest shapes, x=f32\[64\]"):
    assert f(jnp.ones(100))[0] == 3
  assert distance("x=f32[8,4] causal=True", "x=f32[16,2] causal=True") == 2
  assert distance("x=f32[8,4] causal=True", "x=f32[8,4] causal=False") is None
  assert distance("x=f32[8,4]", "x=f32[8]") is None


def test_a_bucket_is_one_entry():
  @tw.tune(factor=tw.choice(1, 2), heuristic={"factor": 1}, bucket=lambda x: x.shape[0] // 100)
  def f(x, *, factor):
    return x * factor

  table.append(entry_for(f, jnp.ones(110), factor=2))
  assert f(jnp.ones(190))[0] == 2


def test_a_kernel_is_known_by_its_contents():
  def make(scale, name="f"):
    def f(x, *, block):
      """Words."""
      return helper(x) * scale + block

    f.__name__ = f.__qualname__ = name
    return f

  def helper(x):
    return x + 1

  assert content(make(2)) == content(make(2, "g"))
  assert content(make(2)) != content(make(3))
  text = "def helper(x):\n  return x + {}\ndef f(x, *, block):\n  {}\n  return helper(x)\n"
  programs = []
  for number, extra in ((1, "'doc'"), (1, "'another'"), (2, "'doc'")):
    names: dict = {"__name__": "somewhere"}
    exec(text.format(number, extra), names)
    programs.append(content(names["f"]))
  assert programs[0] == programs[1] != programs[2]


def test_a_table_cut_in_half_loses_one_line(own_table):
  table.append(*(table.Entry(dataclasses.replace(KEY, content=str(n) * 24), {"n": n}, 1e-3) for n in range(4)))
  data = own_table.read_bytes()
  own_table.write_bytes(data[: len(data) - 40])
  found = table.read()
  assert [e.config["n"] for e in found.entries] == [0, 1, 2]
  assert [p.line for p in found.problems] == [4]
  table.append(table.Entry(KEY, {"n": 9}, 1e-3))
  found = table.read()
  assert [e.config["n"] for e in found.entries] == [0, 1, 2, 9]
  assert len(found.problems) == 1


def test_lines_of_others_are_not_believed(own_table):
  f = scaled()
  x = jnp.ones(64)
  table.append(entry_for(f, x, factor=2))
  line = json.loads(own_table.read_text())
  own_table.write_text(json.dumps({**line, "config": {"factor": 3}}) + "\n")
  with pytest.warns(errors.TuningWarning) as seen:
    assert f(x)[0] == 1
  assert any("not written by this user" in str(w.message) for w in seen)
  own_table.parent.chmod(0o777)
  with pytest.warns(errors.TuningWarning) as seen:
    assert scaled()(x)[0] == 1
  assert any("lets other users write" in str(w.message) for w in seen)


def test_a_configuration_outside_of_the_space_is_not_used():
  f = scaled()
  table.append(entry_for(f, X, factor=7))
  with pytest.warns(errors.TuningWarning, match="not tuned"):
    assert f(jnp.ones(64))[0] == 1


def test_merging_takes_the_faster_entry(tmp_path):
  slow, fast = (table.Entry(KEY, {"n": n}, seconds) for n, seconds in ((1, 2e-3), (2, 1e-3)))
  other = table.Entry(dataclasses.replace(KEY, arguments="x=f32[8]"), {"n": 3}, 1.0)
  assert table.merged([fast, other], [slow]) == [fast, other]
  table.write_file(tmp_path / "out.jsonl", [fast, other])
  assert list(table.read_file(tmp_path / "out.jsonl").entries) == [fast, other]
  assert "seal" not in (tmp_path / "out.jsonl").read_text()


def test_sixteen_processes_write_one_table():
  with ForkServer({}, imports=("tilewright.tune.table", "table_writer")) as fork_server:
    workers = [fork_server.start("table_writer:serve") for _ in range(16)]
    for n, worker in enumerate(workers):
      worker.post({"who": n})
    assert [w.wait(200)["problems"] for w in workers] == [0] * 16
  found = table.read()
  assert not found.problems
  assert {(e.config["n"], e.config["who"]) for e in found.entries} == {(n, w) for n in range(20) for w in range(16)}


PROGRAM = """
import time, jax, jax.numpy as jnp, json
from tilewright import tune
import tilewright as tw
@tw.tune(factor=tw.choice(1, 2, 3), heuristic={"factor": 1})
def f(x, *, factor):
  return x * factor
x = jnp.ones(64)
x.block_until_ready()
call = f.bound((x,), {})
start = time.perf_counter()
config = f.configure(f.bound((x,), {}))
print(json.dumps([config, time.perf_counter() - start, [tw.tune is tune, tune is __import__("sys").modules["tilewright.tune"]]]))
"""


def test_another_process_finds_the_entry(tmp_path):
  program = tmp_path / "program.py"
  program.write_text(PROGRAM)
  names: dict = {"__name__": "__main__"}
  exec(PROGRAM.partition("x = jnp.ones")[0], names)
  table.append(entry_for(names["f"], jnp.ones(64)))
  environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tw.__file__).parents[1])}
  done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, env=environment)
  config, seconds, same = json.loads(done.stdout)
  assert config == {"factor": 3}
  assert same == [True, True]
  print(f"lookup in a new process: {1e3 * seconds:.2f} ms")


def test_devices_and_versions_are_part_of_a_key():
  key = scaled().bound((X,), {}).key
  assert "threads" in key.device and "jax" in key.versions and key.driver == ""
  assert keys.type_text(jax.ShapeDtypeStruct((2, 3), jnp.bfloat16)) == "bf16[2,3]"
  assert keys.type_text(jax.ShapeDtypeStruct((), jnp.bool_)) == "pred[]"
