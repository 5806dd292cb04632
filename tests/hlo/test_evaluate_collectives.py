"""Collectives: shard_map programs on four devices against XLA, and the four group modes from the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from against_jax import assert_close, full_text
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tilewright import hlo

X = np.random.default_rng(3).normal(size=(8, 4)).astype(np.float32)


def mesh(**axes: int) -> Mesh:
  count = int(np.prod(list(axes.values())))
  return Mesh(np.array(jax.devices("cpu")[:count]).reshape(tuple(axes.values())), tuple(axes))


def check_sharded(
  function: Callable, devices: Mesh, spec: Any, *args: np.ndarray, out: Any = None, ulps: float = 4
) -> None:
  """Every device's part of every result is JAX's."""
  sharding = NamedSharding(devices, spec)
  placed = [jax.device_put(a, sharding) for a in args]
  mapped = jax.jit(jax.shard_map(function, mesh=devices, in_specs=spec, out_specs=spec if out is None else out))
  compiled = mapped.lower(*placed).compile()
  want = jax.tree.leaves(compiled(*placed))
  (module,) = compiled.runtime_executable().hlo_modules()
  order = list(devices.devices.reshape(-1))
  part = lambda array, d: next(np.asarray(s.data) for s in array.addressable_shards if s.device == order[d])
  parsed = hlo.parse(full_text(module))
  got = hlo.evaluate_devices(parsed, [[part(a, d) for a in placed] for d in range(len(order))])
  for d, result in enumerate(got):
    for i, (g, w) in enumerate(zip(jax.tree.leaves(result), want, strict=True)):
      assert_close(g, part(w, d), ulps, 10.0, f"device {d}, result {i}")


SHARDED: dict[str, Callable] = {
  "psum": lambda x: lax.psum(x, "i"),
  "psum groups": lambda x: lax.psum(x, "i") + lax.pmax(x * 2, "i"),
  "pmean pmin": lambda x: lax.pmean(x, "i") * lax.pmin(x, "i"),
  "all_gather": lambda x: lax.all_gather(x, "i", tiled=True).sum(0, keepdims=True) + x,
  "psum_scatter": lambda x: lax.psum_scatter(jnp.tile(x, (4, 1)), "i", tiled=True),
  "all_to_all": lambda x: lax.all_to_all(x, "i", split_axis=1, concat_axis=0, tiled=True),
  "ppermute": lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 3), (3, 0)]),
  "ppermute hole": lambda x: lax.ppermute(x, "i", [(0, 1), (2, 3)]),
  "axis_index": lambda x: x + lax.axis_index("i"),
  "int": lambda x: lax.psum(jnp.round(x * 10).astype(jnp.int32), "i"),
  "argmax": lambda x: lax.pmax(x.max(), "i")[None, None] + x,
}


@pytest.mark.parametrize("name", SHARDED)
def test_shard_map(name: str) -> None:
  spec = P("i")
  out = P(None, "i") if name == "all_to_all" else P("i")
  check_sharded(SHARDED[name], mesh(i=4), spec, X, out=out)


def test_collectives_over_one_axis_of_a_mesh() -> None:
  def program(x: jax.Array) -> list[jax.Array]:
    return [
      lax.psum(x, "a") * jnp.ones_like(x),
      lax.all_gather(x, "b", axis=1, tiled=True)[:, :2],
      lax.psum(x, ("a", "b")) + x,
    ]

  check_sharded(program, mesh(a=2, b=2), P("a", "b"), X)


def test_collectives_inside_loops_and_branches() -> None:
  def program(x: jax.Array) -> jax.Array:
    def body(i: jax.Array, state: jax.Array) -> jax.Array:
      moved = lax.ppermute(state, "i", [(0, 1), (1, 2), (2, 3), (3, 0)])
      even = lambda s: lax.psum(s, "i") * 0.25 * jnp.ones_like(s)
      return lax.cond(i % 2 == 0, even, lambda s: s + moved, state)

    return lax.fori_loop(0, 5, body, x)

  spec = P("i")
  devices = mesh(i=4)
  mapped = jax.shard_map(program, mesh=devices, in_specs=spec, out_specs=spec, check_vma=False)
  placed = jax.device_put(X, NamedSharding(devices, spec))
  compiled = jax.jit(mapped).lower(placed).compile()
  want = np.asarray(compiled(placed))
  module = hlo.parse(full_text(compiled.runtime_executable().hlo_modules()[0]))
  got = np.concatenate(hlo.evaluate_devices(module, [[X[2 * d : 2 * d + 2]] for d in range(4)]))
  assert_close(got, want, 64, 10.0)


def test_data_parallel_gradient() -> None:
  def step(w: jax.Array, x: jax.Array) -> jax.Array:
    return w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

  devices = mesh(i=4)
  w = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
  shardings = (NamedSharding(devices, P()), NamedSharding(devices, P("i")))
  compiled = jax.jit(step, in_shardings=shardings, out_shardings=shardings[0]).lower(w, X).compile()
  want = np.asarray(compiled(*(jax.device_put(a, s) for a, s in zip((w, X), shardings))))
  module = hlo.parse(full_text(compiled.runtime_executable().hlo_modules()[0]))
  for result in hlo.evaluate_devices(module, [(w, X[2 * d : 2 * d + 2]) for d in range(4)]):
    assert_close(result, want, 16, 1.0)


# From the text.

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"


def run(body: str, count: int, replicas: int = 1, shape: str = "f32[2]", values: np.ndarray | None = None) -> list[Any]:
  """Device d holds [d, 10 d] unless values are given."""
  text = f"HloModule m\n{ADD}ENTRY e {{\n  x = {shape} parameter(0)\n{body}\n}}"
  own = [np.array([d, 10 * d], np.float32) for d in range(count)] if values is None else list(values)
  return hlo.evaluate_devices(
    hlo.parse(text), [[v] for v in own], num_replicas=replicas, num_partitions=count // replicas
  )


@pytest.mark.parametrize(
  ("attributes", "groups"),
  [
    ("replica_groups={{0,1}}", [[0, 2], [1, 3]]),  # replicas, partition by partition
    ("replica_groups={{0},{1}}, channel_id=1", [[0, 1], [2, 3]]),  # all partitions of each replica
    ("replica_groups={{0,1}}, channel_id=1", [[0, 1, 2, 3]]),
    ("replica_groups={{0,3},{1,2}}, channel_id=1, use_global_device_ids=true", [[0, 3], [1, 2]]),
    ("replica_groups=[2,2]<=[2,2]T(1,0), channel_id=1, use_global_device_ids=true", [[0, 2], [1, 3]]),
    ('replica_groups=mesh["a"=2,"b"=2] {"a"}, channel_id=1, use_global_device_ids=true', [[0, 2], [1, 3]]),
    ("replica_groups={}", [[0, 2], [1, 3]]),
  ],
)
def test_group_modes_of_all_reduce(attributes: str, groups: list[list[int]]) -> None:
  """Two replicas of two partitions: devices 0, 1 | 2, 3."""
  got = run(f"  ROOT r = f32[2] all-reduce(x), {attributes}, to_apply=add", 4, replicas=2)
  for group in groups:
    for d in group:
      assert got[d][0] == sum(group)


@pytest.mark.parametrize(("attributes", "sources"), [("channel_id=1", [1, 0, 3, 2]), ("", [2, 3, 0, 1])])
def test_collective_permute_by_partition_or_by_replica(attributes: str, sources: list[int]) -> None:
  comma = ", " if attributes else ""
  got = run(
    f"  ROOT r = f32[2] collective-permute(x), source_target_pairs={{{{0,1}},{{1,0}}}}{comma}{attributes}", 4, 2
  )
  assert [int(g[0]) for g in got] == sources


def test_all_gather_reduce_scatter_and_their_order() -> None:
  groups = "replica_groups={{1,0,2,3}}, channel_id=1, use_global_device_ids=true"
  gathered = run(f"  ROOT r = f32[8] all-gather(x), dimensions={{0}}, {groups}", 4)
  assert gathered[0].tolist() == [1, 10, 0, 0, 2, 20, 3, 30]
  values = np.arange(16, dtype=np.float32).reshape(4, 4)
  scattered = run(
    f"  ROOT r = f32[1] reduce-scatter(x), dimensions={{0}}, to_apply=add, {groups}", 4, shape="f32[4]", values=values
  )
  assert [s.tolist() for s in scattered] == [[28], [24], [32], [36]]  # the second of the group gets the second part


def test_all_to_all_in_both_forms() -> None:
  array = run("  ROOT r = f32[2] all-to-all(x), dimensions={0}, replica_groups={{0,1}}, channel_id=1", 2)
  assert [a.tolist() for a in array] == [[0, 1], [0, 10]]
  body = """  y = f32[2] negate(x)
    ROOT r = (f32[2], f32[2]) all-to-all(x, y), replica_groups={{0,1}}, channel_id=1"""
  first, second = run(body, 2)
  assert [p.tolist() for p in first] == [[0, 0], [1, 10]]
  assert [p.tolist() for p in second] == [[0, 0], [-1, -10]]


def test_start_and_done_give_what_the_plain_form_gives() -> None:
  groups = "replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true"
  body = f"""  s = f32[2] all-reduce-start(x), {groups}, to_apply=add
    sum = f32[2] all-reduce-done(s)
    g = (f32[2], f32[4]) all-gather-start(x), dimensions={{0}}, {groups.replace("=1", "=2")}
    all = f32[4] all-gather-done(g)
    p = (f32[2], f32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{{{0,1}},{{1,0}}}}, channel_id=3
    other = f32[2] collective-permute-done(p)
    a = ((f32[2]), f32[1], s32[]) reduce-scatter-start(x), dimensions={{0}}, {groups.replace("=1", "=4")}, to_apply=add
    part = f32[1] reduce-scatter-done(a)
    ROOT t = (f32[2], f32[4], f32[2], f32[1]) tuple(sum, all, other, part)"""
  for d, (total, everything, other, part) in zip(range(2), run(body, 2), strict=True):
    assert total.tolist() == [1, 10]
    assert everything.tolist() == [0, 0, 1, 10]
    assert other.tolist() == [1 - d, 10 * (1 - d)]
    assert part.tolist() == [[1], [10]][d]


def test_collective_broadcast_and_ids() -> None:
  body = """  b = f32[2] collective-broadcast(x), replica_groups={{2,0,1}}, channel_id=1
    p = u32[] partition-id()
    r = u32[] replica-id()
    ROOT t = (f32[2], u32[], u32[]) tuple(b, p, r)"""
  got = run(body, 4)
  assert [int(b[0]) for b, _, _ in got] == [2, 2, 2, 0]
  assert [(int(p), int(r)) for _, p, r in got] == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_ragged_all_to_all() -> None:
  text = """HloModule m
  ENTRY e {
    x = f32[4] parameter(0)
    out = f32[4] parameter(1)
    offsets = s32[2] parameter(2)
    sizes = s32[2] parameter(3)
    to = s32[2] parameter(4)
    receive = s32[2] parameter(5)
    ROOT r = f32[4] ragged-all-to-all(x, out, offsets, sizes, to, receive), replica_groups={{0,1}}, channel_id=1
  }"""
  ints = lambda *v: np.array(v, np.int32)
  out = np.zeros(4, np.float32)
  first = (np.array([1, 2, 2, 0], np.float32), out, ints(0, 1), ints(1, 2), ints(0, 0), ints(1, 1))
  second = (np.array([3, 4, 0, 0], np.float32), out, ints(0, 1), ints(1, 1), ints(1, 2), ints(2, 1))
  got = hlo.evaluate_devices(hlo.parse(text), [first, second], num_partitions=2)
  assert [g.tolist() for g in got] == [[1, 3, 0, 0], [2, 2, 4, 0]]


def test_send_and_recv_carry_a_value_around() -> None:
  pairs = 'frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2}}"}'
  body = f"""  t = token[] after-all()
    r = (f32[2], u32[], token[]) recv(t), channel_id=1, {pairs}
    s = (f32[2], u32[], token[]) send(x, t), channel_id=1, {pairs}
    d = (f32[2], token[]) recv-done(r), channel_id=1, {pairs}
    sd = token[] send-done(s), channel_id=1, {pairs}
    ROOT y = f32[2] get-tuple-element(d), index=0"""
  assert [g.tolist() for g in run(body, 3)] == [[0, 0], [0, 0], [1, 10]]


def test_a_program_that_would_hang_is_an_error() -> None:
  text = f"""HloModule m
  {ADD}
  yes {{ y = f32[2] parameter(0)
    ROOT r = f32[2] all-reduce(y), replica_groups={{{{0,1}}}}, channel_id=1, use_global_device_ids=true, to_apply=add }}
  no {{ ROOT n = f32[2] parameter(0) }}
  ENTRY e {{
    x = f32[2] parameter(0)
    p = u32[] partition-id()
    zero = u32[] constant(0)
    first = pred[] compare(p, zero), direction=EQ
    ROOT c = f32[2] conditional(first, x, x), true_computation=yes, false_computation=no
  }}"""
  args = [[np.zeros(2, np.float32)]] * 2
  with pytest.raises(hlo.HloEvaluateError, match=r"(?s)device 0 waits for 1 at %r = .*all-reduce.*finished: 1"):
    hlo.evaluate_devices(hlo.parse(text), args, num_partitions=2)


def test_too_few_devices_is_an_error() -> None:
  with pytest.raises(hlo.HloEvaluateError, match="device 3"):
    run(
      "  ROOT r = f32[2] all-reduce(x), replica_groups={{0,3}}, channel_id=1, use_global_device_ids=true, to_apply=add",
      2,
    )


def test_collective_reduce_gives_the_total_to_the_first_of_each_group() -> None:
  module = hlo.parse(
    """HloModule m, replica_count=4
    sum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }
    ENTRY e { x = s32[2] parameter(0)
      ROOT r = s32[2] collective-reduce(x), replica_groups={{2,0},{1,3}}, to_apply=sum }"""
  )
  got = hlo.evaluate_devices(module, [[np.array([d, 10 * d], np.int32)] for d in range(4)])
  assert np.array_equal(got[2], [2, 20]) and np.array_equal(got[1], [4, 40])


SHARDY = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]MESH>}}
add { l = f32[] parameter(0) r = f32[] parameter(1) ROOT s = f32[] add(l, r) }
body { p = f32[2,2] parameter(0)
  ROOT r = f32[2,2] all-reduce(p), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add }
ENTRY main {
  x = f32[4,4] parameter(0)
  b = f32[4,4] custom-call(x), custom_call_target="xla.sdy.PropagationBarrier"
  l = f32[2,2] custom-call(b), custom_call_target="xla.sdy.GlobalToLocalShape",
    frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"a\\"}, {\\"b\\"}]>]>",
      xla.sdy.manual_axes="#sdy<manual_axes{\\"a\\", \\"b\\"}>"}
  c = f32[2,2] call(l), to_apply=body
  ROOT g = f32[2,4] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
    frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\\"a\\", \\"b\\"}>",
      xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {\\"b\\"}]>]>"}
}"""


def test_manual_computations_work_on_their_parts() -> None:
  x = np.arange(16, dtype=np.float32).reshape(4, 4)
  module = hlo.parse(SHARDY.replace("MESH", ""))
  np.testing.assert_array_equal(hlo.evaluate(module, x), x[:2] + x[2:])
  for result in hlo.evaluate_devices(module, [[x]] * 4, num_replicas=1, num_partitions=4):
    np.testing.assert_array_equal(result, x[:2] + x[2:])
  turned = hlo.parse(SHARDY.replace("MESH", ", device_ids=[3, 2, 1, 0]"))
  np.testing.assert_array_equal(hlo.evaluate(turned, x), x[:2] + x[2:])
