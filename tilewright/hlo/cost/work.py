"""The work of an instruction: floating-point operations and bytes moved, from its shapes.

A fusion is inspected: its operations are those of the instructions inside, its bytes those of its operands and results; a
parameter that is only sliced, gathered from or updated in place counts just the part that is touched. Instructions without work
(`FREE`) cost nothing. Callers of computations that are scheduled on their own (loops, calls, branches) are counted by
the scheduler.

    work(dot)      Work(flops=2·m·n·k, bytes=…, matrix_flops=2·m·n·k, element_type="bf16")
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.shape import Shape

FREE = frozenset(
  {
    "parameter",
    "constant",
    "bitcast",
    "tuple",
    "get-tuple-element",
    "after-all",
    "add-dependency",
    "opt-barrier",
    "domain",
    "partition-id",
    "replica-id",
    "async-update",
    "get-dimension-size",
    "set-dimension-size",
  }
)
# Operations per element of functions that take several.
_HEAVY = dict.fromkeys(
  ["exponential", "log", "tanh", "logistic", "sine", "cosine", "power", "erf", "exponential-minus-one", "tan"], 10
) | dict.fromkeys(["divide", "rsqrt", "sqrt", "cbrt", "atan2", "remainder", "log-plus-one"], 5)
_READS_PART = frozenset({"slice", "dynamic-slice", "gather"})


@dataclass(frozen=True, slots=True)
class Work:
  """What one run of an instruction does on one device."""

  flops: float = 0.0
  bytes: float = 0.0
  matrix_flops: float = 0.0  # those of `flops` that matrix units do
  element_type: str = "f32"  # of the matrix products

  def __add__(self, other: Work) -> Work:
    kind = other.element_type if other.matrix_flops > self.matrix_flops else self.element_type
    return Work(self.flops + other.flops, self.bytes + other.bytes, self.matrix_flops + other.matrix_flops, kind)


def work(instruction: Instruction) -> Work:
  """Operations and bytes. Collectives and copies between memories only count what they move."""
  opcode = instruction.opcode
  if opcode in FREE:
    return Work()
  estimated = estimate(instruction) if opcode == "custom-call" else None
  if estimated is not None:
    return estimated
  flops = _flops(instruction)
  return Work(flops.flops, traffic(instruction), flops.matrix_flops, flops.element_type)


def estimate(call: Instruction) -> Work | None:
  """The cost stated by a kernel's author: the frontend attribute `cost_estimate`, or that field of the backend config."""
  config = call.backend_config_json
  found: Any = call.frontend_attributes.get("cost_estimate")
  try:
    found = json.loads(found) if found else None
  except ValueError:
    return None
  for _ in range(3):
    if found is None and isinstance(config, dict):
      found, config = config.get("cost_estimate"), config.get("custom_call_config")
  if not isinstance(found, dict):
    return None
  try:
    flops, others, size = (float(found.get(k, 0)) for k in ("flops", "transcendentals", "bytes_accessed"))
  except (TypeError, ValueError):
    return None
  kind = next((o.shape.element_type for o in call.operands if o.shape.is_array and o.shape.kind == "float"), "f32")
  return Work(flops + 10 * others, size or traffic(call), flops, kind)


# Bytes.


def traffic(instruction: Instruction, known: dict[Computation, float] | None = None) -> float:
  """Bytes read and written in device memory. `known` remembers those of shared computations."""
  match instruction.opcode:
    case "fusion":
      return _fusion_traffic(instruction)
    case "call":
      return computation_traffic(instruction.called_computations[0], known)
    case "dynamic-update-slice":
      return 2.0 * instruction.operands[1].shape.byte_size
    case "dynamic-slice" | "slice" | "gather":
      return 2.0 * instruction.shape.byte_size
    case "scatter":
      updates = instruction.operands[-(len(instruction.operands) // 2) :]
      return 3.0 * sum(u.shape.byte_size for u in updates)
    case "iota" | "broadcast" | "rng-bit-generator":
      return float(instruction.shape.byte_size)
  return float(instruction.shape.byte_size + sum(o.shape.byte_size for o in dict.fromkeys(instruction.operands)))


def computation_traffic(computation: Computation, known: dict[Computation, float] | None = None) -> float:
  """Of instructions that run one after the other."""
  known = {} if known is None else known
  if computation not in known:
    known[computation] = sum(traffic(i, known) for i in computation.instructions if i.opcode not in FREE)
  return known[computation]


def _fusion_traffic(fusion: Instruction) -> float:
  inside = fusion.called_computations[0]
  total = 0.0
  for parameter in inside.parameters:
    users = parameter.users
    if users and all(u.opcode in _READS_PART and u.operands[0] is parameter for u in users):
      total += sum(u.shape.byte_size for u in users)
    elif not (users and all(u.opcode == "dynamic-update-slice" and u.operands[0] is parameter for u in users)):
      total += parameter.shape.byte_size
  outputs = inside.root.operands if inside.root.opcode == "tuple" else (inside.root,)
  for output in outputs:
    while output.opcode in ("bitcast", "copy") and output.operands:
      output = output.operands[0]
    total += (
      2 * output.operands[1].shape.byte_size if output.opcode == "dynamic-update-slice" else output.shape.byte_size
    )
  return total


# Operations.


def _flops(instruction: Instruction, known: dict[Computation, Work] | None = None) -> Work:
  if instruction.opcode in ("fusion", "call"):
    return sum((computation_flops(c, known) for c in instruction.called_computations), Work())
  rule = _RULES.get(instruction.opcode)
  if rule is not None:
    return rule(instruction)
  if instruction.opcode in ELEMENTWISE:
    return Work(instruction.shape.num_elements * _HEAVY.get(instruction.opcode, 1))
  return Work()


def computation_flops(computation: Computation, known: dict[Computation, Work] | None = None) -> Work:
  """Of all its instructions. `known` remembers those of shared computations."""
  known = {} if known is None else known
  if computation not in known:
    known[computation] = sum((_flops(i, known) for i in computation.instructions if i.opcode not in FREE), Work())
  return known[computation]


def _product(shape: Shape, dims: Iterable[int]) -> int:
  return math.prod(shape.dimensions[d] for d in dims)


def _matmul(element_type: str, flops: float) -> Work:
  return Work(flops, 0.0, flops, element_type)


def _dot(dot: Instruction) -> Work:
  left = dot.operands[0].shape
  contracted = _product(left, dot.attrs.get("lhs_contracting_dims", ()))
  return _matmul(left.element_type, 2.0 * dot.shape.num_elements * contracted)


def _ragged_dot(dot: Instruction) -> Work:
  left = dot.operands[0].shape
  return _matmul(left.element_type, 2.0 * dot.shape.num_elements * left.dimensions[-1])


def _convolution(conv: Instruction) -> Work:
  left, kernel = conv.operands[0].shape, conv.operands[1].shape
  labels: Any = conv.attrs.get("dim_labels")
  features = kernel.dimensions[labels.kernel_output_feature] if labels is not None else 1
  per_output = kernel.num_elements / max(features, 1)
  return _matmul(left.element_type, 2.0 * conv.shape.num_elements * per_output)


def _reduction(instruction: Instruction) -> Work:
  return Work(float(sum(o.shape.num_elements for o in instruction.operands)))


def _sort(instruction: Instruction) -> Work:
  elements = max((o.shape.num_elements for o in instruction.operands), default=0)
  return Work(elements * max(1.0, math.log2(max(elements, 2))) * 2)


def _cubic(instruction: Instruction) -> Work:
  shape = instruction.operands[0].shape
  return Work(shape.num_elements * (shape.dimensions[-1] if shape.dimensions else 1) / 3)


def _fft(instruction: Instruction) -> Work:
  elements = instruction.operands[0].shape.num_elements
  return Work(5.0 * elements * math.log2(max(elements, 2)))


def _custom_call(call: Instruction) -> Work:
  """Products that XLA hands to libraries: `__cublas$gemm` and its relatives, cuDNN's attention."""
  target = str(call.attrs.get("custom_call_target", ""))
  arrays = [o.shape for o in call.operands if o.shape.is_array and o.shape.rank >= 2]
  if ("gemm" in target or "matmul" in target or "dot" in target) and len(arrays) >= 2:
    result = next((s for _, s in call.shape.leaves() if s.is_array), call.shape)
    contracted = _contracted_by_config(call, arrays[0])
    return _matmul(arrays[0].element_type, 2.0 * result.num_elements * contracted)
  if "fmha" in target and len(arrays) >= 2:
    query, key = arrays[0], arrays[1]
    rows = key.dimensions[1] if key.rank == 4 else key.dimensions[0]
    backward = 2.5 if "ackward" in target else 1.0
    return _matmul(query.element_type, 4.0 * query.num_elements * rows * backward)
  return Work(float(sum(o.shape.num_elements for o in call.operands)))


def _contracted_by_config(call: Instruction, left: Shape) -> int:
  config = call.backend_config_json
  gemm = config.get("gemm_backend_config", config) if isinstance(config, dict) else {}
  numbers = gemm.get("dot_dimension_numbers", {}) if isinstance(gemm, dict) else {}
  dims = [int(d) for d in numbers.get("lhs_contracting_dimensions", [])]
  return _product(left, dims) if dims and max(dims) < left.rank else left.dimensions[-1]


_RULES: dict[str, Callable[[Instruction], Work]] = {
  "dot": _dot,
  "ragged-dot": _ragged_dot,
  "scaled-dot": _dot,
  "convolution": _convolution,
  "custom-call": _custom_call,
  "reduce": _reduction,
  "reduce-window": _reduction,
  "select-and-scatter": _reduction,
  "scatter": _reduction,
  "sort": _sort,
  "topk": _sort,
  "cholesky": _cubic,
  "triangular-solve": _cubic,
  "fft": _fft,
  "rng": lambda i: Work(10.0 * i.shape.num_elements),
  "rng-bit-generator": lambda i: Work(30.0 * sum(s.num_elements for _, s in i.shape.leaves())),
}
