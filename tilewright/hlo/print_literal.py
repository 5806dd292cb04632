"""Writing literals so that reading them gives the same bits."""

from __future__ import annotations

import numpy as np

from tilewright.hlo.float_bits import FORMATS, bits_dtype, nan_text
from tilewright.hlo.literal import Literal


def _real(value: float) -> str:
  """The shortest spelling that reads back to this float64, whole numbers without `.0`."""
  text = repr(value)
  return text[:-2] if text.endswith(".0") else text


def _float_texts(element_type: str, flat: np.ndarray) -> list[str]:
  if element_type == "f64":
    texts = [_real(value) for value in flat.tolist()]
  elif element_type == "f32":
    # numpy's str of a float32 is the shortest spelling of that float32, far shorter than that of its float64 value.
    texts = [text[:-2] if text.endswith(".0") else text for text in flat.astype(np.str_).tolist()]
  else:
    with np.errstate(invalid="ignore"):
      flat64 = flat.astype(np.float64)
    texts = [_real(value) for value in flat64.tolist()]
  if element_type in FORMATS:
    with np.errstate(invalid="ignore"):  # signalling NaNs
      nan_at = np.flatnonzero(np.isnan(flat.astype(np.float64)))
    if nan_at.size:
      bits = flat.view(bits_dtype(element_type))
      for i in nan_at.tolist():
        texts[i] = nan_text(element_type, int(bits[i]))
  return texts


def element_texts(literal: Literal) -> list[str]:
  """Every element, in row-major order."""
  assert literal.value is not None
  flat = np.ascontiguousarray(literal.value).reshape(-1)
  kind = literal.shape.kind
  if kind == "pred":
    return ["1" if value else "0" for value in flat.tolist()] if literal.shape.rank else [str(bool(flat[0])).lower()]
  if kind == "float":
    return _float_texts(literal.shape.element_type, flat)
  if kind == "complex":
    part = "f32" if literal.shape.element_type == "c64" else "f64"
    pairs = flat.view(np.float32 if part == "f32" else np.float64)
    texts = ["nan" if "nan" in text else text for text in _float_texts(part, pairs)]
    return [f"({real}, {imaginary})" for real, imaginary in zip(texts[::2], texts[1::2])]
  return [str(value) for value in flat.astype(np.uint64 if kind == "unsigned" else np.int64).tolist()]


def literal_text(literal: Literal) -> str:
  if literal.shape.is_tuple:
    if literal.is_elided:
      return "({...})" if len(literal.elements) == 1 else "{...}"
    return f"({', '.join(literal_text(part) for part in literal.elements)})"
  if literal.value is None:
    return "{...}"
  texts = element_texts(literal)
  dims = literal.shape.dimensions
  if not dims:
    return texts[0]
  if 0 in dims:
    return _empty(dims)
  for size in reversed(dims[1:]):
    texts = [f"{{ {', '.join(texts[i : i + size])} }}" for i in range(0, len(texts), size)]
  return f"{{{', '.join(texts)}}}" if len(dims) == 1 else f"{{ {', '.join(texts)} }}"


def _empty(dims: tuple[int, ...]) -> str:
  first = dims[0]
  if first == 0 or len(dims) == 1:
    return "{}"
  inner = _empty(dims[1:])
  return f"{{ {', '.join([inner] * first)} }}"
