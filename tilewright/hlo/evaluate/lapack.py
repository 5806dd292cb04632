"""The LAPACK custom calls JAX emits on CPU (`lapack_spotrf_ffi` and its kin), through scipy's LAPACK.

The target's fifth letter names the element type (s, d, c, z); attributes are in the backend config as the codes of
LAPACK's own letters (`uplo = 76` is 'L'). Each routine works on one matrix; leading dimensions are batches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tilewright.hlo.evaluate.custom_calls import CUSTOM_CALLS
from tilewright.hlo.evaluate.linalg import cholesky_factor, solve_triangular
from tilewright.hlo.evaluate.numbers import WIDE
from tilewright.hlo.evaluate.table import Value
from tilewright.hlo.ir import Instruction

# One matrix at a time: (operands, letters of the config, type letter) → results.
Routine = Callable[[Sequence[np.ndarray], dict[str, str], str], Sequence[object]]


def _scipy(name: str) -> Callable[..., tuple]:
  import scipy.linalg.lapack  # here, because most programs that import tilewright never need it

  return getattr(scipy.linalg.lapack, name)


def _lapack_flags(instruction: Instruction) -> dict[str, str]:
  return {name: chr(int(code)) for name, code in re.findall(r'"?(\w+)"?\s*[=:]\s*(\d+)', instruction.backend_config)}


def _potrf(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  lower = letters.get("uplo", "L") == "L"
  factor = cholesky_factor(x[0].astype(WIDE[x[0].dtype]), lower)
  failed = bool(np.isnan(factor).any())
  other = np.triu(x[0], 1) if lower else np.tril(x[0], -1)  # LAPACK leaves the other triangle as it was
  return factor + other, int(failed)


def _trsm(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  a, b = (v.astype(WIDE[v.dtype]) for v in x[:2])
  transpose = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[letters.get("trans_x", "N")]
  return (solve_triangular(a, b, letters["side"] == "L", letters["uplo"] == "L", letters["diag"] == "U", transpose),)


def _getrf(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  lu, pivots, info = _scipy(letter + "getrf")(x[0])
  return lu, pivots + 1, info  # scipy counts from 0, LAPACK from 1


def _geqrf(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  qr, tau, _, info = _scipy(letter + "geqrf")(x[0])
  return qr, tau, info


def _orgqr(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  name = "orgqr" if letter in "sd" else "ungqr"
  q, _, info = _scipy(letter + name)(x[0], x[1])
  return q, info


def _syevd(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  name = "syevd" if letter in "sd" else "heevd"
  vectors = int(letters.get("mode", "V") == "V")
  w, v, info = _scipy(letter + name)(x[0], compute_v=vectors, lower=int(letters.get("uplo", "L") == "L"))
  return v, w, info


def _gesdd(x: Sequence[np.ndarray], letters: dict[str, str], letter: str) -> Sequence[object]:
  mode = letters.get("mode", "A")
  u, s, vt, info = _scipy(letter + "gesdd")(x[0], compute_uv=int(mode != "N"), full_matrices=int(mode == "A"))
  return x[0], s, u, vt, info


_ROUTINES: dict[str, tuple[Routine, tuple[int, ...]]] = {  # with the rank of each operand
  "potrf": (_potrf, (2,)),
  "trsm": (_trsm, (2, 2)),
  "getrf": (_getrf, (2,)),
  "geqrf": (_geqrf, (2,)),
  "orgqr": (_orgqr, (2, 1)),
  "ungqr": (_orgqr, (2, 1)),
  "syevd": (_syevd, (2,)),
  "heevd": (_syevd, (2,)),
  "gesdd": (_gesdd, (2,)),
}


def _batched(routine: Routine, ranks: tuple[int, ...], letter: str) -> Callable[[Instruction, Sequence[Value]], Value]:
  def run(instruction: Instruction, operands: Sequence[Value]) -> Value:
    letters = _lapack_flags(instruction)
    shapes = instruction.shape.tuple_shapes or (instruction.shape,)
    results = [np.zeros(shape.dimensions, shape.dtype) for shape in shapes]
    batch = operands[0].shape[: operands[0].ndim - ranks[0]]
    for position in np.ndindex(batch):
      parts = routine([x[position] for x in operands[: len(ranks)]], letters, letter)
      for result, part in zip(results, parts):
        result[position] = part
    return tuple(results) if instruction.shape.is_tuple else results[0]

  return run


for _name, (_routine, _ranks) in _ROUTINES.items():
  for _letter in "sdcz":
    CUSTOM_CALLS[f"lapack_{_letter}{_name}_ffi"] = _batched(_routine, _ranks, _letter)
