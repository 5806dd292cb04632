"""Symbolic tiles: which part of each operand an output tile needs, and regions of a program that are better as one kernel."""

from __future__ import annotations

from tilewright.hlo.tiling.analysis import SymbolicNode, TileAnalysis, as_region, tile_analysis
from tilewright.hlo.tiling.expr import Expr, Var
from tilewright.hlo.tiling.indexing_map import Constraint, IndexingMap, RangeVar, RuntimeVar, compose, identity
from tilewright.hlo.tiling.op_maps import CannotTile, operand_maps, parameter_maps
from tilewright.hlo.tiling.open_fusions import region_of
from tilewright.hlo.tiling.region import (
  Region,
  RegionOutput,
  RuntimeValue,
  TiledFusion,
  TiledInstruction,
  TiledRegion,
  TilingAxis,
)
from tilewright.hlo.tiling.symbolic_tile import SizeCondition, SymbolicTile, TileConstraint, symbolic_tile

__all__ = [
  "CannotTile",
  "Constraint",
  "Expr",
  "IndexingMap",
  "RangeVar",
  "Region",
  "RegionOutput",
  "RuntimeValue",
  "RuntimeVar",
  "SizeCondition",
  "SymbolicNode",
  "SymbolicTile",
  "TileAnalysis",
  "TileConstraint",
  "TiledFusion",
  "TiledInstruction",
  "TiledRegion",
  "TilingAxis",
  "Var",
  "as_region",
  "compose",
  "identity",
  "operand_maps",
  "parameter_maps",
  "region_of",
  "symbolic_tile",
  "tile_analysis",
]
