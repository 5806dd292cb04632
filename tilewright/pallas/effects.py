"""Effects of kernels, and what JAX may do around them.

Reads and writes of refs are JAX's own effects. The effects here mark equations with other side effects. Such an equation is kept, keeps its
order inside loops, and is not duplicated: running it twice, or never, would be observable.

| effect      | who has it                              | loops | remat | custom derivatives |
|-------------|-----------------------------------------|-------|-------|--------------------|
| Semaphore   | semaphore_signal, semaphore_wait        | yes   | no    | yes                |
| Comms       | copies to and signals of other devices  | yes   | calls | yes                |
| Prng        | prng_seed, prng_random_bits             | yes   | no    | yes                |
| Delay       | delay                                   | yes   | yes   | yes                |
| Debug       | debug_print, debug_check                | yes   | yes   | yes                |
| Global      | get_global, get_barrier_semaphore       | yes   | no    | yes                |
| SideEffect  | a whole call that must not be removed   | yes   | no    | yes                |

A custom derivative runs in place of its function under differentiation; the user is responsible for its effects. `jax.checkpoint` may
rerun a whole call that communicates, because every device reruns it; it may not rerun parts of a kernel.
Where the table has "no", JAX rejects the transformation with an error that names the effect.
"""

from __future__ import annotations

import enum

import numpy as np

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel


class KernelEffect(_jax.effects.Effect):
  """Base of the effects that kernels have besides reads and writes."""

  def __str__(self) -> str:
    return type(self).__name__.removesuffix("Effect")

  __repr__ = __str__

  def __eq__(self, other: object) -> bool:
    return type(self) is type(other)

  def __hash__(self) -> int:
    return hash(type(self))


class SemaphoreEffect(KernelEffect): ...


class CommsEffect(KernelEffect): ...


class PrngEffect(KernelEffect): ...


class DelayEffect(KernelEffect): ...


class DebugEffect(KernelEffect): ...


class GlobalEffect(KernelEffect): ...


class SideEffect(KernelEffect): ...


semaphore_effect = SemaphoreEffect()
comms_effect = CommsEffect()
prng_effect = PrngEffect()
delay_effect = DelayEffect()
debug_effect = DebugEffect()
global_effect = GlobalEffect()
side_effect = SideEffect()

_jax.effects.control_flow_allowed_effects.add_type(KernelEffect)
_jax.effects.lowerable_effects.add_type(KernelEffect)
_jax.effects.custom_derivatives_allowed_effects.add_type(KernelEffect)
for _repeatable in (DelayEffect, DebugEffect, CommsEffect):
  _jax.effects.remat_allowed_effects.add_type(_repeatable)

SAFE_TO_REPEAT = frozenset({delay_effect, debug_effect})

# The effects of a body that its call has too: they are observable outside the kernel.
_VISIBLE_OUTSIDE = (CommsEffect, DebugEffect)
_JAX_DEBUG = (_jax.debugging.DebugEffect, _jax.debugging.OrderedDebugEffect)  # of jax.debug.print in a body


def call_effects(body_effects: object) -> set[KernelEffect]:
  """The effects of a kernel call, given those of its body."""
  seen = {debug_effect if isinstance(e, _JAX_DEBUG) else e for e in body_effects}  # type: ignore[attr-defined]
  return {e for e in seen if isinstance(e, _VISIBLE_OUTSIDE)}


class SideEffects(enum.Enum):
  """The user's declaration for a whole call. Equal pure calls may be merged (CSE). A call whose side effects follow the dataflow is never
  merged with an equal one, but is dead if its outputs are unused. A call with side effects is never removed."""

  PURE = "pure"
  DATAFLOW_SIDE_EFFECTING = "dataflow_side_effecting"
  SIDE_EFFECTING = "side_effecting"


def said_side_effects(compiler_params: object) -> SideEffects:
  declared = getattr(compiler_params, "has_side_effects", False)
  if isinstance(declared, bool | np.bool_):
    return SideEffects.SIDE_EFFECTING if declared else SideEffects.PURE
  found = next((e for e in SideEffects if isinstance(declared, enum.Enum) and declared.value == e.value), None)
  if found is None:
    raise errors.SideEffectError(
      f"Invalid side effect type: {declared!r}. compiler_params: has_side_effects must be True, False or a pltpu.SideEffectType."
    )
  return found


def declares_side_effects(compiler_params: object) -> bool:
  """Whether the user declares that a call must be kept even if its outputs are unused."""
  return said_side_effects(compiler_params) is SideEffects.SIDE_EFFECTING


def has_side_effects(kernel: Kernel) -> bool:
  """Whether a call must not be merged with an equal one."""
  return said_side_effects(kernel.compiler_params) is not SideEffects.PURE or bool(call_effects(kernel.jaxpr.effects))


def is_removable(kernel: Kernel) -> bool:
  """Whether a call may be removed if its outputs are unused."""
  return not declares_side_effects(kernel.compiler_params) and not call_effects(kernel.jaxpr.effects)
