"""GPU rows of launch overhead and of compilation.

A chain of small kernels, additions, in one program takes the time of their launches, on the host or on the device, whichever is longer.
XLA records most of them into command buffers; a row without those has every kernel launched by the host. XLA would fuse its own chain into
one kernel: barriers keep its operations separate, and the row is refused if they do not.

Compiling is timed from the call of `jit` to a callable program: with nothing on disk, in a new process ("first")
and in one that has compiled other kernels; and in a new process whose kernel is on disk.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import ops
from tilewright import pallas as pl
from tilewright.cli import bench_processes
from tilewright.cli.bench import OURS, Call, Case
from tilewright.cli.bench_cpu import compiled_cold
from tilewright.cli.bench_gpu_kernels import queued
from tilewright.pallas import nvgpu

LENGTH = 50
SHAPE = (32, 1024)
XLA = "XLA"
NO_GRAPHS = {"xla_gpu_graph_min_graph_size": 1 << 20}  # no program has so many launches to record


def _kernel(x: jax.Array) -> jax.Array:
  def kernel(x_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...] + 1

  row = pl.BlockSpec((1, SHAPE[1]), lambda i: (i, 0))
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(x.shape[0],),
    in_specs=[row],
    out_specs=row,
    compiler_params=nvgpu.CompilerParams(),
  )(x)


def _operation(x: jax.Array) -> jax.Array:
  return jax.lax.optimization_barrier(x + 1)


def chain(step: Any, length: int) -> Any:
  def program(x: jax.Array) -> jax.Array:
    for _ in range(length):
      x = step(x)
    return x

  return program


def _launches(implementation: str, length: int, options: dict[str, Any]) -> Call:
  """The time of one kernel of a chain."""
  program = chain(_kernel if implementation == OURS else _operation, length)
  x = jnp.ones(SHAPE)
  kernels = (
    jax.jit(program).lower(x).compile().as_text().count(" custom-call(" if implementation == OURS else " fusion(")
  )
  if kernels != length:
    raise AssertionError(
      f"{implementation} made {kernels} kernels of a chain of {length}, so that their time means nothing."
    )
  return queued(program, (x,), 1 / length, options)


def _case(name: str, length: int, options: dict[str, Any]) -> Case:
  """Within 1.1 times of XLA's is the goal."""
  contenders = {peer: functools.partial(_launches, peer, length, options) for peer in (OURS, XLA)}
  return Case(f"gpu launch {name}", contenders, goals={XLA: round(1 / 1.1, 3)})


def _in_processes(name: str, what: str) -> Case:
  contenders = {
    implementation: functools.partial(bench_processes.contender, what, "softmax", implementation)
    for implementation in (OURS, XLA)
  }
  return Case(f"gpu compile softmax {name}", contenders, rounds=3)  # a process takes seconds to begin


CASES = (
  _case(f"one of {LENGTH} in a program", LENGTH, {}),
  _case(f"one of {LENGTH} in a program, no command buffers", LENGTH, NO_GRAPHS),
  _case("alone in a program", 1, {}),
  compiled_cold("gpu compile softmax", ops.softmax, jax.nn.softmax, (4096, 4096)),
  _in_processes("first in a process", "cold"),
  _in_processes("kept on disk", "warm"),
)
