"""Orders drawn at random, within what the scheduler thinks is allowed, computed by XLA: values must not change."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tilewright.hlo import schedule

ROW = np.arange(64, dtype=np.float32) / 64
SQUARE = np.arange(1024, dtype=np.float32).reshape(32, 32) / 1024


def scan(x: Any) -> Any:
  return lax.scan(lambda c, a: (c * 0.5 + jnp.sin(a), c * 2), jnp.zeros(32), x)


def swap(x: Any) -> Any:
  """A loop whose state changes places."""
  return lax.fori_loop(0, 5, lambda i, s: (s[1] + 1, s[0] * 2, s[0] @ s[1]), (x, x.T, x))


def updates(x: Any) -> Any:
  """In-place updates between reads of the same array."""
  before = x.sum(axis=0)
  x = lax.dynamic_update_slice(x, before[None, :], (3, 0))
  between = jnp.cos(x)
  x = x.at[5].add(between[0]).at[:, 2].set(1.0)
  return before, between, x, x @ between


def donated(x: Any, y: Any) -> Any:
  return y * 2 + 1, x @ y, jnp.tanh(x)


def nested(x: Any) -> Any:
  def outer(i: Any, c: Any) -> Any:
    inner = lax.fori_loop(0, 3, lambda j, d: d.at[j].add(c[i]), c)
    return lax.cond(inner[0, 0] > 0, lambda v: v * 0.5, lambda v: v + x, inner)

  return lax.fori_loop(0, 4, outer, x)


def reduced(x: Any) -> Any:
  mesh = Mesh(np.array(jax.devices()[:4]), ("d",))

  def body(x: Any) -> Any:
    a = lax.psum(jnp.sin(x), "d")
    b = lax.all_gather(x * 2, "d", tiled=True)
    c = lax.ppermute(x, "d", [(i, (i + 1) % 4) for i in range(4)])
    return a + c, b[: x.shape[0]] * c, lax.psum_scatter(b, "d", tiled=True)

  return jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)(x)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
  "scan": (scan, (SQUARE,), {}),
  "swap": (swap, (SQUARE,), {}),
  "updates": (updates, (SQUARE,), {}),
  "donated": (donated, (SQUARE, SQUARE + 1), {"donate_argnums": (0, 1)}),
  "nested": (nested, (SQUARE,), {}),
  "reduced": (reduced, (SQUARE,), {}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_order_the_scheduler_allows_gives_the_same_values(name: str) -> None:
  function, arguments, options = PROGRAMS[name]

  def run() -> list[np.ndarray]:
    fresh = [jnp.asarray(a) for a in arguments]  # some are given up
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function, **options)(*fresh))]

  expected = run()
  changed = 0
  for seed in range(4):
    drawn = schedule.Rule("drawn", lambda c, s, k=seed: random.Random(f"{k} {c.name}").random(), "the test draws")
    with schedule.install(rules=[drawn], budget=0, headroom=100.0, worth=-1, only=function.__name__) as installed:
      got = run()
    changed += sum(report.changed for report in installed.hook.reports)
    for a, b in zip(expected, got):
      np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)
  assert changed
