"""The programs of `jax.nn.scaled_dot_general`, evaluated as they are written: each operation rounded once.

`jax.nn` runs on GPUs alone, but is traced anywhere. XLA would multiply by reciprocals in place of its divisions, so NumPy does those, and
conversions, which are other ones with some of XLA's options; `scaled_matmul` itself is computed by the definition in its docstring.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.extend.core as core
import jax.numpy as jnp
import numpy as np


def evaluate(function: Any, *args: Any) -> Any:
  """The results of a function of arrays."""
  closed, shapes = jax.make_jaxpr(function, return_shape=True)(*args)
  found = _run(closed.jaxpr, closed.consts, jax.tree.leaves(args))
  return jax.tree.unflatten(jax.tree.structure(shapes), found)


def scaled_matmul(a: Any, b: Any, a_scales: Any, b_scales: Any, dtype: Any) -> Any:
  def value(x: Any, scales: Any) -> np.ndarray:
    wide, scales = (np.asarray(z).astype(np.float64) for z in (x, scales))
    return wide * np.repeat(scales, wide.shape[-1] // scales.shape[-1], axis=-1)

  return jnp.asarray(np.einsum("bmk,bnk->bmn", value(a, a_scales), value(b, b_scales)).astype(np.float32)).astype(dtype)


def _run(jaxpr: Any, consts: Any, args: Any) -> list[Any]:
  known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
  read = lambda v: v.val if isinstance(v, core.Literal) else known[v]
  for eqn in jaxpr.eqns:
    values = [read(v) for v in eqn.invars]
    known.update(zip(eqn.outvars, _results(eqn, values), strict=True))
  return [read(v) for v in jaxpr.outvars]


def _results(eqn: Any, values: list[Any]) -> Any:
  name, params = eqn.primitive.name, eqn.params
  if name == "scaled_matmul_wrapper":
    return [scaled_matmul(*values, params["preferred_element_type"])]
  if name == "div":
    with np.errstate(divide="ignore", invalid="ignore"):
      return [jnp.asarray(np.divide(*map(np.asarray, values)))]
  if name == "convert_element_type":
    return [jnp.asarray(np.asarray(values[0]).astype(params["new_dtype"]))]
  inner = params.get("jaxpr") or params.get("call_jaxpr")
  if inner is not None:
    return _run(inner.jaxpr, inner.consts, values)
  found = eqn.primitive.bind(*values, **params)
  return found if eqn.primitive.multiple_results else [found]
