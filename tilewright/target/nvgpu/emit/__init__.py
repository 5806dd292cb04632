"""From the tile IR to LLVM, and from LLVM to PTX.

A kernel, from the outside in:

    whole_kernel     which form a kernel gets: points of a grid, warpgroups by hand, or a pipeline
    kernel_function  its parameters, its blocks, what it takes to launch it
    grid_loop        the points of the grid that a CTA runs
    blocks           how the body sees its blocks of data
    statements       ops with side effects, a table keyed by op
    code             tiles, computed where their elements are needed
    tile_loop        each thread goes through its vectors of a tile
    distribution     which vectors are whose
    views            memory: alignment, edges, swizzles
    cta_memory       buffers of a CTA, and when its threads must wait for each other
    register_tiles   tiles in registers, by a layout
    raw_bits         elements as the integers that memory holds
    symbolic         index arithmetic that emits LLVM
    l2_hints         eviction policies and prefetches for L2
    ptx              LLVM's back end

Folders: `units` has the hardware, one module for each; `ops` the ops of a body; `dot` the matrix products; `pipeline` kernels whose blocks
arrive ahead of time; `by_hand` kernels with barriers and copies of their own.
"""
