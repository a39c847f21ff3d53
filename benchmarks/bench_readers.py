# SPDX-License-Identifier: Apache-2.0
"""Reading each format against the floor below it: the bare parser or compiler on the same file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Result, compare_cpu, cpu_time, growth
from simwright.formats.table import read_asset

SIZES = (100, 400, 1600)


def urdf(count: int) -> str:
    """A tree of links with inertia, a visual and a collision each."""
    links = [
        f'<link name="l{i}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>'
        f'<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<visual><geometry><box size="0.1 0.1 0.2"/></geometry></visual>'
        f'<collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision></link>'
        for i in range(count)
    ]
    joints = [
        f'<joint name="j{i}" type="revolute"><origin xyz="0 0 0.2" rpy="0.1 0 0"/><parent link="l{(i - 1) // 2}"/>'
        f'<child link="l{i}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>'
        for i in range(1, count)
    ]
    return f'<robot name="tree">{"".join(links)}{"".join(joints)}</robot>'


def sdf(count: int) -> str:
    """The same tree in SDFormat."""
    links = [
        f'<link name="l{i}"><pose>0 0 {0.2 * i} 0 0 0</pose><inertial><mass>1</mass></inertial>'
        f'<visual name="v"><geometry><box><size>0.1 0.1 0.2</size></box></geometry></visual>'
        f'<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>'
        for i in range(count)
    ]
    joints = [
        f'<joint name="j{i}" type="revolute"><parent>l{(i - 1) // 2}</parent><child>l{i}</child>'
        f"<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>"
        for i in range(1, count)
    ]
    return f'<sdf version="1.9"><model name="tree">{"".join(links)}{"".join(joints)}</model></sdf>'


def mjcf(count: int) -> str:
    """Bodies with a hinge and two geoms, side by side."""
    bodies = [
        f'<body name="b{i}" pos="{i} 0 0"><joint name="j{i}" axis="0 1 0" range="-1 1"/>'
        f'<geom type="box" size="0.1 0.1 0.2"/>'
        f'<geom type="capsule" size="0.05 0.1" contype="0" conaffinity="0"/></body>'
        for i in range(count)
    ]
    return f'<mujoco><compiler angle="radian"/><worldbody>{"".join(bodies)}</worldbody></mujoco>'


def usda(count: int) -> str:
    """Bodies with a collider and a revolute joint to their predecessor."""
    prims = [
        f"""
    def Xform "b{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        double3 xformOp:translate = ({i}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            double size = 0.1
        }}
        def PhysicsRevoluteJoint "j"
        {{
            rel physics:body0 = </w/b{max(i - 1, 0)}>
            rel physics:body1 = </w/b{i}>
            float physics:lowerLimit = -10
            float physics:upperLimit = 10
        }}
    }}"""
        for i in range(count)
    ]
    head = '#usda 1.0\n(\n    defaultPrim = "w"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
    return f'{head}def Xform "w"\n{{{"".join(prims)}\n}}\n'


def open_usd(path: Path) -> int:
    """Open, compose and walk, as any reader must."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.OpenAsAnonymous(str(path))  # anonymous: parsed again every time
    stage = Usd.Stage.Open(layer)
    return sum(1 for _ in stage.Traverse())


def parse_xml(path: Path) -> object:
    from lxml import etree

    return etree.parse(str(path))


def compile_mjcf(path: Path) -> object:
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # else it logs into the current folder
    return mujoco.MjModel.from_xml_path(str(path))


CASES = (
    ("URDF", "urdf", urdf, "lxml parse", parse_xml),
    ("SDFormat", "sdf", sdf, "lxml parse", parse_xml),
    ("MJCF", "xml", mjcf, "MuJoCo compile", compile_mjcf),
    ("OpenUSD", "usda", usda, "open and traverse", open_usd),
)


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        for title, extension, make, floor_name, floor in CASES:
            times = []
            for size in SIZES:
                path = Path(folder) / f"n{size}.{extension}"
                path.write_text(make(size))
                times.append(cpu_time(partial(read_asset, path), repeat=3))
            times[-1], reference = compare_cpu(partial(read_asset, path), partial(floor, path), 3)
            yield Result(
                f"read {title}, {SIZES[-1]:,} bodies",
                times[-1],
                floor_name,
                reference,
                note=growth(SIZES, times),
            )
