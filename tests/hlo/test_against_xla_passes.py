"""Our passes simplify at least what XLA's passes of the same names simplify in programs that XLA compiles."""

from __future__ import annotations

import pathlib

from tests.hlo.against_xla_passes import compare, dump

PROGRAMS = ["scan", "while", "cond", "switch", "grad", "argsort_topk", "accumulate", "spmd", "psum", "all_to_all"]
MUST_AGREE = {"dce", "call-inliner", "cse", "while-loop-trip-count-annotator", "flatten-call-graph", "tuple-simplifier"}


def test_passes_leave_no_more_than_those_of_xla(tmp_path: pathlib.Path) -> None:
  dump(tmp_path, PROGRAMS, random_programs=8)
  found = compare(tmp_path)
  differences = {name: dict(a.differences) for name, a in found.items() if a.differences}
  assert sum(a.cases for a in found.values()) >= 40 and len(found) >= 6, sorted(found)
  assert all(a.agrees == a.cases for name, a in found.items() if name in MUST_AGREE), differences
  assert sum(a.agrees for a in found.values()) >= 0.95 * sum(a.cases for a in found.values()), differences
