"""Damaged input: a finding or a SimwrightError, never anything else."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simwright.core.diag import Reporter
from simwright.core.errors import InputError, LimitError, ParseError, SimwrightError
from simwright.formats.format import ReadOptions
from simwright.formats.urdf.read import read

SAMPLE = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="m" value="${1 + 2 * [4][0]}"/>
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="${m}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual></link>
<link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j"/></joint>
<transmission name="t"><joint name="j"/><actuator name="m"><mechanicalReduction>2</mechanicalReduction></actuator>
</transmission><gazebo reference="a"><mu1>0.5</mu1><sensor name="s" type="camera"><camera/></sensor></gazebo>
<ros2_control name="c" type="system"><joint name="j"><command_interface name="p"/></joint></ros2_control></robot>
"""
PIECES = ["", "<", ">", '"', "nan", "-1", "1e999", "${", "$(", "}", "a", " ", "&", "\0", "<a/>", "𝛑", "0"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    at=st.integers(0, len(SAMPLE)),
    cut=st.integers(0, 12),
    piece=st.sampled_from(PIECES),
    as_xacro=st.booleans(),
)
def test_a_damaged_file_is_read_or_refused(
    at: int, cut: int, piece: str, as_xacro: bool, tmp_path: Path
) -> None:
    file = tmp_path / ("r.xacro" if as_xacro else "r.urdf")
    file.write_text(SAMPLE[:at] + piece + SAMPLE[at + cut :])
    reporter = Reporter()
    with contextlib.suppress(SimwrightError):
        asset = read(file, ReadOptions(), reporter)
        names = {body.name for body in asset.bodies}
        assert all({joint.parent, joint.child} <= names | {""} for joint in asset.joints)


@pytest.mark.parametrize(
    "content",
    [b"\0\0\0", b"hello", b"<robot", b"<sdf/>", b"<robot>" * 300, b"\xff\xfe\xff", b"<robot>\xff</robot>"],
)
def test_what_is_no_urdf_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_bytes(content)
    with pytest.raises((ParseError, LimitError)) as caught:
        read(file, ReadOptions(), Reporter())
    assert caught.value.where is not None
    assert caught.value.where.file == str(file)


def test_an_absent_or_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.urdf").write_bytes(b"")
    for name in ("gone.urdf", "empty.urdf"):
        with pytest.raises(InputError):
            read(tmp_path / name, ReadOptions(), Reporter())


def test_a_long_chain_is_read(tmp_path: Path) -> None:
    links = "".join(f'<link name="l{i}"/>' for i in range(3000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/>'
        '<origin xyz="0 0 1"/></joint>'
        for i in range(2999)
    )
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="r">{links}{joints}</robot>')
    asset = read(file, ReadOptions(), Reporter())
    assert asset.body("l2999").pose.p.tolist() == [0, 0, 2999]
