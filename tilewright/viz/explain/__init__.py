"""A kernel on one page: the user's source beside the tile IR, the GPU level and the assembly, and its resources.

    page = render(explain(softmax, jax.ShapeDtypeStruct((4096, 1024), jnp.float32), targets=["cpu", "sm_90a"]))

    stages       a kernel compiled for a target, with everything that the page shows, as data
    listings     text of IR and assembly as lines, each with its location in the user's source
    predict      how long the steps of an instance take, from the device's rates and the counted work
    measure      what the warpgroups of a kernel did on this machine's GPU
    drawings     timeline, roofline, shared memory, as SVG
    page         all of it as HTML

Lines of all listings are linked by the locations that ops carry (`target.llvm.locations`). No GPU is needed, and the page needs no network.
"""

from __future__ import annotations

from tilewright.viz.explain.page import render
from tilewright.viz.explain.stages import CPU, Explained, explain

__all__ = ["CPU", "Explained", "explain", "render"]
