"""Shapes and layouts as messages of xla_data.proto: `f32[4,8]{1,0}` is element type 11, dimensions 4 and 8, and a layout of its own.

Fields that we do not know are kept byte for byte, and written again after the others.
"""

from __future__ import annotations

from tilewright.hlo import proto_wire as wire
from tilewright.hlo.dtypes import BY_ENUM, PRIMITIVE_TYPES
from tilewright.hlo.errors import HloProtoError
from tilewright.hlo.proto_schema import as_bytes, as_int, as_ints
from tilewright.hlo.shape import Layout, ProgramShape, Shape, SplitConfig

LEVELS = ("D", "C", "S", "H")


def _type_name(enum: int) -> str:
  row = BY_ENUM.get(enum)
  if row is None:
    raise HloProtoError(f"element type {enum} of the proto is not known")
  return row.name


def decode_shape(data: bytes) -> Shape:
  element_type = 0
  dims: tuple[int, ...] = ()
  dynamic: tuple[int, ...] = ()
  parts: list[Shape] = []
  layout: Layout | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 2:
      element_type = as_int(value)
    elif number == 3:
      dims = as_ints(dims, value)
    elif number == 4:
      parts.append(decode_shape(as_bytes(value)))
    elif number == 5:
      layout = decode_layout(as_bytes(value))
    elif number == 6:
      dynamic = as_ints(dynamic, value)
    else:
      unknown += wire.put_raw(field)
  flags = tuple(map(bool, dynamic)) if any(dynamic) else ()
  return Shape(_type_name(element_type), dims, layout, flags, tuple(parts), unknown)


def encode_shape(shape: Shape) -> bytes:
  flags = tuple(map(int, shape.dynamic)) or (0,) * len(shape.dimensions)
  return (
    wire.put_int(2, PRIMITIVE_TYPES[shape.element_type].enum)
    + wire.put_packed(3, shape.dimensions)
    + b"".join(wire.put_message(4, encode_shape(part)) for part in shape.tuple_shapes)
    + (wire.put_message(5, encode_layout(shape.layout)) if shape.layout is not None else b"")
    + wire.put_packed(6, flags)
    + shape.unknown
  )


def decode_layout(data: bytes) -> Layout:
  lists: dict[int, tuple[int, ...]] = {1: (), 9: (), 13: (), 14: ()}
  numbers = {7: 0, 8: 0, 11: 0, 12: 0, 15: 0, 16: 0}
  tiles: list[tuple[int, ...]] = []
  splits: list[SplitConfig] = []
  physical: Shape | None = None
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number in lists:
      lists[number] = as_ints(lists[number], value)
    elif number in numbers:
      numbers[number] = as_int(value)
    elif number == 6:
      tile: tuple[int, ...] = ()
      for n, _, v in wire.fields(as_bytes(value)):
        tile = as_ints(tile, v) if n == 1 else tile
      tiles.append(tile)
    elif number == 17:
      dimension, indices = 0, ()
      for n, _, v in wire.fields(as_bytes(value)):
        if n == 1:
          dimension = as_int(v)
        elif n == 2:
          indices = as_ints(indices, v)  # type: ignore[assignment]
      splits.append(SplitConfig(dimension, indices))
    elif number == 10:
      physical = decode_shape(as_bytes(value))
    else:
      unknown += wire.put_raw(field)
  return Layout(
    lists[1],
    tuple(LEVELS[i] for i in lists[9]),
    tuple(map(bool, lists[13])),
    tuple(map(bool, lists[14])),
    tuple(tiles),
    numbers[16],
    _type_name(numbers[11]) if numbers[11] else "",
    _type_name(numbers[12]) if numbers[12] else "",
    numbers[7],
    numbers[8],
    tuple(splits),
    physical,
    numbers[15],
    unknown,
  )


def encode_layout(layout: Layout) -> bytes:
  def enum(name: str) -> int:
    return PRIMITIVE_TYPES[name].enum if name else 0

  return (
    wire.put_packed(1, layout.minor_to_major)
    + b"".join(wire.put_message(6, wire.put_packed(1, tile)) for tile in layout.tiles)
    + wire.put_int(7, layout.element_size_in_bits)
    + wire.put_int(8, layout.memory_space)
    + wire.put_packed(9, tuple(LEVELS.index(level) for level in layout.dim_level_types))
    + (wire.put_message(10, encode_shape(layout.physical_shape)) if layout.physical_shape is not None else b"")
    + wire.put_int(11, enum(layout.index_type))
    + wire.put_int(12, enum(layout.pointer_type))
    + wire.put_packed(13, tuple(map(int, layout.dim_unique)))
    + wire.put_packed(14, tuple(map(int, layout.dim_ordered)))
    + wire.put_int(15, layout.dynamic_shape_metadata_prefix_bytes)
    + wire.put_int(16, layout.tail_padding_alignment)
    + b"".join(
      wire.put_message(17, wire.put_int(1, split.dimension) + wire.put_packed(2, split.indices))
      for split in layout.split_configs
    )
    + layout.unknown
  )


def decode_program_shape(data: bytes) -> ProgramShape:
  parameters: list[Shape] = []
  names: list[str] = []
  result = Shape("tuple")
  unknown = b""
  for field in wire.fields(data):
    number, _, value = field
    if number == 1:
      parameters.append(decode_shape(as_bytes(value)))
    elif number == 2:
      result = decode_shape(as_bytes(value))
    elif number == 3:
      names.append(wire.text(value))
    else:
      unknown += wire.put_raw(field)
  return ProgramShape(tuple(parameters), result, tuple(names), unknown)


def encode_program_shape(shape: ProgramShape) -> bytes:
  return (
    b"".join(wire.put_message(1, encode_shape(parameter)) for parameter in shape.parameters)
    + wire.put_message(2, encode_shape(shape.result))
    + b"".join(wire.put_message(3, name.encode("utf-8", "surrogateescape")) for name in shape.parameter_names)
    + shape.unknown
  )
