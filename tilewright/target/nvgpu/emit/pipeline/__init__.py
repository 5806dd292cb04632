"""Kernels whose blocks arrive ahead of time, through rings of stages in shared memory.

ring                which stage is next, and the parity of its barrier
ring_barriers       the full and empty barriers of the stages
staged_blocks       blocks copied ahead by cp.async
rounds              copies of threads some rounds ahead of their use, for any of these
sequential_grid     the steps of a sequential grid dimension in any kernel (`passes.stage`); tma_stages are its blocks that TMA copies
matmul_pipeline     the code of a plan (`passes.matmul_plans`): the steps along k
warp_specialized    a producer and consumers of wgmma
mma_sync_consumers  warps that multiply boxes by mma.sync, where there is no wgmma
computed_operands   operands of wgmma that are computed from blocks
scaled_matmul       products of two computed operands, as block-scaled ones
epilogue            fused ops on the accumulators, and the stores of their results
"""
