"""What is decided about a kernel before any code is written. No module here emits LLVM.

    layouts             which tiles are inferred layouts, and which: see the package
    grid_accumulation   a product that is added up along the last grid dimension: what is multiplied, where the accumulator is
    matmul_plans        the pipeline of such a kernel, as data: stages, tiles, engines, warps
    zero_fill           masks at the edges of an array that TMA and cp.async make needless, since they fill with zeros
    k_loops             a product along many k, as a loop that multiplies a piece at a time
    elementwise_chains  long chains of elementwise ops: each element to the end before the next begins
    algebraic_rewrites  rules of algebra whose results round no worse
    occupancy           threads of a CTA, CTAs of an SM

Of kernels that are written by hand, at the GPU level (`nvgpu.ir`):

    hand_written        the passes below in order, and the verifier
    async_products      a product as two ops, one that starts it and one that waits for it
    operand_swizzles    how operands in shared memory lie where the user did not say
    copy_waits          a pipeline's wait for an input, at the first use of that input
    register_budget     whether warpgroups that exchange registers can all have what they ask for
    warpgroup_effects   what each warpgroup reads and writes of shared memory: which fences and barriers are needed
"""
