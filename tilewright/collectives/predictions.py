"""What collectives and fused products would take on machines that are not here: tables of the cost model and of the simulator.

A product beside a collective is predicted in three ways:

    separate    the product, and XLA's collective (NCCL) before or after it
    windowed    a ring of parts, as the HLO pass `windowed_einsum` makes it, in the order of our scheduler, on simulated devices
    fused       one kernel that reads and writes peers' tiles: what takes longer, arithmetic or transfer, and the part that cannot overlap

`tables()` is what `tilewright collectives` prints, and what docs/collectives.md shows.
"""

from __future__ import annotations

import dataclasses
import functools

from tilewright import errors, hlo
from tilewright.collectives.cost import Topology, predict
from tilewright.hlo import schedule
from tilewright.hlo.cost.collectives import collective_time
from tilewright.hlo.cost.devices import Device

MACHINES = (Topology("h100", 8), Topology("gb200", 72), Topology("h100", 1024))
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 26, 1 << 30)
_MOST_PARTS = 128  # devices of a ring that is simulated
_BF16 = 2


@dataclasses.dataclass(frozen=True)
class Product:
  """A product of bfloat16 and its collective, with the sizes of all devices together: (m, k) times (k, n).

  `all_gather_matmul` gathers rows of the left operand, and each device has columns of the right one. In the others the contraction is
  split, and the sums are scattered over rows, or given to all.
  """

  kind: str
  m: int
  k: int
  n: int

  def local(self, devices: int) -> tuple[int, int, int]:
    """The sizes of one device's product."""
    m, k, n = (
      (self.m, self.k, self.n // devices) if self.kind == "all_gather_matmul" else (self.m, self.k // devices, self.n)
    )
    if (
      not (k and n)
      or (self.k if self.kind != "all_gather_matmul" else self.n) % devices
      or self.m % self.parts(devices)
    ):
      raise errors.CollectiveError(f"{self}: the sizes must be multiples of the {devices} devices.")
    return m, k, n

  def parts(self, devices: int) -> int:
    """Into how many parts the rows are cut."""
    return 1 if self.kind == "matmul_all_reduce" else devices

  @property
  def moved(self) -> int:
    """Bytes of what is gathered, scattered or reduced."""
    return self.m * (self.k if self.kind == "all_gather_matmul" else self.n) * _BF16

  def __str__(self) -> str:
    return f"{self.kind} {self.m:,} x {self.k:,} x {self.n:,}"


PRODUCTS = (
  Product("all_gather_matmul", 73_728, 8_192, 73_728),
  Product("matmul_reduce_scatter", 73_728, 36_864, 8_192),
  Product("matmul_all_reduce", 64, 36_864, 8_192),
)
_OPCODES = {
  "all_gather_matmul": "all-gather",
  "matmul_reduce_scatter": "reduce-scatter",
  "matmul_all_reduce": "all-reduce",
}


def _arithmetic(product: Product, topology: Topology, device: Device) -> float:
  """Seconds of one device's product: by its operations or its bytes, whichever takes longer."""
  m, k, n = product.local(topology.devices)
  bandwidth = device.memory_bandwidth * device.memory_efficiency
  return device.launch + max(2 * m * k * n / device.matmul_rate("bf16"), (m * k + k * n + m * n) * _BF16 / bandwidth)


def _transfer(product: Product, topology: Topology, device: Device) -> tuple[float, float]:
  """Seconds until the first tiles are there, and those of all that a device receives in one kernel."""
  g, link = topology.devices, device.scale_up
  share = product.moved * (g - 1) / g / link.bandwidth
  if product.kind == "matmul_all_reduce":  # partial sums to all others, or to the one that adds, whose sums come back
    return min((2 * link.latency, (g - 1) * product.moved / link.bandwidth), (4 * link.latency, 2 * share), key=sum)
  return 2 * link.latency, share


def predict_product(product: Product, topology: Topology) -> dict[str, float]:
  """Seconds that a product with its collective takes, by how it is done; `product` and `collective` are those alone."""
  device = topology.device
  if device is None:
    raise errors.CollectiveError(
      "predict_product: hardware: expected a GPU of `tilewright.hlo.cost.DEVICES`, got 'cpu'."
    )
  g = topology.devices
  alone = _arithmetic(product, topology, device)
  if product.kind == "matmul_all_reduce":
    collective = predict(product.moved, topology)["nccl"]
  else:
    groups = (tuple(range(g)),)
    collective = device.launch + collective_time(_OPCODES[product.kind], product.moved, groups, device).seconds
  found = {"product": alone, "collective": collective, "separate": alone + collective}
  if product.parts(g) > 1 and g <= min(_MOST_PARTS, device.node):
    found["windowed"] = simulated(product, topology)
  if g <= device.node:  # the memory of other nodes is not mapped
    first, rest = _transfer(product, topology, device)
    last = (alone - device.launch) / product.parts(g) if product.parts(g) > 1 else 0.0  # of the part that comes last
    found["fused"] = max(alone + first, device.launch + first + rest + last)
  return found


@functools.lru_cache(maxsize=64)
def simulated(product: Product, topology: Topology, *, windowed: bool = True) -> float:
  """The product and its collective as an HLO module, scheduled and run on simulated devices."""
  module = hlo.parse(module_text(product, topology.devices))
  if windowed:
    hlo.run_passes(module, [f"windowed_einsum{{max_parts={topology.devices}}}", "async_collectives", "dce"])
  device = topology.hardware
  return schedule.simulate(schedule.schedule_module(module, device=device), topology.devices).seconds


def module_text(product: Product, devices: int) -> str:
  """The HLO of one device."""
  m, k, n = product.local(devices)
  rows = m // product.parts(devices)
  everyone = "replica_groups={{" + ",".join(map(str, range(devices))) + "}}, use_global_device_ids=true, channel_id=1"
  dot = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
  head = f"HloModule product, num_partitions={devices}\n\n"
  if product.kind == "all_gather_matmul":
    return f"""{head}ENTRY main {{
  x = bf16[{rows},{k}]{{1,0}} parameter(0)
  w = bf16[{k},{n}]{{1,0}} parameter(1)
  gathered = bf16[{m},{k}]{{1,0}} all-gather(x), dimensions={{0}}, {everyone}
  ROOT y = bf16[{m},{n}]{{1,0}} dot(gathered, w), {dot}
}}
"""
  opcode = _OPCODES[product.kind]
  dimensions = "dimensions={0}, " if opcode == "reduce-scatter" else ""
  return f"""{head}add {{
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT sum = bf16[] add(a, b)
}}

ENTRY main {{
  x = bf16[{m},{k}]{{1,0}} parameter(0)
  w = bf16[{k},{n}]{{1,0}} parameter(1)
  y = bf16[{m},{n}]{{1,0}} dot(x, w), {dot}
  ROOT z = bf16[{rows},{n}]{{1,0}} {opcode}(y), {dimensions}{everyone}, to_apply=add
}}
"""


# --- tables ------------------------------------------------------------------------------------------------------


def tables() -> str:
  """The predictions for `MACHINES`, as Markdown."""
  return f"{_all_reduces()}\n\n{_products()}\n\n{_beside_published()}"


def _name(topology: Topology) -> str:
  device = topology.device
  inside = device is not None and topology.devices <= device.node
  return f"{topology.devices:,} x {topology.hardware.upper()}{', NVLink' if inside else ''}"


def _bytes(count: int) -> str:
  for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
    if count >= unit:
      return f"{count // unit} {name}"
  return f"{count} bytes"


def _micros(seconds: float) -> str:
  value = seconds * 1e6
  return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _all_reduces() -> str:
  rows = [f"| all-reduce, µs | {' | '.join(map(_name, MACHINES))} |", "|---" * (len(MACHINES) + 1) + "|"]
  for size in SIZES:
    cells = []
    for topology in MACHINES:
      times = list(predict(size, topology).items())
      shown = times[:2] + [t for t in times[2:] if t[0] == "nccl"]
      cells.append(", ".join(f"{name} {_micros(seconds)}" for name, seconds in shown))
    rows.append(f"| {_bytes(size)} | {' | '.join(cells)} |")
  return "\n".join(rows)


_COLUMNS = ("product", "collective", "separate", "windowed", "fused")


def _products() -> str:
  rows = [f"| bfloat16, µs | machine | {' | '.join(_COLUMNS)} | hidden |", "|---" * (len(_COLUMNS) + 3) + "|"]
  for product in PRODUCTS:
    for topology in MACHINES:
      times = predict_product(product, topology)
      best = min(times["separate"], times.get("fused", times["separate"]))
      hidden = f"{(times['separate'] - best) / times['collective']:.0%}" if "fused" in times else "-"
      cells = [_micros(times[c]) if c in times else "-" for c in _COLUMNS]
      rows.append(f"| {product} | {_name(topology)} | {' | '.join(cells)} | {hidden} |")
  return "\n".join(rows)


@dataclasses.dataclass(frozen=True)
class Published:
  """A figure that others measured, and what the model says of the same."""

  what: str
  micros: float
  of: str  # the algorithm
  size: int
  topology: Topology = MACHINES[0]

  @property
  def predicted(self) -> float:
    return predict(self.size, self.topology)[self.of] * 1e6

  @property
  def error(self) -> float:
    return self.predicted / self.micros - 1


PUBLISHED = (
  Published("NCCL, small messages, 8 H100", 19, "nccl", 1 << 10),
  Published("one-shot kernels, small messages, 8 H100 or H800: the lower figure", 6, "one_shot", 1 << 10),
  Published("one-shot kernels, small messages, 8 H100 or H800: the higher figure", 9, "one_shot", 1 << 16),
)


def _beside_published() -> str:
  rows = ["| published | µs | model | µs | error |", "|---|---|---|---|---|"]
  for p in PUBLISHED:
    rows.append(
      f"| {p.what} | {p.micros:g} | {p.of}, {_bytes(p.size)} | {_micros(p.predicted / 1e6)} | {p.error:+.0%} |"
    )
  return "\n".join(rows)


__all__ = ["MACHINES", "PRODUCTS", "PUBLISHED", "Product", "predict_product", "simulated", "tables"]
