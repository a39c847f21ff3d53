"""Shared places and fixtures."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.usd.plugins import register_plugins

from .parsers import Accept, find_check_urdf, find_gltf_check, find_sdf_check, need
from .selection import (  # noqa: F401 - hooks of pytest
    SHARED_ASSETS,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_make_collect_report,
    pytest_runtest_makereport,
)

REPO = Path(__file__).resolve().parent.parent
SAMPLES = REPO / "samples" / "simwright_samples"


if importlib.util.find_spec("hypothesis"):  # not in the environments of other projects
    from hypothesis import HealthCheck, settings

    # no test may fail because the machine is busy
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


# OpenUSD reads schema definitions once: ours have to be known before any test opens a stage
register_plugins()


@pytest.fixture(scope="session", autouse=True)
def _wait_for_no_disk() -> Iterator[None]:
    """What tests write need not outlive a power cut: converting one robot waits for the disk thirty times.

    ``tests/core/test_files.py`` sees to it that files are synced; processes that tests start do sync.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # refuses what is no open file as well
        yield


def pytest_collection_finish() -> None:
    """What was collected stays to the end: garbage collection need not look through all of it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _keep_mujoco_from_logging() -> None:
    """MuJoCo writes warnings into a file in the current folder, unless somebody listens."""
    mujoco = sys.modules.get("mujoco")
    if mujoco is not None and mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_hear)


def _hear(text: str) -> None:
    """What MuJoCo says of models in tests is asked for where it matters."""


@pytest.fixture
def reporter() -> Reporter:
    return Reporter()


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture
def shared_assets() -> Path:
    return SHARED_ASSETS


@pytest.fixture
def accept_urdf() -> Accept:
    """Fails unless urdfdom (``check_urdf``) reads the file."""
    return need(find_check_urdf(), "check_urdf (liburdfdom-tools)")


@pytest.fixture
def accept_sdf() -> Accept:
    """Fails unless libsdformat reads the file and finds nothing wrong with it."""
    return need(find_sdf_check(), "the libsdformat checker")


@pytest.fixture
def accept_gltf() -> Accept:
    """Fails unless Khronos' validator finds no error and no warning."""
    return need(find_gltf_check(), "gltf-validator")
