"""Symbolic tiles: which part of each operand an output tile needs, and regions of a program that are better as one kernel."""

from __future__ import annotations

from tilewright.hlo.tiling.region import (
  Region,
  RegionOutput,
  RuntimeValue,
  TiledFusion,
  TiledInstruction,
  TiledRegion,
  TilingAxis,
)

__all__ = ["Region", "RegionOutput", "RuntimeValue", "TiledFusion", "TiledInstruction", "TiledRegion", "TilingAxis"]
