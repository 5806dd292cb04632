"""Options of the kernel language. Each is part of JAX's trace context, so changing it retraces the functions that depend on it."""

from __future__ import annotations

from tilewright.runtime import _jax

enable_debug_checks = _jax.config.bool_state(
  name="jax_tilewright_enable_debug_checks",
  default=False,
  help="If set, pl.debug_check calls are checked at run time. Otherwise they do nothing.",
  include_in_trace_context=True,
)

enable_poison_buffers = _jax.config.bool_state(
  name="jax_tilewright_poison_buffers",
  default=False,
  help="If set, scratch buffers are filled with poison (NaN for floats) when they are allocated.",
  include_in_trace_context=True,
)
