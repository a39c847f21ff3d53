"""Newton, quiet, or a skip that says why."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(scope="module")
def newton():
    """The engine; its importer warns about stages that ours takes as they are."""
    module = pytest.importorskip("newton", reason="the extra 'newton' is not installed")
    import warp

    warp.config.quiet = True
    return module


@pytest.fixture
def builder(newton):
    return newton.ModelBuilder()


@pytest.fixture
def import_theirs(newton):
    """Newton's own import into a new builder."""

    def run(path, builder=None, **options):
        builder = newton.ModelBuilder() if builder is None else builder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            builder.add_usd(str(path), **options)
        return builder

    return run
