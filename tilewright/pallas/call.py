"""`pallas_call`: a Python function over refs becomes one equation of a JAX program.

The call is traced to a `Kernel` (`trace`), which is a parameter of a single `pallas_call` equation. JAX transformations (`transforms`)
rewrite the kernel. The target selected by `interpret` and the compiler parameters runs it (`targets`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from tilewright import errors
from tilewright.pallas import effects, targets, validation
from tilewright.pallas.foreign import own_grid_spec, own_specs
from tilewright.pallas.primitives import AbstractRef
from tilewright.pallas.ref_operands import bind_refs
from tilewright.pallas.specs import GridSpec, no_block_spec
from tilewright.pallas.trace import KernelCall, eliminate_dead_code, trace
from tilewright.pallas.unchecked import lower_unchecked, without_varying_axes
from tilewright.runtime import _jax
from tilewright.runtime.user_line import names_line
from tilewright.target.llvm import calling
from tilewright.tile.grid import CostEstimate, Kernel

_UNSET: Any = object()

pallas_call_p = _jax.core.Primitive("pallas_call")
pallas_call_p.multiple_results = True


@names_line
def pallas_call(
  kernel: Callable[..., None],
  out_shape: Any = _UNSET,
  *,
  grid_spec: GridSpec | None = None,
  grid: Any = (),
  in_specs: Any = no_block_spec,
  out_specs: Any = no_block_spec,
  scratch_shapes: Any = (),
  input_output_aliases: Mapping[int, int] = {},
  debug: bool = False,
  interpret: Any = False,
  name: str | None = None,
  compiler_params: Any = None,
  cost_estimate: CostEstimate | None = None,
  metadata: dict[str, str] | None = None,
) -> Callable[..., Any]:
  """Turn a kernel, a function of refs that runs once per grid point, into a function of arrays.

  Args:
    kernel: takes a ref for each prefetched scalar, input, output and scratch buffer, in this order; returns None.
    out_shape: a tree of `jax.ShapeDtypeStruct`: the outputs.
    grid_spec: grid, specs and scratch in one object, instead of the next four arguments.
    grid: the sizes of the grid: ints, dynamic scalars, or pairs (name, size).
    in_specs: a tree of `BlockSpec` matching the positional arguments; by default each instance sees whole arrays.
    out_specs: the same for the outputs.
    scratch_shapes: a sequence or dict of memory that lives for the whole call.
    input_output_aliases: maps the index of a flat input to the index of the flat output that shares its memory.
    debug: print the stages of the kernel as it is processed.
    interpret: False for native code on the CPU and on NVIDIA GPUs and the portable lowering elsewhere, True for the portable lowering on
      any backend, an `InterpretParams` for the simulated machine.
    name: the kernel's name in programs, dumps and messages.
    compiler_params: parameters of one target.
    cost_estimate: the estimated cost of the kernel, for schedulers.
    metadata: strings attached to the kernel.

  Returns:
    A function of the inputs, which returns arrays in the structure of `out_shape`.
  """
  if out_shape is _UNSET:
    raise errors.OutShapeError(
      "pallas_call: out_shape is missing. Give the outputs' shapes and dtypes, as in jax.ShapeDtypeStruct((8, 128), jnp.float32), or () "
      "for a kernel that only writes to refs."
    )
  validation.check_options(input_output_aliases, compiler_params, cost_estimate, metadata)
  if grid_spec is None:
    grid_spec = GridSpec(grid, own_specs(in_specs), own_specs(out_specs), scratch_shapes)
  else:
    grid_spec = own_grid_spec(grid_spec)
    if not isinstance(grid_spec, GridSpec):
      raise errors.GridError(
        f"pallas_call: grid_spec must be a pl.GridSpec or a pltpu.PrefetchScalarGridSpec, got {grid_spec!r}. The sizes alone are `grid`."
      )
    for field, value, default in (
      ("grid", grid, ()),
      ("in_specs", in_specs, no_block_spec),
      ("out_specs", out_specs, no_block_spec),
      ("scratch_shapes", scratch_shapes, ()),
    ):
      if value is not default and value != default:
        raise errors.GridError(f"If `grid_spec` is specified, then `{field}` must be `{default}`. It is {value}.")
  if name is not None and not isinstance(name, str):
    raise errors.KernelTypeError(f"pallas_call: name must be a string or None, got {name!r}.")
  validation.check_semantics(compiler_params, grid_spec.grid)
  call = KernelCall(
    kernel=kernel,
    out_shape=out_shape,
    grid_spec=grid_spec,
    aliases=dict(input_output_aliases),
    debug=debug,
    interpret=interpret,
    name=name,
    compiler_params=compiler_params,
    cost_estimate=cost_estimate,
    metadata=metadata,
  )

  @names_line
  def wrapped(*args: Any) -> Any:
    return _bind(call, args)

  if hasattr(kernel, "__name__"):
    functools.update_wrapper(wrapped, kernel, assigned=("__name__", "__qualname__", "__module__"), updated=())
  return wrapped


_on_hopper: ContextVar[Any] = ContextVar("tilewright_on_hopper", default=None)


@contextlib.contextmanager
def with_form_for_hopper(form: Callable[..., Any] | None) -> Iterator[None]:
  """Kernels called in this context are computed by `form`, a hashable function of the same operands and with the same results, where
  native code is for Hopper GPUs only. Everywhere else, in derivatives, exported programs and on other targets, they are what they are."""
  token = _on_hopper.set(form)
  try:
    yield
  finally:
    _on_hopper.reset(token)


def _bind(call: KernelCall, args: Any) -> Any:
  flat_args, in_tree = jax.tree.flatten(args)
  flat_args = [x if is_jax_value(x) else _as_array(x, args) for x in flat_args]
  in_avals = tuple(_jax.core.typeof(x) for x in flat_args)
  if any(isinstance(a, AbstractRef) for a in in_avals):
    return bind_refs(_bind, call, args)
  bounds, static_grid = _split_grid(call.grid_spec.grid)
  traced = trace(call, in_tree, in_avals, static_grid)
  for line in traced.input_writes:
    warnings.warn(
      f"{line} Later grid steps see what it writes, the caller does not. Write to an output or scratch ref, or alias the input to an "
      "output with input_output_aliases.",
      errors.InputWriteWarning,
      stacklevel=4,
    )
  captured = [c[...] if isinstance(_jax.core.typeof(c), AbstractRef) else c for c in traced.consts]
  operands = _jax.vary_together([*flat_args, *captured])
  kernel = traced.kernel if (form := _on_hopper.get()) is None else traced.kernel.replace(on_hopper=form)
  out = pallas_call_p.bind(*bounds, *operands, **kernel_params(kernel))
  for ref, result in traced.stored:
    traced.consts[ref][...] = out[result]
  return jax.tree.unflatten(traced.out_tree, out[: traced.out_tree.num_leaves])  # the rest is state of the call


def is_jax_value(x: Any) -> bool:
  try:
    _jax.core.typeof(x)
  except TypeError:
    return False
  return not isinstance(x, bool | int | float | complex)


def _as_array(x: Any, args: Any) -> Any:
  try:
    return jnp.asarray(x)
  except TypeError as e:
    paths = jax.tree_util.tree_flatten_with_path(args)[0]
    path = next((jax.tree_util.keystr(p) for p, own in paths if own is x), "")
    if isinstance(x, np.ndarray):
      raise errors.KernelTypeError(
        f"pallas_call: args{path} is a NumPy array of dtype {x.dtype} and shape {x.shape}, and JAX has no such dtype. Convert it, as in "
        "x.astype(np.float32)."
      ) from e
    raise errors.KernelTypeError(
      f"pallas_call: args{path} must be an array, got {x!r} of type {type(x).__name__}. Give other things to the kernel with "
      "functools.partial."
    ) from e


def _split_grid(grid: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
  """The dynamic grid bounds as operands, and the grid with None in place of each."""
  bounds: list[Any] = []
  static: list[Any] = []
  for axis, size in enumerate(grid):
    if isinstance(size, bool | float):
      raise errors.GridError(f"Grid must be a tuple of integers or jax.Array, got {tuple(grid)}: see dimension {axis}.")
    if hasattr(size, "__index__") and not isinstance(size, jax.Array | _jax.core.Tracer):
      size = int(size)
    if isinstance(size, int):
      if size < 0:
        raise errors.GridError(f"grid: dimension {axis} is {size}; sizes must not be negative.")
      static.append(size)
    elif hasattr(size, "scope"):  # a symbolic dimension of jax.export
      static.append(size)
    else:
      try:
        bound = jnp.asarray(size)
      except TypeError as e:
        raise errors.GridError(
          f"Grid must be a tuple of integers or jax.Array, got {tuple(grid)}: see dimension {axis}."
        ) from e
      if bound.shape != () or not jnp.issubdtype(bound.dtype, jnp.integer):
        raise errors.GridError(
          f"grid: dimension {axis} must be an integer scalar, got {bound.dtype}{list(bound.shape)}."
        )
      bounds.append(bound.astype(jnp.int32))
      static.append(None)
  return bounds, tuple(static)


def kernel_params(kernel: Kernel) -> dict[str, Any]:
  return {f.name: getattr(kernel, f.name) for f in dataclasses.fields(kernel)}


# --- the primitive -----------------------------------------------------------------------------------------------


@pallas_call_p.def_effectful_abstract_eval
def _(*avals: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  vary = _jax.varying_axes(avals)
  outs = [a if _jax.varying_axes([a]) else _jax.with_varying_axes(a, vary) for a in kernel.out_avals]
  found: set[Any] = set(effects.call_effects(kernel.jaxpr.effects))
  if effects.declares_side_effects(kernel.compiler_params):
    found.add(effects.side_effect)
  return outs, found


def check_as_traced(primitive: Any) -> None:
  """Make JAX's jaxpr checker check kernel jaxprs as they were traced: without varying manual axes (shard_map's vma)."""

  def check(_: Any, *operands: Any, **params: Any) -> Any:
    with _jax.config._check_vma(False):
      for body in _jax.core.jaxprs_in_params(params):
        _jax.core.check_jaxpr(body)
    return primitive.abstract_eval(*(x.aval for x in operands), **params)

  _jax.core.custom_typechecks[primitive] = check


check_as_traced(pallas_call_p)


def apply_eagerly(primitive: Any, *operands: Any, **params: Any) -> Any:
  """A call outside `jit`. An error that stops an interpreted kernel is raised unwrapped."""
  if not params["interpret"]:
    return _jax.dispatch.apply_primitive(primitive, *operands, **params)
  with targets.own_errors():
    return jax.block_until_ready(_jax.dispatch.apply_primitive(primitive, *operands, **params))


pallas_call_p.def_impl(functools.partial(apply_eagerly, pallas_call_p))


def _run(run: Callable[..., list[Any]], *operands: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  metadata = {"kernel_metadata": json.dumps(dict(kernel.metadata))} if kernel.metadata else {}
  if kernel.cost_estimate is not None:  # for schedulers: `tilewright.hlo.cost` reads it
    metadata["cost_estimate"] = kernel.cost_estimate.to_json().decode()
  with jax.named_scope(kernel.name), set_xla_metadata(**metadata), _jax.config._check_vma(False):
    return run(kernel, *map(without_varying_axes, operands))


_lower_run = lower_unchecked(functools.partial(_run, targets.run))
_lower_native = {
  platform: lower_unchecked(functools.partial(_run, functools.partial(targets.run_native, platform)))
  for platform in targets.NATIVE
}


def _lower(ctx: Any, *operands: Any, **params: Any) -> Any:
  module = ctx.module_context
  exporting = module.lowering_parameters.for_export
  platform = targets.native_platform(Kernel(**params), module.platforms, for_export=exporting)
  with _jax.only_device_axes(module):
    if platform is None:
      return _lower_run(ctx, *operands, **params)
    if jax.process_count() > 1:
      _lower_each_call()
    with calling.keeping(module):
      return _lower_native[platform](ctx, *operands, **params)


@functools.cache
def _lower_each_call() -> None:
  """From now on JAX lowers equal calls one by one, not once as a shared function: processes identify the calls of a program by number."""
  _jax.mlir.register_lowering(pallas_call_p, _lower, cacheable=False)


_jax.mlir.register_lowering(pallas_call_p, _lower)


def _dce(used_outputs: Sequence[bool], eqn: Any) -> tuple[list[bool], Any]:
  if not any(used_outputs) and not _jax.pe.has_effects(eqn):
    return [False] * len(eqn.invars), None
  kernel = Kernel(**eqn.params)
  if all(used_outputs) or effects.said_side_effects(kernel.compiler_params) is not effects.SideEffects.PURE:
    return [True] * len(eqn.invars), eqn
  aliased = {out for _, out in kernel.input_output_aliases}
  used = [u or i in aliased for i, u in enumerate(used_outputs)]
  return [True] * len(eqn.invars), eqn.replace(params=kernel_params(eliminate_dead_code(kernel, used)))


_jax.pe.dce_rules[pallas_call_p] = _dce
