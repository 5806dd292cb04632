"""A table of small modules, one for each rule: what XLA's verifier refuses, ours refuses, and what it accepts, ours accepts.

    python -m tests.hlo.test_verify_table        # asks XLA about every row

Not in the table are modules that XLA accepts and ours refuses on purpose: operands or results of different precisions (no back end compiles
them, and no pass expects them), a bitcast to another size, a broadcast to one dimension twice, replicas that do not exist.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hlo.xla_verifier import verdicts
from tilewright import hlo
from tilewright.hlo.verify import problems

CALLED = """
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
iadd { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT s = s32[] add(a, b) }
neg { p = f32[4] parameter(0)
 ROOT q = f32[4] negate(p) }
cond { p = f32[4] parameter(0)
 ROOT q = pred[] constant(true) }
lt { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = pred[] compare(a, b), direction=LT }
lt2 { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT s = pred[] compare(a, b), direction=LT }
add2 { a = f32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = s32[] parameter(3)
 e = f32[] add(a, c)
 f = s32[] add(b, d)
 ROOT s = (f32[], s32[]) tuple(e, f) }
sine { a = f32[] parameter(0)
 ROOT s = f32[] sine(a) }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = pred[] compare(a, b), direction=GE }

inner { p = f32[4] parameter(0)
 ROOT q = f32[4] negate(p) }
innera2a { p = f32[4] parameter(0)
 ROOT q = f32[4] all-to-all(p), replica_groups={{0,1,2,3}}, channel_id=5, dimensions={0} }
host { p = f32[4] parameter(0)
 ROOT q = f32[4] negate(p) }, execution_thread="host"
f3 { p = f32[4] parameter(0)
 k = f32[] constant(3)
 b = f32[4] broadcast(k), dimensions={}
 ROOT q = f32[4] add(p, b) }
fdead { p = f32[4] parameter(0)
 r = f32[4] parameter(1)
 ROOT q = f32[4] negate(p) }
"""


class Row(NamedTuple):
  name: str
  is_refused: bool
  text: str


def rows() -> list[Row]:
  found = []
  for block in (Path(__file__).parent / "verify_table.txt").read_text().split("\n\n"):
    head, _, body = block.partition("\n")
    kind, _, name = head.removeprefix("// ").partition(": ")
    if name and body.strip():
      header = "HloModule m" + (", num_partitions=4" if "partitions" in kind else "")
      text = f"{header}\n{CALLED}\nENTRY e {{\n{body.rstrip()}\n}}\n"
      found.append(Row(name, kind.startswith("refused"), text))
  return found


ROWS = rows()


def _is_refused(text: str) -> bool:
  try:
    return bool(problems(hlo.parse(text)))
  except hlo.HloError:  # a constant of another size, say: XLA's reader refuses it as well
    return True


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_verifier_agrees_with_the_table(row: Row) -> None:
  assert _is_refused(row.text) == row.is_refused


def test_the_table_agrees_with_xla() -> None:
  """A sample; the rows that XLA's CPU back end compiles take most of the time."""
  sample = [row for row in ROWS if row.is_refused][::6] + [row for row in ROWS if not row.is_refused][::12]
  answers = verdicts([row.text for row in sample])
  assert {row.name: a for row, a in zip(sample, answers) if (a != "accepted") != row.is_refused} == {}


def main() -> int:
  answers = verdicts([row.text for row in ROWS])
  wrong = [(row, a) for row, a in zip(ROWS, answers) if (a != "accepted") != row.is_refused]
  for row, answer in wrong:
    print(f"{row.name}: the table says {'refused' if row.is_refused else 'accepted'}, XLA says {answer[:300]}")
  print(f"{len(ROWS)} rows, {len(wrong)} of which XLA sees otherwise")
  return 1 if wrong else 0


if __name__ == "__main__":
  sys.exit(main())
