"""Native kernels inside XLA's programs on a GPU: many in a row, in loops, on several devices, and found on disk by another process."""

from __future__ import annotations

import concurrent.futures
import ctypes
import gc
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.support.launched_kernels import affine, plain, transposed_sums, whole
from tilewright.runtime import cuda
from tilewright.target.nvgpu.host import compiled, lifetime

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("graphs", [True, False], ids=["command-buffers", "launches"])
@pytest.mark.parametrize("count", [1, 12, 60])
def test_many_kernels_in_one_program(count, graphs):
  """Long chains are recorded into command buffers, which are replayed and, where arrays move, updated."""

  def chain(x):
    for _ in range(count):
      x = affine(x, -1.0, 2.0)
    return x

  options = {} if graphs else {"xla_gpu_graph_min_graph_size": 1 << 20}
  run = jax.jit(chain, compiler_options=options)
  inputs = [whole(16, 256, seed=i) for i in range(4)]  # all alive at once, so that they lie in different places
  for _ in range(2):
    for x in inputs:
      np.testing.assert_array_equal(run(x), plain(x, count, -1.0, 2.0))


def test_kernels_between_operations_of_xla_and_in_loops():
  @jax.jit
  def program(x):
    def step(_, x):
      return affine(jnp.abs(affine(x)), 2.0, -1.0)

    return lax.scan(lambda x, _: (affine(x, 1.0, 0.0), x.sum()), lax.fori_loop(0, 7, step, x), length=3)

  x = whole(8, 128)
  wanted = np.asarray(x)
  for _ in range(7):
    wanted = plain(np.abs(plain(wanted, 1)), 1, 2.0, -1.0)
  for _ in range(3):
    last, sums = program(x)
    np.testing.assert_array_equal(last, wanted)
    np.testing.assert_allclose(sums, np.full(3, wanted.sum(dtype=np.float64)), rtol=1e-6)


def test_several_threads_compile_and_launch_at_once():
  def work(number):
    x = whole(4, 128 * (1 + number % 3), seed=number)
    return x, np.asarray(affine(x, 0.25 * (number + 1), 1.0)), number

  with concurrent.futures.ThreadPoolExecutor(6) as pool:
    for x, got, number in pool.map(work, range(12)):
      np.testing.assert_array_equal(got, plain(x, 1, 0.25 * (number + 1), 1.0))


@pytest.mark.devices(2)
def test_every_device_runs_kernels_of_its_own():
  """Small ones and those with much shared memory, on arrays that live on one device, and on all at once."""
  for device in jax.devices():
    x = jax.device_put(whole(160, 160), device)
    y = affine(x)
    assert y.devices() == {device}
    np.testing.assert_array_equal(y, plain(x, 1))
    np.testing.assert_array_equal(transposed_sums(x), np.cumsum(np.asarray(x), 0) - np.asarray(x).T)
  count = jax.device_count()
  spec = jax.sharding.PartitionSpec("d")
  f = jax.shard_map(affine, mesh=jax.make_mesh((count,), ("d",)), in_specs=spec, out_specs=spec, check_vma=False)
  x = whole(4 * count, 128)
  np.testing.assert_array_equal(jax.jit(f)(x), plain(x, 1))


def test_much_shared_memory():
  x = whole(160, 160)
  np.testing.assert_array_equal(transposed_sums(x), np.cumsum(np.asarray(x), 0) - np.asarray(x).T)


SECOND_PROCESS = """
import json, sys
import jax, jax.numpy as jnp
sys.path.insert(0, {tests!r})
from test_launching import affine
from tilewright.target import nvgpu

def refuse(*_):
  raise AssertionError("the kernel was compiled again")

nvgpu.prepared = refuse
print(json.dumps(affine(jnp.arange(256.0).reshape(2, 128)).tolist()))
"""


def test_a_second_process_generates_no_code(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
  monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
  fill = SECOND_PROCESS.replace("nvgpu.prepared = refuse\n", "")
  for program in (fill, SECOND_PROCESS):
    text = program.format(tests=str(__file__.rpartition("/")[0]))
    child = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    x = np.arange(256.0, dtype=np.float32).reshape(2, 128)
    assert json.loads(child.stdout) == plain(x, 1).tolist()


def free_bytes() -> int:
  free, total = ctypes.c_size_t(), ctypes.c_size_t()
  with cuda._context(0):
    cuda._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total), what="asking for memory")
  return free.value


def unload_unused() -> set[int]:
  """Unload what nothing uses; gives what is left."""
  jax.clear_caches()
  gc.collect()
  compiled._code_cache._sweep(lifetime.Resident.free)
  return set(cuda._loaded)


def test_kernels_go_with_the_programs_that_launch_them():
  """Of 220 kernels a few are in use at a time. What is unloaded gives its memory back, and programs that are alive go on."""
  x = whole(2, 128)
  kept = jax.jit(lambda x: affine(x, 3.0, 0.25)).lower(x).compile()
  before, free = unload_unused(), []
  for turn in range(3):
    for number in range(100 if turn else 20):
      shift = float(1 + number + 1000 * turn)
      np.testing.assert_array_equal(jax.jit(affine, static_argnums=2)(x, 2.0, shift), plain(x, 1, 2.0, shift))
    assert len(unload_unused() - before) <= 1
    free.append(free_bytes())
  if "PYTEST_XDIST_WORKER" not in os.environ:  # else others use the GPU, too
    assert free[1] - free[2] < 4 << 20
  np.testing.assert_array_equal(kept(x), plain(x, 1, 3.0, 0.25))
