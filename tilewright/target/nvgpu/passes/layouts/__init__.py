"""Layouts of tiles: constraints that ops put on them, solved at the least cost.

choice           whether anything is to be inferred
inference        the solution for a kernel: `infer`
system           variables for values and uses
constraints      what each op asks, a table keyed by op
dot_kinds        the ways to multiply matrices, and the layouts each wants
operand_layouts  the layout of an operand, from that of the result
hints            layouts that the user gives, as text in the tile IR
"""
