"""Kernels with barriers and asynchronous copies of their own.

warpgroup_barriers  arrive, wait and meet; copies with a barrier
tma_copies          parts of arrays as boxes of tensor maps
"""
