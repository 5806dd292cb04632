"""PTX for all-reduces in NVLink switches assembles for the architectures that have them."""

from __future__ import annotations

import pytest

from tilewright.collectives import multimem, peer
from tilewright.runtime import ptxas


@pytest.mark.skipif(ptxas.find() is None, reason="needs ptxas")
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("dtype", "op"), [("f32", "add"), ("bf16", "add"), ("f16", "max")])
def test_the_kernel_assembles_without_spills(dtype, op, arch):
  text = multimem.all_reduce_ptx(dtype, arch, op)
  assert "multimem.ld_reduce" in text and "multimem.st" in text and "multimem.red.release.sys" in text
  assert ptxas.resources(text, arch).spilled_bytes == 0


@pytest.mark.skipif(ptxas.find() is None, reason="needs ptxas")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_one_shot_kernel_assembles(dtype):
  text = peer.one_shot_ptx(dtype)
  assert "st.release.sys" in text and "ld.acquire.sys" in text
  assert ptxas.resources(text, "sm_90a").spilled_bytes == 0


def test_what_switches_cannot_do_is_named():
  with pytest.raises(ValueError, match="f32: add"):
    multimem.all_reduce_ptx("f32", "sm_90a", "max")
  with pytest.raises(ValueError, match="sm_80"):
    multimem.all_reduce_ptx("bf16", "sm_80")
