# SPDX-License-Identifier: Apache-2.0
"""The parsers accept what is right and refuse what is wrong; a test without its parser says so."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.selection import ALLOWED

from . import need

pytestmark = pytest.mark.parser
Accept = Callable[[Path], str]


def test_urdfdom(accept_urdf: Accept, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text('<robot name="r"><link name="a"/></robot>')
    assert "Successfully Parsed XML" in accept_urdf(file)
    file.write_text('<robot name="r"><link name="a"/><link name="b"/></robot>')
    with pytest.raises(AssertionError, match=r"refuses robot\.urdf"):
        accept_urdf(file)


def test_libsdformat(accept_sdf: Accept, tmp_path: Path) -> None:
    file = tmp_path / "model.sdf"
    text = '<sdf version="1.9"><model name="m"><link name="{link}"/>{more}</model></sdf>'
    file.write_text(text.format(link="a", more=""))
    accept_sdf(file)
    joint = '<joint name="j" type="fixed"><parent>a</parent><child>b</child></joint>'
    file.write_text(text.format(link="a", more=joint))
    with pytest.raises(AssertionError, match=r"refuses model\.sdf"):
        accept_sdf(file)


def test_gltf_validator(accept_gltf: Accept, tmp_path: Path) -> None:
    file = tmp_path / "scene.glb"

    def write(document: dict[str, object]) -> None:
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        chunk = struct.pack("<I4s", len(text), b"JSON") + text
        file.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunk)) + chunk)

    write({"asset": {"version": "2.0"}})
    assert json.loads(accept_gltf(file))["issues"]["numErrors"] == 0
    write({"asset": {"version": "2.0"}, "scene": 3})
    with pytest.raises(AssertionError, match="UNRESOLVED_REFERENCE"):
        accept_gltf(file)


def test_a_missing_parser_is_skipped_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pytest.skip.Exception, match="install_parsers") as caught:
        need([], "nothing")
    for ci in ("", "true"):
        monkeypatch.setenv("CI", ci)
        assert any(row.allows(str(caught.value)) for row in ALLOWED) is not bool(ci)
