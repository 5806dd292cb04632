"""Mutated HLO: whatever happens to a text, the parser answers with a module or with HloParseError, and soon.

    python -m tests.hlo.fuzz --n 100000 [--seed 0] [--protos]

Starts from the seeds below and from what XLA printed in the corpus directory, if one is given.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np

from tilewright import hlo
from tilewright.cli.hlo import random_value
from tilewright.hlo.opcodes import OPCODES

SEEDS = [
  """HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) },
entry_computation_layout={(f32[4]{0}, (s32[], f32[2]{0:T(8,128)(2,1)E(32)S(1)}))->(f32[4]{0})}, replica_count=2,
frontend_attributes={a="b",c={"x": [1,2]}}, allow_spmd_sharding_propagation_to_output={true}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=2 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b), metadata={op_name="x/y" source_file="a.py" source_line=3}
}

ENTRY %main (p: f32[4], t: (s32[], f32[2])) -> (f32[4]) {
  %p = f32[4]{0} parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  %t = (s32[], f32[2]{0:T(8,128)(2,1)E(32)S(1)}) parameter(1), sharding={{replicated}, {mesh["x"=2,"y"=4], [{"x", ?}]}}
  %c = f32[2,2]{1,0} constant({ { 1, nan(0x123) }, { -inf, 2.5e-3 } })
  %k = c64[] constant((1, -2))
  %zero = f32[] constant(0)
  %r = f32[4]{0} all-reduce(f32[4]{0} %p), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), to_apply=%sum
  %q = f32[4]{0} all-reduce(%r), replica_groups={{0,1},{2,3}}, to_apply=%sum, backend_config={"a":{"b":[1,"x}"]}}
  %w = f32[2]{0} reduce-window(%q, %zero), window={size=2 stride=2 pad=0_1 rhs_dilate=2}, to_apply=%sum
  ROOT %o = (f32[4]{0}) tuple(%q), control-predecessors={%p, %c}, origin={({"v1" {0}})}
}
""",
  """HloModule runs, replica_count=2
%sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
%body { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  n = s32[] add(i, one)
  v = f32[4] get-tuple-element(s), index=1
  w = f32[4] reduce-window(v, f32[] constant(0)), window={size=3 pad=1_1}, to_apply=%sum
  ROOT t = (s32[], f32[4]) tuple(n, w) }
%condition { c = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(c), index=0
  ROOT l = pred[] compare(k, s32[] constant(3)), direction=LT }
ENTRY %main { x = f32[4,2] parameter(0)
  y = f32[2,4] transpose(x), dimensions={1,0}
  d = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[8,4] all-gather(d), replica_groups={{0,1}}, dimensions={0}
  h = f32[4,4] reduce-scatter(g), replica_groups={{0,1}}, dimensions={0}, to_apply=%sum
  p = f32[4,4] collective-permute(h), source_target_pairs={{0,1},{1,0}}
  q = f32[4] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=%sum
  b = f32[4] broadcast(f32[] constant(2)), dimensions={}
  z = f32[6] pad(q, f32[] constant(0)), padding=1_1
  e = f32[4] slice(z), slice={[1:5]}
  u = f32[4] dynamic-slice(z, s32[] constant(2)), dynamic_slice_sizes={4}
  o = f32[4] add(add(e, u), b)
  t0 = (s32[], f32[4]) tuple(s32[] constant(0), o)
  ROOT wh = (s32[], f32[4]) while(t0), condition=%condition, body=%body }
""",
  """ENTRY %e { // a comment
  %p = (f32[4], (s32[], f32[<=2,?])) parameter(0)
  %a = add(%p#1#0, /* inline */ %p#1#0)
  %x = sqrt(p#0), result_accuracy={tolerance={atol=0.5,rtol=0.25,ulps=2}}
  %g = f32[2,3] gather(f32[4,3] custom-call(), custom_call_target="y", s32[2] iota(), iota_dimension=0), offset_dims={1},
    collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
  %v = f32[2,8,8,4] convolution(x, x), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  %s = f32[2] slice(%x), slice={[0:4:2]}
  %z = ((f32[4]), f32[4], s32[]) custom-call-start(%x), custom_call_target="f\\"oo\\n", async_execution_thread="t"
  ROOT %t = tuple(add(sqrt(x), x), a), statistics={visualizing_index=0,a=1.5}
}, execution_thread="main"
""",
]
PIECES = [
  *"{}()[]<>=,:;#%\"'/*?!_-+.\\ \n\t\0",
  "f32[",
  "ROOT ",
  "ENTRY ",
  "HloModule ",
  "constant(",
  "parameter(",
  "{{",
  "}}",
  "<=",
  "nan(0x",
  "(" * 50,
  "{" * 50,
  "add(" * 400,
  "9" * 30,
  "-1",
  "/*",
  "//",
  "metadata={",
  "sharding={",
  "replica_groups=",
  "\u00e9",
  "\ud800",
  "f8e4m3fn[2]{0}",
  "token[]",
  "b(",
  "{...}",
]


NUMBERS = ["0", "1", "-1", "2", "7", "4294967296", "9223372036854775807", "99999999999999999999", "9" * 5000]
OPCODE_NAMES = sorted(OPCODES)
LIMITS = hlo.EvaluateLimits(bytes=2**26, steps=2000, seconds=2)


def mutate(text: str, rng: random.Random, others: list[str]) -> str:
  """One to four small accidents."""
  for _ in range(rng.choice((1, 1, 1, 2, 4))):
    size = len(text)
    at = rng.randrange(size + 1)
    end = min(size, at + rng.choice((1, 1, 2, 5, 20, 200)))
    match rng.randrange(10):
      case 0:
        text = text[:at] + text[end:]
      case 1:
        text = text[:at] + rng.choice(PIECES) + text[at:]
      case 2:
        text = text[:at] + rng.choice(PIECES) + text[end:]
      case 3:
        text = text[:at] + text[at:end] * rng.randint(2, 4) + text[end:]
      case 4:
        other = rng.choice(others)
        start = rng.randrange(len(other))
        text = text[:at] + other[start : start + rng.choice((5, 40, 400))] + text[end:]
      case 5:
        text = text[:at]
      case 6:
        words = text.split(" ")
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        words[i], words[j] = words[j], words[i]
        text = " ".join(words)
      case 7 | 8:
        text = _replace_one(text, r"\d+", NUMBERS, rng)
      case 9:
        text = _replace_one(text, r"(?<= )[a-z][a-z0-9-]*(?=\()", OPCODE_NAMES, rng)
  return text


def _replace_one(text: str, pattern: str, by: list[str], rng: random.Random) -> str:
  found = list(re.finditer(pattern, text))
  if not found:
    return text
  match = rng.choice(found)
  return text[: match.start()] + rng.choice(by) + text[match.end() :]


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
  for _ in range(rng.randint(1, 4)):
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 1, 4, 30)))
    piece = bytes(rng.randrange(256) for _ in range(rng.choice((0, 1, 1, 4))))
    data = data[:at] + piece + data[end:] if rng.random() < 0.8 else data[:at] + data[at:end] * 2 + data[end:]
  return data


class Hang(BaseException):
  """The parser took longer than it may."""


def _alarm(number: int, frame: FrameType | None) -> None:
  raise Hang


def check_text(text: str) -> str:
  """`module`, `error`; anything else the parser does is raised. What parses must print and verify without a crash, too."""
  try:
    module = hlo.parse(text)
  except hlo.HloParseError as error:
    assert not error.line or (error.line >= 1 and error.column >= 1)
    return "error"
  printed = module.to_text()
  assert hlo.parse(printed).to_text() == printed
  hlo.problems(module)
  for attempt in (module.to_proto, lambda: evaluate(module)):
    with contextlib.suppress(hlo.HloError):
      attempt()
  return "module"


def evaluate(module: hlo.Module) -> None:
  """On random arguments, where those are small."""
  leaves = [leaf for p in module.entry.parameters for _, leaf in p.shape.leaves() if leaf.is_array]
  devices = module.replica_count * module.num_partitions
  if devices > 4 or any(leaf.is_dynamic or leaf.num_elements > 10_000 for leaf in leaves):
    return
  generator = np.random.default_rng(0)
  arguments = [random_value(p.shape, generator) for p in module.entry.parameters]
  hlo.evaluate_devices(module, [arguments] * devices, seed=0, limits=LIMITS)


def check_proto(data: bytes) -> str:
  try:
    module = hlo.from_proto(data)
  except hlo.HloProtoError:
    return "error"
  try:
    hlo.problems(module)
    module.to_proto()
  except hlo.HloError:
    return "error"
  return "module"


def run(
  count: int, seed: int, corpus: list[str], protos: list[bytes], limit: float = 5.0
) -> Iterator[tuple[str, float]]:
  """Yields (`module` or `error`, seconds) per mutated input; raises what should not happen, with the input attached."""
  rng = random.Random(seed)
  texts = SEEDS + corpus
  signal.signal(signal.SIGALRM, _alarm)
  for _ in range(count):
    start = time.perf_counter()
    case: str | bytes = mutate_bytes(rng.choice(protos), rng) if protos else mutate(rng.choice(texts), rng, texts)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
      result = check_proto(case) if isinstance(case, bytes) else check_text(case)
    except BaseException as error:
      signal.setitimer(signal.ITIMER_REAL, 0)
      Path("fuzz_failure.bin").write_bytes(case if isinstance(case, bytes) else case.encode("utf-8", "surrogatepass"))
      error.add_note("the input is in fuzz_failure.bin")
      raise
    signal.setitimer(signal.ITIMER_REAL, 0)
    yield result, time.perf_counter() - start


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--n", type=int, default=100_000)
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--corpus", type=Path, help="a directory written by `python -m tests.hlo.corpus`")
  parser.add_argument("--protos", action="store_true", help="mutate the corpus's protos instead of texts")
  options = parser.parse_args()
  paths = sorted(options.corpus.glob("*.hlo")) if options.corpus else []
  texts = [text for text in (path.read_text() for path in paths) if len(text) < 6000]
  protos = [p.with_suffix(".pb").read_bytes() for p in paths] if options.protos else []
  counts = {"module": 0, "error": 0}
  slowest, start = 0.0, time.perf_counter()
  for i, (result, seconds) in enumerate(run(options.n, options.seed, texts, protos), 1):
    counts[result] += 1
    slowest = max(slowest, seconds)
    if i % 10_000 == 0:
      print(f"{i}: {counts}, slowest {slowest * 1e3:.0f} ms, {time.perf_counter() - start:.0f} s", flush=True)
  print(f"no crash, no hang: {counts}, slowest {slowest * 1e3:.0f} ms")


if __name__ == "__main__":
  sys.exit(main())
