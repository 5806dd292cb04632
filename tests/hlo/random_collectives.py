"""Random programs with collectives on 4 devices of the host: passes installed inside XLA must not change what they compute.

    python -m tests.hlo.random_collectives --count 1000 --seed 0 [--show] [--last native_collectives]

A program is a `jax.shard_map` of random arithmetic, collectives and loops over a mesh of 4, or of 2 by 2. Integers must come
out equal bit for bit, floats up to the order of additions. A pass that fails counts as a fault too: XLA would compile
without it. The same seed gives the same program and the same passes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tilewright import (
  collectives,  # noqa: F401  registers the kernels of `native_collectives`
  hlo,
)

# Four devices, and code that is compiled quickly: what is compared is what XLA is given, not how well it optimises. XLA reads them
# when the first device is asked for.
FLAGS = {
  "xla_force_host_platform_device_count": "4",
  "xla_backend_optimization_level": "0",
  "xla_llvm_disable_expensive_passes": "true",
}
_GIVEN = os.environ.get("XLA_FLAGS", "")
os.environ["XLA_FLAGS"] = " ".join([_GIVEN, *(f"--{k}={v}" for k, v in FLAGS.items() if k not in _GIVEN)])

PASSES = (
  "all_gather_broadcast_reorder",
  "all_gather_decomposer",
  "all_gather_dynamic_slice_simplifier{allow_multiple_users=true}",
  "all_gather_dynamic_slice_permuted_offset_simplifier",
  "all_gather_optimizer",
  "all_reduce_blueconnect{num_devices_per_host=2}",
  "all_reduce_contiguous",
  "all_reduce_folder",
  "all_reduce_simplifier",
  "all_to_all_decomposer",
  "collective_permute_cycle_decomposer",
  "collective_select_folder",
  "conditional_simplifier",
  "double_buffer_loop_unrolling",
  "flatten_call_graph",
  "native_collectives",
  "reduce_scatter_decomposer",
  "reduce_scatter_reassociate",
  "while_loop_constant_sinking{sink_broadcast_of_constants=true}",
  "while_loop_trip_count_annotator",
  "while_loop_unroller",
  "all_reduce_code_motion",
  "all_reduce_reassociate",
  "all_reduce_splitter{only_known_groups=false}",
  "reduce_scatter_creator",
  "collective_pipeliner",
  "collective_pipeliner{direction=backward}",
  "collective_pipeliner{direction=forward_sink}",
  "combine_collectives",
  "combine_collectives{combine_by_dim=false}",
  "split_collectives{max_bytes=32}",
  "decompose_all_reduce{min_bytes=0}",
  "while_loop_simplifier",
  "while_loop_invariant_code_motion",
  "call_inliner",
  "tuple_simplifier",
  "cse",
  "dce",
  "constant_folding",
  "algebraic_simplifier",
  "reshape_mover",
  "transpose_mover",
  "schedule{device=cpu}",
  "all_gather_combiner",
  "all_reduce_combiner",
  "all_reduce_promotion",
  "all_to_all_combiner",
  "collective_permute_combiner",
  "collective_quantizer",
  "legalize_scheduling_annotations",
  "map_inliner",
  "reduce_scatter_combiner",
  "sync_collectives{everything=true}",
  "windowed_einsum",
  "zero_sized_hlo_elimination",
)
ROWS, COLUMNS, TRIPS = 4, 8, 3
DTYPES = ("int32", "int32", "int16", "float32")
Array = jax.Array


@dataclass
class Generated:
  """A program: what it does with its arguments, as a list of steps that is run again for every trace."""

  rng: np.random.Generator
  axes: tuple[str, ...]
  sizes: dict[str, int]
  dtype: str
  lines: list[str] = field(default_factory=list)

  @property
  def is_float(self) -> bool:
    return self.dtype == "float32"

  def body(self, depth: int) -> Callable[[list[Array]], list[Array]]:
    steps = [self._step(depth) for _ in range(int(self.rng.integers(2, 7)))]

    def run(values: list[Array]) -> list[Array]:
      for step in steps:
        values = step(values)
      return values

    return run

  def _step(self, depth: int) -> Callable[[list[Array]], list[Array]]:
    kinds = ["unary", "binary", "binary", "collective", "collective", "collective"]
    kinds += ["loop", "loop", "branch"] * (depth > 0) + ["sliced", "sum of two", "product"]
    kind = str(self.rng.choice(kinds))
    pick = int(self.rng.integers(0, 1000))
    if kind == "loop":
      return self._loop(depth - 1)
    if kind == "branch":
      return self._branch(depth - 1)
    function, name = getattr(self, "_" + kind.replace(" ", "_"))()
    other = int(self.rng.integers(0, 1000))
    self.lines.append(f"{'  ' * (2 - depth)}{name} of value {pick}, {other}")

    def step(values: list[Array]) -> list[Array]:
      x, y = values[pick % len(values)], values[other % len(values)]
      return [*values, self._bounded(function(x, y))]

    return step

  def _bounded(self, x: Array) -> Array:
    """Floats stay small, so that differences between orders of addition stay small too."""
    return jnp.tanh(x) if self.is_float else x.astype(self.dtype)  # sums of int16 are int32

  def _unary(self) -> tuple[Callable[[Array, Array], Array], str]:
    choices: list[tuple[Callable[[Array, Array], Array], str]] = [
      (lambda x, y: -x, "negate"),
      (lambda x, y: x * 3, "times 3"),
      (lambda x, y: x[:, ::-1], "reverse"),
      (lambda x, y: x.T.reshape(x.shape), "transpose"),
      (lambda x, y: jnp.roll(x, 1, 0), "roll"),
      (lambda x, y: x + lax.axis_index(self.axes[0]).astype(x.dtype), "plus index"),
    ]
    return choices[int(self.rng.integers(len(choices)))]

  def _binary(self) -> tuple[Callable[[Array, Array], Array], str]:
    choices: list[tuple[Callable[[Array, Array], Array], str]] = [
      (lambda x, y: x + y, "add"),
      (lambda x, y: x - y, "subtract"),
      (lambda x, y: x * y, "multiply"),
      (jnp.maximum, "maximum"),
      (lambda x, y: jnp.where(x > y, x, y * 2), "select"),
    ]
    return choices[int(self.rng.integers(len(choices)))]

  def _axis(self) -> tuple[str, int]:
    axis = self.axes[int(self.rng.integers(len(self.axes)))]
    return axis, self.sizes[axis]

  def _collective(self) -> tuple[Callable[[Array, Array], Array], str]:
    axis, n = self._axis()
    everywhere = self.axes if self.rng.integers(2) else (axis,)
    shift = [(i, (i + 1) % n) for i in range(n)]
    some = shift[: int(self.rng.integers(1, n + 1))]
    choices: list[tuple[Callable[[Array, Array], Array], str]] = [
      (lambda x, y: lax.psum(x, everywhere), f"psum {everywhere}"),
      (lambda x, y: lax.psum(x, axis), f"psum {axis}"),
      (lambda x, y: lax.pmax(x, axis), f"pmax {axis}"),
      (lambda x, y: lax.pmin(x, axis), f"pmin {axis}"),
      (lambda x, y: lax.ppermute(x, axis, shift), f"ppermute {axis}"),
      (lambda x, y: lax.ppermute(x, axis, some), f"ppermute {axis} {some}"),
      (lambda x, y: lax.all_gather(x, axis, tiled=True)[:ROWS], f"all_gather {axis}"),
      (lambda x, y: lax.all_gather(x, axis, axis=1, tiled=True)[:, -COLUMNS:], f"all_gather {axis} of columns"),
      (lambda x, y: jnp.tile(lax.psum_scatter(x, axis, tiled=True), (n, 1)), f"psum_scatter {axis}"),
      (lambda x, y: lax.all_to_all(x, axis, 1, 1, tiled=True), f"all_to_all {axis}"),
      (lambda x, y: sum(lax.psum((x, y), axis)), f"psum of two {axis}"),  # type: ignore[arg-type]
    ]
    return choices[int(self.rng.integers(len(choices)))]

  def _sliced(self) -> tuple[Callable[[Array, Array], Array], str]:
    """Each device keeps its part of a sum."""
    axis, n = self._axis()
    rows = ROWS // n

    def keep(x: Array, y: Array) -> Array:
      part = lax.dynamic_slice_in_dim(lax.psum(x, self.axes), lax.axis_index(axis) * rows, rows, 0)
      return jnp.tile(part, (n, 1))

    return keep, f"part of a psum by {axis}"

  def _sum_of_two(self) -> tuple[Callable[[Array, Array], Array], str]:
    axis, _ = self._axis()
    return (lambda x, y: lax.psum(x, axis) + lax.psum(y, axis)), f"psum + psum {axis}"

  def _product(self) -> tuple[Callable[[Array, Array], Array], str]:
    """A product of what is gathered, or one that is summed and scattered."""
    axis, n = self._axis()

    def gathered(x: Array, y: Array) -> Array:
      return jnp.tile(lax.all_gather(x, axis, tiled=True)[:ROWS] @ y.T, (1, COLUMNS // ROWS))

    def whole(x: Array, y: Array) -> Array:
      rows = lax.all_gather(x, axis, tiled=True) @ y.T
      return jnp.tile(rows[:ROWS] - rows[-ROWS:], (1, COLUMNS // ROWS))

    def scattered(x: Array, y: Array) -> Array:
      return jnp.tile(lax.psum_scatter(x @ y.T, axis, tiled=True), (n, COLUMNS // ROWS))

    choices: list[tuple[Callable[[Array, Array], Array], str]] = [
      (gathered, f"part of a product of all_gather {axis}"),
      (whole, f"product of all_gather {axis}"),
      (scattered, f"psum_scatter {axis} of a product"),
    ]
    return choices[int(self.rng.integers(len(choices)))]

  def _branch(self, depth: int) -> Callable[[list[Array]], list[Array]]:
    """All devices take the same branch, which may hold collectives."""
    self.lines.append(f"{'  ' * (1 - depth)}branches:")
    branches = [self.body(depth) for _ in range(2)]
    self.lines.append(f"{'  ' * (1 - depth)}end")
    pick, other = int(self.rng.integers(0, 1000)), int(self.rng.integers(0, 1000))

    def run(values: list[Array]) -> list[Array]:
      x, y = values[pick % len(values)], values[other % len(values)]
      taken = lax.psum(x[0, 0], self.axes) > 0
      return [*values, self._bounded(lax.cond(taken, *(lambda a, b, f=f: f([a, b])[-1] for f in branches), x, y))]

    return run

  def _loop(self, depth: int) -> Callable[[list[Array]], list[Array]]:
    self.lines.append(f"{'  ' * (1 - depth)}scan:")
    inner = self.body(depth)
    sums, stores, fetches = (bool(self.rng.integers(2)) for _ in range(3))
    axis, _ = self._axis()
    pick = int(self.rng.integers(0, 1000))
    self.lines.append(f"{'  ' * (1 - depth)}end (sums {sums}, stores {stores}, fetches {fetches}) over {axis}")

    def run(values: list[Array]) -> list[Array]:
      x = values[pick % len(values)]
      rows = jnp.stack([x + i for i in range(TRIPS)])

      def trip(carry: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], Array]:
        state, total = carry
        fetched = lax.all_gather(row, axis, tiled=True)[:ROWS] if fetches else row
        made = inner([state, fetched])
        new = made[-1]
        total = total + lax.psum(new, axis) if sums else total + new
        if self.is_float:
          total = total * 0.5
        return (new, total), lax.psum(made[len(made) // 2], axis) if stores else new

      (state, total), stored = lax.scan(trip, (x, jnp.zeros_like(x)), rows)
      return [*values, self._bounded(state), self._bounded(total), self._bounded(stored.sum(0))]

    return run


def generated(seed: int) -> tuple[Generated, Callable[..., Any], tuple[np.ndarray, ...], list[str]]:
  """The program of a seed, its arguments, and the passes to try."""
  rng = np.random.default_rng(seed)
  flat = bool(rng.integers(2))
  axes = ("a",) if flat else ("a", "b")
  sizes = {"a": 4} if flat else {"a": 2, "b": 2}
  program = Generated(rng, axes, sizes, str(rng.choice(DTYPES)))
  run = program.body(2)
  devices = np.array(jax.devices("cpu")[:4]).reshape([sizes[a] for a in axes])
  mesh = Mesh(devices, axes)

  def body(x: Array, y: Array) -> tuple[Array, ...]:
    return tuple(run([x, y])[-3:])

  spec = P(axes)
  function = jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False)
  shape = (4 * ROWS, COLUMNS)
  if program.is_float:
    arguments = tuple(rng.standard_normal(shape).astype(np.float32) for _ in range(2))
  else:
    arguments = tuple(rng.integers(-9, 10, shape).astype(program.dtype) for _ in range(2))
  passes = [str(p) for p in rng.choice(PASSES, int(rng.integers(1, 5)), replace=False)]
  return program, function, arguments, passes


def check(seed: int, last: Sequence[str] = ()) -> str | None:
  """What is wrong with the program of a seed, with the passes in `last` after its own; None if nothing is."""
  program, function, arguments, passes = generated(seed)
  passes = [*(p for p in passes if p not in last), *last]
  wanted = [np.asarray(x) for x in jax.jit(function)(*arguments)]
  with warnings.catch_warnings(record=True) as noted:
    warnings.simplefilter("always")
    with hlo.install(passes, platforms="cpu", fingerprint=f"random {seed} {last}"):
      got = [np.asarray(x) for x in jax.jit(function)(*arguments)]
  failed = [str(w.message) for w in noted if issubclass(w.category, hlo.HloPassWarning)]
  if failed:
    return failed[0]
  for number, (a, b) in enumerate(zip(wanted, got, strict=True)):
    same = np.allclose(a, b, 1e-4, 1e-4, equal_nan=True) if program.is_float else np.array_equal(a, b)
    if not same:
      worst = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))
      return f"result {number} differs by up to {worst:g}"
  return None


def main() -> int:
  parser = argparse.ArgumentParser(
    prog="python -m tests.hlo.random_collectives", description=(__doc__ or "").splitlines()[0]
  )
  parser.add_argument("--count", type=int, default=100)
  parser.add_argument("--seed", type=int, default=0, help="the first seed")
  parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
  parser.add_argument("--show", action="store_true", help="print each program")
  parser.add_argument("--last", nargs="*", default=(), help="passes after those of each program")
  options = parser.parse_args()
  start, faults, ran = time.monotonic(), 0, 0
  for seed in range(options.seed, options.seed + options.count):
    if time.monotonic() - start > options.seconds:
      break
    if options.show:
      program, _, _, passes = generated(seed)
      print(f"seed {seed}: {', '.join(passes)}", *program.lines, sep="\n  ", flush=True)
    wrong = check(seed, options.last)
    ran += 1
    if wrong is not None:
      faults += 1
      print(f"seed {seed}, passes {generated(seed)[3]}: {wrong}", flush=True)
    if ran % 50 == 0:
      jax.clear_caches()
    if ran % 25 == 0:
      print(f"{ran} programs to seed {seed}, {faults} faults", file=sys.stderr, flush=True)
  print(f"{ran} programs, {faults} faults, {time.monotonic() - start:.0f} s")
  return 1 if faults else 0


if __name__ == "__main__":
  sys.exit(main())
