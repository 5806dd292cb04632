"""Timeline, roofline and shared memory as SVG, 560 pixels wide, with the colours of the page."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tilewright.viz.explain.predict import Roofline, Timeline
from tilewright.viz.explain.stages import Buffer

if TYPE_CHECKING:
  from tilewright.target.nvgpu.host.profile import Profile, Track

WIDTH = 560
_LEFT, _RIGHT = 62, 12
_LANES = ("load", "compute", "store")
MEASURED_LANES = ("wait", "load", "compute", "store", "scope")
_BARS = 2000  # of a drawing of all CTAs
_ROW = 24


def duration(seconds: float) -> str:
  for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
    if seconds >= scale:
      return f"{seconds / scale:.3g} {unit}"
  return f"{seconds / 1e-9:.3g} ns"


def quantity(number: float, unit: str) -> str:
  for prefix, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
    if number >= scale:
      return f"{number / scale:.3g} {prefix}{unit}"
  return f"{number:.3g} {unit}"


def number(value: float) -> str:
  """Three significant digits, never in exponential notation: 0.625, 32.8, 1,410."""
  return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _ticks(end: float) -> list[float]:
  """Three to six round times from 0 to `end`: multiples of 1, 2 or 5 of a power of ten."""
  decade = 10.0 ** math.floor(math.log10(end))
  step = next(s for s in (decade / 5, decade / 2, decade, 2 * decade) if end / s <= 5.5)
  return [k * step for k in range(int(end / step * (1 + 1e-9)) + 1)]


def timeline(t: Timeline) -> str:
  """The first steps of an instance: one row each for loads, arithmetic and stores."""
  end = max((s.end for s in t.spans), default=0.0) or 1.0
  x: Callable[[float], float] = lambda seconds: _LEFT + (WIDTH - _LEFT - _RIGHT) * seconds / end
  parts = []
  for row, lane in enumerate(_LANES):
    y = 8 + row * (_ROW + 4)
    parts.append(_text(_LEFT - 8, y + 16, lane, "end"))
    for s in (s for s in t.spans if s.what == lane):
      wide = max(x(s.end) - x(s.begin), 0.6)
      step = "before the steps" if s.step < 0 else "after the steps" if s.step >= t.num_steps else f"step {s.step}"
      title = f"{lane}, {step}: {duration(s.begin)} to {duration(s.end)}"
      shade = f"{lane} odd" if s.step % 2 else lane
      parts.append(
        f'<g><title>{title}</title><rect class="{shade}" x="{x(s.begin):.2f}" y="{y}" width="{wide:.2f}" height="{_ROW}"/>'
        + (_text(x(s.begin) + wide / 2, y + 16, str(s.step)) if wide > 16 and 0 <= s.step < t.num_steps else "")
        + "</g>"
      )
  bottom = 8 + len(_LANES) * (_ROW + 4)
  parts.append(f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>')
  for tick in _ticks(end):
    anchor = "start" if tick == 0 else "end" if x(tick) > WIDTH - _RIGHT - 24 else "middle"
    parts.append(_text(x(tick), bottom + 15, duration(tick) if tick else "0", anchor))
  return _svg(bottom + 22, parts)


def measured(tracks: Sequence[Track], roles: Sequence[str]) -> str:
  """What the warpgroups of a CTA did: a row each, in which the innermost span of each moment is drawn."""
  start = min((t.begin for t in tracks), default=0.0)
  end = max((t.end for t in tracks), default=0.0) - start or 1.0
  x: Callable[[float], float] = lambda ns: _LEFT + (WIDTH - _LEFT - _RIGHT) * ns / end
  parts = []
  for row, t in enumerate(tracks):
    y = 8 + row * (2 * _ROW - 4)
    parts += [_text(_LEFT, y + 11, roles[t.number], "start"), _text(_LEFT - 8, y + 32, f"CTA {t.block}", "end")]
    for s in t.leaves:
      wide = max(x(s.end - start) - x(s.begin - start), 0.3)
      title = f"{s.mark.lane}, {s.mark}: {duration(1e-9 * (s.begin - start))} to {duration(1e-9 * (s.end - start))}"
      parts.append(
        f"<g><title>{html.escape(title)}</title>"
        f'<rect class="{s.mark.lane}" x="{x(s.begin - start):.2f}" y="{y + 16}" width="{wide:.2f}" height="{_ROW}"/></g>'
      )
  return _with_axis(parts, 8 + len(tracks) * (2 * _ROW - 4), end, x)


def waves(p: Profile) -> str:
  """All CTAs of a kernel by SM and time; of very many, an even part."""
  blocks = sorted({n * p.blocks // min(p.blocks, _BARS) for n in range(min(p.blocks, _BARS))})
  start = min(t.begin for t in p.tracks)
  end = p.nanoseconds or 1.0
  sms = sorted({t.sm for t in p.tracks})
  places = {sm: n for n, sm in enumerate(sms)}
  high = min(20.0, max(2.0, 260 / len(sms)))
  x: Callable[[float], float] = lambda ns: _LEFT + (WIDTH - _LEFT - _RIGHT) * ns / end
  parts = [_text(_LEFT - 8, 18, f"SM {sms[0]}", "end")]
  if len(sms) * high > 30:
    parts.append(_text(_LEFT - 8, 8 + len(sms) * high - 1, f"SM {sms[-1]}", "end"))
  for block in blocks:
    own = p.of_block(block)
    begin, until = min(t.begin for t in own) - start, max(t.end for t in own) - start
    title = f"CTA {block} on SM {own[0].sm}: {duration(1e-9 * begin)} to {duration(1e-9 * until)}"
    parts.append(
      f'<g><title>{title}</title><rect class="compute{" odd" if block % 2 else ""} bar" x="{x(begin):.2f}" '
      f'y="{8 + places[own[0].sm] * high:.2f}" width="{max(x(until) - x(begin), 0.3):.2f}" height="{high:.2f}"/></g>'
    )
  return _with_axis(parts, 8 + len(sms) * high, end, x)


def _with_axis(parts: list[str], bottom: float, end: float, x: Callable[[float], float]) -> str:
  """A drawing over time, in nanoseconds up to `end`."""
  parts.append(f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom:g}" y2="{bottom:g}"/>')
  for tick in _ticks(1e-9 * end):
    at = x(1e9 * tick)
    anchor = "start" if tick == 0 else "end" if at > WIDTH - _RIGHT - 24 else "middle"
    parts.append(_text(at, bottom + 15, duration(tick) if tick else "0", anchor))
  return _svg(bottom + 22, parts)


def roofline(r: Roofline) -> str:
  """Operations per second over operations per byte, both logarithmic: the roof of a device, and where the kernel lies below it."""
  ridge = r.peak / r.bandwidth
  points = [("each array once", r.flops / r.nbytes), ("every load of a block", r.flops / r.traffic)]
  inside = [ridge, *(i for _, i in points if i > 0)]
  low, high = 10 ** math.floor(math.log10(min(inside)) - 0.3), 10 ** math.ceil(math.log10(max(inside)) + 0.3)
  top, floor = r.peak * 2, min(low * r.bandwidth, r.peak / 10)
  height, bottom = 242, 190
  x = lambda i: _LEFT + (WIDTH - _LEFT - _RIGHT) * math.log(i / low) / math.log(high / low)
  y = lambda f: bottom - (bottom - 12) * math.log(max(f, floor) / floor) / math.log(top / floor)
  parts = [
    f'<path class="roof" d="M{x(low):.1f} {y(low * r.bandwidth):.1f} L{x(ridge):.1f} {y(r.peak):.1f} L{x(high):.1f} {y(r.peak):.1f}"/>',
    f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>',
    _text(WIDTH - _RIGHT, y(r.peak) - 6, f"{quantity(r.peak, 'FLOP/s')}, {r.peak_name}", "end"),
    _text(x(low) + 34, y(low * r.bandwidth) - 4, quantity(r.bandwidth, "B/s"), "start"),
  ]
  for k in range(math.ceil(math.log10(floor)), math.floor(math.log10(top)) + 1):
    parts.append(_text(_LEFT - 8, y(10.0**k) + 4, quantity(10.0**k, "").rstrip(), "end"))
  decades = range(round(math.log10(low)), round(math.log10(high)) + 1)
  for k in decades:
    parts.append(_text(x(10.0**k), bottom + 15, f"{10.0**k:g}", "end" if k == decades[-1] else "middle"))
  parts.append(_text((WIDTH + _LEFT) / 2, bottom + 28, "FLOP per byte; vertical: FLOP/s", "middle"))
  shown = [(n, name, intensity) for n, (name, intensity) in enumerate(points) if intensity > 0]
  for at, (n, name, intensity) in zip((_LEFT + 6, (WIDTH + _LEFT) / 2 + 6), shown):
    parts.append(f'<circle class="point{n}" cx="{at:g}" cy="{bottom + 44}" r="5"/>')
    parts.append(_text(at + 10, bottom + 48, f"{name}: {number(intensity)} FLOP/B", "start"))
  for n, name, intensity in shown:
    at = min(r.peak, intensity * r.bandwidth)
    title = f"{name}: {number(intensity)} operations per byte, at most {quantity(at, 'FLOP/s')}"
    parts.append(
      f'<g><title>{title}</title><line class="drop" x1="{x(intensity):.1f}" x2="{x(intensity):.1f}" y1="{y(at):.1f}" y2="{bottom}"/>'
      f'<circle class="point{n}" cx="{x(intensity):.1f}" cy="{y(at):.1f}" r="5"/></g>'
    )
  return _svg(height, parts)


def shared_memory(buffers: Sequence[Buffer], used: int, limit: int) -> str:
  """A bar with each buffer where it lies, and how much of a CTA's share is left."""
  whole = max(limit, used, 1)
  x = lambda at: 2 + (WIDTH - 4) * at / whole
  parts = [f'<rect class="free" x="2" y="6" width="{WIDTH - 4}" height="34"/>']
  for n, b in enumerate(buffers):
    wide = max(x(b.offset + b.nbytes) - x(b.offset), 0.8)
    title = html.escape(f"{b.name}: {b.nbytes:,} bytes at {b.offset:,}")
    parts.append(
      f'<g><title>{title}</title><rect class="buffer{n % 4}" x="{x(b.offset):.2f}" y="6" width="{wide:.2f}" height="34"/>'
      + (_text(x(b.offset) + wide / 2, 27, str(n)) if wide > 12 else "")
      + "</g>"
    )
  parts += [_text(2, 56, "0", "start"), _text(WIDTH - 2, 56, f"{whole:,} bytes", "end")]
  if used and 60 < x(used) < WIDTH - 130:
    parts.append(_text(x(used), 56, f"{used:,}", "middle"))
  return _svg(62, parts)


def _svg(height: float, parts: Sequence[str]) -> str:
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img">'
    f"{''.join(parts)}</svg>"
  )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
  return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'
