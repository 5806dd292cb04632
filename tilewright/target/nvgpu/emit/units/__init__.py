"""Hardware units, one module each: functions that emit their instructions and decide nothing.

threads        thread ids, CTA and warpgroup barriers, shuffles, registers of a thread (setmaxnreg)
cp_async       cp.async of sm_80: copies to shared memory that a thread starts and does not wait for
tma            the tensor memory accelerator: copies of boxes of an array, issued by one thread
l2             eviction policies and prefetches for L2
mbarrier       barriers in shared memory that count arrivals and bytes
shared_memory  addresses in shared memory
cluster        CTAs of a cluster, and what they share by multicast
mma_sync       ldmatrix and mma.sync of a warp
wgmma          wgmma.mma_async of a warpgroup
ldmatrix       tiles between registers and laid out shared memory by ldmatrix and stmatrix
half2          pairs of 16-bit floats in one register
small_floats   conversions of fp8 and fp4
system_scope   loads, stores and atomics that other devices and processes see
inline_ptx     instructions without an intrinsic
"""
