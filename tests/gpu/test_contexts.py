"""A kernel in several contexts of one process. Each GPU has a context; on one that was not in use when a kernel was loaded, a launcher has
a handle of no context, and the driver finds the function of the context that the stream belongs to. One GPU can have several contexts too,
and that is how it is tested where there is one.
"""

from __future__ import annotations

import ctypes
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

from fake_driver import API, call

from tests.support.launched_kernels import affine, plain, transposed_sums, whole
from tilewright.cli.bench_gpu_kernels import matmul
from tilewright.runtime import cuda, ffi
from tilewright.target.nvgpu.host import compiled as code

pytestmark = pytest.mark.gpu
P = ctypes.c_void_p
WORKSPACE_BYTES = 64 << 20  # more than any of these kernels works in


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
  """What is compiled within has handles that belong to no context, as on GPUs that are not in use yet; gives the addresses of launchers by
  name. XLA takes one launcher for a name, so these tests have kernels of shapes that no others have."""
  found: dict[str, int] = {}
  register = ffi.register

  def noted(name: str, stages: dict[str, int], platform: str) -> None:
    found[name] = stages["execute"]
    register(name, stages, platform)

  with pytest.MonkeyPatch.context() as patch:
    patch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    patch.setattr(code, "_code_cache", code._new_code_cache())
    patch.setattr(cuda, "_is_in_use", lambda device: False)
    patch.setattr(ffi, "register", noted)
    yield found


@pytest.mark.parametrize("graphs", [True, False], ids=["command-buffers", "launches"])
def test_xla_launches_kernels_that_belong_to_no_context(compiled, graphs):
  def chain(x):
    for _ in range(8):
      x = affine(x, -1.0, 2.0)
    return x, transposed_sums(x)

  run = jax.jit(chain, compiler_options={} if graphs else {"xla_gpu_graph_min_graph_size": 1 << 20})
  for seed in range(3):
    x = whole(208, 208, seed=seed)
    got, sums = run(x)
    np.testing.assert_array_equal(got, plain(x, 8, -1.0, 2.0))
    np.testing.assert_array_equal(sums, np.cumsum(np.asarray(x), 0) - np.asarray(x).T)
  assert compiled


class Context:
  """A context of the first device, with a stream, and arrays in its memory."""

  def __init__(self) -> None:
    self.handle, self.stream = P(), P()
    _call("cuCtxCreate_v2", ctypes.byref(self.handle), 0, 0)  # which makes it current
    _call("cuStreamCreate", ctypes.byref(self.stream), 1)

  def array(self, values: np.ndarray) -> int:
    place = P()
    _call("cuCtxSetCurrent", self.handle)
    _call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(values.nbytes))
    _call("cuMemcpyHtoD_v2", place, P(values.ctypes.data), ctypes.c_size_t(values.nbytes))
    return place.value or 0

  def read(self, place: int, like: np.ndarray) -> np.ndarray:
    result = np.empty_like(like)
    _call("cuCtxSetCurrent", self.handle)
    _call("cuStreamSynchronize", self.stream)
    _call("cuMemcpyDtoH_v2", P(result.ctypes.data), P(place), ctypes.c_size_t(result.nbytes))
    return result

  def launch(self, address: int, operands: list[int], results: list[int]) -> None:
    """Call a launcher that is told of this context's stream, whatever context is current."""
    errors = []

    def stream_get(args) -> int:
      args[3] = self.stream.value
      return 0

    def error_create(args) -> int:
      errors.append(ctypes.string_at(args[2]).decode())
      return 1

    api = {"XLA_FFI_Stream_Get": API(stream_get), "XLA_FFI_Error_Create": API(error_create)}
    call(address, api, operands, results)
    assert not errors, errors


def _call(function: str, *args) -> None:
  status = getattr(ctypes.CDLL("libcuda.so.1"), function)(*args)
  assert status == 0, f"{function}: {status}"


def _programs():
  """A small kernel, one with more shared memory than is free, and one with tensor maps."""
  bf16 = lambda *shape, seed: whole(*shape, seed=seed).astype(jnp.bfloat16)
  product = lambda a, b: matmul(a, b, (128, 128, 64))
  yield affine, [whole(16, 176, seed=seed) for seed in range(2)]
  yield transposed_sums, [whole(176, 176, seed=seed) for seed in range(2)]
  yield product, [(bf16(256, 192, seed=seed), bf16(192, 384, seed=seed + 5)) for seed in range(2)]


def _on_two_contexts(address: int, sets: list[tuple[Any, ...]], wanted: list[np.ndarray]) -> list[np.ndarray]:
  """What a launcher computes from arrays of two contexts, whichever is current."""
  contexts = [Context() for _ in sets]
  places = []
  for context, own, result in zip(contexts, sets, wanted):
    operands = [context.array(np.asarray(x)) for x in own]
    workspace = context.array(np.zeros(WORKSPACE_BYTES, np.uint8))
    places.append((operands, [context.array(np.zeros_like(result)), workspace]))
  for current in contexts:
    _call("cuCtxSetCurrent", current.handle)
    for context, (operands, results) in zip(contexts, places):
      context.launch(address, operands, results)
  found = [context.read(out, result) for context, (_, (out, _)), result in zip(contexts, places, wanted)]
  for context in contexts:
    _call("cuCtxDestroy_v2", context.handle)
  return found


@pytest.mark.parametrize("number", range(3), ids=["small", "shared-memory", "tensor-maps"])
def test_a_launcher_works_for_streams_of_two_contexts(compiled, number):
  function, sets = list(_programs())[number]
  sets = [own if isinstance(own, tuple) else (own,) for own in sets]
  before = set(compiled)
  wanted = [np.asarray(jax.jit(function)(*own)) for own in sets]
  (name,) = compiled.keys() - before
  with ThreadPoolExecutor(1) as other:  # XLA remembers which context is current in a thread
    found = other.submit(_on_two_contexts, compiled[name], sets, wanted).result()
  for got, result in zip(found, wanted):
    np.testing.assert_array_equal(got, result)
