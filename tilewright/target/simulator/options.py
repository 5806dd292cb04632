"""Parameters of the simulated machine, and the errors it should detect."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Literal

from tilewright import errors


class Recorder:
  """A user's callback for visited grid points. Two are equal only if the function is the same object.

  (A kernel is kept for calls that mean the same; functions of equal code that write to different lists do not.)
  """

  def __init__(self, function: Callable[..., Any]):
    self.function = function

  def __call__(self, point: tuple[Any, ...], core: Any) -> None:
    """The function takes (point, core), or (token, point, core) as in programs that thread a token through."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(self.function).parameters.values()
    takes_token = sum(p.kind in kinds and p.default is p.empty for p in parameters) >= 3
    self.function(*((0,) if takes_token else ()), point, core)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Recorder) and self.function is other.function

  def __hash__(self) -> int:
    return hash((Recorder, id(self.function)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
  """Parameters of the simulated machine; `pltpu.InterpretParams` documents each of them."""

  detect_races: bool = False
  out_of_bounds_reads: Literal["raise", "uninitialized"] = "raise"
  skip_floating_point_ops: bool = False
  uninitialized_memory: Literal["nan", "zero"] = "nan"
  num_cores_or_threads: int = 1
  vector_clock_size: int | None = None
  logging_mode: Any = None
  dma_execution_mode: Literal["eager", "on_wait"] = "on_wait"
  random_seed: int | None = None
  grid_point_recorder: Callable[..., Any] | None = None
  allow_hbm_allocation_in_run_scoped: bool = False
  buffer_bounds: Literal["logical", "padded"] = "logical"

  def __post_init__(self) -> None:
    choices = {
      "out_of_bounds_reads": ("raise", "uninitialized"),
      "uninitialized_memory": ("nan", "zero"),
      "dma_execution_mode": ("eager", "on_wait"),
      "buffer_bounds": ("logical", "padded"),
    }
    for field, allowed in choices.items():
      if getattr(self, field) not in allowed:
        raise errors.KernelTypeError(
          f"InterpretParams: {field} must be one of {allowed}, got {getattr(self, field)!r}."
        )
    if self.num_cores_or_threads < 1:
      raise errors.KernelTypeError(
        f"InterpretParams: num_cores_or_threads must be at least 1, got {self.num_cores_or_threads}."
      )

    recorder = self.grid_point_recorder
    if recorder is not None and not isinstance(recorder, Recorder):
      object.__setattr__(self, "grid_point_recorder", Recorder(recorder))

  @property
  def num_cores_per_device(self) -> int:
    return self.num_cores_or_threads

  def get_vector_clock_size(self, num_devices: int) -> int:
    """How many entries a vector clock has: one for each core, the rest shared by copies in flight."""
    return self.clock_size(num_devices * self.num_cores_or_threads)

  def clock_size(self, num_cores: int) -> int:
    if self.vector_clock_size is None:
      return 2 * num_cores
    if self.vector_clock_size <= num_cores:
      raise errors.KernelTypeError(
        f"InterpretParams: vector_clock_size must be larger than the number of cores of all devices ({num_cores}), got "
        f"{self.vector_clock_size}."
      )
    return self.vector_clock_size
