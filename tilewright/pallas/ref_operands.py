"""Refs as operands of `pallas_call`: a kernel that only reads a ref gets its value; a kernel that writes it updates it in place.

    r = jax.new_ref(x)
    pl.pallas_call(kernel, out_shape=())(r)       # kernel: r[...] = r[...] * 2
    r[...]                                        # x * 2

A ref that is written becomes an operand that is aliased to an additional output, which is stored in the ref after the call. The kernel
sees it whole, in memory of any kind.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.pallas.trace import KernelCall
from tilewright.runtime import _jax
from tilewright.tile.memory import MemorySpace


def is_ref(x: Any) -> bool:
  return isinstance(_jax.core.typeof(x), _jax.state_types.AbstractRef)


def bind_refs(bind: Callable[[KernelCall, Any], Any], call: KernelCall, args: tuple[Any, ...]) -> Any:
  """A call some of whose operands are refs; `bind(call, args)` calls a kernel of arrays."""
  values = jax.tree.map(
    lambda x: x[...] if is_ref(x) else x, args, is_leaf=lambda x: not isinstance(x, list | tuple | dict)
  )
  try:
    return bind(dataclasses.replace(call, may_write_inputs=False), values)
  except errors.InputWriteError:
    written = [i for i, x in enumerate(args) if not isinstance(x, list | tuple | dict) and is_ref(x)]
    specs = _whole_specs(call, args, written)
  outs = list(call.out_shape) if isinstance(call.out_shape, list | tuple) else [call.out_shape]
  results = bind(_with_outputs(call, args, written, specs, outs), values)
  for i, x in zip(written, results[len(outs) :]):
    args[i][...] = x
  own = results[: len(outs)]
  return own[0] if not isinstance(call.out_shape, list | tuple) else type(call.out_shape)(own)


def _whole_specs(call: KernelCall, args: Sequence[Any], written: Sequence[int]) -> Any:
  """The input specs, with refs in memory of any kind."""
  given = call.grid_spec.in_specs
  specs = [no_block_spec] * len(args) if given is no_block_spec else list(given)
  for i in written:
    spec = specs[i]
    if isinstance(spec, BlockSpec) and spec.block_shape is not None:
      raise errors.KernelTypeError(
        f"{call.title}: argument {i} is a ref that the kernel writes, but in_specs split it into blocks of {spec.block_shape}. "
        "Pass pl.BlockSpec(memory_space=pl.ANY) for it, or pass ref[...] and alias it to an output."
      )
    specs[i] = BlockSpec(memory_space=MemorySpace.ANY)
  return specs


def _with_outputs(
  call: KernelCall, args: Sequence[Any], written: Sequence[int], specs: Any, outs: Sequence[Any]
) -> KernelCall:
  """The call with an output for each ref, aliased to it; the kernel gets the output in place of the input."""
  grid_spec = call.grid_spec
  given = grid_spec.out_specs
  out_specs = [no_block_spec] * len(outs)
  if given is not no_block_spec:
    out_specs = list(given) if isinstance(call.out_shape, list | tuple) else [given]
  if getattr(grid_spec, "num_scalar_prefetch", 0):
    raise errors.KernelTypeError(
      f"{call.title}: a kernel with prefetched scalars writes to a ref that was passed to it. Pass ref[...] and alias it to an output."
    )
  leaves_before = lambda i: len(jax.tree.leaves(list(args[:i])))
  num_outs = len(jax.tree.leaves(list(outs)))
  aliases = {**call.aliases, **{leaves_before(i): num_outs + j for j, i in enumerate(written)}}
  types = [jax.ShapeDtypeStruct(args[i].shape, args[i].dtype) for i in written]

  def kernel(*refs: Any, **named: Any) -> Any:
    inputs = list(refs[: len(args)])
    own, shared = refs[len(args) : len(args) + len(outs)], refs[len(args) + len(outs) :]
    for i, ref in zip(written, shared):
      inputs[i] = ref
    return call.kernel(*inputs, *own, *shared[len(written) :], **named)

  whole = [BlockSpec(memory_space=MemorySpace.ANY)] * len(written)
  new_grid_spec = copy.copy(grid_spec)
  new_grid_spec.in_specs, new_grid_spec.out_specs = specs, (*out_specs, *whole)
  return dataclasses.replace(
    call,
    kernel=kernel,
    out_shape=(*outs, *types),
    grid_spec=new_grid_spec,
    aliases=aliases,
    name=call.name or getattr(call.kernel, "__name__", None),
  )
