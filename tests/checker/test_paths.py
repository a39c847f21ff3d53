"""Forms of asset paths, and the packages they lie in."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.checker.facts.paths import (
    PathForm,
    classify_path,
    file_exists,
    find_package,
    is_inside,
    scheme_of,
    suggest_relative,
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", PathForm.OPAQUE),
        ('`"${X}/a.usda"`', PathForm.OPAQUE),
        ("anon:0x55:layer.usda", PathForm.OPAQUE),
        ("./a.usda", PathForm.ANCHORED),
        ("../a.usda", PathForm.ANCHORED),
        ("a.usda", PathForm.SEARCHED),
        ("geo/a.usda", PathForm.SEARCHED),
        ("./box.usdz[0/a.usda]", PathForm.ANCHORED),
        ("/home/a.usda", PathForm.ABSOLUTE),
        ("C:/a.usda", PathForm.ABSOLUTE),
        ("c:\\a.usda", PathForm.ABSOLUTE),
        ("\\\\server\\a.usda", PathForm.ABSOLUTE),
        ("file:///a.usda", PathForm.ABSOLUTE),
        ("FILE:a.usda", PathForm.ABSOLUTE),
        ("package://p/a.usda", PathForm.PACKAGE),
        ("omniverse://s/a.usda", PathForm.SCHEME),
        ("sdf:/a.sdf", PathForm.SCHEME),
    ],
)
def test_classify_path(text, form):
    assert classify_path(text) is form


def test_scheme_of():
    assert scheme_of("HTTPS://x") == "https"
    assert scheme_of("a/b:c") == ""


def test_package_is_the_nearest_above(tmp_path):
    (tmp_path / "outer" / "inner" / "usd").mkdir(parents=True)
    (tmp_path / "outer" / "package.xml").write_text("<package><name>outer</name></package>")
    (tmp_path / "outer" / "inner" / "package.xml").write_text("<package><name>inner</name></package>")
    assert find_package(tmp_path / "outer" / "inner" / "usd") == (tmp_path / "outer" / "inner", "inner")
    assert find_package(tmp_path / "outer") == (tmp_path / "outer", "outer")


def test_tiles_exist_when_one_does(tmp_path):
    (tmp_path / "wood.1001.png").write_bytes(b"")
    assert file_exists(tmp_path / "wood.<UDIM>.png")
    assert not file_exists(tmp_path / "stone.<UDIM>.png")
    assert not file_exists(tmp_path / "none" / "wood.<UDIM>.png")


def test_relative_texts():
    assert suggest_relative(Path("/a/b/c.usda"), Path("/a/b")) == "./c.usda"
    assert suggest_relative(Path("/a/c.usda"), Path("/a/b")) == "../c.usda"
    assert is_inside(Path("/a/b/c"), Path("/a/b"))
    assert not is_inside(Path("/a/bc"), Path("/a/b"))
