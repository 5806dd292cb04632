"""docs/api.md tells the truth: it is what the generator finds now, and it leaves no promised name out."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
REGENERATE = "Regenerate docs/api.md with: python docs/generate_api.py"

PROMISED = {
  "pl": """
    BlockDim Blocked BlockSpec BoundedSlice Buffered CompilerParams CostEstimate Element GridSpec Indirect MemoryRef
    MemorySpace RevisitMode Slice Squeezed DeviceIdType ANY HOST align_to broadcast_to cdiv core_map debug_check debug_print
    delay ds dslice dot empty empty_like empty_ref_like enable_debug_checks enable_poison_buffers estimate_cost get_global
    kernel load store swap loop multiple_of next_power_of_2 no_block_spec num_programs pallas_call program_id reciprocal
    run_scoped run_state select_ref semaphore semaphore_read semaphore_signal semaphore_wait squeezed strides_from_shape when
    with_scoped atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_cas atomic_xchg""",
  "pltpu": """
    PrefetchScalarGridSpec VMEM SMEM CMEM HBM ANY SEMAPHORE KEY SemaphoreType dma_semaphore make_async_copy async_copy
    make_async_remote_copy sync_copy get_barrier_semaphore emit_pipeline BufferedRef roll bitcast pack_elementwise
    unpack_elementwise prng_seed prng_random_bits stateful_bits stateful_bernoulli stateful_normal stateful_uniform
    sample_block stochastic_round einshape with_memory_space_constraint TensorCoreMesh CoreType run_on_first_core
    core_barrier CompilerParams InterpretParams force_tpu_interpret_mode set_tpu_interpret_mode
    reset_tpu_interpret_mode_state TpuInfo""",
  "plgpu": """
    ACC GMEM REGS SMEM TMEM Barrier BlockSpec CompilerParams Layout MemorySpace Mesh NDLoopInfo OOBFillMode RefUnion
    SwizzleTransform TilingTransform Transform WGMMAAccumulatorRef atomic_add atomic_and atomic_max atomic_min atomic_or
    atomic_xor barrier_arrive barrier_wait broadcasted_iota commit_smem copy_gmem_to_smem copy_smem_to_gmem emit_pipeline
    find_swizzle kernel layout_cast load mma nd_loop planar_snake semaphore_signal semaphore_wait set_max_registers
    async_load_tmem async_store_tmem tcgen05_mma transpose_ref wait_gmem_to_smem wait_smem_to_gmem wgmma
    wgmma_accumulator_load wgmma_wait""",
  "fuser": """
    fuse fusible Fusion custom_fusion evaluate get_fusion_values get_stateful_input_fusion_values
    get_stateful_output_fusion_values make_scalar_prefetch_handler pull_block_spec push_block_spec BlockIndexTransform""",
  "triton": "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_cas atomic_xchg",
}


@pytest.fixture(scope="module")
def generator():
  sys.path.insert(0, str(DOCS))
  return importlib.import_module("generate_api")


@pytest.fixture(scope="module")
def states(generator):
  return {(short, n.name): n for short, names in generator.survey().items() for n in names}


def test_the_document_is_current(generator):
  assert (DOCS / "api.md").read_text() == generator.document(), REGENERATE


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in PROMISED.items() for n in names.split()])
def test_a_promised_name_is_here(states, module, name):
  assert (module, name) in states, f"{module}.{name} is not in docs/peer_names.json"
  found = states[module, name]
  assert found.state in ("works", "error"), f"{module}.{name}: {found.state}. {found.note}"


def test_nothing_is_broken(states):
  assert not [f"{m}.{n}: {found.note}" for (m, n), found in states.items() if found.state == "broken"]


def test_an_error_has_a_reason(states):
  refused = [found for found in states.values() if found.state == "error"]
  assert refused and all(found.note for found in refused)


def test_a_program_uses_the_names_it_speaks_for(generator):
  programs = generator.load_programs()
  assert len(programs) > 100
  for (module, name), program in programs.items():
    source = inspect.getsource(program)
    body = source[source.index("def ") :]
    assert re.search(rf"\b{module}\.{name}\b", body), f"{program.__name__} does not use {module}.{name}"


def test_a_program_speaks_only_for_names_of_the_peer(generator, states):
  assert generator.load_programs().keys() <= states.keys()


def test_every_name_of_mosaic_gpu_is_in_one_group(generator):
  """The table of what names do on which target leaves none out, and says each thing once."""
  grouped = [name for group in generator.GROUPS for name in group.names.split()]
  assert sorted(grouped) == sorted(generator.load_peers()["plgpu"]["names"])
