"""`pretend`: questions about the device are answered for another one, and computation does not change."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax._src import lib  # where programs look for cuda_versions

import tilewright
from tilewright import errors, ops
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plgpu
from tilewright.runtime import pretend


def test_a_tpu():
  kind = jax.devices()[0].device_kind
  with tilewright.pretend("v5p"):
    assert pltpu.is_tpu_device() and not plgpu.is_gpu_device()
    assert pltpu.get_tpu_info().generation == 5
    assert pltpu.TensorCoreMesh(axis_name="core").num_cores == 2
    assert jax.default_backend() == "tpu" and jax.device_count("tpu") == jax.device_count()
    assert jax.devices("tpu") == jax.devices() == jax.local_devices(backend="tpu")
    with tilewright.pretend("TPU v6e"):
      assert pltpu.get_tpu_info().chip_version is pltpu.ChipVersion.TPU_V6E
    assert jax.devices()[0].device_kind == "TPU v5"
  assert jax.devices()[0].device_kind == kind and not pltpu.is_tpu_device()
  assert not hasattr(jax.Device, "num_cores")


def test_every_tpu_is_one_that_get_tpu_info_knows():
  for device in pretend.DEVICES.values():
    with tilewright.pretend(device.name):
      assert pltpu.is_tpu_device() == (device.platform == "tpu")
      info = pltpu.get_tpu_info() if pltpu.is_tpu_device() else plgpu.get_gpu_info()
      name = info.chip_version.value if device.platform == "tpu" else info.gpu_version.name
      assert name.replace("_", "").lower() == device.name


def test_a_gpu():
  with tilewright.pretend("h100"):
    device = jax.devices()[0]
    assert (device.core_count, device.compute_capability) == (132, "9.0")
    assert plgpu.is_gpu_device() and not pltpu.is_tpu_device()
    assert plgpu.get_gpu_info().compute_capability == 90
    assert lib.cuda_versions.cuda_runtime_get_version() >= 12000
    assert jax.default_backend() == "gpu" and jax.devices("cuda") == jax.devices()
    x = jnp.ones((8, 16))
    assert ops.softmax(x).sum() == 8  # still compiled for the device that is here


def test_an_unknown_device_is_answered_with_the_known_ones():
  with pytest.raises(errors.DeviceKindError, match=r"v99.*v6e.*h100"):
    tilewright.pretend("v99")
  with pytest.raises(errors.DeviceKindError, match="pretend"):
    pltpu.get_tpu_info()


def test_the_environment_names_a_device(monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_PRETEND", "v4")
  with pretend.from_environment():
    assert pltpu.get_tpu_info().generation == 4
    with pretend.from_environment():  # what is in force stays
      assert pltpu.get_tpu_info().generation == 4
  assert pretend.pretended() is None
