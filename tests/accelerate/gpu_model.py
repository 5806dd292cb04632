"""A model of XLA:GPU and of a GPU, as far as acceleration meets them, on any machine.

    gpu = GpuModel(monkeypatch, arch="sm_90a")
    before = gpu.module(f, *args, layouts=rng)      what the pass is given: f lowered for CUDA, with or without layouts of XLA's choice
    after = gpu.accelerated(before, acceleration)   the module that the pass makes of it
    gpu.run(after, *args)                           its values; kernels run as the GPU target's code, on the CPU

XLA chooses layouts so that transpositions move nothing: they become bitcasts, and products read their operands in other orders. It also
puts products into fusions with what computes their operands. Where layouts are chosen, nothing corrects them any more: a call reads its
operands in the layouts they have, whatever it asked for. Where they are not, XLA copies operands to what the call asks for.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pytest

from tilewright import hlo
from tilewright.accelerate import graph, tiles
from tilewright.accelerate.program import Accelerate, Options
from tilewright.accelerate.report import ModuleReport
from tilewright.hlo import Computation, Instruction, Module, Shape
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import compiling_for
from tilewright.hlo.shape import Layout
from tilewright.numerics import launch
from tilewright.target import nvgpu
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.target.nvgpu.host.lifetime import Callee
from tilewright.tile.native import NativeKernel, copied_kernel
from tilewright.tile.uninitialized import outputs_at_computed_places, outputs_to_poison

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "nvgpu"))
import block_on_cpu
from fake_driver import FakeDriver

_POISON = 0xAB


@dataclasses.dataclass(frozen=True)
class _Compiled:
  kernel: NativeKernel
  text: str
  launched: Any


class GpuModel:
  def __init__(self, monkeypatch: pytest.MonkeyPatch, arch: str = "sm_80"):
    self.driver = FakeDriver(monkeypatch)
    self.arch = architectures.named(arch)
    self.kernels: dict[str, _Compiled] = {}
    self.sources: dict[str, tuple[NativeKernel, tuple[Any, ...]]] = {}  # and what their code is to be like
    self.calls: list[str] = []  # the kernels that were run
    monkeypatch.setattr(nvgpu, "compile_kernel", self._compile)
    adding = functools.partial(tiles.gpu, adds_rows=True)
    monkeypatch.setattr(tiles, "gpu", lambda processors, **_: adding(processors))
    monkeypatch.setattr(launch, "platform", lambda: "gpu")  # where scaled products are traced for

  def _compile(
    self,
    kernel: NativeKernel,
    num_warps: int | None,
    cluster: Any = None,
    writes_all: bool = False,
    *others: Any,
  ) -> Callee:
    ready = prepared(copied_kernel(kernel))
    written = outputs_at_computed_places(ready) if writes_all else set()
    poisoned = tuple(i for i in outputs_to_poison(ready) if i not in written)
    text, launched = emit_kernel(ready, self.arch, num_warps, cluster, *others)
    name = f"tilewright_cuda_{kernel.name}_{len(self.kernels)}"
    self.sources[name] = copied_kernel(kernel), (num_warps, cluster, *others)
    self.kernels[name] = _Compiled(ready, text, launched)
    return Callee(name, launched.workspace_bytes, poisoned)

  # --- modules ---------------------------------------------------------------------------------------------------

  def module(self, f: Any, *args: Any, layouts: np.random.Generator | None = None, bitcasts: bool = True) -> Module:
    """A function as the pass gets it on a GPU; with a generator, after layouts were chosen, and perhaps after bitcasts and fusions were."""
    lowered = jax.jit(f).trace(*args).lower(lowering_platforms=("cuda",))
    module = hlo.parse(lowered.compiler_ir(dialect="hlo").as_hlo_text())
    run_passes(module, ["call_inliner", "algebraic_simplifier", "cse", "dce"])
    _row_major(module)
    for dot in [i for i in module.instructions() if i.opcode == "dot"]:
      _make_canonical(dot)
    run_passes(module, ["cse", "dce"])
    if layouts is not None:
      for computation in list(module.computations):
        if _runs(module, computation):
          _choose_layouts(computation, layouts, bitcasts)
          if bitcasts:
            _choose_products(computation, layouts)
      run_passes(module, ["dce"])
    hlo.verify(module)
    return module

  def accelerated(self, module: Module, reports: list[ModuleReport], **options: Any) -> Module:
    after = module.clone()
    decided = lambda report, keys, original: reports.append(report)
    with compiling_for("cuda"):
      Accelerate(Options(platforms=("cpu", "cuda"), **options), decided=decided).run(after)
    hlo.verify(after)
    return after

  def run(self, module: Module, *args: Any, settled: bool = False) -> list[np.ndarray]:
    call = lambda instruction, operands: self._call(instruction, operands, settled)
    found = hlo.evaluate(
      module, *jax.tree.leaves(args), custom_calls=dict.fromkeys(self.kernels, call) | {"__cublas$lt$matmul": _gemm}
    )
    return list(found) if isinstance(found, tuple) else [found]

  # --- calls -----------------------------------------------------------------------------------------------------

  def _call(self, instruction: Instruction, operands: Sequence[Any], settled: bool) -> Any:
    own = self.kernels[instruction.attrs["custom_call_target"]]
    self.calls.append(instruction.attrs["custom_call_target"])
    wanted = instruction.attrs["operand_layout_constraints"]
    given = [o.shape if settled else w for o, w in zip(instruction.operands, wanted, strict=True)]
    arrays = [_to_memory(x, shape) for x, shape in zip(operands, given)]
    shapes = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
    results = [np.full(max(1, s.byte_size), _POISON, np.uint8)[: s.byte_size].view(s.dtype) for s in shapes]
    results = [r.reshape([s.dimensions[d] for d in _order(s)]) for r, s in zip(results, shapes)]
    for alias in instruction.attrs.get("output_to_operand_aliasing", ()):
      at = alias.output_index[0] if alias.output_index else 0
      assert shapes[at].byte_size == instruction.operands[alias.operand].shape.byte_size
      results[at] = arrays[alias.operand]
    mapping = own.kernel.mapping
    bounds = arrays[: mapping.num_dynamic_bounds]
    first = len(bounds)
    inputs = arrays[first : first + mapping.num_prefetch + mapping.num_inputs]
    workspace = np.full(max(16, own.launched.workspace_bytes), _POISON, np.uint8)
    if own.launched.workspace_bytes:
      assert shapes[mapping.num_outputs].byte_size == own.launched.workspace_bytes
      workspace[:] = (
        0  # XLA:GPU's temporary memory holds anything; counters in it are kept at zero by kernels themselves
      )
    block_on_cpu.execute(own.text, own.launched, [*inputs, *results[: mapping.num_outputs]], bounds, workspace)
    values = [_from_memory(r, s) for r, s in zip(results, shapes)]
    return tuple(values) if instruction.shape.is_tuple else values[0]


def _order(shape: Shape) -> tuple[int, ...]:
  """From the slowest varying dimension to the fastest."""
  return tuple(range(shape.rank)) if shape.layout is None else tuple(reversed(shape.layout.minor_to_major))


def _to_memory(x: np.ndarray, shape: Shape) -> np.ndarray:
  return np.array(np.transpose(x, _order(shape)), order="C")


def _from_memory(x: np.ndarray, shape: Shape) -> np.ndarray:
  return np.transpose(x, np.argsort(_order(shape), kind="stable"))


def _make_canonical(dot: Instruction) -> None:
  """Products of batches of matrices only: what is not contracted becomes one dimension, as XLA makes it before anything else."""
  assert dot.parent is not None
  put = lambda opcode, shape, x, **attrs: dot.parent.insert(  # type: ignore[union-attr]
    Instruction(opcode, opcode, shape, (x,), attrs, dot.metadata), before=dot
  )
  made, count = [], 0
  for x, side in zip(dot.operands, ("lhs", "rhs")):
    batch, contracted = (tuple(dot.attrs.get(f"{side}_{kind}_dims", ())) for kind in ("batch", "contracting"))
    free = [d for d in range(x.shape.rank) if d not in (*batch, *contracted)]
    count = len(batch)
    order = (*batch, *free, *contracted) if side == "lhs" else (*batch, *contracted, *free)
    size = lambda dims, x=x: [x.shape.dimensions[d] for d in dims]
    if order != tuple(range(x.shape.rank)):
      x = put(
        "transpose", Shape.array(x.shape.element_type, [x.shape.dimensions[d] for d in order]), x, dimensions=order
      )
    one, other = (
      math.prod(size(free, x=dot.operands[side == "rhs"])),
      math.prod(size(contracted, x=dot.operands[side == "rhs"])),
    )
    ends = [one, other] if side == "lhs" else [other, one]
    flat = (*x.shape.dimensions[:count], *ends)
    made.append(x if x.shape.dimensions == flat else put("reshape", Shape.array(x.shape.element_type, flat), x))
  b = tuple(range(count))
  numbers = {"lhs_contracting_dims": (count + 1,), "rhs_contracting_dims": (count,)}
  attrs = {k: v for k, v in dot.attrs.items() if not k.endswith("_dims")}
  batches = {"lhs_batch_dims": b, "rhs_batch_dims": b} if b else {}
  shape = Shape.array(dot.shape.element_type, (*made[0].shape.dimensions[: count + 1], made[1].shape.dimensions[-1]))
  plain = Instruction("dot", "dot", shape, tuple(made), attrs | numbers | batches, dot.metadata)
  dot.parent.insert(plain, before=dot)
  result = plain if shape == dot.shape else put("reshape", dot.shape, plain)
  computation = dot.parent
  dot.replace_all_uses_with(result)
  computation.remove(dot)


# --- layouts -----------------------------------------------------------------------------------------------------


def _runs(module: Module, computation: Computation) -> bool:
  """Whether a computation is the entry, or a body: not what a reduction or a fusion applies."""
  users = [i for i in module.instructions() if computation in i.called_computations]
  return not computation.is_fusion and all(i.opcode in ("while", "conditional", "call") for i in users)


def _row_major(module: Module) -> None:
  def plain(shape: Shape) -> Shape:
    if shape.is_tuple:
      return Shape.tuple_of(*map(plain, shape.tuple_shapes))
    return Shape.array(shape.element_type, shape.dimensions) if shape.is_array else shape

  for instruction in module.instructions():
    instruction.shape = plain(instruction.shape)


def _with_order(shape: Shape, order: Sequence[int]) -> Shape:
  return shape.with_layout(Layout(tuple(reversed(order))))


def _copied(x: Instruction, order: Sequence[int], before: Instruction) -> Instruction:
  if tuple(order) == _order(x.shape):
    return x
  assert before.parent is not None
  return before.parent.insert(Instruction("copy", "copy", _with_order(x.shape, order), (x,)), before=before)


def _choose_layouts(computation: Computation, rng: np.random.Generator, bitcasts: bool) -> None:
  """Layouts in which transpositions move nothing, and which the operations after them keep."""
  for i in computation.topological_order():
    if not i.shape.is_array or not i.operands or any(not o.shape.is_array for o in i.operands):
      i.set_operands([_copied(o, range(o.shape.rank), i) if o.shape.is_array else o for o in i.operands])
    elif i.opcode == "transpose" and not _leaves(i) and rng.random() < 0.8:
      (x,), permutation = i.operands, i.attrs["dimensions"]
      i.shape = _with_order(i.shape, [permutation.index(d) for d in _order(x.shape)])
      if bitcasts:
        i.opcode, i.attrs = "bitcast", {}
    elif i.opcode in graph.ELEMENTWISE and i.opcode != "clamp":
      order = _order(i.operands[0].shape)
      i.set_operands([_copied(o, order, i) for o in i.operands])
      i.shape = _with_order(i.shape, order)
    elif i.opcode == "broadcast":
      order = next((_order(u.shape) for u in i.users if u.shape.is_array and u.shape.rank == i.shape.rank), None)
      i.shape = _with_order(i.shape, order or range(i.shape.rank))
    elif i.opcode == "reduce":
      x, _ = i.operands
      kept = [d for d in range(x.shape.rank) if d not in i.attrs["dimensions"]]
      i.shape = _with_order(i.shape, [kept.index(d) for d in _order(x.shape) if d in kept])
    elif i.opcode == "dot":
      order = list(range(i.shape.rank))
      if len(order) > 1 and rng.random() < 0.3:
        order[-2:] = order[:-3:-1]
      i.shape = _with_order(i.shape, order)
    else:
      i.set_operands([_copied(o, range(o.shape.rank), i) for o in i.operands])
      if i.opcode == "reshape" and bitcasts:
        i.opcode, i.attrs = "bitcast", {}
  root = computation.root
  if root.shape.is_array:
    computation.root = _copied_after(root)


def _leaves(i: Instruction) -> bool:
  """Whether a value is a result of its computation, whose layouts are given."""
  return i.is_root or any(u.opcode == "tuple" for u in i.users)


def _copied_after(root: Instruction) -> Instruction:
  order = tuple(range(root.shape.rank))
  if order == _order(root.shape):
    return root
  assert root.parent is not None
  return root.parent.insert(Instruction("copy", "copy", _with_order(root.shape, order), (root,)), after=root)


def _choose_products(computation: Computation, rng: np.random.Generator) -> None:
  """Products are left alone, or handed to cuBLAS, or fused with what makes their operands."""
  for dot in [i for i in computation.topological_order() if i.opcode == "dot"]:
    make = (lambda dot: None, _as_gemm, _as_fusion)[rng.integers(3)]
    make(dot)


def _as_gemm(dot: Instruction) -> None:
  """A call of cuBLAS; a constant that the product is multiplied with becomes its factor."""
  computation = dot.parent
  assert computation is not None
  product, alpha = dot, 1.0
  if len(dot.users) == 1 and dot.users[0].opcode == "multiply" and not dot.is_root:
    other = next((o for o in dot.users[0].operands if o is not dot), dot)
    if other.opcode == "broadcast" and other.operands[0].opcode == "constant":
      product, alpha = dot.users[0], float(np.asarray(other.operands[0].literal.value))
  numbers = {
    f"{side}_{kind}_dimensions": [str(d) for d in dot.attrs.get(f"{side}_{kind}_dims", ())]
    for side in ("lhs", "rhs")
    for kind in ("contracting", "batch")
  }
  precision = [p.upper() for p in dot.attrs.get("operand_precision", ("default",) * 2)]
  gemm = {"alpha_real": alpha, "beta": 0, "alpha_imag": 0, "dot_dimension_numbers": numbers, "epilogue": "DEFAULT"}
  gemm |= {"precision_config": {"operand_precision": precision, "algorithm": "ALG_UNSET"}, "scale_mode": 0}
  shape = Shape.tuple_of(product.shape, Shape.array("s8", (256,)))
  attrs = {"custom_call_target": "__cublas$lt$matmul"}
  config = json.dumps({"operation_queue_id": "0", "gemm_backend_config": gemm})
  call = Instruction("cublas-gemm", "custom-call", shape, dot.operands, attrs, dot.metadata, backend_config=config)
  computation.insert(call, before=product)
  value = Instruction("get-tuple-element", "get-tuple-element", product.shape, (call,), {"index": 0})
  computation.insert(value, before=product)
  product.replace_all_uses_with(value)
  computation.remove_all(dict.fromkeys([product, dot]))


def _gemm(instruction: Instruction, operands: Sequence[Any]) -> Any:
  """What cuBLAS computes."""
  gemm = json.loads(instruction.backend_config)["gemm_backend_config"]
  numbers = {k: [int(d) for d in v] for k, v in gemm["dot_dimension_numbers"].items()}
  shape = instruction.shape.tuple_shapes[0]
  names = iter("abcdefghijklmnopqrstuvwxyz")
  left = [next(names) for _ in range(operands[0].ndim)]
  right = [""] * operands[1].ndim
  for kind in ("contracting", "batch"):
    for a, b in zip(numbers[f"lhs_{kind}_dimensions"], numbers[f"rhs_{kind}_dimensions"]):
      right[b] = left[a]
  right = [r or next(names) for r in right]
  batch = [left[d] for d in numbers["lhs_batch_dimensions"]]
  free = [n for n in (*left, *right) if (n in left) != (n in right)]
  subscripts = f"{''.join(left)},{''.join(right)}->{''.join((*batch, *free))}"
  product = gemm["alpha_real"] * np.einsum(subscripts, *(np.asarray(x, np.float64) for x in operands))
  return product.astype(shape.dtype), np.zeros(instruction.shape.tuple_shapes[1].dimensions, np.int8)


def _as_fusion(dot: Instruction) -> None:
  """A fusion of the product and of what is moved or converted for it."""
  computation = dot.parent
  assert computation is not None and computation.parent is not None
  module = computation.parent
  inside = [dot]
  for operand in dict.fromkeys(dot.operands):
    user = dot
    while operand.opcode in ("bitcast", "convert", "transpose") and operand.users == (user,):
      inside.append(operand)
      user, (operand,) = operand, operand.operands
  members = [i for i in computation.topological_order() if i in inside]
  given = list(dict.fromkeys(o for i in members for o in i.operands if o not in inside))
  new: dict[Instruction, Instruction] = {
    o: Instruction(f"p{n}", "parameter", o.shape, (), {"parameter_number": n}) for n, o in enumerate(given)
  }
  body = list(new.values())
  for i in members:
    new[i] = clone_instruction(i, [new[o] for o in i.operands])
    body.append(new[i])
  fused = Computation(f"gemm_fusion_{dot.name}_computation", body, new[dot], is_fusion=True)
  for i in body:
    i.parent = fused
  module.add_computation(fused)
  fusion = Instruction(
    f"gemm_fusion_{dot.name}", "fusion", dot.shape, tuple(given), {"kind": "kCustom", "calls": fused}, dot.metadata
  )
  computation.insert(fusion, before=dot)
  was_root = dot.is_root
  dot.replace_all_uses_with(fusion)
  if was_root:
    computation.root = fusion
  computation.remove_all([i for i in members if i.is_dead])
