"""The cores of one device as a mesh, and what they do together."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.pallas import effects, semaphores
from tilewright.pallas.control import when
from tilewright.pallas.primitives import Primitive
from tilewright.pallas.tpu.info import get_tpu_info, is_tpu_device
from tilewright.pallas.tpu.memory import CommonMemorySpace, MemorySpace
from tilewright.pallas.tpu.params import GridDimensionSemantics
from tilewright.target import simulator, xla
from tilewright.tile.grid import source_line


class CoreType(enum.Enum):
  """Kinds of cores that a kernel can run on."""

  TC = "tc"
  SC_SCALAR_SUBCORE = "sc_scalar_subcore"
  SC_VECTOR_SUBCORE = "sc_vector_subcore"

  def __str__(self) -> str:
    return self.value

  def __repr__(self) -> str:
    return self.name


def _default_num_cores() -> int:
  return get_tpu_info().num_cores if is_tpu_device() else 1


@dataclasses.dataclass(frozen=True)
class TensorCore:
  """One core of a `TensorCoreMesh`."""

  id: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorCoreMesh:
  """The TensorCores of one device, along one named axis. Off a TPU a device has one core unless `num_cores` says otherwise."""

  axis_name: str
  num_cores: int = dataclasses.field(default_factory=_default_num_cores)

  def __post_init__(self) -> None:
    if self.num_cores < 1:
      raise errors.GridError(f"TensorCoreMesh: num_cores must be at least 1, got {self.num_cores}.")

  @property
  def shape(self) -> collections.OrderedDict[str, int]:
    return collections.OrderedDict({self.axis_name: self.num_cores})

  @property
  def axis_names(self) -> tuple[str, ...]:
    return (self.axis_name,)

  @property
  def devices(self) -> np.ndarray:
    """The cores, as an array with the mesh's one axis."""
    return np.array([TensorCore(i) for i in range(self.num_cores)], dtype=object)

  @property
  def core_type(self) -> CoreType:
    return CoreType.TC

  @property
  def default_memory_space(self) -> Any:
    return CommonMemorySpace.ANY

  @property
  def dimension_semantics(self) -> list[GridDimensionSemantics]:
    return [GridDimensionSemantics.PARALLEL]

  @property
  def supported_memory_spaces(self) -> list[MemorySpace]:
    return [MemorySpace.VMEM, MemorySpace.SMEM, MemorySpace.CMEM, MemorySpace.SEMAPHORE]

  def check_is_compatible_with(self, other_mesh: Any) -> None:
    """Raise unless kernels on the two meshes can run in one launch: here, unless the meshes are equal."""
    if other_mesh != self:
      raise errors.GridError(f"The meshes {self} and {other_mesh} cannot be used in one kernel; they must be equal.")

  def discharges_effect(self, effect: Any) -> Literal[False]:
    del effect
    return False

  def tracing_context(self) -> contextlib.AbstractContextManager[None]:
    """What a body for this mesh is traced in, besides the axes of the kernel: nothing."""
    return contextlib.nullcontext()


def create_tensorcore_mesh(
  axis_name: str, devices: Sequence[jax.Device] | None = None, num_cores: int | None = None
) -> TensorCoreMesh:
  """The mesh of the TensorCores of a device."""
  if devices is not None and num_cores is not None:
    raise errors.GridError("create_tensorcore_mesh: give either devices or num_cores, not both.")
  if devices is not None:
    num_cores = getattr(devices[0], "num_cores", None) or 1
  return (
    TensorCoreMesh(axis_name=axis_name)
    if num_cores is None
    else TensorCoreMesh(axis_name=axis_name, num_cores=num_cores)
  )


def run_on_first_core(core_axis_name: str) -> Callable[[Callable[[], None]], None]:
  """A decorator that calls the function at once, on the first core along an axis only."""

  def decorator(f: Callable[[], None]) -> None:
    if lax.axis_size(core_axis_name) == 1:
      f()
    else:
      when(lax.axis_index(core_axis_name) == 0)(f)

  return decorator


# Marks where cores must run concurrently: as threads of the simulated machine, or as coroutines in native code. The portable lowering runs
# them sequentially and cannot continue there.
concurrent_cores_p = Primitive("concurrent_cores")
concurrent_cores_p.multiple_results = True
concurrent_cores_p.def_effectful_abstract_eval(lambda *, num_cores: ([], {effects.semaphore_effect}))
simulator.register(concurrent_cores_p)(lambda ctx, *, num_cores: [])


@xla.register(concurrent_cores_p)
def _(ctx: xla.Context, *, num_cores: int) -> list[Any]:
  raise errors.DeadlockError(
    f"The barrier at {source_line(ctx.eqn)} is for {num_cores} cores, but the portable lowering runs cores one after another: "
    "the first would never end its wait. Use interpret=pltpu.InterpretParams(), which runs them side by side."
  )


def core_barrier(sem: Any, *, core_axis_name: str) -> None:
  """Wait until every core along an axis has arrived here. `sem` is a regular per-core semaphore, initially zero."""
  num_cores = lax.axis_size(core_axis_name)
  if num_cores == 1:
    return
  concurrent_cores_p.bind(num_cores=num_cores)
  me = lax.axis_index(core_axis_name)
  for distance in range(1, num_cores):
    semaphores.semaphore_signal(sem, 1, device_id={core_axis_name: lax.rem(me + distance, num_cores)})
  semaphores.semaphore_wait(sem, num_cores - 1)
