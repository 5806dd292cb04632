"""`tilewright demo` accepts right kernels and refuses wrong ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tilewright.cli import demo, main


def test_all_kernels_are_within_their_bounds(capsys):
  assert main(["demo"]) == 0
  out = capsys.readouterr().out
  assert all(case.name in out for case in demo.CASES)
  assert "FAILED" not in out


@pytest.mark.parametrize("case", demo.CASES, ids=lambda case: case.name)
def test_the_bound_notices_one_wrong_element(case):
  """A bound is of use only if it is far below the results: an element that is one percent off must be refused."""
  inputs = case.inputs(np.random.default_rng(0))
  exact, bound = case.exact(*(x.astype(np.float64) for x in inputs))
  large = np.abs(exact) > 0.5 * np.abs(exact).max()
  assert np.all(bound[large] < 0.01 * np.abs(exact[large]))
  assert exact.shape == bound.shape == case.kernel(*inputs).shape


def test_a_wrong_kernel_fails(monkeypatch, capsys):
  wrong = dataclasses.replace(demo.CASES[0], kernel=lambda x, y: demo.add(x, y) * (1 + 1e-5))
  monkeypatch.setattr(demo, "CASES", (wrong,))
  assert main(["demo"]) == 1
  assert "Failed: vector add." in capsys.readouterr().out


def test_nan_fails(monkeypatch):
  poisoned = dataclasses.replace(demo.CASES[0], kernel=lambda x, y: demo.add(x, y) * float("nan"))
  assert not demo.run_case(poisoned).ok


def test_a_kernel_that_raises_fails(monkeypatch, capsys):
  def explode(x, y):
    raise ValueError("boom")

  monkeypatch.setattr(demo, "CASES", (dataclasses.replace(demo.CASES[0], kernel=explode), demo.CASES[0]))
  assert main(["demo"]) == 1
  out = capsys.readouterr().out
  assert "ValueError: boom" in out and "ok" in out


def test_an_unknown_name_is_answered_with_the_known_ones(capsys):
  assert main(["demo", "--filter", "no such"]) == 2
  message = capsys.readouterr().err
  assert "'no such'" in message and "softmax" in message
