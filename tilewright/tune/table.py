"""Tables of tuned configurations: JSON lines in one file, that any number of processes read and append to.

    {"kernel": "matmul", "content": "5d0c…", "arguments": "x=f32[512,512] y=f32[512,512]", "device": "NVIDIA H200", "driver": "CUDA 13.0",
     "versions": "…", "config": {"block_m": 128}, "seconds": 1.2e-05, "default_seconds": 1.5e-05, "date": "2026-01-31", …, "seal": "…"}

A line is appended as a whole, under a lock; of two lines for the same key the later one counts. A file that was cut in the middle of a line
loses that line alone: what follows begins on a line of its own, and lines that cannot be read are counted and skipped. A configuration
decides which code runs, so `runtime.trust` applies: the table lies in a directory that only this user can write to, and each line carries
the HMAC of its contents under the user's key. `import` seals lines of a file that the user chooses to trust.

Tables in `tables/` ship with the package, if there are any. They are trusted like its code, and are used where the user's own table has
no entry; their versions are not compared.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import functools
import hmac
import json
import os
import pathlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tilewright import errors
from tilewright.runtime import cache, trust
from tilewright.tune.keys import Key

FILE, LOCK = "tuning.jsonl", "tuning.lock"
VARIABLE = "TILEWRIGHT_TUNING_TABLE"
_SHIPPED = pathlib.Path(__file__).parent / "tables"
_KEY_FIELDS = tuple(f.name for f in dataclasses.fields(Key))
_NUMBERS = ("seconds", "default_seconds")


@dataclasses.dataclass(frozen=True)
class Entry:
  """A configuration, what it is for, and how it was found."""

  key: Key
  config: Mapping[str, Any]  # as JSON
  seconds: float
  default_seconds: float | None = None
  trials: int = 0
  date: str = ""
  note: str = ""

  @property
  def gain(self) -> float | None:
    return None if self.default_seconds is None else self.default_seconds / self.seconds

  def to_json(self) -> dict[str, Any]:
    own = {"config": dict(self.config), "seconds": self.seconds, "default_seconds": self.default_seconds}
    rest = {"trials": self.trials, "date": self.date, "note": self.note}
    return dataclasses.asdict(self.key) | own | {k: v for k, v in rest.items() if v}

  @classmethod
  def from_json(cls, record: Any) -> Entry:
    """The entry that a line means; ValueError if it means none."""
    if not isinstance(record, dict):
      raise ValueError("it is no object")
    for name in _KEY_FIELDS:
      if not isinstance(record.get(name), str):
        raise ValueError(f"{name} must be text")
    if not isinstance(record.get("config"), dict):
      raise ValueError("config must be an object")
    seconds, default = (record.get(name) for name in _NUMBERS)
    if not isinstance(seconds, int | float) or not seconds > 0 or not isinstance(default, int | float | None):
      raise ValueError("seconds must be a positive number")
    key = Key(**{name: record[name] for name in _KEY_FIELDS})
    trials, date, note = record.get("trials", 0), record.get("date", ""), record.get("note", "")
    return cls(key, record["config"], float(seconds), default, int(trials), str(date), str(note))


@dataclasses.dataclass(frozen=True)
class Problem:
  """A line that is not used, and why."""

  line: int
  why: str


@dataclasses.dataclass(frozen=True)
class Contents:
  """What a table holds: for each key the last entry, and the lines that could not be used."""

  entries: tuple[Entry, ...]
  problems: tuple[Problem, ...]


def today() -> str:
  return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")


def path() -> pathlib.Path:
  """The user's table: TILEWRIGHT_TUNING_TABLE, or `tuning.jsonl` in the cache directory. `tilewright cache clear` leaves it alone."""
  chosen = os.environ.get(VARIABLE)
  return pathlib.Path(chosen) if chosen else cache.directory() / FILE


def _line(entry: Entry, secret: bytes | None) -> bytes:
  record = entry.to_json()
  if secret is not None:
    record["seal"] = _seal(secret, record)
  return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _seal(secret: bytes, record: Mapping[str, Any]) -> str:
  text = json.dumps({k: v for k, v in record.items() if k != "seal"}, sort_keys=True)
  return hmac.digest(secret, b"tuning\0" + text.encode(), "sha256").hex()[:32]


def _read(lines: Iterable[tuple[int, bytes]], secret: bytes | None) -> Contents:
  """Entries of some lines, sealed with a key if one is given."""
  found: dict[tuple[str, ...], Entry] = {}
  problems = []
  for number, line in lines:
    if not line.strip():
      continue
    try:
      record = json.loads(line)
      entry = Entry.from_json(record)
      if secret is not None and not hmac.compare_digest(str(record.get("seal", "")), _seal(secret, record)):
        raise ValueError("it was not written by this user (tilewright tune import believes a file)")
      found.pop(entry.key.identity, None)
      found[entry.key.identity] = entry
    except (ValueError, RecursionError) as error:
      why = str(error) if not isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else "it is no JSON"
      problems.append(Problem(number, why))
  return Contents(tuple(found.values()), tuple(problems))


# --- the user's table --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _folder(create: bool = False) -> Iterator[tuple[int, str]]:
  """The directory of the table, and the name of the file in it."""
  where = path()
  try:
    with trust.directory(where.parent, create=create) as folder:
      yield folder, where.name
  except trust.Distrusted as error:
    raise errors.TuningError(
      f"The table of tuning {where} is not used: it, or its directory, {error}. Make it a directory that only you can write to "
      f"(chmod 700), or set {VARIABLE}."
    ) from error


@contextlib.contextmanager
def _locked(folder: int, name: str, how: int = fcntl.LOCK_EX) -> Iterator[None]:
  """One process at a time writes. The lock is a file of its own, as the table itself may be replaced."""
  flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
  opened = os.open(LOCK if name == FILE else f".{name}.lock", flags, 0o600, dir_fd=folder)
  try:
    fcntl.flock(opened, how)
    yield
  finally:
    os.close(opened)


def _lines(folder: int, name: str, word: bytes = b"") -> Iterator[tuple[int, bytes]]:
  """Lines that contain a word, with their numbers. With a word, a last line without its end is left out: someone is writing it."""
  try:
    data = trust.read(folder, name)
  except FileNotFoundError:
    return
  if word and word not in data:
    return
  if word:
    data = data[: data.rfind(b"\n") + 1]
  for number, line in enumerate(data.split(b"\n"), 1):
    if word in line:
      yield number, line


def read() -> Contents:
  """Everything in the user's table."""
  if not path().parent.is_dir():
    return Contents((), ())
  with _folder() as (folder, name), _locked(folder, name, fcntl.LOCK_SH):
    return _read(list(_lines(folder, name)), trust.key(folder))


def append(*entries: Entry) -> None:
  """Add entries at the end, as whole lines, whatever other processes do."""
  with _folder(create=True) as (folder, name), _locked(folder, name):
    secret = trust.key(folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(name, flags, 0o600, dir_fd=folder)
    try:
      size = os.fstat(opened).st_size
      cut = size > 0 and os.pread(opened, 1, size - 1) != b"\n"  # a previous writer was killed
      text = (b"\n" if cut else b"") + b"".join(_line(e, secret) for e in entries)
      while text:
        text = text[os.write(opened, text) :]
    finally:
      os.close(opened)


def replace(entries: Iterable[Entry]) -> None:
  """Atomically replace the user's table."""
  with _folder(create=True) as (folder, name), _locked(folder, name):
    secret = trust.key(folder)
    trust.write(folder, name, b"".join(_line(e, secret) for e in entries))


def matching(content: str) -> list[Entry]:
  """The entries of the user's table for a kernel. Only lines that name it are looked at."""
  if not path().parent.is_dir():
    return []
  with _folder() as (folder, name):
    lines = list(_lines(folder, name, content.encode()))
    found = _read(lines, trust.key(folder)) if lines else Contents((), ())
  if found.problems:
    numbers = ", ".join(str(p.line) for p in found.problems)
    warnings.warn(
      f"Lines {numbers} of the table of tuning {path()} are not used: {found.problems[0].why}. tilewright tune check says more.",
      errors.TuningWarning,
      stacklevel=2,
    )
  return [e for e in found.entries if e.key.content == content]


# --- files -------------------------------------------------------------------------------------------------------


def read_file(file: str | pathlib.Path) -> Contents:
  """Everything in a file that someone gives us; seals are not looked at."""
  data = pathlib.Path(file).read_bytes()
  return _read(enumerate(data.split(b"\n"), 1), None)


def write_file(file: str | pathlib.Path, entries: Iterable[Entry]) -> None:
  """Entries as a file for others: the same lines without seals, in the place of what was there."""
  where = pathlib.Path(file)
  temporary = where.with_name(f".{where.name}.{os.getpid()}")
  temporary.write_bytes(b"".join(_line(e, None) for e in entries))
  os.replace(temporary, where)


def merged(*tables: Iterable[Entry]) -> list[Entry]:
  """One table of several: of two entries for one key the faster one, and of equal ones the later one."""
  found: dict[tuple[str, ...], Entry] = {}
  for table in tables:
    for entry in table:
      other = found.get(entry.key.identity)
      if other is None or entry.seconds <= other.seconds:
        found[entry.key.identity] = entry
  return list(found.values())


@functools.cache
def shipped() -> Mapping[str, tuple[Entry, ...]]:
  """The entries that come with the package, by the contents of their kernels."""
  found: dict[str, tuple[Entry, ...]] = {}
  for file in sorted(_SHIPPED.glob("*.jsonl")):
    for entry in read_file(file).entries:
      found[entry.key.content] = (*found.get(entry.key.content, ()), entry)
  return found


def find(key: Key) -> Entry | None:
  """The entry for a key: the user's own, or the package's for the same device, whatever its versions."""
  for entry in matching(key.content):
    if entry.key.identity == key.identity:
      return entry
  for entry in shipped().get(key.content, ()):
    if (entry.key.arguments, entry.key.device) == (key.arguments, key.device):
      return entry
  return None


def nearest(key: Key) -> tuple[Entry, float] | None:
  """The entry for the same kernel and device whose shapes are nearest, and how far they are: the sum of |log2| of the ratios of sizes.

  Ranks, dtypes and everything that is not an array must be the same.
  """
  from tilewright.tune.shapes import distance

  found = []
  for entry in (*matching(key.content), *shipped().get(key.content, ())):
    if entry.key.device == key.device and (far := distance(entry.key.arguments, key.arguments)) is not None:
      found.append((far, entry))
  if not found:
    return None
  far, entry = min(found, key=lambda each: each[0])
  return entry, far
