"""The all-reduce kernels, offered to the HLO pass `native_all_reduce`: each as the computation of one device.

The kernel is lowered as a program for `jax.shard_map` over as many devices as the module has partitions, whose body is what a device
computes. The pass puts that body in place of XLA's all-reduce.
"""

from __future__ import annotations

import collections
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.collectives import cost
from tilewright.collectives.groups import checked_groups
from tilewright.collectives.primitives import Spec, bind
from tilewright.hlo import Computation, Instruction, parse
from tilewright.hlo.passes.native_all_reduce import Groups, register_kernel
from tilewright.target.cpu import lifetime

_AXIS = "devices"
_kept: collections.deque[Any] = collections.deque(maxlen=256)  # programs whose code XLA is about to look for


@register_kernel
def all_reduce(instruction: Instruction, op: str, groups: Groups, devices: int) -> Computation | str:
  """One device's part of an all-reduce, or why there is no kernel."""
  if jax.default_backend() != "cpu":
    return f"it runs on {jax.default_backend()}, where kernels do not reach for other devices"
  if jax.process_count() > 1:
    return "its devices may belong to several processes"
  here = jax.devices("cpu")
  if not 1 < devices <= len(here):
    return f"there are {len(here)} CPU devices, and it needs {devices}"
  dtype, shape = np.dtype(instruction.shape.dtype), instruction.shape.dimensions
  try:
    split = checked_groups(groups, devices, "native_all_reduce")
    members = max(map(len, split or ()))
    spec = Spec(
      *("all_reduce", (_AXIS,), split, members, op),
      algorithm=cost.choose(instruction.shape.num_elements * max(1, dtype.itemsize), members),
      title=f"all_reduce %{instruction.name}{_line(instruction)}",
    )
    return _lowered(spec, shape, dtype, here[:devices])
  except errors.TilewrightError as refused:
    return str(refused)


def _lowered(spec: Spec, shape: tuple[int, ...], dtype: Any, devices: Any) -> Computation | str:
  mesh, whole = jax.sharding.Mesh(np.array(devices), (_AXIS,)), jax.sharding.PartitionSpec()
  f = jax.shard_map(lambda x: bind(x, spec), mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)
  lowered = jax.jit(f).lower(jax.ShapeDtypeStruct(shape, dtype))
  module = parse(lowered.compiler_ir(dialect="hlo").as_hlo_text(True))
  for computation in module.computations:
    calls = [i for i in computation.instructions if i.attrs.get("custom_call_target") == lifetime.TARGET]
    if calls and len(computation.parameters) == 1:
      _kept.append(lowered)
      return computation
  return "its kernel is not one computation of a device"


def _line(instruction: Instruction) -> str:
  """Where the program asks for it."""
  metadata = instruction.metadata
  file, line = getattr(metadata, "source_file", ""), getattr(metadata, "source_line", 0)
  return f" at {file}:{line}" if file else ""
