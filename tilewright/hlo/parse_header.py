"""Parsing the module header, which precedes the computations: the `HloModule` line and the tables of source locations."""

from __future__ import annotations

import re
from collections.abc import Callable

from tilewright.hlo.cursor import Cursor
from tilewright.hlo.errors import HloParseError
from tilewright.hlo.ir import Module, OriginRecovery
from tilewright.hlo.parse_shape import ShapeReader
from tilewright.hlo.parse_values import (
  read_bools,
  read_buffer_donor,
  read_frontend_attributes,
  read_input_output_alias,
  read_original_array,
)
from tilewright.hlo.values import (
  DebugAttributes,
  DebugEntry,
  FileLocation,
  StackFrame,
  StackFrameIndex,
)

FIELD = re.compile(r"([a-z_]++)=(-?\d++)", re.ASCII)
LOCATION = ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")
TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


class HeaderReader:
  def __init__(self, cursor: Cursor, shapes: ShapeReader, parse: Callable[[str], Module]) -> None:
    self.cursor = cursor
    self.shapes = shapes
    self.parse = parse  # for modules inside the origin recovery table

  def read(self, module: Module) -> None:
    """The rest of the `HloModule` line, and the tables."""
    cursor = self.cursor
    module.name = cursor.name("the name of the module")
    seen: set[str] = set()
    while cursor.accept(","):
      start = cursor.pos
      key = cursor.word("an attribute of the module")
      cursor.expect("=", "after the name of an attribute")
      if key in seen:
        cursor.error(f"the attribute {key} appears twice", start)
      seen.add(key)
      self._attribute(module, key, start)
    self._tables(module)

  def _attribute(self, module: Module, key: str, start: int) -> None:
    cursor = self.cursor
    match key:
      case "is_scheduled":
        module.is_scheduled = cursor.boolean()
      case "alias_passthrough_params":
        module.alias_passthrough_params = cursor.boolean()
      case "replica_count":
        module.replica_count = self._count(key)
      case "num_partitions":
        module.num_partitions = self._count(key)
      case "input_output_alias":
        module.input_output_alias = read_input_output_alias(cursor)
      case "buffer_donor":
        module.buffer_donor = read_buffer_donor(cursor)
      case "entry_computation_layout":
        cursor.expect("{")
        module.entry_layout = self.shapes.program_shape()
        cursor.expect("}")
      case "frontend_attributes":
        module.frontend_attributes = read_frontend_attributes(cursor)
      case "allow_spmd_sharding_propagation_to_parameters":
        module.allow_spmd_sharding_propagation_to_parameters = read_bools(cursor)
      case "allow_spmd_sharding_propagation_to_output":
        module.allow_spmd_sharding_propagation_to_output = read_bools(cursor)
      case "origin_recovery_table":
        module.origin_recovery_table = self._recovery_table()
      case "debug_attributes":
        module.debug_attributes = self._debug_attributes()
      case _:
        cursor.error(f"`{key}` is not an attribute of a module", start)

  def _count(self, key: str) -> int:
    start = self.cursor.pos
    value = self.cursor.integer()
    if value < 1:
      self.cursor.error(f"{key} is at least 1", start)
    return value

  def _recovery_table(self) -> tuple[OriginRecovery, ...]:
    """`{ {"old"} : {"new"}, "module text" … }`."""
    cursor = self.cursor
    cursor.expect("{")
    entries: list[OriginRecovery] = []
    while not cursor.accept("}"):
      old = read_original_array(cursor)
      cursor.expect(":")
      new = read_original_array(cursor)
      module: Module | None = None
      cursor.accept(",")
      cursor.skip()
      if cursor.at('"'):
        start = cursor.pos
        text = cursor.string()
        if text.strip():
          try:
            module = self.parse(text)
          except HloParseError as error:
            cursor.error(f"in the recovery module: {error.reason}", start)
        cursor.accept(",")
      entries.append(OriginRecovery(old, new, module))
    return tuple(entries)

  def _debug_attributes(self) -> tuple[DebugEntry, ...]:
    """`{ {"array"}: ({log_mode=DEFAULT,callback_id=1}, …) … }`."""
    cursor = self.cursor
    cursor.expect("{")
    entries: list[DebugEntry] = []
    while not cursor.accept("}"):
      array = read_original_array(cursor)
      cursor.expect(":", "in debug_attributes")
      cursor.expect("(")
      found: list[DebugAttributes] = []
      while not cursor.accept(")"):
        if found:
          cursor.accept(",")
        found.append(self._debug_attribute())
      cursor.accept(",")
      entries.append(DebugEntry(array, tuple(found)))
    return tuple(entries)

  def _debug_attribute(self) -> DebugAttributes:
    cursor = self.cursor
    cursor.expect("{")
    mode, ids, partitioned, sharding = "NONE", {"callback_id": 0, "op_id": 0}, False, ""
    while not cursor.accept("}"):
      key = cursor.word("a debug attribute")
      cursor.expect("=")
      if key == "log_mode":
        mode = cursor.word("a log mode")
      elif key in ids:
        ids[key] = cursor.integer()
      elif key == "partitioned":
        partitioned = cursor.boolean()
      elif key == "operands_sharding":
        sharding = cursor.string()
      else:
        cursor.error(f"`{key}` is not a debug attribute", cursor.pos - len(key))
      cursor.accept(",")
    return DebugAttributes(mode, ids["callback_id"], ids["op_id"], partitioned, sharding)

  # FileNames, FunctionNames, FileLocations, StackFrames.

  def _tables(self, module: Module) -> None:
    cursor = self.cursor
    names: dict[str, list[str]] = {"FileNames": [], "FunctionNames": []}
    locations: list[FileLocation] = []
    frames: list[StackFrame] = []
    for table in TABLES:
      if not cursor.accept_word(table):
        continue
      count = 0
      while cursor.peek().isdigit():
        start = cursor.pos
        count += 1
        if cursor.integer() != count:
          cursor.error(f"the rows of {table} are numbered 1, 2, 3, …", start)
        if table in names:
          names[table].append(cursor.string())
        elif table == "FileLocations":
          row = self._row(LOCATION)
          name, function, line, end, column, end_column = (row.get(key, 0) for key in LOCATION)
          locations.append(FileLocation(name, function, line, end, column, end_column))
        else:
          row = self._row(("file_location_id", "parent_frame_id"))
          # The text counts parents from 1 so that an outermost frame, stored as 0, names itself or prints 1.
          frames.append(StackFrame(row.get("file_location_id", 0), row.get("parent_frame_id", 1) - 1))
    module.stack_frames = StackFrameIndex(
      tuple(names["FileNames"]), tuple(names["FunctionNames"]), tuple(locations), tuple(frames)
    )

  def _row(self, keys: tuple[str, ...]) -> dict[str, int]:
    cursor = self.cursor
    cursor.expect("{")
    row: dict[str, int] = {}
    while not cursor.accept("}"):
      match = cursor.match(FIELD)
      if not match or match[1] not in keys:
        cursor.error(f"expected one of {', '.join(keys)}, found {cursor.found()}")
      row[match[1]] = cursor.to_int(match[2], match.start(2))
      cursor.accept(",")
    return row
