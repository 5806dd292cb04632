"""Analyses and decisions about a kernel before code is emitted. No module here emits LLVM.

    lowering            all passes, in order; the small ones
    gpu_kernel          what they take and give: a kernel with what has been decided
    verify_decisions    what must hold of it

What passes decide by:

    layouts             layout inference for tiles, kinds of products: see the package
    stage               blocks of sequential grids that come to shared memory ahead of time, or stay there
    memory              where buffers begin in shared memory
    staged_blocks       where the rows of blocks lie in shared memory, and what brings them
    loop_stages         loops that copy the operands of their products ahead
    direct_loads        loads whose rows threads can copy as they are
    warpgroup_operands  loads that can go straight to where warpgroups' products read
    bodies              the bodies of a kernel: which blocks they use in place, and which are copied
    block_accesses      how a body accesses its blocks, op by op
    l2_hints            which arrays L2 keeps, and which blocks are prefetched to it
    grid_accumulation   a product accumulated along the last grid dimension: what is multiplied, where the accumulator is
    matmul_plans        the pipeline of such a kernel, as data: stages, tiles, engines, warps
    plans               what was decided for a kernel, as data for people; planners in front of the compiler's
    zero_fill           masks at the edges of an array that are redundant, since TMA and cp.async fill with zeros
    k_loops             a product along many k, as a loop that multiplies a piece at a time
    elementwise_chains  long chains of elementwise ops: each element to the end before the next begins
    algebraic_rewrites  rules of algebra whose results round no worse
    symmetric_memory    what a kernel that accesses other devices needs of their heaps, and at which offsets
    occupancy           threads of a CTA, CTAs of an SM

For kernels with explicit copies and synchronisation, at the GPU level (`nvgpu.ir`):

    hand_written        the passes below in order
    async_copies        copies to shared memory and stores to global memory, as ops that are started and waited for
    async_products      a product as two ops, one that starts it and one that waits for it
    operand_swizzles    layouts of operands in shared memory that the user left open
    copy_waits          a pipeline's wait for an input, at the first use of that input
    warpgroup_roles     code for some warpgroups, as an op that names them
    cooperation         what CTAs of a cluster do to each other's shared memory and barriers
    unions              buffers of a union, which take turns in the same shared memory
    register_budget     whether warpgroups that reallocate registers (setmaxnreg) can all get what they request
    warpgroup_effects   what each warpgroup reads and writes of shared memory: which fences and barriers are needed
"""
