"""Matrix products in a body.

wgmma_dot            by a warpgroup (sm_90a), with wgmma_operands (operands copied to shared memory) and wgmma_in_place (operands
                     already there)
mma_sync_dot         by warps, on fragments in registers
shared_dot           of operands in shared memory: batches, and dtypes that tensor cores do not have
skinny_dot           of a few rows with a wide operand, with skinny_dot_stages (the next round prefetched to shared memory) and
                     skinny_dot_prefetch (or to registers)
"""
