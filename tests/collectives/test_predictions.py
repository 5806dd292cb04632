"""Predictions for machines that are not here: what must hold of them, and that the documentation shows them."""

from __future__ import annotations

import pathlib

import pytest

from tilewright import errors
from tilewright.cli import main
from tilewright.collectives import predictions
from tilewright.collectives.cost import Topology

H100S = Topology("h100", 8)
CASES = [(product, topology) for product in predictions.PRODUCTS for topology in predictions.MACHINES]


@pytest.mark.parametrize(("product", "topology"), CASES, ids=str)
def test_overlap_takes_no_less_than_the_longer_part(product, topology):
  times = predictions.predict_product(product, topology)
  assert times["separate"] == times["product"] + times["collective"]
  if "fused" in times:
    assert times["product"] <= times["fused"] < times["separate"]
  else:
    assert topology.devices > topology.device.node


def test_the_simulator_agrees_with_the_sum_of_parts():
  for product in predictions.PRODUCTS[:2]:
    times = predictions.predict_product(product, H100S)
    alone = predictions.simulated(product, H100S, windowed=False)
    assert alone == pytest.approx(times["separate"], rel=0.02)
    assert times["product"] < times["windowed"] < times["separate"]


def test_sizes_that_do_not_divide_are_named():
  with pytest.raises(errors.CollectiveError, match="multiples of the 8 devices"):
    predictions.predict_product(predictions.Product("all_gather_matmul", 64, 64, 100), H100S)


def test_the_documentation_shows_what_the_command_prints(capsys):
  assert main(["collectives"]) == 0
  shown = pathlib.Path(__file__).resolve().parents[2].joinpath("docs", "collectives.md").read_text(encoding="utf-8")
  for table in capsys.readouterr().out.strip().split("\n\n"):
    assert table in shown


def test_one_all_reduce_is_explained(capsys):
  assert main(["collectives", "--bytes", "8192"]) == 0
  assert capsys.readouterr().out.startswith("all_reduce of 8,192 bytes over 8 h100 devices: one_shot")
  assert main(["collectives", "--bytes", "8192", "--hardware", "abacus"]) == 2
  assert "'abacus'" in capsys.readouterr().out
