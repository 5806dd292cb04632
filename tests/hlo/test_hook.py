"""Passes inside real compilations on the CPU: they run, they are keyed, they cannot break anything."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo import hook as hook_module
from tilewright.hlo import hook_cache
from tilewright.hlo.passes import HloPassError, as_pass
from tilewright.hlo.passes.buffers import BufferUses

STAGES = ["pre_scheduler", "post_scheduler"]
X = np.array([0.0, 0.5, 1.0, 2.0], np.float32)
CORE = ["call_inliner", "tuple_simplifier", "cse", "constant_folding", "algebraic_simplifier", "reshape_mover"]


@pytest.fixture(autouse=True)
def nothing_stays_installed(tmp_path, monkeypatch):
  monkeypatch.setenv("TMPDIR", str(tmp_path))
  monkeypatch.setattr("tempfile.tempdir", None)
  yield
  for installed in hlo.installed_hooks():
    installed.uninstall()


def sine_to_cosine(module: hlo.Module) -> bool:
  """Every sine becomes a cosine."""
  found = [i for i in module.instructions() if i.opcode == "sine"]
  for instruction in found:
    instruction.opcode = "cosine"
  return bool(found)


def without_copies(module: hlo.Module) -> bool:
  """What a careless pass may do: every copy goes, and with it every proof that buffers do not collide."""
  changed = False
  for computation in module.computations:
    for copy in [i for i in computation.instructions if i.opcode == "copy" and not computation.is_fusion]:
      if copy.shape == copy.operands[0].shape:
        copy.replace_all_uses_with(copy.operands[0])
        copy.drop_control_edges()
        computation.remove(copy)
        changed = True
  return changed


@pytest.mark.parametrize("stage", STAGES)
def test_a_pass_changes_what_is_compiled(stage):
  with hlo.install(sine_to_cosine, stage=stage) as hook:
    result = jax.jit(jnp.sin)(X)
  np.testing.assert_allclose(result, np.cos(X), rtol=1e-6)
  assert hook.changed and not hook.installed


def test_stages_are_those_of_jax():
  from jax.extend.xla import PipelineStage

  with hlo.install([], stage=PipelineStage.POST_SCHEDULER) as hook:
    assert hook.stage == "post_scheduler"


def test_what_was_compiled_before_is_compiled_anew_with_the_passes_and_again_without():
  f = jax.jit(lambda x: jnp.sin(x) + 1)
  plain = np.sin(X) + 1
  np.testing.assert_allclose(f(X), plain, rtol=1e-6)
  hook = hlo.install(sine_to_cosine)
  np.testing.assert_allclose(f(X), np.cos(X) + 1, rtol=1e-6)
  hook.uninstall()
  np.testing.assert_allclose(f(X), plain, rtol=1e-6)
  with hlo.install(sine_to_cosine):
    np.testing.assert_allclose(f(X), np.cos(X) + 1, rtol=1e-6)


def test_lowered_and_eager_code_is_keyed_too():
  lowered = jax.jit(lambda x: jnp.sin(x) * 3).lower(X)
  assert np.allclose(lowered.compile()(X), np.sin(X) * 3)
  assert np.allclose(jnp.sin(X), np.sin(X))
  with hlo.install(sine_to_cosine):
    assert np.allclose(lowered.compile()(X), np.cos(X) * 3)
    assert np.allclose(jnp.sin(X), np.cos(X))
  assert np.allclose(lowered.compile()(X), np.sin(X) * 3)
  assert np.allclose(jnp.sin(X), np.sin(X))


def test_several_hooks_run_in_order_of_installation():
  seen: list[str] = []
  hooks = [hlo.install(lambda m, i=i: seen.append(f"{i}"), only="ordered") for i in range(3)]

  @jax.jit
  def ordered(x):
    return x * 2

  ordered(X)
  assert seen == ["0", "1", "2"]
  hooks[1].uninstall()
  hooks[1].uninstall()  # twice does no harm
  ordered(X)
  assert seen == ["0", "1", "2", "0", "2"]


def test_a_function_may_return_a_new_module():
  def replace(module: hlo.Module) -> hlo.Module:
    return hlo.parse(module.to_text().replace(" sine(", " cosine("))

  with hlo.install(replace):
    np.testing.assert_allclose(jax.jit(jnp.sin)(X), np.cos(X), rtol=1e-6)


def test_names_of_modules_and_platforms_are_respected():
  seen: list[str] = []

  def look(module: hlo.Module) -> None:
    seen.append(module.name)

  with hlo.install(look, only="wanted"), hlo.install(look, platforms="gpu"):
    jax.jit(lambda x: x + 1)(X)
    jax.jit(lambda x: x + 2, inline=False)(X)

    def wanted(x):
      return x + 3

    jax.jit(wanted)(X)
  assert seen == ["jit_wanted"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_failing_pass_warns_and_changes_nothing(stage):
  def fails(module: hlo.Module) -> bool:
    module.entry.instructions.clear()
    raise ValueError("my mistake")

  f = jax.jit(jnp.sin)
  with hlo.install(fails, stage=stage), pytest.warns(hlo.HloPassWarning, match="my mistake") as caught:
    np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)
  message = str(caught[0].message)
  script = pathlib.Path(message.rpartition("python ")[2])
  assert script.name == "reproduce.py" and (script.parent / "error.txt").read_text().endswith(
    "ValueError: my mistake\n"
  )
  assert hlo.parse((script.parent / "module.hlo").read_text()).name == "jit_sin"
  assert "compiling_for('cpu')" in script.read_text()
  compile(script.read_text(), str(script), "exec")


def test_the_reproducer_reproduces():
  with hlo.install("cse"), warnings.catch_warnings():
    pass
  from tilewright.hlo.passes import PASSES
  from tilewright.hlo.reproducer import write_reproducer

  text = "HloModule m\nENTRY e { x = f32[] parameter(0)\n ROOT n = f32[] negate(x) }"
  place = write_reproducer("m", text, b"", PASSES["dce"](), [], ValueError("x"))
  assert place is not None
  root = pathlib.Path(__file__).resolve().parents[2]
  environment = os.environ | {"PYTHONPATH": str(root)}
  done = subprocess.run([sys.executable, place / "reproduce.py"], env=environment, capture_output=True, text=True)
  assert done.returncode == 0 and "dce" in done.stdout, done.stderr


def test_the_reproducer_holds_a_pass_that_no_import_finds():
  """A function in a function (or in a script, or a notebook) comes with its source and the modules it names."""
  limit = 0.5

  def local(module: hlo.Module) -> bool:
    raise ValueError(f"no {np.float32(limit)}")

  with hlo.install(local), pytest.warns(hlo.HloPassWarning) as record:
    jax.jit(lambda x: jnp.sin(x) + 9)(X)
  script = str(record[0].message).rpartition("python ")[2]
  again = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
  assert "PassFailed: pass local failed" in again.stderr and "no 0.5" in again.stderr


@pytest.mark.parametrize("stage", STAGES)
def test_what_a_pass_leaves_unused_in_a_fusion_is_removed(stage):
  """XLA compiles no fusion with an unused parameter; a pass need not know."""

  def sine_to_five(module: hlo.Module) -> bool:
    found = [i for i in module.instructions() if i.opcode == "sine"]
    for sine in found:
      b = hlo.Builder(sine.parent, before=sine)
      sine.parent.replace(sine, b.op("broadcast", (b.constant(np.float32(5)),), sine.shape, dimensions=()))
    return bool(found)

  with hlo.install(sine_to_five, stage=stage) as hook:
    assert np.allclose(jax.jit(lambda x, y: jnp.sin(jnp.cos(x)) + y)(X, X), 5 + X)
    assert np.allclose(jax.jit(lambda x: jnp.sin(x) + 1)(X), 6)
  assert hook.changed and not any(report.failures for report in hook.reports)


def test_a_custom_call_in_a_fusion_is_refused():
  """XLA would end the process."""

  def call_in_a_fusion(module: hlo.Module) -> bool:
    for i in module.instructions():
      if i.opcode == "sine":
        i.opcode, i.attrs["custom_call_target"] = "custom-call", "nothing"
    return True

  with hlo.install(call_in_a_fusion), pytest.warns(hlo.HloPassWarning, match="is a custom call"):
    assert np.allclose(jax.jit(lambda x: jnp.sin(x) + 12)(X), np.sin(X) + 12)


def test_a_pass_may_use_jax():
  """What it compiles is compiled without passes, and is nobody else's: on jax 0.10 XLA calls back in other threads."""
  inner = jax.jit(lambda x: jnp.sin(x) * 2)
  seen = []

  def uses_jax(module: hlo.Module) -> bool:
    seen.append(float(inner(jnp.float32(1.0))))
    return sine_to_cosine(module)

  with hlo.install(uses_jax):
    assert np.allclose(jax.jit(lambda x: jnp.sin(x) + 10)(X), np.cos(X) + 10)
    assert np.allclose(inner(jnp.float32(1.0)), 2 * np.cos(1))
  assert seen and np.allclose(seen, 2 * np.sin(1))
  assert np.allclose(inner(jnp.float32(1.0)), 2 * np.sin(1))


def test_the_other_passes_still_apply():
  def fails(module: hlo.Module) -> bool:
    raise RuntimeError("no")

  with hlo.install([fails, sine_to_cosine]), pytest.warns(hlo.HloPassWarning):
    np.testing.assert_allclose(jax.jit(jnp.sin)(X), np.cos(X), rtol=1e-6)


def test_an_illegal_module_is_not_handed_to_xla():
  def illegal(module: hlo.Module) -> bool:
    module.entry.root.shape = hlo.Shape.array("f32", (999,))
    return True

  with hlo.install(illegal), pytest.warns(hlo.HloPassWarning, match="not legal HLO"):
    np.testing.assert_allclose(jax.jit(jnp.sin)(X), np.sin(X), rtol=1e-6)


def unknown_target(module: hlo.Module) -> bool:
  """Legal HLO that no back end can compile."""
  for i in module.entry.instructions:
    if i.opcode in ("fusion", "sine", "call"):
      i.opcode, i.attrs = "custom-call", {"custom_call_target": "nobody_has_registered_this"}
      return True
  return False


def test_what_xla_refuses_is_compiled_without_the_passes():
  f = jax.jit(lambda x: jnp.sin(x) + 31)
  with hlo.install(unknown_target, only="lambda"), pytest.warns(hlo.HloPassWarning, match="XLA refuses.*without them"):
    np.testing.assert_allclose(f(X), np.sin(X) + 31, rtol=1e-6)
    np.testing.assert_allclose(f.lower(X).compile()(X), np.sin(X) + 31, rtol=1e-6)


def test_an_error_of_the_program_itself_is_the_error_that_is_shown():
  def fails(x):
    return jax.ffi.ffi_call("nobody_has_registered_that", jax.ShapeDtypeStruct(x.shape, x.dtype))(jnp.sin(x))

  with hlo.install(sine_to_cosine, only="fails"), pytest.raises(Exception, match="nobody_has_registered_that"):
    jax.jit(fails)(X)


def endless(module: hlo.Module) -> bool:
  while True:
    pass


def test_a_pass_that_does_not_end_is_stopped():
  with hlo.install(endless, time_limit=0.2), pytest.warns(hlo.HloPassWarning, match="did not end within 0.2 s"):
    np.testing.assert_allclose(jax.jit(lambda x: jnp.sin(x) + 32)(X), np.sin(X) + 32, rtol=1e-6)
  with pytest.raises(HloPassError, match="time_limit"):
    hlo.install(endless, time_limit=0)


def test_a_pass_that_exits_ends_only_itself():
  with hlo.install(lambda m: sys.exit(3)), pytest.warns(hlo.HloPassWarning, match="SystemExit"):
    np.testing.assert_allclose(jax.jit(lambda x: jnp.sin(x) + 33)(X), np.sin(X) + 33, rtol=1e-6)


def test_a_pass_that_hangs_when_the_process_ends_does_not_abort_it():
  script = """
    import threading, jax, numpy as np
    from tilewright import hlo
    started = threading.Event()
    def hangs(module):
      started.set()
      threading.Event().wait()
    hlo.install(hangs)
    threading.Thread(target=lambda: jax.jit(lambda x: x + 1)(np.ones(4)), daemon=True).start()
    started.wait()
  """
  done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=100)
  assert done.returncode == 0, done.stderr


def test_reproducers_are_in_a_folder_only_the_user_can_enter(monkeypatch):
  from tilewright.hlo import reproducer

  monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
  monkeypatch.setattr(reproducer, "_folder", None)
  top = reproducer.folder_for_reproducers()
  assert top.stat().st_mode & 0o777 == 0o700 and top.stat().st_uid == os.getuid()
  monkeypatch.setattr(reproducer, "_folder", None)
  assert reproducer.folder_for_reproducers() != top  # not a name that can be foreseen


def test_warnings_as_errors_stop_the_compilation_cleanly():
  def fails(module: hlo.Module) -> bool:
    raise RuntimeError("no")

  f = jax.jit(jnp.sin)
  with hlo.install(fails), warnings.catch_warnings():
    warnings.simplefilter("error")
    with pytest.raises(jax.errors.JaxRuntimeError, match="HloPassWarning"):
      f(X)
  np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)


def test_bad_arguments_are_explained():
  with pytest.raises(HloPassError, match="neither of pre_scheduler, post_scheduler"):
    hlo.install("dce", stage="later")
  with pytest.raises(HloPassError, match="platforms"):
    hlo.install("dce", platforms=[])
  with pytest.raises(HloPassError, match="no pass called"):
    hlo.install(["dance"])


# Programs whose buffers are reused in every way there is.


def swap(x, y):
  return jax.lax.fori_loop(0, 3, lambda i, c: (c[1], c[0], c[2] + c[0][i]), (x, y, 0.0))


def rotate(x, y):
  return jax.lax.fori_loop(0, 5, lambda i, c: (c[1], c[2], c[0]), (x, y, x * y))


def shared_start(x, y):
  z = jnp.zeros(4)
  a = jax.lax.fori_loop(0, 3, lambda i, c: (c[0].at[i].add(x[i]), c[1] + x), (z, z))
  b = jax.lax.fori_loop(0, 3, lambda i, c: c.at[i].add(y[i]), z)
  return a, b, z, x, x


def updates(x, y):
  d, e = x.at[1].set(7.0), x.at[2].set(8.0)
  return d, e, x + d, jnp.sort(y)


def branches(x, y):
  return jax.lax.cond(x[0] > y[0], lambda u, v: (u, v, u), lambda u, v: (v, u, u * 2), x, y)


def interplay(x, y):
  def body(c):
    return c[0] + 1, c[1].at[c[0]].set(c[2][0]), jnp.roll(c[1], 1) + c[2]

  return jax.lax.while_loop(lambda c: c[0] < 4, body, (0, x, y)), jax.lax.scan(
    lambda c, q: (c + q, c * q), x, jnp.stack([x, y])
  )


PROGRAMS = [swap, rotate, shared_start, updates, branches, interplay]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_buffers_stay_right_whatever_passes_do(program, stage):
  args = (X + 1, -X)
  expected = jax.jit(program)(*args)
  for passes in ([without_copies], CORE, [without_copies, *CORE, "dce"]):
    with hlo.install(passes, stage=stage, only=program.__name__) as hook:
      result = jax.jit(program)(*args)
    assert hook.reports, "the passes did not see the program"
    assert jax.tree.leaves(expected)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6), result, expected)


def test_donated_buffers_stay_right():
  f = jax.jit(lambda x, y: (y, x + y, x), donate_argnums=(0, 1))
  expected = f(jnp.array(X), jnp.array(-X))
  with hlo.install(without_copies, only="lambda") as hook:
    result = f(jnp.array(X), jnp.array(-X))
  assert hook.changed
  jax.tree.map(np.testing.assert_array_equal, result, expected)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nothing_is_copied_where_nothing_changed(program):
  counts: list[int] = []

  def count(module: hlo.Module) -> None:
    counts.append(BufferUses(module).protect(module))

  for stage in STAGES:
    with hlo.install(count, stage=stage, only=program.__name__):
      jax.jit(program)(X + 1, -X)
  assert counts == [0, 0]


# Threads.


def test_compilations_in_many_threads_while_hooks_come_and_go():
  stop = threading.Event()
  wrong: list[object] = []

  def compile_forever(seed: int) -> None:
    n = 0
    while not stop.is_set() and n < 20:
      n += 1
      k = seed * 1000 + n
      result = jax.jit(lambda x, k=k: jnp.sin(x) + k)(X)
      if not (np.allclose(result, np.sin(X) + k, atol=1e-3) or np.allclose(result, np.cos(X) + k, atol=1e-3)):
        wrong.append(result)

  threads = [threading.Thread(target=compile_forever, args=(i,)) for i in range(4)]
  for thread in threads:
    thread.start()
  for _ in range(10):
    with hlo.install(sine_to_cosine), hlo.install(lambda m: False, stage="post_scheduler"):
      jax.jit(lambda x: x - 1)(X)
  stop.set()
  for thread in threads:
    thread.join()
  assert not wrong
  np.testing.assert_allclose(jax.jit(jnp.sin)(X), np.sin(X), rtol=1e-6)


def test_uninstalling_inside_a_pass_takes_effect_for_the_next_compilation():
  def once(module: hlo.Module) -> bool:
    hook.uninstall()
    return sine_to_cosine(module)

  f = jax.jit(jnp.sin)
  hook = hlo.install(once, only="sin")
  np.testing.assert_allclose(f(X), np.cos(X), rtol=1e-6)
  np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)


# Autotuning: what the GPU shows, played back. (Seen on an H200 with jax 0.11.2.)


def test_modules_first_seen_after_scheduling_are_the_autotuners(monkeypatch):
  seen: list[str] = []
  name = as_pass(lambda m: seen.append(m.name))
  proto = {
    n: hlo.parse(f"HloModule {n}\nENTRY e {{ ROOT x = f32[] parameter(0) }}").to_proto() for n in ("jit_f", "gemm.2")
  }
  with hlo.install(name, stage="post_scheduler"), hlo.install(name, stage="post_scheduler", include_autotuning=True):
    hook_module._callback("cuda", "pre_scheduler", proto["jit_f"])
    hook_module._callback("cuda", "post_scheduler", proto["gemm.2"])
    assert seen == ["gemm.2"]  # once: only the hook that asked for it
    hook_module._callback("cuda", "post_scheduler", proto["jit_f"])
    assert seen == ["gemm.2", "jit_f", "jit_f"]


# The persistent cache.


def fingerprint(function) -> str:
  return hook_cache.fingerprint([as_pass(function)])


def test_fingerprints_see_code_constants_closures_and_globals():
  def with_constant(k):
    return lambda m: m.name == k

  assert fingerprint(with_constant("a")) == fingerprint(with_constant("a"))
  assert fingerprint(with_constant("a")) != fingerprint(with_constant("b"))
  assert fingerprint(lambda m: True) != fingerprint(lambda m: False)
  assert fingerprint(sine_to_cosine) == fingerprint(sine_to_cosine)
  assert fingerprint("dce") == fingerprint("dce") != fingerprint("dce{narrow=false}")
  unknown = object()
  assert fingerprint(lambda m: unknown) != fingerprint(lambda m: unknown)  # not knowable: never equal


SCRIPT = """
import sys, pathlib
import jax, jax.numpy as jnp, numpy as np
from tilewright import hlo
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
compiled = []
def sine_to_cosine(module):
  compiled.append(module.name)
  found = [i for i in module.instructions() if i.opcode == "sine"]
  for i in found: i.opcode = {opcode!r}
  return bool(found)
def fails(module): raise ValueError("no")
x = np.linspace(0, 1, 4, dtype=np.float32)
f = jax.jit(lambda x: jnp.sin(x) * 2)
if "plain" in sys.argv: print("plain", np.round(np.asarray(f(x)) * 1000).astype(int).tolist())
if "hook" in sys.argv:
  with hlo.install([sine_to_cosine], only="lambda"): print("hook", np.round(np.asarray(f(x)) * 1000).astype(int).tolist(), len(compiled))
if "fail" in sys.argv:
  import warnings; warnings.simplefilter("ignore")
  with hlo.install([fails], only="lambda", fingerprint="mine"): f(x)
print("files", len([p for p in pathlib.Path(sys.argv[1]).glob("jit__lambda*") if not p.name.endswith("atime")]))
"""


def run_script(folder: pathlib.Path, *what: str, opcode: str = "cosine") -> str:
  root = pathlib.Path(__file__).resolve().parents[2]
  script = folder.parent / "script.py"
  script.write_text(textwrap.dedent(SCRIPT).replace("{opcode!r}", repr(opcode)))
  environment = os.environ | {"PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu"}
  done = subprocess.run([sys.executable, script, folder, *what], env=environment, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr
  return done.stdout


def numbers(function) -> str:
  return str(np.round(function(np.linspace(0, 1, 4, dtype=np.float32)) * 2000).astype(int).tolist())


@pytest.mark.slow
def test_the_cache_on_disk_never_serves_a_program_of_other_passes(tmp_path):
  cache = tmp_path / "cache"
  sine, cosine, tangent = numbers(np.sin), numbers(np.cos), numbers(np.tan)
  assert f"plain {sine}" in run_script(cache, "plain")
  first = run_script(cache, "hook")
  assert f"hook {cosine} 1" in first and "files 2" in first
  again = run_script(cache, "hook")
  assert f"hook {cosine} 0" in again and "files 2" in again  # served from disk: the same passes
  assert f"hook {tangent} 1" in run_script(cache, "hook", opcode="tan")  # other passes: compiled
  assert f"plain {sine}" in run_script(cache, "plain")


@pytest.mark.slow
def test_what_was_compiled_while_a_pass_failed_is_not_kept(tmp_path):
  assert "files 0" in run_script(tmp_path / "cache", "fail")


def test_passes_know_how_many_devices_a_program_is_for():
  devices = np.array(jax.devices("cpu"))
  mesh = jax.sharding.Mesh(devices, ("x",))
  sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
  seen = []

  def note(module: hlo.Module) -> bool:
    seen.append((module.states_devices, module.replica_count, module.num_partitions))
    return False

  with hlo.install(note):
    jax.jit(lambda x: x * 3, out_shardings=sharding).lower(np.ones(8 * devices.size)).compile()
  assert set(seen) == {(True, 1, devices.size)}
