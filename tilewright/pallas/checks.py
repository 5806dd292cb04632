"""`jax.experimental.checkify` looks into kernels: a `checkify.check` in a body reaches the caller as an error value.

Errors are values, so they need somewhere to go. The portable lowering, which is ordinary JAX, gives them that.
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
