"""The example models: small versions of some of them give the same results accelerated, and the command shows what was done."""

from __future__ import annotations

import builtins
import importlib
import pathlib
import sys

import jax
import pytest

import tilewright
from tests.accelerate.random_plain_programs import take_everything
from tilewright.cli import main
from tilewright.cli.accelerate import _covered

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "accelerate"
SMALL = {
  "graph_network": {"nodes": 64, "edges": 128, "width": 16, "layers": 1},
  "recurrent": {"batch": 16, "length": 3, "width": 16},
}


@pytest.fixture
def examples(monkeypatch):
  monkeypatch.syspath_prepend(str(FOLDER))
  yield lambda name: importlib.import_module(name)
  for path in FOLDER.glob("*.py"):
    sys.modules.pop(path.stem, None)


def test_time_spent_compiling_counts_once():
  """Tracing one function is part of tracing another: XLA's events overlap."""
  assert _covered([(0.0, 4.0), (1.0, 2.0), (3.0, 6.0), (8.0, 9.0)]) == 7.0


def test_there_are_ten_models():
  assert len([path for path in FOLDER.glob("*.py") if path.stem != "harness"]) >= 10


@pytest.mark.parametrize("name", SMALL)
def test_small_models_give_the_same_results(name, examples, monkeypatch):
  """Every region that can be a kernel is one, whether it is worth it or not."""
  take_everything(monkeypatch.setattr)
  f, args = examples(name).program(**SMALL[name])
  harness = examples("harness")
  plain, ours, acceleration = harness.both(f, args)
  assert any(r.taken for r in acceleration.reports)
  assert harness.largest_difference(plain(*args), ours(*args)) < 1e-4


GATED = [lambda x: jax.nn.gelu(x) * x]


@pytest.mark.parametrize(
  "f",
  [
    jax.nn.softmax,
    *GATED,
    lambda x: (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6),
  ],
  ids=["softmax", "gated", "layer_norm"],
)
def test_large_arrays_are_worth_a_kernel(f):
  """By the estimates as they are, which must not promise too little either."""
  if f in GATED and jax.default_backend() != "cpu":
    pytest.skip("XLA:GPU makes one kernel of it, too")
  x = jax.ShapeDtypeStruct((4096, 4096), "float32")
  with tilewright.accelerate() as acceleration:
    jax.jit(lambda x: f(x)).lower(x).compile()
  assert any(r.taken for r in acceleration.reports), acceleration.explain()


def test_the_command_runs_a_program_both_ways(tmp_path, capsys, monkeypatch):
  monkeypatch.setenv("COLUMNS", "200")  # so that no word is broken
  take_everything(monkeypatch.setattr)
  program = tmp_path / "program.py"
  program.write_text(
    "import jax, jax.numpy as jnp\n"
    "key = jax.random.key(0)\n"  # an array without numbers
    "x = jnp.ones((2048, 1024))\n"
    "y = jax.jit(lambda x: jax.nn.softmax(x * 2))(x)\n"
    "print('ran')\n"
  )
  page = tmp_path / "page.html"
  assert main(["accelerate", "--no-measure", "--html", str(page), str(program)]) == 0
  printed = capsys.readouterr().out
  assert printed.count("ran") == 2
  assert "exponential" in printed and "largest difference" in printed and "times as fast" in printed
  written = page.read_text()
  assert "<iframe" in written and "prefers-color-scheme: dark" in written
  assert written.index("<iframe") < written.index("nothing became a kernel")  # what was done comes first
  assert main(["accelerate", str(tmp_path / "missing.py")]) == 2
  jax.clear_caches()


DIFFERENT_RUNS = {  # by what the second run has in another way
  "complex": "x = np.ones(3) * (1 + again * 1j)",
  "bool": "x = np.array([True, again == 0])",
  "shape": "x = np.ones(3 + again)",
  "type": "x = np.ones(3, (np.float32, np.float64)[again])",
  "nan": "x = np.array([1.0, (2.0, np.nan)[again]])",
  "infinity": "x = np.array([1.0, (np.inf, 2.0)[again]])",
  "tree": "x = [np.ones(3)] * (1 + again)",
}


@pytest.mark.parametrize("what", DIFFERENT_RUNS)
def test_the_command_finds_other_results(what, tmp_path, capsys):
  program = tmp_path / "program.py"
  program.write_text(
    "import builtins, numpy as np\n"
    "again = getattr(builtins, 'ran_before', 0)\n"
    "builtins.ran_before = 1\n"
    "same = np.array([np.nan, np.inf, 1 + 2j])\n"
    f"{DIFFERENT_RUNS[what]}\n"
  )
  try:
    assert main(["accelerate", str(program)]) == 1
  finally:
    del builtins.ran_before
  assert "in x" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--tolerance", "nan"], ["--tolerance", "-1"], ["--html", "none/page.html"]])
def test_the_command_says_what_is_wrong_before_it_runs(options, tmp_path, capsys, monkeypatch):
  monkeypatch.chdir(tmp_path)
  (tmp_path / "program.py").write_text("print('ran')\n")
  assert main(["accelerate", *options, "program.py"]) == 2
  printed = capsys.readouterr()
  assert options[0] in printed.err and "ran" not in printed.out
