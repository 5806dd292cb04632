"""Layouts of tiles: constraints that ops put on them, solved at the least cost.

choice           whether layouts are inferred
inference        the solution for a kernel: `infer`
system           variables for values and uses
constraints      the constraints of each op, a table keyed by op
dot_kinds        the ways to multiply matrices, and the layouts each requires
operand_layouts  the layout of an operand, from that of the result
hints            layouts that the user gives, as text in the tile IR
"""
