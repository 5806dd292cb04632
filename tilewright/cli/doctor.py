"""`tilewright doctor`: checks what is installed, and reports how to fix what is missing.

Each check examines one thing and returns a row; none may fail because something is absent. Steps that could end the process or
hang (starting a JAX backend, loading a GPU driver) run in a child process.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tilewright
from tilewright.cli.table import print_table
from tilewright.collectives import engines
from tilewright.runtime import cache as kernel_cache
from tilewright.runtime import ptxas, segments

OK, MISSING, TOO_OLD, TOO_NEW, BROKEN = "ok", "missing", "too old", "too new", "broken"


@dataclasses.dataclass(frozen=True)
class Row:
  """The result of one check. `required` means that nothing works without it."""

  name: str
  state: str
  found: str
  advice: str = ""
  required: bool = False

  @property
  def is_fatal(self) -> bool:
    return self.required and self.state != OK


# --- packages ----------------------------------------------------------------------------------------------------

# What pyproject.toml asks for: the first version that will do, and the first that will not.
REQUIRED: dict[str, tuple[str, str | None]] = {
  "jax": ("0.10.2", "0.12"),
  "jaxlib": ("0.10.2", "0.12"),
  "numpy": ("2.0", None),
  "ml_dtypes": ("0.5", None),
  "llvmlite": ("0.50", None),
  "rich": ("13", None),
}
MINIMUM_PYTHON = (3, 11)


def version_tuple(text: str) -> tuple[int, ...]:
  """The leading numbers of a version: '0.10.2.dev3' is (0, 10, 2)."""
  numbers = []
  for part in text.split("."):
    digits = ""
    for character in part:
      if not character.isdigit():
        break
      digits += character
    if not digits:
      break
    numbers.append(int(digits))
    if digits != part:
      break
  return tuple(numbers)


def installed_version(distribution: str) -> str | None:
  try:
    return importlib.metadata.version(distribution)
  except importlib.metadata.PackageNotFoundError:
    return None


def check_package(name: str, minimum: str, below: str | None) -> Row:
  wanted = f"'{name}>={minimum}{f',<{below}' if below else ''}'"
  advice = f"pip install {wanted}"
  version = installed_version(name)
  if version is None:
    return Row(name, MISSING, "-", advice, required=True)
  if version_tuple(version) < version_tuple(minimum):
    return Row(name, TOO_OLD, version, advice, required=True)
  if below is not None and version_tuple(version) >= version_tuple(below):
    return Row(name, TOO_NEW, version, advice, required=True)
  try:
    importlib.import_module(name)
  except Exception as error:  # whatever a broken installation raises
    return Row(
      name, BROKEN, f"{version}: {_first_line(error)}", f"pip install --force-reinstall {wanted}", required=True
    )
  return Row(name, OK, version, required=True)


def packages() -> Iterator[Row]:
  yield Row("tilewright", OK, f"{tilewright.__version__} ({pathlib.Path(tilewright.__file__).parent})", required=True)
  python = f"{platform.python_version()} ({platform.python_implementation()}, {platform.system()} {platform.machine()})"
  if sys.version_info[:2] >= MINIMUM_PYTHON:
    yield Row("Python", OK, python, required=True)
  else:
    yield Row("Python", TOO_OLD, python, "use Python {}.{} or later".format(*MINIMUM_PYTHON), required=True)
  for name, (minimum, below) in REQUIRED.items():
    yield check_package(name, minimum, below)


# --- code generation and the CPU ---------------------------------------------------------------------------------

# Target triples to ask LLVM for, with the name to show.
TRIPLES = {
  "x86_64-unknown-linux-gnu": "X86",
  "aarch64-unknown-linux-gnu": "AArch64",
  "nvptx64-nvidia-cuda": "NVPTX",
  "amdgcn-amd-amdhsa": "AMDGPU",
  "riscv64-unknown-linux-gnu": "RISC-V",
}
NEEDED_TARGETS = ("X86", "AArch64", "NVPTX")
SHOWN_FEATURES = (
  *(
    "sse4.2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vnni",
    "avx512bf16",
    "avx512fp16",
  ),
  *("avxvnni", "amx-tile", "amx-bf16", "amx-int8", "neon", "dotprod", "fp16", "bf16", "i8mm", "sve", "sve2"),
)


def llvm() -> Row:
  try:
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    version = ".".join(map(str, binding.llvm_version_info))
  except Exception as error:
    return Row("LLVM", MISSING, _first_line(error), "pip install 'llvmlite>=0.50'", required=True)
  targets = []
  for triple, name in TRIPLES.items():
    try:
      binding.Target.from_triple(triple)
    except RuntimeError:
      continue
    targets.append(name)
  found = f"{version}, targets {', '.join(targets)}"
  if lost := [t for t in NEEDED_TARGETS if t not in targets]:
    return Row("LLVM", BROKEN, found, f"no {', '.join(lost)}: install llvmlite from its wheel", required=True)
  return Row("LLVM", OK, found, required=True)


def cpu() -> Iterator[Row]:
  try:
    import llvmlite.binding as binding

    name, features = binding.get_host_cpu_name(), binding.get_host_cpu_features()
    shown = [f for f in SHOWN_FEATURES if features.get(f)]
  except Exception as error:
    name, shown = f"unknown ({_first_line(error)})", []
  yield Row("CPU", OK, f"{_cpu_model()} (LLVM: {name}), {_usable_cores()} of {os.cpu_count()} cores usable")
  yield Row(
    "CPU features", OK if shown else MISSING, " ".join(shown) or "-", "" if shown else "vector code will be plain"
  )


def _cpu_model() -> str:
  try:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
      if line.lower().startswith("model name"):
        return line.split(":", 1)[1].strip()
  except OSError:
    pass
  return platform.processor() or platform.machine() or "unknown"


def _usable_cores() -> int:
  return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- JAX and the GPU, each in a child process --------------------------------------------------------------------

_ASK_JAX = """
import collections, json, jax
kinds = collections.Counter(d.device_kind for d in jax.devices())
print(json.dumps([jax.default_backend(), sorted(kinds.items())]))
"""

_ASK_CUDA = """
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
  code = getattr(cuda, name)(*arguments)
  if code:
    raise SystemExit(f"{name} gives error {code}")
version, count = ctypes.c_int(), ctypes.c_int()
call("cuInit", 0)
call("cuDriverGetVersion", ctypes.byref(version))
call("cuDeviceGetCount", ctypes.byref(count))
devices, handles = [], []
for i in range(count.value):
  device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
  call("cuDeviceGet", ctypes.byref(device), i)
  call("cuDeviceGetName", name, 256, device)
  call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
  capability = []
  handles.append(device.value)
  for attribute in (75, 76, 132):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR, _MULTICAST_SUPPORTED
    value = ctypes.c_int()
    if attribute != 132:
      call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
    else:  # drivers before 12.1 do not know it
      cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    capability.append(value.value)
  devices.append([name.value.decode(), "sm_%d%d" % tuple(capability[:2]), memory.value, capability[2]])
pairs = []
for a in handles:
  for b in handles:
    if a < b:
      reach = []
      for one, other in ((a, b), (b, a)):
        value = ctypes.c_int()
        call("cuDeviceCanAccessPeer", ctypes.byref(value), one, other)
        reach.append(value.value)
      pairs.append([a, b, all(reach)])
print(json.dumps([version.value, devices, pairs]))
"""

_ASK_NCCL = """
import ctypes, glob, importlib.util, json, os
paths = ["libnccl.so.2"]
for package in ("nvidia.nccl", "nvidia.cu13", "nvidia.cu12"):
  try:
    spec = importlib.util.find_spec(package)
  except ModuleNotFoundError:
    spec = None
  for folder in (spec.submodule_search_locations or ()) if spec else ():
    paths += glob.glob(os.path.join(folder, "lib", "libnccl.so.2"))
for path in paths:
  try:
    library = ctypes.CDLL(path)
  except OSError:
    continue
  version = ctypes.c_int()
  library.ncclGetVersion(ctypes.byref(version))
  print(json.dumps("%d.%d.%d" % (version.value // 10000, version.value // 100 % 100, version.value % 100)))
  break
else:
  raise SystemExit("libnccl.so.2 is not found")
"""


def run_probe(program: str, timeout: float = 120) -> tuple[Any, str]:
  """Runs a program that prints JSON; returns what it printed, or None and the last line of its error output."""
  try:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout)
  except (OSError, subprocess.TimeoutExpired) as error:
    return None, _first_line(error)
  if done.returncode:
    lines = done.stderr.strip().splitlines()
    return None, lines[-1] if lines else f"ended with code {done.returncode}"
  return json.loads(done.stdout.strip().splitlines()[-1]), ""


def jax_devices() -> Row:
  answer, complaint = run_probe(_ASK_JAX)
  if answer is None:
    return Row("JAX devices", BROKEN, complaint, "run: python -c 'import jax; print(jax.devices())'", required=True)
  backend, kinds = answer
  return Row("JAX devices", OK, f"{backend}: " + ", ".join(f"{count} x {kind}" for kind, count in kinds), required=True)


def gpu() -> Iterator[Row]:
  answer, complaint = run_probe(_ASK_CUDA)
  if answer is None:
    absent = "libcuda" in complaint
    yield Row(
      "GPU driver",
      MISSING if absent else BROKEN,
      "-" if absent else complaint,
      "only needed for NVIDIA GPUs: install their driver",
    )
    yield Row("GPU", MISSING, "-", "only needed to run kernels on NVIDIA GPUs; JAX uses them with 'tilewright[cuda]'")
    return
  version, devices, pairs = answer
  yield Row("GPU driver", OK, f"supports CUDA {version // 1000}.{version % 1000 // 10}")
  for name, architecture, memory, _ in devices:
    yield Row("GPU", OK, f"{name} ({architecture}, {memory / 2**30:.0f} GiB)")
  if pairs:
    yield _gpu_pairs(pairs, all(multicast for *_, multicast in devices))
  if not devices:
    yield Row("GPU", MISSING, "the driver sees none", "check CUDA_VISIBLE_DEVICES")


def _gpu_pairs(pairs: Sequence[tuple[int, int, bool]], has_multicast: bool) -> Row:
  """Which GPUs reach each other's memory, and what `collectives` makes of it."""
  apart = [f"{a} and {b}" for a, b, reach in pairs if not reach]
  summary = f"{len(pairs) - len(apart)} of {len(pairs)} pairs reach each other's memory (collectives.peer)"
  if apart:
    summary += f"; not {', '.join(apart[:4])}{' and others' if len(apart) > 4 else ''}"
  return Row(
    "GPU pairs", OK, f"{summary}; multicast: {'yes' if has_multicast else 'no'}; programs use NCCL, through XLA"
  )


def gpu_libraries() -> Iterator[Row]:
  answer, _ = run_probe(_ASK_NCCL)
  yield _optional(
    "NCCL", f"{answer}" if answer else None, "only for JAX's collectives between GPUs: it comes with 'tilewright[cuda]'"
  )
  yield _optional("ptxas", _ptxas(), f"only for resource reports and offline checks: {ptxas.ADVICE}")


_ASK_COLLECTIVES = """
import json, os, time
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from tilewright import collectives
mesh = Mesh(np.array(jax.devices()), ("x",))
f = jax.jit(jax.shard_map(lambda x: collectives.all_reduce(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
x = jax.device_put(jnp.ones(1 << 19, jnp.float32), NamedSharding(mesh, P("x")))
assert float(jax.block_until_ready(f(x))[0]) == 2
times = []
for _ in range(10):
  start = time.perf_counter()
  jax.block_until_ready(f(x))
  times.append(time.perf_counter() - start)
print(json.dumps(min(times)))
"""


def collectives() -> Iterator[Row]:
  """The transports between devices, and their speed where it could be measured."""
  seconds, complaint = run_probe(_ASK_COLLECTIVES)
  if seconds is None:
    yield Row("CPU devices", BROKEN, complaint, "please report this")
  else:
    speed = f"all_reduce of 1 MiB over 2 devices in {seconds * 1e6:.0f} µs ({(1 << 20) / seconds / 1e9:.1f} GB/s)"
    yield Row("CPU devices", OK, f"shared memory, one process: {speed}")
  yield _cpu_processes()
  for name, what, extra in (("nccl", "nccl4py", "tilewright[nccl]"), ("nvshmem", "nvshmem4py", "tilewright[nvshmem]")):
    wrong = engines.problem(name)
    found = engines.version(name)
    if wrong is None:
      yield Row(what, OK, f"{found}")
    elif found is None:
      yield Row(what, MISSING, "-", f"only for collectives.{name} between GPUs: pip install '{extra}'")
    else:
      yield Row(what, BROKEN, wrong, f"pip install --upgrade '{extra}'")


_ASK_SEGMENT = """
import ctypes, json
from tilewright.runtime import segments
print(json.dumps(ctypes.c_int64.from_address(segments.join({offer!r}).start).value))
"""
_PROBED_AT, _WORD = (1 << 44) - (1 << 32), 0x7EA5ED


def _cpu_processes() -> Row:
  """Whether processes can share memory, tried with a child."""
  try:
    segment = segments.create(1 << 20, _PROBED_AT)
  except (segments.SegmentError, OSError) as error:
    return Row("CPU processes", MISSING, f"Gloo, through XLA: {error}", "only for kernels between processes")
  try:
    ctypes.c_int64.from_address(segment.start).value = _WORD
    found, complaint = run_probe(_ASK_SEGMENT.format(offer=segment.offer))
  finally:
    segment.unmap()
  if found != _WORD:
    return Row("CPU processes", MISSING, f"Gloo, through XLA: {complaint}", "only for kernels between processes")
  return Row(
    "CPU processes", OK, "shared memory between processes of this user on this host; between hosts Gloo, through XLA"
  )


def _optional(name: str, found: str | None, advice: str) -> Row:
  return Row(name, OK, found) if found else Row(name, MISSING, "-", advice)


def _ptxas() -> str | None:
  path = ptxas.find()
  if path is None:
    return None
  try:
    text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30).stdout
  except (OSError, subprocess.TimeoutExpired):
    return None
  release = [line for line in text.splitlines() if "release" in line]
  return f"{release[0].split('release', 1)[1].split(',')[0].strip()} ({path})" if release else path


# --- caches ------------------------------------------------------------------------------------------------------


def cache() -> Row:
  found = kernel_cache.info()
  if found.refused is not None:
    advice = "chmod 700 it if it is yours, or set TILEWRIGHT_CACHE_DIR to a directory that only you can write to"
    return Row("kernel cache", BROKEN, f"{found.directory} {found.refused}", advice)
  if not found.entries:
    return Row("kernel cache", OK, f"{found.directory} (empty: it is made when it is first needed)")
  return Row("kernel cache", OK, f"{found.directory} ({found.entries} files, {found.nbytes / 2**20:.1f} MiB)")


# --- the command -------------------------------------------------------------------------------------------------

CHECKS: tuple[Callable[[], Row | Iterable[Row]], ...] = (
  packages,
  llvm,
  cpu,
  jax_devices,
  gpu,
  gpu_libraries,
  collectives,
  cache,
)


def _first_line(error: BaseException) -> str:
  return (str(error).strip().splitlines() or [type(error).__name__])[0]


def examine() -> list[Row]:
  rows: list[Row] = []
  for check in CHECKS:
    try:
      found = check()
      rows += [found] if isinstance(found, Row) else list(found)
    except Exception as error:  # a check that fails is a row, never a traceback
      rows.append(Row(check.__name__, BROKEN, f"{type(error).__name__}: {_first_line(error)}", "please report this"))
  return rows


def run(arguments: argparse.Namespace) -> int:
  rows = examine()
  print_table(
    "tilewright doctor", ["what", "state", "found", "what to do"], [[r.name, r.state, r.found, r.advice] for r in rows]
  )
  broken = [r.name for r in rows if r.is_fatal]
  if broken:
    print(f"Broken: {', '.join(broken)}. Nothing works before that is put right.")
    return 1
  print("Everything that is required is here.")
  return 0
