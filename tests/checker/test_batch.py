"""Asset after asset by one plan: cache hits that stay true."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from simwright.checker.batch import AssetChecker, CheckPlan
from simwright.checker.cache import Cache
from simwright.checker.result import AssetResult
from simwright.checker.settings import CheckSettings

PLAN = CheckPlan(("units-meters",))
GOOD = "#usda 1.0\n(\n    metersPerUnit = 1\n)\n"


def write(file: Path, text: str) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    then = time.time() - 10
    os.utime(file, (then, then))
    return str(file)


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def counted(monkeypatch) -> list[str]:
    """The assets that were really checked."""
    seen: list[str] = []
    real = AssetChecker.check

    def count(self, path):
        seen.append(Path(path).name)
        return real(self, path)

    monkeypatch.setattr(AssetChecker, "check", count)
    return seen


def check_paths(paths, plan, cache) -> list[AssetResult]:
    checker = AssetChecker(plan, cache)
    return [checker.find(path) or checker.check(path) for path in paths]


def kinds(paths, cache, plan=PLAN):
    return [[d.kind for d in result.findings] for result in check_paths(paths, plan, cache)]


def test_a_second_run_checks_nothing_and_says_the_same(tmp_path, cache, counted):
    paths = [write(tmp_path / "good.usda", GOOD), write(tmp_path / "bad.usda", "#usda 1.0\n")]
    first = check_paths(paths, PLAN, cache)
    second = check_paths(paths, PLAN, cache)
    assert counted == ["good.usda", "bad.usda"]
    assert first == second
    assert [[d.kind for d in r.findings] for r in second] == [[], ["units-meters"]]


def test_without_cache_everything_is_checked_again(tmp_path, counted):
    paths = [write(tmp_path / "good.usda", GOOD)]
    for _ in range(2):
        check_paths(paths, PLAN, Cache(None))
    assert counted == ["good.usda", "good.usda"]


@pytest.mark.parametrize(
    "plan",
    [
        CheckPlan(("units-meters", "axis-up-z")),
        CheckPlan(("units-meters",), variants=True),
        CheckPlan(("units-meters",), CheckSettings(heavy_bytes=1)),
        CheckPlan(("units-meters",), packages=(("some", "/"),)),
    ],
)
def test_another_plan_is_another_result(tmp_path, cache, counted, plan):
    paths = [write(tmp_path / "good.usda", GOOD)]
    check_paths(paths, PLAN, cache)
    check_paths(paths, plan, cache)
    assert len(counted) == 2


def test_every_file_of_the_asset_counts(tmp_path, cache, counted):
    """Sublayers, references, layers of unselected variants and textures; also those that are missing."""
    root = write(
        tmp_path / "root.usda",
        """#usda 1.0
(
    metersPerUnit = 1
    subLayers = [@./sub.usda@]
)
def "A" (
    references = @./reference.usda@</R>
    variants = { string v = "off" }
    prepend variantSets = "v"
)
{
    asset texture = @./wood.png@
    asset tiles = @./tiles/tile.<UDIM>.png@
    variantSet "v" = {
        "off" {}
        "on" (payload = @./variant.usda@</R>) {}
    }
}
""",
    )
    for name in ("sub", "reference", "variant"):
        write(tmp_path / f"{name}.usda", '#usda 1.0\ndef "R" {}\n')
    write(tmp_path / "deep.usda", '#usda 1.0\ndef "R" {}\n')
    check_paths([root], PLAN, cache)
    check_paths([root], PLAN, cache)
    assert len(counted) == 1
    for number, name in enumerate(
        ("sub.usda", "reference.usda", "variant.usda", "wood.png", "tiles/tile.1001.png"), 2
    ):
        write(tmp_path / name, '#usda 1.0\n# changed\ndef "R" (references = @./deep.usda@</R>) {}\n')
        check_paths([root], PLAN, cache)
        assert len(counted) == number, name
    write(tmp_path / "deep.usda", '#usda 1.0\n# changed\ndef "R" {}\n')
    check_paths([root], PLAN, cache)
    assert len(counted) == 7


def test_what_cannot_be_opened_is_one_error_and_is_not_remembered(tmp_path, cache, counted):
    path = write(tmp_path / "bad.usda", "no layer")
    for _ in range(2):
        (result,) = check_paths([path], PLAN, cache)
        assert result.failed
        assert [d.kind for d in result.findings] == ["parse-error"]
    (gone,) = check_paths([str(tmp_path / "god.usda")], PLAN, cache)
    assert gone.failed
    assert [d.kind for d in gone.findings] == ["not-found"]
    assert len(counted) == 3
