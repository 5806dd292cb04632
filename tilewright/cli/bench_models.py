"""The steps of `examples/models/` on four host devices: XLA with our passes beside XLA alone, as rows of `tilewright bench cpu`.

    python -m tilewright.cli.bench_models fsdp_transformer 0.0625 native_collectives dce

Every model gets the same passes. Four devices that share the cores of one host never wait for a network: a collective costs its copies and
the thread rendezvous, which native collectives avoid. Rows exist where the repository's examples are.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.cli import bench_host_devices

PASSES = (
  "all_reduce_combiner",
  "all_gather_combiner",
  "reduce_scatter_combiner",
  "while_loop_invariant_code_motion",
  "native_collectives",
  "dce",
)
SIZES = {"small": 1 / 64, "medium": 1 / 16}  # of the models; 1 is meant for GPUs
MODELS = ("fsdp_transformer", "tensor_parallel", "pipeline_parallel", "mixture_of_experts", "context_parallel")


def start(model: str, size: float, passes: Sequence[str]) -> Callable[[], Any]:
  return bench_host_devices.start(__name__, model, str(size), *passes)


def rows() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
  """For each row's name: ours, and XLA alone. None where there are no examples."""
  if not (bench_host_devices.ROOT / "examples" / "models" / "programs.py").exists():
    return {}
  return {
    f"models.{model}, {label}, {bench_host_devices.DEVICES} devices": (
      functools.partial(start, model, size, PASSES),
      functools.partial(start, model, size, ()),
    )
    for label, size in SIZES.items()
    for model in MODELS
  }


def build(model: str, size: float, passes: Sequence[str]) -> Callable[[], Sequence[Any]]:
  """The compiled step on its arguments."""
  import jax

  from examples.models.programs import MODELS as PROGRAMS
  from examples.models.programs import values
  from tilewright import (
    collectives,  # noqa: F401  offers its kernels to the passes
    hlo,
  )

  function, types = PROGRAMS[model](jax.devices("cpu")[: bench_host_devices.DEVICES], size)
  arguments = values(types)
  with hlo.install(list(passes)) if passes else contextlib.nullcontext():
    compiled = jax.jit(function).lower(*arguments).compile()
  return lambda: jax.tree.leaves(jax.block_until_ready(compiled(*arguments)))


if __name__ == "__main__":
  bench_host_devices.serve(build(sys.argv[1], float(sys.argv[2]), sys.argv[3:]))
