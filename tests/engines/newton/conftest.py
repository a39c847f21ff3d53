"""Newton, quiet; tests that ask for it are marked ``judge("newton")``."""

from __future__ import annotations

import warnings

import pytest

from simwright.engines.newton import add_usd


@pytest.fixture(autouse=True)
def findings_are_no_failures():
    """``add_usd`` gives findings to :mod:`warnings`, which pytest makes errors; tests here ask the reporter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def newton():
    """The engine; its importer warns about stages that ours takes as they are."""
    import newton as module
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


@pytest.fixture
def make_builder(newton):
    """A new builder that knows MuJoCo's attributes."""

    def make():
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        return builder

    return make


@pytest.fixture
def make_resolvers(newton):
    """Newton's own resolvers, by our names for them."""
    known = {
        "newton": newton.usd.SchemaResolverNewton,
        "physx": newton.usd.SchemaResolverPhysx,
        "mjc": newton.usd.SchemaResolverMjc,
    }
    return lambda order: [known[name]() for name in order]


@pytest.fixture
def import_both(make_builder, make_resolvers, import_theirs):
    """Our import and Newton's, each into a builder of its own that knows MuJoCo's attributes."""

    def run(path, order):
        ours, theirs = make_builder(), make_builder()
        add_usd(ours, path, schema_resolvers=order)
        import_theirs(path, theirs, schema_resolvers=make_resolvers(order))
        return ours, theirs

    return run
