"""The `jax.experimental.checkify` rule of kernels: a `checkify.check` in a kernel body reaches the caller as an error value.

Error values must be results of the call. The portable lowering, which is ordinary JAX, can return them.
"""

from __future__ import annotations

from typing import Any

import jax

from tilewright.pallas.call import pallas_call_p
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.grid import Kernel


@_jax.checkify_rule(pallas_call_p)
def _(*args: Any, **params: Any) -> Any:
  kernel = Kernel(**params)
  return jax.make_jaxpr(lambda *operands: xla.run(kernel, *operands))(*args)
