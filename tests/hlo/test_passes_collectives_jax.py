"""Passes over collectives inside XLA: real programs on four host devices, with and without each pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collective_checks import assert_same
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tilewright import hlo
from tilewright.hlo.errors import HloPassWarning
from tilewright.hlo.passes import run_passes

DEVICES = 4
K = 6  # trips of every loop
R, S = PartitionSpec(), PartitionSpec(None, "d")  # replicated; split along dimension 1

Program = Callable[..., Any]


def body_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  return jax.lax.psum(jnp.tanh(x @ w), "d")


def gradient_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  return jax.lax.scan(lambda acc, row: (acc + body_sum(row, w), None), jnp.zeros((2, 4)), x)[0]


def started_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  return jax.lax.scan(lambda acc, row: (acc + body_sum(row, w), None), jnp.sin(w[:2]), x)[0]


def scaled_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  return jax.lax.scan(lambda acc, row: (acc + body_sum(row, w).T / K, None), jnp.zeros((4, 2)), x)[0]


def mean_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  def step(acc: jax.Array, row: jax.Array) -> tuple[jax.Array, None]:
    return acc + jax.lax.pmean(jnp.tanh(row @ w), "d"), None

  return jax.lax.scan(step, jnp.zeros((2, 4)), x)[0]


def nested_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  def outer(acc: jax.Array, scale: jax.Array) -> tuple[jax.Array, None]:
    return jax.lax.scan(lambda a, row: (a + body_sum(row * scale, w), None), acc, x)[0], None

  return jax.lax.scan(outer, jnp.zeros((2, 4)), jnp.arange(1.0, 4.0))[0]


def two_sums(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
  def step(acc: tuple[jax.Array, jax.Array], row: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
    y = jnp.tanh(row @ w)
    total, squares = jax.lax.psum((y, jnp.sum(y * y)), "d")
    return (acc[0] + total, acc[1] + squares), None

  return jax.lax.scan(step, (jnp.zeros((2, 4)), jnp.zeros(())), x)[0]


def integer_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  def step(acc: jax.Array, row: jax.Array) -> tuple[jax.Array, None]:
    return acc + jax.lax.psum((row @ w * 100).astype(jnp.int32), "d"), None

  return jax.lax.scan(step, jnp.zeros((2, 4), jnp.int32), x)[0]


def scattered_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  def step(acc: jax.Array, row: jax.Array) -> tuple[jax.Array, None]:
    return acc + jax.lax.psum_scatter(jnp.tanh(row @ w).reshape(8), "d", tiled=True), None

  total = jax.lax.scan(step, jnp.zeros(2), x)[0]
  return jax.lax.all_gather(total, "d")


def read_sum(x: jax.Array, w: jax.Array) -> jax.Array:
  """Not a plain sum: each trip reads what was summed so far."""
  return jax.lax.scan(lambda acc, row: (acc + body_sum(row + acc, w), None), jnp.zeros((2, 4)), x)[0]


def stored(x: jax.Array, w: jax.Array) -> jax.Array:
  return jax.lax.scan(lambda _, row: (None, body_sum(row, w)), None, x)[1]


def stored_with_state(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
  def step(h: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
    h = jnp.tanh(h @ w + row)
    return h, jax.lax.psum(h, "d")

  return jax.lax.scan(step, jnp.zeros((2, 4)), x)


def fetched(x: jax.Array, w: jax.Array) -> jax.Array:
  """Each trip gathers its own slice of the weights."""
  weights = jnp.stack([w * i for i in range(K)])

  def step(h: jax.Array, shard: jax.Array) -> tuple[jax.Array, None]:
    full = jax.lax.all_gather(shard, "d").mean(0)
    return jnp.tanh(h @ full), None

  return jax.lax.psum(jax.lax.scan(step, x[0], weights)[0], "d")


def ring(x: jax.Array, w: jax.Array) -> jax.Array:
  pairs = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]

  def step(carry: tuple[jax.Array, jax.Array], row: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
    acc, h = carry
    return (acc + row @ w * h, jax.lax.ppermute(h, "d", pairs)), None

  (acc, _), _ = jax.lax.scan(step, (jnp.zeros((2, 4)), x[0]), x)
  return jax.lax.psum(acc, "d")


def straight(x: jax.Array, w: jax.Array) -> tuple[jax.Array, ...]:
  return tuple(jax.lax.psum(jnp.sin(x[i] @ w), "d") for i in range(K))


PROGRAMS: dict[str, Program] = {
  f.__name__: f
  for f in (
    *(gradient_sum, started_sum, scaled_sum, mean_sum, nested_sum, two_sums, integer_sum, scattered_sum, read_sum),
    *(stored, stored_with_state, fetched, ring, straight),
  )
}
IN_XLA = (
  "all_reduce_code_motion",
  "collective_pipeliner",
  "collective_pipeliner{direction=backward}",
  "collective_pipeliner{direction=forward_sink}",
  "combine_collectives",
  "split_collectives{max_bytes=16}",
  "decompose_all_reduce{min_bytes=0}",
  "reduce_scatter_creator",
  "all_reduce_reassociate",
  "while_loop_simplifier",
  "while_loop_invariant_code_motion",
)
ONLY_EVALUATED = ("async_collectives", "collective_permute_to_send_recv")  # XLA's CPU back end does not run these


def mesh() -> Mesh:
  return Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("d",))


def arguments() -> tuple[np.ndarray, np.ndarray]:
  rng = np.random.default_rng(1)
  return rng.normal(size=(K, 2 * DEVICES, 4)).astype(np.float32), rng.normal(size=(4, 4)).astype(np.float32)


def compiled(program: Program) -> jax.stages.Compiled:
  here = mesh()
  args = (
    jax.device_put(arguments()[0], NamedSharding(here, S)),
    jax.device_put(arguments()[1], NamedSharding(here, R)),
  )
  f = jax.shard_map(lambda *xs: program(*xs), mesh=here, in_specs=(S, R), out_specs=R, check_vma=False)
  return jax.jit(f).lower(*args).compile()


def run(executable: jax.stages.Compiled) -> tuple[np.ndarray, ...]:
  here = mesh()
  args = (
    jax.device_put(arguments()[0], NamedSharding(here, S)),
    jax.device_put(arguments()[1], NamedSharding(here, R)),
  )
  return tuple(np.asarray(leaf) for leaf in jax.tree.leaves(executable(*args)))


def evaluated(module: hlo.Module) -> list[Any]:
  x, w = arguments()
  own = [(part, w) for part in np.split(x, DEVICES, axis=1)]
  return hlo.evaluate_devices(module, own, num_replicas=1, num_partitions=DEVICES)


def executed(executable: jax.stages.Compiled, opcode: str) -> int:
  """How many instructions of an opcode device 0 runs."""
  seen = 0

  def note(device: int, instruction: hlo.Instruction, value: object) -> None:
    nonlocal seen
    seen += device == 0 and instruction.opcode == opcode

  x, w = arguments()
  own = [(part, w) for part in np.split(x, DEVICES, axis=1)]
  module = hlo.parse(executable.as_text())
  hlo.evaluate_devices(module, own, num_replicas=1, num_partitions=DEVICES, on_value=note)
  return seen


@pytest.fixture(scope="module")
def plain() -> dict[str, jax.stages.Compiled]:
  return {name: compiled(program) for name, program in PROGRAMS.items()}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("passes", IN_XLA)
def test_a_program_computes_the_same_with_the_pass_inside_xla(
  plain: dict[str, jax.stages.Compiled], name: str, passes: str
) -> None:
  with warnings.catch_warnings():
    warnings.simplefilter("error", HloPassWarning)
    with hlo.install(passes, platforms="cpu"):
      changed = compiled(PROGRAMS[name])
  assert_same([run(plain[name])], [run(changed)], 1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("passes", IN_XLA + ONLY_EVALUATED)
def test_the_module_xla_made_evaluates_the_same_with_the_pass(
  plain: dict[str, jax.stages.Compiled], name: str, passes: str
) -> None:
  module = hlo.parse(plain[name].as_text())
  module.is_scheduled = False  # some passes leave a schedule alone
  before = evaluated(module)
  wanted = run(plain[name])
  assert_same([wanted], [before[0] if isinstance(before[0], tuple) else (before[0],)], 1e-5)
  run_passes(module, [passes], verify=True)
  assert_same(before, evaluated(module), 1e-5)
  assert not run_passes(module, [passes], verify=True).changed  # once is enough


@pytest.mark.parametrize(
  ("name", "before", "after"),
  [
    ("gradient_sum", K, 1),
    ("started_sum", K, 1),
    ("scaled_sum", K, 1),
    ("mean_sum", K, 1),
    ("nested_sum", 3 * K, 1),
    ("two_sums", K, 1),
    ("integer_sum", K, 1),
    ("stored", K, 1),
    ("stored_with_state", K, 1),
    ("read_sum", K, K),
  ],
)
def test_how_many_all_reduces_are_left(
  plain: dict[str, jax.stages.Compiled], name: str, before: int, after: int
) -> None:
  with hlo.install("all_reduce_code_motion", platforms="cpu"):
    moved = compiled(PROGRAMS[name])
  assert executed(plain[name], "all-reduce") == before
  assert executed(moved, "all-reduce") == after


def test_a_sum_of_reduce_scatters_is_scattered_once(plain: dict[str, jax.stages.Compiled]) -> None:
  with hlo.install("all_reduce_code_motion", platforms="cpu"):
    moved = compiled(PROGRAMS["scattered_sum"])
  assert executed(plain["scattered_sum"], "reduce-scatter") == K
  assert executed(moved, "reduce-scatter") == 1


def test_the_all_reduces_of_an_automatically_partitioned_step_move_too() -> None:
  """No collective in the program: XLA's partitioner puts them into the loop, for gradients and for the stored losses."""

  def loss(w: list[jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)

  def step(w: list[jax.Array], x: jax.Array, y: jax.Array) -> tuple[list[jax.Array], jax.Array]:
    def microbatch(total: list[jax.Array], xy: tuple[jax.Array, jax.Array]) -> tuple[list[jax.Array], jax.Array]:
      value, gradient = jax.value_and_grad(loss)(w, *xy)
      return jax.tree.map(jnp.add, total, gradient), value

    total, losses = jax.lax.scan(microbatch, jax.tree.map(jnp.zeros_like, w), (x, y))
    return jax.tree.map(lambda p, g: p - 0.1 * g, w, total), losses

  rng, here = np.random.default_rng(0), mesh()
  split, whole = NamedSharding(here, S), NamedSharding(here, R)
  weights = jax.device_put([rng.normal(size=(4, 4)).astype(np.float32) for _ in range(2)], whole)
  x, y = jax.device_put(tuple(rng.normal(size=(2, K, 8, 4)).astype(np.float32)), split)

  def build() -> jax.stages.Compiled:
    return jax.jit(lambda *args: step(*args), out_shardings=whole).lower(weights, x, y).compile()

  before = build()
  with hlo.install("all_reduce_code_motion", platforms="cpu"):
    after = build()
  where = [i.parent for i in hlo.parse(after.as_text()).instructions() if i.opcode == "all-reduce"]
  assert len(where) == 1 and where[0] is not None and where[0].is_entry
  pair = [tuple(np.asarray(leaf) for leaf in jax.tree.leaves(c(weights, x, y))) for c in (before, after)]
  assert_same([pair[0]], [pair[1]], 1e-5)


@pytest.mark.parametrize("checked", [False, True])
def test_sums_over_one_mesh_axis_after_the_other_both_leave_the_loop(checked: bool) -> None:
  grid = Mesh(np.array(jax.devices("cpu")[:DEVICES]).reshape(2, 2), ("a", "b"))
  split = PartitionSpec(None, ("a", "b"))

  def total(x: jax.Array) -> jax.Array:
    def step(acc: jax.Array, row: jax.Array) -> tuple[jax.Array, None]:
      return acc + jax.lax.psum(jax.lax.psum(jnp.tanh(row), "a"), "b"), None

    return jax.lax.scan(step, jnp.zeros((2, 4)), x)[0]

  x = jax.device_put(arguments()[0], NamedSharding(grid, split))

  def build() -> jax.stages.Compiled:
    f = jax.shard_map(lambda v: total(v), mesh=grid, in_specs=split, out_specs=R, check_vma=checked)
    return jax.jit(f).lower(x).compile()

  before = build()
  with hlo.install("all_reduce_code_motion", platforms="cpu"):
    after = build()
  places = [i.parent for i in hlo.parse(after.as_text()).instructions() if i.opcode == "all-reduce"]
  assert places and all(place is not None and place.is_entry for place in places)
  assert_same([np.asarray(before(x))], [np.asarray(after(x))], 1e-5)


def test_pipelining_happens_inside_xla() -> None:
  """The collective of a trip no longer depends on the work of that trip."""
  with hlo.install("collective_pipeliner", platforms="cpu") as hook:
    compiled(PROGRAMS["stored_with_state"])
  assert hook.changed
  with hlo.install("collective_pipeliner{direction=backward}", platforms="cpu") as hook:
    compiled(PROGRAMS["fetched"])
  assert hook.changed
  with hlo.install("collective_pipeliner{direction=forward_sink}", platforms="cpu") as hook:
    sunk = compiled(PROGRAMS["stored_with_state"])
  assert hook.changed and executed(sunk, "all-reduce") == 1


@pytest.mark.parametrize("name", ["gathered", "gathered_along_1", "scattered"])
def test_sunk_collectives_keep_the_dimension_they_join_slowest(name: str) -> None:
  """XLA:CPU moves whole blocks: with the trips as the slowest dimension the numbers were wrong."""
  collective = {
    "gathered": lambda y: jax.lax.all_gather(y, "d", tiled=True),
    "gathered_along_1": lambda y: jax.lax.all_gather(y, "d", axis=1, tiled=True),
    "scattered": lambda y: jax.lax.psum_scatter(y, "d", scatter_dimension=0, tiled=True),
  }[name]

  def program(x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda c, i: (c, collective(jnp.sin(x) * i)), 0.0, jnp.arange(5.0))[1]

  def run() -> np.ndarray:
    split = PartitionSpec("d")
    f = jax.shard_map(lambda x: program(x), mesh=mesh(), in_specs=split, out_specs=split, check_vma=False)
    return np.asarray(jax.jit(f)(np.arange(48.0, dtype=np.float32).reshape(16, 3)))

  expected = run()
  with hlo.install("collective_pipeliner{direction=forward_sink}", platforms="cpu") as hook:
    np.testing.assert_array_equal(run(), expected)
  assert hook.changed and not any(report.failures for report in hook.reports)


def test_passes_that_make_what_the_cpu_cannot_run_leave_its_modules_alone() -> None:
  with warnings.catch_warnings(), hlo.install(["async_collectives", "collective_permute_to_send_recv"]) as hook:
    warnings.simplefilter("error")
    compiled(PROGRAMS["gradient_sum"])
  assert not hook.changed


def test_layouts_that_the_cpu_computes_wrong_values_with_are_found() -> None:
  from tilewright.hlo.verify_platform import platform_problems

  text = "HloModule m, is_scheduled=true\nENTRY e { x = f32[5,4]{LAYOUT} parameter(0)\n"
  text += " ROOT g = f32[5,16]{LAYOUT} all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1} }"
  assert "slowest" in platform_problems(hlo.parse(text.replace("LAYOUT", "1,0")), "cpu")[0]
  assert not platform_problems(hlo.parse(text.replace("LAYOUT", "0,1")), "cpu")
