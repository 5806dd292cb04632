"""What Sphinx is told. `docs/build_site.py` puts the pages together and calls it."""

import tilewright

project = "Tilewright"
release = version = tilewright.__version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"Tilewright {release}"
html_show_sphinx = False
html_copy_source = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # links to sections, as GitHub makes them
suppress_warnings = ["myst.header"]  # pages of the book begin where they like
highlight_language = "none"
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
