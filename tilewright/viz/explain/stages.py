"""A kernel compiled for a target, with the data its page shows: listings, resources, layouts, shared memory, predictions."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tilewright import errors
from tilewright.hlo.cost.devices import DEVICES, Device
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout
from tilewright.pallas.cost import instance_work
from tilewright.pallas.nvgpu.inspection import native_kernels, tensor_columns
from tilewright.runtime import jit, ptxas
from tilewright.target.llvm import locations
from tilewright.tile.grid import Kernel, lines_of_library
from tilewright.tile.native import NativeKernel, copied_kernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.printer import to_text
from tilewright.viz.explain import listings, predict
from tilewright.viz.explain.listings import Listing
from tilewright.viz.explain.measure import Measured, profiles, seconds

CPU = "cpu"
# Whose figures stand for an architecture, where none is named, and its SMs (NVIDIA's data sheets).
_DEVICES = {"sm_80": "a100", "sm_90a": "h200", "sm_100a": "b200", "sm_120a": "rtx-pro-6000"}
_SMS = {"a100": 108, "h100": 132, "h200": 132, "b200": 148, "rtx-pro-6000": 188}
_CPU_CORES = 2  # of the device called cpu in the table
# What an SM has (CUDA C programming guide, table of compute capabilities).
_REGISTERS = 65536
_THREADS = {
  (8, 0): 2048,
  (8, 6): 1536,
  (8, 9): 1536,
  (9, 0): 2048,
  (10, 0): 2048,
  (10, 3): 2048,
  (12, 0): 1536,
  (12, 1): 1536,
}
_KEPT_BY_SYSTEM = 1024  # bytes of shared memory for each CTA
_ON_STACK = re.compile(r"\s*v?mov\w*\s+%[xyz]mm\d+, -?\w*\(%r[sb]p")


@dataclasses.dataclass(frozen=True)
class Buffer:
  """A part of shared memory."""

  name: str
  offset: int
  nbytes: int
  place: listings.Place | None


@dataclasses.dataclass(frozen=True)
class Drawn:
  """A layout, and what has it."""

  names: tuple[str, ...]
  layout: Layout | SharedLayout
  place: listings.Place | None


@dataclasses.dataclass(frozen=True)
class Explained:
  """One kernel for one target."""

  kernel: str
  target: str
  facts: tuple[tuple[str, str], ...]
  sources: tuple[Listing, ...]
  listings: tuple[Listing, ...]
  layouts: tuple[Drawn, ...]
  buffers: tuple[Buffer, ...]
  shared_limit: int  # bytes that a CTA may have; 0 on the CPU
  timeline: predict.Timeline | None
  roofline: predict.Roofline | None
  notes: tuple[str, ...]
  measured: Measured | None = None


def explain(
  function: Callable[..., Any],
  *args: Any,
  targets: Sequence[str] = (CPU,),
  device: str | Device | None = None,
  measure: bool = False,
) -> list[Explained]:
  """Each kernel that `function(*args)` calls, for each target: `cpu`, or an architecture such as `sm_90a`.

  Types (`jax.ShapeDtypeStruct`) suffice for arrays; nothing runs. `device` names the device whose rates predictions use; the default is
  a usual device of the target. With `measure` the function also runs: on this machine's GPU, which must be the only target, and its
  kernels record what they do; or on its CPU, where the function is timed.
  """
  from tilewright.target.nvgpu.arch import named

  found: list[Explained] = []
  if measure and len(targets) != 1:
    raise errors.KernelTypeError(
      f"measure: expected one target, the CPU or this machine's GPU, got {', '.join(targets)}. Measure them one by one."
    )
  calls = profiles(function, args, targets[0]) if measure and targets[0] != CPU else {}
  for target in targets:
    timed = seconds(function, args) if measure and target == CPU else None
    machine = None if target == CPU else named(target)
    with lines_of_library():
      kernels = list(native_kernels(function, *args, for_gpu=machine is not None))
    if not kernels:
      name = getattr(getattr(function, "func", function), "__name__", repr(function))
      raise errors.KernelTypeError(f"explain: expected a function that calls kernels, but {name!r} calls none of them.")
    for kernel, native in kernels:
      made = _on_cpu(kernel, native, device) if machine is None else _on_gpu(kernel, native, machine, device)
      if timed is not None:
        facts = (*made.facts, ("measured, the whole function", f"{timed * 1e3:.3g} ms, median of 15 calls"))
        made = dataclasses.replace(made, facts=facts)
      if own := calls.get(kernel.name):
        made = dataclasses.replace(made, measured=own.pop(0) if len(own) > 1 else own[0])
      if made not in found:
        found.append(made)
  return found


# --- NVIDIA GPUs -------------------------------------------------------------------------------------------------


def _on_gpu(kernel: Kernel, native: NativeKernel, machine: Any, device: str | Device | None) -> Explained:
  from tilewright.target.nvgpu.emit import whole_kernel
  from tilewright.target.nvgpu.emit.ptx import to_ptx
  from tilewright.target.nvgpu.passes.hand_written import is_by_hand

  native = copied_kernel(native)  # making code changes it
  tile = _text(native)
  with locations.recorded():
    text, launch = whole_kernel.emit_kernel(
      native, machine, *(getattr(kernel.compiler_params, name, None) for name in ("num_warps", "cluster", "pipeline"))
    )
    ptx = to_ptx(text, machine)
  used = ptxas.resources(listings.plain(ptx), machine.name, tool) if (tool := ptxas.find()) else None
  by_hand = is_by_hand(native, machine)
  assert launch.lowered is not None
  level = _text(launch.lowered.kernel)
  panes = [listings.of_tile("Tile IR", tile)]
  if level != tile:
    panes.append(listings.of_tile("GPU level", level))
  panes.append(listings.of_ptx(ptx))
  shared = launch.shared_bytes + (used.shared_bytes if used else 0)
  resident = _resident(
    machine.capability, launch.num_threads, used.registers if used else 0, shared, machine.shared_bytes
  )
  facts = [
    ("grid", _grid(native)),
    ("CTAs", "dynamic" if launch.num_blocks is None else f"{launch.num_blocks:,}"),
    ("threads per CTA", f"{launch.num_threads}"),
    ("registers per thread", "no ptxas here" if used is None else f"{used.registers}"),
    ("spilled", "no ptxas here" if used is None else f"{used.spilled_bytes} bytes"),
    ("shared memory", f"{shared:,} bytes"),
    ("CTAs per SM", f"{resident}"),
  ]
  if launch.plan is not None:
    facts.append(("plan", "\n".join(line.strip() for line in launch.plan.lines())))
  if launch.scratch_bytes:
    facts.append(("scratch in global memory", f"{launch.scratch_bytes:,} bytes per CTA"))
  if columns := tensor_columns(ptx):
    facts.append(("tensor memory", f"{columns} columns"))
  notes = [] if used is not None else [f"There is no ptxas here to count registers: {ptxas.ADVICE}."]
  if by_hand:
    notes.append("This kernel copies and waits by hand: the timeline knows nothing of its order.")
  name = device or _DEVICES.get(machine.name)
  model = _model(kernel, native, launch.parallel, name, "gpu", _SMS, resident, "tf32" in ptx, notes, machine.name)
  return Explained(
    kernel.name,
    machine.name,
    tuple(facts),
    tuple(listings.sources(panes)),
    tuple(panes),
    _distinct(whole_kernel.layouts(launch.lowered)),
    tuple(Buffer(b.name, b.offset, b.nbytes, locations.parse(b.location)) for b in launch.buffers),
    machine.shared_bytes,
    predict.timeline(model, launch.steps_ahead) if model and not by_hand else None,
    predict.roofline(model) if model else None,
    tuple(notes),
  )


def _resident(capability: tuple[int, int], threads: int, registers: int, shared: int, most: int) -> int:
  """How many CTAs can be resident on an SM."""
  by_threads = _THREADS[capability] // threads
  by_registers = _REGISTERS // (-(-registers // 8) * 8 * threads) if registers else by_threads
  by_memory = (most + _KEPT_BY_SYSTEM) // (shared + _KEPT_BY_SYSTEM)
  return max(1, min(by_threads, by_registers, by_memory, 32))


# --- the CPU -----------------------------------------------------------------------------------------------------


def _on_cpu(kernel: Kernel, native: NativeKernel, device: str | Device | None) -> Explained:
  from tilewright.target import cpu

  host = cpu.host()
  tile = _text(native)
  with locations.recorded():
    text = cpu.to_llvm(native, host)
  assembly = jit.assembly(text)
  panes = [listings.of_tile("Tile IR", tile), listings.of_processor(assembly)]
  instructions = [line for line in panes[-1].lines if line.text[:1].isspace()]
  parallel = tuple(parallel_dims(native))
  notes: list[str] = []
  model = _model(kernel, native, parallel, device or "cpu", "cpu", {"cpu": _CPU_CORES}, 1, False, notes, "the CPU")
  points = [native.mapping.grid[d] for d in parallel]
  facts = (
    ("grid", _grid(native)),
    ("parallel points", "dynamic" if None in points else f"{math.prod(points):,}"),
    ("vectors", f"{host.lanes} elements of float32"),
    ("instructions", f"{len(instructions):,}"),
    ("vector stores to the stack", f"{sum(bool(_ON_STACK.match(line.text)) for line in instructions)}"),
  )
  return Explained(
    kernel.name,
    "CPU",
    facts,
    tuple(listings.sources(panes)),
    tuple(panes),
    (),
    (),
    0,
    predict.timeline(model, ahead=2) if model else None,  # a processor fetches ahead by itself
    predict.roofline(model) if model else None,
    tuple(notes),
  )


# --- both --------------------------------------------------------------------------------------------------------


def _model(
  kernel: Kernel,
  native: NativeKernel,
  parallel: tuple[int, ...],
  device: str | Device | None,
  kind: str,
  units: dict[str, int],
  resident: int,
  rounds_to_tf32: bool,
  notes: list[str],
  target: str,
) -> predict.Model | None:
  known = DEVICES.get(device.lower()) if isinstance(device, str) else device
  if known is None or known.name not in units:
    notes.append(
      f"There are no figures for {device or f'a device with {target}'}: no timeline and no roofline. "
      f"There are figures for {', '.join(units)}."
    )
    return None
  count = units[known.name]
  found = predict.model(native, instance_work(kernel), parallel, known, kind, count, resident, rounds_to_tf32)
  if found is None:
    notes.append("The grid is dynamic: nothing can be predicted.")
  return found


def _text(native: NativeKernel) -> str:
  return "\n".join(to_text(f) for f in (native.body, *native.index_maps) if f is not None)


def _grid(native: NativeKernel) -> str:
  return " x ".join("?" if d is None else str(d) for d in native.mapping.grid) or "1"


def _distinct(found: Iterable[tuple[str, str, Layout | SharedLayout]]) -> tuple[Drawn, ...]:
  """Each layout once, with the names of all that have it."""
  names: dict[Any, list[str]] = {}
  first: dict[Any, tuple[Layout | SharedLayout, listings.Place | None]] = {}
  for name, loc, layout in found:
    key = (type(layout), str(layout), layout.shape)
    if name not in names.setdefault(key, []):
      names[key].append(name)
    first.setdefault(key, (layout, locations.parse(loc)))
  return tuple(Drawn(tuple(own), *first[key]) for key, own in names.items())


__all__ = ["CPU", "Buffer", "Drawn", "Explained", "explain"]
