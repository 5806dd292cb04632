"""Writing shapes."""

from __future__ import annotations

from tilewright.hlo.shape import COMBINE, UNBOUNDED, Layout, ProgramShape, Shape


def shape_text(shape: Shape) -> str:
  """The shape with its layouts, as XLA prints it."""
  if shape.element_type == "tuple":
    parts: list[str] = []
    for i, part in enumerate(shape.tuple_shapes):
      mark = f"/*index={i}*/" if i and i % 5 == 0 else ""
      parts.append(mark + shape_text(part))
    return f"({', '.join(parts)})"
  if shape.element_type == "buffer":
    return f"b({shape_text(shape.tuple_shapes[0])})"
  return logical_text(shape) + (layout_text(shape.layout) if shape.layout is not None else "")


def logical_text(shape: Shape) -> str:
  """The shape without layouts."""
  if shape.tuple_shapes or shape.element_type == "tuple":
    inside = ", ".join(logical_text(part) for part in shape.tuple_shapes)
    return f"b({inside})" if shape.element_type == "buffer" else f"({inside})"
  if not shape.dynamic:
    return f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]"
  sizes = [
    "?" if size == UNBOUNDED else f"<={size}" if dynamic else str(size)
    for size, dynamic in zip(shape.dimensions, shape.dynamic)
  ]
  return f"{shape.element_type}[{','.join(sizes)}]"


def layout_text(layout: Layout) -> str:
  suffix = layout_suffix(layout)
  if not layout.minor_to_major and not suffix:
    return ""
  return f"{{{','.join(map(str, layout.minor_to_major))}{':' + suffix if suffix else ''}}}"


def layout_suffix(layout: Layout) -> str:
  """The text after the colon."""
  parts: list[str] = []
  if layout.dim_level_types:
    unique = layout.dim_unique or (True,) * len(layout.dim_level_types)
    ordered = layout.dim_ordered or (True,) * len(layout.dim_level_types)
    levels = [
      level + ("" if one else "+") + ("" if sorted_ else "~")
      for level, one, sorted_ in zip(layout.dim_level_types, unique, ordered)
    ]
    parts.append(f"D({','.join(levels)})")
  if layout.tiles:
    tiles = [",".join("*" if size == COMBINE else str(size) for size in tile) for tile in layout.tiles]
    parts.append("T" + "".join(f"({tile})" for tile in tiles))
  if layout.tail_padding_alignment != 1:
    parts.append(f"L({layout.tail_padding_alignment})")
  if layout.index_type:
    parts.append(f"#({layout.index_type})")
  if layout.pointer_type:
    parts.append(f"*({layout.pointer_type})")
  if layout.element_size_in_bits:
    parts.append(f"E({layout.element_size_in_bits})")
  if layout.memory_space:
    parts.append(f"S({layout.memory_space})")
  if layout.split_configs:
    splits = [f"({split.dimension}:{','.join(map(str, split.indices))})" for split in layout.split_configs]
    parts.append("SC" + "".join(splits))
  if layout.physical_shape is not None:
    parts.append(f"P({shape_text(layout.physical_shape)})")
  if layout.dynamic_shape_metadata_prefix_bytes:
    parts.append(f"M({layout.dynamic_shape_metadata_prefix_bytes})")
  return "".join(parts)


def program_shape_text(shape: ProgramShape) -> str:
  """`(p0, p1)->result` with layouts."""
  parts: list[str] = []
  for i, parameter in enumerate(shape.parameters):
    mark = f"/*index={i}*/" if i and i % 5 == 0 else ""
    parts.append(mark + shape_text(parameter))
  return f"({', '.join(parts)})->{shape_text(shape.result)}"
