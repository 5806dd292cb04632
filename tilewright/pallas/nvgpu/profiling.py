"""Measured timelines of a function's kernels on a GPU.

    (p,) = nvgpu.profile(softmax, x)
    print(p)                                which part of the kernel takes how long
    p.write("softmax.trace.json")           for ui.perfetto.dev or chrome://tracing

Each warpgroup of a kernel records when it waits, loads, computes and stores, and the `jax.named_scope`s around statements of the kernel.
Marks take a few instructions each and may keep neighbouring instructions apart, so that a profiled kernel takes longer than the kernel as
it is, the more so the shorter its spans are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from tilewright import errors

if TYPE_CHECKING:
  from tilewright.target.nvgpu.host.profile import Profile

_MAX_SPACE, _MAX_CHOSEN = 1 << 16, 1 << 14


def profile(function: Callable[..., Any], *args: Any, space: int | None = None) -> list[Profile]:
  """Run a function on this machine's GPU, and give the profile of each kernel call, in the order in which they ended.

  The function runs twice: the first run brings code and data into the caches. `space` is how many begins and ends of spans each warpgroup
  has room for; if omitted, as many as the first run needs, up to 16,384. The profile says how many found none.
  """
  from tilewright.target.nvgpu.host import profile as host

  if space is not None and not (isinstance(space, int) and 0 < space <= _MAX_SPACE):
    raise errors.GridError(f"space: expected a number of records from 1 to {_MAX_SPACE}, got {space!r}.")
  if jax.default_backend() != "gpu":
    raise errors.NativeCodeError(
      f"profile: expected an NVIDIA GPU, but JAX runs on the {jax.default_backend()} here. "
      "`tilewright explain` predicts a timeline on any machine."
    )
  found: list[Profile] = []

  def run(room: int) -> Callable[..., Any]:
    with host.recording(host.Recording(room, found.append)):
      compiled = (
        jax.jit(lambda *own: function(*own)).lower(*args).compile()
      )  # a new function, of which no code is known
    jax.block_until_ready(compiled(*args))
    jax.effects_barrier()
    return compiled

  compiled = run(space or host.DEFAULT_SPACE)
  needed = min(_MAX_CHOSEN, max((p.needed_space for p in found), default=0))
  if space is None and needed > host.DEFAULT_SPACE:
    compiled = run(needed)
  if not found:
    name = getattr(function, "__name__", repr(function))
    raise errors.KernelTypeError(
      f"profile: expected a function that calls kernels as GPU code, but {name!r} calls none of them."
    )
  found.clear()
  jax.block_until_ready(compiled(*args))
  jax.effects_barrier()
  return found
