"""Every reason that actions and planners can give is on the page, and every one on the page exists and is tested."""

from __future__ import annotations

import re
from pathlib import Path

import simwright.worlds.acting
import simwright.worlds.planning

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "worlds-running.md"
QUIET = {"canceled", "idle"}
"""Answers to whoever cancels; no refusals."""


def list_codes() -> set[str]:
    found = set()
    for package in (simwright.worlds.acting, simwright.worlds.planning):
        for file in Path(package.__path__[0]).glob("*.py"):
            text = re.sub(r"\s+", " ", file.read_text())
            found |= set(re.findall(r'(?:refuse|refuse_path|fail)\( ?"([a-z-]+)"', text))
            found |= set(re.findall(r'Status\.[A-Z]+, "([a-z-]+)"', text))
            found |= set(re.findall(r'GoalPoses\(\(\), [^)]*?, "([a-z-]+)"\)', text))
            found |= {f"{word}-occupied" for word in ("start", "goal") if '-occupied"' in text}
    return found - QUIET


def test_the_page_lists_every_reason() -> None:
    page = PAGE.read_text()
    actions = page[page.index("## Actions") : page.index("## Gymnasium")]
    listed = set(
        re.findall(
            r"`([a-z]+(?:-[a-z]+)+|held|holding|closed|locked|elsewhere|misfit|blocked|chance)`", actions
        )
    )
    assert listed == list_codes()


def test_every_reason_is_tested() -> None:
    tests = "".join(file.read_text() for file in (ROOT / "tests" / "worlds").rglob("test_*.py"))
    missing = {code for code in list_codes() if f'"{code}"' not in tests}
    assert not missing
