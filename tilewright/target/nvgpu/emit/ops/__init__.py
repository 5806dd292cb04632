"""Code for the ops of a body.

arithmetic       elementwise ops where the GPU has its own way: exp, tanh, division, ...
trigonometry     sin, cos and tan
recast           a wide element as narrower ones
reductions       reductions, scans, positions of extremes
sorting          a bitonic network
gather_scatter   gathers, and scatters in order
atomics          atomics, and scatters that combine by them
relayout         a tile from one layout to another
effects          semaphores, checks, prints
cache_modifiers  eviction policies and modifiers that the user names
peers            memory and semaphores of other devices
told             a number that one thread finds, told to the others
user_asm         assembly that the user writes
"""
