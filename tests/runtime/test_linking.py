"""Object code becomes functions without LLVM, shares mappings, and is freed."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
import sys

import pytest

from tilewright import errors
from tilewright.runtime import code_memory, jit, linking

pytestmark = pytest.mark.skipif(not linking.has_linker(), reason="LLVM's linker serves here")

TEXT = """
@table = internal constant [3 x i32] [i32 10, i32 20, i32 30]
@count = global i64 5, align 64
@zero = internal global [100 x i64] zeroinitializer
declare i64 @labs(i64)
declare i64 @given(i64)

define i64 @next() {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret i64 %old
}

define i64 @chosen(i64 %i) {
  %p = getelementptr [3 x i32], ptr @table, i64 0, i64 %i
  %v = load i32, ptr %p
  %w = zext i32 %v to i64
  %n = sub i64 0, %w
  %a = call i64 @labs(i64 %n)
  %b = call i64 @given(i64 %a)
  %z = load i64, ptr getelementptr ([100 x i64], ptr @zero, i64 0, i64 99)
  %c = add i64 %b, %z
  ret i64 %c
}
"""


@pytest.fixture(scope="module")
def code() -> bytes:
  return bytes(jit.object_code(TEXT))


def function(linked, name, *args):
  return ctypes.CFUNCTYPE(ctypes.c_int64, *args)(linked.address(name))


def test_code_finds_its_data_its_variables_and_what_others_define(code):
  double = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 2 * x)
  linking.define("given", ctypes.cast(double, ctypes.c_void_p).value)
  linked, other = linking.link(code), linking.link(code)
  assert [function(linked, "chosen", ctypes.c_int64)(i) for i in range(3)] == [20, 40, 60]
  count = ctypes.c_int64.from_address(linked.address("count"))
  assert linked.address("count") % 64 == 0
  count.value = 41
  assert [function(own, "next")() for own in (linked, linked, other)] == [41, 42, 5]
  for own in (linked, other):
    own.free()
    own.free()  # once is enough


def test_what_is_not_there_is_named(code):
  linking.define("given", 1)
  with pytest.raises(linking.BadObjectError, match="defines no symbol handler"):
    linking.link(code).address("handler")
  with pytest.raises(linking.BadObjectError, match="needs the function nobody_has_this"):
    linking.link(
      jit.object_code("declare void @nobody_has_this() define void @f() { call void @nobody_has_this() ret void }")
    )


def test_damaged_objects_are_errors(code):
  for damaged in (
    b"",
    b"\x7fELF",
    code[:100],
    code[: len(code) // 2],
    b"x" + code[1:],
    code.replace(b"\x01\0>\0", b"\x01\0\xb7\0"),
  ):
    with pytest.raises(errors.NativeCodeError):
      linking.link(damaged)
  for at in range(40, len(code), 7):  # no damage is worse than an error; only code that was linked is not run
    with contextlib.suppress(errors.NativeCodeError):
      linking.link(code[:at] + bytes([code[at] ^ 0xFF]) + code[at + 1 :]).free()


def mappings() -> int:
  return len(pathlib.Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def pages_in_use():
  return sum(region.pages - sum(end - first for first, end in region.free) for region in code_memory._regions)


def test_code_shares_mappings_and_is_given_back(code):
  linking.define("given", 1)
  linking.link(code).free()
  in_use = pages_in_use()  # by kernels of other tests
  before = mappings()
  live = [linking.link(code) for _ in range(2000)]
  assert mappings() - before < 20
  for own in live[::2]:
    own.free()
  assert mappings() - before < 20
  regions = len(code_memory._regions)
  for _ in range(3000):
    linking.link(code).free()
  assert len(code_memory._regions) == regions and mappings() - before < 20
  assert [function(own, "next")() for own in live[1:100:2]] == [5] * 50
  for own in live[1::2]:
    own.free()
  assert pages_in_use() <= in_use
