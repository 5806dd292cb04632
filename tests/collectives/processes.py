"""Several processes with CPU devices of their own: every collective against NumPy, and what is seen of a process that dies.

python -m tests.collectives.processes --processes 4             all collectives
python -m tests.collectives.processes --processes 4 --kill 2    process 2 dies in the middle; the others say so
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import signal
import time

from tests.support import child_processes

PER_PROCESS = 2


def child(number: int, count: int, port: int, killed: int, quick: bool) -> None:
  import jax

  jax.config.update("jax_cpu_collectives_implementation", "gloo")
  jax.distributed.initialize(f"127.0.0.1:{port}", count, number, heartbeat_timeout_seconds=10)
  here = Here()
  here.few()
  if not quick:
    here.every_collective()
    here.kernels()
    here.inner_jits()
  if killed < 0:
    here.deadlock()
    here.other_programs(number)
  refused = any("do not share memory" in record.getMessage() for record in here.said)
  shared = "gloo" if refused else "shared memory"
  print(f"process {number}: all collectives agree, through {shared}", flush=True)
  if killed >= 0:
    if number == killed:
      os.kill(os.getpid(), signal.SIGKILL)
    begin = time.time()
    try:
      for _ in range(100_000):
        here.few()
    except Exception as e:
      print(f"process {number}: an error after {time.time() - begin:.1f} s: {type(e).__name__}: {e}", flush=True)
  os._exit(0)


class Here:
  """What a process runs on devices of all, and compares on its own."""

  def __init__(self) -> None:
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    self.said: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = self.said.append  # type: ignore[method-assign]
    logging.getLogger("tilewright.collectives").addHandler(handler)
    self.n = jax.device_count()
    self.mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    self.x = np.random.default_rng(0).integers(-3, 4, (self.n, self.n, 6)).astype(np.float32)
    sharding = NamedSharding(self.mesh, PartitionSpec("x"))
    self.whole = jax.make_array_from_callback(self.x.shape, sharding, lambda index: self.x[index])
    self.groups = [list(range(self.n - 3)), [], [self.n - 1, self.n - 2]]

  def group_of(self, device: int) -> list[int]:
    return next((g for g in self.groups if device in g), [device])

  def program(self, f):
    import jax
    from jax.sharding import PartitionSpec

    spec = PartitionSpec("x")
    of_device = lambda x: jax.tree.map(lambda y: y[None], f(x[0]))
    return jax.jit(jax.shard_map(of_device, mesh=self.mesh, in_specs=spec, out_specs=spec, check_vma=False))

  def run(self, f):
    import jax
    import numpy as np

    parts = lambda y: {s.index[0].start or 0: np.asarray(s.data)[0] for s in y.addressable_shards}
    return jax.tree.map(parts, self.program(f)(self.whole))

  def same(self, *cases) -> None:
    """Each case is a function of a device's part, and what it gives on a device. They are one program."""
    import numpy as np

    found = self.run(lambda x: [f(x) for f, _ in cases])
    for own, (_, expected) in zip(found, cases):
      for device, y in own.items():
        np.testing.assert_array_equal(y, expected(device))

  def padded(self, device: int):
    import numpy as np

    out = np.zeros((max(map(len, self.groups)), *self.x.shape[1:]), np.float32)
    out[: len(self.group_of(device))] = self.x[self.group_of(device)]
    return out

  def few(self) -> None:
    from tilewright import collectives

    self.same(
      (lambda x: collectives.all_reduce(x, "x"), lambda d: self.x.sum(0)),
      (lambda x: collectives.all_gather(x, "x", axis_index_groups=self.groups), self.padded),
    )

  def every_collective(self) -> None:
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    from tilewright import collectives

    x, n = self.x, self.n
    as_ints = x.astype(np.int32)
    of_some = lambda algorithm: functools.partial(
      collectives.all_reduce, axis_name="x", algorithm=algorithm, axis_index_groups=self.groups
    )
    sum_of_some = lambda d: x[self.group_of(d)].sum(0)
    self.same(
      *((of_some(algorithm), sum_of_some) for algorithm in ("one_shot", "two_shot", "ring")),
      (lambda x: collectives.all_reduce(x, "x", op="max"), lambda d: x.max(0)),
      (lambda x: collectives.all_reduce(x.astype(jnp.int32), "x", op="or"), lambda d: np.bitwise_or.reduce(as_ints)),
      (lambda x: collectives.all_gather(x, "x"), lambda d: x),
      (lambda x: collectives.reduce_scatter(x, "x"), lambda d: x[:, d].sum(0)),
      (lambda x: collectives.all_to_all(x, "x", 0, 0), lambda d: np.stack([x[i, d] for i in range(n)])),
      (lambda x: collectives.permute(x, "x", [(0, n - 1)]), lambda d: x[0] * (d == n - 1)),
      (lambda x: collectives.broadcast(x, "x", 1), lambda d: x[1]),
      (lambda x: collectives.all_gather_matmul(x, x.T, "x"), lambda d: x.reshape(-1, 6) @ x[d].T),
    )
    self.same((self.of_experts, self.expected_of_experts))
    parties = [[d for d in range(n) if d % 2 == k] for k in (0, 1)]
    halves = functools.partial(collectives.all_reduce, axis_name="x", axis_index_groups=parties)
    self.same(
      (
        lambda x: lax.cond(lax.axis_index("x") % 2 == 0, lambda x: halves(halves(x)), lambda x: x, x),
        lambda d: x[::2].sum(0) * (n // 2) if d % 2 == 0 else x[d],
      )
    )

  def of_experts(self, x):
    """A chain of many collectives, some of them equal and none needing the other."""
    import jax.numpy as jnp
    from jax import lax

    from tilewright import collectives

    ids = (jnp.arange(self.n)[:, None] + lax.axis_index("x") + jnp.arange(2)) % self.n
    relu = lambda h: jnp.maximum(h, 0)
    return collectives.moe(x, ids, jnp.ones(ids.shape), x.T[None], x[None], "x", activation=relu)

  def expected_of_experts(self, device: int):
    import numpy as np

    x, out = self.x, np.zeros((self.n, 6), np.float32)
    for i in range(self.n):
      for expert in ((i + device) % self.n, (i + device + 1) % self.n):
        out[i] += np.maximum(x[device, i] @ x[expert].T, 0) @ x[expert]  # small integers: exact
    return out

  def kernels(self) -> None:
    """Kernels with scratch memory and semaphores, beside collectives of ours and of XLA's, and in a loop."""
    from jax import lax

    from tests.support.communicating_kernels import permute_right, ring_sum
    from tilewright import collectives

    x, n = self.x, self.n
    around = lambda _, x: collectives.permute(permute_right(x, n), "x", [(i, (i + 1) % n) for i in range(n)])
    self.same(
      (lambda x: permute_right(x, n), lambda d: x[d - 1]),
      (lambda x: ring_sum(x, n), lambda d: x.sum(0)),
      (lambda x: lax.psum(collectives.all_reduce(x, "x"), "x"), lambda d: n * x.sum(0)),
      (lambda x: lax.fori_loop(0, 3, around, x), lambda d: x[(d - 6) % n]),
    )

  def inner_jits(self) -> None:
    """A function with a `jit` of its own that is called twice in a program: the calls need no order, and are not mixed up.

    Products, which XLA gives to its threads, let devices of one process come to the first call before the second, of others after it.
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    from tests.support.communicating_kernels import permute_right
    from tilewright import collectives

    def after(products, x):
      ones = lax.fori_loop(0, products, lambda _, y: jnp.minimum(y @ y, 1), jnp.ones((384, 384)))
      return x * ones[0, 0]

    @jax.jit
    def moved(x):
      gathered = collectives.all_gather(x, "x")
      return permute_right(gathered[lax.axis_index("x")], self.n)

    def both(x):
      is_even = lax.axis_index("x") // PER_PROCESS % 2 == 0
      return moved(after(jnp.where(is_even, 0, 40), x)), moved(after(jnp.where(is_even, 40, 0), x + 1))

    for _ in range(3):
      self.same((lambda x: jnp.stack(both(x)), lambda d: [self.x[d - 1], self.x[d - 1] + 1]))

  def deadlock(self) -> None:
    """A wait that cannot end is an error in every process; what comes next works."""
    import jax

    from tests.support.communicating_kernels import REGULAR, call
    from tilewright import pallas as pl

    def waits(x, o, semaphore):
      pl.semaphore_signal(semaphore, 1, device_id=((jax.lax.axis_index("x") + 1) % self.n,))
      pl.semaphore_wait(semaphore, 2)
      o[...] = x[...]

    try:
      self.run(lambda x: call(waits, x, [REGULAR]))
    except Exception as e:
      assert "wait for each other and never go on" in str(e), e
      assert all(f"device {d} waits at" in str(e) for d in range(self.n)), e
      assert "which has 1 of 2" in str(e), e
    else:
      raise AssertionError("no error")
    self.few()

  def other_programs(self, number: int) -> None:
    """Processes that run different programs each hear where the others are."""
    import jax

    from tilewright import collectives

    sums = lambda x: collectives.all_reduce(x + 1, "x")
    parts = lambda x: collectives.all_gather(x + 1, "x")
    run = {f: self.program(f).lower(self.whole).compile() for f in (sums, parts)}
    self.few()  # all have compiled
    f, own, other = (sums, "all_reduce", "all_gather") if number == 0 else (parts, "all_gather", "all_reduce")
    os.environ["TILEWRIGHT_TIMEOUT"] = "5"
    try:
      jax.block_until_ready(run[f](self.whole))
    except Exception as e:
      said = str(e)
      assert f"in kernel '{own} over ('x',) at" in said, said
      assert "has not come; it is in another run of a program" in said or "has not come; it came to none" in said, said
      assert f"kernel '{other} over ('x',) at" in said or f"last to '{other} over ('x',) at" in said, said
    else:
      raise AssertionError("no error")
    del os.environ["TILEWRIGHT_TIMEOUT"]
    self.few()


def start(count: int, killed: int = -1, timeout: float = 120, *, quick: bool = False) -> list[str]:
  """Runs so many processes; gives what each printed."""
  fast = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # to compile
  environment = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={PER_PROCESS} {fast}", "JAX_PLATFORMS": "cpu"}
  flags = ["--quick"] * quick
  module = "tests.collectives.processes"
  return child_processes.run(module, count, *flags, environment=environment, killed=killed, timeout=timeout)


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--processes", type=int, default=4)
  parser.add_argument("--kill", type=int, default=-1)
  parser.add_argument("--number", type=int, default=-1)
  parser.add_argument("--port", type=int, default=0)
  parser.add_argument("--quick", action="store_true", help="a few collectives only")
  options = parser.parse_args()
  if options.number >= 0:
    child(options.number, options.processes, options.port, options.kill, options.quick)
    return
  said = start(options.processes, options.kill, quick=options.quick)
  for number, text in enumerate(said):
    lines = [line for line in text.splitlines() if line.startswith("process ")]
    print("\n".join(lines) or f"process {number} failed:\n{text[-2000:]}")


if __name__ == "__main__":
  main()
