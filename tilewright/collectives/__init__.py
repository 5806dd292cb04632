"""Collectives between devices, as kernels: `all_reduce` and its relatives, called inside `jax.shard_map` as `jax.lax.psum` is.

    from tilewright import collectives

    jax.shard_map(lambda x: collectives.all_reduce(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())

Arguments have the names that they have in `jax.lax`. Groups may differ in size, and derivatives are those of the functions of `jax.lax`.
See docs/collectives.md.
"""

from tilewright.collectives import vmapped as _vmapped
from tilewright.collectives.api import (
  all_gather,
  all_reduce,
  all_to_all,
  barrier,
  broadcast,
  permute,
  ragged_all_to_all,
  reduce_scatter,
)
from tilewright.collectives.check import Finding, check
from tilewright.collectives.cost import Topology, explain, predict
from tilewright.collectives.fused import (
  all_gather_matmul,
  matmul_all_reduce,
  matmul_reduce_scatter,
  moe,
  ring_attention,
)
from tilewright.runtime import plugins as _plugins

_plugins.register("native_collectives", "tilewright.collectives.hlo_kernels")

__all__ = [
  "Finding",
  "Topology",
  "all_gather",
  "all_gather_matmul",
  "all_reduce",
  "all_to_all",
  "barrier",
  "broadcast",
  "check",
  "explain",
  "matmul_all_reduce",
  "matmul_reduce_scatter",
  "moe",
  "permute",
  "predict",
  "ragged_all_to_all",
  "reduce_scatter",
  "ring_attention",
]
