"""Search spaces: which values the parameters of a kernel may take, and which combinations of them make sense.

    space = Space(
      {"block_m": power_of_two(16, 256), "use_tma": choice(True, False), "stages": range(2, 6).when(lambda use_tma: use_tma, otherwise=1)},
      constraints=[lambda block_m, stages: block_m * stages <= 512],
    )
    list(space.candidates({}))        dictionaries, in a fixed order

A domain is a tuple of values, ordered or not. Predicates name what they ask about by their own parameters: parameters of the space, and
arguments of the tuned function, which they see as types (`x.shape`). A constraint is tried as soon as everything it names has a value, so
that a space is never enumerated below a choice that it excludes.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright import errors

Config = dict[str, Any]
Predicate = Callable[..., Any]

MAX_CANDIDATES = 200_000  # candidates that are enumerated at all


@dataclasses.dataclass(frozen=True)
class Domain:
  """The values of one parameter. `is_ordered`: neighbours in the tuple are alike. `condition`: when there is a choice at all."""

  values: tuple[Any, ...]
  is_ordered: bool = False
  condition: Predicate | None = None
  otherwise: Any = None

  def when(self, condition: Predicate, otherwise: Any = None) -> Domain:
    """This domain where a predicate over the parameters before it holds, and one value elsewhere."""
    if not callable(condition):
      raise errors.TuningError(f"when: the condition must be a function of other parameters, got {condition!r}.")
    return dataclasses.replace(self, condition=condition, otherwise=otherwise)

  @property
  def every(self) -> tuple[Any, ...]:
    """All values that a configuration may have here."""
    if self.condition is None or any(same(self.otherwise, v) for v in self.values):
      return self.values
    return (*self.values, self.otherwise)


@dataclasses.dataclass(frozen=True)
class Built:
  """An object with open fields: `build(nvgpu.CompilerParams, num_warps=choice(4, 8))`."""

  make: Callable[..., Any]
  fields: Mapping[str, Any]


def choice(*values: Any) -> Domain:
  """One of some values, of any type. Numbers in ascending order are taken to be alike if they are near."""
  if len(values) == 1 and isinstance(values[0], list):
    values = tuple(values[0])
  if not values:
    raise errors.TuningError("choice: there must be at least one value.")
  for n, value in enumerate(values):
    if any(same(value, other) for other in values[:n]):
      raise errors.TuningError(f"choice: the value {value!r} appears twice. Leave one of them out.")
  numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
  return Domain(values, numbers and len(values) > 2 and list(values) == sorted(values))


def range(start: int, stop: int | None = None, step: int = 1) -> Domain:
  """Whole numbers as Python's `range` has them: `range(2, 6)` is 2, 3, 4 and 5."""
  values = tuple(builtins.range(start) if stop is None else builtins.range(start, stop, step))
  if not values:
    raise errors.TuningError(f"range: no number is in range({start}, {stop}, {step}).")
  return Domain(values, is_ordered=True)


def power_of_two(low: int, high: int) -> Domain:
  """The powers of two from `low` to `high`, both included."""
  if not 0 < low <= high:
    raise errors.TuningError(f"power_of_two: expected 0 < low <= high, got {low} and {high}.")
  values = tuple(1 << n for n in builtins.range(high.bit_length()) if low <= 1 << n <= high)
  if not values:
    raise errors.TuningError(f"power_of_two: there is no power of two from {low} to {high}.")
  return Domain(values, is_ordered=True)


def build(make: Callable[..., Any], **fields: Any) -> Built:
  """A value made by a call of which some arguments are open, as `build(nvgpu.CompilerParams, num_warps=choice(None, 4, 8))`."""
  if not callable(make):
    raise errors.TuningError(f"build: the first argument must be a class or a function, got {make!r}.")
  return Built(make, fields)


def same(a: Any, b: Any) -> bool:
  """Equal, and of one type: 1, 1.0 and True are three values."""
  return type(a) is type(b) and bool(a == b)


# --- values in files ---------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
  """A value as JSON can say it; what it has no word for is said by its name. `Space.from_json` finds the value again."""
  if value is None or isinstance(value, bool | int | float | str):
    return value
  if isinstance(value, tuple | list):
    return [plain(v) for v in value]
  if isinstance(value, dict):
    return {str(k): plain(v) for k, v in value.items()}
  try:
    return str(np.dtype(value))
  except TypeError:
    return getattr(value, "__qualname__", None) or str(value)


# --- spaces ------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def _names(predicate: Predicate) -> tuple[str, ...] | None:
  """What a predicate asks about; None if it takes everything as `**config`."""
  parameters = inspect.signature(predicate).parameters.values()
  if any(p.kind is p.VAR_KEYWORD for p in parameters):
    return None
  return tuple(p.name for p in parameters)


def ask(predicate: Predicate, known: Mapping[str, Any], what: str) -> Any:
  """Call a predicate with the values it names."""
  names = _names(predicate)
  if names is None:
    return predicate(**known)
  missing = [n for n in names if n not in known]
  if missing:
    raise errors.TuningError(
      f"{what}: it asks for {', '.join(missing)}, but there are {', '.join(known) or 'no parameters'}. "
      "Name parameters of the space (before it, for a condition) or arguments of the function."
    )
  return predicate(**{n: known[n] for n in names})


@dataclasses.dataclass(frozen=True)
class Space:
  """Domains by name, in the order in which they are chosen, and predicates that every candidate satisfies; or an explicit list."""

  domains: Mapping[str, Domain]
  constraints: tuple[Predicate, ...] = ()
  listed: tuple[Config, ...] | None = None
  built: Mapping[str, Callable[..., Any]] = dataclasses.field(
    default_factory=dict
  )  # by name, what is made of `name.field`

  @classmethod
  def of(cls, parameters: Mapping[str, Any], constraints: Iterable[Predicate] = ()) -> Space:
    """The space of what a user writes: domains, objects with open fields, or a single value."""
    domains: dict[str, Domain] = {}
    built: dict[str, Callable[..., Any]] = {}
    for name, given in parameters.items():
      if isinstance(given, Built):
        built[name] = given.make
        for field, own in given.fields.items():
          domains[f"{name}.{field}"] = own if isinstance(own, Domain) else Domain((own,))
      elif isinstance(given, Domain):
        domains[name] = given
      else:
        raise errors.TuningError(
          f"tune: the values of {name} must be given as choice(...), range(...), power_of_two(...) or build(...), got {given!r}."
        )
    if not domains:
      raise errors.TuningError(
        "tune: there is nothing to tune: name at least one parameter, as block_m=choice(64, 128)."
      )
    return cls(domains, tuple(constraints), None, built)

  @classmethod
  def explicit(cls, configs: Sequence[Mapping[str, Any]], constraints: Iterable[Predicate] = ()) -> Space:
    """A space that is a list of configurations, all with the same names."""
    if not configs:
      raise errors.TuningError("tune: the list of configurations is empty.")
    names = list(configs[0])
    for config in configs:
      if not isinstance(config, Mapping) or set(config) != set(names):
        raise errors.TuningError(f"tune: every configuration must have the names {', '.join(names)}, got {config!r}.")
    domains = {}
    for name in names:
      values: list[Any] = []
      for config in configs:
        if not any(same(config[name], v) for v in values):
          values.append(config[name])
      domains[name] = choice(*_sorted(values)) if len(values) > 1 else Domain(tuple(values))
    listed = tuple({name: config[name] for name in names} for config in configs)
    return cls(domains, tuple(constraints), listed)

  @property
  def names(self) -> tuple[str, ...]:
    return tuple(self.domains)

  @property
  def parameters(self) -> tuple[str, ...]:
    """The keyword arguments that a configuration becomes: `params.num_warps` and its like are one of them."""
    return tuple(dict.fromkeys(self._parameter(n) for n in self.domains))

  def _parameter(self, name: str) -> str:
    head, dot, _ = name.partition(".")
    return head if dot and head in self.built else name

  def arguments(self, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as keyword arguments of the tuned function."""
    parts: dict[str, dict[str, Any]] = {name: {} for name in self.built}
    found: dict[str, Any] = {}
    for name, value in config.items():
      head, dot, field = name.partition(".")
      if dot and head in parts:
        parts[head][field] = value
      else:
        found[name] = value
    return found | {name: make(**parts[name]) for name, make in self.built.items()}

  def narrowed(self, fixed: Mapping[str, Any]) -> Space:
    """The space with some parameters given."""
    if not fixed:
      return self
    if any(name in self.built for name in fixed):
      raise errors.TuningError(f"{', '.join(fixed)}: give all parameters of a kernel, or leave out what `build` makes.")
    listed = self.listed
    if listed is not None:
      listed = tuple(c for c in listed if all(same(c[n], v) for n, v in fixed.items()))
    domains = {n: Domain((fixed[n],)) if n in fixed else d for n, d in self.domains.items()}
    return dataclasses.replace(self, domains=domains, listed=listed)

  def holds(self, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether a configuration is one of this space."""
    if set(config) != set(self.domains):
      return False
    if self.listed is not None and not any(all(same(c[n], config[n]) for n in c) for c in self.listed):
      return False
    before: Config = {}
    for name in self.domains:
      if not any(same(config[name], v) for v in self._values(name, {**arguments, **before})):
        return False
      before[name] = config[name]
    return all(ask(c, {**arguments, **config}, f"constraint {_called(c)}") for c in self.constraints)

  def _values(self, name: str, known: Mapping[str, Any]) -> tuple[Any, ...]:
    domain = self.domains[name]
    if domain.condition is None or ask(domain.condition, known, f"the condition of {name}"):
      return domain.values
    return (domain.otherwise,)

  def candidates(self, arguments: Mapping[str, Any]) -> Iterator[Config]:
    """All configurations, in a fixed order."""
    if self.listed is not None:
      yield from (dict(c) for c in self.listed if self.holds(c, arguments))
      return
    names = list(self.domains)
    due = self._due(names, arguments)

    def below(depth: int, known: dict[str, Any]) -> Iterator[Config]:
      if depth == len(names):
        yield {n: known[n] for n in names}
        return
      name = names[depth]
      for value in self._values(name, known):
        known[name] = value
        if all(ask(c, known, f"constraint {_called(c)}") for c in due[depth]):
          yield from below(depth + 1, known)
      known.pop(name, None)

    yield from below(0, dict(arguments))

  def _due(self, names: list[str], arguments: Mapping[str, Any]) -> list[list[Predicate]]:
    """For each parameter, the constraints that can be asked once it has a value."""
    due: list[list[Predicate]] = [[] for _ in names]
    for constraint in self.constraints:
      names_read = _names(constraint)
      places = [names.index(n) for n in names_read or () if n in names]
      due[len(names) - 1 if names_read is None else max(places, default=0)].append(constraint)
    return due

  def enumerated(self, arguments: Mapping[str, Any], seed: int = 0) -> list[Config]:
    """All configurations, or so many random ones if there are more than anyone would look at."""
    if self.listed is not None or self.size_at_most <= MAX_CANDIDATES:
      return list(self.candidates(arguments))
    found, rng = {}, np.random.default_rng(seed)
    for _ in builtins.range(MAX_CANDIDATES):
      config: Config = {}
      for name in self.domains:
        values = self._values(name, {**arguments, **config})
        config[name] = values[int(rng.integers(len(values)))]
      if all(ask(c, {**arguments, **config}, f"constraint {_called(c)}") for c in self.constraints):
        found[self.key(config)] = config
      if len(found) >= MAX_CANDIDATES // 10:
        break
    return list(found.values())

  @property
  def size_at_most(self) -> int:
    return math.prod(len(d.every) for d in self.domains.values())

  def features(self, configs: Sequence[Config]) -> np.ndarray:
    """A row of numbers for each configuration: the place of an ordered value, and a column for each unordered one."""
    columns: list[np.ndarray] = []
    for name, domain in self.domains.items():
      every = domain.every
      places = np.array([_place(every, c[name]) for c in configs], np.float64)
      if domain.is_ordered or len(every) <= 2:
        columns.append(places)
      else:
        columns += [(places == n).astype(np.float64) for n in builtins.range(len(every))]
    return np.stack(columns, 1) if columns else np.zeros((len(configs), 0))

  def key(self, config: Mapping[str, Any]) -> str:
    """A configuration as text: the same for the same values."""
    return json.dumps(self.to_json(config), sort_keys=True)

  def to_json(self, config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in config.items()}

  def from_json(self, record: Mapping[str, Any]) -> Config | None:
    """The configuration that a file means, or None if it is not of this space."""
    if set(record) != set(self.domains):
      return None
    config = {}
    for name, domain in self.domains.items():
      found = [v for v in domain.every if same(plain(v), record[name])]
      if not found:
        return None
      config[name] = found[0]
    return config

  def neighbours(self, config: Mapping[str, Any]) -> Iterator[Config]:
    """Configurations that differ in one parameter: by a step where values are ordered, by any other value where they are not."""
    for name, domain in self.domains.items():
      every = domain.every
      place = _place(every, config[name])
      steps = (place - 1, place + 1) if domain.is_ordered else builtins.range(len(every))
      for n in steps:
        if 0 <= n < len(every) and n != place:
          yield {**config, name: every[n]}


def _sorted(values: list[Any]) -> list[Any]:
  return sorted(values) if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) else values


def _place(values: Sequence[Any], value: Any) -> int:
  return next(n for n, v in enumerate(values) if same(v, value))


def _called(predicate: Predicate) -> str:
  code = getattr(predicate, "__code__", None)
  where = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
  return f"{getattr(predicate, '__name__', predicate)}{where}"


def product(spaces: Mapping[str, Space]) -> Space:
  """One space of several, whose parameters are named `space/parameter`: for steps that call several kernels."""
  domains: dict[str, Domain] = {}
  for prefix, space in spaces.items():
    for name, domain in space.domains.items():
      domains[f"{prefix}/{name}"] = dataclasses.replace(domain, condition=None, values=domain.every)
  return Space(domains)


def split(config: Mapping[str, Any]) -> dict[str, Config]:
  """The configurations of several spaces in one of their product."""
  found: dict[str, Config] = {}
  for name, value in config.items():
    prefix, _, own = name.rpartition("/")
    found.setdefault(prefix, {})[own] = value
  return found
