"""Code generation shared by the targets that emit LLVM IR: how a body becomes code, and the infrastructure around that code.

    code        a tile is computed where its elements are needed: from `memory`, in `loops`
    statements  control flow (`control`), semaphores, sorting, gathers and scatters (`gather_scatter`), masked stores (`masking`)
    values      dtypes in registers (`types`), `arithmetic`, `small_floats`, `math`, `combining`, `dots`; `operand_indices`: ops that
                only move elements
    blocks      `block_ranges`: where a block lies in its array
    around it   `prepared` (clean and verify the tile IR), `identity` and `code_cache` (code on disk), `calling` (by XLA), `frame` (of an
                FFI call), `buffers` (whether there is memory for them), `locations` (the user's lines, for those who look at the code)

A target derives from `code.Code`, and adds rows to the tables of statements.
"""
