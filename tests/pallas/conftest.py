"""Every test of what kernels compute runs twice: as native code, which is the default on the CPU, and through the portable lowering.

A test about one of them says so, as in `@pytest.mark.target("portable")`. In the other files, which are about tracing,
errors before a target is reached, or the simulator, a kernel runs as the test asks. What becomes native code also becomes PTX.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.nvgpu.every_kernel import becomes_ptx  # noqa: F401  a fixture, for every test here
from tilewright.pallas import targets

BOTH = {
  "test_block_mapping",
  "test_control_flow",
  "test_effects",
  "test_indexing",
  "test_kernel",
  "test_memory",
  "test_programs",
  "test_self_updates",
  "test_transforms",
  "test_tpu_ops",
  "test_tpu_pipeline",
  "test_tpu_random",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
  said = metafunc.definition.get_closest_marker("target")
  if said is not None:
    metafunc.parametrize("_target", said.args, indirect=True)
  elif metafunc.module.__name__.rpartition(".")[2] in BOTH:
    metafunc.parametrize("_target", ["native", "portable"], indirect=True)


@pytest.fixture(autouse=True)
def _target(request: pytest.FixtureRequest) -> Iterator[None]:
  """The target of kernels in a test: "portable" is as if every call had interpret=True."""
  portable = getattr(request, "param", "native") == "portable"
  with targets.forced_interpret(True) if portable else contextlib.nullcontext():
    yield
