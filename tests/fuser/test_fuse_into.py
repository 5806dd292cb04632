"""fuse_into: programs around library kernels become one kernel call, with nothing of the size of an operand besides."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright as tw
from tilewright import errors, fusing, numerics, ops
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.pallas import tpu as pltpu
from tilewright.viz import fusion as drawing


def numbers(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


def rms_norm(x):
  return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def mlp(x, w, b, gate):
  return jax.nn.gelu(rms_norm(x) @ w + b) * gate


def dequantised(packed, scales):
  """Weights of four bits: a byte holds rows k and k + K / 2, and 32 rows share a scale."""
  low, high = (packed << 4).astype(jnp.int8) >> 4, packed.astype(jnp.int8) >> 4
  w = jnp.concatenate([low, high], 0).astype(jnp.float32)
  groups = w.reshape(scales.shape[0], -1, w.shape[1]) * scales[:, None]
  return groups.reshape(w.shape)


def custom_calls(f, *args):
  return jax.jit(f).lower(*args).compile().as_text().count("custom-call(")


def temporary_bytes(f, *args):
  return jax.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes


M, K, N = 64, 256, 192
MLP = numbers(M, K), numbers(K, N, seed=1) / 16, numbers(N, seed=2), numbers(M, N, seed=3)
INT4 = (
  numbers(8, K),
  jnp.asarray(np.random.default_rng(4).integers(0, 256, (K // 2, N)), jnp.uint8),
  numbers(K // 32, N, seed=5) / 8,
)


def quantised_product(x, packed, scales):
  return x @ dequantised(packed, scales)


CASES = {"mlp": (mlp, MLP), "int4 weights": (quantised_product, INT4)}


def close(got, want, terms):
  """Sums of `terms` products, in another order: each rounding is at most 2**-24 of the sum of magnitudes, here below 8
  times the largest result."""
  np.testing.assert_allclose(got, want, atol=terms * 2**-24 * 8 * float(jnp.abs(want).max()))


@pytest.mark.parametrize("name", CASES)
def test_the_fused_function_is_the_function(name):
  f, args = CASES[name]
  close(jax.jit(tw.fuse_into(ops.matmul)(f))(*args), f(*args), K)


@pytest.mark.parametrize("name", CASES)
def test_it_is_one_kernel_call_without_a_temporary_of_the_operands_size(name):
  f, args = CASES[name]
  fused = tw.fuse_into(ops.matmul)(f)
  assert custom_calls(fused, *args) == 1
  smallest = min(a.size * a.dtype.itemsize for a in args if a.ndim == 2)
  # What is not written: the dequantised, or the normalised operand.
  operand = K * (N if name == "int4 weights" else M) * 4
  assert temporary_bytes(fused, *args) < smallest < operand
  assert temporary_bytes(f, *args) >= operand


def test_a_call_of_the_kernel_itself_is_found_too():
  f = lambda x, w, b: jnp.tanh(ops.matmul(x * 2, w, b, activation="relu")) + 1
  x, w, b, _ = MLP
  fused = tw.fuse_into(ops.matmul)(f)
  assert custom_calls(fused, x, w, b) == 1
  close(fused(x, w, b), f(x, w, b), K)


@pytest.mark.parametrize("blocks", [(32, 64, 256), (32, 64, 64), (24, 40, 48)])
def test_any_blocks_will_do(blocks):
  """Also those that cut the rows the norm looks along, and those that hang over the edges."""
  x, w, b, gate = MLP
  f = lambda x, w, b, gate: jax.nn.gelu(ops.matmul(rms_norm(x), w, blocks=blocks) + b) * gate
  close(tw.fuse_into(ops.matmul)(f)(x, w, b, gate), mlp(x, w, b, gate), K)


def test_portable_kernels_are_fused_as_well():
  x, w, b, gate = MLP
  f = lambda x, w, b, gate: jax.nn.gelu(ops.matmul(rms_norm(x), w, interpret=True) + b) * gate
  close(tw.fuse_into("matmul")(f)(x, w, b, gate), mlp(x, w, b, gate), K)


def test_attention_takes_prologues_on_each_operand_and_an_epilogue():
  q, k, v = (numbers(2, 4, 32, 16, seed=s) for s in range(3))

  def f(q, k, v, gate):
    out = ops.attention(q * 0.5, jnp.tanh(k), v + 1)
    return out * gate

  gate = numbers(2, 4, 32, 16, seed=9)
  fused = tw.fuse_into(ops.attention)(f)
  assert custom_calls(fused, q, k, v, gate) == 1
  close(fused(q, k, v, gate), f(q, k, v, gate), 32 * 16)


def test_grouped_matmul_is_fused_around_its_prefetched_tiles():
  x, w = numbers(64, 32), numbers(3, 32, 48, seed=1)
  sizes = jnp.array([20, 30, 10])
  f = lambda x, w, sizes: jax.nn.relu(ops.grouped_matmul(x * 2, w * 0.5, sizes)) + 1
  fused = tw.fuse_into(ops.grouped_matmul)(f)
  close(fused(x, w, sizes), f(x, w, sizes), 32)
  assert not any(
    o.operation.name == "max" for o in fusing.explain_fusion(f, x, w, sizes, kernel=ops.grouped_matmul).outside
  )


@pytest.mark.parametrize("norm", [ops.rms_norm, ops.layer_norm])
def test_norms_are_fused(norm):
  x, scale = numbers(48, 64), numbers(64, seed=1)
  parameters = (scale,) if norm is ops.rms_norm else (scale, scale * 2)
  f = lambda x, r, *p: norm(x + r, *p) * 2 - 1
  fused = tw.fuse_into(norm)(f)
  assert custom_calls(fused, x, x, *parameters) == 1
  close(fused(x, x, *parameters), f(x, x, *parameters), 64)


@pytest.mark.parametrize("recipe", ["mxfp8", "nvfp4"])
def test_quantised_weights_are_dequantised_in_the_kernel(recipe):
  x, w, b, _ = MLP
  q = numerics.quantize(w, recipe, axis=0)
  f = lambda x, q, b: jax.nn.relu(x @ numerics.dequantize(q) + b)
  fused = tw.fuse_into(ops.matmul)(f)
  assert custom_calls(fused, x, q, b) == 1
  close(fused(x, q, b), f(x, q, b), K)


def test_block_scaled_products_take_prologues_and_an_epilogue():
  x, w, b, _ = MLP
  q = numerics.quantize(w, "mxfp8", axis=0)
  f = lambda x, q, b: jax.nn.relu(numerics.scaled_dot(x * 0.5, q) + b)
  fused = tw.fuse_into(numerics.scaled_dot)(f)
  assert custom_calls(fused, x, q, b) == 1
  close(fused(x, q, b), f(x, q, b), K)


def test_a_boxed_quantised_array_is_explained_too():
  x, w, _, _ = MLP
  boxed = numerics.box(numerics.quantize(w, "mxfp8", axis=0))
  f = lambda x, v: x @ numerics.dequantize_value(v) + 1
  close(jax.jit(tw.fuse_into(ops.matmul)(f))(x, boxed), f(x, boxed), K)
  explanation = fusing.explain_fusion(f, x, boxed, kernel=ops.matmul)
  assert [p.place for p in explanation.pieces] == ["operand 1", "result"]


def test_a_kernel_of_ones_own_is_fused_by_name():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...].sum(-1, keepdims=True) * jnp.ones(o_ref.shape)

  def row_sums(x):
    spec = pl.BlockSpec((8, 16), lambda i: (i, 0))
    call = pl.pallas_call(kernel, out_shape=x, grid=(4,), in_specs=[spec], out_specs=spec, name="row_sums")
    return call(x)

  x = jnp.round(numbers(32, 16) * 8)
  f = lambda x: row_sums(x * 2) + x
  np.testing.assert_array_equal(tw.fuse_into("row_sums")(f)(x), f(x))


def test_several_outputs_and_results_that_are_needed_as_they_are():
  x, w, _, gate = MLP
  f = lambda x, w, gate: (lambda z: {"z": z, "gated": z * gate, "turned": (z + 1).T, "other": gate * 3})(
    ops.matmul(x, w)
  )
  got, want = tw.fuse_into(ops.matmul)(f)(x, w, gate), f(x, w, gate)
  for name in want:
    close(got[name], want[name], K)
  assert custom_calls(tw.fuse_into(ops.matmul)(f), x, w, gate) == 1


def test_what_cannot_be_fused_stays_outside_with_a_reason():
  x, w, b, _ = MLP
  f = lambda x, w, b: (ops.matmul(jnp.sort(x, 0) * 2, w, blocks=(M // 2, N // 2, K)) + b).sum(1)
  close(tw.fuse_into(ops.matmul)(f)(x, w, b), f(x, w, b), K * N)
  explanation = fusing.explain_fusion(f, x, w, b, kernel=ops.matmul)
  reasons = {o.operation.name: o.why for o in explanation.outside}
  assert "computed again in every block" in reasons["sort"]
  assert "reduces dimension 1, which is split into blocks" in reasons["reduce_sum"]
  assert [p.place for p in explanation.pieces] == ["operand 0", "result"]


def test_explain_prints_what_went_where_and_what_it_saves(capsys):
  tw.fuse_into(ops.matmul, explain=True)(mlp)(*MLP)
  said = capsys.readouterr().out
  for part in ("kernel matmul", "operand 0: mul, reduce_sum", "rsqrt", "result:", "tanh", f"blocks of ({N},)"):
    assert part in said
  explanation = fusing.explain_fusion(mlp, *MLP, kernel=ops.matmul)
  assert explanation.saved_bytes == 2 * 4 * (M * K + M * N)  # the normalised operand and the product, written and read


def test_explain_draws_to_a_file(tmp_path):
  path = tmp_path / "fused.html"
  tw.fuse_into(ops.matmul, explain=path)(mlp)(*MLP)
  page = path.read_text()
  assert (
    page.startswith("<!doctype html>")
    and "<svg" in page
    and "reduce_sum" in page
    and "http" not in page.replace("http://www.w3.org/2000/svg", "")
  )
  assert drawing.svg(fusing.explain_fusion(mlp, *MLP, kernel=ops.matmul)) in page


def test_derivatives_are_those_of_the_function_as_written():
  loss = lambda f: lambda *args: (f(*args) ** 2).sum()
  got = jax.grad(loss(tw.fuse_into(ops.matmul)(mlp)), argnums=(0, 1))(*MLP)
  want = jax.grad(loss(mlp), argnums=(0, 1))(*MLP)
  for a, b in zip(got, want):
    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * float(jnp.abs(b).max()))


def test_fused_functions_can_be_batched():
  x, w, b, gate = MLP
  fused = jax.vmap(tw.fuse_into(ops.matmul)(mlp), in_axes=(0, None, None, 0))
  close(
    fused(jnp.stack([x, x * 2]), w, b, jnp.stack([gate, gate])),
    jnp.stack([mlp(x, w, b, gate), mlp(x * 2, w, b, gate)]),
    K,
  )


@pytest.mark.parametrize(
  "f, message", [(lambda x, w: x + 1, "0 calls"), (lambda x, w: ops.matmul(ops.matmul(x, w), w), "2 calls")]
)
def test_there_must_be_one_call(f, message):
  x = numbers(16, 16)
  with pytest.raises(errors.FusionError, match=message):
    tw.fuse_into(ops.matmul)(f)(x, x)


def test_a_batched_call_says_to_fuse_first():
  x, w = numbers(2, 16, 16), numbers(16, 16)
  with pytest.raises(errors.UnsupportedFusionError, match="fuse first"):
    tw.fuse_into(ops.matmul)(lambda x, w: jax.vmap(lambda a: ops.matmul(a, w))(x) + 1)(x, w)


PROLOGUES = {
  "transpose": lambda x, i: x.T.T,
  "reshape": lambda x, i: x.reshape(4, 16, 48).reshape(64, 48),
  "unaligned slice": lambda x, i: jnp.concatenate([x, x], 0)[3:67],
  "strided slice": lambda x, i: jnp.repeat(x, 2, 0)[1::2],
  "dynamic slice": lambda x, i: jax.lax.dynamic_slice(jnp.pad(x, ((0, 8), (0, 0))), (i, 0), (64, 48)),
  "concatenate": lambda x, i: jnp.concatenate([x[:32] * 2, x[32:]], 0),
  "pad": lambda x, i: jnp.pad(x[:40], ((0, 24), (0, 0))),
  "rev": lambda x, i: x[::-1],
  "iota": lambda x, i: x + jax.lax.broadcasted_iota(jnp.float32, x.shape, 1),
  "mask": lambda x, i: jnp.where(jax.lax.broadcasted_iota(jnp.int32, x.shape, 0) < i, x, 0.0),
  "stack": lambda x, i: jnp.stack([x[:32], x[32:]], 1).reshape(64, 48),
}


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", PROLOGUES)
def test_prologues_of_every_shape_run_in_kernels(name, native):
  """Whole numbers: sums are exact, so the results are equal."""
  x, w = jnp.round(numbers(64, 48) * 4), jnp.round(numbers(48, 32, seed=1) * 4)
  before = PROLOGUES[name]
  f = lambda x, w, i: ops.matmul(before(x, i), w, native=native, interpret=not native, blocks=(16, 16, 48))
  fused = jax.jit(tw.fuse_into(ops.matmul)(f))
  np.testing.assert_array_equal(fused(x, w, jnp.int32(5)), before(x, 5) @ w)
  assert fusing.explain_fusion(f, x, w, jnp.int32(5), kernel=ops.matmul).pieces


EPILOGUES = {
  "transpose": lambda z: z.T,
  "split of heads": lambda z: z.reshape(64, 2, 32).transpose(1, 0, 2),
  "smaller type": lambda z: z.astype(jnp.bfloat16),
  "two outputs": lambda z: (z * 2, (z + 1).T),
  "row of a table": lambda z: z + jnp.arange(64.0)[None],
}


@pytest.mark.parametrize("steps, native", [(1, True), (3, True), (3, False)])
@pytest.mark.parametrize("name", EPILOGUES)
def test_epilogues_run_in_kernels(name, steps, native):
  x, w = jnp.round(numbers(64, 48) * 4), jnp.round(numbers(48, 64, seed=1) * 4)
  after = EPILOGUES[name]
  product = lambda x, w: ops.matmul(x, w, native=native, interpret=not native, blocks=(16, 32, 48 // steps))
  got = jax.jit(tw.fuse_into(ops.matmul)(lambda x, w: after(product(x, w))))(x, w)
  for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(after(x @ w)), strict=True):
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("native", [True, False])
def test_a_ref_that_a_loop_reads_gets_memory_of_its_own(native):
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    def add(i, _):
      o_ref[...] += x_ref[pl.ds(i * 4, 4), :]

    jax.lax.fori_loop(0, 4, add, None)

  def folded(x):
    options = {"compiler_params": cpu.CompilerParams()} if native else {"interpret": True}
    return pl.pallas_call(
      kernel,
      out_shape=jax.ShapeDtypeStruct((4, 64), x.dtype),
      grid=(4,),
      in_specs=[pl.BlockSpec((16, 16), lambda j: (0, j))],
      out_specs=pl.BlockSpec((4, 16), lambda j: (0, j)),
      name="folded",
      **options,
    )(x)

  x = jnp.round(numbers(16, 64) * 8)
  f = lambda x: jnp.abs(folded(x * 2 + 1)).T
  np.testing.assert_array_equal(jax.jit(tw.fuse_into("folded")(f))(x), f(x))


def test_a_kernel_on_the_simulated_machine_is_fused():
  x, w = jnp.round(numbers(16, 8) * 4), jnp.round(numbers(8, 16, seed=1) * 4)

  def kernel(x_ref, w_ref, o_ref):
    o_ref[...] = x_ref[...] @ w_ref[...]

  def product(x, w):
    return pl.pallas_call(
      kernel,
      out_shape=jax.ShapeDtypeStruct((16, 16), jnp.float32),
      grid=(2, 2),
      in_specs=[pl.BlockSpec((8, 8), lambda i, j: (i, 0)), pl.BlockSpec((8, 8), lambda i, j: (0, j))],
      out_specs=pl.BlockSpec((8, 8), lambda i, j: (i, j)),
      interpret=pltpu.InterpretParams(),
      name="product",
    )(x, w)

  f = lambda x, w: product(x * 2, w.T.T) + 1
  np.testing.assert_array_equal(tw.fuse_into("product")(f)(x, w), f(x, w))


def test_what_is_no_kernel_is_refused():
  with pytest.raises(errors.KernelTypeError, match=r"expected a library kernel, as ops.matmul, .*got 3"):
    tw.fuse_into(3)


def test_of_several_products_one_must_be_named():
  x = numbers(8, 8)
  with pytest.raises(
    errors.FusionError, match=r"found 0 calls of the kernel 'matmul' and 2 products.*as ops.matmul\(x, y\)"
  ):
    tw.fuse_into(ops.matmul)(lambda a, b: (a @ b) @ b)(x, x)


@pytest.mark.parametrize("cut", [slice(1, None), slice(0, 40), slice(8, 48)])
def test_a_slice_of_a_result_stays_outside(cut):
  """A block of the result is not a block of the slice; what comes before is fused."""
  x, w, b, _ = MLP
  x, w, b = x[:40], w[:, :56], b[:56]
  f = lambda x, w, b: jnp.tanh(ops.matmul(x, w, interpret=True) + b)[:, cut] * 2
  close(tw.fuse_into(ops.matmul)(f)(x, w, b), f(x, w, b), K)
