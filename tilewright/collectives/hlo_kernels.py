"""The kernels of the HLO pass `native_collectives`: collectives on several arrays at once, in the shapes that the pass asks for.

A kernel is lowered as a program for `jax.shard_map` over as many devices as the module has partitions; its body is one of `flat`. The pass
takes the one custom call of that program.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tilewright import errors
from tilewright import pallas as pl
from tilewright.collectives import flat
from tilewright.collectives.groups import connected, parties, table
from tilewright.collectives.kernels import Params
from tilewright.collectives.members import Member
from tilewright.hlo import parse
from tilewright.hlo.passes.native_collectives import NEVER_WAIT, Call, Request, register_kernel
from tilewright.pallas import tpu as pltpu
from tilewright.target.cpu import lifetime
from tilewright.tile.formats import width as bits_of

_AXIS = "devices"
_kept: collections.deque[Any] = collections.deque(maxlen=256)  # programs whose code XLA is about to look for

NEVER_WAIT.add(lifetime.TARGET)


@register_kernel
def kernel(request: Request) -> Call | str:
  """The call of a kernel, or why there is none."""
  if jax.default_backend() != "cpu":
    return f"it runs on {jax.default_backend()}, where kernels do not reach for other devices"
  if jax.process_count() > 1:
    return "its devices may belong to several processes"
  here = jax.devices("cpu")
  if not 1 < request.devices <= len(here):
    return f"there are {len(here)} CPU devices, and it needs {request.devices}"
  if bits_of(request.dtype) < 8:
    return f"{request.dtype} is packed"
  if request.groups and len(request.groups[0]) > flat.MOST_MEMBERS:
    return f"its groups have more than {flat.MOST_MEMBERS} members"
  if not request.always_reached and not _meets_in_parties(request):
    return "some devices may execute it more often than others, and its kernel waits for all of them"
  try:
    return _lowered(dataclasses.replace(request, title=request.title[:180]))
  except errors.TilewrightError as refused:
    return str(refused)


def _parties(request: Request) -> tuple[int, ...]:
  """For each device the number of its party: its group, or those that values of a permutation travel between."""
  pairs = [(group[0], member) for group in request.groups for member in group]
  pairs += [(source, target) for target, source in enumerate(request.sources) if source >= 0]
  return connected(pairs, request.devices)


def _meets_in_parties(request: Request) -> bool:
  """Whether devices wait for their party only."""
  found = _parties(request)
  return len(set(found)) == 1 or bool(parties(found))


def _lowered(request: Request) -> Call | str:
  body, rows = _body(request)
  mesh, whole = (
    jax.sharding.Mesh(np.array(jax.devices("cpu")[: request.devices]), (_AXIS,)),
    jax.sharding.PartitionSpec(),
  )
  anywhere = pl.BlockSpec(memory_space=pl.ANY)
  count, both = len(request.operands), len(request.operands) + len(request.results)
  scratch = [pltpu.VMEM((flat.chunk_of(request.dtype),), request.dtype)] if request.kind == "all_reduce" else []

  def run(*operands: Any) -> Any:
    return pl.pallas_call(
      lambda table_ref, *refs: body(table_ref, refs[:count], refs[count:both], *refs[both:]),
      [jax.ShapeDtypeStruct(s, request.dtype) for s in request.results],
      in_specs=[anywhere] * len(operands),
      out_specs=[anywhere] * len(request.results),
      scratch_shapes=scratch,
      compiler_params=Params(request.title, parties(_parties(request)), only_gangs=request.only_gangs),
      name=request.kind,
    )(*operands)

  f = jax.shard_map(run, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)
  types = [jax.ShapeDtypeStruct(rows.shape, rows.dtype)]
  types += [jax.ShapeDtypeStruct(s, request.dtype) for s in request.operands]
  lowered = jax.jit(f).lower(*types)
  module = parse(lowered.compiler_ir(dialect="hlo").as_hlo_text(True))
  calls = [i for i in module.instructions() if i.attrs.get("custom_call_target") == lifetime.TARGET]
  if len(calls) != 1 or len(calls[0].operands) != len(types) + 1:
    return "its kernel is not one call"
  _kept.append(lowered)
  return Call(calls[0], rows)


def _body(request: Request) -> tuple[Callable[..., None], np.ndarray]:
  """What a device runs, given the table, the refs of operands and of results, and scratch; and the table."""
  if request.kind == "permute":
    return flat.permute, np.array(request.sources, np.int32)[:, None]
  members = table(((_AXIS, request.devices),), (_AXIS,), request.groups)
  bodies: dict[str, Callable[..., None]] = {
    "all_reduce": functools.partial(flat.all_reduce, request.op),
    "gather": flat.gather,
    "scatter": functools.partial(flat.scatter, request.op),
    "exchange": flat.exchange if len(request.operands[0]) > 1 else flat.exchange_operands,
  }
  run = bodies[request.kind]
  return lambda table_ref, *refs: run(Member(table_ref, members), *refs), members.array()
