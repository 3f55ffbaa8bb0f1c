"""Configuration of the documentation site: `make docs` builds it, `make test` does so without warnings."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import cepts

SOURCE = Path(cepts.__file__).resolve().parent.parent.parent

project = "cepts"
author = "The cepts developers"
copyright = "The cepts developers, Apache-2.0"  # the name that Sphinx expects
release = version = cepts.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_templates"]
smartquotes = False  # quotes and dashes of commands stay as they are

# Pages: Markdown with GitHub's anchors, so that links work in both places.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = False
# Notebooks are kept with their outputs; docs/notebooks.py runs them.
nb_execution_mode = "off"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

# Python reference: docstrings are numpydoc, and single backquotes mark code.
default_role = "literal"
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_default_options = {
    "members": True,
    "inherited-members": "tuple, Exception, object",
    "show-inheritance": True,
}
maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
# As a plain list: autodoc describes the attributes themselves.
napoleon_custom_sections = [("Attributes", "params_style")]
add_module_names = False
python_use_unqualified_type_names = True
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"cepts {version}"
html_static_path = ["_static"]
html_css_files = ["cepts.css"]
html_show_sourcelink = False
html_theme_options = {
    "icon_links": [{"name": "GitHub", "url": "https://github.com/cepts/cepts", "icon": "fa-brands fa-github"}],
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _inherit_parameters(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Give a class whose docstring lists no parameters the list of the base class whose constructor it shares."""
    if what != "class" or "Parameters" in lines:
        return
    for base in value.__mro__[1:]:
        shared = inspect.cleandoc(vars(base).get("__doc__") or "").split("\n")
        if "Parameters" in shared:
            lines += ["", *shared[shared.index("Parameters") :]]
            return


def _skip_fields(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples, which would be described as "alias for field number 0"."""
    return True if type(value).__name__ == "_tuplegetter" else None


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The address of an object's source code, which Sphinx links to."""
    value: Any = importlib.import_module(info["module"])
    try:
        for name in info["fullname"].split("."):
            value = getattr(value, name)
        value = inspect.unwrap(getattr(value, "fget", None) or value)
        path = Path(inspect.getsourcefile(value) or "").relative_to(SOURCE).as_posix()
        lines, first = inspect.getsourcelines(value)
    except (AttributeError, OSError, TypeError, ValueError):
        return None
    return f"https://github.com/cepts/cepts/blob/v{release}/{path}#L{first}-L{first + len(lines) - 1}"


def setup(app: Any) -> None:
    """Add the two hooks; the first runs before napoleon, which has priority 500 and makes fields of the list."""
    app.connect("autodoc-process-docstring", _inherit_parameters, priority=400)
    app.connect("autodoc-skip-member", _skip_fields)
