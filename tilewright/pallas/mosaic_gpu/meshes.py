"""Kernels over a named grid of CTAs (thread blocks): `plgpu.kernel` and its mesh.

    @plgpu.kernel(out_type=jax.ShapeDtypeStruct((256, 256), jnp.float32), grid=(4,), grid_names=("rows",),
                  scratch_types=dict(x_smem=plgpu.SMEM((64, 256), jnp.float32), ready=plgpu.Barrier()))
    def double(x_ref, o_ref, x_smem, ready):
      rows = pl.ds(64 * jax.lax.axis_index("rows"), 64)
      plgpu.copy_gmem_to_smem(x_ref.at[rows], x_smem, ready)
      plgpu.barrier_wait(ready)
      o_ref[rows, :] = 2 * x_smem[...]

Every point of the grid is a CTA, which runs the body once, on whole arrays; so is every CTA of a cluster. With `num_threads` a CTA has that
many warpgroups. Each runs the body; `lax.axis_index(thread_name)` is its index. They share the scratch memory of the kernel (except
accumulators) and of `pl.run_scoped(…, collective_axes=thread_name)`, and synchronise by barriers:

    scratch_types=dict(x_smem=plgpu.SMEM((64, 256), jnp.float32), ready=plgpu.Barrier()), num_threads=2, thread_name="wg"

    @pl.when(jax.lax.axis_index("wg") == 0)           producer; warpgroup 1 is the consumer
    def _():
      plgpu.copy_gmem_to_smem(x_ref.at[rows], x_smem, ready)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.barrier_wait(ready)
      o_ref[rows, :] = 2 * x_smem[...]
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from tilewright import errors
from tilewright.pallas.kernel import kernel as kernel_on_mesh
from tilewright.pallas.mosaic_gpu.memory import MemorySpace, check_scratch
from tilewright.pallas.mosaic_gpu.specs import CompilerParams
from tilewright.runtime.user_line import names_line

_UNSET: Any = object()
_MOST_WARPGROUPS = 16  # of a CTA in the interpreter; a GPU has room for eight


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mesh:
  """The CTAs of a kernel, by the names of the axes of its grid and of its clusters."""

  grid: Sequence[int] = ()
  grid_names: Sequence[str] = ()
  cluster: Sequence[int] = ()
  cluster_names: Sequence[str] = ()
  num_threads: int | None = None
  thread_name: str | None = None
  kernel_name: str | None = None

  def __post_init__(self) -> None:
    for field in ("grid", "grid_names", "cluster", "cluster_names"):
      given = getattr(self, field)
      own = (given,) if isinstance(given, str | int) else tuple(given)
      object.__setattr__(self, field, own)
    for sizes, names, what in ((self.grid, self.grid_names, "grid"), (self.cluster, self.cluster_names, "cluster")):
      if len(sizes) != len(names):
        raise errors.GridError(
          f"{what}_names must have the same length as {what}, got the names {names} for the sizes {sizes}."
        )
    if (self.num_threads is None) != (self.thread_name is None):
      raise errors.GridError(
        f"num_threads and thread_name must be either both set or both None, got {self.num_threads} and {self.thread_name!r}."
      )
    if self.num_threads is not None and self.num_threads < 1:
      raise errors.GridError(f"num_threads: expected 1 or more warpgroups, got {self.num_threads}.")
    if self.num_threads is not None and self.num_threads > _MOST_WARPGROUPS:
      raise errors.GridError(
        "num_threads: Requested too many CUDA threads per block. Each Mosaic thread corresponds to 128 CUDA threads. "
        f"At most {_MOST_WARPGROUPS} are supported, got {self.num_threads}."
      )
    names = list(self._axes())
    if len(set(names)) < len(names):
      raise errors.GridError(f"grid_names, cluster_names, thread_name: expected different names, got {names}.")

  def _axes(self) -> list[str]:
    return [*self.grid_names, *self.cluster_names, *([self.thread_name] if self.thread_name is not None else [])]

  @property
  def axis_names(self) -> tuple[str, ...]:
    return tuple(self._axes())

  @property
  def core_type(self) -> str:
    return "gpu"

  @property
  def default_memory_space(self) -> MemorySpace:
    return MemorySpace.GMEM

  @property
  def supported_memory_spaces(self) -> list[MemorySpace]:
    return list(MemorySpace)

  def check_is_compatible_with(self, other_mesh: Any) -> None:
    """Raise unless kernels on the two meshes can run in one launch: here, unless the meshes are equal."""
    if other_mesh != self:
      raise errors.GridError(f"The meshes {self} and {other_mesh} cannot be used in one kernel; they must be equal.")

  def discharges_effect(self, effect: Any) -> bool:
    del effect
    return False

  def tracing_context(self) -> contextlib.AbstractContextManager[None]:
    """What a body for this mesh is traced in, besides the axes of the kernel: nothing."""
    return contextlib.nullcontext()

  @property
  def shape(self) -> collections.OrderedDict[str, int]:
    sizes = [*self.grid, *self.cluster, *([self.num_threads] if self.num_threads is not None else [])]
    return collections.OrderedDict(zip(self._axes(), sizes))


@names_line
def kernel(
  body: Any = _UNSET,
  out_type: Any = (),
  *,
  scratch_types: Any = (),
  out_shape: Any = _UNSET,
  scratch_shapes: Any = _UNSET,
  compiler_params: Any = None,
  grid: Sequence[int] = (),
  grid_names: Sequence[str] = (),
  cluster: Sequence[int] = (),
  cluster_names: Sequence[str] = (),
  num_threads: int | None = None,
  thread_name: str | None = None,
  interpret: Any = None,
  debug: bool = False,
  **mesh_kwargs: Any,
) -> Any:
  """Turn a body that every CTA runs into a function of arrays.

  Args:
    body: gets a ref for each operand, output and scratch buffer; returns None. Left out, `kernel` is a decorator.
    out_type: a tree of `jax.ShapeDtypeStruct`: the outputs. `out_shape` is an older name.
    scratch_types: memory of a CTA; a sequence, or a dict whose refs are passed by keyword. `scratch_shapes` is an older name.
    compiler_params: a `plgpu.CompilerParams`. Its `dimension_semantics` are "parallel" throughout.
    grid, grid_names: the blocks, and what `lax.axis_index` calls their axes.
    cluster, cluster_names: the blocks of a cluster, of which there are as many as the grid says. On GPUs with clusters they access each
      other's memory, and bring each other what they copy together; elsewhere they are blocks like others.
    num_threads, thread_name: the warpgroups of a block, on a GPU at most eight, and what `lax.axis_index` calls their axis.
    interpret, debug: as for `pallas_call`.
    **mesh_kwargs: more of `Mesh`: `kernel_name`.
  """
  mesh = Mesh(
    grid=grid,
    grid_names=grid_names,
    cluster=cluster,
    cluster_names=cluster_names,
    num_threads=num_threads,
    thread_name=thread_name,
    **mesh_kwargs,
  )
  scratch = scratch_types if scratch_shapes is _UNSET else scratch_shapes
  check_scratch(scratch)
  params = CompilerParams() if compiler_params is None else compiler_params
  if (num_threads or 1) > 1 and any(getattr(params, option, None) is not None for option in ("num_warps", "cluster")):
    raise errors.GridError(
      f"plgpu.kernel: num_threads={num_threads}: warpgroups have four warps each, in blocks of their own. Leave num_warps and cluster out "
      "of compiler_params."
    )
  if isinstance(params, CompilerParams):
    params = dataclasses.replace(params, dimension_semantics=("parallel",) * len(mesh.shape))
  on_mesh = functools.partial(
    kernel_on_mesh,
    out_type=out_type if out_shape is _UNSET else out_shape,
    mesh=mesh,
    scratch_types=scratch,
    compiler_params=params,
    interpret=False if interpret is None else interpret,
    debug=debug,
    name=mesh.kernel_name,
  )
  return on_mesh if body is _UNSET else on_mesh(body)
