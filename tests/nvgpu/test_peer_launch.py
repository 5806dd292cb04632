"""The launcher of kernels that access other devices, called as XLA would call it on two devices at once, with kernels that the CPU runs."""

from __future__ import annotations

import concurrent.futures
import re

import emulated_peers
import jax
import numpy as np
import pytest
from block_on_cpu import execute_at
from jax.sharding import PartitionSpec as P

from tests.nvgpu.fake_driver import FakeDriver
from tests.support.communicating_kernels import permute_right
from tilewright import collectives
from tilewright.runtime import cuda
from tilewright.target.nvgpu.emit import whole_kernel
from tilewright.target.nvgpu.host import peer_memory

N = 2


@pytest.fixture
def driver(monkeypatch, tmp_path):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  monkeypatch.setenv("TILEWRIGHT_PEER_MEMORY", "1")
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "20")
  monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
  monkeypatch.setattr(peer_memory.cuda_memory, "Cuda", emulated_peers.OnCpu)
  peer_memory.renew()
  monkeypatch.setattr(cuda, "processors", lambda: 4)
  made = FakeDriver(monkeypatch, [(9, 0)] * N)
  made.emitted = []
  emit = whole_kernel.emit_kernel

  def recorded(*args):
    made.emitted.append(emit(*args))
    return made.emitted[-1]

  monkeypatch.setattr(whole_kernel, "emit_kernel", recorded)
  return made


def lowered(f, x):
  """The handler that a program calls on a GPU, and the numbers that the call carries."""
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:N]), ("x",))
  of_device = jax.shard_map(lambda x: f(x[0])[None], mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
  text = jax.jit(of_device).trace(x).lower(lowering_platforms=("cuda",)).as_text()
  (name,) = set(re.findall(r"tilewright_cuda_\w+", text))
  (numbers,) = re.findall(r"peers = (?:dense<\[|array<i64: )(\d+), (\d+)", text)
  return name, [int(n) for n in numbers]


def run(driver, f, x, operands, num_params):
  """What each device gets, from a call of the launcher on each at the same time; `operands` of a device come before its position."""
  name, attribute = lowered(f, x)
  ((text, launch),) = driver.emitted
  driver.while_running = lambda values: execute_at(text, launch, values)
  outputs = [np.full_like(x[0], np.nan) for _ in range(N)]
  workspaces = [np.zeros(launch.workspace_bytes, np.uint8) for _ in range(N)]

  def on(device):
    arrays = [np.ascontiguousarray(a) for a in (*operands(device), np.int32(device))]
    addresses = [a.ctypes.data for a in arrays]
    results = [outputs[device].ctypes.data, workspaces[device].ctypes.data]
    # A poisoned output is an operand too; the launcher does not look at it.
    return driver.launch(name, addresses, results, num_params, device, attribute)

  with concurrent.futures.ThreadPoolExecutor(N) as pool:
    failed = list(pool.map(on, range(N)))
  assert failed == [None] * N, driver.errors
  return outputs


def test_a_remote_copy_through_the_launcher(driver):
  x = np.arange(N * 8 * 16, dtype=np.float32).reshape(N, 8, 16)
  found = run(driver, lambda x: permute_right(x, N), x, lambda device: [x[device]], num_params=6)
  np.testing.assert_array_equal(found, np.roll(x, 1, 0))
  assert not any(launched.is_cooperative for launched in driver.launches)


def test_ctas_of_a_collective_are_launched_together(driver):
  x = np.arange(N * 6000, dtype=np.float32).reshape(N, 6000)
  kernel = lambda x: collectives.all_reduce(x, "x", algorithm="one_shot")
  _, attribute = lowered(kernel, x)
  assert driver.emitted[0][1].launched_blocks == 3
  assert attribute[0] > 0
