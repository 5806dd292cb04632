"""What the in-kernel profiler (`emit.profiler`) recorded, as spans in nanoseconds, a table, and a trace for a browser.

    (profile,) = nvgpu.profile(softmax, x)
    print(profile)                          time of the CTAs by mark
    profile.write("softmax.trace.json")     for ui.perfetto.dev or chrome://tracing

A track is the code of 128 threads of a CTA: a warpgroup, or less in a smaller CTA. Spans may be nested; `Track.leaves` cuts them so that
each moment belongs to the innermost one.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import itertools
import json
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

TRACK_THREADS = 128
HEADER_BYTES, RECORD_BYTES = 64, 8
DEFAULT_SPACE = 512  # records of a track
_SAMPLE, _TRACED = 128, 32  # CTAs: of totals, and of a trace
LANES = ("wait", "load", "compute", "store", "scope")


@dataclasses.dataclass(frozen=True)
class Mark:
  """What a span is: `lane` says what kind of work, `name` which, `loc` of which line of the user."""

  lane: str
  name: str
  loc: str = ""

  @property
  def line(self) -> str:
    """File and line, without folders, column and function."""
    return ":".join(os.path.basename(self.loc.partition(" (")[0]).split(":")[:2])

  def __str__(self) -> str:
    return self.name + (f" at {self.line}" if self.loc else "")


@dataclasses.dataclass(frozen=True)
class Records:
  """How the records of a kernel lie in memory, and what their numbers mean."""

  marks: tuple[Mark, ...]
  tracks: int  # of a CTA
  space: int  # records of a track

  @property
  def track_bytes(self) -> int:
    return HEADER_BYTES + self.space * RECORD_BYTES

  def nbytes(self, blocks: int) -> int:
    """Of all CTAs."""
    return blocks * self.tracks * self.track_bytes


@dataclasses.dataclass(frozen=True)
class Span:
  """In nanoseconds since the kernel's first record."""

  mark: Mark
  begin: float
  end: float


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
  """What 128 threads of a CTA did. Times are nanoseconds since the kernel's first record."""

  block: int
  number: int
  sm: int
  begin: float
  end: float
  marks: tuple[Mark, ...]
  records: np.ndarray  # number of a mark and ticks, as `emit.profiler` has them
  ticks_per_ns: float
  dropped: int  # records that found no room

  @functools.cached_property
  def spans(self) -> tuple[Span, ...]:
    """In order of their begin."""
    open_spans: list[int] = []
    found: list[Span] = []
    times = [min(self.begin + ticks / self.ticks_per_ns, self.end) for ticks in self.records[:, 1].tolist()]
    known = times[-1] if self.dropped and times else self.end  # later ends found no room
    for code, at in zip(self.records[:, 0].tolist(), times):
      number, ends = divmod(code, 2)
      if not ends:
        open_spans.append(len(found))
        found.append(Span(self.marks[number], at, known))
        continue
      last = open_spans.pop()
      assert found[last].mark == self.marks[number], "spans are nested"
      found[last] = dataclasses.replace(found[last], end=at)
    return tuple(found)

  @functools.cached_property
  def leaves(self) -> tuple[Span, ...]:
    """The innermost span of each moment, in order; moments outside of all spans are left out."""
    found: list[Span] = []
    edges = sorted({t for s in self.spans for t in (s.begin, s.end)})
    starts = {t: n for n, t in enumerate(edges)}
    owner: list[Mark | None] = [None] * len(edges)
    ids: list[int] = [-1] * len(edges)
    for n, s in enumerate(self.spans):  # inner spans begin later, or are listed after those around them
      for at in range(starts[s.begin], starts[s.end]):
        owner[at], ids[at] = s.mark, n
    for at, mark in enumerate(owner):
      if mark is None:
        continue
      if found and at and ids[at - 1] == ids[at]:
        found[-1] = dataclasses.replace(found[-1], end=edges[at + 1])
      else:
        found.append(Span(mark, edges[at], edges[at + 1]))
    return tuple(found)


@dataclasses.dataclass(frozen=True)
class Profile:
  """One call of a kernel."""

  kernel: str
  roles: tuple[str, ...]  # what each track of a CTA does
  tracks: tuple[Track, ...]
  ticks_per_ns: float  # of the SMs' clock

  @property
  def blocks(self) -> int:
    return len(self.tracks) // len(self.roles)

  @property
  def nanoseconds(self) -> float:
    """From the first CTA's begin to the last one's end."""
    return max(t.end for t in self.tracks) - min(t.begin for t in self.tracks) if self.tracks else 0.0

  @property
  def dropped(self) -> int:
    return sum(t.dropped for t in self.tracks)

  @property
  def needed_space(self) -> int:
    """Room for the records of every track."""
    return max((len(t.records) + t.dropped for t in self.tracks), default=0)

  def of_block(self, block: int) -> tuple[Track, ...]:
    return self.tracks[block * len(self.roles) : (block + 1) * len(self.roles)]

  def block_nanoseconds(self, block: int) -> float:
    own = self.of_block(block)
    return max(t.end for t in own) - min(t.begin for t in own)

  def typical_block(self) -> int:
    """The CTA that took the median time."""
    return sorted(range(self.blocks), key=self.block_nanoseconds)[self.blocks // 2]

  def sample(self, count: int = _SAMPLE) -> list[Track]:
    """The tracks of at most so many CTAs, evenly among all of them."""
    count = min(self.blocks, count)
    blocks = [n * self.blocks // count for n in range(count)]
    return [t for block in blocks for t in self.of_block(block)]

  def totals(self) -> dict[tuple[str, Mark], float]:
    """Nanoseconds of a sample of CTAs together, by the work of their warpgroups and by mark; each moment counts for the innermost span."""
    found: dict[tuple[str, Mark], float] = {}
    for t in self.sample():
      for s in t.leaves:
        key = self.roles[t.number].rpartition(": ")[2], s.mark
        found[key] = found.get(key, 0.0) + s.end - s.begin
    return found

  def __str__(self) -> str:
    whole = sum(t.end - t.begin for t in self.sample()) or 1.0
    lines = [
      f"{self.kernel}: {self.nanoseconds / 1e3:.1f} us, {self.blocks} CTAs; share of the time of their warpgroups:"
    ]
    ordered = sorted(self.totals().items(), key=lambda item: -item[1])
    several = len({work for (work, _), _ in ordered}) > 1
    lines += [f"  {ns / whole:6.1%}  {f'{work}: ' * several}{mark.lane}, {mark}" for (work, mark), ns in ordered]
    lines.append(f"  {1 - sum(ns for _, ns in ordered) / whole:6.1%}  outside of all marks")
    if self.dropped:
      lines.append(f"  {self.dropped:,} records found no room: later spans are missing.")
    return "\n".join(lines)

  def to_chrome(self) -> dict[str, Any]:
    """Trace events (the format of chrome://tracing) of some CTAs: processes are SMs, threads are the warpgroups of a CTA."""
    events: list[dict[str, Any]] = []
    for t in self.sample(_TRACED):
      thread = t.block * len(self.roles) + t.number
      where = {"pid": t.sm, "tid": thread}
      name = f"CTA {t.block}, {self.roles[t.number]}"
      events.append({"ph": "M", "name": "process_name", "pid": t.sm, "args": {"name": f"SM {t.sm}"}})
      events.append({"ph": "M", "name": "thread_name", **where, "args": {"name": name}})
      for s in t.spans:
        args = {"lane": s.mark.lane, "line": s.mark.loc}
        times = {"ts": s.begin / 1e3, "dur": (s.end - s.begin) / 1e3}
        events.append({"ph": "X", "name": s.mark.name, "cat": s.mark.lane, **where, **times, "args": args})
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"kernel": self.kernel}}

  def write(self, path: str | os.PathLike[str]) -> None:
    pathlib.Path(path).write_text(json.dumps(self.to_chrome()), encoding="utf-8")


def decode(kernel: str, roles: Sequence[str], layout: Records, data: np.ndarray) -> Profile:
  """The profile in the bytes that a kernel has left."""
  words = np.ascontiguousarray(data).view(np.uint8)
  blocks = words.size // (layout.tracks * layout.track_bytes)
  rows = words[: layout.nbytes(blocks)].reshape(blocks * layout.tracks, layout.track_bytes)
  heads = np.ascontiguousarray(rows[:, :HEADER_BYTES]).view(np.uint64)
  records = np.ascontiguousarray(rows[:, HEADER_BYTES:]).view(np.uint32).reshape(len(rows), layout.space, 2)
  spent = heads[:, 2:4].astype(np.float64) - heads[:, 0:2].astype(np.float64)
  # One CTA may be too short for the coarse timer; its error cancels in the sum.
  rate = float(spent[:, 1].sum() / spent[:, 0].sum()) if spent[:, 0].sum() > 0 else 1.0
  first = heads[:, 0].min() if len(heads) else 0
  tracks = []
  for n, (head, own) in enumerate(zip(heads, records)):
    begin = float(head[0] - first)
    count, sm = int(head[4]), int(head[5])
    length = float(head[3] - head[1]) / rate
    block, number = divmod(n, layout.tracks)
    kept, dropped = own[: min(count, layout.space)], max(0, count - layout.space)
    tracks.append(Track(block, number, sm, begin, begin + length, layout.marks, kept, rate, dropped))
  return Profile(kernel, tuple(roles), tuple(tracks), rate)


def deliver(recording: Recording, profiled: Any, kernel: str, workspace: Any) -> None:
  """Hand over the profile of a call, when it has run; `workspace` is what the kernel has left there."""
  import jax
  from jax.experimental import io_callback

  def received(data: Any) -> None:
    recording.deliver(decode(kernel, profiled.roles, profiled.records, np.asarray(data)))

  io_callback(received, None, jax.lax.slice(workspace, (profiled.start,), workspace.shape))


# --- who wants a profile -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Recording:
  """Kernels that are lowered are to be profiled with this room for each track; `deliver` gets each call's profile."""

  space: int
  deliver: Callable[[Profile], None]


_recording: contextvars.ContextVar[Recording | None] = contextvars.ContextVar("tilewright_profile", default=None)


@contextlib.contextmanager
def recording(wanted: Recording) -> Iterator[None]:
  """Within this context, kernels that are lowered for a GPU are profiled."""
  token = _recording.set(wanted)
  try:
    yield
  finally:
    _recording.reset(token)


def wanted() -> Recording | None:
  return _recording.get()


_calls = itertools.count()


def into_folder(folder: str, space: int) -> Recording:
  """Profiles that are written to a folder, a trace for each call."""

  def deliver(profile: Profile) -> None:
    os.makedirs(folder, exist_ok=True)
    profile.write(os.path.join(folder, f"{profile.kernel}-{os.getpid()}-{next(_calls)}.trace.json"))

  return Recording(space, deliver)
