"""Every opcode of HLO, and the families of opcodes that rules and passes query."""

from __future__ import annotations

ELEMENTWISE_UNARY = frozenset(
  [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atanh",
    "cbrt",
    "ceil",
    "count-leading-zeros",
    "convert",
    "bitcast-convert",
    "copy",
    "cosine",
    "cosh",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "real",
    "reduce-precision",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
  ]
)
ELEMENTWISE_BINARY = frozenset(
  [
    "add",
    "atan2",
    "compare",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "mulhi",
    "multiply",
    "power",
    "remainder",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "subtract",
    "and",
    "or",
    "xor",
    "stochastic-convert",
  ]
)
ELEMENTWISE_TERNARY = frozenset({"clamp", "select"})
ELEMENTWISE = ELEMENTWISE_UNARY | ELEMENTWISE_BINARY | ELEMENTWISE_TERNARY

# Collectives, and the halves of those that have start/done forms of their own.
COLLECTIVES = frozenset(
  [
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "collective-reduce",
    "ragged-all-to-all",
    "reduce-scatter",
    "all-gather-start",
    "all-reduce-start",
    "collective-permute-start",
  ]
)
STARTS = frozenset({"all-gather-start", "all-reduce-start", "async-start", "collective-permute-start", "copy-start"})
DONES = frozenset({"all-gather-done", "all-reduce-done", "async-done", "collective-permute-done", "copy-done"})
# Side effects: must not be removed or reordered across one another even if the result is unused.
SIDE_EFFECTS = frozenset(
  [
    "infeed",
    "outfeed",
    "send",
    "send-done",
    "recv",
    "recv-done",
    "rng",
    "rng-get-and-update-state",
    "all-gather-start",
    "all-gather-done",
    "all-reduce-start",
    "all-reduce-done",
    "collective-permute-start",
    "collective-permute-done",
    "domain",
  ]
)

OTHERS = frozenset(
  [
    "add-dependency",
    "after-all",
    "all-gather-done",
    "all-reduce-done",
    "async-done",
    "async-start",
    "async-update",
    "batch-norm-grad",
    "batch-norm-inference",
    "batch-norm-training",
    "bitcast",
    "broadcast",
    "call",
    "cholesky",
    "collective-permute-done",
    "concatenate",
    "conditional",
    "constant",
    "convolution",
    "copy-done",
    "copy-start",
    "custom-call",
    "domain",
    "dot",
    "dynamic-reshape",
    "dynamic-slice",
    "dynamic-update-slice",
    "fft",
    "fusion",
    "gather",
    "get-dimension-size",
    "get-tuple-element",
    "infeed",
    "iota",
    "map",
    "opt-barrier",
    "outfeed",
    "pad",
    "parameter",
    "partition-id",
    "ragged-dot",
    "recv",
    "recv-done",
    "reduce",
    "reduce-window",
    "replica-id",
    "reshape",
    "reverse",
    "rng",
    "rng-bit-generator",
    "rng-get-and-update-state",
    "scaled-dot",
    "scan",
    "scatter",
    "select-and-scatter",
    "send",
    "send-done",
    "set-dimension-size",
    "slice",
    "sort",
    "topk",
    "transpose",
    "triangular-solve",
    "tuple",
    "while",
  ]
)
OPCODES = ELEMENTWISE | COLLECTIVES | OTHERS

# How many operands, where the number is fixed.
ARITY: dict[str, int] = {
  **dict.fromkeys(ELEMENTWISE_UNARY, 1),
  **dict.fromkeys(ELEMENTWISE_BINARY, 2),
  **dict.fromkeys(ELEMENTWISE_TERNARY, 3),
  **dict.fromkeys(["constant", "parameter", "iota", "partition-id", "replica-id", "rng-get-and-update-state"], 0),
  **dict.fromkeys(
    [
      "async-done",
      "async-update",
      "bitcast",
      "broadcast",
      "cholesky",
      "copy-done",
      "copy-start",
      "domain",
      "fft",
      "get-dimension-size",
      "get-tuple-element",
      "opt-barrier",
      "recv",
      "recv-done",
      "reshape",
      "reverse",
      "rng-bit-generator",
      "send-done",
      "slice",
      "topk",
      "transpose",
      "while",
      "all-gather-done",
      "all-reduce-done",
      "collective-permute-done",
      "infeed",
    ],
    1,
  ),
  **dict.fromkeys(
    ["add-dependency", "convolution", "dot", "gather", "outfeed", "pad", "send", "set-dimension-size"], 2
  ),
  **dict.fromkeys(["triangular-solve"], 2),
  **dict.fromkeys(["batch-norm-training", "ragged-dot", "select-and-scatter"], 3),
  **dict.fromkeys(["scaled-dot"], 4),
  **dict.fromkeys(["batch-norm-grad", "batch-norm-inference"], 5),
}


def async_sugar(opcode: str) -> tuple[str, str] | None:
  """`custom-call-start` → (`async-start`, `custom-call`): the text's spelling of an async pair around one instruction."""
  for suffix in ("-start", "-update", "-done"):
    if opcode.endswith(suffix):
      wrapped = opcode.removesuffix(suffix)
      return ("async" + suffix, wrapped) if wrapped in OPCODES and opcode not in OPCODES else None
  return None
