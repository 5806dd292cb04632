"""Modules that XLA prints: small JAX programs, as lowered and as compiled, with four host devices.

Run as a program (`python -m tests.hlo.corpus DIR`) because the number of devices must be set before JAX starts. Writes for each
module NAME.hlo (XLA's text with all constants) and NAME.pb (its proto).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def programs() -> dict[str, tuple[Callable, tuple[Any, ...]]]:
  import jax
  import jax.numpy as jnp
  import ml_dtypes
  import numpy as np
  from jax import lax
  from jax.sharding import Mesh, NamedSharding
  from jax.sharding import PartitionSpec as P

  mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
  row = jnp.arange(8.0)
  square = jnp.arange(64.0).reshape(8, 8)
  image, kernel = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 4))
  sharded = jax.device_put(square, NamedSharding(mesh, P("x", "y")))

  def manual(body: Callable) -> Callable:
    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)

  def scan(x: Any) -> Any:
    return lax.scan(lambda c, a: (c + jnp.sin(a), c * 2), jnp.zeros(8), x)

  def loss(w: Any, x: Any) -> Any:
    return jnp.mean(jax.nn.relu(x @ w) ** 2)

  def accumulate(x: Any) -> Any:
    return lax.scan(lambda c, _: (c + lax.psum(jnp.sin(x), "x"), None), jnp.zeros_like(x), None, length=3)[0]

  small = [
    getattr(ml_dtypes, name)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "bfloat16", "int4", "uint4")
  ]
  constants = [np.array([0, 1, 2, 3, 1, 0], t) for t in small] + [np.array([np.nan, np.inf, -np.inf, 0.1], np.float16)]
  exotic = np.array([1 + 2j, complex(np.inf, -1)], np.complex64)

  return {
    "add": (lambda x: x + 1, (row,)),
    "scan": (scan, (square,)),
    "while": (lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 2 + 1, x), (row,)),
    "cond": (lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (row,)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), (1, row)),
    "conv": (
      lambda a, b: lax.conv_general_dilated(
        a, b, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
      ),
      (image, kernel),
    ),
    "conv_grad": (
      jax.grad(
        lambda a, b: jnp.sum(lax.conv_general_dilated(a, b, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
      ),
      (image, kernel),
    ),
    "depthwise": (
      lambda a, b: lax.conv_general_dilated(
        a, b, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3
      ),
      (image, jnp.ones((3, 3, 1, 6))),
    ),
    "pool_grad": (
      jax.grad(lambda a: jnp.sum(lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))),
      (image,),
    ),
    "sort": (lambda x: lax.sort((x, x * 2), num_keys=1, is_stable=True), (square,)),
    "argsort_topk": (lambda x: (jnp.argsort(x), lax.top_k(x, 3)), (square,)),
    "gather": (lambda x, i: x[i, i + 1] + jnp.take(x, i, axis=1).sum(), (square, jnp.arange(4))),
    "scatter": (lambda x, i: x.at[i].add(1.0).at[0, i].set(3.0), (square, jnp.arange(4))),
    "slices": (lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 3)), (0, i)), (square, 2)),
    "pad": (lambda x: lax.pad(x[::2, 1:], 0.0, ((1, 2, 1), (-1, 0, 0))), (square,)),
    "dot_batch": (
      lambda a, b: jnp.einsum("bij,bjk->bik", a, b, precision="highest"),
      (jnp.ones((2, 3, 4)), jnp.ones((2, 4, 5))),
    ),
    "grad": (jax.grad(loss), (jnp.ones((8, 4)), square)),
    "linalg": (
      lambda x: (jnp.linalg.cholesky(x @ x.T + 9 * jnp.eye(8)), jnp.linalg.solve(x + 9 * jnp.eye(8), x)),
      (square,),
    ),
    "triangular": (lambda x: lax.linalg.triangular_solve(x, x, left_side=True, lower=True), (square,)),
    "fft": (lambda x: (jnp.fft.rfft(x), jnp.fft.ifft(x)), (square,)),
    "random": (
      lambda k: (jax.random.normal(k, (4,)), lax.rng_bit_generator(jnp.zeros(4, jnp.uint32), (8,))),
      (jax.random.PRNGKey(0),),
    ),
    "constants": (lambda: [jnp.asarray(c) for c in constants] + [jnp.asarray(exotic)], ()),
    "large_constant": (
      lambda x: x + jnp.asarray(np.random.default_rng(0).normal(size=(32, 33)), jnp.float32),
      (jnp.ones((32, 33)),),
    ),
    "int_constant": (lambda x: x + jnp.asarray(np.arange(-300, 300, 7, dtype=np.int32)), (jnp.ones(86, jnp.int32),)),
    "bits": (
      lambda x: (lax.population_count(x), lax.clz(x), x << 2, lax.shift_right_logical(x, jnp.int32(1))),
      (jnp.arange(4),),
    ),
    "reductions": (lambda x: (x.sum(0), x.max(), jnp.argmax(x, 1), jnp.cumsum(x, 1), jnp.any(x > 3)), (square,)),
    "precision": (lambda x: lax.reduce_precision(x, 5, 2), (row,)),
    "barrier": (lambda x: lax.optimization_barrier((x, x + 1)), (row,)),
    "complex": (lambda x: jnp.abs(lax.complex(x, x * 2)) + jnp.real(jnp.exp(1j * x)), (row,)),
    "total_order": (
      lambda x: lax.sort(lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32), jnp.float32)),
      (row,),
    ),
    "callback": (lambda x: jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct((8,), jnp.float32), x), (row,)),
    "iota": (lambda: (lax.broadcasted_iota(jnp.int32, (3, 4), 1), jnp.eye(3)), ()),
    "psum": (manual(lambda x: lax.psum(x, "x") + lax.pmean(x, ("x", "y"))), (square,)),
    "all_gather": (manual(lambda x: lax.all_gather(x, "x", axis=0, tiled=True)[:4]), (square,)),
    "reduce_scatter": (manual(lambda x: lax.psum_scatter(x, "y", scatter_dimension=1, tiled=True)), (square,)),
    "all_to_all": (manual(lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True)), (square,)),
    "permute": (manual(lambda x: lax.ppermute(x, "x", [(0, 1), (1, 0)])), (square,)),
    "axis_index": (manual(lambda x: x * lax.axis_index("x")), (square,)),
    "accumulate": (manual(accumulate), (square,)),
    "spmd": (lambda a: lax.with_sharding_constraint(a @ a.T, NamedSharding(mesh, P("x", None))) + 1, (sharded,)),
  }


def write(directory: Path) -> None:
  import jax

  from tilewright.runtime._jax import xla_hlo

  xla = xla_hlo()
  options = xla.HloPrintOptions()
  options.print_large_constants = True

  def put(name: str, module: Any) -> None:
    (directory / f"{name}.hlo").write_text(module.to_string(options))
    (directory / f"{name}.pb").write_bytes(module.as_serialized_hlo_module_proto())

  for name, (function, args) in programs().items():
    donated = {"donate_argnums": 0} if name in ("add", "grad") else {}
    lowered = jax.jit(function, **donated).lower(*args)
    put(f"{name}.lowered", lowered.compiler_ir("hlo").get_hlo_module())
    for i, module in enumerate(lowered.compile().runtime_executable().hlo_modules()):
      put(f"{name}.compiled{i or ''}", module)


if __name__ == "__main__":
  os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
  os.environ["JAX_PLATFORMS"] = "cpu"
  write(Path(sys.argv[1]))
