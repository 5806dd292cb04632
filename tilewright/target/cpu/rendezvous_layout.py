"""The memory layout of a rendezvous of devices (`device_rendezvous`): native code fills it, Python (`deadlocks`) reads it."""

from __future__ import annotations

# A rendezvous, in bytes: the next one, the run, the call, how many devices, how many have entered, ended and left, its name, when it
# began (nanoseconds of the monotonic clock), whether it is a gang, how many threads work for that, its domain, and how many of the devices
# take part. Texts that others may read are copied: those of a name, of a line and of an error have so many bytes, the last of which is
# zero.
NEXT, RUN, KERNEL, COUNT, ENTERED, ENDED, LEFT = (8 * i for i in range(7))
NAME, CREATED, IS_GANG, HELPERS, DOMAIN_OF, MEMBERS = (8 * i for i in range(7, 13))
NAME_TEXT, NAME_BYTES, LINE_BYTES, ERROR_BYTES = 112, 160, 192, 4160
SLOTS = NAME_TEXT + NAME_BYTES
# A slot. A device that waits says at which line, for what, and how often it has waited; one that polls, how often it has read a semaphore
# and when it last asked whether others can signal.
STATE, ARGS, ARENA, WHERE, KIND, COUNTER, EXPECTED, WAITS, ERROR, LOCK, POLLS, ASKED = (8 * i for i in range(12))
WHERE_TEXT = 128  # behind two cache lines: the prefetcher takes lines in pairs
ERROR_TEXT = WHERE_TEXT + LINE_BYTES
SLOT_BYTES = ERROR_TEXT + ERROR_BYTES
# States; a device whose body is over waits for the others before it is gone. One that is outside takes no part.
ABSENT, IN_BODY, BODY_DONE, FAILED, GONE, OUTSIDE = range(6)
# Kinds of waits. All cores of a device wait; a loop reads a semaphore until it changes; one that may also end by itself.
FOR_SEMAPHORE, FOR_DEVICE, FOR_END, FOR_CORES, FOR_POLLED, FOR_POLLED_OR_OTHER = range(6)
# The last rendezvous that devices entered, a ring after the number of all: run, device, and the first bytes of the kernel's name.
HISTORY, HISTORY_ENTRY, HISTORY_NAME = 256, 128, 104
# A domain, the devices that see each other's memory: those of this process, or of several that share a segment, which begins with it. A
# lock, the list of rendezvous, whether one of its processes has ended and the message of that, the history, and for each process a heap
# (0 is for all: the rendezvous). A heap: its lock, the next free address, its end, and for each power of two a list of free blocks.
LOCK_OF_DOMAIN, HEAD, BROKEN, HISTORY_TABLE, ENDED_MESSAGE = 0, 8, 16, 24, 24 + 8 + HISTORY * HISTORY_ENTRY
ENDED_MESSAGE_BYTES = 512
HEAPS = ENDED_MESSAGE + ENDED_MESSAGE_BYTES
HEAP_LOCK, HEAP_NEXT, HEAP_END, HEAP_FREE = 0, 8, 16, 24
HEAP_BYTES, MAX_PROCESSES = 1024, 64
DOMAIN_BYTES = HEAPS + HEAP_BYTES * (MAX_PROCESSES + 1)
DOMAIN, OWN_HEAP = "tilewright_domain", "tilewright_own_heap"

ENTER, LEAVE, VISIT, AWAIT, DEADLOCK_CHECK, ARRIVE = (
  f"tilewright_{name}" for name in ("enter", "leave", "visit", "await", "stuck", "arrive")
)
HOLD, RELEASE, ABANDON = (f"tilewright_{name}" for name in ("hold_meetings", "release_meetings", "abandon"))
UNLINK = "tilewright_unlink"
IDLE, POLL = "tilewright_idle", "tilewright_poll"
FUNCTIONS = (ENTER, LEAVE, VISIT, AWAIT, IDLE, POLL)
