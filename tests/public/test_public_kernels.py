"""Every kernel below `jax.experimental.pallas.ops`, bound to our names, gives what it gives with JAX's own Pallas."""

from __future__ import annotations

import importlib
import json
import pkgutil

import jax
import numpy as np
import pytest
from public_kernels import CASES, OPS, RECORD, Case, check, digest, original_results, our_module, run

from tilewright.pallas import targets

RESULTS = json.loads(RECORD.read_text())
# Modules without a kernel of their own, and those for Mosaic GPU.
WITHOUT_KERNELS = {
  "common",
  "prng_utils",
  "quantization_utils",
  "splash_attention_mask",
  "splash_attention_mask_info",
} | {
  "tuned_block_sizes",
  "util",
}


def expected(case: Case) -> list[dict]:
  if case.reference is None:
    return RESULTS[case.name]
  found = case.reference(*case.operands(np.random.default_rng(0)))
  return [digest(np.asarray(x)) for x in jax.tree.leaves(found)]


ON_GPU = jax.default_backend() != "cpu"
NATIVE = [
  (case, "native") for case in CASES if case.native and not (ON_GPU and case.fails_on_gpu)
]  # what accesses other devices is not
PORTABLE = [(case, "portable") for case in CASES if not case.variant]


@pytest.mark.parametrize("case, target", [*NATIVE, *PORTABLE], ids=str)
def test_gives_what_the_original_gives(case, target):
  with targets.forced_interpret(target == "portable"), jax.default_matmul_precision("highest"):
    found = run(case, our_module(case.module))
  for f, e in zip(map(digest, found), expected(case), strict=True):
    check(f, {**e, "type": f["type"]} if case.reference else e, case.tolerance)


@pytest.mark.parametrize("name", ["matmul", "gpu_softmax"])
def test_the_record_is_what_the_original_gives(name):
  (case,) = [c for c in CASES if c.name == name]
  for found, recorded in zip(original_results(case), RESULTS[name], strict=True):
    check(found, recorded, case.tolerance)


def test_every_module_with_kernels_has_a_case():
  folders = [importlib.import_module(f"{OPS}.{folder}") for folder in ("tpu", "gpu")]
  modules = [m for f in folders for m in pkgutil.walk_packages(f.__path__, f"{f.__name__}.") if not m.ispkg]
  tried = {c.module for c in CASES}
  missing = [
    m.name
    for m in modules
    if not m.name.endswith("_mgpu")
    and m.name.rpartition(".")[2] not in WITHOUT_KERNELS
    and not any(f"{m.name}.".startswith(f"{t}.") for t in tried)
  ]
  assert not missing
