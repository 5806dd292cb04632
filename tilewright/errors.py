"""One exception class per kind of mistake.

Every message says which argument or line is meant, what was expected, what was found, and what to do about it. The classes
also derive from the built-in exception a JAX user would expect (`ValueError`, `TypeError`, …), so existing handlers work.
"""

from __future__ import annotations


class TilewrightError(Exception):
  """Base of every error this package raises on purpose."""


class TilewrightWarning(UserWarning):
  """Base of every warning this package gives on purpose."""


# --- what a kernel call is given ---------------------------------------------------------------------------------


class BlockSpecError(TilewrightError, ValueError):
  """A block spec does not fit the array it is for."""


class BlockRankError(BlockSpecError):
  """The block shape has another rank than the array."""


class IndexMapError(BlockSpecError):
  """An index map returns the wrong number, type or kind of indices."""


class IndexMapArityError(IndexMapError, TypeError):
  """An index map takes another number of arguments than there are grid indices and prefetched scalars."""


class OutShapeError(TilewrightError, ValueError, TypeError):
  """`out_shape` is missing, or has a leaf that does not describe an array."""


class ForeignNameError(TilewrightError, TypeError):
  """A kernel uses a function of `jax.experimental.pallas`, which works in kernels of that module only."""


class CapturedConstantError(TilewrightError, ValueError):
  """A kernel or an index map closes over an array."""


class MemorySpaceError(TilewrightError, ValueError):
  """A memory space that is unknown, or that cannot be used in this place."""


class AliasError(TilewrightError, ValueError):
  """`input_output_aliases` does not fit the operands."""


class TreeMismatchError(TilewrightError, ValueError):
  """A tree of specs has another structure than the values it describes."""


class GridError(TilewrightError, ValueError, TypeError):
  """A grid that is malformed, or a name or axis that is not in it."""


class CollectiveError(TilewrightError, ValueError):
  """An argument of a collective that does not fit the devices or the data."""


class CollectiveIdError(TilewrightError, ValueError):
  """A barrier between devices is used, but nothing says which devices share it."""


class DeviceKindError(TilewrightError, ValueError):
  """Facts were asked for about a device that is not of the kind they are known for."""


class KernelTypeError(TilewrightError, TypeError):
  """A kernel got, or returned, something of the wrong type."""


class KernelReturnError(TilewrightError, ValueError, TypeError):
  """A kernel body returned a value where it must return None."""


# --- what a kernel body does -------------------------------------------------------------------------------------


class RefTypeError(TilewrightError, TypeError, ValueError):
  """Something that must be a ref of a certain kind is not."""


class ShapeMismatchError(TilewrightError, ValueError, TypeError):
  """Shapes or dtypes of two operands do not go together. JAX raises either of the two built-in classes, depending on the operation."""


class BooleanIndexError(ShapeMismatchError, IndexError):
  """A ref is indexed by booleans that are not known when the kernel is compiled."""


class UnreadRefError(TilewrightError, AttributeError, TypeError, ValueError):
  """A ref is used where its value is needed."""


class DynamicSizeError(TilewrightError, TypeError, ValueError):
  """The size of a slice depends on values that are known only when the kernel runs."""


class SideEffectError(TilewrightError, ValueError):
  """`has_side_effects` is none of the values it may have."""


class InputWriteError(TilewrightError, ValueError):
  """A kernel writes to an input where it must not."""


class InputWriteWarning(TilewrightWarning):
  """A kernel writes to one of its inputs, which the caller does not see."""


class AxisNameError(TilewrightError, NameError):
  """A body asks for a position along an axis that neither its grid nor its mesh has."""


class OutsideKernelError(TilewrightError, ValueError):
  """A function that has a meaning only inside a kernel was called outside of one."""


class UnsupportedPrimitiveError(TilewrightError, NotImplementedError):
  """A primitive that this target cannot run."""


class UnsupportedFeatureError(TilewrightError, NotImplementedError):
  """Something that is documented but not built here yet."""


class EffectError(TilewrightError, NotImplementedError):
  """A transformation met an effect that it would change the meaning of."""


class CheckifyError(TilewrightError, ValueError):
  """A `checkify.check` in a function that `checkify` does not transform."""


# --- fusing a program into a kernel ------------------------------------------------------------------------------


class FusionError(TilewrightError, ValueError):
  """A program that is not of the form the fuser takes: one call of a fusible kernel with ordinary operations around it."""


class FusionConflictError(FusionError, NotImplementedError):
  """A value is needed in two different blocks at once."""


class UnsupportedFusionError(FusionError, NotImplementedError):
  """An operation that cannot be computed in the blocks that are asked for: which one, and why."""

  def __init__(self, message: str, eqn: object = None, why: str = "") -> None:
    super().__init__(message)
    self.eqn, self.why = eqn, why


# --- what shows at run time --------------------------------------------------------------------------------------


class DebugCheckError(TilewrightError, AssertionError):
  """A `debug_check` found its condition false."""


class DeadlockError(TilewrightError, RuntimeError):
  """A wait that can never end."""


class RaceError(TilewrightError, ValueError):
  """A kernel uses memory before a copy or a product is done with it."""


class OutOfBoundsError(TilewrightError, IndexError):
  """The simulated machine saw an access outside of a buffer."""


class ReplacementWarning(TilewrightWarning):
  """Part of the program is bound to JAX's own Pallas although `replace_pallas` is in force."""


class DeprecatedNameWarning(TilewrightWarning, DeprecationWarning):
  """A name that JAX has deprecated was used. It still works."""


# --- the compiler ------------------------------------------------------------------------------------------------


class TileError(TilewrightError, ValueError):
  """The tile IR is not well formed."""


class NativeCodeError(TilewrightError, NotImplementedError):
  """The native target cannot compile something yet."""


class LayoutError(TilewrightError, ValueError):
  """A layout that is malformed, or that does not fit where it is used."""


# --- numbers -----------------------------------------------------------------------------------------------------


class NumberFormatError(TilewrightError, ValueError):
  """A number format, rounding mode or scaling recipe that does not exist, or that cannot be used in this place."""


class LayoutConflictError(LayoutError):
  """No layouts satisfy all that a kernel asks of them. `conflict` is a smallest set of constraints that exclude each other."""

  def __init__(self, message: str, conflict: tuple[object, ...] = (), proposal: str = ""):
    super().__init__(message)
    self.conflict = conflict
    self.proposal = proposal


class LayoutBudgetError(LayoutError):
  """The search for layouts was given up before it was done; there may be a solution."""


class ResourceExhaustedError(TilewrightError, RuntimeError):
  """Code would need more of an on-chip memory than the device has."""


# --- tuning ------------------------------------------------------------------------------------------------------


class TuningError(TilewrightError, ValueError):
  """A search space, a budget or a table of tuning that makes no sense, or a search that found nothing that works."""


class MissingTuningError(TuningError, LookupError):
  """Strict tuning, and there is no entry for a kernel and its shapes."""


class TuningWarning(TilewrightWarning):
  """A kernel runs with its heuristic because it was not tuned, or a table has lines that are not used."""
