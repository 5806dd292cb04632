"""What XLA prints and serialises goes through our objects and back, and XLA reads the same program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hlo.oracle import build_corpus, canonical
from tilewright import hlo

Corpus = dict[str, tuple[str, bytes]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
  directory: Path = tmp_path_factory.mktemp("corpus")
  build_corpus(directory)
  found = {p.stem: (p.read_text(), p.with_suffix(".pb").read_bytes()) for p in sorted(directory.glob("*.hlo"))}
  assert len(found) > 5
  return found


TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def blocks(text: str) -> list[str]:
  """Header and computations, in an order of their own: XLA may list computations in any order of calls.

  Stack frames stay out: between text and proto XLA numbers them anew. So does the element size of a constant's layout,
  which XLA's text reader drops.
  """
  found = [re.sub(r" ?stack_frame_id=\d+|:E\(4\)", "", block).strip() for block in text.split("\n\n")]
  return sorted(block.replace(", metadata={}", "") for block in found if not block.startswith(TABLES))


def differences(
  wanted: list[str | bytes], got: list[str | bytes], names: list[str], exact: bool = True
) -> dict[str, tuple[str, str]]:
  """Where XLA does not see the same program, with the first line that differs."""
  view = str.splitlines if exact else blocks
  found: dict[str, tuple[str, str]] = {}
  for name, (ok, text), (other_ok, other) in zip(names, canonical(wanted), canonical(got)):
    assert ok, f"{name}: {text}"
    if not other_ok:
      found[name] = ("", other)
    elif view(text) != view(other):
      lines = zip("\n".join(view(text)).splitlines(), "\n".join(view(other)).splitlines())
      found[name] = next((pair for pair in lines if pair[0] != pair[1]), ("another number of lines", ""))
  return found


def test_text_reads_back_as_the_same_program(corpus: Corpus) -> None:
  texts: list[str | bytes] = [text for text, _ in corpus.values()]
  ours: list[str | bytes] = [hlo.parse(text).to_text() for text, _ in corpus.values()]
  assert differences(texts, ours, list(corpus)) == {}


def test_our_text_is_a_fixed_point(corpus: Corpus) -> None:
  for text, _ in corpus.values():
    printed = hlo.parse(text).to_text()
    assert hlo.parse(printed).to_text() == printed


def test_protos_come_back_as_the_same_program(corpus: Corpus) -> None:
  protos: list[str | bytes] = [proto for _, proto in corpus.values()]
  ours: list[str | bytes] = [hlo.from_proto(proto).to_proto() for _, proto in corpus.values()]
  assert differences(protos, ours, list(corpus)) == {}


def test_unscheduled_protos_come_back_byte_for_byte(corpus: Corpus) -> None:
  """A scheduled proto lists instructions in another order than it runs them, so only the program is the same there."""
  lowered = {name: proto for name, (_, proto) in corpus.items() if name.endswith(".lowered")}
  assert lowered
  for name, proto in lowered.items():
    assert hlo.from_proto(proto).to_proto() == proto, name


def test_protos_print_as_text_that_xla_reads_as_the_same_program(corpus: Corpus) -> None:
  protos: list[str | bytes] = [proto for _, proto in corpus.values()]
  ours: list[str | bytes] = [hlo.from_proto(proto).to_text() for _, proto in corpus.values()]
  assert differences(protos, ours, list(corpus), exact=False) == {}


def test_text_becomes_the_proto_xla_would_write(corpus: Corpus) -> None:
  """Except for what XLA keeps beside the proto (partition counts and the like)."""
  protos: list[str | bytes] = [proto for _, proto in corpus.values()]
  ours: list[str | bytes] = [hlo.parse(text).to_proto() for text, _ in corpus.values()]
  assert differences(protos, ours, list(corpus), exact=False) == {}


def test_text_and_proto_give_the_same_attributes(corpus: Corpus) -> None:
  """A pass that works on parsed text works on what the hook hands over."""

  def plain(value: object) -> object:
    if isinstance(value, hlo.Computation):
      return value.name
    if isinstance(value, hlo.Literal):
      return (value.shape, None if value.value is None else value.value.shape)
    return tuple(map(plain, value)) if isinstance(value, tuple) else value

  for name, (text, proto) in corpus.items():
    from_text = {i.name: i for i in hlo.parse(text).instructions()}
    for instruction in hlo.from_proto(proto).instructions():
      other = from_text[instruction.name]
      mine = {key: plain(value) for key, value in instruction.attrs.items()}
      if instruction.opcode == "topk":
        mine["is_stable"] = True  # the default of the text; jax 0.10 does not write it in protos
      assert mine == {key: plain(value) for key, value in other.attrs.items()}, f"{name}: {other.to_text()}"
      assert instruction.shape == other.shape and instruction.sharding == other.sharding
      assert instruction.frontend_attributes == other.frontend_attributes


def test_every_module_of_xla_is_legal(corpus: Corpus) -> None:
  for name, (text, proto) in corpus.items():
    assert hlo.problems(hlo.parse(text)) == [], name
    assert hlo.problems(hlo.from_proto(proto)) == [], name


def test_a_clone_prints_the_same(corpus: Corpus) -> None:
  for text, _ in corpus.values():
    module = hlo.parse(text)
    clone = module.clone()
    hlo.verify(clone)
    assert clone.to_text() == module.to_text()


def test_unknown_fields_survive(corpus: Corpus) -> None:
  """Field 777 does not exist: it must come back as it was, in the module, and in instructions."""
  from tilewright.hlo import proto_wire as wire

  strange = wire.put_string(777, "from the future")
  _, proto = corpus["add.lowered"]
  assert strange in hlo.from_proto(proto + strange).to_proto()
  module = hlo.from_proto(proto)
  module.entry.root.unknown += strange
  again = hlo.from_proto(module.to_proto())
  assert strange in again.entry.root.unknown
