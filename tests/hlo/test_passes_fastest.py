"""`fastest`: of several lists of passes the one that pays by the platform's cost model, or none."""

from __future__ import annotations

import pytest
from collective_checks import assert_same, random_arguments

from tests.support.pipelined_loops import AR, Layers
from tilewright import hlo
from tilewright.hlo.passes.base import HloPassError
from tilewright.hlo.passes.fastest import Fastest
from tilewright.hlo.passes.manager import run_passes

# What a trip sums up is known at its end: it can only be hidden behind the next trip.
HEAVY = f"""x0 = f32[1024,1024] dot(h, h), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  x = f32[1024,1024] dot(x0, h), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  h1 = f32[1024,1024] tanh(x) r = f32[1024,1024] all-reduce(h1), {AR} u = f32[1,1024,1024] reshape(r)
  buf1 = f32[5,1024,1024] dynamic-update-slice(buf, u, i, zero, zero)"""
PIPELINED = "collective_pipeliner+dce"


def heavy() -> hlo.Module:
  text = str(Layers(HEAVY)).replace("f32[4]", "f32[1024,1024]").replace("f32[5,4]", "f32[5,1024,1024]")
  return hlo.parse(text)


def has_changed(module: hlo.Module, item: hlo.Pass) -> bool:
  before = module.to_text()
  report = run_passes(module, [item], verify=True)
  assert report.changed == (module.to_text() != before)
  return report.changed


def test_a_pass_runs_where_it_pays() -> None:
  assert has_changed(heavy(), Fastest(PIPELINED, device="h100"))


def test_a_module_stays_as_it_is_where_collectives_are_waited_for() -> None:
  assert not has_changed(heavy(), Fastest(PIPELINED, device="cpu"))


def test_the_list_that_saves_most_is_taken() -> None:
  def slower(module: hlo.Module) -> bool:
    (x,) = (p for p in module.entry.parameters if p.shape.dimensions == (1024, 1024))
    twice = hlo.Builder(module.entry, before=module.entry.instructions[-1])
    work = twice.op("dot", (x, x), x.shape, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    x.frontend_attributes = {"seen": "slower"}
    module.entry.root.add_control_predecessor(work)
    return True

  def nothing(module: hlo.Module) -> bool:
    return False

  module = heavy()
  run_passes(module, [Fastest(((nothing,), (slower,), ("collective_pipeliner", "dce")), device="h100")])
  assert not any(i.frontend_attributes for i in module.entry.parameters)
  assert hlo.run_passes(heavy(), ["collective_pipeliner", "dce"]).changed
  assert sum(i.opcode == "all-reduce" for i in module.entry.instructions) == 1  # the last trip's


def test_a_gain_must_be_worth_it() -> None:
  assert not has_changed(heavy(), Fastest(PIPELINED, device="h100", worth=0.99))


def test_values_are_those_of_the_chosen_passes() -> None:
  module = hlo.parse(f"""HloModule small, replica_count=4
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
ENTRY main {{
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  r = f32[4] all-reduce(x), {AR}
  q = f32[4] all-reduce(y), {AR}
  ROOT t = f32[4] multiply(r, q)
}}""")
  arguments = random_arguments(module, 4)
  before = hlo.evaluate_devices(module, arguments)
  report = run_passes(module, ["fastest{lists=combine_collectives+dce,device=cpu}"], verify=True)
  assert report.changed and sum(i.opcode == "all-reduce" for i in module.entry.instructions) == 1
  assert_same(before, hlo.evaluate_devices(module, arguments), 0)


@pytest.mark.parametrize("device", ["h100", "cpu"])
def test_without_lists_it_tries_the_usual_ones(device: str) -> None:
  assert has_changed(heavy(), Fastest(device=device)) == (device == "h100")


def test_options_are_checked() -> None:
  with pytest.raises(HloPassError, match="lists"):
    Fastest("").run(heavy())
  with pytest.raises(HloPassError, match="no pass called"):
    Fastest("not_there").run(heavy())


def test_nothing_is_evaluated_on_the_module_itself() -> None:
  """A list that does not pay leaves no trace: neither names nor order."""
  module = heavy()
  text = module.to_text()
  order = [i.name for i in module.entry.instructions]
  Fastest("all_reduce_splitter|collective_pipeliner{direction=backward}", device="cpu").run(module)
  assert module.to_text() == text and [i.name for i in module.entry.instructions] == order
