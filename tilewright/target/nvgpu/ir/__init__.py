"""The GPU level: asynchronous GPU operations, as ops of the tile IR.

Kernels with explicit copies, waits and products (several warpgroups, `pallas.mosaic_gpu`) enter here
(`passes.hand_written`).

    ops        the rows of the op table
    in_flight  which products may be in flight at each op
    protocol   races and deadlocks between warpgroups, by vector clocks
verify     what a kernel releases or reads too early: the error names both lines
"""
