"""Rules for ops with side effects: semaphores, printing, checks, delays, refs that outlive an instance.

Instances and cores of a native kernel that share a semaphore run sequentially. So a wait for a count that has not been signalled by then
can never end: it fails at run time, with the kernel's name and the user's line, instead of hanging.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright.pallas.lowering.memory import leaves
from tilewright.pallas.lowering.table import Context, rule
from tilewright.pallas.lowering.views import NDIndexer, Slice, refused, wrapped
from tilewright.pallas.semaphores import DeviceIdType
from tilewright.pallas.tpu.barrier import barrier_key, check_collective_id
from tilewright.runtime import _jax
from tilewright.tile.ir import Value
from tilewright.tile.types import SemaphoreArrayType

# Primitives whose rule raises a specific error, better than the generic error for a missing rule.
REFUSED = frozenset({"check", "custom_lin", "elementwise_inline_asm", "inline_mgpu", "side_by_side"})

_SIMULATOR = "where they must run side by side, use interpret=pltpu.InterpretParams()."


# --- semaphores --------------------------------------------------------------------------------------------------


def semaphore_index(
  ctx: Context, view: Any, *, checked: bool = True, core: Value | None = None
) -> tuple[Value, list[Value]]:
  """The semaphore array of a view, and the index of the semaphore it denotes, on this core or another one; with `checked`, bounds are
  checked."""
  base: Any = view
  transforms: list[Any] = []
  while not isinstance(base, Value):
    transforms[:0] = base.transforms
    base = base.ref
  assert isinstance(base.type, SemaphoreArrayType)
  shape = base.type.shape
  # For each dimension, where the view begins, how far apart its elements are, and how many there are, unless an index has taken one.
  starts, steps, sizes = [ctx.constant(0, np.int32) for _ in shape], [1] * len(shape), [*shape]
  taken: set[int] = set()
  cores = ctx.builder.cores
  if of_cores := cores is not None and base in cores.wholes:
    starts[0] = cores.own if core is None else cores.number(ctx, core)
    taken.add(0)
  for transform in transforms:
    if not isinstance(transform, NDIndexer):
      raise refused(f"A semaphore transformed other than by an index, at {ctx.builder.loc},")
    left = [d for d in range(len(shape)) if d not in taken]
    for d, index in zip(left, transform.indices, strict=True):
      is_slice = isinstance(index, Slice)
      at = as_int32(ctx, index.start if is_slice else wrapped(ctx, index, sizes[d]))
      starts[d] = ctx.emit("add", starts[d], ctx.emit("mul", at, ctx.constant(steps[d], np.int32)))
      if is_slice:
        steps[d], sizes[d] = steps[d] * index.stride, int(index.size)
      else:
        taken.add(d)
  for start, size in [*zip(starts, shape)][int(of_cores) :] if checked else ():
    for condition in (
      ctx.emit("ge", start, ctx.constant(0, np.int32)),
      ctx.emit("lt", start, ctx.constant(size, np.int32)),
    ):
      ctx.check(condition, f"OutOfBoundsError: There is no semaphore at the index used at {ctx.where}.")
  return base, starts


def signal(ctx: Context, view: Any, amount: Value, core: Value | None = None, device: Value | None = None) -> None:
  semaphore, index = semaphore_index(ctx, view, core=core)
  if device is not None:
    semaphore = ctx.emit("remote", semaphore, device, where=ctx.where)
  ctx.builder.emit_all("signal", [semaphore, amount, *index])


def wait(ctx: Context, view: Any, amount: Value, *, decrement: bool = True) -> None:
  semaphore, index = semaphore_index(ctx, view)
  message = (
    f"DeadlockError: The wait at {ctx.where} can never end: nothing has signalled the semaphore often enough by then. Start the copy, or "
    f"signal, before the wait. A native kernel runs instances and cores one after another; {_SIMULATOR}"
  )
  ctx.builder.emit_all("wait", [semaphore, amount, *index], decrement=decrement, message=message)


def device_number(ctx: Context, device_id: Any, kind: DeviceIdType) -> Value | None:
  """The index of a device in row-major order of the mesh; None for this one. Coordinates out of range fail the call."""
  if device_id is None:
    return None
  if not ctx.builder.mesh:
    raise errors.NativeCodeError(
      f"The primitive '{ctx.eqn.primitive}' at {ctx.builder.loc} communicates with another device, which cannot be compiled to "
      "native GPU code "
      "yet. Pass interpret=True to run this kernel through the portable lowering."
    )
  mesh, own = ctx.builder.mesh, ctx.builder.device_axes
  if kind is DeviceIdType.LOGICAL:
    (number,) = device_id if isinstance(device_id, tuple) else (device_id,)
    return as_int32(ctx, number)
  if isinstance(device_id, Mapping):
    unknown = [axis for axis in device_id if axis not in mesh]
    if unknown:
      raise errors.GridError(
        f"{ctx.builder.loc}: device_id names the mesh axes {unknown}, but the mesh has {list(mesh)}."
      )
    given = {axis: device_id.get(axis) for axis in mesh}
  else:
    coordinates = device_id if isinstance(device_id, tuple) else (device_id,)
    if len(coordinates) != len(mesh):
      raise errors.GridError(
        f"{ctx.builder.loc}: device_id has {len(coordinates)} coordinates but the mesh has the axes {list(mesh)}; give one for each, a "
        "dict for some, or use DeviceIdType.LOGICAL."
      )
    given = dict(zip(mesh, coordinates))
  result = ctx.constant(0, np.int32)
  for axis, coordinate in given.items():
    size = ctx.constant(mesh[axis], np.int32)
    if coordinate is None:
      at = ctx.emit("load", own[axis])
    else:
      at = as_int32(ctx, coordinate)
      for holds in (ctx.emit("ge", at, ctx.constant(0, np.int32)), ctx.emit("lt", at, size)):
        message = (
          f"GridError: The device_id used at {ctx.where} is outside of the mesh axis {axis!r} of size {mesh[axis]}."
        )
        ctx.check(holds, message)
    result = ctx.emit("add", ctx.emit("mul", result, size), at)
  return result


def as_int32(ctx: Context, x: Any) -> Value:
  if isinstance(x, int):
    return ctx.constant(x, np.int32)
  return x if x.tile.dtype == np.int32 else ctx.emit("convert", x, dtype=np.dtype(np.int32))


@rule("semaphore_signal")
def _signal(ctx: Context, *flat: Value, tree: Any, device_id_type: Any) -> list[Value]:
  view, amount, device_id, core = leaves(tree, flat)
  device = device_number(ctx, device_id, device_id_type)
  check_own_core(ctx, core)
  signal(ctx, view, as_int32(ctx, amount), None if core is None else as_int32(ctx, core), device)
  return []


def check_own_core(ctx: Context, core: Any) -> None:
  """Where a kernel runs on one core, there is no other."""
  if core is not None and ctx.builder.cores is None:
    message = f"GridError: The {ctx.eqn.primitive} at {ctx.where} is for another core, but the kernel runs on one."
    ctx.check(ctx.emit("eq", as_int32(ctx, core), ctx.constant(0, np.int32)), message)


@rule("remote_ref")
def _remote_ref(ctx: Context, ref: Value, *flat: Value, tree: Any, device_id_type: DeviceIdType) -> Value:
  device = device_number(ctx, _jax.unflatten(tree, flat), device_id_type)
  assert device is not None
  return ctx.emit("remote", ref, device, where=ctx.where)


@rule("semaphore_wait")
def _wait(ctx: Context, *flat: Value, tree: Any, decrement: bool) -> list[Value]:
  view, amount = leaves(tree, flat)
  wait(ctx, view, as_int32(ctx, amount), decrement=decrement)
  return []


@rule("semaphore_read")
def _read(ctx: Context, *flat: Value, tree: Any) -> Value:
  semaphore, index = semaphore_index(ctx, leaves(tree, flat))
  return ctx.emit("read_semaphore", semaphore, *index)


@rule("concurrent_cores")
def _concurrent_cores(ctx: Context, *, num_cores: int) -> list[Value]:
  return []  # they run concurrently


# --- refs that outlive an instance -------------------------------------------------------------------------------


@rule("get_global")
def _get_global(ctx: Context, *, aval: Any, key: Any) -> Value:
  return ctx.builder.globals[key]


@rule("get_barrier_semaphore")
def _get_barrier_semaphore(ctx: Context, *, tag: Any) -> Value:
  check_collective_id(ctx.builder.kernel, tag, ctx.eqn)
  return ctx.builder.globals[barrier_key(tag)]


# --- the world ---------------------------------------------------------------------------------------------------


@rule("pallas_debug_print")
def _debug_print(ctx: Context, *args: Value, fmt: str, has_placeholders: bool) -> list[Value]:
  if not has_placeholders:
    fmt = fmt.replace("{", "{{").replace("}", "}}") + " {}" * len(args)
  ctx.builder.emit_all("print", args, fmt=fmt)
  return []


@rule("print_layout")
def _print_layout(ctx: Context, x: Value, *, fmt: str) -> list[Value]:
  ctx.builder.emit_all("print_layout", [x], fmt=fmt)
  return []


@rule("debug_print")
def _jax_debug_print(
  ctx: Context, *args: Value, fmt: str, in_tree: Any, static_args: Any, has_placeholders: bool, **_: Any
) -> list[Value]:
  """`jax.debug.print`: its fields become the numbers of arrays, and what is no array becomes part of the text."""
  values, static = iter(range(len(args))), dict(static_args)
  flat = [static[n] if n in static else _Printed(next(values)) for n in range(in_tree.num_leaves)]
  positional, by_name = jax.tree.unflatten(in_tree, flat)
  if not has_placeholders:
    fmt = fmt.replace("{", "{{").replace("}", "}}") + " {}" * len(positional)
  unnamed = itertools.count()
  template = ""
  for text, field, spec, conversion in string.Formatter().parse(fmt):
    template += text.replace("{", "{{").replace("}", "}}")
    if field is None:
      continue
    name, rest = re.fullmatch(r"([^.\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore[union-attr]
    shown = by_name[name] if name in by_name else positional[int(name) if name else next(unnamed)]
    how = rest + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    if isinstance(shown, _Printed):
      template += f"{{{shown.number}{how}}}"
    elif any(isinstance(leaf, _Printed) for leaf in jax.tree.leaves(shown)):
      raise errors.NativeCodeError(
        f"The jax.debug.print at {ctx.builder.loc} prints a tree of arrays, which native code cannot yet. Print each array, or pass "
        "interpret=True."
      )
    else:
      template += f"{{0{how}}}".format(shown).replace("{", "{{").replace("}", "}}")
  ctx.builder.emit_all("print", args, fmt=template)
  return []


@dataclasses.dataclass(frozen=True)
class _Printed:
  """Stands for an array that is printed."""

  number: int


@rule("pallas_debug_check")
def _debug_check(ctx: Context, condition: Value, *, message: str) -> list[Value]:
  text = f"DebugCheckError: debug_check failed: {message} (at {ctx.builder.loc})"
  (ctx.check_all if condition.tile.shape else ctx.check)(condition, text)
  return []


@rule("delay")
def _delay(ctx: Context, nanoseconds: Value) -> list[Value]:
  ctx.builder.emit_all("delay", [nanoseconds])
  return []


@rule("touch")
def _nothing(ctx: Context, *flat: Value, **_: Any) -> Sequence[Value]:
  return []


@rule("debug_barrier")
def _barrier(ctx: Context) -> Sequence[Value]:
  if ctx.builder.for_gpu:  # elsewhere an instance is one thread, whose memory accesses are in program order
    ctx.builder.emit_all("barrier", [])
  return []


@rule("check")
def _checkify_check(ctx: Context, *_: Value, **__: Any) -> list[Value]:
  raise errors.CheckifyError(
    f"Cannot abstractly evaluate a checkify.check which was not functionalized, at {ctx.builder.loc}: call the kernel inside a "
    "function transformed by jax.experimental.checkify.checkify, or use pl.debug_check."
  )


@rule("custom_lin")
def _custom_vjp_forward(ctx: Context, *_: Value, **__: Any) -> list[Value]:
  raise errors.KernelTypeError(
    f"can't apply forward-mode autodiff (jvp) to a custom_vjp function: see {ctx.builder.loc}. Use jax.custom_jvp there, or take a "
    "reverse derivative."
  )


@rule("elementwise_inline_asm")
def _inline_asm(
  ctx: Context, *args: Value, asm: str, constraints: str, pack: int, result_shape_dtypes: Any
) -> list[Value]:
  if ctx.builder.for_gpu:
    (shape,) = {tuple(r.shape) for r in result_shape_dtypes}
    dtypes = tuple(np.dtype(r.dtype) for r in result_shape_dtypes)
    return ctx.builder.emit_all(
      "inline_asm", args, text=asm, constraints=constraints, pack=pack, shape=shape, dtypes=dtypes
    )
  raise errors.UnsupportedFeatureError(
    f"elementwise_inline_asm: the CPU cannot run GPU assembly ({asm.splitlines()[0]!r}). Write the operation at {ctx.builder.loc} with "
    "jax.numpy, or run the kernel on a GPU target."
  )
