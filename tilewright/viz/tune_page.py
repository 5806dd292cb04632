"""A tuning search as one HTML page: trials over time, the effect of each parameter, the best few beside the default, and failures.

    pathlib.Path("report.html").write_text(render([result]))

Drawings are SVG, made here; the page has no script and needs no network.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tilewright.tune.trials import OK, Result, Trial

_WIDTH, _HEIGHT, _MARGIN = 720, 260, 48
_BEST = 8  # rows of the table of the best

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #667085; --line: #d5d9e0; --panel: #f6f7f9; --accent: #2563eb;
  --bad: #d13b40; --good: #12805c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171b; --faint: #98a2b3; --line: #333a44; --panel: #1b1f25;
  --accent: #7aa2ff; --bad: #ef5a60; --good: #4cc38a; } }
body { margin: 0 auto; max-width: 1040px; padding: 16px; font: 14px/1.5 ui-sans-serif, system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 24px 0 6px; } p { color: var(--faint); margin: 4px 0; }
.cards { display: flex; flex-wrap: wrap; gap: 10px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; }
.card b { display: block; font-size: 16px; } .card span { color: var(--faint); font-size: 12px; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line); padding: 3px 8px; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr.default td { color: var(--accent); }
code { font: 12px ui-monospace, monospace; }
svg { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; width: 100%; }
svg text { fill: var(--faint); font-size: 11px; } .ok { fill: var(--accent); opacity: .65; } .bad { fill: var(--bad); }
.line { fill: none; stroke: var(--good); stroke-width: 2; } .axis { stroke: var(--line); } .bar { fill: var(--accent); }
"""


def render(results: Sequence[Result], title: str = "tilewright tune") -> str:
  """The page of one or more searches."""
  parts = [part for result in results for part in _sections(result)]
  head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
  return (
    f"<!doctype html><html lang=en><head>{head}<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
  )


def _sections(result: Result) -> Iterable[str]:
  key = result.key
  yield f"<h1>{html.escape(key.kernel)}</h1><p><code>{html.escape(key.arguments)}</code></p>"
  yield f"<p>{html.escape(' · '.join(filter(None, (key.device, key.driver, key.versions, f'seed {result.seed}'))))}</p>"
  yield _cards(result)
  yield "<h2>Trials over time</h2>"
  yield "<p>Each point is a candidate; the line is the best so far; crosses at the top are candidates that were thrown out.</p>"
  yield _over_time(result.trials)
  yield "<h2>Parameters</h2>"
  yield "<p>The best time with each value, beside the best of all; the bar is the share of the variation that a parameter explains.</p>"
  yield _parameters(result)
  yield "<h2>The best, beside the default</h2>"
  yield _best(result)
  yield "<h2>Thrown out</h2>"
  yield _failures(result)


def duration(seconds: float | None) -> str:
  if seconds is None:
    return "-"
  for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
    if seconds >= scale:
      return f"{seconds / scale:.4g} {unit}"
  return f"{seconds / 1e-9:.4g} ns"


def _cards(result: Result) -> str:
  gain = "-" if result.gain is None else f"{result.gain:.3f} times as fast"
  kept = " (the default)" if dict(result.config) == dict(result.default) else ""
  rows = [
    ("best" + kept, duration(result.seconds)),
    ("default", duration(result.default_seconds)),
    ("gain", gain),
    ("candidates tried", f"{len(result.trials)} of {result.num_candidates}"),
    ("thrown out", str(len(result.failures))),
    ("time", f"{result.elapsed:.1f} s"),
    ("scatter of samples", f"{100 * result.noise:.1f}%" + (" (noisy)" if result.noise > 0.1 else "")),
  ]
  if result.is_interrupted:
    rows.append(("ended", "interrupted"))
  cards = "".join(f"<div class=card><span>{html.escape(a)}</span><b>{html.escape(b)}</b></div>" for a, b in rows)
  return f"<div class=cards>{cards}</div><p><code>{html.escape(_config(result.config))}</code></p>"


def _config(config: Any) -> str:
  return ", ".join(f"{name}={value}" for name, value in config.items())


def _over_time(trials: Sequence[Trial]) -> str:
  good = [t for t in trials if t.seconds is not None]
  if not good:
    return "<p>No candidate ran.</p>"
  end = max(t.elapsed for t in trials) or 1.0
  times = [math.log(t.seconds or 1.0) for t in good]
  low, high = min(times), max(max(times), min(times) + 0.05)
  x = lambda elapsed: _MARGIN + (_WIDTH - 2 * _MARGIN) * elapsed / end
  y = lambda seconds: _HEIGHT - 30 - (_HEIGHT - 70) * (math.log(seconds) - low) / (high - low)
  parts = [f'<line class=axis x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{_HEIGHT - 30}" y2="{_HEIGHT - 30}"/>']
  for seconds in np.exp(np.linspace(low, high, 4)):
    parts.append(
      f'<line class=axis x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y(seconds):.1f}" y2="{y(seconds):.1f}"/>'
    )
    parts.append(f'<text x="4" y="{y(seconds) + 4:.1f}">{duration(float(seconds))}</text>')
  for share in (0.0, 0.5, 1.0):
    parts.append(f'<text x="{x(share * end):.0f}" y="{_HEIGHT - 12}">{share * end:.1f} s</text>')
  best = math.inf
  line: list[str] = []
  for t in trials:
    tooltip = html.escape(f"{_config(t.config)}: {duration(t.seconds) if t.seconds else t.reason}")
    if t.seconds is None:
      parts.append(f'<text class=bad x="{x(t.elapsed) - 3:.1f}" y="18">&times;<title>{tooltip}</title></text>')
      continue
    parts.append(
      f'<circle class=ok cx="{x(t.elapsed):.1f}" cy="{y(t.seconds):.1f}" r="3"><title>{tooltip}</title></circle>'
    )
    if t.seconds < best:
      if line:
        line.append(f"{x(t.elapsed):.1f},{y(best):.1f}")
      best = t.seconds
      line.append(f"{x(t.elapsed):.1f},{y(best):.1f}")
  line.append(f"{x(end):.1f},{y(best):.1f}")
  parts.append(f'<polyline class=line points="{" ".join(line)}"/>')
  return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'


def influence(trials: Sequence[Trial]) -> dict[str, float]:
  """The share of the variance of log times that each parameter explains alone, between 0 and 1."""
  good = [t for t in trials if t.seconds is not None]
  if len(good) < 2:
    return {}
  times = np.log([t.seconds or 1.0 for t in good])
  total = float(((times - times.mean()) ** 2).sum())
  found = {}
  for name in good[0].config:
    values = [str(t.config[name]) for t in good]
    between = 0.0
    for value in set(values):
      own = times[[v == value for v in values]]
      between += len(own) * (own.mean() - times.mean()) ** 2
    found[name] = float(between) / total if total > 0 else 0.0
  return dict(sorted(found.items(), key=lambda item: -item[1]))


def _parameters(result: Result) -> str:
  good = [t for t in result.trials if t.seconds is not None]
  rows = []
  for name, share in influence(result.trials).items():
    best: dict[str, float] = {}
    for t in good:
      value = str(t.config[name])
      best[value] = min(best.get(value, math.inf), t.seconds or math.inf)
    fastest = min(best.values())
    cells = " ".join(
      f"<code>{html.escape(v)}</code> {s / fastest:.2f}" for v, s in sorted(best.items(), key=lambda i: i[1])[:12]
    )
    bar = f'<svg viewBox="0 0 100 10" style="width:100px;border:0"><rect class=bar width="{100 * share:.0f}" height="10"/></svg>'
    rows.append(f"<tr><td><code>{html.escape(name)}</code></td><td>{bar} {100 * share:.0f}%</td><td>{cells}</td></tr>")
  return f"<table><tr><th>parameter</th><th>explains</th><th>best time by value</th></tr>{''.join(rows)}</table>"


def _best(result: Result) -> str:
  good = sorted((t for t in result.trials if t.status == OK), key=lambda t: t.seconds or math.inf)[:_BEST]
  finals = {_config(t.config): t for t in result.finalists}
  default = _config(result.default)
  shown = {_config(t.config): t for t in result.trials if t.status == OK and _config(t.config) == default}
  shown |= {_config(t.config): t for t in good}
  rows = []
  for text, t in shown.items():
    final = finals.get(text)
    ratio = "-" if final is None or final.ratio is None else f"{final.ratio:.4f} [{final.low:.4f}, {final.high:.4f}]"
    kind = " class=default" if text == default else ""
    interval = f"{duration(t.low)} to {duration(t.high)}"
    rows.append(
      f"<tr{kind}><td><code>{html.escape(text)}</code></td><td class=n>{duration(t.seconds)}</td><td class=n>{interval}</td>"
      f"<td class=n>{t.samples}</td><td class=n>{ratio}</td></tr>"
    )
  titles = ("time", "95%", "samples", "at the end, to the default")
  head = f"<tr><th>configuration</th>{''.join(f'<th class=n>{t}</th>' for t in titles)}</tr>"
  return f"<table>{head}{''.join(rows)}</table>"


def _failures(result: Result) -> str:
  if not result.failures:
    return "<p>Nothing: every candidate that was tried ran, and gave the reference's numbers.</p>"
  counted = Counter((t.phase, t.reason) for t in result.failures)
  example = {(t.phase, t.reason): t for t in reversed(result.failures)}
  rows = [
    f"<tr><td class=n>{count}</td><td>{html.escape(phase)}</td><td>{html.escape(reason)}</td>"
    f"<td><code>{html.escape(_config(example[phase, reason].config))}</code></td></tr>"
    for (phase, reason), count in counted.most_common(40)
  ]
  return (
    f"<table><tr><th class=n>how many</th><th>while</th><th>why</th><th>for example</th></tr>{''.join(rows)}</table>"
  )
