"""The in-kernel profiler: records of the CPU model of a GPU, PTX for real ones, and what is made of records."""

from __future__ import annotations

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import execute
from gpu_programs import BF16, F32, S, natives
from hypothesis import given, settings
from hypothesis import strategies as st
from mosaic_programs import handed_over, persistent_matmul, pipelined_matmul

from tests.support.ptxas_marks import needs_ptxas
from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import nvgpu as pallas_nvgpu
from tilewright.pallas import targets
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.target.nvgpu.host import profile as profiles
from tilewright.target.nvgpu.host.compiled import Profiled
from tilewright.target.nvgpu.host.profile import Mark, Profile, Recording, Records
from tilewright.tile.native import copied_kernel


def softmax_kernel(x_ref, o_ref):
  with jax.named_scope("largest"):
    x = x_ref[...]
    m = jnp.max(x, axis=-1, keepdims=True)
  with jax.named_scope("divide"):
    e = jnp.exp(x - m)
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)


def softmax(x):
  block = pl.BlockSpec((4, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(
    softmax_kernel, S(x.shape, x.dtype), grid=(x.shape[0] // 4,), in_specs=[block], out_specs=block
  )(x)


def column_sums_kernel(x_ref, o_ref):
  @pl.when(pl.program_id(1) == 0)
  def _():
    o_ref[...] = jnp.zeros_like(o_ref)

  o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)


def column_sums(x):
  (m, n), (rows, columns) = x.shape, (8, 64)
  return pl.pallas_call(
    column_sums_kernel,
    S((1, n), F32),
    grid=(n // columns, m // rows),
    in_specs=[pl.BlockSpec((rows, columns), lambda j, i: (i, j))],
    out_specs=pl.BlockSpec((1, columns), lambda j, i: (0, j)),
  )(x)


def profiled(function, *args, arch="sm_90a", space=256) -> tuple[np.ndarray, Profile]:
  """The first output and the profile of a function's kernel on the CPU model of a GPU."""
  ((_, native),) = natives(function, *args)
  text, launch = emit_kernel(native, architectures.named(arch), profile=space)
  outputs = [np.zeros(m.array_aval.shape, m.array_aval.dtype) for m in native.mapping.output_mappings]
  behind = 4096
  workspace = np.full(launch.workspace_bytes + behind, 0xCD, np.uint8)
  execute(text, launch, [*(np.array(a) for a in args), *outputs], workspace=workspace)
  assert (workspace[-behind:] == 0xCD).all(), "records were written behind their room"
  how = Profiled.of(launch)
  return outputs[0], profiles.decode("kernel", how.roles, how.records, workspace[how.start : -behind])


def names(track) -> list[str]:
  return [s.mark.name for s in track.spans]


def rows(*shape, dtype=np.float32):
  return np.asarray(np.random.default_rng(0).integers(-3, 4, shape), dtype)


def check_times(p: Profile) -> None:
  """Spans lie in their track, one behind the other or one in another."""
  assert p.tracks
  for t in p.tracks:
    open_until = [t.end]
    for s in t.spans:
      while s.begin >= open_until[-1] and len(open_until) > 1:
        open_until.pop()
      assert t.begin <= s.begin <= s.end <= open_until[-1]
      open_until.append(s.end)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_each_statement_of_a_plain_kernel_is_a_span_in_the_users_scopes(arch):
  x = rows(12, 64)
  out, p = profiled(softmax, x, arch=arch)
  np.testing.assert_allclose(out, jax.nn.softmax(x), rtol=1e-6)
  assert p.blocks == 3 and not p.dropped
  check_times(p)
  for t in p.tracks:
    found = [(s.mark.lane, s.mark.name) for s in t.spans]
    assert [x for x in found if x[1] not in ("exp", "sub")] == [
      ("scope", "largest"),
      ("load", "load"),
      ("compute", "reduce"),
      ("scope", "divide"),
      ("compute", "reduce"),
      ("store", "store"),
    ]
    assert all("test_profiler.py" in s.mark.loc for s in t.spans if s.mark.lane != "scope")
    scopes = {s.mark.name: s for s in t.spans if s.mark.lane == "scope"}
    first, second = (s for s in t.spans if s.mark.name == "reduce")
    (store,) = (s for s in t.spans if s.mark.name == "store")
    assert scopes["largest"].begin <= first.begin and first.end <= scopes["largest"].end <= scopes["divide"].begin
    assert scopes["divide"].begin <= second.begin and second.end <= store.begin and store.end <= scopes["divide"].end


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
def test_a_pipelined_product_waits_and_multiplies_in_each_step(arch):
  a, b = rows(128, 512, dtype=BF16), rows(512, 128, dtype=BF16)
  out, p = profiled(ops.matmul, jnp.asarray(a), jnp.asarray(b), arch=arch)
  np.testing.assert_array_equal(out.astype(np.float32), (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16))
  check_times(p)
  lanes = [[s.mark.lane for s in t.spans] for t in p.of_block(0)]
  steps = lanes[-1].count("compute")
  assert steps > 1 and lanes[-1].count("wait") >= steps
  if arch == "sm_90a":  # the first warpgroup copies, the others multiply
    assert [role.partition(": ")[2] for role in p.roles] == ["copy", *["multiply"] * (len(p.roles) - 1)]
    assert lanes[0] == ["wait", "load"] * steps and "load" not in lanes[-1]
  else:
    assert lanes[0].count("load") == steps


def test_steps_of_a_sequential_dimension_are_waited_for_and_asked_for():
  x = rows(64, 128)
  out, p = profiled(column_sums, x)
  np.testing.assert_array_equal(out, x.sum(0, keepdims=True))
  check_times(p)
  for t in p.tracks:
    assert names(t).count("the blocks of a step") == 8 and names(t).count("reduce") == 8
    assert names(t).count("start the copies of a step") == 8 and names(t)[-1] == "write back"


@pytest.mark.parametrize("program", [handed_over, pipelined_matmul, persistent_matmul], ids=lambda f: f.__name__)
def test_a_hand_written_kernel_has_spans_for_copies_waits_and_products(program):
  args = [rows(80, 64)] if program is handed_over else [rows(128, 192, dtype=BF16), rows(192, 64, dtype=BF16)]
  out, p = profiled(program, *args)
  plain = [jax.tree.leaves(jax.jit(program)(*args))[0]]
  np.testing.assert_array_equal(out, plain[0])
  check_times(p)
  lanes = {s.mark.lane for t in p.tracks for s in t.spans}
  assert {"wait", "load"} <= lanes and {"compute", "store"} & lanes
  assert p.roles[0].startswith("warpgroup 0") or len(p.roles) == 1


def test_records_that_find_no_room_are_counted_and_change_nothing():
  x = rows(64, 128)
  out, p = profiled(column_sums, x, space=7)
  np.testing.assert_array_equal(out, x.sum(0, keepdims=True))
  _, whole = profiled(column_sums, x)
  check_times(p)
  for t, all_of_it in zip(p.tracks, whole.tracks, strict=True):
    assert len(t.records) == 7 and t.dropped == len(all_of_it.records) - 7
    assert names(t) == names(all_of_it)[: len(t.spans)]
    assert max(s.end for s in t.spans) < t.end, "what is not known is not drawn"
  assert "found no room" in str(p) and "found no room" not in str(whole)


# --- PTX ---------------------------------------------------------------------------------------------------------

PROGRAMS = {
  "softmax": (softmax, (S((64, 256), F32),)),
  "matmul": (ops.matmul, (S((1024, 1024), BF16),) * 2),
  "attention": (ops.attention, (S((2, 512, 64), BF16),) * 3),
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_only_a_kernel_with_a_profile_reads_a_clock(name, arch):
  function, args = PROGRAMS[name]
  ((_, native),) = natives(function, *args)
  plain, launch = compile_ptx(copied_kernel(native), arch)
  marked, with_records = compile_ptx(copied_kernel(native), arch, profile=64)
  assert "%clock" not in plain and "%globaltimer" not in plain and launch.profile is None
  assert marked.count("%clock") > 2 and with_records.profile.space == 64
  assert len(re.findall(r"wgmma\.mma_async|mma\.sync", marked)) == len(re.findall(r"wgmma\.mma_async|mma\.sync", plain))


@needs_ptxas
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_marks_spill_no_registers(name, arch):
  function, args = PROGRAMS[name]
  ((_, native),) = natives(function, *args)
  text, _ = compile_ptx(native, arch, profile=512)
  assert ptxas.resources(text, arch).spilled_bytes == 0


# --- what is made of records -------------------------------------------------------------------------------------

A, B = Mark("compute", "a", "f.py:3"), Mark("wait", "b")


def words(
  blocks: list[list[tuple[int, int]]], space: int, ticks: int = 1000, ns: int = 500
) -> tuple[Records, np.ndarray]:
  """Records of one track each, which all begin at the same time."""
  layout = Records((A, B), 1, space)
  data = np.zeros((len(blocks), layout.track_bytes), np.uint8)
  for row, own in zip(data, blocks, strict=True):
    row[:48].view(np.uint64)[:] = 10_000, 7, 10_000 + ns, 7 + ticks, len(own), 3
    row[64:].view(np.uint32).reshape(space, 2)[: min(len(own), space)] = np.reshape(own[:space], (-1, 2))
  return layout, data.ravel()


def test_ticks_become_nanoseconds_by_the_timer_that_all_sms_share():
  p = profiles.decode("k", ["everything"], *words([[(0, 100), (1, 300), (2, 400), (3, 1000)]], 8))
  assert p.ticks_per_ns == 2.0 and p.nanoseconds == 500.0
  (track,) = p.tracks
  assert [(s.mark, s.begin, s.end) for s in track.spans] == [(A, 50.0, 150.0), (B, 200.0, 500.0)]
  assert track.sm == 3
  assert "20.0%  compute, a at f.py:3" in str(p) and "60.0%  wait, b" in str(p)
  assert "20.0%  outside of all marks" in str(p)


def test_a_trace_has_an_event_for_each_span(tmp_path):
  p = profiles.decode("k", ["everything"], *words([[(0, 100), (2, 150), (3, 200), (1, 300)]] * 2, 8))
  p.write(tmp_path / "k.json")
  events = json.loads((tmp_path / "k.json").read_text())["traceEvents"]
  spans = [e for e in events if e["ph"] == "X"]
  assert [(e["name"], e["ts"], e["dur"]) for e in spans] == [("a", 0.05, 0.1), ("b", 0.075, 0.025)] * 2
  assert len({e["tid"] for e in spans}) == 2 and {e["pid"] for e in spans} == {3}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=30), st.integers(1, 40))
def test_leaves_cover_what_spans_cover_once(steps, space):
  """Begins and ends in any order that is nested, cut off anywhere."""
  records, opened, ticks = [], [], 0
  for begins, later in steps:
    ticks += later
    if begins:
      opened.append(len(records) % 2)
      records.append((2 * opened[-1], ticks))
    elif opened:
      records.append((2 * opened.pop() + 1, ticks))
  records += [(2 * number + 1, ticks) for number in reversed(opened)]
  (track,) = profiles.decode("k", ["everything"], *words([records], space)).tracks
  assert track.dropped == max(0, len(records) - space)
  covered = lambda spans, t: [s for s in spans if s.begin <= t < s.end]
  for t in np.arange(0.125, 500, 3.7):
    inner = covered(track.leaves, t)
    around = covered(track.spans, t)
    assert len(inner) == min(1, len(around))
    assert not around or inner[0].mark == around[-1].mark
  assert all(a.end <= b.begin for a, b in zip(track.leaves, track.leaves[1:]))


def test_a_call_hands_over_its_profile(tmp_path):
  layout, data = words([[(0, 100), (1, 300)]], 4)
  how = Profiled(32, layout, ("everything",))
  found: list[Profile] = []

  @jax.jit
  def call(workspace):
    profiles.deliver(Recording(4, found.append), how, "k", workspace)
    profiles.deliver(profiles.into_folder(str(tmp_path / "new"), 4), how, "k", workspace)
    return workspace[0]

  call(np.concatenate([np.zeros(32, np.uint8), data])).block_until_ready()
  jax.effects_barrier()
  (p,) = found
  assert p.kernel == "k" and len(p.tracks[0].spans) == 1
  (written,) = (tmp_path / "new").iterdir()
  assert written.name.startswith("k-") and written.name.endswith(".trace.json")


def test_a_profile_needs_a_gpu():
  if jax.default_backend() == "gpu":
    pytest.skip("there is one here")
  with pytest.raises(errors.NativeCodeError, match="profile: expected an NVIDIA GPU"):
    pallas_nvgpu.profile(softmax, rows(8, 64))


def test_room_for_records_is_checked():
  with pytest.raises(errors.GridError, match="space: expected"):
    pallas_nvgpu.profile(softmax, rows(8, 64), space=0)


def test_the_parameters_of_mosaic_gpu_ask_for_a_folder_of_traces(monkeypatch, tmp_path):
  asked = []
  monkeypatch.setattr(nvgpu, "run", lambda native, *operands, recording, **_: asked.append(recording) or [])
  ((kernel, native),) = natives(softmax, S((8, 64), F32))
  params = plgpu.CompilerParams(profile_space=32, profile_dir=str(tmp_path))
  targets.NATIVE["cuda"](kernel.replace(compiler_params=params), native)
  targets.NATIVE["cuda"](kernel, native)
  recording, none = asked
  assert recording.space == 32 and none is None
  recording.deliver(profiles.decode("k", ["everything"], *words([[(0, 1), (1, 2)]], 32)))
  assert len(list(tmp_path.iterdir())) == 1


def test_every_kernel_call_of_a_function_is_profiled(monkeypatch):
  """As on a GPU, but for the kernels themselves: what they leave is known before."""
  layout, data = words([[(0, 1), (1, 2)]], 16)

  def as_on_a_gpu(kernel, native, *operands):
    if (recording := profiles.wanted()) is not None:
      profiles.deliver(recording, Profiled(0, layout, ("everything",)), kernel.name, jnp.asarray(data))
    return list(operands)

  monkeypatch.setitem(targets.NATIVE, "cpu", as_on_a_gpu)
  monkeypatch.setattr(jax, "default_backend", lambda: "gpu")

  @jax.jit
  def repeated(x):
    return jax.lax.fori_loop(0, 3, lambda _, own: softmax(own), jax.jit(softmax)(x))

  x = jnp.asarray(rows(8, 64))
  repeated(x).block_until_ready()  # code without a profile is known already
  found = pallas_nvgpu.profile(repeated, x)
  assert [p.kernel for p in found] == ["softmax_kernel"] * 4 and all(len(p.tracks[0].spans) == 1 for p in found)
  with pytest.raises(errors.KernelTypeError, match="calls none of them"):
    pallas_nvgpu.profile(jnp.sin, x)
  assert profiles.wanted() is None


def test_room_is_made_for_all_records(monkeypatch):
  """As on a GPU: the first run says how many there are."""
  rooms = []

  def as_on_a_gpu(kernel, native, *operands):
    room = profiles.wanted().space
    rooms.append(room)
    layout, data = words([[(0, 1), (1, 2)] * 400], room)
    profiles.deliver(profiles.wanted(), Profiled(0, layout, ("everything",)), kernel.name, jnp.asarray(data))
    return list(operands)

  monkeypatch.setitem(targets.NATIVE, "cpu", as_on_a_gpu)
  monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
  x = jnp.asarray(rows(8, 64))
  (p,) = pallas_nvgpu.profile(softmax, x)
  assert rooms == [profiles.DEFAULT_SPACE, 800] and not p.dropped and len(p.tracks[0].spans) == 400
  (p,) = pallas_nvgpu.profile(softmax, x, space=10)
  assert rooms[2:] == [10] and p.dropped == 790


def test_a_long_product_of_one_instance_waits_for_its_operands_round_by_round():
  def product(a, b):
    def kernel(a_ref, b_ref, o_ref):
      o_ref[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    return pl.pallas_call(kernel, S((a.shape[0], b.shape[1]), F32))(a, b)

  a, b = rows(64, 512, dtype=BF16), rows(512, 64, dtype=BF16)
  out, p = profiled(product, jnp.asarray(a), jnp.asarray(b))
  np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
  check_times(p)
  (track,) = p.tracks
  rounds = names(track).count("the operands of a round")
  assert rounds > 1 and names(track).count("start the copies of a round") == rounds
  assert sum(s.mark.lane == "compute" for s in track.spans) >= rounds
