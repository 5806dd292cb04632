"""A sample of the audit of every collective, dtype, reduction and split; `python -m tests.collectives.audit` runs all."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tests.collectives import audit

pytestmark = pytest.mark.skipif(jax.device_count() < audit.N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")
PAIRS = [(name, split) for name in audit.DTYPES for split in audit.SPLITS]


@pytest.mark.parametrize("number", np.random.default_rng(5).choice(len(PAIRS), 4, replace=False))
def test_collectives_equal_numpy(number):
  compared, wrong = audit.audit(*PAIRS[number])
  assert compared and not wrong


def test_what_differs_is_seen():
  x = np.arange(6, dtype=np.float32).reshape(2, 3)
  assert audit.differs(x, x) == ""
  assert audit.differs(x, x.astype(np.float64))
  assert audit.differs(np.where(x == 4, 9, x).astype(np.float32), x) == "1 of 6 wrong; 9.0 instead of 4.0 at (1, 1)"
