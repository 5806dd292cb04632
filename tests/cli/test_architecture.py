"""docs/design.md says who may import whom. This is that table, checked."""

from __future__ import annotations

import ast
import functools
import pathlib
import re

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "tilewright"
FILES = sorted(PACKAGE.rglob("*.py"))
# A package may import those behind it.
LAYERS = (
  "cli",
  "fusing.py",
  "replacing.py",
  "accelerate",
  "accelerate",
  "viz",
  "collectives",
  "ops",
  "tune",
  "numerics",
  "pallas",
  "target",
  "tile",
  "hlo",
  "runtime",
  "layout",
)


@functools.cache
def imports(path: pathlib.Path) -> list[str]:
  found: list[str] = []
  for node in ast.walk(ast.parse(path.read_text())):
    if isinstance(node, ast.Import):
      found += [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
      assert node.level == 0, f"{path}: relative import"
      found += [f"{node.module}.{alias.name}" for alias in node.names]
  return found


def name_of(path: pathlib.Path) -> str:
  return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down(layer):
  above = LAYERS[: LAYERS.index(layer)]
  wrong = [
    f"{name_of(path)} imports {name}"
    for path in FILES
    if path.relative_to(PACKAGE).parts[0] == layer
    for name in imports(path)
    if any(f"{name}.".startswith(f"tilewright.{other.removesuffix('.py')}.") for other in above)
  ]
  assert not wrong


def test_private_modules_of_jax_are_imported_in_one_file():
  wrong = [
    f"{name_of(path)} imports {name}"
    for path in FILES
    if name_of(path) != "runtime/_jax.py"
    for name in imports(path)
    if f"{name}.".startswith(("jax._src.", "jaxlib."))
  ]
  assert not wrong


def test_the_peer_is_imported_by_benchmarks_only():
  peers = ("jax.experimental.pallas.", "jax._src.pallas.", "jax.experimental.mosaic.")
  wrong = [
    f"{name_of(path)} imports {name}"
    for path in FILES
    if not name_of(path).startswith("cli/bench")
    for name in imports(path)
    if f"{name}.".startswith(peers)
  ]
  assert not wrong


def test_modules_of_tests_have_names_of_their_own() -> None:
  """pytest imports them by their base name, whatever folder they are in."""
  names = [
    path.name
    for path in (PACKAGE.parent / "tests").rglob("*.py")
    if path.name not in ("conftest.py", "__init__.py", "__main__.py")
  ]
  assert sorted(names) == sorted(set(names))


def test_passes_write_no_llvm():
  """What they decide is read by code generation, which decides nothing of it again. Of that they know the hardware units."""
  units = "tilewright.target.nvgpu.emit.units"
  wrong = [
    f"{name_of(path)} imports {name}"
    for path in FILES
    if name_of(path).startswith("target/nvgpu/passes/")
    for name in imports(path)
    if name.startswith("llvmlite") or (name.startswith("tilewright.target.nvgpu.emit") and not name.startswith(units))
  ]
  assert not wrong


def packages_of(package: str) -> list[str]:
  return [
    package,
    *(name_of(p.parent) for p in FILES if p.name == "__init__.py" and name_of(p).startswith(f"{package}/")),
  ]


@pytest.mark.parametrize("package", ["layout", "target/llvm", *sorted(set(packages_of("target/nvgpu")))])
def test_the_map_of_a_large_package_has_all_of_its_modules(package):
  words = set(re.findall(r"\w+", ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text())) or ""))
  modules = {path.stem for path in (PACKAGE / package).iterdir() if not path.name.startswith("__")}
  assert not modules - words, "name them in the docstring of the package"


def imported_modules(path: pathlib.Path) -> set[str]:
  """The last parts of all names that a file imports, modules or not."""
  found: set[str] = set()
  for node in ast.walk(ast.parse(path.read_text())):
    if isinstance(node, ast.Import | ast.ImportFrom):
      found |= {alias.name.rpartition(".")[2] for alias in node.names}
      found |= {(node.module or "").rpartition(".")[2]} if isinstance(node, ast.ImportFrom) else set()
  return found


def test_no_file_of_the_tests_imports_a_test_module():
  """What several share is in tests/support."""
  paths = [path for path in (PACKAGE.parent / "tests").rglob("*.py") if "support" not in path.parts]
  modules = {path.stem for path in paths if path.name.startswith("test_")}
  assert len(modules) > 100
  found = {
    str(path.relative_to(PACKAGE.parent)): both
    for path in paths
    if (both := imported_modules(path) & modules - {path.stem})
  }
  assert not found
