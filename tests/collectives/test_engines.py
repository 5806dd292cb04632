"""Engines of others: what is said where they are missing, too old, or lack something."""

from __future__ import annotations

import sys
import types

import pytest

from tilewright.collectives import engines, nccl, nvshmem


def pretend(monkeypatch, name, version, **members):
  engine = engines.ENGINES[name]
  monkeypatch.setattr(engines, "installed", lambda asked: (engine.distributions[0], version if asked == name else None))
  monkeypatch.setitem(sys.modules, engine.module.split(".")[0], types.ModuleType(engine.module.split(".")[0]))
  monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)  # not installed
  module = types.ModuleType(engine.module)
  vars(module).update(members)
  monkeypatch.setitem(sys.modules, engine.module, module)


@pytest.mark.parametrize("call", [nccl.get_unique_id, nvshmem.get_unique_id])
def test_an_engine_that_is_missing_says_what_to_install(monkeypatch, call):
  monkeypatch.setattr(engines, "installed", lambda name: (engines.ENGINES[name].distributions[0], None))
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

    def split(self, color=None, key=0, config=None):
      assert color is None or color >= 0
      return Handle(0 if color is None else 2, key % 2)

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


def test_either_distribution_of_an_engine_will_do(monkeypatch):
  def version(name):
    if name != "nvshmem4py-cu12":
      raise engines.importlib.metadata.PackageNotFoundError(name)
    return "0.4.1"

  monkeypatch.setattr(engines.importlib.metadata, "version", version)
  assert engines.installed("nvshmem") == ("nvshmem4py-cu12", "0.4.1")
  assert engines.installed("nccl") == ("nccl4py", None)


def test_a_barrier_of_nvshmem_is_on_a_stream_and_waits_where_none_was_given(monkeypatch):
  """The real one refuses to work without a stream."""
  said = []

  class Stream:
    def sync(self):
      said.append("sync")

  class Teams:
    TEAM_WORLD = 0

  core = types.ModuleType("cuda.core")
  core.Device = lambda: types.SimpleNamespace(default_stream=Stream())
  monkeypatch.setitem(sys.modules, "cuda.core", core)
  pretend(monkeypatch, "nvshmem", "0.4.1", Teams=Teams, barrier=lambda team, stream: said.append((team, type(stream))))
  nvshmem.barrier()
  assert said == [(0, Stream), "sync"]
  said.clear()
  nvshmem.barrier(Stream())
  assert said == [(0, Stream)]


def test_a_library_that_is_missing_is_named(monkeypatch):
  def load(name):
    raise RuntimeError(f"No such file: lib{name}.so")

  pretend(monkeypatch, "nvshmem", "0.4.1")
  pathfinder = types.ModuleType("cuda.pathfinder")
  pathfinder.load_nvidia_dynamic_lib = load
  monkeypatch.setitem(sys.modules, "cuda.pathfinder", pathfinder)
  with pytest.raises(
    engines.EngineError, match=r"0\.4\.1 finds no library of NVIDIA's: No such file: libnvshmem_host\.so"
  ):
    nvshmem.ranks()
