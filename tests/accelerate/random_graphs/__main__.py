"""`python -m tests.accelerate.random_graphs`."""

from tests.accelerate.random_graphs import main

main()
