"""Fusion of a program into a library kernel, without writing block specs.

    import tilewright as tw
    from tilewright import ops

    @tw.fuse_into(ops.matmul)
    def layer(x, w, b, gate):
      return jax.nn.gelu(rms_norm(x) @ w + b) * gate

The normalisation becomes the prologue of the kernel's left operand, and the operations after the product its epilogue: one kernel,
and no array of the size of `x @ w` besides the result. With `explain=True` the first call prints what was fused where; with
a path it writes a drawing, as HTML.
"""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import jax

from tilewright import errors
from tilewright.ops import tiling
from tilewright.pallas.fuser import dtypes, into
from tilewright.pallas.fuser.inlining import on_leaves
from tilewright.runtime import _jax

core = _jax.core


def fuse_into(kernel: Any = None, *, explain: bool | str | os.PathLike[str] = False) -> Callable[..., Any]:
  """Fuse the program around a kernel call into the kernel.

  Args:
    kernel: the library kernel, as `ops.matmul`, or the name of any `pallas_call`; by default the only one in the
      function. With `ops.matmul`, a function without such a call has its only product of two matrices (`x @ w`)
      computed by it.
    explain: True to print what was fused where and what that saves; a path to write a drawing of it, as HTML.

  Returns:
    A decorator. The fused function works under `jit` and `vmap`; its derivatives are those of the function as it was
    written.
  """
  name = _name(kernel)

  def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
    @jax.custom_vjp
    def fused(args: Any, kwargs: Any) -> Any:
      return run(f, name, kernel if callable(kernel) else None, args, kwargs, explain)[0]

    fused.defvjp(
      lambda args, kwargs: (fused(args, kwargs), (args, kwargs)),
      lambda residuals, g: jax.vjp(lambda a, k: f(*a, **k), *residuals)[1](g),
    )

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
      return fused(args, kwargs)

    return wrapper

  return decorate


def explain_fusion(f: Callable[..., Any], *args: Any, kernel: Any = None, **kwargs: Any) -> into.Explanation:
  """What `fuse_into(kernel)(f)` does for arguments of these types."""
  name = _name(kernel)
  found: list[list[into.Explanation]] = []
  callable_ = kernel if callable(kernel) else None

  def note(*a: Any, **k: Any) -> Any:
    outs, explanations = run(f, name, callable_, a, k)
    found.append(explanations)
    return outs

  jax.eval_shape(note, *args, **kwargs)
  if not found[-1]:  # values of user-defined types are taken apart when the program is lowered
    jax.jit(note).lower(*args, **kwargs)
  return found[-1][0]


def run(
  f: Callable[..., Any],
  name: str | None,
  kernel: Callable[..., Any] | None,
  args: Any,
  kwargs: Any,
  explain: bool | str | os.PathLike[str] = False,
) -> tuple[Any, list[into.Explanation]]:
  """The fused function's results, and what was fused (nothing yet if values of user-defined types are still to come)."""
  leaves, in_tree = jax.tree.flatten((args, kwargs))
  flat, trees = on_leaves(f, in_tree)

  info = _jax.api_util.debug_info("fuse_into", f, args, kwargs).with_unknown_names()
  closed = _jax.trace(flat, [core.typeof(x) for x in leaves], info)
  explanations: list[into.Explanation] = []

  def fused(program: Any, arrays: Any) -> list[Any]:
    outs, explanation = into.fuse_around(*_with_one_call(f, program, name, kernel), arrays)
    explanations.append(explanation)
    if explain:
      _show(explanation, explain)
    return outs

  outs = dtypes.run_on_arrays(closed, leaves, fused)
  return jax.tree.unflatten(trees[-1], outs), explanations


def _name(kernel: Any) -> str | None:
  name = getattr(kernel, "__name__", None) if callable(kernel) else kernel
  if name is not None and not isinstance(name, str):
    raise errors.KernelTypeError(
      f"fuse_into: expected a library kernel, as ops.matmul, or the name of a pallas_call, got {kernel!r}."
    )
  return name


def _with_one_call(
  f: Callable[..., Any], closed: Any, name: str | None, kernel: Callable[..., Any] | None
) -> tuple[Any, Any, int]:
  """The flat program with its constants, and the place of the kernel call."""
  jaxpr, consts = into.flat_program(closed)
  places = into.find_calls(jaxpr, lambda found: name is None or found == name)
  if not places and name == "matmul" and kernel is not None:
    jaxpr, consts = _with_kernel_for_product(jaxpr, consts, kernel)
    places = into.find_calls(jaxpr, lambda found: found == name)
  if len(places) != 1:
    what = f"{len(places)} calls of the kernel {name!r}" if name else f"{len(places)} kernel calls"
    products = len(_matrix_products(jaxpr)) if name == "matmul" and not places else 0
    if products > 1:
      what += f" and {products} products of two matrices"
    advice = (
      "Fuse each call in a function of its own."
      if places
      else "Call the kernel in the function, outside of loops."
      if products < 2
      else f"Call the kernel for the one that is meant, as ops.{name}(x, y)."
    )
    raise errors.FusionError(f"fuse_into: found {what} in {getattr(f, '__name__', f)}, expected one. {advice}")
  return jaxpr, consts, places[0]


def _with_kernel_for_product(jaxpr: Any, consts: Any, kernel: Callable[..., Any]) -> tuple[Any, Any]:
  """The program with its only product of two matrices computed by the kernel."""
  products = _matrix_products(jaxpr)
  if len(products) != 1:
    return jaxpr, consts
  (product,) = products

  def flat(*values: Any) -> list[Any]:
    env = dict(zip(jaxpr.invars, values))
    read = lambda a: a.val if isinstance(a, core.Literal) else env[a]
    for eqn in jaxpr.eqns:
      operands = [read(a) for a in eqn.invars]
      if eqn is product:
        env[eqn.outvars[0]] = _product(kernel, eqn, operands)
        continue
      with _jax.source_info_util.user_context(eqn.source_info.traceback):
        outs = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params))
      env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [read(a) for a in jaxpr.outvars]

  closed = _jax.trace(flat, [v.aval for v in jaxpr.invars], jaxpr.debug_info.with_unknown_names())
  detached, more = _jax.detach(closed)
  new, all_consts = into.flat_program_of(detached, (*more, *consts))
  return new, all_consts


_WHOLE_ROWS = 4096  # elements along K that a block may hold: with more, its rows fill the caches
_PARTS_OF_ROWS = 1024  # elements along K of other blocks


def _product(kernel: Callable[..., Any], eqn: Any, operands: Any) -> Any:
  """The kernel for an equation. Blocks hold whole rows where they may, so that a norm before the product looks at its own block only."""
  ((left,), (right,)), _ = eqn.params["dimension_numbers"]
  (x, y), out = operands, eqn.outvars[0].aval
  (m, n), k = out.shape, x.shape[left]
  chosen = tiling.matmul_blocks(m, n, k)
  whole = chosen.m >= 64 and k <= _WHOLE_ROWS
  blocks = (chosen.m, chosen.n, k if whole else tiling.divisor_near(k, _PARTS_OF_ROWS, 16))
  return kernel(x, y, transpose_x=left == 0, transpose_y=right == 1, out_dtype=out.dtype, blocks=blocks)


def _matrix_products(jaxpr: Any) -> list[Any]:
  return [e for e in jaxpr.eqns if e.primitive.name == "dot_general" and _is_matrix_product(e)]


def _is_matrix_product(eqn: Any) -> bool:
  (left, right), batch = eqn.params["dimension_numbers"]
  return all(a.aval.ndim == 2 for a in eqn.invars) and batch == ((), ()) and len(left) == len(right) == 1


def _show(explanation: into.Explanation, how: Any) -> None:
  if how is True:
    print(explanation)
    return
  from tilewright.viz import fusion

  pathlib.Path(how).write_text(fusion.html(explanation))
