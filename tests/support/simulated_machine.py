"""The simulated machine as tests use it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright.pallas.tpu import interpret as sim
from tilewright.tile.memory import MemorySpace, TpuMemorySpace

Params = sim.InterpretParams
VMEM, SMEM, HBM, ANY = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM, TpuMemorySpace.HBM, MemorySpace.ANY
F32 = jnp.float32


@pytest.fixture(autouse=True)
def fresh_machine():
  sim.reset_tpu_interpret_mode_state()
  yield
  sim.reset_tpu_interpret_mode_state()


class Semantics:
  """Compiler parameters with the one field that the machine reads."""

  def __init__(self, *kinds):
    self.dimension_semantics = kinds

  def __eq__(self, other):
    return isinstance(other, Semantics) and self.dimension_semantics == other.dimension_semantics

  def __hash__(self):
    return hash(self.dimension_semantics)


def out(shape, dtype=F32):
  return jax.ShapeDtypeStruct(shape, dtype)


def arange(*shape, dtype=F32):
  return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def message_of(call):
  with pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as caught:
    jax.block_until_ready(call())
  return f"{type(caught.value).__name__}: {caught.value}"
