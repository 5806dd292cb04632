"""The HLO pass that puts kernels into XLA's module, and remembers what it decided.

Each computation that is no fusion is searched: the entry, the bodies of loops (`scan`), branches. Library kernels are tried first
(attention as a whole is better than its parts), then regions. Any failure of one region leaves that region to XLA.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax

from tilewright.accelerate import attention, autotuning, convolutions, gemm_calls, graph, products, tiles
from tilewright.accelerate.attention_calls import Rewrite
from tilewright.accelerate.calls import Codes, insert, leaf_values, overwritten, readable, remove_dead
from tilewright.accelerate.costs import attention_times, depthwise_times, product_times
from tilewright.accelerate.emit import emit, result_shapes
from tilewright.accelerate.graph import Refused
from tilewright.accelerate.regions import Finder, LeftToXla, RegionPlan
from tilewright.accelerate.report import Decision, ModuleReport
from tilewright.hlo import Computation, Instruction, Module
from tilewright.hlo.dtypes import PRIMITIVE_TYPES, PrimitiveType
from tilewright.hlo.errors import HloError
from tilewright.hlo.passes.base import Pass, compiled_platform
from tilewright.hlo.passes.block_scaling import BlockScaling

# What a library kernel must promise to be faster by, and XLA's seconds that are worth a call.
_MARGIN, _MIN_CALL_SECONDS = 1.2, 100e-6
# Where a library kernel is put in: on GPUs, what a device has shown to be right and worth it. cuDNN has kernels for convolutions there.
PLATFORMS: dict[str, tuple[str, ...]] = {
  "attention": ("cpu", "cuda"),
  "convolution": ("cpu",),
  "scaled dot": ("cpu",),
  "product": ("cpu",),
}
_FEW_ROWS = 16  # of a product with quantised weights: with more, it is as fast as its multiplications


@dataclass(frozen=True)
class Options:
  """What the user asked for."""

  exact: bool = False
  measure: bool = False
  compile_seconds: float = 60.0  # for the kernels of one module
  marker: str = ""  # only instructions of a function with this name
  platforms: tuple[str, ...] = ("cpu", "cuda")


@dataclass(frozen=True)
class Surroundings:
  """What other accelerations that are in force leave to one of them: nothing at all, or no functions with one of these names."""

  is_shadowed: bool = False
  others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Accelerate(Pass):
  """Puts kernels in place of regions of the module that are faster as one tiled kernel."""

  name = "accelerate"
  options: Options = Options()
  codes: Codes = field(default_factory=Codes, repr=False, compare=False)
  decided: Callable[[ModuleReport, list[str], Module], None] = field(
    default=lambda report, keys, module: None, repr=False, compare=False
  )
  surroundings: Callable[[], Surroundings] = field(default=Surroundings, repr=False, compare=False)

  def run(self, module: Module) -> bool:
    started = time.perf_counter()
    run = _Run(self, module)
    changed = run.all()
    if run.decisions:
      seconds = time.perf_counter() - started
      note = _lost_donations(run.original) if changed else ""
      report = ModuleReport(module.name, run.machine.platform, tuple(run.decisions), seconds, run.compiling, note=note)
      self.decided(report, run.keys, run.original)
    return changed


class _Run:
  """One module."""

  def __init__(self, own: Accelerate, module: Module):
    self.own, self.module, self.options = own, module, own.options
    self.surroundings = own.surroundings()
    platform = {"gpu": "cuda", "": "cpu"}.get(compiled_platform(), compiled_platform())
    self.machine = tiles.host() if platform == "cpu" else tiles.gpu(132, adds_rows=own.options.measure)
    self.platform = platform
    self.decisions: list[Decision] = []
    self.keys: list[str] = []
    self.compiling = 0.0
    self.original = module.clone()
    self.replaced: dict[Instruction, Instruction] = {}

  def all(self) -> bool:
    if self.platform not in self.own.options.platforms or self.surroundings.is_shadowed:
      return False
    if any(_is_of(self.module, other) for other in self.surroundings.others):
      return False
    token = graph.layouts_are_settled.set(self.platform == "cpu" or _has_final_layouts(self.module))
    try:
      return self._all()
    finally:
      graph.layouts_are_settled.reset(token)

  def _all(self) -> bool:
    changed = False if self.options.exact else self._scaled_dots()
    for computation in list(self._computations()):
      changed |= self._computation(computation)
    if changed:
      self.module.remove_unreachable_computations()
    return changed

  def _computations(self) -> Iterator[Computation]:
    """Those whose instructions are run as they are: not the bodies of fusions and reductions."""
    called: set[Computation] = set()
    for instruction in self.module.instructions():
      for name in ("to_apply", "calls", "select", "scatter", "called_computations"):
        if name in instruction.attrs and instruction.opcode not in ("call", "async-start"):
          value = instruction.attrs[name]
          called.update(value if isinstance(value, tuple) else (value,))
    for instruction in self.module.instructions():
      if instruction.opcode == "call" and instruction.frontend_attributes.get("xla_cpu_small_call") == "true":
        called |= _reached(instruction)  # XLA makes one function of it, which can call nothing
    for computation in self.module.computations:
      if computation not in called and not computation.is_fusion and computation.execution_thread == "main":
        yield computation

  def _computation(self, computation: Computation) -> bool:
    changed = False
    if not self.options.exact:
      changed = self._attention(computation)
      changed |= self._convolutions(computation)
      changed |= self._products(computation)
    excluded = [i for i in computation.instructions if not self._wanted(i)]
    for plan in Finder(computation, self.machine, self.options.exact, excluded, self.options.measure).find():
      if isinstance(plan, LeftToXla):
        self._leave(plan)
      else:
        changed |= self._take(plan)
    return changed

  def _scaled_dots(self) -> bool:
    """Products of a few rows with quantised weights, as kernels that read the weights as they are kept."""
    if self.platform not in PLATFORMS["scaled dot"]:
      return False
    if self.options.marker and not _is_of(self.module, self.options.marker):
      return False
    if not any(s.bits <= 8 for s in _types(self.module)):
      return False
    import tilewright.numerics  # registers its kernels

    assert tilewright.numerics
    dots = {i.name: i for c in self._computations() for i in c.instructions if i.opcode == "dot" or _multiplies(i)}
    calls = {i for i in self.module.instructions() if i.opcode == "custom-call"}
    begun = time.perf_counter()
    of_library = gemm_calls.as_dots(self.module, _FEW_ROWS)
    dots |= {i.name: i for i in of_library}
    try:
      changed = BlockScaling(most_rows=_FEW_ROWS, saves_memory=True).run(self.module)
    except HloError as e:
      self.decisions.append(Decision("quantised weights", (), ("dot",), "scaled dot", "", None, None, str(e)))
      raise
    remove_dead(gemm_calls.put_back(of_library))
    self.compiling += time.perf_counter() - begun
    for call in self.module.instructions():
      if call.opcode == "custom-call" and call not in calls:
        self.keys += [self.own.codes.keep_named(call)]
    for name, dot in dots.items():
      if dot.parent is None:
        rows = "few rows of quantised weights"
        self.decisions.append(Decision(name, (name,), ("convert", "multiply", "dot"), "scaled dot", rows, None))
    return changed

  def _attention(self, computation: Computation) -> bool:
    """Attention as calls of the library's kernels."""
    if not any(_multiplies(i) for i in computation.instructions):
      return False
    changed, tried = False, set()
    while True:
      view = graph.view(computation)
      named = [(view.within[_scores(m)], m) for m in attention.find(view)]
      left = [(i.name, m) for i, m in named if i.name not in tried and self._wanted(i)]
      if not left:
        return changed
      name, match = left[0]
      tried.add(name)
      changed |= self._attention_call(name, match, view)

  def _convolutions(self, computation: Computation) -> bool:
    """Depthwise convolutions as calls of the library's kernel."""
    changed = False
    for match in convolutions.find(list(computation.instructions)):
      moved = sum(i.shape.byte_size for i in (match.x, match.w, match.home))
      predicted = depthwise_times(match.multiplications, moved, self.machine)
      found = Decision(match.home.name, (match.home.name,), ("convolution",), "convolution", "depthwise", predicted)
      rewrite = functools.partial(convolutions.rewrite, match, self.platform, self.own.codes)
      changed |= self._library_call(match.home, found, rewrite)
    return changed

  def _products(self, computation: Computation) -> bool:
    """Products of narrow numbers as calls of the library's kernel."""
    changed = False
    for match in products.find(list(computation.instructions)) if self.platform in PLATFORMS["product"] else ():
      predicted = product_times(match.multiplications, match.element_type, match.is_widened, self.machine)
      ops = ("dot",) if match.x in match.home.operands else ("convert", "dot")
      found = Decision(match.home.name, (match.home.name,), ops, "product", match.element_type, predicted)
      rewrite = functools.partial(products.rewrite, match, self.platform, self.own.codes)
      changed |= self._library_call(match.home, found, rewrite)
    return changed

  def _attention_call(self, name: str, match: attention.Match | tuple[graph.Node, str], view: graph.View) -> bool:
    found = Decision(name, (name,), ("dot", "exponential", "dot"), "attention", "", None)
    try:
      if not isinstance(match, attention.Match):
        raise Refused(match[1])
      found = dataclasses.replace(found, predicted=attention_times(match, self.machine), tile=_band(match))
    except Refused as why:
      self.decisions.append(dataclasses.replace(found, why_not=str(why)))
      return False
    rewrite = Rewrite(match, view, self.own.codes, self.machine)
    return self._library_call(view.within[match.scores], found, rewrite.run)

  def _library_call(self, place: Instruction, found: Decision, rewrite: Callable[[], list[str]]) -> bool:
    """Put a library kernel in, if that is worth it; `rewrite` gives the names of its code."""
    try:
      if not self._wanted(place):
        return False
      if self.platform not in PLATFORMS[found.kind]:
        raise Refused(f"the library's kernels for it are used on {', '.join(PLATFORMS[found.kind])} only")
      assert found.predicted is not None and found.speedup is not None
      if found.predicted[0] < _MIN_CALL_SECONDS:
        raise Refused(f"XLA needs about {found.predicted[0] * 1e6:.0f} µs: too little to gain")
      if found.speedup < _MARGIN:
        raise Refused(f"estimated to be only {found.speedup:.2f} times as fast")
      if self.compiling >= self.options.compile_seconds:
        raise Refused(f"{self.options.compile_seconds:g} s of compile time are used up")
      begun = time.perf_counter()
      try:
        self.keys += rewrite()
      except (Refused, HloError):
        raise
      except Exception as e:  # a fault of ours must not take acceleration of the rest away
        raise Refused(f"it cannot be called ({type(e).__name__}: {e})") from e
      finally:
        self.compiling += time.perf_counter() - begun
    except Refused as why:
      self.decisions.append(dataclasses.replace(found, why_not=str(why)))
      return False
    self.decisions.append(found)
    return True

  def _wanted(self, instruction: Instruction) -> bool:
    marker = self.options.marker
    if marker:
      return _is_of(self.module, marker) or _computes(instruction, marker)
    return not any(_computes(instruction, other) for other in self.surroundings.others)

  def _leave(self, left: LeftToXla) -> None:
    predicted = (left.xla_seconds, left.kernel_seconds) if left.kernel_seconds else None
    self.decisions.append(
      Decision(
        left.members[-1].name, _names(left.members), _opcodes(left.members), "tiles", "", predicted, None, left.why
      )
    )

  def _take(self, plan: RegionPlan) -> bool:
    name = readable(plan.members[-1].name)
    ops = tuple(n.opcode for n in plan.graph.nodes if n.opcode != "leaf")
    found = Decision(
      name, _names(plan.members), ops, "tiles", plan.tiling.text(), (plan.xla_seconds, plan.kernel_seconds)
    )
    try:
      shapes = result_shapes(plan.graph, plan.tiling)
      for leaf in plan.graph.leaves:
        if leaf.source is not None:
          graph.laid_out(leaf.source.shape)
      reused: tuple[tuple[int, int], ...] = ()
      if not self.machine.is_gpu:  # whose kernels may store a part of a tile before all of it is read
        reused = overwritten(plan.graph, plan.axes, plan.tiling, leaf_values(plan.graph, self.replaced), plan.members)
      code = self._compiled(plan, name, reused)
      if self.options.measure:
        seen = autotuning.measure(code, plan.graph, plan.tiling, self.machine.is_gpu)
        found = dataclasses.replace(found, measured=(seen.theirs, seen.ours), seen=seen.text())
        if not seen.is_faster:
          raise Refused("measured, it is not faster" if seen.agrees else "measurements disagree whether it is faster")
    except Refused as why:
      self.decisions.append(dataclasses.replace(found, why_not=str(why)))
      return False
    insert(code, plan.graph, plan.tiling, reused, shapes, f"tilewright_{name}", self.replaced)
    remove_dead(plan.members)
    self.keys.append(code.key)
    self.decisions.append(found)
    return True

  def _compiled(self, plan: RegionPlan, name: str, reused: tuple[tuple[int, int], ...]) -> Any:
    if self.compiling >= self.options.compile_seconds:
      raise Refused(f"{self.options.compile_seconds:g} s of compile time are used up")
    begun = time.perf_counter()
    try:
      kernel = emit(plan.graph, plan.axes, plan.tiling, name, reused)
      return self.own.codes.compile(kernel, self.platform)
    except Refused:
      raise
    except Exception as e:  # a fault of ours must not take acceleration of the other regions away
      raise Refused(f"it does not compile ({type(e).__name__}: {e})") from e
    finally:
      self.compiling += time.perf_counter() - begun


def _is_of(module: Module, function: str) -> bool:
  """Whether a module is the program of a function: `jit_f`, as JAX names it."""
  _, _, name = module.name.partition("_")
  return name.rstrip("_") == re.sub(r"[^\w.-]", "_", function).rstrip("_")


def _computes(instruction: Instruction, function: str) -> bool:
  """Whether an instruction is part of a function that is called in a program."""
  names = [instruction.metadata, *(c.root.metadata for c in instruction.called_computations if c.is_fusion)]
  return any(m is not None and f"({function})" in m.op_name for m in names)


def _has_final_layouts(module: Module) -> bool:
  """Whether something is there that XLA makes only of layouts it has chosen: a bitcast, or a fusion.

  Where there is neither, layouts may be those of the lowering, which XLA will choose anew, or may be final: jax 0.11 on an H200 shows the
  pass a module before that. Kernels are right in both cases then, as what they read is copied to row-major order.
  """
  return any(i.opcode in ("fusion", "bitcast") for i in module.instructions())


def _lost_donations(module: Module) -> str:
  """What donated arguments come to where XLA forgets which results take their buffers, once passes have changed a module."""
  if jax.__version_info__ >= (0, 11):
    return ""
  donated = {(a.parameter, a.parameter_index) for a in module.input_output_alias}
  donated |= {(d.parameter, d.parameter_index) for d in module.buffer_donor}
  parameters = module.entry.parameters
  size = sum(s.byte_size for n, at in donated for path, s in parameters[n].shape.leaves() if path == at)
  if not size:
    return ""
  return (
    f"jaxlib before 0.11 forgets donations in modules that passes change: {size / 1e6:.1f} MB of arguments are kept"
  )


def _reached(instruction: Instruction) -> set[Computation]:
  """The computations that an instruction calls, and those that they call."""
  found: set[Computation] = set()
  left = list(instruction.called_computations)
  while left:
    computation = left.pop()
    if computation not in found:
      found.add(computation)
      left += [c for i in computation.instructions for c in i.called_computations]
  return found


def _types(module: Module) -> set[PrimitiveType]:
  """The types of what numbers can be quantised to."""
  shapes = [s for i in module.instructions() for _, s in i.shape.leaves()]
  return {t for name in {s.element_type for s in shapes} if (t := PRIMITIVE_TYPES[name]).kind in ("signed", "float")}


def _multiplies(instruction: Instruction) -> bool:
  inner = instruction.called_computations[0].instructions if instruction.opcode == "fusion" else [instruction]
  return any(i.opcode == "dot" or gemm_calls.is_gemm(i) for i in inner)


def _scores(match: attention.Match | tuple[graph.Node, str]) -> graph.Node:
  return match.scores if isinstance(match, attention.Match) else match[0]


def _band(match: attention.Match) -> str:
  b = match.band
  seen = (
    "all keys" if b == attention.Band() else "causal" if b == attention.Band(None, 0) else f"keys {b.left}, {b.right}"
  )
  return f"{seen}{', with derivatives' if match.has_slopes else ''}"


def _names(members: tuple[Instruction, ...]) -> tuple[str, ...]:
  return tuple(i.name for i in members)


def _opcodes(members: tuple[Instruction, ...]) -> tuple[str, ...]:
  found: list[str] = []
  for i in members:
    inner = i.called_computations[0].instructions if i.opcode == "fusion" else [i]
    found += [j.opcode for j in inner if j.opcode != "parameter"]
  return tuple(found)
