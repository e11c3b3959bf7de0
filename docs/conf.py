"""The documentation site: Markdown and docstrings to HTML, with every warning an error (`make docs`)."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from adjudge import __version__  # noqa: E402 - found through the path above
from adjudge.reporting.figures import DARK, PALETTE  # noqa: E402

project = "Adjudge"
author = "The Adjudge developers"
project_copyright = "The Adjudge developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "scripts.docs.extension",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [  # names of others in signatures; ours are looked up by scripts.docs.extension
    ("py:.*", r"(abc|collections\.abc|enum|matplotlib|numpy|os|pandas|pathlib|polars|scipy)\..*"),
    ("py:class", "CurveT|Seed"),  # a type variable, and a name for three types
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # notebooks are kept without their outputs
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries = False

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_copy_empty_lines = False

html_theme = "furo"
html_title = f"Adjudge {release}"
html_favicon = html_logo = "../src/adjudge/web/static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["adjudge.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {  # the colours of reports and of the web app
    f"{name}_css_variables": {
        "color-brand-primary": colours["accent"],
        "color-brand-content": colours["accent"],
        "figure-paper": PALETTE["paper"],
    }
    for name, colours in (("light", PALETTE), ("dark", DARK))
}
