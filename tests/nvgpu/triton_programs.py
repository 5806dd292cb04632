"""Kernels with the names of `pallas.triton`: atomic operations and assembly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import triton as plt

S = jax.ShapeDtypeStruct
I32, F32 = jnp.int32, jnp.float32
WHOLE = pl.BlockSpec(memory_space=pl.ANY)

# An operation, and what it makes of what stood there and of its value.
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
  "add": (plt.atomic_add, np.add),
  "max": (plt.atomic_max, np.maximum),
  "min": (plt.atomic_min, np.minimum),
  "and": (plt.atomic_and, np.bitwise_and),
  "or": (plt.atomic_or, np.bitwise_or),
  "xor": (plt.atomic_xor, np.bitwise_xor),
  "xchg": (plt.atomic_xchg, lambda old, new: new),
}
OF_FLOATS = ("add", "max", "min", "xchg")
DTYPES = (jnp.int32, jnp.uint32, jnp.int16, jnp.int8, jnp.float32, jnp.bfloat16, jnp.float16)


def histogram(numbers: Any, bins: int, block: int = 64) -> Any:
  """Counts by instances that run at the same time."""

  def kernel(n_ref: Any, zeros_ref: Any, o_ref: Any) -> None:
    plt.atomic_add(o_ref, (n_ref[...],), jnp.ones(block, I32))

  return pl.pallas_call(
    kernel,
    S((bins,), I32),
    grid=(numbers.size // block,),
    in_specs=[pl.BlockSpec((block,), lambda i: (i,)), WHOLE],
    out_specs=WHOLE,
    input_output_aliases={1: 0},
    compiler_params=plt.CompilerParams(),
  )(numbers, jnp.zeros(bins, I32))


def changed(operation: Callable[..., Any], old: Any, values: Any, mask: Callable[..., Any] | None = None) -> Any:
  """What an atomic operation makes of an array, and what it says stood there."""

  def kernel(x_ref: Any, v_ref: Any, o_ref: Any, old_ref: Any) -> None:
    chosen = None if mask is None else mask(jax.lax.iota(I32, old.size))
    old_ref[...] = operation(o_ref, (slice(None),), v_ref[...], mask=chosen)

  return pl.pallas_call(
    kernel,
    (S(old.shape, old.dtype), S(old.shape, old.dtype)),
    in_specs=[WHOLE, pl.BlockSpec()],
    out_specs=(WHOLE, pl.BlockSpec()),
    input_output_aliases={0: 0},
    compiler_params=plt.CompilerParams(),
  )(old, values)


def counted_under_a_lock(instances: int) -> Any:
  """Instances that run at the same time add one to a plain number, one at a time."""

  def kernel(lock_in: Any, total_in: Any, lock: Any, total: Any) -> None:
    jax.lax.while_loop(lambda taken: taken == 1, lambda _: plt.atomic_cas(lock.at[0], 0, 1), jnp.int32(1))
    total[0] += 1
    plt.atomic_xchg(lock, (0,), 0)

  zeros = np.zeros(1, I32)
  return pl.pallas_call(
    kernel,
    (S((1,), I32), S((1,), I32)),
    grid=(instances,),
    in_specs=[WHOLE, WHOLE],
    out_specs=(WHOLE, WHOLE),
    input_output_aliases={0: 0, 1: 1},
    compiler_params=plt.CompilerParams(),
  )(zeros, zeros)[1][0]


def assembled(asm: str, constraints: str, pack: int, dtypes: Sequence[Any], *args: Any) -> Any:
  """A kernel that is a piece of assembly."""

  def kernel(*refs: Any) -> None:
    ins, outs = refs[: len(args)], refs[len(args) :]
    results = plt.elementwise_inline_asm(
      asm,
      args=[r[...] for r in ins],
      constraints=constraints,
      pack=pack,
      result_shape_dtypes=[S(ins[0].shape, d) for d in dtypes],
    )
    for ref, result in zip(outs, results):
      ref[...] = result

  return pl.pallas_call(kernel, tuple(S(args[0].shape, d) for d in dtypes), compiler_params=plt.CompilerParams())(*args)


NOT_BYTES = ("lop3.b32 $0, $1, 0, 0, 0x0f;", "=r,r", 4, [jnp.int8])  # four bytes in a register
SUM_AND_DIFFERENCE = (
  """
  {
    .reg .f32 negative;
    neg.f32 negative, $3;
    add.f32 $0, $2, $3;
    add.f32 $1, $2, negative;
  }
  """,
  "=f,=f,f,f",
  1,
  [F32, F32],
)
