"""Layouts: where each element of a tile stands, in registers, shared memory and tensor memory, as values.

layout      the value: mixed-radix digits of register, lane and warp, each moving along the tile
algebra     composition, inverse, reshape, transpose, projection
build       splat, strided, blocked, repetitions of a fragment
vectors     neighbours that a thread holds together
"""

from tilewright.layout.algebra import compose, expanded, inverse, projected, reshaped, transposed
from tilewright.layout.build import blocked, blocked_for, repeated, splat, strided
from tilewright.layout.layout import LANE, LANES, OFFSET, REGISTER, WARP, Digit, Layout, Term, layout, register_layout
from tilewright.layout.vectors import vector_width, vectors
