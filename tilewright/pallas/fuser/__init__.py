"""Fusion of a program into a kernel: the names of `jax.experimental.pallas.fuser`.

A kernel author writes a kernel of fusions (`fusible`); a user writes a program with one call of it (`fuse`). Block
specs are pulled through the producers of the kernel's operands and pushed through the consumers of its results, so that
all of it runs inside the kernel's blocks.
"""

from tilewright.pallas.fuser import control as _control  # each of these fills its rows of the table of rules
from tilewright.pallas.fuser import elementwise as _elementwise
from tilewright.pallas.fuser import fusible_dtype
from tilewright.pallas.fuser import gathering as _gathering
from tilewright.pallas.fuser import randomness as _randomness
from tilewright.pallas.fuser import reducing as _reducing
from tilewright.pallas.fuser import refs as _refs
from tilewright.pallas.fuser import shaping as _shaping
from tilewright.pallas.fuser import slicing as _slicing
from tilewright.pallas.fuser.compare import compare_jaxprs
from tilewright.pallas.fuser.custom import CustomEvalContext, custom_fusion
from tilewright.pallas.fuser.dtypes import physicalize, resolve_fusion_dtypes
from tilewright.pallas.fuser.evaluation import evaluate
from tilewright.pallas.fuser.fusible_dtype import FusibleElementDType, FusibleTyRules, FusionDType
from tilewright.pallas.fuser.fusion import Fusion, fuse, fusible
from tilewright.pallas.fuser.prefetch import make_scalar_prefetch_handler
from tilewright.pallas.fuser.pull import pull_block_spec
from tilewright.pallas.fuser.push import push_block_spec
from tilewright.pallas.fuser.specs import block_spec_with_prefetch, filter_no_block_specs
from tilewright.pallas.fuser.values import (
  get_fusion_values,
  get_stateful_input_fusion_values,
  get_stateful_output_fusion_values,
)
from tilewright.pallas.fuser.views import BlockIndexTransform
