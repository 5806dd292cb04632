"""XLA's own parser takes what the passes make. It may abort the process on bad text, so it runs in a child."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

from collective_checks import ADD

from tests.support.collective_programs import COLLECTIVES, permute, program
from tests.support.motion_loops import STORE, SUM, TWO, LoopText, store
from tests.support.pipelined_loops import Layers, fetch
from tests.support.pipelined_loops import store as stored
from tilewright import hlo
from tilewright.hlo.passes import run_passes

CHILD = """
import json, sys
import jaxlib._hlo as xla
for name, text in json.load(open(sys.argv[1])).items():
  print("reading", name, flush=True)
  again = xla.hlo_module_from_text(text).to_string()
  assert again
print("all read")
"""


def texts() -> dict[str, str]:
  jobs: list[tuple[str, str]] = [(program(body), "async_collectives") for body in COLLECTIVES.values()]
  jobs += [(program(body), "split_collectives{max_bytes=64}") for body in COLLECTIVES.values()]
  jobs += [(program(COLLECTIVES["all-reduce"]), "decompose_all_reduce{min_bytes=0}")]
  jobs += [(permute("{{0,1},{1,2},{2,3},{3,0}}"), "collective_permute_to_send_recv")]
  jobs += [(str(LoopText(SUM)), "all_reduce_code_motion")]
  jobs += [(TWO.format(ADD=ADD, b="b1 = f32[2] add(b, r1)"), "all_reduce_code_motion")]
  jobs += [(str(LoopText(store("i, z"), acc=STORE, trips=3)), "all_reduce_code_motion")]
  jobs += [(str(Layers(stored())), f"collective_pipeliner{{direction={d}}}") for d in ("forward", "forward_sink")]
  jobs += [(str(Layers(fetch())), "collective_pipeliner{direction=backward}")]
  made: dict[str, str] = {}
  for number, (text, name) in enumerate(jobs):
    module = hlo.parse(text)
    run_passes(module, [name], verify=True)
    made[f"{number} {name}"] = module.to_text()
  return made


def test_xla_reads_what_the_passes_make(tmp_path: pathlib.Path) -> None:
  file = tmp_path / "modules.json"
  file.write_text(json.dumps(texts()))
  done = subprocess.run([sys.executable, "-c", CHILD, str(file)], capture_output=True, text=True, timeout=120)
  assert done.stdout.endswith("all read\n"), done.stdout[-300:] + done.stderr[-1500:]
