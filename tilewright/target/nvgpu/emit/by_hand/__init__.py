"""Kernels with barriers and asynchronous copies of their own.

warpgroup_barriers    arrive, wait and meet; fences
warpgroup_semaphores  semaphores that warpgroups share, questions to barriers
async_copies          copies with a barrier, and to global memory
tma_copies            parts of arrays as boxes of tensor maps
"""
