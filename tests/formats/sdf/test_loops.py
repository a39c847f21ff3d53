# SPDX-License-Identifier: Apache-2.0
"""Joints that close loops: what MuJoCo has no place for is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.formats.table import read_asset, write_asset


@pytest.mark.parametrize("tag", ["spring_stiffness", "damping", "friction"])
def test_the_spring_of_a_closed_loop_is_told(tag: str, tmp_path: Path) -> None:
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    joints = "".join(
        f"""<joint name="{a}{b}" type="revolute"><parent>{a}</parent><child>{b}</child><axis><xyz>0 0 1</xyz>
        <dynamics><{tag}>2</{tag}></dynamics></axis></joint>"""
        for a, b in ("ab", "bc", "ac")
    )
    file = tmp_path / "m.sdf"
    file.write_text(f'<sdf version="1.9"><model name="m">{links}{joints}</model></sdf>')
    reporter = Reporter()
    asset = read_asset(file)
    write_asset(asset, tmp_path / "out", format_name="mjcf", reporter=reporter)
    closing = [joint.name for joint in asset.joints if joint.closes_loop]
    assert len(closing) == 1
    assert [f.data["name"] for f in reporter if "closed loop" in f.message] == closing
