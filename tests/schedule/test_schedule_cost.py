"""What instructions cost: operations and bytes from shapes, collectives from links, times from profiles."""

from __future__ import annotations

import gzip
import json
import pathlib

import jax
import jax.numpy as jnp
import pytest
from gpu_modules import data_parallel
from hypothesis import given
from hypothesis import strategies as st

from tilewright import hlo
from tilewright.hlo import cost
from tilewright.hlo.cost.collectives import participants
from tilewright.hlo.cost.profile import covered, union


def one(text: str, header: str = "", before: str = "") -> hlo.Instruction:
  module = hlo.parse(f"HloModule m{header}\n{before}\nENTRY %main {{\n{text}\n}}\n")
  return module.entry.root


def test_a_product_does_two_operations_per_multiplication() -> None:
  dot = one("""
    %a = bf16[4,64,32] parameter(0)
    %b = bf16[4,32,16] parameter(1)
    ROOT %c = bf16[4,64,16] dot(%a, %b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}""")
  found = cost.work(dot)
  assert found.flops == found.matrix_flops == 2 * 4 * 64 * 16 * 32
  assert found.bytes == 2 * 4 * (64 * 32 + 32 * 16 + 64 * 16)
  assert found.element_type == "bf16"


FUSED = """
%inside (p: f32[1000,64], i: s32[]) -> f32[1,64] {
  %p = f32[1000,64] parameter(0)
  %i = s32[] parameter(1)
  %z = s32[] constant(0)
  %s = f32[1,64] dynamic-slice(%p, %i, %z), dynamic_slice_sizes={1,64}
  ROOT %e = f32[1,64] exponential(%s)
}
"""


def test_a_fusion_reads_only_the_slice_it_takes() -> None:
  fusion = one(
    """
    %x = f32[1000,64] parameter(0)
    %k = s32[] parameter(1)
    ROOT %f = f32[1,64] fusion(%x, %k), kind=kLoop, calls=%inside""",
    before=FUSED,
  )
  found = cost.work(fusion)
  assert found.bytes == 4 * 64 + 4 + 4 * 64
  assert found.flops >= 64


def test_asynchronous_computation_is_looked_into_through_calls() -> None:
  before = """
%products (a: bf16[2048,2048]) -> bf16[2048,2048] {
  %a = bf16[2048,2048] parameter(0)
  %b = bf16[2048,2048] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %c = bf16[2048,2048] dot(%b, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
%wrapped (p: bf16[2048,2048]) -> bf16[2048,2048] {
  %p = bf16[2048,2048] parameter(0)
  ROOT %k = bf16[2048,2048] call(%p), to_apply=%products
}
"""
  done = one(
    """
    %x = bf16[2048,2048] parameter(0)
    %s = ((bf16[2048,2048]), bf16[2048,2048]) async-start(%x), calls=%wrapped
    ROOT %d = bf16[2048,2048] async-done(%s)""",
    before=before,
  )
  rate = cost.device("h200").matmul_rate("bf16")
  assert cost.Roofline("h200").cost(done.operands[0]).seconds == pytest.approx(2 * 2 * 2048**3 / rate)


def test_a_kernel_takes_the_longest_of_operations_bytes_and_launch() -> None:
  h100 = cost.device("h100")
  big = one("""
    %a = bf16[8192,8192] parameter(0)
    ROOT %c = bf16[8192,8192] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}""")
  wide = one("""
    %a = f32[16384,16384] parameter(0)
    ROOT %c = f32[16384,16384] add(%a, %a)""")
  tiny = one("""
    %a = f32[4] parameter(0)
    ROOT %c = f32[4] add(%a, %a)""")
  model = cost.Roofline("h100")
  assert model.cost(big).bound == "compute"
  assert model.cost(big).seconds == pytest.approx(2 * 8192**3 / (989e12 * h100.matmul_efficiency))
  assert model.cost(wide).bound == "memory"
  assert model.cost(tiny) == cost.Cost(h100.launch, "launch", model.cost(tiny).why)


@pytest.mark.parametrize("name", cost.DEVICES)
def test_every_device_has_positive_rates_and_survives_json(name: str) -> None:
  device = cost.DEVICES[name]
  assert min(device.flops.values()) > 0 and device.memory_bandwidth > 0 and device.memory > 0 and device.node >= 1
  assert cost.Device.from_json(device.to_json()) == device
  assert device.matmul_rate("bf16") >= device.matmul_rate("f64") * 0.5


def test_unknown_devices_are_named_with_the_known_ones() -> None:
  with pytest.raises(cost.HloDeviceError, match="no device called 'h1000'; there are a100, h100"):
    cost.device("h1000")


@given(
  st.sampled_from(sorted(cost.ALGORITHMS)),
  st.integers(1, 10),
  st.floats(1, 1e10),
  st.sampled_from(sorted(cost.DEVICES)),
)
def test_collectives_take_longer_with_more_bytes_and_not_less_with_more_nodes(
  opcode: str, power: int, size: float, name: str
) -> None:
  device = cost.device(name)
  group = (tuple(range(2**power)),)
  small = cost.collective_time(opcode, size, group, device).seconds
  assert cost.collective_time(opcode, 2 * size, group, device).seconds > small > 0
  spread = (tuple(i * device.node for i in range(2**power)),)
  assert cost.collective_time(opcode, size, spread, device).seconds >= small


def test_a_ring_moves_twice_the_message_less_one_part() -> None:
  device = cost.device("h100")
  size = 1e9
  taken = cost.collective_time("all-reduce", size, (tuple(range(8)),), device).seconds
  assert taken == pytest.approx(2 * 7 / 8 * size / device.scale_up.bandwidth, rel=0.01)


def test_groups_grow_or_repeat_on_more_devices() -> None:
  module = hlo.parse(data_parallel(1))
  start = module.find_instruction("reduce-start.0")
  assert participants(start, module, 32) == (tuple(range(32)),)
  start.attrs["replica_groups"] = hlo.ListGroups(((0, 1, 2, 3), (4, 5, 6, 7)))
  assert participants(start, module, 16) == ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11), (12, 13, 14, 15))


def test_measured_times_come_before_the_model() -> None:
  module = hlo.parse(data_parallel(2))
  model = cost.Measured({"grad.0": 0.5}, cost.Roofline("h100"))
  assert model.cost(module.find_instruction("grad.0")) == cost.Cost(0.5, "measured", "taken from a profile")
  assert model.cost(module.find_instruction("grad.1")).seconds < 0.01


def gpu_trace(path: pathlib.Path) -> None:
  """As the profiler writes it on a GPU: a stream of kernels, a stream of copies, and a derived line."""

  def kernel(tid: int, name: str, ts: float, dur: float, op: str) -> dict:
    return {
      "ph": "X",
      "pid": 1,
      "tid": tid,
      "name": name,
      "ts": ts,
      "dur": dur,
      "args": {"hlo_op": op, "hlo_module": "jit_step"},
    }

  events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}]
  for tid, name in ((1, "Stream #17(Compute)"), (2, "Stream #20(MemcpyH2D)"), (3, "XLA Ops")):
    events.append({"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}})
  for run in range(2):
    t = run * 1000.0
    events += [kernel(1, "gemm", t, 100.0, "dot.1"), kernel(1, "splitk", t + 100, 20.0, "dot.1")]
    events += [kernel(2, "MemcpyH2D", t + 60, 100.0, "copy-start.1"), kernel(3, "dot.1", t, 120.0, "dot.1")]
  (path / "plugins" / "profile" / "x").mkdir(parents=True)
  with gzip.open(path / "plugins" / "profile" / "x" / "host.trace.json.gz", "wt") as file:
    json.dump({"traceEvents": events}, file)


def test_a_profile_gives_times_order_and_overlap(tmp_path: pathlib.Path) -> None:
  gpu_trace(tmp_path)
  profile = cost.read_profile(tmp_path, module="jit_step")
  assert profile.seconds() == pytest.approx({"dot.1": 120e-6, "copy-start.1": 100e-6})
  assert profile.order() == ["dot.1", "copy-start.1"]
  overlap = profile.overlap()
  assert overlap.transfers == pytest.approx(200e-6) and overlap.hidden == pytest.approx(120e-6)
  assert overlap.exposed == pytest.approx(80e-6)


def test_a_profile_of_this_machine_names_instructions(tmp_path: pathlib.Path) -> None:
  x = jnp.ones((256, 256))
  step = jax.jit(lambda x: jnp.sin(x @ x).sum())
  jax.block_until_ready(step(x))
  text = step.lower(x).compile().as_text()
  with jax.profiler.trace(str(tmp_path)):
    jax.block_until_ready(step(x))
  seconds = cost.read_profile(tmp_path).seconds()
  names = {i.name for i in hlo.parse(text).instructions()}
  assert seconds and set(seconds) & names and all(t >= 0 for t in seconds.values())


def test_a_folder_without_a_profile_is_an_error(tmp_path: pathlib.Path) -> None:
  with pytest.raises(cost.HloProfileError, match=r"holds no \*.trace.json.gz"):
    cost.read_profile(tmp_path)


intervals = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted).map(tuple), max_size=8)


@given(intervals, st.integers(0, 50), st.integers(0, 20))
def test_covered_length_counts_every_point_once(pieces: list[tuple[int, int]], begin: int, length: int) -> None:
  expected = sum(any(a <= t < b for a, b in pieces) for t in range(begin, begin + length))
  assert covered(union(pieces), begin, begin + length) == expected


def test_a_calibrated_device_has_rates_of_its_own_and_schedules_modules(tmp_path: pathlib.Path) -> None:
  from tilewright.hlo.cost.calibrate import calibrate

  device = calibrate(seconds=0.01)
  assert device.scale_up.name == "measured" and device.scale_up.bandwidth > 0 and device.scale_up.latency > 0
  assert min(device.flops["f32"], device.flops["bf16"], device.vector_flops, device.memory_bandwidth, device.launch) > 0
  file = tmp_path / "machine.json"
  file.write_text(device.to_json())
  assert cost.device(str(file)) == device
  assert hlo.schedule.schedule_module(hlo.parse(data_parallel(2)), device=device).seconds > 0
