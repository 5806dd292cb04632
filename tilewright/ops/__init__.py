"""Library kernels, written in the kernel language only. All work under `jit`, `vmap` and, where sensible, `grad`."""

from tilewright.numerics import scaled_dot
from tilewright.ops.attention import attention
from tilewright.ops.cross_entropy import cross_entropy
from tilewright.ops.cumulative import cumsum, cumulative
from tilewright.ops.embedding import embedding
from tilewright.ops.grouped_matmul import grouped_matmul
from tilewright.ops.matmul import matmul
from tilewright.ops.mlp import gelu, gelu_mlp, swiglu, swiglu_mlp
from tilewright.ops.norms import layer_norm, rms_norm
from tilewright.ops.rotary import rotary
from tilewright.ops.scaled_grouped_matmul import scaled_grouped_matmul
from tilewright.ops.softmax import log_softmax, softmax
from tilewright.ops.top_k import top_k

__all__ = [
  "attention",
  "cross_entropy",
  "cumsum",
  "cumulative",
  "embedding",
  "gelu",
  "gelu_mlp",
  "grouped_matmul",
  "layer_norm",
  "log_softmax",
  "matmul",
  "rms_norm",
  "rotary",
  "scaled_dot",
  "scaled_grouped_matmul",
  "softmax",
  "swiglu",
  "swiglu_mlp",
  "top_k",
]
