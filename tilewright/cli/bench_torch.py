"""The memory-bound rows of `tilewright bench gpu` in PyTorch, compiled by `torch.compile`: the other peer. Needs torch with CUDA.

compiled("softmax", values)   a call that says how long one of many queued calls took; the values are JAX's arrays, not copied
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tilewright.cli.bench import Call, Measured
from tilewright.cli.bench_queue import SETS, time_of_one


def _softmax(torch: Any, x: Any) -> Any:
  return torch.softmax(x.float(), 1).to(x.dtype)


def _rms_norm(torch: Any, x: Any, w: Any) -> Any:
  y = x.float()
  return (y * torch.rsqrt(y.square().mean(1, keepdim=True) + 1e-6) * w.float()).to(x.dtype)


def _layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
  return torch.nn.functional.layer_norm(x.float(), x.shape[1:], w.float(), b.float(), 1e-6).to(x.dtype)


def _gelu_gate(torch: Any, x: Any, g: Any) -> Any:
  return (torch.nn.functional.gelu(x.float(), approximate="tanh") * g.float()).to(x.dtype)


def _cross_entropy(torch: Any, x: Any, labels: Any) -> Any:
  return torch.nn.functional.cross_entropy(x.float(), labels.long(), reduction="none")


def _rotary(torch: Any, x: Any, cos: Any, sin: Any) -> Any:
  a, b = x.float().chunk(2, -1)
  c, s = cos[:, None], sin[:, None]
  return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


PROGRAMS: dict[str, Callable[..., Any]] = {
  "softmax": _softmax,
  "rms_norm": _rms_norm,
  "layer_norm": _layer_norm,
  "gelu times gate": _gelu_gate,
  "cross_entropy": _cross_entropy,
  "rotary": _rotary,
  "cast": lambda torch, x: x.float(),
  "transpose": lambda torch, x: x.t().contiguous(),
}


def compiled(name: str, values: Callable[[], tuple[Any, ...]]) -> Call:
  """The time of one call of many of a program, compiled."""
  torch = importlib.import_module("torch")
  sets = [[torch.from_dlpack(v) for v in values()] for _ in range(SETS)]
  program = PROGRAMS[name]
  function = torch.compile(lambda *args: program(torch, *args), dynamic=False)
  function(*sets[0])
  torch.cuda.synchronize()

  enqueue = lambda: [function(*tensors) for tensors in sets]
  return lambda: Measured(time_of_one(enqueue, lambda _: torch.cuda.synchronize()) / SETS)
