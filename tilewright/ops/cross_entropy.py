"""Cross-entropy of logits with integer labels, without materialising the probabilities.

    loss = log(sum(exp(x))) - x[label]            dx = (softmax(x) - onehot(label)) * g

The forward kernel reads each row once from memory and keeps one number per row, the logarithm of the sum, for the backward kernel.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.ops import calling, long_rows
from tilewright.ops.calling import Execution
from tilewright.ops.result_shape import reshaped
from tilewright.ops.rowwise import as_rows, by_rows
from tilewright.runtime.user_line import names_line


@names_line
def cross_entropy(
  logits: jax.Array, labels: jax.Array, *, interpret: bool | None = None, native: bool | None = None
) -> jax.Array:
  """The loss -log(softmax(logits)[label]) of each row, in float32.

  Args:
    logits: `(..., classes)` of float32, bfloat16 or float16.
    labels: integers of shape `(...)`. A label outside of the classes (as -1, for rows to be ignored) gives loss 0 and derivative 0.
    interpret: True for the portable lowering on any backend.
    native: whether to compile native code; by default, on the CPU and on NVIDIA GPUs.
  """
  logits = calling.floating("cross_entropy", "logits", logits, min_rank=1)
  labels = calling.array("cross_entropy", "labels", labels)
  if not jnp.issubdtype(labels.dtype, jnp.integer):
    raise errors.ShapeMismatchError(
      f"cross_entropy: labels must be integers, got {labels.dtype}. For weights per class, use log_softmax."
    )
  calling.shaped("cross_entropy", "labels", labels, logits.shape[:-1], "one label for each row of logits")
  if logits.shape[-1] == 0:
    raise errors.ShapeMismatchError(f"cross_entropy: logits have no classes: shape {logits.shape}.")
  rows = as_rows(logits)
  flat = labels.reshape(-1).astype(jnp.int32)
  return reshaped(_cross_entropy(calling.execution(interpret, native), rows, flat), labels.shape)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _cross_entropy(execution: Execution, logits: jax.Array, labels: jax.Array) -> jax.Array:
  return _cross_entropy_forward(execution, logits, labels)[0]


def _cross_entropy_forward(
  execution: Execution, logits: jax.Array, labels: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array, jax.Array]]:
  classes = logits.shape[1]

  def body(x: jax.Array, label: jax.Array) -> tuple[jax.Array, jax.Array]:
    own = jnp.take_along_axis(x, jnp.clip(label, 0, classes - 1), axis=1).astype(jnp.float32)
    x = x.astype(jnp.float32)
    row_max = jnp.max(x, axis=-1, keepdims=True)
    total = row_max + jnp.log(jnp.sum(jnp.exp(x - row_max), axis=-1, keepdims=True))
    return jnp.where((label >= 0) & (label < classes), total - own, 0.0), total

  if long_rows.applies(execution, logits):
    row_max, sums = long_rows.softmax_parts(execution, "cross_entropy", logits)
    total = row_max + jnp.log(sums)
    chosen = jnp.take_along_axis(logits, jnp.clip(labels, 0, classes - 1)[:, None], axis=1)[:, 0].astype(jnp.float32)
    return jnp.where((labels >= 0) & (labels < classes), total - chosen, 0.0), (logits, labels, total)
  per_row = jax.ShapeDtypeStruct(labels.shape, jnp.float32)
  loss, total = by_rows(body, execution, "cross_entropy", [logits, labels], [], [per_row, per_row], passes=1)
  return loss, (logits, labels, total)


def _cross_entropy_backward(
  execution: Execution, residuals: tuple[jax.Array, jax.Array, jax.Array], g: jax.Array
) -> tuple[jax.Array, np.ndarray]:
  logits, labels, total = residuals
  classes = logits.shape[1]

  def body(x: jax.Array, label: jax.Array, total: jax.Array, g: jax.Array) -> jax.Array:
    g = jnp.where((label >= 0) & (label < classes), g, 0.0)
    chosen = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1) == label
    return jnp.exp(x.astype(jnp.float32) - total) * g - jnp.where(chosen, g, 0.0)

  out = jax.ShapeDtypeStruct(logits.shape, logits.dtype)
  (dx,) = by_rows(body, execution, "cross_entropy_backward", [logits, labels, total, g], [], [out])
  return dx, np.zeros(labels.shape, jax.dtypes.float0)


_cross_entropy.defvjp(_cross_entropy_forward, _cross_entropy_backward)
