"""Pull: derives the block specs of a program's inputs from those of its outputs, and the program that computes one block.

    def f(x, b): return x.T * 2 + b
    spec = pl.BlockSpec((64, 128), lambda i, j: (i, j))
    block_fn, (x_spec, b_spec), _ = pull_block_spec(f, spec, grid_len=2)(x_type, b_type)
    x_spec                                    # blocks of (128, 64), index map (i, j) -> (j, i)
    block_fn((i, j), (), x_block, b_block)    # block (i, j) of f(x, b)

The jaxpr is walked backwards. Each value collects the views in which it is needed; a rule for each equation turns the
views of its results into those of its operands. A value that is needed in two different views is an error where
`strict_mode` is on. Otherwise an intermediate value is computed once for each view, and an input is read in the
smallest view that holds both, out of which the blocks are cut.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.compare import compare_jaxprs
from tilewright.pallas.fuser.inlining import inline, on_leaves, trace_flat
from tilewright.pallas.fuser.prefetch import Prefetched, Scope, make_scalar_prefetch_handler
from tilewright.pallas.fuser.refs import ACCESSES, WRITES, Accesses, accessed_type, is_ref
from tilewright.pallas.fuser.table import Blocks, Pulled, Site, Usage, cut_to, rules_of
from tilewright.pallas.fuser.views import UNUSED, BlockIndices, View
from tilewright.pallas.fusion_types import is_packed
from tilewright.pallas.specs import BlockSpec, no_block_spec
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, source_line

core = _jax.core


@dataclasses.dataclass(frozen=True)
class Comparison:
  """Decides whether two views are the same, by the jaxprs of their index maps as functions of the grid indices."""

  num_inputs: int
  out_indices: Callable[..., tuple[Any, ...]]
  scalar_avals: tuple[Any, ...] = ()

  def same(self, a: View, b: View, shape: Sequence[int]) -> bool:
    if a is b:
      return True
    if views.sizes(a, shape) != views.sizes(b, shape):
      return False
    if a.block_shape is None or b.block_shape is None:
      return a.block_shape is b.block_shape or all(
        views.covers(d, n) for d, n in zip(a.block_shape or b.block_shape or (), shape)
      )
    open_dims = [
      i for i, n in enumerate(shape) if not (views.covers(a.block_shape[i], n) and views.covers(b.block_shape[i], n))
    ]
    if not open_dims or a.block_index_transform is b.block_index_transform:
      return True
    return compare_jaxprs(self._starts(a, open_dims), self._starts(b, open_dims))

  def _starts(self, view: View, dims: Sequence[int]) -> Any:
    assert view.block_shape is not None
    shape = view.block_shape

    def f(*args: Any) -> list[Any]:
      numbers, scalars = args[: self.num_inputs], args[self.num_inputs :]
      outs = self.out_indices(*numbers)
      prefetched = Prefetched.known(scalars)
      indices = view.block_index_transform(*(BlockIndices.of(o, prefetched) for o in outs))
      found: list[Any] = []
      for d in dims:
        found.append(jnp.asarray(views.start_of(shape[d], indices[d]), jnp.int32))
        if hasattr(indices[d], "size") and hasattr(indices[d], "start"):
          found.append(jnp.asarray(indices[d].size, jnp.int32))
      return found

    number = core.ShapedArray((), jnp.dtype("int32"))
    closed = _jax.trace(f, [number] * self.num_inputs + list(self.scalar_avals), what="index map")
    jaxpr, _ = _jax.pe.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return core.ClosedJaxpr(jaxpr, closed.consts)


@dataclasses.dataclass(frozen=True)
class Step:
  """One computation of an equation: with which views, and which of the views of its variables these are."""

  site: Site
  out_views: tuple[Any, ...]
  in_views: tuple[Any, ...]
  out_slots: tuple[int | None, ...]
  in_slots: tuple[int | None, ...]
  state: Any


@dataclasses.dataclass(frozen=True)
class Program:
  """A jaxpr that computes blocks: for each of its inputs the views that are needed, and the steps."""

  inputs: tuple[Any, ...]
  outputs: tuple[Any, ...]
  consts: dict[Any, Any]
  in_views: tuple[tuple[View, ...], ...]
  out_views: tuple[Any, ...]
  out_slots: tuple[int | None, ...]
  steps: tuple[Step, ...]

  def run(self, blocks: Sequence[Sequence[Any]], program_indices: tuple[Any, ...]) -> list[Any]:
    """The blocks of the outputs, from those of the inputs (one for each view); None for outputs that are not needed."""
    env: dict[Any, Any] = {}
    for var, given in zip(self.inputs, blocks, strict=True):
      env.update({(var, slot): block for slot, block in enumerate(given)})

    def read(atom: Any, slot: int | None) -> Any:
      if slot is None:
        return None
      if isinstance(atom, core.Literal):
        return atom.val
      return self.consts[atom] if atom in self.consts else env[atom, slot]

    at = lambda view: None if view is UNUSED else view.block_index_transform(*program_indices)
    for step in self.steps:
      eqn = step.site.eqn
      args = [read(a, s) for a, s in zip(eqn.invars, step.in_slots)]
      context = Blocks(
        step.site,
        step.out_views,
        step.in_views,
        [at(v) for v in step.out_views],
        [at(v) for v in step.in_views],
        step.state,
        program_indices,
      )
      with _jax.source_info_util.user_context(eqn.source_info.traceback):
        outs = rules_of(step.site).evaluate(context, *args)
      for var, slot, out in zip(eqn.outvars, step.out_slots, outs, strict=True):
        if slot is not None:
          env[var, slot] = out
    return [read(a, s) for a, s in zip(self.outputs, self.out_slots)]


@dataclasses.dataclass(frozen=True)
class Mode:
  """How a program is pulled: see the arguments of `pull_block_spec`."""

  comparison: Comparison
  strict: bool
  consistent_random: bool


def pull_jaxpr(
  jaxpr: Any, consts: Sequence[Any], out_views: Sequence[Any], scope: Scope, mode: Mode, inside: bool = False
) -> Program:
  """Walk a flat jaxpr, whose first inputs are `consts`, backwards from views of its outputs.

  `inside` says that this is the body of a loop or a branch.
  """
  needed: dict[Any, list[View]] = {}
  closed_over = set(jaxpr.invars[: len(consts)])
  accesses = Accesses()
  comparison = mode.comparison

  def require_view(atom: Any, view: Any, eqn: Any) -> int | None:
    """Note that a value is needed in a view; returns the number of that view among those of the value."""
    if view is UNUSED:
      return None
    if isinstance(atom, core.Literal):
      return 0
    if atom in closed_over and atom.aval.shape != () and not is_ref(atom.aval):
      raise errors.FusionError(
        f"pull_block_spec: the function closes over an array of type {atom.aval.str_short(short_dtypes=True)}, which "
        "must be split into blocks too. Make it an argument: fn, values, scalars = fuser.get_fusion_values(f, *types), then pull "
        "fn with (values, *types)."
      )
    view = views.whole(atom.aval) if views.is_key(atom.aval) else view
    found = needed.setdefault(atom, [])
    for slot, other in enumerate(found):
      if comparison.same(view, other, atom.aval.shape):
        return slot
    if found and mode.strict and not is_ref(atom.aval):
      raise _conflict(atom, found[0], view, eqn, jaxpr)
    found.append(view)
    return len(found) - 1

  def pull_inside(inner: Any, views_: Sequence[Any], known: Sequence[Any]) -> Program:
    body, body_consts = inline(*_jax.detach(inner))
    own = body.invars[len(body_consts) :]
    body_scope = Scope.of_program(body, body_consts, {v: k for v, k in zip(own, known) if k is not None})
    return pull_jaxpr(body, body_consts, views_, body_scope, mode, inside=True)

  out_slots = tuple(require_view(a, v, None) for a, v in zip(jaxpr.outvars, out_views, strict=True))
  steps: list[Step] = []
  for eqn in reversed(jaxpr.eqns):
    found = [needed.get(v, []) for v in eqn.outvars]
    site = Site(eqn, scope.scalar, pull_inside, comparison.same, mode.consistent_random)
    demands = [tuple(f[i] if i < len(f) else UNUSED for f in found) for i in range(max(map(len, found), default=0))]
    writes = eqn.primitive.name in WRITES
    if not demands and writes:
      demands = [(_view_of_write(site, () if inside else zip(jaxpr.outvars, out_views)),)]
    elif not demands and eqn.effects and eqn.primitive.name != "get":
      raise site.refuse(None, "it has an effect and no result that is used", "Move it out of the fused function.")
    elif writes and len(demands) > 1:
      raise site.refuse(
        demands[0][0], "the overwritten value is needed in two different blocks", "Use it in one way only."
      )
    for i, wanted in enumerate(demands):
      rules = rules_of(site)
      usage = rules.usage(site, [v is not UNUSED for v in wanted])
      pulled = rules.pull(site, wanted)
      state = pulled.state if isinstance(pulled, Pulled) else None
      in_views = list(pulled.in_views if isinstance(pulled, Pulled) else pulled)
      in_views = [v if u & Usage.VALUE else UNUSED for v, u in zip(in_views, usage, strict=True)]
      if eqn.primitive.name in ACCESSES:
        accesses.add(site, in_views[0])
      slots = tuple(require_view(a, v, eqn) for a, v in zip(eqn.invars, in_views, strict=True))
      taken = tuple(
        needed[a][s] if s is not None and isinstance(a, core.Var) else v for a, s, v in zip(eqn.invars, slots, in_views)
      )
      out_places = tuple(i if i < len(f) and v is not UNUSED else None for f, v in zip(found, wanted))
      steps.append(Step(site, wanted, taken, out_places, slots, state))
  inputs = tuple(jaxpr.invars[len(consts) :])
  return Program(
    inputs,
    tuple(jaxpr.outvars),
    dict(zip(jaxpr.invars, consts)),
    tuple(tuple(needed.get(v, ())) for v in inputs),
    tuple(out_views),
    out_slots,
    tuple(reversed(steps)),
  )


def _view_of_write(site: Site, outputs: Iterable[tuple[Any, Any]]) -> View:
  """The blocks of a value that is written to a ref, where the overwritten value is not needed: as the output of its shape, if
  the whole value is written when all blocks of that output are computed."""
  value = accessed_type(site.eqn)
  if not value.shape:
    return views.whole(value)
  for atom, view in outputs:
    if view is not UNUSED and view.block_shape is not None and atom.aval.shape == value.shape:
      return view
  raise site.refuse(
    None,
    f"the blocks of the value of type {value.str_short(short_dtypes=True)} that it writes do not follow from the outputs",
    "Make the function return a value of that shape too, or write the ref with get_stateful_output_fusion_values.",
  )


def _conflict(atom: Any, first: View, second: View, eqn: Any, jaxpr: Any) -> errors.FusionConflictError:
  show = lambda v: "the whole array" if v.block_shape is None else f"blocks of {tuple(v.block_shape)}"
  line = f" at {source_line(eqn)}" if eqn is not None else ""
  user = f"'{eqn.primitive}'{line}" if eqn is not None else "an output"
  return errors.FusionConflictError(
    "Fusion contains a DAG, cannot uniquely pull block specs: a value of type "
    f"{atom.aval.str_short(short_dtypes=True)} is needed in two ways. "
    f"{user} needs {show(second)}, another use needs {show(first)}, and the blocks are not the same. Choose block "
    "shapes with which they are "
    "(for a reduction, blocks that hold the whole dimension), or pass strict_mode=False: the value is then computed "
    "for each use.\n"
    f"{jaxpr}"
  )


# --- inputs that are needed in several views ---------------------------------------------------------------------


def hull(found: Sequence[View], shape: Sequence[int], comparison: Comparison) -> View:
  """The smallest view of this kind that holds all of them: dimensions in which they differ are whole."""
  if len(found) == 1:
    return found[0]
  first = found[0]
  if any(v.block_shape is None for v in found):
    return first.then(None, lambda _: None)
  same = []
  for d in range(len(shape)):
    only = [
      View((v.block_shape[d],), lambda *outs, v=v, d=d: (v.block_index_transform(*outs)[d],))  # type: ignore[index]
      for v in found
    ]
    same.append(all(comparison.same(only[0], other, (shape[d],)) for other in only[1:]))
  assert first.block_shape is not None
  dims = [d if s else Blocked(n) for d, s, n in zip(first.block_shape, same, shape)]
  return first.then(dims, lambda index: tuple(i if s else 0 for i, s in zip(index, same)))


# --- the public function -----------------------------------------------------------------------------------------


def num_index_arguments(index_map: Callable[..., Any]) -> int | None:
  """How many arguments an index map names, not counting `*rest`; None where that cannot be known."""
  try:
    parameters = inspect.signature(index_map).parameters.values()
  except (TypeError, ValueError):
    return None
  return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def call_index_map(index_map: Callable[..., Any], grid: Sequence[Any], scalars: Sequence[Any]) -> tuple[Any, ...]:
  """The block indices; prefetched scalars are passed to maps that take them."""
  rest: Sequence[Any] = scalars
  if scalars:
    try:
      inspect.signature(index_map).bind(*grid, *scalars)
    except TypeError:
      rest = ()
    except ValueError:
      pass
  found = index_map(*grid, *rest)
  return tuple(found) if isinstance(found, tuple | list) else (found,)


def _index_map(spec: Any, aval: Any) -> Callable[..., Any]:
  if isinstance(spec, BlockSpec) and spec.block_shape is not None and spec.index_map is not None:
    return spec.index_map
  zeros = (0,) * aval.ndim
  return lambda *_: zeros


def pull_block_spec(
  f: Callable[..., Any],
  out_block_specs: Any,
  *,
  scalar_prefetch_handler: Any = None,
  grid_len: int | None = None,
  grid: Any = None,
  strict_mode: bool = True,
  consistent_random: bool = False,
) -> Callable[..., tuple[Callable[..., Any], Any, Any]]:
  """Cut a function by saying how its outputs are cut.

  Args:
    f: the function. Arrays it closes over must be arguments: see `get_fusion_values`.
    out_block_specs: a block spec for each output, in the structure of the outputs (or as one flat sequence).
    scalar_prefetch_handler: finds the function's scalars among all that are prefetched; see
      `make_scalar_prefetch_handler`.
    grid_len: the number of grid dimensions; by default the number of arguments of the index maps.
    grid: the grid itself, in place of its length.
    strict_mode: whether a value that is needed in two different blocks is an error.
    consistent_random: whether a block of random bits is that block of the whole array's bits. By default each block is
      drawn from a key of its own: the key with the block's indices folded in.

  Returns:
    A function of the types of the arguments that gives `block_fn, arg_specs, kwarg_specs`. `block_fn(grid_indices,
    prefetched_scalars, *blocks)` computes the blocks of the outputs; refs and PRNG keys are passed whole. A spec is
    `pl.no_block_spec` for an argument that is a scalar or not needed.
  """
  handler = scalar_prefetch_handler or make_scalar_prefetch_handler()
  if grid_len is None and grid is not None:
    grid_len = len(grid) if isinstance(grid, tuple | list) else 1

  def pull(*args: Any, **kwargs: Any) -> tuple[Callable[..., Any], Any, Any]:
    return _pull(f, out_block_specs, handler, grid_len, strict_mode, consistent_random, args, kwargs)

  return pull


def _pull(
  f: Callable[..., Any],
  out_specs: Any,
  handler: Any,
  grid_len: int | None,
  strict: bool,
  consistent_random: bool,
  args: tuple[Any, ...],
  kwargs: dict[str, Any],
) -> tuple[Callable[..., Any], Any, Any]:
  leaves, in_tree = jax.tree.flatten((args, kwargs))
  avals = [core.shaped_abstractify(x) if not isinstance(x, core.AbstractValue) else x for x in leaves]
  flat, trees = on_leaves(f, in_tree)

  jaxpr, consts = trace_flat(flat, avals, _jax.api_util.debug_info("pull_block_spec", f, args, kwargs))
  if len(jaxpr.invars) != len(consts) + len(avals):
    raise errors.FusionError(
      "pull_block_spec: an argument has a user-defined type, which consists of several arrays. Close over the value, "
      "and get its arrays from "
      "get_fusion_values."
    )
  scope = Scope.of_program(jaxpr, consts)
  specs = _flat_specs(out_specs, trees[-1])
  out_avals = [v.aval for v in jaxpr.outvars]
  for spec, aval in zip(specs, out_avals):
    _check_spec(spec, aval)
  maps = [_index_map(s, a) for s, a in zip(specs, out_avals)]
  length = grid_len if grid_len is not None else max((num_index_arguments(m) or 0 for m in maps), default=0)

  def out_indices(grid: Sequence[Any], scalars: Sequence[Any]) -> tuple[BlockIndices, ...]:
    prefetched = Prefetched(handler, tuple(scalars), tuple(grid))
    return tuple(BlockIndices.of(call_index_map(m, grid, scalars), prefetched) for m in maps)

  comparison = _comparison(maps, specs, length, scope.prefetched_avals())
  wanted = [views.from_spec(s, i, a) for i, (s, a) in enumerate(zip(specs, out_avals))]
  program = pull_jaxpr(jaxpr, consts, wanted, scope, Mode(comparison, strict, consistent_random))

  in_views = tuple(
    hull(found, v.aval.shape, comparison) if found else None for v, found in zip(program.inputs, program.in_views)
  )

  def to_spec(view: View | None, aval: Any) -> Any:
    if view is None:
      return no_block_spec
    if views.is_key(aval):
      return views.KEY_SPEC
    if aval.ndim == 0:
      return no_block_spec
    if view.block_shape is None:
      return BlockSpec(None, None, pipeline_mode=view.pipeline_mode, memory_space=view.memory_space)

    def index_map(*args: Any) -> Any:
      return tuple(view.block_index_transform(*out_indices(args[:length], args[length:])))

    return BlockSpec(view.block_shape, index_map, view.pipeline_mode, memory_space=view.memory_space)

  def block_fn(grid_indices: Any, scalar_prefetch: Any, *blocks: Any, **kw_blocks: Any) -> Any:
    at = out_indices(tuple(grid_indices), tuple(scalar_prefetch or ()))
    given = in_tree.flatten_up_to((blocks, kw_blocks))
    inputs = [
      _to_views(x, view, found, v.aval, at)
      for x, view, found, v in zip(given, in_views, program.in_views, program.inputs, strict=True)
    ]
    outs = program.run(inputs, at)
    results = [_from_block(x, w, a, at) for x, w, a in zip(outs, wanted, out_avals)]
    return jax.tree.unflatten(trees[-1], results)

  in_specs = [to_spec(v, a) for v, a in zip(in_views, avals)]
  arg_specs, kwarg_specs = jax.tree.unflatten(in_tree, in_specs)
  return block_fn, arg_specs, kwarg_specs


def _comparison(maps: Sequence[Any], specs: Sequence[Any], length: int, scalar_avals: tuple[Any, ...]) -> Comparison:
  """Compare as functions of the grid indices where the output's index maps need nothing else, else of the block indices
  of the outputs."""
  composed = Comparison(length, lambda *g: tuple(call_index_map(m, g, ()) for m in maps), scalar_avals)
  number = jax.ShapeDtypeStruct((), jnp.int32)
  try:
    jax.eval_shape(lambda *g: [jax.tree.leaves(o) for o in composed.out_indices(*g)], *[number] * length)
    return composed
  except Exception:  # an index map that reads prefetched scalars fails here in whatever way it likes
    pass
  entries = [
    [2 if isinstance(d, views.BoundedSlice) else 1 for d in (getattr(s, "block_shape", None) or ())] for s in specs
  ]

  def split(*numbers: Any) -> tuple[Any, ...]:
    left = iter(numbers)
    take = lambda n: next(left) if n == 1 else views.Slice(next(left), next(left))
    return tuple(tuple(take(n) for n in entry) for entry in entries)

  return Comparison(sum(map(sum, entries)), split, scalar_avals)


def _flat_specs(specs: Any, out_tree: Any) -> list[Any]:
  is_spec = lambda s: s is no_block_spec or isinstance(s, BlockSpec)
  found = jax.tree.leaves(specs, is_leaf=is_spec)
  if len(found) != out_tree.num_leaves or not all(map(is_spec, found)):
    raise errors.TreeMismatchError(
      "pull_block_spec: out_block_specs must have one BlockSpec (or pl.no_block_spec) for each of the "
      f"{out_tree.num_leaves} outputs "
      f"of the function, {out_tree}; got {specs}."
    )
  return found


def _check_spec(spec: Any, aval: Any) -> None:
  if isinstance(spec, BlockSpec) and spec.block_shape is not None and len(spec.block_shape) != aval.ndim:
    raise errors.BlockRankError(
      f"pull_block_spec: the block shape {spec.block_shape} has {len(spec.block_shape)} dimensions, but the output is "
      f"{aval.str_short(short_dtypes=True)}. Give one entry for each dimension."
    )


def _to_views(x: Any, view: View | None, found: Sequence[View], aval: Any, at: tuple[Any, ...]) -> list[Any]:
  """The blocks of an input, one for each view in which it is needed, out of the one that was read."""
  if view is None or is_ref(aval) or is_packed(aval):
    return [x] * len(found)
  if views.is_key(aval):
    x = jax.random.key_data(x) if views.is_key(core.typeof(x)) else jnp.asarray(x)
    x = x.reshape(*views.sizes(view, aval.shape), *x.shape[x.ndim - 1 :])
  else:
    x = jnp.asarray(x)
    full = views.sizes(view, aval.shape)
    x = x if x.shape == full else x.reshape(full)
  if len(found) == 1:
    return [x]
  return [cut_to(x, v, v.block_index_transform(*at), view, aval.shape) for v in found]


def _from_block(x: Any, view: View, aval: Any, at: tuple[Any, ...]) -> Any:
  """A block the way a kernel sees it: without squeezed dimensions."""
  if is_packed(aval):
    return x
  shape = views.kept_sizes(view, aval.shape)
  if views.is_key(aval):
    x = cut_to(x, view, view.block_index_transform(*at), views.whole(aval), aval.shape)
    return jax.random.wrap_key_data(x.reshape(*shape, x.shape[-1]), impl=aval.dtype._impl.name)
  x = jnp.asarray(x, aval.dtype)
  return x if x.shape == shape else x.reshape(shape)
