"""The layout, as offsets in bytes, of the state of a running kernel call and of a kernel's facts."""

from __future__ import annotations

# The state of a call: counters, the facts; for a kernel that communicates with other devices the future, XLA's functions, the heap that its
# memory is from, the pointers to XLA's arrays and those to the copies that other processes access, the call's site and the run
# (or the rendezvous, once all devices have arrived); the message of a failed instance, the pointers to the arrays, the sizes of the grid.
NEXT, DONE, POINTS, CHUNK, OWNERS, FACTS, FUTURE, API, HEAP, OWN_ARRAYS, SEEN, SITE, RUN_ID, ERROR, ARRAYS = (
  8 * i for i in range(15)
)
# The facts of a kernel; then come the bytes of each result, then for each dimension of the grid its size (or DYNAMIC) and whether it is
# parallel. How it communicates: not at all, with waits, or as a gang. `DEVICE_ID` is a function of the arrays: the number of this device.
# `STAGED` are the arrays that other processes access: how many, then of each its number, its bytes, the number of another that is the same
# memory or -1, and whether it is copied in and out.
(
  RUN,
  PREPARE,
  NO_MEMORY,
  ARENA,
  NUM_OPERANDS,
  NUM_BOUNDS,
  NUM_RESULTS,
  RANK,
  THREADS,
  COMMUNICATION,
  DEVICE_ID,
  DEVICES,
  IS_LARGE,
  STAGED,
  RESULTS,
) = (8 * i for i in range(15))
DYNAMIC = -1
NO_COMMUNICATION, WAITING, GANG = range(3)
