"""A kernel as the CPU target takes it."""

from __future__ import annotations

import jax

from tests.support.golden_kernels import find
from tilewright import pallas as pl
from tilewright.pallas.lowering import lower_kernel
from tilewright.tile.grid import Kernel
from tilewright.tile.standard_passes import clean


def native_kernel(kernel, out, *args, **options):
  call = pl.pallas_call(kernel, out, interpret=False, **options)
  jaxpr = jax.make_jaxpr(call)(*args).jaxpr
  return clean(lower_kernel(Kernel(**find(jaxpr).params)))
