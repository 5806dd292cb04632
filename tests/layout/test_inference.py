"""Layouts of whole kernels: what the ops of the tile IR ask for is fulfilled, and the layouts are the ones an expert would choose."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.layouts import examples
from tests.tile.programs import functions
from tilewright import errors, layout, ops
from tilewright.layout.constraints import Soft
from tilewright.layout.fragments import wgmma_accumulator
from tilewright.layout.shared import SharedLayout, shared_for_matrix
from tilewright.layout.solve import solve
from tilewright.pallas.lowering import lower_kernel
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.ir import ops as gpu_ops  # noqa: F401  which are in the table from then on
from tilewright.target.nvgpu.passes.layouts.constraints import RULES, constrain_function
from tilewright.target.nvgpu.passes.layouts.inference import infer
from tilewright.target.nvgpu.passes.layouts.system import ELEMENTWISE, System
from tilewright.tile.grid import Kernel
from tilewright.tile.ir import Block, Builder, Function, walk
from tilewright.tile.ops import OPS
from tilewright.tile.rewrite import simplify
from tilewright.tile.types import RefType, TileType, dense_strides

BF16, F32 = np.dtype(jnp.bfloat16), np.dtype(np.float32)


def ref(shape, dtype=BF16, space="any"):
  return RefType(shape, dtype, space, dense_strides(shape))


def kernel(*refs):
  function = Function("kernel", Block.of(refs))
  return function, Builder(function.body)


def row_op(b, name, x, kind):
  """A reduction over rows and its broadcast back: x - max(x), x / sum(x)."""
  shape = x.tile.shape
  reduced = b.emit("reduce", [x], axes=(1,), kind=kind)
  wide = b.emit("broadcast", [reduced], shape=shape, dims=(0,))
  return b.emit(name, [x, wide])


def softmax(shape):
  function, b = kernel(ref(shape), ref(shape))
  x = b.emit("convert", [b.emit("load", [function.params[0]])], dtype=F32)
  e = b.emit("exp", [row_op(b, "sub", x, "max")])
  y = b.emit("convert", [row_op(b, "div", e, "sum")], dtype=BF16)
  b.emit_all("store", [function.params[1], y])
  return function


def matmul(m, n, k, transposed=False, space="any"):
  function, b = kernel(ref((m, k), space=space), ref((n, k) if transposed else (k, n), space=space), ref((m, n), F32))
  a, c = (b.emit("load", [p]) for p in function.params[:2])
  if transposed:
    c = b.emit("transpose", [c], permutation=(1, 0))
  product = b.emit("dot", [a, c], contract=((1,), (0,)), batch=((), ()), dtype=F32)
  b.emit_all("store", [function.params[2], product])
  return function


def attention(m, n, d, space):
  """One step of attention: softmax of q k^T, times v."""
  function, b = kernel(ref((m, d), space=space), ref((n, d), space=space), ref((n, d), space=space), ref((m, d), F32))
  q, k, v = (b.emit("load", [p]) for p in function.params[:3])
  kt = b.emit("transpose", [k], permutation=(1, 0))
  s = b.emit("dot", [q, kt], contract=((1,), (0,)), batch=((), ()), dtype=F32)
  p = b.emit("convert", [b.emit("exp", [row_op(b, "sub", s, "max")])], dtype=BF16)
  o = b.emit("dot", [p, v], contract=((1,), (0,)), batch=((), ()), dtype=F32)
  b.emit_all("store", [function.params[3], o])
  return function


def relayouts(function, found):
  """Uses for which a value must change its layout."""
  return [
    (op, i)
    for op in walk(function.body)
    for i, v in enumerate(op.operands)
    if v in found.layouts and v not in found.free and found.inferred_operand_layout(op, i) != found.layouts[v]
  ]


def test_every_op_has_a_row():
  assert set(RULES) == set(OPS)


@given(functions(), st.booleans())
@examples(60)
def test_any_function_gets_layouts_that_hold(function, in_shared_memory):
  refs = [p for p in function.params if isinstance(p.type, RefType)] if in_shared_memory else []
  for arch, num_warps in (("sm_80", 1), ("sm_90a", 4)):
    found = infer(function, arch, num_warps, refs)
    for op in walk(function.body):
      for value in op.results:
        if isinstance(value.type, TileType) and value.type.shape and value.type.size:
          own = found.layouts[value]
          assert own.shape == value.type.shape and own.num_warps == num_warps
          assert all(e >= n for e, n in zip(own.extents, own.shape))
    system = System(function, ARCHS[arch], num_warps, refs)
    constrain_function(system)
    solution = solve(system.constraints, system.seeds)
    hard = [c for c in system.constraints if not isinstance(c.constraint, Soft)]
    assert all(c.constraint.holds(solution.places) for c in hard)
    assert solution.cost == found.cost


@given(functions())
@examples(40)
def test_elementwise_ops_take_their_operands_in_the_layout_of_their_result(function):
  found = infer(function, "sm_90a", 4)
  for op in walk(function.body):
    if op.name in ELEMENTWISE:
      for i, v in enumerate(op.operands):
        if v in found.layouts:
          assert found.inferred_operand_layout(op, i) == found.layouts[op.result]


@pytest.mark.parametrize("shape", [(4, 8192), (16, 1024), (64, 128), (8, 1000), (3, 96)])
def test_a_softmax_is_one_region_with_coalesced_vectors(shape):
  function = softmax(shape)
  found = infer(function, "sm_90a", 4)
  assert not relayouts(function, found)
  load = next(op for op in walk(function.body) if op.name == "load")
  own = found.layouts[load.result]
  assert layout.vector_width(own, 1) * 16 >= 64
  if shape[0] >= 4:  # rows stay in their warps: no reduction crosses them
    assert not any(t.moves[1] for t in own.terms_of("warp"))


@pytest.mark.parametrize("arch", ARCHS)
def test_a_matmul_uses_the_tensor_cores_of_its_architecture(arch):
  function = matmul(128, 128, 64)
  found = infer(function, arch, 4)
  assert set(found.dots.values()) == {"wgmma" if arch == "sm_90a" else "mma"}


def test_a_matmul_of_floats_of_32_bits_keeps_their_bits():
  function, b = kernel(ref((64, 64), F32), ref((64, 64), F32), ref((64, 64), F32))
  x, y = (b.emit("load", [p]) for p in function.params[:2])
  b.emit_all("store", [function.params[2], b.emit("dot", [x, y], contract=((1,), (0,)), batch=((), ()), dtype=F32)])
  assert set(infer(function, "sm_90a", 4).dots.values()) == {"fma"}


@pytest.mark.parametrize("transposed", [False, True])
def test_wgmma_reads_swizzled_shared_memory_where_it_is(transposed):
  function = matmul(128, 128, 64, transposed, space="smem")
  found = infer(function, "sm_90a", 4)
  assert set(found.dots.values()) == {"wgmma"}
  loads = {op.result for op in walk(function.body) if op.name in ("load", "transpose")}
  assert found.unread == loads
  for param in function.params[:2]:
    shape = param.ref.shape
    assert found.shared[param] == shared_for_matrix(shape, 16, 128)
  (dot,) = found.dots
  assert all(isinstance(found.inferred_operand_layout(dot, i), SharedLayout) for i in range(2))


def test_attention_keeps_its_probabilities_in_registers():
  """What FlashAttention does by hand: the accumulator of the first product is, once narrowed, the left operand of the second."""
  function = attention(64, 64, 128, "smem")
  found = infer(function, "sm_90a", 4)
  first, second = found.dots
  assert set(found.dots.values()) == {"wgmma"}
  assert found.layouts[first.result] == wgmma_accumulator(64)
  assert found.inferred_operand_layout(second, 0) == found.layouts[second.operands[0]]
  moved = [op.name for op, _ in relayouts(function, found)]
  assert moved in ([], ["store"])


def test_an_accumulator_stays_in_its_fragment_through_a_loop():
  function, b = kernel(ref((64, 64)), ref((64, 64)), ref((64, 64), F32))
  a, c = (b.emit("load", [p]) for p in function.params[:2])
  zero = b.emit("broadcast", [b.emit("constant", value=np.zeros((), F32), dtype=F32)], shape=(64, 64), dims=())
  bounds = [b.emit("constant", value=np.asarray(n, np.int32), dtype=np.dtype(np.int32)) for n in (0, 8)]
  body = Block.of([bounds[0].type, zero.type])
  with b.into(body):
    product = b.emit("dot", [a, c], contract=((1,), (0,)), batch=((), ()), dtype=F32)
    b.emit_all("yield", [b.emit("add", [body.params[1], product])])
  total = b.emit("for", [*bounds, zero], [body])
  b.emit_all("store", [function.params[2], total])
  for arch in ("sm_80", "sm_90a"):
    found = infer(function, arch, 4)
    assert found.layouts[product] == found.layouts[body.params[1]] == found.layouts[total]
    assert not [op for op, _ in relayouts(function, found) if op.name in ("add", "yield")]


def test_halves_of_rows_stay_in_their_threads():
  """A rotary embedding: slices and a concatenation become choices of registers, with coalesced vectors."""
  function, b = kernel(ref((64, 128)), ref((64, 64)), ref((64, 128)))
  x, c = (b.emit("load", [p]) for p in function.params[:2])
  low, high = (b.emit("slice", [x], starts=(0, s), stops=(64, s + 64), strides=(1, 1)) for s in (0, 64))
  turned = [b.emit("mul", [half, c]) for half in (high, low)]
  b.emit_all("store", [function.params[2], b.emit("concatenate", turned, axis=1)])
  found = infer(function, "sm_90a", 4)
  assert not relayouts(function, found)
  for half, start in ((low, 0), (high, 64)):
    assert layout.sliced(found.layouts[x], (0, start), (64, 64)) == found.layouts[half]
  assert layout.vector_width(found.layouts[x], 1) == 8


def test_a_hint_is_a_hard_constraint():
  function = softmax((64, 128))
  load = next(op for op in walk(function.body) if op.name == "load")
  wish = layout.blocked_for((64, 128), 4, 2)
  found = infer(function, "sm_90a", 4, hints={load.result: wish})
  assert found.layouts[load.result] == wish


def test_hints_that_exclude_each_other_are_explained_with_their_lines():
  function, b = kernel(ref((64, 64)), ref((64, 64)))
  with b.at("user.py:10"):
    x = b.emit("exp", [b.emit("load", [function.params[0]])])
  with b.at("user.py:11"):
    y = b.emit("neg", [x])
  b.emit_all("store", [function.params[1], y])
  hints = {x: layout.blocked_for((64, 64), 4, 8), y: layout.blocked_for((64, 64), 4, 2)}
  with pytest.raises(errors.LayoutConflictError) as raised:
    infer(function, "sm_90a", 4, hints=hints)
  assert "the result of exp (user.py:10) and the result of neg (user.py:11) must have the same layout" in str(
    raised.value
  )
  assert "layout_cast" in raised.value.proposal


def test_the_cast_that_a_conflict_proposes_resolves_it():
  """One value that another depends on in two ways: a cast for one of them alone would not do. And a result that no reshape gives."""
  wide, narrow = layout.blocked_for((64, 64), 4, 8), layout.blocked_for((64, 64), 4, 2)
  threes = layout.blocked((4096,), (3,), (32,), (4,))

  def two_ways(cast):
    function, b = kernel(ref((64, 64)), ref((64, 64)))
    x = b.emit("exp", [b.emit("load", [function.params[0]])])
    used = b.emit("layout_cast", [x], layout=cast) if cast else x
    total = b.emit("add", [b.emit("neg", [used]), used])
    b.emit_all("store", [function.params[1], total])
    return function, {x: wide, total: narrow}

  def flat(cast):
    function, b = kernel(ref((64, 64)), ref((4096,)))
    y = b.emit("reshape", [b.emit("load", [function.params[0]])], shape=(4096,))
    y = b.emit("layout_cast", [y], layout=cast) if cast else y
    b.emit_all("store", [function.params[1], y])
    return function, {y: threes}

  for make, wanted, who in ((two_ways, narrow, "exp"), (flat, threes, "reshape")):
    function, hints = make(None)
    with pytest.raises(errors.LayoutConflictError) as raised:
      infer(function, "sm_90a", 4, hints=hints)
    assert f"layout_cast(the result of {who} to {wanted})" in raised.value.proposal
    function, hints = make(str(wanted))
    infer(function, "sm_90a", 4, hints=hints)


def test_the_text_names_what_every_op_holds_and_wants():
  function = matmul(128, 128, 64)
  found = infer(function, "sm_90a", 4)
  text = found.text(function)
  assert text.count("\n") >= len(list(walk(function.body)))
  assert "dot" in text and "wgmma" in text and str(found.layouts[next(iter(found.dots)).result]) in text


@pytest.mark.parametrize("swizzle", [64, 128])
def test_a_swizzle_that_the_user_gives_a_ref_holds(swizzle):
  function = matmul(128, 128, 64, space="smem")
  wish = shared_for_matrix((128, 64), 16, swizzle)
  found = infer(function, "sm_90a", 4, hints={function.params[0]: wish})
  assert found.shared[function.params[0]] == wish and set(found.dots.values()) == {"wgmma"}


def test_a_tiling_that_tma_cannot_write_is_refused_for_an_operand():
  function = matmul(128, 128, 64, space="smem")
  wish = shared_for_matrix((128, 64), 16, 128, transposed=True)
  with pytest.raises(errors.LayoutConflictError, match="must be transferable by TMA"):
    infer(function, "sm_90a", 4, hints={function.params[0]: wish})


def kernels_of(function, *shapes):
  """The bodies of the native kernels that a function calls."""

  def visit(jaxpr):
    for eqn in jaxpr.eqns:
      if eqn.primitive.name == "pallas_call":
        yield eqn
      for inner in jax.tree.leaves(list(eqn.params.values()), is_leaf=lambda x: hasattr(x, "eqns")):
        inner = getattr(inner, "jaxpr", inner)
        if hasattr(inner, "eqns"):
          yield from visit(inner)

  for eqn in visit(jax.make_jaxpr(function)(*shapes).jaxpr):
    native = lower_kernel(Kernel(**eqn.params))
    simplify(native.body, native.mapping.grid)
    yield native.body


ROWS, WEIGHTS = jax.ShapeDtypeStruct((512, 1024), jnp.bfloat16), jax.ShapeDtypeStruct((1024,), jnp.bfloat16)
LABELS = jax.ShapeDtypeStruct((512,), jnp.int32)
HEADS = jax.ShapeDtypeStruct((1, 2, 256, 64), jnp.bfloat16)


@pytest.mark.parametrize(
  "function, shapes",
  [
    (ops.softmax, (ROWS,)),
    (ops.rms_norm, (ROWS, WEIGHTS)),
    (ops.cross_entropy, (ROWS, LABELS)),
    (jax.grad(lambda x, w: ops.layer_norm(x, w, w).astype(jnp.float32).sum(), argnums=(0, 1)), (ROWS, WEIGHTS)),
    (ops.gelu, (ROWS,)),
    (ops.attention, (HEADS, HEADS, HEADS)),
    (lambda x: ops.top_k(x, 4), (ROWS,)),
    (ops.embedding, (ROWS, LABELS)),
  ],
)
def test_library_kernels_get_layouts(function, shapes):
  bodies = list(kernels_of(function, *shapes))
  assert bodies
  for body in bodies:
    found = infer(body, "sm_90a", 4)
    tiles = [v for op in walk(body.body) for v in op.results if isinstance(v.type, TileType) and v.type.shape]
    assert all(found.layouts[v].shape == v.type.shape for v in tiles)


def test_mistakes_in_what_is_asked_are_named():
  function = softmax((64, 128))
  with pytest.raises(errors.LayoutError, match="arch"):
    infer(function, "sm_70", 4)
  with pytest.raises(errors.LayoutError, match="another shape"):
    infer(function, "sm_80", 4, hints={next(walk(function.body)).result: layout.splat((2,), 4)})


def test_the_work_grows_with_the_length_of_the_kernel():
  """A long chain of reductions, broadcasts and arithmetic: no global rescans."""

  def spent(count):
    function, b = kernel(ref((64, 64), F32), ref((64, 64), F32))
    x = b.emit("load", [function.params[0]])
    for _ in range(count):
      x = b.emit("exp", [row_op(b, "sub", x, "max")])
    b.emit_all("store", [function.params[1], x])
    return infer(function, "sm_90a", 4).spent

  assert spent(120) <= 2.2 * spent(60)
