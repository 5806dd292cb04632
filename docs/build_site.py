"""Build the site: every document as static HTML, with search, an API reference and charts of the benchmarks.

    pip install -e '.[docs]'
    python docs/build_site.py build/site                  # then open build/site/index.html; no server is needed
    python docs/build_site.py build/site --no-programs    # without running the programs of the documents: the tests do

It is strict. A link that leads nowhere, a section that is not there, or whatever else Sphinx warns of stops it. So does a program of the
README, the guide or the book that fails or prints something else than what is shown.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

# Pages by part. One that is not named here is an error: it would be in nobody's way.
PARTS = {
  "Start": ["guide", "commands", "targets", "explain"],
  "The book": ["book/README"],
  "Guides": ["accelerate", "hlo", "schedule", "tiling", "collectives", "tuning", "numerics"],
  "Reference": ["reference/index", "api", "primitives", "math", "precision", "benchmarks", "charts"],
  "The project": ["design", "contributing", "changelog"],
}
FROM_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>(?!https?:|#)[^)\s]+)\)")
_FENCES = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


class BrokenLink(SystemExit):
  """A link that leads nowhere."""


def relinked(text: str, source: pathlib.Path, page: pathlib.PurePosixPath) -> str:
  """A document's text as a page of the site: links to documents lead to their pages; files that the site does not have are named."""

  def replace(found: re.Match[str]) -> str:
    path, mark, section = found["target"].partition("#")
    target = (source.parent / path).resolve()
    if not target.exists():
      raise BrokenLink(f"{source.relative_to(ROOT)}: the link {found[0]} leads nowhere.")
    home = site_page(target)
    if home is None:
      return found["text"] if found["text"].startswith("`") else f"{found['text']} (`{target.relative_to(ROOT)}`)"
    return f"{found['image']}[{found['text']}]({os.path.relpath(home, page.parent)}{mark}{section})"

  pieces = _FENCES.split(text)
  return "".join(piece if piece.startswith("```") else _LINK.sub(replace, piece) for piece in pieces)


def site_page(target: pathlib.Path) -> str | None:
  """Where a file is in the site, or None where it is not."""
  if target.parent == ROOT and target.name in FROM_ROOT:
    return FROM_ROOT[target.name]
  if target.is_file() and target.is_relative_to(DOCS) and target.suffix in (".md", ".svg", ".png"):
    return str(target.relative_to(DOCS))
  return None


def gather(folder: pathlib.Path) -> None:
  """Put all pages into a folder, as Sphinx takes them."""
  import benchmark_charts
  import reference

  for path in sorted(DOCS.rglob("*")):
    if path.suffix in (".svg", ".png"):
      (folder / path.relative_to(DOCS)).parent.mkdir(parents=True, exist_ok=True)
      shutil.copy(path, folder / path.relative_to(DOCS))
  documents = {path: str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))}
  documents |= {ROOT / name: page for name, page in FROM_ROOT.items()}
  for path, name in documents.items():
    text = relinked(path.read_text(encoding="utf-8"), path, pathlib.PurePosixPath(name))
    if name == "index.md":
      text += "".join(toctree(caption, pages) for caption, pages in PARTS.items())
    if name == "book/README.md":
      chapters = re.findall(r"\]\((\w+)\.md\)", text)
      text += toctree("", chapters)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
  (folder / "reference").mkdir()
  (folder / "reference" / "index.md").write_text(reference.index(), encoding="utf-8")
  for name in reference.MODULES:
    (folder / "reference" / f"{name}.md").write_text(reference.page(name), encoding="utf-8")
  runs = benchmark_charts.load(sorted(benchmark_charts.RUNS.glob("*.json")))
  (folder / "charts.md").write_text(benchmark_charts.page(runs), encoding="utf-8")


def toctree(caption: str, pages: list[str]) -> str:
  title = f":caption: {caption}\n" if caption else ""
  listed = "\n".join(pages)
  return f"\n```{{toctree}}\n:hidden:\n{title}\n{listed}\n```\n"


def run_programs() -> None:
  """The programs of the README, the guide and the book, as the tests run them."""
  tests = [ROOT / "tests" / "cli" / "test_readme.py", ROOT / "tests" / "book"]
  subprocess.run([sys.executable, "-m", "pytest", "-q", *map(str, tests)], cwd=ROOT, check=True)


def build(out: pathlib.Path) -> None:
  with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "source"
    source.mkdir()
    gather(source)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-j", "2"]
    command += ["-c", str(DOCS / "site"), "-d", str(pathlib.Path(folder) / "doctrees"), str(source), str(out)]
    environment = os.environ | {
      "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    }
    subprocess.run(command, check=True, env=environment)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("out", type=pathlib.Path, help="the folder of the site")
  parser.add_argument("--no-programs", action="store_true", help="do not run the programs of the documents")
  asked = parser.parse_args()
  try:
    if not asked.no_programs:
      run_programs()
    build(asked.out)
  except subprocess.CalledProcessError as error:
    print(f"The site is not built: {error.cmd[2]} failed.", file=sys.stderr)
    return 1
  print(f"Written: {asked.out / 'index.html'}")
  return 0


if __name__ == "__main__":
  sys.exit(main())
