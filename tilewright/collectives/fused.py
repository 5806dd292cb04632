"""Collectives and products in one kernel.

Devices that see each other's memory need no gathered copy and no partial products: a product reads its operands where they are.

    all_gather_matmul       o[r] = x_r @ w              for each member r, reading x of r in place
    matmul_reduce_scatter   o = Σ_r x_r[own rows] @ w_r
    matmul_all_reduce       the same, written to the outputs of all

Each device does as much arithmetic as the products alone would. Sums are in float32, in order of the ranks. On other platforms each is a
product and XLA's collective.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.collectives import api, kernels, primitives, ragged
from tilewright.collectives.groups import Table, table
from tilewright.collectives.members import Member, wide
from tilewright.collectives.primitives import Spec, log_fallback, runs_here, same_varying, varying, without_vma
from tilewright.pallas import semaphores
from tilewright.pallas.primitives import Primitive
from tilewright.runtime import _jax
from tilewright.target.llvm.calling import keeping


def _check(what: str, x: Any, w: Any) -> tuple[Any, Any]:
  x, w = jnp.asarray(x), jnp.asarray(w)
  if x.ndim != 2 or w.ndim != 2 or x.shape[1] != w.shape[0]:
    raise errors.ShapeMismatchError(
      f"collectives.{what}: expected matrices (m, k) and (k, n), got shapes {x.shape} and {w.shape}."
    )
  dtype = jnp.promote_types(x.dtype, w.dtype)
  return x.astype(dtype), w.astype(dtype)


def all_gather_matmul(x: Any, w: Any, axis_name: Any, *, axis_index_groups: Any = None) -> jax.Array:
  """`all_gather(x, axis_name, tiled=True) @ w`.

  Args:
    x: this device's rows, (m, k).
    w: a matrix (k, n), which may differ from device to device.
    axis_name: an axis of the mesh, or several.
    axis_index_groups: groups of one size.
  """
  x, w = _check("all_gather_matmul", x, w)
  return bind(x, w, _even("all_gather_matmul", axis_name, axis_index_groups))


def matmul_reduce_scatter(x: Any, w: Any, axis_name: Any, *, axis_index_groups: Any = None) -> jax.Array:
  """`reduce_scatter(x @ w, axis_name, tiled=True)`: this device's rows of the sum of all products.

  Args:
    x: (m, k); the number of members must divide m.
    w: (k, n).
    axis_name: an axis of the mesh, or several.
    axis_index_groups: groups of one size.
  """
  x, w = _check("matmul_reduce_scatter", x, w)
  spec = _even("matmul_reduce_scatter", axis_name, axis_index_groups)
  if x.shape[0] % spec.members:
    raise errors.ShapeMismatchError(
      f"collectives.matmul_reduce_scatter: the {x.shape[0]} rows of x must be a multiple of the {spec.members} members of a group."
    )
  return bind(x, w, spec)


def matmul_all_reduce(x: Any, w: Any, axis_name: Any, *, axis_index_groups: Any = None) -> jax.Array:
  """`all_reduce(x @ w, axis_name)`.

  Args:
    x: (m, k).
    w: (k, n).
    axis_name: an axis of the mesh, or several.
    axis_index_groups: groups of one size.
  """
  x, w = _check("matmul_all_reduce", x, w)
  return bind(x, w, _even("matmul_all_reduce", axis_name, axis_index_groups))


def _even(what: str, axis_name: Any, groups: Any) -> Spec:
  spec = api.spec_of(what, what, axis_name, groups)
  if spec.groups is not None and len({len(g) for g in spec.groups}) > 1:
    raise errors.CollectiveError(
      f"collectives.{what}: axis_index_groups must have groups of one size, got {spec.groups}."
    )
  return spec


# --- the primitive -----------------------------------------------------------------------------------------------

fused_p = Primitive("tilewright_fused_collective")


def bind(x: Any, w: Any, spec: Spec) -> Any:
  return fused_p.bind(*same_varying(spec, x, w), spec=spec)


@fused_p.def_abstract_eval
def _(x: Any, w: Any, *, spec: Spec) -> Any:
  m = {"all_gather_matmul": x.shape[0] * spec.members, "matmul_reduce_scatter": x.shape[0] // spec.members}
  out = x.update(shape=(m.get(spec.kind, x.shape[0]), w.shape[1]), weak_type=False)
  if spec.kind == "matmul_all_reduce" and spec.groups is None and varying(x):
    out = out.update(manual_axis_type=x.mat.update(varying=varying(x) - frozenset(spec.axes)))
  return out


# --- derivatives and vmap ----------------------------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, *, spec: Spec) -> Any:
  (x, w), (dx, dw) = primals, tangents
  out = bind(x, w, spec)
  found: Any = _jax.ad.Zero(_jax.core.typeof(out).to_tangent_aval())
  for part in ((dx, w), (x, dw)):
    if not any(type(v) is _jax.ad.Zero for v in part):
      found = _jax.ad.add_tangents(found, bind(*part, spec))
  return out, found


def _transpose(ct: Any, x: Any, w: Any, *, spec: Spec) -> list[Any]:
  """Of the first two each is the other's."""
  is_x = _jax.ad.is_undefined_primal(x)
  if type(ct) is _jax.ad.Zero:
    return [_jax.ad.Zero(x.aval), None] if is_x else [None, _jax.ad.Zero(w.aval)]
  gathered = lambda y: primitives.bind(y, spec.like("gather")).reshape(-1, *y.shape[1:])
  match spec.kind:
    case "all_gather_matmul":
      found = bind(ct, w.T, spec.like("matmul_reduce_scatter")) if is_x else gathered(x).T @ ct
    case "matmul_reduce_scatter":
      found = bind(ct, w.T, spec.like("all_gather_matmul")) if is_x else x.T @ gathered(ct)
    case _:
      if spec.groups is None and _jax.config._check_vma.value:  # what is the same everywhere is so here
        (ct,) = same_varying(spec, ct)
      else:
        ct = primitives.bind(ct, Spec("all_reduce", spec.axes, spec.groups, spec.members, title=spec.title))
      found = ct @ w.T if is_x else x.T @ ct
  found = found.astype(ct.dtype)
  return [found, None] if is_x else [None, found]


def _batch(axis_data: Any, args: Any, dims: Any, *, spec: Spec) -> Any:
  """Matrices of which only one differs are one product: x below each other, w beside each other."""
  (x, w), (dx, dw) = args, dims
  if (
    axis_data.name in spec.axes
  ):  # members here and on other devices: a product, and what `vmapped` makes of the collective
    one = functools.partial(_apart, spec=spec)
    return jax.vmap(one, dims, axis_name=axis_data.name, axis_size=axis_data.size)(x, w), 0
  if dx is None and dw is None:  # requested only because the axis has a name
    return bind(x, w, spec), None
  if dx is not None and dw is not None:
    return lax.map(lambda xw: bind(xw[0], xw[1], spec), (jnp.moveaxis(x, dx, 0), jnp.moveaxis(w, dw, 0))), 0
  if dw is not None:
    w = jnp.moveaxis(w, dw, 1)  # (k, batch, n)
    out = bind(x, w.reshape(w.shape[0], -1), spec)
    return out.reshape(out.shape[0], *w.shape[1:]), 1
  x, members, n = jnp.moveaxis(x, dx, 0), spec.members, w.shape[1]
  batch, m, k = x.shape
  match spec.kind:
    case "all_gather_matmul":
      out = bind(x.reshape(-1, k), w, spec).reshape(members, batch, m, n)
      return out.transpose(1, 0, 2, 3).reshape(batch, members * m, n), 0
    case "matmul_reduce_scatter":
      rows = x.reshape(batch, members, m // members, k).transpose(1, 0, 2, 3).reshape(-1, k)
      return bind(rows, w, spec).reshape(batch, m // members, n), 0
  return bind(x.reshape(-1, k), w, spec).reshape(batch, m, n), 0


_jax.ad.primitive_jvps[fused_p] = _jvp
_jax.ad.primitive_transposes[fused_p] = _transpose
_jax.batching.fancy_primitive_batchers[fused_p] = _batch


# --- lowering ----------------------------------------------------------------------------------------------------


def _dot(a: Any, b: Any) -> Any:
  precise = lax.Precision.HIGHEST if a.dtype == jnp.float32 else None
  acc = wide(a.dtype, "sum") if jnp.issubdtype(a.dtype, jnp.floating) else a.dtype
  return jnp.dot(a, b, preferred_element_type=acc, precision=precise)


def _apart(x: Any, w: Any, *, spec: Spec) -> Any:
  """The product and the collective, one after the other: where there is no memory of others, and along an axis of a vmap."""
  if spec.kind == "all_gather_matmul":
    return _dot(primitives.bind(x, spec.like("gather")).reshape(-1, x.shape[1]), w).astype(x.dtype)
  product = _dot(x, w)
  if spec.kind == "matmul_all_reduce":
    return primitives.bind(product, spec.like("all_reduce")).astype(x.dtype)
  parts = product.reshape(spec.members, -1, *product.shape[1:])
  return primitives.bind(parts, spec.like("scatter")).astype(x.dtype)


def _as_kernel(x: Any, w: Any, *, spec: Spec, parts: int) -> Any:
  participants = table(tuple(semaphores.device_axes().items()), spec.axes, spec.groups)
  rows = -(-x.shape[0] // spec.members) * spec.members  # of an all-reduce, each member does its share
  if rows != x.shape[0] and spec.kind == "matmul_all_reduce":
    return _kernel(jnp.pad(x, ((0, rows - x.shape[0]), (0, 0))), w, participants, spec)[: x.shape[0]]
  return _kernel(x, w, participants, spec)


def _kernel(x: Any, w: Any, participants: Table, spec: Spec) -> Any:
  m, n, members = x.shape[0], w.shape[1], spec.members
  dtype = x.dtype
  if 0 in (*x.shape, *w.shape):
    rows = {"all_gather_matmul": m * members, "matmul_reduce_scatter": m // members}.get(spec.kind, m)
    return jnp.zeros((rows, n), dtype)
  if spec.kind == "all_gather_matmul":

    def body(table_ref: Any, x_ref: Any, w_ref: Any, o_ref: Any) -> None:
      member = Member(table_ref, participants)
      inputs = member.refs(x_ref)
      member.each(lambda r: _set(o_ref.at[r], _dot(inputs(r)[...], w_ref[...]).astype(dtype)))

    shape: tuple[int, ...] = (members, m, n)
  else:
    x, m = x.reshape(members, m // members, x.shape[1]), m // members

    def body(table_ref: Any, x_ref: Any, w_ref: Any, o_ref: Any) -> None:
      member = Member(table_ref, participants)
      left, right = member.refs(x_ref), member.refs(w_ref)
      total = member.reduced(lambda r: _dot(left(r)[member.rank], right(r)[...]), "sum").astype(dtype)
      if spec.kind == "matmul_reduce_scatter":
        o_ref[...] = total
      else:
        outputs = member.refs(o_ref)
        member.each(lambda r: _set(outputs(r).at[member.rank], total))

    shape = (m, n) if spec.kind == "matmul_reduce_scatter" else (members, m, n)
  whole = pl.BlockSpec(memory_space=pl.ANY)
  found = pl.pallas_call(
    body,
    jax.ShapeDtypeStruct(shape, dtype),
    in_specs=[whole] * 3,
    out_specs=whole,
    compiler_params=kernels.Params(spec.title, participants.parties),
    name=spec.kind,
  )(jnp.asarray(participants.array()), x, w)
  return found.reshape(-1, n)


def _set(ref: Any, value: Any) -> None:
  ref[...] = value


_lower_kernel = primitives.kernel_rules(_as_kernel)
_lower_xla = _jax.mlir.lower_fun(without_vma(_apart), multiple_results=False)


def _lower(ctx: Any, x: Any, w: Any, *, spec: Spec) -> Any:
  module = ctx.module_context
  if runs_here(module):
    with keeping(module):
      return _lower_kernel[module.platforms[0]](ctx, x, w, spec=spec)
  log_fallback(spec.kind, ", ".join(module.platforms))
  return _lower_xla(ctx, x, w, spec=spec)


_jax.mlir.register_lowering(fused_p, _lower, cacheable=False)  # as `collective_p`
fused_p.def_impl(functools.partial(_jax.dispatch.apply_primitive, fused_p))


# --- mixture of experts ------------------------------------------------------------------------------------------


def moe(
  x: Any,
  expert_ids: Any,
  expert_weights: Any,
  w_in: Any,
  w_out: Any,
  axis_name: Any,
  *,
  activation: Any = jax.nn.silu,
) -> jax.Array:
  """A mixture of experts that are spread over devices: dispatch, two grouped products, combine.

  Args:
    x: this device's tokens, (t, d).
    expert_ids: for each token the numbers of its experts, (t, k), from 0 to the number of all experts.
    expert_weights: what each expert's result is multiplied by, (t, k).
    w_in: this device's experts, (e, d, f). Device r has the experts r * e to (r + 1) * e.
    w_out: (e, f, d).
    axis_name: the axis along which experts are spread, or several.
    activation: what goes between the two products.
  """
  x, expert_ids, expert_weights = jnp.asarray(x), jnp.asarray(expert_ids), jnp.asarray(expert_weights)
  spec = api.spec_of("moe", "ragged", axis_name, None)
  t, k = expert_ids.shape
  own, members = int(w_in.shape[0]), spec.members
  if (
    x.shape[0] != t
    or expert_weights.shape != (t, k)
    or w_in.shape[1] != x.shape[1]
    or w_out.shape[:2] != (own, w_in.shape[2])
  ):
    raise errors.ShapeMismatchError(
      f"collectives.moe: expected x (t, d), expert_ids and expert_weights (t, k), w_in (e, d, f), w_out (e, f, d), got {x.shape}, "
      f"{expert_ids.shape}, {expert_weights.shape}, {w_in.shape}, {w_out.shape}."
    )
  # Tokens in order of their experts, which is also the order of the devices that have them.
  flat = expert_ids.reshape(-1).astype(jnp.int32)
  order = jnp.argsort(flat, stable=True)
  tokens = x[order // k]
  counts = jnp.zeros(members * own, jnp.int32).at[flat].add(1).reshape(members, own)
  sizes, theirs = counts.sum(1), primitives.bind(counts, spec.like("exchange"))  # theirs: (sender, own expert)
  received = theirs.sum(1)
  starts, room = _before(sizes), _before(received)
  there = primitives.bind(room[:, None], spec.like("exchange"))[:, 0]  # where each of them puts what comes from us
  buffer = jnp.zeros((members * t * k, x.shape[1]), x.dtype)
  arrived = ragged.bind(tokens, buffer, jnp.stack([starts, sizes, there]), spec)
  # Rows came sorted by sender, then by expert: bring each expert's together.
  expert_of_row = jnp.repeat(
    jnp.tile(jnp.arange(own), members), theirs.reshape(-1), total_repeat_length=buffer.shape[0]
  )
  inside = jnp.arange(buffer.shape[0]) < received.sum()
  by_expert = jnp.argsort(jnp.where(inside, expert_of_row, own), stable=True)
  hidden = activation(lax.ragged_dot(arrived[by_expert], w_in, theirs.sum(0)))
  results = jnp.zeros_like(arrived).at[by_expert].set(lax.ragged_dot(hidden, w_out, theirs.sum(0)).astype(x.dtype))
  results = jnp.where(inside[:, None], results, 0)
  from_there = primitives.bind(starts[:, None], spec.like("exchange"))[:, 0]
  back = ragged.bind(results, jnp.zeros_like(tokens), jnp.stack([room, received, from_there]), spec)
  unsorted = jnp.zeros_like(back).at[order].set(back).reshape(t, k, -1)
  return jnp.sum(unsorted * expert_weights[..., None].astype(x.dtype), axis=1)


def _before(sizes: Any) -> Any:
  return jnp.cumsum(sizes) - sizes


# --- attention ---------------------------------------------------------------------------------------------------


def ring_attention(
  q: Any, k: Any, v: Any, axis_name: Any, *, causal: bool = False, scale: float | None = None
) -> jax.Array:
  """Attention over a sequence that is spread along an axis of the mesh: keys and values go round, and a softmax is carried along.

  Args:
    q: this device's part of the queries, (batch, sequence, heads, d).
    k: keys, (batch, sequence, kv_heads, d); the number of their heads divides that of the queries.
    v: values, like keys.
    axis_name: the axis along which the sequence is spread, in order.
    causal: whether a query sees only what is not after it.
    scale: of the scores; 1 / sqrt(d) unless said.
  """
  q, k, v = jnp.asarray(q), jnp.asarray(k), jnp.asarray(v)
  if q.ndim != 4 or k.shape != v.shape or q.shape[2] % k.shape[2] or q.shape[3] != k.shape[3]:
    raise errors.ShapeMismatchError(
      f"collectives.ring_attention: expected q (batch, sequence, heads, d) and k, v (batch, sequence, kv_heads, d), got {q.shape}, "
      f"{k.shape} and {v.shape}."
    )
  n = int(np.prod([lax.axis_size(axis) for axis in api.axes_of(axis_name)]))
  me = lax.axis_index(axis_name)
  batch, length, heads, d = q.shape
  kv_heads = k.shape[2]
  acc = wide(q.dtype, "sum")
  grouped = q.astype(acc).reshape(batch, length, kv_heads, heads // kv_heads, d)
  scale = d**-0.5 if scale is None else scale
  shape = (batch, kv_heads, heads // kv_heads, length)
  best, total = jnp.full(shape, -jnp.inf, acc), jnp.zeros(shape, acc)
  out = jnp.zeros((*shape, d), acc)
  right = [(i, (i + 1) % n) for i in range(n)]
  for step in range(n):
    owner = (me - step) % n
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", grouped, k.astype(acc), precision="highest") * scale
    if causal:
      queries = me * length + jnp.arange(length)
      keys = owner * k.shape[1] + jnp.arange(k.shape[1])
      scores = jnp.where(keys[None, :] <= queries[:, None], scores, -jnp.inf)
    new = jnp.maximum(best, scores.max(-1))
    finite = jnp.where(jnp.isneginf(new), 0.0, new)
    weights = jnp.exp(scores - finite[..., None])
    keep = jnp.exp(jnp.where(jnp.isneginf(best), -jnp.inf, best) - finite)
    total = total * keep + weights.sum(-1)
    out = out * keep[..., None] + jnp.einsum("bhgqk,bkhd->bhgqd", weights, v.astype(acc), precision="highest")
    best = new
    if step < n - 1:
      k, v = api.permute((k, v), axis_name, right)
  out = out / total[..., None]
  return out.transpose(0, 3, 1, 2, 4).reshape(batch, length, heads, d).astype(q.dtype)


__all__ = ["all_gather_matmul", "matmul_all_reduce", "matmul_reduce_scatter", "moe", "ring_attention"]
