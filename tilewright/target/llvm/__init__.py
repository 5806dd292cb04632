"""Code generation shared by the targets that emit LLVM IR: how a body becomes code, and the infrastructure around that code.

    code        a tile is computed where its elements are needed: from `memory`, in `loops`
    statements  control flow (`control`), semaphores, sorting, gathers and scatters (`gathering`), masked stores (`masking`)
    values      dtypes in registers (`types`), `arithmetic`, `small_floats`, `math`, `combining`, `structure` (what only moves), `dots`
    blocks      the `places` in arrays that blocks of data are cut from
    around it   `prepared` (the tile IR made ready), `identity` and `kept` (code on disk), `calling` (by XLA), `frame` (of an FFI call),
                `buffers` (whether there is memory for them), `locations` (the user's lines, for those who look at the code)

A target derives from `code.Code`, and adds rows to the tables of statements.
"""
