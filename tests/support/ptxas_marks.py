"""A mark for tests that ask ptxas."""

from __future__ import annotations

import pytest

from tilewright.runtime import ptxas

needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")
