"""What touches the world: JAX's internals, the JIT, devices, caches and dumps."""
