"""Symbolic tiles: which part of each operand an output tile needs, and regions of a program that are better as one kernel."""

from __future__ import annotations

from tilewright.hlo.tiling.analysis import TileAnalysis, as_region, tile_analysis
from tilewright.hlo.tiling.expr import Expr, Var
from tilewright.hlo.tiling.finder import Decision, FinderReport, find, find_fusions
from tilewright.hlo.tiling.indexing_map import Constraint, IndexingMap, RangeVar, RuntimeVar, compose, identity
from tilewright.hlo.tiling.op_maps import CannotTile, operand_maps, parameter_maps
from tilewright.hlo.tiling.open_fusions import region_of
from tilewright.hlo.tiling.predict import BUDGETS, Budget, Prediction, budget_for, predict
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
from tilewright.hlo.tiling.tile_search import best_tile, region_key
from tilewright.hlo.tiling.tiler import SymbolicNode

__all__ = [
  "BUDGETS",
  "Budget",
  "CannotTile",
  "Constraint",
  "Decision",
  "Expr",
  "FinderReport",
  "IndexingMap",
  "Prediction",
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
  "best_tile",
  "budget_for",
  "compose",
  "find",
  "find_fusions",
  "identity",
  "operand_maps",
  "parameter_maps",
  "predict",
  "region_key",
  "region_of",
  "symbolic_tile",
  "tile_analysis",
]
