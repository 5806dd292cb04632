"""The middle of the compiler: what a kernel is, as data.

`memory` names where a ref lives, `grid` says which block of each array a program instance sees. Every target reads these.
"""
