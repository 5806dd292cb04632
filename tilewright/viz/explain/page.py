"""The page of explained kernels: one self-contained HTML file."""

from __future__ import annotations

import html
import pathlib
from collections.abc import Iterator, Sequence

from tilewright.layout.shared import SharedLayout
from tilewright.viz import layout as layout_drawing
from tilewright.viz.explain import drawings
from tilewright.viz.explain.drawings import duration, quantity
from tilewright.viz.explain.listings import Listing, Place
from tilewright.viz.explain.measure import Measured
from tilewright.viz.explain.predict import Roofline, Timeline
from tilewright.viz.explain.stages import Buffer, Drawn, Explained

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")
_MAX_LINES = 12_000  # of a listing
_MARKS = 16  # of the table of a profile
_COLOURS = 8  # of the stripes beside lines
_LAYOUT_ROWS, _LAYOUT_COLUMNS, _NAMES = 16, 16, 6


def render(kernels: Sequence[Explained], title: str = "tilewright explain") -> str:
  """The page. Each kernel and target has a section of its own."""
  names = [f"{k.kernel} · {k.target}" for k in kernels]
  nav = "".join(f'<a href="#k{n}">{html.escape(name)}</a>' for n, name in enumerate(names)) if len(names) > 1 else ""
  body = "".join(_section(n, name, kernel) for n, (name, kernel) in enumerate(zip(names, kernels)))
  page = _TEMPLATE.read_text(encoding="utf-8")
  for mark, text in (("@TITLE@", html.escape(title)), ("@NAV@", nav), ("@BODY@", body)):
    page = page.replace(mark, text)
  return page


def _section(n: int, name: str, kernel: Explained) -> str:
  return f'<section id="k{n}"><h2>{html.escape(name)}</h2>{"".join(_parts(kernel))}</section>\n'


def _parts(kernel: Explained) -> Iterator[str]:
  cards = "".join(
    f'<div class="card"><span>{html.escape(a)}</span><b>{html.escape(b)}</b></div>' for a, b in kernel.facts
  )
  yield f'<div class="cards">{cards}</div>'
  for note in kernel.notes:
    yield f"<p>{html.escape(note)}</p>"
  numbers = _Numbers()
  panes = [_pane(own, numbers) for own in kernel.listings]  # first: lines of the source are linked to what these have
  panes = [*(_pane(own, numbers, is_source=True) for own in kernel.sources), *panes]
  yield f'<div class="panes">{"".join(panes)}</div><div class="figures">'
  if kernel.timeline is not None:
    yield _figure(
      "Timeline of one instance, predicted", drawings.timeline(kernel.timeline), _of_timeline(kernel.timeline)
    )
  if kernel.measured is not None:
    yield from _measured(kernel.measured)
  if kernel.roofline is not None:
    yield _figure(
      f"Roofline of the {kernel.roofline.device.upper()}",
      drawings.roofline(kernel.roofline),
      _of_roofline(kernel.roofline),
    )
  if kernel.shared_limit:
    yield _shared(kernel.buffers, kernel.shared_limit, numbers)
  yield "</div>"
  if kernel.layouts:
    yield "<h3>Layouts</h3>" + "".join(_layout(n, drawn, numbers) for n, drawn in enumerate(kernel.layouts))


class _Numbers:
  """Numbers for lines, and for places in them: what links the lines of a section."""

  def __init__(self) -> None:
    self.lines: dict[tuple[str, int], int] = {}
    self.places: dict[Place, int] = {}

  def attributes(self, place: Place | None, is_source: bool = False) -> str:
    if place is None or (is_source and place[:2] not in self.lines):
      return ""
    line = self.lines.setdefault(place[:2], len(self.lines))
    if is_source:
      return f' class="h{line % _COLOURS}" data-l="{line}" data-s="1"'
    return f' class="h{line % _COLOURS}" data-l="{line}" data-c="{self.places.setdefault(place, len(self.places))}"'


def _pane(listing: Listing, numbers: _Numbers, is_source: bool = False) -> str:
  rows = []
  for line in listing.lines[:_MAX_LINES]:
    number = f"<i>{line.number}</i>" if line.number is not None else ""
    rows.append(f"<div{numbers.attributes(line.place, is_source)}>{number}{html.escape(line.text) or ' '}</div>")
  if len(listing.lines) > _MAX_LINES:
    rows.append(f"<div>… and {len(listing.lines) - _MAX_LINES:,} more lines</div>")
  note = f" <small>{html.escape(listing.note)}</small>" if listing.note else ""
  count = "" if is_source else f" <small>{len(listing.lines):,} lines</small>"
  return (
    f'<div class="pane"><header>{html.escape(listing.title)}{note}{count}</header>'
    f'<div class="code" tabindex="0"><div class="rows">{"".join(rows)}</div></div></div>'
  )


def _figure(title: str, drawing: str, text: str) -> str:
  return f'<div class="figure"><h3>{html.escape(title)}</h3><div class="scroll">{drawing}</div><p>{text}</p></div>'


def _of_timeline(t: Timeline) -> str:
  steps = f"{t.num_steps:,} step{'s' * (t.num_steps != 1)}"
  shown = ", of which the first are shown" if any(s.step >= 0 for s in t.spans) and t.num_steps > 12 else ""
  ahead = f" Memory holds the blocks of {t.ahead} steps." if t.num_steps > 1 else ""
  return (
    "Predicted from the device's bandwidth and peak rates, without latencies: not a measurement. "
    f"An instance has {steps}{shown}, and takes {duration(t.instance_seconds)}.{ahead} The kernel has {t.instances:,} instances, "
    f"{t.at_a_time:,} at a time, and takes {duration(t.seconds)}."
  )


def _measured(m: Measured) -> Iterator[str]:
  """What one CTA did, what all of them did, and which marks took how long."""
  p = m.profile
  block = p.typical_block()
  legend = "".join(f'<span class="key {lane}"></span>{lane} ' for lane in drawings.MEASURED_LANES)
  left_out = f" {p.dropped:,} records found no room: the end of the timeline is missing." if p.dropped else ""
  text = (
    f"CTA {block} of {p.blocks:,}, which took {duration(1e-9 * p.block_nanoseconds(block))}, the median. A row is a warpgroup; "
    f"what is empty is outside of all marks. {legend}{left_out}"
  )
  yield _figure(f"Timeline of one CTA, measured on {m.device}", drawings.measured(p.of_block(block), p.roles), text)
  text = (
    f"{duration(1e-9 * p.nanoseconds)} from the first CTA's begin to the last one's end, with the marks of the profiler. "
    "A row is an SM, a bar a CTA."
  )
  yield _figure("All CTAs, measured", drawings.waves(p), text)
  whole = sum(t.end - t.begin for t in p.sample()) or 1.0
  ordered = sorted(p.totals().items(), key=lambda item: -item[1])[:_MARKS]
  rows = "".join(
    f'<tr><td class="n">{ns / whole:.1%}</td><td>{html.escape(work)}</td><td>{mark.lane}</td><td>{html.escape(mark.name)}</td>'
    f"<td>{html.escape(mark.line)}</td></tr>"
    for (work, mark), ns in ordered
  )
  yield (
    '<div class="figure"><h3>Where the time goes</h3><div class="scroll"><table><tr><th class="n">share</th><th>warpgroups that</th>'
    f"<th>work</th><th>mark</th><th>line</th></tr>{rows}</table></div><p>Of the time of all warpgroups together.</p></div>"
  )


def _of_roofline(r: Roofline) -> str:
  return (
    f"The kernel does {quantity(r.flops, 'FLOP')}. It moves {quantity(r.nbytes, 'B')} if each array is read or written once, and "
    f"{quantity(r.traffic, 'B')} if every load of a block counts, part of them from L2. At least {duration(r.bound)}, bound by "
    f"{'arithmetic' if r.flops / r.peak > r.nbytes / r.bandwidth else 'memory'}."
  )


def _shared(buffers: Sequence[Buffer], limit: int, numbers: _Numbers) -> str:
  used = max((b.offset + b.nbytes for b in buffers), default=0)
  rows = "".join(
    f'<tr{numbers.attributes(b.place)}><td class="n">{n}</td><td>{html.escape(b.name)}</td>'
    f'<td class="n">{b.offset:,}</td><td class="n">{b.nbytes:,}</td></tr>'
    for n, b in enumerate(buffers)
  )
  table = f'<table><tr><th class="n">#</th><th>buffer</th><th class="n">offset</th><th class="n">bytes</th></tr>{rows}</table>'
  text = f"{used:,} of {limit:,} bytes that a CTA may have."
  shown = f'<div class="scroll">{table}</div>' if buffers else ""
  return f"<div>{_figure('Shared memory', drawings.shared_memory(buffers, used, limit), text)}{shown}</div>"


def _layout(n: int, drawn: Drawn, numbers: _Numbers) -> str:
  names = list(drawn.names[:_NAMES])
  if len(drawn.names) > _NAMES:
    names.append(f"and {len(drawn.names) - _NAMES} more")
  where = "shared memory" if isinstance(drawn.layout, SharedLayout) else "registers"
  picture = layout_drawing.svg(drawn.layout, max_rows=_LAYOUT_ROWS, max_columns=_LAYOUT_COLUMNS)
  return (
    f'<details class="layout"{" open" if n == 0 else ""}><summary{numbers.attributes(drawn.place)}>{html.escape(", ".join(names))} '
    f'<small>({where})</small></summary><p><code>{html.escape(str(drawn.layout))}</code></p><div class="scroll">{picture}</div></details>'
  )
