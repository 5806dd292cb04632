"""Every import from JAX's private modules, one line each with its reason.

Works with jax 0.10.2 and 0.11.x. Nothing else in the package imports `jax._src` or `jaxlib`.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import jax
from jax._src import ad_checkpoint  # remat_p
from jax._src import ad_util  # symbolic zeros
from jax._src import api_util  # debug_info: names and source lines of a traced function
from jax._src import blocked_sampler  # sample_block: random values that do not depend on blocking
from jax._src import cache_key  # custom_hook: what else the key of the persistent compilation cache depends on
from jax._src import callback  # emit_python_callback: a callback whose operands stay NumPy arrays
from jax._src import compilation_cache  # put_executable_and_time: executables that must not be kept
from jax._src import checkify  # rules that turn failed checks into values
from jax._src import config  # options that are part of jit's cache key
from jax._src import core  # Jaxpr, Primitive, avals, Ref, axis environment
from jax._src import custom_derivatives  # custom_jvp_call_p, custom_vjp_call_p
from jax._src import debugging  # debug_print_p and the effects of jax.debug: a kernel that prints stays
from jax._src import dispatch  # apply_primitive: an eager call compiles once per parameters
from jax._src import distributed  # global_state: the key-value store of jax.distributed
from jax._src import dtypes  # ExtendedDType, the base of semaphore types
from jax._src.frozen_dict import FrozenDict  # the metadata of a kernel: a dict that can be a parameter of an equation
from jax._src import effects  # sets of effects that control flow, remat and lowering accept
from jax._src import hijax  # types and primitives of users
from jax._src import linear_util as lu  # WrappedFun, what the tracers take
from jax._src import pjit  # jit_p
from jax._src import tree_util  # the registry in which transformed refs are nodes
from jax._src import source_info_util  # the user's file and line of an equation
from jax._src.interpreters import ad  # tables of differentiation rules
from jax._src.interpreters import batching  # tables of vmap rules
from jax._src.interpreters import mlir  # tables of lowering rules
from jax._src.interpreters import partial_eval as pe  # tracing, dead-code elimination, hijax lowering
from jax._src.interpreters import pxla  # MeshComputation: a lowered program keeps what it was compiled to
from jax._src.lax import special  # the formulas of special functions that XLA has no op for
from jax._src.lax.control_flow import conditionals  # cond_p
from jax._src.lax.control_flow import loops  # scan_p, while_p
from jax._src.lax.eval_jaxpr import eval_jaxpr_p  # an inlined call, which custom rules leave behind
from jax._src.lax.lax import (
  _ragged_dot_general_impl as ragged_dot_general_impl,
)  # a grouped contraction in terms of others
from jax._src.lax.parallel import axis_index_p  # axis_index over a named grid dimension
from jax._src import lib  # cuda_versions, which programs ask for the version of CUDA
from jax._src.lib import xla_client  # make_cpu_client: a client that computes in the calling thread
from jax._src.random import prng  # random_wrap: bits to keys of any implementation, registered or not
from jax._src.state import discharge  # rules that turn ref effects into values outside kernels
from jax._src.state import indexing  # NDIndexer, Slice, ds
from jax._src.state import primitives as state_primitives  # get, swap, addupdate
from jax._src.state import types as state_types  # AbstractRef, TransformedRef, effects, ref transforms
from jax._src.state import utils as state_utils  # bitcast of a ref's value

# The base class of user-defined primitives was renamed in jax 0.11.
UserPrimitive: Any = hijax.VJPHiPrimitive if hasattr(hijax, "VJPHiPrimitive") else hijax.HiPrim
Slice, ds, dslice = indexing.Slice, indexing.ds, indexing.dslice
JAX_VERSION: tuple[int, ...] = jax.__version_info__

# The line JAX reports for an equation is the user's, not one of this package.
_PACKAGE = str(pathlib.Path(__file__).parents[1]) + os.sep
source_info_util.register_exclusion(_PACKAGE)
_LIBRARY = tuple(_PACKAGE + folder + os.sep for folder in ("collectives", "numerics", "ops"))


def trace(fun: Any, in_avals: Any, debug_info: Any = None, *, what: str = "kernel") -> Any:
  """Trace `fun(*tracers) -> sequence of leaves` to a closed jaxpr."""
  info = debug_info or api_util.debug_info(what, fun, tuple(in_avals), {})
  jaxpr, _, consts = pe.trace_to_jaxpr_dynamic(lu.wrap_init(fun, debug_info=info), tuple(in_avals))
  return core.ClosedJaxpr(jaxpr, tuple(consts))


def open_jaxpr(jaxpr: Any) -> tuple[Any, tuple[Any, ...]]:
  """The bare jaxpr and its constants, whichever of the two forms JAX passes."""
  if isinstance(jaxpr, core.ClosedJaxpr):
    return jaxpr.jaxpr, tuple(jaxpr.consts)
  return jaxpr, ()


def detach(closed: Any) -> tuple[Any, tuple[Any, ...]]:
  """A jaxpr that takes what were its constants as its first inputs, and those constants."""
  jaxpr, consts = open_jaxpr(closed)
  return pe.convert_constvars_jaxpr(jaxpr), consts


def flatten(x: Any) -> tuple[list[Any], Any]:
  """Like `jax.tree.flatten`, but a transformed ref is a node: its ref and its indices are leaves."""
  return tree_util.tracing_registry.flatten(x)


def unflatten(tree: Any, leaves: Any) -> Any:
  return tree.unflatten(leaves)


def scan_counts(params: Any) -> tuple[int, int]:
  """How many of a scan's operands are constants, and how many are carried."""
  if JAX_VERSION < (0, 11):
    return params["num_consts"], params["num_carry"]
  consts, carry, _ = params["ft_in"].unpack()
  return len(consts), len(carry)


def zero_tangent(x: Any) -> Any:
  """The symbolic zero that is the tangent of a value nothing depends on differentiably."""
  return ad_util.p2tz(x)


def varying_axes(avals: Any) -> frozenset[Any]:
  """The manual mesh axes along which any of the values differs between devices (empty outside of shard_map)."""
  found: frozenset[Any] = frozenset()
  for aval in avals:
    mat = getattr(aval, "manual_axis_type", None)
    found |= frozenset(getattr(mat, "varying", ()) or ())
  return found


def with_varying_axes(aval: Any, axes: Any) -> Any:
  """The array type with these varying manual mesh axes."""
  if not axes or not isinstance(aval, core.ShapedArray):
    return aval
  spec = jax.sharding.PartitionSpec(*(None,) * aval.ndim)
  sharding = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), spec)
  return aval.update(sharding=sharding, manual_axis_type=core.ManualAxisType(varying=frozenset(axes)))


def vary_together(args: Any) -> list[Any]:
  """The values, all varying along the mesh axes along which any of them does, so that derivatives sum over the others."""
  own = [varying_axes([core.typeof(x)]) for x in args]
  every = frozenset().union(*own)
  return [jax.lax.pcast(x, tuple(every - axes), to="varying") if every - axes else x for x, axes in zip(args, own)]


def discharge_rule(primitive: Any) -> Any:
  """Register `rule(*args, **params) -> (new values of refs, outputs)`: how JAX turns the primitive's refs into values."""

  def add(rule: Any) -> Any:
    if JAX_VERSION < (0, 11):
      discharge.register_discharge_rule(primitive)(
        lambda in_avals, out_avals, /, *args, **params: rule(*args, **params)
      )
    else:
      discharge.register_discharge_rule(primitive)(lambda ctx, /, *args, **params: rule(*args, **params))
    return rule

  return add


def register_ref_type(kind: type, first_value: Any) -> None:
  """Let `run_state` take values of a class: `first_value(x)` is the type of a ref and what it holds first."""
  state_types._ref_type_aval_mappings[kind] = first_value


def checkify_rule(primitive: Any) -> Any:
  """Register `expand(*args, **params) -> closed jaxpr`: what checkify looks into in place of the primitive."""

  def add(expand: Any) -> Any:
    def rule(*args: Any, **params: Any) -> Any:
      *ctx, error, enabled = args[: 2 if JAX_VERSION < (0, 11) else 3]
      operands = args[len(ctx) + 2 :]
      return checkify.checkify_jaxpr(*ctx, expand(*operands, **params), enabled, error, *operands)

    checkify.error_checks[primitive] = rule
    return expand

  return add


def linearization(outs: Any, nonzeros: Any, residuals: Any, linear: Any) -> tuple[Any, ...]:
  """What a linearisation rule returns: jax 0.11 has a place for structured residuals in the middle."""
  return (outs, nonzeros, residuals, linear) if JAX_VERSION < (0, 11) else (outs, nonzeros, residuals, None, linear)


def is_about_indexing(error: BaseException) -> bool:
  """Whether an error was raised where JAX turns `ref[...]` into indices."""
  here = str(pathlib.Path(indexing.__file__).parent) + os.sep
  at = error.__traceback__
  while at is not None and not at.tb_frame.f_code.co_filename.startswith(here):
    at = at.tb_next
  return at is not None


def is_user_file(name: str) -> bool:
  """Whether a file is the user's own: not one of this package, of JAX or of Python, nor what dataclasses generate."""
  return source_info_util.is_user_filename(name) and not name.startswith(("<string>", "<frozen"))


def innermost_line(source_info: Any) -> str:
  """The line of an equation as `source_info_util.summarize` gives it, in one of our library kernels if it is from there."""
  codes, instructions = source_info.traceback.raw_frames() if source_info.traceback else ([], [])
  for code, instruction in zip(codes, instructions):
    if code.co_filename.startswith(_LIBRARY) or is_user_file(code.co_filename):
      frame = source_info_util.raw_frame_to_frame(code, instruction)
      return f"{frame.file_name}:{frame.start_line}:{frame.start_column} ({frame.function_name})"
  return ""


def is_in_jax_pallas(error: BaseException) -> bool:
  """Whether an error was raised in `jax.experimental.pallas`."""
  at, found = error.__traceback__, False
  while at is not None:
    name = at.tb_frame.f_code.co_filename.replace(os.sep, "/")
    found = "/jax/_src/pallas/" in name or (found and not is_user_file(name))
    at = at.tb_next
  return found


def user_line(error: BaseException) -> str:
  """The innermost line of the user's own code that an error passed through."""
  at, found = error.__traceback__, "an unknown line"
  while at is not None:
    name = at.tb_frame.f_code.co_filename
    if is_user_file(name):
      found = f"{name}:{at.tb_lineno}"
    at = at.tb_next
  return found


def is_raised_by_user(error: BaseException) -> bool:
  """Whether the user's own code raised an error, or Python called from it. (JAX removes its own frames from tracebacks, with a note.)"""
  at = error.__traceback__
  while at is not None and at.tb_next is not None:
    at = at.tb_next
  if at is None or any("JAX has removed" in note for note in getattr(error, "__notes__", ())):
    return False
  return source_info_util.is_user_filename(at.tb_frame.f_code.co_filename)


def is_alive(x: Any) -> bool:
  """Whether a value may be used where this is called: it is not a tracer, or its trace is still active."""
  trace = core.trace_ctx.trace
  while isinstance(x, core.Tracer) and trace is not None:
    if x._trace is trace:
      return True
    trace = getattr(trace, "parent_trace", None)
  return not isinstance(x, core.Tracer)


def trace_context() -> Any:
  """Everything in JAX's configuration that a traced jaxpr depends on."""
  return config.trace_context()


@contextlib.contextmanager
def only_device_axes(module: Any) -> Iterator[None]:
  """While a program is lowered: without named axes that are not of its mesh of devices, such as that of a vmap around an eager call."""
  known = set(getattr(getattr(module.axis_context, "mesh", None), "axis_names", ()))
  before = core.trace_ctx.axis_env
  env = before
  for name in before.axis_sizes:
    if isinstance(name, str) and name not in known:
      env = env.pop_pure(name)
  core.trace_ctx.set_axis_env(env)
  try:
    yield
  finally:
    core.trace_ctx.set_axis_env(before)


def stablehlo_to_hlo(program: bytes) -> bytes:
  """A serialised HloModuleProto from StableHLO, as MLIR text or bytecode."""
  from jaxlib import _jax as native  # converts between the two; nothing public does

  try:
    found = native.mlir.mlir_module_to_xla_computation(program, use_tuple_args=False, return_tuple=False)
  except native.JaxRuntimeError:
    text = native.mlir.deserialize_portable_artifact(program)  # what jax.export writes
    found = native.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)
  return bytes(found.as_serialized_hlo_module_proto())


def xla_hlo() -> Any:
  """XLA's own HLO reader and printer: the oracle of tests and a check in the hook. May abort on malformed text."""
  from jaxlib import _hlo  # parses, prints and serialises HLO; nothing public does

  return _hlo
