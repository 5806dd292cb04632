"""Engines of others: what is said where they are missing, too old, or lack something."""

from __future__ import annotations

import sys
import types

import pytest

from tilewright.collectives import engines, nccl, nvshmem


def pretend(monkeypatch, name, version, **members):
  engine = engines.ENGINES[name]
  monkeypatch.setattr(engines, "version", lambda asked: version if asked == name else None)
  monkeypatch.setitem(sys.modules, engine.module.split(".")[0], types.ModuleType(engine.module.split(".")[0]))
  module = types.ModuleType(engine.module)
  vars(module).update(members)
  monkeypatch.setitem(sys.modules, engine.module, module)


@pytest.mark.parametrize("call", [nccl.get_unique_id, nvshmem.get_unique_id])
def test_an_engine_that_is_missing_says_what_to_install(monkeypatch, call):
  monkeypatch.setattr(engines, "version", lambda name: None)
  with pytest.raises(engines.EngineError, match=r"is not installed: pip install 'tilewright\[(nccl|nvshmem)\]'"):
    call()


def test_an_engine_that_is_too_old_says_so(monkeypatch):
  pretend(monkeypatch, "nvshmem", "0.1.0")
  with pytest.raises(engines.EngineError, match=r"0\.1\.0 is too old, 0\.1\.3 is needed"):
    nvshmem.rank()


def test_what_a_version_lacks_is_named(monkeypatch):
  pretend(monkeypatch, "nccl", "0.2")
  with pytest.raises(engines.EngineError, match=r"nccl4py 0\.2 has no nccl\.core\.get_unique_id"):
    nccl.get_unique_id()


def test_communicators_are_made_and_split(monkeypatch):
  class Handle:
    def __init__(self, nranks, rank, unique_id=None):
      self.nranks, self.rank = nranks, rank

    init = classmethod(lambda cls, **arguments: cls(**arguments))

    def split(self, color, key):
      return None if color == nccl.NO_COLOR else Handle(2, key % 2)

  pretend(monkeypatch, "nccl", "0.2", Communicator=Handle, get_unique_id=lambda: b"id")
  everyone = nccl.init(4, 3, nccl.get_unique_id())
  assert (everyone.ranks, everyone.rank) == (4, 3)
  assert everyone.split(None) is None
  part = everyone.split(color=1, key=3)
  assert part is not None and (part.ranks, part.rank) == (2, 1)
  with pytest.raises(engines.EngineError, match="register_window"):
    everyone.window(None)
  with pytest.raises(ValueError, match="rank 4 is outside of 4"):
    nccl.init(4, 4, b"id")
