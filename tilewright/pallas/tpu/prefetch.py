"""Fetching the first blocks of a pipeline ahead of it, while something else still runs.

`async_prefetch` allocates the input buffers and starts the copies that the pipeline would start first; the pipeline then
finds them under way and only waits. Buffers and semaphores must live from the one to the other, so they are refs of the
whole call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.primitives import is_ref
from tilewright.pallas.scoped import get_global
from tilewright.pallas.tpu import pipeline
from tilewright.pallas.tpu.buffered_ref import BufferedRef
from tilewright.pallas.tpu.params import Tiling
from tilewright.pallas.tpu.pipeline_grid import partition
from tilewright.pallas.trace_context import in_kernel


def emit_pipeline_with_async_prefetch(
  body: Callable[..., None],
  *,
  grid: Sequence[Any],
  in_specs: Any = (),
  out_specs: Any = (),
  mesh: Any,
  tiling: Tiling | None = None,
  core_axis: int | tuple[int, ...] | None = None,
  core_axis_name: str | tuple[str, ...] | None = None,
  dimension_semantics: Sequence[Any] | None = None,
  trace_scopes: bool = True,
  no_pipelining: bool = False,
  _explicit_indices: bool = False,
) -> tuple[Callable[..., None], Callable[..., tuple[BufferedRef, ...]]]:
  """A pipeline (see `emit_pipeline`), and a function that starts to fetch its inputs before it runs.

  Inside a kernel, `allocations = async_prefetch(*input_refs)` starts the copies, and `pipeline(*refs, allocations=allocations)`
  later uses them. `mesh` is the mesh of cores that the kernel runs on.
  """
  del mesh  # the kernel around the call knows its cores
  run = pipeline.emit_pipeline(
    body,
    grid=grid,
    in_specs=in_specs,
    out_specs=out_specs,
    tiling=tiling,
    core_axis=core_axis,
    core_axis_name=core_axis_name,
    dimension_semantics=dimension_semantics,
    trace_scopes=trace_scopes,
    no_pipelining=no_pipelining,
    _explicit_indices=_explicit_indices,
  )

  def async_prefetch(*inputs: Any) -> tuple[BufferedRef, ...]:
    if not in_kernel():
      raise errors.UnsupportedFeatureError(
        "async_prefetch was called outside of a kernel. Semaphores that stay in flight between two kernels exist only on a TPU: "
        "call it inside the kernel that runs the pipeline, with refs."
      )
    flat, specs, _, _ = pipeline.flatten_operands(in_specs, (), inputs)
    if not all(is_ref(x) for x in flat):
      raise errors.RefTypeError(f"async_prefetch: expected refs, got {flat}.")
    share = partition(grid, core_axis, core_axis_name, dimension_semantics)
    started = []
    for ref, spec in zip(flat, specs):
      # Nothing is in the window yet, whatever the spec says about what will be.
      described = dataclasses.replace(pipeline.make_buffers(spec, ref, True, grid, tiling), prefetched_count=0)
      buffers = jax.tree.map(get_global, described, is_leaf=lambda x: hasattr(x, "get_ref_aval"))
      operand = pipeline.Operand(buffers.initialize_slots(), ref, share, no_pipelining)
      operand.prologue(pipeline.Progress())
      started.append(dataclasses.replace(buffers, await_prefetch=True))
    return tuple(started)

  return run, async_prefetch
