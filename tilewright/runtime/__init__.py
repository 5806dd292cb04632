"""Everything with external effects: JAX's internals, the JIT, devices, caches and dumps."""
