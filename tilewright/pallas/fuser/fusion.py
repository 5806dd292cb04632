"""Fusions, fusible functions, and `fuse`, which turns the operations around a fusible call into fusions.

    @fuser.fusible
    def matmul(x, y, out): ...           # a kernel of fusions: x() and y() give the operands, out(z) makes the result
    of the product

    @fuser.fuse
    def f(x, w, b): return jax.nn.gelu(matmul(x * 2, w) + b)

Called on its own, a fusible function gets trivial fusions and None for what follows. Inside `fuse`, `x * 2` becomes the
first fusion and `z -> gelu(z + b)` the last: the kernel pulls block specs through them and computes them block by
block.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.pallas.arity import check_takes
from tilewright.pallas.fuser import dtypes
from tilewright.pallas.fuser.inlining import CALLS, contains, inline, without_dead_code
from tilewright.runtime import _jax
from tilewright.runtime.user_line import names_line
from tilewright.tile.grid import source_line

core = _jax.core


@dataclasses.dataclass(frozen=True)
class Fusion:
  """A function that is to be computed inside a kernel, with the types of its arguments and results.

  Args:
    func: the function.
    in_type: types of its arguments, `(args, kwargs)`.
    out_type: types of its results.
    strict_mode: whether a value that is needed in two different blocks is an error.
  """

  func: Callable[..., Any]
  in_type: tuple[Any, Any]
  out_type: Any
  strict_mode: bool = True

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    return self.func(*args, **kwargs)

  @property
  def type(self) -> Any:
    return self.out_type

  @property
  def shape(self) -> Any:
    return jax.tree.map(lambda t: t.shape, self.out_type)

  @property
  def dtype(self) -> Any:
    return jax.tree.map(lambda t: t.dtype, self.out_type)

  @property
  def ndim(self) -> Any:
    return jax.tree.map(lambda t: len(t.shape), self.out_type)

  @property
  def in_shape(self) -> Any:
    return jax.tree.map(lambda t: t.shape, self.in_type)

  @property
  def in_dtype(self) -> Any:
    return jax.tree.map(lambda t: t.dtype, self.in_type)


# --- the primitive -----------------------------------------------------------------------------------------------

fusible_p = core.Primitive("fusible")
fusible_p.multiple_results = True


def _evaluate(closed: Any, args: Sequence[Any]) -> list[Any]:
  jaxpr, consts = _jax.detach(closed)
  return core.eval_jaxpr(jaxpr, (), *consts, *args)


def _unfused(*args: Any, jaxpr: Any, **_: Any) -> list[Any]:
  return _evaluate(jaxpr, args)


fusible_p.def_impl(_unfused)
fusible_p.def_abstract_eval(lambda *_, jaxpr, **__: [v.aval for v in _jax.open_jaxpr(jaxpr)[0].outvars])
_jax.mlir.register_lowering(fusible_p, _jax.mlir.lower_fun(_unfused, multiple_results=True))


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  zeros = [_jax.ad.instantiate_zeros(t) if isinstance(t, _jax.ad.Zero) else t for t in tangents]
  return jax.jvp(functools.partial(_unfused, **params), tuple(primals), tuple(zeros))


def _batch(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
  outs = jax.vmap(functools.partial(_unfused, **params), in_axes=tuple(dims))(*args)
  return outs, [0] * len(outs)


_jax.ad.primitive_jvps[fusible_p] = _jvp
_jax.batching.primitive_batchers[fusible_p] = _batch


def _trivial(x: Any) -> Fusion:
  return Fusion(lambda: x, ((), {}), core.typeof(x))


def fusible(
  f: Callable[..., Any] | None = None, *, output_fusion_prefix: Any = True, output_fusion_mask: Any = None
) -> Any:
  """Make a kernel of fusions a function of arrays.

  Args:
    f: `f(*input_fusions, output_fusions)`. Each argument of the fusible function becomes a `Fusion` without arguments.
      `output_fusions` is None on its own; inside `fuse` it has the structure of `output_fusion_prefix`, with a `Fusion`
      of the results under each leaf, or None where nothing follows. A fusion returns a tuple.
    output_fusion_prefix: a prefix of the structure of the results: those under one leaf are fused with what follows
      together, those under different leaves separately.
    output_fusion_mask: the older name of `output_fusion_prefix`.
  """
  prefix = output_fusion_prefix if output_fusion_mask is None else output_fusion_mask
  if f is None:
    return functools.partial(fusible, output_fusion_prefix=prefix)
  func = f

  @functools.wraps(func)
  def wrapper(*args: Any) -> Any:
    leaves, in_tree = jax.tree.flatten(args)
    trees: list[Any] = []

    check_takes(
      func,
      "The fusible function",
      "a fusion for each argument, then the output fusions",
      (*args, None),
      error=errors.FusionError,
    )

    def flat(*values: Any) -> list[Any]:
      out = func(
        *(jax.tree.map(_trivial, a) for a in jax.tree.unflatten(in_tree, values)), jax.tree.map(lambda _: None, prefix)
      )
      flat_out, tree = jax.tree.flatten(out)
      trees.append(tree)
      return flat_out

    avals = [core.typeof(x) for x in leaves]
    closed = _jax.trace(flat, avals, _jax.api_util.debug_info("fusible", func, args, {}))
    jaxpr, consts = _jax.detach(closed)
    outs = fusible_p.bind(
      *consts,
      *leaves,
      func=func,
      jaxpr=core.ClosedJaxpr(jaxpr, ()),
      num_consts=len(consts),
      in_tree=in_tree,
      out_tree=trees[-1],
      output_fusion_prefix=_Static(prefix),
    )
    return jax.tree.unflatten(trees[-1], outs)

  return wrapper


@dataclasses.dataclass(frozen=True, eq=False)
class _Static:
  """A tree as a parameter of an equation."""

  tree: Any

  def __repr__(self) -> str:
    return repr(self.tree)


# Whether a function is being traced for `fuse`.
_fusing: contextvars.ContextVar[bool] = contextvars.ContextVar("fusing", default=False)


# --- fuse --------------------------------------------------------------------------------------------------------


def fuse(
  f: Callable[..., Any] | None = None,
  *,
  resolve_fusion_dtypes: bool = True,
  debug: bool = False,
  strict_mode: bool = True,
  static_argnums: int | Sequence[int] | None = None,
  static_argnames: str | Iterable[str] | None = None,
) -> Any:
  """Fuse the operations around a call of a fusible function into it.

  Args:
    f: a function with a call of a `fusible` in its body. Of several calls the first is fused with the operations around it;
      the others are computed as they are. A `fuse` inside of another one does nothing: its call belongs to the outer.
    resolve_fusion_dtypes: whether values of types that only exist in a program (PRNG keys, user-defined element types) are replaced by
      the arrays they are stored as.
    debug: whether to print the jaxpr before fusion and the jaxpr of each fusion.
    strict_mode: whether a value that is needed in two different blocks is an error.
    static_argnums: positional arguments that are not arrays.
    static_argnames: named arguments that are not arrays.
  """
  if f is None:
    return functools.partial(
      fuse,
      resolve_fusion_dtypes=resolve_fusion_dtypes,
      debug=debug,
      strict_mode=strict_mode,
      static_argnums=static_argnums,
      static_argnames=static_argnames,
    )
  func = f
  positions = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums or ())
  names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames or ())

  @functools.wraps(func)
  @names_line
  def wrapper(*args: Any, **kwargs: Any) -> Any:
    if _fusing.get():
      return func(*args, **kwargs)
    fixed = {i % max(len(args), 1) for i in positions}
    dynamic = [None if i in fixed else a for i, a in enumerate(args)]
    named = {k: v for k, v in kwargs.items() if k not in names}
    leaves, in_tree = jax.tree.flatten((dynamic, named))
    trees: list[Any] = []

    def flat(*values: Any) -> list[Any]:
      a, k = jax.tree.unflatten(in_tree, values)
      given = [args[i] if i in fixed else x for i, x in enumerate(a)]
      out, tree = jax.tree.flatten(func(*given, **k, **{n: v for n, v in kwargs.items() if n in names}))
      trees.append(tree)
      return out

    info = _jax.api_util.debug_info("fuse", func, args, kwargs).with_unknown_names()
    outer = _fusing.set(True)
    try:
      closed = _jax.trace(flat, [core.typeof(x) for x in leaves], info)
    finally:
      _fusing.reset(outer)
    run = functools.partial(_fuse_jaxpr, debug=debug, strict=strict_mode)
    whole = functools.partial(dtypes.without_packed, run)
    outs = dtypes.run_on_arrays(closed, leaves, whole) if resolve_fusion_dtypes else run(closed, leaves)
    return jax.tree.unflatten(trees[-1], outs)

  return wrapper


def _fuse_jaxpr(closed: Any, args: Sequence[Any], debug: bool, strict: bool) -> list[Any]:
  holds_call = lambda eqn: contains(eqn.params[CALLS[eqn.primitive.name]], fusible_p)
  jaxpr, consts = without_dead_code(*inline(*_jax.detach(closed), only=holds_call))
  if debug:
    print(f"Jaxpr before fusion:\n{jaxpr}")
  calls = [i for i, e in enumerate(jaxpr.eqns) if e.primitive is fusible_p]
  if not calls:
    raise errors.FusionError(
      "No fusible eqn found: fuse needs a call of a fuser.fusible function in its body whose results are used, "
      "outside of loops and branches."
    )
  known = dict(zip(jaxpr.invars, (*consts, *args), strict=True))
  eqn = jaxpr.eqns[calls[0]]
  return _call_fused(jaxpr, calls[0], eqn, known, debug, strict)


def _slice_of(
  jaxpr: Any, outs: Sequence[Any], inputs: Sequence[Any], known: dict[Any, Any]
) -> tuple[Any, tuple[Any, ...]]:
  """The part of a jaxpr that computes some variables from `inputs` and from values that are known: a jaxpr, and those
  values, its first inputs."""
  outer = [v for v in known if v not in inputs]
  info = jaxpr.debug_info.with_unknown_names()
  effects: Any = core.join_effects(*(e.effects for e in jaxpr.eqns)) if jaxpr.eqns else core.no_effects
  cut = jaxpr.replace(invars=[*outer, *inputs], outvars=list(outs), debug_info=info, effects=effects)
  return without_dead_code(cut, [known[v] for v in outer])


def _depends(jaxpr: Any, sources: Iterable[Any]) -> set[Any]:
  """All variables that depend on some."""
  found = set(sources)
  for eqn in jaxpr.eqns:
    if any(isinstance(a, core.Var) and a in found for a in eqn.invars):
      found.update(eqn.outvars)
  return found


def _call_fused(jaxpr: Any, place: int, eqn: Any, known: dict[Any, Any], debug: bool, strict: bool) -> list[Any]:
  params = eqn.params
  before = jaxpr.replace(eqns=jaxpr.eqns[:place], debug_info=jaxpr.debug_info.with_unknown_names())
  after = jaxpr.replace(eqns=[e for e in jaxpr.eqns if e is not eqn], debug_info=jaxpr.debug_info.with_unknown_names())
  operands = eqn.invars[params["num_consts"] :]
  inputs = [_input_fusion(before, a, known, debug, strict, i) for i, a in enumerate(operands)]
  outputs, wanted = _output_fusions(after, eqn, known, debug, strict)
  args = jax.tree.unflatten(params["in_tree"], inputs)
  returned = jax.tree.leaves(params["func"](*args, outputs))
  expected = [a for group in wanted for a in group]
  if len(returned) != len(expected):
    raise errors.FusionError(
      f"The fusible function {getattr(params['func'], '__name__', params['func'])} at {source_line(eqn)} returned "
      f"{len(returned)} results, but the "
      f"fusions of its outputs have {len(expected)}. Return what each output fusion gives, or the output itself where "
      "the fusion is None."
    )
  env = dict(zip(expected, returned))
  rest = [a for a in jaxpr.outvars if not isinstance(a, core.Literal) and a not in env]
  if rest:  # outputs that do not depend on the call
    cut, values = _slice_of(before.replace(eqns=jaxpr.eqns), rest, (), known)
    env.update(zip(rest, core.eval_jaxpr(cut, (), *values)))
  return [a.val if isinstance(a, core.Literal) else env[a] for a in jaxpr.outvars]


def _input_fusion(before: Any, atom: Any, known: dict[Any, Any], debug: bool, strict: bool, position: int) -> Fusion:
  if isinstance(atom, core.Literal):
    return Fusion(lambda: atom.val, ((), {}), atom.aval, strict)
  cut, values = _slice_of(before, [atom], (), known)
  if debug:
    print(f"Fusion of input {position}:\n{cut}")
  return Fusion(lambda: core.eval_jaxpr(cut, (), *values)[0], ((), {}), atom.aval, strict)


def _output_fusions(
  after: Any, eqn: Any, known: dict[Any, Any], debug: bool, strict: bool
) -> tuple[Any, list[list[Any]]]:
  """A fusion for each group of results; for each, which outputs of the program it gives."""
  params = eqn.params
  prefix = params["output_fusion_prefix"].tree
  out_tree = params["out_tree"]
  results = jax.tree.unflatten(out_tree, eqn.outvars)
  prefix_tree = jax.tree.structure(prefix)
  groups = [jax.tree.leaves(sub) for sub in prefix_tree.flatten_up_to(results)]
  subtrees = [jax.tree.map(lambda v: v.aval, sub) for sub in prefix_tree.flatten_up_to(results)]
  dependent = [_depends(after, group) for group in groups]
  outs = [a for a in dict.fromkeys(a for a in after.outvars if isinstance(a, core.Var))]
  wanted: list[list[Any]] = [[] for _ in groups]
  for a in outs:
    sources = [i for i, d in enumerate(dependent) if a in d]
    if len(sources) > 1:
      raise errors.FusionError(
        "Outputs must be disjoint in order to use separate output fusions: an output of type "
        f"{a.aval.str_short(short_dtypes=True)} depends on "
        f"results {sources} of the fusible function at {source_line(eqn)}, which output_fusion_prefix keeps apart. "
        "Put them under one leaf of the prefix."
      )
    if sources:
      wanted[sources[0]].append(a)
  fusions: list[Any] = []
  for i, (group, targets, subtree) in enumerate(zip(groups, wanted, subtrees)):
    if len(targets) == len(group) and all(a is b for a, b in zip(targets, group)):
      fusions.append(None)  # nothing follows
      continue
    cut, values = _slice_of(after, targets, group, known)
    if debug:
      print(f"Fusion of output {i}:\n{cut}")

    def func(*args: Any, cut: Any = cut, values: Any = values) -> tuple[Any, ...]:
      return tuple(core.eval_jaxpr(cut, (), *values, *jax.tree.leaves(args)))

    fusions.append(Fusion(func, (subtree, {}), tuple(a.aval for a in targets), strict))
  return jax.tree.unflatten(prefix_tree, fusions), wanted
