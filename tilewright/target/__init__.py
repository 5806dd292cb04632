"""The targets: each turns a kernel into something that runs.

`xla` is the portable lowering to ordinary JAX operations, `simulator` a machine of several cores and devices on the host.
"""
