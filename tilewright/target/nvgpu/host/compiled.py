"""The code of a kernel for the devices of this process: compiled once, kept on disk, loaded where it is called.

The cache on disk holds the machine code of a kernel, the machine code of its launcher, and the metadata to load both: a process
that finds it generates neither LLVM IR nor PTX.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tilewright import errors
from tilewright.runtime import cache, cuda, dump, jit, linking, printing
from tilewright.target.llvm.code_cache import CodeCache
from tilewright.target.llvm.identity import identity
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.arch import Family
from tilewright.target.nvgpu.host.lifetime import Callee, Resident
from tilewright.target.nvgpu.host.profile import Records
from tilewright.target.nvgpu.host.symbols import KERNEL
from tilewright.target.nvgpu.passes import plans
from tilewright.tile.native import NativeKernel, copied_kernel
from tilewright.tile.pipeline import Pipeline

# What generates code is imported where that is done: a process that finds all its code on disk generates none.
if TYPE_CHECKING:
  from tilewright.target.nvgpu.emit.kernel_function import Launch

_SOURCES = ("layout", "target/nvgpu")
# Functions that some launchers call; the first is there since CUDA 11.8.
_FURTHER_FUNCTIONS = ("cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuMemcpyDtoDAsync_v2")
_DRIVER_FUNCTIONS = (
  *("cuLaunchKernel", "cuTensorMapEncodeTiled", "cuGetErrorName", "cuGetErrorString"),
  *("cuMemsetD32Async", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoH_v2", "cuStreamSynchronize"),  # see reporting
)


@dataclasses.dataclass(frozen=True)
class Code:
  """Everything a process needs to call a kernel."""

  arch: str  # of the kernel
  kernel: bytes  # machine code; or PTX, see _loadable
  launcher: bytes  # object code for the host
  shared_bytes: int
  workspace_bytes: int  # of global memory, for all CTAs together
  poisoned: tuple[int, ...]  # the outputs that the kernel finds filled with poison
  symmetric_bytes: int = 0  # of each device's heap, if it accesses others

  def to_bytes(self) -> bytes:
    """A line that says how long the parts are, then the parts."""
    head = [self.arch, len(self.kernel), self.shared_bytes, self.workspace_bytes, self.poisoned, self.symmetric_bytes]
    return json.dumps(head).encode() + b"\n" + self.kernel + self.launcher

  @classmethod
  def from_bytes(cls, data: bytes) -> Code:
    head, _, rest = data.partition(b"\n")
    arch, size, shared_bytes, workspace_bytes, poisoned, symmetric_bytes = json.loads(head)
    return cls(arch, rest[:size], rest[size:], shared_bytes, workspace_bytes, tuple(poisoned), symmetric_bytes)


def _link(name: str, code: bytes) -> Resident:
  """Bring a kernel onto the devices, and its launcher into memory."""
  parts = Code.from_bytes(code)
  for function in _DRIVER_FUNCTIONS:
    linking.define(function, cuda.function_address(function))
  for function in _FURTHER_FUNCTIONS:
    if function.encode() in parts.launcher:
      linking.define(function, cuda.function_address(function))
  printing.report_symbol()
  (devices,) = (own.devices for own in _families()[0] if own.arch.name == parts.arch)
  handles = cuda.load(parts.kernel, KERNEL, parts.shared_bytes, devices)
  target = f"tilewright_cuda_{name[:24]}"
  callee = Callee(target, parts.workspace_bytes, parts.poisoned, symmetric_bytes=parts.symmetric_bytes)
  return Resident.of(callee, parts.launcher, handles)


def _families() -> tuple[tuple[Family, ...], dict[int, str]]:
  return architectures.families(cuda.capabilities(), cuda.driver_version(), jit.llvm_version())


def _new_code_cache() -> CodeCache[Resident]:
  return CodeCache("nvgpu", _link, Resident.register, Resident.hold, Resident.free)


_code_cache = _new_code_cache()
_for_ever: list[Callee] = []  # kernels that others call by address


def _loadable(ptx: str, launch: Launch, device: int) -> bytes:
  """What the driver is given to load: machine code, or PTX that it assembles then (and keeps, in a cache of its own).

  Machine code that can be kept comes from the driver's linker. That compiles for programs of several units, for which it ignores
  `setmaxnreg`, and where accumulators and operands in registers are more than all threads could have, it serialises products.
  """
  return ptx.encode() + b"\0" if launch.exchanges_registers else cuda.assemble(ptx, device)


def compile_kernel(
  kernel: NativeKernel,
  num_warps: int | None,
  cluster: tuple[int, ...] | None = None,
  writes_all: bool = False,
  pipeline: Pipeline | None = None,
  profile: int | None = None,
) -> Callee:
  """A kernel, as it was lowered, that XLA can call on every device of this process that has code for it. With `profile` it records so
  many events in each track, and `profiled` says how they lie."""
  cuda.load_onto_devices_in_use()
  families, without = _families()
  wishes = Wishes(num_warps, cluster, writes_all, pipeline, profile)
  if len(families) == 1 and not without:
    return _compile_for(families[0], kernel, wishes)
  if profile is not None:
    raise errors.UnsupportedFeatureError(
      f"The kernel '{kernel.name}' cannot be profiled on devices of several architectures. Set CUDA_VISIBLE_DEVICES to one of them."
    )
  return _compile_for_each(families, without, kernel, wishes)


@dataclasses.dataclass(frozen=True)
class Wishes:
  """What `nvgpu.CompilerParams` says."""

  num_warps: int | None
  cluster: tuple[int, ...] | None
  writes_all: bool
  pipeline: Pipeline | None
  profile: int | None = None


@dataclasses.dataclass(frozen=True)
class Profiled:
  """How the records of a profiled kernel lie in its workspace, and what its tracks do."""

  start: int
  records: Records
  roles: tuple[str, ...]

  @classmethod
  def of(cls, launch: Launch) -> Profiled:
    assert launch.profile is not None
    tracks, roles = launch.profile.tracks, [] if launch.plan is None else launch.plan.roles
    # A track is a warpgroup, or what there is less.
    works = [role.work for role in roles for _ in range(max(1, role.warps // 4))]
    if len(works) != tracks:
      works = ["copy and compute"] * tracks
    names = works if tracks == 1 else [f"warpgroup {n}: {work}" for n, work in enumerate(works)]
    return cls(launch.profile_start, launch.profile, tuple(names))


_profiled: dict[str, Profiled] = {}


def profiled(name: str) -> Profiled:
  """Of a kernel that was compiled with `profile`, by the name of its handler."""
  return _profiled[name]


def _compile_for_each(
  families: Sequence[Family],
  without: dict[int, str],
  kernel: NativeKernel,
  wishes: Wishes,
) -> Callee:
  """Code for each architecture. A kernel that only some of them can run is an error where it is called on another device."""
  from tilewright.target.nvgpu.host.families import register

  found: dict[int, Callee] = {}
  without = dict(without)
  first: errors.TilewrightError | None = None
  for family in families:
    try:
      own = _compile_for(family, copied_kernel(kernel), wishes)  # making code for one changes it
    except errors.TilewrightError as e:
      first = first or e
      without |= dict.fromkeys(family.devices, str(e))
    else:
      found |= dict.fromkeys(family.devices, own)
  if not found:
    assert first is not None
    raise first
  callees = list(found.values())
  _for_ever.extend(callees)
  parts = [f"{device} {own.name}" for device, own in found.items()]
  name = f"tilewright_cuda_{cache.key(*parts, *(f'{device} {why}' for device, why in without.items()))[:24]}"
  register(name, {device: own.address for device, own in found.items()}, without)
  most = {n: max(getattr(own, n) for own in callees) for n in ("workspace_bytes", "symmetric_bytes")}
  return Callee(name, poisoned=callees[0].poisoned, **most)


def _compile_for(family: Family, kernel: NativeKernel, wishes: Wishes) -> Callee:
  """A kernel for devices that run the same code. That is compiled once per process, and kept on disk."""
  machine = family.arch
  environment = [
    repr(machine),
    repr(wishes),
    str(cuda.driver_version()),
    *jit.environment(),
  ]
  # What a profile means is known where the kernel is compiled.
  key_text = identity(kernel, *_SOURCES) if not plans.planners() and wishes.profile is None else None
  if key_text is not None and not dump.directory():
    found = _code_cache.find(cache.key(key_text, *environment))
    if found is not None:
      return found
  from tilewright.target.nvgpu import compile_ptx
  from tilewright.target.nvgpu.host import handler
  from tilewright.target.nvgpu.passes.hand_written import is_by_hand
  from tilewright.tile.uninitialized import outputs_at_computed_places, outputs_to_poison

  kernel = prepared(kernel)
  # Filling an array takes as long as writing it does, which counts for kernels that are written for a GPU.
  written = outputs_at_computed_places(kernel) if wishes.writes_all or is_by_hand(kernel, machine) else set()
  poisoned = tuple(i for i in outputs_to_poison(kernel) if i not in written)  # making code changes the body
  ptx, launch = compile_ptx(kernel, machine, wishes.num_warps, wishes.cluster, wishes.pipeline, wishes.profile)
  host = handler.to_llvm(kernel, launch)

  def build() -> bytes:
    with ThreadPoolExecutor(1) as other:  # the driver and LLVM work at the same time
      loadable = other.submit(_loadable, ptx, launch, family.assembling)
      launcher = jit.object_code(host)
      symmetric = 0 if launch.symmetric is None else launch.symmetric.nbytes
      sizes = launch.shared_bytes, launch.workspace_bytes
      return Code(machine.name, loadable.result(), launcher, *sizes, poisoned, symmetric).to_bytes()

  made = _code_cache.make(cache.key(ptx + host if key_text is None else key_text, *environment), build)
  if launch.profile is not None:
    _profiled[made.name] = Profiled.of(launch)
  return made
