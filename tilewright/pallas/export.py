"""Kernels as text, and export with symbolic shapes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax


def lower_as_mlir(
  f: Callable[..., Any],
  *args: Any,
  dynamic_shapes: bool = False,
  device: Any = None,
  static_argnames: Any = (),
  platforms: Sequence[str] | None = None,
  **kwargs: Any,
) -> str:
  """The StableHLO text of `f` for these arguments; its form is not stable.

  With `dynamic_shapes` every dimension of every argument becomes a symbol.
  """
  jitted = jax.jit(f, static_argnames=static_argnames)
  with jax.default_device(device) if device is not None else contextlib.nullcontext():
    if dynamic_shapes:
      exported = jax.export.export(jitted, platforms=platforms)(*_symbolic(args), **kwargs)
      return exported.mlir_module()
    return jitted.trace(*args, **kwargs).lower(lowering_platforms=tuple(platforms) if platforms else None).as_text()


def _symbolic(args: Any) -> Any:
  scope = jax.export.SymbolicScope()
  count = 0

  def make(x: Any) -> jax.ShapeDtypeStruct:
    nonlocal count
    names = [f"d{count + i}" for i in range(len(x.shape))]
    count += len(names)
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(",".join(names), scope=scope), x.dtype)

  return jax.tree.map(make, args)


@contextlib.contextmanager
def pallas_export_experimental(dynamic_shapes: bool) -> Iterator[None]:
  """Kept for programs that use it: symbolic shapes always work here."""
  del dynamic_shapes
  yield
