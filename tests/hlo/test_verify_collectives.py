"""The verifier refuses the collectives that XLA's refuses, and no more."""

from __future__ import annotations

import pytest

from tilewright import hlo

SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"


def problems(instruction: str, header: str = "replica_count=4") -> str:
  text = f"HloModule m, {header}\n{SUM}ENTRY e {{ x = f32[4,8] parameter(0)\n ROOT y = {instruction} }}"
  return "; ".join(hlo.problems(hlo.parse(text)))


@pytest.mark.parametrize(
  "instruction, reason",
  [
    ("f32[4,8] all-reduce(x), replica_groups={{0,1},{1,2}}, to_apply=sum", "more than once"),
    ("f32[4,8] all-reduce(x), replica_groups={{0,1},{2,7}}, to_apply=sum", "device 7 does not exist"),
    ("f32[4,8] all-reduce(x), replica_groups={{0,1}}, to_apply=sum", "device 2 is missing"),
    ("f32[4,8] all-reduce(x), replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=sum", "channel_id"),
    ("f32[16,8] all-gather(x), replica_groups={{0,1},{2,3}}, dimensions={0}", "2 devices meet"),
    ("f32[8,8] all-gather(x), replica_groups={{0,1},{2,3}}, dimensions={1}", "only dimension 1"),
    ("f32[8,8] all-gather(x), replica_groups={{0,1},{2,3}}, dimensions={2}", "no dimension 2"),
    ("f32[8,8] all-gather(x), replica_groups={{0,1,2},{3}}, dimensions={0}", "different sizes"),
    ("f32[1,8] reduce-scatter(x), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=sum", "2 times smaller"),
    ("f32[4,8] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={5}", "no dimension 5"),
    ("f32[4,8] collective-permute(x), source_target_pairs={{0,1},{1,4}}", "target 4"),
    ("f32[4,8] collective-permute(x), source_target_pairs={{0,1},{0,2}}", "more than once"),
  ],
)
def test_what_xla_refuses(instruction: str, reason: str) -> None:
  assert reason in problems(instruction)


@pytest.mark.parametrize(
  "instruction, header",
  [
    ("f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum", "replica_count=4"),
    ("f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum", "is_scheduled=true"),  # counts not given
    ("f32[4,8] all-reduce(x), replica_groups={}, to_apply=sum", "replica_count=4"),
    (
      "f32[16,8] all-gather(x), channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}",
      "replica_count=4, num_partitions=2",
    ),
    (
      "f32[8,8] all-gather(x), channel_id=1, replica_groups=[4,2]<=[8], dimensions={0}, use_global_device_ids=true",
      "num_partitions=8",
    ),
    ("f32[1,8] reduce-scatter(x), replica_groups={}, dimensions={0}, to_apply=sum", "replica_count=4"),
    ("f32[4,8] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}", "num_partitions=2"),
    ("f32[4,8] collective-broadcast(x), replica_groups={{1,0}}", "replica_count=4"),
    ("f32[4,8] broadcast(f32[] constant(1))", "replica_count=4"),
  ],
)
def test_what_xla_accepts(instruction: str, header: str) -> None:
  assert problems(instruction, header) == ""
