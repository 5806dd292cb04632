"""From a kernel in a JAX program to the simulated machine: one call per device.

XLA calls the kernel on each device with the operands as NumPy arrays: on the CPU by `handoff`, which gives an error back without the
traceback of a callback in front of it, elsewhere by a callback. The calls are matched here: a kernel that communicates with other devices
starts when all have arrived and ends when all have finished.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.runtime.named_axes import named_axes
from tilewright.target.simulator import grid, handoff, machine
from tilewright.target.simulator.clocks import Race
from tilewright.target.simulator.evaluate import Program, host
from tilewright.target.simulator.machine import Stopped, World
from tilewright.target.simulator.memory import is_key
from tilewright.tile.grid import Kernel
from tilewright.tile.memory import is_semaphore

# A device that fails in one kernel never arrives at the next. Others who wait there give up after this many seconds if some
# kernel has failed since the last reset, and after many more in any case.
_GIVE_UP_AFTER_FAILURE = 5.0
_GIVE_UP = 600.0

races: list[Race] = []
errors_raised: list[BaseException] = []  # what stopped kernels since the last reset
_failures: list[BaseException] = []  # the same, since devices last met
_turns: list[Gathering] = []  # calls whose devices have all arrived, in the order in which they run
_meeting = threading.Condition()


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
  """Raise what stopped a kernel as it was, instead of the exception into which JAX puts its text."""
  before = tuple(errors_raised)
  try:
    yield
  except jax.errors.JaxRuntimeError:
    new = [error for error in errors_raised if error not in before]
    if not new:
      raise
    raise _as_jax_error(new[0]) from None


def _as_jax_error(error: BaseException) -> BaseException:
  """The error, which those who catch what JAX raises when a program fails catch too."""
  if not isinstance(error, Exception):
    return error
  found = _jax_error_class(type(error))(*error.args)
  found.__dict__.update(error.__dict__)
  return found.with_traceback(error.__traceback__)


def _jax_error_class(kind: type[Exception]) -> type[Exception]:
  own = {"__module__": kind.__module__, "__doc__": kind.__doc__, "__str__": kind.__str__}
  return type(kind.__name__, (kind, jax.errors.JaxRuntimeError), own)


def reset() -> None:
  """Forget semaphores that outlive calls, races found, and failures."""
  machine.forget_persistent()
  races.clear()
  with _meeting:
    failed = bool(errors_raised)
    errors_raised.clear()
    _failures.clear()
    _meeting.notify_all()
  if failed:
    try:
      jax.effects_barrier()
    except Exception:
      _jax.dispatch.runtime_tokens.clear()  # JAX keeps what failed kernels left, and would raise it again at exit


# --- one call on one device --------------------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Gathering:
  """A call that devices are arriving at."""

  world: World
  place: Hashable = None
  arrived: set[int] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(eq=False)
class Launch:
  """A kernel at one place of a program: what XLA calls, on each device."""

  program: Program
  axes: tuple[tuple[Any, int], ...]  # the mesh axes of the devices around it
  communicates: bool
  x64: bool
  operand_avals: tuple[Any, ...]
  out_avals: tuple[Any, ...]
  gatherings: dict[Hashable, list[Gathering]] = dataclasses.field(default_factory=dict)

  def __call__(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    return self.run(None, operands)

  def run(self, place: Hashable, operands: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Run the kernel on one device. The first operand is the name of this call; `place` says which call of it this is."""
    with jax.default_device(host()), jax.enable_x64(self.x64):
      return self._run(place, [np.asarray(x) for x in operands[1:]])

  def _run(self, place: Hashable, operands: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    kernel, mapping = self.program.kernel, self.program.kernel.grid_mapping
    coordinates, rest = ([int(i) for i in operands[0]], operands[1:]) if self.axes else ([], operands)
    bounds, rest = rest[: mapping.num_dynamic_bounds], rest[mapping.num_dynamic_bounds :]
    sizes = [int(d) for d in mapping.with_bounds([int(b) for b in bounds])]
    decoded = [_decode(x, v) for x, v in zip(rest, _operand_avals(kernel))]
    number = int(np.ravel_multi_index(coordinates, [s for _, s in self.axes])) if self.axes else 0
    gathering = self._arrive(place, number)
    world = gathering.world
    try:
      arrays = grid.Operands(
        self.program, world, number, decoded[: mapping.num_prefetch], decoded[mapping.num_prefetch :]
      )
      axes = [(name, size, index) for (name, size), index in zip(self.axes, coordinates)]
      runs = [grid.CoreRun(self.program, core, arrays, sizes, axes) for core in world.cores[number - world.first]]
      self._await_others(gathering, number)
      elements = grid.elements_of(kernel, sizes)
      one_by_one = elements and not self.communicates  # else other devices may be ahead by an element
      for turn, own in enumerate([[element] for element in elements] if one_by_one else [elements]):
        if turn:
          world.begin_anew()
        self._run_cores(world, runs, own)
    except BaseException as error:
      world.fail(error)
      self._close(gathering)
    self._await_end(gathering)
    return tuple(_encode_array(y.array) for y in arrays.outputs)

  def _run_cores(self, world: World, runs: Sequence[grid.CoreRun], elements: Sequence[tuple[int, ...]]) -> None:
    def work(run: grid.CoreRun) -> None:
      try:
        with jax.default_device(host()), jax.enable_x64(self.x64):
          run.run(elements)
      except BaseException as error:
        world.fail(error)
      world.finish(run.core)

    others = [
      threading.Thread(target=work, args=(run,), name=f"tilewright {run.core}", daemon=True) for run in runs[1:]
    ]
    for thread in others:
      thread.start()
    work(runs[0])
    for thread in others:
      thread.join()

  # --- the devices of one call find each other -------------------------------------------------------------------

  def _world(self, num_devices: int, first: int) -> World:
    kernel = self.program.kernel
    on_gpu = any(
      hasattr(mesh, "num_threads") for mesh in kernel.mesh or ()
    )  # there, semaphores begin at zero in each kernel
    return World(
      kernel.name, num_devices, grid.num_cores(kernel), kernel.interpret, races, first, keeps_counts=not on_gpu
    )

  def _arrive(self, place: Hashable, device: int) -> Gathering:
    if not self.communicates:
      return Gathering(self._world(1, device))
    with _meeting:
      known = self.gatherings.setdefault(place, [])
      for gathering in known:
        if device not in gathering.arrived:
          return gathering
      known.append(Gathering(self._world(math.prod(s for _, s in self.axes), 0), place))
      return known[-1]

  def _await_others(self, gathering: Gathering, device: int) -> None:
    """Wait until all devices have their operands in place, so that a copy finds where it goes, and it is their turn.

    XLA may call kernels that do not depend on each other at the same time, and on each device in another order. They run one
    after another, as on hardware: those whose devices are all here first go first.
    """
    if not self.communicates:
      return
    world, start = gathering.world, time.monotonic()
    with _meeting:
      gathering.arrived.add(device)
      if len(gathering.arrived) == world.num_devices:
        self._forget(gathering)
        _failures.clear()
        _turns.append(gathering)
        _meeting.notify_all()
      while len(gathering.arrived) < world.num_devices and world.error is None:
        _meeting.wait(timeout=0.25)
        waited = time.monotonic() - start
        if waited > _GIVE_UP or (_failures and waited > _GIVE_UP_AFTER_FAILURE):
          missing = sorted(set(range(world.num_devices)) - gathering.arrived)
          reason = f" A kernel has failed before: {_failures[0]}" if _failures else ""
          world.fail(
            errors.DeadlockError(
              f"The kernel '{world.name}' accesses other devices, but the devices {missing} have not called it within "
              f"{waited:.0f} seconds. All devices of the mesh must call it.{reason}"
            )
          )
      while world.error is None and _turns[0] is not gathering:
        _meeting.wait()
    if world.error is not None:
      raise Stopped

  def _forget(self, gathering: Gathering) -> None:
    known = self.gatherings.get(gathering.place, [])
    if gathering in known:
      known.remove(gathering)
    if not known:
      self.gatherings.pop(gathering.place, None)

  def _close(self, gathering: Gathering) -> None:
    """Let no more devices join a call that has failed."""
    with _meeting:
      self._forget(gathering)
      _meeting.notify_all()

  def _await_end(self, gathering: Gathering) -> None:
    world = gathering.world
    with world.changed:
      while world.running and world.error is None:
        world.changed.wait()
      error = world.error
    with _meeting:
      if gathering in _turns:
        _turns.remove(gathering)
      if error is not None:
        _failures.append(error)
        errors_raised.append(error)
      _meeting.notify_all()
    if error is not None:
      machine.forget_persistent()  # counts that a kernel left behind halfway are of no use to the next
      raise error


def run_side_by_side(core: machine.Core, bodies: Sequence[Callable[[machine.Core], object]]) -> None:
  """Run the warps of a warpgroup, each in a thread of its own, until all are done."""
  world, x64 = core.world, bool(_jax.config.enable_x64.value)
  warps = world.fork(core, len(bodies))

  def work(warp: machine.Core, body: Callable[[machine.Core], object]) -> None:
    try:
      with jax.default_device(host()), jax.enable_x64(x64):
        body(warp)
    except BaseException as error:
      world.fail(error)
    world.join(core, warp, warps)

  threads = [
    threading.Thread(target=work, args=(warp, body), name=f"tilewright {warp}", daemon=True)
    for warp, body in zip(warps, bodies, strict=True)
  ]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  world.stop_if_failed()


# --- as a primitive of the user's program ------------------------------------------------------------------------

simulate_p = _jax.core.Primitive("simulate")
simulate_p.multiple_results = True
simulate_p.def_abstract_eval(lambda *avals, launch: list(launch.out_avals))


def _lower(ctx: Any, *operands: Any, launch: Launch) -> Any:
  # JAX's own io_callback first puts the operands on a device of the client that is running, which can wait for itself.
  sharding = _jax.callback._callback_op_sharding(ctx.module_context.axis_context, None, ctx.avals_out)
  results, _, _ = _jax.callback.emit_python_callback(
    ctx,
    launch,
    None,
    list(operands),
    ctx.avals_in,
    ctx.avals_out,
    has_side_effect=True,
    returns_token=False,
    sharding=sharding,
  )
  return results


def _lower_on_cpu(ctx: Any, *operands: Any, launch: Launch) -> Any:
  if not launch.communicates and getattr(ctx.module_context.axis_context, "num_devices", None) != 1:
    return _lower(
      ctx, *operands, launch=launch
    )  # XLA may divide the program around it among devices, and asks where this runs
  ctx.module_context.add_keepalive(launch)
  return jax.ffi.ffi_lowering(handoff.register(), has_side_effect=True)(ctx, *operands)


_jax.mlir.register_lowering(simulate_p, _lower)
_jax.mlir.register_lowering(simulate_p, _lower_on_cpu, platform="cpu")


def run(kernel: Kernel, *operands: Any, communicates: bool = True) -> list[Any]:
  """Run a kernel on the simulated machine; `communicates` tells whether it communicates with other devices."""
  axes = tuple(named_axes().items())
  position = [jnp.stack([lax.axis_index(name) for name, _ in axes])] if axes else []
  encoded = [*position, *(_encode(x) for x in operands)]
  name_aval = _jax.core.ShapedArray((4,), np.dtype("uint32"))
  launch = Launch(
    program=Program(kernel),
    axes=axes,
    communicates=communicates and bool(axes),
    x64=bool(_jax.config.enable_x64.value),
    operand_avals=(name_aval, *(_jax.core.ShapedArray(x.shape, x.dtype) for x in encoded)),
    out_avals=tuple(_encoded_aval(a) for a in kernel.out_avals),
  )
  outs = simulate_p.bind(jnp.asarray(handoff.name_call(launch)), *encoded, launch=launch)
  return [_restore(y, aval) for y, aval in zip(outs, kernel.out_avals)]


# --- types that callbacks do not carry ---------------------------------------------------------------------------


def _operand_avals(kernel: Kernel) -> list[Any]:
  mapping = kernel.grid_mapping
  scalars = [v.aval for v in kernel.jaxpr.invars[: mapping.num_prefetch]]
  return [*scalars, *(m.array_aval for m in mapping.input_mappings)]


def _carrier(dtype: Any) -> Any:
  """The dtype in which numbers of less than a byte travel."""
  if isinstance(dtype, np.dtype) and dtype.name in ("int2", "int4", "uint2", "uint4"):
    return np.dtype("int8" if dtype.name.startswith("i") else "uint8")
  if isinstance(dtype, np.dtype) and dtype.name.startswith(("float4_", "float6_")):
    return np.dtype("float32")
  return dtype


def _is_wide(dtype: Any) -> bool:
  """Whether results of this dtype travel as two words: JAX narrows what a callback returns, in a thread without x64."""
  return isinstance(dtype, np.dtype) and dtype.itemsize == 8 and dtype.kind in "iuf"


def _encoded_aval(aval: Any) -> Any:
  if is_key(aval.dtype):
    aval = _jax.core.physical_aval(_jax.core.ShapedArray(aval.shape, aval.dtype))
  if is_semaphore(aval.dtype):
    return _jax.core.ShapedArray(aval.shape, np.dtype("int32"))
  if _is_wide(aval.dtype):
    return _jax.core.ShapedArray((*aval.shape, 2), np.dtype("uint32"))
  return _jax.core.ShapedArray(aval.shape, _carrier(aval.dtype))


def _encode(x: Any) -> Any:
  if is_key(x.dtype):
    return jax.random.key_data(x)
  return x if _carrier(x.dtype) == x.dtype else x.astype(_carrier(x.dtype))


def _restore(y: Any, aval: Any) -> Any:
  if is_key(aval.dtype):
    return _jax.prng.random_wrap(y, impl=aval.dtype._impl)
  if _is_wide(aval.dtype):
    return lax.bitcast_convert_type(y, aval.dtype)
  return y if y.dtype == aval.dtype or is_semaphore(aval.dtype) else y.astype(aval.dtype)


def _decode(x: np.ndarray, aval: Any) -> np.ndarray:
  return x if is_key(aval.dtype) or is_semaphore(aval.dtype) or x.dtype == aval.dtype else x.astype(aval.dtype)


def _encode_array(y: np.ndarray) -> np.ndarray:
  if _is_wide(y.dtype):
    return np.ascontiguousarray(y).view(np.uint32).reshape(*y.shape, 2)
  return y.astype(_carrier(y.dtype)) if _carrier(y.dtype) != y.dtype else y


__all__ = ["Launch", "errors_raised", "own_errors", "races", "reset", "run", "run_side_by_side"]
