"""Every kernel that becomes native code here also becomes PTX."""

from tests.nvgpu.every_kernel import becomes_ptx  # noqa: F401  a fixture, for every test here
