"""From the tile IR to LLVM, and from LLVM to PTX.

A kernel, from the outside in:

    whole_kernel     the function of a kernel of which everything is decided (`passes.lowering`)
    kernel_function  its parameters, its blocks, its launch configuration
    grid_loop        the points of the grid that a CTA runs
    blocks           blocks of data as the body accesses them
    statements       ops with side effects, a table keyed by op
    code             tiles, computed where their elements are needed
    tile_loop        each thread iterates over its vectors of a tile
    distribution     which thread owns which vectors
    views            memory: alignment, edges, swizzles
    cta_memory       buffers of a CTA at their places, and when its threads must wait for each other
    register_tiles   tiles in registers, by a layout
    raw_bits         elements as the integers that memory holds
    symbolic         index arithmetic that emits LLVM
    chain_code       long elementwise chains, element by element
    profiler         marks that record when warpgroups wait, load, compute and store
    ptx              LLVM's back end

Folders: `units` has the hardware, one module for each; `ops` the ops of a body; `dot` the matrix products; `pipeline` kernels whose blocks
arrive ahead of time; `by_hand` kernels with barriers and copies of their own.
"""
