"""What tests of acceleration share."""

from __future__ import annotations

import jax
import pytest

from tests.accelerate.random_plain_programs import take_everything
from tilewright import hlo
from tilewright.accelerate import program, session


@pytest.fixture(autouse=True)
def programs_on_gpus_too(request, monkeypatch):
  """With `--platform gpu`, programs there are accelerated as those on the CPU."""
  if request.config.getoption("--platform") == "gpu":
    monkeypatch.setitem(session.accelerate.__kwdefaults__, "platforms", ("cpu", "cuda"))
    for kind in ("attention", "scaled dot"):
      monkeypatch.setitem(program.PLATFORMS, kind, ("cpu", "cuda"))


@pytest.fixture
def on_the_cpu():
  """For what acceleration does on the CPU only: depthwise convolutions, sums in parts, operands' buffers for results."""
  if jax.default_backend() != "cpu":
    pytest.skip("XLA:GPU does this itself, or fuses it with what it cannot do here")


@pytest.fixture
def all_regions_are_worth_it(monkeypatch):
  """Estimates are for arrays that take long; in tests they are small."""
  take_everything(monkeypatch.setattr)
  yield
  for installed in hlo.installed_hooks():
    installed.uninstall()
