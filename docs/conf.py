"""Settings of the site. ``tools/site.py`` builds it in build/site (make docs)."""

import inspect
import re
import sys
import warnings
from datetime import date
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sklearn.base import BaseEstimator

import modeshift

(Path(__file__).parent / "gallery" / "live").mkdir(parents=True, exist_ok=True)
sys.path.insert(0, str(Path(__file__).parent))  # for pictures.py and live.py

# A process that draws examples and has grown large is replaced by a new one. That is meant.
warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)

project = "modeshift"
author = "the modeshift developers"
copyright = f"{date.today():%Y}, {author}"
release = version = modeshift.__version__
html_title = f"modeshift {release}"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
nitpicky = True
exclude_patterns = ["examples", "paper-of-the-software"]
templates_path = ["_templates"]

# Pages: Markdown, with links that lead to the same places on a code host.
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The reference: docstrings in NumPy style. Types are there in words.
autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False

# In the order of reading:
GALLERY = ["start", "explore", "methods", "data", "pictures", "large", "compare"]
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"examples/{name}" for name in GALLERY],
    "image_scrapers": ("pictures.keep",),
    "capture_repr": (),
    "parallel": 2,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "reference_url": {},
    "doc_module": ("modeshift",),
    "backreferences_dir": "api/examples",
    "inspect_global_variables": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "thumbnail_size": (400, 280),
    "min_reported_time": 5,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_static_path = ["_static", "gallery/live"]  # pictures.py writes the second one
html_sidebars = {"index": [], "faq": [], "tutorial": [], "changelog": [], "gallery/explore/*": []}
html_theme_options = {
    "logo": {"text": "modeshift"},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def link_to_pages(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn ``docs/maps.md`` in a docstring into a link to the page."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"``docs/([\w-]+)\.md``|docs/([\w-]+)\.md", _page, line)


def _page(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    return f":doc:`{name} </{name}>`"


def link_to_examples(app: Any, docname: str, source: list[str]) -> None:
    """Turn links to scripts of the gallery into links to their pages."""
    if docname.startswith("gallery/"):
        return
    source[0] = re.sub(r"\]\((gallery/\w+/\w+)\.py\)", r"](\1.rst)", source[0])
    source[0] = source[0].replace("](gallery/GALLERY_HEADER.rst)", "](gallery/index.rst)")


def name_parameters(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Show the parameters of an estimator; its ``__new__`` takes any, to refuse foreign ones."""
    if what != "class" or not issubclass(obj, BaseEstimator):
        return None
    parameters = inspect.signature(obj.__init__).parameters.values()
    named = [each.replace(annotation=each.empty) for each in parameters if each.name != "self"]
    return str(inspect.Signature(named)), returns


def no_members(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to each class, for metadata and for frames."""
    added = name in ("get_metadata_routing", "set_output") or re.fullmatch(r"set_\w+_request", name)
    return True if added else None


def visit_math(self: Any, node: nodes.Element) -> None:
    """Write an equation as MathML, which browsers draw without a script."""
    if isinstance(node, nodes.math_block):  # in the theme's box that scrolls, also by keys
        equation = convert(node.astext(), display="block")
        self.body.append(f'<div class="pst-scrollable-table-container">{equation}</div>')
    else:
        self.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def load_less(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave out styles that no page uses, and let scripts wait until the page is drawn."""
    unused = ("sg_gallery-binder.css", "sg_gallery-dataframe.css", "sg_gallery-rendered-html.css")
    files = context["css_files"]
    context["css_files"] = [each for each in files if not str(each.filename).endswith(unused)]
    at_once = "" if page == "search" else "documentation_options.js"  # scripts below use them
    for script in context["script_files"]:
        if str(script.filename).endswith(at_once):
            script.attributes.pop("defer", None)
        else:
            script.attributes["defer"] = "defer"


def load_later(app: Any, doctree: nodes.document, page: str) -> None:
    """Let pictures wait until they are scrolled to, all but the first one of a page."""
    for picture in list(doctree.findall(nodes.image))[1:]:
        picture["loading"] = "lazy"


def setup(app: Any) -> None:
    """Connect the functions above."""
    app.connect("doctree-resolved", load_later)
    app.connect("html-page-context", load_less)
    app.connect("autodoc-process-docstring", link_to_pages)
    app.connect("autodoc-process-signature", name_parameters)
    app.connect("autodoc-skip-member", no_members)
    app.connect("source-read", link_to_examples)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))


html_math_renderer = "mathml"
