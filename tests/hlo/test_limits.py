"""Hostile modules: memory, steps and time of the evaluator are limited, passes stay linear in shared calls."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo.evaluate.limits import EvaluateLimits

ENDLESS = """HloModule endless
body { ROOT x = pred[] parameter(0) }
condition { ROOT y = pred[] parameter(0) }
ENTRY e { t = pred[] constant(true)
  ROOT w = pred[] while(t), condition=condition, body=body }
"""


def shared_calls(depth: int) -> hlo.Module:
  """Computations that each call the next one twice: 2^depth calls when they run."""
  text = "HloModule m\ng0 { x = f32[] parameter(0)\n ROOT r = f32[] add(x, x) }\n"
  for i in range(1, depth):
    text += f"g{i} {{ x{i} = f32[] parameter(0)\n a{i} = f32[] call(x{i}), to_apply=g{i - 1}\n"
    text += f" ROOT r{i} = f32[] call(a{i}), to_apply=g{i - 1} }}\n"
  return hlo.parse(text + f"ENTRY e {{ y = f32[] parameter(0)\n ROOT z = f32[] call(y), to_apply=g{depth - 1} }}\n")


@pytest.mark.parametrize(
  "body, limit",
  [
    ("z = f32[] constant(0)\n ROOT b = f32[100000,100000] broadcast(z), dimensions={}", "bytes"),
    ("ROOT b = s32[10000000000] iota(), iota_dimension=0", "bytes"),
    ("z = f32[1] constant({1})\n ROOT b = f32[4] pad(z, f32[] constant(0)), padding=0_20000000000", "bytes"),
    (
      "z = f32[2] constant({1,2})\n i = f32[] constant(0)\n"
      " ROOT b = f32[2] reduce-window(z, i), window={size=4000000001 pad=2000000000_2000000000}, to_apply=sum",
      "steps",
    ),
  ],
)
def test_what_takes_too_much_is_refused_before_it_starts(body: str, limit: str) -> None:
  text = f"sum {{ p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT s = f32[] add(p, q) }}\nENTRY e {{ {body} }}"
  with pytest.raises(hlo.HloEvaluateError, match=limit):
    hlo.evaluate(hlo.parse(text))


def test_a_product_that_cannot_end_in_time_is_refused() -> None:
  text = "ENTRY e { x = f32[4000,4000] parameter(0)\n ROOT d = f32[4000,4000] dot(x, x), "
  module = hlo.parse(text + "lhs_contracting_dims={1}, rhs_contracting_dims={0} }")
  with pytest.raises(hlo.HloEvaluateError, match="seconds"):
    hlo.evaluate(module, np.zeros((4000, 4000), np.float32), limits=EvaluateLimits(seconds=1))


def test_a_loop_that_does_not_end_is_stopped_by_steps_and_by_time() -> None:
  module = hlo.parse(
    ENDLESS.replace("ROOT x = pred[] parameter(0)", "x = pred[] parameter(0)\n ROOT c = pred[] copy(x)")
  )
  with pytest.raises(hlo.HloEvaluateError, match=r"steps=.*\n  at "):
    hlo.evaluate(module, limits=EvaluateLimits(steps=1000))
  with pytest.raises(hlo.HloEvaluateError, match="seconds="):
    hlo.evaluate(module, limits=EvaluateLimits(seconds=0.05))


def test_a_loop_of_nothing_is_stopped() -> None:
  with pytest.raises(hlo.HloEvaluateError, match="steps"):
    hlo.evaluate(hlo.parse(ENDLESS), limits=EvaluateLimits(steps=1000))


def test_shared_calls_end_at_the_limit() -> None:
  with pytest.raises(hlo.HloEvaluateError, match="steps"):
    hlo.evaluate(shared_calls(40), np.float32(1), limits=EvaluateLimits(steps=1000))


def test_memory_that_was_freed_counts_no_more() -> None:
  lines = [f"a{i + 1} = f32[1000000] negate(a{i})" for i in range(8)]
  module = hlo.parse(
    "ENTRY e { a0 = f32[1000000] parameter(0)\n" + "\n".join(lines) + "\nROOT r = f32[1000000] abs(a8) }"
  )
  hlo.evaluate(module, np.zeros(1_000_000, np.float32), limits=EvaluateLimits(bytes=2.4e7))
  with pytest.raises(hlo.HloEvaluateError, match="bytes"):
    hlo.evaluate(module, np.zeros(1_000_000, np.float32), limits=EvaluateLimits(bytes=7e6))


@pytest.mark.parametrize("name", sorted(hlo.PASSES))
def test_passes_are_not_exponential_in_shared_calls(name: str) -> None:
  module = shared_calls(60)
  options = "{max_instructions=1000}" if name == "call_inliner" else ""
  if name == "flatten_call_graph":  # a copy for each call is what it makes
    with pytest.raises(hlo.HloError, match="too often to copy them"):
      hlo.run_passes(module, [name], verify=True)
    return
  hlo.run_passes(module, [name + options], verify=True)
  assert module.instruction_count < 10_000
  hlo.parse(module.to_text())


@pytest.mark.parametrize(
  "text",
  [
    "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(x), replica_groups={} }",
    "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[4] all-gather(x), replica_groups={} }",
    "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] dynamic-update-slice(x) }",
    "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] custom-call(x) }",
    "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(x), replica_groups=[1,99999999999]<=[99999999999] }",
    "ENTRY e { ROOT r = f32[2] iota() }",
  ],
)
def test_incomplete_instructions_are_problems_and_errors_of_the_evaluator(text: str) -> None:
  module = hlo.parse(text)
  assert hlo.problems(module)
  with pytest.raises(hlo.HloError):
    hlo.evaluate(module, *[np.zeros(2, np.float32)] * len(module.entry.parameters))


def test_numbers_of_any_length_are_parse_errors() -> None:
  with pytest.raises(hlo.HloParseError):
    hlo.parse(f"ENTRY e {{ ROOT x = f32[{'9' * 5000}] parameter(0) }}")
