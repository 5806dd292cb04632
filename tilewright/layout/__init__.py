"""Layouts as values: the place of each element of a tile in registers, shared memory and tensor memory.

    value       the layout: mixed-radix digits of register, lane and warp, each moving along the tile
    algebra     composition, inverse, reshape, transpose, projection
    build       splat, strided, blocked, repetitions of a fragment
    fragments   mma.sync, wgmma and tcgen05, from the PTX ISA
    vectors     contiguous elements that a thread holds
    shared      shared memory: tilings, swizzles, bank conflicts
    access      how threads read and write a tile there: vectors, ldmatrix, stmatrix
    plan        what a relayout does and costs: by `shuffle` (of `atoms`, in `steps`) or `through_shared_memory`
    transfer    from any place to any other, tensor memory included
    text        `print_layout`

Layouts that are not known yet are inferred:

    transforms  what users say about a ref in shared memory
    constraints what is said about layouts: hard ones, and soft ones with a cost
    options     the layouts that instructions take
    costs       what moving a tile costs, fast; `prices` memoises them
    solve       the cheapest assignment: `candidates` are found, then chosen by `elimination`
    conflict    why there is none

Pictures are drawn by `tilewright.viz.layout`.
"""

from tilewright.layout.access import Access, accesses, bank_conflicts, best_access
from tilewright.layout.algebra import (
  compose,
  expanded,
  inverse,
  part_registers,
  projected,
  reshaped,
  sliced,
  transposed,
  trimmed,
  unsliced,
)
from tilewright.layout.build import blocked, blocked_for, repeated, splat, strided
from tilewright.layout.layout import LANE, LANES, OFFSET, REGISTER, WARP, Digit, Layout, Term, layout, register_layout
from tilewright.layout.plan import Plan, relayout
from tilewright.layout.shared import SWIZZLES, SharedLayout, Swizzle, shared_for_matrix, shared_tiled
from tilewright.layout.text import layout_text, print_layout
from tilewright.layout.transfer import Move, TensorMove, Transfer, transfer
from tilewright.layout.vectors import vector_width, vectors
