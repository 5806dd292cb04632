"""Where things are in a meeting of devices (`meetings`), for the native code that fills it and the Python that reads it."""

from __future__ import annotations

# A meeting, in bytes: the next one, the run, the call, how many devices, how many have entered, ended and left, its name, when it
# began (nanoseconds of the monotonic clock), whether it is a gang, and how many threads work for that.
NEXT, RUN, KERNEL, COUNT, ENTERED, ENDED, LEFT, NAME, BORN, IS_GANG, HANDS, SLOTS = (8 * i for i in range(12))
# A slot. A device that waits says at which line, for what, and how often it has waited.
STATE, ARGS, ARENA, WHERE, KIND, COUNTER, WANTED, WAITS, ERROR, LOCK = (8 * i for i in range(10))
SLOT_BYTES = 128  # two cache lines: the prefetcher takes lines in pairs
ABSENT, INSIDE, OVER, FAILED, GONE = range(
  5
)  # states; a device whose body is over waits for the others before it is gone
FOR_SEMAPHORE, FOR_DEVICE, FOR_END, FOR_CORES = range(4)  # kinds of waits; the last: all cores of a device wait
# The last meetings that devices entered, a ring after the number of all: run, device, and the first bytes of the kernel's name.
HISTORY, HISTORY_ENTRY, HISTORY_NAME = 256, 128, 104

ENTER, LEAVE, VISIT, AWAIT, STUCK, ARRIVE = (
  f"tilewright_{name}" for name in ("enter", "leave", "visit", "await", "stuck", "arrive")
)
MEETINGS, HISTORY_TABLE, HOLD, RELEASE, ABANDON = (
  f"tilewright_{name}" for name in ("meetings", "history", "hold_meetings", "release_meetings", "abandon")
)
UNLINK = "tilewright_unlink"
IDLE = "tilewright_idle"
FUNCTIONS = (ENTER, LEAVE, VISIT, AWAIT, IDLE)
