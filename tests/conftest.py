"""Eight CPU devices for every test, no GPU test where there is no GPU, and no test of several devices where there are fewer.

On a machine with a GPU, `pytest --platform gpu tests/pallas tests/ops tests/gpu` runs the tests of what kernels compute there, as native
code; with `-n 12` they share the GPU. With `--platform emulated` they run as the code for a GPU on any machine (`nvgpu/emulated.py`), with
`--platform avx2`, `neon` or another name of `cpu/processors.py` as the code for such a processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

if "PYTEST_XDIST_WORKER" in os.environ:
  os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # many processes share a GPU

import jax
import pytest
from jax._src import compiler

pytest.register_assert_rewrite("tests.support")

# Nearly every test compiles programs of its own with XLA and runs them once, on little data. Without LLVM's passes, and with the emitters
# XLA had before those that go by way of MLIR, they compile two to five times as fast. The code of our own targets does not change.
HAS_OLDER_EMITTERS = jax.__version_info__ < (0, 11)
DEVICES = ["--xla_force_host_platform_device_count=8"]
FAST_TO_COMPILE = [
  "--xla_backend_optimization_level=0",
  "--xla_llvm_disable_expensive_passes=true",
  "--xla_cpu_parallel_codegen_split_count=1",
]
if HAS_OLDER_EMITTERS:
  FAST_TO_COMPILE.append("--xla_cpu_use_fusion_emitters=false")
# XLA fuses less for the older emitters, and a few conversions and powers are other numbers there. Tests about HLO see what users see, as do
# those marked so.
ABOUT_HLO = {"accelerate", "cli", "hlo", "schedule"}


@contextlib.contextmanager
def usual_emitters() -> Iterator[None]:
  made = compiler.get_compile_options

  def options(*args: Any, **kwargs: Any) -> Any:
    result = made(*args, **kwargs)
    result.env_option_overrides = [*result.env_option_overrides, ("xla_cpu_use_fusion_emitters", True)]
    return result

  with mock.patch.object(compiler, "get_compile_options", options):
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
  as_for_users = item.path.parent.name in ABOUT_HLO or item.get_closest_marker("usual_xla")
  with usual_emitters() if HAS_OLDER_EMITTERS and as_for_users else contextlib.nullcontext():
    return (yield)


@functools.cache
def gpu_is_here() -> bool:
  try:
    return bool(jax.devices("gpu"))
  except RuntimeError:  # JAX has no such backend
    return False


def pytest_addoption(parser: pytest.Parser) -> None:
  parser.addoption(
    "--platform",
    default="cpu",
    help="where kernels run: cpu; gpu, only as native code; emulated, as the code for a GPU, on the CPU; a processor of cpu/processors.py",
  )


def pytest_configure(config: pytest.Config) -> None:
  os.environ["COLUMNS"] = "200"  # pytest-xdist gives its workers 80: tables that tests read would be folded
  on_gpu = config.getoption("--platform") == "gpu"
  # Read when JAX is first asked for a device.
  os.environ.setdefault("XLA_FLAGS", " ".join(DEVICES if on_gpu else DEVICES + FAST_TO_COMPILE))
  if on_gpu:
    if not gpu_is_here():
      raise pytest.UsageError("--platform gpu: JAX sees no GPU here.")
    # By default XLA's f32 has 10 bits there, and it is the oracle.
    jax.config.update("jax_default_matmul_precision", "highest")
  if config.getoption("--platform") == "emulated":
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "nvgpu"))
    import emulated_peers

    emulated_peers.install()
  elif config.getoption("--platform") not in ("cpu", "gpu"):
    from tests.cpu import processors

    name = config.getoption("--platform")
    if name not in processors.NAMES or processors.why_not(name):
      raise pytest.UsageError(
        f"--platform {name}: {processors.why_not(name) if name in processors.NAMES else 'unknown'}"
      )
    pretending = processors.pretend(name)
    pretending.__enter__()
    config.add_cleanup(lambda: pretending.__exit__(None, None, None))


def pytest_collection_finish() -> None:
  gc.freeze()  # JAX, the tests and what they import stay: the collector need not walk through them again and again
  gc.set_threshold(10_000)


_ROOM = 3 << 30  # bytes that a process of tests may keep
LIBC = ctypes.CDLL(None)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
  """Between modules, give back what compiled programs take, where that is much: two processes would need all memory of a small machine."""
  if nextitem is not None and nextitem.path != item.path and _resident_bytes() > _ROOM:
    jax.clear_caches()
    gc.collect()
    if hasattr(LIBC, "malloc_trim"):  # glibc
      LIBC.malloc_trim(0)


def _resident_bytes() -> int:
  try:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
  except OSError:  # not Linux
    return 0
  return pages * os.sysconf("SC_PAGE_SIZE")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
  for item in items:
    if item.get_closest_marker("gpu") and not gpu_is_here():
      item.add_marker(pytest.mark.skip(reason="JAX sees no GPU here"))
    needed = item.get_closest_marker("devices")
    if needed and jax.device_count() < needed.args[0]:
      item.add_marker(pytest.mark.skip(reason=f"needs {needed.args[0]} devices, there are {jax.device_count()}"))
  if config.getoption("--platform") != "cpu":
    portable = [item for item in items if _is_portable(item)]
    config.hook.pytest_deselected(items=portable)
    items[:] = [item for item in items if item not in portable]


def _is_portable(item: pytest.Item) -> bool:
  """Whether a test is about the portable lowering, which does not change with the platform."""
  called = getattr(item, "callspec", None)
  return called is not None and "portable" in called.id.split("-")
