# SPDX-License-Identifier: Apache-2.0
"""Which colliders touch: as SDFormat says, in the model and in MuJoCo; and what MuJoCo keeps apart is told."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import mujoco
import pytest

from simwright.core.diag import Reporter
from simwright.formats.table import read_asset, write_asset
from simwright.model.filtering import find_filtered_pairs


def make_link(name: str, more: str = "") -> str:
    box = f'<collision name="{name}"><geometry><box><size>1 1 1</size></box></geometry></collision>'
    return f'<link name="{name}_link"><inertial><mass>1</mass></inertial>{box}{more}</link>'


def make_joint(parent: str, child: str) -> str:
    return f"""<joint name="{parent}{child}" type="revolute"><parent>{parent}_link</parent><child>{child}_link</child>
      <axis><xyz>0 0 1</xyz></axis></joint>"""


FLAG = "<self_collide>true</self_collide>"
NO_FLAG = "<self_collide>false</self_collide>"
CHAIN = make_joint("a", "b") + make_joint("b", "c")
MODELS = {
    "a model does not touch itself": (make_link("a") + make_link("b") + make_link("c") + CHAIN, ""),
    "without joints neither": (make_link("a") + make_link("b"), ""),
    "nor links that no joint holds": (
        make_link("a") + make_link("b") + make_link("c") + make_joint("a", "b"),
        "",
    ),
    "unless it says so": (FLAG + make_link("a") + make_link("b") + make_link("c") + CHAIN, "ac"),
    "without joints": (FLAG + make_link("a") + make_link("b"), "ab"),
    "or one of two links says so": (make_link("a", FLAG) + make_link("b") + make_link("c") + CHAIN, "ac"),
    "or without joints": (make_link("a") + make_link("b") + make_link("c", FLAG), "ac bc"),
    "or the other does not override it": (FLAG + make_link("a") + make_link("b", NO_FLAG), "ab"),
    "but two that do not are apart": (
        FLAG + make_link("a", NO_FLAG) + make_link("b", NO_FLAG) + make_link("c"),
        "ac bc",
    ),
}


def list_touching(asset) -> set[str]:
    apart = find_filtered_pairs(asset)
    shapes = [shape.name for shape in asset.shapes if shape.collision]
    return {a + b for a, b in combinations(shapes, 2) if (a, b) not in apart}


def list_mujoco(file: Path) -> set[str]:
    """Pairs of geoms by the rules of MuJoCo's documentation of collision detection."""
    model = mujoco.MjModel.from_xml_path(str(file))
    excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    told = {frozenset((int(a), int(b))) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    touching = set()
    for a, b in combinations(range(model.ngeom), 2):
        bodies = int(model.geom_bodyid[a]), int(model.geom_bodyid[b])
        welds = [int(model.body_weldid[body]) for body in bodies]
        parents = [int(model.body_weldid[model.body_parentid[weld]]) for weld in welds]
        bits = [int(model.geom_contype[g]) for g in (a, b)], [int(model.geom_conaffinity[g]) for g in (a, b)]
        meets = bits[0][0] & bits[1][1] or bits[0][1] & bits[1][0]
        related = welds[0] == welds[1] or (all(welds) and (welds[0] == parents[1] or welds[1] == parents[0]))
        is_excluded = bool({bodies, bodies[::-1]} & excluded)
        if frozenset((a, b)) in told or (meets and not related and not is_excluded):
            touching.add("".join(sorted((model.geom(a).name, model.geom(b).name))))
    return touching


@pytest.mark.parametrize("case", MODELS)
def test_the_same_pairs_touch_everywhere(case: str, tmp_path: Path) -> None:
    text, expected = MODELS[case]
    file = tmp_path / "source" / "m.sdf"
    file.parent.mkdir()
    file.write_text(f'<sdf version="1.9"><model name="m">{text}</model></sdf>')
    asset = read_asset(file)
    assert list_touching(asset) == set(expected.split())
    reporter = Reporter()
    mjcf = write_asset(asset, tmp_path / "mjcf", format_name="mjcf", reporter=reporter)
    assert list_mujoco(mjcf) == set(expected.split())
    for word in ("sdf", "usd"):
        again = read_asset(write_asset(asset, tmp_path / word, format_name=word, reporter=reporter))
        assert list_touching(again) == set(expected.split()), word
    assert not [finding for finding in reporter if "pairs" in finding.kind or "filter" in finding.kind]


URDF = """<robot name="r">{links}
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="tool"/></joint>
  <joint name="k" type="revolute"><parent link="tool"/><child link="tip"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_what_mujoco_keeps_apart_is_told(tmp_path: Path) -> None:
    links = "".join(
        f"""<link name="{name}"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision name="{name}_c"><geometry><box size="1 1 1"/></geometry></collision></link>"""
        for name in ("base", "arm", "tool", "tip")
    )
    file = tmp_path / "r.urdf"
    file.write_text(URDF.format(links=links))
    asset, reporter = read_asset(file), Reporter()
    mjcf = write_asset(asset, tmp_path / "mjcf", format_name="mjcf", reporter=reporter)
    # The arm and the tool are one body: what is held to one end of it does not touch the other end.
    assert list_touching(asset) - list_mujoco(mjcf) == {"base_ctool_c", "arm_ctip_c"}
    (warning,) = [finding for finding in reporter if finding.kind == "mjcf-write-pairs-apart"]
    assert warning.data["count"] == 2
    # Read back, they are apart for good: nothing is said twice.
    again = Reporter()
    write_asset(read_asset(mjcf), tmp_path / "again", format_name="mjcf", reporter=again)
    assert not [finding for finding in again if finding.kind == "mjcf-write-pairs-apart"]
