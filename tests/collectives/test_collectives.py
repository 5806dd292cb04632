"""Every collective against NumPy: dtypes, operations, groups, several axes, derivatives, vmap."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.support.device_meshes import N, mesh_of, numbers, on
from tilewright import collectives, errors
from tilewright.collectives import ragged

pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")

GROUPS = {
  "all": None,
  "halves": [[0, 1, 2, 3], [4, 5, 6, 7]],
  "turned": [[7, 0, 3], [1, 5, 2], [4], [6]],
  "uneven and empty": [[0, 1, 2, 3, 4], [], [6, 5]],
}


def groups_of(name):
  given = GROUPS[name]
  found = [g for g in (given or [range(N)]) if len(g)]
  rest = [[i] for i in range(N) if not any(i in g for g in found)]
  return [list(g) for g in (*found, *rest)]


DTYPES = [
  *(np.float32, np.int32, np.bool_, np.int8, np.uint8, jnp.bfloat16, np.float16),
  *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4, np.complex64),
]
REDUCE = {"sum": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or}


def reduced(x, op):
  """In float64 or int64, then rounded; the numbers are small enough for every dtype but int4, which wraps."""
  dtype = np.int32 if x.dtype == np.bool_ and op == "sum" else x.dtype
  wide = x if x.dtype == np.bool_ and op != "sum" else x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
  if op in ("and", "or") and x.dtype != np.bool_:
    wide = x.astype(np.int64)
  total = REDUCE[op].reduce(wide, axis=0)
  if x.dtype in (ml_dtypes.int4, ml_dtypes.uint4):
    total = total.astype(np.int64)
    return ((total + 8) % 16 - 8).astype(dtype) if x.dtype == ml_dtypes.int4 else (total % 16).astype(dtype)
  return total.astype(dtype)


def same(found, expected):
  assert found.dtype == expected.dtype and found.shape == expected.shape
  as_numbers = lambda x: x if x.dtype.kind in "biufc" else x.astype(np.float32)
  np.testing.assert_array_equal(as_numbers(found), as_numbers(expected))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_all_reduce_of_every_dtype(dtype):
  x = numbers((N, 33), dtype)
  ops = ["sum"]
  if np.dtype(dtype).kind != "c":
    ops += ["max"] if np.dtype(dtype).itemsize < 4 else ["max", "min"]
  if np.dtype(dtype) in (np.bool_, np.int32, np.uint8):
    ops += ["and", "or"]
  found = on(lambda x: {op: collectives.all_reduce(x, "x", op=op) for op in ops}, x)
  for op in ops:
    same(found[op], np.stack([reduced(x, op)] * N))


@pytest.mark.parametrize("split", GROUPS)
def test_all_reduce_of_every_split(split):
  x = numbers((N, 5, 7), np.float32)
  algorithms = ("one_shot", "two_shot", "ring")
  found = on(
    lambda x: [collectives.all_reduce(x, "x", axis_index_groups=GROUPS[split], algorithm=a) for a in algorithms], x
  )
  expected = np.empty_like(x)
  for group in groups_of(split):
    expected[group] = x[group].sum(0)
  for one in found:
    same(one, expected)


def test_arrays_that_are_many_chunks_and_a_rest():
  x = numbers((N, 3 * 8192 + 11), np.float32)
  for algorithm in ("one_shot", "two_shot", "ring"):
    found = on(lambda x: collectives.all_reduce(x, "x", algorithm=algorithm), x)
    same(found, np.stack([x.sum(0)] * N))


@pytest.mark.parametrize("algorithm", ["one_shot", "two_shot", "ring"])
@pytest.mark.parametrize("x64", [False, True])
def test_groups_of_different_sizes_reduce_many_chunks(algorithm, x64):
  x, split = numbers((N, 5 * 8192 + 3), np.int32), "turned"
  with jax.enable_x64(x64):
    found = on(lambda x: collectives.all_reduce(x, "x", axis_index_groups=GROUPS[split], algorithm=algorithm), x)
  for group in groups_of(split):
    same(found[group], np.stack([x[group].sum(0, dtype=np.int32)] * len(group)))


def test_devices_may_wait_for_each_other_after_a_collective():
  meeting = threading.Barrier(N, timeout=20)

  def meet(x):
    meeting.wait()
    return np.asarray(x)

  def step(x):
    total = collectives.all_reduce(x, "x")
    return jax.pure_callback(meet, jax.ShapeDtypeStruct(total.shape, total.dtype), total)

  x = numbers((N, 3), np.float32)
  same(on(step, x), np.stack([x.sum(0)] * N))


@pytest.mark.parametrize(
  "dtype", [np.float32, np.bool_, ml_dtypes.int4, ml_dtypes.float8_e4m3fn], ids=lambda d: np.dtype(d).name
)
@pytest.mark.parametrize("split", GROUPS)
def test_data_is_moved_in_every_split(split, dtype):
  groups, given = groups_of(split), GROUPS[split]
  width = max(map(len, groups))
  x = numbers((N, width, 6), dtype)
  found = on(
    lambda x: {
      "gather": collectives.all_gather(x, "x", axis_index_groups=given, axis=1),
      "exchange": collectives.all_to_all(x, "x", 0, 1, axis_index_groups=given),
      "broadcast": collectives.broadcast(x, "x", 0, axis_index_groups=given),
      "max": collectives.reduce_scatter(x, "x", op="max", axis_index_groups=given),
    },
    x,
  )
  for group in groups:
    for rank, device in enumerate(group):
      gathered = np.zeros((width, width, 6), dtype)
      exchanged = np.zeros((6, width), dtype)
      for other, source in enumerate(group):
        gathered[:, other] = x[source]
        exchanged[:, other] = x[source, rank]
      same(found["gather"][device], gathered)
      same(found["exchange"][device], exchanged)
      same(found["broadcast"][device], x[group[0]])
      same(found["max"][device], reduced(x[group, rank], "max"))


def test_arguments_mean_what_they_mean_in_jax():
  x = numbers((N, 8, 16, 3), np.float32)
  perm = [(0, 3), (3, 1), (5, 0)]
  ours = on(
    lambda x: [
      collectives.all_gather(x, "x", axis=1, tiled=True),
      collectives.reduce_scatter(x, "x", scatter_dimension=1, tiled=True),
      collectives.reduce_scatter(x, "x", scatter_dimension=0),
      collectives.all_to_all(x, "x", 1, 0, tiled=True),
      collectives.all_to_all(x, "x", 0, 2),
      collectives.permute(x, "x", perm),
      collectives.all_reduce({"a": x, "b": x > 0}, "x"),
      collectives.barrier("x"),
    ],
    x,
  )
  theirs = on(
    lambda x: [
      lax.all_gather(x, "x", axis=1, tiled=True),
      lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
      lax.psum_scatter(x, "x", scatter_dimension=0),
      lax.all_to_all(x, "x", 1, 0, tiled=True),
      lax.all_to_all(x, "x", 0, 2),
      lax.ppermute(x, "x", perm),
      lax.psum({"a": x, "b": x > 0}, "x"),
      lax.psum(jnp.int32(1), "x"),
    ],
    x,
  )
  jax.tree.map(same, ours, theirs)


@pytest.mark.parametrize("axes", ["a", "b", ("a", "b"), ("b", "a")])
def test_axes_of_a_mesh(axes):
  mesh = mesh_of(a=2, b=4)
  x = numbers((8, 8, 5), np.float32)
  n = {"a": 2, "b": 4}.get(axes, 8) if isinstance(axes, str) else 8
  ours = lambda x: (
    collectives.all_reduce(x, axes),
    collectives.all_gather(x, axes),
    collectives.all_to_all(x[:n], axes, 0, 0),
  )
  theirs = lambda x: (lax.psum(x, axes), lax.all_gather(x, axes), lax.all_to_all(x[:n], axes, 0, 0))
  for a, b in zip(on(ours, x, mesh=mesh), on(theirs, x, mesh=mesh)):
    same(a, b)


def test_ragged_exchanges_send_rows_where_they_are_told():
  rng = np.random.default_rng(1)
  sizes = rng.integers(0, 4, (N, N)).astype(np.int32)  # from, to
  starts = np.concatenate([np.zeros((N, 1), np.int32), np.cumsum(sizes, 1)[:, :-1]], 1).astype(np.int32)
  there = np.concatenate([np.zeros((1, N), np.int32), np.cumsum(sizes, 0)[:-1]], 0).astype(np.int32)
  x = numbers((N, 32, 3), np.float32, 2)
  output = np.full((N, 32, 3), 9, np.float32)

  def f(x, o, a, b, c, d):
    return collectives.ragged_all_to_all(x, o, a, b, c, d, axis_name="x")

  found = on(f, x, output, starts, sizes, there, np.ascontiguousarray(sizes.T))
  expected = output.copy()
  for i in range(N):
    for j in range(N):
      expected[j, there[i, j] : there[i, j] + sizes[i, j]] = x[i, starts[i, j] : starts[i, j] + sizes[i, j]]
  same(found, expected)

  weights = numbers((N, 32, 3), np.float32, 3)

  def loss(x, o, a, b, c, d, w):
    return jax.grad(lambda x, o: jnp.sum(f(x, o, a, b, c, d) * w), argnums=(0, 1))(x, o)

  to_x, to_output = on(loss, x, output, starts, sizes, there, np.ascontiguousarray(sizes.T), weights)
  expected_x, expected_output = np.zeros_like(x), weights.copy()
  for i in range(N):
    for j in range(N):
      part = slice(there[i, j], there[i, j] + sizes[i, j])
      expected_x[i, starts[i, j] : starts[i, j] + sizes[i, j]] = weights[j, part]
      expected_output[j, part] = 0
  same(to_x, expected_x)
  same(to_output, expected_output)


def test_ragged_exchanges_under_jvp_and_vmap_are_those_one_after_another():
  rng = np.random.default_rng(4)
  x, other = (numbers((N, 3, N, 2), np.float32, seed) for seed in (5, 6))  # of each device three arrays of N rows
  counts = rng.integers(0, 2, (N, N)).astype(np.int32)  # from, to; of rows at their own place
  places = np.tile(np.arange(N, dtype=np.int32), (N, 1))

  def f(x, o, a, b):
    there = jnp.full(N, lax.axis_index("x"), jnp.int32)
    return collectives.ragged_all_to_all(x, o, a, b, there, b, axis_name="x")

  def all_ways(x, o, a, b):
    both = jnp.stack([b, 0 * b, b])
    return (
      jax.vmap(f, (0, 0, None, None))(x, o, a, b),
      jax.vmap(f, (0, None, None, 0))(x, o[0], a, both),
      jax.jvp(lambda x, o: f(x, o, a, b), (x[0], o[0]), (x[1], o[1])),
    )

  def one_by_one(x, o, a, b):
    run = lambda i, j: f(x[i], o[j], a, b)
    return jnp.stack([run(i, i) for i in range(3)]), jnp.stack([run(0, 0), o[0], run(2, 0)]), (run(0, 0), run(1, 1))

  jax.tree.map(same, on(all_ways, x, other, places, counts), on(one_by_one, x, other, places, counts))


@pytest.mark.parametrize("check_vma", [False, True])
def test_derivatives_are_those_of_jax(check_vma):
  x = numbers((N, 8, 4), np.float32)
  pairs = {
    "all_reduce": (lambda x: collectives.all_reduce(x, "x"), lambda x: lax.psum(x, "x")),
    "all_gather": (lambda x: collectives.all_gather(x, "x"), lambda x: lax.all_gather(x, "x")),
    "reduce_scatter": (lambda x: collectives.reduce_scatter(x, "x"), lambda x: lax.psum_scatter(x, "x")),
    "all_to_all": (lambda x: collectives.all_to_all(x, "x", 0, 0), lambda x: lax.all_to_all(x, "x", 0, 0)),
    "permute": (
      lambda x: collectives.permute(x, "x", [(0, 1), (1, 2)]),
      lambda x: lax.ppermute(x, "x", [(0, 1), (1, 2)]),
    ),
  }

  def of(which):
    def f(x):
      def one(g):
        loss = lambda x: jnp.sum(jnp.sin(g(x)))
        return jax.grad(loss)(x), jax.jvp(loss, (x,), (x * 2,))[1] + 0 * jnp.sum(x)

      return {name: one(both[which]) for name, both in pairs.items()}

    return on(f, x, check_vma=check_vma)

  jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), of(0), of(1))


def test_vmap_goes_around_collectives():
  x = numbers((N, 3, 8, 5), np.float32)

  def f(one):
    return lambda x: [jax.vmap(g, in_axes=d, out_axes=d)(x) for g, d in one]

  ours = [
    (lambda x: collectives.all_reduce(x, "x"), 0),
    (lambda x: collectives.all_gather(x, "x"), 2),
    (lambda x: collectives.reduce_scatter(x, "x"), 0),
    (lambda x: collectives.all_to_all(x, "x", 0, 0), 0),
  ]
  theirs = [
    (lambda x: lax.psum(x, "x"), 0),
    (lambda x: lax.all_gather(x, "x"), 2),
    (lambda x: lax.psum_scatter(x, "x"), 0),
    (lambda x: lax.all_to_all(x, "x", 0, 0), 0),
  ]
  for a, b in zip(on(f(ours), x), on(f(theirs), x)):
    same(a, b)


def test_a_result_is_the_same_everywhere_for_shard_map():
  x = numbers((N, 4), np.float32)
  f = jax.jit(
    jax.shard_map(lambda x: collectives.all_reduce(x, "x"), mesh=mesh_of(x=N), in_specs=P("x"), out_specs=P())
  )
  same(np.asarray(f(x)), x.sum(0, keepdims=True))


def test_sums_of_bfloat16_are_taken_in_float32():
  x = np.full((N, 1), 1, jnp.bfloat16)
  x[0] = 256  # 256 + 1 is 256 in bfloat16
  for algorithm in ("one_shot", "two_shot", "ring"):
    assert on(lambda x: collectives.all_reduce(x, "x", algorithm=algorithm), x)[3, 0] == np.float32(264)


def test_results_are_the_same_bits_in_every_run():
  x = np.random.default_rng(0).standard_normal((N, 5000)).astype(np.float32)
  run = lambda: on(lambda x: collectives.all_reduce(x, "x"), x)
  first = run()
  assert all((first == first[0]).all() and (run() == first).all() for _ in range(3))


def test_mistakes_are_named():
  x = numbers((N, 4), np.float32)
  with pytest.raises(errors.UnsupportedFeatureError, match=r"multimem.*NVLink"):
    on(lambda x: collectives.all_reduce(x, "x", algorithm="multimem"), x)
  with pytest.raises(ValueError, match="algorithm: expected one of"):
    on(lambda x: collectives.all_reduce(x, "x", algorithm="tree"), x)
  with pytest.raises(ValueError, match="op 'and' is for integers"):
    on(lambda x: collectives.all_reduce(x, "x", op="and"), x)
  with pytest.raises(ValueError, match=r"names .3. more than once"):
    on(lambda x: collectives.all_reduce(x, "x", axis_index_groups=[[0, 3], [3]]), x)
  with pytest.raises(ValueError, match="0 to 7"):
    on(lambda x: collectives.all_gather(x, "x", axis_index_groups=[[0, 8]]), x)
  with pytest.raises(ValueError, match="must be a multiple of the 8 members"):
    on(lambda x: collectives.reduce_scatter(x, "x", tiled=True), x)
  with pytest.raises(errors.OutsideKernelError, match="no axis is called 'y'"):
    on(lambda x: collectives.all_reduce(x, "y"), x)
  with pytest.raises(ValueError, match="sends to 1 more than once"):
    on(lambda x: collectives.permute(x, "x", [(0, 1), (2, 1)]), x)


def test_a_device_that_does_not_come_is_named(monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "0.6")
  f = lambda x: lax.cond(lax.axis_index("x") < 7, lambda x: collectives.all_reduce(x, "x"), lambda x: x, x)
  with pytest.raises(
    jax.errors.JaxRuntimeError, match=r"all_reduce over \('x',\) at .*test_collectives.py.*not come to it: 7"
  ):
    on(f, numbers((N, 4), np.float32))


def test_explain_names_what_is_taken():
  assert collectives.explain(1 << 26, 4).startswith("all_reduce of 67,108,864 bytes over 4 cpu devices: two_shot")
  small = collectives.predict(1024, collectives.Topology("h100", 8))
  assert (
    small["one_shot"] < small["nccl"]
    and next(iter(collectives.predict(1 << 30, collectives.Topology("gb200", 72)))) == "multimem"
  )
  assert list(collectives.predict(1 << 20, collectives.Topology("h100", 1024))) == ["nccl"]


def test_axes_that_xla_partitions_are_left_to_xla(caplog):
  x = numbers((4, 6), np.float32)
  mesh = mesh_of(a=2, b=2)
  f = jax.shard_map(
    lambda x: collectives.all_reduce(x, "a"), mesh=mesh, in_specs=P("a"), out_specs=P(), axis_names={"a"}
  )
  same(np.asarray(jax.jit(f)(x)), x.reshape(2, 2, 6).sum(0))
  assert "using XLA's collective" in caplog.text


def test_ragged_exchanges_where_memory_is_not_shared(monkeypatch):
  monkeypatch.setattr(ragged, "runs_here", lambda module: False)
  x = numbers((N, N, 3), np.float32)
  ones, places = np.ones((N, N), np.int32), np.tile(np.arange(N, dtype=np.int32), (N, 1))

  def f(x, a, b):
    there = jnp.full(N, lax.axis_index("x"), jnp.int32)
    return collectives.ragged_all_to_all(x, jnp.zeros_like(x), a, b, there, b, axis_name="x")

  same(on(f, x, places, ones), x.transpose(1, 0, 2))
