"""`tilewright bench`: the rows, how they are timed, and the file they are written to."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp
import pytest

from tilewright import errors
from tilewright.cli import (
  bench,
  bench_collectives,
  bench_cpu,
  bench_events,
  bench_numerics,
  bench_processes,
  bench_queue,
  main,
)
from tilewright.cli.bench import OURS, Case
from tilewright.cli.bench_collectives import SIZES
from tilewright.pallas import trace as tracer


def constant(value):
  return lambda: lambda: jnp.full((4,), value)


def test_the_table_has_a_row_for_each_peer(capsys, tmp_path):
  file = tmp_path / "rows.json"
  assert main(["bench", "cpu", "--filter", "one call", "--seconds", "0.05", "--json", str(file)]) == 0
  out = capsys.readouterr().out
  assert all(word in out for word in ("one call on 1024 elements", "XLA", "Pallas interpret", "ratio"))
  written = json.loads(file.read_text())
  assert [row["peer"] for row in written["rows"]] == ["XLA", "Pallas interpret"]
  for row in written["rows"]:
    assert row["ratio"] == pytest.approx(row["peer_time"] / row["ours"])
    assert row["rounds"] >= bench.MIN_ROUNDS
  assert {"date", "machine", "versions", "unit", "target"} <= written.keys()
  assert [p.name for p in tmp_path.iterdir()] == ["rows.json"]


def test_rows_of_finished_cases_are_in_the_file_when_a_later_one_ends_the_process(monkeypatch, tmp_path):
  class Killed(BaseException):
    """Nothing catches it."""

  def killed():
    raise Killed

  file = tmp_path / "rows.json"
  cases = [Case("first", {OURS: constant(1.0), "peer": constant(1.0)}), Case("fatal", {OURS: killed})]
  monkeypatch.setattr(bench_cpu, "CASES", cases)
  with pytest.raises(Killed):
    main(["bench", "cpu", "--seconds", "0.01", "--json", str(file)])
  assert [row["name"] for row in json.loads(file.read_text())["rows"]] == ["first"]


def test_the_table_says_what_its_columns_mean_and_where_the_time_went(capsys):
  assert main(["bench", "cpu", "--filter", "one call", "--seconds", "0.05"]) == 0
  out = " ".join(capsys.readouterr().out.split())
  assert all(f"{column}: " in out for column in ("ratio", "processor time", "goal"))
  found = re.search(r"It took (\d+) s: (\d+) s of timing \(0.05 s for each of 1 cases", out)
  assert found is not None and int(found[2]) <= int(found[1])


def test_a_call_that_takes_longer_than_there_is_time_has_fewer_rounds(monkeypatch):
  now, calls = [0.0], {"quick": 0, "slow": 0}
  monkeypatch.setattr(bench.time, "perf_counter", lambda: now[0])

  def taking(name, seconds):
    def call():
      calls[name] += 1
      now[0] += seconds

    return call

  *_, rounds = bench.interleaved_medians({"quick": taking("quick", 0.01), "slow": taking("slow", 2.0)}, 0.5)
  assert rounds == bench.MIN_ROUNDS and calls == {"quick": 1 + rounds, "slow": 1 + bench.SLOW_ROUNDS}


def test_every_case_has_ours_and_peers_and_a_name_of_its_own():
  assert len({case.name for case in bench_cpu.CASES}) == len(bench_cpu.CASES)
  for case in bench_cpu.CASES:
    assert next(iter(case.contenders)) == OURS
    assert case.peers


def test_what_a_call_measures_itself_stands_for_its_time():
  call = lambda: bench.Measured(7.0)
  case = Case("bytes", {OURS: lambda: call, "peer": lambda: lambda: bench.Measured(21.0)}, unit="bytes")
  (row,) = bench.measure(case, 0.01)
  assert (row.ours, row.peer_time, row.ratio) == (7.0, 21.0, 3.0)
  assert "MiB" in bench.table_row(row)[1]


def test_a_call_that_measures_itself_is_called_once_in_a_round():
  calls = []
  *_, rounds = bench.interleaved_medians({OURS: lambda: calls.append(1) or bench.Measured(1e-6)}, 0)
  assert len(calls) == 1 + rounds  # the first finds out how often to repeat


def test_what_it_costs_to_ask_for_the_first_program_and_to_notice_the_last_is_not_the_devices_time(monkeypatch):
  now = [0.0]

  def pass_by(seconds):
    now[0] += seconds

  monkeypatch.setattr(bench_queue.time, "perf_counter", lambda: now[0])
  assert bench_queue.time_of_one(lambda: pass_by(2.0), lambda _: pass_by(300.0)) == pytest.approx(2.0)


def test_events_of_a_trace_count_where_they_are_a_devices(tmp_path):
  names = {1: "/host:CPU", 2: "/device:GPU:0"}
  events = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}} for pid, name in names.items()]
  events += [{"ph": "X", "pid": pid, "name": "kernel", "ts": pid, "dur": 1.5 * pid} for pid in (1, 2, 2)]
  (tmp_path / "run").mkdir()
  with gzip.open(tmp_path / "run" / "perfetto_trace.json.gz", "wt") as file:
    json.dump({"traceEvents": events}, file)
  assert bench_events.microseconds(tmp_path) == [3.0, 3.0]


def test_without_events_of_a_device_there_is_no_time():
  with pytest.raises(errors.UnsupportedFeatureError, match="0 events of the device"):
    bench_events.alone(jnp.negative, lambda: (jnp.ones(3),))()


def test_every_turn_among_contenders_that_disturb_begins_with_a_call_that_does_not_count():
  calls = []
  contenders = {OURS: lambda: calls.append(OURS), "peer": lambda: calls.append("peer")}
  *_, rounds = bench.interleaved_medians(
    {n: lambda n=n: time.sleep(2e-3) or contenders[n]() for n in contenders}, 0, disturbs=True
  )
  assert calls[2:] == [OURS, OURS, "peer", "peer"] * rounds  # the first two find out how often to repeat


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send")
def test_a_run_that_is_interrupted_reports_the_rows_it_has(capsys, monkeypatch, tmp_path):
  def stopped():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)

  cases = [Case(name, {OURS: constant(1), "peer": constant(1)}) for name in ("first", "never")]
  cases.insert(1, Case("stopped", {OURS: stopped, "peer": constant(1)}))
  monkeypatch.setattr(bench_cpu, "CASES", cases)
  assert main(["bench", "cpu", "--seconds", "0.01", "--json", str(tmp_path / "rows.json")]) == 1
  assert [row["name"] for row in json.loads((tmp_path / "rows.json").read_text())["rows"]] == ["first"]
  assert "Failed: stopped: interrupted" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which threads run")
def test_a_process_is_at_rest_when_none_of_its_threads_runs():
  """As OpenBLAS's do after a call, this one goes on by itself, without the interpreter's lock."""
  thread = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 1_000_000))
  thread.start()
  time.sleep(0.02)  # it runs by now, or waits for a processor
  with pytest.raises(RuntimeError, match="has been running"):
    bench.wait_until_idle(patience=0.02)
  thread.join()
  bench.wait_until_idle()


def test_a_kernel_is_compiled_in_a_process_of_its_own():
  """The second process finds the code that the first one left on disk."""
  call = bench_processes.contender("warm", "matmul", OURS)
  assert 0 < call().value < 60


def on_less(make):
  less = lambda shape: tuple(map(less, shape)) if isinstance(shape, tuple) else min(shape, 512)
  return lambda *shapes, **options: make(*map(less, shapes), **options)


# An all-reduce starts up to eight processes, and is the same program for any size: each way to start them has one.
ALL_REDUCES = dict(zip(("2 host devices", "4 host devices", "2 processes", "4 processes"), SIZES))
CASES = [
  case
  for case in bench_cpu.CASES
  if case not in bench_cpu.IN_PROCESSES
  and (case not in bench_collectives.CASES or case.name.split(", ")[1] == ALL_REDUCES[case.name.split(", ")[2]])
]


def test_each_way_to_reduce_over_devices_is_run():
  assert len([case for case in CASES if case in bench_collectives.CASES]) == len(ALL_REDUCES) == 4


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_contender_computes_the_same(case, monkeypatch):
  """On arrays of at most 512 along a dimension, but where labels go with them: `bench` checks the rest whenever it runs."""
  if not case.name.startswith(("ops.cross_entropy", "ops.embedding")):
    for module, make in ((bench_cpu, "arrays"), (bench_numerics, "normal")):
      monkeypatch.setattr(module, make, on_less(getattr(module, make)))
  results = {name: build()() for name, build in case.contenders.items()}
  bench.check_agreement(case, results)


@pytest.mark.parametrize("kernel", [bench_cpu.softmax_kernel, bench_cpu.attention_kernel], ids=["softmax", "attention"])
def test_a_kernel_that_is_built_again_is_not_traced_again(kernel, monkeypatch):
  """What the rows 'trace ... again' time: the second time, the trace comes from the cache."""
  traced = []
  trace = tracer._trace
  monkeypatch.setattr(tracer, "_trace", lambda *args: traced.append(1) or trace(*args))
  shapes = ((64, 48),) if kernel is bench_cpu.softmax_kernel else ((2, 128, 24),) * 3
  for _ in range(3):
    jax.make_jaxpr(lambda *xs: kernel(bench_cpu.ours(), *xs))(*bench_cpu.arrays(*shapes))
  assert len(traced) == 1


def test_list_prints_names_only(capsys):
  assert main(["bench", "cpu", "--list", "--filter", "softmax"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines and all("softmax" in line for line in lines)


def test_an_unknown_name_is_answered_with_how_to_see_the_known_ones(capsys):
  assert main(["bench", "cpu", "--filter", "no such"]) == 2
  message = capsys.readouterr().err
  assert "'no such'" in message and "tilewright bench cpu --list" in message


def test_the_gpu_bench_says_what_it_needs(capsys):
  assert main(["bench", "gpu"]) == 2
  assert "needs an NVIDIA GPU" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_noticed_before_the_work(capsys, tmp_path):
  start = time.perf_counter()
  assert main(["bench", "cpu", "--seconds", "100", "--json", str(tmp_path / "no" / "rows.json")]) == 2
  assert time.perf_counter() - start < 5
  assert "does not exist" in capsys.readouterr().err
  assert main(["bench", "cpu", "--json", str(tmp_path)]) == 2


def test_programs_that_disagree_are_not_compared():
  with pytest.raises(AssertionError, match="give different results"):
    bench.measure(Case("wrong", {OURS: constant(1.0), "peer": constant(2.0)}), 0.01)
  with pytest.raises(AssertionError, match="give different results"):
    bench.measure(Case("nan", {OURS: constant(float("nan")), "peer": constant(2.0)}), 0.01)


def test_a_peer_that_cannot_run_is_a_note_and_ours_is_an_error():
  def explode():
    raise RuntimeError("no such backend\nmore")

  (row,) = bench.measure(Case("a", {OURS: constant(1.0), "peer": explode}), 0.01)
  assert row.ratio is None and row.note == "RuntimeError: no such backend"
  assert bench.table_row(row)[3:] == ["-", "RuntimeError: no such backend", "-", "-"]
  with pytest.raises(RuntimeError):
    bench.measure(Case("a", {OURS: explode, "peer": constant(1.0)}), 0.01)


def test_contenders_take_turns():
  order = []
  calls = {name: (lambda name=name: (order.append(name), time.sleep(bench.MIN_SAMPLE))) for name in ("a", "b")}
  medians, _, rounds = bench.interleaved_medians(calls, 0.0)
  assert rounds == bench.MIN_ROUNDS
  assert order == ["a", "b"] * (1 + rounds)  # once to see how long a call takes
  assert all(t >= bench.MIN_SAMPLE for t in medians.values())


def test_writing_replaces_the_file_or_leaves_it(tmp_path, monkeypatch):
  file = tmp_path / "x.json"
  bench.write_atomically(file, "old")
  bench.write_atomically(file, "new")
  assert file.read_text() == "new"

  def fail(*_):
    raise OSError("disk full")

  monkeypatch.setattr(bench.os, "fsync", fail)
  with pytest.raises(OSError, match="disk full"):
    bench.write_atomically(file, "half")
  assert file.read_text() == "new"
  assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
