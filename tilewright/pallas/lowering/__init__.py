"""Lowering of kernel jaxprs to the tile IR: a table of rules keyed by JAX primitive.

`lower_kernel` is the entry point. A primitive without a rule raises an error that names it, the user's line, and the fix.
"""

from tilewright.pallas.lowering import bits as _bits
from tilewright.pallas.lowering import clusters as _clusters
from tilewright.pallas.lowering import contractions as _contractions
from tilewright.pallas.lowering import copies as _copies
from tilewright.pallas.lowering import effects as _effects
from tilewright.pallas.lowering import expansions as _expansions
from tilewright.pallas.lowering import fourier as _fourier
from tilewright.pallas.lowering import gather as _gather
from tilewright.pallas.lowering import linear_algebra as _linear_algebra
from tilewright.pallas.lowering import memory as _memory
from tilewright.pallas.lowering import random as _random
from tilewright.pallas.lowering import sort as _sort
from tilewright.pallas.lowering import special as _special
from tilewright.pallas.lowering import structure as _structure
from tilewright.pallas.lowering import warpgroups as _warpgroups
from tilewright.pallas.lowering import windows as _windows
from tilewright.pallas.lowering.control import device_axes, lower_kernel
from tilewright.pallas.lowering.effects import REFUSED
from tilewright.pallas.lowering.table import RULES

__all__ = ["REFUSED", "RULES", "device_axes", "lower_kernel"]
