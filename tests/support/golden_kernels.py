"""Kernels whose tile IR and LLVM IR are recorded, and how to lower one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas.lowering import lower_kernel
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel

F32 = jnp.float32


def softmax():
  def kernel(x_ref, o_ref):
    x = x_ref[...]
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)

  def exact(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

  rows = pl.BlockSpec((4, 16), lambda i: (i, 0))
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 16), F32), grid=(2,), in_specs=[rows], out_specs=rows)
  return call, exact, [(8, 16)]


def matmul():
  def kernel(x_ref, y_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] @ y_ref[...]

  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((8, 12), F32),
    grid=(2, 2, 2),
    in_specs=[pl.BlockSpec((4, 8), lambda i, j, k: (i, k)), pl.BlockSpec((8, 6), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((4, 6), lambda i, j, k: (i, j)),
  )
  return call, np.matmul, [(8, 16), (16, 12)]


def running_sum():
  def kernel(x_ref, o_ref):
    def step(i, total):
      total = total + x_ref[i]
      o_ref[i] = total
      return total

    jax.lax.fori_loop(0, 6, step, jnp.zeros(4))

  return pl.pallas_call(kernel, jax.ShapeDtypeStruct((6, 4), F32)), lambda x: np.cumsum(x, 0), [(6, 4)]


def scaled_by_size():
  """A loop whose body has much that does not change, and a scale that is one."""

  def kernel(x_ref, o_ref):
    def step(i, total):
      scale = jnp.sqrt(jnp.float32(4.0)) * jnp.ones(8) / 2.0
      return total + x_ref[i, :] * scale

    o_ref[...] = jax.lax.fori_loop(0, pl.num_programs(0) * 3, step, jnp.zeros(8))

  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), F32), grid=(1,))
  return call, lambda x: x.sum(0), [(3, 8)]


def vector_add():
  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]

  block = pl.BlockSpec((20,), lambda i: (i,))
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((40,), F32), grid=(2,), in_specs=[block, block], out_specs=block)
  return call, np.add, [(40,), (40,)]


WRITTEN = {f.__name__: f for f in (vector_add, softmax, matmul, running_sum, scaled_by_size)}


# Library kernels, as a call and the types of its operands.
I32 = jnp.int32
LIBRARY = {
  "matmul_bias_gelu": (lambda *a: ops.matmul(*a, activation="gelu", native=True), [(4, 8), (8, 16), (16,)]),
  "matmul_bf16": (lambda *a: ops.matmul(*a, native=True), [((4, 6), jnp.bfloat16), ((6, 16), jnp.bfloat16)]),
  "layer_norm": (lambda *a: ops.layer_norm(*a, native=True), [(4, 32), (32,), (32,)]),
  "rms_norm": (lambda *a: ops.rms_norm(*a, native=True), [(4, 32), (32,)]),
  "cross_entropy": (lambda *a: ops.cross_entropy(*a, native=True), [(4, 32), ((4,), I32)]),
  "attention": (
    lambda *a: ops.attention(*a, causal=True, blocks=(4, 8), native=True),
    [(1, 8, 4), (1, 16, 4), (1, 16, 4)],
  ),
  "cumsum": (lambda *a: ops.cumsum(*a, native=True), [(4, 32)]),
  "embedding": (lambda *a: ops.embedding(*a, native=True), [(10, 16), ((6,), I32)]),
}


KERNELS = [*WRITTEN, *LIBRARY]


def lowered(name: str) -> NativeKernel:
  if name in WRITTEN:
    call, _, operands = WRITTEN[name]()
  else:
    call, operands = LIBRARY[name]
  typed = [o if isinstance(o[0], tuple) else (o, F32) for o in operands]
  jaxpr = jax.make_jaxpr(call)(*(jnp.zeros(*o) for o in typed)).jaxpr
  return lower_kernel(Kernel(**find(jaxpr).params))


def find(jaxpr: Any) -> Any:
  """The kernel call, which may stand inside of jit's."""
  for eqn in jaxpr.eqns:
    if eqn.primitive.name == "pallas_call":
      return eqn
    for inner in jax.tree.leaves(
      list(eqn.params.values()), is_leaf=lambda x: hasattr(x, "eqns") or hasattr(x, "jaxpr")
    ):
      if hasattr(inner, "jaxpr") and (found := find(inner.jaxpr)) is not None:
        return found
  return None
