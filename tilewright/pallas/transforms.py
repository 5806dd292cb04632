"""JAX's transformations of a kernel call: each rewrites the kernel, so that the result is again one call.

- vmap adds a leading grid dimension. A batched operand gets a squeezed dimension that this index selects; an operand that is
  not batched keeps its mapping and is not copied.
- Forward-mode derivatives evaluate the body's JVP alongside it: every float ref gets a tangent ref. If the body copies asynchronously or
  waits, its portable lowering is differentiated instead.
- Reverse-mode derivatives linearise the portable lowering, which is ordinary JAX.
- Values of user-defined (hijax) types are replaced by the arrays they consist of.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import cores, effects, high_types, jaxprs, semaphore_operands, unchecked
from tilewright.pallas.call import kernel_params, pallas_call_p
from tilewright.pallas.debugging import debug_check_p, debug_print_p
from tilewright.pallas.primitives import ShapedArray, int32_scalar
from tilewright.pallas.trace import eliminate_dead_code
from tilewright.pallas.trace_context import GridFrame, tracing_kernel
from tilewright.pallas.unchecked import has_tangent
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.target.xla.evaluate import subjaxprs, uses_language
from tilewright.tile.grid import BlockMapping, Kernel, source_line, squeezed
from tilewright.tile.memory import is_semaphore

_ad = _jax.ad


# --- vmap --------------------------------------------------------------------------------------------------------


def _batched_mapping(m: BlockMapping, size: int, num_args: Sequence[Any], *, batched: bool) -> BlockMapping:
  """A block mapping with an additional leading grid index, which selects from a new leading dimension if batched."""
  jaxpr, consts = (None, ()) if m.index_map is None else _jax.open_jaxpr(m.index_map)
  if m.index_map is None and not batched:
    return m

  def index_map(b: Any, *args: Any) -> list[Any]:
    if jaxpr is None:
      own = [jnp.int32(0)] * len(m.block_shape)
    else:
      own = _jax.core.eval_jaxpr(jaxpr, consts, *args)
    return [b, *own] if batched else own

  old_tree = m.index_tree if jaxpr is not None else jax.tree.structure((0,) * len(m.block_shape))
  entries = jax.tree.unflatten(old_tree, [object()] * old_tree.num_leaves)  # an int in a Slice would not be a leaf
  new_map = _jax.trace(index_map, [int32_scalar(), *num_args], what="index_map")
  if not batched:
    return dataclasses.replace(m, index_map=new_map)
  aval = m.array_aval
  return dataclasses.replace(
    m,
    block_shape=(squeezed, *m.block_shape),
    index_map=new_map,
    index_tree=jax.tree.structure((0, *entries)),
    array_aval=ShapedArray((size, *aval.shape), aval.dtype),
  )


def _vmap(axis_data: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
  kernel = Kernel(**params)
  m = kernel.grid_mapping
  size = axis_data.size
  _refuse_axis(kernel, axis_data.name)
  if all(d is None for d in dims):  # requested only because the axis has a name
    outs = pallas_call_p.bind(*args, **params)
    return outs, [None] * len(outs)
  if any(d is not None for d in dims[: m.num_dynamic_bounds]) or cores.run_together(kernel):
    return _vmap_in_turn(size, args, dims, params)
  args = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(args, dims)]
  batched = [d is not None for d in dims]
  bounds, operands = args[: m.num_dynamic_bounds], list(args[m.num_dynamic_bounds :])
  batched = batched[m.num_dynamic_bounds :]
  consumed = [m.num_prefetch + i for i, own in enumerate(m.input_mappings) if is_semaphore(own.array_aval.dtype)]
  for into in {*consumed, *(into for into, _ in kernel.input_output_aliases)}:
    if not batched[into]:
      operands[into] = _repeated(operands[into], size)
      batched[into] = True

  index_avals = [int32_scalar() for _ in m.grid] + [v.aval for v in kernel.jaxpr.invars[: m.num_prefetch]]
  mappings = [
    _batched_mapping(b, size, index_avals, batched=flag)
    for b, flag in zip(m.block_mappings, [*batched[m.num_prefetch :], *[True] * m.num_outputs])
  ]
  old_vmapped = m.prefetch_vmapped or ((),) * m.num_prefetch
  prefetch_vmapped = tuple(
    ((0,) if flag else ()) + tuple(d + 1 for d in dims_) for flag, dims_ in zip(batched, old_vmapped)
  )
  cost = kernel.cost_estimate
  if cost is not None:
    cost = type(cost)(*(getattr(cost, f.name) * size for f in dataclasses.fields(cost)))
  semantics = getattr(kernel.compiler_params, "dimension_semantics", None)
  compiler_params = kernel.compiler_params
  if semantics is not None:
    compiler_params = dataclasses.replace(compiler_params, dimension_semantics=("parallel", *semantics))
  new = kernel.replace(
    grid_mapping=dataclasses.replace(
      m,
      grid=(size, *m.grid),
      block_mappings=tuple(mappings),
      num_vmapped=m.num_vmapped + 1,
      prefetch_vmapped=prefetch_vmapped,
    ),
    out_avals=tuple(b.array_aval for b in mappings[m.num_inputs :]),
    cost_estimate=cost,
    compiler_params=compiler_params,
  )
  outs = pallas_call_p.bind(*bounds, *operands, **kernel_params(new))
  return outs, [0] * len(outs)


def _refuse_axis(kernel: Kernel, name: Any) -> None:
  """Raise if a body or an index map asks for its position along the axis of a vmap, or communicates along it."""
  bodies = [(kernel.jaxpr, "body")]
  bodies += [(m.index_map.jaxpr, f"index map of {m.origin}") for m in kernel.grid_mapping.block_mappings if m.index_map]
  for jaxpr, what in bodies:
    if any(isinstance(e, _jax.core.NamedAxisEffect) and e.name == name for e in jaxpr.effects):
      raise errors.AxisNameError(
        f"unbound axis name: {name}. The {what} of the kernel '{kernel.name}' uses the axis {name!r} of a vmap, which an element of the "
        "batch does not know. Pass its position as an operand, as in jax.vmap(f)(jnp.arange(n), x), and communicate outside of the kernel."
      )


def _repeated(x: Any, size: int) -> Any:
  """An operand that the kernel changes, once for each element of the batch."""
  dtype = _jax.core.typeof(x).dtype
  if not is_semaphore(dtype):
    return jnp.broadcast_to(x, (size, *x.shape))
  counts = semaphore_operands.counts_p.bind(x)
  return semaphore_operands.semaphores_p.bind(jnp.broadcast_to(counts, (size, *counts.shape)), dtype=dtype)


def _vmap_in_turn(size: int, args: Sequence[Any], dims: Sequence[Any], params: Any) -> tuple[list[Any], list[int]]:
  """The rule for grids that differ between elements of the batch, and for cores that signal each other: a loop over the calls."""
  moved = [jnp.moveaxis(x, d, 0) for x, d in zip(args, dims) if d is not None]

  def one(own: Sequence[Any]) -> list[Any]:
    left = iter(own)
    return pallas_call_p.bind(*(x if d is None else next(left) for x, d in zip(args, dims)), **params)

  outs = lax.map(one, moved)
  return outs, [0] * len(outs)


_jax.batching.fancy_primitive_batchers[pallas_call_p] = _vmap


# --- forward derivatives -----------------------------------------------------------------------------------------


def _tangent_mapping(m: BlockMapping) -> BlockMapping:
  return dataclasses.replace(m, origin=f"tangent of {m.origin}")


def _body_has_derivative(kernel: Kernel) -> bool:
  """Whether the body can be differentiated equation by equation, ref by ref.

  Copies, semaphores and similar primitives cannot: the data they move has no tangent ref. The portable lowering, which is pure, always can.
  """
  safe = {effects.debug_effect, effects.delay_effect}
  if {e for e in kernel.jaxpr.effects if isinstance(e, effects.KernelEffect)} - safe:
    return False
  return _all_differentiable(kernel.jaxpr)


def _all_differentiable(jaxpr: Any) -> bool:
  known = _ad.primitive_jvps
  return all(
    (eqn.primitive in known or "custom" in eqn.primitive.name) and all(_all_differentiable(j) for j in subjaxprs(eqn))
    for eqn in jaxpr.eqns
  )


@dataclasses.dataclass(frozen=True)
class Portable:
  """A kernel as a function: its portable lowering; for reverse derivatives with finite numbers beyond edges (see `xla.run`)."""

  kernel: Kernel
  finite: bool = False

  def __call__(self, *operands: Any) -> list[Any]:
    return xla.run(self.kernel, *operands, finite=self.finite)


def _jvp_of_portable(
  kernel: Kernel, primals: Sequence[Any], tangents: Sequence[Any], params: Any
) -> tuple[list[Any], list[Any]]:
  outs = pallas_call_p.bind(*primals, **params)
  dots = iter(unchecked.jvp(Portable(_without_reports(kernel), finite=True), primals, tangents))
  return outs, [next(dots) if has_tangent(o) else _jax.zero_tangent(o) for o in outs]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
  kernel = Kernel(**params)
  m = kernel.grid_mapping
  first_input = m.num_dynamic_bounds + m.num_prefetch
  if not all(isinstance(t, _ad.Zero) for t in tangents[:first_input]) or not _body_has_derivative(kernel):
    return _jvp_of_portable(kernel, primals, tangents, params)
  in_tangents = list(tangents[first_input:])
  aliased = {into - m.num_prefetch for into, _ in kernel.input_output_aliases}
  for i in aliased:
    if i >= 0 and isinstance(in_tangents[i], _ad.Zero) and has_tangent(m.input_mappings[i].array_aval):
      in_tangents[i] = _ad.instantiate_zeros(in_tangents[i])
  nz_in = [not isinstance(t, _ad.Zero) for t in in_tangents]
  invars = kernel.jaxpr.invars
  outs_at = m.num_prefetch + m.num_inputs
  nz_out = [has_tangent(v.aval) for v in invars[outs_at : outs_at + m.num_outputs]]
  nz_scratch = [has_tangent(v.aval) for v in invars[outs_at + m.num_outputs :]]
  nonzeros = [False] * m.num_prefetch + nz_in + nz_out + nz_scratch
  with tracing_kernel(GridFrame(m.grid[m.num_vmapped :], m.grid_names)):  # custom rules may ask for program_id
    closed, _ = _ad.jvp_jaxpr(_jax.pe.close_jaxpr(kernel.jaxpr), nonzeros, instantiate=[])
  jaxpr, consts = _jax.open_jaxpr(closed)
  if consts:
    raise errors.CapturedConstantError(
      f"The derivative of the kernel '{kernel.name}' captures constants; pass them as inputs."
    )

  count = len(invars)
  primal_vars, tangent_vars = jaxpr.invars[:count], jaxpr.invars[count:]
  split = [m.num_prefetch, m.num_inputs, m.num_outputs, m.num_scratch]
  p_prefetch, p_in, p_out, p_scratch = _split(primal_vars, split)
  t_in, t_out, t_scratch = _split(tangent_vars, [sum(nz_in), sum(nz_out), sum(nz_scratch)])
  jaxpr = jaxpr.replace(
    invars=[*p_prefetch, *p_in, *t_in, *p_out, *t_out, *p_scratch, *t_scratch],
    debug_info=jaxpr.debug_info.with_unknown_names(),
  )
  in_maps = [_tangent_mapping(b) for b, nz in zip(m.input_mappings, nz_in) if nz]
  out_maps = [_tangent_mapping(b) for b, nz in zip(m.output_mappings, nz_out) if nz]
  place_in = _positions(nz_in, m.num_prefetch + m.num_inputs)
  place_out = _positions(nz_out, m.num_outputs)
  twins = [
    (place_in[into - m.num_prefetch], place_out[out])
    for into, out in kernel.input_output_aliases
    if into >= m.num_prefetch and nz_in[into - m.num_prefetch] and nz_out[out]
  ]
  cost = kernel.cost_estimate
  if cost is not None:
    cost = type(cost)(*(2 * getattr(cost, f.name) for f in dataclasses.fields(cost)))
  new = kernel.replace(
    jaxpr=jaxpr,
    name=f"{kernel.name}_jvp",
    grid_mapping=dataclasses.replace(
      m,
      block_mappings=(*m.input_mappings, *in_maps, *m.output_mappings, *out_maps),
      num_inputs=m.num_inputs + len(in_maps),
      num_outputs=m.num_outputs + len(out_maps),
      num_scratch=m.num_scratch + len(t_scratch),
    ),
    out_avals=(*kernel.out_avals, *(b.array_aval for b in out_maps)),
    input_output_aliases=(*kernel.input_output_aliases, *twins),
    cost_estimate=cost,
    compiler_params=_without_side_effects(kernel.compiler_params),
  )
  new = eliminate_dead_code(_without_reports(new), [False] * m.num_outputs + [True] * len(out_maps))
  # Two calls, not one with all outputs: results that do not depend on tangents stay known to remat and unbatched under jacfwd.
  out_primals = pallas_call_p.bind(*primals, **params)
  outs = pallas_call_p.bind(*primals, *(t for t, nz in zip(in_tangents, nz_in) if nz), **kernel_params(new))
  rest = iter(outs[m.num_outputs :])
  return out_primals, [next(rest) if nz else _jax.zero_tangent(p) for p, nz in zip(out_primals, nz_out)]


def _without_reports(kernel: Kernel) -> Kernel:
  """The kernel without prints and checks: the call that computes the outputs has them already."""
  return kernel.replace(
    jaxpr=jaxprs.without(kernel.jaxpr, (debug_print_p, debug_check_p, _jax.debugging.debug_print_p))
  )


def _without_side_effects(compiler_params: Any) -> Any:
  if not getattr(compiler_params, "has_side_effects", False):
    return compiler_params
  return dataclasses.replace(compiler_params, has_side_effects=False)


def _split(items: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
  parts, at = [], 0
  for n in counts:
    parts.append(list(items[at : at + n]))
    at += n
  return parts


def _positions(flags: Sequence[bool], start: int) -> list[int | None]:
  """For each set flag, the position of its tangent when the tangents follow from `start`."""
  places: list[int | None] = []
  for flag in flags:
    places.append(start if flag else None)
    start += flag
  return places


_ad.primitive_jvps[pallas_call_p] = _jvp


# --- reverse derivatives -----------------------------------------------------------------------------------------


def _check_custom_rules(jaxpr: Any) -> None:
  """A custom derivative rule inside a body is kept if it is over values; a function that uses refs or the grid is inlined without its
  rule."""
  custom = (_jax.custom_derivatives.custom_jvp_call_p, _jax.custom_derivatives.custom_vjp_call_p)
  for eqn in jaxpr.eqns:
    if eqn.primitive in custom and uses_language(_jax.open_jaxpr(eqn.params["call_jaxpr"])[0]):
      raise errors.EffectError(
        f"The function called at {source_line(eqn)} has a custom derivative, but reads refs or the position in the grid, "
        "so that reverse derivatives of the kernel cannot use its rule. Pass what it reads as its arguments."
      )
    for inner in subjaxprs(eqn):
      _check_custom_rules(inner)


def _linearize(is_vjp: bool, nonzeros: Sequence[bool], *primals: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  _check_custom_rules(kernel.jaxpr)
  if unchecked.is_manual():
    return _linearize_as_call(nonzeros, primals, params)

  # Results that depend on out-of-bounds elements must show it, so they come from the call.
  has_edges = any(m.keeps_overhang for m in kernel.grid_mapping.block_mappings)
  seen = pallas_call_p.bind(*primals, **params) if has_edges else None
  portable = Portable(_without_reports(kernel), finite=True) if has_edges else Portable(kernel)

  def of_nonzero(*moving: Any) -> tuple[list[Any], list[Any]]:
    left = iter(moving)
    outs = portable(*(next(left) if nz else p for p, nz in zip(primals, nonzeros)))
    floats = [o for o in outs if has_tangent(_jax.core.typeof(o))]
    return floats, [o for o in outs if not has_tangent(_jax.core.typeof(o))]

  floats, linear, others = jax.linearize(of_nonzero, *(p for p, nz in zip(primals, nonzeros) if nz), has_aux=True)
  is_float = [has_tangent(a) for a in kernel.out_avals]
  left, rest = iter(floats), iter(others)
  outs = seen or [next(left) if f else next(rest) for f in is_float]
  residuals, tree = jax.tree.flatten(linear)

  def linearized(residuals: Sequence[Any], *rest: Any) -> list[Any]:
    tangents = rest[-len(nonzeros) :]  # jax 0.11 passes its structured residuals, of which we have none, before them
    moving = [t for t, nz in zip(tangents, nonzeros) if nz]
    dots = iter(jax.tree.unflatten(tree, residuals)(*moving))
    return [next(dots) if f else _ad.Zero(a.to_tangent_aval()) for a, f in zip(kernel.out_avals, is_float)]

  return _jax.linearization(outs, is_float, residuals, linearized)


def _linearize_as_call(nonzeros: Sequence[bool], primals: Sequence[Any], params: Any) -> Any:
  """Under shard_map, where only a call can type how its outputs vary over the mesh, the linear part is a call too."""
  outs = pallas_call_p.bind(*primals, **params)
  is_float = [has_tangent(_jax.core.typeof(o)) for o in outs]

  def linearized(residuals: Sequence[Any], *rest: Any) -> list[Any]:
    tangents = [_ad.instantiate_zeros(t) if nz else t for t, nz in zip(rest[-len(nonzeros) :], nonzeros)]
    zeros = [t if nz else _jax.zero_tangent(p) for t, p, nz in zip(tangents, residuals, nonzeros)]
    return _jvp(residuals, zeros, **params)[1]

  return _jax.linearization(outs, is_float, list(primals), linearized)


_ad.primitive_linearizations[pallas_call_p] = _linearize


def _transpose(cotangents: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
  """A call that is linear in some operands, as the tangent of a call is: inside remat JAX transposes it."""
  return unchecked.transpose(Portable(Kernel(**params), finite=True), cotangents, args)


_ad.primitive_transposes[pallas_call_p] = _transpose


# --- user-defined types ------------------------------------------------------------------------------------------


def _is_high(*avals: Any, **params: Any) -> bool:
  return any(a.is_high for a in (*avals, *params["out_avals"]))


def _to_lojax(*args: Any, **params: Any) -> list[Any]:
  kernel = Kernel(**params)
  lo_args = high_types.lower_values(args)
  lo_outs = tuple(b.array_aval for b in kernel.grid_mapping.output_mappings)
  outs = pallas_call_p.bind(*lo_args, **kernel_params(kernel.replace(out_avals=lo_outs)))
  return _jax.pe.raise_lo_outs(kernel.out_avals, outs)


pallas_call_p.is_high = _is_high
pallas_call_p.to_lojax = _to_lojax
