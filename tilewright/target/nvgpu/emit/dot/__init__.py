"""Matrix products in a body.

ways                 which of the following a product is carried out by
wgmma_dot            by a warpgroup (sm_90a), with wgmma_operands (operands copied to shared memory) and wgmma_in_place (operands
                     already there)
mma_sync_dot         by warps, on fragments in registers
skinny_dot           of a few rows with a wide operand, with skinny_dot_stages (the next round prefetched to shared memory) and
                     skinny_dot_prefetch (or to registers)
packed_dot           by warps, on operands packed in shared memory: batches, and what finds no room otherwise
fma_dot              by multiplications of single numbers: dtypes and shapes that tensor cores do not have
"""
