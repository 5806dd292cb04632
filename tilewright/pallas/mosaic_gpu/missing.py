"""Names of `jax.experimental.pallas.mosaic_gpu` that are not here, and what to write instead.

Most of them say by hand what this compiler finds by itself: which warps do what, what is copied ahead of time, what blocks of a cluster
share. A kernel with blocks and products gets all of that.
"""

from __future__ import annotations

from typing import Any

from tilewright import errors

_INSTEAD = {
  "write plgpu.warp_map(f), which gives f the number of each warp": "WarpMesh",
}
ADVICE = {name: advice for advice, names in _INSTEAD.items() for name in names.split()}


def lookup(name: str) -> Any:
  """The `__getattr__` of the package."""
  known = f"module 'tilewright.pallas.mosaic_gpu' has no attribute {name!r}"
  if name not in ADVICE:
    raise AttributeError(known)
  raise errors.MissingNameError(f"{known}, which Mosaic GPU has. Instead: {ADVICE[name]}.")
