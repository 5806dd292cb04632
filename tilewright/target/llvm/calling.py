"""Calling native code through XLA's FFI: the types and layouts of operands and results, and which of them are aliased.

XLA packs arrays of less than eight bits per element. Where a target's code reads and writes them so, they are passed as they are; the
others are unpacked by XLA before the call, to one element per byte, and packed after it.
"""

from __future__ import annotations

import contextlib
import contextvars
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from tilewright.tile.aliased_inputs import is_used
from tilewright.tile.dead_code import accesses
from tilewright.tile.formats import computed_in, is_small_integer, poison_value, width
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel

_program: contextvars.ContextVar[Any] = contextvars.ContextVar("program", default=None)
_kept_for_ever: list[Any] = []


@contextlib.contextmanager
def keeping(program: Any) -> Iterator[None]:
  """Inside, a program is lowered, given as JAX's context of its module, which keeps what the code that is called depends on."""
  before = _program.set(program)
  try:
    yield
  finally:
    _program.reset(before)


def program() -> Any:
  """The program that is being lowered, or None if it is not known."""
  return _program.get()


def keep(held: Any) -> None:
  """Keep something as long as the program that is being lowered; without end if that is not known."""
  found = program()
  (_kept_for_ever.append if found is None else found.add_keepalive)(held)


def _unpacked_dtype(dtype: Any) -> Any:
  return dtype if width(dtype) >= 8 else computed_in(dtype) if is_small_integer(dtype) else np.uint8


def _unpacked(x: Any) -> Any:
  if width(x.dtype) >= 8:
    return x
  if not is_small_integer(x.dtype):
    x = jax.lax.bitcast_convert_type(x, jnp.uint4)
  return x.astype(_unpacked_dtype(x.dtype))


def _packed(x: Any, dtype: Any) -> Any:
  if width(dtype) >= 8:
    return x
  if is_small_integer(dtype):
    return x.astype(dtype)
  return jax.lax.bitcast_convert_type(x.astype(jnp.uint4), dtype)


def call(
  kernel: NativeKernel,
  name: str,
  operands: Sequence[Any],
  packed: Sequence[bool],
  scratch_bytes: int = 0,
  poisoned: Sequence[int] = (),
  fenced: bool = False,
  attributes: Mapping[str, Any] = types.MappingProxyType({}),
  returns_scratch: bool = False,
) -> list[Any]:
  """Call the handler called `name` on dynamic bounds, prefetched scalars and inputs; returns the outputs.

  `packed` says of each input and output whether the code takes it packed; `scratch_bytes` asks for memory, as one more result; `poisoned`
  are the outputs that XLA fills with poison before the call; `attributes` is what the handler is told besides. With `returns_scratch`
  the scratch memory is returned behind the outputs, as bytes.

  `fenced` keeps XLA from fusing slices into what aliases: XLA:GPU fuses a call with the dynamic-update-slice of its result, as in the
  stacked results of a scan, hands it a part of the stack as its output, and forgets that the output begins as the aliased operand.
  """
  mapping = kernel.mapping
  avals = [m.array_aval for m in mapping.output_mappings]
  into, out = packed[: mapping.num_inputs], packed[mapping.num_inputs :]
  results = [jax.ShapeDtypeStruct(a.shape, a.dtype if p else _unpacked_dtype(a.dtype)) for a, p in zip(avals, out)]
  if scratch_bytes:
    results.append(jax.ShapeDtypeStruct((scratch_bytes,), jnp.uint8))
  first = mapping.num_dynamic_bounds + mapping.num_prefetch
  operands = tuple(x if i >= first and into[i - first] else _unpacked(x) for i, x in enumerate(operands))
  written = {base for op in walk(kernel.body.body) for base in accesses(op)[1]}
  aliases: dict[int, int] = {}
  extra: list[Any] = []
  for source, target in kernel.input_output_aliases:
    operand = source + mapping.num_dynamic_bounds
    shared = source >= mapping.num_prefetch and mapping.input_mappings[source - mapping.num_prefetch].in_place
    shared = shared and mapping.output_mappings[target].in_place
    if shared or (source >= mapping.num_prefetch and not is_used(kernel, source)):
      aliases[operand] = target
    else:
      # Blocks of the input must stay as they were while blocks of the output change: the output starts as a copy.
      aliases[len(operands) + len(extra)] = target
      extra.append(operands[operand])
      if kernel.body.params[source] in written:
        # The body's writes to its input blocks must not be visible to the caller: an aliased unused result makes XLA copy the operand.
        aliases[operand] = len(results)
        results.append(jax.ShapeDtypeStruct(operands[operand].shape, operands[operand].dtype))
  for output in poisoned:
    aliases[len(operands) + len(extra)] = output
    extra.append(_unpacked(jnp.full(avals[output].shape, poison_value(avals[output].dtype), avals[output].dtype)))
  operands = [*operands, *extra]
  if fenced:
    operands = [jax.lax.optimization_barrier(x) if i in aliases else x for i, x in enumerate(operands)]
  run = jax.ffi.ffi_call(name, results, input_output_aliases=aliases, has_side_effect=kernel.has_side_effects)
  # XLA keeps a call with side effects unless this attribute allows its removal when its outputs are unused.
  removable = {"xla_allow_dce_side_effecting_op": "true"} if kernel.has_side_effects and kernel.is_removable else {}
  with set_xla_metadata(**removable):
    outputs = run(*operands, **attributes)
  if fenced:
    outputs = [jax.lax.optimization_barrier(x) if i in aliases.values() else x for i, x in enumerate(outputs)]
  given = [x if p else _packed(x, a.dtype) for x, a, p in zip(outputs, avals, out)]
  return [*given, outputs[len(avals)]] if returns_scratch else given
