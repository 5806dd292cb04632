"""The page holds both timelines and opens from a file, in a real browser where there is one; so does the trace, as JSON."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from gpu_modules import data_parallel, offload, pipelined_loop

from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.viz.schedule_page import chrome_trace, render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_data(page: str) -> dict:
  found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
  assert found is not None
  return json.loads(found.group(1))


def test_the_page_needs_nothing_from_elsewhere() -> None:
  page = render(schedule.schedule_module(hlo.parse(data_parallel(3))))
  assert not re.search(r"https?://|src=|@import|url\(", page)


def test_boxes_of_a_lane_do_not_overlap_and_waits_add_up() -> None:
  result = schedule.schedule_module(hlo.parse(offload(4)), headroom=1.3)
  data = page_data(render(result))
  for which, exposed in (("before", result.original.exposed), ("after", result.exposed)):
    panel = data["computations"][0][which]
    for lane in range(len(panel["lanes"])):
      boxes = sorted((b, e) for _, where, b, e, _ in panel["boxes"] if where == lane)
      assert all(a[1] <= b[0] + 1e-3 for a, b in itertools.pairwise(boxes))
    assert sum(e - b for _, _, b, e, what in panel["boxes"] if what >= 2) == pytest.approx(exposed * 1e6, abs=0.01)
  assert max(m for _, m in data["computations"][0]["after"]["memory"]) == result.peak
  assert data["limit"] == result.memory_limit


def test_text_that_looks_like_markup_stays_text() -> None:
  module = hlo.parse(data_parallel(1))
  module.name = "</script><b>"
  page = render(schedule.schedule_module(module))
  assert page.count("</script>") == 2 and page_data(page)["module"] == "</script><b>"


def test_the_trace_has_both_orders_and_the_bodies_of_loops() -> None:
  result = schedule.schedule_module(hlo.parse(pipelined_loop()))
  events = json.loads(chrome_trace(result))["traceEvents"]
  names = {e["name"] for e in events if e["ph"] == "X"}
  assert {"loop", "send-start", "made"} <= names
  assert {e["pid"] for e in events} == {0, 1}
  assert any("reason" in e.get("args", {}) for e in events)
  assert any(e["ph"] == "C" for e in events)


def dom_after(page: str, script: str, folder: pathlib.Path, fragment: str = "") -> str:
  """The document a browser has after it ran the page and the script."""
  file = folder / "page.html"
  file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
  assert CHROMIUM is not None
  command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
  command += ["--window-size=1400,900", "--virtual-time-budget=3000", "--dump-dom", f"file://{file}{fragment}"]
  done = subprocess.run(command, capture_output=True, text=True, timeout=120)
  assert done.returncode == 0, done.stderr
  return done.stdout


# A click in the middle of the widest box of a lane of the lower panel.
CLICK = """
const panel = current.after, box = panel.boxes.filter((b) => b[1] === LANE).sort((a, b) => b[3] - b[2] - a[3] + a[2])[0];
const canvas = byId("after"), place = canvas.getBoundingClientRect();
const x = place.left + toX(canvas, (box[2] + box[3]) / 2), y = place.top + TOP + LANE * (ROW + GAP) + ROW / 2;
canvas.dispatchEvent(new MouseEvent("click", { clientX: x, clientY: y, bubbles: true }));
document.body.dataset.chosen = window.shown.chosen;
document.body.dataset.wanted = current.i[box[0]][0];
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
@pytest.mark.parametrize("lane", [0, 1])
def test_a_click_shows_the_reason(tmp_path: pathlib.Path, lane: int) -> None:
  result = schedule.schedule_module(hlo.parse(offload(4)), headroom=1.3)
  dom = dom_after(render(result), CLICK.replace("LANE", str(lane)), tmp_path)
  body = re.search(r"<body[^>]*>", dom)
  assert body is not None
  chosen = re.search(r'data-chosen="([^"]+)"', body.group(0))
  assert chosen is not None and f'data-wanted="{chosen.group(1)}"' in body.group(0)
  reason = result.explain(chosen.group(1))
  assert reason.split(" (")[0].split(" [")[0] in dom


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
def test_both_panels_are_drawn(tmp_path: pathlib.Path) -> None:
  pixels = """
  for (const id of ["before", "after"]) {
    const canvas = byId(id), data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colors = new Set(); for (let i = 0; i < data.length; i += 4) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    document.body.dataset[id] = colors.size;
  }"""
  dom = dom_after(render(schedule.schedule_module(hlo.parse(data_parallel(4)))), pixels, tmp_path, "#reduce-done.1")
  found = dict(re.findall(r'data-(before|after)="(\d+)"', dom))
  assert int(found["before"]) > 10 and int(found["after"]) > 10
  assert "%reduce-done.1" in dom
