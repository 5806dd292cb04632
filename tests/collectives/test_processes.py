"""Devices of several processes that share memory: the same collectives and kernels, and processes that die."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.collectives import processes
from tilewright.runtime import segments
from tilewright.target.cpu import call_numbers
from tilewright.target.cpu import processes as target

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes share memory on Linux")
ADDRESS, BYTES = (1 << 44) - (1 << 36), 1 << 22


def test_four_processes_are_like_devices_of_one():
  outputs = processes.start(4)
  assert len(outputs) == 4
  for number, said in enumerate(outputs):
    assert f"process {number}: all collectives agree, through shared memory" in said, said[-3000:]


def test_a_killed_process_is_an_error_for_the_others():
  first, _ = processes.start(2, killed=1, quick=True)
  assert "process 0: all collectives agree, through shared memory" in first, first[-2000:]
  assert "process 0: an error after" in first, first[-2000:]
  assert float(first.split("an error after ")[1].split(" s")[0]) < 10


def test_calls_of_one_number_get_numbers_of_their_own():
  def module(*calls):
    texts = [f"world = dense<[17592186044416, {n}, 0]> : tensor<3xi64>}}" for n in calls]
    return "\x0a\x05".join(texts).encode()

  first, second = (int(call_numbers.attribute(17592186044416, n)[1]) for n in (7, 41))
  assert call_numbers.distinct(module(first, second)) is None
  assert call_numbers.distinct(module(first, second, first, first)) == module(first, second, first + 1, first + 2)
  assert call_numbers.distinct(module(second, second)) == module(second, second + 1)


@pytest.fixture
def segment():
  made = segments.create(BYTES, ADDRESS)
  yield made
  made.unmap()


JOIN = """
import ctypes, sys
from tilewright.runtime import segments
from tilewright.target.cpu import call_numbers
try:
  found = segments.join(sys.argv[1])
  print("found", ctypes.c_int64.from_address(found.start + 64).value)
  ctypes.c_int64.from_address(found.start + 64).value = 7
except segments.SegmentError as e:
  print(type(e).__name__, e)
"""


def joined(offer: str) -> str:
  ended = subprocess.run([sys.executable, "-c", JOIN, offer], capture_output=True, text=True, check=True)
  return ended.stdout.strip()


def test_memory_is_at_the_same_address_in_another_process(segment):
  import ctypes

  place = ctypes.c_int64.from_address(segment.start + 64)
  place.value = 5
  assert joined(segment.offer) == "found 5"
  assert place.value == 7


def changed(offer: str, **other: object) -> str:
  return json.dumps(json.loads(offer) | other)


def test_memory_that_is_not_what_was_offered_is_refused(segment):
  assert "is not the memory that was offered" in joined(changed(segment.offer, token="0" * 32))
  assert "bytes, not" in joined(changed(segment.offer, bytes=BYTES * 2))
  os.fchmod(segment.descriptor, 0o640)
  assert "other users or programs can reach it" in joined(segment.offer)


def test_files_and_pipes_are_no_memory(segment, tmp_path):
  path = tmp_path / "file"
  path.write_bytes(segment.token.encode().ljust(BYTES, b"\0"))
  path.chmod(0o600)
  reader, writer = os.pipe()
  with path.open("r+b") as file:
    assert "other users or programs" in joined(changed(segment.offer, fd=file.fileno()))
    assert "no memory" in joined(changed(segment.offer, fd=reader))
  os.close(reader), os.close(writer)


def test_an_address_is_given_once(segment):
  with pytest.raises(segments.AddressTaken):
    segments.create(BYTES, ADDRESS)


def test_nothing_is_left_when_a_segment_is_closed(segment):
  segment.close()
  assert not [name for name in os.listdir("/dev/shm") if "tilewright" in name]
  assert "cannot be opened here" in joined(changed(segment.offer, fd=1 << 20))


def test_processes_that_cannot_map_the_memory_all_hear_why():
  """The second process is somewhere else: it cannot open what the first offers, and both are told."""
  steps: list[tuple[str, str]] = []

  def exchange(step: str, mine: str) -> list[str]:
    steps.append((step, mine))
    if step.startswith("mapped"):
      return [mine, json.dumps({"why": "it is on another host", "again": False})]
    return [mine, "2"]

  assert target.connect((0, 1), 0, exchange) == "process 1: it is on another host"
  assert [step for step, _ in steps] == ["pid", "offer0", "mapped0"]


def test_another_address_is_tried_where_one_is_taken():
  answers = iter([json.dumps({"why": "taken", "again": True}), json.dumps({"why": "gone", "again": False})])
  offers: list[int] = []

  def exchange(step: str, mine: str) -> list[str]:
    if step.startswith("offer"):
      offers.append(json.loads(mine)["at"])
    return [mine, next(answers) if step.startswith("mapped") else "2"]

  assert target.connect((0, 1), 0, exchange) == "process 1: gone"
  assert len(set(offers)) == 2
