"""HLO, the program XLA compiles, as Python objects: parse, print, verify, edit, and exchange protos with XLA."""

from __future__ import annotations

from tilewright.hlo.alias import (
  Alias,
  ModuleAliases,
  buffer_source,
  forwards,
  may_alias,
  module_aliases,
  must_alias,
)
from tilewright.hlo.analysis import (
  CallGraph,
  Reachability,
  call_graph,
  computation_order,
  is_ordered,
  topological_order,
)
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_computation, clone_instruction, clone_module, copy_body
from tilewright.hlo.dtypes import PRIMITIVE_TYPES, element_type_of
from tilewright.hlo.errors import (
  HloError,
  HloGraphError,
  HloParseError,
  HloPassWarning,
  HloProtoError,
  HloShapeError,
  HloVerifyError,
)
from tilewright.hlo.evaluate import HloEvaluateError, custom_call, evaluate, evaluate_devices
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups, ReplicaGroups
from tilewright.hlo.hook import Hook, install, installed_hooks
from tilewright.hlo.infer import infer_shape
from tilewright.hlo.ir import Computation, Instruction, Module, OriginRecovery
from tilewright.hlo.literal import Literal
from tilewright.hlo.parser import parse
from tilewright.hlo.passes import PASSES, Pass, make_pass, register_pass, run_passes
from tilewright.hlo.proto_read import from_proto
from tilewright.hlo.shape import UNBOUNDED, Layout, ProgramShape, Shape, ShapeIndex
from tilewright.hlo.sharding import DimSharding, Domain, NamedSharding, Sharding
from tilewright.hlo.values import (
  BufferDonor,
  ConvDims,
  DebugAttributes,
  DebugEntry,
  FileLocation,
  InputOutputAlias,
  OpMetadata,
  Original,
  OriginalArray,
  OutputAlias,
  PaddingDim,
  ResultAccuracy,
  SliceDim,
  StackFrame,
  StackFrameIndex,
  Statistics,
  Window,
  WindowDim,
)
from tilewright.hlo.verify import problems, verify

__all__ = [
  "PASSES",
  "PRIMITIVE_TYPES",
  "UNBOUNDED",
  "Alias",
  "AxisRef",
  "BufferDonor",
  "Builder",
  "CallGraph",
  "Computation",
  "ConvDims",
  "DebugAttributes",
  "DebugEntry",
  "DimSharding",
  "Domain",
  "FileLocation",
  "HloError",
  "HloEvaluateError",
  "HloGraphError",
  "HloParseError",
  "HloPassWarning",
  "HloProtoError",
  "HloShapeError",
  "HloVerifyError",
  "Hook",
  "InputOutputAlias",
  "Instruction",
  "Iota",
  "IotaGroups",
  "Layout",
  "ListGroups",
  "Literal",
  "Mesh",
  "MeshGroups",
  "Module",
  "ModuleAliases",
  "NamedSharding",
  "OpMetadata",
  "OriginRecovery",
  "Original",
  "OriginalArray",
  "OutputAlias",
  "PaddingDim",
  "Pass",
  "ProgramShape",
  "Reachability",
  "ReplicaGroups",
  "ResultAccuracy",
  "Shape",
  "ShapeIndex",
  "Sharding",
  "SliceDim",
  "StackFrame",
  "StackFrameIndex",
  "Statistics",
  "Window",
  "WindowDim",
  "buffer_source",
  "call_graph",
  "clone_computation",
  "clone_instruction",
  "clone_module",
  "computation_order",
  "copy_body",
  "custom_call",
  "element_type_of",
  "evaluate",
  "evaluate_devices",
  "forwards",
  "from_proto",
  "infer_shape",
  "install",
  "installed_hooks",
  "is_ordered",
  "make_pass",
  "may_alias",
  "module_aliases",
  "must_alias",
  "parse",
  "problems",
  "register_pass",
  "run_passes",
  "topological_order",
  "verify",
]
