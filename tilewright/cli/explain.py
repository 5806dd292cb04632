"""`tilewright explain FILE.py:FUNCTION TYPE...`: a page that shows how a function's kernels are compiled.

    tilewright explain examples/softmax.py:softmax 'f32[4096,1024]' --html softmax.html
    tilewright explain mine.py:attention 'bf16[16,4096,64]' 'bf16[16,4096,64]' 'bf16[16,4096,64]' --arch cpu,sm_90a

The page has the source beside tile IR, GPU level and assembly, with corresponding lines linked; resources, shared memory, layouts,
and the predictions of the cost model: a timeline and a roofline. Nothing runs, and no GPU is needed, unless `--measure` asks for a
measured timeline; the profile is then also written as a trace, beside the page. Types and `--set` are as in `tilewright ptx`.
Exit code 0: the page is written; 1: a kernel does not compile or cannot be measured; 2: the function, a type or the file is wrong.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from contextlib import nullcontext

import jax

from tilewright import errors
from tilewright.cli.hlo import load_function
from tilewright.cli.ptx import check_number_of_types, needs_x64, parse_type, with_settings
from tilewright.hlo.cost.devices import device as find_device
from tilewright.hlo.errors import HloError


def run(arguments: argparse.Namespace) -> int:
  try:
    function = with_settings(load_function(arguments.function), arguments.set)
    args = [parse_type(text) for text in arguments.types]
    check_number_of_types(function, args)
    device = find_device(arguments.device) if arguments.device else None
  except (ImportError, AttributeError, ValueError, HloError) as error:
    print(f"tilewright explain: {error}", file=sys.stderr)
    return 2
  name = arguments.function.rpartition(":")[2]
  path = pathlib.Path(arguments.html or f"{name}.html")
  if not path.parent.is_dir():
    print(f"tilewright explain: --html: the folder of {path} does not exist.", file=sys.stderr)
    return 2
  from tilewright.viz.explain import explain, render

  try:
    with jax.enable_x64(True) if needs_x64(args) else nullcontext():
      targets = arguments.arch.split(",")
      found = explain(function, *args, targets=targets, device=device, measure=arguments.measure)
  except (errors.TilewrightError, TypeError) as error:  # a TypeError: the function takes other arguments
    print(f"tilewright explain: {error}", file=sys.stderr)
    return 1
  path.write_text(render(found, title=f"{name}({', '.join(arguments.types)})"), encoding="utf-8")
  for own in found:
    print(
      f"{own.kernel} for {own.target}: " + ", ".join(f"{what} {value}".replace("\n", "; ") for what, value in own.facts)
    )
    if own.measured is not None:
      print(own.measured.profile)
  for n, profile in enumerate(own.measured.profile for own in found if own.measured is not None):
    trace = path.with_name(f"{path.stem}.{profile.kernel}{n or ''}.trace.json")
    profile.write(trace)
    print(f"Written: {trace}")
  print(f"Written: {path}")
  return 0
