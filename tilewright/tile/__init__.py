"""The middle of the compiler: the tile IR, and a kernel as data.

`memory` has the memory spaces of refs; `grid` maps each program instance to its block of each array. Every target reads these.
"""
