"""The collectives as JAX primitives: one, with a row of rules for each kind.

    all_reduce   x            → x             combined over the group
    gather       x            → (members, *x)
    scatter      (members, *y) → y            combined, each member's own part
    exchange     (members, *y) → (members, *y)
    permute      x            → x             of another member

Everything else of the public functions is reshaping around these, so that derivatives and vmap (in `vmapped`) have rules for these five
only. On the CPU a primitive is a kernel (`kernels`), and between GPUs with TILEWRIGHT_PEER_MEMORY=1. Elsewhere it is XLA's collective,
which is logged once for each kind and platform.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.collectives import kernels
from tilewright.collectives.groups import Groups, table
from tilewright.collectives.members import OPS, wide
from tilewright.pallas import semaphores
from tilewright.pallas.primitives import Primitive
from tilewright.runtime import _jax, cuda
from tilewright.runtime.meeting import NotSharedError
from tilewright.target.cpu import processes
from tilewright.target.llvm.calling import keeping
from tilewright.target.nvgpu.host import peer_memory
from tilewright.target.nvgpu.passes import symmetric_memory

PEER_MEMORY = "TILEWRIGHT_PEER_MEMORY"  # whether collectives between GPUs are kernels
_logger = logging.getLogger("tilewright.collectives")


@dataclasses.dataclass(frozen=True)
class Spec:
  """What a collective is, besides its operand."""

  kind: str
  axes: tuple[Any, ...]
  groups: Groups | None
  members: int  # of the largest group
  op: str = "sum"
  algorithm: str = "two_shot"
  sources: tuple[int, ...] = ()  # of a permutation: for each member the one whose value it gets, or -1
  title: str = ""

  def like(self, kind: str, **changes: Any) -> Spec:
    """Another collective in the same groups, as a derivative of this one."""
    return dataclasses.replace(self, kind=kind, **changes)


collective_p = Primitive("tilewright_collective")


def varying(aval: Any) -> frozenset[Any]:
  """The axes along which shard_map takes a value to differ from device to device."""
  return frozenset(aval.mat.varying)


def same_varying(spec: Spec, *xs: Any) -> list[Any]:
  """Operands of a collective as values that differ along its axes, and along all along which one of them does."""
  if not _jax.config._check_vma.value:
    return list(xs)
  axes = frozenset(spec.axes).intersection(
    jax.sharding.get_abstract_mesh().axis_names
  )  # the others are those of a vmap
  axes = axes.union(*(varying(_jax.core.typeof(x)) for x in xs))
  missing = [tuple(axis for axis in axes if axis not in varying(_jax.core.typeof(x))) for x in xs]
  return [lax.pcast(x, m, to="varying") if m else x for x, m in zip(xs, missing)]


def bind(x: Any, spec: Spec) -> Any:
  if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):  # keys travel as their words
    return jax.random.wrap_key_data(bind(jax.random.key_data(x), spec), impl=jax.random.key_impl(x))
  return collective_p.bind(*same_varying(spec, x), spec=spec)


_ADDS = {"gather": lambda shape, n: (n, *shape), "scatter": lambda shape, n: shape[1:]}


@collective_p.def_abstract_eval
def _(x: Any, *, spec: Spec) -> Any:
  shape = _ADDS.get(spec.kind, lambda shape, n: shape)(x.shape, spec.members)
  out = x.update(shape=shape, weak_type=False)
  if spec.kind == "all_reduce" and spec.groups is None and varying(x):
    out = out.update(manual_axis_type=x.mat.update(varying=varying(x) - frozenset(spec.axes)))
  return out


# --- derivatives -------------------------------------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, *, spec: Spec) -> Any:
  (x,), (dx,) = primals, tangents
  if spec.op != "sum":
    raise NotImplementedError(
      f"{spec.title}: a reduction by {spec.op!r} has no derivative here, as jax.lax.p{spec.op} has none. Use op='sum', or take "
      "the derivative of what is reduced."
    )
  out = bind(x, spec)
  zero = type(dx) is _jax.ad.Zero
  return out, _jax.ad.Zero(_jax.core.typeof(out).to_tangent_aval()) if zero else bind(dx, spec)


_jax.ad.primitive_jvps[collective_p] = _jvp


def _transpose(ct: Any, x: Any, *, spec: Spec) -> list[Any]:
  if type(ct) is _jax.ad.Zero:
    return [_jax.ad.Zero(x.aval)]
  match spec.kind:
    case "all_reduce" if spec.groups is None and _jax.config._check_vma.value:
      missing = tuple(axis for axis in spec.axes if axis not in varying(_jax.core.typeof(ct)))
      return [lax.pcast(ct, missing, to="varying") if missing else ct]  # what is the same everywhere is so here
    case "all_reduce":
      return [bind(ct, spec)]
    case "gather":
      return [bind(ct, spec.like("scatter"))]
    case "scatter":
      return [bind(ct, spec.like("gather"))]
    case "exchange":
      return [bind(ct, spec)]
    case _:
      return [_permute_back(ct, spec)]


def _permute_back(ct: Any, spec: Spec) -> Any:
  """Each member's value may have gone to several, whose derivatives add up."""
  if len(set(s for s in spec.sources if s >= 0)) == sum(s >= 0 for s in spec.sources):
    back = tuple(spec.sources.index(i) if i in spec.sources else -1 for i in range(spec.members))
    return bind(ct, spec.like("permute", sources=back))
  everyone = bind(ct, spec.like("gather"))
  me = rank(spec)
  mask = jnp.asarray([[s == i for s in spec.sources] for i in range(spec.members)])[me]
  return jnp.sum(jnp.where(mask.reshape(-1, *[1] * ct.ndim), everyone, 0), axis=0).astype(ct.dtype)


_jax.ad.primitive_transposes[collective_p] = _transpose


def rank(spec: Spec) -> Any:
  """The rank of this device in its group."""
  index = lax.axis_index(spec.axes)
  if spec.groups is None:
    return index
  ranks = {i: r for group in spec.groups for r, i in enumerate(group)}
  return jnp.asarray([ranks[i] for i in range(len(ranks))], jnp.int32)[index]


# --- lowering ----------------------------------------------------------------------------------------------------


def _as_kernel(x: Any, *, spec: Spec, parts: int) -> Any:
  mesh = tuple(semaphores.device_axes().items())
  participants = table(mesh, spec.axes, spec.groups)
  call = kernels.Call(participants, spec.title, parts)
  match spec.kind:
    case "all_reduce":
      return kernels.all_reduce(x, call, spec.op, spec.algorithm)
    case "gather":
      return kernels.gather(x, call)
    case "scatter":
      return kernels.scatter(x, call, spec.op)
    case "exchange":
      return kernels.exchange(x, call)
    case _:
      return kernels.permute(x, call, spec.sources)


def _by_gathering(x: Any, spec: Spec) -> Any:
  """Any collective, by gathering what all devices along the axes have. XLA's collectives do not take groups of different sizes."""
  assert spec.groups is not None
  everyone = lax.all_gather(x, spec.axes)
  members = np.zeros((sum(map(len, spec.groups)), spec.members), np.int32)
  there = np.zeros(members.shape, bool)
  for group in spec.groups:
    for i in group:
      members[i, : len(group)], there[i, : len(group)] = group, True
  index, me = lax.axis_index(spec.axes), rank(spec)
  mine, known = everyone[jnp.asarray(members)[index]], jnp.asarray(there)[index]
  of = lambda y: known.reshape(-1, *[1] * (y.ndim - 1))
  match spec.kind:
    case "gather":
      return jnp.where(of(mine), mine, 0).astype(x.dtype)
    case "exchange":
      parts = jnp.take(mine, me, axis=1)
      return jnp.where(of(parts), parts, 0).astype(x.dtype)
    case "permute":
      source = jnp.asarray(spec.sources, jnp.int32)[me]
      return jnp.where(source >= 0, mine[jnp.maximum(source, 0)], 0).astype(x.dtype)
  parts = (jnp.take(mine, me, axis=1) if spec.kind == "scatter" else mine).astype(wide(x.dtype, spec.op))
  total = parts[0]
  for i in range(1, spec.members):
    total = jnp.where(known[i], OPS[spec.op](total, parts[i]), total)
  return total.astype(x.dtype)


def _by_xla(x: Any, *, spec: Spec) -> Any:
  """XLA's own collectives: the last of the fallbacks."""
  groups = None if spec.groups is None else [list(g) for g in spec.groups]
  if groups is not None and len({len(g) for g in groups}) > 1:
    return _by_gathering(x, spec)
  acc = wide(x.dtype, spec.op)
  if acc != x.dtype and spec.kind in ("all_reduce", "scatter"):  # sums are not rounded on their way
    return _by_xla(x.astype(acc), spec=spec).astype(x.dtype)
  axes = spec.axes if len(spec.axes) > 1 else spec.axes[0]
  reduce_by = {"sum": lax.psum, "max": lax.pmax, "min": lax.pmin}
  match spec.kind:
    case "all_reduce" if spec.op in reduce_by:
      return reduce_by[spec.op](x, axes, axis_index_groups=groups)
    case "all_reduce":
      everyone = lax.all_gather(x, axes, axis_index_groups=groups)
      return functools.reduce(OPS[spec.op], list(everyone))
    case "gather":
      return lax.all_gather(x, axes, axis_index_groups=groups)
    case "scatter" if spec.op == "sum":
      return lax.psum_scatter(x, axes, axis_index_groups=groups)
    case "scatter":
      everyone = lax.all_to_all(x, axes, 0, 0, axis_index_groups=groups)
      return functools.reduce(OPS[spec.op], list(everyone))
    case "exchange":
      return lax.all_to_all(x, axes, 0, 0, axis_index_groups=groups)
  everyone = lax.all_gather(x, axes, axis_index_groups=groups)
  source = jnp.asarray(spec.sources, jnp.int32)[rank(spec)]
  return jnp.where(source >= 0, everyone[jnp.maximum(source, 0)], 0).astype(x.dtype)


def without_vma(run: Any) -> Any:
  def body(*operands: Any, spec: Spec) -> Any:
    with _jax.config._check_vma(False):
      return run(*operands, spec=spec)

  return body


@functools.cache
def log_fallback(kind: str, platform: str) -> None:
  """Say once that a collective is XLA's: NCCL's on GPUs, Gloo's between processes of CPUs."""
  why = {
    "cpu": "devices of other processes, or axes that XLA partitions",
    "cuda": f"peer memory is taken where {PEER_MEMORY}=1 and devices share memory; multicast and NVSHMEM are not usable here",
  }.get(platform, "there are no kernels of ours")
  _logger.warning("%s on %s: %s; using XLA's collective", kind, platform, why)


@functools.cache
def _log_not_shared(why: str) -> None:
  _logger.warning("%s", why)


def side_by_side(platform: str) -> int:
  """How many instances of a collective's kernel run side by side on a device: on a GPU, two on each SM."""
  return 1 if platform == "cpu" else min(symmetric_memory.MAX_BLOCKS, 2 * cuda.processors())


def kernel_rules(run: Any) -> dict[str, Any]:
  """The lowering of a collective as a kernel, by platform: `run` takes its operands, `spec` and `parts`."""

  def rule(platform: str) -> Any:
    body = lambda *operands, spec: run(*operands, spec=spec, parts=side_by_side(platform))
    return _jax.mlir.lower_fun(without_vma(body), multiple_results=False)

  return {platform: rule(platform) for platform in ("cpu", "cuda")}


_lower_kernel = kernel_rules(_as_kernel)
_lower_xla = _jax.mlir.lower_fun(without_vma(_by_xla), multiple_results=False)


def runs_here(module: Any) -> bool:
  """Whether a program is for devices whose memory a kernel sees: of this process, or of processes that share memory. Between GPUs that is
  so where the user says so."""
  platforms = tuple(module.platforms)
  if platforms not in (("cpu",), ("cuda",)) or module.lowering_parameters.for_export:
    return False
  try:
    if platforms == ("cpu",):
      processes.world_of(processes.of_program(module))
    elif os.environ.get(PEER_MEMORY, "0") in ("", "0"):
      return False
    else:
      peer_memory.heap_of(module, 0)
  except NotSharedError as e:
    _log_not_shared(str(e))
    return False
  context = module.axis_context  # along axes that XLA partitions by itself, a kernel does not know its neighbours
  manual, mesh = getattr(context, "manual_axes", None), getattr(context, "mesh", None)
  return not manual or mesh is None or all(axis in manual or size == 1 for axis, size in mesh.shape.items())


def _lower(ctx: Any, x: Any, *, spec: Spec) -> Any:
  module = ctx.module_context
  if (
    not ctx.avals_in[0].size and spec.kind == "all_reduce"
  ):  # nothing to add, but a type that says it is the same everywhere
    return [x]
  if runs_here(module):
    with keeping(module):
      return _lower_kernel[module.platforms[0]](ctx, x, spec=spec)
  log_fallback(spec.kind, ", ".join(module.platforms))
  return _lower_xla(ctx, x, spec=spec)


# Not cacheable: JAX would lower equal calls once, as a function, and processes tell the calls of a program apart by their numbers.
_jax.mlir.register_lowering(collective_p, _lower, cacheable=False)
collective_p.def_impl(functools.partial(_jax.dispatch.apply_primitive, collective_p))


def user_line() -> str:
  """The line of the program that calls a collective."""
  return str(_jax.source_info_util.summarize(_jax.source_info_util.current()))


__all__ = ["Spec", "bind", "collective_p", "log_fallback", "rank", "runs_here", "same_varying", "user_line", "varying"]
