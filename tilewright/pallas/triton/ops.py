"""Operations under their Triton names: masked access with cache hints, barriers, inline assembly."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import effects, primitives
from tilewright.pallas.primitives import Primitive, ShapedArray, not_differentiable
from tilewright.target import xla

CUSTOM_CALL_TARGET_NAME = "__gpu$xla.gpu.triton"
_MAX_WARPS = 32  # of a CTA


@dataclasses.dataclass(frozen=True)
class CompilerParams:
  """Parameters of a kernel written for Triton: warps per instance, and stages of software pipelining.

  As in Triton, the instances of such a kernel may run concurrently: they must update shared data with atomic operations.
  """

  num_warps: int | None = None
  num_stages: int | None = None
  grid_is_parallel: ClassVar[bool] = True
  writes_all: ClassVar[bool] = True  # as in Triton, unwritten elements of an output are undefined

  def __post_init__(self) -> None:
    if self.num_warps is not None and self.num_warps not in range(1, _MAX_WARPS + 1):
      raise errors.GridError(f"num_warps: expected a number from 1 to {_MAX_WARPS}, got {self.num_warps!r}.")
    if self.num_stages is not None and (not isinstance(self.num_stages, int) or self.num_stages < 0):
      raise errors.GridError(f"num_stages: expected a positive int, got {self.num_stages!r}.")


def load(
  ref: Any,
  *,
  mask: Any = None,
  other: Any = None,
  cache_modifier: str | None = None,
  eviction_policy: str | None = None,
  volatile: bool = False,
) -> jax.Array:
  """Read a ref, or a view of one made with `.at`; where `mask` is false the result is `other`, else unspecified."""
  return primitives.load(
    ref, mask=mask, other=other, cache_modifier=cache_modifier, eviction_policy=eviction_policy, volatile=volatile
  )


def store(ref: Any, val: Any, *, mask: Any = None, eviction_policy: str | None = None) -> None:
  """Write to a ref, or to a view of one made with `.at`, where `mask` is true."""
  primitives.store(ref, None, val, mask=mask, eviction_policy=eviction_policy)


def approx_tanh(x: jax.Array) -> jax.Array:
  """tanh, for which a target may take what its hardware approximates; so far all give it to the precision of `x`."""
  x = jnp.asarray(x)
  if x.dtype not in (jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64):
    raise errors.KernelTypeError(
      f"approx_tanh does not accept {x.dtype} arrays; expected float16, bfloat16, float32 or float64."
    )
  return jnp.tanh(x)


def max_contiguous(x: Any, values: Any) -> Any:
  """Promise that the first `values` entries of `x` are contiguous. A hint, without effect on the result."""
  return x


debug_barrier_p = Primitive("debug_barrier")
debug_barrier_p.multiple_results = True
debug_barrier_p.def_effectful_abstract_eval(lambda: ([], {effects.debug_effect}))
not_differentiable(debug_barrier_p)
xla.register(debug_barrier_p)(lambda ctx: [])  # instances run one after another


def debug_barrier() -> None:
  """Wait until every thread of this instance has arrived here."""
  debug_barrier_p.bind()


elementwise_inline_asm_p = Primitive("elementwise_inline_asm")
elementwise_inline_asm_p.multiple_results = True


@elementwise_inline_asm_p.def_abstract_eval
def _(*avals: Any, asm: str, constraints: str, pack: int, result_shape_dtypes: Any) -> Any:
  return [ShapedArray(r.shape, r.dtype) for r in result_shape_dtypes]


@xla.register(elementwise_inline_asm_p)
def _(ctx: xla.Context, *args: Any, asm: str, **_: Any) -> Any:
  raise errors.UnsupportedFeatureError(
    f"elementwise_inline_asm: the portable lowering cannot run GPU assembly ({asm.splitlines()[0]!r}). Write the operation with "
    "jax.numpy, or run the kernel on a GPU target."
  )


def elementwise_inline_asm(
  asm: str,
  *,
  args: Sequence[jax.Array],
  constraints: str,
  pack: int,
  result_shape_dtypes: Sequence[jax.ShapeDtypeStruct],
) -> Sequence[jax.Array]:
  """Apply a piece of assembly to each element, or to `pack` of them at a time.

  Args:
    asm: the assembly.
    args: its operands, all of one shape.
    constraints: LLVM's inline-assembly constraints.
    pack: how many elements of each operand one instance takes.
    result_shape_dtypes: the results.
  """
  shapes = {tuple(a.shape) for a in args}
  if len(shapes) > 1:
    raise errors.ShapeMismatchError(
      f"All arguments of elementwise_inline_asm must have the same shape, got {sorted(shapes)}."
    )
  return elementwise_inline_asm_p.bind(
    *args, asm=asm, constraints=constraints, pack=pack, result_shape_dtypes=tuple(result_shape_dtypes)
  )
