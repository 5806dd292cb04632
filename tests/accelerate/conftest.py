"""What tests of acceleration share."""

from __future__ import annotations

import pytest

from tests.accelerate.random_plain_programs import take_everything
from tilewright import hlo


@pytest.fixture
def all_regions_are_worth_it(monkeypatch):
  """Estimates are for arrays that take long; in tests they are small."""
  take_everything(monkeypatch.setattr)
  yield
  for installed in hlo.installed_hooks():
    installed.uninstall()
