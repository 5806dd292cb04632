"""A kernel on its way from the lowering to a code generator: cleaned, and verified before and after where that is asked for."""

from __future__ import annotations

from tilewright.runtime import dump
from tilewright.tile.native import NativeKernel
from tilewright.tile.standard_passes import clean


def prepared(kernel: NativeKernel) -> NativeKernel:
  """A kernel, as it was lowered, in the form that code is made of."""
  check_stage(kernel, "lowered")
  kernel = clean(kernel)
  check_stage(kernel, "cleaned")
  return kernel


def kernel_text(kernel: NativeKernel) -> str:
  """The tile IR of a kernel: its index maps, then its body."""
  return "\n\n".join(str(f) for f in (*kernel.index_maps, kernel.body) if f is not None)


def check_stage(kernel: NativeKernel, stage: str) -> None:
  """Check the functions of a kernel at a stage, where `TILEWRIGHT_VERIFY` or dumps ask for it."""
  if not dump.wants_checks():
    return
  from tilewright.tile.verify import verify

  for function in (kernel.body, *kernel.index_maps):
    if function is not None:
      verify(function, stage)
