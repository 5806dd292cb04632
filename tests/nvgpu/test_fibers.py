"""The threads that the CPU stands for: what a barrier too few does, and threads that wait for each other."""

from __future__ import annotations

import re

import block_on_cpu
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_programs import in_one_block, natives

from tilewright.target.nvgpu import arch
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel

X = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
BARRIER = re.compile(r'^.*call void @"llvm\.nvvm\.barrier0"\(\).*\n', re.MULTILINE)


def transposed():
  shape = jax.ShapeDtypeStruct(X.shape, jnp.float32)
  ((_, native),) = natives(in_one_block(lambda x: x.T, shape), shape)
  return emit_kernel(native, arch.named("sm_80"), 4)


def run(text, launch):
  out = np.zeros_like(X)
  block_on_cpu.execute(text, launch, [X, out])
  return out


def test_a_missing_barrier_shows():
  text, launch = transposed()
  assert BARRIER.search(text)
  np.testing.assert_array_equal(run(text, launch), X.T)
  assert (run(BARRIER.sub("", text), launch) != X.T).any()


def test_each_run_is_like_the_others():
  text, launch = transposed()
  text = BARRIER.sub("", text)
  np.testing.assert_array_equal(run(text, launch), run(text, launch))


def test_threads_that_wait_for_each_other_are_an_error():
  """Thread 5 is not at the barrier where the others are."""
  text, launch = transposed()
  alone = """  %"own.tid" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()
  %"is.five" = icmp eq i32 %"own.tid", 5
  br i1 %"is.five", label %"leave", label %"stay"
leave:
  ret void
stay:
"""
  text, count = re.subn(r"(define ptx_kernel [^{]*\{\n\w+:\n)", lambda found: found[1] + alone, text)
  assert count == 1
  with pytest.raises(AssertionError, match="threads of the block wait for each other"):
    run(text, launch)
