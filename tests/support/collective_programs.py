"""Programs of single collectives."""

from __future__ import annotations

from tests.hlo.collective_checks import ADD

ALL = "replica_groups={{0,1,2,3}}"
HALVES = "replica_groups={{0,1},{2,3}}"


def program(body: str, header: str = "replica_count=4", extra: str = "") -> str:
  parameters = "x = f32[8,4] parameter(0)\n  y = f32[8,4] parameter(1)"
  return f"HloModule m, {header}\n{ADD}\n{extra}\nENTRY main {{\n  {parameters}\n  {body}\n}}"


PARTITIONS = "replica_count=1, num_partitions=4"
COLLECTIVES = {
  "all-reduce": f"ROOT r = f32[8,4] all-reduce(x), {ALL}, to_apply=add",
  "all-reduce of two": f"ROOT r = (f32[8,4], f32[8,4]) all-reduce(x, y), {HALVES}, to_apply=add",
  "all-gather": f"ROOT r = f32[32,4] all-gather(x), {ALL}, dimensions={{0}}",
  "all-gather of two": f"ROOT r = (f32[16,4], f32[16,4]) all-gather(x, y), {HALVES}, dimensions={{0}}",
  "collective-permute": "ROOT r = f32[8,4] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,0}}",
  "reduce-scatter": f"ROOT r = f32[2,4] reduce-scatter(x), {ALL}, dimensions={{0}}, to_apply=add",
  "all-to-all": f"ROOT r = f32[8,4] all-to-all(x), {ALL}, dimensions={{0}}",
}


def permute(pairs: str) -> str:
  return program(f"ROOT r = f32[8,4] collective-permute(x), channel_id=1, source_target_pairs={pairs}", PARTITIONS)
