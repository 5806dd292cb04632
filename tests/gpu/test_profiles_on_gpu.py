"""Profiles of kernels on a GPU: their results are those without a profile, and clocks run forwards."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import ops
from tilewright.pallas import nvgpu
from tilewright.target.nvgpu.host import profile

pytestmark = pytest.mark.gpu

PROGRAMS = {
  "softmax": (ops.softmax, [(1024, 1024)], jnp.float32, {"compute", "store"}),
  "matmul": (ops.matmul, [(1024, 1024)] * 2, jnp.bfloat16, {"wait", "load", "compute", "store"}),
  "attention": (ops.attention, [(4, 1024, 64)] * 3, jnp.float16, {"wait", "load", "compute", "store"}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_warpgroups_do_is_recorded(name, tmp_path):
  function, shapes, dtype, lanes = PROGRAMS[name]
  args = [jax.random.normal(jax.random.key(n), shape, dtype) for n, shape in enumerate(shapes)]
  (p,) = nvgpu.profile(function, *args)
  assert p.nanoseconds > 0 and 0.2 < p.ticks_per_ns < 5, "SMs run at some hundred MHz to a few GHz"
  assert not p.dropped and {s.mark.lane for t in p.tracks for s in t.spans} >= lanes
  for t in p.tracks:
    assert all(t.begin <= s.begin <= s.end <= t.end for s in t.spans)
  p.write(tmp_path / "trace.json")
  assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_profile_does_not_change_results(name):
  function, shapes, dtype, _ = PROGRAMS[name]
  args = [jax.random.normal(jax.random.key(n), shape, dtype) for n, shape in enumerate(shapes)]
  plain = jax.jit(lambda *own: function(*own))(*args)
  with profile.recording(profile.Recording(256, lambda p: None)):
    marked = jax.jit(lambda *own: function(*own))(*args)
  np.testing.assert_array_equal(plain, marked)
