"""The primitives of the kernel language: position in the grid, masked memory access, atomics, hints.

Each primitive is defined next to its rule for the portable target, as in

    program_id_p = Primitive("program_id")
    program_id_p.def_abstract_eval(lambda *, axis: int32_scalar())
    xla.register(program_id_p)(lambda ctx, *, axis: jnp.asarray(ctx.instance.indices[axis], jnp.int32))

Other primitives are defined in the modules of their topics: `scoped`, `debugging`, `dma` and `semaphores`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.arity import describe_value
from tilewright.pallas.trace_context import current_frame, current_point
from tilewright.runtime import _jax
from tilewright.target import xla

AbstractRef = _jax.state_types.AbstractRef
TransformedRef = _jax.state_types.TransformedRef
ReadEffect = _jax.state_types.ReadEffect
WriteEffect = _jax.state_types.WriteEffect
ShapedArray = _jax.core.ShapedArray
Primitive = _jax.core.Primitive


def declare_ref_result(primitive: Any) -> None:
  """Declare that the result of a primitive is a ref, so that JAX's jaxpr checker permits effects on it."""
  primitive.ref_primitive = True
  primitive.ref_allocating = True
  primitive.is_effectful = lambda params: True


def int32_scalar() -> Any:
  return ShapedArray((), jnp.dtype("int32"))


def not_differentiable(primitive: Any) -> None:
  """Register a JVP rule with zero tangents for a primitive that has integer results or none."""

  def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    out = primitive.bind(*primals, **params)
    if primitive.multiple_results:
      return out, [_jax.zero_tangent(x) for x in out]
    return out, _jax.zero_tangent(out)

  _jax.ad.primitive_jvps[primitive] = jvp


# --- position in the grid ----------------------------------------------------------------------------------------

program_id_p = Primitive("program_id")
program_id_p.def_abstract_eval(lambda *, axis: int32_scalar())
not_differentiable(program_id_p)
_jax.batching.primitive_batchers[program_id_p] = lambda args, dims, *, axis: (program_id_p.bind(axis=axis), None)

num_programs_p = Primitive("num_programs")
num_programs_p.def_abstract_eval(lambda *, axis: int32_scalar())
not_differentiable(num_programs_p)


def _grid_axis(what: str, axis: Any) -> int:
  frame = current_frame(what)
  if isinstance(axis, str) and frame.names is not None and axis in frame.names:
    return frame.names.index(axis)
  if isinstance(axis, bool) or not hasattr(axis, "__index__"):
    raise errors.GridError(f"{what}: axis must be an int (or the name of a grid dimension), got {axis!r}.")
  axis = axis.__index__()
  if not -len(frame.sizes) <= axis < len(frame.sizes):
    raise errors.GridError(f"{what}: Axis {axis} is out of bounds for grid {frame.sizes}.")
  return axis % len(frame.sizes)


def program_id(axis: int) -> jax.Array:
  """The position of this instance along dimension `axis` of the grid (a number, or its name), as an int32 scalar."""
  axis = _grid_axis("pl.program_id", axis)
  point = current_point()
  return program_id_p.bind(axis=axis) if point is None else jnp.asarray(point.indices[axis], jnp.int32)


def num_programs(axis: int) -> int | jax.Array:
  """The size of the grid along dimension `axis` (a number, or its name): an int where it is static."""
  axis = _grid_axis("pl.num_programs", axis)
  size = current_frame("pl.num_programs").sizes[axis]
  if isinstance(size, int):
    return size
  point = current_point()
  return num_programs_p.bind(axis=axis) if point is None else point.sizes[axis]


@xla.register(program_id_p)
def _(ctx: xla.Context, *, axis: int) -> Any:
  return jnp.asarray(ctx.instance.indices[axis], jnp.int32)


@xla.register(num_programs_p)
def _(ctx: xla.Context, *, axis: int) -> Any:
  return jnp.asarray(_jax.core.dimension_as_value(ctx.instance.sizes[axis]), jnp.int32)


@xla.register(_jax.axis_index_p)
def _(ctx: xla.Context, *, axis_name: Any) -> Any:
  if not isinstance(axis_name, tuple) and axis_name in ctx.instance.axis_indices:
    return jnp.asarray(ctx.instance.axis_indices[axis_name], jnp.int32)
  return lax.axis_index(axis_name)


# --- masked memory access ----------------------------------------------------------------------------------------


def flatten_ref(ref: Any, idx: Any, what: str) -> Any:
  """The view `ref[idx]` as a ref with transforms."""
  if not is_ref(ref):
    raise errors.RefTypeError(
      f"{what}: expected a ref, got {describe_value(ref)}. Inside a kernel, arguments are refs; values are not."
    )
  if idx is not None and not (isinstance(idx, tuple) and not idx):
    ref = ref.at[idx]
  view = ref if isinstance(ref, TransformedRef) else TransformedRef(ref, ())
  return view


def _check_mask(what: str, mask: Any, shape: tuple[int, ...]) -> Any:
  if mask is None:
    return None
  mask = jnp.asarray(mask)
  if mask.dtype != jnp.bool_:
    raise errors.ShapeMismatchError(f"{what}: mask must have dtype bool, got {mask.dtype}. Compare first, as in x < n.")
  try:
    return jnp.broadcast_to(mask, shape)
  except ValueError:
    raise errors.ShapeMismatchError(f"{what}: mask of shape {mask.shape} cannot be broadcast to {shape}.") from None


masked_load_p = Primitive("masked_load")
masked_load_p.is_effectful = lambda params: True


@masked_load_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, cache: str) -> Any:
  view, _, _ = _jax.unflatten(tree, flat)
  return view.type.inner_aval, {ReadEffect(0)}


# PTX's cache operators (which caches keep the loaded data) and eviction priorities.
_CACHE_MODIFIERS = (".ca", ".cg", ".cs", ".cv")
_EVICTION_POLICIES = ("evict_first", "evict_last", "evict_normal")


def _check_hint(what: str, name: str, given: str | None, known: tuple[str, ...]) -> None:
  if given and given not in known:
    raise errors.MemorySpaceError(f"{what}: {name}: expected None or one of {', '.join(known)}, got {given!r}.")


def _hint(*given: str | None) -> str:
  """The cache hints as an attribute: `.cg evict_first`."""
  return " ".join(word for word in given if word and word != "evict_normal")


def load(
  x_ref_or_view: Any,
  idx: Any = None,
  *,
  mask: Any = None,
  other: Any = None,
  cache_modifier: str | None = None,
  eviction_policy: str | None = None,
  volatile: bool = False,
) -> jax.Array:
  """Read `ref[idx]`; where `mask` is false the result is `other`, or unspecified if that is not given.

  `x_ref_or_view` is the ref, or a view of it such as `ref.at[...]`. `cache_modifier`, `eviction_policy` and `volatile` are hints, which
  are lowered to their PTX equivalents on NVIDIA GPUs. A mask of the wrong shape is a `ShapeMismatchError`, an array in place of the ref a
  `RefTypeError`.
  """
  _check_hint("pl.load", "cache_modifier", cache_modifier, _CACHE_MODIFIERS)
  _check_hint("pl.load", "eviction_policy", eviction_policy, _EVICTION_POLICIES)
  view = flatten_ref(x_ref_or_view, idx, "pl.load")
  mask = _check_mask("pl.load", mask, view.shape)
  if other is not None:
    if mask is None:
      raise errors.ShapeMismatchError(
        "pl.load: other is given but mask is not; other is the value where mask is false."
      )
    other = jnp.broadcast_to(jnp.asarray(other, view.dtype), view.shape)
  cache = _hint(cache_modifier, eviction_policy, "volatile" if volatile else None)
  if mask is None and not cache:
    return _jax.state_primitives.ref_get(view)
  flat, tree = _jax.flatten((view, mask, other))
  return masked_load_p.bind(*flat, tree=tree, cache=cache)


masked_swap_p = Primitive("masked_swap")
masked_swap_p.is_effectful = lambda params: True


@masked_swap_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, cache: str) -> Any:
  view, _, _ = _jax.unflatten(tree, flat)
  return view.type.inner_aval, {ReadEffect(0), WriteEffect(0)}


def swap(x_ref_or_view: Any, idx: Any, val: Any, *, mask: Any = None, eviction_policy: str | None = None) -> jax.Array:
  """Write `val` to `ref[idx]` where `mask` is true, and return the old value. The arguments are those of `store`."""
  _check_hint("pl.swap", "eviction_policy", eviction_policy, _EVICTION_POLICIES)
  return _swap("pl.swap", x_ref_or_view, idx, val, mask, _hint(eviction_policy))


def store(x_ref_or_view: Any, idx: Any, val: Any, *, mask: Any = None, eviction_policy: str | None = None) -> None:
  """Write `val` to `ref[idx]` where `mask` is true.

  `x_ref_or_view` is the ref, or a view of it such as `ref.at[...]`; `val` is broadcast to its shape and must have its dtype;
  otherwise it is a `ShapeMismatchError`. `eviction_policy` is a hint, as for `load`.
  """
  _check_hint("pl.store", "eviction_policy", eviction_policy, _EVICTION_POLICIES)
  _swap("pl.store", x_ref_or_view, idx, val, mask, _hint(eviction_policy))


def _swap(what: str, ref: Any, idx: Any, value: Any, mask: Any, cache: str = "") -> Any:
  view = flatten_ref(ref, idx, what)
  mask = _check_mask(what, mask, view.shape)
  value = jnp.asarray(value)
  if value.shape != view.shape:
    try:
      value = jnp.broadcast_to(value, view.shape)
    except ValueError:
      raise errors.ShapeMismatchError(
        f"{what}: a value of shape {value.shape} does not fit the view of shape {view.shape}."
      ) from None
  value = _jax.state_primitives._maybe_implicit_cast(view.dtype, value)
  if value.dtype != view.dtype:
    raise errors.ShapeMismatchError(
      f"{what}: the ref holds {view.dtype} but the value is {value.dtype}; convert it with astype."
    )
  if mask is None and not cache:
    return _jax.state_primitives.ref_swap(view, (), value)
  flat, tree = _jax.flatten((view, value, mask))
  return masked_swap_p.bind(*flat, tree=tree, cache=cache)


@xla.register(masked_load_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, cache: str) -> Any:
  view, mask, other = _jax.unflatten(tree, flat)
  value = view.ref.read(view.transforms)
  if mask is None:
    return value
  return jnp.where(mask, value, xla.poison(value.shape, value.dtype) if other is None else other)


@xla.register(masked_swap_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, cache: str) -> Any:
  view, value, mask = _jax.unflatten(tree, flat)
  if mask is None:
    return view.ref.write(view.transforms, value)
  return view.ref.write_where(view.transforms, value, mask)


def _tangent_view(view: Any, tangent_ref: Any) -> Any:
  return TransformedRef(tangent_ref, view.transforms)


@functools.partial(_jax.ad.primitive_jvps.__setitem__, masked_load_p)
def _(primals: Any, tangents: Any, *, tree: Any, cache: str) -> Any:
  out = masked_load_p.bind(*primals, tree=tree, cache=cache)
  view, mask, other = _jax.unflatten(tree, primals)
  other_t = _jax.unflatten(tree, tangents)[2]
  if isinstance(tangents[0], _jax.ad.Zero):
    return out, _jax.zero_tangent(out)
  if mask is not None and (other is None or isinstance(other_t, _jax.ad.Zero)):
    other_t = jnp.zeros(mask.shape, out.dtype)
  return out, load(_tangent_view(view, tangents[0]), mask=mask, other=other_t)


@functools.partial(_jax.ad.primitive_jvps.__setitem__, masked_swap_p)
def _(primals: Any, tangents: Any, *, tree: Any, cache: str) -> Any:
  out = masked_swap_p.bind(*primals, tree=tree, cache=cache)
  view, _, mask = _jax.unflatten(tree, primals)
  if isinstance(tangents[0], _jax.ad.Zero):
    return out, _jax.zero_tangent(out)
  value_t = _jax.ad.instantiate_zeros(_jax.unflatten(tree, tangents)[1])
  return out, _swap("pl.swap", _tangent_view(view, tangents[0]), None, value_t, mask)


# --- atomics -----------------------------------------------------------------------------------------------------

# In the portable lowering instances run one after another, so reading, combining and writing is atomic.
_ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
  "add": lambda a, b: a + b,
  "max": jnp.maximum,
  "min": jnp.minimum,
  "and": lambda a, b: a & b,
  "or": lambda a, b: a | b,
  "xor": lambda a, b: a ^ b,
  "xchg": lambda a, b: b,
}

atomic_rmw_p = Primitive("atomic_rmw")
atomic_rmw_p.is_effectful = lambda params: True


@atomic_rmw_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any, kind: str) -> Any:
  view, _, _ = _jax.unflatten(tree, flat)
  return view.type.inner_aval, {ReadEffect(0), WriteEffect(0)}


@xla.register(atomic_rmw_p)
def _(ctx: xla.Context, *flat: Any, tree: Any, kind: str) -> Any:
  view, value, mask = _jax.unflatten(tree, flat)
  if kind == "xchg" and mask is not None:
    return view.ref.write_where(view.transforms, value, mask)
  old = view.ref.read(view.transforms)
  if kind != "xchg" and _may_repeat(view):
    # Where an index repeats, every value counts, as they would one thread after another.
    neutral = jnp.zeros_like(old) if kind in ("add", "xor") else old
    view.ref.accumulate(view.transforms, value if mask is None else jnp.where(mask, value, neutral), kind)
    return old
  new = _ATOMIC[kind](old, value)
  view.ref.write(view.transforms, new if mask is None else jnp.where(mask, new, old))
  return old


def _may_repeat(view: Any) -> bool:
  indexers = [t for t in view.transforms if isinstance(t, _jax.indexing.NDIndexer)]
  return bool(indexers and view.transforms[-1] is indexers[-1] and indexers[-1].int_indexer_shape)


def _atomic(kind: str) -> Callable[..., jax.Array]:
  def atomic(x_ref_or_view: Any, idx: Any, val: Any, *, mask: Any = None) -> jax.Array:
    what = f"atomic_{kind}"
    view = flatten_ref(x_ref_or_view, idx, what)
    value = jnp.broadcast_to(jnp.asarray(val, view.dtype), view.shape)
    if kind in ("and", "or", "xor") and not (jnp.issubdtype(view.dtype, jnp.integer) or view.dtype == jnp.bool_):
      raise errors.ShapeMismatchError(f"{what}: needs an integer ref, got {view.dtype}.")
    flat, tree = _jax.flatten((view, value, _check_mask(what, mask, view.shape)))
    return atomic_rmw_p.bind(*flat, tree=tree, kind=kind)

  symbol = {"xchg": "exchanges", "cas": "compares"}.get(kind, f"applies '{kind}' to")
  atomic.__name__ = atomic.__qualname__ = f"atomic_{kind}"
  atomic.__doc__ = f"Atomically {symbol} `ref[idx]` with `val` where `mask` is true, and gives what stood there."
  return atomic


atomic_add, atomic_max, atomic_min = _atomic("add"), _atomic("max"), _atomic("min")
atomic_and, atomic_or, atomic_xor, atomic_xchg = _atomic("and"), _atomic("or"), _atomic("xor"), _atomic("xchg")

atomic_cas_p = Primitive("atomic_cas")
atomic_cas_p.is_effectful = lambda params: True


@atomic_cas_p.def_effectful_abstract_eval
def _(*flat: Any, tree: Any) -> Any:
  view, _, _ = _jax.unflatten(tree, flat)
  return view.type.inner_aval, {ReadEffect(0), WriteEffect(0)}


def atomic_cas(ref: Any, cmp: Any, val: Any) -> jax.Array:
  """Atomic compare-and-swap: write `val` to a scalar ref if it holds `cmp`, and return the old value."""
  view = flatten_ref(ref, None, "atomic_cas")
  cmp, val = jnp.asarray(cmp, view.dtype), jnp.asarray(val, view.dtype)
  if cmp.shape != () or val.shape != () or view.shape != ():
    raise errors.ShapeMismatchError(
      "atomic_cas: cmp and val must have identical dtypes and shapes, those of a scalar ref; got shapes "
      f"{view.shape}, {cmp.shape} and {val.shape}."
    )
  flat, tree = _jax.flatten((view, cmp, val))
  return atomic_cas_p.bind(*flat, tree=tree)


@xla.register(atomic_cas_p)
def _(ctx: xla.Context, *flat: Any, tree: Any) -> Any:
  view, cmp, val = _jax.unflatten(tree, flat)
  old = view.ref.read(view.transforms)
  view.ref.write(view.transforms, jnp.where(old == cmp, val, old))
  return old


# --- hints -------------------------------------------------------------------------------------------------------

multiple_of_p = Primitive("multiple_of")
multiple_of_p.def_abstract_eval(lambda x, *, values: x)
not_differentiable(multiple_of_p)
_jax.batching.primitive_batchers[multiple_of_p] = lambda args, dims, *, values: (
  multiple_of_p.bind(*args, values=values),
  dims[0],
)
xla.register(multiple_of_p)(lambda ctx, x, *, values: x)
multiple_of_p.def_impl(lambda x, *, values: x)
_jax.mlir.register_lowering(multiple_of_p, lambda ctx, x, *, values: [x])


def multiple_of(x: jax.Array, values: Any) -> jax.Array:
  """Promise that `x` is a multiple of each of `values`, so that targets may use aligned access."""
  values = (values,) if isinstance(values, int) else tuple(values)
  if any(not isinstance(v, int) or v < 1 for v in values):
    raise errors.ShapeMismatchError(f"pl.multiple_of: values must be positive ints, got {values}.")
  return multiple_of_p.bind(jnp.asarray(x), values=values)


def is_ref(x: Any) -> bool:
  if isinstance(x, TransformedRef):
    return True
  try:
    return isinstance(_jax.core.typeof(x), AbstractRef)
  except TypeError:
    return False
