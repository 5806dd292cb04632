"""Number formats, quantisation, block scaling, quantised arrays."""

from tilewright.numerics.convert import ROUNDINGS, decode, encode, round_to
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import FORMATS, Format, Specials, format_of
from tilewright.numerics.hitype import QSpec, QType, QValue, box, dequantize, dequantize_value, partition_specs, unbox
from tilewright.numerics.matmuls import (
  BlockScaleConfig,
  get_scaled_dot_general_config,
  scaled_dot_general,
  scaled_matmul,
)
from tilewright.numerics.packing import pack, unpack
from tilewright.numerics.qarray import QArray
from tilewright.numerics.quantize import quantize
from tilewright.numerics.recipes import RECIPES, Recipe
from tilewright.numerics.swizzle import Prepared, prepare, swizzle_scales, unswizzle_scales
from tilewright.runtime import plugins as _plugins

# The HLO pass; programs that have none do not load tilewright.hlo.
_plugins.register("block_scaling", "tilewright.numerics.hlo_kernels")

__all__ = [
  "FORMATS",
  "RECIPES",
  "ROUNDINGS",
  "BlockScaleConfig",
  "Format",
  "Prepared",
  "QArray",
  "QSpec",
  "QType",
  "QValue",
  "Recipe",
  "Specials",
  "box",
  "decode",
  "dequantize",
  "dequantize_value",
  "encode",
  "format_of",
  "get_scaled_dot_general_config",
  "pack",
  "partition_specs",
  "prepare",
  "quantize",
  "round_to",
  "scaled_dot",
  "scaled_dot_general",
  "scaled_matmul",
  "swizzle_scales",
  "unbox",
  "unpack",
  "unswizzle_scales",
]
