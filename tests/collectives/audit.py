"""Every collective, dtype, reduction and split of 8 devices, against NumPy.

    python -m tests.collectives.audit                   8 devices of this process
    python -m tests.collectives.audit --processes 4     2 devices of each of 4
    python -m tests.collectives.audit --dtype int4 --split uneven

The collectives of one dtype and one split are one program. Sums are exact in float32, so that all orders of adding give the same: what is
compared is which elements are combined, and how often they are rounded (once, at the end).
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Callable
from typing import Any

if __name__ == "__main__" and "--processes" not in sys.argv:
  os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import jax
import ml_dtypes
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from tests.support import child_processes
from tilewright import collectives

N, COLUMNS = 8, 5
SPLITS: dict[str, list[list[int]] | None] = {
  "whole": None,
  "halves": [[0, 1, 2, 3], [4, 5, 6, 7]],
  "uneven": [[0, 1, 2, 3, 4], [], [6, 5]],
  "mixed": [[7, 0, 3], [1, 5, 2], [4]],
  "alone": [[i] for i in range(N)],
}
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)]
FP8 = [
  f"float8_{kind}" for kind in ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
]
FLOATS = [*FP8, "float4_e2m1fn", "bfloat16", "float16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]
ALGORITHMS = ("one_shot", "two_shot", "ring")
REDUCE: dict[str, Any] = {
  "sum": np.add,
  "max": np.maximum,
  "min": np.minimum,
  "and": np.bitwise_and,
  "or": np.bitwise_or,
}


def dtype_of(name: str) -> np.dtype:
  return np.dtype(getattr(ml_dtypes, name, None) or name)


def reductions(name: str) -> tuple[str, ...]:
  if name.startswith("complex"):
    return ("sum",)
  return ("sum", "max", "min") if name in FLOATS else tuple(REDUCE)


def numbers(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
  """Numbers over the range of a dtype, or, of floats, multiples of 1/64 that add up exactly."""
  rng = np.random.default_rng(seed)
  dtype = dtype_of(name)
  if name == "bool":
    return rng.integers(0, 2, shape).astype(bool)
  if name in INTEGERS:
    info = ml_dtypes.iinfo(dtype) if int(name.split("int")[1]) < 8 else np.iinfo(dtype)
    return rng.integers(int(info.min), int(info.max) + 1, shape, np.uint64 if name == "uint64" else np.int64).astype(
      dtype
    )
  if name.startswith("complex"):
    parts = rng.integers(-512, 512, (2, *shape)) / 64
    return (parts[0] + 1j * parts[1]).astype(dtype)
  if name == "float8_e8m0fnu":
    return (2.0 ** rng.integers(-5, 6, shape)).astype(dtype)
  return (rng.integers(-512, 512, shape) / 64).astype(dtype)


def reduced(parts: np.ndarray, op: str, name: str) -> np.ndarray:
  """What some arrays give, rounded once."""
  if name == "bool":
    return parts.sum(0, dtype=np.int32) if op == "sum" else REDUCE[op].reduce(parts, axis=0)
  if name in INTEGERS:
    bits, signed = int(name.split("int")[1]), name.startswith("int")
    whole = parts.astype(np.uint64 if name == "uint64" else np.int64)
    total = REDUCE[op].reduce(whole, axis=0)
    if bits < 8:  # wraps around
      total = total & ((1 << bits) - 1)
      total = np.where(total >> (bits - 1), total - (1 << bits), total) if signed else total
    return total.astype(dtype_of(name))
  wide = {"float64": np.float64, "complex64": np.complex64, "complex128": np.complex128}.get(name, np.float32)
  return REDUCE[op].reduce(parts.astype(wide), axis=0).astype(dtype_of(name))


@dataclasses.dataclass(frozen=True)
class Case:
  """A collective: what a device calls, and what it should give on a device."""

  title: str
  call: Callable[[jax.Array], jax.Array]
  expected: Callable[[int], np.ndarray]


def cases(name: str, split: str, x: np.ndarray) -> list[Case]:
  """All collectives on x, whose first two dimensions are the devices and the members of the largest group."""
  given = SPLITS[split]
  groups = [g for g in given or [list(range(N))] if g]
  group_of = lambda d: next((g for g in groups if d in g), [d])
  width, common = x.shape[1], dict(axis_name="x", axis_index_groups=given)
  found = []

  def case(
    title: str, f: Callable[..., Any], expected: Callable[[int], np.ndarray], *args: Any, **options: Any
  ) -> None:
    found.append(Case(f"{title} of {name}, {split}", lambda x: f(x, *args, **options), expected))

  def zeros(*shape: int) -> np.ndarray:
    """NaN, as `jnp.zeros` gives, of formats without a zero."""
    return np.zeros(shape).astype(x.dtype)

  def padded(parts: np.ndarray) -> np.ndarray:
    return np.concatenate([parts, zeros(width - len(parts), *parts.shape[1:])])

  for op in reductions(name):
    of_group = lambda d, op=op: reduced(x[group_of(d)], op, name)
    for algorithm in ALGORITHMS:
      case(f"all_reduce {op} {algorithm}", collectives.all_reduce, of_group, op=op, algorithm=algorithm, **common)
    own_part = lambda d, op=op: reduced(x[group_of(d), group_of(d).index(d)], op, name)
    case(f"reduce_scatter {op}", collectives.reduce_scatter, own_part, op=op, **common)
  case("all_gather", collectives.all_gather, lambda d: padded(x[group_of(d)]), **common)
  exchanged = lambda d: padded(x[group_of(d), group_of(d).index(d)])
  case("all_to_all", collectives.all_to_all, exchanged, split_axis=0, concat_axis=0, **common)
  case("broadcast", collectives.broadcast, lambda d: x[group_of(d)[0]], source=0, **common)
  if given is None:
    perm = {3: 0, 1: 3, 0: 5}  # from: to
    sent = lambda d: next((x[a] for a, b in perm.items() if b == d), zeros(*x[0].shape))
    case("permute", collectives.permute, sent, axis_name="x", perm=list(perm.items()))
  return found


def differs(found: np.ndarray, expected: np.ndarray) -> str:
  """How they differ; empty if they do not. NaN is equal to NaN, and 0 to -0."""
  if found.dtype != expected.dtype or found.shape != expected.shape:
    return f"{found.dtype}{list(found.shape)} instead of {expected.dtype}{list(expected.shape)}"
  as_numbers = lambda y: y if y.dtype.kind in "biufc" else y.astype(np.float64)
  a, b = as_numbers(found), as_numbers(expected)
  wrong = ~((a == b) | ((a != a) & (b != b)))
  if not wrong.any():
    return ""
  at = tuple(int(i[0]) for i in np.nonzero(wrong))
  return f"{int(wrong.sum())} of {wrong.size} wrong; {a[at]} instead of {b[at]} at {at}"


def audit(name: str, split: str, seed: int = 0) -> tuple[int, list[str]]:
  """How many collectives were compared, and what is wrong."""
  width = max(len(g) for g in SPLITS[split] or [range(N)])
  with jax.enable_x64(True):
    x = numbers(name, (N, width, COLUMNS), seed)
    todo = cases(name, split, x)
    mesh, spec = jax.sharding.Mesh(np.array(jax.devices()[:N]), ("x",)), PartitionSpec("x")
    body = lambda x: [case.call(x[0])[None] for case in todo]
    f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
    whole = jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), lambda index: x[index])
    wrong = []
    for case, y in zip(todo, f(whole)):
      for shard in y.addressable_shards:
        device = shard.index[0].start or 0
        if problem := differs(np.asarray(shard.data)[0], case.expected(device)):
          wrong.append(f"{case.title}: device {device}: {problem}")
          break
    return len(todo), wrong


def run(dtypes: list[str], splits: list[str], seed: int) -> int:
  """Audit and print; gives how many collectives are wrong."""
  count, bad, begin = 0, 0, time.time()
  for name in dtypes:
    for split in splits:
      try:
        compared, wrong = audit(name, split, seed)
      except Exception as e:
        compared, wrong = 1, [f"{name}, {split}: {type(e).__name__}: {str(e)[:300]}"]
      count, bad = count + compared, bad + len(wrong)
      print(*wrong, sep="\n", end="\n" * bool(wrong), flush=True)
    jax.clear_caches()
    print(f"{name}: {count} collectives so far, {bad} wrong, {time.time() - begin:.0f} s", flush=True)
  return bad


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--dtype", action="append", choices=DTYPES)
  parser.add_argument("--split", action="append", choices=list(SPLITS))
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--processes", type=int, default=1)
  for private in ("--number", "--port", "--kill"):  # of `child_processes`
    parser.add_argument(private, type=int, default=-1, help=argparse.SUPPRESS)
  options = parser.parse_args()
  if options.processes > 1 and options.number < 0:
    devices = f"--xla_force_host_platform_device_count={N // options.processes}"
    environment = {"XLA_FLAGS": devices, "JAX_PLATFORMS": "cpu"}
    said = child_processes.run(
      "tests.collectives.audit", options.processes, *_flags(options), environment=environment, timeout=36_000
    )
    print("\n".join(f"process {i}: {line}" for i, text in enumerate(said) for line in text.splitlines()))
    return
  if options.number >= 0:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
      f"127.0.0.1:{options.port}", options.processes, options.number, heartbeat_timeout_seconds=100
    )
  wrong = run(options.dtype or DTYPES, options.split or list(SPLITS), options.seed)
  raise SystemExit(bool(wrong))


def _flags(options: argparse.Namespace) -> list[str]:
  chosen = [("--dtype", d) for d in options.dtype or ()] + [("--split", s) for s in options.split or ()]
  return [word for pair in chosen for word in pair] + ["--seed", str(options.seed)]


if __name__ == "__main__":
  main()
