"""The fusion finder finds the parts that are better as one kernel, says why, and keeps what they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.hlo.tiling import random_tilings
from tests.hlo.tiling.outline import outline
from tilewright import hlo
from tilewright.cli.hlo import random_value
from tilewright.hlo import tiling
from tilewright.hlo.cost import Roofline
from tilewright.hlo.tiling import finder


def softmax(x: Any) -> Any:
  return jax.nn.softmax(x, axis=-1)


def layer_norm(x: Any, g: Any, b: Any) -> Any:
  mean = x.mean(-1, keepdims=True)
  variance = ((x - mean) ** 2).mean(-1, keepdims=True)
  return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * g + b


def attention(q: Any, k: Any, v: Any) -> Any:
  scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8
  mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
  return jnp.einsum("bhqk,bhkd->bhqd", softmax(jnp.where(mask, scores, -1e30)), v)


def looked_up(table: Any, index: Any) -> Any:
  return table[index].sum(1)


def optimized(f: Callable[..., Any], *shapes: tuple[int, ...]) -> hlo.Module:
  """What XLA makes of it: with its own fusions."""
  arguments = [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
  return hlo.parse(jax.jit(f).lower(*arguments).compile().as_text())


def values(module: hlo.Module, seed: int = 0) -> list[np.ndarray]:
  rng = np.random.default_rng(seed)
  found = hlo.evaluate(module, *(random_value(p.shape, rng) for p in module.entry.parameters))
  return [np.asarray(leaf) for leaf in jax.tree.leaves(found)]


def same(module: hlo.Module, fusions: Sequence[tiling.TiledFusion]) -> None:
  before = values(module)
  outline(fusions)
  hlo.verify(module)
  for a, b in zip(before, values(module), strict=True):
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


BUDGET = tiling.Budget(tile_bytes=1 << 20, units=2)
SLOW = Roofline(
  hlo.cost.device("cpu").replace(launch=1e-9, memory_bandwidth=1e9)
)  # so that small arrays count as large ones


@pytest.mark.parametrize(
  ("f", "shapes", "kind"),
  [
    (softmax, [(24, 50)], "softmax"),
    (layer_norm, [(24, 50), (50,), (50,)], "reduction"),
    (attention, [(1, 2, 24, 8)] * 3, "attention"),
  ],
)
def test_rows_become_one_kernel(f: Callable[..., Any], shapes: list[tuple[int, ...]], kind: str) -> None:
  module = optimized(f, *shapes)
  report = tiling.find(module, SLOW, BUDGET)
  best = report.fusions[0]
  assert best.kind == kind
  assert best.predicted_seconds < best.predicted_xla_seconds
  names = {o.instruction for o in best.region.outputs}
  assert module.entry.root in names, report.explain()
  assert best.reasons and kind in report.explain()
  same(module, report.fusions)


@pytest.mark.parametrize(
  ("f", "shapes"),
  [
    (jax.grad(lambda x, g, b: (layer_norm(x, g, b) ** 2).sum(), (0, 1, 2)), [(24, 50), (50,), (50,)]),
    (jax.grad(lambda q, k, v: (attention(q, k, v) ** 2).sum(), (0, 1, 2)), [(1, 2, 24, 8)] * 3),
  ],
)
def test_derivatives_keep_their_values(f: Callable[..., Any], shapes: list[tuple[int, ...]]) -> None:
  module = optimized(f, *shapes)
  fusions = tiling.find_fusions(module, SLOW, BUDGET)
  assert fusions and any(len(fusion.region.outputs) > 1 for fusion in fusions)
  same(module, fusions)


def test_a_gather_joins_its_sum() -> None:
  lowered = jax.jit(looked_up).lower(
    jax.ShapeDtypeStruct((100, 64), jnp.float32), jax.ShapeDtypeStruct((32, 7), jnp.int32)
  )
  module = hlo.parse(lowered.as_text("hlo"))
  hlo.run_passes(module, ["call_inliner", "dce"])
  report = tiling.find(module, SLOW, BUDGET)
  assert report.fusions[0].kind == "gather", report.explain()


def test_a_budget_refuses_with_its_reason() -> None:
  module = optimized(softmax, (24, 4000))
  report = tiling.find(module, SLOW, tiling.Budget(tile_bytes=2000, units=2))
  assert not any(fusion.kind == "softmax" and len(fusion.region.members) > 2 for fusion in report.fusions)
  assert "KiB are allowed" in report.explain()


def test_side_effects_stay_outside() -> None:
  module = hlo.parse("""HloModule m
ENTRY %main { p = f32[64] parameter(0)
 a = f32[64] exponential(p)
 t = token[] after-all()
 o = token[] outfeed(a, t), outfeed_shape=f32[64]
 ROOT b = f32[64] negate(a) }""")
  report = tiling.find(module, SLOW, BUDGET)
  assert all(i.opcode != "outfeed" for fusion in report.fusions for i in fusion.region.members)
  assert any("side effects" in str(d) for d in report.decisions)


def test_kernels_do_not_wait_for_one_another() -> None:
  """{a1, a2} and {b1, b2} could each be a kernel, but a1 → b1 and b2 → a2: not both. Two transposes keep all four from being one."""
  module = hlo.parse("""HloModule m
ENTRY %main { p = f32[64,48] parameter(0)
 q = f32[48,64] parameter(1)
 a1 = f32[64,48] exponential(p)
 b2 = f32[48,64] exponential(q)
 t = f32[48,64] transpose(a1), dimensions={1,0}
 s = f32[64,48] transpose(b2), dimensions={1,0}
 b1 = f32[48,64] multiply(t, b2)
 a2 = f32[64,48] add(a1, s)
 ROOT r = (f32[48,64], f32[64,48]) tuple(b1, a2) }""")
  main = module.entry
  search = finder._Search(main, SLOW, BUDGET, None, float("inf"), {})
  for name in ("a1", "a2", "b1", "b2", "t", "s"):
    i = main.find(name)
    search.group_of[i] = finder._Group({i: None}, 1 << search.reach.index[i], seconds=1.0, xla_seconds=1.0)
  search._try(main.find("a1"), main.find("a2"), "")
  search._try(main.find("b2"), main.find("b1"), "")
  assert search.group_of[main.find("a1")] is search.group_of[main.find("a2")]
  assert search.group_of[main.find("b1")] is not search.group_of[main.find("b2")]
  assert "needed by the other" in search.decisions[-1].why


def test_a_tuned_entry_is_taken() -> None:
  module = optimized(softmax, (24, 50))
  key = tiling.region_key(tiling.find_fusions(module, SLOW, BUDGET)[0].region)
  (fusion, *_) = tiling.find_fusions(module, SLOW, BUDGET, tuned={key: (3, 50)})
  assert fusion.tile_sizes == (3, 50)


def test_random_programs_keep_their_values() -> None:
  outcomes = [random_tilings.check_fusions(seed) for seed in range(30)]
  assert outcomes.count("joined") > 8
