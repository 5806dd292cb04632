"""Every import from JAX's private modules, one line each with its reason.

Works with jax 0.10.2 and 0.11.x. Nothing else in the package imports `jax._src` or `jaxlib`.
"""

from __future__ import annotations

import jax

JAX_VERSION: tuple[int, ...] = jax.__version_info__
