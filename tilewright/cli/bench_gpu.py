"""The rows of `tilewright bench gpu`. A module per subject, collected here."""

from __future__ import annotations

from tilewright.cli import (
  bench_accelerate,
  bench_gpu_kernels,
  bench_gpu_launch,
  bench_gpu_numerics,
  bench_gpu_ops,
  bench_gpu_programs,
  bench_gpu_public,
  bench_schedule,
  bench_tuned,
)
from tilewright.cli.bench import Case

CASES: tuple[Case, ...] = (
  *bench_gpu_kernels.CASES,
  *bench_gpu_ops.CASES,
  *bench_gpu_programs.CASES,
  *bench_gpu_public.CASES,
  *bench_gpu_launch.CASES,
  *bench_gpu_numerics.CASES,
  *bench_accelerate.GPU_CASES,
  *bench_schedule.CASES,
  *bench_tuned.GPU_CASES,
)
