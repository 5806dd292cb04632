"""Values of user-defined (hijax) types in kernels: a ref to such a value becomes one ref for each array it consists of.

    values, scales = take_apart(q_ref)                          # refs to the bytes and to the scales of a quantised array
    block = read_together(ty, [values.at[0:8], scales.at[0:8]])

A body is traced with refs to whole values. `lowered` then replaces them by refs to arrays; only those reach a `Kernel`. The type defines
how a value is cut into blocks: `lower_block_spec(spec)` returns a spec for each array, `block_type(avals)` the type made of such blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright import errors
from tilewright.pallas import fusion_types
from tilewright.pallas.primitives import Primitive, ReadEffect, WriteEffect, declare_ref_result
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.runtime import _jax


def is_high(aval: Any) -> bool:
  return bool(getattr(aval, "is_high", False))


def lowered(jaxpr: Any, what: str) -> Any:
  """The jaxpr over arrays and refs to arrays."""
  jaxpr = fusion_types.without_packed(jaxpr, what)
  if not jaxpr.is_high:
    return jaxpr
  body, consts = _jax.detach(_jax.pe.lower_jaxpr2(_jax.pe.close_jaxpr(jaxpr)))
  if consts:
    raise errors.CapturedConstantError(f"A user-defined type closes over constants in {what}; pass them as inputs.")
  return body


def lower_types(avals: Sequence[Any]) -> list[Any]:
  return [lo for aval in avals for lo in aval.lo_ty()]


def lower_values(values: Sequence[Any]) -> list[Any]:
  return [lo for x in values for lo in _jax.core.typeof(x).lower_val(x)]


def lower_spec(spec: Any, aval: Any, path: str) -> list[tuple[Any, Any]]:
  """A spec and a type for each array that a value consists of."""
  if not is_high(aval):
    return [(spec, aval)]
  lo_avals = aval.lo_ty()
  if spec is None or spec is no_block_spec or (spec.block_shape is None and spec.index_map is None):
    return [(spec, lo) for lo in lo_avals]
  if hasattr(aval, "lower_block_spec"):
    specs = aval.lower_block_spec(spec)
    if len(specs) == len(lo_avals) and all(isinstance(s, BlockSpec) for s in specs):
      return list(zip(specs, lo_avals))
    raise errors.BlockSpecError(
      f"{path} has the user-defined type {aval} of {len(lo_avals)} arrays, but its method lower_block_spec returned {specs!r}. It must "
      "return one pl.BlockSpec for each array."
    )
  raise errors.BlockSpecError(
    f"{path} has the user-defined type {aval}, which has no rule for splitting it into blocks. Give its class a method "
    "lower_block_spec(spec) that returns one BlockSpec for each array it consists of."
  )


def block_type(aval: Any, parts: Sequence[Any], path: str) -> Any:
  """The type of a block of a value, from the types of the blocks of its arrays."""
  if not is_high(aval):
    return parts[0]
  if [(p.shape, p.dtype) for p in parts] == [(a.shape, a.dtype) for a in aval.lo_ty()]:
    return aval
  if hasattr(aval, "block_type"):
    return aval.block_type(list(parts))
  raise errors.BlockSpecError(
    f"{path} has the user-defined type {aval}, which does not define the type of a block. Give its class a method "
    "block_type(avals) that returns the type made of blocks of these types."
  )


# --- between values and their arrays -----------------------------------------------------------------------------

ref_part_p, lower_value_p, raise_value_p = map(Primitive, ("ref_part", "lower_value", "raise_value"))
declare_ref_result(ref_part_p)
lower_value_p.multiple_results = True
for _primitive in (ref_part_p, lower_value_p, raise_value_p):
  _primitive.is_high = lambda *avals, **_: True

ref_part_p.def_effectful_abstract_eval(lambda ref, *, part: (ref.lo_ty()[part], {ReadEffect(0), WriteEffect(0)}))
lower_value_p.def_abstract_eval(lambda aval: aval.lo_ty())
raise_value_p.def_abstract_eval(lambda *_, ty: ty)
ref_part_p.to_lojax = lambda ref, *, part: _jax.core.typeof(ref).lower_val(ref)[part]
lower_value_p.to_lojax = lambda x: _jax.core.typeof(x).lower_val(x)
raise_value_p.to_lojax = lambda *arrays, ty: ty.raise_val(*arrays)


def take_apart(ref: Any) -> list[Any]:
  """Refs to the arrays of the value that a ref holds."""
  return [ref_part_p.bind(ref, part=i) for i in range(len(_jax.core.typeof(ref).lo_ty()))]


def read_together(ty: Any, parts: Sequence[Any]) -> Any:
  """The value of type `ty` whose arrays these refs hold."""
  return raise_value_p.bind(*(ref[...] for ref in parts), ty=ty)


def write_apart(parts: Sequence[Any], value: Any) -> None:
  """Store the arrays of a value in these refs."""
  for ref, array in zip(parts, lower_value_p.bind(value), strict=True):
    ref[...] = array
