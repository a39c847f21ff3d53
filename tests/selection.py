# SPDX-License-Identifier: Apache-2.0
"""Which tests run, and which skips are no failures; hooks of pytest.

Tests marked ``judge("newton")`` run where pytest is called with ``--judge newton`` (``make judge``), and only they do;
anywhere else they are left out, not skipped.  Tests marked ``realworld`` are skipped where the third-party assets are
absent.  A skip that ``allowed_skips.toml`` does not list is a failure: nothing goes untested without being noticed.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

HERE = Path(__file__).resolve().parent
REPO = HERE.parent
SHARED_ASSETS = REPO.parent / "shared" / "assets"

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@dataclass(frozen=True)
class AllowedSkip:
    """A row of ``allowed_skips.toml``."""

    reason: str
    why: str
    ci: bool = True

    def allows(self, reason: str) -> bool:
        in_ci = os.environ.get("CI") == "true"
        return (self.ci or not in_ci) and re.search(self.reason, reason) is not None


ALLOWED = [AllowedSkip(**row) for row in tomllib.loads((HERE / "allowed_skips.toml").read_text())["skip"]]
ENVIRONMENTS = tomllib.loads((REPO / "scripts" / "judge" / "environments.toml").read_text())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--judge", choices=sorted(ENVIRONMENTS), help="run the tests of this environment, and no others"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the environment that judges, or those that need none; skip what has no assets."""
    wanted = config.getoption("--judge")
    others = [item for item in items if find_environment(item) != wanted]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if find_environment(item) == wanted]
    if SHARED_ASSETS.is_dir():
        return
    absent = pytest.mark.skip(reason=f"real-world assets are absent: {SHARED_ASSETS.name} folder not found")
    for item in items:
        if item.get_closest_marker("realworld"):
            item.add_marker(absent, append=False)  # goes before the skip of tests that find no file


def find_environment(item: pytest.Item) -> str | None:
    """The environment that a test needs; refuses one that ``make judge`` would never run."""
    marker = item.get_closest_marker("judge")
    if marker is None:
        return None
    name = marker.args[0] if marker.args else None
    if name not in ENVIRONMENTS:
        raise pytest.UsageError(
            f"{item.nodeid}: mark.judge({name!r}) names no environment of environments.toml"
        )
    places = ENVIRONMENTS[name]["tests"]
    if not any(item.path.is_relative_to(REPO / place) for place in places):
        raise pytest.UsageError(
            f"{item.nodeid}: {name!r} runs only {', '.join(places)}; see environments.toml"
        )
    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return fail_unless_allowed((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return fail_unless_allowed((yield))


def fail_unless_allowed(report: Report) -> Report:
    """Turn a skip that is not on the list into a failure; what is expected to fail is left alone."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    told = report.longrepr
    reason = (told[2] if isinstance(told, tuple) else str(told)).removeprefix("Skipped: ")
    if not any(row.allows(reason) for row in ALLOWED):
        report.outcome = "failed"
        report.longrepr = f"skipped for a reason that tests/allowed_skips.toml does not allow: {reason}"
    return report
