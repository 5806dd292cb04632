"""`tilewright schedule` from the shell, and the scheduler inside XLA."""

from __future__ import annotations

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_modules import data_parallel, offload

from tilewright import cli, hlo
from tilewright.hlo import schedule


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
  path = tmp_path / "module.hlo"
  path.write_text(data_parallel(4))
  return path


def test_the_report_the_page_the_trace_and_the_module(file: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
  out = {name: file.parent / f"out.{name}" for name in ("html", "json", "hlo")}
  options = ["--devices", "64", "--explain", "reduce-start.2", "--html", str(out["html"])]
  options += ["--trace", str(out["json"]), "--out", str(out["hlo"])]
  assert cli.main(["schedule", str(file), *options]) == 0
  text = capsys.readouterr().out
  assert "exposed communication" in text and "simulated step, 64 devices" in text and "%reduce-start.2: " in text
  assert "<canvas" in out["html"].read_text()
  assert json.loads(out["json"].read_text())["traceEvents"]
  module = hlo.parse(out["hlo"].read_text())
  hlo.verify(module)
  assert [i.name for i in module.entry.instructions] != [i.name for i in hlo.parse(file.read_text()).entry.instructions]


def test_a_limit_that_cannot_be_met_is_exit_code_one(
  tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
  file = tmp_path / "offload.hlo"
  file.write_text(offload(2))
  assert cli.main(["schedule", str(file), "--device", "h200", "--memory-limit", "300MB"]) == 1
  assert "these are live" in capsys.readouterr().err


def test_a_name_that_is_not_there_says_which_come_near(file: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
  assert cli.main(["schedule", str(file), "--explain", "reduce-strat.2"]) == 1
  assert "no instruction %reduce-strat.2; did you mean one of %reduce-start.2" in capsys.readouterr().err
  with pytest.raises(KeyError, match=r"has no computation %nothing$"):
    hlo.parse(file.read_text()).find("nothing")


@pytest.mark.parametrize(
  "arguments", [["nowhere.hlo"], ["--device", "abacus", "FILE"], ["--profile", "nowhere", "FILE"], []]
)
def test_what_cannot_be_read_is_exit_code_two(file: pathlib.Path, arguments: list[str]) -> None:
  assert cli.main(["schedule", *(str(file) if a == "FILE" else a for a in arguments)]) == 2


def test_the_rules_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
  assert cli.main(["schedule", "--rules"]) == 0
  assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == [r.name for r in schedule.RULES]


def program(x: jax.Array) -> tuple[jax.Array, ...]:
  return tuple(jnp.sin(x @ (x * k)) for k in range(1, 5))


def entry_order(text: str) -> list[str]:
  return [i.name for i in hlo.parse(text).entry.instructions]


def test_xla_takes_the_order_it_is_given() -> None:
  """A rule that turns the order round, seen in the executable that XLA makes."""
  x = jnp.asarray(np.random.default_rng(0).standard_normal((64, 64)), jnp.float32)
  backwards = schedule.Rule("backwards", lambda c, s: c.node, "the test wants it")
  expected = jax.jit(program)(x)
  with schedule.install(rules=[backwards], budget=0, headroom=100.0, worth=-1) as installed:
    plan_of = installed.schedules
    hook_options = installed.hook.passes[0]
    compiled = jax.jit(program).lower(x).compile()
    got = compiled(x)
  plan = plan_of[-1]
  assert hook_options.name == "schedule" and plan.module.name == "jit_program"
  final = entry_order(compiled.as_text())
  wanted = [i.name for i in plan.order() if i.name in set(final)]
  kept = set(wanted)
  assert [name for name in final if name in kept] == wanted
  for a, b in zip(expected, got):
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_what_xla_may_undo_is_said() -> None:
  module = hlo.parse(offload(2))
  as_it_is = schedule.schedule_module(module, device="h200", headroom=1.0, budget=0)
  notes = schedule.caveats(as_it_is, "gpu")
  assert any("copy-start" in note and "synchronous" in note for note in notes)
  assert "at the same time" in schedule.caveats(as_it_is, "cpu")[-1]


def test_devices_of_jax_have_rows() -> None:
  class Kind:
    platform = "cuda"

    def __init__(self, kind: str) -> None:
      self.device_kind = kind

  assert schedule.device_name(jax.devices()[0]) == "cpu"
  assert [schedule.device_name(Kind(k)) for k in ("NVIDIA H200", "NVIDIA GB200", "NVIDIA A100-SXM4-80GB")] == [
    "h200",
    "gb200",
    "a100",
  ]
  with pytest.raises(hlo.cost.HloDeviceError, match="no row for 'NVIDIA T4'"):
    schedule.device_name(Kind("NVIDIA T4"))


ONE_DEVICE = """HloModule m, is_scheduled=true
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[1024] parameter(0)
 start = f32[1024] all-reduce-start(x), replica_groups={}, to_apply=add
 y = f32[1024] negate(x)
 done = f32[1024] all-reduce-done(start)
 ROOT z = f32[1024] add(done, y) }
"""


def test_a_collective_of_one_device_is_scheduled() -> None:
  from tilewright import hlo

  module = hlo.parse(ONE_DEVICE)
  hlo.schedule.schedule_module(module)
  order = [i.name for i in module.entry.instructions]
  assert sorted(order) == ["done", "start", "x", "y", "z"] and order.index("start") < order.index("done")


def test_the_device_and_the_reason_of_exposed_time() -> None:
  from tilewright import hlo
  from tilewright.cli.schedule import device_of, why_exposed

  chain = ONE_DEVICE.replace("HloModule m,", "HloModule m, replica_count=8,").replace("negate(x)", "negate(done0)")
  chain = chain.replace(" y = f32[1024] negate(done0)\n", "").replace("add(done, y)", "negate(done)")
  module = hlo.parse(chain)
  assert device_of(module) == "h100"
  module.entry.root.backend_config = '{"outer_dimension_partitions":["4"]}'
  assert device_of(module) == "cpu"
  reasons = why_exposed(module, hlo.schedule.schedule_module(module))
  assert "nothing can run beside it" in reasons[0]


def test_starts_as_soon_or_as_late_as_possible(tmp_path: pathlib.Path) -> None:
  """A short transfer beside a long chain of products: it may start anywhere in the first part of it."""
  side = "f32[1024,1024]"
  product = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
  chain = "\n".join(f"  d{k + 1} = {side} dot(d{k}, d{k}), {product}" for k in range(8))
  file = tmp_path / "short.hlo"
  file.write_text(f"""HloModule short, replica_count=4
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT sum = f32[] add(a, b) }}
ENTRY main {{
  x = f32[1024] parameter(0)
  d0 = {side} parameter(1)
  start = f32[1024] all-reduce-start(x), replica_groups={{{{0,1,2,3}}}}, to_apply=add
  done = f32[1024] all-reduce-done(start)
{chain}
  ROOT t = ({side}, f32[1024]) tuple(d8, done)
}}
""")
  places = {}
  for starts in ("asap", "alap"):
    out = tmp_path / f"{starts}.hlo"
    assert cli.main(["schedule", str(file), "--starts", starts, "--out", str(out)]) == 0
    order = [i.name for i in hlo.parse(out.read_text()).entry.instructions]
    places[starts] = order.index("start") - order.index("d1")
  assert places["asap"] < 0 < places["alap"]


def test_the_help_names_all_devices() -> None:
  from tilewright.cli import schedule_arguments

  assert sorted(schedule_arguments.DEVICES) == sorted(hlo.cost.DEVICES)
