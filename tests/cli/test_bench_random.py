"""`tilewright bench gpu --random`, and the rows of users' programs: what is drawn, and that both sides compute the same."""

from __future__ import annotations

import math
import random

import jax
import jax.numpy as jnp
import pytest

from tilewright.cli import bench_gpu_programs, bench_random, main
from tilewright.cli.bench import Row
from tilewright.cli.bench_random import DRAWS, Sizes, check_agreement, random_case, summarise


class Small(Sizes):
  """Sizes of the same kinds that a CPU multiplies in no time."""

  def size(self, least, most):
    return super().size(min(least, 24), max(min(most, 40), min(least, 24)))


@pytest.mark.parametrize("op", DRAWS)
def test_each_op_computes_what_its_peer_does(op):
  drawn = DRAWS[op](Small(random.Random(op), "odd", bench_random.CPU), 3, "float32")
  arrays = drawn.arrays()
  bench_random.check(drawn, drawn.ours(*arrays), arrays)
  if drawn.peers:  # whose arrays are in another order
    out = drawn.peers["XLA"](*drawn.for_peer(*arrays))
    check_agreement("peer", jnp.swapaxes(out, 1, 2), drawn.plain(*arrays), 1e-5)


def test_a_case_depends_on_its_number_and_the_seed_alone():
  names = [case.name for case in bench_random.cases(40, 3, [])]
  assert [case.name for case in bench_random.cases(20, 3, [])] == names[:20]
  assert [case.name for case in bench_random.cases(40, 4, [])] != names


@pytest.mark.parametrize("number, divisor, rest", [(0, 2, 1), (1, 8, 0), (2, 128, 0)])
def test_a_third_of_the_sizes_is_of_each_kind(number, divisor, rest):
  for seed in range(20):
    for later in (number, number + 3):
      (m, k), (_, n) = (shape[-2:] for shape in random_case("matmul", seed, later).shapes)
      assert {m % divisor, k % divisor, n % divisor} == {rest}


def test_the_summary_takes_the_first_peer_that_has_a_time():
  rows = [
    Row("random attention bf16 a", 1.0, "cuDNN", None, 2),
    Row("random attention bf16 a", 1.0, "XLA", 4.0, 2),
    Row("random attention bf16 b", 2.0, "cuDNN", 1.0, 2),
    Row("random attention bf16 b", 2.0, "XLA", 9.0, 2),
    Row("random gelu f32 c", 1.0, "XLA", 1.0, 2),
  ]
  attention, gelu = summarise(rows)
  assert (attention.op, attention.count, attention.worst_case) == ("attention", 2, "random attention bf16 b")
  assert attention.mean == pytest.approx(math.sqrt(4.0 * 0.5))
  assert (gelu.mean, gelu.worst) == (1.0, 1.0)


def test_a_wrong_result_is_refused():
  with pytest.raises(AssertionError, match="wrong result"):
    check_agreement("x", jnp.array([1.0, jnp.nan]), jnp.array([1.0, 2.0]), 1e-2)
  with pytest.raises(AssertionError, match="shape"):
    check_agreement("x", jnp.ones(2), jnp.ones(3), 1e-2)


def test_the_command_lists_what_it_would_draw(capsys):
  assert main(["bench", "gpu", "--random", "4", "--seed", "5", "--filter", "soft", "--list"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert len(lines) == 4 and all("softmax" in line for line in lines)
  assert main(["bench", "gpu", "--random", "4", "--filter", "no such"]) == 2
  assert "softmax" in capsys.readouterr().err
  assert main(["bench", "cpu", "--random", "4", "--filter", "attention", "--list"]) == 0
  assert "cuDNN" not in capsys.readouterr().out


_SHAPES = {
  "column": [(64, 128)],
  "sum": [(64, 128)],
  "sin": [(256, 64)],
  "softmax": [(128, 64)],
  "f32": [(256, 64), (64, 128)],
  "masked": [(200, 150), (150, 110)],
  "max_pool": [(2, 16, 16, 8)],
  "conv2d": [(2, 18, 18, 8), (3, 3, 8, 8)],
  "interleaved": [(32, 64), (32, 32), (32, 32)],
}


@pytest.mark.parametrize("program", bench_gpu_programs.PROGRAMS, ids=lambda program: program[0].split()[0])
def test_the_users_programs_compute_what_their_peers_do(program, monkeypatch):
  monkeypatch.setattr(bench_gpu_programs, "_params", lambda *_: None)
  name, ours, xla, _ = program
  shapes = _SHAPES[name.split()[0]]
  arrays = [jax.random.normal(jax.random.key(i), shape) for i, shape in enumerate(shapes)]
  check_agreement(name, ours(*arrays), xla(*arrays), 1e-5)
