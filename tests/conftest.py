"""Shared places and fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.usd.plugins import register_plugins

REPO = Path(__file__).resolve().parent.parent
SAMPLES = REPO / "samples" / "simwright_samples"
SHARED_ASSETS = REPO.parent / "shared" / "assets"


# OpenUSD reads schema definitions once: ours have to be known before any test opens a stage
register_plugins()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip real-world tests, saying so, where the third-party assets are absent."""
    if SHARED_ASSETS.is_dir():
        return
    absent = pytest.mark.skip(reason=f"real-world assets are absent: {SHARED_ASSETS.name} folder not found")
    for item in items:
        if item.get_closest_marker("realworld"):
            item.add_marker(absent)


@pytest.fixture
def reporter() -> Reporter:
    return Reporter()


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture
def shared_assets() -> Path:
    return SHARED_ASSETS
