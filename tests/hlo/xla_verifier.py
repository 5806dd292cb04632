"""XLA's own verifier, in a child process: it runs on the module that a hook hands back to XLA's CPU compilation.

`verdicts(texts)` says for each module "accepted", or why the verifier refuses it. What the back end alone cannot compile (there is no thunk
for a start) counts as accepted, and so does an abort after verification, which XLA's text of the failure tells apart.
"""

from __future__ import annotations

import pickle
import re
import struct
import subprocess
import sys
from collections.abc import Sequence

CHILD = r"""
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"
os.environ["JAX_PLATFORMS"] = "cpu"
import pickle, re, struct, sys
import jax, jax.numpy as jnp, numpy as np
import jax.extend.xla as jex
from jax.sharding import Mesh, PartitionSpec as P
from jaxlib import _hlo as xla

now = [None]
jex.register_hlo_module_transformation(lambda data: now[0], name="given", stage=jex.PipelineStage.PRE_SCHEDULER)
TYPES = {"f32": "float32", "s32": "int32", "pred": "bool", "u32": "uint32", "bf16": "bfloat16", "f16": "float16", "s8": "int8",
         "u8": "uint8", "s16": "int16", "u16": "uint16", "c64": "complex64"}

def shaped(text):
  found = re.match(r"(\w+)\[([\d,]*)\]", text)
  return jax.ShapeDtypeStruct(tuple(int(v) for v in found[2].split(",") if v), TYPES[found[1]])

def program(text, number):
  "A function with the parameters and results of the entry."
  entry = text[text.index("ENTRY"):]
  parameters = sorted((int(n), t) for t, n in re.findall(r"= (\w+\[[\d,]*\])\S* parameter\((\d+)\)", entry))
  root = re.search(r"ROOT \S+ = (\(.*?\)|\w+\[[\d,]*\])\S* [a-z]", entry)[1]
  results = [shaped(t) for t in re.findall(r"\w+\[[\d,]*\]", root)]
  def function(*arguments):
    made = tuple(jnp.full(r.shape, number).astype(r.dtype) for r in results)
    return made if root.startswith("(") else made[0]
  if "num_partitions=4" in text:
    mesh = Mesh(np.array(jax.devices()), ("d",))
    function = jax.shard_map(function, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
  return jax.jit(function, keep_unused=True).lower(*(shaped(t) for _, t in parameters))

for number, text in enumerate(pickle.load(sys.stdin.buffer)):
  try:
    data = xla.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    lowered = program(text, number)
    now[0] = data
    lowered.compile()
    answer = "accepted"
  except Exception as error:
    answer = str(error)
  now[0] = None
  packed = pickle.dumps(answer)
  sys.stdout.buffer.write(struct.pack("<Q", len(packed)) + packed)
  sys.stdout.buffer.flush()
"""
# Of the verifier and of shape inference, not of the back end that comes after them.
_REFUSED = re.compile(r"during context|hlo_verifier\.cc|shape_inference|INVALID_ARGUMENT|Syntax error")


def verdicts(texts: Sequence[str]) -> list[str]:
  answers: list[str] = []
  while len(answers) < len(texts):
    todo = list(texts[len(answers) :])
    child = subprocess.run([sys.executable, "-c", CHILD], input=pickle.dumps(todo), capture_output=True, timeout=600)
    out, place = child.stdout, 0
    while place + 8 <= len(out):
      (size,) = struct.unpack_from("<Q", out, place)
      answer = pickle.loads(out[place + 8 : place + 8 + size])
      answers.append(answer if _REFUSED.search(answer) else "accepted")
      place += 8 + size
    if len(answers) < len(texts):
      answers.append("accepted")  # it ended the process, which its verifier does not
  return answers
