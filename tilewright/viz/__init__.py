"""Pictures: self-contained HTML and SVG of what the compiler holds."""
