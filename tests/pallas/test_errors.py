"""Mistakes and their messages: each names the argument or line, says what was found, and what to do."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language import F32, I32, S, arange, pointwise, run

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import dma, specs, triton
from tilewright.pallas import tpu as pltpu
from tilewright.tile.memory import SemaphoreType, TpuMemorySpace

VMEM = TpuMemorySpace.VMEM
HERE = r"test_errors\.py:\d+"
copy = pointwise(lambda x: x)
x = arange(4, 6)


def block(shape, index_map=None, **kw):
  return pl.BlockSpec(shape, index_map, **kw)


def call(**options):
  return lambda: run(copy, x, **options)


# The mistake, its class, the built-in class a handler may already catch, and what the message says.
CALLS = {
  "a block of another rank": (
    call(in_specs=[block((4,), lambda: 0)]),
    errors.BlockRankError,
    ValueError,
    r"Block shape for args\[0\] \(= \(4,\)\) must have the same number of dimensions as the array shape \(4, 6\).*Use None",
  ),
  "an index map of the wrong length": (
    call(grid=1, in_specs=[block((4, 6), lambda i: (i, 0, 0))]),
    errors.IndexMapError,
    ValueError,
    rf"Index map function <lambda> at .*{HERE} for args\[0\] must return 2 values to match block_shape=\(4, 6\).*3 values",
  ),
  "an index map that returns floats": (
    call(grid=1, in_specs=[block((4, 6), lambda i: (0.0, i))]),
    errors.IndexMapError,
    ValueError,
    rf"{HERE} for args\[0\] must return integer scalars. Output\[0\] has type float32\[\]",
  ),
  "an index map that returns an array": (
    call(grid=1, in_specs=[block((4, 6), lambda i: (jnp.zeros(2, I32), i))]),
    errors.IndexMapError,
    ValueError,
    r"must return integer scalars. Output\[0\] has type int32\[2\]",
  ),
  "an index map that returns nothing for a dimension": (
    call(grid=1, in_specs=[block((4, 6), lambda i: (i, None))]),
    errors.IndexMapError,
    ValueError,
    rf"{HERE} for args\[0\] must return a block index for dimension 1, got None",
  ),
  "a name that is no string": (
    call(name=3),
    errors.KernelTypeError,
    TypeError,
    r"name must be a string or None, got 3",
  ),
  "a slice for a blocked dimension": (
    call(grid=1, out_specs=block((4, 6), lambda i: (pl.ds(0, 4), i))),
    errors.IndexMapError,
    ValueError,
    r"outputs returns a slice for dimension 0.*Use pl.BoundedSlice\(4\)",
  ),
  "a number for a bounded slice": (
    call(grid=1, in_specs=[block((pl.BoundedSlice(4), 6), lambda i: (i, 0))]),
    errors.IndexMapError,
    ValueError,
    r"must return pl.ds\(start, size\) for the BoundedSlice dimension 0",
  ),
  "an index map with too few arguments": (
    call(grid=(1, 1), in_specs=[block((4, 6), lambda i: (i, 0))]),
    errors.IndexMapArityError,
    TypeError,
    rf"{HERE} for args\[0\] was called with 2 arguments \(grid indices, then prefetched scalars\)",
  ),
  "an index map that closes over an array": (
    call(grid=1, in_specs=[block((4, 6), (lambda c: lambda i: (c, 0))(jnp.int32(0)))]),
    errors.CapturedConstantError,
    ValueError,
    rf"{HERE} for args\[0\] must not capture constants.*scalar prefetch",
  ),
  "two indirect dimensions": (
    call(grid=1, in_specs=[block((pl.Indirect(2), pl.Indirect(2)), lambda i: (jnp.arange(2),) * 2)]),
    errors.BlockSpecError,
    ValueError,
    r"args\[0\] .*at most one dimension may be pl.Indirect",
  ),
  "an empty block": (
    call(grid=1, in_specs=[block((0, 6), lambda i: (0, 0))]),
    errors.BlockSpecError,
    ValueError,
    r"args\[0\] \(= \(0, 6\)\) has size 0 in dimension 0; sizes must be positive",
  ),
  "a negative padding": (
    call(grid=1, in_specs=[block((pl.Element(4, (-1, 0)), 6), lambda i: (0, 0))]),
    errors.BlockSpecError,
    ValueError,
    r"args\[0\]: padding must be two ints >= 0, got \(-1, 0\)",
  ),
  "a block dimension of no known kind": (
    call(grid=1, in_specs=[block(("a", 6), lambda i: (0, 0))]),
    errors.BlockSpecError,
    ValueError,
    r"Unsupported block dimension type: <class 'str'> in the block shape for args\[0\]. Allowed types",
  ),
  "arguments of BlockSpec in the wrong order": (
    lambda: block(lambda i: (i, 0), (4, 6)),
    errors.BlockSpecError,
    ValueError,
    r"block_shape must be a sequence, got a function. The order is BlockSpec\(block_shape, index_map\)",
  ),
  "an index map that is no function": (
    lambda: block((4, 6), (0, 0)),
    errors.IndexMapError,
    ValueError,
    r"index_map must be a function of the grid indices, got \(0, 0\)",
  ),
  "a spec that is none": (
    call(in_specs=[(4, 6)]),
    errors.TreeMismatchError,
    ValueError,
    r"Pytree for `in_specs` and `inputs` do not match.*\[0\]",
  ),
  "more specs than inputs": (
    call(in_specs=[block((4, 6))] * 2),
    errors.TreeMismatchError,
    ValueError,
    r"`in_specs` and `inputs` do not match. There are 1 mismatches.*length 2 but `inputs` is a tuple of length 1",
  ),
  "a spec for a prefetched scalar": (
    lambda: pl.pallas_call(
      copy,
      S((4, 6), F32),
      grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(1,), in_specs=[None, None]),
    )(jnp.zeros(1, I32), x),
    errors.TreeMismatchError,
    ValueError,
    r"length 2 but `inputs` is a tuple of length 1.*without the first 1 of the call, which num_scalar_prefetch says",
  ),
  "a spec for other outputs": (
    call(out_specs=[block((4, 6))] * 2),
    errors.TreeMismatchError,
    ValueError,
    r"`out_specs` and `out_shape` do not match",
  ),
  "in_specs that are no sequence": (
    call(in_specs=block((4, 6))),
    errors.TreeMismatchError,
    ValueError,
    r"`in_specs` must be a tuple or a list. Found: BlockSpec",
  ),
  "more prefetched scalars than operands": (
    lambda: pl.pallas_call(copy, S((4, 6), F32), grid_spec=specs.PrefetchScalarGridSpec(2))(x),
    errors.TreeMismatchError,
    ValueError,
    r"num_scalar_prefetch is 2, but the call got only 1 arguments",
  ),
  "an unknown memory space": (
    call(in_specs=[block((4, 6), memory_space="fast")]),
    errors.MemorySpaceError,
    ValueError,
    r"memory space 'fast' of args\[0\] is unknown; expected one of pl.ANY",
  ),
  "scratch that cannot be allocated": (
    call(scratch_shapes=["fast"]),
    errors.MemorySpaceError,
    ValueError,
    r"scratch_shapes: cannot allocate 'fast'. Expected a memory space called with a shape and a dtype",
  ),
  "an output that is no type": (
    call(out=3),
    errors.OutShapeError,
    ValueError,
    r"Invalid out_shape type: <class 'int'>. Expected jax.ShapeDtypeStruct",
  ),
  "an alias of an input that is not there": (
    call(input_output_aliases={2: 0}),
    errors.AliasError,
    ValueError,
    r"the mapping '2:0' with input index 2 outside the range \[0, 1\)",
  ),
  "an alias of an output that is not there": (
    call(input_output_aliases={0: 1}),
    errors.AliasError,
    ValueError,
    r"the mapping '0:1' with output index 1 outside the range \[0, 1\)",
  ),
  "an alias of another type": (
    lambda: run(lambda x_ref, o_ref: None, x, out=S((4, 6), I32), input_output_aliases={0: 0}),
    errors.AliasError,
    ValueError,
    r"'0:0' referring to input\[0\] with abstract value.*float32\[4,6\].*different abstract value.*int32\[4,6\].*one shape and dtype",
  ),
  "one output for two inputs": (
    lambda: run(lambda a, b, o: None, x, x, input_output_aliases={0: 0, 1: 0}),
    errors.AliasError,
    ValueError,
    r"maps two inputs to one output: \{0: 0, 1: 0\}",
  ),
  "a grid of floats": (
    call(grid=(1.5,)),
    errors.GridError,
    ValueError,
    r"Grid must be a tuple of integers.*dimension 0",
  ),
  "a negative grid": (
    call(grid=(2, -1)),
    errors.GridError,
    ValueError,
    r"dimension 1 is -1; sizes must not be negative",
  ),
  "a grid that is half named": (
    call(grid=(("i", 2), 3)),
    errors.GridError,
    ValueError,
    r"either every dimension is named.*or none is",
  ),
  "a grid name used twice": (
    call(grid=(("i", 2), ("i", 3))),
    errors.GridError,
    ValueError,
    r"names of its dimensions must differ, got \('i', 'i'\)",
  ),
  "a grid in two places": (
    call(grid=(2,), grid_spec=pl.GridSpec(grid=(2,))),
    errors.GridError,
    ValueError,
    r"If `grid_spec` is specified, then `grid` must be `\(\)`. It is \(2,\)",
  ),
  "a dynamic grid that is an array": (
    call(grid=(jnp.arange(2),)),
    errors.GridError,
    ValueError,
    r"grid: dimension 0 must be an integer scalar, got int32\[2\]",
  ),
}


def captures(x_ref, o_ref):
  o_ref[...] = x_ref[...] + CONSTANT


CONSTANT = jnp.ones((4, 6))


def returns(x_ref, o_ref):
  return x_ref[...]


def wrong_axis(x_ref, o_ref):
  o_ref[...] = x_ref[...] * pl.program_id(1)


def axis_of_wrong_type(x_ref, o_ref):
  o_ref[...] = x_ref[...] * pl.program_id(1.5)


def bad_mask(x_ref, o_ref):
  pl.load(x_ref, (0,), mask=jnp.ones(6, I32))


def mask_of_another_shape(x_ref, o_ref):
  pl.load(x_ref, (0,), mask=jnp.ones(5, bool))


def other_without_mask(x_ref, o_ref):
  pl.load(x_ref, (0,), other=1.0)


def store_of_another_shape(x_ref, o_ref):
  pl.store(o_ref, (0,), jnp.zeros(5))


def store_of_another_dtype(x_ref, o_ref):
  pl.store(o_ref, (0,), jnp.zeros(6, I32))


def write_of_another_shape(x_ref, o_ref):
  o_ref[...] = x_ref[0]


def write_of_another_dtype(x_ref, o_ref):
  jax.jit(lambda: o_ref.__setitem__(0, jnp.zeros(6, I32)))()


def load_of_a_value(x_ref, o_ref):
  pl.load(x_ref[...], (0,))


def signal_of_a_buffer(x_ref, o_ref):
  pl.semaphore_signal(x_ref)


def copy_of_another_shape(x_ref, o_ref):
  pl.run_scoped(lambda sem: dma.async_copy(x_ref.at[0], o_ref, sem), SemaphoreType.DMA)


def copy_of_another_dtype(x_ref, o_ref):
  pl.run_scoped(lambda b, sem: dma.async_copy(x_ref, b, sem), VMEM((4, 6), I32), SemaphoreType.DMA)


def copy_with_a_regular_semaphore(x_ref, o_ref):
  pl.run_scoped(lambda sem: dma.async_copy(x_ref, o_ref, sem), SemaphoreType.REGULAR)


def many_semaphores(x_ref, o_ref):
  pl.run_scoped(lambda sems: pl.semaphore_signal(sems), SemaphoreType.REGULAR((2,)))


def fractional_signal(x_ref, o_ref):
  pl.run_scoped(lambda sem: pl.semaphore_signal(sem, 1.5), SemaphoreType.REGULAR)


def unknown_cache(x_ref, o_ref):
  o_ref[...] = pl.load(x_ref, cache_modifier=".zz")


def unknown_eviction(x_ref, o_ref):
  pl.store(o_ref, ..., x_ref[...], eviction_policy="never")


def print_with_too_few_values(x_ref, o_ref):
  pl.debug_print("{} {}", x_ref[0, 0])


def print_of_a_ref(x_ref, o_ref):
  pl.debug_print("{}", x_ref)


def print_of_floats_as_integers(x_ref, o_ref):
  pl.debug_print("{:d}", x_ref[0, 0])


def print_of_arrays_as_numbers(x_ref, o_ref):
  pl.debug_print("{} {:.2f}", x_ref[0, 0], x_ref[...])


def alone(x_ref, o_ref):
  pl.select_ref(0)


BODIES = {
  captures: (
    errors.CapturedConstantError,
    ValueError,
    rf"captures at .*{HERE} captures constants \[f32\[4,6\]\].*pass them as inputs",
  ),
  returns: (
    errors.KernelReturnError,
    ValueError,
    rf"returns at .*{HERE} should return None.*Write results to the output refs",
  ),
  wrong_axis: (errors.GridError, ValueError, r"pl.program_id: Axis 1 is out of bounds for grid \(1,\)"),
  axis_of_wrong_type: (
    errors.GridError,
    ValueError,
    r"axis must be an int \(or the name of a grid dimension\), got 1.5",
  ),
  bad_mask: (errors.ShapeMismatchError, ValueError, r"pl.load: mask must have dtype bool, got int32. Compare first"),
  mask_of_another_shape: (errors.ShapeMismatchError, ValueError, r"mask of shape \(5,\) cannot be broadcast to \(6,\)"),
  unknown_cache: (
    errors.MemorySpaceError,
    ValueError,
    r"pl.load: cache_modifier: expected None or one of .ca, .*'.zz'",
  ),
  unknown_eviction: (errors.MemorySpaceError, ValueError, r"pl.store: eviction_policy: .*evict_last.*'never'"),
  other_without_mask: (errors.ShapeMismatchError, ValueError, r"other is given but mask is not"),
  store_of_another_shape: (
    errors.ShapeMismatchError,
    ValueError,
    r"pl.store: a value of shape \(5,\) does not fit.*\(6,\)",
  ),
  store_of_another_dtype: (
    errors.ShapeMismatchError,
    ValueError,
    r"holds float32 but the value is int32; convert it with astype",
  ),
  write_of_another_shape: (
    errors.ShapeMismatchError,
    ValueError,
    rf"Expected shape: \(4, 6\). Value shape: \(6,\).*{HERE}.*broadcast_to",
  ),
  write_of_another_dtype: (
    errors.ShapeMismatchError,
    ValueError,
    rf"Ref dtype: float32. Value dtype: int32.*{HERE}.*astype",
  ),
  load_of_a_value: (errors.RefTypeError, TypeError, r"pl.load: expected a ref, got"),
  signal_of_a_buffer: (errors.RefTypeError, TypeError, r"expected a semaphore, got a ref of float32. Allocate one"),
  copy_of_another_shape: (
    errors.ShapeMismatchError,
    ValueError,
    r"src_ref has shape \(6,\) but dst_ref has shape \(4, 6\)",
  ),
  copy_of_another_dtype: (
    errors.ShapeMismatchError,
    ValueError,
    r"src_ref holds float32 but dst_ref holds int32; a copy does not",
  ),
  copy_with_a_regular_semaphore: (errors.RefTypeError, TypeError, r"expected a DMA semaphore.*got sem"),
  many_semaphores: (
    errors.ShapeMismatchError,
    ValueError,
    r"-shaped semaphore: \(2,\). Pick one with semaphore.at\[i\]",
  ),
  fractional_signal: (errors.ShapeMismatchError, ValueError, r"inc must be an integer scalar, got float32\[\]"),
  print_with_too_few_values: (errors.ShapeMismatchError, ValueError, r"has 2 placeholders but 1 values were given"),
  print_of_a_ref: (errors.UnreadRefError, TypeError, r"pl.debug_print: got .*read it first"),
  print_of_floats_as_integers: (
    errors.ShapeMismatchError,
    ValueError,
    r"'{:d}' cannot print values of types float32\[\]",
  ),
  print_of_arrays_as_numbers: (errors.ShapeMismatchError, ValueError, r"float32\[\], float32\[\d+, \d+\].*for scalars"),
  alone: (errors.RefTypeError, TypeError, r"pl.select_ref: give at least one ref"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_says_which_argument_and_what_to_do(name):
  wrong, kind, builtin, message = CALLS[name]
  with pytest.raises(kind, match=f"(?s){message}") as caught:
    wrong()
  assert isinstance(caught.value, builtin)
  assert isinstance(caught.value, errors.TilewrightError)


@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_a_wrong_body_says_what_and_where(body):
  kind, builtin, message = BODIES[body]
  with pytest.raises(kind, match=f"(?s){message}") as caught:
    run(body, x, grid=1)
  assert isinstance(caught.value, builtin)
  # Whatever the message says, the traceback leads to the user's line.
  assert any(entry.path.name == "test_errors.py" for entry in caught.traceback)


@pytest.mark.parametrize(
  "f",
  [lambda: pl.program_id(0), lambda: pl.num_programs(0), lambda: pl.get_global(VMEM((1,), F32))],
  ids=["program_id", "num_programs", "get_global"],
)
def test_what_has_a_meaning_only_in_a_kernel_says_so(f):
  with pytest.raises(errors.OutsideKernelError, match="has a meaning only inside a kernel"):
    f()


def test_a_wait_that_can_never_end_says_where_it_stands():
  def kernel(x_ref, o_ref, sem):
    pl.semaphore_wait(sem, 1)
    o_ref[...] = x_ref[...]

  with pytest.raises(jax.errors.JaxRuntimeError, match=rf"(?s)The wait at .*{HERE}.*can never end"):
    jax.block_until_ready(run(kernel, x, scratch_shapes=[SemaphoreType.REGULAR]))
    jax.effects_barrier()


def test_a_primitive_that_cannot_take_a_ref_says_so():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sin(x_ref)

  with pytest.raises((TypeError, ValueError)):
    run(kernel, x)


@pytest.mark.target("portable")
def test_access_to_other_devices_needs_a_mesh():
  def kernel(x_ref, o_ref, sem):
    pl.semaphore_signal(sem, device_id=(0,))
    o_ref[...] = x_ref[...]

  with pytest.raises(errors.OutsideKernelError, match=r"must be called inside jax.shard_map"):
    run(kernel, x, scratch_shapes=[SemaphoreType.REGULAR])


def test_interpret_is_a_bool_or_parameters():
  with pytest.raises(errors.KernelTypeError, match=r"interpret: expected False, True or pltpu.InterpretParams"):
    run(copy, x, interpret="yes")


def test_buffers_are_counted_from_one():
  with pytest.raises(ValueError, match="buffer_count must be at least 1, got 0"):
    pl.Buffered(0)


def test_helpers_check_their_arguments():
  with pytest.raises(errors.ShapeMismatchError, match=r"`a` and `b` must be 2D arrays, got shapes \(3,\) and \(3,\)"):
    triton.dot(np.ones(3), np.ones(3))
  with pytest.raises(errors.ShapeMismatchError, match="Only one of allow_tf32 and precision"):
    triton.dot(np.ones((2, 2)), np.ones((2, 2)), allow_tf32=True, precision="highest")
  with pytest.raises(errors.ShapeMismatchError, match="contracted dimensions differ"):
    triton.dot(np.ones((2, 3)), np.ones((2, 3)))
  with pytest.raises(errors.ShapeMismatchError, match="requires a non-negative integer, got -1"):
    pl.next_power_of_2(-1)
  with pytest.raises(errors.ShapeMismatchError, match="values must be positive ints"):
    pl.multiple_of(jnp.int32(4), 0)


@pytest.mark.parametrize(
  "mistake, builtin",
  [
    (lambda ref: ref + 1, AttributeError),
    (lambda ref: 2 * ref, AttributeError),
    (lambda ref: ref.sum(), AttributeError),
    (lambda ref: jnp.sin(ref), TypeError),
    (lambda ref: ref[...] @ ref, TypeError),
    (lambda ref: [row for row in ref], TypeError),
  ],
)
def test_a_ref_that_was_not_read(mistake, builtin):
  def kernel(x_ref, o_ref):
    o_ref[...] = mistake(x_ref)

  with pytest.raises(builtin, match=rf"at .*{HERE}\. A ref is not the value that it holds: read it first") as found:
    run(kernel, x)
  assert isinstance(found.value, errors.UnreadRefError)


@pytest.mark.parametrize("grid, known", [((("rows", 2),), r"are \['rows'\]"), ((2,), "has no named axes")])
def test_an_axis_that_a_kernel_does_not_have(grid, known):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * jax.lax.axis_index("columns")

  with pytest.raises(errors.AxisNameError, match=rf"unbound axis name: columns.*{HERE}.*{known}") as found:
    run(kernel, x, grid=grid)
  assert isinstance(found.value, NameError)


@pytest.mark.parametrize(
  "index", [lambda n: pl.ds(0, n), lambda n: slice(0, n), lambda n: (slice(None), pl.ds(2, n + 1))]
)
def test_a_slice_of_dynamic_size_is_named(index):
  def kernel(n_ref, x_ref, o_ref):
    o_ref[...] = x_ref[index(n_ref[0])]

  with pytest.raises(
    errors.DynamicSizeError, match=rf"size of a slice .* at .*{HERE}\. .* only the start may be dynamic"
  ):
    pl.pallas_call(kernel, S((8, 8), F32))(jnp.ones(1, jnp.int32), jnp.zeros((8, 8)))


def test_specs_of_jax_are_taken_over():
  peer = pytest.importorskip("jax.experimental.pallas")
  peer_tpu = pytest.importorskip("jax.experimental.pallas.tpu")

  def kernel(n_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...] * n_ref[0]

  spec = peer.BlockSpec((peer.Squeezed(), peer.Blocked(8)), lambda i, n: (i, 0), memory_space=peer_tpu.VMEM)
  grid_spec = peer_tpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(4,), in_specs=[spec], out_specs=spec)
  x = jnp.arange(32.0).reshape(4, 8)
  for given in (
    {"grid_spec": grid_spec},
    {"grid_spec": pltpu.PrefetchScalarGridSpec(1, (4,), [spec], pl.BlockSpec((None, 8), lambda i, n: (i, 0)))},
  ):
    np.testing.assert_array_equal(pl.pallas_call(kernel, S((4, 8), F32), **given)(jnp.array([3]), x), 3 * x)
  anywhere = pl.BlockSpec(memory_space=peer.ANY)
  copy = lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...])
  np.testing.assert_array_equal(pl.pallas_call(copy, S((4, 8), F32), in_specs=[anywhere], out_specs=anywhere)(x), x)
