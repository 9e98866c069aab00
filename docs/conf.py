"""Settings of Sphinx; `docs/build` runs it."""

import contextlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

import ncut
from numpydoc.docscrape import NumpyDocString

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_extensions"))


def told_attributes(thing):
    """Attributes that a class's own text tells of; others have texts of their own."""
    told = NumpyDocString(inspect.getdoc(thing) or "")["Attributes"] if inspect.isclass(thing) else []
    return [name for parameter in told for name in parameter.name.split(", ")]


def list_names():
    """A page of all public names. What stands in no other list of the reference gets its own page from here."""
    listed = (HERE / "reference" / "python.md").read_text(encoding="utf-8").split()
    names = [name for name in ncut.__all__ if not name.startswith("_")]
    for module in ("anndata", "distributed"):
        with contextlib.suppress(ImportError):
            names += [f"{module}.{name}" for name in importlib.import_module(f"ncut.{module}").__all__]
    lines = ["All names", "=========", "", ".. currentmodule:: ncut", ""]
    lines += autosummary([name for name in names if name in listed])
    lines += autosummary([name for name in names if name not in listed], "   :toctree: .")
    page = HERE / "reference" / "generated" / "names.rst"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def autosummary(names, *options):
    return [".. autosummary::", *options, "", *(f"   {name}" for name in sorted(names)), ""] if names else []


list_names()

project = "ncut"
author = "The ncut developers"
copyright = author
version = release = version_of("ncut")

extensions = [
    "console",
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "requirements.txt"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # sphinx-gallery keeps functions in its settings

default_role = "py:obj"
autosummary_generate = True
autosummary_context = {"told": {name: told_attributes(getattr(ncut, name)) for name in ncut.__all__}}
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Parts of the package that are not there yet: their texts and examples wait.
has_anndata = importlib.util.find_spec("ncut.anndata") is not None
has_spectral_clustering = "SpectralClustering" in ncut.__all__
if has_spectral_clustering:
    tags.add("spectral_clustering")  # noqa: F821, Sphinx gives it
doctest_global_setup = f"""
has_anndata = {has_anndata}
has_spectral_clustering = {has_spectral_clustering}
"""
doctest_test_doctest_blocks = "default"


def gallery_arguments(_, script):
    """The picture that a script of the gallery writes: away from the sources."""
    folder = ROOT / "target" / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return [str(folder / Path(script["src_file"]).with_suffix(".png").name)]


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "crates" / "ncut-python" / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "reset_argv": gallery_arguments,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "plot_gallery": True,
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (420, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "ncut"
html_static_path = ["_static"]
html_css_files = ["ncut.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_sidebars = {"index": [], "install": [], "gallery/*": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "ncut", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# The command line that the examples run.
ncut_command = os.environ["NCUT_COMMAND"]


# Nobody makes these: no signature.
RESULTS = {"Clustering", "CountCurve", "Hierarchy", "Progress", "Score", "Update"}


def hide_signature(app, what, name, thing, options, signature, annotation):
    return ("", annotation) if name.rpartition(".")[2] in RESULTS else None


def quote_shapes(app, what, name, thing, options, lines):
    """A shape such as `(n_features_in_,)` holds a name; to Sphinx the underscore at its end is a link."""
    lines[:] = [re.sub(r"\((\w+_),\)", r"(``\1``,)", line) for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", quote_shapes, priority=400)  # before numpydoc
    app.connect("autodoc-process-signature", hide_signature)
