"""Plain programs, accelerated: the same results, within bounds of what float64 gives, and kernels where they are expected."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tests.support.accelerated_programs import PROGRAMS, X, normal
from tilewright import hlo
from tilewright.accelerate import costs, regions

RNG = np.random.default_rng(0)


pytestmark = pytest.mark.usefixtures("all_regions_are_worth_it")


def in_float64(f, args):
  with jax.enable_x64(True):
    return f(*(np.asarray(a, np.float64) if a.dtype == jnp.float32 else a for a in args))


# Sums of rows are a kernel on a GPU only if it was measured; layouts that may be final are left alone there.
LEFT_TO_GPUS = ("layer norm, derivative", "layer norm of many rows, derivative", "transposed")


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_as_exact_as_those_of_xla(name):
  f, args = PROGRAMS[name]
  plain = jax.jit(lambda *a: f(*a))(*args)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: f(*a))(*args)
  if jax.default_backend() == "cpu" or name not in LEFT_TO_GPUS:
    assert any(r.taken for r in acceleration.reports), acceleration.explain()
  for found, theirs, exact in zip(*map(jax.tree.leaves, (ours, plain, in_float64(f, args)))):
    exact = np.asarray(exact)
    bound = (
      4 * np.abs(np.asarray(theirs, np.float64) - exact).max() + 16 * np.finfo(np.float32).eps * np.abs(exact).max()
    )
    assert np.abs(np.asarray(found, np.float64) - exact).max() <= bound


def attention(q, k, v, causal=True):
  s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
  if causal:
    s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


def test_attention_becomes_a_library_kernel():
  q, k, v = (normal(2, 48, 3, 16) for _ in range(3))
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: attention(*a, causal=False))(q, k, v)
  assert [d for r in acceleration.reports for d in r.taken if d.kind == "attention" and d.tile == "all keys"]
  np.testing.assert_allclose(ours, attention(q, k, v, causal=False), rtol=1e-4, atol=1e-5)


def test_the_derivative_of_attention_becomes_library_kernels():
  q, k, v = (normal(2, 48, 3, 16) for _ in range(3))
  f = lambda q, k, v: (attention(q, k, v) ** 2).sum()
  expected = jax.grad(f, (0, 1, 2))(q, k, v)
  with tilewright.accelerate() as acceleration:
    compiled = jax.jit(jax.grad(f, (0, 1, 2))).lower(q, k, v).compile()
  (report,) = [r for r in acceleration.reports if any(d.kind == "attention" for d in r.decisions)]
  (decision,) = [d for d in report.decisions if d.kind == "attention"]
  assert decision.taken and "derivatives" in decision.tile, decision
  assert "48,48]" not in compiled.as_text(), "an array of all pairs of queries and keys is left"
  for a, b in zip(compiled(q, k, v), expected):
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_attention_whose_weights_are_used_is_left_to_xla():
  q = normal(1, 48, 2, 16)

  def f(q):
    w = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, q))
    return w, jnp.einsum("bhqk,bkhd->bqhd", w, q)

  expected = f(q)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(q)
  assert "used elsewhere" in acceleration.explain()
  for a, b in zip(ours, expected):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_is_no_softmax_is_no_attention():
  q = normal(1, 48, 2, 16)

  def f(q):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, q)
    w = jnp.exp(s - s.max(-1, keepdims=True))
    return jnp.einsum("bhqk,bkhd->bqhd", w / (1 + w.sum(-1, keepdims=True)), q)  # one more in the sum

  expected = f(q)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(q)
  assert not [d for r in acceleration.reports for d in r.taken if d.kind == "attention"]
  np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_limits_that_only_large_scores_reach_are_no_attention():
  q = normal(1, 48, 2, 16)

  def f(q):
    s = jnp.minimum(jnp.einsum("bqhd,bkhd->bhqk", q, q), 50.0)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), q)

  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(20 * q)
  assert "large scores" in acceleration.explain()
  np.testing.assert_allclose(ours, f(20 * q), rtol=1e-5, atol=1e-5)


def test_products_with_quantised_weights_read_them_as_they_are():
  w = jnp.asarray(RNG.integers(-127, 128, (64, 256)), jnp.int8)
  scales, x = jnp.abs(normal(256)), normal(4, 64)  # of one row, XLA:GPU makes a sum, in one kernel
  f = lambda x, w, s: x @ (w.astype(jnp.float32) * s)
  expected = np.asarray(x, np.float64) @ (np.asarray(w, np.float64) * np.asarray(scales, np.float64))
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(f)(x, w, scales)
  assert [d for r in acceleration.reports for d in r.taken if d.kind == "scaled dot"], acceleration.explain()
  bound = 64 * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(np.asarray(w, np.float64) * np.asarray(scales)))
  assert (np.abs(ours - expected) <= bound).all()


_WEIGHTS = """HloModule m
ENTRY e {{
  x = f32[1,64] parameter(0)
  w = s8[64,32] parameter(1)
  s = f32[32] parameter(2)
  g = f32[{rows},{depth}] parameter(3)
  c = f32[64,32] convert(w)
  b = f32[64,32] broadcast(s), dimensions={{1}}
  d = f32[64,32] multiply(c, b)
  one = f32[1,32] dot(x, d), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  two = f32[{rows},{width}] dot(g, d), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{over}}}
  ROOT t = (f32[1,32], f32[{rows},{width}]) tuple(one, two)
}}"""


@pytest.mark.parametrize(
  ("rows", "over", "changes"),
  [(2, 0, True), (99, 0, False), (99, 1, False)],
  ids=["both products read the weights", "a product of many rows", "a derivative"],
)
def test_weights_that_are_dequantized_all_the_same_are_not_read_twice(rows, over, changes):
  import tilewright.numerics  # registers its kernels
  from tilewright.hlo.passes.block_scaling import BlockScaling

  assert tilewright.numerics
  depth, width = (64, 32) if over == 0 else (32, 64)
  text = _WEIGHTS.format(rows=rows, over=over, depth=depth, width=width)
  assert BlockScaling(platform="cpu", most_rows=16, saves_memory=True).run(hlo.parse(text)) == changes
  assert BlockScaling(platform="cpu", most_rows=16).run(hlo.parse(text))


def test_exact_takes_only_what_has_the_same_bits():
  f = lambda x: (jnp.where(x > x.max(-1, keepdims=True) - 1, x, -x), jax.nn.softmax(x))
  plain = jax.jit(lambda x: f(x))(X)
  with tilewright.accelerate(exact=True) as acceleration:
    ours = jax.jit(lambda x: f(x))(X)
  assert "exact=True" in acceleration.explain()
  for a, b in zip(ours, plain):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_exact_leaves_products_that_are_added_later():
  """Where a product is chosen, moved, and then added, a compiler may still round once: XLA does."""
  f = lambda x, y: jnp.where(x > 0, x * y, 0.0)[:, ::-1] + x
  x, y = normal(64, 33), normal(64, 33)
  plain = jax.jit(lambda *a: f(*a))(x, y)
  with tilewright.accelerate(exact=True) as acceleration:
    ours = jax.jit(lambda *a: f(*a))(x, y)
  assert "rounded once or twice" in acceleration.explain()
  np.testing.assert_array_equal(np.asarray(ours), np.asarray(plain))


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("shape", [(1009, 16), (3, 337, 16), (4099,)])
def test_sums_over_a_prime_number_of_rows_are_added_in_few_parts(shape):
  """A tile size that divides the rows would be one row: as many parts as rows, which are as large as the operand."""

  def f(x, g):
    y = x * g
    return (y * jnp.tanh(x)).sum(tuple(range(x.ndim - (x.ndim > 1)))), jnp.exp(y)

  x, g = normal(*shape), normal(*shape[-1:])
  plain = jax.jit(lambda *a: f(*a)).lower(x, g).compile()
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: f(*a)).lower(x, g).compile()
  assert any("reduce" in d.ops for r in acceleration.reports for d in r.taken)
  parts = ours.memory_analysis().temp_size_in_bytes - plain.memory_analysis().temp_size_in_bytes
  assert parts < x.nbytes / 4
  for a, b in zip(ours(x, g), plain(x, g)):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("on_the_cpu")
def test_a_row_kernel_takes_the_buffers_of_operands_that_end_there():
  """Without it, softmax between two products would need one more array of all scores than XLA's fusions, which overwrite them."""

  def f(x, w):
    scores = x @ w
    return jax.nn.softmax(scores) @ w.T, (jax.nn.log_softmax(jnp.sin(x) @ w) * 2) @ w.T

  x, w = normal(77, 33), normal(33, 301)
  plain = jax.jit(lambda *a: f(*a)).lower(x, w).compile()
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: f(*a)).lower(x, w).compile()
  assert any(r.taken for r in acceleration.reports)
  assert ours.memory_analysis().temp_size_in_bytes <= 1.02 * plain.memory_analysis().temp_size_in_bytes
  for a, b in zip(ours(x, w), plain(x, w)):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_signs_of_numbers_that_count_as_zero_are_zero():
  x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-42, 3.0] * 16, np.float32)
  plain = np.asarray(jax.jit(jnp.sign)(x))
  with tilewright.accelerate(exact=True) as acceleration:
    ours = np.asarray(jax.jit(lambda x: jnp.sign(x))(x))
  assert any(r.taken for r in acceleration.reports)
  np.testing.assert_array_equal(ours.view(np.uint32), plain.view(np.uint32))


@pytest.mark.parametrize("is_chain", [False, True])
def test_what_xla_runs_side_by_side_costs_a_part_of_its_time(is_chain):
  """Eight small loops, one after another, or all of the same operand: XLA uses one thread for each."""
  ops = [f"  v{i} = f32[64,64] tanh({f'v{i - 1}' if is_chain and i else 'x'})" for i in range(8)]
  values = ", ".join(f"v{i}" for i in range(8))
  module = hlo.parse(
    "HloModule m\nENTRY e {\n  x = f32[64,64] parameter(0)\n"
    + "\n".join(ops)
    + f"\n  ROOT t = ({', '.join(['f32[64,64]'] * 8)}) tuple({values})\n}}"
  )
  machine = dataclasses.replace(regions_machine(), threads=4)
  order = module.entry.topological_order()
  times = costs.XlaTimes.of(order, machine)
  alone = sum(times.alone(i).seconds for i in order)
  assert times.total(order) == pytest.approx(alone if is_chain else alone / 4)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("is_used_again", [False, True])
def test_an_elementwise_kernel_takes_the_buffer_of_an_operand_that_ends_there(is_used_again):
  """XLA's fusions do; without it, a program would need more memory than before."""

  def f(x, w):
    y = x @ w
    z = jnp.tanh(y) * 2 + 1
    return z @ w + (y if is_used_again else 0)

  x, w = normal(40, 40), normal(40, 40)
  expected = np.asarray(jax.jit(lambda *a: f(*a))(x, w))
  modules: list[hlo.Module] = []
  with (
    tilewright.accelerate() as acceleration,
    hlo.install([lambda m: modules.append(m.clone()) is not None], stage="post_scheduler"),
  ):
    ours = jax.jit(lambda *a: f(*a))(x, w)
  assert any(r.taken for r in acceleration.reports)
  (first, *_) = [i for i in modules[0].entry.topological_order() if i.opcode == "custom-call"]  # of tanh
  assert ("output_to_operand_aliasing" in first.attrs) != is_used_again
  np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("on_the_cpu")
def test_results_take_the_buffers_of_one_of_several_results_of_a_kernel():
  def f(x, w):
    y = x @ w
    p, q = jnp.tanh(y) * 2, jnp.sin(y)  # one kernel
    total = (p @ q).sum()
    return jnp.exp(p) * total, jnp.cos(q) * total

  x, w = normal(40, 40), normal(40, 40)
  expected = jax.jit(lambda *a: f(*a))(x, w)
  modules: list[hlo.Module] = []
  with (
    tilewright.accelerate(),
    hlo.install([lambda m: modules.append(m.clone()) is not None], stage="post_scheduler"),
  ):
    ours = jax.jit(lambda *a: f(*a))(x, w)
  calls = [i for i in modules[0].entry.instructions if i.opcode == "custom-call"]
  elements = [c for c in calls if any(o.opcode == "get-tuple-element" for o in c.operands)]
  assert any("output_to_operand_aliasing" in c.attrs for c in elements), modules[0].to_text()
  for a, b in zip(ours, expected):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


def test_bits_that_are_read_as_floats_stay_in_a_kernel():
  def f(x):
    bits = jax.lax.bitcast_convert_type(x, jnp.int32)
    bits = jnp.where(jnp.arange(40) % 2 == 0, bits & 0x7FFFFFFF, bits | jnp.int32(1))
    return jax.lax.bitcast_convert_type(bits, jnp.float32), jax.lax.bitcast_convert_type(
      x.astype(jnp.bfloat16), jnp.uint16
    )

  plain = jax.jit(lambda x: f(x))(X)
  with tilewright.accelerate(exact=True) as acceleration:
    ours = jax.jit(f)(X)
  assert any("bitcast-convert" in d.ops for r in acceleration.reports for d in r.taken), acceleration.explain()
  for a, b in zip(ours, plain):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_bodies_of_loops_are_accelerated():
  def f(x):
    return jax.lax.scan(lambda c, _: (jax.nn.softmax(c) + 0.1, c.sum()), x, None, length=4)

  expected = jax.jit(lambda x: f(x))(X)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda x: f(x))(X)
  assert any(r.taken for r in acceleration.reports)
  for a, b in zip(ours, expected):
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_small_loops_that_xla_makes_one_function_of_are_left_alone():
  """XLA compiles such a loop as one function, in which a custom call has no place: it refused the whole module."""

  def f(x, y):
    loop = lambda x: jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) * 0.9 - jax.nn.softmax(c), x)
    return jax.nn.softmax(y), loop(x)

  x = normal(17)
  expected = jax.jit(lambda x, y: f(x, y))(x, X)
  with warnings.catch_warnings(), tilewright.accelerate() as acceleration:
    warnings.simplefilter("error", hlo.HloPassWarning)
    ours = jax.jit(f)(x, X)
  assert any(r.taken for r in acceleration.reports)
  for a, b in zip(ours, expected):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_function_is_accelerated_inside_of_other_programs_only():
  @tilewright.accelerate
  def f(x):
    return jax.nn.softmax(x)

  g = jax.jit(lambda x: f(x).sum() + (jnp.tanh(x) ** 2).sum())
  np.testing.assert_allclose(g(X), 24 + (np.tanh(X) ** 2).sum(), rtol=1e-5)
  np.testing.assert_allclose(f(X), jax.nn.softmax(X), rtol=1e-5, atol=1e-7)
  taken = [d for r in f.acceleration.reports for d in r.taken]
  assert taken and not any("tanh" in d.ops for d in taken)
  f.acceleration.undo()


def test_donated_arguments_and_shards():
  count = min(4, jax.device_count())
  f = lambda x: x - jax.nn.softmax(x)
  expected = np.asarray(f(X))
  with tilewright.accelerate():
    donated = jax.jit(f, donate_argnums=0)(jnp.array(X))
    mesh = jax.make_mesh((count,), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    placed = jax.device_put(X, jax.sharding.NamedSharding(mesh, spec))
    mapped = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec))(placed)
    sharded = jax.jit(f)(placed)
  for found in (donated, mapped, sharded):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_donated_arguments_are_reused_or_the_report_says_that_they_are_not():
  x = jnp.array(X)
  with tilewright.accelerate() as acceleration:
    jax.block_until_ready(jax.jit(lambda x: x - jax.nn.softmax(x), donate_argnums=0)(x))
  assert x.is_deleted() != ("forgets donations" in acceleration.explain()), acceleration.explain()


def test_values_of_callbacks_are_left_to_xla():
  seen = []

  def f(x):
    y = jax.nn.softmax(x)
    jax.debug.callback(lambda v: seen.append(np.asarray(v)), y)
    return y * 2

  with tilewright.accelerate() as acceleration:
    jax.block_until_ready(jax.jit(f)(X))
    jax.effects_barrier()
  assert "calls back into Python" in acceleration.explain()
  np.testing.assert_allclose(seen[0], jax.nn.softmax(X), rtol=1e-5, atol=1e-7)


def test_measured_regions_say_so():
  with tilewright.accelerate(measure=True) as acceleration:
    jax.jit(lambda x: jax.nn.softmax(x))(X)
  assert any(d.measured is not None for r in acceleration.reports for d in r.decisions)


def test_explanations(tmp_path: pathlib.Path, capsys):
  with tilewright.accelerate(explain=True):
    jax.jit(lambda x: jax.nn.softmax(x))(X)
  printed = capsys.readouterr().out
  assert "why not" in printed and "exponential" in printed
  with tilewright.accelerate(explain=tmp_path / "page.html"):
    jax.jit(lambda x: jax.nn.softmax(x))(X)
  assert "became kernels" in (tmp_path / "page.html").read_text()


def taken(acceleration):
  return [d for r in acceleration.reports for d in r.taken]


def test_the_innermost_block_decides():
  with tilewright.accelerate() as outer:
    with tilewright.accelerate(exact=True) as inner:
      jax.jit(lambda x: jax.nn.softmax(x))(X)
    assert not taken(outer) and not taken(inner) and "exact=True" in inner.explain()
    jax.jit(lambda x: jax.nn.softmax(x) + 1)(X)
  assert taken(outer)


def test_a_decorator_decides_for_its_function():
  @tilewright.accelerate(exact=True)
  def f(x):
    return jax.nn.softmax(x)

  with tilewright.accelerate() as outer:
    f(X)
    jax.jit(lambda x: jnp.tanh(f(x)))(X)
  assert not taken(f.acceleration)
  assert taken(outer) and not any("exponential" in d.ops for d in taken(outer))
  f.acceleration.undo()


def test_only_the_decorated_function_is_accelerated_whatever_others_are_called():
  @tilewright.accelerate
  @jax.jit
  def f(x):
    return jax.nn.softmax(x)

  def half(x):  # ends in an f
    return jnp.tanh(x)

  jax.jit(half)(X)
  assert not f.acceleration.reports
  f(X)
  assert taken(f.acceleration)
  f.acceleration.undo()


def test_a_block_may_be_entered_again():
  acceleration = tilewright.accelerate()
  acceleration.undo()
  with acceleration:
    assert acceleration.active
    jax.jit(lambda x: jax.nn.softmax(x))(X)
  assert taken(acceleration) and not acceleration.active


def test_no_compile_time_is_no_kernel():
  with tilewright.accelerate(compile_seconds=0) as acceleration:
    jax.jit(lambda x: jax.nn.softmax(x))(X)
  assert "0 s of compile time are used up" in acceleration.explain()


def test_a_method_that_cannot_be_compiled_as_a_whole_says_what_to_do():
  class Model:
    scale = 2.0

    @tilewright.accelerate
    def __call__(self, x):
      return jax.nn.softmax(x * self.scale)

  with pytest.raises(tilewright.errors.KernelTypeError, match=r"argument 0 is a Model.*static_argnums"):
    Model()(X)
  Model.__call__.acceleration.undo()


def test_the_page_of_a_program_that_never_ends_acceleration_is_written_at_its_end(tmp_path):
  program = f"""
import jax, jax.numpy as jnp, tilewright
tilewright.accelerate(explain={str(tmp_path / "page.html")!r}, platforms=("cpu", "cuda"))
jax.jit(lambda x: jax.nn.softmax(x))(jnp.ones((512, 512)))
"""
  subprocess.run([sys.executable, "-c", program], check=True)
  assert "became kernels" in (tmp_path / "page.html").read_text()
  with pytest.raises(tilewright.errors.KernelTypeError, match="no directory"):
    tilewright.accelerate(explain=tmp_path / "none" / "page.html")


@pytest.mark.parametrize(
  "arguments",
  [
    {"exact": 1},
    {"measure": "yes"},
    {"explain": 3},
    {"compile_seconds": -1},
    {"compile_seconds": float("nan")},
    {"platforms": "cpu"},
    {"platforms": None},
    {"platforms": [["cpu"]]},
  ],
)
def test_wrong_arguments(arguments):
  with pytest.raises(tilewright.errors.KernelTypeError, match=next(iter(arguments))):
    tilewright.accelerate(**arguments)


def _transposed_module(before: str) -> hlo.Module:
  return hlo.parse(
    f"""HloModule m
ENTRY e {{
  x = f32[64,32]{{1,0}} parameter(0)
  t = f32[32,64]{{{before}}} transpose(x), dimensions={{1,0}}
  s = f32[32,64]{{{before}}} negate(t)
  ROOT y = f32[32,64]{{1,0}} tanh(s)
}}"""
  )


@pytest.mark.parametrize("layout", ["0,1", "1,0"])
def test_layouts_that_may_be_final_are_not_ignored(layout):
  """Before XLA chooses layouts a call is given row-major arrays. Had it chosen, a call on this operand would read it transposed."""
  from tilewright.accelerate import graph
  from tilewright.accelerate.program import _has_final_layouts

  module = _transposed_module(layout)
  assert not _has_final_layouts(module)
  token = graph.layouts_are_settled.set(False)
  try:
    operand = module.entry.find("s").shape
    if layout == "1,0":
      assert graph.laid_out(operand) == operand
    else:
      with pytest.raises(graph.Refused, match="may be final"):
        graph.laid_out(operand)
  finally:
    graph.layouts_are_settled.reset(token)


def test_regions_never_wait_for_each_other():
  """Two regions of which each uses a value of the other would be a cycle of calls."""
  module = hlo.parse(
    """HloModule m
r { a=f32[] parameter(0)
 b=f32[] parameter(1)
 ROOT c=f32[] add(a,b) }
ENTRY e {
  x = f32[64,64] parameter(0)
  zero = f32[] constant(0)
  a1 = f32[64,64] exponential(x)
  b1 = f32[64,64] tanh(a1)
  one = f32[64] reduce(b1, zero), dimensions={0}, to_apply=r
  b2 = f32[64,64] sine(x)
  two = f32[64] reduce(b2, zero), dimensions={0}, to_apply=r
  w = f32[64,64] broadcast(two), dimensions={1}
  a2 = f32[64,64] multiply(a1, w)
  sum = f32[64] add(one, two)
  ROOT t = (f32[64,64], f32[64]) tuple(a2, sum)
}"""
  )
  finder = regions.Finder(module.entry, regions_machine())
  regions_found = finder.find()
  assert regions_found
  for found in regions_found:
    members = set(found.members)
    reached = {u for i in members for u in i.users} - members
    for _ in range(len(finder.order)):
      inside = {m for i in reached for m in finder.region.get(i, (i,))}
      reached |= {u for i in inside for u in i.users} - members
    assert not any(u in members for i in reached for u in i.users), found


def regions_machine():
  from tilewright.accelerate import tiles

  return tiles.host()


def test_executables_from_disk_find_their_kernels(tmp_path):
  """A process that gets a program from JAX's cache on disk never sees its module; its kernels are loaded all the same."""
  program = f"""
import jax, jax.numpy as jnp, tilewright
jax.config.update("jax_compilation_cache_dir", {str(tmp_path / "jax")!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
with tilewright.accelerate(platforms=("cpu", "cuda")) as a:
  y = jax.jit(lambda x: jax.nn.softmax(x * 2))(jnp.ones((4096, 4096)))
print([r.from_disk for r in a.reports if r.taken], float(y.sum()))
"""
  env = os.environ | {"TILEWRIGHT_CACHE_DIR": str(tmp_path / "ours")}
  runs = [
    subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True).stdout.split(
      "\n"
    )[0]
    for _ in range(2)
  ]
  assert runs[0].startswith("[False] 4096") and runs[1].startswith("[True] 4096"), runs


def test_programs_of_one_name_that_are_compiled_at_once_each_find_their_kernels(tmp_path):
  """As in several threads: all of them are decided before the first executable is written to disk."""
  program = f"""
import jax, jax.numpy as jnp, tilewright
from tilewright.runtime import _jax
jax.config.update("jax_compilation_cache_dir", {str(tmp_path / "jax")!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
x, later = jnp.ones((1024, 1024)), []
with tilewright.accelerate(platforms=("cpu", "cuda")) as a:
  put = _jax.compilation_cache.put_executable_and_time
  _jax.compilation_cache.put_executable_and_time = lambda *args, **kwargs: later.append((args, kwargs))
  for k in (1.5, 2.5):
    print(jax.jit(lambda x: jax.nn.softmax(x * k))(x).sum(), end=" ")
  for args, kwargs in later:
    put(*args, **kwargs)
print([r.from_disk for r in a.reports if r.taken and "lambda" in r.module])
"""
  env = os.environ | {"TILEWRIGHT_CACHE_DIR": str(tmp_path / "ours")}
  run = lambda: subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True)
  first, second = run().stdout.splitlines()[0], run().stdout.splitlines()[0]
  assert first == "1024.0 1024.0 [False, False]"
  assert second == "1024.0 1024.0 [True, True]"
