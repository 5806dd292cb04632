"""Number formats, quantisation, block scaling, quantised arrays."""

from tilewright.numerics.convert import ROUNDINGS, decode, encode, round_to
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import FORMATS, Format, Specials, format_of
from tilewright.numerics.packing import pack, unpack
from tilewright.numerics.qarray import QArray, dequantize
from tilewright.numerics.quantize import quantize
from tilewright.numerics.recipes import RECIPES, Recipe
from tilewright.numerics.swizzle import Prepared, prepare, swizzle_scales, unswizzle_scales

__all__ = [
  "FORMATS",
  "RECIPES",
  "ROUNDINGS",
  "Format",
  "Prepared",
  "QArray",
  "Recipe",
  "Specials",
  "decode",
  "dequantize",
  "encode",
  "format_of",
  "pack",
  "prepare",
  "quantize",
  "round_to",
  "scaled_dot",
  "swizzle_scales",
  "unpack",
  "unswizzle_scales",
]
