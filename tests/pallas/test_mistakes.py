"""Mistakes that Python, JAX or nobody would name: the message says which argument or line is meant, and what to do."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify
from jax.experimental import pallas as jax_pallas
from jax.experimental.pallas import tpu as jax_pltpu
from language import F32, I32, S, arange, pointwise, run

from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.pallas import fuser
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu

HERE = r"test_mistakes\.py:\d+"
F16 = jnp.float16
copy = pointwise(lambda x: x)
x = arange(4, 6)
BLOCK = pl.BlockSpec((2, 6), lambda i: (i, 0))


def call(kernel=copy, *args, **options):
  return lambda: run(kernel, *(args or (x,)), **options)


def smem(**options):
  return plgpu.SMEM((64, 64), F16, **options)


def on_gpu(body, *scratch, **options):
  """A kernel of `plgpu`; it is traced only."""
  array = S((64, 64), F16)
  return lambda: jax.eval_shape(plgpu.kernel(body, array, scratch_types=scratch, **options), array)


def jax_name_in_a_kernel(use):
  """A kernel that calls a function of `jax.experimental.pallas`."""

  def kernel(x_ref, o_ref, sem):
    use(x_ref, o_ref, sem)

  return call(kernel, scratch_shapes=[pltpu.SemaphoreType.DMA])


CALLS = {
  "outputs that are not described": (
    lambda: pl.pallas_call(copy)(x),
    TypeError,
    rf"pallas_call: out_shape is missing. Give the outputs' shapes and dtypes.*This is at .*{HERE}",
  ),
  "outputs that are described by a shape": (
    lambda: pl.pallas_call(copy, (4, 6))(x),
    errors.OutShapeError,
    rf"Invalid out_shape type: <class 'int'>. Expected jax.ShapeDtypeStruct\(shape, dtype\) for each.*got 4.*{HERE}",
  ),
  "one spec for several arguments": (
    lambda: pl.pallas_call(copy, x, in_specs=BLOCK, grid=2)(x),
    errors.TreeMismatchError,
    rf"`in_specs` must be a tuple or a list.*write in_specs=\[spec\]. This is at .*{HERE}",
  ),
  "more specs than arguments": (
    call(in_specs=[BLOCK, BLOCK], grid=2),
    errors.TreeMismatchError,
    r"the lengths do not match. Give `in_specs` the structure of `inputs`.*\.py:\d+",
  ),
  "memory of a scope outside of a kernel": (
    lambda: pl.run_scoped(lambda ref: None, pltpu.VMEM((8,), F32)),
    errors.OutsideKernelError,
    rf"pl.run_scoped has a meaning only inside a kernel.*This is at .*{HERE}",
  ),
  "a grid that is no number": (
    lambda: pl.pallas_call(copy, x, grid=(2.0,))(x),
    errors.GridError,
    rf"Grid must be a tuple of integers.*This is at .*{HERE}",
  ),
  "a number of elements that is no integer": (
    lambda: ops.top_k(x, k=1.5),
    errors.ShapeMismatchError,
    rf"top_k: k must be an int, got 1.5.*This is at .*{HERE}",
  ),
  "values in place of refs": (
    call(
      lambda x_ref, o_ref: pltpu.emit_pipeline(copy, grid=(2,), in_specs=[BLOCK], out_specs=[BLOCK])(x_ref[...], o_ref)
    ),
    errors.RefTypeError,
    rf"emit_pipeline: operand 0 must be a ref, got an array of type float32\[4, 6\]. Pass x_ref itself.*{HERE}",
  ),
  "a loop over a number": (
    on_gpu(lambda x_ref, o_ref: plgpu.nd_loop(2, collective_axes="i")),
    errors.GridError,
    rf"nd_loop: grid: expected a sequence of sizes, as in \(2,\), got 2.*{HERE}",
  ),
  "a fusible function without its last parameter": (
    lambda: fuser.fusible(lambda x_fn: None)(x),
    errors.FusionError,
    rf"fusible function <lambda> at .*{HERE} takes \(x_fn\), but is called with 2 arguments \(a fusion for each argument, then",
  ),
  "JAX's program_id": (
    jax_name_in_a_kernel(lambda x_ref, o_ref, sem: jax_pallas.program_id(0)),
    errors.ForeignNameError,
    rf"A name of jax.experimental.pallas is used in this kernel, at \S*{HERE}\S*\. Import it from tilewright.pallas instead",
  ),
  "JAX's copies": (
    jax_name_in_a_kernel(lambda *refs: jax_pltpu.make_async_copy(*refs).start()),
    errors.ForeignNameError,
    rf"A function of jax.experimental.pallas \('dma_start'\) is called in this kernel, at .*{HERE}",
  ),
  "a kernel with too few parameters": (
    call(lambda x_ref: None),
    errors.KernelTypeError,
    rf"kernel function <lambda> at .*{HERE} takes \(x_ref\), but is called with 2 arguments \(a ref for each .*one parameter for each",
  ),
  "a kernel with too few parameters, in Python's words": (
    call(lambda x_ref: None),
    TypeError,
    r"<lambda>\(\) takes 1 positional argument but 2 were given\. Give it",
  ),
  "a kernel with too many parameters, in Python's words": (
    call(lambda x_ref, o_ref, acc, *, sem=F32: None),
    TypeError,
    r"<lambda>\(\) missing 1 required positional argument: 'acc'",
  ),
  "booleans as an index": (
    call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[x_ref[:, 0] > 0]), interpret=pltpu.InterpretParams()),
    IndexError,
    rf"indexed by booleans at .*{HERE}.*jnp\.where",
  ),
  "a kernel without a parameter for its scratch": (
    call(lambda x_ref, o_ref: None, scratch_shapes={"acc": pltpu.VMEM((4,), F32)}),
    errors.KernelTypeError,
    rf"{HERE} takes \(x_ref, o_ref\), but is called with 2 arguments and the keywords \['acc'\]",
  ),
  "a kernel that is none": (call(3), errors.KernelTypeError, "kernel function must be a function, got 3"),
  "an argument that is no array": (
    lambda: pl.pallas_call(copy, S((4, 6), F32))("abc"),
    errors.KernelTypeError,
    r"args\[0\] must be an array, got 'abc'",
  ),
  "a block shape that is a number": (
    lambda: pl.BlockSpec(16, lambda i: (i, 0)),
    errors.BlockSpecError,
    "block_shape must be a sequence with an entry for each dimension, got 16",
  ),
  "a memory space as block shape": (lambda: pl.BlockSpec(pltpu.VMEM), errors.BlockSpecError, r"memory_space=pl\.ANY"),
  "a memory space as index map": (
    lambda: pl.BlockSpec((4, 6), pltpu.VMEM),
    errors.BlockSpecError,
    r"index_map got the memory space vmem. Name the argument, as in BlockSpec\(memory_space=pl\.ANY\)",
  ),
  "an index map that raises": (
    call(grid=2, in_specs=[pl.BlockSpec((2, 6), lambda i: (i[0], 0))]),
    IndexError,
    rf"Too many indices.*in the index map <lambda> at .*{HERE} for args\[0\]: its arguments are traced int32 scalars",
  ),
  "aliases of names": (call(input_output_aliases={"x": "o"}), errors.AliasError, r"numbers of outputs, as in \{0: 0\}"),
  "aliases that are no dict": (call(input_output_aliases={0}), errors.AliasError, r"must be a dict .* got \{0\}"),
  "scratch of a negative size": (lambda: pltpu.VMEM((-4,), F32), errors.MemorySpaceError, r"0 or more, got \(-4,\)"),
  "scratch of a fractional size": (lambda: pltpu.VMEM((4.0,), F32), errors.MemorySpaceError, r"ints .*got \(4.0,\)"),
  "scratch of no dtype": (
    lambda: pltpu.VMEM((4,), "flt"),
    errors.KernelTypeError,
    "'flt' is not a dtype. Give one such as",
  ),
  "a grid spec that is a grid": (
    lambda: pl.pallas_call(copy, S((4, 6), F32), grid_spec=(2,)),
    errors.GridError,
    r"grid_spec must be a pl.GridSpec .* got \(2,\). The sizes alone are `grid`",
  ),
  "half a prefetched scalar": (
    lambda: pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1.5),
    errors.GridError,
    "num_scalar_prefetch must be the number of operands that are prefetched, got 1.5",
  ),
  "compiler_params in a dict": (
    call(compiler_params={"mosaic": {"dimension_semantics": ("parallel",)}}),
    errors.KernelTypeError,
    r"compiler_params must be the CompilerParams of a target, as in pltpu.CompilerParams\(...\), got \{'mosaic'",
  ),
  "compiler_params of a kernel on a mesh": (
    on_gpu(lambda a, o: None, compiler_params="fast"),
    errors.KernelTypeError,
    "compiler_params must be the CompilerParams of a target.*got 'fast'",
  ),
  "semantics of more dimensions": (
    call(grid=(2,), compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary"))),
    errors.GridError,
    r"one entry for each of the 1 dimensions of the grid, got 2: \('parallel', 'arbitrary'\)",
  ),
  "a cost that is a number": (
    call(cost_estimate=3),
    errors.KernelTypeError,
    "cost_estimate must be a pl.CostEstimate, got 3",
  ),
  "metadata that is no dict": (call(metadata=3), errors.KernelTypeError, "metadata must be a dict of strings, got 3"),
  "a load of an array": (
    lambda: pl.load(x, (0,)),
    errors.RefTypeError,
    r"expected a ref, got an array of type float32\[4, 6\]",
  ),
  "a copy of an array": (
    lambda: pltpu.sync_copy(x, x),
    errors.RefTypeError,
    r"src_ref must be a ref, got an array of type float32\[4, 6\]",
  ),
  "a body on a mesh with too many parameters": (
    on_gpu(lambda a, o, s: None),
    errors.KernelTypeError,
    rf"kernel body <lambda> at .*{HERE} takes \(a, o, s\), but is called with 2 arguments",
  ),
  "a block of another rank": (
    lambda: pl.pallas_call(copy, S((4, 6), F32), grid=2, in_specs=[pl.BlockSpec((2,), lambda i: i)])(x),
    errors.BlockRankError,
    rf"same number of dimensions.*in the pallas_call \S+ at \S+:\d+. The call is at \S+{HERE}",
  ),
  "an array of Python's objects": (
    lambda: pl.pallas_call(copy, S((4, 6), F32))(np.full((4, 6), None)),
    errors.KernelTypeError,
    r"args\[0\] is a NumPy array of dtype object and shape \(4, 6\).*x.astype\(np.float32\)",
  ),
  "a barrier of half an arrival": (lambda: plgpu.Barrier(num_arrivals=0.5), errors.GridError, "num_arrivals.*got 0.5"),
  "fewer barriers than one": (
    lambda: plgpu.Barrier(num_barriers=-1),
    errors.GridError,
    "num_barriers.*1 or more, got -1",
  ),
  "one transform": (
    lambda: smem(transforms=plgpu.SwizzleTransform(128)),
    errors.LayoutError,
    "transforms: expected a sequence of transforms",
  ),
  "a copy in the other direction": (
    on_gpu(lambda a, o, s, b: plgpu.copy_gmem_to_smem(s, o, b), smem(), plgpu.Barrier()),
    errors.MemorySpaceError,
    rf"copy_gmem_to_smem: src must be a GMEM reference, but lies in SMEM. The order is .*plgpu.copy_smem_to_gmem.*{HERE}",
  ),
  "a product into shared memory": (
    on_gpu(lambda a, o, s: plgpu.wgmma(s, s, s), smem()),
    errors.RefTypeError,
    rf"wgmma: acc must be an accumulator.*plgpu.ACC.*{HERE}",
  ),
  "a pipeline on a GPU whose body has no indices": (
    on_gpu(
      lambda a, o: plgpu.emit_pipeline(
        lambda b: None, grid=(1,), in_specs=[plgpu.BlockSpec((64, 64), lambda i: (i, 0))]
      )(a)
    ),
    errors.KernelTypeError,
    rf"plgpu.emit_pipeline: the body <lambda> at .*{HERE} takes \(b\), but is called with 2 arguments \(the indices, a ref",
  ),
  "a pipeline on a GPU with an index too few": (
    on_gpu(
      lambda a, o: plgpu.emit_pipeline(lambda _, b: None, grid=(1,), in_specs=[plgpu.BlockSpec((64, 64), lambda i: i)])(
        a
      )
    ),
    errors.IndexMapError,
    rf"the index map <lambda> at .*{HERE} must return 2 values to match block_shape=\(64, 64\), got 1",
  ),
}


def pipeline(body=copy, in_spec=BLOCK):
  return lambda a, o: pltpu.emit_pipeline(body, grid=(2,), in_specs=[in_spec], out_specs=[BLOCK])(a, o)


def writes(value):
  """A body that writes what a function makes of its input."""

  def body(x_ref, o_ref):
    o_ref[...] = value(x_ref)

  return body


def branches(x_ref, o_ref):
  if x_ref[0, 0] > 0:
    o_ref[...] = x_ref[...]


BODIES = {
  "a constant index outside": (
    writes(lambda r: r[...] * r[40, 0]),
    errors.OutOfBoundsError,
    rf"The index 40 of dimension 0 at .*{HERE}.* is out of range: the ref that the body sees has shape \(4, 6\).*from 0 to 3",
  ),
  "a product of two refs": (
    writes(lambda r: jnp.dot(r, r)),
    errors.UnreadRefError,
    rf"This is at .*{HERE}. A ref is not the value that it holds: read it first",
  ),
  "a result of another dtype": (
    writes(lambda r: r[...].astype(I32)),
    errors.ShapeMismatchError,
    rf"Invalid dtype.*This is at .*{HERE}. Convert the value with astype",
  ),
  "a result of another shape": (
    writes(lambda r: r[:2]),
    errors.ShapeMismatchError,
    rf"Value shape: \(2, 6\). This is at .*{HERE}. Write a value of the ref's shape",
  ),
  "a constant negative index outside": (
    writes(lambda r: r[...] * r[0, -7]),
    errors.OutOfBoundsError,
    "index -7 of dimension 1",
  ),
  "a fractional index": (
    writes(lambda r: r[...] * r[0.5, 0]),
    errors.KernelTypeError,
    rf"index of dimension 0 at .*{HERE}.* is float32; indices of refs must be integers. Divide with //",
  ),
  "a fractional index that is computed": (
    writes(lambda r: r[...] * r[r[0, 0], 0]),
    errors.KernelTypeError,
    rf"index of dimension 0 at .*{HERE}.* is float32; indices of refs must be integers",
  ),
  "more indices than dimensions": (
    writes(lambda r: r[0, 0, 0]),
    ValueError,
    rf"`indices` must not be longer.*{HERE}. Give at most one index for each dimension",
  ),
  "a window beyond the end": (
    writes(lambda r: r[pl.ds(2, 4)]),
    ValueError,
    rf"Out of bound slice.*{HERE}. A window must lie inside of its ref",
  ),
  "a backward window": (writes(lambda r: r[::-1]), ValueError, rf"step >= 1.*{HERE}. Read the window and .*jnp.flip"),
  "a ref as a value": (writes(lambda r: r), errors.UnreadRefError, rf"Cannot store a Ref.*{HERE}.*read it first"),
  "a transposed ref as a value": (writes(lambda r: r.T), errors.UnreadRefError, rf"{HERE}.*read it first"),
  "a branch in Python": (
    branches,
    jax.errors.TracerBoolConversionError,
    rf"This is at .*{HERE}. Branch on values with pl.when",
  ),
  "a loop in Python": (
    writes(lambda r: sum(r[i] for i in range(r[0, 0].astype(I32)))),
    jax.errors.TracerIntegerConversionError,
    rf"This is at .*{HERE}. Loop a dynamic number of times with jax.lax.fori_loop or pl.loop",
  ),
  "NumPy on values": (
    writes(lambda r: np.sin(r[...])),
    jax.errors.TracerArrayConversionError,
    rf"This is at .*{HERE}. NumPy cannot work on values of a kernel: use jnp",
  ),
  "shapes that do not go together": (
    writes(lambda r: r[...] + r[0:3]),
    TypeError,
    rf"incompatible shapes.*{HERE}. A body sees blocks: compare the shapes with the block shapes",
  ),
  "a product of the wrong shapes": (
    writes(lambda r: r[...] @ r[...]),
    TypeError,
    rf"contracting.*{HERE}. A body sees blocks",
  ),
  "a condition that is an array": (
    lambda a, o: pl.when(a[...] > 0)(lambda: None),
    errors.ShapeMismatchError,
    rf"the condition must be a scalar.*Reduce it first. This is at .*{HERE}",
  ),
  "an axis that is not there": (
    writes(lambda r: r[...] * pl.program_id(3)),
    errors.GridError,
    rf"out of bounds.*{HERE}",
  ),
  "a carry of another type": (
    writes(lambda r: jax.lax.fori_loop(0, 3, lambda i, c: c.astype(F16), r[...])),
    TypeError,
    rf"carry.*{HERE}. Convert the carry with astype",
  ),
  "a ref that leaves its scope": (
    lambda a, o: pl.run_scoped(lambda r: r, pltpu.VMEM((4, 6), F32)),
    ValueError,
    rf"{HERE}. Return the value, as in x_ref\[...\], not the ref",
  ),
  "a scope without a parameter": (
    lambda a, o: pl.run_scoped(lambda: None, pltpu.VMEM((4,), F32)),
    errors.KernelTypeError,
    rf"pl.run_scoped: the function <lambda> at .*{HERE} takes \(\), but is called with 1 arguments",
  ),
  "a body that returns an empty tree": (
    lambda a, o: (None,),
    errors.KernelReturnError,
    r"should return None. It returns a PyTree: PyTreeDef\(\(None,\)\)",
  ),
  "a signal to the semaphore of a copy": (
    lambda a, o: pl.run_scoped(pl.semaphore_signal, pltpu.SemaphoreType.DMA),
    ValueError,
    rf"Must signal semaphores of the following types: .*Got dma_sem.*{HERE}",
  ),
  "a count to wait for on the semaphore of a copy": (
    lambda a, o: pl.run_scoped(pl.semaphore_wait, pltpu.SemaphoreType.DMA),
    ValueError,
    rf"Must wait semaphores of the following types: .*Got dma_sem.*the copy's wait\(\).*{HERE}",
  ),
  "a signal to several semaphores": (
    lambda a, o: pl.run_scoped(pl.semaphore_signal, pltpu.SemaphoreType.REGULAR((2,))),
    ValueError,
    rf"Cannot signal on a non-\(\)-shaped semaphore: \(2,\). Pick one with semaphore.at\[i\].*{HERE}",
  ),
  "a checkify.check without checkify": (
    lambda a, o: checkify.check(a[0, 0] > 1, "small"),
    ValueError,
    r"Cannot abstractly evaluate a checkify.check which was not functionalized",
  ),
  "a pipeline with another body": (
    pipeline(body=lambda a: None),
    errors.KernelTypeError,
    rf"emit_pipeline: the body <lambda> at .*{HERE} takes \(a\), but is called with 2 arguments",
  ),
  "a pipeline with another index map": (
    pipeline(in_spec=pl.BlockSpec((2, 6), lambda i, j: (i, j))),
    errors.IndexMapArityError,
    rf"emit_pipeline: the index map <lambda> at .*{HERE} takes \(i, j\), but is called with 1 arguments",
  ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_wrong(name):
  wrong, kind, message = CALLS[name]
  with pytest.raises(kind) as caught:
    wrong()
  assert re.search(f"(?s){message}", str(caught.value))


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_wrong(name, interpret):
  body, kind, message = BODIES[name]
  with pytest.raises(kind) as caught:
    run(body, x, interpret=interpret)
  assert re.search(f"(?s){message}", str(caught.value))


def test_errors_of_the_users_own_code_stay_as_they_are():
  def body(x_ref, o_ref):
    raise ValueError("too small")

  with pytest.raises(ValueError) as caught:
    run(body, x)
  assert caught.value.args == ("too small",)


def test_indices_that_may_not_be_reached_are_not_refused():
  def body(x_ref, o_ref):
    o_ref[...] = x_ref[...]

    @pl.when(x_ref[0, 0] < 0)
    def _():
      o_ref[0, 0] = x_ref[40, 0]

  np.testing.assert_array_equal(run(body, x), x)


@pytest.mark.parametrize("interpret", [False, jax_pltpu.InterpretParams(dma_execution_mode="eager")])
def test_semaphores_memory_and_parameters_of_jax_are_taken_over(interpret):
  def kernel(x_ref, o_ref, held, sem, sems):
    pltpu.async_copy(x_ref, held, sem).wait()
    pltpu.async_copy(held, o_ref, sems.at[1]).wait()

  memory = [jax_pltpu.VMEM((4, 6), F32), jax_pltpu.SemaphoreType.DMA, jax_pltpu.SemaphoreType.DMA((2,))]
  np.testing.assert_array_equal(run(kernel, x, scratch_shapes=memory, interpret=interpret), x)


def test_jaxs_own_primitives_are_not_foreign_where_its_pallas_imports_them():
  """Modules of JAX's Pallas, imported above, hold `ge` and `sqrt` under names of their own."""
  kernel = pointwise(lambda v: jnp.where(v >= 3, jnp.sqrt(v), v))
  assert np.array_equal(run(kernel, x), np.where(x >= 3, np.sqrt(x), x))
