"""User-defined element types of arrays that exist only while a program is traced: each such value is stored as several arrays.

    @dataclasses.dataclass(frozen=True)
    class Split(FusionDType):                 # a float32 as the sum of two bfloat16s
      name = property(lambda self: "split")
      def abstract_pack(self, high, low): return core.ShapedArray(high.shape, self)
      def abstract_unpack(self, x): return [core.ShapedArray(x.shape, "bfloat16")] * 2

    x = pack(high, low, dtype=Split())        # one value: it can be transposed, or be the operand of a fusible kernel
    high, low = unpack(x)

`resolved` evaluates a program on the arrays that such values are stored as: `pack` makes a tuple, `unpack` takes it apart, and an
operation on a packed value is what the type's rule for it says (`register_op`). Bodies of kernels are resolved when they are
traced, programs by `fuser.physicalize` and `fuser.fuse`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import jax
from jax import lax

from tilewright import errors
from tilewright.pallas import jaxprs
from tilewright.runtime import _jax
from tilewright.tile.grid import source_line

core = _jax.core


class FusibleElementDType(jax.dtypes.extended):
  """The scalar type of all these types, as `jax.dtypes.issubdtype` sees them."""


class FusibleTyRules:
  """What JAX asks about the type: nothing converts to it or from it."""

  allow_conversion: bool = False


OpRule = Callable[..., Any]


class FusionDType(_jax.dtypes.ExtendedDType, abc.ABC):
  """The base of user-defined element types. They compare and hash by value, as frozen dataclasses do."""

  _rules = FusibleTyRules
  type = FusibleElementDType
  _op_registry: ClassVar[dict[Any, OpRule]] = {}

  def __init_subclass__(cls, **kwargs: Any) -> None:
    super().__init_subclass__(**kwargs)
    cls._op_registry = {}

  @property
  @abc.abstractmethod
  def name(self) -> str:
    """How it prints."""

  @abc.abstractmethod
  def abstract_pack(self, *xs: Any) -> Any:
    """The type of the array that arrays of these types are packed into."""

  @abc.abstractmethod
  def abstract_unpack(self, x: Any) -> Sequence[Any]:
    """The types of the arrays that an array of this type is stored as."""

  @abc.abstractmethod
  def pull_block_spec_one_step(self, aval_out: Any, *args: Any, **kwargs: Any) -> Sequence[Any]:
    """The views of what is packed, from the view of the packed array (`fuser.BlockIndexTransform`)."""

  @abc.abstractmethod
  def unpack_push_block_spec(self, aval_in: Any, *args: Any, **kwargs: Any) -> Sequence[Any]:
    """The block specs of what is unpacked, from that of the packed array."""

  @abc.abstractmethod
  def unpack_pull_block_spec(self, aval_in: Any, *args: Any, **kwargs: Any) -> Sequence[Any]:
    """The view of the packed array, as a sequence of one, from those of what is unpacked."""

  def pack_eval_rule(self, eval_ctx: Any, *args: Any) -> Any:
    """The block of a packed array, from those of what is packed: packed where the program is traced, otherwise a tuple."""
    return pack(*args, dtype=self) if any(isinstance(x, core.Tracer) for x in args) else args

  def unpack_eval_rule(self, eval_ctx: Any, arg: Any) -> Sequence[Any]:
    """The blocks of what is unpacked, from that of the packed array."""
    return unpack(arg)

  @classmethod
  def register_op(cls, primitive: Any) -> Callable[[OpRule], OpRule]:
    """A decorator: `rule(ctx, *args, **params)` computes a primitive where it is applied to this type. Packed values are tuples of
    their arrays, among the arguments and as the result."""

    def register(rule: OpRule) -> OpRule:
      cls._op_registry[primitive] = rule
      return rule

    return register

  @classmethod
  def get_op_rule(cls, primitive: Any) -> OpRule | None:
    """The rule of a primitive, of this type or of one it derives from."""
    return next((r for c in cls.__mro__ if (r := vars(c).get("_op_registry", {}).get(primitive)) is not None), None)


# --- the primitives ----------------------------------------------------------------------------------------------

pack_dtype_p = core.Primitive("pack_dtype")
pack_dtype_p.def_abstract_eval(lambda *xs, dtype: dtype.abstract_pack(*xs))

unpack_dtype_p = core.Primitive("unpack_dtype")
unpack_dtype_p.multiple_results = True
unpack_dtype_p.def_abstract_eval(lambda x: list(x.dtype.abstract_unpack(x)))


def pack(*xs: Any, dtype: FusionDType) -> Any:
  """Arrays as one array of a user-defined type."""
  return pack_dtype_p.bind(*xs, dtype=dtype)


def unpack(x: Any) -> tuple[Any, ...]:
  """The arrays that an array of a user-defined type is stored as; a tuple of them is such an array that was taken apart already."""
  if isinstance(x, tuple | list):
    return tuple(x)
  if not is_packed(core.typeof(x)):
    raise errors.FusionError(f"unpack: expected an array of a FusionDType, got {core.typeof(x)}.")
  return tuple(unpack_dtype_p.bind(x))


def is_packed(aval: Any) -> bool:
  """Whether a type is that of an array of a user-defined element type, or of a ref to one."""
  return isinstance(getattr(aval, "dtype", None), FusionDType)


def occur(jaxpr: Any) -> bool:
  """Whether such types occur in a jaxpr or in those inside it."""
  body, _ = _jax.open_jaxpr(jaxpr)
  return any(is_packed(v.aval) for v in body.invars) or any(map(_concerned, body.eqns))


def _concerned(eqn: Any) -> bool:
  if any(is_packed(v.aval) for v in (*eqn.invars, *eqn.outvars)):
    return True
  return any(occur(inner.jaxpr) for inner in jaxprs.inner_jaxprs(eqn))


# --- evaluation on what is stored --------------------------------------------------------------------------------

# Those whose body is evaluated in their place.
_CALLS = {"jit", "pjit", "remat2", "checkpoint", "eval_jaxpr", "closed_call", "core_call", "call"}
_CALLS |= {"custom_jvp_call", "custom_vjp_call"}


class OpContext(NamedTuple):
  """What a rule is told about the equation: the types of its operands and results."""

  avals_in: tuple[Any, ...]
  avals_out: tuple[Any, ...]


def resolved(jaxpr: Any, args: Sequence[Any]) -> list[Any]:
  """The outputs of an open jaxpr; packed ones are tuples of arrays."""
  env: dict[Any, Any] = dict(zip(jaxpr.invars, args, strict=True))
  read = lambda a: a.val if isinstance(a, core.Literal) else env[a]
  for eqn in jaxpr.eqns:
    operands = [read(a) for a in eqn.invars]
    with _jax.source_info_util.user_context(eqn.source_info.traceback):
      env.update(zip(eqn.outvars, _evaluate(eqn, operands), strict=True))
  return [read(a) for a in jaxpr.outvars]


def _evaluate(eqn: Any, operands: list[Any]) -> Sequence[Any]:
  name = eqn.primitive.name
  if eqn.primitive is pack_dtype_p:
    return [tuple(operands)]
  if eqn.primitive is unpack_dtype_p:
    return list(operands[0])
  if not _concerned(eqn):
    return _bind(eqn, operands, eqn.params)
  if name in _CALLS:
    (inner,) = jaxprs.inner_jaxprs(eqn)
    return _function(inner.jaxpr)(*operands)
  if name in _CONTROL:
    return _CONTROL[name](eqn, operands)
  packed = [v.aval.dtype for v in (*eqn.invars, *eqn.outvars) if is_packed(v.aval)]
  if packed:
    rule = packed[0].get_op_rule(eqn.primitive)
    if rule is None:
      raise errors.UnsupportedFusionError(
        f"'{eqn.primitive}' at {source_line(eqn) or 'an unknown line'} is applied to an array of the user-defined type {packed[0]}, which "
        f"has no rule for it. Give it one with @{type(packed[0]).__name__}.register_op, or unpack the array first."
      )
    context = OpContext(tuple(v.aval for v in eqn.invars), tuple(v.aval for v in eqn.outvars))
    outs = rule(context, *operands, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]
  return _bind(jaxprs.map_inner(eqn, lambda _, body: without_packed(body)), operands)


def _bind(eqn: Any, operands: Sequence[Any], params: Any = None) -> list[Any]:
  outs = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params if params is None else params))
  return list(outs) if eqn.primitive.multiple_results else [outs]


def _function(closed: Any) -> Callable[..., list[Any]]:
  body, consts = _jax.detach(closed)
  return lambda *args: resolved(body, [*consts, *args])


def _cond(eqn: Any, operands: list[Any]) -> list[Any]:
  which, *args = operands
  # Branches close over their operands, among which there may be refs.
  return list(lax.switch(which, [lambda b=b: tuple(_function(b)(*args)) for b in eqn.params["branches"]]))


def _while(eqn: Any, operands: list[Any]) -> list[Any]:
  params = eqn.params
  num_cond, num_body = params["cond_nconsts"], params["body_nconsts"]
  test, body = _function(params["cond_jaxpr"]), _function(params["body_jaxpr"])
  of_test, of_body, init = (
    operands[:num_cond],
    operands[num_cond : num_cond + num_body],
    operands[num_cond + num_body :],
  )
  return list(lax.while_loop(lambda c: test(*of_test, *c)[0], lambda c: tuple(body(*of_body, *c)), tuple(init)))


def _scan(eqn: Any, operands: list[Any]) -> list[Any]:
  params = eqn.params
  num_consts, num_carry = _jax.scan_counts(params)
  first = num_consts + num_carry
  consts, init, xs = operands[:num_consts], operands[num_consts:first], operands[first:]
  body = _function(params["jaxpr"])

  def step(carry: Any, rows: Any) -> Any:
    outs = body(*consts, *carry, *rows)
    return tuple(outs[:num_carry]), tuple(outs[num_carry:])

  unroll = params.get("unroll", 1)
  carry, ys = lax.scan(step, tuple(init), tuple(xs), params["length"], reverse=params["reverse"], unroll=unroll)
  return [*carry, *ys]


_CONTROL: dict[str, Callable[[Any, list[Any]], list[Any]]] = {"cond": _cond, "while": _while, "scan": _scan}


def without_packed(jaxpr: Any, what: str = "its body") -> Any:
  """The open jaxpr of a body of arrays and refs, with packed values inside of it taken apart.

  A body with packed operands stays as it is. There is one while a `fusible` is traced that is to be fused; computing it is refused.
  """
  if any(is_packed(v.aval) for v in (*jaxpr.invars, *jaxpr.outvars)) or not occur(jaxpr):
    return jaxpr
  info = jaxpr.debug_info.with_unknown_names()
  new, consts = _jax.open_jaxpr(_jax.trace(lambda *args: resolved(jaxpr, args), [v.aval for v in jaxpr.invars], info))
  if consts:
    raise errors.CapturedConstantError(
      f"A rule of a user-defined type brought constants into {what}; make them scalars."
    )
  return new
