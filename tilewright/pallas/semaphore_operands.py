"""Semaphores as operands and results of kernels: one kernel starts a copy, a later one waits for it.

    x, out, sem = pl.pallas_call(start, out_shape=(…, …, pltpu.SemaphoreType.DMA(())), …)(x)
    out = pl.pallas_call(done, out_shape=…, in_specs=[…, pl.BlockSpec(memory_space=pltpu.SEMAPHORE)], …)(x, out, sem)

In the program around kernels a semaphore is an array with a dtype of its own, and its counts are passed as int32. A kernel decrements a
private copy of a semaphore operand, not the operand itself. A kernel ends only after all its copies have completed, so a wait in a later
kernel finds their bytes counted.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.pallas import cores, semaphores
from tilewright.pallas.control import when
from tilewright.pallas.primitives import AbstractRef, Primitive, ShapedArray, num_programs_p, program_id_p
from tilewright.runtime import _jax
from tilewright.tile.grid import Kernel
from tilewright.tile.memory import MemorySpace, SemaphoreType, is_semaphore

# Both change only the type.
counts_p, semaphores_p = Primitive("semaphore_counts"), Primitive("semaphores_of_counts")
counts_p.def_abstract_eval(lambda sem: sem.update(dtype=np.dtype(np.int32)))
semaphores_p.def_abstract_eval(lambda counts, *, dtype: counts.update(dtype=dtype))
for _own in (counts_p, semaphores_p):
  _jax.mlir.register_lowering(_own, lambda ctx, x, **_: [x])


def counts_of(operands: Sequence[Any]) -> list[Any]:
  """The operands of a kernel, with counts in place of semaphores."""
  return [counts_p.bind(x) if is_semaphore(_jax.core.typeof(x).dtype) else x for x in operands]


def with_semaphores(kernel: Kernel, results: Sequence[Any]) -> list[Any]:
  """The results of a kernel, with semaphores in place of their counts."""
  avals = [m.array_aval for m in kernel.grid_mapping.output_mappings]
  return [semaphores_p.bind(x, dtype=a.dtype) if is_semaphore(a.dtype) else x for x, a in zip(results, avals)]


def on_counts(kernel: Kernel, devices: int = 1) -> Kernel:
  """A kernel whose semaphores are scratch: its first grid point initialises them from the count operands, its last one writes their counts
  to the outputs.

  If it communicates with other `devices`, all of them synchronise before that, so that every signal is counted by then.
  """
  mapping = kernel.grid_mapping
  first = mapping.num_prefetch
  avals = [v.aval for v in kernel.jaxpr.invars]
  places = [first + i for i, m in enumerate(mapping.block_mappings) if is_semaphore(m.array_aval.dtype)]
  if not places:
    return kernel
  if cores.run_together(kernel):
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}' takes or returns semaphores, and its cores signal each other. Pass interpret=True."
    )
  # An output aliased to an input denotes the same semaphores.
  alias = {first + mapping.num_inputs + out: into for into, out in kernel.input_output_aliases}
  own = [place for place in places if place not in alias]

  def body(*refs: Any) -> list[Any]:
    given, scratch = list(refs[: len(avals)]), dict(zip(own, refs[len(avals) :]))
    met = refs[-1]
    seen = [scratch[alias.get(i, i)] if i in places else ref for i, ref in enumerate(given)]
    indices = [program_id_p.bind(axis=d) for d in range(len(mapping.grid) - mapping.num_vmapped)]

    def load() -> None:
      for place in own:
        if place < first + mapping.num_inputs:
          for at in itertools.product(*map(range, avals[place].shape)):
            semaphores.restore_count(scratch[place].at[at] if at else scratch[place], given[place][at])

    def store() -> None:
      if devices > 1:
        for device in range(devices):
          semaphores.semaphore_signal(met, 1, device_id=device, device_id_type=semaphores.DeviceIdType.LOGICAL)
        semaphores.semaphore_wait(met, devices)
      for place in places:
        if place >= first + mapping.num_inputs:
          for at in itertools.product(*map(range, avals[place].shape)):
            given[place][at] = semaphores.semaphore_read(seen[place].at[at] if at else seen[place])

    every = lambda flags: functools.reduce(jnp.logical_and, flags) if flags else True
    when(every([i == 0 for i in indices]))(load)
    _jax.core.eval_jaxpr(kernel.jaxpr, (), *seen)
    when(every([i == num_programs_p.bind(axis=d) - 1 for d, i in enumerate(indices)]))(store)
    return []

  def counts(aval: Any) -> Any:
    return ShapedArray(aval.shape, np.dtype(np.int32))

  refs = [AbstractRef(counts(a), MemorySpace.ANY) if i in places else a for i, a in enumerate(avals)]
  more = [SemaphoreType.REGULAR.get_ref_aval()] if devices > 1 else []
  with _jax.config._check_vma(False):
    closed = _jax.trace(body, [*refs, *(avals[i] for i in own), *more], kernel.jaxpr.debug_info.with_unknown_names())
  jaxpr, _ = _jax.detach(closed)
  mappings = tuple(
    dataclasses.replace(m, array_aval=counts(m.array_aval), block_aval=refs[first + i]) if first + i in places else m
    for i, m in enumerate(mapping.block_mappings)
  )
  params = kernel.compiler_params
  if getattr(params, "dimension_semantics", None):  # all instances share the semaphores
    params = dataclasses.replace(params, dimension_semantics=None)
  outs = tuple(counts(a) if is_semaphore(a.dtype) else a for a in kernel.out_avals)
  grid_mapping = dataclasses.replace(
    mapping, block_mappings=mappings, num_scratch=mapping.num_scratch + len(own) + len(more)
  )
  return kernel.replace(jaxpr=jaxpr, grid_mapping=grid_mapping, out_avals=outs, compiler_params=params)
