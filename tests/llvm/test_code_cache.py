"""Native code is made once, loaded once per process, and found on disk by the next process."""

from __future__ import annotations

import concurrent.futures
import ctypes
import threading

import pytest

from tilewright.runtime import cache, jit, linking
from tilewright.target.llvm.code_cache import CodeCache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  return tmp_path


def recording():
  """A fresh process's code of the kind "test", and the names that it has loaded."""
  loaded = []

  def load(name: str, code: bytes) -> str:
    loaded.append(name)
    return code.decode()

  return CodeCache("test", load), loaded


def refuse() -> bytes:
  raise AssertionError("it was made again")


def test_what_nobody_has_is_made_and_then_found():
  code_cache, loaded = recording()
  assert code_cache.find("aa") is None
  assert code_cache.make("aa", lambda: b"one") == code_cache.make("aa", refuse) == code_cache.find("aa") == "one"
  assert loaded == ["aa"]


def test_another_process_finds_it_on_disk():
  recording()[0].make("aa", lambda: b"one")
  code_cache, loaded = recording()
  assert code_cache.find("aa") == code_cache.make("aa", refuse) == "one"
  assert loaded == ["aa"] and code_cache.find("bb") is None


def test_a_damaged_entry_is_reported_and_made_anew(folder):
  recording()[0].make("aa", lambda: b"one")
  (entry,) = (folder / "test").iterdir()
  whole = entry.read_bytes()
  for damage in (whole[:-1] + b"x", whole[:-1], b""):
    entry.write_bytes(damage)
    with pytest.warns(cache.CacheWarning, match="damaged"):
      assert recording()[0].make("aa", lambda: b"one") == "one"
    assert entry.read_bytes() == whole


def test_threads_that_ask_at_once_get_one():
  code_cache, loaded = recording()
  together = threading.Barrier(4)

  def build() -> bytes:
    together.wait()
    return b"one"

  with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert set(pool.map(lambda _: code_cache.make("aa", build), range(4))) == {"one"}
  assert loaded == ["aa"]


def test_object_code_is_linked_without_its_text():
  code = jit.object_code('define i32 @"answer"() { ret i32 42 }')
  address = linking.link(bytes(code)).address("answer")
  assert ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 42


def test_who_has_no_home_has_a_cache(monkeypatch):
  def nowhere():
    raise RuntimeError("Could not determine home directory.")

  for name in ("TILEWRIGHT_CACHE_DIR", "XDG_CACHE_HOME"):
    monkeypatch.delenv(name, raising=False)
  monkeypatch.setattr(cache.pathlib.Path, "home", nowhere)
  assert cache.directory().name.startswith("tilewright-")
