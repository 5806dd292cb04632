"""The trace-time context of a kernel body: the enclosing grid.

The grid is part of JAX's axis environment, so that the trace of a jitted helper, with the grid sizes of one kernel baked in, is not reused
in another kernel.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import threading
from collections.abc import Hashable, Iterator
from typing import Any

import jax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.runtime.named_axes import named_axes
from tilewright.runtime.user_line import calling_line


@dataclasses.dataclass(frozen=True)
class GridFrame:
  """The grid of the kernel that is being traced: sizes (None where dynamic) and, if it has them, names."""

  sizes: tuple[Any, ...]
  names: tuple[Hashable, ...] | None = None
  axis_sizes: tuple[tuple[Hashable, int], ...] = ()  # named axes that are not grid dimensions: the cores of a mesh


@dataclasses.dataclass(frozen=True)
class GridMarker:
  """An axis name that represents the whole grid in the axis environment."""

  frame: GridFrame


@dataclasses.dataclass(frozen=True)
class GridPoint:
  """A position in a grid: one index and one size for each dimension."""

  indices: tuple[Any, ...]
  sizes: tuple[Any, ...]


class _Frames(threading.local):
  def __init__(self) -> None:
    self.stack: list[GridFrame] = []
    self.points: list[GridPoint | None] = []  # one for each frame; None where the position is not known


_frames = _Frames()

# JAX's words where a ref is added to, called a method of, given to a function of arrays, multiplied, or iterated over.
_REF_AS_VALUE = re.compile(
  r"'AbstractRef' object has no attribute|ndarray or scalar arguments, got <class '[^']*Tracer'>"
  r"|unsupported operand type\(s\) for \S+ '\w*Tracer' and '\w*Tracer'|<class '[^']*Tracer'> is not iterable"
  r"|TransformedRefs cannot be abstractified|Cannot store a Ref into another Ref|only one reference to a mutable array may be passed"
)

_HAS_LINE = re.compile(r"\.py:\d+")

# What to do about other mistakes in a body, by JAX's words for them.
_ADVICE = (
  (
    re.compile(r"Attempted boolean conversion of traced array"),
    "Branch on values with pl.when, jnp.where or jax.lax.cond.",
  ),
  (
    re.compile(r"The __index__\(\) method was called on traced array"),
    "Loop a dynamic number of times with jax.lax.fori_loop or pl.loop; sizes, axes and shapes must be ints.",
  ),
  (re.compile(r"Abstract tracer value encountered"), "Convert values with astype."),
  (
    re.compile(r"numpy\.ndarray conversion method"),
    "NumPy cannot work on values of a kernel: use jnp, and read refs as in x_ref[...].",
  ),
  (
    re.compile(r"Out of bound (slice|indexer)"),
    "A window must lie inside of its ref: use a smaller one, or a mask (pl.load, pl.store).",
  ),
  (
    re.compile(r"Python int \d+ too large to convert to int32"),
    "Beyond element 2^31 index with a slice, x_ref[pl.ds(i, 1)], or with np.uint32(i), or give the array more dimensions.",
  ),
  (re.compile(r"`indices` must not be longer than `shape`"), "Give at most one index for each dimension of the ref."),
  (re.compile(r"slice must have a step >= 1"), "Read the window and reverse the value with jnp.flip."),
  (re.compile(r"mutable array references cannot be returned"), "Return the value, as in x_ref[...], not the ref."),
  (
    re.compile(r"(?s)carry input and carry output must have equal types"),
    "Convert the carry with astype in the body, or begin with the other type.",
  ),
  (
    re.compile(r"requires contracting dimensions to have the same shape|incompatible shapes for broadcasting"),
    "A body sees blocks: compare the shapes with the block shapes of the specs.",
  ),
)


@contextlib.contextmanager
def tracing_kernel(frame: GridFrame, point: GridPoint | None = None) -> Iterator[None]:
  """Trace code that runs in a grid; at the given point, if its indices are already available."""
  named = [(name, size) for name, size in zip(frame.names or (), frame.sizes) if isinstance(size, int)]
  _frames.stack.append(frame)
  _frames.points.append(point)
  try:
    # A kernel body is the same program on every device: which values vary between devices is not tracked inside it.
    with (
      _jax.core.extend_axis_env_nd([(GridMarker(frame), 1), *named, *frame.axis_sizes]),
      _jax.config._check_vma(False),
    ):
      yield
  except Exception as e:
    better = None if isinstance(e, errors.TilewrightError) else _explained(e, frame)
    if better is None:
      _locate(e)
      raise
    raise better from e
  finally:
    _frames.stack.pop()
    _frames.points.pop()


def _sentence(text: str) -> str:
  text = text.strip()
  return text if text.endswith((".", "?", "!")) else f"{text}."


def _locate(error: Exception) -> None:
  """Add the user's line and the fix to a message, unless it names a line or the user's own code raised the error."""
  if len(error.args) != 1 or not isinstance(error.args[0], str) or _jax.is_raised_by_user(error):
    return
  message, line = error.args[0].rstrip(), _jax.user_line(error)
  advice = next((words for pattern, words in _ADVICE if pattern.search(message)), None)
  if "This is at " in message or line == "an unknown line" or (advice is None and _HAS_LINE.search(message)):
    return
  error.args = (f"{_sentence(message)} This is at {line}.{'' if advice is None else ' ' + advice}",)


def _explained(error: Exception, frame: GridFrame) -> errors.TilewrightError | None:
  """JAX's error about a mistake in a body, with the user's line and the fix."""
  if _jax.is_in_jax_pallas(error):
    said = f" ({_sentence(str(error)).removesuffix('.')})" if str(error) else ""
    return errors.ForeignNameError(
      f"A name of jax.experimental.pallas is used in this kernel, at {_jax.user_line(error)}{said}. Import it from tilewright.pallas "
      "instead, or run the whole program unchanged with `tilewright run`."
    )
  message = f"{_sentence(str(error))} This is at {_jax.user_line(error)}."
  if message.startswith(("Invalid shape for `", "Invalid dtype for `")):  # JAX's message for a mismatched store
    message = message.replace(" Transforms: ().", "")
    if message.startswith("Invalid dtype"):
      advice = "Convert the value with astype, or give the output another dtype in out_shape."
    else:
      advice = "Write a value of the ref's shape (jnp.broadcast_to), or change the block shape or out_shape."
    return errors.ShapeMismatchError(f"{message} {advice}")
  if isinstance(error, AssertionError | jax.errors.TracerBoolConversionError) and _jax.is_about_indexing(error):
    return errors.DynamicSizeError(
      f"The size of a slice of a ref is not known while the kernel is traced, at {_jax.user_line(error)}. In pl.ds(start, size) and in "
      "slices start:stop only the start may be dynamic, the size must be an int. Take a window of the largest size, and leave out what "
      "does not count with a mask (pl.load, pl.store, jnp.where) or with a loop."
    )
  if _REF_AS_VALUE.search(message):
    return errors.UnreadRefError(f"{message} A ref is not the value that it holds: read it first, as in x_ref[...].")
  if message.startswith("Found an unbound axis name"):
    names = [*(frame.names or ()), *(name for name, _ in frame.axis_sizes)]
    known = (
      f"The axes of this kernel are {names}"
      if names
      else "This kernel has no named axes: name its grid's, or give it a mesh"
    )
    return errors.AxisNameError(f"{message} {known}.")
  return None


def outside_kernel(what: str) -> errors.OutsideKernelError:
  line = calling_line()
  where = "" if line is None else f" This is at {line}."
  return errors.OutsideKernelError(
    f"{what} has a meaning only inside a kernel: call it from the body given to pallas_call, kernel or core_map.{where}"
  )


def current_frame(what: str) -> GridFrame:
  if not _frames.stack:
    raise outside_kernel(what)
  return _frames.stack[-1]


def current_point() -> GridPoint | None:
  """The current point of the innermost grid, if its indices are available."""
  return _frames.points[-1] if _frames.points else None


def in_kernel() -> bool:
  return bool(_frames.stack)


def core_axes() -> dict[Hashable, int]:
  """The named axes of the grid of the kernel that is being traced: the cores of its mesh."""
  named = next((frame for frame in reversed(_frames.stack) if frame.names), None)
  return {} if named is None else dict(zip(named.names or (), named.sizes))


def mesh_axes() -> dict[Hashable, int]:
  """The named axes of the devices around the kernel (from shard_map), in mesh order."""
  own = {name for frame in _frames.stack for name in (frame.names or ())} | {
    name for frame in _frames.stack for name, _ in frame.axis_sizes
  }
  return {n: s for n, s in named_axes().items() if not isinstance(n, GridMarker) and n not in own}
