"""Products that XLA:GPU has handed to cuBLAS, read as the products that they are.

    %c = (bf16[8,64,64], s8[33554432]) custom-call(%q, %k), custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":
      {"alpha_real":0.125,"beta":0,"epilogue":"DEFAULT","dot_dimension_numbers":{...}}}          means  0.125 · dot(q, k)

A call that does more, such as adding a bias or a matrix, scaling 8-bit floats, or a complex factor, is none of these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tilewright.hlo import Instruction, Module

TARGETS = frozenset({"__cublas$gemm", "__cublas$lt$matmul"})
Dims = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class GemmCall:
  """A product times a factor. Dimensions are those that are contracted, and those of the batch, of both operands."""

  contract: tuple[Dims, Dims]
  batch: tuple[Dims, Dims]
  precision: tuple[str, ...]
  alpha: float


def is_gemm(instruction: Instruction) -> bool:
  return instruction.opcode == "custom-call" and instruction.attrs.get("custom_call_target") in TARGETS


def read(instruction: Instruction) -> GemmCall | None:
  """What a call computes, if it is a product of two operands and nothing else."""
  config = instruction.backend_config_json
  gemm = config.get("gemm_backend_config", config) if isinstance(config, dict) else None
  if not is_gemm(instruction) or not isinstance(gemm, dict) or len(instruction.operands) != 2:
    return None
  numbers = gemm.get("dot_dimension_numbers")
  is_plain = gemm.get("beta", 0) == 0 and gemm.get("alpha_imag", 0) == 0 and gemm.get("scale_mode", 0) == 0
  if not isinstance(numbers, dict) or not is_plain or gemm.get("epilogue", "DEFAULT") != "DEFAULT":
    return None
  dims = lambda name: tuple(int(d) for d in numbers.get(name, ()))
  sides = lambda kind: (dims(f"lhs_{kind}_dimensions"), dims(f"rhs_{kind}_dimensions"))
  precision: Any = (gemm.get("precision_config") or {}).get("operand_precision", ())
  return GemmCall(
    sides("contracting"), sides("batch"), tuple(p.lower() for p in precision), gemm.get("alpha_real", 1.0)
  )


def as_dots(module: Module, most_rows: int) -> dict[Instruction, Instruction]:
  """Put a dot in the place of each call with few rows, whose value the dot is mapped to; `put_back` undoes it."""
  found: dict[Instruction, Instruction] = {}
  for call in [i for i in module.instructions() if is_gemm(i)]:
    gemm = read(call)
    value = call
    if call.shape.is_tuple:
      if len(call.users) != 1 or call.users[0].opcode != "get-tuple-element":
        continue
      (value,) = call.users
    if gemm is None or gemm.alpha != 1.0 or value.shape.is_tuple or call.parent is None:
      continue
    count = len(gemm.batch[0])
    if min(value.shape.dimensions[count:], default=0) > most_rows:
      continue
    kinds = (("contracting", gemm.contract), ("batch", gemm.batch))
    attrs = {f"{side}_{kind}_dims": dims[n] for kind, dims in kinds for n, side in enumerate(("lhs", "rhs")) if dims[n]}
    dot = Instruction("dot", "dot", value.shape, call.operands, attrs, call.metadata)
    call.parent.insert(dot, before=value)
    value.replace_all_uses_with(dot)
    found[dot] = value
  return found


def put_back(dots: Mapping[Instruction, Instruction]) -> list[Instruction]:
  """The calls again, where dots are left; returns the values of the calls that nothing needs any more."""
  gone = []
  for dot, value in dots.items():
    if dot.parent is None:
      gone.append(value)
      continue
    dot.replace_all_uses_with(value)
    dot.parent.remove(dot)
  return gone
