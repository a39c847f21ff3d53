"""Lazy tables with entry points: unknown names help, broken plugins do not crash."""

from __future__ import annotations

import importlib

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.registry import Registry, import_object

GROUP = "simwright.test_group"


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A fake installed distribution that announces four plugins."""
    (tmp_path / "good_plugin.py").write_text("ROW = 'from a plugin'\n")
    (tmp_path / "bad_plugin.py").write_text("raise RuntimeError('boom')\n")
    info = tmp_path / "thirdparty-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{GROUP}]\nextra = good_plugin:ROW\nbroken = bad_plugin:ROW\nabsent = no_such_module:X\n"
        "pi = good_plugin:ROW\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()


def table() -> Registry[object]:
    return Registry("thing", GROUP, {"pi": "math:pi", "tau": "math:tau"})


def test_builtin_rows_load_when_asked():
    assert table().get("pi") == pytest.approx(3.14159265)
    assert table().names() == ["pi", "tau"]
    assert "tau" in table()


def test_unknown_name_lists_the_known():
    with pytest.raises(UnknownNameError, match=r"unknown thing 'q' \(known: pi, tau\)"):
        table().get("q")


def test_plugins_come_after_ours(installed):
    assert table().names() == ["pi", "tau", "absent", "broken", "extra"]
    assert table().get("extra") == "from a plugin"


def test_broken_and_shadowing_plugins_are_findings(installed):
    reporter = Reporter()
    rows = dict(table().items(reporter))
    assert list(rows) == ["pi", "tau", "extra"]
    assert sorted(d.kind for d in reporter) == ["plugin-broken", "plugin-broken", "plugin-shadowed"]
    assert rows["pi"] == pytest.approx(3.14159265)


def test_asking_for_a_broken_plugin_by_name_is_an_error(installed):
    with pytest.raises(UsageError, match="'absent' cannot be loaded"):
        table().get("absent")


def test_import_object_takes_modules_too():
    assert import_object("math").__name__ == "math"
