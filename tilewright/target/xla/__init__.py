"""The portable target: a kernel as ordinary JAX operations, which XLA compiles once for any backend.

`run(kernel, *operands)` is the lowering. `register` gives a primitive its rule.
"""

from tilewright.target.xla import control as _control  # registers the rules of control flow
from tilewright.target.xla.evaluate import (
  Cell,
  Context,
  GlobalRef,
  Instance,
  evaluate,
  find_globals,
  register,
  register_globals,
)
from tilewright.target.xla.grid import run
from tilewright.target.xla.refs import accumulate, poison, poison_value, write_where, zeros

__all__ = [
  "Cell",
  "Context",
  "GlobalRef",
  "Instance",
  "accumulate",
  "evaluate",
  "find_globals",
  "poison",
  "poison_value",
  "register",
  "register_globals",
  "run",
  "write_where",
  "zeros",
]

del _control
