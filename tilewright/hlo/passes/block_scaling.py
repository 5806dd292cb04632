"""Block-scaled operations, each rewritten to the best implementation that the target has.

    %d = f32[B,M,N] custom-call(%x, %y, %sx, %sy), custom_call_target="__op$block_scaled_dot"

The custom calls `__op$quantize`, `__op$dequantize` and `__op$block_scaled_dot` are recognised, and so are equivalents written
without them: a dot with one or both operands multiplied by scales that each apply to a block of elements, in any spelling
(`block_scaling_recognise`), and HLO's scaled-dot (`block_scaling_hlo`). For each, the rows of `IMPLEMENTATIONS` are tried in order; a
row refuses with a reason, or rewrites. The choice, and why each earlier row refused, is logged (logger
"tilewright.hlo.block_scaling").

*Proof.* Each rewrite computes the sum over k of (x[k] sx[k / block]) (y[k] sy[k / block]), times the global scale: the definition of the
call. The expansion is that formula in HLO; kernels and the library are specified by it; padding adds products with zero.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass

from tilewright.hlo import block_scaled_calls
from tilewright.hlo.block_scaled_calls import DEQUANTIZE, DOT, QUANTIZE
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import copy_body
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes import (
  block_scaling_dot,
  block_scaling_expand,
  block_scaling_hlo,
  block_scaling_library,
  block_scaling_quantize,
  block_scaling_recognise,
)
from tilewright.hlo.passes.base import HloPassError, Pass, compiled_platform, register_pass
from tilewright.hlo.passes.block_scaling_facts import Facts, Tile, check_resources
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.tuple_simplifier import has_control_edges
from tilewright.hlo.shape import Shape
from tilewright.runtime import cuda, plugins

logger = logging.getLogger("tilewright.hlo.block_scaling")

NAMES = {QUANTIZE: "quantize", DEQUANTIZE: "dequantize", DOT: "block_scaled_dot"}

# A kernel for an operation on a platform: from the instruction to a module that computes it from the same operands, or a reason why not.
# Elements below 8 bits, where memory holds them packed, may be bytes in that module.
Kernel = Callable[[Instruction], Module | str]
KERNELS: dict[tuple[str, str], Kernel] = {}  # by platform ("cpu", "cuda", "cuda native") and name of the operation


def register_kernel(platform: str, operation: str) -> Callable[[Kernel], Kernel]:
  """Offers a kernel to the pass. Packages above this one fill the table; nothing here knows of them."""

  def add(kernel: Kernel) -> Kernel:
    KERNELS[platform, operation] = kernel
    return kernel

  return add


# --- implementations ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Implementation:
  """An implementation of an operation: rewrites the instruction and returns its replacement, or a reason why not."""

  name: str
  rewrite: Callable[[Instruction, Facts], Instruction | str]


def _from_kernel(platform: str, instruction: Instruction) -> Instruction | str:
  operation = NAMES[instruction.attrs["custom_call_target"]]
  plugins.load("block_scaling")
  kernel = KERNELS.get((platform, operation))
  if kernel is None:
    return f"no kernel for {operation} on {platform} is registered (importing tilewright.numerics registers its own)"
  if not all(operand.shape.num_elements for operand in instruction.operands):
    return "there are no elements"
  found = kernel(instruction)
  return found if isinstance(found, str) else splice(instruction, found)


def _native(instruction: Instruction, facts: Facts) -> Instruction | str:
  if facts.platform != "cuda" or facts.compute_capability < 10.0:
    return f"block-scaled instructions need compute capability 10.0, this is {facts}"
  if ("cuda native", NAMES[instruction.attrs["custom_call_target"]]) not in KERNELS:
    return "no kernel with block-scaled instructions is registered"
  if facts.limits.tensor_columns == 0:
    return f"{facts} has no tensor memory"
  check_resources(facts, Tile(facts.tile_n, facts.stages))
  return _from_kernel("cuda native", instruction)


def _library(instruction: Instruction, facts: Facts) -> Instruction | str:
  if instruction.attrs["custom_call_target"] != DOT:
    return "the library has block-scaled dots only"
  refused = block_scaling_library.refuses(instruction, facts)
  if refused is not None:
    return refused
  if len(instruction.operands) > 4:
    logger.info("%%%s: %s", instruction.name, block_scaling_library.where_the_global_scale_is(facts))
  return block_scaling_library.rewrite(instruction, facts)


def _kernel(instruction: Instruction, facts: Facts) -> Instruction | str:
  return _from_kernel(facts.platform, instruction)


def _expansion(instruction: Instruction, facts: Facts) -> Instruction | str:
  # On the CPU the pass comes after fusion, and every instruction would be a loop over memory.
  return _EXPANSIONS[instruction.attrs["custom_call_target"]](instruction, facts.platform == "cpu")


_EXPANSIONS = {
  QUANTIZE: block_scaling_quantize.quantize,
  DEQUANTIZE: block_scaling_quantize.dequantize,
  DOT: block_scaling_dot.dot,
}


IMPLEMENTATIONS: tuple[Implementation, ...] = (
  Implementation("native instructions", _native),
  Implementation("library", _library),
  Implementation("kernel", _kernel),
  Implementation("expansion", _expansion),
)


def splice(instruction: Instruction, module: Module) -> Instruction:
  """Inlines the entry of a module in place of a call, with the call's operands as its parameters. Packed elements may be bytes in it."""
  computation, target = instruction.parent, instruction
  assert computation is not None and computation.parent is not None
  for inner in module.instructions():
    if inner.opcode != "custom-call" and inner.shape.is_array:  # no layouts were chosen for this module yet
      inner.shape = inner.shape.with_dimensions(inner.shape.dimensions)
  for called in [c for c in module.computations if c is not module.entry]:
    module.computations.remove(called)
    called.parent = None
    computation.parent.add_computation(called)
  entry: Computation = module.entry
  b = block_scaling_expand.builder_at(target)
  mapping = {p: _as_bytes(b, target.operands[p.attrs["parameter_number"]], p.shape) for p in entry.parameters}
  for inner in entry.instructions:
    if inner.opcode == "transpose" and inner.operands[0].opcode == "parameter":
      given = mapping[inner.operands[0]]
      if given.opcode == "transpose" and _is_inverse(inner.attrs["dimensions"], given.attrs["dimensions"]):
        mapping[inner] = given.operands[0]
  copies, new = copy_body(entry, mapping)
  for copy in copies:
    computation.insert(copy, before=target)
  root = new[entry.root]
  if not instruction.shape.is_tuple and root.opcode == "tuple" and len(root.operands) == 1:
    (inner,) = root.operands
    computation.remove(root)
    return inner
  if instruction.shape.is_tuple:
    root.set_operands([_as_bytes(b, x, s) for x, s in zip(root.operands, instruction.shape.tuple_shapes, strict=True)])
    root.shape = Shape.tuple_of(*(x.shape for x in root.operands))
  return root


def _as_bytes(b: Builder, x: Instruction, wanted: Shape) -> Instruction:
  """A value, or the same memory as elements of another width."""
  return x if x.shape.element_type == wanted.element_type else b.op("bitcast", (x,), wanted)


def _is_inverse(permutation: tuple[int, ...], other: tuple[int, ...]) -> bool:
  return all(other[d] == i for i, d in enumerate(permutation))


def _plain_operands(instruction: Instruction) -> Instruction:
  """The instruction, with operands in row-major order in memory, as kernels and the library require."""
  b = block_scaling_expand.builder_at(instruction)
  for number, operand in enumerate(instruction.operands):
    if operand.shape.layout is not None and not operand.shape.layout.is_descending:
      operands = list(instruction.operands)
      operands[number] = b.op("copy", (operand,), operand.shape.with_dimensions(operand.shape.dimensions))
      instruction.set_operands(operands)
  return instruction


def _replace(old: Instruction, new: Instruction) -> Instruction:
  """Replaces one instruction with another, keeping its layout."""
  assert old.parent is not None
  layouts = old.shape.layout, new.shape.layout
  if layouts[0] is not None and layouts[1] is not None and layouts[0].minor_to_major != layouts[1].minor_to_major:
    new = block_scaling_expand.builder_at(old).op("copy", (new,), old.shape)
  old.replace_all_uses_with(new)
  old.parent.remove(old)
  return new


def _remove_dead(instruction: Instruction) -> None:
  """Removes unused instructions that have no side effects."""
  waiting = [instruction]
  while waiting:
    gone = waiting.pop()
    if gone.parent is None or not gone.is_dead or gone.opcode == "parameter" or Effects().of(gone):
      continue
    operands = gone.operands
    gone.parent.remove(gone)
    waiting += operands


def _is_narrow(x: Instruction) -> bool:
  return x.shape.is_array and 1 < PRIMITIVE_TYPES[x.shape.element_type].bits <= 8


def _packs(module: Module) -> bool:
  """Elements below 8 bits are packed in memory everywhere or nowhere: whether they are."""
  shapes = [leaf for i in module.instructions() for _, leaf in i.shape.leaves()]
  return any(s.layout is not None and s.layout.element_size_in_bits for s in shapes)


def _reshapes_as_bitcasts(module: Module) -> None:
  """After layout assignment, a reshape of a row-major array is free if written as a bitcast."""
  for computation in module.computations:
    for instruction in list(computation.instructions):
      shapes = (instruction.shape, *(o.shape for o in instruction.operands))
      if instruction.opcode == "reshape" and all(s.layout is not None and s.layout.is_descending for s in shapes):
        made = Instruction("bitcast", "bitcast", instruction.shape, instruction.operands, {}, instruction.metadata)
        computation.insert(made, before=instruction)
        instruction.replace_all_uses_with(made)
        computation.remove(instruction)


def _pads_as_loops(module: Module) -> None:
  """XLA's CPU back end pads elements that share bytes within fusions only; it ends the process at a pad of them by itself."""
  for computation in [c for c in module.computations if not c.is_fusion]:
    for instruction in list(computation.instructions):
      if instruction.opcode != "pad" or not 1 < PRIMITIVE_TYPES[instruction.shape.element_type].bits < 8:
        continue

      def pad(b: Builder, *operands: Instruction, like: Instruction = instruction) -> Instruction:
        return b.op("pad", operands, like.shape, **like.attrs)

      b = block_scaling_expand.builder_at(instruction)
      _replace(instruction, block_scaling_expand.loop(b, module, pad, instruction.operands))


def _packed(shape: Shape) -> Shape:
  if shape.is_tuple:
    return dataclasses.replace(shape, tuple_shapes=tuple(_packed(s) for s in shape.tuple_shapes))
  bits = PRIMITIVE_TYPES[shape.element_type].bits
  if shape.layout is None or not 1 < bits < 8:
    return shape
  return shape.with_layout(dataclasses.replace(shape.layout, element_size_in_bits=bits))


# --- the pass ----------------------------------------------------------------------------------------------------


@register_pass("block_scaling")
@dataclass(frozen=True)
class BlockScaling(Pass):
  """Rewrites block-scaled operations to native instructions, the library, a kernel or plain operations, whichever the target has."""

  platform: str = ""  # by default what the module is compiled for; outside of a compilation, the CPU
  compute_capability: float = 0.0  # within a compilation, by default that of the first device
  cudnn: str = ""  # its version, such as "9.13.0"; empty if there is none
  only: str = ""  # the name of one implementation: the others refuse
  tile_n: int = 128  # columns of the result that one block of a native kernel computes
  stages: int = 4  # how many steps along k its buffers hold
  most_rows: int = 0  # dots that a program writes out are taken if the smaller side has so many rows at most; 0: any
  saves_memory: bool = (
    False  # they are taken only if nothing else uses the dequantized values, which are computed all the same then
  )

  def __post_init__(self) -> None:
    names = [i.name for i in IMPLEMENTATIONS]
    for option, value, known in (("platform", self.platform, ["", "cpu", "cuda"]), ("only", self.only, ["", *names])):
      if value not in known:
        raise HloPassError(f"block_scaling: {option} must be one of {', '.join(map(repr, known))}, got {value!r}")
    for option, size, unit in (("tile_n", self.tile_n, 8), ("stages", self.stages, 1)):
      if not isinstance(size, int) or size < unit or size % unit:
        raise HloPassError(f"block_scaling: {option} must be a positive multiple of {unit}, got {size!r}")

  def _facts(self) -> Facts:
    compiled = {"gpu": "cuda"}.get(compiled_platform(), compiled_platform())
    platform, capability = self.platform or compiled or "cpu", self.compute_capability
    if not capability and platform == compiled == "cuda":
      major, minor = min(cuda.capabilities())  # what this module will run on is not known here
      capability = major + minor / 10
    return Facts(platform, capability, self.cudnn, self.tile_n, self.stages)

  def run(self, module: Module) -> bool:
    facts = self._facts()
    changed, packs = False, _packs(module)
    for instruction in module.instructions():
      if instruction.opcode == "custom-call" and instruction.attrs["custom_call_target"] in NAMES:
        block_scaled_calls.check(instruction)
    has_layouts = any(i.opcode in ("fusion", "bitcast") for i in module.instructions())
    for computation in list(module.computations):
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if has_control_edges(instruction) or instruction.sharding is not None:
          continue
        if instruction.opcode == "scaled-dot":
          block_scaling_hlo.lower_scaled_dot(instruction, facts.platform == "cpu")
          changed = True
          continue
        written = block_scaling_recognise.written_dot(instruction)
        if written is not None and self._has_few_rows(written) and self._saves_enough(instruction):
          changed |= self._rewrite_dot(instruction, facts, packs)
      for instruction in computation.topological_order():
        if has_control_edges(instruction) or instruction.sharding is not None:
          continue
        if instruction.opcode == "custom-call" and instruction.attrs["custom_call_target"] in NAMES:
          changed |= self._rewrite(instruction, facts) is not None
    if changed:
      module.remove_unreachable_computations()
      if has_layouts:
        _reshapes_as_bitcasts(module)
      if packs and facts.platform == "cpu":
        _pads_as_loops(module)
      for instruction in module.instructions() if packs else ():
        instruction.shape = _packed(instruction.shape)  # what was put in follows what was there
    return changed

  def _saves_enough(self, dot: Instruction) -> bool:
    """Whether only dots of few rows use the dequantized values of a dot, or of a fusion with one."""
    if not self.saves_memory:
      return True
    widened: dict[Instruction, bool] = {}

    def is_widened(value: Instruction) -> bool:
      """Whether a value has the numbers of a narrow array, element by element; the narrow array itself is not one."""
      if value not in widened:
        widened[value] = False
        if value.shape.is_array and value.opcode not in ("parameter", "constant") and not _is_narrow(value):
          alike = [o for o in value.operands if o.shape.is_array and o.shape.num_elements == value.shape.num_elements]
          widened[value] = any([_is_narrow(o) or is_widened(o) for o in alike])
      return widened[value]

    def is_taken(user: Instruction) -> bool:
      written = block_scaling_recognise.written_dot(user)
      found = block_scaling_recognise.block_scaled_dot(user, DOT) if written and self._has_few_rows(written) else None
      if found is not None:
        _remove_dead(found[1])
      return found is not None

    for operand in dot.operands:
      is_widened(operand)
    inside = {value for value, found in widened.items() if found}
    users = {user for value in inside for user in value.users} - inside - {dot}
    return all(map(is_taken, users))

  def _has_few_rows(self, dot: Instruction) -> bool:
    if not self.most_rows:
      return True
    rows = []
    for operand, side in zip(dot.operands, ("lhs", "rhs")):
      taken = (*dot.attrs.get(f"{side}_contracting_dims", ()), *dot.attrs.get(f"{side}_batch_dims", ()))
      rows.append(math.prod(d for i, d in enumerate(operand.shape.dimensions) if i not in taken))
    return min(rows) <= self.most_rows

  def _rewrite_dot(self, dot: Instruction, facts: Facts, packs: bool) -> bool:
    """A dot that is a block-scaled one, written out. It is its own expansion: where nothing is better, it stays."""
    found = block_scaling_recognise.block_scaled_dot(dot, DOT)
    if found is None:
      return False
    call, result = found
    for operand in call.operands if packs else ():
      operand.shape = _packed(operand.shape)
    better = self._rewrite(call, facts, dot)
    if better is None:
      _remove_dead(result)
      return False
    operands = dot.operands
    _replace(dot, better if result is call else result)
    for operand in operands:
      _remove_dead(operand)
    return True

  def _rewrite(self, instruction: Instruction, facts: Facts, dot: Instruction | None = None) -> Instruction | None:
    """The replacement of a call; None if it stays. `dot` is the dot it was created for, if the program did not contain the call itself."""
    refused = []
    block_scaling_hlo.with_blocks_as_shapes(instruction)
    for implementation in IMPLEMENTATIONS:
      if self.only and implementation.name != self.only:
        refused.append(f"{implementation.name}: only {self.only} is wanted")
        continue
      is_written = implementation.name == "expansion" and dot is not None
      found = instruction if is_written else implementation.rewrite(_plain_operands(instruction), facts)
      if isinstance(found, str):
        refused.append(f"{implementation.name}: {found}")
        continue
      reasons = "; ".join(refused) or "the first choice"
      logger.info(
        "%s %%%s: %s (%s)",
        NAMES[instruction.attrs["custom_call_target"]],
        instruction.name if dot is None else dot.name,
        implementation.name,
        reasons,
      )
      if is_written:
        return None
      operands = instruction.operands
      made = _replace(instruction, found)
      for operand in operands:
        _remove_dead(operand)
      return made
    logger.info("%%%s is left as it is (%s)", instruction.name, "; ".join(refused))
    return None
