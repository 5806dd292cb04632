"""`tilewright explain`: locations survive to the assembly and change nothing, lines are linked, predictions follow from their model."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import pathlib
import re
import shutil
import subprocess
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.cli import main
from tilewright.hlo.cost.devices import DEVICES
from tilewright.pallas import cost
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.runtime import jit
from tilewright.target import cpu
from tilewright.target.llvm import locations
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.host.profile import Mark, Profile, Track
from tilewright.tile.grid import lines_of_library
from tilewright.tile.native import copied_kernel
from tilewright.tile.parallel import parallel_dims
from tilewright.viz.explain import explain, listings, measure, predict, render, stages
from tilewright.viz.explain.measure import Measured

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HERE = pathlib.Path(__file__)
S, F32, BF16 = jax.ShapeDtypeStruct, jnp.float32, jnp.bfloat16


def softmax_kernel(x_ref, o_ref):
  x = x_ref[...]
  e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
  o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)


def softmax(x, rows=8):
  block = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(
    softmax_kernel, S(x.shape, x.dtype), grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block
  )(x)


def matmul_kernel(x_ref, y_ref, o_ref):
  @pl.when(pl.program_id(2) == 0)
  def _():
    o_ref[...] = jnp.zeros_like(o_ref)

  o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=F32)


def matmul(x, y, block=(64, 64, 64)):
  (m, k), n = x.shape, y.shape[1]
  bm, bn, bk = block
  return pl.pallas_call(
    matmul_kernel,
    S((m, n), F32),
    grid=(m // bm, n // bn, k // bk),
    in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
  )(x, y)


ROWS = (S((64, 256), F32),)
MATRICES = (S((256, 256), BF16), S((256, 256), BF16))
HEADS = (S((2, 128, 64), BF16),) * 3


def line_of(text: str) -> int:
  """The line of this file that has a text and stands in a kernel above."""
  return next(n for n, line in enumerate(HERE.read_text().splitlines(), 1) if text in line)


def instructions(assembly: str) -> list[str]:
  """Assembly without what is for debuggers: directives, comments, labels that only these name."""
  left_out = re.compile(r"\s*(\.loc|\.file|\.cfi|\.section\s+\.debug|//|#|[.$]L_?_?tmp\d|[.$]L_?_?func_|\$L__func)")
  return [line for line in assembly.splitlines() if line.strip() and not left_out.match(line)]


@pytest.mark.parametrize(
  ("function", "args"),
  [(softmax, ROWS), (matmul, MATRICES), (ops.attention, HEADS)],
  ids=["softmax", "matmul", "attention"],
)
@pytest.mark.parametrize("target", ["cpu", "sm_80", "sm_90a"])
def test_locations_change_no_instruction(function, args, target):
  with lines_of_library():
    (_, native), *_ = native_kernels(function, *args, for_gpu=target != "cpu")

  def assembly() -> str:
    if target == "cpu":
      return jit.assembly(cpu.to_llvm(copied_kernel(native), cpu.host()))
    return compile_ptx(copied_kernel(native), target)[0]

  plain = assembly()
  with locations.recorded():
    located = assembly()
  assert ".loc" not in plain and located.count(".loc") > 5
  assert instructions(located) == instructions(plain)


@pytest.mark.parametrize("target", ["cpu", "sm_90a"])
def test_lines_of_a_kernel_are_found_in_its_assembly(target):
  (found,) = explain(softmax, *ROWS, targets=[target])
  assembly = found.listings[-1]
  wanted = {line_of(text) for text in ("x = x_ref[...]", "e = jnp.exp(x - ", "o_ref[...] = e / ")}
  assert {line.place[:2] for line in assembly.lines if line.place} == {(str(HERE), n) for n in wanted}
  exponentials = [line for line in assembly.lines if line.place and line.place[1] == line_of("e = jnp.exp(x - ")]
  assert any(("ex2" if target == "sm_90a" else "max") in line.text for line in exponentials)
  named = [line for line in assembly.lines if line.text.strip() and line.text[:1].isspace()]
  assert sum(line.place is not None for line in named) > 0.5 * len(named)


def test_the_source_is_shown_with_the_functions_that_lines_come_from():
  (found,) = explain(softmax, *ROWS)
  (source,) = found.sources
  text = [line.text for line in source.lines]
  assert "def softmax_kernel(x_ref, o_ref):" in text and "def matmul_kernel(x_ref, y_ref, o_ref):" not in text
  assert all(line.text == HERE.read_text().splitlines()[line.number - 1] for line in source.lines if line.number)


def test_tile_ir_with_every_kind_of_line_keeps_its_code():
  text = "func @f(%0: ref<4xf32, any>) {\n  %1 = load %0 : 4xf32  // a b.py:3:2 (f)\n  yield\n}\n"
  lines = listings.of_tile("Tile IR", text).lines
  assert [line.text for line in lines] == ["func @f(%0: ref<4xf32, any>) {", "  %1 = load %0 : 4xf32", "  yield", "}"]
  assert [line.place for line in lines] == [None, ("a b.py", 3, 2), None, None]


@pytest.mark.parametrize(
  ("text", "place"),
  [
    ("/a/b.py:12:3 (f)", ("/a/b.py", 12, 3)),
    ("b.py:12", ("b.py", 12, 0)),
    ("<stdin>:1:0 (<module>)", ("<stdin>", 1, 0)),
    ("", None),
    ("somewhere", None),
  ],
)
def test_locations_are_read(text, place):
  assert locations.parse(text) == place


def test_shared_memory_is_mapped_without_overlaps_as_far_as_it_is_used():
  (found,) = explain(matmul, *MATRICES, targets=["sm_90a"])
  buffers = sorted(found.buffers, key=lambda b: b.offset)
  assert buffers and buffers[-1].offset + buffers[-1].nbytes <= found.shared_limit
  assert all(a.offset + a.nbytes <= b.offset for a, b in itertools.pairwise(buffers))
  facts = dict(found.facts)
  assert facts["shared memory"] == f"{buffers[-1].offset + buffers[-1].nbytes:,} bytes"
  assert found.timeline.ahead == sum("left operand" in b.name for b in buffers)


def test_the_work_of_an_instance_is_counted():
  ((kernel, _),) = native_kernels(matmul, *MATRICES)
  assert dict(cost.instance_work(kernel).products) == {jnp.dtype(BF16): 2 * 64**3}
  ((kernel, _),) = native_kernels(softmax, *ROWS)
  work = cost.instance_work(kernel)
  assert work.products == () and work.transcendentals == 8 * 256
  assert work.flops == 4 * 8 * 256  # a maximum, a difference, a sum and a division


def model_of(function, args, units=132) -> predict.Model:
  ((kernel, native),) = native_kernels(function, *args)
  return predict.model(native, cost.instance_work(kernel), tuple(parallel_dims(native)), DEVICES["h200"], "gpu", units)


MODEL = functools.cache(lambda: model_of(matmul, MATRICES))


def test_bytes_and_operations_of_a_product():
  r = predict.roofline(model_of(matmul, MATRICES))
  assert r.flops == pytest.approx(2 * 256**3, rel=0.05)  # and what is added to the accumulator
  assert r.nbytes == 2 * 256 * 256 * 2 + 256 * 256 * 4
  assert r.traffic == 16 * 4 * 2 * 64 * 64 * 2 + 256 * 256 * 4  # each instance reads both operands in each step
  assert r.bound == max(r.flops / r.peak, r.nbytes / r.bandwidth)


@settings(max_examples=40, deadline=None)
@given(steps=st.integers(1, 12), ahead=st.integers(1, 5), units=st.sampled_from([1, 4, 132]))
def test_a_timeline_keeps_its_rules(steps, ahead, units):
  m = dataclasses.replace(MODEL(), num_steps=steps, units=units)
  t = predict.timeline(m, ahead)
  loads = {s.step: s for s in t.spans if s.what == "load" and s.step >= 0}
  computed = {s.step: s for s in t.spans if s.what == "compute"}
  assert set(computed) == set(range(steps))
  for k, own in computed.items():
    assert own.begin >= loads[k].end and (k == 0 or own.begin >= computed[k - 1].end)
    assert k < ahead or loads[k].begin >= computed[k - ahead].end
    assert k == 0 or loads[k].begin >= loads[k - 1].end
  assert t.instance_seconds >= max(steps * m.step_seconds, steps * m.in_each / m.block_rate)
  if steps > 1:
    assert t.instance_seconds <= predict.timeline(m, 1).instance_seconds * (1 + 1e-12)


def page_of(*targets: str) -> str:
  return render([*explain(softmax, *ROWS, targets=targets), *explain(matmul, *MATRICES, targets=targets)], "a <title>")


@pytest.fixture(scope="module")
def page() -> str:
  return page_of("cpu", "sm_90a")


def test_the_page_needs_nothing_from_elsewhere(page):
  without_names = page.replace("http://www.w3.org/2000/svg", "")
  assert not re.search(r"https?://|src=|@import|url\(|<link", without_names)
  assert "<title>a &lt;title&gt;</title>" in page and "a <title>" not in page


def test_each_kernel_and_target_has_its_section_with_all_panes(page):
  sections = re.findall(r"<section.*?</section>", page, re.S)
  assert len(sections) == 4
  for section, assembly in zip(sections, ("Assembly", "PTX", "Assembly", "PTX"), strict=True):
    titles = re.findall(r"<header>([^<]+)", section)
    assert [t.strip() for t in titles][:2] == [HERE.name, "Tile IR"] and titles[-1].strip() == assembly
    assert "Timeline of one instance" in section and "Roofline" in section
    assert ("Shared memory" in section) == ("Layouts" in section) == (assembly == "PTX")


def test_lines_are_linked_from_source_to_assembly(page):
  """What is linked in the source are the lines that the tile IR and the assembly come from."""
  sections = re.findall(r"<section.*?</section>", page, re.S)
  assert len(sections) == 4
  for section in sections:
    source, *_, tile, assembly = re.findall(
      r'<div class="pane">.*?(?=<div class="pane">|<div class="figures">)', section, re.S
    )
    numbers = [set(re.findall(r'data-l="(\d+)"', pane)) for pane in (source, tile, assembly)]
    assert numbers[0] and numbers[0] == numbers[1] | numbers[2]
    assert numbers[2]


def test_a_device_without_figures_gets_no_predictions():
  (found,) = explain(softmax, *ROWS, targets=["sm_86"])
  assert found.timeline is None and found.roofline is None and any("no timeline" in note for note in found.notes)
  (found,) = explain(softmax, *ROWS, targets=["sm_90a"], device="h100")
  assert found.roofline.device == "h100"


def test_a_function_without_kernels_is_an_error():
  with pytest.raises(errors.KernelTypeError, match="calls kernels"):
    explain(jnp.sin, *ROWS)


def test_the_command_writes_a_page(tmp_path, capsys):
  out = tmp_path / "softmax.html"
  assert main(["explain", f"{HERE}:softmax", "f32[64,256]", "--arch", "cpu,sm_80", "--html", str(out)]) == 0
  assert "softmax_kernel for CPU" in capsys.readouterr().out and out.read_text().count("<section") == 2
  for wrong in (
    ["nowhere.py:f", "f32[1]"],
    [f"{HERE}:softmax", "what"],
    [f"{HERE}:softmax", "f32[64,256]", "--device", "abacus"],
  ):
    assert main(["explain", *wrong]) == 2
  assert main(["explain", f"{HERE}:softmax", "f32[64,256]", "--arch", "sm_1"]) == 1
  capsys.readouterr()


# --- measured ----------------------------------------------------------------------------------------------------


def recorded(kernel: str, calls: int = 1) -> list[Measured]:
  """Profiles of two CTAs of two warpgroups; the n-th call takes n times as long."""
  marks = (Mark("wait", "a full stage"), Mark("compute", "wgmma", f"{HERE}:12:3 (f)"))
  found = []
  for n in range(1, calls + 1):
    records = np.array([[0, 100], [1, 200], [2, 200], [3, 900]])
    tracks = [Track(t // 2, t % 2, t // 2, 0.0, 1000.0 * n, marks, records, 1.0, 0) for t in range(4)]
    found.append(Measured("H200", Profile(kernel, ("warpgroup 0: copy", "warpgroup 1: multiply"), tuple(tracks), 1.0)))
  return found


def test_a_measured_timeline_stands_beside_the_predicted_one():
  with mock.patch.object(stages, "profiles", lambda *_: {"matmul_kernel": recorded("matmul_kernel")}):
    (found,) = explain(matmul, *MATRICES, targets=["sm_90a"], measure=True)
  page = render([found])
  assert "Timeline of one instance, predicted" in page and "Timeline of one CTA, measured on H200" in page
  assert page.count("wait, a full stage: 100 ns to 200 ns") == 2
  assert page.count('<td class="n">35.0%</td>') == 2 and f"{HERE.name}:12</td>" in page
  assert "CTA 1 on SM 1: 0 ns to 1 µs" in page


def test_calls_of_one_kernel_have_their_own_measurement():
  def twice(x):
    return softmax(softmax(x), rows=16)

  with mock.patch.object(stages, "profiles", lambda *_: {"softmax_kernel": recorded("softmax_kernel", 2)}):
    found = explain(twice, *ROWS, targets=["sm_90a"], measure=True)
  assert [own.measured.profile.nanoseconds for own in found] == [1000.0, 2000.0]


def test_what_cannot_be_measured_is_an_error(tmp_path, capsys):
  with pytest.raises(errors.KernelTypeError, match="expected one target"):
    explain(softmax, *ROWS, targets=["cpu", "sm_90a"], measure=True)
  if jax.default_backend() != "gpu":
    with pytest.raises(errors.NativeCodeError, match="measure: expected a machine whose GPU runs sm_90a"):
      explain(softmax, *ROWS, targets=["sm_90a"], measure=True)
    command = [
      "explain",
      f"{HERE}:softmax",
      "f32[64,256]",
      "--arch",
      "sm_90a",
      "--measure",
      "--html",
      str(tmp_path / "x.html"),
    ]
    assert main(command) == 1 and not list(tmp_path.iterdir())
    assert "JAX runs on the cpu here" in capsys.readouterr().err


def test_on_a_cpu_the_function_is_timed():
  (found,) = explain(softmax, *ROWS, measure=True)
  assert re.fullmatch(r"[\d.e-]+ ms, median of 15 calls", dict(found.facts)["measured, the whole function"])
  (found,) = explain(softmax, *ROWS)
  assert "measured, the whole function" not in dict(found.facts)


def test_types_are_filled_with_numbers_a_kernel_can_take():
  x, n, known = (measure.filled(a, i) for i, a in enumerate((S((4, 8), BF16), S((3,), jnp.int32), 7)))
  assert x.dtype == BF16 and 0.3 < float(jnp.std(x.astype(F32))) < 3 and n.tolist() == [1, 1, 1] and known == 7


def test_a_command_that_measured_writes_a_trace(tmp_path, capsys):
  out = tmp_path / "own.html"
  with mock.patch.object(stages, "profiles", lambda *_: {"softmax_kernel": recorded("softmax_kernel")}):
    command = ["explain", f"{HERE}:softmax", "f32[64,256]", "--arch", "sm_90a", "--measure", "--html", str(out)]
    assert main(command) == 0
  events = json.loads((tmp_path / "own.softmax_kernel.trace.json").read_text())["traceEvents"]
  assert sum(e["ph"] == "X" for e in events) == 8
  assert "35.0%  multiply: compute, wgmma" in capsys.readouterr().out


# --- in a browser ------------------------------------------------------------------------------------------------

PROBE = """<script>
const rows = [...document.querySelectorAll('#k1 [data-s]')].filter(x => x.textContent.includes('e = jnp.exp('));
const [line] = rows, pane = n => [...document.querySelectorAll('#k1 .pane')][n], marks = n => pane(n).querySelectorAll('.on, .near').length;
const before = marks(2);
line.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
const hovered = [marks(1), marks(2)];
line.dispatchEvent(new MouseEvent('mouseout', {bubbles: true}));
const left = marks(2);
line.click();
line.dispatchEvent(new MouseEvent('mouseout', {bubbles: true}));
const pinned = marks(2), scrolled = pane(2).querySelector('.code').scrollTop;
const op = [...pane(1).querySelectorAll('[data-c]')].find(x => x.textContent.includes('= exp'));
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
op.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
const exact = pane(1).querySelectorAll('.on').length, near = pane(1).querySelectorAll('.near').length;
const pre = document.createElement('pre');
pre.id = 'probe';
pre.textContent = JSON.stringify({before, hovered, left, pinned, scrolled, exact, near,
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]});
document.body.append(pre);
</script></body>"""


def in_browser(page: str, tmp_path: pathlib.Path, *options: str) -> dict:
  path = tmp_path / "page.html"
  path.write_text(page.replace("</body>", PROBE))
  command = [
    CHROMIUM,
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
  ]
  command += [f"--user-data-dir={tmp_path}/profile", "--dump-dom", *options, path.as_uri()]
  done = subprocess.run(command, capture_output=True, text=True, timeout=120)
  assert done.returncode == 0, done.stderr
  found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
  assert found is not None, "the page's script stopped before its end"
  return json.loads(found[1])


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_works_in_a_browser_600_pixels_wide(page, tmp_path, mode):
  own = in_browser(page, tmp_path, "--window-size=600,900", *(["--force-dark-mode"] if mode == "dark" else []))
  assert own["before"] == 0 and own["left"] == 0
  assert min(own["hovered"]) > 0 and own["pinned"] == own["hovered"][1] and own["scrolled"] > 0
  assert own["exact"] >= 1 and own["near"] >= 3  # exp alone; the maximum, its broadcast and the difference
  assert own["overflow"] <= 0
  ink, paper = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in own["colours"])
  assert abs(ink - paper) > 400 and (ink > paper) == (mode == "dark")
