"""The cache on disk believes only what this user wrote under the name it is asked for, and stays small."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

import pytest

from tilewright.cli import main
from tilewright.runtime import cache, trust


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
  monkeypatch.setattr(cache, "_instead", {})
  monkeypatch.setattr(cache, "_since", {})
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "kernels"))
  return tmp_path / "kernels"


def refused(match: str):
  return pytest.warns(cache.CacheWarning, match=match)


def test_what_is_put_is_got_and_only_this_user_can_read_it(folder):
  assert cache.get("cpu", "a") is None
  cache.put("cpu", "a", b"code")
  assert cache.get("cpu", "a") == b"code"
  modes = {stat.S_IMODE(p.lstat().st_mode) for p in [folder, *folder.rglob("*")]}
  assert modes == {0o700, 0o600}


def forged(folder: pathlib.Path) -> None:
  """By someone who knows the form of an entry, but not the user's key."""
  (folder / "cpu" / "a").write_bytes(trust.seal(bytes(32), "cpu", "a", contents=b"evil"))


def swapped(folder: pathlib.Path) -> None:
  (folder / "cpu" / "b").replace(folder / "cpu" / "a")


def of_another_kind(folder: pathlib.Path) -> None:
  (folder / "nvgpu" / "a").replace(folder / "cpu" / "a")


def cut_short(folder: pathlib.Path) -> None:
  entry = folder / "cpu" / "a"
  entry.write_bytes(entry.read_bytes()[:-1])


def a_fifo(folder: pathlib.Path) -> None:
  (folder / "cpu" / "a").unlink()
  os.mkfifo(folder / "cpu" / "a")


def a_link_to_a_device(folder: pathlib.Path) -> None:
  (folder / "cpu" / "a").unlink()
  (folder / "cpu" / "a").symlink_to("/dev/zero")


def a_link_to_an_entry(folder: pathlib.Path) -> None:
  (folder / "cpu" / "a").replace(folder / "cpu" / "c")
  (folder / "cpu" / "a").symlink_to("c")


def huge_and_sparse(folder: pathlib.Path) -> None:
  os.truncate(folder / "cpu" / "a", 1 << 36)


def writable_by_others(folder: pathlib.Path) -> None:
  (folder / "cpu" / "a").chmod(0o666)


@pytest.mark.parametrize(
  "damage",
  [
    *(forged, swapped, of_another_kind, cut_short, a_fifo, a_link_to_a_device, a_link_to_an_entry),
    *(huge_and_sparse, writable_by_others),
  ],
)
def test_an_entry_that_is_not_its_own_is_refused_and_made_anew(folder, damage):
  for kind, name in [("cpu", "a"), ("cpu", "b"), ("nvgpu", "a")]:
    cache.put(kind, name, f"{kind} {name}".encode())
  damage(folder)
  with refused("made anew"):
    assert cache.get("cpu", "a") is None
  cache.put("cpu", "a", b"again")
  assert cache.get("cpu", "a") == b"again"


def linked(folder: pathlib.Path) -> None:
  (folder.parent / "elsewhere").mkdir(mode=0o700)
  folder.symlink_to("elsewhere")


@pytest.mark.parametrize(
  ("make", "why"),
  [
    (lambda folder: (folder.mkdir(), folder.chmod(0o777)), "mode 0777"),
    (lambda folder: (folder.mkdir(), folder.chmod(0o770)), "mode 0770"),
    (linked, "is a link"),
    (lambda folder: folder.write_text(""), "no directory"),
    (lambda folder: (folder.mkdir(), (folder / "cpu").mkdir(), (folder / "cpu").chmod(0o777)), "mode 0777"),
  ],
)
def test_a_directory_that_others_can_write_is_replaced_by_a_private_one(folder, make, why):
  make(folder)
  before = sorted(folder.parent.rglob("*"))
  with refused(why) as said:
    cache.put("cpu", "a", b"code")
    assert cache.get("cpu", "a") == b"code"
  assert len(said) == 1
  assert sorted(folder.parent.rglob("*")) == before
  instead = cache._instead[folder]
  assert stat.S_IMODE(instead.stat().st_mode) == 0o700 and instead.parent == pathlib.Path(tempfile.gettempdir())


def test_what_belongs_to_another_user_is_refused(folder, monkeypatch):
  cache.put("cpu", "a", b"theirs")
  with trust.directory(folder / "cpu") as opened:
    someone = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone)
    with pytest.raises(trust.Distrusted, match="belongs to the user"):
      trust.read(opened, "a")
  with pytest.raises(trust.Distrusted, match="belongs to the user"), trust.directory(folder):
    pass


def test_who_has_no_home_trusts_no_directory_that_someone_made_before(tmp_path, monkeypatch):
  def nowhere():
    raise RuntimeError("Could not determine home directory.")

  for name in ("TILEWRIGHT_CACHE_DIR", "XDG_CACHE_HOME"):
    monkeypatch.delenv(name, raising=False)
  monkeypatch.setattr(cache.pathlib.Path, "home", nowhere)
  monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
  planted = cache.directory()
  assert planted == tmp_path / f"tilewright-{os.geteuid()}"
  planted.mkdir()
  planted.chmod(0o777)
  with refused("mode 0777"):
    cache.put("cpu", "a", b"code")
  assert not list(planted.iterdir())


def test_a_key_that_others_could_read_is_replaced(folder):
  cache.put("cpu", "a", b"code")
  (folder / "key").chmod(0o644)
  with refused("not written by this user"):
    assert cache.get("cpu", "a") is None
  assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600


def test_processes_that_start_at_once_agree_on_the_key(folder):
  def secret(_):
    with trust.directory(folder, create=True) as opened:
      return trust.key(opened)

  with concurrent.futures.ThreadPoolExecutor(16) as pool:
    assert len(set(pool.map(secret, range(64)))) == 1
  assert [p.name for p in folder.iterdir()] == ["key"]


def test_the_entries_longest_unused_go_first(folder, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_MIB", "1")
  for n in range(4):
    cache.put("cpu", f"{n}", bytes(200 << 10))
    os.utime(folder / "cpu" / f"{n}", (n, n))
  assert cache.get("cpu", "0") is not None  # used just now
  cache.put("nvgpu", "4", bytes(300 << 10))
  assert cache.info().nbytes <= 1 << 20
  left = {p.name for kind in ("cpu", "nvgpu") for p in (folder / kind).iterdir()}
  assert left == {"0", "2", "3", "4"}


def test_what_killed_writers_and_earlier_versions_left_is_removed(folder, monkeypatch):
  cache.put("cpu", "a", b"code")
  old, new = folder / "cpu" / ".new-old", folder / "cpu" / ".new-new"
  old.write_bytes(b"half")
  new.write_bytes(b"half")
  os.utime(old, (0, 0))
  (folder / "cpu" / "ab").mkdir()
  (folder / "cpu" / "ab" / "abcd").write_bytes(b"of another version")
  cache._since.clear()  # as in a new process
  cache.put("cpu", "b", b"code")
  assert {p.name for p in (folder / "cpu").iterdir()} == {"a", "b", ".new-new"}


def test_the_command_says_what_there_is_and_removes_it(folder, capsys):
  cache.put("cpu", "a", b"code")
  assert main(["cache", "info"]) == 0
  assert str(folder) in capsys.readouterr().out
  assert main(["cache", "clear"]) == 0
  assert "Removed 1 entries" in capsys.readouterr().out and cache.get("cpu", "a") is None
  folder.chmod(0o777)
  assert main(["cache", "info"]) == 1 and "mode 0777" in capsys.readouterr().err


WRITER = """
import sys, warnings
from tilewright.runtime import cache
warnings.simplefilter("error")
for n in range(200):
  name = str(n % 40)
  found = cache.get("test", name)
  assert found in (None, name.encode() * 50000), name
  cache.put("test", name, name.encode() * 50000)
"""


def test_many_processes_write_use_and_remove_entries_at_once(folder, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_MIB", "1")
  children = [subprocess.Popen([sys.executable, "-c", WRITER], stderr=subprocess.PIPE) for _ in range(3)]
  for child in children:
    _, said = child.communicate(timeout=60)
    assert child.returncode == 0, said.decode()
  assert cache.info().nbytes < 3 << 20
