"""Number formats, quantisation, block scaling, quantised arrays."""

from tilewright.numerics.convert import ROUNDINGS, decode, encode, round_to
from tilewright.numerics.formats import FORMATS, Format, Specials, format_of
from tilewright.numerics.packing import pack, unpack

__all__ = ["FORMATS", "ROUNDINGS", "Format", "Specials", "decode", "encode", "format_of", "pack", "round_to", "unpack"]
