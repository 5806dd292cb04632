"""Which architecture and which PTX code is made for, as tables."""

from __future__ import annotations

import pytest

from tilewright import errors
from tilewright.runtime import jit
from tilewright.target.nvgpu import arch
from tilewright.target.nvgpu.arch import ARCHS, families, for_capability, named, ptx_version
from tilewright.target.nvgpu.emit.ptx import to_ptx

NOTHING = 'define ptx_kernel void @"kernel"() { ret void }'


def test_devices_without_a_table_entry_use_the_one_before():
  assert for_capability(8, 7).name == "sm_86" and for_capability(9, 0).name == "sm_90a"
  for unknown in ((7, 5), (10, 1), (11, 0)):  # code for sm_100a runs on nothing else
    with pytest.raises(errors.NativeCodeError, match=rf"compute capability {unknown[0]}\.{unknown[1]}"):
      for_capability(*unknown)


@pytest.mark.parametrize(
  "driver, llvm, ptx",
  [
    (12000, 22, 80),
    (12060, 22, 85),
    (12090, 22, 88),
    (13000, 22, 90),
    (13000, 20, 87),
    (14020, 30, 90),
    (12080, 20, 87),
  ],
)
def test_the_newest_ptx_is_taken_that_llvm_writes_and_the_driver_reads(driver, llvm, ptx):
  assert ptx_version(named("sm_90a"), driver, llvm) == ptx


@pytest.mark.parametrize(
  "name, driver, llvm, who", [("sm_100a", 12040, 22, r"driver \(CUDA 12\.4\)"), ("sm_121a", 13000, 20, "LLVM 20")]
)
def test_an_architecture_that_is_too_new_is_an_error_that_says_for_what(name, driver, llvm, who):
  with pytest.raises(errors.NativeCodeError, match=f"{name} needs PTX 8.*{who} only knows up to 8.*interpret=True"):
    ptx_version(named(name), driver, llvm)


def test_tables_grow_with_versions():
  for table in (arch._DRIVER_PTX, arch._LLVM_PTX):
    assert [*table] == sorted(table) and [*table.values()] == sorted(table.values())


@pytest.mark.parametrize("ptx", sorted({min(v, arch._LLVM_PTX[22]) for v in arch._DRIVER_PTX.values()}))
def test_llvm_writes_every_version_of_the_tables(ptx):
  if jit.llvm_version() < 22:
    pytest.skip("the newest versions are for LLVM 22")
  text = to_ptx(NOTHING, arch.Arch("sm_80", ptx, 0))
  assert f".version {ptx // 10}.{ptx % 10}" in text


@pytest.mark.parametrize("name", ARCHS)
def test_what_is_compiled_without_a_device_is_read_by_every_driver_for_such_a_device(name):
  made = named(name)
  assert f".version {made.ptx // 10}.{made.ptx % 10}\n" in to_ptx(NOTHING, made)


def test_devices_that_are_alike_share_code():
  (family,), without = families([(9, 0)] * 3, 13000, 22)
  assert family.devices == (0, 1, 2) and family.arch.name == "sm_90a" and not without
  (family,), without = families([(8, 9), (8, 6), (8, 0)], 13000, 22)
  assert (family.assembling, family.arch.name, family.arch.ptx) == (2, "sm_80", 90) and {*family.devices} == {0, 1, 2}
  assert family.arch.shared_bytes == named("sm_86").shared_bytes < named("sm_80").shared_bytes


def test_devices_that_are_not_alike_have_code_of_their_own_and_some_have_none():
  found, without = families([(10, 0), (8, 9), (10, 3), (7, 5), (10, 0)], 12080, 22)
  assert [(own.devices, own.arch.name) for own in found] == [((0, 4), "sm_100a"), ((1,), "sm_89")]
  assert sorted(without) == [2, 3] and "sm_103a needs PTX 8.8" in without[2] and "capability 7.5" in without[3]
  with pytest.raises(errors.NativeCodeError, match=r"capability 7\.5"):
    families([(7, 5), (6, 0)], 13000, 22)
  with pytest.raises(errors.NativeCodeError, match="no device"):
    families([], 13000, 22)
