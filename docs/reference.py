"""The API reference: a page for each public module, with signatures and docstrings as they are in the code.

A docstring is Markdown but for its indented parts, which are shown as they stand: examples, tables and lists of arguments.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

MODULES = {
  "tilewright.pallas": "the kernel language (`pl`)",
  "tilewright.pallas.tpu": "its names for TPU kernels (`pltpu`)",
  "tilewright.pallas.mosaic_gpu": "its names for Mosaic GPU kernels (`plgpu`)",
  "tilewright.pallas.triton": "its names for Triton kernels",
  "tilewright.pallas.fuser": "programs fused into kernels",
  "tilewright.pallas.cpu": "native code on the CPU",
  "tilewright.pallas.nvgpu": "native code on NVIDIA GPUs",
  "tilewright.ops": "library kernels",
  "tilewright.accelerate": "plain programs made faster",
  "tilewright.fusing": "`fuse_into`",
  "tilewright.replacing": "`replace_pallas`",
  "tilewright.numerics": "number formats and quantised arrays",
  "tilewright.hlo": "HLO as Python objects",
  "tilewright.hlo.schedule": "schedules",
  "tilewright.hlo.tiling": "symbolic tiles",
  "tilewright.hlo.cost": "cost models",
  "tilewright.collectives": "collectives as kernels",
  "tilewright.tune": "the autotuner",
  "tilewright.layout": "layouts of registers and memory",
  "tilewright.viz.explain": "a kernel on one page",
  "tilewright.errors": "exceptions",
}


def index() -> str:
  rows = "\n".join(f"| [`{name}`]({name}.md) | {what} |" for name, what in MODULES.items())
  pages = "\n".join(MODULES)
  return (
    "# API reference\n\nSignatures and docstrings, as they are in the code. "
    "[api.md](../api.md) has the state of each name of JAX's modules.\n\n"
    f"| module | holds |\n|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
  )


def page(name: str) -> str:
  """The page of a module."""
  module = importlib.import_module(name)
  parts = [f"# {name}\n", markdown(module.__doc__)]
  parts += [entry(name, own, getattr(module, own)) for own in public_names(module)]
  return "\n".join(parts)


def public_names(module: types.ModuleType) -> Iterator[str]:
  """What `__all__` has; else the functions and classes of our own that are no modules."""
  listed = getattr(module, "__all__", None)
  for name in sorted(set(listed if listed is not None else vars(module))):
    value = getattr(module, name)
    is_ours = (getattr(value, "__module__", None) or "").startswith("tilewright")
    documented = callable(value) and not isinstance(value, types.ModuleType)
    if documented and is_ours and not name.startswith("_"):
      yield name


def entry(module: str, name: str, value: Any) -> str:
  """A function or class with its signature, its docstring, and of a class its public methods."""
  if not inspect.isclass(value):
    return directive("function", f"{module}.{name}{signature(value)}", markdown(inspect.getdoc(value)))
  methods = []
  for own, method in vars(value).items():
    if own.startswith("_") or not (callable(getattr(value, own, None)) or isinstance(method, property)):
      continue
    doc = inspect.getdoc(method if isinstance(method, property) else getattr(value, own))
    if not doc:
      continue
    kind = "property" if isinstance(method, property) else "method"
    shown = (
      ""
      if kind == "property"
      else signature(getattr(value, own), skip_self=not isinstance(method, staticmethod | classmethod))
    )
    methods.append(directive(kind, f"{own}{shown}", markdown(doc)))
  plain = value.__doc__ if not (value.__doc__ or "").startswith(f"{value.__name__}(") else ""  # what dataclasses write
  body = "\n".join([markdown(inspect.cleandoc(plain) if plain else ""), *methods])
  shown = "" if issubclass(value, BaseException) else signature(value)
  return directive("class", f"{module}.{name}{shown}", body, fence="::::")


def signature(value: Any, skip_self: bool = False) -> str:
  try:
    found = inspect.signature(value)
  except (TypeError, ValueError):
    return "(…)"
  parameters = list(found.parameters.values())
  if skip_self and parameters and parameters[0].name == "self":
    parameters = parameters[1:]
  # Annotations are in the code; a default that is no literal is shown as one that is left out.
  plain = [p.replace(annotation=p.empty, default=_shown(p.default)) for p in parameters]
  return re.sub(
    r"'(\w+|…)'(?=[,)])|\"…\"",
    lambda m: m[0] if m[1] != "…" else "…",
    str(found.replace(parameters=plain, return_annotation=found.empty)),
  )


def _shown(default: Any) -> Any:
  simple = default is inspect.Parameter.empty or default is None or isinstance(default, bool | int | float | str)
  return default if simple else "…"


def directive(kind: str, head: str, body: str, fence: str = ":::") -> str:
  return f"{fence}{{py:{kind}}} {head}\n\n{body}\n{fence}\n"


def markdown(docstring: str | None) -> str:
  """A docstring as Markdown: what is indented stands in fences, and only what is in backticks is marked up."""
  if not docstring:
    return ""
  lines = _with_items(inspect.cleandoc(docstring).replace("\t", "  ").splitlines())
  out: list[str] = []
  inside = in_item = False
  for line in lines:
    is_item = bool(re.match(r"- ", line))
    is_code = line.startswith("  ") and not in_item
    if is_code and not inside:
      out += ["", "````"]
    elif inside and line.strip() and not is_code:
      out += ["````", ""]
      inside = False
    inside = inside or is_code
    in_item = is_item or (in_item and line.startswith("  "))
    out.append(line if inside else _escaped(line))
  return "\n".join([*out, *(["````"] if inside else [])]) + "\n"


def _with_items(lines: list[str]) -> list[str]:
  """Sections of arguments, results and exceptions as lists."""
  out: list[str] = []
  section = ""
  for line in lines:
    if line.strip() and not line.startswith("  "):
      section = line.rstrip(":") if line in ("Args:", "Returns:", "Raises:", "Yields:") else ""
      out += [line, ""] if section else [line]
    elif section and line.strip():
      item = re.match(r"  (\*{0,2}\w+): (.*)", line)
      if item and section in ("Args", "Raises"):
        out.append(f"- `{item[1]}`: {item[2]}")
      elif section in ("Args", "Raises") and out[-1].startswith("- "):
        out[-1] += " " + line.strip()
      else:
        out.append(line.strip())
    else:
      out.append(line)
  return out


def _escaped(line: str) -> str:
  if line.startswith("|"):
    return line  # a table
  parts = re.split(r"(`[^`]*`)", line)
  return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]{}#$\\])", r"\\\1", part) for part in parts)
