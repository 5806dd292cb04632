"""An all-reduce in NVLink switches, as PTX: every device reduces its share by `multimem.ld_reduce` and stores it to all by `multimem.st`.

    text = multimem.all_reduce_ptx("bf16", "sm_90a")

The kernel takes the multicast address of a buffer that all devices have bound to one multicast object, the number of 16-byte vectors, this
device's rank and the number of devices. Blocks of all devices meet before and after, by a counter at a multicast address:
`multimem.red.release.sys` adds to it on all devices, and each waits on its own. Launch it with no more blocks than are resident at once.

    params: data (multicast), flags (multicast), own_flags (this device's copy), vectors, rank, devices, epoch

It needs sm_90 or later, NVSwitch with SHARP, and memory from `cuMulticastCreate`. It is assembled by the tests for sm_90a and sm_100a, and
was not run: no such machine was at hand.
"""

from __future__ import annotations

from tilewright import errors

# By dtype: the type of a vector of 16 bytes in a register of 32 bits each, and the precision that sums are taken in.
_VECTORS = {"f32": (".v4.f32", ""), "bf16": (".v4.bf16x2", ".acc::f32"), "f16": (".v4.f16x2", ".acc::f32")}
_ARCHES = {"sm_90a": "8.2", "sm_100a": "8.6"}
_OPS = ("add", "min", "max")


def all_reduce_ptx(dtype: str, arch: str, op: str = "add") -> str:
  """The PTX of a two-shot all-reduce through multicast memory.

  Args:
    dtype: "f32", "bf16" or "f16". Sums of 16-bit floats are taken in f32 by the switch.
    arch: "sm_90a" or "sm_100a".
    op: "add", or for 16-bit floats "min" and "max".
  """
  if dtype not in _VECTORS or arch not in _ARCHES or op not in _OPS or (dtype == "f32" and op != "add"):
    raise errors.CollectiveError(
      f"multimem.all_reduce_ptx: expected a dtype of {sorted(_VECTORS)}, an arch of {sorted(_ARCHES)} and an op of {_OPS} (f32: add), got "
      f"{dtype!r}, {arch!r}, {op!r}."
    )
  vector, accumulate = _VECTORS[dtype]
  kind, register = ("f32", "%f") if dtype == "f32" else ("b32", "%v")
  registers = ", ".join(f"{register}{i}" for i in range(4))
  accumulate = accumulate if op == "add" else ""
  return f"""\
.version {_ARCHES[arch]}
.target {arch}
.address_size 64

.visible .entry multimem_all_reduce(
  .param .u64 data, .param .u64 flags, .param .u64 own_flags, .param .u32 vectors, .param .u32 rank, .param .u32 devices, .param .u32 epoch
)
.maxntid 512
{{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<12>;
  .reg .{kind} {register}<4>;

  ld.param.u64 %rd0, [data];
  ld.param.u64 %rd1, [flags];
  ld.param.u64 %rd2, [own_flags];
  ld.param.u32 %r0, [vectors];
  ld.param.u32 %r1, [rank];
  ld.param.u32 %r2, [devices];
  ld.param.u32 %r3, [epoch];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %nctaid.x;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  shl.b32 %r8, %r3, 1;
  mul.lo.u32 %r9, %r8, %r2;
  add.u32 %r10, %r9, %r2;
{_meeting("before", "%r10")}
  mul.wide.u32 %rd4, %r1, %r0;
  cvt.u64.u32 %rd5, %r2;
  div.u64 %rd4, %rd4, %rd5;
  cvt.u32.u64 %r11, %rd4;
  add.u32 %r12, %r1, 1;
  mul.wide.u32 %rd4, %r12, %r0;
  div.u64 %rd4, %rd4, %rd5;
  cvt.u32.u64 %r13, %rd4;
  mad.lo.u32 %r14, %r5, %r6, %r4;
  add.u32 %r14, %r14, %r11;
  mul.lo.u32 %r15, %r6, %r7;
loop:
  setp.ge.u32 %p1, %r14, %r13;
  @%p1 bra done;
  mul.wide.u32 %rd6, %r14, 16;
  add.s64 %rd7, %rd0, %rd6;
  multimem.ld_reduce.relaxed.sys.global.{op}{accumulate}{vector} {{{registers}}}, [%rd7];
  multimem.st.relaxed.sys.global{vector} [%rd7], {{{registers}}};
  add.u32 %r14, %r14, %r15;
  bra loop;
done:
  add.u32 %r10, %r10, %r2;
{_meeting("after", "%r10")}
  ret;
}}
"""


def _meeting(name: str, wanted: str) -> str:
  """Blocks of one number on all devices wait for each other: what they did before is seen by all after."""
  return f"""\
  bar.sync 0;
  setp.ne.u32 %p0, %r4, 0;
  @%p0 bra met_{name};
  mov.u32 %r16, 1;
  multimem.red.release.sys.global.add.u32 [%rd1], %r16;
  fence.proxy.alias;
wait_{name}:
  ld.acquire.sys.global.u32 %r17, [%rd2];
  setp.lt.u32 %p2, %r17, {wanted};
  @%p2 bra wait_{name};
met_{name}:
  bar.sync 0;"""


__all__ = ["all_reduce_ptx"]
