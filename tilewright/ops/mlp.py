"""Activations as ops, and the two usual feed-forward layers.

    gelu_mlp:    gelu(x @ w_in + b_in) @ w_out + b_out
    swiglu_mlp:  (silu(x @ w_gate) * (x @ w_up)) @ w_down

The first product of each applies its activation to a block while it is in the cache; the gated one computes both products in one kernel,
which reads the block of x once.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright import pallas as pl
from tilewright.ops import calling, tiling
from tilewright.ops.activations import ACTIVATIONS, derivative, silu
from tilewright.ops.calling import Execution
from tilewright.ops.matmul import JOINED, Plan, call, matmul
from tilewright.ops.rowwise import as_rows, elementwise
from tilewright.runtime.user_line import names_line


@names_line
def gelu(
  x: jax.Array, *, approximate: bool = True, interpret: bool | None = None, native: bool | None = None
) -> jax.Array:
  """x * Φ(x), with Φ the distribution function of the normal distribution, or its usual approximation through tanh.

  Args:
    x: an array of float32, bfloat16 or float16; computed in float32.
    approximate: whether to use the tanh form, as `jax.nn.gelu` does by default.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  x = calling.floating("gelu", "x", x)
  return _activate("gelu" if approximate else "gelu_exact", calling.execution(interpret, native), x)


@names_line
def swiglu(gate: jax.Array, x: jax.Array, *, interpret: bool | None = None, native: bool | None = None) -> jax.Array:
  """silu(gate) * x, elementwise, for arrays of one shape and float type; `interpret` and `native` are those of `gelu`."""
  gate, x = calling.floating("swiglu", "gate", gate), calling.floating("swiglu", "x", x)
  calling.shaped("swiglu", "x", x, gate.shape, "that of gate")
  if x.dtype != gate.dtype:
    raise errors.ShapeMismatchError(f"swiglu: gate and x must have one dtype, got {gate.dtype} and {x.dtype}.")
  return _swiglu(calling.execution(interpret, native), gate, x)


@names_line
def gelu_mlp(
  x: jax.Array,
  w_in: jax.Array,
  b_in: jax.Array | None,
  w_out: jax.Array,
  b_out: jax.Array | None = None,
  *,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """gelu(x @ w_in + b_in) @ w_out + b_out, gelu in its tanh form.

  Args:
    x: of shape `(..., width)` and a float type, which the weights share.
    w_in: of shape `(width, hidden)`.
    b_in: of shape `(hidden,)`, or None.
    w_out: of shape `(hidden, out)`.
    b_out: of shape `(out,)`, or None.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Raises:
    ShapeMismatchError: where shapes or types do not fit each other.
  """
  hidden = matmul(x, w_in, b_in, activation="gelu", interpret=interpret, native=native)
  return matmul(hidden, w_out, b_out, interpret=interpret, native=native)


@names_line
def swiglu_mlp(
  x: jax.Array,
  w_gate: jax.Array,
  w_up: jax.Array,
  w_down: jax.Array,
  *,
  interpret: bool | None = None,
  native: bool | None = None,
) -> jax.Array:
  """(silu(x @ w_gate) * (x @ w_up)) @ w_down.

  Args:
    x: of shape `(..., width)` and a float type, which the weights share.
    w_gate: of shape `(width, hidden)`.
    w_up: of shape `(width, hidden)`.
    w_down: of shape `(hidden, out)`.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.

  Raises:
    ShapeMismatchError: where shapes or types do not fit each other.
  """
  x = calling.floating("swiglu_mlp", "x", x, min_rank=2)
  for name, w in (("w_gate", w_gate), ("w_up", w_up)):
    calling.shaped("swiglu_mlp", name, w, (x.shape[-1], w_gate.shape[-1]), "the width of x, and one hidden width")
    if w.dtype != x.dtype:
      raise errors.ShapeMismatchError(f"swiglu_mlp: {name} must have the dtype of x, {x.dtype}, got {w.dtype}.")
  execution = calling.execution(interpret, native)
  hidden = _gated(execution, as_rows(x), w_gate, w_up)
  return matmul(hidden.reshape(*x.shape[:-1], w_gate.shape[-1]), w_down, interpret=interpret, native=native)


# --- elementwise -------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _activate(name: str, execution: Execution, x: jax.Array) -> jax.Array:
  return elementwise(ACTIVATIONS[name], execution, name, x)[0]


def _activate_forward(name: str, execution: Execution, x: jax.Array) -> tuple[jax.Array, jax.Array]:
  return _activate(name, execution, x), x


def _activate_backward(name: str, execution: Execution, x: jax.Array, g: jax.Array) -> tuple[jax.Array]:
  return (elementwise(functools.partial(derivative, ACTIVATIONS[name]), execution, f"{name}_backward", x, g)[0],)


_activate.defvjp(_activate_forward, _activate_backward)


def _gate(gate: jax.Array, x: jax.Array) -> jax.Array:
  return silu(gate) * x


def _gate_derivatives(gate: jax.Array, x: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
  return jax.vjp(_gate, gate, x)[1](g)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _swiglu(execution: Execution, gate: jax.Array, x: jax.Array) -> jax.Array:
  return elementwise(_gate, execution, "swiglu", gate, x)[0]


def _swiglu_forward(
  execution: Execution, gate: jax.Array, x: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
  return _swiglu(execution, gate, x), (gate, x)


def _swiglu_backward(
  execution: Execution, residuals: tuple[jax.Array, jax.Array], g: jax.Array
) -> tuple[jax.Array, jax.Array]:
  dgate, dx = elementwise(_gate_derivatives, execution, "swiglu_backward", *residuals, g, num_outs=2)
  return dgate, dx


_swiglu.defvjp(_swiglu_forward, _swiglu_backward)


# --- the gated product -------------------------------------------------------------------------------------------


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _gated(execution: Execution, x: jax.Array, w_gate: jax.Array, w_up: jax.Array) -> jax.Array:
  """silu(x @ w_gate) * (x @ w_up) in one kernel; on a GPU in two, of which the second multiplies by what the first gives."""
  (m, k), n = x.shape, w_gate.shape[1]
  out = jax.ShapeDtypeStruct((m, n), x.dtype)
  if 0 in (m, k, n):
    return jnp.zeros(out.shape, out.dtype)
  if execution.on_gpu:  # the accumulators of two products do not fit a thread's registers
    plan = Plan(execution, out_dtype=x.dtype)
    gate = call(dataclasses.replace(plan, activation="silu"), x, w_gate, None)
    return call(plan, x, w_up, None, factor=gate)
  blocks = tiling.matmul_blocks(m, n, k, on_the_way=x.dtype not in JOINED)
  bm, bn = blocks.m, blocks.n

  def kernel(x_ref: Any, gate_ref: Any, up_ref: Any, o_ref: Any) -> None:
    gate = jnp.dot(x_ref[...], gate_ref[...], preferred_element_type=jnp.float32)
    up = jnp.dot(x_ref[...], up_ref[...], preferred_element_type=jnp.float32)
    o_ref[...] = _gate(gate, up).astype(o_ref.dtype)

  weights = pl.BlockSpec((k, bn), lambda i, j: (0, j))
  return pl.pallas_call(
    kernel,
    out_shape=out,
    grid=(pl.cdiv(m, bm), pl.cdiv(n, bn)),
    in_specs=[pl.BlockSpec((bm, k), lambda i, j: (i, 0)), weights, weights],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
    name="gated_matmul",
    **execution.options(),
  )(x, w_gate, w_up)


def _gated_forward(execution: Execution, x: jax.Array, w_gate: jax.Array, w_up: jax.Array) -> tuple[jax.Array, Any]:
  product = functools.partial(matmul, interpret=execution.interpret, native=execution.native)
  gate, up = product(x, w_gate), product(x, w_up)
  return elementwise(_gate, execution, "swiglu", gate, up)[0], (x, w_gate, w_up, gate, up)


def _gated_backward(execution: Execution, residuals: Any, g: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
  x, w_gate, w_up, gate, up = residuals
  dgate, dup = elementwise(_gate_derivatives, execution, "swiglu_backward", gate, up, g, num_outs=2)
  product = functools.partial(matmul, interpret=execution.interpret, native=execution.native)
  dx = product(dgate, w_gate, transpose_y=True) + product(dup, w_up, transpose_y=True)
  return dx, product(x, dgate, transpose_x=True), product(x, dup, transpose_x=True)


_gated.defvjp(_gated_forward, _gated_backward)
