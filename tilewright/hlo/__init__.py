"""HLO, the program XLA compiles, as Python objects: parse, print, verify, edit, and exchange protos with XLA."""

from __future__ import annotations

from tilewright.hlo.dtypes import PRIMITIVE_TYPES, element_type_of
from tilewright.hlo.errors import HloError, HloGraphError, HloParseError, HloProtoError, HloShapeError, HloVerifyError
from tilewright.hlo.evaluate import HloEvaluateError, custom_call, evaluate, evaluate_devices
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups, ReplicaGroups
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.parser import parse
from tilewright.hlo.proto_read import from_proto
from tilewright.hlo.shape import UNBOUNDED, Layout, ProgramShape, Shape, ShapeIndex
from tilewright.hlo.sharding import DimSharding, Domain, NamedSharding, Sharding
from tilewright.hlo.values import (
  BufferDonor,
  ConvDims,
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

__all__ = [
  "PRIMITIVE_TYPES",
  "UNBOUNDED",
  "AxisRef",
  "BufferDonor",
  "Computation",
  "ConvDims",
  "DimSharding",
  "Domain",
  "FileLocation",
  "HloError",
  "HloEvaluateError",
  "HloGraphError",
  "HloParseError",
  "HloProtoError",
  "HloShapeError",
  "HloVerifyError",
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
  "NamedSharding",
  "OpMetadata",
  "Original",
  "OriginalArray",
  "OutputAlias",
  "PaddingDim",
  "ProgramShape",
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
  "custom_call",
  "element_type_of",
  "evaluate",
  "evaluate_devices",
  "from_proto",
  "parse",
]
