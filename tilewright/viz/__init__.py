"""Visualisation: self-contained HTML and SVG of the compiler's data."""
