"""Docstrings in numpydoc's form."""

from __future__ import annotations

import inspect

import ncut
import pytest

validate = pytest.importorskip("numpydoc.validate").validate

# Summaries are no sentences in the infinitive here; sections are there where they are of use.
PASSED_OVER = {"EX01", "ES01", "SA01", "SS05", "SS06", "GL01", "GL03", "RT02"}
# Nobody makes these; what they hold is documented as attributes.
RESULTS = {"Clustering", "CountCurve", "Hierarchy", "Progress", "Score", "Update"}
# The docstrings of compiled classes have no quotes to be placed.
COMPILED = {"Graph"}
PUBLIC = [name for name in ncut.__all__ if not name.startswith("_")]
METHODS = [
    "NormalizedCut.fit",
    "NormalizedCut.predict",
    "SpectralClustering.fit",
    "anndata.cluster",
    "Clustering.to_dict",
    "Clustering.to_frame",
    "Clustering.to_networkx",
    "Hierarchy.labels",
    "Hierarchy.linkage",
    "Clustering.communities",
    "Clustering.plot",
    "Clustering.to_html",
    "CountCurve.to_html",
]


@pytest.mark.parametrize("name", PUBLIC + METHODS)
def test_a_docstring_is_numpydoc(name):
    found = validate(f"ncut.{name}")["errors"]
    passed_over = PASSED_OVER | ({"PR01"} if name in RESULTS else {"GL02"} if name in COMPILED else set())
    assert [error for error in found if error[0] not in passed_over] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(getattr(ncut, name))])
def test_every_function_has_an_example(name):
    assert ">>> " in getattr(ncut, name).__doc__
