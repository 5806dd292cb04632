"""The tunable parameters of library kernels, and the lookup of tuned values. 0 leaves a decision to the heuristics of `tiling`.

    tilewright tune tilewright.ops:matmul 'bf16[4096,4096]' 'bf16[4096,4096]'

On a CPU the blocks of a product are given as the number of parts that a dimension is split into, which is meaningful for every shape.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright.ops import tiling
from tilewright.ops.calling import Execution
from tilewright.ops.tiling import GpuProduct, MatmulBlocks
from tilewright.tune.decision_points import Declared
from tilewright.tune.space import choice

_CLUSTERS = (0, (2, 1, 1), (1, 2, 1))


def _cycles(
  block_m: int, block_n: int, block_k: int, splits: int, batch: int, m: int, n: int, k: int, dtype: str
) -> float:
  """What the heuristic estimates for a product on a GPU; the heuristic's own choice is the best by that."""
  itemsize = jnp.dtype(dtype).itemsize
  own = GpuProduct(MatmulBlocks(block_m, block_n, block_k), splits)
  return tiling.gpu_cycles(m, n, k, itemsize, batch, own if block_m else tiling.gpu_product(m, n, k, itemsize, batch))


MATMUL_CPU = Declared(
  "ops.matmul cpu",
  {
    "parts_m": choice(0, 1, 2, 3, 4, 6, 8, 12, 16),
    "parts_n": choice(0, 1, 2, 3, 4, 6, 8, 12, 16, 32),
    "parts_k": choice(0, 1, 2, 4, 8),
  },
  where=[
    lambda parts_m, parts_n: (parts_m == 0) == (parts_n == 0),
    lambda parts_m, parts_k: (parts_m == 0) == (parts_k == 0),
    lambda parts_m, m: parts_m <= 1 or m // parts_m >= 4,
    lambda parts_n, n: parts_n <= 1 or n // parts_n >= 32,
    lambda parts_k, k: parts_k <= 1 or (k % parts_k == 0 and k // parts_k >= 64),
  ],
)
MATMUL_GPU = Declared(
  "ops.matmul gpu",
  {
    "block_m": choice(0, 64, 128, 256),
    "block_n": choice(0, 64, 96, 128, 192, 256),
    "block_k": choice(0, 32, 64, 128),
    "splits": choice(1, 2, 4, 8, 16),
    "cluster": choice(*_CLUSTERS),
    "by_hand": choice(0, 1),
  },
  where=[
    lambda block_m, block_n: (block_m == 0) == (block_n == 0),
    lambda block_m, block_k: (block_m == 0) == (block_k == 0),
    lambda block_m, block_n: block_m * block_n <= 128 * 256,
    lambda block_m, cluster: cluster == 0 or block_m > 0,
    lambda block_m, splits: splits == 1 or block_m > 0,
    lambda splits, cluster: cluster == 0 or splits == 1,
    lambda block_k, splits, k, dtype: splits == 1 or (dtype != "int8" and splits * 2 * block_k <= k),
    lambda block_m, m: block_m <= 64 or block_m < 2 * m,
    lambda block_n, n: block_n <= 64 or block_n < 2 * n,
    # The persistent kernel: consumers of 64 or 128 rows.
    lambda by_hand, block_m, block_n: by_hand == 0 or (block_m >= 128 and block_n >= 128),
    lambda by_hand, splits, cluster: by_hand == 0 or (splits == 1 and cluster == 0),
    lambda by_hand, block_k, dtype: by_hand == 0 or (block_k == 64 and dtype in ("bfloat16", "float16")),
  ],
  predict=_cycles,
  version=3,
)
ATTENTION_CPU = Declared(
  "ops.attention cpu",
  {"block_q": choice(0, 16, 32, 64, 128, 256, 512), "block_k": choice(0, 16, 32, 64, 128, 256, 512)},
  where=[
    lambda block_q, block_k: (block_q == 0) == (block_k == 0),
    lambda block_q, queries: block_q <= queries,
    lambda block_k, keys: block_k <= keys,
  ],
)
ATTENTION_GPU = Declared(
  "ops.attention gpu",
  {
    "block_q": choice(0, 64, 128, 192, 256),
    "block_k": choice(0, 32, 64, 128),
    "num_warps": choice(0, 4, 8),
    "by_hand": choice(0, 1),
  },
  where=[
    lambda block_q, block_k: (block_q == 0) == (block_k == 0),
    lambda block_q, num_warps: num_warps == 0 or block_q > 0,
    # The kernel of warpgroups: consumers of 64 queries each, of which there are two or three.
    lambda block_q, by_hand: block_q in (128, 192) if by_hand else block_q != 192,
    lambda block_k, num_warps, by_hand: by_hand == 0 or (block_k >= 64 and num_warps == 0),
    lambda by_hand, depth, dtype, left: by_hand == 0 or (left is None and depth <= 128 and dtype != "float32"),
  ],
  version=2,
)
ROWS_CPU = Declared(
  "ops.by_rows cpu", {"rows": choice(0, 1, 2, 4, 8, 16, 32, 64, 128)}, where=[lambda rows, count: rows <= count]
)
ROWS_GPU = Declared(
  "ops.by_rows gpu",
  {"rows": choice(0, 1, 2, 4, 8, 16), "num_warps": choice(0, 1, 2, 4, 8, 16)},
  where=[lambda rows, count: rows <= count],
)


def matmul_blocks(
  execution: Execution,
  batch: int,
  m: int,
  n: int,
  k: int,
  dtype: np.dtype,
  transposed: tuple[bool, bool],
  precision: Any = None,
) -> tuple[GpuProduct | None, Execution]:
  """The tuned tiling of a product, or None; and how to run it."""
  if execution.interpret:
    return None, execution
  facts: dict[str, Any] = {"batch": batch, "m": m, "n": n, "k": k, "dtype": str(dtype), "transposed": transposed}
  if execution.on_gpu and dtype == np.float32:
    facts["precision"] = str(precision)
  if execution.on_gpu:
    found = MATMUL_GPU.choose(**facts)
    blocks = MatmulBlocks(found["block_m"], found["block_n"], found["block_k"])
    own = GpuProduct(blocks, found["splits"], bool(found["by_hand"])) if blocks.m else None
    return own, with_params(execution, cluster=found["cluster"])
  found = MATMUL_CPU.choose(**facts)
  if not found["parts_m"]:
    return None, execution
  block_m, block_n = (tiling.divisor_near(d, -(-d // found[f"parts_{name}"]), 2) for name, d in (("m", m), ("n", n)))
  return GpuProduct(MatmulBlocks(block_m, block_n, -(-k // found["parts_k"])), 1), execution


def attention_blocks(execution: Execution, **facts: Any) -> tuple[tuple[int, int] | None, Execution, bool]:
  """Tuned numbers of queries and keys of a block, or None; how to run it; and whether by the kernel of warpgroups."""
  if execution.interpret:
    return None, execution, False
  found = (ATTENTION_GPU if execution.on_gpu else ATTENTION_CPU).choose(**facts)
  blocks = (found["block_q"], found["block_k"]) if found["block_q"] else None
  return blocks, with_params(execution, num_warps=found.get("num_warps", 0)), bool(found.get("by_hand", 0))


def rows_of_block(execution: Execution, name: str, count: int, columns: int, dtype: np.dtype) -> tuple[int, Execution]:
  """Tuned rows of a block of a kernel over rows, or 0; and how to run it."""
  if execution.interpret:
    return 0, execution
  own = ROWS_GPU if execution.on_gpu else ROWS_CPU
  found = own.choose(op=name, count=count, columns=columns, dtype=str(dtype))
  return found["rows"], with_params(execution, num_warps=found.get("num_warps", 0))


def with_params(execution: Execution, **params: Any) -> Execution:
  """How to run a kernel, with parameters of the compiler that are not 0."""
  given = tuple((name, value) for name, value in params.items() if value)
  return dataclasses.replace(execution, params=given) if given else execution
