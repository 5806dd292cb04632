"""The driver that only records, for every test here that asks for it."""

from __future__ import annotations

from tests.support.fake_targets import driver  # noqa: F401
