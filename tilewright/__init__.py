"""Tilewright: the kernel compiler that stays in JAX.

`tilewright.pallas` is the kernel language, `tilewright.hlo` the program XLA compiles, as Python objects.
"""

__version__ = "0.1.0"
