"""Machine code stays while a program exists that may call it, and no longer; interruptions leave a process that works."""

from __future__ import annotations

import ctypes
import gc
import linecache
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tests.support.golden_kernels import find
from tilewright import pallas as pl
from tilewright.pallas.lowering import lower_kernel
from tilewright.runtime import code_memory, jit, linking
from tilewright.target import cpu
from tilewright.target.cpu.lifetime import Resident
from tilewright.target.llvm.code_cache import CodeCache
from tilewright.tile.grid import Kernel

X = np.arange(8, dtype=np.float32)


def adding(number: float):
  """A kernel of its own for each number."""

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + number

  return pl.pallas_call(kernel, jax.ShapeDtypeStruct(X.shape, X.dtype))


def name_of(call) -> str:
  native = lower_kernel(Kernel(**find(jax.make_jaxpr(call)(X).jaxpr).params))
  return cpu.compile_kernel(native).name


def collect() -> None:
  """Free all code that nothing uses."""
  jax.clear_caches()
  gc.collect()
  cpu._code_cache._sweep(Resident.free)


def is_in_memory(name: str) -> bool:
  return any(key.startswith(name) for key in cpu._code_cache._linked)


def test_code_goes_with_the_last_program_that_may_call_it():
  call = adding(1.25)
  name = name_of(call)
  program = jax.jit(call).lower(X).compile()
  collect()
  assert is_in_memory(name)
  np.testing.assert_array_equal(program(X), X + 1.25)
  executable = program.runtime_executable()  # XLA's own, which no object of ours keeps anything for
  del program
  collect()
  assert is_in_memory(name)
  result = executable.execute_sharded([jnp.asarray(X)]).disassemble_into_single_device_arrays()
  np.testing.assert_array_equal(result[0][0], X + 1.25)
  del executable, result
  collect()
  assert not is_in_memory(name)
  np.testing.assert_array_equal(jax.jit(call)(X), X + 1.25)


def test_a_lowered_program_keeps_its_code_until_it_is_compiled():
  lowered = jax.jit(adding(2.25)).lower(X)
  name = name_of(adding(2.25))
  collect()
  assert is_in_memory(name)
  np.testing.assert_array_equal(lowered.compile()(X), X + 2.25)
  del lowered
  collect()
  assert not is_in_memory(name)


def test_a_program_whose_code_is_gone_is_an_error():
  np.testing.assert_array_equal(jax.jit(adding(3.25))(X), X + 3.25)  # XLA knows the handler
  for attributes in ({"code": "0" * 32}, {"code": "0"}, {"code": 3}, {}):
    stale = jax.ffi.ffi_call("tilewright_cpu", jax.ShapeDtypeStruct(X.shape, X.dtype))
    with pytest.raises(Exception, match="not in memory"):
      jax.jit(lambda x, stale=stale, attributes=attributes: stale(x, **attributes))(X)


def test_thousands_of_kernels_take_no_more_memory_than_those_in_use():
  code_cache = CodeCache(
    "test",
    lambda name, code: Resident(cpu._launcher(), name, linking.link(code)),
    Resident.publish,
    Resident.hold,
    Resident.free,
  )
  code = bytes(jit.object_code("@facts = constant i64 7"))
  holds = []
  for number in range(3000):
    name = f"{number:032x}"
    code_cache._add(name, code)
    holds = [*holds[-20:], code_cache._get(name)]
  assert len(code_cache._linked) <= 300
  holds.clear()
  code_cache._sweep(Resident.free)
  assert not code_cache._linked


# --- interruptions -----------------------------------------------------------------------------------------------

INTERRUPTED = ("runtime/linking", "runtime/code_memory", "runtime/ffi", "target/llvm/code_cache", "target/cpu/lifetime")
ROOT = pathlib.Path(tilewright.__file__).parent
FILES = {str(ROOT / f"{name}.py") for name in INTERRUPTED} | {str(ROOT / "target/cpu/__init__.py")}


class Interruption:
  """Raises an exception when a line of these files is reached for the n-th time."""

  def __init__(self, n: int, error: type[BaseException]):
    self.left, self.error = n, error

  def __call__(self, frame, event, _):
    if frame.f_code.co_filename not in FILES:
      return None
    # Tracing stops where Python lets no signal in and no handler is in force: at `try`, and at a `with` that is being left.
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
    if event == "line" and not line.startswith(("with ", "try:")):
      self.left -= 1
      if self.left == 0:
        raise self.error
    return self


def interrupted(n: int, error: type[BaseException], work) -> bool:
  """Whether an exception came while something was done."""
  before = sys.gettrace()
  sys.settrace(Interruption(n, error))
  try:
    work()
    return False
  except error:
    return True
  finally:
    sys.settrace(before)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_after_an_exception_at_any_line_of_linking_and_registering_everything_works(error):
  """Whatever line it comes at, the same code is there when it is asked for again."""
  code = bytes(jit.object_code("@facts = constant i64 7"))
  launcher = cpu._launcher()
  for n in range(1, 1000):
    code_cache = CodeCache(
      "test",
      lambda name, raw: Resident(launcher, name, linking.link(raw)),
      Resident.publish,
      Resident.hold,
      Resident.free,
    )
    name = f"{n:031x}{'k' if error is KeyboardInterrupt else 'm'}"

    def work(code_cache=code_cache, name=name):
      if name not in code_cache._linked:
        code_cache._add(name, code)
      held = code_cache._get(name)
      launcher.register()
      del held
      code_cache._sweep(Resident.free)

    came = interrupted(n, error, work)
    if name not in code_cache._linked:
      code_cache._add(name, code)
    held = code_cache._get(name)
    address = launcher_finds(launcher, name)
    assert ctypes.c_int64.from_address(address).value == 7
    del held
    assert not code_memory._lock._is_owned()
    if not came:
      break
  assert 50 < n < 999
  np.testing.assert_array_equal(jax.jit(adding(4.25))(X), X + 4.25)


def launcher_finds(launcher, name: str) -> int:
  """The facts that a program finds which names the code."""
  find = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(launcher.code.address("find"))
  return ctypes.c_uint64.from_address(find(name.encode()) + 16).value


FIRST_USE = """
import sys, numpy as np, jax
from tests.cpu.test_lifetime import adding, interrupted, X
n, came = 1, True
while came:
  jax.clear_caches()
  came = interrupted(n, KeyboardInterrupt, lambda: jax.jit(adding(5.25))(X))
  n += int(sys.argv[1])
np.testing.assert_array_equal(jax.jit(adding(5.25))(X), X + 5.25)
print(n)
"""


def test_a_process_interrupted_while_it_starts_goes_on(tmp_path, monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "kernels"))
  child = subprocess.run(
    [sys.executable, "-c", FIRST_USE, "29"], capture_output=True, text=True, check=False, cwd=ROOT.parent, timeout=120
  )
  assert child.returncode == 0, child.stderr[-3000:]
  assert int(child.stdout) > 50
