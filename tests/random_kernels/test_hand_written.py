"""A few random hand-written kernels; `python -m tests.random_kernels --hand-written` runs as many fresh ones as there is time for."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import targets

from .check import check_hand_written
from .hand_written import generate

sys.path.append(str(pathlib.Path(__file__).parent.parent / "nvgpu"))


@pytest.mark.parametrize("seed", [1, 4, 8, 15])
def test_native_code_gives_the_numbers_of_numpy(seed):
  assert check_hand_written(seed) is None, generate(seed)


@pytest.mark.parametrize("seed", [2, 3, 42, 49])
def test_the_code_of_a_gpu_gives_the_numbers_of_numpy(seed, monkeypatch):
  import emulated

  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)
  monkeypatch.setattr(emulated, "arch", "sm_90a")
  assert check_hand_written(seed) is None, generate(seed)


@pytest.mark.parametrize("seed", [5, 16])
def test_the_simulated_machine_finds_no_race(seed):
  program = generate(seed)
  arguments = program.arguments()
  actual = program.call(arguments, plgpu.InterpretGPUParams(detect_races=True))
  assert not plgpu.interpret_races()
  for a, e in zip(actual, program.expected(arguments), strict=True):
    np.testing.assert_array_equal(a.astype(float), e)
